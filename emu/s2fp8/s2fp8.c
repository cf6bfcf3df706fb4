/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/s2fp8.h: they make scales, check arrays, then run run.c. */
#include "halfulp/s2fp8.h"

#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/device_calls.h"
#include "emu/core/bits.h"
#include "emu/s2fp8/run.h"

static const hu_mode nearest;

/* ---- sums and scales ---- */

hu_status hu_s2fp8_scale_from(hu_s2fp8_scale *scale, int64_t mu, int64_t m, const hu_s2fp8 *kind) {
  if (!scale) return HU_E_NULL;
  hu_status status = hu_s2fp8_check(kind, NULL);
  if (status != HU_OK) return status;
  if (!hui_s2_scale_fits(mu, m)) return HU_E_SCALING;
  hu_s2 map = hui_s2_of(kind, mu, m, nearest);
  scale->mu = mu;
  scale->m = m;
  scale->alpha = hui_float_of_bits(hui_s2_alpha(&map));
  scale->beta = hui_float_of_bits(hui_s2_beta(&map));
  return HU_OK;
}

static int sums_are_right(const hu_s2fp8_sums *sums) {
  return hui_s2_sums_fit(sums->high, sums->low, sums->count, sums->top) != 0;
}

int64_t hu_s2fp8_mean(const hu_s2fp8_sums *sums) {
  return sums && sums_are_right(sums) ? hui_s2_mean(sums->high, sums->low, sums->count) : 0;
}

int64_t hu_s2fp8_log2(float x) {
  uint32_t a = hui_bits_of_float(x) & 0x7FFFFFFF;
  return a == 0 || a >= 0x7F800000 ? INT64_MIN : hui_s2_log2(a);
}

hu_status hu_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums, const hu_s2fp8 *kind,
                            const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, s2fp8_scale_of, (scale, sums, kind, exec));
  if (!scale || !sums) return HU_E_NULL;
  hu_status status = hu_s2fp8_check(kind, NULL);
  if (status != HU_OK) return status;
  if (!sums_are_right(sums)) return HU_E_SCALING;
  int64_t mu, m;
  hui_s2_moments(&mu, &m, sums->high, sums->low, sums->count, sums->top, (int32_t)hu_s2fp8_target(kind));
  return hu_s2fp8_scale_from(scale, mu, m, kind);
}

/* a 2^40 / b, b > 0, rounded to an integer, ties to even; INT64_MAX if that is 2^52 or more. */
static int64_t units_of(hu_num a, hu_num b) {
  if (a.kind == HU_KIND_ZERO) return 0;
  int32_t la = hui_clz64(a.sig), lb = hui_clz64(b.sig);
  hu_num quotient = hui_s2_quotient(a.sign, a.sig << la >> 3, b.sig << lb >> 3); /* 24 digits each */
  quotient.exp += (a.exp - la) - (b.exp - lb) + HU_S2_DIGITS;
  return hui_s2_nearest(quotient);
}

hu_status hu_s2fp8_scale_stored(hu_s2fp8_scale *scale, float alpha, float beta, const hu_s2fp8 *kind) {
  if (!scale) return HU_E_NULL;
  hu_status status = hu_s2fp8_check(kind, NULL);
  if (status != HU_OK) return status;
  hu_num a = hui_unpack32(hui_bits_of_float(alpha)), b = hui_unpack32(hui_bits_of_float(beta));
  if (a.kind != HU_KIND_FINITE || a.sign || b.kind == HU_KIND_INF || b.kind == HU_KIND_NAN) return HU_E_SCALING;
  int64_t mu = units_of(hui_negated(b), a), gap = units_of(hui_num_finite(0, hu_s2fp8_target(kind), 0), a);
  if (mu == INT64_MAX || gap == INT64_MAX) return HU_E_SCALING;
  return hu_s2fp8_scale_from(scale, mu, mu + gap, kind);
}

/* ---- arrays ---- */

static size_t code_size(const hu_s2fp8 *kind) { return hui_code_bytes(kind->element); }

static hu_status check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                              ptrdiff_t incx) {
  hu_strided az = {z, zsize, incz}, ax = {x, xsize, incx};
  return hui_check_pair(n, &az, &ax);
}

hu_status hu_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, s2fp8_sum_n, (n, x, incx, sums, exec));
  hu_strided ax = {x, sizeof *x, incx};
  hu_covered covered;
  if (!sums) return HU_E_NULL;
  if (n == 0) return HU_OK;
  hu_status status = hui_cover(&covered, n, &ax);
  if (status == HU_OK) hui_s2_sum_run(n, x, incx, sums, exec);
  return status;
}

static hu_status check_made(const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode) {
  return scale ? hui_s2_check(kind, scale, mode) : HU_E_NULL;
}

/* Codes of `size` bytes, or values where size is 0. */
static hu_status encode(size_t n, const hu_output *z, const hu_view *x, size_t size, const hu_s2fp8 *kind,
                        const hu_s2fp8_scale *scale, const hu_how *how) {
  if (hui_is_elsewhere(how->exec) && !size)
    return HUI_THERE(how->exec, s2fp8_quantize_n, (n, z->data, z->stride, x->data, x->stride, kind, scale, how->mode,
                                                   how->exec, how->events));
  if (hui_is_elsewhere(how->exec))
    return HUI_THERE(how->exec, s2fp8_encode_n, (n, z->data, z->stride, x->data, x->stride, kind, scale, how->mode,
                                                 how->exec, how->events));
  hu_status status = check_made(kind, scale, how->mode);
  if (status == HU_OK) status = check_arrays(n, z->data, size ? size : 4, z->stride, x->data, 4, x->stride);
  if (status != HU_OK || n == 0) return status;
  hu_s2 map = hui_s2_of(kind, scale->mu, scale->m, how->mode);
  hui_s2_run(n, z->data, z->stride, size, x->data, x->stride, &map, NULL, how->exec, how->events);
  return HU_OK;
}

