/* SPDX-License-Identifier: MIT */
/* cli/identify/search.h - the candidates that a box may still be, and the questions that tell them apart. */
#ifndef HALFULP_CLI_IDENTIFY_SEARCH_H
#define HALFULP_CLI_IDENTIFY_SEARCH_H

#include "cli/box/box.h"
#include "cli/question/draw.h"
#include "cli/identify/space.h"

/* Models, all of which give every answer that the box has given. */
typedef struct id_set {
  hu_accum *x;
  size_t count, room;
} id_set;

int id_set_add(id_set *set, const hu_accum *x);
void id_set_free(id_set *set);

typedef struct id_search {
  id_box *box;
  id_space space;
  id_vectors asked; /* every question so far, those that rule out most in front */
  id_vectors plain; /* those of the first stage, which say nothing of blocks and order */
  id_vectors later; /* questions of the tree: they say something once blocks and order are looked at */
  id_set set;
  id_random random;
  int part, whole;  /* of the tree: products whose sum C is added to first, 0: unknown; 1: no sum of parts */
  int parts_tried;  /* sums of parts have been looked for */
  int zeros_alike;  /* 1: -0 and +0 count as the same answer, as long as no parameter says which it is */
  FILE *log;        /* what was decided, line by line */
  hu_accum nearest; /* the best of the last repair that found nothing */
  int has_nearest;
  int status; /* exit code of the box's failure, 0 */
} id_search;

void id_search_start(id_search *s, id_box *box, uint64_t seed, FILE *log);
void id_search_free(id_search *s);

/* Asks drawn questions of a kind; 0 or an exit code. */
int id_ask_drawn(id_search *s, size_t count, int kind);
/* Rows of v are put to the box and kept. */
int id_ask_rows(id_search *s, const id_vectors *v, size_t first, size_t count);
/* Those of `later` are asked ones from now on. */
int id_take_later(id_search *s);
/* 1: the model gives every answer; a row that rules it out moves to the front. */
int id_agrees(id_search *s, const hu_accum *x);
/* Drops what does not agree. */
void id_filter(id_search *s);

/* Replaces every candidate by those with all values on these axes, keeps what agrees, and asks questions of these kinds
 * until none is found that tells two of them apart. 0 or an exit code. */
typedef struct id_stage {
  const char *name;
  int axes[12], kinds[8]; /* end with -1 */
  int last;               /* 1: of many candidates some are enough, since later stages add little */
} id_stage;
int id_stage_run(id_search *s, const id_stage *stage);

/* All stages; afterwards the set holds what is left, perhaps nothing. 0 or an exit code. */
int id_find(id_search *s);
/* Where answers have ruled out all that was found: what has not been looked for yet, sums of parts and sums wider than
 * D. The set may stay empty. 0 or an exit code. */
int id_find_more(id_search *s);
/* All stages once more, where a question that was asked after them has refuted what they left. 0 or an exit code. */
int id_find_again(id_search *s);
/* The last stage again, after the set has changed. */
int id_settle(id_search *s);
/* Fraction digits that an answer uses at most; without_c: of answers to questions whose C is zero. */
int id_digits_seen(const id_search *s, int without_c);
/* An answer has refuted `model`, of the set: drops what it refutes; where nothing is left, takes models near this one
 * that give all answers, and *nearest is the best of them. Then id_settle. The set may end empty. 0 or an exit code. */
int id_mend(id_search *s, const hu_accum *model, hu_accum *nearest);
/* The best of a failed search: candidates near `from` that give most answers, improved one parameter at a time until
 * nothing improves; 1: one gives every answer, and is the set. */
int id_repair(id_search *s, const id_set *from, hu_accum *nearest);

#endif
