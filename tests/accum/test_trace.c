/* SPDX-License-Identifier: MIT */
/* hu_dot_trace: its result and events are hu_dot's; its roundings are the reference's, in their order, before and
 * after; terms and cuts add up to what is rounded. All presets, all kinds of models, all rules of block(...). */
#include <string.h>

#include "tests/support/cmocka.h"

#include <mpfr.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/accum/draws.h"
#include "tests/accum/reference.h"

enum { ROUNDINGS = 16384, VECTORS = 60, DIGITS = 4608 };

typedef struct trace {
  const t_dot *x;
  size_t seen, wanted; /* roundings of the library, and of the reference */
  hu_traced exact[ROUNDINGS], z[ROUNDINGS];
  mpfr_t total; /* of terms, as far as they are cut */
  int terms, finite, last;
  hu_traced value; /* of the latest rounding */
  uint64_t kinds[HU_TRACE_KINDS];
} trace;

static trace t;

static hu_traced normalised(hu_traced x) {
  if (x.kind != HU_TRACE_FINITE) x.significand = 0, x.exponent = 0;
  while (x.kind == HU_TRACE_FINITE && !(x.significand >> 63)) {
    x.significand <<= 1;
    x.exponent--;
  }
  if (x.kind == HU_TRACE_NAN) x.sign = 0;
  return x;
}

static int same(hu_traced x, hu_traced y) {
  x = normalised(x);
  y = normalised(y);
  return memcmp(&x, &y, sizeof x) == 0;
}

/* The number without `more`. */
static void number(mpfr_t z, hu_traced x) {
  mpfr_set_uj_2exp(z, x.kind == HU_TRACE_FINITE ? x.significand : 0, x.exponent, MPFR_RNDN);
  if (x.sign) mpfr_neg(z, z, MPFR_RNDN);
}

/* What is rounded is the sum of the terms, with sticky=or less than a digit of 64 beside it: after cuts toward negative
 * above it, so that the digits of a negative sum are those of the number below in magnitude. */
static void check_total(hu_traced exact) {
  mpfr_t x;
  if (t.terms && t.finite && exact.kind <= HU_TRACE_FINITE && !t.x->accum.block.wide) {
    mpfr_init2(x, DIGITS);
    number(x, exact);
    if (exact.more) mpfr_prec_round(t.total, 64, MPFR_RNDZ);
    if (exact.more && exact.sign && t.x->accum.block.sticky && t.x->accum.block.cut == HU_BLOCK_CUT_FLOOR)
      mpfr_nextabove(t.total);
    if (mpfr_cmp(x, t.total) != 0) fail_msg("terms do not add up: %s", dot_text(t.x));
    mpfr_clear(x);
  }
  mpfr_set_prec(t.total, DIGITS);
  mpfr_set_zero(t.total, 1);
  t.terms = 0;
  t.finite = 1;
}

static void check_term(const hu_trace_step *step) {
  mpfr_t exact, z;
  mpfr_inits2(DIGITS, exact, z, (mpfr_ptr)0);
  number(exact, step->exact);
  number(z, step->z);
  t.finite &= step->exact.kind <= HU_TRACE_FINITE && !step->exact.more; /* products of binary64 have more digits */
  mpfr_add(t.total, t.total, z, MPFR_RNDN);
  if (step->kind == HU_TRACE_CUT) mpfr_sub(t.total, t.total, exact, MPFR_RNDN);
  int dropped = t.x->accum.block.far && step->k == HU_TRACE_NO_PRODUCT && mpfr_zero_p(z); /* C, whole */
  if (!dropped && !t.x->accum.block.wide &&
      !mpfr_equal_p(exact, z)) { /* cut: a multiple of the unit, less than one unit away */
    mpfr_sub(exact, exact, z, MPFR_RNDN);
    assert_true(mpfr_cmp_ui_2exp(exact, 1, step->unit) < 0 && mpfr_cmp_si_2exp(exact, -1, step->unit) > 0);
    mpfr_mul_2si(z, z, -step->unit, MPFR_RNDN);
    assert_true(mpfr_integer_p(z));
  }
  mpfr_clears(exact, z, (mpfr_ptr)0);
  t.terms = 1;
}

