/* SPDX-License-Identifier: MIT */
/* tests/accum/reference.c - see reference.h. A number is a kind, a sign and an MPFR number of PRECISION bits, in which
 * every product, sum and cut of the models is exact. */
#include "tests/accum/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/oracle/round.h"
#include "halfulp/mode.h"

enum { PRECISION = 4608, SMALL = 768 };
typedef enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER } kind;

typedef struct real {
  kind kind;
  int negative; /* also of zeros and infinities */
  int e;        /* of an operand: the exponent that aligns it */
  mpfr_t v;     /* finite: the number with its sign; else 0 */
} real;

/* A format that steps round to, and how. */
typedef struct grid {
  int is_binary64;
  table t;
  hu_mode mode;
  int over, ftz;
} grid;

typedef struct engine {
  const dot *x;
  mpfr_prec_t precision;
  table ta, tb, tc, ts;
  grid sum, product, plain;
  uint64_t roundings; /* so far */
} engine;

/* ---- numbers ---- */

static void make(const engine *g, real *x) {
  x->kind = ZERO;
  x->negative = 0;
  x->e = 0;
  mpfr_init2(x->v, g->precision);
  mpfr_set_zero(x->v, 1);
}

static void drop(real *x) { mpfr_clear(x->v); }

static void set_kind(real *x, kind k, int negative) {
  x->kind = k;
  x->negative = negative;
  mpfr_set_zero(x->v, 1);
}

static void copy(real *z, const real *x) {
  z->kind = x->kind;
  z->negative = x->negative;
  z->e = x->e;
  mpfr_set(z->v, x->v, MPFR_RNDN);
}

/* Kind and sign from the value; an exact zero is +0. */
static void settle(real *x) {
  x->kind = mpfr_zero_p(x->v) ? ZERO : FINITE;
  x->negative = x->kind == FINITE && mpfr_sgn(x->v) < 0;
}

/* floor(log2 |x|) */
static int log2_of(const real *x) { return (int)mpfr_get_exp(x->v) - 1; }

static void multiply(real *z, const real *x, const real *y) {
  int negative = x->negative != y->negative;
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER)
    set_kind(z, NOT_A_NUMBER, 0);
  else if (x->kind == INFINITE || y->kind == INFINITE)
    set_kind(z, x->kind == ZERO || y->kind == ZERO ? NOT_A_NUMBER : INFINITE, negative);
  else if (x->kind == ZERO || y->kind == ZERO)
    set_kind(z, ZERO, negative);
  else {
    assert_int_equal(mpfr_mul(z->v, x->v, y->v, MPFR_RNDN), 0);
    settle(z);
  }
  if (z->kind == NOT_A_NUMBER) z->negative = 0;
}

/* IEEE 754 section 6.3: x + y = 0 exactly has the sign of both, else + (- where the rounding goes toward negative). */
static void add(real *z, const real *x, const real *y, int down) {
  if (x->kind == NOT_A_NUMBER || y->kind == NOT_A_NUMBER ||
      (x->kind == INFINITE && y->kind == INFINITE && x->negative != y->negative)) {
    set_kind(z, NOT_A_NUMBER, 0);
  } else if (x->kind == INFINITE || y->kind == INFINITE) {
    set_kind(z, INFINITE, x->kind == INFINITE ? x->negative : y->negative);
  } else if (x->kind == ZERO && y->kind == ZERO) {
    set_kind(z, ZERO, x->negative == y->negative ? x->negative : down);
  } else {
    assert_int_equal(mpfr_add(z->v, x->v, y->v, MPFR_RNDN), 0);
    settle(z);
    if (z->kind == ZERO) z->negative = down;
  }
}

static void negate(real *x) {
  x->negative = !x->negative;
  mpfr_neg(x->v, x->v, MPFR_RNDN);
}

/* ---- reading ---- */

static void from_code(real *z, const table *t, uint32_t code) {
  exact x;
  exact_from_code(&x, t, code);
  z->kind = x.kind == CODE_NAN        ? NOT_A_NUMBER
            : x.kind == CODE_INFINITE ? INFINITE
            : mpfr_zero_p(x.value)    ? ZERO
                                      : FINITE;
  z->negative = x.negative;
  if (z->kind == FINITE)
    mpfr_set(z->v, x.value, MPFR_RNDN);
  else
    mpfr_set_zero(z->v, 1);
  if (z->kind == FINITE && x.negative) mpfr_neg(z->v, z->v, MPFR_RNDN);
}

static void from_binary64(real *z, uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  set_kind(z, d != d ? NOT_A_NUMBER : d - d != 0 ? INFINITE : d == 0 ? ZERO : FINITE, d == d && (bits >> 63) != 0);
  if (z->kind == FINITE) mpfr_set_d(z->v, d, MPFR_RNDN);
}

