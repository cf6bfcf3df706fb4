/* SPDX-License-Identifier: MIT */
/* A stage of the search: candidates are sampled, questions are chosen that split the sample, then all candidates are
 * listed and split until no question distinguishes two of them. */
#include "cli/identify/search.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/question/operand.h"

int id_set_add(id_set *set, const hu_accum *model) {
  if (set->count == set->capacity) {
    size_t capacity = set->capacity ? 2 * set->capacity : 64;
    hu_accum *larger = realloc(set->x, capacity * sizeof *larger);
    if (!larger) return 0;
    set->x = larger;
    set->capacity = capacity;
  }
  set->x[set->count++] = *model;
  return 1;
}

void id_set_free(id_set *set) {
  free(set->x);
  memset(set, 0, sizeof *set);
}

void id_search_start(id_search *search, id_box *box, uint64_t seed, FILE *log) {
  memset(search, 0, sizeof *search);
  search->box = box;
  search->space = id_space_of(&box->shape);
  search->random.state = seed;
  search->log = log;
  id_vectors_start(&search->asked, &box->shape);
  id_vectors_start(&search->plain, &box->shape);
  id_vectors_start(&search->later, &box->shape);
}

void id_search_free(id_search *search) {
  id_vectors_free(&search->plain);
  id_vectors_free(&search->asked);
  id_vectors_free(&search->later);
  for (int i = 0; i < 2; i++) id_vectors_free(&search->brief[i].rows);
  id_set_free(&search->set);
}

/* ---- questions and answers ---- */

void id_progress(id_box *box) {
  if (progress_due(&box->reported))
    cli_note("identify: %s: %llu questions so far", box->doing ? box->doing : "the search",
             (unsigned long long)box->asked);
}

size_t id_rows_at_once(const id_box *box) {
  enum { ROWS = 1024 };
  return box->batch > 1 ? (ROWS + box->batch - 1) / box->batch * box->batch : ROWS;
}

int id_ask(id_box *box, id_vectors *questions, size_t first, size_t count) {
  const void *at[ID_COLUMNS];
  void *result = NULL;
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = id_column_length(questions->shape, i) * id_column_size(questions->shape, i);
    at[i] = bytes ? (const char *)questions->column[i] + first * bytes : NULL;
    if (i == ID_D) result = (char *)questions->column[i] + first * bytes;
  }
  if (id_stop_due()) return ID_STOPPED;
  box->asked += count;
  id_progress(box);
  int status =
      count ? box->answer(box->context, count, at[ID_A], at[ID_B], at[ID_C], at[ID_SA], at[ID_SB], result) : CLI_OK;
  id_progress(box);
  return status;
}

int id_ask_rows(id_search *search, const id_vectors *questions, size_t first, size_t count) {
  size_t at = id_vectors_grow(&search->asked, count);
  if (at == SIZE_MAX) return search->status = cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < count; i++) id_vectors_copy(&search->asked, at + i, questions, first + i);
  return search->status = id_ask(search->box, &search->asked, at, count);
}

int id_take_later(id_search *search) {
  size_t at = id_vectors_grow(&search->asked, search->later.count);
  if (at == SIZE_MAX) return search->status = cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < search->later.count; i++) id_vectors_copy(&search->asked, at + i, &search->later, i);
  id_vectors_free(&search->later);
  return CLI_OK;
}

int id_ask_drawn(id_search *search, size_t count, int kind) {
  size_t at = id_vectors_grow(&search->asked, count);
  if (at == SIZE_MAX) return search->status = cli_fail(NULL, "not enough memory");
  id_draw(&search->asked, at, count, kind, &search->random);
  return search->status = id_ask(search->box, &search->asked, at, count);
}

/* Returns a zero of D without its sign, any other pattern as it is. */
static uint64_t zero_without_sign(const id_operand *result, uint64_t x) { return x == result->sign ? 0 : x; }

