/* SPDX-License-Identifier: MIT */
/* hu_collective_reduce against participants that send each other messages, step by step, as halfulp/collective.h says:
 * every participant must end with the same numbers, which are those of the call. And the texts of models. */
#define _GNU_SOURCE /* sigaction, setitimer */
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "halfulp/arith.h"
#include "halfulp/collective.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/collective/world.h"
#include "tests/support/cmocka.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { N = 1400 };

/* ---- cases ---- */

static hu_format random_wide(t_random *random) {
  const hu_format some[] = {hu_binary32(), hu_bfloat16(), hu_binary16(), hu_float8_e5m2(), hu_float8_e4m3fn()};
  return some[t_below(random, sizeof some / sizeof *some)];
}

static hu_collective_base random_base(t_random *random, int scaled) {
  hu_collective_base b;
  memset(&b, 0, sizeof b);
  b.kind = (uint8_t)t_below(random, HU_COLLECTIVE_COUNT);
  if (b.kind == HU_COLLECTIVE_EXACT) return b;
  b.sum = scaled || t_below(random, 2) ? random_wide(random) : t_random_format(random, 3, 32);
  if (t_below(random, 2))
    b.mode = t_below(random, 2) ? t_mode(t_below(random, T_DETERMINISTIC))
                                : t_stochastic(HU_SRA + t_below(random, 3), 1 + t_below(random, 32));
  b.mode.saturate = (uint8_t)(t_below(random, 3) ? 0 : t_below(random, 4));
  if (scaled) {
    b.wired = HU_COLLECTIVE_WIRE_SCALED;
    assert_int_equal(
        hu_scaling_parse(&b.scaling, hu_scaling_at(t_below(random, (uint32_t)hu_scaling_count())).name, NULL), HU_OK);
  } else if (t_below(random, 2)) {
    b.wired = HU_COLLECTIVE_WIRE_FORMAT;
    b.wire = t_below(random, 2) ? random_wide(random) : t_random_format(random, 2, 16);
  }
  return b;
}

static hu_collective random_model(t_random *random, int scaled) {
  hu_collective m;
  memset(&m, 0, sizeof m);
  m.base = random_base(random, scaled);
  if (t_below(random, 3)) return m;
  m.group = 1 + t_below(random, 9);
  m.outer = random_base(random, scaled);
  return m;
}

static uint32_t random_number(t_random *random, hu_format format) {
  hu_mode mode = {0};
  double x = t_below(random, 30) ? (double)t_between(random, -4000, 4000) / (double)(1 + t_below(random, 512))
                                 : t_random_operand(random, format);
  return hu_encode64(format, mode, x, 0, NULL);
}

static void check_case(t_random *random, int scaled) {
  hu_collective model = random_model(random, scaled);
  t_world world;
  memset(&world, 0, sizeof world);
  world.ranks = 1 + t_below(random, T_RANKS_MAX);
  world.n = 1 + t_below(random, t_below(random, 4) ? 40 : N);
  world.format = scaled || t_below(random, 2) ? random_wide(random) : t_random_format(random, 3, 32);
  world.mode = t_random_mode(random);
  world.model = &model;
  world.stream.key = t_next64(random);
  world.stream.counter = t_next64(random);
  size_t size = hu_limits_of(world.format).storage / 8;
  world.at = calloc(world.ranks * world.n, sizeof *world.at);
  uint8_t *buffers = calloc(world.ranks * world.n, size);
  const void *x[T_RANKS_MAX];
  for (size_t i = 0; i < world.ranks * world.n; i++) {
    world.at[i].format = world.format;
    world.at[i].code = random_number(random, world.format);
    t_put(buffers, size, (ptrdiff_t)i, world.at[i].code);
  }
  for (size_t k = 0; k < world.ranks; k++) x[k] = buffers + k * world.n * size;
  t_run_world(&world);
  hu_exec exec = {1 + t_below(random, 4), t_below(random, 2) ? UINT32_MAX : 0, world.stream, {0}};
  hu_events events = {0};
  uint8_t *z =
      t_below(random, 2) ? buffers + t_below(random, (uint32_t)world.ranks) * world.n * size : calloc(world.n, size);
  assert_int_equal(
      hu_collective_reduce(world.ranks, world.n, z, world.format, x, &model, &(hu_how){world.mode, &exec, &events}),
      HU_OK);
  char text[HU_COLLECTIVE_TEXT_MAX];
  (void)hu_collective_text(text, sizeof text, &model);
  for (size_t i = 0; i < world.n; i++) {
    for (size_t k = 1; k < world.ranks; k++) assert_int_equal(world.at[k * world.n + i].code, world.at[i].code);
    uint32_t expected = t_stored(&world, world.at[i], i), got = t_get(z, size, (ptrdiff_t)i);
    if (got != expected)
      fail_msg("%s, %zu participants, element %zu of %zu: 0x%x, not 0x%x", text, world.ranks, i, world.n, got,
               expected);
  }
  if (!t_same_events(&events, &world.events))
    fail_msg("%s, %zu participants, %zu elements: events", text, world.ranks, world.n);
  ;
  if (z < buffers || z >= buffers + world.ranks * world.n * size) free(z);
  free(buffers);
  free(world.at);
}

