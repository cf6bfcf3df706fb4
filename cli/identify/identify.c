/* SPDX-License-Identifier: MIT */
/* See identify.h. */
#include "cli/identify/identify.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/identify/failing.h"
#include "cli/identify/first.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void id_result_free(id_result *result) {
  id_decisions_free(&result->decisions);
  id_tree_free(&result->tree);
  id_vectors_free(&result->failing);
  id_names_free(&result->names);
  for (int i = 0; i < ID_KINDS; i++)
    if (result->failures[i].question.shape) id_vectors_free(&result->failures[i].question);
  free(result->notes);
}

/* ---- is it a function at all ---- */

enum { HEALTH_ROWS = 128 };

/* Asks the questions again, the last first. */
static int ask_again(id_search *search, const id_vectors *questions, id_result *result) {
  id_vectors again;
  int status = CLI_OK;
  id_vectors_start(&again, questions->shape);
  if (id_vectors_grow(&again, questions->count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < questions->count; i++) id_vectors_copy(&again, i, questions, questions->count - 1 - i);
  status = id_ask(search->box, &again, 0, again.count);
  for (size_t i = 0; i < again.count && status == CLI_OK; i++) {
    uint64_t first = id_get(questions, ID_D, questions->count - 1 - i, 0), second = id_get(&again, ID_D, i, 0);
    if (first == second) continue;
    result->verdict = ID_NOISY;
    status = id_put_failing(result, questions, questions->count - 1 - i, second);
    break;
  }
  id_vectors_free(&again);
  return status;
}

static int look_at_health(id_search *search, id_result *result) {
  id_vectors questions;
  id_vectors_start(&questions, &search->box->shape);
  if (id_vectors_grow(&questions, HEALTH_ROWS) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_draw(&questions, 0, HEALTH_ROWS / 2, ID_DRAW_ONE, &search->random);
  id_draw(&questions, HEALTH_ROWS / 2, HEALTH_ROWS / 2, ID_DRAW_MANY, &search->random);
  int status = id_ask(search->box, &questions, 0, HEALTH_ROWS);
  if (status == CLI_OK) status = ask_again(search, &questions, result);
  id_vectors_free(&questions);
  return status;
}

/* ---- verification ---- */

enum { MENDINGS = 6 };

/* Asks drawn questions of all kinds; *failed: one was added to those asked that the model does not give. */
static int verify_drawn(id_search *search, const hu_accum *model, uint64_t count, uint64_t *done, int *failed) {
  id_vectors questions;
  int status = CLI_OK, kind = 0;
  size_t most = id_rows_at_once(search->box);
  *done = 0;
  *failed = 0;
  search->box->doing = "verification";
  id_vectors_start(&questions, &search->box->shape);
  if (id_vectors_grow(&questions, most) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  while (*done < count && status == CLI_OK && !*failed) {
    size_t rows = count - *done < most ? (size_t)(count - *done) : most;
    id_draw(&questions, 0, rows, kind++ % ID_DRAW_KINDS, &search->random);
    status = id_ask(search->box, &questions, 0, rows);
    if (status != CLI_OK) break;
    size_t row = id_first_difference(model, &questions, 0, rows);
    *done += row;
    if (row == rows) continue;
    *failed = 1;
    size_t at = id_vectors_grow(&search->asked, 1);
    if (at == SIZE_MAX) status = cli_fail(NULL, "not enough memory");
    if (status == CLI_OK) id_vectors_copy(&search->asked, at, &questions, row);
  }
  id_vectors_free(&questions);
  return status;
}

static int verify(id_search *search, const id_settings *settings, id_result *result) {
  int status = CLI_OK;
  for (int i = 0; i < MENDINGS && status == CLI_OK && search->set.count; i++) {
    int failed = 0;
    id_decisions_free(&result->decisions);
    status = id_decide(search, &result->decisions);
    if (status != CLI_OK || !search->set.count) break;
    result->model = search->set.x[0];
    result->questions = search->box->asked;
    status = verify_drawn(search, &result->model, settings->verify, &result->verified, &failed);
    if (status == CLI_OK && !failed)
      status = id_ask_probes(search, settings->golden, &result->model, &result->probes, &failed);
    if (status == CLI_OK && !failed) status = id_find_names(search, &result->model, &result->names, &failed);
    if (status != CLI_OK || !failed) break;
    if (search->log)
      fprintf(search->log, "verification: an answer is another one after %llu\n", (unsigned long long)result->verified);
    hu_accum refuted = result->model;
    status = id_mend(search, &refuted, &result->model);
  }
  return status;
}

/* ---- where no model is ---- */

/* Compares two answers. Zeros of either sign are one here: an accumulator that starts from +0 is not seen in a tree. */
static int near_enough(const id_shape *shape, uint64_t x, uint64_t y) {
  return id_same(shape, x, y) || (id_value(shape->result, x) == 0 && id_value(shape->result, y) == 0);
}

/* Tries the sums along the tree on drawn questions; each with products rounded first (even) and not (odd). */
static int follow_tree(id_search *search, const id_settings *settings, id_result *result) {
  enum { SUMS = 2 * ID_SUMS };
  id_vectors questions;
  int possible[SUMS], left = 0, status = CLI_OK, kind = 0;
  uint64_t done = 0;
  size_t most = id_rows_at_once(search->box);
  for (kind = 0; kind < SUMS; kind++)
    left += possible[kind] = id_sum_is_possible(&result->tree, &search->box->shape, kind / 2);
  if (!left) return CLI_OK;
  id_vectors_start(&questions, &search->box->shape);
  if (id_vectors_grow(&questions, most) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  while (done < settings->verify && status == CLI_OK && left) {
    id_draw(&questions, 0, most, done / most % 2 ? ID_DRAW_MANY : ID_DRAW_FEW, &search->random);
    status = id_ask(search->box, &questions, 0, most);
    for (size_t i = 0; i < most && status == CLI_OK; i++) {
      for (kind = 0; kind < SUMS; kind++) {
        uint64_t answer = id_get(&questions, ID_D, i, 0);
        if (!possible[kind] ||
            near_enough(questions.shape, answer, id_sum_along(&result->tree, &questions, i, kind / 2, kind & 1)))
          continue;
        possible[kind] = 0;
        left--;
      }
    }
    done += most;
  }
  id_vectors_free(&questions);
  kind = 0;
  while (kind < SUMS && !possible[kind]) kind++;
  if (status != CLI_OK || kind == SUMS) return status;
  result->verdict = ID_ORDERED;
  result->fused = kind & 1;
  result->sum = kind / 2;
  result->verified = done;
  return status;
}

static int settle_for_less(id_search *search, const id_settings *settings, id_result *result) {
  id_set bases = {0};
  result->verdict = ID_NEAREST;
  int status = follow_tree(search, settings, result);
  if (status != CLI_OK || result->verdict == ID_ORDERED) return status;
  if (search->has_nearest) {
    result->model = search->nearest;
  } else {
    hu_accum all[ID_BASES_MOST];
    for (size_t i = 0, count = id_bases(&search->space, 0, all); i < count; i++) (void)id_set_add(&bases, &all[i]);
    (void)id_repair(search, &bases, &result->model);
    id_set_free(&bases);
  }
  return id_check_nearest(search, settings->verify, result);
}

/* ---- all of it ---- */

static void note_nan(id_search *search, id_result *result) {
  for (size_t i = 0; i < search->asked.count && !result->nan; i++) {
    uint64_t answer = id_get(&search->asked, ID_D, i, 0);
    if (id_is_nan(&search->box->shape, answer)) result->nan = answer;
  }
}

enum { TREE_MOST = 256 };

static int identify(id_search *search, const id_settings *settings, id_result *result) {
  int status = id_look_first(search, result);
  if (status == CLI_OK && result->verdict < ID_NOISY) status = look_at_health(search, result);
  if (status != CLI_OK || result->verdict >= ID_NOISY) return status;
  if (search->box->shape.n <= TREE_MOST) status = id_tree_find(search, &result->tree);
  if (search->log && status == CLI_OK) {
    fprintf(search->log, "order of the sum: ");
    id_tree_print(search->log, &result->tree);
    fputc('\n', search->log);
  }
  search->space.length = id_tree_step(&result->tree);
  if (status == CLI_OK) status = id_find(search);
  int found = search->set.count > 0;
  if (status == CLI_OK) status = verify(search, settings, result);
  if (status == CLI_OK && found && !search->set.count) { /* what verification has found is known from the start now */
    if (search->log) fputs("the stages again, with the answers that verification has added:\n", search->log);
    status = id_find_again(search);
    if (status == CLI_OK) status = verify(search, settings, result);
  }
  for (int i = 0; i < 2 && status == CLI_OK && !search->set.count; i++) { /* sums of parts, and then wider ones */
    status = id_find_more(search);
    if (status == CLI_OK) status = verify(search, settings, result);
  }
  if (status != CLI_OK) return status;
  if (!search->set.count) result->questions = search->box->asked;
  if (!search->set.count) return settle_for_less(search, settings, result);
  result->verdict = ID_FOUND;
  result->model = search->set.x[0];
  result->candidates = search->set.count;
  note_nan(search, result);
  return ask_again(search, &search->asked, result);
}

/* Returns the candidate that gives most answers, of the first ones. */
static const hu_accum *best_of(const id_search *search) {
  enum { LOOKED_AT = 128 };
  size_t best = 0, most = 0;
  for (size_t i = 0; i < search->set.count && i < LOOKED_AT; i++) {
    size_t score = id_score(&search->set.x[i], &search->asked);
    if (score < most) continue;
    most = score;
    best = i;
  }
  return &search->set.x[best];
}

/* Takes what is known where a search was stopped. */
static void take_unfinished(const id_search *search, id_result *result) {
  if (result->verdict == ID_NEAREST) return;
  result->verdict = ID_UNFINISHED;
  result->questions = search->box->asked;
  result->candidates = search->set.count;
  result->has_model = search->set.count || search->has_nearest;
  if (search->set.count) result->model = *best_of(search);
  if (!search->set.count && search->has_nearest) result->model = search->nearest;
}

int id_identify(id_search *search, const id_settings *settings, id_result *result) {
  double start = now();
  memset(result, 0, sizeof *result);
  result->tree.root = -1;
  result->tree.why = id_tree_stopped;
  id_vectors_start(&result->failing, &search->box->shape);
  int status = identify(search, settings, result);
  if (status == ID_STOPPED) {
    take_unfinished(search, result);
    status = CLI_OK;
  }
  result->seconds = now() - start;
  return status;
}
