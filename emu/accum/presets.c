/* SPDX-License-Identifier: MIT */
/* The models of matrix units and dot product instructions, by name. A row is a family: one model, its operand types in
 * every pairing that the unit has. docs/accumulators.md says what stands behind each. Models stand here as texts, which
 * parse.c reads, so that nothing here calls a reader. */
#include <string.h>

#include "emu/accum/presets.h"
#include "emu/base/text.h"
#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"

/* ---- operand types ---- */

enum {
  F16,
  BF16,
  TF32,
  XF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E3M2,
  E2M3,
  E2M1,
  FP8,
  BF8,
  S8,
  U8,
  S4,
  U4,
  S32,
  F32N,
  F16N,
  TYPES
};

static const char *const type_names[TYPES] = {"f16",  "bf16", "tf32", "xf32", "f32", "f64", "e4m3",
                                              "e5m2", "e3m2", "e2m3", "e2m1", "fp8", "bf8", "s8",
                                              "u8",   "s4",   "u4",   "s32",  "f32", "f16"};

/* NVIDIA's results: the NaN is all ones. */
static hu_type ones(hu_format format) {
  format.nan = HU_NAN_IEEE_ONES;
  return hu_type_codes(format);
}

static hu_type type_of(unsigned type) {
  switch (type) {
    case F16: return hu_type_codes(hu_binary16());
    case BF16: return hu_type_codes(hu_bfloat16());
    case F64: return hu_type_plain(HU_TYPE_BINARY64);
    case E4M3: return hu_type_codes(hu_float8_e4m3fn());
    case E5M2: return hu_type_codes(hu_float8_e5m2());
    case E3M2: return hu_type_codes(hu_float6_e3m2fn());
    case E2M3: return hu_type_codes(hu_float6_e2m3fn());
    case E2M1: return hu_type_codes(hu_float4_e2m1fn());
    case FP8: return hu_type_codes(hu_float8_e4m3fnuz());
    case BF8: return hu_type_codes(hu_float8_e5m2fnuz());
    case S8: return hu_type_plain(HU_TYPE_INT8);
    case U8: return hu_type_plain(HU_TYPE_UINT8);
    case S4: return hu_type_plain(HU_TYPE_INT4);
    case U4: return hu_type_plain(HU_TYPE_UINT4);
    case S32: return hu_type_plain(HU_TYPE_INT32);
    case F32N: return ones(hu_binary32());
    case F16N: return ones(hu_binary16());
    default: return hu_type_codes(hu_binary32()); /* f32, and the patterns of tf32 and xf32 */
  }
}

/* ---- pairings ---- */

enum {
  ONE,      /* A and B have the same type */
  EACH,     /* every pair */
  NOT_FP8,  /* not of two 8-bit types */
  WITH_FP6, /* a 6-bit type among them */
  WITH_S8,  /* a signed byte among them */
  NOT_S8XU8
};
typedef struct pairing {
  uint8_t type[5], count, which;
} pairing;
enum {
  P_F16,
  P_BF16,
  P_TF32,
  P_XF32,
  P_F32,
  P_F64,
  P_FP8,
  P_F8F4,
  P_F8F6F4,
  P_E2M1,
  P_AMD8,
  P_INT8,
  P_INT4,
  P_S8,
  P_SIGNED8,
  P_MMLA8
};
static const pairing pairings[] = {
    [P_F16] = {{F16}, 1, ONE},
    [P_BF16] = {{BF16}, 1, ONE},
    [P_TF32] = {{TF32}, 1, ONE},
    [P_XF32] = {{XF32}, 1, ONE},
    [P_F32] = {{F32}, 1, ONE},
    [P_F64] = {{F64}, 1, ONE},
    [P_FP8] = {{E4M3, E5M2}, 2, EACH},
    [P_F8F4] = {{E4M3, E5M2, E2M1}, 3, NOT_FP8},
    [P_F8F6F4] = {{E4M3, E5M2, E3M2, E2M3, E2M1}, 5, WITH_FP6},
    [P_E2M1] = {{E2M1}, 1, ONE},
    [P_AMD8] = {{FP8, BF8}, 2, EACH},
    [P_INT8] = {{S8, U8}, 2, EACH},
    [P_INT4] = {{S4, U4}, 2, EACH},
    [P_S8] = {{S8}, 1, ONE},
    [P_SIGNED8] = {{S8, U8}, 2, WITH_S8},
    [P_MMLA8] = {{S8, U8}, 2, NOT_S8XU8},
};

static int pair_exists(const pairing *pairs, unsigned i, unsigned j) {
  const uint8_t a = pairs->type[i], b = pairs->type[j];
  if (pairs->which == NOT_FP8) return a > E5M2 || b > E5M2;
  if (pairs->which == WITH_FP6) return a == E3M2 || a == E2M3 || b == E3M2 || b == E2M3;
  if (pairs->which == WITH_S8) return a == S8 || b == S8;
  if (pairs->which == NOT_S8XU8) return a == U8 || b == S8;
  return pairs->which == EACH || i == j;
}

