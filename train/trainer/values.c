/* SPDX-License-Identifier: MIT */
/* Reads the values of a run's keys, or refuses them with a sentence that says what the key takes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/data/watch.h"
#include "train/model/kinds.h"
#include "train/step/loss_rule.h"
#include "train/text/words.h"
#include "train/trainer/keys.h"

enum { SHOWN = 120, SAID_MAX = 380, MODE_WORD_MAX = 24 };

/* A value that is being read into a key. */
typedef struct key_entry {
  const hu_run_key *key;
  const char *value;
  char *why;
} key_entry;

/* Writes "optimizer.rate: 'abc' " and the rest of the sentence. Returns the status. */
static hu_status __attribute__((format(printf, 3, 4)))
refuse(const key_entry *entry, hu_status status, const char *format, ...) {
  char said[SAID_MAX];
  va_list list;
  size_t n = strlen(entry->value);
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return hui_say(entry->why, status, "%s: '%.*s%s' %s", entry->key->shown.name, SHOWN, entry->value,
                 n > SHOWN ? "..." : "", said);
}

/* ---- numbers and words ---- */

static const char *bound(char text[HU_DECIMAL_TEXT_MAX], double x) {
  if (x < 0x1p60 && x == (double)(uint64_t)x) {
    snprintf(text, HU_DECIMAL_TEXT_MAX, "%llu", (unsigned long long)x);
    return text;
  }
  return hui_write_number(text, x);
}

static hu_status read_number(const key_entry *entry, int whole, double *x) {
  char low[HU_DECIMAL_TEXT_MAX], high[HU_DECIMAL_TEXT_MAX];
  const hu_trainer_key *key = &entry->key->shown;
  double got;
  int is = hui_read_number(entry->value, strlen(entry->value), &got), below = entry->key->kind == HU_KEY_FACTOR;
  if (is && got >= key->low && got <= key->high && !(below && got == key->high) &&
      (!whole || got == (double)(uint64_t)got)) {
    *x = got;
    return HU_OK;
  }
  return refuse(entry, HU_E_TRAIN, "is not a %snumber from %s to %s%s", whole ? "whole " : "", bound(low, key->low),
                below ? "below " : "", bound(high, key->high));
}

static hu_status read_count(const key_entry *entry, uint64_t *z) {
  double x;
  hu_status status = read_number(entry, 1, &x);
  if (status == HU_OK) *z = (uint64_t)x;
  return status;
}

/* Reads a word as its number in the list. */
static hu_status read_word(const key_entry *entry, const char *const *words, hu_status unknown, uint64_t *z) {
  char list[SAID_MAX - HU_PERHAPS_MAX - 32], perhaps[HU_PERHAPS_MAX];
  for (uint64_t i = 0; words[i]; i++) {
    if (strcmp(words[i], entry->value) != 0) continue;
    *z = i;
    return HU_OK;
  }
  return refuse(entry, unknown, "is not one of %s%s", hui_words_text(list, sizeof list, words),
                hui_perhaps(perhaps, entry->value, words));
}

static hu_status read_size(const key_entry *entry, uint64_t *z) {
  char list[SAID_MAX - 32];
  const char *const *words = entry->key->shown.words;
  for (size_t i = 0; words[i]; i++) {
    if (strcmp(words[i], entry->value) != 0) continue;
    *z = strtoull(words[i], NULL, 10);
    return HU_OK;
  }
  return refuse(entry, HU_E_TRAIN, "is not one of %s", hui_words_text(list, sizeof list, words));
}

static hu_status read_system(const key_entry *entry) {
  uint64_t i = 0;
  return read_word(entry, hui_system_names(), HU_E_NAME, &i);
}

static hu_status read_ratio(const key_entry *entry, hu_ratio *ratio) {
  hu_status status = hu_ratio_parse(ratio, entry->value);
  return status == HU_OK ? status : refuse(entry, status, "is not a ratio from 0 to 1, such as 0.35 or 1/3");
}

/* ---- texts of the library ---- */

/* A name alone, but with capitals, which the grammar has not: one in small letters may be meant. */
static int has_capitals(const char *text) {
  size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  return word && (!text[word] || text[word] == ',') && strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < word;
}

/* Returns what to write for the word at `part`, up to a comma or the end of parentheses; NULL if it means no mode. */
static const char *mode_hint(const char *part) {
  char word[MODE_WORD_MAX];
  size_t n = strcspn(part, ",;)");
  if (n >= sizeof word) return NULL;
  memcpy(word, part, n);
  word[n] = 0;
  return hu_mode_round_hint(word);
}

