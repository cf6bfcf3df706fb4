/* SPDX-License-Identifier: MIT */
/* Sums of products of the same sizes, such as the gradient of weights that each step of time has: left operands are
 * packed once, panels of Z are divided among threads. */
#include <stdlib.h>
#include <string.h>

#include "train/engine/cpu.h"

enum { PANEL = HU_PRODUCT_PANEL };

/* Packs left operands in the order of hu_product_sum. */
static void pack_left(const hu_product_sum *sum, size_t rows, float *z) {
  const size_t m = sum->products->m;
  for (size_t from = 0; from < m; from += rows) {
    size_t n = m - from < rows ? m - from : rows;
    for (size_t i = 0; i < sum->count; i++) {
      const hu_matrices *a = &sum->products[i].a;
      const size_t down = a->transposed ? 1 : a->ld, along = a->transposed ? a->ld : 1;
      const float *x = a->data + from * down;
      for (size_t k = 0; k < sum->products[i].k; k++, x += along, z += rows) {
        for (size_t r = 0; r < n; r++) z[r] = x[r * down];
        for (size_t r = n; r < rows; r++) z[r] = 0;
      }
    }
  }
}

typedef struct sum_call {
  const hu_cpu *cpu;
  const hu_product_sum *sum;
} sum_call;

static void panel_part(void *context, size_t part) {
  const sum_call *call = context;
  call->cpu->loops->sum.panel(call->sum, part * PANEL);
}

/* Returns 1 for products whose columns fit a panel. */
static void sum_some(const hu_cpu *cpu, hu_product_sum *sum, float *left) {
  const hu_products *products = sum->products;
  sum_call call = {cpu, sum};
  size_t parts = (products->n + PANEL - 1) / PANEL;
  pack_left(sum, cpu->loops->sum.rows, left);
  sum->left = left;
  if (products->m * products->n * sum->deep >= HU_CPU_PRODUCTS_MIN) {
    hui_cpu_run(cpu, parts, panel_part, &call);
  } else {
    for (size_t i = 0; i < parts; i++) panel_part(&call, i);
  }
}

static int possible(const hu_cpu *cpu, size_t count, const hu_products *products) {
  if (!count || !cpu->loops->sum.panel) return 0;
  for (size_t i = 0; i < count; i++) {
    int one = products[i].outer * products[i].inner == 1,
        plain = hui_is_plain_fp32(products[i].accum) && !products[i].b.transposed;
    if (!one || !plain || products[i].k == 0 || products[i].k > HU_SUM_DEEP) return 0;
  }
  return 1;
}

int hui_cpu_sum_products(void *self, size_t count, const hu_products *products, int begun) {
  const hu_cpu *cpu = self;
  if (!possible(cpu, count, products)) return 0;
  size_t rows = cpu->loops->sum.rows, tall = (products->m + rows - 1) / rows * rows;
  float *left = malloc(tall * HU_SUM_DEEP * sizeof *left);
  if (!left) return 0;
  for (size_t from = 0, n; from < count; from += n) {
    hu_product_sum sum = {0, 0, products + from, begun || from, NULL};
    for (n = 0; from + n < count && sum.deep + products[from + n].k <= HU_SUM_DEEP; n++)
      sum.deep += products[from + n].k;
    sum.count = n;
    sum_some(cpu, &sum, left);
  }
  free(left);
  return 1;
}
