/* SPDX-License-Identifier: MIT */
/* Scaled tensors as training recipes use them: worked blocks of MX, NVFP4 and DeepSeek-V3, current and delayed scaling
 * of whole tensors, weights seen from both sides, the Hadamard transform around a product and in a network. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/gemm.h"
#include "halfulp/hadamard.h"
#include "halfulp/scalar.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static const hu_mode rne;

static hu_scaling scaling_of(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

/* ---- worked blocks ---- */

typedef struct t_worked {
  const char *scaling;
  size_t n; /* elements of the block; zeros behind those of x */
  float amax;
  float x[4];
  double scale;   /* of the block */
  double code[4]; /* values of the element codes */
  double value[4];
} t_worked;

static const t_worked rows[] = {
    {"mxfp8_e4m3", 32, 0, {7.75f, 0.5f, -3.1f}, 0x1p-6, {448, 32, -192}, {7, 0.5, -3}},
    {"scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)",
     32,
     0,
     {7.75f, 0.5f, -3.1f},
     0x1p-5,
     {256, 16, -96},
     {8, 0.5, -3}},
    {"mxfp8_e4m3", 32, 0, {1, -2.3f, 0.07f, 6.1f}, 0x1p-6, {64, -144, 4.5, 384}, {1, -2.25, 0.0703125, 6}},
    {"mxfp4", 32, 0, {1, -2.3f, 0.07f, 6.1f}, 1, {1, -2, 0, 6}, {1, -2, 0, 6}},
    {"scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)",
     32,
     0,
     {1, -2.3f, 0.07f, 6.1f},
     2,
     {0.5, -1, 0, 3},
     {1, -2, 0, 6}},
    /* 448 / 2688 = 1/6, 4.5 / 2688 = 3/1792: the values are binary32 products with 0x1.861862p-12 times the scale */
    {"nvfp4_te", 16, 1, {1, -0.4f, 0.03f, 0.2f}, 448, {6, -2, 0, 1}, {1, -1.0 / 3, 0, 1.0 / 6}},
    {"nvfp4_te", 16, 1, {0.01f, -0.007f, 0, 0.003f}, 4.5, {6, -4, 0, 2}, {9.0 / 896, -3.0 / 448, 0, 3.0 / 896}},
    {"dsv3_1x128", 128, 0, {0.5f, -0.013f, 3}, 3.0 / 448, {72, -2, 448}, {27.0 / 56, -3.0 / 224, 3}}};

static void blocks(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const t_worked *worked = &rows[k];
    hu_scaling scaling = scaling_of(worked->scaling);
    float x[128] = {0}, z[128], tensor = 0;
    uint8_t codes[128];
    uint32_t scale = 0;
    int exact = scaling.rule != HU_SCALE_RATIO;
    hu_scaled scaled = {codes, worked->n, &scale, 1, scaling.tensor ? &tensor : NULL};
    memcpy(x, worked->x, sizeof worked->x);
    assert_int_equal(hu_scaled_encode(1, worked->n, &scaled, x, worked->n, &scaling, rne,
                                      scaling.tensor ? &worked->amax : NULL, NULL, NULL, NULL),
                     HU_OK);
    assert_int_equal(hu_scaled_decode(1, worked->n, z, worked->n, &scaled, &scaling, NULL), HU_OK);
    if (scaling.tensor) assert_true(tensor == 0x1.861862p-12f);
    double s = hu_decode64(scaling.scale, scale);
    assert_true(exact || scaling.tensor ? s == worked->scale : s == (double)(float)worked->scale);
    for (size_t i = 0; i < 4; i++) {
      assert_true(hu_decode64(scaling.element, codes[i]) == worked->code[i]);
      assert_true(exact ? (double)z[i] == worked->value[i]
                        : fabs((double)z[i] - worked->value[i]) <= 0x1p-23 * fabs(z[i]));
    }
    for (size_t i = 4; i < worked->n; i++) assert_true(z[i] == 0);
  }
}

/* ---- scaling of whole tensors ---- */

/* x8 = rnd(x s) saturated, s = FMAX / amax in binary32, of the tensor's own amax, or of the largest of the last steps:
 * an amax that is larger than the history saturates, one step later it does not. */
