/* SPDX-License-Identifier: MIT */
/* train/experiment/shifted.h - the run that stands beside S2FP8: a shift without a squeeze. */
#ifndef HALFULP_TRAIN_EXPERIMENT_SHIFTED_H
#define HALFULP_TRAIN_EXPERIMENT_SHIFTED_H

#include "train/experiment/experiment.h"

/* E5M2 whose tensors have one scale each, with which the largest number is the largest of E5M2. */
#define SHIFTED "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"
#define SHIFT                                                                                                    \
  {                                                                                                              \
    "FP8 E5M2, shifted",                                                                                         \
        HU_PAIRS("precision.system", "binary32", "precision.x", SHIFTED, "precision.w", SHIFTED, "precision.dz", \
                 SHIFTED, "precision.w_back", SHIFTED, "precision.x_back", SHIFTED, "precision.dz_w", SHIFTED,   \
                 "precision.z_out", SHIFTED, "precision.dx_out", SHIFTED, "precision.dw_out", SHIFTED,           \
                 "precision.embeddings", SHIFTED),                                                               \
        0                                                                                                        \
  }

#endif
