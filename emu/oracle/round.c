/* SPDX-License-Identifier: MIT */
/* emu/oracle/round.c - see round.h. */
#include "emu/oracle/round.h"

hu_status round_check_mode(hu_mode mode) {
  int stochastic = mode.round == HU_SRA || mode.round == HU_SRB || mode.round == HU_SRC;
  if (mode.round >= HU_ROUND_COUNT || mode.saturate > HU_SAT_PROPAGATE || mode.tiny > HU_TINY_BEFORE) return HU_E_MODE;
  if (mode.nan > HU_NAN_TO_ERROR || mode.nan_fma > HU_NAN_FMA_INVALID) return HU_E_MODE;
  if (mode.reserved[0] || mode.reserved[1]) return HU_E_MODE;
  if (stochastic ? mode.bits < 1 || mode.bits > 32 : mode.bits != 0) return HU_E_MODE;
  return HU_OK;
}

/* ---- Results beyond the range (section 3) and for NaN (section 4). */

static unsigned saturation(const table *values, hu_mode mode) {
  if (mode.saturate != HU_SAT_DEFAULT) return mode.saturate;
  return values->format.inf != HU_INF_NONE ? HU_SAT_NONE : HU_SAT_FINITE;
}

static uint32_t with_sign(const table *values, uint64_t magnitude_code, int negative) {
  return (uint32_t)magnitude_code | (negative ? values->sign_mask : 0);
}

/* Returns a NaN made by overflow or by an infinity: with the sign of x where NaNs come in both signs. */
static uint32_t nan_of_sign(const table *values, int negative) {
  int both =
      values->format.nan == HU_NAN_IEEE || values->format.nan == HU_NAN_IEEE_ONES || values->format.nan == HU_NAN_ONES;
  return with_sign(values, values->nan_code, negative && both);
}

/* Does the axis `negative` make a NaN of x? */
static int is_nan_below(const table *values, hu_mode mode, const exact *x) {
  switch (values->format.negative) {
    case HU_NEGATIVE_NAN: return 1;
    case HU_NEGATIVE_LOW: return 0;
    default: return x->kind == CODE_INFINITE || !(mode.round == HU_RTZ || mode.round == HU_RTP);
  }
}

/* Below the range of an unsigned format: its lowest value is code 0, with or without zero. */
static void below_range(const table *values, hu_mode mode, const exact *x, uint32_t *code, uint32_t *events) {
  int to_nan =
      saturation(values, mode) == HU_SAT_NONE && values->format.nan != HU_NAN_NONE && is_nan_below(values, mode, x);
  *code = to_nan ? (uint32_t)values->nan_code : 0;
  *events = HU_EVENT_INVALID;
  if (!to_nan) *events |= HU_EVENT_SATURATED;
  *events |= x->kind == CODE_INFINITE ? HU_EVENT_INF_IN : HU_EVENT_INEXACT;
}

/* Does the mode stay at max where the overflow rule would leave the finite values? */
static int stops_at_max(const table *values, hu_mode mode, int negative) {
  switch (mode.round) {
    case HU_RTZ: return 1;
    case HU_RTP: return negative;
    case HU_RTN: return !negative;
    case HU_RTO: return values->format.inf == HU_INF_IEEE && values->max_code & 1;
    default: return 0;
  }
}

static void overflow(const table *values, hu_mode mode, int negative, uint32_t *code, uint32_t *events) {
  unsigned rule = saturation(values, mode) == HU_SAT_NONE ? values->format.overflow : HU_OVERFLOW_MAX;
  if (stops_at_max(values, mode, negative)) rule = HU_OVERFLOW_MAX;
  *events = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (rule == HU_OVERFLOW_INF)
    *code = with_sign(values, values->inf_code, negative);
  else if (rule == HU_OVERFLOW_NAN)
    *code = nan_of_sign(values, negative);
  else {
    *code = with_sign(values, values->max_code, negative);
    *events |= HU_EVENT_SATURATED;
  }
}

