/* SPDX-License-Identifier: MIT */
/* halfulp/p3109.h - the operations of IEEE P3109, "Standard for Arithmetic Formats for Machine Learning".
 *
 *   hu_format e4 = hu_binary8p4se();                                  two formats: hu_format_p3109, formats/p3109.h
 *   hu_p3109_projection rho = {{HU_RNE, 0, HU_SAT_NONE}, HU_P3109_D1};
 *   uint32_t operands[2] = {x, 0}, z = hu_p3109_compute(HU_P3109_DIVIDE, e4, rho, (hu_format[2]){e4, e4}, operands, 0);
 *   ... z is the code of NaN: the draft has Divide(x, 0) = NaN
 *
 * Source: the draft standard IEEE P3109/D1 (July 2026) and the working group's interim report v4.0 (26 June 2026),
 * unapproved drafts. docs/p3109.md says of every operation what agrees with them, and how that was shown; nothing here
 * claims compliance with a standard.
 *
 * The draft takes an operand for a real number, +infinity, -infinity or NaN, applies a function of these, and projects
 * the result: rounds it ONCE to the precision of the result's format and saturates it. So do the calls here, for any
 * operation, mode and format. Differences to the IEEE 754 operations of arith.h:
 *
 *   zero        has no sign: the calls read -0 as 0, and a result of 0 is +0
 *   poles       x / 0, 1 / 0 and 1 / sqrt(0) are NaN. Log(0) and Log2(0) are -infinity, ArcTanh(1) is +infinity
 *   neighbours  NextGreaterThan and NextLessThan are NaN where the format has no such value
 *   exceptions  do not exist, and neither do events: a result without a value is NaN
 *
 * Formats are any of halfulp/format.h: those of the draft (K = 3 to 16, up to 11 exponent bits), and the IEEE 754
 * formats that its conversions have. NaN goes into a format without NaN as projection.mode.nan says. The elementary
 * functions are correctly rounded: the result is the one that infinitely many digits give.
 *
 * Pure functions of their arguments; no allocation; the same bits on every machine. */
#ifndef HALFULP_P3109_H
#define HALFULP_P3109_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the operations ---- */

