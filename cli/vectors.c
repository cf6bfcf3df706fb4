/* SPDX-License-Identifier: MIT */
/* Operations by name, cases solved, judged, printed and read. */
#include "cli/vectors.h"

#include <stdlib.h>
#include <string.h>

#include "cli/numbers.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { LESS = 1, EQUAL = 2 };
enum { INEXACT = 1, UNDERFLOW = 2, OVERFLOW = 4, INFINITE = 8, INVALID = 16 };

static const vectors_operation table[] = {
    {"add", "add", VECTORS_TWO, 2, NULL, hu_add, 0, 0},
    {"sub", "sub", VECTORS_TWO, 2, NULL, hu_sub, 0, 0},
    {"mul", "mul", VECTORS_TWO, 2, NULL, hu_mul, 0, 0},
    {"div", "div", VECTORS_TWO, 2, NULL, hu_div, 0, 0},
    {"sqrt", "sqrt", VECTORS_ONE, 1, hu_sqrt, NULL, 0, 0},
    {"fma", "mulAdd", VECTORS_FMA, 3, NULL, NULL, 0, 0},
    {"minimum", NULL, VECTORS_TWO, 2, NULL, hu_minimum, 0, 0},
    {"maximum", NULL, VECTORS_TWO, 2, NULL, hu_maximum, 0, 0},
    {"minimum_number", NULL, VECTORS_TWO, 2, NULL, hu_minimum_number, 0, 0},
    {"maximum_number", NULL, VECTORS_TWO, 2, NULL, hu_maximum_number, 0, 0},
    {"round_to_integral", "roundToInt", VECTORS_INTEGRAL, 1, NULL, NULL, 0, 0},
    {"convert", NULL, VECTORS_CONVERT, 1, NULL, NULL, 0, 0},
    {"eq", "eq", VECTORS_RELATION, 2, NULL, NULL, EQUAL, 0},
    {"le", "le", VECTORS_RELATION, 2, NULL, NULL, LESS | EQUAL, 1},
    {"lt", "lt", VECTORS_RELATION, 2, NULL, NULL, LESS, 1},
    {"eq_signaling", "eq_signaling", VECTORS_RELATION, 2, NULL, NULL, EQUAL, 1},
    {"le_quiet", "le_quiet", VECTORS_RELATION, 2, NULL, NULL, LESS | EQUAL, 0},
    {"lt_quiet", "lt_quiet", VECTORS_RELATION, 2, NULL, NULL, LESS, 0},
    {"exp", NULL, VECTORS_ONE, 1, hu_exp, NULL, 0, 0},
    {"exp2", NULL, VECTORS_ONE, 1, hu_exp2, NULL, 0, 0},
    {"expm1", NULL, VECTORS_ONE, 1, hu_expm1, NULL, 0, 0},
    {"log", NULL, VECTORS_ONE, 1, hu_log, NULL, 0, 0},
    {"log2", NULL, VECTORS_ONE, 1, hu_log2, NULL, 0, 0},
    {"log1p", NULL, VECTORS_ONE, 1, hu_log1p, NULL, 0, 0},
    {"tanh", NULL, VECTORS_ONE, 1, hu_tanh, NULL, 0, 0},
    {"sigmoid", NULL, VECTORS_ONE, 1, hu_sigmoid, NULL, 0, 0},
    {"erf", NULL, VECTORS_ONE, 1, hu_erf, NULL, 0, 0},
    {"gelu", NULL, VECTORS_ONE, 1, hu_gelu, NULL, 0, 0},
    {"rsqrt", NULL, VECTORS_ONE, 1, hu_rsqrt, NULL, 0, 0},
    {"reciprocal", NULL, VECTORS_ONE, 1, hu_reciprocal, NULL, 0, 0},
    {"sin", NULL, VECTORS_ONE, 1, hu_sin, NULL, 0, 0},
    {"cos", NULL, VECTORS_ONE, 1, hu_cos, NULL, 0, 0},
    {"pow", NULL, VECTORS_TWO, 2, NULL, hu_pow, 0, 0},
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

const vectors_operation *vectors_find(const char *name) {
  for (int i = 0; i < TABLE_SIZE; i++)
    if (!strcmp(table[i].name, name)) return &table[i];
  return NULL;
}

static int standard_format(hu_format *f, const char *name, size_t length) {
  if (length == 3 && !strncmp(name, "f16", 3))
    *f = hu_binary16();
  else if (length == 3 && !strncmp(name, "f32", 3))
    *f = hu_binary32();
  else if (length == 4 && !strncmp(name, "bf16", 4))
    *f = hu_bfloat16();
  else
    return 0;
  return 1;
}

int vectors_find_testfloat(vectors *v, const char *function) {
  const char *rest = strchr(function, '_');
  if (!rest || !standard_format(&v->from, function, (size_t)(rest - function))) return 0;
  v->to = v->from;
  rest++;
  if (!strncmp(rest, "to_", 3)) {
    v->op = vectors_find("convert");
    return standard_format(&v->to, rest + 3, strlen(rest + 3));
  }
  for (int i = 0; i < TABLE_SIZE; i++) {
    if (!table[i].testfloat || strcmp(table[i].testfloat, rest) != 0) continue;
    v->op = &table[i];
    return 1;
  }
  return 0;
}

/* A NaN with the quiet bit clear, in the formats whose NaNs are IEEE 754's: the library knows one NaN, TestFloat
 * two. */
static int is_signalling(hu_format f, uint32_t code) {
  if ((f.nan != HU_NAN_IEEE && f.nan != HU_NAN_IEEE_ONES) || hu_class(f, code) != HU_CLASS_NAN) return 0;
  return f.m > 0 && !(code >> (f.m - 1) & 1);
}

uint32_t vectors_flags(uint32_t events) {
  uint32_t flags = 0;
  if (events & HU_EVENT_INEXACT) flags |= INEXACT;
  if (events & HU_EVENT_UNDERFLOW) flags |= UNDERFLOW;
  if (events & HU_EVENT_OVERFLOW) flags |= OVERFLOW;
  if (events & HU_EVENT_DIVIDE_BY_ZERO) flags |= INFINITE;
  if (events & HU_EVENT_INVALID) flags |= INVALID;
  return flags;
}

static uint32_t relation(const vectors *v, const uint32_t *x, uint32_t *events) {
  int order = hu_compare(v->from, x[0], v->from, x[1]);
  *events = order == HU_UNORDERED && v->op->signalling ? HU_EVENT_INVALID : 0;
  return (order == HU_LESS && (v->op->relations & LESS)) || (order == HU_EQUAL && (v->op->relations & EQUAL));
}

uint32_t vectors_word(const vectors *v, uint64_t i) {
  return v->mode.bits ? hu_stream_word(v->stream, i) >> (32 - v->mode.bits) : 0;
}

int vectors_given(const vectors *v) { return v->op->operands + v->words; }

void vectors_solve(const vectors *v, uint64_t i, vectors_case *c) {
  uint32_t events = 0, r = v->words ? c->word : vectors_word(v, i);
  const uint32_t *x = c->x;
  hu_format f = v->from;
  switch (v->op->kind) {
    case VECTORS_TWO: c->z = v->op->two(v->to, v->mode, f, x[0], f, x[1], r, &events); break;
    case VECTORS_ONE: c->z = v->op->one(v->to, v->mode, f, x[0], r, &events); break;
    case VECTORS_FMA: c->z = hu_fma(v->to, v->mode, f, x[0], f, x[1], f, x[2], r, &events); break;
    case VECTORS_INTEGRAL: c->z = hu_round_to_integral(f, v->mode, x[0], r, &events); break;
    case VECTORS_CONVERT: c->z = hu_convert(v->to, v->mode, f, x[0], r, &events); break;
    default: c->z = relation(v, x, &events); break;
  }
  c->flags = vectors_flags(events);
  if (v->op->kind == VECTORS_INTEGRAL && v->quiet_integral) c->flags &= ~(uint32_t)INEXACT;
  for (int k = 0; k < v->op->operands; k++)
    if (is_signalling(f, x[k])) c->flags |= INVALID;
}

static int is_infinite(hu_format f, uint32_t code) {
  int c = hu_class(f, code);
  return c == HU_CLASS_NEGATIVE_INFINITY || c == HU_CLASS_POSITIVE_INFINITY;
}

static int is_zero(hu_format f, uint32_t code) {
  int c = hu_class(f, code);
  return c == HU_CLASS_NEGATIVE_ZERO || c == HU_CLASS_POSITIVE_ZERO;
}

/* 7.2 c of IEEE 754 leaves open whether 0 x inf + NaN is invalid. */
static int may_be_invalid(const vectors *v, const uint32_t *x) {
  hu_format f = v->from;
  if (v->op->kind != VECTORS_FMA || hu_class(f, x[2]) != HU_CLASS_NAN) return 0;
  return (is_zero(f, x[0]) && is_infinite(f, x[1])) || (is_infinite(f, x[0]) && is_zero(f, x[1]));
}

int vectors_right(const vectors *v, const vectors_case *want, uint32_t z, uint32_t flags) {
  int nan = v->op->kind != VECTORS_RELATION && hu_class(v->to, want->z) == HU_CLASS_NAN;
  if (nan ? hu_class(v->to, z) != HU_CLASS_NAN : z != want->z) return 0;
  uint32_t differ = flags ^ want->flags;
  if (may_be_invalid(v, want->x)) differ &= ~(uint32_t)INVALID;
  return differ == 0;
}

/* ---- text ---- */

static int result_digits(const vectors *v) { return v->op->kind == VECTORS_RELATION ? 1 : (int)code_digits(v->to); }

static uint32_t last_code(hu_format f) { return (uint32_t)(((uint64_t)1 << (f.sign + f.e + f.m)) - 1); }

void vectors_print_operands(const vectors *v, const vectors_case *c) {
  const char *blank = v->joined ? "" : " ";
  for (int k = 0; k < v->op->operands; k++)
    printf("%s%0*X", k ? blank : "", (int)code_digits(v->from), c->x[k] & last_code(v->from));
  if (v->words) printf("%s%08X", blank, c->word);
}

void vectors_print_result(const vectors *v, const char *word, uint32_t z, uint32_t flags) {
  const char *blank = v->joined ? "" : " ";
  printf("%s%s%0*X%s%02X", word, blank, result_digits(v), z, blank, flags);
}

void vectors_print(const vectors *v, const vectors_case *c) {
  vectors_print_operands(v, c);
  vectors_print_result(v, "", c->z, c->flags);
  putchar('\n');
}

char *vectors_spread(const char *line, const size_t *digits, int fields) {
  size_t length = 0;
  for (int i = 0; i < fields; i++) length += digits[i];
  if (strlen(line) != length) return NULL;
  char *z = malloc(length + (size_t)fields + 1), *at = z;
  if (!z) return NULL;
  for (int i = 0; i < fields; line += digits[i++]) {
    memcpy(at, line, digits[i]);
    at += digits[i];
    *at++ = ' ';
  }
  at[-1] = 0;
  return z;
}

/* The largest number that field i may hold. */
static uint64_t last_of(const vectors *v, int i) {
  if (i < v->op->operands) return last_code(v->from);
  if (i < vectors_given(v)) return UINT32_MAX;
  if (i > vectors_given(v)) return 0x1F;
  return v->op->kind == VECTORS_RELATION ? 1 : last_code(v->to);
}

static uint32_t *place_of(const vectors *v, int i, vectors_case *c) {
  if (i < v->op->operands) return &c->x[i];
  if (i < vectors_given(v)) return &c->word;
  return i == vectors_given(v) ? &c->z : &c->flags;
}

static int read_fields(const vectors *v, char *line, vectors_case *c) {
  int n = 0;
  for (char *at = line; *at; n++) {
    uint64_t u;
    size_t length = strcspn(at, " \t");
    char *next = at + length + strspn(at + length, " \t");
    at[length] = 0;
    if (n > vectors_given(v) + 1 || !hex_parse_any(&u, at, last_of(v, n))) return -1;
    *place_of(v, n, c) = (uint32_t)u;
    at = next;
  }
  return n;
}

int vectors_read(const vectors *v, char *line, vectors_case *c) {
  if (!v->joined) return read_fields(v, line, c);
  size_t digits[8];
  int fields = vectors_given(v) + 2;
  for (int i = 0; i < fields; i++)
    digits[i] = i < v->op->operands     ? code_digits(v->from)
                : i < vectors_given(v)  ? 8
                : i == vectors_given(v) ? (size_t)result_digits(v)
                                        : 2;
  char *spread = vectors_spread(line, digits, fields);
  if (!spread) return -1;
  int n = read_fields(v, spread, c);
  free(spread);
  return n;
}
