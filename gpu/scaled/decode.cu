/* SPDX-License-Identifier: MIT */
/* gpu/scaled/decode.cu - decodes scaled tensors: one product in binary32 where the scale (times the tensor's) is a
 * binary32 number and elements are, too, for rounding that product is the one rounding; else emu/core/scaled.h. Values
 * of 8-bit codes and of 8-bit scales come from tables that every block of threads makes with the core.
 *
 * Bound: an element takes some 30 instructions under scales of 8 bits, 64 to 68 under binary32 ones, so that a
 * multiprocessor, which starts 128 in a clock, decodes 4.2 or 2. Memory moves 16 bytes in that clock, 3.2 elements of 5
 * bytes: it is the bound of the first, issue slots are that of the second. */
#include "emu/scaled/check.h"
#include "gpu/base/look.h"
#include "gpu/scaled/scaled.cuh"

enum { HU_UNROLL_FOURS = 4 };
#define HU_NO_BACK 0x7F800001u /* a signalling NaN: no binary32 number */

typedef struct hu_undo_tables {
  hu_scaled_tensor t;
  uint32_t value[HU_THREADS]; /* of element codes */
  uint32_t back[HU_THREADS];  /* of scale codes; HU_NO_BACK: the core */
} hu_undo_tables;

/* What elements of a scale are multiplied by. */
static __device__ __noinline__ uint32_t hui_back_of(const hu_scaler *s, uint32_t code) {
  hu_shared b;
  b.code = code;
  hui_shared_finish(s, &b);
  if (b.under == HU_UNDER_NAN) return 0x7FC00000;
  uint32_t u = hui_pack32(b.back);
  if (b.back.kind != HU_KIND_FINITE) return u;
  hu_num x = hui_unpack32(u);
  return x.kind == HU_KIND_FINITE && hui_compare_magnitude(x, b.back) == 0 ? u : HU_NO_BACK;
}

static __device__ __noinline__ uint32_t hui_undo_core(const hu_scaler *s, uint32_t scale, uint32_t code) {
  hu_shared b;
  b.code = scale;
  hui_shared_finish(s, &b);
  return hui_scaled_value(s, &b, code);
}

static __device__ __noinline__ uint32_t hui_undo_number(const hu_scaler *s, uint32_t code) {
  return hui_pack32(hui_scaled_number(s, code));
}

HU_DEVICE void hui_undo_begin(const hu_scaled_args &a, hu_undo_tables *k) {
  if (threadIdx.x == 0) {
    k->t.scaler = a.scaler;
    if (a.scaler.two) k->t.scaler.tensor = hui_unpack32(*a.tensor);
    k->t.t = a.scaler.two ? __uint_as_float(*a.tensor) : 1.0f;
  }
  __syncthreads();
  if (a.code_size == 1) k->value[threadIdx.x] = hui_undo_number(&k->t.scaler, threadIdx.x);
  if (a.scale_size == 1) k->back[threadIdx.x] = hui_back_of(&k->t.scaler, threadIdx.x);
  __syncthreads();
}

/* shift: of a block's columns where they are a power of two, else -1; fours: a block has whole fours of columns;
 * direct: the scale's code is the pattern that elements are multiplied by, where it is that of a normal number. */
typedef struct hu_undo_args {
  hu_scaled_args a;
  int32_t shift, fours, direct;
} hu_undo_args;

typedef struct hu_undo_scale {
  uint32_t code, back;
} hu_undo_scale;

/* The code of the scale of the block of (row, col). */
HU_DEVICE uint32_t hui_undo_code_at(const hu_undo_args &u, size_t row, size_t col) {
  const hu_scaled_args &a = u.a;
  size_t p = a.side_rows == 1 ? row : a.side_rows >= a.rows ? 0 : row / a.side_rows;
  size_t q = u.shift >= 0 ? col >> u.shift : a.side_cols >= a.cols ? 0 : col / a.side_cols;
  return hui_code_get(a.scales, a.scale_size, p * a.lds + q);
}

HU_DEVICE hu_undo_scale hui_undo_scale_of(const hu_undo_args &u, const hu_undo_tables &k, uint32_t code) {
  hu_undo_scale s;
  s.code = code;
  if (u.a.scale_size == 1)
    s.back = k.back[code];
  else if (u.direct && code - 0x800000 < 0x7F000000)
    s.back = code;
  else
    s.back = hui_back_of(&k.t.scaler, code);
  return s;
}

HU_DEVICE uint32_t hui_undo_element(const hu_scaled_args &a, const hu_undo_tables &k, const hu_undo_scale &s,
                                    uint32_t code) {
  if (s.back == HU_NO_BACK || !a.lanes) return hui_undo_core(&k.t.scaler, s.code, code);
  uint32_t x = a.code_size == 1 ? k.value[code] : hui_undo_number(&k.t.scaler, code);
  float v = __fmul_rn(__uint_as_float(x), __uint_as_float(s.back));
  return v != v ? 0x7FC00000 : __float_as_uint(v);
}

