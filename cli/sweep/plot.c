/* SPDX-License-Identifier: MIT */
/* Memory against accuracy: a point for each run, means, the baseline with the range of its seeds, what is accepted.
 * See sweep.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/draw/page.h"
#include "cli/draw/svg.h"
#include "cli/sweep/sweep.h"

enum { WIDTH = 960, HEIGHT = 460, LEFT = 60, RIGHT = 944, TOP = 66, FOOT = 396, ROOM = 30 };

/* In a file of its own colours are fixed; in the page they are the page's, for light and dark. */
typedef struct palette {
  const char *paper, *ink, *soft, *rule, *base, *mean;
} palette;
static const palette fixed = {"#ffffff", "#1b2430", "#566173", "#d5dbe4", "#8793a6", "#1f6fb8"};
static const palette paged = {"var(--paper)", "var(--ink)",    "var(--soft)",
                              "var(--rule)",  "var(--before)", "var(--after)"};

typedef struct axis {
  double low, high, step;
} axis;

typedef struct sweep_plot {
  svg canvas;
  const sweep_summary *z;
  const palette *c;
  int by, near;
  axis x, y;
} sweep_plot;

/* ---- coordinates ---- */

static double x_of(const sweep_plot *plot, const sweep_row *row) {
  return plot->by == SWEEP_BY_LOW ? row->low : plot->by == SWEEP_BY_STORED ? row->stored : (double)(row - plot->z->row);
}

static double x_of_run(const sweep_plot *plot, const sweep_run *run) {
  const sweep_row *base = &plot->z->row[0];
  double bytes = 0, whole = 0;
  if (plot->by == SWEEP_BY_LOW) return run->result.low;
  if (plot->by == SWEEP_BY_VALUE) return (double)((size_t)(run - plot->z->sweep->run) / plot->z->sweep->seeds);
  for (int i = 0; i < 4; i++) bytes += run->result.bytes[i];
  for (size_t k = 0; k < plot->z->sweep->seeds; k++)
    for (int i = 0; i < 4 && base->run[k].state == SWEEP_DONE; i++) whole += base->run[k].result.bytes[i];
  return bytes * (double)base->done / whole;
}

static const sweep_measure *measure_of(const sweep_summary *z) { return &sweep_measures[z->sweep->measure]; }

/* Turns figures of which less is better round, so that what is better stands higher. */
static double height_of(const sweep_summary *z, double figure) { return measure_of(z)->falls ? -figure : figure; }
static double y_of_run(const sweep_summary *z, const sweep_run *run) {
  return height_of(z, run->result.figure[z->sweep->measure][HU_ON_TEST]);
}
static double y_of(const sweep_plot *plot, const sweep_row *row) { return height_of(plot->z, row->mean); }

/* Returns the height that is still accepted. */
static double accepted_of(const sweep_summary *z) {
  return height_of(z, z->row[0].mean) - z->sweep->loss / measure_of(z)->points;
}

static double across(const sweep_plot *plot, double x) {
  return LEFT + ROOM + (RIGHT - LEFT - 2 * ROOM) * (x - plot->x.low) / (plot->x.high - plot->x.low);
}
static double down(const sweep_plot *plot, double y) {
  double z = FOOT - (FOOT - TOP) * (y - plot->y.low) / (plot->y.high - plot->y.low);
  return z > FOOT ? FOOT : z;
}

static int is_below(const sweep_plot *plot, double y) { return plot->near && y < plot->y.low; }

/* Where a second drawing begins: this far below the baseline nothing is compared any more. */
static double floor_of(const sweep_summary *z) {
  const sweep_row *b = &z->row[0];
  double points = measure_of(z)->points;
  double room = fmax(5 * z->sweep->loss / points, fmax(3 * (b->highest - b->lowest), 2 / points));
  return isfinite(b->mean) ? height_of(z, b->mean) - room : -INFINITY;
}

int sweep_has_far(const sweep_summary *z) {
  double limit = floor_of(z);
  for (size_t i = 1; i < z->rows; i++) {
    double worst = measure_of(z)->falls ? z->row[i].highest : z->row[i].lowest;
    if (z->row[i].done && height_of(z, worst) < limit) return 1;
  }
  return 0;
}

