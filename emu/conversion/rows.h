/* SPDX-License-Identifier: MIT */
/* emu/conversion/rows.h - the rows of the table of conversions: texts, from which records are made. */
#ifndef HALFULP_EMU_CONVERSION_ROWS_H
#define HALFULP_EMU_CONVERSION_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct hu_conversion_row {
  const char *name, *format;
  const char *mode;  /* rounding, then perhaps "/" and the saturation policy, then "/canonical": "rne/finite" */
  const char *first; /* "" or "format/rounding" */
  uint8_t operand, nan, nan64;
  uint32_t nan_code;
  const char *scaling;
  const char *stands, *note;
} hu_conversion_row;

extern const hu_conversion_row hu_conversion_rows_casts[], hu_conversion_rows_emulators[];
extern const size_t hu_conversion_casts, hu_conversion_emulators;

#endif
