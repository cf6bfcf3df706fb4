/* SPDX-License-Identifier: MIT */
/* Numbers and codes as text: see numbers.h. */
#include "cli/base/numbers.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static int is_word(const char *text, const char *word) { return strcasecmp(text, word) == 0; }

static int parse_word(double *z, const char *text) {
  int negative = *text == '-';
  if (*text == '-' || *text == '+') text++;
  if (is_word(text, "inf") || is_word(text, "infinity"))
    *z = negative ? -HUGE_VAL : HUGE_VAL;
  else if (is_word(text, "nan"))
    *z = of_bits((uint64_t)negative << 63 | 0x7FF8000000000000u);
  else
    return 0;
  return 1;
}

/* Returns 1 if a digit, or a point with a digit after it, starts the text: strtod also reads blanks and words. */
static int starts_number(const char *text) {
  if (*text == '-' || *text == '+') text++;
  if (*text == '.') text++;
  return *text >= '0' && *text <= '9';
}

/* Reads a number in a rounding direction, in which strtod rounds correctly: two directions enclose the number. */
static double read_toward(const char *text, int direction, char **end) {
  int before = fegetround();
  fesetround(direction);
  double x = strtod(text, end);
  fesetround(before);
  return x;
}

int number_parse(number *z, const char *text) {
  char *end;
  double x;
  if (parse_word(&x, text)) {
    *z = (number){x, 1, x};
    return 1;
  }
  if (!starts_number(text)) return 0;
  int negative = *text == '-';
  double toward = read_toward(text, negative ? FE_UPWARD : FE_DOWNWARD, &end);
  if (*end) return 0;
  double away = read_toward(text, negative ? FE_DOWNWARD : FE_UPWARD, &end);
  if (bits_of(toward) == bits_of(away)) {
    *z = (number){toward, 1, toward};
  } else {
    *z = (number){of_bits(bits_of(toward) | 1), 0, toward};
  }
  return 1;
}

int number_suffices(number z, hu_format format, hu_mode mode) {
  if (z.exact) return 1;
  hu_limits limits = hu_limits_of(format);
  int random = mode.bits + (mode.bits ? 1 : 0);
  int digits = format.m + 1 + random + 2; /* the last two: is it a tie, is there anything at all below */
  int normal = fabs(z.value) >= 0x1p-1022;
  /* The binary64 number has 53 digits, or all down to 2^-1074; tininess looks one digit further down. */
  return digits <= 53 && (normal || limits.emin - 1 - format.m - random - 2 >= -1074);
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int hex_parse(uint64_t *z, const char *text, unsigned digits) {
  uint64_t x = 0;
  if (strlen(text) != digits || digits > 16) return 0;
  for (; *text; text++) {
    int digit = hex_value(*text);
    if (digit < 0) return 0;
    x = x << 4 | (unsigned)digit;
  }
  *z = x;
  return 1;
}

int hex_parse_any(uint64_t *z, const char *text, uint64_t max) {
  uint64_t x;
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text += 2;
  size_t n = strlen(text);
  if (n < 1 || n > 16 || !hex_parse(&x, text, (unsigned)n) || x > max) return 0;
  *z = x;
  return 1;
}

const char *number_hex_parts(char text[NUMBER_TEXT_MAX], int negative, uint64_t significand, int exponent) {
  char digits[17];
  if (significand == 0) {
    snprintf(text, NUMBER_TEXT_MAX, "%s0x0p+0", negative ? "-" : "");
    return text;
  }
  int shift = 0;
  while (!(significand >> 63)) {
    significand <<= 1;
    shift++;
  }
  snprintf(digits, sizeof digits, "%016llx", (unsigned long long)(significand << 1));
  for (int i = 15; i >= 0 && digits[i] == '0'; i--) digits[i] = 0;
  snprintf(text, NUMBER_TEXT_MAX, "%s0x1%s%sp%+d", negative ? "-" : "", *digits ? "." : "", digits,
           exponent + 63 - shift);
  return text;
}

const char *number_hex(char text[NUMBER_TEXT_MAX], double x) {
  uint64_t bits = bits_of(x), fraction = bits & 0xFFFFFFFFFFFFFu;
  int field = (int)(bits >> 52 & 0x7FF), negative = (int)(bits >> 63);
  if (field == 0x7FF) {
    snprintf(text, NUMBER_TEXT_MAX, fraction ? "nan" : negative ? "-inf" : "inf");
    return text;
  }
  if (field == 0) return number_hex_parts(text, negative, fraction, -1074);
  return number_hex_parts(text, negative, fraction | 0x10000000000000u, field - 1075);
}

/* Writes the digits of x without sign and point, at most 17 of them; returns the exponent of the first. */
static int digits_of(char digits[18], double x, int count) {
  char text[NUMBER_TEXT_MAX];
  snprintf(text, sizeof text, "%.*e", count - 1, fabs(x));
  size_t n = 0;
  const char *at = text;
  for (; *at && *at != 'e'; at++)
    if (*at != '.') digits[n++] = *at;
  while (n > 1 && digits[n - 1] == '0') n--;
  digits[n] = 0;
  return (int)strtol(at + 1, NULL, 10);
}

/* Writes no exponent from 1e-5 up to 1e16, where digits and zeros can still be counted: 240, 0.00005, 1000000. */
static const char *lay_out(char text[NUMBER_TEXT_MAX], int negative, const char *digits, int exponent) {
  int n = (int)strlen(digits);
  const char *sign = negative ? "-" : "";
  if (exponent < -5 || exponent >= 16)
    snprintf(text, NUMBER_TEXT_MAX, "%s%c%s%se%+03d", sign, *digits, n > 1 ? "." : "", digits + 1, exponent);
  else if (exponent < 0)
    snprintf(text, NUMBER_TEXT_MAX, "%s0.%.*s%s", sign, -exponent - 1, "0000", digits);
  else if (n <= exponent + 1)
    snprintf(text, NUMBER_TEXT_MAX, "%s%s%.*s", sign, digits, exponent + 1 - n, "000000000000000");
  else
    snprintf(text, NUMBER_TEXT_MAX, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
  return text;
}

/* Returns the fewest digits, from `most` down to one, that read back as x; `most` of them where none do. */
static int shortest(double x, int most) {
  char text[NUMBER_TEXT_MAX];
  for (int count = 1; count < most; count++) {
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    if (bits_of(strtod(text, NULL)) == bits_of(x)) return count;
  }
  return most;
}

static const char *decimal(char text[NUMBER_TEXT_MAX], double x, int most) {
  char digits[18];
  if (isnan(x)) return strcpy(text, "nan");
  if (isinf(x)) return strcpy(text, x < 0 ? "-inf" : "inf");
  int exponent = digits_of(digits, x, shortest(x, most));
  return lay_out(text, signbit(x) != 0, digits, exponent);
}

const char *number_decimal(char text[NUMBER_TEXT_MAX], double x) { return decimal(text, x, 17); }

const char *number_rounded(char text[NUMBER_TEXT_MAX], double x, int most) {
  int whole = 1;
  for (double ten = 10; fabs(x) >= ten && whole < 17; ten *= 10) whole++;
  return decimal(text, x, whole > most && whole <= 16 ? whole : most);
}

unsigned code_digits(hu_format format) { return (hu_limits_of(format).width + 3) / 4; }
