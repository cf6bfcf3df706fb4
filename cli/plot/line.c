/* SPDX-License-Identifier: MIT */
/* Draws the value line of one format, and where data lies on it: see plot.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/plot/plot.h"
#include "cli/explain/number.h"
#include "halfulp/scalar.h"

static const char *const tints[CLASSES] = {"#eef0f3", "#fbf0dc", "#e3edf8", "#fbe6e7", "#f0e8f6", "#f0e8f6"};

static double x_of_log(const drawing *plot, double log) {
  return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * (log - plot->low) / (plot->high - plot->low);
}

static double x_of(const drawing *plot, double value) {
  int exponent;
  double fraction = frexp(value, &exponent);
  return x_of_log(plot, exponent + log2(fraction));
}

static int has_subnormals(const drawing *plot) { return plot->limits.min_code < plot->limits.min_normal_code; }

/* Returns the magnitude from which on values are normal. */
static double normal_from(const drawing *plot) {
  return plot->limits.min_normal > 0 ? plot->limits.min_normal : ldexp(1, plot->limits.emin);
}

static void draw_region(drawing *plot, double from, double to, int class) {
  if (to > from) svg_rect(&plot->out, from, plot->band, to - from, PLOT_BAND, tints[class]);
}

static void draw_regions(drawing *plot) {
  double min = x_of(plot, plot->limits.min), normal = x_of(plot, normal_from(plot)), max = x_of(plot, plot->limits.max);
  int all_subnormal = plot->format.e == 0;
  if (!has_subnormals(plot) || normal < min) normal = min;
  if (all_subnormal || normal > max) normal = max;
  draw_region(plot, PLOT_LEFT, min, TO_ZERO);
  draw_region(plot, min, normal, SUBNORMAL);
  draw_region(plot, normal, max, NORMAL);
  draw_region(plot, max, PLOT_RIGHT, BEYOND_MAX);
}

static void draw_value(drawing *plot, double value, double *last) {
  if (!(value > 0)) return;
  double x = x_of(plot, value);
  int power = log2(value) == floor(log2(value)), subnormal = has_subnormals(plot) && value < normal_from(plot);
  if (x - *last < 1.6 && value != plot->limits.max) return;
  *last = x;
  double inset = power ? 6 : 18;
  svg_tick(&plot->out, x, plot->band + inset, x, plot->band + PLOT_BAND - inset,
           plot_colours[subnormal ? SUBNORMAL : NORMAL], power ? 1.6 : 1);
}

static void draw_tick(drawing *plot, uint32_t code, double *last) {
  draw_value(plot, hu_decode64(plot->format, code), last);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Draws the values of a number system, in whatever order its codes have; of wide ones those next to powers of two. */
static void draw_system_ticks(drawing *plot) {
  double last = -10, *values = cli_alloc((size_t)1 << 16, sizeof *values);
  hu_number system = plot->state->system;
  unsigned width = hu_number_limits_of(system).width;
  hu_mode rne = {0};
  size_t count = 0;
  if (!values) return;
  for (uint32_t c = 0; width <= 16 && c < (uint32_t)1 << width; c++) values[count++] = hu_number_decode64(system, c);
  for (int k = plot->low; width > 16 && k <= plot->high; k++) {
    values[count++] = hu_number_decode64(system, hu_number_encode64(system, rne, ldexp(1, k), 0, NULL));
  }
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) values[i] = -1; /* infinities have no place, as negative values have none */
  qsort(values, count, sizeof *values, ascending);
  for (size_t i = 0; i < count; i++) draw_value(plot, values[i], &last);
  free(values);
}

/* Draws every value; in wide formats, where they would merge, every power of two. */
static void draw_ticks(drawing *plot) {
  double last = -10;
  if (plot->state->other) {
    draw_system_ticks(plot);
    return;
  }
  if (plot->state->scaled) {
    for (uint32_t c = plot->limits.min_code; c <= plot->limits.max_code; c++)
      draw_value(plot, (double)plot->state->block.values[c], &last);
    return;
  }
  uint32_t step = plot->limits.width <= 16 ? 1 : (uint32_t)1 << (plot->format.m > 4 ? plot->format.m - 4 : 0);
  if (step > 1)
    for (uint32_t c = 1; c < ((uint32_t)1 << plot->format.m); c <<= 1) draw_tick(plot, c, &last);
  uint32_t first = step > 1 ? (uint32_t)1 << plot->format.m : plot->limits.min_code;
  for (uint64_t c = first; c <= plot->limits.max_code; c += step) draw_tick(plot, (uint32_t)c, &last);
}

