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

typedef struct plot {
  svg s;
  const sweep_summary *z;
  const palette *c;
  int by, near;
  axis x, y;
} plot;

/* ---- coordinates ---- */

static double x_of(const plot *p, const sweep_row *r) {
  return p->by == SWEEP_BY_LOW ? r->low : p->by == SWEEP_BY_STORED ? r->stored : (double)(r - p->z->row);
}

static double x_of_run(const plot *p, const sweep_run *r) {
  const sweep_row *base = &p->z->row[0];
  double bytes = 0, whole = 0;
  if (p->by == SWEEP_BY_LOW) return r->result.low;
  if (p->by == SWEEP_BY_VALUE) return (double)((size_t)(r - p->z->sweep->run) / p->z->sweep->seeds);
  for (int i = 0; i < 4; i++) bytes += r->result.bytes[i];
  for (size_t k = 0; k < p->z->sweep->seeds; k++)
    for (int i = 0; i < 4 && base->run[k].state == SWEEP_DONE; i++) whole += base->run[k].result.bytes[i];
  return bytes * (double)base->done / whole;
}

static double y_of_run(const sweep_run *r) { return r->result.accuracy[HU_ON_TEST]; }

static double across(const plot *p, double x) {
  return LEFT + ROOM + (RIGHT - LEFT - 2 * ROOM) * (x - p->x.low) / (p->x.high - p->x.low);
}
static double down(const plot *p, double y) {
  double z = FOOT - (FOOT - TOP) * (y - p->y.low) / (p->y.high - p->y.low);
  return z > FOOT ? FOOT : z;
}

static int is_below(const plot *p, double y) { return p->near && y < p->y.low; }

/* Where a second drawing begins: this far below the baseline nothing is compared any more. */
static double floor_of(const sweep_summary *z) {
  const sweep_row *b = &z->row[0];
  double room = fmax(5 * z->sweep->loss / 100, fmax(3 * (b->highest - b->lowest), 0.02));
  return isfinite(b->accuracy) ? b->accuracy - room : -INFINITY;
}

