/* SPDX-License-Identifier: MIT */
/* seq_modes.h's tile in the vectors that seq_lanes.c describes, SEQ_LANES columns a time; compiled as that is. */
#include "emu/base/float_env.h"
#include "emu/core/lane_constants.h"
#include "emu/core/stream.h"
#include "emu/gemm/seq_modes.h"
#include "emu/simd/lanes.h"

#define MODE_FN static inline __attribute__((always_inline))

/* Rows side by side in modes without random words. */
#define MODE_ROWS (HU_LEVEL_REGISTERS == 32 ? 8 : 4)

/* ---- one rounding ---- */

MODE_FN int rounds_to_odd(const int round) {
  return round == HU_RNZ || round == HU_RAZ || round == HU_RTO || round == HU_SRC;
}

/* The product and sum of a step, in binary32; the processor rounds in the mode's direction. */
MODE_FN seq_f sum_of(const int round, seq_f a, seq_f b, seq_f acc) {
  return rounds_to_odd(round) ? seq_odd(a, b, acc) : seq_fma(a, b, acc);
}

/* What round_by_anchor and above_floor need, made once a tile: calls to `lane` would have it loaded again each time. */
typedef struct mode_lanes {
  seq_u floor, span, kept, keep, add, half;
  uint32_t d, bits, last;
} mode_lanes;

MODE_FN mode_lanes lanes_of(const hu_mode_grid *q, const int round) {
  const uint32_t below = ((uint32_t)1 << q->d) - 1;
  const hu_addend direct = hu_addend_of((uint32_t)round, (int32_t)q->d);
  mode_lanes z;
  z.floor = seq_each(q->floor);
  z.span = seq_each(q->span);
  z.kept = seq_each(~below);
  z.keep = seq_each(q->keep);
  z.add = seq_each(direct.base[round == HU_RTN]);
  z.half = seq_each(round == HU_SRC ? q->half - 1 : q->half);
  z.d = q->d;
  z.bits = q->grid.spec.bits;
  z.last = q->half;
  return z;
}

/* What is added to the pattern u before its lowest d digits are dropped (hu_quick_add of emu/simd/round.h). */
MODE_FN seq_u addend(const mode_lanes *v, const int round, seq_u u, seq_u random) {
  if (round == HU_RTP) return seq_and_not(v->add, seq_negative(u));
  if (round == HU_RTN) return seq_and(v->add, seq_negative(u));
  if (round == HU_RTO) { /* up if the last digit kept is 0 */
    seq_u last = seq_and(seq_down(u, v->d), seq_each(1));
    return seq_and(v->add, seq_minus(last, seq_each(1)));
  }
  if (round < HU_SRA) return v->add;
  seq_u add = seq_and(seq_down(random, 32 - v->d), v->keep);
  if (round == HU_SRB) return seq_plus(add, v->half);
  if (round == HU_SRA || v->last == 0) return add;
  /* C: the fraction first rounded to N digits, ties to even. */
  seq_u even = seq_down(seq_and(u, seq_each(v->last << 1)), v->d - v->bits);
  return seq_plus(add, seq_minus(seq_and(seq_plus(seq_plus(u, v->half), even), v->keep), u));
}

MODE_FN seq_f round_by_anchor(const mode_lanes *v, const int round, seq_f t, seq_u random) {
  seq_u u = seq_bits(t);
  if (round == HU_RTZ) return seq_value(seq_and(u, v->kept));
  return seq_value(seq_and(seq_plus(u, addend(v, round, u, random)), v->kept));
}

/* |t| above 2^emin, as a pattern: from the span on, without a sign, the integers serve. */
MODE_FN seq_u above_floor(const mode_lanes *v, seq_f t) {
  return seq_minus(seq_and(seq_bits(t), seq_each(0x7FFFFFFFu)), v->floor);
}

/* One step up to its last rounding. v: of sums, and of products. *above gets what the product has above its floor;
 * word: its random word. */
MODE_FN seq_f begin_step(const mode_lanes *v, const int round, const int unfused, float a, seq_f b, seq_f acc,
                         seq_u word, seq_u *above) {
  *above = seq_each(0);
  if (!unfused) return sum_of(round, seq_all(a), b, acc);
  seq_f p = seq_mul(seq_all(a), b);
  *above = above_floor(v + 1, p);
  return sum_of(round, seq_all(1), round_by_anchor(v + 1, round, p, word), acc);
}

