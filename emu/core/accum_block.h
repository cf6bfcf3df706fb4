/* SPDX-License-Identifier: MIT */
/* emu/core/accum_block.h - computes one block of a matrix unit, by each rule of block(...). Part of emu/core/accum.h.
 *
 * docs/numerics.md section 11.5 has the rules as formulas. All sums of cut terms fit 64 bits: a term is below 2^(F+2)
 * units (F <= 40), or as hui_accum_usable has checked for groups, and there are at most 4097 of them. */
#ifndef HALFULP_EMU_CORE_ACCUM_BLOCK_H
#define HALFULP_EMU_CORE_ACCUM_BLOCK_H

#include "emu/core/accum_plan.h"

/* A product or c, not normalised: (-1)^sign sig 2^exp, with the exponent that it is aligned by. */
typedef struct hu_term {
  uint64_t sig;
  int32_t exp, alignment;
  uint8_t kind, sign;
} hu_term;

typedef struct hu_marks {
  uint8_t nan, plus, minus;
} hu_marks;

HU_FN void hui_mark(hu_marks *m, uint8_t kind, uint8_t sign) {
  if (kind == HU_KIND_NAN) m->nan = 1;
  if (kind == HU_KIND_INF && sign) m->minus = 1;
  if (kind == HU_KIND_INF && !sign) m->plus = 1;
}

HU_FN int32_t hui_marked(const hu_marks *m) { return m->nan || m->plus || m->minus; }

HU_FN hu_num hui_marks_value(const hu_marks *m) {
  if (m->nan || (m->plus && m->minus)) return hui_num_special(HU_KIND_NAN, 0);
  return hui_num_special(HU_KIND_INF, m->minus);
}

HU_FN int32_t hui_later(int32_t a, int32_t b) { return a > b ? a : b; }

/* Reads the two scales of product k. */
HU_FN void hui_scales_at(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_num *sa, hu_num *sb) {
  uint64_t j = k / p->model.block.every;
  *sa = hui_source_read(&p->sa, in->sa.at + (ptrdiff_t)j * in->sa.step);
  *sb = hui_source_read(&p->sb, in->sb.at + (ptrdiff_t)j * in->sb.step);
}

/* Product k. Scales of rule align have one digit. */
HU_STEP hu_term hui_term_at(const hu_accum_plan *p, const hu_lines *in, uint64_t k) {
  hu_term t;
  hu_num a = hui_read_a(p, in, k), b = hui_read_b(p, in, k);
  hu_long x = hui_long_product(a, b);
  t.kind = x.kind;
  t.sign = x.sign;
  t.sig = a.sig * b.sig;
  t.exp = a.exp + b.exp;
  t.alignment = 0;
  if (x.kind == HU_KIND_FINITE) {
    t.alignment = hui_later(hui_exponent(a), p->a.emin) + hui_later(hui_exponent(b), p->b.emin);
  }
  if (p->model.block.every && p->model.block.scaling == HU_BLOCK_SCALING_TERMS) {
    hu_num sa, sb;
    hui_scales_at(p, in, k, &sa, &sb);
    if (t.kind == HU_KIND_FINITE && (sa.kind == HU_KIND_ZERO || sb.kind == HU_KIND_ZERO)) t.kind = HU_KIND_ZERO;
    if (sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN) t.kind = HU_KIND_NAN;
    t.exp += sa.exp + sb.exp;
    t.alignment += sa.exp + sb.exp;
  }
  uint32_t big = p->model.block.big;
  if (big && t.kind == HU_KIND_FINITE && t.exp + 63 - hui_clz64(t.sig) >= (int32_t)big) t.kind = HU_KIND_INF;
  return t;
}

HU_FN hu_term hui_term_of_c(const hu_accum_plan *p, hu_num c) {
  hu_term t;
  t.sig = c.sig;
  t.exp = c.exp;
  t.kind = c.kind;
  t.sign = c.sign;
  t.alignment = c.kind == HU_KIND_FINITE ? hui_later(hui_exponent(c), p->acc_emin) : p->acc_emin;
  return t;
}

