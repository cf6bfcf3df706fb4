/* SPDX-License-Identifier: MIT */
/* cli/audit/report.h - an audit as text, as JSON and as a page. */
#ifndef HALFULP_CLI_AUDIT_REPORT_H
#define HALFULP_CLI_AUDIT_REPORT_H

#include "cli/audit/audit.h"

typedef struct audit_result {
  const char *path[2], *source; /* source: NULL, none */
  int which;                    /* 1: --which: the rules are what is asked */
  audit_pair *pairs;
  size_t count;
  uint64_t verdicts[AUDIT_VERDICTS];
} audit_result;
/* Returns 1 if nothing parts: each pair is equal, or one side is what a known rule makes of the other. */
int audit_holds(const audit_result *result);
/* Writes what is said of a pair in one sentence. */
enum { AUDIT_SENTENCE = 2048 };
const char *audit_sentence(char text[AUDIT_SENTENCE], const audit_pair *pair);
/* Writes what a side is: "float4_e2m1fn, scales float8_e4m3fn, blocks of 1x16". */
const char *audit_what(char text[AUDIT_SENTENCE], const audit_tensor *x);
/* Writes the rules of a side, at most `most` of them, or the nearest one and how far it is; "": none is known. */
enum { AUDIT_RULES_TEXT = 4096 };
const char *audit_rules_texts(char text[AUDIT_RULES_TEXT], const audit_followed *by, size_t most);
void audit_print_pair(FILE *out, const audit_pair *pair);
void audit_print_end(FILE *out, const audit_result *result);
void audit_print_block(FILE *out, const char *indent, const audit_shown *shown, const audit_tensor *const x[2],
                       const char *const names[2]);
/* Returns the rules that make every tensor, in a new list of texts of `*count`, to be freed; NULL: none. */
char (*audit_common(const audit_result *result, size_t *count))[AUDIT_RULE_TEXT];
void audit_json(FILE *out, const audit_result *result);
cli_value audit_shown_value(const audit_shown *shown);
/* Writes the page. Returns 0, or an exit code after an error line. */
int audit_page(const char *path, const audit_result *result);

#endif
