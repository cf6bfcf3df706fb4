/* SPDX-License-Identifier: MIT */
/* halfulp/gemm.h - multiply matrices, D = A B + C, with the order and the roundings of the sums stated.
 *
 *   hu_view a = hu_matrix_codes(codes_a, k, e4m3), b = hu_matrix_codes(codes_b, n, e4m3);
 *   hu_output d = hu_matrix_floats_out(z, n);
 *   hu_accum fp32 = {.kind = HU_ACCUM_FP32};
 *   hu_status s = hu_gemm(m, n, k, &d, &a, &b, NULL, &fp32, NULL);
 *
 * A is m x k, B is k x n, C and D are m x n. There are no alpha and beta: they would be roundings of their own. Each
 * matrix is a view (view.h): codes of a format (HU_TYPE_CODES), binary32 values on a format's grid (HU_TYPE_VALUES32),
 * or any binary32 numbers (HU_TYPE_BINARY32). One of its `stride` and `row` is 1 and the other at least the length of
 * what lies together: rows of A, B and C, or their columns, which is a transposed matrix (hu_transposed); rows of D.
 * The accumulation model (accum.h) says how each element is summed. The last step is always one rounding of the model's
 * sum into D's format by how->mode, with R = the high N bits of word i*n + j of exec->stream for element (i, j). `exec`
 * NULL means stream (0, 0), for roundings inside the sums, too: the same random words in every such call.
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
 * with scales are for products that give `sa` and `sb`.
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
 * are there, times a power of two; and the exact parts of scaled tensors. A library that was built with Meson's option
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
 * m, n, k may be 0: k = 0 gives D = C. D may be the same array as C (same type and row, C not transposed); no other
 * overlap of D with an operand is allowed. Errors, after which D and events are untouched:
 *
 *   HU_E_FORMAT, HU_E_MODE      a format or mode that its check refuses, or a view of another type
 *   HU_E_ACCUM                  a model that is invalid, or that does not go with these matrices
 *   HU_E_OPERAND_A, _B, _C      the model takes operands of one format, as matrix units do, and this is another
 *   HU_E_CARRIER                fp32: an operand's format does not fit binary32
 *   HU_E_NULL, HU_E_ALIGN       a pointer is missing, or not aligned to its element
 *   HU_E_SHAPE                  neither stride nor row is 1, the other is too small, or sizes do not fit the address
 *                               space
 *   HU_E_OVERLAP                D overlaps an operand
 *   HU_E_GRID                   a binary32 operand that is not a value of its format; -0 is one only if the format
 *                               has -0
 *   HU_E_CODE                   an operand holds a code with bits above its format's width (array.h)
 *
 * No allocation; up to 512 KiB of stack in the calling thread and in each further one, 704 KiB under splitk.
 *
 * Scaled tensors. A product with `sum` in place of `accum` takes A, B and C that are scaled tensors (scaled.h) under
 * any hu_scaling, ragged or not, or plain matrices as above; D is plain, or a scaled tensor into which the result is
 * encoded:
 *
 *   hu_scaled_sum dsv3 = hu_scaled_sum_parts(nv_hopper_wgmma, fp32, HU_SCALED_FACTOR_ROUNDED);
 *   hu_product product = {.m = m, .n = n, .k = k, .d = d, .sum = &dsv3};
 *   hu_scaled codes = {codes_a, k, scales_a, (k + 127) / 128, NULL};
 *   product.a = hu_scaled_matrix(&codes, &dsv3_1x128);
 *   product.bytes = hu_multiply_space(&product, NULL);
 *   product.space = ...
 *   hu_status s = hu_multiply(&product, &how);
 *
 * docs/scaled.md section 9 is normative; element (i, j) is, in short, with a, b the numbers of the element codes, s and
 * t the scales:
 *
 *   parts     k is cut into the longest runs in which no scale of A or of B changes.
 *             P[r] = rne32(inside: sum of a b over run r, from +0);  across: C + sum of w[r] P[r], r ascending, where
 *             `factor` says how the scales make w[r]
 *   unit      the scales go into a model that takes them (block(...,scale=...), promote(N,...,scaled)), as in matrix
 *             units; tensor scales t are applied to the sum
 *   decoded   A and B are decoded into binary32 values (and these rounded into the format `as`, if there is one), then
 *             multiplied as above: what training with simulated quantization computes
 *
 * and one last rounding into D. Products that give `sa` and `sb` are the raw form of `unit`: they take matrices of
 * codes and matrices of one scale per element of a row and run, these ones tensors as hu_scaled_encode leaves them. */
