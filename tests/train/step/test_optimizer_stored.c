/* SPDX-License-Identifier: MIT */
/* Moments that are stored in a form of their own: a step with them is a step without, from the decoded numbers on,
 * whose moments are then encoded as one row; the words, the counts and the bits of storage; what is refused. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/step/rounding_of.h"

enum { N = 2 * 1024 + 77, STEPS = 4 }; /* pieces of a step end within blocks of 96 and 256; so does the tensor */

#define FP8_LM_M "scaled(float8_e4m3fn;scale=binary32;block=*x*;rule=ratio)"
#define FP8_LM_V "scaled(binary16;scale=binary32;block=*x*;rule=ratio)"
#define BLOCKS_256 "scaled(float8_e4m3fn;scale=binary32;block=1x256;rule=ratio)"
#define BLOCKS_96 "scaled(float8_e5m2;scale=bfloat16;block=1x96;rule=ratio)"

typedef struct arrays {
  float w[N], g[N], m[N], v[N];
} arrays;

static float draw(t_random *random) {
  float x = (float)t_between(random, -1000, 1000) * 0x1p-11f;
  return t_below(random, 8) ? x : x * 0x1p-12f;
}

/* One row of n numbers as codes and scales, and back. */
static void through_codes(size_t n, float *x, const hu_rounding *by, hu_stream words) {
  static uint32_t codes[N], scales[N];
  hu_scaled stored = {codes, n, scales, n, NULL};
  hu_exec exec = {.threads = 1, .stream = words};
  assert_int_equal(hu_scaled_encode(1, n, &stored, x, n, &by->scaling, by->mode, NULL, NULL, &exec, NULL), HU_OK);
  assert_int_equal(hu_scaled_decode(1, n, x, n, &stored, &by->scaling, &exec), HU_OK);
}

/* A tensor without blocks: number by number. */
static void one_by_one(size_t n, float *x, const hu_rounding *by, hu_stream words) {
  for (size_t i = 0; i < n; i++) {
    uint32_t random = by->mode.bits ? hu_stream_word(words, i) >> (32 - by->mode.bits) : 0;
    x[i] = hu_quantize(by->format, by->mode, x[i], random, NULL);
  }
}

static void store(float *x, const hu_rounding *by, hu_stream words, uint64_t child) {
  hu_stream key = {words.key, 0}, own = hu_stream_child(key, child);
  own.counter += words.counter;
  if (by->kind == HU_ROUND_SCALED) through_codes(N, x, by, own);
  if (by->kind == HU_ROUND_FORMAT) one_by_one(N, x, by, own);
}

static hu_optimizer_arrays of(arrays *x, const hu_optimizer *optimizer) {
  hu_optimizer_arrays made = {x->w, x->g, optimizer->kind == HU_ADAGRAD ? NULL : x->m,
                              optimizer->kind == HU_SGD ? NULL : x->v, NULL};
  return made;
}

/* Steps with the storage, beside steps without that are stored here. */
static void same_as_codes(hu_optimizer optimizer) {
  static arrays x, expected;
  t_random random = {5};
  hu_optimizer plain = optimizer;
  hu_optimizer_time now = {0, 1, 1};
  hu_rounding_counts counts[2];
  plain.stored_m = plain.stored_v = hu_rounding_keep();
  memset(&x, 0, sizeof x);
  memset(counts, 0, sizeof counts);
  for (int i = 0; i < N; i++) x.w[i] = draw(&random);
  expected = x;
  for (int t = 0; t < STEPS; t++) {
    hu_stream words = {77, (uint64_t)t << 36};
    const hu_optimizer_matrix matrix = {5, N / 5, 0};
    assert_int_equal(matrix.rows * matrix.cols, N);
    for (int i = 0; i < N; i++) x.g[i] = expected.g[i] = draw(&random);
    hu_optimizer_arrays a = of(&x, &optimizer), b = of(&expected, &optimizer);
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step_matrix(&matrix, &a, &optimizer, &now, words, NULL, counts), HU_OK);
    assert_int_equal(hu_optimizer_step(N, &b, &plain, &now, words, NULL), HU_OK);
    assert_memory_equal(x.w, expected.w, sizeof x.w);
    if (b.m) store(b.m, &optimizer.stored_m, words, 3);
    if (b.v) store(b.v, &optimizer.stored_v, words, 4);
    for (int i = 0; i < N; i++)
      if (x.m[i] != expected.m[i] || x.v[i] != expected.v[i])
        fail_msg("step %d, number %d: m %a, not %a; v %a, not %a", t, i, (double)x.m[i], (double)expected.m[i],
                 (double)x.v[i], (double)expected.v[i]);
  }
  assert_int_equal(counts[0].elements, optimizer.stored_m.kind == HU_ROUND_KEEP ? 0 : STEPS * N);
  assert_int_equal(counts[1].elements, optimizer.stored_v.kind == HU_ROUND_KEEP ? 0 : STEPS * N);
  if (hu_format_equal(optimizer.state, hu_binary32()))
    assert_true(counts[0].events.inexact + counts[1].events.inexact > N);
}

