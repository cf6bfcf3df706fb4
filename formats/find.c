/* SPDX-License-Identifier: MIT */
/* The catalogue: every named format, its aliases, where it is defined and what was left to decide. The only table of
 * format names. Order: the rows of `named` as written, then IEEE P3109's family for K = 3..8 by K, P, signed before
 * unsigned, extended before finite. Where two names have one descriptor, hu_format_id gives the first. */
#include <string.h>

#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/formats/p3109.h"
#include "halfulp/formats/papers.h"

typedef struct named_row {
  hu_format (*make)(void);
  const char *id;
  const char *aliases;
  const char *source;
  const char *open;
} named_row;

#define IEEE754 "IEEE 754-2019 clause 3.4 and table 3.5 (clause 3.6)"
#define OFP8 "OCP 8-bit Floating Point Specification (OFP8) v1.0"
#define OCPMX "OCP Microscaling Formats (MX) Specification v1.0, section "
#define LEE2023 "Lee, Sharma, Aiken, Training with mixed-precision floating-point assignments (TMLR, June 2023)"
#define SUN2019 \
  "Sun et al., Hybrid 8-bit floating point (HFP8) training and inference for deep neural networks (NeurIPS 2019)"
#define AGRAWAL2019                                                                                                 \
  "Agrawal et al., DLFloat: a 16-b floating point format designed for deep learning training and inference (ARITH " \
  "2019)"
#define WANG2018 "Wang et al., Training deep neural networks with 8-bit floating point numbers (NeurIPS 2018)"
#define NOUNE2022 "Noune et al., 8-bit numerical formats for deep neural networks (arXiv 2206.02915, 2022)"
#define TESLA2021 "Tesla, Dojo Technology: a guide to Tesla's configurable floating point formats and arithmetic (2021)"
#define OPENGL \
  "OpenGL 4.6, \"Unsigned 11-Bit Floating-Point Numbers\" and \"Unsigned 10-Bit ...\" (first in EXT_packed_float)"
#define UNSIGNED_INTEGER "Unsigned integers, as a format without exponent bits"
#define UINT_OPEN                                                                                                 \
  "Libraries wrap around or saturate beyond the range; here its nearest end. A NaN operand; here the mode's NaN " \
  "policy."
#define NO_NAN_RULE "The result of a NaN operand; here the mode's NaN policy, +max by default, as CUDA and PTX do."
#define TESLA_OPEN                                                                                                    \
  "The bias is a register, 0 to 63 (here 2^(e-1) - 1; see the _bias functions). NaN, -0 and the scale of subnormals " \
  "are described in two ways; here every code is finite, -0 exists, subnormals follow IEEE 754."

