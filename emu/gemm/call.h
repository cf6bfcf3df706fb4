/* SPDX-License-Identifier: MIT */
/* emu/gemm/call.h - the record of one plain product: arguments checked, operands and result unfolded. Every file of
 * this folder includes it; emu/scaled_gemm takes a few calls from it. */
#ifndef HALFULP_EMU_GEMM_CALL_H
#define HALFULP_EMU_GEMM_CALL_H

#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/matrix_view.h"
#include "emu/gemm/check.h"
#include "emu/core/lane_constants.h"
#include "emu/core/round.h"
#include "emu/gemm/tiles/kernels.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"
#include "halfulp/gemm.h"

/* An operand, checked. rows and columns are those of the product; element (i, j) is stored at i ld + j, or at j ld + i.
 */
typedef struct hu_matrix {
  const void *data;            /* NULL: absent (C), or no elements */
  size_t rows, cols, ld, size; /* size: bytes of an element */
  hu_format format;
  hu_spec spec;
  hu_lane_constants constants;  /* lane constants of its codes */
  const hu_kernels *kernels;    /* to decode with; NULL: the one-value core */
  const hu_gemm_kernels *moves; /* copies and widening */
  uint32_t least_normal;        /* the least code with an exponent field above 0 that is normal in binary64 */
  uint32_t unseen;              /* digits of codes that the model does not look at (block(...), in=) */
  uint8_t patterns;             /* 1: elements are binary32 patterns, values or codes of binary32 itself */
  uint8_t carried;              /* 1: binary32 holds every value */
  uint8_t transposed, values;
  uint8_t nan_kept; /* 1: a NaN is one with digits unseen, too (block(...), nan=kept) */
} hu_matrix;

/* Where the finite non-zero elements of a matrix lie: multiples of 2^low, below 2^high in magnitude. */
typedef struct hu_span {
  int32_t low, high;
  uint8_t any;     /* 0: all zero or special; low = high = 0 */
  uint8_t special; /* infinities or NaN */
} hu_span;

typedef struct hu_gemm_call hu_gemm_call;
struct hu_gemm_call {
  size_t m, n, k;
  hu_matrix a, b, c;
  hu_matrix scale_a, scale_b; /* of models with scales; else absent */
  uint8_t *d_data;
  size_t ldd, d_size; /* elements, bytes of one */
  int d_values, d_binary32;
  hu_spec spec; /* of D */
  hu_lane_constants constants;
  const hu_kernels *rounding; /* kernels that round binary32 sums into D; NULL: the core */
  int odd_first;              /* binary64 sums may go through binary32 rounded to odd */
  hu_stream stream;
  uint32_t threads;
  const hu_gemm_kernels *kernels;
  hu_extensions extensions;
  const hu_accum *accum;
  int exact;       /* accum is `exact` */
  const void *way; /* what the way that runs keeps of the call */
  /* Computes D by the first way that serves: for ways that multiply parts of the operands. */
  void (*run)(hu_gemm_call *call, const hu_level *level, hu_events *events);
  const hu_level *level;
  hu_span sa, sb, sc; /* once hui_gemm_look has been asked: looked is 1 */
  int looked;
  size_t block_rows, block_cols, across;
  hu_events events[HU_THREADS_MAX]; /* one a part */
  hu_watch *watches;                /* likewise; NULL: nothing is watched */
};

/* operand.c. Fills *x from a settled view and its format unfolded; absent: the spec is not read. */
void hui_gemm_matrix(hu_matrix *x, const hu_view *from, const hu_spec *spec, size_t rows, size_t cols,
                     const hu_level *level, const hu_gemm_kernels *kernels);
/* Reads n elements of a stored row, exactly. As all that reads or rounds, within the call's environment. */
void hui_gemm_read32(const hu_matrix *x, size_t row, size_t column, size_t n, float *z);
void hui_gemm_read64(const hu_matrix *x, size_t row, size_t column, size_t n, double *z);
/* Returns the stored elements themselves where they are binary32 patterns, else NULL. */
const float *hui_gemm_direct32(const hu_matrix *x, size_t row, size_t column);
hu_num hui_gemm_element(const hu_matrix *x, size_t i, size_t j);
/* 1 if every element of these stored rows is a value of the matrix's format. */
int hui_gemm_on_grid(const hu_matrix *x, size_t row, size_t rows);
/* Checks for a NaN, as the model reads elements, among the n elements from (i, j) on, (di, dj) apart. */
int hui_gemm_nan_among(const hu_matrix *x, size_t i, size_t j, size_t di, size_t dj, size_t n);
/* Finds the spans of A, B and C, once per call. */
void hui_gemm_look(hu_gemm_call *call);
size_t hui_gemm_stored_rows(const hu_matrix *x);
size_t hui_gemm_stored_cols(const hu_matrix *x);

void hui_gemm_set_result(hu_gemm_call *call, const hu_output *result, const hu_spec *spec, const hu_level *level);
/* Rounds n sums of row i from column j0 on into D. */
void hui_gemm_finish32(const hu_gemm_call *call, size_t i, size_t j0, size_t n, float *sum, hu_events *events);
void hui_gemm_finish64(const hu_gemm_call *call, size_t i, size_t j0, size_t n, double *sum, hu_events *events);
void hui_gemm_finish(const hu_gemm_call *call, size_t i, size_t j, hu_num sum, hu_events *events);
/* Returns the sign of an exact zero sum. */
uint32_t hui_gemm_zero_sign(const hu_gemm_call *call, size_t i, size_t j);
/* The call has entered the environment, to nearest, on its own thread, which alone runs what is one part. Other parts
 * enter and leave it themselves. */
