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

static int holds(const t_golden *golden, uint32_t levels_off) {
  float x[NUMBERS], z[NUMBERS];
  hu_exec exec = {1, levels_off, golden->stream, {0}};
  hu_hadamard transform = golden->t;
  transform.mask = golden->mask;
  memcpy(x, golden->x, sizeof x);
  hu_status status = (golden->inverse ? hu_hadamard_inverse : hu_hadamard_forward)(
      golden->rows, golden->cols, z, golden->cols, x, golden->cols, &transform, &exec);
  return status == HU_OK && memcmp(z, golden->z, golden->rows * golden->cols * sizeof *z) == 0;
}

static size_t read_numbers(FILE *file, const char *word, uint32_t *z, size_t n) {
  char got[8];
  size_t i = 0;
  if (fscanf(file, "%7s", got) != 1 || strcmp(got, word)) return 0;
  while (i < n && fscanf(file, "%" SCNx32, &z[i]) == 1) i++;
  return i;
}

static int replay(const char *path) {
  static t_golden golden;
  FILE *file = fopen(path, "r");
  int cases = 0, end = 0;
  unsigned n, axis, norm, signs, whole;
  if (!file || fscanf(file, "#%*[^\n]") < 0) return -1;
  while (
      (end = fscanf(file, " transform %u %u %u %u %u %d %zu %zu %" SCNx64 " %" SCNx64, &n, &axis, &norm, &signs, &whole,
                    &golden.inverse, &golden.rows, &golden.cols, &golden.stream.key, &golden.stream.counter)) == 10) {
    hu_hadamard transform = {n, (uint8_t)axis, (uint8_t)norm, (uint8_t)signs, (uint8_t)whole, NULL};
    size_t all = golden.rows * golden.cols;
    golden.t = transform;
    hu_stream_words_n(NUMBERS, golden.mask, golden.stream);
    if (all > NUMBERS || read_numbers(file, "x", golden.x, all) != all || read_numbers(file, "z", golden.z, all) != all)
      break;
    for (uint32_t off = 0; off < 8; off++) {
      if (!holds(&golden, off)) {
        printf("%s: case %d does not hold\n", path, cases);
        fclose(file);
        return -1;
      }
    }
    cases++;
  }
  fclose(file);
  return end == EOF ? cases : -1;
}

static void put_line(const char *word, const float *x, size_t n) {
  printf("%s", word);
  for (size_t i = 0; i < n; i++) printf(" %" PRIx32, t_bits32(x[i]));
  printf("\n");
}

static int write_all(void) {
  t_random random = {20260102};
  static float x[NUMBERS];
  static uint32_t mask[NUMBERS];
  printf("# Blocks from the model of tests/hadamard/model.c: test_hadamard_golden --write\n");
  for (unsigned c = 0; c < 24; c++) {
    hu_hadamard transform = {16u << c % 4,
                             (uint8_t)(c / 4 % 2),
                             (uint8_t)(c / 8),
                             (uint8_t)t_below(&random, 3),
                             (uint8_t)t_below(&random, 2),
                             mask};
    int inverse = (int)t_below(&random, 2);
    hu_stream stream = {t_next64(&random), t_next64(&random)};
    size_t along = transform.n * (c < 8 && transform.n < 64 ? 3 : 1), other = 2;
    size_t rows = transform.axis ? along : other, cols = transform.axis ? other : along;
    hu_stream_words_n(NUMBERS, mask, stream);
    for (size_t i = 0; i < rows * cols; i++) {
      x[i] = t_float((uint32_t)t_between(&random, c % 5 ? 120 : 0, c % 5 ? 132 : 255) << 23 |
                     (t_next32(&random) & 0x807FFFFF));
    }
    printf("transform %u %u %u %u %u %d %zu %zu %" PRIx64 " %" PRIx64 "\n", (unsigned)transform.n, transform.axis,
           transform.norm, transform.signs, transform.whole, inverse, rows, cols, stream.key, stream.counter);
    put_line("x", x, rows * cols);
    model_transform(rows, cols, x, cols, &transform, stream, inverse);
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
