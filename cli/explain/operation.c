/* SPDX-License-Identifier: MIT */
/* Operations to be explained: see operation.h. */
#include "cli/explain/operation.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "halfulp/operation.h"
#include "halfulp/scalar.h"

/* The operations that are explained, and why one has no value. */
static const struct explained_operation {
  int op;
  char sign; /* between two operands; 0: none */
  const char *no_value;
} operations[] = {{HU_OP_ADD, '+', "inf - inf has no value: NaN"},
                  {HU_OP_SUB, '-', "inf - inf has no value: NaN"},
                  {HU_OP_MUL, '*', "0 * inf has no value: NaN"},
                  {HU_OP_DIV, '/', "0 / 0 and inf / inf have no value: NaN"},
                  {HU_OP_FMA, '*', "0 * inf and inf - inf have no value: NaN"},
                  {HU_OP_SQRT, 0, "a negative number has no root: NaN"}};

static const struct explained_operation *entry_of(int op) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (operations[i].op == op) return &operations[i];
  return NULL;
}

int operation_find(operation *found, const char *name) {
  int op = hu_operation_find(name);
  if (!entry_of(op)) return 0;
  found->op = op;
  found->count = hu_operation_at((size_t)op).operands;
  return 1;
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
    return cli_fail(NULL, "explain: %s takes %d operand%s, and %d %s given", hu_operation_at((size_t)op->op).name,
                    op->count, op->count == 1 ? "" : "s", count, count == 1 ? "is" : "are");
  for (int i = 0; i < count; i++)
    if (read_operand(op, i, texts[i])) return CLI_BAD;
  return CLI_OK;
}

const char *operation_text(char text[OPERATION_TEXT_MAX], const operation *op) {
  char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX], c[NUMBER_TEXT_MAX];
  number_decimal(a, op->value[0]);
  number_decimal(b, op->value[1]);
  number_decimal(c, op->value[2]);
  if (op->op == HU_OP_SQRT)
    snprintf(text, OPERATION_TEXT_MAX, "sqrt(%s)", a);
  else
    snprintf(text, OPERATION_TEXT_MAX, "%s %c %s%s%s", a, entry_of(op->op)->sign, b, op->op == HU_OP_FMA ? " + " : "",
             op->op == HU_OP_FMA ? c : "");
  return text;
}

/* Computes in the rounding direction in force; volatile, so that no compiler computes it before. */
static double compute(const operation *op) {
  volatile double a = op->value[0], b = op->value[1], c = op->value[2], z;
  switch (op->op) {
    case HU_OP_ADD: z = a + b; break;
    case HU_OP_SUB: z = a - b; break;
    case HU_OP_MUL: z = a * b; break;
    case HU_OP_DIV: z = a / b; break;
    case HU_OP_FMA: z = fma(a, b, c); break;
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
  hu_code x[OPERATION_OPERANDS];
  for (int i = 0; i < OPERATION_OPERANDS; i++) x[i] = (hu_code){op->format[i], op->code[i]};
  return hu_apply_code(op->op, format, mode, x, random, events);
}

const char *operation_special(const operation *op) {
  for (int i = 0; i < op->count; i++)
    if (isnan(op->value[i])) return "an operand is a NaN";
  if (isnan(operation_exact(op).value)) return entry_of(op->op)->no_value;
  if (op->op == HU_OP_DIV && op->value[1] == 0 && isfinite(op->value[0]))
    return "a finite number over 0 is an infinity";
  return NULL;
}
