/* SPDX-License-Identifier: MIT */
/* See rounded.h. Colours are the page's variables, for light and dark. */
#include "cli/draw/rounded.h"

#include <math.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/draw/page.h"
#include "cli/draw/svg.h"

#define INK "var(--ink)"
#define GREY "var(--soft)"
#define RULE "var(--rule)"
#define BEFORE "var(--before)"
#define AFTER "var(--after)"
enum { WIDTH = 960, LEFT = 64, RIGHT = 944 };

static uint64_t count_of(const exponent_counts *set, int exponent) {
  int place = exponent - set->low;
  return place < 0 || place >= set->count ? 0 : set->counts[place];
}

void rounded_range(int *low, int *high, const exponent_counts *before, const exponent_counts *after) {
  const exponent_counts *sets[] = {before, after};
  *low = 1 << 16;
  *high = -(1 << 16);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < sets[k]->count; i++) {
      if (!sets[k]->counts[i]) continue;
      if (sets[k]->low + i < *low) *low = sets[k]->low + i;
      if (sets[k]->low + i > *high) *high = sets[k]->low + i;
    }
}

static uint64_t most(const exponent_counts *before, const exponent_counts *after) {
  const exponent_counts *sets[] = {before, after};
  uint64_t z = 1;
  for (int k = 0; k < 2; k++) {
    if (sets[k]->zeros > z) z = sets[k]->zeros;
    for (int i = 0; i < sets[k]->count; i++)
      if (sets[k]->counts[i] > z) z = sets[k]->counts[i];
  }
  return z;
}

/* Returns the height of a bar where the scale is logarithmic: one element is seen. */
static double bar_height(uint64_t count, uint64_t top, double full) {
  return count ? full * (1 + log10((double)count)) / (1 + log10((double)top)) : 0;
}

typedef struct axes {
  double step, foot, full; /* width of a column, y of the foot, height of the tallest bar */
  uint64_t top;
} axes;

static void draw_pair(svg *image, const axes *frame, double x, uint64_t before, uint64_t after) {
  double gap = frame->step > 6 ? 1 : 0, half = frame->step / 2 - gap / 2;
  double b = bar_height(before, frame->top, frame->full), c = bar_height(after, frame->top, frame->full);
  if (before) svg_bar(image, x + gap / 2, frame->foot - b, half, b, BEFORE);
  if (after) svg_bar(image, x + gap / 2 + half, frame->foot - c, half, c, AFTER);
}

static void draw_scale(svg *image, const axes *frame) {
  char text[32];
  uint64_t count = 1;
  for (int k = 0; k < 19 && count <= frame->top; k++, count *= 10) {
    double y = frame->foot - bar_height(count, frame->top, frame->full);
    svg_tick(image, LEFT, y, RIGHT, y, RULE, 1);
    if (k < 4)
      snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    else
      snprintf(text, sizeof text, "1e%d", k);
    svg_text(image, LEFT - 8, y + 4, 12, SVG_END, GREY, "", text);
  }
  svg_end_series(image);
}

static void draw_labels(svg *image, const axes *frame, int low, int high) {
  static const int steps[] = {1, 2, 4, 8, 16, 32, 64};
  int every = 0;
  while (steps[every] * frame->step < 34 && every < 6) every++;
  svg_text(image, LEFT + frame->step / 2, frame->foot + 20, 12, SVG_MIDDLE, INK, "", "zero");
  for (int k = low; k <= high; k++) {
    if (((k % steps[every]) + steps[every]) % steps[every]) continue;
    if ((k - low + 2) * frame->step < 30) continue; /* beside "zero" */
    svg_power(image, LEFT + (k - low + 2.5) * frame->step, frame->foot + 20, 12, INK, "var(--paper)", k);
  }
}

static void draw_legend(svg *image, double y) {
  svg_rect(image, LEFT, y - 10, 12, 12, BEFORE);
  svg_text(image, LEFT + 18, y, 13, SVG_START, INK, "", "before");
  svg_rect(image, LEFT + 84, y - 10, 12, 12, AFTER);
  svg_text(image, LEFT + 102, y, 13, SVG_START, INK, "", "after");
  svg_text(image, RIGHT, y, 12, SVG_END, GREY, "", "elements, logarithmic; columns are floor(log2 |x|)");
}

