/* SPDX-License-Identifier: MIT */
/* Models as text. */
#include <stdio.h>
#include <string.h>

#include "train/builder.h"
#include "train/words.h"

static int kind_named(const char *word, size_t n) {
  for (uint8_t i = 0; i < HU_MODEL_KINDS; i++) {
    const hu_model_kind *kind = hu_model_kind_of(i);
    if (hu_same_word(word, n, kind->name) || (kind->alias && hu_same_word(word, n, kind->alias))) return i;
  }
  return -1;
}

hu_status hu_model_parse(hu_model *m, const char *text, size_t *where) {
  size_t ignored;
  if (!where) where = &ignored;
  *where = 0;
  if (!m || !text) return HU_E_NULL;
  size_t word = strcspn(text, "("), all = strlen(text);
  int kind = kind_named(text, word);
  if (kind < 0) return HU_E_NAME;
  hu_model z = hu_model_usual((uint8_t)kind);
  if (word < all) {
    const hu_model_kind *known = hu_model_kind_of((uint8_t)kind);
    unsigned seen = 0;
    size_t off = 0;
    *where = all;
    if (text[all - 1] != ')') return HU_E_TEXT;
    hu_status s = hu_keys_read(&z, known->keys, known->count, &seen, text + word + 1, all - word - 2, &off);
    *where = word + 1 + off;
    if (s != HU_OK) return s;
    *where = 0;
  }
  hu_status s = hu_model_check(&z, NULL, NULL);
  if (s == HU_OK) *m = z;
  return s;
}

size_t hu_model_text(char *text, size_t size, const hu_model *m) {
  char line[HU_MODEL_TEXT_MAX];
  if (hu_model_check(m, NULL, NULL) != HU_OK) return 0;
  const hu_model_kind *kind = hu_model_kind_of(m->kind);
  hu_model usual = hu_model_usual(m->kind);
  size_t n = (size_t)snprintf(line, sizeof line, "%s", kind->name);
  n += hu_keys_write(line + n, sizeof line - n, m, &usual, kind->keys, kind->count);
  if (size) snprintf(text, size, "%s", line);
  return n;
}
