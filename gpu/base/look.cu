/* SPDX-License-Identifier: MIT */
/* gpu/base/look.cu - see look.h. A thread loads 16 words, or codes, of a row before it waits for the first.
 *
 * Bound: contiguous codes are loaded by words and united, some five instructions each. Memory moves 16 bytes, four
 * words, in the clock in which a multiprocessor starts 128 instructions, and is the bound of rows of thousands of
 * words. A block takes at most 4096 words of one row at a time. Shorter rows are bound by these pieces: each takes a
 * warp some hundred instructions, and most of its loads are left out. Codes with a stride, signed ones and the last
 * ones of a row take a load each. */
#include "gpu/base/look.h"

#include <cuda_runtime_api.h>

#include "gpu/base/launch.cuh"
#include "halfulp/device.h"

enum { HU_LOOK_EACH = 16, HU_LOOK_PIECE = HU_LOOK_EACH * HU_THREADS };

/* 1: a kernel has seen such a code since hu_device_synchronize last asked. */
static __device__ unsigned hu_wide_code_seen;

/* 1 once a look was enqueued. It is never cleared, since graphs run looks without the host. */
static int hu_has_looked;

/* Looks at words of codes; `mask` has the bits above the width in each. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_look_words_kernel(const uint32_t *data, size_t rows, size_t words,
                                                              ptrdiff_t pitch, size_t across, uint32_t mask) {
  size_t pieces = across * rows;
  uint32_t all = 0;
  for (size_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    size_t row = rows > 1 ? piece / across : 0, first = (piece - row * across) * HU_LOOK_PIECE + threadIdx.x;
    const uint32_t *at = data + (ptrdiff_t)row * pitch + first;
    size_t left = first < words ? words - first : 0;
#pragma unroll
    for (int k = 0; k < HU_LOOK_EACH; k++) {
      if ((size_t)k * HU_THREADS < left) all |= at[k * HU_THREADS];
    }
  }
  if (all & mask) atomicOr(&hu_wide_code_seen, 1u);
}

HU_DEVICE uint32_t hui_look_code(const uint8_t *at, uint32_t size) {
  if (size == 1) return *at;
  if (size == 2) return *(const uint16_t *)(const void *)at;
  return *(const uint32_t *)(const void *)at;
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_look_kernel(const __grid_constant__ hu_code_area x, size_t across) {
  const uint8_t *data = (const uint8_t *)x.data;
  size_t pieces = across * x.rows;
  uint32_t wrong = 0, size = (uint32_t)x.size;
  for (size_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    size_t row = x.rows > 1 ? piece / across : 0, first = (piece - row * across) * HU_LOOK_PIECE + threadIdx.x;
    const uint8_t *at = data + (ptrdiff_t)row * x.pitch * (ptrdiff_t)size;
#pragma unroll
    for (int k = 0; k < HU_LOOK_EACH; k++) {
      size_t i = first + (size_t)k * HU_THREADS;
      if (i >= x.cols) break;
      wrong |= (uint32_t)!hui_code_fits(&x, hui_look_code(at + (ptrdiff_t)i * x.step * (ptrdiff_t)size, size));
    }
  }
  if (wrong) atomicOr(&hu_wide_code_seen, 1u);
}

static size_t hui_look_pieces(size_t n) { return (n - 1) / HU_LOOK_PIECE + 1; }

/* Can the rows be read by words? */
static int hui_look_has_words(const hu_code_area &x) {
  if (x.is_signed || x.step != 1 || x.cols * x.size < 4) return 0;
  return (uintptr_t)x.data % 4 == 0 && (size_t)x.pitch * x.size % 4 == 0;
}

static void hui_look_at_codes(const hu_code_area &x, void *stream) {
  size_t across = hui_look_pieces(x.cols);
  HU_LAUNCH(hui_look_kernel, hui_grid_size((uint64_t)across * x.rows, 8), 0, stream, x, across);
}

void hui_look_at(hu_code_area x, void *stream) {
  if (!hui_codes_have_room(&x)) return;
  x = hui_code_area_in_order(x);
  __atomic_store_n(&hu_has_looked, 1, __ATOMIC_RELEASE);
  if (!hui_look_has_words(x)) {
    hui_look_at_codes(x, stream);
    return;
  }
  size_t in_word = 4 / x.size, words = x.cols / in_word, across = hui_look_pieces(words);
  uint32_t mask = 0, above = ~(uint32_t)0 >> (32 - 8 * (uint32_t)x.size) & ~(uint32_t)0 << x.width;
  for (size_t i = 0; i < in_word; i++) mask |= above << (8 * x.size * i);
  HU_LAUNCH(hui_look_words_kernel, hui_grid_size((uint64_t)across * x.rows, 8), 0, stream, (const uint32_t *)x.data,
            x.rows, words, x.pitch * (ptrdiff_t)x.size / 4, across, mask);
  if (words * in_word == x.cols) return;
  hu_code_area rest = x;
  rest.data = (const uint8_t *)x.data + words * 4;
  rest.cols = x.cols - words * in_word;
  hui_look_at_codes(rest, stream);
}

static hu_status hui_look_waited(cudaError_t enqueued, cudaStream_t stream) {
  cudaError_t error = enqueued == cudaSuccess ? cudaStreamSynchronize(stream) : enqueued;
  return hui_cuda_said(error);
}

/* Asks in this stream alone, so that other streams and their captures continue. The word does not change until it has
 * been read, and is cleared before the caller can enqueue a further look. */
static hu_status hui_look_answer(cudaStream_t stream) {
  unsigned seen = 0;
  void *word = NULL;
  hu_status status = hui_cuda_said(cudaGetSymbolAddress(&word, hu_wide_code_seen));
  if (status != HU_OK) return status;
  status = hui_look_waited(cudaMemcpyAsync(&seen, word, sizeof seen, cudaMemcpyDeviceToHost, stream), stream);
  if (status != HU_OK || !seen) return status;
  status = hui_look_waited(cudaMemsetAsync(word, 0, sizeof seen, stream), stream);
  return status == HU_OK ? HU_E_CODE : status;
}

hu_status hu_device_synchronize(void *stream) {
  hu_status status = hui_cuda_said(cudaStreamSynchronize((cudaStream_t)stream));
  if (status != HU_OK) return status;
  return __atomic_load_n(&hu_has_looked, __ATOMIC_ACQUIRE) ? hui_look_answer((cudaStream_t)stream) : HU_OK;
}
