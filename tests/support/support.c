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

hu_mode t_random_mode(t_random *r) {
  hu_mode mode = t_mode(t_below(r, HU_ROUND_COUNT));
  if (mode.round >= HU_SRA) mode.bits = (uint8_t)t_between(r, 1, 32);
  mode.saturate = (uint8_t)t_below(r, 4); /* one draw a statement, here and below: the order of arguments is open */
  mode.tiny = (uint8_t)t_below(r, 2);
  mode.nan = (uint8_t)t_below(r, 3);
  return mode;
}

const char *t_mode_text(char text[T_MODE_TEXT], hu_mode mode) {
  static const char *const names[] = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto", "sra", "srb", "src"};
  const char *name = mode.round < HU_ROUND_COUNT ? names[mode.round] : "?";
  snprintf(text, T_MODE_TEXT, "%s:%u sat=%u tiny=%u nan=%u fma=%u", name, mode.bits, mode.saturate, mode.tiny, mode.nan,
           mode.nan_fma);
  return text;
}

/* Field widths with a stress on small fields, then axes at random. Most draws are not valid; t_random_format draws
 * again. */
static hu_format draw(t_random *r, unsigned min_width, unsigned max_width) {
  hu_format f;
  memset(&f, 0, sizeof f);
  f.sign = (uint8_t)(t_below(r, 3) != 0);
  int body = t_between(r, (int)min_width, (int)max_width) - f.sign;
  if (body < 0) body = 0;
  int e = t_between(r, 0, body < 11 ? body : 11);
  f.e = (uint8_t)e;
  f.m = (uint8_t)(body - e);
  f.zero = (uint8_t)(t_below(r, 3) ? HU_ZERO_FIELD : t_below(r, 3));
  f.subnormal = (uint8_t)t_below(r, 3);
  f.inf = (uint8_t)t_below(r, 3);
  f.nan = (uint8_t)t_below(r, 6);
  f.negzero = (uint8_t)(f.sign && t_below(r, 2));
  f.overflow = (uint8_t)t_below(r, 3);
  f.negative = (uint8_t)(f.sign ? 0 : t_below(r, 3));
  switch (t_below(r, 4)) {
    case 0: f.b = 0; break;
    case 1: f.b = (int16_t)t_between(r, -4, 4); break;
    case 2: f.b = (int16_t)t_between(r, -60, 60); break;
    default: f.b = (int16_t)t_between(r, -1100, 1100); break;
  }
  return f;
}

hu_format t_random_format(t_random *r, unsigned min_width, unsigned max_width) {
  for (int i = 0; i < 100000; i++) {
    hu_format f = draw(r, min_width, max_width);
    if (f.e + f.m + f.sign >= (int)min_width && hu_format_check(f, NULL) == HU_OK) return f;
  }
  fprintf(stderr, "no valid format of %u to %u bits in 100000 draws\n", min_width, max_width);
  exit(1);
}

hu_format t_random_descriptor(t_random *r) {
  hu_format f = draw(r, 1, 34);
  if (t_below(r, 4)) return f;
  switch (t_below(r, 11)) { /* one axis anywhere, out of its range included */
    case 0: f.sign = (uint8_t)t_below(r, 4); break;
    case 1: f.e = (uint8_t)t_below(r, 14); break;
    case 2: f.m = (uint8_t)t_below(r, 34); break;
    case 3: f.zero = (uint8_t)t_below(r, 5); break;
    case 4: f.subnormal = (uint8_t)t_below(r, 5); break;
    case 5: f.inf = (uint8_t)t_below(r, 5); break;
    case 6: f.nan = (uint8_t)t_below(r, 8); break;
    case 7: f.negzero = (uint8_t)t_below(r, 3); break;
    case 8: f.overflow = (uint8_t)t_below(r, 5); break;
    case 9: f.negative = (uint8_t)t_below(r, 4); break;
    default: f.b = (int16_t)(uint16_t)t_next32(r); break;
  }
  return f;
}

uint32_t t_random_code(t_random *r, hu_format f) { return t_next32(r) >> (32 - hu_limits_of(f).width); }

uint32_t t_random_integer(t_random *r, unsigned width) {
  uint32_t code = t_next32(r) >> (32 - width), above = width < 32 ? ~(uint32_t)0 << width : 0;
  return code >> (width - 1) && t_below(r, 2) ? code | above : code;
}

const char *t_format_text(char text[T_FORMAT_TEXT], hu_format f) {
  char valid[HU_FORMAT_TEXT_MAX] = "no format";
  if (hu_format_check(f, NULL) == HU_OK) (void)hu_format_text(valid, sizeof valid, f);
  snprintf(text, T_FORMAT_TEXT, "%s {sign %u e %u m %u zero %u sub %u inf %u nan %u negzero %u ovf %u neg %u b %d}",
           valid, f.sign, f.e, f.m, f.zero, f.subnormal, f.inf, f.nan, f.negzero, f.overflow, f.negative, f.b);
  return text;
}

size_t t_next_format(size_t i, unsigned max_width) {
  size_t n = hu_format_count();
  for (; i < n; i++) {
    hu_format f = hu_format_at(i).format;
    if ((unsigned)f.sign + f.e + f.m <= max_width) return i;
  }
  return n;
}

static double nudge(t_random *r, double x) {
  if (isnan(x) || isinf(x) || x == 0) return x;
  return t_double(t_bits64(x) + (uint64_t)(int64_t)t_between(r, -2, 2));
}

double t_random_operand(t_random *r, hu_format f) {
  hu_limits l = hu_limits_of(f);
  uint32_t code = t_next32(r);
  double sign = t_below(r, 2) ? 1.0 : -1.0;
  switch (t_below(r, 8)) {
    case 0: return t_double(t_next64(r));
    case 1: return sign * nudge(r, t_below(r, 2) ? l.max : l.min);
    case 2: {
      double significand = 1.0 + t_below(r, 2) * 0.5;
      return sign * nudge(r, ldexp(significand, t_between(r, l.emin - (int)f.m - 3, l.emax + 3)));
    }
    case 3: return t_below(r, 2) ? sign * 0.0 : sign * (double)INFINITY;
    case 4: return hu_decode64(f, code);
    default: { /* the midpoint of a value and its neighbour, near one, or anywhere in the gap */
      uint32_t magnitude = l.max_code ? code % l.max_code : 0;
      double lo = hu_decode64(f, magnitude), hi = hu_decode64(f, magnitude + 1);
      double part = t_below(r, 2) ? 0.5 : t_below(r, 1u << 20) * 0x1p-20;
      double x = lo + (hi - lo) * part;
      return isfinite(x) ? sign * nudge(r, x) : lo;
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
