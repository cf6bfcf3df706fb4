/* SPDX-License-Identifier: MIT */
/* See number.h. */
#include "cli/explain/number.h"

#include <string.h>

static int is_system_text(const char *text) {
  static const char *const words[] = {"posit(", "takum(", "takum_linear(", "lns(", "q(", "uq(", "table("};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strncmp(text, words[i], strlen(words[i]))) return 1;
  return 0;
}

int cli_read_system(hu_number *z, const char *text, float values[HU_TABLE_MAX]) {
  size_t where = 0;
  hu_number system;
  hu_status status = hu_number_parse(&system, text, values, &where);
  if (status == HU_OK && system.kind != HU_NUMBER_FLOAT) {
    *z = system;
    return 1;
  }
  if (status == HU_OK || !is_system_text(text)) return 0;
  if (status == HU_E_TEXT && where < strlen(text))
    cli_fail(NULL, "number '%s': wrong from character %zu on: '%s'", text, where + 1, text + where);
  else if (status == HU_E_TEXT)
    cli_fail(NULL, "number '%s': something is missing at the end", text);
  else
    cli_fail(NULL, "number '%s': well-formed, but no such number system can be", text);
  return -1;
}

const char *cli_system_name(char text[CLI_NAME_MAX], hu_number system, const char *given) {
  char full[HU_NUMBER_TEXT_MAX];
  const char *id = hu_number_id(system);
  if (given && !strchr(given, '(') && strlen(given) < CLI_NAME_MAX) return strcpy(text, given);
  if (!id) hu_number_text(full, sizeof full, system);
  snprintf(text, CLI_NAME_MAX, "%.*s", CLI_NAME_MAX - 1, id ? id : full);
  if (!id && strlen(full) >= CLI_NAME_MAX) memcpy(text + CLI_NAME_MAX - 4, "...", 4);
  return text;
}

const char *cli_system_kind(hu_number system) {
  static const char *const words[HU_NUMBER_KINDS] = {"float", "posit",        "lns",   "fixed",
                                                     "table", "takum_linear", "takum", "hifloat8"};
  return system.kind < HU_NUMBER_KINDS ? words[system.kind] : "?";
}

const char *cli_system_line(char text[CLI_NAME_MAX], hu_number system) {
  static const char *const codings[] = {"in two's complement", "with an offset", "from 0 up"};
  unsigned fraction = system.fraction;
  switch (system.kind) {
    case HU_NUMBER_POSIT:
      snprintf(text, CLI_NAME_MAX, "regime, %u exponent bit%s, fraction; two's complement", system.es,
               system.es == 1 ? "" : "s");
      break;
    case HU_NUMBER_LNS:
      snprintf(text, CLI_NAME_MAX, "a sign, and the exponent of 2 in steps of 2^-%u, %s", fraction,
               codings[system.coding % 3]);
      break;
    case HU_NUMBER_FIXED:
      snprintf(text, CLI_NAME_MAX, "%s times 2^-%u, beyond the range %s",
               system.sign ? "two's complement integers" : "integers from 0", fraction,
               system.overflow ? "wrapped" : "saturated");
      break;
    case HU_NUMBER_TAKUM_LINEAR:
      snprintf(text, CLI_NAME_MAX, "exponent of 0 to 7 bits, fraction; two's complement");
      break;
    case HU_NUMBER_TAKUM:
      snprintf(text, CLI_NAME_MAX, "a logarithm to base sqrt(e), 0 to 7 bits before the point; two's complement");
      break;
    case HU_NUMBER_HIFLOAT8:
      snprintf(text, CLI_NAME_MAX, "exponent of 0 to 4 bits, 1 to 3 behind the point; powers of 2 below 2^-15");
      break;
    default: snprintf(text, CLI_NAME_MAX, "%u values, one a code", system.count); break;
  }
  return text;
}

int cli_system_digits(hu_number system) { return (int)(hu_number_limits_of(system).width + 3) / 4; }

hu_number_entry cli_system_entry(hu_number system, const char *given) {
  hu_number_entry found = {NULL, NULL, NULL, system};
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number_entry entry = hu_number_at(i);
    if (!hu_number_equal(entry.number, system)) continue;
    if (given && !strcmp(entry.name, given)) return entry;
    if (!found.name) found = entry;
  }
  return found;
}
