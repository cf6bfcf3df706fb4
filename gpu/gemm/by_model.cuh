/* SPDX-License-Identifier: MIT */
/* gpu/gemm/by_model.cuh - one element of a product under any accumulation model, by emu/core/accum.h: the kernels of
 * by_model.cu, and what faster kernels leave. */
#ifndef HALFULP_GPU_MODELS_CUH
#define HALFULP_GPU_MODELS_CUH

#include "emu/core/accum.h"
#include "gpu/gemm/gemm.cuh"

typedef struct hu_accum_args {
  hu_accum_plan plan;
  hu_source c;
} hu_accum_args;

/* hu_gemm_scaled: scales as A and B lie, `count` to a row or column. */
typedef struct hu_accum_scales {
  hu_device_matrix a, b;
  uint64_t count;
} hu_accum_scales;

/* Line `line` of A or B: a row, a column. */
HU_DEVICE hu_line hui_line_of(const hu_device_matrix &x, size_t line) {
  ptrdiff_t size = x.size ? x.size : 4;
  hu_line z;
  z.at = (const uint8_t *)x.data + (ptrdiff_t)(line * x.line_step) * size;
  z.step = (ptrdiff_t)x.step * size;
  return z;
}

HU_DEVICE hu_lines hui_lines_of(const hu_gemm_args &g, size_t i, size_t j) {
  hu_lines in;
  in.a = hui_line_of(g.a, i);
  in.b = hui_line_of(g.b, j);
  in.sa.at = NULL;
  in.sa.step = 0;
  in.sb = in.sa;
  return in;
}

/* Likewise with scales, if there are some. */
HU_DEVICE hu_lines hui_scaled_lines_of(const hu_gemm_args &g, const hu_accum_scales &s, size_t i, size_t j) {
  hu_lines in = hui_lines_of(g, i, j);
  if (s.count) {
    in.sa = hui_line_of(s.a, i);
    in.sb = hui_line_of(s.b, j);
  }
  return in;
}

/* C where the sum of element (i, j) begins. */
HU_DEVICE hu_num hui_accum_start(const hu_gemm_args &g, const hu_source &c, size_t i, size_t j) {
  if (!g.c.present) return hui_num_special(HU_KIND_ZERO, 0);
  hu_line row = hui_line_of(g.c, i);
  return hui_source_read(&c, row.at + (ptrdiff_t)j * row.step);
}

HU_DEVICE hu_draw hui_accum_draw(const hu_gemm_args &g, size_t i, size_t j) {
  return hui_draw_of(g.stream.key, g.stream.counter + (uint64_t)i * g.n + j, NULL);
}

/* The last rounding of a sum of a model that reads operands as they are; its events. */
HU_DEVICE uint32_t hui_plain_store(const hu_gemm_args &g, size_t i, size_t j, hu_num x) {
  uint32_t made = x.kind == HU_KIND_NAN && !(hui_sum_flags(g, i, j) & HU_TERM_NAN);
  return hui_gemm_store(g, i, j, x, made);
}

/* Likewise of any model: a NaN operand is one as the model reads it. */
HU_DEVICE uint32_t hui_accum_store(const hu_gemm_args &g, const hu_accum_args &m, size_t i, size_t j, hu_num x) {
  uint32_t made = 0;
  if (x.kind == HU_KIND_NAN) {
    hu_lines in = hui_lines_of(g, i, j);
    made = hui_accum_start(g, m.c, i, j).kind != HU_KIND_NAN && !hui_line_has_nan(&m.plan.a, &in.a, g.k) &&
           !hui_line_has_nan(&m.plan.b, &in.b, g.k);
  }
  return hui_gemm_store(g, i, j, x, made);
}

/* Likewise with scales, if there are some: their NaN are operands, too. */
HU_DEVICE uint32_t hui_scaled_store(const hu_gemm_args &g, const hu_accum_args &m, const hu_accum_scales &s, size_t i,
                                    size_t j, hu_num x) {
  uint32_t made = 0;
  if (x.kind == HU_KIND_NAN) {
    hu_lines in = hui_scaled_lines_of(g, s, i, j);
    made = hui_accum_start(g, m.c, i, j).kind != HU_KIND_NAN && !hui_line_has_nan(&m.plan.a, &in.a, g.k) &&
           !hui_line_has_nan(&m.plan.b, &in.b, g.k) && !hui_line_has_nan(&m.plan.sa, &in.sa, s.count) &&
           !hui_line_has_nan(&m.plan.sb, &in.sb, s.count);
  }
  return hui_gemm_store(g, i, j, x, made);
}

#endif
