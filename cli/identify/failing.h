/* SPDX-License-Identifier: MIT */
/* cli/identify/failing.h - how far a box is from the nearest model, and the shortest questions that show it. */
#ifndef HALFULP_CLI_IDENTIFY_FAILING_H
#define HALFULP_CLI_IDENTIFY_FAILING_H

#include "cli/identify/identify.h"

/* Keeps row `row` of the questions, on which the box fails the result; `other` is what it should be. Returns 0 or an
 * exit code. */
int id_put_failing(id_result *result, const id_vectors *questions, size_t row, uint64_t other);

/* Compares the box with result->model on `count` drawn questions of all kinds, and finds the shortest one of each kind
 * on which the model fails, also among those asked before; the shortest of all becomes result->failing. A search that
 * is stopped meanwhile ends with the questions so far. Returns 0 or an exit code. */
int id_check_nearest(id_search *search, uint64_t count, id_result *result);

#endif
