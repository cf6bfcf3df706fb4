/* SPDX-License-Identifier: MIT */
/* tests/gen/stochastic.c - golden stochastic roundings: the random digits are part of the line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/gen/golden.h"
#include "tests/support/random.h"

typedef struct t_writer {
  t_text lines;
  unsigned count;
  int stored; /* the text that is stored: of three formats, at every second place */
  int held;   /* a format of this text */
} t_writer;

static void line(t_writer *writer, hu_format format, unsigned round, unsigned bits, uint32_t r, double x) {
  static const char *const names[] = {"sra", "srb", "src"};
  hu_mode mode;
  uint32_t code, events;
  uint64_t u;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  mode.bits = (uint8_t)bits;
  if (hu_oracle_encode64(&code, &events, format, mode, x, r) != HU_OK) abort();
  memcpy(&u, &x, sizeof u);
  text_add(&writer->lines, "%s:%u %x %016llx %x %x\n", names[round - HU_SRA], bits, r, (unsigned long long)u, code,
           events);
  writer->count++;
}

/* Around the R at which A, B and C change their mind for x = lower + nu gap. */
static void edges(t_writer *writer, hu_format format, double lower, double gap, t_random *random) {
  static const double places[] = {0x1p-33, 0.125, 0.25, 0.375, 0.4375, 0.5, 0.53125, 0.75, 0.96875, 1 - 0x1p-17};
  static const int is_stored[] = {1, 0, 1, 1, 0, 1, 0, 0, 0, 1};
  static const unsigned sizes[] = {1, 2, 3, 4, 8, 13, 20, 32};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    unsigned bits = sizes[t_below(random, 8)];
    if (!writer->held || (writer->stored && !is_stored[i])) continue;
    uint64_t all = UINT64_C(1) << bits;
    double x = (lower + gap * places[i]) * (format.sign && i % 2 ? -1 : 1), z = ldexp(places[i], (int)bits);
    for (unsigned round = HU_SRA; round <= HU_SRC; round++)
      for (int d = -1; d <= 1; d++) {
        double r = (double)all - floor(z) + d;
        if (r >= 0 && r < (double)all) line(writer, format, round, bits, (uint32_t)r, x);
      }
  }
}

/* Of a format of eight bits, one of four and one of sixteen. */
static int is_stored_format(const char *name) {
  return !strcmp(name, "float8_e4m3fn") || !strcmp(name, "float4_e2m1fn") || !strcmp(name, "bfloat16");
}

static void heading(t_writer *writer, const char *what) {
  if (writer->held) text_add(&writer->lines, "## %s\n", what);
}

/* The draws are the same, whatever is written. */
static void lines_of(t_writer *writer, golden_format format, t_random *random) {
  hu_format own = format.format;
  int bias = (1 << (own.e - 1)) - 1 + own.b, emin = own.zero == HU_ZERO_FIELD ? 1 - bias : -bias;
  double e = ldexp(1, emin), unit = ldexp(e, -(int)own.m), max;
  if (hu_oracle_decode64(&max, own, golden_max_code(own)) != HU_OK) abort();
  writer->held = !writer->stored || is_stored_format(format.name);
  if (writer->held) {
    text_add(&writer->lines, "format ");
    golden_format_line(&writer->lines, format);
  }
  heading(writer, "between zero and the smallest number, and among the subnormals: aligned to their grid first");
  edges(writer, own, 0, own.zero == HU_ZERO_NONE || own.subnormal == HU_SUBNORMAL_NONE ? e : unit, random);
  edges(writer, own, e - unit, unit, random);
  heading(writer, "normal numbers");
  edges(writer, own, ldexp(e, 3), ldexp(unit, 3), random);
  edges(writer, own, ldexp(e, 4) - ldexp(unit, 3), ldexp(unit, 3), random);
  heading(writer, "between max and the next grid point: overflow with a probability");
  edges(writer, own, max, ldexp(1, ilogb(max) - (int)own.m), random);
}

void golden_stochastic(t_text *text, int stored) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "binary8p4se",
                                      "binary16",      "bfloat16",    "dlfloat16",      "e4m3_flush",    "e4m3_nosub"};
  t_writer writer = {.stored = stored};
  t_random random = {9};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) lines_of(&writer, golden_format_named(names[i]), &random);
  text_add(text,
           "# halfulp golden file: stochastic rounding with given random digits\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: MODE:N R OPERAND CODE EVENTS, see README.md here; operands binary64, default policies\n");
  text_add(text, "# count: %u\n%s", writer.count, writer.lines.at);
  text_free(&writer.lines);
}
