/* SPDX-License-Identifier: MIT */
/* Accumulation models and elements of dot products as words. */
#include "cli/models.h"

#include <string.h>

int cli_read_model(hu_accum *accum, const char *what, const char *text) {
  size_t where = 0;
  hu_status s = hu_accum_parse(accum, text, &where);
  return s == HU_OK ? CLI_OK : cli_fail_model(what, text, s, where);
}

static const char *const kinds[] = {NULL, "binary64", "s8", "u8", "s4", "u4", "s32"};

int cli_parse_element(hu_element *e, const char *text) {
  memset(e, 0, sizeof *e);
  for (uint8_t i = HU_ELEMENT_BINARY64; i <= HU_ELEMENT_S32; i++) {
    if (strcmp(text, kinds[i]) != 0) continue;
    e->kind = i;
    return 1;
  }
  return hu_format_parse(&e->format, text, NULL) == HU_OK;
}

int cli_read_element(hu_element *e, const char *text) {
  return cli_parse_element(e, text) ? CLI_OK : cli_read_format(&e->format, text);
}

const char *cli_element_name(char text[CLI_NAME_MAX], hu_element e) {
  if (e.kind == HU_ELEMENT_CODE) return cli_format_name(text, e.format);
  snprintf(text, CLI_NAME_MAX, "%s", kinds[e.kind]);
  return text;
}
