/* SPDX-License-Identifier: MIT */
/* emu/core/arith.h - exact results of the operations of docs/numerics.md section 10, in integers.
 *
 * hu_exact_* take exact numbers (sticky 0) and return the exact result as a hu_num: all of it, or its 64 leading digits
 * and sticky, which is all that any rounding looks at. They add HU_EVENT_INVALID and HU_EVENT_DIVIDE_BY_ZERO to
 * *raised. hui_arith_round rounds the result and puts the events together. C11, C++17 and CUDA compile the same
 * text. */
#ifndef HALFULP_EMU_CORE_ARITH_H
#define HALFULP_EMU_CORE_ARITH_H

#include "round.h"
#include "halfulp/operation.h"

HU_FN hu_num hui_exact_invalid(uint32_t *raised) {
  *raised |= HU_EVENT_INVALID;
  return hui_num_special(HU_KIND_NAN, 0);
}

/* ---- two words ---- */

/* The finite number (-1)^sign (hi 2^64 + lo + s) 2^exp, 0 < s < 1 if sticky; then hi >= 2^62, so that no digit of the
 * 64 leading ones is unknown. */
HU_FN hu_num hui_num_two_words(uint32_t sign, uint64_t hi, uint64_t lo, uint32_t sticky, int32_t exp) {
  if (hi == 0) return hui_num_finite(sign, lo, exp);
  int32_t lead = hui_clz64(hi);
  hu_num x = hui_num_finite(sign, lead ? hi << lead | lo >> (64 - lead) : hi, exp + 64 - lead);
  x.sticky = (uint8_t)(sticky || lo << lead != 0);
  return x;
}

/* x > 0 with its leading digit in the top place, moved d places down: two words and whether digits were lost. */
typedef struct hu_moved {
  uint64_t hi, lo;
  uint32_t lost;
} hu_moved;

HU_FN hu_moved hui_move_down(uint64_t sig, int32_t digits) {
  hu_moved x;
  x.hi = digits > 63 ? 0 : sig >> digits;
  x.lo = digits == 0 || digits > 127 ? 0 : digits < 64 ? sig << (64 - digits) : sig >> (digits - 64);
  x.lost = digits > 127 || (digits > 64 && sig << (128 - digits) != 0);
  return x;
}

/* ---- sums and products ---- */

/* Compares |a| with |b|, both finite and neither of them zero: -1, 0, 1. */
HU_FN int32_t hui_compare_magnitude(hu_num a, hu_num b) {
  int32_t la = hui_clz64(a.sig), lb = hui_clz64(b.sig), ka = a.exp - la, kb = b.exp - lb;
  uint64_t x = a.sig << la, y = b.sig << lb;
  if (ka != kb) return ka > kb ? 1 : -1;
  return x == y ? 0 : x > y ? 1 : -1;
}

/* a + b for finite a and b, neither of them zero, |a| >= |b|, on 128 places of which a's leading digit has the top one.
 * Digits of b below them are only known to be there: in a difference one unit of the last place is borrowed, and what
 * is left of that unit is again more than nothing and less than one. b then lies more than 64 places below a, so at
 * most one place cancels. */
HU_FN hu_num hui_exact_add_below(hu_num a, hu_num b) {
  int32_t la = hui_clz64(a.sig), lb = hui_clz64(b.sig), exp = a.exp - la - 64;
  hu_moved y = hui_move_down(b.sig << lb, (a.exp - la) - (b.exp - lb));
  uint64_t hi = a.sig << la, lo;
  if (a.sign == b.sign) {
    hi += y.hi;
    if (hi >= y.hi) return hui_num_two_words(a.sign, hi, y.lo, y.lost, exp);
    return hui_num_two_words(a.sign, hi >> 1 | (uint64_t)1 << 63, hi << 63 | y.lo >> 1, y.lost | (y.lo & 1), exp + 1);
  }
  lo = (uint64_t)0 - y.lo - y.lost;
  hi -= y.hi + ((y.lo | y.lost) != 0);
  return hui_num_two_words(a.sign, hi, lo, y.lost, exp);
}

/* a + b. An exact 0 that is not the sum of two zeros of one sign is -0 if `down` (the mode is toward negative), else
 * +0. */
