/* SPDX-License-Identifier: MIT */
/* formats/other.h - formats defined by a vendor, a tool or a graphics interface. */
#ifndef HALFULP_FORMATS_OTHER_H
#define HALFULP_FORMATS_OTHER_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PTX ISA section 5.2.3, "Alternate floating-point data formats": the upper 19 bits of binary32. */
static inline hu_format hu_tf32(void) { return hu_format_ieee(8, 10, 0); }

/* Arm Architecture Reference Manual, alternative half precision (FPCR.AHP = 1): binary16's fields, all codes finite. */
static inline hu_format hu_binary16_ahp(void) { return hu_format_finite(5, 10, 0); }

/* IEEE 754's rules on 1-4-3 (LLVM Float8E4M3; Gaudi 2, Trainium): largest value 240. */
static inline hu_format hu_float8_e4m3(void) { return hu_format_ieee(4, 3, 0); }

/* IEEE 754's rules on 1-3-4 (LLVM Float8E3M4): largest value 15.5. */
static inline hu_format hu_float8_e3m4(void) { return hu_format_ieee(3, 4, 0); }

/* Intel FP8 Emulation Toolkit, E3M4: NaN at all ones, overflow to the largest value, 30. */
static inline hu_format hu_float8_e3m4fn(void) {
  hu_format f = hu_format_fn(3, 4, 0);
  f.overflow = HU_OVERFLOW_MAX;
  return f;
}

/* PTX ISA section 5.2.3, ue4m3 (scales of NVFP4 blocks): E4M3FN without its sign bit. */
static inline hu_format hu_ue4m3(void) { return hu_format_unsigned(hu_format_fn(4, 3, 0)); }

/* AMD gfx1250 ISA, unsigned E5M3: NaN at 0xFF; values below zero become zero. */
static inline hu_format hu_ue5m3(void) {
  hu_format f = hu_format_unsigned(hu_format_fn(5, 3, 0));
  f.negative = HU_NEGATIVE_LOW;
  return f;
}

/* OpenGL 4.6, "Unsigned 11-Bit Floating-Point Numbers" (first in EXT_packed_float): 5 exponent and 6 trailing bits,
 * with infinity and NaN; what is finite and beyond the range becomes the largest finite value; what is negative becomes
 * zero. */
static inline hu_format hu_r11g11b10_uf11(void) {
  hu_format f = hu_format_unsigned(hu_format_ieee(5, 6, 0));
  f.overflow = HU_OVERFLOW_MAX;
  f.negative = HU_NEGATIVE_LOW;
  return f;
}
/* OpenGL 4.6, "Unsigned 10-Bit Floating-Point Numbers": the same with 5 trailing bits. */
static inline hu_format hu_r11g11b10_uf10(void) {
  hu_format f = hu_format_unsigned(hu_format_ieee(5, 5, 0));
  f.overflow = HU_OVERFLOW_MAX;
  f.negative = HU_NEGATIVE_LOW;
  return f;
}

/* Ascend C built-in data types, fp4x2_e1m2_t: bias 1, the multiples of 1/4 up to 1.75. */
static inline hu_format hu_float4_e1m2(void) { return hu_format_finite(1, 2, 1); }

/* Chmiel et al., "Accurate neural training with 4-bit matrix multiplications at standard formats" (LUQ, ICLR 2023):
 * 1-3-0, powers of two and zero. */
static inline hu_format hu_float4_e3m0(void) { return hu_format_finite(3, 0, 0); }

/* FP5 and FP3 of weight quantisation studies (quant-llm): every code finite. */
static inline hu_format hu_float5_e2m2(void) { return hu_format_finite(2, 2, 0); } /* 2 exponent, 2 trailing bits */
static inline hu_format hu_float5_e3m1(void) { return hu_format_finite(3, 1, 0); } /* 3 exponent bits, 1 trailing bit */
static inline hu_format hu_float3_e2m0(void) { return hu_format_finite(2, 0, 0); } /* 2 exponent bits, none below */

/* Unsigned integers of 1, 2, 4 and 8 bits: no exponent bits, a code is its value. What is beyond the range becomes the
 * nearest end of it. */
static inline hu_format hu_format_uint(unsigned width, int bias) {
  hu_format f = hu_format_unsigned(hu_format_finite(0, width, bias));
  f.negative = HU_NEGATIVE_LOW;
  return f;
}
static inline hu_format hu_uint1(void) { return hu_format_uint(1, 0); }  /* 0 and 1 */
static inline hu_format hu_uint2(void) { return hu_format_uint(2, -1); } /* 0 to 3 */
static inline hu_format hu_uint4(void) { return hu_format_uint(4, -3); } /* 0 to 15 */
static inline hu_format hu_uint8(void) { return hu_format_uint(8, -7); } /* 0 to 255 */

#ifdef __cplusplus
}
#endif
#endif
