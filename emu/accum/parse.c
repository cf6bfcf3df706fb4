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
  uint32_t seen;
} block_reader;

static int read_word_key(hu_reader *r, hu_block *b, unsigned key) {
  for (int i = 0; i < HU_BLOCK_KEY_WORDS && hu_block_keys[key].words[i]; i++) {
    if (!hui_reader_word(r, hu_block_keys[key].words[i])) continue;
    hui_key_set(b, key, i);
    return 1;
  }
  return hui_reader_failed(r, r->at, HU_E_TEXT);
}

static int read_value(hu_reader *r, hu_accum *x, unsigned key) {
  int64_t n;
  switch (key) {
    case HU_BLOCK_KEY_AS: return hui_reader_format(r, &x->block.as);
    case HU_BLOCK_KEY_SCALE: return hui_reader_format(r, &x->block.scale);
    case HU_BLOCK_KEY_ACC: return hui_reader_format(r, &x->product);
    case HU_BLOCK_KEY_OUT: return hui_reader_format(r, &x->sum);
    case HU_BLOCK_KEY_ROUND: return hui_reader_mode_word(r, &x->mode, hu_mode_round_parse);
    case HU_BLOCK_KEY_SAT: return hui_reader_mode_word(r, &x->mode, hu_mode_saturate_parse);
    default: break;
  }
  if (key > HU_BLOCK_KEY_EVERY) return read_word_key(r, &x->block, key);
  if (!hui_reader_number(r, hu_block_keys[key].low, hu_block_keys[key].high, &n)) return 0;
  hui_key_set(&x->block, key, (int)n);
  return 1;
}

static int read_key(hu_reader *r, hu_accum *x, block_reader *b) {
  size_t n = strcspn(r->text + r->at, "=,)");
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    const hu_block_key *k = &hu_block_keys[key];
    if (strlen(k->name) != n || strncmp(r->text + r->at, k->name, n) != 0) continue;
    if (!(k->rules >> x->block.rule & 1) || b->seen >> key & 1) return hui_reader_failed(r, r->at, HU_E_TEXT);
    r->at += n;
    if (!hui_reader_mark(r, '=')) return 0;
    b->seen |= 1u << key;
    b->at[key] = r->at;
    return read_value(r, x, key);
  }
  return hui_reader_failed(r, r->at, HU_E_TEXT);
}

static int read_rule(hu_reader *r, uint8_t *rule) {
  for (uint8_t i = 0; i < HU_BLOCK_RULES; i++) {
    if (!hui_reader_word(r, hu_rule_names[i])) continue;
    *rule = i;
    return 1;
  }
  return hui_reader_failed(r, r->at, HU_E_TEXT);
}

/* "block(" has been read. */
static int read_block(hu_reader *r, hu_accum *x) {
  block_reader b;
  memset(&b, 0, sizeof b);
  if (!read_rule(r, &x->block.rule)) return 0;
  x->sum = hui_format_binary32();
  size_t end = r->at;
  while (hui_reader_passed(r, ',')) {
    if (!read_key(r, x, &b)) return 0;
    end = r->at;
  }
  if (!hui_reader_mark(r, ')')) return 0;
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    if (hu_block_keys[key].wanted >> x->block.rule & 1 && !(b.seen >> key & 1))
      return hui_reader_failed(r, end, HU_E_TEXT);
  }
  int aligned = hu_block_keys[HU_BLOCK_KEY_ACC].rules >> x->block.rule & 1;
  if (aligned && !(b.seen >> HU_BLOCK_KEY_ACC & 1)) x->product = x->sum;
  unsigned clash = hui_key_clash(x);
  return clash == HU_BLOCK_KEY_COUNT || hui_reader_failed(r, b.at[clash] ? b.at[clash] : end, HU_E_TEXT);
}

/* ---- the other models ---- */

static int read_seq2(hu_reader *r, hu_accum *x) {
  if (!hui_reader_format(r, &x->sum)) return 0;
  x->product = x->sum;
  hu_reader ahead = *r;
  if (hui_reader_passed(&ahead, ',') && hui_reader_format(&ahead, &x->sum)) *r = ahead;
  return hui_reader_rounding(r, &x->mode);
}

