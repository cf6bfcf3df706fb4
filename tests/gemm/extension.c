/* SPDX-License-Identifier: MIT */
/* tests/gemm/extension.c - see extension.h. */
#include "tests/gemm/extension.h"

#include <stdlib.h>

#include "tests/gemm/models.h"
#include "tests/support/cmocka.h"

/* On so many threads. */
static void same_on(const t_problem *problem, const char *model, uint32_t threads, uint32_t without,
                    const t_outcome *expected) {
  char text[PROBLEM_TEXT];
  t_outcome got = problem_run(problem, threads, without);
  for (size_t e = 0; e < problem->m * problem->n; e++) {
    uint32_t x = outcome_element(problem, &got, e / problem->n, e % problem->n),
             y = outcome_element(problem, expected, e / problem->n, e % problem->n);
    if (x != y) {
      fail_msg("%s under %s without levels %x: element %zu, %zu: %x, not %x", problem_text(text, problem), model,
               without, e / problem->n, e % problem->n, x, y);
    }
  }
  if (!outcome_same(&got, expected)) {
    fail_msg("%s under %s without levels %x: events or padding differ", problem_text(text, problem), model, without);
  }
  free(got.d);
}

void problem_same_without(const t_problem *problem, const char *model, const uint32_t *without, size_t n, uint32_t off,
                          unsigned long *runs) {
  char text[PROBLEM_TEXT];
  t_outcome expected = problem_run(problem, 1, off);
  if (expected.status != HU_OK)
    fail_msg("%s under %s: %s", problem_text(text, problem), model, hu_status_name(expected.status));
  for (size_t i = 0; i < n; i++) {
    same_on(problem, model, 1, without[i], &expected);
    same_on(problem, model, 3, without[i], &expected);
    *runs += 2;
    if (!problem_can_run_in_place(problem)) continue;
    t_outcome got = problem_run_in_place(problem, 2, without[i]);
    assert_true(outcome_same(&got, &expected));
    free(got.d);
  }
  free(expected.d);
}

void problem_same_with(const t_problem *problem, const char *model, uint32_t off, unsigned long *runs) {
  const uint32_t nothing = 0;
  problem_same_without(problem, model, &nothing, 1, off, runs);
}
