/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz.h - one entry point, libFuzzer's, for each target: bytes in, abort on a broken promise. */
#ifndef HALFULP_TESTS_FUZZ_H
#define HALFULP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target whose inputs begin with a byte that chooses one of several steps has these, too: how many, and the seed of a
 * step that is not in the corpus, NULL: it has none. The corpus' files have no such byte. */
size_t fuzz_steps(void) __attribute__((weak));
const uint8_t *fuzz_seed(size_t step, size_t *size) __attribute__((weak));

#define FUZZ_CHECK(condition)                                                 \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

#endif
