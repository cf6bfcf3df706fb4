/* SPDX-License-Identifier: MIT */
/* See functions.h. The fixed-point numbers are those of emu/core/big.h, errors are in their ulps.
 *
 * Results that are rational are found first; all others are irrational (Lindemann and Weierstrass; of the functions of
 * pi x and those divided by pi, Niven), so that their digits are neither all 0 nor all 1 from some place on, and with
 * more of them each is decided (emu/core/function.h). */
#include "emu/p3109/functions.h"

#include "emu/core/function.h"
#include "halfulp/p3109.h"

static const hu_num ZERO = {0, 0, HU_KIND_ZERO, 0, 0};

static hu_num not_a_number(void) { return hui_num_special(HU_KIND_NAN, 0); }

/* ---- building blocks ---- */

/* Finds the root of a < 2^62, cut off: binary digits of the root from pairs of those of a 2^(32 limbs). */
static void root(hu_big *z, const hu_big *a, int32_t limbs) {
  hu_big found = hui_big_of(0, limbs), rest = found, trial;
  for (int32_t i = 32 * limbs + 31; i >= 0; i--) {
    int32_t at = 2 * i - 32 * limbs; /* the place in `a` of the pair's lower digit */
    uint32_t pair = at < 0 ? 0 : a->limb[at >> 5] >> (at & 31) & 3;
    hui_big_up(&rest, &rest, 2, limbs);
    rest.limb[0] |= pair;
    hui_big_up(&trial, &found, 2, limbs);
    trial.limb[0] |= 1;
    hui_big_up(&found, &found, 1, limbs);
    if (hui_big_compare(&rest, &trial, limbs) < 0) continue;
    hui_big_sub(&rest, &rest, &trial, limbs);
    found.limb[0] |= 1;
  }
  *z = found;
}

/* Sums 1 - y/3 + y^2/5 - y^3/7 + ... (arctan x = x times this, y = x^2 <= 1/64), within 4 ulps more than y's error. */
static void arc_series(hu_big *z, const hu_big *y, int32_t limbs) {
  hu_big one = hui_big_of(1, limbs), sum = hui_big_of(0, limbs), term;
  for (int32_t k = 6 * limbs; k >= 0; k--) {
    hui_big_mul(&sum, &sum, y, limbs);
    hui_big_over(&term, &one, 2 * (uint32_t)k + 1, limbs);
    hui_big_sub(&sum, &term, &sum, limbs);
  }
  *z = sum;
}

/* Sums 1 + y/6 + 3 y^2/40 + ... (arcsin x = x times this, y = x^2 <= 2^-16), within 4 ulps more than y's error. */
static void arc_sine_series(hu_big *z, const hu_big *y, int32_t limbs) {
  hu_big one = hui_big_of(1, limbs), sum = one;
  for (uint32_t n = 2 * (uint32_t)limbs + 2; n > 0; n--) {
    hui_big_mul(&sum, &sum, y, limbs);
    hui_big_times(&sum, &sum, (2 * n - 1) * (2 * n - 1), limbs);
    hui_big_over(&sum, &sum, 2 * n * (2 * n + 1), limbs);
    hui_big_add(&sum, &sum, &one, limbs);
  }
  *z = sum;
}

/* Sums 1 - y/(2 3) + y^2/(2 3 4 5) - ... (sin x = x times this, y = x^2 < 1), within 4 ulps more than y's error. */
static void sine_series(hu_big *z, const hu_big *y, int32_t limbs) {
  hu_big one = hui_big_of(1, limbs), sum = one;
  for (uint32_t n = 2 * (3 * (uint32_t)limbs + 6); n > 0; n -= 2) {
    hui_big_mul(&sum, &sum, y, limbs);
    hui_big_over(&sum, &sum, n * (n + 1), limbs);
    hui_big_sub(&sum, &one, &sum, limbs);
  }
  *z = sum;
}

/* Computes arctan x for 0 <= x <= 1, within 2^8 ulps if x is within 8: three times arctan x = 2 arctan(x / (1 + sqrt(1
 * + x^2))), which halves x's error and adds less than 4 ulps, leaves x < 0.0985. */
