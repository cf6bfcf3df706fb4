/* SPDX-License-Identifier: MIT */
/* emu/simd/round.h - binary32 to any format in 32-bit lanes: the arithmetic of every fast kernel, written once.
 *
 * The text compiles for a compiler vector (the CPU kernels) and for a plain uint32_t (CUDA, one value a thread). The
 * including file must define first
 *
 *   hu_lane              unsigned 32-bit lanes; hu_ilane the same, signed
 *   HU_MASK(c)           a lane comparison as all-ones or all-zero lanes
 *   HU_ALL(x)            the uint32_t x in every lane
 *   HU_HOLD(v)           v; may hide from the compiler how v was made (optional)
 *   HU_LANE_FN           decoration of the functions
 *   hui_lane_any(m)      1 if some lane of a mask is set
 *   hui_lane_float(v)    bits of (float)v for lanes v < 2^24: exact, whatever the rounding direction
 *   hu_mask              a mask in the instruction set's own form; hui_mask_lt(a, b) signed; hui_mask_test(a, b):
 *                        a & b, a number below 2^31, is not 0; hui_mask_or(a, b); hui_mask_andnot(a, b): a and not b;
 *                        hui_mask_sel(m, yes, no); hui_mask_keep(m, v): v or 0
 *   hui_mask_larger(a, b) the larger of two patterns of powers of two or zero
 *   hui_lane_plus(round, a, b)  the bits of the sum of two floats, subnormals kept, rounded in the direction that
 *                        hui_direction_of gives the mode; CPU kernels have set the CPU to it
 *                        (emu/base/float_env.h)
 *   hui_lane_minus(a, b), hui_lane_times(a, b)  difference and product, only where they are exact
 *   hui_lane_uint(v)     floor of the float v, 0 <= v < 2^32
 *
 * Why it is exact: nothing rounds but the steps below, which are emu/core/round.h's in another arrangement. In the slow
 * functions the significand has 24 digits, d of them (and zeros above, if d > 24) lie below the grid; `digits` = sig >>
 * d and the fraction nu = (sig mod 2^d) / 2^d is held as `frac` = floor(nu 2^32), exact for d <= 32; for d > 32 the
 * digits lost are zero unless `lost` is set, and then nu < 2^-8, so `frac` is never the one half that a tie needs.
 * hui_lane_constants_of says no to the few cases (m > 22, B and C with 32 bits) where this reasoning does not hold;
 * those go to the core.
 *
 * The quick functions round in the binary32 pattern itself: for 2^emin <= |x| <= max the low d0 = 23 - m bits are the
 * fraction, a carry out of the trailing significand into the exponent field is the next binade, and as |x| <= max and
 * max is on the grid no result passes max. Adding the mode's addend and clearing the fraction rounds.
 *
 * The middle functions serve where results may be subnormal. Way 1, low = 1: the grids of binary32 and of the format
 * end in the same binade, and the pattern serves as above. Way 2: with E the larger of the exponents of x and 2^emin
 * the grid about x has the step Q = 2^(E - m). The anchor 2^d0 2^E = 2^23 Q is not below |x| (d0 >= 1), and from it to
 * twice itself floats have the step Q. So the CPU's own rounding of |x| + anchor, in whatever direction, is the
 * rounding of |x| to a multiple of Q, parity included; taking the anchor away is exact (a multiple of Q below 2^24 Q).
 * What each mode asks:
 *   ties to even       to nearest
 *   toward zero, away  toward zero, up; toward positive and negative: up and down, with the anchor of x's sign
 *   to odd             toward zero, and the last digit set if that lost something
 *   ties away, to zero with half the anchor, so that the sum has one digit below Q (d0 >= 2): floor(2 |x| / Q) + 1,
 *                      ceil(2 |x| / Q), halved
 *   stochastic         toward zero; what that lost, |x| mod Q, is exact, its 32 digits behind Q are the fraction of
 *                      hui_lanes_up
 * Sums are finite, and 2^32 / Q is a float, as hui_middle_of limits E. */
