/* SPDX-License-Identifier: MIT */
/* halfulp/s2fp8.h - encode and decode shifted and squeezed tensors: codes of a small format, and two numbers for all of
 * them.
 *
 *   hu_s2fp8 kind = hu_s2fp8_of(fp8);            // fp8 = fp(5,2,0): the format of the paper
 *   hu_s2fp8_sums sums = {0};
 *   hu_s2fp8_scale scale;
 *   hu_mode rne = {0};
 *   hu_status s = hu_s2fp8_sum_n(n, x, 1, &sums, NULL);
 *   if (s == HU_OK) s = hu_s2fp8_scale_of(&scale, &sums, &kind, NULL);
 *   if (s == HU_OK) s = hu_s2fp8_encode_n(n, codes, 1, x, 1, &kind, &scale, rne, NULL, NULL);
 *
 * Cambier, Bhiwandiwalla, Gong, Elibol, Nekuii, Tang: Shifted and Squeezed 8-bit Floating Point Format for
 * Low-Precision Training of Deep Neural Networks (ICLR 2020). docs/s2fp8.md is normative. In short:
 *
 *   L(x)       log2 |x| of a binary32 number x other than 0, rounded to a multiple of 2^-40 (never a tie)
 *   mu, m      the mean of L over the finite elements other than 0, rounded to a multiple of 2^-40, ties to even; and
 *              the largest L
 *   T          the target exponent: the largest element becomes 2^T, the mean of the logarithms 0. The paper's is 15.
 *   alpha      T / (m - mu), beta = -alpha mu
 *   code       the ONE rounding of the real number y = sign(x) 2^(T (L(x) - mu) / (m - mu)), which is
 *              sign(x) 2^(alpha L + beta), into the element format, in any mode. The largest
 *              element is 2^T exactly: no mode overflows.
 *   value      of the code of a number P other than 0: the ONE rounding of sign(P) 2^(mu + log2|P| (m - mu) / T) into
 *              binary32, ties to even. 2^T gives the largest |x| back, bit for bit.
 *
 * mu is a sum of integers, divided once: neither the order of the elements, nor threads, vectors or devices can change
 * it. It lies within 2^-40 of the mean of the exact logarithms.
 *
 * Zeros stay zeros of their sign and count nowhere. No finite element other than 0: mu = 0, m = T (alpha = 1, beta =
 * 0). One magnitude only (the mean is the largest L): mu = m - T instead of the mean (alpha = 1, beta = T - m): the
 * tensor comes back as it was. Infinities and NaNs are not in the statistics (they are counted); as elements they
 * become NaN, or what the element format does with them (`special`).
 *
 * Arrays, strides, overlap, `exec`, `events` and errors are as in array.h; HU_E_SCALING: a kind or scale that its check
 * refuses. No allocation; up to 64 KiB of stack in a thread. Kinds of codes of up to 8 bits with a sign, gradual
 * subnormals and zero at field 0, in the modes that are not stochastic, go through tables made for the call; the others
 * are computed element by element in integers: codes some 0.3 us, values 1 us, stochastic modes that look at more than
 * 46 digits 3 us. */
#ifndef HALFULP_S2FP8_H
#define HALFULP_S2FP8_H

#include "halfulp/array.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an infinite element becomes. */
enum {
  HU_S2FP8_NAN = 0,    /* nan: the NaN of their sign; in formats without NaN the largest number of their sign */
  HU_S2FP8_ELEMENT = 1 /* element: as an infinity rounds in the element format (docs/numerics.md section 3) */
};

/* The kind of a tensor. Text: "s2fp8" or "s2fp8(" format { ";target=" T | ";special=element" } ")". */
typedef struct hu_s2fp8 {
  hu_format element;
  uint16_t target; /* T, from 1 to the format's emax, not below its emin, at most 874; 0: emax */
  uint8_t special; /* HU_S2FP8_ */
  uint8_t reserved;
} hu_s2fp8;
/* T = emax, special nan. */
static inline hu_s2fp8 hu_s2fp8_of(hu_format element) {
  hu_s2fp8 kind;
  kind.element = element;
  kind.target = 0;
  kind.special = kind.reserved = 0;
  return kind;
}
/* HU_OK; HU_E_FORMAT or HU_E_SCALING, then, if why is not NULL, *why is a static sentence. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_check(const hu_s2fp8 *kind, const char **why);
/* T, with 0 looked up. 0 for a kind that its check refuses. */
static inline unsigned hu_s2fp8_target(const hu_s2fp8 *kind) {
  if (hu_s2fp8_check(kind, NULL) != HU_OK) return 0;
  return kind->target ? kind->target : HU_AS(unsigned, hu_limits_of(kind->element).emax);
}
/* Text to record and back, as hu_scaling_parse and hu_scaling_text of scaled.h: HU_E_TEXT, HU_E_NAME, HU_E_FORMAT,
 * HU_E_SCALING with *where; the canonical text is "s2fp8" where that is the kind, and leaves defaults out. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_parse(hu_s2fp8 *kind, const char *text,
                                              size_t *where); /* the record of a text */
