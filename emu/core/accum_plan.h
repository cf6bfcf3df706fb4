/* SPDX-License-Identifier: MIT */
/* emu/core/accum_plan.h - unfolds a model and its operands once a call, and reads operands. Part of
 * emu/core/accum.h. */
#ifndef HALFULP_EMU_CORE_ACCUM_PLAN_H
#define HALFULP_EMU_CORE_ACCUM_PLAN_H

#include "emu/core/accum_exact.h"
#include "halfulp/accum.h"

/* How an operand's elements are stored. */
enum { HU_STORED_CODES = 0, HU_STORED_VALUES = 1, HU_STORED_BINARY64 = 2, HU_STORED_NUMBERS = 3 }; /* hu_num */

typedef struct hu_source {
  hu_spec spec;
  int32_t emin;       /* of the format it is converted into first */
  uint32_t cut;       /* trailing digits that are not looked at */
  uint8_t size, kind; /* bytes of an element; HU_STORED_ */
  uint8_t daz;        /* HU_BLOCK_DAZ_ */
  uint8_t nan;        /* 1: a NaN is one with digits cut, too */
} hu_source;

/* Element k is at at + k step. */
typedef struct hu_line {
  const uint8_t *at;
  ptrdiff_t step; /* bytes */
} hu_line;
typedef struct hu_lines {
  hu_line a, b, sa, sb;
} hu_lines;

typedef struct hu_accum_plan {
  hu_accum model;
  hu_source a, b, sa, sb;
  hu_grid product, sum; /* where the model's own steps round to */
  hu_grid plain;        /* the format of its sums, ties to even: promote, splitk */
  hu_grid join;         /* block: acc, or out: c last, in the mode of hui_accum_last */
  hu_grid via;          /* block: a sum is rounded into it first, where twice is 1 */
  int32_t low, limbs;   /* of exact sums */
  int32_t acc_emin;     /* block: least exponent of c */
  uint32_t down;        /* exact: the last rounding goes toward negative */
  uint32_t twice;
} hu_accum_plan;

/* ---- made once a call ---- */

HU_FN hu_mode hui_plain_mode(void) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  return rne;
}

HU_FN hu_source hui_source_of(hu_format format, uint8_t kind, uint8_t size) {
  hu_source source;
  memset(&source, 0, sizeof source);
  source.kind = kind;
  source.size = size;
  if (kind == HU_STORED_BINARY64) {
    source.emin = -1022;
    return source;
  }
  source.spec = hui_spec_of(format, hui_plain_mode());
  source.emin = source.spec.emin;
  /* Values of binary32 itself are its codes. */
  if (format.e == 8 && format.m == 23 && format.b == 0 && format.inf == HU_INF_IEEE) source.kind = HU_STORED_CODES;
  return source;
}

/* What rule(...) does to operands when it reads them. */
HU_FN void hui_source_block(hu_source *source, const hu_block *rule) {
  if (rule->input && source->spec.m > rule->input) source->cut = (uint32_t)(source->spec.m - rule->input);
  if (rule->as.sign || rule->as.e || rule->as.m) source->emin = hui_spec_of(rule->as, hui_plain_mode()).emin;
  source->daz = rule->daz;
  source->nan = rule->nan;
}

HU_FN hu_grid hui_grid_of(hu_format format, hu_mode mode) {
  hu_grid grid;
  memset(&grid, 0, sizeof grid);
  grid.spec = hui_spec_of(format, mode);
  return grid;
}

/* Sets the lowest place of an operand, and where its numbers end. */
HU_FN void hui_source_range(const hu_source *source, int32_t *low, int32_t *high) {
  *low = source->kind == HU_STORED_BINARY64 ? -1074 : source->spec.emin - source->spec.m;
  *high = 1024;
  if (source->kind == HU_STORED_BINARY64) return;
  hu_num max = hui_unpack(&source->spec, source->spec.max_code);
  *high = hui_exponent(max) + 1;
}

