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
#define PLAIN(row_name, row_format, row_mode, row_stands, row_note)                                         \
  {                                                                                                         \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .nan_code = CODE, .scaling = "", \
    .stands = row_stands, .note = row_note                                                                  \
  }
#define SIGNED(row_name, row_format, row_mode, row_stands, row_note)                                   \
  {                                                                                                    \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .nan = SIGN, .nan64 = SIGN, \
    .nan_code = CODE, .scaling = "", .stands = row_stands, .note = row_note                            \
  }
#define SIGNED32(row_name, row_format, row_mode, row_stands, row_note)                                     \
  {                                                                                                        \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .operand = HU_OPERAND_BINARY32, \
    .nan = SIGN, .nan64 = SIGN, .nan_code = CODE, .scaling = "", .stands = row_stands, .note = row_note    \
  }
#define PLAIN32(row_name, row_format, row_mode, row_stands, row_note)                                      \
  {                                                                                                        \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .operand = HU_OPERAND_BINARY32, \
    .nan_code = CODE, .scaling = "", .stands = row_stands, .note = row_note                                \
  }

/* ---- cuda ---- */
#define E4M3_NAN "A binary64 NaN keeps its sign, a binary32, binary16 or bfloat16 one does not."
#define E5M2_NAN "A binary64 NaN keeps sign and leading digits, made quiet; any other gives 0x7F."
#define CUDA_E8M0 "The sign of the operand is dropped. Only rounding toward zero and up exist."
#define CUDA_NOSAT "Overflow and infinities give NaN with the operand's sign."
#define CUDA_E8(row_name, round, sat, words)                                                                           \
  {                                                                                                                    \
    .name = row_name, .format = "float8_e8m0fnu", .mode = round "/" sat, .first = "", .operand = HU_OPERAND_MAGNITUDE, \
    .nan_code = CODE, .scaling = "", .stands = words, .note = CUDA_E8M0                                                \
  }
#define CUDA_E4(row_name, sat, words, row_note)                                                                    \
  {                                                                                                                \
    .name = row_name, .format = "float8_e4m3fn", .mode = "rne/" sat, .first = "", .nan64 = SIGN, .nan_code = CODE, \
    .scaling = "", .stands = words, .note = row_note                                                               \
  }
#define CUDA_E5(row_name, sat, words)                                                                             \
  {                                                                                                               \
    .name = row_name, .format = "float8_e5m2", .mode = "rne/" sat, .first = "", .nan64 = QUIET, .nan_code = CODE, \
    .scaling = "", .stands = words, .note = E5M2_NAN                                                              \
  }
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
#define ML_F(row_name, row_format, row_mode, code)                                               \
  {                                                                                              \
    .name = "ml_dtypes." row_name, .format = row_format, .mode = row_mode, .first = "",          \
    .operand = HU_OPERAND_BINARY32, .nan = SIGN, .nan64 = SIGN, .nan_code = code, .scaling = "", \
    .stands = "numpy array.astype(ml_dtypes." row_name ")", .note = ML_SMALL                     \
  }
#define ML_E8M0 "Zeros and negative numbers give NaN, ties go up (away)." E8M0_LOW

#define NUMPY_NAN "NaN keeps sign and leading digits, a signalling one too."

/* ---- jax ---- */
#define JAX64 "One rounding from binary64 too."
#define JAX(name, format, note) SIGNED("jax." name, format, "rne/none", "x.astype(jnp." name ")", note " " JAX64)

/* ---- onnx ---- */
#define ONNX(type, policy, format, sat, note) \
  SIGNED32("onnx." type "." policy, format, "rne/" sat, "Cast to " type ", " policy, note)
