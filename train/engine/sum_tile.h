/* SPDX-License-Identifier: MIT */
/* train/engine/sum_tile.h - the sum of products of the same sizes, a tile at a time: each product is one chain of fused
 * multiply-adds, and is added to the sum when it is whole. Both are in registers. */
#ifndef HALFULP_TRAIN_ENGINE_SUM_TILE_H
#define HALFULP_TRAIN_ENGINE_SUM_TILE_H

#include "train/engine/product_tile.h"

#if defined(HU_HAVE_TILES)
#define HU_SUM_LOOPS \
  { TALL, sum_panel }

/* Packs columns j ... of the right operands, one product below the other, zeros behind the last column. */
static void pack_right(const hu_product_sum *sum, size_t j, size_t wide, float *panel) {
  for (size_t i = 0; i < sum->count; i++) {
    const hu_matrices *b = &sum->products[i].b;
    for (size_t p = 0; p < sum->products[i].k; p++, panel += PANEL) {
      if (wide < PANEL) memset(panel, 0, PANEL * sizeof *panel);
      memcpy(panel, b->data + p * b->ld + j, wide * sizeof *panel);
    }
  }
}

/* Computes TALL x 16 numbers z. */
static void sum_tile(const hu_product_sum *sum, const float *a, const float *b, float *z, size_t ldz) {
  static const float zeros[PANEL];
  sums all[TALL];
  for (size_t r = 0; r < TALL; r++) all[r] = sums_load(sum->begun ? z + r * ldz : zeros);
  for (size_t i = 0; i < sum->count; i++) {
    sums s[TALL];
    for (size_t r = 0; r < TALL; r++) s[r] = sums_load(zeros);
    for (size_t p = 0; p < sum->products[i].k; p++, a += TALL, b += PANEL) {
      const sums row = sums_load(b);
      for (size_t r = 0; r < TALL; r++) s[r] = sums_fma(a[r], row, s[r]);
    }
    /* Not 0 + s, which is another zero than s = -0. */
    const int first = i == 0 && !sum->begun;
    for (size_t r = 0; r < TALL; r++) all[r] = first ? s[r] : sums_add(all[r], s[r]);
  }
  for (size_t r = 0; r < TALL; r++) sums_store(z + r * ldz, all[r]);
}

/* Computes a tile at the edge of Z. */
static void edge_tile(const hu_product_sum *sum, size_t rows, size_t wide, const float *a, const float *b, float *z,
                      size_t ldz) {
  float buffer[TALL * PANEL];
  memset(buffer, 0, sizeof buffer);
  for (size_t r = 0; r < rows; r++) memcpy(buffer + r * PANEL, z + r * ldz, wide * sizeof *buffer);
  sum_tile(sum, a, b, buffer, PANEL);
  for (size_t r = 0; r < rows; r++) memcpy(z + r * ldz, buffer + r * PANEL, wide * sizeof *buffer);
}

static void sum_panel(const hu_product_sum *sum, size_t j) {
  float panel[HU_SUM_DEEP * PANEL];
  const hu_products *first = sum->products;
  size_t wide = first->n - j < PANEL ? first->n - j : PANEL;
  pack_right(sum, j, wide, panel);
  for (size_t i = 0; i < first->m; i += TALL) {
    const float *a = sum->left + i * sum->deep;
    float *z = first->z.data + i * first->z.ld + j;
    if (first->m - i >= TALL && wide == PANEL) {
      sum_tile(sum, a, panel, z, first->z.ld);
    } else {
      edge_tile(sum, first->m - i < TALL ? first->m - i : TALL, wide, a, panel, z, first->z.ld);
    }
  }
}

#else
#define HU_SUM_LOOPS \
  { 0, NULL }
#endif
#endif
