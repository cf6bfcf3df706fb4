/* SPDX-License-Identifier: MIT */
/* emu/core/accum_step.h - exact products and sums of two numbers in two words, rounded steps, random words of steps.
 *
 * Part of emu/core/accum.h; integers only. hu_long is a number with a significand of 128 bits, wide enough for any
 * product of two hu_num and, with a sticky bit, for what a rounding sees of any sum of two of them. */
#ifndef HALFULP_EMU_CORE_ACCUM_STEP_H
#define HALFULP_EMU_CORE_ACCUM_STEP_H

#include "emu/core/accum_trace.h"
#include "emu/core/round.h"
#include "emu/core/stream.h"
#include "halfulp/accum.h"

/* A function called from many places, too large to be inlined into each. */
#if defined(__CUDACC__)
#define HU_STEP static __host__ __device__ __noinline__ __attribute__((unused))
#elif defined(__GNUC__) || defined(__clang__)
#define HU_STEP static __attribute__((noinline, unused))
#else
#define HU_STEP static
#endif

/* (-1)^sign (hi 2^64 + lo) 2^exp; kinds as in hu_num. Finite: not zero. */
typedef struct hu_long {
  uint64_t hi, lo;
  int32_t exp;
  uint8_t kind, sign;
} hu_long;

HU_FN hu_long hui_long_special(uint8_t kind, uint32_t sign) {
  hu_long z;
  z.hi = 0;
  z.lo = 0;
  z.exp = 0;
  z.kind = kind;
  z.sign = (uint8_t)sign;
  return z;
}

/* Widens x, which has no sticky. */
HU_FN hu_long hui_long_of(hu_num x) {
  hu_long z = hui_long_special(x.kind, x.sign);
  z.lo = x.sig;
  z.exp = x.exp;
  return z;
}

/* The exact product; infinity times zero is NaN. */
HU_FN hu_long hui_long_product(hu_num a, hu_num b) {
  uint32_t sign = (uint32_t)(a.sign ^ b.sign);
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return hui_long_special(HU_KIND_NAN, 0);
  if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) {
    int32_t zero = a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO;
    return hui_long_special(zero ? HU_KIND_NAN : HU_KIND_INF, zero ? 0 : sign);
  }
  if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return hui_long_special(HU_KIND_ZERO, sign);
  hu_long z = hui_long_special(HU_KIND_FINITE, sign);
  uint64_t a0 = (uint32_t)a.sig, a1 = a.sig >> 32, b0 = (uint32_t)b.sig, b1 = b.sig >> 32;
  uint64_t low = a0 * b0, m0 = a1 * b0, m1 = a0 * b1;
  uint64_t mid = (low >> 32) + (uint32_t)m0 + (uint32_t)m1;
  z.lo = (mid << 32) | (uint32_t)low;
  z.hi = a1 * b1 + (m0 >> 32) + (m1 >> 32) + (mid >> 32);
  z.exp = a.exp + b.exp;
  return z;
}

/* Moves x up until its leading digit is digit `top` (126 or 127); exact where the digits fit. */
HU_FN hu_long hui_long_up(hu_long x, int32_t top) {
  int32_t lead = x.hi ? hui_clz64(x.hi) : 64 + hui_clz64(x.lo), up = lead - (127 - top);
  x.exp -= up;
  if (up < 0) { /* products of two words and a half do not occur: nothing is lost */
    x.lo = (x.lo >> 1) | (x.hi << 63);
    x.hi >>= 1;
  } else if (up >= 64) {
    x.hi = x.lo << (up - 64);
    x.lo = 0;
  } else if (up > 0) {
    x.hi = (x.hi << up) | (x.lo >> (64 - up));
    x.lo <<= up;
  }
  return x;
}

/* Returns the leading 64 digits and a sticky bit. */
HU_FN hu_num hui_long_lead(hu_long x, uint32_t sticky) {
  x = hui_long_up(x, 127);
  hu_num z = hui_num_finite(x.sign, x.hi, x.exp + 64);
  z.sticky = sticky || x.lo != 0;
  return z;
}

