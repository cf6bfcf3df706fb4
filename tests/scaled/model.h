/* SPDX-License-Identifier: MIT */
/* tests/scaled/model.h - scaled tensors as docs/scaled.md words them, one element at a time: exact numbers by MPFR and
 * binary64, steps in binary32 by the processor, roundings into formats by the oracle. Nothing of the emulator. */
#ifndef HALFULP_TESTS_SCALED_MODEL_H
#define HALFULP_TESTS_SCALED_MODEL_H

#include "halfulp/scaled.h"

typedef struct model {
  size_t rows, cols;
  const float *x; /* contiguous */
  hu_scaling scaling;
  hu_mode mode;
  hu_stream stream;
  const float *amax;
  /* results: contiguous, room for rows x cols each */
  uint32_t *codes, *scales;
  float *values;
  hu_scaled_stats *stats;
  float tensor;
  hu_events events;
} model;

void model_run(model *m);
/* values from codes, scales and tensor. */
void model_decode(model *m);

#endif
