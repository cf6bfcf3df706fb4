/* SPDX-License-Identifier: MIT */
/* emu/gemm/unit_steps.h - the blocks of matrix units (emu/core/accum_block.h) in binary64: for the lanes of a level
 * (unit_lanes.c), and for the threads of a device (gpu/gemm/blocks.cu).
 *
 * Operands fit binary32, so a product has at most 48 digits and lies between 2^-298 and 2^256: x = a b is exact. Beside
 * every operand lies its power |a|p = 2^e(a), 0 for a zero and infinity for a special one; |a|p |b|p = 2^e(ab) is exact
 * too, zero products have power 0, and the largest exponent is the largest of the powers. Everything the rules then do
 * is an exact scaling by a power of two, a rounding to an integer in a stated direction, or a sum of integers that
 * stays below 2^53; unit_plan.c admits no parameters for which it would not. Operands of models with
 * scales are taken times their scales, still few digits and within 2^-600 and 2^550. So
 *
 *   cut to F digits below E   scale by 2^(F-E), round to an integer by the rule's direction
 *   groups                    the products of a group, whose scales are in the operands, are added first: few digits
 *   sticky=or                 S, below 2^52, gets an odd digit at the end of its 53, or loses one at the same place: no
 *                             rounding into `out`, which has two digits less, depends on how small it is
 *   S 2^(E-F) into `out`      hu_unit_grid: Q = 2^(max(e, emin) - m) the step of out's grid at x; x / Q to an integer
 *                             in the mode's direction, times Q. Binary32, ties to even: the CPU's conversion
 *
 * Rounded additions (tree, chain, lanes, c=last, promote) round s = x + y to odd in binary64 first: with two digits or
 * more beyond those of the format, the second rounding is that of the exact sum. Into binary32 the plain sum of two
 * binary32 numbers does as well: 53 >= 2 24 + 2, and sums below 2^-126 are exact.
 *
 * `exact`: h + low is the sum of the products, without error: h by Knuth's two-sums, low the sum of their errors, all
 * multiples of the products' lowest place; unit_plan.c checks that it fits 53 digits, and a last two-sum makes it at
 * most half a digit of h. Then h + c = h' + e, and the sum sought is h' + t, t = e + low, to odd. If c cancels more
 * than half of h, e = 0 and t = low. Else |t| is at most two digits of h': points of the grid about h', less h', are
 * even at the precision of t, so that t to odd lies on t's side of each, and h' + that, to odd, is h' + t to odd.
 *
 * NaN and infinities, of operands, or of a result beyond its format, become a NaN or an infinity in the lane, which no
 * step turns into a number: at the end it marks the element as one for the integers.
 *
 * The including file defines BLK_FN, which decorates the functions, BLK_ROWS and HU_UNROLL, where operands lie
 * (HU_UNIT_MB, NB, KC and NR: unit.h), the types blk_d (doubles) and blk_u (patterns), and as functions
 *
 *   blk_all(x), blk_each(u)          a double, a pattern in every lane
 *   blk_load, blk_store, blk_bits(d), blk_value(u)
 *   blk_mul, blk_add, blk_sub, blk_fma(x, y, z), blk_max; blk_and, blk_or, blk_minus of patterns
 *   blk_trunc, blk_floor, blk_ceil, blk_near   to integers
 *   blk_narrow(x)                    to binary32, ties to even, and back
 *   blk_narrow_normal(x)             and results below 2^-126 to zeros of their sign
 *   blk_if_less, blk_if_same(x, y, yes, no)    false where one is NaN
 *   blk_flush(x, least)              numbers below `least` to zeros of their sign
 *   blk_sticky(x, low)               without some low digits, to odd
 *   blk_odd_sum(x, y)                the sum, to odd */
#ifndef HALFULP_EMU_GEMM_UNIT_STEPS_H
#define HALFULP_EMU_GEMM_UNIT_STEPS_H

#include "emu/gemm/unit_plan.h"

#define BLK_EACH for (size_t r = 0; r < BLK_ROWS; r++)

#define BLK_EXPONENT 0x7FF0000000000000u
#define BLK_SIGN 0x8000000000000000u
#define BLK_NONE 0x1p-600 /* below every power */

