/* SPDX-License-Identifier: MIT */
#include "tests/s2fp8/model.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "halfulp/oracle.h"

enum { PRECISION = 400, SNAP = 340 };

static void must(int fine) {
  if (!fine) abort();
}

int64_t model_log2(float x) {
  mpfr_t l;
  mpz_t z;
  mpfr_init2(l, 200);
  mpz_init(z);
  mpfr_set_flt(l, fabsf(x), MPFR_RNDN);
  mpfr_log2(l, l, MPFR_RNDN);
  mpfr_mul_2si(l, l, 40, MPFR_RNDN);
  mpfr_get_z(z, l, MPFR_RNDN);
  must(mpz_fits_slong_p(z));
  int64_t units = mpz_get_si(z);
  mpfr_clear(l);
  mpz_clear(z);
  return units;
}

/* The integer nearest to a / b, b > 0, ties to even. */
static void divide(mpz_t z, const mpz_t a, const mpz_t b) {
  mpz_t rest;
  mpz_init(rest);
  mpz_fdiv_qr(z, rest, a, b);
  mpz_mul_2exp(rest, rest, 1);
  int half = mpz_cmp(rest, b);
  if (half > 0 || (half == 0 && mpz_odd_p(z))) mpz_add_ui(z, z, 1);
  mpz_clear(rest);
}

void model_look(model_stats *z, size_t n, const float *x, int target) {
  mpz_t count, mean, l;
  mpz_inits(count, mean, l, NULL);
  mpz_set_ui(z->sum, 0);
  z->count = z->special = 0;
  z->top = 0;
  z->mean = 0;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      z->special++;
    } else if (x[i] != 0) {
      mpz_set_si(l, model_log2(x[i]));
      mpz_add(z->sum, z->sum, l);
      z->count++;
      if (fabsf(x[i]) > z->top) z->top = fabsf(x[i]);
    }
  }
  z->m = z->count ? model_log2(z->top) : (int64_t)target << 40;
  if (z->count) {
    mpz_set_ui(count, z->count);
    divide(mean, z->sum, count);
    z->mean = mpz_get_si(mean);
  }
  z->mu = z->mean == z->m ? z->m - ((int64_t)target << 40) : z->mean;
  mpz_clears(count, mean, l, NULL);
  model_map map = {hu_s2fp8_of(hu_format_ieee(5, 2, 0)), target, z->mu, z->m};
  model_record(&map, &z->alpha, &z->beta);
}

static float nearest32(const mpq_t q) {
  mpfr_t x;
  mpfr_init2(x, 24); /* quotients here are far from subnormal */
  mpfr_set_q(x, q, MPFR_RNDN);
  float z = mpfr_get_flt(x, MPFR_RNDN);
  mpfr_clear(x);
  return z == 0 ? 0 : z;
}

static void set_quotient(mpq_t q, int64_t factor, int64_t a, int64_t b) {
  mpq_t w;
  mpq_init(w);
  mpq_set_si(q, a, 1);
  mpq_set_si(w, factor, 1);
  mpq_mul(q, q, w);
  mpq_set_si(w, b, 1);
  mpq_div(q, q, w);
  mpq_clear(w);
}

void model_record(const model_map *map, float *alpha, float *beta) {
  mpq_t q;
  mpq_init(q);
  set_quotient(q, map->target, (int64_t)1 << 40, map->m - map->mu);
  *alpha = nearest32(q);
  set_quotient(q, -map->target, map->mu, map->m - map->mu);
  *beta = nearest32(q);
  mpq_clear(q);
}

int model_stored(model_map *map, float alpha, float beta) {
  mpq_t q, a;
  mpz_t units;
  if (!isfinite(alpha) || !isfinite(beta) || !(alpha > 0)) return 0;
  mpq_inits(q, a, NULL);
  mpz_init(units);
  mpq_set_d(a, alpha);
  mpq_set_d(q, -(double)beta);
  mpq_div(q, q, a);
  mpq_mul_2exp(q, q, 40);
  divide(units, mpq_numref(q), mpq_denref(q));
  mpz_t gap, bound;
  mpz_inits(gap, bound, NULL);
  mpq_set_si(q, map->target, 1);
  mpq_div(q, q, a);
  mpq_mul_2exp(q, q, 40);
  divide(gap, mpq_numref(q), mpq_denref(q));
  mpz_ui_pow_ui(bound, 2, 50);
  int fine = mpz_cmpabs(units, bound) <= 0 && mpz_sgn(gap) > 0;
  mpz_add(gap, gap, units);
  fine = fine && mpz_cmpabs(gap, bound) <= 0;
  if (fine) {
    map->mu = mpz_get_si(units);
    map->m = mpz_get_si(gap);
  }
  mpz_clears(units, gap, bound, NULL);
  mpq_clears(q, a, NULL);
  return fine;
}

