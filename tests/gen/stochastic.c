/* SPDX-License-Identifier: MIT */
/* tests/gen/stochastic.c - golden stochastic roundings: the random digits are part of the line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/gen/golden.h"
#include "tests/support/random.h"

static void line(text *t, unsigned *count, hu_format f, unsigned round, unsigned bits, uint32_t r, double x) {
  static const char *const names[] = {"sra", "srb", "src"};
  hu_mode mode;
  uint32_t code, events;
  uint64_t u;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  mode.bits = (uint8_t)bits;
  if (hu_oracle_encode64(&code, &events, f, mode, x, r) != HU_OK) abort();
  memcpy(&u, &x, sizeof u);
  text_add(t, "%s:%u %x %016llx %x %x\n", names[round - HU_SRA], bits, r, (unsigned long long)u, code, events);
  (*count)++;
}

/* Around the R at which A, B and C change their mind for x = lower + nu gap. */
static void edges(text *t, unsigned *count, hu_format f, double lower, double gap, t_random *random) {
  static const double places[] = {0x1p-33, 0.125, 0.25, 0.375, 0.4375, 0.5, 0.53125, 0.75, 0.96875, 1 - 0x1p-17};
  static const unsigned sizes[] = {1, 2, 3, 4, 8, 13, 20, 32};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    unsigned bits = sizes[t_below(random, 8)];
    uint64_t all = UINT64_C(1) << bits;
    double x = (lower + gap * places[i]) * (f.sign && i % 2 ? -1 : 1), z = ldexp(places[i], (int)bits);
    for (unsigned round = HU_SRA; round <= HU_SRC; round++)
      for (int d = -1; d <= 1; d++) {
        double r = (double)all - floor(z) + d;
        if (r >= 0 && r < (double)all) line(t, count, f, round, bits, (uint32_t)r, x);
      }
  }
}

/* Of a format of eight bits, one of four and one of sixteen. */
static int is_stored(const char *name) {
  return !strcmp(name, "float8_e4m3fn") || !strcmp(name, "float4_e2m1fn") || !strcmp(name, "bfloat16");
}

static void lines_of(text *t, unsigned *count, golden_format format, t_random *random) {
  hu_format f = format.format;
  int bias = (1 << (f.e - 1)) - 1 + f.b, emin = f.zero == HU_ZERO_FIELD ? 1 - bias : -bias;
  double e = ldexp(1, emin), unit = ldexp(e, -(int)f.m), max;
  if (hu_oracle_decode64(&max, f, golden_max_code(f)) != HU_OK) abort();
  text_add(t, "format ");
  golden_format_line(t, format);
  text_add(t, "## between zero and the smallest number, and among the subnormals: aligned to their grid first\n");
  edges(t, count, f, 0, f.zero == HU_ZERO_NONE || f.subnormal == HU_SUBNORMAL_NONE ? e : unit, random);
  edges(t, count, f, e - unit, unit, random);
  text_add(t, "## normal numbers\n");
  edges(t, count, f, ldexp(e, 3), ldexp(unit, 3), random);
  edges(t, count, f, ldexp(e, 4) - ldexp(unit, 3), ldexp(unit, 3), random);
  text_add(t, "## between max and the next grid point: overflow with a probability\n");
  edges(t, count, f, max, ldexp(1, ilogb(max) - (int)f.m), random);
}

void golden_stochastic(text *t, int stored) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "binary8p4se",
                                      "binary16",      "bfloat16",    "dlfloat16",      "e4m3_flush",    "e4m3_nosub"};
  text body[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  unsigned count[2] = {0, 0};
  t_random random = {9};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    int to = is_stored(names[i]);
    lines_of(&body[to], &count[to], golden_format_named(names[i]), &random);
  }
  text_add(t,
           "# halfulp golden file: stochastic rounding with given random digits\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: MODE:N R OPERAND CODE EVENTS, see README.md here; operands binary64, default policies\n");
  text_add(t, "# count: %u\n%s", count[stored], body[stored].at);
  text_free(&body[0]);
  text_free(&body[1]);
}
