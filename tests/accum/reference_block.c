/* SPDX-License-Identifier: MIT */
/* tests/accum/reference_block.c - the blocks of docs/numerics.md section 11.5 on big numbers. */
#include "tests/accum/reference_real.h"
#include "tests/support/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { NOWHERE = -100000 }; /* an exponent below every other */

/* Is the integer x even? */
static int is_even(mpfr_t x) {
  mpfr_t half;
  mpfr_init2(half, mpfr_get_prec(x));
  mpfr_div_2ui(half, x, 1, MPFR_RNDN);
  int even = mpfr_integer_p(half);
  mpfr_clear(half);
  return even;
}

/* Rounds x to odd: an integer stays, and any other x becomes the odd one of the two integers beside it. */
static void to_odd_integer(mpfr_t x) {
  if (mpfr_integer_p(x)) return;
  int negative = mpfr_signbit(x);
  mpfr_trunc(x, x);
  if (is_even(x)) mpfr_add_si(x, x, negative ? -1 : 1, MPFR_RNDN);
}

/* z = the exact integer of x / 2^q without its fraction: rule 0 toward zero, 1 toward minus infinity, 2 to nearest
 * even, 3 to odd; then times 2^q again. */
static void cut(real *z, const real *x, long q, int rule) {
  mpfr_mul_2si(z->v, x->v, -q, MPFR_RNDN);
  if (rule == HU_BLOCK_CUT_TRUNC) mpfr_trunc(z->v, z->v);
  if (rule == HU_BLOCK_CUT_FLOOR) mpfr_floor(z->v, z->v);
  if (rule == HU_BLOCK_CUT_NEAREST) mpfr_roundeven(z->v, z->v);
  if (rule == HU_BLOCK_CUT_ODD) to_odd_integer(z->v);
  mpfr_mul_2si(z->v, z->v, q, MPFR_RNDN);
  real_settle(z);
}

/* The scales of product k; 1 if one is NaN. *e: their exponents together; *value: their product. */
static int scales_of(const t_engine *engine, size_t k, int *e, real *value) {
  real a, b;
  size_t j = k / engine->x->accum.block.every;
  real_make(engine, &a);
  real_make(engine, &b);
  real_from_code(&a, &engine->ts, (uint32_t)engine->x->sa[j]);
  real_from_code(&b, &engine->ts, (uint32_t)engine->x->sb[j]);
  int nan = a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER, low = engine->ts.emin;
  *e = (a.kind == FINITE && real_log2(&a) > low ? real_log2(&a) : low) +
       (b.kind == FINITE && real_log2(&b) > low ? real_log2(&b) : low);
  real_multiply(value, &a, &b);
  real_drop(&a);
  real_drop(&b);
  return nan;
}

/* Term k of a block: product and, where there are scales, theirs. */
static void term_at(const t_engine *engine, real *z, size_t k) {
  const hu_block *b = &engine->x->accum.block;
  real_product(engine, z, k);
  if (b->every && b->scaling == HU_BLOCK_SCALING_TERMS) {
    real scale;
    int e;
    real_make(engine, &scale);
    if (scales_of(engine, k, &e, &scale)) real_set(z, NOT_A_NUMBER, 0);
    if (z->kind == FINITE) real_multiply(z, z, &scale);
    z->e = scale.kind == ZERO ? NOWHERE : z->e + e;
    real_drop(&scale);
  }
  if (b->big && z->kind == FINITE && real_log2(z) >= b->big) real_set(z, INFINITE, z->negative);
}

void block_read(const t_engine *engine, block *b) {
  for (size_t i = 0; i < b->count; i++) {
    real_make(engine, &b->term[i]);
    term_at(engine, &b->term[i], b->k[i]);
  }
}

void block_drop(block *b) {
  for (size_t i = 0; i < b->count; i++) real_drop(&b->term[i]);
}

