/* SPDX-License-Identifier: MIT */
/* Double quantization, and TetraJet's six roundings (Chen et al. 2025, arXiv 2502.20853; its code's QLinear.py): steps
 * of a linear layer computed here once more in binary64, with an MXFP4 of its own; what is refused. */
#include <math.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/recipes/layer.h"

#define MXFP4 "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)"

enum { BATCH = 40, IN = 36, OUT = 34, STEPS = 3, LONGEST = BATCH * IN };

/* ---- MXFP4 ---- */

/* A block of n numbers `step` apart from number `at` on: the least 2^e with the largest <= 6 2^e. */
static void block(size_t at, size_t step, size_t n, float *z, const float *x, const hu_stream *words) {
  double largest = 0, scale = ldexp(1, -127);
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)x[at + i * step]));
  while (largest > 6 * scale) scale *= 2;
  for (size_t i = 0; i < n; i++) {
    size_t k = at + i * step;
    uint32_t word = words ? hu_stream_word(*words, k) : 0;
    z[k] = (float)(on_grid((double)x[k] / scale, words ? &word : NULL) * scale);
  }
}

/* down: blocks lie along columns. */
static void mxfp4(size_t rows, size_t cols, float *z, const float *x, int down, const hu_stream *words) {
  size_t at, step, n;
  for (size_t b = 0; block_of_32(rows, cols, down, b, &at, &step, &n); b++) block(at, step, n, z, x, words);
}

static hu_rounding rounding(const char *text) {
  hu_rounding rounding;
  assert_int_equal(hu_rounding_parse(&rounding, text, NULL), HU_OK);
  return rounding;
}

static hu_product_rounding tetrajet(void) {
  hu_product_rounding of_product = hu_product_rounding_plain();
  of_product.x = rounding(MXFP4);
  of_product.w = rounding(MXFP4 ",turned");
  of_product.dz = of_product.w_back = rounding(MXFP4 ",sra:16");
  of_product.dz_w = of_product.x_back = rounding(MXFP4 ",sra:16,turned");
  of_product.twice = 1;
  return of_product;
}

static void pass(t_layer *c, t_random *random) {
  static float x[BATCH * IN], targets[BATCH * OUT];
  for (int i = 0; i < BATCH * IN; i++) x[i] = ldexpf((float)t_between(random, -999, 999), -(int)t_below(random, 12));
  for (int i = 0; i < BATCH * OUT; i++) targets[i] = (float)t_between(random, -99, 99);
  net_pass(c->net, c->x, x, targets);
}

static void test_tetrajet(void **state) {
  (void)state;
  static float w[IN * OUT], xr[LONGEST], wr[IN * OUT], xb[LONGEST], wb[IN * OUT], dzr[BATCH * OUT], dzb[BATCH * OUT];
  static float z[BATCH * OUT], dx[BATCH * IN], dw[IN * OUT];
  const hu_product_rounding rounding = tetrajet();
  t_layer c = layer_of(BATCH, IN, OUT, &rounding, NULL);
  t_random random = {t_seed("tetrajet", 3)};
  const uint64_t number = 1; /* of the linear operator: the position is 0 */
  for (uint64_t t = 0; t < STEPS; t++) {
    memcpy(w, hu_net_parameter(c.net, 1).numbers, sizeof w);
    pass(&c, &random);
    const float *h = hu_net_value(c.net, c.h).numbers, *dz = hu_net_value(c.net, c.y).gradients;
    hu_stream of_x = words_of(number, DW_X, t), of_w = words_of(number, DX_W, t);
    hu_stream of_dz = words_of(number, DX_DZ, t), of_dzw = words_of(number, DW_DZ, t);
    mxfp4(BATCH, IN, xr, h, 0, NULL);       /* Q1 */
    mxfp4(IN, OUT, wr, w, 1, NULL);         /* Q2 */
    mxfp4(BATCH, OUT, dzr, dz, 0, &of_dz);  /* Q3 */
    mxfp4(IN, OUT, wb, wr, 0, &of_w);       /* Q4: of what Q2 has left */
    mxfp4(BATCH, OUT, dzb, dz, 1, &of_dzw); /* Q5 */
    mxfp4(BATCH, IN, xb, xr, 1, &of_x);     /* Q6: of what Q1 has left */
    products(&c, z, dx, dw, (const float *const[6]){xr, wr, xb, dzb, dzr, wb});
    same_pass(&c, t, z, dx, dw);
    net_step(c.net, 1e-4, 0.9);
  }
  hu_net_free(c.net);
}

/* ---- Q-EMA (section 5 of the paper; the code's quantizer with EMA) ---- */