/* Down by n digits; what is lost, as a bit. */
HU_FN uint32_t hui_long_down(hu_long *x, int32_t n) {
  uint64_t lost;
  if (n <= 0) return 0;
  if (n > 127) {
    lost = x->hi | x->lo;
    x->hi = 0;
    x->lo = 0;
  } else if (n >= 64) {
    lost = x->lo | (n > 64 ? x->hi << (128 - n) : 0);
    x->lo = x->hi >> (n - 64);
    x->hi = 0;
  } else {
    lost = x->lo << (64 - n);
    x->lo = (x->lo >> n) | (x->hi << (64 - n));
    x->hi >>= n;
  }
  return lost != 0;
}

/* x + y of finite numbers. With the leading digit at 126 a sum does not carry out; digits are lost only if y lies so
 * far below that the difference keeps its leading digit but one. */
HU_FN hu_num hui_add_finite(hu_long x, hu_long y, uint32_t down) {
  x = hui_long_up(x, 126);
  y = hui_long_up(y, 126);
  int32_t less = x.exp < y.exp || (x.exp == y.exp && (x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo)));
  hu_long big = less ? y : x, small = less ? x : y;
  uint32_t sticky = hui_long_down(&small, big.exp - small.exp);
  if (big.sign == small.sign) {
    big.lo += small.lo;
    big.hi += small.hi + (big.lo < small.lo);
  } else {
    uint64_t borrow = big.lo < small.lo;
    big.lo -= small.lo;
    big.hi -= small.hi + borrow;
    if (sticky) { /* the true difference lies between this less one and this */
      big.hi -= big.lo == 0;
      big.lo--;
    }
    if ((big.hi | big.lo) == 0) return hui_num_special(HU_KIND_ZERO, down);
  }
  return hui_long_lead(big, sticky);
}

/* x + y, exact except for a sticky bit. An exact zero of different signs is -0 if `down` (the rounding to come goes
 * toward negative), else +0: IEEE 754-2019 section 6.3. */
HU_STEP hu_num hui_long_add(hu_long x, hu_long y, uint32_t down) {
  if (x.kind == HU_KIND_NAN || y.kind == HU_KIND_NAN) return hui_num_special(HU_KIND_NAN, 0);
  if (x.kind == HU_KIND_INF && y.kind == HU_KIND_INF && x.sign != y.sign) return hui_num_special(HU_KIND_NAN, 0);
  if (x.kind == HU_KIND_INF) return hui_num_special(HU_KIND_INF, x.sign);
  if (y.kind == HU_KIND_INF) return hui_num_special(HU_KIND_INF, y.sign);
  if (x.kind == HU_KIND_ZERO && y.kind == HU_KIND_ZERO) {
    return hui_num_special(HU_KIND_ZERO, x.sign == y.sign ? x.sign : down);
  }
  if (x.kind == HU_KIND_ZERO) return hui_long_lead(y, 0);
  if (y.kind == HU_KIND_ZERO) return hui_long_lead(x, 0);
  return hui_add_finite(x, y, down);
}

/* Returns a product alone, for a rounding of its own. */
HU_FN hu_num hui_long_num(hu_long x) {
  return x.kind == HU_KIND_FINITE ? hui_long_lead(x, 0) : hui_num_special(x.kind, x.sign);
}

/* |x| >= |y|; not if one is NaN. */
HU_FN int32_t hui_magnitude_least(hu_num x, hu_num y) {
  if (x.kind == HU_KIND_NAN || y.kind == HU_KIND_NAN) return 0;
  if (x.kind == HU_KIND_INF) return 1;
  if (y.kind == HU_KIND_INF) return 0;
  if (y.kind == HU_KIND_ZERO) return 1;
  if (x.kind == HU_KIND_ZERO) return 0;
  int32_t ex = hui_exponent(x), ey = hui_exponent(y);
  return ex != ey ? ex > ey : x.sig << hui_clz64(x.sig) >= y.sig << hui_clz64(y.sig);
}

