/* SPDX-License-Identifier: MIT */
/* halfulp plot - the value line of a format, and where data lies on it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/draw/svg.h"
#include "cli/explain/number.h"
#include "cli/tensors/array.h"
#include "halfulp/scalar.h"

enum { KEY_ARRAY = CLI_KEY_FREE };
enum {
  WIDTH = 1120,
  LEFT = 70,
  RIGHT = 1080,
  BARS_HEIGHT = 230,
  BAND_HEIGHT = 54,
  BINS_PER_BINADE = 4,
  BINS_MAX = 2200 * 4
};

typedef struct plot_state {
  cli_numeric numeric;
  const char *output, *data;
  int other; /* 1: a number system beside floating point; numeric.format stays all zero */
  hu_number system;
  float room[HU_TABLE_MAX];
} plot_state;

static int set(void *state, int key, const char *value) {
  plot_state *s = state;
  if (key == 'f') {
    s->other = cli_read_system(&s->system, value, s->room);
    if (s->other < 0) return CLI_BAD;
    s->numeric.format_text = value;
    if (s->other) return CLI_OK;
    return cli_read_format_or(&s->numeric.format, value, CLI_NAMES_NUMBERS);
  }
  int shared = cli_set_numeric(&s->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == 'o')
    s->output = value;
  else
    s->data = value;
  return CLI_OK;
}

