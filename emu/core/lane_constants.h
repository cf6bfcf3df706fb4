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
static inline uint32_t hui_last_step(const hu_spec *s, int32_t digits, uint32_t sign) {
  uint32_t one = (uint32_t)1 << digits, odd = s->m > 0 || s->zero != HU_ZERO_FIELD;
  for (uint32_t k = 0; k < 3; k++) { /* the least fraction that goes up is 1, the half or just above it */
    uint32_t frac = k == 0 ? 1 : (one >> 1) + (k == 2);
    if (hui_round_up(s, frac, 0, digits, odd, sign, 0)) return frac;
  }
  return one;
}

/* Which middle way serves: parity must be that of the last digit (m > 0), and of the sums of way 2 the largest, below
 * 2^(1 + d0) times the binade of max, must be a float, as must 2^32 / Q for the stochastic modes. */
static inline uint8_t hui_middle_of(const hu_lane_constants *t) {
  int32_t stochastic = t->round >= HU_SRA;
  if (!t->way.quick || t->m == 0 || t->d0 < 2 || t->zero != HU_ZERO_FIELD || t->subnormal == HU_SUBNORMAL_NONE)
    return 0;
  if (t->low == 1 && !stochastic) return 1;
  if (t->low < (stochastic ? 32 + t->m : 1)) return 0;
  return (int32_t)(t->max_pattern >> 23) + t->d0 <= 253 ? 2 : 0;
}

/* What a deterministic mode adds to a magnitude before its lowest d digits are dropped, 1 <= d < 32: base of the
 * operand's sign, plus step (modulo 2^32) where the last digit kept is 1. */
typedef struct hu_addend {
  uint32_t base[2], step;
} hu_addend;
HU_FN hu_addend hui_addend_of(uint32_t round, int32_t d) {
  uint32_t rest = ((uint32_t)1 << d) - 1, half = (uint32_t)1 << (d - 1);
  hu_addend z = {{0, 0}, 0}; /* toward zero nothing; the stochastic modes add random digits */
  switch (round) {
    case HU_RNE: z.base[0] = z.base[1] = half - 1, z.step = 1; break;
    case HU_RNA: z.base[0] = z.base[1] = half; break;
    case HU_RNZ: z.base[0] = z.base[1] = half - 1; break;
    case HU_RTP: z.base[0] = rest; break;
    case HU_RTN: z.base[1] = rest; break;
    case HU_RAZ: z.base[0] = z.base[1] = rest; break;
    case HU_RTO: z.base[0] = z.base[1] = rest, z.step = 0 - rest; break; /* up if the last digit kept is 0 */
    default: break;
  }
  return z;
}

/* The direction in which the sums of way 2 are rounded (emu/simd/round.h). */
enum { HU_LANE_NEAREST = 0, HU_LANE_DOWN = 1, HU_LANE_UP = 2, HU_LANE_ZERO = 3 }; /* as x86 counts them */
HU_FN uint32_t hui_direction_of(int round) {
  if (round == HU_RNE) return HU_LANE_NEAREST;
  if (round == HU_RTN) return HU_LANE_DOWN;
  return round == HU_RNZ || round == HU_RTP || round == HU_RAZ ? HU_LANE_UP : HU_LANE_ZERO;
}

