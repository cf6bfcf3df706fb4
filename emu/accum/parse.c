/* SPDX-License-Identifier: MIT */
/* hu_accum_parse: turns a text into an accumulation model. The grammar stands in halfulp/accum.h. */
#include <string.h>

#include "emu/accum/block_keys.h"
#include "emu/accum/presets.h"

typedef struct reader {
  const char *text;
  size_t at;       /* the next character; on failure, the wrong part */
  hu_status wrong; /* why */
} reader;

enum { MODEL_ANY, MODEL_IN_SPLITK, MODEL_IN_PROMOTE }; /* where a model stands */

static int fail(reader *r, size_t at, hu_status wrong) {
  r->at = at;
  r->wrong = wrong;
  return 0;
}

static int take(reader *r, char c) {
  if (r->text[r->at] != c) return fail(r, r->at, HU_E_TEXT);
  r->at++;
  return 1;
}

/* 1 if c stood there, and is passed. */
static int passed(reader *r, char c) {
  if (r->text[r->at] != c) return 0;
  r->at++;
  return 1;
}

static int took_word(reader *r, const char *word) {
  size_t n = strlen(word);
  char next = r->text[r->at + (strncmp(r->text + r->at, word, n) == 0 ? n : 0)];
  if (strncmp(r->text + r->at, word, n) != 0 || (next != ',' && next != ')' && next != 0)) return 0;
  r->at += n;
  return 1;
}

/* Decimal from low to high, no leading zero, a minus where low is negative. */
static int read_number(reader *r, int64_t low, int64_t high, int64_t *z) {
  size_t start = r->at;
  int minus = low < 0 && passed(r, '-');
  const char *s = r->text + r->at;
  size_t n = 0;
  int64_t value = 0;
  for (; s[n] >= '0' && s[n] <= '9' && n < 10; n++) value = value * 10 + (s[n] - '0');
  if (n == 0 || (s[0] == '0' && (n > 1 || minus)) || (s[n] >= '0' && s[n] <= '9')) return fail(r, start, HU_E_TEXT);
  value = minus ? -value : value;
  if (value < low || value > high) return fail(r, start, HU_E_TEXT);
  r->at += n;
  *z = value;
  return 1;
}

static int read_length(reader *r, uint32_t *z) {
  int64_t n;
  if (!read_number(r, 1, INT32_MAX, &n)) return 0;
  *z = (uint32_t)n;
  return 1;
}

/* The end of the argument that starts at `from`, or of one more after it where `from` is such an end. */
static size_t argument_end(const char *text, size_t from) {
  int depth = 0;
  for (size_t i = from; text[i]; i++) {
    if (text[i] == '(') depth++;
    if (text[i] == ')' && depth-- == 0) return i;
    if (text[i] == ',' && depth == 0 && i > from) return i;
  }
  return from + strlen(text + from);
}

/* A format's suffixes have commas of their own: the longest piece that is a format is taken. */
static int read_format(reader *r, hu_format *f) {
  char piece[HU_FORMAT_TEXT_MAX];
  hu_status first = HU_OK;
  size_t start = r->at, where = 0, best = 0;
  for (size_t end = argument_end(r->text, start); end - start < sizeof piece; end = argument_end(r->text, end)) {
    hu_format found;
    size_t wrong = 0;
    memcpy(piece, r->text + start, end - start);
    piece[end - start] = 0;
    hu_status s = hu_format_parse(&found, piece, &wrong);
    if (s == HU_OK) {
      *f = found;
      best = end;
    }
    if (first == HU_OK && s != HU_OK && !best) {
      first = s;
      where = wrong;
    }
    if (r->text[end] != ',') break;
  }
  if (!best) return fail(r, start + where, first == HU_E_NAME ? HU_E_NAME : HU_E_TEXT);
  r->at = best;
  return 1;
}

typedef hu_status (*mode_reader)(hu_mode *mode, const char *text);

