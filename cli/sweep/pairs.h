/* SPDX-License-Identifier: MIT */
/* cli/sweep/pairs.h - names and values that a command writes as JSON and reads back: numbers, texts and inner objects,
 * whose names are names like any other. */
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

/* 1: read, to be freed; 0: it is no text of this kind, or there is no such file. */
int cli_pairs_read_text(cli_pairs *pairs, const char *text);
int cli_pairs_read(cli_pairs *pairs, const char *path);
void cli_pairs_free(cli_pairs *pairs);
/* Returns the text of a name; NULL: there is none. */
const char *cli_pairs_get(const cli_pairs *pairs, const char *name);
/* 1: *z is set. A whole number; a number, NaN for null. */
int cli_pairs_whole(const cli_pairs *pairs, const char *name, int base, uint64_t *z);
int cli_pairs_number(const cli_pairs *pairs, const char *name, double *z);

#endif
