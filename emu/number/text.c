/* SPDX-License-Identifier: MIT */
/* hu_number_parse and hu_number_text. The grammar stands in halfulp/number.h. */
#include <string.h>

#include "emu/base/text.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "halfulp/number.h"

static const char *const codings[] = {"twos", "offset", "unsigned", NULL};
static const char *const overflows[] = {"saturate", "wrap", NULL};
static const char *const ties[] = {"even", "low", "low32", "given", NULL};

/* Returns how many numbers a table has, its limits included. */
static unsigned table_length(hu_number number) {
  return number.ties == HU_TIES_GIVEN ? 2u * number.count : number.count;
}

/* ---- text to record ---- */

typedef struct reader {
  const char *text;
  size_t at; /* the next character; on failure the wrong part */
} reader;

static int take(reader *input, const char *text) {
  size_t n = strlen(text);
  if (strncmp(input->text + input->at, text, n) != 0) return 0;
  input->at += n;
  return 1;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* 0 to 99, without leading zeros; -1 if there is none such, at it. */
static int small_number(reader *input) {
  const char *text = input->text + input->at;
  if (!is_digit(text[0])) return -1;
  int n = text[0] - '0', digits = 1;
  if (n > 0 && is_digit(text[1])) {
    n = n * 10 + (text[1] - '0');
    digits = 2;
  }
  if (is_digit(text[digits])) return -1;
  input->at += (size_t)digits;
  return n;
}

/* Reads a, `between`, b and ")"; the opening parenthesis was read. */
static int two_numbers(reader *input, int *a, const char *between, int *b) {
  *a = small_number(input);
  if (*a < 0 || !take(input, between)) return 0;
  *b = small_number(input);
  return *b >= 0 && take(input, ")");
}

/* Nothing more: 0. Else ":" (and the key) and one of the words, and nothing behind it; -1 if that is wrong. */
static int last_word(reader *input, const char *key, const char *const *words) {
  if (input->text[input->at] == 0) return 0;
  if (!take(input, key)) return -1;
  for (int i = 0; words[i]; i++) {
    if (strcmp(input->text + input->at, words[i]) == 0) return i;
  }
  return -1;
}

/* ---- decimal numbers to binary32 ---- */

enum { LIMBS = 24, DIGITS_MAX = 40, POWER_MAX = 99 };

/* The integer digits 10^power, power of either sign, rounded once: below 10^139, above 10^-139 if not 0. */
typedef struct decimal {
  uint32_t limb[LIMBS]; /* the lowest first */
  int exponent;         /* times 2^exponent */
  uint32_t sticky;
} decimal;

static void times_plus(decimal *number, uint32_t factor, uint32_t term) {
  uint64_t carry = term;
  for (int i = 0; i < LIMBS; i++) {
    carry += (uint64_t)number->limb[i] * factor;
    number->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

static void over_ten(decimal *number) {
  uint64_t rest = 0;
  for (int i = LIMBS - 1; i >= 0; i--) {
    rest = rest << 32 | number->limb[i];
    number->limb[i] = (uint32_t)(rest / 10);
    rest %= 10;
  }
  number->sticky |= rest != 0;
}

/* A negative power requires digits below the point: 2^480 10^-139 > 2^18 leaves 64 digits more than those of 1. */
static void scale(decimal *number, int power) {
  if (power < 0) {
    memmove(number->limb + 15, number->limb, (LIMBS - 15) * sizeof *number->limb);
    memset(number->limb, 0, 15 * sizeof *number->limb);
    number->exponent = -480;
  }
  for (; power > 0; power--) times_plus(number, 10, 0);
  for (; power < 0; power++) over_ten(number);
}

static uint32_t rounded(const decimal *number, uint32_t sign) {
  int top = LIMBS - 1;
  while (top > 0 && number->limb[top] == 0) top--;
  uint64_t sig = number->limb[top];
  uint32_t sticky = number->sticky;
  int exponent = number->exponent + 32 * top;
  if (top == 0 && sig == 0) return sign << 31;
  int lead = hui_clz64(sig);
  sig <<= lead;
  for (int have = lead; have > 0 && top > 0; have -= 32) { /* more digits from the limbs below */
    uint64_t next = number->limb[--top];
    if (have >= 32) {
      sig |= next << (have - 32);
    } else {
      sig |= next >> (32 - have);
      sticky |= (uint32_t)next << have != 0;
    }
  }
  while (top > 0) sticky |= number->limb[--top] != 0;
  hu_num x = hui_num_finite(sign, sig, exponent - lead);
  x.sticky = sticky != 0;
  return hui_pack32(x);
}

/* Reads [+-] digits [ "." digits ] [ "e" [+-] digits ]; at least one digit. */
static int decimal_number(reader *input, uint32_t *bits) {
  decimal number;
  uint32_t sign = input->text[input->at] == '-';
  int digits = 0, power = 0, seen = 0, point = 0;
  memset(&number, 0, sizeof number);
  if (sign || input->text[input->at] == '+') input->at++;
  for (;; input->at++) {
    char c = input->text[input->at];
    if (c == '.' && !point) {
      point = 1;
      continue;
    }
    if (!is_digit(c)) break;
    seen = 1;
    digits += digits > 0 || c != '0';
    if (digits > DIGITS_MAX) return 0;
    times_plus(&number, 10, (uint32_t)(c - '0'));
    power -= point;
    if (power < -POWER_MAX) return 0;
  }
  if (!seen) return 0;
  if (take(input, "e")) {
    int down = take(input, "-");
    if (!down) (void)take(input, "+");
    int e = small_number(input);
    if (e < 0) return 0;
    power += down ? -e : e;
    if (power < -POWER_MAX || power > POWER_MAX) return 0;
  }
  scale(&number, power);
  *bits = rounded(&number, sign);
  return 1;
}

static int pattern(reader *input, uint32_t *bits) {
  uint32_t pattern = 0;
  for (int i = 0; i < 8; i++, input->at++) {
    char c = input->text[input->at];
    int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return 0;
    pattern = pattern << 4 | (uint32_t)digit;
  }
  *bits = pattern;
  return 1;
}

/* ---- kinds ---- */

/* Reads a table; only checks it if that is NULL. */
static int read_table(hu_number *number, reader *input, float *table) {
  size_t count = 0;
  do {
    uint32_t bits;
    size_t start = input->at;
    if (count == HU_TABLE_MAX) return 0;
    if (!(take(input, "0x") ? pattern(input, &bits) : decimal_number(input, &bits)) ||
        (input->text[input->at] != ',' && input->text[input->at] != ')')) {
      input->at = start;
      return 0;
    }
    table[count++] = hui_float_of_bits(bits);
  } while (take(input, ","));
  if (!take(input, ")")) return 0;
  int rule = last_word(input, ":ties=", ties);
  if (rule < 0 || (rule == HU_TIES_GIVEN && count % 2)) return 0;
  *number = hu_number_table(rule == HU_TIES_GIVEN ? count / 2 : count, table, (unsigned)rule);
  return 1;
}

/* Returns 1 if the kind was read, 0 if its text is wrong, -1 if it is some other kind. */
static int read_kind(hu_number *number, reader *input, float *table) {
  int a, b, word;
  if (take(input, "posit(")) {
    if (!two_numbers(input, &a, ",", &b) || input->text[input->at]) return 0;
    *number = hu_number_posit((unsigned)a, (unsigned)b);
    return 1;
  }
  if (take(input, "lns(")) {
    if (!two_numbers(input, &a, ",", &b)) return 0;
    word = last_word(input, ":", codings);
    if (word >= 0) *number = hu_number_lns((unsigned)a, (unsigned)b, (unsigned)word);
    return word >= 0;
  }
  int linear = take(input, "takum_linear(");
  if (linear || take(input, "takum(")) {
    a = small_number(input);
    if (a < 0 || !take(input, ")") || input->text[input->at]) return 0;
    *number = hu_number_takum((unsigned)a, linear);
    return 1;
  }
  int is_signed = take(input, "q(");
  if (is_signed || take(input, "uq(")) {
    if (!two_numbers(input, &a, ".", &b)) return 0;
    word = last_word(input, ":", overflows);
    if (word >= 0) *number = hu_number_fixed(is_signed, (unsigned)a, (unsigned)b, (unsigned)word);
    return word >= 0;
  }
  return take(input, "table(") ? read_table(number, input, table) : -1;
}

/* Names of this catalogue are looked for first, then what hu_format_parse reads. */
static hu_status read_name(hu_number *number, reader *input) {
  hu_format format;
  hu_number found;
  if (hu_number_find(&found, input->text) == HU_OK) {
    *number = found;
    return HU_OK;
  }
  hu_status status = hu_format_parse(&format, input->text, &input->at);
  if (status == HU_OK) *number = hu_number_float(format);
  return status;
}

hu_status hu_number_parse(hu_number *number, const char *text, float *table, size_t *where) {
  float values[HU_TABLE_MAX];
  hu_number n;
  if (!number || !text) return HU_E_NULL;
  reader input = {text, 0};
  int read = read_kind(&n, &input, values);
  hu_status status = read < 0 ? read_name(&n, &input) : read ? HU_OK : HU_E_TEXT;
  if (read > 0) {
    status = hu_number_check(n, NULL);
    input.at = 0;
    if (status == HU_OK && n.table && !table) status = HU_E_SPACE;
  }
  if (status != HU_OK) {
    if (where) *where = input.at;
    return status;
  }
  if (read > 0 && n.table) {
    memcpy(table, values, table_length(n) * sizeof *table);
    n.table = table;
  }
  *number = n;
  return HU_OK;
}

/* ---- record to text ---- */

static void put_two(hu_writer *writer, const char *name, int a, const char *between, int b) {
  hui_put(writer, name);
  hui_put_number(writer, a);
  hui_put(writer, between);
  hui_put_number(writer, b);
  hui_put(writer, ")");
}

static void put_word(hu_writer *writer, const char *key, const char *const *words, unsigned word) {
  if (word == 0) return;
  hui_put(writer, key);
  hui_put(writer, words[word]);
}

static void put_pattern(hu_writer *writer, uint32_t bits) {
  char text[11] = "0x00000000";
  for (int i = 9; i > 1; i--, bits >>= 4) text[i] = "0123456789abcdef"[bits & 15];
  hui_put(writer, text);
}

static void put_table(hu_writer *writer, hu_number number) {
  hui_put(writer, "table(");
  for (unsigned i = 0; i < table_length(number); i++) {
    if (i) hui_put(writer, ",");
    put_pattern(writer, hui_bits_of_float(number.table[i]));
  }
  hui_put(writer, ")");
  put_word(writer, ":ties=", ties, number.ties);
}

size_t hu_number_text(char *text, size_t size, hu_number number) {
  hu_writer writer = {text, text ? size : 0, 0};
  if (hu_number_check(number, NULL) != HU_OK) return 0;
  switch (number.kind) {
    case HU_NUMBER_FLOAT: return hu_format_text(text, size, number.format);
    case HU_NUMBER_POSIT: put_two(&writer, "posit(", number.width, ",", number.es); break;
    case HU_NUMBER_LNS:
      put_two(&writer, "lns(", number.width, ",", number.fraction);
      put_word(&writer, ":", codings, number.coding);
      break;
    case HU_NUMBER_FIXED:
      put_two(&writer, number.sign ? "q(" : "uq(", number.width - number.sign - number.fraction, ".", number.fraction);
      put_word(&writer, ":", overflows, number.overflow);
      break;
    case HU_NUMBER_TAKUM_LINEAR:
    case HU_NUMBER_TAKUM:
      hui_put(&writer, number.kind == HU_NUMBER_TAKUM ? "takum(" : "takum_linear(");
      hui_put_number(&writer, number.width);
      hui_put(&writer, ")");
      break;
    case HU_NUMBER_HIFLOAT8: hui_put(&writer, "hifloat8"); break;
    default: put_table(&writer, number);
  }
  return hui_put_end(&writer);
}