/* A word up to the next comma or parenthesis, by a reader of hu_mode's texts. */
static int read_mode_word(reader *r, hu_mode *mode, mode_reader parse) {
  char word[16];
  size_t n = strcspn(r->text + r->at, ",)");
  if (n >= sizeof word) return fail(r, r->at, HU_E_TEXT);
  memcpy(word, r->text + r->at, n);
  word[n] = 0;
  if (parse(mode, word) != HU_OK) return fail(r, r->at, HU_E_TEXT);
  r->at += n;
  return 1;
}

/* [","MODE][",sat="POLICY] ")" */
static int read_rounding(reader *r, hu_mode *mode) {
  for (int part = 0; passed(r, ','); part++) {
    int sat = strncmp(r->text + r->at, "sat=", 4) == 0;
    if (part > sat) return fail(r, r->at, HU_E_TEXT);
    if (sat) {
      r->at += 4;
      return read_mode_word(r, mode, hu_mode_saturate_parse) && take(r, ')');
    }
    if (!read_mode_word(r, mode, hu_mode_round_parse)) return 0;
  }
  return take(r, ')');
}

/* ---- block ---- */

typedef struct block_reader {
  size_t at[HU_BLOCK_KEY_COUNT]; /* where each value stands */
  uint32_t seen;
} block_reader;

static int read_word_key(reader *r, hu_block *b, unsigned key) {
  for (int i = 0; i < HU_BLOCK_KEY_WORDS && hu_block_keys[key].words[i]; i++) {
    if (!took_word(r, hu_block_keys[key].words[i])) continue;
    hu_key_set(b, key, i);
    return 1;
  }
  return fail(r, r->at, HU_E_TEXT);
}

static int read_value(reader *r, hu_accum *x, unsigned key) {
  int64_t n;
  switch (key) {
    case HU_BLOCK_KEY_AS: return read_format(r, &x->block.as);
    case HU_BLOCK_KEY_SCALE: return read_format(r, &x->block.scale);
    case HU_BLOCK_KEY_ACC: return read_format(r, &x->product);
    case HU_BLOCK_KEY_OUT: return read_format(r, &x->sum);
    case HU_BLOCK_KEY_ROUND: return read_mode_word(r, &x->mode, hu_mode_round_parse);
    case HU_BLOCK_KEY_SAT: return read_mode_word(r, &x->mode, hu_mode_saturate_parse);
    default: break;
  }
  if (key > HU_BLOCK_KEY_EVERY) return read_word_key(r, &x->block, key);
  if (!read_number(r, hu_block_keys[key].low, hu_block_keys[key].high, &n)) return 0;
  hu_key_set(&x->block, key, (int)n);
  return 1;
}

static int read_key(reader *r, hu_accum *x, block_reader *b) {
  size_t n = strcspn(r->text + r->at, "=,)");
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    const hu_block_key *k = &hu_block_keys[key];
    if (strlen(k->name) != n || strncmp(r->text + r->at, k->name, n) != 0) continue;
    if (!(k->rules >> x->block.rule & 1) || b->seen >> key & 1) return fail(r, r->at, HU_E_TEXT);
    r->at += n;
    if (!take(r, '=')) return 0;
    b->seen |= 1u << key;
    b->at[key] = r->at;
    return read_value(r, x, key);
  }
  return fail(r, r->at, HU_E_TEXT);
}

static int read_rule(reader *r, uint8_t *rule) {
  for (uint8_t i = 0; i < HU_BLOCK_RULES; i++) {
    if (!took_word(r, hu_rule_names[i])) continue;
    *rule = i;
    return 1;
  }
  return fail(r, r->at, HU_E_TEXT);
}

/* "block(" has been read. */
static int read_block(reader *r, hu_accum *x) {
  block_reader b;
  memset(&b, 0, sizeof b);
  if (!read_rule(r, &x->block.rule)) return 0;
  x->sum = hu_format_binary32();
  size_t end = r->at;
  while (passed(r, ',')) {
    if (!read_key(r, x, &b)) return 0;
    end = r->at;
  }
  if (!take(r, ')')) return 0;
  for (unsigned key = 0; key < HU_BLOCK_KEY_COUNT; key++) {
    if (hu_block_keys[key].wanted >> x->block.rule & 1 && !(b.seen >> key & 1)) return fail(r, end, HU_E_TEXT);
  }
  int aligned = hu_block_keys[HU_BLOCK_KEY_ACC].rules >> x->block.rule & 1;
  if (aligned && !(b.seen >> HU_BLOCK_KEY_ACC & 1)) x->product = x->sum;
  unsigned clash = hu_key_clash(x);
  return clash == HU_BLOCK_KEY_COUNT || fail(r, b.at[clash] ? b.at[clash] : end, HU_E_TEXT);
}

