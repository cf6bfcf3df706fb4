/* SPDX-License-Identifier: MIT */
/* gpu/scaled/hadamard.cu - the random Hadamard transform: one read and one write per element.
 *
 * Along rows a thread has four neighbours of a block and does the steps of distance 1 and 2 among them; in further
 * steps it exchanges with the lanes that have the rest of the block, 4 to 32 of a warp. Along columns a thread has a
 * block of one column, or half a block of 128 elements. A piece is what a thread block does at a time: 1024 elements of
 * a row, or 256 (128) columns of one block's rows. The sign words of a piece are made or loaded once, into shared
 * memory.
 *
 * Bound, from the machine code for compute capability 9.0: along rows a thread takes 327 instructions for four
 * elements, all branches included, of which docs/device.md counts 62 for an element of a block of 32; along columns
 * 1693 for 32, of which 40. A multiprocessor starts 128 in a clock, 2.1 or 3.2 elements; memory moves 16 bytes, 2
 * elements of 8: it is the bound. */
#include "emu/hadamard/check.h"
#include "emu/core/hadamard.h"
#include "gpu/base/calls.h"
#include "gpu/base/map.cuh"

#define HU_PIECE (HU_THREADS * 4)

typedef struct hu_device_hadamard {
  size_t rows, cols, ldz, ldx, across, pieces;
  float *z;
  const float *x;
  hu_hadamard transform;
  hu_stream stream;
  uint32_t inverse, factor, aligned;
  uint32_t words[HU_HADAMARD_WORDS]; /* of a vector that all blocks share and that is not in device memory */
} hu_device_hadamard;

/* Makes the sign words of the elements from number `first` of the axis on; bit 0 of the first word is that of element
 * first / 32 * 32. */
HU_DEVICE void hui_find_signs(const hu_device_hadamard &call, size_t first, uint32_t count, uint32_t *words) {
  __syncthreads(); /* other threads may still read those of the last piece */
  uint32_t i = threadIdx.x, n = ((uint32_t)(first & 31) + count - 1) / 32 + 1;
  if (call.transform.whole) {
    if (i < n && call.transform.signs == HU_HADAMARD_SIGNS_MASK) words[i] = call.transform.mask[first / 32 + i];
    if (i < n && call.transform.signs == HU_HADAMARD_SIGNS_STREAM) words[i] = hui_word(call.stream, first / 32 + i);
    if (i < n && call.transform.signs == HU_HADAMARD_SIGNS_NONE) words[i] = 0;
  } else if (i == 0) {
    if (call.transform.signs == HU_HADAMARD_SIGNS_MASK) {
      hui_hadamard_words(words, call.transform.n, HU_HADAMARD_SIGNS_MASK, call.transform.mask, 0, 0);
    } else {
#pragma unroll
      for (int j = 0; j < HU_HADAMARD_WORDS; j++) words[j] = call.words[j];
    }
  }
  __syncthreads();
}

HU_DEVICE float hui_inverted(float x, uint32_t sign) { return __uint_as_float(__float_as_uint(x) ^ sign); }
HU_DEVICE float hui_one_nan(float x) {
  return (__float_as_uint(x) & 0x7FFFFFFF) > 0x7F800000 ? __uint_as_float(0x7FC00000) : x;
}

HU_DEVICE void hui_hadamard_step(float *a, float *b) {
  float sum = __fadd_rn(*a, *b), difference = __fsub_rn(*a, *b);
  *a = sum;
  *b = difference;
}

/* ---- along rows ---- */

struct alignas(16) hu_quad {
  float value[4];
};

HU_DEVICE hu_quad hui_load_quad(const float *x, uint32_t aligned) {
  hu_quad quad;
  if (aligned) return *(const hu_quad *)x;
#pragma unroll
  for (int i = 0; i < 4; i++) quad.value[i] = x[i];
  return quad;
}

HU_DEVICE void hui_store_quad(float *z, uint32_t aligned, const hu_quad &quad) {
  if (aligned) {
    *(hu_quad *)z = quad;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) z[i] = quad.value[i];
}

/* Does the steps of a block that lies in n / 4 lanes. Every lane of the warp must call it. */
HU_DEVICE void hui_row_steps(hu_quad &quad, uint32_t n) {
  hui_hadamard_step(&quad.value[0], &quad.value[1]);
  hui_hadamard_step(&quad.value[2], &quad.value[3]);
  hui_hadamard_step(&quad.value[0], &quad.value[2]);
  hui_hadamard_step(&quad.value[1], &quad.value[3]);
  for (uint32_t distance = 4; distance < n; distance <<= 1) {
    uint32_t upper = threadIdx.x * 4 & distance;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float other = __shfl_xor_sync(HU_ALL_LANES, quad.value[i], distance / 4);
      quad.value[i] = upper ? __fsub_rn(other, quad.value[i]) : __fadd_rn(quad.value[i], other);
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_hadamard_rows(const __grid_constant__ hu_device_hadamard call) {
  __shared__ uint32_t words[HU_PIECE / 32];
  size_t period = hui_hadamard_period(call.transform.n, call.transform.whole);
  float factor = __uint_as_float(call.factor);
  for (size_t piece = blockIdx.x; piece < call.pieces; piece += gridDim.x) {
    size_t row = piece / call.across, first = piece % call.across * HU_PIECE, col = first + threadIdx.x * 4;
    size_t left = call.cols - first;
    hui_find_signs(call, first, left < HU_PIECE ? (uint32_t)left : HU_PIECE, words);
    hu_quad quad = {{0, 0, 0, 0}};
    uint32_t mine = col < call.cols, sign = 0;
    if (mine) {
      quad = hui_load_quad(call.x + row * call.ldx + col, call.aligned);
      sign = words[threadIdx.x / 8 & period] >> (threadIdx.x * 4 & 31);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) quad.value[i] = hui_inverted(quad.value[i], call.inverse ? 0 : sign >> i << 31);
    hui_row_steps(quad, call.transform.n);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      quad.value[i] = hui_one_nan(hui_inverted(__fmul_rn(quad.value[i], factor), call.inverse ? sign >> i << 31 : 0));
    }
    if (mine) hui_store_quad(call.z + row * call.ldz + col, call.aligned, quad);
  }
}

/* ---- along columns ---- */

/* Does the steps of N elements of a column; a block of 2 N is in two lanes, 16 apart: `half` is 1 in the second. */
template <uint32_t N, uint32_t HALVES>
HU_DEVICE void hui_column_steps(float elements[N], uint32_t half) {
#pragma unroll
  for (uint32_t distance = 1; distance < N; distance <<= 1) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
      if (!(i & distance)) hui_hadamard_step(&elements[i], &elements[i + distance]);
  }
  if constexpr (HALVES == 2) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
      float other = __shfl_xor_sync(HU_ALL_LANES, elements[i], 16);
      elements[i] = half ? __fsub_rn(other, elements[i]) : __fadd_rn(elements[i], other);
    }
  }
}

