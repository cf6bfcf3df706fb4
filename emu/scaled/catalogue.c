/* SPDX-License-Identifier: MIT */
/* The named scaled tensors: each one is a text that hu_scaling_parse reads. */
#include "halfulp/scaled.h"

#define OCPMX "OCP Microscaling Formats (MX) Specification v1.0, sections 5.2, 5.3, 6.3"
#define OCPMX_OPEN                                                                                                    \
  "Other rules for the scale (ceil, even, rceil), blocks of zeros (here scale 2^-127), Infinities and NaN (here the " \
  "scale is NaN)."
#define MX ";scale=float8_e8m0fnu;block=1x32;rule=floor"
#define MSFP "Darvish Rouhani et al., Pushing the limits of narrow precision inferencing with MSFP (NeurIPS 2020)"
#define MSFP_OPEN "Infinities and NaN (here as the mode defines), the rounding of the elements (here the call's)."
#define HBFP "Drumond et al., Training DNNs with hybrid block floating point (NeurIPS 2018)"
#define HBFP_OPEN                                                                                                 \
  "The lowest two's complement code (here unused, as the authors' emulator limits both signs alike), zeros, the " \
  "format of the exponent's codes (here biased, 10 bits)."
#define HBFP_TEXT(m)                                                       \
  "scaled(fp(0," m                                                         \
  ",0):finite,nonegzero;scale=fp(10,0,0):finite,unsigned,zero=none,nosub;" \
  "block=24x24;rule=floor;code=twos;special=element)"
#define NVFP4 "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;steps="
#define NVFP4_OPEN \
  "Blocks whose scale rounds to zero (here all codes are zeros), infinities and NaN (the scale is NaN)."
#define FOUR_SIX_OPEN                                                                                                \
  "Infinities and NaN (the scale is NaN); blocks whose scale rounds to zero (here all codes are zeros); stochastic " \
  "rounding, which Transformer Engine refuses here (both scales draw the same words)."
#define FOUR_SIX_TE "NVIDIA Transformer Engine, common/cast/nvfp4/quantize_4over6_nvfp4.cuh (PR 2972, May 2026), "
#define FOUR_SIX(rule, tensor) \
  "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=4over6_" rule ";steps=multiply;" tensor ";zero=zero)"
#define NVFP4_SWEEP "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=sweep_mse;steps=divide;tensor;zero=zero)"
#define NVINT(name) \
  "Four Over Six's authors, fouroversix, data type " name " (compute_nv_scale_factors at 00e7033), arXiv 2603.28765"
#define NVINT_OPEN \
  "The lowest code of two's complement, which it does not produce; infinities and NaN (the scale is NaN)."
#define NVINT_TEXT(element) \
  "scaled(" element ":finite,nonegzero;scale=ue4m3;block=1x16;rule=ratio;steps=multiply;tensor;code=twos;zero=zero)"
#define DSV3 "DeepSeek-V3 Technical Report (2024), section 3.3.2, and the inference kernels published with it"
#define DSV3_OPEN "Blocks of zeros, which those kernels divide by zero (here scale 1; DeepGEMM: amin=0x38d1b717)."
#define DSV3_TEXT(block) "scaled(float8_e4m3fn;scale=binary32;block=" block ";rule=ratio;steps=divide;zero=one)"
#define DEEPGEMM \
  "DeepGEMM, per_token_cast_to_fp8 and per_block_cast_to_fp8 with UE8M0 scales: amax / 448 rounded up to 2^e"
#define DEEPGEMM_TEXT(block) "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=" block ";rule=rceil;amin=0x38d1b717)"
#define TT "Tenstorrent block floating point: 16 elements of a row share an exponent of 8 bits (tt-isa-documentation)"
#define TT_OPEN "The rounding of the elements (here the call's), infinities and NaN (here as the mode defines)."

