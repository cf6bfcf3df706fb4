/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/encode.cu - binary32 to grid values or codes: by lanes where emu/simd/round.h can, else by the
 * core.
 *
 * Bound of the functions of emu/simd/round.h (nearest.cuh has its own): an element takes some 59 instructions
 * (docs/device.md), so that a multiprocessor, which starts 128 in a clock, rounds 2.2. Memory moves 16 bytes in that
 * clock, 3.2 elements of 5 bytes, 2 of 8: issue slots are the bound of codes, memory is that of values. The core takes
 * some 300. */
#include "gpu/base/check.h"
#include "gpu/base/core_op.cuh"
#include "gpu/base/lanes.cuh"
#include "halfulp/device.h"

/* Any element: the grid value's bits (Value) or the code below, the events above. Called, not inlined, so that the
 * quick way keeps the registers that let many vectors be in flight. */
template <bool Value>
static __device__ __noinline__ uint64_t hui_lanes_called(const hu_lane_constants &t, uint32_t x, uint32_t word) {
  hu_lanes_result r = hui_lanes_round(&t, x, word);
  return (uint64_t)hui_lanes_events(r) << 32 | (Value ? r.value : r.code);
}

#include "gpu/elementwise/nearest.cuh"

/* The same where hui_middle_ok. */
template <bool Value>
static __device__ __noinline__ uint64_t hui_middle_called(const hu_lane_constants &t, uint32_t x, uint32_t word) {
  hu_middle_lanes k = hui_middle_lanes_of(&t);
  hu_middle_result r = hui_middle(&t, &k, t.round, t.way.middle, x, hui_middle_operand(&t, x), word);
  uint32_t events = r.result != r.operand ? HU_EVENT_INEXACT | (r.probe < r.limit ? HU_EVENT_UNDERFLOW : 0) : 0;
  if (r.result == 0 && r.operand != 0) events |= HU_EVENT_TO_ZERO;
  if (r.result != 0 && r.result < k.bottom) events |= HU_EVENT_SUBNORMAL;
  return (uint64_t)events << 32 | (Value ? r.value : r.code);
}

/* Value: the result is the grid value's bits (Out uint32_t), else the code. */
template <class Out, bool Value>
struct hu_encode_lanes {
  static const int unroll = 4;
  hu_lane_constants t;
  hu_addend q;
  uint32_t stochastic;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out counted(uint64_t z, hu_counts *c) const {
    if (events) hui_counts_add(c, (uint32_t)(z >> 32));
    return (Out)(uint32_t)z;
  }

  __device__ __forceinline__ Out one(uint32_t x, uint32_t word, hu_counts *c) const {
    return counted(hui_lanes_called<Value>(t, x, word), c);
  }

  __device__ __forceinline__ uint32_t rounded(uint32_t x, uint32_t word) const {
    if (!stochastic) return hui_quick_stepped(t, q, x);
    if (t.round == HU_SRA) return hui_quick(&t, HU_SRA, x, word);
    if (t.round == HU_SRB) return hui_quick(&t, HU_SRB, x, word);
    return hui_quick(&t, HU_SRC, x, word);
  }

  __device__ __forceinline__ int quick(const uint32_t x[4], const uint32_t words[4], Out z[4], hu_counts *c) const {
    uint32_t ok = hui_quick_ok(&t, x[0]) & hui_quick_ok(&t, x[1]) & hui_quick_ok(&t, x[2]) & hui_quick_ok(&t, x[3]);
    if (!t.quick || !ok) return 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t r = rounded(x[i], words[i]);
      c->total[5] += r != x[i]; /* inexact: the only event here */
      z[i] = (Out)(Value ? r : hui_quick_code(&t, r));
    }
    return 1;
  }

  __device__ __forceinline__ void slow(const uint32_t x[4], const uint32_t words[4], Out z[4], hu_counts *c) const {
    uint32_t ok = hui_middle_ok(&t, x[0]) & hui_middle_ok(&t, x[1]) & hui_middle_ok(&t, x[2]) & hui_middle_ok(&t, x[3]);
    if (!t.middle || !ok) {
      hui_one_by_one(*this, x, words, z, c);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = counted(hui_middle_called<Value>(t, x[i], words[i]), c);
  }
};

