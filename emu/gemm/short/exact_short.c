/* SPDX-License-Identifier: MIT */
/* Exact sums of operands that are short integers times a power of two, in integers of 32 bits (tiles/short.h).
 *
 * The argument. Let every a be a 2^qa and every b be b 2^qb of integers |a| <= ma and |b| <= mb: of every value of the
 * formats, or of the values that are there. They are bytes if mb <= 127 and ma <= 127, or a is not negative and at most
 * 255 (offset ma or 0 makes a + offset a number from 0 to 255); else halves, up to 2^15 - 1. The instructions multiply
 * and add such integers without a rounding, and no sum of 32 bits overflows: after L products, L = HU_SHORT_BYTES or
 * the largest with L ma mb < 2^31, it is carried on into binary64, so tiles/short.h's demand holds. Where K <= L the
 * first sum is the whole one. Tiles of bytes take signed numbers as they are, without the offset, so that their sums
 * are smaller still; what K lacks of whole tiles are zeros. Kernels that add up bytes in 16 bits first do that over R
 * words, of two products in each sum: R is the largest number with 2 R (ma + offset) mb < 2^15.
 *
 * Let q = qa + qb >= -200, and let K ma mb <= 2^53: sums in binary64 are integers of at most 2^53, times 2^q after the
 * last step: exact. Where there is a C, the bound of exact.c is asked for, for products and C together, so that adding
 * C is exact, too. What comes out is the sum that exact.c's ways have, with one exception:
 * integers have no -0. With no C the first term is +0, and a zero sum is +0. With a C that is not -0 it is what IEEE
 * 754 has for 0 + c, whatever signs the zeros among the products had. With C = -0 and a sum of 0 the products decide:
 * hui_gemm_zero_sign looks at them.
 *
 * Operands with infinities or NaN are not taken; a C with them is: nothing but C has them, and 0 + c has its kind. */
#include "emu/base/float_env.h"
#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/gemm/short/side.h"
#include "emu/gemm/words.h"

enum { KC = HU_SHORT_KC };
enum { LONG_MB = 96 }; /* rows where sums are carried on */
_Static_assert(MB % HU_SHORT_TILE == 0 && LONG_MB % HU_SHORT_TILE == 0 && KC % HU_SHORT_TILE == 0, "whole tiles");
/* The binary64 kernels are as quick where fewer products are added before a sum is carried on, or in all; and where a
 * look at all values takes much of the time. */
enum { LEAST_L = 32, LEAST_RUN = 8 };
enum { HALF = 15 }; /* digits of halves */

/* What the way keeps of a call. */
typedef struct short_way {
  const hu_short_kernels *kernels;
  const hu_byte_tiles *tiles; /* NULL: none, or elements are no bytes */
  hu_side a, b;
  int unsigned_a;       /* no a is negative, by its format */
  hu_byte_rule rule;    /* bytes: what is added to a, and R */
  size_t group;         /* 4: bytes, 2: halves */
  size_t piece, pieces; /* products of a piece of K; pieces before the sums are carried on */
  double unit;          /* 2^q of the products */
} short_way;

/* ---- the choice ---- */

/* R of bytes with this offset; 0: less than is worth it. */
static size_t run_of(const short_way *way, uint32_t offset) {
  uint32_t pair = 2 * (way->a.most + offset) * way->b.most;
  if (!way->kernels->pairs || pair == 0) return KC;
  return 0x7FFF / pair < LEAST_RUN ? 0 : hui_least(0x7FFF / pair, KC);
}

