/* SPDX-License-Identifier: MIT */
/* Reads records from texts of keys, and writes them. */
#include "train/text/keys.h"

#include <stdio.h>
#include <string.h>

#include "files/spelling.h"
#include "halfulp/formats/ieee.h"
#include "train/text/constant.h"
#include "train/text/words.h"

static size_t size_of(char type) {
  switch (type) {
    case 'f': return sizeof(float);
    case 'd': return sizeof(double);
    case 'u': return sizeof(uint64_t);
    case 'i': return sizeof(uint32_t);
    case 'l': return HU_KEY_LIST * sizeof(uint32_t);
    default: return sizeof(uint8_t);
  }
}

/* ---- in ---- */

static int read_whole(const char *text, size_t n, double limit, uint64_t *z) {
  double x;
  if (!hui_read_number(text, n, &x) || !(x >= 0 && x < limit) || x != (double)(uint64_t)x) return 0;
  *z = (uint64_t)x;
  return 1;
}

/* Of a number that binary32 does not keep (constant.h). */
static const char *single_wrong(char why[HU_CONSTANT_WHY_MAX], const char *name, const char *text, size_t n) {
  double x;
  return hui_read_number(text, n, &x) ? hui_constant_wrong(why, name, x, hu_binary32(), "binary32") : NULL;
}

static int set_number(char *at, char type, const char *text, size_t n) {
  char why[HU_CONSTANT_WHY_MAX];
  double x;
  if (!hui_read_number(text, n, &x) || (type == 'f' && single_wrong(why, "", text, n))) return 0;
  float f = (float)x;
  memcpy(at, type == 'd' ? (const void *)&x : (const void *)&f, size_of(type));
  return 1;
}

static int set_whole(char *at, char type, const char *text, size_t n) {
  uint64_t u;
  if (!read_whole(text, n, type == 'u' ? 0x1p53 : 0x1p32, &u)) return 0;
  uint32_t i = (uint32_t)u;
  memcpy(at, type == 'u' ? (const void *)&u : (const void *)&i, size_of(type));
  return 1;
}

static int set_choice(char *at, const char *const *words, const char *text, size_t n) {
  for (uint8_t i = 0; words[i]; i++) {
    if (!hui_same_word(text, n, words[i])) continue;
    memcpy(at, &i, sizeof i);
    return 1;
  }
  return 0;
}

static int set_list(char *at, const char *text, size_t n) {
  uint32_t list[HU_KEY_LIST] = {0};
  size_t count = 0;
  for (size_t i = 0; i <= n; count++) {
    const char *next = memchr(text + i, '/', n - i);
    size_t part = next ? (size_t)(next - text) - i : n - i;
    uint64_t u;
    if (count == HU_KEY_LIST || !read_whole(text + i, part, 0x1p32, &u) || u == 0) return 0;
    list[count] = (uint32_t)u;
    i += part + 1;
  }
  memcpy(at, list, sizeof list);
  return 1;
}

static int set(void *record, const hu_text_key *key, const char *text, size_t n) {
  char *at = (char *)record + key->at;
  if (key->type == 'f' || key->type == 'd') return set_number(at, key->type, text, n);
  if (key->type == 'u' || key->type == 'i') return set_whole(at, key->type, text, n);
  if (key->type == 'c') return set_choice(at, key->words, text, n);
  return key->type == 'l' && set_list(at, text, n);
}

/* One "key=value" or word. */
static hu_status take(void *record, const hu_text_key *keys, size_t count, unsigned *seen, const char *text, size_t n,
                      size_t *off) {
  const char *equals = memchr(text, '=', n);
  size_t word = equals ? (size_t)(equals - text) : n;
  for (size_t i = 0; word && i < count; i++) {
    const hu_text_key *key = &keys[i];
    if (strlen(key->name) != word || memcmp(text, key->name, word) != 0) continue;
    if (*seen >> i & 1 || (key->type == 'w') != !equals) return HU_E_TEXT;
    *seen |= 1u << i;
    if (key->type == 'w') {
      *((uint8_t *)record + key->at) = 1;
      return HU_OK;
    }
    *off += word + 1;
    return set(record, key, text + word + 1, n - word - 1) ? HU_OK : HU_E_TEXT;
  }
  return word ? HU_E_NAME : HU_E_TEXT;
}

