/* SPDX-License-Identifier: MIT */
/* Exact sums of operands that are integers of up to 21 digits times a power of two (E4M3, E5M2 over some binades), by
 * tiles of signed bytes (tiles/short.h).
 *
 * The argument. Let every a be a 2^qa and every b be b 2^qb of integers |a| <= ma < 2^21 and |b| <= mb < 2^21, as in
 * exact_short.c. Write |a| in base 128 and give its digits the sign of a: a = a0 + 128 a1 + 128^2 a2, |at| <= 127, and
 * b likewise. Then
 *
 *   sum of a b over K = sum over w of 128^w S(w),   S(w) = sum over t + u = w, and over K, of at bu,
 *
 * where tiles multiply and add the bytes at and bu without a rounding. At most D = min(digits of A, digits of B) pairs
 * (t, u) meet in one w, so |S(w)| <= D K 127^2, which is asked to be below 2^31: no sum of 32 bits overflows, whatever
 * the order. w <= 4, so each 128^w S(w) is below 2^59, and all five add up in 64 bits. As the digits have the sign of
 * their number, the magnitudes of all terms of an element add up to the sum of |a| |b|, at most K ma mb <= 2^53: the
 * whole sum is a number of binary64, and so it is times 2^(qa + qb), qa + qb >= -200. C is added as in exact_short.c,
 * and its zeros are those of there. */
#include "emu/gemm/short/side.h"
#include "emu/gemm/words.h"

/* Blocks of D: five sums of 32 bits for each element, and three digits of each operand, fit the stack. */
enum { KC = HU_SHORT_KC, SIDE = 96, DIGITS = 3, WEIGHTS = 2 * DIGITS - 1, DIGIT_BITS = 7 };
_Static_assert(SIDE % HU_SHORT_TILE == 0 && SIDE % NR == 0 && KC % HU_SHORT_TILE == 0, "whole tiles");

/* What the way keeps of a call. */
typedef struct digits_way {
  const hu_short_kernels *kernels;
  const hu_byte_tiles *tiles;
  hu_side a, b;
  int of_a, of_b; /* digits in base 128 */
  double unit;    /* 2^q of the products */
} digits_way;

/* ---- the choice ---- */

static int count(uint32_t most) { return most < 1u << DIGIT_BITS ? 1 : most < 1u << 2 * DIGIT_BITS ? 2 : 3; }

static int side_of(hu_side *z, const digits_way *w, const hu_gemm_call *g, const hu_matrix *x, size_t rows) {
  if (hui_side_of_format(z, x, DIGITS * DIGIT_BITS)) return 1;
  if (g->m < HU_SHORT_LEAST_SIDE || g->n < HU_SHORT_LEAST_SIDE) return 0;
  return hui_side_of_values(z, w->kernels, x, rows, DIGITS * DIGIT_BITS);
}

/* Bytes are exact_short.c's. */
static int choose(digits_way *w, hu_gemm_call *g) {
  w->kernels = g->extensions.shorts;
  w->tiles = g->extensions.byte_tiles;
  if (!g->exact || !w->kernels || !w->tiles || g->k < HU_SHORT_LEAST_K) return 0;
  if (!hui_side_is_small(&g->a) || !hui_side_is_small(&g->b)) return 0;
  for (int all = 0; all < 2; all++) { /* most matrices that do not fit show it in some rows */
    size_t rows = all ? SIZE_MAX : 8;
    if (!side_of(&w->a, w, g, &g->a, rows) || !side_of(&w->b, w, g, &g->b, rows)) return 0;
  }
  w->of_a = count(w->a.most);
  w->of_b = count(w->b.most);
  size_t pairs = (size_t)(w->of_a < w->of_b ? w->of_a : w->of_b);
  if (w->of_a * w->of_b == 1 || g->k >= ((size_t)1 << 31) / (pairs * 127 * 127)) return 0;
  if (!hui_sides_fit(&w->a, &w->b, g->k)) return 0;
  w->unit = hui_side_unit(&w->a, &w->b);
  return !g->c.data || hui_gemm_fits_exact64(g);
}

