/* SPDX-License-Identifier: MIT */
/* Optimizers: tables of steps worked out in exact arithmetic, the laws of the three endings, misuse. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/papers.h"
#include "halfulp/scalar.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static float bf(uint32_t code) { return t_float(code << 16); }
static uint32_t code_of(float x) {
  assert_int_equal(t_bits32(x) & 0xFFFF, 0);
  return t_bits32(x) >> 16;
}

/* Stream word 0 with these 16 high bits. */
static hu_stream stream_of(uint32_t high) {
  hu_stream stream = {7, 0};
  while (hu_stream_word(stream, 0) >> 16 != high) stream.counter++;
  return stream;
}

enum { STEPS = 5, NEAREST = 0, STOCHASTIC = 1, KAHAN = 2 };
static const uint32_t gradients[STEPS] = {0x3E9A, 0xBDCD, 0x3E80, 0x3E4D, 0x3E1A};
static const uint32_t words[STEPS] = {0x1234, 0xBEEF, 0x8000, 0x0001, 0xFFFF};

typedef struct t_table {
  uint32_t m[STEPS], v[STEPS], w[3][STEPS], c[STEPS];
} t_table;

static const t_table sgd_table = {{0x3E9A, 0x3E2E, 0x3ECE, 0x3F10, 0x3F28},
                                  {0},
                                  {{0x3FC0, 0x3FC0, 0x3FBF, 0x3FBE, 0x3FBD},
                                   {0x3FBF, 0x3FBF, 0x3FBE, 0x3FBD, 0x3FBD},
                                   {0x3FC0, 0x3FBF, 0x3FBF, 0x3FBE, 0x3FBD}},
                                  {0x3B45, 0xBB4C, 0x3A70, 0xBAA8, 0xBB26}};
static const t_table adam_table = {{0x3CFA, 0x3C8E, 0x3D28, 0x3D6A, 0x3D88},
                                   {0x39B9, 0x39CC, 0x3A26, 0x3A4E, 0x3A64},
                                   {{0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0},
                                    {0x3FBF, 0x3FBF, 0x3FBF, 0x3FBE, 0x3FBE},
                                    {0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0}},
                                   {0x3A85, 0x3ABC, 0x3B09, 0x3B3A, 0x3B6C}};

static hu_optimizer ending(hu_optimizer optimizer, int variant) {
  if (variant == STOCHASTIC) optimizer.mode = t_stochastic(HU_SRA, 16);
  if (variant == KAHAN) optimizer.update = HU_UPDATE_KAHAN;
  return optimizer;
}

static void steps(hu_optimizer optimizer, const t_table *expected, int variant) {
  float w = bf(0x3FC0), m = 0, v = 0, c = 0;
  hu_optimizer_time now = {0, 1, 1};
  for (int t = 0; t < STEPS; t++) {
    float g = bf(gradients[t]);
    hu_optimizer_arrays x = {&w, &g, &m, optimizer.kind == HU_ADAMW ? &v : NULL, variant == KAHAN ? &c : NULL};
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, stream_of(words[t]), NULL), HU_OK);
    assert_int_equal(code_of(m), expected->m[t]);
    assert_int_equal(code_of(v), expected->v[t]);
    assert_int_equal(code_of(w), expected->w[variant][t]);
    if (variant == KAHAN) assert_int_equal(code_of(c), expected->c[t]);
  }
}

static void worked_steps(void **state) {
  (void)state;
  hu_optimizer sgd = hu_optimizer_sgd(hu_bfloat16()), adam = hu_optimizer_adamw(hu_bfloat16());
  adam.beta2 = 0.997;
  adam.decay = 0.01;
  for (int variant = 0; variant < 3; variant++) {
    steps(ending(sgd, variant), &sgd_table, variant);
    steps(ending(adam, variant), &adam_table, variant);
  }
}

