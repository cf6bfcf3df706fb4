/* SPDX-License-Identifier: MIT */
/* The catalogue: its numbers against tests/format/expected.csv, its names, its order, and the functions of formats/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"

#define FIELDS 18

/* Splits a line at its commas in place; returns the number of fields. */
static int split(char *line, char *field[FIELDS]) {
  int n = 0;
  line[strcspn(line, "\r\n")] = 0;
  for (char *s = line; s && n < FIELDS; n++) {
    field[n] = s;
    s = strchr(s, ',');
    if (s) *s++ = 0;
  }
  return n;
}

static uint32_t code_of(const char *s) { return strcmp(s, "none") == 0 ? HU_NO_CODE : (uint32_t)strtoul(s, NULL, 0); }
static double value_of(const char *s) { return strcmp(s, "none") == 0 ? 0 : strtod(s, NULL); }
static long long number_of(const char *s) { return strtoll(s, NULL, 0); }

static void same_number(const char *id, const char *what, long long got, long long expected) {
  if (got != expected) fail_msg("%s: %s is %lld, not %lld", id, what, got, expected);
}

static void same_value(const char *id, const char *what, double got, double expected) {
  if (got != expected) fail_msg("%s: %s is %a, not %a", id, what, got, expected);
}

static void check_row(char *field[FIELDS]) {
  const char *id = field[0];
  hu_format format;
  memset(&format, 0xA5, sizeof format);
  same_number(id, "hu_format_find", hu_format_find(&format, id), HU_OK);
  same_number(id, "hu_format_check", hu_format_check(format, NULL), HU_OK);
  hu_limits limits = hu_limits_of(format);
  same_number(id, "width", limits.width, number_of(field[1]));
  same_number(id, "sign", format.sign, number_of(field[2]));
  same_number(id, "sign_mask", limits.sign_mask, format.sign ? 1ll << (limits.width - 1) : 0);
  same_number(id, "e", format.e, number_of(field[3]));
  same_number(id, "m", format.m, number_of(field[4]));
  same_number(id, "b", format.b, number_of(field[5]));
  same_number(id, "bias", limits.bias, number_of(field[6]));
  same_value(id, "max", limits.max, value_of(field[7]));
  same_number(id, "max_code", limits.max_code, code_of(field[8]));
  same_value(id, "min_normal", limits.min_normal, value_of(field[9]));
  same_number(id, "min_normal_code", limits.min_normal_code, code_of(field[10]));
  int has_subnormals = code_of(field[12]) != HU_NO_CODE;
  same_value(id, "min", limits.min, value_of(field[has_subnormals ? 11 : 9]));
  same_number(id, "min_code", limits.min_code, code_of(field[has_subnormals ? 12 : 10]));
  same_number(id, "finite_codes", (long long)limits.finite_codes, number_of(field[13]));
  same_number(id, "finite values", (long long)limits.finite_codes - format.negzero, number_of(field[14]));
  same_number(id, "nan_codes", (long long)limits.nan_codes, number_of(field[15]));
  same_number(id, "inf_code", limits.inf_code, code_of(field[16]));
  same_number(id, "has_nan", limits.has_nan, code_of(field[17]) != HU_NO_CODE);
  same_number(id, "nan_code", limits.nan_code, code_of(field[17]));
}

static void numbers_as_expected(void **state) {
  (void)state;
  FILE *in = fopen(EXPECTED_FILE, "r");
  assert_non_null(in);
  char line[512];
  size_t rows = 0;
  while (fgets(line, sizeof line, in)) {
    if (line[0] == '#' || strncmp(line, "id,", 3) == 0) continue;
    char *field[FIELDS];
    if (split(line, field) != FIELDS) fail_msg("expected.csv: row %zu has too few fields", rows);
    check_row(field);
    rows++;
  }
  fclose(in);
  print_message("%zu formats, 17 numbers each\n", rows);
  assert_int_equal(rows, hu_format_count());
}

/* Copies the blank-separated word at *list to word and moves *list behind it; 0 at the end. */
static int next_word(const char **list, char word[64]) {
  size_t n = strcspn(*list, " ");
  if (n == 0 || n >= 64) return 0;
  memcpy(word, *list, n);
  word[n] = 0;
  *list += n + ((*list)[n] == ' ');
  return 1;
}

static int plain_name(const char *s) {
  return *s >= 'a' && *s <= 'z' && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

/* How many ids and aliases of the catalogue are `name`. */
static unsigned owners(const char *name) {
  unsigned count = 0;
  char word[64];
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    count += strcmp(entry.id, name) == 0;
    for (const char *list = entry.aliases; next_word(&list, word);) count += strcmp(word, name) == 0;
  }
  return count;
}

