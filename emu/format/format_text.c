/* SPDX-License-Identifier: MIT */
/* Converts descriptors to text and back. The grammar stands in halfulp/format.h, above hu_format_parse. */
#include <string.h>

#include "emu/base/text.h"
#include "halfulp/format.h"
#include "halfulp/formats/make.h"

enum {
  AXIS_SIGN,
  AXIS_ZERO,
  AXIS_SUBNORMAL,
  AXIS_INF,
  AXIS_NAN,
  AXIS_NEGZERO,
  AXIS_OVERFLOW,
  AXIS_NEGATIVE,
  AXIS_COUNT
};
enum { FAMILY_IEEE, FAMILY_FINITE, FAMILY_FN, FAMILY_FNUZ, FAMILY_P3109E, FAMILY_P3109F, FAMILY_COUNT };

/* Also the order in which hu_format_text prefers them among texts of one length. */
static const char *const families[FAMILY_COUNT] = {"ieee", "finite", "fn", "fnuz", "p3109e", "p3109f"};

typedef struct axis_word {
  const char *text;
  uint8_t axis;
  uint8_t value;
} axis_word;

/* The first word of an axis and value is the one that hu_format_text writes. */
static const axis_word words[] = {
    {"unsigned", AXIS_SIGN, 0},
    {"zero=field", AXIS_ZERO, HU_ZERO_FIELD},
    {"zero=code", AXIS_ZERO, HU_ZERO_CODE},
    {"zero=none", AXIS_ZERO, HU_ZERO_NONE},
    {"nosub", AXIS_SUBNORMAL, HU_SUBNORMAL_NONE},
    {"flush", AXIS_SUBNORMAL, HU_SUBNORMAL_FLUSH},
    {"sub=gradual", AXIS_SUBNORMAL, HU_SUBNORMAL_GRADUAL},
    {"sub=none", AXIS_SUBNORMAL, HU_SUBNORMAL_NONE},
    {"sub=flush", AXIS_SUBNORMAL, HU_SUBNORMAL_FLUSH},
    {"inf=none", AXIS_INF, HU_INF_NONE},
    {"inf=ieee", AXIS_INF, HU_INF_IEEE},
    {"inf=top", AXIS_INF, HU_INF_TOP},
    {"nan=none", AXIS_NAN, HU_NAN_NONE},
    {"nan=ieee", AXIS_NAN, HU_NAN_IEEE},
    {"nan=ieee1", AXIS_NAN, HU_NAN_IEEE_ONES},
    {"nan=ones", AXIS_NAN, HU_NAN_ONES},
    {"nan=negzero", AXIS_NAN, HU_NAN_NEGZERO},
    {"nan=top", AXIS_NAN, HU_NAN_TOP},
    {"negzero", AXIS_NEGZERO, 1},
    {"nonegzero", AXIS_NEGZERO, 0},
    {"ovf=inf", AXIS_OVERFLOW, HU_OVERFLOW_INF},
    {"ovf=nan", AXIS_OVERFLOW, HU_OVERFLOW_NAN},
    {"ovf=max", AXIS_OVERFLOW, HU_OVERFLOW_MAX},
    {"neg=nan", AXIS_NEGATIVE, HU_NEGATIVE_NAN},
    {"neg=low", AXIS_NEGATIVE, HU_NEGATIVE_LOW},
    {"neg=stop", AXIS_NEGATIVE, HU_NEGATIVE_STOP},
};
#define WORD_COUNT (sizeof words / sizeof words[0])

static uint8_t *axis_of(hu_format *format, unsigned axis) {
  switch (axis) {
    case AXIS_ZERO: return &format->zero;
    case AXIS_SUBNORMAL: return &format->subnormal;
    case AXIS_INF: return &format->inf;
    case AXIS_NAN: return &format->nan;
    case AXIS_NEGZERO: return &format->negzero;
    case AXIS_OVERFLOW: return &format->overflow;
    case AXIS_NEGATIVE: return &format->negative;
    default: return &format->sign;
  }
}

