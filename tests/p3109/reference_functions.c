/* SPDX-License-Identifier: MIT */
/* The functions of reference.h by MPFR, with the limits and the NaN of the draft. */
#include <stdlib.h>

#include "tests/p3109/extended.h"

/* halves pi/2, or halves/2. */
static void right_angles(real *z, int halves, int divided) {
  set_integer(z, halves, -1);
  if (divided) return;
  mpfr_t pi;
  mpfr_init2(pi, REFERENCE_BITS);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(z->r, z->r, pi, MPFR_RNDN);
  mpfr_clear(pi);
}

/* z / pi; a quotient of few digits comes out with them. */
static void over_pi(real *z) {
  mpfr_t pi;
  mpfr_init2(pi, REFERENCE_BITS);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_div(z->r, z->r, pi, MPFR_RNDN);
  mpfr_clear(pi);
  mpfr_prec_round(z->r, REFERENCE_BITS - 64, MPFR_RNDN);
  mpfr_prec_round(z->r, REFERENCE_BITS, MPFR_RNDN);
}

void angle_of(real *z, const real *y, const real *x, int divided) {
  z->kind = NOT_A_NUMBER;
  if (y->kind == NOT_A_NUMBER || x->kind == NOT_A_NUMBER || (is_zero(x) && is_zero(y))) return;
  if (is_infinite(x) && is_infinite(y)) return;
  if (x->kind == PLUS_INFINITY || (is_zero(y) && sign_of(x) > 0)) {
    set_integer(z, 0, 0);
  } else if (x->kind == MINUS_INFINITY || is_zero(y)) {
    right_angles(z, 2, divided);
  } else if (is_infinite(y) || is_zero(x)) {
    right_angles(z, sign_of(y), divided);
  } else {
    z->kind = REAL;
    mpfr_atan2(z->r, y->r, x->r, MPFR_RNDN);
    if (divided) over_pi(z);
  }
}

/* sin, cos or tan of pi x, by op. */
static void of_pi(real *z, int op, const real *x) {
  mpfr_t turn, pi;
  mpfr_init2(turn, REFERENCE_BITS);
  mpfr_init2(pi, REFERENCE_BITS);
  mpfr_set_ui(turn, 2, MPFR_RNDN);
  mpfr_fmod(turn, x->r, turn, MPFR_RNDN);
  mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
  z->kind = REAL;
  if (mpfr_integer_p(turn)) {
    int n = ((int)mpfr_get_si(turn, MPFR_RNDN) + 8) % 4,
        sine = n == 1   ? 1
               : n == 3 ? -1
                        : 0,
        cosine = n == 0   ? 1
                 : n == 2 ? -1
                          : 0;
    set_integer(z, op == HU_P3109_COS_PI ? cosine : op == HU_P3109_SIN_PI ? sine : 0, 0);
    if (op == HU_P3109_TAN_PI && n % 2) z->kind = NOT_A_NUMBER;
  } else {
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(turn, turn, pi, MPFR_RNDN);
    mpfr_div_2ui(turn, turn, 1, MPFR_RNDN);
    if (op == HU_P3109_SIN_PI) mpfr_sin(z->r, turn, MPFR_RNDN);
    if (op == HU_P3109_COS_PI) mpfr_cos(z->r, turn, MPFR_RNDN);
    if (op == HU_P3109_TAN_PI) mpfr_tan(z->r, turn, MPFR_RNDN);
    mpfr_prec_round(z->r, REFERENCE_BITS - 64, MPFR_RNDN); /* tan of a quarter is 1 */
    mpfr_prec_round(z->r, REFERENCE_BITS, MPFR_RNDN);
  }
  mpfr_clear(turn);
  mpfr_clear(pi);
}

/* Far above 0 the result lies between x and 2 x, and rounds to x; far below, under e^x, which rounds to itself. */
static int softplus(real *z, const real *x) {
  mpfr_exp(z->r, x->r, MPFR_RNDN);
  if (mpfr_inf_p(z->r) || mpfr_zero_p(z->r)) {
    if (mpfr_inf_p(z->r)) mpfr_set(z->r, x->r, MPFR_RNDN);
    return mpfr_zero_p(z->r) ? 1 : -1;
  }
  mpfr_log1p(z->r, z->r, MPFR_RNDN);
  return mpfr_cmp(z->r, x->r) == 0 ? -1 : 0;
}

