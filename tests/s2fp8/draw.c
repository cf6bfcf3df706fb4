/* SPDX-License-Identifier: MIT */
/* tests/s2fp8/draw.c - see draw.h. */
#include "tests/s2fp8/draw.h"

#include <stdint.h>

#include "tests/support/support.h"

const char *const s2fp8_kinds[S2FP8_KINDS] = {"s2fp8",
                                              "s2fp8",
                                              "s2fp8(float8_e5m2)",
                                              "s2fp8(float8_e4m3fn)",
                                              "s2fp8(float8_e4m3fnuz;target=5)",
                                              "s2fp8(fp(5,2,0):finite;target=15)",
                                              "s2fp8(fp(5,2,0):finite;special=element)",
                                              "s2fp8(float4_e2m1fn)",
                                              "s2fp8(float6_e3m2fn;target=3)",
                                              "s2fp8(binary8p4se;special=element)",
                                              "s2fp8(fp(4,0,0):finite)",
                                              "s2fp8(fp(6,1,0);target=20)",
                                              "s2fp8(fp(2,5,0):fn)",
                                              "s2fp8(fp(4,3,4):finite,nosub;target=2)",
                                              "s2fp8(ue4m3)",
                                              "s2fp8(bfloat16;target=15)",
                                              "s2fp8(binary16;target=9;special=element)",
                                              "s2fp8(dlfloat16;target=30)",
                                              "s2fp8(fp(8,0,0):finite,negzero)"};

void s2fp8_draw(t_random *random, size_t n, float *x) {
  unsigned what = t_below(random, 9), zeros = t_below(random, 3), special = t_below(random, 4) == 0;
  int at = t_between(random, -120, 100), width = (int)t_below(random, what == 1 ? 200 : 30) + 1;
  uint32_t base = t_next32(random) & 0x7FFFFF;
  for (size_t i = 0; i < n; i++) {
    int e = at + (int)t_below(random, (uint32_t)width);
    uint32_t frac = t_next32(random) & 0x7FFFFF;
    if (what == 2 || what == 8) frac = 0;                           /* powers of two */
    if (what == 3) frac = base + (t_below(random, 4) == 0), e = at; /* neighbours */
    if (what == 4) frac = base, e = at;                             /* one magnitude */
    if (what == 5) e = -140 + (int)t_below(random, 20);             /* subnormal numbers among them */
    if (what == 6) frac = base + t_below(random, 3000), e = at;     /* narrow */
    if (what == 8) e = at + 2 * (int)t_below(random, 16);           /* alpha often a power of two */
    e = e < -149 ? -149 : e > 127 ? 127 : e;
    uint32_t u =
        e >= -126 ? (uint32_t)(e + 127) << 23 | (frac & 0x7FFFFF) : (0x800000 | (frac & 0x7FFFFF)) >> (-126 - e);
    if (zeros && t_below(random, 4) == 0) u = 0;
    if (what == 7) u = 0;
    if (special && t_below(random, 30) == 0) u = 0x7F800000 + (t_below(random, 2) ? t_below(random, 0x800000) : 0);
    x[i] = t_float(u | (t_next32(random) & 0x80000000));
  }
}
