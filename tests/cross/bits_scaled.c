/* SPDX-License-Identifier: MIT */
/* Lines of `bits` about scaled tensors and their products. */
#include <stdalign.h>
#include <string.h>

#include "tests/cross/bits.h"

enum { ROWS = 9, COLS = 150, OTHER = 37, SPACE = 8 << 20 };

static float x[OTHER * COLS], z[OTHER * COLS], d_values[ROWS * OTHER];
static uint32_t codes[2][OTHER * COLS], scales[2][OTHER * COLS];
static hu_scaled_stats stats[OTHER * COLS];
static alignas(64) uint8_t space[SPACE];

/* Ordinary numbers, few of them special. */
static void draw(size_t n) {
  static const uint32_t special[] = {0, 0x80000000u, 0x7F800000u, 0x7FC00000u, 1};
  for (size_t i = 0; i < n; i++) {
    uint64_t r = bits_next();
    uint32_t u = ((uint32_t)r & 0x807FFFFFu) | (118 + (uint32_t)(r >> 40) % 14) << 23;
    if ((r >> 32 & 127) == 0) u = special[(r >> 56) % 5];
    memcpy(x + i, &u, sizeof u);
  }
}

static int round_trip(uint64_t *h, const hu_scaling *scaling, const hu_scaled *to, int round) {
  hu_mode mode = {0};
  hu_exec exec = {0};
  hu_events events = {0};
  hu_scaled_sizes sizes = hu_scaled_sizes_of(ROWS, COLS, scaling);
  mode.round = (uint8_t)round;
  mode.bits = (uint8_t)(round >= HU_SRA ? 11 : 0);
  exec.levels_off = bits_off;
  exec.stream.key = bits_next();
  memset(codes, 0, sizeof codes);
  if (hu_scaled_encode(ROWS, COLS, to, x, COLS, scaling, mode, NULL, stats, &exec, &events) != HU_OK) return 0;
  *h = bits_digest(bits_digest(*h, to->codes, ROWS * COLS * sizes.code_bytes), to->scales, sizes.scales);
  for (size_t i = 0; i < sizes.block_rows * sizes.block_cols; i++) {
    uint64_t all[] = {stats[i].scale, stats[i].special, stats[i].saturated, stats[i].to_zero};
    *h = bits_digest(*h, all, sizeof all);
  }
  if (hu_scaled_decode(ROWS, COLS, z, COLS, to, scaling, &exec) != HU_OK) return 0;
  *h = bits_digest(*h, z, ROWS * COLS * sizeof *z);
  if (hu_scaled_quantize(ROWS, COLS, z, COLS, x, COLS, scaling, mode, NULL, NULL, &exec, &events) != HU_OK) return 0;
  *h = bits_digest(bits_digest(*h, z, ROWS * COLS * sizeof *z), &events, sizeof events);
  return 1;
}

/* A as encoded, B another tensor of the same kind, stored the other way round. */
static int products(uint64_t *h, const hu_scaling *scaling, hu_scaled a, hu_scaled b) {
  static const uint8_t factors[] = {HU_SCALED_FACTOR_ROUNDED, HU_SCALED_FACTOR_TWICE};
  hu_product product = {.m = ROWS, .n = OTHER, .k = COLS};
  product.a = hu_scaled_matrix(&a, scaling);
  product.b = hu_transposed(hu_scaled_matrix(&b, scaling));
  product.d = hu_matrix_floats_out(d_values, OTHER);
  hu_exec exec = {0};
  hu_accum inside, across;
  exec.levels_off = bits_off;
  if (hu_accum_parse(&inside, "fp32", NULL) != HU_OK) return 0;
  for (int way = 0; way < 4; way++) {
    hu_events events = {0};
    if (hu_accum_parse(&across, way & 1 ? "seq2(binary32)" : "fp32", NULL) != HU_OK) return 0;
    hu_scaled_sum sum = hu_scaled_sum_parts(inside, across, factors[way / 2]);
    hu_how how = {.exec = &exec, .events = &events};
    product.sum = &sum;
    product.space = space;
    product.bytes = hu_multiply_space(&product, &exec);
    if (product.bytes > SPACE || hu_multiply(&product, &how) != HU_OK) return 0;
    *h = bits_digest(bits_digest(*h, d_values, sizeof d_values), &events, sizeof events);
  }
  return 1;
}

int bits_scaled(void) {
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    if (!bits_chosen()) continue;
    hu_scaling scaling;
    float tensors[2] = {0.75f, 1.5f};
    uint64_t h = BITS_START;
    if (hu_scaling_parse(&scaling, hu_scaling_at(i).text, NULL) != HU_OK) return 0;
    hu_scaled_sizes za = hu_scaled_sizes_of(ROWS, COLS, &scaling), zb = hu_scaled_sizes_of(OTHER, COLS, &scaling);
    hu_scaled a = {codes[0], COLS, scales[0], za.block_cols, scaling.tensor ? tensors : NULL};
    hu_scaled b = {codes[1], COLS, scales[1], zb.block_cols, scaling.tensor ? tensors + 1 : NULL};
    hu_mode mode = {0};
    hu_exec exec = {0};
    exec.levels_off = bits_off;
    draw(OTHER * COLS);
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      if (!round_trip(&h, &scaling, &a, round)) return 0;
    }
    if (hu_scaled_encode(OTHER, COLS, &b, x, COLS, &scaling, mode, NULL, NULL, &exec, NULL) != HU_OK) return 0;
    if (!products(&h, &scaling, a, b)) return 0;
    bits_print("scaled", hu_scaling_at(i).name, h);
  }
  return 1;
}