/* Returns the format of a family, with or without sign. */
static hu_format family_format(unsigned family, unsigned e, unsigned m, int b, int is_unsigned) {
  hu_format format;
  switch (family) {
    case FAMILY_FINITE: format = hu_format_finite(e, m, b); break;
    case FAMILY_FN: format = hu_format_fn(e, m, b); break;
    case FAMILY_IEEE: format = hu_format_ieee(e, m, b); break;
    default: format = hu_format_fnuz(e, m, b); break;
  }
  if (family == FAMILY_P3109E) {
    format.inf = HU_INF_TOP;
    format.overflow = HU_OVERFLOW_INF;
  }
  if (!is_unsigned) return format;
  format = hu_format_unsigned(format);
  if (family >= FAMILY_P3109E) format.negative = HU_NEGATIVE_STOP;
  /* fnuz names the place of -0, which an unsigned format lacks: left as it is, for hu_format_check to refuse. */
  if (family == FAMILY_FNUZ) format.nan = HU_NAN_NEGZERO;
  return format;
}

/* Lets p3109f overflow to max where an axis takes its NaN away. */
static void without_nan(hu_format *format, unsigned family, uint8_t nan) {
  if (family == FAMILY_P3109F && nan == HU_NAN_NONE) format->overflow = HU_OVERFLOW_MAX;
}

/* --- text to descriptor --- */

typedef struct reader {
  const char *text;
  size_t at; /* offset of the next character; on failure, of the wrong part */
} reader;

static int take(reader *input, char c) {
  if (input->text[input->at] != c) return 0;
  input->at++;
  return 1;
}

/* Beyond every bound that a descriptor has, far from overflow. */
#define NUMBER_LARGE 100000

/* Decimal digits, no leading zero; larger numbers read as NUMBER_LARGE. -1 if there is none, at input->at. */
static int read_number(reader *input) {
  const char *text = input->text + input->at;
  size_t n = 0;
  int value = 0;
  while (text[n] >= '0' && text[n] <= '9') {
    value = value * 10 + (text[n] - '0');
    if (value > NUMBER_LARGE) value = NUMBER_LARGE;
    n++;
  }
  if (n == 0 || (n > 1 && text[0] == '0')) return -1;
  input->at += n;
  return value;
}

typedef struct fp_form {
  int e, m, b;
  unsigned family;
  unsigned seen;             /* bit per axis */
  uint8_t value[AXIS_COUNT]; /* where seen */
} fp_form;

/* Reads "e,m,b)". */
static int read_widths(reader *input, fp_form *form) {
  form->e = read_number(input);
  if (form->e < 0 || !take(input, ',')) return 0;
  form->m = read_number(input);
  if (form->m < 0 || !take(input, ',')) return 0;
  int negative = take(input, '-');
  if (!negative) (void)take(input, '+');
  form->b = read_number(input);
  if (form->b < 0) return 0;
  if (negative) form->b = -form->b;
  return take(input, ')');
}

static int is_word(const char *text, size_t n, const char *word) {
  return strlen(word) == n && memcmp(text, word, n) == 0;
}

/* The suffix is unknown. If the key before '=' is known, the position of the value is reported. */
static void blame_value(reader *input, size_t n) {
  const char *text = input->text + input->at;
  const char *equals = memchr(text, '=', n);
  if (!equals) return;
  size_t key = (size_t)(equals - text) + 1;
  for (size_t i = 0; i < WORD_COUNT; i++) {
    if (strncmp(words[i].text, text, key) != 0) continue;
    input->at += key;
    return;
  }
}

/* One suffix; `family_allowed` says whether a family may stand here. */
static int read_suffix(reader *input, fp_form *form, int family_allowed) {
  const char *text = input->text + input->at;
  size_t n = strcspn(text, ",");
  for (unsigned i = 0; i < FAMILY_COUNT; i++) {
    if (!is_word(text, n, families[i])) continue;
    if (!family_allowed) return 0;
    form->family = i;
    input->at += n;
    return 1;
  }
  for (size_t i = 0; i < WORD_COUNT; i++) {
    if (!is_word(text, n, words[i].text)) continue;
    if (form->seen >> words[i].axis & 1) return 0;
    form->seen |= 1u << words[i].axis;
    form->value[words[i].axis] = words[i].value;
    input->at += n;
    return 1;
  }
  blame_value(input, n);
  return 0;
}

static int read_suffixes(reader *input, fp_form *form) {
  for (unsigned i = 0;; i++) {
    int family_allowed = i == 0 || (i == 1 && form->seen == 1u << AXIS_SIGN);
    if (!read_suffix(input, form, family_allowed)) return 0;
    if (!take(input, ',')) return 1; /* a suffix ends at a comma or at the end of the text */
  }
}

