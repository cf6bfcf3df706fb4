/* SPDX-License-Identifier: MIT */
/* emu/base/float_env.h - saves the caller's floating-point environment, sets one direction of rounding with subnormals
 * kept and traps masked, and restores the caller's settings and flags. Call the arithmetic between enter and leave
 * through a function that is not inlined, or the compiler may move it out. */
#ifndef HALFULP_EMU_BASE_FLOAT_ENV_H
#define HALFULP_EMU_BASE_FLOAT_ENV_H

#include "emu/core/lane_constants.h"

#if HU_X86
#include <xmmintrin.h>
#define HU_FLOAT_ENV 1
#elif (defined(__GNUC__) || defined(__clang__)) && (defined(__aarch64__) || defined(__riscv_float_abi_double))
#define HU_FLOAT_ENV 1
#else
#define HU_FLOAT_ENV 0 /* on any other processor: kernels that need a rounding direction are not compiled */
#endif

typedef struct hu_float_env {
  uint64_t control, status;
} hu_float_env;

/* Sets the direction, HU_LANE_NEAREST (ties to even) ... of emu/core/lane_constants.h; returns what to restore. */
static inline hu_float_env hui_float_env_enter(uint32_t direction) {
  hu_float_env saved = {0, 0};
#if HU_X86
  saved.control = _mm_getcsr();
  _mm_setcsr(0x1F80 | direction << 13); /* all traps masked */
#elif HU_FLOAT_ENV && defined(__aarch64__)
  static const uint64_t modes[4] = {0, (uint64_t)2 << 22, (uint64_t)1 << 22, (uint64_t)3 << 22};
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(saved.control), "=r"(saved.status));
  __asm__ volatile("msr fpcr, %0" : : "r"(modes[direction]) : "memory");
#elif HU_FLOAT_ENV /* RISC-V: direction and flags are one register */
  static const uint64_t modes[4] = {0, 2 << 5, 3 << 5, 1 << 5};
  __asm__ volatile("frcsr %0" : "=r"(saved.control));
  __asm__ volatile("fscsr %0" : : "r"(modes[direction]) : "memory");
#else
  (void)direction;
#endif
  return saved;
}

static inline void hui_float_env_leave(hu_float_env saved) {
#if HU_X86
  _mm_setcsr((uint32_t)saved.control);
#elif HU_FLOAT_ENV && defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(saved.control), "r"(saved.status) : "memory");
#elif HU_FLOAT_ENV
  __asm__ volatile("fscsr %0" : : "r"(saved.control) : "memory");
#else
  (void)saved;
#endif
}

/* Has an operation of this thread rounded since the last call of forget (direction to nearest)? 1 where the CPU does
 * not say. Both stand around calls of kernels, which no compiler moves them across. */
static inline void hui_float_env_forget(void) {
#if HU_X86
  _mm_setcsr(0x1F80);
#elif HU_FLOAT_ENV && defined(__aarch64__)
  uint64_t none = 0;
  __asm__ volatile("msr fpsr, %0" : : "r"(none) : "memory");
#elif HU_FLOAT_ENV
  __asm__ volatile("fsflags zero" : : : "memory");
#endif
}

static inline int hui_float_env_rounded(void) {
#if HU_X86
  return (_mm_getcsr() & 0x20) != 0;
#elif HU_FLOAT_ENV && defined(__aarch64__)
  uint64_t status;
  __asm__ volatile("mrs %0, fpsr" : "=r"(status) : : "memory");
  return (status & 0x10) != 0;
#elif HU_FLOAT_ENV
  uint64_t flags;
  __asm__ volatile("frflags %0" : "=r"(flags) : : "memory");
  return (flags & 1) != 0;
#else
  return 1;
#endif
}

#endif
