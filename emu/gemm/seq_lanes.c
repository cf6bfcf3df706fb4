/* SPDX-License-Identifier: MIT */
/* seq.h's tile in vectors of SEQ_LANES; compiled once a level that has fused multiply-adds. The header of the level
 * (emu/simd/avx2.h, ...) defines the types seq_f (floats) and seq_u (patterns) and, as static inline functions,
 *
 *   seq_all(x), seq_each(u)      a float, a pattern in every lane
 *   seq_load, seq_store, seq_bits(f), seq_value(u)
 *   seq_fma(a, b, c), seq_fnma   c + a b, c - a b, ties to even
 *   seq_odd(a, b, c)             c + a b rounded to odd
 *   seq_and, seq_or_and(x, y, m), seq_and_or(x, m, y)   x & y, x | (y & m), (x & m) | y
 *   seq_max, seq_min, seq_plus, seq_minus  of patterns as integers; seq_least: the lesser without a sign; seq_min16: of
 *                                their halves
 *   seq_up(x, n)                 x << n
 *   seq_first(n, x, y)           x in the first n lanes, y in the others
 *   seq_any_from(x, u, n)        1 if one of the first n lanes of x is u or more, as integers without a sign
 *   seq_any_tie(x, word, y, u)   1 if a lane of x (word: a lower half) is 10...0, or one of y, as an integer, less than
 *                                u
 */
#include "emu/gemm/seq.h"

#include "emu/base/float_env.h"
#include "emu/simd/lanes.h"

#include "emu/gemm/tiles/rounding_lanes.h"

#define SEQ_FN static inline __attribute__((always_inline))
#define SEQ_ROWS HU_GEMM_MR
/* Rows whose instructions stand side by side, as their chains are long; and rows tested at once for ties. */
#define SEQ_SIDE (HU_LEVEL_REGISTERS == 32 ? 4 : 2)
#define SEQ_TESTED (HU_LEVEL_REGISTERS == 32 ? 8 : 4)

/* last: the exponent fields of the rows' latest sums; most: the largest so far, or (NEAR) the largest rise, or (LEAST)
 * the least. */
typedef struct seq_state {
  seq_f scale;
  seq_u floor, sign, most, up;
  seq_u last[SEQ_ROWS];
} seq_state;

SEQ_FN seq_state state_of(const hu_seq *seq) {
  seq_state state;
  state.scale = seq_all(seq->scale);
  state.floor = seq_each(seq->floor);
  state.sign = seq_each(seq->sign);
  state.up = seq_each(seq->up);
  state.most = seq_each(0);
  return state;
}

/* Variants whose sums are below `limit`: every other row has its anchor made by an addition of integers, as there are
 * more instructions for sums than for products side by side. */
#define SEQ_LIMITED(variant) ((variant) <= HU_SEQ_TIES_LOW && (variant) != HU_SEQ_NEAR && (variant) != HU_SEQ_FLOOR)
#define SEQ_SUMS(variant, i)                                                                                 \
  (SEQ_LANES == 16 && SEQ_LIMITED(variant) && (variant) != HU_SEQ_LEAST_OR_0 && (variant) != HU_SEQ_LEAST && \
   (variant) != HU_SEQ_PLAIN && (i) % 2 == 1)

/* Returns the exponent field of t; SEQ_SUMS: that of half a step above, too. */
SEQ_FN seq_u field_of(seq_f t, const int sums) {
  if (sums) return seq_and_or(seq_bits(t), seq_each(0x7F800000u), seq_each(0x00400000u));
  return seq_and(seq_bits(t), seq_each(0x7F800000u));
}

SEQ_FN seq_f round_by_anchor(const seq_state *state, seq_f t, seq_u e, const int sums) {
  if (!sums) return seq_fnma(seq_value(e), state->scale, seq_fma(seq_value(e), state->scale, t));
  seq_f anchor = seq_value(seq_plus(e, state->up));
  return seq_sub(seq_add(t, anchor), anchor);
}

