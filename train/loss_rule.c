/* SPDX-License-Identifier: MIT */
/* Rules of loss scaling as text. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/train/loss_scale.h"
#include "train/words.h"

/* A key of a rule: where its number lies in the record, and as what. */
typedef struct rule_key {
  const char *name;
  size_t at;
  char type; /* f: float, d: double, u: uint64_t, w: a word that sets a uint8_t */
} rule_key;

#define AT(field) offsetof(hu_loss_rule, field)
static const rule_key backoff_keys[] = {{"scale_min", AT(low), 'f'},
                                        {"scale_max", AT(high), 'f'},
                                        {"step_factor", AT(grow), 'f'},
                                        {"step_window", AT(window), 'u'},
                                        {"start", AT(start), 'f'}};
static const rule_key logmax_keys[] = {{"scale_min", AT(low), 'f'},   {"scale_max", AT(high), 'f'},
                                       {"log_max", AT(log_max), 'd'}, {"beta1", AT(beta1), 'd'},
                                       {"beta2", AT(beta2), 'd'},     {"overflow_std_dev", AT(deviations), 'd'},
                                       {"start", AT(start), 'f'},     {"literal", AT(literal), 'w'}};
static const rule_key gradscaler_keys[] = {{"init_scale", AT(start), 'f'},
                                           {"growth_factor", AT(grow), 'f'},
                                           {"backoff_factor", AT(shrink), 'f'},
                                           {"growth_interval", AT(window), 'u'}};
static const rule_key static_keys[] = {{"unchecked", AT(unchecked), 'w'}};

typedef struct rule_kind {
  const char *name;
  uint8_t kind;
  const rule_key *keys;
  size_t count;
} rule_kind;
#define KEYS(a) a, sizeof(a) / sizeof *(a)
static const rule_kind kinds[] = {{"none", HU_LOSS_NONE, NULL, 0},
                                  {"static", HU_LOSS_STATIC, KEYS(static_keys)},
                                  {"backoff", HU_LOSS_BACKOFF, KEYS(backoff_keys)},
                                  {"logmax", HU_LOSS_LOGMAX, KEYS(logmax_keys)},
                                  {"gradscaler", HU_LOSS_GRADSCALER, KEYS(gradscaler_keys)},
                                  {"lognormal", HU_LOSS_LOGMAX, KEYS(logmax_keys)}};

static hu_loss_rule defaults(uint8_t kind) {
  hu_loss_rule r;
  memset(&r, 0, sizeof r);
  r.kind = kind;
  r.start = 1;
  if (kind == HU_LOSS_BACKOFF || kind == HU_LOSS_LOGMAX) {
    r.low = 1;
    r.high = 16384;
  }
  if (kind == HU_LOSS_BACKOFF) {
    r.grow = 2;
    r.shrink = 0.5f;
    r.window = 2000;
    r.start = 16384;
  } else if (kind == HU_LOSS_LOGMAX) {
    r.log_max = 16;
    r.beta1 = 0.99;
    r.beta2 = 0.999;
    r.deviations = 3.09;
  } else if (kind == HU_LOSS_GRADSCALER) {
    r.grow = 2;
    r.shrink = 0.5f;
    r.window = 2000;
    r.start = 65536;
  }
  return r;
}

static int positive(float x) { return x >= FLT_MIN && x <= FLT_MAX; }

static const char *wrong_limits(const hu_loss_rule *r) {
  if (!positive(r->low)) return "scale_min: not a positive normal binary32 number";
  if (!positive(r->high) || r->high < r->low) return "scale_max: not finite, or below scale_min";
  if (r->start < r->low || r->start > r->high) return "start: not within scale_min and scale_max";
  return NULL;
}

static const char *wrong(const hu_loss_rule *r) {
  if (r->kind > HU_LOSS_GRADSCALER) return "kind: unknown";
  if (!positive(r->start)) return "the first scale: not a positive normal binary32 number";
  if (r->unchecked > (r->kind == HU_LOSS_STATIC)) return "unchecked: only static knows it";
  if (r->literal > (r->kind == HU_LOSS_LOGMAX)) return "literal: only logmax knows it";
  if (r->kind == HU_LOSS_BACKOFF || r->kind == HU_LOSS_GRADSCALER) {
    if (!(r->grow >= 1 && r->grow <= FLT_MAX)) return "step_factor, growth_factor: below 1 or not finite";
    if (!(r->shrink > 0 && r->shrink <= 1)) return "backoff_factor: not above 0 and up to 1";
    if (r->window == 0) return "step_window, growth_interval: 0";
  }
  if (r->kind == HU_LOSS_LOGMAX) {
    if (!(r->beta1 >= 0 && r->beta1 < 1)) return "beta1: not from 0 to below 1";
    if (!(r->beta2 >= 0 && r->beta2 < 1)) return "beta2: not from 0 to below 1";
    if (!(r->log_max >= -126 && r->log_max <= 127)) return "log_max: not within -126 and 127";
    if (!(r->deviations >= 0 && r->deviations <= FLT_MAX)) return "overflow_std_dev: negative or not finite";
  }
  return r->kind == HU_LOSS_BACKOFF || r->kind == HU_LOSS_LOGMAX ? wrong_limits(r) : NULL;
}

hu_status hu_loss_rule_check(const hu_loss_rule *rule, const char **why) {
  if (!rule) return HU_E_NULL;
  const char *what = wrong(rule);
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

static const rule_kind *kind_named(const char *word, size_t n) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (hu_same_word(word, n, kinds[i].name)) return &kinds[i];
  }
  return NULL;
}

