/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/halves.h - binary16 in plain C, for immintrin.h beside this: conversions of exact values, and
 * VFMADD...PH, VADDPH, VSUBPH, VMULPH, VDIVPH and VSQRTPH with the rounding in the instruction, as Intel's AVX512-FP16
 * architecture specification (document 347407) has them: IEEE 754's operations, with subnormal numbers. A NaN is
 * 0x7E00. */
#ifndef HALFULP_TESTS_GEMM_MODELLED_HALVES_H
#define HALFULP_TESTS_GEMM_MODELLED_HALVES_H

#include <stdint.h>

#define _MM_FROUND_TO_NEAREST_INT 0
#define _MM_FROUND_TO_NEG_INF 1
#define _MM_FROUND_TO_POS_INF 2
#define _MM_FROUND_TO_ZERO 3
#define _MM_FROUND_NO_EXC 8

/* How many multiply-adds there were, of lanes; how many other operations. */
long model_halves_added(void);
long model_halves_operated(void);

/* The code of a value of binary16; anything else ends the program. */
uint16_t model_half_of(float x);
float model_float_of_half(uint16_t x);
/* z[i] = a[i] + b[i], a[i] - b[i], a[i] b[i], a[i] / b[i], the root of a[i], a[i] b[i] + c[i], for 32 lanes. */
enum { MODEL_HALF_ADD, MODEL_HALF_SUB, MODEL_HALF_MUL, MODEL_HALF_DIV, MODEL_HALF_SQRT, MODEL_HALF_FMA };
void model_operate_halves(int op, uint16_t z[32], const uint16_t a[32], const uint16_t b[32], const uint16_t c[32],
                          int round);

#endif