static const named_row named[] = {
    {hu_binary16, "binary16", "fp16 half float16 e5m10", IEEE754,
     "The NaN that an operation gives; here 0x7E00, positive."},
    {hu_bfloat16, "bfloat16", "bf16 e8m7", "The upper half of IEEE 754 binary32",
     "There is no standard. Here IEEE 754's rules with subnormals; some hardware reads and writes them as zero."},
    {hu_binary32, "binary32", "fp32 float single float32 e8m23", IEEE754,
     "The NaN that an operation gives; here 0x7FC00000, positive."},
    {hu_float8_e4m3fn, "float8_e4m3fn", "ocp_e4m3 e4m3fn f8e4m3fn hf8", OFP8,
     "Whether a conversion saturates; here it does unless policy `none` is asked for, which gives NaN. The NaN that an "
     "operation gives; here 0x7F, positive, but 0xFF where a negative number or infinity becomes a NaN."},
    {hu_float8_e5m2, "float8_e5m2", "ocp_e5m2 e5m2 f8e5m2 lf8", OFP8,
     "Whether a conversion saturates; here it does not unless asked. The NaN that an operation gives; here 0x7F (CUDA, "
     "PTX, PyTorch), others give 0x7E."},
    {hu_float6_e2m3fn, "float6_e2m3fn", "ocp_e2m3 e2m3 f6e2m3fn", OCPMX "5.3.2", NO_NAN_RULE},
    {hu_float6_e3m2fn, "float6_e3m2fn", "ocp_e3m2 e3m2 f6e3m2fn", OCPMX "5.3.2", NO_NAN_RULE},
    {hu_float4_e2m1fn, "float4_e2m1fn", "ocp_e2m1 e2m1 f4e2m1fn", OCPMX "5.3.3", NO_NAN_RULE},
    {hu_float8_e8m0fnu, "float8_e8m0fnu", "ocp_e8m0 e8m0 ue8m0 f8e8m0fnu", OCPMX "5.4",
     "Every conversion. Here zero and what lies below 2^-127 give 0x00, ties go to the even code, what is negative "
     "gives NaN under policy `none` and 0x00 under the default."},
    {hu_float8_e4m3fnuz, "float8_e4m3fnuz", "e4m3fnuz f8e4m3fnuz f143", NOUNE2022,
     "Overflow without saturation; here NaN, as ml_dtypes, PyTorch and HIP do."},
    {hu_float8_e5m2fnuz, "float8_e5m2fnuz", "e5m2fnuz f8e5m2fnuz f152", NOUNE2022,
     "Overflow without saturation; here NaN, as ml_dtypes, PyTorch and HIP do."},
    {hu_float8_e4m3b11fnuz, "float8_e4m3b11fnuz", "e4m3b11fnuz f8e4m3b11fnuz", "LLVM Float8E4M3B11FNUZ; ml_dtypes", ""},
    {hu_fp_4_3_4_finite, "fp_4_3_4_finite", "", LEE2023,
     "The sign of the result of a NaN operand; here the mode's NaN policy, +max by default."},
    {hu_fp_5_2_0_finite, "fp_5_2_0_finite", "", LEE2023,
     "The sign of the result of a NaN operand; here the mode's NaN policy, +max by default."},
    {hu_fp_6_9_0_finite, "fp_6_9_0_finite", "", LEE2023,
     "The sign of the result of a NaN operand; here the mode's NaN policy, +max by default."},
    {hu_hfp8_fwd_143, "hfp8_fwd_143", "hfp8_fwd", SUN2019,
     "The edge codes. Here all codes are finite (= fp_4_3_4_finite, the reading of Lee et al. 2023); other readings "
     "are float8_e4m3b11fnuz and fp(4,3,4), whose top exponent is reserved."},
    {hu_hfp8_bwd_152, "hfp8_bwd_152", "hfp8_bwd", SUN2019,
     "The edge codes. Here all codes are finite (= fp_5_2_0_finite, the reading of Lee et al. 2023); the other reading "
     "is float8_e5m2, largest value 57344."},
    {hu_dlfloat16, "dlfloat16", "dlfloat", AGRAWAL2019 "; IBM zDNN",
     "Results below the smallest number. Here they are rounded to the spacing of the lowest binade, then become zero "
     "if not above 2^-31."},
    {hu_fp16_169_wang2018, "fp16_169_wang2018", "", WANG2018,
     "The edge codes. Here IEEE 754's; other readings are dlfloat16 and fp_6_9_0_finite."},
    {hu_cfloat8_143, "cfloat8_143", "", TESLA2021, TESLA_OPEN},
    {hu_cfloat8_152, "cfloat8_152", "", TESLA2021, TESLA_OPEN},
    {hu_shp_cfloat16, "shp_cfloat16", "", TESLA2021, TESLA_OPEN},
    {hu_uhp_cfloat16, "uhp_cfloat16", "", TESLA2021,
     "Subnormals and the edge codes. Here subnormals follow IEEE 754 and every code is finite."},
    {hu_tf32, "tf32", "tensorfloat32 e8m10", "PTX ISA section 5.2.3, alternate floating-point data formats",
     "Codes here are the upper 19 bits of a binary32 word; tensor cores ignore the others."},
    {hu_binary16_ahp, "binary16_ahp", "arm_alternative_half", "Arm Architecture Reference Manual, FPCR.AHP = 1",
     "Nothing for numbers. Arm turns a NaN into a zero of its sign: policy `zero` of the mode gives +0."},
    {hu_float8_e4m3, "float8_e4m3", "ieee_e4m3 f8e4m3", "LLVM Float8E4M3; Gaudi 2, Trainium",
     "Whether a conversion saturates; here it does not unless asked."},
    {hu_float8_e3m4, "float8_e3m4", "ieee_e3m4 f8e3m4", "LLVM Float8E3M4",
     "Whether a conversion saturates; here it does not unless asked."},
    {hu_float8_e3m4fn, "float8_e3m4fn", "e3m4fn", "Intel FP8 Emulation Toolkit, E3M4",
     "Overflow without saturation is not described; here the largest value under every policy."},
    {hu_ue4m3, "ue4m3", "f8ue4m3", "PTX ISA section 5.2.3, ue4m3",
     "Operands below zero; here NaN under policy `none` and zero under the default."},
    {hu_ue5m3, "ue5m3", "", "AMD gfx1250 ISA, E5M3 scales", "Overflow without saturation; here NaN."},
    {hu_r11g11b10_uf11, "r11g11b10_uf11", "uf11", OPENGL, "The rounding direction; here the mode's."},
    {hu_r11g11b10_uf10, "r11g11b10_uf10", "uf10", OPENGL, "The rounding direction; here the mode's."},
    {hu_float5_e2m2, "float5_e2m2", "e2m2", "Weight quantization studies (quant-llm)", NO_NAN_RULE},
    {hu_float5_e3m1, "float5_e3m1", "e3m1", "Weight quantization studies (quant-llm)", NO_NAN_RULE},
    {hu_float4_e1m2, "float4_e1m2", "ascend_e1m2", "Ascend C built-in data types, fp4x2_e1m2_t",
     "The bias, described in two ways for one exponent bit; here 1 (largest value 1.75). A NaN operand; here the "
     "mode's NaN policy."},
    {hu_float4_e3m0, "float4_e3m0", "e3m0",
     "Chmiel et al., Accurate neural training with 4-bit matrix multiplications (LUQ, ICLR 2023)",
     "Nearest is described in value and in logarithm; here in value, the midpoint at 1.5 times a power of two."},
    {hu_float3_e2m0, "float3_e2m0", "e2m0", "Weight quantization studies", NO_NAN_RULE},
    {hu_uint1, "uint1", "", UNSIGNED_INTEGER, UINT_OPEN},
    {hu_uint2, "uint2", "", UNSIGNED_INTEGER, UINT_OPEN},
    {hu_uint4, "uint4", "", UNSIGNED_INTEGER, UINT_OPEN},
    {hu_uint8, "uint8", "", UNSIGNED_INTEGER, UINT_OPEN},
};

