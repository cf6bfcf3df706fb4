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
 * functions the significand has 24 digits, d of them (and zeros above, if d > 24) lie below the grid; f = sig >> d and
 * the fraction nu = (sig mod 2^d) / 2^d is held as `frac` = floor(nu 2^32), exact for d <= 32; for d > 32 the digits
 * lost are zero unless `lost` is set, and then nu < 2^-8, so `frac` is never the one half that a tie needs.
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

HU_LANE_FN hu_lane hui_quick_ok(const hu_lane_constants *t, hu_lane u) {
  hu_lane range = HU_MASK((u & HU_ALL(t->quick.mask)) - HU_ALL(t->quick.lo) <= HU_ALL(t->quick.span));
  return range | (HU_MASK((u & HU_ALL(t->quick.zero_mask)) == HU_ALL(0)) & HU_ALL(t->quick_zero));
}

/* hui_addend_of for each lane. round is a constant, so that of the conditions one way is left. */
HU_LANE_FN hu_lane hui_deterministic_add(int round, int32_t d, uint32_t odd0, hu_lane u) {
  const hu_addend q = hui_addend_of((uint32_t)round, d);
  hu_lane add = HU_ALL(q.base[0]), last = (u >> d) ^ odd0;
  if (round == HU_RTP) add &= ~(hu_lane)((hu_ilane)u >> 31);
  if (round == HU_RTN) add = HU_ALL(q.base[1]) & (hu_lane)((hu_ilane)u >> 31);
  if (q.step == 1) return add + (last & 1);
  if (q.step) return add + (q.step & (0 - (last & 1)));
  return add;
}

/* What to add to the pattern u before its lowest d digits, the fraction, are dropped. Works in the magnitude: no sum
 * reaches the sign. */
HU_LANE_FN hu_lane hui_quick_add(const hu_lane_constants *t, int round, int32_t d, uint32_t odd0, hu_lane u,
                                 hu_lane random) {
  if (round < HU_SRA) return hui_deterministic_add(round, d, odd0, u);
  switch (round) {
    /* floor(nu 2^N) + R >= 2^N, both sides scaled to the d digits of the fraction: what R has below them cannot carry,
     * what the fraction has below R cannot either. */
    case HU_SRA: return (random >> (32 - d)) & t->stochastic.keep;
    case HU_SRB: return ((random >> (32 - d)) & t->stochastic.keep) + t->stochastic.half;
    default: {
      hu_lane add = (random >> (32 - d)) & t->stochastic.keep;
      if (!t->stochastic.half) return add;
      /* C: the fraction first rounded to N digits, ties to even: (u' - u) joins the addend. */
      uint32_t keep = t->stochastic.keep;
      hu_lane even = (u & (t->stochastic.half << 1)) >> (d - t->bits);
      hu_lane rounded = (u + HU_ALL(t->stochastic.half - 1) + even) & keep;
      return add + (rounded - u);
    }
  }
}

/* The rounded pattern, with its sign; it differs from u where the result is inexact. */
HU_LANE_FN hu_lane hui_quick(const hu_lane_constants *t, int round, hu_lane u, hu_lane random) {
  return (u + hui_quick_add(t, round, t->d0, t->odd0, u, random)) & ~(((uint32_t)1 << t->d0) - 1);
}

HU_LANE_FN hu_lane hui_quick_code(const hu_lane_constants *t, hu_lane rounded) {
  hu_lane a = rounded & 0x7FFFFFFFu, c = (a >> t->d0) - HU_ALL(t->quick.base);
  if (t->zero == HU_ZERO_FIELD) c &= ~HU_MASK(a == HU_ALL(0));
  if (t->is_unsigned) return c;
  return c | ((rounded & 0x80000000u) >> t->sign_shift);
}

/* ---- the fraction in lanes ---- */

