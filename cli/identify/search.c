/* SPDX-License-Identifier: MIT */
/* A stage of the search: candidates are sampled, questions are chosen that split the sample, then all candidates are
 * listed and split until no question distinguishes two of them. */
#include "cli/identify/search.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/question/operand.h"

int id_set_add(id_set *set, const hu_accum *x) {
  if (set->count == set->room) {
    size_t room = set->room ? 2 * set->room : 64;
    hu_accum *larger = realloc(set->x, room * sizeof *larger);
    if (!larger) return 0;
    set->x = larger;
    set->room = room;
  }
  set->x[set->count++] = *x;
  return 1;
}

void id_set_free(id_set *set) {
  free(set->x);
  memset(set, 0, sizeof *set);
}

void id_search_start(id_search *s, id_box *box, uint64_t seed, FILE *log) {
  memset(s, 0, sizeof *s);
  s->box = box;
  s->space = id_space_of(&box->shape);
  s->random.state = seed;
  s->log = log;
  id_vectors_start(&s->asked, &box->shape);
  id_vectors_start(&s->plain, &box->shape);
  id_vectors_start(&s->later, &box->shape);
}

void id_search_free(id_search *s) {
  id_vectors_free(&s->plain);
  id_vectors_free(&s->asked);
  id_vectors_free(&s->later);
  id_set_free(&s->set);
}

/* ---- questions and answers ---- */

void id_progress(id_box *box) {
  if (progress_due(&box->told))
    cli_note("identify: %s: %llu questions so far", box->doing ? box->doing : "the search",
             (unsigned long long)box->asked);
}

int id_ask(id_box *box, id_vectors *v, size_t first, size_t count) {
  const void *at[ID_COLUMNS];
  void *d = NULL;
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = id_column_length(v->shape, i) * id_column_size(v->shape, i);
    at[i] = bytes ? (const char *)v->column[i] + first * bytes : NULL;
    if (i == ID_D) d = (char *)v->column[i] + first * bytes;
  }
  box->asked += count;
  id_progress(box);
  int status = count ? box->answer(box->context, count, at[ID_A], at[ID_B], at[ID_C], at[ID_SA], at[ID_SB], d) : CLI_OK;
  id_progress(box);
  return status;
}

int id_ask_rows(id_search *s, const id_vectors *v, size_t first, size_t count) {
  size_t at = id_vectors_grow(&s->asked, count);
  if (at == SIZE_MAX) return s->status = cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < count; i++) id_vectors_copy(&s->asked, at + i, v, first + i);
  return s->status = id_ask(s->box, &s->asked, at, count);
}

int id_take_later(id_search *s) {
  size_t at = id_vectors_grow(&s->asked, s->later.count);
  if (at == SIZE_MAX) return s->status = cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < s->later.count; i++) id_vectors_copy(&s->asked, at + i, &s->later, i);
  id_vectors_free(&s->later);
  return CLI_OK;
}

int id_ask_drawn(id_search *s, size_t count, int kind) {
  size_t at = id_vectors_grow(&s->asked, count);
  if (at == SIZE_MAX) return s->status = cli_fail(NULL, "not enough memory");
  id_draw(&s->asked, at, count, kind, &s->random);
  return s->status = id_ask(s->box, &s->asked, at, count);
}

/* Returns a zero of D without its sign, any other pattern as it is. */
static uint64_t zero_without_sign(const id_operand *d, uint64_t x) { return x == d->sign ? 0 : x; }

/* Returns 1 if the box's answer in this row and the model's are zeros. */
static int both_are_zero(const id_search *s, const hu_accum *x, size_t row) {
  id_operand d = id_operand_of(s->box->shape.d);
  size_t size = id_column_size(&s->box->shape, ID_D);
  uint64_t box = 0, model = 0;
  memcpy(&box, (const char *)s->asked.column[ID_D] + row * size, size);
  return zero_without_sign(&d, box) == 0 && id_compute(x, &s->asked, row, 1, &model) == HU_OK &&
         zero_without_sign(&d, model) == 0;
}

int id_agrees(id_search *s, const hu_accum *x) {
  id_progress(s->box);
  size_t row = id_first_difference(x, &s->asked, 0, s->asked.count);
  while (s->zeros_alike && row < s->asked.count && both_are_zero(s, x, row))
    row = id_first_difference(x, &s->asked, row + 1, s->asked.count);
  if (row == s->asked.count) return 1;
  id_vectors_swap(&s->asked, row, row / 2);
  return 0;
}

