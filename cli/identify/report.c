/* SPDX-License-Identifier: MIT */
/* The report in words. */
#include "cli/identify/report.h"

#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/base/numbers.h"

const char *id_model_text(const id_search *search, const hu_accum *model, char text[HU_ACCUM_TEXT_MAX]) {
  hu_accum accum = id_simplest(&search->space, *model);
  text[0] = 0;
  hu_accum_text(text, HU_ACCUM_TEXT_MAX, &accum);
  return text;
}

const char *id_verdict_word(const id_result *result) {
  static const char *const words[] = {"found", "order", "nearest", "stopped", "noisy", "constant"};
  return words[result->verdict];
}

void id_confidence(const id_result *result, char *text, size_t size) {
  snprintf(text, size, "it gave all %llu answers of the search, %llu drawn ones and %llu golden probes",
           (unsigned long long)result->questions, (unsigned long long)result->verified,
           (unsigned long long)result->probes);
}

void id_print_answer(FILE *out, const id_shape *shape, uint64_t answer) {
  char value[NUMBER_TEXT_MAX];
  fprintf(out, "%0*llx = %s", (int)(hu_type_width(shape->result) + 3) / 4, (unsigned long long)answer,
          number_decimal(value, id_value(shape->result, answer)));
}

static void print_shape(FILE *out, const id_shape *shape) {
  char a[CLI_NAME_MAX], b[CLI_NAME_MAX], result[CLI_NAME_MAX];
  fprintf(out, "A %s, B %s, C and D %s, K = %u%s%s\n", cli_element_name(a, shape->a), cli_element_name(b, shape->b),
          cli_element_name(result, shape->result), shape->n, shape->without_c ? ", without C" : "",
          shape->low[0] || shape->low[1] ? "; tf32 is patterns of binary32 whose 13 low digits are 0" : "");
}

/* Prints the question, what the box said and what the other said. */
static void print_case(FILE *out, const id_shape *shape, const id_vectors *questions, uint64_t other, const char *who) {
  fputs("    ", out);
  id_vectors_print(out, questions, 0);
  fputs("\n    the box: ", out);
  id_print_answer(out, shape, id_get(questions, ID_D, 0, 0));
  fprintf(out, "; %s: ", who);
  id_print_answer(out, shape, other);
  fputc('\n', out);
}

static void print_decision(FILE *out, const id_search *search, const id_result *result, const id_decision *decision) {
  char value[64], other[96];
  id_axis_text(&search->space, decision->axis, &result->model, decision->value, value, sizeof value);
  fprintf(out, "  %-6s %-10s %s: ", id_axis_key(decision->axis), value, id_axis_meaning(decision->axis));
  if (decision->verdict == ID_DECIDED) {
    fprintf(out, "decided; each of %zu other values is ruled out\n", decision->tried);
  } else if (decision->verdict == ID_PARTLY) {
    id_axis_text(&search->space, decision->axis, &result->model, decision->first_open, other, sizeof other);
    fprintf(out, "%zu of %zu other values give every answer as well, %s among them\n", decision->open, decision->tried,
            other);
  } else {
    fprintf(out, "not seen; no answer depends on it\n");
  }
  if (!decision->evidence.count) return;
  id_axis_text(&search->space, decision->axis, &result->model, decision->nearest, other, sizeof other);
  size_t length = strlen(other);
  snprintf(other + length, sizeof other - length, " would give");
  print_case(out, &search->box->shape, &decision->evidence, decision->other, other);
}

static void print_names(FILE *out, const id_names *names) {
  if (!names->count) {
    fputs("no preset gives all of these answers\n", out);
    return;
  }
  fputs("presets that give every answer as well:", out);
  for (int i = 0; i < names->count; i++) fprintf(out, "%s %s", i ? "," : "", names->equal[i]);
  fputc('\n', out);
}

static void print_others(FILE *out, const id_shape *shape, const id_names *names) {
  if (names->other_count)
    fputs("other presets of these formats, each with a question on which it differs (A B C):\n", out);
  for (int i = 0; i < names->other_count; i++) {
    const id_other *other = &names->others[i];
    char gives[64];
    snprintf(gives, sizeof gives, "%s gives", other->name);
    fprintf(out, "  %s\n", other->name);
    print_case(out, shape, &other->question, other->gives, gives);
  }
}

const char id_wide_words[] = "its sums are binary32, and the last one is rounded once more, to nearest, into D";

