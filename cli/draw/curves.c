/* SPDX-License-Identifier: MIT */
/* Lines over steps: see curves.h. */
#include "cli/draw/curves.h"

#include <math.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/draw/page.h"

enum { WIDTH = 960, PLOT = 222, LEFT = 76, RIGHT = 940, LEGEND = 20, PARTS = 400, TITLE = 30 };
const palette palette_page = {"var(--ink)",
                              "var(--soft)",
                              "var(--rule)",
                              "var(--paper)",
                              {"var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)",
                               "var(--c7)", "var(--c8)", "var(--c9)", "var(--c10)"}};
const palette palette_file = {
    "#1b2430",
    "#566173",
    "#d5dbe4",
    "#ffffff",
    {"#1f6fb8", "#c2571a", "#2c8a57", "#8a4fb0", "#b8322f", "#7a6a10", "#0f8a96", "#5b6575", "#c2408a", "#3a3f9e"}};
/* Lines are distinguished without colours, too. */
static const char *const dashes[CURVES_MAX] = {"",    "7 3",     "2 3",  "9 3 2 3", "12 4",
                                               "4 2", "1 2 5 2", "14 3", "3 5",     "8 2 2 2 2 2"};

typedef struct frame {
  enum curve_axis axis, x_axis;
  double x0, x1, y0, y1; /* on the axes' own scales */
  double top, foot;
  const palette *p;
} frame;

/* Returns y on the axis's scale; NaN if it has no place there. */
static double scaled(enum curve_axis axis, double y) {
  if (!isfinite(y) || (axis != CURVE_LINEAR && y <= 0)) return (double)NAN;
  return axis == CURVE_LOG10 ? log10(y) : axis == CURVE_LOG2 ? log2(y) : y;
}

static int find_range(frame *f, const chart *c) {
  f->x0 = f->x_axis == CURVE_LINEAR ? 0 : HUGE_VAL; /* steps begin at 0 */
  f->y0 = HUGE_VAL;
  f->x1 = f->y1 = -HUGE_VAL;
  for (size_t i = 0; i < c->count; i++)
    for (size_t j = 0; j < c->curves[i].count; j++) {
      double x = scaled(f->x_axis, c->curves[i].x[j * c->curves[i].stride]);
      double y = scaled(f->axis, c->curves[i].y[j * c->curves[i].stride]);
      if (isnan(x) || isnan(y)) continue;
      f->x0 = fmin(f->x0, x);
      f->x1 = fmax(f->x1, x);
      f->y0 = fmin(f->y0, y);
      f->y1 = fmax(f->y1, y);
    }
  return f->x0 <= f->x1;
}

/* Finds the ends of both axes. Powers of ten require more than one of them. */
static int find_frame(frame *f, const chart *c) {
  *f = (frame){c->axis, c->x_axis, 0, 0, 0, 0, 0, 0, &palette_page};
  int found = find_range(f, c);
  if (!found || f->axis != CURVE_LOG10 || f->y1 - f->y0 > 1) return found;
  f->axis = CURVE_LINEAR;
  return find_range(f, c);
}

int chart_has_points(const chart *c) {
  frame f;
  return find_frame(&f, c);
}

/* Widens the axes at both ends; a single value gets an axis, too. */
static void widen(frame *f) {
  if (f->x0 == f->x1) f->x1 = f->x0 + 1;
  if (f->axis == CURVE_LINEAR && f->y0 > 0 && f->y0 < 0.4 * f->y1) f->y0 = 0;
  double range = f->y1 - f->y0, least = f->axis == CURVE_LINEAR ? 1e-3 * fmax(fabs(f->y1), 1e-3) : 1;
  double pad = range < least ? least : 0.04 * range;
  if (f->y0 != 0 || f->axis != CURVE_LINEAR) f->y0 -= pad;
  f->y1 += pad;
}

/* Return the position of a number on its axis's scale, in the drawing. */
static double at_x(const frame *f, double x) { return LEFT + (RIGHT - LEFT) * (x - f->x0) / (f->x1 - f->x0); }
static double at_y(const frame *f, double y) { return f->foot - (f->foot - f->top) * (y - f->y0) / (f->y1 - f->y0); }

/* Writes ten to the power k, as a power where it is far from 1. */
static void ten(svg *s, const frame *f, double y, int k) {
  char text[32];
  snprintf(text, sizeof text, k >= -3 && k <= 4 ? "%g" : "1e%g", k >= -3 && k <= 4 ? pow(10, k) : k);
  svg_text(s, LEFT - 8, y + 4, 12, SVG_END, f->p->soft, "", text);
}

static void label(svg *s, const frame *f, double tick, double y) {
  char text[NUMBER_TEXT_MAX];
  if (f->axis == CURVE_LOG2) {
    svg_power(s, LEFT - 24, y + 4, 12, f->p->soft, f->p->paper, (int)tick);
  } else if (f->axis == CURVE_LOG10) {
    ten(s, f, y, (int)tick);
  } else {
    number_rounded(text, fabs(tick) < 1e-12 ? 0 : tick, 6);
    svg_text(s, LEFT - 8, y + 4, 12, SVG_END, f->p->soft, "", text);
  }
}

