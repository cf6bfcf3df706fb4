/* SPDX-License-Identifier: MIT */
/* Steps of the papers' networks as they were measured, with one thread, on the machine of bench/README.md (CPU time):
 * for the estimates in examples/train/papers and docs/experiments.md. With --budget, `halfulp experiment --paper`
 * measures the steps of the machine that it runs on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/experiment/tables.h"

typedef struct measured {
  const char *cell; /* the beginning of its name: the first line that fits counts */
  double seconds;
} measured;

static const measured recorded[] = {
    {"s2fp8-table1-resnet20-fp32", 0.477},
    {"s2fp8-table1-resnet20-s2fp8", 0.521},
    {"s2fp8-table1-resnet20-fp8", 0.512},
    {"s2fp8-tablea2-resnet20", 0.53},
    {"s2fp8-table1-resnet34-fp32", 19.5},
    {"s2fp8-table1-resnet34-s2fp8", 20},
    {"s2fp8-table1-resnet34-fp8", 19.7},
    {"s2fp8-table1-resnet50-fp32", 24.2},
    {"s2fp8-table1-resnet50-s2fp8", 26.2},
    {"s2fp8-table1-resnet50-fp8", 26.5},
    {"s2fp8-tablea2-resnet50", 28.5},
    {"s2fp8-table4-ncf-fp32", 0.0024},
    {"s2fp8-table4-ncf-s2fp8", 0.00266},
    {"s2fp8-table4-ncf-fp8", 0.00249},
    {"s2fp8-tablea2-ncf", 0.00262},
    {"openseq2seq-page-resnet20-fp32", 0.498},
    {"openseq2seq-page", 0.55},
    {"fp16-table1-resnet50-fp32", 49},
    {"fp16-table1-resnet50-mixed", 50.2},
    {"bfloat16-table1-resnet18-fp32", 9.43},
    {"bfloat16-table2-resnet18-fp32", 9.43},
    {"bfloat16-table1-resnet18", 10.5},
    {"bfloat16-table2-resnet18-standard", 10.5},
    {"bfloat16-table2-resnet18-stochastic", 10.1},
    {"bfloat16-table2-resnet18-kahan", 10.3},
    {"assignments-figure4-squeezenet-0.25-cifar100-fp32", 0.117},
    {"assignments-figure4-squeezenet-0.25", 0.136},
    {"assignments-figure4-squeezenet-cifar10-fp32", 0.826},
    {"assignments-figure4-squeezenet-cifar100-fp32", 0.826},
    {"assignments-figure4-squeezenet", 0.881},
    {"assignments-figure5-squeezenet", 0.881},
    {"assignments-figure6-squeezenet", 0.881},
    {"assignments-figure4-shufflenet2-0.25-cifar100-fp32", 0.426},
    {"assignments-figure4-shufflenet2-0.25", 0.452},
    {"assignments-figure4-shufflenet2-cifar10-fp32", 1.23},
    {"assignments-figure4-shufflenet2-cifar100-fp32", 1.23},
    {"assignments-figure4-shufflenet2", 1.26},
    {"assignments-figure5-shufflenet2", 1.26},
    {"assignments-figure6-shufflenet2", 1.26},
    {"assignments-figure4-mobilenet2-0.25-cifar100-fp32", 0.464},
    {"assignments-figure4-mobilenet2-0.25", 0.525},
    {"assignments-figure4-mobilenet2-cifar10-fp32", 2.35},
    {"assignments-figure4-mobilenet2-cifar100-fp32", 2.35},
    {"assignments-figure4-mobilenet2", 2.48},
    {"assignments-figure5-mobilenet2", 2.48},
    {"assignments-figure6-mobilenet2", 2.48},
    {"assignments-figure4-resnet18-0.25-cifar100-fp32", 0.398},
    {"assignments-figure4-resnet18-0.25", 0.426},
    {"assignments-figure4-resnet18-cifar10-fp32", 9.43},
    {"assignments-figure4-resnet18-cifar100-fp32", 9.43},
    {"assignments-figure4-resnet18", 9.9},
    {"assignments-figure5-resnet18", 9.9},
    {"assignments-figure6-resnet18", 9.9},
};

double table_step_seconds(const table_cell *x) {
  char name[TABLE_NAME_MAX];
  table_cell_name(name, x);
  for (size_t i = 0; i < TABLE_COUNT(recorded); i++) {
    if (strncmp(name, recorded[i].cell, strlen(recorded[i].cell)) == 0) return recorded[i].seconds;
  }
  return (double)NAN;
}

/* ---- full size ---- */

typedef struct sizes {
  unsigned long long batch, epochs;
} sizes;

static int read_size(void *context, const char *key, const char *value) {
  sizes *z = context;
  if (strcmp(key, "run.batch") == 0) z->batch = strtoull(value, NULL, 10);
  if (strcmp(key, "run.epochs") == 0) z->epochs = strtoull(value, NULL, 10);
  return 0;
}

table_size table_full_size(const table_cell *x) {
  sizes z = {1, 0};
  const table_data *d = x->row->data;
  (void)table_cell_keys(x, 0, 1, read_size, &z);
  double steps = (double)(d->count / z.batch * z.epochs), step = table_step_seconds(x);
  double seen = ceil((double)d->test / (double)z.batch) * TABLE_SEEING;
  return (table_size){steps, (steps + seen) * step, z.batch, z.epochs};
}
