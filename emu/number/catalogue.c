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
    {"posit8", STANDARD, STANDARD_OPEN, HU_NUMBER_POSIT, 8, 2, 0, NULL},
    {"posit16", STANDARD, STANDARD_OPEN, HU_NUMBER_POSIT, 16, 2, 0, NULL},
    {"posit32", STANDARD, STANDARD_OPEN, HU_NUMBER_POSIT, 32, 2, 0, NULL},
    {"posit8_es0", EARLY, STANDARD_OPEN, HU_NUMBER_POSIT, 8, 0, 0, NULL},
    {"posit16_es1", EARLY, STANDARD_OPEN, HU_NUMBER_POSIT, 16, 1, 0, NULL},
    {"posit32_es2", EARLY, STANDARD_OPEN, HU_NUMBER_POSIT, 32, 2, 0, NULL},
    {"takum8", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM, 8, 0, 0, NULL},
    {"takum16", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM, 16, 0, 0, NULL},
    {"takum32", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM, 32, 0, 0, NULL},
    {"takum_linear8", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM_LINEAR, 8, 0, 0, NULL},
    {"takum_linear16", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM_LINEAR, 16, 0, 0, NULL},
    {"takum_linear32", TAKUM, TAKUM_OPEN, HU_NUMBER_TAKUM_LINEAR, 32, 0, 0, NULL},
    {"hifloat8", HIF8, HIF8_OPEN, HU_NUMBER_HIFLOAT8, 8, 0, 0, NULL},
    {"lns8", UNIVERSAL, LNS_OPEN, HU_NUMBER_LNS, 8, 3, HU_LNS_TWOS, NULL},
    {"lns8_madam", "Zhao et al., LNS-Madam: low-precision training in logarithmic number system (2022)",
     "Zero, which has no code (here the smallest value). The scale is the caller's.", HU_NUMBER_LNS, 8, 3,
     HU_LNS_UNSIGNED, NULL},
    {"lns16", UNIVERSAL, LNS_OPEN, HU_NUMBER_LNS, 16, 8, HU_LNS_TWOS, NULL},
    {"logfixpoint16", "LogFixPoints.jl, LogFixPoint16", "Underflow (here to zero, nearest in the logarithm).",
     HU_NUMBER_LNS, 16, 8, HU_LNS_OFFSET, NULL},
    {"lns32", UNIVERSAL, LNS_OPEN, HU_NUMBER_LNS, 32, 23, HU_LNS_TWOS, NULL},
    {"nf4", QLORA, "Ties; here to the lower value. bitsandbytes compares with constants near the midpoints: nf4_bnb.",
     HU_NUMBER_TABLE, 0, 16, HU_TIES_LOW, nf4_values},
    {"nf4_bnb", QLORA, "", HU_NUMBER_TABLE, 0, 16, HU_TIES_GIVEN, nf4_bnb_values},
    {"fp4_bnb", "bitsandbytes, FP4", "-0, which becomes code 0 there and code 8 here.", HU_NUMBER_TABLE, 0, 16,
     HU_TIES_GIVEN, fp4_values},
    {"nf4_bnb_cpu", BNB_CPU, "", HU_NUMBER_TABLE, 0, 16, HU_TIES_LOW32, nf4_values},
    {"fp4_bnb_cpu", BNB_CPU, "The code of 0, which is 0 or 8 there.", HU_NUMBER_TABLE, 0, 16, HU_TIES_LOW32,
     fp4_values},
    {"af4", "Yoshida, NF4 isn't information theoretically optimal (and that's good) (2023), block size 64",
     "Ties; here to the lower value.", HU_NUMBER_TABLE, 0, 16, HU_TIES_LOW, af4_values},
    {"dynamic8_bnb", DYNAMIC, DYNAMIC_OPEN, HU_NUMBER_TABLE, 0, 256, HU_TIES_LOW, dynamic8_values},
    {"udynamic8_bnb", DYNAMIC, DYNAMIC_OPEN, HU_NUMBER_TABLE, 0, 256, HU_TIES_LOW, udynamic8_values},
    {"int4", INTEGER, INTEGER_OPEN, HU_NUMBER_FIXED, 4, 0, 0, NULL},
    {"int8", INTEGER, INTEGER_OPEN, HU_NUMBER_FIXED, 8, 0, 0, NULL},
    {"int16", INTEGER, INTEGER_OPEN, HU_NUMBER_FIXED, 16, 0, 0, NULL},
    {"int32", INTEGER, INTEGER_OPEN, HU_NUMBER_FIXED, 32, 0, 0, NULL},
    {"q7", CMSIS, INTEGER_OPEN, HU_NUMBER_FIXED, 8, 7, 0, NULL},
    {"q15", CMSIS, INTEGER_OPEN, HU_NUMBER_FIXED, 16, 15, 0, NULL},
    {"q31", CMSIS, INTEGER_OPEN, HU_NUMBER_FIXED, 32, 31, 0, NULL},
    {"s15_16", "ISO/IEC TR 18037 (Embedded C), accum; libfixmath, fix16_t", INTEGER_OPEN, HU_NUMBER_FIXED, 32, 16, 0,
     NULL},
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
