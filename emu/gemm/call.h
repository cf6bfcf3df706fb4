/* SPDX-License-Identifier: MIT */
/* emu/gemm/call.h - one call of hu_gemm between its files. */
#ifndef HALFULP_EMU_GEMM_CALL_H
#define HALFULP_EMU_GEMM_CALL_H

#include "emu/base/exec.h"
#include "emu/gemm/check.h"
#include "emu/core/lane_constants.h"
#include "emu/core/round.h"
#include "emu/gemm/kernels.h"
#include "emu/gemm/seq.h"
#include "emu/gemm/seq_modes.h"
#include "emu/gemm/unfused.h"
#include "emu/gemm/unit.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"
#include "halfulp/gemm.h"

/* An operand, checked. rows and columns are those of the product; element (i, j) is stored at i ld + j, or at j ld + i.
 */
typedef struct hu_matrix {
  const void *data;               /* NULL: absent (C), or no elements */
  size_t rows, columns, ld, size; /* size: bytes of an element */
  hu_format format;
  hu_spec spec;
  hu_narrow undo;               /* lane constants of its codes */
  const hu_kernels *kernels;    /* to decode with; NULL: the one-value core */
  const hu_gemm_kernels *moves; /* copies and widening */
  uint32_t least_normal;        /* the least code with an exponent field above 0 that is normal in binary64 */
  uint32_t unseen;              /* digits of codes that the model does not look at (block(...), in=) */
  uint8_t patterns;             /* 1: elements are binary32 patterns, values or codes of binary32 itself */
  uint8_t carried;              /* 1: binary32 holds every value */
  uint8_t transposed, values;
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
  hu_matrix scale_a, scale_b; /* hu_gemm_scaled; else absent */
  uint8_t *d;
  size_t ldd, d_size; /* elements, bytes of one */
  int d_values, d_binary32;
  hu_spec spec; /* of D */
  hu_narrow narrow;
  const hu_kernels *rounding; /* kernels that round binary32 sums into D; NULL: the core */
  int odd_first;              /* binary64 sums may go through binary32 rounded to odd */
  hu_stream stream;
  uint32_t threads;
  const hu_gemm_kernels *kernels;
  const hu_accum *accum;
  int exact;                         /* accum is `exact` */
  const hu_seq_kernels *seq_kernels; /* seq.c, and the constants and the way to begin with */
  hu_seq seq;
  int seq_way;
  const hu_steps_kernels *steps_kernels; /* unfused.c */
  hu_steps steps;
  const hu_block_kernels *block_kernels; /* unit.c */
  hu_block_plan block_plan;
  hu_block_operand block_a, block_b, block_scale;
  const hu_modes_kernels *modes_kernels; /* seq_modes.c */
  hu_modes modes;
  hu_span sa, sb, sc; /* where no format alone proves binary64 sums exact */
  size_t block_rows, block_columns, across;
  void (*block)(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events);
  hu_events events[HU_THREADS_MAX]; /* one a part */
  hu_watch *watches;                /* likewise; NULL: nobody watches */
};

/* operand.c. Fills *x from a checked operand; absent: NULL. */
void hu_gemm_matrix(hu_matrix *x, const hu_operand *from, size_t rows, size_t columns, const hu_level *level,
                    const hu_gemm_kernels *kernels);
/* n elements of a stored row, exact. */
void hu_gemm_read32(const hu_matrix *x, size_t row, size_t column, size_t n, float *z);
void hu_gemm_read64(const hu_matrix *x, size_t row, size_t column, size_t n, double *z);
/* The stored elements themselves where they are binary32 patterns, else NULL. */
const float *hu_gemm_direct32(const hu_matrix *x, size_t row, size_t column);
hu_num hu_gemm_element(const hu_matrix *x, size_t i, size_t j);
/* 1 if every element of these stored rows is a value of the matrix's format. */
int hu_gemm_on_grid(const hu_matrix *x, size_t row, size_t rows);
/* The span of a whole matrix. */
hu_span hu_gemm_span(const hu_matrix *x);
size_t hu_gemm_stored_rows(const hu_matrix *x);
size_t hu_gemm_stored_columns(const hu_matrix *x);

void hu_gemm_set_result(hu_gemm_call *g, const hu_result *d, hu_mode mode, const hu_level *level);
/* Rounds n sums of row i from column j0 on into D. */
void hu_gemm_finish32(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum, hu_events *events);
void hu_gemm_finish64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum, hu_events *events);
void hu_gemm_finish(const hu_gemm_call *g, size_t i, size_t j, hu_num sum, hu_events *events);
/* The sign of an exact zero sum. */
uint32_t hu_gemm_zero_sign(const hu_gemm_call *g, size_t i, size_t j);
/* gemm.c. Sets the largest blocks that the model's stack allows, or smaller ones if the threads want more of them. */
void hu_gemm_set_blocks(hu_gemm_call *g, size_t rows, size_t row_step, size_t columns, size_t column_step);

/* exact.c (and check.h), exact_wide.c: choose the blocks and their function. */
int hu_gemm_spans_fit64(const hu_gemm_call *g);
int hu_gemm_brackets_help(const hu_gemm_call *g);
void hu_gemm_use_binary64(hu_gemm_call *g);
void hu_gemm_use_brackets(hu_gemm_call *g);
void hu_gemm_use_wide(hu_gemm_call *g);
/* The elements with open[i ldo + j] = 1 of the block at (i0, j0), in integers. */
void hu_gemm_sum_open(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t columns, const uint8_t *open,
                      size_t ldo, hu_events *events);
/* by_model.c: every other model, one element at a time. */
void hu_gemm_use_model(hu_gemm_call *g);
void hu_gemm_model_block(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t columns, hu_events *events);
/* seq.c: seq(F) in lanes; 0 if they do not serve. */
int hu_gemm_use_seq(hu_gemm_call *g, const hu_level *level);
/* Sums of row i; the NaN among them stand for elements still to be computed. */
void hu_gemm_finish_open(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum, hu_events *events);
/* unfused.c: models of unfused steps in lanes; 0 if they do not serve. */
int hu_gemm_use_steps(hu_gemm_call *g, const hu_level *level);
/* unit.c: block(...) in lanes; 0 if they do not serve. */
int hu_gemm_use_block(hu_gemm_call *g, const hu_level *level);
/* seq_modes.c: seq(F), seq2(P,F) in modes other than ties to even in lanes; 0 if they do not serve. */
int hu_gemm_use_modes(hu_gemm_call *g, const hu_level *level);

/* The binary32 pattern of 2^e, -126 <= e <= 127. */
static inline uint32_t hu_power_bits(int32_t e) { return (uint32_t)(e + 127) << 23; }
/* Formats that binary32 lanes round into by an anchor: a sign, gradual subnormals, a range within binary32's, 2 to
 * most_m + 1 digits. */
static inline int hu_lanes_round_into(const hu_spec *f, int32_t most_m) {
  if (!hu_spec_is_plain(f)) return 0;
  return f->m >= 1 && f->m <= most_m && f->emin >= -126 && f->emax > f->emin && f->emax <= 127;
}
/* Does every value of x belong to F's grid, its upper end apart? */
static inline int hu_on_grid_of(const hu_matrix *x, const hu_spec *f) {
  return !x->data || (x->spec.m <= f->m && x->spec.emin - x->spec.m >= f->emin - f->m);
}
static inline size_t hu_up_to(size_t n, size_t step) { return (n + step - 1) / step * step; }

#endif
