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
typedef struct wide_plan {
  int32_t width, digits, windows, bins, slabs; /* digits of B in all; slabs: how many times some of them */
  int32_t carry_every;                         /* pieces of K between carries */
  int cut;                                     /* 1: x = hi 2^W + lo */
  int scattered, halved, shift;                /* the second method; 1: A in halves; W = 2^shift */
  /* n / width is n * inverse >> 16: inverse width = 2^16 + e, e <= width <= 23, exact while n e < 2^16; n < 2200 */
  uint32_t inverse;
  int32_t base; /* exponent of bin 0 */
  size_t rows, cols;
} wide_plan;

static int32_t ratio_up(int32_t a, int32_t b) { return a <= b ? 1 : (a + b - 1) / b; }

static void plan_digits(wide_plan *plan, const hu_gemm_call *call) {
  int32_t precision = call->a.spec.m + 1;
  int32_t range_a = call->sa.high - call->sa.low, range_b = call->sb.high - call->sb.low;
  /* For W = width, n = 2^7: 2 W + precision - 1 <= 46; W + precision - 1, 2 W <= 46 */
  int32_t whole = (47 - precision) / 2, halves = 47 - precision < 23 ? 47 - precision : 23;
  plan->cut = ratio_up(range_b, whole) > ratio_up(range_b, halves);
  plan->width = plan->cut ? halves : whole;
  plan->digits = ratio_up(range_b, plan->width);
  plan->windows = (range_a > precision ? range_a - precision : 0) / plan->width + 1;
  plan->bins = plan->windows + plan->digits + plan->cut;
  /* The top bin ends up with what is above: less than K 2^(precision + width) (cut: K 2^precision) of its units. More
   * bins if that is too much. */
  int32_t top = precision + (plan->cut ? 0 : plan->width) + 64 - hui_clz64((uint64_t)call->k | 1);
  if (top > 62) plan->bins += ratio_up(top - 62, plan->width);
  plan->inverse = 65536 / (uint32_t)plan->width + 1;
  plan->slabs = ratio_up(plan->digits, HU_WIDE_BAND);
  plan->carry_every = CARRY_EVERY;
  plan->cols = COLS;
  while (plan->cols > PANEL && BINS / ((size_t)plan->bins * plan->cols) < 28) plan->cols -= PANEL;
  plan->rows = hui_least(BINS / ((size_t)plan->bins * plan->cols), ROWS);
}

/* Products are below 2^(p + 2 W - 2), p the digits of both factors: 2^62 holds `carry_every` pieces of them beside what
 * carries leave. Sums stay below K 2^(ranges); with a digit for the sign, and that in whole limbs, no digit is lost in
 * joining. */
static void plan_scatter(wide_plan *plan, const hu_gemm_call *call) {
  int32_t precision = call->a.spec.m + call->b.spec.m + 2, k = 64 - hui_clz64((uint64_t)call->k | 1);
  plan->scattered = 1;
  plan->halved = precision > 52;
  if (plan->halved) precision = 16 + call->b.spec.m + 1;
  plan->shift = precision <= 24 ? 4 : precision <= 40 ? 3 : precision <= 48 ? 2 : 1;
  plan->width = 1 << plan->shift;
  plan->bins = ratio_up(call->sa.high - call->sa.low + call->sb.high - call->sb.low + k + 1, 64) << (6 - plan->shift);
  int32_t pieces = 62 - (precision + 2 * plan->width - 2) - 7 -
                   plan->halved; /* digits of their number; 2^7 terms a bin, or twice that */
  plan->carry_every = pieces < 7 ? 1 << pieces : CARRY_EVERY;
  plan->rows = ROWS;
  plan->cols = COLS;
}

static wide_plan plan_of(const hu_gemm_call *call) {
  wide_plan plan;
  memset(&plan, 0, sizeof plan);
  plan.base = call->sa.low + call->sb.low;
  plan_digits(&plan, call);
  if (plan.digits * (1 + plan.cut) > SCATTER) plan_scatter(&plan, call);
  return plan;
}

