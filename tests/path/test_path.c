/* SPDX-License-Identifier: MIT */
/* hu_path_apply against itself one element at a time, numbers that tell rules apart, refusals; texts and records that
 * are damaged are refused or computed, and nothing else. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/path.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { COUNT = 700, STRIDE = 3, DAMAGED = 3000 };

static hu_path path_of(const char *text) {
  hu_path path;
  size_t where = 0;
  const char *why = "";
  memset(&path, 0, sizeof path);
  if (hu_path_parse(&path, text, &where, &why) != HU_OK) fail_msg("'%s' at %zu: %s", text, where, why);
  return path;
}

static hu_path_rule rule_of(const char *text) {
  hu_path_rule rule;
  memset(&rule, 0, sizeof rule);
  if (hu_path_rule_parse(&rule, text, NULL) != HU_OK) fail_msg("no rule %s", text);
  return rule;
}

/* The value of an expression of x, w and b. */
static double value_of(const char *text, const char *name, const double *given) {
  hu_path path = path_of(text);
  hu_path_rule rule = rule_of(name);
  uint32_t code[HU_PATH_OPERANDS], z = 0;
  hu_view x[HU_PATH_OPERANDS];
  for (uint32_t i = 0; i < path.operands; i++) {
    uint32_t bits = hu_encode64(path.format, (hu_mode){0}, given[i], 0, NULL);
    t_put(&code[i], hu_limits_of(path.format).storage / 8, 0, bits);
    x[i] = hu_codes(&code[i], 1, path.format);
  }
  hu_output to = hu_codes_out(&z, 1, path.result.format);
  assert_int_equal(hu_path_apply(1, &to, x, &path, &rule, NULL), HU_OK);
  return hu_decode64(path.result.format, t_get(&z, hu_limits_of(path.result.format).storage / 8, 0));
}

static void test_where_rules_part(void **state) {
  static const char *const rules[] = {"torch.cpu", "inductor.cpu", "fma"};
  static const struct {
    const char *text;
    double x[3], z[3];
  } rows[] = {
      {"bf16: x * w + b", {1 + 0x1p-7, 1 + 0x1p-7, -1 - 0x1p-6}, {0, 0x1p-14, 0x1p-14}},
      {"fp16: x * w + b", {1 + 0x1p-10, 1 + 0x1p-10, -1 - 0x1p-9}, {0, 0x1p-20, 0x1p-20}},
      {"binary32: x * w + b", {1 + 0x1p-12, 1 + 0x1p-12, -1 - 0x1p-11}, {0, 0, 0x1p-24}},
      {"binary32: b - x * w", {-1 - 0x1p-11, 1 + 0x1p-12, -1 - 0x1p-12}, {0, 0, 0x1p-24}},
      {"binary32: -x * w - b", {1 + 0x1p-12, 1 + 0x1p-12, -1 - 0x1p-11}, {0, 0, -0x1p-24}},
      {"bf16: x * w : float8_e4m3fn", {1.0234375, 1.0390625}, {1, 1.125, 1.125}},
      {"bf16: relu(-x) * w", {1, 3}, {0, 0, 0}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int k = 0; k < 3; k++) {
      double z = value_of(rows[i].text, rules[k], rows[i].x);
      if (z != rows[i].z[k]) fail_msg("%s under %s gives %a", rows[i].text, rules[k], z);
    }
  /* The product is rounded first: nothing is joined. */
  assert_true(value_of("bf16: x * w + b", "xla.cpu", (double[]){1 + 0x1p-7, 1 + 0x1p-7, -1 - 0x1p-6}) == 0);
  /* A cast that is left out hides no product. */
  const double near_one[] = {1 + 0x1p-12, 1 + 0x1p-12, -1 - 0x1p-11};
  assert_true(value_of("binary32: to(x * w, bf16) + b", "fma", near_one) == -0x1p-11);
  assert_true(value_of("binary32: to(x * w, bf16) + b", "inductor.triton", near_one) == 0x1p-24);
  assert_true(value_of("binary32: to(-to(x * w, bf16), bf16) - b", "inductor.triton", near_one) == -0x1p-24);
  assert_true(value_of("bf16: -x * w - b", "each", (double[]){2, 3, 1}) == -7);
  assert_true(value_of("bf16: -2 * x - 1", "each", (double[]){3}) == -7);
}

/* Strides, more than a block, in place, other levels and random words: what one element at a time gives. */
static void test_arrays(void **state) {
  static const char *const texts[] = {"bf16: relu(x * w + b) / 3 : float8_e5m2", "fp16: silu(x) - w * b + 0.1",
                                      "float8_e4m3fn: x / w + b : bfloat16",
                                      "binary32: x * w - b * x : path(binary16,float8_e5m2:sra:7)"};
  static const char *const rules[] = {"each", "end", "fma", "fma=right;round=end;constants=operand",
                                      "compute=operand;fma=on"};
  static uint32_t x[3][COUNT * STRIDE], z[COUNT * STRIDE], again[COUNT];
  t_random random = {t_seed("path", 1)};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
      hu_path path = path_of(texts[i]);
      hu_path_rule rule = rule_of(rules[k]);
      hu_view views[3];
      hu_exec exec = {1, 0, {3, 5}, {0}};
      size_t size = hu_limits_of(path.format).storage / 8, size_z = hu_limits_of(path.result.format).storage / 8;
      for (int operand = 0; operand < 3; operand++) {
        for (size_t j = 0; j < COUNT; j++)
          t_put(x[operand], size, j * STRIDE,
                hu_encode64(path.format, (hu_mode){0}, t_random_operand(&random, hu_bfloat16()), 0, NULL));
        views[operand] = hu_codes(x[operand], STRIDE, path.format);
      }
      hu_output to = hu_codes_out(z, 2, path.result.format), to_again = hu_codes_out(again, 1, path.result.format);
      assert_int_equal(hu_path_apply(COUNT, &to, views, &path, &rule, &exec), HU_OK);
      exec.levels_off = UINT32_MAX;
      assert_int_equal(hu_path_apply(COUNT, &to_again, views, &path, &rule, &exec), HU_OK);
      for (size_t j = 0; j < COUNT; j++) {
        uint32_t one = 0;
        hu_view at[3];
        for (int operand = 0; operand < 3; operand++)
          at[operand] = hu_codes((const char *)x[operand] + j * STRIDE * size, 1, path.format);
        hu_output single = hu_codes_out(&one, 1, path.result.format);
        hu_exec here = {1, 0, {3, 5 + j}, {0}};
        assert_int_equal(hu_path_apply(1, &single, at, &path, &rule, &here), HU_OK);
        uint32_t code = t_get(z, size_z, j * 2);
        if (code != t_get(&one, size_z, 0) || code != t_get(again, size_z, j))
          fail_msg("%s under %s: element %zu", texts[i], rules[k], j);
      }
      if (!hu_format_equal(path.format, path.result.format)) continue;
      hu_output place = hu_codes_out(x[1], STRIDE, path.format);
      assert_int_equal(hu_path_apply(COUNT, &place, views, &path, &rule, &exec), HU_OK);
      for (size_t j = 0; j < COUNT; j++) assert_int_equal(t_get(x[1], size, j * STRIDE), t_get(again, size, j));
    }
}

