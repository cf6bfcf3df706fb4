/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/p3109/extended.h"

void real_init(real *x) {
  x->kind = NOT_A_NUMBER;
  mpfr_init2(x->r, REFERENCE_BITS);
}

void real_clear(real *x) { mpfr_clear(x->r); }

void real_set(real *z, const real *x) {
  z->kind = x->kind;
  if (x->kind == REAL) mpfr_set(z->r, x->r, MPFR_RNDN);
}

hu_format format_of(t_parameters parameters) {
  return hu_format_p3109((unsigned)parameters.k, (unsigned)parameters.p, parameters.is_signed, parameters.extended);
}

/* ---- formats ---- */

static int bias(t_parameters parameters) {
  if (parameters.is_signed) return 1 << (parameters.k - parameters.p - 1);
  return 1 << (parameters.k - parameters.p);
}

static uint32_t nan_code(t_parameters parameters) {
  return parameters.is_signed ? (uint32_t)1 << (parameters.k - 1) : ((uint32_t)1 << parameters.k) - 1;
}

static uint32_t infinity_code(t_parameters parameters) {
  return (parameters.is_signed ? (uint32_t)1 << (parameters.k - 1) : ((uint32_t)1 << parameters.k) - 1) - 1;
}

static uint32_t max_code(t_parameters parameters) { return infinity_code(parameters) - (parameters.extended ? 1 : 0); }

void decode(real *z, t_parameters parameters, uint32_t code) {
  uint32_t half = (uint32_t)1 << (parameters.k - 1), negative = parameters.is_signed && code > half;
  if (code == nan_code(parameters)) {
    z->kind = NOT_A_NUMBER;
    return;
  }
  if (negative) code -= half;
  if (parameters.extended && code == infinity_code(parameters)) {
    z->kind = negative ? MINUS_INFINITY : PLUS_INFINITY;
    return;
  }
  long t = (long)(code % ((uint32_t)1 << (parameters.p - 1))), e = (long)(code >> (parameters.p - 1));
  long unit = 1L << (parameters.p - 1), n = e == 0 ? t : unit + t,
       power = (e == 0 ? 1 : e) - bias(parameters) + 1 - parameters.p;
  set_integer(z, negative ? -n : n, power);
}

/* ---- project ---- */

/* The floor of x 2^n, for a result below 2^60. */
static uint64_t floor_scaled(mpfr_t x, long n) {
  mpfr_t y;
  mpfr_init2(y, REFERENCE_BITS);
  mpfr_mul_2si(y, x, n, MPFR_RNDN);
  uint64_t z = (uint64_t)mpfr_get_ui(y, MPFR_RNDD);
  mpfr_clear(y);
  return z;
}

static int rounds_away(hu_mode mode, mpfr_t nu, int negative, int even, uint64_t random) {
  int against = mpfr_cmp_d(nu, 0.5), inexact = mpfr_sgn(nu) > 0;
  uint64_t n = mode.bits, one = (uint64_t)1 << n, r = n ? random & (one - 1) : 0;
  switch (mode.round) {
    case HU_RTZ: return 0;
    case HU_RTP: return inexact && !negative;
    case HU_RTN: return inexact && negative;
    case HU_RNA: return against >= 0;
    case HU_RNE: return against > 0 || (against == 0 && !even);
    case HU_RTO: return inexact && even;
    case HU_SRA: return inexact && floor_scaled(nu, (long)n) + r >= one;
    case HU_SRB: return inexact && floor_scaled(nu, (long)n + 1) + 2 * r + 1 >= 2 * one;
    case HU_SRC: {
      mpfr_t y;
      mpfr_init2(y, REFERENCE_BITS);
      mpfr_mul_2si(y, nu, (long)n, MPFR_RNDN);
      mpfr_rint(y, y, MPFR_RNDN);
      uint64_t near = mpfr_get_ui(y, MPFR_RNDN);
      mpfr_clear(y);
      return inexact && near + r >= one;
    }
    default: abort();
  }
}

