/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/tiles.c - see tiles.h. */
#include "tests/gemm/modelled/tiles.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <immintrin.h> /* the model of steps in binary32 */

enum { TILES = 8, ROWS = 16, BYTES = 64 };

/* Each thread has its own. */
static _Thread_local struct {
  int configured;
  uint16_t bytes[TILES];
  uint8_t rows[TILES];
  uint8_t row[TILES][ROWS][BYTES];
} tiles;
static long in_use, set_up;

static void demand(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "AMX: %s\n", what);
  abort();
}

long model_tiles_in_use(void) { return __atomic_load_n(&in_use, __ATOMIC_RELAXED); }
long model_tiles_set_up(void) { return __atomic_load_n(&set_up, __ATOMIC_RELAXED); }

/* Byte 0 is the palette, 1 the row to start at, 2 to 15 are 0; then 16 lengths of rows, of which eight are for tiles,
 * and 16 numbers of rows. */
void model_load_config(const void *config) {
  const uint8_t *p = config;
  demand(p[0] == 1 && p[1] == 0, "a configuration of another palette, or in the middle of a tile");
  for (int i = 2; i < 16; i++) demand(p[i] == 0, "a reserved byte");
  if (!tiles.configured) __atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&set_up, 1, __ATOMIC_RELAXED);
  memset(&tiles, 0, sizeof tiles);
  tiles.configured = 1;
  for (int t = 0; t < 16; t++) {
    uint16_t bytes;
    memcpy(&bytes, p + 16 + 2 * t, 2);
    demand(t < TILES || (bytes == 0 && p[48 + t] == 0), "a tile that palette 1 has not");
    demand(bytes <= BYTES && p[48 + t] <= ROWS, "a tile that is too large");
    demand((bytes == 0) == (p[48 + t] == 0), "rows without bytes");
    if (t < TILES) tiles.bytes[t] = bytes;
    if (t < TILES) tiles.rows[t] = p[48 + t];
  }
}

void model_release(void) {
  if (tiles.configured) __atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED);
  memset(&tiles, 0, sizeof tiles);
}

static void demand_tile(int t) {
  demand(tiles.configured && t >= 0 && t < TILES && tiles.rows[t] > 0, "a tile that is not set up");
}

void model_load_tile(int z, const void *base, ptrdiff_t stride) {
  demand_tile(z);
  memset(tiles.row[z], 0, sizeof tiles.row[z]);
  for (int r = 0; r < tiles.rows[z]; r++) {
    memcpy(tiles.row[z][r], (const uint8_t *)base + r * stride, tiles.bytes[z]);
  }
}

void model_zero_tile(int z) {
  demand_tile(z);
  memset(tiles.row[z], 0, sizeof tiles.row[z]);
}

void model_store_tile(int x, void *base, ptrdiff_t stride) {
  demand_tile(x);
  for (int r = 0; r < tiles.rows[x]; r++) {
    memcpy((uint8_t *)base + r * stride, tiles.row[x][r], tiles.bytes[x]);
  }
}

/* ---- products: C is m x n, A m x k, B k x n, in elements of four bytes ---- */

static void demand_shapes(int z, int x, int y) {
  demand_tile(z);
  demand_tile(x);
  demand_tile(y);
  demand(z != x && z != y && x != y, "a tile twice");
  demand(tiles.rows[z] == tiles.rows[x], "C and A of different heights");
  demand(tiles.bytes[z] == tiles.bytes[y], "C and B of different widths");
  demand(tiles.bytes[x] / 4 == tiles.rows[y], "A's width is not B's height");
}

static uint32_t word_at(int t, int row, int column) {
  uint32_t z;
  memcpy(&z, tiles.row[t][row] + 4 * column, 4);
  return z;
}

static void set_word(int t, int row, int column, uint32_t z) { memcpy(tiles.row[t][row] + 4 * column, &z, 4); }

static uint32_t bits_of(float x) {
  uint32_t z;
  memcpy(&z, &x, 4);
  return z;
}

/* x + y, where subnormal numbers are read as zeros and become zeros. The sum of two numbers that lies below 2^-126 is
 * exact, so that nothing is rounded up to 2^-126 there. */
static float sum_of(float x, float y) { return model_read(model_read(x) + model_read(y)); }

/* Two sums for each element, over the first and over the second numbers of pairs, from +0. */
void model_dpbf16ps(int z, int x, int y) {
  demand_shapes(z, x, y);
  for (int m = 0; m < tiles.rows[z]; m++) {
    float sum[2][BYTES / 4] = {{0}};
    for (int k = 0; k < tiles.bytes[x] / 4; k++) {
      for (int n = 0; n < tiles.bytes[z] / 4; n++) {
        uint32_t a = word_at(x, m, k), b = word_at(y, k, n);
        sum[0][n] = model_step(model_float(a << 16), model_float(b << 16), sum[0][n]);
        sum[1][n] = model_step(model_float(a & 0xFFFF0000u), model_float(b & 0xFFFF0000u), sum[1][n]);
      }
    }
    for (int n = 0; n < tiles.bytes[z] / 4; n++) {
      float both = sum_of(sum[0][n], sum[1][n]);
      set_word(z, m, n, bits_of(sum_of(model_float(word_at(z, m, n)), both)));
    }
  }
}

/* Four bytes of A, signed or not, times four signed ones of B: sums wrap around, which a sanitizer would not tell. */
static void integers(int z, int x, int y, int is_signed) {
  demand_shapes(z, x, y);
  for (int m = 0; m < tiles.rows[z]; m++) {
    for (int k = 0; k < tiles.bytes[x] / 4; k++) {
      for (int n = 0; n < tiles.bytes[z] / 4; n++) {
        int64_t sum = (int32_t)word_at(z, m, n);
        for (int at = 0; at < 32; at += 8) {
          uint32_t a = word_at(x, m, k) >> at, b = word_at(y, k, n) >> at;
          sum += (is_signed ? (int8_t)a : (int)(a & 0xFF)) * (int8_t)b;
        }
        demand(sum == (int32_t)sum, "a sum that has left 32 bits");
        set_word(z, m, n, (uint32_t)(int32_t)sum);
      }
    }
  }
}

void model_dpbssd(int z, int x, int y) { integers(z, x, y, 1); }
void model_dpbusd(int z, int x, int y) { integers(z, x, y, 0); }