void id_filter(id_search *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->set.count; i++)
    if (id_agrees(s, &s->set.x[i])) s->set.x[kept++] = s->set.x[i];
  s->set.count = kept;
}

/* ---- the question that splits a sample best ---- */

enum { SAMPLE = 48, POOL = 64, PICKS = 8 };

typedef struct sample {
  hu_accum x[SAMPLE];
  size_t count;
} sample;

typedef struct table {
  id_vectors pool;
  uint64_t answer[SAMPLE][POOL];
  int group[SAMPLE]; /* those between which no question picked so far distinguishes */
  int groups;
} table;

static void fill_answers(table *t, const sample *m, int zeros_alike) {
  id_operand d = id_operand_of(t->pool.shape->d);
  uint64_t z[POOL];
  size_t size = id_column_size(t->pool.shape, ID_D);
  for (size_t i = 0; i < m->count; i++) {
    memset(z, 0, sizeof z);
    if (id_compute(&m->x[i], &t->pool, 0, POOL, z) != HU_OK) memset(z, 0xA5, sizeof z);
    for (size_t j = 0; j < POOL; j++) {
      uint64_t x = 0;
      memcpy(&x, (const char *)z + j * size, size);
      t->answer[i][j] = id_is_nan(t->pool.shape, x) ? UINT64_MAX : zeros_alike ? zero_without_sign(&d, x) : x;
    }
  }
}

/* Counts the groups that there would be after question j; with `into` they become those. */
static int split_groups(const table *t, size_t count, size_t j, int *into) {
  int first[SAMPLE], groups = 0, of[SAMPLE];
  for (size_t i = 0; i < count; i++) {
    int g = 0;
    while (g < groups && (t->group[first[g]] != t->group[i] || t->answer[first[g]][j] != t->answer[i][j])) g++;
    if (g == groups) first[groups++] = (int)i;
    of[i] = g;
  }
  if (into) memcpy(into, of, count * sizeof of[0]);
  return groups;
}

