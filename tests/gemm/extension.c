/* SPDX-License-Identifier: MIT */
/* tests/gemm/extension.c - see extension.h. */
#include "tests/gemm/extension.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

void problem_same_with(const problem *p, const char *model, uint32_t off, unsigned long *runs) {
  char text[PROBLEM_TEXT];
  outcome want = problem_run(p, 1, off);
  if (want.status != HU_OK) fail_msg("%s under %s: %s", problem_text(text, p), model, hu_status_name(want.status));
  for (uint32_t threads = 1; threads <= 3; threads += 2) {
    outcome got = problem_run(p, threads, 0);
    for (size_t e = 0; e < p->m * p->n; e++) {
      uint32_t x = outcome_element(p, &got, e / p->n, e % p->n), y = outcome_element(p, &want, e / p->n, e % p->n);
      if (x != y) {
        fail_msg("%s under %s: element %zu, %zu: %x, not %x", problem_text(text, p), model, e / p->n, e % p->n, x, y);
      }
    }
    if (!outcome_same(&got, &want)) fail_msg("%s under %s: events or padding differ", problem_text(text, p), model);
    free(got.d);
    ++*runs;
  }
  if (problem_can_run_in_place(p)) {
    outcome got = problem_run_in_place(p, 2, 0);
    assert_true(outcome_same(&got, &want));
    free(got.d);
  }
  free(want.d);
}
