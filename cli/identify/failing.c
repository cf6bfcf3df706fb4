/* SPDX-License-Identifier: MIT */
/* See failing.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/identify/distinguish.h"
#include "cli/identify/failing.h"
#include "cli/question/operand.h"

const char *const id_kind_words[ID_KINDS] = {"with an infinity or a NaN", "with a subnormal number",
                                             "where a sum is zero", "where the exact sum is a tie",
                                             "of normal numbers alone"};

int id_put_failing(id_result *result, const id_vectors *questions, size_t row, uint64_t other) {
  result->failing.count = 0;
  if (id_vectors_grow(&result->failing, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_vectors_copy(&result->failing, 0, questions, row);
  result->other = other;
  return CLI_OK;
}

/* ---- kinds of questions ---- */

static int is_special(const id_operand *operand, uint64_t x) {
  return !operand->integer && (x & ~operand->sign) > operand->max;
}

static int is_subnormal(const id_operand *operand, uint64_t x) {
  uint64_t magnitude = x & ~operand->sign;
  return !operand->integer && operand->first && magnitude && magnitude >> operand->digits == 0;
}

typedef int is_a(const id_operand *operand, uint64_t x);

/* Returns 1 if an operand of the row, its answer or what the model gives is one. */
static int has_any(const id_vectors *questions, size_t row, uint64_t gives, is_a *is) {
  id_operand a = id_operand_of(questions->shape->a), b = id_operand_of(questions->shape->b),
             result = id_operand_of(questions->shape->result);
  int any = is(&result, id_get(questions, ID_C, row, 0)) || is(&result, id_get(questions, ID_D, row, 0)) ||
            is(&result, gives);
  for (size_t k = 0; k < questions->shape->n && !any; k++)
    any = is(&a, id_get(questions, ID_A, row, k)) || is(&b, id_get(questions, ID_B, row, k));
  return any;
}

/* Returns 1 if the exact sum lies halfway between two numbers of D: ties away and ties to zero differ there alone. */
static int is_tie(const id_vectors *questions, size_t row) {
  static const uint8_t modes[2] = {HU_RNA, HU_RNZ};
  uint64_t z[2] = {0};
  hu_accum exact;
  memset(&exact, 0, sizeof exact);
  for (int i = 0; i < 2; i++)
    if (id_compute_rounded(&exact, questions, row, 1, modes[i], &z[i]) != HU_OK) return 0;
  return z[0] != z[1];
}

static int kind_of(const id_vectors *questions, size_t row, uint64_t gives) {
  hu_type result = questions->shape->result;
  if (has_any(questions, row, gives, is_special)) return ID_KIND_SPECIAL;
  if (has_any(questions, row, gives, is_subnormal)) return ID_KIND_SUBNORMAL;
  if (id_value(result, gives) == 0 || id_value(result, id_get(questions, ID_D, row, 0)) == 0) return ID_KIND_ZERO;
  return is_tie(questions, row) ? ID_KIND_TIE : ID_KIND_NORMAL;
}

/* ---- the shortest of a kind ---- */

typedef struct failing {
  id_search *search;
  const hu_accum *model;
  int kind, status;
} failing;

/* Returns what the model gives for a row, the box's answer where it takes no such operands. */
static uint64_t given(const hu_accum *model, const id_vectors *questions, size_t row) {
  uint64_t z = 0;
  return id_compute(model, questions, row, 1, &z) == HU_OK ? z : id_get(questions, ID_D, row, 0);
}

/* Returns 1 if the box still contradicts the model on row 0, by a question of the same kind. */
static int still_fails(void *context, id_vectors *questions) {
  failing *failure = context;
  if (failure->status != CLI_OK) return 0;
  failure->status = id_ask(failure->search->box, questions, 0, 1);
  if (failure->status != CLI_OK) return 0;
  uint64_t gives = given(failure->model, questions, 0);
  return !id_same(questions->shape, gives, id_get(questions, ID_D, 0, 0)) &&
         kind_of(questions, 0, gives) == failure->kind;
}

/* Keeps a row as that of its kind if it is the first or has fewer products. */
static int keep(id_result *result, const id_vectors *questions, size_t row, uint64_t gives, int drawn) {
  id_failure *failure = &result->failures[kind_of(questions, row, gives)];
  failure->count += (uint64_t)drawn;
  if (failure->question.count && id_terms(questions, row) >= id_terms(&failure->question, 0)) return CLI_OK;
  failure->question.shape = questions->shape;
  failure->question.count = 0;
  if (id_vectors_grow(&failure->question, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_vectors_copy(&failure->question, 0, questions, row);
  failure->gives = gives;
  return CLI_OK;
}

/* Keeps the rows that the model fails; *count becomes their number. */
static int keep_all(id_result *result, const id_vectors *questions, int drawn, uint64_t *count) {
  int status = CLI_OK;
  for (size_t row = 0; status == CLI_OK; row++) {
    row = id_first_difference(&result->model, questions, row, questions->count);
    if (row == questions->count) break;
    ++*count;
    status = keep(result, questions, row, given(&result->model, questions, row), drawn);
  }
  return status;
}

static int shorten(id_search *search, id_result *result, int kind) {
  id_failure *failure = &result->failures[kind];
  failing attempt = {search, &result->model, kind, CLI_OK};
  id_shorten(&failure->question, still_fails, &attempt);
  if (attempt.status == CLI_OK) attempt.status = id_ask(search->box, &failure->question, 0, 1);
  failure->gives = given(&result->model, &failure->question, 0);
  return attempt.status;
}

static int draw_and_keep(id_search *search, uint64_t count, id_result *result) {
  id_vectors questions;
  int status = CLI_OK, kind = 0;
  size_t most = id_rows_at_once(search->box);
  id_vectors_start(&questions, &search->box->shape);
  while (result->checked < count && status == CLI_OK) {
    size_t rows = count - result->checked < most ? (size_t)(count - result->checked) : most;
    questions.count = 0;
    if (id_vectors_grow(&questions, rows) == SIZE_MAX) status = cli_fail(NULL, "not enough memory");
    if (status != CLI_OK) break;
    id_draw(&questions, 0, rows, kind++ % ID_DRAW_KINDS, &search->random);
    status = id_ask(search->box, &questions, 0, rows);
    if (status == CLI_OK) result->checked += rows;
    if (status == CLI_OK) status = keep_all(result, &questions, 1, &result->differs);
  }
  id_vectors_free(&questions);
  return status;
}

int id_check_nearest(id_search *search, uint64_t count, id_result *result) {
  uint64_t others = 0;
  search->box->doing = "how far the nearest model is";
  int status = draw_and_keep(search, count, result), shortest = -1;
  if (status == CLI_OK || status == ID_STOPPED) status = keep_all(result, &search->asked, 0, &others);
  for (int kind = 0; kind < ID_KINDS && status == CLI_OK; kind++) {
    id_failure *failure = &result->failures[kind];
    if (!failure->question.count) continue;
    status = shorten(search, result, kind);
    if (shortest < 0 || id_terms(&failure->question, 0) < id_terms(&result->failures[shortest].question, 0))
      shortest = kind;
  }
  if (status == ID_STOPPED) status = CLI_OK;
  if (shortest < 0 || status != CLI_OK) return status;
  return id_put_failing(result, &result->failures[shortest].question, 0, result->failures[shortest].gives);
}