HU_FN hu_num hui_exact_add(hu_num a, hu_num b, uint32_t down, uint32_t *raised) {
  if (a.kind == HU_KIND_NAN) return a;
  if (b.kind == HU_KIND_NAN) return b;
  if (a.kind == HU_KIND_INF && b.kind == HU_KIND_INF && a.sign != b.sign) return hui_exact_invalid(raised);
  if (a.kind == HU_KIND_INF) return a;
  if (b.kind == HU_KIND_INF) return b;
  uint32_t zero_sign = a.sign == b.sign ? a.sign : down;
  if (a.kind == HU_KIND_ZERO && b.kind == HU_KIND_ZERO) return hui_num_special(HU_KIND_ZERO, zero_sign);
  if (a.kind == HU_KIND_ZERO) return b;
  if (b.kind == HU_KIND_ZERO) return a;
  hu_num z = hui_compare_magnitude(a, b) < 0 ? hui_exact_add_below(b, a) : hui_exact_add_below(a, b);
  if (z.kind == HU_KIND_ZERO) z.sign = (uint8_t)zero_sign;
  return z;
}

/* Computes a b in two words. */
HU_FN hu_num hui_product(uint32_t sign, hu_num a, hu_num b) {
  uint64_t a0 = (uint32_t)a.sig, a1 = a.sig >> 32, b0 = (uint32_t)b.sig, b1 = b.sig >> 32;
  if ((a1 | b1) == 0) return hui_num_finite(sign, a0 * b0, a.exp + b.exp);
  uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
  uint64_t hi = a1 * b1 + (middle >> 32) + (other >> 32), lo = other << 32 | (uint32_t)low;
  return hui_num_two_words(sign, hi, lo, 0, a.exp + b.exp);
}

/* a b. Without sticky, whatever the digits, where those of a and b together are at most 64, as for codes (31 each). */
HU_FN hu_num hui_exact_mul(hu_num a, hu_num b, uint32_t *raised) {
  uint32_t sign = a.sign ^ b.sign;
  if (a.kind == HU_KIND_NAN) return a;
  if (b.kind == HU_KIND_NAN) return b;
  if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) {
    if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return hui_exact_invalid(raised);
    return hui_num_special(HU_KIND_INF, sign);
  }
  if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return hui_num_special(HU_KIND_ZERO, sign);
  return hui_product(sign, a, b);
}

/* a b + c, the product exact: a and b have at most 64 digits together. */
HU_FN hu_num hui_exact_fma(hu_num a, hu_num b, hu_num c, uint32_t down, uint32_t *raised) {
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN || c.kind == HU_KIND_NAN) return hui_num_special(HU_KIND_NAN, 0);
  hu_num p = hui_exact_mul(a, b, raised);
  if (p.kind == HU_KIND_NAN) return p;
  return hui_exact_add(p, c, down, raised);
}

/* ---- quotients and roots ---- */

/* a / b, where a finite b has at most 32 digits, as the value of any code does. The first division leaves 33 to 64
 * digits, the second fills up to 64; what remains is sticky. */
HU_FN hu_num hui_quotient(uint32_t sign, hu_num a, hu_num b) {
  int32_t la = hui_clz64(a.sig);
  uint64_t n = a.sig << la, q = n / b.sig, r = n % b.sig;
  int32_t lead = hui_clz64(q);
  uint64_t more = r << lead;
  hu_num z = hui_num_finite(sign, q << lead | more / b.sig, a.exp - la - b.exp - lead);
  z.sticky = more % b.sig != 0;
  return z;
}

HU_FN hu_num hui_exact_div(hu_num a, hu_num b, uint32_t *raised) {
  uint32_t sign = a.sign ^ b.sign;
  if (a.kind == HU_KIND_NAN) return a;
  if (b.kind == HU_KIND_NAN) return b;
  if (a.kind == b.kind && a.kind != HU_KIND_FINITE) return hui_exact_invalid(raised); /* 0/0, inf/inf */
  if (a.kind == HU_KIND_INF) return hui_num_special(HU_KIND_INF, sign);
  if (b.kind == HU_KIND_INF || a.kind == HU_KIND_ZERO) return hui_num_special(HU_KIND_ZERO, sign);
  if (b.kind == HU_KIND_ZERO) {
    *raised |= HU_EVENT_DIVIDE_BY_ZERO;
    return hui_num_special(HU_KIND_INF, sign);
  }
  return hui_quotient(sign, a, b);
}

