/* SPDX-License-Identifier: MIT */
/* Tensors truncated part by part against the same tensors in arrays: numbers, events, sums and scales, in every mode,
 * at every level, for any size of a part and any number of threads; each number is taken once, and no part before all
 * have been given. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

static const char *const kinds[] = {"s2fp8",
                                    "s2fp8",
                                    "s2fp8(float8_e4m3fn)",
                                    "s2fp8(float8_e5m2;special=element)",
                                    "s2fp8(fp(2,5,0):fn)",
                                    "s2fp8(bfloat16;target=15)"};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 60000, BEHIND = 16, THREADS = 4 };

static float x[MOST], expected[MOST], z[MOST];
static _Atomic uint8_t taken[MOST];

/* Bells, wide ones, one magnitude, zeros alone, with zeros, with what is not normal: some decided by a product of all
 * significands, some by statistics. */
static void draw(t_random *random, size_t n) {
  unsigned what = t_below(random, 8), zeros = t_below(random, 3) == 0;
  uint32_t at = (uint32_t)t_between(random, 40, 200), digits = t_next32(random) & 0x7FFFFF;
  for (size_t i = 0; i < n; i++) {
    uint32_t u = (at - t_below(random, 6)) << 23 | (t_next32(random) & 0x807FFFFF);
    if (what == 1) u = (uint32_t)t_between(random, 100, 150) << 23 | (t_next32(random) & 0x807FFFFF);
    if (what == 2) u = at << 23 | digits | (t_next32(random) & 0x80000000);
    if (what == 3) u = t_next32(random) & 0x80000000;
    if (what == 4 && t_below(random, 300) == 0)
      u = t_below(random, 2) ? t_next32(random) & 0x807FFFFF : t_next32(random) | 0x7F800000;
    if (zeros && t_below(random, 3) == 0) u &= 0x80000000;
    x[i] = t_float(u);
  }
}

/* Rooms of threads, which are filled anew for each part, and spoilt behind it. */
typedef struct rooms {
  float buffer[THREADS][MOST];
  size_t n, part, threads;
  _Atomic size_t given, bad;
} rooms;

static const float *give(void *context, size_t thread, size_t first, size_t n) {
  rooms *c = context;
  int whole = first % c->part == 0 && (n == c->part || first + n == c->n);
  if (thread >= c->threads || !whole) {
    c->bad++;
    thread = 0;
  }
  c->given += n;
  for (size_t i = 0; i < c->n && i < n + BEHIND; i++) c->buffer[thread][i] = i < n ? x[first + i] : 77;
  return c->buffer[thread];
}

static void take(void *context, size_t thread, size_t first, size_t n, const float *values) {
  rooms *c = context;
  if (thread >= c->threads || first + n > c->n || c->given < c->n) {
    c->bad++;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    taken[first + i]++;
    z[first + i] = values[i];
  }
}

static size_t part_of(t_random *random, size_t n) {
  static const size_t parts[] = {1, 7, 64, 1000, 8192, 8193, 20000};
  size_t part = parts[t_below(random, 7)];
  if (n > 3000 && part < 64) part = 64;
  return t_below(random, 6) ? part : n + t_below(random, 2);
}

static void check_numbers(size_t n, const char *text, hu_mode mode, size_t part) {
  for (size_t i = 0; i < n; i++) {
    if (taken[i] != 1) fail_msg("%zu numbers in parts of %zu: number %zu is taken %d times", n, part, i, taken[i]);
    if (t_bits32(z[i]) == t_bits32(expected[i])) continue;
    fail_msg("%s, mode %d, %zu numbers in parts of %zu: number %zu, %a: %a, not %a", text, mode.round, n, part, i,
             (double)x[i], (double)z[i], (double)expected[i]);
  }
}

