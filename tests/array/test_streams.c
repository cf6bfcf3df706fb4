/* SPDX-License-Identifier: MIT */
/* The order of addresses of emu/array/streams.h, which this program has on every processor with AVX2: its walk runs
 * each element once and puts it in its place, and calls for arrays, scaled tensors and shifted and squeezed ones give
 * the same bits and events with the order and without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/array/streams.h"
#include "emu/simd/level.h"
#include "halfulp/array.h"
#include "halfulp/gemm.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { PAGE = 4096, BLOCK = HU_STREAMS_BLOCK, LARGE = HU_STREAMS_LEAST, ROOM = LARGE + 4 * BLOCK };

static uint32_t *x, *with, *without; /* aligned to pages */

static int set_up(void **state) {
  (void)state;
  x = aligned_alloc(PAGE, ROOM * 4);
  with = aligned_alloc(PAGE, ROOM * 4);
  without = aligned_alloc(PAGE, ROOM * 4);
  return !x || !with || !without;
}

static int tear_down(void **state) {
  (void)state;
  free(x);
  free(with);
  free(without);
  return 0;
}

static const hu_streams *streams_of(uint32_t levels_off) {
  hu_exec exec = {1, levels_off, {0, 0}, {0}};
  return hui_streams_for(&exec);
}

/* Levels of this machine that have the order; the one behind the last is NULL. */
static const hu_streams *walk_number(size_t i) {
  for (size_t k = 0; k < t_levels(); k++) {
    if (t_level_bit(k) > HU_LEVEL_NEON) continue;
    const hu_streams *streams = streams_of(t_levels_off(k) & ~(uint32_t)HU_LEVEL_STREAMS);
    if (streams && i-- == 0) return streams;
  }
  return NULL;
}

static void need_streams(void) {
  if (!walk_number(0)) {
    print_message("no level of this machine has stores around the caches that the order needs\n");
    skip();
  }
}

/* ---- switches ---- */

static void test_switches(void **state) {
  (void)state;
  need_streams();
  assert_true(hu_levels() & HU_LEVEL_STREAMS);
  assert_string_equal(hu_level_name(HU_LEVEL_STREAMS), "streams");
  assert_non_null(streams_of(0));
  assert_null(streams_of(HU_LEVEL_STREAMS));
  assert_null(streams_of(HU_LEVEL_AVX512 | HU_LEVEL_AVX2));
  assert_null(streams_of(UINT32_MAX));
}

/* ---- the walk alone ---- */

typedef struct t_walked {
  size_t next, calls;
  const uint32_t *from; /* x of element 0 */
  uint16_t *codes;      /* NULL: values */
} t_walked;

static uint32_t value_of(uint32_t u, size_t i) { return u * 2654435761u ^ (uint32_t)i; }

static void run(void *context, size_t first, size_t n, uint32_t *z) {
  t_walked *walked = context;
  assert_int_equal(first, walked->next);
  assert_int_equal(z == NULL, walked->codes != NULL);
  for (size_t i = first; i < first + n; i++) {
    uint32_t v = value_of(walked->from[i], i);
    if (walked->codes) {
      walked->codes[i] = (uint16_t)v;
    } else {
      z[i - first] = v;
    }
  }
  walked->next = first + n;
  walked->calls++;
}

/* Elements first ... first + n - 1 of arrays that begin x_at and z_at elements behind a page. */
static void walk_one(const hu_streams *streams, size_t first, size_t n, size_t x_at, size_t z_at, int codes, int asks) {
  t_walked walked = {first, 0, x + x_at, codes ? (uint16_t *)(void *)(with + z_at) : NULL};
  hu_streams_part p = {asks ? walked.from : NULL, codes ? NULL : with + z_at, run, &walked};
  size_t all = z_at + first + n + PAGE;
  memset(with, 0xA5, all * 4);
  memset(without, 0xA5, all * 4);
  for (size_t i = first; i < first + n; i++) {
    uint32_t v = value_of(walked.from[i], i);
    if (codes) {
      ((uint16_t *)(void *)(without + z_at))[i] = (uint16_t)v;
    } else {
      without[z_at + i] = v;
    }
  }
  streams->walk(&p, first, n);
  assert_int_equal(walked.next, first + n);
  assert_memory_equal(with, without, all * 4);
  if (n >= 3 * BLOCK) assert_true(walked.calls >= 3);
}

