/* SPDX-License-Identifier: MIT */
/* halfulp/collective.h - compute on one machine what an all-reduce over many gives, bit for bit.
 *
 *   hu_collective ring;
 *   size_t where;
 *   if (hu_collective_parse(&ring, "ring(bfloat16,wire=float8_e5m2)", &where) != HU_OK) ...
 *   hu_status s = hu_collective_reduce(ranks, n, z, bfloat16, x, &ring, &how);
 *
 * `ranks` participants hold n numbers each; afterwards all of them hold the same n sums. Which sums these are depends
 * on the order of the additions, on the format that they are rounded to, and on the format in which numbers travel: the
 * model. hu_mpi_allreduce (mpi.h) gives the same bits over MPI. A hu_collective is plain and without pointers; the
 * all-zero record is `exact`. Text, both ways (hu_collective_parse, hu_collective_text); no blanks:
 *
 *   model = base | "hierarchical(" N "," base "," base ")"
 *   base  = "exact" | kind "(" format [ "," MODE ] [ "," "sat=" POLICY ] [ "," "wire=" wire ] ")"
 *   kind  = "pairwise" | "ring" | "tree" | "doubling" | "direct" | "switch"
 *   wire  = format | the text or name of a scaled format (scaled.h)
 *
 * exact    z = the sum of all x_r, rounded once, by the call's mode. Any order of machines gives it.
 *
 * Every other model but `switch` joins two partial sums at a time: p = rnd_F(p + q), one rounding in MODE (ties to even
 * by default). At first participant r holds its own x_r, in the format of the buffers, not rounded. `q into p` means
 * that q travels to the participant that holds p.
 *
 *   pairwise      halves, recursively: of participants l to h - 1 the sum of m to h - 1 goes into that of l to m - 1,
 *                 m = l + ceil((h - l) / 2)
 *   ring          the buffer is cut into `ranks` chunks, the first n mod ranks of them one element longer. Chunk c
 *                 begins as x_c; it travels to participant c + 1, whose own numbers join it, and so on up to
 *                 participant c - 1 (all modulo ranks). This is reduce-scatter, then all-gather
 *   tree          a binomial tree: for s = 1, 2, 4, ... the sum of participant r + s goes into that of r, for r a
 *                 multiple of 2 s with r + s < ranks
 *   doubling      recursive doubling. With P the largest power of two up to ranks and e = ranks - P, the sum of
 *                 participant 2 j + 1 goes into that of 2 j for j < e. Of the P that are left, in order, number i and
 *                 number i xor s join for s = 1, 2, 4, ...; both compute the same sum
 *   direct        two shots, all to all: the buffer is cut into chunks as for a ring. Every participant sends its chunk
 *                 c to participant c, that one to itself, too, so that all numbers travel once. There the sum begins
 *                 with what arrives of participant 0, and what arrives of 1, 2, ... joins it in this order; then
 *                 all-gather
 *   switch        what arrives of all participants is added without rounding, in any order, and rounded once:
 *                 p = rnd_F(q_0 + q_1 + ...). No participant has the sum first: it travels to all of them
 *   hierarchical  the first base over each N consecutive participants (the last group may be smaller), then the second
 *                 over the groups, of which each is represented by its first participant. A group's sum enters the
 *                 second base in the format that it has. `exact` within it rounds into the format of the buffers
 *
 * wire     without it numbers travel as they are. With a format W, q is first rounded into W (in MODE, saturating as
 *          the format does by default): p = rnd_F(p + rnd_W(q)). In `doubling` both travel, so p is rounded into W,
 *          too. When a base has its sum, that travels to all participants once more through W, and the participant that
 *          made it keeps what the others get (`doubling`: only where `ranks` is no power of two, as nothing travels
 *          otherwise). With a scaled format each piece is quantized as one row by
 *          hu_scaled_quantize. A piece ends at every multiple of HU_COLLECTIVE_PIECE elements of the buffer, and where
 *          a chunk of a `ring` or a `direct` of the model ends
 * result   the last sum is rounded into the format of the buffers by the call's mode, unless it is in that format. With
 *          one participant nothing travels: z is its x, and NaNs become those of the format; with `exact` the sum of
 *          one term, rounded by the call's mode, whose policy may saturate infinities
 * random   stochastic MODEs: rounding r of element i takes word i of the stream (key + (r + 1) 0x9E3779B97F4A7C15,
 *          counter) of exec->stream (key, counter); with a scaled format, word j of the stream whose counter is that
 *          plus the piece's first element. r = 4 (b + k ranks) + j: k is 0, and 1 for the second base of hierarchical;
 *          b is the participant whose sum is q (of a group, and of those that hold the same sum, the first), also where
 *          p travels; j is 0 for q into the wire, 1 for p into it, 2 for the sum, 3 for the wire of the last sum. Of
 *          that, and of the sum of a `switch`, b is the first participant of the base. The result's rounding, and those
 *          of `exact`, take word i of exec->stream itself
 * special  operands, signs of zeros and events are those of hu_add (arith.h), hu_convert_n and, for exact and switch,
 *          sum.h */
