/* SPDX-License-Identifier: MIT */
/* Prints the codes of projections, one byte each.
 *
 * usage: print_projections FORMAT ROUNDING... < numbers > codes
 *
 * FORMAT has at most 8 bits. Numbers are binary64 numbers as they stand in memory. For each of them, for each rounding
 * ("rne", "sra:3"), for each random number of its bits, from 0 on, come the codes under the saturations none, finite,
 * propagate and default, by D1, then by the rules of July 2026, then by v4.0. hu_encode64 has to give the same code as
 * D1; exit code 3: it does not. Exit code 2: no such format or rounding. */
#include <stdio.h>
#include <string.h>

#include "halfulp/p3109.h"
#include "halfulp/scalar.h"

static const uint8_t saturations[] = {HU_SAT_NONE, HU_SAT_FINITE, HU_SAT_PROPAGATE, HU_SAT_DEFAULT};
enum { SATURATIONS = sizeof saturations / sizeof *saturations, ROUNDINGS_MAX = 64 };

/* The codes of x in one rounding; 0: hu_encode64 has another one. */
static int print_codes(hu_format format, hu_mode mode, double x) {
  uint32_t numbers = (uint32_t)1 << mode.bits;
  for (uint32_t random = 0; random < numbers; random++)
    for (unsigned i = 0; i < (HU_P3109_V4_0 + 1) * SATURATIONS; i++) {
      hu_p3109_projection rho = {mode, (uint8_t)(i / SATURATIONS)};
      rho.mode.saturate = saturations[i % SATURATIONS];
      uint32_t code = hu_p3109_project(format, rho, x, random);
      putchar((int)code);
      if (rho.rules != HU_P3109_D1 || rho.mode.saturate == HU_SAT_DEFAULT) continue;
      if (hu_encode64(format, rho.mode, x, random, NULL) == code) continue;
      fprintf(stderr, "print_projections: %a, round %u saturate %u R %u: hu_encode64 does not give %x\n", x, mode.round,
              rho.mode.saturate, random, code);
      return 0;
    }
  return 1;
}

int main(int argc, char **argv) {
  hu_format format;
  hu_mode modes[ROUNDINGS_MAX];
  double x;
  if (argc < 3 || argc - 2 > ROUNDINGS_MAX || hu_format_parse(&format, argv[1], NULL) != HU_OK ||
      hu_limits_of(format).width > 8) {
    fprintf(stderr, "print_projections: a format of up to 8 bits and up to %d roundings\n", ROUNDINGS_MAX);
    return 2;
  }
  memset(modes, 0, sizeof modes);
  for (int i = 2; i < argc; i++)
    if (hu_mode_round_parse(&modes[i - 2], argv[i]) != HU_OK) {
      fprintf(stderr, "print_projections: no rounding %s\n", argv[i]);
      return 2;
    }
  while (fread(&x, sizeof x, 1, stdin) == 1)
    for (int i = 2; i < argc; i++)
      if (!print_codes(format, modes[i - 2], x)) return 3;
  return 0;
}
