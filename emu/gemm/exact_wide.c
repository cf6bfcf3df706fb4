/* SPDX-License-Identifier: MIT */
/* The wide way: exact sums for any pair of formats, in integers of as many digits as the range of the products needs.
 *
 * Let a = A 2^(la) and b = B 2^(lb) with integers A, B (la, lb: the lowest places there are, hu_gemm_span). Bins of W
 * digits, bin i for multiples of 2^(la + lb + W i), are 64-bit integers, sixteen columns side by side. Carries go up
 * long before a bin can overflow. At the end all carries are propagated, bins become one two's complement integer, C is
 * added, and its leading 64 digits with a sticky bit are what hui_round takes.
 *
 * By digits, where B's range is moderate. |B| is cut into digits of W bits, B = sum of b_t 2^(W t), each with B's sign.
 * A is a short significand far up: A = x 2^(W s) with s = floor(place of A's last digit / W), so |x| < 2^(p + W - 1), p
 * the precision of A's format. Hence
 *
 *   A B = sum over t of (x b_t) 2^(W (s + t)),      bins[s + t] += x b_t.
 *
 * Entries of a row that share s are summed together, sixteen columns and several t at once, in binary64 registers: with
 * n <= KC products of less than 2^(p + W - 1) 2^W a sum stays below 2^53 and nothing rounds, whatever the order. Where
 * p is large, x = hi 2^W + lo is cut once (|lo| < 2^W, |hi| < 2^(p - 1)), so that W may stay large. Between carries a
 * bin gets CARRY_EVERY pieces, each of less than 2^54.
 *
 * By bins, where most of many digits would be zeros. Both factors are short significands far up, A = x 2^(W s) and
 * B = y 2^(W t) with |x| < 2^(p + W - 1), |y| < 2^(r + W - 1), r the precision of B's format: bins[s + t] += x y, one
 * product of at most 62 digits a term. W is as large as leaves 2^7 terms between carries; p beyond that is cut into
 * halves, entries of their own 16 digits apart (|hi| < 2^(p + W - 1 - 16), |lo| < 2^16). */
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/gemm/tiles/wide_bins.h"

enum {
  KC = HU_WIDE_KC,
  PANEL = HU_WIDE_COLS,
  ROWS = 48,    /* at most, in a block */
  COLS = 128,   /* likewise */
  BINS = 25600, /* rows x columns x bins */
  CARRY_EVERY = 128,
  HALF = 1 << 16,
  DEPTH = 1024, /* rows of B at once in the second method */
  SCATTER = 14, /* more products than this for every one: the second method */
  LIMBS = 72    /* 2 (1074 + 1024) digits of products, 64 of a count, and some */
};

/* How a call is cut up; a function of the spans and formats alone. */
typedef struct plan {
  int32_t w, digits, windows, bins, slabs; /* digits of B in all; slabs: how many times some of them */
  int32_t carry_every;                     /* pieces of K between carries */
  int cut;                                 /* 1: x = hi 2^W + lo */
  int scattered, halved, shift;            /* the second method; 1: A in halves; W = 2^shift */
  uint32_t
      inverse;  /* n / w is n * inverse >> 16: inverse w = 2^16 + e, e <= w <= 23, exact while n e < 2^16; n < 2200 */
  int32_t base; /* exponent of bin 0 */
  size_t rows, cols;
} plan;

static int32_t ratio_up(int32_t a, int32_t b) { return a <= b ? 1 : (a + b - 1) / b; }

