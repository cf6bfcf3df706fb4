/* SPDX-License-Identifier: MIT */
/* cli/identify/first.h - what a few questions show before a search. */
#ifndef HALFULP_CLI_IDENTIFY_FIRST_H
#define HALFULP_CLI_IDENTIFY_FIRST_H

#include "cli/identify/identify.h"

/* Asks questions whose answers are known, those of subnormal numbers excepted, one of them twice. What is odd about
 * the box becomes lines of result->notes, and is said on standard error at once; a box that ignores C is one without C
 * from then on. The verdict becomes ID_NOISY or ID_CONSTANT where it is. Returns 0, an exit code or ID_STOPPED. */
int id_look_first(id_search *search, id_result *result);

#endif
