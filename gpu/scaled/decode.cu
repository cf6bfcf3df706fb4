/* SPDX-License-Identifier: MIT */
/* gpu/scaled/decode.cu - decodes scaled tensors. Where the scale (times the tensor's) and the elements are binary32
 * numbers, a value is their product in binary32, whose rounding is the only one; else emu/core/scaled.h decodes. Values
 * of 8-bit codes and of 8-bit scales come from tables that every block of threads makes with the core.
 *
 * Bound: an element takes some 30 instructions under scales of 8 bits, 64 to 68 under binary32 ones, so that a
 * multiprocessor, which starts 128 in a clock, decodes 4.2 or 2. Memory moves 16 bytes in that clock, 3.2 elements of 5
 * bytes: it is the bound of the first, issue slots are that of the second. */
#include "emu/scaled/check.h"
#include "gpu/base/look.h"
#include "gpu/scaled/scaled.cuh"

enum { HU_UNROLL_FOURS = 4 };
#define HU_NO_BACK 0x7F800001u /* a signalling NaN, which is not the pattern of a number */

typedef struct hu_undo_tables {
  hu_scaled_tensor tensor;
  uint32_t value[HU_THREADS]; /* of element codes */
  uint32_t back[HU_THREADS];  /* of scale codes; HU_NO_BACK: the core decodes */
} hu_undo_tables;

/* Returns what a number is multiplied by under a scale. RULES is 0 where the format has no formulas and one type of
 * elements, so that these rules, which take a third of the registers, are left out. */
template <int RULES>
HU_DEVICE hu_num hui_undo_back(const hu_scaler *scaler, hu_shared *shared) {
  if (RULES) {
    hui_shared_finish(scaler, shared);
    return shared->back;
  }
  return hui_scale_back(scaler, hui_unpack(&scaler->scale, shared->code));
}

/* Returns what elements under a scale are multiplied by, as a pattern. */
template <int RULES>
static __device__ __noinline__ uint32_t hui_back_of(const hu_scaler *scaler, uint32_t code) {
  hu_shared shared;
  shared.code = code;
  hu_num back = hui_undo_back<RULES>(scaler, &shared);
  if (back.kind == HU_KIND_NAN) return 0x7FC00000;
  uint32_t bits = hui_pack32(back);
  if (back.kind != HU_KIND_FINITE) return bits;
  hu_num x = hui_unpack32(bits);
  return x.kind == HU_KIND_FINITE && hui_compare_magnitude(x, back) == 0 ? bits : HU_NO_BACK;
}

template <int RULES>
static __device__ __noinline__ uint32_t hui_undo_core(const hu_scaler *scaler, uint32_t scale, uint32_t code) {
  hu_shared shared;
  uint32_t ignored = 0;
  shared.code = scale;
  hu_num back = hui_undo_back<RULES>(scaler, &shared);
  if (RULES) return hui_scaled_value(scaler, &shared, code);
  return hui_pack32(hui_exact_mul(hui_scaled_number(scaler, code), back, &ignored));
}

static __device__ __noinline__ uint32_t hui_undo_number(const hu_scaler *scaler, uint32_t code) {
  return hui_pack32(hui_scaled_number(scaler, code));
}

template <int RULES>
HU_DEVICE void hui_undo_begin(const hu_scaled_args &args, hu_undo_tables *tables) {
  if (threadIdx.x == 0) {
    tables->tensor.scaler = args.scaler;
    if (args.scaler.two) tables->tensor.scaler.tensor = hui_unpack32(*args.tensor);
    tables->tensor.scale = args.scaler.two ? __uint_as_float(*args.tensor) : 1.0f;
  }
  __syncthreads();
  if (args.code_size == 1) tables->value[threadIdx.x] = hui_undo_number(&tables->tensor.scaler, threadIdx.x);
  if (args.scale_size == 1) tables->back[threadIdx.x] = hui_back_of<RULES>(&tables->tensor.scaler, threadIdx.x);
  __syncthreads();
}

