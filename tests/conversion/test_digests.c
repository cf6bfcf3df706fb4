/* SPDX-License-Identifier: MIT */
/* Presets stay what they were held to be: digests of the codes that each gives for operands that this file makes.
 * usage: test_conversion_digests FILE [--make]; FILE has lines NAME DIGEST32 DIGEST64, every preset once. For scaled
 * tensors the digests are of the codes and of the scales of a matrix. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/conversion.h"
#include "halfulp/scaled.h"
#include "tests/support/support.h"

enum { COUNT = 1 << 16, ROWS = 64, COLS = 256, LINE = 256 };
static uint32_t x32[COUNT], z[COUNT];
static uint64_t x64[COUNT];
static float matrix[ROWS * COLS];

/* FNV-1a, 64 bits, of n codes of `size` bytes, their low bytes first. */
static uint64_t digest(const void *codes, size_t n, size_t size) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < n; i++) {
    uint32_t code = t_get(codes, size, (ptrdiff_t)i);
    for (size_t j = 0; j < size; j++) h = (h ^ (code >> 8 * j & 0xFF)) * 0x100000001B3u;
  }
  return h;
}

/* All patterns of bfloat16, and around each the digits of a fixed generator; every exponent of binary64 near ours. */
static void make_operands(void) {
  t_random random = {2026};
  for (uint32_t i = 0; i < COUNT; i++) {
    x32[i] = i << 16 | (i & 1 ? t_next32(&random) >> 16 : i & 2 ? 0x8000 : 0);
    uint64_t exponent = 1023 - 160 + t_below(&random, 320), digits = t_next64(&random) >> 12;
    if (i & 1) digits &= ~(uint64_t)0 << (20 + t_below(&random, 32));
    x64[i] = (uint64_t)(i >> 1 & 1) << 63 | exponent << 52 | digits;
    if (i % 97 == 0) x64[i] |= 0x7FF0000000000000u;
  }
  for (int i = 0; i < ROWS * COLS; i++) {
    uint32_t u = t_next32(&random);
    matrix[i] = t_float((u & 0x807FFFFF) | (uint32_t)(117 + t_below(&random, 16)) << 23);
  }
}

static int digests_of(uint64_t sums[2], const hu_conversion *c) {
  size_t size = hu_limits_of(c->format).storage / 8;
  if (*c->scaling) {
    hu_scaling scaling;
    static uint32_t scales[ROWS * COLS];
    float tensor = 1;
    if (hu_scaling_parse(&scaling, c->scaling, NULL) != HU_OK) return 1;
    hu_scaled_sizes sizes = hu_scaled_sizes_of(ROWS, COLS, &scaling);
    hu_scaled out = {z, COLS, scales, sizes.block_cols, scaling.tensor ? &tensor : NULL};
    if (hu_conversion_scaled_encode(ROWS, COLS, &out, matrix, COLS, c, NULL, NULL, NULL, NULL) != HU_OK) return 1;
    sums[0] = digest(z, ROWS * COLS, sizes.code_bytes);
    sums[1] = digest(scales, sizes.scales / sizes.scale_bytes, sizes.scale_bytes) ^ t_bits32(tensor);
    return 0;
  }
  if (hu_conversion_encode_n(COUNT, z, 1, (const float *)(const void *)x32, 1, c, NULL, NULL) != HU_OK) return 1;
  sums[0] = digest(z, COUNT, size);
  if (hu_conversion_encode64_n(COUNT, z, 1, (const double *)(const void *)x64, 1, c, NULL, NULL) != HU_OK) return 1;
  sums[1] = digest(z, COUNT, size);
  return 0;
}

static int make(void) {
  printf(
      "# Digests of presets of conversions, made by tests/conversion/test_digests.c --make: NAME BINARY32 BINARY64,\n");
  printf("# of scaled tensors NAME CODES SCALES. A line changes only with the program that it stands for.\n");
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion_entry entry = hu_conversion_at(i);
    uint64_t sums[2];
    if (digests_of(sums, &entry.conversion)) return 1;
    printf("%s %016" PRIx64 " %016" PRIx64 "\n", entry.name, sums[0], sums[1]);
  }
  return 0;
}

static int check_line(const char *line) {
  char name[LINE];
  uint64_t expected[2], got[2];
  hu_conversion c;
  if (sscanf(line, "%255s %" SCNx64 " %" SCNx64, name, &expected[0], &expected[1]) != 3) return 1;
  if (hu_conversion_find(&c, name) != HU_OK || digests_of(got, &c)) {
    printf("%s: not there any more\n", name);
    return 1;
  }
  if (got[0] == expected[0] && got[1] == expected[1]) return 0;
  printf("%s: %016" PRIx64 " %016" PRIx64 ", not what the file says\n", name, got[0], got[1]);
  return 1;
}

int main(int argc, char **argv) {
  char line[LINE];
  size_t lines = 0;
  int wrong = 0;
  make_operands();
  if (argc > 2) return make();
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file) return 2;
  while (fgets(line, sizeof line, file)) {
    if (*line == '#') continue;
    wrong += check_line(line);
    lines++;
  }
  fclose(file);
  printf("%zu presets of %zu, %d wrong\n", lines, hu_conversion_count(), wrong);
  return wrong || lines != hu_conversion_count();
}