/* How long sums stay in 32 bits; 0 if that is not worth it. */
static int set_lengths(short_way *way, const hu_gemm_call *call) {
  way->unsigned_a = !call->a.spec.sign_mask;
  int bytes = way->b.most <= 127 && way->a.most <= (way->unsigned_a ? 255 : 127);
  uint32_t offset = way->unsigned_a || way->tiles ? 0 : way->a.most;
  way->rule.run = bytes ? run_of(way, offset) : 0;
  bytes = way->rule.run > 0;
  uint64_t product = (uint64_t)way->a.most * way->b.most, limit = product ? 0x7FFFFFFF / product : HU_SHORT_BYTES;
  if (bytes || limit > HU_SHORT_BYTES) limit = HU_SHORT_BYTES;
  way->group = bytes ? 4 : 2;
  if (!bytes) way->tiles = NULL;
  way->rule.offset = bytes ? offset : 0;
  way->piece = hui_least(way->group * KC, limit / way->group * way->group);
  way->pieces = way->piece ? limit / way->piece : 0;
  way->unit = hui_side_unit(&way->a, &way->b);
  return way->piece * way->pieces >= LEAST_L;
}

/* By formats, else by values: first by those of some rows, as most matrices that do not fit show it there. */
static int sides_fit(short_way *way, const hu_gemm_call *call) {
  int a = hui_side_of_format(&way->a, &call->a, HALF), b = hui_side_of_format(&way->b, &call->b, HALF);
  if (a && b) return set_lengths(way, call);
  if (call->m < HU_SHORT_LEAST_SIDE || call->n < HU_SHORT_LEAST_SIDE) return 0;
  for (int all = 0; all < 2; all++) {
    size_t rows = all ? SIZE_MAX : 8;
    if (!a && !hui_side_of_values(&way->a, way->kernels, &call->a, rows, HALF)) return 0;
    if (!b && !hui_side_of_values(&way->b, way->kernels, &call->b, rows, HALF)) return 0;
    if (!set_lengths(way, call)) return 0;
  }
  return 1;
}

static int choose(short_way *way, hu_gemm_call *call) {
  way->kernels = call->extensions.shorts;
  way->tiles = call->extensions.byte_tiles;
  if (!call->exact || !way->kernels || call->k < HU_SHORT_LEAST_K || !hui_side_is_small(&call->a) ||
      !hui_side_is_small(&call->b))
    return 0;
  if (!sides_fit(way, call) || !hui_sides_fit(&way->a, &way->b, call->k)) return 0;
  return !call->c.data || hui_gemm_fits_exact64(call);
}

/* ---- operands ---- */

static void read_one(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) {
  _Alignas(64) float values[NB + 16];
  const short_way *way = call->way;
  const hu_side *side = x == &call->a ? &way->a : &way->b;
  size_t whole = hui_up_to(n, 16);
  hui_gemm_read32(x, row, column, n, values);
  memset(values + n, 0, 16 * sizeof *values);
  if (way->group == 4) {
    way->kernels->bytes(whole, z, values, side->scale, x == &call->a ? (int32_t)way->rule.offset : 0);
  } else {
    way->kernels->halves(whole, z, values, side->scale);
  }
}

/* ---- blocks of D ---- */

typedef struct sum_square {
  size_t i0, j0, rows, cols;
  size_t high;  /* rows of a panel of sums */
  size_t whole; /* rows up to a whole tile */
} sum_square;

/* The sums of a panel that are looked at. */
static size_t panel_sums(const sum_square *square) { return square->whole * NR; }

static void clear(const sum_square *square, int32_t *acc) {
  for (size_t j = 0; j < square->cols; j += NR) memset(acc + j * square->high, 0, panel_sums(square) * sizeof *acc);
}

static void carry_on(const short_way *way, const sum_square *square, double *total, int32_t *acc) {
  for (size_t j = 0; j < square->cols; j += NR)
    way->kernels->carry(panel_sums(square), total + j * square->high, acc + j * square->high);
}