/* The neighbour of w in its block's scale that is nearer to e; blocks lie along columns. */
static void toward(size_t rows, size_t cols, float *z, const float *w, const float *e) {
  static const double grid[9] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 8};
  for (size_t k = 0; k < rows * cols; k++) {
    size_t first = k / cols / 32 * 32, end = first + 32 < rows ? first + 32 : rows;
    double largest = 0, scale = ldexp(1, -127), x, a;
    for (size_t i = first; i < end; i++) largest = fmax(largest, fabs((double)w[i * cols + k % cols]));
    while (largest > 6 * scale) scale *= 2;
    x = fabs((double)w[k]) / scale;
    a = (w[k] < 0 ? -(double)e[k] : (double)e[k]) / scale;
    int low = 0;
    while (low < 7 && grid[low + 1] <= x) low++;
    if (a >= (grid[low] + grid[low + 1]) / 2) low++;
    z[k] = w[k] == 0 ? 0 : (float)copysign(fmin(grid[low], 6) * scale, (double)w[k]);
  }
}

static void test_average(void **state) {
  (void)state;
  enum { RUN = HU_AVERAGE_AFTER + 5 };
  static float w[IN * OUT], e[IN * OUT], xr[LONGEST], wr[IN * OUT], near[IN * OUT], wb[IN * OUT], dzr[BATCH * OUT];
  static float z[BATCH * OUT], dx[BATCH * IN];
  const float decay = 0.9f, rest = 1 - decay;
  hu_product_rounding rounding = tetrajet();
  rounding.w_average = decay;
  t_layer c = layer_of(BATCH, IN, OUT, &rounding, NULL);
  t_random random = {t_seed("tetrajet", 8)};
  size_t moved = 0;
  for (uint64_t t = 0; t < RUN; t++) {
    memcpy(w, hu_net_parameter(c.net, 1).numbers, sizeof w);
    for (size_t i = 0; i < IN * OUT; i++) {
      float a = decay * e[i], b = rest * w[i];
      e[i] = t ? a + b : w[i];
    }
    pass(&c, &random);
    const float *h = hu_net_value(c.net, c.h).numbers, *dz = hu_net_value(c.net, c.y).gradients;
    hu_stream of_w = words_of(1, DX_W, t), of_dz = words_of(1, DX_DZ, t);
    mxfp4(BATCH, IN, xr, h, 0, NULL);
    mxfp4(IN, OUT, near, w, 1, NULL);
    if (t < HU_AVERAGE_AFTER) memcpy(wr, near, sizeof wr);
    if (t >= HU_AVERAGE_AFTER) toward(IN, OUT, wr, w, e);
    for (size_t i = 0; i < IN * OUT; i++) moved += near[i] != wr[i];
    mxfp4(BATCH, OUT, dzr, dz, 0, &of_dz);
    mxfp4(IN, OUT, wb, wr, 0, &of_w);
    products(&c, z, dx, NULL, (const float *const[6]){xr, wr, NULL, NULL, dzr, wb});
    same_pass(&c, t, z, dx, NULL);
    net_step(c.net, 1e-6, 0.9);
  }
  assert_true(moved > 20);
  hu_net_free(c.net);
}

/* A weight on the grid goes up to the next number where the average is beyond the middle; 6 is the last one. */
static void test_neighbours(void **state) {
  (void)state;
  const float w[8] = {6, 3, -3, 0.25f, -0.25f, 0, 6, 1}, e[8] = {9, 3.5f, -3.4f, -1, -0.3f, 5, 1, 1.25f};
  const float expected[8] = {6, 4, -3, 0, -0.5f, 0, 6, 1.5f};
  hu_product_rounding rounding = tetrajet();
  rounding.w_average = 0.5f;
  hu_net *net = hu_net_new(8, 1);
  int x = hu_net_input(net, 1, 8), y = hu_net_linear(net, x, 1, 0);
  (void)hu_net_squared_error(net, y, 1);
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, SEED), HU_OK);
  float eye[64] = {0}, none[8] = {0}, before[8];
  for (int i = 0; i < 8; i++) eye[9 * i] = 1;
  assert_int_equal(hu_net_feed(net, x, eye), HU_OK);
  assert_int_equal(hu_net_targets(net, none), HU_OK);
  /* An average of e: W is 2 e - E, so that E = E / 2 + W / 2 is e. SGD moves W little; it is set anew each time. */
  for (int t = 0; t <= HU_AVERAGE_AFTER; t++) {
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    if (t == HU_AVERAGE_AFTER) break;
    assert_int_equal(hu_net_backward(net, 0), HU_OK);
    assert_int_equal(hu_net_set_parameter(net, 0, e), HU_OK);
    net_step(net, 1e-4, 0.9);
    assert_int_equal(hu_net_set_parameter(net, 0, t == HU_AVERAGE_AFTER - 1 ? w : e), HU_OK);
  }
  memcpy(before, hu_net_value(net, y).numbers, sizeof before);
  same("Z", HU_AVERAGE_AFTER, 8, before, expected);
  hu_net_free(net);
}