static void arc_tangent(hu_big *z, hu_big x, int32_t limbs) {
  hu_big one = hui_big_of(1, limbs), y;
  for (int i = 0; i < 3; i++) {
    hui_big_mul(&y, &x, &x, limbs);
    hui_big_add(&y, &y, &one, limbs);
    root(&y, &y, limbs);
    hui_big_add(&y, &y, &one, limbs);
    hui_big_div(&x, &x, &y, limbs);
  }
  hui_big_mul(&y, &x, &x, limbs);
  arc_series(&y, &y, limbs);
  hui_big_mul(&y, &y, &x, limbs);
  hui_big_up(z, &y, 3, limbs);
}

/* Finds the angle, 0 to pi/2, of point (x, y): x and y from 0 to 2, within 2 ulps, the larger at least 1/2. */
static void angle(hu_big *z, const hu_big *x, const hu_big *y, int32_t limbs) {
  hu_big half_pi = hui_big_constant(HU_CONSTANT_HALF_PI, limbs), ratio;
  uint32_t steep = hui_big_compare(y, x, limbs) > 0;
  hui_big_div(&ratio, steep ? x : y, steep ? y : x, limbs);
  arc_tangent(z, ratio, limbs);
  if (steep) hui_big_sub(z, &half_pi, z, limbs);
}

static void set(hu_real *real, hu_big z, int32_t exp, int32_t error, uint32_t sign) {
  real->z = z;
  real->exp = exp;
  real->error = error;
  real->sign = sign;
}

/* Returns halves / 2 times pi. */
static hu_big pi_halves(uint32_t halves, int32_t limbs) {
  hu_big z = hui_big_constant(HU_CONSTANT_HALF_PI, limbs);
  hui_big_times(&z, &z, halves, limbs);
  return z;
}

static hu_big one_over_pi(int32_t limbs) {
  hu_big z = hui_big_of(0, limbs);
  for (int32_t i = 0; i <= limbs; i++) z.limb[i] = hui_two_over_pi_bits(32 * (limbs - i) - 1);
  return z;
}

/* z divided by pi. z is below 4. */
static void over_pi(hu_real *real, int32_t limbs) {
  hu_big unit = one_over_pi(limbs);
  hui_big_mul(&real->z, &real->z, &unit, limbs);
  real->error = real->error < 3 ? 4 : real->error + 1;
}

/* Divides sine by c, both at most 1 and within 2^error ulps; 0: c is not known well enough. */
static int32_t quotient(hu_real *real, const hu_real *sine, hu_real *c, int32_t error, int32_t limbs) {
  int32_t up = 32 * limbs - hui_big_lead(&c->z, limbs);
  if (error + up + 3 >= 32 * limbs) return 0;
  hui_big_up(&c->z, &c->z, up, limbs);
  hui_big_div(&real->z, &sine->z, &c->z, limbs);
  set(real, real->z, up, error + up + 2, sine->sign ^ c->sign);
  return 1;
}

/* ---- tangent, hyperbolic sine and cosine ---- */

static int32_t tangent(hu_real *real, hu_num x, int32_t limbs) {
  hu_real sine, c;
  hui_real_sin(&sine, x, 0, limbs);
  hui_real_sin(&c, x, 1, limbs);
  return quotient(real, &sine, &c, 33, limbs);
}

/* Computes (e^x + e^-x) / 2, or half the difference. */
static void hyperbolic(hu_real *real, hu_num x, uint32_t cosine, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs);
  hu_real down;
  hui_real_exp(real, &a, 0, 0, limbs);
  hui_real_exp(&down, &a, 1, 0, limbs);
  hui_big_down(&down.z, &down.z, real->exp - down.exp, limbs);
  if (cosine) {
    hui_big_add(&real->z, &real->z, &down.z, limbs);
  } else {
    hui_big_sub(&real->z, &real->z, &down.z, limbs);
  }
  real->exp--;
  real->error = 18;
  real->sign = cosine ? 0 : x.sign;
}

/* ---- inverse hyperbolic functions, softplus: logarithms ---- */

