/* SPDX-License-Identifier: MIT */
/* The kinds of models, and the simplest of those that say the same. */
#include "cli/identify/space.h"

#include <string.h>

#include "cli/question/operand.h"
#include "halfulp/formats/ieee.h"

id_space id_space_of(const id_shape *shape) {
  id_space space = {.shape = shape};
  id_operand a = id_operand_of(shape->a), b = id_operand_of(shape->b), result = id_operand_of(shape->result);
  int products = a.emin + b.emin;
  if (shape->every) {
    hu_element scale = {.format = shape->scale};
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
  return shape->result.kind == HU_ELEMENT_CODE && shape->a.kind == HU_ELEMENT_CODE &&
         shape->b.kind == HU_ELEMENT_CODE && !shape->every && result.m < 23 && result.e <= 8;
}

void id_space_widen(id_space *space) {
  space->sum = hu_binary32();
  int lowest = id_operand_of((hu_element){.format = space->sum}).emin;
  if (lowest < space->lowest) space->lowest = lowest;
}

int id_is_wide(const id_space *space) {
  return space->sum.m > space->shape->result.format.m && id_may_be_wide(space->shape);
}

typedef struct bases {
  const id_space *space;
  hu_accum *z;
  size_t count;
} bases;

static hu_accum *add(bases *b, uint32_t kind) {
  hu_accum *x = &b->z[b->count++];
  memset(x, 0, sizeof *x);
  x->kind = kind;
  return x;
}

/* Adds a model with sums in D's format. */
static hu_accum *add_sum(bases *b, uint32_t kind) {
  hu_accum *x = add(b, kind);
  x->sum = b->space->sum;
  if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK) x->product = x->sum;
  if (kind == HU_ACCUM_CHUNK) x->length = b->space->shape->n;
  return x;
}

static hu_accum *add_block(bases *b, uint8_t rule, uint16_t length) {
  hu_accum *x = add_sum(b, HU_ACCUM_BLOCK);
  x->block.rule = rule;
  x->block.length = length;
  if (rule <= HU_BLOCK_LATE) {
    x->product = x->sum;
    x->block.kept = 40;
  }
  if (rule == HU_BLOCK_LATE) x->block.kept2 = 40;
  if (rule == HU_BLOCK_ALIGN || rule == HU_BLOCK_GROUPS) x->block.emin = (int16_t)b->space->lowest;
  return x;
}

static void add_scaled(bases *b) {
  const id_shape *shape = b->space->shape;
  hu_accum *x = add_block(b, HU_BLOCK_ALIGN, (uint16_t)shape->n);
  x->block.every = (uint16_t)shape->every;
  x->block.scale = shape->scale;
  x = add_block(b, HU_BLOCK_GROUPS, (uint16_t)shape->n);
  x->block.every = (uint16_t)shape->every;
  x->block.scale = shape->scale;
  x->block.group = (uint16_t)shape->every;
  while (shape->n % x->block.group) x->block.group--;
}

static void add_codes(bases *b) {
  uint32_t n = b->space->shape->n, two = 1;
  while (two < n) two *= 2;
  add_block(b, HU_BLOCK_ALIGN, (uint16_t)n);
  add_block(b, HU_BLOCK_LATE, (uint16_t)n);
  add_block(b, HU_BLOCK_EXACT, (uint16_t)n);
  add_block(b, HU_BLOCK_CHAIN, 1);
  add_block(b, HU_BLOCK_TREE, (uint16_t)two);
  add_block(b, HU_BLOCK_TREE, 2)->block.products = 1;
  add_block(b, HU_BLOCK_LANES, (uint16_t)n);
  static const uint32_t kinds[] = {HU_ACCUM_SEQ2,    HU_ACCUM_CHUNK, HU_ACCUM_PAIRWISE,
                                   HU_ACCUM_STRIDED, HU_ACCUM_KAHAN, HU_ACCUM_NEUMAIER};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) add_sum(b, kinds[i]);
}

/* Adds the same as sums on their own, to which C is added. */
static void wrap(bases *b) {
  for (size_t i = 0; i < b->count; i++) {
    b->z[i].promote = b->space->shape->n;
    b->z[i].promoted = b->space->sum;
  }
}

size_t id_bases(const id_space *space, int parts, hu_accum z[ID_BASES_MOST]) {
  bases b = {space, z, 0};
  const id_shape *shape = space->shape;
  if (parts && (shape->result.kind || shape->a.kind || shape->b.kind || shape->every)) return 0;
  if (shape->result.kind == HU_ELEMENT_S32) {
    add(&b, HU_ACCUM_INT32);
  } else if (shape->a.kind || shape->b.kind || shape->result.kind) {
    add(&b, HU_ACCUM_FP64);
    add(&b, HU_ACCUM_EXACT);
  } else if (shape->every) {
    add_scaled(&b);
  } else {
    add_codes(&b);
    if (parts) wrap(&b);
  }
  return b.count;
}

/* ---- of equal models ---- */

static int is_plain_block(const hu_accum *x) {
  hu_block b = x->block;
  return !b.daz && !b.ftz && !b.zero && !b.over && !b.input && !b.order && !b.join && !b.as.e && !b.as.m;
}

hu_accum id_simplest(const id_space *space, hu_accum x) {
  uint32_t n = space->shape->n;
  if (x.promote == n) {
    x.promote = 0;
    memset(&x.promoted, 0, sizeof x.promoted);
    x.slices = 1;
  }
  if (x.kind != HU_ACCUM_BLOCK) return x;
  if (x.block.over && (x.mode.round <= HU_RNZ || x.mode.round == HU_RAZ)) x.block.over = 0;
  if (!is_plain_block(&x)) return x;
  if (x.block.rule == HU_BLOCK_CHAIN || (x.block.rule == HU_BLOCK_EXACT && x.block.length == 1 && n > 1)) {
    x.kind = HU_ACCUM_SEQ;
    memset(&x.block, 0, sizeof x.block);
  } else if (x.block.rule == HU_BLOCK_EXACT && x.block.length >= n && !x.promote && !x.slices &&
             x.mode.round == HU_RNE && !x.mode.saturate && hu_format_equal(x.sum, space->sum)) {
    memset(&x, 0, sizeof x);
  }
  return x;
}

/* Counts roundings of products: one for being there, one more for a format of their own. */
static int rounded_products(const hu_accum *x) {
  if (x->kind != HU_ACCUM_SEQ2 && x->kind != HU_ACCUM_CHUNK) return 0;
  return 1 + !hu_format_equal(x->product, x->sum);
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
  hu_accum x = id_simplest(space, *model);
  hu_block b = x.block;
  int z = (x.promote != 0 || x.slices != 0) + 2 * (x.kind == HU_ACCUM_BLOCK) + rounded_products(&x);
  z += (x.kind != HU_ACCUM_EXACT && !hu_format_equal(x.sum, space->sum)) + (x.mode.round != 0) + (x.mode.saturate != 0);
  z += b.cut != 0;
  z += (b.order != 0) + (b.join != 0) + (b.last != 0) + (b.zero != 0) + (b.over != 0) + (b.daz != 0) + (b.ftz != 0) +
       (b.input != 0) + (b.lanes != 0);
  z += (b.far != 0) + (b.big != 0) + (b.as.m != 0);
  return x.kind == HU_ACCUM_BLOCK ? z + rule_parameters(b.rule) : z;
}