static void draw_x_axis(svg *s, const frame *f, const chart *c) {
  char text[NUMBER_TEXT_MAX];
  double across = svg_nice_step(f->x1 - f->x0, 8);
  if (across < 1) across = 1;
  for (double tick = ceil(f->x0 / across) * across; tick <= f->x1; tick += across) {
    double x = at_x(f, tick);
    svg_line(s, x, f->foot, x, f->foot + 5, f->p->soft, 1);
    number_rounded(text, f->x_axis == CURVE_LOG10 ? pow(10, tick) : tick, 10);
    if (f->x_axis == CURVE_LOG2)
      svg_power(s, x, f->foot + 20, 12, f->p->soft, f->p->paper, (int)tick);
    else
      svg_text(s, x, f->foot + 20, 12, SVG_MIDDLE, f->p->soft, "", text);
  }
  svg_line(s, LEFT, f->foot, RIGHT, f->foot, f->p->soft, 1);
  svg_text(s, RIGHT, f->foot + 36, 12, SVG_END, f->p->soft, "", c->x_name ? c->x_name : "step");
  if (c->y_name) svg_text(s, LEFT, f->foot + 36, 12, SVG_START, f->p->soft, "", c->y_name);
}

static void rule(svg *s, const frame *f, double tick) {
  svg_line(s, LEFT, at_y(f, tick), RIGHT, at_y(f, tick), f->p->rule, 1);
}

/* Draws lines at 2 and 5 times powers of ten, where there are few of these. */
static void draw_between(svg *s, const frame *f) {
  static const double times[] = {2, 5};
  for (double k = floor(f->y0); k <= f->y1; k++)
    for (int i = 0; i < 2; i++) {
      char text[NUMBER_TEXT_MAX];
      double tick = k + log10(times[i]);
      if (tick < f->y0 || tick > f->y1) continue;
      rule(s, f, tick);
      number_rounded(text, times[i] * pow(10, k), 3);
      svg_text(s, LEFT - 8, at_y(f, tick) + 4, 12, SVG_END, f->p->soft, "", text);
    }
}

static void draw_axes(svg *s, const frame *f, const chart *c) {
  double step = svg_nice_step(f->y1 - f->y0, 5);
  if (f->axis != CURVE_LINEAR) step = fmax(1, ceil(step));
  for (double tick = ceil(f->y0 / step) * step; tick <= f->y1; tick += step) {
    rule(s, f, tick);
    label(s, f, tick, at_y(f, tick));
  }
  if (f->axis == CURVE_LOG10 && f->y1 - f->y0 < 2.5) draw_between(s, f);
  draw_x_axis(s, f, c);
}

static double width_of(const char *name) {
  size_t letters = 0;
  for (const char *p = name; *p; p++) letters += ((unsigned char)*p & 0xC0) != 0x80;
  return 34 + 7.6 * (double)letters + 26;
}

/* Draws the legend in as many lines as the names take, and returns their number; s NULL: only counts them. */
static int draw_legend(svg *s, const palette *p, const chart *c) {
  double x = LEFT;
  int line = 0;
  for (size_t i = 0; i < c->count; i++) {
    double width = width_of(c->curves[i].name), y;
    if (x > LEFT && x + width > RIGHT + 26) {
      x = LEFT;
      line++;
    }
    y = 16 + LEGEND * line;
    if (s)
      fprintf(s->out,
              "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2.5\" "
              "stroke-dasharray=\"%s\"/>\n",
              x, y, x + 28, y, p->line[i], dashes[i]);
    if (s) svg_text(s, x + 34, y + 4, 13, SVG_START, p->ink, "", c->curves[i].name);
    x += width;
  }
  if (!c->left_out) return line + 1;
  char text[48];
  snprintf(text, sizeof text, "%zu more not drawn", c->left_out);
  if (x > LEFT && x + width_of(text) > RIGHT + 26) {
    x = LEFT;
    line++;
  }
  if (s) svg_text(s, x, 20 + LEGEND * line, 13, SVG_START, p->soft, "", text);
  return line + 1;
}

static void begin_piece(svg *s, const frame *f, size_t i) {
  fprintf(s->out,
          "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\" "
          "stroke-dasharray=\"%s\" points=\"",
          f->p->line[i], dashes[i]);
}

static void dot(svg *s, const frame *f, double x, double y, double radius, size_t i) {
  fprintf(s->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius, f->p->line[i]);
}

