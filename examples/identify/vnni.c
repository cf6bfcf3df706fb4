/* SPDX-License-Identifier: MIT */
/* VPDPBUSD, lane 0: four products of u8 (A) and s8 (B) and C for each instruction; with --saturate VPDPBUSDS.
 * With --has: exit code 0 if this processor has them. */
#include <immintrin.h>

#include "line.h"

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

VNNI static uint32_t dot(size_t n, const void *a, const void *b, uint32_t c) {
  __m128i s = _mm_cvtsi32_si128((int)c);
  for (size_t k = 0; k < n; k += 4)
    s = _mm_dpbusd_epi32(s, _mm_loadu_si32((const uint8_t *)a + k), _mm_loadu_si32((const uint8_t *)b + k));
  return (uint32_t)_mm_cvtsi128_si32(s);
}

VNNI static uint32_t dot_saturate(size_t n, const void *a, const void *b, uint32_t c) {
  __m128i s = _mm_cvtsi32_si128((int)c);
  for (size_t k = 0; k < n; k += 4)
    s = _mm_dpbusds_epi32(s, _mm_loadu_si32((const uint8_t *)a + k), _mm_loadu_si32((const uint8_t *)b + k));
  return (uint32_t)_mm_cvtsi128_si32(s);
}

int main(int argc, char **argv) {
  int has = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
  if (argc > 1 && strcmp(argv[1], "--has") == 0) return !has;
  if (!has) fprintf(stderr, "this processor has no AVX512_VNNI\n");
  int saturate = argc > 1 && strcmp(argv[1], "--saturate") == 0;
  return has ? line_answer(saturate ? dot_saturate : dot, 1, 4) : 2;
}
