/* SPDX-License-Identifier: MIT */
/* cli/command/explain_case.h - what `halfulp explain` says about one case of vectors. */
#ifndef HALFULP_CLI_COMMAND_EXPLAIN_CASE_H
#define HALFULP_CLI_COMMAND_EXPLAIN_CASE_H

#include "cli/vectors/vectors.h"

/* The context of both. */
typedef struct explained {
  const vectors *test;    /* of explain_case */
  const vectors_dot *dot; /* of explain_dot_case */
  const char *model;      /* likewise, as given */
  int json;
} explained;
/* Print, for vectors_rules, the command line of `halfulp explain` and what that prints; with JSON its value alone, or
 * null where it explains no such operation. */
void explain_case(const void *context, unsigned long line, const char *operands);
void explain_dot_case(const void *context, unsigned long line, const char *operands);

#endif
