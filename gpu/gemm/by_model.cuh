/* SPDX-License-Identifier: MIT */
/* gpu/gemm/by_model.cuh - one element of a product under any accumulation model, by emu/core/accum.h: the kernels of
 * by_model.cu, and what faster kernels leave. */
#ifndef HALFULP_GPU_BY_MODEL_CUH
#define HALFULP_GPU_BY_MODEL_CUH

#include "emu/core/accum.h"
#include "gpu/gemm/gemm.cuh"

typedef struct hu_accum_args {
  hu_accum_plan plan;
  hu_source c;
} hu_accum_args;

/* The scales of a product, which lie as A and B do, `count` to a row or column. */
typedef struct hu_accum_scales {
  hu_device_matrix a, b;
  uint64_t count;
} hu_accum_scales;

/* Returns line `line` of a matrix: a row of A, a column of B. */
HU_DEVICE hu_line hui_line_of(const hu_device_matrix &x, size_t line) {
  ptrdiff_t size = x.size ? x.size : 4;
  hu_line z;
  z.at = (const uint8_t *)x.data + (ptrdiff_t)(line * x.line_step) * size;
  z.step = (ptrdiff_t)x.step * size;
  return z;
}

HU_DEVICE hu_lines hui_lines_of(const hu_gemm_args &args, size_t i, size_t j) {
  hu_lines in;
  in.a = hui_line_of(args.a, i);
  in.b = hui_line_of(args.b, j);
  in.sa.at = NULL;
  in.sa.step = 0;
  in.sb = in.sa;
  return in;
}

/* Returns the same with scales, if there are some. */
HU_DEVICE hu_lines hui_scaled_lines_of(const hu_gemm_args &args, const hu_accum_scales &scales, size_t i, size_t j) {
  hu_lines in = hui_lines_of(args, i, j);
  if (scales.count) {
    in.sa = hui_line_of(scales.a, i);
    in.sb = hui_line_of(scales.b, j);
  }
  return in;
}

/* Reads C, with which the sum of element (i, j) begins. */
HU_DEVICE hu_num hui_accum_start(const hu_gemm_args &args, const hu_source &c, size_t i, size_t j) {
  if (!args.c.present) return hui_num_special(HU_KIND_ZERO, 0);
  hu_line row = hui_line_of(args.c, i);
  return hui_source_read(&c, row.at + (ptrdiff_t)j * row.step);
}

HU_DEVICE hu_draw hui_accum_draw(const hu_gemm_args &args, size_t i, size_t j) {
  return hui_draw_of(args.stream.key, args.stream.counter + (uint64_t)i * args.n + j, NULL);
}

/* Rounds a sum for the last time and returns the events, where the model reads operands as they are. */
HU_DEVICE uint32_t hui_plain_store(const hu_gemm_args &args, size_t i, size_t j, hu_num x) {
  uint32_t made = x.kind == HU_KIND_NAN && !(hui_sum_flags(args, i, j) & HU_TERM_NAN);
  return hui_gemm_store(args, i, j, x, made);
}

/* Does so for any model: a NaN operand is one as the model reads it. */
HU_DEVICE uint32_t hui_accum_store(const hu_gemm_args &args, const hu_accum_args &model, size_t i, size_t j, hu_num x) {
  uint32_t made = 0;
  if (x.kind == HU_KIND_NAN) {
    hu_lines in = hui_lines_of(args, i, j);
    made = hui_accum_start(args, model.c, i, j).kind != HU_KIND_NAN &&
           !hui_line_has_nan(&model.plan.a, &in.a, args.k) && !hui_line_has_nan(&model.plan.b, &in.b, args.k);
  }
  return hui_gemm_store(args, i, j, x, made);
}

/* Does so with scales, if there are some: their NaN are operands, too. */
HU_DEVICE uint32_t hui_scaled_store(const hu_gemm_args &args, const hu_accum_args &model, const hu_accum_scales &scales,
                                    size_t i, size_t j, hu_num x) {
  uint32_t made = 0;
  if (x.kind == HU_KIND_NAN) {
    hu_lines in = hui_scaled_lines_of(args, scales, i, j);
    made = hui_accum_start(args, model.c, i, j).kind != HU_KIND_NAN &&
           !hui_line_has_nan(&model.plan.a, &in.a, args.k) && !hui_line_has_nan(&model.plan.b, &in.b, args.k) &&
           !hui_line_has_nan(&model.plan.sa, &in.sa, scales.count) &&
           !hui_line_has_nan(&model.plan.sb, &in.sb, scales.count);
  }
  return hui_gemm_store(args, i, j, x, made);
}

#endif