static const cli_option options[] = {
    CLI_OPTIONS_FORMAT,
    {'o', "output", "OUT", "the drawing, an .svg file"},
    {KEY_ARRAY, "array", "IN.npy", "a float array: draw the histogram of its magnitudes"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "plot",
    "",
    "Draw the positive values of a format on a logarithmic line, as SVG",
    "With --array: also the data's magnitudes over it, what becomes a normal or a subnormal number, zero,\n"
    "or overflows when rounded by MODE. FORMAT may be any number system that `halfulp formats` lists.",
    "  halfulp plot -f float8_e4m3fn -o /tmp/e4m3.svg\n"
    "  halfulp plot -f float8_e5m2 --array digits_weights.npy -o /tmp/weights.svg",
    options,
    0,
    0,
    set};

/* What a datum becomes, and the rows of the table. */
enum { TO_ZERO, SUBNORMAL, NORMAL, OVERFLOW, BELOW, CLASSES };
static const char *const colours[CLASSES] = {"#8a94a6", "#d9972b", "#2f6db5", "#c8373f", "#7b4fa3"};
static const char *const tints[CLASSES] = {"#eef0f3", "#fbf0dc", "#e3edf8", "#fbe6e7", "#f0e8f6"};
#define INK "#1f2733"
#define GREY "#5b6575"

typedef struct histogram {
  uint64_t bins[BINS_MAX][CLASSES];
  uint64_t classes[CLASSES], zeros, infinities, nans, count;
  int low, high; /* exponents of the smallest and largest magnitude; low > high if there is none */
} histogram;

typedef struct drawing {
  svg out;
  hu_format f;
  hu_limits l;
  int low, high;         /* exponents at the ends of the axis */
  double bars, band;     /* y of the foot of the bars, of the top of the band */
  const histogram *data; /* NULL: none */
  const plot_state *state;
  int group; /* bins to a bar */
} drawing;

static int class_of(const plot_state *s, double x, uint64_t i) {
  uint32_t events, bits = s->numeric.mode.bits;
  uint32_t r = bits ? hu_stream_word(s->numeric.stream, i) >> (32 - bits) : 0;
  if (s->other)
    hu_number_encode64(s->system, s->numeric.mode, x, r, &events);
  else
    hu_encode64(s->numeric.format, s->numeric.mode, x, r, &events);
  if (events & HU_EVENT_INVALID) return BELOW;
  if (events & HU_EVENT_OVERFLOW) return OVERFLOW;
  if (events & HU_EVENT_TO_ZERO || (s->other && events & HU_EVENT_UNDERFLOW)) return TO_ZERO;
  return events & HU_EVENT_SUBNORMAL ? SUBNORMAL : NORMAL;
}

/* Bins start at 2^-1076. */
static int bin_of(double magnitude) {
  int exponent;
  double fraction = frexp(magnitude, &exponent);
  int part = (int)(BINS_PER_BINADE * (log2(fraction) + 1));
  return (exponent - 1 + 1076) * BINS_PER_BINADE + (part < BINS_PER_BINADE ? part : BINS_PER_BINADE - 1);
}

static void add_datum(histogram *h, const plot_state *s, double x, uint64_t i) {
  int exponent;
  h->count++;
  if (isnan(x))
    h->nans++;
  else if (isinf(x))
    h->infinities++;
  else if (x == 0)
    h->zeros++;
  else {
    int class = class_of(s, x, i);
    h->classes[class]++;
    h->bins[bin_of(fabs(x))][class]++;
    frexp(x, &exponent);
    if (exponent - 1 < h->low) h->low = exponent - 1;
    if (exponent > h->high) h->high = exponent;
  }
}

static uint64_t bin_total(const histogram *h, int bin) {
  uint64_t sum = 0;
  for (int c = 0; c < CLASSES; c++) sum += h->bins[bin][c];
  return sum;
}

static uint64_t group_sum(const histogram *h, int first, int group, int class) {
  uint64_t sum = 0;
  for (int b = first; b < first + group && b < BINS_MAX; b++) sum += class < 0 ? bin_total(h, b) : h->bins[b][class];
  return sum;
}

static uint64_t tallest_bar(const histogram *h, int group) {
  uint64_t tallest = 0;
  for (int b = 0; b < BINS_MAX; b += group)
    if (group_sum(h, b, group, -1) > tallest) tallest = group_sum(h, b, group, -1);
  return tallest;
}

static void gather(histogram *h, const plot_state *s, const cli_array *x) {
  double block[CLI_BLOCK];
  progress p;
  cli_source source = cli_array_source(x, s->numeric.format); /* of an array of floats: the format does not matter */
  memset(h, 0, sizeof *h);
  h->low = 2000;
  h->high = -2000;
  progress_start(&p, "plot", x->info.count);
  for (size_t i = 0; i < x->info.count; i += CLI_BLOCK) {
    size_t n = x->info.count - i < CLI_BLOCK ? x->info.count - i : CLI_BLOCK;
    cli_source_read(&source, block, i, n);
    for (size_t j = 0; j < n; j++) add_datum(h, s, block[j], i + j);
    progress_at(&p, i);
  }
  progress_end(&p);
}

static double x_of_log(const drawing *d, double log) {
  return LEFT + (RIGHT - LEFT) * (log - d->low) / (d->high - d->low);
}

static double x_of(const drawing *d, double value) {
  int exponent;
  double fraction = frexp(value, &exponent);
  return x_of_log(d, exponent + log2(fraction));
}

static int has_subnormals(const drawing *d) {
  return d->f.zero == HU_ZERO_FIELD && d->f.subnormal == HU_SUBNORMAL_GRADUAL && d->f.m > 0;
}

/* From where on the values are normal. */
static double normal_from(const drawing *d) { return d->l.min_normal > 0 ? d->l.min_normal : ldexp(1, d->l.emin); }

static void draw_region(drawing *d, double from, double to, int class) {
  if (to > from) svg_rect(&d->out, from, d->band, to - from, BAND_HEIGHT, tints[class]);
}

static void draw_regions(drawing *d) {
  double min = x_of(d, d->l.min), normal = x_of(d, normal_from(d)), max = x_of(d, d->l.max);
  int all_subnormal = d->f.e == 0;
  if (!has_subnormals(d) || normal < min) normal = min;
  if (all_subnormal || normal > max) normal = max;
  draw_region(d, LEFT, min, TO_ZERO);
  draw_region(d, min, normal, SUBNORMAL);
  draw_region(d, normal, max, NORMAL);
  draw_region(d, max, RIGHT, OVERFLOW);
}

static void draw_value(drawing *d, double value, double *last) {
  if (!(value > 0)) return;
  double x = x_of(d, value);
  int power = log2(value) == floor(log2(value)), subnormal = has_subnormals(d) && value < normal_from(d);
  if (x - *last < 1.6 && value != d->l.max) return;
  *last = x;
  double inset = power ? 6 : 18;
  svg_line(&d->out, x, d->band + inset, x, d->band + BAND_HEIGHT - inset, colours[subnormal ? SUBNORMAL : NORMAL],
           power ? 1.6 : 1);
}

static void draw_tick(drawing *d, uint32_t code, double *last) { draw_value(d, hu_decode64(d->f, code), last); }

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The values of a number system, in whatever order its codes have; of wide ones those next to powers of two. */
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
    if (isnan(values[i])) values[i] = -1;
  qsort(values, count, sizeof *values, ascending);
  for (size_t i = 0; i < count; i++) draw_value(d, values[i], &last);
  free(values);
}

