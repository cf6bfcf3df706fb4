/* SPDX-License-Identifier: MIT */
/* cli/question/draw.h - draws questions: random dot products of a kind, weighted toward the boundaries where models
 * differ. */
#ifndef HALFULP_CLI_QUESTION_DRAW_H
#define HALFULP_CLI_QUESTION_DRAW_H

#include "cli/question/random.h"
#include "cli/question/vectors.h"

enum {
  ID_DRAW_ONE = 0,     /* one product and C, in the middle of the range */
  ID_DRAW_FEW = 1,     /* two to four products */
  ID_DRAW_MANY = 2,    /* up to all products */
  ID_DRAW_SMALL = 3,   /* at the lower end of the range: subnormal operands and results */
  ID_DRAW_LARGE = 4,   /* at the upper end */
  ID_DRAW_SPECIAL = 5, /* with zeros of both signs, infinities and NaN */
  ID_DRAW_ANY = 6,     /* all over the range */
  ID_DRAW_LOWEST = 7,  /* about the least number of D, or its least normal one, with products far below it */
  ID_DRAW_FULL = 8,    /* products of one sign with large significands, whose sum is as large as it can be */
  ID_DRAW_KINDS = 9    /* (count) */
};
extern const char *const id_draw_names[ID_DRAW_KINDS];

/* Makes rows first ... first + count - 1, which are there, drawn ones. */
void id_draw(id_vectors *questions, size_t first, size_t count, int kind, id_random *random);

#endif
