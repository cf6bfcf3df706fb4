/* SPDX-License-Identifier: MIT */
/* Gradients before the optimizer: penalties that do not underflow, norms in their order, clipping, LARC, networks. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static const hu_mode rne;

static hu_gradient_tensor tensor_of(size_t n, float *g, const float *w, uint8_t kind, double lambda) {
  hu_gradient_tensor x = {n, g, w, {kind, lambda}, 0};
  return x;
}

/* One tensor, no rules but its penalty. */
static void penalised(hu_gradient_tensor x, float scale, int literal) {
  hu_gradient_rules rules = hu_gradient_rules_none();
  hu_gradient_found found = {0, 0};
  rules.literal = (uint8_t)literal;
  assert_int_equal(hu_gradient_prepare(1, &x, &rules, scale, 0, &found, NULL), HU_OK);
  assert_int_equal(found.bad, 0);
}

/* lambda 1e-5, w 1e-3: 2e-8 is nothing in binary16, whichever product comes first, and is kept in binary32. */
static void penalties_do_not_underflow(void **state) {
  (void)state;
  hu_format format = hu_binary16();
  float w = hu_quantize(format, rne, 1e-3f, 0, NULL), two = hu_quantize(format, rne, 2e-5f, 0, NULL);
  assert_true(w > 0 && two > 0);
  assert_true(hu_quantize(format, rne, two * w, 0, NULL) == 0);
  assert_true(hu_quantize(format, rne, 2 * (1e-5f * w), 0, NULL) == 0);
  float g = 0, master = 1e-3f;
  penalised(tensor_of(1, &g, &master, HU_PENALTY_L2, 1e-5), 1024, 0);
  volatile float expected = 2e-5f * 1e-3f;
  assert_true(g == expected && g > 1.9e-8f && g < 2.1e-8f);
  g = 0;
  penalised(tensor_of(1, &g, &master, HU_PENALTY_L2_HALF, 1e-5), 1024, 0);
  expected = 1e-5f * 1e-3f;
  assert_true(g == expected);
}

static void conventions(void **state) {
  (void)state;
  static const float w[5] = {3, -3, 0, -0.0f, 0x1p-140f};
  static const float expected[4][5] = {
      {8, 8, 8, 8, 8}, {8 + 1.5f, 8 - 1.5f, 8, 8, 8}, {8 + 0.75f, 8 - 0.75f, 8, 8, 8}, {8.25f, 7.75f, 8, 8, 8.25f}};
  for (unsigned kind = 0; kind < 4; kind++) {
    for (int literal = 0; literal < 2; literal++) {
      float g[5] = {128, 128, 128, 128, 128};
      penalised(tensor_of(5, g, w, (uint8_t)kind, 0.25), 16, literal);
      assert_memory_equal(g, expected[kind], sizeof g);
    }
  }
}

/* Before and after the division are the same for powers of two; else each has its own roundings. */
static void literal_order(void **state) {
  (void)state;
  enum { N = 4000 };
  static float w[N], first[N], g[2][N];
  t_random random = {t_seed("gradient", 1)};
  unsigned differ = 0;
  for (int i = 0; i < N; i++) {
    w[i] = (float)t_next32(&random) * 0x1p-32f - 0.5f;
    first[i] = ldexpf((float)t_next32(&random) - 0x1p31f, -20 - (int)t_below(&random, 20));
  }
  for (int k = 0; k < 2; k++) {
    float scale = k ? 1000 : 1024, lambda = (float)0.003;
    for (int literal = 0; literal < 2; literal++) {
      memcpy(g[literal], first, sizeof first);
      penalised(tensor_of(N, g[literal], w, HU_PENALTY_L2_HALF, 0.003), scale, literal);
    }
    for (int i = 0; i < N; i++) {
      volatile float back = 1 / scale, slope = lambda * w[i], times = slope * scale, sum = first[i] + times;
      volatile float plain = first[i] * back, expected = sum * back, other = plain + slope;
      assert_int_equal(t_bits32(g[1][i]), t_bits32(expected));
      assert_int_equal(t_bits32(g[0][i]), t_bits32(other));
      differ += g[0][i] != g[1][i];
    }
    assert_true(k ? differ > 0 : differ == 0);
  }
}

/* The sum of squares another way: number i of the partial sum k from the back of a table. */
static double squares(size_t n, const float *x, size_t lane, size_t lanes) {
  if (lanes == 16) {
    double sum = 0;
    for (size_t i = lane; i < n; i += 16) sum += (double)x[i] * (double)x[i];
    return sum;
  }
  return squares(n, x, lane, lanes * 2) + squares(n, x, lane + lanes, lanes * 2);
}

