/* SPDX-License-Identifier: MIT */
/* hu_accum_check: a record is valid if it is the one that its text parses to. Here that is decided without the text:
 * the fields that mean something in the record's kind are looked at and copied, and the copy must be the record, so
 * that all others are 0. */
#include <string.h>

#include "emu/accum/block_keys.h"

static int is_format(hu_format f) { return hu_format_check(f, NULL) == HU_OK; }

static int is_absent(hu_format f) {
  hu_format none;
  memset(&none, 0, sizeof none);
  return hu_format_equal(f, none);
}

static int copy_format(hu_format *z, hu_format x) {
  *z = x;
  return is_format(x);
}

/* What a sum does when it rounds: mode and saturation. */
static int copy_rounding(hu_mode *z, hu_mode x) {
  z->round = x.round;
  z->bits = x.bits;
  z->saturate = x.saturate;
  return hu_mode_check(*z) == HU_OK;
}

static int copy_length(uint32_t *z, uint32_t x) {
  *z = x;
  return x >= 1 && x <= INT32_MAX;
}

/* ---- block ---- */

static int takes_key(const hu_block *b, unsigned key) { return hu_block_keys[key].rules >> b->rule & 1; }
static int requires_key(const hu_block *b, unsigned key) { return hu_block_keys[key].wanted >> b->rule & 1; }

/* A number or a word; 0 is that of an absent key. */
static int copy_key(hu_block *z, const hu_block *x, unsigned key) {
  const hu_block_key *k = &hu_block_keys[key];
  int value = hui_key_get(x, key);
  if (value == 0 && !requires_key(x, key)) return 1;
  if (!takes_key(x, key)) return 0;
  hui_key_set(z, key, value);
  if (key <= HU_BLOCK_KEY_EVERY) return value >= k->low && value <= k->high;
  return value < HU_BLOCK_KEY_WORDS && k->words[value];
}

static int copy_format_key(hu_format *z, hu_format x, const hu_block *b, unsigned key) {
  if (is_absent(x)) return !requires_key(b, key);
  return takes_key(b, key) && copy_format(z, x);
}

static int copy_block(hu_accum *z, const hu_accum *x) {
  const hu_block *b = &x->block;
  if (b->rule >= HU_BLOCK_RULES) return 0;
  z->block.rule = b->rule;
  for (unsigned key = 0; key < HU_BLOCK_KEY_AS; key++) {
    if (!copy_key(&z->block, b, key)) return 0;
  }
  if (!copy_key(&z->block, b, HU_BLOCK_KEY_OVER) || !copy_key(&z->block, b, HU_BLOCK_KEY_ZERO) ||
      !copy_format_key(&z->block.as, b->as, b, HU_BLOCK_KEY_AS) ||
      !copy_format_key(&z->block.scale, b->scale, b, HU_BLOCK_KEY_SCALE))
    return 0;
  if (takes_key(b, HU_BLOCK_KEY_ACC) && !copy_format(&z->product, x->product)) return 0;
  return copy_format(&z->sum, x->sum) && copy_rounding(&z->mode, x->mode) && hui_key_clash(z) == HU_BLOCK_KEY_COUNT;
}

/* ---- the kinds ---- */

static int copy_kind(hu_accum *z, const hu_accum *x) {
  switch (x->kind) {
    case HU_ACCUM_EXACT:
    case HU_ACCUM_FP32:
    case HU_ACCUM_FP64: return 1;
    case HU_ACCUM_INT32: return x->length == 0 || copy_length(&z->length, x->length);
    case HU_ACCUM_BLOCK: return copy_block(z, x);
    case HU_ACCUM_CHUNK:
      if (!copy_length(&z->length, x->length)) return 0;
      /* fall through */
    case HU_ACCUM_SEQ2:
      if (!copy_format(&z->product, x->product)) return 0;
      break;
    default:
      if (x->kind >= HU_ACCUM_COUNT) return 0;
      break;
  }
  return copy_format(&z->sum, x->sum) && copy_rounding(&z->mode, x->mode);
}

/* A model that sums without a rounding of its own, or in another arithmetic, stands alone. */
static int can_nest(uint32_t kind) { return kind != HU_ACCUM_EXACT && kind != HU_ACCUM_FP64 && kind != HU_ACCUM_INT32; }

static int copy_nesting(hu_accum *z, const hu_accum *x) {
  if ((x->promote || x->slices) && !can_nest(x->kind)) return 0;
  if (x->slices && !copy_length(&z->slices, x->slices)) return 0;
  if (!x->promote) return 1;
  z->scaled = x->scaled;
  if (x->scaled > 1 || (x->scaled && x->block.every)) return 0;
  return copy_length(&z->promote, x->promote) && copy_format(&z->promoted, x->promoted);
}

static int copy_element(hu_element *z, hu_element x) {
  z->kind = x.kind;
  if (x.kind >= HU_ELEMENT_KINDS) return 0;
  return x.kind != HU_ELEMENT_CODE || is_absent(x.format) || copy_format(&z->format, x.format);
}

hu_status hu_accum_check(const hu_accum *accum) {
  hu_accum z;
  if (!accum) return HU_E_NULL;
  memset(&z, 0, sizeof z);
  z.kind = accum->kind;
  if (!copy_kind(&z, accum) || !copy_nesting(&z, accum)) return HU_E_ACCUM;
  if (!copy_element(&z.a, accum->a) || !copy_element(&z.b, accum->b) || !copy_element(&z.c, accum->c))
    return HU_E_ACCUM;
  /* Neither record has padding. */
  return memcmp(&z, accum, sizeof z) == 0 ? HU_OK : HU_E_ACCUM;
}
