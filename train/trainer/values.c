/* SPDX-License-Identifier: MIT */
/* Reads the values of a run's keys, or refuses them with a sentence that says what the key takes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/data/watch.h"
#include "train/model/builder.h"
#include "train/step/loss_rule.h"
#include "train/text/words.h"
#include "train/trainer/keys.h"

enum { SHOWN = 120, SAID_MAX = 380 };

/* A value on its way into a key. */
typedef struct entry {
  const hu_run_key *k;
  const char *value;
  char *why;
} entry;

/* "optimizer.rate: 'abc' " and the rest of the sentence. */
static hu_status __attribute__((format(printf, 3, 4))) refuse(const entry *e, hu_status s, const char *format, ...) {
  char said[SAID_MAX];
  va_list list;
  size_t n = strlen(e->value);
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return hu_say(e->why, s, "%s: '%.*s%s' %s", e->k->shown.name, SHOWN, e->value, n > SHOWN ? "..." : "", said);
}

/* ---- numbers and words ---- */

static const char *bound(char text[HU_DECIMAL_TEXT_MAX], double x) {
  if (x < 0x1p60 && x == (double)(uint64_t)x) {
    snprintf(text, HU_DECIMAL_TEXT_MAX, "%llu", (unsigned long long)x);
    return text;
  }
  return hu_write_number(text, x);
}

static hu_status read_number(const entry *e, int whole, double *x) {
  char low[HU_DECIMAL_TEXT_MAX], high[HU_DECIMAL_TEXT_MAX];
  const hu_trainer_key *k = &e->k->shown;
  double got;
  int is = hu_read_number(e->value, strlen(e->value), &got), below = e->k->kind == HU_KEY_FACTOR;
  if (is && got >= k->low && got <= k->high && !(below && got == k->high) && (!whole || got == (double)(uint64_t)got)) {
    *x = got;
    return HU_OK;
  }
  return refuse(e, HU_E_TRAIN, "is not a %snumber from %s to %s%s", whole ? "whole " : "", bound(low, k->low),
                below ? "below " : "", bound(high, k->high));
}

static hu_status read_count(const entry *e, uint64_t *z) {
  double x;
  hu_status s = read_number(e, 1, &x);
  if (s == HU_OK) *z = (uint64_t)x;
  return s;
}

/* The number of a word in its list. */
static hu_status read_word(const entry *e, const char *const *words, hu_status unknown, uint64_t *z) {
  char list[SAID_MAX - HU_PERHAPS_MAX - 32], perhaps[HU_PERHAPS_MAX];
  for (uint64_t i = 0; words[i]; i++) {
    if (strcmp(words[i], e->value) != 0) continue;
    *z = i;
    return HU_OK;
  }
  return refuse(e, unknown, "is not one of %s%s", hu_words_text(list, sizeof list, words),
                hu_perhaps(perhaps, e->value, words));
}

static hu_status read_size(const entry *e, uint64_t *z) {
  char list[SAID_MAX - 32];
  const char *const *words = e->k->shown.words;
  for (size_t i = 0; words[i]; i++) {
    if (strcmp(words[i], e->value) != 0) continue;
    *z = strtoull(words[i], NULL, 10);
    return HU_OK;
  }
  return refuse(e, HU_E_TRAIN, "is not one of %s", hu_words_text(list, sizeof list, words));
}

static hu_status read_system(const entry *e) {
  uint64_t i = 0;
  return read_word(e, hu_system_names(), HU_E_NAME, &i);
}

static hu_status read_ratio(const entry *e, hu_ratio *z) {
  hu_status s = hu_ratio_parse(z, e->value);
  return s == HU_OK ? s : refuse(e, s, "is not a ratio from 0 to 1, such as 0.35 or 1/3");
}

/* ---- texts of the library ---- */

/* A name alone, but with capitals, which the grammar has not: one in small letters may be meant. */
static int has_capitals(const char *text) {
  size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  return word && (!text[word] || text[word] == ',') && strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < word;
}

/* Where a text went wrong, and what it should have been. offered: what a name there may be; behind the first character
 * of a text a name is one of a format, and in a model's text also of a model. */
