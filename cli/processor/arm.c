/* SPDX-License-Identifier: MIT */
/* Instructions of 64-bit Arm: the Arm Architecture Reference Manual has each of them. Linux says whether the CPU has
 * those of bfloat16. */
#include "cli/processor/processor.h"

#include <string.h>

#if defined(__AARCH64EL__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

static int has_fma(void) { return 1; }
/* Looks for HWCAP2_BF16. */
static int has_bf16(void) { return (getauxval(AT_HWCAP2) >> 14 & 1) != 0; }

static void fmla_single(void *result, const void *a, const void *b, const void *c) {
  float one, y[4], z[4];
  memcpy(&one, a, sizeof one);
  memcpy(y, b, sizeof y);
  memcpy(z, c, sizeof z);
  vst1q_f32(z, vfmaq_f32(vld1q_f32(z), vdupq_n_f32(one), vld1q_f32(y)));
  memcpy(result, z, sizeof z);
}

static void fmla_double(void *result, const void *a, const void *b, const void *c) {
  double one, y[2], z[2];
  memcpy(&one, a, sizeof one);
  memcpy(y, b, sizeof y);
  memcpy(z, c, sizeof z);
  vst1q_f64(z, vfmaq_f64(vld1q_f64(z), vdupq_n_f64(one), vld1q_f64(y)));
  memcpy(result, z, sizeof z);
}

/* Defines an instruction on registers 0 to 2; written as words, for compilers that know no bfloat16. */
#define BFLOAT16(name, word)                                                                             \
  static void name(void *result, const void *a, const void *b, const void *c) {                          \
    float32x4_t z;                                                                                       \
    memcpy(&z, c, sizeof z);                                                                             \
    __asm__("ldr q1, [%1]\n\tldr q2, [%2]\n\tmov v0.16b, %0.16b\n\t.inst " word "\n\tmov %0.16b, v0.16b" \
            : "+w"(z)                                                                                    \
            : "r"(a), "r"(b)                                                                             \
            : "v0", "v1", "v2", "memory");                                                               \
    memcpy(result, &z, sizeof z);                                                                        \
  }
BFLOAT16(bfdot_lanes, "0x6e42fc20") /* BFDOT v0.4s, v1.8h, v2.8h */
BFLOAT16(bfmmla, "0x6e42ec20")      /* BFMMLA v0.4s, v1.8h, v2.8h: rows of A and columns of B have four elements */

/* Computes with the row of A in all lanes. */
static void bfdot(void *result, const void *a, const void *b, const void *c) {
  uint32_t pair, x[4];
  memcpy(&pair, a, sizeof pair);
  for (int i = 0; i < 4; i++) x[i] = pair;
  bfdot_lanes(result, x, b, c);
}

const processor_unit processor_units_arm[] = {{"FMLA .4S", "fma.f32", 1, 4, 1, has_fma, fmla_single},
                                              {"FMLA .2D", "fma.f64", 1, 2, 1, has_fma, fmla_double},
                                              {"BFDOT", "arm.bfdot", 1, 4, 2, has_bf16, bfdot},
                                              {"BFMMLA", "arm.bfmmla", 2, 2, 4, has_bf16, bfmmla},
                                              {NULL, NULL, 0, 0, 0, NULL, NULL}};

/* ---- conversions of binary16, in the mode that FPCR names: ties to even in a program that has not changed it ---- */

static void fcvtl(float *z, const uint16_t *x) {
  for (int i = 0; i < PROCESSOR_LANES; i += 4) {
    __asm__("ldr d0, [%1]\n\tfcvtl v0.4s, v0.4h\n\tstr q0, [%0]" : : "r"(z + i), "r"(x + i) : "v0", "memory");
  }
}
static void check_fcvtl(processor_tally *tally) { processor_check_widen(tally, fcvtl); }

static void fcvtn(uint16_t *z, const float *x) {
  for (int i = 0; i < PROCESSOR_LANES; i += 4) {
    __asm__("ldr q0, [%1]\n\tfcvtn v0.4h, v0.4s\n\tstr d0, [%0]" : : "r"(z + i), "r"(x + i) : "v0", "memory");
  }
}
static void check_fcvtn(processor_tally *tally) { processor_check_narrow(tally, HU_RNE, fcvtn); }

const processor_check processor_checks_arm[] = {{"FCVTL", "binary16.values", has_fma, check_fcvtl},
                                                {"FCVTN", "binary16.rne", has_fma, check_fcvtn},
                                                {NULL, NULL, NULL, NULL}};
#else
const processor_unit processor_units_arm[] = {{NULL, NULL, 0, 0, 0, NULL, NULL}};
const processor_check processor_checks_arm[] = {{NULL, NULL, NULL, NULL}};
#endif