static hu_optimizer storing(hu_optimizer optimizer, const char *m, const char *v) {
  optimizer.stored_m = rounding_of(m);
  optimizer.stored_v = rounding_of(v);
  return optimizer;
}

static void stored_as_codes(void **state) {
  (void)state;
  static const char *const m[] = {"mxfp8_e4m3", "mxfp8_e5m2",       FP8_LM_M,         BLOCKS_256,
                                  BLOCKS_96,    "mxfp8_e4m3,sra:8", "bfloat16,sra:16"};
  static const char *const v[] = {"mxfp8_e5m2",       "mxfp8_e4m3", FP8_LM_V,         BLOCKS_256,
                                  "mxfp8_e4m3,sra:8", BLOCKS_96,    "bfloat16,sra:16"};
  for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
    hu_optimizer adamw = storing(hu_optimizer_adamw(hu_binary32()), m[i], v[i]);
    same_as_codes(adamw);
    adamw.state = adamw.weight = hu_bfloat16();
    adamw.beta2 = 0.99;
    same_as_codes(adamw);
    same_as_codes(storing(hu_optimizer_sgd(hu_binary32()), m[i], "keep"));
    same_as_codes(storing(hu_optimizer_adagrad(hu_binary32()), "keep", v[i]));
  }
  same_as_codes(storing(hu_optimizer_adamw(hu_binary32()), "mxfp8_e4m3", "keep"));
  same_as_codes(storing(hu_optimizer_adamw(hu_binary32()), "keep", "mxfp8_e4m3"));
}

/* Two blocks of 32, and a last one of 1, by hand: m = g at the first step without momentum's past. The scale of the
 * first block is 2^-8 (amax 1), so 2^-20 is lost beside 1; alone in its block it stays. */
static void blocks_by_hand(void **state) {
  (void)state;
  hu_optimizer optimizer = storing(hu_optimizer_sgd(hu_binary32()), "mxfp8_e4m3", "keep");
  hu_optimizer_time now = {1, 1, 1};
  static float w[65], g[65], m[65];
  g[0] = 1;
  g[31] = 0x1p-20f;
  g[32] = 1.09375f; /* between 1 and 1.125, the next numbers of E4M3: nearer to 1.125 */
  g[64] = 0x1p-20f;
  hu_optimizer_arrays x = {w, g, m, NULL, NULL};
  assert_int_equal(hu_optimizer_step(65, &x, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(m[0] == 1 && m[31] == 0 && m[32] == 1.125f && m[64] == 0x1p-20f);
  assert_true(w[31] == -(0.01f * 0x1p-20f) && w[32] == -(0.01f * 1.09375f)); /* u of m before it is stored */
}

/* A special number stays where its storage says: a whole block of NaN, or of its own element alone. */
static void special_numbers(void **state) {
  (void)state;
  hu_optimizer optimizer = storing(hu_optimizer_sgd(hu_binary32()), "mxfp8_e4m3", "keep");
  hu_optimizer_time now = {1, 1, 1};
  static float w[40], g[40], m[40];
  hu_rounding_counts counts[2];
  const hu_optimizer_matrix matrix = {40, 1, 0};
  memset(counts, 0, sizeof counts);
  for (int i = 0; i < 40; i++) g[i] = 1;
  g[3] = INFINITY;
  hu_optimizer_arrays x = {w, g, m, NULL, NULL};
  assert_int_equal(hu_optimizer_step_matrix(&matrix, &x, &optimizer, &now, (hu_stream){0, 0}, NULL, counts), HU_OK);
  for (int i = 0; i < 40; i++) assert_int_equal(t_bits32(m[i]), i < 32 ? 0x7FC00000 : 0x3F800000);
  assert_true(w[3] == -INFINITY && w[4] == -0.01f);
  assert_int_equal(counts[0].elements, 40);
}

static void bits(void **state) {
  (void)state;
  hu_optimizer adamw = hu_optimizer_adamw(hu_binary32());
  assert_int_equal(hu_optimizer_bits(100, &adamw), 9600);
  assert_int_equal(hu_optimizer_bytes(&adamw), 12);
  adamw = storing(adamw, "mxfp8_e4m3", "mxfp8_e4m3");
  assert_int_equal(hu_optimizer_bits(100, &adamw), 3200 + 2 * (800 + 4 * 8)); /* 4 blocks */
  assert_int_equal(hu_optimizer_bytes(&adamw), 0);
  adamw = storing(adamw, FP8_LM_M, FP8_LM_V);
  assert_int_equal(hu_optimizer_bits(100, &adamw), 3200 + 800 + 32 + 1600 + 32);
  adamw = storing(adamw, "keep", BLOCKS_256);
  adamw.state = hu_bfloat16();
  adamw.beta2 = 0.99;
  adamw.update = HU_UPDATE_KAHAN;
  assert_int_equal(hu_optimizer_bits(300, &adamw), 300 * (32 + 32 + 16 + 8) + 2 * 32);
  assert_int_equal(hu_optimizer_bits(0, &adamw), 0);
  adamw.beta2 = 2;
  assert_int_equal(hu_optimizer_bits(300, &adamw), 0);
}

static void refused(hu_optimizer optimizer, hu_status status, const char *part) {
  const char *said = "";
  hu_optimizer_time now = {1, 1, 1};
  float w = 1, g = 1, m = 3, v = 5;
  hu_optimizer_arrays x = {&w, &g, optimizer.kind == HU_ADAGRAD ? NULL : &m, optimizer.kind == HU_SGD ? NULL : &v,
                           NULL};
  assert_int_equal(hu_optimizer_check(&optimizer, &said), status);
  if (!strstr(said, part)) fail_msg("'%s' does not say %s", said, part);
  assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, (hu_stream){0, 0}, NULL), status);
  assert_true(w == 1 && m == 3 && v == 5);
}

