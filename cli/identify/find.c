/* SPDX-License-Identifier: MIT */
/* The stages of a search, and what is done where they leave nothing. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/question/operand.h"
#include "cli/identify/search.h"

static const id_stage stages[] = {
    {"one product and C",
     {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_PRODUCT, ID_AXIS_ROUND, ID_AXIS_VIA, ID_AXIS_JOIN, ID_AXIS_LAST, ID_AXIS_CUT,
      ID_AXIS_STICKY, ID_AXIS_ZEROS, ID_AXIS_PAST, ID_AXIS_KEPT, ID_AXIS_KEPT2, -1},
     {ID_DRAW_ONE, -1},
     0,
     1},
    {"order and blocks",
     {ID_AXIS_ORDER, ID_AXIS_LANES, ID_AXIS_WRAP, ID_AXIS_LENGTH, ID_AXIS_GROUP, ID_AXIS_WINDOW, ID_AXIS_WIDE,
      ID_AXIS_PAST, -1},
     {ID_DRAW_FEW, ID_DRAW_MANY, ID_DRAW_FULL, -1},
     0,
     0},
    {"the lower end",
     {ID_AXIS_EMIN, ID_AXIS_PLACE, ID_AXIS_AS, ID_AXIS_DAZ, ID_AXIS_FTZ, ID_AXIS_ZERO, -1},
     {ID_DRAW_SMALL, ID_DRAW_LOWEST, -1}, /* none that may overflow, which the next stage looks at */
     1,
     0},
    {"the upper end and special values",
     {ID_AXIS_OVER, ID_AXIS_SAT, ID_AXIS_BIG, ID_AXIS_NAN, -1},
     {ID_DRAW_LARGE, ID_DRAW_SPECIAL, -1},
     1,
     0},
    {"everywhere",
     {-1},
     {ID_DRAW_ANY, ID_DRAW_MANY, ID_DRAW_SMALL, ID_DRAW_LOWEST, ID_DRAW_LARGE, ID_DRAW_SPECIAL, ID_DRAW_FEW, -1},
     1,
     0},
};
enum { STAGES = sizeof stages / sizeof stages[0] };

/* What takes the place of a stage that leaves nothing: with a parameter that few units have so that it is seen there,
 * and that multiplies the list. */
typedef struct instead {
  int of;    /* number of the stage */
  int limit; /* 1: not where a lower limit, if there is one, lies below all that these stages ask */
  unsigned rules;
  id_stage stage;
} instead;