static void check_name(const char *name, hu_format expected) {
  hu_format found, parsed;
  assert_true(plain_name(name));
  if (owners(name) != 1) fail_msg("%s: %u owners", name, owners(name));
  assert_int_equal(hu_format_find(&found, name), HU_OK);
  assert_true(hu_format_equal(found, expected));
  assert_int_equal(hu_format_parse(&parsed, name, NULL), HU_OK);
  assert_true(hu_format_equal(parsed, expected));
}

static void names_are_unique(void **state) {
  (void)state;
  size_t names = 0;
  char word[64];
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    assert_non_null(entry.id);
    check_name(entry.id, entry.format);
    names++;
    const char *list = entry.aliases;
    for (; next_word(&list, word); names++) check_name(word, entry.format);
    assert_int_equal(*list, 0);
    assert_true(strlen(entry.source) > 0);
    assert_non_null(entry.open);
  }
  print_message("%zu ids and aliases, each found and owned once\n", names);
  assert_true(names > hu_format_count());
}

static void beyond_the_end(void **state) {
  (void)state;
  assert_null(hu_format_at(hu_format_count()).id);
  assert_null(hu_format_at(SIZE_MAX).id);
}

/* Names that more than one format claims, and near misses of good ones. */
static void refused_names(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    " ",
                                    "fp8",
                                    "fp4",
                                    "fp6",
                                    "fp5",
                                    "fp3",
                                    "e4m3",
                                    "e3m4",
                                    "e1m2",
                                    "bf8",
                                    "float8",
                                    "float4",
                                    "mini",
                                    "hfp8",
                                    "cfloat8",
                                    "f8e4m3fnn",
                                    "float8_e4m3fn ",
                                    " float8_e4m3fn",
                                    "FP16",
                                    "Float8_e4m3fn",
                                    "float8_e4m3f",
                                    "fp16 half",
                                    "binary64",
                                    "binary8",
                                    "binary8p",
                                    "binary8p4",
                                    "binary8p4s",
                                    "binary8p4see",
                                    "binary8p4es",
                                    "binary8p4xe",
                                    "binary2p1se",
                                    "binary17p4se",
                                    "binary8p8se",
                                    "binary8p9ue",
                                    "binary8p0se",
                                    "binary08p4se",
                                    "binary8p04se",
                                    "binary8p+4se",
                                    "binary8p44se",
                                    "binary888p4se",
                                    "binary4294967304p4se",
                                    "p3109_k9p4se",
                                    "p3109_k8p4s"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    hu_format format, before;
    memset(&format, 0xA5, sizeof format);
    before = format;
    if (hu_format_find(&format, bad[i]) != HU_E_NAME) fail_msg("\"%s\" was not refused", bad[i]);
    assert_memory_equal(&format, &before, sizeof format);
  }
  hu_format format;
  assert_int_equal(hu_format_find(NULL, "binary16"), HU_E_NULL);
  assert_int_equal(hu_format_find(&format, NULL), HU_E_NULL);
  print_message("%zu names refused\n", sizeof bad / sizeof bad[0]);
}

/* hu_format_id: the first of the entries with this descriptor. */
static void id_of_descriptor(void **state) {
  (void)state;
  size_t shared = 0;
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    size_t first = 0;
    while (!hu_format_equal(hu_format_at(first).format, entry.format)) first++;
    assert_true(first <= i);
    assert_string_equal(hu_format_id(entry.format), hu_format_at(first).id);
    shared += first < i;
    hu_format other = entry.format;
    other.b = (int16_t)(other.b + 40);
    assert_null(hu_format_id(other));
  }
  print_message("%zu entries share an earlier entry's descriptor\n", shared);
  assert_string_equal(hu_format_id(hu_format_finite(4, 3, 4)), "fp_4_3_4_finite");
  assert_string_equal(hu_format_id(hu_format_finite(5, 2, 0)), "fp_5_2_0_finite");
  assert_string_equal(hu_format_id(hu_format_fnuz(4, 3, 1)), "float8_e4m3fnuz");
  assert_string_equal(hu_format_id(hu_format_p3109(8, 4, 1, 0)), "float8_e4m3fnuz"); /* the same by D1 */
  assert_string_equal(hu_format_id(hu_format_p3109(6, 4, 1, 0)), "binary6p4sf");
}

static void function_is_entry(hu_format format, const char *id) {
  hu_format found;
  same_number(id, "hu_format_find", hu_format_find(&found, id), HU_OK);
  same_number(id, "hu_format_equal", hu_format_equal(format, found), 1);
}

