/* SPDX-License-Identifier: MIT */
/* Quartet's linear layer (Castro et al., arXiv 2505.14669, version 4, Algorithm 1 in appendix A.1; scales as in the
 * authors' mxfp4_triton.py), computed here once more with a transform, a grid and scales of its own; what is refused.
 */
#include <math.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/recipes/layer.h"

/* Sides with a whole block and a ragged end, with several blocks, and with none. */
enum { BATCH = 40, IN = 70, OUT = 34, FEW = 10, STEPS = 3, LONGEST = BATCH * IN };

enum { SIGNS = 9 }; /* the number of the words of signs, beside those of operands */

/* ---- one block of up to 32 numbers ---- */

/* Row by row of Sylvester's matrix, whose number (i, j) is -1 where i and j have an odd number of bits in common: pairs
 * of neighbours are added, or subtracted where the row has bit 0, then pairs of those by bit 1, and so on. */
static void hadamard(float *z, const float *x, uint32_t signs) {
  const float factor = (float)(1 / sqrt(32));
  float u[32];
  for (int i = 0; i < 32; i++) u[i] = signs >> i & 1 ? -x[i] : x[i];
  for (int row = 0; row < 32; row++) {
    float s[32];
    memcpy(s, u, sizeof s);
    for (int bit = 0; bit < 5; bit++) {
      for (int i = 0; i < 32 >> (bit + 1); i++)
        s[i] = row >> bit & 1 ? s[2 * i] - s[2 * i + 1] : s[2 * i] + s[2 * i + 1];
    }
    z[row] = s[0] * factor;
  }
}

static float power_below(float x) {
  int e;
  (void)frexpf(x, &e);
  return ldexpf(1, e - 1);
}

static float deviation_scale(int n, const float *x) {
  float sum = 0, squares = 0;
  for (int i = 0; i < n; i++) {
    float square = x[i] * x[i];
    sum = sum + x[i];
    squares = squares + square;
  }
  float mean = sum / (float)n, square = mean * mean, variance = squares / (float)n - square;
  float product = (float)(2.92247856 / 6) * (variance < 0 ? 1 : sqrtf(variance));
  return power_below(product + 1e-8f);
}

static float largest_scale(int n, const float *x) {
  float largest = 0;
  for (int i = 0; i < n; i++) largest = fmaxf(largest, fabsf(x[i]));
  return largest == 0 ? ldexpf(1, -127) : power_below(largest) / 4;
}

/* ---- matrices, by lines ---- */

typedef enum part { TRANSFORM, QUEST, WITHIN, RANGE } part;

/* One block: numbers `step` apart from number `at` on. words: of the whole matrix. */
static void block(part w, size_t at, size_t step, int n, float *z, const float *x, uint32_t signs,
                  const hu_stream *words) {
  float u[32], scale;
  for (int i = 0; i < n; i++) u[i] = x[at + (size_t)i * step];
  if (w == TRANSFORM && n == 32) hadamard(u, u, signs);
  if (w == TRANSFORM) {
    for (int i = 0; i < n; i++) z[at + (size_t)i * step] = u[i];
    return;
  }
  scale = w == RANGE ? largest_scale(n, u) : deviation_scale(n, u);
  for (int i = 0; i < n; i++) {
    size_t k = at + (size_t)i * step;
    uint32_t word = words ? hu_stream_word(*words, k) : 0;
    float fitted = w == RANGE ? 0.75f * u[i] : u[i];
    float y = fitted / scale;
    z[k] = w == WITHIN ? (float)(fabsf(y) < 6) : (float)(on_grid((double)y, words ? &word : NULL) * (double)scale);
  }
}

static void blocks(part w, size_t rows, size_t cols, float *z, const float *x, int down, uint32_t signs,
                   const hu_stream *words) {
  size_t at, step, n;
  for (size_t b = 0; block_of_32(rows, cols, down, b, &at, &step, &n); b++)
    block(w, at, step, (int)n, z, x, signs, words);
}

/* Lines 2 to 4 of the forward pass; mask NULL: not wanted. */
static void quest(size_t rows, size_t cols, float *z, float *mask, const float *x, int down) {
  static float u[LONGEST];
  blocks(TRANSFORM, rows, cols, u, x, down, 0, NULL);
  blocks(WITHIN, rows, cols, mask, u, down, 0, NULL);
  blocks(QUEST, rows, cols, z, u, down, 0, NULL);
}