static void test_walk(void **state) {
  static const size_t lengths[] = {0,
                                   1,
                                   2,
                                   17,
                                   1023,
                                   1024,
                                   1025,
                                   BLOCK - 1,
                                   BLOCK,
                                   BLOCK + 1,
                                   2 * BLOCK - 1,
                                   2 * BLOCK,
                                   2 * BLOCK + 1,
                                   3 * BLOCK + 77};
  static const size_t firsts[] = {0, 64, 1024 + 64}, places[] = {0, 1, 7, 1023};
  (void)state;
  need_streams();
  for (size_t i = 0; i < ROOM; i++) x[i] = (uint32_t)i * 747796405u + 2891336453u;
  const hu_streams *streams;
  for (size_t level = 0; (streams = walk_number(level)); level++) {
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      for (size_t k = 0; k < 3 * 4 * 4; k++) {
        size_t first = firsts[k / 16], x_at = places[k / 4 % 4], z_at = places[k % 4];
        walk_one(streams, first, lengths[i], x_at, z_at, 0, 1);
        walk_one(streams, first, lengths[i], x_at, z_at, 0, 0);
        walk_one(streams, first, lengths[i], x_at, z_at, 1, 1);
      }
    }
  }
}

/* ---- calls ---- */

typedef struct t_call {
  const char *format;
  hu_mode mode;
  int decodes, codes; /* else values to values */
  size_t n, x_at, z_at;
  uint32_t threads, levels_off;
} t_call;

/* Places count elements. */
static void run_call(const t_call *c, hu_format format, uint32_t *z, hu_events *events) {
  size_t size = hu_limits_of(format).storage / 8u;
  hu_exec exec = {c->threads, c->levels_off, {0x243F6A8885A308D3u, 0x13198A2E03707345u}, {0}};
  const float *from = (const float *)(const void *)(x + c->x_at);
  float *to = (float *)(void *)(z + c->z_at);
  memset(z, 0xA5, ROOM * 4);
  if (c->decodes) {
    const uint8_t *codes = (const uint8_t *)(const void *)x + c->x_at * size;
    assert_int_equal(hu_decode_n(c->n, to, 1, codes, 1, format, &exec), HU_OK);
  } else if (c->codes) {
    uint8_t *codes = (uint8_t *)(void *)z + c->z_at * size;
    assert_int_equal(hu_encode_n(c->n, codes, 1, from, 1, format, c->mode, &exec, events), HU_OK);
  } else {
    assert_int_equal(hu_quantize_n(c->n, to, 1, from, 1, format, c->mode, &exec, events), HU_OK);
  }
}

static void compare(t_call c) {
  hu_format format;
  hu_events on = {0}, off = {0};
  assert_int_equal(hu_format_parse(&format, c.format, NULL), HU_OK);
  run_call(&c, format, with, &on);
  c.levels_off |= HU_LEVEL_STREAMS;
  run_call(&c, format, without, &off);
  if (memcmp(with, without, ROOM * 4) || memcmp(&on, &off, sizeof on)) {
    fail_msg("%s round %u, %zu elements, x + %zu, z + %zu, %u threads, levels off %x: the order changes %s", c.format,
             c.mode.round, c.n, c.x_at, c.z_at, c.threads, c.levels_off, memcmp(&on, &off, sizeof on) ? "events" : "z");
  }
}

/* Operands of every kind, specials among them; as codes of 32 bits they stay within the width of `digits` digits. */
static void fill(uint32_t digits) {
  t_random random = {1};
  for (size_t i = 0; i < ROOM; i++) {
    uint64_t u = t_next64(&random);
    uint32_t near = (uint32_t)(u & 0x81FFFFFF) + 0x3E000000u;
    x[i] = (u >> 60 ? near : (uint32_t)(u >> 8)) & (uint32_t)(((uint64_t)1 << digits) - 1);
  }
}

