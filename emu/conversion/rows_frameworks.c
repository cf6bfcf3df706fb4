/* SPDX-License-Identifier: MIT */
/* Rows of conversions, first part: the conversions of toolkits, frameworks and array libraries. */
#include "emu/conversion/rows.h"
#include "halfulp/conversion.h"

#define CODE HU_NO_CODE
#define SIGN HU_NAN_BY_SIGN
#define QUIET HU_NAN_BY_QUIET
#define PAYLOAD HU_NAN_BY_PAYLOAD
#define FIXED HU_NAN_BY_CODE

/* E8M0 from the exponent field of binary32: below 2^-126, where that is 0, they see neither 2^-127 nor a fraction. */
#define E8M0_NEAREST "fp(8,23,0):nosub/rne"
#define E8M0_UP "fp(8,23,0):nosub/raz"
#define E8M0_LOW " From 2^-127 to 2^-126 all gives 2^-126 (the nearer one is 2^-127 up to 1.5 times it)."

/* Make a row of one rounding, NaN by mode / by sign in both operand types / by sign with this code. */
#define PLAIN(name, format, mode, stands, note) \
  { name, format, mode, "", 0, 0, 0, CODE, "", stands, note }
#define SIGNED(name, format, mode, stands, note) \
  { name, format, mode, "", 0, SIGN, SIGN, CODE, "", stands, note }
#define SIGNED32(name, format, mode, stands, note) \
  { name, format, mode, "", HU_OPERAND_BINARY32, SIGN, SIGN, CODE, "", stands, note }
#define PLAIN32(name, format, mode, stands, note) \
  { name, format, mode, "", HU_OPERAND_BINARY32, 0, 0, CODE, "", stands, note }

/* ---- cuda ---- */
#define E4M3_NAN "A binary64 NaN keeps its sign, a binary32, binary16 or bfloat16 one does not."
#define E5M2_NAN "A binary64 NaN keeps sign and leading digits, made quiet; any other gives 0x7F."
#define CUDA_E8M0 "The sign of the operand is dropped. Only rounding toward zero and up exist."
#define CUDA_NOSAT "Overflow and infinities give NaN with the operand's sign."
#define CUDA_E8(name, round, sat, words) \
  { name, "float8_e8m0fnu", round "/" sat, "", HU_OPERAND_MAGNITUDE, 0, 0, CODE, "", words, CUDA_E8M0 }
#define CUDA_E4(name, sat, words, note) \
  { name, "float8_e4m3fn", "rne/" sat, "", 0, 0, SIGN, CODE, "", words, note }
#define CUDA_E5(name, sat, words) \
  { name, "float8_e5m2", "rne/" sat, "", 0, 0, QUIET, CODE, "", words, E5M2_NAN }
#define CUDA_SMALL(name, format, round, words) \
  PLAIN(name, format, round, words, "NaN gives the largest value, positive.")
#define CUDA_HALF(name, round, words) \
  PLAIN(name, "fp(5,10,0):ieee,nan=ieee1", round "/none", words, "NaN gives 0x7FFF, without sign and digits.")
#define CUDA_BF(name, round, words) \
  PLAIN(name, "fp(8,7,0):ieee,nan=ieee1", round "/none", words, "NaN gives 0x7FFF, without sign and digits.")

/* ---- torch ---- */
#define TORCH64 "binary64 operands are rounded to binary32 first: two roundings."
#define TORCH_SAT \
  TORCH64 " Saturates, infinities too; before 2.13 it gave NaN beyond 464, as ml_dtypes.float8_e4m3fn does."

/* ---- ml_dtypes ---- */
#define NAN_SIGN "NaN keeps its sign."
#define ML_SMALL \
  "NaN becomes a zero: -0 if its sign is clear, +0 if it is set (the format has no NaN); infinities saturate."
#define ML_F(name, format, mode, code)                                              \
  {                                                                                 \
    "ml_dtypes." name, format, mode, "", HU_OPERAND_BINARY32, SIGN, SIGN, code, "", \
        "numpy array.astype(ml_dtypes." name ")", ML_SMALL                          \
  }
#define ML_E8M0 "Zeros and negative numbers give NaN, ties go up (away)." E8M0_LOW

#define NUMPY_NAN "NaN keeps sign and leading digits, a signalling one too."

/* ---- jax ---- */
#define JAX64 "One rounding from binary64 too."
#define JAX(name, format, note) SIGNED("jax." name, format, "rne/none", "x.astype(jnp." name ")", note " " JAX64)

