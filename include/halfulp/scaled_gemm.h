/* SPDX-License-Identifier: MIT */
/* halfulp/scaled_gemm.h - multiply scaled tensors, D = A B + C, with every rounding of the sums stated.
 *
 *   hu_scaled_sum dsv3 = hu_scaled_sum_parts(nv_hopper_wgmma, fp32, HU_SCALED_FACTOR_ROUNDED);
 *   hu_scaled_operand a = {.scaling = &dsv3_1x128, .scaled = {codes, k, scales, (k + 127) / 128, NULL}};
 *   size_t bytes = hu_scaled_gemm_space(m, n, k, &d, &a, &b, NULL, &dsv3, NULL);
 *   hu_status s = hu_scaled_gemm(m, n, k, &d, &a, &b, NULL, &dsv3, rne, space, bytes, NULL, &events);
 *
 * Choose a way of summing (hu_scaled_sum), ask for the working space, then call hu_scaled_gemm. A is m x k, B is k x n,
 * C and D are m x n. A, B and C are scaled tensors (scaled.h) under any hu_scaling, ragged or not, or plain operands
 * (gemm.h). D is plain, or a scaled tensor into which the result is encoded. docs/scaled.md section 9 is normative;
 * element (i, j) is, in short, with a, b the numbers of the element codes, s and t the scales:
 *
 *   parts     k is cut into the longest runs in which no scale of A or of B changes.
 *             P[r] = rne32(inside: sum of a b over run r, from +0);  across: C + sum of w[r] P[r], r ascending, where
 *             `factor` says how the scales make w[r]
 *   unit      the scales go into a model that takes them (block(...,scale=...), promote(N,...,scaled)), as in matrix
 *             units; tensor scales t are applied to the sum
 *   decoded   A and B are decoded into binary32 values (and these rounded into the format `as`, if there is one), then
 *             hu_gemm: what training with simulated quantization computes
 *
 * and one last rounding into D. hu_gemm_scaled of gemm.h is the raw form of `unit`: it takes matrices of codes and
 * matrices of one scale per element of a row and run; this call takes tensors as hu_scaled_encode leaves them. */
#ifndef HALFULP_SCALED_GEMM_H
#define HALFULP_SCALED_GEMM_H

#include "halfulp/gemm.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A, B or C. Scaled: element (i, j) is element (i, j) of the tensor, or (j, i) if transposed: the blocks of its scaling
 * lie in the tensor as it is stored. Plain: all scales are 1, and no scale ever changes. */
typedef struct hu_scaled_operand {
  const hu_scaling *scaling; /* NULL: plain */
  hu_scaled scaled;          /* read only; cols of the tensor: k or m (A), n or k (B), n or m (C) */
  uint8_t transposed;        /* of the scaled tensor; 0 where plain */
  hu_operand plain;          /* all zero where scaled */
} hu_scaled_operand;

/* D: plain, or m x n encoded. amax and stats are those of hu_scaled_encode, and NULL where plain. */
typedef struct hu_scaled_result {
  const hu_scaling *scaling; /* NULL: plain */
  hu_scaled scaled;
  const float *amax;
  hu_scaled_stats *stats;
  hu_result plain; /* all zero where scaled */
} hu_scaled_result;

/* Ways of summing. */
enum {
  HU_SCALED_PARTS = 0,   /* parts: run by run, factors between them */
  HU_SCALED_UNIT = 1,    /* unit: a matrix unit that takes scales */
  HU_SCALED_DECODED = 2, /* decoded: values first, then hu_gemm */
  HU_SCALED_WAYS = 3     /* (count) */
};
/* Way parts: w[r] of element (i, j) from the scales sA, sB of the run and tA, tB of the tensors (1: there is none).
 * d = rne32(s t); rne32: rounded into binary32, ties to even, overflow to infinity. */
enum {
  HU_SCALED_FACTOR_EXACT = 0,   /* w = sA sB tA tB, exact: across's own rounding (of the product or the step) is the
                                   only one */
  HU_SCALED_FACTOR_ROUNDED = 1, /* w = rne32(dA dB): a scale first made of both, in binary32  (DeepGEMM's promotion) */
  HU_SCALED_FACTOR_TWICE = 2,   /* P is first replaced by rne32(P dA); w = dB  (DeepSeek-V3's published kernels) */
  HU_SCALED_FACTOR_ALPHA = 3,   /* w = rne32(rne32(sA) rne32(sB)); tA and tB as under `unit` */
  HU_SCALED_FACTOR_COUNT = 4    /* (count) */
};

