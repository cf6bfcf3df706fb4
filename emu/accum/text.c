/* SPDX-License-Identifier: MIT */
/* hu_accum_text turns an accumulation model into its text. */
#include "emu/accum/text.h"

#include <string.h>

#include "emu/accum/block_keys.h"
#include "emu/base/text.h"

static void put_format(hu_writer *writer, hu_format format) {
  char text[HU_FORMAT_TEXT_MAX];
  const char *id = hu_format_id(format);
  if (!id && hu_format_text(text, sizeof text, format) == 0) id = "?"; /* which no reader accepts */
  hui_put(writer, id ? id : text);
}

static const char *policy(uint8_t saturate) {
  static const char *const names[] = {"default", "none", "finite", "propagate"};
  return saturate <= HU_SAT_PROPAGATE ? names[saturate] : "?";
}

static void put_rounding(hu_writer *writer, hu_mode mode, const char *round_key) {
  char text[8];
  if (mode.round != HU_RNE || mode.bits) {
    hui_put(writer, round_key);
    hui_put(writer, hu_mode_round_text(text, mode));
  }
  if (mode.saturate) {
    hui_put(writer, ",sat=");
    hui_put(writer, policy(mode.saturate));
  }
}

/* Writes "NAME(" FORMAT ROUNDING ")". */
static void put_plain(hu_writer *writer, const char *name, const hu_accum *accum) {
  hui_put(writer, name);
  put_format(writer, accum->sum);
  put_rounding(writer, accum->mode, ",");
  hui_put(writer, ")");
}

static void put_key(hu_writer *writer, unsigned key) {
  hui_put(writer, ",");
  hui_put(writer, hu_block_key_at(key)->name);
  hui_put(writer, "=");
}

static void put_number_or_word(hu_writer *writer, const hu_block *block, unsigned key) {
  int value = hu_block_key_get(block, key);
  if (value == 0 && !hui_key_required(block, key)) return;
  put_key(writer, key);
  if (hui_key_is_word(key)) {
    const char *word = hui_key_word(key, value);
    hui_put(writer, word ? word : "?");
  } else {
    hui_put_number(writer, value);
  }
}

/* Writes KEY=FORMAT unless it is the one that an absent key means. */
static void put_format_key(hu_writer *writer, unsigned key, hu_format format, hu_format absent) {
  if (hu_format_equal(format, absent)) return;
  put_key(writer, key);
  put_format(writer, format);
}

static void put_formats(hu_writer *writer, const hu_accum *accum) {
  const hu_block *block = &accum->block;
  const hu_format none = {0};
  put_format_key(writer, HU_BLOCK_KEY_AS, block->as, none);
  put_format_key(writer, HU_BLOCK_KEY_SCALE, block->scale, none);
  if (hui_key_taken(block, HU_BLOCK_KEY_ACC)) put_format_key(writer, HU_BLOCK_KEY_ACC, accum->product, accum->sum);
  put_format_key(writer, HU_BLOCK_KEY_OUT, accum->sum, hui_format_binary32());
}

static void put_block(hu_writer *writer, const hu_accum *accum) {
  hui_put(writer, "block(");
  hui_put(writer, accum->block.rule < HU_BLOCK_RULES ? hu_rule_names[accum->block.rule] : "?");
  if (accum->block.rule < HU_BLOCK_RULES) {
    for (unsigned key = 0; key < HU_BLOCK_KEY_AS; key++) put_number_or_word(writer, &accum->block, key);
    put_formats(writer, accum);
    put_rounding(writer, accum->mode, ",round=");
    for (unsigned key = HU_BLOCK_KEY_SAT + 1; key < HU_BLOCK_KEY_COUNT; key++)
      put_number_or_word(writer, &accum->block, key);
    put_format_key(writer, HU_BLOCK_KEY_VIA, accum->block.via, (hu_format){0});
  }
  hui_put(writer, ")");
}

static void put_two(hu_writer *writer, hu_format first, const hu_accum *accum) {
  put_format(writer, first);
  hui_put(writer, ",");
  put_plain(writer, "", accum);
}

static void put_length(hu_writer *writer, uint32_t n) {
  if (n > 0x7FFFFFFF) {
    hui_put(writer, "?");
  } else {
    hui_put_number(writer, (int)n);
  }
}

