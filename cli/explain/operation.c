/* SPDX-License-Identifier: MIT */
/* Operations to be explained: see operation.h. */
#include "cli/explain/operation.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/scalar.h"

enum { ADD, SUB, MUL, DIV, FMA, SQRT, KINDS };

static const struct kind {
  const char *name;
  int count;
} kinds[KINDS] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"div", 2}, {"fma", 3}, {"sqrt", 1}};

int operation_find(operation *op, const char *name) {
  for (int i = 0; i < KINDS; i++) {
    if (strcmp(name, kinds[i].name) != 0) continue;
    op->which = i;
    op->count = kinds[i].count;
    return 1;
  }
  return 0;
}

static int read_operand(operation *op, int i, const char *text) {
  number x;
  uint32_t events;
  if (!number_parse(&x, text)) return cli_fail(NULL, "explain: '%s' is not a number", text);
  if (!number_suffices(x, op->format[i], (hu_mode){0}))
    return cli_fail(NULL, "explain: the format requires more digits of '%s' than binary64 holds", text);
  op->code[i] = hu_encode64(op->format[i], (hu_mode){0}, x.value, 0, &events);
  op->value[i] = hu_decode64(op->format[i], op->code[i]);
  op->rounded[i] = !x.exact || (op->value[i] != x.value && !(isnan(op->value[i]) && isnan(x.value)));
  return CLI_OK;
}

int operation_read(operation *op, char **texts, int count) {
  if (count != op->count)
    return cli_fail(NULL, "explain: %s takes %d operand%s, and %d %s given", kinds[op->which].name, op->count,
                    op->count == 1 ? "" : "s", count, count == 1 ? "is" : "are");
  for (int i = 0; i < count; i++)
    if (read_operand(op, i, texts[i])) return CLI_BAD;
  return CLI_OK;
}

const char *operation_text(char text[OPERATION_TEXT_MAX], const operation *op) {
  static const char signs[KINDS] = {'+', '-', '*', '/', '*', 0};
  char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX], c[NUMBER_TEXT_MAX];
  number_decimal(a, op->value[0]);
  number_decimal(b, op->value[1]);
  number_decimal(c, op->value[2]);
  if (op->which == SQRT)
    snprintf(text, OPERATION_TEXT_MAX, "sqrt(%s)", a);
  else
    snprintf(text, OPERATION_TEXT_MAX, "%s %c %s%s%s", a, signs[op->which], b, op->which == FMA ? " + " : "",
             op->which == FMA ? c : "");
  return text;
}

/* Computes in the rounding direction in force; volatile, so that no compiler computes it before. */
static double compute(const operation *op) {
  volatile double a = op->value[0], b = op->value[1], c = op->value[2], z;
  switch (op->which) {
    case ADD: z = a + b; break;
    case SUB: z = a - b; break;
    case MUL: z = a * b; break;
    case DIV: z = a / b; break;
    case FMA: z = fma(a, b, c); break;
    default: z = sqrt(a); break;
  }
  return z;
}

/* Computes toward zero, where binary64 drops digits alone; if it dropped some, the last bit is set. */
number operation_exact(const operation *op) {
  fenv_t before;
  feholdexcept(&before);
  fesetround(FE_TOWARDZERO);
  volatile double toward = compute(op);
  int exact = !fetestexcept(FE_INEXACT);
  fesetenv(&before);
  double zero = toward;
  if (exact) return (number){zero, 1, zero};
  uint64_t bits;
  double odd;
  memcpy(&bits, &zero, sizeof bits);
  bits |= 1;
  memcpy(&odd, &bits, sizeof odd);
  return (number){odd, 0, zero};
}

uint32_t operation_code(const operation *op, hu_format format, hu_mode mode, uint32_t random, uint32_t *events) {
  const hu_format *from = op->format;
  const uint32_t *c = op->code;
  switch (op->which) {
    case ADD: return hu_add(format, mode, from[0], c[0], from[1], c[1], random, events);
    case SUB: return hu_sub(format, mode, from[0], c[0], from[1], c[1], random, events);
    case MUL: return hu_mul(format, mode, from[0], c[0], from[1], c[1], random, events);
    case DIV: return hu_div(format, mode, from[0], c[0], from[1], c[1], random, events);
    case FMA: return hu_fma(format, mode, from[0], c[0], from[1], c[1], from[2], c[2], random, events);
    default: return hu_sqrt(format, mode, from[0], c[0], random, events);
  }
}

const char *operation_special(const operation *op) {
  static const char *const no_value[KINDS] = {"inf - inf has no value: NaN",
                                              "inf - inf has no value: NaN",
                                              "0 * inf has no value: NaN",
                                              "0 / 0 and inf / inf have no value: NaN",
                                              "0 * inf and inf - inf have no value: NaN",
                                              "a negative number has no root: NaN"};
  for (int i = 0; i < op->count; i++)
    if (isnan(op->value[i])) return "an operand is a NaN";
  if (isnan(operation_exact(op).value)) return no_value[op->which];
  if (op->which == DIV && op->value[1] == 0 && isfinite(op->value[0])) return "a finite number over 0 is an infinity";
  return NULL;
}
