/* SPDX-License-Identifier: MIT */
/* Draws the value line of one format, and where data lies on it: see plot.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/plot/plot.h"
#include "cli/explain/number.h"
#include "halfulp/scalar.h"

const char *const plot_colours[CLASSES] = {"#8a94a6", "#d9972b", "#2f6db5", "#c8373f", "#7b4fa3"};
static const char *const tints[CLASSES] = {"#eef0f3", "#fbf0dc", "#e3edf8", "#fbe6e7", "#f0e8f6"};

static double x_of_log(const drawing *d, double log) {
  return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * (log - d->low) / (d->high - d->low);
}

static double x_of(const drawing *d, double value) {
  int exponent;
  double fraction = frexp(value, &exponent);
  return x_of_log(d, exponent + log2(fraction));
}

static int has_subnormals(const drawing *d) {
  return d->f.zero == HU_ZERO_FIELD && d->f.subnormal == HU_SUBNORMAL_GRADUAL && d->f.m > 0;
}

/* Returns the magnitude from which on values are normal. */
static double normal_from(const drawing *d) { return d->l.min_normal > 0 ? d->l.min_normal : ldexp(1, d->l.emin); }

static void draw_region(drawing *d, double from, double to, int class) {
  if (to > from) svg_rect(&d->out, from, d->band, to - from, PLOT_BAND, tints[class]);
}

static void draw_regions(drawing *d) {
  double min = x_of(d, d->l.min), normal = x_of(d, normal_from(d)), max = x_of(d, d->l.max);
  int all_subnormal = d->f.e == 0;
  if (!has_subnormals(d) || normal < min) normal = min;
  if (all_subnormal || normal > max) normal = max;
  draw_region(d, PLOT_LEFT, min, TO_ZERO);
  draw_region(d, min, normal, SUBNORMAL);
  draw_region(d, normal, max, NORMAL);
  draw_region(d, max, PLOT_RIGHT, OVERFLOW);
}

static void draw_value(drawing *d, double value, double *last) {
  if (!(value > 0)) return;
  double x = x_of(d, value);
  int power = log2(value) == floor(log2(value)), subnormal = has_subnormals(d) && value < normal_from(d);
  if (x - *last < 1.6 && value != d->l.max) return;
  *last = x;
  double inset = power ? 6 : 18;
  svg_line(&d->out, x, d->band + inset, x, d->band + PLOT_BAND - inset, plot_colours[subnormal ? SUBNORMAL : NORMAL],
           power ? 1.6 : 1);
}

static void draw_tick(drawing *d, uint32_t code, double *last) { draw_value(d, hu_decode64(d->f, code), last); }

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Draws the values of a number system, in whatever order its codes have; of wide ones those next to powers of two. */
static void draw_system_ticks(drawing *d) {
  double last = -10, *values = cli_room((size_t)1 << 16, sizeof *values);
  hu_number n = d->state->system;
  unsigned width = hu_number_limits_of(n).width;
  hu_mode rne = {0};
  size_t count = 0;
  if (!values) return;
  for (uint32_t c = 0; width <= 16 && c < (uint32_t)1 << width; c++) values[count++] = hu_number_decode64(n, c);
  for (int k = d->low; width > 16 && k <= d->high; k++) {
    values[count++] = hu_number_decode64(n, hu_number_encode64(n, rne, ldexp(1, k), 0, NULL));
  }
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) values[i] = -1; /* infinities have no place, as negative values have none */
  qsort(values, count, sizeof *values, ascending);
  for (size_t i = 0; i < count; i++) draw_value(d, values[i], &last);
  free(values);
}

/* Draws every value; in wide formats, where they would merge, every power of two. */
static void draw_ticks(drawing *d) {
  double last = -10;
  if (d->state->other) {
    draw_system_ticks(d);
    return;
  }
  uint32_t step = d->l.width <= 16 ? 1 : (uint32_t)1 << (d->f.m > 4 ? d->f.m - 4 : 0);
  if (step > 1)
    for (uint32_t c = 1; c < ((uint32_t)1 << d->f.m); c <<= 1) draw_tick(d, c, &last);
  uint32_t first = step > 1 ? (uint32_t)1 << d->f.m : d->l.min_code;
  for (uint64_t c = first; c <= d->l.max_code; c += step) draw_tick(d, (uint32_t)c, &last);
}