/* The root of x > 0 of at most 63 digits, a digit at a time: 64 digits of root from 128 of x, of which the lower 64 are
 * 0. The remainder is at most twice the root, so it needs two words at the end. */
HU_FN hu_num hui_root(hu_num x) {
  int32_t lead = hui_clz64(x.sig), exp = x.exp - lead;
  uint64_t digits = x.sig << lead, root = 0, hi = 0, lo = 0;
  if (exp & 1) { /* the exponent becomes even; the lowest of the 64 places is free */
    digits >>= 1;
    exp++;
  }
  for (int i = 0; i < 64; i++) {
    hi = hi << 2 | lo >> 62;
    lo = lo << 2 | digits >> 62;
    digits <<= 2;
    uint64_t trial_hi = root >> 62, trial_lo = root << 2 | 1;
    uint32_t fits = hi > trial_hi || (hi == trial_hi && lo >= trial_lo);
    if (fits) {
      hi -= trial_hi + (lo < trial_lo);
      lo -= trial_lo;
    }
    root = root << 1 | fits;
  }
  hu_num z = hui_num_finite(0, root, exp / 2 - 32);
  z.sticky = (hi | lo) != 0;
  return z;
}

HU_FN hu_num hui_exact_sqrt(hu_num x, uint32_t *raised) {
  if (x.kind == HU_KIND_NAN || x.kind == HU_KIND_ZERO) return x;
  if (x.sign) return hui_exact_invalid(raised);
  return x.kind == HU_KIND_INF ? x : hui_root(x);
}

/* ---- comparison ---- */

/* a against b, neither of them NaN; zeros are equal: -1, 0, 1. */
HU_FN int32_t hui_compare_numbers(hu_num a, hu_num b) {
  if (a.kind == HU_KIND_ZERO) return b.kind == HU_KIND_ZERO ? 0 : b.sign ? 1 : -1;
  int32_t up = a.sign ? -1 : 1; /* where a greater |a| leads */
  if (b.kind == HU_KIND_ZERO || a.sign != b.sign) return up;
  if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) return a.kind == b.kind ? 0 : a.kind == HU_KIND_INF ? up : -up;
  return up * hui_compare_magnitude(a, b);
}

/* The smaller of a and b, or the larger one; -0 is below +0. A NaN goes before a number, or behind it if `number`. */
HU_FN hu_num hui_exact_extreme(hu_num a, hu_num b, uint32_t larger, uint32_t number) {
  if (a.kind == HU_KIND_NAN) return number ? b : a;
  if (b.kind == HU_KIND_NAN) return number ? a : b;
  int32_t c = hui_compare_numbers(a, b);
  if (c == 0) c = (int32_t)b.sign - (int32_t)a.sign;
  return (c > 0) == (larger != 0) ? a : b;
}

/* ---- to an integer ---- */

/* The integer that x rounds to by the mode of spec. A code that is no integer lies below 2^30, so that the 34 or more
 * digits behind its point are enough for every mode. */
HU_FN hu_num hui_exact_integer(const hu_spec *spec, hu_num x, uint32_t random, uint32_t *inexact) {
  *inexact = 0;
  if (x.kind != HU_KIND_FINITE) return x;
  int32_t lead = hui_clz64(x.sig), cut = lead - x.exp; /* places behind the point, sig normalised */
  if (cut <= 0) return x;
  uint64_t sig = x.sig << lead, f = hui_shift_right(sig, cut);
  *inexact = cut > 63 || sig << (64 - cut) != 0;
  f += (uint64_t)hui_round_up(spec, sig, 0, cut, (uint32_t)f & 1, x.sign, random);
  return hui_num_finite(x.sign, f, 0);
}

/* Returns the low 64 digits of a finite integer of exponent at most 63, without its sign. */
HU_FN uint64_t hui_integer_digits(hu_num x) {
  if (x.kind != HU_KIND_FINITE) return 0;
  return x.exp >= 0 ? x.sig << x.exp : x.sig >> -x.exp;
}