/* ---- the other models ---- */

static int read_seq2(reader *r, hu_accum *x) {
  if (!read_format(r, &x->sum)) return 0;
  x->product = x->sum;
  reader ahead = *r;
  if (passed(&ahead, ',') && read_format(&ahead, &x->sum)) *r = ahead;
  return read_rounding(r, &x->mode);
}

static int read_chunk(reader *r, hu_accum *x) {
  return read_length(r, &x->length) && take(r, ',') && read_format(r, &x->product) && take(r, ',') &&
         read_format(r, &x->sum) && read_rounding(r, &x->mode);
}

static int read_model(reader *r, hu_accum *x, int place);

/* "promote" has been read. */
static int read_promote(reader *r, hu_accum *x) {
  uint32_t n;
  if (!take(r, '(') || !read_length(r, &n) || !take(r, ',') || !read_model(r, x, MODEL_IN_PROMOTE)) return 0;
  x->promote = n;
  if (!take(r, ',') || !read_format(r, &x->promoted)) return 0;
  if (passed(r, ',')) {
    if (!took_word(r, "scaled") || x->block.every) return fail(r, r->at, HU_E_TEXT);
    x->scaled = 1;
  }
  return take(r, ')');
}

/* "splitk" has been read. */
static int read_splitk(reader *r, hu_accum *x) {
  uint32_t n;
  if (!take(r, '(') || !read_length(r, &n) || !take(r, ',') || !read_model(r, x, MODEL_IN_SPLITK)) return 0;
  x->slices = n;
  return take(r, ')');
}

static int read_int32(reader *r, hu_accum *x) {
  if (r->text[r->at] != '(') return 1;
  r->at++;
  if (!took_word(r, "sat")) return fail(r, r->at, HU_E_TEXT);
  return take(r, ',') && read_length(r, &x->length) && take(r, ')');
}

