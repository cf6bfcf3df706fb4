/* SPDX-License-Identifier: MIT */
/* tests/gen/conversions.c - golden conversions into one format: for each operand where it lies, so that the line serves
 * every deterministic mode and policy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/gen/golden.h"
#include "tests/support/random.h"

typedef struct t_writer {
  t_text lines;
  unsigned count, written; /* lines of the whole text, and those that are in this one */
  int stored;              /* the text that is stored: only what is chosen for it */
  int chosen;              /* so are the lines that follow */
  hu_format f;
  uint32_t max_code;
  double emin_value; /* 2^emin */
} t_writer;

static uint32_t bits32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static uint64_t bits64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static double value(hu_format f, uint32_t code) {
  double v;
  if (hu_oracle_decode64(&v, f, code) != HU_OK) abort();
  return v;
}

/* The tininess mark (tests/golden/README.md). All numbers here are exact in binary64. */
static char tiny_mark(const t_writer *w, double x) {
  double a = fabs(x), unit = ldexp(w->emin_value, -(int)w->f.m);
  double normal = w->f.zero == HU_ZERO_CODE ? w->emin_value + unit : w->emin_value;
  double below = w->f.zero == HU_ZERO_CODE ? w->emin_value : w->emin_value - unit / 2;
  double middle = below + (normal - below) / 2;
  if (a == 0 || a >= normal) return '-';
  if (w->f.e == 0 || a <= below) return 't';
  return a < middle ? '<' : a == middle ? 'h' : '>';
}

/* The bits of x in binary32. A conversion may lose the sign of a NaN (it does on RISC-V). */
static uint32_t single_of(double x) { return isnan(x) ? (signbit(x) ? 0xFFC00000u : 0x7FC00000u) : bits32((float)x); }

/* One line. An operand that is exact in binary32 is written as binary32. */
static void put(t_writer *w, double x) {
  hu_place p = {0, isnan(x) ? 'n' : 'i'};
  char mark = '-';
  w->count++;
  if (w->stored && !w->chosen) return;
  w->written++;
  if (isfinite(x)) {
    if (hu_oracle_place(&p, w->f, x) != HU_OK) abort();
    mark = tiny_mark(w, x);
  }
  int narrow = isnan(x) || fabs(x) <= 0x1.fffffep+127 || isinf(x) ? (isnan(x) || (double)(float)x == x) : 0;
  if (narrow)
    text_add(&w->lines, "%08x %x %c %c\n", single_of(x), p.below, p.where, mark);
  else
    text_add(&w->lines, "%016llx %x %c %c\n", (unsigned long long)bits64(x), p.below, p.where, mark);
}

static void put_both(t_writer *w, double x) {
  put(w, x);
  put(w, -x);
}

static double float_step(double x, float toward) { return (double)nextafterf((float)x, toward); }

/* x, signs by turns, with its neighbours in binary32 where that has them; if neighbours is 0, the file that is stored
 * has x alone. */
static void put_near(t_writer *w, double x, int neighbours) {
  double s = w->count % 2 ? -1.0 : 1.0;
  put(w, s * x);
  w->chosen = w->chosen && neighbours;
  if (fabs(x) < 0x1p+127 && fabs(x) > 0x1p-149) {
    put(w, s * float_step(x, INFINITY));
    put(w, s * float_step(x, 0));
  }
  w->chosen = 1;
}

static void put_very_near(t_writer *w, double x) {
  double s = w->count % 2 ? -1.0 : 1.0;
  put(w, s * nextafter(x, INFINITY));
  if (x != 0) put(w, s * nextafter(x, 0));
}

/* The grid point after a code, beyond max included. */
static double next_value(const t_writer *w, uint32_t code) {
  double v = value(w->f, code);
  if (code < w->max_code) return value(w->f, code + 1);
  int k = ilogb(v) < ilogb(w->emin_value) || w->f.e == 0 ? ilogb(w->emin_value) : ilogb(v);
  return v + ldexp(1, k - (int)w->f.m);
}

enum { MANY = 300, CHOSEN = 96, SOME = 8 };

/* Codes to look at: all of a small format; else the edges and some others. */
static size_t choose(const t_writer *w, uint32_t *codes) {
  size_t n = 0;
  if (w->max_code < MANY) {
    for (uint32_t c = 0; c <= w->max_code; c++) codes[n++] = c;
    return n;
  }
  uint32_t normal = 1u << w->f.m;
  uint32_t edges[] = {0,
                      1,
                      2,
                      3,
                      normal - 2,
                      normal - 1,
                      normal,
                      normal + 1,
                      2 * normal - 1,
                      2 * normal,
                      w->max_code - 2,
                      w->max_code - 1,
                      w->max_code};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) codes[n++] = edges[i];
  t_random r = {w->max_code};
  while (n < CHOSEN) codes[n++] = t_below(&r, w->max_code + 1);
  return n;
}