/* NaN and infinities among c and the terms: 1 and the answer in z. */
int block_special(const block *b, const real *c, real *z) {
  int nan = c->kind == NOT_A_NUMBER, inf[2] = {0, 0};
  if (c->kind == INFINITE) inf[c->negative] = 1;
  for (size_t i = 0; i < b->count; i++) {
    if (b->term[i].kind == NOT_A_NUMBER) nan = 1;
    if (b->term[i].kind == INFINITE) inf[b->term[i].negative] = 1;
  }
  if (nan || (inf[0] && inf[1]))
    real_set(z, NOT_A_NUMBER, 0);
  else if (inf[0] || inf[1])
    real_set(z, INFINITE, inf[1]);
  return nan || inf[0] || inf[1];
}

static int exponent_of_c(const t_engine *engine, const real *c) {
  int low = engine->product.t.emin;
  return c->kind == FINITE && real_log2(c) > low ? real_log2(c) : low;
}

/* A number on its way into the block's output format. */
static void by_way(t_engine *engine, real *s) {
  if (engine->twice && s->kind <= FINITE) step_round(engine, &engine->via, s);
}

/* The sum of cut terms into the block's output format. */
static void out(t_engine *engine, real *s) {
  int special = s->kind > FINITE;
  by_way(engine, s);
  step_round(engine, &engine->sum, s);
  engine->watch.overflows += !special && (engine->events & HU_EVENT_OVERFLOW) != 0;
}

/* Terms are cut at 2^(e - F) and added. */
typedef struct cutting {
  real s, t;
  int e, lost;
} cutting;

/* Is a zero of exponent e among what E is the largest of? */
static int zeros_count(const hu_block *rule) {
  return rule->zeros == HU_BLOCK_ZEROS_EXPONENT || rule->zeros == HU_BLOCK_ZEROS_BOTH;
}

static int zeros_stick(const hu_block *rule) {
  return rule->zeros == HU_BLOCK_ZEROS_STICKY || rule->zeros == HU_BLOCK_ZEROS_BOTH;
}

static void raise_to(cutting *z, const hu_block *rule, kind of, int e) {
  if (rule->to == HU_BLOCK_TO_FIXED) return;
  if ((of == FINITE || (of == ZERO && zeros_count(rule))) && e > z->e) z->e = e;
}

/* The sum within the register, if there is one. */
static void keep_in_register(cutting *z, const hu_block *rule) {
  mpz_t n, top;
  if (!rule->wide) return;
  mpz_inits(n, top, (mpz_ptr)0);
  mpfr_mul_2si(z->s.v, z->s.v, rule->kept - z->e, MPFR_RNDN);
  assert_int_equal(mpfr_get_z(n, z->s.v, MPFR_RNDN), 0);
  mpz_ui_pow_ui(top, 2, (unsigned long)rule->wide + rule->kept);
  if (rule->past == HU_BLOCK_PAST_WRAP) {
    mpz_add(n, n, top);
    mpz_fdiv_r_2exp(n, n, (unsigned long)rule->wide + rule->kept + 1);
    mpz_sub(n, n, top);
  } else if (mpz_cmp(n, top) >= 0) {
    mpz_sub_ui(n, top, 1);
  } else {
    mpz_neg(top, top);
    if (mpz_cmp(n, top) < 0) mpz_set(n, top);
  }
  mpfr_set_z_2exp(z->s.v, n, z->e - rule->kept, MPFR_RNDN);
  mpz_clears(n, top, (mpz_ptr)0);
}

/* The sum begins with c. */
static void begin_cut(t_engine *engine, cutting *z, const real *c) {
  const hu_block *rule = &engine->x->accum.block;
  z->lost = c->kind == ZERO && zeros_stick(rule);
  if (c->kind != FINITE) return;
  cut(&z->s, c, z->e - rule->kept, rule->cut);
  z->lost = !mpfr_equal_p(z->s.v, c->v);
  watch_cut(engine, z->e - exponent_of_c(engine, c), &z->s);
  keep_in_register(z, rule);
}

