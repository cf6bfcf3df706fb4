/* SPDX-License-Identifier: MIT */
/* emu/core/lane_constants.h - the lane constants of a format and a mode: what emu/simd/round.h needs of a hu_spec, made
 * once a call. */
#ifndef HALFULP_EMU_CORE_LANE_CONSTANTS_H
#define HALFULP_EMU_CORE_LANE_CONSTANTS_H

#include "emu/core/round.h"

/* The results of operands that are not rounded, or of one kind: full codes, events or binary32 values. */
typedef struct hu_lane_specials {
  uint32_t inf, neg_inf, nan, below, overflow, neg_overflow; /* below: negative, in an unsigned format */
} hu_lane_specials;

/* A hu_spec as lane constants. d0 = 23 - m; low = emin + 127, the binary32 exponent field of the lowest normal binade
 * (may be negative). */
typedef struct hu_lane_constants hu_lane_constants;
struct hu_lane_constants {
  uint32_t max_code, inf_code, nan_code, sign_code; /* full codes; sign_code = the sign bit */
  hu_lane_specials code, events;
  struct {
    uint32_t lo, span, mask, zero_mask; /* see hui_quick_ok */
    uint32_t base;                      /* code = (pattern >> d0) - base */
  } quick;
  uint32_t odd0; /* m = 0: 1 if codes are even where the pattern's field is odd */
  struct {
    uint32_t keep, half; /* see hui_quick_add */
  } stochastic;
  uint32_t mag_mask, has_inf, nan_at_negzero; /* for decoding */
  uint32_t quick_zero;                        /* all ones if hui_quick takes zeros */
  uint32_t max_pattern;
  uint32_t beyond;                 /* finite patterns from here on overflow, however rounded; 0: see no use */
  uint32_t not_tiny, not_tiny_neg; /* |x| of this pattern and above, below 2^emin, are not tiny (x > 0; x < 0) */
  hu_lane_specials value;          /* as binary32 */
  int32_t m, d0, low, code_shift, sign_shift;
  int32_t hidden;      /* 2^m */
  int32_t flush_below; /* codes below become zero */
  uint8_t round, bits, tiny, zero, subnormal, negzero, is_unsigned;
  struct {
    uint8_t quick;
    uint8_t middle; /* of emu/simd/round.h: 0: none; 1: low = 1; 2: by sums */
    uint8_t plain;  /* hui_plain_decode: 0: no; 1: low = 1; 2: all values normal in binary32 */
  } way;
};

/* Finds from where on values below 2^emin round to 2^emin at full precision: the least such fraction of the last step,
 * `digits` fraction digits, of a positive (negative) value. 2^digits: none does. */
static inline uint32_t hui_last_step(const hu_spec *spec, int32_t digits, uint32_t sign) {
  uint32_t one = (uint32_t)1 << digits, odd = spec->m > 0 || spec->zero != HU_ZERO_FIELD;
  for (uint32_t k = 0; k < 3; k++) { /* the least fraction that goes up is 1, the half or just above it */
    uint32_t frac = k == 0 ? 1 : (one >> 1) + (k == 2);
    if (hui_round_up(spec, frac, 0, digits, odd, sign, 0)) return frac;
  }
  return one;
}

/* Does the grid continue below 2^emin in steps of 2^(emin - m), whether or not those results are flushed? */
static inline int hui_lanes_are_even(const hu_lane_constants *lanes) {
  return lanes->zero == HU_ZERO_FIELD && lanes->subnormal != HU_SUBNORMAL_NONE;
}

/* The least pattern of a magnitude that no mode makes zero of: 1 without a zero. */
static inline uint32_t hui_least_not_zero(const hu_lane_constants *lanes) {
  const int32_t field = lanes->zero == HU_ZERO_CODE ? lanes->low + 1 : lanes->low;
  return lanes->zero == HU_ZERO_NONE ? 1 : (uint32_t)(field > 1 ? field : 1) << 23;
}

/* Which middle way serves: parity must be that of the last digit (m > 0), and of the sums of way 2 the largest, below
 * 2^(1 + d0) times the binade of max, must be a float, as must 2^32 / Q for the stochastic modes. */
