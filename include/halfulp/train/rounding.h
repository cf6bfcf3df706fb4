/* SPDX-License-Identifier: MIT */
/* halfulp/train/rounding.h - how a whole tensor is rounded: not at all, or into a format, another number system, a
 * scaled tensor, a shifted and squeezed one.
 *
 *   hu_rounding r;
 *   if (hu_rounding_parse(&r, "float8_e5m2,sra:16", NULL) != HU_OK) ...
 *
 * Text: "keep", or what hu_scaling_parse, hu_s2fp8_parse, hu_format_parse or hu_number_parse read (but table(...));
 * after it in any order, each after a comma: a rounding mode (rne ... srb:N), "sat=" and a policy, "turned",
 * "over=inf", "nan=keep". A format's own commas are within parentheses or, behind a colon, are read as part of the
 * format as long as that makes one.
 *
 * nan=keep, of a format: a NaN stays one although the format may have none (counted as nan_in, as ever). over=inf, of a
 * format: the same, and what overflows (event `overflow`: its magnitude, rounded without an upper limit on the
 * exponent, is above max; in every mode) becomes an infinity of its sign, and infinities stay, although the format may
 * have none; then it is not counted as saturated. Gradients rounded so tell an automatic loss scale that they
 * overflowed, in formats whose every code is finite (Lee et al. 2023, the authors' code; assignment.h). Infinities
 * below the range of an unsigned format are not meant. */
#ifndef HALFULP_TRAIN_ROUNDING_H
#define HALFULP_TRAIN_ROUNDING_H

#include "halfulp/array.h"
#include "halfulp/number.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of roundings. */
enum {
  HU_ROUND_KEEP = 0,   /* not at all */
  HU_ROUND_FORMAT = 1, /* into a format */
  HU_ROUND_SCALED = 2, /* into a scaled format */
  HU_ROUND_S2FP8 = 3,  /* shifted and squeezed */
  HU_ROUND_NUMBER = 4  /* into another number system */
};

/* How a tensor is rounded. */
typedef struct hu_rounding {
  uint8_t kind;       /* HU_ROUND_ */
  uint8_t turned;     /* scaled: 1: blocks lie along columns: rows and cols of a block change places */
  uint8_t over_inf;   /* HU_ROUND_FORMAT: 1: over=inf */
  uint8_t keep_nan;   /* HU_ROUND_FORMAT: 1: nan=keep */
  hu_mode mode;       /* of the elements */
  hu_format format;   /* HU_ROUND_FORMAT: within binary32 */
  hu_scaling scaling; /* HU_ROUND_SCALED */
  hu_s2fp8 s2fp8;     /* HU_ROUND_S2FP8: with statistics of the tensor itself */
  hu_number number;   /* HU_ROUND_NUMBER: values rounded to binary32 where it lacks them */
  float amax;         /* HU_ROUND_SCALED: 0, or the amax in place of the tensor's own (hu_scaled_quantize: the scaling
                         has to take one); no text has it */
} hu_rounding;

/* What tensors rounded were like. Counts are added. */
typedef struct hu_rounding_counts {
  uint64_t elements;
  uint64_t over;    /* finite elements of larger magnitude than the largest number of the format; only HU_ROUND_FORMAT
                        counts them */
  hu_events events; /* of the roundings */
} hu_rounding_counts;

/* Roundings that keep, and that go into a format by a mode. */
HU_API hu_rounding hu_rounding_keep(void);                             /* keeps every number */
HU_API hu_rounding hu_rounding_format(hu_format format, hu_mode mode); /* rounds into format by a mode */
/* HU_OK, or what the parts' own checks return; HU_E_CARRIER: a format beyond binary32; HU_E_TRAIN: an unknown kind, or
 * over_inf or keep_nan of another kind than HU_ROUND_FORMAT or with a policy for NaN, or an amax of another kind than
 * HU_ROUND_SCALED, negative or not finite. hu_rounding_apply: HU_E_SCALING: an amax that the scaling does not take. */
HU_API HU_MUST_CHECK hu_status hu_rounding_check(const hu_rounding *rounding);
/* z = x rounded, rows x cols, both contiguous; z may be x. keep: x itself, NaN as 0x7FC00000, as everywhere. exec as in
 * array.h: stochastic modes draw word i cols + j of its stream for element (i, j), of stream (0, 0) where exec is NULL.
 * counts may be NULL. */
HU_API HU_MUST_CHECK hu_status hu_rounding_apply(size_t rows, size_t cols, float *z, const float *x,
                                                 const hu_rounding *rounding, const hu_exec *exec,
                                                 hu_rounding_counts *counts);
/* What rows x cols numbers take so rounded, codes packed densely, in bits: the width of a code for each (keep: 32); for
 * scaled tensors their scales, too (hu_limits.storage each), and 32 bits for a second-level one; for shifted and
 * squeezed ones 64 bits more. 0 for a rounding that is not valid. */
HU_API uint64_t hu_rounding_bits(size_t rows, size_t cols, const hu_rounding *rounding);
/* HU_E_TEXT, HU_E_NAME, or a check's status; then *where, if not NULL, is the offset of the part that is wrong. */
HU_API HU_MUST_CHECK hu_status hu_rounding_parse(hu_rounding *rounding, const char *text, size_t *where);

#ifdef __cplusplus
}
#endif
#endif
