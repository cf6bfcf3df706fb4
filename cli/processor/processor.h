/* SPDX-License-Identifier: MIT */
/* cli/processor/processor.h - instructions of the processor at hand that add up products, and the presets that model
 * them. They are asked as those of a device are (halfulp/device.h): tiles of A, B, C and D. */
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
  void (*run)(void *d, const void *a, const void *b, const void *c);
} processor_unit;

/* Those that this program was compiled for, up to one without a name. */
extern const processor_unit processor_units_x86[], processor_units_arm[];

enum { PROCESSOR_NAME_MAX = 160 };
/* Maker and kind of the processor, with family, model and stepping where it says them. */
void processor_name(char name[PROCESSOR_NAME_MAX]);

/* Number i of the instructions that this processor has, as hu_device_mma_at; HU_E_NAME: there are not so many. */
hu_status processor_mma_at(hu_device_mma *mma, size_t i);
/* `tiles` times instruction i, as hu_device_mma_run. */
hu_status processor_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b, const void *c);

#endif
