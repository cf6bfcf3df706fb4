/* SPDX-License-Identifier: MIT */
/* cli/pictures/pictures.h - the command's drawings for the Python package: libhalfulp-pictures, of no use to other
 * programs, with no promise from one version to the next (python/halfulp/_pictures.py calls it).
 *
 * Every call returns CLI_OK and in *text what it draws, or CLI_BAD and in *text the line that the command would print,
 * without the command's name. It is to be freed with hui_picture_free; NULL: there is no memory for it. Calls may run
 * in several threads, each with memory of its own. */
#ifndef HALFULP_CLI_PICTURES_PICTURES_H
#define HALFULP_CLI_PICTURES_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/mode.h"

/* A matrix of numbers, row-major: binary32 or binary64 by `size`; blocks lie along rows. `name`: what the drawing calls
 * it. */
typedef struct picture_data {
  const void *values;
  uint32_t size;
  size_t rows, cols;
  const char *name;
} picture_data;

/* Draws what `halfulp plot` draws of `count` formats, 1 to 6, under a mode and a stream. data NULL: none. */
HU_API int hui_picture_plot(char **text, const char *const *formats, size_t count, hu_mode mode, hu_stream stream,
                            const picture_data *data);

/* Draw an element of a page, like those in the report of `halfulp quantize`. Exponents: counts of low, low + 1, ...
 * before and after; zeros[0] before, zeros[1] after. Ratios: bars with their names, in dB, in their order; `why` of
 * those that are not finite. `what`: what they are of, for the title. */
HU_API int hui_picture_exponents(char **text, const char *id, const uint64_t *before, const uint64_t *after, int low,
                                 int count, const uint64_t *zeros);
HU_API int hui_picture_ratios(char **text, const char *id, const char *what, const char *const *names,
                              const double *decibels, const char *why, size_t count);
/* Writes a page around its body, HTML that is trusted: fonts and colours, light and dark, tables that can be sorted. */
HU_API int hui_picture_page(char **text, const char *title, const char *body);

HU_API void hui_picture_free(char *text);

#endif