static void misuse(void **state) {
  (void)state;
  hu_optimizer sgd = hu_optimizer_sgd(hu_binary32()), adamw = hu_optimizer_adamw(hu_binary32()), optimizer;
  refused(storing(sgd, "keep", "mxfp8_e4m3"), HU_E_TRAIN, "stored_v: this optimizer has no such moment");
  sgd.momentum = 0;
  refused(storing(hu_optimizer_adagrad(hu_binary32()), "mxfp8_e4m3", "keep"), HU_E_TRAIN,
          "stored_m: this optimizer has no such moment");
  refused(storing(adamw, "mxfp8_e4m3,turned", "keep"), HU_E_TRAIN, "stored_m: blocks of several rows, turned");
  refused(storing(adamw, "keep", "dsv3_128x128"), HU_E_TRAIN, "stored_v: blocks of several rows");
  refused(storing(adamw, "fp(4,4,0):unsigned", "keep"), HU_E_TRAIN, "stored_m: not signed");
  refused(storing(adamw, "uq(0.8)", "keep"), HU_E_TRAIN, "stored_m: not signed");
  optimizer = storing(adamw, "keep", "fp8_tensor");
  optimizer.stored_v.amax = 1;
  refused(optimizer, HU_E_TRAIN, "stored_v: blocks of several rows, turned ones, or an amax");
  optimizer = adamw;
  optimizer.stored_m.kind = 99;
  refused(optimizer, HU_E_TRAIN, "stored_m: not a rounding");
  optimizer.stored_m = rounding_of("mxfp8_e4m3");
  optimizer.stored_m.mode.round = 99;
  refused(optimizer, HU_E_MODE, "stored_m: not a rounding");
  optimizer = storing(adamw, "keep", "fp(4,4,0):unsigned");
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
  const hu_optimizer_matrix huge = {SIZE_MAX / 2, 3, 0};
  hu_optimizer_time now = {1, 1, 1};
  float w = 1, g = 1, m = 3, v = 5;
  hu_optimizer_arrays x = {&w, &g, &m, &v, NULL};
  assert_int_equal(hu_optimizer_step_matrix(&huge, &x, &adamw, &now, (hu_stream){0, 0}, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_optimizer_step_matrix(NULL, &x, &adamw, &now, (hu_stream){0, 0}, NULL, NULL), HU_E_NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stored_as_codes), cmocka_unit_test(blocks_by_hand),
                                     cmocka_unit_test(special_numbers), cmocka_unit_test(bits),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("stored moments", tests, NULL, NULL);
}