/* Updates of -2^-10 to 1 (u = 2^-10 added), as a gradient under the rate 1. */
static void kahan_by_hand(void **state) {
  (void)state;
  static const double w[16] = {1,        1,        1,        1,        0x1.02p0, 0x1.02p0, 0x1.02p0, 0x1.02p0,
                               0x1.02p0, 0x1.02p0, 0x1.02p0, 0x1.04p0, 0x1.04p0, 0x1.04p0, 0x1.04p0, 0x1.04p0};
  static const double c[16] = {-0x1p-10, -0x1p-9, -0x1.8p-9, -0x1p-8, 0x1.8p-9, 0x1p-9, 0x1p-10, 0,
                               -0x1p-10, -0x1p-9, -0x1.8p-9, 0x1p-8,  0x1.8p-9, 0x1p-9, 0x1p-10, 0};
  static const double c100[12] = {0x1.9ap-5,  0x1.9ap-4,  0x1.34p-3,  0x1.9ap-3, 0x1p-2,    -0x1.98p-3,
                                  -0x1.32p-3, -0x1.98p-4, -0x1.96p-5, 0x1p-11,   0x1.9ep-5, 0x1.9cp-4};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  hu_update_counts n = {0, 0};
  optimizer.momentum = 0;
  optimizer.rate = 1;
  optimizer.update = HU_UPDATE_KAHAN;
  float x = 1, k = 0, g = -0x1p-10f;
  hu_optimizer_arrays a = {&x, &g, NULL, NULL, &k};
  for (int t = 0; t < 16; t++) {
    assert_int_equal(hu_optimizer_step(1, &a, &optimizer, &now, stream_of(0), &n), HU_OK);
    assert_true((double)x == w[t] && (double)k == c[t]);
    assert_true((double)x - (double)k == 1 + (t + 1) * 0x1p-10);
  }
  assert_int_equal(n.moved, 16);
  assert_int_equal(n.lost, 14);
  x = 100;
  k = 0;
  g = 0x1.9ap-5f;
  for (int t = 0; t < 12; t++) {
    assert_int_equal(hu_optimizer_step(1, &a, &optimizer, &now, stream_of(0), &n), HU_OK);
    assert_true((double)x == (t < 5 ? 100 : 99.5) && (double)k == c100[t]);
  }
}

/* 100 updates of 2^-12 and 3 2^-12 to a weight of 1: lost, or systematically wrong, in binary16; exact in binary32. */
static void master_weights(void **state) {
  (void)state;
  static const double expected[2][2] = {{1, 1.0244140625}, {1.09765625, 1.0732421875}};
  for (int k = 0; k < 4; k++) {
    hu_optimizer optimizer = hu_optimizer_sgd(hu_binary16());
    hu_optimizer_time now = {1, 1, 1};
    hu_update_counts n = {0, 0};
    float w = 1, g = k < 2 ? -0x1p-12f : -3 * 0x1p-12f;
    hu_optimizer_arrays x = {&w, &g, NULL, NULL, NULL};
    optimizer.momentum = 0;
    optimizer.rate = 1;
    if (k & 1) optimizer.weight = hu_binary32();
    for (int t = 0; t < 100; t++) assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, stream_of(0), &n), HU_OK);
    assert_true((double)w == expected[k / 2][k & 1]);
    assert_int_equal(n.moved, 100);
    assert_int_equal(n.lost, k == 0 ? 100 : 0);
  }
}

/* Over T steps |w - c - (w_0 + sum of the updates)| <= T 2^-8 max |y|, and what stochastic rounding does on average. */
static void sums_are_kept(void **state) {
  (void)state;
  enum { N = 3000, T = 200 };
  static float w[N], c[N], g[N];
  static double exact[N], largest[N];
  t_random random = {5};
  hu_optimizer optimizer = ending(hu_optimizer_sgd(hu_bfloat16()), KAHAN);
  hu_optimizer_time now = {1, 1, 1};
  optimizer.momentum = 0;
  optimizer.rate = 1;
  for (int i = 0; i < N; i++) {
    w[i] = hu_quantize(hu_bfloat16(), t_mode(HU_RNE), (float)(1 + t_below(&random, 1000)) * 0.25f, 0, NULL);
    exact[i] = (double)w[i];
    c[i] = 0;
    largest[i] = 0;
  }
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++) {
      g[i] = ((float)t_below(&random, 1u << 16) - 32000) * 0x1p-24f * w[i];
      g[i] = hu_quantize(hu_bfloat16(), t_mode(HU_RNE), g[i], 0, NULL);
      exact[i] -= (double)g[i];
      largest[i] = fmax(largest[i], fabs((double)g[i]) + fabs((double)c[i]));
    }
    hu_optimizer_arrays x = {w, g, NULL, NULL, c};
    assert_int_equal(hu_optimizer_step(N, &x, &optimizer, &now, stream_of(0), NULL), HU_OK);
  }
  for (int i = 0; i < N; i++) assert_true(fabs((double)w[i] - (double)c[i] - exact[i]) <= T * 0x1p-8 * largest[i]);
}

