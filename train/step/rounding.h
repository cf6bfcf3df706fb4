/* SPDX-License-Identifier: MIT */
/* train/step/rounding.h - whether a number may be rounded once for several that share it. */
#ifndef HALFULP_TRAIN_STEP_ROUNDING_H
#define HALFULP_TRAIN_STEP_ROUNDING_H

#include "halfulp/train/rounding.h"

/* 1 if what a number becomes depends on it alone, and 0 stays +0 without an event. */
int hui_rounds_alone(const hu_rounding *rounding);

#endif
