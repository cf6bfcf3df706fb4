/* SPDX-License-Identifier: MIT */
/* train/precision/passed.h - lets a pass be that of a net beside the plan's, which has fewer samples. */
#ifndef HALFULP_TRAIN_PRECISION_PASSED_H
#define HALFULP_TRAIN_PRECISION_PASSED_H

#include "halfulp/train/precision.h"

/* Before hu_precision_step: the last pass was one of `net`, which is the plan's or one beside it with the same values,
 * so that overflow ratios are of its tensors. The plan's net gets the counts of what overflowed in its values. */
void hui_precision_passed(hu_precision *plan, const hu_net *net);

#endif
