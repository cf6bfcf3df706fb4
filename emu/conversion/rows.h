/* SPDX-License-Identifier: MIT */
/* emu/conversion/rows.h - the rows of the table of conversions: texts, from which records are made. */
#ifndef HALFULP_EMU_CONVERSION_ROWS_H
#define HALFULP_EMU_CONVERSION_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef struct hu_conversion_row {
  const char *name, *format;
  const char *mode;  /* rounding, then perhaps "/" and the saturation policy, then "/canonical": "rne/finite" */
  const char *first; /* "" or "format/rounding", or "/rounding" of the step `through` alone */
  uint8_t operand, nan, nan64;
  uint32_t nan_code;
  const char *scaling;
  const char *stands, *note;
} hu_conversion_row;

extern const hu_conversion_row hu_conversion_rows_casts[], hu_conversion_rows_emulators[], hu_conversion_rows_units[];
extern const size_t hu_conversion_casts, hu_conversion_emulators, hu_conversion_units;

/* What few rows of scaled tensors have besides, by their names. */
typedef struct hu_conversion_more {
  const char *name, *through;
  uint8_t codes;
} hu_conversion_more;
extern const hu_conversion_more hu_conversion_more_rows[];
extern const size_t hu_conversion_more_count;

#endif