static void plan_digits(plan *q, const hu_gemm_call *g) {
  int32_t p = g->a.spec.m + 1;
  int32_t range_a = g->sa.high - g->sa.low, range_b = g->sb.high - g->sb.low;
  int32_t whole = (47 - p) / 2,
          halves = 47 - p < 23 ? 47 - p : 23; /* n = 2^7: 2 W + p - 1 <= 46; W + p - 1, 2 W <= 46 */
  q->cut = ratio_up(range_b, whole) > ratio_up(range_b, halves);
  q->w = q->cut ? halves : whole;
  q->digits = ratio_up(range_b, q->w);
  q->windows = (range_a > p ? range_a - p : 0) / q->w + 1;
  q->bins = q->windows + q->digits + q->cut;
  /* The top bin ends up with what is above: less than K 2^(p + W) (cut: K 2^p) of its units. More bins if that is too
   * much. */
  int32_t top = p + (q->cut ? 0 : q->w) + 64 - hui_clz64((uint64_t)g->k | 1);
  if (top > 62) q->bins += ratio_up(top - 62, q->w);
  q->inverse = 65536 / (uint32_t)q->w + 1;
  q->slabs = ratio_up(q->digits, HU_WIDE_BAND);
  q->carry_every = CARRY_EVERY;
  q->cols = COLS;
  while (q->cols > PANEL && BINS / ((size_t)q->bins * q->cols) < 28) q->cols -= PANEL;
  q->rows = hui_least(BINS / ((size_t)q->bins * q->cols), ROWS);
}

/* Products are below 2^(p + 2 W - 2), p the digits of both factors: 2^62 has room for `carry_every` pieces of them
 * beside what carries leave. Sums stay below K 2^(ranges); with a digit for the sign, and that in whole limbs, no
 * digit is lost in joining. */
static void plan_scatter(plan *q, const hu_gemm_call *g) {
  int32_t p = g->a.spec.m + g->b.spec.m + 2, k = 64 - hui_clz64((uint64_t)g->k | 1);
  q->scattered = 1;
  q->halved = p > 52;
  if (q->halved) p = 16 + g->b.spec.m + 1;
  q->shift = p <= 24 ? 4 : p <= 40 ? 3 : p <= 48 ? 2 : 1;
  q->w = 1 << q->shift;
  q->bins = ratio_up(g->sa.high - g->sa.low + g->sb.high - g->sb.low + k + 1, 64) << (6 - q->shift);
  int32_t pieces = 62 - (p + 2 * q->w - 2) - 7 - q->halved; /* digits of their number; 2^7 terms a bin, or twice that */
  q->carry_every = pieces < 7 ? 1 << pieces : CARRY_EVERY;
  q->rows = ROWS;
  q->cols = COLS;
}

static plan plan_of(const hu_gemm_call *g) {
  plan q;
  memset(&q, 0, sizeof q);
  q.base = g->sa.low + g->sb.low;
  plan_digits(&q, g);
  if (q.digits * (1 + q.cut) > SCATTER) plan_scatter(&q, g);
  return q;
}

/* ---- operands ---- */

/* Elements (i0, j0) ... as binary64, row-major, `ld` apart. */
static void read_tile(const hu_matrix *x, size_t i0, size_t j0, size_t rows, size_t cols, double *z, size_t ld) {
  double line[KC];
  if (!x->transposed) {
    for (size_t i = 0; i < rows; i++) hui_gemm_read64(x, i0 + i, j0, cols, z + i * ld);
    return;
  }
  for (size_t j = 0; j < cols; j++) {
    hui_gemm_read64(x, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) z[i * ld + j] = line[i];
  }
}

/* Without a branch: signs are as good as random. */
static double signed_double(uint64_t magnitude, uint64_t u) {
  int64_t minus = (int64_t)u >> 63;
  return (double)(((int64_t)magnitude ^ minus) - minus);
}

