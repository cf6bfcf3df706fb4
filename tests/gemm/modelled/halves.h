/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/halves.h - binary16 in plain C, for immintrin.h beside this: conversions of exact values, and
 * VFMADD...PH with the rounding in the instruction, as Intel's AVX512-FP16 architecture specification (document 347407)
 * has it: IEEE 754's fused multiply-add, with subnormal numbers. A NaN is 0x7E00. */
#ifndef HALFULP_TESTS_GEMM_MODELLED_HALVES_H
#define HALFULP_TESTS_GEMM_MODELLED_HALVES_H

#include <stdint.h>

#define _MM_FROUND_TO_NEAREST_INT 0
#define _MM_FROUND_TO_NEG_INF 1
#define _MM_FROUND_TO_POS_INF 2
#define _MM_FROUND_TO_ZERO 3
#define _MM_FROUND_NO_EXC 8

/* How many multiply-adds there were, of lanes. */
long model_halves_added(void);

/* The code of a value of binary16; anything else ends the program. */
uint16_t model_half_of(float x);
float model_float_of_half(uint16_t x);
/* z[i] = a[i] b[i] + c[i] for 32 lanes. */
void model_fmadd_halves(uint16_t z[32], const uint16_t a[32], const uint16_t b[32], const uint16_t c[32], int round);

#endif