/* Draws a line in pieces: a point that is not there ends one. A piece of one point is a dot. */
static void draw_all(svg *s, const frame *f, const curve *c, size_t i) {
  size_t begin = 0;
  for (size_t j = 0; j <= c->count; j++) {
    if (j < c->count && !isnan(scaled(f->axis, c->y[j * c->stride]))) continue;
    if (j - begin > 1) begin_piece(s, f, i);
    for (size_t k = begin; k < j; k++) {
      double x = at_x(f, scaled(f->x_axis, c->x[k * c->stride])), y = at_y(f, scaled(f->axis, c->y[k * c->stride]));
      if (j - begin > 1)
        fprintf(s->out, "%.1f,%.1f ", x, y);
      else
        dot(s, f, x, y, 1.5, i);
    }
    if (j - begin > 1) fputs("\"/>\n", s->out);
    begin = j + 1;
  }
}

/* Finds where the smallest and the largest point of a part are, SIZE_MAX if there is none; returns 1 if one is
 * missing. */
static int part_ends(const frame *f, const curve *c, size_t part, size_t *low, size_t *high) {
  int gap = 0;
  *low = *high = SIZE_MAX;
  for (size_t j = part * c->count / PARTS; j < (part + 1) * c->count / PARTS; j++) {
    double y = scaled(f->axis, c->y[j * c->stride]);
    gap |= isnan(y);
    if (isnan(y)) continue;
    if (*low == SIZE_MAX || y < scaled(f->axis, c->y[*low * c->stride])) *low = j;
    if (*high == SIZE_MAX || y > scaled(f->axis, c->y[*high * c->stride])) *high = j;
  }
  return gap;
}

static void end_piece(svg *s, int *open) {
  if (*open) fputs("\"/>\n", s->out);
  *open = 0;
}

/* Draws the smallest and the largest point of each part, in their order. A part that lacks one is a line of its own. */
static void draw_thinned(svg *s, const frame *f, const curve *c, size_t i) {
  int open = 0;
  for (size_t part = 0; part < PARTS; part++) {
    size_t low, high;
    int gap = part_ends(f, c, part, &low, &high);
    if (gap) end_piece(s, &open);
    if (low == SIZE_MAX) continue;
    const size_t both[] = {low < high ? low : high, low < high ? high : low};
    if (!open) begin_piece(s, f, i);
    open = 1;
    for (int k = 0; k < (low == high && !gap ? 1 : 2); k++) {
      double wide = low == high && k ? 0.5 : 0; /* one point alone is seen, too */
      fprintf(s->out, "%.1f,%.1f ", at_x(f, scaled(f->x_axis, c->x[both[k] * c->stride])) + wide,
              at_y(f, scaled(f->axis, c->y[both[k] * c->stride])));
    }
    if (gap) end_piece(s, &open);
  }
  end_piece(s, &open);
}

static void draw_dots(svg *s, const frame *f, const curve *c, size_t i) {
  for (size_t j = 0; j < c->count; j++) {
    double y = scaled(f->axis, c->y[j * c->stride]);
    if (!isnan(y)) dot(s, f, at_x(f, scaled(f->x_axis, c->x[j * c->stride])), at_y(f, y), 3, i);
  }
}

static void draw_chart(svg *s, const frame *f, const chart *c) {
  draw_axes(s, f, c);
  (void)draw_legend(s, f->p, c);
  for (size_t i = 0; i < c->count; i++) {
    if (c->curves[i].count > 2 * PARTS)
      draw_thinned(s, f, &c->curves[i], i);
    else
      draw_all(s, f, &c->curves[i], i);
    if (c->curves[i].dots && c->curves[i].count <= 60) draw_dots(s, f, &c->curves[i], i);
  }
}

/* Returns the height of the drawing, 0 if there is nothing to draw. */
static int frame_of(frame *f, const chart *c, const palette *p) {
  if (c->count > CURVES_MAX || !find_frame(f, c)) return 0;
  widen(f);
  f->p = p;
  f->top = 20 + LEGEND * draw_legend(NULL, p, c);
  f->foot = f->top + PLOT;
  return (int)f->foot + 40;
}

void chart_draw(FILE *out, const chart *c) {
  svg s;
  frame f;
  int height = frame_of(&f, c, &palette_page);
  if (!height) return;
  page_begin_drawing(&s, out, c->id, WIDTH, height, c->title, c->text);
  draw_chart(&s, &f, c);
  page_end_drawing(&s);
}

int drawing_open(svg *s, int width, int height, const char *title) {
  int status = svg_open(s, width, height + TITLE, title);
  if (status != CLI_OK) return status;
  svg_text(s, LEFT, 24, 16, SVG_START, palette_file.ink, "font-weight=\"600\"", title);
  fprintf(s->out, "<g transform=\"translate(0,%d)\">\n", TITLE);
  return CLI_OK;
}

int chart_write(const char *path, const chart *c) {
  svg s;
  frame f;
  int height = frame_of(&f, c, &palette_file);
  if (!height) return CLI_OK;
  int status = drawing_open(&s, WIDTH, height, c->title);
  if (status != CLI_OK) return status;
  draw_chart(&s, &f, c);
  fputs("</g>\n", s.out);
  return svg_close(&s, path);
}