/* ---- what goes along with the steps of one element ---- */

typedef struct hu_draw {
  uint64_t key, element; /* random words, docs/numerics.md section 11.3: counter + number of the element */
  uint64_t next;         /* number of the next rounding */
  hu_watch *watch;       /* section 11.7; NULL: nothing is watched */
  hu_tracing *trace;     /* NULL: steps are not passed on */
  const uint32_t *words; /* brought along: rounding r takes words[r], 0 from `count` on; NULL: the stream's */
  uint64_t count;
  uint32_t events; /* of the latest rounding */
} hu_draw;

HU_FN hu_draw hui_draw_of(uint64_t key, uint64_t element, hu_watch *watch) {
  hu_draw draw;
  draw.key = key;
  draw.element = element;
  draw.next = 0;
  draw.watch = watch;
  draw.trace = NULL;
  draw.words = NULL;
  draw.count = 0;
  draw.events = 0;
  return draw;
}

HU_FN uint32_t hui_draw_word(const hu_draw *draw) {
  uint64_t block = 1 + (draw->next >> 2);
  hu_philox counter;
  counter.words[0] = (uint32_t)draw->element;
  counter.words[1] = (uint32_t)(draw->element >> 32);
  counter.words[2] = (uint32_t)block;
  counter.words[3] = (uint32_t)(block >> 32);
  return hui_philox4x32(counter, (uint32_t)draw->key, (uint32_t)(draw->key >> 32)).words[draw->next & 3];
}

/* R of the next rounding, `bits` digits: of a stream's word the high ones, of a word brought along the low ones. Device
 * code has streams only, which the compiler can use. */
HU_FN uint32_t hui_draw_digits(const hu_draw *draw, uint32_t bits) {
#ifndef __CUDA_ARCH__
  if (draw->words) return draw->next < draw->count ? draw->words[draw->next] : 0;
#endif
  return hui_draw_word(draw) >> (32 - bits);
}

/* Is 0 in device code, so that the compiler leaves traces out. */
HU_FN int32_t hui_is_traced(const hu_draw *draw) {
#ifdef __CUDA_ARCH__
  (void)draw;
  return 0;
#else
  return draw->trace != NULL;
#endif
}

/* ---- rounded steps ---- */

/* Where the steps of a model round to. */
typedef struct hu_grid {
  hu_spec spec;
  uint8_t over; /* 1: overflow is infinity in every mode */
  uint8_t plus; /* 1: what is rounded to zero is +0 */
  uint8_t ftz;  /* HU_BLOCK_FTZ_ of halfulp/accum.h */
} hu_grid;

HU_FN int32_t hui_grid_below(const hu_grid *grid, hu_num x) {
  return x.kind == HU_KIND_FINITE && hui_exponent(x) < grid->spec.emin;
}

/* The rounding that comes next has product k. */
HU_FN void hui_trace_product(uint64_t k, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_products(draw->trace, k, k + 1);
}

/* Products k to past - 1 follow, added on their own. */
HU_FN void hui_trace_inner(uint32_t kind, uint64_t k, uint64_t past, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_begin(draw->trace, kind, k, past);
}

/* The zero that a result is flushed to. */
HU_FN hu_num hui_grid_zero(const hu_grid *grid, uint32_t sign) {
  return hui_num_special(HU_KIND_ZERO, grid->plus ? 0 : sign);
}

/* Rounds x onto the grid, which keeps subnormal numbers. */
HU_FN hu_num hui_grid_value(const hu_grid *grid, hu_num x, uint32_t random, uint32_t *events) {
  uint32_t code = hui_round(&grid->spec, x, random, events);
  if (grid->over && (*events & HU_EVENT_OVERFLOW)) return hui_num_special(HU_KIND_INF, x.sign);
  hu_num z = hui_unpack(&grid->spec, code);
  if (grid->plus && z.kind == HU_KIND_ZERO) z.sign = 0;
  return z;
}

