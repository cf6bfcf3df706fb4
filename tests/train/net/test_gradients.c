/* SPDX-License-Identifier: MIT */
/* Gradients of every operator against differences of a binary64 model of the network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/net/gradient_model.h"

/* The same network in the library. */
static int add_line(hu_net *net, const t_line *line, t_shape from, const int *made) {
  const int shares = line->what == SHARED || line->what == TIED;
  int x = made[line->x], three[3] = {x, made[shares ? 0 : line->y], x};
  const hu_net_windows windows = windows_of(line);
  const t_more *more = given(line);
  const double *by = more_of(line)->by;
  const size_t groups = line->y ? (size_t)line->y : 1;
  switch (line->what) {
    case LINEAR: return hu_net_linear(net, x, line->n, 1);
    case CONV:
      if (more) return hu_net_conv_windows(net, x, line->n, &windows, groups, 1);
      return hu_net_conv_groups(net, x, line->n, line->kernel, line->stride, line->pad, groups, 1);
    case TRANSPOSE: return hu_net_conv_transpose(net, x, line->n, &windows, more->left, groups, 1);
    case BATCH: return more ? hu_net_batch_norm_with(net, x, by[0], by[1], 1, -1) : hu_net_batch_norm(net, x);
    case LAYER: return more ? hu_net_layer_norm_with(net, x, by[0]) : hu_net_layer_norm(net, x);
    case RMS: return hu_net_rms_norm(net, x, by[0]);
    case L2: return hu_net_l2_norm(net, x, by[0]);
    case RESPONSE: return hu_net_response_norm(net, x, line->n, by[0], by[1], by[2]);
    case LEAKY: return hu_net_leaky_relu(net, x, by[0]);
    case CLIP: return hu_net_clip(net, x, by[0], by[1]);
    case SILU: return hu_net_silu(net, x, by[0]);
    case GELU_TANH: return hu_net_gelu_tanh(net, x);
    case SOFTPLUS: return hu_net_softplus(net, x);
    case SCALE: return hu_net_scale(net, x, by[0], by[0]);
    case ADD_ROW: return hu_net_add_row(net, x, made[line->y]);
    case RELU: return hu_net_relu(net, x);
    case RELU6: return hu_net_relu6(net, x);
    case GELU: return hu_net_gelu(net, x);
    case TANH: return hu_net_tanh(net, x);
    case SIGMOID: return hu_net_sigmoid(net, x);
    case ADD: return hu_net_add(net, x, made[line->y]);
    case MULTIPLY: return hu_net_multiply(net, x, made[line->y]);
    case CONCAT: return hu_net_concat(net, 3, three);
    case COLUMNS: return hu_net_columns(net, x, line->kernel, line->n);
    case SHUFFLE: return hu_net_shuffle(net, x, line->n);
    case SUM: return hu_net_sum(net, 3, three);
    case MAX_POOL:
      if (more) return hu_net_max_pool_windows(net, x, &windows, more->ceil);
      return hu_net_max_pool(net, x, line->kernel, line->stride);
    case MEAN_POOL:
      if (more) return hu_net_average_pool_windows(net, x, &windows, more->ceil, more->zeros);
      return line->kernel == from.h && line->kernel == from.w ? hu_net_global_average(net, x)
                                                              : hu_net_average_pool(net, x, line->kernel, line->stride);
    case EMBEDDING: return hu_net_embedding(net, x, line->kernel, line->n);
    case POSITION: return hu_net_position(net, x);
    case ATTENTION: return hu_net_attention(net, x, line->n, (int)line->kernel);
    case SHARED: hu_net_share(net, line->y); return hu_net_linear(net, x, line->n, 1);
    case TIED: return hu_net_linear_transposed(net, x, line->y, 1);
    case GRU: return hu_net_gru(net, x, line->n, (int)line->kernel);
    case LSTM: return hu_net_lstm(net, x, line->n, (int)line->kernel);
    case ENTROPY: return hu_net_cross_entropy(net, x, 1);
    case ABSOLUTE: return hu_net_absolute_error(net, x, 1);
    case LOGISTIC: return hu_net_logistic(net, x, 1);
    case HUBER: return hu_net_smooth_l1(net, x, 1, 0.25 * (double)line->n);
    case SMOOTHED: return hu_net_cross_entropy_smoothed(net, x, 1, 0.1 * (double)line->n, (unsigned)line->kernel);
    default: return hu_net_squared_error(net, x, 1);
  }
}

