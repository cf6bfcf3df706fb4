/* SPDX-License-Identifier: MIT */
/* hu_accum_check: a record is valid if it is the one that its text parses to. Here that is decided without the text:
 * the fields that mean something in the record's kind are looked at and copied, and the copy must be the record, so
 * that all others are 0. */
#include <string.h>

#include "emu/accum/block_keys.h"

static int is_format(hu_format format) { return hu_format_check(format, NULL) == HU_OK; }

static int is_absent(hu_format format) {
  hu_format none;
  memset(&none, 0, sizeof none);
  return hu_format_equal(format, none);
}

static int copy_format(hu_format *z, hu_format x) {
  *z = x;
  return is_format(x);
}

/* Copies what a sum does when it rounds: mode and saturation. */
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

/* Copies a number or a word; 0 is that of an absent key. */
static int copy_key(hu_block *z, const hu_block *x, unsigned key) {
  const hu_block_key *entry = hu_block_key_at(key);
  int value = hu_block_key_get(x, key);
  if (value == 0 && !hui_key_required(x, key)) return 1;
  if (!hui_key_taken(x, key)) return 0;
  hu_block_key_set(z, key, value);
  return hui_key_is_word(key) ? hui_key_word(key, value) != NULL : value >= entry->low && value <= entry->high;
}

static int copy_format_key(hu_format *z, hu_format x, const hu_block *block, unsigned key) {
  if (is_absent(x)) return !hui_key_required(block, key);
  return hui_key_taken(block, key) && copy_format(z, x);
}

static int copy_block(hu_accum *z, const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (block->rule >= HU_BLOCK_RULES) return 0;
  z->block.rule = block->rule;
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    if (hui_key_has_value(key) && !copy_key(&z->block, block, key)) return 0;
  }
  if (!copy_format_key(&z->block.as, block->as, block, HU_BLOCK_KEY_AS) ||
      !copy_format_key(&z->block.scale, block->scale, block, HU_BLOCK_KEY_SCALE) ||
      !copy_format_key(&z->block.via, block->via, block, HU_BLOCK_KEY_VIA))
    return 0;
  if (hui_key_taken(block, HU_BLOCK_KEY_ACC) && !copy_format(&z->product, accum->product)) return 0;
  return copy_format(&z->sum, accum->sum) && copy_rounding(&z->mode, accum->mode) &&
         hui_key_clash(z) == HU_BLOCK_KEY_COUNT;
}

/* ---- the kinds ---- */

static int copy_kind(hu_accum *z, const hu_accum *accum) {
  switch (accum->kind) {
    case HU_ACCUM_EXACT:
    case HU_ACCUM_FP32:
    case HU_ACCUM_FP64: return 1;
    case HU_ACCUM_INT32: return accum->length == 0 || copy_length(&z->length, accum->length);
    case HU_ACCUM_BLOCK: return copy_block(z, accum);
    case HU_ACCUM_CHUNK:
      if (!copy_length(&z->length, accum->length)) return 0;
      /* fall through */
    case HU_ACCUM_SEQ2:
      if (!copy_format(&z->product, accum->product)) return 0;
      break;
    default:
      if (accum->kind >= HU_ACCUM_COUNT) return 0;
      break;
  }
  return copy_format(&z->sum, accum->sum) && copy_rounding(&z->mode, accum->mode);
}

/* Checks the kind: a model that sums without a rounding of its own, or in another arithmetic, stands alone. */
static int can_nest(uint32_t kind) { return kind != HU_ACCUM_EXACT && kind != HU_ACCUM_FP64 && kind != HU_ACCUM_INT32; }

static int copy_nesting(hu_accum *z, const hu_accum *accum) {
  if ((accum->promote || accum->slices) && !can_nest(accum->kind)) return 0;
  if (accum->slices && !copy_length(&z->slices, accum->slices)) return 0;
  if (!accum->promote) return 1;
  z->scaled = accum->scaled;
  if (accum->scaled > 1 || (accum->scaled && accum->block.every)) return 0;
  return copy_length(&z->promote, accum->promote) && copy_format(&z->promoted, accum->promoted);
}

static int copy_type(hu_type *z, hu_type x) {
  z->kind = x.kind;
  if (x.kind == HU_TYPE_CODES) return copy_format(&z->format, x.format);
  return x.kind < HU_TYPE_KINDS && hu_type_names[x.kind];
}

hu_status hu_accum_check(const hu_accum *accum) {
  hu_accum z;
  if (!accum) return HU_E_NULL;
  memset(&z, 0, sizeof z);
  z.kind = accum->kind;
  if (!copy_kind(&z, accum) || !copy_nesting(&z, accum)) return HU_E_ACCUM;
  if (!copy_type(&z.a, accum->a) || !copy_type(&z.b, accum->b) || !copy_type(&z.c, accum->c)) return HU_E_ACCUM;
  /* Neither record has padding. */
  return memcmp(&z, accum, sizeof z) == 0 ? HU_OK : HU_E_ACCUM;
}
