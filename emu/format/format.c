/* SPDX-License-Identifier: MIT */
/* Descriptors: which are formats, what follows from them, and the families of formats. */
#include "halfulp/format.h"

#include "emu/core/round.h"

static const char *check_axes(hu_format f) {
  if (f.sign > 1) return "sign: neither 0 nor 1";
  if (f.e > 11) return "e: more than 11 exponent bits";
  if (f.m > 30) return "m: more than 30 trailing significand bits";
  if (f.e + f.m == 0) return "m: no bits below the sign";
  if (f.sign + f.e + f.m > 32) return "e: sign, e and m make more than 32 bits";
  if (f.zero > HU_ZERO_NONE) return "zero: unknown value";
  if (f.subnormal > HU_SUBNORMAL_FLUSH) return "subnormal: unknown value";
  if (f.inf > HU_INF_TOP) return "inf: unknown value";
  if (f.nan > HU_NAN_TOP) return "nan: unknown value";
  if (f.negzero > 1) return "negzero: neither 0 nor 1";
  if (f.overflow > HU_OVERFLOW_MAX) return "overflow: unknown value";
  if (f.negative > HU_NEGATIVE_STOP) return "negative: unknown value";
  return NULL;
}

static const char *check_zero(hu_format f) {
  if (f.zero == HU_ZERO_CODE && f.subnormal != HU_SUBNORMAL_FLUSH) return "subnormal: zero=code needs flush";
  if (f.zero == HU_ZERO_NONE && f.sign) return "zero: none needs an unsigned format";
  if (f.zero == HU_ZERO_NONE && f.subnormal != HU_SUBNORMAL_NONE) return "subnormal: zero=none needs none";
  if (f.e == 0 && f.zero != HU_ZERO_FIELD) return "zero: e = 0 needs field";
  if (f.e == 0 && f.subnormal != HU_SUBNORMAL_GRADUAL) return "subnormal: e = 0 needs gradual";
  if (f.negzero && !f.sign) return "negzero: an unsigned format has none";
  return NULL;
}

static const char *check_specials(hu_format f) {
  int nan_ieee = f.nan == HU_NAN_IEEE || f.nan == HU_NAN_IEEE_ONES;
  if (f.e == 0 && f.inf == HU_INF_IEEE) return "inf: ieee needs exponent bits";
  if (f.e == 0 && nan_ieee) return "nan: ieee needs exponent bits";
  if (f.inf == HU_INF_IEEE && f.m > 0 && !nan_ieee) return "nan: infinities at ieee need NaN at ieee or ieee1";
  if (f.inf == HU_INF_IEEE && f.m == 0 && f.nan != HU_NAN_NONE && f.nan != HU_NAN_NEGZERO)
    return "nan: infinities at ieee and m = 0 leave no such code";
  if (f.inf == HU_INF_TOP && f.nan != HU_NAN_NONE && f.nan != HU_NAN_NEGZERO && f.nan != HU_NAN_TOP)
    return "nan: infinities at top need NaN at none, negzero or top";
  if (!f.sign && (f.nan == HU_NAN_ONES || f.nan == HU_NAN_NEGZERO)) return "nan: ones and negzero need a sign";
  if (f.sign && f.nan == HU_NAN_TOP) return "nan: top needs an unsigned format";
  if (f.nan == HU_NAN_NEGZERO && f.negzero) return "negzero: its code is NaN";
  if (f.overflow == HU_OVERFLOW_INF && f.inf == HU_INF_NONE) return "overflow: inf needs infinities";
  if (f.overflow == HU_OVERFLOW_NAN && f.nan == HU_NAN_NONE) return "overflow: nan needs NaN codes";
  if (f.sign && f.negative != HU_NEGATIVE_NAN) return "negative: a signed format needs 0";
  return NULL;
}

/* Returns the smallest positive magnitude code with a value of its own. */
static uint32_t smallest_code(hu_format f) {
  if (f.zero == HU_ZERO_NONE) return 0;
  if (f.zero == HU_ZERO_CODE || f.subnormal == HU_SUBNORMAL_GRADUAL) return 1;
  return (uint32_t)1 << f.m;
}

static const char *check_range(hu_format f) {
  hu_mode rne = {0};
  hu_spec s = hui_spec_of(f, rne);
  uint32_t min = smallest_code(f);
  uint64_t finite = s.has_inf ? s.inf_code : s.nan_from; /* magnitude codes below are finite */
  if (finite <= min) return "e: no positive finite value is left";
  hu_num high = hui_unpack(&s, s.max_code);
  if (s.emin - f.m < -1074) return "b: the smallest values are below binary64's";
  if (high.exp + 63 - hui_clz64(high.sig) > 1023) return "b: the largest values are beyond binary64's";
  return NULL;
}

hu_status hu_format_check(hu_format f, const char **axis) {
  const char *wrong = check_axes(f);
  if (!wrong) wrong = check_zero(f);
  if (!wrong) wrong = check_specials(f);
  if (!wrong) wrong = check_range(f);
  if (!wrong) return HU_OK;
  if (axis) *axis = wrong;
  return HU_E_FORMAT;
}

