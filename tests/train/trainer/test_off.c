/* SPDX-License-Identifier: MIT */
/* Roundings that precision.off leaves out: against runs whose keys leave them out; in steps, against runs that are
 * carried from one trainer to another; what is refused.
 *
 *   test_off FOLDER_OF_DATA */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

enum { STEPS = 6, PAIRS_MAX = 20 };
#define RUN "model.net", "mlp(layers=2,units=24)", "run.batch", "32"

typedef struct same_case {
  const char *system, *off, *instead[PAIRS_MAX]; /* what it is the same as */
} same_case;

static const same_case cases[] = {
    {"s2fp8", "*:all", {"precision.system", "binary32"}},
    {"s2fp8", "*:x", {"precision.x", "keep"}},
    {"s2fp8", "*:w", {"precision.w", "keep"}},
    {"s2fp8", "*:z_out", {"precision.z_out", "keep"}},
    {"s2fp8", "*:dz+dz_w", {"precision.dz", "keep", "precision.dz_w", "keep"}},
    {"s2fp8", "*:w_back+dx_out", {"precision.w_back", "keep", "precision.dx_out", "keep"}},
    {"s2fp8", "*:x_back,*:dw_out", {"precision.x_back", "keep", "precision.dw_out", "keep"}},
    {"s2fp8", "*:forward", {"precision.x", "keep", "precision.w", "keep", "precision.z_out", "keep"}},
    {"s2fp8", "linear2:all", {"precision.layers", "linear1,linear3"}},
    {"s2fp8", "linear1:forward+backward+weights,linear3:all", {"precision.layers", "linear2"}},
    {"bfloat16", "*:value", {"precision.values", "keep"}},
    {"bfloat16", "*:gradient", {"precision.gradients", "keep"}},
    {"bfloat16", "*:parameter", {"precision.parameters", "keep"}},
    {"bfloat16", "*:parameter_gradient", {"precision.parameter_gradients", "keep"}},
    {"bfloat16", "input:all,linear1:all,linear2:all,linear3:all", {"precision.system", "binary32"}},
    {"nvfp4", "*:weights", {"precision.x_back", "keep", "precision.dz_w", "keep", "precision.hadamard", "0"}},
    {"wang2018", "*:forward", {"precision.x", "keep", "precision.w", "keep", "precision.z_accum", "fp32"}},
    {"wang2018", "*:backward", {"precision.dz", "keep", "precision.w_back", "keep", "precision.dx_accum", "fp32"}},
    {"wang2018", "*:weights", {"precision.x_back", "keep", "precision.dz_w", "keep", "precision.dw_accum", "fp32"}},
};

static void test_same(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *own[PAIRS_MAX + 8] = {RUN, "precision.system", cases[i].system}, *const *pair = cases[i].instead;
    for (size_t n = 6; *pair; pair++) own[n++] = *pair;
    uint64_t all = digest_after(STEPS, PAIRS(RUN, "precision.system", cases[i].system));
    uint64_t off = digest_after(STEPS, PAIRS(RUN, "precision.system", cases[i].system, "precision.off", cases[i].off));
    if (off == all) fail_msg("%s without %s: nothing is left out", cases[i].system, cases[i].off);
    if (off != digest_after(STEPS, own)) fail_msg("%s without %s: another run", cases[i].system, cases[i].off);
  }
}

/* Carries a run into a trainer with another precision.off; 0, and why: it is refused. */
static int carried(hu_trainer **to, hu_trainer *from, const char *off) {
  char text[16384];
  *to = with(PAIRS(RUN, "precision.system", "bfloat16", "precision.off", off));
  begin(*to);
  assert_true(hu_trainer_state(from, text, sizeof text) < sizeof text);
  carry_tensors(*to, from);
  return hu_trainer_resume(*to, text, why) == HU_OK;
}