/* Adds a term that is not zero. */
static void add_cut(t_engine *engine, cutting *z, const real *x) {
  const hu_block *rule = &engine->x->accum.block;
  cut(&z->t, x, z->e - rule->kept, rule->cut);
  z->lost |= !mpfr_equal_p(z->t.v, x->v);
  watch_cut(engine, z->e - x->e, &z->t);
  real_accumulate(&z->s, &z->t);
  keep_in_register(z, rule);
}

/* The sum goes into c. */
static void end_cut(t_engine *engine, cutting *z, real *c) {
  const hu_block *rule = &engine->x->accum.block;
  real_settle(&z->s);
  if (rule->sticky && z->lost && z->s.kind == FINITE) {
    int down = rule->cut == HU_BLOCK_CUT_TRUNC && z->s.negative;
    mpfr_set_si_2exp(z->t.v, down ? -1 : 1, z->e - rule->kept - 70, MPFR_RNDN);
    real_accumulate(&z->s, &z->t);
  }
  real_copy(c, &z->s);
  out(engine, c);
}

static void make_cut(const t_engine *engine, cutting *z) {
  real_make(engine, &z->s);
  real_make(engine, &z->t);
  z->e = engine->x->accum.block.emin;
  z->lost = 0;
}

static void drop_cut(cutting *z) {
  real_drop(&z->s);
  real_drop(&z->t);
}

static void align(t_engine *engine, const block *b, real *c) {
  const hu_block *rule = &engine->x->accum.block;
  cutting z;
  make_cut(engine, &z);
  if (block_special(b, c, &z.s)) {
    real_copy(c, &z.s);
    out(engine, c);
  } else {
    raise_to(&z, rule, c->kind, exponent_of_c(engine, c));
    for (size_t i = 0; i < b->count; i++) raise_to(&z, rule, b->term[i].kind, b->term[i].e);
    begin_cut(engine, &z, c);
    for (size_t i = 0; i < b->count; i++) {
      if (b->term[i].kind == FINITE) add_cut(engine, &z, &b->term[i]);
      if (b->term[i].kind == ZERO) z.lost |= zeros_stick(rule);
    }
    end_cut(engine, &z, c);
  }
  drop_cut(&z);
}

/* The largest exponent of the products of a group, NOWHERE if none counts; how many are zero, and all. */
static int group_top(const t_engine *engine, const block *b, size_t i, int *zeros, int *count) {
  int top = NOWHERE;
  real p;
  *zeros = *count = 0;
  real_make(engine, &p);
  for (size_t n = i; n < i + engine->x->accum.block.group && n < b->count; n++, ++*count) {
    real_product(engine, &p, b->k[n]);
    if (p.kind == ZERO) ++*zeros;
    if (p.e > top && (p.kind == FINITE || zeros_count(&engine->x->accum.block))) top = p.e;
  }
  real_drop(&p);
  return top;
}

/* The products of the group that starts at b->k[i], added exactly or in a window, and scaled; 0 if it is left out.
 * *zeros: how many of them are 0. A group of zeros has the kind ZERO. */
static int group_at(const t_engine *engine, const block *b, size_t i, real *z, int *zeros) {
  const hu_block *rule = &engine->x->accum.block;
  real p, scale;
  int count, there = 1, top = group_top(engine, b, i, zeros, &count);
  real_make(engine, &p);
  real_make(engine, &scale);
  real_set(z, ZERO, 0);
  z->e = top;
  for (size_t n = i; n < i + (size_t)count; n++) {
    real_product(engine, &p, b->k[n]);
    if (p.kind != FINITE) continue;
    if (rule->window) cut(&p, &p, top - rule->window, rule->cut);
    real_accumulate(z, &p);
  }
  if (rule->every) {
    (void)scales_of(engine, b->k[i], &z->e, &scale);
    there = scale.kind == FINITE;
    if (there) mpfr_mul(z->v, z->v, scale.v, MPFR_RNDN);
  }
  z->kind = *zeros == count ? ZERO : FINITE;
  real_drop(&p);
  real_drop(&scale);
  return there;
}

/* The sum of a group, and what group_at says of it. */
typedef struct group {
  real sum;
  int there, zeros;
} group;