/* What is kept is what the forward pass had, random words and all; and counted once. */
static void test_kept(void **state) {
  (void)state;
  static float w[IN * OUT], xr[LONGEST], wr[IN * OUT], z[BATCH * OUT], dx[BATCH * IN], dw[IN * OUT];
  hu_product_rounding of_product = hu_product_rounding_plain();
  of_product.x = rounding(MXFP4 ",sra:16");
  of_product.w = rounding(MXFP4 ",sra:16,turned");
  of_product.twice = 1;
  t_layer c = layer_of(BATCH, IN, OUT, &of_product, NULL);
  t_random random = {t_seed("tetrajet", 4)};
  for (uint64_t t = 0; t < STEPS; t++) {
    hu_rounding_counts counts[2];
    memcpy(w, hu_net_parameter(c.net, 1).numbers, sizeof w);
    hu_net_forget_counts(c.net);
    pass(&c, &random);
    const float *h = hu_net_value(c.net, c.h).numbers, *dz = hu_net_value(c.net, c.y).gradients;
    hu_stream of_x = words_of(1, Z_X, t), of_w = words_of(1, Z_W, t);
    mxfp4(BATCH, IN, xr, h, 0, &of_x);
    mxfp4(IN, OUT, wr, w, 1, &of_w);
    products(&c, z, dx, dw, (const float *const[6]){xr, wr, xr, dz, dz, wr});
    same_pass(&c, t, z, dx, dw);
    assert_true(hu_net_product_counts(c.net, c.y, counts));
    assert_int_equal(counts[0].elements, BATCH * IN + IN * OUT);
    assert_int_equal(counts[1].elements, 0);
    net_step(c.net, 1e-4, 0.9);
  }
  hu_net_free(c.net);
}

/* A rounding that rounds its own numbers once more: s2fp8, whose statistics are others then. What a pass keeps of one
 * product is not what the next one wants, although the two roundings are alike. */
static void twice(size_t rows, size_t cols, float *once, float *z, const float *x) {
  const hu_rounding how = rounding("s2fp8");
  assert_int_equal(hu_rounding_apply(rows, cols, once, x, &how, NULL, NULL), HU_OK);
  assert_int_equal(hu_rounding_apply(rows, cols, z, once, &how, NULL, NULL), HU_OK);
  assert_true(memcmp(once, z, rows * cols * sizeof *z) != 0);
}

static hu_product_rounding squeezed(void) {
  hu_product_rounding of_product = hu_product_rounding_plain();
  of_product.x = of_product.x_back = of_product.w = of_product.w_back = rounding("s2fp8");
  of_product.twice = 1;
  return of_product;
}

static void test_alike(void **state) {
  (void)state;
  static float w[IN * OUT], xr[LONGEST], wr[IN * OUT], xb[LONGEST], wb[IN * OUT];
  static float z[BATCH * OUT], dx[BATCH * IN], dw[IN * OUT];
  const hu_product_rounding rounding = squeezed();
  t_layer c = layer_of(BATCH, IN, OUT, &rounding, NULL);
  t_random random = {t_seed("tetrajet", 5)};
  memcpy(w, hu_net_parameter(c.net, 1).numbers, sizeof w);
  pass(&c, &random);
  const float *h = hu_net_value(c.net, c.h).numbers, *dz = hu_net_value(c.net, c.y).gradients;
  twice(BATCH, IN, xr, xb, h);
  twice(IN, OUT, wr, wb, w);
  products(&c, z, dx, dw, (const float *const[6]){xr, wr, xb, dz, dz, wb});
  same_pass(&c, 0, z, dx, dw);
  hu_net_free(c.net);
}

