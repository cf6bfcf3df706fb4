/* SPDX-License-Identifier: MIT */
/* emu/s2fp8_polynomial.h - written by scripts/s2fp8_polynomial.py; not to be edited.
 *
 * log2 m in units of 2^-40 for 1 <= m < 2: with i the first four digits behind the point and r = m factor[i] - 1, exact
 * and less than 0.030303 in magnitude, it is whole[i] + (part[i] + r hu_polynomial_s2(r)). */
#ifndef HALFULP_EMU_S2FP8_POLYNOMIAL_H
#define HALFULP_EMU_S2FP8_POLYNOMIAL_H

#include "emu/port.h"

/* 2^40 log2(1 + r) / r; relative error below 2^-55. */
#define HU_S2_POLYNOMIAL(first, step)                                                                                \
  first(0x1.48d9509b39661p+37) step(-0x1.71f0eba7c3e5ap+37) step(0x1.a61749916dcd5p+37) step(-0x1.ec70822b50849p+37) \
      step(0x1.2776c50fcb77cp+38) step(-0x1.715476539edf0p+38) step(0x1.ec709dc3a03c2p+38)                           \
          step(-0x1.71547652b82dep+39) step(0x1.71547652b82fep+40)

HU_FN double hu_polynomial_s2(double r) {
#define HU_S2_FIRST(c) double p = c;
#define HU_S2_STEP(c) p = p * r + c;
  HU_S2_POLYNOMIAL(HU_S2_FIRST, HU_S2_STEP)
#undef HU_S2_FIRST
#undef HU_S2_STEP
  return p;
}

#define HU_S2_FACTORS /* factor[i] */                                                                               \
  0x1.f07c200000000p-1, 0x1.d41d400000000p-1, 0x1.bacfa00000000p-1, 0x1.a41a400000000p-1, 0x1.8f9c200000000p-1,     \
      0x1.7d06000000000p-1, 0x1.6c16c00000000p-1, 0x1.5c98800000000p-1, 0x1.4e5e000000000p-1, 0x1.4141400000000p-1, \
      0x1.3521c00000000p-1, 0x1.29e4200000000p-1, 0x1.1f70400000000p-1, 0x1.15b1e00000000p-1, 0x1.0c97200000000p-1, \
      0x1.0410400000000p-1

#define HU_S2_WHOLES /* whole[i], integers as binary64 numbers */                                                    \
  0x1.6bad2043a0000p+35, 0x1.08c5945848000p+37, 0x1.acf580c0e0000p+37, 0x1.2440807634000p+38, 0x1.6e2202e1e0000p+38, \
      0x1.b47e9148fc000p+38, 0x1.f7a85c5204000p+38, 0x1.1bf317aeae000p+39, 0x1.3abb56bf4a000p+39,                    \
      0x1.5848254c32000p+39, 0x1.74b222e776000p+39, 0x1.900e40316a000p+39, 0x1.aa70a38aa0000p+39,                    \
      0x1.c3e9da0cbc000p+39, 0x1.dc897c6812000p+39, 0x1.f45e0b9f9a000p+39

#define HU_S2_PARTS /* part[i] */                                                                                      \
  0x1.0f219c4736c03p-2, 0x1.ab4a3aebfb3d8p-2, 0x1.f86cc36587ad8p-4, -0x1.b03a51f65386dp-2, 0x1.6d04c30025ba8p-3,       \
      -0x1.e7a28d64c46c5p-2, -0x1.b6e594bed040cp-2, 0x1.bfdcdbe37a3e0p-2, -0x1.409486ad2e22cp-4, 0x1.82a5fb5f9210ap-2, \
      -0x1.251824dbd1765p-2, 0x1.28b4d16e136a9p-3, 0x1.8de18e317924fp-6, -0x1.72f5477a9fb51p-2, 0x1.042d988799d4bp-3,  \
      -0x1.5928aca66ba23p-2

#endif
