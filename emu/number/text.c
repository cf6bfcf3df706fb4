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
static unsigned table_length(hu_number n) { return n.ties == HU_TIES_GIVEN ? 2u * n.count : n.count; }

/* ---- text to record ---- */

typedef struct reader {
  const char *text;
  size_t at; /* the next character; on failure the wrong part */
} reader;

static int take(reader *r, const char *s) {
  size_t n = strlen(s);
  if (strncmp(r->text + r->at, s, n) != 0) return 0;
  r->at += n;
  return 1;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* 0 to 99, without leading zeros; -1 if there is none such, at it. */
static int small_number(reader *r) {
  const char *s = r->text + r->at;
  if (!is_digit(s[0])) return -1;
  int n = s[0] - '0', digits = 1;
  if (n > 0 && is_digit(s[1])) {
    n = n * 10 + (s[1] - '0');
    digits = 2;
  }
  if (is_digit(s[digits])) return -1;
  r->at += (size_t)digits;
  return n;
}

/* Reads a, `between`, b and ")"; the opening parenthesis was read. */
static int two_numbers(reader *r, int *a, const char *between, int *b) {
  *a = small_number(r);
  if (*a < 0 || !take(r, between)) return 0;
  *b = small_number(r);
  return *b >= 0 && take(r, ")");
}

/* Nothing more: 0. Else ":" (and the key) and one of the words, and nothing behind it; -1 if that is wrong. */
static int last_word(reader *r, const char *key, const char *const *words) {
  if (r->text[r->at] == 0) return 0;
  if (!take(r, key)) return -1;
  for (int i = 0; words[i]; i++) {
    if (strcmp(r->text + r->at, words[i]) == 0) return i;
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

static void times_plus(decimal *d, uint32_t factor, uint32_t term) {
  uint64_t carry = term;
  for (int i = 0; i < LIMBS; i++) {
    carry += (uint64_t)d->limb[i] * factor;
    d->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

static void over_ten(decimal *d) {
  uint64_t rest = 0;
  for (int i = LIMBS - 1; i >= 0; i--) {
    rest = rest << 32 | d->limb[i];
    d->limb[i] = (uint32_t)(rest / 10);
    rest %= 10;
  }
  d->sticky |= rest != 0;
}

/* A negative power requires digits below the point: 2^480 10^-139 > 2^18 leaves 64 digits more than those of 1. */
static void scale(decimal *d, int power) {
  if (power < 0) {
    memmove(d->limb + 15, d->limb, (LIMBS - 15) * sizeof *d->limb);
    memset(d->limb, 0, 15 * sizeof *d->limb);
    d->exponent = -480;
  }
  for (; power > 0; power--) times_plus(d, 10, 0);
  for (; power < 0; power++) over_ten(d);
}

static uint32_t rounded(const decimal *d, uint32_t sign) {
  int top = LIMBS - 1;
  while (top > 0 && d->limb[top] == 0) top--;
  uint64_t sig = d->limb[top];
  uint32_t sticky = d->sticky;
  int exponent = d->exponent + 32 * top;
  if (top == 0 && sig == 0) return sign << 31;
  int lead = hui_clz64(sig);
  sig <<= lead;
  for (int have = lead; have > 0 && top > 0; have -= 32) { /* more digits from the limbs below */
    uint64_t next = d->limb[--top];
    if (have >= 32) {
      sig |= next << (have - 32);
    } else {
      sig |= next >> (32 - have);
      sticky |= (uint32_t)next << have != 0;
    }
  }
  while (top > 0) sticky |= d->limb[--top] != 0;
  hu_num x = hui_num_finite(sign, sig, exponent - lead);
  x.sticky = sticky != 0;
  return hui_pack32(x);
}

/* Reads [+-] digits [ "." digits ] [ "e" [+-] digits ]; at least one digit. */
static int decimal_number(reader *r, uint32_t *bits) {
  decimal d;
  uint32_t sign = r->text[r->at] == '-';
  int digits = 0, power = 0, seen = 0, point = 0;
  memset(&d, 0, sizeof d);
  if (sign || r->text[r->at] == '+') r->at++;
  for (;; r->at++) {
    char c = r->text[r->at];
    if (c == '.' && !point) {
      point = 1;
      continue;
    }
    if (!is_digit(c)) break;
    seen = 1;
    digits += digits > 0 || c != '0';
    if (digits > DIGITS_MAX) return 0;
    times_plus(&d, 10, (uint32_t)(c - '0'));
    power -= point;
    if (power < -POWER_MAX) return 0;
  }
  if (!seen) return 0;
  if (take(r, "e")) {
    int down = take(r, "-");
    if (!down) (void)take(r, "+");
    int e = small_number(r);
    if (e < 0) return 0;
    power += down ? -e : e;
    if (power < -POWER_MAX || power > POWER_MAX) return 0;
  }
  scale(&d, power);
  *bits = rounded(&d, sign);
  return 1;
}

static int pattern(reader *r, uint32_t *bits) {
  uint32_t u = 0;
  for (int i = 0; i < 8; i++, r->at++) {
    char c = r->text[r->at];
    int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return 0;
    u = u << 4 | (uint32_t)digit;
  }
  *bits = u;
  return 1;
}

/* ---- kinds ---- */

/* Reads a table into values; only checks it if that is NULL. */
static int read_table(hu_number *z, reader *r, float *room) {
  size_t count = 0;
  do {
    uint32_t bits;
    size_t start = r->at;
    if (count == HU_TABLE_MAX) return 0;
    if (!(take(r, "0x") ? pattern(r, &bits) : decimal_number(r, &bits)) ||
        (r->text[r->at] != ',' && r->text[r->at] != ')')) {
      r->at = start;
      return 0;
    }
    room[count++] = hui_float_of_bits(bits);
  } while (take(r, ","));
  if (!take(r, ")")) return 0;
  int rule = last_word(r, ":ties=", ties);
  if (rule < 0 || (rule == HU_TIES_GIVEN && count % 2)) return 0;
  *z = hu_number_table(rule == HU_TIES_GIVEN ? count / 2 : count, room, (unsigned)rule);
  return 1;
}

/* Returns 1 if the kind was read, 0 if its text is wrong, -1 if it is some other kind. */
static int read_kind(hu_number *z, reader *r, float *room) {
  int a, b, word;
  if (take(r, "posit(")) {
    if (!two_numbers(r, &a, ",", &b) || r->text[r->at]) return 0;
    *z = hu_number_posit((unsigned)a, (unsigned)b);
    return 1;
  }
  if (take(r, "lns(")) {
    if (!two_numbers(r, &a, ",", &b)) return 0;
    word = last_word(r, ":", codings);
    if (word >= 0) *z = hu_number_lns((unsigned)a, (unsigned)b, (unsigned)word);
    return word >= 0;
  }
  int linear = take(r, "takum_linear(");
  if (linear || take(r, "takum(")) {
    a = small_number(r);
    if (a < 0 || !take(r, ")") || r->text[r->at]) return 0;
    *z = hu_number_takum((unsigned)a, linear);
    return 1;
  }
  int is_signed = take(r, "q(");
  if (is_signed || take(r, "uq(")) {
    if (!two_numbers(r, &a, ".", &b)) return 0;
    word = last_word(r, ":", overflows);
    if (word >= 0) *z = hu_number_fixed(is_signed, (unsigned)a, (unsigned)b, (unsigned)word);
    return word >= 0;
  }
  return take(r, "table(") ? read_table(z, r, room) : -1;
}

/* Names of this catalogue are looked for first, then what hu_format_parse reads. */
static hu_status read_name(hu_number *z, reader *r) {
  hu_format f;
  hu_number found;
  if (hu_number_find(&found, r->text) == HU_OK) {
    *z = found;
    return HU_OK;
  }
  hu_status s = hu_format_parse(&f, r->text, &r->at);
  if (s == HU_OK) *z = hu_number_float(f);
  return s;
}

hu_status hu_number_parse(hu_number *z, const char *text, float *room, size_t *where) {
  float values[HU_TABLE_MAX];
  hu_number n;
  if (!z || !text) return HU_E_NULL;
  reader r = {text, 0};
  int read = read_kind(&n, &r, values);
  hu_status s = read < 0 ? read_name(&n, &r) : read ? HU_OK : HU_E_TEXT;
  if (read > 0) {
    s = hu_number_check(n, NULL);
    r.at = 0;
    if (s == HU_OK && n.table && !room) s = HU_E_SPACE;
  }
  if (s != HU_OK) {
    if (where) *where = r.at;
    return s;
  }
  if (read > 0 && n.table) {
    memcpy(room, values, table_length(n) * sizeof *room);
    n.table = room;
  }
  *z = n;
  return HU_OK;
}

/* ---- record to text ---- */

static void put_two(hu_writer *w, const char *name, int a, const char *between, int b) {
  hui_put(w, name);
  hui_put_number(w, a);
  hui_put(w, between);
  hui_put_number(w, b);
  hui_put(w, ")");
}

static void put_word(hu_writer *w, const char *key, const char *const *words, unsigned word) {
  if (word == 0) return;
  hui_put(w, key);
  hui_put(w, words[word]);
}

static void put_pattern(hu_writer *w, uint32_t bits) {
  char text[11] = "0x00000000";
  for (int i = 9; i > 1; i--, bits >>= 4) text[i] = "0123456789abcdef"[bits & 15];
  hui_put(w, text);
}

static void put_table(hu_writer *w, hu_number n) {
  hui_put(w, "table(");
  for (unsigned i = 0; i < table_length(n); i++) {
    if (i) hui_put(w, ",");
    put_pattern(w, hui_bits_of_float(n.table[i]));
  }
  hui_put(w, ")");
  put_word(w, ":ties=", ties, n.ties);
}

size_t hu_number_text(char *text, size_t size, hu_number n) {
  hu_writer w = {text, text ? size : 0, 0};
  if (hu_number_check(n, NULL) != HU_OK) return 0;
  switch (n.kind) {
    case HU_NUMBER_FLOAT: return hu_format_text(text, size, n.format);
    case HU_NUMBER_POSIT: put_two(&w, "posit(", n.width, ",", n.es); break;
    case HU_NUMBER_LNS:
      put_two(&w, "lns(", n.width, ",", n.fraction);
      put_word(&w, ":", codings, n.coding);
      break;
    case HU_NUMBER_FIXED:
      put_two(&w, n.sign ? "q(" : "uq(", n.width - n.sign - n.fraction, ".", n.fraction);
      put_word(&w, ":", overflows, n.overflow);
      break;
    case HU_NUMBER_TAKUM_LINEAR:
    case HU_NUMBER_TAKUM:
      hui_put(&w, n.kind == HU_NUMBER_TAKUM ? "takum(" : "takum_linear(");
      hui_put_number(&w, n.width);
      hui_put(&w, ")");
      break;
    case HU_NUMBER_HIFLOAT8: hui_put(&w, "hifloat8"); break;
    default: put_table(&w, n);
  }
  return hui_put_end(&w);
}
