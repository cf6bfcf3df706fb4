/* SPDX-License-Identifier: MIT */
/* cli/identify/space.h - the models that a black box may be: their kinds, and axes along which a parameter varies. */
#ifndef HALFULP_CLI_IDENTIFY_SPACE_H
#define HALFULP_CLI_IDENTIFY_SPACE_H

#include "cli/question/vectors.h"

/* Parameters, in the order in which a search decides them. */
enum {
  ID_AXIS_IN,      /* bits of an operand that are looked at */
  ID_AXIS_DIGITS,  /* fraction digits of the accumulator */
  ID_AXIS_PRODUCT, /* fraction digits of rounded products */
  ID_AXIS_ROUND,   /* rounding into the accumulator */
  ID_AXIS_JOIN,    /* where C joins a block */
  ID_AXIS_VIA,     /* a format into which sums are rounded first */
  ID_AXIS_LAST,    /* how C is rounded in, where it is added last */
  ID_AXIS_CUT,     /* what a cut does with the digits below it */
  ID_AXIS_STICKY,  /* whether digits below the cut are kept as one bit */
  ID_AXIS_ZEROS,   /* what products that are zero count as */
  ID_AXIS_KEPT,    /* digits kept below the largest exponent */
  ID_AXIS_KEPT2,   /* late: digits kept where the sum meets C */
  ID_AXIS_FAR,     /* late: C dropped so far below */
  ID_AXIS_ORDER,   /* order of k in a block */
  ID_AXIS_LANES,   /* late: even and odd k apart */
  ID_AXIS_LENGTH,  /* products in a block, in a chunk, between saturations */
  ID_AXIS_GROUP,   /* products added exactly */
  ID_AXIS_WINDOW,  /* digits kept below the largest exponent of a group */
  ID_AXIS_WRAP,    /* promote(N), splitk(S) */
  ID_AXIS_WIDE,    /* digits of the register of a sum */
  ID_AXIS_PAST,    /* what becomes of a sum beyond it */
  ID_AXIS_PLACE,   /* where a register lies whose place is fixed */
  ID_AXIS_EMIN,    /* lower limit of the largest exponent */
  ID_AXIS_AS,      /* the format that operands are taken as */
  ID_AXIS_DAZ,     /* subnormal operands */
  ID_AXIS_FTZ,     /* subnormal results */
  ID_AXIS_ZERO,    /* the sign of what is rounded to zero */
  ID_AXIS_OVER,    /* what an overflow gives */
  ID_AXIS_SAT,     /* saturation */
  ID_AXIS_NAN,     /* NaN operands whose digits are not looked at */
  ID_AXIS_BIG,     /* late: products that count as infinities */
  ID_AXES          /* (count) */
};

/* The box's shape, and what was read off it before the search. */
typedef struct id_space {
  const id_shape *shape;
  int least_digits;                     /* fraction digits that its results have been seen to have */
  int inputs;                           /* IN: the bits that were seen to matter, 0: all */
  int keeps_small;                      /* DAZ: 1: a subnormal operand was seen to count */
  int gives_small;                      /* FTZ: 1: a subnormal result was seen */
  int lowest;                           /* EMIN: at or below this it has no effect */
  int has_place, place_low, place_high; /* 1: sums were seen to have no digits below 2^low, nor from 2^high up */
  int least_known, least; /* EMIN: 1: 2^least comes out, and all above it do; 2: and those below it do not */
  int least_by_c;         /* 1: as C; 0: as a product */
  int length;             /* LENGTH: products of a step, by the order of the sum; 0: unknown */
  int part;               /* WRAP: products whose sum C is added to first, 0: any */
  hu_format sum;          /* of sums inside: D's format, where any NaN is as good, or binary32 (id_space_widen) */
} id_space;

id_space id_space_of(const id_shape *shape);

/* Returns 1 if D has fewer digits than binary32. Sums may be binary32 then, and D one more rounding of the last. */
int id_may_be_wide(const id_shape *shape);
/* Makes sums binary32 from now on. */
void id_space_widen(id_space *space);
int id_is_wide(const id_space *space);
/* Makes sums those of D's format again. */
void id_space_narrow(id_space *space);

/* Kinds of models with every parameter as it is where it plays no part; with `parts`, their sums of parts (promote,
 * splitk) instead, of which there may be none. */
enum { ID_BASES_MOST = 32 };
size_t id_bases(const id_space *space, int parts, hu_accum z[ID_BASES_MOST]);

/* Values that a model may have on an axis, the one that it has among them; one value: the axis is not its own. */
enum { ID_VALUES_MOST = 9000 };
size_t id_axis_values(const id_space *space, int axis, const hu_accum *model, int z[ID_VALUES_MOST]);
int id_axis_get(const id_space *space, int axis, const hu_accum *model);
void id_axis_set(const id_space *space, int axis, hu_accum *model, int value);
/* Return the key of the text, "f", and what the axis says, "digits kept below the largest exponent". */
const char *id_axis_key(int axis);
const char *id_axis_meaning(int axis);
/* Writes the value in the words of a model's text. */
void id_axis_text(const id_space *space, int axis, const hu_accum *model, int value, char *text, size_t size);
/* Returns 1 if the axis is a key that the block's rule does not require, and the block has it. */
int id_axis_is_option(int axis, const hu_block *block);

/* Returns the simplest record of the same sum: seq for a chain without options, exact for one block of everything. */
hu_accum id_simplest(const id_space *space, hu_accum model);
/* Returns how much a text says beyond its defaults; of equal models the least is shown. */
int id_complexity(const id_space *space, const hu_accum *model);

#endif
