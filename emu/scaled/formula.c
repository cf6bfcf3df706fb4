/* SPDX-License-Identifier: MIT */
/* Checks formulas, and reads and writes their text. */
#include "emu/scaled/formula.h"

#include <string.h>

#include "emu/core/bits.h"

/* ---- the check ---- */

#define NAME(x) (1u << (x))

/* Returns the names that formula `which` may use; has: a bit for each formula that is there. */
static uint32_t names_of(const hu_scaling *scaling, uint32_t which, uint32_t has) {
  uint32_t tensor = 0;
  if (has >> HU_OF_BIG_S & 1) tensor |= NAME(HU_FORMULA_BIG_S);
  if (has >> HU_OF_SMALL_T & 1) tensor |= NAME(HU_FORMULA_SMALL_T);
  uint32_t all = NAME(HU_FORMULA_A) | tensor | (scaling->tensor ? NAME(HU_FORMULA_T) : 0);
  switch (which) {
    case HU_OF_BIG_S: return NAME(HU_FORMULA_T) | (tensor & NAME(HU_FORMULA_SMALL_T));
    case HU_OF_SMALL_T: return NAME(HU_FORMULA_T) | (tensor & NAME(HU_FORMULA_BIG_S));
    case HU_OF_SCALE: return all;
    case HU_OF_ELEMENT: return all | NAME(HU_FORMULA_SCALE) | NAME(HU_FORMULA_X);
    default: /* a tensor stores t, or S where there is no t */
      return NAME(HU_FORMULA_SCALE) | NAME(HU_FORMULA_P) |
             (tensor & (has >> HU_OF_SMALL_T & 1 ? NAME(HU_FORMULA_SMALL_T) : NAME(HU_FORMULA_BIG_S)));
  }
}

/* Is code[at] ... code[end - 1] one formula of these names? *used: the names; *numbers: how many numbers were used so
 * far, which come in order. */
static int is_whole(const hu_formulas *formulas, uint32_t at, uint32_t end, uint32_t names, uint32_t *used,
                    uint32_t *numbers) {
  uint32_t depth = 0;
  for (; at < end; at++) {
    uint32_t op = formulas->code[at], takes = hui_formula_takes(op);
    if (op < HU_FORMULA_ADD) {
      if (!(names >> op & 1)) return 0;
      *used |= NAME(op);
    } else if (op >= HU_FORMULA_NUMBER) {
      if (op - HU_FORMULA_NUMBER >= HU_FORMULA_NUMBERS || op - HU_FORMULA_NUMBER > *numbers) return 0;
      *numbers += op - HU_FORMULA_NUMBER == *numbers;
    } else if (op > HU_FORMULA_RNZ) {
      return 0;
    }
    if (depth < takes) return 0;
    depth += 1 - takes;
    if (depth > HU_FORMULA_DEEP) return 0;
  }
  return depth == 1;
}

static int numbers_fine(const hu_formulas *formulas, uint32_t count) {
  for (uint32_t i = 0; i < HU_FORMULA_NUMBERS; i++) {
    uint32_t x = formulas->number[i];
    if (i < count ? x - 1 >= 0x7F7FFFFF : x != 0) return 0;
    for (uint32_t k = 0; k < i && i < count; k++) {
      if (formulas->number[k] == x) return 0;
    }
  }
  return 1;
}

static const char *const wrong_whole[HU_OF_COUNT] = {
    "S: not a formula of T and t", "t: not a formula of T and S", "s: not a formula of A, T, S and t",
    "x: not a formula of A, T, S, t, s and x", "v: not a formula of P, s and what the tensor stores"};