/* ---- what a block passes to a trace ---- */

HU_FN void hui_trace_factors(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_draw *d) {
  if (!hui_is_traced(d)) return;
  hui_trace_products(d->trace, k, k + 1);
  hui_trace_operands(d->trace, HU_TRACE_TERM, hui_read_a(p, in, k), hui_read_b(p, in, k),
                     hui_num_special(HU_KIND_ZERO, 0));
}

HU_FN void hui_trace_align(int32_t top, int32_t unit, hu_draw *d) {
  hu_num none = hui_num_special(HU_KIND_ZERO, 0);
  if (hui_is_traced(d)) hui_trace_cut(d->trace, HU_TRACE_ALIGN, none, none, top, unit);
}

/* Shows a term that is not cut. */
HU_FN void hui_trace_whole(hu_num x, hu_draw *d) {
  if (hui_is_traced(d)) hui_trace_cut(d->trace, HU_TRACE_TERM, x, x, 0, 0);
}

/* ---- cuts ---- */

/* +-sig without its n lowest digits (n may be negative: exact). */
HU_FN int64_t hui_cut(uint8_t rule, uint32_t sign, uint64_t sig, int32_t n) {
  if (n <= 0) return sign ? -(int64_t)(sig << -n) : (int64_t)(sig << -n);
  uint64_t q = hui_shift_right(sig, n);
  int32_t rest = (n > 63 ? sig : sig & (((uint64_t)1 << n) - 1)) != 0;
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
HU_FN int64_t hui_floor_sum(int64_t n, int32_t down, int32_t unit, hu_draw *d) {
  int64_t z = hui_floor(n, down);
  if (hui_is_traced(d) && down > 0) {
    hui_trace_cut(d->trace, HU_TRACE_CUT, hui_num_of_integer(n, unit), hui_num_of_integer(z, unit + down), 0,
                  unit + down);
  }
  return z;
}

/* s 2^q rounded into the block's output format; an exact zero is +0. */
HU_FN hu_num hui_block_out(const hu_accum_plan *p, int64_t s, int32_t q, hu_draw *d) {
  hu_num x = hui_grid_round(&p->sum, hui_num_of_integer(s, q), d);
  if (hui_watched(d) && d->events & HU_EVENT_OVERFLOW) d->watch->overflows++;
  return x;
}

/* The products of a block: k of number i. */
typedef struct hu_picks {
  uint64_t first, past; /* k >= past: not there */
  uint32_t count;
  uint8_t mod4, half;
} hu_picks;

HU_FN uint64_t hui_pick(const hu_picks *b, uint32_t i) {
  return b->first + (b->mod4 ? 4 * (uint64_t)(i / 2) + i % 2 + 2 * (uint64_t)b->half : i);
}

/* A term cut to multiples of 2^q, where the largest exponent is `top`. */
HU_FN int64_t hui_cut_term(uint8_t rule, hu_term t, int32_t q, int32_t top, hu_draw *d) {
  int64_t kept = t.kind == HU_KIND_FINITE ? hui_cut(rule, t.sign, t.sig, q - t.exp) : 0;
  if (t.kind == HU_KIND_FINITE) hui_watch_cut(d, top, t.alignment, kept);
  if (hui_is_traced(d)) {
    hu_num exact = t.kind ? hui_num_finite(t.sign, t.sig, t.exp) : hui_num_special(HU_KIND_ZERO, t.sign);
    hui_trace_cut(d->trace, HU_TRACE_TERM, exact, hui_num_of_integer(kept, q), top, q);
  }
  return kept;
}

/* ---- align ---- */

HU_STEP hu_num hui_block_align(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  const hu_block *o = &p->model.block;
  hu_term tc = hui_term_of_c(p, c);
  hu_marks marks = {0, 0, 0};
  int32_t e = o->emin;
  hui_mark(&marks, tc.kind, tc.sign);
  if (tc.kind == HU_KIND_FINITE) e = hui_later(e, tc.alignment);
  for (uint32_t i = 0; i < b->count; i++) {
    if (hui_pick(b, i) >= b->past) continue;
    hu_term t = hui_term_at(p, in, hui_pick(b, i));
    hui_mark(&marks, t.kind, t.sign);
    if (t.kind == HU_KIND_FINITE) e = hui_later(e, t.alignment);
  }
  if (hui_marked(&marks)) return hui_grid_round(&p->sum, hui_marks_value(&marks), d);
  int32_t q = e - o->kept;
  hui_trace_align(e, q, d);
  int64_t s = hui_cut_term(o->cut, tc, q, e, d);
  for (uint32_t i = 0; i < b->count; i++) {
    if (hui_pick(b, i) >= b->past) continue;
    hui_trace_factors(p, in, hui_pick(b, i), d);
    s += hui_cut_term(o->cut, hui_term_at(p, in, hui_pick(b, i)), q, e, d);
  }
  return hui_block_out(p, s, q, d);
}

/* ---- groups ---- */

/* Returns n, where n 2^*exp times the significands of its scales is a group's exact sum; *e: its exponent, if
 * *there. */
HU_FN int64_t hui_group_sum(const hu_accum_plan *p, const hu_lines *in, uint64_t k, uint64_t past, int32_t *exp,
                            int32_t *e, int32_t *there) {
  int32_t low = p->a.spec.emin - p->a.spec.m + p->b.spec.emin - p->b.spec.m;
  int64_t n = 0;
  hu_num sa, sb;
  *there = 0;
  hui_scales_at(p, in, k, &sa, &sb);
  for (uint64_t i = k; i < past && i < k + p->model.block.group; i++) {
    hu_num a = hui_read_a(p, in, i), b = hui_read_b(p, in, i);
    uint64_t sig = a.sig * b.sig;
    if (sig == 0) continue;
    *there = 1;
    n += hui_cut(HU_BLOCK_CUT_TRUNC, (uint32_t)(a.sign ^ b.sign), sig, low - a.exp - b.exp);
  }
  *there &= sa.sig != 0 && sb.sig != 0;
  *exp = low + sa.exp + sb.exp;
  *e = sa.exp + p->sa.spec.m + sb.exp + p->sb.spec.m;
  return n * (int64_t)(sa.sig * sb.sig);
}

/* Finds NaN operands or scales, and infinities. */
HU_FN hu_marks hui_groups_marks(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c) {
  hu_marks marks = {0, 0, 0};
  hui_mark(&marks, c.kind, c.sign);
  for (uint64_t k = b->first; k < b->past && k < b->first + b->count; k++) {
    hu_num sa, sb;
    hu_long x = hui_product_at(p, in, k);
    hui_mark(&marks, x.kind, x.sign);
    hui_scales_at(p, in, k, &sa, &sb);
    if (sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN) marks.nan = 1;
  }
  return marks;
}

/* Shows the sum of a group, a term like any other. */
HU_FN void hui_trace_group(const hu_accum_plan *p, uint64_t k, uint64_t end, hu_num exact, hu_num kept, int32_t top,
                           int32_t unit, hu_draw *d) {
  uint64_t past = end - k < p->model.block.group ? end : k + p->model.block.group;
  if (!hui_is_traced(d)) return;
  hui_trace_products(d->trace, k, past);
  hui_trace_cut(d->trace, HU_TRACE_TERM, exact, kept, top, unit);
}

HU_STEP hu_num hui_block_groups(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  const hu_block *o = &p->model.block;
  hu_term tc = hui_term_of_c(p, c);
  hu_marks marks = hui_groups_marks(p, in, b, c);
  int32_t exp, e, there, top = o->emin;
  uint64_t end = b->first + b->count < b->past ? b->first + b->count : b->past;
  if (hui_marked(&marks)) return hui_grid_round(&p->sum, hui_marks_value(&marks), d);
  if (tc.kind == HU_KIND_FINITE) top = hui_later(top, tc.alignment);
  for (uint64_t k = b->first; k < end; k += o->group) {
    (void)hui_group_sum(p, in, k, end, &exp, &e, &there);
    if (there) top = hui_later(top, e);
  }
  int32_t q = top - o->kept;
  hui_trace_align(top, q, d);
  int64_t s = hui_cut_term(o->cut, tc, q, top, d);
  for (uint64_t k = b->first; k < end; k += o->group) {
    int64_t n = hui_group_sum(p, in, k, end, &exp, &e, &there);
    if (n == 0) continue;
    int64_t kept = hui_cut(o->cut, n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, q - exp);
    hui_watch_cut(d, top, e, kept);
    hui_trace_group(p, k, end, hui_num_of_integer(n, exp), hui_num_of_integer(kept, q), top, q, d);
    s += kept;
  }
  return hui_block_out(p, s, q, d);
}

/* ---- late ---- */

/* The truncated sum of every `step`-th product in units of 2^(*e - F); *e as it was if there is none. */
HU_FN int64_t hui_lane_sum(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, uint32_t lane, uint32_t step,
                           int32_t *e, hu_draw *d) {
  int32_t none = 1, top = 0;
  int64_t s = 0;
  for (uint32_t i = lane; i < b->count; i += step) {
    if (hui_pick(b, i) >= b->past) break;
    hu_term t = hui_term_at(p, in, hui_pick(b, i));
    if (t.kind != HU_KIND_FINITE) continue;
    top = none ? t.alignment : hui_later(top, t.alignment);
    none = 0;
  }
  if (none) return 0;
  *e = top;
  hui_trace_align(top, top - p->model.block.kept, d);
  for (uint32_t i = lane; i < b->count; i += step) {
    if (hui_pick(b, i) >= b->past) break;
    hui_trace_factors(p, in, hui_pick(b, i), d);
    s += hui_cut_term(HU_BLOCK_CUT_TRUNC, hui_term_at(p, in, hui_pick(b, i)), top - p->model.block.kept, top, d);
  }
  return s;
}

/* c and the products' sum s (units 2^(ed - F)) meet; ed is INT32_MIN if there is no product. */
HU_FN hu_num hui_late_join(const hu_accum_plan *p, int64_t s, int32_t ed, hu_num c, hu_draw *d) {
  const hu_block *o = &p->model.block;
  int32_t f = o->kept, f2 = o->kept2;
  hu_term tc = hui_term_of_c(p, c);
  int32_t e = hui_later(ed, tc.alignment);
  int64_t n = ed == INT32_MIN ? 0 : hui_floor_sum(s, (e - (f2 + 1)) - (ed - f), ed - f, d);
  int32_t near = !o->far || tc.alignment >= e - (int32_t)o->far;
  if (tc.kind == HU_KIND_FINITE && near) {
    n += hui_cut_term(HU_BLOCK_CUT_FLOOR, tc, e - f, e, d) * ((int64_t)1 << (f2 + 1 - f));
  } else if (tc.kind == HU_KIND_FINITE) {
    hui_watch_cut(d, e, tc.alignment, 0);
    if (hui_is_traced(d)) hui_trace_cut(d->trace, HU_TRACE_TERM, c, hui_num_of_integer(0, 0), e, e - f);
  }
  if (n == 0) return hui_block_out(p, 0, 0, d);
  uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  int32_t x = hui_later(63 - hui_clz64(magnitude) + e - (f2 + 1), p->acc_emin);
  return hui_block_out(p, hui_floor_sum(n, (x - f2) - (e - (f2 + 1)), e - (f2 + 1), d), x - f2, d);
}

HU_STEP hu_num hui_block_late(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  hu_marks marks = {0, 0, 0};
  hui_mark(&marks, c.kind, c.sign);
  for (uint32_t i = 0; i < b->count && hui_pick(b, i) < b->past; i++) {
    hu_term t = hui_term_at(p, in, hui_pick(b, i));
    hui_mark(&marks, t.kind, t.sign);
  }
  if (hui_marked(&marks)) return hui_grid_round(&p->sum, hui_marks_value(&marks), d);
  int32_t e0 = INT32_MIN, e1 = INT32_MIN;
  if (p->model.block.lanes != 2) {
    int64_t s = hui_lane_sum(p, in, b, 0, 1, &e0, d);
    return hui_late_join(p, s, e0, c, d);
  }
  int64_t s0 = hui_lane_sum(p, in, b, 0, 2, &e0, d), s1 = hui_lane_sum(p, in, b, 1, 2, &e1, d);
  int32_t ed = hui_later(e0, e1);
  int32_t f = p->model.block.kept;
  int64_t s = e0 == INT32_MIN ? 0 : hui_floor_sum(s0, ed - e0, e0 - f, d);
  s += e1 == INT32_MIN ? 0 : hui_floor_sum(s1, ed - e1, e1 - f, d);
  return hui_late_join(p, s, ed, c, d);
}

/* ---- exact ---- */

/* s = c + the products */
HU_STEP void hui_block_total(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_total *s) {
  hui_total_start(s, p->low, p->limbs);
  hui_total_add(s, hui_long_of(c));
  for (uint32_t i = 0; i < b->count && b->first + i < b->past; i++) {
    hui_total_add(s, hui_product_at(p, in, b->first + i));
  }
}

/* c and products k to past - 1, none of which is cut. */
HU_FN void hui_trace_whole_terms(const hu_accum_plan *p, const hu_lines *in, uint64_t k, uint64_t past, hu_num c,
                                 hu_draw *d) {
  if (!hui_is_traced(d)) return;
  hui_trace_whole(c, d);
  for (; k < past; k++) {
    hui_trace_factors(p, in, k, d);
    hui_trace_whole(hui_long_num(hui_product_at(p, in, k)), d);
  }
}

HU_FN uint64_t hui_picks_end(const hu_picks *b) {
  return b->past - b->first < b->count ? b->past : b->first + b->count;
}

HU_STEP hu_num hui_block_exact(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  hu_total s;
  hui_trace_whole_terms(p, in, b->first, hui_picks_end(b), c, d);
  hui_block_total(p, in, b, c, &s);
  hu_num x = hui_total_value(&s);
  if (x.kind == HU_KIND_ZERO && p->model.block.zero) x = hui_total_zero(&s, hui_grid_down(&p->sum));
  hu_num z = hui_grid_round(&p->sum, x, d);
  if (!hui_watched(d)) return z;
  hui_block_total(p, in, b, hui_num_special(HU_KIND_ZERO, 0), &s);
  hu_num t = hui_total_value(&s);
  if (t.kind == HU_KIND_FINITE) hui_watch_sum(d, c, hui_exponent(t), z);
  return z;
}

/* ---- rounded steps: tree, chain, lanes ---- */

/* Product k of a tree; +0 where there is none. */
HU_FN hu_num hui_tree_leaf(const hu_accum_plan *p, const hu_lines *in, uint64_t k, uint64_t past, hu_draw *d) {
  hu_num zero = hui_num_special(HU_KIND_ZERO, 0);
  if (k >= past) return hui_grid_round(&p->sum, zero, d);
  hui_trace_product(k, d);
  return hui_grid_mul(&p->sum, hui_read_a(p, in, k), hui_read_b(p, in, k), d);
}

/* The sum of 2^levels leaves: neighbours, then pairs of neighbours, ... Node at level v waits in part[v] for its
 * sibling. */
HU_FN hu_num hui_tree_sum(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_draw *d) {
  hu_num part[13], x = hui_num_special(HU_KIND_ZERO, 0);
  for (uint32_t i = 0; i < b->count; i++) {
    x = hui_tree_leaf(p, in, b->first + i, b->past, d);
    uint32_t level = 0;
    for (; i >> level & 1; level++) x = hui_accumulate_pair(&p->sum, part[level], x, d);
    part[level] = x;
  }
  return x;
}

HU_FN void hui_trace_pair(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_draw *d) {
  for (uint64_t k = b->first; k < hui_picks_end(b); k++) {
    hui_trace_factors(p, in, k, d);
    hui_trace_whole(hui_long_num(hui_product_at(p, in, k)), d);
  }
}

HU_STEP hu_num hui_block_tree(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  hu_num s;
  if (p->model.block.products) {
    hu_long zero = hui_long_special(HU_KIND_ZERO, 0), x = hui_product_at(p, in, b->first);
    hui_trace_pair(p, in, b, d);
    hu_long y = b->first + 1 < b->past ? hui_product_at(p, in, b->first + 1) : zero;
    s = hui_grid_round(&p->sum, hui_long_add(x, y, hui_grid_down(&p->sum)), d);
  } else {
    s = hui_tree_sum(p, in, b, d);
  }
  return hui_accumulate(&p->sum, c, s, d);
}

HU_FN hu_num hui_chain_step(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_num c, hu_draw *d) {
  hui_trace_product(k, d);
  return hui_accumulate_product(&p->sum, hui_read_a(p, in, k), hui_read_b(p, in, k), c, d);
}

HU_STEP hu_num hui_block_chain(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  for (uint32_t i = 0; i < b->count; i++) {
    uint64_t k = b->first + (p->model.block.order == HU_BLOCK_ORDER_DOWN ? b->count - 1 - i : i);
    if (k < b->past) c = hui_chain_step(p, in, k, c, d);
  }
  return c;
}

HU_STEP hu_num hui_block_lanes(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  hu_num even = hui_num_special(HU_KIND_ZERO, 0), odd = even;
  for (uint32_t i = 0; i < b->count && b->first + i < b->past; i++) {
    if (i & 1) {
      odd = hui_chain_step(p, in, b->first + i, odd, d);
    } else {
      even = hui_chain_step(p, in, b->first + i, even, d);
    }
  }
  return hui_accumulate(&p->sum, c, hui_accumulate_pair(&p->sum, even, odd, d), d);
}

/* ---- a block, and the chain of blocks ---- */

HU_FN hu_num hui_block_step(const hu_accum_plan *p, const hu_lines *in, const hu_picks *b, hu_num c, hu_draw *d) {
  switch (p->model.block.rule) {
    case HU_BLOCK_ALIGN: return hui_block_align(p, in, b, c, d);
    case HU_BLOCK_GROUPS: return hui_block_groups(p, in, b, c, d);
    case HU_BLOCK_LATE: return hui_block_late(p, in, b, c, d);
    case HU_BLOCK_EXACT: return hui_block_exact(p, in, b, c, d);
    case HU_BLOCK_TREE: return hui_block_tree(p, in, b, c, d);
    case HU_BLOCK_CHAIN: return hui_block_chain(p, in, b, c, d);
    default: return hui_block_lanes(p, in, b, c, d);
  }
}

/* Multiplies the rounded sum s of the block that begins at product k by its scales. */
HU_FN hu_num hui_scaled_block(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_num s, hu_draw *d) {
  hu_num sa, sb;
  hui_scales_at(p, in, k, &sa, &sb);
  return hui_grid_mul(&p->join, hui_grid_mul(&p->join, sa, sb, d), s, d);
}

/* Adds products k0 ... k1-1 to c. */
HU_FN hu_num hui_blocks(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c, hu_draw *d) {
  const hu_block *o = &p->model.block;
  hu_picks b;
  b.count = o->length;
  b.mod4 = o->order == HU_BLOCK_ORDER_MOD4;
  b.past = k1;
  c = hui_flushed(o->daz, p->sum.spec.emin, c);
  for (uint64_t k = k0; k < k1; k += (uint64_t)b.count << b.mod4) {
    hu_num s = o->join == HU_BLOCK_JOIN_LAST ? hui_num_special(HU_KIND_ZERO, 0) : c;
    b.first = k;
    for (b.half = 0; b.half <= b.mod4; b.half++) {
      uint64_t past = k1 - k < (uint64_t)b.count << b.mod4 ? k1 : k + ((uint64_t)b.count << b.mod4);
      if (hui_is_traced(d)) hui_trace_begin(d->trace, HU_TRACE_BLOCK, k, past);
      s = hui_block_step(p, in, &b, s, d);
    }
    if (o->scaling) s = hui_scaled_block(p, in, k, s, d);
    c = o->join == HU_BLOCK_JOIN_LAST ? hui_accumulate(&p->join, c, s, d) : s;
  }
  return c;
}

#endif