/* Sets the range of digits that holds n products (n < 2^63) and c. */
HU_FN void hui_plan_exact(hu_accum_plan *plan, uint64_t n, const hu_source *c) {
  int32_t la, ha, lb, hb, lc, hc;
  hui_source_range(&plan->a, &la, &ha);
  hui_source_range(&plan->b, &lb, &hb);
  hui_source_range(c, &lc, &hc);
  plan->low = la + lb < lc ? la + lb : lc;
  int32_t high = ha + hb > hc ? ha + hb : hc;
  high += 66 - hui_clz64(n | 1);
  plan->limbs = (high - plan->low) / 64 + 2;
}

/* 1 if the exact sum of a group of products has at most 62 digits, whatever the products are. */
HU_FN int32_t hui_groups_narrow(const hu_accum_plan *plan) {
  int32_t la, ha, lb, hb;
  hui_source_range(&plan->a, &la, &ha);
  hui_source_range(&plan->b, &lb, &hb);
  return ha + hb - la - lb + 64 - hui_clz64(plan->model.block.group) <= 62;
}

/* Sets the digits of sums of products inside a block without scales: of groups that are not narrow, of leaves. */
HU_FN void hui_plan_groups(hu_accum_plan *plan, const hu_source *c) {
  const hu_block *rule = &plan->model.block;
  int32_t wide = rule->rule == HU_BLOCK_GROUPS && !rule->every && !rule->window && !hui_groups_narrow(plan);
  if (wide || (rule->rule == HU_BLOCK_TREE && rule->products)) hui_plan_exact(plan, rule->group, c);
}

/* The format that a model's sums have before the last rounding; all zero: none (exact, fp64, int32). */
HU_FN hu_format hui_accum_result(const hu_accum *accum) {
  if (accum->promote) return accum->promoted;
  if (accum->kind == HU_ACCUM_FP32) return hui_format_binary32();
  return accum->kind == HU_ACCUM_BLOCK && (accum->product.e || accum->product.m) ? accum->product : accum->sum;
}

/* The format in which a block adds c last. */
HU_FN hu_format hui_accum_joined(const hu_accum *accum) {
  return accum->block.rule >= HU_BLOCK_EXACT ? accum->sum : accum->product;
}

/* Returns the mode of that rounding: `last` instead of the model's. */
HU_FN hu_mode hui_accum_last(const hu_accum *accum) {
  hu_mode mode = hui_plain_mode();
  mode.round = accum->block.last;
  mode.saturate = accum->mode.saturate;
  return mode;
}

/* The rest of the plan, where a, b (sa, sb) and the formats are valid. c: also where a block takes its own former
 * result for c. */
HU_FN void hui_plan_model(hu_accum_plan *plan, const hu_accum *accum, uint64_t n, const hu_source *c) {
  hu_mode rne = hui_plain_mode();
  plan->model = *accum;
  plan->product = hui_grid_of(accum->product, accum->mode);
  plan->sum = hui_grid_of(accum->sum, accum->mode);
  plan->plain = hui_grid_of(hui_accum_result(accum), rne);
  plan->acc_emin = plan->product.spec.emin;
  plan->down = 0;
  plan->low = 0;
  plan->limbs = 0;
  plan->twice = accum->kind == HU_ACCUM_BLOCK && (accum->block.via.e || accum->block.via.m);
  plan->via = hui_grid_of(plan->twice ? accum->block.via : accum->sum, accum->mode);
  if (accum->kind == HU_ACCUM_FP32) plan->sum = hui_grid_of(hui_format_binary32(), rne);
  if (accum->kind == HU_ACCUM_EXACT) hui_plan_exact(plan, n, c);
  if (accum->kind != HU_ACCUM_BLOCK) return;
  hui_source_block(&plan->a, &accum->block);
  hui_source_block(&plan->b, &accum->block);
  plan->join = hui_grid_of(hui_accum_joined(accum), hui_accum_last(accum));
  plan->join.over = accum->block.over && accum->block.last == HU_RTO;
  plan->join.ftz = accum->block.ftz;
  plan->sum.over = accum->block.over;
  plan->sum.plus = accum->block.zero == HU_BLOCK_ZERO_PLUS;
  plan->sum.ftz = accum->block.ftz;
  hui_plan_groups(plan, c);
  if (accum->block.rule == HU_BLOCK_EXACT) {
    hu_source back = hui_source_of(accum->sum, HU_STORED_CODES, 4);
    int32_t low, limbs;
    hui_plan_exact(plan, accum->block.length, &back);
    low = plan->low;
    limbs = plan->limbs;
    hui_plan_exact(plan, accum->block.length, c);
    int32_t high = plan->low + 64 * plan->limbs > low + 64 * limbs ? plan->low + 64 * plan->limbs : low + 64 * limbs;
    plan->low = low < plan->low ? low : plan->low;
    plan->limbs = (high - plan->low + 63) / 64;
  }
}

