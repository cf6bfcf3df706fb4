/* SPDX-License-Identifier: MIT */
/* Ranges of digits, and the arguments of the calls on arrays of sums. */
#include "emu/sum/check.h"

#include "emu/base/array_extent.h"
#include "emu/sum/term.h"

/* ---- ranges ---- */

/* Exponents between which the values of a format lie: all are multiples of 2^low and below 2^high. */
typedef struct span {
  int32_t low, high;
} span;

static span span_of(hu_format format) {
  hu_spec spec = hui_sum_spec(format);
  span z = {spec.emin - spec.m, spec.emax + 1};
  return z;
}

/* Returns a range with digits for 2^63 terms and a sign. */
static hu_sum_range range_of(span exponents) {
  hu_sum_range z = {exponents.low, (uint32_t)(exponents.high + 64 - exponents.low + 63) / 64};
  return z;
}

hu_sum_range hu_sum_range_of(hu_format format) {
  hu_sum_range none = {0, 0};
  return hu_format_check(format, NULL) == HU_OK ? range_of(span_of(format)) : none;
}

hu_sum_range hu_sum_range_of_product(hu_format fa, hu_format fb) {
  hu_sum_range none = {0, 0};
  if (hu_format_check(fa, NULL) != HU_OK || hu_format_check(fb, NULL) != HU_OK) return none;
  span a = span_of(fa), b = span_of(fb), both = {a.low + b.low, a.high + b.high};
  return range_of(both);
}

static int32_t range_end(hu_sum_range range) { return range.low + 64 * (int32_t)range.words; }

hu_sum_range hu_sum_range_of_both(hu_sum_range a, hu_sum_range b) {
  hu_sum_range z = a;
  if (a.words == 0 || b.words == 0) return a.words ? a : b;
  if (b.low < z.low) z.low = b.low;
  int32_t past = range_end(a) > range_end(b) ? range_end(a) : range_end(b);
  z.words = (uint32_t)(past - z.low + 63) / 64;
  return z;
}

static int is_range(hu_sum_range range) {
  return range.words >= 1 && range.words <= HU_SUM_WORDS && range.low >= HU_SUM_LOW && range.low <= -HU_SUM_LOW;
}

static int holds(hu_sum_range range, hu_sum_range inner) {
  return range.low <= inner.low && range_end(range) >= range_end(inner);
}

/* ---- arrays ---- */

/* Covers the words of n sums, one element each. */
static hu_status cover_sums(hu_covered *covered, size_t n, const uint64_t *sums, hu_sum_range range) {
  hu_strided words = {sums, sizeof *sums, 1};
  size_t count;
  if (__builtin_mul_overflow(n, (size_t)range.words + 1, &count)) return HU_E_SHAPE;
  return hui_cover(covered, count, &words);
}

static int apart(const hu_covered *a, const hu_covered *b) { return a->past <= b->first || b->past <= a->first; }

/* Checks that an array of codes lies beside the sums. */
static hu_status check_codes(size_t n, const uint64_t *sums, hu_sum_range range, const hu_strided *x) {
  hu_covered sz, sx;
  if (n == 0) return HU_OK;
  hu_status status = cover_sums(&sz, n, sums, range);
  if (status == HU_OK) status = hui_cover(&sx, n, x);
  if (status != HU_OK) return status;
  return apart(&sz, &sx) ? HU_OK : HU_E_OVERLAP;
}

static hu_strided codes_of(const void *data, ptrdiff_t stride, const hu_type *type) {
  hu_strided codes = {data, hui_code_bytes(type->format), stride};
  return codes;
}

static hu_status check_type(const hu_type *type) {
  int codes = type->kind == HU_TYPE_CODES && !type->reserved && !type->number;
  return codes ? hu_format_check(type->format, NULL) : HU_E_FORMAT;
}

static hu_status check_types(const hu_view *x, int operands) {
  hu_status status = HU_OK;
  for (int i = 0; i < operands && status == HU_OK; i++) status = check_type(&x[i].type);
  return status;
}

hu_status hui_sum_check_add(size_t n, const uint64_t *sums, hu_sum_range range, const hu_view *x, int operands) {
  hu_status status = check_types(x, operands);
  if (status != HU_OK) return status;
  hu_sum_range least =
      operands > 1 ? hu_sum_range_of_product(x[0].type.format, x[1].type.format) : hu_sum_range_of(x[0].type.format);
  if (!is_range(range) || !holds(range, least)) return HU_E_SHAPE;
  for (int i = 0; i < operands && status == HU_OK; i++) {
    hu_strided codes = codes_of(x[i].data, x[i].stride, &x[i].type);
    status = check_codes(n, sums, range, &codes);
  }
  return status;
}

hu_status hui_sum_check_merge(size_t n, const uint64_t *sums, hu_sum_range range, const uint64_t *x) {
  hu_covered sz, sx;
  if (!is_range(range)) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  hu_status status = cover_sums(&sz, n, sums, range);
  if (status == HU_OK) status = cover_sums(&sx, n, x, range);
  if (status != HU_OK) return status;
  return sums == x || apart(&sz, &sx) ? HU_OK : HU_E_OVERLAP;
}

hu_status hui_sum_check_round(size_t n, const hu_output *z, const uint64_t *sums, hu_sum_range range, hu_mode mode) {
  hu_status status = check_type(&z->type);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  if (!is_range(range) || z->stride == 0) return HU_E_SHAPE;
  hu_strided codes = codes_of(z->data, z->stride, &z->type);
  return check_codes(n, sums, range, &codes);
}

hu_status hui_sum_check_total(const hu_sum *sum, size_t n, const hu_view *x, int operands) {
  hu_covered covered;
  hu_status status = check_types(x, operands);
  if (status != HU_OK) return status;
  if (!sum) return HU_E_NULL;
  for (int i = 0; n && i < operands && status == HU_OK; i++) {
    hu_strided codes = codes_of(x[i].data, x[i].stride, &x[i].type);
    status = hui_cover(&covered, n, &codes);
  }
  return status;
}
