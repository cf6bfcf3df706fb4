/* SPDX-License-Identifier: MIT */
/* Mixtures of experts: values, losses beside the last one and gradients against differences of a binary64 model; ties,
 * capacities and experts that nobody chooses; what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { B = 2, T = 4, ROWS = B * T, IN = 5, D = 6, EXPERTS = 4, HIDDEN = 3, PARAMETERS = 7, MOST = EXPERTS * D * D };

typedef struct t_kind {
  hu_routing how;
  double balance, z; /* weights of the losses; 0: none */
} t_kind;

/* Parameters: h = x W0 + b0, logits = h W1 + b1, experts' W2 and b2, experts' W3. */
typedef struct t_world {
  t_kind kind;
  double x[ROWS * IN], target[ROWS * D], theta[PARAMETERS][MOST];
  size_t rows[PARAMETERS], cols[PARAMETERS];
  size_t taken[EXPERTS];
} t_world;

/* ---- the model ---- */

static void linear(size_t rows, size_t in, size_t out, const double *x, const double *w, const double *b, double *z) {
  for (size_t i = 0; i < rows * out; i++) {
    z[i] = b ? b[i % out] : 0;
    for (size_t c = 0; c < in; c++) z[i] += x[i / out * in + c] * w[c * out + i % out];
  }
}

/* Returns whether expert e is among those that a row chooses. */
static int chooses(const t_world *world, const double *s, size_t e) {
  size_t before = 0;
  for (size_t j = 0; j < EXPERTS; j++) before += s[j] > s[e] || (s[j] == s[e] && j < e);
  return before < world->kind.how.chosen;
}

static double share(const t_world *world, const double *s, size_t e) {
  double all = 0, some = 0;
  for (size_t j = 0; j < EXPERTS; j++) {
    all += exp(s[j]);
    if (chooses(world, s, j)) some += exp(s[j]);
  }
  return exp(s[e]) / (world->kind.how.of_chosen || world->kind.how.normed ? some : all);
}

static double aside(const t_world *world, const double *s) {
  double sum = 0, f[EXPERTS] = {0}, mean[EXPERTS] = {0};
  for (size_t i = 0; i < ROWS; i++) {
    double all = 0;
    for (size_t j = 0; j < EXPERTS; j++) all += exp(s[i * EXPERTS + j]);
    for (size_t j = 0; j < EXPERTS; j++) mean[j] += exp(s[i * EXPERTS + j]) / all / ROWS;
    for (size_t j = 0; j < EXPERTS; j++) f[j] += (double)chooses(world, s + i * EXPERTS, j) / ROWS;
    sum += world->kind.z / ROWS * log(all) * log(all);
  }
  for (size_t j = 0; j < EXPERTS; j++) sum += world->kind.balance * EXPERTS * f[j] * mean[j];
  return sum;
}

/* Adds what an expert makes of a row, times the share. */
static void add_expert(const t_world *world, size_t e, double by, const double *h, double *z) {
  double a[HIDDEN], y[D];
  linear(1, D, HIDDEN, h, world->theta[4] + e * D * HIDDEN, world->theta[5] + e * HIDDEN, a);
  for (size_t i = 0; i < HIDDEN; i++) a[i] = tanh(a[i]);
  linear(1, HIDDEN, D, a, world->theta[6] + e * HIDDEN * D, NULL, y);
  for (size_t i = 0; i < D; i++) z[i] += by * y[i];
}

static double loss_of(t_world *world) {
  double h[ROWS * D], s[ROWS * EXPERTS], z[ROWS * D], sum = 0;
  size_t most = world->kind.how.capacity > 0
                    ? (size_t)ceil(world->kind.how.capacity * ROWS * (double)world->kind.how.chosen / EXPERTS)
                    : ROWS;
  memset(world->taken, 0, sizeof world->taken);
  linear(ROWS, IN, D, world->x, world->theta[0], world->theta[1], h);
  linear(ROWS, D, EXPERTS, h, world->theta[2], world->theta[3], s);
  memcpy(z, h, sizeof z);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t e = 0; e < EXPERTS; e++) {
      if (!chooses(world, s + i * EXPERTS, e) || world->taken[e] == most) continue;
      world->taken[e]++;
      add_expert(world, e, share(world, s + i * EXPERTS, e), h + i * D, z + i * D);
    }
  }
  for (size_t i = 0; i < ROWS * D; i++) sum += (z[i] - world->target[i]) * (z[i] - world->target[i]) / 2 / ROWS;
  return sum + aside(world, s);
}