/* ---- operands ---- */

/* Rescales x, a value of the grid unpacked from binary32, so that its exponent is that of the format's last place. */
HU_FN hu_num hui_rescaled_to_grid(const hu_source *source, hu_num x) {
  if (x.kind != HU_KIND_FINITE) return x;
  int32_t e = hui_exponent(x);
  int32_t down = (e > source->spec.emin ? e : source->spec.emin) - source->spec.m - x.exp;
  if (down <= 0) return x;
  return hui_num_finite(x.sign, x.sig >> down, x.exp + down);
}

HU_FN hu_num hui_flushed(uint8_t daz, int32_t emin, hu_num x) {
  if (daz == HU_BLOCK_DAZ_NONE || x.kind > HU_KIND_FINITE) return x;
  if (x.kind == HU_KIND_FINITE && hui_exponent(x) >= emin) return x;
  return hui_num_special(HU_KIND_ZERO, daz == HU_BLOCK_DAZ_SIGN ? x.sign : 0);
}

HU_STEP hu_num hui_source_read(const hu_source *source, const uint8_t *at) {
  hu_num x;
  uint32_t mask = ((uint32_t)1 << source->cut) - 1;
  if (source->kind == HU_STORED_NUMBERS) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  if (source->kind == HU_STORED_BINARY64) {
    uint64_t pattern;
    memcpy(&pattern, at, 8);
    x = hui_unpack64(pattern);
  } else if (source->kind == HU_STORED_VALUES) {
    x = hui_rescaled_to_grid(source, hui_unpack32(hui_load_code(at, 4)));
    if (mask && !(source->nan && x.kind == HU_KIND_NAN)) {
      /* digits of a code, which may be that of a zero or an infinity without them */
      uint32_t events;
      x = hui_unpack(&source->spec, hui_round(&source->spec, x, 0, &events) & ~mask);
    }
  } else {
    uint32_t code = hui_load_code(at, source->size);
    int32_t whole = source->nan && hui_unpack(&source->spec, code).kind == HU_KIND_NAN;
    x = hui_unpack(&source->spec, whole ? code : code & ~mask);
  }
  return hui_flushed(source->daz, source->emin, x);
}

/* Does the model read a NaN among the n elements of a line? */
HU_STEP int32_t hui_line_has_nan(const hu_source *source, const hu_line *line, uint64_t n) {
  for (uint64_t k = 0; line->at && k < n; k++) {
    if (hui_source_read(source, line->at + (ptrdiff_t)k * line->step).kind == HU_KIND_NAN) return 1;
  }
  return 0;
}

HU_FN hu_num hui_read_a(const hu_accum_plan *plan, const hu_lines *in, uint64_t k) {
  return hui_source_read(&plan->a, in->a.at + (ptrdiff_t)k * in->a.step);
}

HU_FN hu_num hui_read_b(const hu_accum_plan *plan, const hu_lines *in, uint64_t k) {
  return hui_source_read(&plan->b, in->b.at + (ptrdiff_t)k * in->b.step);
}

HU_FN hu_long hui_product_at(const hu_accum_plan *plan, const hu_lines *in, uint64_t k) {
  return hui_long_product(hui_read_a(plan, in, k), hui_read_b(plan, in, k));
}

#endif
