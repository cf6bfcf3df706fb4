/* SPDX-License-Identifier: MIT */
/* The report as one JSON object. */
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/identify/report.h"

static void put_string(FILE *out, const char *key, const char *value) {
  cli_json(out, ", ?: ?", JSON(key), JSON(value));
}

static void put_answer(FILE *out, const id_shape *shape, const char *key, uint64_t answer) {
  int digits = (int)(hu_type_width(shape->result) + 3) / 4;
  cli_json(out, ", ?: {?}", JSON(key), cli_code(digits, answer, id_value(shape->result, answer)));
}

/* Writes a field with the text that `print` writes. */
static void put_printed(FILE *out, const char *key, const id_vectors *questions, const id_tree *tree) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to && questions) id_vectors_print(to, questions, 0);
  if (to && tree) id_tree_print(to, tree);
  if (to) fclose(to);
  put_string(out, key, text ? text : "");
  free(text);
}

static void put_decision(FILE *out, const id_search *search, const id_result *result, const id_decision *decision) {
  static const char *const words[] = {"decided", "partly", "open"};
  char value[64];
  id_axis_text(&search->space, decision->axis, &result->model, decision->value, value, sizeof value);
  cli_json(out, "    {'key': ?, 'meaning': ?, 'value': ?, 'verdict': ?, 'tried': ?, 'open': ?",
           JSON(id_axis_key(decision->axis)), JSON(id_axis_meaning(decision->axis)), JSON(value),
           JSON(words[decision->verdict]), JSON(decision->tried), JSON(decision->open));
  if (decision->evidence.count) {
    id_axis_text(&search->space, decision->axis, &result->model, decision->nearest, value, sizeof value);
    put_string(out, "other", value);
    put_printed(out, "question", &decision->evidence, NULL);
    put_answer(out, &search->box->shape, "box", id_get(&decision->evidence, ID_D, 0, 0));
    put_answer(out, &search->box->shape, "other_gives", decision->other);
  }
  fputc('}', out);
}

static void put_names(FILE *out, const id_shape *shape, const id_names *names) {
  fputs(",\n  \"presets\": [", out);
  for (int i = 0; i < names->count; i++) cli_json(out, "??", cli_comma(i == 0), JSON(names->equal[i]));
  fputs("],\n  \"other_presets\": [", out);
  for (int i = 0; i < names->other_count; i++) {
    const id_other *other = &names->others[i];
    cli_json(out, "?\n    {'preset': ?", cli_plain(i ? "," : ""), JSON(other->name));
    put_printed(out, "question", &other->question, NULL);
    put_answer(out, shape, "box", id_get(&other->question, ID_D, 0, 0));
    put_answer(out, shape, "other_gives", other->gives);
    fputc('}', out);
  }
  fputc(']', out);
}

static void put_model(FILE *out, const id_search *search, const id_result *result) {
  static const char *const sums[ID_SUMS] = {"tree", "binary32", "binary64"};
  char text[HU_ACCUM_TEXT_MAX], confidence[200];
  if (result->verdict == ID_FOUND || result->verdict == ID_NEAREST || result->has_model)
    put_string(out, "model", id_model_text(search, &result->model, text));
  if (result->verdict == ID_ORDERED)
    cli_json(out, ", 'products': ?, 'sums': ?", JSON(result->fused ? "fused" : "rounded"), JSON(sums[result->sum]));
  if (result->verdict != ID_FOUND) return;
  id_confidence(result, confidence, sizeof confidence);
  cli_json(out, ", 'sums': ?, 'confidence': ?", JSON(id_is_wide(&search->space) ? "binary32" : "model"),
           JSON(confidence));
  put_names(out, &search->box->shape, &result->names);
  fputs(",\n  \"parameters\": [\n", out);
  for (int i = 0; i < result->decisions.count; i++) {
    put_decision(out, search, result, &result->decisions.of[i]);
    fputs(i + 1 < result->decisions.count ? ",\n" : "\n", out);
  }
  fputs("  ]", out);
}

/* Writes the lines as an array. */
static void put_notes(FILE *out, const char *text) {
  fputs(", \"notes\": [", out);
  for (int i = 0; *text; i++) {
    char line[512];
    size_t length = strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    cli_json(out, "??", cli_comma(i == 0), JSON(line));
    text += length + (text[length] == '\n');
  }
  fputc(']', out);
}

/* Writes how far the nearest model is, and the shortest question of each kind on which it fails. */
static void put_failures(FILE *out, const id_shape *shape, const id_result *result) {
  int count = 0;
  cli_json(out, ",\n  'checked': ?, 'differs': ?, 'failures': [", JSON(result->checked), JSON(result->differs));
  for (int i = 0; i < ID_KINDS; i++) {
    const id_failure *failure = &result->failures[i];
    if (!failure->question.count) continue;
    cli_json(out, "?\n    {'kind': ?, 'drawn': ?", cli_plain(count++ ? "," : ""), JSON(id_kind_words[i]),
             JSON(failure->count));
    put_printed(out, "question", &failure->question, NULL);
    put_answer(out, shape, "box", id_get(&failure->question, ID_D, 0, 0));
    put_answer(out, shape, "model_gives", failure->gives);
    fputc('}', out);
  }
  fputc(']', out);
}

void id_print_json(FILE *out, const id_search *search, const id_result *result) {
  const id_shape *shape = &search->box->shape;
  char name[3][CLI_NAME_MAX];
  cli_json(out, "{'verdict': ?, 'a': ?, 'b': ?, 'd': ?, 'k': ?", JSON(id_verdict_word(result)),
           JSON(cli_element_name(name[0], shape->a)), JSON(cli_element_name(name[1], shape->b)),
           JSON(cli_element_name(name[2], shape->result)), JSON(shape->n));
  if (result->verdict < ID_NOISY) put_printed(out, "tree", NULL, &result->tree);
  put_model(out, search, result);
  put_notes(out, result->notes ? result->notes : "");
  if (result->verdict == ID_NEAREST) put_failures(out, shape, result);
  if (result->failing.count) {
    put_printed(out, "failing", &result->failing, NULL);
    put_answer(out, shape, "box", id_get(&result->failing, ID_D, 0, 0));
    if (result->verdict != ID_CONSTANT) put_answer(out, shape, "other", result->other);
  }
  cli_json(out, ",\n  'questions': ?, 'verified': ?, 'probes': ?, 'asked': ?, 'seconds': ?}\n", JSON(result->questions),
           JSON(result->verified), JSON(result->probes), JSON(search->box->asked), JSON(result->seconds));
}
