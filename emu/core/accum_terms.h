/* SPDX-License-Identifier: MIT */
/* emu/core/accum_terms.h - the terms of a matrix unit's blocks, and their cuts and sums. Part of emu/core/accum.h.
 *
 * docs/numerics.md section 11.5 has the rules as formulas. All sums of cut terms fit 64 bits: a term is below 2^(F+2)
 * units (F <= 40), or as hui_accum_usable has checked for groups, and there are at most 4097 of them. */
#ifndef HALFULP_EMU_CORE_ACCUM_TERMS_H
#define HALFULP_EMU_CORE_ACCUM_TERMS_H

#include "emu/core/accum_plan.h"

/* A product or c, not normalised: (-1)^sign sig 2^exp, with the exponent that it is aligned by. */
typedef struct hu_term {
  uint64_t sig;
  int32_t exp, alignment;
  uint8_t kind, sign;
  uint8_t counts; /* 1: it takes part in the largest exponent */
} hu_term;

typedef struct hu_marks {
  uint8_t nan, plus, minus;
} hu_marks;

HU_FN void hui_mark(hu_marks *marks, uint8_t kind, uint8_t sign) {
  if (kind == HU_KIND_NAN) marks->nan = 1;
  if (kind == HU_KIND_INF && sign) marks->minus = 1;
  if (kind == HU_KIND_INF && !sign) marks->plus = 1;
}

HU_FN int32_t hui_marked(const hu_marks *marks) { return marks->nan || marks->plus || marks->minus; }

HU_FN hu_num hui_marks_value(const hu_marks *marks) {
  if (marks->nan || (marks->plus && marks->minus)) return hui_num_special(HU_KIND_NAN, 0);
  return hui_num_special(HU_KIND_INF, marks->minus);
}

HU_FN int32_t hui_later(int32_t a, int32_t b) { return a > b ? a : b; }

/* Reads the two scales of product k. */
HU_FN void hui_scales_at(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_num *sa, hu_num *sb) {
  uint64_t j = k / plan->model.block.every;
  *sa = hui_source_read(&plan->sa, in->sa.at + (ptrdiff_t)j * in->sa.step);
  *sb = hui_source_read(&plan->sb, in->sb.at + (ptrdiff_t)j * in->sb.step);
}

/* Do zeros have an exponent, that of the least normal number? */
HU_FN uint8_t hui_zeros_count(const hu_accum_plan *plan) { return plan->model.block.zeros >= HU_BLOCK_ZEROS_EXPONENT; }

/* Returns e(x), of a zero emin. */
HU_FN int32_t hui_exponent_from(hu_num x, int32_t emin) {
  return x.kind == HU_KIND_FINITE ? hui_later(hui_exponent(x), emin) : emin;
}

/* Product k. Scales of rule align have one digit. */
HU_STEP hu_term hui_term_at(const hu_accum_plan *plan, const hu_lines *in, uint64_t k) {
  hu_term term;
  hu_num a = hui_read_a(plan, in, k), b = hui_read_b(plan, in, k);
  hu_long x = hui_long_product(a, b);
  term.kind = x.kind;
  term.sign = x.sign;
  term.sig = a.sig * b.sig;
  term.exp = a.exp + b.exp;
  term.alignment = 0;
  term.counts = x.kind == HU_KIND_FINITE || (x.kind == HU_KIND_ZERO && hui_zeros_count(plan));
  if (term.counts) term.alignment = hui_exponent_from(a, plan->a.emin) + hui_exponent_from(b, plan->b.emin);
  if (plan->model.block.every && plan->model.block.scaling == HU_BLOCK_SCALING_TERMS) {
    hu_num sa, sb;
    hui_scales_at(plan, in, k, &sa, &sb);
    if (sa.kind == HU_KIND_ZERO || sb.kind == HU_KIND_ZERO) {
      if (term.kind == HU_KIND_FINITE) term.kind = HU_KIND_ZERO;
      term.counts = 0;
    }
    if (sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN) term.kind = HU_KIND_NAN;
    term.exp += sa.exp + sb.exp;
    term.alignment += sa.exp + sb.exp;
  }
  uint32_t big = plan->model.block.big;
  if (big && term.kind == HU_KIND_FINITE && term.exp + 63 - hui_clz64(term.sig) >= (int32_t)big)
    term.kind = HU_KIND_INF;
  return term;
}

HU_FN hu_term hui_term_of_c(const hu_accum_plan *plan, hu_num c) {
  hu_term term;
  term.sig = c.sig;
  term.exp = c.exp;
  term.kind = c.kind;
  term.sign = c.sign;
  term.counts = c.kind == HU_KIND_FINITE || (c.kind == HU_KIND_ZERO && hui_zeros_count(plan));
  term.alignment = hui_exponent_from(c, plan->acc_emin);
  return term;
}