/* Every R once: the mean is the exact difference. */
static void stochastic_is_unbiased(void **state) {
  (void)state;
  static const float w = 0x1.58p-2f, g = 0x1.54p-10f;
  hu_optimizer optimizer = ending(hu_optimizer_sgd(hu_bfloat16()), STOCHASTIC);
  hu_optimizer_time now = {1, 1, 1};
  double sum = 0, squares = 0;
  enum { N = 1 << 16 };
  static float x[N], d[N];
  optimizer.momentum = 0;
  optimizer.rate = 1;
  for (int i = 0; i < N; i++) {
    x[i] = w;
    d[i] = g;
  }
  hu_optimizer_arrays a = {x, d, NULL, NULL, NULL};
  assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, stream_of(3), NULL), HU_OK);
  for (int i = 0; i < N; i++) {
    double off = (double)x[i] - ((double)w - (double)g);
    sum += off;
    squares += off * off;
  }
  assert_true(squares > 0 && fabs(sum) < 4 * sqrt(squares));
}

/* binary32 throughout is the plain optimizer, operator by operator; pieces and lengths do not matter. */
static void plain_binary32(void **state) {
  (void)state;
  enum { N = 2500 };
  static float w[N], g[N], m[N], v[N], w2[N], m2[N], v2[N];
  t_random random = {9};
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_optimizer_time now = {0, 1, 1};
  optimizer.decay = 0.01;
  optimizer.coupled = 1;
  for (int i = 0; i < N; i++) w[i] = w2[i] = (float)t_below(&random, 2000) * 0.001f - 1;
  for (int t = 1; t <= 3; t++) {
    for (int i = 0; i < N; i++) g[i] = (float)t_below(&random, 2000) * 0.001f - 1;
    hu_optimizer_tick(&now, &optimizer);
    hu_optimizer_arrays x = {w, g, m, v, NULL};
    assert_int_equal(hu_optimizer_step(N, &x, &optimizer, &now, stream_of(0), NULL), HU_OK);
    double b1 = (double)0.9f, b2 = (double)0.999f;
    float p1 = (float)(1 - pow(b1, t)), p2 = (float)(1 - pow(b2, t));
    for (int i = 0; i < N; i++) {
      volatile float a = 0.01f * w2[i], b = (float)b1 * m2[i], e = (float)b2 * v2[i];
      volatile float h = g[i] + a, k = (float)(1 - b1) * h, h2 = h * h;
      volatile float l = (float)(1 - b2) * h2;
      m2[i] = b + k;
      v2[i] = e + l;
      volatile float mh = m2[i] / p1, vh = v2[i] / p2;
      volatile float root = sqrtf(vh);
      volatile float d = root + 1e-8f;
      volatile float u = mh / d;
      volatile float step = 0.001f * u;
      w2[i] -= step;
    }
    assert_memory_equal(w, w2, sizeof w);
    assert_memory_equal(m, m2, sizeof m);
    assert_memory_equal(v, v2, sizeof v);
  }
}

static void fused_has_one_rounding(void **state) {
  (void)state;
  t_random random = {11};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  unsigned differ = 0;
  optimizer.momentum = 0;
  optimizer.fused = 1;
  for (int i = 0; i < 20000; i++) {
    float w = bf(0x3F00 + t_below(&random, 0x100)), g = bf(0x4000 + t_below(&random, 0x100)), z = w, two = w;
    hu_optimizer_arrays x = {&z, &g, NULL, NULL, NULL};
    hu_optimizer apart = optimizer;
    assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, stream_of(0), NULL), HU_OK);
    double exact = (double)w - (double)bf(0x3C24) * (double)g;
    assert_int_equal(code_of(z), hu_encode64(hu_bfloat16(), t_mode(HU_RNE), exact, 0, NULL));
    apart.fused = 0;
    x.w = &two;
    assert_int_equal(hu_optimizer_step(1, &x, &apart, &now, stream_of(0), NULL), HU_OK);
    differ += t_bits32(two) != t_bits32(z);
  }
  assert_true(differ > 0);
}