static void infinite(const table *values, hu_mode mode, const exact *x, uint32_t *code, uint32_t *events) {
  unsigned policy = saturation(values, mode);
  if (x->negative && !values->format.sign) {
    below_range(values, mode, x, code, events);
    return;
  }
  *events = HU_EVENT_INF_IN;
  if (policy != HU_SAT_FINITE && values->format.inf != HU_INF_NONE)
    *code = with_sign(values, values->inf_code, x->negative);
  else if (policy == HU_SAT_NONE && values->format.overflow == HU_OVERFLOW_NAN) {
    *code = nan_of_sign(values, x->negative);
    *events |= HU_EVENT_INVALID;
  } else {
    *code = with_sign(values, values->max_code, x->negative);
    *events |= HU_EVENT_SATURATED;
  }
}

static void not_a_number(const table *values, hu_mode mode, uint32_t *code, uint32_t *events) {
  *events = HU_EVENT_NAN_IN;
  if (values->format.nan != HU_NAN_NONE) {
    *code = (uint32_t)values->nan_code;
    return;
  }
  *code = mode.nan == HU_NAN_TO_ZERO ? 0 : values->max_code;
  if (mode.nan == HU_NAN_TO_ERROR) *events |= HU_EVENT_INVALID;
}

/* ---- The rounding decision (section 2). */

/* nu * 2^n as an integer; rounding toward zero is floor here. */
static uint64_t scaled(const exact *nu, unsigned n, mpfr_rnd_t rounding) {
  exact z;
  exact_init(&z, mpfr_get_prec(nu->value));
  (void)mpfr_mul_2ui(z.value, nu->value, n, MPFR_RNDN);
  return mpfr_get_uj(z.value, rounding);
}

int round_takes_upper(hu_mode mode, int negative, const exact *nu, int odd, uint32_t random) {
  static const magnitude half = {1, -1};
  int inexact = !mpfr_zero_p(nu->value);
  int side = exact_compare(nu, half);
  unsigned n = mode.bits;
  uint64_t drawn = random & ((UINT64_C(1) << n) - 1);
  switch (mode.round) {
    case HU_RNE: return side > 0 || (side == 0 && odd);
    case HU_RNA: return side >= 0;
    case HU_RNZ: return side > 0;
    case HU_RTZ: return 0;
    case HU_RTP: return inexact && !negative;
    case HU_RTN: return inexact && negative;
    case HU_RAZ: return inexact;
    case HU_RTO: return inexact && !odd;
    case HU_SRA: return scaled(nu, n, MPFR_RNDZ) + drawn >= UINT64_C(1) << n;
    case HU_SRB: return scaled(nu, n + 1, MPFR_RNDZ) + 2 * drawn + 1 >= UINT64_C(1) << (n + 1);
    default: return scaled(nu, n, MPFR_RNDN) + drawn >= UINT64_C(1) << n;
  }
}

/* Computes (|x| - lower) / 2^exponent, exactly. */
static void place_between(exact *nu, const exact *x, magnitude lower, long gap_exponent) {
  exact_init(nu, mpfr_get_prec(x->value));
  exact low;
  exact_init(&low, EXACT_SMALL);
  (void)mpfr_set_ui_2exp(low.value, lower.significand, lower.exponent, MPFR_RNDN);
  (void)mpfr_sub(nu->value, x->value, low.value, MPFR_RNDN);
  (void)mpfr_mul_2si(nu->value, nu->value, -gap_exponent, MPFR_RNDN);
}

bracket round_bracket(const table *values, const exact *x) {
  bracket b = {WHERE_GRID, 0, 0};
  if (exact_compare(x, table_grid(values, values->max_index + 1)) >= 0) {
    b.where = WHERE_BEYOND;
    return b;
  }
  uint64_t first = table_grid_next(values, 0);
  if (exact_compare(x, table_grid(values, 0)) < 0) {
    b.where = WHERE_BELOW_ALL;
    return b;
  }
  if (exact_compare(x, table_grid(values, first)) < 0) {
    b.upper = first;
    return b;
  }
  uint64_t low = first, high = values->max_index + 1; /* grid(low) <= |x| < grid(high) */
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (exact_compare(x, table_grid(values, middle)) < 0)
      high = middle;
    else
      low = middle;
  }
  b.lower = low;
  b.upper = table_grid_next(values, low);
  return b;
}

