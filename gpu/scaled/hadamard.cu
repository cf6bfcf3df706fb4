/* SPDX-License-Identifier: MIT */
/* gpu/scaled/hadamard.cu - the random Hadamard transform: one read and one write per element.
 *
 * Along rows a thread has four neighbours of a block and does the steps of distance 1 and 2 among them; the further
 * ones exchange with the lanes that have the rest of the block, 4 to 32 of a warp. Along columns a thread has a block
 * of one column, of 128 elements half a block. A piece is what a thread block does at a time: 1024 elements of a row,
 * or 256 (128) columns of one block's rows; the sign words of a piece are made or loaded once, into shared memory.
 *
 * Bound, from the machine code for compute capability 9.0: along rows a thread takes 327 instructions for four
 * elements, all branches included, of which docs/device.md counts 62 for an element of a block of 32; along columns
 * 1693 for 32, of which 40. A multiprocessor starts 128 in a clock, 2.1 or 3.2 elements; memory moves 16 bytes, 2
 * elements of 8: it is the bound. */
#include "emu/hadamard/check.h"
#include "emu/core/hadamard.h"
#include "gpu/base/map.cuh"
#include "halfulp/device_scaled.h"

#define HU_PIECE (HU_THREADS * 4)

typedef struct hu_device_hadamard {
  size_t rows, cols, ldz, ldx, across, pieces;
  float *z;
  const float *x;
  hu_hadamard t;
  hu_stream stream;
  uint32_t inverse, factor, aligned;
  uint32_t words[HU_HADAMARD_WORDS]; /* of a vector that all blocks share and that is not in device memory */
} hu_device_hadamard;

/* The sign words of the elements from number `first` of the axis on; bit 0 of the first word is that of element
 * first / 32 * 32. */
HU_DEVICE void hui_find_signs(const hu_device_hadamard &c, size_t first, uint32_t count, uint32_t *words) {
  __syncthreads(); /* whoever still reads those of the last piece */
  uint32_t i = threadIdx.x, n = ((uint32_t)(first & 31) + count - 1) / 32 + 1;
  if (c.t.whole) {
    if (i < n && c.t.signs == HU_HADAMARD_SIGNS_MASK) words[i] = c.t.mask[first / 32 + i];
    if (i < n && c.t.signs == HU_HADAMARD_SIGNS_STREAM) words[i] = hui_word(c.stream, first / 32 + i);
    if (i < n && c.t.signs == HU_HADAMARD_SIGNS_NONE) words[i] = 0;
  } else if (i == 0) {
    if (c.t.signs == HU_HADAMARD_SIGNS_MASK) {
      hui_hadamard_words(words, c.t.n, HU_HADAMARD_SIGNS_MASK, c.t.mask, 0, 0);
    } else {
#pragma unroll
      for (int j = 0; j < HU_HADAMARD_WORDS; j++) words[j] = c.words[j];
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
  float v[4];
};

HU_DEVICE hu_quad hui_load_quad(const float *x, uint32_t aligned) {
  hu_quad q;
  if (aligned) return *(const hu_quad *)x;
#pragma unroll
  for (int i = 0; i < 4; i++) q.v[i] = x[i];
  return q;
}

HU_DEVICE void hui_store_quad(float *z, uint32_t aligned, const hu_quad &q) {
  if (aligned) {
    *(hu_quad *)z = q;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) z[i] = q.v[i];
}

/* The steps of a block that lies in n / 4 lanes. Every lane of the warp takes part. */
HU_DEVICE void hui_row_steps(hu_quad &q, uint32_t n) {
  hui_hadamard_step(&q.v[0], &q.v[1]);
  hui_hadamard_step(&q.v[2], &q.v[3]);
  hui_hadamard_step(&q.v[0], &q.v[2]);
  hui_hadamard_step(&q.v[1], &q.v[3]);
  for (uint32_t h = 4; h < n; h <<= 1) {
    uint32_t upper = threadIdx.x * 4 & h;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float other = __shfl_xor_sync(HU_ALL_LANES, q.v[i], h / 4);
      q.v[i] = upper ? __fsub_rn(other, q.v[i]) : __fadd_rn(q.v[i], other);
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_hadamard_rows(const __grid_constant__ hu_device_hadamard c) {
  __shared__ uint32_t words[HU_PIECE / 32];
  size_t period = hui_hadamard_period(c.t.n, c.t.whole);
  float factor = __uint_as_float(c.factor);
  for (size_t p = blockIdx.x; p < c.pieces; p += gridDim.x) {
    size_t row = p / c.across, first = p % c.across * HU_PIECE, col = first + threadIdx.x * 4;
    size_t left = c.cols - first;
    hui_find_signs(c, first, left < HU_PIECE ? (uint32_t)left : HU_PIECE, words);
    hu_quad q = {{0, 0, 0, 0}};
    uint32_t mine = col < c.cols, sign = 0;
    if (mine) {
      q = hui_load_quad(c.x + row * c.ldx + col, c.aligned);
      sign = words[threadIdx.x / 8 & period] >> (threadIdx.x * 4 & 31);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) q.v[i] = hui_inverted(q.v[i], c.inverse ? 0 : sign >> i << 31);
    hui_row_steps(q, c.t.n);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      q.v[i] = hui_one_nan(hui_inverted(__fmul_rn(q.v[i], factor), c.inverse ? sign >> i << 31 : 0));
    }
    if (mine) hui_store_quad(c.z + row * c.ldz + col, c.aligned, q);
  }
}

/* ---- along columns ---- */

/* A thread has N elements of a column; a block of 2 N is in two lanes, 16 apart, `half` saying which has what. */
template <uint32_t N, uint32_t HALVES>
HU_DEVICE void hui_column_steps(float u[N], uint32_t half) {
#pragma unroll
  for (uint32_t h = 1; h < N; h <<= 1) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
      if (!(i & h)) hui_hadamard_step(&u[i], &u[i + h]);
  }
  if constexpr (HALVES == 2) {
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
      float other = __shfl_xor_sync(HU_ALL_LANES, u[i], 16);
      u[i] = half ? __fsub_rn(other, u[i]) : __fadd_rn(u[i], other);
    }
  }
}

template <uint32_t N, uint32_t HALVES>
HU_DEVICE void hui_column(const hu_device_hadamard &c, const uint32_t *words, size_t row, size_t col, uint32_t half) {
  float u[N];
  size_t period = hui_hadamard_period(N * HALVES, c.t.whole), at = (c.t.whole ? row & 31 : 0) + half * N;
  const float *x = c.x + (row + half * N) * c.ldx + col;
  float *z = c.z + (row + half * N) * c.ldz + col;
  uint32_t mine = col < c.cols;
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    u[i] = mine ? hui_inverted(x[i * c.ldx], c.inverse ? 0 : hui_hadamard_sign(words, period, at + i)) : 0;
  }
  hui_column_steps<N, HALVES>(u, half);
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    float v = __fmul_rn(u[i], __uint_as_float(c.factor));
    if (mine) z[i * c.ldz] = hui_one_nan(hui_inverted(v, c.inverse ? hui_hadamard_sign(words, period, at + i) : 0));
  }
}

