/* SPDX-License-Identifier: MIT */
/* The drawings of the report: see report.h. Colours are the page's variables, for light and dark. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/page.h"
#include "cli/draw/svg.h"
#include "cli/quantize/report.h"

#define INK "var(--ink)"
#define GREY "var(--soft)"
#define RULE "var(--rule)"
#define BEFORE "var(--before)"
#define AFTER "var(--after)"
enum { WIDTH = 960, LEFT = 64, RIGHT = 944 };

void report_range(int *low, int *high, const tensors_result *result) {
  *low = TENSORS_EXPONENTS;
  *high = -1;
  for (int i = 0; i < TENSORS_EXPONENTS; i++) {
    if (!tensors_count(&result->before, i) && !tensors_count(&result->after, i)) continue;
    if (i < *low) *low = i;
    *high = i;
  }
}

static uint64_t most(const tensors_result *result) {
  uint64_t z = result->before.zeros > result->after.zeros ? result->before.zeros : result->after.zeros;
  for (int i = 0; i < TENSORS_EXPONENTS; i++) {
    if (tensors_count(&result->before, i) > z) z = tensors_count(&result->before, i);
    if (tensors_count(&result->after, i) > z) z = tensors_count(&result->after, i);
  }
  return z ? z : 1;
}

/* Returns the height of a bar where the scale is logarithmic: one element is seen. */
static double bar_height(uint64_t count, uint64_t top, double full) {
  return count ? full * (1 + log10((double)count)) / (1 + log10((double)top)) : 0;
}

typedef struct axes {
  double step, foot, full; /* width of a column, y of the foot, height of the tallest bar */
  int low;
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
  for (int i = low; i <= high; i++) {
    int k = i + TENSORS_LOWEST;
    if (((k % steps[every]) + steps[every]) % steps[every]) continue;
    if ((i - low + 2) * frame->step < 30) continue; /* beside "zero" */
    svg_power(image, LEFT + (i - low + 2.5) * frame->step, frame->foot + 20, 12, INK, "var(--paper)", k);
  }
}

static void draw_legend(svg *image, double y) {
  svg_rect(image, LEFT, y - 10, 12, 12, BEFORE);
  svg_text(image, LEFT + 18, y, 13, SVG_START, INK, "", "before");
  svg_rect(image, LEFT + 84, y - 10, 12, 12, AFTER);
  svg_text(image, LEFT + 102, y, 13, SVG_START, INK, "", "after");
  svg_text(image, RIGHT, y, 12, SVG_END, GREY, "", "elements, logarithmic; columns are floor(log2 |x|)");
}

void report_exponents(FILE *out, const tensors_result *total) {
  enum { HEIGHT = 320 };
  svg image;
  int low, high;
  report_range(&low, &high, total);
  if (low > high) low = high = -TENSORS_LOWEST;
  axes frame = {(RIGHT - LEFT) / (high - low + 3.0), HEIGHT - 30, HEIGHT - 80, low, most(total)};
  page_begin_drawing(
      &image, out, "exponents", WIDTH, HEIGHT, "Exponents before and after",
      "Two bars for zero and for each power of two: how many elements had that exponent, and how many have it.");
  draw_legend(&image, 20);
  draw_scale(&image, &frame);
  draw_pair(&image, &frame, LEFT, total->before.zeros, total->after.zeros);
  for (int i = low; i <= high; i++)
    draw_pair(&image, &frame, LEFT + (i - low + 2) * frame.step, tensors_count(&total->before, i),
              tensors_count(&total->after, i));
  svg_end_series(&image);
  svg_line(&image, LEFT, frame.foot, RIGHT, frame.foot, GREY, 1);
  draw_labels(&image, &frame, low, high);
  page_end_drawing(&image);
}

/* Returns a place for sorting; tensors without SQNR: first where something changed, last where nothing did. */
static double place_of(const cli_errors *errors) {
  return isfinite(errors->sqnr) ? errors->sqnr : errors->changed ? -1e9 : 1e9;
}

