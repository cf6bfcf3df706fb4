/* SPDX-License-Identifier: MIT */
/* hu_apply of the elementary functions against the one-value calls: formats of every kind, strides, in place, threads,
 * levels, random words, events, bytes around the results; all codes of the 16-bit formats at every level; errors. */
#include "tests/arith/calls.h"
#include "tests/function/functions.h"
#include "tests/support/levels.h"

#include <fenv.h>
#include <stdlib.h>

#include "emu/arith/function_lanes.h"
#include "emu/core/arith.h"
#include "emu/simd/level.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"

enum { N = 1300, ROOM = 4 * N + 64 };

static uint32_t buffer[3][ROOM], before[ROOM];

static hu_format any_format(t_random *random) {
  switch (t_below(random, 4)) {
    case 0: return t_below(random, 2) ? hu_binary16() : hu_bfloat16();
    case 1: return t_random_format(random, 1, 32);
    case 2: return t_random_format(random, 1, 16);
    default: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
  }
}

static uint32_t draw_code(t_random *random, hu_format format) {
  if (t_below(random, 3) == 0) return t_random_code(random, format);
  double v = (1 + t_below(random, 1u << 20) * 0x1p-20) * (double)(1u << t_below(random, 10)) * 0x1p-6;
  return hu_encode64(format, t_mode(HU_RNE), t_below(random, 2) ? -v : v, 0, NULL);
}

typedef struct job {
  int function;
  size_t n, size[3]; /* bytes of an element; 2 is the result */
  calls_array array[3];
  hu_mode mode;
  hu_exec exec;
} job;

static void draw_job(t_random *random, job *j, int function) {
  static const uint32_t threads[] = {0, 1, 2, 3, 16};
  memset(j, 0, sizeof *j);
  j->function = function;
  j->n = t_below(random, 4) ? 1 + t_below(random, N) : t_below(random, 20);
  j->mode = t_random_mode(random);
  if (j->mode.bits && t_below(random, 2)) j->mode.bits = (uint8_t)(1 + t_below(random, 8));
  j->exec.threads = threads[t_below(random, 5)];
  j->exec.levels_off = t_levels_off(t_below(random, (uint32_t)t_levels()));
  j->exec.stream.key = t_next64(random);
  j->exec.stream.counter = t_below(random, 2) ? t_next64(random) : UINT64_MAX - t_below(random, N);
  hu_format fz = any_format(random);
  int alike = (int)t_below(random, 3);
  for (int i = 0; i < 3; i++) {
    calls_array *a = &j->array[i];
    a->format = i == 2 || alike ? fz : any_format(random);
    a->inc = t_below(random, 2) ? 1
             : i == 2           ? (t_below(random, 2) ? -1 : 1) * t_between(random, 1, 3)
                                : t_between(random, -3, 3);
    j->size[i] = hu_limits_of(a->format).storage / 8;
    a->data = (uint8_t *)buffer[i] + (a->inc < 0 ? -a->inc * (ptrdiff_t)j->n + 8 : 8) * (ptrdiff_t)j->size[i];
    for (size_t k = 0; i < 2 && k < j->n; k++)
      t_put(a->data, j->size[i], (ptrdiff_t)k * a->inc, draw_code(random, a->format));
  }
  if (t_below(random, 3) == 0 && j->size[0] == j->size[2] && j->array[0].inc != 0) {
    j->array[2].inc = j->array[0].inc;
    j->array[2].data = j->array[0].data;
  }
}

/* Results, events, and that nothing else was written. */
static uint64_t check_job(const job *j) {
  hu_events ev, want;
  memset(&ev, 0x11, sizeof ev);
  want = ev;
  calls_array z = j->array[2];
  int in_place = z.data == j->array[0].data;
  uint32_t *z_buffer = buffer[in_place ? 0 : 2];
  if (!in_place) t_fill_pattern(buffer[2], sizeof buffer[2]);
  memcpy(before, z_buffer, sizeof before);
  uint8_t *expected = (uint8_t *)before + ((uint8_t *)z.data - (uint8_t *)z_buffer);
  for (size_t k = 0; k < j->n; k++) {
    hu_oracle_code x[2];
    uint32_t e = 0, r = j->mode.bits ? hu_stream_word(j->exec.stream, k) >> (32 - j->mode.bits) : 0;
    for (int i = 0; i < 2; i++) {
      x[i].format = j->array[i].format;
      x[i].code = t_get(j->array[i].data, j->size[i], (ptrdiff_t)k * j->array[i].inc);
    }
    t_put(expected, j->size[2], (ptrdiff_t)k * z.inc, fn_call(j->function, z.format, j->mode, r, x, &e));
    hu_events_count(&want, e);
  }
  hu_status status = calls_apply(fn_table[j->function], j->n, z, j->array, j->mode, &j->exec, &ev);
  if (status != HU_OK) fail_msg("%s: %s", fn_name(j->function), hu_status_name(status));
  if (memcmp(before, z_buffer, sizeof before) != 0) {
    char f[T_FORMAT_TEXT], g[T_FORMAT_TEXT], m[T_MODE_TEXT];
    fail_msg("%s of %s into %s, %s, levels off %x: not as one by one", fn_name(j->function),
             t_format_text(f, j->array[0].format), t_format_text(g, z.format), t_mode_text(m, j->mode),
             j->exec.levels_off);
  }
  if (!t_same_events(&ev, &want))
    fail_msg("%s: events differ, levels off %x", fn_name(j->function), j->exec.levels_off);
  return j->n;
}

