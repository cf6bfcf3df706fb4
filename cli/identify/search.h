/* SPDX-License-Identifier: MIT */
/* cli/identify/search.h - the candidates that a box may still be, and the questions that distinguish them. */
#ifndef HALFULP_CLI_IDENTIFY_SEARCH_H
#define HALFULP_CLI_IDENTIFY_SEARCH_H

#include "cli/box/box.h"
#include "cli/question/draw.h"
#include "cli/identify/space.h"

/* Models, all of which give every answer that the box has given. */
typedef struct id_set {
  hu_accum *x;
  size_t count, capacity;
} id_set;

int id_set_add(id_set *set, const hu_accum *model);
void id_set_free(id_set *set);

/* Rows with fewer products than the box takes. */
typedef struct id_brief {
  id_shape shape;
  id_vectors rows;
} id_brief;

typedef struct id_search {
  id_box *box;
  id_space space;
  id_vectors asked; /* every question so far, those that rule out most in front */
  id_vectors plain; /* those of the first stage, which say nothing of blocks and order */
  id_vectors later; /* questions of the tree: they say something once blocks and order are looked at */
  id_set set;
  id_random random;
  int part, whole;   /* of the tree: products whose sum C is added to first, 0: unknown; 1: no sum of parts */
  int recorded;      /* 1: the box cannot be asked; the rows in `asked` are all there are */
  int parts_tried;   /* sums of parts have been looked for */
  int one;           /* 1: what was asked so far has one product (without C two), and zeros after it */
  id_brief brief[2]; /* the same with fewer of these zeros, which are enough for aligned sums: one block, or more */
  int zeros_alike;   /* 1: -0 and +0 count as the same answer, as long as no parameter says which it is */
  FILE *log;         /* what was decided, line by line */
  hu_accum nearest;  /* the best of the last repair that found nothing */
  int has_nearest;
  int status; /* exit code of the box's failure, 0 */
} id_search;

void id_search_start(id_search *search, id_box *box, uint64_t seed, FILE *log);
void id_search_free(id_search *search);

/* Asks drawn questions of a kind. Returns 0 or an exit code. */
int id_ask_drawn(id_search *search, size_t count, int kind);
/* Asks rows of `questions`, and keeps them. */
int id_ask_rows(id_search *search, const id_vectors *questions, size_t first, size_t count);
/* Makes those of `later` asked ones from now on. */
int id_take_later(id_search *search);
/* Returns 1 if the model gives every answer; a row that rules it out moves to the front. */
int id_agrees(id_search *search, const hu_accum *model);
/* Drops what does not agree. */
void id_filter(id_search *search);

/* Replaces every candidate by those with all values on these axes, keeps what agrees, and asks questions of these kinds
 * until none is found that distinguishes two of them. 0 or an exit code. */
typedef struct id_stage {
  const char *name;
  int axes[16], kinds[8]; /* end with -1 */
  int last;               /* 1: of many candidates some are enough, since later stages add little */
  int one;                /* 1: its questions, and those before them, have one product, or without C two */
} id_stage;
int id_stage_run(id_search *search, const id_stage *stage);

/* Does all stages; afterwards the set holds what is left, perhaps nothing. Returns 0 or an exit code. */
int id_find(id_search *search);
/* Looks, where answers have ruled out all that was found, for what has not been looked for yet, sums of parts and sums
 * wider than D. The set may stay empty. Returns 0 or an exit code. */
int id_find_more(id_search *search);
/* Does all stages again, where a question that was asked after them has refuted what they left. 0 or an exit code. */
int id_find_again(id_search *search);
/* Does the last stage again, after the set has changed. */
int id_settle(id_search *search);
/* Asks powers of two, and reads off whether sums have a lowest and a highest digit: space.has_place and space.least.
 * Returns 0 or an exit code. */
int id_read_place(id_search *search);
/* Returns how many fraction digits an answer uses at most; without_c: of answers to questions whose C is zero. */
int id_digits_seen(const id_search *search, int without_c);
/* Mends the set after an answer has refuted `model`: drops what it refutes; where nothing is left, takes models near it
 * that give all answers, *nearest the best of them. Then id_settle. The set may end empty. 0 or an exit code. */
int id_mend(id_search *search, const hu_accum *model, hu_accum *nearest);
/* Finds the best of a failed search: candidates near `from` that give most answers, improved one parameter at a time
 * until nothing improves. Returns 1 if one gives every answer, and is the set. */
int id_repair(id_search *search, const id_set *from, hu_accum *nearest);

#endif