/* Steps of 1, 2 or 5 times a power of ten, some `count` of them. */
static void make_axis(axis *a, double low, double high, int count) {
  if (!(high > low)) {
    low -= 0.01;
    high += 0.01;
  }
  a->step = svg_nice_step(high - low, count);
  a->low = floor(low / a->step + 1e-9) * a->step;
  a->high = ceil(high / a->step - 1e-9) * a->step;
}

static void include(double *low, double *high, double x) {
  if (!isfinite(x)) return;
  *low = fmin(*low, x);
  *high = fmax(*high, x);
}

static void make_axes(sweep_plot *plot) {
  const sweep_summary *z = plot->z;
  double x[2] = {plot->by == SWEEP_BY_LOW ? 0 : 1, plot->by == SWEEP_BY_LOW ? 0.1 : 1}, y[2] = {INFINITY, -INFINITY};
  for (size_t i = 0; i < z->sweep->runs; i++) {
    const sweep_run *run = &z->sweep->run[i];
    if (run->state != SWEEP_DONE) continue;
    include(&x[0], &x[1], x_of_run(plot, run));
    if (!plot->near || y_of_run(z, run) >= floor_of(z)) include(&y[0], &y[1], y_of_run(z, run));
  }
  include(&y[0], &y[1], accepted_of(z));
  if (!isfinite(y[0])) y[0] = 0, y[1] = 1;
  double room = 0.06 * (y[1] - y[0]);
  if (plot->by == SWEEP_BY_VALUE) {
    plot->x = (axis){0.5, (double)z->rows - 0.5, 1};
  } else {
    make_axis(&plot->x, x[0], x[1], 8);
  }
  make_axis(&plot->y, y[0] - room, y[1] + room, 6);
}

/* ---- parts ---- */

/* Draws a circle of its own: those that let the paper through are darker where they overlap. */
static void circle(sweep_plot *plot, double x, double y, double radius, const char *fill, const char *more) {
  fprintf(plot->canvas.out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\"%s%s/>\n", x, y, radius, fill,
          *more ? " " : "", more);
}

static void line(sweep_plot *plot, double x1, double y1, double x2, double y2, const char *stroke, const char *dashes) {
  fprintf(plot->canvas.out,
          "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1.6\" "
          "stroke-dasharray=\"%s\"/>\n",
          x1, y1, x2, y2, stroke, dashes);
}

/* Draws what lies below the drawing: a triangle at its foot. */
static void triangle(sweep_plot *plot, double x, const char *fill, const char *more) {
  fprintf(plot->canvas.out, "<path d=\"M%.2f %d l6 -10 h-12 z\" fill=\"%s\"%s%s/>\n", x, FOOT, fill, *more ? " " : "",
          more);
}

static void draw_percents(sweep_plot *plot) {
  char text[32];
  for (int i = 0; plot->x.low + i * plot->x.step <= plot->x.high + 0.5 * plot->x.step; i++) {
    double value = plot->x.low + i * plot->x.step, x = across(plot, value);
    svg_tick(&plot->canvas, x, FOOT, x, FOOT + 5, plot->c->soft, 1);
    snprintf(text, sizeof text, "%.*f %%", plot->x.step < 0.0095 ? 1 : 0, 100 * value);
    svg_text(&plot->canvas, x, FOOT + 20, 12, SVG_MIDDLE, plot->c->soft, "", text);
  }
}

/* Names of the values under their places, as much of them as fits. */
static void draw_values(sweep_plot *plot) {
  double width = across(plot, 2) - across(plot, 1);
  int most = width < 500 ? (int)(width / 7.5) : 60;
  for (size_t i = 1; i < plot->z->rows; i++) {
    const char *value = sweep_shown(plot->z->row[i].value);
    char text[80];
    size_t length = strlen(value), shown = most > 3 ? (size_t)most - 1 : 2;
    int whole = length <= (size_t)(most > 0 ? most : 0) || length <= shown;
    snprintf(text, sizeof text, "%.*s%s", (int)(whole ? length : cli_whole_text(value, shown)), value,
             whole ? "" : "\xe2\x80\xa6");
    svg_text(&plot->canvas, across(plot, (double)i), FOOT + 20, 12, SVG_MIDDLE, plot->c->soft, "", text);
  }
}

