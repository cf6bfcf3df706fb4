/* SPDX-License-Identifier: MIT */
/* Replays tests/golden/hadamard/model.txt at every level; --write prints the file from the model.
 *
 * A case is three lines: "transform n axis norm signs whole inverse rows cols key counter", "x" and "z" with the
 * matrix's patterns; words of a mask are those of the stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hadamard/model.h"
#include "tests/support/support.h"

enum { NUMBERS = 1024 };

typedef struct t_golden {
  hu_hadamard t;
  int inverse;
  size_t rows, cols;
  hu_stream stream;
  uint32_t x[NUMBERS], z[NUMBERS], mask[NUMBERS];
} t_golden;

static int holds(const t_golden *g, uint32_t levels_off) {
  float x[NUMBERS], z[NUMBERS];
  hu_exec exec = {1, levels_off, g->stream};
  hu_hadamard t = g->t;
  t.mask = g->mask;
  memcpy(x, g->x, sizeof x);
  hu_status s =
      (g->inverse ? hu_hadamard_inverse : hu_hadamard_forward)(g->rows, g->cols, z, g->cols, x, g->cols, &t, &exec);
  return s == HU_OK && memcmp(z, g->z, g->rows * g->cols * sizeof *z) == 0;
}

static size_t read_numbers(FILE *f, const char *word, uint32_t *z, size_t n) {
  char got[8];
  size_t i = 0;
  if (fscanf(f, "%7s", got) != 1 || strcmp(got, word)) return 0;
  while (i < n && fscanf(f, "%" SCNx32, &z[i]) == 1) i++;
  return i;
}

static int replay(const char *path) {
  static t_golden g;
  FILE *f = fopen(path, "r");
  int cases = 0, end = 0;
  unsigned n, axis, norm, signs, whole;
  if (!f || fscanf(f, "#%*[^\n]") < 0) return -1;
  while ((end = fscanf(f, " transform %u %u %u %u %u %d %zu %zu %" SCNx64 " %" SCNx64, &n, &axis, &norm, &signs, &whole,
                       &g.inverse, &g.rows, &g.cols, &g.stream.key, &g.stream.counter)) == 10) {
    hu_hadamard t = {n, (uint8_t)axis, (uint8_t)norm, (uint8_t)signs, (uint8_t)whole, NULL};
    size_t all = g.rows * g.cols;
    g.t = t;
    hu_stream_words_n(NUMBERS, g.mask, g.stream);
    if (all > NUMBERS || read_numbers(f, "x", g.x, all) != all || read_numbers(f, "z", g.z, all) != all) break;
    for (uint32_t off = 0; off < 8; off++) {
      if (!holds(&g, off)) {
        printf("%s: case %d does not hold\n", path, cases);
        fclose(f);
        return -1;
      }
    }
    cases++;
  }
  fclose(f);
  return end == EOF ? cases : -1;
}

static void put_line(const char *word, const float *x, size_t n) {
  printf("%s", word);
  for (size_t i = 0; i < n; i++) printf(" %" PRIx32, t_bits32(x[i]));
  printf("\n");
}

static int write_all(void) {
  t_random r = {20260102};
  static float x[NUMBERS];
  static uint32_t mask[NUMBERS];
  printf("# Blocks from the model of tests/hadamard/model.c: test_hadamard_golden --write\n");
  for (unsigned c = 0; c < 24; c++) {
    hu_hadamard t = {
        16u << c % 4, (uint8_t)(c / 4 % 2), (uint8_t)(c / 8), (uint8_t)t_below(&r, 3), (uint8_t)t_below(&r, 2), mask};
    int inverse = (int)t_below(&r, 2);
    hu_stream stream = {t_next64(&r), t_next64(&r)};
    size_t along = t.n * (c < 8 && t.n < 64 ? 3 : 1), other = 2;
    size_t rows = t.axis ? along : other, cols = t.axis ? other : along;
    hu_stream_words_n(NUMBERS, mask, stream);
    for (size_t i = 0; i < rows * cols; i++) {
      x[i] = t_float((uint32_t)t_between(&r, c % 5 ? 120 : 0, c % 5 ? 132 : 255) << 23 | (t_next32(&r) & 0x807FFFFF));
    }
    printf("transform %u %u %u %u %u %d %zu %zu %" PRIx64 " %" PRIx64 "\n", (unsigned)t.n, t.axis, t.norm, t.signs,
           t.whole, inverse, rows, cols, stream.key, stream.counter);
    put_line("x", x, rows * cols);
    model_transform(rows, cols, x, cols, &t, stream, inverse);
    put_line("z", x, rows * cols);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_all();
  int cases = argc == 2 ? replay(argv[1]) : -1;
  printf("%d cases\n", cases);
  return cases < 20;
}
