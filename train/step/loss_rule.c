/* SPDX-License-Identifier: MIT */
/* Reads and writes rules of loss scaling as text. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/train/gradient.h"
#include "train/environment.h"
#include "train/step/loss_rule.h"
#include "train/text/words.h"

#define KEY(name, field, type) \
  { name, offsetof(hu_loss_rule, field), type, NULL }
static const hu_text_key backoff_keys[] = {KEY("scale_min", low, 'f'), KEY("scale_max", high, 'f'),
                                           KEY("step_factor", grow, 'f'), KEY("step_window", window, 'u'),
                                           KEY("start", start, 'f')};
static const hu_text_key logmax_keys[] = {KEY("scale_min", low, 'f'),   KEY("scale_max", high, 'f'),
                                          KEY("log_max", log_max, 'd'), KEY("beta1", beta1, 'd'),
                                          KEY("beta2", beta2, 'd'),     KEY("overflow_std_dev", deviations, 'd'),
                                          KEY("start", start, 'f'),     KEY("literal", literal, 'w')};
static const hu_text_key gradscaler_keys[] = {KEY("init_scale", start, 'f'), KEY("growth_factor", grow, 'f'),
                                              KEY("backoff_factor", shrink, 'f'), KEY("growth_interval", window, 'u')};
static const hu_text_key exponential_keys[] = {KEY("start", start, 'f'), KEY("factor", grow, 'f'),
                                               KEY("every", window, 'u'), KEY("scale_max", high, 'f')};
static const hu_text_key static_keys[] = {KEY("", start, 'f'), KEY("unchecked", unchecked, 'w')};

typedef struct rule_kind {
  const char *name;
  uint8_t kind;
  hu_text_keys keys;
} rule_kind;
static const rule_kind kinds[] = {{"none", HU_LOSS_NONE, {NULL, 0}},
                                  {"static", HU_LOSS_STATIC, HU_TEXT_KEYS(static_keys)},
                                  {"backoff", HU_LOSS_BACKOFF, HU_TEXT_KEYS(backoff_keys)},
                                  {"logmax", HU_LOSS_LOGMAX, HU_TEXT_KEYS(logmax_keys)},
                                  {"gradscaler", HU_LOSS_GRADSCALER, HU_TEXT_KEYS(gradscaler_keys)},
                                  {"exponential", HU_LOSS_EXPONENTIAL, HU_TEXT_KEYS(exponential_keys)},
                                  {"lognormal", HU_LOSS_LOGMAX, HU_TEXT_KEYS(logmax_keys)}};

static hu_loss_rule defaults(uint8_t kind) {
  hu_loss_rule rule;
  memset(&rule, 0, sizeof rule);
  rule.kind = kind;
  rule.start = 1;
  if (kind == HU_LOSS_BACKOFF || kind == HU_LOSS_LOGMAX) {
    rule.low = 1;
    rule.high = 16384;
  }
  if (kind == HU_LOSS_BACKOFF) {
    rule.grow = 2;
    rule.shrink = 0.5f;
    rule.window = 2000;
    rule.start = 16384;
  } else if (kind == HU_LOSS_LOGMAX) {
    rule.log_max = 16;
    rule.beta1 = 0.99;
    rule.beta2 = 0.999;
    rule.deviations = 3.09;
  } else if (kind == HU_LOSS_GRADSCALER) {
    rule.grow = 2;
    rule.shrink = 0.5f;
    rule.window = 2000;
    rule.start = 65536;
  } else if (kind == HU_LOSS_EXPONENTIAL) {
    rule.high = 16384;
    rule.grow = 2;
    rule.window = 1000;
  }
  return rule;
}

static int positive(float x) { return x >= FLT_MIN && x <= FLT_MAX; }

static const char *wrong_limits(const hu_loss_rule *rule) {
  if (!positive(rule->low)) return "scale_min: not a positive normal binary32 number";
  if (!positive(rule->high) || rule->high < rule->low) return "scale_max: not finite, or below scale_min";
  if (rule->start < rule->low || rule->start > rule->high) return "start: not within scale_min and scale_max";
  return NULL;
}

static const char *wrong_growth(const hu_loss_rule *rule) {
  if (!(rule->grow >= 1 && rule->grow <= FLT_MAX)) return "factor: below 1 or not finite";
  if (rule->window == 0) return "every: 0";
  return positive(rule->high) && rule->start <= rule->high ? NULL : "scale_max: not finite, or below start";
}

static HU_NOINLINE const char *wrong(const hu_loss_rule *rule) {
  if (rule->kind > HU_LOSS_EXPONENTIAL) return "kind: unknown";
  if (!positive(rule->start))
    return "the first scale: not a positive normal binary32 number, of which 2^-126 is the smallest";
  if (rule->unchecked > (rule->kind == HU_LOSS_STATIC)) return "unchecked: only static knows it";
  if (rule->literal > (rule->kind == HU_LOSS_LOGMAX)) return "literal: only logmax knows it";
  if (rule->kind == HU_LOSS_BACKOFF || rule->kind == HU_LOSS_GRADSCALER) {
    if (!(rule->grow >= 1 && rule->grow <= FLT_MAX)) return "step_factor, growth_factor: below 1 or not finite";
    if (!(rule->shrink > 0 && rule->shrink <= 1)) return "backoff_factor: not above 0 and up to 1";
    if (rule->window == 0) return "step_window, growth_interval: 0";
  }
  if (rule->kind == HU_LOSS_LOGMAX) {
    if (!(rule->beta1 >= 0 && rule->beta1 < 1)) return "beta1: not from 0 to below 1";
    if (!(rule->beta2 >= 0 && rule->beta2 < 1)) return "beta2: not from 0 to below 1";
    if (!(rule->log_max >= -126 && rule->log_max <= 127)) return "log_max: not within -126 and 127";
    if (!(rule->deviations >= 0 && rule->deviations <= FLT_MAX)) return "overflow_std_dev: negative or not finite";
  }
  if (rule->kind == HU_LOSS_EXPONENTIAL) return wrong_growth(rule);
  return rule->kind == HU_LOSS_BACKOFF || rule->kind == HU_LOSS_LOGMAX ? wrong_limits(rule) : NULL;
}

hu_status hu_loss_rule_check(const hu_loss_rule *rule, const char **why) {
  if (!rule) return HU_E_NULL;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  const char *what = wrong(rule);
  hui_float_env_leave(saved);
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

static const rule_kind *kind_named(const char *word, size_t n) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (hui_same_word(word, n, kinds[i].name)) return &kinds[i];
  }
  return NULL;
}

/* Takes what stands between the parentheses. */
static hu_status take_all(hu_loss_rule *rule, const rule_kind *kind, const char *text, size_t n, size_t *off) {
  unsigned seen = 0;
  hu_status status = hui_keys_read(rule, kind->keys.key, kind->keys.count, &seen, text, n, off);
  if (status != HU_OK) return status;
  if (kind->kind == HU_LOSS_BACKOFF) {
    if (!(seen >> 4 & 1)) rule->start = rule->high;
    rule->shrink = 1 / rule->grow;
  }
  if (kind->kind == HU_LOSS_LOGMAX && !(seen >> 6 & 1) && rule->start < rule->low) rule->start = rule->low;
  return HU_OK;
}

