/* SPDX-License-Identifier: MIT */
/* Draws which magnitudes of a scaled format its elements have: see plot.h. */
#include <math.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/plot/plot.h"

enum { TITLE = 16, BARS = 120 };

const char *const plot_colours[CLASSES] = {"#8a94a6", "#d9972b", "#2f6db5", "#c8373f", "#7b4fa3", "#7b4fa3"};

size_t plot_codes_used(const histogram *data) {
  size_t used = 0;
  for (size_t i = 0; i < data->code_count; i++) used += data->codes[i] != 0;
  return used;
}

int plot_codes_height(const histogram *data) {
  return data && data->code_count && data->code_count <= PLOT_CODES_MAX ? PLOT_CODES_HEIGHT : 0;
}

/* Writes the value of a code in a block whose scales are 1, as it stands below its bar. */
static void draw_value(drawing *plot, double x, double y, size_t code) {
  char text[64];
  double one = (double)plot->state->block.scale * (double)plot->state->block.tensor;
  snprintf(text, sizeof text, "%s", ROUNDED(plot->state->block.values[code] / one, 4));
  svg_text(&plot->out, x, y, 11, SVG_MIDDLE, PLOT_GREY, "", text);
}

void plot_codes(drawing *plot, double y) {
  const histogram *data = plot->data;
  double width = (double)(PLOT_RIGHT - PLOT_LEFT) / (double)data->code_count, foot = y + TITLE + BARS + 12;
  uint64_t most = 1;
  size_t every = 1;
  char text[96];
  for (size_t i = 0; i < data->code_count; i++) most = data->codes[i] > most ? data->codes[i] : most;
  while ((double)every * width < 48) every *= 2;
  snprintf(text, sizeof text, "elements by magnitude, as multiples of the scale: %zu of %zu are used",
           plot_codes_used(data), data->code_count);
  svg_text(&plot->out, PLOT_LEFT, y + TITLE, 13, SVG_START, PLOT_INK, "", text);
  for (size_t i = 0; i < data->code_count; i++) {
    double left = PLOT_LEFT + (double)i * width, height = BARS * (double)data->codes[i] / (double)most;
    const char *colour = plot_colours[!i ? TO_ZERO : i < (size_t)1 << plot->format.m ? SUBNORMAL : NORMAL];
    if (data->codes[i])
      svg_bar(&plot->out, left + 0.1 * width, foot - fmax(height, 1.5), 0.8 * width, fmax(height, 1.5), colour);
  }
  svg_end_series(&plot->out);
  for (size_t i = 0; i < data->code_count; i += every)
    draw_value(plot, PLOT_LEFT + ((double)i + 0.5) * width, foot + 16, i);
  svg_line(&plot->out, PLOT_LEFT, foot, PLOT_RIGHT, foot, PLOT_INK, 1);
}