#define HU_S2FP8_TEXT_MAX 192
HU_API size_t hu_s2fp8_text(char *text, size_t size, const hu_s2fp8 *kind); /* the canonical text of a record */

/* Logarithms are integers that count this: (double)mu * HU_S2FP8_UNIT is exact. */
#define HU_S2FP8_UNIT (1.0 / 1099511627776.0)
/* What has been seen of a tensor. All-zero: nothing. A plain sum: those of parts of a tensor added (low and high as one
 * number of 128 bits, two's complement; top the larger) are those of the whole. */
typedef struct hu_s2fp8_sums {
  uint64_t low;     /* the sum of L in units, its lower half */
  int64_t high;     /* its upper half */
  uint64_t count;   /* N': finite elements other than 0 */
  uint64_t special; /* infinities and NaNs */
  uint32_t top;     /* binary32 pattern of the largest finite |x| */
  uint32_t reserved;
} hu_s2fp8_sums;
/* ADDS the elements of x to *sums. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums,
                                              const hu_exec *exec);
/* The mean of L in units, rounded to an integer, ties to even; 0 if nothing was counted. Before the rule for one
 * magnitude, which hu_s2fp8_scale_of applies. */
HU_API int64_t hu_s2fp8_mean(const hu_s2fp8_sums *sums);
/* L(x) in units of a binary32 number that is finite and not 0; else INT64_MIN. */
HU_API int64_t hu_s2fp8_log2(float x);

/* What a tensor has besides its codes. mu < m, both within +-2^50 units, say everything; alpha and beta are for the
 * record, T / (m - mu) and -T mu / (m - mu) each rounded once to binary32 (+0 for mu = 0), and are not read. */
typedef struct hu_s2fp8_scale {
  int64_t mu, m; /* units */
  float alpha, beta;
} hu_s2fp8_scale;
/* From the sums. HU_E_SCALING also for sums that no elements have (a mean beyond the top). */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums, const hu_s2fp8 *kind,
                                                 const hu_exec *exec);
/* From given mu and m (delayed statistics, a file): alpha and beta are filled in. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_scale_from(hu_s2fp8_scale *scale, int64_t mu, int64_t m, const hu_s2fp8 *kind);
/* From alpha > 0 and beta as the paper stores them, two binary32 numbers: mu = -beta / alpha and m = mu + T / alpha,
 * both quotients rounded to units, ties to even. The scale's alpha and beta are those of that mu and m, which need not
 * be the ones given. HU_E_SCALING: not finite, alpha <= 0, or mu and m out of bounds or equal. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_scale_stored(hu_s2fp8_scale *scale, float alpha, float beta,
                                                     const hu_s2fp8 *kind);

/* z[i] = x[i] under a scale, as the types of the two say:
 *
 *   z HU_TYPE_CODES, x HU_TYPE_BINARY32      encode: the code of x[i]
 *   z HU_TYPE_BINARY32, x HU_TYPE_CODES      decode: the value of code x[i]
 *   z HU_TYPE_VALUES32, x HU_TYPE_BINARY32   quantize: the value of the code of x[i], in one pass: the bits of decode
 *                                            after encode, and encode's events
 *
 * The formats of the types play no part, for the kind has one. Stochastic modes take R from word i of exec->stream,
 * with how or `exec` NULL of stream (0, 0): the same words in every such call, here and below. An element above the
 * tensor that the scale was made from overflows as in docs/numerics.md section 3. Events: those of rounding y; of
 * infinities under `special` nan: inf_in, and invalid, or in formats without NaN saturated. Decoding has neither mode
 * nor events: NaN is 0x7FC00000, an infinity stays one, beyond binary32 the value is infinite. HU_E_FORMAT: other
 * types. HU_E_CODE: a code has bits above its width (array.h). */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_apply(size_t n, const hu_output *z, const hu_view *x, const hu_s2fp8 *kind,
                                              const hu_s2fp8_scale *scale, const hu_how *how);
