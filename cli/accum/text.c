/* SPDX-License-Identifier: MIT */
/* Reads accumulation models and elements of dot products from words, and writes them. */
#include "cli/accum/text.h"

#include <string.h>

int cli_read_model(hu_accum *accum, const char *what, const char *text) {
  size_t where = 0;
  hu_status status = hu_accum_parse(accum, text, &where);
  return status == HU_OK ? CLI_OK : cli_fail_model(what, text, status, where);
}

hu_type cli_taken_element(hu_type taken, hu_type otherwise) { return taken.kind == HU_TYPE_NONE ? otherwise : taken; }

hu_type cli_model_result(const hu_accum *accum) {
  if (accum->promote) return hu_type_codes(accum->promoted);
  return accum->c;
}

int cli_fail_operand(const char *text, const hu_accum *accum, hu_status status, hu_type given, const char *option) {
  char takes[CLI_NAME_MAX * 3], name[CLI_NAME_MAX];
  int letter = status == HU_E_OPERAND_A ? 'A' : status == HU_E_OPERAND_B ? 'B' : 'C';
  hu_accum_takes(takes, sizeof takes, accum);
  return cli_fail(NULL, "%s takes %s, and not %s as %c; leave %s out, or ask for any(%s), which no hardware computes",
                  text, takes, cli_element_name(name, given), letter, option, text);
}

/* From HU_TYPE_BINARY64 on. */
static const char *const kinds[] = {"binary64", "s8", "u8", "s4", "u4", "s32"};

int cli_parse_element(hu_type *element, const char *text) {
  hu_format none = {0};
  for (uint16_t i = HU_TYPE_BINARY64; i <= HU_TYPE_INT32; i++) {
    if (strcmp(text, kinds[i - HU_TYPE_BINARY64]) != 0) continue;
    *element = hu_type_plain(i);
    return 1;
  }
  *element = hu_type_codes(none);
  return hu_format_parse(&element->format, text, NULL) == HU_OK;
}

int cli_read_element(hu_type *element, const char *text) {
  return cli_parse_element(element, text) ? CLI_OK : cli_read_format(&element->format, text);
}

const char *cli_element_name(char text[CLI_NAME_MAX], hu_type element) {
  if (element.kind == HU_TYPE_CODES) return cli_format_name(text, element.format);
  snprintf(text, CLI_NAME_MAX, "%s", kinds[element.kind - HU_TYPE_BINARY64]);
  return text;
}
