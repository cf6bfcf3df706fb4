/* SPDX-License-Identifier: MIT */
/* tests/proof/callers/supposed.h - asks at every call of hui_round what theorems P1, P2 and P4 suppose of its operands.
 *
 * The sanitizers' build includes this file ahead of each source (-include). From here on hu_round_supposed stands for
 * hui_round. It stops the program where an operand lies outside of the theorems' domain, and names the call.
 * emu/core/round.h itself stays as it is, so that the theorems hold for what is compiled. Its own call of hui_round, in
 * hui_pack32, stands before the macro; hui_pack32 has a macro of its own. */
#ifndef HALFULP_TESTS_PROOF_CALLERS_SUPPOSED_H
#define HALFULP_TESTS_PROOF_CALLERS_SUPPOSED_H

#include <stdio.h>
#include <stdlib.h>

#include "emu/core/round.h"

#define HU_SUPPOSED 1

/* The exponents of P1, of either sign: LIMIT of tests/proof/symbols.py. */
enum { HU_SUPPOSED_EXPONENT = (1 << 30) - (1 << 18) - 64 };

/* NULL, or what is wrong with the number x. */
static inline const char *hu_unlike_number(hu_num x) {
  if (x.kind > HU_KIND_NAN || x.sign > 1 || x.sticky > 1) return "a field that has no such value";
  if (x.kind != HU_KIND_FINITE) return NULL;
  if (x.sig == 0) return "a finite number that is zero";
  if (x.sticky && !(x.sig >> 63)) return "sticky below a significand whose first digit is not on top";
  return x.exp > HU_SUPPOSED_EXPONENT || x.exp < -HU_SUPPOSED_EXPONENT ? "an exponent out of the domain" : NULL;
}

/* NULL, or what is wrong with the format or the mode of spec. */
static inline const char *hu_unlike_spec(const hu_spec *spec) {
  if (spec->m > 30) return "more than 30 trailing significand bits";
  if (spec->round > HU_SRC) return "no rounding mode";
  if (spec->saturate == HU_SAT_DEFAULT) return "a saturation that is not settled";
  return spec->round >= HU_SRA && (spec->bits < 1 || spec->bits > 32) ? "no number of random bits" : NULL;
}

static inline void hu_suppose(const char *wrong, const char *file, int line) {
  if (!wrong) return;
  fprintf(stderr, "%s:%d: hui_round is called with %s\n", file, line, wrong);
  abort();
}

static inline uint32_t hu_round_supposed(const hu_spec *spec, hu_num x, uint32_t random, uint32_t *events,
                                         const char *file, int line) {
  hu_suppose(hu_unlike_number(x), file, line);
  hu_suppose(hu_unlike_spec(spec), file, line);
  return hui_round(spec, x, random, events);
}

static inline uint32_t hu_pack32_supposed(hu_num x, const char *file, int line) {
  hu_suppose(hu_unlike_number(x), file, line);
  return hui_pack32(x);
}

#define hui_round(s, x, random, events) hu_round_supposed(s, x, random, events, __FILE__, __LINE__)
#define hui_pack32(x) hu_pack32_supposed(x, __FILE__, __LINE__)

#endif