static double value_of(const hu_spec *s, uint32_t code) {
  uint64_t u = hui_pack64(hui_unpack(s, code));
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static uint64_t count_nan_codes(hu_format f, const hu_spec *s) {
  if (f.nan == HU_NAN_NEGZERO) return 1;
  return ((uint64_t)s->mag_mask + 1 - s->nan_from) << (f.sign ? 1 : 0);
}

/* Counts codes that hold a finite value of their own: not the ones read as another zero. */
static uint64_t count_finite_codes(hu_format f, const hu_spec *s) {
  uint64_t n = (uint64_t)s->max_code + 1;
  if (f.zero == HU_ZERO_FIELD && f.subnormal != HU_SUBNORMAL_GRADUAL) n -= ((uint64_t)1 << f.m) - 1;
  if (!f.sign) return n;
  return 2 * n - !f.negzero;
}

hu_limits hu_limits_of(hu_format f) {
  hu_limits l;
  memset(&l, 0, sizeof l);
  if (hu_format_check(f, NULL) != HU_OK) return l;
  hu_mode rne = {0};
  hu_spec s = hui_spec_of(f, rne);
  l.width = (uint32_t)f.sign + f.e + f.m;
  l.storage = 8u * s.code_bytes;
  l.sign_mask = s.sign_mask;
  l.max_code = s.max_code;
  l.min_code = smallest_code(f);
  l.min_normal_code = f.e == 0 ? HU_NO_CODE : f.zero == HU_ZERO_FIELD ? (uint32_t)1 << f.m : l.min_code;
  l.inf_code = s.inf_code;
  l.nan_code = s.has_nan ? s.nan_code : HU_NO_CODE;
  l.has_nan = s.has_nan;
  l.bias = s.bias;
  l.emin = s.emin;
  l.emax = s.emax;
  l.max = value_of(&s, s.max_code);
  l.min = value_of(&s, l.min_code);
  /* Where max itself is subnormal (every exponent field but 0 is taken by specials) there is no normal value. */
  if (l.min_normal_code != HU_NO_CODE && l.min_normal_code > s.max_code) l.min_normal_code = HU_NO_CODE;
  l.min_normal = l.min_normal_code == HU_NO_CODE ? 0 : value_of(&s, l.min_normal_code);
  l.low = f.sign ? -l.max : f.zero == HU_ZERO_NONE ? l.min : 0;
  l.finite_codes = count_finite_codes(f, &s);
  l.nan_codes = count_nan_codes(f, &s);
  return l;
}

int hu_format_equal(hu_format a, hu_format b) {
  return a.sign == b.sign && a.e == b.e && a.m == b.m && a.zero == b.zero && a.subnormal == b.subnormal &&
         a.inf == b.inf && a.nan == b.nan && a.negzero == b.negzero && a.overflow == b.overflow &&
         a.negative == b.negative && a.b == b.b;
}

int hu_format_fits_binary32(hu_format f) {
  const hu_mode rne = {0};
  if (hu_format_check(f, NULL) != HU_OK) return 0;
  return hui_spec_of(f, rne).fits_binary32;
}

static hu_format family(unsigned sign, unsigned e, unsigned m, int b) {
  hu_format f;
  memset(&f, 0, sizeof f);
  f.sign = (uint8_t)sign;
  f.e = (uint8_t)(e > 255 ? 255 : e);
  f.m = (uint8_t)(m > 255 ? 255 : m);
  f.b = (int16_t)b;
  if (b < INT16_MIN || b > INT16_MAX) f.e = 255; /* refused by hu_format_check, not wrapped around */
  return f;
}

hu_format hu_format_ieee(unsigned e, unsigned m, int b) {
  hu_format f = family(1, e, m, b);
  f.inf = HU_INF_IEEE;
  f.nan = m ? HU_NAN_IEEE : HU_NAN_NONE;
  f.negzero = 1;
  f.overflow = HU_OVERFLOW_INF;
  return f;
}

hu_format hu_format_finite(unsigned e, unsigned m, int b) {
  hu_format f = family(1, e, m, b);
  f.negzero = 1;
  f.overflow = HU_OVERFLOW_MAX;
  return f;
}

hu_format hu_format_fn(unsigned e, unsigned m, int b) {
  hu_format f = family(1, e, m, b);
  f.nan = HU_NAN_ONES;
  f.negzero = 1;
  f.overflow = HU_OVERFLOW_NAN;
  return f;
}

hu_format hu_format_fnuz(unsigned e, unsigned m, int b) {
  hu_format f = family(1, e, m, b);
  f.nan = HU_NAN_NEGZERO;
  f.overflow = HU_OVERFLOW_NAN;
  return f;
}

hu_format hu_format_p3109(unsigned k, unsigned p, int is_signed, int extended) {
  unsigned sign = is_signed != 0;
  if (k < 3 || k > 16 || p < 1 || p > k - sign) return family(255, 0, 0, 0);
  hu_format f = family(sign, k - p + !sign, p - 1, 1);
  f.inf = extended ? HU_INF_TOP : HU_INF_NONE;
  f.nan = sign ? HU_NAN_NEGZERO : HU_NAN_TOP;
  f.overflow = extended ? HU_OVERFLOW_INF : HU_OVERFLOW_MAX;
  if (!sign) f.negative = HU_NEGATIVE_STOP;
  return f;
}