static const instead others[] = {
    {0,
     0,
     1 << HU_BLOCK_LATE,
     {"one product and C, which may be dropped",
      {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_ROUND, ID_AXIS_KEPT, ID_AXIS_KEPT2, ID_AXIS_FAR, -1},
      {ID_DRAW_ONE, -1},
      0,
      1}},
    {0,
     0,
     1 << HU_BLOCK_ALIGN | 1 << HU_BLOCK_GROUPS,
     {"one product and C, in a narrow register",
      {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_ROUND, ID_AXIS_CUT, ID_AXIS_STICKY, ID_AXIS_WIDE, ID_AXIS_PAST, ID_AXIS_KEPT,
       -1},
      {ID_DRAW_ONE, -1},
      0,
      1}},
    {0,
     1,
     1 << HU_BLOCK_ALIGN | 1 << HU_BLOCK_GROUPS,
     {"one product and C, above a lower limit",
      {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_ROUND, ID_AXIS_JOIN, ID_AXIS_CUT, ID_AXIS_KEPT, ID_AXIS_EMIN, -1},
      {ID_DRAW_ONE, -1},
      0,
      1}},
    {1,
     1,
     1 << HU_BLOCK_ALIGN | 1 << HU_BLOCK_GROUPS,
     {"order and blocks, above a lower limit",
      {ID_AXIS_ORDER, ID_AXIS_WRAP, ID_AXIS_LENGTH, ID_AXIS_GROUP, ID_AXIS_EMIN, -1},
      {ID_DRAW_FEW, ID_DRAW_MANY, -1},
      0,
      0}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* ---- what is read off the answers first ---- */

/* Counts the fraction digits that an answer uses. */
static int digits_of(const id_operand *result, uint64_t x) {
  uint64_t fraction = x & (((uint64_t)1 << result->digits) - 1);
  int used = result->digits;
  if ((x & ~result->sign) > result->max || x >> result->digits == 0) return 0;
  while (used > 0 && !(fraction & 1)) {
    fraction >>= 1;
    used--;
  }
  return used;
}

int id_digits_seen(const id_search *search, int without_c) {
  id_operand result = id_operand_of(search->box->shape.result);
  int most = 0;
  for (size_t i = 0; i < search->asked.count; i++) {
    int used = digits_of(&result, id_get(&search->asked, ID_D, i, 0));
    if (without_c && (id_get(&search->asked, ID_C, i, 0) & ~result.sign)) continue;
    if (used > most) most = used;
  }
  return most;
}

/* Reads how many digits D and its sums have. With `parts` only answers to questions without C count, since C's addition
 * has D's digits and a part's sum perhaps fewer. Digits of wide sums are not seen in D, and are taken to be all. */
static void read_digits(id_search *search, int parts) {
  int wide = search->space.sum.m > search->box->shape.result.format.m ? search->space.sum.m : 0,
      seen = id_digits_seen(search, parts);
  search->space.least_digits = seen > wide ? seen : wide;
}

enum { PAIRS = 16 };

/* Returns 1 if digit j of A ever changes an answer; -1: the box failed. */
static int digit_matters(id_search *search, int j) {
  id_vectors questions;
  int matters = 0;
  id_vectors_start(&questions, &search->box->shape);
  if (id_vectors_grow(&questions, 2 * PAIRS) == SIZE_MAX) return -1;
  id_draw(&questions, 0, PAIRS, ID_DRAW_ONE, &search->random);
  for (size_t i = 0; i < PAIRS; i++) {
    id_vectors_copy(&questions, PAIRS + i, &questions, i);
    id_put(&questions, ID_A, PAIRS + i, 0, id_get(&questions, ID_A, i, 0) ^ (uint64_t)1 << j);
  }
  size_t at = search->asked.count;
  if (id_ask_rows(search, &questions, 0, 2 * PAIRS)) matters = -1;
  for (size_t i = 0; i < PAIRS && matters == 0; i++)
    matters = !id_same(&search->box->shape, id_get(&search->asked, ID_D, at + i, 0),
                       id_get(&search->asked, ID_D, at + PAIRS + i, 0));
  id_vectors_free(&questions);
  return matters;
}

static int read_inputs(id_search *search) {
  int digits = search->box->shape.a.format.m, j = 0, matters = 0;
  if (search->box->shape.a.kind != HU_TYPE_CODES || search->box->shape.every || search->box->shape.low[0])
    return CLI_OK;
  while (j < digits && (matters = digit_matters(search, j)) == 0) j++;
  if (matters < 0) return search->status ? search->status : CLI_BAD;
  search->space.inputs = matters && j ? digits - j : 0;
  if (search->space.inputs && search->log)
    fprintf(search->log, "operands: the lowest %d digits of A change no answer\n", j);
  return CLI_OK;
}

/* ---- the search ---- */

enum { FIRST_QUESTIONS = 64 };

/* Keeps one candidate of each sum, which is enough: a record and its simplest form are the same. */
static void drop_doubles(id_search *search) {
  size_t kept = 0;
  for (size_t i = 0; i < search->set.count; i++) {
    hu_accum model = id_simplest(&search->space, search->set.x[i]);
    size_t j = 0;
    if (search->set.count < 2000)
      while (j < kept && memcmp(&search->set.x[j], &model, sizeof model) != 0) j++;
    else
      j = kept;
    if (j == kept) search->set.x[kept++] = model;
  }
  search->set.count = kept;
}

/* Puts the simplest model first: its text says least. */
static void simplest_first(id_search *search) {
  size_t best = 0;
  for (size_t i = 1; i < search->set.count; i++)
    if (id_complexity(&search->space, &search->set.x[i]) < id_complexity(&search->space, &search->set.x[best]))
      best = i;
  if (!search->set.count) return;
  hu_accum model = search->set.x[best];
  search->set.x[best] = search->set.x[0];
  search->set.x[0] = model;
}

int id_settle(id_search *search) {
  int status = id_stage_run(search, &stages[STAGES - 1]);
  drop_doubles(search);
  simplest_first(search);
  return status;
}

int id_mend(id_search *search, const hu_accum *model, hu_accum *nearest) {
  id_set near = {0};
  if (!id_set_add(&near, model)) return cli_fail(NULL, "not enough memory");
  id_filter(search);
  if (!search->set.count) (void)id_repair(search, &near, nearest);
  id_set_free(&near);
  return search->set.count ? id_settle(search) : CLI_OK;
}

static int keep_set(id_set *kept, const id_set *set) {
  kept->count = 0;
  for (size_t i = 0; i < set->count && i < 4096; i++)
    if (!id_set_add(kept, &set->x[i])) return cli_fail(NULL, "not enough memory");
  return CLI_OK;
}

/* Returns 1 if no limit of the largest exponent reaches the middle of the range: powers of two all come out. */
static int has_low_limit(const id_search *search) {
  enum { LOW = -64 };
  return search->space.least_known == 1 && id_operand_of(search->box->shape.result).emin < LOW;
}

/* Tries the stages that stand in for stage i, until one leaves something. */
static int find_instead(id_search *search, int i, const id_set *before) {
  int status = CLI_OK;
  for (int j = 0; j < OTHERS && status == CLI_OK && !search->set.count; j++) {
    if (others[j].of != i || (others[j].limit && has_low_limit(search))) continue;
    for (size_t at = 0; at < before->count; at++) {
      const hu_accum *model = &before->x[at];
      if (model->kind == HU_ACCUM_BLOCK && (others[j].rules >> model->block.rule & 1) &&
          !id_set_add(&search->set, model))
        return cli_fail(NULL, "not enough memory");
    }
    status = id_stage_run(search, &others[j].stage);
  }
  if (search->set.count && search->set.x[0].block.wide) search->space.length = 0; /* counts of masked sums wrap, too */
  return status;
}

/* Does stage i, and what stands in for it; *before: the set as it was. */
static int find_stage(id_search *search, int i, id_set *before) {
  int status = keep_set(before, &search->set);
  if (status == CLI_OK) status = id_stage_run(search, &stages[i]);
  if (status == CLI_OK && !search->set.count) status = find_instead(search, i, before);
  return status;
}

static int copy_all(id_vectors *to, const id_vectors *from) {
  if (from->count && id_vectors_grow(to, from->count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < from->count; i++) id_vectors_copy(to, i, from, i);
  return CLI_OK;
}

/* Takes the questions that were asked before blocks and order were looked at, alone; the others wait once more. */
static int take_plain(id_search *search) {
  search->later = search->asked;
  id_vectors_start(&search->asked, &search->box->shape);
  return copy_all(&search->asked, &search->plain);
}

/* Does the first two stages, which decide what kind of sum it is. */
static int find_kind(id_search *search, int parts, id_set *before) {
  hu_accum bases[ID_BASES_MOST];
  int status = CLI_OK;
  search->set.count = 0;
  for (size_t i = 0, count = id_bases(&search->space, parts, bases); i < count; i++)
    if (!id_set_add(&search->set, &bases[i])) return cli_fail(NULL, "not enough memory");
  if (!search->set.count) return CLI_OK;
  if (search->plain.count) status = take_plain(search);
  read_digits(search, parts && search->space.part); /* for parts of every length the list would be too long */
  if (status == CLI_OK) status = find_stage(search, 0, before);
  if (status == CLI_OK && !search->plain.count) status = copy_all(&search->plain, &search->asked);
  if (status == CLI_OK) status = id_take_later(search);
  if (status == CLI_OK && search->set.count) status = find_stage(search, 1, before);
  return status;
}

/* Does the stages after the first two. */
static int find_rest(id_search *search, id_set *before) {
  hu_accum nearest;
  int status = CLI_OK, alive = search->set.count || id_repair(search, before, &nearest);
  for (int i = 2; i < STAGES && status == CLI_OK && alive; i++) {
    status = find_stage(search, i, before);
    alive = search->set.count || (status == CLI_OK && id_repair(search, before, &nearest));
  }
  return status;
}

/* Tries sums of parts, first those that the order of the sum says; masking has its limits. */
static int find_parts(id_search *search, id_set *before) {
  int status = CLI_OK;
  search->parts_tried = 1;
  if (search->whole) return CLI_OK;
  search->space.part = search->part;
  if (search->part) status = find_kind(search, 1, before);
  search->space.part = 0;
  return status == CLI_OK && !search->set.count ? find_kind(search, 1, before) : status;
}

/* Does all stages, with sums in the format of the space. */
static int find_sums(id_search *search) {
  id_set before = {0}, parts = {0};
  int status = find_kind(search, 0, &before);
  search->parts_tried = 0;
  if (status == CLI_OK && !search->set.count) status = find_parts(search, &parts);
  if (status == CLI_OK) status = find_rest(search, &before);
  id_set_free(&before);
  id_set_free(&parts);
  return status;
}

static void finish(id_search *search) {
  drop_doubles(search);
  simplest_first(search);
}

int id_find_again(id_search *search) {
  int status = find_sums(search);
  if (status == CLI_OK) status = id_take_later(search);
  finish(search);
  return status;
}

/* Does all stages with sums in binary32, if D has fewer digits. */
static int find_wide(id_search *search) {
  if (!id_may_be_wide(&search->box->shape) || id_is_wide(&search->space)) return CLI_OK;
  if (search->log) fprintf(search->log, "sums in binary32, and D a rounding of the last:\n");
  id_space_widen(&search->space);
  return find_sums(search);
}

/* Does all stages with blocks of every length, since masking has its limits. */
static int find_lengths(id_search *search) {
  if (!search->space.length) return CLI_OK;
  if (search->log) fprintf(search->log, "blocks of other lengths than the order of the sum says:\n");
  search->space.length = 0;
  id_space_narrow(&search->space);
  int status = find_sums(search);
  return status == CLI_OK && !search->set.count ? find_wide(search) : status;
}

int id_find_more(id_search *search) {
  id_set parts = {0};
  int status = CLI_OK;
  if (!search->parts_tried && search->part) {
    status = find_parts(search, &parts);
    if (status == CLI_OK && search->set.count) status = find_rest(search, &parts);
    id_set_free(&parts);
  }
  if (status == CLI_OK && !search->set.count) status = find_wide(search);
  if (status == CLI_OK && !search->set.count) status = find_lengths(search);
  if (status == CLI_OK) status = id_take_later(search);
  finish(search);
  return status;
}

int id_find(id_search *search) {
  int status = id_ask_drawn(search, FIRST_QUESTIONS, ID_DRAW_ONE);
  if (status == CLI_OK) status = read_inputs(search);
  if (status == CLI_OK) status = id_read_place(search);
  if (status == CLI_OK) status = find_sums(search);
  if (status == CLI_OK) status = id_take_later(search);
  finish(search);
  return status == CLI_OK && !search->set.count ? id_find_more(search) : status;
}