/* Returns the largest magnitude of an integer type on one side of zero. */
HU_FN uint64_t hui_integer_limit(uint32_t width, uint32_t is_signed, uint32_t negative) {
  uint64_t all = ~(uint64_t)0 >> (64 - width);
  if (!is_signed) return negative ? 0 : all;
  return negative ? (all >> 1) + 1 : all >> 1;
}

/* The rounded integer x as one of a type, 64 digits; *fits says whether it is one of the type. */
HU_FN uint64_t hui_integer_of(hu_num x, uint32_t width, uint32_t is_signed, uint32_t *fits) {
  uint64_t digits = 0;
  *fits = x.kind == HU_KIND_ZERO;
  if (x.kind == HU_KIND_FINITE && hui_exponent(x) < 64) {
    digits = hui_integer_digits(x);
    *fits = digits <= hui_integer_limit(width, is_signed, x.sign);
  }
  return x.sign ? (uint64_t)0 - digits : digits;
}

/* ---- remainder ---- */

/* The remainder r of A 2^digits by B, A and B below 2^32, and whether the quotient is odd. */
HU_FN uint64_t hui_remainder_digits(uint64_t a, int32_t digits, uint64_t b, uint32_t *odd) {
  uint64_t r = a % b;
  *odd = (uint32_t)(a / b) & 1;
  while (digits > 0) {
    int32_t step = digits < 32 ? digits : 32;
    *odd = (uint32_t)((r << step) / b) & 1;
    r = (r << step) % b;
    digits -= step;
  }
  return r;
}

/* x - y n, n the even one of the integers nearest to x / y, for codes' numbers (at most 32 digits each). Where y's last
 * place lies more than 32 places above x's, 2 |x| < |y|, and the remainder is x. */
HU_FN hu_num hui_exact_remainder(hu_num x, hu_num y, uint32_t *raised) {
  if (x.kind == HU_KIND_NAN) return x;
  if (y.kind == HU_KIND_NAN) return y;
  if (x.kind == HU_KIND_INF || y.kind == HU_KIND_ZERO) return hui_exact_invalid(raised);
  if (x.kind == HU_KIND_ZERO || y.kind == HU_KIND_INF || y.exp - x.exp > 32) return x;
  int32_t exp = x.exp < y.exp ? x.exp : y.exp;
  uint64_t by = y.sig << (y.exp - exp);
  uint32_t odd, sign = x.sign;
  uint64_t r = hui_remainder_digits(x.sig, x.exp - exp, by, &odd);
  if (2 * r > by || (2 * r == by && odd)) {
    r = by - r;
    sign ^= 1;
  }
  hu_num z = hui_num_finite(sign, r, exp);
  if (z.kind == HU_KIND_ZERO) z.sign = x.sign;
  return z;
}

/* ---- one rounding: HU_OP_ of halfulp/operation.h ---- */

/* The exact result of an operation below HU_OP_ROUNDED; operands that it does not have are not looked at. */
HU_FN hu_num hui_exact_of(int32_t op, hu_num a, hu_num b, hu_num c, uint32_t down, uint32_t *raised) {
  switch (op) {
    case HU_OP_ADD: return hui_exact_add(a, b, down, raised);
    case HU_OP_SUB: return hui_exact_add(a, hui_negated(b), down, raised);
    case HU_OP_MUL: return hui_exact_mul(a, b, raised);
    case HU_OP_DIV: return hui_exact_div(a, b, raised);
    case HU_OP_SQRT: return hui_exact_sqrt(a, raised);
    case HU_OP_FMA: return hui_exact_fma(a, b, c, down, raised);
    default:
      return hui_exact_extreme(a, b, op == HU_OP_MAXIMUM || op == HU_OP_MAXIMUM_NUMBER, op >= HU_OP_MINIMUM_NUMBER);
  }
}

/* Returns nan_in and inf_in of an operand. */
HU_FN uint32_t hui_operand_events(hu_num x) {
  if (x.kind == HU_KIND_NAN) return HU_EVENT_NAN_IN;
  return x.kind == HU_KIND_INF ? (uint32_t)HU_EVENT_INF_IN : 0;
}

/* Rounds the exact result; sets *events from the rounding's own, what the operation raised and what came in. */
HU_FN uint32_t hui_arith_round(const hu_spec *spec, hu_num exact, uint32_t raised, uint32_t operands, uint32_t random,
                               uint32_t *events) {
  uint32_t code = hui_round(spec, exact, random, events);
  *events = (*events & ~(uint32_t)(HU_EVENT_NAN_IN | HU_EVENT_INF_IN)) | raised | operands;
  return code;
}

