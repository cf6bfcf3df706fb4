/* SPDX-License-Identifier: MIT */
/* Calls of the processor's engine that a crew of threads divides, against plain loops: numbers that stay as they are
 * but for NaN, gradients without their scale, elementary functions; roundings against the library's in one thread.
 * Sizes lie on both sides of those from which it divides. And the threads that run what the library divides, and where
 * its memory begins. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/threads.h"
#include "halfulp/view.h"
#include "halfulp/formats/ieee.h"
#include "tests/support/cmocka.h"
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
  const hu_engine *engine = hui_engine_cpu();
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
  hu_view view = hu_codes(x, 1, hu_binary32());
  hu_output wanted = hu_codes_out(want, 1, hu_binary32());
  fill(n, 0);
  assert_int_equal(hu_apply(HU_OP_TANH, n, &wanted, &view, NULL), HU_OK);
  assert_int_equal(engine->function(self, HU_OP_TANH, n, z, x), HU_OK);
  compare("tanh", n, threads, z);
  assert_int_equal(hu_apply(HU_OP_EXP, n, &wanted, &view, NULL), HU_OK);
  assert_int_equal(engine->function(self, HU_OP_EXP, n, x, x), HU_OK);
  compare("exp in place", n, threads, x);
}

/* Of numbers one at a time, with random words and without, and of tensors with statistics or scales. */
static const char *const roundings[] = {"float8_e5m2",
                                        "fp(4,3,4):finite,sra:16",
                                        "float8_e4m3fn,rtp,over=inf,nan=keep",
                                        "posit8",
                                        "s2fp8",
                                        "s2fp8,rtz",
                                        "mxfp8_e4m3",
                                        "nvfp4"};
enum { ROUNDINGS = sizeof roundings / sizeof *roundings, COLS = 32 };

static int usual; /* 1: normal numbers, as the quick ways of S2FP8 want them */
static void fill_numbers(size_t n) {
  fill(n, 1);
  for (size_t i = 0; i < n && usual; i++) x[i] = t_float((t_bits32(x[i]) & 0x83FFFFFF) | 0x3C000000);
}

static void check_round(const hu_engine *engine, void *self, size_t n, uint32_t threads) {
  const hu_stream words = {77, 12345};
  const hu_exec one = {.stream = words};
  size_t rows = n / COLS;
  for (size_t k = 0; k < 2 * ROUNDINGS; k++) {
    hu_rounding rounding;
    hu_rounding_counts counts, expected;
    memset(&counts, 0, sizeof counts);
    memset(&expected, 0, sizeof expected);
    assert_int_equal(hu_rounding_parse(&rounding, roundings[k / 2], NULL), HU_OK);
    usual = k % 2;
    fill_numbers(rows * COLS);
    assert_int_equal(hu_rounding_apply(rows, COLS, want, x, &rounding, &one, &expected), HU_OK);
    assert_int_equal(engine->round(self, rows, COLS, z, x, &rounding, words, &counts), HU_OK);
    compare(roundings[k / 2], rows * COLS, threads, z);
    assert_memory_equal(&counts, &expected, sizeof counts);
    assert_int_equal(engine->round(self, rows, COLS, x, x, &rounding, words, NULL), HU_OK);
    compare(roundings[k / 2], rows * COLS, threads, x);
  }
}

/* ---- threads that run what the library divides ---- */

enum { PARTS = 5 };
typedef struct t_helped {
  int turns, parts[PARTS], within;
} t_helped;

static void see_part(void *context, size_t part) {
  t_helped *helped = context;
  helped->parts[part]++;
}

/* A call within a part has threads of its own. */
static void see_and_divide(void *context, size_t part) {
  t_helped within = {0, {0}, 0};
  see_part(context, part);
  hui_parallel(1, PARTS, see_part, &within);
  hui_parallel(2, 1, see_part, &within);
  ((t_helped *)context)->within += within.parts[0];
}

static t_helped *helping;
static void help(void *self, size_t parts, void (*part)(void *context, size_t part), void *context) {
  assert_ptr_equal(self, helping);
  helping->turns++;
  assert_null(hui_parallel_by(NULL)); /* nobody helps the helpers */
  for (size_t i = parts; i-- > 0;) part(context, i);
}

static void helpers(void **state) {
  (void)state;
  t_helped helped = {0, {0}, 0};
  const hu_helpers own = {help, &helped};
  helping = &helped;
  assert_null(hui_parallel_by(&own));
  hui_parallel(3, PARTS, see_and_divide, &helped);
  assert_int_equal(helped.turns, 1);
  hui_parallel(1, PARTS, see_part, &helped); /* for one thread: the calling one */
  hui_parallel(3, 1, see_part, &helped);
  assert_int_equal(helped.turns, 1);
  assert_ptr_equal(hui_parallel_by(NULL), &own);
  hui_parallel(2, PARTS, see_part, &helped);
  assert_int_equal(helped.turns, 1);
  for (int i = 0; i < PARTS; i++) assert_int_equal(helped.parts[i], i ? 3 : 4);
  assert_int_equal(helped.within, 2 * PARTS);
}

/* What was set before a call of the engine is there after it. */
static void lent(void **state) {
  (void)state;
  const hu_engine *engine = hui_engine_cpu();
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  hu_rounding rounding;
  void *self;
  assert_int_equal(engine->open(&self, 2), HU_OK);
  assert_int_equal(hu_rounding_parse(&rounding, "s2fp8", NULL), HU_OK);
  usual = 1;
  fill_numbers(MOST);
  assert_int_equal(engine->round(self, 1, MOST, z, x, &rounding, none, NULL), HU_OK);
  assert_null(hui_parallel_by(NULL));
  assert_int_equal(engine->quantize(self, MOST, z, hu_bfloat16(), rne, none), HU_OK);
  assert_null(hui_parallel_by(NULL));
  engine->close(self);
}

static void roundings_divided(void **state) {
  (void)state;
  each(check_round);
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

/* ---- memory ---- */

/* Zeros from the beginning of a line of the cache on, so that threads that write parts of 64 bytes share none. */
static void lines(void **state) {
  (void)state;
  enum { LINE = 64, BLOCKS = 64 };
  const hu_engine *engine = hui_engine_cpu();
  unsigned char *p[BLOCKS];
  void *self;
  assert_int_equal(engine->open(&self, 2), HU_OK);
  for (size_t i = 0; i < BLOCKS; i++) {
    size_t bytes = i < BLOCKS / 2 ? 4 * i + 4 : 4096 * i;
    p[i] = engine->allocate(self, bytes);
    assert_non_null(p[i]);
    assert_int_equal((uintptr_t)p[i] % LINE, 0);
    for (size_t k = 0; k < bytes; k++) assert_int_equal(p[i][k], 0);
    memset(p[i], 0xFF, bytes);
  }
  for (size_t i = 0; i < BLOCKS; i++) engine->release(self, p[i]);
  engine->close(self);
}

int main(void) {
  numbers.state = t_seed("train-crew", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(keep),      cmocka_unit_test(unscale),
                                     cmocka_unit_test(functions), cmocka_unit_test(roundings_divided),
                                     cmocka_unit_test(helpers),   cmocka_unit_test(lent),
                                     cmocka_unit_test(lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