static hu_status refuse_text(const entry *e, hu_status s, size_t where, const char *what, unsigned offered,
                             const char *takes) {
  char hint[HU_HINT_MAX];
  unsigned inside = HU_HINT_FORMATS | (offered & HU_HINT_MODELS);
  if (s == HU_E_NAME || (s == HU_E_TEXT && where == 0 && has_capitals(e->value)))
    return refuse(e, s, "is not %s: %s", what, hu_name_hint(hint, e->value + where, where ? inside : offered, takes));
  if (s != HU_E_TEXT) return refuse(e, s, "is not %s: %s; %s", what, hu_status_text(s), takes);
  if (where >= strlen(e->value)) return refuse(e, s, "is not %s: something is missing at its end; %s", what, takes);
  return refuse(e, s, "is not %s: '%.40s' is wrong, from character %zu on; %s", what, e->value + where, where + 1,
                takes);
}

static hu_status read_format(const entry *e, hu_format *z) {
  hu_format f;
  size_t where = 0;
  const char *axis = "";
  hu_status s = hu_format_parse_axis(&f, e->value, &where, &axis);
  if (s == HU_E_FORMAT) return refuse(e, s, "is no format that can be: %s", axis);
  if (s != HU_OK)
    return refuse_text(e, s, where, "a format", HU_HINT_FORMATS, "`halfulp formats` lists the names; or fp(e,m,b)");
  if (!hu_format_fits_binary32(f)) return refuse(e, HU_E_CARRIER, "has values that binary32 does not have");
  *z = f;
  return HU_OK;
}

static hu_status read_rounding(const entry *e, hu_rounding *z) {
  hu_rounding r;
  size_t where = 0;
  hu_status s = hu_rounding_parse(&r, e->value, &where);
  if (s == HU_OK) *z = r;
  return s == HU_OK ? s
                    : refuse_text(e, s, where, "a rounding", HU_HINT_FORMATS | HU_HINT_TENSORS,
                                  "it takes keep, a format, a scaled format, s2fp8 or a number system, and behind it "
                                  "a mode (" HU_ROUND_TEXTS "), sat=POLICY, over=inf, nan=keep or turned");
}

static hu_status read_accum(const entry *e, hu_accum *z) {
  hu_accum a;
  size_t where = 0;
  hu_status s = hu_accum_parse(&a, e->value, &where);
  if (s == HU_OK) *z = a;
  return s == HU_OK ? s
                    : refuse_text(e, s, where, "an accumulation model", HU_HINT_MODELS, "`halfulp models` lists them");
}

static hu_status read_own_accum(const entry *e, hu_own_accum *z) {
  hu_status s = *e->value ? read_accum(e, &z->accum) : HU_OK;
  if (s == HU_OK) z->own = *e->value != 0;
  return s;
}

static hu_status read_collective(const entry *e, hu_collective *z) {
  hu_collective c;
  size_t where = 0;
  hu_status s = hu_collective_parse(&c, e->value, &where);
  if (s == HU_OK) *z = c;
  return s == HU_OK ? s
                    : refuse_text(e, s, where, "a collective model", HU_HINT_FORMATS,
                                  "it takes exact, pairwise(F), ring(F), tree(F), doubling(F), F a format, or "
                                  "hierarchical(N,MODEL,MODEL)");
}

static hu_status read_model(const entry *e, hu_model *z) {
  char said[HU_TEXT_WHY_MAX];
  size_t where;
  hu_status s = hu_model_read(z, e->value, &where, said);
  return s == HU_OK ? s : refuse(e, s, "is not a model: %s", said);
}

static hu_status read_rule(const entry *e, hu_run_keys *z) {
  char said[HU_RULE_WHY_MAX];
  size_t where;
  int largest = strcmp(e->value, "largest") == 0;
  hu_status s = hu_loss_rule_read(&z->rule, largest ? "static(1)" : e->value, &where, said);
  if (s == HU_OK) z->largest = (uint64_t)largest;
  if (s == HU_OK) return s;
  return refuse(e, s, "is not a rule: %s%s", said, s == HU_E_NAME && !where ? "; this key takes largest, too" : "");
}

static hu_status read_update(const entry *e, hu_run_keys *z) {
  hu_mode mode = {0};
  int kahan = strcmp(e->value, "kahan") == 0;
  hu_status s = kahan ? HU_OK : hu_mode_round_parse(&mode, e->value);
  if (s != HU_OK) return refuse(e, s, "is neither a rounding mode (" HU_ROUND_TEXTS ") nor kahan");
  z->kahan = (uint64_t)kahan;
  z->update = mode;
  return HU_OK;
}

