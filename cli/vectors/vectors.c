/* SPDX-License-Identifier: MIT */
/* Operations by name, cases solved. */
#include "cli/vectors/vectors.h"

#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { LESS = 1, EQUAL = 2 };
enum { INEXACT = 1, INVALID = 16 };

/* What is here besides the operations of halfulp/operation.h that round. */
static const vectors_operation others[] = {
    {"eq", "eq", VECTORS_RELATION, 2, -1, EQUAL, 0},
    {"le", "le", VECTORS_RELATION, 2, -1, LESS | EQUAL, 1},
    {"lt", "lt", VECTORS_RELATION, 2, -1, LESS, 1},
    {"eq_signaling", "eq_signaling", VECTORS_RELATION, 2, -1, EQUAL, 1},
    {"le_quiet", "le_quiet", VECTORS_RELATION, 2, -1, LESS | EQUAL, 0},
    {"lt_quiet", "lt_quiet", VECTORS_RELATION, 2, -1, LESS, 0},
};
enum { OTHERS = sizeof others / sizeof others[0] };

/* Sets entry i of both lists. Returns 0 behind the last. */
static int operation_at(vectors_operation *found, size_t i) {
  if (i < OTHERS) {
    *found = others[i];
    return 1;
  }
  hu_operation listed = hu_operation_at(i - OTHERS);
  int op = (int)i - OTHERS, kind = op == HU_OP_CONVERT ? VECTORS_CONVERT : VECTORS_OPERATION;
  *found = (vectors_operation){listed.name, listed.testfloat, kind, listed.operands, op, 0, 0};
  return listed.name != NULL;
}

/* Is it one whose results are codes, with flags? */
static int is_here(const vectors_operation *operation) {
  return operation->op < 0 || hu_operation_at((size_t)operation->op).rounds;
}

int vectors_find(vectors_operation *found, const char *name) {
  for (size_t i = 0; operation_at(found, i); i++)
    if (is_here(found) && !strcmp(found->name, name)) return 1;
  return 0;
}

size_t vectors_names(char *text, size_t size, int relations) {
  vectors_operation found;
  size_t n = 0;
  for (size_t i = 0; operation_at(&found, i); i++)
    if (is_here(&found) && (found.kind == VECTORS_RELATION) == relations && n < size)
      n += (size_t)snprintf(text + n, size - n, " %s", found.name);
  return n;
}

/* ---- names of TestFloat ---- */

static int standard_type(vectors_type *made, const char *name, size_t length) {
  static const struct {
    const char *name;
    vectors_type type;
  } known[] = {
      {"f16", {.format = {0}}},
      {"bf16", {.format = {0}}},
      {"f32", {.format = {0}}},
      {"f64", {.kind = VECTORS_BINARY64}},
      {"i32", {VECTORS_INTEGER, {0}, {32, 1, HU_INTEGER_RISCV, 1}}},
      {"ui32", {VECTORS_INTEGER, {0}, {32, 0, HU_INTEGER_RISCV, 1}}},
      {"i64", {VECTORS_INTEGER, {0}, {64, 1, HU_INTEGER_RISCV, 1}}},
      {"ui64", {VECTORS_INTEGER, {0}, {64, 0, HU_INTEGER_RISCV, 1}}},
  };
  const hu_format formats[] = {hu_binary16(), hu_bfloat16(), hu_binary32()};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strlen(known[i].name) != length || strncmp(name, known[i].name, length) != 0) continue;
    *made = known[i].type;
    if (i < 3) made->format = formats[i];
    return 1;
  }
  return 0;
}

int vectors_find_testfloat(vectors *test, const char *function) {
  const char *rest = strchr(function, '_');
  if (!rest || !standard_type(&test->x[0], function, (size_t)(rest - function))) return 0;
  test->x[1] = test->x[2] = test->z = test->x[0];
  rest++;
  if (!strncmp(rest, "to_", 3)) {
    return vectors_find(&test->op, "convert") && standard_type(&test->z, rest + 3, strlen(rest + 3)) &&
           !vectors_same_type(&test->x[0], &test->z);
  }
  for (size_t i = 0; operation_at(&test->op, i); i++) {
    if (!test->op.testfloat || strcmp(test->op.testfloat, rest) != 0 || test->z.kind != VECTORS_CODE) continue;
    if (test->op.kind == VECTORS_RELATION) test->z.kind = VECTORS_TRUTH;
    return 1;
  }
  return 0;
}