static void put_base(hu_writer *writer, const hu_accum *accum) {
  switch (accum->kind) {
    case HU_ACCUM_EXACT: hui_put(writer, "exact"); break;
    case HU_ACCUM_FP32: hui_put(writer, "fp32"); break;
    case HU_ACCUM_FP64: hui_put(writer, "fp64"); break;
    case HU_ACCUM_SEQ: put_plain(writer, "seq(", accum); break;
    case HU_ACCUM_SEQ2:
      hui_put(writer, "seq2(");
      if (hu_format_equal(accum->product, accum->sum)) {
        put_plain(writer, "", accum);
      } else {
        put_two(writer, accum->product, accum);
      }
      break;
    case HU_ACCUM_CHUNK:
      hui_put(writer, "chunk(");
      put_length(writer, accum->length);
      hui_put(writer, ",");
      put_two(writer, accum->product, accum);
      break;
    case HU_ACCUM_PAIRWISE: put_plain(writer, "pairwise(", accum); break;
    case HU_ACCUM_STRIDED: put_plain(writer, "strided(", accum); break;
    case HU_ACCUM_KAHAN: put_plain(writer, "kahan(", accum); break;
    case HU_ACCUM_NEUMAIER: put_plain(writer, "neumaier(", accum); break;
    case HU_ACCUM_BLOCK: put_block(writer, accum); break;
    case HU_ACCUM_INT32:
      hui_put(writer, accum->length ? "int32(sat," : "int32");
      if (accum->length) put_length(writer, accum->length);
      if (accum->length) hui_put(writer, ")");
      break;
    default: hui_put(writer, "?"); break;
  }
}

static int is_bound(const hu_accum *accum) {
  hu_type any[3];
  memset(any, 0, sizeof any);
  return memcmp(&accum->a, &any[0], sizeof any[0]) || memcmp(&accum->b, &any[1], sizeof any[1]) ||
         memcmp(&accum->c, &any[2], sizeof any[2]);
}

static void put_type(hu_writer *writer, const hu_type *type) {
  hu_format none;
  memset(&none, 0, sizeof none);
  const char *name = type->kind < HU_TYPE_KINDS ? hu_type_names[type->kind] : NULL;
  if (type->kind == HU_TYPE_CODES && !type->reserved && !type->number) {
    put_format(writer, type->format);
  } else {
    int valid = name && !type->reserved && !type->number && hu_format_equal(type->format, none);
    hui_put(writer, valid ? name : "?");
  }
}

static void put_takes(hu_writer *writer, const hu_accum *accum) {
  if (!is_bound(accum)) {
    put_base(writer, accum);
    return;
  }
  const hu_type type[3] = {accum->a, accum->b, accum->c};
  hui_put(writer, "takes(");
  for (int i = 0; i < 3; i++) {
    put_type(writer, &type[i]);
    hui_put(writer, ",");
  }
  put_base(writer, accum);
  hui_put(writer, ")");
}

size_t hui_accum_write(char *text, size_t size, const hu_accum *accum) {
  hu_writer writer = {text, text ? size : 0, 0};
  if (accum->slices) {
    hui_put(&writer, "splitk(");
    put_length(&writer, accum->slices);
    hui_put(&writer, ",");
  }
  if (accum->promote) {
    hui_put(&writer, "promote(");
    put_length(&writer, accum->promote);
    hui_put(&writer, ",");
  }
  put_takes(&writer, accum);
  if (accum->promote) {
    hui_put(&writer, ",");
    put_format(&writer, accum->promoted);
    hui_put(&writer, accum->scaled ? ",scaled)" : ")");
  }
  if (accum->slices) hui_put(&writer, ")");
  return hui_put_end(&writer);
}

size_t hu_accum_text(char *text, size_t size, const hu_accum *accum) {
  return hu_accum_check(accum) == HU_OK ? hui_accum_write(text, size, accum) : 0;
}

size_t hu_accum_takes(char *text, size_t size, const hu_accum *accum) {
  static const char *const names[3] = {"A ", "B ", "C "};
  const hu_type any = {0}, type[3] = {accum->a, accum->b, accum->c};
  hu_writer writer = {text, text ? size : 0, 0};
  for (int i = 0; i < 3; i++) {
    if (memcmp(&type[i], &any, sizeof any) == 0) continue;
    if (writer.length) hui_put(&writer, ", ");
    hui_put(&writer, names[i]);
    put_type(&writer, &type[i]);
  }
  return hui_put_end(&writer);
}