/* Every value; in wide formats, where they would merge, every power of two. */
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

/* Binades from one label of the axis to the next. */
static int axis_step(const drawing *d) {
  double per_binade = (double)(RIGHT - LEFT) / (d->high - d->low);
  int step = 1;
  while (step * per_binade < 44) step *= 2;
  return step;
}

static void draw_axis(drawing *d) {
  double y = d->band + BAND_HEIGHT;
  int step = axis_step(d);
  svg_line(&d->out, LEFT, y, RIGHT, y, INK, 1);
  for (int k = d->low; k <= d->high; k++) {
    if (((k % step) + step) % step) continue;
    double x = x_of_log(d, k);
    svg_line(&d->out, x, y, x, y + 6, INK, 1);
    svg_power(&d->out, x, y + 22, 12, GREY, "#ffffff", k);
  }
}

/* From the band down to a mark's row; it leaves out the label of the axis that it would cross. */
static void draw_leader(drawing *d, double x, double to, const char *colour) {
  enum { HALF_LABEL = 18, LABEL_TOP = 7, LABEL_FOOT = 28 };
  double foot = d->band + BAND_HEIGHT, per_step = (double)(RIGHT - LEFT) / (d->high - d->low) * axis_step(d);
  int first = d->low + ((-d->low % axis_step(d)) + axis_step(d)) % axis_step(d); /* the first label's binade */
  double away = fabs(remainder(x - x_of_log(d, first), per_step));
  if (away > HALF_LABEL) {
    svg_line(&d->out, x, d->band, x, to, colour, 1);
    return;
  }
  svg_line(&d->out, x, d->band, x, foot + LABEL_TOP, colour, 1);
  svg_line(&d->out, x, foot + LABEL_FOOT, x, to, colour, 1);
}

/* One row each, so that labels never meet. A label has an edge, a text of its own below it, against the leaders of the
 * rows further down, which are drawn before. */
static void draw_mark(drawing *d, int row, double value, const char *name, const char *colour) {
  char text[96];
  double x = x_of(d, value), y = d->band + BAND_HEIGHT + 50 + 20 * row;
  snprintf(text, sizeof text, "%s %s", name, DECIMAL(value));
  draw_leader(d, x, y - 4, colour);
  int right = x > (LEFT + RIGHT) / 2;
  enum svg_anchor anchor = right ? SVG_END : SVG_START;
  svg_line(&d->out, x, y - 4, right ? x - 8 : x + 8, y - 4, colour, 1);
  svg_text(&d->out, right ? x - 12 : x + 12, y, 12, anchor, "#ffffff",
           "font-weight=\"bold\" stroke=\"#ffffff\" stroke-width=\"5\" stroke-linejoin=\"round\" aria-hidden=\"true\"",
           text);
  svg_text(&d->out, right ? x - 12 : x + 12, y, 12, anchor, colour, "font-weight=\"bold\"", text);
}

static void draw_marks(drawing *d) {
  draw_mark(d, 2, d->l.min, has_subnormals(d) ? "min subnormal" : "min > 0",
            has_subnormals(d) ? "#a06a10" : colours[NORMAL]);
  if (has_subnormals(d) && d->l.min_normal > 0) draw_mark(d, 1, d->l.min_normal, "min normal", colours[NORMAL]);
  draw_mark(d, 0, d->l.max, "max", colours[OVERFLOW]);
}

/* A round step: 1, 2 or 5 times a power of ten, at most five of them up to top. */
static uint64_t count_step(uint64_t top) {
  static const unsigned factors[] = {1, 2, 5};
  uint64_t power = 1;
  for (;; power *= 10)
    for (int i = 0; i < 3; i++)
      if (top / 5 <= power * factors[i] || power > UINT64_MAX / 100) return power * factors[i];
}

