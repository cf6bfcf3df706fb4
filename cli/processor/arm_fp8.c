/* SPDX-License-Identifier: MIT */
/* FP8 instructions of 64-bit Arm (Arm Architecture Reference Manual, C7.2: FDOT, FMLALB, FMLALLBB, FMMLA, F1CVTL and
 * FCVTN of 8-bit floating point). FPMR (C5.2.9) says which of E5M2 (0) and E4M3 (1) the first operands (bits 2 to 0),
 * the second ones (5 to 3) and results (8 to 6) are; its other fields are 0: no scaling, and overflow gives an infinity
 * or a NaN. Instructions are written as words, for assemblers that do not know them; the words are those of LLVM's
 * tests of its assembler (llvm/test/MC/AArch64/FP8) and of Linux (tools/testing/selftests/arm64/abi/hwcap.c). */
#include "cli/processor/processor.h"

#include <string.h>

#if defined(__AARCH64EL__) && defined(__linux__)
#include <sys/auxv.h>

#include "halfulp/formats/ocp.h"

/* Bits of AT_HWCAP2 and AT_HWCAP (Linux, arch/arm64/include/uapi/asm/hwcap.h). */
enum { FPMR = 48, F8CVT = 51, F8FMA = 52, F8DP4 = 53, F8DP2 = 54, F8E4M3 = 55, F8E5M2 = 56, F8MM8 = 35, F8MM4 = 36 };

static int has(int bit) {
  const unsigned long all = 1UL << FPMR | 1UL << F8E4M3 | 1UL << F8E5M2 | 1UL << bit;
  return (getauxval(AT_HWCAP2) & all) == all;
}
static int has_convert(void) { return has(F8CVT); }
static int has_fma(void) { return has(F8FMA); }
static int has_dot4(void) { return has(F8DP4); }
static int has_dot2(void) { return has(F8DP2); }
static int has_matrix8(void) { return has(FPMR) && (getauxval(AT_HWCAP) >> F8MM8 & 1); }
static int has_matrix4(void) { return has(FPMR) && (getauxval(AT_HWCAP) >> F8MM4 & 1); }

/* ---- sums of products ---- */

typedef void fp8_instruction(uint8_t z[16], const uint8_t x[16], const uint8_t y[16], uint64_t formats);

/* Defines an instruction on registers 0 to 2, between two settings of FPMR. */
#define WITH_FPMR "mrs x9, S3_3_C4_C4_2\n\tmsr S3_3_C4_C4_2, %3\n\tldr q1, [%1]\n\tldr q2, [%2]\n\t"
#define FP8(name, word)                                                                                    \
  static void name(uint8_t z[16], const uint8_t x[16], const uint8_t y[16], uint64_t formats) {            \
    __asm__ volatile("ldr q0, [%0]\n\t" WITH_FPMR ".inst " word "\n\tstr q0, [%0]\n\tmsr S3_3_C4_C4_2, x9" \
                     :                                                                                     \
                     : "r"(z), "r"(x), "r"(y), "r"(formats)                                                \
                     : "v0", "v1", "v2", "x9", "memory");                                                  \
  }

/* How a tile lies in the vectors: bytes of a row of A, which fills the vector; of B, of a column and from one column to
 * the next; of C and D. */
typedef struct fp8_shape {
  uint8_t a, b, column, step, c;
} fp8_shape;

static void ask(fp8_instruction *run, const fp8_shape *shape, uint64_t formats, void *result, const void *a,
                const void *b, const void *c) {
  uint8_t x[16], y[16] = {0}, z[16];
  for (size_t i = 0; i < sizeof x; i += shape->a) memcpy(x + i, a, shape->a);
  for (size_t i = 0, from = 0; i < sizeof y; i += shape->step, from = (from + shape->column) % shape->b) {
    memcpy(y + i, (const uint8_t *)b + from, shape->column);
  }
  for (size_t i = 0; i < sizeof z; i += shape->c) memcpy(z + i, c, shape->c);
  run(z, x, y, formats);
  memcpy(result, z, shape->c);
}

#define PAIR(name, pair, formats)                                                        \
  static void name##_##pair(void *result, const void *a, const void *b, const void *c) { \
    ask(name, &name##_shape, formats, result, a, b, c);                                  \
  }
#define INSTRUCTION(name, word, ...)                 \
  FP8(name, word)                                    \
  static const fp8_shape name##_shape = __VA_ARGS__; \
  PAIR(name, e5m2, 0)                                \
  PAIR(name, e4m3xe5m2, 1)                           \
  PAIR(name, e5m2xe4m3, 8)                           \
  PAIR(name, e4m3, 9)