/* Four neighbours of bytes under one scale. */
HU_DEVICE void hui_undo_four(const hu_undo_args &u, const hu_undo_tables &k, size_t row, size_t col, uint32_t codes,
                             uint32_t scale) {
  hu_undo_scale s = hui_undo_scale_of(u, k, scale);
  hu_four<uint32_t> v;
  if (s.back == HU_NO_BACK || !u.a.lanes) {
#pragma unroll 1
    for (int i = 0; i < 4; i++)
      u.a.z[row * u.a.ldz + col + i] = hui_undo_core(&k.t.scaler, s.code, codes >> (8 * i) & 0xFF);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float x = __fmul_rn(__uint_as_float(k.value[codes >> (8 * i) & 0xFF]), __uint_as_float(s.back));
    v.v[i] = x != x ? 0x7FC00000 : __float_as_uint(x);
  }
  hui_store_vector(u.a.z + row * u.a.ldz + col, v);
}

HU_DEVICE void hui_undo_singly(const hu_undo_args &u, const hu_undo_tables &k, size_t row, size_t col) {
  size_t end = u.a.cols - col < 4 ? u.a.cols : col + 4;
#pragma unroll 1
  for (; col < end; col++) {
    hu_undo_scale s = hui_undo_scale_of(u, k, hui_undo_code_at(u, row, col));
    uint32_t code = hui_code_get(u.a.codes, u.a.code_size, row * u.a.ld + col);
    u.a.z[row * u.a.ldz + col] = hui_undo_element(u.a, k, s, code);
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_undo_kernel(const __grid_constant__ hu_undo_args u) {
  __shared__ hu_undo_tables k;
  const hu_scaled_args &a = u.a;
  hui_undo_begin(a, &k);
  size_t across = (a.cols - 1) / 4 + 1, all = across * a.rows, step = (size_t)gridDim.x * HU_THREADS * HU_UNROLL_FOURS;
  int quick = a.code_size == 1 && a.x_vectors && a.z_vectors && u.fours;
  for (size_t i = (size_t)blockIdx.x * (HU_THREADS * HU_UNROLL_FOURS) + threadIdx.x; i < all; i += step) {
    uint32_t codes[HU_UNROLL_FOURS], scales[HU_UNROLL_FOURS]; /* all are loaded before the first store */
    size_t row[HU_UNROLL_FOURS], col[HU_UNROLL_FOURS];
    int way[HU_UNROLL_FOURS]; /* 0: nothing; 1: singly; 2: together */
#pragma unroll
    for (int j = 0; j < HU_UNROLL_FOURS; j++) {
      size_t at = i + (size_t)(j * HU_THREADS);
      row[j] = a.rows > 1 ? at / across : 0;
      col[j] = (at - row[j] * across) * 4;
      way[j] = at >= all ? 0 : quick && a.cols - col[j] >= 4 ? 2 : 1;
      codes[j] = way[j] == 2 ? *(const uint32_t *)(const void *)(a.codes + row[j] * a.ld + col[j]) : 0;
      scales[j] = way[j] == 2 ? hui_undo_code_at(u, row[j], col[j]) : 0;
    }
#pragma unroll
    for (int j = 0; j < HU_UNROLL_FOURS; j++) {
      if (way[j] == 2) hui_undo_four(u, k, row[j], col[j], codes[j], scales[j]);
      if (way[j] == 1) hui_undo_singly(u, k, row[j], col[j]);
    }
  }
}

hu_status hu_device_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                                  const hu_scaling *scaling, const hu_exec *, void *stream) {
  hu_undo_args u;
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_status s = hui_scaled_decode_check(rows, cols, z, ldz, x, scaling);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  hui_look_at(hui_scaled_elements_of(rows, cols, x->codes, x->ld, scaling), stream);
  hui_look_at(hui_scaled_scales_of(rows, cols, x, scaling), stream);
  hu_scaled_args *a = &u.a;
  hui_scaled_args_of(a, rows, cols, scaling, rne);
  a->lanes = a->scaler.element.fits_binary32;
  a->z = (uint32_t *)(void *)z;
  a->ldz = ldz;
  a->codes = (uint8_t *)x->codes;
  a->ld = x->ld;
  a->scales = (uint8_t *)x->scales;
  a->lds = x->lds;
  a->tensor = (uint32_t *)(void *)x->tensor;
  hui_scaled_flatten(a);
  a->x_vectors = (uint8_t)hui_scaled_vectors(a->codes, a->ld, a->rows, 1);
  a->z_vectors = (uint8_t)hui_scaled_vectors(a->z, a->ldz, a->rows, 4);
  u.fours = a->side_cols % 4 == 0 || a->side_cols >= a->cols;
  u.direct = a->scale_is_binary32 && !a->scaler.two;
  u.shift = -1;
  for (int i = 0; i < 63; i++)
    if (a->side_cols == (size_t)1 << i) u.shift = i;
  uint64_t fours = ((a->cols - 1) / 4 + 1) * (uint64_t)a->rows;
  HU_LAUNCH(hui_scaled_undo_kernel, hui_grid_size(fours / (HU_THREADS * HU_UNROLL_FOURS) + 1, 4), 0, stream, u);
  return hui_launched();
}
