/* SPDX-License-Identifier: MIT */
/* emu/gemm_seq_body.h - gemm_seq.h's tile in vectors of SEQ_LANES. Who includes it defines the types seq_f (floats) and
 * seq_u (patterns) and, as static inline functions,
 *
 *   seq_all(x), seq_each(u)      a float, a pattern in every lane
 *   seq_load, seq_store, seq_bits(f), seq_value(u)
 *   seq_fma(a, b, c), seq_fnma   c + a b, c - a b, ties to even
 *   seq_odd(a, b, c)             c + a b rounded to odd
 *   seq_and, seq_or_and(x, y, m) x & y, x | (y & m)
 *   seq_max, seq_max, seq_minus      of non-negative (any) patterns as integers
 *   seq_any_from(x, u, n)        1 if one of the first n lanes of x is u or more, as integers without a sign */

#define SEQ_FN static inline __attribute__((always_inline))
#define SEQ_ROWS HU_GEMM_MR
#define SEQ_SIDE 2

/* last: the exponent fields of the rows' latest sums; most: the largest so far, or (NEAR) the largest rise. */
typedef struct seq_state {
  seq_f scale;
  seq_u floor, sign, most;
  seq_u last[SEQ_ROWS];
} seq_state;

/* One step of SEQ_SIDE rows, side by side: their chains of instructions are long. */
SEQ_FN void step(const int way, seq_state *q, seq_f *acc, seq_u *last, const float *a, seq_f b) {
  seq_f t[SEQ_SIDE], z[SEQ_SIDE];
  seq_u e[SEQ_SIDE];
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    t[i] = way >= HU_SEQ_PLAIN ? seq_odd(seq_all(a[i]), b, acc[i]) : seq_fma(seq_all(a[i]), b, acc[i]);
  }
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    e[i] = seq_and(seq_bits(t[i]), seq_each(0x7F800000u));
    if (way == HU_SEQ_NEAR) {
      q->most = seq_max(q->most, seq_minus(e[i], last[i]));
      last[i] = e[i];
    } else {
      e[i] = seq_max(e[i], q->floor);
    }
  }
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) z[i] = seq_fma(seq_value(e[i]), q->scale, t[i]);
  HU_UNROLL
  for (size_t i = 0; i < SEQ_SIDE; i++) {
    acc[i] = seq_fnma(seq_value(e[i]), q->scale, z[i]);
    if (way == HU_SEQ_NEAR || way == HU_SEQ_PLAIN) continue;
    q->most = seq_max(q->most, e[i]);
    acc[i] = seq_value(seq_or_and(seq_bits(acc[i]), seq_bits(t[i]), q->sign));
  }
}

/* An accumulator of 0 is no start of a jump: the first sum is then the product itself. */
SEQ_FN seq_u start_of(seq_f acc) {
  seq_u e = seq_and(seq_bits(acc), seq_each(0x7F800000u));
  return seq_if_zero(seq_and(seq_bits(acc), seq_each(0x7FFFFFFFu)), seq_each(0x7F800000u), e);
}

/* Is an element of the n first one that this way leaves? */
SEQ_FN int leaves(const hu_seq *q, const int way, seq_f z, size_t n) {
  seq_u size = seq_and(seq_bits(z), seq_each(0x7FFFFFFFu));
  if (way == HU_SEQ_FLOOR || way == HU_SEQ_ODD || !q->sign) return seq_any_from(size, 0x7F800000u, n);
  return seq_any_from(seq_minus(size, seq_each(1)), 0x7F7FFFFFu, n); /* zeros, too */
}

/* Columns of one vector. */
SEQ_FN int strip(const hu_seq *q, const int way, size_t rows, size_t n, size_t kc, const float *a, const float *b,
                 float *z, const float *from) {
  seq_f acc[SEQ_ROWS];
  seq_state s;
  s.scale = seq_all(q->scale);
  s.floor = seq_each(q->floor);
  s.sign = seq_each(q->sign);
  s.most = seq_each(0);
  HU_UNROLL
  for (size_t i = 0; i < SEQ_ROWS; i++) {
    acc[i] = from ? seq_load(from + i * HU_GEMM32_NR) : seq_all(0);
    s.last[i] = start_of(acc[i]);
    if (way == HU_SEQ_PLAIN) s.most = seq_max(s.most, seq_and(seq_bits(acc[i]), seq_each(0x7FFFFFFFu)));
  }
  uint32_t limit;
  memcpy(&limit, &q->limit, sizeof limit);
  if (way == HU_SEQ_PLAIN && seq_any_from(s.most, limit, SEQ_LANES)) return 0;
  for (size_t k = 0; k < kc; k++) {
    seq_f y = seq_load(b + k * HU_GEMM32_NR);
    HU_UNROLL
    for (size_t i = 0; i < SEQ_ROWS; i += SEQ_SIDE) step(way, &s, acc + i, s.last + i, a + k * HU_GEMM_MR + i, y);
  }
  if (way == HU_SEQ_NEAR && seq_any_from(s.most, q->jump, n)) return 0;
  if ((way == HU_SEQ_FLOOR || way == HU_SEQ_ODD) && seq_any_from(s.most, q->top, n)) return 0;
  HU_UNROLL
  for (size_t i = 0; i < SEQ_ROWS; i++) {
    if (i < rows && leaves(q, way, acc[i], n)) return 0;
    seq_store(z + i * HU_GEMM32_NR, acc[i]);
  }
  return 1;
}

SEQ_FN int tile_by(const hu_seq *q, const int way, size_t rows, size_t columns, size_t kc, const float *a,
                   const float *b, float *acc, int fresh) {
  float z[HU_GEMM_MR * HU_GEMM32_NR];
  size_t j = 0;
  for (; j < columns; j += SEQ_LANES) {
    size_t n = columns - j < SEQ_LANES ? columns - j : SEQ_LANES;
    if (!strip(q, way, rows, n, kc, a, b + j, z + j, fresh ? NULL : acc + j)) return 0;
  }
  for (size_t i = 0; i < HU_GEMM_MR; i++) memcpy(acc + i * HU_GEMM32_NR, z + i * HU_GEMM32_NR, j * sizeof *z);
  return 1;
}

static int tile(const hu_seq *q, int way, size_t rows, size_t columns, size_t kc, const float *a, const float *b,
                float *acc, int fresh) {
  if (way == HU_SEQ_NEAR) return tile_by(q, HU_SEQ_NEAR, rows, columns, kc, a, b, acc, fresh);
  if (way == HU_SEQ_FLOOR) return tile_by(q, HU_SEQ_FLOOR, rows, columns, kc, a, b, acc, fresh);
  if (way == HU_SEQ_PLAIN) return tile_by(q, HU_SEQ_PLAIN, rows, columns, kc, a, b, acc, fresh);
  return tile_by(q, HU_SEQ_ODD, rows, columns, kc, a, b, acc, fresh);
}