INSTRUCTION(fdot4, "0x4e02fc20", {4, 16, 4, 4, 16})     /* FDOT v0.4s, v1.16b, v2.16b */
INSTRUCTION(fdot2, "0x4e42fc20", {2, 16, 2, 2, 16})     /* FDOT v0.8h, v1.16b, v2.16b */
INSTRUCTION(fmlalb, "0x0ec2fc20", {1, 8, 1, 2, 16})     /* FMLALB v0.8h, v1.16b, v2.16b */
INSTRUCTION(fmlallbb, "0x0e02c420", {1, 4, 1, 4, 16})   /* FMLALLBB v0.4s, v1.16b, v2.16b */
INSTRUCTION(fmmla8, "0x6e82ec20", {16, 16, 16, 16, 16}) /* FMMLA v0.4s, v1.16b, v2.16b */
INSTRUCTION(fmmla4, "0x6e02ec20", {8, 8, 8, 8, 8})      /* FMMLA v0.8h, v1.16b, v2.16b: two tiles */

#define UNITS(instruction, stem, tail, m, n, k, has_it, name)                    \
  {instruction, stem "e4m3" tail, m, n, k, has_it, name##_e4m3},                 \
      {instruction, stem "e5m2" tail, m, n, k, has_it, name##_e5m2},             \
      {instruction, stem "e4m3xe5m2" tail, m, n, k, has_it, name##_e4m3xe5m2}, { \
    instruction, stem "e5m2xe4m3" tail, m, n, k, has_it, name##_e5m2xe4m3        \
  }
const processor_unit processor_units_arm_fp8[] = {
    UNITS("FDOT .4S", "arm.fdot.", ".f32", 1, 4, 4, has_dot4, fdot4),
    UNITS("FDOT .8H", "arm.fdot.", ".f16", 1, 8, 2, has_dot2, fdot2),
    UNITS("FMLALB", "arm.fmlal.", "", 1, 8, 1, has_fma, fmlalb),
    UNITS("FMLALLBB", "arm.fmlall.", "", 1, 4, 1, has_fma, fmlallbb),
    UNITS("FMMLA .4S", "arm.fmmla.", ".f32", 2, 2, 8, has_matrix8, fmmla8),
    UNITS("FMMLA .8H", "arm.fmmla.", ".f16", 2, 2, 4, has_matrix4, fmmla4),
    {NULL, NULL, 0, 0, 0, NULL, NULL}};

/* ---- conversions, in ties to even ---- */

FP8(f1cvtl, "0x2e217820")       /* F1CVTL v0.8h, v1.8b */
FP8(fcvtn_half, "0x0e42f420")   /* FCVTN v0.8b, v1.4h, v2.4h */
FP8(fcvtn_single, "0x0e02f420") /* FCVTN v0.8b, v1.4s, v2.4s */

static void widen(uint16_t *z, const uint8_t *x, uint64_t formats) {
  uint8_t codes[16] = {0}, out[16] = {0};
  memcpy(codes, x, PROCESSOR_LANES);
  f1cvtl(out, codes, codes, formats);
  memcpy(z, out, sizeof out);
}

static void narrow_half(uint8_t *z, const uint16_t *x, uint64_t formats) {
  uint8_t low[16] = {0}, high[16] = {0}, out[16] = {0};
  memcpy(low, x, 8);
  memcpy(high, x + 4, 8);
  fcvtn_half(out, low, high, formats);
  memcpy(z, out, PROCESSOR_LANES);
}

static void narrow_single(uint8_t *z, const float *x, uint64_t formats) {
  uint8_t low[16], high[16], out[16] = {0};
  memcpy(low, x, 16);
  memcpy(high, x + 4, 16);
  fcvtn_single(out, low, high, formats);
  memcpy(z, out, PROCESSOR_LANES);
}

#define CONVERSIONS(format, number)                                                                         \
  static void widen_##format(uint16_t *z, const uint8_t *x) { widen(z, x, number); }                        \
  static void half_##format(uint8_t *z, const uint16_t *x) { narrow_half(z, x, (uint64_t)(number) << 6); }  \
  static void single_##format(uint8_t *z, const float *x) { narrow_single(z, x, (uint64_t)(number) << 6); } \
  static void check_widen_##format(processor_tally *tally) {                                                \
    processor_check_widen8(tally, hu_##format(), widen_##format);                                           \
  }                                                                                                         \
  static void check_half_##format(processor_tally *tally) {                                                 \
    processor_check_narrow16(tally, hu_##format(), half_##format);                                          \
  }                                                                                                         \
  static void check_single_##format(processor_tally *tally) {                                               \
    processor_check_narrow32(tally, hu_##format(), single_##format);                                        \
  }
CONVERSIONS(float8_e5m2, 0)
CONVERSIONS(float8_e4m3fn, 1)

#define CHECKS(format)                                                         \
  {"F1CVTL", #format ".values", has_convert, check_widen_##format},            \
      {"FCVTN of halves", #format ".rne", has_convert, check_half_##format}, { \
    "FCVTN of singles", #format ".rne", has_convert, check_single_##format     \
  }
const processor_check processor_checks_arm_fp8[] = {
    CHECKS(float8_e5m2), CHECKS(float8_e4m3fn), {NULL, NULL, NULL, NULL}};
#else
const processor_unit processor_units_arm_fp8[] = {{NULL, NULL, 0, 0, 0, NULL, NULL}};
const processor_check processor_checks_arm_fp8[] = {{NULL, NULL, NULL, NULL}};
#endif