/* Lines 3, 4, 7, 8 of the backward pass. */
static void range(size_t rows, size_t cols, float *z, const float *x, int down, uint32_t signs,
                  const hu_stream *words) {
  static float u[LONGEST];
  blocks(TRANSFORM, rows, cols, u, x, down, signs, NULL);
  blocks(RANGE, rows, cols, z, u, down, 0, words);
}

/* Lines 6 and 10. */
static void back(size_t rows, size_t cols, float *z, const float *mask, int down) {
  for (size_t i = 0; i < rows * cols; i++) z[i] = mask[i] != 0 ? z[i] : 0;
  blocks(TRANSFORM, rows, cols, z, z, down, 0, NULL);
  for (size_t i = 0; i < rows * cols; i++) z[i] = z[i] * (float)(16.0 / 9);
}

static t_layer quartet_layer(size_t out, uint8_t quartet) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.quartet = quartet;
  return layer_of(BATCH, IN, out, &rounding, NULL);
}

/* Numbers of some binades, a few of them large, so that masks have zeros; the first row is one number, whose variance
 * is 0 or less, and the next one is zero. */
static void pass(t_layer *c, t_random *random) {
  static float x[BATCH * IN], targets[BATCH * OUT];
  for (int i = 0; i < BATCH * IN; i++) {
    x[i] = ldexpf((float)t_between(random, -999, 999), -(int)t_below(random, 6));
    if (t_below(random, 40) == 0) x[i] *= 64;
    if (i < IN) x[i] = 0x1.234566p3f;
    if (i >= IN && i < 2 * IN) x[i] = 0;
  }
  for (size_t i = 0; i < BATCH * c->out; i++) targets[i] = (float)t_between(random, -99, 99);
  net_pass(c->net, c->x, x, targets);
}

static void forward_and_backward(size_t out, uint8_t quartet) {
  static float w[IN * OUT], xq[LONGEST], mx[LONGEST], wq[IN * OUT], mw[IN * OUT], g[BATCH * OUT], v[LONGEST];
  static float z[BATCH * OUT], dx[BATCH * IN], dw[IN * OUT];
  const int stochastic = quartet == HU_QUARTET_STOCHASTIC;
  t_layer c = quartet_layer(out, quartet);
  t_random random = {t_seed("quartet", (int)out + quartet)};
  int masked = 0;
  for (uint64_t t = 0; t < STEPS; t++) {
    hu_rounding_counts counts[2];
    memcpy(w, hu_net_parameter(c.net, 1).numbers, IN * out * sizeof *w);
    hu_net_forget_counts(c.net);
    pass(&c, &random);
    const float *h = hu_net_value(c.net, c.h).numbers, *dz = hu_net_value(c.net, c.y).gradients;
    const uint32_t signs = hu_stream_word(words_of(1, SIGNS, t), 0);
    const hu_stream words[4] = {words_of(1, DX_DZ, t), words_of(1, DX_W, t), words_of(1, DW_DZ, t),
                                words_of(1, DW_X, t)};
    quest(BATCH, IN, xq, mx, h, 0);
    quest(IN, out, wq, mw, w, 1);
    product(BATCH, out, IN, z, xq, IN, 1, wq, out, 1);
    range(BATCH, out, g, dz, 0, signs, stochastic ? &words[0] : NULL);
    range(IN, out, v, wq, 0, signs, stochastic ? &words[1] : NULL);
    product(BATCH, IN, out, dx, g, out, 1, v, 1, out);
    back(BATCH, IN, dx, mx, 0);
    range(BATCH, out, g, dz, 1, signs, stochastic ? &words[2] : NULL);
    range(BATCH, IN, v, xq, 1, signs, stochastic ? &words[3] : NULL);
    product(IN, out, BATCH, dw, v, 1, IN, g, out, 1);
    back(IN, out, dw, mw, 1);
    same_pass(&c, t, z, dx, dw);
    for (size_t i = 0; i < BATCH * IN; i++) masked += mx[i] == 0;
    assert_true(hu_net_product_counts(c.net, c.y, counts));
    assert_int_equal(counts[0].elements, BATCH * IN + IN * out);
    assert_int_equal(counts[1].elements, BATCH * IN + IN * out + 2 * BATCH * out);
    net_step(c.net, 1e-4, 0.9);
  }
  assert_true(masked > 20);
  hu_net_free(c.net);
}