#ifndef HALFULP_EMU_SIMD_ROUND_H
#define HALFULP_EMU_SIMD_ROUND_H

#include "emu/core/lane_constants.h"

#ifndef HU_HOLD
#define HU_HOLD(v) (v)
#endif

HU_LANE_FN hu_lane hui_sel(hu_lane mask, hu_lane yes, hu_lane no) { return (mask & yes) | (~mask & no); }
HU_LANE_FN hu_lane hui_lt(hu_lane a, hu_lane b) { return HU_MASK((hu_ilane)a < (hu_ilane)b); } /* signed */
HU_LANE_FN hu_lane hui_gt(hu_lane a, hu_lane b) { return HU_MASK((hu_ilane)a > (hu_ilane)b); }
HU_LANE_FN hu_lane hui_max(hu_lane a, hu_lane b) { return hui_sel(hui_gt(a, b), a, b); }
HU_LANE_FN hu_lane hui_min(hu_lane a, hu_lane b) { return hui_sel(hui_lt(a, b), a, b); }

/* ---- quick: every lane either zero or 2^emin <= |x| <= max ---- */

HU_LANE_FN hu_lane hui_quick_ok(const hu_lane_constants *lanes, hu_lane x) {
  hu_lane range = HU_MASK((x & HU_ALL(lanes->quick.mask)) - HU_ALL(lanes->quick.lo) <= HU_ALL(lanes->quick.span));
  return range | (HU_MASK((x & HU_ALL(lanes->quick.zero_mask)) == HU_ALL(0)) & HU_ALL(lanes->quick_zero));
}

/* hui_addend_of for each lane. round is a constant, so that of the conditions one way is left. */
HU_LANE_FN hu_lane hui_deterministic_add(int round, int32_t digits, uint32_t odd0, hu_lane x) {
  const hu_addend addend = hui_addend_of((uint32_t)round, digits);
  hu_lane add = HU_ALL(addend.base[0]), last = (x >> digits) ^ odd0;
  if (round == HU_RTP) add &= ~(hu_lane)((hu_ilane)x >> 31);
  if (round == HU_RTN) add = HU_ALL(addend.base[1]) & (hu_lane)((hu_ilane)x >> 31);
  if (addend.step == 1) return add + (last & 1);
  if (addend.step) return add + (addend.step & (0 - (last & 1)));
  return add;
}

/* What to add to x before its lowest digits are dropped. Works in the magnitude: no sum reaches the sign. */
HU_LANE_FN hu_lane hui_quick_add(const hu_lane_constants *lanes, int round, int32_t digits, uint32_t odd0, hu_lane x,
                                 hu_lane random) {
  if (round < HU_SRA) return hui_deterministic_add(round, digits, odd0, x);
  switch (round) {
    /* floor(nu 2^N) + R >= 2^N, both sides scaled to the digits of the fraction: what R has below them cannot
     * carry, what the fraction has below R cannot either. */
    case HU_SRA: return (random >> (32 - digits)) & lanes->stochastic.keep;
    case HU_SRB: return ((random >> (32 - digits)) & lanes->stochastic.keep) + lanes->stochastic.half;
    default: {
      hu_lane add = (random >> (32 - digits)) & lanes->stochastic.keep;
      if (!lanes->stochastic.half) return add;
      /* C: the fraction first rounded to N digits, ties to even: (x' - x) joins the addend. */
      uint32_t keep = lanes->stochastic.keep;
      hu_lane even = (x & (lanes->stochastic.half << 1)) >> (digits - lanes->bits);
      hu_lane rounded = (x + HU_ALL(lanes->stochastic.half - 1) + even) & keep;
      return add + (rounded - x);
    }
  }
}

/* The rounded pattern, with its sign; it differs from x where the result is inexact. */
HU_LANE_FN hu_lane hui_quick(const hu_lane_constants *lanes, int round, hu_lane x, hu_lane random) {
  return (x + hui_quick_add(lanes, round, lanes->d0, lanes->odd0, x, random)) & ~(((uint32_t)1 << lanes->d0) - 1);
}

