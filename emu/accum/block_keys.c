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

#define NONE \
  { NULL, NULL, NULL, NULL }
const hu_block_key hu_block_keys[HU_BLOCK_KEY_COUNT] = {
    {"l", ALL, ALL, 1, 4096, NONE},
    {"f", CUTTING, CUTTING, 0, 40, NONE},
    {"f2", LATE, LATE, 0, 40, NONE},
    {"emin", ALIGN | GROUPS, ALIGN | GROUPS, -4096, 4096, NONE},
    {"lanes", LATE, 0, 2, 2, NONE},
    {"far", LATE, 0, 1, 64, NONE},
    {"big", LATE, 0, 1, 1023, NONE},
    {"in", ALL & ~GROUPS, 0, 1, 30, NONE},
    {"g", GROUPS, GROUPS, 1, 4096, NONE},
    {"every", ALIGN | GROUPS | EXACT, GROUPS, 1, 4096, NONE},
    {"cut", ALIGN | GROUPS, 0, 0, 0, {"trunc", "floor", "rne", "odd"}},
    {"order", ALIGN | CHAIN, 0, 0, 0, {"up", "down", "mod4", NULL}},
    {"c", ALIGN | EXACT | CHAIN, 0, 0, 0, {"first", "last", NULL, NULL}},
    {"last", ALIGN | EXACT | CHAIN, 0, 0, 0, {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto"}},
    {"daz", STEPPING, 0, 0, 0, {"none", "sign", "plus", NULL}},
    {"ftz", STEPPING, 0, 0, 0, {"none", "after", "tiny", "before"}},
    {"products", TREE, 0, 0, 0, {"rounded", "exact", NULL, NULL}},
    {"nan", ALL & ~GROUPS, 0, 0, 0, {"cut", "kept", NULL, NULL}},
    {"scaling", ALIGN | EXACT, 0, 0, 0, {"terms", "sum", NULL, NULL}},
    {"as", ALL & ~GROUPS, 0, 0, 0, NONE},
    {"scale", ALIGN | GROUPS | EXACT, GROUPS, 0, 0, NONE},
    {"acc", CUTTING, 0, 0, 0, NONE},
    {"out", ALL, 0, 0, 0, NONE},
    {"round", ALL, 0, 0, 0, NONE},
    {"sat", ALL, 0, 0, 0, NONE},
    {"over", ALL, 0, 0, 0, {"mode", "inf", NULL, NULL}},
    {"zero", ALIGN | GROUPS | EXACT, 0, 0, 0, {"sign", "plus", "ieee", NULL}},
};

int hui_key_get(const hu_block *b, unsigned key) {
  switch (key) {
    case HU_BLOCK_KEY_L: return b->length;
    case HU_BLOCK_KEY_F: return b->kept;
    case HU_BLOCK_KEY_F2: return b->kept2;
    case HU_BLOCK_KEY_EMIN: return b->emin;
    case HU_BLOCK_KEY_LANES: return b->lanes;
    case HU_BLOCK_KEY_FAR: return b->far;
    case HU_BLOCK_KEY_BIG: return b->big;
    case HU_BLOCK_KEY_IN: return b->input;
    case HU_BLOCK_KEY_G: return b->group;
    case HU_BLOCK_KEY_EVERY: return b->every;
    case HU_BLOCK_KEY_CUT: return b->cut;
    case HU_BLOCK_KEY_ORDER: return b->order;
    case HU_BLOCK_KEY_C: return b->join;
    case HU_BLOCK_KEY_LAST: return b->last;
    case HU_BLOCK_KEY_DAZ: return b->daz;
    case HU_BLOCK_KEY_FTZ: return b->ftz;
    case HU_BLOCK_KEY_PRODUCTS: return b->products;
    case HU_BLOCK_KEY_NAN: return b->nan;
    case HU_BLOCK_KEY_SCALING: return b->scaling;
    case HU_BLOCK_KEY_ZERO: return b->zero;
    default: return b->over;
  }
}

void hui_key_set(hu_block *b, unsigned key, int value) {
  switch (key) {
    case HU_BLOCK_KEY_L: b->length = (uint16_t)value; break;
    case HU_BLOCK_KEY_F: b->kept = (uint16_t)value; break;
    case HU_BLOCK_KEY_F2: b->kept2 = (uint16_t)value; break;
    case HU_BLOCK_KEY_EMIN: b->emin = (int16_t)value; break;
    case HU_BLOCK_KEY_LANES: b->lanes = (uint8_t)value; break;
    case HU_BLOCK_KEY_FAR: b->far = (uint16_t)value; break;
    case HU_BLOCK_KEY_BIG: b->big = (uint16_t)value; break;
    case HU_BLOCK_KEY_IN: b->input = (uint8_t)value; break;
    case HU_BLOCK_KEY_G: b->group = (uint16_t)value; break;
    case HU_BLOCK_KEY_EVERY: b->every = (uint16_t)value; break;
    case HU_BLOCK_KEY_CUT: b->cut = (uint8_t)value; break;
    case HU_BLOCK_KEY_ORDER: b->order = (uint8_t)value; break;
    case HU_BLOCK_KEY_C: b->join = (uint8_t)value; break;
    case HU_BLOCK_KEY_LAST: b->last = (uint8_t)value; break;
    case HU_BLOCK_KEY_DAZ: b->daz = (uint8_t)value; break;
    case HU_BLOCK_KEY_FTZ: b->ftz = (uint8_t)value; break;
    case HU_BLOCK_KEY_PRODUCTS: b->products = (uint8_t)value; break;
    case HU_BLOCK_KEY_NAN: b->nan = (uint8_t)value; break;
    case HU_BLOCK_KEY_SCALING: b->scaling = (uint8_t)value; break;
    case HU_BLOCK_KEY_ZERO: b->zero = (uint8_t)value; break;
    default: b->over = (uint8_t)value; break;
  }
}

static int is_absent(hu_format f) {
  hu_format none;
  memset(&none, 0, sizeof none);
  return hu_format_equal(f, none);
}

/* Scales are unsigned, and their significands' products short: see hui_accum_usable. Those of a block's sum are one for
 * a block, and C comes after them. */
static unsigned scale_clash(const hu_accum *accum) {
  const hu_block *b = &accum->block;
  if (b->scaling && (b->join != HU_BLOCK_JOIN_LAST || !b->every || b->order)) return HU_BLOCK_KEY_SCALING;
  if (is_absent(b->scale)) return b->every ? HU_BLOCK_KEY_EVERY : HU_BLOCK_KEY_COUNT;
  if (b->scaling && b->every % b->length) return HU_BLOCK_KEY_EVERY;
  if (b->rule == HU_BLOCK_EXACT && !b->scaling) return HU_BLOCK_KEY_SCALE;
  if (!b->every || b->scale.sign || b->scale.inf != HU_INF_NONE) return HU_BLOCK_KEY_SCALE;
  return b->scale.m > (b->rule == HU_BLOCK_ALIGN ? 0 : 3) ? HU_BLOCK_KEY_SCALE : HU_BLOCK_KEY_COUNT;
}

unsigned hui_key_clash(const hu_accum *accum) {
  const hu_block *b = &accum->block;
  if (b->rule == HU_BLOCK_LATE && b->kept2 < b->kept) return HU_BLOCK_KEY_F2;
  if (b->rule == HU_BLOCK_GROUPS && (b->length % b->group || b->every % b->group)) return HU_BLOCK_KEY_G;
  if (b->rule == HU_BLOCK_TREE && (b->length & (b->length - 1))) return HU_BLOCK_KEY_L;
  if (b->products && b->length != 2) return HU_BLOCK_KEY_PRODUCTS;
  if (b->last && b->join != HU_BLOCK_JOIN_LAST) return HU_BLOCK_KEY_LAST;
  if (b->nan && !b->input) return HU_BLOCK_KEY_NAN;
  if (b->zero && (b->zero == HU_BLOCK_ZERO_IEEE) != (b->rule == HU_BLOCK_EXACT)) return HU_BLOCK_KEY_ZERO;
  if (b->order == (b->rule == HU_BLOCK_CHAIN ? HU_BLOCK_ORDER_MOD4 : HU_BLOCK_ORDER_DOWN)) return HU_BLOCK_KEY_ORDER;
  if (b->order == HU_BLOCK_ORDER_MOD4 && b->length % 2) return HU_BLOCK_KEY_L;
  if (b->over && accum->sum.inf == HU_INF_NONE) return HU_BLOCK_KEY_OVER;
  return scale_clash(accum);
}