template <uint32_t N, uint32_t HALVES>
HU_DEVICE void hui_column(const hu_device_hadamard &call, const uint32_t *words, size_t row, size_t col,
                          uint32_t half) {
  float elements[N];
  size_t period = hui_hadamard_period(N * HALVES, call.transform.whole),
         at = (call.transform.whole ? row & 31 : 0) + half * N;
  const float *x = call.x + (row + half * N) * call.ldx + col;
  float *z = call.z + (row + half * N) * call.ldz + col;
  uint32_t mine = col < call.cols;
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    elements[i] = mine ? hui_inverted(x[i * call.ldx], call.inverse ? 0 : hui_hadamard_sign(words, period, at + i)) : 0;
  }
  hui_column_steps<N, HALVES>(elements, half);
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    float value = __fmul_rn(elements[i], __uint_as_float(call.factor));
    if (mine)
      z[i * call.ldz] = hui_one_nan(hui_inverted(value, call.inverse ? hui_hadamard_sign(words, period, at + i) : 0));
  }
}

template <uint32_t N, uint32_t HALVES>
HU_KERNEL __launch_bounds__(HU_THREADS) hui_hadamard_columns(const __grid_constant__ hu_device_hadamard call) {
  __shared__ uint32_t words[HU_HADAMARD_WORDS];
  uint32_t thread = threadIdx.x, half = HALVES == 2 ? thread >> 4 & 1 : 0,
           place = HALVES == 2 ? thread >> 5 << 4 | (thread & 15) : thread;
  for (size_t piece = blockIdx.x; piece < call.pieces; piece += gridDim.x) {
    size_t row = piece / call.across * (N * HALVES), col = piece % call.across * (HU_THREADS / HALVES) + place;
    hui_find_signs(call, row, N * HALVES, words);
    hui_column<N, HALVES>(call, words, row, col, half);
  }
}

/* ---- a call ---- */

static hu_status hui_start_columns(hu_device_hadamard &call, void *stream) {
  call.across = (call.cols - 1) / (call.transform.n == 128 ? HU_THREADS / 2 : HU_THREADS) + 1;
  call.pieces = call.rows / call.transform.n * call.across;
  unsigned grid = hui_grid_size(call.pieces, 16);
  auto kernel = call.transform.n == 16   ? hui_hadamard_columns<16, 1>
                : call.transform.n == 32 ? hui_hadamard_columns<32, 1>
                : call.transform.n == 64 ? hui_hadamard_columns<64, 1>
                                         : hui_hadamard_columns<64, 2>;
  HU_LAUNCH(kernel, grid, 0, stream, call);
  return hui_launched();
}

/* Starts the kernel along rows. Contiguous rows become one row, where every block has the same signs. */
static hu_status hui_start_rows(hu_device_hadamard &call, void *stream) {
  if ((!call.transform.whole || call.transform.signs == HU_HADAMARD_SIGNS_NONE) && call.ldz == call.cols &&
      call.ldx == call.cols) {
    call.cols *= call.rows;
    call.rows = 1;
  }
  call.aligned = ((uintptr_t)call.z | (uintptr_t)call.x) % sizeof(hu_quad) == 0 &&
                 (call.rows == 1 || (call.ldz | call.ldx) % 4 == 0);
  call.across = (call.cols - 1) / HU_PIECE + 1;
  call.pieces = call.rows * call.across;
  HU_LAUNCH(hui_hadamard_rows, hui_grid_size(call.pieces, 16), 0, stream, call);
  return hui_launched();
}

hu_status hui_cuda_hadamard(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                            const hu_hadamard *transform, uint32_t inverse, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_hadamard_check(rows, cols, z, ldz, x, ldx, transform);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  hu_device_hadamard call;
  memset(&call, 0, sizeof call);
  call.rows = rows;
  call.cols = cols;
  call.ldz = ldz;
  call.ldx = ldx;
  call.z = z;
  call.x = x;
  call.transform = *transform;
  call.stream = exec->stream;
  call.inverse = inverse;
  call.factor = hui_hadamard_factor(transform->n, transform->norm, inverse);
  if (!transform->whole && transform->signs == HU_HADAMARD_SIGNS_STREAM) {
    hui_hadamard_words(call.words, transform->n, transform->signs, NULL, call.stream.key, call.stream.counter);
  }
  return transform->axis == HU_HADAMARD_ALONG_COLUMNS ? hui_start_columns(call, stream) : hui_start_rows(call, stream);
}
