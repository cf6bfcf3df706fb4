/* SPDX-License-Identifier: MIT */
/* hu_accum_parse: turns a text into an accumulation model. The grammar stands in halfulp/accum.h. */
#include <string.h>

#include "emu/accum/block_keys.h"
#include "emu/accum/presets.h"
#include "emu/format/reader.h"

enum { MODEL_ANY, MODEL_IN_SPLITK, MODEL_IN_PROMOTE }; /* where a model stands */

/* ---- block ---- */

typedef struct block_reader {
  size_t at[HU_BLOCK_KEY_COUNT]; /* where each value stands */
  uint64_t seen;
} block_reader;

static int read_word_key(hu_reader *reader, hu_block *block, unsigned key) {
  const char *const *words = hu_block_key_at(key)->words;
  for (int i = 0; words[i]; i++) {
    if (!hui_reader_word(reader, words[i])) continue;
    hu_block_key_set(block, key, i);
    return 1;
  }
  return hui_reader_failed(reader, reader->at, HU_E_TEXT);
}

static int read_value(hu_reader *reader, hu_accum *accum, unsigned key) {
  const hu_block_key *row = hu_block_key_at(key);
  int64_t n;
  switch (key) {
    case HU_BLOCK_KEY_AS: return hui_reader_format(reader, &accum->block.as);
    case HU_BLOCK_KEY_SCALE: return hui_reader_format(reader, &accum->block.scale);
    case HU_BLOCK_KEY_VIA: return hui_reader_format(reader, &accum->block.via);
    case HU_BLOCK_KEY_ACC: return hui_reader_format(reader, &accum->product);
    case HU_BLOCK_KEY_OUT: return hui_reader_format(reader, &accum->sum);
    case HU_BLOCK_KEY_ROUND: return hui_reader_mode_word(reader, &accum->mode, hu_mode_round_parse);
    case HU_BLOCK_KEY_SAT: return hui_reader_mode_word(reader, &accum->mode, hu_mode_saturate_parse);
    default: break;
  }
  if (row->words[0]) return read_word_key(reader, &accum->block, key);
  if (!hui_reader_number(reader, row->low, row->high, &n)) return 0;
  hu_block_key_set(&accum->block, key, (int)n);
  return 1;
}

static int read_key(hu_reader *reader, hu_accum *accum, block_reader *keys) {
  size_t n = strcspn(reader->text + reader->at, "=,)");
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    const hu_block_key *entry = hu_block_key_at(key);
    if (strlen(entry->name) != n || strncmp(reader->text + reader->at, entry->name, n) != 0) continue;
    if (!hui_key_taken(&accum->block, key) || keys->seen >> key & 1)
      return hui_reader_failed(reader, reader->at, HU_E_TEXT);
    reader->at += n;
    if (!hui_reader_mark(reader, '=')) return 0;
    keys->seen |= (uint64_t)1 << key;
    keys->at[key] = reader->at;
    return read_value(reader, accum, key);
  }
  return hui_reader_failed(reader, reader->at, HU_E_TEXT);
}

static int read_rule(hu_reader *reader, uint8_t *rule) {
  for (uint8_t i = 0; i < HU_BLOCK_RULES; i++) {
    if (!hui_reader_word(reader, hu_rule_names[i])) continue;
    *rule = i;
    return 1;
  }
  return hui_reader_failed(reader, reader->at, HU_E_TEXT);
}

/* "block(" has been read. */
static int read_block(hu_reader *reader, hu_accum *accum) {
  block_reader keys;
  memset(&keys, 0, sizeof keys);
  if (!read_rule(reader, &accum->block.rule)) return 0;
  accum->sum = hui_format_binary32();
  size_t end = reader->at;
  while (hui_reader_passed(reader, ',')) {
    if (!read_key(reader, accum, &keys)) return 0;
    end = reader->at;
  }
  if (!hui_reader_mark(reader, ')')) return 0;
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    if (hui_key_required(&accum->block, key) && !(keys.seen >> key & 1))
      return hui_reader_failed(reader, end, HU_E_TEXT);
  }
  int aligned = hui_key_taken(&accum->block, HU_BLOCK_KEY_ACC);
  if (aligned && !(keys.seen >> HU_BLOCK_KEY_ACC & 1)) accum->product = accum->sum;
  unsigned clash = hui_key_clash(accum);
  return clash == HU_BLOCK_KEY_COUNT || hui_reader_failed(reader, keys.at[clash] ? keys.at[clash] : end, HU_E_TEXT);
}

