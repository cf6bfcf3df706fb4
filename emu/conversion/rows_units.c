/* SPDX-License-Identifier: MIT */
/* Rows of conversions, third part: instructions of processors, the packers of matrix units, and quantizers with steps
 * after or before their scaled tensor. */
#include "emu/conversion/rows.h"
#include "halfulp/conversion.h"

#define CODE HU_NO_CODE
#define SIGN HU_NAN_BY_SIGN
#define QUIET HU_NAN_BY_QUIET

/* ---- Intel ---- */
#define AVX10 "AVX10.2 (Intel 361050, sections 5.1 and 9), "
#define BF8_NAN "NaN keeps sign and leading digits, made quiet."
#define HF8_NAN "NaN keeps its sign."
#define BIAS                                                                                                     \
  " The bias is R of sra:8, added below the last digit; then the sum is cut. R is the operand of calls for one " \
  "number and of --words, and the high 8 bits of an element's random word in calls for arrays."
#define BF8(row_name, round, sat, words, row_note)                                                        \
  {                                                                                                       \
    .name = "intel." row_name, .format = "float8_e5m2", .mode = round "/" sat, .first = "", .nan = QUIET, \
    .nan64 = QUIET, .nan_code = CODE, .scaling = "", .stands = AVX10 words, .note = BF8_NAN row_note      \
  }
#define HF8(row_name, round, sat, words, row_note)                                                         \
  {                                                                                                        \
    .name = "intel." row_name, .format = "float8_e4m3fn", .mode = round "/" sat, .first = "", .nan = SIGN, \
    .nan64 = SIGN, .nan_code = CODE, .scaling = "", .stands = AVX10 words, .note = HF8_NAN row_note        \
  }

/* ---- PTX: one element of an instruction that packs two; the random bits of each are a part of `rbits` ---- */
#define PTX_RS(row_name, row_format, round, sat, bits)                                                         \
  {                                                                                                            \
    .name = "ptx.cvt.rs" row_name, .format = row_format, .mode = round "/" sat, .first = "", .nan_code = CODE, \
    .scaling = "", .stands = "PTX ISA 8.7, cvt.rs" row_name ".f32",                                            \
    .note =                                                                                                    \
        "NaN gives 0x7FFF. The random bits R of a, "                                                           \
        "the upper half of the result, are bits " bits                                                         \
        " of rbits. R is the operand of calls for one number and of --words."                                  \
  }
#define PTX_F16 "fp(5,10,0):ieee,nan=ieee1"
#define PTX_BF16 "fp(8,7,0):ieee,nan=ieee1"
#define PTX_F16_BITS \
  "28 to 16, those of b 12 to 0; below 2^-14 the text leaves open where they are added, here at the top,"
#define PTX_BF16_BITS "31 to 16, those of b 15 to 0"

/* ---- Tenstorrent: the byte of a scale is the shared exponent, a code is a sign and a magnitude ---- */
#define BLOCK16 ";scale=fp(8,0,0):finite,unsigned,zero=none,nosub;block=1x16;rule=floor;special=element)"
#define BFP(m) "fp(0," m ",0):finite,nonegzero"
#define TT(m) "scaled(" BFP(m) BLOCK16
#define TT_PACKER(row_name, m, round, row_note)                                                                \
  {                                                                                                            \
    .name = "tt." row_name ".packer", .format = BFP(m), .mode = round "/finite",                               \
    .first = "fp(8,6,0):ieee,flush,nonegzero/rna", .nan_code = CODE, .scaling = TT(m),                         \
    .stands =                                                                                                  \
        "tt-isa-documentation 411f264, Packers/FormatConversion.md, from FP32 or BF16 by E8M6, no stochastic " \
        "rounding",                                                                                            \
    .note = row_note                                                                                           \
  }
#define TT_HOST(row_name, m)                                                                                           \
  {                                                                                                                    \
    .name = "tt." row_name ".host", .format = BFP(m), .mode = "rne/finite", .first = "/rtz", .nan_code = CODE,         \
    .scaling = TT(m), .stands = "tt-metal 034fc8c, blockfloat_common.cpp, convert_u32_to_bfp with 8 bits of exponent", \
    .note = TT_HOST_NOTE                                                                                               \
  }