/* The lanes, a bit each, that are for integers. */
MODE_FN uint32_t open_of(const mode_lanes *v, const int unfused, seq_u sum, seq_u product) {
  uint32_t open = seq_which_from(sum, v->span);
  return unfused ? open | seq_which_from(product, v[1].span) : open;
}

/* The lanes of `open`, a bit each, of the sums z, in integers. */
HU_NOINLINE static seq_f by_integers(const hu_modes *q, uint32_t open, float a, seq_f b, seq_f acc, seq_f z,
                                     uint64_t element, uint64_t k) {
  float x[SEQ_LANES], y[SEQ_LANES], from[SEQ_LANES];
  seq_store(x, z);
  seq_store(y, b);
  seq_store(from, acc);
  for (uint32_t i = 0; open; i++, open >>= 1) {
    if (open & 1) x[i] = q->lane(q, a, y[i], from[i], element + i, k);
  }
  return seq_load(x);
}

/* ---- without random words ---- */

/* One step of one row, its lanes of `counts` by integers where they have to be. */
MODE_FN seq_f careful_step(const hu_modes *q, const mode_lanes *v, const int round, const int unfused, uint32_t counts,
                           float a, seq_f b, seq_f acc, const seq_u *words, uint64_t element, uint64_t k) {
  seq_u above;
  seq_f t = begin_step(v, round, unfused, a, b, acc, words[0], &above),
        z = round_by_anchor(v, round, t, words[unfused]);
  uint32_t open = open_of(v, unfused, above_floor(v, t), above) & counts;
  return HU_UNLIKELY(open) ? by_integers(q, open, a, b, acc, z, element, k) : z;
}

/* MODE_ROWS rows of one vector; rows, n: those that count. The inner loop has no calls: they would cost it registers.
 * It ends before a step that is not for it. */