#define ONNX_E8(row_name, round, sat, row_first, words, row_note)                                                \
  {                                                                                                              \
    .name = row_name, .format = "float8_e8m0fnu", .mode = round "/" sat, .first = row_first,                     \
    .operand = HU_OPERAND_BINARY32 | HU_OPERAND_MAGNITUDE | HU_OPERAND_INF_NAN, .nan_code = CODE, .scaling = "", \
    .stands = words, .note = row_note                                                                            \
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
    {.name = "torch.float8_e8m0fnu",
     .format = "float8_e8m0fnu",
     .mode = "rna/none",
     .first = E8M0_NEAREST,
     .operand = HU_OPERAND_BINARY32 | HU_OPERAND_MAGNITUDE,
     .nan_code = CODE,
     .scaling = "",
     .stands = "tensor.to(torch.float8_e8m0fnu)",
     .note = "The sign is dropped; ties go up." E8M0_LOW " " TORCH64},
    {.name = "torch.bfloat16",
     .format = "bfloat16",
     .mode = "rne/none",
     .first = "",
     .operand = HU_OPERAND_BINARY32,
     .nan = FIXED,
     .nan_code = 0xFFFF,
     .scaling = "",
     .stands = "tensor.to(torch.bfloat16)",
     .note = "On x86-64 a binary32 NaN gives 0xFFFF, a binary64 one 0x7FC0. " TORCH64},
    {.name = "torch.float16",
     .format = "binary16",
     .mode = "rne/none",
     .first = "",
     .operand = HU_OPERAND_BINARY32,
     .nan = QUIET,
     .nan64 = QUIET,
     .nan_code = CODE,
     .scaling = "",
     .stands = "tensor.to(torch.float16)",
     .note = "NaN keeps sign and leading digits. " TORCH64},

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
    {.name = "ml_dtypes.float8_e8m0fnu",
     .format = "float8_e8m0fnu",
     .mode = "rna/none",
     .first = E8M0_NEAREST,
     .operand = HU_OPERAND_BINARY32 | HU_OPERAND_ZERO_NAN | HU_OPERAND_NEGATIVE_NAN,
     .nan_code = CODE,
     .scaling = "",
     .stands = "numpy array.astype(ml_dtypes.float8_e8m0fnu)",
     .note = ML_E8M0},
    ML_F("float6_e2m3fn", "float6_e2m3fn", "rne/finite", 0x20),
    ML_F("float6_e3m2fn", "float6_e3m2fn", "rne/finite", 0x20),
    ML_F("float4_e2m1fn", "float4_e2m1fn", "rne/finite", 0x8),
    SIGNED32("ml_dtypes.bfloat16", "bfloat16", "rne/none", "numpy array.astype(ml_dtypes.bfloat16)",
             NAN_SIGN " " TORCH64),

    {.name = "numpy.float16",
     .format = "binary16",
     .mode = "rne/none",
     .first = "",
     .nan = PAYLOAD,
     .nan64 = PAYLOAD,
     .nan_code = CODE,
     .scaling = "",
     .stands = "numpy array.astype(numpy.float16)",
     .note = NUMPY_NAN},

    JAX("float8_e4m3fn", "float8_e4m3fn", NAN_SIGN),
    JAX("float8_e4m3", "fp(4,3,0)", NAN_SIGN),
    JAX("float8_e3m4", "fp(3,4,0)", NAN_SIGN),
    JAX("float8_e5m2", "fp(5,2,0)", NAN_SIGN),
    PLAIN("jax.float8_e4m3fnuz", "float8_e4m3fnuz", "rne/none", "x.astype(jnp.float8_e4m3fnuz)", JAX64),
    PLAIN("jax.float8_e5m2fnuz", "float8_e5m2fnuz", "rne/none", "x.astype(jnp.float8_e5m2fnuz)", JAX64),
    PLAIN("jax.float8_e4m3b11fnuz", "float8_e4m3b11fnuz", "rne/none", "x.astype(jnp.float8_e4m3b11fnuz)", JAX64),
    {.name = "jax.float8_e8m0fnu",
     .format = "float8_e8m0fnu",
     .mode = "rna/none",
     .first = E8M0_NEAREST,
     .operand = HU_OPERAND_ZERO_NAN | HU_OPERAND_NEGATIVE_NAN,
     .nan_code = CODE,
     .scaling = "",
     .stands = "x.astype(jnp.float8_e8m0fnu)",
     .note = ML_E8M0 " From binary64 only its own numbers of binary32 from 2^-126 on are alike."},
    {.name = "jax.float4_e2m1fn",
     .format = "float4_e2m1fn",
     .mode = "rne/finite",
     .first = "",
     .nan = FIXED,
     .nan64 = FIXED,
     .nan_code = 0x8,
     .scaling = "",
     .stands = "x.astype(jnp.float4_e2m1fn)",
     .note = "NaN becomes -0, whatever its sign; infinities saturate. " JAX64},
    {.name = "jax.bfloat16",
     .format = "bfloat16",
     .mode = "rne/none",
     .first = "",
     .operand = HU_OPERAND_BINARY32 | HU_OPERAND_FLUSH,
     .nan = SIGN,
     .nan64 = SIGN,
     .nan_code = CODE,
     .scaling = "",
     .stands = "x.astype(jnp.bfloat16)",
     .note = NAN_SIGN " " TORCH64 " What is subnormal there becomes zero."},
    {.name = "jax.float16",
     .format = "binary16",
     .mode = "rne/none",
     .first = "",
     .operand = HU_OPERAND_BINARY32,
     .nan = QUIET,
     .nan64 = SIGN,
     .nan_code = CODE,
     .scaling = "",
     .stands = "x.astype(jnp.float16)",
     .note = "NaN keeps sign and leading digits, made quiet. " TORCH64},

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
    {.name = "onnx.float4e2m1",
     .format = "float4_e2m1fn",
     .mode = "rne/finite",
     .first = "",
     .operand = HU_OPERAND_BINARY32,
     .nan = SIGN,
     .nan64 = SIGN,
     .nan_code = 0x8,
     .scaling = "",
     .stands = "Cast to float4e2m1",
     .note = "NaN becomes a zero; the specification leaves it open."},
    SIGNED32("onnx.bfloat16", "bfloat16", "rne/none", "Cast to bfloat16", NAN_SIGN),
    {.name = "onnx.float16",
     .format = "binary16",
     .mode = "rne/none",
     .first = "",
     .nan = PAYLOAD,
     .nan64 = PAYLOAD,
     .nan_code = CODE,
     .scaling = "",
     .stands = "Cast to float16",
     .note = NUMPY_NAN},
};
const size_t hu_conversion_casts = sizeof hu_conversion_rows_casts / sizeof *hu_conversion_rows_casts;