/* Returns 1 if the box's answer in this row and the model's are zeros. */
static int both_are_zero(const id_vectors *rows, const hu_accum *accum, size_t row) {
  id_operand result = id_operand_of(rows->shape->result);
  size_t size = id_column_size(rows->shape, ID_D);
  uint64_t box = 0, model = 0;
  memcpy(&box, (const char *)rows->column[ID_D] + row * size, size);
  return zero_without_sign(&result, box) == 0 && id_compute(accum, rows, row, 1, &model) == HU_OK &&
         zero_without_sign(&result, model) == 0;
}

/* Returns the blocks of a sum, and how many products of each are enough in a row in brief. */
static uint32_t blocks_of(const id_search *search, const hu_accum *model) {
  uint32_t n = search->box->shape.n, length = model->block.length;
  return (n + length - 1) / length;
}

static uint32_t brief_length(const id_search *search, const hu_accum *model) {
  uint32_t n = search->box->shape.n, least = n < 2 ? n : 2;
  return model->block.length < least ? model->block.length : least;
}

/* Copies the first products of every row. */
static int make_brief(const id_search *search, id_brief *into, uint32_t products) {
  id_vectors *brief = &into->rows;
  id_vectors_free(brief);
  into->shape = search->box->shape;
  into->shape.n = products;
  id_vectors_start(brief, &into->shape);
  if (id_vectors_grow(brief, search->asked.count) == SIZE_MAX) return 0;
  for (size_t row = 0; row < search->asked.count; row++) {
    for (int i = 0; i < ID_COLUMNS; i++)
      for (size_t k = 0; k < id_column_length(brief->shape, i); k++)
        id_put(brief, i, row, k, id_get(&search->asked, i, row, k));
  }
  return 1;
}

/* Returns the rows that a model has to give, and shortens it to them. A block of an aligned sum whose products but the
 * first are zeros is the same with one of these as with all; of other kinds of sums there are few candidates. */
static id_vectors *rows_for(id_search *search, hu_accum *model) {
  if (!search->one || model->kind != HU_ACCUM_BLOCK || model->block.rule > HU_BLOCK_LATE || model->block.every ||
      model->block.order || model->promote || model->slices || model->block.group > 1)
    return &search->asked;
  uint32_t length = brief_length(search, model), products = length * blocks_of(search, model);
  if (products >= search->box->shape.n) return &search->asked;
  id_brief *brief = &search->brief[products > length];
  if ((brief->rows.count != search->asked.count || brief->shape.n != products) &&
      !make_brief(search, brief, products)) {
    id_vectors_free(&brief->rows);
    return &search->asked;
  }
  model->block.length = (uint16_t)length;
  return &brief->rows;
}

int id_agrees(id_search *search, const hu_accum *model) {
  id_progress(search->box);
  hu_accum brief = *model;
  id_vectors *rows = rows_for(search, &brief);
  size_t row = id_first_difference(&brief, rows, 0, rows->count);
  while (search->zeros_alike && row < rows->count && both_are_zero(rows, &brief, row))
    row = id_first_difference(&brief, rows, row + 1, rows->count);
  if (row == rows->count) return 1;
  id_vectors_swap(rows, row, row / 2);
  return 0;
}

