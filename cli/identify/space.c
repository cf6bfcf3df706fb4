/* SPDX-License-Identifier: MIT */
/* The kinds of models, and the simplest of those that say the same. */
#include "cli/identify/space.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cli/question/operand.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

id_space id_space_of(const id_shape *shape) {
  id_space space = {.shape = shape};
  id_operand a = id_operand_of(shape->a), b = id_operand_of(shape->b), result = id_operand_of(shape->result);
  int products = a.emin + b.emin;
  if (shape->every) {
    hu_type scale = hu_type_codes(shape->scale);
    id_operand operand = id_operand_of(scale);
    products += 2 * operand.emin;
  }
  space.lowest = products < result.emin ? products : result.emin;
  space.sum = shape->result.format;
  if (space.sum.nan == HU_NAN_IEEE_ONES) space.sum.nan = HU_NAN_IEEE;
  return space;
}

int id_may_be_wide(const id_shape *shape) {
  hu_format result = shape->result.format;
  return shape->result.kind == HU_TYPE_CODES && shape->a.kind == HU_TYPE_CODES && shape->b.kind == HU_TYPE_CODES &&
         !shape->every && result.m < 23 && result.e <= 8;
}

void id_space_widen(id_space *space) {
  space->sum = hu_binary32();
  int lowest = id_operand_of(hu_type_codes(space->sum)).emin;
  if (lowest < space->lowest) space->lowest = lowest;
}

void id_space_narrow(id_space *space) {
  id_space fresh = id_space_of(space->shape);
  space->sum = fresh.sum;
  space->lowest = fresh.lowest;
}

int id_is_wide(const id_space *space) {
  return space->sum.m > space->shape->result.format.m && id_may_be_wide(space->shape);
}

typedef struct bases {
  const id_space *space;
  hu_accum *z;
  size_t count;
} bases;

static hu_accum *add(bases *list, uint32_t kind) {
  hu_accum *model = &list->z[list->count++];
  memset(model, 0, sizeof *model);
  model->kind = kind;
  return model;
}

/* Adds a model with sums in D's format. */
static hu_accum *add_sum(bases *list, uint32_t kind) {
  hu_accum *model = add(list, kind);
  model->sum = list->space->sum;
  if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK) model->product = model->sum;
  if (kind == HU_ACCUM_CHUNK) model->length = list->space->shape->n;
  return model;
}

static hu_accum *add_block(bases *list, uint8_t rule, uint16_t length) {
  hu_accum *model = add_sum(list, HU_ACCUM_BLOCK);
  model->block.rule = rule;
  model->block.length = length;
  if (rule <= HU_BLOCK_LATE) {
    model->product = model->sum;
    model->block.kept = 40;
  }
  if (rule == HU_BLOCK_LATE) model->block.kept2 = 40;
  if (rule == HU_BLOCK_ALIGN || rule == HU_BLOCK_GROUPS) model->block.emin = (int16_t)list->space->lowest;
  return model;
}

/* Adds a block of products with scales, or of which `scaling` says that the block's sum has them. */
static hu_accum *add_scaled_block(bases *list, uint8_t rule, uint8_t scaling) {
  const id_shape *shape = list->space->shape;
  hu_accum *model = add_block(list, rule, (uint16_t)(scaling ? shape->every : shape->n));
  model->block.every = (uint16_t)shape->every;
  model->block.scale = shape->scale;
  model->block.scaling = scaling;
  if (scaling) model->block.join = HU_BLOCK_JOIN_LAST;
  return model;
}

static void add_scaled(bases *list) {
  const id_shape *shape = list->space->shape;
  if (shape->scale.m == 0) add_scaled_block(list, HU_BLOCK_ALIGN, HU_BLOCK_SCALING_TERMS);
  if (shape->scale.m == 0) add_scaled_block(list, HU_BLOCK_ALIGN, HU_BLOCK_SCALING_SUM);
  add_scaled_block(list, HU_BLOCK_EXACT, HU_BLOCK_SCALING_SUM);
  hu_accum *model = add_scaled_block(list, HU_BLOCK_GROUPS, HU_BLOCK_SCALING_TERMS);
  model->block.group = (uint16_t)shape->every;
  while (shape->n % model->block.group) model->block.group--;
}

/* Adds an aligned block whose register has the place that was seen. Its lowest and its highest digit are in several
 * texts; this is the one that keeps fewest digits below its E. */
static hu_accum *add_fixed(bases *list, uint8_t rule) {
  const id_space *space = list->space;
  const hu_block_key *wide = hu_block_key_at(HU_BLOCK_KEY_WIDE), *kept = hu_block_key_at(HU_BLOCK_KEY_F);
  int digits = space->place_high - space->place_low;
  if (digits > wide->high + kept->high) digits = wide->high + kept->high; /* no such register is as long */
  hu_accum *model = add_block(list, rule, (uint16_t)space->shape->n);
  model->block.to = HU_BLOCK_TO_FIXED;
  model->block.wide = (uint8_t)(digits > wide->high ? wide->high : digits);
  model->block.kept = (uint16_t)(digits - model->block.wide);
  model->block.emin = (int16_t)(space->place_low + model->block.kept);
  return model;
}

/* Adds the aligned sums. A second block cuts the first one's sum again, as those after it do not, so that there are two
 * lengths of blocks where the length is not known. */
