/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/number.cu - number systems over arrays. One kernel for all of them: which kinds of element are read
 * and written is the same for every thread of a launch.
 *
 * A result that depends on nothing but a code of up to 8 bits comes from a table: the 256 threads of a block make one
 * entry each. emu/core/number.h computes every other element; it is long, and called instead of inlined.
 *
 * Bound: a posit of 16 bits takes some 300 instructions, an element from a table 39 with the making of the table for
 * 2^16 of them (docs/device.md), so that a multiprocessor, which starts 128 in a clock, makes 0.43 or 3.3. Memory moves
 * 16 bytes in that clock, 2.7 elements of 6 bytes or 3.2 of 5: issue slots are the bound of the first, memory that of
 * tables. */
#include "emu/core/number.h"
#include "gpu/base/check.h"
#include "gpu/base/look.h"
#include "gpu/base/map.cuh"
#include "gpu/elementwise/convert.cuh"
#include "halfulp/number.h"

enum { HU_VALUES32, HU_VALUES64, HU_NUMBER_CODES };

typedef struct hu_device_number {
  hu_number_spec to, from; /* from: of codes that are read */
  size_t n;
  void *z;
  const void *x;
  ptrdiff_t incz, incx;
  uint32_t reads, writes;           /* HU_VALUES32, HU_VALUES64 or HU_NUMBER_CODES */
  uint32_t read_bytes, write_bytes; /* of an element */
  uint32_t rounds, stochastic;      /* rounds 0: only decoded */
  hu_stream stream;
  hu_events *events;
} hu_device_number;

/* What is written, and the events. A code or a binary32 value is the low half of `bits`. */
typedef struct hu_number_result {
  uint64_t bits;
  uint32_t events;
} hu_number_result;

HU_DEVICE uint64_t hui_load_number(const hu_device_number &call, size_t i) {
  ptrdiff_t at = (ptrdiff_t)i * call.incx;
  if (call.read_bytes == 1) return ((const uint8_t *)call.x)[at];
  if (call.read_bytes == 2) return ((const uint16_t *)call.x)[at];
  if (call.read_bytes == 4) return ((const uint32_t *)call.x)[at];
  return ((const uint64_t *)call.x)[at];
}

HU_DEVICE void hui_store_number(const hu_device_number &call, size_t i, uint64_t bits) {
  ptrdiff_t at = (ptrdiff_t)i * call.incz;
  if (call.write_bytes == 1) ((uint8_t *)call.z)[at] = (uint8_t)bits;
  if (call.write_bytes == 2) ((uint16_t *)call.z)[at] = (uint16_t)bits;
  if (call.write_bytes == 4) ((uint32_t *)call.z)[at] = (uint32_t)bits;
  if (call.write_bytes == 8) ((uint64_t *)call.z)[at] = bits;
}

static __device__ __noinline__ hu_number_result hui_number_one(const hu_device_number &call, uint64_t bits,
                                                               uint32_t word) {
  hu_number_result result = {0, 0};
  hu_quantity quantity = call.reads == HU_NUMBER_CODES ? hui_number_unpack(&call.from, (uint32_t)bits)
                         : call.reads == HU_VALUES32   ? hui_quantity_of(hui_unpack32((uint32_t)bits))
                                                       : hui_quantity_of(hui_unpack64(bits));
  if (call.rounds) {
    uint32_t random = call.stochastic ? word >> ((32u - call.to.floating.bits) & 31u) : 0;
    result.bits = hui_number_round(&call.to, quantity, random, &result.events);
    if (call.writes == HU_NUMBER_CODES) return result;
    quantity = hui_number_unpack(&call.to, (uint32_t)result.bits);
  }
  result.bits = call.writes == HU_VALUES32 ? hui_quantity_pack32(quantity) : hui_quantity_pack64(quantity);
  return result;
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_number_kernel(const __grid_constant__ hu_device_number call) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < call.n; i += step) {
    hu_number_result result =
        hui_number_one(call, hui_load_number(call, i), call.stochastic ? hui_word(call.stream, i) : 0);
    hui_store_number(call, i, result.bits);
    if (call.events) hui_counts_add(&counts, result.events);
  }
  if (call.events) hui_counts_flush(&counts, call.events, sums);
}

