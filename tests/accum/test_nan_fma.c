/* SPDX-License-Identifier: MIT */
/* nan_fma in sums of products: all triples a, b, c of a format of 5 bits, beside a second product of every kind; the
 * models exact and fp32 against the oracle, code and events; every other model by the rule itself, from the answer of
 * the policy `quiet`. */
#include "halfulp/arith.h"
#include "halfulp/oracle.h"
#include "tests/accum/dots.h"
#include "tests/support/cmocka.h"

enum { CODES = 32, ONE = 0x04, INF = 0x0C, NANS = 0x0E, TERMS = 2 };

static int is_infinite(uint32_t x) { return (x & 0xF) == INF; }
static int is_zero(uint32_t x) { return (x & 0xF) == 0; }

static void set_terms(t_dot *x, uint32_t a, uint32_t b, uint32_t c, unsigned other) {
  static const uint32_t more[5][2] = {{ONE, ONE}, {INF, 0}, {NANS, 0}, {INF, ONE}, {0, INF | 0x10}};
  x->at[0] = a;
  x->bt[0] = b;
  x->at[1] = more[other][0];
  x->bt[1] = more[other][1];
  x->ct = c;
}

static int has_product(const t_dot *x) {
  for (size_t i = 0; i < x->n; i++) {
    uint32_t a = (uint32_t)x->at[i], b = (uint32_t)x->bt[i];
    if ((is_infinite(a) && is_zero(b)) || (is_zero(a) && is_infinite(b))) return 1;
  }
  return 0;
}

static void check_oracle(const t_dot *x, uint64_t code, uint32_t events) {
  uint32_t a[TERMS], b[TERMS], expected, expected_events;
  hu_format format = x->a.format;
  for (size_t i = 0; i < x->n; i++) {
    a[i] = (uint32_t)x->at[i];
    b[i] = (uint32_t)x->bt[i];
  }
  hu_oracle_code c = {format, (uint32_t)x->ct};
  hu_oracle_terms terms = {x->n, format, a, format, b, &c};
  hu_status status = (x->accum.kind == HU_ACCUM_EXACT ? hu_oracle_dot : hu_oracle_dot_fp32)(&expected, &expected_events,
                                                                                            format, x->mode, 0, &terms);
  assert_int_equal(status, HU_OK);
  if (code != expected || events != expected_events) fail_msg("%s: %#x %#x", dot_text(x), (unsigned)code, events);
}

static uint64_t all_triples(t_dot *x) {
  uint64_t raised = 0;
  for (uint32_t abc = 0; abc < CODES * CODES * CODES; abc++) {
    uint32_t quiet = 0, events = 0, c = abc % CODES;
    set_terms(x, abc / CODES / CODES, abc / CODES % CODES, c, (abc / 7 + abc) % 5);
    x->mode.nan_fma = HU_NAN_FMA_QUIET;
    uint64_t code = dot_library(x, &quiet);
    int oracle = x->accum.kind == HU_ACCUM_EXACT || x->accum.kind == HU_ACCUM_FP32;
    if (oracle) check_oracle(x, code, quiet);
    x->mode.nan_fma = HU_NAN_FMA_INVALID;
    assert_int_equal(dot_library(x, &events), code);
    if (oracle) check_oracle(x, code, events);
    uint32_t added = has_product(x) ? HU_EVENT_INVALID : 0;
    if (events != (quiet | added)) fail_msg("%s: %#x, quiet %#x", dot_text(x), events, quiet);
    raised += events != quiet;
    if (x->n > 1) continue; /* one product and C: a fused multiply-add */
    uint32_t fused = 0, one = 0;
    hu_format format = x->a.format;
    (void)hu_fma(format, x->mode, format, (uint32_t)x->at[0], format, (uint32_t)x->bt[0], format, c, 0, &fused);
    if (oracle) assert_int_equal(events & HU_EVENT_INVALID, fused & HU_EVENT_INVALID);
    x->mode.nan_fma = HU_NAN_FMA_QUIET;
    (void)hu_fma(format, x->mode, format, (uint32_t)x->at[0], format, (uint32_t)x->bt[0], format, c, 0, &one);
    assert_int_equal(one != fused, is_infinite(c) || (c & 0xF) <= INF ? 0 : added != 0 && events != quiet);
  }
  return raised;
}

static void test_triples(void **state) {
  (void)state;
  static const char *const models[] = {"exact", "fp32", "seq(binary16)", "pairwise(binary16)",
                                       "block(align,l=4,f=23,emin=-20,out=binary16)"};
  uint64_t raised = 0;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    static t_dot x;
    x.a = x.b = x.c = dot_element("fp(2,2,0)");
    x.has_c = 1;
    assert_int_equal(hu_accum_parse(&x.accum, models[i], NULL), HU_OK);
    for (x.n = 1; x.n <= TERMS; x.n++) {
      uint64_t these = all_triples(&x);
      if (!these) fail_msg("%s: no event was added", models[i]);
      raised += these;
    }
  }
  print_message("%llu sums with one event more\n", (unsigned long long)raised);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_triples)};
  return cmocka_run_group_tests_name("infinity times zero beside a NaN in sums", tests, NULL, NULL);
}