static void flush_operand(real *z, int daz, int emin) {
  if (daz == HU_DAZ_NONE || z->kind > FINITE || (z->kind == FINITE && log2_of(z) >= emin)) return;
  set_kind(z, ZERO, daz == HU_DAZ_SIGN && z->negative);
}

/* An operand of A or B, with everything that block(...) does to it. */
static void operand(const engine *g, real *z, const table *t, hu_element e, uint64_t pattern) {
  const hu_block *b = &g->x->accum.block;
  table as = *t;
  if (e.kind == HU_ELEMENT_BINARY64) {
    from_binary64(z, pattern);
    return;
  }
  if (b->input && t->f.m > b->input) pattern = pattern >> (t->f.m - b->input) << (t->f.m - b->input);
  from_code(z, t, (uint32_t)pattern);
  if (b->as.sign) assert_int_equal(table_make(&as, b->as), HU_OK);
  flush_operand(z, b->daz, as.emin);
  z->e = z->kind != FINITE ? 0 : log2_of(z) > as.emin ? log2_of(z) : as.emin;
}

static void read_a(const engine *g, real *z, size_t k) { operand(g, z, &g->ta, g->x->a, g->x->at[k]); }
static void read_b(const engine *g, real *z, size_t k) { operand(g, z, &g->tb, g->x->b, g->x->bt[k]); }

/* The exact product; z->e is the sum of the operands' exponents. */
static void product_at(const engine *g, real *z, size_t k) {
  real a, b;
  make(g, &a);
  make(g, &b);
  read_a(g, &a, k);
  read_b(g, &b, k);
  multiply(z, &a, &b);
  z->e = a.e + b.e;
  drop(&a);
  drop(&b);
}

/* ---- roundings ---- */

/* Section 11.3: word number r mod 4 of the block with counter words (element, 1 + r / 4). Philox 4x32-10 as published.
 */
