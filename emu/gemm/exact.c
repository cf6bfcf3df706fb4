/* SPDX-License-Identifier: MIT */
/* When binary32 or binary64 sums are exact, and the binary64 way; the way by brackets, where they are not.
 *
 * The argument. Let every product be a multiple of 2^(qa+qb), every c of 2^qc, q = min(qa + qb, qc), and let the
 * absolute values of all terms of an element add up to at most 2^p 2^q, p the precision of the carrier (53, 24). Then
 * every product and every partial sum of every subset of the terms is an integer multiple of 2^q of at most 2^p units:
 * with 2^q not below the carrier's smallest subnormal number it is a number of the carrier, so no multiplication,
 * addition or fused step rounds, in whatever order, and none overflows (2^(p+q) is at most its largest power of two:
 * checked). Infinities and NaN travel by IEEE 754's own rules, which do not depend on the order either: finite sums
 * stay finite, so a sum is NaN if a term is or if infinities of both signs meet. A zero sum is -0 only if all terms are
 * -0, as c or +0 comes first and ties to even gives x - x = +0. */
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/format/unfold.h"

/* Returns the largest magnitude of a format as sig 2^exp, the exponent of its lowest place in *low. */
static hu_num largest(const hu_spec *spec, int32_t *low) {
  *low = spec->emin - spec->m;
  return hui_unpack(spec, spec->max_code);
}

/* Returns sig 2^exp in units of 2^place, 2^63 or more as 2^63. */
static uint64_t units(uint64_t sig, int32_t exp, int32_t place) {
  int32_t up = exp - place;
  if (sig == 0) return 0;
  return up > hui_clz64(sig) - 1 ? (uint64_t)1 << 63 : sig << up;
}

int hui_gemm_specs_fit(size_t k, const hu_spec *sa, const hu_spec *sb, const hu_spec *sc, int32_t digits,
                       int32_t lowest) {
  int32_t qa, qb, qc = INT32_MAX;
  uint64_t limit = (uint64_t)1 << digits, sum = 0;
  hu_num a = largest(sa, &qa), b = largest(sb, &qb), c = hui_num_special(HU_KIND_ZERO, 0);
  if (sc) c = largest(sc, &qc);
  int32_t place = qa + qb < qc ? qa + qb : qc;
  if (place < lowest || place > 2 - lowest - 2 * digits) return 0;
  if (k) {
    uint64_t product = units(a.sig * b.sig, a.exp + b.exp, place); /* at most 62 digits */
    if (product > limit / k) return 0;
    sum = product * k;
  }
  return sum + units(c.sig, c.exp, place) <= limit;
}

int hui_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest) {
  hu_spec a, b, c;
  if (hui_source_refused(&a, fa) || hui_source_refused(&b, fb) || (fc && hui_source_refused(&c, *fc))) return 0;
  return hui_gemm_specs_fit(k, &a, &b, fc ? &c : NULL, digits, lowest);
}

int hu_gemm_exact64(size_t k, hu_format fa, hu_format fb, const hu_format *fc) {
  return hui_gemm_sums_fit(k, fa, fb, fc, 53, -1074);
}

/* The same for the values that are there. All terms of one sum together stay below 2^(top + 1). */
static int spans_fit64(const hu_gemm_call *call) {
  int32_t low = INT32_MAX, top = INT32_MIN;
  if (call->sa.any && call->sb.any && call->k) {
    low = call->sa.low + call->sb.low;
    top = call->sa.high + call->sb.high + (call->k > 1 ? 64 - hui_clz64((uint64_t)call->k - 1) : 0);
  }
  if (call->sc.any) {
    low = call->sc.low < low ? call->sc.low : low;
    top = call->sc.high > top ? call->sc.high : top;
  }
  if (low == INT32_MAX) return 1;
  return low >= -1074 && top + 1 - low <= 53 && top + 1 <= 1023;
}

