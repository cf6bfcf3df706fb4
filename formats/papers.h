/* SPDX-License-Identifier: MIT */
/* formats/papers.h - formats of training papers and of the hardware that they describe. Most of the papers give field
 * widths and a bias but not the meaning of the edge codes; each comment says what was chosen here. */
#ifndef HALFULP_FORMATS_PAPERS_H
#define HALFULP_FORMATS_PAPERS_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lee, Sharma, Aiken, "Training with mixed-precision floating-point assignments" (TMLR, June 2023): fp(e,m,b) with
 * subnormals and without infinities and NaN, so that every exponent field counts; beyond the range lies the largest
 * value. */
static inline hu_format hu_fp_4_3_4_finite(void) { return hu_format_finite(4, 3, 4); } /* fp(4,3,4): forward */
static inline hu_format hu_fp_5_2_0_finite(void) { return hu_format_finite(5, 2, 0); } /* fp(5,2,0) */
static inline hu_format hu_fp_6_9_0_finite(void) { return hu_format_finite(6, 9, 0); } /* fp(6,9,0) */

/* Sun et al., "Hybrid 8-bit floating point (HFP8) training and inference for deep neural networks" (NeurIPS 2019):
 * forward 1-4-3 with bias 11, backward 1-5-2. Edge codes are not given; here all codes are finite, as in the emulations
 * of the paper. */
static inline hu_format hu_hfp8_fwd_143(void) { return hu_format_finite(4, 3, 4); } /* forward: 1-4-3, bias 11 */
static inline hu_format hu_hfp8_bwd_152(void) { return hu_format_finite(5, 2, 0); } /* backward: 1-5-2, bias 15 */

/* Agrawal et al., "DLFloat: a 16-b floating point format designed for deep learning training and inference" (ARITH
 * 2019): no subnormals, only the all-zero magnitude is zero, one code under each sign is infinity and NaN in one. */
static inline hu_format hu_dlfloat16(void) {
  hu_format f = hu_format_fn(6, 9, 0);
  f.zero = HU_ZERO_CODE;
  f.subnormal = HU_SUBNORMAL_FLUSH;
  return f;
}

/* Wang et al., "Training deep neural networks with 8-bit floating point numbers" (NeurIPS 2018): 1-6-9 for sums. Edge
 * codes are not given; here IEEE 754's. */
static inline hu_format hu_fp16_169_wang2018(void) { return hu_format_ieee(6, 9, 0); }

/* Tesla, "Dojo Technology: a guide to Tesla's configurable floating point formats and arithmetic" (October 2021):
 * CFloat8 1-4-3 and 1-5-2, CFloat16 1-5-10 (SHP), their bias a register of 6 bits. All codes finite here; `bias` is the
 * register. */
static inline hu_format hu_cfloat8_143_bias(int bias) { return hu_format_finite(4, 3, bias - 7); }  /* CFloat8 1-4-3 */
static inline hu_format hu_cfloat8_152_bias(int bias) { return hu_format_finite(5, 2, bias - 15); } /* CFloat8 1-5-2 */
static inline hu_format hu_shp_cfloat16_bias(int bias) {
  return hu_format_finite(5, 10, bias - 15);
} /* CFloat16 1-5-10 */

/* Tesla's CFloat8 1-4-3, CFloat8 1-5-2 and CFloat16 1-5-10 with the bias 2^(e-1) - 1: 7, 15 and 15. */
static inline hu_format hu_cfloat8_143(void) { return hu_cfloat8_143_bias(7); }    /* CFloat8 1-4-3, bias 7 */
static inline hu_format hu_cfloat8_152(void) { return hu_cfloat8_152_bias(15); }   /* CFloat8 1-5-2, bias 15 */
static inline hu_format hu_shp_cfloat16(void) { return hu_shp_cfloat16_bias(15); } /* CFloat16 1-5-10, bias 15 */

/* Tesla CFloat16 UHP: unsigned, 6 exponent bits, bias 31. Edge codes are not given; all codes finite here. */
static inline hu_format hu_uhp_cfloat16(void) { return hu_format_unsigned(hu_format_finite(6, 10, 0)); }

#ifdef __cplusplus
}
#endif
#endif