HU_LANE_FN hu_lane hui_quick_code(const hu_lane_constants *lanes, hu_lane rounded) {
  hu_lane a = rounded & 0x7FFFFFFFu, c = (a >> lanes->d0) - HU_ALL(lanes->quick.base);
  if (lanes->zero == HU_ZERO_FIELD) c &= ~HU_MASK(a == HU_ALL(0));
  if (lanes->is_unsigned) return c;
  return c | ((rounded & 0x80000000u) >> lanes->sign_shift);
}

/* ---- the fraction in lanes ---- */

/* Decides from the fraction which lanes go up. `lost` marks lanes with non-zero digits below frac. */
HU_LANE_FN hu_lane hui_lanes_up(const hu_lane_constants *lanes, int round, hu_lane x, hu_lane frac, hu_lane lost,
                                hu_lane odd, hu_lane random) {
  hu_lane some = HU_MASK(frac != HU_ALL(0)) | lost;
  hu_lane half = HU_ALL(0x80000000u);
  switch (round) {
    case HU_RNE: return HU_MASK(frac > half) | (HU_MASK(frac == half) & odd);
    case HU_RNA: return HU_MASK(frac >= half);
    case HU_RNZ: return HU_MASK(frac > half);
    case HU_RTZ: return HU_ALL(0);
    case HU_RTP: return some & ~(hu_lane)((hu_ilane)x >> 31);
    case HU_RTN: return some & (hu_lane)((hu_ilane)x >> 31);
    case HU_RAZ: return some;
    case HU_RTO: return some & ~odd;
    default: break;
  }
  /* z + R >= 2^N is z > 2^N - 1 - R; B and C add one to z when z is just there and the digits behind say so. */
  int32_t spare = 32 - lanes->bits;
  hu_lane z = frac >> spare, limit = ~random >> spare;
  hu_lane up = HU_MASK(z > limit);
  if (round == HU_SRA) return up;
  hu_lane rest = frac << lanes->bits; /* bits < 32 here */
  hu_lane more = HU_MASK(rest >= half);
  if (round == HU_SRC) {
    hu_lane tie = HU_MASK(rest == half) & ~lost;
    more &= ~(tie & HU_MASK((z & 1) == HU_ALL(0)));
  }
  return up | (HU_MASK(z == limit) & more);
}

/* ---- middle: every lane finite, |x| <= max, and no sign that the format lacks; t->way.middle is 1 or 2, as in the
 * head of this file, where it may be used ---- */

/* |x| where there is a sign; a negative x of an unsigned format stays, and is above all. */
HU_LANE_FN hu_lane hui_middle_operand(const hu_lane_constants *lanes, hu_lane x) {
  return x & HU_ALL(lanes->quick.mask);
}

HU_LANE_FN hu_lane hui_middle_ok(const hu_lane_constants *lanes, hu_lane x) {
  return HU_MASK(hui_middle_operand(lanes, x) <= HU_ALL(lanes->max_pattern));
}

/* What hui_middle needs in every lane, made once a loop. HU_HOLD hides where a constant came from, so that a compiler
 * short of registers loads it back instead of making it again. */
typedef struct hu_middle_lanes {
  hu_lane magnitude, field, up, bottom, fraction, not_tiny, not_tiny_neg, scale;
  int32_t flush, has_sign, has_negzero, tiny_after; /* whole words: a compiler merges bytes in ways that stall */
} hu_middle_lanes;

