/* SPDX-License-Identifier: MIT */
/* The catalogue of number systems beside floating point, and the values of the named tables. */
#include <string.h>

#include "emu/number/dynamic.h"
#include "halfulp/number.h"

#define NF4                                                                                           \
  -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,    \
      -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f, \
      0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f
/* As published, in decimal; every one of them is a binary32 number (af4's are rounded to it here). */
static const float nf4_values[16] = {NF4};
/* The limits are bitsandbytes' constants, the last one is not looked at. */
static const float nf4_bnb_values[32] = {NF4,
                                         -0.8480964004993439f,
                                         -0.6106329262256622f,
                                         -0.4599952697753906f,
                                         -0.33967943489551544f,
                                         -0.23460740596055984f,
                                         -0.13791173323988914f,
                                         -0.045525018125772476f,
                                         0.03979014977812767f,
                                         0.1202552504837513f,
                                         0.2035212516784668f,
                                         0.2920137718319893f,
                                         0.3893125355243683f,
                                         0.5016634166240692f,
                                         0.6427869200706482f,
                                         0.8614784181118011f,
                                         1.0f};
/* Twelfths of 0, 1/16, 8, 12, 4, 6, 2, 3 in binary32; the codes of the negatives have bit 3 set. Magnitudes above the
 * constants of bitsandbytes go up: for negative numbers the limits are the binary32 numbers next below. Those of the
 * largest value and of -0 are not looked at. */
static const float fp4_values[32] = {0.0f,
                                     0x1.555556p-8f,
                                     0x1.555556p-1f,
                                     1.0f,
                                     0x1.555556p-2f,
                                     0.5f,
                                     0x1.555556p-3f,
                                     0.25f,
                                     -0.0f,
                                     -0x1.555556p-8f,
                                     -0x1.555556p-1f,
                                     -1.0f,
                                     -0x1.555556p-2f,
                                     -0.5f,
                                     -0x1.555556p-3f,
                                     -0.25f,
                                     0.00260417f,
                                     0.0859375f,
                                     0.8333333f,
                                     1.0f,
                                     0.4166667f,
                                     0.583333f,
                                     0.20833333f,
                                     0.29166667f,
                                     0.0f,
                                     -0x1.555574p-9f,
                                     -0x1.2aaaa2p-1f,
                                     -0x1.aaaaacp-1f,
                                     -0x1.2aaaacp-2f,
                                     -0x1.aaaaaep-2f,
                                     -0x1.600002p-4f,
                                     -0x1.aaaaacp-3f};
static const float af4_values[16] = {-1.0f,        -0.69441008f, -0.51243739f, -0.3736951f, -0.25607552f, -0.14982478f,
                                     -0.04934812f, 0.0f,         0.04273164f,  0.12934483f, 0.21961274f,  0.31675666f,
                                     0.42563882f,  0.55496234f,  0.72424863f,  1.0f};

#define STANDARD "Standard for Posit Arithmetic (2022), sections 3 and 4.1"
#define STANDARD_OPEN "Rounding other than to nearest; here on the bit string, with the standard's ends."
#define EARLY "Gustafson, Yonemoto, Beating floating point at its own game (2017); SoftPosit"
#define UNIVERSAL "Logarithmic numbers in two's complement, as lns of the Universal library codes them"
#define LNS_OPEN "How the bits are split; underflow (here to zero, nearest in the logarithm)."
#define TAKUM "Hunhold, Beating posits at their own game: takum arithmetic (2024)"
#define TAKUM_OPEN "Rounding other than to nearest; here on the bit string, with the ends of the text."
#define HIF8 "Luo et al., Ascend HiFloat8 format for deep learning (2024); en_dtypes 0.0.4"
#define HIF8_OPEN "Modes beside ties away (rna), which is the text's. Its hybrid rounding has no mode of its own."
#define QLORA "Dettmers et al., QLoRA (NeurIPS 2023), appendix E; bitsandbytes, NF4"
#define BNB_CPU "bitsandbytes 0.50.2, quantize_4bit on a CPU: limits are means of two values in binary32"
#define DYNAMIC \
  "Dettmers et al., 8-bit optimizers via block-wise quantization (2022); bitsandbytes 0.50.2, create_dynamic_map"