static double random_number(t_random *random) { return ((double)t_next32(random) - 0x1p31) * 0x1p-31; }

static double *random_numbers(t_random *random, size_t n) {
  double *x = calloc(n, sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n; i++) x[i] = (double)(float)random_number(random);
  return x;
}

static float *floats_of(const double *x, size_t n) {
  float *z = calloc(n, sizeof *z);
  assert_non_null(z);
  for (size_t i = 0; i < n; i++) z[i] = (float)x[i];
  return z;
}

/* The derivative of the model's loss by one of its numbers. */
static double slope(model *m, double *number) {
  double before = *number, h = 1e-5;
  *number = before + h;
  double up = model_run(m);
  *number = before - h;
  double down = model_run(m);
  *number = before;
  return (up - down) / (2 * h);
}

static void check_net(const char *name, t_shape input, const t_line *lines, size_t count) {
  t_random random = {t_seed(name, 1)};
  hu_net *net = hu_net_new(B, 1);
  assert_non_null(net);
  model m = {lines, count, {input}, {NULL}, {NULL}, NULL, NULL};
  int made[MOST + 1] = {input.w == 1 ? hu_net_input(net, input.h, input.c)
                        : input.h    ? hu_net_image(net, input.h, input.w, input.c)
                                     : hu_net_input(net, 1, input.c)};
  for (size_t i = 0; i < count; i++) {
    m.shapes[i + 1] = after(&lines[i], m.shapes[lines[i].x]);
    made[i + 1] = add_line(net, &lines[i], m.shapes[lines[i].x], made);
  }
  const char *why = "";
  if (hu_net_status(net, &why) != HU_OK) fail_msg("%s: %s", name, why);
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  for (size_t i = 0; i <= count; i++) m.value[i] = random_numbers(&random, rows_of(m.shapes[i]) * m.shapes[i].c);
  for (size_t i = 0; lines[0].what == EMBEDDING && i < rows_of(input); i++) {
    m.value[0][i] = t_below(&random, (uint32_t)lines[0].kernel);
  }
  size_t out = rows_of(m.shapes[count]) * m.shapes[count].c;
  double *targets = random_numbers(&random, out);
  uint32_t *labels = calloc(out, sizeof *labels);
  for (size_t i = 0; i < rows_of(m.shapes[count]); i++) labels[i] = t_below(&random, (uint32_t)m.shapes[count].c);
  m.targets = targets;
  m.labels = labels;
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    m.theta[p] = random_numbers(&random, tensor.rows * tensor.cols);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) tensor.numbers[k] = (float)m.theta[p][k];
  }
  float *x = floats_of(m.value[0], rows_of(input) * input.c), *expected = floats_of(targets, out), loss;
  assert_int_equal(hu_net_feed(net, made[0], x), HU_OK);
  if (lines[count - 1].what != LOGISTIC) assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_targets(net, expected), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 4), HU_OK);
  double exact = model_run(&m);
  if (!(fabs((double)loss - exact) < 1e-5 * (1 + fabs(exact))))
    fail_msg("%s: loss %g, not %g", name, (double)loss, exact);
  size_t compared = 0, some = 0;
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) {
      double s = slope(&m, &m.theta[p][k]), got = (double)tensor.gradients[k] / 4;
      if (!(fabs(got - s) < 2e-5 * (1 + fabs(s)))) {
        fail_msg("%s: parameter %d, number %zu: %g, not %g", name, p, k, got, s);
      }
      compared++;
      some += fabs(s) > 1e-3;
    }
  }
  print_message("%s: loss %.6f, %zu gradients, %zu of some size\n", name, (double)loss, compared, some);
  assert_true(some > compared / 8);
  for (size_t i = 0; i <= count; i++) free(m.value[i]);
  for (int p = 0; p < hu_net_parameters(net); p++) free(m.theta[p]);
  free(targets);
  free(labels);
  free(x);
  free(expected);
  hu_net_free(net);
}

#define CHECK(name, input, ...)                                  \
  do {                                                           \
    static const t_line lines[] = {__VA_ARGS__};                 \
    t_shape shape = input;                                       \
    check_net(name, shape, lines, sizeof lines / sizeof *lines); \
  } while (0)
#define ROWS(c) \
  { 0, 0, c }
#define IMAGE(h, w, c) \
  { h, w, c }