/* ln(m 2^k) for 1 <= m < 2^33 within a few ulps. */
static void logarithm(hu_real *real, hu_big m, int32_t k, int32_t limbs) {
  int32_t place = hui_big_lead(&m, limbs) - 32 * limbs;
  hui_big_down(&m, &m, place, limbs);
  hui_real_log(real, m, k + place, 0, limbs);
  real->error = 14; /* k may be twice what hui_real_log provides for */
}

/* ln(|x| + sqrt(x^2 + 1)), or with - 1: of m = |x| 2^-k, k = max(0, exponent of x), and sqrt(m^2 + 2^-2k). */
static void inverse_hyperbolic(hu_real *real, hu_num x, uint32_t cosine, int32_t limbs) {
  int32_t k = hui_exponent(x) < 0 ? 0 : hui_exponent(x);
  hu_big m = hui_big_scaled(x.sig, x.exp - k, limbs), unit = hui_big_of(1, limbs), y;
  hui_big_down(&unit, &unit, 2 * k, limbs);
  hui_big_mul(&y, &m, &m, limbs);
  if (cosine) {
    hui_big_sub(&y, &y, &unit, limbs);
  } else {
    hui_big_add(&y, &y, &unit, limbs);
  }
  root(&y, &y, limbs);
  hui_big_add(&m, &m, &y, limbs);
  logarithm(real, m, k, limbs);
  real->sign = cosine ? 0 : x.sign;
}

/* ln((1 + x) / (1 - x)) / 2, 2^-33 <= |x| < 1: both sums are exact. */
static void inverse_tangent_hyperbolic(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), one = hui_big_of(1, limbs), below;
  hui_big_sub(&below, &one, &a, limbs);
  hui_big_add(&a, &one, &a, limbs);
  hui_big_div(&a, &a, &below, limbs);
  logarithm(real, a, 0, limbs);
  real->exp--;
  real->sign = x.sign;
}

/* ln(1 + e^x). Above 0 it is x + ln(1 + e^-x); far below, e^x (1 - e^x/2 + e^2x/3 - ...). */
static void softplus(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), one = hui_big_of(1, limbs), y, sum = hui_big_of(0, limbs), term;
  hu_real power;
  hui_real_exp(&power, &a, 1, 1, limbs);
  hui_big_down(&y, &power.z, -power.exp, limbs);
  if (x.sign && hui_exponent(x) >= 3) {
    for (int32_t k = 3 * limbs + 3; k >= 0; k--) { /* y < 2^-11 */
      hui_big_mul(&sum, &sum, &y, limbs);
      hui_big_over(&term, &one, (uint32_t)k + 1, limbs);
      hui_big_sub(&sum, &term, &sum, limbs);
    }
    hui_big_mul(&sum, &sum, &power.z, limbs);
    set(real, sum, power.exp, 20, 0);
    return;
  }
  hui_big_add(&y, &one, &y, limbs);
  logarithm(real, y, 0, limbs);
  if (!x.sign) hui_big_add(&real->z, &real->z, &a, limbs);
  real->error = 19; /* y is off by 2^16 ulps */
}

/* ---- angles ---- */

/* sqrt(1 - x^2), 2^-33 <= |x| < 1: the square is exact. */
static hu_big other_leg(const hu_big *a, int32_t limbs) {
  hu_big one = hui_big_of(1, limbs), y;
  hui_big_mul(&y, a, a, limbs);
  hui_big_sub(&y, &one, &y, limbs);
  root(&y, &y, limbs);
  return y;
}

static void arc_sine(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), c = other_leg(&a, limbs), z;
  angle(&z, &c, &a, limbs);
  set(real, z, 0, 10, x.sign);
}

/* From 0 to pi; of a tiny x its square is cut off, and the angle with it is off by less than an ulp. */
static void arc_cosine(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), c = other_leg(&a, limbs), z, pi = pi_halves(2, limbs);
  angle(&z, &a, &c, limbs);
  if (x.sign) hui_big_sub(&z, &pi, &z, limbs);
  set(real, z, 0, 11, 0);
}

/* From here down a result must be precise relative to its operand: t = z 2^exp with exp < -8. */
enum { SMALL = -8 };

/* The angle of (x, y), finite and not 0: of the quotient t of the smaller by the larger. A small angle keeps the
 * exponent of t. */