static void add_aligned(bases *list, uint32_t length) {
  add_block(list, HU_BLOCK_ALIGN, (uint16_t)length);
  add_block(list, HU_BLOCK_GROUPS, (uint16_t)length)->block.group = 1;
  add_block(list, HU_BLOCK_LATE, (uint16_t)length);
}

static void add_codes(bases *list) {
  uint32_t n = list->space->shape->n, length = (uint32_t)list->space->length, two = 1;
  while (two < n) two *= 2;
  add_aligned(list, length ? length : n);
  if (!length && n > 1) add_aligned(list, (n + 1) / 2);
  if (list->space->has_place) {
    add_fixed(list, HU_BLOCK_ALIGN);
    add_fixed(list, HU_BLOCK_GROUPS)->block.group = 1;
  }
  add_block(list, HU_BLOCK_EXACT, (uint16_t)n);
  add_block(list, HU_BLOCK_CHAIN, 1);
  add_block(list, HU_BLOCK_TREE, (uint16_t)two);
  add_block(list, HU_BLOCK_TREE, 2)->block.products = 1;
  add_block(list, HU_BLOCK_LANES, (uint16_t)n);
  static const uint32_t kinds[] = {HU_ACCUM_SEQ2,    HU_ACCUM_CHUNK, HU_ACCUM_PAIRWISE,
                                   HU_ACCUM_STRIDED, HU_ACCUM_KAHAN, HU_ACCUM_NEUMAIER};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) add_sum(list, kinds[i]);
}

/* Adds the same as sums on their own, to which C is added. */
static void wrap(bases *list) {
  for (size_t i = 0; i < list->count; i++) {
    list->z[i].promote = list->space->shape->n;
    list->z[i].promoted = list->space->sum;
  }
}

size_t id_bases(const id_space *space, int parts, hu_accum z[ID_BASES_MOST]) {
  bases list = {space, z, 0};
  const id_shape *shape = space->shape;
  int codes = shape->result.kind == HU_TYPE_CODES && shape->a.kind == HU_TYPE_CODES && shape->b.kind == HU_TYPE_CODES;
  if (parts && (!codes || shape->every)) return 0;
  if (shape->result.kind == HU_TYPE_INT32) {
    add(&list, HU_ACCUM_INT32);
  } else if (!codes) {
    add(&list, HU_ACCUM_FP64);
    add(&list, HU_ACCUM_EXACT);
  } else if (shape->every) {
    add_scaled(&list);
  } else {
    add_codes(&list);
    if (parts) wrap(&list);
  }
  return list.count;
}

/* ---- of equal models ---- */

static int count_options(const hu_block *block) {
  int count = (block->as.m != 0) + (block->via.m != 0);
  for (int i = 0; i < ID_AXES; i++) count += id_axis_is_option(i, block);
  return count;
}

/* Returns 1 if `over` says nothing: the mode has infinities of either sign as it is. */
static int overflows_to_infinity(const hu_accum *model) {
  hu_mode mode = {.round = model->mode.round, .saturate = HU_SAT_NONE};
  hu_format format = hu_binary32();
  return isinf(hu_decode64(format, hu_encode64(format, mode, DBL_MAX, 0, NULL))) &&
         isinf(hu_decode64(format, hu_encode64(format, mode, -DBL_MAX, 0, NULL)));
}

hu_accum id_simplest(const id_space *space, hu_accum model) {
  uint32_t n = space->shape->n;
  if (model.promote == n) {
    model.promote = 0;
    memset(&model.promoted, 0, sizeof model.promoted);
    model.slices = 1;
  }
  if (model.kind != HU_ACCUM_BLOCK) return model;
  if (model.block.over && overflows_to_infinity(&model)) model.block.over = 0;
  if (count_options(&model.block)) return model;
  if (model.block.rule == HU_BLOCK_CHAIN || (model.block.rule == HU_BLOCK_EXACT && model.block.length == 1 && n > 1)) {
    model.kind = HU_ACCUM_SEQ;
    memset(&model.block, 0, sizeof model.block);
  } else if (model.block.rule == HU_BLOCK_EXACT && model.block.length >= n && !model.promote && !model.slices &&
             model.mode.round == HU_RNE && !model.mode.saturate && hu_format_equal(model.sum, space->sum)) {
    memset(&model, 0, sizeof model);
  }
  return model;
}

/* Counts roundings of products: one for being there, one more for a format of their own. */
static int rounded_products(const hu_accum *model) {
  if (model->kind != HU_ACCUM_SEQ2 && model->kind != HU_ACCUM_CHUNK) return 0;
  return 1 + !hu_format_equal(model->product, model->sum);
}

/* Counts parameters that a rule cannot be without, other than l. */
static int rule_parameters(int rule) {
  switch (rule) {
    case HU_BLOCK_ALIGN:
    case HU_BLOCK_LATE: return 2;
    case HU_BLOCK_GROUPS: return 3;
    default: return 0;
  }
}

int id_complexity(const id_space *space, const hu_accum *model) {
  hu_accum accum = id_simplest(space, *model);
  int z = (accum.promote != 0 || accum.slices != 0) + 2 * (accum.kind == HU_ACCUM_BLOCK) + rounded_products(&accum);
  z += (accum.kind != HU_ACCUM_EXACT && !hu_format_equal(accum.sum, space->sum)) + (accum.mode.round != 0) +
       (accum.mode.saturate != 0);
  z += count_options(&accum.block);
  return accum.kind == HU_ACCUM_BLOCK ? z + rule_parameters(accum.block.rule) : z;
}