#define DYNAMIC_OPEN "Ties; here to the lower value. Its kernels for GPUs and CPUs differ there."
#define INTEGER "Integers in two's complement"
#define INTEGER_OPEN "The rounding direction (here the mode's) and what lies beyond the range (here the ends)."
#define CMSIS "Arm CMSIS-DSP, fractional types"

/* Tables have one; the others are built by the constructors of the header. */
typedef struct named_row {
  const char *name, *source, *open;
  uint8_t kind, width;
  uint16_t part; /* es, f, n or the count */
  uint8_t rule;  /* coding or ties */
  const float *values;
} named_row;

static const named_row rows[] = {
    {.name = "posit8", .source = STANDARD, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 8, .part = 2},
    {.name = "posit16", .source = STANDARD, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 16, .part = 2},
    {.name = "posit32", .source = STANDARD, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 32, .part = 2},
    {.name = "posit8_es0", .source = EARLY, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 8},
    {.name = "posit16_es1", .source = EARLY, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 16, .part = 1},
    {.name = "posit32_es2", .source = EARLY, .open = STANDARD_OPEN, .kind = HU_NUMBER_POSIT, .width = 32, .part = 2},
    {.name = "takum8", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM, .width = 8},
    {.name = "takum16", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM, .width = 16},
    {.name = "takum32", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM, .width = 32},
    {.name = "takum_linear8", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM_LINEAR, .width = 8},
    {.name = "takum_linear16", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM_LINEAR, .width = 16},
    {.name = "takum_linear32", .source = TAKUM, .open = TAKUM_OPEN, .kind = HU_NUMBER_TAKUM_LINEAR, .width = 32},
    {.name = "hifloat8", .source = HIF8, .open = HIF8_OPEN, .kind = HU_NUMBER_HIFLOAT8, .width = 8},
    {.name = "lns8",
     .source = UNIVERSAL,
     .open = LNS_OPEN,
     .kind = HU_NUMBER_LNS,
     .width = 8,
     .part = 3,
     .rule = HU_LNS_TWOS},
    {.name = "lns8_madam",
     .source = "Zhao et al., LNS-Madam: low-precision training in logarithmic number system (2022)",
     .open = "Zero, which has no code (here the smallest value). The scale is the caller's.",
     .kind = HU_NUMBER_LNS,
     .width = 8,
     .part = 3,
     .rule = HU_LNS_UNSIGNED},
    {.name = "lns16",
     .source = UNIVERSAL,
     .open = LNS_OPEN,
     .kind = HU_NUMBER_LNS,
     .width = 16,
     .part = 8,
     .rule = HU_LNS_TWOS},
    {.name = "logfixpoint16",
     .source = "LogFixPoints.jl, LogFixPoint16",
     .open = "Underflow (here to zero, nearest in the logarithm).",
     .kind = HU_NUMBER_LNS,
     .width = 16,
     .part = 8,
     .rule = HU_LNS_OFFSET},
    {.name = "lns32",
     .source = UNIVERSAL,
     .open = LNS_OPEN,
     .kind = HU_NUMBER_LNS,
     .width = 32,
     .part = 23,
     .rule = HU_LNS_TWOS},
    {.name = "nf4",
     .source = QLORA,
     .open = "Ties; here to the lower value. bitsandbytes compares with constants near the midpoints: nf4_bnb.",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_LOW,
     .values = nf4_values},
    {.name = "nf4_bnb",
     .source = QLORA,
     .open = "",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_GIVEN,
     .values = nf4_bnb_values},
    {.name = "fp4_bnb",
     .source = "bitsandbytes, FP4",
     .open = "-0, which becomes code 0 there and code 8 here.",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_GIVEN,
     .values = fp4_values},
    {.name = "nf4_bnb_cpu",
     .source = BNB_CPU,
     .open = "",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_LOW32,
     .values = nf4_values},
    {.name = "fp4_bnb_cpu",
     .source = BNB_CPU,
     .open = "The code of 0, which is 0 or 8 there.",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_LOW32,
     .values = fp4_values},
    {.name = "af4",
     .source = "Yoshida, NF4 isn't information theoretically optimal (and that's good) (2023), block size 64",
     .open = "Ties; here to the lower value.",
     .kind = HU_NUMBER_TABLE,
     .part = 16,
     .rule = HU_TIES_LOW,
     .values = af4_values},
    {.name = "dynamic8_bnb",
     .source = DYNAMIC,
     .open = DYNAMIC_OPEN,
     .kind = HU_NUMBER_TABLE,
     .part = 256,
     .rule = HU_TIES_LOW,
     .values = dynamic8_values},
    {.name = "udynamic8_bnb",
     .source = DYNAMIC,
     .open = DYNAMIC_OPEN,
     .kind = HU_NUMBER_TABLE,
     .part = 256,
     .rule = HU_TIES_LOW,
     .values = udynamic8_values},
    {.name = "int4", .source = INTEGER, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 4},
    {.name = "int8", .source = INTEGER, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 8},
    {.name = "int16", .source = INTEGER, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 16},
    {.name = "int32", .source = INTEGER, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 32},
    {.name = "q7", .source = CMSIS, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 8, .part = 7},
    {.name = "q15", .source = CMSIS, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 16, .part = 15},
    {.name = "q31", .source = CMSIS, .open = INTEGER_OPEN, .kind = HU_NUMBER_FIXED, .width = 32, .part = 31},
    {.name = "s15_16",
     .source = "ISO/IEC TR 18037 (Embedded C), accum; libfixmath, fix16_t",
     .open = INTEGER_OPEN,
     .kind = HU_NUMBER_FIXED,
     .width = 32,
     .part = 16},
};

