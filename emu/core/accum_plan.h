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
  int32_t low, limbs;   /* of exact sums */
  int32_t acc_emin;     /* block: least exponent of c */
  uint32_t down;        /* exact: the last rounding goes toward negative */
} hu_accum_plan;

/* ---- made once a call ---- */

HU_FN hu_mode hui_plain_mode(void) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  return rne;
}

HU_FN hu_source hui_source_of(hu_format f, uint8_t kind, uint8_t size) {
  hu_source s;
  memset(&s, 0, sizeof s);
  s.kind = kind;
  s.size = size;
  if (kind == HU_STORED_BINARY64) {
    s.emin = -1022;
    return s;
  }
  s.spec = hui_spec_of(f, hui_plain_mode());
  s.emin = s.spec.emin;
  /* Values of binary32 itself are its codes. */
  if (f.e == 8 && f.m == 23 && f.b == 0 && f.inf == HU_INF_IEEE) s.kind = HU_STORED_CODES;
  return s;
}

/* What block(...) does to operands when it reads them. */
HU_FN void hui_source_block(hu_source *s, const hu_block *b) {
  if (b->input && s->spec.m > b->input) s->cut = (uint32_t)(s->spec.m - b->input);
  if (b->as.sign || b->as.e || b->as.m) s->emin = hui_spec_of(b->as, hui_plain_mode()).emin;
  s->daz = b->daz;
  s->nan = b->nan;
}

HU_FN hu_grid hui_grid_of(hu_format f, hu_mode mode) {
  hu_grid g;
  memset(&g, 0, sizeof g);
  g.spec = hui_spec_of(f, mode);
  return g;
}

/* Sets the lowest place of an operand, and where its numbers end. */
HU_FN void hui_source_range(const hu_source *s, int32_t *low, int32_t *high) {
  *low = s->kind == HU_STORED_BINARY64 ? -1074 : s->spec.emin - s->spec.m;
  *high = 1024;
  if (s->kind == HU_STORED_BINARY64) return;
  hu_num max = hui_unpack(&s->spec, s->spec.max_code);
  *high = hui_exponent(max) + 1;
}

/* Sets the range of digits that holds n products (n < 2^63) and c. */
HU_FN void hui_plan_exact(hu_accum_plan *p, uint64_t n, const hu_source *c) {
  int32_t la, ha, lb, hb, lc, hc;
  hui_source_range(&p->a, &la, &ha);
  hui_source_range(&p->b, &lb, &hb);
  hui_source_range(c, &lc, &hc);
  p->low = la + lb < lc ? la + lb : lc;
  int32_t high = ha + hb > hc ? ha + hb : hc;
  high += 66 - hui_clz64(n | 1);
  p->limbs = (high - p->low) / 64 + 2;
}

/* The format that a model's sums have before the last rounding; all zero: none (exact, fp64, int32). */
HU_FN hu_format hui_accum_result(const hu_accum *x) {
  if (x->promote) return x->promoted;
  if (x->kind == HU_ACCUM_FP32) return hui_format_binary32();
  return x->kind == HU_ACCUM_BLOCK && (x->product.e || x->product.m) ? x->product : x->sum;
}

/* The format in which a block adds c last. */
HU_FN hu_format hui_accum_joined(const hu_accum *x) { return x->block.rule >= HU_BLOCK_EXACT ? x->sum : x->product; }

/* Returns the mode of that rounding: `last` instead of the model's. */
HU_FN hu_mode hui_accum_last(const hu_accum *x) {
  hu_mode mode = hui_plain_mode();
  mode.round = x->block.last;
  mode.saturate = x->mode.saturate;
  return mode;
}

/* The rest of the plan, where a, b (sa, sb) and the formats are valid. c: also where a block takes its own former
 * result for c. */