int sweep_has_far(const sweep_summary *z) {
  double limit = floor_of(z);
  for (size_t i = 1; i < z->rows; i++) {
    if (z->row[i].done && z->row[i].lowest < limit) return 1;
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

static void make_axes(plot *p) {
  const sweep_summary *z = p->z;
  const sweep_row *b = &z->row[0];
  double x[2] = {p->by == SWEEP_BY_LOW ? 0 : 1, p->by == SWEEP_BY_LOW ? 0.1 : 1}, y[2] = {INFINITY, -INFINITY};
  for (size_t i = 0; i < z->sweep->runs; i++) {
    const sweep_run *r = &z->sweep->run[i];
    if (r->state != SWEEP_DONE) continue;
    include(&x[0], &x[1], x_of_run(p, r));
    if (!p->near || y_of_run(r) >= floor_of(z)) include(&y[0], &y[1], y_of_run(r));
  }
  include(&y[0], &y[1], b->accuracy - z->sweep->loss / 100);
  if (!isfinite(y[0])) y[0] = 0, y[1] = 1;
  double room = 0.06 * (y[1] - y[0]);
  if (p->by == SWEEP_BY_VALUE) {
    p->x = (axis){0.5, (double)z->rows - 0.5, 1};
  } else {
    make_axis(&p->x, x[0], x[1], 8);
  }
  make_axis(&p->y, y[0] - room, y[1] + room, 6);
}

/* ---- parts ---- */

static void circle(plot *p, double x, double y, double r, const char *fill, const char *more) {
  fprintf(p->s.out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\"%s%s/>\n", x, y, r, fill, *more ? " " : "",
          more);
}

static void line(plot *p, double x1, double y1, double x2, double y2, const char *stroke, const char *dashes) {
  fprintf(p->s.out,
          "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" stroke-width=\"1.6\" "
          "stroke-dasharray=\"%s\"/>\n",
          x1, y1, x2, y2, stroke, dashes);
}

/* Below the drawing: a triangle at its foot. */
static void triangle(plot *p, double x, const char *fill, const char *more) {
  fprintf(p->s.out, "<path d=\"M%.2f %d l6 -10 h-12 z\" fill=\"%s\"%s%s/>\n", x, FOOT, fill, *more ? " " : "", more);
}

static void draw_percents(plot *p) {
  char text[32];
  for (int i = 0; p->x.low + i * p->x.step <= p->x.high + 0.5 * p->x.step; i++) {
    double v = p->x.low + i * p->x.step, x = across(p, v);
    svg_line(&p->s, x, FOOT, x, FOOT + 5, p->c->soft, 1);
    snprintf(text, sizeof text, "%.*f %%", p->x.step < 0.0095 ? 1 : 0, 100 * v);
    svg_text(&p->s, x, FOOT + 20, 12, SVG_MIDDLE, p->c->soft, "", text);
  }
}

/* Names of the values under their places, as much of them as fits. */
static void draw_values(plot *p) {
  double width = across(p, 2) - across(p, 1);
  int most = width < 500 ? (int)(width / 7.5) : 60;
  for (size_t i = 1; i < p->z->rows; i++) {
    const char *value = p->z->row[i].value;
    char text[80];
    size_t length = strlen(value), shown = most > 3 ? (size_t)most - 1 : 2;
    int whole = length <= (size_t)(most > 0 ? most : 0) || length <= shown;
    snprintf(text, sizeof text, "%.*s%s", (int)(whole ? length : cli_whole_text(value, shown)), value,
             whole ? "" : "\xe2\x80\xa6");
    svg_text(&p->s, across(p, (double)i), FOOT + 20, 12, SVG_MIDDLE, p->c->soft, "", text);
  }
}

static const char *across_text(const plot *p) {
  if (p->by == SWEEP_BY_VALUE) return p->z->sweep->key;
  return p->by == SWEEP_BY_LOW ? "share of low elements, mean over the steps" : "stored bytes, of binary32's";
}

static void draw_axes(plot *p) {
  char text[64];
  const palette *c = p->c;
  int places = p->y.step < 0.00095 ? 4 : p->y.step < 0.0095 ? 3 : 2;
  for (int i = 0; p->y.low + i * p->y.step <= p->y.high + 0.5 * p->y.step; i++) {
    double v = p->y.low + i * p->y.step, y = down(p, v);
    svg_line(&p->s, LEFT, y, RIGHT, y, c->rule, 1);
    snprintf(text, sizeof text, fabs(v) < 1e4 ? "%.*f" : "%.*g", fabs(v) < 1e4 ? places : 3, v);
    svg_text(&p->s, LEFT - 8, y + 4, 12, SVG_END, c->soft, "", text);
  }
  if (p->by == SWEEP_BY_VALUE) {
    draw_values(p);
  } else {
    draw_percents(p);
  }
  svg_line(&p->s, LEFT, FOOT, RIGHT, FOOT, c->soft, 1);
  svg_text(&p->s, (LEFT + RIGHT) / 2.0, FOOT + 44, 13, SVG_MIDDLE, c->ink, "", across_text(p));
  snprintf(text, sizeof text, "%s, test set", p->z->measure);
  svg_text(&p->s, LEFT - 44, TOP - 16, 13, SVG_START, c->ink, "", text);
}

static void draw_baseline(plot *p) {
  const sweep_row *b = &p->z->row[0];
  if (!b->done || !isfinite(b->accuracy)) return;
  double high = down(p, b->highest), low = down(p, b->lowest), mean = down(p, b->accuracy);
  double accepted = down(p, b->accuracy - p->z->sweep->loss / 100);
  fprintf(p->s.out, "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"0.22\"/>\n",
          LEFT, high, RIGHT - LEFT, low - high, p->c->base);
  line(p, LEFT, mean, RIGHT, mean, p->c->base, "8 5");
  line(p, LEFT, accepted, RIGHT, accepted, p->c->ink, "1.5 4.5");
}

static void draw_run(plot *p, const sweep_run *r) {
  double y = y_of_run(r);
  if (r->state != SWEEP_DONE || !isfinite(y)) return;
  if (is_below(p, y)) {
    triangle(p, across(p, x_of_run(p, r)), p->c->mean, "fill-opacity=\"0.35\"");
  } else {
    circle(p, across(p, x_of_run(p, r)), down(p, y), 3.2, p->c->mean, "fill-opacity=\"0.4\"");
  }
}

static int is_drawn(const plot *p, const sweep_row *r) {
  return r->done && isfinite(r->accuracy) && isfinite(x_of(p, r));
}

/* A line joins values that are numbers; of assignments it passes by the others. */
static int is_lined(const plot *p) { return sweep_is_numeric(p->z->sweep) || sweep_has_assignments(p->z->sweep); }

static int is_other(const plot *p, const sweep_row *r) {
  return sweep_has_assignments(p->z->sweep) && !sweep_is_number(r->value);
}

static void diamond(plot *p, double x, double y) {
  fprintf(p->s.out, "<path d=\"M%.2f %.2f l6.5 6.5 l-6.5 6.5 l-6.5 -6.5 z\" fill=\"%s\"/>\n", x, y - 6.5, p->c->ink);
}

/* From value to value in their order, where they are numbers. */
static void draw_mean_line(plot *p) {
  int pen = 0, any = 0;
  if (!is_lined(p)) return;
  fputs("<path d=\"", p->s.out);
  for (size_t i = 1; i < p->z->rows; i++) {
    const sweep_row *r = &p->z->row[i];
    if (!is_drawn(p, r) || is_other(p, r)) continue;
    if (is_below(p, r->accuracy)) {
      pen = 0;
      continue;
    }
    any = 1;
    fprintf(p->s.out, "%s%.2f %.2f", pen ? " L" : " M", across(p, x_of(p, r)), down(p, r->accuracy));
    pen = 1;
  }
  if (!any) fprintf(p->s.out, "M%d %d", LEFT, FOOT);
  fprintf(p->s.out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n", p->c->mean);
}

static void draw_mean(plot *p, const sweep_row *r) {
  double x = across(p, x_of(p, r)), y = down(p, r->accuracy);
  char ring[96];
  if (r == p->z->best) {
    snprintf(ring, sizeof ring, "stroke=\"%s\" stroke-width=\"2\"", p->c->ink);
    circle(p, x, y, 9.5, "none", ring);
  }
  if (is_below(p, r->accuracy)) {
    triangle(p, x, p->c->mean, "");
  } else if (is_other(p, r)) {
    diamond(p, x, y);
  } else {
    circle(p, x, y, 5, p->c->mean, "");
  }
}

/* ---- names of the values: one text for points that overlap ---- */

enum { NAMES_MAX = 96 };

static int overlap(const plot *p, const sweep_row *a, const sweep_row *b) {
  return hypot(across(p, x_of(p, a)) - across(p, x_of(p, b)), down(p, a->accuracy) - down(p, b->accuracy)) < 8;
}

static size_t add_name(char text[NAMES_MAX], size_t n, const char *between, const char *name) {
  int more = n < NAMES_MAX ? snprintf(text + n, NAMES_MAX - n, "%s%s", between, name) : 0;
  if (more > 0) text[cli_whole_text(text, strlen(text))] = 0;
  return n + (size_t)(more < 0 ? 0 : more);
}

/* "0.5", "0.5, s2fp8", or where numbers follow each other "0.1 ... 0.4". said[i]: the value is in a text already. */
static void names_at(const plot *p, size_t at, char *said, char text[NAMES_MAX]) {
  const sweep_row *row = p->z->row;
  size_t last = at, count = 1, n = add_name(text, 0, "", row[at].value);
  for (size_t i = at + 1; i < p->z->rows; i++) {
    if (said[i] || !is_drawn(p, &row[i]) || !overlap(p, &row[i], &row[at])) continue;
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

/* The name at its place, and the line to the point's edge where it leads. */
static void put_name(plot *p, const box *b, const place *at, double x, double y, const char *text) {
  char more[128];
  snprintf(more, sizeof more, "stroke=\"%s\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
           p->c->paper);
  if (at->leads) svg_line(&p->s, b->x - at->x * (b->half_width + 1), b->y, x + 5 * at->x, y, p->c->soft, 1);
  svg_text(&p->s, b->x, b->y + 4, 12, SVG_MIDDLE, p->c->ink, more, text);
}

/* At the first place that is free; over a seed's point only if there is no other one. */
static void draw_name(plot *p, const sweep_row *r, const char *text, boxes *taken, const boxes *seeds) {
  place places[PLACES];
  size_t count = places_of(places, is_lined(p));
  double half = 3.7 * (double)strlen(text), x = across(p, x_of(p, r)), y = down(p, r->accuracy);
  for (size_t i = 0; i < 2 * count; i++) {
    const place *at = &places[i % count];
    double gap = at->leads ? 24 : 13;
    box b = {x + at->x * (half + gap), y + at->y, half, 7};
    if (!is_free(taken, b) || (i < count && !is_free(seeds, b))) continue;
    add_box(taken, b);
    put_name(p, &b, at, x, y, text);
    return;
  }
}

static void find_points(const plot *p, boxes *means, boxes *seeds) {
  for (size_t i = 1; i < p->z->rows; i++) {
    const sweep_row *r = &p->z->row[i];
    if (!is_drawn(p, r)) continue;
    double half = r == p->z->best ? 10.5 : 8; /* with the ring */
    add_box(means, (box){across(p, x_of(p, r)), down(p, r->accuracy), half, half});
    for (size_t k = 0; k < p->z->sweep->seeds; k++) {
      const sweep_run *x = &r->run[k];
      if (x->state == SWEEP_DONE) add_box(seeds, (box){across(p, x_of_run(p, x)), down(p, y_of_run(x)), 3, 3});
    }
  }
}

static void draw_names(plot *p) {
  char text[NAMES_MAX], *said = calloc(p->z->rows, 1);
  boxes taken = {calloc(2 * p->z->rows, sizeof *taken.list), 0}; /* means, and names so far */
  boxes seeds = {calloc(p->z->sweep->runs, sizeof *seeds.list), 0};
  int good = said && taken.list && seeds.list;
  if (good) find_points(p, &taken, &seeds);
  for (size_t i = 1; i < p->z->rows && good; i++) {
    const sweep_row *r = &p->z->row[i];
    if (said[i] || !is_drawn(p, r)) continue;
    names_at(p, i, said, text);
    draw_name(p, r, text, &taken, &seeds);
  }
  free(said);
  free(taken.list);
  free(seeds.list);
}

/* ---- the whole ---- */

/* What the points and the band are; with one seed a mean is that seed's result, and there is no range. */
static void draw_legend(plot *p) {
  char text[96];
  double y = 20;
  size_t seeds = p->z->sweep->seeds;
  svg_line(&p->s, 16, y - 4, 44, y - 4, p->c->mean, 2);
  circle(p, 30, y - 4, 5, p->c->mean, "");
  if (seeds == 1) {
    svg_text(&p->s, 52, y, 13, SVG_START, p->c->ink, "", "result of the one seed");
  } else {
    snprintf(text, sizeof text, "mean of %zu seeds", seeds);
    svg_text(&p->s, 52, y, 13, SVG_START, p->c->ink, "", text);
    circle(p, 190, y - 4, 3.2, p->c->mean, "fill-opacity=\"0.4\"");
    svg_text(&p->s, 202, y, 13, SVG_START, p->c->ink, "", "one seed");
  }
  fprintf(p->s.out, "<rect x=\"290\" y=\"%.1f\" width=\"30\" height=\"14\" fill=\"%s\" fill-opacity=\"0.22\"/>\n",
          y - 11, p->c->base);
  line(p, 290, y - 4, 320, y - 4, p->c->base, "8 5");
  svg_text(&p->s, 328, y, 13, SVG_START, p->c->ink, "", seeds == 1 ? "binary32" : "binary32: mean, range of seeds");
  line(p, 566, y - 4, 596, y - 4, p->c->ink, "1.5 4.5");
  snprintf(text, sizeof text, "accepted: %g %s less", p->z->sweep->loss, p->z->sweep->loss == 1 ? "point" : "points");
  svg_text(&p->s, 604, y, 13, SVG_START, p->c->ink, "", text);
  if (p->z->best) {
    char ring[96];
    snprintf(ring, sizeof ring, "stroke=\"%s\" stroke-width=\"2\"", p->c->ink);
    circle(p, 796, y - 4, 7, "none", ring);
    svg_text(&p->s, 810, y, 13, SVG_START, p->c->ink, "", "recommended");
  }
}

static void draw(plot *p) {
  make_axes(p);
  draw_legend(p);
  draw_axes(p);
  draw_baseline(p);
  draw_mean_line(p);
  for (size_t i = p->z->sweep->seeds; i < p->z->sweep->runs; i++) draw_run(p, &p->z->sweep->run[i]);
  for (size_t i = 1; i < p->z->rows; i++) {
    if (is_drawn(p, &p->z->row[i])) draw_mean(p, &p->z->row[i]);
  }
  if (p->by != SWEEP_BY_VALUE) draw_names(p);
}

static const char *title_of(char text[160], const sweep_summary *z, int by) {
  static const char *const against[] = {" against the share of low elements", " against stored bytes", ""};
  snprintf(text, 160, "%s%s, for values of %.80s", z->measure, against[by], z->sweep->key);
  return text;
}

int sweep_plot_write(const char *path, const sweep_summary *z, int by) {
  plot p = {.z = z, .c = &fixed, .by = by, .near = sweep_has_far(z)};
  char title[160];
  if (svg_open(&p.s, WIDTH, HEIGHT, title_of(title, z, by))) return CLI_BAD;
  draw(&p);
  return svg_close(&p.s, path);
}

void sweep_plot_part(FILE *out, const char *id, const sweep_summary *z, int by, int near) {
  plot p = {.z = z, .c = &paged, .by = by, .near = near};
  char title[160];
  page_begin_drawing(
      &p.s, out, id, WIDTH, HEIGHT, title_of(title, z, by),
      z->sweep->seeds == 1
          ? "A point for each value, and the baseline in binary32."
          : "A point for each run, the mean of each value, and the baseline in binary32 with the range of its seeds.");
  draw(&p);
  page_end_drawing(&p.s);
}