static void test_layer(void **state) {
  (void)state;
  for (uint8_t how = HU_QUARTET_NEAREST; how <= HU_QUARTET_STOCHASTIC; how++) {
    forward_and_backward(OUT, how);
    forward_and_backward(32, how);
    forward_and_backward(FEW, how);
  }
}

/* An infinity or a NaN makes its block NaN, and nothing else: row 3 of Z. A number whose square is beyond the range
 * does, too. */
static void test_not_finite(void **state) {
  (void)state;
  const float bad[3] = {INFINITY, NAN, 1e25f};
  static float x[BATCH * IN], targets[BATCH * OUT];
  for (int k = 0; k < 3; k++) {
    t_layer c = quartet_layer(OUT, HU_QUARTET_NEAREST);
    for (int i = 0; i < BATCH * IN; i++) x[i] = (float)(i % 13 - 6);
    x[3 * IN + 40] = bad[k];
    net_forward(c.net, c.x, x, targets, 1);
    const float *z = hu_net_value(c.net, c.y).numbers;
    for (int i = 0; i < BATCH * OUT; i++) {
      if ((i / OUT == 3) != (z[i] != z[i])) fail_msg("number %d: Z[%d] is %a", k, i, (double)z[i]);
    }
    hu_net_free(c.net);
  }
}

/* Threads and levels change no bit. */
static void test_threads(void **state) {
  (void)state;
  enum { SAMPLES = 256, COLS = 300, RESULTS = 40 };
  static float x[SAMPLES * COLS], targets[SAMPLES * RESULTS];
  uint64_t digest[2];
  t_random random = {t_seed("quartet", 9)};
  for (int i = 0; i < SAMPLES * COLS; i++) x[i] = (float)t_between(&random, -999, 999) / 64;
  for (int i = 0; i < SAMPLES * RESULTS; i++) targets[i] = (float)t_between(&random, -9, 9);
  for (uint32_t k = 0; k < 2; k++) {
    hu_net *net = hu_net_new(SAMPLES, 1 + 3 * k);
    hu_product_rounding rounding = hu_product_rounding_plain();
    rounding.quartet = HU_QUARTET_STOCHASTIC;
    int in = hu_net_input(net, 1, COLS), y = hu_net_linear(net, hu_net_position(net, in), RESULTS, 1);
    (void)hu_net_squared_error(net, y, 1);
    assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
    assert_int_equal(hu_net_initialize(net, SEED), HU_OK);
    net_pass(net, in, x, targets);
    net_step(net, 1e-4, 0.9);
    digest[k] = hu_net_digest(net);
    hu_net_free(net);
  }
  assert_true(digest[0] == digest[1]);
}

static void test_refused(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_image(net, 4, 4, 2), c = hu_net_conv(net, x, 3, 3, 1, 0, 0), y = hu_net_linear(net, c, 2, 1);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.quartet = HU_QUARTET_STOCHASTIC + 1;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_E_TRAIN);
  rounding.quartet = HU_QUARTET_NEAREST;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_round_product(net, c, &rounding), HU_E_TRAIN);
  rounding.twice = 1;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_E_TRAIN);
  rounding.twice = 0;
  rounding.hadamard = 32;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_E_TRAIN);
  rounding.hadamard = 0;
  hu_rounding *all[] = {&rounding.x, &rounding.w, &rounding.dz, &rounding.w_back, &rounding.x_back, &rounding.dz_w};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    assert_int_equal(hu_rounding_parse(all[i], "bfloat16", NULL), HU_OK);
    assert_int_equal(hu_net_round_product(net, y, &rounding), HU_E_TRAIN);
    *all[i] = hu_rounding_keep();
  }
  assert_int_equal(hu_rounding_parse(&rounding.z_out, "bfloat16", NULL), HU_OK);
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_layer), cmocka_unit_test(test_not_finite),
                                     cmocka_unit_test(test_threads), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("Quartet", tests, NULL, NULL);
}
