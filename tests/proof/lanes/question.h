/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/question.h - what the theorems in C share: the library's text in a form that the translator reads,
 * and events as an answer.
 *
 * A theorem is a function of numbers that returns 0, whatever they are. */
#ifndef HALFULP_TESTS_PROOF_LANES_QUESTION_H
#define HALFULP_TESTS_PROOF_LANES_QUESTION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The translator reads functions without calls. */
#define inline __attribute__((always_inline)) inline
#include "emu/core/port.h"
#undef HU_NOINLINE
#define HU_NOINLINE inline

#include "halfulp/format.h"
#include "halfulp/mode.h"
__attribute__((always_inline)) hu_status hu_format_check(hu_format f, const char **axis);
__attribute__((always_inline)) void hu_events_count(hu_events *sum, uint32_t events);
__attribute__((always_inline)) void hu_events_add(hu_events *sum, const hu_events *part);
#include "emu/format/format.c"
#include "one_lane.h"

#include "emu/format/mode.c"

#include "given.h"

/* Events of one element: the counts of a loop against the bits of the core. */
static inline uint32_t wrong_events(const hu_events *counts, uint32_t events) {
  const hu_events *z = counts;
  hu_events core;
  memset(&core, 0, sizeof core);
  hu_events_count(&core, events);
  return z->inexact == core.inexact && z->underflow == core.underflow && z->to_zero == core.to_zero &&
                 z->subnormal == core.subnormal && z->overflow == core.overflow && z->saturated == core.saturated &&
                 z->invalid == core.invalid && z->nan_in == core.nan_in && z->inf_in == core.inf_in &&
                 z->divide_by_zero == core.divide_by_zero
             ? 0
             : WRONG_EVENTS;
}

#endif
