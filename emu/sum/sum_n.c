/* SPDX-License-Identifier: MIT */
/* Arrays of sums, each of its terms and as many words as the array's range has. */
#include "emu/base/array_extent.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/core/exact_digits.h"
#include "halfulp/sum.h"

enum { PART_MIN = 1 << 10 }; /* sums that make a part of their own worth while */

/* ---- ranges ---- */

/* Exponents between which the values of a format lie: all are multiples of 2^low and below 2^high. */
typedef struct span {
  int32_t low, high;
} span;

static hu_spec plain_spec(hu_format f) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  return hu_spec_of(f, rne);
}

static span span_of(hu_format f) {
  hu_spec s = plain_spec(f);
  span z = {s.emin - s.m, s.emax + 1};
  return z;
}

/* Room for 2^63 terms and a sign. */
static hu_sum_range range_of(span s) {
  hu_sum_range z = {s.low, (uint32_t)(s.high + 64 - s.low + 63) / 64};
  return z;
}

hu_sum_range hu_sum_range_of(hu_format f) {
  hu_sum_range none = {0, 0};
  return hu_format_check(f, NULL) == HU_OK ? range_of(span_of(f)) : none;
}

hu_sum_range hu_sum_range_of_product(hu_format fa, hu_format fb) {
  hu_sum_range none = {0, 0};
  if (hu_format_check(fa, NULL) != HU_OK || hu_format_check(fb, NULL) != HU_OK) return none;
  span a = span_of(fa), b = span_of(fb), both = {a.low + b.low, a.high + b.high};
  return range_of(both);
}

static int32_t range_end(hu_sum_range r) { return r.low + 64 * (int32_t)r.words; }

hu_sum_range hu_sum_range_of_both(hu_sum_range a, hu_sum_range b) {
  hu_sum_range z = a;
  if (a.words == 0 || b.words == 0) return a.words ? a : b;
  if (b.low < z.low) z.low = b.low;
  int32_t past = range_end(a) > range_end(b) ? range_end(a) : range_end(b);
  z.words = (uint32_t)(past - z.low + 63) / 64;
  return z;
}

static int is_range(hu_sum_range r) {
  return r.words >= 1 && r.words <= HU_SUM_WORDS && r.low >= HU_SUM_LOW && r.low <= -HU_SUM_LOW;
}

static int holds(hu_sum_range r, hu_sum_range inner) { return r.low <= inner.low && range_end(r) >= range_end(inner); }

/* ---- calls ---- */

typedef struct operand {
  const uint8_t *data;
  ptrdiff_t step; /* bytes */
  hu_spec spec;
} operand;

typedef struct run {
  size_t n, part;
  uint64_t *sums;
  const uint64_t *other; /* to be merged */
  hu_sum_range range;
  int operands;
  operand x[2];
  uint8_t *z; /* results */
  ptrdiff_t z_step;
  hu_spec spec;
  hu_stream stream;
  void (*one)(const struct run *r, size_t i, hu_events *counts);
  hu_events counts[HU_THREADS_MAX];
} run;

static hu_num value_at(const operand *x, size_t i) {
  const uint8_t *at = x->data + (ptrdiff_t)i * x->step;
  return hu_unpack(&x->spec, hu_load_code(at, x->spec.code_bytes));
}

static uint64_t *sum_at(const run *r, size_t i) { return r->sums + i * (1 + r->range.words); }

/* Term i; infinity times zero is no term, and sets its bit. */
static hu_long term_at(const operand *x, int operands, size_t i, uint32_t *terms) {
  hu_num a = value_at(&x[0], i), b = operands > 1 ? value_at(&x[1], i) : a;
  if (operands == 1) return hu_long_of(a);
  if (!hu_infinity_times_zero(a, b)) return hu_long_product(a, b);
  *terms |= HU_SUM_INVALID;
  return hu_long_special(HU_KIND_ZERO, 0);
}

static void add_one(const run *r, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(r, i);
  uint32_t invalid = 0;
  hu_long term = term_at(r->x, r->operands, i, &invalid);
  (void)counts;
  sum[0] |= invalid ? invalid : hu_digits_add_term(sum + 1, (int32_t)r->range.words, r->range.low, term);
}

