/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/avx_vnni.c - short.h by AVX-VNNI: VPDPBUSD and VPDPWSSD in vectors of 256 bits, for processors without
 * AVX-512. A test compiles this file a second time with a header in place of the compiler's that models the
 * instructions in C. No run on such a processor is recorded yet: Meson's option `unconfirmed_units` asks for it. */
#include <immintrin.h>

#include "emu/gemm/tiles/features_x86.h"
#include "emu/gemm/tiles/short.h"
#include "halfulp/gemm.h"

/* The compiler may not know them. */
#if defined(__AVXVNNI__) || defined(HU_MODELLED_INSTRUCTIONS)

#define HU_SHORT_PAIRS 0
static inline __attribute__((always_inline)) __m256i add_bytes(__m256i z, __m256i x, __m256i y) {
  return _mm256_dpbusd_avx_epi32(z, x, y);
}
static inline __attribute__((always_inline)) __m256i add_halves(__m256i z, __m256i x, __m256i y) {
  return _mm256_dpwssd_avx_epi32(z, x, y);
}
#include "emu/gemm/tiles/short_avx2.h"

#if defined(HU_UNCONFIRMED_UNITS) || defined(HU_MODELLED_INSTRUCTIONS)
static int ask(void) { return hui_has_leaf7_1(1u << 4); }
static int runs(void) {
  static int answer;
  return hui_ask_once(&answer, ask);
}
#define KERNELS .runs = runs, .shorts = &kernels
#else
#define KERNELS .runs = NULL, .shorts = &kernels
#endif
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_avx_vnni = {.name = "avx_vnni", .bits = HU_LEVEL_AVX2 | HU_LEVEL_AVX_VNNI, KERNELS};
