/* SPDX-License-Identifier: MIT */
/* Draws several formats below each other on one axis, and data over them: see plot.h. */
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/plot/plot.h"

enum { LABEL = 26, GAP = 12, TABLE_ROW = 24 };

/* Where the columns of the table end. */
static const double column[] = {420, 560, 660, 770, 860, 950, 1040, 1080};

static void draw_cell(drawing *d, int at, double y, const char *colour, const char *text) {
  svg_text(&d->out, column[at], y, at < 4 ? 13 : 12, SVG_END, colour, "", text);
}

static void draw_share(drawing *d, int at, double y, int class) {
  const histogram *h = d->data;
  char text[32];
  snprintf(text, sizeof text, "%.2f %%", h->count ? 100.0 * (double)h->classes[class] / (double)h->count : 0);
  svg_text(&d->out, column[at], y, 13, SVG_END, h->classes[class] ? PLOT_INK : PLOT_GREY, "", text);
}

/* Writes all digits, where they fit the column. */
static const char *limit_text(char text[CLI_NAME_MAX], double x) {
  snprintf(text, CLI_NAME_MAX, "%s", DECIMAL(x));
  if (strlen(text) > 13) snprintf(text, CLI_NAME_MAX, "%s", ROUNDED(x, 6));
  return text;
}

static void draw_head(drawing *d, double y) {
  static const char *const names[] = {"smallest", "largest", "normal", "subnormal", "to zero", "subnormal", "overflow"};
  int columns = d->data ? 7 : 4;
  for (int i = 0; i < columns; i++) draw_cell(d, i, y, PLOT_GREY, names[i]);
  if (d->data) svg_text(&d->out, column[4] - 60, y - 18, 12, SVG_START, PLOT_GREY, "", "share of the data");
  svg_text(&d->out, column[2] - 50, y - 18, 12, SVG_START, PLOT_GREY, "", "values of a sign");
  svg_line(&d->out, PLOT_LEFT, y + 7, column[columns - 1], y + 7, "#c5cad3", 1);
}

static void draw_row(drawing *d, double y) {
  char text[CLI_NAME_MAX];
  plot_counts n = plot_counted(d);
  svg_text(&d->out, PLOT_LEFT, y, 13, SVG_START, PLOT_INK, "", plot_name(text, d->state));
  draw_cell(d, 0, y, PLOT_INK, limit_text(text, d->l.min));
  draw_cell(d, 1, y, PLOT_INK, limit_text(text, d->l.max));
  snprintf(text, sizeof text, "%u", n.normal);
  draw_cell(d, 2, y, PLOT_INK, text);
  snprintf(text, sizeof text, "%u", n.subnormal);
  draw_cell(d, 3, y, PLOT_INK, text);
  if (!d->data) return;
  draw_share(d, 4, y, TO_ZERO);
  draw_share(d, 5, y, SUBNORMAL);
  draw_share(d, 6, y, OVERFLOW);
}

static void draw_heading(drawing *d, const plot_state *s) {
  char line[1024], mode[CLI_NAME_MAX];
  svg_text(&d->out, PLOT_LEFT, 40, 22, SVG_START, PLOT_INK, "font-weight=\"bold\"", "Positive values of formats");
  if (!s->data) return;
  snprintf(line, sizeof line, "magnitudes of %s%s%s, rounded by %s; a bar is %s", s->data, s->tensor ? ", " : "",
           s->tensor ? s->tensor : "", cli_mode_name(mode, s->numeric.mode), plot_bar_name(d));
  svg_text(&d->out, PLOT_LEFT, 66, 13, SVG_START, PLOT_INK, "", line);
}

/* Places all on one axis, below each other from `top` on; returns the end of the last band. */
static double place(drawing *d, size_t formats, double top) {
  for (size_t i = 1; i < formats; i++) plot_widen(&d[0], &d[i]);
  plot_widen(&d[0], &d[0]);
  plot_group(&d[0]);
  for (size_t i = 0; i < formats; i++) {
    d[i].low = d[0].low;
    d[i].high = d[0].high;
    d[i].group = d[0].group;
    d[i].bars = top;
    d[i].band = top + LABEL + (double)i * (LABEL + PLOT_BAND + GAP);
  }
  return d[formats - 1].band + PLOT_BAND;
}

/* Draws each into the file of the first. */
static void draw_bands(drawing *d, size_t formats) {
  char name[CLI_NAME_MAX];
  for (size_t i = 0; i < formats; i++) {
    d[i].out = d[0].out;
    svg_text(&d[i].out, PLOT_LEFT, d[i].band - 8, 13, SVG_START, PLOT_INK, "font-weight=\"bold\"",
             plot_name(name, d[i].state));
    plot_band(&d[i]);
  }
}

int plot_draw_several(const plot_state *s, size_t formats, const histogram *data, plot_counts *counts) {
  drawing d[PLOT_FORMATS_MAX];
  memset(d, 0, sizeof d);
  for (size_t i = 0; i < formats; i++)
    if (plot_begin(&d[i], &s[i], data ? &data[i] : NULL)) return CLI_BAD;
  double foot = place(d, formats, data ? 80 + PLOT_BARS : 56), table = foot + 92;
  if (svg_open(&d[0].out, PLOT_WIDTH, (int)table + TABLE_ROW * (int)formats + 30, "Positive values of formats"))
    return CLI_BAD;
  draw_heading(&d[0], s);
  if (data) plot_bars(&d[0], 1);
  draw_bands(d, formats);
  plot_axis(&d[formats - 1]);
  draw_head(&d[0], table);
  for (size_t i = 0; i < formats; i++) {
    draw_row(&d[i], table + TABLE_ROW * ((double)i + 1) + 4);
    counts[i] = plot_counted(&d[i]);
  }
  return svg_close(&d[0].out, s->output);
}
