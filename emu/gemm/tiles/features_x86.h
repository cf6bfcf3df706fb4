/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/features_x86.h - whether the CPU has a unit that compilers do not ask about: CPUID, which takes
 * thousands of cycles in a virtual machine. So an answer is kept; threads that ask at the same time get the same. */
#ifndef HALFULP_EMU_GEMM_TILES_FEATURES_X86_H
#define HALFULP_EMU_GEMM_TILES_FEATURES_X86_H

#ifdef HU_MODELLED_INSTRUCTIONS
static inline int hui_has_leaf7(unsigned bits) { return bits != 0; }
static inline int hui_has_leaf7_1(unsigned bits) { return bits != 0; }
#else
#include <cpuid.h>

/* Checks for all these bits of EDX of leaf 7. */
static inline int hui_has_leaf7(unsigned bits) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & bits) == bits;
}

/* Checks for all these bits of EAX of its subleaf 1. */
static inline int hui_has_leaf7_1(unsigned bits) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & bits) == bits;
}
#endif

/* Asks once and keeps the answer; *answer: 0 before the first question. */
static inline int hui_ask_once(int *answer, int (*ask)(void)) {
  int known = __atomic_load_n(answer, __ATOMIC_RELAXED);
  if (!known) {
    known = ask() ? 1 : -1;
    __atomic_store_n(answer, known, __ATOMIC_RELAXED);
  }
  return known > 0;
}

#endif
