/* SPDX-License-Identifier: MIT */
/* seq_modes.h's tile in the vectors that seq_lanes.c describes, SEQ_LANES columns a time; compiled as that is. */
#include "emu/base/float_env.h"
#include "emu/gemm/seq_modes.h"
#include "emu/simd/lanes.h"

#include "emu/gemm/tiles/element_words.h"
#include "emu/gemm/tiles/rounding_lanes.h"

/* Rows side by side in modes without random words. */
#define MODE_ROWS (HU_LEVEL_REGISTERS == 32 ? 8 : 4)

/* ---- one rounding ---- */

/* Makes the product and sum of a step, in binary32; the CPU rounds in the mode's direction. */
MODE_FN seq_f sum_of(const int round, seq_f a, seq_f b, seq_f acc) {
  return rounds_to_odd(round) ? mode_odd_fma(a, b, acc) : seq_fma(a, b, acc);
}

/* One step up to its last rounding. lanes: of sums, and of products. *above gets what the product has above its floor;
 * word: its random word. */
MODE_FN seq_f begin_step(const mode_lanes *lanes, const int round, const int unfused, float a, seq_f b, seq_f acc,
                         seq_u word, seq_u *above) {
  *above = seq_each(0);
  if (!unfused) return sum_of(round, seq_all(a), b, acc);
  seq_f product = seq_mul(seq_all(a), b);
  *above = above_floor(lanes + 1, product);
  return sum_of(round, seq_all(1), mode_rounded(lanes + 1, round, product, word), acc);
}

/* The lanes, a bit each, that are for integers. */
MODE_FN uint32_t open_of(const mode_lanes *lanes, const int unfused, seq_u sum, seq_u product) {
  uint32_t open = seq_which_from(sum, lanes->span);
  return unfused ? open | seq_which_from(product, lanes[1].span) : open;
}

/* Computes the lanes of `open`, a bit each, of the sums z, in integers. */
HU_NOINLINE static seq_f by_integers(const hu_modes *modes, uint32_t open, float a, seq_f b, seq_f acc, seq_f z,
                                     uint64_t element, uint64_t k) {
  float x[SEQ_LANES], y[SEQ_LANES], from[SEQ_LANES];
  seq_store(x, z);
  seq_store(y, b);
  seq_store(from, acc);
  for (uint32_t i = 0; open; i++, open >>= 1) {
    if (open & 1) x[i] = modes->lane(modes, a, y[i], from[i], element + i, k);
  }
  return seq_load(x);
}

/* ---- without random words ---- */

/* One step of one row, its lanes of `counts` by integers where they have to be. */
MODE_FN seq_f careful_step(const hu_modes *modes, const mode_lanes *lanes, const int round, const int unfused,
                           uint32_t counts, float a, seq_f b, seq_f acc, const seq_u *words, uint64_t element,
                           uint64_t k) {
  seq_u above;
  seq_f t = begin_step(lanes, round, unfused, a, b, acc, words[0], &above),
        z = mode_rounded(lanes, round, t, words[unfused]);
  uint32_t open = open_of(lanes, unfused, above_floor(lanes, t), above) & counts;
  return HU_UNLIKELY(open) ? by_integers(modes, open, a, b, acc, z, element, k) : z;
}

/* MODE_ROWS rows of one vector; rows, n: those that count. The inner loop has no calls: they would cost it registers.
 * It ends before a step that is not for it. */