/* Numbers of the operations, in the order of the list. Operands are x, y, z (s, t: scales) in this order. */
enum {
  HU_P3109_CONVERT,                  /* x */
  HU_P3109_ABS,                      /* |x| */
  HU_P3109_NEGATE,                   /* -x */
  HU_P3109_COPY_SIGN,                /* |x| with the sign of y; NaN if either is NaN */
  HU_P3109_ADD,                      /* x + y */
  HU_P3109_SUBTRACT,                 /* x - y */
  HU_P3109_MULTIPLY,                 /* x y */
  HU_P3109_DIVIDE,                   /* x / y; NaN if y is 0 */
  HU_P3109_FMA,                      /* x y + z */
  HU_P3109_FAA,                      /* x + y + z */
  HU_P3109_RECIP,                    /* 1 / x; NaN of 0 */
  HU_P3109_SQRT,                     /* the square root */
  HU_P3109_RSQRT,                    /* 1 / sqrt(x); NaN of 0 */
  HU_P3109_HYPOT,                    /* sqrt(x^2 + y^2) */
  HU_P3109_SCALED_ADD,               /* x, s, y, t: x s + y t */
  HU_P3109_SCALED_SUBTRACT,          /* x, s, y, t: x s - y t */
  HU_P3109_SCALED_MULTIPLY,          /* x, s, y, t: (x s) (y t) */
  HU_P3109_EXP,                      /* e^x */
  HU_P3109_EXP2,                     /* 2^x */
  HU_P3109_EXP_MINUS_ONE,            /* e^x - 1 */
  HU_P3109_LOG,                      /* ln x */
  HU_P3109_LOG2,                     /* log2 x */
  HU_P3109_LOG_ONE_PLUS,             /* ln(1 + x) */
  HU_P3109_SOFTPLUS,                 /* ln(1 + e^x) */
  HU_P3109_SIN,                      /* sin x */
  HU_P3109_COS,                      /* cos x */
  HU_P3109_TAN,                      /* tan x */
  HU_P3109_ARC_SIN,                  /* arcsin x; NaN outside [-1, 1] */
  HU_P3109_ARC_COS,                  /* arccos x; NaN outside [-1, 1] */
  HU_P3109_ARC_TAN,                  /* arctan x */
  HU_P3109_ARC_TAN2,                 /* x, y: the angle of the point whose ordinate is x and whose abscissa is y */
  HU_P3109_SIN_PI,                   /* sin(pi x) */
  HU_P3109_COS_PI,                   /* cos(pi x) */
  HU_P3109_TAN_PI,                   /* tan(pi x); halfway between integers as the rules say */
  HU_P3109_ARC_SIN_PI,               /* arcsin(x) / pi */
  HU_P3109_ARC_COS_PI,               /* arccos(x) / pi */
  HU_P3109_ARC_TAN_PI,               /* arctan(x) / pi */
  HU_P3109_ARC_TAN2_PI,              /* ArcTan2(x, y) / pi */
  HU_P3109_SINH,                     /* the hyperbolic sine */
  HU_P3109_COSH,                     /* the hyperbolic cosine */
  HU_P3109_TANH,                     /* the hyperbolic tangent */
  HU_P3109_ARC_SINH,                 /* the inverse hyperbolic sine */
  HU_P3109_ARC_COSH,                 /* the inverse hyperbolic cosine; NaN below 1 */
  HU_P3109_ARC_TANH,                 /* the inverse hyperbolic tangent; NaN outside [-1, 1] */
  HU_P3109_MINIMUM,                  /* the smaller; NaN if either is NaN */
  HU_P3109_MAXIMUM,                  /* the larger; NaN if either is NaN */
  HU_P3109_MINIMUM_NUMBER,           /* the smaller; of a NaN and another, the other */
  HU_P3109_MAXIMUM_NUMBER,           /* the larger; of a NaN and another, the other */
  HU_P3109_MINIMUM_MAGNITUDE,        /* the smaller in magnitude, of x and -x -x; NaN if either is NaN */
  HU_P3109_MAXIMUM_MAGNITUDE,        /* the larger in magnitude, of x and -x x; NaN if either is NaN */
  HU_P3109_MINIMUM_MAGNITUDE_NUMBER, /* the same; of a NaN and another, the other */
  HU_P3109_MAXIMUM_MAGNITUDE_NUMBER, /* the same; of a NaN and another, the other */
  HU_P3109_MINIMUM_FINITE,           /* the smaller; of a number and an infinity or NaN, the number */
  HU_P3109_MAXIMUM_FINITE,           /* the larger; of a number and an infinity or NaN, the number */
  HU_P3109_CLAMP,                    /* x, low, high: the nearest of [low, high] to x; NaN where low > high */
  HU_P3109_NEXT_GREATER_THAN,        /* the least value of x's format above x; NaN where x is the last one */
  HU_P3109_NEXT_LESS_THAN,           /* the largest value of x's format below x; NaN where x is the first one */
  HU_P3109_COMPARE_LESS,             /* x < y; this and those below give 0 or 1 */
  HU_P3109_COMPARE_LESS_EQUAL,       /* x <= y */
  HU_P3109_COMPARE_EQUAL,            /* x = y */
  HU_P3109_COMPARE_GREATER_EQUAL,    /* x >= y */
  HU_P3109_COMPARE_GREATER,          /* x > y */
  HU_P3109_TOTAL_ORDER,              /* x <= y where NaN stands before all others */
  HU_P3109_IS_ZERO,                  /* x = 0 */
  HU_P3109_IS_ONE,                   /* x = 1 */
  HU_P3109_IS_NAN,                   /* x is NaN */
  HU_P3109_IS_SIGN_MINUS,            /* x < 0 */
  HU_P3109_IS_FINITE,                /* x is neither NaN nor an infinity */
  HU_P3109_IS_INFINITE,              /* x is an infinity */
  HU_P3109_IS_NORMAL,                /* x is finite, not 0, and has an exponent field above 0 */
  HU_P3109_IS_SUBNORMAL,             /* x is finite, not 0, and has the exponent field 0 */
  HU_P3109_CLASS,                    /* HU_P3109_CLASS_ */
  HU_P3109_COUNT                     /* the number of operations */
};

/* What HU_P3109_CLASS gives. */
enum {
  HU_P3109_CLASS_NAN = 0,                /* NaN */
  HU_P3109_CLASS_NEGATIVE_INFINITY = 1,  /* -infinity */
  HU_P3109_CLASS_NEGATIVE_NORMAL = 2,    /* below zero, normal */
  HU_P3109_CLASS_NEGATIVE_SUBNORMAL = 3, /* below zero, subnormal */
  HU_P3109_CLASS_ZERO = 4,               /* zero */
  HU_P3109_CLASS_POSITIVE_SUBNORMAL = 5, /* above zero, subnormal */
  HU_P3109_CLASS_POSITIVE_NORMAL = 6,    /* above zero, normal */
  HU_P3109_CLASS_POSITIVE_INFINITY = 7   /* +infinity */
};