/* One entry: its window, or UINT16_MAX if it adds nothing. */
static uint16_t bin_entry(const hu_gemm_call *g, const plan *q, double x, double *hi, double *lo, uint8_t *special) {
  uint64_t u = hui_bits_of_double(x), sig;
  int32_t exp;
  if ((u << 1) == 0) return UINT16_MAX;
  if ((u << 1) >= 0xFFE0000000000000u) {
    *special = 1;
    return UINT16_MAX;
  }
  hui_digits_at(g->a.spec.m, g->a.spec.emin - g->a.spec.m, u, &sig, &exp);
  uint32_t place = (uint32_t)(exp - g->sa.low), s = place * q->inverse >> 16;
  sig <<= place - s * (uint32_t)q->w;
  *hi = signed_double(sig >> q->w, u);
  *lo = signed_double(q->cut ? sig & (((uint64_t)1 << q->w) - 1) : sig, u);
  return (uint16_t)s;
}

static void sort_row(const hu_gemm_call *g, const plan *q, const double *x, size_t kc, hu_wide_row *r) {
  uint16_t window[KC], next[256], at = 0;
  double hi[KC], lo[KC];
  memset(next, 0, (size_t)q->windows * sizeof next[0]);
  for (size_t k = 0; k < kc; k++) {
    window[k] = bin_entry(g, q, x[k], &hi[k], &lo[k], &r->special);
    if (window[k] != UINT16_MAX) next[window[k]]++;
  }
  r->cut = (uint8_t)q->cut;
  r->groups = 0;
  for (int32_t s = 0; s < q->windows; s++) {
    uint16_t count = next[s];
    next[s] = at;
    if (!count) continue;
    r->bin[r->groups] = (uint16_t)s;
    r->first[r->groups++] = at;
    at = (uint16_t)(at + count);
  }
  r->first[r->groups] = at;
  for (size_t k = 0; k < kc; k++) {
    if (window[k] == UINT16_MAX) continue;
    uint16_t to = next[window[k]]++;
    r->hi[to] = hi[k];
    r->lo[to] = lo[k];
    r->k[to] = (uint16_t)k;
  }
}

/* A panel of B as it is; marks columns with infinities or NaN. */
static void read_panel(const hu_gemm_call *g, size_t k0, size_t kc, size_t j0, size_t cols, double *x,
                       uint8_t *special) {
  if (cols < PANEL) memset(x, 0, kc * PANEL * sizeof *x);
  read_tile(&g->b, k0, j0, kc, cols, x, PANEL);
  if (!g->sb.special) return;
  for (size_t i = 0; i < kc * PANEL; i++) {
    special[i % PANEL] |= (hui_bits_of_double(x[i]) << 1) >= 0xFFE0000000000000u;
  }
}

/* ---- the second method ---- */

/* Entries of a row of A: x 2^(W s) times row k of B, at = PANEL s. */
typedef struct scatter_row {
  int64_t x[2 * KC];
  uint16_t at[2 * KC], k[2 * KC];
  size_t count;
} scatter_row;

static hu_bin_rule bin_rule_of(const plan *q, const hu_matrix *x, int32_t low) {
  hu_bin_rule p = {x->spec.m, x->spec.emin - x->spec.m, low, q->shift};
  return p;
}

/* Zeros are left out; long significands are cut into halves, 16 digits below. */
static void list_row(const hu_gemm_call *g, const plan *q, const double *x, size_t kc, scatter_row *r,
                     uint8_t *special) {
  const hu_bin_rule p = bin_rule_of(q, &g->a, g->sa.low);
  int64_t y[KC];
  uint16_t at[KC];
  size_t n = 0;
  g->kernels->to_bins(&p, hui_up_to(kc, 8), x, 0, y, at);
  for (size_t k = 0; k < kc; k++) {
    *special |= (hui_bits_of_double(x[k]) << 1) >= 0xFFE0000000000000u;
    r->x[n] = q->halved ? y[k] % HALF : y[k];
    r->at[n] = at[k];
    r->k[n] = (uint16_t)k;
    n += r->x[n] != 0;
    if (!q->halved) continue;
    r->x[n] = y[k] / HALF;
    r->at[n] = (uint16_t)(at[k] + 16 / q->w * PANEL);
    r->k[n] = (uint16_t)k;
    n += r->x[n] != 0;
  }
  r->count = n;
}

