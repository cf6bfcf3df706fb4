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
  const palette *colours;
} frame;

/* Returns y on the axis's scale; NaN if it has no place there. */
static double scaled(enum curve_axis axis, double y) {
  if (!isfinite(y) || (axis != CURVE_LINEAR && y <= 0)) return (double)NAN;
  return axis == CURVE_LOG10 ? log10(y) : axis == CURVE_LOG2 ? log2(y) : y;
}

static int find_range(frame *axes, const chart *figure) {
  axes->x0 = axes->x_axis == CURVE_LINEAR ? 0 : HUGE_VAL; /* steps begin at 0 */
  axes->y0 = HUGE_VAL;
  axes->x1 = axes->y1 = -HUGE_VAL;
  for (size_t i = 0; i < figure->count; i++)
    for (size_t j = 0; j < figure->curves[i].count; j++) {
      double x = scaled(axes->x_axis, figure->curves[i].x[j * figure->curves[i].stride]);
      double y = scaled(axes->axis, figure->curves[i].y[j * figure->curves[i].stride]);
      if (isnan(x) || isnan(y)) continue;
      axes->x0 = fmin(axes->x0, x);
      axes->x1 = fmax(axes->x1, x);
      axes->y0 = fmin(axes->y0, y);
      axes->y1 = fmax(axes->y1, y);
    }
  return axes->x0 <= axes->x1;
}

/* Finds the ends of both axes. Powers of ten require more than one of them. */
static int find_frame(frame *axes, const chart *figure) {
  *axes = (frame){figure->axis, figure->x_axis, 0, 0, 0, 0, 0, 0, &palette_page};
  int found = find_range(axes, figure);
  if (!found || axes->axis != CURVE_LOG10 || axes->y1 - axes->y0 > 1) return found;
  axes->axis = CURVE_LINEAR;
  return find_range(axes, figure);
}

int chart_has_points(const chart *figure) {
  frame axes;
  return find_frame(&axes, figure);
}

/* Widens the axes at both ends; a single value gets an axis, too. */
static void widen(frame *axes) {
  if (axes->x0 == axes->x1) axes->x1 = axes->x0 + 1;
  if (axes->axis == CURVE_LINEAR && axes->y0 > 0 && axes->y0 < 0.4 * axes->y1) axes->y0 = 0;
  double range = axes->y1 - axes->y0, least = axes->axis == CURVE_LINEAR ? 1e-3 * fmax(fabs(axes->y1), 1e-3) : 1;
  double pad = range < least ? least : 0.04 * range;
  if (axes->y0 != 0 || axes->axis != CURVE_LINEAR) axes->y0 -= pad;
  axes->y1 += pad;
}

/* Return the position of a number on its axis's scale, in the drawing. */
static double at_x(const frame *axes, double x) {
  return LEFT + (RIGHT - LEFT) * (x - axes->x0) / (axes->x1 - axes->x0);
}
static double at_y(const frame *axes, double y) {
  return axes->foot - (axes->foot - axes->top) * (y - axes->y0) / (axes->y1 - axes->y0);
}

/* Writes ten to the power k, as a power where it is far from 1. */
static void ten(svg *image, const frame *axes, double y, int k) {
  char text[32];
  snprintf(text, sizeof text, k >= -3 && k <= 4 ? "%g" : "1e%g", k >= -3 && k <= 4 ? pow(10, k) : k);
  svg_text(image, LEFT - 8, y + 4, 12, SVG_END, axes->colours->soft, "", text);
}

static void label(svg *image, const frame *axes, double tick, double y) {
  char text[NUMBER_TEXT_MAX];
  if (axes->axis == CURVE_LOG2) {
    svg_power(image, LEFT - 24, y + 4, 12, axes->colours->soft, axes->colours->paper, (int)tick);
  } else if (axes->axis == CURVE_LOG10) {
    ten(image, axes, y, (int)tick);
  } else {
    number_rounded(text, fabs(tick) < 1e-12 ? 0 : tick, 6);
    svg_text(image, LEFT - 8, y + 4, 12, SVG_END, axes->colours->soft, "", text);
  }
}