static inline uint8_t hui_middle_of(const hu_lane_constants *lanes) {
  int32_t stochastic = lanes->round >= HU_SRA;
  if (!lanes->way.quick || lanes->m == 0 || lanes->d0 < 2 || !hui_lanes_are_even(lanes)) return 0;
  if (lanes->low == 1 && !stochastic) return 1;
  if (lanes->low < (stochastic ? 32 + lanes->m : 1)) return 0;
  return (int32_t)(lanes->max_pattern >> 23) + lanes->d0 <= 253 ? 2 : 0;
}

/* What a deterministic mode adds to a magnitude before its lowest d digits are dropped, 1 <= d < 32: base of the
 * operand's sign, plus step (modulo 2^32) where the last digit kept is 1. */
typedef struct hu_addend {
  uint32_t base[2], step;
} hu_addend;
HU_FN hu_addend hui_addend_of(uint32_t round, int32_t digits) {
  uint32_t rest = ((uint32_t)1 << digits) - 1, half = (uint32_t)1 << (digits - 1);
  hu_addend addend = {{0, 0}, 0}; /* toward zero nothing; the stochastic modes add random digits */
  switch (round) {
    case HU_RNE: addend.base[0] = addend.base[1] = half - 1, addend.step = 1; break;
    case HU_RNA: addend.base[0] = addend.base[1] = half; break;
    case HU_RNZ: addend.base[0] = addend.base[1] = half - 1; break;
    case HU_RTP: addend.base[0] = rest; break;
    case HU_RTN: addend.base[1] = rest; break;
    case HU_RAZ: addend.base[0] = addend.base[1] = rest; break;
    case HU_RTO:
      addend.base[0] = addend.base[1] = rest, addend.step = 0 - rest;
      break; /* up if the last digit kept is 0 */
    default: break;
  }
  return addend;
}

/* The direction in which the sums of way 2 are rounded (emu/simd/round.h). */
enum { HU_LANE_NEAREST = 0, HU_LANE_DOWN = 1, HU_LANE_UP = 2, HU_LANE_ZERO = 3 }; /* as x86 counts them */
HU_FN uint32_t hui_direction_of(int round) {
  if (round == HU_RNE) return HU_LANE_NEAREST;
  if (round == HU_RTN) return HU_LANE_DOWN;
  return round == HU_RNZ || round == HU_RTP || round == HU_RAZ ? HU_LANE_UP : HU_LANE_ZERO;
}