/* Returns the binades from one label of the axis to the next. */
static int axis_step(const drawing *d) {
  double per_binade = (double)(PLOT_RIGHT - PLOT_LEFT) / (d->high - d->low);
  int step = 1;
  while (step * per_binade < 44) step *= 2;
  return step;
}

void plot_axis(drawing *d) {
  double y = d->band + PLOT_BAND;
  int step = axis_step(d);
  svg_line(&d->out, PLOT_LEFT, y, PLOT_RIGHT, y, PLOT_INK, 1);
  for (int k = d->low; k <= d->high; k++) {
    if (((k % step) + step) % step) continue;
    double x = x_of_log(d, k);
    svg_line(&d->out, x, y, x, y + 6, PLOT_INK, 1);
    svg_power(&d->out, x, y + 22, 12, PLOT_GREY, "#ffffff", k);
  }
}

/* Draws a line from the band down to a mark's row; it leaves out the label of the axis that it would cross. */
static void draw_leader(drawing *d, double x, double to, const char *colour) {
  enum { HALF_LABEL = 18, LABEL_TOP = 7, LABEL_FOOT = 28 };
  double foot = d->band + PLOT_BAND, per_step = (double)(PLOT_RIGHT - PLOT_LEFT) / (d->high - d->low) * axis_step(d);
  int first = d->low + ((-d->low % axis_step(d)) + axis_step(d)) % axis_step(d); /* the first label's binade */
  double away = fabs(remainder(x - x_of_log(d, first), per_step));
  if (away > HALF_LABEL) {
    svg_line(&d->out, x, d->band, x, to, colour, 1);
    return;
  }
  svg_line(&d->out, x, d->band, x, foot + LABEL_TOP, colour, 1);
  svg_line(&d->out, x, foot + LABEL_FOOT, x, to, colour, 1);
}

/* Draws a mark in a row of its own, so that labels never meet. A label has an edge, a text of its own below it, against
 * the leaders of the rows further down, which are drawn before. */
static void draw_mark(drawing *d, int row, double value, const char *name, const char *colour) {
  char text[96];
  double x = x_of(d, value), y = d->band + PLOT_BAND + 50 + 20 * row;
  snprintf(text, sizeof text, "%s %s", name, DECIMAL(value));
  draw_leader(d, x, y - 4, colour);
  int right = x > (PLOT_LEFT + PLOT_RIGHT) / 2;
  enum svg_anchor anchor = right ? SVG_END : SVG_START;
  svg_line(&d->out, x, y - 4, right ? x - 8 : x + 8, y - 4, colour, 1);
  svg_text(&d->out, right ? x - 12 : x + 12, y, 12, anchor, "#ffffff",
           "font-weight=\"bold\" stroke=\"#ffffff\" stroke-width=\"5\" stroke-linejoin=\"round\" aria-hidden=\"true\"",
           text);
  svg_text(&d->out, right ? x - 12 : x + 12, y, 12, anchor, colour, "font-weight=\"bold\"", text);
}

static void draw_marks(drawing *d) {
  draw_mark(d, 2, d->l.min, has_subnormals(d) ? "min subnormal" : "min > 0",
            has_subnormals(d) ? "#a06a10" : plot_colours[NORMAL]);
  if (has_subnormals(d) && d->l.min_normal > 0) draw_mark(d, 1, d->l.min_normal, "min normal", plot_colours[NORMAL]);
  draw_mark(d, 0, d->l.max, "max", plot_colours[OVERFLOW]);
}

/* Returns a round step: 1, 2 or 5 times a power of ten, at most five of them up to top. */
static uint64_t count_step(uint64_t top) {
  static const unsigned factors[] = {1, 2, 5};
  uint64_t power = 1;
  for (;; power *= 10)
    for (int i = 0; i < 3; i++)
      if (top / 5 <= power * factors[i] || power > UINT64_MAX / 100) return power * factors[i];
}