static void test_jobs(void **state) {
  (void)state;
  t_random random = {t_seed("function_arrays", 71)};
  uint64_t elements = 0;
  for (int round = 0; round < (HU_EXHAUSTIVE ? 4000 : 60); round++) {
    for (int function = 0; function < HU_ORACLE_FUNCTIONS; function++) {
      job j;
      draw_job(&random, &j, function);
      elements += check_job(&j);
    }
  }
  print_message("%llu elements\n", (unsigned long long)elements);
}

/* All codes of a 16-bit format, every level against the one-value core, several threads; what lanes compute and what
 * the core does are the same for every mode that lanes take. In every run half of the modes for each function, the
 * others for the next one. */
static void test_levels(void **state) {
  (void)state;
  static uint16_t x[65536], z[2][65536];
  t_random random = {t_seed("function_levels", 72)};
  uint64_t elements = 0;
  for (uint32_t i = 0; i < 65536; i++) x[i] = (uint16_t)(i * 40503u);
  for (int function = 0; function < HU_ORACLE_POW; function++) {
    for (int f = 0; f < 2; f++) {
      for (int k = 0; k < 4; k++) {
        if (!HU_EXHAUSTIVE && (k + f + function) % 2) continue;
        hu_events ev[2];
        hu_format fx = f ? hu_bfloat16() : hu_binary16();
        hu_mode mode = k == 0   ? t_mode(HU_RNE)
                       : k == 3 ? t_stochastic(HU_SRA + (unsigned)function % 3, 5)
                                : t_mode(t_below(&random, T_DETERMINISTIC));
        calls_array a = {x, 1, fx}, b = {z[0], 1, k == 2 ? hu_float8_e5m2() : fx};
        hu_exec exec = {2, UINT32_MAX, {function, 5}, {0}};
        memset(ev, 0, sizeof ev);
        memset(z, 0, sizeof z);
        assert_int_equal(calls_apply(fn_table[function], 65536, b, &a, mode, &exec, &ev[0]), HU_OK);
        for (size_t level = 0; level < t_levels(); level++) {
          exec.levels_off = t_levels_off(level);
          memset(&ev[1], 0, sizeof ev[1]);
          b.data = z[1];
          assert_int_equal(calls_apply(fn_table[function], 65536, b, &a, mode, &exec, &ev[1]), HU_OK);
          if (memcmp(z[0], z[1], sizeof z[0]) != 0 || !t_same_events(&ev[0], &ev[1]))
            fail_msg("%s, levels off %x: not as the core", fn_name(function), t_levels_off(level));
          elements += 65536;
        }
      }
    }
  }
  print_message("%llu elements\n", (unsigned long long)elements);
}

/* Binary32 results, which lanes round on their own: operands of every size, results below 2^-126 and beyond the range
 * among them. */
