/* SPDX-License-Identifier: MIT */
/* emu/core/round.h - unpack, integers, ONE round-and-pack.
 *
 * The whole of docs/numerics.md sections 1 to 5 for one value, in integers only: a value enters as bits and leaves as
 * bits. C11, C++17 and CUDA compile the same text. Every operation of the library ends in hui_round. */
#ifndef HALFULP_EMU_CORE_ROUND_H
#define HALFULP_EMU_CORE_ROUND_H

#include "port.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

/* A format and a mode unfolded, once a call. Plain data: goes to a kernel by value. */
typedef struct hu_spec {
  uint64_t nan_from;  /* magnitude codes from here on are NaN (2^32 if none; FNUZ-like NaN apart) */
  uint32_t sign_mask; /* the sign bit, 0 if unsigned */
  uint32_t mag_mask;  /* all bits below the sign */
  uint32_t max_code, inf_code, nan_code;
  int32_t bias, emin, emax;          /* emax: 2^emax is at most the largest number, 2^(emax+1) is not */
  uint8_t code_bytes, fits_binary32; /* of a code in an array: 1, 2 or 4; whether binary32 has every value */
  uint8_t m, zero, subnormal, negzero, overflow, negative, nan, has_inf, has_nan, nan_signed, odd_stops;
  uint8_t round, bits, saturate, tiny, nan_to, nan_fma; /* saturate is never HU_SAT_DEFAULT here */
} hu_spec;

/* A number: (-1)^sign (sig + s) 2^exp with 0 < s < 1 if sticky, else s = 0. Where sticky is set, sig >= 2^63, so that
 * every mode finds the digits it looks at. */
enum { HU_KIND_ZERO = 0, HU_KIND_FINITE = 1, HU_KIND_INF = 2, HU_KIND_NAN = 3 };
typedef struct hu_num {
  uint64_t sig;
  int32_t exp;
  uint8_t kind, sign, sticky;
} hu_num;

HU_FN int32_t hui_format_bias(hu_format format) {
  return format.e == 0 ? format.b : (1 << (format.e - 1)) - 1 + format.b;
}

/* Returns how many bytes a code of so many digits has in an array. */
HU_FN uint32_t hui_bytes_of_width(uint32_t width) { return width <= 8 ? 1 : width <= 16 ? 2 : 4; }
HU_FN uint32_t hui_code_bytes(hu_format format) {
  return hui_bytes_of_width((uint32_t)format.sign + format.e + format.m);
}

/* The exponent of the largest number. Where field 0 holds it, all numbers are subnormal. hu_format_check asks about
 * formats that hold no finite number, whose max_code is 2^32 - 1: the sum wraps there and is not used. */
HU_FN int32_t hui_spec_emax(const hu_spec *spec) {
  uint32_t field = spec->max_code >> spec->m;
  if (spec->zero != HU_ZERO_FIELD) return (int32_t)((uint32_t)spec->emin + field);
  if (field == 0) return spec->emin - spec->m + 63 - hui_clz64(spec->max_code | 1);
  return (int32_t)((uint32_t)spec->emin + field - 1);
}

/* ---- what the axes of a format say of its values ---- */

HU_FN uint32_t hui_has_zero(const hu_spec *spec) { return spec->zero != HU_ZERO_NONE; }
/* Are there numbers below 2^emin other than zero? */
HU_FN uint32_t hui_has_subnormals(const hu_spec *spec) {
  return spec->zero == HU_ZERO_FIELD && spec->subnormal == HU_SUBNORMAL_GRADUAL;
}
/* Is 2^emin the least positive number although codes lie between it and zero? They are other codes of zero. */
HU_FN uint32_t hui_has_gap(const hu_spec *spec) {
  return spec->zero == HU_ZERO_FIELD && spec->subnormal != HU_SUBNORMAL_GRADUAL;
}
/* Is the magnitude code below those of normal numbers? */
HU_FN uint32_t hui_is_below_normal(const hu_spec *spec, uint32_t c) {
  return spec->zero == HU_ZERO_FIELD && c < (uint32_t)1 << spec->m;
}
/* The least exponent of which the power of two is a normal number: the code of 2^emin may be that of zero. */
HU_FN int32_t hui_first_power(const hu_spec *spec) { return spec->emin + (spec->zero == HU_ZERO_CODE); }
/* Has the format a sign, zero with exponent field 0 and gradual subnormals? Most fast ways ask for these first. */
HU_FN uint32_t hui_spec_is_plain(const hu_spec *spec) { return spec->sign_mask != 0 && hui_has_subnormals(spec); }

