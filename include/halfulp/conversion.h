/* SPDX-License-Identifier: MIT */
/* halfulp/conversion.h - convert as another program does, by the name of its conversion: a preset of format, rounding,
 * saturation, NaN and scale rule.
 *
 *   hu_conversion c;
 *   if (hu_conversion_find(&c, "cuda.fp8_e4m3.satfinite") != HU_OK) ...
 *   hu_status s = hu_conversion_encode_n(n, codes, 1, x, 1, &c, NULL, NULL);
 *
 * The calls of scalar.h and array.h round once and give one canonical NaN. Other libraries do less or more: they round
 * twice, keep the sign or the digits of a NaN, drop the sign of a scale. A hu_conversion says all of it in fields, and
 * the calls below do it. For a finite or infinite operand x, in this order:
 *
 *   operand     what `operand` says of binary64, sign, zero and infinities
 *   first       if there is a first format: x becomes the value of it that x rounds to by first_mode, and then one of
 *               each format of `further`, in order
 *   the result  x rounded into `format` by `mode`: hu_encode, docs/numerics.md sections 2 and 3
 *
 * A NaN operand (also one that `operand` made) passes these formats by and gives the code that `nan` says; a NaN
 * that a number or infinity becomes in one of them is rounded by the next, the last one by `mode`. Events are those of
 * the last rounding with the operand that it is given (earlier roundings and a NaN's digits count nowhere); random
 * words are taken as in array.h (`exec` NULL: those of stream (0, 0) in every such call). docs/compatibility.md says
 * for every name what it was held against, and where the original differs. */
#ifndef HALFULP_CONVERSION_H
#define HALFULP_CONVERSION_H

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to an operand first: bits of hu_conversion.operand, done in this order. */
enum {
  HU_OPERAND_BINARY32 = 1u << 0,    /* binary64 operands are rounded to binary32, ties to even */
  HU_OPERAND_FLUSH = 1u << 1,       /* and what is subnormal there becomes a zero of its sign; with BINARY32 only */
  HU_OPERAND_MAGNITUDE = 1u << 2,   /* the sign is dropped, of zeros, infinities and NaN too */
  HU_OPERAND_ZERO_NAN = 1u << 3,    /* a zero becomes a NaN of its sign */
  HU_OPERAND_INF_NAN = 1u << 4,     /* an infinity becomes a NaN of its sign */
  HU_OPERAND_NEGATIVE_NAN = 1u << 5 /* what has its sign set becomes a NaN */
};
/* The code of a NaN operand. */
enum {
  HU_NAN_BY_MODE = 0,  /* as everywhere here: the canonical code, or what mode.nan says */
  HU_NAN_BY_CODE = 1,  /* nan_code */
  HU_NAN_BY_SIGN = 2,  /* that of by mode, or nan_code if it is not HU_NO_CODE; its sign bit is changed if the operand's
                           is set */
  HU_NAN_BY_QUIET = 3, /* formats with nan=ieee or ieee1: sign and leading digits of the operand, made quiet: the top
                           trailing bit is set */
  HU_NAN_BY_PAYLOAD = 4 /* the same formats: sign and leading digits as they are; 1 if all of these are 0 */
};

/* The NaN that a number or an infinity becomes in the last rounding, in formats that have NaNs of both signs. */
enum {
  HU_NAN_MADE_SIGNED = 0,   /* as everywhere here: the sign of the operand (docs/numerics.md section 3) */
  HU_NAN_MADE_CANONICAL = 1 /* the canonical code, positive */
};

/* What becomes of the codes of a scaled tensor afterwards. */
enum {
  HU_SCALED_CODES_OWN = 0,   /* nothing */
  HU_SCALED_CODES_RAISED = 1 /* as Transformer Engine's reference writes them: the operand -0 gives code 0, and in a
                                block whose scale is 0 each finite x gives the code of rn(x rn32max), where rn rounds
                                into binary32, ties to even, and rn32max is 0x1.fffffep127; stochastic modes
                                have R = 0 for these codes */
};

/* Columns of a block, at most, in presets of scaled tensors that have steps before their encoding. */
#define HU_CONVERSION_COLS 512

/* A rounding before the last one. */
typedef struct hu_conversion_step {
  hu_format format; /* all zero: none */
  hu_mode mode;     /* deterministic */
} hu_conversion_step;
/* How many of them a conversion may have behind its first one. */
#define HU_CONVERSION_FURTHER 2

