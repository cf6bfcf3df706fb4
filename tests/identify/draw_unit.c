/* SPDX-License-Identifier: MIT */
/* See draw_unit.h. */
#include "tests/identify/draw_unit.h"

#include <string.h>

#include "cli/question/draw.h"
#include "cli/question/operand.h"

static hu_format named(const char *name) {
  hu_format format;
  if (hu_format_parse(&format, name, NULL) != HU_OK) memset(&format, 0, sizeof format);
  return format;
}

static hu_type one_of(id_random *random, const char *const *names, size_t count) {
  return hu_type_codes(named(names[id_random_below(random, count)]));
}

/* ---- formats ---- */

static void draw_elements(id_shape *shape, id_random *random) {
  static const char *const wide[] = {"binary16", "bfloat16"}, *const narrow[] = {"float8_e4m3fn", "float8_e5m2"};
  memset(shape, 0, sizeof *shape);
  if (id_random_chance(random, 60)) {
    shape->a = shape->b = one_of(random, wide, 2);
  } else {
    shape->a = one_of(random, narrow, 2);
    shape->b = id_random_chance(random, 80) ? shape->a : one_of(random, narrow, 2);
  }
  shape->result = id_random_chance(random, 75) ? hu_type_codes(named("binary32")) : one_of(random, wide, 2);
}

/* Makes it a unit for operands of 4 and 6 bits with scales, which all rules with scales take. */
static void draw_scaled_elements(hu_block *block, id_shape *shape, id_random *random) {
  static const char *const few[] = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"};
  shape->a = shape->b = one_of(random, few, 3);
  shape->result = hu_type_codes(named("binary32"));
  shape->scale = named(block->rule == HU_BLOCK_ALIGN || id_random_chance(random, 50) ? "float8_e8m0fnu" : "ue4m3");
  block->every = (uint16_t)(4 << id_random_below(random, 3));
  block->length = (uint16_t)(block->every >> id_random_below(random, 2));
  if (block->rule == HU_BLOCK_GROUPS) block->group = (uint16_t)(block->length >> id_random_below(random, 2));
  if (block->rule == HU_BLOCK_EXACT) block->join = HU_BLOCK_JOIN_LAST;
  block->scaling = block->rule == HU_BLOCK_EXACT;
  block->scale = shape->scale;
  shape->every = block->every;
}

/* The format of sums: that of D or of more digits, perhaps without some digits. */
static hu_format draw_sum(const id_shape *shape, id_random *random) {
  hu_format sum = id_random_chance(random, 30) ? named("binary32") : shape->result.format;
  if (id_random_chance(random, 25)) sum.m = (uint8_t)id_random_from(random, sum.m / 2 + 1, sum.m);
  return sum;
}

static void draw_rounding(hu_accum *unit, id_random *random) {
  if (id_random_chance(random, 50)) unit->mode.round = (uint8_t)id_random_below(random, HU_RTO + 1);
  if (id_random_chance(random, 10)) unit->mode.saturate = (uint8_t)(2 + id_random_below(random, 2));
}

/* ---- blocks ---- */

typedef struct plan {
  hu_accum *unit;
  const id_shape *shape;
  id_random *random;
} plan;

/* Draws a number in the part of its range where it matters to these operands. */
static int draw_number(const plan *draw, unsigned number, const hu_block_key *key) {
  const hu_block *block = &draw->unit->block;
  id_operand a = id_operand_of(draw->shape->a), b = id_operand_of(draw->shape->b),
             result = id_operand_of(draw->shape->result);
  int m = draw->unit->sum.m, half = id_random_chance(draw->random, 50),
      lowest = a.emin + b.emin < result.emin ? a.emin + b.emin : result.emin;
  switch (number) {
    case HU_BLOCK_KEY_L:
      if (block->rule == HU_BLOCK_TREE) return 1 << id_random_from(draw->random, 1, 4);
      return id_random_from(draw->random, 1, block->order == HU_BLOCK_ORDER_MOD4 ? 8 : 16);
    case HU_BLOCK_KEY_F:
      return half ? id_random_from(draw->random, m > 3 ? m - 3 : 0, m + 5) : id_random_from(draw->random, 4, 35);
    case HU_BLOCK_KEY_F2: return id_random_from(draw->random, block->kept, block->kept > 28 ? 40 : block->kept + 12);
    case HU_BLOCK_KEY_EMIN: return half ? lowest : id_random_from(draw->random, lowest, -10);
    case HU_BLOCK_KEY_FAR: return id_random_from(draw->random, 8, 40);
    case HU_BLOCK_KEY_BIG: return id_random_from(draw->random, 8, a.emax + b.emax);
    case HU_BLOCK_KEY_IN: return id_random_from(draw->random, 1, a.digits > 1 ? a.digits - 1 : 1);
    case HU_BLOCK_KEY_G: return 1 << id_random_below(draw->random, 4);
    case HU_BLOCK_KEY_WINDOW: return id_random_from(draw->random, 3, a.digits + b.digits + 10);
    case HU_BLOCK_KEY_WIDE: return id_random_from(draw->random, 1, 7);
    default: return id_random_from(draw->random, key->low, key->high);
  }
}

