/* SPDX-License-Identifier: MIT */
/* S2FP8's transform as the paper derives it: what the logarithms are like before they are rounded, where it is nothing
 * but a power of two, and that it is not idempotent. */
#include <math.h>
#include <string.h>

#include "halfulp/s2fp8.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 2000 };
static const hu_mode rne;
static const int64_t one = (int64_t)1 << 40;

static hu_s2fp8 kind(void) {
  hu_s2fp8 k;
  assert_int_equal(hu_s2fp8_parse(&k, "s2fp8", NULL), HU_OK);
  return k;
}

/* Numbers of many sizes around 2^centre, some zeros among them. */
static void fill(float *x, int centre, float width, uint64_t seed) {
  static float l[N];
  hu_normal_n(N, x, 1, hu_stream_of_use(seed, HU_USE_OTHER));
  hu_normal_n(N, l, width, hu_stream_of_use(seed, HU_USE_NOISE));
  for (int i = 0; i < N; i++) x[i] = i % 50 == 7 ? 0 : ldexpf(x[i], centre + (int)l[i]);
}

/* y = 2^beta |x|^alpha: the mean of log2 y over the numbers that are not zero is 0, the largest is 15. */
static void zero_mean(void **state) {
  (void)state;
  static float x[N], z[N];
  hu_s2fp8 k = kind();
  for (uint64_t seed = 1; seed <= 30; seed++) {
    hu_s2fp8_sums sums;
    hu_s2fp8_scale scale;
    double mean = 0, top = -INFINITY;
    fill(x, (int)seed * 4 - 70, 6, seed);
    assert_int_equal(hu_s2fp8_truncate_n(N, z, 1, x, 1, &k, rne, &sums, &scale, NULL, NULL), HU_OK);
    assert_int_equal(sums.count, N - N / 50);
    double mu = (double)scale.mu * HU_S2FP8_UNIT, m = (double)scale.m * HU_S2FP8_UNIT;
    for (int i = 0; i < N; i++) {
      if (x[i] == 0) continue;
      double y = 15 * (log2(fabs((double)x[i])) - mu) / (m - mu);
      mean += y / (double)sums.count;
      top = fmax(top, y);
    }
    if (!(fabs(mean) < 1e-12 * fmax(1, 15 / (m - mu)) && fabs(top - 15) < 1e-11)) fail_msg("%g, %g", mean, top);
    assert_true(fabs((double)scale.alpha * (m - mu) / 15 - 1) < 1e-6);
    assert_true(fabs((double)scale.beta + (double)scale.alpha * mu) < 1e-5 * fmax(1, fabs((double)scale.beta)));
  }
}

/* alpha = 1 and a whole mu: the element format moved by 2^mu, for any tensor. */
static void power_of_two(void **state) {
  (void)state;
  static float x[N], z[N];
  hu_s2fp8 k = kind();
  for (int mu = -40; mu <= 20; mu += 5) {
    hu_s2fp8_scale scale;
    assert_int_equal(hu_s2fp8_scale_from(&scale, mu * one, (mu + 15) * one, &k), HU_OK);
    assert_true(scale.alpha == 1 && scale.beta == (float)-mu);
    fill(x, mu, 5, (uint64_t)(mu + 99));
    assert_int_equal(hu_s2fp8_quantize_n(N, z, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_OK);
    for (int i = 0; i < N; i++) {
      double expected = ldexp(hu_quantize64(k.element, rne, ldexp((double)x[i], -mu), 0, NULL), mu);
      assert_true((double)z[i] == expected);
    }
    assert_int_equal(hu_s2fp8_quantize_n(N, x, 1, z, 1, &k, &scale, rne, NULL, NULL), HU_OK);
    for (int i = 0; i < N; i++) assert_true(x[i] == z[i] || !isfinite(z[i])); /* its own numbers come back */
  }
}

/* The statistics of the result differ from those of the tensor, so a second time changes it again. */
static void not_idempotent(void **state) {
  (void)state;
  static float x[N], z[N], y[N];
  hu_s2fp8 k = kind();
  hu_s2fp8_scale first, second;
  fill(x, -20, 4, 1);
  assert_int_equal(hu_s2fp8_truncate_n(N, z, 1, x, 1, &k, rne, NULL, &first, NULL, NULL), HU_OK);
  assert_int_equal(hu_s2fp8_truncate_n(N, y, 1, z, 1, &k, rne, NULL, &second, NULL, NULL), HU_OK);
  assert_true(first.mu != second.mu && first.m == second.m && memcmp(y, z, sizeof z) != 0);
}

/* Numbers more than 17/15 (m - mu) below the mean are flushed, those within are not. */
static void flushed(void **state) {
  (void)state;
  hu_s2fp8 k = kind();
  hu_s2fp8_scale scale;
  for (int gap = 15; gap <= 60; gap += 15) {
    assert_int_equal(hu_s2fp8_scale_from(&scale, 0, gap * one, &k), HU_OK);
    int limit = -17 * gap / 15;
    float x[3] = {ldexpf(1, limit), nextafterf(ldexpf(1, limit), 1), ldexpf(1, limit - 1)}, z[3];
    assert_int_equal(hu_s2fp8_quantize_n(3, z, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_OK);
    assert_true(z[0] == 0 && z[1] == ldexpf(1, -16 * gap / 15) && z[2] == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(zero_mean), cmocka_unit_test(power_of_two),
                                     cmocka_unit_test(not_idempotent), cmocka_unit_test(flushed)};
  return cmocka_run_group_tests_name("recipes: s2fp8", tests, NULL, NULL);
}
