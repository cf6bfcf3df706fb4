/* SPDX-License-Identifier: MIT */
/* The rules by which quantizers make scales and codes: those that have a name, variants of them, and what one makes of
 * values. See audit.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/audit.h"
#include "cli/target/preset_names.h"
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

static const hu_format none;

static int is_format(hu_format x) { return !hu_format_equal(x, none); }

/* ---- lists ---- */

void audit_rules_free(audit_rules *rules) {
  free(rules->list);
  *rules = (audit_rules){NULL, 0, 0};
}

/* Texts are long in the making: rules whose texts differ in one of these keys are passed over first. */
static int may_be_same(const audit_rule *x, const audit_rule *y) {
  return x->mode.round == y->mode.round && x->scaling.rule == y->scaling.rule && x->scaling.amin == y->scaling.amin;
}

static int has_rule(const audit_rules *rules, const audit_rule *rule) {
  char a[AUDIT_RULE_TEXT], b[AUDIT_RULE_TEXT];
  audit_rule_keys(a, rule);
  for (size_t i = 0; i < rules->count; i++)
    if (may_be_same(&rules->list[i], rule) && !strcmp(a, audit_rule_keys(b, &rules->list[i]))) return 1;
  return 0;
}

/* Adds a rule; a variant only if no rule of the list does the same. */
static int add(audit_rules *rules, const audit_rule *rule) {
  if (!rule->name[0] && has_rule(rules, rule)) return CLI_OK;
  if (rules->count == rules->capacity) {
    size_t capacity = rules->capacity ? 2 * rules->capacity : 64;
    audit_rule *more = realloc(rules->list, capacity * sizeof *more);
    if (!more) return cli_fail(NULL, "out of memory");
    rules->list = more;
    rules->capacity = capacity;
  }
  rules->list[rules->count++] = *rule;
  return CLI_OK;
}

int audit_rules_append(audit_rules *rules, const audit_rules *more) {
  int code = CLI_OK;
  for (size_t i = 0; i < more->count && code == CLI_OK; i++) code = add(rules, &more->list[i]);
  return code;
}

/* Compares two rules: named ones come before variants, and of these the ones with short texts first. */
static int by_length(const void *x, const void *y) {
  char a[AUDIT_RULE_TEXT], b[AUDIT_RULE_TEXT];
  const audit_rule *first = x, *second = y;
  if (first->name[0] || second->name[0]) return !first->name[0] - !second->name[0];
  size_t n = strlen(audit_rule_keys(a, first)), m = strlen(audit_rule_keys(b, second));
  return n != m ? (n < m ? -1 : 1) : strcmp(a, b);
}

void audit_rules_sort(audit_rules *rules) {
  if (rules->count) qsort(rules->list, rules->count, sizeof *rules->list, by_length);
}

/* ---- which rules have the elements, scales and blocks of a tensor ---- */

/* Returns 1 if positive codes of two formats of scales are the same numbers: E4M3 with its sign and without. */
static int same_scales(hu_format x, hu_format y) {
  hu_limits a = hu_limits_of(x), b = hu_limits_of(y);
  if (hu_format_equal(x, y)) return 1;
  if (a.storage != 8 || b.storage != 8) return 0;
  for (uint32_t code = 0; code < 127; code++)
    if (hu_decode64(x, code) != hu_decode64(y, code)) return 0;
  return 1;
}

int audit_same_elements(hu_format x, hu_format y) {
  uint32_t width = hu_limits_of(x).width;
  if (hu_format_equal(x, y)) return 1;
  if (width > 8 || width != hu_limits_of(y).width) return 0;
  for (uint32_t code = 0; code < 1u << width; code++) {
    double a = hu_decode64(x, code), b = hu_decode64(y, code);
    if (a != b && !(isnan(a) && isnan(b))) return 0;
  }
  return 1;
}

static size_t side_of(uint32_t side, size_t whole) { return side && side < whole ? side : whole; }

static int fits(const hu_scaling *scaling, const audit_tensor *x) {
  return audit_same_elements(scaling->element, x->element) && same_scales(scaling->scale, x->scale) &&
         side_of(scaling->rows, x->rows) == x->block[0] && side_of(scaling->cols, x->cols) == x->block[1] &&
         (scaling->tensor != 0) == (x->second != 0) && (scaling->coding == HU_CODING_TWOS) == x->twos;
}

static void take_name(audit_rule *rule, const char *name, const char *program) {
  snprintf(rule->name, sizeof rule->name, "%s", name);
  rule->program = program;
}

