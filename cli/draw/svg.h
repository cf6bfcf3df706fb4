/* SPDX-License-Identifier: MIT */
/* cli/draw/svg.h - a drawing as self-contained SVG text, grown in memory; or, with only `out` set, as a part of a
 * page. */
#ifndef HALFULP_CLI_DRAW_SVG_H
#define HALFULP_CLI_DRAW_SVG_H

#include <stddef.h>
#include <stdio.h>

#include "cli/base/io.h"

enum { SVG_SERIES_MAX = 8 };

/* Marks that look the same. */
typedef struct svg_series {
  char style[96];
  FILE *out;
  char *path;
  size_t size;
} svg_series;

typedef struct svg {
  FILE *out;
  char *text;
  size_t size;
  svg_series series[SVG_SERIES_MAX]; /* not yet written */
  int count;
} svg;

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Begins a drawing. Returns 0, or an exit code after an error line. */
int svg_open(svg *image, int width, int height, const char *title);
void svg_rect(svg *image, double x, double y, double width, double height, const char *fill);
void svg_line(svg *image, double x1, double y1, double x2, double y2, const char *stroke, double width);
/* Marks of series: a tick along an axis, a bar, a dot. They are kept until svg_end_series, which writes those of one
 * look as one element, in the order of the first of each look. */
void svg_tick(svg *image, double x1, double y1, double x2, double y2, const char *stroke, double width);
void svg_bar(svg *image, double x, double y, double width, double height, const char *fill);
void svg_dot(svg *image, double x, double y, double radius, const char *fill);
void svg_end_series(svg *image);
/* Draws the text, escaped. style: extra attributes, "" if none. */
void svg_text(svg *image, double x, double y, int size, enum svg_anchor anchor, const char *fill, const char *style,
              const char *text);
/* Draws 2 to the power k, the exponent raised, with an edge of the paper's colour that keeps it readable on a line. */
void svg_power(svg *image, double x, double y, int size, const char *fill, const char *edge, int k);
/* Writes text for XML and HTML, quotes and control characters included. */
void svg_escaped(FILE *out, const char *text);
/* Returns the step of an axis, 1, 2 or 5 times a power of ten, so that about `count` steps fill a range above 0. */
double svg_nice_step(double range, int count);
/* Ends the drawing; *text: all of it, to be freed. Returns 0, or an exit code after an error line; then it is NULL. */
int svg_end(svg *image, cli_piece *text);
/* Ends the drawing, writes it to path if path is not NULL, frees it. Returns 0 or an exit code. */
int svg_close(svg *image, const char *path);

#endif
