/* SPDX-License-Identifier: MIT */
/* Counts what numbers become in a format: see plot.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"
#include "cli/plot/plot.h"
#include "halfulp/scalar.h"

/* Returns the class of a number, and what it becomes in *z. */
static int class_of(double *z, const plot_state *state, double x, uint64_t i) {
  uint32_t events, bits = state->numeric.mode.bits;
  uint32_t random = bits ? hu_stream_word(state->numeric.stream, i) >> (32 - bits) : 0;
  if (state->other)
    *z = hu_number_decode64(state->system, hu_number_encode64(state->system, state->numeric.mode, x, random, &events));
  else
    *z =
        hu_decode64(state->numeric.format, hu_encode64(state->numeric.format, state->numeric.mode, x, random, &events));
  if (events & HU_EVENT_INVALID) return BELOW;
  if (events & HU_EVENT_OVERFLOW) return BEYOND_MAX;
  if (events & HU_EVENT_TO_ZERO || (state->other && events & HU_EVENT_UNDERFLOW)) return TO_ZERO;
  return events & HU_EVENT_SUBNORMAL ? SUBNORMAL : NORMAL;
}

/* Counts numbers that are rounded each on its own; z gets what they become. */
static void gather(histogram *data, double *z, const plot_state *state, const cli_source *source, size_t count) {
  double block[CLI_BLOCK];
  progress bar;
  progress_start(&bar, "plot", count);
  for (size_t i = 0; i < count; i += CLI_BLOCK) {
    size_t n = count - i < CLI_BLOCK ? count - i : CLI_BLOCK;
    cli_source_read(source, block, i, n);
    for (size_t j = 0; j < n; j++) plot_add(data, block[j], class_of(&z[i + j], state, block[j], i + j));
    progress_at(&bar, i);
  }
  progress_end(&bar);
}

int plot_gather(histogram *data, plot_state *state, const cli_source *source, size_t rows, size_t cols) {
  size_t count = rows * cols;
  memset(data, 0, sizeof *data);
  data->low = 2000;
  data->high = -2000;
  if (state->scaled) return plot_gather_scaled(data, state, source, rows, cols);
  double *z = cli_alloc(count, sizeof *z);
  if (!z) return CLI_BAD;
  gather(data, z, state, source, count);
  cli_source made = cli_floats_source(z, sizeof *z);
  cli_measure(&data->errors, source, &made, count);
  free(z);
  return CLI_OK;
}
