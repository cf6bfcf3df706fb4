/* SPDX-License-Identifier: MIT */
/* cli/proof/theorems.h - the theorems of tests/proof, with the sources that they were proved for and those that this
 * program was built from. */
#ifndef HALFULP_CLI_PROOF_THEOREMS_H
#define HALFULP_CLI_PROOF_THEOREMS_H

#include <stdio.h>

/* Lists all of them, a line each with its statement; json: as an array of objects. */
void proof_list(FILE *out, int json);
/* Says in a line how many were proved for the sources of this program, for others, not yet. */
void proof_summary(FILE *out);

#endif
