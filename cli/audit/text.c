/* SPDX-License-Identifier: MIT */
/* An audit as text: see report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/report.h"
#include "cli/base/numbers.h"

enum { VARIANTS = 8 };
static const char *const sides[2] = {"A", "B"};

int audit_holds(const audit_result *result) {
  return result->verdicts[AUDIT_EQUAL] + result->verdicts[AUDIT_MADE] == result->count;
}

const char *audit_what(char text[AUDIT_SENTENCE], const audit_tensor *x) {
  char scale[CLI_NAME_MAX];
  size_t n = 0;
  if (!x->quantized) return snprintf(text, AUDIT_SENTENCE, "values, %s", x->elements), text;
  n = (size_t)snprintf(text, AUDIT_SENTENCE, "%s, ", x->layout);
  if (x->elements[0] && x->found)
    n += (size_t)snprintf(text + n, AUDIT_SENTENCE - n, "%s", x->elements);
  else
    n += (size_t)snprintf(text + n, AUDIT_SENTENCE - n, "%s", cli_format_name(scale, x->element));
  if (x->scaled)
    snprintf(text + n, AUDIT_SENTENCE - n, ", scales %s, blocks of %zux%zu%s", cli_format_name(scale, x->scale),
             x->block[0], x->block[1],
             x->second > 0   ? ", a scale of the tensor"
             : x->second < 0 ? ", a scale of the tensor that divides"
                             : "");
  return text;
}

const char *audit_rules_texts(char text[AUDIT_RULES_TEXT], const audit_followed *by, size_t most) {
  char one[AUDIT_RULE_TEXT];
  size_t n = 0;
  text[0] = 0;
  if (!by->known) return text;
  if (!by->rules.count) {
    if (by->missed.all_codes)
      snprintf(text, AUDIT_RULES_TEXT,
               "no known rule; the nearest is %s: %llu of the first %llu codes and %llu of %llu scales are others%s",
               audit_rule_text(one, &by->nearest), (unsigned long long)by->missed.codes,
               (unsigned long long)by->missed.all_codes, (unsigned long long)by->missed.scales,
               (unsigned long long)by->missed.all_scales,
               by->missed.seconds ? ", and the second level is another" : "");
    else
      snprintf(text, AUDIT_RULES_TEXT, "no known rule has these elements, scales and blocks");
    return text;
  }
  for (size_t i = 0; i < by->rules.count && i < most && n < AUDIT_RULES_TEXT - AUDIT_RULE_TEXT - 128; i++)
    n += (size_t)snprintf(text + n, AUDIT_RULES_TEXT - n, "%s%s", i ? ", " : "",
                          audit_rule_text(one, &by->rules.list[i]));
  if (by->rules.count > most)
    n += (size_t)snprintf(text + n, AUDIT_RULES_TEXT - n, " and %zu more", by->rules.count - most);
  if (by->given) {
    char amax[NUMBER_TEXT_MAX];
    n += (size_t)snprintf(text + n, AUDIT_RULES_TEXT - n, " with the amax %s of other tensors, too",
                          number_decimal(amax, (double)by->amax));
  }
  if (by->order != AUDIT_IN_ORDER) snprintf(text + n, AUDIT_RULES_TEXT - n, "; %s", audit_orders[by->order]);
  return text;
}

const char *audit_sentence(char text[AUDIT_SENTENCE], const audit_pair *pair) {
  char a[AUDIT_RULE_TEXT], b[AUDIT_RULE_TEXT];
  const audit_followed *by = pair->by;
  switch (pair->verdict) {
    case AUDIT_EQUAL: snprintf(text, AUDIT_SENTENCE, "equal"); break;
    case AUDIT_MADE:
      if (pair->part[0])
        snprintf(text, AUDIT_SENTENCE, "%s is %s, %s", sides[!pair->from], sides[pair->from], pair->part);
      else
        snprintf(text, AUDIT_SENTENCE, "%s is what %s makes of the values of %s", sides[!pair->from],
                 audit_rule_text(a, &by[!pair->from].rules.list[0]), sides[pair->from]);
      break;
    case AUDIT_ARRANGED: snprintf(text, AUDIT_SENTENCE, "the same in another order: %s", pair->part); break;
    case AUDIT_VALUES: snprintf(text, AUDIT_SENTENCE, "other codes of equal values"); break;
    case AUDIT_PARTED:
      snprintf(text, AUDIT_SENTENCE, "parts on the %s (A follows %.400s, B %.400s)", pair->part,
               audit_rule_text(a, &by[0].rules.list[pair->chosen[0]]),
               audit_rule_text(b, &by[1].rules.list[pair->chosen[1]]));
      break;
    case AUDIT_FORMATS: snprintf(text, AUDIT_SENTENCE, "other formats: %s", pair->part); break;
    case AUDIT_LONE: snprintf(text, AUDIT_SENTENCE, "only in %s", sides[!pair->x[0]]); break;
    default:
      snprintf(text, AUDIT_SENTENCE, "different%s%s%s", pair->part[0] ? ": " : ", not explained by one known rule",
               pair->part,
               pair->source || !pair->x[0]->quantized || !pair->x[1]->quantized
                   ? ""
                   : "; --source would say by which rules");
  }
  return text;
}

static void print_side(FILE *out, const audit_pair *pair, int k) {
  char text[AUDIT_SENTENCE], rules[AUDIT_RULES_TEXT];
  const audit_tensor *x = pair->x[k];
  if (!x) return;
  fprintf(out, "  %s: %s\n", sides[k], audit_what(text, x));
  audit_rules_texts(rules, &pair->by[k], 8);
  if (rules[0]) fprintf(out, "     rules: %s\n", rules);
  const cli_causes *split = &pair->causes[k];
  if (!split->count) return;
  fprintf(
      out,
      "     SQNR %.2f dB; of the noise scales %.2f %%, dead zone %.2f %%, saturation %.2f %%, grid %.2f %%; bias of "
      "the mean %s\n",
      split->noise > 0 ? 10 * log10(split->signal / split->noise) : HUGE_VAL,
      100 * cli_causes_share(split, split->scale_noise), 100 * cli_causes_share(split, split->dead_noise),
      100 * cli_causes_share(split, split->saturated_noise), 100 * cli_causes_share(split, split->grid_noise),
      ROUNDED(cli_causes_bias(split), 4));
}

void audit_print_pair(FILE *out, const audit_pair *pair) {
  static const char *const rule_names[2] = {"its code", "the rule"};
  char shown[ST_NAME_MAX], text[AUDIT_SENTENCE];
  const audit_counts *counts = &pair->counts;
  fprintf(out, "%s: %s\n", st_printable(shown, pair->name), audit_sentence(text, pair));
  if (pair->verdict == AUDIT_EQUAL || (pair->verdict == AUDIT_MADE && pair->part[0]) || pair->verdict == AUDIT_LONE)
    return;
  for (int k = 0; k < 2; k++) print_side(out, pair, k);
  if (pair->counted && pair->verdict != AUDIT_MADE) {
    fprintf(out, "  %llu of %llu scales, %llu of %llu codes and %llu of %zu values differ\n",
            (unsigned long long)counts->scales, (unsigned long long)counts->all_scales,
            (unsigned long long)counts->codes, (unsigned long long)counts->all_codes, (unsigned long long)pair->values,
            pair->x[0]->count);
  } else if (pair->values) {
    fprintf(out, "  %llu of %zu values differ\n", (unsigned long long)pair->values, pair->x[0]->count);
  }
  if (!pair->shown.there || pair->verdict == AUDIT_MADE || pair->verdict == AUDIT_VALUES) return;
  fprintf(out, "  block (%zu, %zu)", pair->shown.p, pair->shown.q);
  if (pair->x[0]->matrices > 1) fprintf(out, " of matrix %zu", pair->shown.matrix);
  fprintf(out, "%s:\n", pair->verdict == AUDIT_PARTED ? ", what is enough of it" : "");
  int one = !pair->x[0]->quantized || !pair->x[1]->quantized;
  const audit_tensor *x[2] = {pair->x[0]->quantized ? pair->x[0] : pair->x[1],
                              pair->x[1]->quantized ? pair->x[1] : pair->x[0]};
  audit_print_block(out, "    ", &pair->shown, x, one ? rule_names : sides);
}

char (*audit_common(const audit_result *result, size_t *count))[AUDIT_RULE_TEXT] {
  char(*list)[AUDIT_RULE_TEXT] = NULL, text[AUDIT_RULE_TEXT];
  int started = 0;
  *count = 0;
  for (size_t i = 0; i < result->count; i++) {
    const audit_pair *pair = &result->pairs[i];
    const audit_followed *by = &pair->by[1];
    if (!pair->x[1] || !pair->x[1]->quantized || !by->known) continue;
    if (!started) {
      list = cli_alloc(by->rules.count, sizeof *list);
      for (size_t k = 0; list && k < by->rules.count; k++) audit_rule_text(list[(*count)++], &by->rules.list[k]);
      started = 1;
      continue;
    }
    size_t left = 0;
    for (size_t k = 0; k < *count; k++) {
      int found = 0;
      for (size_t n = 0; n < by->rules.count && !found; n++)
        found = !strcmp(audit_rule_text(text, &by->rules.list[n]), list[k]);
      if (found && left++ != k) memcpy(list[left - 1], list[k], sizeof *list);
    }
    *count = left;
  }
  return list;
}

void audit_print_end(FILE *out, const audit_result *result) {
  const char *between = "";
  fprintf(out, "%zu tensor%s: ", result->count, result->count == 1 ? "" : "s");
  for (int i = 0; i < AUDIT_VERDICTS; i++) {
    if (!result->verdicts[i]) continue;
    fprintf(out, "%s%llu %s", between, (unsigned long long)result->verdicts[i], audit_verdicts[i]);
    between = ", ";
  }
  fputc('\n', out);
  if (!result->which) return;
  size_t count;
  char(*common)[AUDIT_RULE_TEXT] = audit_common(result, &count);
  fprintf(out, "rules of all tensors in codes:%s\n", count ? "" : " none");
  size_t shown = 0, named = 0;
  while (named < count && strncmp(common[named], "scaled(", 7) != 0) named++;
  for (; shown < count && shown < named + VARIANTS; shown++) fprintf(out, "  %s\n", common[shown]);
  if (shown < count)
    fprintf(out, "  and %zu more that differ from these in no block here; --json has them\n", count - shown);
  free(common);
}