/* Adds up each group once. Returns how many there are; group_drop drops them. */
static size_t group_read(const t_engine *engine, const block *b, group all[BLOCK_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < b->count; i += engine->x->accum.block.group, count++) {
    real_make(engine, &all[count].sum);
    all[count].there = group_at(engine, b, i, &all[count].sum, &all[count].zeros);
  }
  return count;
}

static void group_drop(group all[BLOCK_MAX], size_t count) {
  for (size_t i = 0; i < count; i++) real_drop(&all[i].sum);
}

static void groups(t_engine *engine, const block *b, real *c) {
  const hu_block *rule = &engine->x->accum.block;
  group all[BLOCK_MAX];
  cutting z;
  make_cut(engine, &z);
  if (block_special(b, c, &z.s)) {
    real_copy(c, &z.s);
    out(engine, c);
  } else {
    size_t count = group_read(engine, b, all);
    raise_to(&z, rule, c->kind, exponent_of_c(engine, c));
    for (size_t i = 0; i < count; i++)
      if (all[i].there) raise_to(&z, rule, all[i].sum.kind, all[i].sum.e);
    begin_cut(engine, &z, c);
    for (size_t i = 0; i < count; i++) {
      if (all[i].zeros) z.lost |= zeros_stick(rule);
      if (all[i].there && !mpfr_zero_p(all[i].sum.v)) add_cut(engine, &z, &all[i].sum);
    }
    end_cut(engine, &z, c);
    group_drop(all, count);
  }
  drop_cut(&z);
}

/* Every `step`-th term from `first` on, cut below its own largest exponent; 0 if there is no non-zero one. */
static int lane(t_engine *engine, const block *b, size_t first, size_t step, real *s, int *e) {
  int any = 0;
  real t;
  real_make(engine, &t);
  real_set(s, ZERO, 0);
  for (size_t i = first; i < b->count; i += step) {
    const real *term = &b->term[i];
    if (term->kind != FINITE) continue;
    *e = any && *e > term->e ? *e : term->e;
    any = 1;
  }
  for (size_t i = first; any && i < b->count; i += step) {
    const real *term = &b->term[i];
    if (term->kind != FINITE) continue;
    cut(&t, term, *e - engine->x->accum.block.kept, HU_BLOCK_CUT_TRUNC);
    watch_cut(engine, *e - term->e, &t);
    real_accumulate(s, &t);
  }
  real_drop(&t);
  return any;
}

/* The sum of the products, at exponent *e; 0 if there are none. */
static int lanes_sum(t_engine *engine, const block *b, real *s, int *e) {
  const hu_block *rule = &engine->x->accum.block;
  int e0 = 0, e1 = 0;
  real s1;
  if (rule->lanes != 2) return lane(engine, b, 0, 1, s, e);
  real_make(engine, &s1);
  int any0 = lane(engine, b, 0, 2, s, &e0), any1 = lane(engine, b, 1, 2, &s1, &e1);
  *e = !any1 || (any0 && e0 > e1) ? e0 : e1;
  if (any0) cut(s, s, *e - rule->kept, HU_BLOCK_CUT_FLOOR);
  if (any1) cut(&s1, &s1, *e - rule->kept, HU_BLOCK_CUT_FLOOR);
  if (any1) real_accumulate(s, &s1);
  real_drop(&s1);
  return any0 || any1;
}

static void late(t_engine *engine, const block *b, real *c) {
  const hu_block *rule = &engine->x->accum.block;
  real s, q;
  real_make(engine, &s);
  real_make(engine, &q);
  if (!block_special(b, c, &s)) {
    int ed = 0, ec = exponent_of_c(engine, c), any = lanes_sum(engine, b, &s, &ed), e = any && ed > ec ? ed : ec;
    cut(&s, &s, e - rule->kept2 - 1, HU_BLOCK_CUT_FLOOR);
    if (c->kind == FINITE && !(rule->far && ec < e - rule->far)) {
      cut(&q, c, e - rule->kept, HU_BLOCK_CUT_FLOOR);
      real_accumulate(&s, &q);
    }
    if (c->kind == FINITE) watch_cut(engine, e - ec, &q);
    if (s.kind == FINITE) {
      int x = real_log2(&s) > engine->product.t.emin ? real_log2(&s) : engine->product.t.emin;
      cut(&s, &s, x - rule->kept2, HU_BLOCK_CUT_FLOOR);
    }
  }
  real_copy(c, &s);
  out(engine, c);
  real_drop(&s);
  real_drop(&q);
}

