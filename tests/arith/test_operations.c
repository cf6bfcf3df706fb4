/* SPDX-License-Identifier: MIT */
/* The list of operations: is each record complete, do its events come and no others, and what do hu_apply and
 * hu_apply_code refuse? test_operations PAGE, with docs/numerics.md as the page. */
#include <stdio.h>
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/view.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 16 };

static const char *page;

/* Has the page a section of this number? */
static int has_section(const char *number) {
  char line[4096], title[16];
  int found = 0;
  FILE *file = fopen(page, "r");
  if (!file) fail_msg("%s cannot be read", page);
  snprintf(title, sizeof title, "## %s. ", number);
  while (fgets(line, sizeof line, file)) found |= !strncmp(line, title, strlen(title));
  fclose(file);
  return found;
}

static void check_record(size_t i) {
  hu_operation operation = hu_operation_at(i);
  assert_non_null(operation.name);
  assert_int_equal(hu_operation_find(operation.name), (int)i);
  assert_in_range(operation.operands, 1, HU_OPERANDS_MAX);
  assert_in_range(operation.result, HU_RESULT_CODE, HU_RESULT_INT8);
  assert_true(operation.rounds == 1 || (operation.rounds == 0 && operation.result != HU_RESULT_CODE));
  assert_int_equal(operation.events & ~(uint32_t)(HU_EVENT_INVALID | HU_EVENT_DIVIDE_BY_ZERO), 0);
  assert_true(strlen(operation.what) > 0);
  if (!has_section(operation.section)) fail_msg("%s: %s has no section %s", operation.name, page, operation.section);
  for (size_t k = 0; k < i; k++) {
    const char *before = hu_operation_at(k).testfloat;
    if (before && operation.testfloat && !strcmp(before, operation.testfloat)) fail_msg("%s: twice", before);
  }
}

static void test_list(void **state) {
  (void)state;
  assert_int_equal(hu_operation_count(), HU_OP_CONVERT + 1);
  for (size_t i = 0; i < hu_operation_count(); i++) check_record(i);
  assert_null(hu_operation_at(hu_operation_count()).name);
  assert_null(hu_operation_at(SIZE_MAX).name);
  assert_int_equal(hu_operation_find("ad"), -1);
  assert_int_equal(hu_operation_find(""), -1);
  assert_int_equal(hu_operation_find(NULL), -1);
  assert_int_equal(hu_operation_find("class"), HU_OP_CLASS);
  assert_int_equal(hu_operation_find("pow"), HU_OP_POW);
}

/* A code of float8_e5m2: a zero, 1, an infinity of either sign every other time. */
static uint32_t draw(t_random *random, hu_format format) {
  static const uint8_t special[] = {0x00, 0x3C, 0x7C};
  uint32_t sign = t_below(random, 2) ? 0x80 : 0;
  return t_below(random, 2) ? special[t_below(random, 3)] | sign : t_random_code(random, format);
}

/* Into binary16 no rounding is invalid, so these two events are the operation's own. */
static void test_events(void **state) {
  (void)state;
  t_random random = {t_seed("operations", 31)};
  hu_format half = hu_binary16(), small = hu_float8_e5m2();
  for (size_t i = 0; i < hu_operation_count(); i++) {
    hu_operation operation = hu_operation_at(i);
    uint32_t seen = 0;
    for (int k = 0; k < 20000; k++) {
      hu_code x[HU_OPERANDS_MAX];
      uint32_t events = 0xBEEF;
      for (int j = 0; j < HU_OPERANDS_MAX; j++) x[j] = (hu_code){small, draw(&random, small)};
      hu_format fz = operation.result == HU_RESULT_SAME ? small : half;
      (void)hu_apply_code((int)i, fz, t_mode(HU_RNE), x, 0, &events);
      if (!operation.rounds) assert_int_equal(events, 0);
      seen |= events & (HU_EVENT_INVALID | HU_EVENT_DIVIDE_BY_ZERO);
    }
    if (seen != operation.events) fail_msg("%s raises %#x, not %#x", operation.name, seen, operation.events);
  }
}

typedef struct arrays {
  uint16_t x[N], z[N];
  hu_view view[HU_OPERANDS_MAX];
  hu_output output;
  hu_how how;
  hu_events events;
} arrays;

/* Arrays that the operation takes. */
static arrays *arrays_for(const hu_operation *operation) {
  static arrays made;
  hu_format half = hu_binary16();
  memset(&made, 0, sizeof made);
  t_fill_pattern(made.z, sizeof made.z);
  for (int k = 0; k < HU_OPERANDS_MAX; k++) made.view[k] = hu_codes(made.x, 1, half);
  made.output = hu_codes_out(made.z, 1, half);
  if (operation->result == HU_RESULT_INT8) made.output = hu_int8_out((int8_t *)made.z, 1);
  made.how.events = &made.events;
  return &made;
}

static void expect(arrays *made, int op, const hu_view *x, hu_status expected) {
  hu_events zero = {0};
  hu_status status = hu_apply(op, N, &made->output, x, &made->how);
  if (status != expected) fail_msg("operation %d: %s, not %s", op, hu_status_name(status), hu_status_name(expected));
  assert_true(t_is_pattern(made->z, sizeof made->z));
  assert_true(t_same_events(&made->events, &zero));
}

static void refuse_type(int op, const hu_operation *operation, hu_type type) {
  arrays *made = arrays_for(operation);
  made->output.type = type;
  expect(made, op, made->view, HU_E_FORMAT);
  for (int k = 0; k < operation->operands; k++) {
    made = arrays_for(operation);
    made->view[k].type = type;
    expect(made, op, made->view, HU_E_FORMAT);
  }
}

