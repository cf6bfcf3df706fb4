/* SPDX-License-Identifier: MIT */
/* hu_scaling_parse and hu_scaling_text. The grammar stands in halfulp/scaled.h. */
#include <string.h>

#include "emu/format/put.h"
#include "halfulp/scaled.h"

enum {
  KEY_SCALE,
  KEY_BLOCK,
  KEY_RULE,
  KEY_ROUND,
  KEY_STEPS,
  KEY_TENSOR,
  KEY_CODE,
  KEY_SPECIAL,
  KEY_ZERO,
  KEY_AMIN,
  KEY_PAD,
  KEY_COUNT
};
enum { WORDS = 10, PIECE_MAX = 160 };

/* In the order in which hu_scaling_text writes them. A name without '=' is a key without a value. */
static const struct {
  const char *name;
  const char *words[WORDS + 1];
} keys[KEY_COUNT] = {
    {"scale=", {0}},
    {"block=", {0}},
    {"rule=",
     {"floor", "ceil", "even", "rceil", "ratio", "4over6_mae", "4over6_mse", "4over6_mae_fast", "4over6_mse_fast",
      "sweep_mse"}},
    {"round=", {0}},
    {"steps=", {"exact", "divide", "multiply", "encode", "reciprocal"}},
    {"tensor", {0}},
    {"code=", {"", "twos", 0}},
    {"special=", {"nan", "element", "saturate", 0}},
    {"zero=", {"low", "one", "zero", 0}},
    {"amin=0x", {0}},
    {"pad", {0}},
};

static uint8_t *word_of(hu_scaling *d, unsigned key) {
  switch (key) {
    case KEY_RULE: return &d->rule;
    case KEY_STEPS: return &d->steps;
    case KEY_TENSOR: return &d->tensor;
    case KEY_CODE: return &d->coding;
    case KEY_SPECIAL: return &d->special;
    case KEY_ZERO: return &d->blank;
    default: return &d->pad;
  }
}

/* ---- text to record ---- */

typedef struct reader {
  const char *text;
  size_t at; /* the next character; on failure the wrong part */
} reader;

static hu_status fail(reader *r, size_t at, hu_status status) {
  r->at = at;
  return status;
}

/* Copies what stands up to the next separator and passes it. */
static hu_status read_piece(reader *r, char piece[PIECE_MAX]) {
  size_t n = 0, depth = 0;
  const char *s = r->text + r->at;
  for (; s[n] && s[n] != ';' && !(s[n] == ')' && depth == 0); n++) depth += (s[n] == '(') - (size_t)(s[n] == ')');
  if (n == 0 || n >= PIECE_MAX) return HU_E_TEXT;
  memcpy(piece, s, n);
  piece[n] = 0;
  r->at += n;
  return HU_OK;
}

static hu_status read_format(reader *r, hu_format *f) {
  char piece[PIECE_MAX];
  size_t start = r->at, where = 0;
  hu_status status = read_piece(r, piece);
  if (status != HU_OK) return fail(r, start, status);
  status = hu_format_parse(f, piece, &where);
  return status == HU_OK ? HU_OK : fail(r, start + where, status);
}

/* Decimal from 1 on, no leading zero, at most `high`. */
static hu_status read_number(reader *r, uint32_t high, uint32_t *z) {
  const char *s = r->text + r->at;
  uint64_t value = 0;
  size_t n = 0;
  for (; s[n] >= '0' && s[n] <= '9' && n < 10; n++) value = value * 10 + (uint64_t)(s[n] - '0');
  if (n == 0 || s[0] == '0' || value > high) return HU_E_TEXT;
  r->at += n;
  *z = (uint32_t)value;
  return HU_OK;
}

static int passed(reader *r, char c) {
  if (r->text[r->at] != c) return 0;
  r->at++;
  return 1;
}

static hu_status read_side(reader *r, uint32_t *z) {
  *z = 0;
  return passed(r, '*') ? HU_OK : read_number(r, INT32_MAX, z);
}