static const char *const formats[] = {"float8_e4m3fn", "binary16", "fp(8,14,0)"}; /* 8, 16, 32 bits a code */
static const size_t lengths[] = {LARGE, LARGE + 1, LARGE + BLOCK - 1, LARGE + BLOCK + 1};

static void test_calls(void **state) {
  (void)state;
  need_streams();
  fill(32);
  for (size_t k = 0; k < t_levels(); k++) {
    if (t_level_bit(k) > HU_LEVEL_NEON) continue;
    for (size_t i = 0; i < 3 * 4; i++) {
      t_call c = {formats[i % 3], {0}, 0, 0, lengths[i / 3], i, 3 * i, i & 1 ? 3 : 1, 0};
      c.levels_off = t_levels_off(k) & ~(uint32_t)HU_LEVEL_STREAMS;
      if (!streams_of(c.levels_off)) continue;
      c.mode.round = i & 1 ? HU_RNE : HU_SRA;
      c.mode.bits = i & 1 ? 0 : 32;
      c.codes = 0;
      compare(c);
      c.codes = 1;
      compare(c);
    }
  }
}

static void test_decode(void **state) {
  (void)state;
  need_streams();
  for (size_t i = 0; i < 3; i++) {
    hu_format format;
    assert_int_equal(hu_format_parse(&format, formats[i], NULL), HU_OK);
    fill(i == 2 ? hu_limits_of(format).width : 32);
    for (size_t k = 0; k < 4; k++) {
      t_call c = {formats[i], {0}, 1, 0, lengths[k], k, 5 * k, 1 + (uint32_t)k, 0};
      compare(c);
    }
  }
}

/* ---- tensors ---- */

/* Rows of COLS elements, one after another. */
enum { COLS = 5 * 1024, ROWS = LARGE / COLS + 1 };
static uint8_t scales[2][LARGE / 8];

typedef struct tensor_call {
  const char *text;
  size_t cols;
  int codes;
} tensor_call;

static void run_scaled(const tensor_call *call, uint32_t *z, uint8_t *scale, uint32_t levels_off, hu_events *events) {
  hu_scaling scaling;
  hu_mode rne = {0};
  hu_exec exec = {2, levels_off, {0, 0}, {0}};
  size_t rows = ROWS * (COLS / call->cols);
  const float *from = (const float *)(const void *)x;
  assert_int_equal(hu_scaling_parse(&scaling, call->text, NULL), HU_OK);
  hu_scaled to = {z, call->cols, scale, hu_scaled_sizes_of(rows, call->cols, &scaling).block_cols, NULL};
  memset(z, 0xA5, ROOM * 4);
  memset(scale, 0xA5, sizeof scales[0]);
  hu_status status =
      call->codes ? hu_scaled_encode(rows, call->cols, &to, from, call->cols, &scaling, rne, NULL, NULL, &exec, events)
                  : hu_scaled_quantize(rows, call->cols, (float *)(void *)z, call->cols, from, call->cols, &scaling,
                                       rne, NULL, NULL, &exec, events);
  assert_int_equal(status, HU_OK);
}

static void test_scaled(void **state) {
  static const tensor_call calls[] = {{"mxfp8_e4m3", COLS, 0}, {"mxfp8_e4m3", COLS, 1}, {"dsv3_128x128", COLS, 0},
                                      {"fp8_tensor", COLS, 0}, {"fp8_tensor", 1024, 1}, {"mxfp4", 1024, 0}};
  (void)state;
  need_streams();
  fill(32);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    hu_events on = {0}, off = {0};
    run_scaled(&calls[i], with, scales[0], 0, &on);
    run_scaled(&calls[i], without, scales[1], HU_LEVEL_STREAMS, &off);
    assert_memory_equal(with, without, ROOM * 4);
    assert_memory_equal(scales[0], scales[1], sizeof scales[0]);
    assert_memory_equal(&on, &off, sizeof on);
  }
}