static void draw_bars(drawing *d) {
  const histogram *h = d->data;
  uint64_t tallest = tallest_bar(h, d->group), step = count_step(tallest);
  double scale = tallest ? (BARS_HEIGHT - 20) / (double)tallest : 0;
  char text[32];
  for (uint64_t y = step; tallest && y <= tallest; y += step) {
    double at = d->bars - (double)y * scale;
    snprintf(text, sizeof text, "%llu", (unsigned long long)y);
    svg_line(&d->out, LEFT, at, RIGHT, at, "#e3e6eb", 1);
    svg_text(&d->out, LEFT - 8, at + 4, 11, SVG_END, GREY, "", text);
  }
  for (int b = 0; b < BINS_MAX; b += d->group) {
    double left = x_of_log(d, -1076 + (double)b / BINS_PER_BINADE);
    double right = x_of_log(d, -1076 + (double)(b + d->group) / BINS_PER_BINADE), y = d->bars;
    for (int c = 0; c < CLASSES; c++) {
      uint64_t n = group_sum(h, b, d->group, c);
      if (!n) continue;
      double height = fmax((double)n * scale, 1.5); /* a single datum must stay visible */
      svg_rect(&d->out, left + 0.4, y - height, right - left - 0.8 > 0.8 ? right - left - 0.8 : 0.8, height,
               colours[c]);
      y -= height;
    }
  }
  svg_line(&d->out, LEFT, d->bars, RIGHT, d->bars, INK, 1);
}

static const char *overflow_result(const drawing *d, hu_mode mode) {
  if (d->state->other && d->state->system.overflow == HU_FIXED_WRAP) return "beyond max: its low bits";
  int policy = mode.saturate ? mode.saturate : d->f.inf ? HU_SAT_NONE : HU_SAT_FINITE;
  if (policy != HU_SAT_NONE || d->f.overflow == HU_OVERFLOW_MAX) return "beyond max: becomes max";
  return d->f.overflow == HU_OVERFLOW_INF ? "beyond max: becomes infinity" : "beyond max: becomes NaN";
}

static void draw_row(drawing *d, double y, int class, const char *name, const char *values) {
  char text[64];
  svg_rect(&d->out, LEFT, y - 11, 14, 14, colours[class]);
  svg_text(&d->out, LEFT + 24, y, 13, SVG_START, INK, "", name);
  svg_text(&d->out, LEFT + 560, y, 13, SVG_END, INK, "", values);
  if (!d->data) return;
  uint64_t n = d->data->classes[class];
  snprintf(text, sizeof text, "%llu", (unsigned long long)n);
  svg_text(&d->out, LEFT + 720, y, 13, SVG_END, INK, "", text);
  snprintf(text, sizeof text, "%.2f %%", d->data->count ? 100.0 * (double)n / (double)d->data->count : 0);
  svg_text(&d->out, LEFT + 830, y, 13, SVG_END, INK, "", text);
}

static int symmetric(const drawing *d) {
  return !d->state->other || d->state->system.kind == HU_NUMBER_POSIT || d->state->system.kind == HU_NUMBER_LNS;
}

static const char *values_of(const drawing *d) {
  if (!d->f.sign) return "values";
  return symmetric(d) ? "values of each sign" : "positive values";
}

/* How many values of a sign are subnormal numbers, and how many are not. */
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
  svg_text(&d->out, LEFT + 560, y, 12, SVG_END, GREY, "", values_of(d));
  if (d->data) svg_text(&d->out, LEFT + 720, y, 12, SVG_END, GREY, "", "data");
  if (d->data) svg_text(&d->out, LEFT + 830, y, 12, SVG_END, GREY, "", "share");
  svg_line(&d->out, LEFT, y + 7, d->data ? LEFT + 830 : LEFT + 560, y + 7, "#c5cad3", 1);
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
  svg_text(&d->out, LEFT, y + (d->f.sign ? 102 : 126), 13, SVG_START, GREY, "", text);
}

/* How many codes have positive values. */
static uint32_t positive_values(hu_number n, hu_number_limits l) {
  uint32_t count = 0;
  if (n.kind == HU_NUMBER_POSIT || n.kind == HU_NUMBER_FIXED) return l.max_code;
  if (n.kind == HU_NUMBER_LNS) return ((uint32_t)1 << (l.width - 1)) - (l.has_zero ? 1 : 0);
  for (uint32_t c = 0; c < n.count; c++) count += n.table[c] > 0;
  return count;
}

