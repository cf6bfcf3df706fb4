/* SPDX-License-Identifier: MIT */
/* Exponents as columns: see curves.h. */
#include <math.h>
#include <string.h>

#include "cli/draw/curves.h"
#include "cli/base/cli.h"
#include "cli/draw/page.h"
#include "halfulp/train/trainer.h"

enum { WIDTH = 960, HEIGHT = 320, LEFT = 76, RIGHT = 940, TOP = 62, FOOT = 280, LOWEST = -149, SHARES = 8 };

/* Columns, the first one is that of the zeros; heights are logarithms of shares, down to 10^-SHARES. */
typedef struct columns {
  int low, high; /* exponents that occur */
  double width;
  const palette *colours;
} columns;

static uint64_t total(const exponents *set) {
  uint64_t z = 0;
  for (int i = 0; i < HU_EXPONENTS; i++) z += set->counts[i];
  return z;
}

static int find_columns(columns *layout, const exponents *sets, size_t count, const palette *colours) {
  layout->colours = colours;
  layout->low = 200;
  layout->high = -200;
  for (size_t k = 0; k < count; k++)
    for (int i = 1; i < HU_EXPONENTS - 1; i++) {
      if (!sets[k].counts[i]) continue;
      if (i - 150 < layout->low) layout->low = i - 150;
      if (i - 150 > layout->high) layout->high = i - 150;
    }
  if (layout->low > layout->high) return 0;
  layout->width = (RIGHT - LEFT) / (layout->high - layout->low + 3.0);
  return 1;
}

/* Returns the position of an exponent; zeros stand two columns before the first. */
static double at(const columns *layout, int exponent) { return LEFT + (exponent - layout->low + 2) * layout->width; }

static double height(uint64_t count, uint64_t of) {
  if (!count) return 0;
  double share = log10((double)count / (double)of);
  return (FOOT - TOP) * fmax(0.005, (share + SHARES) / SHARES);
}

static void draw_rules(svg *image, const columns *layout) {
  char text[16];
  for (int k = 0; k <= SHARES; k += 2) {
    double y = FOOT - (FOOT - TOP) * (double)(SHARES - k) / SHARES;
    svg_tick(image, LEFT, y, RIGHT, y, layout->colours->rule, 1);
    snprintf(text, sizeof text, k == 0 ? "1" : k == 2 ? "0.01" : "1e-%d", k);
    svg_text(image, LEFT - 8, y + 4, 12, SVG_END, layout->colours->soft, "", text);
  }
  svg_end_series(image);
}

static void draw_labels(svg *image, const columns *layout) {
  int every = 1;
  while (every * layout->width < 34) every *= 2;
  svg_text(image, LEFT + layout->width / 2, FOOT + 20, 12, SVG_MIDDLE, layout->colours->ink, "", "zero");
  for (int exponent = layout->low; exponent <= layout->high; exponent++)
    if (exponent % every == 0 && at(layout, exponent) > LEFT + 40)
      svg_power(image, at(layout, exponent) + layout->width / 2, FOOT + 20, 12, layout->colours->ink,
                layout->colours->paper, exponent);
}

static void draw_set(svg *image, const columns *layout, const exponents *set, size_t k, size_t count) {
  uint64_t of = total(set);
  double gap = layout->width > 6 ? 1 : 0, width = (layout->width - gap) / (double)count,
         shift = gap / 2 + (double)k * width;
  double zero = height(set->counts[0], of);
  if (zero > 0) svg_bar(image, LEFT + shift, FOOT - zero, width, zero, layout->colours->line[k]);
  for (int x = layout->low; x <= layout->high; x++) {
    double high = height(set->counts[x + 150], of);
    if (high > 0) svg_bar(image, at(layout, x) + shift, FOOT - high, width, high, layout->colours->line[k]);
  }
  svg_end_series(image);
}

static void draw_marks(svg *image, const columns *layout, const exponent_mark *marks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (marks[i].exponent < layout->low || marks[i].exponent > layout->high) continue;
    double x = at(layout, marks[i].exponent);
    svg_tick(image, x, TOP - 18, x, FOOT, layout->colours->ink, 1);
    int left = x + 4 + 6 * (double)strlen(marks[i].name) > RIGHT; /* of the line, where the right has no space */
    svg_text(image, left ? x - 4 : x + 4, TOP - 8, 11, left ? SVG_END : SVG_START, layout->colours->ink, "",
             marks[i].name);
  }
  svg_end_series(image);
}

static void draw_legend(svg *image, const columns *layout, const exponents *sets, size_t count) {
  double x = LEFT;
  for (size_t k = 0; k < count; k++) {
    svg_rect(image, x, 8, 12, 12, layout->colours->line[k]);
    svg_text(image, x + 18, 18, 13, SVG_START, layout->colours->ink, "", sets[k].name);
    x += 18 + 7.6 * (double)strlen(sets[k].name) + 26;
  }
  svg_text(image, RIGHT, 18, 12, SVG_END, layout->colours->soft, "",
           "share of the set, logarithmic; columns are floor(log2 |x|)");
}

static void draw_exponents(svg *image, const columns *layout, const exponents *sets, size_t count,
                           const exponent_mark *marks, size_t mark_count) {
  draw_legend(image, layout, sets, count);
  draw_rules(image, layout);
  for (size_t k = 0; k < count; k++) draw_set(image, layout, &sets[k], k, count);
  svg_line(image, LEFT, FOOT, RIGHT, FOOT, layout->colours->soft, 1);
  draw_labels(image, layout);
  draw_marks(image, layout, marks, mark_count);
}

void exponents_draw(FILE *out, const char *id, const char *title, const char *text, const exponents *sets, size_t count,
                    const exponent_mark *marks, size_t mark_count) {
  svg image;
  columns layout;
  if (!find_columns(&layout, sets, count, &palette_page)) return;
  page_begin_drawing(&image, out, id, WIDTH, HEIGHT, title, text);
  draw_exponents(&image, &layout, sets, count, marks, mark_count);
  page_end_drawing(&image);
}

int exponents_write(const char *path, const char *title, const exponents *sets, size_t count,
                    const exponent_mark *marks, size_t mark_count) {
  svg image;
  columns layout;
  if (!find_columns(&layout, sets, count, &palette_file)) return CLI_OK;
  int status = drawing_open(&image, WIDTH, HEIGHT, title);
  if (status != CLI_OK) return status;
  draw_exponents(&image, &layout, sets, count, marks, mark_count);
  fputs("</g>\n", image.out);
  return svg_close(&image, path);
}
