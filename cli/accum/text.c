/* SPDX-License-Identifier: MIT */
/* Reads accumulation models and elements of dot products from words, and writes them. */
#include "cli/accum/text.h"

#include <string.h>

int cli_read_model(hu_accum *accum, const char *what, const char *text) {
  size_t where = 0;
  hu_status status = hu_accum_parse(accum, text, &where);
  return status == HU_OK ? CLI_OK : cli_fail_model(what, text, status, where);
}

static int is_open(hu_element element) {
  static const hu_element none;
  return element.kind == none.kind && hu_format_equal(element.format, none.format);
}

hu_element cli_taken_element(hu_element taken, hu_element otherwise) { return is_open(taken) ? otherwise : taken; }

hu_element cli_model_result(const hu_accum *accum) {
  if (accum->promote) return (hu_element){.kind = HU_ELEMENT_CODE, .format = accum->promoted};
  return accum->c;
}

int cli_fail_operand(const char *text, const hu_accum *accum, hu_status status, hu_element given, const char *option) {
  char takes[CLI_NAME_MAX * 3], name[CLI_NAME_MAX];
  int letter = status == HU_E_OPERAND_A ? 'A' : status == HU_E_OPERAND_B ? 'B' : 'C';
  hu_accum_takes(takes, sizeof takes, accum);
  return cli_fail(NULL, "%s takes %s, and not %s as %c; leave %s out, or ask for any(%s), which no hardware computes",
                  text, takes, cli_element_name(name, given), letter, option, text);
}

static const char *const kinds[] = {NULL, "binary64", "s8", "u8", "s4", "u4", "s32"};

int cli_parse_element(hu_element *element, const char *text) {
  memset(element, 0, sizeof *element);
  for (uint8_t i = HU_ELEMENT_BINARY64; i <= HU_ELEMENT_S32; i++) {
    if (strcmp(text, kinds[i]) != 0) continue;
    element->kind = i;
    return 1;
  }
  return hu_format_parse(&element->format, text, NULL) == HU_OK;
}

int cli_read_element(hu_element *element, const char *text) {
  return cli_parse_element(element, text) ? CLI_OK : cli_read_format(&element->format, text);
}

const char *cli_element_name(char text[CLI_NAME_MAX], hu_element element) {
  if (element.kind == HU_ELEMENT_CODE) return cli_format_name(text, element.format);
  snprintf(text, CLI_NAME_MAX, "%s", kinds[element.kind]);
  return text;
}
