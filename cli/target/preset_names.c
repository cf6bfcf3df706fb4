/* SPDX-License-Identifier: MIT */
/* See preset_names.h. */
#include "cli/target/preset_names.h"

#include <math.h>
#include <string.h>

#include "cli/base/names.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"

/* Families have rules of scaled formats, too, which are not in the list of conversions. */
static int is_rule(const char *text) {
  hu_scaling scaling;
  hu_conversion conversion;
  hu_status status = hu_scaling_parse(&scaling, text, NULL);
  return hu_conversion_find(&conversion, text) != HU_OK && (status == HU_OK || status == HU_E_SCALING);
}

int cli_preset_claims(const char *text) {
  if (is_rule(text)) return 0;
  const char *dot = strchr(text, '.');
  size_t n = dot ? (size_t)(dot - text) : 0;
  for (size_t i = 0; n && i < hu_scaling_rule_count(); i++) /* the rules of blocks have such names, too */
    if (!strcmp(hu_scaling_rule_at(i).name, text)) return 0;
  for (size_t i = 0; n && i < hu_conversion_count(); i++)
    if (!strncmp(hu_conversion_at(i).name, text, n + 1)) return 1;
  return 0;
}

int cli_read_conversion(hu_conversion *z, const char *name) {
  if (hu_conversion_find(z, name) == HU_OK) return CLI_OK;
  return cli_fail_preset_name(name);
}

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

void cli_preset_steps(cli_preset *preset, number *z, const char *text, int json) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  double x = hu_conversion_operand64(&preset->conversion, z->value);
  int same = x == z->value && signbit(x) == signbit(z->value);
  preset->given = z->value;
  number_hex(hex, x);
  if (json) {
    cli_json(stdout, "{'operand': ?, ", JSON(x));
  } else {
    printf("%s converted as in %s\n", text, preset->name);
    if (!same && isfinite(x))
      printf("  %-18s %s = %s\n", "becomes first", hex, number_decimal(decimal, x));
    else if (!same && !isnan(z->value))
      printf("  %-18s %s\n", "becomes first", hex);
  }
  if (same) return;
  z->value = z->toward_zero = x;
  z->exact = 1; /* rounded: all its digits are there */
}

uint32_t cli_preset_code(const cli_preset *preset, hu_format format, hu_mode mode, double x, uint32_t random,
                         uint32_t *events) {
  uint32_t code = hu_encode64(format, mode, x, random, events);
  return preset->name && isnan(x) ? hu_conversion_encode64(&preset->conversion, preset->given, random, events) : code;
}