HU_LANE_FN hu_middle_lanes hui_middle_lanes_of(const hu_lane_constants *lanes) {
  hu_middle_lanes constants;
  uint32_t digits = lanes->round == HU_RNA || lanes->round == HU_RNZ; /* that are kept below the grid */
  constants.magnitude = HU_HOLD(HU_ALL(0x7FFFFFFFu));
  constants.field = HU_HOLD(HU_ALL(0x7F800000u));
  constants.up = HU_HOLD(HU_ALL(((uint32_t)lanes->d0 - digits) << 23));
  constants.bottom = HU_HOLD(HU_ALL((uint32_t)lanes->low << 23)); /* the pattern of 2^emin */
  constants.fraction = HU_HOLD(HU_ALL(((uint32_t)1 << lanes->d0) - 1));
  constants.not_tiny = HU_HOLD(HU_ALL(lanes->not_tiny));
  constants.not_tiny_neg = HU_HOLD(HU_ALL(lanes->not_tiny_neg));
  constants.scale =
      HU_HOLD(HU_ALL((uint32_t)(286 + lanes->m) << 23)); /* less the field of 2^E: the pattern of 2^32 / Q */
  constants.flush = lanes->subnormal == HU_SUBNORMAL_FLUSH;
  constants.has_sign = !lanes->is_unsigned;
  constants.has_negzero = lanes->negzero;
  constants.tiny_after = lanes->tiny == HU_TINY_AFTER;
  return constants;
}

typedef struct hu_middle_result {
  hu_lane operand, result; /* magnitudes, binary32 patterns: equal where exact */
  hu_lane probe, limit;    /* the operand is tiny where probe < limit */
  hu_lane value;           /* binary32 bits */
  hu_lane code;            /* full code */
} hu_middle_result;

/* Way 2: |x| + anchor, rounded as the mode asks. a = |x|; *anchor gets x's sign, x ^ a, in the modes that look at
 * it. */
HU_LANE_FN hu_lane hui_anchored(const hu_lane_constants *lanes, const hu_middle_lanes *constants, int round, hu_lane x,
                                hu_lane a, hu_lane field, hu_lane *anchor, hu_lane random) {
  if (round == HU_RTP || round == HU_RTN) {
    *anchor |= x ^ a;
    return hui_lane_plus(round, x, *anchor);
  }
  hu_lane total = hui_lane_plus(round, a, *anchor);
  if (round == HU_RNA) return (total + 1) & ~HU_ALL(1);
  if (round == HU_RNZ) return total & ~HU_ALL(1);
  if (round < HU_RTO) return total;
  hu_lane kept = hui_lane_minus(total, *anchor);
  if (round == HU_RTO) return total | (HU_MASK(kept != a) & 1);
  hu_lane nu = hui_lane_times(hui_lane_minus(a, kept), constants->scale - field), frac = hui_lane_uint(nu),
          lost = HU_ALL(0);
  if (round == HU_SRC) lost = hui_lt(nu, HU_ALL(0x4B000000u)) & HU_MASK(hui_lane_float(frac & 0xFFFFFFu) != nu);
  return total - hui_lanes_up(lanes, round, x, frac, lost, HU_ALL(0), random);
}

/* a = hui_middle_operand(lanes, x). */
HU_LANE_FN hu_middle_result hui_middle(const hu_lane_constants *lanes, const hu_middle_lanes *constants, int round,
                                       int way, hu_lane x, hu_lane a, hu_lane random) {
  hu_middle_result out;
  if (way == 1) {
    out.result = (a + hui_quick_add(lanes, round, lanes->d0, 0, x, HU_ALL(0))) & ~constants->fraction;
    out.code = out.result >> lanes->d0;
  } else {
    hu_lane field = hui_mask_larger(a & constants->field, constants->bottom), anchor = field + constants->up;
    hu_lane total = hui_anchored(lanes, constants, round, x, a, field, &anchor, random);
    out.result = hui_lane_minus(total, anchor);
    if (round == HU_RTP || round == HU_RTN)
      out.result &= constants->magnitude; /* x's sign, or that of a zero difference */
    out.code = ((total - anchor) >> (round == HU_RNA || round == HU_RNZ)) + ((field - constants->bottom) >> lanes->d0);
  }
  if (constants->flush) {
    hu_mask small = hui_mask_lt(out.result, constants->bottom);
    out.result = hui_mask_sel(small, HU_ALL(0), out.result);
    out.code = hui_mask_sel(small, HU_ALL(0), out.code);
  }
  out.operand = out.probe = a;
  out.limit = constants->not_tiny;
  if (round == HU_RTP || round == HU_RTN)
    out.limit = hui_mask_sel(hui_mask_lt(x, HU_ALL(0)), constants->not_tiny_neg, out.limit);
  /* not_tiny knows no random words: full precision is that of hui_quick, whatever the exponent. */
  if (round >= HU_SRA && constants->tiny_after) out.probe = a + hui_quick_add(lanes, round, lanes->d0, 0, a, random);
  hu_lane sign = x ^ a;
  if (!constants->has_negzero) sign = hui_mask_keep(hui_mask_test(out.result, constants->magnitude), sign);
  out.value = out.result | sign;
  if (constants->has_sign) out.code |= sign >> lanes->sign_shift;
  return out;
}