static void exact_block(t_engine *engine, const block *b, real *c) {
  real s, products, before;
  real_make(engine, &s);
  real_make(engine, &products);
  real_make(engine, &before);
  int special = block_special(b, c, &s), signs[2] = {c->negative == 0, c->negative != 0}, numbers = c->kind == FINITE;
  for (size_t i = 0; i < b->count; i++) {
    signs[b->term[i].negative != 0] = 1;
    numbers |= b->term[i].kind == FINITE;
  }
  for (size_t i = 0; !special && i < b->count; i++)
    if (b->term[i].kind == FINITE) real_accumulate(&products, &b->term[i]);
  real_copy(&before, c);
  if (!special) real_copy(&s, &products);
  if (!special && c->kind == FINITE) real_accumulate(&s, c);
  if (!special && s.kind == ZERO && engine->x->accum.block.zero == HU_BLOCK_ZERO_IEEE) {
    /* IEEE 754 section 6.3, of terms that are zeros of one sign, or that cancel */
    int agree = !numbers && !(signs[0] && signs[1]);
    s.negative = agree ? signs[1] : engine->sum.mode.round == HU_RTN;
  }
  real_copy(c, &s);
  by_way(engine, c);
  step_round(engine, &engine->sum, c);
  if (!special) watch_sum(engine, &before, &products, c);
  real_drop(&s);
  real_drop(&products);
  real_drop(&before);
}

/* The exact sum of products i to i + g - 1, +0 for those that are not there; IEEE 754's special cases. */
static void leaf(t_engine *engine, const block *b, size_t i, size_t g, real *z) {
  real p;
  int zeros[2] = {0, 0}, numbers = 0, infinite[2] = {0, 0}, nan = 0;
  real_make(engine, &p);
  real_set(z, ZERO, 0);
  for (size_t n = i; n < i + g; n++) {
    real_set(&p, ZERO, 0);
    if (n < b->count) real_product(engine, &p, b->k[n]);
    nan |= p.kind == NOT_A_NUMBER;
    if (p.kind == INFINITE) infinite[p.negative != 0] = 1;
    if (p.kind == ZERO) zeros[p.negative != 0] = 1;
    numbers |= p.kind == FINITE;
    if (p.kind == FINITE) real_accumulate(z, &p);
  }
  if (nan || (infinite[0] && infinite[1]))
    real_set(z, NOT_A_NUMBER, 0);
  else if (infinite[0] || infinite[1])
    real_set(z, INFINITE, infinite[1]);
  else if (z->kind == ZERO)
    z->negative = numbers || (zeros[0] && zeros[1]) ? engine->sum.mode.round == HU_RTN : zeros[1];
  real_drop(&p);
}

/* Leaves first ... first + n - 1 (n a power of two) of a tree; +0 where there is no product. Depth first, left to
 * right. */
static void tree_node(t_engine *engine, const block *b, size_t first, size_t n, real *z) {
  const hu_block *rule = &engine->x->accum.block;
  size_t g = !rule->products ? 1 : rule->group ? rule->group : 2;
  real right;
  if (n == 1) {
    leaf(engine, b, first * g, g, z);
    step_round(engine, &engine->sum, z);
    return;
  }
  real_make(engine, &right);
  tree_node(engine, b, first, n / 2, z);
  tree_node(engine, b, first + n / 2, n / 2, &right);
  join_pair(engine, &engine->sum, z, z, &right);
  real_drop(&right);
}

