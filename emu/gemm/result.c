/* SPDX-License-Identifier: MIT */
/* Sums rounded into D. */
#include <string.h>

#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/gemm/call.h"

enum { PIECE = 256 }; /* elements of a buffered piece */

void hui_gemm_set_result(hu_gemm_call *call, const hu_output *result, const hu_spec *spec, const hu_level *level) {
  call->d_data = result->data;
  call->ldd = (size_t)result->row;
  call->d_values = result->type.kind != HU_TYPE_CODES;
  call->d_size = call->d_values ? 4 : spec->code_bytes;
  call->d_binary32 = hu_format_equal(result->type.format, hui_format_binary32());
  call->spec = *spec;
  call->rounding = hui_lane_constants_of(&call->constants, &call->spec) ? level->convert : NULL;
  call->odd_first = hui_odd_is_enough(&call->spec);
}

static void store(const hu_gemm_call *call, size_t i, size_t j, hu_num sum, hu_events *events) {
  uint32_t set, random = 0;
  if (call->spec.round >= HU_SRA) {
    random =
        hui_stream_at(call->stream.key, call->stream.counter + (uint64_t)i * call->n + j) >> (32 - call->spec.bits);
  }
  uint32_t code = hui_round(&call->spec, sum, random, &set);
  hui_store_code(call->d_data + (i * call->ldd + j) * call->d_size, call->d_size,
                 call->d_values ? hui_pack32(hui_unpack(&call->spec, code)) : code);
  hu_events_count(events, set);
}

static void finish_kernel(const hu_gemm_call *call, size_t i, size_t j, size_t n, const uint32_t *x,
                          hu_events *events) {
  uint8_t *z = call->d_data + (i * call->ldd + j) * call->d_size;
  hu_piece piece = {n, z, x, call->stream.key, call->stream.counter + (uint64_t)i * call->n + j, 0};
  const hu_kernels *kernels = call->rounding;
  int within = hui_direction_of(call->spec.round) == HU_LANE_NEAREST; /* that of the environment here */
  if (call->d_values) {
    (within ? kernels->quantize_within : kernels->quantize)(&call->constants, &piece, events);
  } else {
    size_t size = hui_by_size(call->d_size);
    (within ? kernels->encode_within[size] : kernels->encode[size])(&call->constants, &piece, events);
  }
}

/* Binary32 sums into binary32 are themselves; 0 if one is special, so that the mode's rules decide. */
static int finish_same(const hu_gemm_call *call, size_t i, size_t j, size_t n, const float *x, hu_events *events) {
  uint32_t special = 0, subnormal = 0;
  for (size_t c = 0; c < n; c++) {
    uint32_t bits = hui_bits_of_float(x[c]) & 0x7FFFFFFFu;
    special |= (uint32_t)(bits >= 0x7F800000u);
    subnormal += (uint32_t)(bits - 1 < 0x7FFFFFu);
  }
  if (special) return 0;
  memcpy(call->d_data + (i * call->ldd + j) * 4, x, n * 4);
  events->subnormal += subnormal;
  return 1;
}

/* Checks whether an operand of element (i, j) is a NaN. */
static int nan_given(const hu_gemm_call *call, size_t i, size_t j) {
  return (call->c.data && hui_gemm_nan_among(&call->c, i, j, 0, 0, 1)) ||
         hui_gemm_nan_among(&call->a, i, 0, 0, 1, call->k) || hui_gemm_nan_among(&call->b, 0, j, 1, 0, call->k) ||
         hui_gemm_nan_among(&call->scale_a, i, 0, 0, 1, call->scale_a.cols) ||
         hui_gemm_nan_among(&call->scale_b, 0, j, 1, 0, call->scale_b.rows);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_gemm_call *call, uint64_t made, hu_events *events) {
  events->nan_in -= made;
  if (call->spec.has_nan || call->spec.nan_to != HU_NAN_TO_ERROR) events->invalid += made;
}

void hui_gemm_finish(const hu_gemm_call *call, size_t i, size_t j, hu_num sum, hu_events *events) {
  int made = sum.kind == HU_KIND_NAN && !nan_given(call, i, j);
  store(call, i, j, sum, events);
  if (made) recount(call, 1, events);
}

