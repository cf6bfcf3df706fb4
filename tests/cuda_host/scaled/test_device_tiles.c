/* SPDX-License-Identifier: MIT */
/* Blocks of 2049 to 16384 elements, which are read once, and larger ones, against the CPU: squares, long rows, small
 * and large tensors, some as small as a block of rows, ragged edges; to nearest and with random digits; given amax,
 * statistics, events; infinities and NaN in one tile of a tensor and not in the others. */
#include "tests/cuda_host/scaled/problem.h"

enum { MOST = 40000 };

#define E8M0 "scale=float8_e8m0fnu;rule=rceil;block="
#define RATIO "scale=binary32;rule=ratio;steps=divide;block="

static const struct {
  const char *scaling;
  size_t rows, cols;
} shapes[] = {{"dsv3_128x128", 130, 264},
              {"deepgemm_128x128", 129, 132},
              {"scaled(float8_e5m2;" E8M0 "128x128)", 140, 256},
              {"scaled(float4_e2m1fn;scale=ue4m3;rule=ratio;steps=multiply;tensor;zero=zero;block=128x128)", 128, 132},
              {"scaled(float6_e2m3fn;" E8M0 "64x64)", 65, 128},
              {"scaled(float8_e4m3fn;" E8M0 "5x1024)", 7, 2052},
              {"scaled(float8_e4m3fn;" RATIO "1x4096)", 3, 9004},
              {"scaled(fp(2,5,15):finite;" RATIO "1x*)", 2, 16388},
              {"scaled(float8_e4m3fn;" E8M0 "*x*)", 51, 60},
              {"scaled(float8_e4m3fn;special=nan;" E8M0 "*x*)", 1, 32772},
              {"fp8_tensor", 8, 16}, /* as long as a block of rows */
              {"fp8_tensor", 1, 64},
              {"fp8_tensor", 64, 100},
              {"fp8_tensor", 140, 132}};

static void try(t_random *random, hu_scaling scaling, hu_mode mode, size_t rows, size_t cols, const float *x,
                unsigned k) {
  t_problem problem = problem_new(random, scaling, mode, rows, cols, 0);
  float given = t_float(t_bits32(x[5]) & 0x7FFFFFFF);
  problem.given = (scaling.tensor || (scaling.rows == 0 && scaling.cols == 0)) && k % 2 == 0;
  problem.stats = k % 4 == 1;
  problem.events = mode.round < HU_SRA ? k % 3 != 0 : k % 8 == 7;
  memcpy(problem.t[AMAX].host, &given, sizeof given);
  set_x(&problem, x);
  encode(&problem);
  quantize(&problem, 0);
  quantize(&problem, 1);
  problem_free(&problem);
}

static void tiles(void **state) {
  (void)state;
  static float x[MOST];
  t_random random = {t_seed("device_tiles", 60)};
  const unsigned rounds = t_part(12) > 3 ? t_part(12) : 3;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const size_t n = shapes[i].rows * shapes[i].cols;
    assert_true(n <= MOST);
    for (unsigned k = 0; k < rounds; k++) {
      const unsigned kind = (k + (unsigned)i) % 3;
      hu_mode mode = kind == 2 ? t_stochastic(HU_SRA, 1 + t_below(&random, 32)) : t_mode(HU_RNE);
      if (kind == 1) mode.tiny = HU_TINY_BEFORE;
      ordinary(&random, n, x, 0);
      if (k % 5 == 2) ordinary(&random, n / 2, x, 1);
      if (k % 5 == 3) x[n - 1] = t_float(0x7F800000 | t_below(&random, 2));
      if (k % 5 == 4) memset(x, 0, (n - 4100 < n ? n - 4100 : n / 2) * sizeof *x);
      try(&random, parsed(shapes[i].scaling), mode, shapes[i].rows, shapes[i].cols, x, k + (unsigned)i);
    }
  }
  print_message("%zu shapes, %u times\n", sizeof shapes / sizeof *shapes, rounds);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tiles)};
  int skip = twin_skip("device tiles of scaled tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
