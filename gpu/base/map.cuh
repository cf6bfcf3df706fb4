/* SPDX-License-Identifier: MIT */
/* gpu/base/map.cuh - the loop of every element-wise kernel: one read and one write per element.
 *
 * Dense arrays are read four elements at a time, by aligned vectors of 4, 8 or 16 bytes; the elements before the first
 * aligned one, the last n mod 4, and strided arrays are read one at a time. Where z is aligned differently from x, its
 * four elements are stored one at a time. An operation is a struct with
 *
 *   int quick(const In x[4], const uint32_t words[4], Out z[4], hu_counts *counts) const;  four elements, or 0 for none
 *   void slow(const In x[4], const uint32_t words[4], Out z[4], hu_counts *counts) const;  any four elements
 *   Out one(In x, uint32_t word, hu_counts *counts) const;                                 any element
 *   static const int unroll;       vectors that a thread loads before it looks at the first
 *   uint32_t stochastic;           whether it requires random words
 *   hu_stream stream; hu_events *events;                                                   events may be NULL */
#ifndef HALFULP_GPU_MAP_CUH
#define HALFULP_GPU_MAP_CUH

#include "gpu/base/events.cuh"
#include "gpu/base/words.cuh"

template <class T>
struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) hu_four {
  T value[4];
};

/* Elements 0 .. head-1 are taken singly, then `groups` groups of four, then the rest singly. */
typedef struct hu_map_extent {
  size_t n, head, groups;
  ptrdiff_t incz, incx;
  uint32_t z_aligned;
} hu_map_extent;

template <class Out, class In>
static inline hu_map_extent hui_map_extent_of(size_t n, const Out *z, ptrdiff_t incz, const In *x, ptrdiff_t incx) {
  hu_map_extent extent;
  extent.n = n;
  extent.head = 0;
  extent.groups = 0;
  extent.incz = incz;
  extent.incx = incx;
  extent.z_aligned = 0;
  if (incz != 1 || incx != 1) return extent;
  extent.head = (4 - (uintptr_t)x / sizeof(In) % 4) % 4;
  if (extent.head > n) extent.head = n;
  extent.groups = (n - extent.head) / 4;
  /* hu_four<double> must lie at a multiple of 16 bytes, as four aligned elements do. */
  extent.z_aligned = (uintptr_t)(z + extent.head) % alignof(hu_four<Out>) == 0;
  return extent;
}

/* Stores one aligned vector. On a device the instruction is named, since nvcc merges a plain assignment with the single
 * stores of the other branch, and then stores singly. */
template <class Out>
HU_DEVICE void hui_store_vector(Out *z, const hu_four<Out> &out) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Out) == 4) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(z)), "r"(out.value[0]),
                 "r"(out.value[1]), "r"(out.value[2]), "r"(out.value[3])
                 : "memory");
    return;
  }
#endif
  *(hu_four<Out> *)z = out;
}

template <class Out>
HU_DEVICE void hui_store_four(const hu_map_extent &extent, Out *z, size_t first, const hu_four<Out> &out) {
  if (extent.z_aligned) {
    hui_store_vector(z + first, out);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) z[first + i] = out.value[i];
}

/* Treats one vector; returns 0 if hui_map_slow has to. */
template <class Op, class Out, class In>
HU_DEVICE int hui_map_quick(const Op &op, const hu_map_extent &extent, Out *z, size_t group, const hu_four<In> &in,
                            hu_counts *counts) {
  hu_four<Out> out;
  uint32_t words[4] = {0, 0, 0, 0};
  size_t first = extent.head + group * 4;
  if (op.stochastic) hui_words(op.stream, first, words);
  if (!op.quick(in.value, words, out.value, counts)) return 0;
  hui_store_four(extent, z, first, out);
  return 1;
}

template <class Op, class Out, class In>
HU_DEVICE void hui_map_slow(const Op &op, const hu_map_extent &extent, Out *z, size_t group, const hu_four<In> &in,
                            hu_counts *counts) {
  hu_four<Out> out;
  uint32_t words[4] = {0, 0, 0, 0};
  size_t first = extent.head + group * 4;
  if (op.stochastic) hui_words(op.stream, first, words);
  op.slow(in.value, words, out.value, counts);
  hui_store_four(extent, z, first, out);
}

/* Makes a slow() of one(), so that the long code is there once. */
template <class Op, class Out, class In>
HU_DEVICE void hui_one_by_one(const Op &op, const In x[4], const uint32_t words[4], Out z[4], hu_counts *counts) {
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    In element = i == 0 ? x[0] : i == 1 ? x[1] : i == 2 ? x[2] : x[3];
    uint32_t word = i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : words[3];
    Out result = op.one(element, word, counts);
#pragma unroll
    for (int j = 0; j < 4; j++) z[j] = i == j ? result : z[j];
  }
}

template <class Op, class Out, class In>
HU_DEVICE void hui_map(const Op &op, const hu_map_extent &extent, Out *z, const In *x) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t group = (size_t)blockIdx.x * (HU_THREADS * Op::unroll) + threadIdx.x; group < extent.groups;
       group += step * Op::unroll) {
    hu_four<In> in[Op::unroll];
#pragma unroll
    for (int i = 0; i < Op::unroll; i++)
      if (group + i * HU_THREADS < extent.groups)
        in[i] = *(const hu_four<In> *)(x + extent.head + (group + i * HU_THREADS) * 4);
    uint32_t slow = 0;
#pragma unroll
    for (int i = 0; i < Op::unroll; i++)
      if (group + i * HU_THREADS < extent.groups &&
          !hui_map_quick(op, extent, z, group + i * HU_THREADS, in[i], &counts))
        slow |= 1u << i;
    while (slow) {
      int i = __ffs((int)slow) - 1;
      hu_four<In> four = in[0];
#pragma unroll
      for (int j = 1; j < Op::unroll; j++)
        if (i == j) four = in[j];
      hui_map_slow(op, extent, z, group + (size_t)i * HU_THREADS, four, &counts);
      slow &= slow - 1;
    }
  }
  size_t singles = extent.n - extent.groups * 4;
  for (size_t single = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; single < singles; single += step) {
    size_t i = single < extent.head ? single : single + extent.groups * 4;
    uint32_t word = op.stochastic ? hui_word(op.stream, i) : 0;
    z[(ptrdiff_t)i * extent.incz] = op.one(x[(ptrdiff_t)i * extent.incx], word, &counts);
  }
  if (op.events) hui_counts_flush(&counts, op.events, sums);
}

template <class Op, class Out, class In>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_map_kernel(const __grid_constant__ Op op, const __grid_constant__ hu_map_extent extent, Out *z, const In *x) {
  hui_map(op, extent, z, x);
}

template <class Op, class Out, class In>
static inline hu_status hui_map_launch(const Op &op, size_t n, Out *z, ptrdiff_t incz, const In *x, ptrdiff_t incx,
                                       void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, z, incz, x, incx);
  uint64_t pieces = extent.groups / (HU_THREADS * Op::unroll) + 1, singles = (n - extent.groups * 4) / HU_THREADS + 1;
  auto kernel = hui_map_kernel<Op, Out, In>;
  HU_LAUNCH(kernel, hui_grid_size(pieces > singles ? pieces : singles, 16), 0, stream, op, extent, z, x);
  return hui_launched();
}

#endif
