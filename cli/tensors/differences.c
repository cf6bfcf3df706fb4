/* SPDX-License-Identifier: MIT */
/* Results against a reference: see differences.h. */
#include "cli/tensors/differences.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "halfulp/scalar.h"

static uint32_t code_at(const void *codes, size_t i, unsigned storage) {
  const uint8_t *bytes = (const uint8_t *)codes + i * (storage / 8);
  uint16_t u16;
  uint32_t u32;
  if (storage == 8) return *bytes;
  if (storage == 16) {
    memcpy(&u16, bytes, sizeof u16);
    return u16;
  }
  memcpy(&u32, bytes, sizeof u32);
  return u32;
}

/* Numbers the values: neighbouring values have neighbouring numbers; both zeros have 0. */
static int64_t place_of(uint32_t code, hu_format format, unsigned width) {
  uint32_t sign = format.sign ? (uint32_t)1 << (width - 1) : 0;
  return code & sign ? -(int64_t)(code & ~sign) : (int64_t)code;
}

differences differences_of(size_t n, const void *codes, const void *reference, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  differences found = {.count = n};
  double squares = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t a = code_at(codes, i, limits.storage), b = code_at(reference, i, limits.storage);
    double x = hu_decode64(format, a), y = hu_decode64(format, b), distance = fabs(x - y);
    found.different += a != b;
    if (!isfinite(x) || !isfinite(y)) {
      found.not_finite++;
      continue;
    }
    double steps = fabs((double)(place_of(a, format, limits.width) - place_of(b, format, limits.width)));
    squares += distance * distance;
    if (distance > found.max) found.max = distance;
    if (steps <= found.steps) continue;
    found.steps = steps;
    found.signs = x != 0 && y != 0 && signbit(x) != signbit(y);
  }
  found.rms = n > found.not_finite ? sqrt(squares / (double)(n - found.not_finite)) : 0;
  return found;
}