/* Returns the binades from one label of the axis to the next. */
static int axis_step(const drawing *plot) {
  double per_binade = (double)(PLOT_RIGHT - PLOT_LEFT) / (plot->high - plot->low);
  int step = 1;
  while (step * per_binade < 44) step *= 2;
  return step;
}

void plot_axis(drawing *plot) {
  double y = plot->band + PLOT_BAND;
  int step = axis_step(plot);
  svg_line(&plot->out, PLOT_LEFT, y, PLOT_RIGHT, y, PLOT_INK, 1);
  for (int k = plot->low; k <= plot->high; k++) {
    if (((k % step) + step) % step) continue;
    double x = x_of_log(plot, k);
    svg_tick(&plot->out, x, y, x, y + 6, PLOT_INK, 1);
    svg_power(&plot->out, x, y + 22, 12, PLOT_GREY, "#ffffff", k);
  }
  svg_end_series(&plot->out);
}

/* Draws a line from the band down to a mark's row; it leaves out the label of the axis that it would cross. */
static void draw_leader(drawing *plot, double x, double to, const char *colour) {
  enum { HALF_LABEL = 18, LABEL_TOP = 7, LABEL_FOOT = 28 };
  double foot = plot->band + PLOT_BAND,
         per_step = (double)(PLOT_RIGHT - PLOT_LEFT) / (plot->high - plot->low) * axis_step(plot);
  int first =
      plot->low + ((-plot->low % axis_step(plot)) + axis_step(plot)) % axis_step(plot); /* the first label's binade */
  double away = fabs(remainder(x - x_of_log(plot, first), per_step));
  if (away > HALF_LABEL) {
    svg_line(&plot->out, x, plot->band, x, to, colour, 1);
    return;
  }
  svg_line(&plot->out, x, plot->band, x, foot + LABEL_TOP, colour, 1);
  svg_line(&plot->out, x, foot + LABEL_FOOT, x, to, colour, 1);
}

/* Draws a mark in a row of its own, so that labels never meet. A label has an edge, a text of its own below it, against
 * the leaders of the rows further down, which are drawn before. */
static void draw_mark(drawing *plot, int row, double value, const char *name, const char *colour) {
  char text[96];
  double x = x_of(plot, value), y = plot->band + PLOT_BAND + 50 + 20 * row;
  snprintf(text, sizeof text, "%s %s", name, DECIMAL(value));
  draw_leader(plot, x, y - 4, colour);
  int right = x > (PLOT_LEFT + PLOT_RIGHT) / 2;
  enum svg_anchor anchor = right ? SVG_END : SVG_START;
  svg_line(&plot->out, x, y - 4, right ? x - 8 : x + 8, y - 4, colour, 1);
  svg_text(&plot->out, right ? x - 12 : x + 12, y, 12, anchor, "#ffffff",
           "font-weight=\"bold\" stroke=\"#ffffff\" stroke-width=\"5\" stroke-linejoin=\"round\" aria-hidden=\"true\"",
           text);
  svg_text(&plot->out, right ? x - 12 : x + 12, y, 12, anchor, colour, "font-weight=\"bold\"", text);
}

static void draw_marks(drawing *plot) {
  draw_mark(plot, 2, plot->limits.min, has_subnormals(plot) ? "min subnormal" : "min > 0",
            has_subnormals(plot) ? "#a06a10" : plot_colours[NORMAL]);
  if (has_subnormals(plot) && plot->limits.min_normal > 0)
    draw_mark(plot, 1, plot->limits.min_normal, "min normal", plot_colours[NORMAL]);
  draw_mark(plot, 0, plot->limits.max, "max", plot_colours[BEYOND_MAX]);
}

/* Returns a round step: 1, 2 or 5 times a power of ten, at most five of them up to top. */
static uint64_t count_step(uint64_t top) {
  static const unsigned factors[] = {1, 2, 5};
  uint64_t power = 1;
  for (;; power *= 10)
    for (int i = 0; i < 3; i++)
      if (top / 5 <= power * factors[i] || power > UINT64_MAX / 100) return power * factors[i];
}