/* x rounded to the precision, the exponent bounded below and not above. */
static void round_to_precision(real *z, t_parameters parameters, hu_mode mode, const real *x, uint32_t random) {
  real_set(z, x);
  if (x->kind != REAL || mpfr_zero_p(x->r)) return;
  long b = bias(parameters), log2 = (long)mpfr_get_exp(x->r) - 1, q = (log2 > 1 - b ? log2 : 1 - b) - parameters.p + 1;
  int negative = mpfr_sgn(x->r) < 0;
  mpfr_t s, nu;
  mpfr_init2(s, REFERENCE_BITS);
  mpfr_init2(nu, REFERENCE_BITS);
  mpfr_abs(s, x->r, MPFR_RNDN);
  mpfr_mul_2si(s, s, -q, MPFR_RNDN);
  uint64_t i = floor_scaled(s, 0);
  mpfr_sub_ui(nu, s, (unsigned long)i, MPFR_RNDN);
  int even = parameters.p > 1 ? i % 2 == 0 : i == 0 || (q + b) % 2 == 0;
  i += (uint64_t)rounds_away(mode, nu, negative, even, random);
  set_integer(z, negative ? -(long)i : (long)i, q);
  mpfr_clear(s);
  mpfr_clear(nu);
}

static int is_mode(hu_mode mode, int a, int b) { return mode.round == a || mode.round == b; }

/* What becomes of a result beyond the range, by the draft's list; z is the rounded result. */
static void saturate(real *z, t_parameters parameters, hu_p3109_projection rho) {
  real most;
  real_init(&most);
  decode(&most, parameters, max_code(parameters));
  int july = rho.rules != HU_P3109_V4_0 && !parameters.extended, sat = rho.mode.saturate;
  int high = z->kind == PLUS_INFINITY || (z->kind == REAL && mpfr_cmp(z->r, most.r) > 0);
  int low = z->kind == MINUS_INFINITY, infinite = z->kind != REAL;
  if (z->kind == REAL && mpfr_sgn(z->r) < 0) low = !parameters.is_signed || mpfr_cmpabs(z->r, most.r) > 0;
  kind end = NOT_A_NUMBER; /* REAL: the end of the range */
  if (sat == HU_SAT_DEFAULT) sat = HU_SAT_NONE;
  if (z->kind == NOT_A_NUMBER || (!high && !low)) {
    real_clear(&most);
    return;
  }
  if (sat == HU_SAT_FINITE) {
    end = REAL;
  } else if (sat == HU_SAT_PROPAGATE) {
    end = infinite && parameters.extended && (high || parameters.is_signed) ? z->kind : REAL;
  } else if (infinite) {
    end = parameters.extended && (high || parameters.is_signed) ? z->kind
          : (!parameters.is_signed && low) || july              ? NOT_A_NUMBER
                                                                : REAL;
  } else if (high && is_mode(rho.mode, HU_RTZ, HU_RTN)) {
    end = REAL;
  } else if (low && is_mode(rho.mode, HU_RTZ, HU_RTP)) {
    end = REAL;
  } else if (high && rho.mode.round == HU_RTO && !parameters.is_signed && parameters.extended &&
             rho.rules != HU_P3109_D1) {
    end = REAL;
  } else if (low && !parameters.is_signed) {
    end = NOT_A_NUMBER;
  } else if (parameters.extended) {
    end = high ? PLUS_INFINITY : MINUS_INFINITY;
  } else {
    end = july ? NOT_A_NUMBER : REAL;
  }
  z->kind = end;
  if (end == REAL && high) mpfr_set(z->r, most.r, MPFR_RNDN);
  if (end == REAL && low && parameters.is_signed) mpfr_neg(z->r, most.r, MPFR_RNDN);
  if (end == REAL && low && !parameters.is_signed) mpfr_set_zero(z->r, 1);
  real_clear(&most);
}

static uint32_t encode(t_parameters parameters, const real *x) {
  uint32_t half = (uint32_t)1 << (parameters.k - 1);
  if (x->kind == NOT_A_NUMBER) return nan_code(parameters);
  if (x->kind == PLUS_INFINITY) return infinity_code(parameters);
  if (x->kind == MINUS_INFINITY) return infinity_code(parameters) + half;
  if (mpfr_zero_p(x->r)) return 0;
  long b = bias(parameters), log2 = (long)mpfr_get_exp(x->r) - 1, e = log2 > 1 - b ? log2 : 1 - b;
  mpfr_t s;
  mpfr_init2(s, REFERENCE_BITS);
  mpfr_abs(s, x->r, MPFR_RNDN);
  uint32_t n = (uint32_t)floor_scaled(s, parameters.p - 1 - e), unit = (uint32_t)1 << (parameters.p - 1);
  mpfr_clear(s);
  uint32_t code = n < unit ? n : n - unit + (uint32_t)(e + b) * unit;
  return code + (mpfr_sgn(x->r) < 0 ? half : 0);
}