#ifndef HALFULP_COLLECTIVE_H
#define HALFULP_COLLECTIVE_H

#include "halfulp/array.h"
#include "halfulp/scaled.h"
#include "halfulp/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of models, by the names of their texts. */
enum {
  HU_COLLECTIVE_EXACT = 0,    /* exact: one rounding in all */
  HU_COLLECTIVE_PAIRWISE = 1, /* pairwise(F) */
  HU_COLLECTIVE_RING = 2,     /* ring(F): reduce-scatter, all-gather */
  HU_COLLECTIVE_TREE = 3,     /* tree(F): binomial */
  HU_COLLECTIVE_DOUBLING = 4, /* doubling(F) */
  HU_COLLECTIVE_DIRECT = 5,   /* direct(F): two shots, all to all */
  HU_COLLECTIVE_SWITCH = 6,   /* switch(F): one sum of all */
  HU_COLLECTIVE_COUNT = 7     /* (count) */
};
/* How numbers travel. */
enum {
  HU_COLLECTIVE_WIRE_NONE = 0,   /* as they are */
  HU_COLLECTIVE_WIRE_FORMAT = 1, /* rounded into a format */
  HU_COLLECTIVE_WIRE_SCALED = 2  /* as a scaled format */
};
/* The most elements of a message that have scales of their own. */
#define HU_COLLECTIVE_PIECE 512

/* A base model. `exact`: all else is zero. */
typedef struct hu_collective_base {
  uint8_t kind, wired; /* HU_COLLECTIVE_, HU_COLLECTIVE_WIRE_ */
  uint8_t reserved[2]; /* 0 */
  hu_format sum;       /* F */
  hu_mode mode;        /* MODE and POLICY */
  hu_format wire;      /* HU_COLLECTIVE_WIRE_FORMAT; else zero */
  hu_scaling scaling;  /* HU_COLLECTIVE_WIRE_SCALED; else zero */
} hu_collective_base;

/* A model. The all-zero record is `exact`. */
typedef struct hu_collective {
  hu_collective_base base;  /* of all participants, or of those of a group */
  uint32_t group;           /* N of hierarchical; 0: not that */
  hu_collective_base outer; /* of the groups; all zero where group is 0 */
} hu_collective;

/* HU_OK; HU_E_NULL, HU_E_FORMAT, HU_E_MODE, HU_E_SCALING (a part that its own check refuses), HU_E_CARRIER (a scaled
 * wire, and F does not fit binary32) or HU_E_ACCUM (a field out of range, or not 0 where it means nothing). */
HU_API HU_MUST_CHECK hu_status hu_collective_check(const hu_collective *model);
/* Text to record. HU_E_TEXT, HU_E_NAME, HU_E_FORMAT, HU_E_SCALING, HU_E_CARRIER; then *where, if where is not NULL, is
 * the offset of the part that is wrong. *model is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_collective_parse(hu_collective *model, const char *text, size_t *where);
/* Record to its one canonical text: formats by their first name, defaults left out. Returns the length needed, like
 * snprintf; 0 if the model is not valid. HU_COLLECTIVE_TEXT_MAX bytes always suffice. */
#define HU_COLLECTIVE_TEXT_MAX 1536
HU_API size_t hu_collective_text(char *text, size_t size, const hu_collective *model);

/* z = what every participant holds after an all-reduce of x[0] ... x[ranks - 1], n codes of format each, under the
 * model; z has n codes of format. binary32 arrays are codes of binary32.
 *
 *   how      may be NULL. The mode is that of the last rounding, and of `exact`; pieces of the buffer are computed in
 *            parallel by threads; events are those of all roundings, those into the wire and the sums, once each (not
 *            once a participant)
 *   overlap  z may be one of the x; no other overlap
 *   errors   those of hu_collective_check; HU_E_FORMAT, HU_E_MODE; HU_E_CARRIER: a scaled wire, and F or format do not
 *            fit binary32; HU_E_SHAPE: ranks is 0 or more than 2^24; HU_E_NULL, HU_E_ALIGN, HU_E_OVERLAP; HU_E_CODE: a
 *            code has bits above the width of format (array.h). z and events are untouched then. No allocation; up to
 *            512 KiB of stack a thread */
HU_API HU_MUST_CHECK hu_status hu_collective_reduce(size_t ranks, size_t n, void *z, hu_format format,
                                                    const void *const *x, const hu_collective *model,
                                                    const hu_how *how);
/* Elements first to first + count - 1 of what hu_collective_reduce gives for buffers of n elements; z and each x[r]
 * hold these elements alone. So large buffers are reduced in parts, and several machines can each do one. HU_E_SHAPE
 * also: first is not a multiple of HU_COLLECTIVE_PIECE; count is not one either, and the part does not end with the
 * buffer; or it goes beyond. */
HU_API HU_MUST_CHECK hu_status hu_collective_reduce_part(size_t ranks, size_t n, size_t first, size_t count, void *z,
                                                         hu_format format, const void *const *x,
                                                         const hu_collective *model, const hu_how *how);

#ifdef __cplusplus
}
#endif
#endif
