/* SPDX-License-Identifier: MIT */
/* tests/accum/reference.c - see reference.h: the models other than blocks, and the last rounding. */
#include "tests/accum/reference_real.h"
#include "tests/support/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* ---- software models, k0 ... k1 - 1, on top of s ---- */

static void seq2(t_engine *engine, const grid *products, const grid *sums, size_t k0, size_t k1, real *s) {
  real p;
  real_make(engine, &p);
  for (size_t k = k0; k < k1; k++) {
    step_product(engine, products, &p, k);
    join(engine, sums, s, s, &p);
  }
  real_drop(&p);
}

static void chunk(t_engine *engine, size_t k0, size_t k1, real *s) {
  real t;
  real_make(engine, &t);
  for (size_t k = k0; k < k1; k += engine->x->accum.length) {
    real_set(&t, ZERO, 0);
    seq2(engine, &engine->product, &engine->product, k,
         k + engine->x->accum.length < k1 ? k + engine->x->accum.length : k1, &t);
    join(engine, &engine->sum, s, s, &t);
  }
  real_drop(&t);
}

static void pairwise(t_engine *engine, size_t lo, size_t hi, real *z) {
  real right;
  if (hi - lo == 1) {
    step_product(engine, &engine->sum, z, lo);
    return;
  }
  size_t mid = lo + (hi - lo) / 2;
  real_make(engine, &right);
  pairwise(engine, lo, mid, z);
  pairwise(engine, mid, hi, &right);
  join_pair(engine, &engine->sum, z, z, &right);
  real_drop(&right);
}

/* The sum that t[i] holds once all strides above `stride` have been added. */
static void strided(t_engine *engine, size_t k0, size_t n, size_t i, size_t stride, size_t width, real *z) {
  real other;
  if (i >= n) {
    real_set(z, ZERO, 0);
    return;
  }
  if (stride >= width) {
    step_product(engine, &engine->sum, z, k0 + i);
    return;
  }
  real_make(engine, &other);
  strided(engine, k0, n, i, 2 * stride, width, z);
  strided(engine, k0, n, i + stride, 2 * stride, width, &other);
  join_pair(engine, &engine->sum, z, z, &other);
  real_drop(&other);
}

static void tree_model(t_engine *engine, size_t k0, size_t k1, real *s) {
  real z;
  size_t width = 1;
  real_make(engine, &z);
  while (width < k1 - k0) width *= 2;
  if (k1 > k0 && engine->x->accum.kind == HU_ACCUM_PAIRWISE) pairwise(engine, k0, k1, &z);
  if (k1 > k0 && engine->x->accum.kind == HU_ACCUM_STRIDED) strided(engine, k0, k1 - k0, 0, 1, width, &z);
  join_pair(engine, &engine->sum, s, &z, s);
  real_drop(&z);
}

static void kahan(t_engine *engine, size_t k0, size_t k1, real *s) {
  real c, p, y, t, d;
  real_make(engine, &c);
  real_make(engine, &p);
  real_make(engine, &y);
  real_make(engine, &t);
  real_make(engine, &d);
  for (size_t k = k0; k < k1; k++) {
    step_product(engine, &engine->sum, &p, k);
    step_difference(engine, &engine->sum, &y, &p, &c);
    join(engine, &engine->sum, &t, s, &y);
    step_difference(engine, &engine->sum, &d, &t, s);
    step_difference(engine, &engine->sum, &c, &d, &y);
    real_copy(s, &t);
  }
  real_drop(&c);
  real_drop(&p);
  real_drop(&y);
  real_drop(&t);
  real_drop(&d);
}

static void neumaier(t_engine *engine, size_t k0, size_t k1, real *s) {
  real c, v, t, d;
  real_make(engine, &c);
  real_make(engine, &v);
  real_make(engine, &t);
  real_make(engine, &d);
  for (size_t k = k0; k < k1; k++) {
    step_product(engine, &engine->sum, &v, k);
    join(engine, &engine->sum, &t, s, &v);
    int first = at_least(s, &v);
    step_difference(engine, &engine->sum, &d, first ? s : &v, &t);
    step_sum(engine, &engine->sum, &d, &d, first ? &v : s);
    step_sum(engine, &engine->sum, &c, &c, &d);
    real_copy(s, &t);
  }
  join(engine, &engine->sum, s, s, &c);
  real_drop(&c);
  real_drop(&v);
  real_drop(&t);
  real_drop(&d);
}

