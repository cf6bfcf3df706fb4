/* SPDX-License-Identifier: MIT */
/* Convolutions in groups: bit for bit the convolutions of slices, and direct loops over patches that were rounded as a
 * whole. Channel shuffles, ReLU6. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum {
  BATCH = 3,
  HIGH = 6,
  WIDE = 5,
  CHANNELS = 6,
  OUTPUTS = 12,
  KERNEL = 3,
  PIXELS = BATCH * HIGH * WIDE,
  ROWS = PIXELS * 4, /* windows: with 2 pixels around an image they are more than its pixels */
  AREA = KERNEL * KERNEL * CHANNELS,
  WEIGHTS = AREA * OUTPUTS
};

typedef struct t_layer {
  size_t groups, stride, pad;
  const char *accum;
} t_layer;

static const t_layer layers[] = {{2, 1, 1, "fp32"},           {3, 2, 1, "fp32"},
                                 {CHANNELS, 1, 1, "fp32"},    {CHANNELS, 2, 2, "fp32"},
                                 {2, 1, 0, "seq2(binary32)"}, {CHANNELS, 1, 1, "seq(binary16)"}};

#define EACH_LAYER(c) (const t_layer *c = layers; c < layers + sizeof layers / sizeof *layers; c++)

/* What a pass leaves: Z, dX, dW. */
typedef struct t_pass {
  float z[ROWS * OUTPUTS], dx[PIXELS * CHANNELS], dw[WEIGHTS];
  size_t rows; /* of Z */
} t_pass;

static hu_rounding rounding_of(const char *text) {
  hu_rounding rounding;
  assert_int_equal(hu_rounding_parse(&rounding, text, NULL), HU_OK);
  return rounding;
}

/* Numbers of many sizes, a third of them 0. */
static void draw(size_t n, float *x, uint64_t seed) {
  t_random random = {seed};
  for (size_t i = 0; i < n; i++) {
    x[i] = ldexpf((float)t_between(&random, -999, 999), t_between(&random, -14, -8));
    if (t_below(&random, 3) == 0) x[i] = 0;
  }
}

/* Weights of all groups, AREA / groups rows; those of a group are some columns. */
static float weights[WEIGHTS], images[PIXELS * CHANNELS], targets[ROWS * OUTPUTS];

static void draw_all(void) {
  draw(WEIGHTS, weights, 3);
  draw(PIXELS * CHANNELS, images, 5);
  draw(ROWS * OUTPUTS, targets, 7);
}

/* ---- the library's: one operator, or one for each slice ---- */

static int add_slices(hu_net *net, const t_layer *c, int h, int made[CHANNELS]) {
  size_t in = CHANNELS / c->groups, out = OUTPUTS / c->groups;
  for (size_t g = 0; g < c->groups; g++) {
    made[g] = hu_net_conv(net, hu_net_columns(net, h, g * in, in), out, KERNEL, c->stride, c->pad, 0);
  }
  return hu_net_concat(net, c->groups, made);
}

static void set_weights(hu_net *net, const t_layer *c, int sliced) {
  size_t rows = AREA / c->groups, cols = OUTPUTS / (sliced ? c->groups : 1);
  for (int g = 0; g < hu_net_parameters(net); g++) {
    hu_net_tensor tensor = hu_net_parameter(net, g);
    assert_true(tensor.rows == rows && tensor.cols == cols);
    for (size_t i = 0; i < rows; i++) {
      memcpy(tensor.numbers + i * cols, weights + i * OUTPUTS + (size_t)g * cols, cols * sizeof *weights);
    }
  }
}

static void get_gradients(const hu_net *net, const t_layer *c, float *dw) {
  for (int g = 0; g < hu_net_parameters(net); g++) {
    hu_net_tensor tensor = hu_net_parameter(net, g);
    for (size_t i = 0; i < AREA / c->groups; i++) {
      memcpy(dw + i * OUTPUTS + (size_t)g * tensor.cols, tensor.gradients + i * tensor.cols, tensor.cols * sizeof *dw);
    }
  }
}

static void set_product(hu_net *net, const t_layer *c, const hu_product_rounding *rounding, int value) {
  hu_product_rounding own = *rounding;
  assert_int_equal(hu_accum_parse(&own.z_accum, c->accum, NULL), HU_OK);
  own.dx_accum = own.dw_accum = own.z_accum;
  assert_int_equal(hu_net_round_product(net, value, &own), HU_OK);
}