/* Converts codes of up to 8 bits, a byte each, by a table; bits above the width do not count. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_number_table_kernel(const __grid_constant__ hu_device_number call) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ uint64_t bits[HU_THREADS];
  __shared__ uint32_t events[HU_THREADS];
  hu_counts counts;
  hui_counts_clear(&counts);
  hu_number_result result = hui_number_one(call, threadIdx.x, 0);
  bits[threadIdx.x] = result.bits;
  events[threadIdx.x] = result.events;
  __syncthreads();
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < call.n; i += step) {
    uint32_t code = ((const uint8_t *)call.x)[(ptrdiff_t)i * call.incx];
    hui_store_number(call, i, bits[code]);
    if (call.events) hui_counts_add(&counts, events[code]);
  }
  if (call.events) hui_counts_flush(&counts, call.events, sums);
}

/* ---- a call ---- */

static const hu_mode hu_number_rne = {0, 0, 0, 0, 0, 0, {0, 0}};

static hu_status hui_number_unfolded(hu_number_spec *spec, hu_number number, hu_mode mode) {
  uint32_t values[HU_TABLE_MAX];
  hu_status status = hu_number_check(number, NULL);
  if (status == HU_OK && number.kind > HU_NUMBER_TABLE) status = HU_E_NUMBER; /* takums, HiFloat8: on the CPU alone */
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  if (number.kind == HU_NUMBER_TABLE) memcpy(values, number.table, hui_table_length(number) * sizeof *values);
  hui_number_spec_make(spec, number, values, mode);
  return HU_OK;
}

/* Starts a call whose specs and sizes are not set yet. to: NULL without rounding; from: NULL without codes to read. */
static hu_status hui_number_start(hu_device_number &call, const hu_number *to, const hu_number *from, hu_mode mode,
                                  const hu_exec *exec, hu_events *events, void *stream) {
  hu_status status = to ? hui_number_unfolded(&call.to, *to, mode) : HU_OK;
  if (status == HU_OK && from) status = hui_number_unfolded(&call.from, *from, hu_number_rne);
  if (status != HU_OK) return status;
  call.read_bytes = call.reads == HU_NUMBER_CODES ? hui_bytes_of_width(call.from.width)
                    : call.reads == HU_VALUES32   ? 4
                                                  : 8;
  call.write_bytes = call.writes == HU_NUMBER_CODES ? hui_bytes_of_width(call.to.width)
                     : call.writes == HU_VALUES32   ? 4
                                                    : 8;
  status = hui_check_arrays(call.n, call.z, call.write_bytes, call.incz, call.x, call.read_bytes, call.incx);
  if (status == HU_OK) status = hui_check_events(events);
  if (status != HU_OK || call.n == 0) return status;
  if (from) {
    int is_signed = from->kind == HU_NUMBER_FIXED && from->sign;
    hu_code_area codes = {call.x, 1, call.n, 0, call.incx, call.read_bytes, (uint32_t)call.from.width, is_signed};
    hui_look_at(codes, stream);
  }
  call.rounds = to != NULL;
  call.stochastic = to && mode.round >= HU_SRA;
  if (exec) call.stream = exec->stream;
  call.events = events;
  int small = from && call.read_bytes == 1 && !call.stochastic;
  auto kernel = small ? hui_number_table_kernel : hui_number_kernel;
  HU_LAUNCH(kernel, hui_grid_size(call.n / HU_THREADS + 1, small ? 8 : 16), 0, stream, call);
  return hui_launched();
}

static uint32_t hui_number_kind(const hu_type &type) {
  size_t bytes = hui_carrier_bytes(&type);
  return bytes == 8 ? HU_VALUES64 : bytes ? HU_VALUES32 : HU_NUMBER_CODES;
}

static hu_number hui_number_system(const hu_type &type) {
  return type.number ? *type.number : hu_number_float(type.format);
}

hu_status hui_number_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  hu_device_number call;
  int decodes = hui_is_plain(&z.type), codes = x.type.kind == HU_TYPE_CODES;
  memset(&call, 0, sizeof call);
  call.n = n;
  call.z = z.data;
  call.incz = z.stride;
  call.writes = hui_number_kind(z.type);
  call.x = x.data;
  call.incx = x.stride;
  call.reads = hui_number_kind(x.type);
  hu_number to, from;
  if (!decodes) to = hui_number_system(z.type);
  if (codes) from = hui_number_system(x.type);
  return hui_number_start(call, decodes ? NULL : &to, codes ? &from : NULL, decodes ? hu_number_rne : how.mode,
                          how.exec, decodes ? NULL : how.events, stream);
}
