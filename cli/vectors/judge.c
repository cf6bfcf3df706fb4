/* SPDX-License-Identifier: MIT */
/* Judges results: decides what counts as right, says what differs and how, and counts. */
#include <stdlib.h>
#include <string.h>

#include "cli/vectors/vectors.h"

enum { INVALID = 16, SOME = 8 }; /* SOME: lines that are not all alike by chance */

int vectors_judge_open(vectors_verdict *sum, const vectors_rules *rules) {
  memset(sum, 0, sizeof *sum);
  sum->out = rules->json ? open_memstream(&sum->text, &sum->length) : stdout;
  return sum->out ? CLI_OK : cli_fail(NULL, "out of memory");
}

/* ---- what is right ---- */

static int nan_fits(const vectors_rules *rules, const vectors_type *type, uint64_t z) {
  if (!vectors_is_nan(type, z)) return 0;
  if (rules->nan_result == VECTORS_NAN_QUIET) return !vectors_is_signalling(type, z);
  return rules->nan_result == VECTORS_NAN_ANY || z == vectors_canonical_nan(type);
}

/* Returns the counter of what is wrong, NULL if nothing is. */
static uint64_t *kind_of(vectors_verdict *sum, const vectors_rules *rules, const vectors_type *type,
                         vectors_answer right, vectors_answer given, int open) {
  uint32_t differ = rules->no_flags ? 0 : given.flags ^ right.flags;
  if (open) differ &= ~(uint32_t)INVALID;
  if (given.unknown) return &sum->unknown;
  if (vectors_is_nan(type, right.z)) {
    if (!vectors_is_nan(type, given.z)) return &sum->results;
    if (!nan_fits(rules, type, given.z)) return &sum->nans;
  } else if (given.z != right.z) {
    return &sum->results;
  }
  return differ ? &sum->flags : NULL;
}

/* ---- differences ---- */

static void print_answer(FILE *out, const vectors_rules *rules, const vectors_type *type, vectors_answer answer) {
  char value[VECTORS_VALUE_MAX], words[VECTORS_FLAGS_MAX];
  if (answer.unknown) {
    fprintf(out, "%s (digits X or Z)", answer.unknown);
    return;
  }
  fprintf(out, "%0*llX %02X (%s", (int)vectors_digits(type), (unsigned long long)answer.z, answer.flags,
          vectors_value_text(value, type, answer.z));
  if (!rules->no_flags) fprintf(out, "; %s", vectors_flag_words(words, answer.flags));
  fputc(')', out);
}

void vectors_json_answer(FILE *out, const vectors_type *type, vectors_answer answer) {
  char value[VECTORS_VALUE_MAX];
  if (answer.unknown) {
    cli_json(out, "'text': ?", JSON(answer.unknown));
  } else {
    fprintf(out, "\"code\": \"0x%0*llx\", \"value\": ", (int)vectors_digits(type), (unsigned long long)answer.z);
    if (type->kind == VECTORS_INTEGER || type->kind == VECTORS_TRUTH)
      fputs(vectors_value_text(value, type, answer.z), out);
    else
      cli_json_double(out, vectors_value(type, answer.z));
    fprintf(out, ", \"flags\": \"0x%02x\"", answer.flags);
  }
}

static void json_answer(FILE *out, const char *name, const vectors_type *type, vectors_answer answer) {
  fprintf(out, ", \"%s\": {", name);
  vectors_json_answer(out, type, answer);
  fputc('}', out);
}

void vectors_json_case(int first, const char *operands, const vectors_type *type, uint64_t z, uint32_t flags) {
  cli_json(stdout, "?{'operands': ?, ", cli_plain(first ? "[" : ",\n "), JSON(operands));
  vectors_json_answer(stdout, type, (vectors_answer){z, flags, NULL});
  putchar('}');
}

static void print_difference(const vectors_verdict *sum, const vectors_rules *rules, const vectors_type *type,
                             unsigned long line, const char *operands, vectors_answer right, vectors_answer given) {
  FILE *out = sum->out;
  if (rules->json) {
    cli_json(out, "?{'line': ?, 'operands': ?", cli_comma(sum->wrong <= 1), JSON(line), JSON(operands));
    json_answer(out, "is", type, given);
    json_answer(out, "should_be", type, right);
    fputc('}', out);
    return;
  }
  fprintf(out, "line %lu: %s is %s", line, operands, cli_ink_on(out, CLI_INK_WRONG));
  print_answer(out, rules, type, given);
  fprintf(out, "%s, should be %s", cli_ink_on(out, CLI_INK_END), cli_ink_on(out, CLI_INK_RIGHT));
  print_answer(out, rules, type, right);
  fprintf(out, "%s\n", cli_ink_on(out, CLI_INK_END));
}