/* ---- what a block passes to a trace ---- */

HU_FN void hui_trace_factors(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_draw *draw) {
  if (!hui_is_traced(draw)) return;
  hui_trace_products(draw->trace, k, k + 1);
  hui_trace_operands(draw->trace, HU_TRACE_TERM, hui_read_a(plan, in, k), hui_read_b(plan, in, k),
                     hui_num_special(HU_KIND_ZERO, 0));
}

HU_FN void hui_trace_align(int32_t top, int32_t unit, hu_draw *draw) {
  hu_num none = hui_num_special(HU_KIND_ZERO, 0);
  if (hui_is_traced(draw)) hui_trace_cut(draw->trace, HU_TRACE_ALIGN, none, none, top, unit);
}

/* Shows a term that is not cut. */
HU_FN void hui_trace_whole(hu_num x, hu_draw *draw) {
  if (hui_is_traced(draw)) hui_trace_cut(draw->trace, HU_TRACE_TERM, x, x, 0, 0);
}

/* ---- cuts ---- */

/* Does sig lose digits where its n lowest are cut? */
HU_FN uint8_t hui_loses(uint64_t sig, int32_t n) {
  if (n <= 0) return 0;
  return (n > 63 ? sig : sig & (((uint64_t)1 << n) - 1)) != 0;
}

/* +-sig without its n lowest digits (n may be negative: exact). */
HU_FN int64_t hui_cut(uint8_t rule, uint32_t sign, uint64_t sig, int32_t n) {
  if (n <= 0) return sign ? -(int64_t)(sig << -n) : (int64_t)(sig << -n);
  uint64_t q = hui_shift_right(sig, n);
  int32_t rest = hui_loses(sig, n);
  if (rule == HU_BLOCK_CUT_FLOOR) q += sign && rest;
  if (rule == HU_BLOCK_CUT_ODD) q |= (uint32_t)rest;
  if (rule == HU_BLOCK_CUT_NEAREST && rest) {
    int32_t half = hui_against_half(sig, 0, n);
    q += half > 0 || (half == 0 && (q & 1));
  }
  return sign ? -(int64_t)q : (int64_t)q;
}

HU_FN int64_t hui_floor(int64_t x, int32_t n) {
  return x < 0 ? hui_cut(HU_BLOCK_CUT_FLOOR, 1, 0 - (uint64_t)x, n) : hui_cut(HU_BLOCK_CUT_FLOOR, 0, (uint64_t)x, n);
}

/* Cuts the digits of n 2^unit below 2^(unit + down); the result counts units of these. */
HU_FN int64_t hui_floor_sum(int64_t n, int32_t down, int32_t unit, hu_draw *draw) {
  int64_t z = hui_floor(n, down);
  if (hui_is_traced(draw) && down > 0) {
    hui_trace_cut(draw->trace, HU_TRACE_CUT, hui_num_of_integer(n, unit), hui_num_of_integer(z, unit + down), 0,
                  unit + down);
  }
  return z;
}

/* Rounds a block's sum into its output format, by way of another where the model has one. */
HU_FN hu_num hui_round_once_or_twice(const hu_accum_plan *plan, hu_num sum, hu_draw *draw) {
  return hui_grid_round(&plan->sum, plan->twice ? hui_grid_round(&plan->via, sum, draw) : sum, draw);
}

HU_FN hu_num hui_block_round(const hu_accum_plan *plan, hu_num sum, hu_draw *draw) {
  hu_num x = hui_round_once_or_twice(plan, sum, draw);
  if (hui_watched(draw) && draw->events & HU_EVENT_OVERFLOW) draw->watch->overflows++;
  return x;
}

/* The same of total 2^unit; an exact zero is +0. */
HU_FN hu_num hui_block_out(const hu_accum_plan *plan, int64_t total, int32_t unit, hu_draw *draw) {
  return hui_block_round(plan, hui_num_of_integer(total, unit), draw);
}

/* The products of a block: k of number i. */
typedef struct hu_picks {
  uint64_t first, past; /* k >= past: not there */
  uint32_t count;
  uint8_t mod4, half;
} hu_picks;

HU_FN uint64_t hui_pick(const hu_picks *picks, uint32_t i) {
  return picks->first + (picks->mod4 ? 4 * (uint64_t)(i / 2) + i % 2 + 2 * (uint64_t)picks->half : i);
}

