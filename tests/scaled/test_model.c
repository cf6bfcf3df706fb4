/* SPDX-License-Identifier: MIT */
/* Every rule on its edges, and random matrices, descriptions and modes, against the model.
 *
 *   test_scaled_model [CASES [core]]     core: kernels off, one thread, contiguous */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scaled/compare.h"

static int report(const char *wrong, const hu_scaling *scaling, hu_mode mode, size_t rows, size_t cols,
                  const float *x) {
  char text[HU_SCALING_TEXT_MAX], words[T_MODE_TEXT];
  hu_scaling_text(text, sizeof text, scaling);
  printf("%s: %s, %s, %zu x %zu:", wrong, text, t_mode_text(words, mode), rows, cols);
  for (size_t i = 0; i < rows * cols && i < 40; i++) printf(" %08x", (unsigned)t_bits32(x[i]));
  printf("\n");
  return 1;
}

static const char *const elements[] = {"float8_e4m3fn", "float8_e5m2",   "float6_e3m2fn",
                                       "float6_e2m3fn", "float4_e2m1fn", "fp(0,7,0):finite,nonegzero"};

/* Blocks of one row around every boundary of every rule. */
static int test_edges(t_random *random) {
  static const uint32_t fields[] = {0, 1, 2, 8, 9, 10, 118, 127, 128, 200, 252, 253, 254};
  static float x[8];
  unsigned cases = 0;
  for (unsigned f = 0; f < 6; f++) {
    for (unsigned rule = 0; rule <= HU_SCALE_RATIO; rule++) {
      hu_scaling scaling;
      char text[160];
      hu_mode rne = {0};
      static const char *const rules[] = {"floor", "ceil", "even", "rceil", "ratio"};
      snprintf(text, sizeof text, "scaled(%s;scale=%s;block=1x8;rule=%s)", elements[f],
               rule == HU_SCALE_RATIO ? "binary32" : "float8_e8m0fnu", rules[rule]);
      if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return 1;
      uint32_t m = scaling.element.m, top = t_bits32((float)hu_limits_of(scaling.element).max) & 0x7FFFFF;
      uint32_t fracs[] = {0, 0x7FFFFF & ~(((uint32_t)1 << (22 - m)) - 1), top, 0x400000, 0x7FFFFF};
      for (size_t i = 0; i < sizeof fields / sizeof *fields * 15; i++) {
        uint32_t a = (fields[i / 15] << 23 | fracs[i % 15 / 3]) + (uint32_t)(i % 3) - 1;
        if (a > 0x7F7FFFFF) a = a > 0x80000000 ? 0 : 0x7F7FFFFF;
        for (size_t k = 0; k < 8; k++) {
          uint32_t field = a >> 23, less = (uint32_t)k * 3;
          x[k] = t_float((field > less ? a - (less << 23) : a >> less) | (k & 1 ? 0x80000000 : 0));
        }
        const char *wrong = compare(random, 1, 8, x, &scaling, rne, NULL);
        if (wrong) return report(wrong, &scaling, rne, 1, 8, x);
        cases++;
      }
    }
  }
  printf("edges: %u blocks\n", cases);
  return 0;
}

/* Two levels: amax of blocks at the ties of the scale format, where the order of the steps shows. */
static int test_ties(t_random *draw, t_random *random, int tensors) {
  static const char *const presets[] = {"nvfp4", "nvfp4_torchao", "nvfp4_te", "nvfp4_torchao18"};
  static float x[64 * 4];
  hu_mode rne = {0};
  for (int i = 0; i < 4 * tensors; i++) {
    hu_scaling scaling;
    if (hu_scaling_parse(&scaling, presets[i % 4], NULL) != HU_OK) return 1;
    float all = t_float((uint32_t)t_between(draw, 100, 150) << 23 | (t_next32(draw) & 0x7FFFFF));
    for (size_t b = 0; b < 64; b++) {
      double digits = 8 + (double)t_below(draw, 7) + 0.5, tie = digits * (double)(1u << t_below(draw, 5));
      uint32_t a = t_bits32((float)(tie * all / 448)) + t_below(draw, 5) - 2;
      x[4 * b] = b ? t_float(a) : all;
      for (size_t k = 1; k < 4; k++) x[4 * b + k] = x[4 * b] * t_float(0xBF000000 + (t_next32(draw) & 0x7FFFFF));
    }
    scaling.cols = 4;
    const char *wrong = compare(random, 1, 256, x, &scaling, rne, NULL);
    if (wrong) return report(wrong, &scaling, rne, 1, 256, x);
  }
  printf("ties: %d tensors\n", 4 * tensors);
  return 0;
}