/* ---- slow: every lane whatever it holds ---- */

typedef struct hu_lanes_result {
  hu_lane code;                                                                                 /* full code */
  hu_lane overflow, saturated, underflow, to_zero, subnormal, inexact, invalid, nan_in, inf_in; /* masks */
  hu_lane value; /* the grid value's binary32 bits */
} hu_lanes_result;

/* |u| as 24 digits and the exponent field they belong to; binary32's subnormals are normalised if the target's bottom
 * is near theirs, else they keep the place of field 1. */
HU_LANE_FN void hui_lanes_unpack(const hu_lane_constants *lanes, hu_lane a, hu_lane *sig, hu_lane *field) {
  hu_lane exponent = a >> 23, tiny = HU_MASK(exponent == HU_ALL(0));
  *field = exponent + (tiny & 1);
  *sig = (a & 0x7FFFFFu) | (~tiny & 0x800000u);
  if (lanes->low > 1) return;
  hu_lane nonzero = tiny & HU_MASK(a != HU_ALL(0));
  *field =
      hui_sel(tiny & ~nonzero, HU_ALL(lanes->low), *field); /* zero lies below the lowest binade, wherever that is */
  if (!hui_lane_any(nonzero)) return;
  hu_lane value = hui_lane_float(a & tiny); /* a 2^-149 with a < 2^23, seen as the float a */
  *sig = hui_sel(nonzero, (value & 0x7FFFFFu) | 0x800000u, *sig);
  *field = hui_sel(nonzero, (value >> 23) - HU_ALL(149), *field);
}

/* Returns digits 2^unit as binary32 bits, unit the exponent of the last place: exact, because the format fits. */
HU_LANE_FN hu_lane hui_lanes_pack(hu_lane digits, hu_lane unit) {
  hu_lane value = hui_lane_float(digits), normal = value + (unit << 23);
  hu_lane field = (value >> 23) + unit;
  hu_lane small = hui_lt(field, HU_ALL(1));
  hu_lane shift = hui_min(hui_max(unit + HU_ALL(149), HU_ALL(0)), HU_ALL(31));
  return hui_sel(HU_MASK(digits == HU_ALL(0)), HU_ALL(0), hui_sel(small, digits << shift, normal));
}

/* Does rounding to full precision carry lanes of the binade below 2^emin (field low - 1) up to 2^emin? */
HU_LANE_FN hu_lane hui_lanes_reaches_normal(const hu_lane_constants *lanes, hu_lane x, hu_lane sig, hu_lane random) {
  hu_lane digits = sig >> lanes->d0, frac = sig << (32 - lanes->d0);
  hu_lane odd = lanes->m ? HU_MASK((digits & 1) != HU_ALL(0)) : HU_ALL(lanes->zero == HU_ZERO_FIELD ? 0 : 0xFFFFFFFFu);
  digits -= hui_lanes_up(lanes, lanes->round, x, frac, HU_ALL(0), odd, random);
  return HU_MASK(digits == HU_ALL(2u << lanes->m));
}

