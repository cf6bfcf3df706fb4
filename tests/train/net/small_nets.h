/* SPDX-License-Identifier: MIT */
/* tests/train/net/small_nets.h - small networks that have every operator, kind of rounding, accumulation and optimizer
 * between them; a few steps of each give one number, the same on every engine (tests/golden/train/nets.txt). */
#ifndef HALFULP_TESTS_TRAIN_SMALL_NETS_H
#define HALFULP_TESTS_TRAIN_SMALL_NETS_H

#include "halfulp/train/net.h"

size_t small_net_count(void);
const char *small_net_name(size_t i);
/* The digest of all values, gradients, weights, losses and counts of some steps, with batches `times` as large as the
 * golden file's. HU_OK, or what failed. */
hu_status small_net_run(size_t i, const hu_engine *engine, uint32_t threads, size_t times, uint64_t *digest);
/* Runs all of them and compares with the lines "NAME DIGEST" of a golden file; NULL: prints such lines. 1 if all are
 * there and right. */
int small_nets_are_golden(const hu_engine *engine, uint32_t threads, const char *path);

#endif