hu_status hui_keys_read(void *record, const hu_text_key *keys, size_t count, unsigned *seen, const char *text, size_t n,
                        size_t *off) {
  int bare = count && !keys[0].name[0];
  for (size_t at = 0; at <= n;) {
    const char *comma = memchr(text + at, ',', n - at);
    size_t part = comma ? (size_t)(comma - text) - at : n - at;
    hu_status status = HU_OK;
    *off = at;
    if (bare && at == 0) {
      if (!set(record, keys, text, part)) status = HU_E_TEXT;
    } else {
      status = take(record, keys, count, seen, text + at, part, off);
    }
    if (status != HU_OK) return status;
    at += part + 1;
  }
  return HU_OK;
}

/* ---- what is wrong ---- */

char *hui_words_text(char *z, size_t size, const char *const *words) {
  size_t n = 0;
  for (z[0] = 0; *words && n < size; words++) {
    int more = snprintf(z + n, size - n, "%s%s", n ? ", " : "", *words);
    n += more > 0 ? (size_t)more : 0;
  }
  return z;
}

char *hui_perhaps(char z[HU_PERHAPS_MAX], const char *word, const char *const *words) {
  const char *nearest = spelling_nearest(word, words);
  z[0] = 0;
  if (nearest) snprintf(z, HU_PERHAPS_MAX, "; perhaps %s is meant", nearest);
  return z;
}

enum { SHOWN = 60, NAMES = 16 };

/* What a value of this key is; space for a list of words. */
static const char *type_text(char buffer[200], const hu_text_key *key) {
  char words[160];
  switch (key->type) {
    case 'f':
    case 'd': return "a number";
    case 'u':
    case 'i': return "a whole number";
    case 'l': return "whole numbers from 1 with '/' between them, at most 8";
    default: snprintf(buffer, 200, "one of %s", hui_words_text(words, sizeof words, key->words)); return buffer;
  }
}

static void no_such_key(char *z, size_t size, const hu_text_key *keys, size_t count, const char *word) {
  const char *names[NAMES + 1] = {NULL};
  char list[160], perhaps[HU_PERHAPS_MAX];
  size_t n = 0;
  for (size_t i = 0; i < count && n < NAMES; i++)
    if (keys[i].name[0]) names[n++] = keys[i].name;
  if (n) {
    snprintf(z, size, "has no '%s'; it takes %s%s", word, hui_words_text(list, sizeof list, names),
             hui_perhaps(perhaps, word, names));
  } else {
    snprintf(z, size, "takes nothing in parentheses, and '%s' stands there", word);
  }
}

void hui_keys_complain(char *z, size_t size, const hu_text_key *keys, size_t count, const char *text, size_t n,
                       size_t off) {
  char name[SHOWN + 1], value[SHOWN + 1], buffer[200], lost[HU_CONSTANT_WHY_MAX];
  size_t at = off < n ? off : n, end = at;
  while (at > 0 && text[at - 1] != ',') at--;
  while (end < n && text[end] != ',') end++;
  const char *equals = memchr(text + at, '=', end - at);
  size_t word = equals ? (size_t)(equals - text) - at : end - at, behind = equals ? at + word + 1 : end;
  snprintf(name, sizeof name, "%.*s", (int)(word < SHOWN ? word : SHOWN), text + at);
  snprintf(value, sizeof value, "%.*s", (int)(end - behind < SHOWN ? end - behind : SHOWN), text + behind);
  const hu_text_key *key = NULL;
  for (size_t i = 0; i < count && !key; i++) key = strcmp(keys[i].name, name) == 0 ? &keys[i] : NULL;
  int bare = count && !keys[0].name[0] && at == 0;
  size_t from = bare ? 0 : behind;
  if ((bare              ? keys[0].type
       : key && off > at ? key->type
                         : 0) == 'f' &&
      single_wrong(lost, bare ? "the number" : name, text + from, end - from)) {
    snprintf(z, size, "takes what binary32 keeps; %s", lost);
  } else if (bare) { /* a value alone, first */
    snprintf(z, size, "takes %s first, not '%.*s'", type_text(buffer, &keys[0]), (int)(end < SHOWN ? end : SHOWN),
             text);
  } else if (at == end) {
    snprintf(z, size, "has nothing between two commas or parentheses");
  } else if (!key) {
    no_such_key(z, size, keys, count, name);
  } else if (key->type == 'w' && equals) {
    snprintf(z, size, "has '%s' without a value", name);
  } else if (key->type != 'w' && !equals) {
    snprintf(z, size, "has '%s' without a value; it takes %s=%s", name, name, type_text(buffer, key));
  } else if (off > at) {
    snprintf(z, size, "takes %s as %s, not '%s'", type_text(buffer, key), name, value);
  } else {
    snprintf(z, size, "has '%s' given twice", name);
  }
}

