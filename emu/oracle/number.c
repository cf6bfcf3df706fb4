/* SPDX-License-Identifier: MIT */
/* emu/oracle/number.c - the one rounding of docs/numbers.md N.2 to N.4, and the calls of halfulp/oracle.h for it. */
#include "emu/oracle/number.h"

#include <math.h>
#include <string.h>

#include "emu/oracle/round.h"
#include "halfulp/oracle.h"

/* What is rounded into. */
typedef struct target {
  hu_number n;
  hu_mode mode;
  uint32_t random;
  unsigned width;
  uint32_t mask, top; /* all bits; the highest */
} target;

typedef struct outcome {
  uint32_t code, events;
} outcome;

static outcome made(uint32_t code, uint32_t events) {
  outcome rounded = {code, events};
  return rounded;
}

enum { BEYOND = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT };

/* nu = y - floor(y); the floor, as far as it fits a long. */
static long split(exact *nu, const mpfr_t y) {
  mpfr_t whole;
  exact_init(nu, NUMBER_DIGITS + 64);
  mpfr_init2(whole, NUMBER_DIGITS + 64);
  (void)mpfr_floor(whole, y);
  (void)mpfr_sub(nu->value, y, whole, MPFR_RNDZ);
  long k = mpfr_get_si(whole, MPFR_RNDZ);
  mpfr_clear(whole);
  return k;
}

static int up(const target *z, int negative, const exact *nu, long lower) {
  return round_takes_upper(z->mode, negative, nu, (int)(lower & 1), z->random);
}

/* ---- posit ---- */

/* Compares the code's value with |x|. */
static int posit_against(const target *z, uint32_t code, const exact *x) {
  quantity real;
  number_value(&real, z->n, code);
  return mpfr_cmp(real.x.value, x->value);
}

static outcome posit(const target *z, const exact *x) {
  uint32_t low = 1, high = z->top - 1, events = 0; /* value(low) <= |x| < value(high) below */
  exact nu;
  if (posit_against(z, high, x) <= 0) {
    events = posit_against(z, high, x) < 0 ? BEYOND : 0;
    low = high;
  } else if (posit_against(z, low, x) >= 0) {
    events = posit_against(z, low, x) > 0 ? HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT : 0;
  } else {
    while (high - low > 1) {
      uint32_t middle = low + (high - low) / 2;
      if (posit_against(z, middle, x) <= 0)
        low = middle;
      else
        high = middle;
    }
    /* What is cut off the bit string: t = (e + phi) 2^(p - es), of which only the fraction is looked at here. */
    long exponent = mpfr_get_exp(x->value) - 1, step = 1L << z->n.es;
    long regime = exponent >= 0 ? exponent / step : -((-exponent + step - 1) / step), within = exponent - regime * step;
    long places = (long)z->width - 1 - (regime >= 0 ? regime + 2 : 1 - regime);
    mpfr_t y;
    mpfr_init2(y, NUMBER_DIGITS + 64);
    (void)mpfr_mul_2si(y, x->value, -exponent, MPFR_RNDN);
    (void)mpfr_add_si(y, y, within - 1, MPFR_RNDZ);
    (void)mpfr_mul_2si(y, y, places - z->n.es, MPFR_RNDN);
    (void)split(&nu, y);
    mpfr_clear(y);
    if (!mpfr_zero_p(nu.value)) events = HU_EVENT_INEXACT;
    low += (uint32_t)up(z, x->negative, &nu, (long)low);
  }
  return made(x->negative ? (0 - low) & z->mask : low, events);
}

/* ---- lns ---- */

static uint32_t lns_code(const target *z, int negative, long k) {
  long field = z->n.coding == HU_LNS_OFFSET ? k + (long)(z->top / 2) : k;
  return ((uint32_t)field & (z->top - 1)) + (negative ? z->top : 0);
}

static int lns_away(const target *z, int negative) {
  switch (z->mode.round) {
    case HU_RAZ:
    case HU_RTO: return 1;
    case HU_RTP: return !negative;
    case HU_RTN: return negative;
    default: return 0;
  }
}

