/* SPDX-License-Identifier: MIT */
/* Reads rules of assignments from text. */
#include <string.h>

#include "halfulp/train/precision.h"

static int same(const char *text, size_t n, const char *name) {
  return strlen(name) == n && memcmp(text, name, n) == 0;
}

/* Returns the place of a word in a list; -1: it is not there. */
static int place_of(const char *text, size_t n, const char *const *names, int count) {
  for (int i = 0; i < count; i++) {
    if (same(text, n, names[i])) return i;
  }
  return -1;
}

enum { R = 0, ORDER = 1, SEED = 2, MOST = 3, PROMOTE = 4, DTHETA = 5, READING = 6, KEYS = 7 };

static hu_status read_ratio(hu_ratio *ratio, const char *text, size_t n) {
  char word[32];
  if (n >= sizeof word) return HU_E_TEXT;
  memcpy(word, text, n);
  word[n] = 0;
  return hu_ratio_parse(ratio, word);
}

/* Reads the value behind a key. */
static hu_status take(hu_precision_rule *rule, int key, const char *text, size_t n) {
  static const char *const orders[] = {"largest", "smallest", "random"}, *const levels[] = {"high", "low"};
  static const char *const readings[] = {"operators", "published"};
  size_t used = 0;
  int i;
  if (key == R || key == MOST) return read_ratio(key == R ? &rule->r : &rule->most, text, n);
  if (key == PROMOTE) {
    rule->promote = !same(text, n, "none");
    return rule->promote ? read_ratio(&rule->limit, text, n) : HU_OK;
  }
  if (key == SEED) {
    for (rule->seed = 0; used < n && used < 18; used++) {
      if (text[used] < '0' || text[used] > '9') return HU_E_TEXT;
      rule->seed = 10 * rule->seed + (uint64_t)(text[used] - '0');
    }
    return used && used == n ? HU_OK : HU_E_TEXT;
  }
  i = key == ORDER ? place_of(text, n, orders, 3) : place_of(text, n, key == READING ? readings : levels, 2);
  if (i < 0) return HU_E_TEXT;
  *(key == ORDER ? &rule->order : key == READING ? &rule->reading : &rule->low_dtheta) = (uint8_t)i;
  return HU_OK;
}

/* One part of n characters, the first or not. *off: what of it is wrong. */
static hu_status part(hu_precision_rule *rule, int first, unsigned *seen, const char *text, size_t n, size_t *off) {
  static const char *const keys[] = {"", "order", "seed", "most", "promote", "dtheta", "reading"};
  const char *equals = memchr(text, '=', n);
  int demote = rule->kind == HU_PRECISION_DEMOTE, key = R;
  size_t word = equals ? (size_t)(equals - text) : 0;
  *off = 0;
  if (equals) {
    key = place_of(text, word++, keys, KEYS);
    if (key <= R || (!demote && key <= MOST)) return HU_E_NAME;
  } else if (!demote || !first) {
    return HU_E_TEXT;
  }
  if (*seen >> key & 1) return HU_E_TEXT;
  *seen |= 1u << key;
  *off = word;
  return take(rule, key, text + word, n - word);
}

hu_status hu_precision_rule_parse(hu_precision_rule *rule, const char *text, size_t *where) {
  static const char *const kinds[] = {"high", "uniform", "operator", "operator_prime", "demote"};
  size_t ignored, at, off = 0;
  unsigned seen = 0;
  if (!where) where = &ignored;
  *where = 0;
  if (!rule || !text) return HU_E_NULL;
  hu_precision_rule read = hu_precision_rule_default();
  size_t name = strcspn(text, "(");
  int kind = place_of(text, name, kinds, 5);
  if (kind < 0) return HU_E_NAME;
  read.kind = (uint8_t)kind;
  read.promote = kind == HU_PRECISION_DEMOTE;
  for (at = name; text[at] == '(' || text[at] == ',';) {
    size_t n = strcspn(text + ++at, ",)");
    hu_status status = part(&read, at == name + 1, &seen, text + at, n, &off);
    *where = at + off;
    if (status != HU_OK) return status;
    at += n;
  }
  if (at > name && text[at] == ')') {
    at++;
  } else if (at > name) {
    *where = at;
    return HU_E_TEXT;
  }
  *where = at;
  if (text[at]) return HU_E_TEXT;
  *where = 0;
  *rule = read;
  return HU_OK;
}
