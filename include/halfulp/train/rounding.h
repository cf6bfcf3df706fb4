/* SPDX-License-Identifier: MIT */
/* halfulp/train/rounding.h - how a whole tensor is rounded: not at all, or into a format, another number system, a
 * scaled tensor, a shifted and squeezed one; and which tensors are kept in low precision.
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
 * overflowed, in formats whose every code is finite (Lee et al. 2023, the authors' code; below). Infinities
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

/* ---- assignments: which tensors of a gradient computation are kept in low precision ----
 *
 * Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023). A network is a row of m operators:
 * operator i (from 0 here) reads the value `input` and the parameters theta_i (maybe none) and writes the value i + 1;
 * value 0 is the network's input, the last operators compute the loss. Each value v and each theta has a gradient of
 * its size. An assignment says for each of these 4 kinds of tensors whether it is low (1) or high (0) in precision; the
 * formats themselves are chosen elsewhere.
 *
 *   uniform         all low
 *   operator        of every matrix product but the first and the last: v of its input, theta, dv of its output
 *   operator_prime  of the same: v and dv of input and output, theta, dtheta
 *   demote          the paper's: groups between neighbouring matrix products become low until the ratio r is reached
 *
 * The paper keeps gradients of parameters high in all of them: hu_assign_keep_parameter_gradients, afterwards.
 *
 * Two readings of the paper differ in two points (precision.h has what they differ in beyond these):
 *
 *   operators  theta_i is in the group of its operator: that of the place where it stands
 *   published  theta_i is in the group of the value that its operator reads first, as in the authors' code; with
 *              operator and operator_prime the first and the last group, and the value that the last product reads, are
 *              high
 *
 * Ratios are exact fractions of numbers of elements. No call allocates. */

/* An operator of a layout. */
typedef struct hu_layout_operator {
  uint64_t parameters; /* elements of theta_i, 0: none */
  size_t input;        /* the value that it reads first, <= i; in a chain i itself */
  uint8_t product;     /* 1: a matrix product or convolution */
} hu_layout_operator;

/* Readings of the paper, above. */
enum {
  HU_READING_OPERATORS = 0, /* operators */
  HU_READING_PUBLISHED = 1  /* published */
};

/* The tensors of a gradient computation: value 0, and operators that make values 1 ... m. */
typedef struct hu_layout {
  size_t operators;              /* m, at least 1 */
  const uint64_t *values;        /* m + 1 numbers of elements */
  const hu_layout_operator *row; /* m */
  uint8_t reading;               /* HU_READING_ */
} hu_layout;

/* The caller's arrays of 0 and 1. */
typedef struct hu_assignment {
  uint8_t *v, *dv;         /* m + 1 each */
  uint8_t *theta, *dtheta; /* m each; that of an operator without parameters means nothing */
} hu_assignment;

/* num / den, den > 0; in lowest terms where a call gives one. */
typedef struct hu_ratio {
  uint64_t num, den;
} hu_ratio;

/* Order in which groups are demoted; ties by their place. */
enum {
  HU_DEMOTE_LARGEST = 0,  /* the group of most elements first */
  HU_DEMOTE_SMALLEST = 1, /* that of fewest first */
  HU_DEMOTE_RANDOM = 2    /* by random words */
};

/* num / den in lowest terms; 0 / 1 if den is 0. */
HU_API hu_ratio hu_ratio_of(uint64_t num, uint64_t den);
/* 1 if ratio is between 0 and 1 with a denominator up to 10^6, as demotion and promotion require it. */
HU_API int hu_ratio_usable(hu_ratio ratio);
/* HU_OK, HU_E_NULL, or HU_E_SHAPE: no operators, an input that is not there yet, an unknown reading, or more than 2^42
 * elements. */
HU_API HU_MUST_CHECK hu_status hu_layout_check(const hu_layout *layout);
/* Numbers of elements of all tensors: values and their gradients, parameters and theirs; of a layout that is right. */
HU_API uint64_t hu_layout_elements(const hu_layout *layout);
/* "0.35", "1/3", "1" to a ratio between 0 and 1 with a denominator up to 10^6. HU_E_TEXT otherwise. */
HU_API HU_MUST_CHECK hu_status hu_ratio_parse(hu_ratio *z, const char *text);

/* Each sets all of *a. Errors: hu_layout_check's. */
HU_API HU_MUST_CHECK hu_status hu_assign_high(const hu_layout *layout, hu_assignment *a); /* no tensor low */
HU_API HU_MUST_CHECK hu_status hu_assign_uniform(const hu_layout *layout,
                                                 hu_assignment *a); /* uniform: every tensor low */
HU_API HU_MUST_CHECK hu_status hu_assign_operator(const hu_layout *layout, hu_assignment *a); /* operator: above */
HU_API HU_MUST_CHECK hu_status hu_assign_operator_prime(const hu_layout *layout,
                                                        hu_assignment *a); /* operator_prime: above */
/* Algorithm 1. A group holds v_i, dv_i, theta_i, dtheta_i of consecutive operators up to and with a matrix product; the
 * last group ends with the last value. From all high, groups become low one after another while the ratio of low
 * elements is below ratio. HU_DEMOTE_RANDOM: by the words of `stream`, group k has word k, smallest first. HU_E_SHAPE:
 * ratio is not between 0 and 1, or its denominator above 10^6. */
HU_API HU_MUST_CHECK hu_status
hu_assign_demote(const hu_layout *layout, hu_assignment *a, hu_ratio ratio, unsigned order,
                 hu_stream stream); /* demote: groups low until the ratio of low elements is r */
HU_API void hu_assign_keep_parameter_gradients(const hu_layout *layout,
                                               hu_assignment *a); /* sets every dtheta to high */

/* Low elements among all: values and their gradients, parameters and theirs. */
HU_API hu_ratio hu_assign_ratio(const hu_layout *layout, const hu_assignment *a);
/* Algorithm 2. over_v (m + 1) and over_theta (m): elements of each forward tensor whose magnitude before rounding was
 * above the largest number of its format. Those low tensors whose share of them is above the limit become high
 * permanently. Returns how many did. */
HU_API size_t hu_assign_promote(const hu_layout *layout, hu_assignment *a, const uint64_t *over_v,
                                const uint64_t *over_theta, hu_ratio limit);

#ifdef __cplusplus
}
#endif
#endif