static void draw_x_axis(svg *image, const frame *axes, const chart *figure) {
  char text[NUMBER_TEXT_MAX];
  double across = svg_nice_step(axes->x1 - axes->x0, 8);
  if (across < 1) across = 1;
  for (double tick = ceil(axes->x0 / across) * across; tick <= axes->x1; tick += across) {
    double x = at_x(axes, tick);
    svg_tick(image, x, axes->foot, x, axes->foot + 5, axes->colours->soft, 1);
    number_rounded(text, axes->x_axis == CURVE_LOG10 ? pow(10, tick) : tick, 10);
    if (axes->x_axis == CURVE_LOG2)
      svg_power(image, x, axes->foot + 20, 12, axes->colours->soft, axes->colours->paper, (int)tick);
    else
      svg_text(image, x, axes->foot + 20, 12, SVG_MIDDLE, axes->colours->soft, "", text);
  }
  svg_end_series(image);
  svg_line(image, LEFT, axes->foot, RIGHT, axes->foot, axes->colours->soft, 1);
  svg_text(image, RIGHT, axes->foot + 36, 12, SVG_END, axes->colours->soft, "",
           figure->x_name ? figure->x_name : "step");
  if (figure->y_name) svg_text(image, LEFT, axes->foot + 36, 12, SVG_START, axes->colours->soft, "", figure->y_name);
}

static void rule(svg *image, const frame *axes, double tick) {
  svg_tick(image, LEFT, at_y(axes, tick), RIGHT, at_y(axes, tick), axes->colours->rule, 1);
}

/* Draws lines at 2 and 5 times powers of ten, where there are few of these. */
static void draw_between(svg *image, const frame *axes) {
  static const double times[] = {2, 5};
  for (double k = floor(axes->y0); k <= axes->y1; k++)
    for (int i = 0; i < 2; i++) {
      char text[NUMBER_TEXT_MAX];
      double tick = k + log10(times[i]);
      if (tick < axes->y0 || tick > axes->y1) continue;
      rule(image, axes, tick);
      number_rounded(text, times[i] * pow(10, k), 3);
      svg_text(image, LEFT - 8, at_y(axes, tick) + 4, 12, SVG_END, axes->colours->soft, "", text);
    }
}

static void draw_axes(svg *image, const frame *axes, const chart *figure) {
  double step = svg_nice_step(axes->y1 - axes->y0, 5);
  if (axes->axis != CURVE_LINEAR) step = fmax(1, ceil(step));
  for (double tick = ceil(axes->y0 / step) * step; tick <= axes->y1; tick += step) {
    rule(image, axes, tick);
    label(image, axes, tick, at_y(axes, tick));
  }
  if (axes->axis == CURVE_LOG10 && axes->y1 - axes->y0 < 2.5) draw_between(image, axes);
  draw_x_axis(image, axes, figure);
}

static double width_of(const char *name) {
  size_t letters = 0;
  for (const char *at = name; *at; at++) letters += ((unsigned char)*at & 0xC0) != 0x80;
  return 34 + 7.6 * (double)letters + 26;
}

/* Draws the legend in as many lines as the names take, and returns their number; image NULL: only counts them. */
static int draw_legend(svg *image, const palette *colours, const chart *figure) {
  double x = LEFT;
  int line = 0;
  for (size_t i = 0; i < figure->count; i++) {
    double width = width_of(figure->curves[i].name), y;
    if (x > LEFT && x + width > RIGHT + 26) {
      x = LEFT;
      line++;
    }
    y = 16 + LEGEND * line;
    if (image)
      fprintf(image->out,
              "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2.5\" "
              "stroke-dasharray=\"%s\"/>\n",
              x, y, x + 28, y, colours->line[i], dashes[i]);
    if (image) svg_text(image, x + 34, y + 4, 13, SVG_START, colours->ink, "", figure->curves[i].name);
    x += width;
  }
  if (!figure->left_out) return line + 1;
  char text[48];
  snprintf(text, sizeof text, "%zu more not drawn", figure->left_out);
  if (x > LEFT && x + width_of(text) > RIGHT + 26) {
    x = LEFT;
    line++;
  }
  if (image) svg_text(image, x, 20 + LEGEND * line, 13, SVG_START, colours->soft, "", text);
  return line + 1;
}

static void begin_piece(svg *image, const frame *axes, size_t i) {
  fprintf(image->out,
          "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\" "
          "stroke-dasharray=\"%s\" points=\"",
          axes->colours->line[i], dashes[i]);
}

/* Draws a line in pieces: a point that is not there ends one. A piece of one point is a dot. */
static void draw_all(svg *image, const frame *axes, const curve *line, size_t i) {
  size_t begin = 0;
  for (size_t j = 0; j <= line->count; j++) {
    if (j < line->count && !isnan(scaled(axes->axis, line->y[j * line->stride]))) continue;
    if (j - begin > 1) begin_piece(image, axes, i);
    for (size_t k = begin; k < j; k++) {
      double x = at_x(axes, scaled(axes->x_axis, line->x[k * line->stride])),
             y = at_y(axes, scaled(axes->axis, line->y[k * line->stride]));
      if (j - begin > 1)
        fprintf(image->out, "%.1f,%.1f ", x, y);
      else
        svg_dot(image, x, y, 1.5, axes->colours->line[i]);
    }
    if (j - begin > 1) fputs("\"/>\n", image->out);
    begin = j + 1;
  }
}

