/* SPDX-License-Identifier: MIT */
/* tests/accum/reference_real.c - see reference_real.h. */
#include "tests/accum/reference_real.h"
#include "tests/support/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

void real_make(const t_engine *engine, real *x) {
  x->kind = ZERO;
  x->negative = 0;
  x->e = 0;
  mpfr_init2(x->v, engine->precision);
  mpfr_set_zero(x->v, 1);
}

/* The same with room for one operand, in storage of the caller's: nothing to drop. */
enum { DIGITS = 64 };
static void make_here(real *x, mp_limb_t *limbs) {
  x->kind = ZERO;
  x->negative = 0;
  x->e = 0;
  mpfr_custom_init(limbs, DIGITS);
  mpfr_custom_init_set(x->v, MPFR_ZERO_KIND, 0, DIGITS, limbs);
}

void real_drop(real *x) { mpfr_clear(x->v); }

void real_set(real *x, kind k, int negative) {
  x->kind = k;
  x->negative = negative;
  mpfr_set_zero(x->v, 1);
}

void real_copy(real *z, const real *x) {
  z->kind = x->kind;
  z->negative = x->negative;
  z->e = x->e;
  mpfr_set(z->v, x->v, MPFR_RNDN);
}

/* Kind and sign from the value; an exact zero is +0. */
void real_settle(real *x) {
  x->kind = mpfr_zero_p(x->v) ? ZERO : FINITE;
  x->negative = x->kind == FINITE && mpfr_sgn(x->v) < 0;
}

/* floor(log2 |x|) */
int real_log2(const real *x) { return (int)mpfr_get_exp(x->v) - 1; }

void real_multiply(real *z, const real *x, const real *y) {
  int negative = x->negative != y->negative;
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER)
    real_set(z, NOT_A_NUMBER, 0);
  else if (x->kind == INFINITE || y->kind == INFINITE)
    real_set(z, x->kind == ZERO || y->kind == ZERO ? NOT_A_NUMBER : INFINITE, negative);
  else if (x->kind == ZERO || y->kind == ZERO)
    real_set(z, ZERO, negative);
  else {
    assert_int_equal(mpfr_mul(z->v, x->v, y->v, MPFR_RNDN), 0);
    real_settle(z);
  }
  if (z->kind == NOT_A_NUMBER) z->negative = 0;
}

/* IEEE 754 section 6.3: x + y = 0 exactly has the sign of both, else + (- where the rounding goes toward negative). */
void real_add(real *z, const real *x, const real *y, int down) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER ||
      (x->kind == INFINITE && y->kind == INFINITE && x->negative != y->negative)) {
    real_set(z, NOT_A_NUMBER, 0);
  } else if (x->kind == INFINITE || y->kind == INFINITE) {
    real_set(z, INFINITE, x->kind == INFINITE ? x->negative : y->negative);
  } else if (x->kind == ZERO && y->kind == ZERO) {
    real_set(z, ZERO, x->negative == y->negative ? x->negative : down);
  } else {
    assert_int_equal(mpfr_add(z->v, x->v, y->v, MPFR_RNDN), 0);
    real_settle(z);
    if (z->kind == ZERO) z->negative = down;
  }
}

/* z += x, exactly; an exact zero is +0. */
void real_accumulate(real *z, const real *x) {
  assert_int_equal(mpfr_add(z->v, z->v, x->v, MPFR_RNDN), 0);
  real_settle(z);
}

static void real_negate(real *x) {
  x->negative = !x->negative;
  mpfr_neg(x->v, x->v, MPFR_RNDN);
}

/* ---- reading ---- */

void real_from_code(real *z, const table *t, uint32_t code) {
  exact x;
  exact_from_code(&x, t, code);
  z->kind = x.kind == CODE_NAN        ? NOT_A_NUMBER
            : x.kind == CODE_INFINITE ? INFINITE
            : mpfr_zero_p(x.value)    ? ZERO
                                      : FINITE;
  z->negative = x.negative;
  if (z->kind == FINITE)
    assert_int_equal(mpfr_set(z->v, x.value, MPFR_RNDN), 0);
  else
    mpfr_set_zero(z->v, 1);
  if (z->kind == FINITE && x.negative) mpfr_neg(z->v, z->v, MPFR_RNDN);
}