static inline hu_float_env hui_gemm_enter(size_t parts) {
  hu_float_env none = {0, 0};
  return parts > 1 ? hui_float_env_enter(HU_LANE_NEAREST) : none;
}
static inline void hui_gemm_leave(size_t parts, hu_float_env saved) {
  if (parts > 1) hui_float_env_leave(saved);
}
/* blocks.c. Sets the largest blocks that the way's stack allows, or smaller ones, where there would be too few for the
 * threads. */
void hui_gemm_set_blocks(hu_gemm_call *call, size_t rows, size_t row_step, size_t cols, size_t column_step);
/* Computes the block of D at (i0, j0). */
typedef void hu_gemm_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events);
/* Runs all blocks, over the call's threads. */
void hui_gemm_run(hu_gemm_call *call, hu_gemm_block *block, hu_events *events);

/* A way of computing a product: a file, and a line in gemm.c's list. */
typedef struct hu_gemm_way {
  const char *name;
  /* 1: D is computed. 0: the way does not serve this call, and has written nothing. */
  int (*run)(hu_gemm_call *call, const hu_level *level, hu_events *events);
} hu_gemm_way;
extern const hu_gemm_way hu_way_fp32;                                  /* fp32.c */
extern const hu_gemm_way hu_way_short, hu_way_digits;                  /* short/: AVX2, VNNI, AMX */
extern const hu_gemm_way hu_way_exact64, hu_way_brackets;              /* exact.c */
extern const hu_gemm_way hu_way_wide;                                  /* exact_wide.c: any exact sum */
extern const hu_gemm_way hu_way_half, hu_way_half_steps;               /* steps/: the CPU's own binary16 */
extern const hu_gemm_way hu_way_seq, hu_way_seq_modes, hu_way_unfused; /* files of these names, in lanes */
extern const hu_gemm_way hu_way_pairs;                                 /* pairs.c: VDPBF16PS, AMX */
extern const hu_gemm_way hu_way_unit;                                  /* unit.c: block(...) in lanes */
extern const hu_gemm_way hu_way_slices, hu_way_steps;                  /* steps/: what the ways above leave, in lanes */
extern const hu_gemm_way hu_way_by_model;                              /* by_model.c: any model, value by value */

/* short/exact_short.c, for emu/scaled_gemm: the exact sums of products 0 ... every - 1, and so on, of each element,
 * each rounded into binary32, to nearest; times their factors they are added to sum, one after another: part(i, j) by
 * hu_short_join's operations. A is m x k, B k x n, sum m x n, contiguous; values are on their grids. */
typedef struct hu_gemm_parts {
  size_t m, n, k, every;
  hu_view a, b; /* settled */
  float *sum;
  int twice, unfused;
  /* The factors of some rows, and of all columns, for products from k on. */
  void (*factors)(void *context, size_t row, size_t rows, size_t k, float *rows_of_a, float *columns_of_b);
  void *context;
} hu_gemm_parts;
/* 0: the way does not serve, and sum is as it was. */
int hui_gemm_short_parts(const hu_gemm_parts *parts, const hu_exec *exec);

/* What ways share: exact.c. 1 if binary64 sums are exact, by the formats or by what is there. */
int hui_gemm_fits_exact64(hu_gemm_call *call);
/* exact_wide.c. Computes the elements with open[i ldo + j] = 1 of the block at (i0, j0), in integers. */
void hui_gemm_sum_open(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, const uint8_t *open,
                       size_t ldo, hu_events *events);
/* by_model.c. Computes a block under any model. */
void hui_gemm_model_block(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, hu_events *events);
/* finish_open.c: as hui_gemm_finish32; sums that are NaN are left open, and computed by the model. */
void hui_gemm_finish_open(const hu_gemm_call *call, size_t i, size_t j0, size_t n, float *sum, hu_events *events);

/* Whether there are no scales and no step is watched, which lanes of chains ask for first. */
static inline int hui_gemm_is_bare(const hu_gemm_call *call) { return !call->watches && !call->scale_a.data; }
/* Returns the binary32 pattern of 2^exponent, -126 <= exponent <= 127. */
static inline uint32_t hui_power_bits(int32_t exponent) { return (uint32_t)(exponent + 127) << 23; }
/* Checks for formats that binary32 lanes round into by an anchor: a sign, gradual subnormals, a range within
 * binary32's, 2 to most_m + 1 digits. */
static inline int hui_lanes_round_into(const hu_spec *spec, int32_t most_m) {
  if (!hui_spec_is_plain(spec)) return 0;
  return spec->m >= 1 && spec->m <= most_m && spec->emin >= -126 && spec->emax > spec->emin && spec->emax <= 127;
}
/* Checks whether every value of x belongs to F's grid, its upper end apart. */
static inline int hui_on_grid_of(const hu_matrix *x, const hu_spec *spec) {
  return !x->data || (x->spec.m <= spec->m && x->spec.emin - x->spec.m >= spec->emin - spec->m);
}
static inline size_t hui_up_to(size_t n, size_t step) { return (n + step - 1) / step * step; }

#endif