static void test_steps(void **state) {
  (void)state;
  hu_trainer *a = with(PAIRS(RUN, "precision.system", "bfloat16")), *b, *c;
  begin(a);
  steps(a, 2);
  assert_false(carried(&b, a, "linear1:all@1..2"));
  hu_trainer_free(b);
  assert_true(carried(&b, a, "linear2:all@2..4,*:x@9.."));
  steps(b, STEPS - 2);
  assert_true(hu_trainer_digest(b) ==
              digest_after(STEPS, PAIRS(RUN, "precision.system", "bfloat16", "precision.off", "linear2:all@2..4")));
  /* The same by hand: two steps without, and back again. */
  hu_net *net = hu_trainer_net(a);
  const hu_rounding keep = hu_rounding_keep();
  hu_rounding bfloat16;
  assert_int_equal(hu_rounding_parse(&bfloat16, "bfloat16", NULL), HU_OK);
  for (int on = 0; on < 2; on++) {
    const hu_rounding *own = on ? &bfloat16 : &keep;
    int p = hu_net_parameter_named(net, "linear2.weight");
    assert_int_equal(hu_net_round_parameter(net, p, own, own), HU_OK);
    assert_int_equal(hu_net_round_parameter(net, p + 1, own, own), HU_OK);
    for (int v = 3; v <= 4; v++) assert_int_equal(hu_net_round_value(net, v, own, own), HU_OK); /* linear, relu */
    steps(a, 2);
  }
  assert_true(hu_trainer_digest(a) == hu_trainer_digest(b));
  /* What was left out in steps that are done stays so. */
  assert_false(carried(&c, a, "linear1:all@5..,linear2:all@6.."));
  assert_non_null(strstr(why, "precision.off: here 'linear1:all@5..,linear2:all@6..', and there ''"));
  hu_trainer_free(c);
  assert_true(carried(&c, b, "linear2:all@2..4,linear1:all@6.."));
  hu_trainer_free(c);
  assert_false(carried(&c, b, "linear2:all@2..5"));
  hu_trainer_free(a), hu_trainer_free(b), hu_trainer_free(c);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"x",     "*:",      "*:x+",     ":x",        "*:y",       "*:x,",  "*:x@",
                                      "*:x@1", "*:x@1.2", "*:x@2..2", "*:x@-1..2", "*:x@1..2x", "a,b:x", "*:x@1..2@3"};
  static const char *const others[][4] = {{"precision.system", "quartet", "precision.quartet"},
                                          {"precision.system", "fp8_delayed", "precision.history"},
                                          {"precision.twice", "yes", "precision.twice"},
                                          {"assignment.kind", "uniform", "assignment.kind"}};
  hu_trainer *trainer = with(PAIRS(RUN));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (hu_trainer_set(trainer, "precision.off", texts[i], why) != HU_E_TRAIN) fail_msg("'%s' is taken", texts[i]);
    assert_non_null(strstr(why, "is not LAYER:PART, with '@FROM..TO'"));
  }
  set(trainer, "precision.off", "linear4:all");
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "precision.off: no layer is called 'linear4'"));
  hu_trainer_free(trainer);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    trainer = with(PAIRS(RUN, others[i][0], others[i][1], "precision.off", "*:all"));
    assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
    if (!strstr(why, others[i][2]) || !strstr(why, "precision.off: does not go")) fail_msg("%s", why);
    hu_trainer_free(trainer);
  }
  /* A unit's operands have to be rounded, in the steps that they are left out of, too. */
  trainer = with(PAIRS(RUN, "precision.system", "fp8", "precision.z_accum", "nv.hopper.e4m3.f32.wgmma", "precision.off",
                       "linear2:x@3..4"));
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_OPERAND_A);
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_steps),
                                     cmocka_unit_test(test_refused)};
  if (argc < 2) return 2;
  folder = argv[1];
  return cmocka_run_group_tests_name("roundings that are left out", tests, NULL, NULL);
}