void plot_bars(drawing *plot, int plain) {
  const histogram *data = plot->data;
  uint64_t tallest = plot_tallest(data, plot->group), step = count_step(tallest);
  double scale = tallest ? (PLOT_BARS - 20) / (double)tallest : 0;
  char text[32];
  for (uint64_t y = step; tallest && y <= tallest; y += step) {
    double at = plot->bars - (double)y * scale;
    snprintf(text, sizeof text, "%llu", (unsigned long long)y);
    svg_tick(&plot->out, PLOT_LEFT, at, PLOT_RIGHT, at, "#e3e6eb", 1);
    svg_text(&plot->out, PLOT_LEFT - 8, at + 4, 11, SVG_END, PLOT_GREY, "", text);
  }
  svg_end_series(&plot->out);
  for (int b = 0; b < BINS_MAX; b += plot->group) {
    double left = x_of_log(plot, -1076 + (double)b / BINS_PER_BINADE);
    double right = x_of_log(plot, -1076 + (double)(b + plot->group) / BINS_PER_BINADE), y = plot->bars;
    for (int c = plain ? -1 : 0; c < (plain ? 0 : CLASSES); c++) {
      uint64_t n = plot_group_sum(data, b, plot->group, c);
      if (!n) continue;
      double height = fmax((double)n * scale, 1.5); /* a single datum must stay visible */
      svg_bar(&plot->out, left + 0.4, y - height, right - left - 0.8 > 0.8 ? right - left - 0.8 : 0.8, height,
              plain ? PLOT_GREY : plot_colours[c]);
      y -= height;
    }
  }
  svg_end_series(&plot->out);
  svg_line(&plot->out, PLOT_LEFT, plot->bars, PLOT_RIGHT, plot->bars, PLOT_INK, 1);
}

static const char *overflow_result(const drawing *plot, hu_mode mode) {
  if (plot->state->other && plot->state->system.overflow == HU_FIXED_WRAP) return "beyond max: its low bits";
  if (plot->state->scaled) return "beyond the largest number of its block";
  int policy = mode.saturate ? mode.saturate : plot->format.inf ? HU_SAT_NONE : HU_SAT_FINITE;
  if (policy != HU_SAT_NONE || plot->format.overflow == HU_OVERFLOW_MAX) return "beyond max: becomes max";
  return plot->format.overflow == HU_OVERFLOW_INF ? "beyond max: becomes infinity" : "beyond max: becomes NaN";
}

static void draw_row(drawing *plot, double y, int class, const char *name, const char *values) {
  char text[64];
  svg_rect(&plot->out, PLOT_LEFT, y - 11, 14, 14, plot_colours[class]);
  svg_text(&plot->out, PLOT_LEFT + 24, y, 13, SVG_START, PLOT_INK, "", name);
  svg_text(&plot->out, PLOT_LEFT + 560, y, 13, SVG_END, PLOT_INK, "", values);
  if (!plot->data) return;
  uint64_t n = plot->data->classes[class];
  snprintf(text, sizeof text, "%llu", (unsigned long long)n);
  svg_text(&plot->out, PLOT_LEFT + 720, y, 13, SVG_END, PLOT_INK, "", text);
  snprintf(text, sizeof text, "%.2f %%", plot->data->count ? 100.0 * (double)n / (double)plot->data->count : 0);
  svg_text(&plot->out, PLOT_LEFT + 830, y, 13, SVG_END, PLOT_INK, "", text);
}

/* Returns 1 for systems with a NaR: then nothing becomes zero either. */
static int has_nar(hu_number system) {
  return system.kind == HU_NUMBER_POSIT || system.kind == HU_NUMBER_TAKUM_LINEAR || system.kind == HU_NUMBER_TAKUM;
}

static int symmetric(const drawing *plot) {
  uint8_t kind = plot->state->system.kind;
  return !plot->state->other || kind == HU_NUMBER_POSIT || kind == HU_NUMBER_LNS || kind > HU_NUMBER_TABLE;
}

static const char *values_of(const drawing *plot) {
  if (!plot->format.sign) return "values";
  return symmetric(plot) ? "values of each sign" : "positive values";
}

/* Counts the values of a sign that are subnormal numbers, and those that are not. */
static uint32_t subnormal_values(const drawing *plot) {
  uint32_t normal = (uint32_t)1 << plot->format.m;
  return !has_subnormals(plot) ? 0 : normal <= plot->limits.max_code ? normal - 1 : plot->limits.max_code;
}

static uint32_t normal_values(const drawing *plot) {
  uint32_t first = has_subnormals(plot) ? 1 : plot->limits.min_code;
  return plot->limits.max_code - first + 1 - subnormal_values(plot);
}

/* Returns 1 if a row says how many numbers became NaN for another one of their block. */
static int has_lost(const drawing *plot) { return plot->data && plot->data->classes[LOST]; }

