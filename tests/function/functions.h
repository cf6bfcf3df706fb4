/* SPDX-License-Identifier: MIT */
/* tests/function/functions.h - the elementary functions of arith.h by the oracle's numbers, HU_OP_ less HU_OP_FUNCTION,
 * and the emulator held against the oracle in many modes at once. */
#ifndef HALFULP_TESTS_FUNCTION_FUNCTIONS_H
#define HALFULP_TESTS_FUNCTION_FUNCTIONS_H

#include <string.h>

#include "tests/arith/calls.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static inline const char *fn_name(int function) { return calls_name(HU_OP_FUNCTION + function); }

static inline int fn_find(const char *name) {
  int i = 0;
  while (i < HU_ORACLE_FUNCTIONS && strcmp(fn_name(i), name) != 0) i++;
  return i;
}

static inline uint32_t fn_call(int function, hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x,
                               uint32_t *events) {
  return calls_code(HU_OP_FUNCTION + function, fz, mode, x, random, events);
}

enum { FN_MODES = 16 };
typedef struct fn_modes {
  size_t n;
  hu_mode mode[FN_MODES];
  uint32_t random[FN_MODES];
} fn_modes;

/* Every deterministic rounding and some stochastic ones, with policies drawn for each; N up to `bits`, R often at
 * an end of its range. */
static inline void fn_draw_modes(fn_modes *m, t_random *random, unsigned stochastic, unsigned bits) {
  m->n = T_DETERMINISTIC + stochastic;
  for (unsigned i = 0; i < m->n; i++) {
    m->mode[i] = i < T_DETERMINISTIC ? t_mode(i) : t_stochastic(HU_SRA + i % 3, 1 + t_below(random, bits));
    m->random[i] = t_next32(random);
    if (t_below(random, 4) == 0) m->random[i] = t_below(random, 2) ? 0 : 0xFFFFFFFF;
    if (t_below(random, 2))
      m->mode[i] = t_policy(m->mode[i], t_below(random, 4), t_below(random, 2), t_below(random, 3));
  }
}

/* The emulator against the oracle; returns all events of the cases. */
static inline uint32_t fn_check(int function, hu_format fz, const fn_modes *m, const hu_oracle_code *x) {
  uint32_t expected[FN_MODES], expected_events[FN_MODES], all = 0;
  hu_status status = hu_oracle_functions(expected, expected_events, function, fz, m->n, m->mode, m->random, x);
  if (status != HU_OK) fail_msg("the oracle of %s says %s", fn_name(function), hu_status_name(status));
  for (size_t i = 0; i < m->n; i++) {
    uint32_t events = 0xBEEF, got = fn_call(function, fz, m->mode[i], m->random[i], x, &events);
    all |= events;
    if (got == expected[i] && events == expected_events[i]) continue;
    char z[T_FORMAT_TEXT], f[2][T_FORMAT_TEXT] = {"", ""}, t[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    for (int k = 0; k <= (function == HU_ORACLE_POW); k++) t_format_text(f[k], x[k].format);
    fail_msg("%s into %s, %s, R=%#x: %#x of %s, %#x of %s: %#x %s, oracle %#x %s", fn_name(function),
             t_format_text(z, fz), t_mode_text(t, m->mode[i]), m->random[i], x[0].code, f[0],
             function == HU_ORACLE_POW ? x[1].code : 0, f[1], got, t_events_text(a, events), expected[i],
             t_events_text(b, expected_events[i]));
  }
  return all;
}

#endif