void real_from_binary64(real *z, uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  real_set(z, d != d ? NOT_A_NUMBER : d - d != 0 ? INFINITE : d == 0 ? ZERO : FINITE, d == d && (bits >> 63) != 0);
  if (z->kind == FINITE) assert_int_equal(mpfr_set_d(z->v, d, MPFR_RNDN), 0);
}

void real_flush(real *z, int daz, int emin) {
  if (daz == HU_BLOCK_DAZ_NONE || z->kind > FINITE || (z->kind == FINITE && real_log2(z) >= emin)) return;
  real_set(z, ZERO, daz == HU_BLOCK_DAZ_SIGN && z->negative);
}

/* An operand of A or B, with everything that block(...) does to it. */
static void operand(const t_engine *engine, real *z, const table *t, hu_type element, uint64_t pattern) {
  const hu_block *b = &engine->x->accum.block;
  table as = *t;
  if (element.kind == HU_TYPE_BINARY64) {
    real_from_binary64(z, pattern);
    return;
  }
  real_from_code(z, t, (uint32_t)pattern);
  int kept = b->nan == HU_BLOCK_NAN_KEPT && z->kind == NOT_A_NUMBER;
  if (!kept && b->input && t->format.m > b->input) {
    real_from_code(z, t, (uint32_t)(pattern >> (t->format.m - b->input) << (t->format.m - b->input)));
  }
  if (b->as.sign) assert_int_equal(table_make(&as, b->as), HU_OK);
  real_flush(z, b->daz, as.emin);
  z->e = z->kind == FINITE && real_log2(z) > as.emin ? real_log2(z) : as.emin;
}

void real_read_a(const t_engine *engine, real *z, size_t k) {
  operand(engine, z, &engine->ta, engine->x->a, engine->x->at[k]);
}
void real_read_b(const t_engine *engine, real *z, size_t k) {
  operand(engine, z, &engine->tb, engine->x->b, engine->x->bt[k]);
}

/* The exact product; z->e is the sum of the operands' exponents. */
void real_product(const t_engine *engine, real *z, size_t k) {
  mp_limb_t limbs[2][DIGITS / GMP_NUMB_BITS];
  real a, b;
  make_here(&a, limbs[0]);
  make_here(&b, limbs[1]);
  real_read_a(engine, &a, k);
  real_read_b(engine, &b, k);
  real_multiply(z, &a, &b);
  z->e = a.e + b.e;
}

/* ---- roundings ---- */

/* Section 11.3: word number r mod 4 of the block with counter words (element, 1 + r / 4). Philox 4x32-10 as published.
 */
