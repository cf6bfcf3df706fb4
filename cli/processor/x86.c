/* SPDX-License-Identifier: MIT */
/* Instructions of x86-64. The Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, has each of them.
 *
 * A vector instruction is asked with one row of A in all of its lanes: lane j has column j of B and element j of C. */
#include "cli/processor/processor.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

static int has_fma(void) { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
static int has_bf16(void) { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512f"); }
static int has_vnni(void) { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512f"); }

/* Reads the first `size` bytes of a row of A. */
static int32_t word_of(const void *a) {
  int32_t z;
  memcpy(&z, a, sizeof z);
  return z;
}

__attribute__((target("avx2,fma"))) static void fma_single(void *result, const void *a, const void *b, const void *c) {
  float one;
  memcpy(&one, a, sizeof one);
  _mm256_storeu_ps(result, _mm256_fmadd_ps(_mm256_set1_ps(one), _mm256_loadu_ps(b), _mm256_loadu_ps(c)));
}

__attribute__((target("avx2,fma"))) static void fma_double(void *result, const void *a, const void *b, const void *c) {
  double one;
  memcpy(&one, a, sizeof one);
  _mm256_storeu_pd(result, _mm256_fmadd_pd(_mm256_set1_pd(one), _mm256_loadu_pd(b), _mm256_loadu_pd(c)));
}

__attribute__((target("avx512f,avx512bf16"))) static void vdpbf16ps(void *result, const void *a, const void *b,
                                                                    const void *c) {
  __m512i x = _mm512_set1_epi32(word_of(a)), y = _mm512_loadu_si512(b);
  _mm512_storeu_ps(result, _mm512_dpbf16_ps(_mm512_loadu_ps(c), (__m512bh)x, (__m512bh)y));
}

__attribute__((target("avx512f,avx512vnni"))) static void vpdpbusd(void *result, const void *a, const void *b,
                                                                   const void *c) {
  __m512i x = _mm512_set1_epi32(word_of(a)), y = _mm512_loadu_si512(b);
  _mm512_storeu_si512(result, _mm512_dpbusd_epi32(_mm512_loadu_si512(c), x, y));
}

/* ---- AVX-VNNI: bit 4 of EAX of leaf 7, subleaf 1; as bytes, for compilers that do not know it ---- */

static int has_avx_vnni(void) {
  unsigned a, b, c, edx;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &edx) && (a >> 4 & 1);
}

/* Defines an instruction: YMM0 += what YMM1 and YMM2 have, in place of the number at z. */
#define AVX_VNNI(name, opcode)                                                           \
  static void name(void *z, const void *x, const void *y) {                              \
    __asm__ volatile(                                                                    \
        "vmovdqu (%0), %%ymm0\n\tvmovdqu (%1), %%ymm1\n\tvmovdqu (%2), %%ymm2\n\t"       \
        ".byte 0xc4, 0xe2, 0x75, " opcode ", 0xc2\n\tvmovdqu %%ymm0, (%0)\n\tvzeroupper" \
        :                                                                                \
        : "r"(z), "r"(x), "r"(y)                                                         \
        : "xmm0", "xmm1", "xmm2", "memory");                                             \
  }
AVX_VNNI(vex_vpdpbusd, "0x50")
AVX_VNNI(vex_vpdpwssd, "0x52")

static void vpdpbusd_of_256(void *result, const void *a, const void *b, const void *c) {
  int32_t x[8];
  for (int i = 0; i < 8; i++) x[i] = word_of(a);
  memmove(result, c, sizeof x);
  vex_vpdpbusd(result, x, b);
}

/* Looks at bit 23 of EDX of leaf 7. */
static int has_fp16(void) {
  unsigned a, b, c, edx;
  return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 0, &a, &b, &c, &edx) && (edx >> 23 & 1);
}

/* Computes VFMADD213PH ZMM0, ZMM1, ZMM2: ZMM0 = ZMM1 ZMM0 + ZMM2; as bytes, for compilers that do not know it. */
static void fma_half(void *result, const void *a, const void *b, const void *c) {
  uint16_t x[32];
  for (int i = 0; i < 32; i++) memcpy(x + i, a, sizeof *x);
  __asm__ volatile(
      "vmovdqu64 (%0), %%zmm0\n\tvmovdqu64 (%1), %%zmm1\n\tvmovdqu64 (%2), %%zmm2\n\t"
      ".byte 0x62, 0xf6, 0x75, 0x48, 0xa8, 0xc2\n\tvmovdqu64 %%zmm0, (%3)\n\tvzeroupper"
      :
      : "r"(x), "r"(b), "r"(c), "r"(result)
      : "xmm0", "xmm1", "xmm2", "memory");
}

/* ---- AMX: tiles of 16 rows of 64 bytes, which Linux gives to programs that ask ---- */
#ifdef __linux__

enum { SIDE = 16, ROW = 64 };

/* Looks at leaf 7: AMX-BF16 is bit 22 of EDX, AMX-TILE bit 24, AMX-INT8 bit 25. */
static int has_amx(void) {
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  unsigned a, b, c, edx, all = 1u << 22 | 1u << 24 | 1u << 25;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &edx) || (edx & all) != all) return 0;
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