static void arc_tangent2(hu_real *real, hu_num y, hu_num x, int32_t limbs) {
  uint32_t steep = hui_compare_magnitude(y, x) > 0;
  hu_num smaller = steep ? x : y, larger = steep ? y : x;
  int32_t kn = hui_exponent(smaller), kd = hui_exponent(larger), exp = kn - kd;
  hu_big ratio, below = hui_big_scaled(larger.sig, larger.exp - kd, limbs), square, half = pi_halves(1, limbs),
                pi = pi_halves(2, limbs);
  ratio = hui_big_scaled(smaller.sig, smaller.exp - kn, limbs);
  hui_big_div(&ratio, &ratio, &below, limbs); /* 1/2 to 2 */
  if (!steep && !x.sign && exp < SMALL) {
    hui_big_mul(&square, &ratio, &ratio, limbs);
    hui_big_down(&square, &square, -2 * exp, limbs);
    arc_series(&square, &square, limbs);
    hui_big_mul(&ratio, &ratio, &square, limbs);
    set(real, ratio, exp, 5, y.sign);
    return;
  }
  hui_big_down(&ratio, &ratio, -exp, limbs);
  arc_tangent(&ratio, ratio, limbs);
  if (steep) hui_big_sub(&ratio, &half, &ratio, limbs);
  if (x.sign) hui_big_sub(&ratio, &pi, &ratio, limbs);
  set(real, ratio, 0, 10, y.sign);
}

/* Computes arcsin(x) / pi for a small x: x/pi times the series. */
static void small_arc_sine_pi(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), unit = one_over_pi(limbs);
  hui_big_mul(&a, &a, &a, limbs);
  arc_sine_series(&a, &a, limbs);
  hui_big_mul(&a, &a, &unit, limbs);
  hui_big_times(&a, &a, (uint32_t)x.sig, limbs);
  set(real, a, x.exp, 36, x.sign);
}

/* ---- functions of pi x ---- */

/* Splits twice |x| into an integer part, returned modulo 4, and a fraction: an angle of (quarter + fraction) pi/2. |x|
 * < 2^33 or an integer, whose fraction is 0. */
static uint32_t quarters(hu_num *fraction, hu_num x) {
  x.exp++;
  if (x.exp >= 0) {
    *fraction = ZERO;
    return x.exp > 1 ? 0 : (uint32_t)(x.sig << x.exp) & 3;
  }
  if (x.exp < -63) {
    *fraction = hui_num_finite(0, x.sig, x.exp);
    return 0;
  }
  *fraction = hui_num_finite(0, x.sig & (((uint64_t)1 << -x.exp) - 1), x.exp);
  return (uint32_t)(x.sig >> -x.exp) & 3;
}

/* Computes sin(pi x), or cos(pi x), where the fraction of `quarters` is not 0. */
static void sine_pi(hu_real *real, hu_num x, uint32_t cosine, int32_t limbs) {
  hu_num fraction;
  uint32_t quarter = quarters(&fraction, x) + cosine, turned;
  hu_big a = hui_magnitude(fraction, limbs), half_pi = pi_halves(1, limbs), one = hui_big_of(1, limbs);
  turned = a.limb[limbs - 1] >> 31;
  if (turned) hui_big_sub(&a, &one, &a, limbs);
  hui_big_mul(&a, &a, &half_pi, limbs);
  hui_series_sin(&a, &a, (quarter & 1) ^ turned, limbs);
  set(real, a, 0, 5, (quarter >> 1 & 1) ^ (cosine ? 0 : x.sign));
}

/* Computes sin(pi x) of a small x: pi x times the series. */
static void small_sine_pi(hu_real *real, hu_num x, int32_t limbs) {
  hu_big a = hui_magnitude(x, limbs), pi = pi_halves(2, limbs);
  hui_big_mul(&a, &a, &pi, limbs);
  hui_big_mul(&a, &a, &a, limbs);
  sine_series(&a, &a, limbs);
  hui_big_mul(&a, &a, &pi, limbs);
  hui_big_times(&a, &a, (uint32_t)x.sig, limbs);
  set(real, a, x.exp, 38, x.sign);
}

