/* SPDX-License-Identifier: MIT */
/* See identify.h. */
#include "cli/identify/identify.h"

#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/identify/tell.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void id_result_free(id_result *z) {
  id_decisions_free(&z->decisions);
  id_tree_free(&z->tree);
  id_vectors_free(&z->failing);
  id_names_free(&z->names);
}

/* Keeps row `row` of v, on which the box fails the result; `other` is what it should be. */
static int put_failing(id_result *z, const id_vectors *v, size_t row, uint64_t other) {
  z->failing.count = 0;
  if (id_vectors_grow(&z->failing, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_vectors_copy(&z->failing, 0, v, row);
  z->other = other;
  return CLI_OK;
}

/* ---- is it a function at all ---- */

enum { HEALTH_ROWS = 128 };

static int is_constant(const id_vectors *v) {
  for (size_t i = 1; i < v->count; i++)
    if (!id_same(v->shape, id_get(v, ID_D, 0, 0), id_get(v, ID_D, i, 0))) return 0;
  return 1;
}

/* Asks the questions of v again, the last first. */
static int ask_again(id_search *s, const id_vectors *v, id_result *z) {
  id_vectors w;
  int status = CLI_OK;
  id_vectors_start(&w, v->shape);
  if (id_vectors_grow(&w, v->count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < v->count; i++) id_vectors_copy(&w, i, v, v->count - 1 - i);
  status = id_ask(s->box, &w, 0, w.count);
  for (size_t i = 0; i < w.count && status == CLI_OK; i++) {
    uint64_t first = id_get(v, ID_D, v->count - 1 - i, 0), second = id_get(&w, ID_D, i, 0);
    if (first == second) continue;
    z->verdict = ID_NOISY;
    status = put_failing(z, v, v->count - 1 - i, second);
    break;
  }
  id_vectors_free(&w);
  return status;
}

static int look_at_health(id_search *s, id_result *z) {
  id_vectors v;
  id_vectors_start(&v, &s->box->shape);
  if (id_vectors_grow(&v, HEALTH_ROWS) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_draw(&v, 0, HEALTH_ROWS / 2, ID_DRAW_ONE, &s->random);
  id_draw(&v, HEALTH_ROWS / 2, HEALTH_ROWS / 2, ID_DRAW_MANY, &s->random);
  int status = id_ask(s->box, &v, 0, HEALTH_ROWS);
  if (status == CLI_OK && is_constant(&v)) {
    z->verdict = ID_CONSTANT;
    status = put_failing(z, &v, 0, 0);
  }
  if (status == CLI_OK && z->verdict != ID_CONSTANT) status = ask_again(s, &v, z);
  id_vectors_free(&v);
  return status;
}

/* ---- verification ---- */

enum { BATCH = 1024, MENDINGS = 6 };

/* Asks drawn questions of all kinds; *failed: one was added to those asked that the model does not give. */
static int verify_drawn(id_search *s, const hu_accum *model, uint64_t wanted, uint64_t *done, int *failed) {
  id_vectors v;
  int status = CLI_OK, kind = 0;
  *done = 0;
  *failed = 0;
  s->box->doing = "verification";
  id_vectors_start(&v, &s->box->shape);
  if (id_vectors_grow(&v, BATCH) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  while (*done < wanted && status == CLI_OK && !*failed) {
    size_t rows = wanted - *done < BATCH ? (size_t)(wanted - *done) : BATCH;
    id_draw(&v, 0, rows, kind++ % ID_DRAW_KINDS, &s->random);
    status = id_ask(s->box, &v, 0, rows);
    if (status != CLI_OK) break;
    size_t row = id_first_difference(model, &v, 0, rows);
    *done += row;
    if (row == rows) continue;
    *failed = 1;
    size_t at = id_vectors_grow(&s->asked, 1);
    if (at == SIZE_MAX) status = cli_fail(NULL, "not enough memory");
    if (status == CLI_OK) id_vectors_copy(&s->asked, at, &v, row);
  }
  id_vectors_free(&v);
  return status;
}

static int verify(id_search *s, const id_settings *t, id_result *z) {
  int status = CLI_OK;
  for (int i = 0; i < MENDINGS && status == CLI_OK && s->set.count; i++) {
    int failed = 0;
    id_decisions_free(&z->decisions);
    status = id_decide(s, &z->decisions);
    if (status != CLI_OK || !s->set.count) break;
    z->model = s->set.x[0];
    z->questions = s->box->asked;
    status = verify_drawn(s, &z->model, t->verify, &z->verified, &failed);
    if (status == CLI_OK && !failed) status = id_ask_probes(s, t->golden, &z->model, &z->probes, &failed);
    if (status == CLI_OK && !failed) status = id_find_names(s, &z->model, &z->names, &failed);
    if (status != CLI_OK || !failed) break;
    if (s->log) fprintf(s->log, "verification: an answer is another one after %llu\n", (unsigned long long)z->verified);
    hu_accum refuted = z->model;
    status = id_mend(s, &refuted, &z->model);
  }
  return status;
}

/* ---- where no model is ---- */

typedef struct failing {
  id_search *s;
  const hu_accum *model;
  int status;
} failing;

/* Returns 1 if the box still contradicts the model on row 0. */
static int still_fails(void *context, id_vectors *v) {
  failing *f = context;
  if (f->status != CLI_OK) return 0;
  f->status = id_ask(f->s->box, v, 0, 1);
  return f->status == CLI_OK && id_first_difference(f->model, v, 0, 1) == 0;
}

static int shorten_failing(id_search *s, id_result *z) {
  failing f = {s, &z->model, CLI_OK};
  size_t row = id_first_difference(&z->model, &s->asked, 0, s->asked.count);
  if (row == s->asked.count) return CLI_OK;
  int status = put_failing(z, &s->asked, row, 0);
  if (status != CLI_OK) return status;
  id_shorten(&z->failing, still_fails, &f);
  if (f.status == CLI_OK) f.status = id_ask(s->box, &z->failing, 0, 1);
  uint64_t d[1] = {0};
  if (id_compute(&z->model, &z->failing, 0, 1, d) == HU_OK) memcpy(&z->other, d, id_column_size(&s->box->shape, ID_D));
  return f.status;
}

/* Compares two answers. Zeros of either sign are one here: an accumulator that starts from +0 is not seen in a tree. */
static int near_enough(const id_shape *shape, uint64_t x, uint64_t y) {
  return id_same(shape, x, y) || (id_value(shape->d, x) == 0 && id_value(shape->d, y) == 0);
}

/* Tries the sums along the tree on drawn questions; each with products rounded first (even) and not (odd). */
static int follow_tree(id_search *s, const id_settings *t, id_result *z) {
  enum { WAYS = 2 * ID_SUMS };
  id_vectors v;
  int possible[WAYS], left = 0, status = CLI_OK, way = 0;
  uint64_t done = 0;
  for (way = 0; way < WAYS; way++) left += possible[way] = id_sum_is_possible(&z->tree, &s->box->shape, way / 2);
  if (!left) return CLI_OK;
  id_vectors_start(&v, &s->box->shape);
  if (id_vectors_grow(&v, BATCH) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  while (done < t->verify && status == CLI_OK && left) {
    id_draw(&v, 0, BATCH, done / BATCH % 2 ? ID_DRAW_MANY : ID_DRAW_FEW, &s->random);
    status = id_ask(s->box, &v, 0, BATCH);
    for (size_t i = 0; i < BATCH && status == CLI_OK; i++) {
      for (way = 0; way < WAYS; way++) {
        uint64_t d = id_get(&v, ID_D, i, 0);
        if (!possible[way] || near_enough(v.shape, d, id_sum_along(&z->tree, &v, i, way / 2, way & 1))) continue;
        possible[way] = 0;
        left--;
      }
    }
    done += BATCH;
  }
  id_vectors_free(&v);
  way = 0;
  while (way < WAYS && !possible[way]) way++;
  if (status != CLI_OK || way == WAYS) return status;
  z->verdict = ID_ORDERED;
  z->fused = way & 1;
  z->sum = way / 2;
  z->verified = done;
  return status;
}

static int settle_for_less(id_search *s, const id_settings *t, id_result *z) {
  id_set bases = {0};
  z->verdict = ID_NEAREST;
  int status = follow_tree(s, t, z);
  if (status != CLI_OK || z->verdict == ID_ORDERED) return status;
  if (s->has_nearest) {
    z->model = s->nearest;
  } else {
    hu_accum all[ID_BASES_MOST];
    for (size_t i = 0, count = id_bases(&s->space, 0, all); i < count; i++) (void)id_set_add(&bases, &all[i]);
    (void)id_repair(s, &bases, &z->model);
    id_set_free(&bases);
  }
  return shorten_failing(s, z);
}

/* ---- all of it ---- */

static void note_nan(id_search *s, id_result *z) {
  for (size_t i = 0; i < s->asked.count && !z->nan; i++) {
    uint64_t d = id_get(&s->asked, ID_D, i, 0);
    if (id_is_nan(&s->box->shape, d)) z->nan = d;
  }
}

enum { TREE_MOST = 256 };

static int identify(id_search *s, const id_settings *t, id_result *z) {
  int status = look_at_health(s, z);
  if (status != CLI_OK || z->verdict >= ID_NOISY) return status;
  if (s->box->shape.n <= TREE_MOST) status = id_tree_find(s, &z->tree);
  if (s->log && status == CLI_OK) {
    fprintf(s->log, "order of the sum: ");
    id_tree_print(s->log, &z->tree);
    fputc('\n', s->log);
  }
  if (status == CLI_OK) status = id_find(s);
  int found = s->set.count > 0;
  if (status == CLI_OK) status = verify(s, t, z);
  if (status == CLI_OK && found && !s->set.count) { /* what verification has found is known from the start now */
    if (s->log) fputs("the stages again, with the answers that verification has added:\n", s->log);
    status = id_find_again(s);
    if (status == CLI_OK) status = verify(s, t, z);
  }
  for (int i = 0; i < 2 && status == CLI_OK && !s->set.count; i++) { /* sums of parts, and then wider ones */
    status = id_find_more(s);
    if (status == CLI_OK) status = verify(s, t, z);
  }
  if (status != CLI_OK) return status;
  if (!s->set.count) z->questions = s->box->asked;
  if (!s->set.count) return settle_for_less(s, t, z);
  z->verdict = ID_FOUND;
  z->model = s->set.x[0];
  z->candidates = s->set.count;
  note_nan(s, z);
  return ask_again(s, &s->asked, z);
}

int id_identify(id_search *s, const id_settings *t, id_result *z) {
  double start = now();
  memset(z, 0, sizeof *z);
  z->tree.root = -1;
  id_vectors_start(&z->failing, &s->box->shape);
  int status = identify(s, t, z);
  z->seconds = now() - start;
  return status;
}