/* Looks at bit 21 of EAX of leaf 7, subleaf 1. */
static int has_amx_fp16(void) {
  unsigned a, b, c, edx;
  return has_amx() && __get_cpuid_count(7, 1, &a, &b, &c, &edx) && (a >> 21 & 1);
}

typedef struct tile_shape {
  uint8_t palette, start, zero[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} tile_shape;
static const tile_shape tiles = {1, 0, {0}, {ROW, ROW, ROW}, {SIDE, SIDE, SIDE}};

/* Lays out B: row r of its tile has four bytes of each column, which meet bytes 4 r ... 4 r + 3 of a row of A. */
static void turned(uint32_t z[SIDE][SIDE], const void *b) {
  uint32_t x[SIDE][SIDE];
  memcpy(x, b, sizeof x);
  for (int row = 0; row < SIDE; row++) {
    for (int j = 0; j < SIDE; j++) z[row][j] = x[j][row];
  }
}

/* Defines an instruction, whose numbers of tiles are constants. */
#define AMX(name, instruction, features)                                                                     \
  __attribute__((target("amx-tile," features))) static void name(void *result, const void *a, const void *b, \
                                                                 const void *c) {                            \
    uint32_t y[SIDE][SIDE];                                                                                  \
    turned(y, b);                                                                                            \
    __asm__ volatile("" ::: "memory"); /* gcc 12 does not say that a tile is loaded from memory */           \
    _tile_loadconfig(&tiles);                                                                                \
    _tile_loadd(0, c, ROW);                                                                                  \
    _tile_loadd(1, a, ROW);                                                                                  \
    _tile_loadd(2, y, ROW);                                                                                  \
    instruction(0, 1, 2);                                                                                    \
    _tile_stored(0, result, ROW);                                                                            \
    _tile_release();                                                                                         \
  }
AMX(tdpbf16ps, _tile_dpbf16ps, "amx-bf16")
/* Computes with tiles 0, 1 and 2; as bytes, for compilers that do not know it. */
#define BYTES_TDPFP16PS(z, x, y) __asm__ volatile(".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1")
AMX(tdpfp16ps, BYTES_TDPFP16PS, "amx-bf16")
AMX(tdpbssd, _tile_dpbssd, "amx-int8")
AMX(tdpbusd, _tile_dpbusd, "amx-int8")
#endif

const processor_unit processor_units_x86[] = {
    {"VFMADD231PS", "fma.f32", 1, 8, 1, has_fma, fma_single},
    {"VFMADD231PD", "fma.f64", 1, 4, 1, has_fma, fma_double},
    {"VFMADD213PH", "fma.f16", 1, 32, 1, has_fp16, fma_half},
    {"VDPBF16PS", "intel.vdpbf16ps", 1, 16, 2, has_bf16, vdpbf16ps},
    {"VPDPBUSD", "nv.turing.u8xs8.s32", 1, 16, 4, has_vnni, vpdpbusd},
    {"VPDPBUSD (VEX)", "nv.turing.u8xs8.s32", 1, 8, 4, has_avx_vnni, vpdpbusd_of_256},
#ifdef __linux__
    {"TDPBF16PS", "intel.tdpbf16ps", SIDE, SIDE, ROW / 2, has_amx, tdpbf16ps},
    {"TDPFP16PS", "intel.tdpfp16ps", SIDE, SIDE, ROW / 2, has_amx_fp16, tdpfp16ps},
    {"TDPBSSD", "nv.turing.s8.s32", SIDE, SIDE, ROW, has_amx, tdpbssd},
    {"TDPBUSD", "nv.turing.u8xs8.s32", SIDE, SIDE, ROW, has_amx, tdpbusd},
#endif
    {NULL, NULL, 0, 0, 0, NULL, NULL}};

/* ---- conversions, and products of 16 bits ---- */

/* Looks at bit 29 of ECX of leaf 1: __builtin_cpu_supports does not know F16C everywhere. */
static int has_f16c(void) {
  unsigned a, b, c, edx;
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &edx) && (c >> 29 & 1);
}

