/* SPDX-License-Identifier: MIT */
/* Sums rounded into D. */
#include <string.h>

#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/gemm/call.h"

enum { PIECE = 256 }; /* elements of a buffered piece */

void hui_gemm_set_result(hu_gemm_call *g, const hu_result *d, hu_mode mode, const hu_level *level) {
  g->d = d->data;
  g->ldd = d->ld;
  g->d_values = d->storage == HU_STORAGE_VALUES;
  g->d_size = g->d_values ? 4 : hui_code_bytes(d->format);
  g->d_binary32 = hu_format_equal(d->format, hui_format_binary32());
  g->spec = hui_spec_of(d->format, mode);
  g->rounding = hui_lane_constants_of(&g->constants, &g->spec) ? level->convert : NULL;
  g->odd_first = hui_odd_is_enough(&g->spec);
}

static void store(const hu_gemm_call *g, size_t i, size_t j, hu_num sum, hu_events *events) {
  uint32_t set, random = 0;
  if (g->spec.round >= HU_SRA) {
    random = hui_stream_at(g->stream.key, g->stream.counter + (uint64_t)i * g->n + j) >> (32 - g->spec.bits);
  }
  uint32_t code = hui_round(&g->spec, sum, random, &set);
  hui_store_code(g->d + (i * g->ldd + j) * g->d_size, g->d_size,
                 g->d_values ? hui_pack32(hui_unpack(&g->spec, code)) : code);
  hu_events_count(events, set);
}

static void finish_kernel(const hu_gemm_call *g, size_t i, size_t j, size_t n, const uint32_t *x, hu_events *events) {
  uint8_t *z = g->d + (i * g->ldd + j) * g->d_size;
  hu_piece piece = {n, z, x, g->stream.key, g->stream.counter + (uint64_t)i * g->n + j, 0};
  if (g->d_values) {
    g->rounding->quantize(&g->constants, &piece, events);
  } else {
    g->rounding->encode[hui_by_size(g->d_size)](&g->constants, &piece, events);
  }
}

/* Binary32 sums into binary32 are themselves; 0 if one is special, so that the mode's rules decide. */
static int finish_same(const hu_gemm_call *g, size_t i, size_t j, size_t n, const float *x, hu_events *events) {
  uint32_t special = 0, subnormal = 0;
  for (size_t c = 0; c < n; c++) {
    uint32_t u = hui_bits_of_float(x[c]) & 0x7FFFFFFFu;
    special |= (uint32_t)(u >= 0x7F800000u);
    subnormal += (uint32_t)(u - 1 < 0x7FFFFFu);
  }
  if (special) return 0;
  memcpy(g->d + (i * g->ldd + j) * 4, x, n * 4);
  events->subnormal += subnormal;
  return 1;
}

/* Is an operand of element (i, j) a NaN? */
static int nan_given(const hu_gemm_call *g, size_t i, size_t j) {
  return (g->c.data && hui_gemm_nan_among(&g->c, i, j, 0, 0, 1)) || hui_gemm_nan_among(&g->a, i, 0, 0, 1, g->k) ||
         hui_gemm_nan_among(&g->b, 0, j, 1, 0, g->k) || hui_gemm_nan_among(&g->scale_a, i, 0, 0, 1, g->scale_a.cols) ||
         hui_gemm_nan_among(&g->scale_b, 0, j, 1, 0, g->scale_b.rows);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_gemm_call *g, uint64_t made, hu_events *events) {
  events->nan_in -= made;
  if (g->spec.has_nan || g->spec.nan_to != HU_NAN_TO_ERROR) events->invalid += made;
}

void hui_gemm_finish(const hu_gemm_call *g, size_t i, size_t j, hu_num sum, hu_events *events) {
  int made = sum.kind == HU_KIND_NAN && !nan_given(g, i, j);
  store(g, i, j, sum, events);
  if (made) recount(g, 1, events);
}

