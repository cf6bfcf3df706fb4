/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/polynomial.h - written by scripts/made/s2fp8_polynomial.py; not to be edited.
 *
 * log2 m in units of 2^-40 for 1 <= m < 2: with i the first four digits behind the point and r = m factor[i] - 1, exact
 * and less than 0.030303 in magnitude, it is whole[i] + (part[i] + r hui_polynomial_s2(r)). */
#ifndef HALFULP_EMU_S2FP8_POLYNOMIAL_H
#define HALFULP_EMU_S2FP8_POLYNOMIAL_H

#include "emu/core/port.h"

/* Sums 2^40 log2(1 + r) / r, with a relative error below 2^-55. */
#define HU_S2_POLYNOMIAL(first, step)                                                                                \
  first(0x1.48d9509b39661p+37) step(-0x1.71f0eba7c3e5ap+37) step(0x1.a61749916dcd5p+37) step(-0x1.ec70822b50849p+37) \
      step(0x1.2776c50fcb77cp+38) step(-0x1.715476539edf0p+38) step(0x1.ec709dc3a03c2p+38)                           \
          step(-0x1.71547652b82dep+39) step(0x1.71547652b82fep+40)

HU_FN double hui_polynomial_s2(double r) {
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

#define HU_S2_CODE_LOG2 /* of 2^(j >> m) (1 + (j mod 2^m) / 2^m) at 16 m + j */                                     \
  0x0.0p+0, 0x1.0000000000000p+0, 0x1.0000000000000p+1, 0x1.8000000000000p+1, 0x1.0000000000000p+2,                 \
      0x1.4000000000000p+2, 0x1.8000000000000p+2, 0x1.c000000000000p+2, 0x1.0000000000000p+3, 0x1.2000000000000p+3, \
      0x1.4000000000000p+3, 0x1.6000000000000p+3, 0x1.8000000000000p+3, 0x1.a000000000000p+3, 0x1.c000000000000p+3, \
      0x1.e000000000000p+3, 0x0.0p+0, 0x1.2b803473f7ad1p-1, 0x1.0000000000000p+0, 0x1.95c01a39fbd68p+0,             \
      0x1.0000000000000p+1, 0x1.4ae00d1cfdeb4p+1, 0x1.8000000000000p+1, 0x1.cae00d1cfdeb4p+1, 0x1.0000000000000p+2, \
      0x1.2570068e7ef5ap+2, 0x1.4000000000000p+2, 0x1.6570068e7ef5ap+2, 0x1.8000000000000p+2, 0x1.a570068e7ef5ap+2, \
      0x1.c000000000000p+2, 0x1.e570068e7ef5ap+2, 0x0.0p+0, 0x1.49a784bcd1b8bp-2, 0x1.2b803473f7ad1p-1,             \
      0x1.9d5d9fd5010b3p-1, 0x1.0000000000000p+0, 0x1.5269e12f346e3p+0, 0x1.95c01a39fbd68p+0, 0x1.ceaecfea8085ap+0, \
      0x1.0000000000000p+1, 0x1.2934f0979a371p+1, 0x1.4ae00d1cfdeb4p+1, 0x1.675767f54042dp+1, 0x1.8000000000000p+1, \
      0x1.a934f0979a371p+1, 0x1.cae00d1cfdeb4p+1, 0x1.e75767f54042dp+1, 0x0.0p+0, 0x1.5c01a39fbd688p-3,             \
      0x1.49a784bcd1b8bp-2, 0x1.d6753e032ea0fp-2, 0x1.2b803473f7ad1p-1, 0x1.66a008e4788ccp-1, 0x1.9d5d9fd5010b3p-1, \
      0x1.d053f6d260896p-1, 0x1.0000000000000p+0, 0x1.2b803473f7ad1p+0, 0x1.5269e12f346e3p+0, 0x1.759d4f80cba84p+0, \
      0x1.95c01a39fbd68p+0, 0x1.b35004723c466p+0, 0x1.ceaecfea8085ap+0, 0x1.e829fb693044bp+0, 0x0.0p+0,             \
      0x1.663f6fac91316p-4, 0x1.5c01a39fbd688p-3, 0x1.fbc16b902680ap-3, 0x1.49a784bcd1b8bp-2, 0x1.91bba891f1709p-2, \
      0x1.d6753e032ea0fp-2, 0x1.0c10500d63aa6p-1, 0x1.2b803473f7ad1p-1, 0x1.49a784bcd1b8bp-1, 0x1.66a008e4788ccp-1, \
      0x1.82809d5be7073p-1, 0x1.9d5d9fd5010b3p-1, 0x1.b74948f5532dap-1, 0x1.d053f6d260896p-1, 0x1.e88c6b3626a73p-1

#define HU_S2_MIDDLE_LOG2 /* of the middle between it and the next */                                               \
  0x1.2b803473f7ad1p-1, 0x1.95c01a39fbd68p+0, 0x1.4ae00d1cfdeb4p+1, 0x1.cae00d1cfdeb4p+1, 0x1.2570068e7ef5ap+2,     \
      0x1.6570068e7ef5ap+2, 0x1.a570068e7ef5ap+2, 0x1.e570068e7ef5ap+2, 0x1.12b803473f7adp+3, 0x1.32b803473f7adp+3, \
      0x1.52b803473f7adp+3, 0x1.72b803473f7adp+3, 0x1.92b803473f7adp+3, 0x1.b2b803473f7adp+3, 0x1.d2b803473f7adp+3, \
      0x1.f2b803473f7adp+3, 0x1.49a784bcd1b8bp-2, 0x1.9d5d9fd5010b3p-1, 0x1.5269e12f346e3p+0, 0x1.ceaecfea8085ap+0, \
      0x1.2934f0979a371p+1, 0x1.675767f54042dp+1, 0x1.a934f0979a371p+1, 0x1.e75767f54042dp+1, 0x1.149a784bcd1b9p+2, \
      0x1.33abb3faa0216p+2, 0x1.549a784bcd1b9p+2, 0x1.73abb3faa0216p+2, 0x1.949a784bcd1b9p+2, 0x1.b3abb3faa0216p+2, \
      0x1.d49a784bcd1b9p+2, 0x1.f3abb3faa0216p+2, 0x1.5c01a39fbd688p-3, 0x1.d6753e032ea0fp-2, 0x1.66a008e4788ccp-1, \
      0x1.d053f6d260896p-1, 0x1.2b803473f7ad1p+0, 0x1.759d4f80cba84p+0, 0x1.b35004723c466p+0, 0x1.e829fb693044bp+0, \
      0x1.15c01a39fbd68p+1, 0x1.3acea7c065d42p+1, 0x1.59a802391e233p+1, 0x1.7414fdb498226p+1, 0x1.95c01a39fbd68p+1, \
      0x1.bacea7c065d42p+1, 0x1.d9a802391e233p+1, 0x1.f414fdb498226p+1, 0x1.663f6fac91316p-4, 0x1.fbc16b902680ap-3, \
      0x1.91bba891f1709p-2, 0x1.0c10500d63aa6p-1, 0x1.49a784bcd1b8bp-1, 0x1.82809d5be7073p-1, 0x1.b74948f5532dap-1, \
      0x1.e88c6b3626a73p-1, 0x1.1663f6fac9131p+0, 0x1.3f782d7204d01p+0, 0x1.646eea247c5c2p+0, 0x1.86082806b1d53p+0, \
      0x1.a4d3c25e68dc5p+0, 0x1.c1404eadf3839p+0, 0x1.dba4a47aa996dp+0, 0x1.f446359b13539p+0, 0x1.6bad3758efd87p-5, \
      0x1.08c588cda79e4p-3, 0x1.acf5e2db4ec94p-3, 0x1.24407ab0e073ap-2, 0x1.6e221cd9d0cdep-2, 0x1.b47ebf73882a1p-2, \
      0x1.f7a8568cb06cfp-2, 0x1.1bf311e95d00ep-1, 0x1.3abb3faa02167p-1, 0x1.5848226989d34p-1, 0x1.74b1fd64e0754p-1, \
      0x1.900e6160002cdp-1, 0x1.aa708f58014d3p-1, 0x1.c3e9ca2e1a055p-1, 0x1.dc899ab3ff56cp-1, 0x1.f45e08bcf0655p-1

#define HU_S2_LOW_LOG2 /* of j, for 0: 0 */                                                                         \
  0, 0x0.0p+0, 0x1.0000000000000p+0, 0x1.95c01a39fbd68p+0, 0x1.0000000000000p+1, 0x1.2934f0979a371p+1,              \
      0x1.4ae00d1cfdeb4p+1, 0x1.675767f54042dp+1, 0x1.8000000000000p+1, 0x1.95c01a39fbd68p+1, 0x1.a934f0979a371p+1, \
      0x1.bacea7c065d42p+1, 0x1.cae00d1cfdeb4p+1, 0x1.d9a802391e233p+1, 0x1.e75767f54042dp+1, 0x1.f414fdb498226p+1

#define HU_S2_LOW_MIDDLE_LOG2 /* of j + 1/2 */                                                                      \
  -0x1.0000000000000p+0, 0x1.2b803473f7ad1p-1, 0x1.5269e12f346e3p+0, 0x1.ceaecfea8085ap+0, 0x1.15c01a39fbd68p+1,    \
      0x1.3acea7c065d42p+1, 0x1.59a802391e233p+1, 0x1.7414fdb498226p+1, 0x1.8b31fb7d64899p+1, 0x1.9fbc16b902681p+1, \
      0x1.b23775123e2e1p+1, 0x1.c304140358eaap+1, 0x1.d269e12f346e3p+1, 0x1.e0a02756f9c1dp+1, 0x1.edd2523d54cb7p+1, \
      0x1.fa231acd89a9dp+1

#endif