/* Types of blocks: some even, where integers are better, and some with a few large elements; both must come up. */
static int test_types(t_random *draw, t_random *random, int tensors) {
  static const char *const rules[] = {"mae", "mse", "max"}, *const of_blocks[] = {"float4_e2m1fn", "float6_e2m3fn",
                                                                                  "float6_e3m2fn"};
  static float x[16 * 96];
  static uint8_t codes[16 * 96], scales[96];
  unsigned integers[9] = {0}, blocks[9] = {0}; /* of each element format and rule */
  for (int i = 0; i < tensors; i++) {
    hu_scaling scaling;
    char text[HU_SCALING_TEXT_MAX];
    hu_mode rne = {0};
    snprintf(text, sizeof text, "scaled(%s;scale=float8_e4m3fn;block=%s;rule=intfloat_%s;steps=multiply;tensor)",
             of_blocks[i % 3], i % 2 ? "1x16" : "16x16", rules[i / 3 % 3]);
    if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return 1;
    for (size_t k = 0; k < 16 * 96; k++) {
      int large = k / 16 % 2 || k % 16 == 0;
      uint32_t field = large ? 126 : 124 - t_below(draw, 1 + (uint32_t)i / 9 % 6);
      x[k] = t_float(field << 23 | (t_next32(draw) & (i % 5 ? 0x7FFFFF : 0x600000)) | (t_next32(draw) & 0x80000000));
      if (k / 16 % 11 == 5 && k % 16) x[k] = 0; /* one number: both types often have the same error */
    }
    const char *wrong = compare(random, 16, 96, x, &scaling, rne, NULL);
    if (wrong) return report(wrong, &scaling, rne, 16, 96, x);
    float tensor;
    hu_scaled_sizes n = hu_scaled_sizes_of(16, 96, &scaling);
    hu_scaled z = {codes, 96, scales, n.block_cols, &tensor};
    if (hu_scaled_encode(16, 96, &z, x, 96, &scaling, rne, NULL, NULL, NULL, NULL) != HU_OK) return 1;
    for (size_t k = 0; k < n.block_rows * n.block_cols; k++) integers[i % 9] += scales[k] >> 7;
    blocks[i % 9] += (unsigned)(n.block_rows * n.block_cols);
  }
  for (int i = 0; i < 9; i++) {
    printf("%s, %s: %u of %u blocks have integers\n", of_blocks[i % 3], rules[i / 3], integers[i], blocks[i]);
    if (integers[i] < blocks[i] / 20 || integers[i] > blocks[i] / 20 * 19) return 1;
  }
  return 0;
}

/* Blocks whose elements are near their largest, where the second scale is often the better one; both must come up. */
static int test_four_six(t_random *draw, t_random *random, int tensors) {
  static const char *const rules[] = {"mae", "mse", "mae_fast", "mse_fast"};
  static float x[16 * 96];
  static uint8_t codes[16 * 96], scales[96];
  unsigned larger = 0, blocks = 0;
  hu_mode rne = {0};
  for (int i = 0; i < tensors; i++) {
    hu_scaling scaling;
    char text[HU_SCALING_TEXT_MAX];
    snprintf(text, sizeof text, "scaled(float4_e2m1fn;scale=ue4m3;block=%s;rule=4over6_%s;steps=multiply;tensor%s)",
             i % 3 ? "1x16" : "16x16", rules[i / 3 % 4], i % 2 ? "" : "=256");
    if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return 1;
    int narrow = (int)t_below(draw, 5), ties = t_below(draw, 3) == 0;
    for (size_t k = 0; k < 16 * 96; k++) {
      uint32_t field = 120 + t_below(draw, (uint32_t)narrow + 1), frac = t_next32(draw) & (ties ? 0x700000 : 0x7FFFFF);
      x[k] = t_float(field << 23 | frac | (t_next32(draw) & 0x80000000));
    }
    const char *wrong = compare(random, 16, 96, x, &scaling, rne, NULL);
    if (wrong) return report(wrong, &scaling, rne, 16, 96, x);
    float tensor;
    hu_scaled_sizes n = hu_scaled_sizes_of(16, 96, &scaling);
    hu_scaled z = {codes, 96, scales, n.block_cols, &tensor};
    if (hu_scaled_encode(16, 96, &z, x, 96, &scaling, rne, NULL, NULL, NULL, NULL) != HU_OK) return 1;
    blocks += (unsigned)(n.block_rows * n.block_cols);
    scaling.rule = HU_SCALE_RATIO;
    scaling.tensor = HU_TENSOR_MAX;
    static uint8_t six[96];
    if (i % 2 == 0) continue; /* the other bound has another t */
    hu_scaled y = {codes, 96, six, n.block_cols, &tensor};
    if (hu_scaled_encode(16, 96, &y, x, 96, &scaling, rne, NULL, NULL, NULL, NULL) != HU_OK) return 1;
    for (size_t k = 0; k < n.block_rows * n.block_cols; k++) larger += scales[k] != six[k];
  }
  printf("4over6: %u blocks, %u of a half of them under the larger scale\n", blocks, larger);
  return larger < blocks / 20 || larger > blocks / 2;
}

static int test_random(t_random *draw, t_random *random, long cases) {
  static float x[ELEMENTS_MAX];
  uint64_t elements_seen = 0;
  for (long i = 0; i < cases; i++) {
    hu_scaling scaling = random_scaling(draw);
    hu_mode mode = t_random_mode(draw);
    if (t_below(draw, 3)) memset(&mode, 0, sizeof mode);
    size_t rows = 1 + t_below(draw, 7), cols = t_below(draw, 60) ? 1 + t_below(draw, 90) : 1 + t_below(draw, 2100);
    random_matrix(draw, rows * cols, x, &scaling);
    float given = t_float(t_bits32(x[0]) & 0x7FFFFFFF);
    int takes = scaling.tensor || (scaling.rows == 0 && scaling.cols == 0);
    const float *amax = takes && t_below(draw, 3) == 0 && t_bits32(given) < 0x7F800000 ? &given : NULL;
    const char *wrong = compare(random, rows, cols, x, &scaling, mode, amax);
    if (wrong) return report(wrong, &scaling, mode, rows, cols, x);
    elements_seen += rows * cols;
  }
  printf("random: %ld matrices, %lu elements\n", cases, (unsigned long)elements_seen);
  return 0;
}

int main(int argc, char **argv) {
  long cases = argc > 1 ? strtol(argv[1], NULL, 10) : 2500;
  t_random draw = {t_seed("scaled", 1)}, places = {draw.state ^ 0x5555};
  t_random *random = argc > 2 && strcmp(argv[2], "core") == 0 ? NULL : &places;
  return test_edges(random) || test_ties(&draw, random, 150) || test_four_six(&draw, random, 120) ||
         test_types(&draw, random, 120) || test_random(&draw, random, cases);
}