/* shift: log2 of a block's columns, or -1; fours: 1 if a block's columns are a multiple of four; direct: 1 if elements
 * are multiplied by the pattern that is the scale's code, where it is that of a normal number. */
typedef struct hu_undo_args {
  hu_scaled_args scaled;
  int32_t shift, fours, direct;
} hu_undo_args;

typedef struct hu_undo_scale {
  uint32_t code, back;
} hu_undo_scale;

/* Returns the code of the scale of the block of (row, col). */
HU_DEVICE uint32_t hui_undo_code_at(const hu_undo_args &undo, size_t row, size_t col) {
  const hu_scaled_args &args = undo.scaled;
  size_t block_row = args.side_rows == 1 ? row : args.side_rows >= args.rows ? 0 : row / args.side_rows;
  size_t block_col = undo.shift >= 0 ? col >> undo.shift : args.side_cols >= args.cols ? 0 : col / args.side_cols;
  return hui_code_get(args.scales, args.scale_size, block_row * args.lds + block_col);
}

template <int RULES>
HU_DEVICE hu_undo_scale hui_undo_scale_of(const hu_undo_args &undo, const hu_undo_tables &tables, uint32_t code) {
  hu_undo_scale scale;
  scale.code = code;
  if (undo.scaled.scale_size == 1)
    scale.back = tables.back[code];
  else if (undo.direct && code - 0x800000 < 0x7F000000)
    scale.back = code;
  else
    scale.back = hui_back_of<RULES>(&tables.tensor.scaler, code);
  return scale;
}

template <int RULES>
HU_DEVICE uint32_t hui_undo_element(const hu_scaled_args &args, const hu_undo_tables &tables,
                                    const hu_undo_scale &scale, uint32_t code) {
  if (scale.back == HU_NO_BACK || !args.lanes) return hui_undo_core<RULES>(&tables.tensor.scaler, scale.code, code);
  uint32_t x = args.code_size == 1 ? tables.value[code] : hui_undo_number(&tables.tensor.scaler, code);
  float value = __fmul_rn(__uint_as_float(x), __uint_as_float(scale.back));
  return value != value ? 0x7FC00000 : __float_as_uint(value);
}

/* Decodes four neighbouring bytes under one scale. */
template <int RULES>
HU_DEVICE void hui_undo_four(const hu_undo_args &undo, const hu_undo_tables &tables, size_t row, size_t col,
                             uint32_t codes, uint32_t scale) {
  hu_undo_scale own = hui_undo_scale_of<RULES>(undo, tables, scale);
  hu_four<uint32_t> four;
  if (own.back == HU_NO_BACK || !undo.scaled.lanes) {
#pragma unroll 1
    for (int i = 0; i < 4; i++)
      undo.scaled.z[row * undo.scaled.ldz + col + i] =
          hui_undo_core<RULES>(&tables.tensor.scaler, own.code, codes >> (8 * i) & 0xFF);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float x = __fmul_rn(__uint_as_float(tables.value[codes >> (8 * i) & 0xFF]), __uint_as_float(own.back));
    four.value[i] = x != x ? 0x7FC00000 : __float_as_uint(x);
  }
  hui_store_vector(undo.scaled.z + row * undo.scaled.ldz + col, four);
}

template <int RULES>
HU_DEVICE void hui_undo_singly(const hu_undo_args &undo, const hu_undo_tables &tables, size_t row, size_t col) {
  size_t end = undo.scaled.cols - col < 4 ? undo.scaled.cols : col + 4;
#pragma unroll 1
  for (; col < end; col++) {
    hu_undo_scale scale = hui_undo_scale_of<RULES>(undo, tables, hui_undo_code_at(undo, row, col));
    uint32_t code = hui_code_get(undo.scaled.codes, undo.scaled.code_size, row * undo.scaled.ld + col);
    undo.scaled.z[row * undo.scaled.ldz + col] = hui_undo_element<RULES>(undo.scaled, tables, scale, code);
  }
}

