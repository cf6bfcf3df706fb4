/* SPDX-License-Identifier: MIT */
/* Delayed scaling in a network: steps of a linear layer computed here once more, number by number, with records of its
 * own; what is refused; records of shards.
 *
 *   test_delayed FOLDER_OF_DATA */
#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/train/recipes/layer.h"
#include "tests/train/trainer/trainers.h"

#define E5M2 "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"

static hu_product_rounding hybrid(void) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  assert_int_equal(hu_rounding_parse(&rounding.x, "fp8_tensor", NULL), HU_OK);
  assert_int_equal(hu_rounding_parse(&rounding.dz, E5M2, NULL), HU_OK);
  rounding.w = rounding.w_back = rounding.x_back = rounding.x;
  rounding.dz_w = rounding.dz;
  return rounding;
}

/* ---- the same, computed here ---- */

enum { BATCH = 4, IN = 6, OUT = 3, HISTORY = 3, PASSES = 9, COUNT = HISTORY + 1 };

/* What Transformer Engine keeps of one tensor: the scale is M / (amax 2^margin), 1 before there is an amax. */
typedef struct t_record {
  float amax, of_step[PASSES];
  int steps;
} t_record;

static float largest(size_t n, const float *x) {
  float z = 0;
  for (size_t i = 0; i < n; i++) z = isfinite(x[i]) ? fmaxf(z, fabsf(x[i])) : INFINITY;
  return z;
}

/* z = cast(x s) / s, saturated. */
static void operand(size_t n, float *z, const float *x, const t_record *record, hu_format format, int margin) {
  const hu_mode rne = {0}, limit = t_policy(rne, HU_SAT_FINITE, 0, 0);
  volatile float max = hu_format_equal(format, hu_float8_e4m3fn()) ? 448 : 57344;
  volatile float s = record->amax > 0 ? max / ldexpf(record->amax, margin) : 1, back = 1 / s;
  for (size_t i = 0; i < n; i++) {
    volatile float y = x[i] * s, code = hu_quantize(format, limit, y, 0, NULL), value = code * back;
    z[i] = value;
  }
}

/* After its use the amax of the step goes in, and one comes out; of an infinity, or of zeros, the last one stays. */
static void end_step(t_record *record, float amax, int takes) {
  float f = amax;
  record->of_step[record->steps++] = amax;
  for (int i = record->steps - 1; i >= 0 && i > record->steps - 1 - HISTORY && takes == HU_AMAX_MAX; i--)
    f = fmaxf(f, record->of_step[i]);
  if (f > 0 && isfinite(f)) record->amax = f;
}

static void same_record(const hu_net *net, int value, int of, const t_record *record) {
  const float *z = hu_net_delayed_record(net, value, of);
  assert_non_null(z);
  float expected[COUNT] = {record->amax};
  for (int i = 0; i < HISTORY && i < record->steps; i++) expected[1 + i] = record->of_step[record->steps - 1 - i];
  same("record", (uint64_t)record->steps, COUNT, z, expected);
}

/* Z, dX and dW of the pass that was made, by the records as they are. */
static void check_pass(const t_layer *c, const t_record of[3], int margin, int step, const float *w) {
  const float *h = hu_net_value(c->net, c->h).numbers, *dz = hu_net_value(c->net, c->y).gradients;
  float hr[BATCH * IN], wr[IN * OUT], dzr[BATCH * OUT], z[BATCH * OUT], dx[BATCH * IN], dw[IN * OUT];
  operand(BATCH * IN, hr, h, &of[0], hu_float8_e4m3fn(), margin);
  operand(IN * OUT, wr, w, &of[1], hu_float8_e4m3fn(), margin);
  operand(BATCH * OUT, dzr, dz, &of[2], hu_float8_e5m2(), margin);
  products(c, z, dx, dw, (const float *const[6]){hr, wr, hr, dzr, dzr, wr});
  same_pass(c, (uint64_t)step, z, dx, dw);
}