/* One operation below HU_OP_ROUNDED; what operands it does not have are zeros. */
HU_FN uint32_t hui_arith_one(const hu_spec *spec, int32_t op, hu_num a, hu_num b, hu_num c, uint32_t random,
                             uint32_t *events) {
  uint32_t raised = 0, operands = hui_operand_events(a) | hui_operand_events(b) | hui_operand_events(c);
  hu_num z = hui_exact_of(op, a, b, c, spec->round == HU_RTN, &raised);
  if (op == HU_OP_FMA && spec->nan_fma && hui_infinity_times_zero(a, b)) raised |= HU_EVENT_INVALID;
  return hui_arith_round(spec, z, raised, operands, random, events);
}

HU_FN uint32_t hui_round_to_integral_code(const hu_spec *spec, uint32_t code, uint32_t random, uint32_t *events) {
  uint32_t inexact;
  hu_num x = hui_unpack(spec, code), i = hui_exact_integer(spec, x, random, &inexact);
  uint32_t z = hui_round(spec, i, random, events);
  if (inexact) *events |= HU_EVENT_INEXACT;
  if (inexact && z == hui_signed(spec, 0, x.sign) && hui_has_zero(spec)) *events |= HU_EVENT_TO_ZERO;
  return z;
}

/* ---- neighbours and classes ---- */

/* Returns the next magnitude code above c with a value of its own; c itself at the top. */
HU_FN uint32_t hui_magnitude_above(const hu_spec *spec, uint32_t c) {
  uint32_t hidden = (uint32_t)1 << spec->m, top = spec->has_inf ? spec->inf_code : spec->max_code;
  if (hui_has_gap(spec) && c < hidden) return hidden;
  return c < top ? c + 1 : c;
}

/* The next below c > 0 (c > the smallest value where there is no zero). */
HU_FN uint32_t hui_magnitude_below(const hu_spec *spec, uint32_t c) {
  uint32_t hidden = (uint32_t)1 << spec->m;
  if (hui_has_gap(spec) && c <= hidden) return 0;
  return c - 1;
}

/* Returns the neighbour of a code above it (below it, if `down`). */
HU_FN uint32_t hui_next_code(const hu_spec *spec, uint32_t code, uint32_t down) {
  hu_num x = hui_unpack(spec, code);
  uint32_t c = x.kind == HU_KIND_ZERO ? 0 : code & spec->mag_mask;
  if (x.kind == HU_KIND_NAN) return spec->nan_code;
  if (x.kind == HU_KIND_ZERO) {
    if (down && !spec->sign_mask) return 0;
    return hui_signed(spec, hui_magnitude_above(spec, 0), down);
  }
  if (x.sign == down) return hui_signed(spec, hui_magnitude_above(spec, c), x.sign);
  if (!hui_has_zero(spec) && c == 0) return 0;
  return hui_signed(spec, hui_magnitude_below(spec, c), x.sign);
}

/* Returns the number of a HU_CLASS_ of arith.h: NaN, then from negative to positive infinity. */
HU_FN uint32_t hui_class_of(const hu_spec *spec, uint32_t code) {
  hu_num x = hui_unpack(spec, code);
  uint32_t size; /* 3 infinite, 2 normal, 1 subnormal, 0 zero */
  if (x.kind == HU_KIND_NAN) return 0;
  size = x.kind == HU_KIND_INF ? 3 : x.kind == HU_KIND_ZERO ? 0 : 2;
  if (size == 2 && hui_is_below_normal(spec, code & spec->mag_mask)) size = 1;
  return x.sign ? 4 - size : 5 + size;
}

/* Is the code a NaN of IEEE 754's kind with its first trailing digit 0? */
HU_FN uint32_t hui_is_signalling_code(const hu_spec *spec, uint32_t code) {
  if ((spec->nan != HU_NAN_IEEE && spec->nan != HU_NAN_IEEE_ONES) || spec->m == 0) return 0;
  return (code & spec->mag_mask) >= spec->nan_from && !(code >> (spec->m - 1) & 1);
}

#endif
