/* SPDX-License-Identifier: MIT */
/* See errors.h. */
#include "cli/draw/errors.h"

#include <math.h>
#include <stdio.h>

#include "cli/base/cli.h"
#include "cli/draw/curves.h"
#include "cli/draw/svg.h"

enum { WIDTH = 960, LEFT = 300, RIGHT = 800, HEAD = 48, ROW = 30, NAME_SHOWN = 38 };

/* Powers of ten at the ends of the axis. */
typedef struct axis {
  int low, high;
} axis;

static double x_of(const axis *range, double value) {
  return LEFT + (RIGHT - LEFT) * (log10(value) - range->low) / (range->high - range->low);
}

/* Returns an axis from below the smallest figure to above the largest one; 10^-1 to 1 where all are 0. */
static axis axis_of(const error_row *rows, size_t count) {
  double low = HUGE_VAL, high = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(rows[i].max > 0)) continue;
    low = fmin(low, rows[i].rms > 0 ? rows[i].rms : rows[i].max);
    high = fmax(high, rows[i].max);
  }
  if (!(high > 0)) return (axis){-1, 0};
  axis range = {(int)floor(log10(low)), (int)ceil(log10(high))};
  if (range.low == range.high) range.low--;
  return range;
}

static void draw_axis(svg *image, const axis *range, double foot) {
  const palette *colours = &palette_file;
  int step = (range->high - range->low + 9) / 10;
  for (int k = range->low; k <= range->high; k += step) {
    char text[48];
    double x = x_of(range, pow(10, k));
    svg_tick(image, x, HEAD, x, foot, colours->rule, 1);
    snprintf(text, sizeof text, "1e%d", k);
    svg_text(image, x, foot + 20, 12, SVG_MIDDLE, colours->soft, "", k == 0 ? "1" : text);
  }
  svg_end_series(image);
}

/* Draws a dot of the first colour, with paper in it if it is open. */
static void draw_dot(svg *image, double x, double y, int open) {
  svg_dot(image, x, y, 6, palette_file.line[0]);
  if (open) svg_dot(image, x, y, 4, palette_file.paper);
}

static void draw_legend(svg *image) {
  const palette *colours = &palette_file;
  draw_dot(image, LEFT + 6, 16, 0);
  svg_text(image, LEFT + 18, 20, 13, SVG_START, colours->ink, "", "rms difference");
  draw_dot(image, LEFT + 146, 16, 1);
  svg_text(image, LEFT + 158, 20, 13, SVG_START, colours->ink, "", "largest difference");
  svg_text(image, WIDTH - 16, 20, 13, SVG_END, colours->soft, "", "elements that differ");
}

static void draw_name(svg *image, double y, const char *name) {
  char text[NAME_SHOWN + 8];
  snprintf(text, sizeof text, "%.*s%s", NAME_SHOWN, name, snprintf(NULL, 0, "%s", name) > NAME_SHOWN ? "..." : "");
  svg_text(image, 16, y, 13, SVG_START, palette_file.ink, "", text);
}

static void draw_row(svg *image, const axis *range, double y, const error_row *row) {
  const palette *colours = &palette_file;
  char text[96];
  draw_name(image, y + 5, row->name);
  if (row->max > 0) {
    double from = x_of(range, row->rms > 0 ? row->rms : row->max), to = x_of(range, row->max);
    svg_tick(image, from, y, to, y, colours->line[0], 2);
    draw_dot(image, from, y, 0);
    draw_dot(image, to, y, 1);
  } else {
    svg_text(image, LEFT + 6, y + 5, 13, SVG_START, colours->soft, "",
             row->different ? "only what is not finite differs" : "equal");
  }
  snprintf(text, sizeof text, "%.1f %%%s", row->count ? 100.0 * (double)row->different / (double)row->count : 0,
           row->not_finite ? ", some not finite" : "");
  svg_text(image, WIDTH - 16, y + 5, 13, SVG_END, colours->ink, "", text);
}

int errors_write(const char *path, const char *title, const error_row *rows, size_t count) {
  svg image;
  const axis range = axis_of(rows, count);
  double foot = HEAD + ROW * (double)count;
  int status = drawing_open(&image, WIDTH, (int)foot + 34, title);
  if (status != CLI_OK) return status;
  draw_legend(&image);
  draw_axis(&image, &range, foot);
  for (size_t i = 0; i < count; i++) draw_row(&image, &range, HEAD + ROW * ((double)i + 0.5), &rows[i]);
  svg_end_series(&image);
  fputs("</g>\n", image.out);
  return svg_close(&image, path);
}
