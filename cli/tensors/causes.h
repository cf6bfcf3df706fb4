/* SPDX-License-Identifier: MIT */
/* cli/tensors/causes.h - the error of quantized values, split by its causes; docs/audit.md section 5 defines the parts.
 *
 * Of a block with values x, decoded ones v and a largest value `most` that its scale allows, c is the factor that makes
 * the sum of (c v - x)^2 least. The parts add up to the sum of (v - x)^2:
 *
 *   scale       what c takes away: sum (v - x)^2 - sum (c v - x)^2
 *   dead        of that rest, x that became 0
 *   saturated   x beyond `most`
 *   grid        all others */
#ifndef HALFULP_CLI_TENSORS_CAUSES_H
#define HALFULP_CLI_TENSORS_CAUSES_H

#include "cli/base/json.h"
#include "cli/tensors/array.h"

/* Blocks by their SQNR: below 0 dB, 0 to 5, ... 45 to 50, 50 and above, no error. */
enum { CLI_CAUSES_BINS = 13 };
typedef struct cli_causes {
  uint64_t count, blocks;   /* elements that are finite before and after; blocks with one */
  uint64_t dead, saturated; /* elements */
  double signal, noise;     /* sums of squares: of x, of v - x */
  double scale_noise, dead_noise, saturated_noise, grid_noise;
  double moved; /* sum of v - x */
  uint64_t bins[CLI_CAUSES_BINS];
} cli_causes;

/* Adds what another one has. */
void cli_causes_add(cli_causes *z, const cli_causes *x);
/* Adds a matrix of rows x cols in blocks of block[0] x block[1]; x, v: of any dtype, read as binary64; most[k]: of the
 * k-th block, row by row, infinity where there is no largest value. Returns 0, or an exit code after an error line. */
int cli_causes_matrix(cli_causes *z, const cli_source *x, const cli_source *v, size_t rows, size_t cols,
                      const size_t block[2], const double *most);
/* Returns a part of the noise between 0 and 1; 0 without noise. */
double cli_causes_share(const cli_causes *z, double part);
/* Returns the mean of v - x. */
double cli_causes_bias(const cli_causes *z);
/* Writes the range of a bin: "25 to 30 dB". */
enum { CLI_CAUSES_BIN_TEXT = 24 };
const char *cli_causes_bin(char text[CLI_CAUSES_BIN_TEXT], int bin);
/* Print it as lines; as an object of JSON, null without elements. */
void cli_print_causes(FILE *out, const char *indent, const cli_causes *z);
cli_value cli_causes_value(const cli_causes *z);

#endif
