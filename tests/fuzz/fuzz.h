/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz.h - one entry point, libFuzzer's, for each target: bytes in, abort on a broken promise. */
#ifndef HALFULP_TESTS_FUZZ_H
#define HALFULP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                 \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

#endif
