/* SPDX-License-Identifier: MIT */
/* cli/identify/report.h - what was found, for people, for machines, and as a page with a picture of the tree. */
#ifndef HALFULP_CLI_IDENTIFY_REPORT_H
#define HALFULP_CLI_IDENTIFY_REPORT_H

#include "cli/identify/identify.h"

void id_print_text(FILE *out, const id_search *search, const id_result *result);
void id_print_json(FILE *out, const id_search *search, const id_result *result);
/* Writes the page. log: the lines of --explain. Returns 0, or an exit code after an error line. */
int id_write_page(const char *path, const id_search *search, const id_result *result, const char *log);

/* Writes the model's text, the simplest that says it. */
const char *id_model_text(const id_search *search, const hu_accum *model, char text[HU_ACCUM_TEXT_MAX]);
/* Returns a line on what became of the search. */
const char *id_verdict_word(const id_result *result);
/* What is to be said of a model where id_is_wide. */
extern const char id_wide_words[];
/* Writes how many answers stand behind it. */
void id_confidence(const id_result *result, char *text, size_t size);
/* Prints the answer's pattern and value. */
void id_print_answer(FILE *out, const id_shape *shape, uint64_t answer);

#endif
