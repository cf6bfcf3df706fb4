/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/number.cu - number systems over arrays. One kernel for all of them: what an element is read from and
 * written to is the same for every thread of a launch.
 *
 * A result that depends on nothing but a code of up to 8 bits comes from a table: the 256 threads of a block make one
 * entry each. Every other element goes through emu/core/number.h, which is long and called, not inlined.
 *
 * Bound: a posit of 16 bits takes some 300 instructions, an element from a table 39 with the making of the table for
 * 2^16 of them (docs/device.md), so that a multiprocessor, which starts 128 in a clock, makes 0.43 or 3.3. Memory moves
 * 16 bytes in that clock, 2.7 elements of 6 bytes or 3.2 of 5: issue slots are the bound of the first, memory that of
 * tables. */
#include "emu/core/number.h"
#include "gpu/base/check.h"
#include "gpu/base/look.h"
#include "gpu/base/map.cuh"
#include "halfulp/device_number.h"

enum { HU_VALUES32, HU_VALUES64, HU_NUMBER_CODES };

typedef struct hu_device_number {
  hu_number_spec to, from; /* from: of codes that are read */
  size_t n;
  void *z;
  const void *x;
  ptrdiff_t incz, incx;
  uint32_t reads, writes;           /* what they are */
  uint32_t read_bytes, write_bytes; /* of an element */
  uint32_t rounds, stochastic;      /* rounds 0: only decoded */
  hu_stream stream;
  hu_events *events;
} hu_device_number;

/* What is written, and the events: the low half of a code's or binary32's word is all of it. */
typedef struct hu_number_result {
  uint64_t bits;
  uint32_t events;
} hu_number_result;

HU_DEVICE uint64_t hui_load_number(const hu_device_number &c, size_t i) {
  ptrdiff_t at = (ptrdiff_t)i * c.incx;
  if (c.read_bytes == 1) return ((const uint8_t *)c.x)[at];
  if (c.read_bytes == 2) return ((const uint16_t *)c.x)[at];
  if (c.read_bytes == 4) return ((const uint32_t *)c.x)[at];
  return ((const uint64_t *)c.x)[at];
}

HU_DEVICE void hui_store_number(const hu_device_number &c, size_t i, uint64_t bits) {
  ptrdiff_t at = (ptrdiff_t)i * c.incz;
  if (c.write_bytes == 1) ((uint8_t *)c.z)[at] = (uint8_t)bits;
  if (c.write_bytes == 2) ((uint16_t *)c.z)[at] = (uint16_t)bits;
  if (c.write_bytes == 4) ((uint32_t *)c.z)[at] = (uint32_t)bits;
  if (c.write_bytes == 8) ((uint64_t *)c.z)[at] = bits;
}

static __device__ __noinline__ hu_number_result hui_number_one(const hu_device_number &c, uint64_t u, uint32_t word) {
  hu_number_result r = {0, 0};
  hu_quantity q = c.reads == HU_NUMBER_CODES ? hui_number_unpack(&c.from, (uint32_t)u)
                  : c.reads == HU_VALUES32   ? hui_quantity_of(hui_unpack32((uint32_t)u))
                                             : hui_quantity_of(hui_unpack64(u));
  if (c.rounds) {
    uint32_t random = c.stochastic ? word >> ((32u - c.to.floating.bits) & 31u) : 0;
    r.bits = hui_number_round(&c.to, q, random, &r.events);
    if (c.writes == HU_NUMBER_CODES) return r;
    q = hui_number_unpack(&c.to, (uint32_t)r.bits);
  }
  r.bits = c.writes == HU_VALUES32 ? hui_quantity_pack32(q) : hui_quantity_pack64(q);
  return r;
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_number_kernel(const __grid_constant__ hu_device_number c) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < c.n; i += step) {
    hu_number_result r = hui_number_one(c, hui_load_number(c, i), c.stochastic ? hui_word(c.stream, i) : 0);
    hui_store_number(c, i, r.bits);
    if (c.events) hui_counts_add(&counts, r.events);
  }
  if (c.events) hui_counts_flush(&counts, c.events, sums);
}

/* Codes of up to 8 bits, one byte each; those above the width are their low bits. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_number_table_kernel(const __grid_constant__ hu_device_number c) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ uint64_t bits[HU_THREADS];
  __shared__ uint32_t events[HU_THREADS];
  hu_counts counts;
  hui_counts_clear(&counts);
  hu_number_result r = hui_number_one(c, threadIdx.x, 0);
  bits[threadIdx.x] = r.bits;
  events[threadIdx.x] = r.events;
  __syncthreads();
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < c.n; i += step) {
    uint32_t code = ((const uint8_t *)c.x)[(ptrdiff_t)i * c.incx];
    hui_store_number(c, i, bits[code]);
    if (c.events) hui_counts_add(&counts, events[code]);
  }
  if (c.events) hui_counts_flush(&counts, c.events, sums);
}

/* ---- a call ---- */

