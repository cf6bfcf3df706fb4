/* SPDX-License-Identifier: MIT */
/* See unit_plan.h. */
#include "emu/gemm/unit_plan.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"

double hui_unit_power(int32_t exponent) { return hui_double_of_bits((uint64_t)(exponent + 1023) << 52); }

static int32_t log2_up(uint64_t n) { return n <= 1 ? 0 : 64 - hui_clz64(n - 1); }

int hui_unit_in_reach(int32_t exponent) { return exponent >= -300 && exponent <= 300; }

/* Makes a grid that lanes round into: of binary32's numbers, with gradual subnormals and zeros of both signs. */
static int grid_of(hu_unit_grid *z, hu_format format, hu_mode mode, uint8_t ftz) {
  hu_spec spec = hui_spec_of(format, mode);
  int plain = hui_spec_is_plain(&spec) && spec.negzero;
  int direct = spec.round == HU_RNE || spec.round == HU_RTZ || spec.round == HU_RTN || spec.round == HU_RTP ||
               spec.round == HU_RTO;
  memset(z, 0, sizeof *z);
  if (!plain || !direct || spec.m == 0 || !spec.fits_binary32) return 0;
  z->emin = hui_unit_power(spec.emin);
  z->max = hui_double_of_bits(hui_pack64(hui_unpack(&spec, spec.max_code)));
  z->top = (uint64_t)(2046 + spec.m) << 52;
  z->step = (uint64_t)spec.m << 52;
  z->round = spec.round;
  z->narrow = spec.round == HU_RNE && spec.m == 23 && spec.emin == -126 && spec.max_code == 0x7F7FFFFF;
  if (ftz == HU_BLOCK_FTZ_BEFORE) z->tiny = z->emin;
  if (ftz == HU_BLOCK_FTZ_BEFORE && spec.round == HU_RTO) z->sticky = ((uint64_t)1 << (52 - spec.m)) - 1;
  if (ftz == HU_BLOCK_FTZ_AFTER) z->least = z->emin;
  if (ftz == HU_BLOCK_FTZ_TINY) {
    /* What rounds to less than 2^emin at full precision: all below 2^emin less a quarter of the step there. */
    z->tiny = z->emin - hui_unit_power(spec.emin - spec.m - 2);
    return spec.round == HU_RNE && spec.tiny == HU_TINY_AFTER;
  }
  return 1;
}

/* Sums of cut terms in units of 2^(E-F): a product is below 2^(F+2), a group below 2^(F+2) times its exact sum. */
static int sums_fit(const hu_spec *a, const hu_spec *b, const hu_block *block) {
  uint64_t terms = (uint64_t)block->length / (block->rule == HU_BLOCK_GROUPS ? block->group : 1) + 1;
  int32_t digits = block->kept + 2 + log2_up(terms);
  if (block->rule == HU_BLOCK_LATE) digits += block->kept2 - block->kept + 2;
  if (block->rule == HU_BLOCK_GROUPS) {
    hu_num x = hui_unpack(a, a->max_code), y = hui_unpack(b, b->max_code);
    int32_t high = hui_exponent(x) + hui_exponent(y) + 2 + log2_up(block->group), low = a->emin - a->m + b->emin - b->m;
    if (high - low + 2 * (block->scale.m + 1) > 52) return 0;
    digits += block->every ? (high > 0 ? high : 0) : log2_up(block->group);
  }
  return digits <= 52;
}

/* Do two-sums of l products leave errors whose sum fits 53 digits? One error (l = 2) does. */
static int errors_fit(const hu_spec *a, const hu_spec *b, uint32_t length) {
  hu_num x = hui_unpack(a, a->max_code), y = hui_unpack(b, b->max_code);
  int32_t high = hui_exponent(x) + hui_exponent(y) + 2, low = a->emin - a->m + b->emin - b->m;
  return length <= 2 || high + 2 * log2_up(length) - low <= 106;
}

static int rule_fits(const hu_spec *a, const hu_spec *b, const hu_accum *accum, int most) {
  const hu_block *block = &accum->block;
  int32_t acc_emin = hui_spec_of(accum->product, accum->mode).emin;
  int steps = (int)block->length * (block->order == HU_BLOCK_ORDER_MOD4 ? 2 : 1);
  if (steps > most || (block->order == HU_BLOCK_ORDER_MOD4 && block->length % 2) || block->emin > 300) return 0;
  /* What no step here does. */
  if (block->scaling || block->zeros || block->zero == HU_BLOCK_ZERO_IEEE || block->window || block->wide) return 0;
  if (block->via.e || block->via.m || (block->products && block->group && block->group != 2)) return 0;
  switch (block->rule) {
    case HU_BLOCK_ALIGN:
    case HU_BLOCK_GROUPS:
    case HU_BLOCK_LATE: return hui_unit_in_reach(acc_emin) && sums_fit(a, b, block);
    case HU_BLOCK_EXACT: return errors_fit(a, b, block->length);
    default: return accum->mode.round != HU_RTN; /* lanes give the zero sums of the other modes */
  }
}

static void set_rule(hu_unit_plan *plan, const hu_accum *accum) {
  const hu_block *block = &accum->block;
  int32_t kept = block->kept, f2 = block->kept2;
  plan->rule = block->rule;
  plan->cut = (uint8_t)(block->cut | (block->sticky ? HU_UNIT_STICKY : 0));
  plan->length = block->length;
  plan->group = block->group;
  plan->halves = block->order == HU_BLOCK_ORDER_MOD4 ? 2 : 1;
  plan->last = block->join == HU_BLOCK_JOIN_LAST;
  plan->lanes = block->lanes;
  plan->exact_pair = block->products;
  plan->emin = hui_unit_power(block->emin < -700 ? -700 : block->emin); /* no product or C that counts lies lower */
  plan->top = (uint64_t)(2046 + kept) << 52;
  plan->kept = (uint64_t)kept << 52;
  plan->top2 = (uint64_t)(2046 + f2) << 52;
  plan->kept2 = (uint64_t)f2 << 52;
  plan->late = hui_unit_power(f2 + 1 - kept);
  plan->far = hui_unit_power(block->far ? block->far : 1024);
  plan->big = hui_unit_power(block->big ? block->big : 1024);
  if (block->rule > HU_BLOCK_LATE) return;
  plan->acc_emin = hui_unit_power(hui_spec_of(accum->product, accum->mode).emin);
}

int hui_unit_plan_of(hu_unit_plan *plan, const hu_spec *a, const hu_spec *b, const hu_accum *accum, int most) {
  const hu_mode rne = hui_plain_mode();
  memset(plan, 0, sizeof *plan);
  if (accum->kind != HU_ACCUM_BLOCK || !a->fits_binary32 || !b->fits_binary32 || !rule_fits(a, b, accum, most))
    return 0;
  if (!grid_of(&plan->out, accum->sum, accum->mode, accum->block.ftz)) return 0;
  if (accum->block.join == HU_BLOCK_JOIN_LAST) {
    if (accum->block.last == HU_RTN) return 0; /* as above */
    if (!grid_of(&plan->join, hui_accum_joined(accum), hui_accum_last(accum), accum->block.ftz)) return 0;
  }
  if ((accum->promote || accum->slices) && !grid_of(&plan->part, hui_accum_result(accum), rne, 0)) return 0;
  plan->plus = accum->block.zero == HU_BLOCK_ZERO_PLUS;
  set_rule(plan, accum);
  return 1;
}
