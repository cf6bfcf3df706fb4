/* SPDX-License-Identifier: MIT */
/* hu_scaling_parse and hu_scaling_text. The grammar stands in halfulp/scaled.h. */
#include <string.h>

#include "emu/scaled/formula.h"

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
  KEY_MINUS,
  KEY_AMIN,
  KEY_PAD,
  KEY_FORMULA, /* the first of HU_OF_COUNT */
  KEY_COUNT = KEY_FORMULA + HU_OF_COUNT
};
enum { WORDS = HU_SCALE_RULES, PIECE_MAX = 160 };

/* In the order in which hu_scaling_text writes them. A name without '=' is a key without a value. */
static const struct {
  const char *name;
  const char *words[WORDS + 1];
} keys[KEY_COUNT] = {
    {"scale=", {0}},
    {"block=", {0}},
    {"rule=",
     {"floor", "ceil", "even", "rceil", "ratio", "4over6_mae", "4over6_mse", "4over6_mae_fast", "4over6_mse_fast",
      "sweep_mse", "", "intfloat_mae", "intfloat_mse", "intfloat_max"}},
    {"round=", {0}},
    {"steps=", {"exact", "divide", "multiply", "encode", "reciprocal"}},
    {"tensor", {0}},
    {"code=", {"", "twos", 0}},
    {"special=", {"nan", "element", "saturate", 0}},
    {"zero=", {"low", "one", "zero", "formula", 0}},
    {"minus=", {"kept", "none", "own", "all", 0}},
    {"amin=0x", {0}},
    {"pad", {0}},
    {"S=", {0}},
    {"t=", {0}},
    {"s=", {0}},
    {"x=", {0}},
    {"v=", {0}},
};

static uint8_t *word_of(hu_scaling *scaling, unsigned key) {
  switch (key) {
    case KEY_RULE: return &scaling->rule;
    case KEY_STEPS: return &scaling->steps;
    case KEY_TENSOR: return &scaling->tensor;
    case KEY_CODE: return &scaling->coding;
    case KEY_SPECIAL: return &scaling->special;
    case KEY_ZERO: return &scaling->blank;
    case KEY_MINUS: return &scaling->minus;
    default: return &scaling->pad;
  }
}

/* ---- text to record ---- */

typedef struct text_reader {
  const char *text;
  size_t at;                     /* the next character; on failure the wrong part */
  uint32_t formula[HU_OF_COUNT]; /* where each one stands, or 0 */
} text_reader;

static hu_status fail(text_reader *reader, size_t at, hu_status status) {
  reader->at = at;
  return status;
}

/* Copies what stands up to the next separator and passes it. */
static hu_status read_piece(text_reader *reader, char piece[PIECE_MAX]) {
  size_t n = 0, depth = 0;
  const char *at = reader->text + reader->at;
  for (; at[n] && at[n] != ';' && !(at[n] == ')' && depth == 0); n++) depth += (at[n] == '(') - (size_t)(at[n] == ')');
  if (n == 0 || n >= PIECE_MAX) return HU_E_TEXT;
  memcpy(piece, at, n);
  piece[n] = 0;
  reader->at += n;
  return HU_OK;
}

static hu_status read_format(text_reader *reader, hu_format *format) {
  char piece[PIECE_MAX];
  size_t start = reader->at, where = 0;
  hu_status status = read_piece(reader, piece);
  if (status != HU_OK) return fail(reader, start, status);
  status = hu_format_parse(format, piece, &where);
  return status == HU_OK ? HU_OK : fail(reader, start + where, status);
}

/* Reads a decimal number from 1 on, at most `high`, without a leading zero. */
static hu_status read_number(text_reader *reader, uint32_t high, uint32_t *z) {
  const char *at = reader->text + reader->at;
  uint64_t value = 0;
  size_t n = 0;
  for (; at[n] >= '0' && at[n] <= '9' && n < 10; n++) value = value * 10 + (uint64_t)(at[n] - '0');
  if (n == 0 || at[0] == '0' || value > high) return HU_E_TEXT;
  reader->at += n;
  *z = (uint32_t)value;
  return HU_OK;
}

