/* SPDX-License-Identifier: MIT */
/* The function of its name for each operation on one value, hu_add to hu_convert: does it compute that operation, of
 * its arguments in their places? hu_apply_code says. */
#include "halfulp/arith.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static uint32_t exact(uint32_t result, uint32_t *events) {
  *events = 0;
  return result;
}

#define INTO fz, mode
#define FIRST x[0].format, x[0].code
#define SECOND x[1].format, x[1].code
#define EVENTS random, events
/* Calls the function that has the name of operation op. */
static uint32_t by_name(int op, hu_format fz, hu_mode mode, const hu_code *x, uint32_t random, uint32_t *events) {
  switch (op) {
    case HU_OP_ADD: return hu_add(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_SUB: return hu_sub(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_MUL: return hu_mul(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_DIV: return hu_div(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_MINIMUM: return hu_minimum(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_MAXIMUM: return hu_maximum(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_MINIMUM_NUMBER: return hu_minimum_number(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_MAXIMUM_NUMBER: return hu_maximum_number(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_SQRT: return hu_sqrt(INTO, FIRST, EVENTS);
    case HU_OP_FMA: return hu_fma(INTO, FIRST, SECOND, x[2].format, x[2].code, EVENTS);
    case HU_OP_INTEGRAL: return hu_round_to_integral(INTO, x[0].code, EVENTS);
    case HU_OP_NEXT_UP: return exact(hu_next_up(FIRST), events);
    case HU_OP_NEXT_DOWN: return exact(hu_next_down(FIRST), events);
    case HU_OP_CLASS: return exact((uint32_t)hu_class(FIRST), events);
    case HU_OP_COMPARE: return exact((uint32_t)hu_compare(FIRST, SECOND), events);
    case HU_OP_EXP: return hu_exp(INTO, FIRST, EVENTS);
    case HU_OP_EXP2: return hu_exp2(INTO, FIRST, EVENTS);
    case HU_OP_EXPM1: return hu_expm1(INTO, FIRST, EVENTS);
    case HU_OP_LOG: return hu_log(INTO, FIRST, EVENTS);
    case HU_OP_LOG2: return hu_log2(INTO, FIRST, EVENTS);
    case HU_OP_LOG1P: return hu_log1p(INTO, FIRST, EVENTS);
    case HU_OP_TANH: return hu_tanh(INTO, FIRST, EVENTS);
    case HU_OP_SIGMOID: return hu_sigmoid(INTO, FIRST, EVENTS);
    case HU_OP_ERF: return hu_erf(INTO, FIRST, EVENTS);
    case HU_OP_GELU: return hu_gelu(INTO, FIRST, EVENTS);
    case HU_OP_RSQRT: return hu_rsqrt(INTO, FIRST, EVENTS);
    case HU_OP_RECIPROCAL: return hu_reciprocal(INTO, FIRST, EVENTS);
    case HU_OP_SIN: return hu_sin(INTO, FIRST, EVENTS);
    case HU_OP_COS: return hu_cos(INTO, FIRST, EVENTS);
    case HU_OP_POW: return hu_pow(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_REMAINDER: return hu_remainder(INTO, FIRST, SECOND, EVENTS);
    case HU_OP_CONVERT: return hu_convert(INTO, FIRST, EVENTS);
    default: fail_msg("%s: the test does not know its function", hu_operation_at((size_t)op).name);
  }
  return 0;
}
#undef INTO
#undef FIRST
#undef SECOND
#undef EVENTS

/* Each time as many formats as there are operands and a result: no two arguments are alike. */
static void check(t_random *random, int op) {
  static const char *const names[] = {"binary16", "bfloat16", "float8_e4m3fn", "float8_e5m2"};
  hu_format format[HU_OPERANDS_MAX + 1];
  hu_code x[HU_OPERANDS_MAX];
  unsigned first = t_below(random, 4);
  for (unsigned i = 0; i <= HU_OPERANDS_MAX; i++)
    assert_int_equal(hu_format_find(&format[i], names[(first + i) % 4]), HU_OK);
  for (int i = 0; i < HU_OPERANDS_MAX; i++) x[i] = hu_code_of(format[i], t_random_code(random, format[i]));
  hu_format fz = hu_operation_at((size_t)op).result == HU_RESULT_SAME ? format[0] : format[HU_OPERANDS_MAX];
  hu_mode mode = t_random_mode(random);
  uint32_t word = t_next32(random), events = 0xBEEF, expected_events = 0xBEEF;
  uint32_t got = by_name(op, fz, mode, x, word, &events);
  uint32_t expected = hu_apply_code(op, fz, mode, x, word, &expected_events);
  if (got != expected || events != expected_events)
    fail_msg("hu_%s: %#x, events %#x; the operation: %#x, %#x", hu_operation_at((size_t)op).name, got, events, expected,
             expected_events);
}

static void test_named(void **state) {
  (void)state;
  t_random random = {t_seed("named", 33)};
  for (int op = 0; op < (int)hu_operation_count(); op++)
    for (int i = 0; i < 2000; i++) check(&random, op);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_named)};
  return cmocka_run_group_tests_name("the functions by their names", tests, NULL, NULL);
}
