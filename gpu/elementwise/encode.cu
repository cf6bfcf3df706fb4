/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/encode.cu - binary32 to grid values or codes: by lanes where emu/simd/round.h can, else by the
 * core.
 *
 * Bound of the functions of emu/simd/round.h (nearest.cuh has its own): an element takes some 59 instructions
 * (docs/device.md), so that a multiprocessor, which starts 128 in a clock, rounds 2.2. Memory moves 16 bytes in that
 * clock, 3.2 elements of 5 bytes, 2 of 8: issue slots are the bound of codes, memory is that of values. The core takes
 * some 300. */
#include "gpu/base/core_op.cuh"
#include "gpu/base/lanes.cuh"
#include "gpu/elementwise/convert.cuh"

/* Rounds any element: returns the grid value's bits (Value) or the code in the low half, the events in the high half.
 * It is called, not inlined, so that quick() keeps the registers by which a thread loads many vectors ahead. */
template <bool Value>
static __device__ __noinline__ uint64_t hui_lanes_called(const hu_lane_constants &lanes, uint32_t x, uint32_t word) {
  hu_lanes_result rounded = hui_lanes_round(&lanes, x, word);
  return (uint64_t)hui_lanes_events(rounded) << 32 | (Value ? rounded.value : rounded.code);
}

#include "gpu/elementwise/nearest.cuh"

/* Does the same for an element that hui_middle_ok accepts. */
template <bool Value>
static __device__ __noinline__ uint64_t hui_middle_called(const hu_lane_constants &lanes, uint32_t x, uint32_t word) {
  hu_middle_lanes middle = hui_middle_lanes_of(&lanes);
  hu_middle_result rounded =
      hui_middle(&lanes, &middle, lanes.round, lanes.way.middle, x, hui_middle_operand(&lanes, x), word);
  uint32_t events = rounded.result != rounded.operand
                        ? HU_EVENT_INEXACT | (rounded.probe < rounded.limit ? HU_EVENT_UNDERFLOW : 0)
                        : 0;
  if (rounded.result == 0 && rounded.operand != 0) events |= HU_EVENT_TO_ZERO;
  if (rounded.result != 0 && rounded.result < middle.bottom) events |= HU_EVENT_SUBNORMAL;
  return (uint64_t)events << 32 | (Value ? rounded.value : rounded.code);
}

/* Value: the result is the grid value's bits (Out uint32_t), else the code. */
template <class Out, bool Value>
struct hu_encode_lanes {
  static const int unroll = 4;
  hu_lane_constants lanes;
  hu_addend addend;
  uint32_t stochastic;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out counted(uint64_t z, hu_counts *counts) const {
    if (events) hui_counts_add(counts, (uint32_t)(z >> 32));
    return (Out)(uint32_t)z;
  }

  __device__ __forceinline__ Out one(uint32_t x, uint32_t word, hu_counts *counts) const {
    return counted(hui_lanes_called<Value>(lanes, x, word), counts);
  }

  __device__ __forceinline__ uint32_t rounded(uint32_t x, uint32_t word) const {
    if (!stochastic) return hui_quick_stepped(lanes, addend, x);
    if (lanes.round == HU_SRA) return hui_quick(&lanes, HU_SRA, x, word);
    if (lanes.round == HU_SRB) return hui_quick(&lanes, HU_SRB, x, word);
    return hui_quick(&lanes, HU_SRC, x, word);
  }

  __device__ __forceinline__ int quick(const uint32_t x[4], const uint32_t words[4], Out z[4],
                                       hu_counts *counts) const {
    uint32_t ok = hui_quick_ok(&lanes, x[0]) & hui_quick_ok(&lanes, x[1]) & hui_quick_ok(&lanes, x[2]) &
                  hui_quick_ok(&lanes, x[3]);
    if (!lanes.way.quick || !ok) return 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t value = rounded(x[i], words[i]);
      counts->total[5] += value != x[i]; /* inexact: the only event here */
      z[i] = (Out)(Value ? value : hui_quick_code(&lanes, value));
    }
    return 1;
  }

  __device__ __forceinline__ void slow(const uint32_t x[4], const uint32_t words[4], Out z[4],
                                       hu_counts *counts) const {
    uint32_t ok = hui_middle_ok(&lanes, x[0]) & hui_middle_ok(&lanes, x[1]) & hui_middle_ok(&lanes, x[2]) &
                  hui_middle_ok(&lanes, x[3]);
    if (!lanes.way.middle || !ok) {
      hui_one_by_one(*this, x, words, z, counts);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = counted(hui_middle_called<Value>(lanes, x[i], words[i]), counts);
  }
};

