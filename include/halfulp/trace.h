/* SPDX-License-Identifier: MIT */
/* halfulp/trace.h - every step inside one dot product, in the order in which it is computed: for explanations, for
 * debugging a design, and for pictures.
 *
 *   static void print(void *context, const hu_trace_step *step) { ... }
 *   hu_status s = hu_dot_trace(n, &z, single, &operands, &x, rne, NULL, NULL, print, NULL);
 *
 * The sum is hu_dot's: the same code runs, and the last step is the stored result. docs/numerics.md section 11 defines
 * the steps of each model; docs/accumulators.md shows them for one dot product. */
#ifndef HALFULP_TRACE_H
#define HALFULP_TRACE_H

#include "halfulp/accum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a traced number is. */
enum {
  HU_TRACE_ZERO = 0,     /* a zero of its sign */
  HU_TRACE_FINITE = 1,   /* finite, and not zero */
  HU_TRACE_INFINITY = 2, /* an infinity of its sign */
  HU_TRACE_NAN = 3       /* a NaN */
};
/* A number inside a sum: (-1)^sign (significand + s) 2^exponent, with s = 0, or 0 < s < 1 where `more` is 1: digits
 * below the leading 64 are left out. Not finite: significand and exponent mean nothing. */
typedef struct hu_traced {
  uint64_t significand;
  int32_t exponent;
  uint8_t kind; /* HU_TRACE_ZERO, _FINITE, _INFINITY, _NAN */
  uint8_t sign, more, reserved;
} hu_traced;

/* Kinds of steps. The first four begin a part of the sum, whose products are k to past - 1. */
enum {
  HU_TRACE_SLICE = 0, /* splitk: a slice, from +0 */
  HU_TRACE_PART = 1,  /* promote: products that the inner model adds, from +0 */
  HU_TRACE_CHUNK = 2, /* chunk: products that are added on their own, from +0 */
  HU_TRACE_BLOCK = 3, /* block: the products of one block. With order=mod4 one of its two halves */
  HU_TRACE_ALIGN = 4, /* aligned terms follow: their largest exponent is `top`, and the last digit kept is 2^unit */
  HU_TRACE_TERM =
      5, /* a term: exact is the term, z what is left of it where it is aligned (0: also a C that `far` drops), else
                          the term whole */
  HU_TRACE_CUT = 6,   /* a sum of terms, exact, is cut to multiples of 2^unit, toward negative: z */
  HU_TRACE_ROUND = 7, /* exact, a sum of the terms before, or an operand, is rounded: z */
  HU_TRACE_MUL = 8,   /* x y is rounded */
  HU_TRACE_ADD = 9,   /* x + y is rounded */
  HU_TRACE_FMA = 10,  /* x y + c is rounded once */
  HU_TRACE_LAST = 11, /* exact, the model's sum, is rounded into the result's format by the call's mode: z */
  HU_TRACE_KINDS = 12 /* (count) */
};
/* hu_trace_step.k where a step belongs to no product of its own: of a TERM, that is C. */
#define HU_TRACE_NO_PRODUCT UINT64_MAX

/* One step. Fields that a kind does not name are zero. */
typedef struct hu_trace_step {
  uint8_t kind;        /* HU_TRACE_ */
  uint8_t reserved[3]; /* 0 */
  uint32_t events;     /* HU_EVENT_ of the rounding; integers: HU_EVENT_OVERFLOW where a sum is saturated */
  uint64_t k, past;    /* products k to past - 1; HU_TRACE_NO_PRODUCT, and 0 */
  int32_t top, unit;   /* ALIGN, TERM, CUT: exponents of two */
  uint32_t random;     /* R of a stochastic rounding */
  hu_element element;  /* where z is rounded to: a format, HU_ELEMENT_BINARY64 or HU_ELEMENT_S32; TERM, CUT: zero */
  hu_traced x, y, c;   /* operands: of a TERM with one product its factors, as the model reads them */
  hu_traced exact;     /* before the rounding or the cut */
  hu_traced z;         /* after it, also after subnormal results became zero (ftz) */
} hu_trace_step;

/* Receives the steps. `step` belongs to the call and is valid until the function returns. */
typedef void hu_trace_visit(void *context, const hu_trace_step *step);

/* hu_dot, each step of which is passed to `visit` together with `context`. z, events and errors are hu_dot's; with an
 * error `visit` is not called. HU_E_NULL also where visit is NULL. Nothing is allocated. `visit` runs in the calling
 * thread. */
HU_API HU_MUST_CHECK hu_status hu_dot_trace(size_t n, void *z, hu_element ez, const hu_dot_operands *x,
                                            const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events,
                                            hu_trace_visit *visit, void *context);

#ifdef __cplusplus
}
#endif
#endif
