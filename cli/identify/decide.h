/* SPDX-License-Identifier: MIT */
/* cli/identify/decide.h - for every parameter of the model that was found: what says that it is not another value. */
#ifndef HALFULP_CLI_IDENTIFY_DECIDE_H
#define HALFULP_CLI_IDENTIFY_DECIDE_H

#include "cli/identify/search.h"

enum {
  ID_DECIDED, /* an answer rules out every other value that was tried */
  ID_PARTLY,  /* some other values give every answer as well */
  ID_OPEN     /* no answer rules out any other value: these operands cannot decide it */
};

typedef struct id_decision {
  int axis, value, verdict;
  size_t tried, open;  /* other values; those that nothing rules out */
  int first_open;      /* one of them */
  int nearest;         /* the value whose exclusion `row` shows */
  id_vectors evidence; /* one row, with the box's answer, if a value is ruled out */
  uint64_t other;      /* what the model with `nearest` gives on it */
} id_decision;

typedef struct id_decisions {
  id_decision of[ID_AXES];
  int count;
} id_decisions;

/* Asks questions that distinguish the first candidate from its neighbours. The set may change meanwhile: 0, and then
 * the first candidate has stood every question, or the set is empty; else an exit code. */
int id_decide(id_search *search, id_decisions *decisions);
void id_decisions_free(id_decisions *decisions);

#endif
