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

static double value(hu_format format, uint32_t code) {
  double v;
  if (hu_oracle_decode64(&v, format, code) != HU_OK) abort();
  return v;
}

/* The tininess mark (tests/golden/README.md). All numbers here are exact in binary64. */
static char tiny_mark(const t_writer *writer, double x) {
  double a = fabs(x), unit = ldexp(writer->emin_value, -(int)writer->f.m);
  double normal = writer->f.zero == HU_ZERO_CODE ? writer->emin_value + unit : writer->emin_value;
  double below = writer->f.zero == HU_ZERO_CODE ? writer->emin_value : writer->emin_value - unit / 2;
  double middle = below + (normal - below) / 2;
  if (a == 0 || a >= normal) return '-';
  if (writer->f.e == 0 || a <= below) return 't';
  return a < middle ? '<' : a == middle ? 'h' : '>';
}

/* The bits of x in binary32. A conversion may lose the sign of a NaN (it does on RISC-V). */
static uint32_t single_of(double x) { return isnan(x) ? (signbit(x) ? 0xFFC00000u : 0x7FC00000u) : bits32((float)x); }

/* One line. An operand that is exact in binary32 is written as binary32. */
static void put(t_writer *writer, double x) {
  hu_place place = {0, isnan(x) ? 'n' : 'i'};
  char mark = '-';
  writer->count++;
  if (writer->stored && !writer->chosen) return;
  writer->written++;
  if (isfinite(x)) {
    if (hu_oracle_place(&place, writer->f, x) != HU_OK) abort();
    mark = tiny_mark(writer, x);
  }
  int narrow = isnan(x) || fabs(x) <= 0x1.fffffep+127 || isinf(x) ? (isnan(x) || (double)(float)x == x) : 0;
  if (narrow)
    text_add(&writer->lines, "%08x %x %c %c\n", single_of(x), place.below, place.where, mark);
  else
    text_add(&writer->lines, "%016llx %x %c %c\n", (unsigned long long)bits64(x), place.below, place.where, mark);
}

static void put_both(t_writer *writer, double x) {
  put(writer, x);
  put(writer, -x);
}

static double float_step(double x, float toward) { return (double)nextafterf((float)x, toward); }

/* x, signs by turns, with its neighbours in binary32 where that has them; if neighbours is 0, the file that is stored
 * has x alone. */
static void put_near(t_writer *writer, double x, int neighbours) {
  double s = writer->count % 2 ? -1.0 : 1.0;
  put(writer, s * x);
  writer->chosen = writer->chosen && neighbours;
  if (fabs(x) < 0x1p+127 && fabs(x) > 0x1p-149) {
    put(writer, s * float_step(x, INFINITY));
    put(writer, s * float_step(x, 0));
  }
  writer->chosen = 1;
}

static void put_very_near(t_writer *writer, double x) {
  double s = writer->count % 2 ? -1.0 : 1.0;
  put(writer, s * nextafter(x, INFINITY));
  if (x != 0) put(writer, s * nextafter(x, 0));
}

/* The grid point after a code, beyond max included. */
static double next_value(const t_writer *writer, uint32_t code) {
  double v = value(writer->f, code);
  if (code < writer->max_code) return value(writer->f, code + 1);
  int k = ilogb(v) < ilogb(writer->emin_value) || writer->f.e == 0 ? ilogb(writer->emin_value) : ilogb(v);
  return v + ldexp(1, k - (int)writer->f.m);
}

enum { MANY = 300, CHOSEN = 96, SOME = 8 };

/* Codes to look at: all of a small format; else the edges and some others. */
static size_t choose(const t_writer *writer, uint32_t *codes) {
  size_t n = 0;
  if (writer->max_code < MANY) {
    for (uint32_t c = 0; c <= writer->max_code; c++) codes[n++] = c;
    return n;
  }
  uint32_t normal = 1u << writer->f.m;
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
                      writer->max_code - 2,
                      writer->max_code - 1,
                      writer->max_code};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) codes[n++] = edges[i];
  t_random random = {writer->max_code};
  while (n < CHOSEN) codes[n++] = t_below(&random, writer->max_code + 1);
  return n;
}

/* Where a mistake about ties or the exponent shows: the first two binades and the last, and beside each 16th code. */
static int is_edge(const t_writer *writer, uint32_t code) {
  uint32_t binade = 1u << writer->f.m;
  return code <= 2 * binade || code + binade >= writer->max_code || code % 16 == 0 || code % 16 == 15;
}