/* With a kernel of one pixel a convolution is a linear layer of the pixels. */
static void test_convolution(void **state) {
  (void)state;
  enum { SIDE = 3, CHANNELS = 5, OUTPUTS = 4, PIXELS = SIDE * SIDE, COUNT = 2 * PIXELS * CHANNELS };
  const char *const accums[2] = {"fp32", "seq(binary32)"}; /* without patches, and with them */
  float x[COUNT], targets[2 * PIXELS * OUTPUTS], gradients[2][CHANNELS * OUTPUTS], values[2][2 * PIXELS * OUTPUTS];
  t_random random = {t_seed("tetrajet", 6)};
  for (int i = 0; i < COUNT; i++) x[i] = (float)t_between(&random, -99, 99) / 16;
  for (int i = 0; i < 2 * PIXELS * OUTPUTS; i++) targets[i] = (float)t_between(&random, -9, 9);
  for (int a = 0; a < 2; a++) {
    hu_product_rounding rounding = squeezed();
    assert_int_equal(hu_accum_parse(&rounding.z_accum, accums[a], NULL), HU_OK);
    rounding.dx_accum = rounding.dw_accum = rounding.z_accum;
    for (int k = 0; k < 2; k++) {
      hu_net *net = hu_net_new(2, 1);
      int in = k ? hu_net_input(net, PIXELS, CHANNELS) : hu_net_image(net, SIDE, SIDE, CHANNELS);
      int y = k ? hu_net_linear(net, in, OUTPUTS, 0) : hu_net_conv(net, in, OUTPUTS, 1, 1, 0, 0);
      (void)hu_net_squared_error(net, y, 1);
      assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
      assert_int_equal(hu_net_initialize(net, SEED), HU_OK);
      net_pass(net, in, x, targets);
      memcpy(gradients[k], hu_net_parameter(net, 0).gradients, sizeof gradients[k]);
      memcpy(values[k], hu_net_value(net, y).numbers, sizeof values[k]);
      hu_net_free(net);
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_memory_equal(gradients[0], gradients[1], sizeof gradients[0]);
  }
}

/* Steps of a cell share their weights, whose gradients a pass may put off: not while X is a rounded one. In a format,
 * whose numbers round to themselves, once and twice are one. */
static void test_cells(void **state) {
  (void)state;
  enum { TIME = 5, COLS = 3, UNITS = 4, SAMPLES = 6 };
  float x[SAMPLES * TIME * COLS], targets[SAMPLES * UNITS], gradients[2][COLS * 3 * UNITS];
  t_random random = {t_seed("tetrajet", 7)};
  for (int i = 0; i < SAMPLES * TIME * COLS; i++) x[i] = (float)t_between(&random, -999, 999) / 512;
  for (int i = 0; i < SAMPLES * UNITS; i++) targets[i] = (float)t_between(&random, -9, 9);
  for (int k = 0; k < 2; k++) {
    hu_net *net = hu_net_new(SAMPLES, 1);
    hu_product_rounding of_product = hu_product_rounding_plain();
    hu_rounding_counts counts[2];
    of_product.x = rounding("fp(4,2,0)");
    if (k) of_product.x_back = of_product.x;
    of_product.twice = (uint8_t)!k;
    int in = hu_net_input(net, TIME, COLS), y = hu_net_gru(net, in, UNITS, 1);
    (void)hu_net_squared_error(net, y, 1);
    for (int v = 0; v < hu_net_values(net); v++) {
      if (hu_net_product_counts(net, v, counts)) assert_int_equal(hu_net_round_product(net, v, &of_product), HU_OK);
    }
    assert_int_equal(hu_net_initialize(net, SEED), HU_OK);
    net_pass(net, in, x, targets);
    assert_int_equal(hu_net_parameter(net, 0).rows * hu_net_parameter(net, 0).cols, COLS * 3 * UNITS);
    memcpy(gradients[k], hu_net_parameter(net, 0).gradients, sizeof gradients[k]);
    hu_net_free(net);
  }
  assert_memory_equal(gradients[0], gradients[1], sizeof gradients[0]);
}

static void test_refused(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_image(net, 4, 4, 2), c = hu_net_conv(net, x, 3, 3, 1, 0, 0), y = hu_net_linear(net, c, 2, 1);
  hu_product_rounding of_product = tetrajet();
  of_product.twice = 2;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.twice = 1;
  of_product.hadamard = 16;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.hadamard = 0;
  of_product.w_average = 1;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.w_average = -0.5f;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.w_average = 0.5f;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_OK);
  of_product.twice = 0;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.twice = 1;
  of_product.w.mode.round = HU_RNA;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product.w = rounding("mxfp4,turned");
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_E_TRAIN);
  of_product = tetrajet();
  of_product.by_window = 1;
  assert_int_equal(hu_net_round_product(net, y, &of_product), HU_OK);
  assert_int_equal(hu_net_round_product(net, c, &of_product), HU_E_TRAIN);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tetrajet),   cmocka_unit_test(test_average),
                                     cmocka_unit_test(test_neighbours), cmocka_unit_test(test_kept),
                                     cmocka_unit_test(test_alike),      cmocka_unit_test(test_convolution),
                                     cmocka_unit_test(test_cells),      cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("TetraJet", tests, NULL, NULL);
}
