/* SPDX-License-Identifier: MIT */
/* halfulp/gemm.h - multiply matrices, D = A B + C, with the order and the roundings of the sums stated.
 *
 *   hu_operand a = {codes_a, k, e4m3, HU_STORAGE_CODES, 0}, b = {codes_b, n, e4m3, HU_STORAGE_CODES, 0};
 *   hu_result d = {z, n, hu_binary32(), HU_STORAGE_VALUES};
 *   hu_accum fp32 = {.kind = HU_ACCUM_FP32};
 *   hu_status s = hu_gemm(m, n, k, &d, &a, &b, NULL, &fp32, rne, NULL, NULL);
 *
 * A is m x k, B is k x n, C and D are m x n, row-major. There are no alpha and beta: they would be roundings of their
 * own. Each matrix has its own format and is stored as codes of it or as binary32 values on its grid. The accumulation
 * model (accum.h) says how each element is summed. The last step is always one rounding of the model's sum into D's
 * format by `mode`, with R = the high N bits of word i*n + j of exec->stream for element (i, j). `exec` NULL means
 * stream (0, 0), for roundings inside the sums, too: the same random words in every such call.
 *
 * What a model asks for, and what makes it fast. The bits and events are the same whether it is fast or not:
 *
 *   model       operands                   fast                                otherwise
 *   exact       any formats                sums that are exact in binary64:    in binary64 with a proved bound of the
 *                                          by hu_gemm_exact64, or by the       error, which decides most results; the
 *                                          values that are there               rest in a wide integer
 *   fp32        A, B, C fit binary32       always                              (HU_E_CARRIER)
 *               (hu_format_fits_binary32)
 *   any other   those that the model       in vector lanes: next table         element by element, as in
 *               takes; no scales, no                                           docs/numerics.md section 11, with the
 *               integers (HU_E_ACCUM)                                          random words of element i*n + j there
 *
 * Under align, groups and late of block(...), C's format must be one that the accumulator holds (HU_E_ACCUM). Models
 * with scales are for hu_gemm_scaled.
 *
 * Vector lanes require A, B and C to fit binary32, and formats in the model with a sign, gradual subnormals and a range
 * within binary32's. Beside that they require:
 *
 *   seq(F), ties to even                        F of 2 to 12 digits
 *   seq(F), seq2(P,F), other modes              sra:N, srb:N: digits of F and N together at most 24, 23
 *                                               rnz, raz, rto, src:N: digits of F and N together at most 22, fewer near
 *                                               the lower end of binary32
 *   seq2, chunk, kahan, neumaier, and           formats of 2 to 11 digits, each no finer than the one it is added to;
 *   promotions of them but chunk,               all but seq: operands of together at most 24 digits
 *   ties to even
 *   pairwise, strided, and chunk, kahan,        formats and modes as for seq2 in other modes, and binary32 in ties to
 *   neumaier, promotions of seq, seq2, fp32     even; operands of together at most 24 digits, except under promotions
 *   and all of these, any mode                  of seq and fp32
 *   splitk(S,M)                                 what M asks for; M's sums within binary32, of at most 22 digits or in
 *                                               binary32
 *   block(...), alone, in promote or splitk     formats of any digits; modes but RNA, RNZ, RAZ and the stochastic ones;
 *                                               F (F2) + log2 l at most about 48; l (2 l with mod4) at most 128.
 *                                               Every preset of NVIDIA's and AMD's units on matrices of codes is such
 *
 * On processors whose level has no fused multiply-adds (HU_LEVEL_VECTOR), the lanes of pairwise serve seq, seq2 and
 * fp32, too, all with operands of together at most 24 digits, and block(...) goes element by element.
 *
 * An instruction that is what a model says computes it where the CPU has it (array.h): VDPBF16PS (HU_LEVEL_BF16) under
 * intel.vdpbf16ps, by whatever name its block(...) goes, on operands of bfloat16. VPDPBUSD and VPDPWSSD
 * (HU_LEVEL_VNNI), or else AVX2's VPMADDUBSW and VPMADDWD (HU_LEVEL_MADD), compute exact products from k = 128 on,
 * where the values of A and of B are integers of up to 8 bits (FP4, E2M3, int8) or 15 bits, by their formats or as they
 * are there, times a power of two; and the exact parts of hu_scaled_gemm. A library that was built with Meson's option
 * `unconfirmed_units` has more (below).
 *
 * Special operands:
 *
 *   all models  a NaN operand, infinity times zero, or infinities of both signs in a sum give NaN; an infinity
 *               otherwise gives an infinity
 *   exact       an exact zero sum is -0 if every term (products and C) is -0, and, when some term is not -0, only if
 *               the mode is toward negative and the terms are not all +0; else it is +0. An absent C is the term +0
 *   fp32        the signs are those of IEEE 754 fused multiply-add, ties to even, step by step
 *   others      docs/numerics.md section 11
 *
 * Events: for each element those of the last rounding count (nan_in, inf_in: the model's sum is NaN, infinite). A NaN
 * sum none of whose operands is NaN counts as invalid instead of nan_in (and as both invalid in one where the NaN
 * policy is `error`).
 *
 * m, n, k may be 0: k = 0 gives D = C. D may be the same array as C (same storage, format, ld, C not transposed); no
 * other overlap of D with an operand is allowed. Errors, after which D and events are untouched:
 *
 *   HU_E_FORMAT, HU_E_MODE      a format or mode that its check refuses
 *   HU_E_ACCUM                  a model that is invalid, or that does not go with these matrices
 *   HU_E_OPERAND_A, _B, _C      the model takes operands of one format, as matrix units do, and this is another
 *   HU_E_CARRIER                fp32: an operand's format does not fit binary32
 *   HU_E_NULL, HU_E_ALIGN       a pointer is missing, or not aligned to its element
 *   HU_E_SHAPE                  ld is too small, or sizes do not fit the address space
 *   HU_E_OVERLAP                D overlaps an operand
 *   HU_E_GRID                   a binary32 operand that is not a value of its format; -0 is one only if the format
 *                               has -0
 *   HU_E_CODE                   an operand holds a code with bits above its format's width (array.h)
 *
 * No allocation; up to 512 KiB of stack in the calling thread and in each further one, 704 KiB under splitk. */