HU_LANE_FN hu_lanes_result hui_lanes_round(const hu_lane_constants *lanes, hu_lane x, hu_lane random) {
  hu_lanes_result result;
  hu_lane zero = HU_ALL(0), sig, field;
  hu_lane a = x & 0x7FFFFFFFu, negative = (hu_lane)((hu_ilane)x >> 31), nonzero = HU_MASK(a != zero);
  hu_lane finite = hui_lt(a, HU_ALL(0x7F800000u));
  hui_lanes_unpack(lanes, a, &sig, &field);
  hu_lane low = HU_ALL(lanes->low), below = hui_max(low - field, zero), deep = hui_gt(below, zero) | ~nonzero;
  hu_lane d = HU_ALL(lanes->d0) + below;
  if (lanes->subnormal == HU_SUBNORMAL_NONE) d += deep & (uint32_t)lanes->m;
  d = hui_min(d, HU_ALL(63));
  hu_lane digits = sig >> hui_min(d, HU_ALL(31));
  hu_lane right = hui_max(d - HU_ALL(32), zero), far = hui_gt(d, HU_ALL(32));
  hu_lane frac = hui_sel(far, sig >> right, sig << (hui_max(HU_ALL(32) - d, zero)));
  hu_lane lost = far & HU_MASK(((sig >> right) << right) != sig);
  hu_lane top = hui_max(field, low);
  /* Limited so that a code far down, of few exponents, cannot wrap; it stays beyond max_code < 2^30. */
  hu_lane up_field = hui_min(top - low, HU_ALL((uint32_t)1 << (30 - lanes->m)));
  hu_lane base = up_field << lanes->m;
  if (lanes->zero != HU_ZERO_FIELD) base -= HU_ALL(lanes->hidden);
  hu_lane odd_bit = lanes->m ? digits : digits & (up_field + HU_ALL(lanes->zero == HU_ZERO_FIELD));
  hu_lane odd = HU_MASK((odd_bit & 1) != zero);
  result.inexact = HU_MASK(frac != zero) | lost;
  hu_lane up = hui_lanes_up(lanes, lanes->round, x, frac, lost, odd, random);
  digits -= up;
  hu_lane c = digits + base;
  if (lanes->subnormal == HU_SUBNORMAL_NONE) c = hui_sel(deep, digits << lanes->m, c);
  hu_lane unit = top - HU_ALL(127 + lanes->m);
  if (lanes->subnormal == HU_SUBNORMAL_NONE) unit += deep & (uint32_t)lanes->m;

  /* tiny */
  hu_lane tiny = deep & nonzero;
  if (lanes->zero == HU_ZERO_CODE) {
    hu_lane edge = HU_MASK(field == low) & nonzero;
    tiny |= edge & (lanes->tiny == HU_TINY_BEFORE ? HU_MASK((sig >> lanes->d0) == HU_ALL(lanes->hidden))
                                                  : hui_lt(c, HU_ALL(1)));
  } else if (lanes->tiny == HU_TINY_AFTER) {
    hu_lane near = HU_MASK(field + HU_ALL(1) == low) & HU_MASK(sig >= HU_ALL(0x800000u)) & nonzero;
    if (hui_lane_any(near)) tiny &= ~(near & hui_lanes_reaches_normal(lanes, x, sig, random));
  }
  if (lanes->zero == HU_ZERO_NONE) { /* nothing below 2^emin: the result is 2^emin */
    hu_lane under = deep;
    c &= ~under;
    unit = hui_sel(under, low - HU_ALL(127), unit);
    digits = hui_sel(under, HU_ALL(1), digits);
    result.inexact |= under;
  }
  if (lanes->flush_below) {
    hu_lane flush = hui_lt(c, HU_ALL(lanes->flush_below));
    c &= ~flush;
    digits &= ~flush;
    result.inexact |= flush & nonzero;
  }
  result.underflow = tiny & result.inexact;
  result.to_zero = lanes->zero == HU_ZERO_NONE ? zero : HU_MASK(c == zero) & nonzero;
  result.subnormal = lanes->zero == HU_ZERO_FIELD ? hui_gt(c, zero) & hui_lt(c, HU_ALL(lanes->hidden)) : zero;
  result.value = hui_lanes_pack(digits, unit);
  if (lanes->negzero) {
    result.value |= x & 0x80000000u;
  } else {
    result.value |= x & 0x80000000u & HU_MASK(c != zero);
  }
  hu_lane signed_code = (x & 0x80000000u) >> lanes->sign_shift;
  if (!lanes->negzero) signed_code &= HU_MASK(c != zero);
  if (lanes->is_unsigned) signed_code = zero;

  /* Beyond the range. */
  hu_lane over = hui_gt(c, HU_ALL(lanes->max_code)) & finite;
  hu_lane low_side = zero;
  if (lanes->is_unsigned) {
    low_side = negative & (lanes->zero == HU_ZERO_NONE ? nonzero : HU_MASK(c != zero)) & finite;
    over &= ~low_side;
  }
  hu_lane inf = HU_MASK(a == HU_ALL(0x7F800000u)), nan = ~finite & ~inf;
  result.code = c | signed_code;
  hu_lane special = over | low_side | ~finite;
  result.overflow = over;
  result.nan_in = nan;
  result.inf_in = inf;
  result.saturated = zero;
  result.invalid = zero;
  if (hui_lane_any(special)) {
    hu_lane none = ~special, minus_over = over & negative, plus_over = over & ~negative;
    hu_lane minus_inf = inf & negative, plus_inf = inf & ~negative;
    result.inexact = (result.inexact & none) | over | low_side;
    result.underflow &= none;
    result.to_zero &= none;
    result.subnormal &= none;
    result.code = (result.code & none) | (plus_over & lanes->code.overflow) | (minus_over & lanes->code.neg_overflow) |
                  (plus_inf & lanes->code.inf) | (minus_inf & lanes->code.neg_inf) | (nan & lanes->code.nan) |
                  (low_side & lanes->code.below);
    result.value = (result.value & none) | (plus_over & lanes->value.overflow) |
                   (minus_over & lanes->value.neg_overflow) | (plus_inf & lanes->value.inf) |
                   (minus_inf & lanes->value.neg_inf) | (nan & lanes->value.nan) | (low_side & lanes->value.below);
    result.saturated = (lanes->events.overflow & HU_EVENT_SATURATED ? plus_over : zero) |
                       (lanes->events.neg_overflow & HU_EVENT_SATURATED ? minus_over : zero) |
                       (lanes->events.inf & HU_EVENT_SATURATED ? plus_inf : zero) |
                       (lanes->events.neg_inf & HU_EVENT_SATURATED ? minus_inf : zero) |
                       (lanes->events.below & HU_EVENT_SATURATED ? low_side : zero);
    result.invalid = low_side | (lanes->events.nan & HU_EVENT_INVALID ? nan : zero) |
                     (lanes->events.inf & HU_EVENT_INVALID ? plus_inf : zero) |
                     (lanes->events.neg_inf & HU_EVENT_INVALID ? minus_inf : zero);
  }
  return result;
}

