/* SPDX-License-Identifier: MIT */
/* gpu/base/core_op.cuh - the operation of map.cuh that goes through emu/core/round.h for every element. */
#ifndef HALFULP_GPU_CORE_OP_CUH
#define HALFULP_GPU_CORE_OP_CUH

#include "emu/base/exec.h"
#include "emu/core/round.h"
#include "gpu/base/map.cuh"
#include "halfulp/array.h"

/* Returns R of an element, the high `bits` bits of its word; deterministic modes do not read it. */
HU_DEVICE uint32_t hui_random_of(const hu_spec &spec, uint32_t word) { return word >> ((32u - spec.bits) & 31u); }

/* What an element is read from ... */
struct hu_from_binary32 {
  typedef uint32_t type;
  __device__ __forceinline__ hu_num operator()(uint32_t x) const { return hui_unpack32(x); }
};
struct hu_from_binary64 {
  typedef uint64_t type;
  __device__ __forceinline__ hu_num operator()(uint64_t x) const { return hui_unpack64(x); }
};
template <class In>
struct hu_from_code {
  typedef In type;
  hu_spec spec;
  __device__ __forceinline__ hu_num operator()(In x) const { return hui_unpack(&spec, x); }
};

/* ... and what becomes of its code. */
template <class Out>
struct hu_to_code {
  typedef Out type;
  HU_DEVICE Out of(const hu_spec &, uint32_t code) { return (Out)code; }
};
struct hu_to_binary32 {
  typedef uint32_t type;
  HU_DEVICE uint32_t of(const hu_spec &spec, uint32_t code) { return hui_pack32(hui_unpack(&spec, code)); }
};
struct hu_to_binary64 {
  typedef uint64_t type;
  HU_DEVICE uint64_t of(const hu_spec &spec, uint32_t code) { return hui_pack64(hui_unpack(&spec, code)); }
};

/* Returns the code of hui_round in the low half, its events in the high half. It is called, not inlined, so that the
 * kernels of a file share its long code. */
static __device__ __noinline__ uint64_t hui_round_called(const hu_spec &spec, hu_num x, uint32_t random) {
  uint32_t events, code = hui_round(&spec, x, random, &events);
  return (uint64_t)events << 32 | code;
}

template <class From, class To>
struct hu_core_op {
  typedef typename From::type In;
  typedef typename To::type Out;
  static const int unroll = 1;
  From from;
  hu_spec spec;
  uint32_t stochastic;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(In x, uint32_t word, hu_counts *counts) const {
    uint64_t z = hui_round_called(spec, from(x), hui_random_of(spec, word));
    if (events) hui_counts_add(counts, (uint32_t)(z >> 32));
    return To::of(spec, (uint32_t)z);
  }

  __device__ __forceinline__ int quick(const In[4], const uint32_t[4], Out[4], hu_counts *) const { return 0; }

  __device__ __forceinline__ void slow(const In x[4], const uint32_t words[4], Out z[4], hu_counts *counts) const {
    hui_one_by_one(*this, x, words, z, counts);
  }
};

template <class Op>
static inline void hui_set_common(Op *op, hu_mode mode, const hu_exec *exec, hu_events *events) {
  op->stochastic = mode.round >= HU_SRA;
  op->stream = hui_exec_stream(exec);
  op->events = events;
}

template <class To, class From>
static inline hu_status hui_core_launch(const From &from, size_t n, void *z, ptrdiff_t incz, const void *x,
                                        ptrdiff_t incx, hu_format format, hu_mode mode, const hu_exec *exec,
                                        hu_events *events, void *stream) {
  hu_core_op<From, To> op;
  op.from = from;
  op.spec = hui_spec_of(format, mode);
  hui_set_common(&op, mode, exec, events);
  return hui_map_launch(op, n, (typename To::type *)z, incz, (const typename From::type *)x, incx, stream);
}

#endif
