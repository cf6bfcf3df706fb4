/* SPDX-License-Identifier: MIT */
/* Steps of the papers' networks as they were measured, with one thread, on the machine of bench/README.md (CPU time):
 * for the estimates in configurations and in docs/training/experiments.md. With --budget, `halfulp experiment --paper`
 * measures the steps of the machine that it runs on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/experiment/tables.h"

typedef struct measured {
  const char *cell; /* the beginning of its name: the first line that fits counts */
  double seconds;
  int counted; /* 1: not measured: follows from numbers of multiplications and of weights, or from another network */
} measured;

static const measured recorded[] = {
    {"s2fp8-table1-resnet20-fp32", 0.477, 0},
    {"s2fp8-table1-resnet20-s2fp8", 0.521, 0},
    {"s2fp8-table1-resnet20-fp8", 0.512, 0},
    {"s2fp8-tablea2-resnet20", 0.53, 0},
    /* Those of ResNet-20 times 1.6 and 2.65, the CPU time of a step of batches of 16 over ResNet-20's. */
    {"s2fp8-table1-resnet34-fp32", 0.76, 1},
    {"s2fp8-table1-resnet34-s2fp8", 0.83, 1},
    {"s2fp8-table1-resnet34-fp8", 0.82, 1},
    {"s2fp8-table1-resnet50-fp32", 1.26, 1},
    {"s2fp8-table1-resnet50-s2fp8", 1.38, 1},
    {"s2fp8-table1-resnet50-fp8", 1.36, 1},
    {"s2fp8-tablea2-resnet50", 1.4, 1},
    /* Measured beside other work: longer than on an idle machine. */
    {"s2fp8-table3-transformer-fp32", 14.6, 0},
    {"s2fp8-table3-transformer-fp8", 16.2, 0},
    {"s2fp8-table3-transformer-s2fp8", 30.7, 0},
    {"s2fp8-tablea2-transformer", 16.2, 1},
    {"openseq2seq-page-transformer-fp32", 14.6, 0},
    {"openseq2seq-page-transformer", 16.2, 1},
    /* 16777202 rows of 16 and of 64 numbers, which each step updates; 0.3 billion multiplications per token. */
    {"bfloat16-table1-dlrm-kaggle", 1.2, 1},
    {"bfloat16-table2-dlrm-kaggle", 1.2, 1},
    {"bfloat16-table2-dlrm-terabyte", 5, 1},
    {"bfloat16-table2-bert-wiki103", 35, 1},
    {"s2fp8-table4-ncf-fp32", 0.0024, 0},
    {"s2fp8-table4-ncf-s2fp8", 0.00266, 0},
    {"s2fp8-table4-ncf-fp8", 0.00249, 0},
    {"s2fp8-tablea2-ncf", 0.00262, 0},
    {"openseq2seq-page-resnet20-fp32", 0.498, 0},
    {"openseq2seq-page", 0.55, 0},
    {"fp16-table1-resnet50-fp32", 49, 0},
    {"fp16-table1-resnet50-mixed", 50.2, 0},
    {"bfloat16-table1-resnet18-fp32", 9.43, 0},
    {"bfloat16-table2-resnet18-fp32", 9.43, 0},
    {"bfloat16-table1-resnet18", 10.5, 0},
    {"bfloat16-table2-resnet18-standard", 10.5, 0},
    {"bfloat16-table2-resnet18-stochastic", 10.1, 0},
    {"bfloat16-table2-resnet18-kahan", 10.3, 0},
    {"assignments-figure4-squeezenet-0.25-cifar100-fp32", 0.117, 0},
    {"assignments-figure4-squeezenet-0.25", 0.136, 0},
    {"assignments-figure4-squeezenet-cifar10-fp32", 0.826, 0},
    {"assignments-figure4-squeezenet-cifar100-fp32", 0.826, 0},
    {"assignments-figure4-squeezenet", 0.881, 0},
    {"assignments-figure5-squeezenet", 0.881, 0},
    {"assignments-figure6-squeezenet", 0.881, 0},
    {"assignments-figure4-shufflenet2-0.25-cifar100-fp32", 0.426, 0},
    {"assignments-figure4-shufflenet2-0.25", 0.452, 0},
    {"assignments-figure4-shufflenet2-cifar10-fp32", 1.23, 0},
    {"assignments-figure4-shufflenet2-cifar100-fp32", 1.23, 0},
    {"assignments-figure4-shufflenet2", 1.26, 0},
    {"assignments-figure5-shufflenet2", 1.26, 0},
    {"assignments-figure6-shufflenet2", 1.26, 0},
    {"assignments-figure4-mobilenet2-0.25-cifar100-fp32", 0.464, 0},
    {"assignments-figure4-mobilenet2-0.25", 0.525, 0},
    {"assignments-figure4-mobilenet2-cifar10-fp32", 2.35, 0},
    {"assignments-figure4-mobilenet2-cifar100-fp32", 2.35, 0},
    {"assignments-figure4-mobilenet2", 2.48, 0},
    {"assignments-figure5-mobilenet2", 2.48, 0},
    {"assignments-figure6-mobilenet2", 2.48, 0},
    {"assignments-figure4-resnet18-0.25-cifar100-fp32", 0.398, 0},
    {"assignments-figure4-resnet18-0.25", 0.426, 0},
    {"assignments-figure4-resnet18-cifar10-fp32", 9.43, 0},
    {"assignments-figure4-resnet18-cifar100-fp32", 9.43, 0},
    {"assignments-figure4-resnet18", 9.9, 0},
    {"assignments-figure5-resnet18", 9.9, 0},
    {"assignments-figure6-resnet18", 9.9, 0},
};

static const measured *record_of(const table_cell *cell) {
  char name[TABLE_NAME_MAX];
  table_cell_name(name, cell);
  for (size_t i = 0; i < TABLE_COUNT(recorded); i++) {
    if (strncmp(name, recorded[i].cell, strlen(recorded[i].cell)) == 0) return &recorded[i];
  }
  return NULL;
}

double table_step_seconds(const table_cell *cell) {
  const measured *entry = record_of(cell);
  return entry ? entry->seconds : (double)NAN;
}

int table_step_is_counted(const table_cell *cell) {
  const measured *entry = record_of(cell);
  return entry && entry->counted;
}

/* ---- full size ---- */

typedef struct sizes {
  unsigned long long batch, epochs;
} sizes;

static int read_size(void *context, const char *key, const char *value) {
  sizes *full = context;
  if (strcmp(key, "run.batch") == 0) full->batch = strtoull(value, NULL, 10);
  if (strcmp(key, "run.epochs") == 0) full->epochs = strtoull(value, NULL, 10);
  return 0;
}

table_size table_full_size(const table_cell *cell) {
  enum { BATCHES_SEEN = 8 }; /* of a text for training */
  sizes full = {1, 0};
  const table_data *data = cell->row->data;
  int of_text = data->figure == TABLE_BLEU || data->figure == TABLE_PERPLEXITY;
  (void)table_cell_keys(cell, 0, 1, read_size, &full);
  double steps = (double)(data->count / full.batch * full.epochs), step = table_step_seconds(cell);
  double batches = floor((double)data->count / (double)full.batch);
  double seen = ceil((double)data->test / (double)full.batch) * table_seeing(cell->row) +
                TABLE_PASS * (of_text ? BATCHES_SEEN : batches);
  return (table_size){steps, (steps + (double)full.epochs * seen) * step, full.batch, full.epochs};
}