/* Moves a result that MPFR rounded to the other side of the exact one. The exact one is irrational, and the moved one
 * has many digits, too. A result beyond MPFR's exponents becomes one far beyond every format, or far below. */
static void beside(real *z, int ternary) {
  if (mpfr_inf_p(z->r)) {
    mpfr_set_si_2exp(z->r, mpfr_sgn(z->r), 1000000, MPFR_RNDN);
  } else if (mpfr_zero_p(z->r) && ternary) {
    mpfr_set_si_2exp(z->r, mpfr_signbit(z->r) ? -1 : 1, -1000000, MPFR_RNDN);
  } else if (ternary < 0) {
    mpfr_nextabove(z->r);
  } else if (ternary > 0) {
    mpfr_nextbelow(z->r);
  }
}

static int is_beyond_one(const real *x) {
  return is_infinite(x) || mpfr_cmp_si(x->r, 1) > 0 || mpfr_cmp_si(x->r, -1) < 0;
}

int changed_in_d1(real *z, int op, const real *x) {
  if (op == HU_P3109_ARC_TAN2 || op == HU_P3109_ARC_TAN2_PI) {
    if (x[0].kind != REAL || sign_of(&x[0]) >= 0 || x[1].kind != MINUS_INFINITY) return 0;
    right_angles(z, -2, op == HU_P3109_ARC_TAN2_PI);
    return 1;
  }
  if (op != HU_P3109_TAN_PI || x->kind != REAL) return 0;
  of_pi(z, HU_P3109_COS_PI, x);
  if (!is_zero(z)) return 0;
  of_pi(z, HU_P3109_SIN_PI, x);
  set_infinity(z, sign_of(z));
  return 1;
}

