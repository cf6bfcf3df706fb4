/* SPDX-License-Identifier: MIT */
/* See integers.h. */
#include "cli/tensors/integers.h"

#include <string.h>

#include "cli/base/cli.h"
#include "halfulp/arith.h"

enum { DIGITS = 53 }; /* of binary64 */

uint64_t cli_integer_at(const cli_source *x, size_t i, int *negative) {
  const uint8_t *at = (const uint8_t *)x->data + i * x->size;
  uint8_t u8 = *at;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t bits = u8, sign = (uint64_t)1 << (8 * x->size - 1);
  if (x->size == 2) memcpy(&u16, at, sizeof u16);
  if (x->size == 4) memcpy(&u32, at, sizeof u32);
  if (x->size == 8) memcpy(&bits, at, sizeof bits);
  if (x->size == 2) bits = u16;
  if (x->size == 4) bits = u32;
  *negative = x->kind == 'i' && (bits & sign) != 0;
  return *negative ? sign - (bits & (sign - 1)) : bits;
}

static unsigned digits_of(uint64_t bits) {
  unsigned n = 0;
  for (; bits; bits >>= 1) n++;
  return n;
}

double cli_integer_value(const cli_source *x, size_t i) {
  int negative;
  uint64_t bits = cli_integer_at(x, i, &negative);
  unsigned all = digits_of(bits), more = all > DIGITS ? all - DIGITS : 0;
  uint64_t rest = bits & (((uint64_t)1 << more) - 1), kept = (bits >> more | (rest != 0)) << more;
  return negative ? -(double)kept : (double)kept;
}

size_t cli_integer_beyond(const cli_source *x, size_t n) {
  for (size_t i = 0; i < n && x->size == 8; i++) {
    int negative;
    uint64_t bits = cli_integer_at(x, i, &negative);
    unsigned all = digits_of(bits);
    if (all > DIGITS && bits << (64 - all + DIGITS)) return i;
  }
  return n;
}

static void put_code(void *codes, size_t i, unsigned size, uint32_t code) {
  if (size == 1) ((uint8_t *)codes)[i] = (uint8_t)code;
  if (size == 2) ((uint16_t *)codes)[i] = (uint16_t)code;
  if (size == 4) ((uint32_t *)codes)[i] = code;
}

hu_status cli_integers_encode(void *codes, const cli_source *x, size_t n, hu_format format, hu_mode mode,
                              const hu_exec *exec, hu_events *events) {
  unsigned size = hu_limits_of(format).storage / 8;
  hu_stream stream = exec ? exec->stream : (hu_stream){0, 0};
  uint32_t found = 0;
  for (size_t i = 0; i < n; i++) {
    int negative;
    uint64_t bits = cli_integer_at(x, i, &negative);
    uint32_t random = mode.bits ? hu_stream_word(stream, i) >> (32 - mode.bits) : 0;
    uint32_t code = negative ? hu_from_signed(format, mode, (int64_t)(0 - bits), random, &found)
                             : hu_from_unsigned(format, mode, bits, random, &found);
    put_code(codes, i, size, code);
    if (events) hu_events_count(events, found);
  }
  return HU_OK;
}

double *cli_integers_wide(const cli_source *x, size_t n) {
  double *z = cli_alloc(n, sizeof *z);
  for (size_t i = 0; z && i < n; i++) z[i] = cli_integer_value(x, i);
  return z;
}