/* ---- the other models ---- */

static int read_seq2(hu_reader *reader, hu_accum *accum) {
  if (!hui_reader_format(reader, &accum->sum)) return 0;
  accum->product = accum->sum;
  hu_reader ahead = *reader;
  if (hui_reader_passed(&ahead, ',') && hui_reader_format(&ahead, &accum->sum)) *reader = ahead;
  return hui_reader_rounding(reader, &accum->mode);
}

static int read_chunk(hu_reader *reader, hu_accum *accum) {
  return hui_reader_length(reader, &accum->length) && hui_reader_mark(reader, ',') &&
         hui_reader_format(reader, &accum->product) && hui_reader_mark(reader, ',') &&
         hui_reader_format(reader, &accum->sum) && hui_reader_rounding(reader, &accum->mode);
}

static int read_model(hu_reader *reader, hu_accum *accum, int place);

/* "promote" has been read. */
static int read_promote(hu_reader *reader, hu_accum *accum) {
  uint32_t n;
  if (!hui_reader_mark(reader, '(') || !hui_reader_length(reader, &n) || !hui_reader_mark(reader, ',') ||
      !read_model(reader, accum, MODEL_IN_PROMOTE))
    return 0;
  accum->promote = n;
  if (!hui_reader_mark(reader, ',') || !hui_reader_format(reader, &accum->promoted)) return 0;
  if (hui_reader_passed(reader, ',')) {
    if (!hui_reader_word(reader, "scaled") || accum->block.every)
      return hui_reader_failed(reader, reader->at, HU_E_TEXT);
    accum->scaled = 1;
  }
  return hui_reader_mark(reader, ')');
}

/* "splitk" has been read. */
static int read_splitk(hu_reader *reader, hu_accum *accum) {
  uint32_t n;
  if (!hui_reader_mark(reader, '(') || !hui_reader_length(reader, &n) || !hui_reader_mark(reader, ',') ||
      !read_model(reader, accum, MODEL_IN_SPLITK))
    return 0;
  accum->slices = n;
  return hui_reader_mark(reader, ')');
}

static int read_int32(hu_reader *reader, hu_accum *accum) {
  if (reader->text[reader->at] != '(') return 1;
  reader->at++;
  if (!hui_reader_word(reader, "sat")) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  return hui_reader_mark(reader, ',') && hui_reader_length(reader, &accum->length) && hui_reader_mark(reader, ')');
}

