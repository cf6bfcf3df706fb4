/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/rounding_lanes.h - rounds the patterns of binary32 lanes onto the grid of a format in any mode (the
 * argument stands in emu/gemm/seq_modes.h), and sums to odd in the CPU's own arithmetic. For kernels, on the hooks that
 * emu/gemm/seq_lanes.c describes. */
#ifndef HALFULP_EMU_GEMM_TILES_ROUNDING_LANES_H
#define HALFULP_EMU_GEMM_TILES_ROUNDING_LANES_H

#include "emu/core/lane_constants.h"
#include "emu/core/modes.h"
#include "emu/gemm/tiles/rounding.h"

#define MODE_FN static inline __attribute__((always_inline, unused))

MODE_FN int rounds_to_odd(const int round) { return hui_first_rounding((uint32_t)round) == HU_FIRST_ODD; }

/* Returns the direction that the CPU has to round in, for sums toward it and for those to odd. */
MODE_FN uint32_t mode_direction(const int round) {
  const uint32_t first = hui_first_rounding((uint32_t)round);
  if (first == HU_FIRST_DOWN) return HU_LANE_DOWN;
  return first == HU_FIRST_ZERO ? HU_LANE_ZERO : HU_LANE_UP;
}

/* Hides from the compiler how a vector was made: it may think that all rounding is to nearest, where -(-x - y) would be
 * x + y. */
#if defined(__x86_64__) || defined(__i386__)
#define MODE_HIDE(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define MODE_HIDE(v) __asm__("" : "+w"(v))
#else
#define MODE_HIDE(v) __asm__("" : "+m"(v))
#endif

MODE_FN seq_f mode_negated(seq_f x) {
  seq_u bits = wide_xor(seq_bits(x), seq_each(0x80000000u));
  MODE_HIDE(bits);
  return seq_value(bits);
}

/* To odd, of a number rounded up and down. Either both are that number, or neighbours, of which the last digits are 0
 * and 1: the one with 1 is the lesser in magnitude, with that digit set. Where the number is below the least one in
 * magnitude, one of the two is a zero, and the sign is that of the other; of an exact zero it is that of `up`, as the
 * lesser of the patterns +0 and -0 is +0. */
MODE_FN seq_f mode_odd_of(seq_f up, seq_f down) {
  seq_u bits = seq_bits(up), v = seq_bits(down);
  return seq_value(seq_or_and(seq_least(bits, v), seq_or_and(bits, v, seq_each(0xFFFFFFFFu)), seq_each(1)));
}

/* Returns x + y to odd. The CPU rounds up, and what it makes of the negated sum is the sum rounded down, negated.
 * AVX-512 differs: its instructions name a direction. */
MODE_FN seq_f mode_odd_sum(seq_f x, seq_f y) {
#if HU_LEVEL_ID == 2
  return seq_odd(seq_all(1), x, y);
#else
  return mode_odd_of(seq_add(x, y), mode_negated(seq_sub(mode_negated(x), y)));
#endif
}

#if HU_LEVEL_FMA
/* Returns a b + c to odd, likewise. */
MODE_FN seq_f mode_odd_fma(seq_f a, seq_f b, seq_f c) {
#if HU_LEVEL_ID == 2
  return seq_odd(a, b, c);
#else
  return mode_odd_of(seq_fma(a, b, c), mode_negated(seq_fnma(a, b, mode_negated(c))));
#endif
}
#endif

/* What rounding needs, made once a tile: calls would have it loaded again each time. */
typedef struct mode_lanes {
  seq_u floor, span, kept, keep, add, half, one;
  uint32_t dropped, bits, last;
} mode_lanes;

MODE_FN mode_lanes lanes_of(const hu_mode_grid *grid, const int round) {
  const uint32_t below = ((uint32_t)1 << grid->dropped) - 1;
  mode_lanes z;
  z.floor = seq_each(grid->floor);
  z.span = seq_each(grid->span);
  z.kept = seq_each(~below);
  z.keep = seq_each(grid->keep);
  z.add = seq_each(grid->dropped ? hui_addend_of((uint32_t)round, (int32_t)grid->dropped).base[round == HU_RTN] : 0);
  z.half = seq_each(round == HU_SRC ? grid->half - 1 : grid->half);
  z.one = seq_each(grid->dropped != 0);
  z.dropped = grid->dropped;
  z.bits = grid->grid.spec.bits;
  z.last = grid->half;
  return z;
}

/* Returns what is added to a pattern before its lowest digits are dropped (hui_quick_add of emu/simd/round.h). */
MODE_FN seq_u addend(const mode_lanes *lanes, const int round, seq_u bits, seq_u random) {
  if (round == HU_RNE) return seq_plus(lanes->add, seq_and(seq_down(bits, lanes->dropped), lanes->one));
  if (round == HU_RTP) return seq_and_not(lanes->add, seq_negative(bits));
  if (round == HU_RTN) return seq_and(lanes->add, seq_negative(bits));
  if (round == HU_RTO) { /* up if the last digit kept is 0 */
    seq_u last = seq_and(seq_down(bits, lanes->dropped), seq_each(1));
    return seq_and(lanes->add, seq_minus(last, seq_each(1)));
  }
  if (round < HU_SRA) return lanes->add;
  seq_u add = seq_and(seq_down(random, 32 - lanes->dropped), lanes->keep);
  if (round == HU_SRB) return seq_plus(add, lanes->half);
  if (round == HU_SRA || lanes->last == 0) return add;
  /* C: the fraction first rounded to N digits, ties to even. */
  seq_u even = seq_down(seq_and(bits, seq_each(lanes->last << 1)), lanes->dropped - lanes->bits);
  return seq_plus(add, seq_minus(seq_and(seq_plus(seq_plus(bits, lanes->half), even), lanes->keep), bits));
}

MODE_FN seq_f mode_rounded(const mode_lanes *lanes, const int round, seq_f t, seq_u random) {
  seq_u bits = seq_bits(t);
  if (round == HU_RTZ) return seq_value(seq_and(bits, lanes->kept));
  return seq_value(seq_and(seq_plus(bits, addend(lanes, round, bits, random)), lanes->kept));
}

/* |t| above 2^emin, as a pattern: from the span on, without a sign, the integers serve. */
MODE_FN seq_u above_floor(const mode_lanes *lanes, seq_f t) {
  return seq_minus(seq_and(seq_bits(t), seq_each(0x7FFFFFFFu)), lanes->floor);
}

#endif