template <uint32_t N, uint32_t HALVES>
HU_KERNEL __launch_bounds__(HU_THREADS) hui_hadamard_columns(const __grid_constant__ hu_device_hadamard c) {
  __shared__ uint32_t words[HU_HADAMARD_WORDS];
  uint32_t t = threadIdx.x, half = HALVES == 2 ? t >> 4 & 1 : 0, place = HALVES == 2 ? t >> 5 << 4 | (t & 15) : t;
  for (size_t p = blockIdx.x; p < c.pieces; p += gridDim.x) {
    size_t row = p / c.across * (N * HALVES), col = p % c.across * (HU_THREADS / HALVES) + place;
    hui_find_signs(c, row, N * HALVES, words);
    hui_column<N, HALVES>(c, words, row, col, half);
  }
}

/* ---- a call ---- */

static hu_status hui_start_columns(hu_device_hadamard &c, void *stream) {
  c.across = (c.cols - 1) / (c.t.n == 128 ? HU_THREADS / 2 : HU_THREADS) + 1;
  c.pieces = c.rows / c.t.n * c.across;
  unsigned grid = hui_grid_size(c.pieces, 16);
  auto kernel = c.t.n == 16   ? hui_hadamard_columns<16, 1>
                : c.t.n == 32 ? hui_hadamard_columns<32, 1>
                : c.t.n == 64 ? hui_hadamard_columns<64, 1>
                              : hui_hadamard_columns<64, 2>;
  HU_LAUNCH(kernel, grid, 0, stream, c);
  return hui_launched();
}

/* Rows one after another are one row, where every block has the same signs. */
static hu_status hui_start_rows(hu_device_hadamard &c, void *stream) {
  if ((!c.t.whole || c.t.signs == HU_HADAMARD_SIGNS_NONE) && c.ldz == c.cols && c.ldx == c.cols) {
    c.cols *= c.rows;
    c.rows = 1;
  }
  c.aligned = ((uintptr_t)c.z | (uintptr_t)c.x) % sizeof(hu_quad) == 0 && (c.rows == 1 || (c.ldz | c.ldx) % 4 == 0);
  c.across = (c.cols - 1) / HU_PIECE + 1;
  c.pieces = c.rows * c.across;
  HU_LAUNCH(hui_hadamard_rows, hui_grid_size(c.pieces, 16), 0, stream, c);
  return hui_launched();
}

static hu_status hui_hadamard_start(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                    const hu_hadamard *t, uint32_t inverse, const hu_exec *exec, void *stream) {
  hu_status s = hui_hadamard_check(rows, cols, z, ldz, x, ldx, t);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  hu_device_hadamard c;
  memset(&c, 0, sizeof c);
  c.rows = rows;
  c.cols = cols;
  c.ldz = ldz;
  c.ldx = ldx;
  c.z = z;
  c.x = x;
  c.t = *t;
  if (exec) c.stream = exec->stream;
  c.inverse = inverse;
  c.factor = hui_hadamard_factor(t->n, t->norm, inverse);
  if (!t->whole && t->signs == HU_HADAMARD_SIGNS_STREAM) {
    hui_hadamard_words(c.words, t->n, t->signs, NULL, c.stream.key, c.stream.counter);
  }
  return t->axis == HU_HADAMARD_ALONG_COLUMNS ? hui_start_columns(c, stream) : hui_start_rows(c, stream);
}

hu_status hu_device_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                     const hu_hadamard *t, const hu_exec *exec, void *stream) {
  return hui_hadamard_start(rows, cols, z, ldz, x, ldx, t, 0, exec, stream);
}

hu_status hu_device_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                     const hu_hadamard *t, const hu_exec *exec, void *stream) {
  return hui_hadamard_start(rows, cols, z, ldz, x, ldx, t, 1, exec, stream);
}
