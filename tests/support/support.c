/* SPDX-License-Identifier: MIT */
/* tests/support/support.c - see support.h. */
#include "tests/support/support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"

uint64_t t_seed(const char *name, uint64_t fallback) {
  const char *text = getenv("HU_TEST_SEED");
  uint64_t seed = fallback;
  if (text != NULL && *text != '\0') {
    char *end = NULL;
    errno = 0;
    unsigned long long given = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0') {
      fprintf(stderr, "HU_TEST_SEED=%s is not a number\n", text);
      exit(1);
    }
    seed = given;
  }
  printf("%s: seed %llu (HU_TEST_SEED overrides)\n", name, (unsigned long long)seed);
  fflush(stdout);
  return seed;
}

unsigned t_part(unsigned n) {
  const char *text = getenv("HU_TEST_COUNT");
  if (text == NULL || *text == '\0') return n;
  char *end = NULL;
  unsigned long percent = strtoul(text, &end, 10);
  if (*end != '\0' || percent < 1 || percent > 100) {
    fprintf(stderr, "HU_TEST_COUNT=%s is not a number from 1 to 100\n", text);
    exit(1);
  }
  unsigned part = (unsigned)((uint64_t)n * percent / 100);
  return part ? part : 1;
}

int t_same32(float a, float b) { return t_bits32(a) == t_bits32(b); }
int t_same64(double a, double b) { return t_bits64(a) == t_bits64(b); }

static uint8_t pattern_byte(size_t i) { return (uint8_t)(0xA5u ^ (i & 0x0Fu)); }

uint32_t t_get(const void *x, size_t size, ptrdiff_t i) {
  if (size == 1) return ((const uint8_t *)x)[i];
  if (size == 2) return ((const uint16_t *)x)[i];
  return ((const uint32_t *)x)[i];
}

void t_put(void *z, size_t size, ptrdiff_t i, uint32_t code) {
  if (size == 1)
    ((uint8_t *)z)[i] = (uint8_t)code;
  else if (size == 2)
    ((uint16_t *)z)[i] = (uint16_t)code;
  else
    ((uint32_t *)z)[i] = code;
}

void t_fill_pattern(void *z, size_t n) {
  uint8_t *p = z;
  for (size_t i = 0; i < n; i++) p[i] = pattern_byte(i);
}

int t_is_pattern(const void *z, size_t n) {
  const uint8_t *p = z;
  for (size_t i = 0; i < n; i++)
    if (p[i] != pattern_byte(i)) return 0;
  return 1;
}

hu_mode t_mode(unsigned round) {
  hu_mode mode;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  return mode;
}

hu_mode t_stochastic(unsigned round, unsigned bits) {
  hu_mode mode = t_mode(round);
  mode.bits = (uint8_t)bits;
  return mode;
}

hu_mode t_policy(hu_mode mode, unsigned saturate, unsigned tiny, unsigned nan) {
  mode.saturate = (uint8_t)saturate;
  mode.tiny = (uint8_t)tiny;
  mode.nan = (uint8_t)nan;
  return mode;
}

hu_mode t_random_mode(t_random *random) {
  hu_mode mode = t_mode(t_below(random, HU_ROUND_COUNT));
  if (mode.round >= HU_SRA) mode.bits = (uint8_t)t_between(random, 1, 32);
  mode.saturate =
      (uint8_t)t_below(random, 4); /* one draw a statement, here and below: the order of arguments is open */
  mode.tiny = (uint8_t)t_below(random, 2);
  mode.nan = (uint8_t)t_below(random, 3);
  return mode;
}

const char *t_mode_text(char text[T_MODE_TEXT], hu_mode mode) {
  const char *name = mode.round < HU_ROUND_COUNT ? hu_mode_round_words(mode.round).name : "?";
  snprintf(text, T_MODE_TEXT, "%s:%u sat=%u tiny=%u nan=%u fma=%u", name, mode.bits, mode.saturate, mode.tiny, mode.nan,
           mode.nan_fma);
  return text;
}

/* Field widths with a stress on small fields, then axes at random. Most draws are not valid; t_random_format draws
 * again. */
static hu_format draw(t_random *random, unsigned min_width, unsigned max_width) {
  hu_format format;
  memset(&format, 0, sizeof format);
  format.sign = (uint8_t)(t_below(random, 3) != 0);
  int body = t_between(random, (int)min_width, (int)max_width) - format.sign;
  if (body < 0) body = 0;
  int e = t_between(random, 0, body < 11 ? body : 11);
  format.e = (uint8_t)e;
  format.m = (uint8_t)(body - e);
  format.zero = (uint8_t)(t_below(random, 3) ? HU_ZERO_FIELD : t_below(random, 3));
  format.subnormal = (uint8_t)t_below(random, 3);
  format.inf = (uint8_t)t_below(random, 3);
  format.nan = (uint8_t)t_below(random, 6);
  format.negzero = (uint8_t)(format.sign && t_below(random, 2));
  format.overflow = (uint8_t)t_below(random, 3);
  format.negative = (uint8_t)(format.sign ? 0 : t_below(random, 3));
  switch (t_below(random, 4)) {
    case 0: format.b = 0; break;
    case 1: format.b = (int16_t)t_between(random, -4, 4); break;
    case 2: format.b = (int16_t)t_between(random, -60, 60); break;
    default: format.b = (int16_t)t_between(random, -1100, 1100); break;
  }
  return format;
}