static void draw_pairs(svg *image, const axes *frame, double left, const exponent_counts *before,
                       const exponent_counts *after, int low, int high) {
  draw_pair(image, frame, left, before->zeros, after->zeros);
  for (int k = low; k <= high; k++)
    draw_pair(image, frame, left + (k - low + 2) * frame->step, count_of(before, k), count_of(after, k));
  svg_end_series(image);
}

void rounded_exponents(FILE *out, const char *id, const exponent_counts *before, const exponent_counts *after) {
  enum { HEIGHT = 320 };
  svg image;
  int low, high;
  rounded_range(&low, &high, before, after);
  if (low > high) low = high = 0;
  axes frame = {(RIGHT - LEFT) / (high - low + 3.0), HEIGHT - 30, HEIGHT - 80, most(before, after)};
  page_begin_drawing(
      &image, out, id, WIDTH, HEIGHT, "Exponents before and after",
      "Two bars for zero and for each power of two: the number of elements with that exponent, before and after.");
  draw_legend(&image, 20);
  draw_scale(&image, &frame);
  draw_pairs(&image, &frame, LEFT, before, after, low, high);
  svg_line(&image, LEFT, frame.foot, RIGHT, frame.foot, GREY, 1);
  draw_labels(&image, &frame, low, high);
  page_end_drawing(&image);
}

void rounded_sparkline(FILE *out, const char *id, const exponent_counts *before, const exponent_counts *after, int low,
                       int high) {
  enum { SPARK_WIDTH = 150, SPARK_HEIGHT = 30 };
  svg image;
  page_begin_drawing(&image, out, id, SPARK_WIDTH, SPARK_HEIGHT, "Exponents",
                     "Before and after, as in the drawing of all tensors.");
  axes frame = {SPARK_WIDTH / (high - low + 3.0), SPARK_HEIGHT, SPARK_HEIGHT - 2, most(before, after)};
  draw_pairs(&image, &frame, 0, before, after, low, high);
  page_end_drawing(&image);
}

/* Copies the last 44 characters of a name: where names of tensors differ. */
static void short_name(char text[64], const char *name) {
  size_t n = strlen(name), from = n > 44 ? n - 43 : 0;
  while (from && ((unsigned char)name[from] & 0xC0) == 0x80) from++;
  snprintf(text, 64, "%s%s", from ? "\xe2\x80\xa6" : "", name + from);
  cli_clean(text);
}

static void draw_ratio(svg *image, const rounded_ratio *ratio, double y, double top) {
  enum { NAMES = 330 };
  char text[64];
  int finite = isfinite(ratio->decibels);
  double share = ratio->decibels > 0 ? finite ? ratio->decibels / top : 1 : 0;
  double width = (RIGHT - NAMES - 90) * share;
  short_name(text, ratio->name);
  svg_text(image, NAMES - 10, y + 13, 12, SVG_END, INK, "", text);
  svg_bar(image, NAMES, y + 2, width > 1 ? width : 1, 14, finite ? AFTER : BEFORE);
  if (finite)
    snprintf(text, sizeof text, "%.2f dB", ratio->decibels);
  else
    snprintf(text, sizeof text, "%s", ratio->why);
  svg_text(image, NAMES + (width > 1 ? width : 1) + 6, y + 13, 12, SVG_START, INK, "", text);
}

void rounded_ratios(FILE *out, const char *id, const char *title, const char *text, const char *what,
                    const rounded_ratio *ratios, size_t count) {
  enum { ROW = 20 };
  svg image;
  double top = 1;
  size_t rows = count < ROUNDED_RATIOS_MAX ? count : ROUNDED_RATIOS_MAX;
  for (size_t i = 0; i < rows; i++)
    if (isfinite(ratios[i].decibels) && ratios[i].decibels > top) top = ratios[i].decibels;
  page_begin_drawing(&image, out, id, WIDTH, (int)rows * ROW + 8, title, text);
  for (size_t i = 0; i < rows; i++) draw_ratio(&image, &ratios[i], 4 + (double)i * ROW, top);
  svg_end_series(&image);
  page_end_drawing(&image);
  if (rows < count) fprintf(out, "<p class=\"soft\">The %zu lowest of %zu %s.</p>\n", rows, count, what);
}