/* X is a sum with an image of zeros, so that its gradient is wanted. */
static void run(const t_layer *c, const hu_product_rounding *rounding, const float *x, int sliced, uint32_t threads,
                t_pass *pass) {
  int made[CHANNELS];
  hu_net *net = hu_net_new(BATCH, threads);
  int in = hu_net_image(net, HIGH, WIDE, CHANNELS);
  int h = hu_net_add(net, in, hu_net_image(net, HIGH, WIDE, CHANNELS));
  int z = sliced ? add_slices(net, c, h, made)
                 : hu_net_conv_groups(net, h, OUTPUTS, KERNEL, c->stride, c->pad, c->groups, 0);
  assert_true(hu_net_squared_error(net, z, 1) >= 0);
  if (!sliced) made[0] = z;
  for (size_t g = 0; g < (sliced ? c->groups : 1); g++) set_product(net, c, rounding, made[g]);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  set_weights(net, c, sliced);
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  hu_net_tensor of_h = hu_net_value(net, h), of_z = hu_net_value(net, z);
  pass->rows = of_z.rows;
  assert_true(of_z.rows <= ROWS && of_z.cols == OUTPUTS);
  memcpy(pass->z, of_z.numbers, pass->rows * OUTPUTS * sizeof *pass->z);
  memcpy(pass->dx, of_h.gradients, sizeof pass->dx);
  get_gradients(net, c, pass->dw);
  hu_net_free(net);
}

static void assert_same(const t_layer *c, const t_pass *got, const t_pass *expected) {
  assert_int_equal(got->rows, expected->rows);
  assert_memory_equal(got->z, expected->z, got->rows * OUTPUTS * sizeof *got->z);
  assert_memory_equal(got->dw, expected->dw, AREA / c->groups * OUTPUTS * sizeof *got->dw);
  assert_memory_equal(got->dx, expected->dx, sizeof got->dx);
}

enum { PLACES = 9 };

/* The roundings of a product, place i of them. */
static hu_rounding *place_of(hu_product_rounding *rounding, size_t i) {
  hu_rounding *const all[PLACES] = {&rounding->x,      &rounding->w,      &rounding->dz,
                                    &rounding->w_back, &rounding->x_back, &rounding->dz_w,
                                    &rounding->z_out,  &rounding->dx_out, &rounding->dw_out};
  return all[i];
}

static void slices_agree(const t_layer *c, hu_product_rounding rounding, uint32_t threads) {
  static t_pass got, expected;
  for (rounding.by_window = 0; rounding.by_window < 2; rounding.by_window++) {
    run(c, &rounding, images, 0, threads, &got);
    run(c, &rounding, images, 1, 1, &expected);
    /* A slice gives zeros to the channels of the others, and a -0 becomes +0 there. */
    for (size_t i = 0; i < PIXELS * CHANNELS; i++) got.dx[i] += 0.0f;
    assert_same(c, &got, &expected);
  }
}

/* Roundings of numbers by themselves, at each place alone and at all of them; transformed, too. */
static void groups_are_slices(void **state) {
  (void)state;
  static const char *const texts[] = {"keep", "float8_e5m2", "bfloat16,rtz", "posit8"};
  draw_all();
  for
    EACH_LAYER(c) {
      for (size_t t = 0; t < 4; t++) {
        for (size_t place = 0; place <= PLACES; place++) {
          hu_product_rounding rounding = hu_product_rounding_plain();
          for (size_t i = 0; i < PLACES; i++) {
            if (place == PLACES || place == i) *place_of(&rounding, i) = rounding_of(texts[t]);
          }
          slices_agree(c, rounding, 1 + (uint32_t)place % 2);
          rounding.hadamard = 16;
          rounding.signs = 0xD7E8;
          if (place == PLACES) slices_agree(c, rounding, 1);
        }
      }
    }
}

/* ---- direct loops ---- */

static size_t windows_of(size_t side, const t_layer *c) { return (side + 2 * c->pad - KERNEL) / c->stride + 1; }

/* Pixel k of window r; SIZE_MAX: one around the image. */
static size_t pixel_of(const t_layer *c, size_t r, size_t k) {
  size_t wide = windows_of(WIDE, c), high = windows_of(HIGH, c), image = r / (high * wide);
  size_t y = r % (high * wide) / wide * c->stride + k / KERNEL - c->pad, x = r % wide * c->stride + k % KERNEL - c->pad;
  return y < HIGH && x < WIDE ? (image * HIGH + y) * WIDE + x : SIZE_MAX;
}