/* The paper's truncation T: hu_s2fp8_sum_n from nothing, hu_s2fp8_scale_of, and quantizing as above; two passes over x.
 * *sums and *scale are set (not added to) if they are not NULL. z may be x. z: HU_TYPE_VALUES32, x:
 * HU_TYPE_BINARY32. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_truncate(size_t n, const hu_output *z, const hu_view *x, const hu_s2fp8 *kind,
                                                 hu_s2fp8_sums *sums, hu_s2fp8_scale *scale, const hu_how *how);

/* hu_s2fp8_apply with an argument for each part: to codes. */
static inline HU_MUST_CHECK hu_status hu_s2fp8_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x,
                                                        ptrdiff_t incx, const hu_s2fp8 *kind,
                                                        const hu_s2fp8_scale *scale, hu_mode mode, const hu_exec *exec,
                                                        hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_CODES));
  hu_view from = hu_floats(x, incx);
  hu_how how = hu_how_of(mode, exec, events);
  return hu_s2fp8_apply(n, &to, &from, kind, scale, &how);
}
/* Codes to values. */
static inline HU_MUST_CHECK hu_status hu_s2fp8_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x,
                                                        ptrdiff_t incx, const hu_s2fp8 *kind,
                                                        const hu_s2fp8_scale *scale, const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_output to = hu_floats_out(z, incz);
  hu_view from = hu_view_of(x, incx, hu_type_plain(HU_TYPE_CODES));
  hu_how how = hu_how_of(rne, exec, NULL);
  return hu_s2fp8_apply(n, &to, &from, kind, scale, &how);
}
/* To the values of codes. */
static inline HU_MUST_CHECK hu_status hu_s2fp8_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                          ptrdiff_t incx, const hu_s2fp8 *kind,
                                                          const hu_s2fp8_scale *scale, hu_mode mode,
                                                          const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_VALUES32));
  hu_view from = hu_floats(x, incx);
  hu_how how = hu_how_of(mode, exec, events);
  return hu_s2fp8_apply(n, &to, &from, kind, scale, &how);
}
/* hu_s2fp8_truncate likewise. */
static inline HU_MUST_CHECK hu_status hu_s2fp8_truncate_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                          ptrdiff_t incx, const hu_s2fp8 *kind, hu_mode mode,
                                                          hu_s2fp8_sums *sums, hu_s2fp8_scale *scale,
                                                          const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_VALUES32));
  hu_view from = hu_floats(x, incx);
  hu_how how = hu_how_of(mode, exec, events);
  return hu_s2fp8_truncate(n, &to, &from, kind, sums, scale, &how);
}

/* A tensor of n numbers of which no array is kept once it is rounded. Numbers first ... first + n - 1 are given where
 * they are wanted, `part` of them at a time, the last time the rest. `give` is called several times for a part, and
 * gives the same numbers each time, in memory of the caller's that stays until the same thread asks for another part or
 * the call returns. `take` is called with stretches of rounded numbers in z, in no stated order, each number once; it
 * leaves what `give` gave as it is, since later numbers of the part are still to be read. In a call of several threads
 * (exec->threads) both run in all of them: `thread`, from 0 on and below the number of threads, says which, and is
 * another one for what is in hand at the same time. */
typedef struct hu_s2fp8_parts {
  size_t part; /* at least 1; some ten thousand, which a cache holds, are quickest */
  const float *(*give)(void *context, size_t thread, size_t first, size_t n);
  void (*take)(void *context, size_t thread, size_t first, size_t n, const float *z);
  void *context;
} hu_s2fp8_parts;
/* hu_s2fp8_truncate_n of the tensor in an array: the same numbers, events, sums and scale. Gradients that are
 * truncated before they are added to a sum need no array for the truncated ones, which would be written and read
 * again. HU_E_NULL: no parts, or one of the functions is missing. HU_E_SHAPE: part is 0, or n is beyond what an
 * array can have. After an error nothing has been taken. Up to 80 KiB of stack in a thread, beside what the
 * functions take. */
HU_API HU_MUST_CHECK hu_status hu_s2fp8_truncate_parts(size_t n, const hu_s2fp8_parts *parts, const hu_s2fp8 *kind,
                                                       hu_mode mode, hu_s2fp8_sums *sums, hu_s2fp8_scale *scale,
                                                       const hu_exec *exec, hu_events *events);

/* A matrix of codes to read, for hu_multiply: codes and ld of *x, and its scales are one hu_s2fp8_scale. All three
 * records are read during the call.
 *
 * A product of two such matrices, or their transposes (hu_transposed), is D = A B + C in binary32: D and C, which may
 * be absent, are of HU_TYPE_BINARY32, and the model is `fp32` (HU_E_ACCUM). The bits are those of hu_s2fp8_decode_n of
 * A and of B and then a product of these values: D(i, j) = C(i, j) or +0, then fma(a(i, p), b(p, j), D(i, j)) for
 * p = 0, 1, ..., each rounded to binary32, ties to even; a NaN is 0x7FC00000. Mode and events play no part. Operands
 * are decoded panel by panel on the stack (up to 768 KiB a thread); on a device (device.h) whole into product->space,
 * of hu_multiply_space bytes, which are 0 on this CPU. D may be C with the same row, else must overlap nothing. Errors
 * as in gemm.h. */
static inline hu_view hu_s2fp8_matrix(const hu_scaled *x, const hu_s2fp8 *kind) {
  hu_view view = hu_view_of(x, 1, hu_type_plain(HU_TYPE_S2FP8));
  view.type.s2fp8 = kind;
  return view;
}

#ifdef __cplusplus
}
#endif
#endif