/* ---- families ---- */

#define T4(kept, emin) "block(align,l=4,f=" kept ",emin=" emin
#define T8(kept, emin) "block(align,l=8,f=" kept ",emin=" emin
#define T16(kept, emin) "block(align,l=16,f=" kept ",emin=" emin
#define T32(kept, emin) "block(align,l=32,f=" kept ",emin=" emin
#define RZ32 ",round=rtz,over=inf,zero=plus)"
#define RZ22 ",acc=binary32,out=fp(8,13,0),round=rtz,over=inf,zero=plus)"
#define RNE16 ",out=binary16,zero=plus)"
#define EMULATED(emin) T16("25", emin) ",order=mod4,c=last,as=binary16"
#define MX32 T32("25", "-133") ",every=32,scale=float8_e8m0fnu" RZ32
/* n products are aligned with log2 n guard digits; their sum and the addition of C are rounded to odd. */
#define RVBNA(n, kept) "block(align,l=" n ",f=" kept ",emin=-4096,cut=odd,c=last,last=rto,round=rto,over=inf)"
#define FP4(every, scale) "block(groups,l=64,f=35,emin=-139,g=16,every=" every ",scale=" scale RZ32

#define RECORDED \
  "all recorded results reproduced: Khattak and Mikaitis, arXiv 2512.07004; equal to MMA-Sim, arXiv 2511.10909"
#define H200 "every answer of an H200 reproduced (tests/golden/hw)"
#define RECORDED_H200 RECORDED "; " H200
#define FLOOR "; the lower bound of the exponent is that of Khattak and Mikaitis, which an H200 confirms for Hopper"
#define MMASIM "MMA-Sim, arXiv 2511.10909: its authors' random tests on the device"
#define PTX "NVIDIA PTX ISA, mma"
#define TWO_CODES "MMA-Sim (c785138, its arithmetic) or FPy (8e53ace) agrees on 2,000 sums (tests/golden/hw)"
#define TABLE "FPy (8e53ace), after the tables of MMA-Sim, arXiv 2511.10909, which leaves 6-bit operands out"
#define AGREES "MMA-Sim (c785138) agrees on 2,000 sums (tests/golden/hw); " PTX
#define AMDISA "AMD Instinct instruction set manuals, MFMA"
#define INTEL "Intel Software Developer's Manual"
#define BOCHS "Bochs (bochs-emu/Bochs 2523d31, avx10_2_misc.cc), which gives Intel's sentence on rounding and flushing"
#define BOCHS_ACE "Bochs (bochs-emu/Bochs 63cec9d, amx_top.cc), after ACE v1, section 14"
#define ISE                                                                                                        \
  "Intel ISE 319433, chapter 3, TDPBF8PS, by the header of LLVM (amxfp8intrin.h), GCC's test (f561460) and Bochs " \
  "(amx.cc)"
#define TF32_TEXTS                                                                                                  \
  "LLVM (amxtf32intrin.h), which has Intel's steps, and Rust (stdarch, amx.rs), which has a sentence on subnormal " \
  "numbers; Bochs (df12ca4, amx.cc) reads subnormal operands and C as zeros: daz=sign"
#define RISCV "RISC-V ISA manual (260dd93), Bulk Normalization Algorithm; Zvdota and Zvbdota, draft 1.0"
#define ARM "Arm Architecture Reference Manual, BFDotAdd"
#define ARM_INT "Arm Architecture Reference Manual, the instruction's page"
#define ARM_FP8 \
  "Arm Architecture Reference Manual, A1.5.5 (summary of FP8 instruction behaviors) and the instruction's page"
#define FPMR ", FPMR.LSCALE and OSM = 0"

typedef struct family {
  const char *head; /* the name is head, the pair unless it is hidden, tail */
  uint8_t pairs, hidden;
  const char *tail;
  uint8_t result;
  uint16_t k;
  const char *model, *unit, *confidence, *source;
} family;

/* n is the implementation's: products of a set, which are consecutive here; sets are added to C one after another. */
#define ZVDOTA(n, k, kept)                                                                                       \
  {"riscv.zvdota.", P_BF16, 0, ".n" n, F32, k, RVBNA(n, kept), "vfwdota, vfwbdota, sets of " n, "DOC", RISCV}, { \
    "riscv.zvdota.", P_FP8, 0, ".n" n, F32, k, RVBNA(n, kept), "vfqwdota, vfqwbdota, sets of " n, "DOC", RISCV   \
  }

/* Lists kind::f8f6f4 and its scaled variants: pairs with E2M1, and those with a 6-bit type. */
#define MIXED(head, tail, result, model, unit)                          \
  {head, P_F8F4, 0, tail, result, 32, model, unit, "SIM", TWO_CODES}, { \
    head, P_F8F6F4, 0, tail, result, 32, model, unit, "TABLE", TABLE    \
  }