void plot_bars(drawing *d, int plain) {
  const histogram *h = d->data;
  uint64_t tallest = plot_tallest(h, d->group), step = count_step(tallest);
  double scale = tallest ? (PLOT_BARS - 20) / (double)tallest : 0;
  char text[32];
  for (uint64_t y = step; tallest && y <= tallest; y += step) {
    double at = d->bars - (double)y * scale;
    snprintf(text, sizeof text, "%llu", (unsigned long long)y);
    svg_line(&d->out, PLOT_LEFT, at, PLOT_RIGHT, at, "#e3e6eb", 1);
    svg_text(&d->out, PLOT_LEFT - 8, at + 4, 11, SVG_END, PLOT_GREY, "", text);
  }
  for (int b = 0; b < BINS_MAX; b += d->group) {
    double left = x_of_log(d, -1076 + (double)b / BINS_PER_BINADE);
    double right = x_of_log(d, -1076 + (double)(b + d->group) / BINS_PER_BINADE), y = d->bars;
    for (int c = plain ? -1 : 0; c < (plain ? 0 : CLASSES); c++) {
      uint64_t n = plot_group_sum(h, b, d->group, c);
      if (!n) continue;
      double height = fmax((double)n * scale, 1.5); /* a single datum must stay visible */
      svg_rect(&d->out, left + 0.4, y - height, right - left - 0.8 > 0.8 ? right - left - 0.8 : 0.8, height,
               plain ? PLOT_GREY : plot_colours[c]);
      y -= height;
    }
  }
  svg_line(&d->out, PLOT_LEFT, d->bars, PLOT_RIGHT, d->bars, PLOT_INK, 1);
}

static const char *overflow_result(const drawing *d, hu_mode mode) {
  if (d->state->other && d->state->system.overflow == HU_FIXED_WRAP) return "beyond max: its low bits";
  int policy = mode.saturate ? mode.saturate : d->f.inf ? HU_SAT_NONE : HU_SAT_FINITE;
  if (policy != HU_SAT_NONE || d->f.overflow == HU_OVERFLOW_MAX) return "beyond max: becomes max";
  return d->f.overflow == HU_OVERFLOW_INF ? "beyond max: becomes infinity" : "beyond max: becomes NaN";
}

static void draw_row(drawing *d, double y, int class, const char *name, const char *values) {
  char text[64];
  svg_rect(&d->out, PLOT_LEFT, y - 11, 14, 14, plot_colours[class]);
  svg_text(&d->out, PLOT_LEFT + 24, y, 13, SVG_START, PLOT_INK, "", name);
  svg_text(&d->out, PLOT_LEFT + 560, y, 13, SVG_END, PLOT_INK, "", values);
  if (!d->data) return;
  uint64_t n = d->data->classes[class];
  snprintf(text, sizeof text, "%llu", (unsigned long long)n);
  svg_text(&d->out, PLOT_LEFT + 720, y, 13, SVG_END, PLOT_INK, "", text);
  snprintf(text, sizeof text, "%.2f %%", d->data->count ? 100.0 * (double)n / (double)d->data->count : 0);
  svg_text(&d->out, PLOT_LEFT + 830, y, 13, SVG_END, PLOT_INK, "", text);
}

/* Returns 1 for systems with a NaR: then nothing becomes zero either. */
static int has_nar(hu_number n) {
  return n.kind == HU_NUMBER_POSIT || n.kind == HU_NUMBER_TAKUM_LINEAR || n.kind == HU_NUMBER_TAKUM;
}

static int symmetric(const drawing *d) {
  uint8_t kind = d->state->system.kind;
  return !d->state->other || kind == HU_NUMBER_POSIT || kind == HU_NUMBER_LNS || kind > HU_NUMBER_TABLE;
}

static const char *values_of(const drawing *d) {
  if (!d->f.sign) return "values";
  return symmetric(d) ? "values of each sign" : "positive values";
}

/* Counts the values of a sign that are subnormal numbers, and those that are not. */
static uint32_t subnormal_values(const drawing *d) {
  uint32_t normal = (uint32_t)1 << d->f.m;
  return !has_subnormals(d) ? 0 : normal <= d->l.max_code ? normal - 1 : d->l.max_code;
}

static uint32_t normal_values(const drawing *d) {
  uint32_t first = has_subnormals(d) ? 1 : d->l.min_code;
  return d->l.max_code - first + 1 - subnormal_values(d);
}

