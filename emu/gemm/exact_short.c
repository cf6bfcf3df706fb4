/* SPDX-License-Identifier: MIT */
/* Exact sums of operands that are short integers times a power of two, in integers of 32 bits (tiles/short.h).
 *
 * The argument. Let every a be a 2^qa and every b be b 2^qb of integers |a| <= ma and |b| <= mb: of every value of the
 * formats, or of the values that are there. They are bytes if mb <= 127 and ma <= 127, or a is not negative and at most
 * 255 (offset 128 or 0 makes a + offset a number from 0 to 255); else halves, up to 2^15 - 1. The instructions multiply
 * and add such integers without a rounding, and no sum of 32 bits overflows: after L products, L = HU_SHORT_BYTES or
 * the largest with L ma mb < 2^31, it is carried on into binary64, so tiles/short.h's demand holds. Where K <= L the
 * first sum is the whole one.
 *
 * Let q = qa + qb >= -200, and let K ma mb <= 2^53: sums in binary64 are integers of at most 2^53, times 2^q after the
 * last step: exact. Where there is a C, the bound of exact.c is asked for, for products and C together, so that adding
 * C is exact, too. What comes out is the sum that exact.c's ways have, with one exception:
 * integers have no -0. With no C the first term is +0, and a zero sum is +0. With a C that is not -0 it is what IEEE
 * 754 has for 0 + c, whatever signs the zeros among the products had. With C = -0 and a sum of 0 the products decide:
 * hu_gemm_zero_sign looks at them.
 *
 * Operands with infinities or NaN are not taken; a C with them is: nothing but C has them, and 0 + c has its kind. */
#include "emu/core/bits.h"
#include "emu/gemm/tiles/short.h"
#include "emu/gemm/words.h"

enum { KC = HU_SHORT_KC };
enum { LONG_MB = 96 }; /* rows where sums are carried on */
enum { LEAST_L = 32 }; /* products before a sum is carried on: below, other ways are as quick */

/* Integers times 2^q, `most` at most. */
typedef struct side {
  int32_t q;
  uint32_t most;
  float scale; /* 2^-q */
} side;

/* What the way keeps of a call. */
typedef struct short_way {
  const hu_short_kernels *kernels;
  side a, b;
  uint32_t offset;      /* bytes: what is added to a */
  size_t group;         /* 4: bytes, 2: halves */
  size_t piece, pieces; /* products of a piece of K; pieces before the sums are carried on */
  double unit;          /* 2^q of the products */
} short_way;

/* ---- the choice ---- */

static double power(int32_t e) { return hu_double_of_bits((uint64_t)(e + 1023) << 52); }

/* sig 2^exp in units of 2^q; 2^31 and more as 2^31. */
static uint32_t units(uint64_t sig, int32_t exp, int32_t q) {
  int32_t up = exp - q;
  if (sig == 0) return 0;
  return up > hu_clz64(sig) - 33 ? (uint32_t)1 << 31 : (uint32_t)(sig << up);
}

static void set_side(side *z, int32_t q, uint32_t most) {
  z->q = q;
  z->most = most;
  z->scale = hu_float_of_bits(hu_power_bits(-q));
}

/* By the format: 0 if it may have values that are no such integers. */
static int side_of_format(side *z, const hu_matrix *x) {
  const hu_spec *s = &x->spec;
  hu_num max = hu_unpack(s, s->max_code);
  set_side(z, s->emin - s->m, units(max.sig, max.exp, s->emin - s->m));
  return !s->has_inf && !s->has_nan && z->most <= 0x7FFF;
}

/* By the patterns of the least magnitude but 0 and of the largest; UINT32_MAX and 0: there is none. */
static int side_of_range(side *z, const hu_matrix *x, uint32_t least, uint32_t most) {
  if (most >= 0x7F800000) return 0;
  if (most == 0) return set_side(z, 0, 0), 1;
  int32_t low = (int32_t)(least >> 23) - 127, high = (int32_t)(most >> 23) - 127;
  low = (low < x->spec.emin ? x->spec.emin : low) - x->spec.m;
  if (high - low > 14) return 0;
  set_side(z, low, ((most & 0x7FFFFF) | 0x800000) >> (23 - (high - low)));
  return 1;
}

/* By the values; a row that has too many digits ends the search. */
static int side_of_values(side *z, const hu_short_kernels *kernels, const hu_matrix *x) {
  enum { PIECE = 512 };
  _Alignas(64) float piece[PIECE + 16];
  uint32_t least = UINT32_MAX, most = 0;
  size_t rows = hu_gemm_stored_rows(x), cols = hu_gemm_stored_cols(x);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j += PIECE) {
      size_t some = hu_least(cols - j, PIECE);
      hu_gemm_read32(x, i, j, some, piece);
      memset(piece + some, 0, 16 * sizeof *piece);
      kernels->range(hu_up_to(some, 16), piece, &least, &most);
    }
    if (!side_of_range(z, x, least, most)) return 0;
  }
  return 1;
}

/* Is it worth a look at the values? Of few digits and in a range not much wider than halves have. */
static int is_small(const hu_matrix *x) {
  const hu_spec *s = &x->spec;
  return x->carried && s->m <= 7 && s->emin - s->m >= -100 && s->emax <= 100 && s->emax - s->emin <= 40;
}

static int sides_of(short_way *w, const hu_gemm_call *g) {
  if (!side_of_format(&w->a, &g->a) && !side_of_values(&w->a, w->kernels, &g->a)) return 0;
  return side_of_format(&w->b, &g->b) || side_of_values(&w->b, w->kernels, &g->b);
}

