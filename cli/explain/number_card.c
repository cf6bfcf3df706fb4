/* SPDX-License-Identifier: MIT */
/* Prints the card of a number system, and its codes one by one. */
#include <string.h>

#include "cli/explain/number.h"

static void print_code(const char *label, hu_number system, uint32_t code) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  double x = hu_number_decode64(system, code);
  printf("  %-20s 0x%0*x   %-18s %s\n", label, cli_system_digits(system), (unsigned)code, number_hex(hex, x),
         number_decimal(decimal, x));
}

static void print_same(hu_number system, const char *name) {
  int first = 1;
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number_entry entry = hu_number_at(i);
    if (!hu_number_equal(entry.number, system) || !strcmp(entry.name, name)) continue;
    if (first) printf("  %-20s", "same numbers as");
    printf(" %s", entry.name);
    first = 0;
  }
  if (!first) putchar('\n');
}

static const char *ties_of(hu_number system) {
  static const char *const words[] = {"ties to the even place", "ties to the lower value",
                                      "ties to the lower value, midpoints rounded to binary32", "at limits of its own"};
  return words[system.ties % 4];
}

/* Returns 1 for systems with a NaR that are rounded on the bit string. */
static int is_string(hu_number system) {
  return system.kind == HU_NUMBER_POSIT || system.kind == HU_NUMBER_TAKUM_LINEAR || system.kind == HU_NUMBER_TAKUM;
}

static void print_rounding(hu_number system) {
  static const char *const posit = "of the bit string; never to zero, never beyond max";
  static const char *const lns = "of the logarithm";
  static const char *const fixed = "as IEEE 754's";
  const char *how = is_string(system) ? posit : system.kind == HU_NUMBER_LNS ? lns : fixed;
  printf("  %-20s %s\n", "rounding", system.kind == HU_NUMBER_TABLE ? ties_of(system) : how);
}

static void print_card(hu_number system, const char *given) {
  char name[CLI_NAME_MAX], line[CLI_NAME_MAX], text[HU_NUMBER_TEXT_MAX];
  hu_number_limits limits = hu_number_limits_of(system);
  hu_number_entry entry = cli_system_entry(system, given);
  hu_mode rne = {0};
  hu_number_text(text, sizeof text, system);
  cli_system_name(name, system, entry.name ? entry.name : given);
  printf("%s\n  %-20s %s\n", name, "text", text);
  print_same(system, name);
  if (entry.name) printf("  %-20s %s\n", "defined in", entry.source);
  if (entry.name && *entry.open) printf("  %-20s %s\n", "left open there", entry.open);
  printf("  %-20s %s\n", "kind", cli_system_kind(system));
  printf("  %-20s %u; stored in %u\n", "bits", (unsigned)limits.width, (unsigned)limits.storage);
  printf("  %-20s %s\n", "values", cli_system_line(line, system));
  print_rounding(system);
  print_code("max", system, limits.max_code);
  print_code("lowest", system, limits.low_code);
  if (limits.min_code != HU_NO_CODE || limits.min > 0) print_code("min > 0", system, limits.min_code);
  uint32_t one = hu_number_encode64(system, rne, 1.0, 0, NULL);
  if (hu_number_decode64(system, one) == 1.0) print_code("one", system, one);
  if (limits.has_zero) print_code("zero", system, limits.zero_code);
  if (limits.has_nan) print_code(is_string(system) ? "NaR" : "NaN", system, limits.nan_code);
  if (!limits.has_zero) printf("  %-20s none\n", "zero");
  if (!limits.has_nan) printf("  %-20s none\n", "NaN");
  printf("  %-20s %s\n", "exact in binary64", limits.exact64 ? "yes" : "no: values are irrational, shown to nearest");
}

static void json_code(const char *key, hu_number system, uint32_t code, uint32_t there) {
  cli_json(stdout, there ? ", ?: {?}" : ", ?: null", JSON(key),
           cli_code(cli_system_digits(system), code, there ? hu_number_decode64(system, code) : 0));
}

static void json_card(hu_number system, const char *given) {
  char name[CLI_NAME_MAX], text[HU_NUMBER_TEXT_MAX];
  hu_number_limits limits = hu_number_limits_of(system);
  hu_number_text(text, sizeof text, system);
  cli_json(stdout, "{'id': ?, 'text': ?, 'kind': ?, 'width': ?, 'storage': ?",
           JSON(cli_system_name(name, system, given)), JSON(text), JSON(cli_system_kind(system)), JSON(limits.width),
           JSON(limits.storage));
  json_code("max", system, limits.max_code, 1);
  json_code("lowest", system, limits.low_code, 1);
  json_code("min", system, limits.min_code, limits.min > 0);
  json_code("zero", system, limits.zero_code, limits.has_zero);
  json_code("nan_code", system, limits.nan_code, limits.has_nan);
  cli_json(stdout, ", 'exact64': ?}\n", cli_truth(limits.exact64));
}

void cli_system_card(hu_number system, const char *given, int json) {
  if (json)
    json_card(system, given);
  else
    print_card(system, given);
}

void cli_system_table(hu_number system, int json) {
  char hex[NUMBER_TEXT_MAX];
  uint32_t codes = (uint32_t)1 << hu_number_limits_of(system).width;
  int digits = cli_system_digits(system);
  for (uint32_t c = 0; c < codes; c++) {
    double x = hu_number_decode64(system, c);
    if (json)
      cli_json(stdout, "?{?}", cli_plain(c ? ",\n " : "["), cli_code(digits, c, x));
    else
      printf("%0*x %s\n", digits, (unsigned)c, number_hex(hex, x));
  }
  if (json) printf("]\n");
}