const char *hui_formulas_wrong(const hu_scaling *scaling) {
  const hu_formulas *formulas = &scaling->formulas;
  uint32_t start[HU_OF_COUNT], end[HU_OF_COUNT], at = 0, has = 0, used[HU_OF_COUNT] = {0}, numbers = 0;
  for (uint32_t i = 0; i < HU_OF_COUNT; i++) {
    start[i] = at;
    end[i] = hui_formula_end(formulas, at);
    if (end[i] >= HU_FORMULA_BYTES) return "formulas: too long";
    has |= (uint32_t)(end[i] > at) << i;
    at = end[i] + 1;
  }
  for (; at < HU_FORMULA_BYTES; at++) {
    if (formulas->code[at]) return "formulas: more than five";
  }
  for (uint32_t i = 0; i < HU_OF_COUNT; i++) {
    if (has >> i & 1 && !is_whole(formulas, start[i], end[i], names_of(scaling, i, has), &used[i], &numbers))
      return wrong_whole[i];
  }
  if (!numbers_fine(formulas, numbers)) return "formulas: numbers are positive and finite, and each stands once";
  if (used[HU_OF_BIG_S] >> HU_FORMULA_SMALL_T & 1 && used[HU_OF_SMALL_T] >> HU_FORMULA_BIG_S & 1)
    return "S, t: each one is made of the other";
  if (!(has >> HU_OF_SCALE & 1)) return "s: there is no formula";
  if (!(used[HU_OF_ELEMENT] >> HU_FORMULA_X & 1)) return "x: there is no formula of x";
  if (has >> HU_OF_VALUE & 1 && !(used[HU_OF_VALUE] >> HU_FORMULA_P & 1)) return "v: there is no P";
  if (scaling->tensor != ((has & 3) != 0 ? HU_TENSOR_MAX : HU_TENSOR_NONE)) return "tensor: a formula S or t makes it";
  if ((has & 3) == 1 << HU_OF_BIG_S && !(has >> HU_OF_VALUE & 1)) return "v: required where there is S without t";
  return NULL;
}

int hui_formulas_keep_values(const hu_scaling *scaling) {
  uint32_t at = 0;
  if (scaling->rule != HU_SCALE_FORMULAS) return scaling->rule < HU_SCALE_FORMULAS;
  for (uint32_t i = 0; i < HU_OF_VALUE; i++) at = hui_formula_end(&scaling->formulas, at) + 1;
  return scaling->formulas.code[at] == HU_FORMULA_END;
}

/* ---- text to code ---- */

static const char *const words[] = {"",      "A",     "T",     "S",     "t",     "s",     "x",     "P",
                                    "+",     "*",     "/",     "max",   "min",   "or",    "and",   "bf",
                                    "h",     "hz",    "up",    "down",  "near",  "even1", "even2", "even3",
                                    "even4", "even5", "even6", "even7", "scale", "rna",   "rnz"};
enum { WORDS = sizeof words / sizeof *words, NESTED = 16, FUNCTION_FIRST = HU_FORMULA_MAX };

typedef struct formula_reader {
  hu_formulas *formulas;
  uint32_t *at;
  const char *text;
  size_t place;
  uint32_t nested;
} formula_reader;

static int put_op(formula_reader *reader, uint32_t op) {
  if (*reader->at >= HU_FORMULA_BYTES) return 0;
  reader->formulas->code[(*reader->at)++] = (uint8_t)op;
  return 1;
}

static int put_constant(formula_reader *reader, uint32_t pattern) {
  uint32_t k = 0;
  if (pattern - 1 >= 0x7F7FFFFF) return 0;
  while (k < HU_FORMULA_NUMBERS && reader->formulas->number[k] && reader->formulas->number[k] != pattern) k++;
  if (k == HU_FORMULA_NUMBERS) return 0;
  reader->formulas->number[k] = pattern;
  return put_op(reader, HU_FORMULA_NUMBER + k);
}