/* ---- models inside models ---- */

static void base(t_engine *engine, size_t k0, size_t k1, real *s) {
  switch (engine->x->accum.kind) {
    case HU_ACCUM_SEQ2: seq2(engine, &engine->product, &engine->sum, k0, k1, s); break;
    case HU_ACCUM_CHUNK: chunk(engine, k0, k1, s); break;
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: tree_model(engine, k0, k1, s); break;
    case HU_ACCUM_KAHAN: kahan(engine, k0, k1, s); break;
    case HU_ACCUM_NEUMAIER: neumaier(engine, k0, k1, s); break;
    case HU_ACCUM_BLOCK: reference_blocks(engine, k0, k1, s); break;
    default:
      for (size_t k = k0; k < k1; k++) step_fused(engine, &engine->sum, k, s);
  }
}

static void promoted(t_engine *engine, size_t k0, size_t k1, real *s) {
  size_t n = engine->x->accum.promote;
  real part, a, b;
  if (n == 0) {
    base(engine, k0, k1, s);
    return;
  }
  real_make(engine, &part);
  real_make(engine, &a);
  real_make(engine, &b);
  size_t j = k0 / n;
  for (size_t k = k0; k < k1; k += n, j++) {
    real_set(&part, ZERO, 0);
    base(engine, k, k + n < k1 ? k + n : k1, &part);
    if (engine->x->accum.scaled) {
      real_from_code(&a, &engine->ts, (uint32_t)engine->x->sa[j]);
      real_from_code(&b, &engine->ts, (uint32_t)engine->x->sb[j]);
      real_multiply(&a, &a, &b);
      step_round(engine, &engine->plain, &a);
      real_multiply(&part, &a, &part);
      join(engine, &engine->plain, s, s, &part);
    } else {
      join(engine, &engine->plain, s, s, &part);
    }
  }
  real_drop(&part);
  real_drop(&a);
  real_drop(&b);
}

static void sliced(t_engine *engine, size_t n, real *s) {
  size_t slices = engine->x->accum.slices, at = 0;
  real sum, part;
  if (slices > n) slices = n;
  real_make(engine, &sum);
  real_make(engine, &part);
  for (size_t i = 0; i < slices; i++) {
    size_t past = at + n / slices + (i < n % slices ? 1 : 0);
    real_set(&part, ZERO, 0);
    promoted(engine, at, past, &part);
    if (i == 0)
      real_copy(&sum, &part);
    else
      join(engine, &engine->plain, &sum, &sum, &part);
    at = past;
  }
  join(engine, &engine->plain, s, &sum, s);
  real_drop(&sum);
  real_drop(&part);
}