/* Draws each key that the rule takes: one that it requires always, another one now and then. */
static void draw_keys(const plan *draw) {
  hu_block *block = &draw->unit->block;
  for (unsigned number = 0; number < HU_BLOCK_KEY_COUNT; number++) {
    const hu_block_key *key = hu_block_key_at(number);
    int words = 0, required = key->required >> block->rule & 1;
    if (!(key->rules >> block->rule & 1) || number == HU_BLOCK_KEY_EVERY) continue;
    if (!required && !id_random_chance(draw->random, 15)) continue;
    while (key->words[words]) words++;
    hu_block_key_set(block, number,
                     words ? (int)id_random_below(draw->random, (uint64_t)words) : draw_number(draw, number, key));
  }
}

/* Mends what belongs together, where the draw of one key says that of another. */
static void mend(const plan *draw) {
  hu_block *block = &draw->unit->block;
  if (block->rule == HU_BLOCK_TREE && block->products && !block->group) block->length = 2;
  if (block->rule == HU_BLOCK_TREE && !block->products) block->group = 0;
  if (block->rule == HU_BLOCK_GROUPS) block->length = (uint16_t)(block->group * (1 + block->length / 4));
  if (block->order == HU_BLOCK_ORDER_MOD4 && block->rule == HU_BLOCK_ALIGN) block->length += block->length % 2;
  if (block->cut > HU_BLOCK_CUT_FLOOR) block->sticky = 0;
  if (!block->sticky) block->zeros &= HU_BLOCK_ZEROS_EXPONENT;
  if (block->join != HU_BLOCK_JOIN_LAST) block->last = 0;
  if (!block->input) block->nan = 0;
  if (!block->wide) block->to = block->past = 0;
  if (block->to) { /* a fixed place, in the middle of what products reach */
    block->emin = (int16_t)id_random_from(draw->random, 0, 12);
    block->wide = (uint8_t)id_random_from(draw->random, 4, 14);
  }
  block->scaling = 0;
}

static void draw_block(const plan *draw, id_shape *shape) {
  static const char *const forms[] = {"binary32", "binary16", "bfloat16"};
  hu_block *block = &draw->unit->block;
  hu_accum *unit = draw->unit;
  block->rule = (uint8_t)id_random_below(draw->random, HU_BLOCK_RULES);
  draw_keys(draw);
  mend(draw);
  if (block->rule != HU_BLOCK_GROUPS && id_random_chance(draw->random, 8))
    block->as = named(forms[id_random_below(draw->random, 3)]);
  if (block->rule <= HU_BLOCK_EXACT && id_random_chance(draw->random, 8))
    block->via = named(forms[id_random_below(draw->random, 3)]);
  unsigned scales = 1u << HU_BLOCK_ALIGN | 1u << HU_BLOCK_GROUPS | 1u << HU_BLOCK_EXACT;
  if ((scales >> block->rule & 1) && !block->order && !block->window && id_random_chance(draw->random, 15))
    draw_scaled_elements(block, shape, draw->random);
  unit->sum = block->every ? shape->result.format : unit->sum;
  if (block->rule > HU_BLOCK_LATE) return;
  unit->product = shape->result.format;
  if (unit->sum.e > unit->product.e || unit->sum.m > unit->product.m) unit->product = named("binary32");
}

