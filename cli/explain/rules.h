/* SPDX-License-Identifier: MIT */
/* cli/explain/rules.h - which rule of docs/numerics.md decides a rounding, in words: for `halfulp explain` and the
 * playground. On the public headers alone. */
#ifndef HALFULP_CLI_EXPLAIN_RULES_H
#define HALFULP_CLI_EXPLAIN_RULES_H

#include "cli/explain/neighbours.h"

enum { RULE_MAX = 256 };

/* Says of a finite number that is not 0, at `between`, which neighbour the mode takes, and why. */
void rule_of_rounding(char rule[RULE_MAX], const neighbours *between, hu_mode mode, int negative, uint32_t random);
/* Says what happens to x, which is zero, an infinity or NaN. because: what made the operand so, or NULL. */
void rule_of_special(char rule[RULE_MAX], const char *because, hu_format format, hu_mode mode, double x);
/* Adds what happened after the rounding proper, as the events of the result say: overflow, flushing. */
void rule_of_range(char rule[RULE_MAX], hu_format format, hu_mode mode, double x, uint32_t events);

#endif
