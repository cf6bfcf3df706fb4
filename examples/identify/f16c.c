/* SPDX-License-Identifier: MIT */
/* Binary16 operands by VCVTPH2PS, then fused multiply-adds one after another: what a loop with these instructions does.
 * With --has: exit code 0 if this processor has them. */
#include <immintrin.h>

#include "line.h"

__attribute__((target("f16c,fma"))) static uint32_t dot(size_t n, const uint16_t *a, const uint16_t *b, uint32_t c) {
  __m128 s = _mm_castsi128_ps(_mm_cvtsi32_si128((int)c));
  for (size_t k = 0; k < n; k++) {
    __m128 x = _mm_cvtph_ps(_mm_cvtsi32_si128(a[k])), y = _mm_cvtph_ps(_mm_cvtsi32_si128(b[k]));
    s = _mm_fmadd_ss(x, y, s);
  }
  return (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(s));
}

int main(int argc, char **argv) {
  int has = __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma");
  if (argc > 1 && strcmp(argv[1], "--has") == 0) return !has;
  if (!has) fprintf(stderr, "this processor has no F16C or no FMA\n");
  return has ? line_answer(dot, 1) : 2;
}