/* acc += the sums of kc products. */
static void add_piece(const hu_gemm_call *call, const sum_square *square, size_t k0, size_t kc, int32_t *acc) {
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const short_way *way = call->way;
  words_rule how = {way->group, KC, way->tiles ? HU_SHORT_TILE : 1, read_one,
                    way->group == 4 ? way->kernels->weave_bytes : way->kernels->weave_halves};
  size_t words = in_steps(&how, kc) / way->group;
  if (way->tiles) {
    pack_word_rows(call, &how, square->i0, k0, square->rows, kc, 0, HU_SHORT_TILE, a);
  } else {
    pack_words_a(call, &how, square->i0, k0, square->rows, kc, 0, a);
  }
  pack_words_b(call, &how, square->j0, k0, square->cols, kc, 0, b);
  if (way->tiles) {
    way->tiles->multiply_bytes(square->whole, square->cols, words, a, b, way->unsigned_a, acc, square->high);
  } else if (way->group == 4) {
    way->kernels->multiply_bytes(square->whole, square->cols, words, a, b, &way->rule, acc, square->high);
  } else {
    way->kernels->multiply_halves(square->whole, square->cols, words, a, b, acc, square->high);
  }
}

/* acc = the sums of all products, or total, which is NULL if there is no need to carry them on, and acc = 0. */
static void sum_block(const hu_gemm_call *call, const sum_square *square, int32_t *acc, double *total) {
  const short_way *way = call->way;
  size_t step = way->piece, done = 0;
  for (size_t k0 = 0; k0 < call->k; k0 += step) {
    add_piece(call, square, k0, hui_least(call->k - k0, step), acc);
    if (total && (++done == way->pieces || k0 + step >= call->k)) {
      carry_on(way, square, total, acc);
      done = 0;
    }
  }
}

static void finish(const hu_gemm_call *call, const sum_square *square, const int32_t *acc, const double *total,
                   hu_events *events) {
  const short_way *way = call->way;
  for (size_t i = 0; i < square->rows; i++) {
    _Alignas(64) double row[NB];
    for (size_t j = 0; j < square->cols; j += NR) {
      if (!total) way->kernels->scale(NR, row + j, acc + j * square->high + i * NR, way->unit);
      for (size_t k = 0; total && k < NR; k++) row[j + k] = total[j * square->high + i * NR + k] * way->unit;
    }
    if (call->c.data) hui_short_add_c(call, square->i0 + i, square->j0, square->cols, row);
    hui_gemm_finish64(call, square->i0 + i, square->j0, square->cols, row, events);
  }
}

static sum_square block_at(const hu_gemm_call *call, size_t i0, size_t j0, size_t high) {
  const short_way *way = call->way;
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  sum_square square = {i0, j0, rows, cols, high, hui_up_to(rows, way->tiles ? HU_SHORT_TILE : MR)};
  return square;
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[MB * NB];
  sum_square square = block_at(call, i0, j0, MB);
  clear(&square, acc);
  sum_block(call, &square, acc, NULL);
  finish(call, &square, acc, NULL, events);
}

static void run_long_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[LONG_MB * NB];
  _Alignas(64) double total[LONG_MB * NB];
  sum_square square = block_at(call, i0, j0, LONG_MB);
  clear(&square, acc);
  memset(total, 0, LONG_MB * hui_up_to(square.cols, NR) * sizeof *total);
  sum_block(call, &square, acc, total);
  finish(call, &square, acc, total, events);
}

/* ---- parts of sums, for products of scaled tensors ---- */