static void scatter(const scatter_row *r, const int64_t *y, const uint16_t *at, int64_t *bins) {
  for (size_t i = 0; i < r->count; i++) {
    const int64_t x = r->x[i], *v = y + r->k[i] * PANEL;
    const uint16_t *to = at + r->k[i] * PANEL;
    int64_t *z = bins + r->at[i];
    for (size_t c = 0; c < PANEL; c++) z[to[c]] += x * v[c];
  }
}

/* ---- sums ---- */

/* The share of one panel in a piece of K. */
static void add_panel(const hu_gemm_call *g, const plan *q, const hu_wide_row *row, size_t rows, size_t kc,
                      const double *x, int64_t *bins, size_t apart) {
  _Alignas(64) double digits[KC * HU_WIDE_BAND * PANEL];
  for (int32_t s = 0; s < q->slabs; s++) {
    hu_wide_cut some = {g->sb.low, q->w, q->digits * s / q->slabs, 0};
    some.count = q->digits * (s + 1) / q->slabs - some.first;
    g->kernels->cut(&some, kc, x, digits);
    for (size_t i = 0; i < rows; i++) {
      g->kernels->wide(&row[i], (size_t)some.count, digits, bins + i * apart + (size_t)some.first * PANEL);
    }
  }
}

/* ---- from bins to D ---- */

/* Adds (-1)^sign sig 2^at to a two's complement integer of n limbs. */
static void add_at(uint64_t *limb, size_t n, uint64_t sig, uint32_t sign, int32_t at) {
  if (at < 0) { /* the digits below are zeros */
    sig = at <= -64 ? 0 : sig >> -at;
    at = 0;
  }
  size_t i = (size_t)at / 64;
  uint32_t up = (uint32_t)at % 64;
  uint64_t part[2] = {sig << up, up ? sig >> (64 - up) : 0}, carry = 0;
  for (size_t l = i; l < n; l++) {
    uint64_t add = l - i < 2 ? part[l - i] : 0, old = limb[l];
    limb[l] = sign ? old - add - carry : old + add + carry;
    carry = sign ? old < add || (carry && old == add) : limb[l] < old || (carry && limb[l] == old);
  }
}

static hu_num leading(uint64_t *limb, size_t n, int32_t base) {
  uint32_t sign = (uint32_t)(limb[n - 1] >> 63);
  uint64_t carry = sign, rest = 0;
  for (size_t l = 0; sign && l < n; l++) {
    limb[l] = ~limb[l] + carry;
    carry = carry && limb[l] == 0;
  }
  size_t top = n;
  while (top && limb[top - 1] == 0) top--;
  if (top == 0) return hui_num_special(HU_KIND_ZERO, 0);
  int32_t lead = hui_clz64(limb[top - 1]);
  uint64_t sig = limb[top - 1] << lead;
  if (top > 1) {
    sig |= lead ? limb[top - 2] >> (64 - lead) : 0;
    rest = limb[top - 2] << lead;
    for (size_t l = 0; l + 2 < top; l++) rest |= limb[l];
  }
  hu_num x = hui_num_finite(sign, sig, base + 64 * (int32_t)(top - 1) - lead);
  x.sticky = rest != 0;
  return x;
}

/* Limbs of an element, one above the other, to limb[0 ... n - 1], 2^at times as much. */
static void put_limbs(const plan *q, const int64_t *joined, uint64_t *limb, size_t n, int32_t at) {
  size_t i = (size_t)at / 64, limbs = (size_t)q->bins >> (6 - q->shift);
  uint64_t low = 0, up = (uint64_t)at % 64, sign = (uint64_t)(joined[(limbs - 1) * PANEL] >> 63);
  for (size_t l = 0; i < n; i++, l++) {
    uint64_t high = l < limbs ? (uint64_t)joined[l * PANEL] : sign;
    limb[i] = up ? high << up | low >> (64 - up) : high;
    low = high;
  }
}