/* Section 8. */
static void whole(t_engine *engine, size_t n, real *c) {
  int plus = c->kind == ZERO && !c->negative, minus = c->kind == ZERO && c->negative, other = c->kind == FINITE;
  static block b;
  real s;
  real_make(engine, &s);
  b.count = n;
  for (size_t k = 0; k < n; k++) b.k[k] = k;
  block_read(engine, &b);
  if (!block_special(&b, c, &s)) {
    if (c->kind == FINITE) real_accumulate(&s, c);
    for (size_t k = 0; k < n; k++) {
      const real *t = &b.term[k];
      plus |= t->kind == ZERO && !t->negative;
      minus |= t->kind == ZERO && t->negative;
      other |= t->kind == FINITE;
      if (t->kind == FINITE) real_accumulate(&s, t);
    }
    int all_minus = minus && !plus && !other, all_plus = plus && !minus && !other;
    if (s.kind == ZERO) s.negative = all_minus || (engine->x->mode.round == HU_RTN && !all_plus);
  }
  real_copy(c, &s);
  block_drop(&b);
  real_drop(&s);
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

static void fp64(t_engine *engine, size_t n, real *c) {
  real p, s;
  real_make(engine, &p);
  real_make(engine, &s);
  for (size_t k = 0; k < n; k++) {
    real_product(engine, &p, k);
    real_copy(&s, c);
    real_add(c, &p, c, 0);
    real_from_binary64(c, to_binary64(c, &engine->events));
    watch_sum(engine, &s, &p, c);
  }
  real_drop(&p);
  real_drop(&s);
}

/* ---- integers ---- */

static int64_t integer(hu_type element, uint64_t pattern) {
  int bits = element.kind == HU_TYPE_INT8 || element.kind == HU_TYPE_UINT8 ? 8 : element.kind == HU_TYPE_INT32 ? 32 : 4;
  int64_t x = (int64_t)(pattern & ((UINT64_C(1) << bits) - 1));
  int is_signed = element.kind == HU_TYPE_INT8 || element.kind == HU_TYPE_INT4 || element.kind == HU_TYPE_INT32;
  return is_signed && x >> (bits - 1) ? x - ((int64_t)1 << bits) : x;
}

static uint64_t integers(const t_dot *x, uint32_t *events, hu_watch *watch) {
  int64_t c = x->has_c ? integer(x->c, x->ct) : 0;
  size_t step = x->accum.length ? x->accum.length : 1;
  *events = 0;
  for (size_t k = 0; k < x->n; k += step) {
    int64_t before = c;
    for (size_t i = k; i < k + step && i < x->n; i++) c += integer(x->a, x->at[i]) * integer(x->b, x->bt[i]);
    int beyond = c > INT32_MAX || c < INT32_MIN;
    watch->additions += c != before;
    watch->overflows += (uint64_t)beyond;
    if (!x->accum.length) {
      c = (int32_t)(uint32_t)(uint64_t)c;
      continue;
    }
    if (beyond) *events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED;
    c = c > INT32_MAX ? INT32_MAX : c < INT32_MIN ? INT32_MIN : c;
  }
  return (uint64_t)c & 0xFFFFFFFF;
}

/* ---- all ---- */

static grid grid_of(hu_format format, hu_mode mode) {
  grid z;
  memset(&z, 0, sizeof z);
  if (table_make(&z.t, format) != HU_OK) memset(&z.t, 0, sizeof z.t); /* not used by this model */
  z.mode = mode;
  return z;
}

static int has_nan(const t_engine *engine, const real *c) {
  real x;
  int found = c->kind == NOT_A_NUMBER;
  real_make(engine, &x);
  for (size_t k = 0; k < engine->x->n && !found; k++) {
    real_read_a(engine, &x, k);
    found = x.kind == NOT_A_NUMBER;
    real_read_b(engine, &x, k);
    found |= x.kind == NOT_A_NUMBER;
  }
  for (size_t j = 0; j < engine->x->scales && !found; j++) {
    real_from_code(&x, &engine->ts, (uint32_t)engine->x->sa[j]);
    found = x.kind == NOT_A_NUMBER;
    real_from_code(&x, &engine->ts, (uint32_t)engine->x->sb[j]);
    found |= x.kind == NOT_A_NUMBER;
  }
  real_drop(&x);
  return found;
}

static void start(t_engine *engine, const t_dot *x) {
  static const hu_mode rne;
  const hu_accum *m = &x->accum;
  const hu_format used[] = {x->a.format, x->b.format, x->c.format, m->sum, m->product, m->promoted};
  int wide = x->a.kind == HU_TYPE_BINARY64 || x->b.kind == HU_TYPE_BINARY64 || x->c.kind == HU_TYPE_BINARY64 ||
             m->kind == HU_ACCUM_FP64 || x->scales;
  for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
    wide |= (used[i].sign | used[i].e | used[i].m) && !hu_format_fits_binary32(used[i]);
  memset(engine, 0, sizeof *engine);
  engine->x = x;
  engine->precision = wide ? PRECISION : SMALL;
  hu_format sum = m->kind == HU_ACCUM_FP32 ? hu_format_ieee(8, 23, 0) : m->sum;
  int cuts = m->kind == HU_ACCUM_BLOCK && m->block.rule <= HU_BLOCK_LATE;
  if (x->a.kind == HU_TYPE_CODES) assert_int_equal(table_make(&engine->ta, x->a.format), HU_OK);
  if (x->b.kind == HU_TYPE_CODES) assert_int_equal(table_make(&engine->tb, x->b.format), HU_OK);
  if (x->c.kind == HU_TYPE_CODES) assert_int_equal(table_make(&engine->tc, x->c.format), HU_OK);
  if (x->scales) assert_int_equal(table_make(&engine->ts, x->scale), HU_OK);
  engine->sum = grid_of(sum, m->mode);
  engine->sum.over = m->block.over;
  engine->sum.plus = m->block.zero == HU_BLOCK_ZERO_PLUS;
  engine->sum.ftz = m->block.ftz;
  engine->product = grid_of(m->product, m->mode);
  hu_mode last = rne; /* the sentence on c=last in section 11.5: its mode is `last`, its policy the model's */
  last.round = m->block.last;
  last.saturate = m->mode.saturate;
  engine->join = grid_of(m->block.rule == HU_BLOCK_ALIGN ? m->product : m->sum, last);
  engine->join.over = m->block.over && last.round == HU_RTO;
  engine->join.ftz = m->block.ftz;
  engine->twice = m->block.via.e || m->block.via.m;
  if (engine->twice) engine->via = grid_of(m->block.via, m->mode);
  engine->plain = grid_of(m->promote ? m->promoted : cuts ? m->product : sum, rne);
}

uint64_t reference_between(const t_dot *x, reference_ends *ends, uint32_t *events, hu_watch *watch) {
  t_engine engine;
  real c;
  exact e;
  uint32_t code = 0, random = 0;
  start(&engine, x);
  engine.roundings = ends->roundings;
  engine.visit = ends->visit;
  engine.context = ends->context;
  real_make(&engine, &c);
  if (x->has_c && x->c.kind == HU_TYPE_BINARY64) real_from_binary64(&c, x->ct);
  if (x->has_c && x->c.kind == HU_TYPE_CODES) real_from_code(&c, &engine.tc, (uint32_t)x->ct);
  ends->nan_given = has_nan(&engine, &c);
  if (x->accum.kind == HU_ACCUM_EXACT)
    whole(&engine, x->n, &c);
  else if (x->accum.kind == HU_ACCUM_FP64)
    fp64(&engine, x->n, &c);
  else if (x->accum.slices)
    sliced(&engine, x->n, &c);
  else
    promoted(&engine, 0, x->n, &c);
  ends->nan = c.kind == NOT_A_NUMBER;
  ends->roundings = engine.roundings;
  uint64_t z;
  if (x->c.kind == HU_TYPE_BINARY64 && !ends->result) {
    z = to_binary64(&c, events);
  } else {
    table to = engine.tc;
    if (ends->result) assert_int_equal(table_make(&to, *ends->result), HU_OK);
    if (x->mode.bits) random = hu_stream_word((hu_stream){x->key, x->element}, 0) >> (32 - x->mode.bits);
    real_to_exact(&e, &c);
    round_exact(&to, x->mode, &e, random, &code, events);
    z = code;
  }
  *watch = engine.watch;
  real_drop(&c);
  return z;
}

uint64_t reference_watched(const t_dot *x, uint32_t *events, hu_watch *watch) {
  reference_ends ends = {0, NULL, 0, 0, NULL, NULL};
  memset(watch, 0, sizeof *watch);
  if (x->accum.kind == HU_ACCUM_INT32) return integers(x, events, watch);
  uint64_t z = reference_between(x, &ends, events, watch);
  if (ends.nan && !ends.nan_given) *events = (*events & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  return z;
}

uint64_t reference_dot(const t_dot *x, uint32_t *events) {
  hu_watch watch;
  return reference_watched(x, events, &watch);
}