uint32_t project(t_parameters parameters, hu_p3109_projection rho, const real *x, uint32_t random) {
  real z;
  real_init(&z);
  round_to_precision(&z, parameters, rho.mode, x, random);
  saturate(&z, parameters, rho);
  uint32_t code = encode(parameters, &z);
  real_clear(&z);
  return code;
}

/* ---- arithmetic on extended reals ---- */

static void negate(real *z, const real *x) {
  real_set(z, x);
  if (x->kind == REAL) mpfr_neg(z->r, x->r, MPFR_RNDN);
  if (is_infinite(x)) set_infinity(z, -sign_of(x));
}

static void add(real *z, const real *x, const real *y) {
  z->kind = REAL;
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER || (is_infinite(x) && is_infinite(y) && x->kind != y->kind)) {
    z->kind = NOT_A_NUMBER;
  } else if (is_infinite(x) || is_infinite(y)) {
    z->kind = is_infinite(x) ? x->kind : y->kind;
  } else {
    mpfr_add(z->r, x->r, y->r, MPFR_RNDN);
  }
}

static void multiply(real *z, const real *x, const real *y) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
    z->kind = NOT_A_NUMBER;
  } else if (is_infinite(x) || is_infinite(y)) {
    int sign = sign_of(x) * sign_of(y);
    z->kind = NOT_A_NUMBER;
    if (sign) set_infinity(z, sign);
  } else {
    mpfr_mul(z->r, x->r, y->r, MPFR_RNDN);
    z->kind = REAL;
  }
}

static void divide(real *z, const real *x, const real *y) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER || (is_infinite(x) && is_infinite(y)) || is_zero(y)) {
    z->kind = NOT_A_NUMBER;
  } else if (is_infinite(x)) {
    set_infinity(z, sign_of(x) * sign_of(y));
  } else if (is_infinite(y)) {
    set_integer(z, 0, 0);
  } else {
    mpfr_div(z->r, x->r, y->r, MPFR_RNDN);
    z->kind = REAL;
  }
}

void quotient_by_scale(real *z, const real *result, const real *scale) {
  if (result->kind == NOT_A_NUMBER || scale->kind == NOT_A_NUMBER) {
    z->kind = NOT_A_NUMBER;
  } else if (is_zero(scale)) {
    set_integer(z, 0, 0);
  } else if (is_infinite(scale)) {
    set_integer(z, sign_of(result) * sign_of(scale), 0);
  } else {
    divide(z, result, scale);
  }
}

/* x against y, neither of them NaN. */
static int compare(const real *x, const real *y) {
  if (x->kind != REAL || y->kind != REAL) return (int)x->kind - (int)y->kind;
  return mpfr_cmp(x->r, y->r);
}

static void copy_sign(real *z, const real *x, const real *y) {
  real_set(z, x);
  if (y->kind == NOT_A_NUMBER) z->kind = NOT_A_NUMBER;
  if (z->kind == REAL) mpfr_setsign(z->r, x->r, sign_of(y) < 0, MPFR_RNDN);
  if (is_infinite(z)) set_infinity(z, sign_of(y));
}

/* ---- extrema ---- */

static void least(real *z, const real *x, const real *y, int larger) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
    z->kind = NOT_A_NUMBER;
    return;
  }
  int c = compare(x, y);
  real_set(z, (larger ? c < 0 : c >= 0) ? y : x);
}

static void least_magnitude(real *z, const real *x, const real *y, int larger) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
    z->kind = NOT_A_NUMBER;
    return;
  }
  int infinite = is_infinite(x) - is_infinite(y), c = infinite;
  if (x->kind == REAL && y->kind == REAL) c = mpfr_cmpabs(x->r, y->r);
  if (c == 0) {
    least(z, x, y, larger);
  } else {
    real_set(z, (c > 0) == (larger != 0) ? x : y);
  }
}

static void number_of(real *z, const real *x, const real *y, int larger, int magnitude) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) {
    real_set(z, x->kind == NOT_A_NUMBER ? y : x);
  } else if (magnitude) {
    least_magnitude(z, x, y, larger);
  } else {
    least(z, x, y, larger);
  }
}