/* hui_map_launch with fewer blocks: a thread adds up its counts at the end. */
template <class Out, bool Value, int Way, bool Counted>
static hu_status hui_nearest_start(const hu_nearest_op<Out, Value, Way, Counted> &op, size_t n, Out *z, ptrdiff_t incz,
                                   const uint32_t *x, ptrdiff_t incx, void *stream) {
  hu_map_extent e = hui_map_extent_of(n, z, incz, x, incx);
  uint64_t pieces = e.groups / (HU_THREADS * op.unroll) + 1, singles = (n - e.groups * 4) / HU_THREADS + 1;
  auto kernel = hui_map_kernel<hu_nearest_op<Out, Value, Way, Counted>, Out, uint32_t>;
  HU_LAUNCH(kernel, hui_grid_size(pieces > singles ? pieces : singles, 8), 0, stream, op, e, z, x);
  return hui_launched();
}

template <class Out, bool Value, int Way>
static hu_status hui_nearest_launch(const hu_nearest_constants &k, const hu_lane_constants &t, size_t n, Out *z,
                                    ptrdiff_t incz, const float *x, ptrdiff_t incx, const hu_exec *exec,
                                    hu_events *events, void *stream) {
  if (events) {
    hu_nearest_op<Out, Value, Way, true> op = {k, t, hui_exec_stream(exec), events};
    return hui_nearest_start(op, n, z, incz, (const uint32_t *)x, incx, stream);
  }
  hu_nearest_op<Out, Value, Way, false> op = {k, t, hui_exec_stream(exec), NULL};
  return hui_nearest_start(op, n, z, incz, (const uint32_t *)x, incx, stream);
}

template <class To, bool Value>
static hu_status hui_encode_to(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_spec s = hui_spec_of(f, mode);
  typedef typename To::type Out;
  hu_encode_lanes<Out, Value> lanes;
  if (hui_lane_constants_of(&lanes.t, &s)) {
    hu_nearest_constants k;
    Out *out = (Out *)z;
    switch (hui_nearest_of(&k, &lanes.t)) {
      case HU_WAY_PATTERN:
        return hui_nearest_launch<Out, Value, HU_WAY_PATTERN>(k, lanes.t, n, out, incz, x, incx, exec, events, stream);
      case HU_WAY_ANCHOR:
        return hui_nearest_launch<Out, Value, HU_WAY_ANCHOR>(k, lanes.t, n, out, incz, x, incx, exec, events, stream);
      case HU_WAY_STOCHASTIC:
        return hui_nearest_launch<Out, Value, HU_WAY_STOCHASTIC>(k, lanes.t, n, out, incz, x, incx, exec, events,
                                                                 stream);
      default: break;
    }
    lanes.q = hui_addend_of((uint32_t)lanes.t.round, lanes.t.d0);
    hui_set_common(&lanes, mode, exec, events);
    return hui_map_launch(lanes, n, (Out *)z, incz, (const uint32_t *)x, incx, stream);
  }
  hu_from_binary32 from;
  return hui_core_launch<To>(from, n, z, incz, x, incx, f, mode, exec, events, stream);
}

hu_status hu_device_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_status s = hui_check_rounding(f, mode, 1);
  if (s == HU_OK) s = hui_check_arrays(n, z, sizeof *z, incz, x, sizeof *x, incx);
  if (s == HU_OK) s = hui_check_events(events);
  if (s != HU_OK || n == 0) return s;
  return hui_encode_to<hu_to_binary32, true>(n, z, incz, x, incx, f, mode, exec, events, stream);
}

hu_status hu_device_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f,
                             hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_status s = hui_check_rounding(f, mode, 0);
  if (s != HU_OK) return s;
  uint32_t storage = hu_limits_of(f).storage;
  s = hui_check_arrays(n, z, storage / 8, incz, x, sizeof *x, incx);
  if (s == HU_OK) s = hui_check_events(events);
  if (s != HU_OK || n == 0) return s;
  switch (storage) {
    case 8: return hui_encode_to<hu_to_code<uint8_t>, false>(n, z, incz, x, incx, f, mode, exec, events, stream);
    case 16: return hui_encode_to<hu_to_code<uint16_t>, false>(n, z, incz, x, incx, f, mode, exec, events, stream);
    default: return hui_encode_to<hu_to_code<uint32_t>, false>(n, z, incz, x, incx, f, mode, exec, events, stream);
  }
}
