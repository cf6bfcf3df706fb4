/* SPDX-License-Identifier: MIT */
/* hu_accum_text turns an accumulation model into its text. */
#include "emu/accum/text.h"

#include <string.h>

#include "emu/accum/block_keys.h"
#include "emu/base/text.h"

static void put_format(hu_writer *w, hu_format f) {
  char text[HU_FORMAT_TEXT_MAX];
  const char *id = hu_format_id(f);
  if (!id && hu_format_text(text, sizeof text, f) == 0) id = "?"; /* which no reader accepts */
  hui_put(w, id ? id : text);
}

static const char *policy(uint8_t saturate) {
  static const char *const names[] = {"default", "none", "finite", "propagate"};
  return saturate <= HU_SAT_PROPAGATE ? names[saturate] : "?";
}

static void put_rounding(hu_writer *w, hu_mode mode, const char *round_key) {
  char text[8];
  if (mode.round != HU_RNE || mode.bits) {
    hui_put(w, round_key);
    hui_put(w, hu_mode_round_text(text, mode));
  }
  if (mode.saturate) {
    hui_put(w, ",sat=");
    hui_put(w, policy(mode.saturate));
  }
}

/* "NAME(" FORMAT ROUNDING ")" */
static void put_plain(hu_writer *w, const char *name, const hu_accum *x) {
  hui_put(w, name);
  put_format(w, x->sum);
  put_rounding(w, x->mode, ",");
  hui_put(w, ")");
}

static void put_key(hu_writer *w, unsigned key) {
  hui_put(w, ",");
  hui_put(w, hu_block_keys[key].name);
  hui_put(w, "=");
}

static void put_number_or_word(hu_writer *w, const hu_block *b, unsigned key) {
  const hu_block_key *k = &hu_block_keys[key];
  int value = hui_key_get(b, key);
  if (value == 0 && !(k->wanted >> b->rule & 1)) return;
  put_key(w, key);
  if (key <= HU_BLOCK_KEY_EVERY) {
    hui_put_number(w, value);
  } else {
    hui_put(w, value < HU_BLOCK_KEY_WORDS && k->words[value] ? k->words[value] : "?");
  }
}

/* KEY=FORMAT unless it is the one that an absent key means. */
static void put_format_key(hu_writer *w, unsigned key, hu_format f, hu_format absent) {
  if (hu_format_equal(f, absent)) return;
  put_key(w, key);
  put_format(w, f);
}

static void put_formats(hu_writer *w, const hu_accum *x) {
  const hu_block *b = &x->block;
  hu_format none;
  memset(&none, 0, sizeof none);
  put_format_key(w, HU_BLOCK_KEY_AS, b->as, none);
  put_format_key(w, HU_BLOCK_KEY_SCALE, b->scale, none);
  if (hu_block_keys[HU_BLOCK_KEY_ACC].rules >> b->rule & 1) put_format_key(w, HU_BLOCK_KEY_ACC, x->product, x->sum);
  put_format_key(w, HU_BLOCK_KEY_OUT, x->sum, hui_format_binary32());
}

static void put_block(hu_writer *w, const hu_accum *x) {
  hui_put(w, "block(");
  hui_put(w, x->block.rule < HU_BLOCK_RULES ? hu_rule_names[x->block.rule] : "?");
  if (x->block.rule < HU_BLOCK_RULES) {
    for (unsigned key = 0; key < HU_BLOCK_KEY_AS; key++) put_number_or_word(w, &x->block, key);
    put_formats(w, x);
    put_rounding(w, x->mode, ",round=");
    put_number_or_word(w, &x->block, HU_BLOCK_KEY_OVER);
    put_number_or_word(w, &x->block, HU_BLOCK_KEY_ZERO);
  }
  hui_put(w, ")");
}

static void put_two(hu_writer *w, hu_format first, const hu_accum *x) {
  put_format(w, first);
  hui_put(w, ",");
  put_plain(w, "", x);
}

static void put_length(hu_writer *w, uint32_t n) {
  if (n > 0x7FFFFFFF) {
    hui_put(w, "?");
  } else {
    hui_put_number(w, (int)n);
  }
}