BLK_FN blk_d size_of(blk_d x) { return blk_value(blk_and(blk_bits(x), blk_each(~BLK_SIGN))); }
BLK_FN blk_d sign_of(blk_d x) { return blk_value(blk_and(blk_bits(x), blk_each(BLK_SIGN))); }
BLK_FN blk_d power_of(blk_d x) { return blk_value(blk_and(blk_bits(x), blk_each(BLK_EXPONENT))); }
/* 2^(n - e) of top = (2046 + n) 2^52 and 2^e. */
BLK_FN blk_d over(uint64_t top, blk_d power) { return blk_value(blk_minus(blk_each(top), blk_bits(power))); }
BLK_FN blk_d lowered(blk_d power, uint64_t by) { return blk_value(blk_minus(blk_bits(power), blk_each(by))); }

/* ---- one rounding ---- */

/* To odd: toward zero, and one further where that lost something and is even. */
BLK_FN blk_d to_odd(blk_d y) {
  blk_d t = blk_trunc(y), half = blk_mul(t, blk_all(0.5));
  blk_d beside = blk_add(t, blk_value(blk_or(blk_bits(blk_all(1)), blk_bits(sign_of(y)))));
  return blk_if_same(t, y, t, blk_if_same(blk_trunc(half), half, beside, t));
}

BLK_FN void to_integers(int round, blk_d y[BLK_ROWS]) {
  switch (round) {
    case HU_RNE: HU_UNROLL BLK_EACH y[r] = blk_near(y[r]); break;
    case HU_RTZ: HU_UNROLL BLK_EACH y[r] = blk_trunc(y[r]); break;
    case HU_RTN: HU_UNROLL BLK_EACH y[r] = blk_floor(y[r]); break;
    case HU_RTP: HU_UNROLL BLK_EACH y[r] = blk_ceil(y[r]); break;
    default: HU_UNROLL BLK_EACH y[r] = to_odd(y[r]);
  }
}

BLK_FN void flush(double least, blk_d x[BLK_ROWS]) {
  HU_UNROLL
  BLK_EACH x[r] = blk_flush(x[r], least);
}

/* Returns infinity for what passes the largest number. */
BLK_FN blk_d beyond(const hu_unit_grid *grid, blk_d x) {
  return blk_if_less(blk_all(grid->max), size_of(x), blk_value(blk_each(BLK_EXPONENT)), x);
}

BLK_FN void round_into(const hu_unit_grid *grid, blk_d x[BLK_ROWS]) {
  blk_d power[BLK_ROWS];
  if (grid->tiny > 0) flush(grid->tiny, x);
  if (grid->sticky) {
    HU_UNROLL
    BLK_EACH x[r] = beyond(grid, blk_sticky(x[r], grid->sticky));
    return;
  }
  if (grid->narrow && grid->least > 0) {
    HU_UNROLL
    BLK_EACH x[r] = blk_narrow_normal(x[r]);
    return;
  }
  if (grid->narrow) {
    HU_UNROLL
    BLK_EACH x[r] = blk_narrow(x[r]);
  } else {
    HU_UNROLL
    BLK_EACH {
      power[r] = blk_max(power_of(x[r]), blk_all(grid->emin));
      x[r] = blk_mul(x[r], over(grid->top, power[r]));
    }
    to_integers(grid->round, x);
    HU_UNROLL
    BLK_EACH x[r] = beyond(grid, blk_mul(x[r], lowered(power[r], grid->step)));
  }
  if (grid->least > 0) flush(grid->least, x);
}

/* x = rnd(x + y) */
BLK_FN void add_into(const hu_unit_grid *grid, blk_d x[BLK_ROWS], const blk_d y[BLK_ROWS]) {
  HU_UNROLL
  BLK_EACH x[r] = grid->narrow ? blk_add(x[r], y[r]) : blk_odd_sum(x[r], y[r]);
  round_into(grid, x);
}

/* ---- align, groups ---- */

BLK_FN blk_d cut(const int rule, blk_d x) {
  switch (rule & ~HU_UNIT_STICKY) {
    case HU_BLOCK_CUT_NEAREST: return blk_near(x);
    case HU_BLOCK_CUT_FLOOR: return blk_floor(x);
    case HU_BLOCK_CUT_ODD: return to_odd(x);
    default: return blk_trunc(x);
  }
}

/* e = the largest of it and the powers of every `step`-th product. */
BLK_FN void largest(size_t count, size_t step, const double *a, const double *b, blk_d e[BLK_ROWS]) {
  for (size_t k = 0; k < count; k += step) {
    blk_d y = blk_load(b + HU_UNIT_NB * HU_UNIT_KC + k * HU_UNIT_NR);
    HU_UNROLL
    BLK_EACH {
      blk_d x = blk_all(a[HU_UNIT_MB * HU_UNIT_KC + r * HU_UNIT_KC + k]);
      e[r] = blk_max(e[r], blk_mul(x, y));
    }
  }
}

