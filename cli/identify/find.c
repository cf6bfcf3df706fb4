/* SPDX-License-Identifier: MIT */
/* The stages of a search, and what is done where they leave nothing. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/question/operand.h"
#include "cli/identify/search.h"

static const id_stage stages[] = {
    {"one product and C",
     {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_PRODUCT, ID_AXIS_ROUND, ID_AXIS_JOIN, ID_AXIS_LAST, ID_AXIS_CUT, ID_AXIS_KEPT,
      ID_AXIS_KEPT2, -1},
     {ID_DRAW_ONE, -1},
     0},
    {"order and blocks",
     {ID_AXIS_ORDER, ID_AXIS_LANES, ID_AXIS_WRAP, ID_AXIS_LENGTH, ID_AXIS_GROUP, -1},
     {ID_DRAW_FEW, ID_DRAW_MANY, -1},
     0},
    {"the lower end",
     {ID_AXIS_EMIN, ID_AXIS_AS, ID_AXIS_DAZ, ID_AXIS_FTZ, ID_AXIS_ZERO, -1},
     {ID_DRAW_SMALL, ID_DRAW_LOWEST, ID_DRAW_ANY, -1},
     1},
    {"the upper end and special values",
     {ID_AXIS_OVER, ID_AXIS_SAT, ID_AXIS_BIG, -1},
     {ID_DRAW_LARGE, ID_DRAW_SPECIAL, -1},
     1},
    {"everywhere",
     {-1},
     {ID_DRAW_ANY, ID_DRAW_MANY, ID_DRAW_SMALL, ID_DRAW_LOWEST, ID_DRAW_LARGE, ID_DRAW_SPECIAL, ID_DRAW_FEW, -1},
     1},
};
enum { STAGES = sizeof stages / sizeof stages[0] };

/* What takes the place of a stage that leaves nothing: with a parameter that few units have so that it is seen there,
 * and that multiplies the list. */
typedef struct instead {
  int of; /* number of the stage */
  unsigned rules;
  id_stage stage;
} instead;