static const char *across_text(const sweep_plot *plot) {
  if (plot->by == SWEEP_BY_VALUE) return plot->z->sweep->key;
  return plot->by == SWEEP_BY_LOW ? "share of low elements, mean over the steps" : "stored bytes, of binary32's";
}

static void draw_axes(sweep_plot *plot) {
  char text[64];
  const palette *c = plot->c;
  int places = plot->y.step < 0.00095 ? 4 : plot->y.step < 0.0095 ? 3 : 2;
  for (int i = 0; plot->y.low + i * plot->y.step <= plot->y.high + 0.5 * plot->y.step; i++) {
    double at = plot->y.low + i * plot->y.step, y = down(plot, at), value = height_of(plot->z, at);
    if (value == 0) value = 0; /* not -0 */
    svg_tick(&plot->canvas, LEFT, y, RIGHT, y, c->rule, 1);
    snprintf(text, sizeof text, fabs(value) < 1e4 ? "%.*f" : "%.*g", fabs(value) < 1e4 ? places : 3, value);
    svg_text(&plot->canvas, LEFT - 8, y + 4, 12, SVG_END, c->soft, "", text);
  }
  if (plot->by == SWEEP_BY_VALUE) {
    draw_values(plot);
  } else {
    draw_percents(plot);
  }
  svg_end_series(&plot->canvas);
  svg_line(&plot->canvas, LEFT, FOOT, RIGHT, FOOT, c->soft, 1);
  svg_text(&plot->canvas, (LEFT + RIGHT) / 2.0, FOOT + 44, 13, SVG_MIDDLE, c->ink, "", across_text(plot));
  snprintf(text, sizeof text, "%s, test set", plot->z->measure);
  svg_text(&plot->canvas, LEFT - 44, TOP - 16, 13, SVG_START, c->ink, "", text);
}

static void draw_baseline(sweep_plot *plot) {
  const sweep_row *b = &plot->z->row[0];
  if (!b->done || !isfinite(b->mean)) return;
  double one = down(plot, height_of(plot->z, b->highest)), other = down(plot, height_of(plot->z, b->lowest));
  double high = fmin(one, other), low = fmax(one, other), mean = down(plot, y_of(plot, b));
  double accepted = down(plot, accepted_of(plot->z));
  fprintf(plot->canvas.out,
          "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"0.22\"/>\n", LEFT, high,
          RIGHT - LEFT, low - high, plot->c->base);
  line(plot, LEFT, mean, RIGHT, mean, plot->c->base, "8 5");
  line(plot, LEFT, accepted, RIGHT, accepted, plot->c->ink, "1.5 4.5");
}

static void draw_run(sweep_plot *plot, const sweep_run *run) {
  double y = y_of_run(plot->z, run);
  if (run->state != SWEEP_DONE || !isfinite(y)) return;
  if (is_below(plot, y)) {
    triangle(plot, across(plot, x_of_run(plot, run)), plot->c->mean, "fill-opacity=\"0.35\"");
  } else {
    circle(plot, across(plot, x_of_run(plot, run)), down(plot, y), 3.2, plot->c->mean, "fill-opacity=\"0.4\"");
  }
}

static int is_drawn(const sweep_plot *plot, const sweep_row *row) {
  return row->done && isfinite(row->mean) && isfinite(x_of(plot, row));
}

/* A line joins values that are numbers; of assignments it passes by the others. */
static int is_lined(const sweep_plot *plot) {
  return sweep_is_numeric(plot->z->sweep) || sweep_has_assignments(plot->z->sweep);
}

static int is_other(const sweep_plot *plot, const sweep_row *row) {
  return sweep_has_assignments(plot->z->sweep) && !sweep_is_number(row->value);
}