/* ---- decode: the binary32 bits of codes of a format that fits binary32 ---- */

/* Plain are codes with an ordinary finite value in formats with gradual subnormals whose values are all normal numbers
 * of binary32, or whose subnormals are binary32's own (t->way.plain). */
typedef struct hu_plain_lanes {
  hu_lane mag_mask, sign_code, max_code, hidden, base, scale;
  int32_t has_sign, odd_negzero, d0, sign_shift; /* odd_negzero: 10...0 is not negative zero */
} hu_plain_lanes;

HU_LANE_FN hu_plain_lanes hui_plain_lanes_of(const hu_lane_constants *lanes) {
  hu_plain_lanes constants;
  constants.mag_mask = HU_HOLD(HU_ALL(lanes->mag_mask));
  constants.sign_code = HU_HOLD(HU_ALL(lanes->sign_code));
  constants.max_code = HU_HOLD(HU_ALL(lanes->max_code));
  constants.hidden = HU_HOLD(HU_ALL(lanes->hidden));
  constants.base = HU_HOLD(HU_ALL((uint32_t)(lanes->low - 1) << 23));
  constants.scale = HU_HOLD(HU_ALL((uint32_t)(lanes->low - 127 - lanes->m) << 23));
  constants.has_sign = !lanes->is_unsigned;
  constants.odd_negzero = !lanes->is_unsigned && !lanes->negzero;
  constants.d0 = lanes->d0;
  constants.sign_shift = lanes->sign_shift;
  return constants;
}