/* Sets the field of a key; 0: not a number of its type. */
static int set(hu_loss_rule *r, const rule_key *k, const char *text, size_t n) {
  char *at = (char *)r + k->at;
  double x;
  if (!hu_read_number(text, n, &x)) return 0;
  if (k->type == 'd') memcpy(at, &x, sizeof x);
  if (k->type == 'f') {
    float f = (float)x;
    memcpy(at, &f, sizeof f);
  }
  if (k->type == 'u') {
    if (!(x >= 0 && x < 9007199254740992.0) || x != (double)(uint64_t)x) return 0;
    uint64_t u = (uint64_t)x;
    memcpy(at, &u, sizeof u);
  }
  return 1;
}

static double get(const hu_loss_rule *r, const rule_key *k) {
  const char *at = (const char *)r + k->at;
  float f;
  double d;
  uint64_t u;
  if (k->type == 'w') return *(const uint8_t *)at;
  if (k->type == 'f') return memcpy(&f, at, sizeof f), (double)f;
  if (k->type == 'u') return memcpy(&u, at, sizeof u), (double)u;
  return memcpy(&d, at, sizeof d), d;
}

/* One "key=number" or word of n characters. */
static hu_status take(hu_loss_rule *r, const rule_kind *kind, unsigned *seen, const char *text, size_t n, size_t *off) {
  const char *equals = memchr(text, '=', n);
  size_t word = equals ? (size_t)(equals - text) : n;
  for (size_t i = 0; i < kind->count; i++) {
    const rule_key *k = &kind->keys[i];
    if (strlen(k->name) != word || memcmp(text, k->name, word) != 0) continue;
    if (*seen >> i & 1 || (k->type == 'w') != !equals) return HU_E_TEXT;
    *seen |= 1u << i;
    if (k->type == 'w') {
      *((uint8_t *)r + k->at) = 1;
      return HU_OK;
    }
    *off = word + 1;
    return set(r, k, text + word + 1, n - word - 1) ? HU_OK : HU_E_TEXT;
  }
  return n ? HU_E_NAME : HU_E_TEXT;
}

/* What stands between the parentheses. */
static hu_status take_all(hu_loss_rule *r, const rule_kind *kind, const char *text, size_t n, size_t *off) {
  unsigned seen = 0;
  for (size_t at = 0; at <= n;) {
    const char *comma = memchr(text + at, ',', n - at);
    size_t part = comma ? (size_t)(comma - text) - at : n - at, inside = 0;
    hu_status s = HU_OK;
    if (kind->kind == HU_LOSS_STATIC && at == 0) {
      rule_key scale = {"", AT(start), 'f'};
      if (!set(r, &scale, text, part)) s = HU_E_TEXT;
    } else {
      s = take(r, kind, &seen, text + at, part, &inside);
    }
    *off = at + inside;
    if (s != HU_OK) return s;
    at += part + 1;
  }
  if (kind->kind == HU_LOSS_BACKOFF) {
    if (!(seen >> 4 & 1)) r->start = r->high;
    r->shrink = 1 / r->grow;
  }
  if (kind->kind == HU_LOSS_LOGMAX && !(seen >> 6 & 1) && r->start < r->low) r->start = r->low;
  return HU_OK;
}

hu_status hu_loss_rule_parse(hu_loss_rule *rule, const char *text, size_t *where) {
  size_t ignored;
  if (!where) where = &ignored;
  *where = 0;
  if (!rule || !text) return HU_E_NULL;
  size_t word = strcspn(text, "("), all = strlen(text);
  const rule_kind *kind = kind_named(text, word);
  if (!kind) return HU_E_NAME;
  hu_loss_rule r = defaults(kind->kind);
  *where = all;
  if (word < all) {
    size_t off = 0;
    if (kind->kind == HU_LOSS_NONE || text[all - 1] != ')') return HU_E_TEXT;
    hu_status s = take_all(&r, kind, text + word + 1, all - word - 2, &off);
    *where = word + 1 + off;
    if (s != HU_OK) return s;
  } else if (kind->kind == HU_LOSS_STATIC) {
    return HU_E_TEXT;
  }
  *where = 0;
  hu_status s = hu_loss_rule_check(&r, NULL);
  if (s == HU_OK) *rule = r;
  return s;
}

size_t hu_loss_rule_text(char *text, size_t size, const hu_loss_rule *rule) {
  char line[HU_LOSS_RULE_TEXT_MAX], number[HU_NUMBER_TEXT_MAX];
  if (hu_loss_rule_check(rule, NULL) != HU_OK) return 0;
  const rule_kind *kind = &kinds[rule->kind];
  hu_loss_rule usual = defaults(rule->kind);
  if (rule->kind == HU_LOSS_BACKOFF) usual.start = rule->high;
  if (rule->kind == HU_LOSS_LOGMAX && usual.start < rule->low) usual.start = rule->low;
  size_t n = (size_t)snprintf(line, sizeof line, "%s", kind->name);
  const char *before = "(";
  if (rule->kind == HU_LOSS_STATIC) {
    n += (size_t)snprintf(line + n, sizeof line - n, "(%s", hu_write_number(number, (double)rule->start));
    before = ",";
  }
  for (size_t i = 0; i < kind->count; i++) {
    const rule_key *k = &kind->keys[i];
    double x = get(rule, k);
    if (x == get(&usual, k)) continue;
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", before, k->name);
    if (k->type != 'w') n += (size_t)snprintf(line + n, sizeof line - n, "=%s", hu_write_number(number, x));
    before = ",";
  }
  if (n > strlen(kind->name)) n += (size_t)snprintf(line + n, sizeof line - n, ")");
  if (size) snprintf(text, size, "%s", line);
  return n;
}