static void delayed(void **state) {
  (void)state;
  static const float tops[7] = {1, 1.75f, 0.875f, 7, 3.5f, 0.4375f, 0.21875f};
  static const char *const texts[2] = {
      "fp8_tensor", "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"};
  enum { N = 64, HISTORY = 3 };
  for (int k = 0; k < 2; k++) {
    hu_scaling scaling = scaling_of(texts[k]);
    float max = k ? 57344 : 448, history[7 + HISTORY] = {0};
    t_random random = {t_seed("recipes scaled", 7)};
    for (int step = 0; step < 7; step++) {
      float x[N], amax = tops[0], scale, z[N];
      uint8_t codes[N];
      hu_scaled tensor = {codes, N / 8, &scale, 1, NULL};
      hu_scaled_stats stats;
      for (int i = 0; i < N; i++) x[i] = tops[step] * ((float)t_below(&random, 2001) / 1000 - 1);
      x[t_below(&random, N)] = tops[step];
      for (int i = 0; i < HISTORY && step; i++) amax = i ? fmaxf(amax, history[step + i]) : history[step];
      for (int margin = 0; margin < 3; margin++) {
        float used = ldexpf(amax, margin), s = max / used;
        assert_int_equal(hu_scaled_encode(8, N / 8, &tensor, x, N / 8, &scaling, rne, &used, &stats, NULL, NULL),
                         HU_OK);
        assert_true(scale == 1 / s && stats.amax == tops[step]);
        assert_int_equal(stats.saturated > 0, tops[step] > used * (k ? 1.0625f : 1.03f));
        assert_int_equal(hu_scaled_decode(8, N / 8, z, N / 8, &tensor, &scaling, NULL), HU_OK);
        for (int i = 0; i < N; i++) {
          hu_mode limit = t_policy(rne, HU_SAT_FINITE, 0, 0);
          volatile float y = x[i] * s, back = hu_quantize(scaling.element, limit, y, 0, NULL) * scale;
          assert_int_equal(codes[i], hu_encode(scaling.element, limit, y, 0, NULL));
          assert_true(z[i] == back);
        }
      }
      float now = stats.amax; /* current scaling is delayed scaling by the tensor's own amax */
      uint8_t own[N];
      assert_int_equal(hu_scaled_encode(8, N / 8, &tensor, x, N / 8, &scaling, rne, NULL, &stats, NULL, NULL), HU_OK);
      memcpy(own, codes, N);
      assert_int_equal(hu_scaled_encode(8, N / 8, &tensor, x, N / 8, &scaling, rne, &now, NULL, NULL, NULL), HU_OK);
      assert_memory_equal(own, codes, N);
      assert_true(stats.saturated == 0);
      history[step + HISTORY] = now; /* updated after use */
    }
    /* An amax that is no number is refused; of 0 the scale is 1: a caller that keeps the last one does not ask. */
    float x[1] = {1}, bad = INFINITY, zero = 0, scale;
    uint8_t code;
    hu_scaled tensor = {&code, 1, &scale, 1, NULL};
    assert_int_equal(hu_scaled_encode(1, 1, &tensor, x, 1, &scaling, rne, &bad, NULL, NULL, NULL), HU_E_SCALING);
    assert_int_equal(hu_scaled_encode(1, 1, &tensor, x, 1, &scaling, rne, &zero, NULL, NULL, NULL), HU_OK);
    assert_true(scale == 1 && hu_decode64(scaling.element, code) == 1);
  }
}

/* ---- both sides of a weight matrix ---- */

enum { ROWS = 64, COLS = 48 };

static size_t differences(const char *text, uint32_t block_rows, uint64_t seed) {
  static float w[ROWS * COLS], t[ROWS * COLS], z[ROWS * COLS], y[ROWS * COLS];
  hu_scaling scaling = scaling_of(text);
  t_random random = {seed};
  size_t differ = 0;
  scaling.rows = block_rows;
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLS; j++) {
      w[i * COLS + j] = t[j * ROWS + i] = ldexpf((float)t_below(&random, 4001) - 2000, -(int)t_below(&random, 14));
    }
  }
  assert_int_equal(hu_scaled_quantize(ROWS, COLS, z, COLS, w, COLS, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_int_equal(hu_scaled_quantize(COLS, ROWS, y, ROWS, t, ROWS, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLS; j++) differ += t_bits32(z[i * COLS + j]) != t_bits32(y[j * ROWS + i]);
  }
  return differ;
}

/* Tiles: forward and backward products see the same numbers. Rows of blocks: they do not. */
static void tiles(void **state) {
  (void)state;
  static const char *const texts[3] = {"nvfp4_te", "nvfp4", "nvfp4_torchao"};
  for (size_t k = 0; k < 3; k++) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
      assert_int_equal(differences(texts[k], 16, seed), 0);
      assert_true(differences(texts[k], 1, seed) > ROWS * COLS / 10);
    }
  }
}

/* The sum over all random numbers is exact for elements, too: gradients of NVFP4 are not biased. */
static void all_random_numbers(void **state) {
  (void)state;
  for (int k = -96; k <= 96; k++) {
    float x = (float)k / 16;
    double sum = 0;
    for (uint32_t r = 0; r < 1024; r++) {
      sum += hu_decode64(hu_float4_e2m1fn(), hu_encode(hu_float4_e2m1fn(), t_stochastic(HU_SRA, 10), x, r, NULL));
    }
    assert_true(sum == 1024 * (double)x);
  }
}

/* ---- the Hadamard transform ---- */

static const uint32_t signs[4] = {HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE, 0x12345678, 0x9ABCDEF0, 0x0F1E2D3C};