/* Where a mistake about ties or the exponent shows: the first two binades and the last, and beside each 16th code. */
static int is_edge(const t_writer *w, uint32_t code) {
  uint32_t binade = 1u << w->f.m;
  return code <= 2 * binade || code + binade >= w->max_code || code % 16 == 0 || code % 16 == 15;
}

static void put_values(t_writer *w) {
  uint32_t codes[MANY];
  size_t n = choose(w, codes);
  text_add(&w->lines, "## values of codes and the binary32 numbers beside them: \"exact\" decided by sticky bits\n");
  for (size_t i = 0; i < n; i++) put_near(w, value(w->f, codes[i]), is_edge(w, codes[i]));
  text_add(&w->lines, "## midpoints and the binary32 numbers beside them: parity, carry into the exponent\n");
  for (size_t i = 0; i < n; i++) {
    double lo = value(w->f, codes[i]), hi = next_value(w, codes[i]);
    w->chosen = w->f.m > 0 || codes[i] % 4 < 2; /* powers of two are alike: some of either parity */
    put_near(w, lo + (hi - lo) / 2, is_edge(w, codes[i]));
  }
  text_add(
      &w->lines,
      "## binary64 numbers closer to midpoints than any binary32 number: a detour through binary32 rounds twice\n");
  for (size_t i = 0; i < n; i += 4) {
    double lo = value(w->f, codes[i]), hi = next_value(w, codes[i]);
    w->chosen = i % SOME == 0;
    put_very_near(w, lo + (hi - lo) / 2);
  }
  w->chosen = 1;
}

static void put_edges(t_writer *w) {
  double max = value(w->f, w->max_code), next = next_value(w, w->max_code), e = w->emin_value;
  double unit = ldexp(e, -(int)w->f.m), low = w->f.zero == HU_ZERO_NONE ? e : unit;
  text_add(&w->lines, "## the overflow edge: compared after rounding, ties by parity\n");
  double over[] = {
      max,     max + (next - max) / 4, max + (next - max) / 2, max + (next - max) * 3 / 4, next, next + (next - max),
      2 * next};
  for (size_t i = 0; i < sizeof over / sizeof over[0]; i++) {
    put_both(w, over[i]);
    put_very_near(w, over[i]);
  }
  text_add(
      &w->lines,
      "## the tininess edge: around the smallest normal number, on the format's grid and on the one that goes on\n");
  for (int i = -16; i <= 16; i++) {
    w->chosen = i % 2 == 0 && abs(i) <= 8;
    put_both(w, e + unit * i / 8);
    if (i % 2 == 0) put_very_near(w, e + unit * i / 8);
  }
  w->chosen = 1;
  text_add(&w->lines, "## around and far below the smallest number\n");
  for (int i = 1; i <= 8; i++) {
    put_both(w, low * i / 4);
    put_very_near(w, low * i / 4);
  }
  for (int k = 8; k < 400; k *= 2) put_both(w, ldexp(low, -k) * 1.25);
  text_add(&w->lines, "## zeros, infinities, NaNs, extremes of binary32 and binary64\n");
  double rest[] = {
      0, INFINITY, NAN, 0x1p-149, 0x1p-126, 0x1.fffffcp-127, 0x1.fffffep+127, 0x1p-1074, 0x1.fffffffffffffp+1023};
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) put_both(w, rest[i]);
}

static void put_random(t_writer *w) {
  t_random r = {w->max_code + 77u};
  int high = ilogb(value(w->f, w->max_code)) + 2, low = ilogb(w->emin_value) - (int)w->f.m - 3;
  if (high > 127) high = 127;
  if (low < -149) low = -149;
  text_add(&w->lines, "## binary32 numbers at random over the range and a little beyond\n");
  for (int i = 0; i < 200; i++) {
    double significand = 1 + t_below(&r, 1u << 23) * 0x1p-23; /* one draw a statement: the order of arguments is open */
    float x = (float)ldexp(significand, t_between(&r, low, high));
    w->chosen = i % SOME == 0;
    put(w, (double)(t_below(&r, 2) ? x : -x));
  }
}

void golden_conversions(t_text *t, size_t format_index, int stored) {
  golden_format g = golden_format_at(format_index);
  t_writer w = {.stored = stored, .chosen = 1, .f = g.format, .max_code = golden_max_code(g.format)};
  int bias = w.f.e ? (1 << (w.f.e - 1)) - 1 + w.f.b : w.f.b;
  w.emin_value = ldexp(1, w.f.zero == HU_ZERO_FIELD ? 1 - bias : -bias);
  put_values(&w);
  put_edges(&w);
  put_random(&w);
  text_add(t,
           "# halfulp golden file: conversions of binary32 and binary64 numbers into one format\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: OPERAND BELOW WHERE TINY, see README.md here; 8 digits binary32, 16 digits binary64\n");
  text_add(t, "# count: %u\nformat ", w.written);
  golden_format_line(t, g);
  text_add(t, "%s", w.lines.at);
  text_free(&w.lines);
}