static void test_binary32(void **state) {
  (void)state;
  enum { COUNT = 40000 };
  static uint32_t x[COUNT], z[2][COUNT];
  t_random random = {t_seed("function_binary32_levels", 74)};
  hu_format format = hu_binary32();
  for (int function = 0; function < HU_ORACLE_POW; function++) {
    for (size_t i = 0; i < COUNT; i++) {
      uint32_t code = t_next32(&random),
               near_one = (code & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 26, 127 + 8) << 23;
      x[i] = i < COUNT / 4 ? code : i < COUNT / 2 ? near_one & 0xFFFF0000u : near_one;
    }
    calls_array a = {x, 1, format}, b = {z[0], 1, format};
    hu_exec exec = {2, UINT32_MAX, {0, 0}, {0}};
    hu_events ev[2];
    memset(ev, 0, sizeof ev);
    assert_int_equal(calls_apply(fn_table[function], COUNT, b, &a, t_mode(HU_RNE), &exec, &ev[0]), HU_OK);
    for (size_t level = 0; level < t_levels(); level++) {
      exec.levels_off = t_levels_off(level);
      memset(&ev[1], 0, sizeof ev[1]);
      b.data = z[1];
      assert_int_equal(calls_apply(fn_table[function], COUNT, b, &a, t_mode(HU_RNE), &exec, &ev[1]), HU_OK);
      if (memcmp(z[0], z[1], sizeof z[0]) != 0 || !t_same_events(&ev[0], &ev[1]))
        fail_msg("%s, levels off %x: not as the core", fn_name(function), t_levels_off(level));
    }
  }
  print_message("%d elements\n", 3 * COUNT * HU_ORACLE_POW);
}

/* ---- powers and large angles: what lanes compute by themselves ---- */

/* Exponents with results of few digits, of either sign, far beyond the range, and special ones. */
static const double powers[] = {0,    -0.0,  1,    2,    3,     -1,     -2,    0.5,     -0.5,     1.5,
                                4,    -3,    7,    0.25, 127,   -128,   255,   0x1p20,  0x1p40,   0x1p55,
                                1e30, -1e30, 1e-3, -0.1, 1e-30, 0.3333, -0.75, 1 / 0.0, -1 / 0.0, 0.0 / 0.0};
enum { POWERS = sizeof powers / sizeof *powers };

/* The same call at every level as without one. */
static void same_at_levels(int function, size_t n, calls_array z, const calls_array *x, hu_mode mode, void *want) {
  hu_exec exec = {2, UINT32_MAX, {function, 5}, {0}};
  hu_events counted = {0}, events;
  const size_t bytes = n * hu_limits_of(z.format).storage / 8;
  assert_int_equal(calls_apply(fn_table[function], n, z, x, mode, &exec, &counted), HU_OK);
  memcpy(want, z.data, bytes);
  for (size_t level = 0; level < t_levels(); level++) {
    exec.levels_off = t_levels_off(level);
    memset(&events, 0, sizeof events);
    assert_int_equal(calls_apply(fn_table[function], n, z, x, mode, &exec, &events), HU_OK);
    if (memcmp(want, z.data, bytes) != 0 || !t_same_events(&events, &counted))
      fail_msg("%s, levels off %x: not as the core", fn_name(function), t_levels_off(level));
  }
}

/* All codes of a 16-bit format to some powers: into it, in any mode, and into binary32. */
static void test_powers(void **state) {
  (void)state;
  static uint16_t x[65536], y[65536];
  static uint32_t z[65536], want[65536];
  t_random random = {t_seed("function_powers", 75)};
  for (uint32_t i = 0; i < 65536; i++) x[i] = (uint16_t)(i * 40503u);
  for (int k = 0; k < (HU_EXHAUSTIVE ? 40 : 4); k++) {
    hu_format format = k & 1 ? hu_bfloat16() : hu_binary16(), into = k & 2 ? format : hu_binary32();
    hu_mode mode = k % 4 == 3 ? t_random_mode(&random) : t_mode(HU_RNE);
    if (mode.bits > 5) mode.bits = 5;
    for (size_t i = 0; i < 65536; i++) {
      double v = t_below(&random, 2) ? powers[t_below(&random, POWERS)] : t_below(&random, 1 << 16) * 0x1p-12 - 8;
      y[i] = (uint16_t)hu_encode64(format, t_mode(HU_RNE), v, 0, NULL);
    }
    calls_array operands[2] = {{x, 1, format}, {y, 1, format}};
    same_at_levels(HU_ORACLE_POW, 65536, (calls_array){z, 1, into}, operands, mode, want);
  }
}

/* Binary32: results in the range, of few digits, and at its ends. */
static void test_powers_of_binary32(void **state) {
  (void)state;
  enum { COUNT = HU_EXHAUSTIVE ? 4000000 : 60000 };
  static uint32_t x[COUNT], y[COUNT], z[COUNT], want[COUNT];
  t_random random = {t_seed("function_powers_32", 76)};
  for (size_t i = 0; i < COUNT; i++) {
    unsigned what = t_below(&random, 6);
    float base = (float)(1 + t_below(&random, 1u << (1 + t_below(&random, 24)))),
          power = (float)powers[t_below(&random, POWERS)];
    x[i] = t_next32(&random);
    y[i] = t_next32(&random);
    if (what & 1) x[i] = (x[i] & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 20, 127 + 20) << 23;
    if (what & 2) y[i] = (y[i] & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 8, 127 + 7) << 23;
    if (what > 3) x[i] = t_bits32(what == 4 ? base : base * base * 0x1p-6f) | (t_below(&random, 4) == 0) << 31;
    if (what > 3) y[i] = t_bits32(power);
  }
  calls_array operands[2] = {{x, 1, hu_binary32()}, {y, 1, hu_binary32()}};
  same_at_levels(HU_ORACLE_POW, COUNT, (calls_array){z, 1, hu_binary32()}, operands, t_mode(HU_RNE), want);
  same_at_levels(HU_ORACLE_POW, COUNT, (calls_array){z, 1, hu_bfloat16()}, operands, t_mode(HU_RTZ), want);
}