static void put_bins(const plan *q, const int64_t *bins, uint64_t *limb, size_t n, int32_t at) {
  for (int32_t i = 0; i + 1 < q->bins; i++, at += q->w) {
    uint64_t d = (uint64_t)bins[i * PANEL];
    uint32_t up = (uint32_t)at % 64;
    limb[at / 64] |= d << up;
    if (up + (uint32_t)q->w > 64) limb[at / 64 + 1] |= d >> (64 - up);
  }
  int64_t last = bins[(q->bins - 1) * PANEL];
  add_at(limb, n, last < 0 ? 0 - (uint64_t)last : (uint64_t)last, last < 0, at);
}

/* The bins, their carries propagated, or the limbs, of one element and c as a number. */
static hu_num collect(const hu_gemm_call *g, const plan *q, const int64_t *bins, hu_num c) {
  uint64_t limb[LIMBS];
  int32_t base = g->sc.any && g->sc.low < q->base ? g->sc.low : q->base;
  int32_t past = q->base + q->w * (q->bins - 1) + 64; /* above the last bin */
  if (g->sc.any && g->sc.high > past) past = g->sc.high;
  size_t n = (size_t)(past - base) / 64 + 2;
  memset(limb, 0, n * sizeof limb[0]);
  if (q->scattered) {
    put_limbs(q, bins, limb, n, q->base - base);
  } else {
    put_bins(q, bins, limb, n, q->base - base);
  }
  if (c.kind == HU_KIND_FINITE) add_at(limb, n, c.sig, c.sign, c.exp - base);
  return leading(limb, n, base);
}

/* The sum of element (i, j) where an infinity or a NaN may be among its terms; *finite as it was if there is none. */
static hu_num special_sum(const hu_gemm_call *g, size_t i, size_t j, hu_num c, hu_num finite) {
  uint32_t plus = c.kind == HU_KIND_INF && !c.sign, minus = c.kind == HU_KIND_INF && c.sign;
  if (c.kind == HU_KIND_NAN) return c;
  for (size_t k = 0; k < g->k; k++) {
    hu_num a = hui_gemm_element(&g->a, i, k), b = hui_gemm_element(&g->b, k, j);
    if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return hui_num_special(HU_KIND_NAN, 0);
    if (a.kind != HU_KIND_INF && b.kind != HU_KIND_INF) continue;
    if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return hui_num_special(HU_KIND_NAN, 0);
    plus |= a.sign == b.sign;
    minus |= a.sign != b.sign;
  }
  if (plus && minus) return hui_num_special(HU_KIND_NAN, 0);
  return plus || minus ? hui_num_special(HU_KIND_INF, minus) : finite;
}