static void diamond(sweep_plot *plot, double x, double y) {
  fprintf(plot->canvas.out, "<path d=\"M%.2f %.2f l6.5 6.5 l-6.5 6.5 l-6.5 -6.5 z\" fill=\"%s\"/>\n", x, y - 6.5,
          plot->c->ink);
}

/* From value to value in their order, where they are numbers. */
static void draw_mean_line(sweep_plot *plot) {
  int pen = 0, any = 0;
  if (!is_lined(plot)) return;
  fputs("<path d=\"", plot->canvas.out);
  for (size_t i = 1; i < plot->z->rows; i++) {
    const sweep_row *row = &plot->z->row[i];
    if (!is_drawn(plot, row) || is_other(plot, row)) continue;
    if (is_below(plot, y_of(plot, row))) {
      pen = 0;
      continue;
    }
    any = 1;
    fprintf(plot->canvas.out, "%s%.2f %.2f", pen ? " L" : " M", across(plot, x_of(plot, row)),
            down(plot, y_of(plot, row)));
    pen = 1;
  }
  if (!any) fprintf(plot->canvas.out, "M%d %d", LEFT, FOOT);
  fprintf(plot->canvas.out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n",
          plot->c->mean);
}

static void draw_mean(sweep_plot *plot, const sweep_row *row) {
  double x = across(plot, x_of(plot, row)), y = down(plot, y_of(plot, row));
  char ring[96];
  if (row == plot->z->best) {
    snprintf(ring, sizeof ring, "stroke=\"%s\" stroke-width=\"2\"", plot->c->ink);
    circle(plot, x, y, 9.5, "none", ring);
  }
  if (is_below(plot, y_of(plot, row))) {
    triangle(plot, x, plot->c->mean, "");
  } else if (is_other(plot, row)) {
    diamond(plot, x, y);
  } else {
    circle(plot, x, y, 5, plot->c->mean, "");
  }
}

/* ---- names of the values: one text for points that overlap ---- */

enum { NAMES_MAX = 96 };

static int overlap(const sweep_plot *plot, const sweep_row *a, const sweep_row *b) {
  return hypot(across(plot, x_of(plot, a)) - across(plot, x_of(plot, b)),
               down(plot, y_of(plot, a)) - down(plot, y_of(plot, b))) < 8;
}

static size_t add_name(char text[NAMES_MAX], size_t n, const char *between, const char *name) {
  int more = n < NAMES_MAX ? snprintf(text + n, NAMES_MAX - n, "%s%s", between, name) : 0;
  if (more > 0) text[cli_whole_text(text, strlen(text))] = 0;
  return n + (size_t)(more < 0 ? 0 : more);
}

/* "0.5", "0.5, s2fp8", or where numbers follow each other "0.1 ... 0.4". said[i]: the value is in a text already. */
static void names_at(const sweep_plot *plot, size_t at, char *said, char text[NAMES_MAX]) {
  const sweep_row *row = plot->z->row;
  size_t last = at, count = 1, n = add_name(text, 0, "", row[at].value);
  for (size_t i = at + 1; i < plot->z->rows; i++) {
    if (said[i] || !is_drawn(plot, &row[i]) || !overlap(plot, &row[i], &row[at])) continue;
    said[i] = 1;
    n = add_name(text, n, ", ", row[i].value);
    last = i;
    count++;
  }
  if (count < 3 || last - at + 1 != count) return;
  for (size_t i = at; i <= last; i++) {
    if (!sweep_is_number(row[i].value)) return;
  }
  n = add_name(text, 0, "", row[at].value);
  add_name(text, n, " \xe2\x80\xa6 ", row[last].value);
}

typedef struct box {
  double x, y, half_width, half_height;
} box;

typedef struct boxes {
  box *list;
  size_t count;
} boxes;

static void add_box(boxes *z, box b) { z->list[z->count++] = b; }

static int is_free(const boxes *z, box b) {
  for (size_t i = 0; i < z->count; i++) {
    const box *c = &z->list[i];
    if (fabs(c->x - b.x) < c->half_width + b.half_width + 2 && fabs(c->y - b.y) < c->half_height + b.half_height)
      return 0;
  }
  return b.x - b.half_width > LEFT && b.x + b.half_width < RIGHT && b.y > TOP - 8 && b.y < FOOT - 4;
}