static const hu_mode hu_number_rne = {0, 0, 0, 0, 0, 0, {0, 0}};

static hu_status hui_number_unfolded(hu_number_spec *s, hu_number n, hu_mode mode) {
  uint32_t values[HU_TABLE_MAX];
  hu_status st = hu_number_check(n, NULL);
  if (st == HU_OK && n.kind > HU_NUMBER_TABLE) st = HU_E_NUMBER; /* takums and HiFloat8 are the CPU's */
  if (st == HU_OK) st = hu_mode_check(mode);
  if (st != HU_OK) return st;
  if (n.kind == HU_NUMBER_TABLE) memcpy(values, n.table, hui_table_length(n) * sizeof *values);
  hui_number_spec_make(s, n, values, mode);
  return HU_OK;
}

/* A call whose ends are set but for specs and sizes. to: NULL where nothing is rounded; from: NULL where no codes are
 * read. */
static hu_status hui_number_start(hu_device_number &c, const hu_number *to, const hu_number *from, hu_mode mode,
                                  const hu_exec *exec, hu_events *events, void *stream) {
  hu_status s = to ? hui_number_unfolded(&c.to, *to, mode) : HU_OK;
  if (s == HU_OK && from) s = hui_number_unfolded(&c.from, *from, hu_number_rne);
  if (s != HU_OK) return s;
  c.read_bytes = c.reads == HU_NUMBER_CODES ? hui_bytes_of_width(c.from.width) : c.reads == HU_VALUES32 ? 4 : 8;
  c.write_bytes = c.writes == HU_NUMBER_CODES ? hui_bytes_of_width(c.to.width) : c.writes == HU_VALUES32 ? 4 : 8;
  s = hui_check_arrays(c.n, c.z, c.write_bytes, c.incz, c.x, c.read_bytes, c.incx);
  if (s == HU_OK) s = hui_check_events(events);
  if (s != HU_OK || c.n == 0) return s;
  if (from) {
    int is_signed = from->kind == HU_NUMBER_FIXED && from->sign;
    hu_code_area codes = {c.x, 1, c.n, 0, c.incx, c.read_bytes, (uint32_t)c.from.width, is_signed};
    hui_look_at(codes, stream);
  }
  c.rounds = to != NULL;
  c.stochastic = to && mode.round >= HU_SRA;
  if (exec) c.stream = exec->stream;
  c.events = events;
  int small = from && c.read_bytes == 1 && !c.stochastic;
  auto kernel = small ? hui_number_table_kernel : hui_number_kernel;
  HU_LAUNCH(kernel, hui_grid_size(c.n / HU_THREADS + 1, small ? 8 : 16), 0, stream, c);
  return hui_launched();
}

static hu_device_number hui_number_ends(size_t n, void *z, ptrdiff_t incz, uint32_t writes, const void *x,
                                        ptrdiff_t incx, uint32_t reads) {
  hu_device_number c;
  memset(&c, 0, sizeof c);
  c.n = n;
  c.z = z;
  c.incz = incz;
  c.writes = writes;
  c.x = x;
  c.incx = incx;
  c.reads = reads;
  return c;
}

hu_status hu_device_number_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                                      hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_VALUES32, x, incx, HU_VALUES32);
  return hui_number_start(c, &f, NULL, mode, exec, events, stream);
}

hu_status hu_device_number_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                        hu_number f, hu_mode mode, const hu_exec *exec, hu_events *events,
                                        void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_VALUES64, x, incx, HU_VALUES64);
  return hui_number_start(c, &f, NULL, mode, exec, events, stream);
}

hu_status hu_device_number_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                                    hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_NUMBER_CODES, x, incx, HU_VALUES32);
  return hui_number_start(c, &f, NULL, mode, exec, events, stream);
}

hu_status hu_device_number_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_number f,
                                      hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_NUMBER_CODES, x, incx, HU_VALUES64);
  return hui_number_start(c, &f, NULL, mode, exec, events, stream);
}

hu_status hu_device_number_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                                    const hu_exec *exec, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_VALUES32, x, incx, HU_NUMBER_CODES);
  return hui_number_start(c, NULL, &f, hu_number_rne, exec, NULL, stream);
}

hu_status hu_device_number_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                                      const hu_exec *exec, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_VALUES64, x, incx, HU_NUMBER_CODES);
  return hui_number_start(c, NULL, &f, hu_number_rne, exec, NULL, stream);
}

hu_status hu_device_number_convert_n(size_t n, void *z, ptrdiff_t incz, hu_number fz, const void *x, ptrdiff_t incx,
                                     hu_number fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_number c = hui_number_ends(n, z, incz, HU_NUMBER_CODES, x, incx, HU_NUMBER_CODES);
  return hui_number_start(c, &fz, &fx, mode, exec, events, stream);
}