static hu_status read_block(reader *r, hu_scaling *d) {
  hu_status s = read_side(r, &d->rows);
  if (s == HU_OK && !passed(r, 'x')) s = HU_E_TEXT;
  return s == HU_OK ? read_side(r, &d->cols) : s;
}

static hu_status read_amin(reader *r, hu_scaling *d) {
  const char *s = r->text + r->at;
  uint32_t u = 0;
  for (size_t n = 0; n < 8; n++) {
    int digit = s[n] >= '0' && s[n] <= '9' ? s[n] - '0' : s[n] >= 'a' && s[n] <= 'f' ? s[n] - 'a' + 10 : -1;
    if (digit < 0) return HU_E_TEXT;
    u = u << 4 | (uint32_t)digit;
  }
  if (u == 0 || u >= 0x7F800000) return HU_E_TEXT;
  r->at += 8;
  d->amin = u;
  return HU_OK;
}

/* What may stand behind `tensor`. */
static hu_status read_tensor(reader *r, hu_scaling *d) {
  d->tensor = HU_TENSOR_MAX;
  if (r->text[r->at] != '=') return HU_OK;
  if (strncmp(r->text + r->at, "=256", 4) != 0) return HU_E_TEXT;
  r->at += 4;
  d->tensor = HU_TENSOR_256;
  return HU_OK;
}

static hu_status read_word(reader *r, hu_scaling *d, unsigned key) {
  char piece[PIECE_MAX];
  size_t start = r->at;
  if (keys[key].words[0] == NULL) {
    *word_of(d, key) = 1;
    return HU_OK;
  }
  if (read_piece(r, piece) != HU_OK) return fail(r, start, HU_E_TEXT);
  for (uint8_t i = 0; keys[key].words[i]; i++) {
    if (strcmp(piece, keys[key].words[i]) != 0) continue;
    *word_of(d, key) = i;
    return HU_OK;
  }
  return fail(r, start, HU_E_TEXT);
}

static hu_status read_round(reader *r, hu_scaling *d) {
  char piece[PIECE_MAX];
  hu_mode mode = {0};
  size_t start = r->at;
  if (read_piece(r, piece) != HU_OK || hu_mode_round_parse(&mode, piece) != HU_OK || mode.round > HU_RAZ) {
    return fail(r, start, HU_E_TEXT);
  }
  d->round = mode.round;
  return HU_OK;
}

static hu_status read_key(reader *r, hu_scaling *d, uint32_t *seen) {
  unsigned key = 0;
  while (key < KEY_COUNT && strncmp(r->text + r->at, keys[key].name, strlen(keys[key].name)) != 0) key++;
  if (key == KEY_COUNT || *seen >> key & 1) return HU_E_TEXT;
  *seen |= 1u << key;
  r->at += strlen(keys[key].name);
  switch (key) {
    case KEY_SCALE: return read_format(r, &d->scale);
    case KEY_BLOCK: return read_block(r, d);
    case KEY_ROUND: return read_round(r, d);
    case KEY_AMIN: return read_amin(r, d);
    case KEY_TENSOR: return read_tensor(r, d);
    default: return read_word(r, d, key);
  }
}

static hu_status read_scaled(reader *r, hu_scaling *d) {
  const uint32_t wanted = 1u << KEY_SCALE | 1u << KEY_BLOCK | 1u << KEY_RULE;
  uint32_t seen = 0;
  hu_status s = read_format(r, &d->element);
  while (s == HU_OK && passed(r, ';')) s = read_key(r, d, &seen);
  if (s == HU_OK && ((seen & wanted) != wanted || !passed(r, ')') || r->text[r->at])) s = HU_E_TEXT;
  return s;
}

