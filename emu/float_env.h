/* SPDX-License-Identifier: MIT */
/* emu/float_env.h - the floating-point surroundings of the kernels that compute in it: ties to even, subnormals kept,
 * no traps, whatever the caller set; the caller's settings and flags come back afterwards. */
#ifndef HALFULP_EMU_FLOAT_ENV_H
#define HALFULP_EMU_FLOAT_ENV_H

#include <stdint.h>

#include "emu/port.h"

#if HU_X86
#include <xmmintrin.h>
#endif

typedef struct hu_float_env {
  uint64_t control, status;
} hu_float_env;

static inline hu_float_env hu_float_env_enter(void) {
  hu_float_env saved = {0, 0};
#if HU_X86
  saved.control = _mm_getcsr();
  _mm_setcsr(0x1F80); /* all traps masked, the rest 0 */
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
  uint64_t none = 0;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(saved.control), "=r"(saved.status));
  __asm__ volatile("msr fpcr, %0" : : "r"(none) : "memory");
#endif
  return saved;
}

static inline void hu_float_env_leave(hu_float_env saved) {
#if HU_X86
  _mm_setcsr((uint32_t)saved.control);
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(saved.control), "r"(saved.status) : "memory");
#else
  (void)saved;
#endif
}

#endif