enum { S2_QUANTIZE, S2_ENCODE, S2_TRUNCATE, S2_CALLS };

static void run_s2fp8(int what, size_t n, size_t z_at, uint32_t *z, uint32_t threads, uint32_t levels_off,
                      hu_events *events) {
  hu_s2fp8 kind;
  hu_s2fp8_scale scale;
  hu_mode rne = {0};
  hu_exec exec = {threads, levels_off, {0, 0}, {0}};
  const float *from = (const float *)(const void *)(x + 5);
  float *to = (float *)(void *)(z + z_at);
  uint8_t *codes = (uint8_t *)(void *)z + z_at;
  assert_int_equal(hu_s2fp8_parse(&kind, "s2fp8", NULL), HU_OK);
  memset(z, 0xA5, ROOM * 4);
  if (what == S2_TRUNCATE) {
    assert_int_equal(hu_s2fp8_truncate_n(n, to, 1, from, 1, &kind, rne, NULL, NULL, &exec, events), HU_OK);
    return;
  }
  hu_s2fp8_sums sums = {0};
  assert_int_equal(hu_s2fp8_sum_n(n, from, 1, &sums, &exec), HU_OK);
  assert_int_equal(hu_s2fp8_scale_of(&scale, &sums, &kind, NULL), HU_OK);
  hu_status status = what == S2_ENCODE ? hu_s2fp8_encode_n(n, codes, 1, from, 1, &kind, &scale, rne, &exec, events)
                                       : hu_s2fp8_quantize_n(n, to, 1, from, 1, &kind, &scale, rne, &exec, events);
  assert_int_equal(status, HU_OK);
}

static void test_s2fp8(void **state) {
  (void)state;
  need_streams();
  for (int odd = 0; odd < 2; odd++) { /* with specials, truncation has no pass of its own */
    fill(32);
    for (size_t i = 0; !odd && i < ROOM; i++) x[i] = (x[i] & 0x81FFFFFF) + 0x3E000000u;
    for (int i = 0; i < S2_CALLS; i++) {
      hu_events on = {0}, off = {0};
      size_t n = lengths[i], z_at = (size_t)i * 3 + 1;
      uint32_t threads = i == S2_TRUNCATE ? 3 : 1;
      run_s2fp8(i, n, z_at, with, threads, 0, &on);
      run_s2fp8(i, n, z_at, without, threads, HU_LEVEL_STREAMS, &off);
      assert_memory_equal(with, without, ROOM * 4);
      assert_memory_equal(&on, &off, sizeof on);
    }
  }
}

/* An array that is changed in place. */
static void test_in_place(void **state) {
  hu_format format;
  hu_mode rne = {0};
  hu_events on = {0}, off = {0};
  hu_exec linear = {1, HU_LEVEL_STREAMS, {0, 0}, {0}};
  (void)state;
  need_streams();
  fill(32);
  assert_int_equal(hu_format_parse(&format, "float8_e4m3fn", NULL), HU_OK);
  memcpy(with, x, ROOM * 4);
  float *z = (float *)(void *)(with + 3);
  assert_int_equal(hu_quantize_n(LARGE + 5, z, 1, z, 1, format, rne, NULL, &on), HU_OK);
  memcpy(without, x, ROOM * 4);
  z = (float *)(void *)(without + 3);
  assert_int_equal(hu_quantize_n(LARGE + 5, z, 1, z, 1, format, rne, &linear, &off), HU_OK);
  assert_memory_equal(with, without, ROOM * 4);
  assert_memory_equal(&on, &off, sizeof on);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_switches), cmocka_unit_test(test_walk),
                                     cmocka_unit_test(test_calls),    cmocka_unit_test(test_decode),
                                     cmocka_unit_test(test_in_place), cmocka_unit_test(test_scaled),
                                     cmocka_unit_test(test_s2fp8)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
