/* SPDX-License-Identifier: MIT */
/* Makes the command line of `halfulp explain` for a case of vectors, and runs it. */
#include "cli/command/explain_case.h"

#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/numbers.h"
#include "cli/command/explain_dot.h"
#include "cli/explain/operation.h"

enum { WORDS_MAX = 24, WORD_MAX = CLI_NAME_MAX };

/* The words of a command line. */
typedef struct command_line {
  char text[WORDS_MAX][WORD_MAX];
  char *word[WORDS_MAX + 1];
  int count;
} command_line;

static void add(command_line *words, const char *text) {
  if (words->count == WORDS_MAX) return;
  snprintf(words->text[words->count], WORD_MAX, "%s", text);
  words->word[words->count] = words->text[words->count];
  words->count++;
}

static void add_two(command_line *words, const char *option, const char *value) {
  add(words, option);
  add(words, value);
}

static void add_format(command_line *words, const char *option, const vectors_type *type) {
  char name[CLI_NAME_MAX];
  add_two(words, option, cli_format_name(name, type->format));
}

/* Adds the options of a mode; random: NULL, or R. */
static void add_mode(command_line *words, hu_mode mode, const uint32_t *random) {
  static const char *const saturate[] = {"default", "none", "finite", "propagate"}, *const nan[] = {"max", "zero",
                                                                                                    "error"};
  char round[8], digits[16];
  hu_mode_round_text(round, mode);
  if (mode.bits && random) snprintf(digits, sizeof digits, "%x", *random & (UINT32_MAX >> (32 - mode.bits)));
  if (mode.round != HU_RNE) add_two(words, "-r", round);
  if (mode.bits && random) add_two(words, "--random", digits);
  if (mode.saturate) add_two(words, "-s", saturate[mode.saturate % 4]);
  if (mode.nan) add_two(words, "--nan", nan[mode.nan % 3]);
  if (mode.tiny == HU_TINY_BEFORE) add_two(words, "--tiny", "before");
}

/* Adds an operand as a number that its format holds. */
static void add_value(command_line *words, const vectors_type *type, uint64_t x) {
  char text[VECTORS_VALUE_MAX], hex[NUMBER_TEXT_MAX];
  if (type->kind == VECTORS_INTEGER)
    add(words, vectors_value_text(text, type, x));
  else
    add(words, number_hex(hex, vectors_value(type, x)));
}

/* Returns 1 if `halfulp explain` has the operation. */
static int is_explained(const vectors *test) {
  operation found;
  int known = test->op.kind == VECTORS_CONVERT || operation_find(&found, test->op.name);
  return known && test->z.kind == VECTORS_CODE;
}

static void make(command_line *words, const vectors *test, const uint64_t *x, uint32_t random) {
  static const char *const options[] = {"--fa", "--fb", "--fc"};
  int converts = test->op.kind == VECTORS_CONVERT;
  words->count = 0;
  add(words, "explain");
  add_format(words, "-f", &test->z);
  for (int k = 0; !converts && k < test->op.operands; k++)
    if (!vectors_same_type(&test->x[k], &test->z)) add_format(words, options[k], &test->x[k]);
  add_mode(words, test->mode, &random);
  if (!converts) add(words, test->op.name);
  for (int k = 0; k < test->op.operands; k++) add_value(words, &test->x[k], x[k]);
  words->word[words->count] = NULL;
}

static void print_word(const char *word) { printf(strpbrk(word, "();*") ? "'%s'" : "%s", word); }

static void print_command(const command_line *words) {
  printf("  halfulp");
  for (int i = 0; i < words->count; i++) putchar(' '), print_word(words->word[i]);
  putchar('\n');
}

/* Prints what the operands are, where their values alone do not say it. */
static void print_signalling(const vectors *test, const uint64_t *x) {
  for (int k = 0; k < test->op.operands; k++)
    if (vectors_is_signalling(&test->x[k], x[k]))
      printf("  %c is a signalling NaN, which is invalid as an operand\n", 'A' + k);
}

static void explain_none(const explained *subject, const char *what) {
  if (subject->json)
    printf("null");
  else
    printf("  `halfulp explain` does not explain %s\n", what);
}

void explain_case(const void *context, unsigned long line, const char *operands) {
  const explained *subject = context;
  const vectors *test = subject->test;
  uint64_t x[VECTORS_OPERANDS + 1] = {0};
  command_line *words = is_explained(test) ? malloc(sizeof *words) : NULL;
  if (!words) {
    explain_none(subject, test->op.kind == VECTORS_CONVERT ? "conversions to integers and to binary64" : test->op.name);
    return;
  }
  for (int k = 0; k < vectors_given(test); k++) {
    char *end;
    x[k] = strtoull(operands, &end, 16);
    operands = end;
  }
  make(words, test, x, test->words ? (uint32_t)x[test->op.operands] : vectors_word(test, line - 1));
  if (subject->json) {
    add(words, "--json");
    words->word[words->count] = NULL;
  } else {
    print_command(words);
    print_signalling(test, x);
  }
  if (cli_explain(words->count, words->word) == CLI_BAD && subject->json) printf("null");
  free(words);
}

/* ---- dot products ---- */

/* Prints the command line that explains the row again. */
static void print_dot_command(const explained *subject, unsigned long line, char *const *word, int count) {
  const vectors_dot *test = subject->dot;
  const hu_type element[] = {test->dot.a, test->dot.b, test->dot.result};
  static const char *const options[] = {"--fa", "--fb", "--fd"};
  command_line words = {.count = 0};
  char name[CLI_NAME_MAX], text[32];
  for (int i = 0; i < 3; i++) add_two(&words, options[i], cli_element_name(name, element[i]));
  add_mode(&words, test->dot.mode, NULL);
  if (test->dot.mode.bits || test->dot.accum.mode.bits) {
    snprintf(text, sizeof text, "%llu", (unsigned long long)test->stream.key);
    add_two(&words, "--seed", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(test->stream.counter + line - 1));
    add_two(&words, "--counter", text);
  }
  printf("  halfulp explain dot --accum ");
  print_word(subject->model);
  for (int i = 0; i < words.count; i++) putchar(' '), print_word(words.word[i]);
  printf(" --codes");
  for (int i = 0; i < count; i++) printf(" %s", word[i]);
  putchar('\n');
}

/* Explains a row step by step, with JSON like that of `halfulp explain dot`. */
static int explain_row(const explained *subject, unsigned long line, char *operands) {
  const vectors_dot *test = subject->dot;
  cli_lines lines = {.name = "explain", .number = line};
  hu_exec exec = {1, 0, test->stream, {0}};
  char *word[CLI_DOT_WORDS], model[HU_ACCUM_TEXT_MAX] = "";
  int count = cli_split(operands, word, CLI_DOT_WORDS);
  exec.stream.counter += line - 1;
  if (subject->json) {
    hu_accum_text(model, sizeof model, &test->dot.accum);
    cli_json(stdout, "{'model': ?, 'products': ?, ", JSON(model), JSON(test->n));
  } else {
    print_dot_command(subject, line, word, count);
  }
  int status = cli_explain_dot_line(&test->dot, word, count, &lines, &exec, 0, subject->json);
  if (subject->json) putchar('}');
  return status;
}

void explain_dot_case(const void *context, unsigned long line, const char *operands) {
  const explained *subject = context;
  char *copy = subject->dot->dot.words ? NULL : strdup(operands);
  if (copy)
    (void)explain_row(subject, line, copy); /* it has been judged, so it can be computed */
  else
    explain_none(subject, "rows with --words");
  free(copy);
}