/* Asks up to PICKS questions that split the sample; *picked says how many. */
static int ask_best(id_search *s, const sample *m, int kind, size_t *picked) {
  static table t;
  int status = CLI_OK;
  *picked = 0;
  id_vectors_start(&t.pool, &s->box->shape);
  if (id_vectors_grow(&t.pool, POOL) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_draw(&t.pool, 0, POOL, kind, &s->random);
  fill_answers(&t, m, s->zeros_alike);
  memset(t.group, 0, sizeof t.group);
  t.groups = 1;
  while (*picked < PICKS && status == CLI_OK) {
    size_t best = 0;
    int most = t.groups;
    for (size_t j = 0; j < POOL; j++) {
      int groups = split_groups(&t, m->count, j, NULL);
      if (groups <= most) continue;
      most = groups;
      best = j;
    }
    if (most == t.groups) break;
    t.groups = split_groups(&t, m->count, best, t.group);
    status = id_ask_rows(s, &t.pool, best, 1);
    ++*picked;
  }
  id_vectors_free(&t.pool);
  return status;
}

/* ---- candidates along axes ---- */

static void draw_values(id_search *s, const int *axes, hu_accum *x) {
  static int values[ID_VALUES_MOST];
  for (; *axes >= 0; axes++) {
    size_t count = id_axis_values(&s->space, *axes, x, values);
    id_axis_set(&s->space, *axes, x, values[id_random_below(&s->random, count)]);
  }
}

enum { TRIES = 4000 };

/* Draws candidates that agree. */
static void draw_sample(id_search *s, const int *axes, sample *m) {
  m->count = 0;
  for (int i = 0; i < TRIES && m->count < SAMPLE; i++) {
    hu_accum x = s->set.x[id_random_below(&s->random, s->set.count)];
    draw_values(s, axes, &x);
    if (id_agrees(s, &x)) m->x[m->count++] = x;
  }
}

/* Takes a sample from a list: all of it where it fits. */
static void take_sample(id_search *s, sample *m) {
  m->count = 0;
  for (size_t i = 0; i < SAMPLE && i < s->set.count; i++) {
    size_t at = s->set.count <= SAMPLE ? i : (size_t)id_random_below(&s->random, s->set.count);
    m->x[m->count++] = s->set.x[at];
  }
}

static int expand(id_search *s, const int *axes, hu_accum x, id_set *into) {
  if (*axes < 0) return !id_agrees(s, &x) || id_set_add(into, &x);
  int *values = malloc(ID_VALUES_MOST * sizeof *values), fine = values != NULL;
  size_t count = fine ? id_axis_values(&s->space, *axes, &x, values) : 0;
  for (size_t i = 0; i < count && fine; i++) {
    id_axis_set(&s->space, *axes, &x, values[i]);
    fine = expand(s, axes + 1, x, into);
  }
  free(values);
  return fine;
}

static int expand_all(id_search *s, const int *axes) {
  id_set into = {0};
  int fine = 1;
  for (size_t i = 0; i < s->set.count && fine; i++) fine = expand(s, axes, s->set.x[i], &into);
  id_set_free(&s->set);
  s->set = into;
  return fine ? CLI_OK : cli_fail(NULL, "not enough memory for the candidates");
}

/* ---- a stage ---- */

static int count_kinds(const int *kinds) {
  int n = 0;
  while (kinds[n] >= 0) n++;
  return n;
}

/* What no question has distinguished is likely the same; of very many some are kept. */
enum { KEPT = 128 };

/* Rounds that distinguish nothing before the stage ends, for each kind: more while there are more than will be kept,
 * since the one that is right may be among those that go. */
enum { DRAWN_ROUNDS = 12, QUIET_ROUNDS = 4, QUIET_ROUNDS_OF_MANY = 48, LISTED_ROUNDS = 400 };

static int is_quiet(const id_search *s, int rounds, int kinds) {
  return rounds >= kinds * (s->set.count > KEPT ? QUIET_ROUNDS_OF_MANY : QUIET_ROUNDS);
}

static int ask_for_drawn(id_search *s, const id_stage *t) {
  static sample m;
  int kinds = count_kinds(t->kinds), status = CLI_OK;
  for (int i = 0; i < DRAWN_ROUNDS && status == CLI_OK; i++) {
    size_t picked;
    draw_sample(s, t->axes, &m);
    if (m.count < 2) break;
    status = ask_best(s, &m, t->kinds[i % kinds], &picked);
  }
  return status;
}

static int ask_for_listed(id_search *s, const id_stage *t) {
  static sample m;
  int kinds = count_kinds(t->kinds), quiet = 0, status = CLI_OK;
  for (int i = 0; i < LISTED_ROUNDS && !is_quiet(s, quiet, kinds) && s->set.count > 1 && status == CLI_OK; i++) {
    size_t picked;
    take_sample(s, &m);
    status = ask_best(s, &m, t->kinds[i % kinds], &picked);
    quiet = picked ? 0 : quiet + 1;
    if (picked) id_filter(s);
  }
  return status;
}

static void thin(id_search *s) {
  size_t simple = 0;
  if (s->set.count <= KEPT) return;
  /* The simplest come first, and half of what is kept are these. */
  for (int most = 0; simple < KEPT / 2 && most < 32; most++) {
    for (size_t i = simple; i < s->set.count && simple < KEPT / 2; i++) {
      if (id_complexity(&s->space, &s->set.x[i]) > most) continue;
      hu_accum x = s->set.x[i];
      s->set.x[i] = s->set.x[simple];
      s->set.x[simple++] = x;
    }
  }
  for (size_t i = simple; i < KEPT; i++)
    s->set.x[i] = s->set.x[simple + (i - simple) * (s->set.count - simple) / (KEPT - simple)];
  s->set.count = KEPT;
}

int id_stage_run(id_search *s, const id_stage *t) {
  uint64_t before = s->box->asked;
  if (!s->set.count) return CLI_OK;
  s->box->doing = t->name;
  s->zeros_alike = !t->last; /* what says which zero it is comes with the lower end */
  if (t->last) thin(s);
  int status = ask_for_drawn(s, t);
  if (status == CLI_OK) status = expand_all(s, t->axes);
  size_t listed = s->set.count;
  if (status == CLI_OK) status = ask_for_listed(s, t);
  if (t->last) thin(s);
  if (s->log && status == CLI_OK)
    fprintf(s->log, "%s: %llu questions, %zu candidates agreed, %zu are left\n", t->name,
            (unsigned long long)(s->box->asked - before), listed, s->set.count);
  for (size_t i = 0; s->log && status == CLI_OK && i < s->set.count && i < 3; i++) {
    char text[HU_ACCUM_TEXT_MAX] = "";
    hu_accum_text(text, sizeof text, &s->set.x[i]);
    fprintf(s->log, "    %s\n", text);
  }
  s->zeros_alike = 0;
  return s->status = status;
}