/* ---- the same in the library ---- */

static double random_number(t_random *random) { return (double)(float)(((double)t_next32(random) - 0x1p31) * 0x1p-31); }

static hu_net *open(t_world *world, const t_kind *kind, t_random *random, int *routed) {
  const char *why = "";
  float x[ROWS * IN], target[ROWS * D];
  hu_net *net = hu_net_new(B, 1);
  world->kind = *kind;
  int in = hu_net_input(net, T, IN), h = hu_net_linear(net, in, D, 1);
  int by = *routed = hu_net_route(net, hu_net_linear(net, h, EXPERTS, 1), &kind->how);
  int a = hu_net_tanh(net, hu_net_experts(net, hu_net_to_experts(net, h, by), by, HIDDEN, 1));
  int y = hu_net_from_experts(net, hu_net_experts(net, a, by, D, 0), by);
  if (kind->balance > 0) (void)hu_net_balance_loss(net, by, kind->balance);
  if (kind->z > 0) (void)hu_net_z_loss(net, by, kind->z);
  (void)hu_net_squared_error(net, hu_net_add(net, h, y), 1);
  if (hu_net_status(net, &why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (size_t i = 0; i < ROWS * IN; i++) x[i] = (float)(world->x[i] = random_number(random));
  for (size_t i = 0; i < ROWS * D; i++) target[i] = (float)(world->target[i] = random_number(random));
  assert_int_equal(hu_net_parameters(net), PARAMETERS);
  for (int p = 0; p < PARAMETERS; p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    world->rows[p] = tensor.rows;
    world->cols[p] = tensor.cols;
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++)
      tensor.numbers[i] = (float)(world->theta[p][i] = random_number(random));
  }
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  assert_int_equal(hu_net_targets(net, target), HU_OK);
  return net;
}

static double slope(t_world *world, double *x) {
  double at = *x, h = 1e-6;
  *x = at + h;
  double up = loss_of(world);
  *x = at - h;
  double down = loss_of(world);
  *x = at;
  return (up - down) / (2 * h);
}

static void check(const char *name, t_kind kind) {
  static t_world world;
  t_random random = {t_seed(name, 5)};
  int routed;
  float loss;
  hu_net *net = open(&world, &kind, &random, &routed);
  assert_int_equal(hu_net_forward(net, 0, &loss), HU_OK);
  double exact = loss_of(&world), other;
  t_kind none = {kind.how, 0, 0};
  world.kind = none;
  other = loss_of(&world);
  world.kind = kind;
  assert_true(fabs((double)loss - other) < 1e-5 * (1 + other)); /* in evaluation the last one alone */
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 4), HU_OK);
  if (!(fabs((double)loss - exact) < 1e-5 * (1 + fabs(exact)))) fail_msg("%s: %g, not %g", name, (double)loss, exact);
  size_t some = 0, all = 0;
  for (int p = 0; p < PARAMETERS; p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++, all++) {
      double s = slope(&world, &world.theta[p][i]), got = (double)tensor.gradients[i] / 4;
      if (!(fabs(got - s) < 2e-5 * (1 + fabs(s)))) fail_msg("%s: parameter %d, %zu: %g, not %g", name, p, i, got, s);
      some += fabs(s) > 1e-3;
    }
  }
  assert_true(some > all / 4);
  hu_net_free(net);
}

static void gradients(void **state) {
  (void)state;
  check("experts, one chosen", (t_kind){{1, 0, 0, 0}, 0, 0});
  check("experts, two chosen", (t_kind){{2, 0, 0, 0}, 0, 0});
  check("experts, normed", (t_kind){{2, 0, 1, 0}, 0, 0});
  check("experts, of the chosen", (t_kind){{2, 1, 0, 0}, 0, 0});
  check("experts, all", (t_kind){{4, 0, 0, 0}, 0, 0});
  check("experts, a capacity", (t_kind){{2, 0, 1, 0.75}, 0, 0});
  check("experts, one row each", (t_kind){{3, 1, 0, 0.01}, 0, 0});
  check("experts, balance", (t_kind){{2, 0, 1, 0}, 0.5, 0});
  check("experts, balance of the chosen", (t_kind){{2, 1, 0, 1}, 0.25, 0});
  check("experts, z", (t_kind){{1, 0, 0, 0}, 0, 0.25});
  check("experts, both losses", (t_kind){{2, 0, 0, 0}, 0.5, 0.125});
}