static void finish(const hu_gemm_call *g, const plan *q, size_t i, size_t j, const int64_t *bins, int special,
                   hu_events *events) {
  hu_num c = g->c.data ? hui_gemm_element(&g->c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
  hu_num sum = collect(g, q, bins, c);
  if (sum.kind == HU_KIND_ZERO && g->spec.negzero) sum.sign = (uint8_t)hui_gemm_zero_sign(g, i, j);
  if (special || c.kind >= HU_KIND_INF) sum = special_sum(g, i, j, c, sum);
  hui_gemm_finish(g, i, j, sum, events);
}

/* What of a block is to be summed: rows i0 + row[0 ... rows - 1], the panels marked. */
typedef struct share {
  size_t i0, j0, cols, rows;
  const uint8_t *open; /* the elements wanted, ldo apart; NULL: all */
  size_t ldo;
  uint16_t row[ROWS];
  uint8_t panel[COLS / PANEL];
} share;

static void choose(share *b, size_t i0, size_t j0, size_t rows, size_t cols, const uint8_t *open, size_t ldo) {
  memset(b, 0, sizeof *b);
  b->i0 = i0;
  b->j0 = j0;
  b->cols = cols;
  b->open = open;
  b->ldo = ldo;
  memset(b->panel, !open, sizeof b->panel);
  for (size_t i = 0; i < rows; i++) {
    int wanted = !open;
    for (size_t j = 0; open && j < cols; j++) {
      wanted |= open[i * ldo + j];
      b->panel[j / PANEL] |= open[i * ldo + j];
    }
    if (wanted) b->row[b->rows++] = (uint16_t)i;
  }
}

typedef struct marks {
  uint8_t row[ROWS], column[COLS];
} marks; /* infinities or NaN */

/* One piece of K. */
static void add_piece(const hu_gemm_call *g, const plan *q, const share *b, size_t k0, int64_t *bins, marks *special) {
  size_t kc = hui_least(g->k - k0, KC), panels = (b->cols + PANEL - 1) / PANEL, apart = (size_t)q->bins * PANEL;
  double x[KC * PANEL];
  hu_wide_row row[ROWS];
  for (size_t i = 0; i < b->rows; i++) {
    read_tile(&g->a, b->i0 + b->row[i], k0, 1, kc, x, KC);
    row[i].special = 0;
    sort_row(g, q, x, kc, &row[i]);
    special->row[i] |= row[i].special;
  }
  for (size_t p = 0; p < panels; p++) {
    if (!b->panel[p]) continue;
    size_t j = p * PANEL;
    read_panel(g, k0, kc, b->j0 + j, hui_least(b->cols - j, PANEL), x, special->column + j);
    add_panel(g, q, row, b->rows, kc, x, bins + p * apart, panels * apart);
  }
}

/* Rows first ... first + rows - 1 of the share, the columns of panel p, from their bins to D. */
static void finish_panel(const hu_gemm_call *g, const plan *q, const share *b, size_t first, size_t rows, size_t p,
                         const int64_t *bins, size_t apart, const marks *special, hu_events *events) {
  for (size_t i = first; i < first + rows; i++, bins += apart) {
    for (size_t j = p * PANEL; j < b->cols && j < (p + 1) * PANEL; j++) {
      if (b->open && !b->open[b->row[i] * b->ldo + j]) continue;
      finish(g, q, b->i0 + b->row[i], b->j0 + j, bins + j % PANEL, special->row[i] | special->column[j], events);
    }
  }
}

static __attribute__((noinline)) void sum_digits(const hu_gemm_call *g, const plan *q, const share *b,
                                                 hu_events *events) {
  _Alignas(64) int64_t bins[BINS];
  marks special;
  size_t panels = (b->cols + PANEL - 1) / PANEL, apart = (size_t)q->bins * PANEL;
  memset(bins, 0, b->rows * panels * apart * sizeof bins[0]);
  memset(&special, 0, sizeof special);
  for (size_t k0 = 0; k0 < g->k; k0 += KC) {
    add_piece(g, q, b, k0, bins, &special);
    if ((k0 / KC + 1) % (size_t)q->carry_every) continue;
    for (size_t i = 0; i < b->rows * panels; i++)
      g->kernels->propagate_carries(q->w, (size_t)q->bins, bins + i * apart);
  }
  for (size_t i = 0; i < b->rows * panels; i++) g->kernels->propagate_carries(q->w, (size_t)q->bins, bins + i * apart);
  for (size_t p = 0; p < panels; p++) {
    finish_panel(g, q, b, 0, b->rows, p, bins + p * apart, panels * apart, &special, events);
  }
}

/* DEPTH rows of B in a panel, as integers. */
typedef struct binned {
  int64_t y[DEPTH * PANEL];
  uint16_t at[DEPTH * PANEL];
  size_t k0, depth;
} binned;

static void bin_panel(const hu_gemm_call *g, const plan *q, const share *b, size_t k0, size_t j, binned *v,
                      uint8_t *special) {
  const hu_bin_rule to = bin_rule_of(q, &g->b, g->sb.low);
  double x[KC * PANEL];
  v->k0 = k0;
  v->depth = hui_least(g->k - k0, DEPTH);
  for (size_t k = 0; k < v->depth; k += KC) {
    size_t kc = hui_least(v->depth - k, KC);
    read_panel(g, k0 + k, kc, b->j0 + j, hui_least(b->cols - j, PANEL), x, special);
    g->kernels->to_bins(&to, kc * PANEL, x, 1, v->y + k * PANEL, v->at + k * PANEL);
  }
}

/* What row i of A makes of it. */
static void scatter_binned(const hu_gemm_call *g, const plan *q, size_t i, const binned *v, int64_t *bins,
                           uint8_t *special) {
  scatter_row row;
  double x[KC];
  memset(x, 0, sizeof x);
  for (size_t k = 0; k < v->depth; k += KC) {
    size_t kc = hui_least(v->depth - k, KC);
    read_tile(&g->a, i, v->k0 + k, 1, kc, x, KC);
    list_row(g, q, x, kc, &row, special);
    scatter(&row, v->y + k * PANEL, v->at + k * PANEL, bins);
    if (((v->k0 + k) / KC + 1) % (size_t)q->carry_every == 0)
      g->kernels->propagate_carries(q->w, (size_t)q->bins, bins);
  }
}

/* A panel after the other, for as many rows at once as have room for their bins; what is placed of B serves them all if
 * K is not above DEPTH. */
static __attribute__((noinline)) void sum_scattered(const hu_gemm_call *g, const plan *q, const share *b,
                                                    hu_events *events) {
  _Alignas(64) int64_t bins[BINS];
  binned v;
  marks special;
  size_t apart = (size_t)q->bins * PANEL, group = BINS / apart;
  memset(&special, 0, sizeof special);
  for (size_t p = 0; p * PANEL < b->cols; p++) {
    if (!b->panel[p]) continue;
    for (size_t i = 0; i < b->rows; i += group) {
      size_t rows = hui_least(b->rows - i, group);
      memset(bins, 0, rows * apart * sizeof bins[0]);
      for (size_t k0 = 0; k0 < g->k; k0 += DEPTH) {
        if (i == 0 || g->k > DEPTH) bin_panel(g, q, b, k0, p * PANEL, &v, special.column + p * PANEL);
        for (size_t r = 0; r < rows; r++) {
          scatter_binned(g, q, b->i0 + b->row[i + r], &v, bins + r * apart, &special.row[i + r]);
        }
      }
      for (size_t r = 0; r < rows; r++) g->kernels->join(q->w, (size_t)q->bins, bins + r * apart);
      finish_panel(g, q, b, i, rows, p, bins, apart, &special, events);
    }
  }
}

/* The methods' stacks do not add up. */
static void sum_share(const hu_gemm_call *g, const plan *q, const share *b, hu_events *events) {
  if (q->scattered) {
    sum_scattered(g, q, b, events);
  } else {
    sum_digits(g, q, b, events);
  }
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  const plan q = plan_of(g);
  share b;
  choose(&b, i0, j0, hui_least(g->m - i0, g->block_rows), hui_least(g->n - j0, g->block_cols), NULL, 0);
  sum_share(g, &q, &b, events);
}

void hui_gemm_sum_open(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, const uint8_t *open,
                       size_t ldo, hu_events *events) {
  const plan q = plan_of(g);
  share b;
  for (size_t i = 0; i < rows; i += q.rows) {
    for (size_t j = 0; j < cols; j += q.cols) {
      choose(&b, i0 + i, j0 + j, hui_least(rows - i, q.rows), hui_least(cols - j, q.cols), open + i * ldo + j, ldo);
      if (b.rows) sum_share(g, &q, &b, events);
    }
  }
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  (void)level;
  if (!g->exact) return 0;
  hui_gemm_look(g);
  plan q = plan_of(g);
  hui_gemm_set_blocks(g, q.rows, 1, q.cols, PANEL);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_wide = {"wide", run};