/* A conversion. */
typedef struct hu_conversion {
  hu_format format;
  hu_mode mode;
  hu_format first;     /* all zero: none */
  hu_mode first_mode;  /* deterministic; all zero without a first format */
  uint8_t operand;     /* HU_OPERAND_ bits */
  uint8_t nan;         /* HU_NAN_BY_: of binary32 operands */
  uint8_t nan64;       /* of binary64 operands, which programs often take another way */
  uint8_t nan_made;    /* HU_NAN_MADE_ */
  uint32_t nan_code;   /* of by code and by sign; else of no meaning */
  const char *scaling; /* "", or the text of a scaled tensor (scaled.h) whose elements are rounded by `mode`: a preset
                          for hu_conversion_apply_scaled; format is the elements' one */
  const char *through; /* "" or NULL, or the text of a scaled tensor whose values the elements become first */
  uint8_t codes;       /* HU_SCALED_CODES_ */
  hu_conversion_step further[HU_CONVERSION_FURTHER]; /* behind `first`; what follows an all zero one is all zero */
} hu_conversion;

/* HU_OK; HU_E_NULL, HU_E_FORMAT (format, first or further), HU_E_MODE (a mode; one before the last that is stochastic,
 * or that has no format, or first_mode without `through` either), HU_E_SCALING (further formats without a first one or
 * beside `scaling`; an operand bit, NaN rule or code that means nothing with this format; a text that hu_scaling_parse
 * refuses or whose element format is another; `through` or `codes` without `scaling`; a first format or `through` with
 * anything but blocks of one row, HU_CONVERSION_COLS columns at most and the same in both tensors, without a second
 * level; `codes` beside these). */
HU_API HU_MUST_CHECK hu_status hu_conversion_check(const hu_conversion *conversion);

/* z[i] = the code that x[i] becomes, or its value. x: HU_TYPE_BINARY32 or HU_TYPE_BINARY64; z: HU_TYPE_CODES,
 * HU_TYPE_VALUES32 or HU_TYPE_VALUES64, whose formats play no part, for the conversion has one (other types:
 * HU_E_FORMAT). Strides, aliasing, events and errors are those of hu_apply, besides those of hu_conversion_check;
 * HU_E_SCALING for presets of scaled tensors. exec->threads is used where the conversion is one rounding and nothing
 * else. No allocation; up to 64 KiB of stack. */
HU_API HU_MUST_CHECK hu_status hu_conversion_apply(size_t n, const hu_output *z, const hu_view *x,
                                                   const hu_conversion *conversion, const hu_exec *exec,
                                                   hu_events *events);

/* hu_conversion_apply with an argument for each part: binary32 to codes. */
static inline HU_MUST_CHECK hu_status hu_conversion_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x,
                                                             ptrdiff_t incx, const hu_conversion *conversion,
                                                             const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_CODES));
  hu_view from = hu_floats(x, incx);
  return hu_conversion_apply(n, &to, &from, conversion, exec, events);
}
/* Binary64 to codes. */
static inline HU_MUST_CHECK hu_status hu_conversion_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x,
                                                               ptrdiff_t incx, const hu_conversion *conversion,
                                                               const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_CODES));
  hu_view from = hu_doubles(x, incx);
  return hu_conversion_apply(n, &to, &from, conversion, exec, events);
}
/* Binary32 to values in binary32. */
static inline HU_MUST_CHECK hu_status hu_conversion_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                               ptrdiff_t incx, const hu_conversion *conversion,
                                                               const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_VALUES32));
  hu_view from = hu_floats(x, incx);
  return hu_conversion_apply(n, &to, &from, conversion, exec, events);
}
/* Binary64 to values in binary64. */
static inline HU_MUST_CHECK hu_status hu_conversion_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                                 ptrdiff_t incx, const hu_conversion *conversion,
                                                                 const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_plain(HU_TYPE_VALUES64));
  hu_view from = hu_doubles(x, incx);
  return hu_conversion_apply(n, &to, &from, conversion, exec, events);
}

/* z = x, matrices of rows x cols, as the scaled tensor of a preset whose `scaling` is not "": z of HU_TYPE_SCALED its
 * codes and scales, z of HU_TYPE_SCALED_VALUES their values; x of HU_TYPE_BINARY32. The scaling of z's type plays no
 * part, for the preset has one. In this order, of which most presets have the third step alone:
 *
 *   first     every x becomes the value of `first` that it rounds to by first_mode
 *   through   the matrix becomes the values of hu_scaled_quantize under the scaling `through`, by first_mode
 *   scaling   hu_scaled_encode or hu_scaled_quantize, by `mode`
 *   codes     what HU_SCALED_CODES_ says, which changes no value but the sign of zeros
 *
 * Overlaps, random words, events and errors are those of hu_scaled_apply, which does the third step; `extra` and
 * `events` belong to that step. Besides: errors of hu_conversion_check, and HU_E_SCALING for presets without a scaled
 * tensor. Presets with any step but the third work on one thread. No allocation; up to 84 KiB of stack a thread. */
HU_API HU_MUST_CHECK hu_status hu_conversion_apply_scaled(size_t rows, size_t cols, const hu_output *z,
                                                          const hu_view *x, const hu_conversion *conversion,
                                                          const hu_scaled_extra *extra, const hu_exec *exec,
                                                          hu_events *events);

