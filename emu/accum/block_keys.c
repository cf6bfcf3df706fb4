/* SPDX-License-Identifier: MIT */
/* The keys of block(...). */
#include "emu/accum/block_keys.h"

#include <string.h>

const char *const hu_rule_names[HU_BLOCK_RULES] = {"align", "groups", "late", "exact", "tree", "chain", "lanes"};

const char *const hu_element_names[HU_ELEMENT_KINDS] = {"any", "binary64", "s8", "u8", "s4", "u4", "s32"};

enum {
  ALIGN = 1 << HU_BLOCK_ALIGN,
  GROUPS = 1 << HU_BLOCK_GROUPS,
  LATE = 1 << HU_BLOCK_LATE,
  EXACT = 1 << HU_BLOCK_EXACT,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN,
  LANES = 1 << HU_BLOCK_LANES,
  CUTTING = ALIGN | GROUPS | LATE,
  STEPPING = TREE | CHAIN | LANES,
  ALL = CUTTING | EXACT | STEPPING
};

const hu_block_key hu_block_keys[HU_BLOCK_KEY_COUNT] = {
    [HU_BLOCK_KEY_L] = {.name = "l", .rules = ALL, .required = ALL, .low = 1, .high = 4096},
    [HU_BLOCK_KEY_F] = {.name = "f", .rules = CUTTING, .required = CUTTING, .low = 0, .high = 40},
    [HU_BLOCK_KEY_F2] = {.name = "f2", .rules = LATE, .required = LATE, .low = 0, .high = 40},
    [HU_BLOCK_KEY_EMIN] =
        {.name = "emin", .rules = ALIGN | GROUPS, .required = ALIGN | GROUPS, .low = -4096, .high = 4096},
    [HU_BLOCK_KEY_LANES] = {.name = "lanes", .rules = LATE, .low = 2, .high = 2},
    [HU_BLOCK_KEY_FAR] = {.name = "far", .rules = LATE, .low = 1, .high = 64},
    [HU_BLOCK_KEY_BIG] = {.name = "big", .rules = LATE, .low = 1, .high = 1023},
    [HU_BLOCK_KEY_IN] = {.name = "in", .rules = ALL & ~GROUPS, .low = 1, .high = 30},
    [HU_BLOCK_KEY_G] = {.name = "g", .rules = GROUPS, .required = GROUPS, .low = 1, .high = 4096},
    [HU_BLOCK_KEY_EVERY] =
        {.name = "every", .rules = ALIGN | GROUPS | EXACT, .required = GROUPS, .low = 1, .high = 4096},
    [HU_BLOCK_KEY_CUT] = {.name = "cut", .rules = ALIGN | GROUPS, .words = {"trunc", "floor", "rne", "odd"}},
    [HU_BLOCK_KEY_ORDER] = {.name = "order", .rules = ALIGN | CHAIN, .words = {"up", "down", "mod4"}},
    [HU_BLOCK_KEY_C] = {.name = "c", .rules = ALIGN | EXACT | CHAIN, .words = {"first", "last"}},
    [HU_BLOCK_KEY_LAST] = {.name = "last",
                           .rules = ALIGN | EXACT | CHAIN,
                           .words = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto"}},
    [HU_BLOCK_KEY_DAZ] = {.name = "daz", .rules = STEPPING, .words = {"none", "sign", "plus"}},
    [HU_BLOCK_KEY_FTZ] = {.name = "ftz", .rules = STEPPING, .words = {"none", "after", "tiny", "before"}},
    [HU_BLOCK_KEY_PRODUCTS] = {.name = "products", .rules = TREE, .words = {"rounded", "exact"}},
    [HU_BLOCK_KEY_NAN] = {.name = "nan", .rules = ALL & ~GROUPS, .words = {"cut", "kept"}},
    [HU_BLOCK_KEY_SCALING] = {.name = "scaling", .rules = ALIGN | EXACT, .words = {"terms", "sum"}},
    [HU_BLOCK_KEY_AS] = {.name = "as", .rules = ALL & ~GROUPS},
    [HU_BLOCK_KEY_SCALE] = {.name = "scale", .rules = ALIGN | GROUPS | EXACT, .required = GROUPS},
    [HU_BLOCK_KEY_ACC] = {.name = "acc", .rules = CUTTING},
    [HU_BLOCK_KEY_OUT] = {.name = "out", .rules = ALL},
    [HU_BLOCK_KEY_ROUND] = {.name = "round", .rules = ALL},
    [HU_BLOCK_KEY_SAT] = {.name = "sat", .rules = ALL},
    [HU_BLOCK_KEY_OVER] = {.name = "over", .rules = ALL, .words = {"mode", "inf"}},
    [HU_BLOCK_KEY_ZERO] = {.name = "zero", .rules = ALIGN | GROUPS | EXACT, .words = {"sign", "plus", "ieee"}},
};

int hui_key_get(const hu_block *block, unsigned key) {
  switch (key) {
    case HU_BLOCK_KEY_L: return block->length;
    case HU_BLOCK_KEY_F: return block->kept;
    case HU_BLOCK_KEY_F2: return block->kept2;
    case HU_BLOCK_KEY_EMIN: return block->emin;
    case HU_BLOCK_KEY_LANES: return block->lanes;
    case HU_BLOCK_KEY_FAR: return block->far;
    case HU_BLOCK_KEY_BIG: return block->big;
    case HU_BLOCK_KEY_IN: return block->input;
    case HU_BLOCK_KEY_G: return block->group;
    case HU_BLOCK_KEY_EVERY: return block->every;
    case HU_BLOCK_KEY_CUT: return block->cut;
    case HU_BLOCK_KEY_ORDER: return block->order;
    case HU_BLOCK_KEY_C: return block->join;
    case HU_BLOCK_KEY_LAST: return block->last;
    case HU_BLOCK_KEY_DAZ: return block->daz;
    case HU_BLOCK_KEY_FTZ: return block->ftz;
    case HU_BLOCK_KEY_PRODUCTS: return block->products;
    case HU_BLOCK_KEY_NAN: return block->nan;
    case HU_BLOCK_KEY_SCALING: return block->scaling;
    case HU_BLOCK_KEY_ZERO: return block->zero;
    default: return block->over;
  }
}

void hui_key_set(hu_block *block, unsigned key, int value) {
  switch (key) {
    case HU_BLOCK_KEY_L: block->length = (uint16_t)value; break;
    case HU_BLOCK_KEY_F: block->kept = (uint16_t)value; break;
    case HU_BLOCK_KEY_F2: block->kept2 = (uint16_t)value; break;
    case HU_BLOCK_KEY_EMIN: block->emin = (int16_t)value; break;
    case HU_BLOCK_KEY_LANES: block->lanes = (uint8_t)value; break;
    case HU_BLOCK_KEY_FAR: block->far = (uint16_t)value; break;
    case HU_BLOCK_KEY_BIG: block->big = (uint16_t)value; break;
    case HU_BLOCK_KEY_IN: block->input = (uint8_t)value; break;
    case HU_BLOCK_KEY_G: block->group = (uint16_t)value; break;
    case HU_BLOCK_KEY_EVERY: block->every = (uint16_t)value; break;
    case HU_BLOCK_KEY_CUT: block->cut = (uint8_t)value; break;
    case HU_BLOCK_KEY_ORDER: block->order = (uint8_t)value; break;
    case HU_BLOCK_KEY_C: block->join = (uint8_t)value; break;
    case HU_BLOCK_KEY_LAST: block->last = (uint8_t)value; break;
    case HU_BLOCK_KEY_DAZ: block->daz = (uint8_t)value; break;
    case HU_BLOCK_KEY_FTZ: block->ftz = (uint8_t)value; break;
    case HU_BLOCK_KEY_PRODUCTS: block->products = (uint8_t)value; break;
    case HU_BLOCK_KEY_NAN: block->nan = (uint8_t)value; break;
    case HU_BLOCK_KEY_SCALING: block->scaling = (uint8_t)value; break;
    case HU_BLOCK_KEY_ZERO: block->zero = (uint8_t)value; break;
    default: block->over = (uint8_t)value; break;
  }
}

static int is_absent(hu_format format) {
  hu_format none;
  memset(&none, 0, sizeof none);
  return hu_format_equal(format, none);
}

/* Scales are unsigned, and their significands' products short: see hui_accum_usable. Those of a block's sum are one for
 * a block, and C comes after them. */
static unsigned scale_clash(const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (block->scaling && (block->join != HU_BLOCK_JOIN_LAST || !block->every || block->order))
    return HU_BLOCK_KEY_SCALING;
  if (is_absent(block->scale)) return block->every ? HU_BLOCK_KEY_EVERY : HU_BLOCK_KEY_COUNT;
  if (block->scaling && block->every % block->length) return HU_BLOCK_KEY_EVERY;
  if (block->rule == HU_BLOCK_EXACT && !block->scaling) return HU_BLOCK_KEY_SCALE;
  if (!block->every || block->scale.sign || block->scale.inf != HU_INF_NONE) return HU_BLOCK_KEY_SCALE;
  return block->scale.m > (block->rule == HU_BLOCK_ALIGN ? 0 : 3) ? HU_BLOCK_KEY_SCALE : HU_BLOCK_KEY_COUNT;
}

unsigned hui_key_clash(const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (block->rule == HU_BLOCK_LATE && block->kept2 < block->kept) return HU_BLOCK_KEY_F2;
  if (block->rule == HU_BLOCK_GROUPS && (block->length % block->group || block->every % block->group))
    return HU_BLOCK_KEY_G;
  if (block->rule == HU_BLOCK_TREE && (block->length & (block->length - 1))) return HU_BLOCK_KEY_L;
  if (block->products && block->length != 2) return HU_BLOCK_KEY_PRODUCTS;
  if (block->last && block->join != HU_BLOCK_JOIN_LAST) return HU_BLOCK_KEY_LAST;
  if (block->nan && !block->input) return HU_BLOCK_KEY_NAN;
  if (block->zero && (block->zero == HU_BLOCK_ZERO_IEEE) != (block->rule == HU_BLOCK_EXACT)) return HU_BLOCK_KEY_ZERO;
  if (block->order == (block->rule == HU_BLOCK_CHAIN ? HU_BLOCK_ORDER_MOD4 : HU_BLOCK_ORDER_DOWN))
    return HU_BLOCK_KEY_ORDER;
  if (block->order == HU_BLOCK_ORDER_MOD4 && block->length % 2) return HU_BLOCK_KEY_L;
  if (block->over && accum->sum.inf == HU_INF_NONE) return HU_BLOCK_KEY_OVER;
  return scale_clash(accum);
}
