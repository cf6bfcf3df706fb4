/* SPDX-License-Identifier: MIT */
/* halfulp/oracle.h - ask the reference, by MPFR and GMP, what a call of the library must return (libhalfulp-oracle).
 *
 * It is slow and simple: the exact value is a rational, the format is its table of values, and the answer is found by
 * comparing exact numbers as docs/numerics.md words it. It shares no code with the emulator. Calls may allocate
 * (HU_E_MEMORY). Operands of one code are read as the calls do that are asked about, bits above the width ignored;
 * those of the dot products as arrays, where such bits are HU_E_CODE. */
#ifndef HALFULP_ORACLE_H
#define HALFULP_ORACLE_H

#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What hu_encode64 must return for x, code and events, in every mode. Any format of up to 32 bits (values are computed
 * from codes one at a time, found by bisection). Also hu_encode: a float is exact as a double. */
HU_API HU_MUST_CHECK hu_status hu_oracle_encode64(uint32_t *code, uint32_t *events, hu_format format, hu_mode mode,
                                                  double x, uint32_t random);
/* What hu_convert must return. */
HU_API HU_MUST_CHECK hu_status hu_oracle_convert(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode,
                                                 hu_format fx, uint32_t x, uint32_t random);
/* What hu_decode64 must return. */
HU_API HU_MUST_CHECK hu_status hu_oracle_decode64(double *z, hu_format format, uint32_t code);

/* Where |x| lies among the magnitudes of a format, for explanations and golden files. */
typedef struct hu_place {
  /* Magnitude code of the largest value <= |x| (max_code if |x| > max); code 0 if |x| is below all. Subnormals that the
   * format flushes count as values here: rounding sees them. */
  uint32_t below;
  /* '=': exactly there. '<' 'h' '>': between it and the next grid point (continued beyond max as in docs/numerics.md
   * section 2), below, at, above the midpoint. 'o': at or above the first grid point beyond max. 'u': below the
   * smallest value of a format without zero, which is the result in every mode. 'f': not above 2^emin where zero =
   * code, so that zero is ('<' 'h' '>' with below 0: between 2^emin and code 1). */
  char where;
} hu_place;
HU_API HU_MUST_CHECK hu_status hu_oracle_place(hu_place *place, hu_format format, double x); /* x finite */

/* An operand: a code of a format. */
typedef struct hu_oracle_code {
  hu_format format;
  uint32_t code;
} hu_oracle_code;
/* Terms of a sum: a[i] b[i] for i < n, and c. */
typedef struct hu_oracle_terms {
  size_t n;
  hu_format fa; /* of a */
  const uint32_t *a;
  hu_format fb; /* of b */
  const uint32_t *b;
  const hu_oracle_code *c; /* NULL: absent */
} hu_oracle_terms;
/* The exact sum, rounded once into fz: what hu_gemm's `exact` must return for one element, events included (hu_dot's
 * where mode.nan_fma is not 0). */
HU_API HU_MUST_CHECK hu_status hu_oracle_dot(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode,
                                             uint32_t random, const hu_oracle_terms *x);
/* What `fp32` must return: MPFR's own fused multiply-add at 24 bits with binary32's exponent range, step by step. */
HU_API HU_MUST_CHECK hu_status hu_oracle_dot_fp32(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode,
                                                  uint32_t random, const hu_oracle_terms *x);

/* The operations of arith.h by the numbers that they have in operation.h. x: one operand (SQRT, ROUND_TO_INTEGRAL,
 * whose format is fz's too), three (FMA), else two. What hu_add, hu_sub, ... must return for code and events. */
enum {
  HU_ORACLE_ADD,               /* hu_add */
  HU_ORACLE_SUB,               /* hu_sub */
  HU_ORACLE_MUL,               /* hu_mul */
  HU_ORACLE_DIV,               /* hu_div */
  HU_ORACLE_MINIMUM,           /* hu_minimum */
  HU_ORACLE_MAXIMUM,           /* hu_maximum */
  HU_ORACLE_MINIMUM_NUMBER,    /* hu_minimum_number */
  HU_ORACLE_MAXIMUM_NUMBER,    /* hu_maximum_number */
  HU_ORACLE_SQRT,              /* hu_sqrt */
  HU_ORACLE_FMA,               /* hu_fma */
  HU_ORACLE_ROUND_TO_INTEGRAL, /* hu_round_to_integral */
  HU_ORACLE_OPERATIONS         /* (count) */
};
/* HU_E_SHAPE: no such operation. HU_E_FORMAT also if fz is not ROUND_TO_INTEGRAL's operand format. */
HU_API HU_MUST_CHECK hu_status hu_oracle_arith(uint32_t *code, uint32_t *events, int operation, hu_format fz,
                                               hu_mode mode, uint32_t random, const hu_oracle_code *x);