static void check_rounding(const hu_trace_step *step) {
  if (step->kind == HU_TRACE_ROUND) check_total(step->exact);
  t.value = step->z;
  if (t.x->accum.kind == HU_ACCUM_FP64 || t.x->accum.kind == HU_ACCUM_INT32) return;
  assert_true(t.seen < t.wanted);
  if (!same(step->exact, t.exact[t.seen]) || !same(step->z, t.z[t.seen]))
    fail_msg("rounding %zu: of %llx 2^%d, the reference of %llx 2^%d: %s", t.seen,
             (unsigned long long)step->exact.significand, step->exact.exponent,
             (unsigned long long)t.exact[t.seen].significand, t.exact[t.seen].exponent, dot_text(t.x));
  t.seen++;
}

/* The latest rounding of kahan is that of its correction. */
static int ends_with_correction(const hu_accum *x) { return x->kind == HU_ACCUM_KAHAN && !x->promote && !x->slices; }

static void visit(void *context, const hu_trace_step *step) {
  assert_ptr_equal(context, &t);
  assert_false(t.last);
  assert_true(step->kind < HU_TRACE_KINDS);
  t.kinds[step->kind]++;
  if (step->k != HU_TRACE_NO_PRODUCT) assert_true(step->k < step->past && step->past <= t.x->n);
  switch (step->kind) {
    case HU_TRACE_SLICE:
    case HU_TRACE_PART:
    case HU_TRACE_CHUNK:
    case HU_TRACE_BLOCK: assert_true(step->k != HU_TRACE_NO_PRODUCT); break;
    case HU_TRACE_ALIGN: assert_true(step->unit <= step->top); break;
    case HU_TRACE_TERM:
    case HU_TRACE_CUT: check_term(step); break;
    case HU_TRACE_LAST:
      check_total(step->exact);
      if (t.value.kind != 255 && !ends_with_correction(&t.x->accum)) assert_true(same(step->exact, t.value));
      t.value = step->z;
      t.last = 1;
      break;
    default: check_rounding(step); break;
  }
}

static void record(void *context, hu_traced exact, hu_traced z) {
  assert_ptr_equal(context, &t);
  assert_true(t.wanted < ROUNDINGS);
  t.exact[t.wanted] = exact;
  t.z[t.wanted++] = z;
}

/* The number of a code of the result. */
static hu_traced stored(const t_dot *x, uint64_t code) {
  hu_traced z;
  double value;
  int exponent;
  memset(&z, 0, sizeof z);
  memcpy(&value, &code, sizeof value);
  if (x->c.kind == HU_TYPE_CODES) value = hu_decode64(x->c.format, (uint32_t)code);
  if (x->c.kind == HU_TYPE_INT32) value = (int32_t)(uint32_t)code;
  z.sign = value != value ? 0 : (uint8_t)(__builtin_signbit(value) != 0);
  z.kind = value != value ? HU_TRACE_NAN : value == 0 ? HU_TRACE_ZERO : value - value != 0 ? HU_TRACE_INFINITY : 1;
  if (z.kind != HU_TRACE_FINITE) return z;
  value = __builtin_frexp(z.sign ? -value : value, &exponent);
  z.significand = (uint64_t)__builtin_ldexp(value, 64);
  z.exponent = exponent - 64;
  return z;
}

static void check(const t_dot *x) {
  reference_ends ends = {0, NULL, 0, 0, record, &t};
  uint32_t events, expected_events, unused;
  hu_watch watch = {0, 0, 0, 0}, counted = watch, traced = watch;
  t.x = x;
  t.seen = t.wanted = 0;
  t.last = 0;
  t.value.kind = 255;
  check_total(t.value);
  if (x->accum.kind != HU_ACCUM_INT32) (void)reference_between(x, &ends, &unused, &watch);
  uint64_t expected = dot_watched(x, &expected_events, &counted), got = dot_traced(x, &events, &traced, visit, &t);
  if (memcmp(&traced, &counted, sizeof traced) != 0) fail_msg("a trace counts other additions: %s", dot_text(x));
  if (got != expected || events != expected_events) fail_msg("traced %llx: %s", (unsigned long long)got, dot_text(x));
  assert_true(t.last);
  assert_int_equal(t.seen, x->accum.kind == HU_ACCUM_FP64 ? 0 : t.wanted);
  assert_true(same(t.value, stored(x, got)));
}

