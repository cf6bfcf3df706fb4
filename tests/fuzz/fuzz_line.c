/* SPDX-License-Identifier: MIT */
/* The numbers of `halfulp encode` over any text: what is accepted encloses what strtod reads, and its hexadecimal and
 * decimal texts read back as the same bits. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "halfulp/scalar.h"

static uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static void check_number(number z, const char *text) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  number again;
  if (isnan(z.value)) return;
  double nearest = strtod(text, NULL);
  double away = nextafter(z.toward_zero, signbit(z.toward_zero) ? -HUGE_VAL : HUGE_VAL);
  if (z.exact)
    FUZZ_CHECK(bits_of(nearest) == bits_of(z.value));
  else
    FUZZ_CHECK(bits_of(nearest) == bits_of(z.toward_zero) || bits_of(nearest) == bits_of(away));
  if (!z.exact)
    FUZZ_CHECK((bits_of(z.value) & 1) &&
               (bits_of(z.value) == bits_of(z.toward_zero) || bits_of(z.value) == bits_of(away)));
  FUZZ_CHECK(number_parse(&again, number_hex(hex, z.value)) && again.exact && bits_of(again.value) == bits_of(z.value));
  FUZZ_CHECK(number_parse(&again, number_decimal(decimal, z.value)));
  FUZZ_CHECK(bits_of(strtod(decimal, NULL)) == bits_of(z.value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  number z;
  uint64_t u;
  char *text = malloc(size + 1);
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  if (number_parse(&z, text)) check_number(z, text);
  for (unsigned digits = 0; digits <= 17; digits++)
    if (hex_parse(&u, text, digits)) FUZZ_CHECK(strlen(text) == digits && digits <= 16);
  if (hex_parse_any(&u, text, 0xFFFF)) FUZZ_CHECK(u <= 0xFFFF);
  free(text);
  return 0;
}
