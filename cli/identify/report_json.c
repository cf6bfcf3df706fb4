/* SPDX-License-Identifier: MIT */
/* The report as one JSON object. */
#include <stdlib.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/identify/report.h"

static void put_string(FILE *out, const char *key, const char *value) {
  fprintf(out, ", \"%s\": ", key);
  cli_json_string(out, value);
}

static void put_answer(FILE *out, const id_shape *shape, const char *key, uint64_t answer) {
  fprintf(out, ", \"%s\": ", key);
  cli_json_code(out, (int)(hu_element_width(shape->result) + 3) / 4, answer, id_value(shape->result, answer));
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
  fputs("    {\"key\": ", out);
  cli_json_string(out, id_axis_key(decision->axis));
  put_string(out, "meaning", id_axis_meaning(decision->axis));
  id_axis_text(&search->space, decision->axis, &result->model, decision->value, value, sizeof value);
  put_string(out, "value", value);
  put_string(out, "verdict", words[decision->verdict]);
  fprintf(out, ", \"tried\": %zu, \"open\": %zu", decision->tried, decision->open);
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
  for (int i = 0; i < names->count; i++) {
    if (i) fputs(", ", out);
    cli_json_string(out, names->equal[i]);
  }
  fputs("],\n  \"other_presets\": [", out);
  for (int i = 0; i < names->other_count; i++) {
    const id_other *other = &names->others[i];
    fputs(i ? ",\n    {\"preset\": " : "\n    {\"preset\": ", out);
    cli_json_string(out, other->name);
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
  if (result->verdict == ID_FOUND || result->verdict == ID_NEAREST)
    put_string(out, "model", id_model_text(search, &result->model, text));
  if (result->verdict == ID_ORDERED) {
    put_string(out, "products", result->fused ? "fused" : "rounded");
    put_string(out, "sums", sums[result->sum]);
  }
  if (result->verdict != ID_FOUND) return;
  put_string(out, "sums", id_is_wide(&search->space) ? "binary32" : "model");
  id_confidence(result, confidence, sizeof confidence);
  put_string(out, "confidence", confidence);
  put_names(out, &search->box->shape, &result->names);
  fputs(",\n  \"parameters\": [\n", out);
  for (int i = 0; i < result->decisions.count; i++) {
    put_decision(out, search, result, &result->decisions.of[i]);
    fputs(i + 1 < result->decisions.count ? ",\n" : "\n", out);
  }
  fputs("  ]", out);
}

void id_print_json(FILE *out, const id_search *search, const id_result *result) {
  const id_shape *shape = &search->box->shape;
  char name[CLI_NAME_MAX];
  fputs("{\"verdict\": ", out);
  cli_json_string(out, id_verdict_word(result));
  put_string(out, "a", cli_element_name(name, shape->a));
  put_string(out, "b", cli_element_name(name, shape->b));
  put_string(out, "d", cli_element_name(name, shape->result));
  fprintf(out, ", \"k\": %u", shape->n);
  if (result->verdict < ID_NOISY) put_printed(out, "tree", NULL, &result->tree);
  put_model(out, search, result);
  if (result->failing.count) {
    put_printed(out, "failing", &result->failing, NULL);
    put_answer(out, shape, "box", id_get(&result->failing, ID_D, 0, 0));
    if (result->verdict != ID_CONSTANT) put_answer(out, shape, "other", result->other);
  }
  fprintf(out, ",\n  \"questions\": %llu, \"verified\": %llu, \"probes\": %llu, \"asked\": %llu, \"seconds\": ",
          (unsigned long long)result->questions, (unsigned long long)result->verified,
          (unsigned long long)result->probes, (unsigned long long)search->box->asked);
  cli_json_double(out, result->seconds);
  fputs("}\n", out);
}