typedef struct p3109_row {
  const char *id;
  const char *aliases;
} p3109_row;

/* The descriptor follows from the name, so that the two cannot disagree. */
#define P3109_PAIR(kps) \
  {"binary" kps "e", "p3109_k" kps "e"}, { "binary" kps "f", "p3109_k" kps "f" }
static const p3109_row p3109[] = {
    P3109_PAIR("3p1s"), P3109_PAIR("3p1u"), P3109_PAIR("3p2s"), P3109_PAIR("3p2u"), P3109_PAIR("3p3u"),
    P3109_PAIR("4p1s"), P3109_PAIR("4p1u"), P3109_PAIR("4p2s"), P3109_PAIR("4p2u"), P3109_PAIR("4p3s"),
    P3109_PAIR("4p3u"), P3109_PAIR("4p4u"), P3109_PAIR("5p1s"), P3109_PAIR("5p1u"), P3109_PAIR("5p2s"),
    P3109_PAIR("5p2u"), P3109_PAIR("5p3s"), P3109_PAIR("5p3u"), P3109_PAIR("5p4s"), P3109_PAIR("5p4u"),
    P3109_PAIR("5p5u"), P3109_PAIR("6p1s"), P3109_PAIR("6p1u"), P3109_PAIR("6p2s"), P3109_PAIR("6p2u"),
    P3109_PAIR("6p3s"), P3109_PAIR("6p3u"), P3109_PAIR("6p4s"), P3109_PAIR("6p4u"), P3109_PAIR("6p5s"),
    P3109_PAIR("6p5u"), P3109_PAIR("6p6u"), P3109_PAIR("7p1s"), P3109_PAIR("7p1u"), P3109_PAIR("7p2s"),
    P3109_PAIR("7p2u"), P3109_PAIR("7p3s"), P3109_PAIR("7p3u"), P3109_PAIR("7p4s"), P3109_PAIR("7p4u"),
    P3109_PAIR("7p5s"), P3109_PAIR("7p5u"), P3109_PAIR("7p6s"), P3109_PAIR("7p6u"), P3109_PAIR("7p7u"),
    P3109_PAIR("8p1s"), P3109_PAIR("8p1u"), P3109_PAIR("8p2s"), P3109_PAIR("8p2u"), P3109_PAIR("8p3s"),
    P3109_PAIR("8p3u"), P3109_PAIR("8p4s"), P3109_PAIR("8p4u"), P3109_PAIR("8p5s"), P3109_PAIR("8p5u"),
    P3109_PAIR("8p6s"), P3109_PAIR("8p6u"), P3109_PAIR("8p7s"), P3109_PAIR("8p7u"), P3109_PAIR("8p8u"),
};