/* Of one operand, which is no NaN; limits at infinities, NaN where there is no value. */
void function_of(real *z, int op, const real *x) {
  int infinite = is_infinite(x), minus = sign_of(x) < 0, ternary = 0;
  z->kind = NOT_A_NUMBER;
  switch (op) {
    case HU_P3109_RECIP:
      set_integer(z, 1, 0);
      if (infinite) set_integer(z, 0, 0);
      if (is_zero(x)) z->kind = NOT_A_NUMBER;
      if (!infinite && !is_zero(x)) mpfr_ui_div(z->r, 1, x->r, MPFR_RNDN);
      return;
    case HU_P3109_SQRT:
    case HU_P3109_RSQRT: {
      int root = op == HU_P3109_SQRT;
      if (minus || (!root && is_zero(x))) return;
      if (infinite && root) set_infinity(z, 1);
      if (infinite && !root) set_integer(z, 0, 0);
      if (infinite) return;
      z->kind = REAL;
      mpfr_sqrt(z->r, x->r, MPFR_RNDN);
      if (!root) mpfr_ui_div(z->r, 1, z->r, MPFR_RNDN);
      mpfr_prec_round(z->r, REFERENCE_BITS - 64, MPFR_RNDN);
      mpfr_prec_round(z->r, REFERENCE_BITS, MPFR_RNDN);
      return;
    }
    case HU_P3109_EXP:
    case HU_P3109_EXP2:
    case HU_P3109_EXP_MINUS_ONE:
    case HU_P3109_SOFTPLUS:
      if (infinite && !minus) set_infinity(z, 1);
      if (infinite && minus) set_integer(z, op == HU_P3109_EXP_MINUS_ONE ? -1 : 0, 0);
      if (infinite) return;
      break;
    case HU_P3109_LOG:
    case HU_P3109_LOG2:
      if (minus) return;
      if (infinite || is_zero(x)) set_infinity(z, infinite ? 1 : -1);
      if (infinite || is_zero(x)) return;
      break;
    case HU_P3109_LOG_ONE_PLUS:
      if (!minus && infinite) set_infinity(z, 1);
      if (infinite || mpfr_cmp_si(x->r, -1) < 0) return;
      if (mpfr_cmp_si(x->r, -1) == 0) set_infinity(z, -1);
      if (mpfr_cmp_si(x->r, -1) == 0) return;
      break;
    case HU_P3109_SIN:
    case HU_P3109_COS:
    case HU_P3109_TAN:
      if (infinite) return;
      break;
    case HU_P3109_SIN_PI:
    case HU_P3109_COS_PI:
    case HU_P3109_TAN_PI:
      if (!infinite) of_pi(z, op, x);
      return;
    case HU_P3109_ARC_SIN:
    case HU_P3109_ARC_COS:
    case HU_P3109_ARC_SIN_PI:
    case HU_P3109_ARC_COS_PI:
      if (is_beyond_one(x)) return;
      break;
    case HU_P3109_ARC_TAN:
    case HU_P3109_ARC_TAN_PI:
      if (infinite) right_angles(z, sign_of(x), op == HU_P3109_ARC_TAN_PI);
      if (infinite) return;
      break;
    case HU_P3109_SINH:
    case HU_P3109_ARC_SINH:
      if (infinite) real_set(z, x);
      if (infinite) return;
      break;
    case HU_P3109_COSH:
      if (infinite) set_infinity(z, 1);
      if (infinite) return;
      break;
    case HU_P3109_TANH:
      if (infinite) set_integer(z, sign_of(x), 0);
      if (infinite) return;
      break;
    case HU_P3109_ARC_COSH:
      if (infinite && !minus) set_infinity(z, 1);
      if (infinite || mpfr_cmp_si(x->r, 1) < 0) return;
      break;
    case HU_P3109_ARC_TANH:
      if (is_beyond_one(x)) return;
      if (mpfr_cmp_si(x->r, 1) == 0 || mpfr_cmp_si(x->r, -1) == 0) set_infinity(z, sign_of(x));
      if (is_infinite(z)) return;
      break;
    default: abort();
  }
  z->kind = REAL;
  switch (op) {
    case HU_P3109_EXP: ternary = mpfr_exp(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_EXP2: ternary = mpfr_exp2(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_EXP_MINUS_ONE: ternary = mpfr_expm1(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_SOFTPLUS: ternary = softplus(z, x); break;
    case HU_P3109_LOG: ternary = mpfr_log(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_LOG2: ternary = mpfr_log2(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_LOG_ONE_PLUS: ternary = mpfr_log1p(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_SIN: ternary = mpfr_sin(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_COS: ternary = mpfr_cos(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_TAN: ternary = mpfr_tan(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_ARC_SIN:
    case HU_P3109_ARC_SIN_PI: ternary = mpfr_asin(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_ARC_COS:
    case HU_P3109_ARC_COS_PI: ternary = mpfr_acos(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_ARC_TAN:
    case HU_P3109_ARC_TAN_PI: ternary = mpfr_atan(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_SINH: ternary = mpfr_sinh(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_COSH: ternary = mpfr_cosh(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_TANH: ternary = mpfr_tanh(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_ARC_SINH: ternary = mpfr_asinh(z->r, x->r, MPFR_RNDN); break;
    case HU_P3109_ARC_COSH: ternary = mpfr_acosh(z->r, x->r, MPFR_RNDN); break;
    default: ternary = mpfr_atanh(z->r, x->r, MPFR_RNDN); break;
  }
  beside(z, ternary);
  if (op == HU_P3109_ARC_SIN_PI || op == HU_P3109_ARC_COS_PI || op == HU_P3109_ARC_TAN_PI) over_pi(z);
}

void hypotenuse_of(real *z, const real *x, const real *y) {
  z->kind = NOT_A_NUMBER;
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) return;
  if (is_infinite(x) || is_infinite(y)) {
    set_infinity(z, 1);
    return;
  }
  z->kind = REAL;
  mpfr_hypot(z->r, x->r, y->r, MPFR_RNDN);
}
