/* SPDX-License-Identifier: MIT */
/* hu_s2fp8_parse and hu_s2fp8_text. The grammar stands in halfulp/s2fp8.h. */
#include <string.h>

#include "emu/format/put.h"
#include "halfulp/s2fp8.h"

#define NAME "s2fp8"
#define BASE "fp(5,2,0)" /* of the name alone: Cambier et al., section 3.1 */
#define TARGET ";target="
#define SPECIAL ";special=element"

enum { PIECE_MAX = 160 };

static hu_status fail(size_t *where, size_t at, hu_status status) {
  if (where) *where = at;
  return status;
}

/* Returns the length of `with` if the text begins with it, else 0. */
static size_t begins(const char *at, const char *with) {
  size_t n = strlen(with);
  return strncmp(at, with, n) == 0 ? n : 0;
}

/* Reads the format up to a ';' or the ')' that closes the kind. */
static hu_status read_element(const char *at, size_t *length, hu_format *format, size_t *where) {
  char piece[PIECE_MAX];
  size_t n = 0, depth = 0;
  for (; at[n] && at[n] != ';' && !(at[n] == ')' && depth == 0); n++) depth += (at[n] == '(') - (size_t)(at[n] == ')');
  if (n == 0 || n >= PIECE_MAX) return HU_E_TEXT;
  memcpy(piece, at, n);
  piece[n] = 0;
  *length = n;
  return hu_format_parse(format, piece, where);
}

/* Reads 1 to 1023, without a leading zero. */
static size_t read_target(const char *at, uint16_t *target) {
  unsigned value = 0;
  size_t n = 0;
  for (; at[n] >= '0' && at[n] <= '9' && n < 5; n++) value = value * 10 + (unsigned)(at[n] - '0');
  if (n == 0 || at[0] == '0' || value > 1023) return 0;
  *target = (uint16_t)value;
  return n;
}

hu_status hu_s2fp8_parse(hu_s2fp8 *kind, const char *text, size_t *where) {
  hu_s2fp8 z;
  size_t at = strlen(NAME), n = 0, inside = 0;
  memset(&z, 0, sizeof z);
  if (where) *where = 0;
  if (!kind || !text) return HU_E_NULL;
  if (!begins(text, NAME)) return HU_E_NAME;
  if (text[at] == 0) {
    hu_status status = hu_format_parse(&z.element, BASE, NULL);
    if (status == HU_OK) *kind = z;
    return status;
  }
  if (text[at] != '(') return fail(where, 0, HU_E_NAME);
  at++;
  hu_status status = read_element(text + at, &n, &z.element, &inside);
  if (status != HU_OK) return fail(where, at + inside, status);
  at += n;
  if (begins(text + at, TARGET)) {
    at += strlen(TARGET);
    n = read_target(text + at, &z.target);
    if (n == 0) return fail(where, at, HU_E_TEXT);
    at += n;
  }
  if (begins(text + at, SPECIAL)) {
    at += strlen(SPECIAL);
    z.special = HU_S2FP8_ELEMENT;
  }
  if (text[at] != ')' || text[at + 1]) return fail(where, at, HU_E_TEXT);
  status = hu_s2fp8_check(&z, NULL);
  if (status != HU_OK) return fail(where, 0, status);
  if (z.target == hu_limits_of(z.element).emax) z.target = 0;
  *kind = z;
  return HU_OK;
}

size_t hu_s2fp8_text(char *text, size_t size, const hu_s2fp8 *kind) {
  hu_writer writer = {text, text ? size : 0, 0};
  hu_format base;
  if (hu_s2fp8_check(kind, NULL) != HU_OK || hu_format_parse(&base, BASE, NULL) != HU_OK) return 0;
  hui_put(&writer, NAME);
  unsigned target = hu_s2fp8_target(kind), usual = (unsigned)hu_limits_of(kind->element).emax;
  if (!hu_format_equal(kind->element, base) || target != usual || kind->special) {
    hui_put(&writer, "(");
    hui_put_format(&writer, kind->element);
    if (target != usual) {
      hui_put(&writer, TARGET);
      hui_put_number(&writer, (int)target);
    }
    if (kind->special) hui_put(&writer, SPECIAL);
    hui_put(&writer, ")");
  }
  return hui_put_end(&writer);
}
