/* SPDX-License-Identifier: MIT */
/* Attention with lengths and across sequences, products of pairs of rows, losses of rows of which some have no label:
 * values and gradients against differences of a binary64 model; what padding must not change, bit for bit; shapes that
 * are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { B = 3, TQ = 4, TK = 6, C = 5, HEADS = 2, HEAD = 3, D = HEADS * HEAD, PARAMETERS = 8, ROOM = 4096 };

/* What is computed from inputs q (TQ x C a sample), k (TK x C) and lengths, by which parameters. */
typedef enum { SELF, CAUSAL, ACROSS, PAIRS, LABELS } kind;

typedef struct t_world {
  kind what;
  double q[B * TQ * C], k[B * TK * C], target[ROOM];
  float length[B];
  uint32_t label[B * TK];
  double *theta[PARAMETERS];
  size_t rows[PARAMETERS], cols[PARAMETERS];
} t_world;

/* ---- the model ---- */

/* x W + b by parameters p and p + 1. */
static void linear(const t_world *world, int p, size_t rows, const double *x, double *z) {
  size_t in = world->rows[p], out = world->cols[p];
  for (size_t i = 0; i < rows * out; i++) {
    z[i] = world->theta[p + 1][i % out];
    for (size_t c = 0; c < in; c++) z[i] += x[i / out * in + c] * world->theta[p][c * out + i % out];
  }
}

/* How many steps of a sample are seen. */
static size_t seen(const t_world *world, size_t sample) {
  double n = (double)world->length[sample];
  return n < TK ? (size_t)(n > 0 ? n : 0) : TK;
}

/* One row of one head: shares of the keys k0 + j ldk by the query, then the sum of values. */
static void attend(size_t n, const double *query, const double *key, const double *value, size_t ld, double *z) {
  double e[TK], sum = 0;
  for (size_t j = 0; j < n; j++) {
    double score = 0;
    for (size_t c = 0; c < HEAD; c++) score += query[c] * key[j * ld + c];
    sum += e[j] = exp(score / sqrt(HEAD));
  }
  for (size_t c = 0; c < HEAD; c++) {
    z[c] = 0;
    for (size_t j = 0; j < n; j++) z[c] += e[j] / sum * value[j * ld + c];
  }
}

static void attention(const t_world *world, size_t steps, const double *q, size_t ldq, const double *kv, size_t ldk,
                      size_t keys, double *z) {
  for (size_t i = 0; i < B * steps; i++) {
    size_t sample = i / steps, n = seen(world, sample);
    const double *first = kv + sample * TK * ldk + keys;
    if (world->what == CAUSAL && n > i % steps + 1) n = i % steps + 1;
    for (size_t h = 0; h < D; h += HEAD) attend(n, q + i * ldq + h, first + h, first + D + h, ldk, z + i * D + h);
  }
}

static double half_squares(const t_world *world, size_t n, size_t rows, const double *z) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (z[i] - world->target[i]) * (z[i] - world->target[i]) / 2;
  return sum / (double)rows;
}

/* Rows of k and the first row of q, as many columns; all pairs. */
static double pairs_loss(const t_world *world) {
  double top[B * D], rows[B * TK * D], z[B * (TK + 1) * TK / 2];
  size_t at = 0;
  double first[B * C];
  for (size_t i = 0; i < B; i++) memcpy(first + i * C, world->q + i * TQ * C, C * sizeof *first);
  linear(world, 0, B, first, top);
  linear(world, 2, B * TK, world->k, rows);
  for (size_t s = 0; s < B; s++) {
    for (size_t i = 1; i <= TK; i++) {
      for (size_t j = 0; j < i; j++, at++) {
        const double *a = rows + (s * TK + i - 1) * D, *b = j ? rows + (s * TK + j - 1) * D : top + s * D;
        z[at] = 0;
        for (size_t c = 0; c < D; c++) z[at] += a[c] * b[c];
      }
    }
  }
  return half_squares(world, at, B, z);
}

