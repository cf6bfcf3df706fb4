/* SPDX-License-Identifier: MIT */
/* emu/arith/half_neon.c - half.h by FEAT_FP16 of 64-bit Arm. FPCR has the direction and else zeros: subnormal numbers
 * are operands and results. emu/gemm/tiles/fp16_neon.c says when it is used. */
#include "emu/arith/half.h"

#include "emu/base/float_env.h"

/* The compiler may not know them. */
#if HU_ARM_LEVELS && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#include <arm_neon.h>

#define HALF_BYTES 16
#include "emu/arith/half_settle.h"

static inline float16x8_t load(const uint16_t *x) { return vreinterpretq_f16_u16(vld1q_u16(x)); }

HALF_FN float16x8_t result_of(const int32_t op, float16x8_t x, float16x8_t y, float16x8_t w) {
  switch (op) {
    case HU_OP_ADD: return vaddq_f16(x, y);
    case HU_OP_SUB: return vsubq_f16(x, y);
    case HU_OP_MUL: return vmulq_f16(x, y);
    case HU_OP_DIV: return vdivq_f16(x, y);
    case HU_OP_SQRT: return vsqrtq_f16(x);
    default: return vfmaq_f16(w, x, y);
  }
}

/* Defines a function that is not inlined: it stands between two changes of FPCR. */
#define EACH(name, op, operands)                                                                  \
  static __attribute__((noinline)) void name(size_t n, uint16_t *z, const uint16_t *const x[3]) { \
    for (size_t i = 0; i < n; i += HALF_LANES) {                                                  \
      const float16x8_t a = load(x[0] + i), b = (operands) > 1 ? load(x[1] + i) : a,              \
                        c = (operands) > 2 ? load(x[2] + i) : a;                                  \
      vst1q_u16(z + i, vreinterpretq_u16_f16(result_of(op, a, b, c)));                            \
    }                                                                                             \
  }
EACH(add, HU_OP_ADD, 2)
EACH(sub, HU_OP_SUB, 2)
EACH(mul, HU_OP_MUL, 2)
EACH(quotient, HU_OP_DIV, 2)
EACH(root, HU_OP_SQRT, 1)
EACH(fused, HU_OP_FMA, 3)

static void operate(int32_t op, uint32_t round, size_t n, uint16_t *z, const uint16_t *const x[3]) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of((int)round));
  switch (op) {
    case HU_OP_ADD: add(n, z, x); break;
    case HU_OP_SUB: sub(n, z, x); break;
    case HU_OP_MUL: mul(n, z, x); break;
    case HU_OP_DIV: quotient(n, z, x); break;
    case HU_OP_SQRT: root(n, z, x); break;
    default: fused(n, z, x); break;
  }
  hui_float_env_leave(saved);
}

const hu_half_arith hu_half_arith_neon = {operate, half_settle};

#endif
