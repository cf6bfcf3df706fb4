/* SPDX-License-Identifier: MIT */
/* emu/gemm/steps/half.h - operands as codes of binary16, for half.c and half_steps.c. */
#ifndef HALFULP_EMU_GEMM_STEPS_HALF_H
#define HALFULP_EMU_GEMM_STEPS_HALF_H

#include "emu/arith/half.h"
#include "emu/gemm/call.h"
#include "emu/gemm/tiles/half.h"

/* half.c. 1 if binary16 has every value of x, or there is no x. */
int hui_half_holds(const hu_matrix *x);
/* Writes n codes of values of binary16, without reading or writing beyond them. */
void hui_half_narrow(const hu_half_kernels *kernels, size_t n, uint16_t *z, const float *x);
/* n <= HU_HALF_NB codes of a stored row of what binary16 holds. */
void hui_half_read(const hu_half_kernels *kernels, const hu_matrix *x, size_t row, size_t column, size_t n,
                   uint16_t *z);

#endif