/* hu_conversion_apply_scaled with an argument for each part: to codes and scales. */
static inline HU_MUST_CHECK hu_status hu_conversion_scaled_encode(size_t rows, size_t cols, const hu_scaled *z,
                                                                  const float *x, size_t ldx,
                                                                  const hu_conversion *conversion, const float *amax,
                                                                  hu_scaled_stats *stats, const hu_exec *exec,
                                                                  hu_events *events) {
  hu_scaled place = {NULL, 0, NULL, 0, NULL};
  hu_output to = hu_output_of(z ? &place : NULL, 1, hu_type_plain(HU_TYPE_SCALED));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_scaled_extra extra;
  if (z) place = *z;
  extra.amax = amax;
  extra.stats = stats;
  return hu_conversion_apply_scaled(rows, cols, &to, &from, conversion, &extra, exec, events);
}
/* To their values. */
static inline HU_MUST_CHECK hu_status hu_conversion_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz,
                                                                    const float *x, size_t ldx,
                                                                    const hu_conversion *conversion, const float *amax,
                                                                    hu_scaled_stats *stats, const hu_exec *exec,
                                                                    hu_events *events) {
  hu_output to = hu_matrix_out_of(z, ldz, hu_type_plain(HU_TYPE_SCALED_VALUES));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_scaled_extra extra;
  extra.amax = amax;
  extra.stats = stats;
  return hu_conversion_apply_scaled(rows, cols, &to, &from, conversion, &extra, exec, events);
}

/* x as the last rounding sees it: after the steps before it; a NaN is one. What the check refuses gives NaN. */
HU_API double hu_conversion_operand64(const hu_conversion *conversion, double x);
/* One value; what the check refuses gives code 0 and the event invalid, as in scalar.h. */
HU_API uint32_t hu_conversion_encode(const hu_conversion *conversion, float x, uint32_t random,
                                     uint32_t *events); /* a binary32 number to its code */
HU_API uint32_t hu_conversion_encode64(const hu_conversion *conversion, double x, uint32_t random,
                                       uint32_t *events); /* a binary64 number to its code */

/* The presets, in a fixed order, entry 0 first. Names are FAMILY.rest: cuda, torch, ml_dtypes, numpy, jax, ocp, onnx,
 * gfloat, chop, qtorch, mx, te, torchao, ggml, riscv, intel, ptx, tt. */
typedef struct hu_conversion_entry {
  const char *name;   /* "cuda.fp8_e4m3.satfinite" */
  const char *stands; /* for what, in that program's own words */
  const char *tested; /* against which version, or that it was not, and why */
  const char *note;   /* what surprises, "" if nothing */
  hu_conversion conversion;
} hu_conversion_entry;
HU_API size_t hu_conversion_count(void);
HU_API hu_conversion_entry hu_conversion_at(size_t i); /* i < hu_conversion_count(), else name is NULL */
/* By name, exact spelling; besides the list every qtorch.float(E,M) with E from 2 to 7 and M from 1 to 22, the
 * arguments of QPyTorch's float_quantize, and every path(...) that hu_conversion_parse reads. HU_E_NAME if the name is
 * unknown, HU_E_NULL; *conversion is untouched then. */
HU_API HU_MUST_CHECK hu_status hu_conversion_find(hu_conversion *conversion, const char *name);

/* Reads a chain of roundings (docs/paths.md), without blanks:
 *
 *   path  = "path(" step "," step { "," step } ")"
 *   step  = format [ ":" mode [ ":" policy ] ]
 *
 * of 2 to HU_CONVERSION_FURTHER + 2 steps, the first of which is done first. mode: one of HU_ROUND_TEXTS, rne without
 * it; that of the last step alone may be stochastic. policy: a saturation text, default without it. A step is the
 * longest text that is one, because suffixes of formats have commas, too. The record has no operand bits, and NaN by
 * mode. HU_E_TEXT (not the grammar), HU_E_NAME (a format's name), HU_E_MODE (a stochastic step that is not the last),
 * HU_E_NULL; *conversion is untouched then, and *where, if where is not NULL, is the offset of the part that is
 * wrong. */
HU_API HU_MUST_CHECK hu_status hu_conversion_parse(hu_conversion *conversion, const char *text, size_t *where);
/* The same conversion without its roundings before the last one: where the two give different codes, the number was
 * rounded twice. */
static inline hu_conversion hu_conversion_once(const hu_conversion *conversion) {
  hu_conversion once = *conversion;
  hu_conversion_step none = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, {0, 0}}};
  int i;
  once.first = none.format;
  once.first_mode = none.mode;
  for (i = 0; i < HU_CONVERSION_FURTHER; i++) once.further[i] = none;
  return once;
}

#ifdef __cplusplus
}
#endif
#endif
