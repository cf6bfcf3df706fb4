/* SPDX-License-Identifier: MIT */
/* cli/quantize/report.h - the parts of the HTML report on a .safetensors file (report.c). */
#ifndef HALFULP_CLI_QUANTIZE_REPORT_H
#define HALFULP_CLI_QUANTIZE_REPORT_H

#include "cli/quantize/tensors.h"

/* Draw elements of the page, in its colours (report_plots.c). Each has a title and a description. */
void report_exponents(FILE *out, const tensors_result *total);
void report_sqnr(FILE *out, const tensors_results *results);
/* Draws a small one for a row of the table, from exponent low to high. */
void report_sparkline(FILE *out, const tensors_result *result, int low, int high, size_t id);
/* Draws how many blocks have which SQNR, under a title; nothing where errors are not known by their causes. */
void report_blocks(FILE *out, const char *id, const char *title, const cli_causes *causes);
/* Finds the exponents that occur in any of it; low > high if none does. */
void report_range(int *low, int *high, const tensors_result *result);

#endif