/* Where a name may stand, seen from its point: above, below, beside it; then further off, up and down beside it, with a
 * line to it. Away from the line of means where there is one. x in half widths of the name. */
typedef struct place {
  double x, y;
  int leads; /* 1: with a line */
} place;
enum { NEAR = 4, FAR = 24, PLACES = NEAR + FAR };

static size_t places_of(place z[PLACES], int lined) {
  static const place beside[NEAR] = {{0, -18, 0}, {0, 19, 0}, {1, 0, 0}, {-1, 0, 0}},
                     along[NEAR] = {{0, -18, 0}, {0, 19, 0}, {0, -38, 0}, {0, 38, 0}};
  memcpy(z, lined ? along : beside, sizeof beside);
  for (int i = 0; i < FAR; i++) { /* one row further up and down at each turn, on either side */
    double down = 16.0 * (i / 4 + 1);
    z[NEAR + i] = (place){i & 1 ? -1 : 1, i & 2 ? down : -down, 1};
  }
  return PLACES;
}

/* Writes the name at its place, and draws the line to the point's edge where it leads. */
static void put_name(sweep_plot *plot, const box *b, const place *at, double x, double y, const char *text) {
  char more[128];
  snprintf(more, sizeof more, "stroke=\"%s\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
           plot->c->paper);
  if (at->leads) svg_line(&plot->canvas, b->x - at->x * (b->half_width + 1), b->y, x + 5 * at->x, y, plot->c->soft, 1);
  svg_text(&plot->canvas, b->x, b->y + 4, 12, SVG_MIDDLE, plot->c->ink, more, text);
}

/* At the first place that is free; over a seed's point only if there is no other one. */
static void draw_name(sweep_plot *plot, const sweep_row *row, const char *text, boxes *taken, const boxes *seeds) {
  place places[PLACES];
  size_t count = places_of(places, is_lined(plot));
  double half = 3.7 * (double)strlen(text), x = across(plot, x_of(plot, row)), y = down(plot, y_of(plot, row));
  for (size_t i = 0; i < 2 * count; i++) {
    const place *at = &places[i % count];
    double gap = at->leads ? 24 : 13;
    box b = {x + at->x * (half + gap), y + at->y, half, 7};
    if (!is_free(taken, b) || (i < count && !is_free(seeds, b))) continue;
    add_box(taken, b);
    put_name(plot, &b, at, x, y, text);
    return;
  }
}

static void find_points(const sweep_plot *plot, boxes *means, boxes *seeds) {
  for (size_t i = 1; i < plot->z->rows; i++) {
    const sweep_row *row = &plot->z->row[i];
    if (!is_drawn(plot, row)) continue;
    double half = row == plot->z->best ? 10.5 : 8; /* with the ring */
    add_box(means, (box){across(plot, x_of(plot, row)), down(plot, y_of(plot, row)), half, half});
    for (size_t k = 0; k < plot->z->sweep->seeds; k++) {
      const sweep_run *x = &row->run[k];
      if (x->state == SWEEP_DONE)
        add_box(seeds, (box){across(plot, x_of_run(plot, x)), down(plot, y_of_run(plot->z, x)), 3, 3});
    }
  }
}

static void draw_names(sweep_plot *plot) {
  char text[NAMES_MAX], *said = calloc(plot->z->rows, 1);
  boxes taken = {calloc(2 * plot->z->rows, sizeof *taken.list), 0}; /* means, and names so far */
  boxes seeds = {calloc(plot->z->sweep->runs, sizeof *seeds.list), 0};
  int good = said && taken.list && seeds.list;
  if (good) find_points(plot, &taken, &seeds);
  for (size_t i = 1; i < plot->z->rows && good; i++) {
    const sweep_row *row = &plot->z->row[i];
    if (said[i] || !is_drawn(plot, row)) continue;
    names_at(plot, i, said, text);
    draw_name(plot, row, text, &taken, &seeds);
  }
  free(said);
  free(taken.list);
  free(seeds.list);
}

/* ---- the whole ---- */

