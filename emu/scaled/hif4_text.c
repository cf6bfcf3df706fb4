/* SPDX-License-Identifier: MIT */
/* Texts and names of HiFloat4. The grammar stands in halfulp/scaled.h. */
#include <stddef.h>
#include <string.h>

#include "emu/base/text.h"
#include "halfulp/scaled.h"

#define NAME "hifloat4"

/* A key: its field's place in the record, and its words by number. */
typedef struct key {
  const char *name;
  size_t at;
  const char *words[4];
} key;
static const key keys[] = {
    {"ties=", offsetof(hu_hif4, ties), {"even", "away"}},
    {"low=", offsetof(hu_hif4, low), {"zero", "least", "nan"}},
    {"high=", offsetof(hu_hif4, high), {"limit", "nan"}},
    {"products=", offsetof(hu_hif4, products), {"bfloat16", "exact", "mixed"}},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const hu_hif4_entry entries[] = {
    {NAME, "Huawei CANN, golden data of its matrix product of HiFloat4 (hif4_quantize)", NAME},
    {"hifloat4_cann", "Huawei CANN, golden data of the operator dynamic_mx_quant (_dynamic_quant_hifp4)",
     NAME "(low=nan;high=nan;products=mixed)"},
    {"hifloat4_hifx", "Huawei, HiFloat4 emulation in PyTorch (quant_cy/base/QFuncs/hifx.py), binary32 tensors",
     NAME "(ties=away;low=least;products=exact)"},
};

size_t hu_hif4_count(void) { return sizeof entries / sizeof *entries; }

hu_hif4_entry hu_hif4_at(size_t i) {
  static const hu_hif4_entry none = {0, 0, 0};
  return i < hu_hif4_count() ? entries[i] : none;
}

static uint8_t *field(hu_hif4 *kind, const key *k) { return (uint8_t *)kind + k->at; }

static hu_status wrong(size_t *where, const char *text, const char *at) {
  if (where) *where = (size_t)(at - text);
  return HU_E_TEXT;
}

/* Returns the length of the word up to the end of a key, and its number; 0: the key does not have it. */
static size_t read_word(const key *k, const char *at, uint8_t *number) {
  size_t n = strcspn(at, ";)");
  for (uint8_t i = 0; i < 4 && k->words[i]; i++) {
    if (strlen(k->words[i]) != n || memcmp(at, k->words[i], n) != 0) continue;
    *number = i;
    return n;
  }
  return 0;
}

static const key *key_at(const char *at) {
  for (size_t i = 0; i < KEYS; i++) {
    if (strncmp(at, keys[i].name, strlen(keys[i].name)) == 0) return &keys[i];
  }
  return NULL;
}

static hu_status read_keys(hu_hif4 *z, const char *text, const char *at, size_t *where) {
  unsigned seen = 0;
  for (;; at++) { /* at: where a key begins */
    const key *k = key_at(at);
    if (!k || (seen & 1u << (k - keys))) return wrong(where, text, at);
    seen |= 1u << (k - keys);
    at += strlen(k->name);
    size_t n = read_word(k, at, field(z, k));
    if (n == 0) return wrong(where, text, at);
    at += n;
    if (*at == ')') return at[1] == 0 ? HU_OK : wrong(where, text, at + 1);
    if (*at != ';') return wrong(where, text, at);
  }
}

hu_status hu_hif4_parse(hu_hif4 *kind, const char *text, size_t *where) {
  hu_hif4 z = hu_hif4_usual();
  if (where) *where = 0;
  if (!kind || !text) return HU_E_NULL;
  for (size_t i = 1; i < hu_hif4_count(); i++) {
    if (strcmp(text, entries[i].name) == 0) return hu_hif4_parse(kind, entries[i].text, where);
  }
  size_t n = strlen(NAME);
  if (strncmp(text, NAME, n) != 0) return wrong(where, text, text);
  hu_status status = text[n] == 0     ? HU_OK
                     : text[n] != '(' ? wrong(where, text, text + n)
                                      : read_keys(&z, text, text + n + 1, where);
  if (status == HU_OK) *kind = z;
  return status;
}

size_t hu_hif4_text(char *text, size_t size, const hu_hif4 *kind) {
  hu_writer writer = {text, text ? size : 0, 0};
  const char *before = "(";
  if (hu_hif4_check(kind) != HU_OK) return 0;
  hu_hif4 own = *kind;
  hui_put(&writer, NAME);
  for (size_t i = 0; i < KEYS; i++) {
    uint8_t number = *field(&own, &keys[i]);
    if (number == 0) continue;
    hui_put(&writer, before);
    hui_put(&writer, keys[i].name);
    hui_put(&writer, keys[i].words[number]);
    before = ";";
  }
  if (*before == ';') hui_put(&writer, ")");
  return hui_put_end(&writer);
}