static hu_status decode(size_t n, const hu_output *z, const hu_view *x, const hu_s2fp8 *kind,
                        const hu_s2fp8_scale *scale, const hu_exec *exec) {
  if (hui_is_elsewhere(exec))
    return HUI_THERE(exec, s2fp8_decode_n, (n, z->data, z->stride, x->data, x->stride, kind, scale, exec));
  hu_status status = check_made(kind, scale, nearest);
  if (status == HU_OK) status = check_arrays(n, z->data, sizeof(float), z->stride, x->data, code_size(kind), x->stride);
  if (status == HU_OK) status = hui_code_array_check(n, x->data, x->stride, kind->element, hui_exec_threads(exec));
  if (status != HU_OK || n == 0) return status;
  hu_s2 map = hui_s2_of(kind, scale->mu, scale->m, nearest);
  hui_s2_undo(n, z->data, z->stride, x->data, x->stride, code_size(kind), &map, exec);
  return HU_OK;
}

static int are(const hu_output *z, int to, const hu_view *x, int from) {
  return z->type.kind == to && x->type.kind == from && !z->type.reserved && !x->type.reserved;
}

hu_status hu_s2fp8_apply(size_t n, const hu_output *z, const hu_view *x, const hu_s2fp8 *kind,
                         const hu_s2fp8_scale *scale, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!z || !x || !kind) return HU_E_NULL;
  if (!how) how = &defaults;
  if (are(z, HU_TYPE_BINARY32, x, HU_TYPE_CODES)) return decode(n, z, x, kind, scale, how->exec);
  if (are(z, HU_TYPE_CODES, x, HU_TYPE_BINARY32)) return encode(n, z, x, code_size(kind), kind, scale, how);
  if (are(z, HU_TYPE_VALUES32, x, HU_TYPE_BINARY32)) return encode(n, z, x, 0, kind, scale, how);
  return HU_E_FORMAT;
}

/* Makes the map of a tensor, with mu and gap, from its sums. */
static hu_status scale_from_sums(hu_s2 *map, int64_t *m, const hu_s2fp8_sums *seen) {
  hui_s2_moments(&map->mu, m, seen->high, seen->low, seen->count, seen->top, map->target);
  map->gap = *m - map->mu;
  return hui_s2_scale_fits(map->mu, *m) ? HU_OK : HU_E_SCALING;
}

/* The calls above one after another; what they would check and work out again is known here. */
static hu_status truncate(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, const hu_s2fp8 *kind,
                          hu_s2fp8_sums *sums, hu_s2fp8_scale *scale, const hu_how *how) {
  hu_s2fp8_sums seen = {0};
  int64_t m;
  hu_status status = hui_s2_check(kind, NULL, how->mode);
  if (status == HU_OK) status = check_arrays(n, z, sizeof *z, incz, x, sizeof *x, incx);
  if (status != HU_OK) return status;
  hu_s2 map = hui_s2_of(kind, 0, 0, how->mode);
  int plain = n && !sums && !scale && incz == 1 && incx == 1;
  if (plain && hui_s2_truncate(n, z, x, &map, how->exec, how->events)) return HU_OK;
  status = hu_s2fp8_sum_n(n, x, incx, &seen, how->exec);
  if (status == HU_OK) status = scale_from_sums(&map, &m, &seen);
  if (status != HU_OK) return status;
  if (n) hui_s2_run(n, z, incz, 0, x, incx, &map, NULL, how->exec, how->events);
  if (sums) *sums = seen;
  return scale ? hu_s2fp8_scale_from(scale, map.mu, m, kind) : HU_OK;
}

hu_status hu_s2fp8_truncate(size_t n, const hu_output *z, const hu_view *x, const hu_s2fp8 *kind, hu_s2fp8_sums *sums,
                            hu_s2fp8_scale *scale, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!z || !x) return HU_E_NULL;
  if (!how) how = &defaults;
  if (!are(z, HU_TYPE_VALUES32, x, HU_TYPE_BINARY32)) return HU_E_FORMAT;
  if (hui_is_elsewhere(how->exec))
    return HUI_THERE(how->exec, s2fp8_truncate_n, (n, z->data, z->stride, x->data, x->stride, kind, how->mode, sums,
                                                   scale, how->exec, how->events));
  return truncate(n, z->data, z->stride, x->data, x->stride, kind, sums, scale, how);
}

hu_status hu_s2fp8_truncate_parts(size_t n, const hu_s2fp8_parts *parts, const hu_s2fp8 *kind, hu_mode mode,
                                  hu_s2fp8_sums *sums, hu_s2fp8_scale *scale, const hu_exec *exec, hu_events *events) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  hu_s2fp8_sums seen = {0};
  int64_t m;
  hu_status status = hui_s2_check(kind, NULL, mode);
  if (status != HU_OK) return status;
  if (!parts || !parts->give || !parts->take) return HU_E_NULL;
  if (!parts->part || n > PTRDIFF_MAX / sizeof(float)) return HU_E_SHAPE;
  hu_s2 map = hui_s2_of(kind, 0, 0, mode);
  if (n && !sums && !scale && hui_s2_truncate_parts(n, parts, &map, exec, events)) return HU_OK;
  if (n) hui_s2_sum_parts(n, parts, &seen, exec);
  status = scale_from_sums(&map, &m, &seen);
  if (status != HU_OK) return status;
  if (n) hui_s2_run_parts(n, parts, &map, exec, events);
  if (sums) *sums = seen;
  return scale ? hu_s2fp8_scale_from(scale, map.mu, m, kind) : HU_OK;
}
