/* SPDX-License-Identifier: MIT */
/* Symbols of version 0.1 for programs that were linked to it; sources use the macros of halfulp/train/deprecated.h
 * instead. The next version no longer has this file. */
#include "halfulp/train/data.h"
#include "halfulp/train/model.h"
#include "halfulp/train/precision.h"

#undef hu_candidate_usual
#undef hu_precision_rule_usual
#undef hu_model_usual
#undef hu_least_squares_usual
#undef hu_teacher_usual
#undef hu_ratings_usual

HU_API hu_candidate hu_candidate_usual(void);
HU_API hu_precision_rule hu_precision_rule_usual(void);
HU_API hu_model hu_model_usual(uint8_t kind);
HU_API hu_least_squares hu_least_squares_usual(void);
HU_API hu_teacher hu_teacher_usual(void);
HU_API hu_ratings hu_ratings_usual(void);

hu_candidate hu_candidate_usual(void) { return hu_candidate_default(); }
hu_precision_rule hu_precision_rule_usual(void) { return hu_precision_rule_default(); }
hu_model hu_model_usual(uint8_t kind) { return hu_model_default(kind); }
hu_least_squares hu_least_squares_usual(void) { return hu_least_squares_default(); }
hu_teacher hu_teacher_usual(void) { return hu_teacher_default(); }
hu_ratings hu_ratings_usual(void) { return hu_ratings_default(); }