static uint32_t step_word(const t_engine *engine, uint64_t r) {
  uint64_t element = engine->x->element, group = 1 + r / 4;
  uint32_t c[4] = {(uint32_t)element, (uint32_t)(element >> 32), (uint32_t)group, (uint32_t)(group >> 32)};
  uint32_t k[2] = {(uint32_t)engine->x->key, (uint32_t)(engine->x->key >> 32)};
  for (int i = 0; i < 10; i++) {
    uint64_t p = UINT64_C(0xD2511F53) * c[0], q = UINT64_C(0xCD9E8D57) * c[2];
    uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k[0], (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k[1], (uint32_t)p};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c[r % 4];
}

void real_to_exact(exact *z, const real *x) {
  exact_init(z, PRECISION);
  z->kind = x->kind == NOT_A_NUMBER ? CODE_NAN : x->kind == INFINITE ? CODE_INFINITE : CODE_FINITE;
  z->negative = x->negative;
  if (x->kind == FINITE) mpfr_abs(z->value, x->v, MPFR_RNDN);
}

static int below(const real *x, int emin) { return x->kind == FINITE && real_log2(x) < emin; }

hu_traced real_traced(const real *x) {
  static const uint8_t kinds[] = {HU_TRACE_ZERO, HU_TRACE_FINITE, HU_TRACE_INFINITY, HU_TRACE_NAN};
  hu_traced z;
  mpfr_t lead;
  memset(&z, 0, sizeof z);
  z.kind = kinds[x->kind];
  z.sign = x->kind != NOT_A_NUMBER && x->negative;
  if (x->kind != FINITE) return z;
  mpfr_init2(lead, 64);
  z.more = mpfr_abs(lead, x->v, MPFR_RNDZ) != 0;
  z.exponent = (int32_t)mpfr_get_exp(lead) - 64;
  mpfr_mul_2si(lead, lead, -z.exponent, MPFR_RNDN);
  z.significand = mpfr_get_uj(lead, MPFR_RNDN);
  mpfr_clear(lead);
  return z;
}

static void round_into(t_engine *engine, const grid *to, real *x) {
  exact e;
  uint32_t code, events, random = 0;
  int negative = x->negative;
  uint64_t r = engine->roundings++;
  engine->events = 0;
  if (to->mode.bits) random = step_word(engine, r) >> (32 - to->mode.bits);
  if (to->ftz == HU_BLOCK_FTZ_BEFORE && below(x, to->t.emin)) {
    real_set(x, ZERO, negative && !to->plus);
    return;
  }
  real_to_exact(&e, x);
  round_exact(&to->t, to->mode, &e, random, &code, &events);
  engine->events = events;
  if (to->over && events & HU_EVENT_OVERFLOW) {
    real_set(x, INFINITE, negative);
    return;
  }
  real_from_code(x, &to->t, code);
  int tiny = below(x, to->t.emin) || (to->ftz == HU_BLOCK_FTZ_TINY && events & HU_EVENT_UNDERFLOW);
  if ((to->ftz == HU_BLOCK_FTZ_AFTER || to->ftz == HU_BLOCK_FTZ_TINY) && tiny) real_set(x, ZERO, negative);
  if (to->plus && x->kind == ZERO) x->negative = 0;
}

/* x becomes what the step's format makes of it. */
void step_round(t_engine *engine, const grid *to, real *x) {
  hu_traced before;
  if (engine->visit) before = real_traced(x);
  round_into(engine, to, x);
  if (engine->visit) engine->visit(engine->context, before, real_traced(x));
}

static int goes_down(const grid *to) { return to->mode.round == HU_RTN; }

/* z = rnd(x + y) */
void step_sum(t_engine *engine, const grid *to, real *z, const real *x, const real *y) {
  real_add(z, x, y, goes_down(to));
  step_round(engine, to, z);
}

void step_difference(t_engine *engine, const grid *to, real *z, const real *x, const real *y) {
  real minus;
  real_make(engine, &minus);
  real_copy(&minus, y);
  real_negate(&minus);
  step_sum(engine, to, z, x, &minus);
  real_drop(&minus);
}

void step_product(t_engine *engine, const grid *to, real *z, size_t k) {
  real_product(engine, z, k);
  step_round(engine, to, z);
}

/* c = rnd(a b + c), c in place. */
void step_fused(t_engine *engine, const grid *to, size_t k, real *c) {
  real p;
  real_make(engine, &p);
  real_product(engine, &p, k);
  join(engine, to, c, c, &p);
  real_drop(&p);
}

/* ---- section 11.7 ---- */

static void widen_gap(t_engine *engine, int binades) {
  uint64_t gap = (uint64_t)abs(binades);
  if (gap > engine->watch.gap) engine->watch.gap = gap;
}

void watch_sum(t_engine *engine, const real *s, const real *t, const real *z) {
  if (t->kind != FINITE || s->kind > FINITE) return;
  engine->watch.additions++;
  int overflow = (engine->events & HU_EVENT_OVERFLOW) != 0;
  engine->watch.overflows += (uint64_t)overflow;
  engine->watch.swamped += !overflow && z->kind == s->kind && (s->kind == ZERO || mpfr_equal_p(z->v, s->v));
  if (s->kind == FINITE) widen_gap(engine, real_log2(s) - real_log2(t));
}

void watch_cut(t_engine *engine, int gap, const real *kept) {
  engine->watch.additions++;
  engine->watch.swamped += kept->kind == ZERO;
  widen_gap(engine, gap);
}

void join(t_engine *engine, const grid *to, real *z, const real *s, const real *t) {
  real before, addend;
  real_make(engine, &before);
  real_make(engine, &addend);
  real_copy(&before, s);
  real_copy(&addend, t);
  step_sum(engine, to, z, s, t);
  watch_sum(engine, &before, &addend, z);
  real_drop(&before);
  real_drop(&addend);
}

int at_least(const real *x, const real *y) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER) return 0;
  if (x->kind == INFINITE || y->kind == INFINITE) return x->kind == INFINITE;
  return mpfr_cmpabs(x->v, y->v) >= 0;
}

void join_pair(t_engine *engine, const grid *to, real *z, const real *x, const real *y) {
  int first = at_least(x, y);
  join(engine, to, z, first ? x : y, first ? y : x);
}