/* *s += x, cut. *bit, with HU_UNIT_STICKY, becomes 2^-1074 where digits are lost. */
BLK_FN void add_cut(const int rule, blk_d x, blk_d *s, blk_d *bit) {
  blk_d z = cut(rule, x);
  if (rule & HU_UNIT_STICKY) *bit = blk_if_same(z, x, *bit, blk_value(blk_each(1)));
  *s = blk_add(*s, z);
}

/* Returns s, of at most 52 digits, with the bit: one odd digit more in magnitude, or less where cuts were downward. */
BLK_FN blk_d with_bit(const int rule, blk_d s, blk_d bit) {
  const blk_d zero = blk_all(0);
  blk_d more = blk_value(blk_or(blk_bits(s), blk_bits(bit)));
  if ((rule & ~HU_UNIT_STICKY) == HU_BLOCK_CUT_FLOOR)
    more = blk_if_less(s, zero, blk_value(blk_minus(blk_bits(s), blk_bits(bit))), more);
  return blk_if_same(s, zero, s, more);
}

/* Adds a group's products in all lanes of a row times `up`, cut. */
BLK_FN void add_groups(const int rule, const hu_unit_plan *plan, const double *a, const double *b,
                       const blk_d up[BLK_ROWS], blk_d s[BLK_ROWS], blk_d bit[BLK_ROWS]) {
  for (size_t k = 0; k < plan->length;) {
    blk_d n[BLK_ROWS];
    HU_UNROLL
    BLK_EACH n[r] = blk_all(0);
    for (size_t past = k + plan->group; k < past; k++) {
      blk_d y = blk_load(b + k * HU_UNIT_NR);
      HU_UNROLL
      BLK_EACH n[r] = blk_fma(blk_all(a[r * HU_UNIT_KC + k]), y, n[r]);
    }
    HU_UNROLL
    BLK_EACH add_cut(rule, blk_mul(n[r], up[r]), &s[r], &bit[r]);
  }
}

BLK_FN void unit_align(const int rule, const int grouped, const hu_unit_plan *plan, const double *a, const double *b,
                       blk_d c[BLK_ROWS]) {
  blk_d e[BLK_ROWS], s[BLK_ROWS], up[BLK_ROWS], bit[BLK_ROWS], zero = blk_all(0), emin = blk_all(plan->emin);
  HU_UNROLL
  BLK_EACH {
    e[r] = blk_max(power_of(c[r]), blk_all(plan->acc_emin));
    e[r] = blk_max(emin, blk_if_same(c[r], zero, zero, e[r]));
  }
  largest(plan->length, 1, a, b, e);
  HU_UNROLL
  BLK_EACH {
    up[r] = over(plan->top, e[r]);
    s[r] = bit[r] = zero;
    add_cut(rule, blk_mul(c[r], up[r]), &s[r], &bit[r]);
  }
  if (grouped) {
    add_groups(rule, plan, a, b, up, s, bit);
  } else {
    for (size_t k = 0; k < plan->length; k++) {
      blk_d y = blk_load(b + k * HU_UNIT_NR);
      HU_UNROLL
      BLK_EACH {
        blk_d p = blk_mul(blk_all(a[r * HU_UNIT_KC + k]), y);
        add_cut(rule, blk_mul(p, up[r]), &s[r], &bit[r]);
      }
    }
  }
  if (rule & HU_UNIT_STICKY) {
    HU_UNROLL
    BLK_EACH s[r] = with_bit(rule, s[r], bit[r]);
  }
  HU_UNROLL
  BLK_EACH c[r] = blk_mul(s[r], lowered(e[r], plan->kept));
  round_into(&plan->out, c);
  if (plan->plus) {
    HU_UNROLL
    BLK_EACH c[r] = blk_add(c[r], zero);
  }
}

/* ---- late ---- */