/* How D's elements are summed; a plain record without pointers. */
typedef struct hu_scaled_sum {
  uint8_t way;     /* HU_SCALED_ */
  uint8_t factor;  /* parts: HU_SCALED_FACTOR_; else 0 */
  hu_format as;    /* decoded: what A and B are decoded into, within binary32; all zero: binary32 values */
  hu_accum inside; /* parts: within a run, without scales; unit: a model with scales; decoded: any that hu_gemm takes */
  hu_accum across; /* parts: exact, fp32, fp64, seq ... neumaier, promote and splitk of these; else all zero */
} hu_scaled_sum;

/* Records of a way; hu_scaled_sum_check says whether they make sense. */
HU_API hu_scaled_sum hu_scaled_sum_parts(hu_accum inside, hu_accum across, uint8_t factor); /* runs of equal scales */
HU_API hu_scaled_sum hu_scaled_sum_unit(hu_accum model);    /* a model that takes the scales */
HU_API hu_scaled_sum hu_scaled_sum_decoded(hu_accum model); /* the values are decoded, then summed */
/* HU_OK or HU_E_ACCUM: a field out of range, a model that does not go where it stands (HU_E_FORMAT: `as`). */
HU_API HU_MUST_CHECK hu_status hu_scaled_sum_check(const hu_scaled_sum *sum);

/* The runs of way parts: their number, and where run r begins (k where r is their number or more). */
HU_API size_t hu_scaled_runs(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b); /* the number of runs */
HU_API size_t hu_scaled_run_at(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b,
                               size_t r); /* the first k of run r */

/* Returns the bytes of working space that the call requires: the same for the same shapes, formats, ways and threads,
 * whatever the data; no pointer to data is followed. 0: none; SIZE_MAX: does not fit, or an argument is not valid.
 *
 *   space for                                     bytes
 *   parts that are summed, an epilogue            about 1 MiB a thread, or the parts of one element if more
 *   way `decoded`                                 4 an element of A and of B
 *   a scaled C or D, D under the unit's tensor    4 an element
 *   scales
 *   the unit's scales where blocks are not one    their copies
 *   line of the model's length
 *   elements in two's complement                  their copies */
HU_API size_t hu_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                                   const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum,
                                   const hu_exec *exec);

/* Computes D. c may be NULL: absent. space: `bytes` >= hu_scaled_gemm_space(...) bytes aligned to 64, overwritten;
 * overlaps nothing. The bits, events and stats are the same at any number of threads and any level. No allocation;
 * stack as gemm.h, and up to 64 KiB more.
 *
 *   mode      of the last rounding, or of the elements of D (hu_scaled_encode; default is `finite` there); its random
 *             words are those of element i n + j; `exec` NULL means stream (0, 0), the same words in every such call
 *   D scaled  y = the sum rounded into binary32, ties to even, then hu_scaled_encode of y
 *   events    those of the last rounding as in gemm.h (a NaN among scales and tensor scales is a NaN operand), or those
 *             of hu_scaled_encode; nothing else counts
 *   sizes     m, n, k may be 0; k = 0: the sum is what the model (`across` in way parts) gives for no products, C in
 *             most of them, or the epilogue's of zero
 *   overlap   D may be C's own array where both are plain, as in gemm.h
 *
 * Errors, after which D and events are untouched:
 *
 *   HU_E_SCALING, HU_E_FORMAT   an invalid description; amax given although D takes none
 *   HU_E_MODE                   a mode that hu_mode_check refuses
 *   HU_E_ACCUM                  the sum is not valid; its model does not take these operands, block sides or scale
 *                               formats; or the model `across` names formats of operands, which any(MODEL) removes
 *   HU_E_OPERAND_A, _B, _C      a model that takes elements of one format: parts and unit look at the elements',
 *                               decoded at the format that is decoded into
 *   HU_E_SPACE                  bytes too few
 *   HU_E_CARRIER, HU_E_NULL, HU_E_SHAPE, HU_E_ALIGN, HU_E_OVERLAP, HU_E_GRID, HU_E_CODE: as in gemm.h */
HU_API HU_MUST_CHECK hu_status hu_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *d,
                                              const hu_scaled_operand *a, const hu_scaled_operand *b,
                                              const hu_scaled_operand *c, const hu_scaled_sum *sum, hu_mode mode,
                                              void *space, size_t bytes, const hu_exec *exec, hu_events *events);

#ifdef __cplusplus
}
#endif
#endif