static void put_values(t_writer *writer) {
  uint32_t codes[MANY];
  size_t n = choose(writer, codes);
  text_add(&writer->lines,
           "## values of codes and the binary32 numbers beside them: \"exact\" decided by sticky bits\n");
  for (size_t i = 0; i < n; i++) {
    writer->chosen = writer->f.m > 0 || codes[i] % 8 == 0 || is_edge(writer, codes[i]); /* powers of two are alike */
    put_near(writer, value(writer->f, codes[i]), is_edge(writer, codes[i]));
  }
  text_add(&writer->lines, "## midpoints and the binary32 numbers beside them: parity, carry into the exponent\n");
  for (size_t i = 0; i < n; i++) {
    double lo = value(writer->f, codes[i]), hi = next_value(writer, codes[i]);
    writer->chosen = writer->f.m > 0 || codes[i] % 16 < 2; /* some of either parity */
    put_near(writer, lo + (hi - lo) / 2, is_edge(writer, codes[i]));
  }
  text_add(
      &writer->lines,
      "## binary64 numbers closer to midpoints than any binary32 number: a detour through binary32 rounds twice\n");
  for (size_t i = 0; i < n; i += 4) {
    double lo = value(writer->f, codes[i]), hi = next_value(writer, codes[i]);
    writer->chosen = i % (writer->f.m > 0 ? SOME : 2 * SOME) == 0;
    put_very_near(writer, lo + (hi - lo) / 2);
  }
  writer->chosen = 1;
}

static void put_edges(t_writer *writer) {
  double max = value(writer->f, writer->max_code), next = next_value(writer, writer->max_code), e = writer->emin_value;
  double unit = ldexp(e, -(int)writer->f.m), low = writer->f.zero == HU_ZERO_NONE ? e : unit;
  text_add(&writer->lines, "## the overflow edge: compared after rounding, ties by parity\n");
  double over[] = {
      max,     max + (next - max) / 4, max + (next - max) / 2, max + (next - max) * 3 / 4, next, next + (next - max),
      2 * next};
  for (size_t i = 0; i < sizeof over / sizeof over[0]; i++) {
    put_both(writer, over[i]);
    put_very_near(writer, over[i]);
  }
  text_add(
      &writer->lines,
      "## the tininess edge: around the smallest normal number, on the format's grid and on the one that goes on\n");
  for (int i = -16; i <= 16; i++) {
    writer->chosen = i % 2 == 0 && abs(i) <= 8;
    put_both(writer, e + unit * i / 8);
    if (i % 2 == 0) put_very_near(writer, e + unit * i / 8);
  }
  writer->chosen = 1;
  text_add(&writer->lines, "## around and far below the smallest number\n");
  for (int i = 1; i <= 8; i++) {
    put_both(writer, low * i / 4);
    put_very_near(writer, low * i / 4);
  }
  for (int k = 8; k < 400; k *= 2) put_both(writer, ldexp(low, -k) * 1.25);
  text_add(&writer->lines, "## zeros, infinities, NaNs, extremes of binary32 and binary64\n");
  double rest[] = {
      0, INFINITY, NAN, 0x1p-149, 0x1p-126, 0x1.fffffcp-127, 0x1.fffffep+127, 0x1p-1074, 0x1.fffffffffffffp+1023};
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) put_both(writer, rest[i]);
}

static void put_random(t_writer *writer) {
  t_random random = {writer->max_code + 77u};
  int high = ilogb(value(writer->f, writer->max_code)) + 2, low = ilogb(writer->emin_value) - (int)writer->f.m - 3;
  if (high > 127) high = 127;
  if (low < -149) low = -149;
  text_add(&writer->lines, "## binary32 numbers at random over the range and a little beyond\n");
  for (int i = 0; i < 200; i++) {
    double significand =
        1 + t_below(&random, 1u << 23) * 0x1p-23; /* one draw a statement: the order of arguments is open */
    float x = (float)ldexp(significand, t_between(&random, low, high));
    writer->chosen = i % (writer->f.m > 0 ? SOME : 2 * SOME) == 0;
    put(writer, (double)(t_below(&random, 2) ? x : -x));
  }
}

void golden_conversions(t_text *text, size_t format_index, int stored) {
  golden_format golden = golden_format_at(format_index);
  t_writer writer = {.stored = stored, .chosen = 1, .f = golden.format, .max_code = golden_max_code(golden.format)};
  int bias = writer.f.e ? (1 << (writer.f.e - 1)) - 1 + writer.f.b : writer.f.b;
  writer.emin_value = ldexp(1, writer.f.zero == HU_ZERO_FIELD ? 1 - bias : -bias);
  put_values(&writer);
  put_edges(&writer);
  put_random(&writer);
  text_add(text,
           "# halfulp golden file: conversions of binary32 and binary64 numbers into one format\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: OPERAND BELOW WHERE TINY, see README.md here; 8 digits binary32, 16 digits binary64\n");
  text_add(text, "# count: %u\nformat ", writer.written);
  golden_format_line(text, golden);
  text_add(text, "%s", writer.lines.at);
  text_free(&writer.lines);
}