#define TT_OPEN "Infinities, NaN and numbers next to 2^-126 are open there."
#define TT_PACKER8 "Rounded twice, ties away: into E8M6, then by the shared exponent. " TT_OPEN
#define TT_CUT "As tt.bfp8.packer, whose magnitudes are then cut. " TT_OPEN
#define TT_HOST_NOTE                                                                                              \
  "Digits below 2^-23 of the largest element's power of two are cut first; magnitudes saturate. Infinities, NaN " \
  "and subnormal numbers are read as other numbers there."

const hu_conversion_row hu_conversion_rows_units[] = {
    BF8("vcvtph2bf8", "rne", "none", "VCVTPH2BF8, VCVT2PH2BF8", ""),
    BF8("vcvtph2bf8s", "rne", "finite", "VCVTPH2BF8S, VCVT2PH2BF8S", " Infinities saturate."),
    BF8("vcvtbiasph2bf8", "sra:8", "none", "VCVTBIASPH2BF8", BIAS),
    BF8("vcvtbiasph2bf8s", "sra:8", "finite", "VCVTBIASPH2BF8S", BIAS),
    HF8("vcvtph2hf8", "rne", "none", "VCVTPH2HF8, VCVT2PH2HF8", " Overflow and infinities give NaN."),
    HF8("vcvtph2hf8s", "rne", "finite", "VCVTPH2HF8S, VCVT2PH2HF8S", " Infinities saturate."),
    HF8("vcvtbiasph2hf8", "sra:8", "none", "VCVTBIASPH2HF8", BIAS),
    HF8("vcvtbiasph2hf8s", "sra:8", "finite", "VCVTBIASPH2HF8S", BIAS),
    {.name = "intel.vcvt2ps2phx",
     .format = "binary16",
     .mode = "rne/none",
     .first = "",
     .nan = QUIET,
     .nan64 = QUIET,
     .nan_code = CODE,
     .scaling = "",
     .stands = AVX10 "VCVT2PS2PHX, and VCVTPS2PH; MXCSR.RC to nearest, MXCSR.DAZ = 0",
     .note = BF8_NAN},
    PTX_RS(".f16x2", PTX_F16, "sra:13", "none", PTX_F16_BITS),
    PTX_RS(".satfinite.f16x2", PTX_F16, "sra:13", "finite", PTX_F16_BITS),
    PTX_RS(".bf16x2", PTX_BF16, "sra:16", "none", PTX_BF16_BITS),
    PTX_RS(".satfinite.bf16x2", PTX_BF16, "sra:16", "finite", PTX_BF16_BITS),

    {.name = "te.nvfp4.reference",
     .format = "float4_e2m1fn",
     .mode = "rne/finite",
     .first = "",
     .nan_code = CODE,
     .scaling = "nvfp4_te",
     .stands = "NVFP4BlockScaling in its PyTorch reference, without the Hadamard step",
     .note = "te.nvfp4 with that reference's codes of -0 and of blocks whose scale is 0, which are all read as zeros."},

    TT_PACKER("bfp8", "7", "rna", TT_PACKER8),
    TT_PACKER("bfp4", "3", "rtz", TT_CUT),
    TT_PACKER("bfp2", "1", "rtz", TT_CUT),
    TT_HOST("bfp8", "7"),
    TT_HOST("bfp4", "3"),
    TT_HOST("bfp2", "1"),
};
const size_t hu_conversion_units = sizeof hu_conversion_rows_units / sizeof *hu_conversion_rows_units;

const hu_conversion_more hu_conversion_more_rows[] = {
    {"te.nvfp4.reference", "", HU_SCALED_CODES_RAISED}, {"tt.bfp4.packer", TT("7"), HU_SCALED_CODES_OWN},
    {"tt.bfp2.packer", TT("7"), HU_SCALED_CODES_OWN},   {"tt.bfp8.host", TT("24"), HU_SCALED_CODES_OWN},
    {"tt.bfp4.host", TT("24"), HU_SCALED_CODES_OWN},    {"tt.bfp2.host", TT("24"), HU_SCALED_CODES_OWN},
};
const size_t hu_conversion_more_count = sizeof hu_conversion_more_rows / sizeof *hu_conversion_more_rows;