static hu_status build(hu_format *format, const fp_form *form, const char **axis) {
  hu_format built =
      family_format(form->family, (unsigned)form->e, (unsigned)form->m, form->b, (int)(form->seen >> AXIS_SIGN & 1));
  if (form->seen >> AXIS_NAN & 1) without_nan(&built, form->family, form->value[AXIS_NAN]);
  for (unsigned i = 0; i < AXIS_COUNT; i++) {
    if (form->seen >> i & 1) *axis_of(&built, i) = form->value[i];
  }
  if (hu_format_check(built, axis) != HU_OK) return HU_E_FORMAT;
  *format = built;
  return HU_OK;
}

/* "fp(" has been read. */
static hu_status parse_form(hu_format *format, reader *input, const char **axis) {
  fp_form form;
  memset(&form, 0, sizeof form);
  if (!read_widths(input, &form)) return HU_E_TEXT;
  if (take(input, ':') && !read_suffixes(input, &form)) return HU_E_TEXT;
  if (input->text[input->at] != 0) return HU_E_TEXT;
  input->at = 0;
  return build(format, &form, axis);
}

static hu_status parse_name(hu_format *format, reader *input, const char **axis) {
  for (;; input->at++) {
    char c = input->text[input->at];
    int letter = c >= 'a' && c <= 'z';
    int other = (c >= '0' && c <= '9') || c == '_';
    if (!letter && !(other && input->at > 0)) break;
  }
  if (input->at == 0 || input->text[input->at] != 0) return HU_E_TEXT;
  const char *name = input->text;
  input->at = 0;
  hu_status status = hu_format_find(format, name);
  if (status == HU_E_FORMAT && axis) *axis = "e: a P3109 format of this width and precision needs more than 11 bits";
  return status;
}

hu_status hu_format_parse(hu_format *format, const char *text, size_t *where) {
  return hu_format_parse_axis(format, text, where, NULL);
}

hu_status hu_format_parse_axis(hu_format *format, const char *text, size_t *where, const char **axis) {
  if (!format || !text) return HU_E_NULL;
  reader input = {text, 0};
  hu_status status;
  if (strncmp(text, "fp(", 3) == 0) {
    input.at = 3;
    status = parse_form(format, &input, axis);
  } else {
    status = parse_name(format, &input, axis);
  }
  if (status != HU_OK && where) *where = input.at;
  return status;
}

/* ---- descriptor to text ---- */

static void put_suffix(hu_writer *writer, unsigned *count, const char *text) {
  hui_put(writer, (*count)++ ? "," : ":");
  hui_put(writer, text);
}

static void put_axis(hu_writer *writer, unsigned *count, unsigned axis, uint8_t value) {
  for (size_t i = 0; i < WORD_COUNT; i++) {
    if (words[i].axis != axis || words[i].value != value) continue;
    put_suffix(writer, count, words[i].text);
    return;
  }
}

static void put_form(hu_writer *writer, hu_format format, unsigned family) {
  hu_format base = family_format(family, format.e, format.m, format.b, !format.sign);
  without_nan(&base, family, format.nan);
  unsigned count = 0;
  hui_put(writer, "fp(");
  hui_put_number(writer, format.e);
  hui_put(writer, ",");
  hui_put_number(writer, format.m);
  hui_put(writer, ",");
  hui_put_number(writer, format.b);
  hui_put(writer, ")");
  if (family != FAMILY_IEEE) put_suffix(writer, &count, families[family]);
  if (!format.sign) put_suffix(writer, &count, "unsigned");
  for (unsigned axis = AXIS_ZERO; axis < AXIS_COUNT; axis++) {
    uint8_t value = *axis_of(&format, axis);
    if (value != *axis_of(&base, axis)) put_axis(writer, &count, axis, value);
  }
}

size_t hu_format_text(char *text, size_t size, hu_format format) {
  if (hu_format_check(format, NULL) != HU_OK) return 0;
  unsigned best = FAMILY_IEEE;
  size_t least = SIZE_MAX;
  for (unsigned family = 0; family < FAMILY_COUNT; family++) {
    hu_writer counter = {NULL, 0, 0};
    put_form(&counter, format, family);
    if (counter.length >= least) continue;
    least = counter.length;
    best = family;
  }
  hu_writer writer = {text, text ? size : 0, 0};
  put_form(&writer, format, best);
  return hui_put_end(&writer);
}
