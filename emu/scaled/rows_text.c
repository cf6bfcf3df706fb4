/* SPDX-License-Identifier: MIT */
/* Texts of scaled tensors with a second level for each row. The grammar stands in halfulp/scaled.h. */
#include <string.h>

#include "emu/base/text.h"
#include "halfulp/scaled.h"

#define BEFORE "rows("

static hu_status wrong(size_t *where, size_t at, hu_status status) {
  if (where) *where = at;
  return status;
}

static int has_rows(const hu_scaling *scaling) { return scaling->tensor != HU_TENSOR_NONE && scaling->rows == 1; }

hu_status hu_scaled_rows_parse(hu_scaling *scaling, const char *text, size_t *where) {
  char inner[HU_SCALING_TEXT_MAX * 2];
  hu_scaling read;
  size_t before = strlen(BEFORE), length, at = 0;
  if (!scaling || !text) return HU_E_NULL;
  length = strlen(text);
  if (strncmp(text, BEFORE, before) != 0) return wrong(where, 0, HU_E_TEXT);
  if (length <= before || text[length - 1] != ')') return wrong(where, length, HU_E_TEXT);
  size_t n = length - before - 1;
  if (n >= sizeof inner) return wrong(where, before, HU_E_TEXT); /* longer than any text of a scaling */
  memcpy(inner, text + before, n);
  inner[n] = 0;
  hu_status status = hu_scaling_parse(&read, inner, &at);
  if (status == HU_OK && !has_rows(&read)) status = HU_E_SCALING;
  if (status != HU_OK) return wrong(where, before + at, status);
  *scaling = read;
  return HU_OK;
}

size_t hu_scaled_rows_text(char *text, size_t size, const hu_scaling *scaling) {
  char inner[HU_SCALING_TEXT_MAX];
  hu_writer writer = {text, text ? size : 0, 0};
  if (!scaling || !has_rows(scaling) || !hu_scaling_text(inner, sizeof inner, scaling)) return 0;
  hui_put(&writer, BEFORE);
  hui_put(&writer, inner);
  hui_put(&writer, ")");
  return hui_put_end(&writer);
}
