/* SPDX-License-Identifier: MIT */
/* tests/scaled/golden.h - files of scaled tensors: lines of a word and numbers, `scaling TEXT` for the cases that
 * follow; of each case `shape ROWS COLS`, `x` binary32 patterns in hexadecimal, `tensor` pattern if the tensor has a
 * scale, `scales`, `codes`. # begins a comment. */
#ifndef HALFULP_TESTS_SCALED_GOLDEN_H
#define HALFULP_TESTS_SCALED_GOLDEN_H

#include "halfulp/scaled.h"

enum { GOLDEN_NUMBERS = 4096 };

typedef struct t_golden {
  hu_scaling scaling;
  size_t rows, cols;
  float x[GOLDEN_NUMBERS];
  uint32_t tensor, scales[GOLDEN_NUMBERS], codes[GOLDEN_NUMBERS];
  int has_tensor;
} t_golden;

/* Cases of a file; -1 if one does not hold. */
int golden_replay(const char *path, int (*holds)(const t_golden *));

#endif