HU_FN hu_spec hui_spec_of(hu_format format, hu_mode mode) {
  hu_spec spec;
  uint32_t mag = (uint32_t)format.e + format.m;
  uint32_t field = ((uint32_t)1 << format.e) - 1;
  spec.mag_mask = (uint32_t)(((uint64_t)1 << mag) - 1);
  spec.sign_mask = format.sign ? (uint32_t)1 << mag : 0;
  spec.bias = hui_format_bias(format);
  spec.emin = format.zero == HU_ZERO_FIELD ? 1 - spec.bias : -spec.bias;
  spec.m = format.m;
  spec.zero = format.zero;
  spec.subnormal = format.subnormal;
  spec.negzero = format.negzero;
  spec.overflow = format.overflow;
  spec.negative = format.negative;
  spec.nan = format.nan;
  spec.has_inf = format.inf != HU_INF_NONE;
  spec.has_nan = format.nan != HU_NAN_NONE;
  spec.nan_signed =
      format.sign && (format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES || format.nan == HU_NAN_ONES);
  spec.nan_from = (uint64_t)spec.mag_mask + 1;
  spec.inf_code = HU_NO_CODE;
  spec.nan_code = 0;
  if (format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES) {
    spec.nan_from = ((uint64_t)field << format.m) + (format.inf == HU_INF_IEEE);
    spec.nan_code = format.nan == HU_NAN_IEEE && format.m > 0 ? (field << format.m) | ((uint32_t)1 << (format.m - 1))
                                                              : spec.mag_mask;
  } else if (format.nan == HU_NAN_ONES || format.nan == HU_NAN_TOP) {
    spec.nan_from = spec.mag_mask;
    spec.nan_code = spec.mag_mask;
  } else if (format.nan == HU_NAN_NEGZERO) {
    spec.nan_code = spec.sign_mask;
  }
  spec.max_code = (uint32_t)(spec.nan_from - 1);
  if (format.inf == HU_INF_IEEE) spec.inf_code = field << format.m;
  if (format.inf == HU_INF_TOP) spec.inf_code = (uint32_t)(spec.nan_from - 1);
  if (spec.has_inf) spec.max_code = spec.inf_code - 1;
  spec.odd_stops = format.inf == HU_INF_IEEE && spec.max_code & 1;
  spec.emax = hui_spec_emax(&spec);
  spec.code_bytes = (uint8_t)hui_code_bytes(format);
  spec.fits_binary32 = spec.m <= 23 && spec.emax <= 127 && spec.emin - spec.m >= -149;
  spec.round = mode.round;
  spec.bits = mode.bits;
  spec.tiny = mode.tiny;
  spec.nan_to = mode.nan;
  spec.nan_fma = mode.nan_fma;
  spec.saturate = mode.saturate;
  if (mode.saturate == HU_SAT_DEFAULT) spec.saturate = spec.has_inf ? HU_SAT_NONE : HU_SAT_FINITE;
  return spec;
}

/* ---- unpack ---- */

HU_FN hu_num hui_num_special(uint8_t kind, uint32_t sign) {
  hu_num x;
  x.sig = 0;
  x.exp = 0;
  x.kind = kind;
  x.sign = (uint8_t)sign;
  x.sticky = 0;
  return x;
}