static void draw_table(drawing *d, double y, hu_mode mode) {
  char text[160];
  svg_text(&d->out, PLOT_LEFT + 560, y, 12, SVG_END, PLOT_GREY, "", values_of(d));
  if (d->data) svg_text(&d->out, PLOT_LEFT + 720, y, 12, SVG_END, PLOT_GREY, "", "data");
  if (d->data) svg_text(&d->out, PLOT_LEFT + 830, y, 12, SVG_END, PLOT_GREY, "", "share");
  svg_line(&d->out, PLOT_LEFT, y + 7, d->data ? PLOT_LEFT + 830 : PLOT_LEFT + 560, y + 7, "#c5cad3", 1);
  y += 28;
  snprintf(text, sizeof text, "%u", normal_values(d));
  draw_row(d, y, NORMAL, d->state->other ? "numbers" : "normal numbers", text);
  snprintf(text, sizeof text, "%u", subnormal_values(d));
  if (!d->state->other) draw_row(d, y + 24, SUBNORMAL, "subnormal numbers", text);
  if (d->state->other) y -= 24;
  draw_row(d, y + 48, TO_ZERO, d->f.zero == HU_ZERO_NONE ? "too small" : "too small: becomes zero", "");
  draw_row(d, y + 72, OVERFLOW, overflow_result(d, mode), "");
  if (!d->f.sign) draw_row(d, y + 96, BELOW, "below the range (negative)", "");
  if (!d->data) return;
  snprintf(text, sizeof text, "%llu elements; besides: %llu zeros, %llu infinities, %llu NaN",
           (unsigned long long)d->data->count, (unsigned long long)d->data->zeros,
           (unsigned long long)d->data->infinities, (unsigned long long)d->data->nans);
  svg_text(&d->out, PLOT_LEFT, y + (d->f.sign ? 102 : 126), 13, SVG_START, PLOT_GREY, "", text);
}

/* Counts the codes that have positive values. */
static uint32_t positive_values(hu_number n, hu_number_limits l) {
  uint32_t count = 0;
  if (n.kind == HU_NUMBER_HIFLOAT8) return 126; /* of the 127 codes above zero one is the infinity */
  if (n.kind != HU_NUMBER_LNS && n.kind != HU_NUMBER_TABLE) return l.max_code;
  if (n.kind == HU_NUMBER_LNS) return ((uint32_t)1 << (l.width - 1)) - (l.has_zero ? 1 : 0);
  for (uint32_t c = 0; c < n.count; c++) count += n.table[c] > 0;
  return count;
}

const char *plot_bar_name(const drawing *d) {
  if (d->group == 1) return "a quarter of a binade";
  if (d->group == 2) return "half a binade";
  return d->group == 4 ? "a binade" : "several binades";
}

const char *plot_name(char name[CLI_NAME_MAX], const plot_state *s) {
  if (s->other) return cli_system_name(name, s->system, s->numeric.format_text);
  return cli_shown_name(name, s->numeric.format, s->numeric.format_text);
}

static void describe_format(drawing *d) {
  char text[HU_FORMAT_TEXT_MAX], line[1024];
  hu_format_text(text, sizeof text, d->f);
  snprintf(line, sizeof line, "%s \u00b7 %u bits: %s%u exponent, %u trailing significand; bias %d", text, d->l.width,
           d->f.sign ? "sign, " : "no sign, ", d->f.e, d->f.m, d->l.bias);
  svg_text(&d->out, PLOT_LEFT, 63, 13, SVG_START, PLOT_GREY, "", line);
  int n = snprintf(line, sizeof line, "zero: %s",
                   d->f.zero == HU_ZERO_NONE ? "none"
                   : d->f.negzero            ? "+0 and -0"
                                             : "one");
  n += snprintf(line + n, sizeof line - (size_t)n, " \u00b7 infinity: ");
  if (d->f.inf)
    n += snprintf(line + n, sizeof line - (size_t)n, "code 0x%0*x", (int)code_digits(d->f), d->l.inf_code);
  else
    n += snprintf(line + n, sizeof line - (size_t)n, "none");
  if (d->l.has_nan)
    snprintf(line + n, sizeof line - (size_t)n, " \u00b7 NaN: %llu code%s, 0x%0*x", (unsigned long long)d->l.nan_codes,
             d->l.nan_codes == 1 ? "" : "s", (int)code_digits(d->f), d->l.nan_code);
  else
    snprintf(line + n, sizeof line - (size_t)n, " \u00b7 NaN: none");
  svg_text(&d->out, PLOT_LEFT, 83, 13, SVG_START, PLOT_GREY, "", line);
}

