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

static double x_of(const axis *a, double value) {
  return LEFT + (RIGHT - LEFT) * (log10(value) - a->low) / (a->high - a->low);
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
  axis a = {(int)floor(log10(low)), (int)ceil(log10(high))};
  if (a.low == a.high) a.low--;
  return a;
}

static void draw_axis(svg *s, const axis *a, double foot) {
  const palette *p = &palette_file;
  int step = (a->high - a->low + 9) / 10;
  for (int k = a->low; k <= a->high; k += step) {
    char text[48];
    double x = x_of(a, pow(10, k));
    svg_line(s, x, HEAD, x, foot, p->rule, 1);
    snprintf(text, sizeof text, "1e%d", k);
    svg_text(s, x, foot + 20, 12, SVG_MIDDLE, p->soft, "", k == 0 ? "1" : text);
  }
}

static void draw_dot(svg *s, double x, double y, const char *fill, const char *stroke) {
  fprintf(s->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, y,
          fill, stroke);
}

static void draw_legend(svg *s) {
  const palette *p = &palette_file;
  draw_dot(s, LEFT + 6, 16, p->line[0], p->line[0]);
  svg_text(s, LEFT + 18, 20, 13, SVG_START, p->ink, "", "rms difference");
  draw_dot(s, LEFT + 146, 16, p->paper, p->line[0]);
  svg_text(s, LEFT + 158, 20, 13, SVG_START, p->ink, "", "largest difference");
  svg_text(s, WIDTH - 16, 20, 13, SVG_END, p->soft, "", "elements that differ");
}

static void draw_name(svg *s, double y, const char *name) {
  char text[NAME_SHOWN + 8];
  snprintf(text, sizeof text, "%.*s%s", NAME_SHOWN, name, snprintf(NULL, 0, "%s", name) > NAME_SHOWN ? "..." : "");
  svg_text(s, 16, y, 13, SVG_START, palette_file.ink, "", text);
}

static void draw_row(svg *s, const axis *a, double y, const error_row *r) {
  const palette *p = &palette_file;
  char text[96];
  draw_name(s, y + 5, r->name);
  if (r->max > 0) {
    double from = x_of(a, r->rms > 0 ? r->rms : r->max), to = x_of(a, r->max);
    svg_line(s, from, y, to, y, p->line[0], 2);
    draw_dot(s, from, y, p->line[0], p->line[0]);
    draw_dot(s, to, y, p->paper, p->line[0]);
  } else {
    svg_text(s, LEFT + 6, y + 5, 13, SVG_START, p->soft, "",
             r->different ? "only what is not finite differs" : "equal");
  }
  snprintf(text, sizeof text, "%.1f %%%s", r->count ? 100.0 * (double)r->different / (double)r->count : 0,
           r->not_finite ? ", some not finite" : "");
  svg_text(s, WIDTH - 16, y + 5, 13, SVG_END, p->ink, "", text);
}

int errors_write(const char *path, const char *title, const error_row *rows, size_t count) {
  svg s;
  const axis a = axis_of(rows, count);
  double foot = HEAD + ROW * (double)count;
  int status = drawing_open(&s, WIDTH, (int)foot + 34, title);
  if (status != CLI_OK) return status;
  draw_legend(&s);
  draw_axis(&s, &a, foot);
  for (size_t i = 0; i < count; i++) draw_row(&s, &a, HEAD + ROW * ((double)i + 0.5), &rows[i]);
  fputs("</g>\n", s.out);
  return svg_close(&s, path);
}