HU_FN hu_num hui_num_finite(uint32_t sign, uint64_t sig, int32_t exp) {
  hu_num x;
  x.sig = sig;
  x.exp = exp;
  x.kind = sig ? HU_KIND_FINITE : HU_KIND_ZERO;
  x.sign = (uint8_t)sign;
  x.sticky = 0;
  return x;
}

/* The k with 2^k <= |x| < 2^(k+1) of a finite number that is not 0. */
HU_FN int32_t hui_exponent(hu_num x) { return x.exp + 63 - hui_clz64(x.sig); }

HU_FN hu_num hui_negated(hu_num x) {
  x.sign ^= 1;
  return x;
}

/* Is it infinity times zero, in either order? */
HU_FN uint32_t hui_infinity_times_zero(hu_num a, hu_num b) {
  return (a.kind == HU_KIND_INF && b.kind == HU_KIND_ZERO) || (a.kind == HU_KIND_ZERO && b.kind == HU_KIND_INF);
}

HU_FN hu_num hui_unpack32(uint32_t pattern) {
  uint32_t sign = pattern >> 31, field = (pattern >> 23) & 0xFF, frac = pattern & 0x7FFFFF;
  if (field == 0xFF) return hui_num_special(frac ? HU_KIND_NAN : HU_KIND_INF, sign);
  if (field == 0) return hui_num_finite(sign, frac, -149);
  return hui_num_finite(sign, frac | 0x800000, (int32_t)field - 150);
}

HU_FN hu_num hui_unpack64(uint64_t pattern) {
  uint32_t sign = (uint32_t)(pattern >> 63), field = (uint32_t)(pattern >> 52) & 0x7FF;
  uint64_t frac = pattern & 0xFFFFFFFFFFFFFu;
  if (field == 0x7FF) return hui_num_special(frac ? HU_KIND_NAN : HU_KIND_INF, sign);
  if (field == 0) return hui_num_finite(sign, frac, -1074);
  return hui_num_finite(sign, frac | 0x10000000000000u, (int32_t)field - 1075);
}

HU_FN hu_num hui_unpack(const hu_spec *spec, uint32_t code) {
  uint32_t c = code & spec->mag_mask, sign = (code & spec->sign_mask) != 0;
  uint32_t field = c >> spec->m, frac = c & (((uint32_t)1 << spec->m) - 1);
  if (c >= spec->nan_from) return hui_num_special(HU_KIND_NAN, sign);
  if (c == 0 && sign && !spec->negzero)
    return hui_num_special(spec->nan == HU_NAN_NEGZERO ? HU_KIND_NAN : HU_KIND_ZERO, 0);
  if (spec->has_inf && c == spec->inf_code) return hui_num_special(HU_KIND_INF, sign);
  if (spec->zero == HU_ZERO_FIELD && field == 0) {
    if (spec->subnormal != HU_SUBNORMAL_GRADUAL) frac = 0;
    return hui_num_finite(frac == 0 && !spec->negzero ? 0 : sign, frac, spec->emin - spec->m);
  }
  if (spec->zero == HU_ZERO_CODE && c == 0) return hui_num_special(HU_KIND_ZERO, sign);
  return hui_num_finite(sign, frac | ((uint32_t)1 << spec->m), (int32_t)field - spec->bias - spec->m);
}

/* ---- round ---- */

/* Is the fraction (sig mod 2^cut + sticky) / 2^cut below, at or above one half? -1, 0, 1. cut >= 1. */
HU_FN int32_t hui_against_half(uint64_t sig, uint32_t sticky, int32_t cut) {
  if (cut > 64) return -1;
  uint64_t half = (uint64_t)1 << (cut - 1), rem = sig & (half - 1 + half);
  if (rem != half) return rem > half ? 1 : -1;
  return sticky != 0;
}

HU_FN uint64_t hui_shift_right(uint64_t x, int32_t n) { return n > 63 ? 0 : x >> n; }

/* floor(nu 2^n) for nu = (sig mod 2^cut) / 2^cut, cut >= n. */
HU_FN uint64_t hui_leading(uint64_t sig, int32_t cut, int32_t n) {
  uint64_t rem = cut > 63 ? sig : sig & (((uint64_t)1 << cut) - 1);
  return hui_shift_right(rem, cut - n);
}