/* Explains the first difference; JSON has the explanation behind all differences. */
static void explain_first(vectors_verdict *sum, const vectors_rules *rules, unsigned long line, const char *operands) {
  sum->first_line = line;
  if (rules->json)
    sum->first_operands = strdup(operands);
  else
    rules->explain(rules->context, line, operands);
}

void vectors_judge(vectors_verdict *sum, const vectors_rules *rules, const vectors_type *type, unsigned long line,
                   const char *operands, vectors_answer right, vectors_answer given, int open) {
  uint64_t *kind = kind_of(sum, rules, type, right, given, open);
  if (!sum->cases) sum->first_given = given.z;
  if (!sum->cases) sum->first_right = right.z;
  sum->given_vary |= given.z != sum->first_given || given.unknown;
  sum->right_vary |= right.z != sum->first_right;
  sum->cases++;
  if (!kind) return;
  ++*kind;
  if (sum->wrong++ >= rules->first) return;
  print_difference(sum, rules, type, line, operands, right, given);
  if (sum->wrong == 1 && rules->explain) explain_first(sum, rules, line, operands);
}

/* ---- totals ---- */

static void print_kinds(const vectors_verdict *sum) {
  const struct {
    uint64_t count;
    const char *words;
  } kind[] = {{sum->results, "in the result"},
              {sum->nans, "in the kind of NaN"},
              {sum->flags, "in the flags alone"},
              {sum->unknown, "with digits X or Z"}};
  const char *before = " (";
  for (int i = 0; i < 4; i++) {
    if (!kind[i].count) continue;
    printf("%s%llu %s", before, (unsigned long long)kind[i].count, kind[i].words);
    before = ", ";
  }
  if (sum->wrong) putchar(')');
}

static void print_totals(const vectors_verdict *sum, const vectors_rules *rules, const char *id, uint64_t missing) {
  unsigned long long cases = sum->cases, wrong = sum->wrong;
  if (!rules->json) {
    printf("%llu cases, %s%llu differ%s", cases, cli_ink_on(stdout, wrong ? CLI_INK_WRONG : CLI_INK_RIGHT), wrong,
           cli_ink_on(stdout, CLI_INK_END));
    print_kinds(sum);
    putchar('\n');
    return;
  }
  cli_json(stdout, "{'id': ?, 'cases': ?, 'missing': ?, 'differ': ?, ", JSON(id), JSON(cases), JSON(missing),
           JSON(wrong));
  cli_json(stdout, "'kinds': {'result': ?, 'nan': ?, 'flags': ?, 'unknown': ?}, 'first': [?]", JSON(sum->results),
           JSON(sum->nans), JSON(sum->flags), JSON(sum->unknown), cli_plain(sum->text ? sum->text : ""));
  if (rules->explain) {
    printf(", \"explanation\": ");
    if (sum->first_operands)
      rules->explain(rules->context, sum->first_line, sum->first_operands);
    else
      printf("null");
  }
  printf("}\n");
}

int vectors_report(vectors_verdict *sum, const vectors_rules *rules, const char *id, const char *path, int status,
                   uint64_t missing) {
  if (rules->json && fclose(sum->out)) status = cli_fail(NULL, "out of memory");
  if (status == CLI_OK) {
    print_totals(sum, rules, id, missing);
    if (sum->cases >= SOME && sum->wrong && sum->right_vary && !sum->given_vary)
      cli_note("vectors: all results are that of line 1; did the bench evaluate the unit for each line?");
    if (missing)
      fprintf(stderr, "halfulp: %s: ends too early: %llu of %llu cases are missing\n",
              path && strcmp(path, "-") != 0 ? path : "standard input", (unsigned long long)missing,
              (unsigned long long)(missing + sum->cases));
    else if (!sum->cases)
      status = cli_fail(path, "no cases");
    if (status == CLI_OK && (sum->wrong || missing)) status = CLI_DIFFERENT;
  }
  free(sum->text);
  free(sum->first_operands);
  return status;
}