static int read_preset(reader *r, hu_accum *x, size_t n) {
  hu_accum_preset found;
  char name[sizeof found.name];
  size_t letters = strspn(r->text + r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
  if (letters < n || strchr("0123456789_.", r->text[r->at]))
    return fail(r, r->at + (letters < n ? letters : 0), HU_E_TEXT);
  if (n >= sizeof name) return fail(r, r->at, HU_E_NAME);
  memcpy(name, r->text + r->at, n);
  name[n] = 0;
  const char *model = hu_accum_preset_text_of(&found, name);
  if (!model || hu_accum_preset_read(&found, model) != HU_OK) return fail(r, r->at, HU_E_NAME);
  *x = found.accum;
  r->at += n;
  return 1;
}

/* What follows a kind's name. */
static int read_arguments(reader *r, hu_accum *x) {
  if (x->kind == HU_ACCUM_INT32) return read_int32(r, x);
  if (x->kind <= HU_ACCUM_FP64) return 1;
  if (!take(r, '(')) return 0;
  if (x->kind == HU_ACCUM_SEQ2) return read_seq2(r, x);
  if (x->kind == HU_ACCUM_CHUNK) return read_chunk(r, x);
  if (x->kind == HU_ACCUM_BLOCK) return read_block(r, x);
  return read_format(r, &x->sum) && read_rounding(r, &x->mode);
}

/* The next word is this one, and is passed. */
static int passed_word(reader *r, const char *word) {
  size_t n = strcspn(r->text + r->at, "(),");
  if (strlen(word) != n || strncmp(r->text + r->at, word, n) != 0) return 0;
  r->at += n;
  return 1;
}

static int read_plain(reader *r, hu_accum *x, int place);
static int read_model(reader *r, hu_accum *x, int place);

static int read_element(reader *r, hu_element *e) {
  memset(e, 0, sizeof *e);
  for (uint8_t kind = 0; kind < HU_ELEMENT_KINDS; kind++) {
    if (!took_word(r, hu_element_names[kind])) continue;
    e->kind = kind;
    return 1;
  }
  return read_format(r, &e->format);
}

/* "takes" has been read. */
static int read_takes(reader *r, hu_accum *x, int place) {
  hu_element e[3];
  if (!take(r, '(')) return 0;
  for (int i = 0; i < 3; i++) {
    if (!read_element(r, &e[i]) || !take(r, ',')) return 0;
  }
  size_t start = r->at;
  if (!read_plain(r, x, place)) return 0;
  const hu_accum plain = hu_accum_any(*x);
  if (memcmp(&plain, x, sizeof plain) != 0) return fail(r, start, HU_E_TEXT);
  x->a = e[0];
  x->b = e[1];
  x->c = e[2];
  return take(r, ')');
}

static int read_bound(reader *r, hu_accum *x, int place) {
  return passed_word(r, "takes") ? read_takes(r, x, place) : read_plain(r, x, place);
}

/* "any" has been read; what is in it may be promoted and sliced as what stands alone, but is no any. */
static int read_any(reader *r, hu_accum *x, int place) {
  if (!take(r, '(')) return 0;
  size_t start = r->at;
  if (passed_word(r, "any")) return fail(r, start, HU_E_TEXT);
  if (!read_model(r, x, place)) return 0;
  *x = hu_accum_any(*x);
  return take(r, ')');
}

/* A kind with its arguments, or a preset. */
static int read_plain(reader *r, hu_accum *x, int place) {
  static const char *const names[HU_ACCUM_COUNT] = {"exact",    "fp32",    "fp64",  "seq",      "seq2",  "chunk",
                                                    "pairwise", "strided", "kahan", "neumaier", "block", "int32"};
  memset(x, 0, sizeof *x);
  size_t start = r->at, n = strcspn(r->text + start, "(),");
  const char *word = r->text + start;
  if (n == 0) return fail(r, start, HU_E_TEXT);
  for (uint32_t kind = 0; kind < HU_ACCUM_COUNT; kind++) {
    if (strlen(names[kind]) != n || strncmp(word, names[kind], n) != 0) continue;
    int whole = kind == HU_ACCUM_EXACT || kind == HU_ACCUM_FP64 || kind == HU_ACCUM_INT32;
    if (whole && place != MODEL_ANY) return fail(r, start, HU_E_TEXT);
    x->kind = kind;
    r->at += n;
    return read_arguments(r, x);
  }
  if (!read_preset(r, x, n)) return 0;
  int nests = x->kind != HU_ACCUM_FP64 && x->kind != HU_ACCUM_INT32;
  return nests || place == MODEL_ANY || fail(r, start, HU_E_TEXT);
}

static int read_model(reader *r, hu_accum *x, int place) {
  memset(x, 0, sizeof *x);
  if (place == MODEL_ANY && passed_word(r, "splitk")) return read_splitk(r, x);
  if (place != MODEL_IN_PROMOTE && passed_word(r, "promote")) return read_promote(r, x);
  return passed_word(r, "any") ? read_any(r, x, place) : read_bound(r, x, place);
}

hu_status hu_accum_parse(hu_accum *accum, const char *text, size_t *where) {
  hu_accum read;
  if (!accum || !text) return HU_E_NULL;
  reader r = {text, 0, HU_OK};
  if (read_model(&r, &read, MODEL_ANY) && text[r.at] != 0) r.wrong = HU_E_TEXT;
  if (r.wrong != HU_OK) {
    if (where) *where = r.at;
    return r.wrong;
  }
  *accum = read;
  return HU_OK;
}

hu_status hu_accum_preset_read(hu_accum_preset *z, const char *model) {
  hu_accum read;
  hu_status s = hu_accum_parse(&read, model, NULL);
  if (s != HU_OK) return s;
  read.a = z->accum.a;
  read.b = z->accum.b;
  read.c = z->accum.c;
  z->accum = read;
  return HU_OK;
}