static int add_scaling(audit_rules *rules, const audit_tensor *x, hu_scaling_entry entry) {
  audit_rule rule = {.program = ""};
  if (!*entry.text || hu_scaling_parse(&rule.scaling, entry.text, NULL) != HU_OK || !fits(&rule.scaling, x))
    return CLI_OK;
  take_name(&rule, entry.name, entry.source);
  return add(rules, &rule);
}

/* Adds those of the two tables of the library: formats, and rules of programs. */
static int named_scalings(audit_rules *rules, const audit_tensor *x) {
  int code = CLI_OK;
  for (size_t i = 0; i < hu_scaling_count() && code == CLI_OK; i++) code = add_scaling(rules, x, hu_scaling_at(i));
  for (size_t i = 0; i < hu_scaling_rule_count() && code == CLI_OK; i++)
    code = add_scaling(rules, x, hu_scaling_rule_at(i));
  return code;
}

static int named_conversions(audit_rules *rules, const audit_tensor *x) {
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion_entry entry = hu_conversion_at(i);
    audit_rule rule = {.program = "", .preset = entry.conversion, .is_preset = 1, .mode = entry.conversion.mode};
    const char *text = entry.conversion.scaling;
    rule.plain = !*text;
    int fit = rule.plain ? !x->scaled && hu_format_equal(rule.preset.format, x->element)
                         : x->scaled && hu_scaling_parse(&rule.scaling, text, NULL) == HU_OK && fits(&rule.scaling, x);
    if (!fit || rule.mode.round >= HU_SRA) continue;
    take_name(&rule, entry.name, entry.stands);
    if (add(rules, &rule)) return CLI_BAD;
  }
  return CLI_OK;
}

static int named_integers(audit_rules *rules, const audit_tensor *x) {
  hu_checkpoint_target target = hu_checkpoint_target_at(x->written);
  audit_rule rule = {.integers = x->found->bias ? 2 : 1};
  rule.scaling.scale = x->scale;
  rule.scaling.cols = (uint32_t)x->found->block[1];
  take_name(&rule, target.name, target.program);
  return add(rules, &rule);
}

int audit_rules_named(audit_rules *rules, const audit_tensor *x) {
  if (x->integers) return named_integers(rules, x);
  if (!x->known) return CLI_OK;
  if (x->scaled && named_scalings(rules, x)) return CLI_BAD;
  return named_conversions(rules, x);
}

/* ---- variants ---- */

/* The bounds of A that programs have: 1e-12, 1e-10, 1e-4, 1/512, as binary32 patterns; 0: none. */
static const uint32_t bounds[] = {0, 0x2B8CBCCC, 0x2EDBE6FF, 0x38D1B717, 0x3B000000};
enum { BOUNDS = sizeof bounds / sizeof bounds[0] };

/* Searches for the best scale take a hundred times as long, in other modes again a hundred times. */
static int vary_modes(audit_rules *rules, const audit_rule *base) {
  audit_rule rule = *base;
  uint8_t last = base->scaling.rule > HU_SCALE_RATIO ? HU_RNE : HU_RTO;
  for (uint8_t round = HU_RNE; round <= last; round++) {
    rule.mode = (hu_mode){.round = round};
    if (hu_scaling_check(&rule.scaling, NULL) == HU_OK && add(rules, &rule)) return CLI_BAD;
  }
  return CLI_OK;
}

/* Adds variants in formulas, order of steps and rounding of the scale, with every rounding of elements. */
static int vary_formulas(audit_rules *rules, const audit_rule *base) {
  audit_rule rule = *base;
  hu_scaling *z = &rule.scaling;
  for (uint8_t formula = 0; formula < HU_SCALE_RULES; formula++)
    for (uint8_t steps = 0; steps < HU_STEPS_COUNT; steps++)
      for (uint8_t round = HU_RNE; round <= HU_RAZ; round++) {
        z->rule = formula;
        z->steps = steps;
        z->round = round;
        if (hu_scaling_check(z, NULL) == HU_OK && vary_modes(rules, &rule)) return CLI_BAD;
      }
  return CLI_OK;
}