/* Sizes that rise, fall, are 0 and infinite; margins; both ways to choose. Before each step something larger is
 * evaluated, which no record sees. */
static void steps_of(int takes, int margin) {
  static const float sizes[PASSES] = {1, 8, 0.5f, 0, INFINITY, 0.25f, 0.125f, 3, 0x1p-140f};
  const hu_product_rounding rounding = hybrid();
  const hu_delayed delayed = {HISTORY, (uint8_t)takes, (uint8_t)margin};
  t_layer c = layer_of(BATCH, IN, OUT, &rounding, &delayed);
  t_record of[3];
  t_random random = {t_seed("delayed", 11)};
  memset(of, 0, sizeof of);
  for (int step = 0; step < PASSES; step++) {
    float x[BATCH * IN], more[BATCH * IN], targets[BATCH * OUT], w[IN * OUT], theta[IN] = {0}, amax[3];
    for (int i = 0; i < BATCH * IN; i++) {
      x[i] = (isfinite(sizes[step]) ? sizes[step] : 2) * ((float)t_below(&random, 2001) / 1000 - 1);
      more[i] = 1000 + x[i];
    }
    if (!isfinite(sizes[step])) x[7] = INFINITY;
    for (int i = 0; i < BATCH * OUT; i++) targets[i] = sizes[step] == 0 ? 0 : (float)t_between(&random, -9, 9);
    assert_int_equal(hu_net_set_parameter(c.net, 0, theta), HU_OK); /* zeros stay zeros */
    net_forward(c.net, c.x, more, targets, 0);
    memcpy(w, hu_net_parameter(c.net, 1).numbers, sizeof w);
    net_pass(c.net, c.x, x, targets);
    check_pass(&c, of, margin, step, w);
    amax[0] = largest(BATCH * IN, x);
    amax[1] = largest(IN * OUT, w);
    amax[2] = largest(BATCH * OUT, hu_net_value(c.net, c.y).gradients);
    net_step(c.net, 1e-3, 0);
    for (int k = 0; k < 3; k++) {
      end_step(&of[k], amax[k], takes);
      same_record(c.net, c.y, k, &of[k]);
    }
  }
  assert_int_equal(hu_net_initialize(c.net, SEED), HU_OK);
  memset(of, 0, sizeof of);
  for (int k = 0; k < 3; k++) same_record(c.net, c.y, k, &of[k]);
  hu_net_free(c.net);
}

static void test_steps(void **state) {
  (void)state;
  for (int margin = 0; margin < 4; margin += 3) {
    steps_of(HU_AMAX_MAX, margin);
    steps_of(HU_AMAX_RECENT, margin);
  }
}

/* ---- refused ---- */