static void refuse(int op) {
  hu_operation operation = hu_operation_at((size_t)op);
  hu_output zero = {NULL, 0, {0, 0, {0}, {NULL}}, 0};
  hu_type type = hu_type_codes(hu_binary16()), other = {HU_TYPE_NONE, 0, {0}, {NULL}};
  refuse_type(op, &operation, other);
  for (uint8_t kind = 0; kind < 8 && op != HU_OP_CONVERT; kind++) { /* tests/array/test_conversions.c has its pairs */
    other = type;
    other.kind = kind;
    if (kind != HU_TYPE_CODES && kind != HU_TYPE_INT8) refuse_type(op, &operation, other);
  }
  other = type;
  other.reserved = 1;
  refuse_type(op, &operation, other);
  other = type;
  other.format.e = 12;
  refuse_type(op, &operation, other);
  arrays *made = arrays_for(&operation);
  made->view[0].type.kind = HU_TYPE_INT8;
  expect(made, op, made->view, HU_E_FORMAT);
  made = arrays_for(&operation);
  made->output.type = operation.result == HU_RESULT_INT8 ? type : hu_int8_out(NULL, 1).type;
  expect(made, op, made->view, HU_E_FORMAT);
  made = arrays_for(&operation);
  expect(made, op, NULL, HU_E_NULL);
  made->output = zero;
  expect(made, op, made->view, HU_E_FORMAT);
  made = arrays_for(&operation);
  made->output.type.format = hu_bfloat16();
  if (operation.result == HU_RESULT_SAME) expect(made, op, made->view, HU_E_FORMAT);
  made = arrays_for(&operation);
  made->how.mode.round = 77;
  if (operation.rounds) expect(made, op, made->view, HU_E_MODE);
  if (!operation.rounds) assert_int_equal(hu_apply(op, N, &made->output, made->view, &made->how), HU_OK);
}

static void test_refusals(void **state) {
  (void)state;
  hu_operation add = hu_operation_at(HU_OP_ADD);
  arrays *made = arrays_for(&add);
  for (size_t i = 0; i < hu_operation_count(); i++) refuse((int)i);
  made = arrays_for(&add);
  expect(made, -1, made->view, HU_E_SHAPE);
  expect(made, (int)hu_operation_count(), made->view, HU_E_SHAPE);
  made->output.stride = 0;
  expect(made, HU_OP_ADD, made->view, HU_E_SHAPE);
  made = arrays_for(&add);
  made->x[N - 1] = 0xFFFF;
  made->view[1] = hu_codes(made->x, 1, hu_format_ieee(5, 9, 0)); /* 15 bits */
  expect(made, HU_OP_ADD, made->view, HU_E_CODE);
}

static void test_refused_codes(void **state) {
  (void)state;
  hu_format half = hu_binary16(), bad = half;
  bad.e = 12;
  for (int op = -1; op <= (int)hu_operation_count(); op++) {
    hu_code x[HU_OPERANDS_MAX] = {{half, 0x3C00}, {half, 0x3C00}, {half, 0x3C00}}, y[HU_OPERANDS_MAX] = {{bad, 0}};
    uint32_t events = 0xBEEF, nothing = op == HU_OP_COMPARE ? HU_UNORDERED : 0;
    int known = op >= 0 && op < (int)hu_operation_count();
    y[1] = y[2] = x[0];
    assert_int_equal(hu_apply_code(op, half, t_mode(0), known ? y : x, 0, &events), nothing);
    assert_int_equal(events, HU_EVENT_INVALID);
    assert_int_equal(hu_apply_code(op, half, t_mode(0), NULL, 0, NULL), nothing);
    if (!known || !hu_operation_at((size_t)op).rounds) continue;
    assert_int_equal(hu_apply_code(op, bad, t_mode(0), x, 0, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
    assert_int_equal(hu_apply_code(op, half, t_mode(77), x, 0, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
  }
}

/* how NULL is a how of zeros; n = 0 does not look at data. */
static void test_no_how(void **state) {
  (void)state;
  uint16_t a[N], sums[N], again[N];
  hu_format half = hu_binary16();
  t_random random = {t_seed("no how", 32)};
  for (int i = 0; i < N; i++) a[i] = (uint16_t)t_random_code(&random, half);
  hu_view x[2] = {hu_codes(a, 1, half), hu_codes(a + N - 1, -1, half)};
  hu_how how = hu_how_of(t_mode(HU_RNE), NULL, NULL);
  hu_output to = hu_codes_out(sums, 1, half);
  assert_int_equal(hu_apply(HU_OP_ADD, N, &to, x, NULL), HU_OK);
  to = hu_codes_out(again, 1, half);
  assert_int_equal(hu_apply(HU_OP_ADD, N, &to, x, &how), HU_OK);
  assert_memory_equal(sums, again, sizeof sums);
  for (int i = 0; i < N; i++)
    assert_int_equal(sums[i], hu_add(half, how.mode, half, a[i], half, a[N - 1 - i], 0, NULL));
  x[0].data = x[1].data = NULL;
  to = hu_codes_out(NULL, 1, half);
  assert_int_equal(hu_apply(HU_OP_ADD, 0, &to, x, NULL), HU_OK);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_events),
                                     cmocka_unit_test(test_refusals), cmocka_unit_test(test_refused_codes),
                                     cmocka_unit_test(test_no_how)};
  if (argc != 2) return 2;
  page = argv[1];
  return cmocka_run_group_tests_name("the list of operations", tests, NULL, NULL);
}