static void tree(t_engine *engine, const block *b, real *c) {
  const hu_block *rule = &engine->x->accum.block;
  real s;
  real_make(engine, &s);
  tree_node(engine, b, 0, rule->length / (!rule->products ? 1u : rule->group ? rule->group : 2u), &s);
  join(engine, &engine->sum, c, c, &s);
  real_drop(&s);
}

static void chain(t_engine *engine, const block *b, real *c) {
  int down = engine->x->accum.block.order == HU_BLOCK_ORDER_DOWN;
  for (size_t i = 0; i < b->count; i++) step_fused(engine, &engine->sum, b->k[down ? b->count - 1 - i : i], c);
}

static void two_lanes(t_engine *engine, const block *b, real *c) {
  real even, odd;
  real_make(engine, &even);
  real_make(engine, &odd);
  for (size_t i = 0; i < b->count; i++) step_fused(engine, &engine->sum, b->k[i], i % 2 ? &odd : &even);
  join_pair(engine, &engine->sum, &even, &even, &odd);
  join(engine, &engine->sum, c, c, &even);
  real_drop(&even);
  real_drop(&odd);
}

static void one_block(t_engine *engine, block *b, real *c) {
  int terms = engine->x->accum.block.rule <= HU_BLOCK_EXACT;
  if (terms) block_read(engine, b);
  switch (engine->x->accum.block.rule) {
    case HU_BLOCK_ALIGN: align(engine, b, c); break;
    case HU_BLOCK_GROUPS: groups(engine, b, c); break;
    case HU_BLOCK_LATE: late(engine, b, c); break;
    case HU_BLOCK_EXACT: exact_block(engine, b, c); break;
    case HU_BLOCK_TREE: tree(engine, b, c); break;
    case HU_BLOCK_CHAIN: chain(engine, b, c); break;
    default: two_lanes(engine, b, c); break;
  }
  if (terms) block_drop(b);
}

/* Which k of k ... k1 - 1 the block takes: half 0 or 1 of a mod4 pair, or all. */
static void choose(const hu_block *o, block *b, size_t k, size_t k1, int half) {
  int mod4 = o->order == HU_BLOCK_ORDER_MOD4;
  size_t past = k + (size_t)o->length * (mod4 ? 2 : 1);
  b->count = 0;
  for (size_t i = k; i < past && i < k1; i++)
    if (!mod4 || ((i - k) % 4 >= 2) == half) b->k[b->count++] = i;
}

/* The block that begins at k times its scales, both products rounded. */
static void scale_sum(t_engine *engine, size_t k, real *s) {
  real a, b;
  size_t j = k / engine->x->accum.block.every;
  real_make(engine, &a);
  real_make(engine, &b);
  real_from_code(&a, &engine->ts, (uint32_t)engine->x->sa[j]);
  real_from_code(&b, &engine->ts, (uint32_t)engine->x->sb[j]);
  real_multiply(&a, &a, &b);
  step_round(engine, &engine->join, &a);
  real_multiply(s, &a, s);
  step_round(engine, &engine->join, s);
  real_drop(&a);
  real_drop(&b);
}

void reference_blocks(t_engine *engine, size_t k0, size_t k1, real *c) {
  static block b;
  const hu_block *rule = &engine->x->accum.block;
  int halves = rule->order == HU_BLOCK_ORDER_MOD4 ? 2 : 1;
  real s;
  real_make(engine, &s);
  real_flush(c, rule->daz, engine->sum.t.emin);
  for (size_t k = k0; k < k1; k += (size_t)rule->length * (size_t)halves) {
    if (rule->join == HU_BLOCK_JOIN_LAST)
      real_set(&s, ZERO, 0);
    else
      real_copy(&s, c);
    for (int half = 0; half < halves; half++) {
      choose(rule, &b, k, k1, half);
      one_block(engine, &b, &s);
    }
    if (rule->scaling) scale_sum(engine, k, &s);
    if (rule->join == HU_BLOCK_JOIN_LAST)
      join(engine, &engine->join, c, c, &s);
    else
      real_copy(c, &s);
  }
  real_drop(&s);
}