static void norms_in_their_order(void **state) {
  (void)state;
  enum { N = 1003 };
  static float x[N];
  t_random random = {t_seed("gradient norms", 2)};
  unsigned differ = 0;
  for (size_t n = 0; n < N; n += 1 + n / 5) {
    double plain = 0;
    for (size_t i = 0; i < n; i++) {
      x[i] = ldexpf((float)t_next32(&random), -(int)t_below(&random, 60));
      plain += (double)x[i] * (double)x[i];
    }
    double got = hu_gradient_squares_n(n, x);
    assert_int_equal(t_bits64(got), t_bits64(squares(n, x, 0, 1)));
    differ += got != plain;
  }
  assert_true(differ > 3);
  float whole[2] = {FLT_MAX, FLT_TRUE_MIN};
  assert_true(hu_gradient_squares_n(1, whole) == (double)FLT_MAX * (double)FLT_MAX);
  assert_true(hu_gradient_squares_n(1, whole + 1) == 0x1p-298);
}

/* |(3, 4)|, |(12)| and (84) together: 85. */
static void clipping(void **state) {
  (void)state;
  static const double clips[5] = {85, 0, 42.5, 86, 10};
  for (int k = 0; k < 5; k++) {
    for (int power = 0; power < 16; power += 5) {
      float scale = ldexpf(1, power), a[2] = {3 * scale, -4 * scale}, b[1] = {12 * scale}, c[1] = {84 * scale};
      hu_gradient_tensor x[3] = {tensor_of(2, a, NULL, 0, 0), tensor_of(1, b, NULL, 0, 0), tensor_of(1, c, NULL, 0, 0)};
      hu_gradient_rules rules = hu_gradient_rules_none();
      hu_gradient_found found = {0, 0};
      hu_gradient_norms n;
      rules.clip = clips[k];
      assert_int_equal(hu_gradient_prepare(3, x, &rules, scale, 0, &found, &n), HU_OK);
      assert_true(n.norm == 85 && n.clipped == (k == 2 || k == 4) && n.smaller == 0 && found.amax == 84 && !found.bad);
      float factor = k == 2 ? 0.5f : k == 4 ? (float)(10.0 / 85) : 1;
      volatile float expected[4] = {3 * factor, -4 * factor, 12 * factor, 84 * factor};
      assert_true(a[0] == expected[0] && a[1] == expected[1] && b[0] == expected[2] && c[0] == expected[3]);
    }
  }
}

/* The norm of (3, 4) and (12) is 13; what is not clipped neither counts nor changes. */
static void unclipped(void **state) {
  (void)state;
  float a[2] = {3, -4}, b[1] = {12}, c[1] = {84};
  hu_gradient_tensor x[3] = {tensor_of(2, a, NULL, 0, 0), tensor_of(1, c, NULL, 0, 0), tensor_of(1, b, NULL, 0, 0)};
  hu_gradient_rules rules = hu_gradient_rules_none();
  hu_gradient_found found = {0, 0};
  hu_gradient_norms n;
  rules.clip = 6.5;
  x[1].unclipped = 1;
  assert_int_equal(hu_gradient_prepare(3, x, &rules, 1, 0, &found, &n), HU_OK);
  assert_true(n.norm == 13 && n.clipped && found.amax == 84);
  assert_true(a[0] == 1.5f && a[1] == -2 && b[0] == 6 && c[0] == 84);
}

