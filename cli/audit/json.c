/* SPDX-License-Identifier: MIT */
/* An audit as JSON: see report.h; docs/json.md has the fields. */
#include <math.h>
#include <stdlib.h>

#include "cli/audit/report.h"

static void print_rules(FILE *out, const audit_rules *rules) {
  char text[AUDIT_RULE_TEXT];
  fputc('[', out);
  for (size_t i = 0; i < rules->count; i++) {
    const audit_rule *rule = &rules->list[i];
    cli_json(out, "?{'rule': ?, ", cli_comma(i == 0), JSON(audit_rule_text(text, rule)));
    cli_json(out, "'text': ?, 'program': ?}", JSON(audit_rule_keys(text, rule)), JSON(rule->program));
  }
  fputc(']', out);
}

static void print_side(FILE *out, const audit_tensor *x, const audit_followed *by, const cli_causes *split) {
  char text[AUDIT_RULE_TEXT], name[CLI_NAME_MAX];
  if (!x) {
    fputs("null", out);
    return;
  }
  cli_json(out, "{'layout': ?, 'elements': ?, 'scales': ?, ", JSON(x->layout),
           JSON(x->found || !x->quantized ? x->elements : cli_format_name(name, x->element)),
           JSON(x->scaled ? cli_format_name(text, x->scale) : NULL));
  cli_json(out, "'block': [?, ?], 'causes': ?", JSON(x->block[0]), JSON(x->block[1]), cli_causes_value(split));
  if (by->known) {
    cli_json(out, ", 'order': ?, 'given_amax': ?, 'rules': ", JSON(audit_orders[by->order]),
             cli_known(by->given ? (double)by->amax : NAN));
    print_rules(out, &by->rules);
    if (!by->rules.count && by->missed.all_codes)
      cli_json(out, ", 'nearest': {'rule': ?, 'codes': ?, 'of_codes': ?, 'scales': ?, 'of_scales': ?}",
               JSON(audit_rule_text(text, &by->nearest)), JSON(by->missed.codes), JSON(by->missed.all_codes),
               JSON(by->missed.scales), JSON(by->missed.all_scales));
  }
  fputc('}', out);
}

static void print_pair(FILE *out, const audit_pair *pair) {
  char text[AUDIT_SENTENCE];
  static const char *const sides[2] = {"a", "b"};
  cli_json(out, "{'name': ?, 'verdict': ?, 'says': ?, 'part': ?, ", JSON(pair->name),
           JSON(audit_verdicts[pair->verdict]), JSON(audit_sentence(text, pair)), JSON(pair->part));
  cli_json(out, "'from': ?, 'values': ?, ", JSON(pair->verdict == AUDIT_MADE ? sides[pair->from] : NULL),
           JSON(pair->values));
  if (pair->counted)
    cli_json(out, "'scales': {'differ': ?, 'of': ?}, 'codes': {'differ': ?, 'of': ?}, ", JSON(pair->counts.scales),
             JSON(pair->counts.all_scales), JSON(pair->counts.codes), JSON(pair->counts.all_codes));
  cli_json(out, "'block': ?, 'a': ", audit_shown_value(&pair->shown));
  print_side(out, pair->x[0], &pair->by[0], &pair->causes[0]);
  fputs(", \"b\": ", out);
  print_side(out, pair->x[1], &pair->by[1], &pair->causes[1]);
  fputc('}', out);
}

void audit_json(FILE *out, const audit_result *result) {
  cli_json(out, "{'a': ?, 'b': ?, 'source': ?, 'holds': ?, 'pairs': [", JSON(result->path[0]), JSON(result->path[1]),
           JSON(result->source), cli_truth(audit_holds(result)));
  for (size_t i = 0; i < result->count; i++) {
    if (i) fputs(", ", out);
    print_pair(out, &result->pairs[i]);
  }
  fputc(']', out);
  if (result->which) {
    size_t count;
    char(*common)[AUDIT_RULE_TEXT] = audit_common(result, &count);
    fputs(", \"rules\": [", out);
    for (size_t i = 0; i < count; i++) cli_json(out, "??", cli_comma(i == 0), JSON(common[i]));
    fputc(']', out);
    free(common);
  }
  fputs("}\n", out);
}
