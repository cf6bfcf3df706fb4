/* SPDX-License-Identifier: MIT */
/* See preset_names.h. */
#include "cli/target/preset_names.h"

#include <math.h>
#include <string.h>

#include "cli/base/names.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"

static const char path_begin[] = "path(";

static int is_path(const char *text) { return !strncmp(text, path_begin, sizeof path_begin - 1); }

/* Families have rules of scaled formats, too, which are not in the list of conversions. */
static int is_rule(const char *text) {
  hu_scaling scaling;
  hu_conversion conversion;
  hu_status status = hu_scaling_parse(&scaling, text, NULL);
  return hu_conversion_find(&conversion, text) != HU_OK && (status == HU_OK || status == HU_E_SCALING);
}

int cli_preset_claims(const char *text) {
  if (is_path(text)) return 1;
  if (is_rule(text)) return 0;
  const char *dot = strchr(text, '.');
  size_t n = dot ? (size_t)(dot - text) : 0;
  for (size_t i = 0; n && i < hu_scaling_rule_count(); i++) /* the rules of blocks have such names, too */
    if (!strcmp(hu_scaling_rule_at(i).name, text)) return 0;
  for (size_t i = 0; n && i < hu_conversion_count(); i++)
    if (!strncmp(hu_conversion_at(i).name, text, n + 1)) return 1;
  return 0;
}

/* Says what is wrong with a path(...), of which the part from `where` on is. */
static int fail_path(const char *text, hu_status status, size_t where) {
  const char *part = text + where;
  if (status == HU_E_NAME) return cli_fail_name("path: format", part, strcspn(part, ",:)"), 0);
  if (status == HU_E_MODE)
    return cli_fail(NULL, "'%s': '%.*s' is stochastic, which the last step alone may be", text,
                    (int)strcspn(part, ",)"), part);
  if (!*part) return cli_fail(NULL, "'%s': something is missing at the end", text);
  return cli_fail(NULL, "'%s': wrong from character %zu on, '%s'; path(FORMAT:MODE,FORMAT:MODE) has 2 to %d formats",
                  text, where + 1, part, HU_CONVERSION_FURTHER + 2);
}

int cli_read_conversion(hu_conversion *z, const char *name) {
  size_t where = 0;
  if (hu_conversion_find(z, name) == HU_OK) return CLI_OK;
  if (!is_path(name)) return cli_fail_preset_name(name);
  hu_status status = hu_conversion_parse(z, name, &where);
  return fail_path(name, status, where);
}

static int is_none(hu_format format) {
  static const hu_format none;
  return hu_format_equal(format, none);
}

int cli_rounds_before(const hu_conversion *conversion) { return !*conversion->scaling && !is_none(conversion->first); }

int cli_preset_read(cli_preset *preset, const char *name) {
  if (cli_read_conversion(&preset->conversion, name)) return CLI_BAD;
  if (*preset->conversion.scaling) return cli_fail(NULL, "'%s' is for arrays: a number alone has no scale", name);
  preset->name = name;
  return CLI_OK;
}

int cli_preset_alone(const char *name, const hu_mode *given) {
  static const hu_mode none;
  if (!memcmp(given, &none, sizeof none)) return CLI_OK;
  return cli_fail(NULL, "--round, --saturate, --nan and --tiny do not go with the preset '%s', which has its own",
                  name);
}

int cli_preset_only(const cli_preset *preset, cli_numeric *numeric, hu_mode *round) {
  if (cli_preset_alone(preset->name, &numeric->mode) || cli_preset_alone(preset->name, round)) return CLI_BAD;
  numeric->mode = *round = preset->conversion.mode;
  return CLI_OK;
}

static int is_same(double x, double y) { return x == y && signbit(x) == signbit(y); }

/* Prints what a number becomes, unless it stays what it was. */
static void print_step(const char *label, double x, double before) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  if (is_same(x, before)) return;
  number_hex(hex, x);
  if (isfinite(x))
    printf("  %-18s %s = %s\n", label, hex, number_decimal(decimal, x));
  else if (!isnan(before))
    printf("  %-18s %s\n", label, hex);
}

void cli_preset_steps(cli_preset *preset, number *z, const char *text, int json) {
  hu_conversion begun = preset->conversion;
  double x = hu_conversion_operand64(&begun, z->value), before = z->value;
  preset->given = z->value;
  if (json)
    cli_json(stdout, "{'operand': ?, ", JSON(x));
  else
    printf("%s converted as in %s\n", text, preset->name);
  memset(begun.further, 0, sizeof begun.further);
  for (int i = 0; i <= HU_CONVERSION_FURTHER && !json; i++) {
    if (i) begun.further[i - 1] = preset->conversion.further[i - 1];
    double next = hu_conversion_operand64(&begun, z->value);
    print_step(i ? "and then" : "becomes first", next, before);
    before = next;
  }
  if (is_same(x, z->value)) return;
  z->value = z->toward_zero = x;
  z->exact = 1; /* rounded: all its digits are there */
}

void cli_preset_once(const cli_preset *preset, uint32_t random, int json) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  hu_format format = preset->conversion.format;
  if (!preset->name || !cli_rounds_before(&preset->conversion)) return;
  hu_conversion single = hu_conversion_once(&preset->conversion);
  uint32_t once = hu_conversion_encode64(&single, preset->given, random, NULL);
  int differs = once != hu_conversion_encode64(&preset->conversion, preset->given, random, NULL);
  double value = hu_decode64(format, once);
  if (json) {
    cli_json(stdout, "'once': {?, 'differs': ?}, ", cli_code((int)code_digits(format), once, value),
             cli_truth(differs));
    return;
  }
  printf("  %-18s 0x%0*x = %s", "rounded once", (int)code_digits(format), once, number_hex(hex, value));
  if (isfinite(value)) printf(" = %s", number_decimal(decimal, value));
  printf(differs ? ": the roundings before make another code\n" : ", the same\n");
}

uint32_t cli_preset_code(const cli_preset *preset, hu_format format, hu_mode mode, double x, uint32_t random,
                         uint32_t *events) {
  uint32_t code = hu_encode64(format, mode, x, random, events);
  return preset->name && isnan(x) ? hu_conversion_encode64(&preset->conversion, preset->given, random, events) : code;
}