static int passed(text_reader *reader, char c) {
  if (reader->text[reader->at] != c) return 0;
  reader->at++;
  return 1;
}

static hu_status read_side(text_reader *reader, uint32_t *z) {
  *z = 0;
  return passed(reader, '*') ? HU_OK : read_number(reader, INT32_MAX, z);
}

static hu_status read_block(text_reader *reader, hu_scaling *scaling) {
  hu_status status = read_side(reader, &scaling->rows);
  if (status == HU_OK && !passed(reader, 'x')) status = HU_E_TEXT;
  return status == HU_OK ? read_side(reader, &scaling->cols) : status;
}

static hu_status read_amin(text_reader *reader, hu_scaling *scaling) {
  const char *at = reader->text + reader->at;
  uint32_t bits = 0;
  for (size_t n = 0; n < 8; n++) {
    int digit = at[n] >= '0' && at[n] <= '9' ? at[n] - '0' : at[n] >= 'a' && at[n] <= 'f' ? at[n] - 'a' + 10 : -1;
    if (digit < 0) return HU_E_TEXT;
    bits = bits << 4 | (uint32_t)digit;
  }
  if (bits == 0 || bits >= 0x7F800000) return HU_E_TEXT;
  reader->at += 8;
  scaling->amin = bits;
  return HU_OK;
}

/* What may stand behind `tensor`. */
static hu_status read_tensor(text_reader *reader, hu_scaling *scaling) {
  scaling->tensor = HU_TENSOR_MAX;
  if (reader->text[reader->at] != '=') return HU_OK;
  if (strncmp(reader->text + reader->at, "=256", 4) != 0) return HU_E_TEXT;
  reader->at += 4;
  scaling->tensor = HU_TENSOR_256;
  return HU_OK;
}

static hu_status read_word(text_reader *reader, hu_scaling *scaling, unsigned key) {
  char piece[PIECE_MAX];
  size_t start = reader->at;
  if (keys[key].words[0] == NULL) {
    *word_of(scaling, key) = 1;
    return HU_OK;
  }
  if (read_piece(reader, piece) != HU_OK) return fail(reader, start, HU_E_TEXT);
  for (uint8_t i = 0; keys[key].words[i]; i++) {
    if (strcmp(piece, keys[key].words[i]) != 0) continue;
    *word_of(scaling, key) = i;
    return HU_OK;
  }
  return fail(reader, start, HU_E_TEXT);
}

static hu_status read_round(text_reader *reader, hu_scaling *scaling) {
  char piece[PIECE_MAX];
  hu_mode mode = {0};
  size_t start = reader->at;
  if (read_piece(reader, piece) != HU_OK || hu_mode_round_parse(&mode, piece) != HU_OK || mode.round > HU_RAZ) {
    return fail(reader, start, HU_E_TEXT);
  }
  scaling->round = mode.round;
  return HU_OK;
}

/* Passes a formula, which is read once all of them are known: the record has them in their own order. */
static hu_status pass_formula(text_reader *reader, unsigned which) {
  hu_formulas ignored;
  size_t length;
  uint32_t at = 0;
  memset(&ignored, 0, sizeof ignored);
  reader->formula[which] = (uint32_t)reader->at;
  hu_status status = hui_formula_read(&ignored, &at, reader->text + reader->at, &length);
  reader->at += length;
  return status;
}

static hu_status read_formulas(text_reader *reader, hu_scaling *scaling) {
  uint32_t at = 0;
  size_t length;
  hu_status status = HU_OK;
  scaling->rule = HU_SCALE_FORMULAS;
  scaling->tensor = reader->formula[HU_OF_BIG_S] || reader->formula[HU_OF_SMALL_T] ? HU_TENSOR_MAX : HU_TENSOR_NONE;
  for (unsigned i = 0; i < HU_OF_COUNT && status == HU_OK; i++) {
    uint32_t from = reader->formula[i];
    if (from) {
      status = hui_formula_read(&scaling->formulas, &at, reader->text + from, &length);
      if (status != HU_OK) reader->at = from + length;
    } else if (at == HU_FORMULA_BYTES) {
      status = HU_E_TEXT;
    } else {
      scaling->formulas.code[at++] = HU_FORMULA_END;
    }
  }
  return status;
}

