/* SPDX-License-Identifier: MIT */
/* Judges lines of dot products. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/vectors/vectors.h"

enum { A, B, C, SA, SB, OPERANDS };

/* What all lines share. */
typedef struct judging {
  const vectors_dot *test;
  const vectors_rules *rules;
  vectors_dot_source *source; /* the operands that there should be, or NULL */
  vectors_type result;
  cli_lines *lines;
  vectors_verdict *sum;
} judging;

static hu_type element_of(const vectors_dot *test, int i) {
  return i == A ? test->dot.a : i == B ? test->dot.b : i == C ? test->dot.result : test->dot.scale;
}

/* Separates the fields of a line without blanks; the words' number is what is left. */
static char *spread(const vectors_dot *test, const char *line) {
  size_t digits[OPERANDS + 3], sum = vectors_dot_digits(test, C) + 2, length = strlen(line);
  int fields = 0, operands = cli_dot_operands(&test->dot) - test->dot.words;
  for (int i = 0; i < operands; i++) {
    digits[fields] = vectors_dot_digits(test, i) * (i < C ? test->n : i == C ? 1 : vectors_dot_scales(test));
    sum += digits[fields++];
  }
  if (test->dot.words) {
    if (length < sum || (length - sum) % 8) return NULL;
    digits[fields++] = length - sum;
  }
  digits[fields++] = vectors_dot_digits(test, C);
  digits[fields++] = 2;
  return vectors_spread(line, digits, fields);
}

/* Returns 1 if a row of elements holds a signalling NaN. */
static int row_signals(const vectors_dot *test, int operand, const char *text) {
  hu_type element = element_of(test, operand);
  unsigned digits = vectors_dot_digits(test, operand);
  uint64_t x;
  if (!strcmp(text, "-")) return 0;
  for (size_t at = 0, length = strlen(text); at + digits <= length; at += digits) {
    char one[17];
    snprintf(one, sizeof one, "%.*s", (int)digits, text + at);
    if (hex_parse(&x, one, digits) && vectors_dot_is_signalling(&element, x)) return 1;
  }
  return 0;
}

static int field_fails(const judging *shared, const char *name, const char *text, unsigned digits) {
  char wrong[160];
  snprintf(wrong, sizeof wrong, "%s: '%.40s' is not a hexadecimal number of %u digits", name, text, digits);
  return cli_lines_fail(shared->lines, wrong);
}

/* Reads the result and flags of a line. */
static int read_answer(const judging *shared, char *const *word, int there, vectors_answer *given, char text[40]) {
  uint64_t flags = 0;
  snprintf(text, 40, "%.30s%s%.4s", word[0], there > 1 ? " " : "", there > 1 ? word[1] : "");
  if (vectors_has_unknown(word[0]) || (there > 1 && vectors_has_unknown(word[1]))) {
    given->unknown = text;
    return CLI_OK;
  }
  if (!hex_parse_any(&given->z, word[0], vectors_last(&shared->result)))
    return field_fails(shared, "the result", word[0], vectors_digits(&shared->result));
  if (there > 1 && !hex_parse_any(&flags, word[1], 0x1F)) return field_fails(shared, "the flags", word[1], 2);
  given->flags = (uint32_t)flags;
  return CLI_OK;
}

/* Solves a line under one rule for infinity times zero beside a NaN. */
static int solve(const judging *shared, char *const *word, int operands, int nan_fma, vectors_answer *right) {
  hu_events events = {0};
  hu_exec exec = {1, 0, shared->test->stream, {0}};
  cli_dot dot = shared->test->dot;
  if (nan_fma >= 0) dot.mode.nan_fma = (uint8_t)nan_fma;
  exec.stream.counter += shared->lines->number - 1;
  if (cli_dot_line(&right->z, &events, &dot, word, operands, shared->lines, &exec)) return CLI_BAD;
  right->flags = vectors_flags_of(&events);
  for (int i = 0; i < operands - shared->test->dot.words; i++)
    if (row_signals(shared->test, i, word[i])) right->flags |= 0x10;
  return CLI_OK;
}

static int is_expected(const judging *shared, const char *operands) {
  char *text = vectors_dot_fields(shared->source, shared->sum->cases), *at = text;
  if (!text) return 0;
  int same = 1;
  for (; *at && same; operands++) {
    if (*operands == ' ') continue;
    while (*at == ' ') at++;
    same = *operands && (*operands | 32) == (*at | 32);
    at += *at != 0;
  }
  free(text);
  return same;
}

static int judge_line(const judging *shared, char *line) {
  char *word[CLI_DOT_WORDS + 2], text[40], *operands_text;
  int operands = cli_dot_operands(&shared->test->dot), count = cli_split(line, word, operands + 2), open = 0;
  vectors_answer right = {0}, given = {0}, other = {0};
  if (count != operands + 2 && !(shared->rules->no_flags && count == operands + 1))
    return cli_lines_fail(shared->lines, "not as many fields as operands, a result and flags are");
  if (read_answer(shared, word + operands, count - operands, &given, text)) return CLI_BAD;
  if (solve(shared, word, operands, -1, &right)) return CLI_BAD;
  if (!shared->rules->fixed_nan_fma && vectors_is_nan(&shared->result, right.z)) {
    if (solve(shared, word, operands, HU_NAN_FMA_INVALID, &other)) return CLI_BAD;
    open = other.flags != right.flags;
  }
  size_t capacity = 1;
  for (int i = 0; i < operands; i++) capacity += strlen(word[i]) + 1;
  operands_text = malloc(capacity);
  if (!operands_text) return cli_fail(NULL, "out of memory");
  operands_text[0] = 0;
  for (int i = 0, at = 0; i < operands; i++)
    at += snprintf(operands_text + at, capacity - (size_t)at, "%s%s", i ? " " : "", word[i]);
  int status = CLI_OK;
  if (shared->source && !is_expected(shared, operands_text))
    status = cli_lines_fail(shared->lines, "--complete: these are not the operands that `halfulp vectors` gives here");
  else
    vectors_judge(shared->sum, shared->rules, &shared->result, shared->lines->number, operands_text, right, given,
                  open);
  free(operands_text);
  return status;
}

int vectors_dot_judge(const vectors_dot *test, const vectors_rules *rules, cli_lines *lines, int complete,
                      vectors_verdict *sum) {
  judging shared = {test, rules, NULL, vectors_dot_result(test), lines, sum};
  int next, status = CLI_OK;
  if (complete && !(shared.source = vectors_dot_open(test, complete))) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(lines)) != 0) {
    char *own = next > 0 && test->joined ? spread(test, lines->line) : NULL;
    if (next < 0)
      status = -next;
    else if (test->joined && !own)
      status = cli_lines_fail(lines, "not as many digits as the operands, a result and flags have");
    else if (complete && sum->cases >= vectors_dot_cases(complete))
      status = cli_lines_fail(lines, "--complete: more lines than `halfulp vectors` gives");
    else
      status = judge_line(&shared, own ? own : lines->line);
    free(own);
  }
  if (shared.source) vectors_dot_close(shared.source);
  return status;
}