static void merge_one(const run *r, size_t i, hu_events *counts) {
  uint64_t *sum = sum_at(r, i);
  const uint64_t *x = r->other + i * (1 + r->range.words);
  (void)counts;
  sum[0] |= x[0];
  hu_digits_merge(sum + 1, (int32_t)r->range.words, x + 1);
}

static void round_one(const run *r, size_t i, hu_events *counts) {
  const uint64_t *sum = sum_at(r, i);
  uint32_t set, stochastic = r->spec.round >= HU_SRA;
  uint32_t random = stochastic ? hu_stream_at(r->stream.key, r->stream.counter + i) >> (32 - r->spec.bits) : 0;
  uint32_t code =
      hu_digits_round(&r->spec, sum + 1, (int32_t)r->range.words, r->range.low, (uint32_t)sum[0], random, &set);
  hu_store_code(r->z + (ptrdiff_t)i * r->z_step, r->spec.code_bytes, code);
  hu_events_count(counts, set);
}

static void run_part(void *context, size_t part) {
  run *r = context;
  size_t first = part * r->part, past = first + hu_least(r->n - first, r->part);
  for (size_t i = first; i < past; i++) r->one(r, i, &r->counts[part]);
}

static void run_all(run *r, const hu_exec *exec, hu_events *events) {
  uint32_t threads = hu_exec_threads(exec);
  r->part = hu_part_size(r->n, threads, PART_MIN);
  size_t parts = hu_parts(r->n, r->part);
  memset(r->counts, 0, parts * sizeof r->counts[0]);
  hu_parallel(threads, parts, run_part, r);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &r->counts[i]);
}

/* ---- checks ---- */

/* The words of n sums as one element each. */
static hu_status cover_sums(hu_covered *s, size_t n, const uint64_t *sums, hu_sum_range range) {
  hu_strided words = {sums, sizeof *sums, 1};
  size_t count;
  if (__builtin_mul_overflow(n, (size_t)range.words + 1, &count)) return HU_E_SHAPE;
  return hu_cover(s, count, &words);
}

static int apart(const hu_covered *a, const hu_covered *b) { return a->past <= b->first || b->past <= a->first; }

/* An array of codes beside sums. */
static hu_status check_codes(size_t n, const uint64_t *sums, hu_sum_range range, const void *x, ptrdiff_t incx,
                             hu_format f) {
  hu_covered sz, sx;
  hu_strided codes = {x, hu_code_bytes(f), incx};
  if (n == 0) return HU_OK;
  hu_status s = cover_sums(&sz, n, sums, range);
  if (s == HU_OK) s = hu_cover(&sx, n, &codes);
  if (s != HU_OK) return s;
  return apart(&sz, &sx) ? HU_OK : HU_E_OVERLAP;
}

static operand operand_of(const void *x, ptrdiff_t incx, hu_format f) {
  operand z = {x, 0, plain_spec(f)};
  z.step = incx * (ptrdiff_t)z.spec.code_bytes;
  return z;
}

static int is_array(size_t n, const void *x, ptrdiff_t incx, hu_format f, hu_status *s) {
  hu_covered covered;
  hu_strided codes = {x, hu_code_bytes(f), incx};
  if (n) *s = hu_cover(&covered, n, &codes);
  return *s == HU_OK;
}

static void add_all(hu_sum *sum, size_t n, const operand *x, int operands) {
  for (size_t i = 0; i < n; i++) {
    uint32_t invalid = 0;
    hu_long term = term_at(x, operands, i, &invalid);
    sum->terms |= invalid ? invalid : hu_digits_add_term(sum->word, HU_SUM_WORDS, HU_SUM_LOW, term);
  }
}

hu_status hu_sum_add_all(hu_sum *sum, size_t n, const void *x, ptrdiff_t incx, hu_format f) {
  hu_status s = hu_format_check(f, NULL);
  if (s != HU_OK) return s;
  if (!sum) return HU_E_NULL;
  operand one = operand_of(x, incx, f);
  if (is_array(n, x, incx, f, &s)) add_all(sum, n, &one, 1);
  return s;
}