uint32_t hui_gemm_zero_sign(const hu_gemm_call *g, size_t i, size_t j) {
  int plus = !g->c.data, minus = 0; /* terms +0, terms -0 */
  if (g->c.data) {
    hu_num c = hui_gemm_element(&g->c, i, j);
    if (c.kind != HU_KIND_ZERO) return g->spec.round == HU_RTN;
    plus = !c.sign;
    minus = c.sign;
  }
  for (size_t k = 0; k < g->k && !(plus && minus); k++) {
    hu_num a = hui_gemm_element(&g->a, i, k), b = hui_gemm_element(&g->b, k, j);
    if (a.kind != HU_KIND_ZERO && b.kind != HU_KIND_ZERO) return g->spec.round == HU_RTN;
    plus |= a.sign == b.sign;
    minus |= a.sign != b.sign;
  }
  return plus && minus ? g->spec.round == HU_RTN : (uint32_t)minus;
}

/* Do zero sums of the exact model need hui_round's sign of zero? */
static int zeros_matter(const hu_gemm_call *g) { return g->exact && g->spec.round == HU_RTN && g->spec.negzero; }

/* Before rounding: zero sums of the exact model get the sign of `toward negative`; returns the NaN sums without NaN
 * operand. */
static uint64_t mend32(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum) {
  uint32_t found = (uint32_t)zeros_matter(g);
  uint64_t made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint32_t)((hui_bits_of_float(sum[j]) & 0x7FFFFFFFu) > 0x7F800000u);
  for (size_t j = 0; found && j < n; j++) {
    uint32_t u = hui_bits_of_float(sum[j]);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) made += !nan_given(g, i, j0 + j);
    if (u == 0 && zeros_matter(g) && hui_gemm_zero_sign(g, i, j0 + j)) sum[j] = hui_float_of_bits(0x80000000u);
  }
  return made;
}

void hui_gemm_finish32(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum, hu_events *events) {
  if (g->d_binary32 && !zeros_matter(g) && finish_same(g, i, j0, n, sum, events)) return;
  uint64_t made = mend32(g, i, j0, n, sum);
  if (g->rounding) {
    finish_kernel(g, i, j0, n, (const uint32_t *)(const void *)sum, events);
  } else {
    for (size_t j = 0; j < n; j++) store(g, i, j0 + j, hui_unpack32(hui_bits_of_float(sum[j])), events);
  }
  if (made) recount(g, made, events);
}

static uint64_t mend64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum) {
  const uint64_t sign = (uint64_t)1 << 63, inf = 0x7FF0000000000000u;
  uint64_t found = (uint64_t)zeros_matter(g), made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint64_t)((hui_bits_of_double(sum[j]) & ~sign) > inf);
  for (size_t j = 0; found && j < n; j++) {
    uint64_t u = hui_bits_of_double(sum[j]);
    if ((u & ~sign) > inf) made += !nan_given(g, i, j0 + j);
    if (u == 0 && zeros_matter(g) && hui_gemm_zero_sign(g, i, j0 + j)) sum[j] = hui_double_of_bits(sign);
  }
  return made;
}

/* Ties to even into binary32 is the processor's own conversion; 0 if an element is special or near the ends of the
 * range, where events are to be counted too. */
static int finish_near(const hu_gemm_call *g, size_t i, size_t j, size_t n, const double *sum, hu_events *events) {
  float z[PIECE];
  size_t inexact = g->kernels->narrow(n, z, sum);
  if (inexact == SIZE_MAX) return 0;
  memcpy(g->d + (i * g->ldd + j) * 4, z, n * 4);
  events->inexact += inexact;
  return 1;
}

static void finish_piece64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, const double *sum, hu_events *events) {
  uint32_t odd[PIECE];
  if (g->rounding && g->odd_first && !g->rounding->to_odd(n, odd, (const uint64_t *)(const void *)sum)) {
    finish_kernel(g, i, j0, n, odd, events);
    return;
  }
  if (g->d_binary32 && g->spec.round == HU_RNE && finish_near(g, i, j0, n, sum, events)) return;
  for (size_t j = 0; j < n; j++) store(g, i, j0 + j, hui_unpack64(hui_bits_of_double(sum[j])), events);
}

void hui_gemm_finish64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum, hu_events *events) {
  uint64_t made = mend64(g, i, j0, n, sum);
  for (size_t j = 0; j < n; j += PIECE) finish_piece64(g, i, j0 + j, hui_least(n - j, PIECE), sum + j, events);
  if (made) recount(g, made, events);
}