HU_FN int32_t hui_stochastic_up(const hu_spec *spec, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random) {
  int32_t n = spec->bits;
  uint64_t one = (uint64_t)1 << n, r = random & (one - 1);
  if (spec->round == HU_SRB) return hui_leading(sig, cut, n + 1) + 2 * r + 1 >= 2 * one;
  uint64_t z = hui_leading(sig, cut, n);
  if (spec->round == HU_SRC) {
    int32_t h = hui_against_half(sig, sticky, cut - n);
    z += h > 0 || (h == 0 && (z & 1));
  }
  return z + r >= one;
}

/* Does the magnitude go to the upper candidate? The lower `cut` bits of sig (1 <= cut, may pass 64) and sticky are the
 * fraction, odd the parity of the lower candidate. sig >= 2^63, so cut >= 33 as precision is at most 31: N = 32 random
 * bits and the bit behind them are all at hand. */
HU_FN int32_t hui_round_up(const hu_spec *spec, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t odd, uint32_t sign,
                           uint32_t random) {
  int32_t inexact = sticky || (cut > 63 ? sig : sig & (((uint64_t)1 << cut) - 1)) != 0;
  if (!inexact) return 0;
  switch (spec->round) {
    case HU_RNE: {
      int32_t h = hui_against_half(sig, sticky, cut);
      return h > 0 || (h == 0 && odd);
    }
    case HU_RNA: return hui_against_half(sig, sticky, cut) >= 0;
    case HU_RNZ: return hui_against_half(sig, sticky, cut) > 0;
    case HU_RTZ: return 0;
    case HU_RTP: return !sign;
    case HU_RTN: return sign != 0;
    case HU_RAZ: return 1;
    case HU_RTO: return !odd;
    default: return hui_stochastic_up(spec, sig, sticky, cut, random);
  }
}

HU_FN uint32_t hui_nan_signed(const hu_spec *spec, uint32_t sign) {
  return spec->nan_code | (spec->nan_signed && sign ? spec->sign_mask : 0);
}

HU_FN uint32_t hui_signed(const hu_spec *spec, uint32_t magnitude, uint32_t sign) {
  return magnitude | (sign && (magnitude || spec->negzero) ? spec->sign_mask : 0);
}

HU_FN uint32_t hui_from_nan(const hu_spec *spec, uint32_t *events) {
  *events |= HU_EVENT_NAN_IN;
  if (spec->has_nan) return spec->nan_code;
  if (spec->nan_to == HU_NAN_TO_ERROR) *events |= HU_EVENT_INVALID;
  return spec->nan_to == HU_NAN_TO_ZERO ? 0 : spec->max_code;
}

/* Returns the code of a number below the range of an unsigned format, or of an infinity there. */
HU_FN uint32_t hui_from_below(const hu_spec *spec, uint32_t infinite, uint32_t *events) {
  int32_t stops = spec->negative == HU_NEGATIVE_STOP && !infinite && (spec->round == HU_RTZ || spec->round == HU_RTP);
  *events |= HU_EVENT_INVALID;
  if (spec->saturate == HU_SAT_NONE && spec->negative != HU_NEGATIVE_LOW && spec->has_nan && !stops)
    return spec->nan_code;
  *events |= HU_EVENT_SATURATED;
  return 0;
}

HU_FN uint32_t hui_from_inf(const hu_spec *spec, uint32_t sign, uint32_t *events) {
  *events |= HU_EVENT_INF_IN;
  if (sign && !spec->sign_mask) return hui_from_below(spec, 1, events);
  if (spec->has_inf && spec->saturate != HU_SAT_FINITE) return hui_signed(spec, spec->inf_code, sign);
  if (spec->saturate == HU_SAT_NONE && spec->overflow == HU_OVERFLOW_NAN) {
    *events |= HU_EVENT_INVALID;
    return hui_nan_signed(spec, sign);
  }
  *events |= HU_EVENT_SATURATED;
  return hui_signed(spec, spec->max_code, sign);
}