#ifndef HALFULP_GEMM_H
#define HALFULP_GEMM_H

#include "halfulp/accum.h"
#include "halfulp/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Further switches of hu_exec.levels_off. HU_LEVEL_MADD is no bit of hu_levels(), since every CPU of HU_LEVEL_AVX2 has
 * its instructions. The others are bits of it, of units without a recorded run on a CPU (tests/golden/hw): tests have
 * those of x86 in plain C, and run those of Arm under an emulator. A library has them if Meson's option
 * `unconfirmed_units` was set when it was built, and the CPU and its kernel have them.
 *
 * HU_LEVEL_STREAMS is an order of addresses, which is faster on some CPUs and slower on others, and no run of these
 * calls on a CPU that it is meant for is recorded yet. It concerns contiguous arrays of at least 2^22 elements whose z
 * is not x. hu_quantize_n and hu_decode_n (array.h), hu_s2fp8_quantize_n and hu_s2fp8_truncate_n (s2fp8.h) write their
 * values to four pages of 4 KiB side by side, around the caches. All of these but hu_decode_n, and hu_encode_n and
 * hu_s2fp8_encode_n, ask for their operands ahead in the same order; so do hu_scaled_encode and hu_scaled_quantize
 * (scaled.h) of matrices of as many elements, in place or not.
 *
 * Tiles of AMX are given to a process that asks: the first call that could use them, hu_levels() among these, asks
 * Linux (arch_prctl, ARCH_REQ_XCOMP_PERM) for the whole process. A refusal leaves the level out. A call sets up the
 * tiles in each of its threads and gives them up before it returns. */
