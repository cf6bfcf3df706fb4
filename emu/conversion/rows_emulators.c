/* SPDX-License-Identifier: MIT */
/* Rows of conversions, second part: specifications, emulators of precision, and rules of scales. */
#include "emu/conversion/rows.h"
#include "halfulp/conversion.h"

#define CODE HU_NO_CODE
#define SIGN HU_NAN_BY_SIGN
#define PLAIN(row_name, row_format, row_mode, row_stands, row_note)                                         \
  {                                                                                                         \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .nan_code = CODE, .scaling = "", \
    .stands = row_stands, .note = row_note                                                                  \
  }
/* Makes a row of a scaled tensor: its elements' format and mode, and its text. */
#define SCALED(row_name, row_format, row_mode, text, row_stands, row_note)                                    \
  {                                                                                                           \
    .name = row_name, .format = row_format, .mode = row_mode, .first = "", .nan_code = CODE, .scaling = text, \
    .stands = row_stands, .note = row_note                                                                    \
  }
#define MX(element, rule) "scaled(" element ";scale=float8_e8m0fnu;block=1x32;rule=" rule ")"
#define INT8 "fp(0,7,0):finite,nonegzero"
#define MXINT8 "scaled(" INT8 ";scale=float8_e8m0fnu;block=1x32;rule=floor;code=twos)"
/* E2M1 whose negative zero is never written. */
#define E2M1_PLUS "fp(2,1,0):finite,nonegzero"
#define TENSOR(element) "scaled(" element ";scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"

#define OFP8 "OFP8 v1.0, conversions"
#define NAN7F "Every NaN is 0x7F."
#define MX1 "OCP MX v1.0, section 6.3"
#define OCPMX(name, element) SCALED("ocp." name, element, "rne", MX(element, "floor"), MX1, "")

#define GF(name, format, sat, word)                                                \
  PLAIN("gfloat." name, format, "rne/" sat, "round_float(" word "), encode_float", \
        "Every rounding mode of gfloat: see the page.")
#define GF_E2(name, format)                                                                                       \
  PLAIN("gfloat." name ".sat", format, "rne/finite", "round_float(format_info_" name ", sat=True), encode_float", \
        "Without sat, overflow raises an error; so does NaN.")

#define CHOP_LOW \
  "x between half the smallest subnormal number and that number rounds twice in the original: docs/compatibility.md."
#define CHOP(name, format, words) PLAIN("chop." name, format, "rne/none", "Chop('" words "')", CHOP_LOW)

#define QT(e, m, row_first)                                                                                            \
  {                                                                                                                    \
    .name = "qtorch.float(" #e "," #m ")", .format = "fp(" #e "," #m ",0):finite,nonegzero", .mode = "rna/finite",     \
    .first = row_first, .nan = SIGN, .nan64 = SIGN, .nan_code = CODE, .scaling = "",                                   \
    .stands = "float_quantize(x, exp=" #e ", man=" #m ", rounding='nearest')",                                         \
    .note =                                                                                                            \
        "Ties away; two roundings below the smallest normal number; every code finite; NaN becomes max with its sign." \
  }

#define MXNOTE                                                                                                         \
  "Its default rounding 'nearest' sends ties away; 'even' is ocp.*. floor(log2 amax) is taken in binary32 there, one " \
  "too large just below powers of two."
#define MXROW(name, element) \
  SCALED("mx." name, element, "rna", MX(element, "floor"), "quantize_mx_op, round='nearest'", MXNOTE)
#define TENOTE "Elements beyond the range saturate. An amax that is not finite makes scale 1 there."
#define TEMX                                                                                                           \
  "The scale is amax times the reciprocal of max in binary32, rounded up; here the quotient is exact (docs/scaled.md " \
  "section 3)."