/* Makes one step of SEQ_SIDE rows. */
SEQ_FN void step(const int variant, seq_state *state, seq_f *acc, seq_u *last, const float *a, seq_f b) {
  const int odd = variant == HU_SEQ_ODD || variant == HU_SEQ_PLAIN,
            signs = variant == HU_SEQ_FLOOR || variant == HU_SEQ_ODD;
  seq_f t[SEQ_SIDE], z[SEQ_SIDE];
  seq_u e[SEQ_SIDE];
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    t[i] = odd ? seq_odd(seq_all(a[i]), b, acc[i]) : seq_fma(seq_all(a[i]), b, acc[i]);
  }
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    e[i] = field_of(t[i], SEQ_SUMS(variant, i));
    if (variant == HU_SEQ_NEAR) {
      state->most = seq_max(state->most, seq_minus(e[i], last[i]));
      last[i] = e[i];
    }
    if (variant == HU_SEQ_LEAST) state->most = seq_least(state->most, e[i]);
    if (variant == HU_SEQ_LEAST_OR_0) state->most = seq_least(state->most, seq_minus(e[i], seq_each(1)));
    if (signs || variant == HU_SEQ_PLAIN) e[i] = seq_max(e[i], state->floor);
    if (signs) state->most = seq_max(state->most, e[i]);
  }
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) z[i] = round_by_anchor(state, t[i], e[i], SEQ_SUMS(variant, i));
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    acc[i] = signs ? seq_value(seq_or_and(seq_bits(z[i]), seq_bits(t[i]), state->sign)) : z[i];
  }
}

/* Makes t of one step of SEQ_TESTED rows, to odd, from and to `acc`, a vector each; the CPU rounds up. Not inline, or
 * the compiler could move it from between the settings of the direction. */
HU_NOINLINE static void to_odd(const float *a, const float *b, float *acc) {
  for (size_t i = 0; i < SEQ_TESTED * SEQ_LANES; i += SEQ_LANES) {
    seq_store(acc + i, mode_odd_fma(seq_all(a[i / SEQ_LANES]), seq_load(b), seq_load(acc + i)));
  }
}

/* One step of SEQ_TESTED rows like those of the variant ODD. Apart, as it is seldom called. 0: gave up. */
HU_NOINLINE static int mend(const hu_seq *seq, const float *a, const float *b, float *acc) {
  seq_state state = state_of(seq);
  hu_float_env saved = hui_float_env_enter(HU_LANE_UP);
  to_odd(a, b, acc);
  hui_float_env_leave(saved);
  for (size_t i = 0; i < SEQ_TESTED * SEQ_LANES; i += SEQ_LANES) {
    seq_f t = seq_load(acc + i);
    seq_u e = seq_max(field_of(t, 0), state.floor);
    state.most = seq_max(state.most, e);
    seq_store(acc + i, seq_value(seq_or_and(seq_bits(round_by_anchor(&state, t, e, 0)), seq_bits(t), state.sign)));
  }
  return !seq_any_from(state.most, seq->top, SEQ_LANES);
}

/* kc steps of SEQ_TESTED rows, tested. 0: gave up. The inner loop has no calls: they would cost it registers. It ends
 * before a step that is to be mended. */