static void larc(void **state) {
  (void)state;
  static const struct {
    uint8_t mode;
    double eta, rate, least, eps;
    float factor;
  } rows[] = {{HU_LARC_CLIP, 0.5, 0.5, 1e-7, 0x1p-60, 0.5f},     {HU_LARC_CLIP, 0.5, 0.125, 1e-7, 0x1p-60, 1},
              {HU_LARC_SCALE, 0.5, 0.125, 1e-7, 0x1p-60, 0.25f}, {HU_LARC_SCALE, 8, 0.125, 1e-7, 0x1p-60, 4},
              {HU_LARC_CLIP, 0.5, 0.5, 0.75, 0x1p-60, 0.75f},    {HU_LARC_CLIP, 0.5, 0.5, 1e-7, 10, 0.25f},
              {HU_LARC_CLIP, 0, 0.5, 0x1p-20, 1, 0x1p-20f}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    float w[2] = {3, 4}, g[2] = {6, -8}, zero[2] = {0, 0}, other[1] = {1};
    hu_gradient_tensor x[2] = {tensor_of(2, g, w, 0, 0), tensor_of(1, other, zero, 0, 0)};
    hu_gradient_rules rules = hu_gradient_rules_none();
    hu_gradient_found found = {0, 0};
    hu_gradient_norms n;
    rules.larc = rows[i].mode;
    rules.larc_eta = rows[i].eta;
    rules.larc_least = rows[i].least;
    rules.larc_eps = rows[i].eps;
    assert_int_equal(hu_gradient_prepare(2, x, &rules, 1, rows[i].rate, &found, &n), HU_OK);
    assert_true(g[0] == 6 * rows[i].factor && g[1] == -8 * rows[i].factor);
    assert_true(other[0] == (float)rows[i].least); /* weights of 0 */
    assert_int_equal(n.smaller, 1 + (rows[i].factor < 1));
  }
}

/* Clipping comes before LARC, which sees the clipped gradients. */
static void order(void **state) {
  (void)state;
  float w[2] = {3, 4}, g[2] = {96, -128};
  hu_gradient_tensor x = tensor_of(2, g, w, HU_PENALTY_L2, 0.5);
  hu_gradient_rules rules = hu_gradient_rules_none();
  hu_gradient_found found = {0, 0};
  hu_gradient_norms n;
  rules.clip = 1;
  rules.larc = HU_LARC_SCALE;
  rules.larc_eta = 1;
  rules.larc_eps = 0x1p-60;
  /* 96/32 + 3 = 6, -128/32 + 4 = 0; norm 6, clipped to (1, 0); times 5. */
  assert_int_equal(hu_gradient_prepare(1, &x, &rules, 32, 0.1, &found, &n), HU_OK);
  assert_true(n.norm == 6 && n.clipped && found.amax == 4);
  assert_true(g[0] == 5 * (6 * (float)(1.0 / 6)) && g[1] == 0);
}

static void nothing_of_bad_ones(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    float w[2] = {3, FLT_MAX}, g[2] = {64, k == 0 ? INFINITY : k == 1 ? NAN : FLT_MAX}, more[1] = {128};
    hu_gradient_tensor x[2] = {tensor_of(2, g, w, HU_PENALTY_L2_HALF, 1), tensor_of(1, more, w, 0, 0)};
    hu_gradient_rules rules = hu_gradient_rules_none();
    hu_gradient_found found = {0, 0};
    hu_gradient_norms n;
    rules.clip = 0.5;
    assert_int_equal(hu_gradient_prepare(2, x, &rules, k < 2 ? 32 : 1, 0.1, &found, &n), HU_OK);
    assert_true(found.bad == 1 && n.norm == 0 && !n.clipped && more[0] == (k < 2 ? 4 : 128));
    assert_true(k < 2 ? g[0] == 2 : g[0] == 67 && g[1] == INFINITY);
  }
}

/* Four parts of a batch: the mean of their gradients, added up in order in binary32. */
static void parts(void **state) {
  (void)state;
  float sum[3] = {0, 0, 0};
  static const float g[4][3] = {{1, 4, 0x1p-24f}, {2, 4, 1}, {3, -4, 0x1p-24f}, {4, 0, 0x1.8p-22f}};
  for (int i = 0; i < 4; i++) hu_gradient_gather_n(3, sum, g[i], 4);
  assert_true(sum[0] == 2.5f && sum[1] == 1 && sum[2] == 0.25f + 0x1.8p-24f);
}

/* ---- a network ---- */

enum { BATCH = 8, IN = 6, OUT = 3 };

static hu_net *build(uint32_t threads, int *x, int *y) {
  hu_net *net = hu_net_new(BATCH, threads);
  *x = hu_net_input(net, 1, IN);
  *y = hu_net_linear(net, hu_net_relu(net, hu_net_linear(net, *x, 16, 1)), OUT, 1);
  (void)hu_net_squared_error(net, *y, 1);
  assert_int_equal(hu_net_initialize(net, 7), HU_OK);
  return net;
}

static void pass(hu_net *net, int x, float scale, uint64_t seed) {
  t_random random = {seed};
  float in[BATCH * IN], targets[BATCH * OUT];
  for (int i = 0; i < BATCH * IN; i++) in[i] = (float)t_below(&random, 100) * 0.02f - 1;
  for (int i = 0; i < BATCH * OUT; i++) targets[i] = (float)t_below(&random, 100) * 0.1f;
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, scale), HU_OK);
}