MODE_FN void strip(const hu_modes *q, const mode_lanes *v, const int round, const int unfused, size_t rows, size_t n,
                   size_t kc, const float *a, const float *b, float *sum, uint64_t element, uint64_t pitch,
                   uint64_t k0) {
  seq_f acc[MODE_ROWS], t[MODE_ROWS];
  const uint32_t counts = (uint32_t)(((uint64_t)1 << n) - 1);
  const seq_u no_words[2] = {seq_each(0), seq_each(0)};
  HU_UNROLL
  for (size_t i = 0; i < MODE_ROWS; i++) {
    acc[i] = seq_value(v->floor);
    if (i < rows) acc[i] = seq_first(n, seq_load(sum + i * HU_GEMM32_NR), acc[i]);
  }
  for (size_t k = 0; k < kc; k++) {
    for (; k < kc; k++) {
      seq_f y = seq_load(b + k * HU_GEMM32_NR);
      seq_u sums = seq_each(0), products = seq_each(0), above;
      HU_UNROLL
      for (size_t i = 0; i < MODE_ROWS; i++) {
        t[i] = begin_step(v, round, unfused, a[k * HU_GEMM_MR + i], y, acc[i], no_words[0], &above);
        sums = i ? seq_most(sums, above_floor(v, t[i])) : above_floor(v, t[i]);
        if (unfused) products = i ? seq_most(products, above) : above;
      }
      if (HU_UNLIKELY(open_of(v, unfused, sums, products))) break;
      HU_UNROLL
      for (size_t i = 0; i < MODE_ROWS; i++) acc[i] = round_by_anchor(v, round, t[i], no_words[0]);
    }
    if (k == kc) break;
    HU_UNROLL
    for (size_t i = 0; i < MODE_ROWS; i++) {
      acc[i] = careful_step(q, v, round, unfused, i < rows ? counts : 0, a[k * HU_GEMM_MR + i],
                            seq_load(b + k * HU_GEMM32_NR), acc[i], no_words, element + i * pitch, k0 + k);
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < MODE_ROWS; i++) {
    if (i < rows) seq_store(sum + i * HU_GEMM32_NR, acc[i]);
  }
}

/* ---- with random words ---- */

/* Rows side by side in modes with random words. */
#define MODE_DRAWN (HU_LEVEL_REGISTERS == 32 ? 2 : 1)
#define MODE_GROUPS (2 * MODE_DRAWN)

/* The blocks of SEQ_LANES elements of MODE_DRAWN rows, of each those of even columns and those of odd ones, one to a
 * 64-bit lane. What is known of them before k is: of the first round the product of word 0, of the second that of
 * word 2. */
typedef struct mode_blocks {
  seq_u high[MODE_GROUPS], first[MODE_GROUPS], second[MODE_GROUPS];
} mode_blocks;

typedef struct mode_keys {
  seq_u k0[HU_PHILOX_ROUNDS], k1[HU_PHILOX_ROUNDS];
  uint32_t low;
} mode_keys;

static mode_keys keys_of(uint64_t key) {
  mode_keys z;
  for (uint32_t r = 0; r < HU_PHILOX_ROUNDS; r++) {
    z.k0[r] = wide_all((uint32_t)key + r * HU_PHILOX_W0);
    z.k1[r] = wide_all((uint32_t)(key >> 32) + r * HU_PHILOX_W1);
  }
  z.low = (uint32_t)key;
  return z;
}

/* q_high: word 3 of the counter; pitch: elements of a row. */
MODE_FN mode_blocks blocks_of(const mode_keys *key, uint64_t element, uint64_t pitch, uint32_t q_high) {
  mode_blocks z;
  for (uint32_t g = 0; g < MODE_GROUPS; g++) {
    seq_u counter = wide_plus(wide_all(element + g / 2 * pitch + g % 2), wide_twice_order());
    z.high[g] = wide_high(counter);
    z.first[g] = wide_mul(counter, wide_all(HU_PHILOX_M0));
    seq_u word2 = wide_xor3(wide_high(z.first[g]), wide_all(q_high), key->k1[0]);
    z.second[g] = wide_mul(word2, wide_all(HU_PHILOX_M1));
  }
  return z;
}

/* The words of steps 4 (q - 1) ... of all lanes, those of row r from 4 r on. The high halves of 64-bit lanes may hold
 * anything. */
MODE_FN void words_of(const mode_keys *key, const mode_blocks *from, uint32_t q_low, seq_u *words) {
  const seq_u m0 = wide_all(HU_PHILOX_M0), m1 = wide_all(HU_PHILOX_M1);
  const uint64_t p1 = (uint64_t)HU_PHILOX_M1 * q_low;
  seq_u c0[MODE_GROUPS], c1[MODE_GROUPS], c2[MODE_GROUPS], c3[MODE_GROUPS];
  HU_UNROLL
  for (size_t g = 0; g < MODE_GROUPS; g++) {
    seq_u word0 = wide_xor(from->high[g], wide_all((uint32_t)(p1 >> 32) ^ key->low));
    c3[g] = wide_mul(word0, m0);
    c2[g] = wide_xor3(wide_high(c3[g]), from->first[g], key->k1[1]);
    c1[g] = from->second[g];
    c0[g] = wide_xor(wide_high(from->second[g]), wide_all((uint32_t)p1 ^ (key->low + HU_PHILOX_W0)));
  }
  HU_UNROLL
  for (size_t r = 2; r < HU_PHILOX_ROUNDS; r++) {
    HU_UNROLL
    for (size_t g = 0; g < MODE_GROUPS; g++) {
      seq_u p0 = wide_mul(c0[g], m0), p2 = wide_mul(c2[g], m1);
      c0[g] = wide_xor3(wide_high(p2), c1[g], key->k0[r]);
      c2[g] = wide_xor3(wide_high(p0), c3[g], key->k1[r]);
      c1[g] = p2;
      c3[g] = p0;
    }
  }
  HU_UNROLL
  for (size_t r = 0; r < MODE_DRAWN; r++) {
    words[4 * r] = wide_join(c0[2 * r], c0[2 * r + 1]);
    words[4 * r + 1] = wide_join(c1[2 * r], c1[2 * r + 1]);
    words[4 * r + 2] = wide_join(c2[2 * r], c2[2 * r + 1]);
    words[4 * r + 3] = wide_join(c3[2 * r], c3[2 * r + 1]);
  }
}

/* MODE_DRAWN rows of one vector; rows, n: those that count. A block has the words of 4 or (unfused) 2 steps. */
MODE_FN void drawn_rows(const hu_modes *q, const mode_lanes *v, const mode_keys *key, const int round,
                        const int unfused, size_t rows, size_t n, size_t kc, const float *a, const float *b, float *sum,
                        uint64_t element, uint64_t pitch, uint64_t k0) {
  const size_t steps = unfused ? 2 : 4, words_each = unfused ? 2 : 1;
  const uint32_t counts = (uint32_t)(((uint64_t)1 << n) - 1);
  seq_f acc[MODE_DRAWN];
  uint64_t block = 1 + k0 / steps;
  mode_blocks blocks = blocks_of(key, element, pitch, (uint32_t)(block >> 32));
  HU_UNROLL
  for (size_t i = 0; i < MODE_DRAWN; i++) {
    acc[i] = seq_value(v->floor);
    if (i < rows) acc[i] = seq_first(n, seq_load(sum + i * HU_GEMM32_NR), acc[i]);
  }
  for (size_t k = 0; k < kc; k += steps, block++) {
    seq_u words[4 * MODE_DRAWN];
    if (HU_UNLIKELY((uint32_t)block == 0)) blocks = blocks_of(key, element, pitch, (uint32_t)(block >> 32));
    words_of(key, &blocks, (uint32_t)block, words);
    HU_UNROLL
    for (size_t s = 0; s < steps; s++) {
      if (k + s >= kc) break;
      const float *x = a + (k + s) * HU_GEMM_MR;
      seq_f y = seq_load(b + (k + s) * HU_GEMM32_NR);
      HU_UNROLL
      for (size_t i = 0; i < MODE_DRAWN; i++) {
        acc[i] = careful_step(q, v, round, unfused, i < rows ? counts : 0, x[i], y, acc[i],
                              words + 4 * i + s * words_each, element + i * pitch, k0 + k + s);
      }
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < MODE_DRAWN; i++) {
    if (i < rows) seq_store(sum + i * HU_GEMM32_NR, acc[i]);
  }
}

/* ---- tiles ---- */

MODE_FN void tile_by(const hu_modes *q, const int round, const int unfused, size_t rows, size_t cols, size_t kc,
                     const float *a, const float *b, float *acc, uint64_t element, uint64_t pitch, uint64_t k) {
  const mode_keys key = keys_of(q->key);
  const mode_lanes v[2] = {lanes_of(&q->sum, round), lanes_of(&q->product, round)};
  for (size_t j = 0; j < cols; j += SEQ_LANES) {
    size_t n = cols - j < SEQ_LANES ? cols - j : SEQ_LANES;
    for (size_t i = 0; i < rows; i += round >= HU_SRA ? MODE_DRAWN : MODE_ROWS) {
      float *z = acc + i * HU_GEMM32_NR + j;
      uint64_t at = element + i * pitch + j;
      if (round >= HU_SRA) {
        drawn_rows(q, v, &key, round, unfused, rows - i, n, kc, a + i, b + j, z, at, pitch, k);
      } else {
        strip(q, v, round, unfused, rows - i, n, kc, a + i, b + j, z, at, pitch, k);
      }
    }
  }
}

HU_NOINLINE static void run(const hu_modes *q, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                            float *acc, uint64_t element, uint64_t pitch, uint64_t k) {
#define MODE_TILE(round)                                                  \
  case round:                                                             \
    if (q->unfused) {                                                     \
      tile_by(q, round, 1, rows, cols, kc, a, b, acc, element, pitch, k); \
    } else {                                                              \
      tile_by(q, round, 0, rows, cols, kc, a, b, acc, element, pitch, k); \
    }                                                                     \
    break
  switch (q->sum.grid.spec.round) {
    MODE_TILE(HU_RNA);
    MODE_TILE(HU_RNZ);
    MODE_TILE(HU_RTZ);
    MODE_TILE(HU_RTP);
    MODE_TILE(HU_RTN);
    MODE_TILE(HU_RAZ);
    MODE_TILE(HU_RTO);
    MODE_TILE(HU_SRA);
    MODE_TILE(HU_SRB);
    MODE_TILE(HU_SRC);
    default: break;
  }
#undef MODE_TILE
}

static void tile(const hu_modes *q, size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc,
                 uint64_t element, uint64_t pitch, uint64_t k) {
  const int round = q->sum.grid.spec.round;
  uint32_t direction = round == HU_RTP        ? HU_LANE_UP
                       : round == HU_RTN      ? HU_LANE_DOWN
                       : rounds_to_odd(round) ? HU_LANE_NEAREST
                                              : HU_LANE_ZERO;
  hu_float_env saved = hu_float_env_enter(direction);
  run(q, rows, cols, kc, a, b, acc, element, pitch, k);
  hu_float_env_leave(saved);
}

const hu_modes_kernels HU_OF_LEVEL(hu_modes) = {tile};
