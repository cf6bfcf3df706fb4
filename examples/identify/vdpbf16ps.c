/* SPDX-License-Identifier: MIT */
/* VDPBF16PS, lane 0: two products and C for each instruction. With --has: exit code 0 if this processor has it. */
#include <immintrin.h>

#include "line.h"

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) static uint32_t dot(size_t n, const void *a,
                                                                                    const void *b, uint32_t c) {
  __m128 s = _mm_castsi128_ps(_mm_cvtsi32_si128((int)c));
  for (size_t k = 0; k < n; k += 2) {
    __m128i x = _mm_loadu_si32((const uint16_t *)a + k), y = _mm_loadu_si32((const uint16_t *)b + k);
    s = _mm_dpbf16_ps(s, (__m128bh)x, (__m128bh)y);
  }
  return (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(s));
}

int main(int argc, char **argv) {
  int has = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl");
  if (argc > 1 && strcmp(argv[1], "--has") == 0) return !has;
  if (!has) fprintf(stderr, "this processor has no AVX512_BF16\n");
  return has ? line_answer(dot, 2, 2) : 2;
}
