/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/decode.cu - codes to values. Eight-bit codes go through a table that each block makes with the core.
 * Wider ones whose values are plain (hui_plain_decode of emu/simd/round.h) take some eight instructions; infinities,
 * NaN and all other formats are decoded by the core.
 *
 * Bound, from the machine code for compute capability 9.0, whose multiprocessor starts 128 instructions in a clock and,
 * on an H200, moves 16 bytes: 8-bit codes take 142 instructions for 16 elements, 9 each, 14 in a clock, and a load from
 * shared memory each, of 32; memory allows 3.2 elements of 5 bytes, and is the bound. Plain 16-bit codes take 574 to
 * 673 for 16, all branches included, 36 to 42 each, 3.0 to 3.6 in a clock; memory allows 2.7 of 6 bytes, and is the
 * bound. */
#include "emu/core/round.h"
#include "gpu/base/lanes.cuh"
#include "gpu/base/map.cuh"
#include "gpu/elementwise/convert.cuh"

/* Makes the bits of a code's value in the binary format of z. */
HU_DEVICE void hui_value_of(const hu_spec &spec, uint32_t code, uint32_t *z) {
  *z = hui_pack32(hui_unpack(&spec, code));
}
HU_DEVICE void hui_value_of(const hu_spec &spec, uint32_t code, uint64_t *z) {
  *z = hui_pack64(hui_unpack(&spec, code));
}

template <class Out, class In>
struct hu_decode_op {
  static const int unroll = 2;
  static const uint32_t stochastic = 0;
  hu_spec spec;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(In x, uint32_t, hu_counts *) const {
    Out z;
    hui_value_of(spec, x, &z);
    return z;
  }

  __device__ __forceinline__ int quick(const In x[4], const uint32_t words[4], Out z[4], hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = one(x[i], words[i], counts);
    return 1;
  }

  __device__ __forceinline__ void slow(const In[4], const uint32_t[4], Out[4], hu_counts *) const {}
};

/* Decodes by the core. It is called, not inlined, so that the long code is there once. */
static __device__ __noinline__ uint32_t hui_value_called(hu_spec spec, uint32_t code) {
  uint32_t z;
  hui_value_of(spec, code, &z);
  return z;
}

template <class In, int Plain>
struct hu_decode_plain_op {
  static const int unroll = 4;
  static const uint32_t stochastic = 0;
  hu_lane_constants lanes;
  hu_spec spec;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ uint32_t one(In x, uint32_t, hu_counts *) const { return hui_value_called(spec, x); }

  __device__ __forceinline__ int quick(const In x[4], const uint32_t *, uint32_t z[4], hu_counts *) const {
    const hu_plain_lanes plain = hui_plain_lanes_of(&lanes);
    bool odd = false;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      odd = odd || hui_plain_not(&plain, x[i]);
      z[i] = hui_plain_decode(&plain, Plain, x[i]);
    }
    return !odd;
  }

  __device__ __forceinline__ void slow(const In x[4], const uint32_t words[4], uint32_t z[4], hu_counts *counts) const {
    hui_one_by_one(*this, x, words, z, counts);
  }
};

template <class Out>
struct hu_decode_table_op {
  static const int unroll = 4;
  static const uint32_t stochastic = 0;
  const Out *table; /* shared memory of the block */
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(uint8_t x, uint32_t, hu_counts *) const { return table[x]; }

  __device__ __forceinline__ int quick(const uint8_t x[4], const uint32_t words[4], Out z[4], hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = one(x[i], words[i], counts);
    return 1;
  }

  __device__ __forceinline__ void slow(const uint8_t[4], const uint32_t[4], Out[4], hu_counts *) const {}
};