/* Where a text went wrong, and what it should have been. offered: what a name there may be; behind the first character
 * of a text a name is one of a format, and in a model's text also of a model. */
static hu_status refuse_text(const key_entry *entry, hu_status status, size_t where, const char *what, unsigned offered,
                             const char *takes) {
  char hint[HU_HINT_MAX];
  unsigned inside = HU_HINT_FORMATS | (offered & HU_HINT_MODELS);
  if (status == HU_E_NAME || (status == HU_E_TEXT && where == 0 && has_capitals(entry->value)))
    return refuse(entry, status, "is not %s: %s", what,
                  hui_name_hint(hint, entry->value + where, where ? inside : offered, takes));
  if (status != HU_E_TEXT) return refuse(entry, status, "is not %s: %s; %s", what, hu_status_text(status), takes);
  if (where >= strlen(entry->value))
    return refuse(entry, status, "is not %s: something is missing at its end; %s", what, takes);
  const char *mode = where ? mode_hint(entry->value + where) : NULL;
  if (mode) return refuse(entry, status, "is not %s: '%.40s': %s", what, entry->value + where, mode);
  return refuse(entry, status, "is not %s: '%.40s' is wrong, from character %zu on; %s", what, entry->value + where,
                where + 1, takes);
}

static hu_status read_format(const key_entry *entry, hu_format *result) {
  hu_format format;
  size_t where = 0;
  const char *axis = "";
  hu_status status = hu_format_parse_axis(&format, entry->value, &where, &axis);
  if (status == HU_E_FORMAT) return refuse(entry, status, "is not a format that can be: %s", axis);
  if (status != HU_OK)
    return refuse_text(entry, status, where, "a format", HU_HINT_FORMATS,
                       "`halfulp formats` lists the names; or fp(e,m,b)");
  if (!hu_format_fits_binary32(format)) return refuse(entry, HU_E_CARRIER, "has values that binary32 does not have");
  *result = format;
  return HU_OK;
}

static hu_status read_rounding(const key_entry *entry, hu_rounding *rounding) {
  hu_rounding by;
  size_t where = 0;
  hu_status status = hu_rounding_parse(&by, entry->value, &where);
  if (status == HU_OK) *rounding = by;
  return status == HU_OK
             ? status
             : refuse_text(entry, status, where, "a rounding", HU_HINT_FORMATS | HU_HINT_TENSORS,
                           "it takes keep, a format, a scaled format, s2fp8 or a number system, and behind it "
                           "a mode (" HU_ROUND_TEXTS "), sat=POLICY, over=inf, nan=keep or turned");
}

static hu_status read_accum(const key_entry *entry, hu_accum *accum) {
  hu_accum model;
  size_t where = 0;
  hu_status status = hu_accum_parse(&model, entry->value, &where);
  if (status == HU_OK) *accum = model;
  return status == HU_OK ? status
                         : refuse_text(entry, status, where, "an accumulation model", HU_HINT_MODELS,
                                       "`halfulp models` lists them");
}

static hu_status read_own_accum(const key_entry *entry, hu_own_accum *own) {
  hu_status status = *entry->value ? read_accum(entry, &own->accum) : HU_OK;
  if (status == HU_OK) own->own = *entry->value != 0;
  return status;
}

static hu_status read_collective(const key_entry *entry, hu_collective *collective) {
  hu_collective model;
  size_t where = 0;
  hu_status status = hu_collective_parse(&model, entry->value, &where);
  if (status == HU_OK) *collective = model;
  return status == HU_OK ? status
                         : refuse_text(entry, status, where, "a collective model", HU_HINT_FORMATS,
                                       "it takes exact, pairwise(F), ring(F), tree(F), doubling(F), F a format, or "
                                       "hierarchical(N,MODEL,MODEL)");
}

static hu_status read_model(const key_entry *entry, hu_model *model) {
  char said[HU_TEXT_WHY_MAX];
  size_t where;
  hu_status status = hui_model_read(model, entry->value, &where, said);
  return status == HU_OK ? status : refuse(entry, status, "is not a model: %s", said);
}

static hu_status read_rule(const key_entry *entry, hu_run_keys *keys) {
  char said[HU_RULE_WHY_MAX];
  size_t where;
  int largest = strcmp(entry->value, "largest") == 0;
  hu_status status = hui_loss_rule_read(&keys->rule, largest ? "static(1)" : entry->value, &where, said);
  if (status == HU_OK) keys->largest = (uint64_t)largest;
  if (status == HU_OK) return status;
  return refuse(entry, status, "is not a rule: %s%s", said,
                status == HU_E_NAME && !where ? "; this key takes largest, too" : "");
}