/* What decides about few blocks: bounds of A, blocks of zeros, infinities; with rounding to nearest alone. */
static int vary_rare(audit_rules *rules, const audit_rule *base) {
  audit_rule rule = *base;
  hu_scaling *z = &rule.scaling;
  for (uint8_t formula = 0; formula <= HU_SCALE_RATIO; formula++)
    for (uint8_t steps = 0; steps < HU_STEPS_COUNT; steps++)
      for (uint8_t blank = 0; blank <= HU_BLANK_ZERO; blank++)
        for (uint8_t special = 0; special <= HU_SPECIAL_SATURATE; special++)
          for (size_t i = 0; i < BOUNDS; i++) {
            *z = base->scaling;
            z->rule = formula;
            z->steps = steps;
            z->round = 0;
            z->blank = blank;
            z->special = special;
            z->amin = bounds[i];
            if (hu_scaling_check(z, NULL) == HU_OK && add(rules, &rule)) return CLI_BAD;
          }
  return CLI_OK;
}

/* Returns a rule of the elements, scales and blocks of a tensor, from which variants go. */
static audit_rule plain_rule(const audit_tensor *x) {
  audit_rule rule = {.program = ""};
  rule.scaling = (hu_scaling){.element = x->element, .scale = x->scale, .rule = HU_SCALE_RATIO};
  rule.scaling.rows = x->block[0] >= x->rows ? 0 : (uint32_t)x->block[0];
  rule.scaling.cols = x->block[1] >= x->cols && !rule.scaling.rows ? 0 : (uint32_t)x->block[1];
  rule.scaling.tensor = x->second ? HU_TENSOR_MAX : HU_TENSOR_NONE;
  rule.scaling.coding = x->twos ? HU_CODING_TWOS : HU_CODING_FORMAT;
  return rule;
}

int audit_rules_varied(audit_rules *rules, const audit_rules *named, const audit_tensor *x) {
  if (!x->known || !x->scaled || x->block[0] > UINT32_MAX || x->block[1] > UINT32_MAX) return CLI_OK;
  audit_rule base = plain_rule(x);
  for (size_t i = 0; i < named->count; i++)
    if (!named->list[i].is_preset && !named->list[i].plain && named->list[i].scaling.rule != HU_SCALE_FORMULAS) {
      base.scaling = named->list[i].scaling;
      break;
    }
  int code = vary_formulas(rules, &base);
  return code == CLI_OK ? vary_rare(rules, &base) : code;
}

int audit_rule_read(audit_rule *rule, const char *text) {
  char *own = strdup(text);
  cli_target target;
  *rule = (audit_rule){.program = ""};
  if (!own) return cli_fail(NULL, "out of memory");
  char *mode = strstr(own, " -r ");
  if (mode) *mode = 0;
  int code = cli_target_read(&target, own);
  int blocks = code == CLI_OK && target.kind == &cli_kind_scaled && !target.by_rows;
  if (code == CLI_OK && !blocks) code = cli_fail(NULL, "'%s' is no scaled format and no preset of one", own);
  if (code == CLI_OK && mode && hu_mode_round_parse(&rule->mode, mode + 4) != HU_OK)
    code = cli_fail(NULL, "'%s' is not one of " HU_ROUND_TEXTS, mode + 4);
  if (code == CLI_OK && rule->mode.round >= HU_SRA) code = cli_fail(NULL, "'%s' is drawn, and no rule", mode + 4);
  if (code == CLI_OK) {
    rule->scaling = target.scaling;
    rule->is_preset = target.has_mode;
    rule->preset = target.conversion;
    if (target.has_mode) rule->mode = target.conversion.mode;
    if (strncmp(own, "scaled(", 7) != 0 && !mode) take_name(rule, own, "");
  }
  free(own);
  return code;
}

/* ---- texts ---- */

static int has_steps(const audit_rule *rule) {
  return rule->is_preset && (is_format(rule->preset.first) || (rule->preset.through && *rule->preset.through) ||
                             rule->preset.codes || rule->preset.operand);
}

const char *audit_rule_keys(char text[AUDIT_RULE_TEXT], const audit_rule *rule) {
  char format[CLI_NAME_MAX], round[8];
  hu_mode mode = rule->mode;
  size_t n = 0;
  if (rule->integers)
    n = (size_t)snprintf(text, AUDIT_RULE_TEXT, "%s", rule->name);
  else if (rule->plain)
    n = (size_t)snprintf(text, AUDIT_RULE_TEXT, "%s", cli_format_name(format, rule->preset.format));
  else
    n = hu_scaling_text(text, AUDIT_RULE_TEXT, &rule->scaling);
  if (mode.round) n += (size_t)snprintf(text + n, AUDIT_RULE_TEXT - n, " -r %s", hu_mode_round_text(round, mode));
  if (is_format(rule->before))
    n += (size_t)snprintf(text + n, AUDIT_RULE_TEXT - n, " after %s", cli_format_name(format, rule->before));
  if (has_steps(rule) || rule->plain) snprintf(text + n, AUDIT_RULE_TEXT - n, " as %s", rule->name);
  return text;
}