SEQ_FN int steps_tested(const hu_seq *seq, const int variant, const int word, seq_state *state, seq_f *acc, size_t kc,
                        const float *a, const float *b) {
  int mends = 16;
  for (size_t k = 0; k < kc; k++) {
    for (; k < kc; k++) {
      seq_f z[SEQ_TESTED], y = seq_load(b + k * HU_GEMM32_NR);
      seq_u ties = seq_each(0), low = seq_each(0x7F800000u);
      HU_UNROLL
      for (size_t i = 0; i < SEQ_TESTED; i++) {
        seq_f t = seq_fma(seq_all(a[k * HU_GEMM_MR + i]), y, acc[i]);
        seq_u e = field_of(t, SEQ_SUMS(variant, i));
        seq_u rest = word ? seq_bits(t) : seq_up(seq_bits(t), seq->shift);
        ties = i == 0 ? rest : word ? seq_min16(ties, rest) : seq_min(ties, rest);
        if (variant != HU_SEQ_TIES) low = i == 0 ? e : seq_min(low, e);
        if (variant == HU_SEQ_TIES_TOP) state->most = seq_max(state->most, e);
        z[i] = round_by_anchor(state, t, e, SEQ_SUMS(variant, i));
      }
      if (HU_UNLIKELY(seq_any_tie(ties, word, low, variant == HU_SEQ_TIES ? 0 : seq->floor))) break;
      HU_UNROLL
      for (size_t i = 0; i < SEQ_TESTED; i++) acc[i] = z[i];
    }
    if (k == kc) break;
    float again[SEQ_TESTED * SEQ_LANES];
    HU_UNROLL
    for (size_t i = 0; i < SEQ_TESTED; i++) seq_store(again + i * SEQ_LANES, acc[i]);
    if (--mends < 0 || !mend(seq, a + k * HU_GEMM_MR, b + k * HU_GEMM32_NR, again)) return 0;
    HU_UNROLL
    for (size_t i = 0; i < SEQ_TESTED; i++) acc[i] = seq_load(again + i * SEQ_LANES);
  }
  return 1;
}

/* An accumulator of 0 is no start of a jump: the first sum is then the product itself. */
SEQ_FN seq_u start_of(seq_f acc) {
  seq_u e = seq_and(seq_bits(acc), seq_each(0x7F800000u));
  return seq_if_zero(seq_and(seq_bits(acc), seq_each(0x7FFFFFFFu)), seq_each(0x7F800000u), e);
}

/* Is an element of the n first one that this variant leaves? */
SEQ_FN int leaves(const hu_seq *seq, const int variant, seq_f z, size_t n) {
  seq_u size = seq_and(seq_bits(z), seq_each(0x7FFFFFFFu));
  int zeros = variant <= HU_SEQ_NEAR || variant == HU_SEQ_TIES;
  if (!(zeros && seq->minus) && !(variant == HU_SEQ_PLAIN && seq->sign)) return seq_any_from(size, 0x7F800000u, n);
  return seq_any_from(seq_minus(size, seq_each(1)), 0x7F7FFFFFu, n); /* zeros, too */
}

/* What rows and columns that do not count begin with, so that they are no reason for anything. */
SEQ_FN seq_f idle(const hu_seq *seq) { return seq_value(seq_each(seq->floor > seq->least ? seq->floor : seq->least)); }

/* Sums the columns of one vector. */
SEQ_FN int strip(const hu_seq *seq, const int variant, const int word, size_t rows, size_t n, size_t kc, const float *a,
                 const float *b, float *z, const float *from) {
  const int tested = variant >= HU_SEQ_TIES && variant <= HU_SEQ_TIES_TOP;
  const int bounded = variant == HU_SEQ_LEAST || variant == HU_SEQ_LEAST_OR_0;
  seq_f acc[SEQ_ROWS];
  seq_state state = state_of(seq);
  HU_UNROLL
  for (size_t i = 0; i < SEQ_ROWS; i++) {
    acc[i] = from ? seq_load(from + i * HU_GEMM32_NR) : seq_all(0);
    if (tested || bounded) acc[i] = i < rows ? seq_first(n, acc[i], idle(seq)) : idle(seq);
    if (variant == HU_SEQ_NEAR) state.last[i] = start_of(acc[i]);
    if (SEQ_LIMITED(variant)) state.most = seq_max(state.most, seq_and(seq_bits(acc[i]), seq_each(0x7FFFFFFFu)));
  }
  if (SEQ_LIMITED(variant) && seq_any_from(state.most, seq->limit, SEQ_LANES)) return 0;
  state.most = seq_each(bounded ? 0x7F800000u : 0);
  HU_UNROLL
  for (size_t i = 0; bounded && i < SEQ_ROWS; i++) state.most = seq_least(state.most, start_of(acc[i]));
  for (size_t k = 0; !tested && k < kc; k++) {
    const float *x = a + k * HU_GEMM_MR, *y = b + k * HU_GEMM32_NR;
    HU_UNROLL
    for (size_t i = 0; i < SEQ_ROWS; i += SEQ_SIDE) step(variant, &state, acc + i, state.last + i, x + i, seq_load(y));
  }
  HU_UNROLL
  for (size_t i = 0; tested && i < SEQ_ROWS; i += SEQ_TESTED) {
    if (!steps_tested(seq, variant, word, &state, acc + i, kc, a + i, b)) return 0;
  }
  if (variant == HU_SEQ_NEAR && seq_any_from(state.most, seq->jump, n)) return 0;
  if (bounded && seq_any_from(seq_minus(seq_each(0x7FFFFFFFu), state.most), 0x80000001u - seq->least, n)) return 0;
  if ((variant == HU_SEQ_FLOOR || variant == HU_SEQ_TIES_TOP || variant == HU_SEQ_ODD) &&
      seq_any_from(state.most, seq->top, n))
    return 0;
  HU_UNROLL
  for (size_t i = 0; i < SEQ_ROWS; i++) {
    if (i < rows && leaves(seq, variant, acc[i], n)) return 0;
    seq_store(z + i * HU_GEMM32_NR, acc[i]);
  }
  return 1;
}