/* Rounds x onto a grid that flushes them: apart, because few units do. */
HU_STEP hu_num hui_grid_flushed(const hu_grid *grid, hu_num x, uint32_t random, hu_draw *draw) {
  uint32_t events = 0;
  draw->events = 0;
  if (grid->ftz == 3 && hui_grid_below(grid, x)) return hui_grid_zero(grid, x.sign);
  hu_num z = hui_grid_value(grid, x, random, &events);
  draw->events = events;
  if (grid->ftz == 1 && hui_grid_below(grid, z)) return hui_grid_zero(grid, z.sign);
  if (grid->ftz == 2 && (hui_grid_below(grid, z) || (events & HU_EVENT_UNDERFLOW))) return hui_grid_zero(grid, x.sign);
  return z;
}

/* x rounded onto the grid; its random word is counted whether the mode uses it or not. */
HU_FN hu_num hui_grid_rounded(const hu_grid *grid, hu_num x, hu_draw *draw) {
  uint32_t events, random = 0;
  if (grid->spec.round >= HU_SRA) random = hui_draw_digits(draw, grid->spec.bits);
  draw->next++;
  if (grid->ftz) return hui_grid_flushed(grid, x, random, draw);
  hu_num z = hui_grid_value(grid, x, random, &events);
  draw->events = events;
  return z;
}

/* Returns R of the latest rounding. */
HU_FN uint32_t hui_draw_latest(const hu_grid *grid, const hu_draw *draw) {
  hu_draw before = *draw;
  before.next--;
  return grid->spec.round >= HU_SRA ? hui_draw_digits(&before, grid->spec.bits) : 0;
}

HU_STEP hu_num hui_grid_round(const hu_grid *grid, hu_num x, hu_draw *draw) {
  hu_num z = hui_grid_rounded(grid, x, draw);
  if (hui_is_traced(draw)) {
    hui_trace_type(draw->trace, grid);
    hui_trace_result(draw->trace, x, z, draw->events, hui_draw_latest(grid, draw));
  }
  return z;
}

HU_FN uint32_t hui_grid_down(const hu_grid *grid) { return grid->spec.round == HU_RTN; }

HU_FN hu_num hui_grid_add(const hu_grid *grid, hu_num x, hu_num y, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_operands(draw->trace, HU_TRACE_ADD, x, y, hui_num_special(HU_KIND_ZERO, 0));
  return hui_grid_round(grid, hui_long_add(hui_long_of(x), hui_long_of(y), hui_grid_down(grid)), draw);
}

HU_FN hu_num hui_grid_sub(const hu_grid *grid, hu_num x, hu_num y, hu_draw *draw) {
  return hui_grid_add(grid, x, hui_negated(y), draw);
}

HU_FN hu_num hui_grid_fma(const hu_grid *grid, hu_num a, hu_num b, hu_num c, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_operands(draw->trace, HU_TRACE_FMA, a, b, c);
  return hui_grid_round(grid, hui_long_add(hui_long_product(a, b), hui_long_of(c), hui_grid_down(grid)), draw);
}

HU_FN hu_num hui_grid_mul(const hu_grid *grid, hu_num a, hu_num b, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_operands(draw->trace, HU_TRACE_MUL, a, b, hui_num_special(HU_KIND_ZERO, 0));
  return hui_grid_round(grid, hui_long_num(hui_long_product(a, b)), draw);
}

/* ---- additions watched: docs/numerics.md section 11.7 ---- */

HU_FN void hui_watch_add(hu_watch *sum, const hu_watch *watch) {
  sum->additions += watch->additions;
  sum->swamped += watch->swamped;
  sum->overflows += watch->overflows;
  sum->gap = sum->gap > watch->gap ? sum->gap : watch->gap;
}

HU_FN int32_t hui_same_value(hu_num x, hu_num y) {
  if (x.kind != y.kind) return 0;
  if (x.kind != HU_KIND_FINITE) return 1;
  return x.sign == y.sign && hui_exponent(x) == hui_exponent(y) &&
         x.sig << hui_clz64(x.sig) == y.sig << hui_clz64(y.sig);
}