/* 1 if lanes can do what s asks. */
static inline int hui_lane_constants_of(hu_lane_constants *t, const hu_spec *s) {
  int32_t low = s->emin + 127;
  memset(t, 0, sizeof *t);
  if (s->m > 22 || s->mag_mask > 0x3FFFFFFF) return 0;
  if ((s->round == HU_SRB || s->round == HU_SRC) && s->bits == 32) return 0;
  t->m = s->m;
  t->d0 = 23 - s->m;
  t->low = low;
  t->hidden = (int32_t)1 << s->m;
  t->max_code = s->max_code;
  t->mag_mask = s->mag_mask;
  t->has_inf = s->has_inf;
  t->nan_at_negzero = s->nan == HU_NAN_NEGZERO;
  t->inf_code = s->inf_code;
  t->nan_code = s->nan_code;
  t->sign_code = s->sign_mask;
  t->sign_shift = 0;
  while (s->sign_mask && s->sign_mask << t->sign_shift != 0x80000000u) t->sign_shift++;
  t->round = s->round;
  t->bits = s->bits;
  t->tiny = s->tiny;
  t->zero = s->zero;
  t->subnormal = s->subnormal;
  t->negzero = s->negzero;
  t->is_unsigned = s->sign_mask == 0;
  t->flush_below = s->subnormal != HU_SUBNORMAL_FLUSH ? 0 : s->zero == HU_ZERO_CODE ? 1 : t->hidden;
  t->code.nan = hui_from_nan(s, &t->events.nan);
  t->code.inf = hui_from_inf(s, 0, &t->events.inf);
  t->code.neg_inf = hui_from_inf(s, 1, &t->events.neg_inf);
  t->code.below = hui_from_below(s, 0, &t->events.below);
  t->events.below |= HU_EVENT_INEXACT;
  t->code.overflow = hui_from_overflow(s, 0, &t->events.overflow);
  t->code.neg_overflow = hui_from_overflow(s, 1, &t->events.neg_overflow);
  /* zero = field: the code of pattern p is (p >> d0) - ((low - 1) << m); where field 0 is a normal binade, one binade
   * more. */
  int32_t base = s->zero == HU_ZERO_FIELD ? low - 1 : low;
  t->quick.base = (uint32_t)base << s->m;
  t->odd0 = s->m == 0 && (base & 1);
  int32_t lo = s->zero == HU_ZERO_CODE ? low + 1 : low;
  int64_t hi = ((int64_t)s->max_code << t->d0) + (int64_t)base * 0x800000; /* the pattern of max */
  if (hi > 0x7F7FFFFF) hi = 0x7F7FFFFF;
  t->quick_zero = low >= 1 && s->zero == HU_ZERO_FIELD ? 0xFFFFFFFFu : 0;
  if (lo < 1) lo = 1; /* binary32's normal numbers are all normal in such a format */
  t->way.quick = lo <= 254 && hi >= (int64_t)lo << 23;
  t->max_pattern = (uint32_t)hi;
  /* One step beyond max; not where max is subnormal, and not in unsigned formats, whose negative values are another
   * matter. */
  int64_t next = hi + ((int64_t)1 << t->d0);
  if (t->way.quick && s->sign_mask && next <= 0x7F7FFFFF) t->beyond = (uint32_t)next;
  if (t->way.quick) {
    t->quick.lo = (uint32_t)lo << 23;
    t->quick.span = (uint32_t)hi - t->quick.lo;
  }
  t->quick.mask = t->is_unsigned ? 0xFFFFFFFFu : 0x7FFFFFFFu;
  t->quick.zero_mask = s->negzero ? 0x7FFFFFFFu : 0xFFFFFFFFu;
  t->not_tiny = t->not_tiny_neg = low >= 1 && low <= 254 ? (uint32_t)low << 23 : 0;
  if (s->tiny == HU_TINY_AFTER && s->round < HU_SRA && t->not_tiny && t->d0 >= 2) {
    int32_t digits = low == 1 ? t->d0 - 1 : t->d0; /* binary32's own subnormals have one digit less there */
    t->not_tiny -= ((uint32_t)1 << digits) - hui_last_step(s, digits, 0);
    t->not_tiny_neg -= ((uint32_t)1 << digits) - hui_last_step(s, digits, 1);
  }
  t->way.middle = hui_middle_of(t);
  if (s->zero == HU_ZERO_FIELD && s->subnormal == HU_SUBNORMAL_GRADUAL)
    t->way.plain = low == 1 ? 1 : low > s->m ? 2 : 0;
  if (s->max_code >= 0x1000000) t->way.plain = t->way.plain == 1;
  t->value.inf = hui_pack32(hui_unpack(s, t->code.inf));
  t->value.neg_inf = hui_pack32(hui_unpack(s, t->code.neg_inf));
  t->value.nan = hui_pack32(hui_unpack(s, t->code.nan));
  t->value.below = hui_pack32(hui_unpack(s, t->code.below));
  t->value.overflow = hui_pack32(hui_unpack(s, t->code.overflow));
  t->value.neg_overflow = hui_pack32(hui_unpack(s, t->code.neg_overflow));
  if (s->round >= HU_SRA) {
    int32_t spare = t->d0 - s->bits; /* fraction digits below the random ones */
    t->stochastic.keep = spare > 0 ? ~(((uint32_t)1 << spare) - 1) : 0xFFFFFFFFu;
    t->stochastic.half = spare > 0 ? (uint32_t)1 << (spare - 1) : 0;
  }
  return 1;
}

/* Rounding to odd in binary32 first changes nothing if binary32 has two digits more than any rounding looks at: than
 * the grid, the grid of tininess (one binade finer), and the random digits. */
static inline int hui_odd_is_enough(const hu_spec *s) {
  int32_t digits = s->m + 2 + (s->round >= HU_SRA ? s->bits : 0);
  return digits <= 23 && s->emin - digits >= -148 && s->emin <= 120;
}

#endif
