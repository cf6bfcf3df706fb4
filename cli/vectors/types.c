/* SPDX-License-Identifier: MIT */
/* What operands and results of test vectors are: codes of a format, integers, binary64. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/vectors/vectors.h"
#include "halfulp/scalar.h"

static int read_integer(hu_integer *type, const char *text) {
  static const char *const widths[] = {"8", "16", "32", "64"};
  int is_signed = text[0] != 'u';
  const char *rest = text + !is_signed;
  if (*rest++ != 'i') return 0;
  for (int i = 0; i < 4; i++) {
    if (strcmp(rest, widths[i]) != 0) continue;
    *type = (hu_integer){.width = (uint8_t)(8 << i), .is_signed = (uint8_t)is_signed, .exact = 1};
    return 1;
  }
  return 0;
}

int vectors_read_type(vectors_type *type, const char *text) {
  memset(type, 0, sizeof *type);
  if (!strcmp(text, "binary64")) {
    type->kind = VECTORS_BINARY64;
    return CLI_OK;
  }
  if (read_integer(&type->integer, text)) {
    type->kind = VECTORS_INTEGER;
    return CLI_OK;
  }
  return cli_read_format(&type->format, text);
}

int vectors_same_type(const vectors_type *a, const vectors_type *b) {
  if (a->kind != b->kind) return 0;
  if (a->kind == VECTORS_INTEGER)
    return a->integer.width == b->integer.width && a->integer.is_signed == b->integer.is_signed;
  return a->kind != VECTORS_CODE || hu_format_equal(a->format, b->format);
}

unsigned vectors_width(const vectors_type *type) {
  switch (type->kind) {
    case VECTORS_CODE: return (unsigned)type->format.sign + type->format.e + type->format.m;
    case VECTORS_INTEGER: return type->integer.width;
    case VECTORS_BINARY64: return 64;
    default: return 1;
  }
}

unsigned vectors_digits(const vectors_type *type) { return (vectors_width(type) + 3) / 4; }

uint64_t vectors_last(const vectors_type *type) { return UINT64_MAX >> (64 - vectors_width(type)); }

static const uint64_t infinity64 = UINT64_C(0x7FF0000000000000), quiet64 = UINT64_C(0x0008000000000000);

int vectors_is_nan(const vectors_type *type, uint64_t x) {
  if (type->kind == VECTORS_BINARY64) return (x & INT64_MAX) > infinity64;
  return type->kind == VECTORS_CODE && hu_class(type->format, (uint32_t)x) == HU_CLASS_NAN;
}

int vectors_is_signalling(const vectors_type *type, uint64_t x) {
  if (type->kind == VECTORS_BINARY64) return vectors_is_nan(type, x) && !(x & quiet64);
  return type->kind == VECTORS_CODE && hu_is_signalling(type->format, (uint32_t)x);
}

uint64_t vectors_canonical_nan(const vectors_type *type) {
  return type->kind == VECTORS_BINARY64 ? infinity64 | quiet64 : hu_limits_of(type->format).nan_code;
}

/* ---- numbers ---- */

static int64_t as_signed(const hu_integer *type, uint64_t x) {
  uint64_t sign = (uint64_t)1 << (type->width - 1);
  return type->is_signed ? (int64_t)((x ^ sign) - sign) : (int64_t)x;
}

double vectors_value(const vectors_type *type, uint64_t x) {
  double z;
  switch (type->kind) {
    case VECTORS_CODE: return hu_decode64(type->format, (uint32_t)x);
    case VECTORS_INTEGER: return type->integer.is_signed ? (double)as_signed(&type->integer, x) : (double)x;
    case VECTORS_BINARY64: memcpy(&z, &x, sizeof z); return z;
    default: return (double)x;
  }
}

/* Returns the integer below |x|, or above it; the ends of the type beyond them. */
static uint64_t near_integer(const hu_integer *type, double x, int away) {
  double high = ldexp(1, type->width - type->is_signed), low = type->is_signed ? -high : 0;
  double whole = away ? (x < 0 ? floor(x) : ceil(x)) : trunc(x);
  uint64_t last = UINT64_MAX >> (64 - type->width);
  if (!(whole < high)) return last >> type->is_signed;
  if (whole < low) whole = low;
  return (whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole) & last;
}

uint64_t vectors_near(const vectors_type *type, double x, int away) {
  hu_mode mode = {.round = (uint8_t)(away ? HU_RAZ : HU_RTZ), .saturate = HU_SAT_FINITE};
  uint64_t z;
  switch (type->kind) {
    case VECTORS_CODE: return hu_encode64(type->format, mode, x, 0, NULL);
    case VECTORS_INTEGER: return near_integer(&type->integer, x, away);
    default: memcpy(&z, &x, sizeof z); return z;
  }
}

const char *vectors_value_text(char text[VECTORS_VALUE_MAX], const vectors_type *type, uint64_t x) {
  if (type->kind == VECTORS_TRUTH)
    snprintf(text, VECTORS_VALUE_MAX, "%s", x ? "true" : "false");
  else if (type->kind == VECTORS_INTEGER && type->integer.is_signed)
    snprintf(text, VECTORS_VALUE_MAX, "%lld", (long long)as_signed(&type->integer, x));
  else if (type->kind == VECTORS_INTEGER)
    snprintf(text, VECTORS_VALUE_MAX, "%llu", (unsigned long long)x);
  else if (vectors_is_signalling(type, x))
    snprintf(text, VECTORS_VALUE_MAX, "signalling nan");
  else
    snprintf(text, VECTORS_VALUE_MAX, "%s", DECIMAL(vectors_value(type, x)));
  return text;
}