static uint64_t trained(uint32_t threads, float start, double clip, double lambda, uint8_t with_larc) {
  int x, y, taken;
  hu_net *net = build(threads, &x, &y);
  hu_penalty penalties[4] = {{HU_PENALTY_L2, lambda}, {0, 0}, {HU_PENALTY_L1, lambda}, {0, 0}};
  hu_net_gradient_rules with = {hu_gradient_rules_none(), penalties, {0, 0, 0}, {0, 0}};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "gradscaler(growth_interval=3)", NULL), HU_OK);
  rule.start = start;
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  with.rules.clip = clip;
  with.rules.larc = with_larc;
  with.rules.larc_eta = 0.01;
  for (uint64_t t = 0; t < 8; t++) {
    pass(net, x, scale.scale, t);
    assert_int_equal(hu_net_update_with(net, &optimizer, &rule, &scale, &with, NULL, &taken), HU_OK);
    assert_true(taken && with.norms.norm > 0);
  }
  uint64_t d = hu_net_digest(net);
  hu_net_free(net);
  return d;
}

static void networks(void **state) {
  (void)state;
  uint64_t plain = trained(1, 1, 0, 0, 0), all = trained(1, 1, 0.5, 0.01, HU_LARC_CLIP);
  assert_true(all == UINT64_C(0x952C1C573CF7103A)); /* with every compiler */
  /* Each rule does something, none depends on threads or on a power of two as scale. */
  assert_true(plain != trained(1, 1, 0.5, 0, 0) && plain != trained(1, 1, 0, 0.01, 0));
  assert_true(plain != trained(1, 1, 0, 0, HU_LARC_CLIP) && plain != all);
  assert_true(plain == trained(1, 1, 1e9, 0, 0));
  assert_true(all == trained(3, 1, 0.5, 0.01, HU_LARC_CLIP) && all == trained(1, 0x1p20f, 0.5, 0.01, HU_LARC_CLIP));
}

/* hu_net_update_with is hu_gradient_prepare and hu_optimizer_step; with NULL it is hu_net_update. */
static void by_parts(void **state) {
  (void)state;
  int x, y;
  hu_net *net = build(1, &x, &y);
  float w[4][IN * 16], g[4][IN * 16];
  hu_gradient_tensor tensors[4];
  hu_penalty penalties[4] = {{HU_PENALTY_L2, 0.01}, {0, 0}, {HU_PENALTY_L2_HALF, 0.03}, {HU_PENALTY_L1, 0.001}};
  hu_net_gradient_rules with = {hu_gradient_rules_none(), penalties, {0, 0, 0}, {0, 0}};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  hu_gradient_found found = {0, 0};
  hu_optimizer_time now = {1, 1, 1};
  const hu_stream none = {0, 0};
  assert_int_equal(hu_loss_rule_parse(&rule, "static(1000)", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  optimizer.momentum = 0;
  with.rules.clip = 0.25;
  pass(net, x, scale.scale, 1);
  for (int i = 0; i < 4; i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    memcpy(w[i], tensor.numbers, tensor.rows * tensor.cols * sizeof(float));
    memcpy(g[i], tensor.gradients, tensor.rows * tensor.cols * sizeof(float));
    tensors[i] = tensor_of(tensor.rows * tensor.cols, g[i], w[i], penalties[i].kind, penalties[i].lambda);
  }
  assert_int_equal(hu_net_update_with(net, &optimizer, &rule, &scale, &with, NULL, NULL), HU_OK);
  assert_true(with.norms.clipped);
  assert_int_equal(hu_gradient_prepare(4, tensors, &with.rules, 1000, optimizer.rate, &found, NULL), HU_OK);
  for (int i = 0; i < 4; i++) {
    hu_optimizer_arrays a = {w[i], g[i], NULL, NULL, NULL};
    assert_int_equal(hu_optimizer_step(tensors[i].n, &a, &optimizer, &now, none, NULL), HU_OK);
    assert_memory_equal(hu_net_parameter(net, i).numbers, w[i], tensors[i].n * sizeof(float));
  }
  with.rules.larc = 9;
  pass(net, x, scale.scale, 1);
  uint64_t before = hu_net_digest(net);
  assert_int_equal(hu_net_update_with(net, &optimizer, &rule, &scale, &with, NULL, NULL), HU_E_TRAIN);
  assert_true(hu_net_digest(net) == before);
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL),
                   HU_OK); /* the gradients are still there */
  hu_net_free(net);
}

