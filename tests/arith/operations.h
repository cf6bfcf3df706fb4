/* SPDX-License-Identifier: MIT */
/* tests/arith/operations.h - the operations of arith.h as rows of a table, by the numbers that the oracle gives
 * them. */
#ifndef HALFULP_TESTS_ARITH_OPERATIONS_H
#define HALFULP_TESTS_ARITH_OPERATIONS_H

#include "halfulp/arith.h"
#include "halfulp/operation.h"
#include "halfulp/oracle.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

typedef uint32_t (*ar_two)(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                           uint32_t random, uint32_t *events);

typedef struct ar_operation {
  int op;
  ar_two two; /* of two operands */
} ar_operation;

static const ar_operation ar_table[HU_ORACLE_OPERATIONS] = {
    {HU_OP_ADD, hu_add},
    {HU_OP_SUB, hu_sub},
    {HU_OP_MUL, hu_mul},
    {HU_OP_DIV, hu_div},
    {HU_OP_MINIMUM, hu_minimum},
    {HU_OP_MAXIMUM, hu_maximum},
    {HU_OP_MINIMUM_NUMBER, hu_minimum_number},
    {HU_OP_MAXIMUM_NUMBER, hu_maximum_number},
    {HU_OP_SQRT, NULL},
    {HU_OP_INTEGRAL, NULL},
    {HU_OP_FMA, NULL},
};

static inline const char *ar_name(int op) { return hu_operation_at((size_t)ar_table[op].op).name; }
static inline unsigned ar_operands(int op) { return hu_operation_at((size_t)ar_table[op].op).operands; }

static inline uint32_t ar_call(int op, hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x,
                               uint32_t *events) {
  if (op == HU_ORACLE_SQRT) return hu_sqrt(fz, mode, x[0].format, x[0].code, random, events);
  if (op == HU_ORACLE_ROUND_TO_INTEGRAL) return hu_round_to_integral(fz, mode, x[0].code, random, events);
  if (op == HU_ORACLE_FMA)
    return hu_fma(fz, mode, x[0].format, x[0].code, x[1].format, x[1].code, x[2].format, x[2].code, random, events);
  return ar_table[op].two(fz, mode, x[0].format, x[0].code, x[1].format, x[1].code, random, events);
}

/* The emulator against the oracle; returns the events. */
static inline uint32_t ar_check(int op, hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x) {
  uint32_t expected = 0xDEAD, expected_events = 0xDEAD, events = 0xBEEF;
  hu_status status = hu_oracle_arith(&expected, &expected_events, op, fz, mode, random, x);
  if (status != HU_OK) fail_msg("the oracle of %s says %s", ar_name(op), hu_status_name(status));
  uint32_t got = ar_call(op, fz, mode, random, x, &events);
  if (got != expected || events != expected_events) {
    char z[T_FORMAT_TEXT], f[3][T_FORMAT_TEXT] = {"", "", ""}, m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    uint32_t code[3] = {0, 0, 0};
    for (unsigned i = 0; i < ar_operands(op); i++) {
      t_format_text(f[i], x[i].format);
      code[i] = x[i].code;
    }
    fail_msg("%s into %s, %s, R=%#x: %#x of %s, %#x of %s, %#x of %s: %#x %s, oracle %#x %s", ar_name(op),
             t_format_text(z, fz), t_mode_text(m, mode), random, code[0], f[0], code[1], f[1], code[2], f[2], got,
             t_events_text(a, events), expected, t_events_text(b, expected_events));
  }
  return expected_events;
}

#endif