/* Starts the kernel as hui_map_launch does, with fewer blocks, since a thread adds up its counts at the end. */
template <class Out, bool Value, int Way, bool Counted>
static hu_status hui_nearest_start(const hu_nearest_op<Out, Value, Way, Counted> &op, size_t n, Out *z, ptrdiff_t incz,
                                   const uint32_t *x, ptrdiff_t incx, void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, z, incz, x, incx);
  uint64_t pieces = extent.groups / (HU_THREADS * op.unroll) + 1, singles = (n - extent.groups * 4) / HU_THREADS + 1;
  auto kernel = hui_map_kernel<hu_nearest_op<Out, Value, Way, Counted>, Out, uint32_t>;
  HU_LAUNCH(kernel, hui_grid_size(pieces > singles ? pieces : singles, 8), 0, stream, op, extent, z, x);
  return hui_launched();
}

template <class Out, bool Value, int Way>
static hu_status hui_nearest_launch(const hu_nearest_constants &constants, const hu_lane_constants &lanes, size_t n,
                                    Out *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, const hu_exec *exec,
                                    hu_events *events, void *stream) {
  if (events) {
    hu_nearest_op<Out, Value, Way, true> op = {constants, lanes, hui_exec_stream(exec), events};
    return hui_nearest_start(op, n, z, incz, (const uint32_t *)x, incx, stream);
  }
  hu_nearest_op<Out, Value, Way, false> op = {constants, lanes, hui_exec_stream(exec), NULL};
  return hui_nearest_start(op, n, z, incz, (const uint32_t *)x, incx, stream);
}

template <class To, bool Value>
static hu_status hui_encode_to(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format format,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_spec spec = hui_spec_of(format, mode);
  typedef typename To::type Out;
  hu_encode_lanes<Out, Value> op;
  if (hui_lane_constants_of(&op.lanes, &spec)) {
    hu_nearest_constants constants;
    Out *out = (Out *)z;
    switch (hui_nearest_of(&constants, &op.lanes)) {
      case HU_WAY_PATTERN:
        return hui_nearest_launch<Out, Value, HU_WAY_PATTERN>(constants, op.lanes, n, out, incz, x, incx, exec, events,
                                                              stream);
      case HU_WAY_ANCHOR:
        return hui_nearest_launch<Out, Value, HU_WAY_ANCHOR>(constants, op.lanes, n, out, incz, x, incx, exec, events,
                                                             stream);
      case HU_WAY_STOCHASTIC:
        return hui_nearest_launch<Out, Value, HU_WAY_STOCHASTIC>(constants, op.lanes, n, out, incz, x, incx, exec,
                                                                 events, stream);
      default: break;
    }
    op.addend = hui_addend_of((uint32_t)op.lanes.round, op.lanes.d0);
    hui_set_common(&op, mode, exec, events);
    return hui_map_launch(op, n, (Out *)z, incz, (const uint32_t *)x, incx, stream);
  }
  hu_from_binary32 from;
  return hui_core_launch<To>(from, n, z, incz, x, incx, format, mode, exec, events, stream);
}

hu_status hui_encode32_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  const float *from = (const float *)x.data;
  hu_format format = z.type.format;
  if (z.type.kind == HU_TYPE_VALUES32)
    return hui_encode_to<hu_to_binary32, true>(n, z.data, z.stride, from, x.stride, format, how.mode, how.exec,
                                               how.events, stream);
  switch (hui_code_bytes(format)) {
    case 1:
      return hui_encode_to<hu_to_code<uint8_t>, false>(n, z.data, z.stride, from, x.stride, format, how.mode, how.exec,
                                                       how.events, stream);
    case 2:
      return hui_encode_to<hu_to_code<uint16_t>, false>(n, z.data, z.stride, from, x.stride, format, how.mode, how.exec,
                                                        how.events, stream);
    default:
      return hui_encode_to<hu_to_code<uint32_t>, false>(n, z.data, z.stride, from, x.stride, format, how.mode, how.exec,
                                                        how.events, stream);
  }
}
