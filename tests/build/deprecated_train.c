/* SPDX-License-Identifier: MIT */
/* Names of the version before in libhalfulp-train: as macros, and as symbols. */
#include <stdio.h>
#include <string.h>

#include "halfulp/train.h"

static int with_macros(void) {
  hu_model model = hu_model_usual(HU_MODEL_CONV), now = hu_model_default(HU_MODEL_CONV);
  hu_candidate candidate = hu_candidate_usual(), other = hu_candidate_default();
  hu_teacher teacher = hu_teacher_usual(), teacher_now = hu_teacher_default();
  hu_ratings ratings = hu_ratings_usual(), ratings_now = hu_ratings_default();
  hu_least_squares lines = hu_least_squares_usual(), lines_now = hu_least_squares_default();
  return memcmp(&model, &now, sizeof now) == 0 && memcmp(&candidate, &other, sizeof other) == 0 &&
         hu_precision_rule_usual().limit.den == hu_precision_rule_default().limit.den &&
         teacher.hidden == teacher_now.hidden && teacher.deviation == teacher_now.deviation &&
         ratings.users == ratings_now.users && ratings.rank == ratings_now.rank && lines.count == lines_now.count &&
         lines.high == lines_now.high;
}

/* The symbols, as a program sees them that was linked to the version before. */
#undef hu_candidate_usual
#undef hu_precision_rule_usual
#undef hu_model_usual
#undef hu_least_squares_usual
#undef hu_teacher_usual
#undef hu_ratings_usual

#ifdef __cplusplus
extern "C" {
#endif
hu_candidate hu_candidate_usual(void);
hu_precision_rule hu_precision_rule_usual(void);
hu_model hu_model_usual(uint8_t kind);
hu_least_squares hu_least_squares_usual(void);
hu_teacher hu_teacher_usual(void);
hu_ratings hu_ratings_usual(void);
#ifdef __cplusplus
}
#endif

static int with_symbols(void) {
  hu_model model = hu_model_usual(HU_MODEL_MLP), now = hu_model_default(HU_MODEL_MLP);
  hu_candidate candidate = hu_candidate_usual(), other = hu_candidate_default();
  hu_teacher teacher = hu_teacher_usual(), teacher_now = hu_teacher_default();
  hu_ratings ratings = hu_ratings_usual(), ratings_now = hu_ratings_default();
  hu_least_squares lines = hu_least_squares_usual(), lines_now = hu_least_squares_default();
  return memcmp(&model, &now, sizeof now) == 0 && memcmp(&candidate, &other, sizeof other) == 0 &&
         hu_precision_rule_usual().limit.den == hu_precision_rule_default().limit.den &&
         teacher.hidden == teacher_now.hidden && teacher.deviation == teacher_now.deviation &&
         ratings.users == ratings_now.users && ratings.rank == ratings_now.rank && lines.count == lines_now.count &&
         lines.high == lines_now.high;
}

int main(void) {
  int macros = with_macros(), symbols = with_symbols();
  printf("macros %s, symbols %s\n", macros ? "hold" : "do not hold", symbols ? "hold" : "do not hold");
  return !macros || !symbols;
}