static const instead others[] = {
    {0,
     1 << HU_BLOCK_LATE,
     {"one product and C, which may be dropped",
      {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_ROUND, ID_AXIS_KEPT, ID_AXIS_KEPT2, ID_AXIS_FAR, -1},
      {ID_DRAW_ONE, -1},
      0}},
    {0,
     1 << HU_BLOCK_ALIGN | 1 << HU_BLOCK_GROUPS,
     {"one product and C, above a lower limit",
      {ID_AXIS_IN, ID_AXIS_DIGITS, ID_AXIS_ROUND, ID_AXIS_JOIN, ID_AXIS_CUT, ID_AXIS_KEPT, ID_AXIS_EMIN, -1},
      {ID_DRAW_ONE, -1},
      0}},
    {1,
     1 << HU_BLOCK_ALIGN | 1 << HU_BLOCK_GROUPS,
     {"order and blocks, above a lower limit",
      {ID_AXIS_ORDER, ID_AXIS_WRAP, ID_AXIS_LENGTH, ID_AXIS_GROUP, ID_AXIS_EMIN, -1},
      {ID_DRAW_FEW, ID_DRAW_MANY, -1},
      0}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* ---- what is read off the answers first ---- */

/* Counts the fraction digits that an answer uses. */
static int digits_of(const id_operand *d, uint64_t x) {
  uint64_t fraction = x & (((uint64_t)1 << d->digits) - 1);
  int used = d->digits;
  if ((x & ~d->sign) > d->max || x >> d->digits == 0) return 0;
  while (used > 0 && !(fraction & 1)) {
    fraction >>= 1;
    used--;
  }
  return used;
}

int id_digits_seen(const id_search *s, int without_c) {
  id_operand d = id_operand_of(s->box->shape.d);
  int most = 0;
  for (size_t i = 0; i < s->asked.count; i++) {
    int used = digits_of(&d, id_get(&s->asked, ID_D, i, 0));
    if (without_c && (id_get(&s->asked, ID_C, i, 0) & ~d.sign)) continue;
    if (used > most) most = used;
  }
  return most;
}

/* Reads how many digits D and its sums have. With `parts` only answers to questions without C count, since C's addition
 * has D's digits and a part's sum perhaps fewer. Digits of wide sums are not seen in D, and are taken to be all. */
static void read_digits(id_search *s, int parts) {
  int wide = s->space.sum.m > s->box->shape.d.format.m ? s->space.sum.m : 0, seen = id_digits_seen(s, parts);
  s->space.least_digits = seen > wide ? seen : wide;
}

enum { PAIRS = 16 };

/* Returns 1 if digit j of A ever changes an answer; -1: the box failed. */
static int digit_matters(id_search *s, int j) {
  id_vectors v;
  int matters = 0;
  id_vectors_start(&v, &s->box->shape);
  if (id_vectors_grow(&v, 2 * PAIRS) == SIZE_MAX) return -1;
  id_draw(&v, 0, PAIRS, ID_DRAW_ONE, &s->random);
  for (size_t i = 0; i < PAIRS; i++) {
    id_vectors_copy(&v, PAIRS + i, &v, i);
    id_put(&v, ID_A, PAIRS + i, 0, id_get(&v, ID_A, i, 0) ^ (uint64_t)1 << j);
  }
  size_t at = s->asked.count;
  if (id_ask_rows(s, &v, 0, 2 * PAIRS)) matters = -1;
  for (size_t i = 0; i < PAIRS && matters == 0; i++)
    matters = !id_same(&s->box->shape, id_get(&s->asked, ID_D, at + i, 0), id_get(&s->asked, ID_D, at + PAIRS + i, 0));
  id_vectors_free(&v);
  return matters;
}

static int read_inputs(id_search *s) {
  int digits = s->box->shape.a.format.m, j = 0, matters = 0;
  if (s->box->shape.a.kind != HU_ELEMENT_CODE || s->box->shape.every) return CLI_OK;
  while (j < digits && (matters = digit_matters(s, j)) == 0) j++;
  if (matters < 0) return s->status ? s->status : CLI_BAD;
  s->space.inputs = matters && j ? digits - j : 0;
  if (s->space.inputs && s->log) fprintf(s->log, "operands: the lowest %d digits of A change no answer\n", j);
  return CLI_OK;
}

/* ---- the search ---- */

enum { FIRST_QUESTIONS = 64 };

/* Keeps one candidate of each sum, which is enough: a record and its simplest form are the same. */
static void drop_doubles(id_search *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->set.count; i++) {
    hu_accum x = id_simplest(&s->space, s->set.x[i]);
    size_t j = 0;
    if (s->set.count < 2000)
      while (j < kept && memcmp(&s->set.x[j], &x, sizeof x) != 0) j++;
    else
      j = kept;
    if (j == kept) s->set.x[kept++] = x;
  }
  s->set.count = kept;
}

/* Puts the simplest model first: its text says least. */
static void simplest_first(id_search *s) {
  size_t best = 0;
  for (size_t i = 1; i < s->set.count; i++)
    if (id_complexity(&s->space, &s->set.x[i]) < id_complexity(&s->space, &s->set.x[best])) best = i;
  if (!s->set.count) return;
  hu_accum x = s->set.x[best];
  s->set.x[best] = s->set.x[0];
  s->set.x[0] = x;
}

int id_settle(id_search *s) {
  int status = id_stage_run(s, &stages[STAGES - 1]);
  drop_doubles(s);
  simplest_first(s);
  return status;
}

int id_mend(id_search *s, const hu_accum *model, hu_accum *nearest) {
  id_set near = {0};
  if (!id_set_add(&near, model)) return cli_fail(NULL, "not enough memory");
  id_filter(s);
  if (!s->set.count) (void)id_repair(s, &near, nearest);
  id_set_free(&near);
  return s->set.count ? id_settle(s) : CLI_OK;
}

static int keep_set(id_set *kept, const id_set *set) {
  kept->count = 0;
  for (size_t i = 0; i < set->count && i < 4096; i++)
    if (!id_set_add(kept, &set->x[i])) return cli_fail(NULL, "not enough memory");
  return CLI_OK;
}

/* Tries the stages that stand in for stage i, until one leaves something. */
static int find_instead(id_search *s, int i, const id_set *before) {
  int status = CLI_OK;
  for (int j = 0; j < OTHERS && status == CLI_OK && !s->set.count; j++) {
    if (others[j].of != i) continue;
    for (size_t at = 0; at < before->count; at++) {
      const hu_accum *x = &before->x[at];
      if (x->kind == HU_ACCUM_BLOCK && (others[j].rules >> x->block.rule & 1) && !id_set_add(&s->set, x))
        return cli_fail(NULL, "not enough memory");
    }
    status = id_stage_run(s, &others[j].stage);
  }
  return status;
}

/* Does stage i, and what stands in for it; *before: the set as it was. */
static int find_stage(id_search *s, int i, id_set *before) {
  int status = keep_set(before, &s->set);
  if (status == CLI_OK) status = id_stage_run(s, &stages[i]);
  if (status == CLI_OK && !s->set.count) status = find_instead(s, i, before);
  return status;
}

static int copy_all(id_vectors *to, const id_vectors *from) {
  if (from->count && id_vectors_grow(to, from->count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < from->count; i++) id_vectors_copy(to, i, from, i);
  return CLI_OK;
}

/* Takes the questions that were asked before blocks and order were looked at, alone; the others wait once more. */
static int take_plain(id_search *s) {
  s->later = s->asked;
  id_vectors_start(&s->asked, &s->box->shape);
  return copy_all(&s->asked, &s->plain);
}

/* Does the first two stages, which decide what kind of sum it is. */
static int find_kind(id_search *s, int parts, id_set *before) {
  hu_accum bases[ID_BASES_MOST];
  int status = CLI_OK;
  s->set.count = 0;
  for (size_t i = 0, count = id_bases(&s->space, parts, bases); i < count; i++)
    if (!id_set_add(&s->set, &bases[i])) return cli_fail(NULL, "not enough memory");
  if (!s->set.count) return CLI_OK;
  if (s->plain.count) status = take_plain(s);
  read_digits(s, parts && s->space.part); /* for parts of every length the list would be too long */
  if (status == CLI_OK) status = find_stage(s, 0, before);
  if (status == CLI_OK && !s->plain.count) status = copy_all(&s->plain, &s->asked);
  if (status == CLI_OK) status = id_take_later(s);
  if (status == CLI_OK && s->set.count) status = find_stage(s, 1, before);
  return status;
}

/* Does the stages after the first two. */
static int find_rest(id_search *s, id_set *before) {
  hu_accum nearest;
  int status = CLI_OK, alive = s->set.count || id_repair(s, before, &nearest);
  for (int i = 2; i < STAGES && status == CLI_OK && alive; i++) {
    status = find_stage(s, i, before);
    alive = s->set.count || (status == CLI_OK && id_repair(s, before, &nearest));
  }
  return status;
}

/* Tries sums of parts, first those that the order of the sum says; masking has its limits. */
static int find_parts(id_search *s, id_set *before) {
  int status = CLI_OK;
  s->parts_tried = 1;
  if (s->whole) return CLI_OK;
  s->space.part = s->part;
  if (s->part) status = find_kind(s, 1, before);
  s->space.part = 0;
  return status == CLI_OK && !s->set.count ? find_kind(s, 1, before) : status;
}

/* Does all stages, with sums in the format of the space. */
static int find_sums(id_search *s) {
  id_set before = {0}, parts = {0};
  int status = find_kind(s, 0, &before);
  s->parts_tried = 0;
  if (status == CLI_OK && !s->set.count) status = find_parts(s, &parts);
  if (status == CLI_OK) status = find_rest(s, &before);
  id_set_free(&before);
  id_set_free(&parts);
  return status;
}

static void finish(id_search *s) {
  drop_doubles(s);
  simplest_first(s);
}

int id_find_again(id_search *s) {
  int status = find_sums(s);
  if (status == CLI_OK) status = id_take_later(s);
  finish(s);
  return status;
}

int id_find_more(id_search *s) {
  id_set parts = {0};
  int status = CLI_OK;
  if (!s->parts_tried && s->part) {
    status = find_parts(s, &parts);
    if (status == CLI_OK && s->set.count) status = find_rest(s, &parts);
    id_set_free(&parts);
  }
  if (status == CLI_OK && !s->set.count && id_may_be_wide(&s->box->shape) && !id_is_wide(&s->space)) {
    if (s->log) fprintf(s->log, "sums in binary32, and D a rounding of the last:\n");
    id_space_widen(&s->space);
    status = find_sums(s);
  }
  if (status == CLI_OK) status = id_take_later(s);
  finish(s);
  return status;
}

int id_find(id_search *s) {
  int status = id_ask_drawn(s, FIRST_QUESTIONS, ID_DRAW_ONE);
  if (status == CLI_OK) status = read_inputs(s);
  if (status == CLI_OK) status = find_sums(s);
  if (status == CLI_OK) status = id_take_later(s);
  finish(s);
  return status == CLI_OK && !s->set.count ? id_find_more(s) : status;
}
