/* SPDX-License-Identifier: MIT */
/* counted.h - what compilers read before each source of the counted library (meson.build): every call that unfolds a
 * format, and every entering of the floating-point environment, is counted. The library itself has no counters.
 *
 * Not counted: binary32 as hui_pack32 names it, which is a constant that compilers unfold. */
#ifndef HALFULP_TESTS_ENTRANCE_COUNTED_H
#define HALFULP_TESTS_ENTRANCE_COUNTED_H

#include "emu/base/float_env.h"
#include "emu/core/round.h"

/* Defined by the test. */
void count_unfolding(void);
void count_entering(void);

static inline hu_spec counted_spec_of(hu_format format, hu_mode mode) {
  count_unfolding();
  return hui_spec_of(format, mode);
}

static inline hu_float_env counted_enter(uint32_t direction) {
  count_entering();
  return hui_float_env_enter(direction);
}

#define hui_spec_of counted_spec_of
#define hui_float_env_enter counted_enter

#endif