static void set_lengths(short_way *w, const hu_gemm_call *g) {
  int unsigned_a = !g->a.spec.sign_mask;
  int bytes = w->b.most <= 127 && w->a.most <= (unsigned_a ? 255 : 127);
  uint64_t product = (uint64_t)w->a.most * w->b.most, limit = product ? 0x7FFFFFFF / product : HU_SHORT_BYTES;
  if (bytes || limit > HU_SHORT_BYTES) limit = HU_SHORT_BYTES;
  w->group = bytes ? 4 : 2;
  w->offset = bytes && !unsigned_a ? 128 : 0;
  w->piece = hu_least(w->group * KC, limit / w->group * w->group);
  w->pieces = w->piece ? limit / w->piece : 0;
  w->unit = power(w->a.q + w->b.q);
}

/* The scaled sums of products alone. */
static int products_fit(const short_way *w, size_t k) {
  uint64_t product = (uint64_t)w->a.most * w->b.most;
  return product == 0 || k <= ((uint64_t)1 << 53) / product;
}

static int choose(short_way *w, hu_gemm_call *g) {
  w->kernels = g->extensions.shorts;
  if (!g->exact || !w->kernels || g->k == 0 || !is_small(&g->a) || !is_small(&g->b)) return 0;
  if (!sides_of(w, g)) return 0;
  set_lengths(w, g);
  if (w->piece * w->pieces < LEAST_L || !products_fit(w, g->k)) return 0;
  return !g->c.data || hu_gemm_fits_exact64(g);
}

/* ---- operands ---- */

static void read_one(const hu_gemm_call *g, const hu_matrix *x, size_t row, size_t column, size_t n, void *z) {
  _Alignas(64) float f[NB + 16];
  const short_way *w = g->way;
  const side *s = x == &g->a ? &w->a : &w->b;
  size_t whole = hu_up_to(n, 16);
  hu_gemm_read32(x, row, column, n, f);
  memset(f + n, 0, 16 * sizeof *f);
  if (w->group == 4) {
    w->kernels->bytes(whole, z, f, s->scale, x == &g->a ? (int32_t)w->offset : 0);
  } else {
    w->kernels->halves(whole, z, f, s->scale);
  }
}

/* ---- blocks of D ---- */

typedef struct block {
  size_t i0, j0, rows, cols;
  size_t high; /* rows of a panel of sums */
} block;

/* acc = the sums of all products, or total, which is NULL if there is no need to carry them on, and acc = 0. */
static void sum_block(const hu_gemm_call *g, const block *o, int32_t *acc, double *total) {
  _Alignas(64) uint32_t a[KC * MB], b[KC * NB];
  const short_way *w = g->way;
  size_t rows = hu_up_to(o->rows, MR), sums = o->high * hu_up_to(o->cols, NR), step = w->piece, done = 0;
  words_rule how = {w->group, KC, read_one, w->group == 4 ? w->kernels->weave_bytes : w->kernels->weave_halves};
  for (size_t k0 = 0; k0 < g->k; k0 += step) {
    size_t kc = hu_least(g->k - k0, step), words = (kc + w->group - 1) / w->group;
    pack_words_a(g, &how, o->i0, k0, o->rows, kc, 0, a);
    pack_words_b(g, &how, o->j0, k0, o->cols, kc, 0, b);
    if (w->group == 4) {
      w->kernels->multiply_bytes(rows, o->cols, words, a, b, w->offset, acc, o->high);
    } else {
      w->kernels->multiply_halves(rows, o->cols, words, a, b, acc, o->high);
    }
    if (total && (++done == w->pieces || k0 + step >= g->k)) {
      w->kernels->carry(sums, total, acc);
      done = 0;
    }
  }
}

/* n sums of row i get their C. */
static void add_c(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum) {
  double c[NB];
  if (!g->c.transposed) {
    hu_gemm_read64(&g->c, i, j0, n, c);
  } else {
    for (size_t j = 0; j < n; j++) hu_gemm_read64(&g->c, j0 + j, i, 1, c + j);
  }
  for (size_t j = 0; j < n; j++) {
    int open = sum[j] == 0 && hu_bits_of_double(c[j]) == (uint64_t)1 << 63;
    sum[j] += c[j];
    if (open && hu_gemm_zero_sign(g, i, j0 + j)) sum[j] = c[j];
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
    if (g->c.data) add_c(g, o->i0 + i, o->j0, o->cols, row);
    hu_gemm_finish64(g, o->i0 + i, o->j0, o->cols, row, events);
  }
}

static block block_at(const hu_gemm_call *g, size_t i0, size_t j0, size_t high) {
  block o = {i0, j0, hu_least(g->m - i0, g->block_rows), hu_least(g->n - j0, g->block_cols), high};
  return o;
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[MB * NB];
  block o = block_at(g, i0, j0, MB);
  memset(acc, 0, MB * hu_up_to(o.cols, NR) * sizeof *acc);
  sum_block(g, &o, acc, NULL);
  finish(g, &o, acc, NULL, events);
}

static void run_long_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) int32_t acc[LONG_MB * NB];
  _Alignas(64) double total[LONG_MB * NB];
  block o = block_at(g, i0, j0, LONG_MB);
  size_t sums = LONG_MB * hu_up_to(o.cols, NR);
  memset(acc, 0, sums * sizeof *acc);
  memset(total, 0, sums * sizeof *total);
  sum_block(g, &o, acc, total);
  finish(g, &o, acc, total, events);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  short_way w;
  (void)level;
  if (!choose(&w, g)) return 0;
  int whole = g->k <= w.piece * w.pieces;
  g->way = &w;
  hu_gemm_set_blocks(g, whole ? MB : LONG_MB, MR, NB, NR);
  hu_gemm_run(g, whole ? run_block : run_long_block, events);
  return 1;
}

const hu_gemm_way hu_way_short = {"short", run};
