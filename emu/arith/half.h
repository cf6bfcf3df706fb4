/* SPDX-License-Identifier: MIT */
/* emu/arith/half.h - operations on arrays of codes of binary16 by the CPU's own instructions, for the calls of
 * hu_apply and for products whose steps are such operations (emu/gemm/steps/half_steps.c).
 *
 * The argument. IEEE 754's add, subtract, multiply, divide, square root and fused multiply-add of binary16 are what
 * docs/numerics.md section 10 says of the format in the modes ties to even, toward zero, positive and negative:
 * VADDPH, VSUBPH, VMULPH, VDIVPH, VSQRTPH and VFMADD...PH are these operations with the direction in the instruction,
 * whatever MXCSR says of subnormal numbers (Intel's AVX512-FP16 architecture specification, document 347407), and
 * Arm's FADD, FSUB, FMUL, FDIV, FSQRT and FMLA of halves are they where FPCR has the direction, FZ16 = 0 and AH = 0
 * (Arm Architecture Reference Manual, FEAT_FP16). A NaN has the CPU's digits and is replaced by the format's.
 *
 * Events come from the result z and from the results `up` toward positive and `down` toward negative. Let x be the
 * exact result of numbers.
 *
 *   inexact     binary16 does not hold x: up and down differ, and are not two zeros, which an exact zero sum gives
 *   nan_in      an operand is NaN; inf_in: one is infinite. Then there are no others but `invalid`
 *   invalid     z is NaN and no operand is
 *   divide      z is infinite, no operand is, and the divisor is zero
 *   overflow    ties to even: z is infinite, no operand is, and nothing was divided by zero. In the other modes z does
 *               not say whether x, rounded without a largest number, passes it: where up or down is infinite and x
 *               inexact, the element is left to the caller
 *   to_zero     z is zero and x inexact; subnormal: z is, exact or not
 *   underflow   x is inexact and tiny. The smaller of |up| and |down| is |x| toward zero. Before rounding, x is tiny
 *               if that is below 2^-14. After rounding it is if that is below 2^-14 - 2^-24, the largest subnormal
 *               number; if it is this number, x is left to the caller, for rounding to 11 digits might give 2^-14
 *
 * A saturating mode, a stochastic one and other rules for ties are not served. */
#ifndef HALFULP_EMU_ARITH_HALF_H
#define HALFULP_EMU_ARITH_HALF_H

#include <stddef.h>

#include "emu/core/arith.h"

/* Arrays hold a multiple of HU_HALF_STEP elements, which are computed. */
enum { HU_HALF_STEP = 32, HU_HALF_PIECE = 32 * HU_HALF_STEP };

/* A piece of a call, n a multiple of HU_HALF_STEP. An operation of fewer operands names one of them again. */
typedef struct hu_half_piece {
  int32_t op; /* HU_OP_ADD, SUB, MUL, DIV, SQRT, FMA */
  uint32_t round, tiny;
  size_t n;
  const uint16_t *x[3];
  const uint16_t *up, *down;
  uint16_t *z;    /* in: the result in the mode; out: NaN are the format's */
  uint16_t *left; /* out: all ones for elements that are left to the caller, without their events; else 0 */
} hu_half_piece;

typedef struct hu_half_arith {
  /* z[i] = the operation of x[0][i], x[1][i], x[2][i], rounded once in the mode HU_RNE, HU_RTZ, HU_RTP or HU_RTN, for
   * i < n, a multiple of HU_HALF_STEP. Operands that the operation does not have are not read. z may be an operand. */
  void (*operate)(int32_t op, uint32_t round, size_t n, uint16_t *z, const uint16_t *const x[3]);
  /* Adds the events of the elements; 1 if some are left to the caller. */
  int (*settle)(const hu_half_piece *piece, hu_events *events);
} hu_half_arith;
extern const hu_half_arith hu_half_arith_fp16, hu_half_arith_neon;

/* halves.c. 1 if the kernels serve a rounding into spec: binary16 in one of the four modes. */
int hui_half_serves(const hu_spec *spec);

#endif