static double labels_loss(const t_world *world) {
  double z[B * TK * D], sum = 0, counted = 0;
  linear(world, 0, B * TK, world->k, z);
  for (size_t i = 0; i < B * TK; i++) {
    double all = 0;
    if (world->label[i] == HU_LABEL_NONE) continue;
    for (size_t j = 0; j < D; j++) all += exp(z[i * D + j]);
    sum += log(all) - z[i * D + world->label[i]];
    counted++;
  }
  return sum / counted;
}

static double loss_of(const t_world *world) {
  double q[B * TK * 3 * D], kv[B * TK * 3 * D], z[B * TK * D], *own = kv;
  if (world->what == PAIRS) return pairs_loss(world);
  if (world->what == LABELS) return labels_loss(world);
  size_t steps = world->what == ACROSS ? TQ : TK;
  if (world->what == ACROSS) {
    linear(world, 0, B * TQ, world->q, q);
    linear(world, 2, B * TK, world->k, kv);
    attention(world, steps, q, D, kv, 2 * D, 0, z);
  } else {
    linear(world, 0, B * TK, world->k, own);
    attention(world, steps, own, 3 * D, own, 3 * D, D, z);
  }
  return half_squares(world, B * steps * D, B * steps, z);
}

/* ---- the same in the library ---- */

typedef struct t_ends {
  int q, k, length, out;
} t_ends;

static int build(hu_net *net, kind what, t_ends *ends) {
  ends->q = hu_net_input(net, what == PAIRS ? 1 : TQ, C);
  ends->k = hu_net_input(net, TK, C);
  ends->length = hu_net_input(net, 1, 1);
  if (what == SELF || what == CAUSAL)
    return hu_net_attention_masked(net, hu_net_linear(net, ends->k, 3 * D, 1), HEADS, what == CAUSAL, ends->length);
  if (what == LABELS) return hu_net_linear(net, ends->k, D, 1);
  int both[2] = {hu_net_linear(net, ends->q, D, 1), -1};
  both[1] = hu_net_linear(net, ends->k, what == PAIRS ? D : 2 * D, 1);
  if (what == PAIRS) return hu_net_interactions(net, hu_net_stack_rows(net, 2, both));
  return hu_net_attention_across(net, both[0], both[1], HEADS, ends->length);
}

static void feed(hu_net *net, const t_world *world, const t_ends *ends) {
  float q[B * TQ * C], k[B * TK * C], target[ROOM];
  size_t nq = world->what == PAIRS ? 1 : TQ;
  for (size_t i = 0; i < B * nq * C; i++) q[i] = (float)world->q[i / (nq * C) * TQ * C + i % (nq * C)];
  for (size_t i = 0; i < B * TK * C; i++) k[i] = (float)world->k[i];
  for (size_t i = 0; i < ROOM; i++) target[i] = (float)world->target[i];
  assert_int_equal(hu_net_feed(net, ends->q, q), HU_OK);
  assert_int_equal(hu_net_feed(net, ends->k, k), HU_OK);
  assert_int_equal(hu_net_feed(net, ends->length, world->length), HU_OK);
  assert_int_equal(world->what == LABELS ? hu_net_labels(net, world->label) : hu_net_targets(net, target), HU_OK);
}

static double random_number(t_random *random) { return (double)(float)(((double)t_next32(random) - 0x1p31) * 0x1p-31); }

static hu_net *open(t_world *world, kind what, t_ends *ends, t_random *random) {
  const char *why = "";
  hu_net *net = hu_net_new(B, 1);
  world->what = what;
  ends->out = build(net, what, ends);
  (void)(what == LABELS ? hu_net_cross_entropy(net, ends->out, 1) : hu_net_squared_error(net, ends->out, 1));
  if (hu_net_status(net, &why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (size_t i = 0; i < sizeof world->q / sizeof *world->q; i++) world->q[i] = random_number(random);
  for (size_t i = 0; i < sizeof world->k / sizeof *world->k; i++) world->k[i] = random_number(random);
  for (size_t i = 0; i < ROOM; i++) world->target[i] = random_number(random);
  for (size_t i = 0; i < B * TK; i++) world->label[i] = i % 3 == 1 ? HU_LABEL_NONE : t_below(random, D);
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    world->rows[p] = tensor.rows;
    world->cols[p] = tensor.cols;
    world->theta[p] = calloc(tensor.rows * tensor.cols, sizeof(double));
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++)
      tensor.numbers[i] = (float)(world->theta[p][i] = random_number(random));
  }
  return net;
}