SEQ_FN int tile_by(const hu_seq *seq, const int variant, const int word, size_t rows, size_t cols, size_t kc,
                   const float *a, const float *b, float *acc, int fresh) {
  float z[HU_GEMM_MR * HU_GEMM32_NR];
  size_t j = 0;
  for (; j < cols; j += SEQ_LANES) {
    size_t n = cols - j < SEQ_LANES ? cols - j : SEQ_LANES;
    if (!strip(seq, variant, word, rows, n, kc, a, b + j, z + j, fresh ? NULL : acc + j)) return 0;
  }
  for (size_t i = 0; i < HU_GEMM_MR; i++) memcpy(acc + i * HU_GEMM32_NR, z + i * HU_GEMM32_NR, j * sizeof *z);
  return 1;
}

static int tile(const hu_seq *seq, int variant, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                float *acc, int fresh) {
#define SEQ_TILE(variant, word) tile_by(seq, variant, word, rows, cols, kc, a, b, acc, fresh)
  const int word = seq->shift == 16;
  if (variant == HU_SEQ_BARE) return SEQ_TILE(HU_SEQ_BARE, 0);
  if (variant == HU_SEQ_LEAST) return SEQ_TILE(HU_SEQ_LEAST, 0);
  if (variant == HU_SEQ_LEAST_OR_0) return SEQ_TILE(HU_SEQ_LEAST_OR_0, 0);
  if (variant == HU_SEQ_PLAIN) return SEQ_TILE(HU_SEQ_PLAIN, 0);
  if (variant == HU_SEQ_NEAR) return SEQ_TILE(HU_SEQ_NEAR, 0);
  if (variant == HU_SEQ_FLOOR) return SEQ_TILE(HU_SEQ_FLOOR, 0);
  if (variant == HU_SEQ_TIES) return word ? SEQ_TILE(HU_SEQ_TIES, 1) : SEQ_TILE(HU_SEQ_TIES, 0);
  if (variant == HU_SEQ_TIES_LOW) return word ? SEQ_TILE(HU_SEQ_TIES_LOW, 1) : SEQ_TILE(HU_SEQ_TIES_LOW, 0);
  if (variant == HU_SEQ_TIES_TOP) return word ? SEQ_TILE(HU_SEQ_TIES_TOP, 1) : SEQ_TILE(HU_SEQ_TIES_TOP, 0);
  return SEQ_TILE(HU_SEQ_ODD, 0);
#undef SEQ_TILE
}

const hu_seq_kernels HU_OF_LEVEL(hu_seq) = {tile, HU_LEVEL_ID == 2};
