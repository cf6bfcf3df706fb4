/* SPDX-License-Identifier: MIT */
/* What the fast ways of scaled tensors could get wrong, against the model: rows and blocks that end within a vector or
 * a strip, blocks that go another way among those that go fast, every mode, exponents of scales where the fast ways
 * begin and end. compare() draws levels, threads and distances of rows, quantizes in place, too, and has the bytes
 * beside the results looked at.
 *
 *   test_scaled_strips [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scaled/compare.h"

static const char *const texts[] = {
    "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "nvfp4_torchao", "nvfp4_te",
    "nvfp4_torchao18", "msfp12", "hbfp4", "hbfp8", "hbfp12", "fp8_tensor", "dsv3_1x128", "dsv3_128x128",
    "deepgemm_1x128",
    /* columns, tiles, sides that are no powers of two, blocks wider than a strip */
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=32x1;rule=floor)",
    "scaled(fp(0,3,0):fn;scale=float8_e8m0fnu;block=1x32;rule=floor)",
    "scaled(float6_e3m2fn;scale=float8_e8m0fnu;block=16x1;rule=even;special=element)",
    "scaled(float8_e5m2;scale=binary32;block=32x1;rule=ratio;steps=divide)",
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=3x5;rule=rceil;special=saturate)",
    "scaled(float4_e2m1fn;scale=ue4m3;block=2x48;rule=ratio;steps=multiply;tensor;zero=zero)",
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=2x1500;rule=ceil;special=element)",
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=*x*;rule=floor;special=element)",
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x*;rule=rceil)",
    "scaled(binary16;scale=binary32;block=1x64;rule=ceil)",
    /* scales of few exponents: limited from below and from above; of more than one digit; elements that flush */
    "scaled(float8_e4m3fn;scale=fp(4,0,0):finite,unsigned,zero=none,nosub;block=1x32;rule=floor;special=element)",
    "scaled(float8_e5m2;scale=ue4m3;block=1x16;rule=even;special=element)",
    "scaled(float8_e4m3fn;scale=bfloat16;block=1x32;rule=ceil;zero=one)",
    "scaled(fp(4,3,0):finite,flush;scale=float8_e8m0fnu;block=1x32;rule=floor)",
    "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=floor;amin=0x2f800000)",
    "scaled(float8_e4m3fnuz;scale=float8_e8m0fnu;block=1x32;rule=rceil;zero=one)"};

/* Blocks of `run` elements whose magnitudes end at a power of two of their own, most of them far from the edges. */
static void blocks(t_random *random, size_t n, size_t run, float *x) {
  uint32_t middle = (uint32_t)t_between(random, 90, 150), field = middle, odd = t_below(random, 4);
  for (size_t i = 0; i < n; i++) {
    if (i % run == 0) {
      uint32_t kind = t_below(random, 24);
      field = kind < 12 ? middle : (uint32_t)t_between(random, (int)middle - 20, (int)middle + 20);
      if (odd && kind == 23) field = t_below(random, 255);
      if (odd && kind == 22) field = 0;
    }
    uint32_t down = t_below(random, 16) ? t_below(random, 12) : t_below(random, 40), frac = t_next32(random) & 0x7FFFFF;
    if (t_below(random, 4) == 0) frac &= 0x700000;
    uint32_t u = field > down ? (field - down) << 23 | frac : t_below(random, 2) ? frac >> t_below(random, 23) : 0;
    if (odd == 3 && t_below(random, 400) == 0) u = t_below(random, 2) ? 0x7F800000 : 0x7F800001 + t_below(random, 1000);
    if (odd == 2 && t_below(random, 8) == 0) u = 0;
    x[i] = t_float(u | (t_next32(random) & 0x80000000));
  }
}

static int failed(const char *wrong, const char *text, hu_mode mode, size_t rows, size_t cols) {
  printf("%s: %s, round %d bits %d saturate %d, %zu x %zu\n", wrong, text, mode.round, mode.bits, mode.saturate, rows,
         cols);
  return 1;
}

/* A matrix of each shape: one row longer than a strip, rows that end within a vector, many rows. */
static int shapes(t_random *random, const char *text, hu_mode mode, uint64_t *elements) {
  static float x[ELEMENTS_MAX];
  hu_scaling scaling;
  if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return failed("text", text, mode, 0, 0);
  for (int shape = 0; shape < 4; shape++) {
    size_t rows = shape == 0   ? 1
                  : shape == 1 ? 1 + t_below(random, 4)
                  : shape == 2 ? 30 + t_below(random, 12)
                               : 1 + t_below(random, 40);
    size_t cols = shape == 0   ? 1020 + t_below(random, 1100)
                  : shape == 1 ? 1 + t_below(random, 400)
                  : shape == 2 ? 30 + t_below(random, 40)
                               : 32 * (1 + t_below(random, 3));
    blocks(random, rows * cols, scaling.cols > 1 && scaling.cols < 100 ? scaling.cols : 16, x);
    const char *wrong = compare(random, rows, cols, x, &scaling, mode, NULL);
    if (wrong) return failed(wrong, text, mode, rows, cols);
    *elements += rows * cols;
  }
  return 0;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
  t_random random = {t_seed("scaled-strips", 9)};
  uint64_t elements = 0;
  for (long i = 0; i < rounds; i++) {
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
      hu_mode rne = {0};
      if (shapes(&random, texts[k], rne, &elements)) return 1;
      for (unsigned m = 0; m < T_DETERMINISTIC + 3; m++) {
        hu_mode mode =
            m < T_DETERMINISTIC ? t_mode(m) : t_stochastic(HU_SRA + m - T_DETERMINISTIC, 1 + t_below(&random, 31));
        if ((m + k + (size_t)i) % 3) continue;
        mode.tiny = t_below(&random, 2) ? HU_TINY_AFTER : HU_TINY_BEFORE;
        mode.saturate = t_below(&random, 4) ? HU_SAT_DEFAULT : (uint8_t)t_below(&random, 4);
        if (hu_mode_check(mode) != HU_OK) mode.saturate = HU_SAT_DEFAULT;
        if (shapes(&random, texts[k], mode, &elements)) return 1;
      }
    }
  }
  printf("strips: %zu descriptions, %lu elements\n", sizeof texts / sizeof *texts, (unsigned long)elements);
  return 0;
}
