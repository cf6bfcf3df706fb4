/* SPDX-License-Identifier: MIT */
/* tests/arith/calls.h - hu_apply of arrays that a test fills and looks at, hu_apply_code of the oracle's operands. */
#ifndef HALFULP_TESTS_ARITH_CALLS_H
#define HALFULP_TESTS_ARITH_CALLS_H

#include "halfulp/arith.h"
#include "halfulp/oracle.h"
#include "halfulp/view.h"

/* An array of codes; data of results is written. */
typedef struct calls_array {
  void *data;
  ptrdiff_t inc;
  hu_format format;
} calls_array;

static inline int calls_operands(int op) { return hu_operation_at((size_t)op).operands; }
static inline const char *calls_name(int op) { return hu_operation_at((size_t)op).name; }
/* Do operand and result share one format? Are results bytes whatever the format? */
static inline int calls_same_format(int op) { return hu_operation_at((size_t)op).result == HU_RESULT_SAME; }
static inline int calls_bytes(int op) { return hu_operation_at((size_t)op).result == HU_RESULT_INT8; }

/* Computes operation op of the oracle's operands. */
static inline uint32_t calls_code(int op, hu_format fz, hu_mode mode, const hu_oracle_code *x, uint32_t random,
                                  uint32_t *events) {
  hu_code codes[HU_OPERANDS_MAX];
  for (int i = 0; i < calls_operands(op); i++) codes[i] = hu_code_of(x[i].format, x[i].code);
  return hu_apply_code(op, fz, mode, codes, random, events);
}

static inline hu_output calls_output(int op, calls_array z) {
  return calls_bytes(op) ? hu_int8_out((int8_t *)z.data, z.inc) : hu_codes_out(z.data, z.inc, z.format);
}

static inline void calls_views(int op, hu_view *views, const calls_array *x) {
  for (int i = 0; i < calls_operands(op); i++) views[i] = hu_codes(x[i].data, x[i].inc, x[i].format);
}

static inline hu_status calls_apply(int op, size_t n, calls_array z, const calls_array *x, hu_mode mode,
                                    const hu_exec *exec, hu_events *events) {
  hu_view views[HU_OPERANDS_MAX];
  hu_how how = hu_how_of(mode, exec, events);
  calls_views(op, views, x);
  hu_output to = calls_output(op, z);
  return hu_apply(op, n, &to, views, &how);
}

#endif
