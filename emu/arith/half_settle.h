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

HALF_FN half_facts half_facts_at(const hu_half_piece *p, size_t i) {
  half_facts f;
  half_u a = half_size(half_load(p->x[0] + i)), b = half_size(half_load(p->x[1] + i)),
         c = half_size(half_load(p->x[2] + i)), up = half_load(p->up + i), down = half_load(p->down + i);
  f.z = half_size(half_load(p->z + i));
  f.up = half_size(up);
  f.down = half_size(down);
  f.nan = (half_u)(a > HALF_INFINITE) | (half_u)(b > HALF_INFINITE) | (half_u)(c > HALF_INFINITE);
  f.infinite = (half_u)(a == HALF_INFINITE) | (half_u)(b == HALF_INFINITE) | (half_u)(c == HALF_INFINITE);
  f.nan_z = (half_u)(f.z > HALF_INFINITE);
  f.inexact = (half_u)(up != down) & (half_u)((f.up | f.down) != 0) & ~f.nan_z;
  return f;
}

HALF_FN half_u half_least(half_u x, half_u y) {
  half_u first = (half_u)(x < y);
  return (x & first) | (y & ~first);
}

/* In ties to even nothing is left for its size. */
HALF_FN half_u half_left(const half_facts *f, half_u least, int nearest, int before) {
  half_u left = before ? (half_u){0} : (half_u)(least == HALF_NORMAL - 1);
  if (!nearest) left |= (half_u)(f->up == HALF_INFINITE) | (half_u)(f->down == HALF_INFINITE);
  return left & f->inexact;
}

/* Masks are -1 where an event came. */
HALF_FN void half_add_counts(half_counts *n, const half_facts *f, half_u divided, half_u least, half_u kept,
                             int before) {
  half_u beyond = (half_u)(f->z == HALF_INFINITE) & ~f->infinite, inexact = f->inexact & kept;
  n->nan_in -= f->nan;
  n->inf_in -= f->infinite;
  n->invalid -= f->nan_z & ~f->nan;
  n->divide_by_zero -= beyond & divided;
  n->overflow -= beyond & ~divided & kept;
  n->inexact -= inexact;
  n->underflow -= (half_u)(least < (uint16_t)(before ? HALF_NORMAL : HALF_NORMAL - 1)) & inexact;
  n->to_zero -= (half_u)(f->z == 0) & inexact;
  n->subnormal -= (half_u)(f->z - 1 < HALF_NORMAL - 1) & kept;
}

HALF_FN uint64_t half_sum(half_u x) {
  uint64_t sum = 0;
  for (int i = 0; i < HALF_LANES; i++) sum += x[i];
  return sum;
}

static void half_report(const half_counts *n, hu_events *events) {
  events->nan_in += half_sum(n->nan_in);
  events->inf_in += half_sum(n->inf_in);
  events->invalid += half_sum(n->invalid);
  events->divide_by_zero += half_sum(n->divide_by_zero);
  events->overflow += half_sum(n->overflow);
  events->inexact += half_sum(n->inexact);
  events->underflow += half_sum(n->underflow);
  events->to_zero += half_sum(n->to_zero);
  events->subnormal += half_sum(n->subnormal);
}

/* The operands of an element that is left are numbers, which have no events; its own are the caller's. */
static int half_settle(const hu_half_piece *p, hu_events *events) {
  half_counts counts;
  half_u any = {0};
  const int before = p->tiny == HU_TINY_BEFORE, nearest = p->round == HU_RNE;
  memset(&counts, 0, sizeof counts);
  for (size_t i = 0; i < p->n; i += HALF_LANES) {
    half_u z = half_load(p->z + i), divided = {0};
    half_facts f = half_facts_at(p, i);
    half_u least = half_least(f.up, f.down), left = half_left(&f, least, nearest, before);
    if (p->op == HU_OP_DIV) divided = (half_u)(half_size(half_load(p->x[1] + i)) == 0);
    half_add_counts(&counts, &f, divided, least, ~left, before);
    z = (z & ~f.nan_z) | (f.nan_z & HALF_NAN);
    memcpy(p->z + i, &z, sizeof z);
    memcpy(p->left + i, &left, sizeof left);
    any |= left;
  }
  half_report(&counts, events);
  return half_sum(any) != 0;
}

#endif