/* Decides from the fraction which lanes go up. `lost` marks lanes with non-zero digits below frac. */
HU_LANE_FN hu_lane hui_lanes_up(const hu_lane_constants *t, int round, hu_lane u, hu_lane frac, hu_lane lost,
                                hu_lane odd, hu_lane random) {
  hu_lane some = HU_MASK(frac != HU_ALL(0)) | lost;
  hu_lane half = HU_ALL(0x80000000u);
  switch (round) {
    case HU_RNE: return HU_MASK(frac > half) | (HU_MASK(frac == half) & odd);
    case HU_RNA: return HU_MASK(frac >= half);
    case HU_RNZ: return HU_MASK(frac > half);
    case HU_RTZ: return HU_ALL(0);
    case HU_RTP: return some & ~(hu_lane)((hu_ilane)u >> 31);
    case HU_RTN: return some & (hu_lane)((hu_ilane)u >> 31);
    case HU_RAZ: return some;
    case HU_RTO: return some & ~odd;
    default: break;
  }
  /* z + R >= 2^N is z > 2^N - 1 - R; B and C add one to z when z is just there and the digits behind say so. */
  int32_t spare = 32 - t->bits;
  hu_lane z = frac >> spare, limit = ~random >> spare;
  hu_lane up = HU_MASK(z > limit);
  if (round == HU_SRA) return up;
  hu_lane rest = frac << t->bits; /* bits < 32 here */
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
HU_LANE_FN hu_lane hui_middle_operand(const hu_lane_constants *t, hu_lane u) { return u & HU_ALL(t->quick.mask); }

HU_LANE_FN hu_lane hui_middle_ok(const hu_lane_constants *t, hu_lane u) {
  return HU_MASK(hui_middle_operand(t, u) <= HU_ALL(t->max_pattern));
}

/* What hui_middle needs in every lane, made once a loop. HU_HOLD hides where a constant came from, so that a compiler
 * short of registers loads it back instead of making it again. */
typedef struct hu_middle_lanes {
  hu_lane magnitude, field, up, bottom, fraction, not_tiny, not_tiny_neg, scale;
  int32_t flush, has_sign, has_negzero, tiny_after; /* whole words: a compiler merges bytes in ways that stall */
} hu_middle_lanes;

HU_LANE_FN hu_middle_lanes hui_middle_lanes_of(const hu_lane_constants *t) {
  hu_middle_lanes k;
  uint32_t digits = t->round == HU_RNA || t->round == HU_RNZ; /* that are kept below the grid */
  k.magnitude = HU_HOLD(HU_ALL(0x7FFFFFFFu));
  k.field = HU_HOLD(HU_ALL(0x7F800000u));
  k.up = HU_HOLD(HU_ALL(((uint32_t)t->d0 - digits) << 23));
  k.bottom = HU_HOLD(HU_ALL((uint32_t)t->low << 23)); /* the pattern of 2^emin */
  k.fraction = HU_HOLD(HU_ALL(((uint32_t)1 << t->d0) - 1));
  k.not_tiny = HU_HOLD(HU_ALL(t->not_tiny));
  k.not_tiny_neg = HU_HOLD(HU_ALL(t->not_tiny_neg));
  k.scale = HU_HOLD(HU_ALL((uint32_t)(286 + t->m) << 23)); /* less the field of 2^E: the pattern of 2^32 / Q */
  k.flush = t->subnormal == HU_SUBNORMAL_FLUSH;
  k.has_sign = !t->is_unsigned;
  k.has_negzero = t->negzero;
  k.tiny_after = t->tiny == HU_TINY_AFTER;
  return k;
}

typedef struct hu_middle_result {
  hu_lane operand, result; /* magnitudes, binary32 patterns: equal where exact */
  hu_lane probe, limit;    /* the operand is tiny where probe < limit */
  hu_lane value;           /* binary32 bits */
  hu_lane code;            /* full code */
} hu_middle_result;

/* Way 2: |x| + anchor, rounded as the mode asks. a = |x|; *anchor gets x's sign, u ^ a, in the modes that look at
 * it. */
HU_LANE_FN hu_lane hui_anchored(const hu_lane_constants *t, const hu_middle_lanes *k, int round, hu_lane u, hu_lane a,
                                hu_lane field, hu_lane *anchor, hu_lane random) {
  if (round == HU_RTP || round == HU_RTN) {
    *anchor |= u ^ a;
    return hui_lane_plus(round, u, *anchor);
  }
  hu_lane s = hui_lane_plus(round, a, *anchor);
  if (round == HU_RNA) return (s + 1) & ~HU_ALL(1);
  if (round == HU_RNZ) return s & ~HU_ALL(1);
  if (round < HU_RTO) return s;
  hu_lane kept = hui_lane_minus(s, *anchor);
  if (round == HU_RTO) return s | (HU_MASK(kept != a) & 1);
  hu_lane nu = hui_lane_times(hui_lane_minus(a, kept), k->scale - field), frac = hui_lane_uint(nu), lost = HU_ALL(0);
  if (round == HU_SRC) lost = hui_lt(nu, HU_ALL(0x4B000000u)) & HU_MASK(hui_lane_float(frac & 0xFFFFFFu) != nu);
  return s - hui_lanes_up(t, round, u, frac, lost, HU_ALL(0), random);
}

/* a = hui_middle_operand(t, u). */
HU_LANE_FN hu_middle_result hui_middle(const hu_lane_constants *t, const hu_middle_lanes *k, int round, int way,
                                       hu_lane u, hu_lane a, hu_lane random) {
  hu_middle_result r;
  if (way == 1) {
    r.result = (a + hui_quick_add(t, round, t->d0, 0, u, HU_ALL(0))) & ~k->fraction;
    r.code = r.result >> t->d0;
  } else {
    hu_lane field = hui_mask_larger(a & k->field, k->bottom), anchor = field + k->up;
    hu_lane s = hui_anchored(t, k, round, u, a, field, &anchor, random);
    r.result = hui_lane_minus(s, anchor);
    if (round == HU_RTP || round == HU_RTN) r.result &= k->magnitude; /* x's sign, or that of a zero difference */
    r.code = ((s - anchor) >> (round == HU_RNA || round == HU_RNZ)) + ((field - k->bottom) >> t->d0);
  }
  if (k->flush) {
    hu_mask small = hui_mask_lt(r.result, k->bottom);
    r.result = hui_mask_sel(small, HU_ALL(0), r.result);
    r.code = hui_mask_sel(small, HU_ALL(0), r.code);
  }
  r.operand = r.probe = a;
  r.limit = k->not_tiny;
  if (round == HU_RTP || round == HU_RTN) r.limit = hui_mask_sel(hui_mask_lt(u, HU_ALL(0)), k->not_tiny_neg, r.limit);
  /* not_tiny knows no random words: full precision is that of hui_quick, whatever the exponent. */
  if (round >= HU_SRA && k->tiny_after) r.probe = a + hui_quick_add(t, round, t->d0, 0, a, random);
  hu_lane sign = u ^ a;
  if (!k->has_negzero) sign = hui_mask_keep(hui_mask_test(r.result, k->magnitude), sign);
  r.value = r.result | sign;
  if (k->has_sign) r.code |= sign >> t->sign_shift;
  return r;
}

/* ---- slow: every lane whatever it holds ---- */

typedef struct hu_lanes_result {
  hu_lane code;                                                                                 /* full code */
  hu_lane overflow, saturated, underflow, to_zero, subnormal, inexact, invalid, nan_in, inf_in; /* masks */
  hu_lane value; /* the grid value's binary32 bits */
} hu_lanes_result;

/* |u| as 24 digits and the exponent field they belong to; binary32's subnormals are normalised if the target's bottom
 * is near theirs, else they keep the place of field 1. */
HU_LANE_FN void hui_lanes_unpack(const hu_lane_constants *t, hu_lane a, hu_lane *sig, hu_lane *field) {
  hu_lane e = a >> 23, tiny = HU_MASK(e == HU_ALL(0));
  *field = e + (tiny & 1);
  *sig = (a & 0x7FFFFFu) | (~tiny & 0x800000u);
  if (t->low > 1) return;
  hu_lane nonzero = tiny & HU_MASK(a != HU_ALL(0));
  *field = hui_sel(tiny & ~nonzero, HU_ALL(t->low), *field); /* zero lies below the lowest binade, wherever that is */
  if (!hui_lane_any(nonzero)) return;
  hu_lane v = hui_lane_float(a & tiny); /* a 2^-149 with a < 2^23, seen as the float a */
  *sig = hui_sel(nonzero, (v & 0x7FFFFFu) | 0x800000u, *sig);
  *field = hui_sel(nonzero, (v >> 23) - HU_ALL(149), *field);
}

/* Returns f 2^q as binary32 bits, q the exponent of the last place: exact, because the format fits. */
HU_LANE_FN hu_lane hui_lanes_pack(hu_lane f, hu_lane q) {
  hu_lane v = hui_lane_float(f), normal = v + (q << 23);
  hu_lane field = (v >> 23) + q;
  hu_lane small = hui_lt(field, HU_ALL(1));
  hu_lane shift = hui_min(hui_max(q + HU_ALL(149), HU_ALL(0)), HU_ALL(31));
  return hui_sel(HU_MASK(f == HU_ALL(0)), HU_ALL(0), hui_sel(small, f << shift, normal));
}

/* Does rounding to full precision carry lanes of the binade below 2^emin (field low - 1) up to 2^emin? */
HU_LANE_FN hu_lane hui_lanes_reaches_normal(const hu_lane_constants *t, hu_lane u, hu_lane sig, hu_lane random) {
  hu_lane f = sig >> t->d0, frac = sig << (32 - t->d0);
  hu_lane odd = t->m ? HU_MASK((f & 1) != HU_ALL(0)) : HU_ALL(t->zero == HU_ZERO_FIELD ? 0 : 0xFFFFFFFFu);
  f -= hui_lanes_up(t, t->round, u, frac, HU_ALL(0), odd, random);
  return HU_MASK(f == HU_ALL(2u << t->m));
}

HU_LANE_FN hu_lanes_result hui_lanes_round(const hu_lane_constants *t, hu_lane u, hu_lane random) {
  hu_lanes_result r;
  hu_lane zero = HU_ALL(0), sig, field;
  hu_lane a = u & 0x7FFFFFFFu, negative = (hu_lane)((hu_ilane)u >> 31), nonzero = HU_MASK(a != zero);
  hu_lane finite = hui_lt(a, HU_ALL(0x7F800000u));
  hui_lanes_unpack(t, a, &sig, &field);
  hu_lane low = HU_ALL(t->low), below = hui_max(low - field, zero), deep = hui_gt(below, zero) | ~nonzero;
  hu_lane d = HU_ALL(t->d0) + below;
  if (t->subnormal == HU_SUBNORMAL_NONE) d += deep & (uint32_t)t->m;
  d = hui_min(d, HU_ALL(63));
  hu_lane f = sig >> hui_min(d, HU_ALL(31));
  hu_lane right = hui_max(d - HU_ALL(32), zero), far = hui_gt(d, HU_ALL(32));
  hu_lane frac = hui_sel(far, sig >> right, sig << (hui_max(HU_ALL(32) - d, zero)));
  hu_lane lost = far & HU_MASK(((sig >> right) << right) != sig);
  hu_lane top = hui_max(field, low);
  /* Limited so that the code cannot wrap in a format of few exponents far down; it is beyond max_code < 2^30
   * nevertheless. */
  hu_lane up_field = hui_min(top - low, HU_ALL((uint32_t)1 << (30 - t->m)));
  hu_lane base = up_field << t->m;
  if (t->zero != HU_ZERO_FIELD) base -= HU_ALL(t->hidden);
  hu_lane odd_bit = t->m ? f : f & (up_field + HU_ALL(t->zero == HU_ZERO_FIELD));
  hu_lane odd = HU_MASK((odd_bit & 1) != zero);
  r.inexact = HU_MASK(frac != zero) | lost;
  hu_lane up = hui_lanes_up(t, t->round, u, frac, lost, odd, random);
  f -= up;
  hu_lane c = f + base;
  if (t->subnormal == HU_SUBNORMAL_NONE) c = hui_sel(deep, f << t->m, c);
  hu_lane q = top - HU_ALL(127 + t->m);
  if (t->subnormal == HU_SUBNORMAL_NONE) q += deep & (uint32_t)t->m;

  /* tiny */
  hu_lane tiny = deep & nonzero;
  if (t->zero == HU_ZERO_CODE) {
    hu_lane edge = HU_MASK(field == low) & nonzero;
    tiny |= edge & (t->tiny == HU_TINY_BEFORE ? HU_MASK((sig >> t->d0) == HU_ALL(t->hidden)) : hui_lt(c, HU_ALL(1)));
  } else if (t->tiny == HU_TINY_AFTER) {
    hu_lane near = HU_MASK(field + HU_ALL(1) == low) & HU_MASK(sig >= HU_ALL(0x800000u)) & nonzero;
    if (hui_lane_any(near)) tiny &= ~(near & hui_lanes_reaches_normal(t, u, sig, random));
  }
  if (t->zero == HU_ZERO_NONE) { /* nothing below 2^emin: the result is 2^emin */
    hu_lane under = deep;
    c &= ~under;
    q = hui_sel(under, low - HU_ALL(127), q);
    f = hui_sel(under, HU_ALL(1), f);
    r.inexact |= under;
  }
  if (t->flush_below) {
    hu_lane flush = hui_lt(c, HU_ALL(t->flush_below));
    c &= ~flush;
    f &= ~flush;
    r.inexact |= flush & nonzero;
  }
  r.underflow = tiny & r.inexact;
  r.to_zero = t->zero == HU_ZERO_NONE ? zero : HU_MASK(c == zero) & nonzero;
  r.subnormal = t->zero == HU_ZERO_FIELD ? hui_gt(c, zero) & hui_lt(c, HU_ALL(t->hidden)) : zero;
  r.value = hui_lanes_pack(f, q);
  if (t->negzero) {
    r.value |= u & 0x80000000u;
  } else {
    r.value |= u & 0x80000000u & HU_MASK(c != zero);
  }
  hu_lane signed_code = (u & 0x80000000u) >> t->sign_shift;
  if (!t->negzero) signed_code &= HU_MASK(c != zero);
  if (t->is_unsigned) signed_code = zero;

  /* Beyond the range. */
  hu_lane over = hui_gt(c, HU_ALL(t->max_code)) & finite;
  hu_lane low_side = zero;
  if (t->is_unsigned) {
    low_side = negative & (t->zero == HU_ZERO_NONE ? nonzero : HU_MASK(c != zero)) & finite;
    over &= ~low_side;
  }
  hu_lane inf = HU_MASK(a == HU_ALL(0x7F800000u)), nan = ~finite & ~inf;
  r.code = c | signed_code;
  hu_lane special = over | low_side | ~finite;
  r.overflow = over;
  r.nan_in = nan;
  r.inf_in = inf;
  r.saturated = zero;
  r.invalid = zero;
  if (hui_lane_any(special)) {
    hu_lane none = ~special, minus_over = over & negative, plus_over = over & ~negative;
    hu_lane minus_inf = inf & negative, plus_inf = inf & ~negative;
    r.inexact = (r.inexact & none) | over | low_side;
    r.underflow &= none;
    r.to_zero &= none;
    r.subnormal &= none;
    r.code = (r.code & none) | (plus_over & t->code.overflow) | (minus_over & t->code.neg_overflow) |
             (plus_inf & t->code.inf) | (minus_inf & t->code.neg_inf) | (nan & t->code.nan) |
             (low_side & t->code.below);
    r.value = (r.value & none) | (plus_over & t->value.overflow) | (minus_over & t->value.neg_overflow) |
              (plus_inf & t->value.inf) | (minus_inf & t->value.neg_inf) | (nan & t->value.nan) |
              (low_side & t->value.below);
    r.saturated = (t->events.overflow & HU_EVENT_SATURATED ? plus_over : zero) |
                  (t->events.neg_overflow & HU_EVENT_SATURATED ? minus_over : zero) |
                  (t->events.inf & HU_EVENT_SATURATED ? plus_inf : zero) |
                  (t->events.neg_inf & HU_EVENT_SATURATED ? minus_inf : zero) |
                  (t->events.below & HU_EVENT_SATURATED ? low_side : zero);
    r.invalid = low_side | (t->events.nan & HU_EVENT_INVALID ? nan : zero) |
                (t->events.inf & HU_EVENT_INVALID ? plus_inf : zero) |
                (t->events.neg_inf & HU_EVENT_INVALID ? minus_inf : zero);
  }
  return r;
}

/* ---- decode: the binary32 bits of codes of a format that fits binary32 ---- */

/* Plain are codes with an ordinary finite value in formats with gradual subnormals whose values are all normal numbers
 * of binary32, or whose subnormals are binary32's own (t->way.plain). */
typedef struct hu_plain_lanes {
  hu_lane mag_mask, sign_code, max_code, hidden, base, scale;
  int32_t has_sign, odd_negzero, d0, sign_shift; /* odd_negzero: 10...0 is not negative zero */
} hu_plain_lanes;

HU_LANE_FN hu_plain_lanes hui_plain_lanes_of(const hu_lane_constants *t) {
  hu_plain_lanes k;
  k.mag_mask = HU_HOLD(HU_ALL(t->mag_mask));
  k.sign_code = HU_HOLD(HU_ALL(t->sign_code));
  k.max_code = HU_HOLD(HU_ALL(t->max_code));
  k.hidden = HU_HOLD(HU_ALL(t->hidden));
  k.base = HU_HOLD(HU_ALL((uint32_t)(t->low - 1) << 23));
  k.scale = HU_HOLD(HU_ALL((uint32_t)(t->low - 127 - t->m) << 23));
  k.has_sign = !t->is_unsigned;
  k.odd_negzero = !t->is_unsigned && !t->negzero;
  k.d0 = t->d0;
  k.sign_shift = t->sign_shift;
  return k;
}

/* Lanes that are not plain: infinities, NaN, and 10...0 where it is not negative zero. */
HU_LANE_FN hu_mask hui_plain_not(const hu_plain_lanes *k, hu_lane code) {
  hu_mask beyond = hui_mask_lt(k->max_code, code & k->mag_mask);
  if (!k->odd_negzero) return beyond;
  hu_lane bits = code & (k->mag_mask | k->sign_code);
  return hui_mask_or(beyond, hui_mask_andnot(hui_mask_test(bits, k->sign_code), hui_mask_test(bits, k->mag_mask)));
}

HU_LANE_FN hu_lane hui_plain_decode(const hu_plain_lanes *k, int plain, hu_lane code) {
  hu_lane mag = code & k->mag_mask, v = (mag << k->d0) + k->base;
  if (plain == 2) {
    hu_mask sub = hui_mask_lt(mag, k->hidden);
    hu_lane s = hui_mask_keep(hui_mask_test(mag, k->mag_mask), hui_lane_float(mag) + k->scale);
    v = hui_mask_sel(sub, s, v);
  }
  if (!k->has_sign) return v;
  return v | (code & k->sign_code) << k->sign_shift;
}

HU_LANE_FN hu_lane hui_lanes_decode(const hu_lane_constants *t, hu_lane code) {
  hu_lane zero = HU_ALL(0), mag = code & t->mag_mask, sign = code & t->sign_code, v;
  int32_t base = t->zero == HU_ZERO_FIELD ? t->low - 1 : t->low;
  hu_lane sub = HU_MASK(mag < HU_ALL(t->hidden));
  if (t->low >= 1) {
    v = (mag << t->d0) + HU_ALL((uint32_t)base << 23);
  } else {
    hu_lane f = (mag & (uint32_t)(t->hidden - 1)) | (uint32_t)t->hidden;
    v = hui_lanes_pack(f, (mag >> t->m) + HU_ALL(base - 127 - t->m));
  }
  if (t->zero == HU_ZERO_FIELD) {
    hu_lane s = zero;
    if (t->subnormal == HU_SUBNORMAL_GRADUAL) s = hui_lanes_pack(mag & sub, HU_ALL(t->low - 127 - t->m));
    v = hui_sel(sub, s, v);
  } else if (t->zero == HU_ZERO_CODE) {
    v &= ~HU_MASK(mag == zero);
  }
  hu_lane beyond = hui_gt(mag, HU_ALL(t->max_code));
  hu_lane inf = t->has_inf ? HU_MASK(mag == HU_ALL(t->inf_code)) : zero;
  v = hui_sel(beyond, HU_ALL(0x7F800000u), v);
  if (t->sign_code) {
    hu_lane s = sign << t->sign_shift;
    if (!t->negzero) s &= HU_MASK(v != zero);
    v |= s;
  }
  hu_lane nan = beyond & ~inf;
  if (t->nan_at_negzero) nan |= HU_MASK((mag | sign) == HU_ALL(t->sign_code));
  return hui_sel(nan, HU_ALL(0x7FC00000u), v);
}

#endif
