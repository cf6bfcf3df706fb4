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
#include "emu/core/bits.h"
#include "emu/gemm/short/side.h"
#include "emu/gemm/words.h"

enum { KC = HU_SHORT_KC };
enum { LONG_MB = 96 }; /* rows where sums are carried on */
_Static_assert(MB % HU_SHORT_TILE == 0 && LONG_MB % HU_SHORT_TILE == 0 && KC % HU_SHORT_TILE == 0, "whole tiles");
/* Other ways are as quick where fewer products are added before a sum is carried on, or in all; and where a look at all
 * values takes much of the time. */
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
static size_t run_of(const short_way *w, uint32_t offset) {
  uint32_t pair = 2 * (w->a.most + offset) * w->b.most;
  if (!w->kernels->pairs || pair == 0) return KC;
  return 0x7FFF / pair < LEAST_RUN ? 0 : hui_least(0x7FFF / pair, KC);
}

/* How long sums stay in 32 bits; 0 if that is not worth it. */
static int set_lengths(short_way *w, const hu_gemm_call *g) {
  w->unsigned_a = !g->a.spec.sign_mask;
  int bytes = w->b.most <= 127 && w->a.most <= (w->unsigned_a ? 255 : 127);
  uint32_t offset = w->unsigned_a || w->tiles ? 0 : w->a.most;
  w->rule.run = bytes ? run_of(w, offset) : 0;
  bytes = w->rule.run > 0;
  uint64_t product = (uint64_t)w->a.most * w->b.most, limit = product ? 0x7FFFFFFF / product : HU_SHORT_BYTES;
  if (bytes || limit > HU_SHORT_BYTES) limit = HU_SHORT_BYTES;
  w->group = bytes ? 4 : 2;
  if (!bytes) w->tiles = NULL;
  w->rule.offset = bytes ? offset : 0;
  w->piece = hui_least(w->group * KC, limit / w->group * w->group);
  w->pieces = w->piece ? limit / w->piece : 0;
  w->unit = hui_side_unit(&w->a, &w->b);
  return w->piece * w->pieces >= LEAST_L;
}

/* By formats, else by values: first by those of some rows, as most matrices that do not fit show it there. */
static int sides_fit(short_way *w, const hu_gemm_call *g) {
  int a = hui_side_of_format(&w->a, &g->a, HALF), b = hui_side_of_format(&w->b, &g->b, HALF);
  if (a && b) return set_lengths(w, g);
  if (g->m < HU_SHORT_LEAST_SIDE || g->n < HU_SHORT_LEAST_SIDE) return 0;
  for (int all = 0; all < 2; all++) {
    size_t rows = all ? SIZE_MAX : 8;
    if (!a && !hui_side_of_values(&w->a, w->kernels, &g->a, rows, HALF)) return 0;
    if (!b && !hui_side_of_values(&w->b, w->kernels, &g->b, rows, HALF)) return 0;
    if (!set_lengths(w, g)) return 0;
  }
  return 1;
}

static int choose(short_way *w, hu_gemm_call *g) {
  w->kernels = g->extensions.shorts;
  w->tiles = g->extensions.byte_tiles;
  if (!g->exact || !w->kernels || g->k < HU_SHORT_LEAST_K || !hui_side_is_small(&g->a) || !hui_side_is_small(&g->b))
    return 0;
  if (!sides_fit(w, g) || !hui_sides_fit(&w->a, &w->b, g->k)) return 0;
  return !g->c.data || hui_gemm_fits_exact64(g);
}

/* ---- operands ---- */

static void read_one(const hu_gemm_call *g, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) {
  _Alignas(64) float f[NB + 16];
  const short_way *w = g->way;
  const hu_side *s = x == &g->a ? &w->a : &w->b;
  size_t whole = hui_up_to(n, 16);
  hui_gemm_read32(x, row, column, n, f);
  memset(f + n, 0, 16 * sizeof *f);
  if (w->group == 4) {
    w->kernels->bytes(whole, z, f, s->scale, x == &g->a ? (int32_t)w->rule.offset : 0);
  } else {
    w->kernels->halves(whole, z, f, s->scale);
  }
}