/* Of any operation. */
#define HU_P3109_OPERANDS_MAX 4

/* What an operation gives. */
enum {
  HU_P3109_NUMBER = 0,    /* a code of the result's format: projected */
  HU_P3109_NEIGHBOUR = 1, /* a code of the operand's format */
  HU_P3109_TRUTH = 2,     /* 0 or 1 */
  HU_P3109_WORD = 3       /* HU_P3109_CLASS_ */
};

/* An entry of the list; name is NULL of none. */
typedef struct hu_p3109_operation {
  const char *name;  /* "ScaledAdd", as the draft spells it */
  const char *group; /* "arithmetic", "transcendental", "extrema", "comparison", "classification", "conversion" */
  uint8_t operands;  /* 1 to HU_P3109_OPERANDS_MAX */
  uint8_t gives;     /* HU_P3109_NUMBER, ... */
  uint8_t block;     /* 1: hu_p3109_block_compute takes it */
} hu_p3109_operation;

HU_API hu_p3109_operation hu_p3109_at(int op); /* 0 <= op < HU_P3109_COUNT, else name is NULL */
HU_API int hu_p3109_find(const char *name);    /* the operation of this name, as the draft spells it; -1: unknown */

/* ---- projection ---- */

/* Which text decides, where the texts differ. */
enum {
  HU_P3109_D1 = 0,        /* draft standard D1 (July 2026); report v4.0.3 agrees, as far as it was seen: what does not
                             fit into a format without infinities is NaN where nothing saturates (HU_SAT_NONE), but of
                             finite results in the directed modes that go toward the format the nearest value. So have
                             all calls of halfulp for the draft's formats */
  HU_P3109_JULY_2026 = 1, /* the formal specification of 7 July 2026 (ieee-p3109, 80f0f58): so, too; but TanPi is NaN
                             halfway between integers, ArcTan2(y, -infinity) is pi below zero, too, and ToOdd stops at
                             the largest number of an unsigned format with infinities */
  HU_P3109_V4_0 = 2       /* draft report v4.0 (26 June 2026): as July, but what does not fit into a format without
                             infinities is its nearest value */
};

/* How a result is projected. mode.saturate: HU_SAT_NONE is SatNone (OvfInf before v4.0), HU_SAT_FINITE SatFinite,
 * HU_SAT_PROPAGATE SatPropagate; HU_SAT_DEFAULT, the format's own, is SatNone. StochasticA, B and C are HU_SRA, HU_SRB
 * and HU_SRC with mode.bits bits. mode.tiny and mode.nan_fma play no part. */
typedef struct hu_p3109_projection {
  hu_mode mode;
  uint8_t rules; /* HU_P3109_D1, HU_P3109_JULY_2026 or HU_P3109_V4_0 */
} hu_p3109_projection;

/* HU_OK, HU_E_MODE (hu_mode_check, or rules without a name). */
HU_API HU_MUST_CHECK hu_status hu_p3109_projection_check(hu_p3109_projection projection);

/* The code, truth value or class that the operation gives for the operands x[i] of the formats format[i]. fz and
 * projection play no part where the operation gives none of HU_P3109_NUMBER. `random` is R of the stochastic modes, as
 * in scalar.h. Bits above the width of a code are ignored, here alone: the calls below refuse them. What is refused (no
 * such operation, a format or projection that its check refuses, NULL) gives 0. */
HU_API uint32_t hu_p3109_compute(int op, hu_format fz, hu_p3109_projection projection, const hu_format *format,
                                 const uint32_t *x, uint32_t random);
/* The code of a binary64 number, infinity or NaN: ConvertFromIEEE754, and the draft's Project. */
HU_API uint32_t hu_p3109_project(hu_format fz, hu_p3109_projection projection, double x, uint32_t random);

/* ---- arrays ---- */

/* An operand of an array call: element i is x[i * stride], a code stored as in array.h (1, 2 or 4 bytes). Stride 1 is
 * that of an array, 0 takes the first code for every element; any other stride is allowed. */
typedef struct hu_p3109_array {
  const void *x;
  ptrdiff_t stride;
  hu_format format;
} hu_p3109_array;

/* z[i] = hu_p3109_compute(op, ...) of element i of the operands in[0], in[1], ..., for i < n. z has codes of fz, or of
 * in[0].format where the operation gives a neighbour, or bytes where it gives a truth value or a class. Stochastic
 * modes take word i of exec->stream; `exec` NULL is one thread and stream (0, 0). Results depend neither on the number
 * of threads nor on the CPU. z may be the array of an operand of stride 1 whose codes have z's size; other
 * overlaps are not allowed.
 *
 * Errors: HU_E_SHAPE (no such operation, or too many elements), HU_E_NULL, HU_E_FORMAT, HU_E_MODE, HU_E_CODE (array.h);
 * z is untouched then. */
