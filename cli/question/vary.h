/* SPDX-License-Identifier: MIT */
/* cli/question/vary.h - questions near one that is known: the steps of a local search. */
#ifndef HALFULP_CLI_QUESTION_VARY_H
#define HALFULP_CLI_QUESTION_VARY_H

#include "cli/question/random.h"
#include "cli/question/vectors.h"

/* Changes one to three patterns of the row a little: a bit, the next code, the next exponent, the sign; or two products
 * change places, or one becomes 0. What the shape holds fixed stays. */
void id_vary(id_vectors *questions, size_t row, id_random *random);

#endif
