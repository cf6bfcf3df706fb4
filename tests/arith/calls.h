/* SPDX-License-Identifier: MIT */
/* tests/arith/calls.h - the array calls of arith_n.h behind one function, and the one-value calls beside them. Numbers:
 * the oracle's operations, then the calls that round nothing. */
#ifndef HALFULP_TESTS_ARITH_CALLS_H
#define HALFULP_TESTS_ARITH_CALLS_H

#include "halfulp/arith_n.h"
#include "tests/arith/operations.h"

enum { CALLS_NEXT_UP = HU_ORACLE_OPERATIONS, CALLS_NEXT_DOWN, CALLS_CLASS, CALLS_COMPARE, CALLS_COUNT };
static const char *const calls_names[CALLS_COUNT] = {
    "add_n",
    "sub_n",
    "mul_n",
    "div_n",
    "minimum_n",
    "maximum_n",
    "minimum_number_n",
    "maximum_number_n",
    "sqrt_n",
    "round_to_integral_n",
    "fma_n",
    "next_up_n",
    "next_down_n",
    "class_n",
    "compare_n",
};

/* An array of codes; data of results is written. */
typedef struct calls_array {
  void *data;
  ptrdiff_t inc;
  hu_format format;
} calls_array;

static inline int calls_operands(int call) {
  if (call < HU_ORACLE_OPERATIONS) return (int)ar_table[call].operands;
  return call == CALLS_COMPARE ? 2 : 1;
}

/* Do operand and result share one format? Are results bytes whatever the format? */
static inline int calls_same_format(int call) {
  return call == HU_ORACLE_ROUND_TO_INTEGRAL || call == CALLS_NEXT_UP || call == CALLS_NEXT_DOWN || call == CALLS_CLASS;
}
static inline int calls_bytes(int call) { return call == CALLS_CLASS || call == CALLS_COMPARE; }

static inline uint32_t calls_one(int call, hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x,
                                 uint32_t *events) {
  switch (call) {
    case CALLS_NEXT_UP: return hu_next_up(fz, x[0].code);
    case CALLS_NEXT_DOWN: return hu_next_down(fz, x[0].code);
    case CALLS_CLASS: return (uint32_t)hu_class(fz, x[0].code);
    case CALLS_COMPARE: return (uint32_t)hu_compare(x[0].format, x[0].code, x[1].format, x[1].code);
    default: return ar_call(call, fz, mode, random, x, events);
  }
}

typedef hu_status (*calls_two)(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                               hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                               const hu_exec *exec, hu_events *events);

static inline hu_status calls_array_call(int call, size_t n, calls_array z, const calls_array *x, hu_mode mode,
                                         const hu_exec *exec, hu_events *events) {
  static const calls_two two[] = {
      hu_add_n, hu_sub_n, hu_mul_n, hu_div_n, hu_minimum_n, hu_maximum_n, hu_minimum_number_n, hu_maximum_number_n};
  switch (call) {
    case HU_ORACLE_SQRT:
      return hu_sqrt_n(n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, mode, exec, events);
    case HU_ORACLE_FMA:
      return hu_fma_n(n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format,
                      x[2].data, x[2].inc, x[2].format, mode, exec, events);
    case HU_ORACLE_ROUND_TO_INTEGRAL:
      return hu_round_to_integral_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, mode, exec, events);
    case CALLS_NEXT_UP: return hu_next_up_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec);
    case CALLS_NEXT_DOWN: return hu_next_down_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec);
    case CALLS_CLASS: return hu_class_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec);
    case CALLS_COMPARE:
      return hu_compare_n(n, z.data, z.inc, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format, exec);
    default:
      return two[call](n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format,
                       mode, exec, events);
  }
}

#endif