static void special_numbers(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  float w[3] = {1, 1, INFINITY}, m[3] = {0, 0, 0}, g[3] = {NAN, INFINITY, 1};
  hu_optimizer_arrays x = {w, g, m, NULL, NULL};
  assert_int_equal(hu_optimizer_step(3, &x, &optimizer, &now, stream_of(0), NULL), HU_OK);
  assert_int_equal(t_bits32(w[0]), 0x7FC00000);
  assert_int_equal(t_bits32(m[0]), 0x7FC00000);
  assert_true(w[1] == -INFINITY && m[1] == INFINITY && w[2] == INFINITY);
}

static void memory(void **state) {
  (void)state;
  hu_optimizer sgd = hu_optimizer_sgd(hu_bfloat16()), adam = hu_optimizer_adamw(hu_bfloat16());
  adam.beta2 = 0.99;
  assert_int_equal(hu_optimizer_bytes(&sgd), 4);
  assert_int_equal(hu_optimizer_bytes(&adam), 6);
  sgd.update = adam.update = HU_UPDATE_KAHAN;
  assert_int_equal(hu_optimizer_bytes(&sgd), 6);
  assert_int_equal(hu_optimizer_bytes(&adam), 8);
  sgd = hu_optimizer_sgd(hu_binary32());
  adam = hu_optimizer_adamw(hu_binary32());
  assert_int_equal(hu_optimizer_bytes(&sgd), 8);
  assert_int_equal(hu_optimizer_bytes(&adam), 12);
}

static void refused(hu_optimizer optimizer, hu_status status, const char *word) {
  const char *why = "";
  assert_int_equal(hu_optimizer_check(&optimizer, &why), status);
  if (!strstr(why, word)) fail_msg("'%s' does not name %s", why, word);
}

static void misuse(void **state) {
  (void)state;
  hu_optimizer good = hu_optimizer_sgd(hu_bfloat16()), optimizer = good, adam = hu_optimizer_adamw(hu_bfloat16());
  refused(adam, HU_E_TRAIN, "beta2"); /* 0.999 rounds to 1 in bfloat16 */
  adam.beta2 = 0.997;
  adam.beta1 = -1;
  refused(adam, HU_E_TRAIN, "beta1");
  optimizer.rate = NAN;
  refused(optimizer, HU_E_TRAIN, "rate");
  optimizer = good;
  optimizer.momentum = 0.999;
  refused(optimizer, HU_E_TRAIN, "momentum");
  optimizer = good;
  optimizer.update = HU_UPDATE_KAHAN;
  optimizer.mode = t_stochastic(HU_SRA, 16);
  refused(optimizer, HU_E_TRAIN, "mode");
  optimizer = good;
  optimizer.weight = hu_format_ieee(11, 20, 0);
  refused(optimizer, HU_E_CARRIER, "weight");
  optimizer = good;
  optimizer.mode.round = 99;
  refused(optimizer, HU_E_MODE, "mode");
  float w = 1, g = 1, m = 0;
  hu_optimizer_time now = {0, 1, 1};
  hu_optimizer_arrays x = {&w, &g, &m, NULL, NULL};
  assert_int_equal(hu_optimizer_step(1, &x, &good, &now, stream_of(0), NULL), HU_E_SHAPE);
  now.t = 1;
  x.c = &m;
  assert_int_equal(hu_optimizer_step(1, &x, &good, &now, stream_of(0), NULL), HU_E_NULL);
  x.c = NULL;
  x.m = NULL;
  assert_int_equal(hu_optimizer_step(1, &x, &good, &now, stream_of(0), NULL), HU_E_NULL);
  assert_true(w == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(worked_steps),
                                     cmocka_unit_test(kahan_by_hand),
                                     cmocka_unit_test(master_weights),
                                     cmocka_unit_test(sums_are_kept),
                                     cmocka_unit_test(stochastic_is_unbiased),
                                     cmocka_unit_test(plain_binary32),
                                     cmocka_unit_test(fused_has_one_rounding),
                                     cmocka_unit_test(special_numbers),
                                     cmocka_unit_test(memory),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("optimizer", tests, NULL, NULL);
}