/* Do the directed modes stay at max, as IEEE 754 section 7.4 and P3109 have it? `To odd` does so beside the
 * infinities of IEEE 754 alone: P3109 stops it at the largest number of none of its formats. */
HU_FN int32_t hui_stops_at_max(const hu_spec *spec, uint32_t sign) {
  switch (spec->round) {
    case HU_RTZ: return 1;
    case HU_RTP: return sign != 0;
    case HU_RTN: return !sign;
    case HU_RTO: return spec->odd_stops;
    default: return 0;
  }
}

HU_FN uint32_t hui_from_overflow(const hu_spec *spec, uint32_t sign, uint32_t *events) {
  *events |= HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (spec->saturate == HU_SAT_NONE && spec->overflow != HU_OVERFLOW_MAX && !hui_stops_at_max(spec, sign)) {
    return spec->overflow == HU_OVERFLOW_INF ? hui_signed(spec, spec->inf_code, sign) : hui_nan_signed(spec, sign);
  }
  *events |= HU_EVENT_SATURATED;
  return hui_signed(spec, spec->max_code, sign);
}

/* Is the result tiny (docs/numerics.md section 5)? sig is normalised, k its exponent, c the rounded magnitude code
 * before any flush, f the digits kept. */
HU_FN int32_t hui_tiny(const hu_spec *spec, uint64_t sig, uint32_t sticky, uint32_t sign, int32_t k, uint64_t f,
                       int64_t c, uint32_t random) {
  if (spec->zero == HU_ZERO_CODE && k == spec->emin)
    return spec->tiny == HU_TINY_BEFORE ? f == (uint64_t)1 << spec->m : c <= 0;
  if (k != spec->emin - 1 || spec->tiny == HU_TINY_BEFORE || spec->zero == HU_ZERO_CODE) return k < spec->emin;
  /* One binade below: rounding to full precision may still carry into the smallest normal value. */
  int32_t cut = 63 - spec->m;
  uint64_t full = sig >> cut;
  uint32_t odd = spec->m ? (uint32_t)full & 1 : (uint32_t)(k + spec->bias) & 1;
  full += (uint64_t)hui_round_up(spec, sig, sticky, cut, odd, sign, random);
  return full != (uint64_t)2 << spec->m;
}

HU_FN uint32_t hui_round_finite(const hu_spec *spec, hu_num x, uint32_t random, uint32_t *events) {
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
  uint64_t sig = x.sig << lead;
  int32_t above = k - spec->emin; /* binades above the lowest normal one */
  if (above < 0 && spec->zero == HU_ZERO_NONE) {
    if (x.sign) {
      *events |= HU_EVENT_INEXACT;
      return hui_from_below(spec, 0, events);
    }
    *events |=
        HU_EVENT_INEXACT | (hui_tiny(spec, sig, x.sticky, 0, k, 0, 0, random) ? (uint32_t)HU_EVENT_UNDERFLOW : 0);
    return 0;
  }
  /* cut: the digits of sig below the grid; at the bottom the grid stops getting finer (or is one whole step). */
  int32_t cut = 63 - spec->m;
  if (above < 0) cut += (spec->subnormal == HU_SUBNORMAL_NONE ? spec->m : 0) - above;
  uint64_t f = hui_shift_right(sig, cut);
  int64_t hidden = (int64_t)1 << spec->m, field = above + (spec->zero == HU_ZERO_FIELD);
  int64_t c = (int64_t)f - (spec->zero == HU_ZERO_CODE ? hidden : 0);
  if (above >= 0) c = (field << spec->m) + ((int64_t)f - hidden);
  uint32_t odd = spec->m ? (uint32_t)f & 1 : f != 0 && (field & 1);
  uint32_t inexact = x.sticky || (cut > 63 ? sig : sig & (((uint64_t)1 << cut) - 1)) != 0;
  int32_t up = hui_round_up(spec, sig, x.sticky, cut, odd, x.sign, random);
  if (above < 0 && spec->subnormal == HU_SUBNORMAL_NONE) {
    c = up ? hidden : 0;
  } else {
    c += up;
  }
  int32_t tiny = hui_tiny(spec, sig, x.sticky, x.sign, k, f, c, random);
  if (spec->subnormal == HU_SUBNORMAL_FLUSH && c < (spec->zero == HU_ZERO_CODE ? 1 : hidden)) {
    c = 0;
    inexact = 1;
  }
  if (x.sign && !spec->sign_mask && (c || spec->zero == HU_ZERO_NONE)) {
    *events |= HU_EVENT_INEXACT;
    return hui_from_below(spec, 0, events);
  }
  if (c > (int64_t)spec->max_code) return hui_from_overflow(spec, x.sign, events);
  *events |= (inexact ? HU_EVENT_INEXACT : 0) | (inexact && tiny ? HU_EVENT_UNDERFLOW : 0);
  if (c == 0 && spec->zero != HU_ZERO_NONE) *events |= HU_EVENT_TO_ZERO;
  if (c > 0 && c < hidden && spec->zero == HU_ZERO_FIELD) *events |= HU_EVENT_SUBNORMAL;
  return hui_signed(spec, (uint32_t)c, x.sign);
}

