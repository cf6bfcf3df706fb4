/* SPDX-License-Identifier: MIT */
/* What the config says of single modules: compressed-tensors' and ModelOpt's groups with their targets and what they
 * ignore, Quark's patterns, AutoRound's and GPTQ's exceptions. See layouts.h. */
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts/layouts.h"

enum { PATTERN_MAX = 1000, RULES_MAX = 20000 };

/* ---- patterns ---- */

/* Writes Python's expression as one of POSIX, from the begin of a name where `front`; 0: it has more than POSIX. */
static int as_posix(char z[3 * PATTERN_MAX + 8], const char *text, int front) {
  char *at = z;
  if (strlen(text) > PATTERN_MAX) return 0;
  if (front) *at++ = '^', *at++ = '(';
  for (size_t i = 0; text[i]; i++) {
    int quantifier = i && strchr("*+?", text[i - 1]) && (i < 2 || text[i - 2] != '\\');
    if (text[i] == '{' || (text[i] == '\\' && (!text[i + 1] || (text[i + 1] >= '1' && text[i + 1] <= '9')))) return 0;
    if (text[i] == '?' && quantifier) continue; /* the shortest match or the longest: there is one */
    if (!strncmp(text + i, "(?", 2) && text[i + 2] != ':') return 0;
    *at++ = text[i];
    if (!strncmp(text + i, "(?:", 3)) i += 2;
    if (text[i] != '\\') continue;
    i++;
    if (text[i] == 'd')
      at += sprintf(at - 1, "[0-9]") - 1;
    else
      *at++ = text[i];
  }
  if (front) *at++ = ')';
  *at = 0;
  return 1;
}

static hui_rule *new_rule(hu_checkpoint *x, json_t *value) {
  hui_rule *more = x->rule_count < RULES_MAX ? realloc(x->rules, (x->rule_count + 1) * sizeof *more) : NULL;
  if (!more) {
    hui_wrong(x, "%s%s: more than %d patterns of names, or out of memory", x->folder, x->says, RULES_MAX);
    return NULL;
  }
  x->rules = more;
  x->rules[x->rule_count] = (hui_rule){.value = value};
  return &x->rules[x->rule_count];
}

static int add_regex(hu_checkpoint *x, const char *text, int front, json_t *value) {
  char posix[3 * PATTERN_MAX + 8], shown[ST_NAME_MAX];
  hui_rule *rule = new_rule(x, value);
  if (!rule) return 0;
  if (!as_posix(posix, text, front) || regcomp(&rule->regex, posix, REG_EXTENDED | REG_NOSUB))
    return hui_wrong(x, "%s%s: the expression '%s' for names of modules is not read", x->folder, x->says,
                     st_printable(shown, text));
  x->rule_count++;
  return 1;
}

static int add_glob(hu_checkpoint *x, const char *pattern, json_t *value) {
  hui_rule *rule = new_rule(x, value);
  if (!rule) return 0;
  rule->glob = pattern;
  x->rule_count++;
  return 1;
}

/* Adds "re:" and an expression, a pattern with *, or a name. */
static int add(hu_checkpoint *x, const char *text, json_t *value) {
  if (!strncmp(text, "re:", 3)) return add_regex(x, text + 3, 1, value);
  if (strchr(text, '*')) return add_glob(x, text, value);
  if (json_object_get(x->modules, text)) return 1;
  return !json_object_set_nocheck(x->modules, text, value) || hui_wrong(x, "%s: out of memory", x->path);
}

/* ---- what configs have ---- */

/* Adds a list of modules that are not quantized. */
static int add_ignored(hu_checkpoint *x, const char *key) {
  json_t *one;
  size_t i;
  json_array_foreach(json_object_get(x->quantization, key), i, one) {
    const char *text = json_string_value(one);
    if (text && !add(x, text, json_null())) return 0;
  }
  return 1;
}

/* Returns 1 for the class of a layer ("Linear"), which the files do not have. */
static int is_class(const char *text) { return text[0] >= 'A' && text[0] <= 'Z' && !strpbrk(text, ".*"); }

