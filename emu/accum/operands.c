/* SPDX-License-Identifier: MIT */
/* Decides whether a model takes an operand: one of the formats that it names, and one that its sums can hold. */
#include "emu/accum/operands.h"

#include <string.h>

#include "emu/core/round.h"

/* Finite numbers of a format: multiples of 2^low, below 2^high, of `digits` digits. */
typedef struct range {
  int32_t low, high, digits;
} range;

static range range_of(hu_format format) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  hu_spec spec = hui_spec_of(format, rne);
  hu_num max = hui_unpack(&spec, spec.max_code);
  range z = {spec.emin - spec.m, max.exp + 64 - hui_clz64(max.sig), format.e == 0 ? format.m : format.m + 1};
  return z;
}

static int holds(hu_format outer, hu_format format) {
  range outside = range_of(outer), inside = range_of(format);
  return inside.low >= outside.low && inside.high <= outside.high && inside.digits <= outside.digits;
}

static int is_given(hu_format format) { return format.sign || format.e || format.m; }

static int log2_up(uint32_t n) { return n <= 1 ? 0 : 64 - hui_clz64((uint64_t)n - 1); }

/* Sums of a group, with its scales, and all groups cut to F digits below the least of their exponents, fit 62 bits.
 * Without scales only a register at a fixed place looks at more digits than that. */
static int groups_fit(const hu_block *block, hu_format fa, hu_format fb) {
  range a = range_of(fa), b = range_of(fb);
  int scales = 2 * (block->scale.m + 1), sum = a.high + b.high + log2_up(block->group);
  int groups = log2_up((uint32_t)(block->length / block->group) + 1);
  int narrow = block->window || sum - a.low - b.low + scales <= 62;
  if (!block->every) return narrow || !block->to;
  return narrow && sum + 2 + block->kept + groups <= 62;
}

static hu_status block_takes(const hu_accum *accum, hu_format fa, hu_format fb, const hu_type *c) {
  const hu_block *block = &accum->block;
  int cutting = block->rule <= HU_BLOCK_LATE;
  if (is_given(block->as) && !(holds(block->as, fa) && holds(block->as, fb))) return HU_E_ACCUM;
  if (block->rule == HU_BLOCK_GROUPS && !groups_fit(block, fa, fb)) return HU_E_ACCUM;
  return cutting && c && !holds(accum->product, c->format) ? HU_E_ACCUM : HU_OK;
}

/* ---- formats that a model names ---- */

/* Every code of x and y has the same value: what NaN and overflow give does not matter to an operand. */
static int read_alike(hu_format x, hu_format y) {
  if (x.nan == HU_NAN_IEEE_ONES) x.nan = HU_NAN_IEEE;
  if (y.nan == HU_NAN_IEEE_ONES) y.nan = HU_NAN_IEEE;
  x.overflow = y.overflow;
  x.negative = y.negative;
  return hu_format_equal(x, y);
}

/* A register for binary32 may hold a number rounded to TF32, which is what programs of TF32 units put there. */
static int held(hu_format required, hu_format format) {
  return read_alike(required, hui_format_binary32()) && read_alike(format, hu_format_ieee(8, 10, 0));
}

static int takes(const hu_type *required, const hu_type *type) {
  if (required->kind == HU_TYPE_NONE) return 1;
  if (required->kind != type->kind) return 0;
  return type->kind != HU_TYPE_CODES || read_alike(required->format, type->format) ||
         held(required->format, type->format);
}

static hu_status operands_taken(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c) {
  if (!takes(&accum->a, a)) return HU_E_OPERAND_A;
  if (!takes(&accum->b, b)) return HU_E_OPERAND_B;
  return c && !accum->promote && !accum->slices && !takes(&accum->c, c) ? HU_E_OPERAND_C : HU_OK;
}

static int is_factor(const hu_type *type) { return type->kind >= HU_TYPE_INT8 && type->kind <= HU_TYPE_UINT4; }

/* Is it codes or, for models that take these, binary64? */
static int is_float(const hu_type *type, int wide) {
  return type->kind == HU_TYPE_CODES || (wide && type->kind == HU_TYPE_BINARY64);
}

hu_status hui_accum_takes(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c) {
  hu_status status = operands_taken(accum, a, b, c);
  if (status != HU_OK) return status;
  if (accum->kind == HU_ACCUM_INT32) {
    return is_factor(a) && is_factor(b) && (!c || c->kind == HU_TYPE_INT32) ? HU_OK : HU_E_ACCUM;
  }
  int wide = accum->kind == HU_ACCUM_EXACT || accum->kind == HU_ACCUM_FP64;
  if (!is_float(a, wide) || !is_float(b, wide) || (c && !is_float(c, wide))) return HU_E_ACCUM;
  return accum->kind == HU_ACCUM_BLOCK ? block_takes(accum, a->format, b->format, c) : HU_OK;
}

hu_status hui_accum_usable(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c) {
  hu_status status = hui_accum_takes(accum, a, b, c);
  if (status != HU_OK || accum->kind != HU_ACCUM_FP32) return status;
  int fits = hu_format_fits_binary32(a->format) && hu_format_fits_binary32(b->format);
  return fits && (!c || hu_format_fits_binary32(c->format)) ? HU_OK : HU_E_CARRIER;
}

hu_accum hu_accum_any(hu_accum accum) {
  memset(&accum.a, 0, sizeof accum.a);
  memset(&accum.b, 0, sizeof accum.b);
  memset(&accum.c, 0, sizeof accum.c);
  return accum;
}

int hu_accum_is_scaled(const hu_accum *accum) { return accum && (accum->scaled || accum->block.every); }
