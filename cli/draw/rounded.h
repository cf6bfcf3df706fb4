/* SPDX-License-Identifier: MIT */
/* cli/draw/rounded.h - what roundings did to numbers: exponents before and after, signal-to-noise ratios. Drawn into a
 * page, in its colours (page.h), each with a title and a description. */
#ifndef HALFULP_CLI_DRAW_ROUNDED_H
#define HALFULP_CLI_DRAW_ROUNDED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How many numbers have each exponent, floor(log2 |x|), from `low` on; and how many are zero. */
typedef struct exponent_counts {
  const uint64_t *counts;
  int low, count;
  uint64_t zeros;
} exponent_counts;

/* Finds the lowest and the highest exponent of both; low > high where there is none. */
void rounded_range(int *low, int *high, const exponent_counts *before, const exponent_counts *after);
/* Draws two bars for zero and for each exponent. id: unique on the page. */
void rounded_exponents(FILE *out, const char *id, const exponent_counts *before, const exponent_counts *after);
/* Draws a small one for a row of a table, from exponent low to high. */
void rounded_sparkline(FILE *out, const char *id, const exponent_counts *before, const exponent_counts *after, int low,
                       int high);

/* A bar. `why` is shown where the ratio is not finite: then the bar is long for a positive infinity, else short. */
typedef struct rounded_ratio {
  const char *name, *why;
  double decibels;
} rounded_ratio;
/* Draws the first ROUNDED_RATIOS_MAX of them, which are to be the lowest; says it, if that leaves any out. `what`: the
 * plural of what each is. */
enum { ROUNDED_RATIOS_MAX = 60 };
void rounded_ratios(FILE *out, const char *id, const char *title, const char *text, const char *what,
                    const rounded_ratio *ratios, size_t count);

#endif