static void print_found(FILE *out, const id_search *search, const id_result *result) {
  char text[HU_ACCUM_TEXT_MAX], confidence[200];
  id_confidence(result, confidence, sizeof confidence);
  fprintf(out, "model: %s\n", id_model_text(search, &result->model, text));
  if (id_is_wide(&search->space)) fprintf(out, "%s\n", id_wide_words);
  fprintf(out, "%s\n", confidence);
  print_names(out, &result->names);
  if (result->nan) {
    fputs("NaN is ", out);
    id_print_answer(out, &search->box->shape, result->nan);
    fputs(", which the format of D says, not the model\n", out);
  }
  fputs("parameters, each with the question that decides it (A B C):\n", out);
  for (int i = 0; i < result->decisions.count; i++) print_decision(out, search, result, &result->decisions.of[i]);
  print_others(out, &search->box->shape, &result->names);
}

static void print_nearest(FILE *out, const id_search *search, const id_result *result) {
  char text[HU_ACCUM_TEXT_MAX];
  fprintf(
      out,
      "no model of this language gives all answers\nnearest: %s, which gives %zu of the %zu answers of the search\n",
      id_model_text(search, &result->model, text), id_score(&result->model, &search->asked), search->asked.count);
  if (result->checked)
    fprintf(out, "it differs in %llu of %llu drawn questions (%.3g %%)\n", (unsigned long long)result->differs,
            (unsigned long long)result->checked, 100 * (double)result->differs / (double)result->checked);
  if (!result->failing.count) return;
  fputs("the shortest question of each kind on which it fails (A B C):\n", out);
  for (int i = 0; i < ID_KINDS; i++) {
    const id_failure *failure = &result->failures[i];
    if (!failure->question.count) continue;
    fprintf(out, "  %s, %llu of those drawn:\n", id_kind_words[i], (unsigned long long)failure->count);
    print_case(out, &search->box->shape, &failure->question, failure->gives, "the nearest model");
  }
}

static void print_unfinished(FILE *out, const id_search *search, const id_result *result) {
  char text[HU_ACCUM_TEXT_MAX];
  fputs("stopped before the search had ended\n", out);
  if (result->candidates) fprintf(out, "%zu models of those tried so far give all answers; ", result->candidates);
  if (result->has_model)
    fprintf(out, "%s gives %zu of the %zu answers of the search\n", id_model_text(search, &result->model, text),
            id_score(&result->model, &search->asked), search->asked.count);
}

void id_print_text(FILE *out, const id_search *search, const id_result *result) {
  print_shape(out, &search->box->shape);
  if (result->notes && result->verdict != ID_NOISY) fputs(result->notes, out);
  if (result->verdict == ID_NOISY) {
    fputs("noisy: the box gave two answers to one question, which no model does\n", out);
    print_case(out, &search->box->shape, &result->failing, result->other, "the second time");
    return;
  }
  if (result->verdict == ID_CONSTANT) {
    fputs("the box gives one answer to every question: ", out);
    id_print_answer(out, &search->box->shape, id_get(&result->failing, ID_D, 0, 0));
    fputs("; are its formats those of --fa, --fb and --fd?\n", out);
    return;
  }
  fputs("order of the sum: ", out);
  id_tree_print(out, &result->tree);
  fputc('\n', out);
  if (result->verdict == ID_FOUND) print_found(out, search, result);
  if (result->verdict == ID_ORDERED && result->sum == ID_SUM_LOOP)
    fprintf(out,
            "a loop in binary64, k ascending, rounded once into D, gave all %llu drawn answers (signs of zeros aside), "
            "with products %s\n",
            (unsigned long long)result->verified, result->fused ? "not rounded" : "rounded into D's format");
  if (result->verdict == ID_ORDERED && result->sum != ID_SUM_LOOP)
    fprintf(out,
            "no model text says this order; additions along the tree, each rounded to nearest, ties to even%s, gave "
            "all %llu drawn answers (signs of zeros aside), with products %s\n",
            result->sum == ID_SUM_WIDE ? ", in binary32, and the last one into D" : "",
            (unsigned long long)result->verified,
            result->fused ? "fused into the addition that takes them" : "rounded first");
  if (result->verdict == ID_NEAREST) print_nearest(out, search, result);
  if (result->verdict == ID_UNFINISHED) print_unfinished(out, search, result);
  fprintf(out, "%llu questions before the verification, %llu in all, %.1f seconds\n",
          (unsigned long long)result->questions, (unsigned long long)search->box->asked, result->seconds);
}
