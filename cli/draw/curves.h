/* SPDX-License-Identifier: MIT */
/* cli/draw/curves.h - lines over steps or other numbers, and exponents as columns, drawn into a page (page.h), or as a
 * file of their own. */
#ifndef HALFULP_CLI_DRAW_CURVES_H
#define HALFULP_CLI_DRAW_CURVES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/draw/svg.h"

/* Points (x[i stride], y[i stride]); those that are not finite, or not positive on a logarithmic axis, are left out. */
typedef struct curve {
  const char *name;
  const double *x, *y;
  size_t count, stride;
  int dots; /* 1: each point is seen */
} curve;

enum curve_axis { CURVE_LINEAR, CURVE_LOG10, CURVE_LOG2 };

typedef struct chart {
  const char *id, *title, *text; /* unique on the page; of the drawing; what it shows */
  enum curve_axis axis;
  const curve *curves; /* at most CURVES_MAX */
  size_t count;
  const char *x_name, *y_name; /* NULL: "step"; nothing */
  enum curve_axis x_axis;
  size_t left_out; /* curves that are not in the list; the drawing says how many */
} chart;
enum { CURVES_MAX = 10 };

/* Returns 1 if there is a point to draw. */
int chart_has_points(const chart *figure);
/* Draws the chart. Where there are many points, the smallest and the largest one of each of 400 parts stand for them.
 * Lines break where points are left out. */
void chart_draw(FILE *out, const chart *figure);
/* Writes the drawing as an SVG file, its title above it, on white. Returns 0, or an exit code after an error line. */
int chart_write(const char *path, const chart *figure);

/* A column for each exponent, of the share that its count has of all counts of the same set; zeros have one, too. */
typedef struct exponents {
  const char *name;
  const uint64_t *counts; /* the bins of hu_exponents_of: 279 */
} exponents;
/* EXPONENT_SETS_MAX sets at most; the marks are lines at exponents, with their names. */
typedef struct exponent_mark {
  int exponent;
  const char *name;
} exponent_mark;
void exponents_draw(FILE *out, const char *id, const char *title, const char *text, const exponents *sets, size_t count,
                    const exponent_mark *marks, size_t mark_count);
/* Writes the columns, as chart_write does. */
int exponents_write(const char *path, const char *title, const exponents *sets, size_t count,
                    const exponent_mark *marks, size_t mark_count);
enum { EXPONENT_SETS_MAX = 3 };

/* ---- for drawings of this kind ---- */

/* Colours of a page, or of a file that has no page around it. */
typedef struct palette {
  const char *ink, *soft, *rule, *paper, *line[CURVES_MAX];
} palette;
extern const palette palette_page, palette_file;
/* Begins an SVG file with its title; what is drawn until svg_close is below it. */
int drawing_open(svg *image, int width, int height, const char *title);

#endif
