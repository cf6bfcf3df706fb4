/* SPDX-License-Identifier: MIT */
/* Participants of an all-reduce that hold numbers and send each other messages. */
#ifndef HALFULP_TESTS_COLLECTIVE_WORLD_H
#define HALFULP_TESTS_COLLECTIVE_WORLD_H

#include "halfulp/collective.h"

/* The most participants of a world. */
enum { T_RANKS_MAX = 21 };

/* A number as a participant holds it. */
typedef struct t_held {
  uint32_t code;
  hu_format format;
} t_held;

typedef struct t_world {
  size_t ranks, n;
  hu_format format;
  hu_mode mode;
  const hu_collective *model;
  hu_stream stream;
  hu_events events;
  t_held *at; /* participant r's element i: at[r n + i] */
} t_world;

/* Runs a world's model: afterwards every participant holds its result. */
void t_run_world(t_world *world);
/* Returns a number as a code of the buffers' format, and counts the events. */
uint32_t t_stored(t_world *world, t_held x, size_t i);

#endif