uint32_t hui_gemm_zero_sign(const hu_gemm_call *call, size_t i, size_t j) {
  int plus = !call->c.data, minus = 0; /* terms +0, terms -0 */
  if (call->c.data) {
    hu_num c = hui_gemm_element(&call->c, i, j);
    if (c.kind != HU_KIND_ZERO) return call->spec.round == HU_RTN;
    plus = !c.sign;
    minus = c.sign;
  }
  for (size_t k = 0; k < call->k && !(plus && minus); k++) {
    hu_num a = hui_gemm_element(&call->a, i, k), b = hui_gemm_element(&call->b, k, j);
    if (a.kind != HU_KIND_ZERO && b.kind != HU_KIND_ZERO) return call->spec.round == HU_RTN;
    plus |= a.sign == b.sign;
    minus |= a.sign != b.sign;
  }
  return plus && minus ? call->spec.round == HU_RTN : (uint32_t)minus;
}

/* Checks whether zero sums of the exact model need hui_round's sign of zero. */
static int zeros_matter(const hu_gemm_call *call) {
  return call->exact && call->spec.round == HU_RTN && call->spec.negzero;
}

/* Before rounding: zero sums of the exact model get the sign of `toward negative`; returns the NaN sums without NaN
 * operand. */
static uint64_t mend32(const hu_gemm_call *call, size_t i, size_t j0, size_t n, float *sum) {
  uint32_t found = (uint32_t)zeros_matter(call);
  uint64_t made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint32_t)((hui_bits_of_float(sum[j]) & 0x7FFFFFFFu) > 0x7F800000u);
  for (size_t j = 0; found && j < n; j++) {
    uint32_t bits = hui_bits_of_float(sum[j]);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) made += !nan_given(call, i, j0 + j);
    if (bits == 0 && zeros_matter(call) && hui_gemm_zero_sign(call, i, j0 + j)) sum[j] = hui_float_of_bits(0x80000000u);
  }
  return made;
}

void hui_gemm_finish32(const hu_gemm_call *call, size_t i, size_t j0, size_t n, float *sum, hu_events *events) {
  if (call->d_binary32 && !zeros_matter(call) && finish_same(call, i, j0, n, sum, events)) return;
  uint64_t made = mend32(call, i, j0, n, sum);
  if (call->rounding) {
    finish_kernel(call, i, j0, n, (const uint32_t *)(const void *)sum, events);
  } else {
    for (size_t j = 0; j < n; j++) store(call, i, j0 + j, hui_unpack32(hui_bits_of_float(sum[j])), events);
  }
  if (made) recount(call, made, events);
}

static uint64_t mend64(const hu_gemm_call *call, size_t i, size_t j0, size_t n, double *sum) {
  const uint64_t sign = (uint64_t)1 << 63, inf = 0x7FF0000000000000u;
  uint64_t found = (uint64_t)zeros_matter(call), made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint64_t)((hui_bits_of_double(sum[j]) & ~sign) > inf);
  for (size_t j = 0; found && j < n; j++) {
    uint64_t bits = hui_bits_of_double(sum[j]);
    if ((bits & ~sign) > inf) made += !nan_given(call, i, j0 + j);
    if (bits == 0 && zeros_matter(call) && hui_gemm_zero_sign(call, i, j0 + j)) sum[j] = hui_double_of_bits(sign);
  }
  return made;
}

/* Ties to even into binary32 is the CPU's own conversion; 0 if an element is special or near the ends of the range,
 * where events are to be counted too. */
static int finish_near(const hu_gemm_call *call, size_t i, size_t j, size_t n, const double *sum, hu_events *events) {
  float z[PIECE];
  size_t inexact = call->kernels->narrow(n, z, sum);
  if (inexact == SIZE_MAX) return 0;
  memcpy(call->d_data + (i * call->ldd + j) * 4, z, n * 4);
  events->inexact += inexact;
  return 1;
}

static void finish_piece64(const hu_gemm_call *call, size_t i, size_t j0, size_t n, const double *sum,
                           hu_events *events) {
  uint32_t odd[PIECE];
  if (call->rounding && call->odd_first && !call->rounding->to_odd(n, odd, (const uint64_t *)(const void *)sum)) {
    finish_kernel(call, i, j0, n, odd, events);
    return;
  }
  if (call->d_binary32 && call->spec.round == HU_RNE && finish_near(call, i, j0, n, sum, events)) return;
  for (size_t j = 0; j < n; j++) store(call, i, j0 + j, hui_unpack64(hui_bits_of_double(sum[j])), events);
}

void hui_gemm_finish64(const hu_gemm_call *call, size_t i, size_t j0, size_t n, double *sum, hu_events *events) {
  uint64_t made = mend64(call, i, j0, n, sum);
  for (size_t j = 0; j < n; j += PIECE) finish_piece64(call, i, j0 + j, hui_least(n - j, PIECE), sum + j, events);
  if (made) recount(call, made, events);
}