static void presets(void **state) {
  static t_dot x;
  (void)state;
  for (unsigned i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    t_random random = t_random_of(i);
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    draw_preset(&x, &preset);
    for (unsigned v = 0; v < VECTORS; v++) {
      memset(&x.mode, 0, sizeof x.mode);
      if (x.c.kind != HU_TYPE_BINARY64 && v % 4 == 0) x.mode = t_random_mode(&random);
      x.n = v % 8 ? preset.k : t_below(&random, 2 * preset.k + 1);
      x.key = v;
      draw_operands(&x, &random);
      check(&x);
    }
  }
  assert_true(t.kinds[HU_TRACE_TERM] > 0 && t.kinds[HU_TRACE_CUT] > 0 && t.kinds[HU_TRACE_BLOCK] > 0);
}

/* Drawn models that do not take the drawn elements are drawn again. */
static int takes(const t_dot *x) {
  uint64_t buffer = 0;
  hu_how how = {.mode = x->mode};
  hu_product in = hu_product_of_dot(0, hu_output_of(&buffer, 1, x->c), hu_view_of(&buffer, 1, x->a),
                                    hu_view_of(&buffer, 1, x->b), &x->accum);
  in.c = hu_view_of(&buffer, 1, x->c);
  if (x->accum.scaled || x->accum.block.every) in.sa = in.sb = hu_codes(&buffer, 1, x->scale);
  return hu_dot(&in, &how) == HU_OK;
}

static void models(void **state) {
  static t_dot x;
  (void)state;
  for (uint32_t i = 0; i < HU_ACCUM_COUNT + HU_BLOCK_RULES; i++) {
    t_random random = {i * UINT64_C(0xD1342543DE82EF95) + 5};
    unsigned refused = 0;
    for (unsigned v = 0; v < 2 * VECTORS && i != HU_ACCUM_BLOCK;) {
      draw_model(&x, &random, i < HU_ACCUM_COUNT ? i : HU_ACCUM_BLOCK,
                 (uint8_t)(i < HU_ACCUM_COUNT ? 0 : i - HU_ACCUM_COUNT));
      if (!takes(&x)) {
        assert_true(++refused < 5000);
        continue;
      }
      x.n = t_below(&random, x.accum.block.every || x.accum.scaled ? 40 : 70);
      draw_operands(&x, &random);
      check(&x);
      v++;
    }
  }
  for (unsigned k = 0; k < HU_TRACE_KINDS; k++)
    if (!t.kinds[k]) fail_msg("no step of kind %u", k);
}

static void ignore(void *context, const hu_trace_step *step) {
  (void)step;
  ++*(int *)context;
}

static void errors(void **state) {
  hu_accum exact;
  float z = 7;
  const hu_view none = {0};
  int steps = 0;
  hu_how how = {0};
  (void)state;
  memset(&exact, 0, sizeof exact);
  hu_product x = hu_product_of_dot(0, hu_floats_out(&z, 1), none, none, &exact), some = x, two = x;
  some.k = 1;
  two.m = 2;
  two.d.row = 1;
  assert_int_equal(hu_dot_trace(&x, NULL, NULL, &steps), HU_E_NULL);
  assert_int_equal(hu_dot_trace(NULL, NULL, ignore, &steps), HU_E_NULL);
  assert_int_equal(hu_dot_trace(&some, NULL, ignore, &steps), HU_E_NULL);
  assert_int_equal(hu_dot_trace(&two, NULL, ignore, &steps), HU_E_SHAPE);
  how.mode.round = 99;
  assert_int_equal(hu_dot_trace(&x, &how, ignore, &steps), HU_E_MODE);
  assert_true(z == 7 && steps == 0);
  assert_int_equal(hu_dot_trace(&x, NULL, ignore, &steps), HU_OK);
  assert_true(z == 0 && steps == 2); /* C, which is +0, and the last rounding */
}

static int start(void **state) {
  (void)state;
  mpfr_init2(t.total, DIGITS);
  return 0;
}

static int finish(void **state) {
  (void)state;
  mpfr_clear(t.total);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets), cmocka_unit_test(models), cmocka_unit_test(errors)};
  return cmocka_run_group_tests_name("trace", tests, start, finish);
}