static hu_status unknown(const char *text, size_t n, char *why) {
  static const char *const names[] = {"none",      "static",     "backoff",     "logmax",
                                      "lognormal", "gradscaler", "exponential", NULL};
  char word[64], perhaps[HU_PERHAPS_MAX];
  snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), text);
  snprintf(why, HU_RULE_WHY_MAX,
           "there is no rule '%s'; a rule is one of none, static(SCALE), backoff(...), logmax(...), lognormal(...), "
           "gradscaler(...) and exponential(...)%s",
           word, hui_perhaps(perhaps, word, names));
  return HU_E_NAME;
}

/* Reads what stands between the parentheses, n characters. */
static hu_status read_keys(hu_loss_rule *rule, const rule_kind *kind, const char *text, size_t n, size_t *off,
                           char *why) {
  char said[HU_RULE_WHY_MAX - 32];
  hu_status status = take_all(rule, kind, text, n, off);
  if (status == HU_OK) return status;
  hui_keys_complain(said, sizeof said, kind->keys.key, kind->keys.count, text, n, *off);
  snprintf(why, HU_RULE_WHY_MAX, "%s %s", kind->name, said);
  return status;
}

static HU_NOINLINE hu_status read(hu_loss_rule *rule, const char *text, size_t *where, char *why) {
  *where = 0;
  size_t word = strcspn(text, "("), all = strlen(text);
  const rule_kind *kind = kind_named(text, word);
  if (!kind) return unknown(text, word, why);
  hu_loss_rule made = defaults(kind->kind);
  *where = all;
  if (word < all) {
    size_t off = 0;
    snprintf(why, HU_RULE_WHY_MAX, "none has nothing behind it");
    if (kind->kind == HU_LOSS_NONE) return HU_E_TEXT;
    snprintf(why, HU_RULE_WHY_MAX, "%s: a closing parenthesis is missing at the end", kind->name);
    if (text[all - 1] != ')') return HU_E_TEXT;
    hu_status status = read_keys(&made, kind, text + word + 1, all - word - 2, &off, why);
    *where = word + 1 + off;
    if (status != HU_OK) return status;
  } else if (kind->kind == HU_LOSS_STATIC) {
    snprintf(why, HU_RULE_WHY_MAX, "static has its scale in parentheses: static(1024)");
    return HU_E_TEXT;
  }
  *where = 0;
  const char *what = "";
  hu_status status = hu_loss_rule_check(&made, &what);
  if (status != HU_OK) snprintf(why, HU_RULE_WHY_MAX, "%s: %s", kind->name, what);
  if (status == HU_OK) *rule = made;
  return status;
}

hu_status hui_loss_rule_read(hu_loss_rule *rule, const char *text, size_t *where, char why[HU_RULE_WHY_MAX]) {
  HU_ENV_RETURN(hu_status, read(rule, text, where, why));
}

hu_status hu_loss_rule_parse(hu_loss_rule *rule, const char *text, size_t *where) {
  char why[HU_RULE_WHY_MAX];
  size_t ignored;
  if (!where) where = &ignored;
  *where = 0;
  return rule && text ? hui_loss_rule_read(rule, text, where, why) : HU_E_NULL;
}

static HU_NOINLINE size_t write(char *text, size_t size, const hu_loss_rule *rule) {
  char line[HU_LOSS_RULE_TEXT_MAX];
  if (hu_loss_rule_check(rule, NULL) != HU_OK) return 0;
  const rule_kind *kind = &kinds[rule->kind];
  hu_loss_rule standard = defaults(rule->kind);
  if (rule->kind == HU_LOSS_BACKOFF) standard.start = rule->high;
  if (rule->kind == HU_LOSS_LOGMAX && standard.start < rule->low) standard.start = rule->low;
  size_t n = (size_t)snprintf(line, sizeof line, "%s", kind->name);
  n += hui_keys_write(line + n, sizeof line - n, rule, &standard, kind->keys.key, kind->keys.count);
  if (size) snprintf(text, size, "%s", line);
  return n;
}

size_t hu_loss_rule_text(char *text, size_t size, const hu_loss_rule *rule) {
  HU_ENV_RETURN(size_t, write(text, size, rule));
}