static int32_t tangent_pi(hu_real *real, hu_num x, int32_t limbs) {
  hu_real sine, c;
  sine_pi(&c, x, 1, limbs);
  if (hui_exponent(x) >= SMALL) {
    sine_pi(&sine, x, 0, limbs);
    return quotient(real, &sine, &c, 5, limbs);
  }
  small_sine_pi(&sine, x, limbs);
  hui_big_div(&real->z, &sine.z, &c.z, limbs); /* c > 0.99, sine within 2^38 ulps of up to 2^33 */
  set(real, real->z, sine.exp, 41, x.sign);
  return 1;
}

/* ---- what needs no digits ---- */

static hu_num half(uint32_t sign) { return hui_num_finite(sign, 1, -1); }
static hu_num quarter(uint32_t sign, uint32_t n) { return hui_num_finite(sign, n, -2); }

/* Compares |x| with 1: -1, 0, 1. */
static int32_t against_one(hu_num x) { return hui_compare_magnitude(x, hui_one(0)); }

/* halves pi/2 with a sign, or halves/2 where it is divided by pi. */
static hu_num right_angles(uint32_t halves, uint32_t sign, uint32_t divided) {
  hu_num z;
  hu_real real;
  if (divided) return hui_num_finite(sign, halves, -1);
  set(&real, pi_halves(halves, HU_BIG_FRACTION), 0, 3, sign);
  (void)hui_real_decided(&z, &real, HU_BIG_FRACTION);
  return z;
}

/* The angle where an operand is NaN, an infinity or zero: 1 and the result. The draft has pi for every finite ordinate
 * over the abscissa -infinity, and NaN for (0, 0) and for two infinities. */
static int32_t special_angle(hu_num *z, hu_num y, hu_num x, uint32_t divided) {
  *z = not_a_number();
  if (y.kind == HU_KIND_NAN || x.kind == HU_KIND_NAN) return 1;
  if (y.kind == x.kind && y.kind != HU_KIND_FINITE) return 1;
  if (x.kind == HU_KIND_INF) {
    *z = x.sign ? right_angles(2, 0, divided) : ZERO;
  } else if (y.kind == HU_KIND_INF || x.kind == HU_KIND_ZERO) {
    *z = right_angles(1, y.sign, divided);
  } else if (y.kind == HU_KIND_ZERO) {
    *z = x.sign ? right_angles(2, 0, divided) : ZERO;
  } else if (divided && hui_compare_magnitude(y, x) == 0) {
    *z = quarter(y.sign, x.sign ? 3 : 1);
  } else {
    return 0;
  }
  return 1;
}

/* The result for an operand that is a NaN, an infinity or a zero. */
static hu_num special(int op, hu_num x) {
  uint32_t infinite = x.kind == HU_KIND_INF;
  switch (op) {
    case HU_P3109_SOFTPLUS: return infinite ? (x.sign ? ZERO : x) : hui_one(0); /* of zero: not asked for */
    case HU_P3109_COSH: return infinite ? hui_num_special(HU_KIND_INF, 0) : hui_one(0);
    case HU_P3109_COS_PI: return infinite ? not_a_number() : hui_one(0);
    case HU_P3109_ARC_COS: return infinite ? not_a_number() : right_angles(1, 0, 0);
    case HU_P3109_ARC_COS_PI: return infinite ? not_a_number() : half(0);
    case HU_P3109_ARC_TAN: return infinite ? right_angles(1, x.sign, 0) : ZERO;
    case HU_P3109_ARC_TAN_PI: return infinite ? half(x.sign) : ZERO;
    case HU_P3109_SINH:
    case HU_P3109_ARC_SINH: return x;
    case HU_P3109_ARC_COSH: return infinite && !x.sign ? x : not_a_number();
    default: return infinite ? not_a_number() : ZERO; /* tangents, sine of pi x, arc sine, ArcTanh */
  }
}

