/* SPDX-License-Identifier: MIT */
/* cli/base/numbers.h - reads and writes numbers and codes as text. These are pure functions over strings. */
#ifndef HALFULP_CLI_BASE_NUMBERS_H
#define HALFULP_CLI_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"

/* A number read from text. Where the text is not exact in binary64, value is the text's number rounded TO ODD: toward
 * zero, the last bit then set. Rounding value into a format by any mode gives what rounding the text's number would, as
 * long as the mode looks at no digit that lies at or below that last bit (number_suffices). */
typedef struct number {
  double value;
  int exact;
  double toward_zero; /* the binary64 number next to the text's toward zero; value if exact */
} number;

/* Reads a decimal or C99 hexadecimal number, inf, infinity, nan (any case, signs allowed): the whole of text. Returns
 * 1, or 0 for another text. */
int number_parse(number *z, const char *text);
/* Returns 1 if rounding z.value into `format` by mode is rounding the text's own number. Always true of exact numbers;
 * else the last bit of value must lie below all digits that the mode looks at: m + 1 of the significand, N (and one
 * more) random ones, one to see ties. */
int number_suffices(number z, hu_format format, hu_mode mode);
/* Reads exactly `digits` hexadecimal digits, at most 16. Returns 1, or 0 (then *z is untouched). */
int hex_parse(uint64_t *z, const char *text, unsigned digits);
/* Reads 1 to 16 hexadecimal digits, with or without 0x, of no value above max. */
int hex_parse_any(uint64_t *z, const char *text, uint64_t max);

/* C99's %a with inf, -inf, nan; the same text on every C library: 0x1.8p+3, -0x0p+0. */
#define NUMBER_TEXT_MAX 40
const char *number_hex(char text[NUMBER_TEXT_MAX], double x);
/* Writes the same for (-1)^negative significand 2^exponent, which may lie beyond binary64. */
const char *number_hex_parts(char text[NUMBER_TEXT_MAX], int negative, uint64_t significand, int exponent);
/* Writes x rounded to the fewest digits that read back as x, up to 17, as people write it: 240, 0.001953125. From 1e-5
 * up to 1e16 it has no exponent. inf, -inf, nan, -0. */
const char *number_decimal(char text[NUMBER_TEXT_MAX], double x);
/* Writes it in at most so many digits (1 to 17), for what was measured: 0.333333. Below 1e16 all digits before the
 * point stay: 57344. */
const char *number_rounded(char text[NUMBER_TEXT_MAX], double x, int most);
/* Do the same into an array that lasts to the end of the block. */
#define DECIMAL(x) number_decimal((char[NUMBER_TEXT_MAX]){0}, x)
#define ROUNDED(x, most) number_rounded((char[NUMBER_TEXT_MAX]){0}, x, most)
/* Returns the number of hexadecimal digits of a code, (width + 3) / 4. */
unsigned code_digits(hu_format format);

#endif