static hu_status read_mode(const entry *e, hu_mode *z) {
  hu_mode mode = {0};
  hu_status s = hu_mode_round_parse(&mode, e->value);
  if (s != HU_OK) return refuse(e, s, "is no rounding mode (" HU_ROUND_TEXTS ")");
  *z = mode;
  return HU_OK;
}

/* "0.4/0.6/0.8" before the comma: shares of the epochs, each above the one before. Returns how many, or 0. */
static size_t read_drops(const char *value, const char *comma, double at[DROPS_MOST]) {
  for (size_t count = 0; count < DROPS_MOST; count++) {
    size_t n = strcspn(value, "/,");
    double before = count ? at[count - 1] : 0;
    if (!hu_read_number(value, n, &at[count]) || !(at[count] > before && at[count] < 1)) return 0;
    value += n;
    if (value == comma) return count + 1;
    value++;
  }
  return 0;
}

/* "drop(0.667,0.1)", "drop(0.4/0.6/0.8,0.1)" */
static int read_drop(const char *value, hu_run_keys *z) {
  size_t n = strlen(value);
  const char *comma = strchr(value, ',');
  if (strncmp(value, "drop(", 5) != 0 || value[n - 1] != ')' || !comma) return 0;
  double at[DROPS_MOST] = {0}, by = 0;
  size_t drops = read_drops(value + 5, comma, at);
  if (!drops || !hu_read_number(comma + 1, n - (size_t)(comma - value) - 2, &by) || !(by > 0 && by <= 1)) return 0;
  memcpy(z->drop_at, at, sizeof at);
  z->drops = drops;
  z->drop_by = by;
  return 1;
}

static hu_status read_checksum(const entry *e) {
  if (hu_checksums_of(e->value) >= 0) return HU_OK;
  return refuse(e, HU_E_TRAIN,
                "is not sha256: and 64 hexadecimal digits, nor -, nor several of them with commas between");
}

static hu_status read_schedule(const entry *e, hu_run_keys *z) {
  int constant = strcmp(e->value, "constant") == 0, cosine = strcmp(e->value, "cosine") == 0;
  if (!constant && !cosine && !read_drop(e->value, z))
    return refuse(
        e, HU_E_TRAIN,
        "is not constant, cosine or drop(at,by), 0 < at < 1, 0 < by <= 1; up to 8 rising shares with / between");
  z->schedule = constant ? SCHEDULE_CONSTANT : cosine ? SCHEDULE_COSINE : SCHEDULE_DROP;
  return HU_OK;
}

/* ---- all of them ---- */

hu_status hu_read_key(hu_run_keys *z, size_t i, const char *value, char *why) {
  const hu_run_key *k = hu_run_key_at(i);
  const entry e = {k, value, why};
  void *at = k->at == SIZE_MAX ? NULL : (char *)z + k->at;
  switch (k->kind) {
    case HU_KEY_COUNT: return read_count(&e, at);
    case HU_KEY_NUMBER:
    case HU_KEY_FACTOR: return read_number(&e, 0, at);
    case HU_KEY_WORD: return read_word(&e, k->shown.words, HU_E_TRAIN, at);
    case HU_KEY_SIZE: return read_size(&e, at);
    case HU_KEY_MODEL: return read_model(&e, at);
    case HU_KEY_RULE: return read_rule(&e, z);
    case HU_KEY_FORMAT: return read_format(&e, at);
    case HU_KEY_UPDATE: return read_update(&e, z);
    case HU_KEY_MODE: return read_mode(&e, at);
    case HU_KEY_ROUNDING: return read_rounding(&e, at);
    case HU_KEY_ACCUM: return read_accum(&e, at);
    case HU_KEY_OWN_ACCUM: return read_own_accum(&e, at);
    case HU_KEY_COLLECTIVE: return read_collective(&e, at);
    case HU_KEY_SCHEDULE: return read_schedule(&e, z);
    case HU_KEY_RATIO: return read_ratio(&e, at);
    case HU_KEY_SYSTEM: return read_system(&e);
    case HU_KEY_CHECKSUM: {
      hu_status s = read_checksum(&e);
      if (s != HU_OK) return s;
      break;
    }
    case HU_KEY_TEXT: break;
  }
  if (at) *(const char **)at = value;
  return HU_OK;
}

hu_status hu_say(char *why, hu_status s, const char *format, ...) {
  va_list list;
  if (!why) return s;
  va_start(list, format);
  vsnprintf(why, HU_DATA_WHY_MAX, format, list);
  va_end(list);
  return s;
}
