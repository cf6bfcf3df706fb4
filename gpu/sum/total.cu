/* SPDX-License-Identifier: MIT */
/* gpu/sum/total.cu - the exact sum of a whole array, added to one record.
 *
 * Each thread has a sum of its own with the narrow range of its terms. Lanes of a warp, then the warps of a block merge
 * theirs, and the block adds its sum to the record. All of this is addition of integers, so that the order of threads
 * and blocks does not affect the result.
 *
 * Blocks add to the record's words at the same time, by atomic additions. Each returns the word before it, which shows
 * whether this addition carried out of the word; the carry is then added to the next word. The sum of words, times
 * their places, and of carries not yet added is right after every addition. When the last block is done, all carries
 * have been added, and the words are the digits of the sum, which are unique.
 *
 * Bound: a term of bfloat16 takes some 250 instructions (docs/device.md), so that a multiprocessor, which starts 128 in
 * a clock, adds 0.5. Memory moves 16 bytes in that clock, 8 terms of 2 bytes: issue slots are the bound. */
#include "emu/base/array_extent.h"
#include "gpu/base/look.h"
#include "gpu/sum/sum.cuh"

enum { HU_TOTAL_WARPS = HU_THREADS / 32, HU_TOTAL_TERMS = 16 }; /* terms for which another thread is worthwhile */

typedef struct hu_device_total {
  size_t n;
  hu_sum_range range;
  hu_sum *sum;
} hu_device_total;

/* Adds to word k of the record, or subtracts from it, and propagates the carry. */
HU_DEVICE void hui_total_add_word(hu_sum *sum, int32_t k, uint64_t add, uint32_t sign) {
  for (; add && k < HU_SUM_WORDS; k++) {
    uint64_t old = atomicAdd((unsigned long long *)&sum->word[k], (unsigned long long)(sign ? 0 - add : add));
    add = sign ? old < add : old + add < add;
  }
}

/* Adds a block's sum to the record. */
static __device__ __noinline__ void hui_total_add(hu_sum *sum, hu_sum_range range, const uint64_t *word) {
  int32_t words = (int32_t)range.words, first = 0;
  uint32_t sign = (uint32_t)(word[words - 1] >> 63);
  while (first < words && word[first] == 0) first++;
  for (int32_t k = first; k < words; k++) {
    uint64_t digits = hui_digits_magnitude(word, k, first, sign);
    int32_t at = range.low - HU_SUM_LOW + 64 * k, up = at % 64;
    hui_total_add_word(sum, at / 64, digits << up, sign);
    if (up) hui_total_add_word(sum, at / 64 + 1, digits >> (64 - up), sign);
  }
}

/* Gives lane 0 the sum of the warp's sums. */
static __device__ __noinline__ void hui_total_merge_lanes(uint64_t *word, int32_t words) {
  uint64_t other[HU_SUM_WORDS];
#pragma unroll 1
  for (unsigned by = 16; by > 0; by /= 2) {
#pragma unroll 1
    for (int32_t k = 0; k < words; k++) other[k] = __shfl_down_sync(HU_ALL_LANES, (unsigned long long)word[k], by);
    hui_digits_merge(word, words, other);
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_sum_total_kernel(const __grid_constant__ hu_device_total call, const __grid_constant__ hu_device_terms source) {
  __shared__ uint64_t parts[HU_TOTAL_WARPS][HU_SUM_WORDS];
  __shared__ unsigned terms;
  uint64_t mine[HU_SUM_WORDS];
  int32_t words = (int32_t)call.range.words;
  uint32_t seen = 0, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll 1
  for (int32_t k = 0; k < words; k++) mine[k] = 0;
  if (threadIdx.x == 0) terms = 0;
  __syncthreads();
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < call.n; i += step)
    seen |= hui_device_add_term(mine, call.range, source, i);
  hui_total_merge_lanes(mine, words);
  seen = __reduce_or_sync(HU_ALL_LANES, seen);
  if (lane == 0) {
    for (int32_t k = 0; k < words; k++) parts[warp][k] = mine[k];
    atomicOr(&terms, seen);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (uint32_t k = 1; k < HU_TOTAL_WARPS; k++) hui_digits_merge(parts[0], words, parts[k]);
  hui_total_add(call.sum, call.range, parts[0]);
  atomicOr(&call.sum->terms, terms);
}

/* ---- calls ---- */

/* Checks that the record is aligned and does not overlap what is read; n >= 1. */
static hu_status hui_total_check(const hu_sum *sum, size_t n, const hu_view *x) {
  hu_covered record, codes;
  hu_strided words = {sum, sizeof(uint64_t), 1}, all = {x->data, hui_code_bytes(x->type.format), x->stride};
  hu_status status = hui_cover(&record, sizeof *sum / sizeof(uint64_t), &words);
  if (status == HU_OK) status = hui_cover(&codes, n, &all);
  if (status != HU_OK) return status;
  return hui_may_share(&words, &record, &all, &codes) ? HU_OK : HU_E_OVERLAP;
}

hu_status hui_cuda_sum_total(hu_sum *sum, size_t n, const hu_view *x, int operands, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_sum_check_total(sum, n, x, operands);
  for (int k = 0; n && k < operands && status == HU_OK; k++) status = hui_total_check(sum, n, &x[k]);
  if (status != HU_OK || n == 0) return status;
  for (int k = 0; k < operands; k++)
    hui_look_at(hui_code_array_of(n, x[k].data, x[k].stride, x[k].type.format), stream);
  hu_device_total call;
  memset(&call, 0, sizeof call);
  call.n = n;
  call.range =
      operands > 1 ? hu_sum_range_of_product(x[0].type.format, x[1].type.format) : hu_sum_range_of(x[0].type.format);
  call.sum = sum;
  HU_LAUNCH(hui_sum_total_kernel, hui_grid_size(n / (HU_THREADS * HU_TOTAL_TERMS) + 1, 8), 0, stream, call,
            hui_device_terms_of(x, operands));
  return hui_launched();
}
