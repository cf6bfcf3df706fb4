/* SPDX-License-Identifier: MIT */
/* What the search has found, as a table, as JSON and as a drawing: see attribute.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/draw/curves.h"
#include "cli/experiment/attribute.h"
#include "cli/experiment/csv.h"

/* ---- the table ---- */

static const char *with_deviation(char text[64], double x, double deviation) {
  if (isnan(deviation))
    snprintf(text, 64, "%.4f", x);
  else
    snprintf(text, 64, "%.4f \xc2\xb1 %.4f", x, deviation);
  return text;
}

static const char *said_of_noise(const attribute_try *one) { return one->noise == 1 ? "noise" : ""; }

static void say_found(FILE *out, const char *what, const attribute_try *one, const attribute_try *all) {
  if (one) fprintf(out, "%-7s %s: %.0f %% of it\n", what, one->off, 100 * one->loss / all->loss);
}

void attribute_print(FILE *out, const attribute *work) {
  char loss[64], measure[64];
  const attribute_try *none = work->count ? &work->tried[0] : NULL, *all = work->count > 1 ? &work->tried[1] : NULL;
  if (none)
    fprintf(out, "%s, %zu seed%s: test loss %s, %s %s\n\n", work->how->cell, work->seeds, work->seeds == 1 ? "" : "s",
            with_deviation(loss, none->loss, none->loss_deviation), work->measure,
            with_deviation(measure, none->measure, none->measure_deviation));
  if (all) fprintf(out, "%-7s %20s  %20s  %-5s  not rounded\n", "search", "less loss", "more of it", "");
  for (size_t i = 1; i < work->count; i++) {
    const attribute_try *one = &work->tried[i];
    /* Two columns are one wider where a sign of two bytes stands. */
    fprintf(out, "%-7s %*s  %*s  %-5s  %s\n", one->search, work->seeds > 1 ? 21 : 20,
            with_deviation(loss, one->loss, one->loss_deviation), work->seeds > 1 ? 21 : 20,
            with_deviation(measure, one->measure, one->measure_deviation), said_of_noise(one), one->off);
  }
  if (all) putc('\n', out);
  if (all && all->noise == 1) fprintf(out, "All roundings together cost no more than noise.\n");
  say_found(out, "layers", work->layer_found, all);
  say_found(out, "parts", work->part_found, all);
  say_found(out, "steps", work->step_found, all);
  if (work->ended)
    fprintf(out, "The budget ended before the search: the next runs take about %.0f s. The same command continues.\n",
            ceil(work->spent * (double)work->seeds));
}

/* ---- JSON and CSV ---- */

static void print_try(FILE *out, const cli_value *value) {
  const attribute_try *one = value->record;
  cli_json(out, "{'search': ?, 'off': ?, 'loss': ?, 'loss_deviation': ?, ", JSON(one->search), JSON(one->off),
           JSON(one->loss), cli_known(one->loss_deviation));
  cli_json(out, "'measure': ?, 'measure_deviation': ?, 'noise': ?}", JSON(one->measure),
           cli_known(one->measure_deviation), cli_truth(one->noise == 1));
}

static const char *off_of(const attribute_try *one) { return one ? one->off : NULL; }

void attribute_print_json(FILE *out, const attribute *work) {
  cli_json(out, "{'cell': ?, 'measure': ?, 'seeds': ?, 'runs': ?, 'ended': ?, 'tried': [", JSON(work->how->cell),
           JSON((const char *)work->measure), JSON(work->seeds), JSON(work->runs), cli_truth(work->ended));
  for (size_t i = 0; i < work->count; i++) {
    const cli_value one = {.print = print_try, .record = &work->tried[i]};
    cli_json(out, i ? ", ?" : "?", one);
  }
  cli_json(out, "], 'layers': ?, 'parts': ?, 'steps': ?}\n", JSON(off_of(work->layer_found)),
           JSON(off_of(work->part_found)), JSON(off_of(work->step_found)));
}

static void print_csv(FILE *out, const void *what) {
  const attribute *work = what;
  fprintf(out, "search,off,loss,loss_deviation,%s,%s_deviation,noise\n", work->measure, work->measure);
  for (size_t i = 0; i < work->count; i++) {
    const attribute_try *one = &work->tried[i];
    fprintf(out, "%s,", one->search);
    csv_text(out, one->off);
    csv_number(out, one->loss);
    csv_number(out, one->loss_deviation);
    csv_number(out, one->measure);
    csv_number(out, one->measure_deviation);
    fprintf(out, ",%d\n", one->noise == 1);
  }
}