/* Angles from 2^20 on; among them the nearest ones to multiples of pi/2, by the continued fractions of 2^e 2/pi. */
static void test_large_angles(void **state) {
  (void)state;
  static const uint32_t hardest[] = {0x6F79BE45, 0x50A3E87F, 0x6FF9BE45, 0x5123E87F, 0x7079BE45, 0x6A1976F1, 0x53B146A6,
                                     0x65898498, 0x51A3E87F, 0x77584625, 0x4C2332E9, 0x6C55DA58, 0x70F9BE45, 0x6A9976F1,
                                     0x5C07BCD0, 0x543146A6, 0x66098498, 0x5223E87F, 0x723FA09A, 0x4A2562AE, 0x77D84625,
                                     0x642E0733, 0x4E13D4A5, 0x7EBDCDA0, 0x4CA332E9, 0x6CD5DA58, 0x7179BE45, 0x6B1976F1,
                                     0x5C87BCD0, 0x54B146A6, 0x66898498, 0x5FE4112C, 0x52A3E87F, 0x72BFA09A, 0x79407F54,
                                     0x6946E3BB, 0x62EC1B4A, 0x4AA562AE, 0x56787577, 0x78584625, 0x64AE0733, 0x61D3B126,
                                     0x7452DE59, 0x4E93D4A5, 0x4D2332E9, 0x78A8B883, 0x6D55DA58, 0x71F9BE45};
  enum { HARDEST = sizeof hardest / sizeof *hardest, COUNT = HU_EXHAUSTIVE ? 4000000 : 30000 };
  static uint32_t x[COUNT], z[COUNT], want[COUNT];
  t_random random = {t_seed("function_large_angles", 77)};
  for (size_t i = 0; i < COUNT; i++) {
    uint32_t near = hardest[t_below(&random, HARDEST)] + t_below(&random, 5) - 2;
    uint32_t any = (t_next32(&random) & 0x807FFFFF) | (uint32_t)t_between(&random, 127 + 19, 255) << 23;
    x[i] = t_below(&random, 8) ? any : near | t_below(&random, 2) << 31;
  }
  for (size_t i = 0; i < HARDEST; i++) x[i] = hardest[i];
  calls_array operand = {x, 1, hu_binary32()};
  for (int k = 0; k < 4; k++) {
    calls_array to = {z, 1, k & 1 ? hu_binary16() : hu_binary32()};
    same_at_levels(k & 2 ? HU_ORACLE_COS : HU_ORACLE_SIN, COUNT, to, &operand, t_mode(HU_RNE), want);
  }
}

/* How many ordinary operands the lanes of the best level leave to the core. */
static void test_left(void **state) {
  (void)state;
  enum { COUNT = 1 << 16, ROUNDS = 16 };
  static uint32_t x[COUNT], y[COUNT];
  static uint64_t wide[COUNT], left[COUNT];
  t_random random = {t_seed("function_left", 78)};
  const hu_function_kernels *lanes = hui_level_for(NULL)->function;
  uint64_t powers_left = 0, angles_left = 0;
  for (int k = 0; lanes && k < ROUNDS; k++) {
    for (size_t i = 0; i < COUNT; i++) {
      x[i] = (t_next32(&random) & 0x7FFFFF) | (uint32_t)t_between(&random, 127 - 8, 127 + 7) << 23;
      y[i] = (t_next32(&random) & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 8, 127 + 3) << 23;
    }
    (void)lanes->pow(COUNT, wide, left, x, y);
    for (size_t i = 0; i < COUNT; i++) powers_left += left[i];
    for (size_t i = 0; i < COUNT; i++) x[i] = (x[i] & 0x7FFFFF) | (uint32_t)t_between(&random, 127 + 20, 254) << 23;
    (void)lanes->lane[HU_OP_SIN - HU_OP_FUNCTION](COUNT, wide, left, x);
    for (size_t i = 0; i < COUNT; i++) angles_left += left[i];
  }
  print_message("left of %d: %llu powers, %llu sines of large angles\n", COUNT * ROUNDS,
                (unsigned long long)powers_left, (unsigned long long)angles_left);
  assert_true(powers_left < COUNT * ROUNDS / 1000 && angles_left < COUNT * ROUNDS / 1000);
}