/* ---- blocks of D ---- */

typedef struct block {
  size_t i0, j0, rows, cols;
  size_t high;  /* rows of a panel of sums */
  size_t whole; /* rows up to a whole tile */
} block;

/* The sums of a panel that are looked at. */
static size_t panel_sums(const block *o) { return o->whole * NR; }

static void clear(const block *o, int32_t *acc) {
  for (size_t j = 0; j < o->cols; j += NR) memset(acc + j * o->high, 0, panel_sums(o) * sizeof *acc);
}

static void carry_on(const short_way *w, const block *o, double *total, int32_t *acc) {
  for (size_t j = 0; j < o->cols; j += NR) w->kernels->carry(panel_sums(o), total + j * o->high, acc + j * o->high);
}

/* acc += the sums of kc products. */
static void add_piece(const hu_gemm_call *g, const block *o, size_t k0, size_t kc, int32_t *acc) {
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const short_way *w = g->way;
  words_rule how = {w->group, KC, w->tiles ? HU_SHORT_TILE : 1, read_one,
                    w->group == 4 ? w->kernels->weave_bytes : w->kernels->weave_halves};
  size_t words = in_steps(&how, kc) / w->group;
  if (w->tiles) {
    pack_word_rows(g, &how, o->i0, k0, o->rows, kc, 0, HU_SHORT_TILE, a);
  } else {
    pack_words_a(g, &how, o->i0, k0, o->rows, kc, 0, a);
  }
  pack_words_b(g, &how, o->j0, k0, o->cols, kc, 0, b);
  if (w->tiles) {
    w->tiles->multiply_bytes(o->whole, o->cols, words, a, b, w->unsigned_a, acc, o->high);
  } else if (w->group == 4) {
    w->kernels->multiply_bytes(o->whole, o->cols, words, a, b, &w->rule, acc, o->high);
  } else {
    w->kernels->multiply_halves(o->whole, o->cols, words, a, b, acc, o->high);
  }
}

/* acc = the sums of all products, or total, which is NULL if there is no need to carry them on, and acc = 0. */
static void sum_block(const hu_gemm_call *g, const block *o, int32_t *acc, double *total) {
  const short_way *w = g->way;
  size_t step = w->piece, done = 0;
  for (size_t k0 = 0; k0 < g->k; k0 += step) {
    add_piece(g, o, k0, hui_least(g->k - k0, step), acc);
    if (total && (++done == w->pieces || k0 + step >= g->k)) {
      carry_on(w, o, total, acc);
      done = 0;
    }
  }
}

static void finish(const hu_gemm_call *g, const block *o, const int32_t *acc, const double *total, hu_events *events) {
  const short_way *w = g->way;
  for (size_t i = 0; i < o->rows; i++) {
    _Alignas(64) double row[NB];
    for (size_t j = 0; j < o->cols; j += NR) {
      if (!total) w->kernels->scale(NR, row + j, acc + j * o->high + i * NR, w->unit);
      for (size_t l = 0; total && l < NR; l++) row[j + l] = total[j * o->high + i * NR + l] * w->unit;
    }
    if (g->c.data) hui_short_add_c(g, o->i0 + i, o->j0, o->cols, row);
    hui_gemm_finish64(g, o->i0 + i, o->j0, o->cols, row, events);
  }
}

static block block_at(const hu_gemm_call *g, size_t i0, size_t j0, size_t high) {
  const short_way *w = g->way;
  size_t rows = hui_least(g->m - i0, g->block_rows), cols = hui_least(g->n - j0, g->block_cols);
  block o = {i0, j0, rows, cols, high, hui_up_to(rows, w->tiles ? HU_SHORT_TILE : MR)};
  return o;
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[MB * NB];
  block o = block_at(g, i0, j0, MB);
  clear(&o, acc);
  sum_block(g, &o, acc, NULL);
  finish(g, &o, acc, NULL, events);
}