/* ---- onnx ---- */
#define ONNX(type, policy, format, sat, note) \
  SIGNED32("onnx." type "." policy, format, "rne/" sat, "Cast to " type ", " policy, note)
#define ONNX_E8(name, round, sat, first, words, note)                                                                 \
  {                                                                                                                   \
    name, "float8_e8m0fnu", round "/" sat, first, HU_OPERAND_BINARY32 | HU_OPERAND_MAGNITUDE | HU_OPERAND_INF_NAN, 0, \
        0, CODE, "", words, note                                                                                      \
  }
#define ONNX_E8_NOTE "The sign is dropped; an infinity gives NaN even when saturating."
#define ONNX_UP ONNX_E8_NOTE " Up from 2^-127 and less it gives 2^-126 (2^-127 is a value and should stay)."
#define ONNX_NEAREST ONNX_E8_NOTE " Ties go up." E8M0_LOW

const hu_conversion_row hu_conversion_rows_casts[] = {
    CUDA_E4("cuda.fp8_e4m3.satfinite", "finite", "__nv_cvt_*_to_fp8(x, __NV_SATFINITE, __NV_E4M3)", E4M3_NAN),
    CUDA_E4("cuda.fp8_e4m3.nosat", "none", "__nv_cvt_*_to_fp8(x, __NV_NOSAT, __NV_E4M3)", CUDA_NOSAT " " E4M3_NAN),
    CUDA_E5("cuda.fp8_e5m2.satfinite", "finite", "__nv_cvt_*_to_fp8(x, __NV_SATFINITE, __NV_E5M2)"),
    CUDA_E5("cuda.fp8_e5m2.nosat", "none", "__nv_cvt_*_to_fp8(x, __NV_NOSAT, __NV_E5M2)"),
    CUDA_E8("cuda.fp8_e8m0.rz.satfinite", "rtz", "finite", "__nv_cvt_*_to_e8m0(x, __NV_SATFINITE, cudaRoundZero)"),
    CUDA_E8("cuda.fp8_e8m0.rz.nosat", "rtz", "none", "__nv_cvt_*_to_e8m0(x, __NV_NOSAT, cudaRoundZero)"),
    CUDA_E8("cuda.fp8_e8m0.rp.satfinite", "rtp", "finite", "__nv_cvt_*_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)"),
    CUDA_E8("cuda.fp8_e8m0.rp.nosat", "rtp", "none", "__nv_cvt_*_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf)"),
    CUDA_SMALL("cuda.fp6_e2m3.rn", "float6_e2m3fn", "rne/finite", "__nv_cvt_*_to_fp6(x, __NV_E2M3, cudaRoundNearest)"),
    CUDA_SMALL("cuda.fp6_e2m3.rz", "float6_e2m3fn", "rtz/finite", "__nv_cvt_*_to_fp6(x, __NV_E2M3, cudaRoundZero)"),
    CUDA_SMALL("cuda.fp6_e3m2.rn", "float6_e3m2fn", "rne/finite", "__nv_cvt_*_to_fp6(x, __NV_E3M2, cudaRoundNearest)"),
    CUDA_SMALL("cuda.fp6_e3m2.rz", "float6_e3m2fn", "rtz/finite", "__nv_cvt_*_to_fp6(x, __NV_E3M2, cudaRoundZero)"),
    CUDA_SMALL("cuda.fp4_e2m1.rn", "float4_e2m1fn", "rne/finite", "__nv_cvt_*_to_fp4(x, __NV_E2M1, cudaRoundNearest)"),
    CUDA_SMALL("cuda.fp4_e2m1.rz", "float4_e2m1fn", "rtz/finite", "__nv_cvt_*_to_fp4(x, __NV_E2M1, cudaRoundZero)"),
    CUDA_HALF("cuda.half.rn", "rne", "__float2half_rn, __double2half"),
    CUDA_HALF("cuda.half.rz", "rtz", "__float2half_rz"),
    CUDA_HALF("cuda.half.ru", "rtp", "__float2half_ru"),
    CUDA_HALF("cuda.half.rd", "rtn", "__float2half_rd"),
    CUDA_BF("cuda.bfloat16.rn", "rne", "__float2bfloat16_rn, __double2bfloat16"),
    CUDA_BF("cuda.bfloat16.rz", "rtz", "__float2bfloat16_rz"),
    CUDA_BF("cuda.bfloat16.ru", "rtp", "__float2bfloat16_ru"),
    CUDA_BF("cuda.bfloat16.rd", "rtn", "__float2bfloat16_rd"),

    SIGNED32("torch.float8_e4m3fn", "float8_e4m3fn", "rne/finite", "tensor.to(torch.float8_e4m3fn)", TORCH_SAT),
    SIGNED32("torch.float8_e5m2", "float8_e5m2", "rne/none", "tensor.to(torch.float8_e5m2)", NAN_SIGN " " TORCH64),
    PLAIN32("torch.float8_e4m3fnuz", "float8_e4m3fnuz", "rne/none", "tensor.to(torch.float8_e4m3fnuz)", TORCH64),
    PLAIN32("torch.float8_e5m2fnuz", "float8_e5m2fnuz", "rne/none", "tensor.to(torch.float8_e5m2fnuz)", TORCH64),
    {"torch.float8_e8m0fnu", "float8_e8m0fnu", "rna/none", E8M0_NEAREST, HU_OPERAND_BINARY32 | HU_OPERAND_MAGNITUDE, 0,
     0, CODE, "", "tensor.to(torch.float8_e8m0fnu)", "The sign is dropped; ties go up." E8M0_LOW " " TORCH64},
    {"torch.bfloat16", "bfloat16", "rne/none", "", HU_OPERAND_BINARY32, FIXED, 0, 0xFFFF, "",
     "tensor.to(torch.bfloat16)", "On x86-64 a binary32 NaN gives 0xFFFF, a binary64 one 0x7FC0. " TORCH64},
    {"torch.float16", "binary16", "rne/none", "", HU_OPERAND_BINARY32, QUIET, QUIET, CODE, "",
     "tensor.to(torch.float16)", "NaN keeps sign and leading digits. " TORCH64},

    SIGNED32("ml_dtypes.float8_e4m3fn", "float8_e4m3fn", "rne/none", "numpy array.astype(ml_dtypes.float8_e4m3fn)",
             NAN_SIGN " Does not saturate."),
    SIGNED32("ml_dtypes.float8_e4m3", "fp(4,3,0)", "rne/none", "numpy array.astype(ml_dtypes.float8_e4m3)", NAN_SIGN),
    SIGNED32("ml_dtypes.float8_e3m4", "fp(3,4,0)", "rne/none", "numpy array.astype(ml_dtypes.float8_e3m4)", NAN_SIGN),
    SIGNED32("ml_dtypes.float8_e5m2", "fp(5,2,0)", "rne/none", "numpy array.astype(ml_dtypes.float8_e5m2)",
             NAN_SIGN " It is 0x7E, not 0x7F."),
    PLAIN32("ml_dtypes.float8_e4m3fnuz", "float8_e4m3fnuz", "rne/none", "numpy array.astype(ml_dtypes.float8_e4m3fnuz)",
            "Does not saturate."),
    PLAIN32("ml_dtypes.float8_e5m2fnuz", "float8_e5m2fnuz", "rne/none", "numpy array.astype(ml_dtypes.float8_e5m2fnuz)",
            "Does not saturate."),
    PLAIN32("ml_dtypes.float8_e4m3b11fnuz", "float8_e4m3b11fnuz", "rne/none",
            "numpy array.astype(ml_dtypes.float8_e4m3b11fnuz)", "Does not saturate."),
    {"ml_dtypes.float8_e8m0fnu", "float8_e8m0fnu", "rna/none", E8M0_NEAREST,
     HU_OPERAND_BINARY32 | HU_OPERAND_ZERO_NAN | HU_OPERAND_NEGATIVE_NAN, 0, 0, CODE, "",
     "numpy array.astype(ml_dtypes.float8_e8m0fnu)", ML_E8M0},
    ML_F("float6_e2m3fn", "float6_e2m3fn", "rne/finite", 0x20),
    ML_F("float6_e3m2fn", "float6_e3m2fn", "rne/finite", 0x20),
    ML_F("float4_e2m1fn", "float4_e2m1fn", "rne/finite", 0x8),
    SIGNED32("ml_dtypes.bfloat16", "bfloat16", "rne/none", "numpy array.astype(ml_dtypes.bfloat16)",
             NAN_SIGN " " TORCH64),

    {"numpy.float16", "binary16", "rne/none", "", 0, PAYLOAD, PAYLOAD, CODE, "", "numpy array.astype(numpy.float16)",
     NUMPY_NAN},

    JAX("float8_e4m3fn", "float8_e4m3fn", NAN_SIGN),
    JAX("float8_e4m3", "fp(4,3,0)", NAN_SIGN),
    JAX("float8_e3m4", "fp(3,4,0)", NAN_SIGN),
    JAX("float8_e5m2", "fp(5,2,0)", NAN_SIGN),
    PLAIN("jax.float8_e4m3fnuz", "float8_e4m3fnuz", "rne/none", "x.astype(jnp.float8_e4m3fnuz)", JAX64),
    PLAIN("jax.float8_e5m2fnuz", "float8_e5m2fnuz", "rne/none", "x.astype(jnp.float8_e5m2fnuz)", JAX64),
    PLAIN("jax.float8_e4m3b11fnuz", "float8_e4m3b11fnuz", "rne/none", "x.astype(jnp.float8_e4m3b11fnuz)", JAX64),
    {"jax.float8_e8m0fnu", "float8_e8m0fnu", "rna/none", E8M0_NEAREST, HU_OPERAND_ZERO_NAN | HU_OPERAND_NEGATIVE_NAN, 0,
     0, CODE, "", "x.astype(jnp.float8_e8m0fnu)",
     ML_E8M0 " From binary64 only its own numbers of binary32 from 2^-126 on are alike."},
    {"jax.float4_e2m1fn", "float4_e2m1fn", "rne/finite", "", 0, FIXED, FIXED, 0x8, "", "x.astype(jnp.float4_e2m1fn)",
     "NaN becomes -0, whatever its sign; infinities saturate. " JAX64},
    {"jax.bfloat16", "bfloat16", "rne/none", "", HU_OPERAND_BINARY32 | HU_OPERAND_FLUSH, SIGN, SIGN, CODE, "",
     "x.astype(jnp.bfloat16)", NAN_SIGN " " TORCH64 " What is subnormal there becomes zero."},
    {"jax.float16", "binary16", "rne/none", "", HU_OPERAND_BINARY32, QUIET, SIGN, CODE, "", "x.astype(jnp.float16)",
     "NaN keeps sign and leading digits, made quiet. " TORCH64},

    ONNX("float8e4m3fn", "saturate", "float8_e4m3fn", "finite", NAN_SIGN),
    ONNX("float8e4m3fn", "nosaturate", "float8_e4m3fn", "none", NAN_SIGN),
    PLAIN32("onnx.float8e4m3fnuz.saturate", "float8_e4m3fnuz", "rne/finite", "Cast to float8e4m3fnuz, saturate",
            "Infinities saturate."),
    PLAIN32("onnx.float8e4m3fnuz.nosaturate", "float8_e4m3fnuz", "rne/none", "Cast to float8e4m3fnuz, nosaturate", ""),
    ONNX("float8e5m2", "saturate", "fp(5,2,0)", "finite", NAN_SIGN " Infinities saturate."),
    ONNX("float8e5m2", "nosaturate", "fp(5,2,0)", "none", NAN_SIGN),
    PLAIN32("onnx.float8e5m2fnuz.saturate", "float8_e5m2fnuz", "rne/finite", "Cast to float8e5m2fnuz, saturate",
            "Infinities saturate."),
    PLAIN32("onnx.float8e5m2fnuz.nosaturate", "float8_e5m2fnuz", "rne/none", "Cast to float8e5m2fnuz, nosaturate", ""),
    ONNX_E8("onnx.float8e8m0.up.saturate", "rtp", "finite", E8M0_UP, "Cast to float8e8m0, round_mode up, saturate",
            ONNX_UP),
    ONNX_E8("onnx.float8e8m0.up.nosaturate", "rtp", "none", E8M0_UP, "Cast to float8e8m0, round_mode up", ONNX_UP),
    ONNX_E8("onnx.float8e8m0.nearest.saturate", "rna", "finite", E8M0_NEAREST,
            "Cast to float8e8m0, round_mode nearest, saturate", ONNX_NEAREST),
    ONNX_E8("onnx.float8e8m0.nearest.nosaturate", "rna", "none", E8M0_NEAREST, "Cast to float8e8m0, round_mode nearest",
            ONNX_NEAREST),
    ONNX_E8("onnx.float8e8m0.down", "rtz", "finite", "", "Cast to float8e8m0, round_mode down", ONNX_E8_NOTE),
    {"onnx.float4e2m1", "float4_e2m1fn", "rne/finite", "", HU_OPERAND_BINARY32, SIGN, SIGN, 0x8, "",
     "Cast to float4e2m1", "NaN becomes a zero; the specification leaves it open."},
    SIGNED32("onnx.bfloat16", "bfloat16", "rne/none", "Cast to bfloat16", NAN_SIGN),
    {"onnx.float16", "binary16", "rne/none", "", 0, PAYLOAD, PAYLOAD, CODE, "", "Cast to float16", NUMPY_NAN},
};
const size_t hu_conversion_casts = sizeof hu_conversion_rows_casts / sizeof *hu_conversion_rows_casts;
