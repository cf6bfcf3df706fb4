/* SPDX-License-Identifier: MIT */
/* cli/tensors/differences.h - how far results lie from a reference in the same format. */
#ifndef HALFULP_CLI_TENSORS_DIFFERENCES_H
#define HALFULP_CLI_TENSORS_DIFFERENCES_H

#include <stddef.h>

#include "halfulp/format.h"

typedef struct differences {
  size_t count, different, not_finite; /* not_finite: an infinity or a NaN on either side; in no figure below */
  double max, rms;                     /* of |result - reference| */
  double steps;                        /* the most steps from a value of the format to the next, to the reference */
  int signs;                           /* 1: the two of them have different signs, so that the steps pass zero */
} differences;

/* Compares n codes of `format`, stored as arrays of codes are (hu_limits: storage). */
differences differences_of(size_t n, const void *codes, const void *reference, hu_format format);

#endif