/* A sum of terms that are cut, and what sticky=or and zeros=sticky keep of the rest. */
typedef struct hu_cut_sum {
  int64_t total;
  uint8_t rule, sticky, zeros, bit; /* of the model; 1: digits were lost */
  uint8_t digits, limit;            /* of the register, beside its sign, 0: enough; 1: it stops at its limits */
} hu_cut_sum;

HU_FN hu_cut_sum hui_cut_sum_of(const hu_block *rule) {
  hu_cut_sum sum;
  sum.total = 0;
  sum.rule = rule->cut;
  sum.sticky = rule->sticky;
  sum.zeros = rule->zeros & HU_BLOCK_ZEROS_STICKY;
  sum.bit = 0;
  sum.digits = rule->wide ? (uint8_t)(rule->wide + rule->kept) : 0;
  sum.limit = rule->past == HU_BLOCK_PAST_LIMIT;
  return sum;
}

/* Adds a term to a register: total + kept within its digits. */
HU_FN int64_t hui_register_sum(const hu_cut_sum *sum, int64_t kept) {
  uint64_t half = (uint64_t)1 << sum->digits, z = (uint64_t)sum->total + (uint64_t)kept;
  if (!sum->limit) return (int64_t)(((z & (2 * half - 1)) ^ half) - half);
  if ((int64_t)z >= (int64_t)half) return (int64_t)half - 1;
  return (int64_t)z < -(int64_t)half ? -(int64_t)half : (int64_t)z;
}

/* Returns a term in units of 2^unit for a register: cut, or where it has more than 62 digits 2^62 with its sign, which
 * is beyond the register, and with past=wrap its low digits, too. */
HU_FN int64_t hui_register_term(const hu_cut_sum *sum, hu_term term, int32_t unit) {
  int32_t up = term.exp - unit;
  if (up + 64 - hui_clz64(term.sig) <= 62 || (up < 0 && !sum->limit))
    return hui_cut(sum->rule, term.sign, term.sig, -up);
  uint64_t z = (uint64_t)1 << 62 | (sum->limit || up > 63 ? 0 : term.sig << up);
  return (int64_t)(term.sign ? 0 - z : z);
}

/* The sum in units of 2^unit, moved by less than its last digit where the bit is set: away from zero, or upward. */
HU_FN hu_num hui_cut_sum_value(const hu_cut_sum *sum, int32_t unit) {
  hu_num x = hui_num_of_integer(sum->total, unit);
  if (!sum->bit || x.kind != HU_KIND_FINITE) return x;
  int32_t up = hui_clz64(x.sig), less = sum->rule == HU_BLOCK_CUT_FLOOR && x.sign;
  x.sig <<= up;
  x.exp -= up;
  x.sticky = 1;
  if (!less) return x;
  if (x.sig == (uint64_t)1 << 63) { /* one digit less, so that 64 are left */
    x.sig = UINT64_MAX;
    x.exp--;
  } else {
    x.sig--;
  }
  return x;
}

/* Watches and traces a term of which `kept` is left in units of 2^unit, where the largest exponent is `top`. */
HU_FN void hui_note_term(hu_term term, int64_t kept, int32_t unit, int32_t top, hu_draw *draw) {
  if (term.kind == HU_KIND_FINITE) hui_watch_cut(draw, top, term.alignment, kept);
  if (hui_is_traced(draw)) {
    hu_num exact = term.kind ? hui_num_finite(term.sign, term.sig, term.exp) : hui_num_special(HU_KIND_ZERO, term.sign);
    hui_trace_cut(draw->trace, HU_TRACE_TERM, exact, hui_num_of_integer(kept, unit), top, unit);
  }
}

/* Returns a term cut to multiples of 2^unit. */
HU_FN int64_t hui_cut_term(uint8_t rule, hu_term term, int32_t unit, int32_t top, hu_draw *draw) {
  int64_t kept = term.kind == HU_KIND_FINITE ? hui_cut(rule, term.sign, term.sig, unit - term.exp) : 0;
  hui_note_term(term, kept, unit, top, draw);
  return kept;
}

/* Adds a term, cut. */
HU_FN void hui_add_term(hu_cut_sum *sum, hu_term term, int32_t unit, int32_t top, hu_draw *draw) {
  if (!sum->digits) {
    sum->total += hui_cut_term(sum->rule, term, unit, top, draw);
  } else {
    int64_t kept = term.kind == HU_KIND_FINITE ? hui_register_term(sum, term, unit) : 0;
    hui_note_term(term, kept, unit, top, draw);
    sum->total = hui_register_sum(sum, kept);
  }
  if (!sum->sticky) return;
  sum->bit |= term.kind == HU_KIND_FINITE ? hui_loses(term.sig, unit - term.exp) : sum->zeros;
}

#endif
