/* SPDX-License-Identifier: MIT */
/* tests/gemm/extension.h - products with all that the processor has against what is left with levels off, and what the
 * tests of instructions that only some processors have share. */
#ifndef HALFULP_TESTS_GEMM_EXTENSION_H
#define HALFULP_TESTS_GEMM_EXTENSION_H

#include "tests/gemm/problem.h"

/* On one and three threads and in place, bytes, padding and events against one thread with `off`; adds to *runs. model:
 * for the message. Failures are cmocka's. */
void problem_same_with(const problem *p, const char *model, uint32_t off, unsigned long *runs);
/* The same without the levels of each of n masks. */
void problem_same_without(const problem *p, const char *model, const uint32_t *without, size_t n, uint32_t off,
                          unsigned long *runs);

/* `rounds` products under each of n models, which are one key apart from what an instruction computes: number i, which
 * `draw` makes of everything but the model, is compared by `same` with all levels off. */
typedef struct extension_texts {
  const char *const *text;
  size_t n, rounds;
  void (*draw)(problem *p, t_random *r, size_t i);
  void (*same)(const problem *p, const char *model, uint32_t off);
} extension_texts;
void extension_neighbours(const extension_texts *x, t_random *r);

/* In a test that is compiled with modelled instructions (modelled/immintrin.h), the last case of the list: the products
 * have gone through them. count() is to be more than `least`. */
#ifdef TEST_MODELLED
#define EXTENSION_RAN(count, least)            \
  static void instructions_ran(void **state) { \
    (void)state;                               \
    assert_true(count() > (least));            \
  }
#define EXTENSION_RAN_CASE , cmocka_unit_test(instructions_ran)
#else
#define EXTENSION_RAN(count, least)
#define EXTENSION_RAN_CASE
#endif

#endif