hu_status hu_sum_add_dot(hu_sum *sum, size_t n, const void *a, ptrdiff_t inca, hu_format fa, const void *b,
                         ptrdiff_t incb, hu_format fb) {
  hu_status s = hu_format_check(fa, NULL) == HU_OK ? hu_format_check(fb, NULL) : HU_E_FORMAT;
  if (s != HU_OK) return s;
  if (!sum) return HU_E_NULL;
  operand both[2] = {operand_of(a, inca, fa), operand_of(b, incb, fb)};
  if (is_array(n, a, inca, fa, &s) && is_array(n, b, incb, fb, &s)) add_all(sum, n, both, 2);
  return s;
}

hu_status hu_sum_add_n(size_t n, uint64_t *sums, hu_sum_range range, const void *x, ptrdiff_t incx, hu_format fx,
                       const hu_exec *exec) {
  run r;
  if (hu_format_check(fx, NULL) != HU_OK) return HU_E_FORMAT;
  if (!is_range(range) || !holds(range, hu_sum_range_of(fx))) return HU_E_SHAPE;
  hu_status s = check_codes(n, sums, range, x, incx, fx);
  if (s != HU_OK || n == 0) return s;
  memset(&r, 0, offsetof(run, counts));
  r.n = n;
  r.sums = sums;
  r.range = range;
  r.operands = 1;
  r.x[0] = operand_of(x, incx, fx);
  r.one = add_one;
  run_all(&r, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_add_product_n(size_t n, uint64_t *sums, hu_sum_range range, const void *a, ptrdiff_t inca,
                               hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, const hu_exec *exec) {
  run r;
  if (hu_format_check(fa, NULL) != HU_OK || hu_format_check(fb, NULL) != HU_OK) return HU_E_FORMAT;
  if (!is_range(range) || !holds(range, hu_sum_range_of_product(fa, fb))) return HU_E_SHAPE;
  hu_status s = check_codes(n, sums, range, a, inca, fa);
  if (s == HU_OK) s = check_codes(n, sums, range, b, incb, fb);
  if (s != HU_OK || n == 0) return s;
  memset(&r, 0, offsetof(run, counts));
  r.n = n;
  r.sums = sums;
  r.range = range;
  r.operands = 2;
  r.x[0] = operand_of(a, inca, fa);
  r.x[1] = operand_of(b, incb, fb);
  r.one = add_one;
  run_all(&r, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x, const hu_exec *exec) {
  run r;
  hu_covered sz, sx;
  if (!is_range(range)) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  hu_status s = cover_sums(&sz, n, sums, range);
  if (s == HU_OK) s = cover_sums(&sx, n, x, range);
  if (s == HU_OK && sums != x && !apart(&sz, &sx)) s = HU_E_OVERLAP;
  if (s != HU_OK) return s;
  memset(&r, 0, offsetof(run, counts));
  r.n = n;
  r.sums = sums;
  r.other = x;
  r.range = range;
  r.one = merge_one;
  run_all(&r, exec, NULL);
  return HU_OK;
}

hu_status hu_sum_round_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const uint64_t *sums, hu_sum_range range,
                         hu_mode mode, const hu_exec *exec, hu_events *events) {
  run r;
  if (hu_format_check(fz, NULL) != HU_OK) return HU_E_FORMAT;
  hu_status s = hu_mode_check(mode);
  if (s != HU_OK) return s;
  if (!is_range(range) || incz == 0) return HU_E_SHAPE;
  s = check_codes(n, sums, range, z, incz, fz);
  if (s != HU_OK || n == 0) return s;
  memset(&r, 0, offsetof(run, counts));
  r.n = n;
  r.sums = (uint64_t *)(uintptr_t)sums; /* read only */
  r.range = range;
  r.z = z;
  r.spec = hu_spec_of(fz, mode);
  r.z_step = incz * (ptrdiff_t)r.spec.code_bytes;
  r.stream = hu_exec_stream(exec);
  r.one = round_one;
  run_all(&r, exec, events);
  return HU_OK;
}
