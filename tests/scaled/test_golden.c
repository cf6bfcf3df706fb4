/* SPDX-License-Identifier: MIT */
/* Golden blocks: files of scaled tensors, replayed against the library, or written from the model.
 *
 *   test_scaled_golden FILE ...          each must hold
 *   test_scaled_golden --write           tests/golden/scaled/model.txt to stdout
 *
 * golden.h says what a file has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scaled/compare.h"
#include "tests/scaled/golden.h"

enum { NUMBERS = GOLDEN_NUMBERS };

static int holds_at(const t_golden *golden, uint32_t levels_off) {
  static uint32_t codes[NUMBERS], scales[NUMBERS];
  hu_mode rne = {0};
  hu_exec exec = {0, levels_off, {0, 0}, {0}};
  float tensor = 0;
  hu_scaled_sizes n = hu_scaled_sizes_of(golden->rows, golden->cols, &golden->scaling);
  hu_scaled z = {codes, golden->cols, scales, n.block_cols, golden->has_tensor ? &tensor : NULL};
  if (hu_scaled_encode(golden->rows, golden->cols, &z, golden->x, golden->cols, &golden->scaling, rne, NULL, NULL,
                       &exec, NULL) != HU_OK) {
    return 0;
  }
  if (golden->has_tensor && t_bits32(tensor) != golden->tensor) return 0;
  for (size_t i = 0; i < n.block_rows * n.block_cols; i++) {
    if (t_get(scales, n.scale_bytes, i) != golden->scales[i]) return 0;
  }
  for (size_t i = 0; i < golden->rows * golden->cols; i++) {
    if (t_get(codes, n.code_bytes, i) != golden->codes[i]) return 0;
  }
  return 1;
}

static int holds(const t_golden *golden) { return holds_at(golden, 0) && holds_at(golden, 7); }

static void put_line(const char *word, const uint32_t *x, size_t n) {
  printf("%s", word);
  for (size_t i = 0; i < n; i++) printf(" %x", (unsigned)x[i]);
  printf("\n");
}

static void write_case(t_random *random, const char *name, size_t rows, size_t cols) {
  static float x[NUMBERS], values[NUMBERS];
  static uint32_t codes[NUMBERS], scales[NUMBERS], words[NUMBERS];
  static hu_scaled_stats stats[NUMBERS];
  hu_scaling scaling;
  if (hu_scaling_parse(&scaling, name, NULL) != HU_OK) abort();
  random_matrix(random, rows * cols, x, &scaling);
  model m = {rows, cols, x, scaling, {0}, {0, 0}, NULL, codes, scales, values, stats, 0, {0}};
  model_run(&m);
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
  memcpy(words, x, sizeof words);
  printf("shape %zu %zu\n", rows, cols);
  put_line("x", words, rows * cols);
  if (scaling.tensor) printf("tensor %x\n", (unsigned)t_bits32(m.tensor));
  put_line("scales", scales, n.block_rows * n.block_cols);
  put_line("codes", codes, rows * cols);
}

static int write_all(void) {
  t_random random = {20260101};
  static const char *const rules[] = {"ceil", "even", "rceil"};
  printf("# Blocks from the model of tests/scaled/model.c, ties to even: test_scaled_golden --write\n");
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    printf("scaling %s\n", hu_scaling_at(i).name);
    for (size_t k = 0; k < 3; k++) write_case(&random, hu_scaling_at(i).name, 1 + k, k == 1 ? 33 : 48);
  }
  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < 2; k++) {
      char text[160];
      snprintf(text, sizeof text, "scaled(%s;scale=float8_e8m0fnu;block=1x32;rule=%s)",
               k ? "float8_e4m3fn" : "float4_e2m1fn", rules[i]);
      printf("scaling %s\n", text);
      write_case(&random, text, 2, 64);
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--write") == 0) return write_all();
  for (int i = 1; i < argc; i++) {
    int cases = golden_replay(argv[i], holds);
    if (cases <= 0) return 1;
    printf("%s: %d cases\n", argv[i], cases);
  }
  return argc < 2;
}
