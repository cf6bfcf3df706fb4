/* SPDX-License-Identifier: MIT */
/* Draws several formats below each other on one axis, and data over them: see plot.h. */
#include <math.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/plot/plot.h"

enum { LABEL = 26, GAP = 12, TABLE_ROW = 24 };

/* Where the columns of the table end. */
static const double column[] = {400, 520, 600, 690, 780, 870, 960, 1080};

static void draw_cell(drawing *plot, int at, double y, const char *colour, const char *text) {
  svg_text(&plot->out, column[at], y, at < 4 ? 13 : 12, SVG_END, colour, "", text);
}

static void draw_share(drawing *plot, int at, double y, int class) {
  const histogram *data = plot->data;
  char text[32];
  snprintf(text, sizeof text, "%.2f %%", data->count ? 100.0 * (double)data->classes[class] / (double)data->count : 0);
  svg_text(&plot->out, column[at], y, 13, SVG_END, data->classes[class] ? PLOT_INK : PLOT_GREY, "", text);
}

/* Writes all digits, where they fit the column. */
static const char *limit_text(char text[CLI_NAME_MAX], double x) {
  snprintf(text, CLI_NAME_MAX, "%s", DECIMAL(x));
  if (strlen(text) > 13) snprintf(text, CLI_NAME_MAX, "%s", ROUNDED(x, 6));
  return text;
}

static void draw_head(drawing *plot, double y) {
  static const char *const names[] = {"smallest", "largest",   "normal",   "subnormal",
                                      "to zero",  "subnormal", "beyond max", "SQNR"};
  int columns = plot->data ? 8 : 4;
  for (int i = 0; i < columns; i++) draw_cell(plot, i, y, PLOT_GREY, names[i]);
  if (plot->data) svg_text(&plot->out, column[4] - 60, y - 18, 12, SVG_START, PLOT_GREY, "", "share of the data");
  svg_text(&plot->out, column[2] - 50, y - 18, 12, SVG_START, PLOT_GREY, "", "values of a sign");
  svg_line(&plot->out, PLOT_LEFT, y + 7, column[columns - 1], y + 7, "#c5cad3", 1);
}

static void draw_row(drawing *plot, double y) {
  char text[CLI_NAME_MAX];
  plot_counts counts = plot_counted(plot);
  svg_text(&plot->out, PLOT_LEFT, y, 13, SVG_START, PLOT_INK, "", plot_name(text, plot->state));
  draw_cell(plot, 0, y, PLOT_INK, limit_text(text, plot->limits.min));
  draw_cell(plot, 1, y, PLOT_INK, limit_text(text, plot->limits.max));
  snprintf(text, sizeof text, "%u", counts.normal);
  draw_cell(plot, 2, y, PLOT_INK, text);
  snprintf(text, sizeof text, "%u", counts.subnormal);
  draw_cell(plot, 3, y, PLOT_INK, text);
  if (!plot->data) return;
  draw_share(plot, 4, y, TO_ZERO);
  draw_share(plot, 5, y, SUBNORMAL);
  draw_share(plot, 6, y, BEYOND_MAX);
  const cli_errors *errors = &plot->data->errors;
  snprintf(text, sizeof text, "%.2f dB", errors->sqnr);
  svg_text(&plot->out, column[7], y, 13, SVG_END, PLOT_INK, "", isfinite(errors->sqnr) ? text : cli_no_sqnr(errors));
}

static void draw_heading(drawing *plot, const plot_state *state) {
  char line[1024], mode[CLI_NAME_MAX];
  svg_text(&plot->out, PLOT_LEFT, 40, 22, SVG_START, PLOT_INK, "font-weight=\"bold\"", "Positive values of formats");
  if (!state->data) return;
  snprintf(line, sizeof line, "magnitudes of %s%s%s, rounded by %s; a bar is %s", state->data,
           state->tensor ? ", " : "", state->tensor ? state->tensor : "", cli_mode_name(mode, state->numeric.mode),
           plot_bar_name(plot));
  svg_text(&plot->out, PLOT_LEFT, 66, 13, SVG_START, PLOT_INK, "", line);
}

/* Places all on one axis, below each other from `top` on; returns the end of the last band. */
static double place(drawing *plot, size_t formats, double top) {
  for (size_t i = 1; i < formats; i++) plot_widen(&plot[0], &plot[i]);
  plot_widen(&plot[0], &plot[0]);
  plot_group(&plot[0]);
  for (size_t i = 0; i < formats; i++) {
    plot[i].low = plot[0].low;
    plot[i].high = plot[0].high;
    plot[i].group = plot[0].group;
    plot[i].bars = top;
    plot[i].band = top + LABEL + (double)i * (LABEL + PLOT_BAND + GAP);
  }
  return plot[formats - 1].band + PLOT_BAND;
}

/* Draws each into the file of the first. */
static void draw_bands(drawing *plot, size_t formats) {
  char name[CLI_NAME_MAX];
  for (size_t i = 0; i < formats; i++) {
    plot[i].out = plot[0].out;
    svg_text(&plot[i].out, PLOT_LEFT, plot[i].band - 8, 13, SVG_START, PLOT_INK, "font-weight=\"bold\"",
             plot_name(name, plot[i].state));
    plot_band(&plot[i]);
  }
}

int plot_draw_several(cli_piece *text, const plot_state *state, size_t formats, const histogram *data,
                      plot_counts *counts) {
  drawing plot[PLOT_FORMATS_MAX];
  memset(plot, 0, sizeof plot);
  for (size_t i = 0; i < formats; i++)
    if (plot_begin(&plot[i], &state[i], data ? &data[i] : NULL)) return CLI_BAD;
  double foot = place(plot, formats, data ? 80 + PLOT_BARS : 56), table = foot + 92;
  if (svg_open(&plot[0].out, PLOT_WIDTH, (int)table + TABLE_ROW * (int)formats + 30, "Positive values of formats"))
    return CLI_BAD;
  draw_heading(&plot[0], state);
  if (data) plot_bars(&plot[0], 1);
  draw_bands(plot, formats);
  plot_axis(&plot[formats - 1]);
  draw_head(&plot[0], table);
  for (size_t i = 0; i < formats; i++) {
    draw_row(&plot[i], table + TABLE_ROW * ((double)i + 1) + 4);
    counts[i] = plot_counted(&plot[i]);
  }
  return svg_end(&plot[0].out, text);
}

int plot_draw(cli_piece *text, const plot_state *state, size_t formats, const histogram *data, plot_counts *counts) {
  return formats == 1 ? plot_draw_one(text, state, data, counts)
                      : plot_draw_several(text, state, formats, data, counts);
}