/* ---- by hand ---- */

/* Logits of each row, of three experts, of which two are chosen: shares of softmax, and +0. */
static void ties_and_empty_experts(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  hu_routing how = hu_routing_of(2);
  how.normed = 1;
  int x = hu_net_input(net, 4, 3), s = hu_net_columns(net, x, 0, 3), by = hu_net_route(net, s, &how);
  int rows = hu_net_to_experts(net, s, by), y = hu_net_experts(net, rows, by, 1, 1);
  (void)hu_net_squared_error(net, hu_net_from_experts(net, y, by), 1);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[12] = {1, 1, 1, 0, 2, 2, -1, -1, -2, NAN, 3, 4};
  const float targets[4] = {0, 0, 0, 0};
  static const uint8_t chosen[12] = {1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1};
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  const float *w = hu_net_value(net, by).numbers, *sorted = hu_net_value(net, rows).numbers;
  for (int i = 0; i < 9; i++) assert_true(w[i] == (chosen[i] ? 0.5f : 0));
  /* Expert 0 has the rows 0, 2, 3, expert 1 rows 0, 1, 2, expert 2 rows 1 and 3. */
  static const int places[8] = {0, 2, 3, 0, 1, 2, 1, 3};
  for (int i = 0; i < 24; i++) assert_int_equal(t_bits32(sorted[i]), t_bits32(in[places[i / 3] * 3 + i % 3]));
  const float none[12] = {9, 8, 0, 9, 8, 0, 9, 8, 0, 9, 8, 0};
  assert_int_equal(hu_net_feed(net, x, none), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  hu_net_tensor weights = hu_net_parameter(net, 0), bias = hu_net_parameter(net, 1);
  assert_int_equal(weights.rows, 9);
  for (int i = 0; i < 9; i++) assert_true((weights.gradients[i] == 0) == (i % 3 == 2 || i >= 6));
  for (int i = 0; i < 3; i++) assert_true((bias.gradients[i] == 0) == (i == 2));
  hu_net_free(net);
}

/* Sums begin with the first expert: in the other order the two small terms would be one. */
static void order_of_sums(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  hu_routing how = hu_routing_of(3);
  int x = hu_net_input(net, 1, 3), s = hu_net_columns(net, x, 0, 3), by = hu_net_route(net, s, &how);
  int y = hu_net_experts(net, hu_net_to_experts(net, s, by), by, 1, 1), z = hu_net_from_experts(net, y, by);
  (void)hu_net_squared_error(net, z, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[3] = {0, 0, 0}, targets[1] = {0};
  float *b = hu_net_parameter(net, 1).numbers, third = 1 / 3.0f, sum = 0;
  b[0] = 0x1p24f;
  b[1] = b[2] = 1;
  for (int i = 0; i < 3; i++) {
    float term = third * b[i];
    sum += term;
  }
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  assert_int_equal(t_bits32(hu_net_value(net, z).numbers[0]), t_bits32(sum));
  hu_net_free(net);
}

static void refused(void **state) {
  (void)state;
  for (int i = 0; i < 10; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    hu_routing how = hu_routing_of(2);
    int x = hu_net_input(net, 3, 4), s = hu_net_linear(net, x, 4, 0), one = hu_net_input(net, 1, 4), z = 0;
    if (i == 0) how.chosen = 0;
    if (i == 1) how.chosen = 5;
    if (i == 2) s = x;
    if (i == 3) how.capacity = -1;
    if (i == 4) how.capacity = NAN;
    int by = hu_net_route(net, s, &how);
    if (i < 5) z = by;
    if (i == 5) z = hu_net_to_experts(net, s, s);
    if (i == 6) z = hu_net_to_experts(net, one, by);
    if (i == 7) z = hu_net_experts(net, s, by, 3, 0);
    if (i == 8) z = hu_net_from_experts(net, s, by);
    if (i == 9) z = hu_net_balance_loss(net, by, 0);
    assert_int_equal(z, -1);
    assert_int_equal(hu_net_status(net, &why), i == 3 || i == 4 || i == 9 ? HU_E_TRAIN : HU_E_SHAPE);
    assert_true(*why != 0);
    hu_net_free(net);
  }
  assert_int_equal(hu_net_route(NULL, 0, NULL), -1);
  assert_int_equal(hu_net_to_experts(NULL, 0, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(ties_and_empty_experts),
                                     cmocka_unit_test(order_of_sums), cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("experts", tests, NULL, NULL);
}