/* What hu_remainder must return for x[0], x[1]. */
HU_API HU_MUST_CHECK hu_status hu_oracle_remainder(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode,
                                                   uint32_t random, const hu_oracle_code *x);
/* What hu_to_integer must return; `rule`: HU_INTEGER_ of arith.h. What hu_from_signed (x a negative number's two's
 * complement) and hu_from_unsigned must return. HU_E_SHAPE: no such integer type or rule. */
HU_API HU_MUST_CHECK hu_status hu_oracle_to_integer(uint64_t *z, uint32_t *events, unsigned width, int is_signed,
                                                    int rule, int exact, hu_mode mode, uint32_t random,
                                                    hu_oracle_code x); /* the integer and events */
HU_API HU_MUST_CHECK hu_status hu_oracle_from_integer(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode,
                                                      int is_signed, uint64_t x,
                                                      uint32_t random); /* the code and events */

/* The elementary functions of arith.h by the numbers that they have in operation.h, less HU_OP_FUNCTION. x: one
 * operand, of POW two. What hu_exp, ... must return for code and events. */
enum {
  HU_ORACLE_EXP,        /* hu_exp */
  HU_ORACLE_EXP2,       /* hu_exp2 */
  HU_ORACLE_EXPM1,      /* hu_expm1 */
  HU_ORACLE_LOG,        /* hu_log */
  HU_ORACLE_LOG2,       /* hu_log2 */
  HU_ORACLE_LOG1P,      /* hu_log1p */
  HU_ORACLE_TANH,       /* hu_tanh */
  HU_ORACLE_SIGMOID,    /* hu_sigmoid */
  HU_ORACLE_ERF,        /* hu_erf */
  HU_ORACLE_GELU,       /* hu_gelu */
  HU_ORACLE_RSQRT,      /* hu_rsqrt */
  HU_ORACLE_RECIPROCAL, /* hu_reciprocal */
  HU_ORACLE_SIN,        /* hu_sin */
  HU_ORACLE_COS,        /* hu_cos */
  HU_ORACLE_POW,        /* hu_pow */
  HU_ORACLE_FUNCTIONS   /* (count) */
};
/* HU_E_SHAPE: no such function. */
HU_API HU_MUST_CHECK hu_status hu_oracle_function(uint32_t *code, uint32_t *events, int function, hu_format fz,
                                                  hu_mode mode, uint32_t random, const hu_oracle_code *x);
/* The same value in n modes, modes[i] with random[i]: the function is evaluated once. events may be NULL. */
HU_API HU_MUST_CHECK hu_status hu_oracle_functions(uint32_t *codes, uint32_t *events, int function, hu_format fz,
                                                   size_t n, const hu_mode *modes, const uint32_t *random,
                                                   const hu_oracle_code *x);

/* Number systems (number.h, docs/numbers.md). HU_E_NUMBER and HU_E_FORMAT as hu_number_check, but that fields of other
 * kinds are not looked at. What hu_number_encode64, hu_number_convert must return. */
HU_API HU_MUST_CHECK hu_status hu_oracle_number_encode64(uint32_t *code, uint32_t *events, hu_number number,
                                                         hu_mode mode, double x,
                                                         uint32_t random); /* a code and events of hu_number_encode64 */
HU_API HU_MUST_CHECK hu_status hu_oracle_number_convert(uint32_t *code, uint32_t *events, hu_number fz, hu_mode mode,
                                                        hu_number fx, uint32_t x,
                                                        uint32_t random); /* a code and events of hu_number_convert */
/* What hu_number_decode64 and, if z32 is not NULL, hu_number_decode must return. */
HU_API HU_MUST_CHECK hu_status hu_oracle_number_decode64(double *z, float *z32, hu_number number, uint32_t code);

#ifdef __cplusplus
}
#endif
#endif