static outcome lns(const target *z, const quantity *real) {
  int has_zero = z->n.coding != HU_LNS_UNSIGNED, negative = real->x.negative;
  long low = has_zero ? 1 - (long)(z->top / 2) : 0, high = (long)(has_zero ? z->top / 2 : z->top) - 1;
  uint32_t events = 0;
  mpfr_t y;
  exact nu;
  if (mpfr_zero_p(real->x.value)) {
    if (!has_zero) return made(lns_code(z, negative, low), HU_EVENT_INEXACT);
    return made(z->n.coding == HU_LNS_TWOS ? z->top / 2 : 0, 0);
  }
  mpfr_init2(y, NUMBER_DIGITS);
  if (real->power)
    (void)mpfr_set_si_2exp(y, real->j, (long)z->n.fraction - (long)real->fraction, MPFR_RNDN);
  else {
    (void)mpfr_log2(y, real->x.value, MPFR_RNDN);
    (void)mpfr_mul_2ui(y, y, z->n.fraction, MPFR_RNDN);
  }
  long k = split(&nu, y);
  mpfr_clear(y);
  if (!mpfr_zero_p(nu.value)) events |= HU_EVENT_INEXACT;
  k += up(z, negative, &nu, k);
  if (k > high) return made(lns_code(z, negative, high), BEYOND);
  if (k >= low) return made(lns_code(z, negative, k), events);
  events = HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT;
  if (!has_zero || lns_away(z, negative)) return made(lns_code(z, negative, low), events);
  return made(z->n.coding == HU_LNS_TWOS ? z->top / 2 : 0, events | HU_EVENT_TO_ZERO);
}

/* ---- fixed ---- */

static outcome fixed(const target *z, const exact *x) {
  mpz_t integer, least, most;
  mpfr_t y;
  exact nu;
  uint32_t events = 0, code;
  int is_zero = mpfr_zero_p(x->value);
  mpfr_init2(y, NUMBER_DIGITS);
  mpz_inits(integer, least, most, NULL);
  (void)mpfr_mul_2ui(y, x->value, z->n.fraction, MPFR_RNDN);
  (void)mpfr_get_z(integer, y, MPFR_RNDZ);
  (void)split(&nu, y);
  if (!mpfr_zero_p(nu.value)) events |= HU_EVENT_INEXACT;
  mpz_add_ui(integer, integer, (unsigned long)up(z, x->negative, &nu, (long)mpz_tstbit(integer, 0)));
  if (x->negative) mpz_neg(integer, integer);
  mpz_set_ui(most, z->n.sign ? z->top - 1 : z->mask);
  mpz_set_si(least, z->n.sign ? -(long)z->top : 0);
  int below = mpz_cmp(integer, least)<0, above = mpz_cmp(integer, most)> 0;
  if (mpz_sgn(integer) == 0 && !is_zero) events |= HU_EVENT_TO_ZERO;
  if (below || above) {
    events |= HU_EVENT_INEXACT;
    if (z->n.overflow == HU_FIXED_WRAP)
      events |= HU_EVENT_OVERFLOW;
    else {
      events |= below && !z->n.sign ? HU_EVENT_INVALID | HU_EVENT_SATURATED : BEYOND;
      mpz_set(integer, below ? least : most);
    }
  }
  mpz_fdiv_r_2exp(integer, integer, z->width);
  code = (uint32_t)mpz_get_ui(integer);
  mpz_clears(integer, least, most, NULL);
  mpfr_clear(y);
  return made(code, events);
}

/* ---- table ---- */

typedef struct neighbours {
  double a, b;              /* the greatest value <= x and the least one >= x */
  int has_a, has_b, places; /* places: different values below a */
} neighbours;

/* Compares x, with its sign, to a value. */
static int against(const exact *x, double value) {
  mpfr_t y;
  mpfr_init2(y, NUMBER_DIGITS);
  (void)mpfr_setsign(y, x->value, x->negative, MPFR_RNDN);
  int c = mpfr_cmp_d(y, value);
  mpfr_clear(y);
  return c;
}

static neighbours find(hu_number n, const exact *x) {
  neighbours near = {0, 0, 0, 0, 0};
  for (int i = 0; i < n.count; i++) {
    double value = (double)n.table[i];
    if (isnan(value)) continue;
    int c = against(x, value);
    if (c >= 0 && (!near.has_a || value > near.a)) near.a = value, near.has_a = 1;
    if (c <= 0 && (!near.has_b || value < near.b)) near.b = value, near.has_b = 1;
  }
  for (int i = 0; i < n.count; i++) {
    int first = near.has_a && (double)n.table[i] < near.a;
    for (int j = 0; j < i; j++) first &= !(n.table[j] == n.table[i]);
    near.places += first;
  }
  return near;
}