static void run_long_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[LONG_MB * NB];
  _Alignas(64) double total[LONG_MB * NB];
  block o = block_at(g, i0, j0, LONG_MB);
  clear(&o, acc);
  memset(total, 0, LONG_MB * hui_up_to(o.cols, NR) * sizeof *total);
  sum_block(g, &o, acc, total);
  finish(g, &o, acc, total, events);
}

/* ---- parts of sums, for products of scaled tensors ---- */

/* The rows of one block. */
static void run_parts(const hu_gemm_call *g, const block *o, const hu_gemm_parts *p) {
  _Alignas(64) uint32_t a[KC * MB + 16], b[KC * NB];
  const short_way *w = g->way;
  float row[MB], column[NB];
  hu_short_join join = {row, column, (float)w->unit, p->twice, p->unfused};
  size_t step = w->group * KC / p->every * p->every;
  words_rule how = {w->group, KC, w->tiles ? p->every / w->group : 1, read_one,
                    w->group == 4 ? w->kernels->weave_bytes : w->kernels->weave_halves};
  for (size_t k0 = 0; k0 < g->k; k0 += step) {
    size_t kc = hui_least(g->k - k0, step);
    if (w->tiles) {
      pack_word_rows(g, &how, o->i0, k0, o->rows, kc, 0, HU_SHORT_TILE, a);
    } else {
      pack_words_a(g, &how, o->i0, k0, o->rows, kc, 0, a);
    }
    pack_words_b(g, &how, o->j0, k0, o->cols, kc, 0, b);
    for (size_t l = 0; l < kc; l += p->every) {
      size_t words = (hui_least(kc - l, p->every) + w->group - 1) / w->group, at = l / w->group;
      p->factors(p->context, o->i0, o->rows, k0 + l, row, column);
      if (w->tiles) {
        w->tiles->add_part(o->rows, o->cols, how.step, a + at, b + at * NR, w->unsigned_a, &join,
                           p->sum + o->i0 * p->n);
        continue;
      }
      w->kernels->add_part(w->group, o->rows, o->cols, words, a + at * MR, b + at * NR, &w->rule, &join,
                           p->sum + o->i0 * p->n);
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
int hui_gemm_short_parts(const hu_gemm_parts *p, const hu_exec *exec) {
  short_way w;
  hu_gemm_call g;
  const hu_level *level = hui_level_for(exec);
  g.extensions = hui_extensions_for(exec);
  w.kernels = g.extensions.shorts;
  w.tiles = words_fit_tiles(p->every) ? g.extensions.byte_tiles : NULL;
  if (!w.kernels || !level->gemm || p->n > NB || p->n == 0) return 0;
  g.kernels = level->gemm;
  hui_gemm_matrix(&g.a, &p->a, p->m, p->k, level, g.kernels);
  hui_gemm_matrix(&g.b, &p->b, p->k, p->n, level, g.kernels);
  if (!hui_side_is_small(&g.a) || !hui_side_is_small(&g.b) || !hui_side_of_format(&w.a, &g.a, HALF) ||
      !hui_side_of_format(&w.b, &g.b, HALF))
    return 0;
  if (!set_lengths(&w, &g) || p->every > hui_least(w.piece * w.pieces, w.group * KC) || p->every % w.group) return 0;
  if (w.a.q + w.b.q < -90 || w.a.q + w.b.q > 90) return 0;
  g.k = p->k;
  g.way = &w;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < p->m; i += MB) {
    block o = {i, 0, hui_least(p->m - i, MB), p->n, 0, 0};
    run_parts(&g, &o, p);
  }
  hui_float_env_leave(saved);
  return 1;
}

/* ---- the way ---- */

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  short_way w;
  (void)level;
  if (!choose(&w, g)) return 0;
  int whole = g->k <= w.piece * w.pieces;
  g->way = &w;
  hui_gemm_set_blocks(g, whole ? MB : LONG_MB, MR, NB, NR);
  hui_gemm_run(g, whole ? run_block : run_long_block, events);
  return 1;
}

const hu_gemm_way hu_way_short = {"short", run};