const char *audit_rule_text(char text[AUDIT_RULE_TEXT], const audit_rule *rule) {
  char format[CLI_NAME_MAX];
  if (!rule->name[0]) return audit_rule_keys(text, rule);
  int before = is_format(rule->before);
  snprintf(text, AUDIT_RULE_TEXT, "%s%s%s", rule->name, before ? " after " : "",
           before ? cli_format_name(format, rule->before) : "");
  return text;
}

/* ---- how two rules part ---- */

/* Keys in the order of the computation, what they decide, and what they are where they are absent. */
static const struct {
  const char *key, *what, *absent;
} parts[] = {
    {"element", "elements", ""},
    {"scale", "format of the scales", ""},
    {"block", "blocks", ""},
    {"after", "rounding of the values before", "none"},
    {"tensor", "second level", "none"},
    {"S", "formula of the second level, S", "none"},
    {"t", "formula of the second level, t", "none"},
    {"special", "infinities and NaN", "nan"},
    {"amin", "bound of the amax", "none"},
    {"zero", "scale of a block of zeros", "low"},
    {"rule", "formula of the scale", "formulas"},
    {"round", "rounding of the scale", "rne"},
    {"steps", "steps of binary32, by reciprocals or divisions", "exact"},
    {"s", "formula of the scale", "none"},
    {"x", "formula of an element", "none"},
    {"v", "formula of a value", "none"},
    {"minus", "signs of zeros", "kept"},
    {"-r", "rounding of elements", "rne"},
    {"code", "coding of elements", "none"},
    {"as", "steps of the program", "none"},
};
enum { PARTS = sizeof parts / sizeof parts[0], VALUE = 96 };

/* Finds a key between the brackets of scaled(...), where semicolons that no other brackets enclose part keys, and
 * writes its value; "yes" for a key without one, "" where it is absent. */
static void find_key(char z[VALUE], const char *text, const char *key) {
  size_t n = strlen(key);
  z[0] = 0;
  const char *at = text + strlen("scaled("), *last = text + strlen(text) - 1;
  for (int first = 1; at < last; first = 0) {
    const char *end = at;
    for (int depth = 0; end < last && (depth || *end != ';'); end++) depth += (*end == '(') - (*end == ')');
    size_t size = (size_t)(end - at);
    int named = !first && size >= n && !strncmp(at, key, n) && (size == n || at[n] == '=');
    if (first && !strcmp(key, "element")) snprintf(z, VALUE, "%.*s", (int)size, at);
    if (named) snprintf(z, VALUE, "%.*s", size == n ? 3 : (int)(size - n - 1), size == n ? "yes" : at + n + 1);
    at = end + 1;
  }
}

static void value_of(char z[VALUE], const audit_rule *rule, const char *key) {
  char text[AUDIT_RULE_TEXT], round[8], name[CLI_NAME_MAX];
  z[0] = 0;
  if (!strcmp(key, "-r")) {
    snprintf(z, VALUE, "%s", hu_mode_round_text(round, rule->mode));
  } else if (!strcmp(key, "after")) {
    if (is_format(rule->before)) snprintf(z, VALUE, "%s", cli_format_name(name, rule->before));
  } else if (!strcmp(key, "as")) {
    if (has_steps(rule) || rule->plain) snprintf(z, VALUE, "%s", rule->name);
  } else if (!rule->plain && hu_scaling_text(text, sizeof text, &rule->scaling)) {
    find_key(z, text, key);
  }
}

int audit_rules_part(char text[AUDIT_PART_TEXT], const audit_rule *x, const audit_rule *y) {
  char a[AUDIT_RULE_TEXT], b[AUDIT_RULE_TEXT], of_a[VALUE], of_b[VALUE];
  int count = 0;
  text[0] = 0;
  for (int i = 0; i < PARTS; i++) {
    value_of(of_a, x, parts[i].key);
    value_of(of_b, y, parts[i].key);
    if (!strcmp(of_a, of_b)) continue;
    if (!count++)
      snprintf(text, AUDIT_PART_TEXT, "%s: %s, %s", parts[i].what, *of_a ? of_a : parts[i].absent,
               *of_b ? of_b : parts[i].absent);
  }
  if (!count && strcmp(audit_rule_keys(a, x), audit_rule_keys(b, y)) != 0) {
    snprintf(text, AUDIT_PART_TEXT, "a key of the text: %.100s, %.100s", a, b);
    count = 1;
  }
  return count;
}