/* The caller's direction of rounding is no matter, and stays what it is. */
static void test_surroundings(void **state) {
  (void)state;
  static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  hu_format format = hu_binary16(), other = hu_binary32();
  t_random random = {t_seed("function_surroundings", 73)};
  for (int k = 0; k < 30000; k++) {
    int function = k % HU_ORACLE_FUNCTIONS;
    uint16_t c = (uint16_t)t_next32(&random), z = 0;
    uint32_t events[2];
    hu_oracle_code x[2] = {{format, c}, {format, t_next32(&random) & 0x7FFF}};
    uint16_t y = (uint16_t)x[1].code;
    calls_array zs = {&z, 1, format}, xs[2] = {{&c, 1, format}, {&y, 1, format}};
    uint32_t want = fn_call(function, other, t_mode(HU_RNE), 0, x, &events[0]);
    uint32_t half = fn_call(function, format, t_mode(HU_RNE), 0, x, NULL);
    fesetround(directions[k % 3]);
    uint32_t got = fn_call(function, other, t_mode(HU_RNE), 0, x, &events[1]);
    hu_status status = calls_apply(fn_table[function], 1, zs, xs, t_mode(HU_RNE), NULL, NULL);
    int stayed = fegetround() == directions[k % 3];
    fesetround(FE_TONEAREST);
    assert_int_equal(got, want);
    assert_int_equal(events[1], events[0]);
    assert_int_equal(status, HU_OK);
    assert_int_equal(z, half);
    assert_true(stayed);
  }
}

static void test_errors(void **state) {
  (void)state;
  hu_format format = hu_binary16(), bad = format;
  uint16_t x[32] = {0}, z[32];
  hu_mode rne = t_mode(0), wrong = t_mode(77);
  hu_events ev = {0};
  bad.e = 12;
  t_fill_pattern(z, sizeof z);
  for (int op = HU_OP_FUNCTION; op <= HU_OP_POW; op++) {
    calls_array zs = {z, 1, format}, xs[2] = {{x, 1, format}, {x, 1, format}}, z_bad = {z, 1, bad},
                z_null = {NULL, 1, format};
    calls_array z_odd = {(uint8_t *)z + 1, 1, format}, z_still = {z, 0, format}, z_over = {x + 1, 1, format};
    calls_array x_bad[2] = {{x, 1, format}, {x, 1, format}}, x_null[2] = {{x, 1, format}, {x, 1, format}};
    x_bad[calls_operands(op) - 1].format = bad;
    x_null[calls_operands(op) - 1].data = NULL;
    assert_int_equal(calls_apply(op, 8, z_bad, xs, rne, NULL, &ev), HU_E_FORMAT);
    assert_int_equal(calls_apply(op, 8, zs, x_bad, rne, NULL, &ev), HU_E_FORMAT);
    assert_int_equal(calls_apply(op, 8, zs, xs, wrong, NULL, &ev), HU_E_MODE);
    assert_int_equal(calls_apply(op, 8, z_null, xs, rne, NULL, &ev), HU_E_NULL);
    assert_int_equal(calls_apply(op, 8, zs, x_null, rne, NULL, &ev), HU_E_NULL);
    assert_int_equal(calls_apply(op, 8, z_still, xs, rne, NULL, &ev), HU_E_SHAPE);
    assert_int_equal(calls_apply(op, 8, z_odd, xs, rne, NULL, &ev), HU_E_ALIGN);
    assert_int_equal(calls_apply(op, 8, z_over, xs, rne, NULL, &ev), HU_E_OVERLAP);
    assert_int_equal(calls_apply(op, 0, z_null, x_null, rne, NULL, NULL), HU_OK);
  }
  assert_true(t_is_pattern(z, sizeof z));
  assert_int_equal(ev.invalid + ev.inexact, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs),
                                     cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_binary32),
                                     cmocka_unit_test(test_powers),
                                     cmocka_unit_test(test_powers_of_binary32),
                                     cmocka_unit_test(test_large_angles),
                                     cmocka_unit_test(test_left),
                                     cmocka_unit_test(test_surroundings),
                                     cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests_name("elementary functions over arrays", tests, NULL, NULL);
}