/* The lowest code of a value; of zero the lowest with the sign of x, if it has both. */
static uint32_t table_code(hu_number n, double value, const exact *x) {
  uint32_t any = HU_NO_CODE;
  for (int i = 0; i < n.count; i++) {
    if ((double)n.table[i] != value) continue;
    if (any == HU_NO_CODE) any = (uint32_t)i;
    if (value != 0 || !signbit(n.table[i]) == !x->negative) return (uint32_t)i;
  }
  return any;
}

static int table_up(const target *z, const exact *x, const neighbours *near) {
  int toward_a = !x->negative;
  double lower = toward_a ? near->a : near->b;
  mpfr_t distance, gap;
  exact nu;
  int high;
  mpfr_init2(distance, NUMBER_DIGITS + 64);
  mpfr_init2(gap, 320);
  (void)mpfr_set_d(gap, near->a, MPFR_RNDN);
  (void)mpfr_add_d(gap, gap, near->b, MPFR_RNDN);
  (void)mpfr_div_2ui(gap, gap, 1, MPFR_RNDN);
  high = against(x, (double)mpfr_get_flt(gap, MPFR_RNDN)) > 0;
  (void)mpfr_set_d(gap, near->b, MPFR_RNDN);
  (void)mpfr_sub_d(gap, gap, near->a, MPFR_RNDN);
  (void)mpfr_setsign(distance, x->value, x->negative, MPFR_RNDN);
  (void)mpfr_sub_d(distance, distance, lower, MPFR_RNDZ);
  (void)mpfr_abs(distance, distance, MPFR_RNDN);
  exact_init(&nu, NUMBER_DIGITS);
  (void)mpfr_div(nu.value, distance, gap, MPFR_RNDZ); /* toward zero: the digits looked at are right */
  int half = mpfr_cmp_ui_2exp(nu.value, 1, -1) == 0;
  mpfr_clear(distance);
  mpfr_clear(gap);
  if (z->mode.round == HU_RNE && z->n.ties == HU_TIES_LOW32) return high == toward_a;
  if (z->mode.round == HU_RNE && z->n.ties == HU_TIES_LOW && half) return !toward_a;
  if (z->mode.round == HU_RNE && z->n.ties == HU_TIES_GIVEN) {
    int code = 0;
    while ((double)z->n.table[code] != near->a) code++;
    return (against(x, (double)z->n.table[z->n.count + code]) > 0) == toward_a;
  }
  return up(z, x->negative, &nu, toward_a ? near->places : near->places + 1);
}

static outcome table_round(const target *z, const exact *x) {
  neighbours near = find(z->n, x);
  uint32_t events = HU_EVENT_INEXACT;
  double value;
  if (!near.has_a || !near.has_b) {
    value = near.has_a ? near.a : near.b;
    return made(table_code(z->n, value, x), BEYOND | (value == 0 ? HU_EVENT_TO_ZERO : 0));
  }
  if (near.a == near.b)
    value = near.a, events = 0;
  else
    value = table_up(z, x, &near) == !x->negative ? near.b : near.a;
  if (value == 0 && !mpfr_zero_p(x->value)) events |= HU_EVENT_TO_ZERO;
  return made(table_code(z->n, value, x), events);
}

/* ---- any ---- */

static int has_nan(hu_number n, uint32_t *code, uint32_t top) {
  switch (n.kind) {
    case HU_NUMBER_POSIT: *code = top; return 1;
    case HU_NUMBER_LNS: *code = n.coding == HU_LNS_TWOS ? top + top / 2 : top; return n.coding != HU_LNS_UNSIGNED;
    case HU_NUMBER_TABLE:
      for (int i = 0; i < n.count; i++) {
        if (!isnan(n.table[i])) continue;
        *code = (uint32_t)i;
        return 1;
      }
      return 0;
    default: return 0;
  }
}

static outcome number_finite(const target *z, const quantity *real) {
  switch (z->n.kind) {
    case HU_NUMBER_POSIT: return mpfr_zero_p(real->x.value) ? made(0, 0) : posit(z, &real->x);
    case HU_NUMBER_LNS: return lns(z, real);
    case HU_NUMBER_FIXED: return fixed(z, &real->x);
    default: return table_round(z, &real->x);
  }
}

/* Returns what a number far beyond the range becomes, except for wrapping. */
static uint32_t end_of(const target *z, int negative) {
  target open = *z;
  quantity far;
  memset(&far, 0, sizeof far);
  open.n.overflow = 0;
  exact_init(&far.x, 64);
  (void)mpfr_set_ui_2exp(far.x.value, 1, 1024, MPFR_RNDN);
  far.x.negative = negative;
  return number_finite(&open, &far).code;
}

