/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_eights.cu - codes of blocks of 16, 32, 64 or 128 along rows that lie one after another, under
 * scales that are powers of two: a thread has eight neighbours, and 2, 4, 8 or 16 threads a block.
 *
 * The threads of a block exchange its amax by shuffles, and each of them makes the scale again, which takes fewer
 * instructions than passing it on. (Ratios take divisions; there it is the other way round, and quantize_rows.cu is
 * faster.) The first of them stores it. Two loads of 16 bytes for each thread are on their way
 * while others are treated.
 *
 * Counted from the machine code for compute capability 9.0 (docs/device.md), eight elements of MX take some 130
 * instructions of a warp, 16 for each element and lane. */
#include "gpu/scaled/rows.cuh"

enum { HU_EIGHTS_AHEAD = 2 };

/* Blocks of threads that a multiprocessor holds at once. With three of them ptxas spills for compute capability 10. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
enum { HU_EIGHTS_BLOCKS = 2 };
#else
enum { HU_EIGHTS_BLOCKS = 3 };
#endif

struct alignas(8) hu_eight_bytes {
  uint32_t x, y;
};

typedef struct hu_eight {
  hu_four<uint32_t> x[2];
} hu_eight;

HU_DEVICE hu_eight hu_eight_load(const hu_scaled_args &a, size_t g, size_t groups) {
  hu_eight e;
#pragma unroll
  for (int i = 0; i < 8; i++) e.x[i / 4].v[i % 4] = 0;
  if (g >= groups) return e;
  e.x[0] = *(const hu_four<uint32_t> *)(const void *)(a.x + 8 * g);
  e.x[1] = *(const hu_four<uint32_t> *)(const void *)(a.x + 8 * g + 4);
  return e;
}

/* The word of a block with infinities or NaN: what counts of its elements, and a mark. Every lane must come here. */
static __device__ __noinline__ uint32_t hu_eight_special(const hu_scaled_args &a, uint32_t lanes, uint32_t top,
                                                         size_t g, size_t groups) {
  uint32_t limited = 0;
  for (size_t i = 8 * g; g < groups && i < 8 * g + 8; i++)
    limited = hu_larger_magnitude(limited, hu_limited(a, a.x[i]));
  for (uint32_t d = 1; d < lanes; d <<= 1)
    limited = hu_larger_magnitude(limited, __shfl_xor_sync(HU_ALL_LANES, limited, (int)d));
  return top >= 0x7F800000 ? limited | HU_SPECIAL_BLOCK : top;
}

/* The largest magnitude of the block, in all its lanes, or its marked word. */
HU_DEVICE uint32_t hu_eight_top(const hu_scaled_args &a, const hu_eight &e, uint32_t lanes, size_t g, size_t groups) {
  uint32_t top = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) top = hu_larger_magnitude(top, e.x[i / 4].v[i % 4]);
#pragma unroll
  for (uint32_t d = 1; d < 16; d <<= 1) {
    if (d >= lanes) break;
    top = hu_larger_magnitude(top, __shfl_xor_sync(HU_ALL_LANES, top, (int)d));
  }
  if (__any_sync(HU_ALL_LANES, top >= 0x7F800000)) top = hu_eight_special(a, lanes, top, g, groups);
  return top;
}

/* Codes of four neighbours from column col on; not those of a block that is the core's. */
template <bool Added>
HU_DEVICE uint32_t hu_eight_codes(const hu_scaled_args &a, const hu_element_way &w, uint32_t top, size_t col,
                                  hu_four<uint32_t> x, hu_row_counts *r) {
  uint32_t words[4] = {0, 0, 0, 0};
  if (Added) hu_words(a.stream, col, words);
  return hu_row_nearest<false, true, Added>(a, w, top, &x, words, r);
}

/* Every lane of the warp must come here. log: of a block's lanes. */
template <bool Added>
HU_DEVICE void hu_eight_store(const hu_scaled_args &a, hu_row_memory *k, uint32_t log, size_t g, size_t groups,
                              const hu_eight &e, hu_row_counts *r, hu_counts *c) {
  uint32_t top = hu_eight_top(a, e, 1u << log, g, groups);
  if (g >= groups) return;
  uint32_t special = top & HU_SPECIAL_BLOCK;
  hu_element_way w = hu_element_way_of(a, k->t, special ? 0x7F800000 : top, top & ~HU_SPECIAL_BLOCK);
  bool core = w.kind == HU_ELEMENT_WAY_CORE;
  if ((g & ((1u << log) - 1)) == 0)
    hu_code_put(a.scales, a.scale_size, g >> log, core ? hu_row_core(k, top)->code : w.code);
  if (!Added && core) {
    hu_row_left<false>(a, k, top, 0, 8 * g);
    hu_row_left<false>(a, k, top, 0, 8 * g + 4);
    return;
  }
  hu_eight_bytes codes;
  if (!Added || hu_row_may_add(a, w)) {
    codes.x = hu_eight_codes<Added>(a, w, top, 8 * g, e.x[0], r);
    codes.y = hu_eight_codes<Added>(a, w, top, 8 * g + 4, e.x[1], r);
  } else {
    hu_four<uint32_t> x = e.x[0];
    codes.x = hu_row_singly<false>(a, k, w, top, 8 * g, 4, &x, c);
    x = e.x[1];
    codes.y = hu_row_singly<false>(a, k, w, top, 8 * g + 4, 4, &x, c);
  }
  *(hu_eight_bytes *)(void *)(a.codes + 8 * g) = codes;
}

template <bool Added>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_EIGHTS_BLOCKS)
    hu_scaled_eights_kernel(const __grid_constant__ hu_scaled_args a) {
  __shared__ hu_row_memory k;
  hu_row_counts r;
  hu_counts c;
  hu_row_begin(a, &k, &r, &c);
  uint32_t log = a.span_log - 1; /* of four elements a lane there */
  size_t groups = a.cols / 8, step = (size_t)gridDim.x * (HU_THREADS * HU_EIGHTS_AHEAD);
  /* Warps go through it together. */
  for (size_t first = (size_t)blockIdx.x * (HU_THREADS * HU_EIGHTS_AHEAD) + threadIdx.x; (first & ~(size_t)31) < groups;
       first += step) {
    hu_eight e[HU_EIGHTS_AHEAD];
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++) e[i] = hu_eight_load(a, first + i * HU_THREADS, groups);
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++)
      hu_eight_store<Added>(a, &k, log, first + i * HU_THREADS, groups, e[i], &r, &c);
    if (!Added && a.events && ++r.strips == 60 / HU_EIGHTS_AHEAD) hu_row_counts_add_up(&r, k.sums);
  }
  if (a.events) hu_row_counts_flush(&r, a.events, k.sums);
}

int hu_scaled_eights_serves(const hu_scaled_args *a) {
  return hu_scaled_rows_serves(a) && !a->z && a->scales && a->rows == 1 && a->cols % 8 == 0 && a->x_vectors &&
         (uintptr_t)a->codes % 8 == 0 && a->scaler.steps == HU_STEPS_EXACT && a->scaler.rule != HU_SCALE_RATIO &&
         (a->nearest || a->added);
}

hu_status hu_scaled_eights_launch(const hu_scaled_args *a, void *stream) {
  auto kernel = a->added ? hu_scaled_eights_kernel<true> : hu_scaled_eights_kernel<false>;
  HU_LAUNCH(kernel, hu_grid_size(a->cols / (8 * HU_THREADS * HU_EIGHTS_AHEAD) + 1, 3), 0, stream, *a);
  return hu_launched();
}