int hui_gemm_fits_exact64(hu_gemm_call *call) {
  const hu_spec *sc = call->c.data ? &call->c.spec : NULL;
  if (hui_gemm_specs_fit(call->k, &call->a.spec, &call->b.spec, sc, 53, -1074)) return 1;
  hui_gemm_look(call);
  return spans_fit64(call);
}

#define HU_REAL double
#define HU_READ hui_gemm_read64
#define HU_COPY call->kernels->widen
#define HU_SPREAD call->kernels->spread64
#define HU_TRANSPOSE call->kernels->transpose64
#define HU_FINISH hui_gemm_finish64
#define HU_TILE_KERNEL call->kernels->sum64
#define HU_NR HU_GEMM64_NR
#define HU_MB HU_GEMM64_MB
#define HU_NB HU_GEMM64_NB
#define HU_KC HU_GEMM64_KC
#include "emu/gemm/float_block.h"

static int run_exact64(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  if (!call->exact || !hui_gemm_fits_exact64(call)) return 0;
  hui_gemm_set_blocks(call, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_exact64 = {"exact64", run_exact64};

/* ---- brackets ---- */

/* Sums that round, and still decide the result. Let S be the exact sum of an element, T that of its terms' absolute
 * values, s and t what the binary64 kernel makes of them. A term takes part in at most K additions and, where the step
 * is not fused, one product; each rounds by a factor within 1 +- u, u = 2^-53, as nothing overflows and nothing is lost
 * below 2^-1022 (terms are multiples of 2^-900, and multiples of 2^-1074 below 2^-1021 add up exactly). Whatever the
 * order, |s - S| <= ((1 + u)^(K + 1) - 1) T and t >= (1 - u)^(K + 1) T, so with K < 2^40
 *
 *   |s - S| <= 1.01 (K + 1) u t.
 *
 * E = (K + 4) 2u t, rounded, is more than that by over 5 u t, and s - E, s + E are off by less than 2 u t when they are
 * rounded (E < t, |s| < 1.01 t): S lies strictly between the two computed ends, and s does.
 *
 * Cut the reals into cells at all numbers with F fraction digits, F = m + 1 + N for a result of m digits and N
 * random ones. Wherever hui_round or its events change is a cell's end: values of D and halves between them have m +
 * 1 digits or fewer, thresholds of random digits m + N + 1 (the grid of D may be coarser than that of the number's
 * binade, never finer), and tininess is rounding to m digits in the binade below. If both ends have the same sign,
 * exponent and F leading fraction digits, no cell's end lies strictly between them: s rounds as S does, inexact both
 * times. T = 0 has no terms but zeros, and infinities and NaN follow IEEE 754's rules: s is then the sum itself. And
 * where no step of a whole block rounded (many terms are zero, say), by the CPU's own account, every s is. All other
 * elements are left open, to be summed in integers. */
enum { HALF = HU_MB / 2 / HU_GEMM_MR * HU_GEMM_MR }; /* rows of s in a block; those of t come after */

static int32_t cell_digits(const hu_gemm_call *call) {
  return call->spec.m + 1 + (call->spec.round >= HU_SRA ? call->spec.bits : 0);
}

/* No: out of range, or brackets would hardly ever do. */
static int brackets_help(const hu_gemm_call *call) {
  int32_t low = call->sa.low + call->sb.low, high = call->sa.high + call->sb.high,
          k = 64 - hui_clz64((uint64_t)call->k | 1);
  if (call->sc.any && call->sc.low < low) low = call->sc.low;
  if (call->sc.any && call->sc.high > high) high = call->sc.high;
  return call->k > 0 && k <= 40 && low >= -900 && high + k + 1 <= 1000 && cell_digits(call) + k <= 44;
}

static int in_one_cell(double s, double t, double part, int32_t below) {
  const uint64_t sign = (uint64_t)1 << 63;
  uint64_t bits = hui_bits_of_double(t) & ~sign;
  if (bits == 0 || bits >= 0x7FF0000000000000u) return 1;
  double e = t * part;
  return hui_bits_of_double(s - e) >> below == hui_bits_of_double(s + e) >> below;
}

/* Turns the packed parts of a and b into |a| and |b|. */
static void drop_signs(size_t panels, size_t apart, size_t n, double *x) {
  for (size_t panel = 0; panel < panels; panel++, x += apart) {
    for (size_t i = 0; i < n; i++) x[i] = hui_double_of_bits(hui_bits_of_double(x[i]) & INT64_MAX);
  }
}

/* Rounds the elements that s decides, all if no step rounded; marks the others in open[i HU_NB + j] and returns how
 * many they are. */
static size_t finish_decided(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols,
                             const double *acc, int rounded, uint8_t *open, hu_events *events) {
  double part = (double)(call->k + 4) * 0x1p-52, s[HU_NB], t[HU_NB];
  int32_t below = 52 - cell_digits(call);
  size_t left = 0;
  for (size_t i = 0; i < rows; i++) {
    uint8_t *mark = open + i * HU_NB;
    get_row(i, cols, acc, s);
    get_row(i + HALF, cols, acc, t);
    for (size_t j = 0; j < cols; j++) {
      mark[j] = rounded && !in_one_cell(s[j], t[j], part, below);
      left += mark[j];
    }
    for (size_t j = 0, past; j < cols; j = past + 1) {
      for (past = j; past < cols && !mark[past];) past++;
      if (past > j) hui_gemm_finish64(call, i0 + i, j0 + j, past - j, s + j, events);
    }
  }
  return left;
}

/* Out of line: the stack of this and that of the integer sums are not to add up. */
static __attribute__((noinline)) size_t sum_block(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows,
                                                  size_t cols, uint8_t *open, hu_events *events) {
  _Alignas(64) double acc[HU_MB * HU_NB];
  _Alignas(64) double a[HU_KC * HALF];
  _Alignas(64) double b[HU_KC * HU_NB];
  size_t padded = hui_up_to(rows, HU_GEMM_MR), panels = (cols + HU_NR - 1) / HU_NR;
  int rounded = 0;
  load_c(call, i0, j0, rows, cols, acc);
  if (call->c.data) {
    for (size_t panel = 0; panel < panels; panel++) {
      double *z = acc + panel * (HU_MB * HU_NR);
      memcpy(z + HALF * HU_NR, z, padded * HU_NR * sizeof *z);
      drop_signs(1, 0, padded * HU_NR, z + HALF * HU_NR);
    }
  }
  for (size_t k0 = 0; k0 < call->k; k0 += HU_KC) {
    size_t kc = hui_least(call->k - k0, HU_KC);
    int fresh = !call->c.data && k0 == 0;
    hu_ahead ahead, nothing;
    look_after(&ahead, call, i0, j0, k0);
    look_at_nothing(&nothing);
    pack_a(call, i0, k0, rows, kc, a);
    pack_b(call, j0, k0, cols, kc, b);
    hui_float_env_forget();
    HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, &ahead);
    rounded |= hui_float_env_rounded();
    drop_signs(padded / HU_GEMM_MR, HU_KC * HU_GEMM_MR, kc * HU_GEMM_MR, a);
    drop_signs(panels, HU_KC * HU_NR, kc * HU_NR, b);
    HU_TILE_KERNEL(padded, cols, kc, a, b, acc + HALF * HU_NR, fresh, &nothing);
  }
  return finish_decided(call, i0, j0, rows, cols, acc, rounded, open, events);
}

static void bracket_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  uint8_t open[HALF * HU_NB];
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  if (sum_block(call, i0, j0, rows, cols, open, events)) {
    hui_gemm_sum_open(call, i0, j0, rows, cols, open, HU_NB, events);
  }
}

static int run_brackets(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  if (!call->exact) return 0;
  hui_gemm_look(call);
  if (!brackets_help(call)) return 0;
  hui_gemm_set_blocks(call, HALF, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, bracket_block, events);
  return 1;
}

const hu_gemm_way hu_way_brackets = {"brackets", run_brackets};