size_t hu_number_count(void) { return sizeof rows / sizeof *rows; }

hu_number_entry hu_number_at(size_t i) {
  hu_number_entry entry;
  memset(&entry, 0, sizeof entry);
  if (i >= hu_number_count()) return entry;
  const named_row *row = &rows[i];
  entry.name = row->name;
  entry.source = row->source;
  entry.open = row->open;
  switch (row->kind) {
    case HU_NUMBER_POSIT: entry.number = hu_number_posit(row->width, row->part); break;
    case HU_NUMBER_LNS: entry.number = hu_number_lns(row->width, row->part, row->rule); break;
    case HU_NUMBER_TAKUM_LINEAR:
    case HU_NUMBER_TAKUM: entry.number = hu_number_takum(row->width, row->kind == HU_NUMBER_TAKUM_LINEAR); break;
    case HU_NUMBER_HIFLOAT8: entry.number = hu_number_hifloat8(); break;
    case HU_NUMBER_TABLE: entry.number = hu_number_table(row->part, row->values, row->rule); break;
    default: entry.number = hu_number_fixed(1, row->width - 1u - row->part, row->part, HU_FIXED_SATURATE);
  }
  return entry;
}

hu_status hu_number_find(hu_number *number, const char *name) {
  hu_format format;
  if (!number || !name) return HU_E_NULL;
  for (size_t i = 0; i < hu_number_count(); i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    *number = hu_number_at(i).number;
    return HU_OK;
  }
  hu_status status = hu_format_find(&format, name);
  if (status == HU_OK) *number = hu_number_float(format);
  return status;
}

const char *hu_number_id(hu_number number) {
  if (number.kind == HU_NUMBER_FLOAT) return hu_format_id(number.format);
  for (size_t i = 0; i < hu_number_count(); i++) {
    if (hu_number_equal(number, hu_number_at(i).number)) return rows[i].name;
  }
  return NULL;
}
