/* SPDX-License-Identifier: MIT */
/* cli/sweep/pairs.h - files of names and values that a command writes and reads back: JSON with a name and its value on
 * every line, so that reading needs no more than lines. Names of an inner object are names like any other. */
#ifndef HALFULP_CLI_SWEEP_PAIRS_H
#define HALFULP_CLI_SWEEP_PAIRS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_pair {
  char *name, *text; /* of a number its digits, of null "null" */
} cli_pair;
typedef struct cli_pairs {
  cli_pair *pair;
  size_t count;
} cli_pairs;

/* 1: read, to be freed; 0: no file, or none of this kind. */
int cli_pairs_read(cli_pairs *f, const char *path);
void cli_pairs_free(cli_pairs *f);
/* NULL: nothing of that name. */
const char *cli_pairs_get(const cli_pairs *f, const char *name);
/* 1: *z is set. A whole number; a number, NaN for null. */
int cli_pairs_whole(const cli_pairs *f, const char *name, int base, uint64_t *z);
int cli_pairs_number(const cli_pairs *f, const char *name, double *z);

#endif