static void finite_of(real *z, const real *x, const real *y, int larger) {
  if (x->kind != NOT_A_NUMBER && y->kind != NOT_A_NUMBER && is_infinite(x) != is_infinite(y)) {
    real_set(z, is_infinite(x) ? y : x);
  } else {
    number_of(z, x, y, larger, 0);
  }
}

static void clamp(real *z, const real *x, const real *low, const real *high) {
  z->kind = NOT_A_NUMBER;
  if (x->kind == NOT_A_NUMBER || low->kind == NOT_A_NUMBER || high->kind == NOT_A_NUMBER) return;
  if (compare(low, high) > 0) return;
  real_set(z, compare(x, low) < 0 ? low : compare(x, high) > 0 ? high : x);
}

/* ---- all of them ---- */

/* x s + y t and the like. */
static void scaled(real *z, int op, const real *x) {
  real a, b;
  real_init(&a);
  real_init(&b);
  multiply(&a, &x[0], &x[1]);
  multiply(&b, &x[2], &x[3]);
  if (op == HU_P3109_SCALED_SUBTRACT) negate(&b, &b);
  if (op == HU_P3109_SCALED_MULTIPLY) {
    multiply(z, &a, &b);
  } else {
    add(z, &a, &b);
  }
  real_clear(&a);
  real_clear(&b);
}

void operate(real *z, int op, const real *x) {
  real t;
  real_init(&t);
  switch (op) {
    case HU_P3109_CONVERT: real_set(z, x); break;
    case HU_P3109_ABS:
      real_set(z, x);
      if (z->kind == REAL) mpfr_abs(z->r, z->r, MPFR_RNDN);
      if (is_infinite(z)) set_infinity(z, 1);
      break;
    case HU_P3109_NEGATE: negate(z, x); break;
    case HU_P3109_COPY_SIGN: copy_sign(z, x, x + 1); break;
    case HU_P3109_ADD: add(z, x, x + 1); break;
    case HU_P3109_SUBTRACT:
      negate(&t, x + 1);
      add(z, x, &t);
      break;
    case HU_P3109_MULTIPLY: multiply(z, x, x + 1); break;
    case HU_P3109_DIVIDE: divide(z, x, x + 1); break;
    case HU_P3109_FMA:
      multiply(&t, x, x + 1);
      if (x[2].kind == NOT_A_NUMBER) t.kind = NOT_A_NUMBER;
      add(z, &t, x + 2);
      break;
    case HU_P3109_FAA:
      add(&t, x, x + 1);
      add(z, &t, x + 2);
      break;
    case HU_P3109_HYPOT: hypotenuse_of(z, x, x + 1); break;
    case HU_P3109_SCALED_ADD:
    case HU_P3109_SCALED_SUBTRACT:
    case HU_P3109_SCALED_MULTIPLY: scaled(z, op, x); break;
    case HU_P3109_ARC_TAN2: angle_of(z, x, x + 1, 0); break;
    case HU_P3109_ARC_TAN2_PI: angle_of(z, x, x + 1, 1); break;
    case HU_P3109_MINIMUM: least(z, x, x + 1, 0); break;
    case HU_P3109_MAXIMUM: least(z, x, x + 1, 1); break;
    case HU_P3109_MINIMUM_NUMBER: number_of(z, x, x + 1, 0, 0); break;
    case HU_P3109_MAXIMUM_NUMBER: number_of(z, x, x + 1, 1, 0); break;
    case HU_P3109_MINIMUM_MAGNITUDE: least_magnitude(z, x, x + 1, 0); break;
    case HU_P3109_MAXIMUM_MAGNITUDE: least_magnitude(z, x, x + 1, 1); break;
    case HU_P3109_MINIMUM_MAGNITUDE_NUMBER: number_of(z, x, x + 1, 0, 1); break;
    case HU_P3109_MAXIMUM_MAGNITUDE_NUMBER: number_of(z, x, x + 1, 1, 1); break;
    case HU_P3109_MINIMUM_FINITE: finite_of(z, x, x + 1, 0); break;
    case HU_P3109_MAXIMUM_FINITE: finite_of(z, x, x + 1, 1); break;
    case HU_P3109_CLAMP: clamp(z, x, x + 1, x + 2); break;
    default:
      z->kind = NOT_A_NUMBER;
      if (x->kind != NOT_A_NUMBER) function_of(z, op, x);
  }
  real_clear(&t);
}

void operate_by(real *z, int op, uint8_t rules, const real *x) {
  if (rules != HU_P3109_D1 || !changed_in_d1(z, op, x)) operate(z, op, x);
}