static void test_messages(void **state) {
  t_random random = {t_seed("collective", 1)};
  (void)state;
  for (unsigned i = 0; i < t_runs(1500); i++) check_case(&random, 0);
}

static void test_scaled_messages(void **state) {
  t_random random = {t_seed("collective scaled", 2)};
  (void)state;
  for (unsigned i = 0; i < t_runs(600); i++) check_case(&random, 1);
}

/* Exact sums of binary32 numbers: as binary64 numbers where these hold them, and by the core. Exponents near each other
 * and far apart, numbers that cancel, halves between neighbours, zeros, subnormal numbers, the ends of the range. */
static float addend(t_random *random, unsigned spread, float last) {
  uint32_t sign = t_next32(random) & 0x80000000, digits = t_next32(random) & 0x7FFFFF;
  switch (t_below(random, 12)) {
    case 0: return -last;
    case 1: return t_float(sign | (t_below(random, 4) ? 0 : t_next32(random) & 7));
    case 2: return t_float(sign | 0x3F800000);
    case 3: return t_float(sign | (127 - 24) << 23);
    case 4: return t_below(random, 40) ? last : t_float(sign | 0x7F000000 | digits | t_below(random, 2) << 23);
    case 5: return t_float(sign | (t_below(random, 2) ? 0x00800000 : 0x00000000) | digits >> t_below(random, 24));
    default: return t_float(sign | (127 - t_below(random, spread)) << 23 | digits);
  }
}

static void test_quick(void **state) {
  enum { LONG = 3 * HU_COLLECTIVE_PIECE + 5 };
  static float x[T_RANKS_MAX][LONG], z[2][LONG];
  static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  t_random random = {t_seed("collective quick", 5)};
  const hu_mode rne = {0};
  hu_collective exactly;
  (void)state;
  memset(&exactly, 0, sizeof exactly);
  for (unsigned i = 0; i < t_part(240); i++) {
    size_t ranks = 1 + i % T_RANKS_MAX;
    unsigned spread = i % 3 == 0 ? 1 + t_below(&random, 6) : i % 3 == 1 ? 30 : 126;
    const void *rows[T_RANKS_MAX];
    hu_events events[2] = {{0}, {0}};
    for (size_t k = 0; k < ranks; k++) {
      rows[k] = x[k];
      for (size_t j = 0; j < LONG; j++) x[k][j] = addend(&random, spread, k ? x[k - 1][j] : 1);
    }
    fesetround(directions[t_below(&random, 4)]);
    for (int core = 0; core < 2; core++) {
      hu_exec exec = {1 + t_below(&random, 3), core ? UINT32_MAX : 0, {0, 0}, {0}};
      assert_int_equal(hu_collective_reduce(ranks, LONG, z[core], hu_binary32(), rows, &exactly,
                                            &(hu_how){rne, &exec, &events[core]}),
                       HU_OK);
    }
    fesetround(FE_TONEAREST);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_true(t_same_events(&events[0], &events[1]));
  }
}

