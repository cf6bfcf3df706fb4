/* SPDX-License-Identifier: MIT */
/* The function of its name for each operation on one value, hu_add to hu_convert, and for conversions of arrays: does
 * it compute that operation, of its arguments in their places? hu_apply_code and hu_apply say. */
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/other.h"
#include "halfulp/number.h"
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

/* ---- conversions of arrays ---- */

enum { N = 40 };

typedef struct ends {
  float x32[2 * N], z32[2 * N];
  double x64[2 * N], z64[2 * N];
  uint16_t codes[2 * N], z16[2 * N];
  hu_events events;
} ends;

/* Finite numbers, and codes of bfloat16 of them. */
static void fill(ends *e) {
  t_random random = t_random_of(34);
  memset(e, 0, sizeof *e);
  for (int i = 0; i < 2 * N; i++) {
    e->x32[i] = (float)t_between(&random, -9999, 9999) / 256;
    e->x64[i] = (double)e->x32[i] * 1.0001;
    e->codes[i] = (uint16_t)(t_bits32(e->x32[i]) >> 16);
  }
}

#define HOW mode, &exec, &e->events
/* Calls array function number i, of formats or of number systems; operands lie 2 apart, results next to each other. */
static hu_status call_array(int i, int system, ends *e, hu_mode mode, hu_exec exec) {
  hu_format z = hu_binary16(), x = hu_bfloat16();
  hu_number nz = hu_number_posit(16, 2), nx = hu_number_float(x);
  if (system) {
    switch (i) {
      case 0: return hu_number_quantize_n(N, e->z32, 1, e->x32, 2, nz, HOW);
      case 1: return hu_number_quantize64_n(N, e->z64, 1, e->x64, 2, nz, HOW);
      case 2: return hu_number_encode_n(N, e->z16, 1, e->x32, 2, nz, HOW);
      case 3: return hu_number_encode64_n(N, e->z16, 1, e->x64, 2, nz, HOW);
      case 4: return hu_number_decode_n(N, e->z32, 1, e->codes, 2, nx, &exec);
      case 5: return hu_number_decode64_n(N, e->z64, 1, e->codes, 2, nx, &exec);
      default: return hu_number_convert_n(N, e->z16, 1, nz, e->codes, 2, nx, HOW);
    }
  }
  switch (i) {
    case 0: return hu_quantize_n(N, e->z32, 1, e->x32, 2, z, HOW);
    case 1: return hu_quantize64_n(N, e->z64, 1, e->x64, 2, z, HOW);
    case 2: return hu_encode_n(N, e->z16, 1, e->x32, 2, z, HOW);
    case 3: return hu_encode64_n(N, e->z16, 1, e->x64, 2, z, HOW);
    case 4: return hu_decode_n(N, e->z32, 1, e->codes, 2, x, &exec);
    case 5: return hu_decode64_n(N, e->z64, 1, e->codes, 2, x, &exec);
    default: return hu_convert_n(N, e->z16, 1, z, e->codes, 2, x, HOW);
  }
}
#undef HOW

/* The same by hu_apply. */
static hu_status apply_array(int i, int system, ends *e, hu_mode mode, hu_exec exec) {
  hu_number nz = hu_number_posit(16, 2), nx = hu_number_float(hu_bfloat16());
  hu_type codes = system ? hu_type_number(HU_TYPE_CODES, &nx) : hu_type_codes(hu_bfloat16());
  hu_view x[] = {hu_floats(e->x32, 2), hu_doubles(e->x64, 2), hu_view_of(e->codes, 2, codes)};
  static const int from[] = {0, 1, 0, 1, 2, 2, 2}, to[] = {0, 1, 2, 2, 0, 1, 2};
  static const uint8_t kinds[] = {HU_TYPE_VALUES32, HU_TYPE_VALUES64, HU_TYPE_CODES};
  void *z[] = {e->z32, e->z64, e->z16};
  hu_type type = system ? hu_type_number(kinds[to[i]], &nz) : hu_type_values(kinds[to[i]], hu_binary16());
  if (from[i] == 2 && to[i] != 2) type = hu_type_plain(to[i] ? HU_TYPE_BINARY64 : HU_TYPE_BINARY32);
  hu_how how = hu_how_of(mode, &exec, &e->events);
  hu_output result = hu_output_of(z[to[i]], 1, type);
  return hu_apply(HU_OP_CONVERT, N, &result, &x[from[i]], &how);
}

static void test_named_arrays(void **state) {
  (void)state;
  hu_exec exec = {0};
  exec.stream.key = 7;
  for (int i = 0; i < 14; i++) {
    static ends got, expected;
    fill(&got);
    fill(&expected);
    assert_int_equal(call_array(i % 7, i / 7, &got, t_stochastic(HU_SRA, 9), exec), HU_OK);
    assert_int_equal(apply_array(i % 7, i / 7, &expected, t_stochastic(HU_SRA, 9), exec), HU_OK);
    if (memcmp(&got, &expected, sizeof got) != 0) fail_msg("conversion %d", i);
    fill(&expected);
    if (memcmp(&got, &expected, sizeof got) == 0) fail_msg("conversion %d: nothing was written", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_named), cmocka_unit_test(test_named_arrays)};
  return cmocka_run_group_tests_name("the functions by their names", tests, NULL, NULL);
}