/* Sums every `step`-th of count products, truncated, in units of 2^-F times its power e; m: the largest product. */
BLK_FN void lane_sum(const hu_unit_plan *plan, size_t count, size_t step, const double *a, const double *b,
                     blk_d e[BLK_ROWS], blk_d s[BLK_ROWS], blk_d m[BLK_ROWS]) {
  blk_d up[BLK_ROWS];
  HU_UNROLL
  BLK_EACH {
    e[r] = blk_all(0);
    s[r] = blk_all(0);
  }
  largest(count, step, a, b, e);
  HU_UNROLL
  BLK_EACH up[r] = over(plan->top, blk_max(e[r], blk_all(BLK_NONE)));
  for (size_t k = 0; k < count; k += step) {
    blk_d y = blk_load(b + k * HU_UNIT_NR);
    HU_UNROLL
    BLK_EACH {
      blk_d p = blk_mul(blk_all(a[r * HU_UNIT_KC + k]), y);
      m[r] = blk_max(m[r], size_of(p));
      s[r] = blk_add(s[r], blk_trunc(blk_mul(p, up[r])));
    }
  }
}

/* Computes two such sums, the second one over odd k. */
BLK_FN void two_lanes(const hu_unit_plan *plan, const double *a, const double *b, blk_d e[BLK_ROWS], blk_d s[BLK_ROWS],
                      blk_d m[BLK_ROWS]) {
  blk_d odd[BLK_ROWS], z[BLK_ROWS];
  lane_sum(plan, plan->length, 2, a, b, e, s, m);
  lane_sum(plan, plan->length - 1, 2, a + 1, b + HU_UNIT_NR, odd, z, m);
  HU_UNROLL
  BLK_EACH {
    blk_d both = blk_max(e[r], odd[r]), down = over((uint64_t)2046 << 52, blk_max(both, blk_all(BLK_NONE)));
    s[r] = blk_add(blk_floor(blk_mul(s[r], blk_mul(e[r], down))), blk_floor(blk_mul(z[r], blk_mul(odd[r], down))));
    e[r] = both;
  }
}

BLK_FN void unit_late(const hu_unit_plan *plan, const double *a, const double *b, blk_d c[BLK_ROWS]) {
  blk_d e[BLK_ROWS], s[BLK_ROWS], m[BLK_ROWS], acc_emin = blk_all(plan->acc_emin), late = blk_all(plan->late);
  HU_UNROLL
  BLK_EACH m[r] = blk_all(0);
  if (plan->lanes == 2) {
    two_lanes(plan, a, b, e, s, m);
  } else {
    lane_sum(plan, plan->length, 1, a, b, e, s, m);
  }
  HU_UNROLL
  BLK_EACH {
    blk_d pc = blk_max(power_of(c[r]), acc_emin), both = blk_max(e[r], pc), down = over((uint64_t)2046 << 52, both);
    blk_d t = blk_floor(blk_mul(s[r], blk_mul(blk_mul(e[r], down), late)));
    blk_d w = blk_mul(blk_floor(blk_mul(c[r], over(plan->top, both))), late);
    w = blk_if_less(blk_mul(pc, blk_all(plan->far)), both, blk_all(0), w);
    t = blk_if_less(m[r], blk_all(plan->big), blk_add(t, w), blk_value(blk_each(BLK_EXPONENT)));
    blk_d v = blk_mul(blk_mul(t, blk_all(0.5)), lowered(both, plan->kept2)), x = blk_max(power_of(v), acc_emin);
    c[r] = blk_mul(blk_floor(blk_mul(v, over(plan->top2, x))), lowered(x, plan->kept2));
  }
  round_into(&plan->out, c);
}

/* ---- exact ---- */

BLK_FN void products(const double *a, const double *b, blk_d p[BLK_ROWS]) {
  blk_d y = blk_load(b);
  HU_UNROLL
  BLK_EACH p[r] = blk_mul(blk_all(a[r * HU_UNIT_KC]), y);
}

/* Computes *s + x and its error. */
BLK_FN blk_d two_sum(blk_d *s, blk_d x) {
  blk_d y = *s, z = blk_add(y, x), t = blk_sub(z, y);
  *s = z;
  return blk_add(blk_sub(y, blk_sub(z, t)), blk_sub(x, t));
}

/* h + low is the sum of the products, low at most half a digit of h; unit.h. */
BLK_FN void unit_exact(const hu_unit_plan *plan, const double *a, const double *b, blk_d c[BLK_ROWS]) {
  blk_d h[BLK_ROWS], low[BLK_ROWS], p[BLK_ROWS];
  products(a, b, h);
  HU_UNROLL
  BLK_EACH {
    h[r] = blk_add(blk_all(0), h[r]);
    low[r] = blk_all(0);
  }
  for (size_t k = 1; k < plan->length; k++) {
    products(a + k, b + k * HU_UNIT_NR, p);
    HU_UNROLL
    BLK_EACH low[r] = blk_add(low[r], two_sum(&h[r], p[r]));
  }
  if (plan->length > 2) {
    HU_UNROLL
    BLK_EACH low[r] = two_sum(&h[r], low[r]);
  }
  HU_UNROLL
  BLK_EACH {
    blk_d rest = blk_odd_sum(two_sum(&h[r], c[r]), low[r]);
    c[r] = blk_odd_sum(h[r], rest);
  }
  round_into(&plan->out, c);
}

