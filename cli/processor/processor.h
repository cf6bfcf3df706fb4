/* SPDX-License-Identifier: MIT */
/* cli/processor/processor.h - instructions of this machine's CPU that add up products, and the presets that model them:
 * they are asked as those of a device are (halfulp/device.h), tiles of A, B, C and D. And instructions that no preset
 * models: each has a check of its own. */
#ifndef HALFULP_CLI_PROCESSOR_PROCESSOR_H
#define HALFULP_CLI_PROCESSOR_PROCESSOR_H

#include "halfulp/device.h"

/* One instruction: D = A B + C, where A is m x k and row-major, B is k x n and stored by columns, and C and D are m x n
 * and row-major. `run` computes one tile; arrays have any alignment. */
typedef struct processor_unit {
  const char *instruction; /* as its maker's manual calls it */
  const char *model;       /* the preset's name */
  uint32_t m, n, k;
  int (*has)(void); /* 1: this CPU can execute it, and the system allows that */
  void (*run)(void *result, const void *a, const void *b, const void *c);
} processor_unit;

/* Those that this program was compiled for, up to one without a name. */
extern const processor_unit processor_units_x86[], processor_units_arm[], processor_units_arm_fp8[];

/* What a check is asked for, and what it finds. quiet: differences are not shown. */
typedef struct processor_tally {
  uint64_t count, key; /* at least so many random operands; theirs */
  int quiet;
  uint64_t compared, different;
} processor_tally;
typedef struct processor_check {
  const char *instruction;
  const char *id; /* what it computes: "binary16.rne" converts into binary16 in that mode */
  int (*has)(void);
  void (*run)(processor_tally *tally);
} processor_check;
extern const processor_check processor_checks_x86[], processor_checks_arm[], processor_checks_arm_fp8[];

/* Returns number i of those that this CPU has; NULL behind the last one. */
const processor_check *processor_check_at(size_t i);
/* checks.c. An instruction takes so many numbers: all 2^16 codes of binary16 against hu_decode; binary32 numbers
 * against hu_encode in a mode of rounding, HU_RNE ...; c[i] plus two products of signed halves of 16 bits, modulo 2^32.
 * Of an 8-bit format: all codes, to binary16; all codes of binary16 and binary32 numbers into it, in ties
 * to even, where overflow gives an infinity or a NaN. Any NaN counts as equal to any other. */
enum { PROCESSOR_LANES = 8 };
void processor_check_widen(processor_tally *tally, void (*widen)(float *z, const uint16_t *x));
void processor_check_narrow(processor_tally *tally, uint32_t round, void (*narrow)(uint16_t *z, const float *x));
void processor_check_widen8(processor_tally *tally, hu_format format, void (*widen)(uint16_t *z, const uint8_t *x));
void processor_check_narrow16(processor_tally *tally, hu_format format, void (*narrow)(uint8_t *z, const uint16_t *x));
void processor_check_narrow32(processor_tally *tally, hu_format format, void (*narrow)(uint8_t *z, const float *x));
void processor_check_pairs(processor_tally *tally, void (*add)(uint32_t *c, const uint32_t *a, const uint32_t *b));

enum { PROCESSOR_NAME_MAX = 160 };
/* Writes maker and kind of the CPU, with family, model and stepping where it says them. */
void processor_name(char name[PROCESSOR_NAME_MAX]);

/* Returns number i of the instructions that this CPU has, as hu_device_mma_at; HU_E_NAME behind the last one. */
hu_status processor_mma_at(hu_device_mma *mma, size_t i);
/* Runs instruction i `tiles` times, as hu_device_mma_run. */
hu_status processor_mma_run(size_t i, size_t tiles, void *result, const void *a, const void *b, const void *c);

#endif