__attribute__((target("avx,f16c"))) static void vcvtph2ps(float *z, const uint16_t *x) {
  _mm256_storeu_ps(z, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x)));
}
static void check_vcvtph2ps(processor_tally *tally) { processor_check_widen(tally, vcvtph2ps); }

/* Defines a conversion, whose mode is a constant of the instruction. */
#define VCVTPS2PH(mode, round, constant)                                                          \
  __attribute__((target("avx,f16c"))) static void vcvtps2ph_##mode(uint16_t *z, const float *x) { \
    _mm_storeu_si128((__m128i *)(void *)z, _mm256_cvtps_ph(_mm256_loadu_ps(x), (constant)));      \
  }                                                                                               \
  static void check_vcvtps2ph_##mode(processor_tally *tally) { processor_check_narrow(tally, round, vcvtps2ph_##mode); }
VCVTPS2PH(rne, HU_RNE, _MM_FROUND_TO_NEAREST_INT)
VCVTPS2PH(rtn, HU_RTN, _MM_FROUND_TO_NEG_INF)
VCVTPS2PH(rtp, HU_RTP, _MM_FROUND_TO_POS_INF)
VCVTPS2PH(rtz, HU_RTZ, _MM_FROUND_TO_ZERO)

__attribute__((target("avx512f,avx512vnni"))) static void vpdpwssd(uint32_t *c, const uint32_t *a, const uint32_t *b) {
  const __mmask16 eight = 0xFF;
  __m512i x = _mm512_maskz_loadu_epi32(eight, a), y = _mm512_maskz_loadu_epi32(eight, b);
  _mm512_mask_storeu_epi32(c, eight, _mm512_dpwssd_epi32(_mm512_maskz_loadu_epi32(eight, c), x, y));
}
static void check_vpdpwssd(processor_tally *tally) { processor_check_pairs(tally, vpdpwssd); }
static void vpdpwssd_of_256(uint32_t *c, const uint32_t *a, const uint32_t *b) { vex_vpdpwssd(c, a, b); }
static void check_vpdpwssd_of_256(processor_tally *tally) { processor_check_pairs(tally, vpdpwssd_of_256); }

/* Computes it in AVX2's two steps. */
__attribute__((target("avx2"))) static void vpmaddwd(uint32_t *c, const uint32_t *a, const uint32_t *b) {
  const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a),
                y = _mm256_loadu_si256((const __m256i *)(const void *)b),
                z = _mm256_loadu_si256((const __m256i *)(const void *)c);
  _mm256_storeu_si256((__m256i *)(void *)c, _mm256_add_epi32(z, _mm256_madd_epi16(x, y)));
}
static void check_vpmaddwd(processor_tally *tally) { processor_check_pairs(tally, vpmaddwd); }
static int has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }

const processor_check processor_checks_x86[] = {{"VCVTPH2PS", "binary16.values", has_f16c, check_vcvtph2ps},
                                                {"VCVTPS2PH", "binary16.rne", has_f16c, check_vcvtps2ph_rne},
                                                {"VCVTPS2PH", "binary16.rtz", has_f16c, check_vcvtps2ph_rtz},
                                                {"VCVTPS2PH", "binary16.rtp", has_f16c, check_vcvtps2ph_rtp},
                                                {"VCVTPS2PH", "binary16.rtn", has_f16c, check_vcvtps2ph_rtn},
                                                {"VPMADDWD", "s16.pairs", has_avx2, check_vpmaddwd},
                                                {"VPDPWSSD", "s16.pairs", has_vnni, check_vpdpwssd},
                                                {"VPDPWSSD (VEX)", "s16.pairs", has_avx_vnni, check_vpdpwssd_of_256},
                                                {NULL, NULL, NULL, NULL}};
#else
const processor_unit processor_units_x86[] = {{NULL, NULL, 0, 0, 0, NULL, NULL}};
const processor_check processor_checks_x86[] = {{NULL, NULL, NULL, NULL}};
#endif