template <int RULES>
HU_DEVICE void hui_undo_all(const hu_undo_args &undo) {
  __shared__ hu_undo_tables tables;
  const hu_scaled_args &args = undo.scaled;
  hui_undo_begin<RULES>(args, &tables);
  size_t across = (args.cols - 1) / 4 + 1, all = across * args.rows,
         step = (size_t)gridDim.x * HU_THREADS * HU_UNROLL_FOURS;
  int quick = args.code_size == 1 && args.x_vectors && args.z_vectors && undo.fours;
  for (size_t i = (size_t)blockIdx.x * (HU_THREADS * HU_UNROLL_FOURS) + threadIdx.x; i < all; i += step) {
    uint32_t codes[HU_UNROLL_FOURS], scales[HU_UNROLL_FOURS]; /* all are loaded before the first store */
    size_t row[HU_UNROLL_FOURS], col[HU_UNROLL_FOURS];
    int way[HU_UNROLL_FOURS]; /* 0: nothing; 1: singly; 2: together */
#pragma unroll
    for (int j = 0; j < HU_UNROLL_FOURS; j++) {
      size_t at = i + (size_t)(j * HU_THREADS);
      row[j] = args.rows > 1 ? at / across : 0;
      col[j] = (at - row[j] * across) * 4;
      way[j] = at >= all ? 0 : quick && args.cols - col[j] >= 4 ? 2 : 1;
      codes[j] = way[j] == 2 ? *(const uint32_t *)(const void *)(args.codes + row[j] * args.ld + col[j]) : 0;
      scales[j] = way[j] == 2 ? hui_undo_code_at(undo, row[j], col[j]) : 0;
    }
#pragma unroll
    for (int j = 0; j < HU_UNROLL_FOURS; j++) {
      if (way[j] == 2) hui_undo_four<RULES>(undo, tables, row[j], col[j], codes[j], scales[j]);
      if (way[j] == 1) hui_undo_singly<RULES>(undo, tables, row[j], col[j]);
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_undo_kernel(const __grid_constant__ hu_undo_args undo) {
  hui_undo_all<0>(undo);
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_rules_undo_kernel(const __grid_constant__ hu_undo_args undo) {
  hui_undo_all<1>(undo);
}

hu_status hui_cuda_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                                 const hu_scaling *scaling, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_undo_args undo;
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_status status = hui_scaled_decode_check(rows, cols, z, ldz, x, scaling);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  hui_look_at(hui_scaled_elements_of(rows, cols, x->codes, x->ld, scaling), stream);
  hui_look_at(hui_scaled_scales_of(rows, cols, x, scaling), stream);
  hu_scaled_args *args = &undo.scaled;
  hui_scaled_args_of(args, rows, cols, scaling, rne);
  args->lanes = args->scaler.element.fits_binary32 && !args->scaler.own_v && !args->scaler.two_types;
  args->z = (uint32_t *)(void *)z;
  args->ldz = ldz;
  args->codes = (uint8_t *)x->codes;
  args->ld = x->ld;
  args->scales = (uint8_t *)x->scales;
  args->lds = x->lds;
  args->tensor = (uint32_t *)(void *)x->tensor;
  hui_scaled_flatten(args);
  args->x_vectors = (uint8_t)hui_scaled_vectors(args->codes, args->ld, args->rows, 1);
  args->z_vectors = (uint8_t)hui_scaled_vectors(args->z, args->ldz, args->rows, 4);
  undo.fours = args->side_cols % 4 == 0 || args->side_cols >= args->cols;
  undo.direct = args->scale_is_binary32 && !args->scaler.two && !args->scaler.by_formulas;
  undo.shift = -1;
  for (int i = 0; i < 63; i++)
    if (args->side_cols == (size_t)1 << i) undo.shift = i;
  uint64_t fours = ((args->cols - 1) / 4 + 1) * (uint64_t)args->rows;
  int rules = args->scaler.by_formulas || args->scaler.two_types;
  auto kernel = rules ? hui_scaled_rules_undo_kernel : hui_scaled_undo_kernel;
  HU_LAUNCH(kernel, hui_grid_size(fours / (HU_THREADS * HU_UNROLL_FOURS) + 1, 4), 0, stream, undo);
  return hui_launched();
}