static int by_sqnr(const void *x, const void *y) {
  const tensors_result *a = *(const tensors_result *const *)x, *b = *(const tensors_result *const *)y;
  double first = place_of(&a->errors), second = place_of(&b->errors);
  if (first != second) return first < second ? -1 : 1;
  return strcmp(a->tensor->name, b->tensor->name);
}

/* Copies the last 44 characters of a name: where names of tensors differ. */
static void short_name(char text[64], const char *name) {
  char shown[ST_NAME_MAX];
  size_t n = strlen(name), from = n > 44 ? n - 43 : 0;
  while (from && ((unsigned char)name[from] & 0xC0) == 0x80) from++;
  snprintf(text, 64, "%s%s", from ? "\xe2\x80\xa6" : "", st_printable(shown, name + from));
}

static void draw_bar(svg *image, const tensors_result *result, double y, double top) {
  enum { NAMES = 330 };
  char text[64];
  double place = place_of(&result->errors), share = place <= 0 ? 0 : isfinite(result->errors.sqnr) ? place / top : 1;
  double width = (RIGHT - NAMES - 90) * share;
  short_name(text, result->tensor->name);
  svg_text(image, NAMES - 10, y + 13, 12, SVG_END, INK, "", text);
  svg_bar(image, NAMES, y + 2, width > 1 ? width : 1, 14, isfinite(result->errors.sqnr) ? AFTER : BEFORE);
  if (isfinite(result->errors.sqnr))
    snprintf(text, sizeof text, "%.2f dB", result->errors.sqnr);
  else
    snprintf(text, sizeof text, "%s", cli_no_sqnr(&result->errors));
  svg_text(image, NAMES + (width > 1 ? width : 1) + 6, y + 13, 12, SVG_START, INK, "", text);
}

void report_sqnr(FILE *out, const tensors_results *results) {
  enum { ROW = 20, ROWS_MAX = 60 };
  svg image;
  size_t n = 0;
  double top = 1;
  const tensors_result **list = malloc((results->count + 1) * sizeof *list);
  if (!list) return;
  for (size_t i = 0; i < results->count; i++)
    if (results->list[i].done && results->list[i].tensor->count) list[n++] = &results->list[i];
  qsort(list, n, sizeof *list, by_sqnr);
  size_t rows = n < ROWS_MAX ? n : ROWS_MAX;
  for (size_t i = 0; i < rows; i++)
    if (isfinite(list[i]->errors.sqnr) && list[i]->errors.sqnr > top) top = list[i]->errors.sqnr;
  page_begin_drawing(&image, out, "sqnr", WIDTH, (int)rows * ROW + 8, "Signal to quantization noise of each tensor",
                     "One bar a tensor, the lowest first, in decibels.");
  for (size_t i = 0; i < rows; i++) draw_bar(&image, list[i], 4 + (double)i * ROW, top);
  svg_end_series(&image);
  page_end_drawing(&image);
  if (rows < n) fprintf(out, "<p class=\"soft\">The %zu lowest of %zu tensors.</p>\n", rows, n);
  free(list);
}

void report_sparkline(FILE *out, const tensors_result *result, int low, int high, size_t id) {
  enum { SPARK_WIDTH = 150, SPARK_HEIGHT = 30 };
  svg image;
  char name[32];
  snprintf(name, sizeof name, "s%zu", id);
  page_begin_drawing(&image, out, name, SPARK_WIDTH, SPARK_HEIGHT, "Exponents",
                     "Before and after, as in the drawing of all tensors.");
  axes frame = {SPARK_WIDTH / (high - low + 3.0), SPARK_HEIGHT, SPARK_HEIGHT - 2, low, most(result)};
  draw_pair(&image, &frame, 0, result->before.zeros, result->after.zeros);
  for (int i = low; i <= high; i++)
    draw_pair(&image, &frame, (i - low + 2) * frame.step, tensors_count(&result->before, i),
              tensors_count(&result->after, i));
  svg_end_series(&image);
  page_end_drawing(&image);
}
