/* SPDX-License-Identifier: MIT */
/* cli/explain/dot_steps.h - the steps of one dot product (halfulp/accum.h) as lines of text or as JSON. */
#ifndef HALFULP_CLI_EXPLAIN_DOT_STEPS_H
#define HALFULP_CLI_EXPLAIN_DOT_STEPS_H

#include "halfulp/accum.h"

typedef struct dot_steps {
  int json;
  unsigned long long given; /* text: zero products from this one on only fill the row up, and are not printed */
  unsigned long long count; /* of steps so far */
  unsigned long long lost;  /* of these, roundings and cuts that changed the number */
} dot_steps;

/* Prints each step as it comes: a line, or an object of a JSON list. A hu_trace_visit; context: a dot_steps. */
void dot_steps_print(void *context, const hu_trace_step *step);

#endif