MODE_FN void strip(const hu_modes *modes, const mode_lanes *lanes, const int round, const int unfused, size_t rows,
                   size_t n, size_t kc, const float *a, const float *b, float *sum, uint64_t element, uint64_t pitch,
                   uint64_t k0) {
  seq_f acc[MODE_ROWS], t[MODE_ROWS];
  const uint32_t counts = (uint32_t)(((uint64_t)1 << n) - 1);
  const seq_u no_words[2] = {seq_each(0), seq_each(0)};
  HU_UNROLL
  for (size_t i = 0; i < MODE_ROWS; i++) {
    acc[i] = seq_value(lanes->floor);
    if (i < rows) acc[i] = seq_first(n, seq_load(sum + i * HU_GEMM32_NR), acc[i]);
  }
  for (size_t k = 0; k < kc; k++) {
    for (; k < kc; k++) {
      seq_f y = seq_load(b + k * HU_GEMM32_NR);
      seq_u sums = seq_each(0), products = seq_each(0), above;
      HU_UNROLL
      for (size_t i = 0; i < MODE_ROWS; i++) {
        t[i] = begin_step(lanes, round, unfused, a[k * HU_GEMM_MR + i], y, acc[i], no_words[0], &above);
        sums = i ? seq_most(sums, above_floor(lanes, t[i])) : above_floor(lanes, t[i]);
        if (unfused) products = i ? seq_most(products, above) : above;
      }
      if (HU_UNLIKELY(open_of(lanes, unfused, sums, products))) break;
      HU_UNROLL
      for (size_t i = 0; i < MODE_ROWS; i++) acc[i] = mode_rounded(lanes, round, t[i], no_words[0]);
    }
    if (k == kc) break;
    HU_UNROLL
    for (size_t i = 0; i < MODE_ROWS; i++) {
      acc[i] = careful_step(modes, lanes, round, unfused, i < rows ? counts : 0, a[k * HU_GEMM_MR + i],
                            seq_load(b + k * HU_GEMM32_NR), acc[i], no_words, element + i * pitch, k0 + k);
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < MODE_ROWS; i++) {
    if (i < rows) seq_store(sum + i * HU_GEMM32_NR, acc[i]);
  }
}

/* ---- with random words ---- */

/* MODE_DRAWN rows of one vector; rows, n: those that count. A block has the words of 4 or (unfused) 2 steps. */
MODE_FN void drawn_rows(const hu_modes *modes, const mode_lanes *lanes, const mode_keys *key, const int round,
                        const int unfused, size_t rows, size_t n, size_t kc, const float *a, const float *b, float *sum,
                        uint64_t element, uint64_t pitch, uint64_t k0) {
  const size_t steps = unfused ? 2 : 4, words_each = unfused ? 2 : 1;
  const uint32_t counts = (uint32_t)(((uint64_t)1 << n) - 1);
  seq_f acc[MODE_DRAWN];
  uint64_t block = 1 + k0 / steps;
  mode_blocks blocks = blocks_of(key, element, pitch, (uint32_t)(block >> 32));
  HU_UNROLL
  for (size_t i = 0; i < MODE_DRAWN; i++) {
    acc[i] = seq_value(lanes->floor);
    if (i < rows) acc[i] = seq_first(n, seq_load(sum + i * HU_GEMM32_NR), acc[i]);
  }
  for (size_t k = 0; k < kc; k += steps, block++) {
    seq_u words[4 * MODE_DRAWN];
    if (HU_UNLIKELY((uint32_t)block == 0)) blocks = blocks_of(key, element, pitch, (uint32_t)(block >> 32));
    words_of(key, &blocks, (uint32_t)block, words);
    HU_UNROLL
    for (size_t step = 0; step < steps; step++) {
      if (k + step >= kc) break;
      const float *x = a + (k + step) * HU_GEMM_MR;
      seq_f y = seq_load(b + (k + step) * HU_GEMM32_NR);
      HU_UNROLL
      for (size_t i = 0; i < MODE_DRAWN; i++) {
        acc[i] = careful_step(modes, lanes, round, unfused, i < rows ? counts : 0, x[i], y, acc[i],
                              words + 4 * i + step * words_each, element + i * pitch, k0 + k + step);
      }
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < MODE_DRAWN; i++) {
    if (i < rows) seq_store(sum + i * HU_GEMM32_NR, acc[i]);
  }
}

/* ---- tiles ---- */

MODE_FN void tile_by(const hu_modes *modes, const int round, const int unfused, size_t rows, size_t cols, size_t kc,
                     const float *a, const float *b, float *acc, uint64_t element, uint64_t pitch, uint64_t k) {
  const mode_keys key = keys_of(modes->key);
  const mode_lanes lanes[2] = {lanes_of(&modes->sum, round), lanes_of(&modes->product, round)};
  for (size_t j = 0; j < cols; j += SEQ_LANES) {
    size_t n = cols - j < SEQ_LANES ? cols - j : SEQ_LANES;
    for (size_t i = 0; i < rows; i += round >= HU_SRA ? MODE_DRAWN : MODE_ROWS) {
      float *z = acc + i * HU_GEMM32_NR + j;
      uint64_t at = element + i * pitch + j;
      if (round >= HU_SRA) {
        drawn_rows(modes, lanes, &key, round, unfused, rows - i, n, kc, a + i, b + j, z, at, pitch, k);
      } else {
        strip(modes, lanes, round, unfused, rows - i, n, kc, a + i, b + j, z, at, pitch, k);
      }
    }
  }
}

HU_NOINLINE static void run(const hu_modes *modes, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                            float *acc, uint64_t element, uint64_t pitch, uint64_t k) {
#define MODE_TILE(mode, name, first, words, p3109, ieee)                     \
  case mode:                                                                 \
    if (mode == HU_RNE) break; /* hu_way_seq has these */                       \
    if (modes->unfused) {                                                    \
      tile_by(modes, mode, 1, rows, cols, kc, a, b, acc, element, pitch, k); \
    } else {                                                                 \
      tile_by(modes, mode, 0, rows, cols, kc, a, b, acc, element, pitch, k); \
    }                                                                        \
    break;
  switch (modes->sum.grid.spec.round) {
    HU_EACH_MODE(MODE_TILE)
    default: break;
  }
#undef MODE_TILE
}

static void tile(const hu_modes *modes, size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc,
                 uint64_t element, uint64_t pitch, uint64_t k) {
  hu_float_env saved = hui_float_env_enter(mode_direction(modes->sum.grid.spec.round));
  run(modes, rows, cols, kc, a, b, acc, element, pitch, k);
  hui_float_env_leave(saved);
}

const hu_modes_kernels HU_OF_LEVEL(hu_modes) = {tile, &HU_OF_LEVEL(hu_steps)};