/* ---- operands ---- */

static void read_digit(const hu_gemm_call *g, const hu_matrix *x, size_t row, size_t column, size_t n, void *z,
                       int digit) {
  _Alignas(64) float f[NB + 16];
  const digits_way *w = g->way;
  hui_gemm_read32(x, row, column, n, f);
  memset(f + n, 0, 16 * sizeof *f);
  w->tiles->digit(hui_up_to(n, 16), z, f, (x == &g->a ? &w->a : &w->b)->scale, (uint32_t)(digit * DIGIT_BITS));
}

#define READ(digit)                                                                                                   \
  static void read_##digit(const hu_gemm_call *g, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) { \
    read_digit(g, x, row, column, n, z, digit);                                                                       \
  }
READ(0)
READ(1)
READ(2)

/* ---- blocks of D ---- */

typedef struct block {
  size_t i0, j0, rows, cols;
} block;

/* acc[w] += the sums of kc products. */
static void add_piece(const hu_gemm_call *g, const block *o, size_t k0, size_t kc, int32_t acc[WEIGHTS][SIDE * SIDE]) {
  _Alignas(64) uint32_t a[DIGITS][KC * SIDE + 16], b[DIGITS][KC * SIDE];
  static void (*const read[DIGITS])(const hu_gemm_call *, const hu_matrix *, size_t, size_t, size_t, void *) = {
      read_0, read_1, read_2};
  const digits_way *w = g->way;
  words_rule how = {4, KC, HU_SHORT_TILE, NULL, w->kernels->weave_bytes};
  const size_t words = in_steps(&how, kc) / 4, whole = hui_up_to(o->rows, HU_SHORT_TILE);
  for (int t = 0; t < w->of_a; t++) {
    how.read = read[t];
    pack_word_rows(g, &how, o->i0, k0, o->rows, kc, 0, HU_SHORT_TILE, a[t]);
  }
  for (int u = 0; u < w->of_b; u++) {
    how.read = read[u];
    pack_words_b(g, &how, o->j0, k0, o->cols, kc, 0, b[u]);
    for (int t = 0; t < w->of_a; t++) {
      w->tiles->multiply_bytes(whole, o->cols, words, a[t], b[u], 0, acc[t + u], SIDE);
    }
  }
}

static void finish(const hu_gemm_call *g, const block *o, int32_t acc[WEIGHTS][SIDE * SIDE], hu_events *events) {
  const digits_way *w = g->way;
  for (size_t i = 0; i < o->rows; i++) {
    double row[SIDE];
    for (size_t j = 0; j < o->cols; j++) {
      const size_t at = j / NR * (NR * SIDE) + i * NR + j % NR;
      int64_t sum = 0;
      for (int v = w->of_a + w->of_b - 2; v >= 0; v--) sum = sum * ((int64_t)1 << DIGIT_BITS) + acc[v][at];
      row[j] = (double)sum * w->unit;
    }
    if (g->c.data) hui_short_add_c(g, o->i0 + i, o->j0, o->cols, row);
    hui_gemm_finish64(g, o->i0 + i, o->j0, o->cols, row, events);
  }
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[WEIGHTS][SIDE * SIDE];
  const block o = {i0, j0, hui_least(g->m - i0, g->block_rows), hui_least(g->n - j0, g->block_cols)};
  memset(acc, 0, sizeof acc);
  for (size_t k0 = 0; k0 < g->k; k0 += 4 * KC) add_piece(g, &o, k0, hui_least(g->k - k0, 4 * KC), acc);
  finish(g, &o, acc, events);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  digits_way w;
  (void)level;
  if (!choose(&w, g)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, SIDE, MR, SIDE, NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_digits = {"digits", run};
