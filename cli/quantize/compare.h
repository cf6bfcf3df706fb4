/* SPDX-License-Identifier: MIT */
/* cli/quantize/compare.h - what several formats make of the same tensors. */
#ifndef HALFULP_CLI_QUANTIZE_COMPARE_H
#define HALFULP_CLI_QUANTIZE_COMPARE_H

#include "cli/quantize/quantize.h"

enum { COMPARE_FORMATS_MAX = 32 };

/* What is asked. `common` holds all but the format. */
typedef struct compare_asked {
  cli_quantize_state common;
  const char *formats[COMPARE_FORMATS_MAX];
  int count;
} compare_asked;

/* Rounds an array or a model into each format; prints, and writes the report if one is asked for. Returns 0 or an exit
 * code. */
int cli_compare_file(const compare_asked *asked, const char *in);

#endif
