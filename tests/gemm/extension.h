/* SPDX-License-Identifier: MIT */
/* tests/gemm/extension.h - products with all that the processor has against what is left with levels off, and what the
 * tests of instructions that only some processors have share. */
#ifndef HALFULP_TESTS_GEMM_EXTENSION_H
#define HALFULP_TESTS_GEMM_EXTENSION_H

#include "tests/gemm/problem.h"

/* On one and three threads and in place, bytes, padding and events against one thread with `off`; adds to *runs. model:
 * for the message. Failures are cmocka's. */
void problem_same_with(const t_problem *problem, const char *model, uint32_t off, unsigned long *runs);
/* The same without the levels of each of n masks. */
void problem_same_without(const t_problem *problem, const char *model, const uint32_t *without, size_t n, uint32_t off,
                          unsigned long *runs);

/* extension_ran(): what main adds to the tests that failed. Where modelled instructions (modelled/immintrin.h) are
 * compiled in, it shows by a group of cmocka, behind all others, that the products have gone through them: count() is
 * more than `least`. */
#ifdef TEST_MODELLED
#define EXTENSION_RAN(count, least)                                         \
  static void instructions_ran(void **state) {                              \
    (void)state;                                                            \
    assert_true(count() > (least));                                         \
  }                                                                         \
  static int extension_ran(void) {                                          \
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_ran)}; \
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);  \
  }
#else
#define EXTENSION_RAN(count, least) \
  static int extension_ran(void) { return 0; }
#endif

#endif
