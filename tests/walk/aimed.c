/* SPDX-License-Identifier: MIT */
/* tests/walk/aimed.c - operands whose results lie on values, on midpoints, at the ends of the range and beside them. */
#include <math.h>

#include "halfulp/scalar.h"
#include "tests/walk/walk.h"

/* The second of two operands: with the first, one of fz's values or midpoints, or nothing at all. */
static void aim_arith(t_random *random, const walk_case *c, uint32_t *x) {
  hu_format fx = walk_format(c, 0), last = walk_format(c, c->call.operands - 1), fz = walk_format(c, WALK_Z);
  double a = hu_decode64(fx, x[0]), b = c->call.operands > 1 ? hu_decode64(walk_format(c, 1), x[1]) : 0;
  double z = t_below(random, 4) ? t_random_operand(random, fz) : 0;
  switch (c->call.op) {
    case HU_OP_ADD: x[1] = walk_near_code(random, last, z - a); break;
    case HU_OP_SUB: x[1] = walk_near_code(random, last, a - z); break;
    case HU_OP_MUL: x[1] = walk_near_code(random, last, z / a); break;
    case HU_OP_DIV: x[1] = walk_near_code(random, last, a / z); break;
    case HU_OP_SQRT: x[0] = walk_near_code(random, fx, z * z); break;
    case HU_OP_FMA: x[2] = walk_near_code(random, last, z - a * b); break;
    case HU_OP_INTEGRAL:
      x[0] = walk_near_code(random, fx, ldexp(t_next32(random) >> t_below(random, 31), -(int)t_below(random, 4)));
      break;
    case HU_OP_REMAINDER: x[1] = walk_near_code(random, last, a / ldexp(1 + t_below(random, 64), -1)); break;
    default:
      if (c->call.operands > 1) x[1] = walk_near_code(random, last, a);
      break;
  }
}

/* A double with an exponent of this range and few or many digits. */
static double number(t_random *random, int low, int high) {
  double v = ldexp(1 + ldexp((double)(t_next32(random) & (0xFFFFFFFFu << t_below(random, 32))), -32),
                   t_between(random, low, high));
  return t_below(random, 2) ? -v : v;
}

/* The nearest angles of binary32 to multiples of pi/2, by the continued fractions of 2^e 2/pi. */
static double hard_angle(t_random *random) {
  static const uint32_t hardest[] = {0x6F79BE45, 0x50A3E87F, 0x6FF9BE45, 0x5123E87F, 0x7079BE45, 0x6A1976F1, 0x53B146A6,
                                     0x65898498, 0x51A3E87F, 0x77584625, 0x4C2332E9, 0x6C55DA58, 0x70F9BE45, 0x6A9976F1,
                                     0x5C07BCD0, 0x543146A6, 0x66098498, 0x5223E87F, 0x723FA09A, 0x4A2562AE, 0x77D84625,
                                     0x642E0733, 0x4E13D4A5, 0x7EBDCDA0, 0x4CA332E9, 0x6CD5DA58, 0x7179BE45, 0x6B1976F1,
                                     0x5C87BCD0, 0x54B146A6, 0x66898498, 0x5FE4112C, 0x52A3E87F, 0x72BFA09A, 0x79407F54,
                                     0x6946E3BB, 0x62EC1B4A, 0x4AA562AE, 0x56787577, 0x78584625, 0x64AE0733, 0x61D3B126,
                                     0x7452DE59, 0x4E93D4A5, 0x4D2332E9, 0x78A8B883, 0x6D55DA58, 0x71F9BE45};
  uint32_t u = hardest[t_below(random, sizeof hardest / sizeof *hardest)] + t_below(random, 5) - 2;
  if (t_below(random, 4) == 0) u = (t_next32(random) & 0x7FFFFF) | (uint32_t)t_between(random, 127 + 19, 254) << 23;
  return (double)t_float(u | t_below(random, 2) << 31);
}

/* Small ones, whose results lie beside a number of few digits; near the ends of an exponential's range; beside 1. */
static double argument(t_random *random, int op, hu_format fz) {
  hu_limits limits = hu_limits_of(fz);
  switch (t_below(random, 7)) {
    case 0: return number(random, -80, 12);
    case 1: return number(random, -8, 6);
    case 2: return number(random, -1100, 1000);
    case 3:
      return (t_below(random, 2) ? limits.emax : limits.emin - fz.m) * (op == HU_OP_EXP2 ? 1 : 0.6931471805599453) +
             number(random, -6, 1);
    case 4: return t_below(random, 1000) * 1.5707963267948966 + number(random, -60, -1);
    case 5: return 1 + number(random, -40, -1);
    default: return op == HU_OP_SIN || op == HU_OP_COS ? hard_angle(random) : number(random, -26, 8);
  }
}

/* Exponents with results of few digits, of either sign, far beyond the range, and special ones. */
static double exponent(t_random *random) {
  static const double powers[] = {0,   -0.0,  1,    2,      3,     -1,       -2,        0.5,    -0.5,   1.5,
                                  4,   -3,    7,    0.25,   127,   -128,     255,       0x1p20, 1e30,   -1e30,
                                  1e4, -1e-3, -0.1, 0.3333, -0.75, INFINITY, -INFINITY, NAN,    0x1p40, 0x1p55};
  return powers[t_below(random, sizeof powers / sizeof *powers)];
}

static void aim_power(t_random *random, const walk_case *c, uint32_t *x) {
  hu_limits limits = hu_limits_of(walk_format(c, WALK_Z));
  double base = number(random, -20, 20), power = number(random, -10, 8);
  switch (t_below(random, 8)) {
    case 0: /* an odd number to a small power, a quarter, an eighth */
      base = (double)(2 * t_below(random, 40) + 1) * ldexp(1, t_between(random, -6, 6));
      power = ldexp(t_between(random, -12, 40), -(int)t_below(random, 4));
      break;
    case 1: /* a power of small odd numbers, to be rooted */
      base = pow(2 * t_below(random, 12) + 1, 1 << t_below(random, 5)) * ldexp(1, 4 * t_between(random, -8, 8));
      power = ldexp(2 * t_below(random, 8) + 1, -(int)t_below(random, 6));
      break;
    case 2:
      base = ldexp(1, t_between(random, -40, 40));
      power = ldexp(t_between(random, -4000, 4000), -(int)t_below(random, 12));
      break;
    case 3: /* next to 1 */
      base = 1 + number(random, -24, -2);
      power = number(random, -10, 30);
      break;
    case 4: power = (t_below(random, 2) ? limits.emax : limits.emin - 9) / (log2(fabs(base)) + 1e-9); break;
    case 5: power = number(random, -140, -20); break;
    case 6: power = (double)t_below(random, 4000) - 2000; break;
    default: power = exponent(random); break;
  }
  x[0] = walk_near_code(random, walk_format(c, 0), t_below(random, 4) ? fabs(base) : base);
  x[1] = walk_near_code(random, walk_format(c, 1), power);
}

void walk_aim(t_random *random, const walk_case *c, uint32_t *x) {
  int op = c->call.op;
  if (op == HU_OP_POW) {
    aim_power(random, c, x);
  } else if (walk_is_function(&c->call)) {
    x[0] = walk_near_code(random, walk_format(c, 0), argument(random, op, walk_format(c, WALK_Z)));
  } else if (op != HU_OP_CONVERT) {
    aim_arith(random, c, x);
  }
}