/* ---- what a rule makes ---- */

int audit_made_alloc(audit_made *made, size_t elements, size_t blocks) {
  *made = (audit_made){.elements = elements, .blocks = blocks};
  made->codes = cli_alloc(elements, 1);
  made->scales = cli_alloc(blocks, sizeof *made->scales);
  made->biases = cli_alloc(blocks, sizeof *made->biases);
  made->scale_codes = cli_alloc(blocks, sizeof *made->scale_codes);
  made->work = cli_alloc(blocks, sizeof(uint32_t));
  if (made->codes && made->scales && made->biases && made->scale_codes && made->work) return CLI_OK;
  audit_made_free(made);
  return CLI_BAD;
}

void audit_made_free(audit_made *made) {
  free(made->codes);
  free(made->scales);
  free(made->biases);
  free(made->scale_codes);
  free(made->work);
  memset(made, 0, sizeof *made);
}

static void take_scales(audit_made *made, hu_format format, size_t count, size_t bytes) {
  for (size_t i = 0; i < count; i++) {
    made->scale_codes[i] = bytes == 1   ? ((const uint8_t *)made->work)[i]
                           : bytes == 2 ? ((const uint16_t *)made->work)[i]
                                        : ((const uint32_t *)made->work)[i];
    made->scales[i] = hu_decode(format, made->scale_codes[i]);
  }
}

/* Makes rows of whole blocks of integers: scales and biases as the dtype of both holds them. */
static int apply_integers(audit_made *made, const audit_rule *rule, size_t rows, size_t cols, const float *x) {
  hu_format scale = rule->scaling.scale, type = rule->integers == 2 ? hu_binary32() : scale;
  size_t side = rule->scaling.cols, blocks = rows * (cols / side);
  if (cols % side || blocks > made->blocks || rows * cols > made->elements) return 0;
  made->across = cols / side;
  for (size_t i = 0; i < blocks; i++) {
    const uint32_t *from = (const uint32_t *)(const void *)(x + i * side);
    hui_factor factor = hui_integers_round(rule->integers == 2, type, side, from, made->codes + i * side);
    made->scale_codes[i] = hu_convert(scale, (hu_mode){0}, hu_binary32(), factor.stored, 0, NULL);
    made->scales[i] = hu_decode(scale, made->scale_codes[i]);
    made->biases[i] = hu_decode(scale, hu_convert(scale, (hu_mode){0}, hu_binary32(), factor.bias, 0, NULL));
  }
  return 1;
}

int audit_rule_apply(audit_made *made, const audit_rule *rule, size_t rows, size_t cols, float *x, const float *amax) {
  const hu_scaling *scaling = &rule->scaling;
  float bound = amax ? *amax : 0;
  if (is_format(rule->before)) {
    if (hu_quantize_n(rows * cols, x, 1, x, 1, rule->before, (hu_mode){0}, NULL, NULL) != HU_OK) return 0;
    bound = hu_quantize(rule->before, (hu_mode){0}, bound, 0, NULL);
  }
  made->second = 1;
  if (made->blocks) memset(made->biases, 0, made->blocks * sizeof *made->biases);
  if (rule->integers) return apply_integers(made, rule, rows, cols, x);
  if (rule->plain) return hu_conversion_encode_n(rows * cols, made->codes, 1, x, 1, &rule->preset, NULL, NULL) == HU_OK;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, scaling);
  size_t blocks = sizes.block_rows * sizes.block_cols;
  hu_scaled z = {made->codes, cols, made->work, sizes.block_cols, scaling->tensor ? &made->second : NULL};
  const float *given = scaling->tensor || (!scaling->rows && !scaling->cols) ? amax ? &bound : NULL : NULL;
  if (sizes.code_bytes != 1 || blocks > made->blocks || rows * cols > made->elements) return 0;
  made->across = sizes.block_cols;
  hu_status status = rule->is_preset
                         ? hu_conversion_scaled_encode(rows, cols, &z, x, cols, &rule->preset, given, NULL, NULL, NULL)
                         : hu_scaled_encode(rows, cols, &z, x, cols, scaling, rule->mode, given, NULL, NULL, NULL);
  if (status == HU_OK) take_scales(made, scaling->scale, blocks, sizes.scale_bytes);
  return status == HU_OK;
}