static void one_tensor(t_random *random, size_t n, uint32_t off) {
  static rooms c;
  const char *text = kinds[t_below(random, KINDS)];
  hu_s2fp8 kind;
  hu_mode mode = t_mode(t_below(random, 2) ? HU_RNE : t_below(random, HU_SRC + 1));
  hu_exec exec = {1 + t_below(random, THREADS), off, {t_next32(random), t_below(random, 1000)}, {0}};
  hu_s2fp8_sums sums = {0}, sums_of_parts = {0};
  hu_s2fp8_scale scale = {0}, scale_of_parts = {0};
  hu_events counted = {0}, exact = {0};
  int asks = t_below(random, 3) == 0;
  if (mode.round >= HU_SRA) mode.bits = (uint8_t)(1 + t_below(random, 32));
  assert_int_equal(hu_s2fp8_parse(&kind, text, NULL), HU_OK);
  draw(random, n);
  assert_int_equal(
      hu_s2fp8_truncate_n(n, expected, 1, x, 1, &kind, mode, asks ? &sums : NULL, asks ? &scale : NULL, &exec, &exact),
      HU_OK);
  for (size_t i = 0; i < n; i++) taken[i] = 0;
  c.n = n;
  c.part = part_of(random, n);
  c.threads = exec.threads;
  c.given = c.bad = 0;
  const hu_s2fp8_parts parts = {c.part, give, take, &c};
  assert_int_equal(hu_s2fp8_truncate_parts(n, &parts, &kind, mode, asks ? &sums_of_parts : NULL,
                                           asks ? &scale_of_parts : NULL, &exec, &counted),
                   HU_OK);
  assert_int_equal(c.bad, 0);
  check_numbers(n, text, mode, c.part);
  assert_true(t_same_events(&counted, &exact));
  assert_memory_equal(&sums, &sums_of_parts, sizeof sums);
  assert_memory_equal(&scale, &scale_of_parts, sizeof scale);
}

static void any_tensor(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_parts", 871)};
  for (unsigned i = 0; i < t_runs(1200); i++)
    one_tensor(&random, 1 + t_below(&random, 300), t_levels_off(i % t_levels()));
  for (unsigned i = 0; i < 4 * (unsigned)t_levels(); i++) {
    int core = i % t_levels() + 1 == t_levels(); /* number by number */
    one_tensor(&random, core ? 3000 : 20000 + t_below(&random, MOST - 20000), t_levels_off(i % t_levels()));
  }
}

static void never(void *context, size_t thread, size_t first, size_t n, const float *values) {
  (void)thread, (void)first, (void)n, (void)values;
  ++*(int *)context;
}
static const float *nothing(void *context, size_t thread, size_t first, size_t n) {
  (void)thread, (void)first, (void)n;
  ++*(int *)context;
  return NULL;
}

static void wrong_arguments(void **state) {
  (void)state;
  int calls = 0;
  const hu_mode rne = t_mode(HU_RNE), unknown = t_mode(77);
  const hu_s2fp8_parts good = {5, nothing, never, &calls}, no_give = {5, NULL, never, &calls};
  const hu_s2fp8_parts no_take = {5, nothing, NULL, &calls}, no_part = {0, nothing, never, &calls};
  hu_s2fp8 kind, bad;
  hu_s2fp8_scale scale;
  assert_int_equal(hu_s2fp8_parse(&kind, "s2fp8", NULL), HU_OK);
  bad = kind;
  bad.target = 1000;
  assert_int_equal(hu_s2fp8_truncate_parts(9, NULL, &kind, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &no_give, &kind, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &no_take, &kind, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &no_part, &kind, rne, NULL, NULL, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_s2fp8_truncate_parts(SIZE_MAX / 2, &good, &kind, rne, NULL, NULL, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &good, NULL, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &good, &bad, rne, NULL, NULL, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_truncate_parts(9, &good, &kind, unknown, NULL, NULL, NULL, NULL), HU_E_MODE);
  assert_int_equal(hu_s2fp8_truncate_parts(0, &good, &kind, rne, NULL, &scale, NULL, NULL), HU_OK);
  assert_int_equal(calls, 0);
  assert_true(scale.alpha == 1 && scale.beta == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_tensor), cmocka_unit_test(wrong_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