static void close(hu_net *net, t_world *world) {
  for (int p = 0; p < hu_net_parameters(net); p++) free(world->theta[p]);
  hu_net_free(net);
}

static double slope(t_world *world, double *x) {
  double at = *x, h = 1e-5;
  *x = at + h;
  double up = loss_of(world);
  *x = at - h;
  double down = loss_of(world);
  *x = at;
  return (up - down) / (2 * h);
}

static void check(kind what, float l0, float l1, float l2) {
  t_world *world = calloc(1, sizeof *world);
  t_random random = {t_seed("train-attention", 3 + (uint64_t)what)};
  t_ends ends;
  float loss;
  assert_non_null(world);
  hu_net *net = open(world, what, &ends, &random);
  world->length[0] = l0;
  world->length[1] = l1;
  world->length[2] = l2;
  feed(net, world, &ends);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 2), HU_OK);
  double exact = loss_of(world);
  if (!(fabs((double)loss - exact) < 1e-5 * (1 + fabs(exact)))) fail_msg("%d: %g, not %g", what, (double)loss, exact);
  size_t some = 0, all = 0;
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++, all++) {
      double s = slope(world, &world->theta[p][i]), got = (double)tensor.gradients[i] / 2;
      if (!(fabs(got - s) < 2e-5 * (1 + fabs(s)))) fail_msg("%d: parameter %d, %zu: %g, not %g", what, p, i, got, s);
      some += fabs(s) > 1e-3;
    }
  }
  assert_true(all > 0 && some > all / 3);
  close(net, world);
  free(world);
}

static void gradients(void **state) {
  (void)state;
  check(SELF, 6, 2, 4);
  check(SELF, 1, 3, 5);
  check(CAUSAL, 6, 3, 1);
  check(ACROSS, 6, 2, 4);
  check(ACROSS, 99, 1, 3.5f); /* above the steps: all of them; what is behind the point does not count */
  check(PAIRS, 6, 6, 6);
  check(LABELS, 6, 6, 6);
}

/* ---- padding ---- */

/* Numbers behind the lengths change nothing that is read, not one bit, whatever they are. */
static void padding_is_not_seen(void **state) {
  (void)state;
  static t_world world;
  t_random random = {5};
  t_ends ends;
  hu_net *net = open(&world, ACROSS, &ends, &random);
  float before[B * TQ * D], gradient[D * 2 * C];
  world.length[0] = 6;
  world.length[1] = 2;
  world.length[2] = 4;
  for (int turn = 0; turn < 3; turn++) {
    for (size_t i = 0; turn && i < B * TK * C; i++) {
      if (i / C % TK >= seen(&world, i / (TK * C))) world.k[i] = turn == 1 ? 1e6 : -3 + (double)i;
    }
    feed(net, &world, &ends);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    hu_net_tensor z = hu_net_value(net, ends.out), q = hu_net_parameter(net, 0);
    if (turn == 0) memcpy(before, z.numbers, sizeof before);
    if (turn == 0) memcpy(gradient, q.gradients, q.rows * q.cols * sizeof *gradient);
    assert_memory_equal(before, z.numbers, sizeof before);
    assert_memory_equal(gradient, q.gradients, q.rows * q.cols * sizeof *gradient);
  }
  close(net, &world);
}