int vectors_check(const vectors *test) {
  const vectors_type *z = &test->z;
  if (test->op.kind == VECTORS_CONVERT) {
    if (test->x[0].kind == VECTORS_CODE || z->kind == VECTORS_CODE) return CLI_OK;
    return cli_fail(NULL, "convert: one of the two must be a format of up to 32 bits");
  }
  for (int k = 0; k < test->op.operands; k++)
    if (test->x[k].kind != VECTORS_CODE)
      return cli_fail(NULL, "%s takes formats of up to 32 bits; binary64 and integers belong to convert",
                      test->op.name);
  if (test->op.kind != VECTORS_RELATION && z->kind != VECTORS_CODE)
    return cli_fail(NULL, "%s gives a format of up to 32 bits; binary64 and integers belong to convert", test->op.name);
  if (test->op.op == HU_OP_INTEGRAL && !vectors_same_type(&test->x[0], z))
    return cli_fail(NULL, "round_to_integral has one format for operand and result");
  return CLI_OK;
}

/* ---- results ---- */

uint32_t vectors_flags_of(const hu_events *events) {
  uint32_t set = 0;
  if (events->inexact) set |= HU_EVENT_INEXACT;
  if (events->underflow) set |= HU_EVENT_UNDERFLOW;
  if (events->overflow) set |= HU_EVENT_OVERFLOW;
  if (events->divide_by_zero) set |= HU_EVENT_DIVIDE_BY_ZERO;
  if (events->invalid) set |= HU_EVENT_INVALID;
  return hu_events_flags(set);
}

static uint32_t relation(const vectors *test, const uint64_t *x, uint32_t *events) {
  int order = hu_compare(test->x[0].format, (uint32_t)x[0], test->x[1].format, (uint32_t)x[1]);
  *events = order == HU_UNORDERED && test->op.signalling ? HU_EVENT_INVALID : 0;
  return (order == HU_LESS && (test->op.relations & LESS)) || (order == HU_EQUAL && (test->op.relations & EQUAL));
}

/* Converts; a format of up to 32 bits is on one side at least. */
static uint64_t convert(const vectors *test, uint64_t x, uint32_t random, uint32_t *events) {
  const vectors_type *from = &test->x[0], *to = &test->z;
  if (from->kind == VECTORS_BINARY64)
    return hu_encode64(to->format, test->mode, vectors_value(from, x), random, events);
  if (from->kind == VECTORS_INTEGER) {
    uint64_t sign = (uint64_t)1 << (from->integer.width - 1);
    return from->integer.is_signed
               ? hu_from_signed(to->format, test->mode, (int64_t)((x ^ sign) - sign), random, events)
               : hu_from_unsigned(to->format, test->mode, x, random, events);
  }
  if (to->kind == VECTORS_INTEGER)
    return hu_to_integer(to->integer, test->mode, from->format, (uint32_t)x, random, events) & vectors_last(to);
  if (to->kind == VECTORS_BINARY64)
    return vectors_is_nan(from, x) ? vectors_canonical_nan(to) : vectors_near(to, vectors_value(from, x), 0);
  return hu_convert(to->format, test->mode, from->format, (uint32_t)x, random, events);
}

uint32_t vectors_word(const vectors *test, uint64_t i) {
  return test->mode.bits ? hu_stream_word(test->stream, i) >> (32 - test->mode.bits) : 0;
}

void vectors_solve(const vectors *test, uint64_t i, vectors_case *instance) {
  uint32_t events = 0, random = test->words ? instance->word : vectors_word(test, i);
  hu_code x[VECTORS_OPERANDS];
  for (int k = 0; k < VECTORS_OPERANDS; k++) x[k] = (hu_code){test->x[k].format, (uint32_t)instance->x[k]};
  switch (test->op.kind) {
    case VECTORS_OPERATION:
      instance->z = hu_apply_code(test->op.op, test->z.format, test->mode, x, random, &events);
      break;
    case VECTORS_CONVERT: instance->z = convert(test, instance->x[0], random, &events); break;
    default: instance->z = relation(test, instance->x, &events); break;
  }
  instance->flags = hu_events_flags(events);
  int quiet = test->quiet_integral && (test->op.op == HU_OP_INTEGRAL || test->z.kind == VECTORS_INTEGER);
  if (quiet) instance->flags &= ~(uint32_t)INEXACT;
  for (int k = 0; k < test->op.operands; k++)
    if (vectors_is_signalling(&test->x[k], instance->x[k])) instance->flags |= INVALID;
}

static int is_infinite(const vectors_type *type, uint64_t x) {
  int c = hu_class(type->format, (uint32_t)x);
  return c == HU_CLASS_NEGATIVE_INFINITY || c == HU_CLASS_POSITIVE_INFINITY;
}

static int is_zero(const vectors_type *type, uint64_t x) {
  int c = hu_class(type->format, (uint32_t)x);
  return c == HU_CLASS_NEGATIVE_ZERO || c == HU_CLASS_POSITIVE_ZERO;
}

int vectors_is_nan_fma(const vectors *test, const uint64_t *x) {
  const vectors_type *type = test->x;
  if (test->op.op != HU_OP_FMA || !vectors_is_nan(&type[2], x[2])) return 0;
  return (is_zero(&type[0], x[0]) && is_infinite(&type[1], x[1])) ||
         (is_infinite(&type[0], x[0]) && is_zero(&type[1], x[1]));
}