hu_format t_random_format(t_random *random, unsigned min_width, unsigned max_width) {
  for (int i = 0; i < 100000; i++) {
    hu_format format = draw(random, min_width, max_width);
    if (format.e + format.m + format.sign >= (int)min_width && hu_format_check(format, NULL) == HU_OK) return format;
  }
  fprintf(stderr, "no valid format of %u to %u bits in 100000 draws\n", min_width, max_width);
  exit(1);
}

hu_format t_random_descriptor(t_random *random) {
  hu_format format = draw(random, 1, 34);
  if (t_below(random, 4)) return format;
  switch (t_below(random, 11)) { /* one axis anywhere, out of its range included */
    case 0: format.sign = (uint8_t)t_below(random, 4); break;
    case 1: format.e = (uint8_t)t_below(random, 14); break;
    case 2: format.m = (uint8_t)t_below(random, 34); break;
    case 3: format.zero = (uint8_t)t_below(random, 5); break;
    case 4: format.subnormal = (uint8_t)t_below(random, 5); break;
    case 5: format.inf = (uint8_t)t_below(random, 5); break;
    case 6: format.nan = (uint8_t)t_below(random, 8); break;
    case 7: format.negzero = (uint8_t)t_below(random, 3); break;
    case 8: format.overflow = (uint8_t)t_below(random, 5); break;
    case 9: format.negative = (uint8_t)t_below(random, 4); break;
    default: format.b = (int16_t)(uint16_t)t_next32(random); break;
  }
  return format;
}

uint32_t t_random_code(t_random *random, hu_format format) {
  return t_next32(random) >> (32 - hu_limits_of(format).width);
}

uint32_t t_random_integer(t_random *random, unsigned width) {
  uint32_t code = t_next32(random) >> (32 - width), above = width < 32 ? ~(uint32_t)0 << width : 0;
  return code >> (width - 1) && t_below(random, 2) ? code | above : code;
}

const char *t_format_text(char text[T_FORMAT_TEXT], hu_format format) {
  char valid[HU_FORMAT_TEXT_MAX] = "no format";
  if (hu_format_check(format, NULL) == HU_OK) (void)hu_format_text(valid, sizeof valid, format);
  snprintf(text, T_FORMAT_TEXT, "%s {sign %u e %u m %u zero %u sub %u inf %u nan %u negzero %u ovf %u neg %u b %d}",
           valid, format.sign, format.e, format.m, format.zero, format.subnormal, format.inf, format.nan,
           format.negzero, format.overflow, format.negative, format.b);
  return text;
}

size_t t_next_format(size_t i, unsigned max_width) {
  size_t n = hu_format_count();
  for (; i < n; i++) {
    hu_format format = hu_format_at(i).format;
    if ((unsigned)format.sign + format.e + format.m <= max_width) return i;
  }
  return n;
}

static double nudge(t_random *random, double x) {
  if (isnan(x) || isinf(x) || x == 0) return x;
  return t_double(t_bits64(x) + (uint64_t)(int64_t)t_between(random, -2, 2));
}

double t_random_operand(t_random *random, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  uint32_t code = t_next32(random);
  double sign = t_below(random, 2) ? 1.0 : -1.0;
  switch (t_below(random, 8)) {
    case 0: return t_double(t_next64(random));
    case 1: return sign * nudge(random, t_below(random, 2) ? limits.max : limits.min);
    case 2: {
      double significand = 1.0 + t_below(random, 2) * 0.5;
      return sign *
             nudge(random, ldexp(significand, t_between(random, limits.emin - (int)format.m - 3, limits.emax + 3)));
    }
    case 3: return t_below(random, 2) ? sign * 0.0 : sign * (double)INFINITY;
    case 4: return hu_decode64(format, code);
    default: { /* the midpoint of a value and its neighbour, near one, or anywhere in the gap */
      uint32_t magnitude = limits.max_code ? code % limits.max_code : 0;
      double lo = hu_decode64(format, magnitude), hi = hu_decode64(format, magnitude + 1);
      double part = t_below(random, 2) ? 0.5 : t_below(random, 1u << 20) * 0x1p-20;
      double x = lo + (hi - lo) * part;
      return isfinite(x) ? sign * nudge(random, x) : lo;
    }
  }
}

int t_same_events(const hu_events *a, const hu_events *b) {
  return a->overflow == b->overflow && a->saturated == b->saturated && a->underflow == b->underflow &&
         a->to_zero == b->to_zero && a->subnormal == b->subnormal && a->inexact == b->inexact &&
         a->invalid == b->invalid && a->nan_in == b->nan_in && a->inf_in == b->inf_in &&
         a->divide_by_zero == b->divide_by_zero;
}

const char *t_events_text(char text[T_EVENTS_TEXT], uint32_t events) {
  static const char *const names[] = {"overflow", "saturated", "underflow", "to_zero", "subnormal",
                                      "inexact",  "invalid",   "nan_in",    "inf_in",  "divide_by_zero"};
  size_t at = 0;
  text[0] = '\0';
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    if (events >> i & 1u) at += (size_t)snprintf(text + at, T_EVENTS_TEXT - at, "%s%s", at ? "+" : "", names[i]);
  if (events == 0) snprintf(text, T_EVENTS_TEXT, "none");
  return text;
}
