/* SPDX-License-Identifier: MIT */
/* See unit_plan.h. */
#include "emu/gemm/unit_plan.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"

double hui_unit_power(int32_t e) { return hui_double_of_bits((uint64_t)(e + 1023) << 52); }

static int32_t log2_up(uint64_t n) { return n <= 1 ? 0 : 64 - hui_clz64(n - 1); }

int hui_unit_in_reach(int32_t e) { return e >= -300 && e <= 300; }

/* Grids that lanes round into: of binary32's numbers, with gradual subnormals and zeros of both signs. */
static int grid_of(hu_unit_grid *z, hu_format f, hu_mode mode, uint8_t ftz) {
  hu_spec s = hui_spec_of(f, mode);
  int plain = hui_spec_is_plain(&s) && s.negzero;
  int direct = s.round == HU_RNE || s.round == HU_RTZ || s.round == HU_RTN || s.round == HU_RTP || s.round == HU_RTO;
  memset(z, 0, sizeof *z);
  if (!plain || !direct || s.m == 0 || !s.fits_binary32) return 0;
  z->emin = hui_unit_power(s.emin);
  z->max = hui_double_of_bits(hui_pack64(hui_unpack(&s, s.max_code)));
  z->top = (uint64_t)(2046 + s.m) << 52;
  z->step = (uint64_t)s.m << 52;
  z->round = s.round;
  z->narrow = s.round == HU_RNE && s.m == 23 && s.emin == -126 && s.max_code == 0x7F7FFFFF;
  if (ftz == HU_BLOCK_FTZ_BEFORE) z->tiny = z->emin;
  if (ftz == HU_BLOCK_FTZ_BEFORE && s.round == HU_RTO) z->sticky = ((uint64_t)1 << (52 - s.m)) - 1;
  if (ftz == HU_BLOCK_FTZ_AFTER) z->least = z->emin;
  if (ftz == HU_BLOCK_FTZ_TINY) {
    /* What rounds to less than 2^emin at full precision: all below 2^emin less a quarter of the step there. */
    z->tiny = z->emin - hui_unit_power(s.emin - s.m - 2);
    return s.round == HU_RNE && s.tiny == HU_TINY_AFTER;
  }
  return 1;
}

/* Sums of cut terms in units of 2^(E-F): a product is below 2^(F+2), a group below 2^(F+2) times its exact sum. */
static int sums_fit(const hu_spec *a, const hu_spec *b, const hu_block *o) {
  uint64_t terms = (uint64_t)o->length / (o->rule == HU_BLOCK_GROUPS ? o->group : 1) + 1;
  int32_t digits = o->kept + 2 + log2_up(terms);
  if (o->rule == HU_BLOCK_LATE) digits += o->kept2 - o->kept + 2;
  if (o->rule == HU_BLOCK_GROUPS) {
    hu_num x = hui_unpack(a, a->max_code), y = hui_unpack(b, b->max_code);
    int32_t high = hui_exponent(x) + hui_exponent(y) + 2 + log2_up(o->group), low = a->emin - a->m + b->emin - b->m;
    if (high - low + 2 * (o->scale.m + 1) > 52) return 0;
    digits += high > 0 ? high : 0;
  }
  return digits <= 52;
}

/* Do two-sums of l products leave errors whose sum fits 53 digits? One error (l = 2) does. */
static int errors_fit(const hu_spec *a, const hu_spec *b, uint32_t length) {
  hu_num x = hui_unpack(a, a->max_code), y = hui_unpack(b, b->max_code);
  int32_t high = hui_exponent(x) + hui_exponent(y) + 2, low = a->emin - a->m + b->emin - b->m;
  return length <= 2 || high + 2 * log2_up(length) - low <= 106;
}

static int rule_fits(const hu_spec *a, const hu_spec *b, const hu_accum *x, int most) {
  const hu_block *o = &x->block;
  int32_t acc_emin = hui_spec_of(x->product, x->mode).emin;
  int steps = (int)o->length * (o->order == HU_BLOCK_ORDER_MOD4 ? 2 : 1);
  if (steps > most || (o->order == HU_BLOCK_ORDER_MOD4 && o->length % 2) || o->emin > 300) return 0;
  if (o->scaling || o->zero == HU_BLOCK_ZERO_IEEE) return 0; /* which no step here does */
  switch (o->rule) {
    case HU_BLOCK_ALIGN:
    case HU_BLOCK_GROUPS:
    case HU_BLOCK_LATE: return hui_unit_in_reach(acc_emin) && sums_fit(a, b, o);
    case HU_BLOCK_EXACT: return errors_fit(a, b, o->length);
    default: return x->mode.round != HU_RTN; /* lanes give the zero sums of the other modes */
  }
}

static void set_rule(hu_unit_plan *q, const hu_accum *x) {
  const hu_block *o = &x->block;
  int32_t f = o->kept, f2 = o->kept2;
  q->rule = o->rule;
  q->cut = o->cut;
  q->length = o->length;
  q->group = o->group;
  q->halves = o->order == HU_BLOCK_ORDER_MOD4 ? 2 : 1;
  q->last = o->join == HU_BLOCK_JOIN_LAST;
  q->lanes = o->lanes;
  q->exact_pair = o->products;
  q->emin = hui_unit_power(o->emin < -700 ? -700 : o->emin); /* no product or C that counts lies lower */
  q->top = (uint64_t)(2046 + f) << 52;
  q->kept = (uint64_t)f << 52;
  q->top2 = (uint64_t)(2046 + f2) << 52;
  q->kept2 = (uint64_t)f2 << 52;
  q->late = hui_unit_power(f2 + 1 - f);
  q->far = hui_unit_power(o->far ? o->far : 1024);
  q->big = hui_unit_power(o->big ? o->big : 1024);
  if (o->rule > HU_BLOCK_LATE) return;
  q->acc_emin = hui_unit_power(hui_spec_of(x->product, x->mode).emin);
}

int hui_unit_plan_of(hu_unit_plan *q, const hu_spec *a, const hu_spec *b, const hu_accum *x, int most) {
  const hu_mode rne = hui_plain_mode();
  memset(q, 0, sizeof *q);
  if (x->kind != HU_ACCUM_BLOCK || !a->fits_binary32 || !b->fits_binary32 || !rule_fits(a, b, x, most)) return 0;
  if (!grid_of(&q->out, x->sum, x->mode, x->block.ftz)) return 0;
  if (x->block.join == HU_BLOCK_JOIN_LAST) {
    if (x->block.last == HU_RTN) return 0; /* as above */
    if (!grid_of(&q->join, hui_accum_joined(x), hui_accum_last(x), x->block.ftz)) return 0;
  }
  if ((x->promote || x->slices) && !grid_of(&q->part, hui_accum_result(x), rne, 0)) return 0;
  q->plus = x->block.zero == HU_BLOCK_ZERO_PLUS;
  set_rule(q, x);
  return 1;
}
