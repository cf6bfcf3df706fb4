/* SPDX-License-Identifier: MIT */
/* cli/explain/operation.h - one operation of halfulp/arith.h for `halfulp explain`: its operands from text, its exact
 * value, and the library's result. The exact value is for the explanation alone. */
#ifndef HALFULP_CLI_EXPLAIN_OPERATION_H
#define HALFULP_CLI_EXPLAIN_OPERATION_H

#include "cli/base/cli.h"
#include "cli/base/numbers.h"

#define OPERATION_NAMES "add, sub, mul, div, fma, sqrt"
enum { OPERATION_OPERANDS = 3, OPERATION_TEXT_MAX = 160 };

typedef struct operation {
  int op, count; /* HU_OP_; operands, 0: no operation */
  hu_format format[OPERATION_OPERANDS];
  uint32_t code[OPERATION_OPERANDS];
  double value[OPERATION_OPERANDS]; /* of the codes, exact */
  int rounded[OPERATION_OPERANDS];  /* the text was no value of the format */
} operation;

/* Finds the operation of a name: 1 and op, count. */
int operation_find(operation *found, const char *name);
/* Reads texts as codes of op->format, ties to even, saturation by the format's card. Returns CLI_OK, or CLI_BAD after
 * an error line. */
int operation_read(operation *op, char **texts, int count);
/* Writes "0.3125 * 0.75 + 1". */
const char *operation_text(char text[OPERATION_TEXT_MAX], const operation *op);
/* Returns the exact value, rounded to odd where binary64 does not hold it, as number_parse reads text. */
number operation_exact(const operation *op);
/* Returns the code of hu_add, ..., hu_sqrt. */
uint32_t operation_code(const operation *op, hu_format format, hu_mode mode, uint32_t random, uint32_t *events);
/* Says why operands that are no NaN give a NaN, or finite ones an infinity: "inf - inf has no value"; NULL. */
const char *operation_special(const operation *op);

#endif