static uint32_t step_word(const engine *g, uint64_t r) {
  uint64_t element = g->x->element, block = 1 + r / 4;
  uint32_t c[4] = {(uint32_t)element, (uint32_t)(element >> 32), (uint32_t)block, (uint32_t)(block >> 32)};
  uint32_t k[2] = {(uint32_t)g->x->key, (uint32_t)(g->x->key >> 32)};
  for (int i = 0; i < 10; i++) {
    uint64_t p = UINT64_C(0xD2511F53) * c[0], q = UINT64_C(0xCD9E8D57) * c[2];
    uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k[0], (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k[1], (uint32_t)p};
    memcpy(c, next, sizeof c);
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c[r % 4];
}

static void to_exact(exact *z, const real *x) {
  exact_init(z, PRECISION);
  z->kind = x->kind == NOT_A_NUMBER ? CODE_NAN : x->kind == INFINITE ? CODE_INFINITE : CODE_FINITE;
  z->negative = x->negative;
  if (x->kind == FINITE) mpfr_abs(z->value, x->v, MPFR_RNDN);
}

static int below(const real *x, int emin) { return x->kind == FINITE && log2_of(x) < emin; }

/* x becomes what the step's format makes of it. */
static void rounded(engine *g, const grid *to, real *x) {
  exact e;
  uint32_t code, events, random = 0;
  int negative = x->negative;
  uint64_t r = g->roundings++;
  if (to->mode.bits) random = step_word(g, r) >> (32 - to->mode.bits);
  if (to->ftz == HU_FTZ_BEFORE && below(x, to->t.emin)) {
    set_kind(x, ZERO, negative);
    return;
  }
  to_exact(&e, x);
  round_exact(&to->t, to->mode, &e, random, &code, &events);
  if (to->over && events & HU_EVENT_OVERFLOW) {
    set_kind(x, INFINITE, negative);
    return;
  }
  from_code(x, &to->t, code);
  int tiny = below(x, to->t.emin) || (to->ftz == HU_FTZ_TINY && events & HU_EVENT_UNDERFLOW);
  if ((to->ftz == HU_FTZ_AFTER || to->ftz == HU_FTZ_TINY) && tiny) set_kind(x, ZERO, negative);
}

static int goes_down(const grid *to) { return to->mode.round == HU_RTN; }

/* z = rnd(x + y) */
static void rounded_sum(engine *g, const grid *to, real *z, const real *x, const real *y) {
  add(z, x, y, goes_down(to));
  rounded(g, to, z);
}

static void rounded_difference(engine *g, const grid *to, real *z, const real *x, const real *y) {
  real minus;
  make(g, &minus);
  copy(&minus, y);
  negate(&minus);
  rounded_sum(g, to, z, x, &minus);
  drop(&minus);
}

static void rounded_product(engine *g, const grid *to, real *z, size_t k) {
  product_at(g, z, k);
  rounded(g, to, z);
}

/* c = rnd(a b + c), c in place. */
static void fused(engine *g, const grid *to, size_t k, real *c) {
  real p;
  make(g, &p);
  product_at(g, &p, k);
  rounded_sum(g, to, c, &p, c);
  drop(&p);
}

/* ---- software models, k0 ... k1 - 1, on top of s ---- */

static void seq2(engine *g, const grid *products, const grid *sums, size_t k0, size_t k1, real *s) {
  real p;
  make(g, &p);
  for (size_t k = k0; k < k1; k++) {
    rounded_product(g, products, &p, k);
    rounded_sum(g, sums, s, s, &p);
  }
  drop(&p);
}

static void chunk(engine *g, size_t k0, size_t k1, real *s) {
  real t;
  make(g, &t);
  for (size_t k = k0; k < k1; k += g->x->accum.length) {
    set_kind(&t, ZERO, 0);
    seq2(g, &g->product, &g->product, k, k + g->x->accum.length < k1 ? k + g->x->accum.length : k1, &t);
    rounded_sum(g, &g->sum, s, s, &t);
  }
  drop(&t);
}

static void pairwise(engine *g, size_t lo, size_t hi, real *z) {
  real right;
  if (hi - lo == 1) {
    rounded_product(g, &g->sum, z, lo);
    return;
  }
  size_t mid = lo + (hi - lo) / 2;
  make(g, &right);
  pairwise(g, lo, mid, z);
  pairwise(g, mid, hi, &right);
  rounded_sum(g, &g->sum, z, z, &right);
  drop(&right);
}

/* The sum that t[i] holds once all strides above `stride` have been added. */
static void strided(engine *g, size_t k0, size_t n, size_t i, size_t stride, size_t width, real *z) {
  real other;
  if (i >= n) {
    set_kind(z, ZERO, 0);
    return;
  }
  if (stride >= width) {
    rounded_product(g, &g->sum, z, k0 + i);
    return;
  }
  make(g, &other);
  strided(g, k0, n, i, 2 * stride, width, z);
  strided(g, k0, n, i + stride, 2 * stride, width, &other);
  rounded_sum(g, &g->sum, z, z, &other);
  drop(&other);
}

static void tree_model(engine *g, size_t k0, size_t k1, real *s) {
  real z;
  size_t width = 1;
  make(g, &z);
  while (width < k1 - k0) width *= 2;
  if (k1 > k0 && g->x->accum.kind == HU_ACCUM_PAIRWISE) pairwise(g, k0, k1, &z);
  if (k1 > k0 && g->x->accum.kind == HU_ACCUM_STRIDED) strided(g, k0, k1 - k0, 0, 1, width, &z);
  rounded_sum(g, &g->sum, s, &z, s);
  drop(&z);
}

static void kahan(engine *g, size_t k0, size_t k1, real *s) {
  real c, p, y, t, d;
  make(g, &c);
  make(g, &p);
  make(g, &y);
  make(g, &t);
  make(g, &d);
  for (size_t k = k0; k < k1; k++) {
    rounded_product(g, &g->sum, &p, k);
    rounded_difference(g, &g->sum, &y, &p, &c);
    rounded_sum(g, &g->sum, &t, s, &y);
    rounded_difference(g, &g->sum, &d, &t, s);
    rounded_difference(g, &g->sum, &c, &d, &y);
    copy(s, &t);
  }
  drop(&c);
  drop(&p);
  drop(&y);
  drop(&t);
  drop(&d);
}

static void neumaier(engine *g, size_t k0, size_t k1, real *s) {
  real c, v, t, d;
  make(g, &c);
  make(g, &v);
  make(g, &t);
  make(g, &d);
  for (size_t k = k0; k < k1; k++) {
    rounded_product(g, &g->sum, &v, k);
    rounded_sum(g, &g->sum, &t, s, &v);
    int first = mpfr_cmpabs(s->v, v.v) >= 0;
    rounded_difference(g, &g->sum, &d, first ? s : &v, &t);
    rounded_sum(g, &g->sum, &d, &d, first ? &v : s);
    rounded_sum(g, &g->sum, &c, &c, &d);
    copy(s, &t);
  }
  rounded_sum(g, &g->sum, s, s, &c);
  drop(&c);
  drop(&v);
  drop(&t);
  drop(&d);
}

/* ---- blocks ---- */

enum { BLOCK_MAX = 4096 };
typedef struct block {
  size_t k[BLOCK_MAX];
  size_t count;
} block;

/* z = the exact integer of x / 2^q without its fraction: rule 0 toward zero, 1 toward minus infinity, 2 to nearest
 * even; then times 2^q again. */
static void cut(real *z, const real *x, long q, int rule) {
  mpfr_mul_2si(z->v, x->v, -q, MPFR_RNDN);
  if (rule == HU_CUT_TRUNC) mpfr_trunc(z->v, z->v);
  if (rule == HU_CUT_FLOOR) mpfr_floor(z->v, z->v);
  if (rule == HU_CUT_NEAREST) mpfr_roundeven(z->v, z->v);
  mpfr_mul_2si(z->v, z->v, q, MPFR_RNDN);
  settle(z);
}

/* The scales of product k; 1 if one is NaN. *e: their exponents together; *value: their product. */
static int scales_of(const engine *g, size_t k, int *e, real *value) {
  real a, b;
  size_t j = k / g->x->accum.block.every;
  make(g, &a);
  make(g, &b);
  from_code(&a, &g->ts, (uint32_t)g->x->sa[j]);
  from_code(&b, &g->ts, (uint32_t)g->x->sb[j]);
  int nan = a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER, low = g->ts.emin;
  *e = (a.kind == FINITE && log2_of(&a) > low ? log2_of(&a) : low) +
       (b.kind == FINITE && log2_of(&b) > low ? log2_of(&b) : low);
  multiply(value, &a, &b);
  drop(&a);
  drop(&b);
  return nan;
}

/* Term k of a block: product and, where there are scales, theirs. */
static void term_at(const engine *g, real *z, size_t k) {
  const hu_block *b = &g->x->accum.block;
  product_at(g, z, k);
  if (b->every) {
    real scale;
    int e;
    make(g, &scale);
    if (scales_of(g, k, &e, &scale)) set_kind(z, NOT_A_NUMBER, 0);
    if (z->kind == FINITE) multiply(z, z, &scale);
    z->e += e;
    drop(&scale);
  }
  if (b->big && z->kind == FINITE && log2_of(z) >= b->big) set_kind(z, INFINITE, z->negative);
}

/* NaN and infinities among c and the terms: 1 and the answer in z. */
static int special(const engine *g, const block *b, const real *c, real *z) {
  int nan = c->kind == NOT_A_NUMBER, inf[2] = {0, 0};
  real t;
  make(g, &t);
  if (c->kind == INFINITE) inf[c->negative] = 1;
  for (size_t i = 0; i < b->count; i++) {
    term_at(g, &t, b->k[i]);
    if (t.kind == NOT_A_NUMBER) nan = 1;
    if (t.kind == INFINITE) inf[t.negative] = 1;
  }
  drop(&t);
  if (nan || (inf[0] && inf[1]))
    set_kind(z, NOT_A_NUMBER, 0);
  else if (inf[0] || inf[1])
    set_kind(z, INFINITE, inf[1]);
  return nan || inf[0] || inf[1];
}

static int exponent_of_c(const engine *g, const real *c) {
  int low = g->product.t.emin;
  return c->kind == FINITE && log2_of(c) > low ? log2_of(c) : low;
}

/* z += x, exactly; an exact zero is +0. */
static void accumulate(real *z, const real *x) {
  assert_int_equal(mpfr_add(z->v, z->v, x->v, MPFR_RNDN), 0);
  settle(z);
}

static void align(engine *g, const block *b, real *c) {
  const hu_block *o = &g->x->accum.block;
  real t, s;
  int e = o->emin;
  make(g, &t);
  make(g, &s);
  if (!special(g, b, c, &s)) {
    if (c->kind == FINITE && exponent_of_c(g, c) > e) e = exponent_of_c(g, c);
    for (size_t i = 0; i < b->count; i++) {
      term_at(g, &t, b->k[i]);
      if (t.kind == FINITE && t.e > e) e = t.e;
    }
    if (c->kind == FINITE) cut(&s, c, e - o->kept, o->cut);
    for (size_t i = 0; i < b->count; i++) {
      term_at(g, &t, b->k[i]);
      if (t.kind == FINITE) {
        cut(&t, &t, e - o->kept, o->cut);
        accumulate(&s, &t);
      }
    }
    settle(&s);
  }
  copy(c, &s);
  rounded(g, &g->sum, c);
  drop(&t);
  drop(&s);
}

/* The products of the group that starts at b->k[i], added exactly and scaled; 0 if it has no influence. */
static int group_at(const engine *g, const block *b, size_t i, real *z) {
  real p, scale;
  int there = 0, e = 0;
  make(g, &p);
  make(g, &scale);
  set_kind(z, ZERO, 0);
  for (size_t n = i; n < i + g->x->accum.block.group && n < b->count; n++) {
    product_at(g, &p, b->k[n]);
    if (p.kind != FINITE) continue;
    there = 1;
    accumulate(z, &p);
  }
  (void)scales_of(g, b->k[i], &e, &scale);
  if (scale.kind != FINITE) there = 0;
  if (there) mpfr_mul(z->v, z->v, scale.v, MPFR_RNDN);
  if (!there) set_kind(z, ZERO, 0);
  z->e = e;
  drop(&p);
  drop(&scale);
  return there;
}

static void groups(engine *g, const block *b, real *c) {
  const hu_block *o = &g->x->accum.block;
  real t, s;
  int e = o->emin;
  make(g, &t);
  make(g, &s);
  if (!special(g, b, c, &s)) {
    if (c->kind == FINITE && exponent_of_c(g, c) > e) e = exponent_of_c(g, c);
    for (size_t i = 0; i < b->count; i += o->group)
      if (group_at(g, b, i, &t) && t.e > e) e = t.e;
    if (c->kind == FINITE) cut(&s, c, e - o->kept, o->cut);
    for (size_t i = 0; i < b->count; i += o->group) {
      if (!group_at(g, b, i, &t)) continue;
      cut(&t, &t, e - o->kept, o->cut);
      accumulate(&s, &t);
    }
    settle(&s);
  }
  copy(c, &s);
  rounded(g, &g->sum, c);
  drop(&t);
  drop(&s);
}

/* Every `step`-th term from `first` on, cut below its own largest exponent; 0 if there is no non-zero one. */
static int lane(const engine *g, const block *b, size_t first, size_t step, real *s, int *e) {
  int any = 0;
  real t;
  make(g, &t);
  set_kind(s, ZERO, 0);
  for (size_t i = first; i < b->count; i += step) {
    term_at(g, &t, b->k[i]);
    if (t.kind != FINITE) continue;
    *e = any && *e > t.e ? *e : t.e;
    any = 1;
  }
  for (size_t i = first; any && i < b->count; i += step) {
    term_at(g, &t, b->k[i]);
    if (t.kind != FINITE) continue;
    cut(&t, &t, *e - g->x->accum.block.kept, HU_CUT_TRUNC);
    accumulate(s, &t);
  }
  drop(&t);
  return any;
}

/* The sum of the products, at exponent *e; 0 if there are none. */
static int lanes_sum(const engine *g, const block *b, real *s, int *e) {
  const hu_block *o = &g->x->accum.block;
  int e0 = 0, e1 = 0;
  real s1;
  if (o->lanes != 2) return lane(g, b, 0, 1, s, e);
  make(g, &s1);
  int any0 = lane(g, b, 0, 2, s, &e0), any1 = lane(g, b, 1, 2, &s1, &e1);
  *e = !any1 || (any0 && e0 > e1) ? e0 : e1;
  if (any0) cut(s, s, *e - o->kept, HU_CUT_FLOOR);
  if (any1) cut(&s1, &s1, *e - o->kept, HU_CUT_FLOOR);
  if (any1) accumulate(s, &s1);
  drop(&s1);
  return any0 || any1;
}

static void late(engine *g, const block *b, real *c) {
  const hu_block *o = &g->x->accum.block;
  real s, q;
  make(g, &s);
  make(g, &q);
  if (!special(g, b, c, &s)) {
    int ed = 0, ec = exponent_of_c(g, c), any = lanes_sum(g, b, &s, &ed), e = any && ed > ec ? ed : ec;
    cut(&s, &s, e - o->kept2 - 1, HU_CUT_FLOOR);
    if (c->kind == FINITE && !(o->far && ec < e - o->far)) {
      cut(&q, c, e - o->kept, HU_CUT_FLOOR);
      accumulate(&s, &q);
    }
    if (s.kind == FINITE) {
      int x = log2_of(&s) > g->product.t.emin ? log2_of(&s) : g->product.t.emin;
      cut(&s, &s, x - o->kept2, HU_CUT_FLOOR);
    }
  }
  copy(c, &s);
  rounded(g, &g->sum, c);
  drop(&s);
  drop(&q);
}

static void exact_block(engine *g, const block *b, real *c) {
  real t, s;
  make(g, &t);
  make(g, &s);
  if (!special(g, b, c, &s)) {
    if (c->kind == FINITE) accumulate(&s, c);
    for (size_t i = 0; i < b->count; i++) {
      term_at(g, &t, b->k[i]);
      if (t.kind == FINITE) accumulate(&s, &t);
    }
  }
  copy(c, &s);
  rounded(g, &g->sum, c);
  drop(&t);
  drop(&s);
}

/* Leaves first ... first + n - 1 (n a power of two) of a tree; +0 where there is no product. Depth first, left to
 * right. */
static void tree_node(engine *g, const block *b, size_t first, size_t n, real *z) {
  real right;
  if (n == 1) {
    if (first < b->count)
      product_at(g, z, b->k[first]);
    else
      set_kind(z, ZERO, 0);
    rounded(g, &g->sum, z);
    return;
  }
  make(g, &right);
  tree_node(g, b, first, n / 2, z);
  tree_node(g, b, first + n / 2, n / 2, &right);
  rounded_sum(g, &g->sum, z, z, &right);
  drop(&right);
}

static void tree(engine *g, const block *b, real *c) {
  real s, t;
  make(g, &s);
  make(g, &t);
  if (g->x->accum.block.products) {
    product_at(g, &s, b->k[0]);
    if (b->count > 1) product_at(g, &t, b->k[1]);
    rounded_sum(g, &g->sum, &s, &s, &t);
  } else {
    tree_node(g, b, 0, g->x->accum.block.length, &s);
  }
  rounded_sum(g, &g->sum, c, c, &s);
  drop(&s);
  drop(&t);
}

static void chain(engine *g, const block *b, real *c) {
  int down = g->x->accum.block.order == HU_ORDER_DOWN;
  for (size_t i = 0; i < b->count; i++) fused(g, &g->sum, b->k[down ? b->count - 1 - i : i], c);
}

static void two_lanes(engine *g, const block *b, real *c) {
  real even, odd;
  make(g, &even);
  make(g, &odd);
  for (size_t i = 0; i < b->count; i++) fused(g, &g->sum, b->k[i], i % 2 ? &odd : &even);
  rounded_sum(g, &g->sum, &even, &even, &odd);
  rounded_sum(g, &g->sum, c, c, &even);
  drop(&even);
  drop(&odd);
}

static void one_block(engine *g, const block *b, real *c) {
  switch (g->x->accum.block.rule) {
    case HU_BLOCK_ALIGN: align(g, b, c); break;
    case HU_BLOCK_GROUPS: groups(g, b, c); break;
    case HU_BLOCK_LATE: late(g, b, c); break;
    case HU_BLOCK_EXACT: exact_block(g, b, c); break;
    case HU_BLOCK_TREE: tree(g, b, c); break;
    case HU_BLOCK_CHAIN: chain(g, b, c); break;
    default: two_lanes(g, b, c); break;
  }
}

/* Which k of k ... k1 - 1 the block takes: half 0 or 1 of a mod4 pair, or all. */
static void choose(const hu_block *o, block *b, size_t k, size_t k1, int half) {
  int mod4 = o->order == HU_ORDER_MOD4;
  size_t past = k + (size_t)o->length * (mod4 ? 2 : 1);
  b->count = 0;
  for (size_t i = k; i < past && i < k1; i++)
    if (!mod4 || ((i - k) % 4 >= 2) == half) b->k[b->count++] = i;
}

static void blocks(engine *g, size_t k0, size_t k1, real *c) {
  static block b;
  const hu_block *o = &g->x->accum.block;
  int halves = o->order == HU_ORDER_MOD4 ? 2 : 1;
  real s;
  make(g, &s);
  flush_operand(c, o->daz, g->sum.t.emin);
  for (size_t k = k0; k < k1; k += (size_t)o->length * (size_t)halves) {
    if (o->join == HU_JOIN_LAST)
      set_kind(&s, ZERO, 0);
    else
      copy(&s, c);
    for (int half = 0; half < halves; half++) {
      choose(o, &b, k, k1, half);
      one_block(g, &b, &s);
    }
    if (o->join == HU_JOIN_LAST)
      rounded_sum(g, &g->plain, c, &s, c);
    else
      copy(c, &s);
  }
  drop(&s);
}

/* ---- models inside models ---- */

static void base(engine *g, size_t k0, size_t k1, real *s) {
  switch (g->x->accum.kind) {
    case HU_ACCUM_SEQ2: seq2(g, &g->product, &g->sum, k0, k1, s); break;
    case HU_ACCUM_CHUNK: chunk(g, k0, k1, s); break;
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: tree_model(g, k0, k1, s); break;
    case HU_ACCUM_KAHAN: kahan(g, k0, k1, s); break;
    case HU_ACCUM_NEUMAIER: neumaier(g, k0, k1, s); break;
    case HU_ACCUM_BLOCK: blocks(g, k0, k1, s); break;
    default:
      for (size_t k = k0; k < k1; k++) fused(g, &g->sum, k, s);
  }
}

static void promoted(engine *g, size_t k0, size_t k1, real *s) {
  size_t n = g->x->accum.promote;
  real part, a, b;
  if (n == 0) {
    base(g, k0, k1, s);
    return;
  }
  make(g, &part);
  make(g, &a);
  make(g, &b);
  size_t j = k0 / n;
  for (size_t k = k0; k < k1; k += n, j++) {
    set_kind(&part, ZERO, 0);
    base(g, k, k + n < k1 ? k + n : k1, &part);
    if (g->x->accum.scaled) {
      from_code(&a, &g->ts, (uint32_t)g->x->sa[j]);
      from_code(&b, &g->ts, (uint32_t)g->x->sb[j]);
      multiply(&a, &a, &b);
      rounded(g, &g->plain, &a);
      multiply(&part, &a, &part);
      rounded_sum(g, &g->plain, s, &part, s);
    } else {
      rounded_sum(g, &g->plain, s, s, &part);
    }
  }
  drop(&part);
  drop(&a);
  drop(&b);
}

static void sliced(engine *g, size_t n, real *s) {
  size_t slices = g->x->accum.slices, at = 0;
  real sum, part;
  if (slices > n) slices = n;
  make(g, &sum);
  make(g, &part);
  for (size_t i = 0; i < slices; i++) {
    size_t past = at + n / slices + (i < n % slices ? 1 : 0);
    set_kind(&part, ZERO, 0);
    promoted(g, at, past, &part);
    if (i == 0)
      copy(&sum, &part);
    else
      rounded_sum(g, &g->plain, &sum, &sum, &part);
    at = past;
  }
  rounded_sum(g, &g->plain, s, &sum, s);
  drop(&sum);
  drop(&part);
}

/* Section 8. */
static void whole(engine *g, size_t n, real *c) {
  int plus = c->kind == ZERO && !c->negative, minus = c->kind == ZERO && c->negative, other = c->kind == FINITE;
  static block b;
  real t, s;
  make(g, &t);
  make(g, &s);
  b.count = n;
  for (size_t k = 0; k < n; k++) b.k[k] = k;
  if (!special(g, &b, c, &s)) {
    if (c->kind == FINITE) accumulate(&s, c);
    for (size_t k = 0; k < n; k++) {
      product_at(g, &t, k);
      plus |= t.kind == ZERO && !t.negative;
      minus |= t.kind == ZERO && t.negative;
      other |= t.kind == FINITE;
      if (t.kind == FINITE) accumulate(&s, &t);
    }
    int all_minus = minus && !plus && !other, all_plus = plus && !minus && !other;
    if (s.kind == ZERO) s.negative = all_minus || (g->x->mode.round == HU_RTN && !all_plus);
  }
  copy(c, &s);
  drop(&t);
  drop(&s);
}

/* ---- binary64 ---- */

/* Ties to even: MPFR's own, with binary64's exponent range. Also the events. */
static uint64_t to_binary64(const real *x, uint32_t *events) {
  double d;
  uint64_t bits;
  *events = x->kind == NOT_A_NUMBER ? HU_EVENT_NAN_IN : x->kind == INFINITE ? HU_EVENT_INF_IN : 0;
  if (x->kind == NOT_A_NUMBER) return UINT64_C(0x7FF8000000000000);
  if (x->kind == INFINITE) return UINT64_C(0x7FF0000000000000) | (uint64_t)x->negative << 63;
  if (x->kind == ZERO) return (uint64_t)x->negative << 63;
  d = mpfr_get_d(x->v, MPFR_RNDN);
  memcpy(&bits, &d, sizeof d);
  if (d - d != 0) {
    *events = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
    return bits;
  }
  int inexact = mpfr_cmp_d(x->v, d) != 0;
  mpfr_t wide;
  mpfr_init2(wide, 53);
  mpfr_set(wide, x->v, MPFR_RNDN);
  int tiny = mpfr_get_exp(wide) - 1 < -1022;
  mpfr_clear(wide);
  if (inexact) *events |= HU_EVENT_INEXACT | (tiny ? HU_EVENT_UNDERFLOW : 0);
  if (d == 0)
    *events |= HU_EVENT_TO_ZERO;
  else if (d < 0x1p-1022 && d > -0x1p-1022)
    *events |= HU_EVENT_SUBNORMAL;
  return bits;
}

static void fp64(engine *g, size_t n, real *c) {
  real p;
  uint32_t events;
  make(g, &p);
  for (size_t k = 0; k < n; k++) {
    product_at(g, &p, k);
    add(c, &p, c, 0);
    from_binary64(c, to_binary64(c, &events));
  }
  drop(&p);
}

/* ---- integers ---- */

static int64_t integer(hu_element e, uint64_t pattern) {
  int bits = e.kind == HU_ELEMENT_S8 || e.kind == HU_ELEMENT_U8 ? 8 : e.kind == HU_ELEMENT_S32 ? 32 : 4;
  int64_t x = (int64_t)(pattern & ((UINT64_C(1) << bits) - 1));
  int is_signed = e.kind == HU_ELEMENT_S8 || e.kind == HU_ELEMENT_S4 || e.kind == HU_ELEMENT_S32;
  return is_signed && x >> (bits - 1) ? x - ((int64_t)1 << bits) : x;
}

static uint64_t integers(const dot *x, uint32_t *events) {
  int64_t c = x->has_c ? integer(x->c, x->ct) : 0;
  size_t step = x->accum.length ? x->accum.length : x->n ? x->n : 1;
  *events = 0;
  for (size_t k = 0; k < x->n; k += step) {
    for (size_t i = k; i < k + step && i < x->n; i++) c += integer(x->a, x->at[i]) * integer(x->b, x->bt[i]);
    if (!x->accum.length) continue;
    if (c > INT32_MAX || c < INT32_MIN) *events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED;
    c = c > INT32_MAX ? INT32_MAX : c < INT32_MIN ? INT32_MIN : c;
  }
  return (uint64_t)c & 0xFFFFFFFF;
}

/* ---- all ---- */

static grid grid_of(hu_format f, hu_mode mode) {
  grid z;
  memset(&z, 0, sizeof z);
  if (table_make(&z.t, f) != HU_OK) memset(&z.t, 0, sizeof z.t); /* not used by this model */
  z.mode = mode;
  return z;
}

static int has_nan(const engine *g, const real *c) {
  real x;
  int found = c->kind == NOT_A_NUMBER;
  make(g, &x);
  for (size_t k = 0; k < g->x->n && !found; k++) {
    read_a(g, &x, k);
    found = x.kind == NOT_A_NUMBER;
    read_b(g, &x, k);
    found |= x.kind == NOT_A_NUMBER;
  }
  for (size_t j = 0; j < g->x->scales && !found; j++) {
    from_code(&x, &g->ts, (uint32_t)g->x->sa[j]);
    found = x.kind == NOT_A_NUMBER;
    from_code(&x, &g->ts, (uint32_t)g->x->sb[j]);
    found |= x.kind == NOT_A_NUMBER;
  }
  drop(&x);
  return found;
}

static void start(engine *g, const dot *x) {
  static const hu_mode rne;
  const hu_accum *m = &x->accum;
  int wide = x->a.kind == HU_ELEMENT_BINARY64 || x->b.kind == HU_ELEMENT_BINARY64 || x->c.kind == HU_ELEMENT_BINARY64 ||
             x->a.format.e > 8 || x->b.format.e > 8 || x->c.format.e > 8 || m->sum.e > 8 || m->product.e > 8 ||
             x->scale.e || m->kind == HU_ACCUM_FP64;
  memset(g, 0, sizeof *g);
  g->x = x;
  g->precision = wide ? PRECISION : SMALL;
  hu_format sum = m->kind == HU_ACCUM_FP32 ? hu_format_ieee(8, 23, 0) : m->sum;
  int cuts = m->kind == HU_ACCUM_BLOCK && m->block.rule <= HU_BLOCK_LATE;
  if (x->a.kind == HU_ELEMENT_CODE) assert_int_equal(table_make(&g->ta, x->a.format), HU_OK);
  if (x->b.kind == HU_ELEMENT_CODE) assert_int_equal(table_make(&g->tb, x->b.format), HU_OK);
  if (x->c.kind == HU_ELEMENT_CODE) assert_int_equal(table_make(&g->tc, x->c.format), HU_OK);
  if (x->scales) assert_int_equal(table_make(&g->ts, x->scale), HU_OK);
  g->sum = grid_of(sum, m->mode);
  g->sum.over = m->block.over;
  g->sum.ftz = m->block.ftz;
  g->product = grid_of(m->product, m->mode);
  g->plain = grid_of(m->promote ? m->promoted : cuts ? m->product : sum, rne);
}

uint64_t reference_dot(const dot *x, uint32_t *events) {
  engine g;
  real c;
  exact e;
  uint32_t code = 0, random = 0;
  if (x->accum.kind == HU_ACCUM_INT32) return integers(x, events);
  start(&g, x);
  make(&g, &c);
  if (x->has_c && x->c.kind == HU_ELEMENT_BINARY64) from_binary64(&c, x->ct);
  if (x->has_c && x->c.kind == HU_ELEMENT_CODE) from_code(&c, &g.tc, (uint32_t)x->ct);
  int nan_operand = has_nan(&g, &c);
  if (x->accum.kind == HU_ACCUM_EXACT)
    whole(&g, x->n, &c);
  else if (x->accum.kind == HU_ACCUM_FP64)
    fp64(&g, x->n, &c);
  else if (x->accum.slices)
    sliced(&g, x->n, &c);
  else
    promoted(&g, 0, x->n, &c);
  int made = c.kind == NOT_A_NUMBER && !nan_operand;
  uint64_t z;
  if (x->c.kind == HU_ELEMENT_BINARY64) {
    z = to_binary64(&c, events);
  } else {
    if (x->mode.bits) random = hu_stream_word((hu_stream){x->key, x->element}, 0) >> (32 - x->mode.bits);
    to_exact(&e, &c);
    round_exact(&g.tc, x->mode, &e, random, &code, events);
    z = code;
  }
  if (made) *events = (*events & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  drop(&c);
  return z;
}