/* ---- tree, chain, lanes ---- */

BLK_FN void unit_tree(const hu_unit_plan *plan, const double *a, const double *b, blk_d c[BLK_ROWS]) {
  blk_d part[8][BLK_ROWS], p[BLK_ROWS];
  for (size_t k = 0, leaf = 0, level; k < plan->length; k += plan->exact_pair ? 2 : 1, leaf++) {
    products(a + k, b + k * HU_UNIT_NR, p);
    if (plan->exact_pair) {
      blk_d other[BLK_ROWS];
      products(a + k + 1, b + (k + 1) * HU_UNIT_NR, other);
      HU_UNROLL
      BLK_EACH p[r] = blk_odd_sum(p[r], other[r]);
    }
    round_into(&plan->out, p);
    for (level = 0; leaf >> level & 1; level++) {
      blk_d sum[BLK_ROWS];
      HU_UNROLL
      BLK_EACH sum[r] = part[level][r];
      add_into(&plan->out, sum, p);
      HU_UNROLL
      BLK_EACH p[r] = sum[r];
    }
    HU_UNROLL
    BLK_EACH part[level][r] = p[r];
  }
  add_into(&plan->out, c, p);
}

/* c = rnd(a b + c) for every `step`-th of count products. */
BLK_FN void chain(const hu_unit_plan *plan, size_t count, size_t step, const double *a, const double *b,
                  blk_d c[BLK_ROWS]) {
  for (size_t k = 0; k < count; k += step) {
    blk_d p[BLK_ROWS];
    products(a + k, b + k * HU_UNIT_NR, p);
    HU_UNROLL
    BLK_EACH c[r] = blk_odd_sum(p[r], c[r]);
    round_into(&plan->out, c);
  }
}

BLK_FN void unit_lanes(const hu_unit_plan *plan, size_t count, const double *a, const double *b, blk_d c[BLK_ROWS]) {
  blk_d u[BLK_ROWS], v[BLK_ROWS];
  HU_UNROLL
  BLK_EACH u[r] = v[r] = blk_all(0);
  chain(plan, count, 2, a, b, u);
  if (count > 1) chain(plan, count - 1, 2, a + 1, b + HU_UNIT_NR, v);
  add_into(&plan->out, u, v);
  add_into(&plan->out, c, u);
}

/* ---- blocks ---- */

enum { BLK_ALIGN, BLK_GROUPS, BLK_LATE, BLK_EXACT, BLK_TREE, BLK_CHAIN, BLK_PAIR };

BLK_FN void block(const int kind, const int rule, const hu_unit_plan *plan, size_t count, const double *a,
                  const double *b, blk_d c[BLK_ROWS]) {
  switch (kind) {
    case BLK_ALIGN: unit_align(rule, 0, plan, a, b, c); break;
    case BLK_GROUPS: unit_align(rule, 1, plan, a, b, c); break;
    case BLK_LATE: unit_late(plan, a, b, c); break;
    case BLK_EXACT: unit_exact(plan, a, b, c); break;
    case BLK_TREE: unit_tree(plan, a, b, c); break;
    case BLK_CHAIN: chain(plan, count, 1, a, b, c); break;
    default: unit_lanes(plan, count, a, b, c);
  }
}

/* Adds count products of the blocks to c. */
BLK_FN void run_steps(const int kind, const int rule, const hu_unit_plan *plan, size_t count, const double *a,
                      const double *b, blk_d c[BLK_ROWS]) {
  blk_d s[BLK_ROWS];
  for (size_t k = 0; k < count;) {
    if (plan->last) {
      HU_UNROLL
      BLK_EACH {
        s[r] = c[r];
        c[r] = blk_all(0);
      }
    }
    for (size_t half = 0; half < plan->halves; half++, k += plan->length) {
      size_t left = count - k < plan->length ? count - k : plan->length;
      block(kind, rule, plan, left, a + k, b + k * HU_UNIT_NR, c);
    }
    if (plan->last) add_into(&plan->join, c, s);
  }
}

#endif