/* What the points and the band are; with one seed a mean is that seed's result, and there is no range. */
static void draw_legend(sweep_plot *plot) {
  char text[96];
  double y = 20;
  size_t seeds = plot->z->sweep->seeds;
  svg_line(&plot->canvas, 16, y - 4, 44, y - 4, plot->c->mean, 2);
  circle(plot, 30, y - 4, 5, plot->c->mean, "");
  if (seeds == 1) {
    svg_text(&plot->canvas, 52, y, 13, SVG_START, plot->c->ink, "", "result of the one seed");
  } else {
    snprintf(text, sizeof text, "mean of %zu seeds", seeds);
    svg_text(&plot->canvas, 52, y, 13, SVG_START, plot->c->ink, "", text);
    circle(plot, 190, y - 4, 3.2, plot->c->mean, "fill-opacity=\"0.4\"");
    svg_text(&plot->canvas, 202, y, 13, SVG_START, plot->c->ink, "", "one seed");
  }
  fprintf(plot->canvas.out,
          "<rect x=\"290\" y=\"%.1f\" width=\"30\" height=\"14\" fill=\"%s\" fill-opacity=\"0.22\"/>\n", y - 11,
          plot->c->base);
  line(plot, 290, y - 4, 320, y - 4, plot->c->base, "8 5");
  svg_text(&plot->canvas, 328, y, 13, SVG_START, plot->c->ink, "",
           seeds == 1 ? "binary32" : "binary32: mean, range of seeds");
  line(plot, 566, y - 4, 596, y - 4, plot->c->ink, "1.5 4.5");
  snprintf(text, sizeof text, "accepted: %g %s %s", plot->z->sweep->loss,
           plot->z->sweep->loss == 1 ? "point" : "points", measure_of(plot->z)->falls ? "more" : "less");
  svg_text(&plot->canvas, 604, y, 13, SVG_START, plot->c->ink, "", text);
  if (plot->z->best) {
    char ring[96];
    snprintf(ring, sizeof ring, "stroke=\"%s\" stroke-width=\"2\"", plot->c->ink);
    circle(plot, 796, y - 4, 7, "none", ring);
    svg_text(&plot->canvas, 810, y, 13, SVG_START, plot->c->ink, "", "recommended");
  }
}

static void draw(sweep_plot *plot) {
  make_axes(plot);
  draw_legend(plot);
  draw_axes(plot);
  draw_baseline(plot);
  draw_mean_line(plot);
  for (size_t i = plot->z->sweep->seeds; i < plot->z->sweep->runs; i++) draw_run(plot, &plot->z->sweep->run[i]);
  for (size_t i = 1; i < plot->z->rows; i++) {
    if (is_drawn(plot, &plot->z->row[i])) draw_mean(plot, &plot->z->row[i]);
  }
  if (plot->by != SWEEP_BY_VALUE) draw_names(plot);
}

static const char *title_of(char text[160], const sweep_summary *z, int by) {
  static const char *const against[] = {" against the share of low elements", " against stored bytes", ""};
  snprintf(text, 160, "%s%s, for values of %.80s", z->measure, against[by], z->sweep->key);
  return text;
}

int sweep_plot_write(const char *path, const sweep_summary *z, int by) {
  sweep_plot plot = {.z = z, .c = &fixed, .by = by, .near = sweep_has_far(z)};
  char title[160];
  if (svg_open(&plot.canvas, WIDTH, HEIGHT, title_of(title, z, by))) return CLI_BAD;
  draw(&plot);
  return svg_close(&plot.canvas, path);
}

void sweep_plot_part(FILE *out, const char *id, const sweep_summary *z, int by, int near) {
  sweep_plot plot = {.z = z, .c = &paged, .by = by, .near = near};
  char title[160];
  page_begin_drawing(
      &plot.canvas, out, id, WIDTH, HEIGHT, title_of(title, z, by),
      z->sweep->seeds == 1
          ? "A point for each value, and the baseline in binary32."
          : "A point for each run, the mean of each value, and the baseline in binary32 with the range of its seeds.");
  draw(&plot);
  page_end_drawing(&plot.canvas);
}