void id_filter(id_search *search) {
  size_t kept = 0;
  for (size_t i = 0; i < search->set.count; i++)
    if (id_agrees(search, &search->set.x[i])) search->set.x[kept++] = search->set.x[i];
  search->set.count = kept;
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

static void fill_answers(table *answers, const sample *drawn, int zeros_alike) {
  id_operand result = id_operand_of(answers->pool.shape->result);
  uint64_t z[POOL];
  size_t size = id_column_size(answers->pool.shape, ID_D);
  for (size_t i = 0; i < drawn->count; i++) {
    memset(z, 0, sizeof z);
    if (id_compute(&drawn->x[i], &answers->pool, 0, POOL, z) != HU_OK) memset(z, 0xA5, sizeof z);
    for (size_t j = 0; j < POOL; j++) {
      uint64_t x = 0;
      memcpy(&x, (const char *)z + j * size, size);
      answers->answer[i][j] = id_is_nan(answers->pool.shape, x) ? UINT64_MAX
                              : zeros_alike                     ? zero_without_sign(&result, x)
                                                                : x;
    }
  }
}

/* Counts the groups that there would be after question j; with `into` they become those. */
static int split_groups(const table *answers, size_t count, size_t j, int *into) {
  int first[SAMPLE], groups = 0, of[SAMPLE];
  for (size_t i = 0; i < count; i++) {
    int group = 0;
    while (group < groups && (answers->group[first[group]] != answers->group[i] ||
                              answers->answer[first[group]][j] != answers->answer[i][j]))
      group++;
    if (group == groups) first[groups++] = (int)i;
    of[i] = group;
  }
  if (into) memcpy(into, of, count * sizeof of[0]);
  return groups;
}

/* Lets questions i and j change places. */
static void to_front(table *answers, size_t count, size_t i, size_t j) {
  id_vectors_swap(&answers->pool, i, j);
  for (size_t k = 0; k < count; k++) {
    uint64_t kept = answers->answer[k][i];
    answers->answer[k][i] = answers->answer[k][j];
    answers->answer[k][j] = kept;
  }
}

/* Asks up to PICKS questions that split the sample; *picked says how many. */
static int ask_best(id_search *search, const sample *drawn, int kind, size_t *picked) {
  static table answers;
  int status = CLI_OK;
  *picked = 0;
  id_vectors_start(&answers.pool, &search->box->shape);
  if (id_vectors_grow(&answers.pool, POOL) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_draw(&answers.pool, 0, POOL, kind, &search->random);
  fill_answers(&answers, drawn, search->zeros_alike);
  memset(answers.group, 0, sizeof answers.group);
  answers.groups = 1;
  while (*picked < PICKS) {
    size_t best = *picked;
    int most = answers.groups;
    for (size_t j = *picked; j < POOL; j++) {
      int groups = split_groups(&answers, drawn->count, j, NULL);
      if (groups <= most) continue;
      most = groups;
      best = j;
    }
    if (most == answers.groups) break;
    answers.groups = split_groups(&answers, drawn->count, best, answers.group);
    to_front(&answers, drawn->count, best, (*picked)++);
  }
  if (*picked) status = id_ask_rows(search, &answers.pool, 0, *picked);
  id_vectors_free(&answers.pool);
  return status;
}

/* ---- candidates along axes ---- */

static void draw_values(id_search *search, const int *axes, hu_accum *model) {
  static int values[ID_VALUES_MOST];
  for (; *axes >= 0; axes++) {
    size_t count = id_axis_values(&search->space, *axes, model, values);
    id_axis_set(&search->space, *axes, model, values[id_random_below(&search->random, count)]);
  }
}

enum { TRIES = 4000 };

/* Draws candidates that agree. */
static void draw_sample(id_search *search, const int *axes, sample *drawn) {
  drawn->count = 0;
  for (int i = 0; i < TRIES && drawn->count < SAMPLE; i++) {
    hu_accum model = search->set.x[id_random_below(&search->random, search->set.count)];
    draw_values(search, axes, &model);
    if (id_agrees(search, &model)) drawn->x[drawn->count++] = model;
  }
}

/* Takes a sample from a list: all of it where it fits. */
static void take_sample(id_search *search, sample *drawn) {
  drawn->count = 0;
  for (size_t i = 0; i < SAMPLE && i < search->set.count; i++) {
    size_t at = search->set.count <= SAMPLE ? i : (size_t)id_random_below(&search->random, search->set.count);
    drawn->x[drawn->count++] = search->set.x[at];
  }
}

static int expand(id_search *search, const int *axes, hu_accum model, id_set *into) {
  if (id_stop_due()) return 0;
  if (*axes < 0) return !id_agrees(search, &model) || id_set_add(into, &model);
  int *values = malloc(ID_VALUES_MOST * sizeof *values), fine = values != NULL;
  size_t count = fine ? id_axis_values(&search->space, *axes, &model, values) : 0;
  for (size_t i = 0; i < count && fine; i++) {
    id_axis_set(&search->space, *axes, &model, values[i]);
    fine = expand(search, axes + 1, model, into);
  }
  free(values);
  return fine;
}

static int expand_all(id_search *search, const int *axes) {
  id_set into = {0};
  int fine = 1;
  for (size_t i = 0; i < search->set.count && fine; i++) fine = expand(search, axes, search->set.x[i], &into);
  if (id_stop_due()) { /* those before stand for what is left */
    id_set_free(&into);
    return ID_STOPPED;
  }
  id_set_free(&search->set);
  search->set = into;
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

static int is_quiet(const id_search *search, int rounds, int kinds) {
  return rounds >= kinds * (search->set.count > KEPT ? QUIET_ROUNDS_OF_MANY : QUIET_ROUNDS);
}

static int ask_for_drawn(id_search *search, const id_stage *stage) {
  static sample drawn;
  int kinds = count_kinds(stage->kinds), status = CLI_OK;
  for (int i = 0; i < DRAWN_ROUNDS && status == CLI_OK; i++) {
    size_t picked;
    draw_sample(search, stage->axes, &drawn);
    if (drawn.count < 2) break;
    status = ask_best(search, &drawn, stage->kinds[i % kinds], &picked);
  }
  return status;
}

static int ask_for_listed(id_search *search, const id_stage *stage) {
  static sample drawn;
  int kinds = count_kinds(stage->kinds), quiet = 0, status = CLI_OK;
  for (int i = 0; i < LISTED_ROUNDS && !is_quiet(search, quiet, kinds) && search->set.count > 1 && status == CLI_OK;
       i++) {
    size_t picked;
    take_sample(search, &drawn);
    status = ask_best(search, &drawn, stage->kinds[i % kinds], &picked);
    quiet = picked ? 0 : quiet + 1;
    if (picked) id_filter(search);
  }
  return status;
}

static void thin(id_search *search) {
  size_t simple = 0;
  if (search->set.count <= KEPT) return;
  /* The simplest come first, and half of what is kept are these. */
  for (int most = 0; simple < KEPT / 2 && most < 32; most++) {
    for (size_t i = simple; i < search->set.count && simple < KEPT / 2; i++) {
      if (id_complexity(&search->space, &search->set.x[i]) > most) continue;
      hu_accum model = search->set.x[i];
      search->set.x[i] = search->set.x[simple];
      search->set.x[simple++] = model;
    }
  }
  for (size_t i = simple; i < KEPT; i++)
    search->set.x[i] = search->set.x[simple + (i - simple) * (search->set.count - simple) / (KEPT - simple)];
  search->set.count = KEPT;
}

static void start_brief(id_search *search, const id_stage *stage) {
  search->one = stage->one && !search->recorded;
  for (int i = 0; i < 2; i++) id_vectors_free(&search->brief[i].rows);
}

int id_stage_run(id_search *search, const id_stage *stage) {
  uint64_t before = search->box->asked;
  if (!search->set.count) return CLI_OK;
  search->box->doing = stage->name;
  start_brief(search, stage);
  search->zeros_alike = !stage->last; /* what says which zero it is comes with the lower end */
  if (stage->last) thin(search);
  int status = search->recorded ? CLI_OK : ask_for_drawn(search, stage);
  if (status == CLI_OK) status = expand_all(search, stage->axes);
  size_t listed = search->set.count;
  if (status == CLI_OK && !search->recorded) status = ask_for_listed(search, stage);
  if (stage->last) thin(search);
  if (search->log && status == CLI_OK)
    fprintf(search->log, "%s: %llu questions, %zu candidates agreed, %zu are left\n", stage->name,
            (unsigned long long)(search->box->asked - before), listed, search->set.count);
  for (size_t i = 0; search->log && status == CLI_OK && i < search->set.count && i < 3; i++) {
    char text[HU_ACCUM_TEXT_MAX] = "";
    hu_accum_text(text, sizeof text, &search->set.x[i]);
    fprintf(search->log, "    %s\n", text);
  }
  search->zeros_alike = search->one = 0;
  return search->status = status;
}