/* The patches: group by group, pixel by pixel, channel by channel. */
static void make_patches(const t_layer *c, size_t rows, const float *x, float *p) {
  size_t in = CHANNELS / c->groups;
  for (size_t r = 0; r < rows; r++) {
    for (size_t g = 0; g < c->groups; g++) {
      for (size_t k = 0; k < KERNEL * KERNEL; k++) {
        size_t at = pixel_of(c, r, k);
        for (size_t i = 0; i < in; i++) *p++ = at == SIZE_MAX ? 0 : x[at * CHANNELS + g * in + i];
      }
    }
  }
}

/* Z = P W, dW = P^T dZ, and dX of dP = dZ W^T, under `fp32`. */
static void direct_forward(const t_layer *c, size_t rows, const float *p, const float *w, float *z) {
  size_t area = AREA / c->groups, out = OUTPUTS / c->groups;
  for (size_t r = 0; r < rows; r++) {
    for (size_t o = 0; o < OUTPUTS; o++) {
      float s = 0;
      for (size_t k = 0; k < area; k++) s = fmaf(p[r * AREA + o / out * area + k], w[k * OUTPUTS + o], s);
      z[r * OUTPUTS + o] = s;
    }
  }
}

static void direct_weights(const t_layer *c, size_t rows, const float *p, const float *dz, float *dw) {
  size_t area = AREA / c->groups, out = OUTPUTS / c->groups;
  for (size_t k = 0; k < area; k++) {
    for (size_t o = 0; o < OUTPUTS; o++) {
      float s = 0;
      for (size_t r = 0; r < rows; r++) s = fmaf(p[r * AREA + o / out * area + k], dz[r * OUTPUTS + o], s);
      dw[k * OUTPUTS + o] = s;
    }
  }
}

static void direct_patches(const t_layer *c, size_t rows, const float *w, const float *dz, float *dp) {
  size_t area = AREA / c->groups, out = OUTPUTS / c->groups;
  for (size_t r = 0; r < rows; r++) {
    for (size_t g = 0; g < c->groups; g++) {
      for (size_t k = 0; k < area; k++) {
        float s = 0;
        for (size_t o = g * out; o < (g + 1) * out; o++) s = fmaf(dz[r * OUTPUTS + o], w[k * OUTPUTS + o], s);
        dp[r * AREA + g * area + k] = s;
      }
    }
  }
}

static void direct_image(const t_layer *c, size_t rows, const float *dp, float *dx) {
  size_t in = CHANNELS / c->groups;
  memset(dx, 0, PIXELS * CHANNELS * sizeof *dx);
  for (size_t r = 0; r < rows; r++) {
    for (size_t g = 0; g < c->groups; g++) {
      for (size_t k = 0; k < KERNEL * KERNEL; k++) {
        size_t at = pixel_of(c, r, k);
        for (size_t i = 0; i < in && at != SIZE_MAX; i++) dx[at * CHANNELS + g * in + i] += dp[i];
        dp += in;
      }
    }
  }
}

static void apply(size_t rows, size_t cols, float *x, const hu_rounding *rounding) {
  assert_int_equal(hu_rounding_apply(rows, cols, x, x, rounding, NULL, NULL), HU_OK);
}

/* All of a layer with roundings of whole tensors: statistics of all groups, blocks along rows of the matrices. */
static void direct(const t_layer *c, hu_product_rounding *rounding, t_pass *z) {
  static float x[PIXELS * CHANNELS], p[ROWS * AREA], w[WEIGHTS], dz[ROWS * OUTPUTS], dp[ROWS * AREA];
  size_t rows = BATCH * windows_of(HIGH, c) * windows_of(WIDE, c), n = rows * OUTPUTS;
  memcpy(x, images, sizeof x);
  if (!rounding->by_window) apply(PIXELS, CHANNELS, x, &rounding->x);
  make_patches(c, rows, x, p);
  if (rounding->by_window) apply(rows, AREA, p, &rounding->x);
  memcpy(w, weights, sizeof w);
  apply(AREA / c->groups, OUTPUTS, w, &rounding->w);
  direct_forward(c, rows, p, w, z->z);
  apply(rows, OUTPUTS, z->z, &rounding->z_out);
  for (size_t i = 0; i < n; i++) dz[i] = (z->z[i] - targets[i]) * (1 / (float)rows);
  apply(rows, OUTPUTS, dz, &rounding->dz);
  direct_weights(c, rows, p, dz, z->dw);
  apply(AREA / c->groups, OUTPUTS, z->dw, &rounding->dw_out);
  direct_patches(c, rows, w, dz, dp);
  if (rounding->by_window) apply(rows, AREA, dp, &rounding->dx_out);
  direct_image(c, rows, dp, z->dx);
  if (!rounding->by_window) apply(PIXELS, CHANNELS, z->dx, &rounding->dx_out);
  z->rows = rows;
}