static hu_status read_key(text_reader *reader, hu_scaling *scaling, uint32_t *seen) {
  unsigned key = 0;
  while (key < KEY_COUNT && strncmp(reader->text + reader->at, keys[key].name, strlen(keys[key].name)) != 0) key++;
  if (key == KEY_COUNT || *seen >> key & 1) return HU_E_TEXT;
  *seen |= 1u << key;
  reader->at += strlen(keys[key].name);
  if (key >= KEY_FORMULA) return pass_formula(reader, key - KEY_FORMULA);
  switch (key) {
    case KEY_SCALE: return read_format(reader, &scaling->scale);
    case KEY_BLOCK: return read_block(reader, scaling);
    case KEY_ROUND: return read_round(reader, scaling);
    case KEY_AMIN: return read_amin(reader, scaling);
    case KEY_TENSOR: return read_tensor(reader, scaling);
    default: return read_word(reader, scaling, key);
  }
}

static hu_status read_scaled(text_reader *reader, hu_scaling *scaling) {
  const uint32_t wanted = 1u << KEY_SCALE | 1u << KEY_BLOCK, by_rule = 1u << KEY_RULE,
                 by_formulas = 1u << (KEY_FORMULA + HU_OF_SCALE) | 1u << (KEY_FORMULA + HU_OF_ELEMENT);
  const uint32_t not_both = by_rule | 1u << KEY_STEPS | 1u << KEY_TENSOR;
  uint32_t seen = 0;
  hu_status status = read_format(reader, &scaling->element);
  while (status == HU_OK && passed(reader, ';')) status = read_key(reader, scaling, &seen);
  if (status != HU_OK) return status;
  int formulas = seen >> KEY_FORMULA != 0;
  uint32_t all = wanted | (formulas ? by_formulas : by_rule);
  if ((seen & all) != all || (formulas && seen & not_both) || !passed(reader, ')') || reader->text[reader->at])
    return HU_E_TEXT;
  return formulas ? read_formulas(reader, scaling) : HU_OK;
}

static hu_status read_bfp(text_reader *reader, hu_scaling *scaling) {
  uint32_t m = 0, exponent = 0;
  hu_status status = read_number(reader, 30, &m);
  if (status == HU_OK && !passed(reader, ',')) status = HU_E_TEXT;
  if (status == HU_OK) status = read_number(reader, 10, &exponent);
  if (status == HU_OK && !passed(reader, ',')) status = HU_E_TEXT;
  if (status == HU_OK) status = read_number(reader, INT32_MAX, &scaling->cols);
  if (status != HU_OK) return status;
  if (!passed(reader, ')') || reader->text[reader->at]) return HU_E_TEXT;
  scaling->element = hu_format_finite(0, m, 0);
  scaling->scale = hu_format_finite(exponent, 0, 0);
  scaling->scale.sign = scaling->scale.negzero = 0;
  scaling->scale.zero = HU_ZERO_NONE;
  scaling->scale.subnormal = HU_SUBNORMAL_NONE;
  scaling->rows = 1;
  scaling->special = HU_SPECIAL_ELEMENT;
  return HU_OK;
}

static hu_status read_any(text_reader *reader, hu_scaling *scaling, int depth) {
  if (strncmp(reader->text, "scaled(", 7) == 0) {
    reader->at = 7;
    return read_scaled(reader, scaling);
  }
  if (strncmp(reader->text, "bfp(", 4) == 0) {
    reader->at = 4;
    return read_bfp(reader, scaling);
  }
  for (size_t i = 0; depth == 0 && i < hu_scaling_count() + hu_scaling_rule_count(); i++) {
    hu_scaling_entry entry = i < hu_scaling_count() ? hu_scaling_at(i) : hu_scaling_rule_at(i - hu_scaling_count());
    if (strcmp(entry.name, reader->text) != 0) continue;
    if (!*entry.text) return HU_E_SCALING; /* a rule that no text says */
    reader->text = entry.text;
    return read_any(reader, scaling, 1);
  }
  return strpbrk(reader->text, "(;)=") || reader->text[0] == 0 ? HU_E_TEXT : HU_E_NAME;
}