/* ---- the drawing ---- */

enum { WIDTH = 960, LEFT = 330, RIGHT = 860, HEAD = 40, ROW = 24, NAME_SHOWN = 44 };

typedef struct scale {
  double low, high;
} scale;

static double x_of(const scale *range, double x) {
  return LEFT + (RIGHT - LEFT) * (x - range->low) / (range->high - range->low);
}

static double deviation_of(const attribute_try *one) { return isnan(one->loss_deviation) ? 0 : one->loss_deviation; }

static scale scale_of(const attribute *work) {
  scale range = {0, 0};
  for (size_t i = 1; i < work->count; i++) {
    range.low = fmin(range.low, work->tried[i].loss - deviation_of(&work->tried[i]));
    range.high = fmax(range.high, work->tried[i].loss + deviation_of(&work->tried[i]));
  }
  if (range.low == range.high) range.high = 1;
  return range;
}

static void draw_axis(svg *image, const scale *range, double foot) {
  double step = svg_nice_step(range->high - range->low, 6);
  for (double x = ceil(range->low / step) * step; x <= range->high; x += step) {
    double shown = fabs(x) < step / 2 ? 0 : x, at = x_of(range, shown);
    svg_tick(image, at, HEAD, at, foot, palette_file.rule, shown == 0 ? 2 : 1);
    svg_text(image, at, foot + 18, 12, SVG_MIDDLE, palette_file.soft, "", ROUNDED(shown, 3));
  }
  svg_end_series(image);
}

/* Draws a bar from 0 to the mean, pale where it is noise, and a line over the deviation. */
static void draw_try(svg *image, const scale *range, double y, const attribute_try *one) {
  char text[NAME_SHOWN + 8];
  double zero = x_of(range, 0), to = x_of(range, one->loss), deviation = deviation_of(one);
  snprintf(text, sizeof text, "%.*s%s", NAME_SHOWN, one->off, strlen(one->off) > NAME_SHOWN ? "..." : "");
  svg_text(image, LEFT - 12, y + 4, 12, SVG_END, palette_file.ink, "", text);
  svg_bar(image, fmin(zero, to), y - 7, fabs(to - zero), 14,
          one->noise == 1 ? palette_file.rule : palette_file.line[0]);
  if (deviation > 0)
    svg_tick(image, x_of(range, one->loss - deviation), y, x_of(range, one->loss + deviation), y, palette_file.ink,
             1.5);
}

static int draw(const attribute *work, const char *path) {
  svg image;
  char title[LEDGER_NAME_MAX + 64];
  const scale range = scale_of(work);
  double foot = HEAD + ROW * (double)(work->count - 1);
  snprintf(title, sizeof title, "%s: less loss without roundings", work->how->cell);
  int status = drawing_open(&image, WIDTH, (int)foot + 34, title);
  if (status != CLI_OK) return status;
  svg_bar(&image, LEFT, 14, 14, 12, palette_file.rule);
  svg_text(&image, LEFT + 20, 25, 12, SVG_START, palette_file.soft, "", "no more than noise");
  svg_tick(&image, LEFT + 170, 20, LEFT + 200, 20, palette_file.ink, 1.5);
  svg_text(&image, LEFT + 206, 25, 12, SVG_START, palette_file.soft, "", "a standard deviation of the seeds");
  draw_axis(&image, &range, foot);
  for (size_t i = 1; i < work->count; i++) draw_try(&image, &range, HEAD + ROW * ((double)i - 0.5), &work->tried[i]);
  svg_end_series(&image);
  fputs("</g>\n", image.out);
  return svg_close(&image, path);
}

int attribute_write(const attribute *work) {
  char *csv = NULL, *picture = NULL;
  int status = asprintf(&csv, "%s/attribute.csv", work->how->given.out) < 0 ||
                       asprintf(&picture, "%s/attribute.svg", work->how->given.out) < 0
                   ? cli_fail(NULL, "out of memory")
                   : CLI_OK;
  if (status == CLI_OK && work->count > 1) status = cli_own_text(csv, print_csv, work);
  if (status == CLI_OK && work->count > 1) status = draw(work, picture);
  free(csv);
  free(picture);
  return status;
}