static int read_chunk(hu_reader *r, hu_accum *x) {
  return hui_reader_length(r, &x->length) && hui_reader_mark(r, ',') && hui_reader_format(r, &x->product) &&
         hui_reader_mark(r, ',') && hui_reader_format(r, &x->sum) && hui_reader_rounding(r, &x->mode);
}

static int read_model(hu_reader *r, hu_accum *x, int place);

/* "promote" has been read. */
static int read_promote(hu_reader *r, hu_accum *x) {
  uint32_t n;
  if (!hui_reader_mark(r, '(') || !hui_reader_length(r, &n) || !hui_reader_mark(r, ',') ||
      !read_model(r, x, MODEL_IN_PROMOTE))
    return 0;
  x->promote = n;
  if (!hui_reader_mark(r, ',') || !hui_reader_format(r, &x->promoted)) return 0;
  if (hui_reader_passed(r, ',')) {
    if (!hui_reader_word(r, "scaled") || x->block.every) return hui_reader_failed(r, r->at, HU_E_TEXT);
    x->scaled = 1;
  }
  return hui_reader_mark(r, ')');
}

/* "splitk" has been read. */
static int read_splitk(hu_reader *r, hu_accum *x) {
  uint32_t n;
  if (!hui_reader_mark(r, '(') || !hui_reader_length(r, &n) || !hui_reader_mark(r, ',') ||
      !read_model(r, x, MODEL_IN_SPLITK))
    return 0;
  x->slices = n;
  return hui_reader_mark(r, ')');
}

static int read_int32(hu_reader *r, hu_accum *x) {
  if (r->text[r->at] != '(') return 1;
  r->at++;
  if (!hui_reader_word(r, "sat")) return hui_reader_failed(r, r->at, HU_E_TEXT);
  return hui_reader_mark(r, ',') && hui_reader_length(r, &x->length) && hui_reader_mark(r, ')');
}