#ifndef HALFULP_GEMM_H
#define HALFULP_GEMM_H

#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/array.h"
#include "halfulp/scaled.h"

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

/* Computes D of a product: one call for all of them, plain, of scaled tensors (below), and of the kinds of s2fp8.h.
 * how NULL: ties to even, here, events not counted. What plain products take:
 *
 *   accum     the model; HU_E_NULL without one
 *   sa, sb    under a model with scales (hu_accum_is_scaled), and only there (else HU_E_ACCUM): SA is m x s and SB
 *             s x n, s = k / N rounded up, where one scale belongs to N consecutive products: `every` of block(...), N
 *             of promote(N,...,scaled). Product k of element (i, j) has the scales SA(i, floor(k / N)) and
 *             SB(floor(k / N), j), as in hu_dot: the formulas and random words of docs/numerics.md section 11 hold
 *             element by element. Their format is the model's (`scale`; HU_E_ACCUM: another), of promote(...,scaled)
 *             any; codes or values. A NaN scale is a NaN operand where events are counted. D overlaps no scales
 *   watch     the additions inside the sums are watched (hu_watch of accum.h): the same D and events, but every element
 *             is computed by itself in integers, 20 to 100 ns a product. `exact` has no additions. HU_E_DEVICE: not on
 *             this CPU
 *   the rest  is not looked at */
HU_API HU_MUST_CHECK hu_status hu_multiply(const hu_product *product, const hu_how *how);

/* D = A B + C under a model without scales: hu_multiply. c NULL: no C. */
static inline HU_MUST_CHECK hu_status hu_gemm(size_t m, size_t n, size_t k, const hu_output *d, const hu_view *a,
                                              const hu_view *b, const hu_view *c, const hu_accum *accum,
                                              const hu_how *how) {
  hu_product product;
  if (!d || !a || !b) return HU_E_NULL;
  memset(&product, 0, sizeof product);
  product.m = m;
  product.n = n;
  product.k = k;
  product.d = *d;
  product.a = *a;
  product.b = *b;
  if (c) product.c = *c;
  product.accum = accum;
  return hu_multiply(&product, how);
}

/* 1 if every partial sum of c + k products of values of fa and fb (c of format *fc; NULL: absent) is a binary64 number
 * whatever the order of the additions: all terms are multiples of 2^q, q >= -1074, and their absolute values add up to
 * at most 2^53 2^q. */
HU_API int hu_gemm_exact64(size_t k, hu_format fa, hu_format fb, const hu_format *fc);

/* Ways of summing. */
enum {
  HU_SCALED_PARTS = 0,   /* parts: run by run, factors between them */
  HU_SCALED_UNIT = 1,    /* unit: a matrix unit that takes scales */
  HU_SCALED_DECODED = 2, /* decoded: values first, then a plain product */
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
  hu_accum inside; /* parts: within a run, without scales; unit: a model with scales; decoded: any without scales */
  hu_accum across; /* parts: exact, fp32, fp64, seq ... neumaier, promote and splitk of these; else all zero */
} hu_scaled_sum;