/* The code of x in the format and mode of spec; sets (not adds) *events. */
HU_FN uint32_t hui_round(const hu_spec *spec, hu_num x, uint32_t random, uint32_t *events) {
  *events = 0;
  switch (x.kind) {
    case HU_KIND_NAN: return hui_from_nan(spec, events);
    case HU_KIND_INF: return hui_from_inf(spec, x.sign, events);
    case HU_KIND_ZERO:
      if (spec->zero == HU_ZERO_NONE) *events = HU_EVENT_INEXACT;
      return hui_signed(spec, 0, x.sign);
    default: return hui_round_finite(spec, x, random, events);
  }
}

/* ---- pack into binary32: exact for formats that fit, else one rounding, ties to even ---- */

HU_FN hu_format hui_format_binary32(void) {
  hu_format format;
  memset(&format, 0, sizeof format);
  format.sign = 1;
  format.e = 8;
  format.m = 23;
  format.inf = HU_INF_IEEE;
  format.nan = HU_NAN_IEEE;
  format.negzero = 1;
  return format;
}

HU_FN uint32_t hui_pack32(hu_num x) {
  uint32_t ignored;
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  hu_spec spec = hui_spec_of(hui_format_binary32(), rne);
  return hui_round(&spec, x, 0, &ignored);
}

/* ---- pack into binary64: exact for every value of every format ---- */

HU_FN uint64_t hui_pack64(hu_num x) {
  uint64_t sign = (uint64_t)x.sign << 63;
  if (x.kind == HU_KIND_NAN) return 0x7FF8000000000000u;
  if (x.kind == HU_KIND_INF) return sign | 0x7FF0000000000000u;
  if (x.kind == HU_KIND_ZERO) return sign;
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
  uint64_t sig = (x.sig << lead) >> 11; /* at most 31 digits: nothing is lost here or below */
  if (k < -1022) return sign | (sig >> (-1022 - k));
  return sign | (((uint64_t)(k + 1022) << 52) + sig);
}

/* ---- codes in memory: 1, 2 or 4 bytes each, aligned or not ---- */

HU_FN uint32_t hui_load_code(const uint8_t *x, size_t size) {
  uint16_t h;
  uint32_t w;
  if (size == 1) return *x;
  if (size == 2) {
    memcpy(&h, x, 2);
    return h;
  }
  memcpy(&w, x, 4);
  return w;
}

HU_FN void hui_store_code(uint8_t *z, size_t size, uint32_t code) {
  uint16_t h = (uint16_t)code;
  if (size == 1) *z = (uint8_t)code;
  if (size == 2) memcpy(z, &h, 2);
  if (size == 4) memcpy(z, &code, 4);
}

#endif