static void put_base(hu_writer *w, const hu_accum *x) {
  switch (x->kind) {
    case HU_ACCUM_EXACT: hui_put(w, "exact"); break;
    case HU_ACCUM_FP32: hui_put(w, "fp32"); break;
    case HU_ACCUM_FP64: hui_put(w, "fp64"); break;
    case HU_ACCUM_SEQ: put_plain(w, "seq(", x); break;
    case HU_ACCUM_SEQ2:
      hui_put(w, "seq2(");
      if (hu_format_equal(x->product, x->sum)) {
        put_plain(w, "", x);
      } else {
        put_two(w, x->product, x);
      }
      break;
    case HU_ACCUM_CHUNK:
      hui_put(w, "chunk(");
      put_length(w, x->length);
      hui_put(w, ",");
      put_two(w, x->product, x);
      break;
    case HU_ACCUM_PAIRWISE: put_plain(w, "pairwise(", x); break;
    case HU_ACCUM_STRIDED: put_plain(w, "strided(", x); break;
    case HU_ACCUM_KAHAN: put_plain(w, "kahan(", x); break;
    case HU_ACCUM_NEUMAIER: put_plain(w, "neumaier(", x); break;
    case HU_ACCUM_BLOCK: put_block(w, x); break;
    case HU_ACCUM_INT32:
      hui_put(w, x->length ? "int32(sat," : "int32");
      if (x->length) put_length(w, x->length);
      if (x->length) hui_put(w, ")");
      break;
    default: hui_put(w, "?"); break;
  }
}

static int is_bound(const hu_accum *x) {
  hu_element any[3];
  memset(any, 0, sizeof any);
  return memcmp(&x->a, &any[0], sizeof any[0]) || memcmp(&x->b, &any[1], sizeof any[1]) ||
         memcmp(&x->c, &any[2], sizeof any[2]);
}

static void put_element(hu_writer *w, hu_element e) {
  hu_format none;
  memset(&none, 0, sizeof none);
  if (e.kind >= HU_ELEMENT_KINDS || e.reserved || (e.kind && !hu_format_equal(e.format, none))) {
    hui_put(w, "?");
  } else if (e.kind) {
    hui_put(w, hu_element_names[e.kind]);
  } else if (hu_format_equal(e.format, none)) {
    hui_put(w, hu_element_names[HU_ELEMENT_CODE]);
  } else {
    put_format(w, e.format);
  }
}

static void put_takes(hu_writer *w, const hu_accum *x) {
  if (!is_bound(x)) {
    put_base(w, x);
    return;
  }
  const hu_element e[3] = {x->a, x->b, x->c};
  hui_put(w, "takes(");
  for (int i = 0; i < 3; i++) {
    put_element(w, e[i]);
    hui_put(w, ",");
  }
  put_base(w, x);
  hui_put(w, ")");
}

size_t hui_accum_write(char *text, size_t size, const hu_accum *x) {
  hu_writer w = {text, text ? size : 0, 0};
  if (x->slices) {
    hui_put(&w, "splitk(");
    put_length(&w, x->slices);
    hui_put(&w, ",");
  }
  if (x->promote) {
    hui_put(&w, "promote(");
    put_length(&w, x->promote);
    hui_put(&w, ",");
  }
  put_takes(&w, x);
  if (x->promote) {
    hui_put(&w, ",");
    put_format(&w, x->promoted);
    hui_put(&w, x->scaled ? ",scaled)" : ")");
  }
  if (x->slices) hui_put(&w, ")");
  return hui_put_end(&w);
}

size_t hu_accum_text(char *text, size_t size, const hu_accum *accum) {
  return hu_accum_check(accum) == HU_OK ? hui_accum_write(text, size, accum) : 0;
}

size_t hu_accum_takes(char *text, size_t size, const hu_accum *accum) {
  static const char *const names[3] = {"A ", "B ", "C "};
  const hu_element any = {0}, e[3] = {accum->a, accum->b, accum->c};
  hu_writer w = {text, text ? size : 0, 0};
  for (int i = 0; i < 3; i++) {
    if (memcmp(&e[i], &any, sizeof any) == 0) continue;
    if (w.length) hui_put(&w, ", ");
    hui_put(&w, names[i]);
    put_element(&w, e[i]);
  }
  return hui_put_end(&w);
}