static void groups_are_loops(void **state) {
  (void)state;
  static const char *const texts[] = {"keep", "s2fp8", "fp8_tensor", "mxfp8_e4m3", "mxfp4,turned", "float8_e4m3fn"};
  static t_pass got, expected;
  draw_all();
  for
    EACH_LAYER(c) {
      for (size_t t = 0; t < 6 && strcmp(c->accum, "fp32") == 0; t++) {
        hu_product_rounding rounding = hu_product_rounding_plain();
        for (size_t i = 0; i < PLACES; i++) *place_of(&rounding, i) = rounding_of(texts[t]);
        for (rounding.by_window = 0; rounding.by_window < 2; rounding.by_window++) {
          direct(c, &rounding, &expected);
          for (uint32_t threads = 1; threads <= 2; threads++) {
            run(c, &rounding, images, 0, threads, &got);
            assert_same(c, &got, &expected);
          }
        }
      }
    }
}

/* One group is a convolution without groups: the same bits, and the same name of its weights. */
static void one_group(void **state) {
  (void)state;
  static t_pass got, expected;
  const t_layer c = {1, 1, 1, "fp32"};
  hu_product_rounding rounding = hu_product_rounding_plain();
  draw_all();
  run(&c, &rounding, images, 0, 1, &got);
  run(&c, &rounding, images, 1, 1, &expected);
  assert_same(&c, &got, &expected);
  hu_net *net = hu_net_new(1, 1);
  (void)hu_net_conv_groups(net, hu_net_image(net, 3, 3, 4), 8, 3, 1, 1, 4, 1);
  hu_net_tensor tensor = hu_net_parameter(net, hu_net_parameter_named(net, "conv1.weight"));
  assert_true(tensor.rows == 9 && tensor.cols == 8);
  assert_int_equal(hu_net_parameter(net, hu_net_parameter_named(net, "conv1.bias")).cols, 8);
  hu_net_free(net);
}

/* ---- stochastic sums ---- */

