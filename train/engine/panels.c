/* SPDX-License-Identifier: MIT */
/* A right operand of products in panels: 16 columns beside each other, row after row, then the next 16. A product of
 * few rows uses each number that it reads of it only a few times, so that the order in memory counts: rows of a matrix
 * of many columns lie in as many pages. */
#include "train/engine/cpu.h"

enum { PANEL = HU_PRODUCT_PANEL };

typedef struct pack_call {
  const hu_cpu *cpu;
  const hu_matrices *b;
  size_t k, n;
  float *z;
} pack_call;

static void pack_part(void *context, size_t part) {
  const pack_call *call = context;
  call->cpu->loops->pack(call->b, call->k, call->n, part * PANEL, call->z + part * PANEL * call->k);
}

size_t hui_cpu_pack(void *self, const hu_matrices *b, size_t k, size_t n, float *z) {
  const hu_cpu *cpu = self;
  pack_call call = {cpu, b, k, n, z};
  size_t parts = (n + PANEL - 1) / PANEL;
  if (!cpu->loops->pack) return 0;
  if (z && k * n >= HU_CPU_NUMBERS_MIN) {
    hui_cpu_run(cpu, parts, pack_part, &call);
  } else {
    for (size_t i = 0; z && i < parts; i++) pack_part(&call, i);
  }
  return parts * PANEL * k;
}
