/* SPDX-License-Identifier: MIT */
/* cli/tensors/split.h - the error of quantized values, split by its causes; docs/audit.md section 5 defines the parts.
 *
 * Of a block with values x, decoded ones v and a largest value `most` that its scale allows, c is the factor that makes
 * the sum of (c v - x)^2 least. The parts add up to the sum of (v - x)^2:
 *
 *   scale       what c takes away: sum (v - x)^2 - sum (c v - x)^2
 *   dead        of that rest, x that became 0
 *   saturated   x beyond `most`
 *   grid        all others */
#ifndef HALFULP_CLI_TENSORS_SPLIT_H
#define HALFULP_CLI_TENSORS_SPLIT_H

#include "cli/base/json.h"

/* Blocks by their SQNR: below 0 dB, 0 to 5, ... 45 to 50, 50 and above, no error. */
enum { CLI_SPLIT_BINS = 13 };
typedef struct cli_split {
  uint64_t count, blocks;   /* elements that are finite before and after; blocks with one */
  uint64_t dead, saturated; /* elements */
  double signal, noise;     /* sums of squares: of x, of v - x */
  double scale_noise, dead_noise, saturated_noise, grid_noise;
  double moved; /* sum of v - x */
  uint64_t bins[CLI_SPLIT_BINS];
} cli_split;

/* Adds a block of n elements; most: infinity where there is no largest value. */
void cli_split_block(cli_split *z, const float *x, const float *v, size_t n, double most);
/* Adds what another one has. */
void cli_split_add(cli_split *z, const cli_split *x);
/* Adds a matrix of rows x cols in blocks of block[0] x block[1]; most[k]: of the k-th block, row by row. Returns 0, or
 * an exit code after an error line. */
int cli_split_matrix(cli_split *z, const float *x, const float *v, size_t rows, size_t cols, const size_t block[2],
                     const double *most);
/* Returns a part of the noise between 0 and 1; 0 where there is none. */
double cli_split_share(const cli_split *z, double part);
/* Returns the mean of v - x. */
double cli_split_bias(const cli_split *z);
/* Writes the range of a bin: "25 to 30 dB". */
enum { CLI_SPLIT_BIN_TEXT = 24 };
const char *cli_split_bin(char text[CLI_SPLIT_BIN_TEXT], int bin);
/* Print it as lines; as an object of JSON, null without elements. */
void cli_print_split(FILE *out, const char *indent, const cli_split *z);
cli_value cli_split_value(const cli_split *z);

#endif
