/* SPDX-License-Identifier: MIT */
/* Binary16 operands by VCVTPH2PS, then fused multiply-adds one after another: what a loop with these instructions does.
 * With --has: exit code 0 if this processor has them. */
#include <cpuid.h>
#include <immintrin.h>

#include "line.h"

__attribute__((target("f16c,fma"))) static uint32_t dot(size_t n, const void *a, const void *b, uint32_t c) {
  const uint16_t *x = a, *y = b;
  __m128 s = _mm_castsi128_ps(_mm_cvtsi32_si128((int)c));
  for (size_t k = 0; k < n; k++) {
    s = _mm_fmadd_ss(_mm_cvtph_ps(_mm_cvtsi32_si128(x[k])), _mm_cvtph_ps(_mm_cvtsi32_si128(y[k])), s);
  }
  return (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(s));
}

static int has_f16c(void) {
  unsigned a, b, c = 0, d;
  return __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

int main(int argc, char **argv) {
  int has = has_f16c();
  if (argc > 1 && strcmp(argv[1], "--has") == 0) return !has;
  if (!has) fprintf(stderr, "this processor has no F16C or no FMA\n");
  return has ? line_answer(dot, 2, 1) : 2;
}