static const char *bar_name(const drawing *d) {
  if (d->group == 1) return "a quarter of a binade";
  if (d->group == 2) return "half a binade";
  return d->group == 4 ? "a binade" : "several binades";
}

static const char *shown_name(char name[CLI_NAME_MAX], const plot_state *s) {
  if (s->other) return cli_system_name(name, s->system, s->numeric.format_text);
  return cli_shown_name(name, s->numeric.format, s->numeric.format_text);
}

static void describe_format(drawing *d) {
  char text[HU_FORMAT_TEXT_MAX], line[1024];
  hu_format_text(text, sizeof text, d->f);
  snprintf(line, sizeof line, "%s \u00b7 %u bits: %s%u exponent, %u trailing significand; bias %d", text, d->l.width,
           d->f.sign ? "sign, " : "no sign, ", d->f.e, d->f.m, d->l.bias);
  svg_text(&d->out, LEFT, 63, 13, SVG_START, GREY, "", line);
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
  svg_text(&d->out, LEFT, 83, 13, SVG_START, GREY, "", line);
}

static void describe_system(drawing *d) {
  char text[HU_NUMBER_TEXT_MAX], kind[CLI_NAME_MAX], line[CLI_NAME_MAX * 2];
  hu_number n = d->state->system;
  hu_number_limits l = hu_number_limits_of(n);
  hu_number_text(text, sizeof text, n);
  snprintf(line, sizeof line, "%.60s%s \u00b7 %u bits: %s", text, strlen(text) > 60 ? "..." : "", (unsigned)l.width,
           cli_system_line(kind, n));
  svg_text(&d->out, LEFT, 63, 13, SVG_START, GREY, "", line);
  snprintf(line, sizeof line, "zero: %s \u00b7 %s: %s", l.has_zero ? "one" : "none",
           n.kind == HU_NUMBER_POSIT ? "NaR" : "NaN", l.has_nan ? "yes" : "none");
  svg_text(&d->out, LEFT, 83, 13, SVG_START, GREY, "", line);
}

static void draw_heading(drawing *d, const plot_state *s) {
  char name[CLI_NAME_MAX], line[1024], mode[CLI_NAME_MAX];
  svg_text(&d->out, LEFT, 40, 22, SVG_START, INK, "font-weight=\"bold\"", shown_name(name, s));
  if (s->other)
    describe_system(d);
  else
    describe_format(d);
  const char *negative = symmetric(d) ? "magnitudes; the negative values are the mirror image" : "the positive values";
  svg_text(&d->out, RIGHT, 83, 13, SVG_END, GREY, "", d->f.sign ? negative : "there are no negative values");
  if (!s->data) return;
  snprintf(line, sizeof line, "magnitudes of %s, rounded by %s; a bar is %s", s->data,
           cli_mode_name(mode, s->numeric.mode), bar_name(d));
  svg_text(&d->out, LEFT, 114, 13, SVG_START, INK, "", line);
}

/* What the drawing asks of a format, for a number system: normal numbers alone. Not 0: no value is positive. */
static int as_format(drawing *d) {
  hu_number n = d->state->system;
  hu_number_limits l = hu_number_limits_of(n);
  memset(&d->f, 0, sizeof d->f);
  memset(&d->l, 0, sizeof d->l);
  d->f.e = 1;
  d->f.sign = l.low < 0;
  d->f.zero = n.kind != HU_NUMBER_POSIT && l.has_zero ? HU_ZERO_FIELD : HU_ZERO_NONE;
  if (!(l.min > 0)) return 1;
  d->l.max = l.max;
  d->l.min = d->l.min_normal = l.min;
  d->l.emax = ilogb(l.max);
  d->l.min_code = 1;
  d->l.max_code = positive_values(n, l);
  return 0;
}

static void json_data(const histogram *h, const plot_state *s) {
  static const char *const names[CLASSES] = {"to_zero", "subnormal", "normal", "overflow", "below"};
  char mode[CLI_NAME_MAX];
  fputs("{\"file\": ", stdout);
  cli_json_string(stdout, s->data);
  printf(", \"mode\": \"%s\", \"count\": %llu, \"zeros\": %llu, \"infinities\": %llu, \"nans\": %llu",
         cli_mode_name(mode, s->numeric.mode), (unsigned long long)h->count, (unsigned long long)h->zeros,
         (unsigned long long)h->infinities, (unsigned long long)h->nans);
  for (int c = 0; c < CLASSES; c++) printf(", \"%s\": %llu", names[c], (unsigned long long)h->classes[c]);
  fputs("}", stdout);
}