/* ---- out ---- */

static int same(const void *a, const void *b, const hu_text_key *key) {
  double x[2];
  float f[2];
  const char *p = (const char *)a + key->at, *q = (const char *)b + key->at;
  if (key->type == 'd') {
    memcpy(&x[0], p, sizeof *x);
    memcpy(&x[1], q, sizeof *x);
    return x[0] == x[1];
  }
  if (key->type == 'f') {
    memcpy(&f[0], p, sizeof *f);
    memcpy(&f[1], q, sizeof *f);
    return f[0] == f[1];
  }
  return memcmp(p, q, size_of(key->type)) == 0;
}

double hui_key_number(const void *record, const hu_text_key *key) {
  const char *at = (const char *)record + key->at;
  float f = 0;
  double d = 0;
  uint64_t u = 0;
  uint32_t i = 0;
  switch (key->type) {
    case 'f': return memcpy(&f, at, sizeof f), (double)f;
    case 'd': return memcpy(&d, at, sizeof d), d;
    case 'u': return memcpy(&u, at, sizeof u), (double)u;
    case 'i': return memcpy(&i, at, sizeof i), (double)i;
    default: return *(const uint8_t *)at;
  }
}

enum { VALUE_MAX = HU_KEY_LIST * 11 + HU_DECIMAL_TEXT_MAX };

static const char *value_text(char text[VALUE_MAX], const void *record, const hu_text_key *key) {
  uint32_t list[HU_KEY_LIST];
  if (key->type == 'c') return key->words[*((const uint8_t *)record + key->at)];
  if (key->type == 'f') return hui_write_single(text, (float)hui_key_number(record, key));
  if (key->type != 'l') return hui_write_number(text, hui_key_number(record, key));
  memcpy(list, (const char *)record + key->at, sizeof list);
  size_t n = 0;
  text[0] = 0;
  for (size_t i = 0; i < HU_KEY_LIST && list[i]; i++) {
    n += (size_t)snprintf(text + n, VALUE_MAX - n, "%s%lu", i ? "/" : "", (unsigned long)list[i]);
  }
  return text;
}

size_t hui_keys_write(char *text, size_t size, const void *record, const void *standard, const hu_text_key *keys,
                      size_t count) {
  char value[VALUE_MAX], line[64 + VALUE_MAX];
  size_t n = 0, buffer = size ? size : 1;
  if (size) text[0] = 0;
  for (size_t i = 0; i < count; i++) {
    const hu_text_key *key = &keys[i];
    int bare = !key->name[0];
    if (!bare && same(record, standard, key)) continue;
    const char *right = key->type == 'w' ? "" : value_text(value, record, key);
    snprintf(line, sizeof line, "%c%s%s%s", n ? ',' : '(', key->name, bare || !right[0] ? "" : "=", right);
    if (n < buffer - 1) snprintf(text + n, buffer - n, "%s", line);
    n += strlen(line);
  }
  if (!n) return 0;
  if (n < buffer - 1) snprintf(text + n, buffer - n, ")");
  return n + 1;
}