static void describe_system(drawing *d) {
  char text[HU_NUMBER_TEXT_MAX], kind[CLI_NAME_MAX], line[CLI_NAME_MAX * 2];
  hu_number n = d->state->system;
  hu_number_limits l = hu_number_limits_of(n);
  hu_number_text(text, sizeof text, n);
  snprintf(line, sizeof line, "%.60s%s \u00b7 %u bits: %s", text, strlen(text) > 60 ? "..." : "", (unsigned)l.width,
           cli_system_line(kind, n));
  svg_text(&d->out, PLOT_LEFT, 63, 13, SVG_START, PLOT_GREY, "", line);
  snprintf(line, sizeof line, "zero: %s \u00b7 %s: %s", l.has_zero ? "one" : "none", has_nar(n) ? "NaR" : "NaN",
           l.has_nan ? "yes" : "none");
  svg_text(&d->out, PLOT_LEFT, 83, 13, SVG_START, PLOT_GREY, "", line);
}

static void draw_heading(drawing *d, const plot_state *s) {
  char name[CLI_NAME_MAX], line[1024], mode[CLI_NAME_MAX];
  svg_text(&d->out, PLOT_LEFT, 40, 22, SVG_START, PLOT_INK, "font-weight=\"bold\"", plot_name(name, s));
  if (s->other)
    describe_system(d);
  else
    describe_format(d);
  const char *negative = symmetric(d) ? "magnitudes; the negative values are the mirror image" : "the positive values";
  svg_text(&d->out, PLOT_RIGHT, 83, 13, SVG_END, PLOT_GREY, "", d->f.sign ? negative : "there are no negative values");
  if (!s->data) return;
  snprintf(line, sizeof line, "magnitudes of %s, rounded by %s; a bar is %s", s->data,
           cli_mode_name(mode, s->numeric.mode), plot_bar_name(d));
  svg_text(&d->out, PLOT_LEFT, 114, 13, SVG_START, PLOT_INK, "", line);
}

/* Makes of a number system what a drawing needs of a format: normal numbers alone. Not 0: no value is positive. */
static int as_format(drawing *d) {
  hu_number n = d->state->system;
  hu_number_limits l = hu_number_limits_of(n);
  memset(&d->f, 0, sizeof d->f);
  memset(&d->l, 0, sizeof d->l);
  d->f.e = 1;
  d->f.sign = l.low < 0;
  d->f.zero = !has_nar(n) && l.has_zero ? HU_ZERO_FIELD : HU_ZERO_NONE;
  if (!(l.min > 0)) return 1;
  d->l.max = l.max;
  d->l.min = d->l.min_normal = l.min;
  d->l.emax = ilogb(l.max);
  d->l.min_code = 1;
  d->l.max_code = positive_values(n, l);
  return 0;
}

int plot_begin(drawing *d, const plot_state *s, const histogram *data) {
  *d = (drawing){{0}, s->numeric.format, hu_limits_of(s->numeric.format), 0, 0, 0, 0, data, s, 1};
  if (s->other && as_format(d)) return cli_fail(NULL, "plot: there is no positive value");
  d->low = ilogb(d->l.min) - 2;
  d->high = d->l.emax + 3;
  return CLI_OK;
}

void plot_widen(drawing *d, const drawing *by) {
  const histogram *h = by->data;
  if (by->low < d->low) d->low = by->low;
  if (by->high > d->high) d->high = by->high;
  if (h && h->low < d->low) d->low = h->low;
  if (h && h->high > d->high) d->high = h->high;
}

void plot_group(drawing *d) {
  while ((double)(PLOT_RIGHT - PLOT_LEFT) * d->group / BINS_PER_BINADE / (d->high - d->low) < 3) d->group *= 2;
}

void plot_band(drawing *d) {
  draw_regions(d);
  draw_ticks(d);
}

plot_counts plot_counted(const drawing *d) { return (plot_counts){normal_values(d), subnormal_values(d)}; }

int plot_draw(const plot_state *s, const histogram *h, plot_counts *counts) {
  char name[CLI_NAME_MAX];
  drawing d;
  if (plot_begin(&d, s, h)) return CLI_BAD;
  plot_widen(&d, &d);
  plot_group(&d);
  d.bars = 120 + PLOT_BARS;
  d.band = h ? d.bars + 10 : 112;
  double table = d.band + PLOT_BAND + 136;
  int height = (int)table + (h ? 150 : 122) + (d.f.sign ? 0 : 24);
  if (svg_open(&d.out, PLOT_WIDTH, height, plot_name(name, s))) return CLI_BAD;
  draw_heading(&d, s);
  if (h) plot_bars(&d, 0);
  plot_band(&d);
  draw_marks(&d);
  plot_axis(&d);
  draw_table(&d, table, s->numeric.mode);
  *counts = plot_counted(&d);
  return svg_close(&d.out, s->output);
}