/* Functions of pi x where twice x is an integer, or tan of a quarter: 1 and the result. */
static int32_t quickly_pi(hu_num *z, int op, hu_num x) {
  hu_num fraction;
  uint32_t turn = quarters(&fraction, x), odd = turn & 1;
  uint32_t eighth = fraction.kind == HU_KIND_FINITE && hui_is_power_of_two(fraction) && hui_exponent(fraction) == -1;
  if (op == HU_P3109_TAN_PI && eighth) {
    *z = hui_one(odd ^ x.sign);
    return 1;
  }
  if (fraction.kind != HU_KIND_ZERO) return 0;
  if (op == HU_P3109_TAN_PI) {
    *z = odd ? not_a_number() : ZERO;
  } else if (op == HU_P3109_SIN_PI) {
    *z = odd ? hui_one((turn == 3) ^ x.sign) : ZERO;
  } else {
    *z = odd ? ZERO : hui_one(turn == 2);
  }
  return 1;
}

/* Where |x| >= 1: 1 and the result of what is not defined there, or rational. */
static int32_t quickly_beyond_one(hu_num *z, int op, hu_num x) {
  int32_t more = against_one(x);
  *z = not_a_number();
  switch (op) {
    case HU_P3109_ARC_SIN: *z = more ? *z : right_angles(1, x.sign, 0); return more >= 0;
    case HU_P3109_ARC_SIN_PI: *z = more ? *z : half(x.sign); return more >= 0;
    case HU_P3109_ARC_COS: *z = more ? *z : x.sign ? right_angles(2, 0, 0) : ZERO; return more >= 0;
    case HU_P3109_ARC_COS_PI: *z = more ? *z : x.sign ? hui_one(0) : ZERO; return more >= 0;
    case HU_P3109_ARC_TANH: *z = more ? *z : hui_num_special(HU_KIND_INF, x.sign); return more >= 0;
    default: /* ArcCosh */
      if (more == 0 && !x.sign) *z = ZERO;
      return more <= 0 || x.sign;
  }
}

/* Returns 1, and the result, if x, finite and not 0, needs no digits. */
static int32_t quickly(hu_num *z, int op, hu_num x) {
  int32_t k = hui_exponent(x);
  uint32_t far = hui_is_far(x, 0);
  switch (op) {
    case HU_P3109_TAN: *z = hui_beside(x, 1); return k < -33;
    case HU_P3109_SINH: *z = far ? hui_beyond_all(x.sign) : hui_beside(x, 1); return far || k < -33;
    case HU_P3109_COSH: *z = far ? hui_beyond_all(0) : hui_beside(hui_one(0), 1); return far || k < -33;
    case HU_P3109_ARC_TAN:
    case HU_P3109_ARC_SINH: *z = hui_beside(x, 0); return k < -33;
    case HU_P3109_SOFTPLUS: *z = x.sign ? hui_below_all(0) : hui_beside(x, 1); return x.sign ? (int32_t)far : k >= 6;
    case HU_P3109_SIN_PI:
    case HU_P3109_COS_PI:
    case HU_P3109_TAN_PI:
      if (op == HU_P3109_COS_PI && k < -35) {
        *z = hui_beside(hui_one(0), 0);
        return 1;
      }
      return quickly_pi(z, op, x);
    case HU_P3109_ARC_TAN_PI: *z = quarter(x.sign, 1); return against_one(x) == 0;
    case HU_P3109_ARC_SIN:
    case HU_P3109_ARC_TANH: *z = hui_beside(x, 1); return k < -33 || quickly_beyond_one(z, op, x);
    default: return quickly_beyond_one(z, op, x);
  }
}