/* Each group draws words of its own: two groups with the same numbers do not have the same sums. */
static void words_of_groups(void **state) {
  (void)state;
  enum { SIDE = 16, OUT = 2 };
  float x[SIDE * SIDE * OUT];
  t_random random = {9};
  hu_net *net = hu_net_new(1, 1);
  int in = hu_net_image(net, SIDE, SIDE, OUT), z = hu_net_conv_groups(net, in, OUT, 3, 1, 1, OUT, 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  (void)hu_net_squared_error(net, z, 1);
  assert_int_equal(hu_accum_parse(&rounding.z_accum, "seq(bfloat16,sra:8)", NULL), HU_OK);
  assert_int_equal(hu_net_round_product(net, z, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (size_t i = 0; i < SIDE * SIDE; i++) x[OUT * i] = x[OUT * i + 1] = (float)t_between(&random, -99, 99) / 7;
  hu_net_tensor tensor = hu_net_parameter(net, 0), of_z = hu_net_value(net, z);
  for (size_t i = 0; i < tensor.rows; i++) tensor.numbers[OUT * i + 1] = tensor.numbers[OUT * i];
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  size_t other = 0;
  for (size_t i = 0; i < of_z.rows; i++) other += of_z.numbers[OUT * i] != of_z.numbers[OUT * i + 1];
  assert_true(other > of_z.rows / 4);
  hu_net_free(net);
}

/* ---- shuffles ---- */

static void shuffles(void **state) {
  (void)state;
  enum { COLS = 12, B = 2, N = B * COLS };
  float x[N], y[N];
  for (size_t i = 0; i < N; i++) x[i] = (float)i;
  for (size_t groups = 1; groups <= COLS; groups++) {
    if (COLS % groups) continue;
    hu_net *net = hu_net_new(B, 1);
    int in = hu_net_image(net, 1, 1, COLS), h = hu_net_tanh(net, in), z = hu_net_shuffle(net, h, groups);
    int back = hu_net_shuffle(net, z, COLS / groups);
    (void)hu_net_squared_error(net, z, 1);
    for (size_t i = 0; i < N; i++) y[i] = (float)t_below(&(t_random){i + 1}, 1000);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_feed(net, in, x), HU_OK);
    assert_int_equal(hu_net_targets(net, y), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    hu_net_tensor of_h = hu_net_value(net, h), of_z = hu_net_value(net, z);
    assert_string_equal(hu_net_value_kind(net, z), "shuffle");
    assert_memory_equal(hu_net_value(net, back).numbers, of_h.numbers, N * sizeof *x);
    for (size_t b = 0; b < B; b++) {
      for (size_t i = 0; i < COLS; i++) { /* column i of group g is column i groups + g */
        size_t each = COLS / groups, to = b * COLS + i % each * groups + i / each;
        assert_true(of_z.numbers[to] == of_h.numbers[b * COLS + i]);
        assert_true(of_z.gradients[to] == of_h.gradients[b * COLS + i] && of_z.gradients[to] != 0);
      }
    }
    hu_net_free(net);
  }
}

/* ---- ReLU6 ---- */

static void relu6(void **state) {
  (void)state;
  enum { N = 9 };
  const float x[N] = {-INFINITY, -1, -0.0f, 0x1p-149f, 3, 5.5f, 6, 7, INFINITY};
  const float expected[N] = {0, 0, 0, 0x1p-149f, 3, 5.5f, 6, 6, 6}, slope[N] = {0, 0, 0, 1, 1, 1, 0, 0, 0};
  static const struct {
    const char *text;
    float six;
  } formats[] = {{"keep", 6}, {"float8_e5m2", 6}, {"float4_e2m1fn", 6}, {"float8_e8m0fnu", 8}};
  float targets_of[N];
  for (size_t i = 0; i < N; i++) targets_of[i] = 1000;
  for (size_t f = 0; f < 4; f++) {
    hu_rounding rounding = rounding_of(formats[f].text);
    hu_net *net = hu_net_new(1, 1);
    int in = hu_net_input(net, 1, N), zero = hu_net_input(net, 1, N), h = hu_net_add(net, in, zero);
    int z = hu_net_relu6(net, h);
    (void)hu_net_absolute_error(net, z, 1);
    assert_int_equal(hu_net_round_value(net, z, &rounding, NULL), HU_OK);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_feed(net, in, x), HU_OK);
    assert_int_equal(hu_net_targets(net, targets_of), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    hu_net_tensor of_z = hu_net_value(net, z), of_h = hu_net_value(net, h);
    for (size_t i = 0; i < N; i++) {
      if (f == 0) assert_true(of_z.numbers[i] == expected[i] && !signbit(of_z.numbers[i]));
      if (expected[i] == 6) assert_true(of_z.numbers[i] == formats[f].six);
      assert_true(of_h.gradients[i] == -slope[i]);
    }
    hu_net_free(net);
  }
  hu_net *net = hu_net_new(1, 1);
  const float nan = NAN;
  int in = hu_net_input(net, 1, 1), z = hu_net_relu6(net, in);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_feed(net, in, &nan), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_true(isnan(hu_net_value(net, z).numbers[0]));
  hu_net_free(net);
}

/* ---- misuse ---- */

static void wrong_groups(void **state) {
  (void)state;
  static const struct {
    size_t outputs, groups;
    const char *names;
  } bad[] = {{6, 0, "groups"}, {6, 4, "channels"}, {9, 2, "outputs"}, {12, 12, "channels"}};
  const char *why = "";
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hu_net *net = hu_net_new(BATCH, 1);
    int x = hu_net_image(net, HIGH, WIDE, 6);
    assert_int_equal(hu_net_conv_groups(net, x, bad[i].outputs, 3, 1, 1, bad[i].groups, 0), -1);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    if (!strstr(why, bad[i].names) || !strstr(why, "groups")) fail_msg("%s: %s", bad[i].names, why);
    hu_net_free(net);
  }
  for (size_t groups = 0; groups <= 4; groups += 4) {
    hu_net *net = hu_net_new(BATCH, 1);
    assert_int_equal(hu_net_shuffle(net, hu_net_image(net, HIGH, WIDE, 6), groups), -1);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    assert_non_null(strstr(why, "shuffle: groups"));
    assert_int_equal(hu_net_shuffle(net, 0, 2), -1);
    assert_int_equal(hu_net_relu6(net, 0), -1);
    hu_net_free(net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_slices), cmocka_unit_test(groups_are_loops),
                                     cmocka_unit_test(one_group),         cmocka_unit_test(words_of_groups),
                                     cmocka_unit_test(shuffles),          cmocka_unit_test(relu6),
                                     cmocka_unit_test(wrong_groups)};
  return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