static int read_preset(hu_reader *reader, hu_accum *accum, size_t n) {
  hu_accum_preset found;
  char name[sizeof found.name];
  size_t letters = strspn(reader->text + reader->at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
  if (letters < n || strchr("0123456789_.", reader->text[reader->at]))
    return hui_reader_failed(reader, reader->at + (letters < n ? letters : 0), HU_E_TEXT);
  if (n >= sizeof name) return hui_reader_failed(reader, reader->at, HU_E_NAME);
  memcpy(name, reader->text + reader->at, n);
  name[n] = 0;
  const char *model = hui_accum_preset_text_of(&found, name);
  if (!model || hui_accum_preset_read(&found, model) != HU_OK) return hui_reader_failed(reader, reader->at, HU_E_NAME);
  *accum = found.accum;
  reader->at += n;
  return 1;
}

/* What follows a kind's name. */
static int read_arguments(hu_reader *reader, hu_accum *accum) {
  if (accum->kind == HU_ACCUM_INT32) return read_int32(reader, accum);
  if (accum->kind <= HU_ACCUM_FP64) return 1;
  if (!hui_reader_mark(reader, '(')) return 0;
  if (accum->kind == HU_ACCUM_SEQ2) return read_seq2(reader, accum);
  if (accum->kind == HU_ACCUM_CHUNK) return read_chunk(reader, accum);
  if (accum->kind == HU_ACCUM_BLOCK) return read_block(reader, accum);
  return hui_reader_format(reader, &accum->sum) && hui_reader_rounding(reader, &accum->mode);
}

static int read_plain(hu_reader *reader, hu_accum *accum, int place);
static int read_model(hu_reader *reader, hu_accum *accum, int place);

static int read_type(hu_reader *reader, hu_type *type) {
  memset(type, 0, sizeof *type);
  for (uint16_t kind = 0; kind < HU_TYPE_KINDS; kind++) {
    if (!hu_type_names[kind] || !hui_reader_word(reader, hu_type_names[kind])) continue;
    type->kind = kind;
    return 1;
  }
  type->kind = HU_TYPE_CODES;
  return hui_reader_format(reader, &type->format);
}

/* "takes" has been read. */
static int read_takes(hu_reader *reader, hu_accum *accum, int place) {
  hu_type type[3];
  if (!hui_reader_mark(reader, '(')) return 0;
  for (int i = 0; i < 3; i++) {
    if (!read_type(reader, &type[i]) || !hui_reader_mark(reader, ',')) return 0;
  }
  size_t start = reader->at;
  if (!read_plain(reader, accum, place)) return 0;
  const hu_accum plain = hu_accum_any(*accum);
  if (memcmp(&plain, accum, sizeof plain) != 0) return hui_reader_failed(reader, start, HU_E_TEXT);
  accum->a = type[0];
  accum->b = type[1];
  accum->c = type[2];
  return hui_reader_mark(reader, ')');
}

static int read_bound(hu_reader *reader, hu_accum *accum, int place) {
  return hui_reader_passed_name(reader, "takes") ? read_takes(reader, accum, place) : read_plain(reader, accum, place);
}

/* "any" has been read; what is in it may be promoted and sliced as what stands alone, but is no any. */
static int read_any(hu_reader *reader, hu_accum *accum, int place) {
  if (!hui_reader_mark(reader, '(')) return 0;
  size_t start = reader->at;
  if (hui_reader_passed_name(reader, "any")) return hui_reader_failed(reader, start, HU_E_TEXT);
  if (!read_model(reader, accum, place)) return 0;
  *accum = hu_accum_any(*accum);
  return hui_reader_mark(reader, ')');
}

/* Reads a kind with its arguments, or a preset. */
static int read_plain(hu_reader *reader, hu_accum *accum, int place) {
  static const char *const names[HU_ACCUM_COUNT] = {"exact",    "fp32",    "fp64",  "seq",      "seq2",  "chunk",
                                                    "pairwise", "strided", "kahan", "neumaier", "block", "int32"};
  memset(accum, 0, sizeof *accum);
  size_t start = reader->at, n = strcspn(reader->text + start, "(),");
  const char *word = reader->text + start;
  if (n == 0) return hui_reader_failed(reader, start, HU_E_TEXT);
  for (uint32_t kind = 0; kind < HU_ACCUM_COUNT; kind++) {
    if (strlen(names[kind]) != n || strncmp(word, names[kind], n) != 0) continue;
    int whole = kind == HU_ACCUM_EXACT || kind == HU_ACCUM_FP64 || kind == HU_ACCUM_INT32;
    if (whole && place != MODEL_ANY) return hui_reader_failed(reader, start, HU_E_TEXT);
    accum->kind = kind;
    reader->at += n;
    return read_arguments(reader, accum);
  }
  if (!read_preset(reader, accum, n)) return 0;
  int nests = accum->kind != HU_ACCUM_FP64 && accum->kind != HU_ACCUM_INT32;
  return nests || place == MODEL_ANY || hui_reader_failed(reader, start, HU_E_TEXT);
}

static int read_model(hu_reader *reader, hu_accum *accum, int place) {
  memset(accum, 0, sizeof *accum);
  if (place == MODEL_ANY && hui_reader_passed_name(reader, "splitk")) return read_splitk(reader, accum);
  if (place != MODEL_IN_PROMOTE && hui_reader_passed_name(reader, "promote")) return read_promote(reader, accum);
  return hui_reader_passed_name(reader, "any") ? read_any(reader, accum, place) : read_bound(reader, accum, place);
}

hu_status hu_accum_parse(hu_accum *accum, const char *text, size_t *where) {
  hu_accum read;
  if (!accum || !text) return HU_E_NULL;
  hu_reader reader = {text, 0, HU_OK};
  if (read_model(&reader, &read, MODEL_ANY) && text[reader.at] != 0) reader.wrong = HU_E_TEXT;
  if (reader.wrong != HU_OK) {
    if (where) *where = reader.at;
    return reader.wrong;
  }
  *accum = read;
  return HU_OK;
}

hu_status hui_accum_preset_read(hu_accum_preset *z, const char *model) {
  hu_accum read;
  hu_status status = hu_accum_parse(&read, model, NULL);
  if (status != HU_OK) return status;
  read.a = z->accum.a;
  read.b = z->accum.b;
  read.c = z->accum.c;
  z->accum = read;
  return HU_OK;
}