/* Writes how far the data lie from what they become. */
static const char *error_text(char *text, size_t size, const cli_errors *errors) {
  if (isfinite(errors->sqnr))
    snprintf(text, size, "SQNR %.2f dB, rms error %s, largest error %s", errors->sqnr, ROUNDED(errors->rms, 4),
             ROUNDED(errors->max_abs, 4));
  else
    snprintf(text, size, "SQNR: %s", cli_no_sqnr(errors));
  return text;
}

static void draw_table(drawing *plot, double y, hu_mode mode) {
  char text[160];
  svg_text(&plot->out, PLOT_LEFT + 560, y, 12, SVG_END, PLOT_GREY, "", values_of(plot));
  if (plot->data) svg_text(&plot->out, PLOT_LEFT + 720, y, 12, SVG_END, PLOT_GREY, "", "data");
  if (plot->data) svg_text(&plot->out, PLOT_LEFT + 830, y, 12, SVG_END, PLOT_GREY, "", "share");
  svg_line(&plot->out, PLOT_LEFT, y + 7, plot->data ? PLOT_LEFT + 830 : PLOT_LEFT + 560, y + 7, "#c5cad3", 1);
  y += 28;
  snprintf(text, sizeof text, "%u", normal_values(plot));
  draw_row(plot, y, NORMAL, plot->state->other ? "numbers" : "normal numbers", text);
  snprintf(text, sizeof text, "%u", subnormal_values(plot));
  if (!plot->state->other) draw_row(plot, y + 24, SUBNORMAL, "subnormal numbers", text);
  if (plot->state->other) y -= 24;
  draw_row(plot, y + 48, TO_ZERO, plot->has_zero ? "too small: becomes zero" : "too small", "");
  draw_row(plot, y + 72, BEYOND_MAX, overflow_result(plot, mode), "");
  if (!plot->format.sign) draw_row(plot, y + 96, BELOW, "below the range (negative)", "");
  if (has_lost(plot)) draw_row(plot, y + 96, LOST, "in a block with an infinity or a NaN", "");
  if (!plot->data) return;
  snprintf(text, sizeof text, "%llu elements; besides: %llu zeros, %llu infinities, %llu NaN",
           (unsigned long long)plot->data->count, (unsigned long long)plot->data->zeros,
           (unsigned long long)plot->data->infinities, (unsigned long long)plot->data->nans);
  y += plot->format.sign && !has_lost(plot) ? 102 : 126;
  svg_text(&plot->out, PLOT_LEFT, y, 13, SVG_START, PLOT_GREY, "", text);
  svg_text(&plot->out, PLOT_RIGHT, y, 13, SVG_END, PLOT_INK, "", error_text(text, sizeof text, &plot->data->errors));
}

/* Counts the codes that have positive values. */
static uint32_t positive_values(hu_number system, hu_number_limits limits) {
  uint32_t count = 0;
  if (system.kind == HU_NUMBER_HIFLOAT8) return 126; /* of the 127 codes above zero one is the infinity */
  if (system.kind != HU_NUMBER_LNS && system.kind != HU_NUMBER_TABLE) return limits.max_code;
  if (system.kind == HU_NUMBER_LNS) return ((uint32_t)1 << (limits.width - 1)) - (limits.has_zero ? 1 : 0);
  for (uint32_t c = 0; c < system.count; c++) count += system.table[c] > 0;
  return count;
}

const char *plot_bar_name(const drawing *plot) {
  if (plot->group == 1) return "a quarter of a binade";
  if (plot->group == 2) return "half a binade";
  return plot->group == 4 ? "a binade" : "several binades";
}

const char *plot_name(char name[CLI_NAME_MAX], const plot_state *state) {
  char text[CLI_TARGET_MAX];
  if (state->scaled) {
    snprintf(name, CLI_NAME_MAX, "%.*s", CLI_NAME_MAX - 1, cli_target_name(text, &state->target));
    if (strlen(text) >= CLI_NAME_MAX) memcpy(name + CLI_NAME_MAX - 4, "...", 4);
    return name;
  }
  if (state->other) return cli_system_name(name, state->system, state->numeric.format_text);
  return cli_shown_name(name, state->numeric.format, state->numeric.format_text);
}