/* ---- all kinds ---- */

static void draw_plain(hu_accum *unit, id_shape *shape, id_random *random) {
  static const uint32_t kinds[] = {HU_ACCUM_SEQ,     HU_ACCUM_SEQ2,  HU_ACCUM_CHUNK,    HU_ACCUM_PAIRWISE,
                                   HU_ACCUM_STRIDED, HU_ACCUM_KAHAN, HU_ACCUM_NEUMAIER, HU_ACCUM_INT32};
  unit->kind = kinds[id_random_below(random, sizeof kinds / sizeof *kinds)];
  if (unit->kind == HU_ACCUM_INT32) {
    memset(unit, 0, sizeof *unit);
    unit->kind = HU_ACCUM_INT32;
    unit->length = id_random_chance(random, 50) ? (uint32_t)id_random_from(random, 1, 8) : 0;
    shape->a = shape->b = hu_type_plain(id_random_chance(random, 50) ? HU_TYPE_INT8 : HU_TYPE_UINT8);
    shape->result = hu_type_plain(HU_TYPE_INT32);
    return;
  }
  if (unit->kind == HU_ACCUM_CHUNK) unit->length = (uint32_t)id_random_from(random, 1, 8);
  if (unit->kind != HU_ACCUM_SEQ2 && unit->kind != HU_ACCUM_CHUNK) return;
  unit->product = unit->sum;
  if (id_random_chance(random, 40)) unit->product.m = (uint8_t)id_random_from(random, unit->sum.m / 2, unit->sum.m);
}

/* Now and then sums of parts. */
static void draw_parts(hu_accum *unit, const id_shape *shape, id_random *random) {
  if (unit->kind == HU_ACCUM_INT32 || unit->block.every || !id_random_chance(random, 8)) return;
  if (id_random_chance(random, 50)) {
    unit->slices = (uint32_t)id_random_from(random, 1, 4);
  } else {
    unit->promote = (uint32_t)id_random_from(random, 2, 8);
    unit->promoted = shape->result.format;
  }
}

static uint32_t products_of(const hu_accum *unit) {
  uint32_t length = unit->kind == HU_ACCUM_BLOCK ? unit->block.length : unit->kind == HU_ACCUM_CHUNK ? unit->length : 4;
  uint32_t n = 2 * length;
  if (unit->block.order == HU_BLOCK_ORDER_MOD4) n *= 2;
  if (n < 2 * unit->block.every) n = 2 * unit->block.every;
  return n < 8 ? 8 : n;
}

enum { ROWS = 64, ANSWERS = ROWS / 4 };

/* Returns 1 if it takes these operands and gives as many different answers to drawn questions. */
static int is_unit(const hu_accum *unit, const id_shape *shape) {
  id_vectors vectors;
  id_random random = {0x5EED};
  int different = 0, fine;
  if (hu_accum_check(unit) != HU_OK) return 0;
  id_vectors_start(&vectors, shape);
  fine = id_vectors_grow(&vectors, ROWS) != SIZE_MAX;
  if (fine) id_draw(&vectors, 0, ROWS, ID_DRAW_MANY, &random);
  fine = fine && id_compute(unit, &vectors, 0, ROWS, vectors.column[ID_D]) == HU_OK;
  for (size_t i = 0; i < ROWS && fine; i++) {
    size_t j = 0;
    while (j < i && id_get(&vectors, ID_D, i, 0) != id_get(&vectors, ID_D, j, 0)) j++;
    different += j == i;
  }
  id_vectors_free(&vectors);
  return different >= ANSWERS;
}

void draw_unit(hu_accum *unit, id_shape *shape, id_random *random) {
  do {
    plan draw = {unit, shape, random};
    memset(unit, 0, sizeof *unit);
    draw_elements(shape, random);
    unit->sum = draw_sum(shape, random);
    draw_rounding(unit, random);
    if (id_random_chance(random, 20)) {
      draw_plain(unit, shape, random);
    } else {
      unit->kind = HU_ACCUM_BLOCK;
      draw_block(&draw, shape);
    }
    shape->n = products_of(unit);
    draw_parts(unit, shape, random);
  } while (!is_unit(unit, shape));
}
