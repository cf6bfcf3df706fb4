/* SPDX-License-Identifier: MIT */
/* Steps of the papers' networks as they were measured, with one thread, on the machine of bench/README.md (CPU time):
 * for the estimates in configurations and in docs/training/experiments.md. With --budget, `halfulp experiment --paper`
 * measures the steps of the machine that it runs on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/experiment/tables.h"

typedef struct measured {
  const char *cell; /* the beginning of its name, or its network: the first line that fits counts */
  double seconds;
  int counted; /* 1: not measured: follows from numbers of multiplications and of weights, or from another network */
} measured;

static const measured recorded[] = {
    /* Batches of 8 took 0.92 times the CPU time of those of the ResNet-20 of He et al., whose step was measured; with
     * 5 and 8 blocks 1.6 and 1.9 times it. */
    {"s2fp8-table1-resnet20-fp32", 0.44, 1},
    {"s2fp8-table1-resnet20", 0.48, 1},
    {"s2fp8-tablea2-resnet20", 0.49, 1},
    {"s2fp8-table1-resnet34-fp32", 0.75, 1},
    {"s2fp8-table1-resnet34", 0.82, 1},
    {"s2fp8-table1-resnet50-fp32", 0.92, 1},
    {"s2fp8-table1-resnet50", 1.0, 1},
    {"s2fp8-tablea2-resnet50", 1.02, 1},
    /* Twice as many tokens with 1.65 times the multiplications of the seq2seq of the lines behind these, which took
     * 30.7 s with S2FP8. */
    {"s2fp8-table3-transformer-fp32", 48, 1},
    {"s2fp8-table3-transformer-fp8", 53, 1},
    {"s2fp8-table3-transformer-s2fp8", 101, 1},
    {"s2fp8-tablea2-transformer", 53, 1},
    /* Measured beside other work: longer than on an idle machine. */
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
    /* 4.1 and 1.8 billion multiplications an image and pass, where a four-stage ResNet-50 of CIFAR-10 with 1.3 billion
     * took 49 s with the same batch; roundings take a twentieth more. */
    {"fp16-table1-resnet50-fp32", 154, 1},
    {"fp16-table1-resnet50-mixed", 158, 1},
    {"s2fp8-table2-resnet18-fp32", 68, 1},
    {"s2fp8-table2-resnet18", 71, 1},
    {"s2fp8-table2-resnet50-fp32", 154, 1},
    {"s2fp8-table2-resnet50", 162, 1},
    {"bfloat16-table1-resnet18-fp32", 9.43, 0},
    {"bfloat16-table2-resnet18-fp32", 9.43, 0},
    {"bfloat16-table1-resnet18", 10.5, 0},
    {"bfloat16-table2-resnet18-standard", 10.5, 0},
    {"bfloat16-table2-resnet18-stochastic", 10.1, 0},
    {"bfloat16-table2-resnet18-kahan", 10.3, 0},
    /* Batches of 8 of these networks took so much of the CPU time of those that the same layers have under their own
     * names, whose steps were measured; roundings take a tenth more. */
    {"lee_squeezenet(width=1)", 1.2, 1},
    {"lee_squeezenet(width=0.5)", 0.41, 1},
    {"lee_squeezenet(width=0.25)", 0.18, 1},
    {"lee_squeezenet(width=0.1)", 0.11, 1},
    {"lee_shufflenet2(width=1)", 1.7, 1},
    {"lee_shufflenet2(width=0.5)", 0.6, 1},
    {"lee_shufflenet2(width=0.25)", 0.44, 1},
    {"lee_shufflenet2(width=0.1)", 0.32, 1},
    {"lee_mobilenet2(width=1)", 3.7, 1},
    {"lee_mobilenet2(width=0.5)", 1.7, 1},
    {"lee_mobilenet2(width=0.25)", 0.74, 1},
    {"lee_mobilenet2(width=0.1)", 0.51, 1},
    {"lee_resnet18(width=1)", 9.9, 1},
    {"lee_resnet18(width=0.5)", 1.4, 1},
    {"lee_resnet18(width=0.25)", 0.42, 1},
    {"lee_resnet18(width=0.1)", 0.17, 1},
};

static const measured *record_of(const table_cell *cell) {
  char name[TABLE_NAME_MAX], net[TABLE_NET_MAX];
  table_cell_name(name, cell);
  for (size_t i = 0; i < TABLE_COUNT(recorded); i++) {
    const int is_network = strcmp(table_net(net, cell->row, 1), recorded[i].cell) == 0;
    if (is_network || strncmp(name, recorded[i].cell, strlen(recorded[i].cell)) == 0) return &recorded[i];
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
  unsigned long long batch, epochs, stream;
  int keep;
} sizes;

static int read_size(void *context, const char *key, const char *value) {
  sizes *full = context;
  if (strcmp(key, "run.batch") == 0) full->batch = strtoull(value, NULL, 10);
  if (strcmp(key, "run.stream") == 0) full->stream = strtoull(value, NULL, 10);
  if (strcmp(key, "run.rest") == 0) full->keep = strcmp(value, "keep") == 0;
  if (strcmp(key, "run.epochs") == 0) full->epochs = strtoull(value, NULL, 10);
  return 0;
}

table_size table_full_size(const table_cell *cell) {
  enum { BATCHES_SEEN = 8 }; /* of a text for training */
  sizes full = {1, 0, 1, 0};
  const table_data *data = cell->row->data;
  int of_text = data->figure == TABLE_BLEU || data->figure == TABLE_PERPLEXITY;
  (void)table_cell_keys(cell, 0, 1, read_size, &full);
  unsigned long long samples = data->count * full.stream, of_stream = samples / full.batch;
  of_stream += full.keep && samples % full.batch;
  double steps = (double)(of_stream * (full.epochs / full.stream)), step = table_step_seconds(cell);
  double batches = floor((double)data->count / (double)full.batch);
  double seen = ceil((double)data->test / (double)full.batch) * table_seeing(cell->row) +
                TABLE_PASS * (of_text ? BATCHES_SEEN : batches);
  return (table_size){steps, (steps + (double)full.epochs * seen) * step, full.batch, full.epochs};
}
