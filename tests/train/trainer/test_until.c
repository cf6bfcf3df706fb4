/* SPDX-License-Identifier: MIT */
/* Runs whose products are rounded in their first steps alone: against a net whose roundings are taken away by hand;
 * continued before, at and behind the change; what is refused.
 *
 *   test_until FOLDER_OF_DATA */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

enum { STEPS = 7, UNTIL = 4 };
#define RUN "model.net", "mlp(layers=2,units=24)", "run.batch", "32", "precision.system", "nvfp4"

/* The roundings of nvfp4 that stay: those of the backward pass, of the forward pass, or none. */
static hu_product_rounding what_stays(const hu_trainer *trainer, const char *after) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  hu_rounding *forward[] = {&rounding.x, &rounding.w},
              *backward[] = {&rounding.dz, &rounding.w_back, &rounding.x_back, &rounding.dz_w};
  static const char *const keys[] = {"precision.x",      "precision.w",      "precision.dz",
                                     "precision.w_back", "precision.x_back", "precision.dz_w"};
  for (size_t i = 0; i < 2 && strcmp(after, "backward") == 0; i++)
    assert_int_equal(hu_rounding_parse(forward[i], hu_trainer_get(trainer, keys[i]), NULL), HU_OK);
  for (size_t i = 0; i < 4 && strcmp(after, "forward") == 0; i++)
    assert_int_equal(hu_rounding_parse(backward[i], hu_trainer_get(trainer, keys[2 + i]), NULL), HU_OK);
  if (strcmp(after, "forward") == 0) {
    rounding.hadamard = 16;
    rounding.signs = 3622361064u;
  }
  return rounding;
}

static void by_hand(hu_trainer *trainer, const char *after) {
  hu_net *net = hu_trainer_net(trainer);
  const hu_product_rounding rounding = what_stays(trainer, after);
  hu_rounding_counts counts[2];
  for (int v = 0; v < hu_net_values(net); v++) {
    if (hu_net_product_counts(net, v, counts)) assert_int_equal(hu_net_round_product(net, v, &rounding), HU_OK);
  }
}

static const char *const afters[3] = {"forward", "backward", "both"};

static void test_by_hand(void **state) {
  (void)state;
  uint64_t digest[3], never = digest_after(STEPS, PAIRS(RUN));
  for (int k = 0; k < 3; k++) {
    hu_trainer *trainer = with(PAIRS(RUN));
    begin(trainer);
    steps(trainer, UNTIL);
    by_hand(trainer, afters[k]);
    steps(trainer, STEPS - UNTIL);
    digest[k] = hu_trainer_digest(trainer);
    hu_trainer_free(trainer);
    assert_true(digest_after(STEPS, PAIRS(RUN, "precision.until", "4", "precision.after", afters[k])) == digest[k]);
    assert_true(digest[k] != never);
    for (int i = 0; i < k; i++) assert_true(digest[i] != digest[k]);
  }
  assert_true(digest_after(STEPS, PAIRS(RUN, "precision.until", "7")) == never);
}

/* A run that stopped at any step goes on with the roundings of that step. Behind the change an evaluation shows what
 * the run that did not stop shows. */
static void test_continued(void **state) {
  (void)state;
  for (size_t stop = UNTIL - 1; stop <= UNTIL + 1; stop++) {
    hu_trainer *a = with(PAIRS(RUN, "precision.until", "4")), *b = with(PAIRS(RUN, "precision.until", "4"));
    char text[16384];
    hu_trainer_seen seen[2];
    begin(a), begin(b);
    steps(a, stop);
    assert_true(hu_trainer_state(a, text, sizeof text) < sizeof text);
    carry_tensors(b, a);
    if (hu_trainer_resume(b, text, why) != HU_OK) fail_msg("%s", why);
    for (int after = 0; after < 2; after++) {
      assert_int_equal(hu_trainer_evaluate(a, HU_ON_TEST, &seen[0]), HU_OK);
      assert_int_equal(hu_trainer_evaluate(b, HU_ON_TEST, &seen[1]), HU_OK);
      assert_true(seen[0].loss == seen[1].loss);
      steps(a, 1), steps(b, 1);
      assert_true(hu_trainer_digest(a) == hu_trainer_digest(b));
    }
    hu_trainer_free(a), hu_trainer_free(b);
  }
}

static void not_begun(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  *why = 0;
  if (hu_trainer_begin(trainer, folder, why) == HU_OK || !strstr(why, part)) fail_msg("'%s', not '%s'", why, part);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  not_begun(PAIRS("precision.system", "fp8_delayed", "precision.until", "4"), "precision.until: above 0, and");
  not_begun(PAIRS("precision.system", "quartet", "precision.until", "4", "precision.after", "forward"),
            "precision.after: with precision.quartet it is both");
  not_begun(PAIRS("precision.system", "quartet", "precision.dz_w", "bfloat16"),
            "precision.quartet: rounds all operands, and precision.dz_w does, too");
  not_begun(PAIRS("precision.system", "quartet", "precision.hadamard", "32"),
            "precision.quartet: does not go with precision.hadamard");
  not_begun(PAIRS("precision.system", "mxfp4", "precision.w_average", "0.5"),
            "precision.w_average: requires precision.w =");
  not_begun(PAIRS("precision.system", "tetrajet", "precision.quartet", "nearest"), "precision.quartet: rounds all");
  not_begun(PAIRS("precision.system", "fp8", "precision.z_accum", "nv.hopper.e4m3.f32.wgmma", "precision.until", "4"),
            "precision.until: operands are not rounded at the end");
  hu_trainer *trainer = with(PAIRS("precision.system", "fp8", "precision.z_accum", "nv.hopper.e4m3.f32.wgmma",
                                   "precision.until", "4", "precision.after", "backward"));
  begin(trainer); /* the model's operands stay rounded */
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_continued),
                                     cmocka_unit_test(test_refused)};
  if (argc < 2) return 2;
  folder = argv[1];
  return cmocka_run_group_tests_name("products rounded in the first steps", tests, NULL, NULL);
}
