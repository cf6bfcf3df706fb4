/* SPDX-License-Identifier: MIT */
/* emu/arith/half_settle.h - the events of half.h in vectors of HALF_BYTES bytes, which the file that includes this
 * defines: comparisons of codes as integers. */
#ifndef HALFULP_EMU_ARITH_HALF_SETTLE_H
#define HALFULP_EMU_ARITH_HALF_SETTLE_H

#include <string.h>

#include "emu/arith/half.h"

typedef uint16_t half_u __attribute__((vector_size(HALF_BYTES)));
enum { HALF_LANES = HALF_BYTES / 2, HALF_INFINITE = 0x7C00, HALF_NORMAL = 0x400, HALF_NAN = 0x7E00 };

#define HALF_FN static inline __attribute__((always_inline))

/* How often each event came, lane by lane: at most HU_HALF_PIECE / HALF_LANES times. */
typedef struct half_counts {
  half_u nan_in, inf_in, invalid, divide_by_zero, overflow, inexact, underflow, to_zero, subnormal;
} half_counts;

HALF_FN half_u half_load(const uint16_t *x) {
  half_u z;
  memcpy(&z, x, sizeof z);
  return z;
}

HALF_FN half_u half_size(half_u x) { return x & 0x7FFF; }

/* What is known of the results of some lanes: magnitudes, and masks. */
typedef struct half_facts {
  half_u z, up, down;                   /* magnitudes */
  half_u nan, infinite, nan_z, inexact; /* of operands: nan, infinite */
} half_facts;

HALF_FN half_facts half_facts_at(const hu_half_piece *piece, size_t i) {
  half_facts facts;
  half_u a = half_size(half_load(piece->x[0] + i)), b = half_size(half_load(piece->x[1] + i)),
         c = half_size(half_load(piece->x[2] + i)), up = half_load(piece->up + i), down = half_load(piece->down + i);
  facts.z = half_size(half_load(piece->z + i));
  facts.up = half_size(up);
  facts.down = half_size(down);
  facts.nan = (half_u)(a > HALF_INFINITE) | (half_u)(b > HALF_INFINITE) | (half_u)(c > HALF_INFINITE);
  facts.infinite = (half_u)(a == HALF_INFINITE) | (half_u)(b == HALF_INFINITE) | (half_u)(c == HALF_INFINITE);
  facts.nan_z = (half_u)(facts.z > HALF_INFINITE);
  facts.inexact = (half_u)(up != down) & (half_u)((facts.up | facts.down) != 0) & ~facts.nan_z;
  return facts;
}

HALF_FN half_u half_least(half_u x, half_u y) {
  half_u first = (half_u)(x < y);
  return (x & first) | (y & ~first);
}

/* In ties to even nothing is left for its size. */
HALF_FN half_u half_left(const half_facts *facts, half_u least, int nearest, int before) {
  half_u left = before ? (half_u){0} : (half_u)(least == HALF_NORMAL - 1);
  if (!nearest) left |= (half_u)(facts->up == HALF_INFINITE) | (half_u)(facts->down == HALF_INFINITE);
  return left & facts->inexact;
}

/* Masks are -1 where an event came. */
HALF_FN void half_add_counts(half_counts *counts, const half_facts *facts, half_u divided, half_u least, half_u kept,
                             int before) {
  half_u beyond = (half_u)(facts->z == HALF_INFINITE) & ~facts->infinite, inexact = facts->inexact & kept;
  counts->nan_in -= facts->nan;
  counts->inf_in -= facts->infinite;
  counts->invalid -= facts->nan_z & ~facts->nan;
  counts->divide_by_zero -= beyond & divided;
  counts->overflow -= beyond & ~divided & kept;
  counts->inexact -= inexact;
  counts->underflow -= (half_u)(least < (uint16_t)(before ? HALF_NORMAL : HALF_NORMAL - 1)) & inexact;
  counts->to_zero -= (half_u)(facts->z == 0) & inexact;
  counts->subnormal -= (half_u)(facts->z - 1 < HALF_NORMAL - 1) & kept;
}

HALF_FN uint64_t half_sum(half_u x) {
  uint64_t sum = 0;
  for (int i = 0; i < HALF_LANES; i++) sum += x[i];
  return sum;
}

static void half_report(const half_counts *counts, hu_events *events) {
  events->nan_in += half_sum(counts->nan_in);
  events->inf_in += half_sum(counts->inf_in);
  events->invalid += half_sum(counts->invalid);
  events->divide_by_zero += half_sum(counts->divide_by_zero);
  events->overflow += half_sum(counts->overflow);
  events->inexact += half_sum(counts->inexact);
  events->underflow += half_sum(counts->underflow);
  events->to_zero += half_sum(counts->to_zero);
  events->subnormal += half_sum(counts->subnormal);
}

/* The operands of an element that is left are numbers, which have no events; its own are the caller's. */
static int half_settle(const hu_half_piece *piece, hu_events *events) {
  half_counts counts;
  half_u any = {0};
  const int before = piece->tiny == HU_TINY_BEFORE, nearest = piece->round == HU_RNE;
  memset(&counts, 0, sizeof counts);
  for (size_t i = 0; i < piece->n; i += HALF_LANES) {
    half_u z = half_load(piece->z + i), divided = {0};
    half_facts facts = half_facts_at(piece, i);
    half_u least = half_least(facts.up, facts.down), left = half_left(&facts, least, nearest, before);
    if (piece->op == HU_OP_DIV) divided = (half_u)(half_size(half_load(piece->x[1] + i)) == 0);
    half_add_counts(&counts, &facts, divided, least, ~left, before);
    z = (z & ~facts.nan_z) | (facts.nan_z & HALF_NAN);
    memcpy(piece->z + i, &z, sizeof z);
    memcpy(piece->left + i, &left, sizeof left);
    any |= left;
  }
  half_report(&counts, events);
  return half_sum(any) != 0;
}

#endif
