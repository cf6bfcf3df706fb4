/* SPDX-License-Identifier: MIT */
/* tests/walk/bench.h - the calls of the walker, timed. */
#ifndef HALFULP_TESTS_WALK_BENCH_H
#define HALFULP_TESTS_WALK_BENCH_H

#include "tests/walk/walk.h"

/* The head of the table: that of bench/table.h, or names of columns. */
void walk_bench_begin(int csv);
/* The rows of a call: 2^log2 elements of some types, ties to even, at every place. */
void walk_bench(const walk_call *call, int log2, int csv);

#endif