HU_API HU_MUST_CHECK hu_status hu_p3109_compute_n(int op, size_t n, void *z, hu_format fz,
                                                  hu_p3109_projection projection, const hu_p3109_array *in,
                                                  const hu_exec *exec);

/* ---- blocks ---- */

/* The elements of a block are the products of one scale and of `count` codes, both exact: none of the calls rounds them
 * before it has its result. Codes are stored as in array.h (1, 2 or 4 bytes each).
 *
 * Formats here have at most 16 bits, scale formats at most 15 digits of precision (binary16p16u is refused), and where
 * the operation is transcendental, scale and result together exponents up to 1000: HU_E_FORMAT. */
typedef struct hu_p3109_block {
  hu_format scale_format, format;
  uint32_t scale;
  const void *x; /* count codes of `format` */
} hu_p3109_block;

/* Elements of a block of hu_p3109_block_multiply. */
#define HU_P3109_BLOCK_MAX 4096

/* The draft's BlockProject: z[i] = the code of r / s for an exact result r and the value s of `scale`. NaN where r or s
 * is NaN, 0 where s is 0, the product of the signs of r and s (0 of r = 0) where s is an infinity. Element i of a call
 * takes random word i of `stream`.
 *
 * Errors of all calls below: HU_E_NULL, HU_E_FORMAT, HU_E_MODE, HU_E_SHAPE (no elements, too many, or an operation that
 * blocks do not have), HU_E_CODE (array.h; also of a scale); z is untouched then. z may be an operand's x where the
 * codes of both have one size. */

/* Elementwise: r = op of element i of the operands in[0], in[1], ...: BlockAdd, BlockExp and the like. */
HU_API HU_MUST_CHECK hu_status hu_p3109_block_compute(int op, size_t count, void *z, hu_format scale_format,
                                                      uint32_t scale, hu_format fz, hu_p3109_projection projection,
                                                      const hu_p3109_block *in, hu_stream stream);
/* ConvertToBlock: r = x[i], codes of fx. */
HU_API HU_MUST_CHECK hu_status hu_p3109_to_block(size_t count, void *z, hu_format scale_format, uint32_t scale,
                                                 hu_format fz, hu_p3109_projection projection, const void *x,
                                                 hu_format fx, hu_stream stream);
/* A scale that a call chooses: its projection into a format. */
typedef struct hu_p3109_scale {
  hu_format format;
  hu_p3109_projection projection;
  uint32_t code; /* becomes the scale */
} hu_p3109_scale;
/* ConvertToBlockMaxAbsFinite: the scale is the projection of the largest finite |x[i]| (of an infinity where all are
 * infinite or NaN, of NaN where all are NaN), with word `count` of the stream; then z[i] is what
 * hu_p3109_to_block has with it. */
HU_API HU_MUST_CHECK hu_status hu_p3109_to_block_max(size_t count, void *z, hu_p3109_scale *scale, hu_format fz,
                                                     hu_p3109_projection projection, const void *x, hu_format fx,
                                                     hu_stream stream);
/* ConvertFromBlock: z[i] = the code of element i of the block. */
HU_API HU_MUST_CHECK hu_status hu_p3109_from_block(size_t count, void *z, hu_format fz, hu_p3109_projection projection,
                                                   const hu_p3109_block *in, hu_stream stream);
/* BlockReduceAdd: *z = the code of the sum of all elements, exact before its one rounding; `random` is R. */
HU_API HU_MUST_CHECK hu_status hu_p3109_block_add(size_t count, uint32_t *z, hu_format fz,
                                                  hu_p3109_projection projection, const hu_p3109_block *in,
                                                  uint32_t random);
/* BlockReduceMultiply: of the product of all elements, count up to HU_P3109_BLOCK_MAX; 32 KiB of stack. */
HU_API HU_MUST_CHECK hu_status hu_p3109_block_multiply(size_t count, uint32_t *z, hu_format fz,
                                                       hu_p3109_projection projection, const hu_p3109_block *in,
                                                       uint32_t random);
/* BlockDotProduct: of the sum of the products of the elements of two blocks, in[0] and in[1]. */
HU_API HU_MUST_CHECK hu_status hu_p3109_block_dot(size_t count, uint32_t *z, hu_format fz,
                                                  hu_p3109_projection projection, const hu_p3109_block *in,
                                                  uint32_t random);

#ifdef __cplusplus
}
#endif
#endif