static outcome infinite(const target *z, int negative) {
  uint32_t code, events = HU_EVENT_INF_IN;
  int policy = z->mode.saturate;
  if (policy == HU_SAT_DEFAULT) policy = z->n.kind == HU_NUMBER_POSIT ? HU_SAT_NONE : HU_SAT_FINITE;
  if (policy != HU_SAT_FINITE && has_nan(z->n, &code, z->top)) return made(code, events | HU_EVENT_INVALID);
  if (negative && z->n.kind == HU_NUMBER_FIXED && !z->n.sign) events |= HU_EVENT_INVALID;
  return made(end_of(z, negative), events | HU_EVENT_SATURATED);
}

static outcome not_a_number(const target *z) {
  uint32_t code, events = HU_EVENT_NAN_IN;
  target rne = *z;
  quantity zero;
  if (has_nan(z->n, &code, z->top)) return made(code, events);
  if (z->mode.nan == HU_NAN_TO_ERROR) events |= HU_EVENT_INVALID;
  if (z->mode.nan != HU_NAN_TO_ZERO) return made(end_of(z, 0), events);
  memset(&zero, 0, sizeof zero);
  memset(&rne.mode, 0, sizeof rne.mode);
  exact_init(&zero.x, 64);
  return made(number_finite(&rne, &zero).code, events);
}

static outcome number_round(hu_number n, hu_mode mode, const quantity *real, uint32_t random) {
  target z = {n, mode, random, number_width(n), 0, 0};
  table values;
  z.mask = (uint32_t)((UINT64_C(1) << z.width) - 1);
  z.top = (z.mask >> 1) + 1;
  if (n.kind == HU_NUMBER_FLOAT) {
    outcome rounded;
    (void)table_make(&values, n.format);
    round_exact(&values, mode, &real->x, random, &rounded.code, &rounded.events);
    return rounded;
  }
  if (real->x.kind == CODE_NAN) return not_a_number(&z);
  if (real->x.kind == CODE_INFINITE) return infinite(&z, real->x.negative);
  return number_finite(&z, real);
}

static void deliver(hu_number n, hu_mode mode, const quantity *real, uint32_t random, uint32_t *code,
                    uint32_t *events) {
  outcome rounded = number_round(n, mode, real, random);
  *code = rounded.code;
  if (events != NULL) *events = rounded.events;
}

hu_status hu_oracle_number_encode64(uint32_t *code, uint32_t *events, hu_number n, hu_mode mode, double x,
                                    uint32_t random) {
  quantity real;
  if (code == NULL) return HU_E_NULL;
  hu_status status = number_valid(n);
  if (status != HU_OK) return status;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  memset(&real, 0, sizeof real);
  exact_from_double(&real.x, x);
  deliver(n, mode, &real, random, code, events);
  exact_leave(saved);
  return HU_OK;
}

hu_status hu_oracle_number_convert(uint32_t *code, uint32_t *events, hu_number n, hu_mode mode, hu_number fx,
                                   uint32_t x, uint32_t random) {
  quantity real;
  if (code == NULL) return HU_E_NULL;
  hu_status status = number_valid(n);
  if (status == HU_OK) status = number_valid(fx);
  if (status != HU_OK) return status;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  number_value(&real, fx, x);
  deliver(n, mode, &real, random, code, events);
  exact_leave(saved);
  return HU_OK;
}

hu_status hu_oracle_number_decode64(double *z, float *z32, hu_number n, uint32_t code) {
  static const uint64_t quiet = UINT64_C(0x7FF8000000000000);
  static const uint32_t quiet32 = UINT32_C(0x7FC00000);
  quantity real;
  if (z == NULL) return HU_E_NULL;
  hu_status status = number_valid(n);
  if (status != HU_OK) return status;
  exact_state saved = exact_enter();
  number_value(&real, n, code);
  if (real.x.kind == CODE_INFINITE) mpfr_set_inf(real.x.value, 1);
  (void)mpfr_setsign(real.x.value, real.x.value, real.x.negative, MPFR_RNDN);
  if (real.x.kind == CODE_NAN) {
    memcpy(z, &quiet, sizeof *z);
    if (z32 != NULL) memcpy(z32, &quiet32, sizeof *z32);
  } else {
    *z = mpfr_get_d(real.x.value, MPFR_RNDN);
    if (z32 != NULL) *z32 = mpfr_get_flt(real.x.value, MPFR_RNDN);
  }
  exact_leave(saved);
  return HU_OK;
}
