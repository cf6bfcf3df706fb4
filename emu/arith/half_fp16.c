/* SPDX-License-Identifier: MIT */
/* emu/arith/half_fp16.c - half.h by AVX512-FP16. A test compiles this file a second time with a header in place of the
 * compiler's that models the instructions in C. emu/gemm/tiles/fp16.c says when it is used. */
#include <immintrin.h>

#include "emu/arith/half.h"

/* The compiler may not know them. */
#if defined(__AVX512FP16__) || defined(HU_MODELLED_INSTRUCTIONS)

#define HALF_BYTES 64
#include "emu/arith/half_settle.h"

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define ZERO (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define UP (_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

/* The mode is part of the instruction: a constant in the text. */
HALF_FN __m512h result_of(const int32_t op, const int direction, __m512h x, __m512h y, __m512h w) {
#define IN(direction)                                            \
  switch (op) {                                                  \
    case HU_OP_ADD: return _mm512_add_round_ph(x, y, direction); \
    case HU_OP_SUB: return _mm512_sub_round_ph(x, y, direction); \
    case HU_OP_MUL: return _mm512_mul_round_ph(x, y, direction); \
    case HU_OP_DIV: return _mm512_div_round_ph(x, y, direction); \
    case HU_OP_SQRT: return _mm512_sqrt_round_ph(x, direction);  \
    default: return _mm512_fmadd_round_ph(x, y, w, direction);   \
  }
  switch (direction) {
    case NEAREST: IN(NEAREST)
    case ZERO: IN(ZERO)
    case UP: IN(UP)
    default: IN(DOWN)
  }
#undef IN
}

HALF_FN void each(const int32_t op, const int direction, size_t n, uint16_t *z, const uint16_t *const x[3]) {
  const int operands = op == HU_OP_FMA ? 3 : op == HU_OP_SQRT ? 1 : 2;
  for (size_t i = 0; i < n; i += HALF_LANES) {
    __m512h a = _mm512_loadu_ph(x[0] + i), b = operands > 1 ? _mm512_loadu_ph(x[1] + i) : a,
            c = operands > 2 ? _mm512_loadu_ph(x[2] + i) : a;
    _mm512_storeu_ph(z + i, result_of(op, direction, a, b, c));
  }
}

HALF_FN void directed(const int32_t op, uint32_t round, size_t n, uint16_t *z, const uint16_t *const x[3]) {
  switch (round) {
    case HU_RNE: each(op, NEAREST, n, z, x); break;
    case HU_RTZ: each(op, ZERO, n, z, x); break;
    case HU_RTP: each(op, UP, n, z, x); break;
    default: each(op, DOWN, n, z, x); break;
  }
}

static void operate(int32_t op, uint32_t round, size_t n, uint16_t *z, const uint16_t *const x[3]) {
  switch (op) {
    case HU_OP_ADD: directed(HU_OP_ADD, round, n, z, x); break;
    case HU_OP_SUB: directed(HU_OP_SUB, round, n, z, x); break;
    case HU_OP_MUL: directed(HU_OP_MUL, round, n, z, x); break;
    case HU_OP_DIV: directed(HU_OP_DIV, round, n, z, x); break;
    case HU_OP_SQRT: directed(HU_OP_SQRT, round, n, z, x); break;
    default: directed(HU_OP_FMA, round, n, z, x); break;
  }
}

const hu_half_arith hu_half_arith_fp16 = {operate, half_settle};

#endif