/* A master weight of 70000 is 65504 in the binary16 copy that the products see, and stays what it is. */
static void saturating_store(void **state) {
  (void)state;
  for (int saturate = 0; saturate < 2; saturate++) {
    hu_rounding rounding;
    assert_int_equal(hu_rounding_parse(&rounding, saturate ? "binary16,sat=finite" : "binary16", NULL), HU_OK);
    hu_net *net = hu_net_new(1, 1);
    int x = hu_net_input(net, 1, 1), y = hu_net_linear(net, x, 1, 0), taken = 0;
    (void)hu_net_squared_error(net, y, 1);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_round_parameter(net, 0, &rounding, NULL), HU_OK);
    float one = 1, target = 65504, *w = hu_net_parameter(net, 0).numbers;
    *w = 70000;
    assert_int_equal(hu_net_feed(net, x, &one), HU_OK);
    assert_int_equal(hu_net_targets(net, &target), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_true(hu_net_value(net, y).numbers[0] == (saturate ? 65504 : INFINITY));
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
    hu_loss_rule rule;
    assert_int_equal(hu_loss_rule_parse(&rule, "backoff", NULL), HU_OK);
    hu_loss_scale scale = hu_loss_scale_start(&rule);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
    assert_true(*w == 70000 && taken == saturate);
    hu_net_free(net);
  }
}

static void misuse(void **state) {
  (void)state;
  float g[1] = {1}, w[1] = {2};
  hu_gradient_tensor x = tensor_of(1, g, w, HU_PENALTY_L2, 0.1);
  hu_gradient_rules good = hu_gradient_rules_none(), rules = good;
  hu_gradient_found found = {0, 0};
  const char *why = "";
  assert_int_equal(hu_gradient_prepare(1, &x, &good, 1, 0, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_gradient_prepare(1, NULL, &good, 1, 0, &found, NULL), HU_E_NULL);
  assert_int_equal(hu_gradient_prepare(1, &x, &good, 0, 0, &found, NULL), HU_E_TRAIN);
  assert_int_equal(hu_gradient_prepare(1, &x, &good, INFINITY, 0, &found, NULL), HU_E_TRAIN);
  x.w = NULL;
  assert_int_equal(hu_gradient_prepare(1, &x, &good, 1, 0, &found, NULL), HU_E_NULL);
  x.w = w;
  x.penalty.lambda = FLT_MAX;
  assert_int_equal(hu_gradient_prepare(1, &x, &good, 1, 0, &found, NULL), HU_E_TRAIN);
  x.penalty.lambda = 0.1;
  x.penalty.kind = 4;
  assert_int_equal(hu_gradient_prepare(1, &x, &good, 1, 0, &found, NULL), HU_E_TRAIN);
  x.penalty.kind = 0;
  rules.larc = HU_LARC_CLIP;
  assert_int_equal(hu_gradient_prepare(1, &x, &rules, 1, 0, &found, NULL), HU_E_TRAIN); /* no rate */
  x.w = NULL;
  assert_int_equal(hu_gradient_prepare(1, &x, &rules, 1, 1, &found, NULL), HU_E_NULL);
  rules.larc_eps = 0;
  assert_int_equal(hu_gradient_rules_check(&rules, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "larc_eps"));
  rules = good;
  rules.clip = -1;
  assert_int_equal(hu_gradient_rules_check(&rules, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "clip"));
  rules.clip = NAN;
  assert_int_equal(hu_gradient_rules_check(&rules, NULL), HU_E_TRAIN);
  assert_true(g[0] == 1 && found.amax == 0 && !found.bad);
  assert_int_equal(hu_gradient_prepare(1, &x, NULL, 2, 0, &found, NULL), HU_OK);
  assert_true(g[0] == 0.5f && found.amax == 0.5f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(penalties_do_not_underflow),
                                     cmocka_unit_test(conventions),
                                     cmocka_unit_test(literal_order),
                                     cmocka_unit_test(norms_in_their_order),
                                     cmocka_unit_test(clipping),
                                     cmocka_unit_test(unclipped),
                                     cmocka_unit_test(larc),
                                     cmocka_unit_test(order),
                                     cmocka_unit_test(parts),
                                     cmocka_unit_test(nothing_of_bad_ones),
                                     cmocka_unit_test(networks),
                                     cmocka_unit_test(by_parts),
                                     cmocka_unit_test(saturating_store),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("gradient", tests, NULL, NULL);
}