/* ---- operands ---- */

/* Reads elements (i0, j0) ... as binary64, row-major, `ld` apart. */
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
static double signed_double(uint64_t magnitude, uint64_t bits) {
  int64_t minus = (int64_t)bits >> 63;
  return (double)(((int64_t)magnitude ^ minus) - minus);
}

/* Makes one entry: its window, or UINT16_MAX if it adds nothing. */
static uint16_t bin_entry(const hu_gemm_call *call, const wide_plan *plan, double x, double *hi, double *lo,
                          uint8_t *special) {
  uint64_t bits = hui_bits_of_double(x), sig;
  int32_t exp;
  if ((bits << 1) == 0) return UINT16_MAX;
  if ((bits << 1) >= 0xFFE0000000000000u) {
    *special = 1;
    return UINT16_MAX;
  }
  hui_digits_at(call->a.spec.m, call->a.spec.emin - call->a.spec.m, bits, &sig, &exp);
  uint32_t place = (uint32_t)(exp - call->sa.low), window = place * plan->inverse >> 16;
  sig <<= place - window * (uint32_t)plan->width;
  *hi = signed_double(sig >> plan->width, bits);
  *lo = signed_double(plan->cut ? sig & (((uint64_t)1 << plan->width) - 1) : sig, bits);
  return (uint16_t)window;
}

static void sort_row(const hu_gemm_call *call, const wide_plan *plan, const double *x, size_t kc, hu_wide_row *row) {
  uint16_t window[KC], next[256], at = 0;
  double hi[KC], lo[KC];
  memset(next, 0, (size_t)plan->windows * sizeof next[0]);
  for (size_t k = 0; k < kc; k++) {
    window[k] = bin_entry(call, plan, x[k], &hi[k], &lo[k], &row->special);
    if (window[k] != UINT16_MAX) next[window[k]]++;
  }
  row->cut = (uint8_t)plan->cut;
  row->groups = 0;
  for (int32_t i = 0; i < plan->windows; i++) {
    uint16_t count = next[i];
    next[i] = at;
    if (!count) continue;
    row->bin[row->groups] = (uint16_t)i;
    row->first[row->groups++] = at;
    at = (uint16_t)(at + count);
  }
  row->first[row->groups] = at;
  for (size_t k = 0; k < kc; k++) {
    if (window[k] == UINT16_MAX) continue;
    uint16_t to = next[window[k]]++;
    row->hi[to] = hi[k];
    row->lo[to] = lo[k];
    row->k[to] = (uint16_t)k;
  }
}