/* 2^q rounded to odd in binary64, far away held at 2^1000 and 2^-1000: every format and mode of the tests takes that
 * for the number itself (docs/numerics.md section 7). */
static double power_to_odd(const mpq_t q) {
  mpfr_t y;
  double z;
  if (mpq_cmp_si(q, 1000, 1) > 0) return 0x1.0000000000001p1000;
  if (mpq_cmp_si(q, -1000, 1) < 0) return 0x1.0000000000001p-1000;
  mpfr_init2(y, PRECISION);
  mpfr_set_q(y, q, MPFR_RNDN);
  mpfr_exp2(y, y, MPFR_RNDN);
  mpfr_prec_round(y, SNAP, MPFR_RNDN);
  z = mpfr_get_d(y, MPFR_RNDZ);
  if (mpfr_cmp_d(y, z) != 0) {
    int e;
    double f = frexp(z, &e), units = ldexp(f, 53);
    if (fmod(units, 2) == 0) z = ldexp(units + 1, e - 53);
  }
  mpfr_clear(y);
  return z;
}

uint32_t model_code(const model_map *map, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  uint32_t code = 0;
  hu_format format = map->kind.element;
  double y = x;
  if (isinf(x) && map->kind.special == HU_S2FP8_NAN) {
    /* section 4: a NaN with the sign of x, where F has NaNs of both signs; without NaN the policy `finite` */
    if (format.nan == HU_NAN_NONE) {
      mode.saturate = HU_SAT_FINITE;
      must(hu_oracle_encode64(&code, events, format, mode, x, random) == HU_OK);
      return code;
    }
    must(hu_oracle_encode64(&code, events, format, mode, NAN, random) == HU_OK);
    int both = format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES || format.nan == HU_NAN_ONES;
    if (x < 0 && both) code |= 1u << (format.e + format.m);
    *events = HU_EVENT_INF_IN | HU_EVENT_INVALID;
    return code;
  }
  if (isfinite(x) && x != 0) {
    mpq_t q;
    mpq_init(q);
    set_quotient(q, map->target, model_log2(x) - map->mu, map->m - map->mu);
    y = copysign(power_to_odd(q), x);
    mpq_clear(q);
  }
  must(hu_oracle_encode64(&code, events, format, mode, y, random) == HU_OK);
  return code;
}

float model_value(const model_map *map, uint32_t code) {
  double p;
  must(hu_oracle_decode64(&p, map->kind.element, code) == HU_OK);
  if (isnan(p) || isinf(p) || p == 0) return isnan(p) ? NAN : (float)p;
  mpfr_t v, mu;
  mpq_t gap;
  mpfr_inits2(PRECISION, v, mu, NULL);
  mpq_init(gap);
  mpfr_set_d(v, fabs(p), MPFR_RNDN);
  mpfr_log2(v, v, MPFR_RNDN);
  mpq_set_si(gap, map->m - map->mu, (unsigned long)map->target);
  mpq_canonicalize(gap);
  mpfr_mul_q(v, v, gap, MPFR_RNDN);
  mpfr_set_sj(mu, map->mu, MPFR_RNDN);
  mpfr_add(v, v, mu, MPFR_RNDN);
  mpfr_mul_2si(v, v, -40, MPFR_RNDN);
  mpfr_exp2(v, v, MPFR_RNDN);
  mpfr_prec_round(v, SNAP, MPFR_RNDN);
  float z = mpfr_get_flt(v, MPFR_RNDN);
  mpfr_clears(v, mu, NULL);
  mpq_clear(gap);
  return copysignf(z, (float)(p < 0 ? -1 : 1));
}