hu_status hu_scaling_parse(hu_scaling *scaling, const char *text, size_t *where) {
  hu_scaling read;
  text_reader reader = {text, 0, {0}};
  memset(&read, 0, sizeof read);
  if (!scaling || !text) return HU_E_NULL;
  hu_status status = read_any(&reader, &read, 0);
  if (status == HU_OK) {
    reader.at = 0;
    status = hu_scaling_check(&read, NULL);
  }
  if (status == HU_OK) *scaling = read;
  if (status != HU_OK && where) *where = reader.at;
  return status;
}

/* ---- record to text ---- */

static void put_side(hu_writer *writer, uint32_t n) {
  if (n)
    hui_put_number(writer, (int)n);
  else
    hui_put(writer, "*");
}

static void put_hex(hu_writer *writer, uint32_t bits) {
  char digits[9];
  for (int i = 0; i < 8; i++) digits[i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
  digits[8] = 0;
  hui_put(writer, digits);
}

static void put_key(hu_writer *writer, unsigned key) {
  hui_put(writer, ";");
  hui_put(writer, keys[key].name);
}

static void put_words(hu_writer *writer, const hu_scaling *scaling) {
  hu_scaling copy = *scaling;
  for (unsigned key = KEY_STEPS; key < KEY_FORMULA; key++) {
    if (key == KEY_TENSOR && scaling->rule == HU_SCALE_FORMULAS) continue; /* the formulas say it */
    unsigned value = key == KEY_AMIN ? scaling->amin != 0 : *word_of(&copy, key);
    if (value == 0) continue;
    put_key(writer, key);
    if (key == KEY_AMIN)
      put_hex(writer, scaling->amin);
    else if (key == KEY_TENSOR)
      hui_put(writer, value == HU_TENSOR_256 ? "=256" : "");
    else if (keys[key].words[0])
      hui_put(writer, keys[key].words[value]);
  }
}

static void put_formulas(hu_writer *writer, const hu_formulas *formulas) {
  for (uint32_t i = 0, at = 0, end; i < HU_OF_COUNT; i++, at = end + 1) {
    end = hui_formula_end(formulas, at);
    if (end == at) continue;
    put_key(writer, KEY_FORMULA + i);
    hui_formula_put(writer, formulas, at, end);
  }
}

size_t hu_scaling_text(char *text, size_t size, const hu_scaling *scaling) {
  hu_writer writer = {text, text ? size : 0, 0};
  if (hu_scaling_check(scaling, NULL) != HU_OK) return 0;
  hui_put(&writer, "scaled(");
  hui_put_format(&writer, scaling->element);
  put_key(&writer, KEY_SCALE);
  hui_put_format(&writer, scaling->scale);
  put_key(&writer, KEY_BLOCK);
  put_side(&writer, scaling->rows);
  hui_put(&writer, "x");
  put_side(&writer, scaling->cols);
  if (scaling->rule != HU_SCALE_FORMULAS) {
    put_key(&writer, KEY_RULE);
    hui_put(&writer, keys[KEY_RULE].words[scaling->rule]);
  }
  if (scaling->round) {
    char word[8];
    hu_mode mode = {0};
    mode.round = scaling->round;
    put_key(&writer, KEY_ROUND);
    hui_put(&writer, hu_mode_round_text(word, mode));
  }
  put_words(&writer, scaling);
  if (scaling->rule == HU_SCALE_FORMULAS) put_formulas(&writer, &scaling->formulas);
  hui_put(&writer, ")");
  return hui_put_end(&writer);
}
