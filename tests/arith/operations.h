/* SPDX-License-Identifier: MIT */
/* tests/arith/operations.h - the operations of arith.h that the oracle has: each has the same number there. */
#ifndef HALFULP_TESTS_ARITH_OPERATIONS_H
#define HALFULP_TESTS_ARITH_OPERATIONS_H

#include "tests/arith/calls.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

/* The emulator against the oracle; returns the events. */
static inline uint32_t ar_check(int op, hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x) {
  uint32_t expected = 0xDEAD, expected_events = 0xDEAD, events = 0xBEEF;
  hu_status status = hu_oracle_arith(&expected, &expected_events, op, fz, mode, random, x);
  if (status != HU_OK) fail_msg("the oracle of %s says %s", calls_name(op), hu_status_name(status));
  uint32_t got = calls_code(op, fz, mode, x, random, &events);
  if (got != expected || events != expected_events) {
    char z[T_FORMAT_TEXT], f[3][T_FORMAT_TEXT] = {"", "", ""}, m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    uint32_t code[3] = {0, 0, 0};
    for (int i = 0; i < calls_operands(op); i++) {
      t_format_text(f[i], x[i].format);
      code[i] = x[i].code;
    }
    fail_msg("%s into %s, %s, R=%#x: %#x of %s, %#x of %s, %#x of %s: %#x %s, oracle %#x %s", calls_name(op),
             t_format_text(z, fz), t_mode_text(m, mode), random, code[0], f[0], code[1], f[1], code[2], f[2], got,
             t_events_text(a, events), expected, t_events_text(b, expected_events));
  }
  return expected_events;
}

#endif