/* No step is seen: all shares are +0, and so is what is read; NaN and infinity mean all steps. */
static void odd_lengths(void **state) {
  (void)state;
  static t_world world;
  t_random random = {6};
  t_ends ends;
  float all[B * TQ * D];
  hu_net *net = open(&world, ACROSS, &ends, &random);
  const float lengths[][B] = {{TK, TK, TK}, {NAN, INFINITY, 1e30f}, {0, -1, 0.99f}};
  for (int turn = 0; turn < 3; turn++) {
    memcpy(world.length, lengths[turn], sizeof world.length);
    feed(net, &world, &ends);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    const float *z = hu_net_value(net, ends.out).numbers;
    if (turn == 0) memcpy(all, z, sizeof all);
    if (turn == 1) assert_memory_equal(all, z, sizeof all);
    for (size_t i = 0; turn == 2 && i < B * TQ * D; i++) assert_int_equal(t_bits32(z[i]), 0);
  }
  close(net, &world);
}

/* ---- labels ---- */

static void some_labels(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 2, 3), z = hu_net_linear(net, x, 3, 0);
  hu_net_cross_entropy(net, z, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[12] = {1, 0, 0, NAN, NAN, NAN, 0, 1, 0, 0, 0, 1};
  const uint32_t none[4] = {HU_LABEL_NONE, HU_LABEL_NONE, HU_LABEL_NONE, HU_LABEL_NONE};
  uint32_t labels[4] = {0, HU_LABEL_NONE, 2, HU_LABEL_NONE};
  float loss, *w = hu_net_parameter(net, 0).numbers;
  for (int i = 0; i < 9; i++) w[i] = 0;
  assert_int_equal(hu_net_labels(net, none), HU_E_SHAPE); /* nothing to be compared with */
  labels[1] = 3;
  assert_int_equal(hu_net_labels(net, labels), HU_E_SHAPE); /* no column */
  labels[1] = HU_LABEL_NONE;
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_true(fabsf(loss - logf(3)) < 1e-6f); /* not half of it, and the NaN of a row without a label is not there */
  const float *d = hu_net_value(net, z).gradients;
  for (int i = 0; i < 12; i++) {
    float third = 1 / 3.0f, expected = i / 3 == 0 ? (third - (i == 0)) / 2 : i / 3 == 2 ? (third - (i == 8)) / 2 : 0;
    assert_int_equal(t_bits32(d[i]), t_bits32(expected));
  }
  hu_net_free(net);
}

/* ---- what is refused ---- */

static void refused(void **state) {
  (void)state;
  for (int i = 0; i < 11; i++) {
    const char *why = "";
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 3, 4), one = hu_net_input(net, 1, 1), q = hu_net_linear(net, x, 4, 0);
    int kv = hu_net_linear(net, x, 8, 0), row = hu_net_linear(net, hu_net_input(net, 1, 4), 4, 0), z = 0, both[2];
    both[0] = q;
    both[1] = kv;
    if (i == 0) z = hu_net_attention_across(net, q, q, 2, -1);
    if (i == 1) z = hu_net_attention_across(net, q, kv, 3, -1);
    if (i == 2) z = hu_net_attention_across(net, x, kv, 2, -1);
    if (i == 3) z = hu_net_attention_across(net, q, kv, 2, q);
    if (i == 4) z = hu_net_attention_across(net, q, kv, 2, x);
    if (i == 5) z = hu_net_attention_across(net, q, kv, 2, 99);
    if (i == 6) z = hu_net_attention_masked(net, hu_net_linear(net, x, 12, 0), 0, 0, one);
    if (i == 7) z = hu_net_stack_rows(net, 2, both);
    if (i == 8) z = hu_net_stack_rows(net, 0, both);
    if (i == 9) z = hu_net_interactions(net, x);
    if (i == 10) z = hu_net_interactions(net, row);
    assert_int_equal(z, -1);
    assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
    assert_true(*why != 0);
    hu_net_free(net);
  }
  assert_int_equal(hu_net_attention_across(NULL, 0, 1, 1, -1), -1);
  assert_int_equal(hu_net_interactions(NULL, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(padding_is_not_seen),
                                     cmocka_unit_test(odd_lengths), cmocka_unit_test(some_labels),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