static hu_status read_bfp(reader *r, hu_scaling *d) {
  uint32_t m = 0, e = 0;
  hu_status s = read_number(r, 30, &m);
  if (s == HU_OK && !passed(r, ',')) s = HU_E_TEXT;
  if (s == HU_OK) s = read_number(r, 10, &e);
  if (s == HU_OK && !passed(r, ',')) s = HU_E_TEXT;
  if (s == HU_OK) s = read_number(r, INT32_MAX, &d->cols);
  if (s != HU_OK) return s;
  if (!passed(r, ')') || r->text[r->at]) return HU_E_TEXT;
  d->element = hu_format_finite(0, m, 0);
  d->scale = hu_format_finite(e, 0, 0);
  d->scale.sign = d->scale.negzero = 0;
  d->scale.zero = HU_ZERO_NONE;
  d->scale.subnormal = HU_SUBNORMAL_NONE;
  d->rows = 1;
  d->special = HU_SPECIAL_ELEMENT;
  return HU_OK;
}

static hu_status read_any(reader *r, hu_scaling *d, int depth) {
  if (strncmp(r->text, "scaled(", 7) == 0) {
    r->at = 7;
    return read_scaled(r, d);
  }
  if (strncmp(r->text, "bfp(", 4) == 0) {
    r->at = 4;
    return read_bfp(r, d);
  }
  for (size_t i = 0; depth == 0 && i < hu_scaling_count(); i++) {
    hu_scaling_entry entry = hu_scaling_at(i);
    if (strcmp(entry.name, r->text) != 0) continue;
    r->text = entry.text;
    return read_any(r, d, 1);
  }
  return strpbrk(r->text, "(;)=") || r->text[0] == 0 ? HU_E_TEXT : HU_E_NAME;
}

hu_status hu_scaling_parse(hu_scaling *scaling, const char *text, size_t *where) {
  hu_scaling d;
  reader r = {text, 0};
  memset(&d, 0, sizeof d);
  if (!scaling || !text) return HU_E_NULL;
  hu_status s = read_any(&r, &d, 0);
  if (s == HU_OK) {
    r.at = 0;
    s = hu_scaling_check(&d, NULL);
  }
  if (s == HU_OK) *scaling = d;
  if (s != HU_OK && where) *where = r.at;
  return s;
}

/* ---- record to text ---- */

static void put_side(hu_writer *w, uint32_t n) {
  if (n)
    hui_put_number(w, (int)n);
  else
    hui_put(w, "*");
}

static void put_hex(hu_writer *w, uint32_t u) {
  char digits[9];
  for (int i = 0; i < 8; i++) digits[i] = "0123456789abcdef"[u >> (28 - 4 * i) & 15];
  digits[8] = 0;
  hui_put(w, digits);
}

static void put_key(hu_writer *w, unsigned key) {
  hui_put(w, ";");
  hui_put(w, keys[key].name);
}

static void put_words(hu_writer *w, const hu_scaling *d) {
  hu_scaling copy = *d;
  for (unsigned key = KEY_STEPS; key < KEY_COUNT; key++) {
    unsigned value = key == KEY_AMIN ? d->amin != 0 : *word_of(&copy, key);
    if (value == 0) continue;
    put_key(w, key);
    if (key == KEY_AMIN)
      put_hex(w, d->amin);
    else if (key == KEY_TENSOR)
      hui_put(w, value == HU_TENSOR_256 ? "=256" : "");
    else if (keys[key].words[0])
      hui_put(w, keys[key].words[value]);
  }
}

size_t hu_scaling_text(char *text, size_t size, const hu_scaling *d) {
  hu_writer w = {text, text ? size : 0, 0};
  if (hu_scaling_check(d, NULL) != HU_OK) return 0;
  hui_put(&w, "scaled(");
  hui_put_format(&w, d->element);
  put_key(&w, KEY_SCALE);
  hui_put_format(&w, d->scale);
  put_key(&w, KEY_BLOCK);
  put_side(&w, d->rows);
  hui_put(&w, "x");
  put_side(&w, d->cols);
  put_key(&w, KEY_RULE);
  hui_put(&w, keys[KEY_RULE].words[d->rule]);
  if (d->round) {
    char word[8];
    hu_mode mode = {0};
    mode.round = d->round;
    put_key(&w, KEY_ROUND);
    hui_put(&w, hu_mode_round_text(word, mode));
  }
  put_words(&w, d);
  hui_put(&w, ")");
  return hui_put_end(&w);
}