static hu_status read_update(const key_entry *entry, hu_run_keys *keys) {
  hu_mode mode = {0};
  int kahan = strcmp(entry->value, "kahan") == 0;
  hu_status status = kahan ? HU_OK : hu_mode_round_parse(&mode, entry->value);
  const char *hint = mode_hint(entry->value);
  if (status != HU_OK && hint) return refuse(entry, status, "is neither a rounding mode nor kahan: %s", hint);
  if (status != HU_OK) return refuse(entry, status, "is neither a rounding mode (" HU_ROUND_TEXTS ") nor kahan");
  keys->kahan = (uint64_t)kahan;
  keys->update = mode;
  return HU_OK;
}

static hu_status read_mode(const key_entry *entry, hu_mode *result) {
  hu_mode mode = {0};
  hu_status status = hu_mode_round_parse(&mode, entry->value);
  const char *hint = mode_hint(entry->value);
  if (status != HU_OK && hint) return refuse(entry, status, "is not a rounding mode: %s", hint);
  if (status != HU_OK) return refuse(entry, status, "is not a rounding mode (" HU_ROUND_TEXTS ")");
  *result = mode;
  return HU_OK;
}

static hu_status read_checksum(const key_entry *entry) {
  if (hui_checksums_of(entry->value) >= 0) return HU_OK;
  return refuse(entry, HU_E_TRAIN,
                "is not sha256: and 64 hexadecimal digits, nor -, nor several of them with commas between");
}

static hu_status read_schedule(const key_entry *entry, hu_schedule *schedule) {
  char said[HU_SCHEDULE_WHY_MAX];
  hu_status status = hui_schedule_read(schedule, entry->value, said);
  return status == HU_OK ? status : refuse(entry, status, "%s", said);
}

/* ---- all of them ---- */

hu_status hui_read_key(hu_run_keys *keys, size_t i, const char *value, char *why) {
  const hu_run_key *key = hui_run_key_at(i);
  const key_entry entry = {key, value, why};
  void *at = key->at == SIZE_MAX ? NULL : (char *)keys + key->at;
  switch (key->kind) {
    case HU_KEY_COUNT: return read_count(&entry, at);
    case HU_KEY_NUMBER:
    case HU_KEY_FACTOR: return read_number(&entry, 0, at);
    case HU_KEY_WORD: return read_word(&entry, key->shown.words, HU_E_TRAIN, at);
    case HU_KEY_SIZE: return read_size(&entry, at);
    case HU_KEY_MODEL: return read_model(&entry, at);
    case HU_KEY_RULE: return read_rule(&entry, keys);
    case HU_KEY_FORMAT: return read_format(&entry, at);
    case HU_KEY_UPDATE: return read_update(&entry, keys);
    case HU_KEY_MODE: return read_mode(&entry, at);
    case HU_KEY_ROUNDING: return read_rounding(&entry, at);
    case HU_KEY_ACCUM: return read_accum(&entry, at);
    case HU_KEY_OWN_ACCUM: return read_own_accum(&entry, at);
    case HU_KEY_COLLECTIVE: return read_collective(&entry, at);
    case HU_KEY_SCHEDULE: return read_schedule(&entry, at);
    case HU_KEY_RATIO: return read_ratio(&entry, at);
    case HU_KEY_SYSTEM: return read_system(&entry);
    case HU_KEY_CHECKSUM: {
      hu_status status = read_checksum(&entry);
      if (status != HU_OK) return status;
      break;
    }
    case HU_KEY_OFF:
      if (hui_off_is_text(value)) break;
      return refuse(
          &entry, HU_E_TRAIN,
          "is not LAYER:PART, with '@FROM..TO' for steps and commas between several; parts are forward, "
          "backward, weights, all, x, w, z_out, value, parameter, dz, w_back, dx_out, gradient, x_back, dz_w, "
          "dw_out, parameter_gradient, with '+' between several");
    case HU_KEY_TEXT: break;
  }
  if (at) *(const char **)at = value;
  return HU_OK;
}

hu_status hui_say(char *why, hu_status status, const char *format, ...) {
  va_list list;
  if (!why) return status;
  va_start(list, format);
  vsnprintf(why, HU_DATA_WHY_MAX, format, list);
  va_end(list);
  return status;
}