static int digit_of(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/* Reads an integer up to 999999, or 0x and a pattern of 8 digits. */
static int read_constant(formula_reader *reader) {
  const char *at = reader->text + reader->place;
  uint32_t value = 0, n = 0;
  if (at[0] == '0') {
    if (at[1] != 'x') return 0;
    for (; n < 8; n++) {
      int digit = digit_of(at[2 + n]);
      if (digit < 0) return 0;
      value = value << 4 | (uint32_t)digit;
    }
    reader->place += 10;
    return put_constant(reader, value);
  }
  for (; n < 6 && at[n] >= '0' && at[n] <= '9'; n++) value = value * 10 + (uint32_t)(at[n] - '0');
  reader->place += n;
  return put_constant(reader, hui_bits_of_float((float)value)); /* exact: fewer than 24 bits */
}

static int passed(formula_reader *reader, char c) {
  if (reader->text[reader->place] != c) return 0;
  reader->place++;
  return 1;
}

static int read_sum(formula_reader *reader);

/* Reads what stands between the parentheses of a function, and writes the function behind it. */
static int read_arguments(formula_reader *reader, uint32_t op) {
  if (!read_sum(reader)) return 0;
  if (hui_formula_takes(op) == 2 && !(passed(reader, ',') && read_sum(reader))) return 0;
  return passed(reader, ')') && put_op(reader, op);
}

static int read_factor(formula_reader *reader) {
  const char *at = reader->text + reader->place;
  size_t n = 0;
  if (at[0] >= '0' && at[0] <= '9') return read_constant(reader);
  if (passed(reader, '(')) return read_sum(reader) && passed(reader, ')');
  while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z') || (n && at[n] >= '0' && at[n] <= '9')) n++;
  for (uint32_t op = 1; op < WORDS; op++) {
    if (strlen(words[op]) != n || strncmp(at, words[op], n) != 0) continue;
    reader->place += n;
    if (op < HU_FORMULA_ADD) return put_op(reader, op);
    return passed(reader, '(') && read_arguments(reader, op);
  }
  return 0;
}

static int read_product(formula_reader *reader) {
  if (!read_factor(reader)) return 0;
  for (;;) {
    uint32_t op = reader->text[reader->place] == '*'   ? HU_FORMULA_TIMES
                  : reader->text[reader->place] == '/' ? HU_FORMULA_OVER
                                                       : 0;
    if (!op) return 1;
    reader->place++;
    if (!read_factor(reader) || !put_op(reader, op)) return 0;
  }
}

static int read_sum(formula_reader *reader) {
  if (++reader->nested > NESTED || !read_product(reader)) return 0;
  while (passed(reader, '+')) {
    if (!read_product(reader) || !put_op(reader, HU_FORMULA_ADD)) return 0;
  }
  reader->nested--;
  return 1;
}

hu_status hui_formula_read(hu_formulas *formulas, uint32_t *at, const char *text, size_t *length) {
  formula_reader reader = {formulas, at, text, 0, 0};
  int fine = read_sum(&reader) && put_op(&reader, HU_FORMULA_END);
  *length = reader.place;
  return fine ? HU_OK : HU_E_TEXT;
}

/* ---- code to text ---- */

/* Returns where the operand begins whose last operation is code[end - 1]. */
static uint32_t start_of(const hu_formulas *formulas, uint32_t end) {
  for (uint32_t open = 1; open; end--) open += hui_formula_takes(formulas->code[end - 1]) - 1;
  return end;
}

static void put_constant_text(hu_writer *writer, uint32_t pattern) {
  hu_num x = hui_unpack32(pattern);
  double value = hui_double_of_bits(hui_pack64(x));
  if (value <= 999999 && value == (double)(int)value) {
    hui_put_number(writer, (int)value);
    return;
  }
  char digits[11] = "0x";
  for (int i = 0; i < 8; i++) digits[2 + i] = "0123456789abcdef"[pattern >> (28 - 4 * i) & 15];
  hui_put(writer, digits);
}

/* Writes an operand, in parentheses where it binds less than what it stands in. */
static void put_operand(hu_writer *writer, const hu_formulas *formulas, uint32_t end, uint32_t strength) {
  uint32_t op = formulas->code[end - 1], at = start_of(formulas, end);
  uint32_t own = op == HU_FORMULA_ADD ? 1 : op == HU_FORMULA_TIMES || op == HU_FORMULA_OVER ? 2 : 3;
  if (own < strength) hui_put(writer, "(");
  hui_formula_put(writer, formulas, at, end);
  if (own < strength) hui_put(writer, ")");
}

void hui_formula_put(hu_writer *writer, const hu_formulas *formulas, uint32_t at, uint32_t end) {
  uint32_t op = formulas->code[end - 1];
  if (op >= HU_FORMULA_NUMBER) {
    put_constant_text(writer, formulas->number[op - HU_FORMULA_NUMBER]);
    return;
  }
  if (op < FUNCTION_FIRST && op >= HU_FORMULA_ADD) {
    uint32_t strength = op == HU_FORMULA_ADD ? 1 : 2;
    put_operand(writer, formulas, start_of(formulas, end - 1), strength);
    hui_put(writer, words[op]);
    put_operand(writer, formulas, end - 1, strength + 1);
    return;
  }
  hui_put(writer, words[op]);
  if (op < HU_FORMULA_ADD) return;
  hui_put(writer, "(");
  if (hui_formula_takes(op) == 2) {
    uint32_t middle = start_of(formulas, end - 1);
    hui_formula_put(writer, formulas, at, middle);
    hui_put(writer, ",");
    hui_formula_put(writer, formulas, middle, end - 1);
  } else {
    hui_formula_put(writer, formulas, at, end - 1);
  }
  hui_put(writer, ")");
}