static int check_group(hu_checkpoint *x, const char *name, json_t *group, json_t *weights) {
  char shown[ST_NAME_MAX];
  int good = !weights || json_is_null(weights) || json_is_object(weights);
  if (!json_is_object(group) || !good)
    return hui_wrong(x, "%s%s: config_groups: %s%s is not an object", x->folder, x->says, st_printable(shown, name),
                     good ? "" : ": weights");
  return hui_config_check(x, name, group) && (!weights || hui_config_check(x, name, weights));
}

static int add_groups(hu_checkpoint *x) {
  const char *name;
  json_t *group, *one;
  size_t i;
  json_object_foreach(json_object_get(x->quantization, "config_groups"), name, group) {
    json_t *weights = json_object_get(group, "weights"), *targets = json_object_get(group, "targets");
    if (json_is_array(group)) continue; /* of modules, under the name of a preset */
    if (!check_group(x, name, group, weights)) return 0;
    if (!json_is_object(weights)) continue;
    if (!json_array_size(targets) && !x->otherwise) x->otherwise = weights;
    json_array_foreach(targets, i, one) {
      const char *text = json_string_value(one);
      if (text && is_class(text) && !x->otherwise) x->otherwise = weights;
      if (text && !is_class(text) && !add(x, text, weights)) return 0;
    }
  }
  return 1;
}

/* Quark: a specification, or a list of two for two levels. */
static json_t *weight_of(const json_t *config) {
  json_t *weight = json_object_get(config, "weight");
  return json_is_array(weight) ? json_array_get(weight, 0) : weight;
}

/* Adds the exceptions of one key: names, expressions or patterns with what holds for them. */
static int add_exceptions(hu_checkpoint *x, const char *key) {
  const char *name;
  json_t *value;
  int quark = !strcmp(key, "layer_quant_config"), dynamic = !strcmp(key, "dynamic"),
      searched = !strcmp(key, "extra_config");
  json_object_foreach(json_object_get(x->quantization, key), name, value) {
    int none = dynamic && !strncmp(name, "-:", 2), skip = none || (dynamic && !strncmp(name, "+:", 2)) ? 2 : 0;
    json_t *own = none ? json_null() : quark ? weight_of(value) : value;
    if (!json_is_object(own) && !none) continue;
    if (!hui_config_check(x, name, own)) return 0;
    int expression = dynamic || (searched && strpbrk(name, "*+?[]()|^$\\"));
    if (!(expression ? add_regex(x, name + skip, dynamic, own) : add(x, name, own))) return 0;
  }
  return 1;
}

int hui_modules_open(hu_checkpoint *x) {
  static const char *const ignored[] = {"ignore", "exclude", "exclude_modules"};
  static const char *const exceptions[] = {"layer_quant_config", "extra_config", "dynamic", "quantized_layers"};
  int good = (x->modules = json_object()) != NULL || hui_wrong(x, "%s: out of memory", x->path);
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0] && good; i++) good = add_ignored(x, ignored[i]);
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0] && good; i++) good = add_exceptions(x, exceptions[i]);
  good = good && add_groups(x);
  if (!x->otherwise) x->otherwise = weight_of(json_object_get(x->quantization, "global_quant_config"));
  return good && (!json_is_object(x->otherwise) || hui_config_check(x, "global_quant_config", x->otherwise));
}

void hui_modules_close(hu_checkpoint *x) {
  for (size_t i = 0; i < x->rule_count; i++)
    if (!x->rules[i].glob) regfree(&x->rules[i].regex);
  json_decref(x->modules);
  free(x->rules);
}

/* ---- a module ---- */

static json_t *find(const hu_checkpoint *x, const char *module) {
  json_t *own = json_object_get(x->quantization, module); /* MLX */
  if (!own || (!json_is_object(own) && !json_is_false(own))) own = json_object_get(x->modules, module);
  for (size_t i = 0; i < x->rule_count && !own; i++) {
    const hui_rule *rule = &x->rules[i];
    int fits = rule->glob ? !fnmatch(rule->glob, module, 0) : !regexec(&rule->regex, module, 0, NULL, 0);
    if (fits) own = rule->value;
  }
  return own ? own : x->otherwise;
}

json_t *hui_module(const hu_checkpoint *x, const char *base) {
  char module[HUI_NAME_MAX];
  size_t n = strlen(base), m = strlen(".weight");
  if (n > m && !strcmp(base + n - m, ".weight")) n -= m;
  if (n >= sizeof module) return NULL;
  memcpy(module, base, n);
  module[n] = 0;
  return find(x, module);
}
