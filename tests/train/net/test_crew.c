/* SPDX-License-Identifier: MIT */
/* Calls of the processor's engine that a crew of threads divides, against plain loops: numbers that stay as they are
 * but for NaN, gradients without their scale, elementary functions. Sizes lie on both sides of those from which it
 * divides. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/function_n.h"
#include "halfulp/formats/ieee.h"
#include "tests/support/support.h"
#include "train/engine/engine.h"

static const size_t sizes[] = {0, 1, 17, 1023, 8191, 8193, 65535, 65536, 70001, 200003};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 200003, THREADS = 3 };
static float x[MOST], want[MOST], z[MOST];
static t_random numbers;

/* Any bits; few are NaN or infinite, and with `rare` hardly one in an array is. */
static void fill(size_t n, int rare) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u = t_next32(&numbers);
    int odd = (u & 0x7F800000) == 0x7F800000;
    x[i] = t_float(odd && rare && t_below(&numbers, 1000) ? u & 0xBFFFFFFF : u);
  }
}

static void each(void (*check)(const hu_engine *engine, void *self, size_t n, uint32_t threads)) {
  const hu_engine *engine = hu_engine_cpu();
  for (uint32_t threads = 1; threads <= THREADS; threads++) {
    void *self;
    assert_int_equal(engine->open(&self, threads), HU_OK);
    for (size_t i = 0; i < SIZES; i++) check(engine, self, sizes[i], threads);
    engine->close(self);
  }
}

static void compare(const char *what, size_t n, uint32_t threads, const float *is) {
  for (size_t i = 0; i < n; i++) {
    if (t_bits32(is[i]) != t_bits32(want[i]))
      fail_msg("%s of %zu with %u threads: number %zu is %08X, not %08X", what, n, (unsigned)threads, i,
               (unsigned)t_bits32(is[i]), (unsigned)t_bits32(want[i]));
  }
}

/* In place and elsewhere: 0x7FC00000 for every NaN, all else as it was. */
static void check_keep(const hu_engine *engine, void *self, size_t n, uint32_t threads) {
  const hu_rounding keep = hu_rounding_keep();
  const hu_stream none = {0, 0};
  for (int rare = 0; rare < 2; rare++) {
    hu_rounding_counts counts;
    memset(&counts, 0, sizeof counts);
    fill(n, rare);
    for (size_t i = 0; i < n; i++) want[i] = x[i] != x[i] ? t_float(0x7FC00000) : x[i];
    assert_int_equal(engine->round(self, 1, n, z, x, &keep, none, &counts), HU_OK);
    compare("keep elsewhere", n, threads, z);
    assert_int_equal(engine->round(self, 1, n, x, x, &keep, none, &counts), HU_OK);
    compare("keep in place", n, threads, x);
    assert_int_equal(counts.elements, 2 * n);
    fill(n, rare);
    for (size_t i = 0; i < n; i++) want[i] = x[i] != x[i] ? t_float(0x7FC00000) : x[i];
    const hu_mode rne = {0};
    assert_int_equal(engine->quantize(self, n, x, hu_binary32(), rne, none), HU_OK);
    compare("quantize into binary32", n, threads, x);
  }
}

static void check_unscale(const hu_engine *engine, void *self, size_t n, uint32_t threads) {
  static const float scales[] = {1, 1024, 3, 0x1p-20f};
  for (size_t k = 0; k < 8; k++) {
    hu_gradient_found found = {k % 3 ? 0.0f : 0x1p-100f, (uint8_t)(k == 5)}, expected = found;
    float back = 1 / scales[k % 4];
    fill(n, k < 4);
    for (size_t i = 0; i < n; i++) {
      want[i] = x[i] * back;
      if (!(fabsf(want[i]) <= FLT_MAX)) expected.bad = 1;
      if (fabsf(want[i]) <= FLT_MAX && fabsf(want[i]) > expected.amax) expected.amax = fabsf(want[i]);
    }
    assert_int_equal(engine->unscale(self, n, x, scales[k % 4], &found), HU_OK);
    for (size_t i = 0; i < n; i++) {
      if (want[i] != want[i] && x[i] != x[i]) want[i] = x[i];
    }
    compare("unscale", n, threads, x);
    assert_int_equal(found.bad, expected.bad);
    assert_int_equal(t_bits32(found.amax), t_bits32(expected.amax));
  }
}

static void check_function(const hu_engine *engine, void *self, size_t n, uint32_t threads) {
  const hu_mode rne = {0};
  fill(n, 0);
  assert_int_equal(hu_tanh_n(n, want, 1, hu_binary32(), x, 1, hu_binary32(), rne, NULL, NULL), HU_OK);
  assert_int_equal(engine->function(self, HU_FUNCTION_TANH, n, z, x), HU_OK);
  compare("tanh", n, threads, z);
  assert_int_equal(hu_exp_n(n, want, 1, hu_binary32(), x, 1, hu_binary32(), rne, NULL, NULL), HU_OK);
  assert_int_equal(engine->function(self, HU_FUNCTION_EXP, n, x, x), HU_OK);
  compare("exp in place", n, threads, x);
}

static void keep(void **state) {
  (void)state;
  each(check_keep);
}

static void unscale(void **state) {
  (void)state;
  each(check_unscale);
}

static void functions(void **state) {
  (void)state;
  each(check_function);
}

int main(void) {
  numbers.state = t_seed("train-crew", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(keep), cmocka_unit_test(unscale), cmocka_unit_test(functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