/* A buffer in parts is the whole buffer. */
static void test_parts(void **state) {
  enum { RANKS_HERE = 5, LONG = 4 * HU_COLLECTIVE_PIECE + 77 };
  t_random random = {t_seed("collective parts", 4)};
  (void)state;
  for (unsigned i = 0; i < t_part(60); i++) {
    hu_collective model = random_model(&random, (int)t_below(&random, 2));
    hu_mode mode = t_random_mode(&random);
    hu_exec exec = {1 + t_below(&random, 3), 0, {t_next64(&random), t_next64(&random)}, {0}};
    static float x[RANKS_HERE][LONG], z[LONG], whole[LONG];
    const void *rows[RANKS_HERE], *rest[RANKS_HERE];
    hu_events events = {0}, expected = {0};
    size_t first = (1 + t_below(&random, 4)) * HU_COLLECTIVE_PIECE;
    for (size_t k = 0; k < RANKS_HERE; k++) {
      for (size_t j = 0; j < LONG; j++) x[k][j] = t_float(random_number(&random, hu_binary32()));
      rows[k] = x[k];
      rest[k] = x[k] + first;
    }
    assert_int_equal(
        hu_collective_reduce(RANKS_HERE, LONG, whole, hu_binary32(), rows, &model, &(hu_how){mode, &exec, &expected}),
        HU_OK);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, 0, first, z, hu_binary32(), rows, &model,
                                               &(hu_how){mode, &exec, &events}),
                     HU_OK);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, first, LONG - first, z + first, hu_binary32(), rest,
                                               &model, &(hu_how){mode, &exec, &events}),
                     HU_OK);
    assert_memory_equal(z, whole, sizeof z);
    assert_true(t_same_events(&events, &expected));
    assert_int_equal(
        hu_collective_reduce_part(RANKS_HERE, LONG, 1, 5, z, hu_binary32(), rows, &model, &(hu_how){mode, &exec, NULL}),
        HU_E_SHAPE);
    assert_int_equal(
        hu_collective_reduce_part(RANKS_HERE, LONG, 0, 5, z, hu_binary32(), rows, &model, &(hu_how){mode, &exec, NULL}),
        HU_E_SHAPE);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, first, LONG, z, hu_binary32(), rows, &model,
                                               &(hu_how){mode, &exec, NULL}),
                     HU_E_SHAPE);
  }
}

/* ---- texts ---- */

static void test_texts(void **state) {
  t_random random = {t_seed("collective texts", 3)};
  (void)state;
  for (unsigned i = 0; i < t_part(3000); i++) {
    hu_collective m = random_model(&random, (int)t_below(&random, 2)), back;
    char text[HU_COLLECTIVE_TEXT_MAX], cut[HU_COLLECTIVE_TEXT_MAX];
    size_t n = hu_collective_text(text, sizeof text, &m), where = 0;
    assert_true(n > 0 && n < sizeof text);
    assert_int_equal(hu_collective_parse(&back, text, &where), HU_OK);
    assert_memory_equal(&back, &m, sizeof m);
    memcpy(cut, text, n + 1);
    cut[t_below(&random, (uint32_t)n)] = "(),=x0"[t_below(&random, 6)];
    if (hu_collective_parse(&back, cut, &where) == HU_OK) {
      assert_int_equal(hu_collective_check(&back), HU_OK);
    } else {
      assert_true(where <= n);
    }
  }
}

static void test_wrong_texts(void **state) {
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } wrong[] = {{"", HU_E_TEXT, 0},
               {"rung(bfloat16)", HU_E_NAME, 0},
               {"ring", HU_E_TEXT, 4},
               {"ring(", HU_E_TEXT, 5},
               {"ring(bfloat17)", HU_E_NAME, 5},
               {"ring(bfloat16", HU_E_TEXT, 13},
               {"ring(bfloat16,up)", HU_E_TEXT, 14},
               {"ring(bfloat16,sat=finite,rne)", HU_E_TEXT, 25},
               {"ring(bfloat16,wire=bfloat17)", HU_E_NAME, 19},
               {"ring(bfloat16,wire=mxfp8_e4m3,rne)", HU_E_NAME, 19},
               {"ring(fp(11,20,0),wire=mxfp8_e4m3)", HU_E_CARRIER, 0},
               {"switch", HU_E_TEXT, 6},
               {"direct(fp(11,20,0),wire=nvfp4)", HU_E_CARRIER, 0},
               {"exact(bfloat16)", HU_E_NAME, 0},
               {"exact ", HU_E_NAME, 0},
               {"hierarchical(0,exact,exact)", HU_E_TEXT, 13},
               {"hierarchical(4,exact)", HU_E_TEXT, 20},
               {"hierarchical(4,hierarchical(2,exact,exact),exact)", HU_E_NAME, 15},
               {"hierarchical(4,ring(bfloat16),tree(binary32)", HU_E_TEXT, 44}};
  hu_collective m, before;
  (void)state;
  t_fill_pattern(&before, sizeof before);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    size_t where = 999;
    m = before;
    hu_status status = hu_collective_parse(&m, wrong[i].text, &where);
    if (status != wrong[i].status || where != wrong[i].where)
      fail_msg("%s: %s at %zu", wrong[i].text, hu_status_name(status), where);
    assert_memory_equal(&m, &before, sizeof m);
  }
  assert_int_equal(hu_collective_parse(NULL, "exact", NULL), HU_E_NULL);
  assert_int_equal(hu_collective_parse(&m, NULL, NULL), HU_E_NULL);
}