/* Finds where the smallest and the largest point of a part are, SIZE_MAX if there is none; returns 1 if one is
 * missing. */
static int part_ends(const frame *axes, const curve *line, size_t part, size_t *low, size_t *high) {
  int gap = 0;
  *low = *high = SIZE_MAX;
  for (size_t j = part * line->count / PARTS; j < (part + 1) * line->count / PARTS; j++) {
    double y = scaled(axes->axis, line->y[j * line->stride]);
    gap |= isnan(y);
    if (isnan(y)) continue;
    if (*low == SIZE_MAX || y < scaled(axes->axis, line->y[*low * line->stride])) *low = j;
    if (*high == SIZE_MAX || y > scaled(axes->axis, line->y[*high * line->stride])) *high = j;
  }
  return gap;
}

static void end_piece(svg *image, int *open) {
  if (*open) fputs("\"/>\n", image->out);
  *open = 0;
}

/* Draws the smallest and the largest point of each part, in their order. A part that lacks one is a line of its own. */
static void draw_thinned(svg *image, const frame *axes, const curve *line, size_t i) {
  int open = 0;
  for (size_t part = 0; part < PARTS; part++) {
    size_t low, high;
    int gap = part_ends(axes, line, part, &low, &high);
    if (gap) end_piece(image, &open);
    if (low == SIZE_MAX) continue;
    const size_t both[] = {low < high ? low : high, low < high ? high : low};
    if (!open) begin_piece(image, axes, i);
    open = 1;
    for (int k = 0; k < (low == high && !gap ? 1 : 2); k++) {
      double wide = low == high && k ? 0.5 : 0; /* one point alone is seen, too */
      fprintf(image->out, "%.1f,%.1f ", at_x(axes, scaled(axes->x_axis, line->x[both[k] * line->stride])) + wide,
              at_y(axes, scaled(axes->axis, line->y[both[k] * line->stride])));
    }
    if (gap) end_piece(image, &open);
  }
  end_piece(image, &open);
}

static void draw_dots(svg *image, const frame *axes, const curve *line, size_t i) {
  for (size_t j = 0; j < line->count; j++) {
    double y = scaled(axes->axis, line->y[j * line->stride]);
    if (isnan(y)) continue;
    svg_dot(image, at_x(axes, scaled(axes->x_axis, line->x[j * line->stride])), at_y(axes, y), 3,
            axes->colours->line[i]);
  }
}

static void draw_chart(svg *image, const frame *axes, const chart *figure) {
  draw_axes(image, axes, figure);
  (void)draw_legend(image, axes->colours, figure);
  for (size_t i = 0; i < figure->count; i++) {
    if (figure->curves[i].count > 2 * PARTS)
      draw_thinned(image, axes, &figure->curves[i], i);
    else
      draw_all(image, axes, &figure->curves[i], i);
    if (figure->curves[i].dots && figure->curves[i].count <= 60) draw_dots(image, axes, &figure->curves[i], i);
    svg_end_series(image);
  }
}

/* Returns the height of the drawing, 0 if there is nothing to draw. */
static int frame_of(frame *axes, const chart *figure, const palette *colours) {
  if (figure->count > CURVES_MAX || !find_frame(axes, figure)) return 0;
  widen(axes);
  axes->colours = colours;
  axes->top = 20 + LEGEND * draw_legend(NULL, colours, figure);
  axes->foot = axes->top + PLOT;
  return (int)axes->foot + 40;
}

void chart_draw(FILE *out, const chart *figure) {
  svg image;
  frame axes;
  int height = frame_of(&axes, figure, &palette_page);
  if (!height) return;
  page_begin_drawing(&image, out, figure->id, WIDTH, height, figure->title, figure->text);
  draw_chart(&image, &axes, figure);
  page_end_drawing(&image);
}

int drawing_open(svg *image, int width, int height, const char *title) {
  int status = svg_open(image, width, height + TITLE, title);
  if (status != CLI_OK) return status;
  svg_text(image, LEFT, 24, 16, SVG_START, palette_file.ink, "font-weight=\"600\"", title);
  fprintf(image->out, "<g transform=\"translate(0,%d)\">\n", TITLE);
  return CLI_OK;
}

int chart_write(const char *path, const chart *figure) {
  svg image;
  frame axes;
  int height = frame_of(&axes, figure, &palette_file);
  if (!height) return CLI_OK;
  int status = drawing_open(&image, WIDTH, height, figure->title);
  if (status != CLI_OK) return status;
  draw_chart(&image, &axes, figure);
  fputs("</g>\n", image.out);
  return svg_close(&image, path);
}