/* Lanes that are not plain: infinities, NaN, and 10...0 where it is not negative zero. */
HU_LANE_FN hu_mask hui_plain_not(const hu_plain_lanes *constants, hu_lane code) {
  hu_mask beyond = hui_mask_lt(constants->max_code, code & constants->mag_mask);
  if (!constants->odd_negzero) return beyond;
  hu_lane bits = code & (constants->mag_mask | constants->sign_code);
  return hui_mask_or(
      beyond, hui_mask_andnot(hui_mask_test(bits, constants->sign_code), hui_mask_test(bits, constants->mag_mask)));
}

HU_LANE_FN hu_lane hui_plain_decode(const hu_plain_lanes *constants, int plain, hu_lane code) {
  hu_lane mag = code & constants->mag_mask, value = (mag << constants->d0) + constants->base;
  if (plain == 2) {
    hu_mask sub = hui_mask_lt(mag, constants->hidden);
    hu_lane subnormal = hui_mask_keep(hui_mask_test(mag, constants->mag_mask), hui_lane_float(mag) + constants->scale);
    value = hui_mask_sel(sub, subnormal, value);
  }
  if (!constants->has_sign) return value;
  return value | (code & constants->sign_code) << constants->sign_shift;
}

HU_LANE_FN hu_lane hui_lanes_decode(const hu_lane_constants *lanes, hu_lane code) {
  hu_lane zero = HU_ALL(0), mag = code & lanes->mag_mask, sign = code & lanes->sign_code, value;
  int32_t base = lanes->zero == HU_ZERO_FIELD ? lanes->low - 1 : lanes->low;
  hu_lane sub = HU_MASK(mag < HU_ALL(lanes->hidden));
  if (lanes->low >= 1) {
    value = (mag << lanes->d0) + HU_ALL((uint32_t)base << 23);
  } else {
    hu_lane digits = (mag & (uint32_t)(lanes->hidden - 1)) | (uint32_t)lanes->hidden;
    value = hui_lanes_pack(digits, (mag >> lanes->m) + HU_ALL(base - 127 - lanes->m));
  }
  if (lanes->zero == HU_ZERO_FIELD) {
    hu_lane s = zero;
    if (lanes->subnormal == HU_SUBNORMAL_GRADUAL) s = hui_lanes_pack(mag & sub, HU_ALL(lanes->low - 127 - lanes->m));
    value = hui_sel(sub, s, value);
  } else if (lanes->zero == HU_ZERO_CODE) {
    value &= ~HU_MASK(mag == zero);
  }
  hu_lane beyond = hui_gt(mag, HU_ALL(lanes->max_code));
  hu_lane inf = lanes->has_inf ? HU_MASK(mag == HU_ALL(lanes->inf_code)) : zero;
  value = hui_sel(beyond, HU_ALL(0x7F800000u), value);
  if (lanes->sign_code) {
    hu_lane s = sign << lanes->sign_shift;
    if (!lanes->negzero) s &= HU_MASK(value != zero);
    value |= s;
  }
  hu_lane nan = beyond & ~inf;
  if (lanes->nan_at_negzero) nan |= HU_MASK((mag | sign) == HU_ALL(lanes->sign_code));
  return hui_sel(nan, HU_ALL(0x7FC00000u), value);
}

#endif
