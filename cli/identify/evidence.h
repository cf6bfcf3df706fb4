/* SPDX-License-Identifier: MIT */
/* cli/identify/evidence.h - questions that show that the box is not another model. */
#ifndef HALFULP_CLI_IDENTIFY_EVIDENCE_H
#define HALFULP_CLI_IDENTIFY_EVIDENCE_H

#include "cli/identify/search.h"

/* Looks for a question on which `other` differs from the model, and puts it to the box. *asked: there was one. Returns
 * 0 or an exit code. */
int id_ask_for(id_search *search, const hu_accum *model, const hu_accum *other, int *asked);

/* Shows that `other` does not give all answers so far: a short question on which it differs from the model is asked,
 * and is row 0 of `evidence`, with the box's answer; *gives is what `other` gives. Returns 0 or an exit code. */
int id_show(id_search *search, const hu_accum *model, const hu_accum *other, id_vectors *evidence, uint64_t *gives);

#endif