/* Computes the function's value to so many limbs; 0 if they are not enough. */
static int32_t value(hu_num *z, int op, hu_num x, hu_num y, int32_t limbs) {
  hu_real real;
  int32_t known = 1, small = hui_exponent(x) < SMALL;
  switch (op) {
    case HU_P3109_TAN: known = tangent(&real, x, limbs); break;
    case HU_P3109_SINH: hyperbolic(&real, x, 0, limbs); break;
    case HU_P3109_COSH: hyperbolic(&real, x, 1, limbs); break;
    case HU_P3109_ARC_SINH: inverse_hyperbolic(&real, x, 0, limbs); break;
    case HU_P3109_ARC_COSH: inverse_hyperbolic(&real, x, 1, limbs); break;
    case HU_P3109_ARC_TANH: inverse_tangent_hyperbolic(&real, x, limbs); break;
    case HU_P3109_SOFTPLUS: softplus(&real, x, limbs); break;
    case HU_P3109_SIN_PI:
      if (small) {
        small_sine_pi(&real, x, limbs);
      } else {
        sine_pi(&real, x, 0, limbs);
      }
      break;
    case HU_P3109_COS_PI: sine_pi(&real, x, 1, limbs); break;
    case HU_P3109_TAN_PI: known = tangent_pi(&real, x, limbs); break;
    case HU_P3109_ARC_SIN: arc_sine(&real, x, limbs); break;
    case HU_P3109_ARC_COS:
    case HU_P3109_ARC_COS_PI: arc_cosine(&real, x, limbs); break;
    case HU_P3109_ARC_SIN_PI:
      if (small) {
        small_arc_sine_pi(&real, x, limbs);
      } else {
        arc_sine(&real, x, limbs);
      }
      break;
    default: arc_tangent2(&real, x, y, limbs); break;
  }
  if (!known) return 0;
  if ((op == HU_P3109_ARC_SIN_PI && !small) || op == HU_P3109_ARC_COS_PI || op == HU_P3109_ARC_TAN_PI ||
      op == HU_P3109_ARC_TAN2_PI)
    over_pi(&real, limbs);
  return hui_real_decided(z, &real, limbs);
}

/* ---- sqrt(x^2 + y^2) ---- */

/* With |y| < 2^-32 |x| it is |x| and less than 2^-64 of that more. Else the sum of the squares, in units of the square
 * of x's binade, has at most 126 digits behind the point: it and the square of a root of 64 digits are exact, so that
 * comparing them decides whether more digits follow. */
static hu_num hypotenuse(hu_num x, hu_num y) {
  enum { LIMBS = 6 };
  x.sign = y.sign = 0;
  if (x.kind == HU_KIND_ZERO) return y;
  if (y.kind == HU_KIND_ZERO) return x;
  if (hui_compare_magnitude(x, y) < 0) {
    hu_num other = x;
    x = y;
    y = other;
  }
  int32_t k = hui_exponent(x);
  if (k - hui_exponent(y) > 32) return hui_beside(x, 1);
  hu_big sum = hui_big_scaled(x.sig * x.sig, 2 * (x.exp - k), LIMBS),
         other = hui_big_scaled(y.sig * y.sig, 2 * (y.exp - k), LIMBS);
  hui_big_add(&sum, &sum, &other, LIMBS);
  hu_big found;
  root(&found, &sum, LIMBS);
  int32_t place = hui_big_lead(&found, LIMBS), unit = place - 63 - 32 * LIMBS;
  hu_num z = hui_num_finite(0, hui_big_digits(&found, place, LIMBS), k + unit);
  found = hui_big_scaled(z.sig, unit, LIMBS);
  hui_big_mul(&found, &found, &found, LIMBS);
  z.sticky = hui_big_compare(&found, &sum, LIMBS) != 0;
  return z;
}

/* ---- the call ---- */

hu_num hui_p3109_function(int op, hu_num x, hu_num y) {
  hu_num z;
  if (x.kind == HU_KIND_NAN) return x;
  if (op == HU_P3109_HYPOT) {
    if (y.kind == HU_KIND_NAN) return y;
    if (x.kind == HU_KIND_INF || y.kind == HU_KIND_INF) return hui_num_special(HU_KIND_INF, 0);
    return hypotenuse(x, y);
  }
  if (op == HU_P3109_ARC_TAN2 || op == HU_P3109_ARC_TAN2_PI) {
    if (special_angle(&z, x, y, op == HU_P3109_ARC_TAN2_PI)) return z;
  } else {
    y = hui_one(0); /* ArcTan is the angle of (1, x) */
    uint32_t log_of_two = op == HU_P3109_SOFTPLUS && x.kind == HU_KIND_ZERO;
    if (log_of_two) {
      op = HU_P3109_ARC_COSH; /* ln 2 = arccosh(5/4) */
      x = hui_num_finite(0, 5, -2);
    }
    if (x.kind != HU_KIND_FINITE) return special(op, x);
    if (quickly(&z, op, x)) return z;
  }
  for (int32_t limbs = 6; limbs <= HU_BIG_FRACTION; limbs *= 2)
    if (value(&z, op, x, y, limbs)) break;
  return z;
}