static void describe_format(drawing *plot) {
  char text[HU_FORMAT_TEXT_MAX], line[1024];
  hu_format_text(text, sizeof text, plot->format);
  snprintf(line, sizeof line, "%s \u00b7 %u bits: %s%u exponent, %u trailing significand; bias %d", text,
           plot->limits.width, plot->format.sign ? "sign, " : "no sign, ", plot->format.e, plot->format.m,
           plot->limits.bias);
  svg_text(&plot->out, PLOT_LEFT, 63, 13, SVG_START, PLOT_GREY, "", line);
  int n = snprintf(line, sizeof line, "zero: %s",
                   !plot->has_zero        ? "none"
                   : plot->format.negzero ? "+0 and -0"
                                          : "one");
  n += snprintf(line + n, sizeof line - (size_t)n, " \u00b7 infinity: ");
  if (plot->format.inf)
    n += snprintf(line + n, sizeof line - (size_t)n, "code 0x%0*x", (int)code_digits(plot->format),
                  plot->limits.inf_code);
  else
    n += snprintf(line + n, sizeof line - (size_t)n, "none");
  if (plot->limits.has_nan)
    snprintf(line + n, sizeof line - (size_t)n, " \u00b7 NaN: %llu code%s, 0x%0*x",
             (unsigned long long)plot->limits.nan_codes, plot->limits.nan_codes == 1 ? "" : "s",
             (int)code_digits(plot->format), plot->limits.nan_code);
  else
    snprintf(line + n, sizeof line - (size_t)n, " \u00b7 NaN: none");
  svg_text(&plot->out, PLOT_LEFT, 83, 13, SVG_START, PLOT_GREY, "", line);
}

static void describe_system(drawing *plot) {
  char text[HU_NUMBER_TEXT_MAX], kind[CLI_NAME_MAX], line[CLI_NAME_MAX * 2];
  hu_number system = plot->state->system;
  hu_number_limits limits = hu_number_limits_of(system);
  hu_number_text(text, sizeof text, system);
  snprintf(line, sizeof line, "%.60s%s \u00b7 %u bits: %s", text, strlen(text) > 60 ? "..." : "",
           (unsigned)limits.width, cli_system_line(kind, system));
  svg_text(&plot->out, PLOT_LEFT, 63, 13, SVG_START, PLOT_GREY, "", line);
  snprintf(line, sizeof line, "zero: %s \u00b7 %s: %s", limits.has_zero ? "one" : "none",
           has_nar(system) ? "NaR" : "NaN", limits.has_nan ? "yes" : "none");
  svg_text(&plot->out, PLOT_LEFT, 83, 13, SVG_START, PLOT_GREY, "", line);
}

static void describe_scaled(drawing *plot) {
  const plot_state *state = plot->state;
  const cli_blocks *blocks = plot->data ? &plot->data->blocks : NULL;
  char text[CLI_TARGET_MAX], line[1024];
  state->target.kind->text(text, &state->target);
  svg_text(&plot->out, PLOT_LEFT, 63, 13, SVG_START, PLOT_GREY, "", text);
  int n = snprintf(line, sizeof line, "the values of a block under its scale %s", DECIMAL(state->block.scale));
  if (state->target.scaling.tensor)
    n += snprintf(line + n, sizeof line - (size_t)n, " times the tensor's %s", ROUNDED(state->block.tensor, 6));
  n += snprintf(line + n, sizeof line - (size_t)n, ": that of the largest magnitude%s",
                state->block.of_one ? " 1" : "");
  if (blocks)
    n += snprintf(line + n, sizeof line - (size_t)n, "; the data: %llu block%s, scale%s %s",
                  (unsigned long long)blocks->count, blocks->count == 1 ? "" : "s", blocks->count == 1 ? "" : "s",
                  ROUNDED(blocks->scale_low, 6));
  if (blocks && blocks->count != 1)
    snprintf(line + n, sizeof line - (size_t)n, " to %s", ROUNDED(blocks->scale_high, 6));
  svg_text(&plot->out, PLOT_LEFT, 83, 13, SVG_START, PLOT_GREY, "", line);
}

static void draw_heading(drawing *plot, const plot_state *state) {
  char name[CLI_NAME_MAX], line[1024], mode[CLI_NAME_MAX];
  svg_text(&plot->out, PLOT_LEFT, 40, 22, SVG_START, PLOT_INK, "font-weight=\"bold\"", plot_name(name, state));
  if (state->other)
    describe_system(plot);
  else if (state->scaled)
    describe_scaled(plot);
  else
    describe_format(plot);
  const char *negative =
      symmetric(plot) ? "magnitudes; the negative values are the mirror image" : "the positive values";
  if (!state->scaled)
    svg_text(&plot->out, PLOT_RIGHT, 83, 13, SVG_END, PLOT_GREY, "",
             plot->format.sign ? negative : "there are no negative values");
  if (!state->data) return;
  snprintf(line, sizeof line, "magnitudes of %s, rounded by %s; a bar is %s", state->data,
           cli_mode_name(mode, state->numeric.mode), plot_bar_name(plot));
  svg_text(&plot->out, PLOT_LEFT, 114, 13, SVG_START, PLOT_INK, "", line);
}

