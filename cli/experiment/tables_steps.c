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
    {"s2fp8-table1-resnet20-fp32", 0.493},
    {"s2fp8-table1-resnet20-s2fp8", 0.522},
    {"s2fp8-table1-resnet20-fp8", 0.532},
    {"s2fp8-tablea2-resnet20", 0.53},
    {"s2fp8-table1-resnet34-fp32", 25.3},
    {"s2fp8-table1-resnet34-s2fp8", 26.6},
    {"s2fp8-table1-resnet34-fp8", 24.9},
    {"s2fp8-table1-resnet50-fp32", 25.9},
    {"s2fp8-table1-resnet50-s2fp8", 27.4},
    {"s2fp8-table1-resnet50-fp8", 28},
    {"s2fp8-tablea2-resnet50", 28.5},
    {"s2fp8-table4-ncf-fp32", 0.0024},
    {"s2fp8-table4-ncf-s2fp8", 0.00266},
    {"s2fp8-table4-ncf-fp8", 0.00249},
    {"s2fp8-tablea2-ncf", 0.00262},
    {"openseq2seq-page-resnet20-fp32", 0.554},
    {"openseq2seq-page", 0.542},
    {"fp16-table1-resnet50-fp32", 50.5},
    {"fp16-table1-resnet50-mixed", 51.1},
    {"bfloat16-table1-resnet18-fp32", 13.3},
    {"bfloat16-table2-resnet18-fp32", 13.3},
    {"bfloat16-table1-resnet18", 12.6},
    {"bfloat16-table2-resnet18-standard", 12.6},
    {"bfloat16-table2-resnet18-stochastic", 12.3},
    {"bfloat16-table2-resnet18-kahan", 12.8},
    {"assignments-figure4-squeezenet-0.25-cifar100-fp32", 0.125},
    {"assignments-figure4-squeezenet-0.25", 0.14},
    {"assignments-figure4-squeezenet-cifar10-fp32", 0.916},
    {"assignments-figure4-squeezenet-cifar100-fp32", 0.916},
    {"assignments-figure4-squeezenet", 0.948},
    {"assignments-figure5-squeezenet", 0.948},
    {"assignments-figure6-squeezenet", 0.948},
    {"assignments-figure4-shufflenet2-0.25-cifar100-fp32", 0.674},
    {"assignments-figure4-shufflenet2-0.25", 0.779},
    {"assignments-figure4-shufflenet2-cifar10-fp32", 2.98},
    {"assignments-figure4-shufflenet2-cifar100-fp32", 2.98},
    {"assignments-figure4-shufflenet2", 3.06},
    {"assignments-figure5-shufflenet2", 3.06},
    {"assignments-figure6-shufflenet2", 3.06},
    {"assignments-figure4-mobilenet2-0.25-cifar100-fp32", 2.34},
    {"assignments-figure4-mobilenet2-0.25", 2.65},
    {"assignments-figure4-mobilenet2-cifar10-fp32", 12.9},
    {"assignments-figure4-mobilenet2-cifar100-fp32", 12.9},
    {"assignments-figure4-mobilenet2", 12.8},
    {"assignments-figure5-mobilenet2", 12.8},
    {"assignments-figure6-mobilenet2", 12.8},
    {"assignments-figure4-resnet18-0.25-cifar100-fp32", 0.445},
    {"assignments-figure4-resnet18-0.25", 0.428},
    {"assignments-figure4-resnet18-cifar10-fp32", 13.3},
    {"assignments-figure4-resnet18-cifar100-fp32", 13.3},
    {"assignments-figure4-resnet18", 11.3},
    {"assignments-figure5-resnet18", 11.3},
    {"assignments-figure6-resnet18", 11.3},
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