enum {
  HU_LEVEL_AMX_BF16 = 1u << 7,  /* AMX-BF16, with AVX-512: TDPBF16PS, for its own model intel.tdpbf16ps */
  HU_LEVEL_AMX_INT8 = 1u << 8,  /* AMX-INT8, with AVX512_VNNI: off where that is. TDPBSSD and TDPBUSD, for what VPDPBUSD
                                  computes, and, in digits of 7 bits, for exact products of integers of up to 21 (E4M3,
                                  E5M2 over some binades) */
  HU_LEVEL_FP16 = 1u << 9,      /* AVX512-FP16, with AVX-512, and Arm's FEAT_FP16, with NEON: operations on binary16 in
                                  the modes RNE, RTZ, RTP and RTN. For seq, seq2, chunk, pairwise, strided, kahan and
                                  neumaier whose sums and rounded products are binary16, and splitk of these, of
                                  operands that binary16 holds; and for hu_add_n, hu_sub_n, hu_mul_n, hu_div_n,
                                  hu_sqrt_n and hu_fma_n where all formats are binary16 (view.h) */
  HU_LEVEL_AVX_VNNI = 1u << 10, /* AVX-VNNI, with AVX2: off where that is. VPDPBUSD and VPDPWSSD in 256 bits, where
                                  HU_LEVEL_VNNI is not there */
  HU_LEVEL_MADD = 1u << 11, /* AVX2's VPMADDWD and VPMADDUBSW, off where AVX2 is: exact products of short integers where
                                  neither of the two is there */
  HU_LEVEL_STREAMS = 1u << 12 /* CPUs by Intel with AVX2 or AVX-512, off where both are: large arrays are read and
                                  written by four pages side by side */
};

/* How a matrix is stored. */
enum {
  HU_STORAGE_VALUES = 0, /* binary32 values on its format's grid */
  HU_STORAGE_CODES = 1   /* codes of its format */
};

/* A matrix to read. Element (i, j) is at i * ld + j, or at j * ld + i if transposed. An array of codes must say so in
 * `storage`: 0 reads binary32 values, four bytes each. */
typedef struct hu_operand {
  const void *data; /* float, or uint8_t / uint16_t / uint32_t codes by hu_limits.storage */
  size_t ld;        /* elements from one stored row to the next, >= the stored row's length */
  hu_format format;
  uint8_t storage;    /* HU_STORAGE_VALUES: binary32 values on the grid; HU_STORAGE_CODES */
  uint8_t transposed; /* 1: stored as the transpose */
} hu_operand;

/* The matrix to write: element (i, j) at i * ld + j. */
typedef struct hu_result {
  void *data;
  size_t ld;
  hu_format format;
  uint8_t storage;
} hu_result;

/* D = A B + C: each element's sum as the model `accum` forms it, then one rounding into d's format by `mode`. A is
 * m x k, B is k x n, C and D are m x n; c NULL: no C. exec and events are those of array.h; errors stand at the head of
 * gemm.h. */
HU_API HU_MUST_CHECK hu_status hu_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                       const hu_operand *b, const hu_operand *c, const hu_accum *accum, hu_mode mode,
                                       const hu_exec *exec, hu_events *events);

/* The same under a model with scales (hu_accum_is_scaled; HU_E_ACCUM: another one): SA is m x s and SB s x n, s = k / N
 * rounded up, where one scale belongs to N consecutive products: `every` of block(...), N of promote(N,...,scaled).
 * Product k of element (i, j) has the scales SA(i, floor(k / N)) and SB(floor(k / N), j), as in hu_dot: the formulas
 * and random words of docs/numerics.md section 11 hold element by element. Their format is the model's (`scale`;
 * HU_E_ACCUM: another), of promote(...,scaled) any; codes or values. A NaN scale is a NaN operand where events are
 * counted. Errors are those of hu_gemm; D overlaps no scales. */
HU_API HU_MUST_CHECK hu_status hu_gemm_scaled(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                              const hu_operand *b, const hu_operand *c, const hu_operand *sa,
                                              const hu_operand *sb, const hu_accum *accum, hu_mode mode,
                                              const hu_exec *exec, hu_events *events);

/* hu_gemm (sa and sb NULL), hu_gemm_scaled with the additions inside the sums watched (hu_watch of accum.h): the same D
 * and events, but every element is computed by itself in integers, 20 to 100 ns a product. `exact` has no additions.
 * watch NULL: nothing is watched. */
HU_API HU_MUST_CHECK hu_status hu_gemm_watched(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                               const hu_operand *b, const hu_operand *c, const hu_operand *sa,
                                               const hu_operand *sb, const hu_accum *accum, hu_mode mode,
                                               const hu_exec *exec, hu_events *events, hu_watch *watch);

/* 1 if every partial sum of c + k products of values of fa and fb (c of format *fc; NULL: absent) is a binary64 number
 * whatever the order of the additions: all terms are multiples of 2^q, q >= -1074, and their absolute values add up to
 * at most 2^53 2^q. */
HU_API int hu_gemm_exact64(size_t k, hu_format fa, hu_format fb, const hu_format *fc);

#ifdef __cplusplus
}
#endif
#endif