/* Reads a panel of B as it is; marks columns with infinities or NaN. */
static void read_panel(const hu_gemm_call *call, size_t k0, size_t kc, size_t j0, size_t cols, double *x,
                       uint8_t *special) {
  if (cols < PANEL) memset(x, 0, kc * PANEL * sizeof *x);
  read_tile(&call->b, k0, j0, kc, cols, x, PANEL);
  if (!call->sb.special) return;
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

static hu_bin_rule bin_rule_of(const wide_plan *plan, const hu_matrix *x, int32_t low) {
  hu_bin_rule rule = {x->spec.m, x->spec.emin - x->spec.m, low, plan->shift};
  return rule;
}

/* Zeros are left out; long significands are cut into halves, 16 digits below. */
static void list_row(const hu_gemm_call *call, const wide_plan *plan, const double *x, size_t kc, scatter_row *row,
                     uint8_t *special) {
  const hu_bin_rule rule = bin_rule_of(plan, &call->a, call->sa.low);
  int64_t y[KC];
  uint16_t at[KC];
  size_t n = 0;
  call->kernels->to_bins(&rule, hui_up_to(kc, 8), x, 0, y, at);
  for (size_t k = 0; k < kc; k++) {
    *special |= (hui_bits_of_double(x[k]) << 1) >= 0xFFE0000000000000u;
    row->x[n] = plan->halved ? y[k] % HALF : y[k];
    row->at[n] = at[k];
    row->k[n] = (uint16_t)k;
    n += row->x[n] != 0;
    if (!plan->halved) continue;
    row->x[n] = y[k] / HALF;
    row->at[n] = (uint16_t)(at[k] + 16 / plan->width * PANEL);
    row->k[n] = (uint16_t)k;
    n += row->x[n] != 0;
  }
  row->count = n;
}

static void scatter(const scatter_row *row, const int64_t *y, const uint16_t *at, int64_t *bins) {
  for (size_t i = 0; i < row->count; i++) {
    const int64_t x = row->x[i], *values = y + row->k[i] * PANEL;
    const uint16_t *to = at + row->k[i] * PANEL;
    int64_t *z = bins + row->at[i];
    for (size_t c = 0; c < PANEL; c++) z[to[c]] += x * values[c];
  }
}

/* ---- sums ---- */

/* Adds the share of one panel in a piece of K. */
static void add_panel(const hu_gemm_call *call, const wide_plan *plan, const hu_wide_row *row, size_t rows, size_t kc,
                      const double *x, int64_t *bins, size_t apart) {
  _Alignas(64) double digits[KC * HU_WIDE_BAND * PANEL];
  for (int32_t slab = 0; slab < plan->slabs; slab++) {
    hu_wide_cut some = {call->sb.low, plan->width, plan->digits * slab / plan->slabs, 0};
    some.count = plan->digits * (slab + 1) / plan->slabs - some.first;
    call->kernels->cut(&some, kc, x, digits);
    for (size_t i = 0; i < rows; i++) {
      call->kernels->wide(&row[i], (size_t)some.count, digits, bins + i * apart + (size_t)some.first * PANEL);
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
  for (size_t j = i; j < n; j++) {
    uint64_t add = j - i < 2 ? part[j - i] : 0, old = limb[j];
    limb[j] = sign ? old - add - carry : old + add + carry;
    carry = sign ? old < add || (carry && old == add) : limb[j] < old || (carry && limb[j] == old);
  }
}

static hu_num leading(uint64_t *limb, size_t n, int32_t base) {
  uint32_t sign = (uint32_t)(limb[n - 1] >> 63);
  uint64_t carry = sign, rest = 0;
  for (size_t i = 0; sign && i < n; i++) {
    limb[i] = ~limb[i] + carry;
    carry = carry && limb[i] == 0;
  }
  size_t top = n;
  while (top && limb[top - 1] == 0) top--;
  if (top == 0) return hui_num_special(HU_KIND_ZERO, 0);
  int32_t lead = hui_clz64(limb[top - 1]);
  uint64_t sig = limb[top - 1] << lead;
  if (top > 1) {
    sig |= lead ? limb[top - 2] >> (64 - lead) : 0;
    rest = limb[top - 2] << lead;
    for (size_t i = 0; i + 2 < top; i++) rest |= limb[i];
  }
  hu_num x = hui_num_finite(sign, sig, base + 64 * (int32_t)(top - 1) - lead);
  x.sticky = rest != 0;
  return x;
}

/* Writes the limbs of an element, one above the other, to limb[0 ... n - 1], 2^at times as much. */
static void put_limbs(const wide_plan *plan, const int64_t *joined, uint64_t *limb, size_t n, int32_t at) {
  size_t i = (size_t)at / 64, limbs = (size_t)plan->bins >> (6 - plan->shift);
  uint64_t low = 0, up = (uint64_t)at % 64, sign = (uint64_t)(joined[(limbs - 1) * PANEL] >> 63);
  for (size_t j = 0; i < n; i++, j++) {
    uint64_t high = j < limbs ? (uint64_t)joined[j * PANEL] : sign;
    limb[i] = up ? high << up | low >> (64 - up) : high;
    low = high;
  }
}

static void put_bins(const wide_plan *plan, const int64_t *bins, uint64_t *limb, size_t n, int32_t at) {
  for (int32_t i = 0; i + 1 < plan->bins; i++, at += plan->width) {
    uint64_t bin = (uint64_t)bins[i * PANEL];
    uint32_t up = (uint32_t)at % 64;
    limb[at / 64] |= bin << up;
    if (up + (uint32_t)plan->width > 64) limb[at / 64 + 1] |= bin >> (64 - up);
  }
  int64_t last = bins[(plan->bins - 1) * PANEL];
  add_at(limb, n, last < 0 ? 0 - (uint64_t)last : (uint64_t)last, last < 0, at);
}

/* Collects the bins, their carries propagated, or the limbs, of one element and c as a number. */
static hu_num collect(const hu_gemm_call *call, const wide_plan *plan, const int64_t *bins, hu_num c) {
  uint64_t limb[LIMBS];
  int32_t base = call->sc.any && call->sc.low < plan->base ? call->sc.low : plan->base;
  int32_t past = plan->base + plan->width * (plan->bins - 1) + 64; /* above the last bin */
  if (call->sc.any && call->sc.high > past) past = call->sc.high;
  size_t n = (size_t)(past - base) / 64 + 2;
  memset(limb, 0, n * sizeof limb[0]);
  if (plan->scattered) {
    put_limbs(plan, bins, limb, n, plan->base - base);
  } else {
    put_bins(plan, bins, limb, n, plan->base - base);
  }
  if (c.kind == HU_KIND_FINITE) add_at(limb, n, c.sig, c.sign, c.exp - base);
  return leading(limb, n, base);
}

/* Sums element (i, j) where an infinity or a NaN may be among its terms; *finite stays as it was if there is none. */
static hu_num special_sum(const hu_gemm_call *call, size_t i, size_t j, hu_num c, hu_num finite) {
  uint32_t plus = c.kind == HU_KIND_INF && !c.sign, minus = c.kind == HU_KIND_INF && c.sign;
  if (c.kind == HU_KIND_NAN) return c;
  for (size_t k = 0; k < call->k; k++) {
    hu_num a = hui_gemm_element(&call->a, i, k), b = hui_gemm_element(&call->b, k, j);
    if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return hui_num_special(HU_KIND_NAN, 0);
    if (a.kind != HU_KIND_INF && b.kind != HU_KIND_INF) continue;
    if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return hui_num_special(HU_KIND_NAN, 0);
    plus |= a.sign == b.sign;
    minus |= a.sign != b.sign;
  }
  if (plus && minus) return hui_num_special(HU_KIND_NAN, 0);
  return plus || minus ? hui_num_special(HU_KIND_INF, minus) : finite;
}

static void finish(const hu_gemm_call *call, const wide_plan *plan, size_t i, size_t j, const int64_t *bins,
                   int special, hu_events *events) {
  hu_num c = call->c.data ? hui_gemm_element(&call->c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
  hu_num sum = collect(call, plan, bins, c);
  if (sum.kind == HU_KIND_ZERO && call->spec.negzero) sum.sign = (uint8_t)hui_gemm_zero_sign(call, i, j);
  if (special || c.kind >= HU_KIND_INF) sum = special_sum(call, i, j, c, sum);
  hui_gemm_finish(call, i, j, sum, events);
}

/* What of a block is to be summed: rows i0 + row[0 ... rows - 1], the panels marked. */
typedef struct wide_share {
  size_t i0, j0, cols, rows;
  const uint8_t *open; /* the elements to compute, ldo apart; NULL: all */
  size_t ldo;
  uint16_t row[ROWS];
  uint8_t panel[COLS / PANEL];
} wide_share;

static void choose(wide_share *share, size_t i0, size_t j0, size_t rows, size_t cols, const uint8_t *open, size_t ldo) {
  memset(share, 0, sizeof *share);
  share->i0 = i0;
  share->j0 = j0;
  share->cols = cols;
  share->open = open;
  share->ldo = ldo;
  memset(share->panel, !open, sizeof share->panel);
  for (size_t i = 0; i < rows; i++) {
    int wanted = !open;
    for (size_t j = 0; open && j < cols; j++) {
      wanted |= open[i * ldo + j];
      share->panel[j / PANEL] |= open[i * ldo + j];
    }
    if (wanted) share->row[share->rows++] = (uint16_t)i;
  }
}

typedef struct marks {
  uint8_t row[ROWS], column[COLS];
} marks; /* infinities or NaN */

/* Adds one piece of K. */
static void add_piece(const hu_gemm_call *call, const wide_plan *plan, const wide_share *share, size_t k0,
                      int64_t *bins, marks *special) {
  size_t kc = hui_least(call->k - k0, KC), panels = (share->cols + PANEL - 1) / PANEL,
         apart = (size_t)plan->bins * PANEL;
  double x[KC * PANEL];
  hu_wide_row row[ROWS];
  for (size_t i = 0; i < share->rows; i++) {
    read_tile(&call->a, share->i0 + share->row[i], k0, 1, kc, x, KC);
    row[i].special = 0;
    sort_row(call, plan, x, kc, &row[i]);
    special->row[i] |= row[i].special;
  }
  for (size_t panel = 0; panel < panels; panel++) {
    if (!share->panel[panel]) continue;
    size_t j = panel * PANEL;
    read_panel(call, k0, kc, share->j0 + j, hui_least(share->cols - j, PANEL), x, special->column + j);
    add_panel(call, plan, row, share->rows, kc, x, bins + panel * apart, panels * apart);
  }
}

/* Rounds rows first ... first + rows - 1 of the share, the columns of one panel, from their bins to D. */
static void finish_panel(const hu_gemm_call *call, const wide_plan *plan, const wide_share *share, size_t first,
                         size_t rows, size_t panel, const int64_t *bins, size_t apart, const marks *special,
                         hu_events *events) {
  for (size_t i = first; i < first + rows; i++, bins += apart) {
    for (size_t j = panel * PANEL; j < share->cols && j < (panel + 1) * PANEL; j++) {
      if (share->open && !share->open[share->row[i] * share->ldo + j]) continue;
      finish(call, plan, share->i0 + share->row[i], share->j0 + j, bins + j % PANEL,
             special->row[i] | special->column[j], events);
    }
  }
}

static __attribute__((noinline)) void sum_digits(const hu_gemm_call *call, const wide_plan *plan,
                                                 const wide_share *share, hu_events *events) {
  _Alignas(64) int64_t bins[BINS];
  marks special;
  size_t panels = (share->cols + PANEL - 1) / PANEL, apart = (size_t)plan->bins * PANEL;
  memset(bins, 0, share->rows * panels * apart * sizeof bins[0]);
  memset(&special, 0, sizeof special);
  for (size_t k0 = 0; k0 < call->k; k0 += KC) {
    add_piece(call, plan, share, k0, bins, &special);
    if ((k0 / KC + 1) % (size_t)plan->carry_every) continue;
    for (size_t i = 0; i < share->rows * panels; i++)
      call->kernels->propagate_carries(plan->width, (size_t)plan->bins, bins + i * apart);
  }
  for (size_t i = 0; i < share->rows * panels; i++)
    call->kernels->propagate_carries(plan->width, (size_t)plan->bins, bins + i * apart);
  for (size_t panel = 0; panel < panels; panel++) {
    finish_panel(call, plan, share, 0, share->rows, panel, bins + panel * apart, panels * apart, &special, events);
  }
}

/* DEPTH rows of B in a panel, as integers. */
typedef struct binned_panel {
  int64_t y[DEPTH * PANEL];
  uint16_t at[DEPTH * PANEL];
  size_t k0, depth;
} binned_panel;

static void bin_panel(const hu_gemm_call *call, const wide_plan *plan, const wide_share *share, size_t k0, size_t j,
                      binned_panel *placed, uint8_t *special) {
  const hu_bin_rule to = bin_rule_of(plan, &call->b, call->sb.low);
  double x[KC * PANEL];
  placed->k0 = k0;
  placed->depth = hui_least(call->k - k0, DEPTH);
  for (size_t k = 0; k < placed->depth; k += KC) {
    size_t kc = hui_least(placed->depth - k, KC);
    read_panel(call, k0 + k, kc, share->j0 + j, hui_least(share->cols - j, PANEL), x, special);
    call->kernels->to_bins(&to, kc * PANEL, x, 1, placed->y + k * PANEL, placed->at + k * PANEL);
  }
}

/* Adds what row i of A makes of it. */
static void scatter_binned(const hu_gemm_call *call, const wide_plan *plan, size_t i, const binned_panel *placed,
                           int64_t *bins, uint8_t *special) {
  scatter_row row;
  double x[KC];
  memset(x, 0, sizeof x);
  for (size_t k = 0; k < placed->depth; k += KC) {
    size_t kc = hui_least(placed->depth - k, KC);
    read_tile(&call->a, i, placed->k0 + k, 1, kc, x, KC);
    list_row(call, plan, x, kc, &row, special);
    scatter(&row, placed->y + k * PANEL, placed->at + k * PANEL, bins);
    if (((placed->k0 + k) / KC + 1) % (size_t)plan->carry_every == 0)
      call->kernels->propagate_carries(plan->width, (size_t)plan->bins, bins);
  }
}

/* Sums a panel after the other, for as many rows at once as BINS holds; what is placed of B serves them all if K is not
 * above DEPTH. */
static __attribute__((noinline)) void sum_scattered(const hu_gemm_call *call, const wide_plan *plan,
                                                    const wide_share *share, hu_events *events) {
  _Alignas(64) int64_t bins[BINS];
  binned_panel placed;
  marks special;
  size_t apart = (size_t)plan->bins * PANEL, group = BINS / apart;
  memset(&special, 0, sizeof special);
  for (size_t panel = 0; panel * PANEL < share->cols; panel++) {
    if (!share->panel[panel]) continue;
    for (size_t i = 0; i < share->rows; i += group) {
      size_t rows = hui_least(share->rows - i, group);
      memset(bins, 0, rows * apart * sizeof bins[0]);
      for (size_t k0 = 0; k0 < call->k; k0 += DEPTH) {
        if (i == 0 || call->k > DEPTH)
          bin_panel(call, plan, share, k0, panel * PANEL, &placed, special.column + panel * PANEL);
        for (size_t j = 0; j < rows; j++) {
          scatter_binned(call, plan, share->i0 + share->row[i + j], &placed, bins + j * apart, &special.row[i + j]);
        }
      }
      for (size_t j = 0; j < rows; j++) call->kernels->join(plan->width, (size_t)plan->bins, bins + j * apart);
      finish_panel(call, plan, share, i, rows, panel, bins, apart, &special, events);
    }
  }
}

/* The methods' stacks do not add up. */
static void sum_share(const hu_gemm_call *call, const wide_plan *plan, const wide_share *share, hu_events *events) {
  if (plan->scattered) {
    sum_scattered(call, plan, share, events);
  } else {
    sum_digits(call, plan, share, events);
  }
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  const wide_plan plan = plan_of(call);
  wide_share share;
  choose(&share, i0, j0, hui_least(call->m - i0, call->block_rows), hui_least(call->n - j0, call->block_cols), NULL, 0);
  sum_share(call, &plan, &share, events);
}

void hui_gemm_sum_open(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, const uint8_t *open,
                       size_t ldo, hu_events *events) {
  const wide_plan plan = plan_of(call);
  wide_share share;
  for (size_t i = 0; i < rows; i += plan.rows) {
    for (size_t j = 0; j < cols; j += plan.cols) {
      choose(&share, i0 + i, j0 + j, hui_least(rows - i, plan.rows), hui_least(cols - j, plan.cols), open + i * ldo + j,
             ldo);
      if (share.rows) sum_share(call, &plan, &share, events);
    }
  }
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  if (!call->exact) return 0;
  hui_gemm_look(call);
  wide_plan plan = plan_of(call);
  hui_gemm_set_blocks(call, plan.rows, 1, plan.cols, PANEL);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_wide = {"wide", run};