template <class Out>
HU_DEVICE void hui_decode8(const hu_spec &spec, const hu_map_extent &extent, Out *z, const uint8_t *x, Out *table) {
  hu_decode_table_op<Out> op;
  hui_value_of(spec, threadIdx.x, &table[threadIdx.x]); /* 256 threads, 256 codes */
  __syncthreads();
  op.table = table;
  op.stream.key = op.stream.counter = 0;
  op.events = NULL;
  hui_map(op, extent, z, x);
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_decode8_binary32(hu_spec spec, hu_map_extent extent, uint32_t *z, const uint8_t *x) {
  __shared__ uint32_t table[HU_THREADS];
  hui_decode8(spec, extent, z, x, table);
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_decode8_binary64(hu_spec spec, hu_map_extent extent, uint64_t *z, const uint8_t *x) {
  __shared__ uint64_t table[HU_THREADS];
  hui_decode8(spec, extent, z, x, table);
}

static unsigned hui_decode8_grid(const hu_map_extent &extent) {
  uint64_t groups = extent.groups / (HU_THREADS * 4) + 1, singles = (extent.n - extent.groups * 4) / HU_THREADS + 1;
  return hui_grid_size(groups > singles ? groups : singles, 8); /* few blocks, since each makes a table */
}

static hu_status hui_decode_bytes(size_t n, uint32_t *z, ptrdiff_t incz, const uint8_t *x, ptrdiff_t incx, hu_spec spec,
                                  void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, z, incz, x, incx);
  HU_LAUNCH(hui_decode8_binary32, hui_decode8_grid(extent), 0, stream, spec, extent, z, x);
  return hui_launched();
}

static hu_status hui_decode_bytes(size_t n, uint64_t *z, ptrdiff_t incz, const uint8_t *x, ptrdiff_t incx, hu_spec spec,
                                  void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, z, incz, x, incx);
  HU_LAUNCH(hui_decode8_binary64, hui_decode8_grid(extent), 0, stream, spec, extent, z, x);
  return hui_launched();
}

template <int Plain>
static hu_status hui_decode_plain(size_t n, uint32_t *z, ptrdiff_t incz, const uint16_t *x, ptrdiff_t incx,
                                  const hu_lane_constants &lanes, hu_spec spec, void *stream) {
  hu_decode_plain_op<uint16_t, Plain> op = {lanes, spec, {0, 0}, NULL};
  return hui_map_launch(op, n, z, incz, x, incx, stream);
}

template <class Out>
static hu_status hui_decode_words(size_t n, Out *z, ptrdiff_t incz, const uint16_t *x, ptrdiff_t incx, hu_spec spec,
                                  void *stream) {
  hu_lane_constants lanes;
  if constexpr (sizeof(Out) == 4) {
    int plain = hui_lane_constants_of(&lanes, &spec) ? lanes.way.plain : 0;
    if (plain == 1) return hui_decode_plain<1>(n, z, incz, x, incx, lanes, spec, stream);
    if (plain == 2) return hui_decode_plain<2>(n, z, incz, x, incx, lanes, spec, stream);
  }
  hu_decode_op<Out, uint16_t> op = {spec, {0, 0}, NULL};
  return hui_map_launch(op, n, z, incz, x, incx, stream);
}

template <class Out>
static hu_status hui_decode_to(size_t n, Out *z, ptrdiff_t incz, const hu_view &x, void *stream) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_spec spec = hui_spec_of(x.type.format, rne);
  uint32_t bytes = hui_code_bytes(x.type.format);
  if (bytes == 1) return hui_decode_bytes(n, z, incz, (const uint8_t *)x.data, x.stride, spec, stream);
  if (bytes == 2) return hui_decode_words(n, z, incz, (const uint16_t *)x.data, x.stride, spec, stream);
  hu_decode_op<Out, uint32_t> op = {spec, {0, 0}, NULL};
  return hui_map_launch(op, n, z, incz, (const uint32_t *)x.data, x.stride, stream);
}

hu_status hui_decode_launch(size_t n, const hu_output &z, const hu_view &x, void *stream) {
  if (z.type.kind == HU_TYPE_BINARY64) return hui_decode_to(n, (uint64_t *)z.data, z.stride, x, stream);
  return hui_decode_to(n, (uint32_t *)z.data, z.stride, x, stream);
}