/* Records of a way; hu_scaled_sum_check says whether they make sense. */
HU_API hu_scaled_sum hu_scaled_sum_parts(hu_accum inside, hu_accum across, uint8_t factor); /* runs of equal scales */
HU_API hu_scaled_sum hu_scaled_sum_unit(hu_accum model);    /* a model that takes the scales */
HU_API hu_scaled_sum hu_scaled_sum_decoded(hu_accum model); /* the values are decoded, then summed */
/* HU_OK or HU_E_ACCUM: a field out of range, a model that does not go where it stands (HU_E_FORMAT: `as`). */
HU_API HU_MUST_CHECK hu_status hu_scaled_sum_check(const hu_scaled_sum *sum);

/* A scaled tensor to read: element (i, j) of the view is element (i, j) of the tensor, or under hu_transposed (j, i),
 * where the blocks of its scaling still lie in the tensor as it is stored. Both records are read during the call; ld is
 * *x's, so that `row` is 0. Plain operands beside it have scales that are all 1 and never change. */
static inline hu_view hu_scaled_matrix(const hu_scaled *x, const hu_scaling *scaling) {
  hu_view view = hu_view_of(x, 1, hu_type_plain(HU_TYPE_SCALED));
  view.type.scaling = scaling;
  return view;
}
/* A scaled tensor to write: m x n, encoded. */
static inline hu_output hu_scaled_matrix_out(hu_scaled *z, const hu_scaling *scaling) {
  hu_output output = hu_output_of(z, 1, hu_type_plain(HU_TYPE_SCALED));
  output.type.scaling = scaling;
  return output;
}

/* The runs of way parts: their number, and where run r begins (k where r is their number or more). */
HU_API size_t hu_scaled_runs(size_t k, const hu_view *a, const hu_view *b);             /* the number of runs */
HU_API size_t hu_scaled_run_at(size_t k, const hu_view *a, const hu_view *b, size_t r); /* the first k of run r */

/* Returns the bytes of `space` that hu_multiply requires: the same for the same shapes, formats, ways and threads,
 * whatever the data; no pointer to elements or scales is followed, and they may be NULL. 0: none; SIZE_MAX: does not
 * fit, or an argument is not valid. Plain products need none; of scaled tensors:
 *
 *   space for                                     bytes
 *   parts that are summed, an epilogue            about 1 MiB a thread, or the parts of one element if more
 *   way `decoded`                                 4 an element of A and of B
 *   a scaled C or D, D under the unit's tensor    4 an element
 *   scales
 *   the unit's scales where blocks are not one    their copies
 *   line of the model's length
 *   elements in two's complement                  their copies
 *
 * hu_multiply of scaled tensors: the bits, events and stats are the same at any number of threads and any level. No
 * allocation; stack as above, and up to 64 KiB more.
 *
 *   mode      of the last rounding, or of the elements of D (hu_scaled_encode; default is `finite` there); its random
 *             words are those of element i n + j; `exec` NULL means stream (0, 0), the same words in every such call
 *   D scaled  y = the sum rounded into binary32, ties to even, then hu_scaled_encode of y
 *   events    those of the last rounding as above (a NaN among scales and tensor scales is a NaN operand), or those
 *             of hu_scaled_encode; nothing else counts
 *   sizes     m, n, k may be 0; k = 0: the sum is what the model (`across` in way parts) gives for no products, C in
 *             most of them, or the epilogue's of zero
 *   overlap   D may be C's own array where both are plain
 *   sa, sb, accum, watch    are not looked at
 *
 * Errors beside those above, after which D and events are untouched:
 *
 *   HU_E_SCALING, HU_E_FORMAT   an invalid description; amax or stats given although D takes none
 *   HU_E_ACCUM                  the sum is not valid; its model does not take these operands, block sides or scale
 *                               formats; or the model `across` names formats of operands, which any(MODEL) removes
 *   HU_E_OPERAND_A, _B, _C      a model that takes elements of one format: parts and unit look at the elements',
 *                               decoded at the format that is decoded into
 *   HU_E_SPACE                  bytes too few */
HU_API size_t hu_multiply_space(const hu_product *product, const hu_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