static void functions_of_headers(void **state) {
  (void)state;
#define SAME(name) function_is_entry(hu_##name(), #name)
  SAME(binary16), SAME(bfloat16), SAME(binary32);
  SAME(float8_e4m3fn), SAME(float8_e5m2), SAME(float6_e2m3fn), SAME(float6_e3m2fn), SAME(float4_e2m1fn);
  SAME(float8_e8m0fnu), SAME(float8_e4m3fnuz), SAME(float8_e5m2fnuz), SAME(float8_e4m3b11fnuz);
  SAME(fp_4_3_4_finite), SAME(fp_5_2_0_finite), SAME(fp_6_9_0_finite), SAME(hfp8_fwd_143), SAME(hfp8_bwd_152);
  SAME(dlfloat16), SAME(fp16_169_wang2018), SAME(cfloat8_143), SAME(cfloat8_152), SAME(shp_cfloat16);
  SAME(uhp_cfloat16);
  SAME(tf32), SAME(binary16_ahp), SAME(float8_e4m3), SAME(float8_e3m4), SAME(float8_e3m4fn), SAME(ue4m3), SAME(ue5m3);
  SAME(r11g11b10_uf11), SAME(r11g11b10_uf10), SAME(float5_e2m2), SAME(float5_e3m1), SAME(float4_e1m2);
  SAME(float4_e3m0), SAME(float3_e2m0), SAME(uint1), SAME(uint2), SAME(uint4), SAME(uint8);
  SAME(binary8p4se), SAME(binary8p3se), SAME(binary4p2sf), SAME(binary8p1uf), SAME(binary8p5se), SAME(binary8p4sf);
  SAME(binary8p3sf), SAME(binary6p4sf), SAME(binary6p3sf), SAME(binary4p2se);
#undef SAME
  assert_int_equal(hu_limits_of(hu_cfloat8_143_bias(0)).bias, 0);
  assert_int_equal(hu_limits_of(hu_cfloat8_152_bias(63)).bias, 63);
  assert_int_equal(hu_limits_of(hu_shp_cfloat16_bias(40)).bias, 40);
}

/* P3109's own formulas, for every name of K = 3..16: bias, code of 1.0, NaN, infinity, largest code; the order. */
static void check_p3109(const char *name, unsigned k, unsigned p, unsigned is_signed, unsigned extended) {
  hu_format format;
  hu_limits limits;
  assert_int_equal(hu_format_find(&format, name), HU_OK);
  assert_true(hu_format_equal(format, hu_format_p3109(k, p, (int)is_signed, (int)extended)));
  limits = hu_limits_of(format);
  uint32_t nan = is_signed ? 1u << (k - 1) : (1u << k) - 1;
  uint32_t top = (is_signed ? 1u << (k - 1) : nan) - 1; /* the largest magnitude code that is not NaN */
  assert_int_equal(limits.width, k);
  assert_int_equal(limits.bias, 1 << (is_signed ? k - p - 1 : k - p));
  assert_int_equal(limits.nan_code, nan);
  assert_int_equal(limits.nan_codes, 1);
  assert_int_equal(limits.inf_code, extended ? top : HU_NO_CODE);
  assert_int_equal(limits.max_code, extended ? top - 1 : top);
  assert_true(hu_decode64(format, is_signed ? 1u << (k - 2) : 1u << (k - 1)) == 1.0);
  assert_int_equal(format.overflow, extended ? HU_OVERFLOW_INF : HU_OVERFLOW_NAN);
  assert_int_equal(format.negzero, 0);
}

static void p3109_family(void **state) {
  (void)state;
  size_t at = 0, valid = 0, refused = 0;
  while (strcmp(hu_format_at(at).id, "binary3p1se") != 0) at++;
  for (unsigned k = 3; k <= 16; k++) {
    for (unsigned p = 1; p <= k; p++) {
      for (unsigned kind = 0; kind < 4; kind++) {
        unsigned is_signed = kind < 2, extended = kind % 2 == 0;
        char name[32];
        snprintf(name, sizeof name, "binary%up%u%c%c", k, p, is_signed ? 's' : 'u', extended ? 'e' : 'f');
        hu_format format;
        if (p == k && is_signed) {
          assert_int_equal(hu_format_find(&format, name), HU_E_NAME);
          continue;
        }
        if (k <= 8) assert_string_equal(hu_format_at(at++).id, name);
        if (k - p + !is_signed > 11) {
          assert_int_equal(hu_format_find(&format, name), HU_E_FORMAT);
          refused++;
        } else {
          check_p3109(name, k, p, is_signed, extended);
          valid++;
        }
      }
    }
  }
  assert_int_equal(at, hu_format_count());
  print_message("%zu P3109 names, %zu more need too many exponent bits\n", valid, refused);
  assert_int_equal(valid + refused, 504);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_as_expected), cmocka_unit_test(names_are_unique), cmocka_unit_test(beyond_the_end),
      cmocka_unit_test(refused_names),       cmocka_unit_test(id_of_descriptor), cmocka_unit_test(functions_of_headers),
      cmocka_unit_test(p3109_family),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