/* Computes the rows of one block. */
static void run_parts(const hu_gemm_call *call, const sum_square *square, const hu_gemm_parts *parts) {
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const short_way *way = call->way;
  float row[MB], column[NB];
  hu_short_join join = {row, column, (float)way->unit, parts->twice, parts->unfused};
  size_t step = way->group * KC / parts->every * parts->every;
  words_rule how = {way->group, KC, way->tiles ? parts->every / way->group : 1, read_one,
                    way->group == 4 ? way->kernels->weave_bytes : way->kernels->weave_halves};
  for (size_t k0 = 0; k0 < call->k; k0 += step) {
    size_t kc = hui_least(call->k - k0, step);
    if (way->tiles) {
      pack_word_rows(call, &how, square->i0, k0, square->rows, kc, 0, HU_SHORT_TILE, a);
    } else {
      pack_words_a(call, &how, square->i0, k0, square->rows, kc, 0, a);
    }
    pack_words_b(call, &how, square->j0, k0, square->cols, kc, 0, b);
    for (size_t k = 0; k < kc; k += parts->every) {
      size_t words = (hui_least(kc - k, parts->every) + way->group - 1) / way->group, at = k / way->group;
      parts->factors(parts->context, square->i0, square->rows, k0 + k, row, column);
      if (way->tiles) {
        way->tiles->add_part(square->rows, square->cols, how.step, a + at, b + at * NR, way->unsigned_a, &join,
                             parts->sum + square->i0 * parts->n);
        continue;
      }
      way->kernels->add_part(way->group, square->rows, square->cols, words, a + at * MR, b + at * NR, &way->rule, &join,
                             parts->sum + square->i0 * parts->n);
    }
  }
}

/* Tiles hold the words of such a part, or a part is some whole tiles. */
static int words_fit_tiles(size_t every) {
  return every % 4 == 0 && (every / 4 <= HU_SHORT_TILE || every / 4 % HU_SHORT_TILE == 0);
}

/* A part is one exact sum, below 2^31 by set_lengths, that is rounded once into binary32, and then times 2^q, where
 * |q| <= 90: a number of binary32, as the sum is 0 or at least 1. A zero is +0, as it is without C. The operations that
 * follow are those of the lanes that join parts elsewhere (scaled_gemm/join.h), in their order. */
int hui_gemm_short_parts(const hu_gemm_parts *parts, const hu_exec *exec) {
  short_way way;
  hu_gemm_call call;
  const hu_level *level = hui_level_for(exec);
  call.extensions = hui_extensions_for(exec);
  way.kernels = call.extensions.shorts;
  way.tiles = words_fit_tiles(parts->every) ? call.extensions.byte_tiles : NULL;
  if (!way.kernels || !level->gemm || parts->n > NB || parts->n == 0) return 0;
  call.kernels = level->gemm;
  hu_mode rne = hui_plain_mode();
  hu_spec a = hui_spec_of(parts->a.type.format, rne), b = hui_spec_of(parts->b.type.format, rne);
  hui_gemm_matrix(&call.a, &parts->a, &a, parts->m, parts->k, level, call.kernels);
  hui_gemm_matrix(&call.b, &parts->b, &b, parts->k, parts->n, level, call.kernels);
  if (!hui_side_is_small(&call.a) || !hui_side_is_small(&call.b) || !hui_side_of_format(&way.a, &call.a, HALF) ||
      !hui_side_of_format(&way.b, &call.b, HALF))
    return 0;
  if (!set_lengths(&way, &call) || parts->every > hui_least(way.piece * way.pieces, way.group * KC) ||
      parts->every % way.group)
    return 0;
  if (way.a.exponent + way.b.exponent < -90 || way.a.exponent + way.b.exponent > 90) return 0;
  call.k = parts->k;
  call.way = &way;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < parts->m; i += MB) {
    sum_square square = {i, 0, hui_least(parts->m - i, MB), parts->n, 0, 0};
    run_parts(&call, &square, parts);
  }
  hui_float_env_leave(saved);
  return 1;
}

/* ---- the way ---- */

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  short_way way;
  (void)level;
  if (!choose(&way, call)) return 0;
  int whole = call->k <= way.piece * way.pieces;
  call->way = &way;
  hui_gemm_set_blocks(call, whole ? MB : LONG_MB, MR, NB, NR);
  hui_gemm_run(call, whole ? run_block : run_long_block, events);
  return 1;
}

const hu_gemm_way hu_way_short = {"short", run};