/* 1 if lanes can do what spec asks. */
static inline int hui_lane_constants_of(hu_lane_constants *lanes, const hu_spec *spec) {
  int32_t low = spec->emin + 127;
  memset(lanes, 0, sizeof *lanes);
  if (spec->m > 22 || spec->mag_mask > 0x3FFFFFFF) return 0;
  if ((spec->round == HU_SRB || spec->round == HU_SRC) && spec->bits == 32) return 0;
  lanes->m = spec->m;
  lanes->d0 = 23 - spec->m;
  lanes->low = low;
  lanes->hidden = (int32_t)1 << spec->m;
  lanes->max_code = spec->max_code;
  lanes->mag_mask = spec->mag_mask;
  lanes->has_inf = spec->has_inf;
  lanes->nan_at_negzero = spec->nan == HU_NAN_NEGZERO;
  lanes->inf_code = spec->inf_code;
  lanes->nan_code = spec->nan_code;
  lanes->sign_code = spec->sign_mask;
  lanes->sign_shift = 0;
  while (spec->sign_mask && spec->sign_mask << lanes->sign_shift != 0x80000000u) lanes->sign_shift++;
  lanes->round = spec->round;
  lanes->bits = spec->bits;
  lanes->tiny = spec->tiny;
  lanes->zero = spec->zero;
  lanes->subnormal = spec->subnormal;
  lanes->negzero = spec->negzero;
  lanes->is_unsigned = spec->sign_mask == 0;
  lanes->flush_below = spec->subnormal != HU_SUBNORMAL_FLUSH ? 0 : spec->zero == HU_ZERO_CODE ? 1 : lanes->hidden;
  lanes->code.nan = hui_from_nan(spec, &lanes->events.nan);
  lanes->code.inf = hui_from_inf(spec, 0, &lanes->events.inf);
  lanes->code.neg_inf = hui_from_inf(spec, 1, &lanes->events.neg_inf);
  lanes->code.below = hui_from_below(spec, 0, &lanes->events.below);
  lanes->events.below |= HU_EVENT_INEXACT;
  lanes->code.overflow = hui_from_overflow(spec, 0, &lanes->events.overflow);
  lanes->code.neg_overflow = hui_from_overflow(spec, 1, &lanes->events.neg_overflow);
  /* zero = field: the code of pattern p is (p >> d0) - ((low - 1) << m); where field 0 is a normal binade, one binade
   * more. */
  int32_t base = spec->zero == HU_ZERO_FIELD ? low - 1 : low;
  lanes->quick.base = (uint32_t)base << spec->m;
  lanes->odd0 = spec->m == 0 && (base & 1);
  int32_t lo = spec->zero == HU_ZERO_CODE ? low + 1 : low;
  int64_t hi = ((int64_t)spec->max_code << lanes->d0) + (int64_t)base * 0x800000; /* the pattern of max */
  if (hi > 0x7F7FFFFF) hi = 0x7F7FFFFF;
  lanes->quick_zero = low >= 1 && spec->zero == HU_ZERO_FIELD ? 0xFFFFFFFFu : 0;
  if (lo < 1) lo = 1; /* binary32's normal numbers are all normal in such a format */
  lanes->way.quick = lo <= 254 && hi >= (int64_t)lo << 23;
  lanes->max_pattern = (uint32_t)hi;
  /* One step beyond max; not where max is subnormal, and not in unsigned formats, whose negative values are another
   * matter. */
  int64_t next = hi + ((int64_t)1 << lanes->d0);
  if (lanes->way.quick && spec->sign_mask && next <= 0x7F7FFFFF) lanes->beyond = (uint32_t)next;
  if (lanes->way.quick) {
    lanes->quick.lo = (uint32_t)lo << 23;
    lanes->quick.span = (uint32_t)hi - lanes->quick.lo;
  }
  lanes->quick.mask = lanes->is_unsigned ? 0xFFFFFFFFu : 0x7FFFFFFFu;
  lanes->quick.zero_mask = spec->negzero ? 0x7FFFFFFFu : 0xFFFFFFFFu;
  lanes->not_tiny = lanes->not_tiny_neg = low >= 1 && low <= 254 ? (uint32_t)low << 23 : 0;
  if (spec->tiny == HU_TINY_AFTER && spec->round < HU_SRA && lanes->not_tiny && lanes->d0 >= 2) {
    int32_t digits = low == 1 ? lanes->d0 - 1 : lanes->d0; /* binary32's own subnormals have one digit less there */
    lanes->not_tiny -= ((uint32_t)1 << digits) - hui_last_step(spec, digits, 0);
    lanes->not_tiny_neg -= ((uint32_t)1 << digits) - hui_last_step(spec, digits, 1);
  }
  lanes->way.middle = hui_middle_of(lanes);
  if (hui_has_subnormals(spec)) lanes->way.plain = low == 1 ? 1 : low > spec->m ? 2 : 0;
  if (spec->max_code >= 0x1000000) lanes->way.plain = lanes->way.plain == 1;
  lanes->value.inf = hui_pack32(hui_unpack(spec, lanes->code.inf));
  lanes->value.neg_inf = hui_pack32(hui_unpack(spec, lanes->code.neg_inf));
  lanes->value.nan = hui_pack32(hui_unpack(spec, lanes->code.nan));
  lanes->value.below = hui_pack32(hui_unpack(spec, lanes->code.below));
  lanes->value.overflow = hui_pack32(hui_unpack(spec, lanes->code.overflow));
  lanes->value.neg_overflow = hui_pack32(hui_unpack(spec, lanes->code.neg_overflow));
  if (spec->round >= HU_SRA) {
    int32_t spare = lanes->d0 - spec->bits; /* fraction digits below the random ones */
    lanes->stochastic.keep = spare > 0 ? ~(((uint32_t)1 << spare) - 1) : 0xFFFFFFFFu;
    lanes->stochastic.half = spare > 0 ? (uint32_t)1 << (spare - 1) : 0;
  }
  return 1;
}

/* Rounding to odd in binary32 first changes nothing if binary32 has two digits more than any rounding looks at: than
 * the grid, the grid of tininess (one binade finer), and the random digits. */
static inline int hui_odd_is_enough(const hu_spec *spec) {
  int32_t digits = spec->m + 2 + (spec->round >= HU_SRA ? spec->bits : 0);
  return digits <= 23 && spec->emin - digits >= -148 && spec->emin <= 120;
}

#endif