static const hu_scaling_entry entries[] = {
    {"mxfp8_e4m3", OCPMX, OCPMX_OPEN, "scaled(float8_e4m3fn" MX ")"},
    {"mxfp8_e5m2", OCPMX, OCPMX_OPEN, "scaled(float8_e5m2" MX ")"},
    {"mxfp6_e3m2", OCPMX, OCPMX_OPEN, "scaled(float6_e3m2fn" MX ")"},
    {"mxfp6_e2m3", OCPMX, OCPMX_OPEN, "scaled(float6_e2m3fn" MX ")"},
    {"mxfp4", OCPMX, OCPMX_OPEN, "scaled(float4_e2m1fn" MX ")"},
    {"mxint8", OCPMX, OCPMX_OPEN " The code 0x80 (-2) is left unused.",
     "scaled(fp(0,7,0):finite,nonegzero" MX ";code=twos)"},
    {"nvfp4", "NVIDIA, Pretraining large language models with NVFP4 (arXiv 2509.25149, 2025), appendix", NVFP4_OPEN,
     NVFP4 "multiply;tensor;zero=zero)"},
    {"nvfp4_torchao", "PyTorch torchao before 0.18, prototype mx_formats, two-level scaling",
     NVFP4_OPEN " torchao keeps block scales at 2^-6 and above; here subnormal ones are used.",
     NVFP4 "divide;tensor;zero=zero)"},
    {"nvfp4_te", "NVIDIA Transformer Engine, common/cast/nvfp4/core_nvfp4.cuh", NVFP4_OPEN,
     NVFP4 "encode;tensor;zero=zero)"},
    {"nvfp4_torchao18", "PyTorch torchao 0.18, prototype mx_formats, nvfp4_quantize with two levels",
     NVFP4_OPEN " torchao keeps block scales at 2^-6 and above; here subnormal ones are used.",
     NVFP4 "reciprocal;tensor;zero=zero)"},
    {"nvfp4_4over6", "Cook et al., Four Over Six (arXiv 2512.02010) and fouroversix of its authors, scale rule mse",
     "The order in which errors are added (here that of Transformer Engine). " FOUR_SIX_OPEN,
     FOUR_SIX("mse", "tensor=256")},
    {"nvfp4_te_4over6", FOUR_SIX_TE "MAE, bound 256: the recipe's defaults", FOUR_SIX_OPEN,
     FOUR_SIX("mae", "tensor=256")},
    {"nvfp4_te_4over6_448", FOUR_SIX_TE "MAE, bound 448", FOUR_SIX_OPEN, FOUR_SIX("mae", "tensor")},
    {"nvfp4_modelopt_mse",
     "NVIDIA Model Optimizer 0.47, NVFP4MSECalibrator: all 126 scales of a block (fp8_scale_sweep)",
     "The order of its sums (PyTorch's or a kernel's; here from the first element on), blocks of zeros (its scale "
     "2^-9).",
     NVFP4_SWEEP},
    {"nvint4", NVINT("nvint4"), NVINT_OPEN, NVINT_TEXT("fp(0,3,-2)")},
    {"nvint6", NVINT("nvint6"), NVINT_OPEN, NVINT_TEXT("fp(0,5,-4)")},
    {"msfp11", MSFP, MSFP_OPEN, "bfp(2,8,16)"},
    {"msfp12", MSFP, MSFP_OPEN, "bfp(3,8,16)"},
    {"msfp13", MSFP, MSFP_OPEN, "bfp(4,8,16)"},
    {"msfp14", MSFP, MSFP_OPEN, "bfp(5,8,16)"},
    {"msfp15", MSFP, MSFP_OPEN, "bfp(6,8,16)"},
    {"msfp16", MSFP, MSFP_OPEN, "bfp(7,8,16)"},
    {"hbfp4", HBFP, HBFP_OPEN, HBFP_TEXT("3")},
    {"hbfp6", HBFP, HBFP_OPEN, HBFP_TEXT("5")},
    {"hbfp8", HBFP, HBFP_OPEN, HBFP_TEXT("7")},
    {"hbfp12", HBFP, HBFP_OPEN, HBFP_TEXT("11")},
    {"tt_bfp8", TT, TT_OPEN, "bfp(7,8,16)"},
    {"tt_bfp4", TT, TT_OPEN, "bfp(3,8,16)"},
    {"tt_bfp2", TT, TT_OPEN, "bfp(1,8,16)"},
    {"fp8_tensor", "NVIDIA Transformer Engine, current and delayed scaling, margin 0",
     "Infinities and NaN, for which it takes scale 1 (here amax of the finite elements).",
     "scaled(float8_e4m3fn;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"},
    {"dsv3_1x128", DSV3, DSV3_OPEN, DSV3_TEXT("1x128")},
    {"dsv3_128x128", DSV3, DSV3_OPEN, DSV3_TEXT("128x128")},
    {"deepgemm_1x128", DEEPGEMM, "", DEEPGEMM_TEXT("1x128")},
    {"deepgemm_128x128", DEEPGEMM, "", DEEPGEMM_TEXT("128x128")},
};

size_t hu_scaling_count(void) { return sizeof entries / sizeof *entries; }

hu_scaling_entry hu_scaling_at(size_t i) {
  static const hu_scaling_entry none = {0, 0, 0, 0};
  return i < hu_scaling_count() ? entries[i] : none;
}