static void rows(void **state) {
  (void)state;
  t_shape five = ROWS(5), twenty = ROWS(20);
  CHECK("linear, error", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {ERROR, 1, 0, 0, 0, 0, 0});
  CHECK("linear, entropy", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {ENTROPY, 1, 0, 0, 0, 0, 0});
  CHECK("relu", five, {LINEAR, 0, 0, 9, 0, 0, 0}, {RELU, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ENTROPY, 3, 0, 0, 0, 0, 0});
  CHECK("gelu", five, {LINEAR, 0, 0, 9, 0, 0, 0}, {GELU, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ENTROPY, 3, 0, 0, 0, 0, 0});
  CHECK("tanh", five, {LINEAR, 0, 0, 9, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("sigmoid", five, {LINEAR, 0, 0, 9, 0, 0, 0}, {SIGMOID, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("layer norm", twenty, {LINEAR, 0, 0, 21, 0, 0, 0}, {LAYER, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("batch norm", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {BATCH, 1, 0, 0, 0, 0, 0}, {TANH, 2, 0, 0, 0, 0, 0},
        {LINEAR, 3, 0, 3, 0, 0, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("logistic", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {LOGISTIC, 1, 0, 0, 0, 0, 0});
  CHECK("smooth absolute error", five, {LINEAR, 0, 0, 9, 0, 0, 0}, {HUBER, 1, 0, 3, 0, 0, 0});
  CHECK("smooth absolute error, bound 0", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {HUBER, 1, 0, 0, 0, 0, 0});
  CHECK("smoothed", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {SMOOTHED, 1, 0, 1, 0, 0, 0});
  CHECK("smoothed, others", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {SMOOTHED, 1, 0, 3, 1, 0, 0});
  CHECK("smoothed, less its minimum", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {SMOOTHED, 1, 0, 2, 3, 0, 0});
  CHECK("two readers", five, {LINEAR, 0, 0, 6, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 6, 0, 0, 0},
        {ADD, 3, 2, 0, 0, 0, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
}

static void joins(void **state) {
  (void)state;
  t_shape five = ROWS(5), image = IMAGE(6, 5, 2), steps = {4, 1, 3};
  CHECK("absolute error", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {ABSOLUTE, 1, 0, 0, 0, 0, 0});
  CHECK("multiply", five, {LINEAR, 0, 0, 6, 0, 0, 0}, {LINEAR, 0, 0, 6, 0, 0, 0}, {MULTIPLY, 1, 2, 0, 0, 0, 0},
        {LINEAR, 3, 0, 3, 0, 0, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("square", five, {LINEAR, 0, 0, 6, 0, 0, 0}, {MULTIPLY, 1, 1, 0, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("times an input", five, {LINEAR, 0, 0, 5, 0, 0, 0}, {MULTIPLY, 0, 1, 0, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("concat", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {LINEAR, 1, 0, 3, 0, 0, 0},
        {CONCAT, 2, 3, 11, 0, 0, 0}, {LINEAR, 4, 0, 3, 0, 0, 0}, {ERROR, 5, 0, 0, 0, 0, 0});
  CHECK("concat with an input", five, {LINEAR, 0, 0, 4, 0, 0, 0}, {CONCAT, 0, 1, 14, 0, 0, 0},
        {LINEAR, 2, 0, 3, 0, 0, 0}, {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("concat of images", image, {CONV, 0, 0, 3, 3, 1, 1}, {CONV, 0, 0, 2, 1, 1, 0}, {CONCAT, 1, 2, 8, 0, 0, 0},
        {MEAN_POOL, 3, 0, 0, 2, 2, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("columns", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {COLUMNS, 1, 0, 3, 0, 0, 0}, {COLUMNS, 1, 0, 3, 4, 0, 0},
        {MULTIPLY, 2, 3, 0, 0, 0, 0}, {ADD, 4, 2, 0, 0, 0, 0}, {ERROR, 5, 0, 0, 0, 0, 0});
  CHECK("columns of an image", image, {CONV, 0, 0, 4, 3, 1, 1}, {COLUMNS, 1, 0, 2, 1, 0, 0}, {CONV, 2, 0, 2, 2, 1, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("columns of the input", five, {COLUMNS, 0, 0, 2, 3, 0, 0}, {LINEAR, 1, 0, 3, 0, 0, 0},
        {ABSOLUTE, 2, 0, 0, 0, 0, 0});
  CHECK("sum", steps, {LINEAR, 0, 0, 4, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 25, 0, 0, 0},
        {SUM, 2, 3, 0, 0, 0, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("sum with an input", steps, {LINEAR, 0, 0, 4, 0, 0, 0}, {SUM, 1, 0, 0, 0, 0, 0}, {ABSOLUTE, 2, 0, 0, 0, 0, 0});
}

/* Orders of additions and edges, bit for bit. */
static void joins_by_hand(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 1, 3), y = hu_net_linear(net, x, 3, 0), both[2] = {y, x};
  int sum = hu_net_sum(net, 2, both);
  (void)hu_net_absolute_error(net, sum, 0.5);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  float *w = hu_net_parameter(net, 0).numbers, in[6] = {0x1p24f, 1.5f, 1, 2, 1, 0x1p-30f}, targets[2] = {0, 9}, loss;
  for (int i = 0; i < 9; i++) w[i] = i % 4 == 0; /* y = x */
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  /* Each value by itself, in lanes: (2^24 + 1) + 1.5 is 2^24 + 2. As one row they would give 2^25 + 8. */
  const float *z = hu_net_value(net, sum).numbers;
  assert_true(z[0] == 0x1p25f + 4 && z[1] == 6);
  assert_true(loss == 0.25f * (0x1p25f + 8)); /* 3 of the other sample more, rounded */
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  const float *d = hu_net_value(net, sum).gradients;
  assert_true(d[0] == 0.25f && d[1] == -0.25f);
  targets[1] = 6;
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, -8), HU_OK);
  assert_true(d[0] == -2);
  assert_int_equal(t_bits32(d[1]), 0);
  in[0] = NAN;
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_true(loss != loss && d[0] != d[0] && d[1] == 0);
  hu_net_free(net);
}

/* Factors and copies whose gradients are no differences, and running statistics, bit for bit. */
static void constants_by_hand(void **state) {
  (void)state;
  hu_net *net = hu_net_new(4, 1);
  const double factors[1] = {-3};
  const float in[4] = {0, 2, 4, 6}, targets[4] = {1, 1, 1, 1}, one = 1;
  int x = hu_net_input(net, 1, 1), y = hu_net_linear(net, x, 1, 0);
  int normed = hu_net_batch_norm_with(net, x, 0.25, 0.5, 1, -1);
  int z = hu_net_add(net, hu_net_scale_columns(net, hu_net_scale(net, y, 0.5, 8), factors),
                     hu_net_scale(net, hu_net_stop_gradient(net, y), 9, 9));
  hu_net_squared_error(net, z, 4);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_set_parameter(net, 0, &one), HU_OK);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  for (int i = 0; i < 4; i++) {
    const float result = hu_net_value(net, z).numbers[i];
    assert_true(result == 7.5f * in[i]); /* (-3 0.5 + 9) x */
    assert_true(hu_net_value(net, y).gradients[i] == 8 * -3 * (result - 1));
  }
  /* Mean 3, variance 5, of which 4 / 3 run; both halfway from 0 and 1. */
  const float mean = 1.5f, variance = 0.5f * 1 + 0.5f * (5 * (4.0f / 3));
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  for (int i = 0; i < 4; i++)
    assert_true(hu_net_value(net, normed).numbers[i] == (in[i] - mean) * (1 / sqrtf(variance + 0.25f)));
  hu_net_free(net);
}

static void joins_refused(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 1, 3), image = hu_net_image(net, 1, 1, 3), rows = hu_net_input(net, 2, 3), z = 0;
    int bad[2] = {x, i == 0 ? 7 : i == 1 ? rows : image};
    if (i < 3) z = hu_net_concat(net, 2, bad);
    if (i == 3) z = hu_net_sum(net, 0, bad);
    if (i == 4) z = hu_net_sum(net, 2, NULL);
    if (i == 5) z = hu_net_multiply(net, x, rows);
    if (i == 6) z = hu_net_columns(net, x, 3, 1);
    if (i == 7) z = hu_net_columns(net, x, 1, 3);
    assert_int_equal(z, -1);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    assert_true(*why != 0);
    hu_net_free(net);
  }
  assert_int_equal(hu_net_concat(NULL, 1, NULL), -1);
}

static void images(void **state) {
  (void)state;
  t_shape image = IMAGE(6, 5, 2);
  CHECK("conv", image, {CONV, 0, 0, 3, 3, 1, 1}, {TANH, 1, 0, 0, 0, 0, 0}, {CONV, 2, 0, 2, 3, 2, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("max pool", image, {CONV, 0, 0, 3, 2, 1, 0}, {MAX_POOL, 1, 0, 0, 2, 2, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ENTROPY, 3, 0, 0, 0, 0, 0});
  CHECK("average pool", image, {CONV, 0, 0, 3, 2, 1, 0}, {MEAN_POOL, 1, 0, 0, 2, 1, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ENTROPY, 3, 0, 0, 0, 0, 0});
  t_shape six = IMAGE(5, 4, 6);
  CHECK("conv in groups", six, {CONV, 0, 2, 4, 3, 1, 1}, {TANH, 1, 0, 0, 0, 0, 0}, {CONV, 2, 2, 6, 2, 2, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("depthwise", six, {CONV, 0, 6, 6, 3, 1, 1}, {RELU6, 1, 0, 0, 0, 0, 0}, {CONV, 2, 0, 4, 1, 1, 0},
        {CONV, 3, 4, 8, 3, 2, 1}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("shuffle", six, {CONV, 0, 3, 6, 1, 1, 0}, {SHUFFLE, 1, 0, 3, 0, 0, 0}, {CONV, 2, 2, 4, 3, 1, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  t_shape square = IMAGE(5, 5, 2);
  CHECK("global average", square, {CONV, 0, 0, 4, 3, 1, 1}, {BATCH, 1, 0, 0, 0, 0, 0}, {GELU, 2, 0, 0, 0, 0, 0},
        {MEAN_POOL, 3, 0, 0, 5, 1, 0}, {LINEAR, 4, 0, 3, 0, 0, 0}, {ENTROPY, 5, 0, 0, 0, 0, 0});
}

/* Windows that are no squares, with dilation and zeros on one side alone, in groups, and the other way round. */
static void windows(void **state) {
  (void)state;
  t_shape image = IMAGE(7, 6, 4), high = IMAGE(8, 5, 3);
  CHECK("rectangles", image, {CONV, 0, 0, 5, MORE, WIDE, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {CONV, 2, 0, 3, MORE, APART, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("rectangles in groups", image, {CONV, 0, 2, 4, MORE, WIDE, 0}, {CONV, 1, 2, 6, MORE, APART, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("dilation", high, {CONV, 0, 0, 3, 1, 1, 0}, {CONV, 1, 0, 4, MORE, FAR, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("transposed", high, {CONV, 0, 0, 4, 1, 1, 0}, {TRANSPOSE, 1, 0, 3, MORE, BACK, 0}, {TANH, 2, 0, 0, 0, 0, 0},
        {CONV, 3, 0, 2, 3, 2, 1}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("transposed in groups", image, {TRANSPOSE, 0, 2, 6, MORE, BACK_APART, 0}, {CONV, 1, 3, 6, 1, 1, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("transposed, dilation", high, {CONV, 0, 0, 4, 1, 1, 0}, {TRANSPOSE, 1, 2, 2, MORE, BACK_APART, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("max pool, rounded up", image, {CONV, 0, 0, 3, 1, 1, 0}, {MAX_POOL, 1, 0, 0, MORE, UP, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("average, none behind", image, {CONV, 0, 0, 3, 1, 1, 0}, {MEAN_POOL, 1, 0, 0, MORE, BEHIND, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("max pool, one side", high, {CONV, 0, 0, 3, 2, 1, 1}, {MAX_POOL, 1, 0, 0, MORE, SAME, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("average with zeros", high, {CONV, 0, 0, 3, 1, 1, 0}, {MEAN_POOL, 1, 0, 0, MORE, ZEROS, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("average without", high, {CONV, 0, 0, 3, 1, 1, 0}, {MEAN_POOL, 1, 0, 0, MORE, NONE, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
}

/* Norms and functions with numbers of their own. */
static void more_layers(void **state) {
  (void)state;
  t_shape twenty = ROWS(20), image = IMAGE(3, 4, 7), steps = {4, 1, 3};
  CHECK("batch norm, eps", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {BATCH, 1, 0, 0, MORE, EPS, 0}, {TANH, 2, 0, 0, 0, 0, 0},
        {LINEAR, 3, 0, 3, 0, 0, 0}, {ERROR, 4, 0, 0, 0, 0, 0});
  CHECK("layer norm, eps", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {LAYER, 1, 0, 0, MORE, EPS, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("rms norm", twenty, {LINEAR, 0, 0, 19, 0, 0, 0}, {RMS, 1, 0, 0, MORE, EPS, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("l2 norm", image, {CONV, 0, 0, 5, 1, 1, 0}, {L2, 1, 0, 0, MORE, SMALL, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("response norm", image, {CONV, 0, 0, 8, 1, 1, 0}, {RESPONSE, 1, 0, 5, MORE, NEAR, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("response norm, even", image, {CONV, 0, 0, 5, 1, 1, 0}, {RESPONSE, 1, 0, 4, MORE, NEAR, 0},
        {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("leaky relu", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {LEAKY, 1, 0, 0, MORE, SLOPE, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("clip", twenty, {LINEAR, 0, 0, 12, 0, 0, 0}, {CLIP, 1, 0, 0, MORE, BOUNDS, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("silu", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {SILU, 1, 0, 0, MORE, QUICK, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("gelu by tanh", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {GELU_TANH, 1, 0, 0, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("softplus", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {SOFTPLUS, 1, 0, 0, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("scale", twenty, {LINEAR, 0, 0, 9, 0, 0, 0}, {SCALE, 1, 0, 0, MORE, HALF, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("add a row", steps, {GRU, 0, 0, 4, 1, 0, 0}, {LINEAR, 0, 0, 4, 0, 0, 0}, {ADD_ROW, 2, 1, 0, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
}

static void sequences(void **state) {
  (void)state;
  t_shape steps = {4, 1, 3}, tokens = {5, 1, 1};
  CHECK("gru", steps, {GRU, 0, 0, 4, 1, 0, 0}, {LINEAR, 1, 0, 3, 0, 0, 0}, {ENTROPY, 2, 0, 0, 0, 0, 0});
  CHECK("gru, all steps", steps, {GRU, 0, 0, 4, 0, 0, 0}, {LINEAR, 1, 0, 3, 0, 0, 0}, {ENTROPY, 2, 0, 0, 0, 0, 0});
  CHECK("lstm", steps, {LSTM, 0, 0, 4, 1, 0, 0}, {LINEAR, 1, 0, 3, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("two lstm", steps, {LSTM, 0, 0, 4, 0, 0, 0}, {LSTM, 1, 0, 3, 0, 0, 0}, {ERROR, 2, 0, 0, 0, 0, 0});
  CHECK("tokens", tokens, {EMBEDDING, 0, 0, 6, 9, 0, 0}, {POSITION, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 3, 0, 0, 0},
        {ERROR, 3, 0, 0, 0, 0, 0});
  CHECK("attention", tokens, {EMBEDDING, 0, 0, 6, 9, 0, 0}, {POSITION, 1, 0, 0, 0, 0, 0}, {LINEAR, 2, 0, 12, 0, 0, 0},
        {ATTENTION, 3, 0, 1, 0, 0, 0}, {LINEAR, 4, 0, 3, 0, 0, 0}, {ENTROPY, 5, 0, 0, 0, 0, 0});
  CHECK("causal, two heads", tokens, {EMBEDDING, 0, 0, 8, 9, 0, 0}, {LAYER, 1, 0, 0, 0, 0, 0},
        {LINEAR, 2, 0, 24, 0, 0, 0}, {ATTENTION, 3, 0, 2, 1, 0, 0}, {ADD, 4, 1, 0, 0, 0, 0}, {LINEAR, 5, 0, 3, 0, 0, 0},
        {ENTROPY, 6, 0, 0, 0, 0, 0});
}

/* One parameter in several places. */
static void shared(void **state) {
  (void)state;
  t_shape five = ROWS(5), tokens = {5, 1, 1};
  CHECK("a layer twice", five, {LINEAR, 0, 0, 5, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {SHARED, 2, 0, 5, 0, 0, 0},
        {TANH, 3, 0, 0, 0, 0, 0}, {SHARED, 4, 0, 5, 0, 0, 0}, {ERROR, 5, 0, 0, 0, 0, 0});
  CHECK("a tied table", tokens, {EMBEDDING, 0, 0, 6, 9, 0, 0}, {LINEAR, 1, 0, 6, 0, 0, 0}, {TANH, 2, 0, 0, 0, 0, 0},
        {TIED, 3, 0, 9, 0, 0, 0}, {ENTROPY, 4, 0, 0, 0, 0, 0});
  CHECK("there and back", five, {LINEAR, 0, 0, 7, 0, 0, 0}, {TANH, 1, 0, 0, 0, 0, 0}, {TIED, 2, 0, 5, 0, 0, 0},
        {SHARED, 3, 0, 7, 0, 0, 0}, {TIED, 4, 0, 5, 0, 0, 0}, {ERROR, 5, 0, 0, 0, 0, 0});
}

/* The gradient of a parameter is the sum of what its layers give, last layer first: 2^24 from the last one, then 1 and
 * 1, which would be 2^24 + 2 in the other order. */
static void shared_by_hand(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_input(net, 1, 3), part[3];
  for (int i = 0; i < 3; i++) {
    part[i] = hu_net_columns(net, x, (size_t)i, 1);
    if (i) hu_net_share(net, 0);
    part[i] = hu_net_linear(net, part[i], 1, 0);
  }
  (void)hu_net_squared_error(net, hu_net_concat(net, 3, part), 1);
  assert_int_equal(hu_net_parameters(net), 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[3] = {1, 1, 0x1p24f}, targets[3] = {-1, -1, -1};
  hu_net_parameter(net, 0).numbers[0] = 0;
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(hu_net_feed(net, x, in), HU_OK);
    assert_int_equal(hu_net_targets(net, targets), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    assert_true(hu_net_parameter(net, 0).gradients[0] == 0x1p24f);
    hu_product_rounding rounding = hu_product_rounding_plain(); /* not at the end of the pass, but one by one */
    assert_int_equal(hu_rounding_parse(&rounding.dw_out, "binary32", NULL), HU_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(hu_net_round_product(net, part[i], &rounding), HU_OK);
  }
  hu_net_free(net);
}

/* Muon leaves a table to AdamW, though a layer multiplies by it. */
static void tied_and_muon(void **state) {
  (void)state;
  uint64_t digest[2];
  for (int i = 0; i < 2; i++) {
    hu_optimizer optimizer = hu_optimizer_muon(hu_binary32());
    hu_loss_rule rule;
    assert_int_equal(hu_loss_rule_parse(&rule, "static(1)", NULL), HU_OK);
    hu_loss_scale scale = hu_loss_scale_start(&rule);
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 1, 1), h = hu_net_embedding(net, x, 3, 2);
    (void)hu_net_cross_entropy(net, hu_net_linear_transposed(net, h, 0, 0), 1);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    if (i) assert_int_equal(hu_net_muon_parameter(net, 0, 0), HU_OK);
    const float tokens[2] = {0, 2};
    const uint32_t labels[2] = {1, 2};
    assert_int_equal(hu_net_feed(net, x, tokens), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
    digest[i] = hu_net_digest(net);
    hu_net_free(net);
  }
  assert_true(digest[0] == digest[1]);
}

static void shared_refused(void **state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 1, 3), y = hu_net_linear(net, x, 3, 0), z = hu_net_linear(net, y, 3, 1);
    if (i < 4) hu_net_share(net, i == 0 ? 3 : i == 1 ? -1 : i == 2 ? 1 : 0);
    if (i == 2) z = hu_net_linear(net, z, 4, 0); /* other sizes */
    if (i == 3) z = hu_net_linear(net, z, 3, 1); /* no bias there */
    if (i == 4) z = hu_net_linear_transposed(net, z, 9, 0);
    if (i == 5) z = hu_net_linear_transposed(net, hu_net_linear(net, x, 4, 0), 0, 0);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    assert_true(*why != 0 && (i < 2 || z == -1));
    hu_net_free(net);
  }
  hu_net_share(NULL, 0);
  assert_int_equal(hu_net_linear_transposed(NULL, 0, 0, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows),           cmocka_unit_test(joins),
                                     cmocka_unit_test(joins_by_hand),  cmocka_unit_test(constants_by_hand),
                                     cmocka_unit_test(joins_refused),  cmocka_unit_test(images),
                                     cmocka_unit_test(sequences),      cmocka_unit_test(windows),
                                     cmocka_unit_test(more_layers),    cmocka_unit_test(shared),
                                     cmocka_unit_test(shared_by_hand), cmocka_unit_test(tied_and_muon),
                                     cmocka_unit_test(shared_refused)};
  return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