static const family rows[] = {
    {"nv.volta.", P_F16, 0, ".f32", F32N, 4, T4("23", "-131") RZ32, "Volta sm_70, mma.sync.m8n8k4, wmma", "HW",
     RECORDED},
    {"nv.volta.", P_F16, 0, ".f16", F16N, 4, T4("23", "-19") RNE16, "Volta sm_70, mma.sync.m8n8k4, wmma", "HW",
     RECORDED FLOOR},
    {"nv.turing.", P_F16, 0, ".f32", F32N, 8, T8("24", "-132") RZ32, "Turing sm_75, mma.sync.m16n8k8", "SIM", MMASIM},
    {"nv.turing.", P_F16, 0, ".f16", F16N, 8, T8("24", "-20") RNE16, "Turing sm_75, mma.sync.m16n8k8", "SIM",
     MMASIM FLOOR},
    {"nv.turing.", P_INT8, 0, ".s32", S32, 16, "int32", "Turing sm_75, mma.sync.m8n8k16", "DOC", PTX},
    {"nv.turing.", P_INT8, 0, ".s32.sat", S32, 16, "int32(sat,16)", "Turing sm_75, mma.sync.m8n8k16.satfinite", "OPEN",
     PTX "; one saturation an instruction is assumed"},
    {"nv.turing.", P_INT4, 0, ".s32", S32, 32, "int32", "Turing sm_75, mma.sync.m8n8k32", "DOC", PTX},
    {"nv.turing.", P_INT4, 0, ".s32.sat", S32, 32, "int32(sat,32)", "Turing sm_75, mma.sync.m8n8k32.satfinite", "OPEN",
     PTX "; one saturation an instruction is assumed"},
    {"nv.ampere.", P_F16, 0, ".f32", F32N, 8, T8("24", "-132") RZ32, "Ampere sm_80 to sm_87, mma.sync.m16n8k8, k16",
     "HW", RECORDED},
    {"nv.ampere.", P_F16, 0, ".f16", F16N, 8, T8("24", "-20") RNE16, "Ampere sm_80 to sm_87, mma.sync.m16n8k8, k16",
     "HW", RECORDED FLOOR},
    {"nv.ampere.", P_BF16, 0, ".f32", F32N, 8, T8("24", "-132") RZ32, "Ampere sm_80 to sm_87, mma.sync.m16n8k8, k16",
     "HW", RECORDED},
    {"nv.ampere.", P_TF32, 0, ".f32", F32N, 4, T4("24", "-132") ",in=10" RZ32,
     "Ampere sm_80 to sm_87, mma.sync.m16n8k4, k8", "HW", RECORDED},
    {"nv.ampere.", P_F64, 0, ".f64", F64, 4, "fp64", "Ampere sm_80, mma.sync.m8n8k4", "SIM", AGREES},
    {"nv.ampere.", P_INT8, 0, ".s32", S32, 16, "int32", "Ampere sm_80 to sm_87, mma.sync.m16n8k16, k32", "DOC", PTX},
    {"nv.ampere.", P_INT8, 0, ".s32.sat", S32, 32, "int32(sat,32)",
     "Ampere sm_80 to sm_87, mma.sync.m16n8k32.satfinite", "OPEN", PTX "; one saturation an instruction is assumed"},
    {"nv.ada.", P_F16, 0, ".f32", F32N, 8, T8("24", "-132") RZ32, "Ada sm_89, mma.sync.m16n8k8, k16", "HW", RECORDED},
    {"nv.ada.", P_F16, 0, ".f16", F16N, 8, T8("24", "-20") RNE16, "Ada sm_89, mma.sync.m16n8k8, k16", "HW",
     RECORDED FLOOR},
    {"nv.ada.", P_BF16, 0, ".f32", F32N, 8, T8("24", "-132") RZ32, "Ada sm_89, mma.sync.m16n8k8, k16", "HW", RECORDED},
    {"nv.ada.", P_TF32, 0, ".f32", F32N, 4, T4("24", "-132") ",in=10" RZ32, "Ada sm_89, mma.sync.m16n8k4, k8", "HW",
     RECORDED},
    {"nv.ada.", P_FP8, 0, ".f32", F32N, 16, T16("13", "-132") RZ22, "Ada sm_89, mma.sync.m16n8k16, k32", "HW",
     RECORDED},
    {"nv.ada.", P_FP8, 0, ".f16", F16N, 16, T16("13", "-21") RNE16, "Ada sm_89, mma.sync.m16n8k16, k32", "HW",
     RECORDED},
    {"nv.ada.", P_F64, 0, ".f64", F64, 4, "fp64", "Ada sm_89, mma.sync.m8n8k4", "SIM", AGREES},
    {"nv.ada.", P_INT8, 0, ".s32", S32, 16, "int32", "Ada sm_89, mma.sync.m16n8k16, k32", "DOC", PTX},
    {"nv.hopper.", P_F16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32, "Hopper sm_90, mma.sync.m16n8k16, wgmma.k16",
     "HW", RECORDED_H200},
    {"nv.hopper.", P_F16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "Hopper sm_90, mma.sync.m16n8k8", "HW", H200},
    {"nv.hopper.", P_F16, 0, ".f16.mma", F16N, 16, T16("25", "-21") RNE16, "Hopper sm_90, mma.sync.m16n8k16", "HW",
     RECORDED_H200},
    {"nv.hopper.", P_F16, 0, ".f16.mma.k8", F16N, 8, T8("25", "-21") RNE16, "Hopper sm_90, mma.sync.m16n8k8", "HW",
     H200},
    {"nv.hopper.", P_F16, 0, ".f16.wgmma", F16N, 16, T16("25", "-21") RNE16, "Hopper sm_90a, wgmma.m64nNk16", "HW",
     H200},
    {"nv.hopper.", P_BF16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32, "Hopper sm_90, mma.sync.m16n8k16, wgmma.k16",
     "HW", RECORDED_H200},
    {"nv.hopper.", P_BF16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "Hopper sm_90, mma.sync.m16n8k8", "HW", H200},
    {"nv.hopper.", P_TF32, 0, ".f32", F32N, 8, T8("25", "-133") ",in=10" RZ32,
     "Hopper sm_90, mma.sync.m16n8k8, wgmma.k8", "HW", RECORDED_H200},
    {"nv.hopper.", P_TF32, 0, ".f32.k4", F32N, 4, T4("25", "-133") ",in=10" RZ32, "Hopper sm_90, mma.sync.m16n8k4",
     "HW", RECORDED_H200},
    {"nv.hopper.", P_FP8, 0, ".f32.wgmma", F32N, 32, T32("13", "-133") RZ22, "Hopper sm_90a, wgmma.m64nNk32", "HW",
     RECORDED_H200},
    {"nv.hopper.", P_FP8, 0, ".f16.wgmma", F16N, 32, T32("13", "-133") RNE16, "Hopper sm_90a, wgmma.m64nNk32", "HW",
     H200},
    {"nv.hopper.", P_FP8, 0, ".f32.mma", F32N, 32, EMULATED("-133") RZ32,
     "Hopper sm_90, mma.sync.m16n8k32, which the compiler expands to binary16", "HW", RECORDED_H200},
    {"nv.hopper.", P_FP8, 0, ".f16.mma", F16N, 32, EMULATED("-22") RNE16,
     "Hopper sm_90, mma.sync.m16n8k32, which the compiler expands to binary16", "HW", RECORDED_H200},
    {"nv.hopper.", P_F64, 0, ".f64", F64, 4, "fp64", "Hopper sm_90, mma.sync.m8n8k4, m16n8k4 to k16", "SIM", AGREES},
    {"nv.hopper.", P_INT8, 0, ".s32", S32, 32, "int32", "Hopper sm_90, mma.sync, wgmma.m64nNk32", "DOC", PTX},
    {"nv.hopper.", P_INT8, 0, ".s32.sat", S32, 32, "int32(sat,32)", "Hopper sm_90, wgmma.m64nNk32.satfinite", "OPEN",
     PTX "; one saturation an instruction is assumed"},
    {"nv.blackwell.", P_F16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32,
     "Blackwell sm_100, mma.sync.m16n8k16, tcgen05 kind::f16", "HW", RECORDED " (wmma; tcgen05: MMA-Sim)"},
    {"nv.blackwell.", P_F16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "Blackwell sm_100, mma.sync.m16n8k8", "SIM",
     MMASIM},
    {"nv.blackwell.", P_F16, 0, ".f16.mma", F16N, 16, T16("25", "-21") RNE16, "Blackwell sm_100, mma.sync.m16n8k16",
     "HW", RECORDED FLOOR},
    {"nv.blackwell.", P_F16, 0, ".f16.mma.k8", F16N, 8, T8("25", "-21") RNE16, "Blackwell sm_100, mma.sync.m16n8k8",
     "SIM", MMASIM},
    {"nv.blackwell.", P_F16, 0, ".f16.tcgen05", F16N, 16, T16("25", "-133") RNE16,
     "Blackwell sm_100, tcgen05.mma kind::f16", "SIM", MMASIM},
    {"nv.blackwell.", P_BF16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32,
     "Blackwell sm_100, mma.sync.m16n8k16, tcgen05 kind::f16", "HW", RECORDED " (wmma; tcgen05: MMA-Sim)"},
    {"nv.blackwell.", P_BF16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "Blackwell sm_100, mma.sync.m16n8k8", "SIM",
     MMASIM},
    {"nv.blackwell.", P_TF32, 0, ".f32", F32N, 8, T8("25", "-133") ",in=10" RZ32,
     "Blackwell sm_100, mma.sync.m16n8k8, tcgen05 kind::tf32", "HW", RECORDED "; blocks of 8: MMA-Sim"},
    {"nv.blackwell.", P_TF32, 0, ".f32.k4", F32N, 4, T4("25", "-133") ",in=10" RZ32,
     "Blackwell sm_100, mma.sync.m16n8k4", "HW", RECORDED},
    {"nv.blackwell.", P_FP8, 0, ".f32", F32N, 32, T32("25", "-133") RZ32, "Blackwell sm_100, tcgen05.mma kind::f8f6f4",
     "SIM", MMASIM},
    {"nv.blackwell.", P_FP8, 0, ".f16.tcgen05", F16N, 32, T32("25", "-133") RNE16,
     "Blackwell sm_100, tcgen05.mma kind::f8f6f4", "SIM", MMASIM},
    MIXED("nv.blackwell.", ".f32", F32N, T32("25", "-133") RZ32, "Blackwell sm_100, tcgen05.mma kind::f8f6f4"),
    MIXED("nv.blackwell.", ".f16.tcgen05", F16N, T32("25", "-133") RNE16, "Blackwell sm_100, tcgen05.mma kind::f8f6f4"),
    {"nv.blackwell.", P_FP8, 0, ".f32.mma", F32N, 32, EMULATED("-133") RZ32,
     "Blackwell sm_100, mma.sync.m16n8k32, which the compiler expands to binary16", "HW", RECORDED},
    {"nv.blackwell.", P_FP8, 0, ".f16.mma", F16N, 32, EMULATED("-22") RNE16,
     "Blackwell sm_100, mma.sync.m16n8k32, which the compiler expands to binary16", "HW", RECORDED},
    {"nv.blackwell.mxfp8.", P_FP8, 0, "", F32N, 32, MX32, "Blackwell sm_100, tcgen05.mma kind::mxf8f6f4", "SIM",
     MMASIM},
    MIXED("nv.blackwell.mxf8f6f4.", "", F32N, MX32, "Blackwell sm_100, tcgen05.mma kind::mxf8f6f4"),
    {"nv.blackwell.mxfp4.b32.ue8m0", P_E2M1, 1, "", F32N, 64, FP4("32", "float8_e8m0fnu"),
     "Blackwell sm_100, tcgen05.mma kind::mxf4, mxf4nvf4", "SIM", MMASIM},
    {"nv.blackwell.mxfp4.b16.ue8m0", P_E2M1, 1, "", F32N, 64, FP4("16", "float8_e8m0fnu"),
     "Blackwell sm_100, tcgen05.mma kind::mxf4nvf4", "SIM", MMASIM},
    {"nv.blackwell.nvfp4.b16.ue4m3", P_E2M1, 1, "", F32N, 64, FP4("16", "ue4m3"),
     "Blackwell sm_100, tcgen05.mma kind::mxf4nvf4", "SIM", MMASIM},
    {"nv.blackwell.", P_F64, 0, ".f64", F64, 4, "fp64", "Blackwell sm_100, mma.sync.m8n8k4, m16n8k4 to k16", "SIM",
     AGREES},
    {"nv.blackwell.", P_INT8, 0, ".s32", S32, 32, "int32", "Blackwell sm_100, tcgen05.mma kind::i8", "DOC", PTX},
    {"nv.rtxblackwell.", P_F16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32, "RTX Blackwell sm_120, mma.sync.m16n8k16",
     "SIM", MMASIM},
    {"nv.rtxblackwell.", P_F16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "RTX Blackwell sm_120, mma.sync.m16n8k8",
     "SIM", MMASIM},
    {"nv.rtxblackwell.", P_F16, 0, ".f16.mma", F16N, 16, T16("25", "-21") RNE16,
     "RTX Blackwell sm_120, mma.sync.m16n8k16", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_F16, 0, ".f16.mma.k8", F16N, 8, T8("25", "-21") RNE16,
     "RTX Blackwell sm_120, mma.sync.m16n8k8", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_BF16, 0, ".f32", F32N, 16, T16("25", "-133") RZ32, "RTX Blackwell sm_120, mma.sync.m16n8k16",
     "SIM", MMASIM},
    {"nv.rtxblackwell.", P_BF16, 0, ".f32.k8", F32N, 8, T8("25", "-133") RZ32, "RTX Blackwell sm_120, mma.sync.m16n8k8",
     "SIM", MMASIM},
    {"nv.rtxblackwell.", P_TF32, 0, ".f32", F32N, 8, T8("25", "-133") ",in=10" RZ32,
     "RTX Blackwell sm_120, mma.sync.m16n8k8", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_TF32, 0, ".f32.k4", F32N, 4, T4("25", "-133") ",in=10" RZ32,
     "RTX Blackwell sm_120, mma.sync.m16n8k4", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_FP8, 0, ".f32", F32N, 32, T32("25", "-133") RZ32,
     "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::f8f6f4", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_FP8, 0, ".f16.mma", F16N, 32, T32("25", "-22") RNE16,
     "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::f8f6f4", "SIM", MMASIM},
    MIXED("nv.rtxblackwell.", ".f32", F32N, T32("25", "-133") RZ32,
          "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::f8f6f4"),
    MIXED("nv.rtxblackwell.", ".f16.mma", F16N, T32("25", "-22") RNE16,
          "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::f8f6f4"),
    {"nv.rtxblackwell.", P_FP8, 0, ".f32.k16", F32N, 16, T16("25", "-133") RZ32,
     "RTX Blackwell sm_120, mma.sync.m16n8k16 of FP8", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_FP8, 0, ".f16.k16", F16N, 16, T16("25", "-22") RNE16,
     "RTX Blackwell sm_120, mma.sync.m16n8k16 of FP8", "SIM", MMASIM},
    {"nv.rtxblackwell.mxfp8.", P_FP8, 0, "", F32N, 32, MX32, "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::mxf8f6f4",
     "SIM", MMASIM},
    MIXED("nv.rtxblackwell.mxf8f6f4.", "", F32N, MX32, "RTX Blackwell sm_120, mma.sync.m16n8k32 kind::mxf8f6f4"),
    {"nv.rtxblackwell.mxfp4.b32.ue8m0", P_E2M1, 1, "", F32N, 64, FP4("32", "float8_e8m0fnu"),
     "RTX Blackwell sm_120, mma.sync.m16n8k64 kind::mxf4", "SIM", MMASIM},
    {"nv.rtxblackwell.mxfp4.b16.ue8m0", P_E2M1, 1, "", F32N, 64, FP4("16", "float8_e8m0fnu"),
     "RTX Blackwell sm_120, mma.sync.m16n8k64 kind::mxf4nvf4", "SIM", MMASIM},
    {"nv.rtxblackwell.nvfp4.b16.ue4m3", P_E2M1, 1, "", F32N, 64, FP4("16", "ue4m3"),
     "RTX Blackwell sm_120, mma.sync.m16n8k64 kind::mxf4nvf4", "SIM", MMASIM},
    {"nv.rtxblackwell.nvfp4.b32.ue4m3", P_E2M1, 1, "", F32N, 64, FP4("32", "ue4m3"),
     "RTX Blackwell sm_120, mma.sync.m16n8k64 kind::mxf4nvf4, block 32", "SIM", MMASIM},
    {"nv.rtxblackwell.", P_F64, 0, ".f64", F64, 4, "fp64", "RTX Blackwell sm_120, mma.sync.m8n8k4", "DOC", PTX},
    {"amd.cdna1.", P_F16, 0, "", F32, 4, "block(exact,l=4)", "MI100 gfx908, v_mfma_f32_*_f16", "SIM", MMASIM},
    {"amd.cdna1.", P_BF16, 0, "", F32, 2, "block(exact,l=2)", "MI100 gfx908, v_mfma_f32_*_bf16", "SIM", MMASIM},
    {"amd.cdna1.", P_F32, 0, "", F32, 1, "seq(binary32)", "MI100 gfx908, v_mfma_f32_*_f32", "SIM", MMASIM},
    {"amd.cdna1.i8", P_S8, 1, "", S32, 4, "int32", "MI100 gfx908, v_mfma_i32_*_i8", "DOC", AMDISA},
    {"amd.cdna2.", P_F16, 0, "", F32, 4, "block(tree,l=4,daz=plus,ftz=after)", "MI210, MI250 gfx90a, v_mfma_f32_*_f16",
     "SIM", MMASIM},
    {"amd.cdna2.", P_BF16, 0, "", F32, 2, "block(tree,l=2,daz=plus,ftz=after)",
     "MI210, MI250 gfx90a, v_mfma_f32_*_bf16", "SIM", MMASIM},
    {"amd.cdna2.", P_BF16, 0, "_1k", F32, 4, "block(tree,l=4,daz=plus,ftz=after)",
     "MI210, MI250 gfx90a, v_mfma_f32_*_bf16_1k", "SIM", MMASIM},
    {"amd.cdna2.", P_F32, 0, "", F32, 1, "seq(binary32)", "MI210, MI250 gfx90a, v_mfma_f32_*_f32", "SIM", MMASIM},
    {"amd.cdna2.", P_F64, 0, "", F64, 4, "fp64", "MI210, MI250 gfx90a, v_mfma_f64_{16x16x4,4x4x4}_f64", "SIM", MMASIM},
    {"amd.cdna2.i8", P_S8, 1, "", S32, 4, "int32", "MI210, MI250 gfx90a, v_mfma_i32_*_i8", "DOC", AMDISA},
    {"amd.cdna3.", P_XF32, 0, "", F32, 4, "block(late,l=4,f=24,f2=31,big=128,in=10)",
     "MI300 gfx940 to gfx942, v_mfma_f32_*_xf32", "SIM", MMASIM},
    {"amd.cdna3.", P_F16, 0, "", F32, 8, "block(late,l=8,f=24,f2=31,big=128)",
     "MI300 gfx940 to gfx942, v_mfma_f32_{32x32x8,16x16x16}_f16", "SIM", MMASIM},
    {"amd.cdna3.", P_F16, 0, ".k4", F32, 4, "block(late,l=4,f=24,f2=31,big=128)",
     "MI300 gfx940 to gfx942, v_mfma_f32_{32x32x4,16x16x4,4x4x4}_f16", "SIM", MMASIM},
    {"amd.cdna3.", P_BF16, 0, "", F32, 8, "block(late,l=8,f=24,f2=31,big=128)",
     "MI300 gfx940 to gfx942, v_mfma_f32_{32x32x8,16x16x16}_bf16", "SIM", MMASIM},
    {"amd.cdna3.", P_BF16, 0, ".k4", F32, 4, "block(late,l=4,f=24,f2=31,big=128)",
     "MI300 gfx940 to gfx942, v_mfma_f32_{32x32x4,16x16x4,4x4x4}_bf16", "SIM", MMASIM},
    {"amd.cdna3.", P_AMD8, 0, "", F32, 16, "block(late,l=16,f=24,f2=31,lanes=2,far=25)",
     "MI300 gfx940 to gfx942, v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}", "SIM",
     MMASIM "; a NaN or infinity in C propagates here"},
    {"amd.cdna3.", P_F32, 0, "", F32, 1, "seq(binary32)", "MI300 gfx940 to gfx942, v_mfma_f32_*_f32", "SIM", MMASIM},
    {"amd.cdna3.", P_F64, 0, "", F64, 4, "fp64", "MI300 gfx940 to gfx942, v_mfma_f64_{16x16x4,4x4x4}_f64", "SIM",
     MMASIM},
    {"amd.cdna3.i8", P_S8, 1, "", S32, 16, "int32", "MI300 gfx940 to gfx942, v_mfma_i32_*_i8", "DOC", AMDISA},
    {"intel.vdpbf16ps", P_BF16, 1, "", F32, 2, "block(chain,l=2,order=down,daz=sign,ftz=tiny)",
     "AVX512_BF16 VDPBF16PS, one lane", "HW", INTEL "; 2,000,000 lanes of a Xeon and 100,000 of an EPYC 9004 agree"},
    {"intel.tdpbf16ps", P_BF16, 1, "", F32, 32, "block(lanes,l=32,daz=sign,ftz=tiny)",
     "AMX-BF16 TDPBF16PS, rows of 64 bytes", "HW", INTEL "; 400,128 results of a Xeon agree, NaN patterns apart"},
    {"intel.tdpfp16ps", P_F16, 1, "", F32, 32, "block(lanes,l=32,daz=sign,ftz=tiny,as=binary32)",
     "AMX-FP16 TDPFP16PS, rows of 64 bytes", "DOC", INTEL},
    {"intel.vdpphps", P_F16, 1, "", F32, 2, "block(chain,l=2,order=down,daz=sign,ftz=tiny,as=binary32)",
     "AVX10.2 VDPPHPS, one lane", "SIM", BOCHS},
    {"intel.tdpf8ps.", P_FP8, 0, "", F32, 64, "block(exact,l=64,c=last,out=fp(8,23,0):flush)",
     "AMX-FP8 TDPBF8PS, TDPBHF8PS, TDPHBF8PS, TDPHF8PS, rows of 64 bytes", "SIM", ISE},
    {"intel.tmmultf32ps", P_TF32, 1, "", F32, 16, "block(chain,l=16,in=10,c=last,ftz=tiny,nan=kept)",
     "AMX-TF32 TMMULTF32PS, rows of 64 bytes", "OPEN", TF32_TEXTS},
    {"intel.vpdpb.", P_INT8, 0, ".s32", S32, 4, "int32",
     "VPDPBUSD of AVX512_VNNI and AVX-VNNI, VPDPBSSD, VPDPBSUD, VPDPBUUD of AVX-VNNI-INT8 and AVX10.2, one lane", "DOC",
     INTEL},
    {"intel.vpdpb.", P_SIGNED8, 0, ".s32.sat", S32, 4, "int32(sat,4)", "VPDPBUSDS, VPDPBSSDS, VPDPBSUDS, one lane",
     "DOC", INTEL},
    {"intel.tdpb.", P_INT8, 0, ".s32", S32, 64, "int32",
     "AMX-INT8 TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD, rows of 64 bytes", "DOC", INTEL},
    {"x86.ace.top2bf16ps", P_BF16, 1, "", F32, 2, "block(tree,l=2,daz=sign,ftz=tiny)", "ACE TOP2BF16PS, one element",
     "SIM", BOCHS_ACE},
    {"x86.ace.top4b.", P_INT8, 0, ".s32", S32, 4, "int32", "ACE TOP4BUUD to TOP4BSSD, one element", "SIM", BOCHS_ACE},
    {"arm.bfdot", P_BF16, 1, "", F32, 2, "block(tree,l=2,daz=sign,ftz=before,round=rto,over=inf)",
     "BFDOT, FEAT_EBF16 absent or FPCR.EBF = 0", "DOC", ARM},
    {"arm.bfdot.ebf16", P_BF16, 1, "", F32, 2, "block(tree,l=2,products=exact)", "BFDOT, FPCR.EBF = 1, no flushing",
     "DOC", ARM},
    {"arm.bfmmla", P_BF16, 1, "", F32, 4, "block(tree,l=2,daz=sign,ftz=before,round=rto,over=inf)",
     "BFMMLA, FEAT_EBF16 absent or FPCR.EBF = 0", "DOC", ARM},
    {"arm.bfmmla.ebf16", P_BF16, 1, "", F32, 4, "block(tree,l=2,products=exact)", "BFMMLA, FPCR.EBF = 1, no flushing",
     "DOC", ARM},
    {"arm.dot.", P_INT8, 0, ".s32", S32, 4, "int32", "SDOT, UDOT, USDOT, SUDOT, one lane", "DOC", ARM_INT},
    {"arm.mmla.", P_MMLA8, 0, ".s32", S32, 8, "int32", "SMMLA, UMMLA, USMMLA, one element", "DOC", ARM_INT},
    {"arm.fmlal.", P_FP8, 0, "", F16, 1, "seq(binary16)", "FMLALB, FMLALT of FP8" FPMR, "DOC", ARM_FP8},
    {"arm.fmlall.", P_FP8, 0, "", F32, 1, "seq(binary32)", "FMLALLBB to FMLALLTT of FP8" FPMR, "DOC", ARM_FP8},
    {"arm.fdot.", P_FP8, 0, ".f16", F16, 2, "block(exact,l=2,out=binary16)", "FDOT of two FP8" FPMR, "DOC", ARM_FP8},
    {"arm.fdot.", P_FP8, 0, ".f32", F32, 4, "block(exact,l=4)", "FDOT of four FP8" FPMR, "DOC", ARM_FP8},
    {"arm.fmmla.", P_FP8, 0, ".f16", F16, 4, "block(exact,l=4,out=binary16)", "FMMLA of FP8" FPMR, "DOC", ARM_FP8},
    {"arm.fmmla.", P_FP8, 0, ".f32", F32, 8, "block(exact,l=8)", "FMMLA of FP8" FPMR, "DOC", ARM_FP8},
    ZVDOTA("2", 2, "24"),
    ZVDOTA("4", 4, "25"),
    ZVDOTA("8", 8, "26"),
    ZVDOTA("16", 16, "27"),
    ZVDOTA("32", 32, "28"),
    {"fma.f16", P_F16, 1, "", F16, 1, "seq(binary16)", "a chain of IEEE 754 fused multiply-adds", "DOC",
     "IEEE 754-2019 clause 5.4.1"},
    {"fma.f32", P_F32, 1, "", F32, 1, "seq(binary32)", "a chain of IEEE 754 fused multiply-adds", "DOC",
     "IEEE 754-2019 clause 5.4.1"},
    {"fma.f64", P_F64, 1, "", F64, 1, "fp64", "a chain of IEEE 754 fused multiply-adds", "DOC",
     "IEEE 754-2019 clause 5.4.1"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- the list ---- */

/* Pair number `index` of a family; 0 if it has fewer, and then *index less by their number. */
static int find_pair(const family *row, size_t *index, unsigned *a, unsigned *b) {
  const pairing *pairs = &pairings[row->pairs];
  for (unsigned i = 0; i < pairs->count; i++) {
    for (unsigned j = 0; j < pairs->count; j++) {
      if (!pair_exists(pairs, i, j)) continue;
      *a = pairs->type[i];
      *b = pairs->type[j];
      if ((*index)-- == 0) return 1;
    }
  }
  return 0;
}

static void write_name(hu_accum_preset *z, const family *row, unsigned a, unsigned b) {
  hu_writer writer = {z->name, sizeof z->name, 0};
  hui_put(&writer, row->head);
  if (!row->hidden) {
    hui_put(&writer, type_names[a]);
    if (a != b) {
      hui_put(&writer, "x");
      hui_put(&writer, type_names[b]);
    }
  }
  hui_put(&writer, row->tail);
  (void)hui_put_end(&writer);
}

/* Writes the elements of the operands, and those that the model takes, where any NaN of C reads the same. */
static void put_elements(hu_accum_preset *z, const family *row, unsigned a, unsigned b) {
  z->a = z->accum.a = type_of(a);
  z->b = z->accum.b = type_of(b);
  z->c = z->accum.c = type_of(row->result);
  if (row->result >= F32N) z->accum.c.format.nan = HU_NAN_IEEE;
}

const char *hui_accum_preset_text(hu_accum_preset *z, size_t i) {
  unsigned a, b;
  size_t index = i;
  for (size_t at = 0; at < ROWS; at++) {
    const family *row = &rows[at];
    if (!find_pair(row, &index, &a, &b)) continue;
    memset(z, 0, sizeof *z);
    write_name(z, row, a, b);
    put_elements(z, row, a, b);
    z->k = row->k;
    z->unit = row->unit;
    z->confidence = row->confidence;
    z->source = row->source;
    return row->model;
  }
  return NULL;
}

const char *hui_accum_preset_text_of(hu_accum_preset *z, const char *name) {
  const char *model;
  for (size_t i = 0; (model = hui_accum_preset_text(z, i)); i++) {
    if (strcmp(z->name, name) == 0) return model;
  }
  return NULL;
}

size_t hu_accum_preset_count(void) {
  size_t n = 0;
  for (size_t at = 0; at < ROWS; at++) {
    const pairing *pairs = &pairings[rows[at].pairs];
    for (unsigned i = 0; i < pairs->count; i++) {
      for (unsigned j = 0; j < pairs->count; j++) n += (size_t)pair_exists(pairs, i, j);
    }
  }
  return n;
}