static void test_refusals(void **state) {
  hu_path path = path_of("float6_e2m3fn: x * w"), good = path;
  hu_path_rule rule = rule_of("each");
  uint8_t x[8] = {1, 2, 3, 0x40}, z[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  hu_view views[2] = {hu_codes(x, 1, path.format), hu_codes(x, 1, path.format)};
  hu_output to = hu_codes_out(z, 1, path.format);
  const char *why = NULL;
  (void)state;
#define REFUSED(status) assert_int_equal(hu_path_apply(4, &to, views, &path, &rule, NULL), status)
  REFUSED(HU_E_CODE);
  x[3] = 4;
  views[1].type.format = hu_bfloat16();
  REFUSED(HU_E_FORMAT);
  views[1] = hu_codes(x, 1, path.format);
  views[1].type.kind = HU_TYPE_BINARY32;
  REFUSED(HU_E_FORMAT);
  views[1] = hu_codes(NULL, 1, path.format);
  REFUSED(HU_E_NULL);
  views[1] = hu_codes(z + 1, 1, path.format);
  REFUSED(HU_E_OVERLAP);
  views[1] = hu_codes(x, 1, path.format);
  to.stride = 0;
  REFUSED(HU_E_SHAPE);
  to.stride = 1;
  path.nodes = HU_PATH_NODES + 1;
  REFUSED(HU_E_SHAPE);
  path = good;
  path.node[2].x[1] = 2; /* itself */
  REFUSED(HU_E_SHAPE);
  path = good;
  rule.word[HU_PATH_FMA] = 3;
  REFUSED(HU_E_MODE);
  assert_int_equal(hu_path_check(&path, &rule, &why), HU_E_MODE);
  assert_non_null(strstr(why, "word"));
  rule = rule_of("triton.sm90");
  path = path_of("float6_e2m3fn: x / w");
  REFUSED(HU_E_MODE);
#undef REFUSED
  for (int i = 0; i < 8; i++) assert_int_equal(z[i], 7);
  path = good;
  assert_int_equal(hu_path_check(&path, &rule, &why), HU_OK);
  assert_string_equal(why, "");
  assert_int_equal(hu_path_apply(4, &to, NULL, &path, &rule, NULL), HU_E_NULL);
  assert_int_equal(hu_path_apply(4, NULL, views, &path, &rule, NULL), HU_E_NULL);
  assert_int_equal(hu_path_apply(4, &to, views, NULL, &rule, NULL), HU_E_NULL);
  assert_int_equal(hu_path_apply(4, &to, views, &path, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_path_apply(0, &to, views, &path, &rule, NULL), HU_OK);
  assert_int_equal(hu_path_parse(NULL, "bf16: x", NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_path_parse(&path, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_path_rule_parse(NULL, "each", NULL), HU_E_NULL);
  assert_int_equal(hu_path_rule_parse(&rule, NULL, NULL), HU_E_NULL);
}

static void test_rules(void **state) {
  char text[HU_PATH_RULE_TEXT_MAX];
  (void)state;
  for (size_t i = 0; i < hu_path_rule_count(); i++) {
    hu_path_rule_entry entry = hu_path_rule_at(i);
    hu_path_rule rule = rule_of(entry.name), items = rule_of(entry.text), again;
    assert_memory_equal(&rule, &items, sizeof rule);
    size_t length = hu_path_rule_text(text, sizeof text, &rule);
    assert_int_equal(length, strlen(text));
    again = rule_of(text);
    assert_memory_equal(&rule, &again, sizeof rule);
  }
  assert_null(hu_path_rule_at(hu_path_rule_count()).name);
  assert_null(hu_path_key_at(HU_PATH_KEYS).name);
  hu_path_rule eager = rule_of("eager"), torch = rule_of("torch.cpu");
  assert_memory_equal(&eager, &torch, sizeof eager);
}

/* Texts with a letter changed, left out or doubled: read or refused. */
static void test_damaged_texts(void **state) {
  static const char good[] =
      "bf16: relu(x * -w + 0.5e-1) / to(silu(b), float8_e5m2) : path(binary16:rtz,float8_e4m3fn)";
  static const char letters[] = "()*/+-:,x1.e tof";
  t_random random = {t_seed("path texts", 1)};
  int read = 0;
  (void)state;
  for (int k = 0; k < DAMAGED; k++) {
    char text[2 * sizeof good];
    size_t at = t_below(&random, sizeof good - 1), where = 0, cut = t_below(&random, 3);
    hu_path path;
    const char *why = "";
    snprintf(text, sizeof text, "%.*s%c%s", (int)at, good, letters[t_below(&random, sizeof letters - 1)],
             good + at + cut);
    if (at + cut > sizeof good - 1) continue;
    hu_status status = hu_path_parse(&path, text, &where, &why);
    if (status == HU_OK) {
      hu_path_rule rule = rule_of("each");
      assert_int_equal(hu_path_check(&path, &rule, NULL), HU_OK);
      read++;
    } else if (where > strlen(text)) {
      fail_msg("'%s': %zu", text, where);
    }
  }
  assert_true(read > 20);
}

/* Records with bytes changed: refused, or computed. */
static void test_damaged_records(void **state) {
  const hu_path good = path_of("bf16: relu(x * w + 0.5) / to(abs(b), float8_e5m2)");
  uint16_t codes[3] = {0x3F80, 0x4000, 0x4040}, z = 0;
  const hu_view x[3] = {hu_codes(&codes[0], 1, good.format), hu_codes(&codes[1], 1, good.format),
                        hu_codes(&codes[2], 1, good.format)};
  t_random random = {t_seed("path records", 1)};
  int computed = 0;
  (void)state;
  for (int k = 0; k < DAMAGED; k++) {
    hu_path path = good;
    hu_path_rule rule = rule_of("fma");
    uint8_t *bytes = (uint8_t *)path.node;
    for (uint32_t i = 1 + t_below(&random, 2); i; i--)
      bytes[t_below(&random, good.nodes * (uint32_t)sizeof *path.node)] = (uint8_t)t_below(&random, k & 1 ? 8 : 256);
    hu_output to = hu_codes_out(&z, 1, path.result.format);
    hu_status status = hu_path_apply(1, &to, x, &path, &rule, NULL);
    if (status != HU_OK && status != HU_E_SHAPE) fail_msg("record %d: %s", k, hu_status_text(status));
    computed += status == HU_OK;
  }
  assert_true(computed > 20 && computed < DAMAGED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_where_rules_part), cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_refusals),         cmocka_unit_test(test_rules),
      cmocka_unit_test(test_damaged_texts),    cmocka_unit_test(test_damaged_records),
  };
  return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
