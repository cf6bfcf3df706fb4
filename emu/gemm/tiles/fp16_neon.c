/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/fp16_neon.c - half.h by FEAT_FP16 of 64-bit Arm: tiles of 8 rows by three vectors of 8 lanes, 24
 * accumulators in registers. FMLA rounds once, in the direction that FPCR names (Arm Architecture Reference Manual,
 * FPCR.RMode). The kernel sets FPCR to zeros but the direction: subnormal numbers are operands and results (FZ16 = 0).
 * `make check-emulated` runs it under an emulator. No run on a processor is recorded yet: Meson's option
 * `unconfirmed_units` asks for it. */
#include "emu/gemm/tiles/half.h"
#include "emu/arith/half.h"

#include "emu/base/float_env.h"
#include "halfulp/gemm.h"

/* The compiler may not know them. */
#if HU_ARM_LEVELS && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#include <arm_neon.h>

enum { MR = HU_GEMM_MR, NR = HU_HALF_NR, KC = HU_HALF_KC, MB = HU_HALF_MB, LANES = 8, WIDE = 3 * LANES };

/* Converts, exactly in both directions. */
static void narrow(size_t n, uint16_t *z, const float *x) {
  for (size_t i = 0; i < n; i += 4) vst1_u16(z + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(x + i))));
}

static void widen(size_t n, float *z, const uint16_t *x) {
  for (size_t i = 0; i < n; i += 4) vst1q_f32(z + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x + i))));
}

static inline float16x8_t load(const uint16_t *x) { return vreinterpretq_f16_u16(vld1q_u16(x)); }

/* Adds to row i of a tile the products of lane i of x; the instruction takes a constant only. */
#define ROW(i)                                                                                    \
  z[i][0] = vfmaq_laneq_f16(z[i][0], y[0], x, i), z[i][1] = vfmaq_laneq_f16(z[i][1], y[1], x, i), \
  z[i][2] = vfmaq_laneq_f16(z[i][2], y[2], x, i)

static void tile(size_t kc, const uint16_t *a, const uint16_t *b, uint16_t *acc, int fresh) {
  float16x8_t z[MR][3];
  HU_UNROLL
  for (int i = 0; i < MR; i++) {
    HU_UNROLL
    for (int j = 0; j < 3; j++) z[i][j] = fresh ? vdupq_n_f16(0) : load(acc + i * NR + LANES * j);
  }
  for (; kc; kc--, a += MR, b += NR) {
    const float16x8_t x = load(a), y[3] = {load(b), load(b + LANES), load(b + 2 * LANES)};
    ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
  }
  HU_UNROLL
  for (int i = 0; i < MR; i++) {
    HU_UNROLL
    for (int j = 0; j < 3; j++) vst1q_u16(acc + i * NR + LANES * j, vreinterpretq_u16_f16(z[i][j]));
  }
}

/* Sums a block. Not inlined: it stands between two changes of FPCR. */
static __attribute__((noinline)) void block(size_t rows, size_t cols, size_t kc, const uint16_t *a, const uint16_t *b,
                                            uint16_t *acc, int fresh) {
  for (size_t j = 0; j < cols; j += WIDE) {
    const size_t panel = j / NR * NR, in = j % NR;
    for (size_t i = 0; i < rows; i += MR) {
      tile(kc, a + i * KC, b + panel * KC + in, acc + panel * MB + i * NR + in, fresh);
    }
  }
}

static void multiply(uint32_t round, size_t rows, size_t cols, size_t kc, const uint16_t *a, const uint16_t *b,
                     uint16_t *acc, int fresh) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of((int)round));
  block(rows, cols, kc, a, b, acc, fresh);
  hui_float_env_leave(saved);
}

/* Multiplies a block. Not inlined: as block. */
static __attribute__((noinline)) void outer_block(size_t rows, size_t cols, uint16_t *z, size_t pitch,
                                                  const uint16_t *a, const uint16_t *b) {
  for (size_t i = 0; i < rows; i++) {
    const float16x8_t x = vreinterpretq_f16_u16(vdupq_n_u16(a[i]));
    for (size_t j = 0; j < cols; j += LANES) {
      vst1q_u16(z + i * pitch + j, vreinterpretq_u16_f16(vmulq_f16(x, load(b + j))));
    }
  }
}

static void outer(uint32_t round, size_t rows, size_t cols, uint16_t *z, size_t pitch, const uint16_t *a,
                  const uint16_t *b) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of((int)round));
  outer_block(rows, cols, z, pitch, a, b);
  hui_float_env_leave(saved);
}

static const hu_half_kernels kernels = {narrow, widen, multiply, outer};
#if defined(HU_UNCONFIRMED_UNITS) && defined(__linux__)
#include <sys/auxv.h>
/* Checks for HWCAP_ASIMDHP. */
static int runs(void) { return (getauxval(AT_HWCAP) >> 10 & 1) != 0; }
#define KERNELS .runs = runs, .halves = &kernels, .half_arith = &hu_half_arith_neon
#else
#define KERNELS .runs = NULL, .halves = &kernels, .half_arith = &hu_half_arith_neon
#endif
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_fp16_neon = {.name = "fp16", .bits = HU_LEVEL_NEON | HU_LEVEL_FP16, KERNELS};
