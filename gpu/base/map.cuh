/* SPDX-License-Identifier: MIT */
/* gpu/base/map.cuh - the loop of every element-wise kernel: one read and one write per element.
 *
 * Dense arrays go four elements at a time through vectors of 4, 8 or 16 bytes, aligned on the reading side; the
 * elements before the first aligned one, the last n mod 4, and strided arrays go one at a time. Where z is aligned
 * differently from x its four elements are stored singly. An operation is a struct with
 *
 *   int quick(const In x[4], const uint32_t words[4], Out z[4], hu_counts *c) const;  four elements, or 0: not these
 *   void slow(const In x[4], const uint32_t words[4], Out z[4], hu_counts *c) const;  any four elements
 *   Out one(In x, uint32_t word, hu_counts *c) const;                                 any element
 *   static const int unroll;       vectors that a thread loads before it looks at the first
 *   uint32_t stochastic;           whether it requires random words
 *   hu_stream stream; hu_events *events;                                              events may be NULL */
#ifndef HALFULP_GPU_MAP_CUH
#define HALFULP_GPU_MAP_CUH

#include "gpu/base/events.cuh"
#include "gpu/base/words.cuh"

template <class T>
struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) hu_four {
  T v[4];
};

/* Which elements go which way: elements 0 .. head-1 singly, then `groups` fours, then the rest singly. */
typedef struct hu_map_extent {
  size_t n, head, groups;
  ptrdiff_t incz, incx;
  uint32_t z_aligned;
} hu_map_extent;

template <class Out, class In>
static inline hu_map_extent hui_map_extent_of(size_t n, const Out *z, ptrdiff_t incz, const In *x, ptrdiff_t incx) {
  hu_map_extent e;
  e.n = n;
  e.head = 0;
  e.groups = 0;
  e.incz = incz;
  e.incx = incx;
  e.z_aligned = 0;
  if (incz != 1 || incx != 1) return e;
  e.head = (4 - (uintptr_t)x / sizeof(In) % 4) % 4;
  if (e.head > n) e.head = n;
  e.groups = (n - e.head) / 4;
  /* hu_four<double> requires 16 bytes, which four elements' alignment gives. */
  e.z_aligned = (uintptr_t)(z + e.head) % alignof(hu_four<Out>) == 0;
  return e;
}

/* One vector, aligned. By name on a device: nvcc merges a plain assignment with the single stores of the other branch,
 * and then stores singly. */
template <class Out>
HU_DEVICE void hui_store_vector(Out *z, const hu_four<Out> &out) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Out) == 4) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(z)), "r"(out.v[0]),
                 "r"(out.v[1]), "r"(out.v[2]), "r"(out.v[3])
                 : "memory");
    return;
  }
#endif
  *(hu_four<Out> *)z = out;
}

template <class Out>
HU_DEVICE void hui_store_four(const hu_map_extent &e, Out *z, size_t first, const hu_four<Out> &out) {
  if (e.z_aligned) {
    hui_store_vector(z + first, out);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) z[first + i] = out.v[i];
}

/* One vector; 0 if it has to go the slow way. */
template <class Op, class Out, class In>
HU_DEVICE int hui_map_quick(const Op &op, const hu_map_extent &e, Out *z, size_t group, const hu_four<In> &in,
                            hu_counts *c) {
  hu_four<Out> out;
  uint32_t words[4] = {0, 0, 0, 0};
  size_t first = e.head + group * 4;
  if (op.stochastic) hui_words(op.stream, first, words);
  if (!op.quick(in.v, words, out.v, c)) return 0;
  hui_store_four(e, z, first, out);
  return 1;
}

template <class Op, class Out, class In>
HU_DEVICE void hui_map_slow(const Op &op, const hu_map_extent &e, Out *z, size_t group, const hu_four<In> &in,
                            hu_counts *c) {
  hu_four<Out> out;
  uint32_t words[4] = {0, 0, 0, 0};
  size_t first = e.head + group * 4;
  if (op.stochastic) hui_words(op.stream, first, words);
  op.slow(in.v, words, out.v, c);
  hui_store_four(e, z, first, out);
}

/* slow() by one(): the long code is there once. */
template <class Op, class Out, class In>
HU_DEVICE void hui_one_by_one(const Op &op, const In x[4], const uint32_t words[4], Out z[4], hu_counts *c) {
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    In u = i == 0 ? x[0] : i == 1 ? x[1] : i == 2 ? x[2] : x[3];
    uint32_t w = i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : words[3];
    Out r = op.one(u, w, c);
#pragma unroll
    for (int j = 0; j < 4; j++) z[j] = i == j ? r : z[j];
  }
}

template <class Op, class Out, class In>
HU_DEVICE void hui_map(const Op &op, const hu_map_extent &e, Out *z, const In *x) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts c;
  hui_counts_clear(&c);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t g = (size_t)blockIdx.x * (HU_THREADS * Op::unroll) + threadIdx.x; g < e.groups; g += step * Op::unroll) {
    hu_four<In> in[Op::unroll];
#pragma unroll
    for (int i = 0; i < Op::unroll; i++)
      if (g + i * HU_THREADS < e.groups) in[i] = *(const hu_four<In> *)(x + e.head + (g + i * HU_THREADS) * 4);
    uint32_t slow = 0;
#pragma unroll
    for (int i = 0; i < Op::unroll; i++)
      if (g + i * HU_THREADS < e.groups && !hui_map_quick(op, e, z, g + i * HU_THREADS, in[i], &c)) slow |= 1u << i;
    while (slow) {
      int i = __ffs((int)slow) - 1;
      hu_four<In> v = in[0];
#pragma unroll
      for (int j = 1; j < Op::unroll; j++)
        if (i == j) v = in[j];
      hui_map_slow(op, e, z, g + (size_t)i * HU_THREADS, v, &c);
      slow &= slow - 1;
    }
  }
  size_t singles = e.n - e.groups * 4;
  for (size_t s = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; s < singles; s += step) {
    size_t i = s < e.head ? s : s + e.groups * 4;
    uint32_t word = op.stochastic ? hui_word(op.stream, i) : 0;
    z[(ptrdiff_t)i * e.incz] = op.one(x[(ptrdiff_t)i * e.incx], word, &c);
  }
  if (op.events) hui_counts_flush(&c, op.events, sums);
}

template <class Op, class Out, class In>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_map_kernel(const __grid_constant__ Op op, const __grid_constant__ hu_map_extent e, Out *z, const In *x) {
  hui_map(op, e, z, x);
}

template <class Op, class Out, class In>
static inline hu_status hui_map_launch(const Op &op, size_t n, Out *z, ptrdiff_t incz, const In *x, ptrdiff_t incx,
                                       void *stream) {
  hu_map_extent e = hui_map_extent_of(n, z, incz, x, incx);
  uint64_t pieces = e.groups / (HU_THREADS * Op::unroll) + 1, singles = (n - e.groups * 4) / HU_THREADS + 1;
  auto kernel = hui_map_kernel<Op, Out, In>;
  HU_LAUNCH(kernel, hui_grid_size(pieces > singles ? pieces : singles, 16), 0, stream, op, e, z, x);
  return hui_launched();
}

#endif
