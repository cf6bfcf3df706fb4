/* SPDX-License-Identifier: MIT */
/* cli/draw/errors.h - how far results lie from a reference, one row per model, on a logarithmic axis. */
#ifndef HALFULP_CLI_DRAW_ERRORS_H
#define HALFULP_CLI_DRAW_ERRORS_H

#include <stddef.h>

typedef struct error_row {
  const char *name;
  double max, rms; /* of |result - reference|, over what is finite */
  size_t count, different, not_finite;
} error_row;

/* Writes the drawing. Returns 0, or an exit code after an error line. */
int errors_write(const char *path, const char *title, const error_row *rows, size_t count);

#endif