/* The numbers of the drawing's table. */
static void json_table(const drawing *d) {
  char name[CLI_NAME_MAX];
  fputs("{\"out\": ", stdout);
  cli_json_string(stdout, d->state->output);
  fputs(", \"format\": ", stdout);
  cli_json_string(stdout, shown_name(name, d->state));
  printf(", \"normal\": %u, \"subnormal\": %u, \"data\": ", normal_values(d), subnormal_values(d));
  if (d->data)
    json_data(d->data, d->state);
  else
    fputs("null", stdout);
  fputs("}\n", stdout);
}

static int draw(const plot_state *s, const histogram *h) {
  char name[CLI_NAME_MAX];
  drawing d = {{0}, s->numeric.format, hu_limits_of(s->numeric.format), 0, 0, 0, 0, h, s, 1};
  if (s->other && as_format(&d)) return cli_fail(NULL, "plot: there is no positive value");
  d.low = ilogb(d.l.min) - 2;
  d.high = d.l.emax + 3;
  if (h && h->low < d.low) d.low = h->low;
  if (h && h->high > d.high) d.high = h->high;
  while ((double)(RIGHT - LEFT) * d.group / BINS_PER_BINADE / (d.high - d.low) < 3) d.group *= 2;
  d.bars = 120 + BARS_HEIGHT;
  d.band = h ? d.bars + 10 : 112;
  double table = d.band + BAND_HEIGHT + 136;
  int height = (int)table + (h ? 150 : 122) + (d.f.sign ? 0 : 24);
  if (svg_open(&d.out, WIDTH, height, shown_name(name, s))) return CLI_BAD;
  draw_heading(&d, s);
  if (h) draw_bars(&d);
  draw_regions(&d);
  draw_ticks(&d);
  draw_marks(&d);
  draw_axis(&d);
  draw_table(&d, table, s->numeric.mode);
  int status = svg_close(&d.out, s->output);
  if (status == CLI_OK && s->numeric.json) json_table(&d);
  return status;
}

static int draw_with_data(const plot_state *s) {
  cli_array x;
  if (cli_array_load(&x, s->data)) return CLI_BAD;
  histogram *h = x.info.kind == 'f' ? cli_room(1, sizeof *h) : NULL;
  int status = CLI_BAD;
  if (x.info.kind != 'f') cli_fail(x.name, "plot requires float16, float32 or float64, this is %s", npy_dtype(&x.info));
  if (h) {
    gather(h, s, &x);
    status = draw(s, h);
  }
  free(h);
  cli_array_free(&x);
  return status;
}

/* What the file is called, people and programs take it for; a name without a suffix promises nothing. */
static int check_output(const plot_state *s) {
  const char *slash = strrchr(s->output, '/'), *name = slash ? slash + 1 : s->output, *dot = strrchr(name, '.');
  int stem = dot ? (int)(dot - s->output) : 0;
  if (s->data && cli_spare_input(s->output, s->data, "give -o another name")) return CLI_BAD;
  if (!strcmp(s->output, "-") && s->numeric.json)
    return cli_fail(NULL, "-o - and --json both write to standard output");
  if (!dot || dot == name || !strcasecmp(dot, ".svg")) return CLI_OK;
  return cli_fail(s->output,
                  "drawings are SVG: give -o '%.*s.svg', and make another format of it, as with `rsvg-convert -o "
                  "'%s' '%.*s.svg'`",
                  stem, s->output, s->output, stem, s->output);
}

int cli_plot(int argc, char **argv) {
  plot_state s = {0};
  char **operands;
  int count, status = cli_parse(&command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (cli_want_format(&s.numeric)) return CLI_BAD;
  if (!s.output) return cli_fail(NULL, "plot: no output given; use -o FILE.svg");
  if (check_output(&s)) return CLI_BAD;
  return s.data ? draw_with_data(&s) : draw(&s, NULL);
}