#define NAMED_COUNT (sizeof named / sizeof named[0])
#define P3109_COUNT (sizeof p3109 / sizeof p3109[0])

/* One or two digits without leading zero; 0 if there are none. Moves *text behind them. */
static unsigned small_number(const char **text) {
  const char *s = *text;
  if (*s < '1' || *s > '9') return 0;
  unsigned n = (unsigned)(*s++ - '0');
  if (*s >= '0' && *s <= '9') n = n * 10 + (unsigned)(*s++ - '0');
  *text = s;
  return n;
}

/* 1 and the descriptor if `name` has the form binary{K}p{P}{s|u}{e|f} with K in 3..16 and P in its range. The
 * descriptor may still be none that hu_format_check accepts: precision 1 and K = 16 ask for 15 exponent bits. */
static int p3109_by_name(hu_format *f, const char *name) {
  if (strncmp(name, "binary", 6) != 0) return 0;
  const char *s = name + 6;
  unsigned k = small_number(&s);
  if (*s != 'p') return 0;
  s++;
  unsigned p = small_number(&s);
  if ((s[0] != 's' && s[0] != 'u') || (s[1] != 'e' && s[1] != 'f') || s[2] != 0) return 0;
  unsigned is_signed = s[0] == 's';
  if (k < 3 || k > 16 || p < 1 || p > k - is_signed) return 0;
  *f = hu_format_p3109(k, p, (int)is_signed, s[1] == 'e');
  return 1;
}

size_t hu_format_count(void) { return NAMED_COUNT + P3109_COUNT; }

hu_format_entry hu_format_at(size_t i) {
  hu_format_entry entry;
  memset(&entry, 0, sizeof entry);
  if (i < NAMED_COUNT) {
    entry.id = named[i].id;
    entry.aliases = named[i].aliases;
    entry.source = named[i].source;
    entry.open = named[i].open;
    entry.format = named[i].make();
  } else if (i < hu_format_count()) {
    entry.id = p3109[i - NAMED_COUNT].id;
    entry.aliases = p3109[i - NAMED_COUNT].aliases;
    entry.source = "IEEE P3109 draft v4.0 (June 2026)";
    entry.open = "";
    if (!p3109_by_name(&entry.format, entry.id)) entry.id = NULL;
  }
  return entry;
}

/* 1 if `name` is one of the blank-separated words of `list`. */
static int has_word(const char *list, const char *name) {
  size_t length = strlen(name);
  if (length == 0 || strchr(name, ' ')) return 0;
  for (const char *s = list; *s;) {
    const char *end = strchr(s, ' ');
    size_t n = end ? (size_t)(end - s) : strlen(s);
    if (n == length && memcmp(s, name, n) == 0) return 1;
    s += n + (end != NULL);
  }
  return 0;
}

hu_status hu_format_find(hu_format *f, const char *name) {
  if (!f || !name) return HU_E_NULL;
  hu_format found;
  if (p3109_by_name(&found, name)) {
    if (hu_format_check(found, NULL) != HU_OK) return HU_E_FORMAT;
    *f = found;
    return HU_OK;
  }
  for (size_t i = 0; i < NAMED_COUNT; i++) {
    if (strcmp(named[i].id, name) != 0 && !has_word(named[i].aliases, name)) continue;
    *f = named[i].make();
    return HU_OK;
  }
  for (size_t i = 0; i < P3109_COUNT; i++) {
    if (!has_word(p3109[i].aliases, name)) continue;
    return hu_format_find(f, p3109[i].id);
  }
  return HU_E_NAME;
}

const char *hu_format_id(hu_format f) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    if (hu_format_equal(entry.format, f)) return entry.id;
  }
  return NULL;
}