const hu_conversion_row hu_conversion_rows_emulators[] = {
    PLAIN("ocp.fp8_e4m3.saturating", "float8_e4m3fn", "rne/finite", OFP8 ", saturation mode", "Infinities saturate."),
    PLAIN("ocp.fp8_e4m3.nonsaturating", "float8_e4m3fn", "rne/none", OFP8 ", non-saturation mode",
          "NaN for overflow and infinities, with the operand's sign."),
    PLAIN("ocp.fp8_e5m2.saturating", "float8_e5m2", "rne/finite", OFP8 ", saturation mode", "Infinities saturate."),
    PLAIN("ocp.fp8_e5m2.nonsaturating", "float8_e5m2", "rne/none", OFP8 ", non-saturation mode", ""),
    PLAIN("ocp.fp6_e2m3", "float6_e2m3fn", "rne/finite", MX1 ", FP6", "NaN is left open; here max."),
    PLAIN("ocp.fp6_e3m2", "float6_e3m2fn", "rne/finite", MX1 ", FP6", "NaN is left open; here max."),
    PLAIN("ocp.fp4_e2m1", "float4_e2m1fn", "rne/finite", MX1 ", FP4", "NaN is left open; here max."),
    OCPMX("mxfp8_e4m3", "float8_e4m3fn"),
    OCPMX("mxfp8_e5m2", "float8_e5m2"),
    OCPMX("mxfp6_e3m2", "float6_e3m2fn"),
    OCPMX("mxfp6_e2m3", "float6_e2m3fn"),
    OCPMX("mxfp4", "float4_e2m1fn"),
    SCALED("ocp.mxint8", INT8, "rne", MXINT8, MX1, "The code 0x80 is left unused."),

    GF("ocp_e4m3.sat", "float8_e4m3fn", "finite", "format_info_ocp_e4m3, sat=True"),
    GF("ocp_e4m3.nosat", "float8_e4m3fn", "none", "format_info_ocp_e4m3"),
    GF("ocp_e5m2.sat", "fp(5,2,0)", "finite", "format_info_ocp_e5m2, sat=True"),
    GF("ocp_e5m2.nosat", "fp(5,2,0)", "none", "format_info_ocp_e5m2"),
    GF("binary16", "binary16", "none", "format_info_binary16"),
    GF("bfloat16", "bfloat16", "none", "format_info_bfloat16"),
    GF_E2("ocp_e2m3", "float6_e2m3fn"),
    GF_E2("ocp_e3m2", "float6_e3m2fn"),
    GF_E2("ocp_e2m1", "float4_e2m1fn"),

    CHOP("q43", "fp(4,3,0)", "q43"),
    CHOP("q52", "fp(5,2,0)", "q52"),
    CHOP("h", "binary16", "h"),
    {.name = "chop.b",
     .format = "fp(8,7,0):ieee,nosub",
     .mode = "rna/none",
     .first = "bfloat16/rne",
     .nan_code = CODE,
     .scaling = "",
     .stands = "Chop('b'), subnormal=0 by default",
     .note =
         "Two roundings: into bfloat16 with subnormal numbers, then those to the nearer of zero and 2^-126, ties up."},

    QT(4, 3, "fp(8,23,-120)/rne"),
    QT(5, 2, "fp(8,23,-112)/rne"),

    MXROW("mxfp8_e4m3", "float8_e4m3fn"),
    MXROW("mxfp8_e5m2", "float8_e5m2"),
    MXROW("mxfp6_e3m2", "float6_e3m2fn"),
    MXROW("mxfp6_e2m3", "float6_e2m3fn"),
    MXROW("mxfp4", "float4_e2m1fn"),
    SCALED("mx.mxint8", INT8, "rna", MXINT8, "quantize_mx_op, round='nearest'", MXNOTE),

    SCALED("te.fp8_e4m3.tensor", "float8_e4m3fn", "rne/finite", TENSOR("float8_e4m3fn"),
           "Float8CurrentScaling; DelayedScaling with the amax of its history given, margin 0", TENOTE),
    SCALED("te.fp8_e5m2.tensor", "float8_e5m2", "rne/finite", TENSOR("float8_e5m2"),
           "the same for E5M2 (gradients of the recipe HYBRID)", TENOTE),
    SCALED("te.mxfp8_e4m3", "float8_e4m3fn", "rne/finite", MX("float8_e4m3fn", "rceil"), "MXFP8BlockScaling", TEMX),
    SCALED("te.mxfp8_e5m2", "float8_e5m2", "rne/finite", MX("float8_e5m2", "rceil"), "MXFP8BlockScaling", TEMX),
    SCALED("te.nvfp4", "float4_e2m1fn", "rne/finite", "nvfp4_te", "NVFP4BlockScaling, without its Hadamard step", ""),
    SCALED("torchao.nvfp4", "float4_e2m1fn", "rne/finite", "nvfp4_torchao18",
           "torchao 0.18, nvfp4_quantize with per_tensor_scale", "torchao keeps block scales at 2^-6 and above."),
    SCALED("ggml.mxfp4", E2M1_PLUS, "rnz/finite", MX(E2M1_PLUS, "floor"), "GGUF type MXFP4, quantize_row_mxfp4_ref",
           "Ties go toward zero, and no zero has a sign; amax below 2^-125 is out of its scales' range."),
    SCALED("ggml.nvfp4", E2M1_PLUS, "rnz/finite",
           "scaled(" E2M1_PLUS ";scale=ue4m3;block=1x16;rule=ratio;round=rna;zero=zero)",
           "GGUF type NVFP4, quantize_row_nvfp4_ref",
           "There amax / 6 from 256 on has the scale 448, and from 7.5 to 8 times 2^-9 the scale 7 times 2^-9."),

    {.name = "riscv.e4m3",
     .format = "float8_e4m3fn",
     .mode = "rne/none/canonical",
     .first = "",
     .nan_code = HU_NO_CODE,
     .scaling = "",
     .stands = "conversions into OFP8 E4M3 that do not saturate, frm = rne",
     .note =
         "Every NaN is 0x7F, that of a negative overflow too. An infinity is invalid here and raises no flag there."},
    {.name = "riscv.e4m3.sat",
     .format = "float8_e4m3fn",
     .mode = "rne/finite/canonical",
     .first = "",
     .nan_code = HU_NO_CODE,
     .scaling = "",
     .stands = "conversions into OFP8 E4M3 that saturate, frm = rne",
     .note = "NaN gives 0x7F."},
    PLAIN("riscv.e5m2", "float8_e5m2", "rne/none", "Zvfofp8min 0.9, conversions into OFP8 E5M2, frm = rne", NAN7F),
    PLAIN("riscv.e5m2.sat", "float8_e5m2", "rne/finite", "Zvfofp8min 0.9, the same with .sat", NAN7F),
};
const size_t hu_conversion_emulators = sizeof hu_conversion_rows_emulators / sizeof *hu_conversion_rows_emulators;
