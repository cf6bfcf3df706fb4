/* SPDX-License-Identifier: MIT */
/* The models of a net's sums: stochastic ones take words of the seed, the operator and the step; what stands around
 * fp32 (promote, splitk, takes) counts, at every level of instructions. */
#include <string.h>

#include "halfulp/train.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"
#include "train/engine/cpu.h"

/* ---- random words ---- */

enum { BATCH = 16, IN = 32, OUT = 8, RESULTS = BATCH * OUT, STEPS = 3 };

/* What two layers with the same weights and inputs give in each of three steps. */
typedef struct t_outcome {
  float z[STEPS][2][RESULTS];
} t_outcome;

static hu_net *two_layers(int *z, const hu_accum *accum, uint64_t seed) {
  static float w[IN * OUT];
  hu_net *net = hu_net_new(BATCH, 1);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.z_accum = *accum;
  int in = hu_net_input(net, 1, IN);
  for (int i = 0; i < 2; i++) {
    z[i] = hu_net_linear(net, in, OUT, 0);
    assert_int_equal(hu_net_round_product(net, z[i], &rounding), HU_OK);
  }
  assert_true(hu_net_squared_error(net, hu_net_add(net, z[0], z[1]), 1) >= 0);
  assert_int_equal(hu_net_initialize(net, seed), HU_OK);
  for (int i = 0; i < IN * OUT; i++) w[i] = 0.3f + (float)i * 0x1p-10f;
  for (int p = 0; p < hu_net_parameters(net); p++) assert_int_equal(hu_net_set_parameter(net, p, w), HU_OK);
  return net;
}

static void run(t_outcome *outcome, const char *model, uint64_t seed) {
  static float x[BATCH * IN], y[RESULTS];
  hu_accum accum;
  hu_optimizer rate_zero = hu_optimizer_sgd(hu_format_ieee(8, 23, 0));
  hu_loss_rule rule;
  hu_update_counts counts = {0, 0};
  int z[2], taken;
  float loss;
  rate_zero.rate = 0;
  rate_zero.momentum = 0;
  assert_int_equal(hu_accum_parse(&accum, model, NULL), HU_OK);
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int i = 0; i < BATCH * IN; i++) x[i] = 0.1f + (float)(i % IN) * 0.01f;
  hu_net *net = two_layers(z, &accum, seed);
  assert_int_equal(hu_net_targets(net, y), HU_OK);
  for (int step = 0; step < STEPS; step++) {
    assert_int_equal(hu_net_feed(net, 0, x), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
    for (int i = 0; i < 2; i++)
      memcpy(outcome->z[step][i], hu_net_value(net, z[i]).numbers, sizeof outcome->z[step][i]);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    assert_int_equal(hu_net_update(net, &rate_zero, &rule, &scale, &counts, &taken), HU_OK);
  }
  hu_net_free(net);
}

/* No two of the layers, steps and seeds take the same words; a run repeats. */
static void words_of_sums(void **state) {
  (void)state;
  static t_outcome a, b, other, sure;
  run(&a, "seq(bfloat16,sra:8)", 1);
  run(&b, "seq(bfloat16,sra:8)", 1);
  run(&other, "seq(bfloat16,sra:8)", 2);
  run(&sure, "seq(bfloat16)", 1);
  assert_memory_equal(&a, &b, sizeof a);
  const float *z[2 * 2 * STEPS];
  size_t n = 0;
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < 2; i++) z[n++] = a.z[step][i], z[n++] = other.z[step][i];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) assert_memory_not_equal(z[i], z[k], sizeof a.z[0][0]);
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < 2; i++) assert_memory_equal(sure.z[step][i], sure.z[0][0], sizeof sure.z[0][0]);
}

/* Attention has a product to each sample and head: threads share them out and change nothing, steps differ. */
static void words_of_attention(void **state) {
  (void)state;
  uint64_t digest[2];
  for (int i = 0; i < 2; i++) {
    hu_trainer *trainer = with(PAIRS("data.set", "text", "model.net", "transformer(layers=1,units=16,heads=2)",
                                     "run.batch", "8", "run.steps", "2", "precision.accum", "seq(bfloat16,sra:8)"));
    set(trainer, "run.threads", i ? "3" : "1");
    begin(trainer);
    steps(trainer, 2);
    digest[i] = hu_trainer_digest(trainer);
    hu_trainer_free(trainer);
  }
  assert_int_equal(digest[0], digest[1]);
}

/* ---- what stands around fp32 ---- */

static uint64_t digest_of(const char *net, const char *model, uint32_t levels_off) {
  hu_trainer *trainer = with(PAIRS("data.set", "gratings", "data.count", "64", "data.test", "16", "run.steps", "3",
                                   "run.batch", "16", "model.net", net, "precision.accum", model));
  uint32_t before = hu_cpu_levels_off;
  hu_cpu_levels_off = levels_off;
  begin(trainer);
  steps(trainer, 3);
  hu_cpu_levels_off = before;
  uint64_t digest = hu_trainer_digest(trainer);
  hu_trainer_free(trainer);
  return digest;
}

static void around_fp32(void **state) {
  (void)state;
  static const char *const nets[] = {"mlp(layers=32)", "conv(channels=4)"};
  static const char *const models[][2] = {{"promote(4,fp32,bfloat16)", "promote(4,seq(binary32),bfloat16)"},
                                          {"splitk(2,fp32)", "splitk(2,seq(binary32))"},
                                          {"takes(any,any,binary32,fp32)", "fp32"}};
  for (size_t n = 0; n < 2; n++) {
    for (size_t i = 0; i < 3; i++) {
      uint64_t expected = digest_of(nets[n], models[i][1], 0);
      for (uint32_t off = 0; off < 8; off += 7) assert_int_equal(digest_of(nets[n], models[i][0], off), expected);
    }
    assert_int_not_equal(digest_of(nets[n], models[0][0], 0), digest_of(nets[n], "fp32", 0));
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_sums), cmocka_unit_test(words_of_attention),
                                     cmocka_unit_test(around_fp32)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests(tests, NULL, NULL);
}