static void test_errors(void **state) {
  float x[4] = {1, 2, 3, 4}, z[2];
  const void *rows[2] = {x, x + 2}, *missing[2] = {x, NULL}, *odd[2] = {x, (const uint8_t *)x + 2};
  hu_format format = hu_binary32(), wrong = format;
  hu_mode none = {.round = 77};
  hu_collective exact, ring, bad;
  (void)state;
  memset(&exact, 0, sizeof exact);
  assert_int_equal(hu_collective_parse(&ring, "ring(bfloat16,wire=mxfp8_e4m3)", NULL), HU_OK);
  wrong.e = 99;
  assert_int_equal(hu_collective_reduce(0, 2, z, format, rows, &exact, NULL), HU_E_SHAPE);
  assert_int_equal(hu_collective_reduce((size_t)1 << 25, 2, z, format, rows, &exact, NULL), HU_E_SHAPE);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, NULL, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, missing, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, odd, &exact, NULL), HU_E_ALIGN);
  assert_int_equal(hu_collective_reduce(2, 2, NULL, format, rows, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, x + 1, format, rows, &exact, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, rows, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, wrong, rows, &exact, NULL), HU_E_FORMAT);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, rows, &exact, &(hu_how){none, NULL, NULL}), HU_E_MODE);
  hu_format wide = {1, 11, 20, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_IEEE, HU_NAN_IEEE, 1, HU_OVERFLOW_INF, 0, 0};
  assert_int_equal(hu_collective_reduce(2, 2, z, wide, rows, &ring, NULL), HU_E_CARRIER);
  assert_int_equal(hu_collective_reduce(2, 0, NULL, format, NULL, &ring, NULL), HU_OK);
  bad = exact;
  bad.base.sum = format;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.base.wire = format;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.outer = ring.base;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.base.mode.tiny = 1;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  assert_int_equal(hu_collective_text(NULL, 0, &bad), 0);
}

/* ---- signals ---- */

/* Uses the stack below whatever it interrupts. */
static void scribble(int signal) {
  volatile unsigned char below[1 << 14];
  (void)signal;
  for (size_t i = 0; i < sizeof below; i++) below[i] = 0xA5;
}

/* A sum is in no place that a function has left: a handler would write over it. */
static void test_signals(void **state) {
  enum { LONG = 4096, ROUNDS = 400 };
  static float x[LONG], z[LONG];
  const void *ranks[3] = {x, x, x};
  struct sigaction act = {.sa_handler = scribble}, before;
  struct itimerval soon = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  hu_collective ring;
  size_t wrong = 0;
  (void)state;
  for (size_t i = 0; i < LONG; i++) x[i] = 1;
  assert_int_equal(hu_collective_parse(&ring, "ring(binary32)", NULL), HU_OK);
  act.sa_flags = SA_RESTART;
  assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
  for (int k = 0; k < ROUNDS; k++) {
    hu_status status = hu_collective_reduce(3, LONG, z, hu_binary32(), ranks, &ring, NULL);
    for (size_t i = 0; i < LONG; i++) wrong += status != HU_OK || z[i] != 3;
  }
  assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
  assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quick),           cmocka_unit_test(test_messages),
                                     cmocka_unit_test(test_scaled_messages), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_texts),           cmocka_unit_test(test_wrong_texts),
                                     cmocka_unit_test(test_errors),          cmocka_unit_test(test_signals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