/* (X H)(H^T Y) = X Y, exactly for small integers. */
static void around_a_product(void **state) {
  (void)state;
  enum { M = 7, K = 128, N = 9 };
  static float x[M * K], y[N * K], xh[M * K], yh[N * K], z[2][M * N]; /* y is Y^T */
  t_random random = {t_seed("recipes scaled", 3)};
  hu_accum fp32;
  assert_int_equal(hu_accum_parse(&fp32, "fp32", NULL), HU_OK);
  for (uint32_t n = 16; n <= 64; n *= 4) {
    hu_hadamard transform = {n, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_MASK, 0, signs};
    unsigned moved = 0;
    for (int i = 0; i < M * K; i++) x[i] = (float)t_between(&random, -9, 9);
    for (int i = 0; i < N * K; i++) y[i] = (float)t_between(&random, -9, 9);
    assert_int_equal(hu_hadamard_forward(M, K, xh, K, x, K, &transform, NULL), HU_OK);
    assert_int_equal(hu_hadamard_forward(N, K, yh, K, y, K, &transform, NULL), HU_OK);
    for (int k = 0; k < 2; k++) {
      hu_view a = hu_matrix_floats(k ? xh : x, K), b = hu_transposed(hu_matrix_floats(k ? yh : y, K));
      hu_output result = hu_matrix_floats_out(z[k], N);
      assert_int_equal(hu_gemm(M, N, K, &result, &a, &b, NULL, &fp32, NULL), HU_OK);
    }
    for (int i = 0; i < M * K; i++) moved += xh[i] != x[i];
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_true(moved > M * K / 2);
  }
  /* An outlier of 6 becomes 16 numbers of magnitude 1.5. */
  float block[16] = {0}, out[16];
  hu_hadamard transform = {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_MASK, 0, signs};
  block[5] = 6;
  assert_int_equal(hu_hadamard_forward(1, 16, out, 16, block, 16, &transform, NULL), HU_OK);
  for (int i = 0; i < 16; i++) assert_true(fabsf(out[i]) == 1.5f);
  for (int i = 0; i < 16; i++) assert_int_equal("+++-+------+-+--"[i] == '-', signs[0] >> i & 1);
}

enum { BATCH = 72, IN = 5, OUT = 3 };

/* dW of a layer of small integers: the same bits with the transform before it, until operands are rounded after it. */
static void gradient_of(uint32_t hadamard, const char *operands, float dw[IN * OUT], float dx[BATCH * IN]) {
  t_random random = {t_seed("recipes scaled", 5)};
  static float in[BATCH * IN], targets[BATCH * OUT];
  hu_net *net = hu_net_new(BATCH, 1);
  int x = hu_net_input(net, 1, IN), h = hu_net_position(net, x), y = hu_net_linear(net, h, OUT, 0);
  (void)hu_net_squared_error(net, y, BATCH); /* the gradient of y is y - target */
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.hadamard = hadamard;
  rounding.signs = 0xD7E8D7E8u;
  if (operands) {
    assert_int_equal(hu_rounding_parse(&rounding.x_back, operands, NULL), HU_OK);
    rounding.dz_w = rounding.x_back;
  }
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  for (int i = 0; i < IN * OUT; i++) hu_net_parameter(net, 1).numbers[i] = (float)t_between(&random, -3, 3);
  for (int i = 0; i < BATCH * IN; i++) in[i] = (float)t_between(&random, -7, 7);
  for (int i = 0; i < BATCH * OUT; i++) targets[i] = (float)t_between(&random, -20, 20);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  memcpy(dw, hu_net_parameter(net, 1).gradients, IN * OUT * sizeof *dw);
  memcpy(dx, hu_net_value(net, h).gradients, BATCH * IN * sizeof *dx);
  hu_net_free(net);
}

static void in_a_network(void **state) {
  (void)state;
  static float dx[2][BATCH * IN];
  float dw[2][IN * OUT], rounded[2][IN * OUT];
  gradient_of(0, NULL, dw[0], dx[0]);
  for (int i = 0; i < IN * OUT; i++) assert_true(dw[0][i] == rintf(dw[0][i]));
  for (uint32_t n = 16; n <= 64; n *= 4) {
    gradient_of(n, NULL, dw[1], dx[1]);
    assert_memory_equal(dw[0], dw[1], sizeof dw[0]);
    assert_memory_equal(dx[0], dx[1], sizeof dx[0]);
    /* It is there: what is rounded after it is not what is rounded without it. */
    gradient_of(0, "nvfp4_te,turned", rounded[0], dx[1]);
    gradient_of(n, "nvfp4_te,turned", rounded[1], dx[1]);
    assert_true(memcmp(rounded[0], rounded[1], sizeof rounded[0]) != 0);
    assert_memory_equal(dx[0], dx[1], sizeof dx[0]);
  }
  for (uint32_t n = 32; n <= 128; n *= 4) { /* 1/sqrt(n) is rounded */
    gradient_of(n, NULL, dw[1], dx[1]);
    for (int i = 0; i < IN * OUT; i++) assert_true(fabsf(dw[1][i] - dw[0][i]) <= 1e-2f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks),
                                     cmocka_unit_test(delayed),
                                     cmocka_unit_test(tiles),
                                     cmocka_unit_test(all_random_numbers),
                                     cmocka_unit_test(around_a_product),
                                     cmocka_unit_test(in_a_network)};
  return cmocka_run_group_tests_name("recipes: scaled", tests, NULL, NULL);
}