static void test_refused(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_image(net, 4, 4, 2), c = hu_net_conv(net, x, 3, 3, 1, 0, 0), y = hu_net_linear(net, c, 2, 1);
  hu_delayed delayed = {4, HU_AMAX_MAX, 0};
  hu_product_rounding rounding = hu_product_rounding_plain();
  assert_int_equal(hu_net_delay_product(net, x, &delayed), HU_E_SHAPE);
  assert_int_equal(hu_net_delay_product(net, y, NULL), HU_E_NULL);
  assert_int_equal(hu_net_delay_product(NULL, y, &delayed), HU_E_NULL);
  assert_int_equal(hu_net_delay_product(net, y, &delayed), HU_E_TRAIN); /* no operand has a scale */
  rounding = hybrid();
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  const hu_delayed wrong[3] = {{65537, 0, 0}, {4, 2, 0}, {4, 0, 65}};
  for (int i = 0; i < 3; i++) assert_int_equal(hu_net_delay_product(net, y, &wrong[i]), HU_E_TRAIN);
  assert_null(hu_net_delayed_record(net, y, 0));
  assert_int_equal(hu_net_delay_product(net, y, &delayed), HU_OK);
  assert_non_null(hu_net_delayed_record(net, y, 2));
  assert_null(hu_net_delayed_record(net, y, 3));
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK); /* ends it */
  assert_null(hu_net_delayed_record(net, y, 0));
  assert_int_equal(hu_rounding_parse(&rounding.w, "mxfp8_e4m3", NULL), HU_OK);
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_delay_product(net, y, &delayed), HU_E_SCALING);
  rounding = hybrid();
  rounding.hadamard = 16;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_delay_product(net, y, &delayed), HU_E_TRAIN);
  rounding.hadamard = 0;
  rounding.by_window = 1;
  assert_int_equal(hu_net_round_product(net, c, &rounding), HU_OK);
  assert_int_equal(hu_net_delay_product(net, c, &delayed), HU_E_TRAIN);
  /* An amax is of scaled tensors, and of those that take one. */
  hu_rounding how = hu_rounding_format(hu_binary16(), (hu_mode){0});
  float one = 1;
  how.amax = 1;
  assert_int_equal(hu_rounding_check(&how), HU_E_TRAIN);
  rounding.x.amax = -1;
  assert_int_equal(hu_rounding_check(&rounding.x), HU_E_TRAIN);
  assert_int_equal(hu_rounding_parse(&how, "mxfp4", NULL), HU_OK);
  how.amax = 1;
  assert_int_equal(hu_rounding_apply(1, 1, &one, &one, &how, NULL, NULL), HU_E_SCALING);
  hu_net_free(net);
}

static void not_begun(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  *why = 0;
  if (hu_trainer_begin(trainer, folder, why) == HU_OK || !strstr(why, part)) fail_msg("'%s', not '%s'", why, part);
  hu_trainer_free(trainer);
}

static void test_refused_keys(void **state) {
  (void)state;
  not_begun(PAIRS("precision.history", "4"), "precision.history: requires operands with one scale");
  not_begun(PAIRS("precision.system", "mxfp8", "precision.history", "4"), "of one level and the rule ratio");
  not_begun(PAIRS("precision.system", "fp8_delayed", "precision.hadamard", "16"), "precision.hadamard");
  not_begun(PAIRS("data.set", "gratings", "data.count", "32", "data.test", "8", "run.batch", "8", "model.net",
                  "conv(channels=4)", "precision.system", "fp8_delayed", "precision.convolution", "windows"),
            "precision.convolution");
}

/* ---- shards ---- */

/* Records are of the whole batch, however it is cut, and of all batches of a step. */
static void test_shards(void **state) {
  (void)state;
  static const char *const cut[4][3] = {
      {"1", "shard", "1"}, {"4", "shard", "1"}, {"4", "batch", "1"}, {"2", "shard", "2"}};
  float first[4][3][2];
  for (int i = 0; i < 4; i++) {
    hu_trainer *trainer =
        with(PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_delayed", "precision.history", "5",
                   "parallel.shards", cut[i][0], "parallel.statistics", cut[i][1], "run.accumulate", cut[i][2],
                   "run.batch", i == 3 ? "16" : "32", "data.raw", "yes"));
    begin(trainer);
    int y = 0;
    while (!hu_net_product_counts(hu_trainer_net(trainer), y, (hu_rounding_counts[2]){{0}, {0}})) y++;
    steps(trainer, 1);
    for (int k = 0; k < 3; k++) {
      const float *z = hu_net_delayed_record(hu_trainer_net(trainer), y, k);
      memcpy(first[i][k], z, sizeof first[i][k]);
      assert_true(z[0] > 0 && z[0] == z[1] && z[2] == 0);
    }
    assert_true(first[i][0][1] == 16); /* pixels of a batch: 0 to 16 */
    for (int k = 0; k < (i == 3 ? 2 : 3); k++) assert_memory_equal(first[i][k], first[0][k], sizeof first[i][k]);
    hu_trainer_free(trainer);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_refused_keys), cmocka_unit_test(test_shards)};
  if (argc < 2) return 2;
  folder = argv[1];
  return cmocka_run_group_tests_name("delayed scaling", tests, NULL, NULL);
}
