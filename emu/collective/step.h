/* SPDX-License-Identifier: MIT */
/* emu/collective/step.h - one step of a base model on a piece of the buffer: two partial sums are joined, or a sum
 * travels. The simulation on one machine and the calls over MPI take the same steps. */
#ifndef HALFULP_EMU_COLLECTIVE_STEP_H
#define HALFULP_EMU_COLLECTIVE_STEP_H

#include "halfulp/collective.h"

/* A partial sum of a piece: codes of a format, one after another. */
typedef struct hu_partial {
  const void *data;
  hu_format format;
} hu_partial;

/* A buffer that holds a piece in any format. */
typedef struct hu_collective_buffer {
  _Alignas(64) uint32_t word[HU_COLLECTIVE_PIECE];
} hu_collective_buffer;

/* Where a step takes place. */
typedef struct hu_step {
  const hu_collective_base *base;
  size_t first, n;   /* the piece: n elements of the buffer from number `first` on */
  uint64_t rounding; /* number of the first rounding of the base: 4 k ranks */
  hu_stream stream;  /* of the call */
  hu_events *events; /* not NULL */
} hu_step;

/* Roundings of a participant's sum (collective.h, random). */
enum { HU_STEP_WIRE = 0, HU_STEP_OTHER_WIRE = 1, HU_STEP_SUM = 2, HU_STEP_LAST_WIRE = 3, HU_STEP_ROUNDINGS = 4 };

/* Returns the random words of participant b's rounding number `which`. */
hu_exec hui_step_words(const hu_step *step, uint64_t b, int which);
/* Returns what arrives where x is sent, with participant b's rounding number `which`: x itself without a wire, else
 * z. */
hu_partial hui_step_send(const hu_step *step, hu_partial x, uint64_t b, int which, hu_collective_buffer *z);
/* Returns z = rnd_F(x + y), y having arrived from participant b. x may lie in z, if its format is F. */
hu_partial hui_step_join(const hu_step *step, hu_partial x, hu_partial y, uint64_t b, hu_collective_buffer *z);

/* Find the chunks of a ring of `count` participants: that of element i, and where a chunk begins. */
size_t hui_chunk_of(size_t i, size_t n, size_t count);
size_t hui_chunk_first(size_t chunk, size_t n, size_t count);

/* ---- a model as a whole ---- */

/* What a call does, checked. */
typedef struct hu_collective_call {
  size_t ranks, n, offset; /* offset: the element of the buffer with which x and z begin */
  const uint8_t *const *x;
  uint8_t *z;
  size_t size; /* bytes of an element */
  hu_format format;
  const hu_collective *model;
  hu_mode mode;
  hu_stream stream;
} hu_collective_call;

/* Returns the first element behind `first` where a piece of the model must end. */
size_t hui_piece_end(const hu_collective_call *call, size_t first);
/* Rounds x's piece, for the last time, into the format of the buffers, at element `first` on of z. */
void hui_piece_finish(const hu_collective_call *call, size_t first, size_t n, hu_partial x, hu_events *events);

#endif