/* Makes of a number system what a drawing needs of a format: normal numbers alone. Not 0: no value is positive. */
static int as_format(drawing *plot) {
  hu_number system = plot->state->system;
  hu_number_limits limits = hu_number_limits_of(system);
  memset(&plot->format, 0, sizeof plot->format);
  memset(&plot->limits, 0, sizeof plot->limits);
  plot->format.e = 1;
  plot->format.sign = limits.low < 0;
  plot->has_zero = !has_nar(system) && limits.has_zero;
  if (!(limits.min > 0)) return 1;
  plot->limits.max = limits.max;
  plot->limits.min = plot->limits.min_normal = limits.min;
  plot->limits.emax = ilogb(limits.max);
  plot->limits.min_code = 1;
  plot->limits.max_code = positive_values(system, limits);
  return 0;
}

/* Makes the limits those of a block under its scales. Not 0: no value is positive. */
static int as_block(drawing *plot) {
  const float *values = plot->state->block.values;
  hu_limits *limits = &plot->limits;
  double max = (double)values[limits->max_code], min = (double)values[limits->min_code];
  if (!(min > 0) || !isfinite(max)) return 1;
  limits->max = max;
  limits->min = min;
  limits->emax = ilogb(max);
  limits->emin = limits->emax + 1; /* beyond all values, where no code is normal */
  limits->min_normal = limits->max_code >> plot->format.m ? (double)values[(size_t)1 << plot->format.m] : 0;
  return 0;
}

int plot_begin(drawing *plot, const plot_state *state, const histogram *data) {
  *plot = (drawing){{0}, state->numeric.format, hu_limits_of(state->numeric.format), 0, 0, 0, 0, data, state, 1, 1};
  plot->has_zero = plot->limits.min_code != 0;
  if ((state->other && as_format(plot)) || (state->scaled && as_block(plot)))
    return cli_fail(NULL, "plot: there is no positive value");
  plot->low = ilogb(plot->limits.min) - 2;
  plot->high = plot->limits.emax + 3;
  return CLI_OK;
}

void plot_widen(drawing *plot, const drawing *by) {
  const histogram *data = by->data;
  if (by->low < plot->low) plot->low = by->low;
  if (by->high > plot->high) plot->high = by->high;
  if (data && data->low < plot->low) plot->low = data->low;
  if (data && data->high > plot->high) plot->high = data->high;
}

void plot_group(drawing *plot) {
  while ((double)(PLOT_RIGHT - PLOT_LEFT) * plot->group / BINS_PER_BINADE / (plot->high - plot->low) < 3)
    plot->group *= 2;
}

void plot_band(drawing *plot) {
  draw_regions(plot);
  draw_ticks(plot);
  svg_end_series(&plot->out);
}

plot_counts plot_counted(const drawing *plot) { return (plot_counts){normal_values(plot), subnormal_values(plot)}; }

int plot_draw_one(cli_piece *text, const plot_state *state, const histogram *data, plot_counts *counts) {
  char name[CLI_NAME_MAX];
  drawing plot;
  if (plot_begin(&plot, state, data)) return CLI_BAD;
  plot_widen(&plot, &plot);
  plot_group(&plot);
  plot.bars = 120 + PLOT_BARS;
  plot.band = data ? plot.bars + 10 : 112;
  double codes = plot.band + PLOT_BAND + 110, table = codes + plot_codes_height(data) + 26;
  int height = (int)table + (data ? 150 : 122) + (plot.format.sign && !has_lost(&plot) ? 0 : 24);
  if (svg_open(&plot.out, PLOT_WIDTH, height, plot_name(name, state))) return CLI_BAD;
  draw_heading(&plot, state);
  if (data) plot_bars(&plot, 0);
  plot_band(&plot);
  draw_marks(&plot);
  plot_axis(&plot);
  if (plot_codes_height(data)) plot_codes(&plot, codes);
  draw_table(&plot, table, state->numeric.mode);
  *counts = plot_counted(&plot);
  return svg_end(&plot.out, text);
}
