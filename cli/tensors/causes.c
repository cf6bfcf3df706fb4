/* SPDX-License-Identifier: MIT */
/* The error of quantized values, split by its causes: see causes.h. */
#include "cli/tensors/causes.h"

#include <math.h>
#include <stdlib.h>

#include "cli/base/io.h"
#include "cli/base/numbers.h"

static int bin_of(double signal, double noise) {
  if (!(noise > 0)) return CLI_CAUSES_BINS - 1;
  double sqnr = 10 * log10(signal / noise);
  return sqnr < 0 ? 0 : sqnr >= 50 ? CLI_CAUSES_BINS - 2 : 1 + (int)(sqnr / 5);
}

/* Adds a block of n elements; most: infinity where there is no largest value. */
static void add_block(cli_causes *z, const double *x, const double *v, size_t n, double most) {
  double signal = 0, noise = 0, across = 0, square = 0, dead = 0, saturated = 0, grid = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < n; i++) {
    double a = x[i], b = v[i];
    if (!isfinite(a) || !isfinite(b)) continue;
    count++;
    signal += a * a;
    noise += (b - a) * (b - a);
    across += a * b;
    square += b * b;
    z->moved += b - a;
    z->dead += a != 0 && b == 0;
    z->saturated += fabs(a) > most;
  }
  if (!count) return;
  double factor = square > 0 ? across / square : 1;
  for (size_t i = 0; i < n; i++) {
    double a = x[i], b = v[i], error = (factor * b - a) * (factor * b - a);
    if (!isfinite(a) || !isfinite(b)) continue;
    *(a != 0 && b == 0 ? &dead : fabs(a) > most ? &saturated : &grid) += error;
  }
  double rest = dead + saturated + grid;
  z->count += count;
  z->blocks++;
  z->signal += signal;
  z->noise += noise;
  z->scale_noise += noise > rest ? noise - rest : 0;
  z->dead_noise += dead;
  z->saturated_noise += saturated;
  z->grid_noise += grid;
  z->bins[bin_of(signal, noise)]++;
}

void cli_causes_add(cli_causes *z, const cli_causes *x) {
  z->count += x->count;
  z->blocks += x->blocks;
  z->dead += x->dead;
  z->saturated += x->saturated;
  z->signal += x->signal;
  z->noise += x->noise;
  z->scale_noise += x->scale_noise;
  z->dead_noise += x->dead_noise;
  z->saturated_noise += x->saturated_noise;
  z->grid_noise += x->grid_noise;
  z->moved += x->moved;
  for (int i = 0; i < CLI_CAUSES_BINS; i++) z->bins[i] += x->bins[i];
}

int cli_causes_matrix(cli_causes *z, const cli_source *x, const cli_source *v, size_t rows, size_t cols,
                      const size_t block[2], const double *most) {
  if (!rows || !cols) return 0;
  size_t most_rows = block[0] < rows ? block[0] : rows, most_cols = block[1] < cols ? block[1] : cols, k = 0;
  double *before = cli_alloc(most_rows * most_cols, sizeof *before),
         *after = cli_alloc(most_rows * most_cols, sizeof *after);
  for (size_t r = 0; before && after && r < rows; r += block[0])
    for (size_t c = 0; c < cols; c += block[1]) {
      size_t n = 0, across = cols - c < block[1] ? cols - c : block[1];
      for (size_t i = r; i < r + block[0] && i < rows; i++, n += across) {
        cli_source_read(x, before + n, i * cols + c, across);
        cli_source_read(v, after + n, i * cols + c, across);
      }
      add_block(z, before, after, n, most[k++]);
    }
  int code = before && after ? 0 : 2;
  free(before);
  free(after);
  return code;
}

double cli_causes_share(const cli_causes *z, double part) { return z->noise > 0 ? part / z->noise : 0; }
double cli_causes_bias(const cli_causes *z) { return z->count ? z->moved / (double)z->count : 0; }

const char *cli_causes_bin(char text[CLI_CAUSES_BIN_TEXT], int bin) {
  if (bin == 0)
    snprintf(text, CLI_CAUSES_BIN_TEXT, "below 0 dB");
  else if (bin == CLI_CAUSES_BINS - 1)
    snprintf(text, CLI_CAUSES_BIN_TEXT, "no error");
  else if (bin == CLI_CAUSES_BINS - 2)
    snprintf(text, CLI_CAUSES_BIN_TEXT, "50 dB and above");
  else
    snprintf(text, CLI_CAUSES_BIN_TEXT, "%d to %d dB", 5 * bin - 5, 5 * bin);
  return text;
}

static void print_part(FILE *out, const char *indent, const char *what, const cli_causes *z, double part) {
  fprintf(out, "%s%-14s %.2f %% of the noise\n", indent, what, 100 * cli_causes_share(z, part));
}

void cli_print_causes(FILE *out, const char *indent, const cli_causes *z) {
  if (!z->count) return;
  print_part(out, indent, "scales", z, z->scale_noise);
  print_part(out, indent, "dead zone", z, z->dead_noise);
  print_part(out, indent, "saturation", z, z->saturated_noise);
  print_part(out, indent, "grid", z, z->grid_noise);
  fprintf(out, "%sbias of mean   %s\n", indent, ROUNDED(cli_causes_bias(z), 6));
}

static void print_object(FILE *out, const cli_value *value) {
  const cli_causes *z = value->record;
  if (!z->count) {
    fputs("null", out);
    return;
  }
  cli_json(out,
           "{'count': ?, 'blocks': ?, 'scale_share': ?, 'dead_share': ?, 'saturated_share': ?, 'grid_share': ?, "
           "'bias': ?, 'dead': ?, 'saturated': ?, 'blocks_by_sqnr': [",
           JSON(z->count), JSON(z->blocks), JSON(cli_causes_share(z, z->scale_noise)),
           JSON(cli_causes_share(z, z->dead_noise)), JSON(cli_causes_share(z, z->saturated_noise)),
           JSON(cli_causes_share(z, z->grid_noise)), JSON(cli_causes_bias(z)), JSON(z->dead), JSON(z->saturated));
  for (int i = 0; i < CLI_CAUSES_BINS; i++) fprintf(out, "%s%llu", i ? ", " : "", (unsigned long long)z->bins[i]);
  fputs("]}", out);
}

cli_value cli_causes_value(const cli_causes *z) { return (cli_value){.print = print_object, .record = z}; }
