/* SPDX-License-Identifier: MIT */
/* cli/plot/plot.h - what `plot` is asked, the data that it counts, and its drawings. */
#ifndef HALFULP_CLI_PLOT_PLOT_H
#define HALFULP_CLI_PLOT_PLOT_H

#include "cli/base/cli.h"
#include "cli/draw/svg.h"
#include "cli/target/target.h"
#include "cli/tensors/array.h"
#include "halfulp/number.h"

enum { PLOT_FORMATS_MAX = 6 };

/* A block of a scaled format under its scales (block.c). */
typedef struct plot_block {
  float *values; /* of each code, own memory; NULL: no block was chosen yet */
  int of_one;    /* whether no data chose it: its largest magnitude is 1 */
  float scale, tensor;
} plot_block;

/* One format. */
typedef struct plot_state {
  cli_numeric numeric;
  const char *data, *tensor;
  int other; /* 1: a number system beside floating point; numeric.format stays all zero */
  hu_number system;
  float values[HU_TABLE_MAX];
  int scaled; /* 1: a scaled format, `target`; numeric.format is that of its elements */
  cli_target target;
  plot_block block; /* whose values are drawn: of the data the one that has the largest magnitude */
} plot_state;

/* What a datum becomes, and the rows of the table. LOST: of a scaled format, NaN for a neighbour in its block. */
enum { TO_ZERO, SUBNORMAL, NORMAL, BEYOND_MAX, BELOW, LOST, CLASSES };
enum { BINS_PER_BINADE = 4, BINS_MAX = 2200 * 4 };

typedef struct histogram {
  uint64_t bins[BINS_MAX][CLASSES];
  uint64_t classes[CLASSES], zeros, infinities, nans, count;
  int low, high; /* exponents of the smallest and largest magnitude; low > high where all are 0 or special */
  cli_errors errors;
  /* Of a scaled format: how many elements have each magnitude, by its code without a sign; own memory. */
  uint64_t *codes;
  size_t code_count;
  cli_blocks blocks;
} histogram;

/* Counts a matrix of numbers. Returns 0, or an exit code after an error line; the histogram is to be freed. */
int plot_gather(histogram *data, plot_state *state, const cli_source *source, size_t rows, size_t cols);
void plot_histogram_free(histogram *data);
/* Adds a number, of a class if it is finite and not zero. */
void plot_add(histogram *data, double x, int class);
/* Does what plot_gather does, for a scaled format; also chooses the block that is drawn. */
int plot_gather_scaled(histogram *data, plot_state *state, const cli_source *source, size_t rows, size_t cols);
/* Chooses a block whose largest magnitude is 1. Returns 0, or an exit code after an error line. */
int plot_block_of_one(plot_state *state);
/* Returns how many of the magnitudes, zero among them, elements have. */
size_t plot_codes_used(const histogram *data);
/* Adds the elements of a class in `group` bins from `first` on; class < 0: of all. */
uint64_t plot_group_sum(const histogram *data, int first, int group, int class);
uint64_t plot_tallest(const histogram *data, int group);

/* Writes the name of the format, as it was given. */
const char *plot_name(char name[CLI_NAME_MAX], const plot_state *state);
/* How many numbers of a sign are normal and subnormal. */
typedef struct plot_counts {
  uint32_t normal, subnormal;
} plot_counts;
/* Draws formats, one as plot_draw_one, several as plot_draw_several does. data NULL: none; else a histogram for each
 * format. *text: the SVG, of `size` bytes, to be freed. Returns 0, or an exit code after an error line. */
int plot_draw(cli_piece *text, const plot_state *state, size_t formats, const histogram *data, plot_counts *counts);
int plot_draw_one(cli_piece *text, const plot_state *state, const histogram *data, plot_counts *counts);
int plot_draw_several(cli_piece *text, const plot_state *state, size_t formats, const histogram *data,
                      plot_counts *counts);
/* Reads what -f names. Returns 0, or an exit code after an error line; plot_state_free for it in any case. */
int plot_read(plot_state *state, const char *text);
void plot_state_free(plot_state *state);

/* ---- for both drawings ---- */

enum { PLOT_WIDTH = 1120, PLOT_LEFT = 70, PLOT_RIGHT = 1080, PLOT_BARS = 230, PLOT_BAND = 54 };
extern const char *const plot_colours[CLASSES];
#define PLOT_INK "#1f2733"
#define PLOT_GREY "#5b6575"

typedef struct drawing {
  svg out;
  hu_format format;
  hu_limits limits;
  int low, high;         /* exponents at the ends of the axis */
  double bars, band;     /* y of the foot of the bars, of the top of the band */
  const histogram *data; /* NULL: none */
  const plot_state *state;
  int group;    /* bins to a bar */
  int has_zero; /* the format has one */
} drawing;

/* Begins a drawing of one format, without axis. Returns 0, or an exit code after an error line. */
int plot_begin(drawing *plot, const plot_state *state, const histogram *data);
/* Widens the axis, so that it shows all of the format and of its data. */
void plot_widen(drawing *plot, const drawing *by);
/* Decides how many bins are a bar that is wide enough to be seen. */
void plot_group(drawing *plot);
/* Draws the regions and the values of the format, from plot->band on; the axis below; bars above plot->bars, in one
 * colour if plain. */
void plot_band(drawing *plot);
void plot_axis(drawing *plot);
void plot_bars(drawing *plot, int plain);
/* Draws how many elements have each magnitude of a scaled format, from y on; returns the height that it takes: 0 where
 * there are too many. */
enum { PLOT_CODES_MAX = 256, PLOT_CODES_HEIGHT = 190 };
int plot_codes_height(const histogram *data);
void plot_codes(drawing *plot, double y);
plot_counts plot_counted(const drawing *plot);
const char *plot_bar_name(const drawing *plot);

#endif