/* The distance of two neighbours is a power of two: the unit of the lower one; in the gap that a missing range of
 * subnormals leaves, the smallest normal value itself. */
static long gap_exponent(const table *values, const bracket *b) {
  if (b->upper == b->lower + 1) return table_grid(values, b->lower).exponent;
  return values->emin;
}

/* Tiny after rounding: |x| rounded at precision m + 1 as if there were no smallest exponent (section 5). */
static int tiny_after(const table *values, hu_mode mode, const exact *x, uint32_t random) {
  long k = mpfr_get_exp(x->value) - 1; /* 2^k <= |x| < 2^(k+1) */
  unsigned m = values->format.m;
  exact scaled_x, nu, rounded;
  exact_init(&scaled_x, mpfr_get_prec(x->value));
  (void)mpfr_mul_2si(scaled_x.value, x->value, (long)m - k, MPFR_RNDN);
  uint64_t digits = mpfr_get_uj(scaled_x.value, MPFR_RNDZ);
  magnitude lower = {(uint32_t)digits, (int)(k - (long)m)};
  place_between(&nu, x, lower, k - (long)m);
  int odd = (int)((m ? (long)(digits & 1) : (k + values->bias) & 1));
  digits += (uint64_t)round_takes_upper(mode, x->negative, &nu, odd, random);
  exact_init(&rounded, EXACT_SMALL);
  (void)mpfr_set_uj_2exp(rounded.value, digits, k - (long)m, MPFR_RNDN);
  return exact_compare(&rounded, table_tiny_limit(values)) < 0;
}

static int tiny(const table *values, hu_mode mode, const exact *x, uint32_t random) {
  if (exact_compare(x, table_tiny_limit(values)) >= 0)
    return 0; /* the limit is on the wider grid: rounding stays above it */
  if (mode.tiny == HU_TINY_BEFORE || values->format.e == 0) return 1;
  return tiny_after(values, mode, x, random);
}

static uint32_t zero_code(const table *values, int negative) {
  return negative && values->format.negzero ? values->sign_mask : 0;
}

static void finite(const table *values, hu_mode mode, const exact *x, uint32_t random, uint32_t *code,
                   uint32_t *events) {
  bracket b = round_bracket(values, x);
  uint64_t index = 0;
  int exactly = 0;
  if (b.where == WHERE_GRID) {
    exact nu;
    place_between(&nu, x, table_grid(values, b.lower), gap_exponent(values, &b));
    index = round_takes_upper(mode, x->negative, &nu, table_grid_odd(values, b.lower), random) ? b.upper : b.lower;
    exactly = mpfr_zero_p(nu.value);
  } else if (b.where == WHERE_BEYOND)
    index = values->max_index + 1;
  int beyond = index > values->max_index;
  uint32_t result = beyond ? 0 : table_grid_code(values, index);
  int is_zero = !beyond && result == 0 && values->format.zero != HU_ZERO_NONE;
  if (x->negative && !values->format.sign && !is_zero) {
    below_range(values, mode, x, code, events);
    return;
  }
  if (beyond) {
    overflow(values, mode, x->negative, code, events);
    return;
  }
  *events = 0;
  if (!exactly || is_zero) *events |= HU_EVENT_INEXACT; /* x is not zero */
  if (*events && tiny(values, mode, x, random)) *events |= HU_EVENT_UNDERFLOW;
  if (is_zero) *events |= HU_EVENT_TO_ZERO;
  if (table_is_subnormal(values, result)) *events |= HU_EVENT_SUBNORMAL;
  *code = is_zero ? zero_code(values, x->negative) : with_sign(values, result, x->negative);
}

void round_exact(const table *values, hu_mode mode, const exact *x, uint32_t random, uint32_t *code, uint32_t *events) {
  if (x->kind == CODE_NAN)
    not_a_number(values, mode, code, events);
  else if (x->kind == CODE_INFINITE)
    infinite(values, mode, x, code, events);
  else if (mpfr_zero_p(x->value)) {
    *code = zero_code(values, x->negative);
    *events = values->format.zero == HU_ZERO_NONE ? HU_EVENT_INEXACT : 0; /* the smallest value is not zero */
  } else
    finite(values, mode, x, random, code, events);
}
