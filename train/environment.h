/* SPDX-License-Identifier: MIT */
/* train/environment.h - sets the floating-point environment of the library's calls and threads: to nearest, subnormals
 * kept, no traps, whatever the caller has set. The caller's settings and flags come back when the call returns.
 *
 * A public call that computes is a function of its own, which is not inlined, between the two ends. Calls within calls
 * enter once more, which costs some nanoseconds. */
#ifndef HALFULP_TRAIN_ENVIRONMENT_H
#define HALFULP_TRAIN_ENVIRONMENT_H

#include <fenv.h>

#include "emu/base/float_env.h"
#include "emu/core/port.h"

/* Is the body of a public call, and returns what `call` returns. */
#define HU_ENV_RETURN(type, call)                                 \
  do {                                                            \
    hu_float_env hu_saved = hui_float_env_enter(HU_LANE_NEAREST); \
    type hu_given = (call);                                       \
    hui_float_env_leave(hu_saved);                                \
    return hu_given;                                              \
  } while (0)

/* Is the same for one that returns nothing. */
#define HU_ENV_DO(call)                                           \
  do {                                                            \
    hu_float_env hu_saved = hui_float_env_enter(HU_LANE_NEAREST); \
    call;                                                         \
    hui_float_env_leave(hu_saved);                                \
  } while (0)

/* Where numbers are read from texts or written as texts: strtod and printf round by the direction of the C library,
 * which on x86 is that of the x87 unit. Slower than the others. */
static inline fenv_t hui_text_env_enter(void) {
  fenv_t saved;
  fegetenv(&saved);
  fesetenv(FE_DFL_ENV);
  return saved;
}
static inline void hui_text_env_leave(fenv_t saved) { fesetenv(&saved); }

#endif
