/* SPDX-License-Identifier: MIT */
/* tests/p3109/extended.h - what reference.c and reference_functions.c have in common. */
#ifndef HALFULP_TESTS_P3109_EXTENDED_H
#define HALFULP_TESTS_P3109_EXTENDED_H

#include "tests/p3109/reference.h"

static inline int is_zero(const real *x) { return x->kind == REAL && mpfr_zero_p(x->r); }
static inline int is_infinite(const real *x) { return x->kind == PLUS_INFINITY || x->kind == MINUS_INFINITY; }
static inline int sign_of(const real *x) {
  if (is_infinite(x)) return x->kind == PLUS_INFINITY ? 1 : -1;
  return mpfr_sgn(x->r);
}

static inline void set_infinity(real *z, int sign) { z->kind = sign < 0 ? MINUS_INFINITY : PLUS_INFINITY; }

/* n 2^exponent. */
static inline void set_integer(real *z, long n, long exponent) {
  z->kind = REAL;
  mpfr_set_si_2exp(z->r, n, exponent, MPFR_RNDN);
}

/* Functions of one operand that is no NaN, ArcTan2 and Hypot. */
void function_of(real *z, int op, const real *x);
void angle_of(real *z, const real *y, const real *x, int divided);
/* Where the text of D1 has another case than v4.0 (4.10.12, 4.10.15, 4.10.16): 1 and the result. */
int changed_in_d1(real *z, int op, const real *x);
void hypotenuse_of(real *z, const real *x, const real *y);

#endif