HU_FN void hui_plan_model(hu_accum_plan *p, const hu_accum *x, uint64_t n, const hu_source *c) {
  hu_mode rne = hui_plain_mode();
  p->model = *x;
  p->product = hui_grid_of(x->product, x->mode);
  p->sum = hui_grid_of(x->sum, x->mode);
  p->plain = hui_grid_of(hui_accum_result(x), rne);
  p->acc_emin = p->product.spec.emin;
  p->down = 0;
  p->low = 0;
  p->limbs = 0;
  if (x->kind == HU_ACCUM_FP32) p->sum = hui_grid_of(hui_format_binary32(), rne);
  if (x->kind == HU_ACCUM_EXACT) hui_plan_exact(p, n, c);
  if (x->kind != HU_ACCUM_BLOCK) return;
  hui_source_block(&p->a, &x->block);
  hui_source_block(&p->b, &x->block);
  p->join = hui_grid_of(hui_accum_joined(x), hui_accum_last(x));
  p->join.over = x->block.over && x->block.last == HU_RTO;
  p->join.ftz = x->block.ftz;
  p->sum.over = x->block.over;
  p->sum.plus = x->block.zero == HU_BLOCK_ZERO_PLUS;
  p->sum.ftz = x->block.ftz;
  if (x->block.rule == HU_BLOCK_EXACT) {
    hu_source back = hui_source_of(x->sum, HU_STORED_CODES, 4);
    int32_t low, limbs;
    hui_plan_exact(p, x->block.length, &back);
    low = p->low;
    limbs = p->limbs;
    hui_plan_exact(p, x->block.length, c);
    int32_t high = p->low + 64 * p->limbs > low + 64 * limbs ? p->low + 64 * p->limbs : low + 64 * limbs;
    p->low = low < p->low ? low : p->low;
    p->limbs = (high - p->low + 63) / 64;
  }
}

/* ---- operands ---- */

/* x, a value of s's grid unpacked from binary32, rescaled so that its exponent is that of the format's last place. */
HU_FN hu_num hui_rescaled_to_grid(const hu_source *s, hu_num x) {
  if (x.kind != HU_KIND_FINITE) return x;
  int32_t e = hui_exponent(x);
  int32_t down = (e > s->spec.emin ? e : s->spec.emin) - s->spec.m - x.exp;
  if (down <= 0) return x;
  return hui_num_finite(x.sign, x.sig >> down, x.exp + down);
}

HU_FN hu_num hui_flushed(uint8_t daz, int32_t emin, hu_num x) {
  if (daz == HU_BLOCK_DAZ_NONE || x.kind > HU_KIND_FINITE) return x;
  if (x.kind == HU_KIND_FINITE && hui_exponent(x) >= emin) return x;
  return hui_num_special(HU_KIND_ZERO, daz == HU_BLOCK_DAZ_SIGN ? x.sign : 0);
}

HU_STEP hu_num hui_source_read(const hu_source *s, const uint8_t *at) {
  hu_num x;
  uint32_t mask = ((uint32_t)1 << s->cut) - 1;
  if (s->kind == HU_STORED_NUMBERS) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  if (s->kind == HU_STORED_BINARY64) {
    uint64_t u;
    memcpy(&u, at, 8);
    x = hui_unpack64(u);
  } else if (s->kind == HU_STORED_VALUES) {
    x = hui_rescaled_to_grid(s, hui_unpack32(hui_load_code(at, 4)));
    if (mask && !(s->nan && x.kind == HU_KIND_NAN)) {
      /* digits of a code, which may be that of a zero or an infinity without them */
      uint32_t events;
      x = hui_unpack(&s->spec, hui_round(&s->spec, x, 0, &events) & ~mask);
    }
  } else {
    uint32_t code = hui_load_code(at, s->size);
    int32_t whole = s->nan && hui_unpack(&s->spec, code).kind == HU_KIND_NAN;
    x = hui_unpack(&s->spec, whole ? code : code & ~mask);
  }
  return hui_flushed(s->daz, s->emin, x);
}

/* Does the model read a NaN among the n elements of a line? */
HU_STEP int32_t hui_line_has_nan(const hu_source *s, const hu_line *l, uint64_t n) {
  for (uint64_t k = 0; l->at && k < n; k++) {
    if (hui_source_read(s, l->at + (ptrdiff_t)k * l->step).kind == HU_KIND_NAN) return 1;
  }
  return 0;
}

HU_FN hu_num hui_read_a(const hu_accum_plan *p, const hu_lines *in, uint64_t k) {
  return hui_source_read(&p->a, in->a.at + (ptrdiff_t)k * in->a.step);
}

HU_FN hu_num hui_read_b(const hu_accum_plan *p, const hu_lines *in, uint64_t k) {
  return hui_source_read(&p->b, in->b.at + (ptrdiff_t)k * in->b.step);
}

HU_FN hu_long hui_product_at(const hu_accum_plan *p, const hu_lines *in, uint64_t k) {
  return hui_long_product(hui_read_a(p, in, k), hui_read_b(p, in, k));
}

#endif
