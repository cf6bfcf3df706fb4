/* SPDX-License-Identifier: MIT */
/* tests/golden/replay.h - the texts of tests/gen, each made once more, through the library's calls. */
#ifndef HALFULP_TESTS_REPLAY_H
#define HALFULP_TESTS_REPLAY_H

#include <stddef.h>

/* Text i of the generator; free() it. */
char *replay_text(size_t i);

/* Tests of cmocka. */
void replay_conversions(void **state);
void replay_stochastic(void **state);
void replay_sums(void **state);

#endif
