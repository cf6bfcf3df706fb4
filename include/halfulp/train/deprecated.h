/* SPDX-License-Identifier: MIT */
/* halfulp/train/deprecated.h - names of version 0.1 that have another name now: as halfulp/deprecated.h. */
#ifndef HALFULP_TRAIN_DEPRECATED_H
#define HALFULP_TRAIN_DEPRECATED_H

#ifndef HU_NO_DEPRECATED

/* Deprecated since 0.2: use hu_model_default and so on; what holds where nothing is said is the default everywhere. */
#define hu_candidate_usual hu_candidate_default
#define hu_precision_rule_usual hu_precision_rule_default
#define hu_model_usual hu_model_default
#define hu_least_squares_usual hu_least_squares_default
#define hu_teacher_usual hu_teacher_default
#define hu_ratings_usual hu_ratings_default

#endif
#endif