/* ---- predicates and neighbours ---- */

static uint32_t class_of(t_parameters parameters, uint32_t code, const real *x) {
  uint32_t half = (uint32_t)1 << (parameters.k - 1), magnitude = parameters.is_signed ? code % half : code;
  int normal = magnitude >> (parameters.p - 1) != 0, minus;
  if (x->kind == NOT_A_NUMBER) return HU_P3109_CLASS_NAN;
  minus = sign_of(x) < 0;
  if (is_infinite(x)) return minus ? HU_P3109_CLASS_NEGATIVE_INFINITY : HU_P3109_CLASS_POSITIVE_INFINITY;
  if (is_zero(x)) return HU_P3109_CLASS_ZERO;
  if (minus) return normal ? HU_P3109_CLASS_NEGATIVE_NORMAL : HU_P3109_CLASS_NEGATIVE_SUBNORMAL;
  return normal ? HU_P3109_CLASS_POSITIVE_NORMAL : HU_P3109_CLASS_POSITIVE_SUBNORMAL;
}

uint32_t predicate(int op, const t_parameters *parameters, const uint32_t *code) {
  real x[2];
  uint32_t z = 0;
  int two = op >= HU_P3109_COMPARE_LESS && op <= HU_P3109_TOTAL_ORDER;
  for (int i = 0; i < 2; i++) real_init(&x[i]);
  for (int i = 0; i <= two; i++) decode(&x[i], parameters[i], code[i]);
  int nan = x[0].kind == NOT_A_NUMBER || (two && x[1].kind == NOT_A_NUMBER),
      c = nan || !two ? 0 : compare(&x[0], &x[1]);
  uint32_t class = class_of(parameters[0], code[0], &x[0]);
  switch (op) {
    case HU_P3109_COMPARE_LESS: z = !nan && c < 0; break;
    case HU_P3109_COMPARE_LESS_EQUAL: z = !nan && c <= 0; break;
    case HU_P3109_COMPARE_EQUAL: z = !nan && c == 0; break;
    case HU_P3109_COMPARE_GREATER_EQUAL: z = !nan && c >= 0; break;
    case HU_P3109_COMPARE_GREATER: z = !nan && c > 0; break;
    case HU_P3109_TOTAL_ORDER: z = x[0].kind == NOT_A_NUMBER || (x[1].kind != NOT_A_NUMBER && c <= 0); break;
    case HU_P3109_IS_ZERO: z = is_zero(&x[0]); break;
    case HU_P3109_IS_ONE: z = x[0].kind == REAL && mpfr_cmp_ui(x[0].r, 1) == 0; break;
    case HU_P3109_IS_NAN: z = nan; break;
    case HU_P3109_IS_SIGN_MINUS: z = !nan && sign_of(&x[0]) < 0; break;
    case HU_P3109_IS_FINITE: z = x[0].kind == REAL; break;
    case HU_P3109_IS_INFINITE: z = is_infinite(&x[0]); break;
    case HU_P3109_IS_NORMAL:
      z = class == HU_P3109_CLASS_NEGATIVE_NORMAL || class == HU_P3109_CLASS_POSITIVE_NORMAL;
      break;
    case HU_P3109_IS_SUBNORMAL:
      z = class == HU_P3109_CLASS_NEGATIVE_SUBNORMAL || class == HU_P3109_CLASS_POSITIVE_SUBNORMAL;
      break;
    default: z = class;
  }
  for (int i = 0; i < 2; i++) real_clear(&x[i]);
  return z;
}

uint32_t neighbour(t_parameters parameters, uint32_t code, int above) {
  real x, y, best;
  real_init(&x);
  real_init(&y);
  real_init(&best);
  uint32_t z = nan_code(parameters);
  decode(&x, parameters, code);
  for (uint32_t other = 0; x.kind != NOT_A_NUMBER && other < (uint32_t)1 << parameters.k; other++) {
    decode(&y, parameters, other);
    if (y.kind == NOT_A_NUMBER || (above ? compare(&y, &x) <= 0 : compare(&y, &x) >= 0)) continue;
    if (z != nan_code(parameters) && (above ? compare(&y, &best) >= 0 : compare(&y, &best) <= 0)) continue;
    z = other;
    real_set(&best, &y);
  }
  real_clear(&x);
  real_clear(&y);
  real_clear(&best);
  return z;
}