static int read_preset(hu_reader *r, hu_accum *x, size_t n) {
  hu_accum_preset found;
  char name[sizeof found.name];
  size_t letters = strspn(r->text + r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
  if (letters < n || strchr("0123456789_.", r->text[r->at]))
    return hui_reader_failed(r, r->at + (letters < n ? letters : 0), HU_E_TEXT);
  if (n >= sizeof name) return hui_reader_failed(r, r->at, HU_E_NAME);
  memcpy(name, r->text + r->at, n);
  name[n] = 0;
  const char *model = hui_accum_preset_text_of(&found, name);
  if (!model || hui_accum_preset_read(&found, model) != HU_OK) return hui_reader_failed(r, r->at, HU_E_NAME);
  *x = found.accum;
  r->at += n;
  return 1;
}

/* What follows a kind's name. */
static int read_arguments(hu_reader *r, hu_accum *x) {
  if (x->kind == HU_ACCUM_INT32) return read_int32(r, x);
  if (x->kind <= HU_ACCUM_FP64) return 1;
  if (!hui_reader_mark(r, '(')) return 0;
  if (x->kind == HU_ACCUM_SEQ2) return read_seq2(r, x);
  if (x->kind == HU_ACCUM_CHUNK) return read_chunk(r, x);
  if (x->kind == HU_ACCUM_BLOCK) return read_block(r, x);
  return hui_reader_format(r, &x->sum) && hui_reader_rounding(r, &x->mode);
}

static int read_plain(hu_reader *r, hu_accum *x, int place);
static int read_model(hu_reader *r, hu_accum *x, int place);

static int read_element(hu_reader *r, hu_element *e) {
  memset(e, 0, sizeof *e);
  for (uint8_t kind = 0; kind < HU_ELEMENT_KINDS; kind++) {
    if (!hui_reader_word(r, hu_element_names[kind])) continue;
    e->kind = kind;
    return 1;
  }
  return hui_reader_format(r, &e->format);
}

/* "takes" has been read. */
static int read_takes(hu_reader *r, hu_accum *x, int place) {
  hu_element e[3];
  if (!hui_reader_mark(r, '(')) return 0;
  for (int i = 0; i < 3; i++) {
    if (!read_element(r, &e[i]) || !hui_reader_mark(r, ',')) return 0;
  }
  size_t start = r->at;
  if (!read_plain(r, x, place)) return 0;
  const hu_accum plain = hu_accum_any(*x);
  if (memcmp(&plain, x, sizeof plain) != 0) return hui_reader_failed(r, start, HU_E_TEXT);
  x->a = e[0];
  x->b = e[1];
  x->c = e[2];
  return hui_reader_mark(r, ')');
}

static int read_bound(hu_reader *r, hu_accum *x, int place) {
  return hui_reader_passed_name(r, "takes") ? read_takes(r, x, place) : read_plain(r, x, place);
}

/* "any" has been read; what is in it may be promoted and sliced as what stands alone, but is no any. */
static int read_any(hu_reader *r, hu_accum *x, int place) {
  if (!hui_reader_mark(r, '(')) return 0;
  size_t start = r->at;
  if (hui_reader_passed_name(r, "any")) return hui_reader_failed(r, start, HU_E_TEXT);
  if (!read_model(r, x, place)) return 0;
  *x = hu_accum_any(*x);
  return hui_reader_mark(r, ')');
}

/* A kind with its arguments, or a preset. */
static int read_plain(hu_reader *r, hu_accum *x, int place) {
  static const char *const names[HU_ACCUM_COUNT] = {"exact",    "fp32",    "fp64",  "seq",      "seq2",  "chunk",
                                                    "pairwise", "strided", "kahan", "neumaier", "block", "int32"};
  memset(x, 0, sizeof *x);
  size_t start = r->at, n = strcspn(r->text + start, "(),");
  const char *word = r->text + start;
  if (n == 0) return hui_reader_failed(r, start, HU_E_TEXT);
  for (uint32_t kind = 0; kind < HU_ACCUM_COUNT; kind++) {
    if (strlen(names[kind]) != n || strncmp(word, names[kind], n) != 0) continue;
    int whole = kind == HU_ACCUM_EXACT || kind == HU_ACCUM_FP64 || kind == HU_ACCUM_INT32;
    if (whole && place != MODEL_ANY) return hui_reader_failed(r, start, HU_E_TEXT);
    x->kind = kind;
    r->at += n;
    return read_arguments(r, x);
  }
  if (!read_preset(r, x, n)) return 0;
  int nests = x->kind != HU_ACCUM_FP64 && x->kind != HU_ACCUM_INT32;
  return nests || place == MODEL_ANY || hui_reader_failed(r, start, HU_E_TEXT);
}

static int read_model(hu_reader *r, hu_accum *x, int place) {
  memset(x, 0, sizeof *x);
  if (place == MODEL_ANY && hui_reader_passed_name(r, "splitk")) return read_splitk(r, x);
  if (place != MODEL_IN_PROMOTE && hui_reader_passed_name(r, "promote")) return read_promote(r, x);
  return hui_reader_passed_name(r, "any") ? read_any(r, x, place) : read_bound(r, x, place);
}

hu_status hu_accum_parse(hu_accum *accum, const char *text, size_t *where) {
  hu_accum read;
  if (!accum || !text) return HU_E_NULL;
  hu_reader r = {text, 0, HU_OK};
  if (read_model(&r, &read, MODEL_ANY) && text[r.at] != 0) r.wrong = HU_E_TEXT;
  if (r.wrong != HU_OK) {
    if (where) *where = r.at;
    return r.wrong;
  }
  *accum = read;
  return HU_OK;
}

hu_status hui_accum_preset_read(hu_accum_preset *z, const char *model) {
  hu_accum read;
  hu_status s = hu_accum_parse(&read, model, NULL);
  if (s != HU_OK) return s;
  read.a = z->accum.a;
  read.b = z->accum.b;
  read.c = z->accum.c;
  z->accum = read;
  return HU_OK;
}