HU_FN void hui_watch_gap(hu_watch *watch, int32_t gap) {
  uint64_t binades = (uint64_t)(gap < 0 ? -gap : gap);
  if (binades > watch->gap) watch->gap = binades;
}

/* Is 0 in device code, so that the compiler leaves watching out. */
HU_FN int32_t hui_watched(const hu_draw *draw) {
#ifdef __CUDA_ARCH__
  (void)draw;
  return 0;
#else
  return draw->watch != NULL;
#endif
}

/* Notes that an addend of exponent e, finite and not 0, was added to total, and that the latest rounding gave z. */
HU_FN void hui_watch_sum(hu_draw *draw, hu_num total, int32_t e, hu_num z) {
  hu_watch *watch = draw->watch;
  if (total.kind > HU_KIND_FINITE) return;
  watch->additions++;
  if (draw->events & HU_EVENT_OVERFLOW) {
    watch->overflows++;
  } else if (hui_same_value(total, z)) {
    watch->swamped++;
  }
  if (total.kind == HU_KIND_FINITE) hui_watch_gap(watch, hui_exponent(total) - e);
}

/* One of the terms of a block that are cut: `kept` is what is left of it, e its exponent and top the largest. */
HU_FN void hui_watch_cut(hu_draw *draw, int32_t top, int32_t e, int64_t kept) {
  hu_watch *watch = draw->watch;
  if (!hui_watched(draw)) return;
  watch->additions++;
  if (kept == 0) watch->swamped++;
  hui_watch_gap(watch, top - e);
}

/* rnd(total + t): t goes into the accumulator total. */
HU_FN hu_num hui_accumulate(const hu_grid *grid, hu_num total, hu_num t, hu_draw *draw) {
  hu_num z = hui_grid_add(grid, total, t, draw);
  if (hui_watched(draw) && t.kind == HU_KIND_FINITE) hui_watch_sum(draw, total, hui_exponent(t), z);
  return z;
}

/* rnd(x + y) of two that are each other's addend: the larger is the accumulator. */
HU_FN hu_num hui_accumulate_pair(const hu_grid *grid, hu_num x, hu_num y, hu_draw *draw) {
  int32_t first = !hui_watched(draw) || hui_magnitude_least(x, y);
  return first ? hui_accumulate(grid, x, y, draw) : hui_accumulate(grid, y, x, draw);
}

/* Returns rnd(a b + total). */
HU_FN hu_num hui_accumulate_product(const hu_grid *grid, hu_num a, hu_num b, hu_num total, hu_draw *draw) {
  hu_num z = hui_grid_fma(grid, a, b, total, draw);
  if (hui_watched(draw) && a.kind == HU_KIND_FINITE && b.kind == HU_KIND_FINITE) {
    hui_watch_sum(draw, total, hui_exponent(hui_long_num(hui_long_product(a, b))), z);
  }
  return z;
}

/* ---- binary64, ties to even ---- */

HU_STEP uint64_t hui_round64(hu_num x) {
  uint64_t sign = (uint64_t)x.sign << 63, infinite = 0x7FF0000000000000u;
  if (x.kind == HU_KIND_NAN) return 0x7FF8000000000000u;
  if (x.kind == HU_KIND_INF) return sign | infinite;
  if (x.kind == HU_KIND_ZERO) return sign;
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
  uint64_t sig = x.sig << lead;
  if (k > 1023) return sign | infinite;
  int32_t cut = k >= -1022 ? 11 : -1022 - k + 11;
  uint64_t f = hui_shift_right(sig, cut);
  int32_t inexact = x.sticky || (cut > 63 ? sig : sig & (((uint64_t)1 << cut) - 1)) != 0;
  int32_t half = inexact ? hui_against_half(sig, x.sticky, cut) : -1;
  f += half > 0 || (half == 0 && (f & 1));
  /* A carry goes up into the exponent field, from 1023 to infinity too. */
  return sign | (k >= -1022 ? ((uint64_t)(k + 1022) << 52) + f : f);
}

#endif
