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

static int side_of(hu_side *z, const digits_way *way, const hu_gemm_call *call, const hu_matrix *x, size_t rows) {
  if (hui_side_of_format(z, x, DIGITS * DIGIT_BITS)) return 1;
  if (call->m < HU_SHORT_LEAST_SIDE || call->n < HU_SHORT_LEAST_SIDE) return 0;
  return hui_side_of_values(z, way->kernels, x, rows, DIGITS * DIGIT_BITS);
}

/* Bytes are exact_short.c's. */
static int choose(digits_way *way, hu_gemm_call *call) {
  way->kernels = call->extensions.shorts;
  way->tiles = call->extensions.byte_tiles;
  if (!call->exact || !way->kernels || !way->tiles || call->k < HU_SHORT_LEAST_K) return 0;
  if (!hui_side_is_small(&call->a) || !hui_side_is_small(&call->b)) return 0;
  for (int all = 0; all < 2; all++) { /* most matrices that do not fit show it in some rows */
    size_t rows = all ? SIZE_MAX : 8;
    if (!side_of(&way->a, way, call, &call->a, rows) || !side_of(&way->b, way, call, &call->b, rows)) return 0;
  }
  way->of_a = count(way->a.most);
  way->of_b = count(way->b.most);
  size_t pairs = (size_t)(way->of_a < way->of_b ? way->of_a : way->of_b);
  if (way->of_a * way->of_b == 1 || call->k >= ((size_t)1 << 31) / (pairs * 127 * 127)) return 0;
  if (!hui_sides_fit(&way->a, &way->b, call->k)) return 0;
  way->unit = hui_side_unit(&way->a, &way->b);
  return !call->c.data || hui_gemm_fits_exact64(call);
}

/* ---- operands ---- */

static void read_digit(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t column, size_t n, void *z,
                       int digit) {
  _Alignas(64) float values[NB + 16];
  const digits_way *way = call->way;
  hui_gemm_read32(x, row, column, n, values);
  memset(values + n, 0, 16 * sizeof *values);
  way->tiles->digit(hui_up_to(n, 16), z, values, (x == &call->a ? &way->a : &way->b)->scale,
                    (uint32_t)(digit * DIGIT_BITS));
}

#define READ(digit)                                                                                           \
  static void read_##digit(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t column, size_t n, \
                           void *z) {                                                                         \
    read_digit(call, x, row, column, n, z, digit);                                                            \
  }
READ(0)
READ(1)
READ(2)

/* ---- blocks of D ---- */

typedef struct sum_square {
  size_t i0, j0, rows, cols;
} sum_square;

/* acc[w] += the sums of kc products. */
static void add_piece(const hu_gemm_call *call, const sum_square *square, size_t k0, size_t kc,
                      int32_t acc[WEIGHTS][SIDE * SIDE]) {
  _Alignas(64) uint32_t a[DIGITS][KC * SIDE + 16], b[DIGITS][KC * SIDE];
  static void (*const read[DIGITS])(const hu_gemm_call *, const hu_matrix *, size_t, size_t, size_t, void *) = {
      read_0, read_1, read_2};
  const digits_way *way = call->way;
  words_rule how = {4, KC, HU_SHORT_TILE, NULL, way->kernels->weave_bytes};
  const size_t words = in_steps(&how, kc) / 4, whole = hui_up_to(square->rows, HU_SHORT_TILE);
  for (int i = 0; i < way->of_a; i++) {
    how.read = read[i];
    pack_word_rows(call, &how, square->i0, k0, square->rows, kc, 0, HU_SHORT_TILE, a[i]);
  }
  for (int j = 0; j < way->of_b; j++) {
    how.read = read[j];
    pack_words_b(call, &how, square->j0, k0, square->cols, kc, 0, b[j]);
    for (int i = 0; i < way->of_a; i++) {
      way->tiles->multiply_bytes(whole, square->cols, words, a[i], b[j], 0, acc[i + j], SIDE);
    }
  }
}

static void finish(const hu_gemm_call *call, const sum_square *square, int32_t acc[WEIGHTS][SIDE * SIDE],
                   hu_events *events) {
  const digits_way *way = call->way;
  for (size_t i = 0; i < square->rows; i++) {
    double row[SIDE];
    for (size_t j = 0; j < square->cols; j++) {
      const size_t at = j / NR * (NR * SIDE) + i * NR + j % NR;
      int64_t sum = 0;
      for (int k = way->of_a + way->of_b - 2; k >= 0; k--) sum = sum * ((int64_t)1 << DIGIT_BITS) + acc[k][at];
      row[j] = (double)sum * way->unit;
    }
    if (call->c.data) hui_short_add_c(call, square->i0 + i, square->j0, square->cols, row);
    hui_gemm_finish64(call, square->i0 + i, square->j0, square->cols, row, events);
  }
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[WEIGHTS][SIDE * SIDE];
  const sum_square square = {i0, j0, hui_least(call->m - i0, call->block_rows),
                             hui_least(call->n - j0, call->block_cols)};
  memset(acc, 0, sizeof acc);
  for (size_t k0 = 0; k0 < call->k; k0 += 4 * KC) add_piece(call, &square, k0, hui_least(call->k - k0, 4 * KC), acc);
  finish(call, &square, acc, events);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  digits_way way;
  (void)level;
  if (!choose(&way, call)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, SIDE, MR, SIDE, NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_digits = {"digits", run};
