/* SPDX-License-Identifier: MIT */
/* Tensors rounded into formats: overflow to infinities that the format lacks, NaN that stays, against the one-value
 * calls; what the counts say. */
#include <math.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/step/rounding_of.h"

static float one(const char *text, float x, hu_rounding_counts *n) {
  hu_rounding rounding = rounding_of(text);
  memset(n, 0, sizeof *n);
  assert_int_equal(hu_rounding_apply(1, 1, &x, &x, &rounding, NULL, n), HU_OK);
  return x;
}

/* The formats of the assignment paper at their edges. */
static void by_hand(void **state) {
  (void)state;
  static const char forward[] = "fp(4,3,4):finite", high[] = "fp(6,9,0):finite";
  static const char backward[] = "fp(5,2,0):finite,over=inf";
  hu_rounding_counts n;
  assert_true(one(forward, 30.5f, &n) == 30 && n.over == 1 && n.events.overflow == 0);
  assert_true(one(forward, 31, &n) == 30 && n.over == 1 && n.events.overflow == 1); /* the tie goes to 32 */
  assert_true(one(forward, 32, &n) == 30 && n.over == 1 && n.events.overflow == 1 && n.events.saturated == 1);
  assert_true(one(forward, 0x1p-14f, &n) == 0 && n.events.to_zero == 1);
  assert_true(one(forward, 0x1.8p-14f, &n) == 0x1p-13f);
  assert_true(one(forward, NAN, &n) == 30 && n.events.nan_in == 1);
  assert_true(one(high, 0x1p-40f, &n) == 0 && one(high, 0x1.8p-40f, &n) == 0x1p-39f);
  assert_true(one(backward, 0x1p17f, &n) == INFINITY && n.events.overflow == 1 && n.events.saturated == 0);
  assert_true(n.over == 1 && n.events.inexact == 1);
  assert_true(one(backward, -0x1p17f, &n) == -INFINITY);
  /* 114688 is max, 131072 the next number if there were one; the tie goes to it. */
  assert_true(one(backward, 114688, &n) == 114688 && n.over == 0);
  assert_true(one(backward, 122879, &n) == 114688 && n.over == 1 && n.events.overflow == 0);
  assert_true(one(backward, 122880, &n) == INFINITY && n.events.overflow == 1);
  assert_true(one(backward, -INFINITY, &n) == -INFINITY && n.over == 0 && n.events.inf_in == 1);
  assert_int_equal(n.events.saturated, 0);
  assert_int_equal(t_bits32(one(backward, t_float(0xFFC12345), &n)), 0x7FC00000);
  assert_int_equal(n.events.nan_in, 1);
  assert_true(isnan(one("fp(4,3,4):finite,nan=keep", NAN, &n)) && n.events.nan_in == 1);
  assert_true(one("fp(4,3,4):finite,nan=keep", INFINITY, &n) == 30 && n.events.saturated == 1);
  assert_true(one("fp(5,2,0):finite,over=inf,rtz", 131071, &n) == 114688);
  assert_true(one("fp(5,2,0):finite,rtz,over=inf", 131072, &n) == INFINITY);
}

/* What one element becomes by rounding.h. */
static float model(const hu_rounding *rounding, float x, uint32_t word, hu_events *events) {
  uint32_t e = 0, random = rounding->mode.bits ? word >> (32 - rounding->mode.bits) : 0;
  float z = hu_quantize(rounding->format, rounding->mode, x, random, &e);
  int below = x < 0 && !rounding->format.sign, infinite = fabsf(x) == INFINITY || (e & HU_EVENT_OVERFLOW);
  if (isnan(x) && (rounding->keep_nan || rounding->over_inf)) z = NAN;
  if (rounding->over_inf && infinite && !below) {
    z = copysignf(INFINITY, x);
    e &= ~(uint32_t)(HU_EVENT_SATURATED | HU_EVENT_INVALID);
  }
  hu_events_count(events, e);
  return z;
}

enum { N = 2000, CALLS = 1500 };

/* Rare and frequent special numbers; in place or not; any number of threads. */
static void against_single_calls(void **state) {
  (void)state;
  t_random random = {t_seed("rounding", 1)};
  static float x[N], z[N], expected[N];
  size_t special = 0, plain = 0;
  for (int call = 0; call < CALLS; call++) {
    hu_rounding down = hu_rounding_format(t_random_format(&random, 3, 20), t_random_mode(&random));
    if (!hu_format_fits_binary32(down.format)) continue;
    down.mode.nan = 0;
    down.over_inf = (uint8_t)t_below(&random, 2);
    down.keep_nan = (uint8_t)t_below(&random, 2);
    size_t n = t_below(&random, N), found = 0;
    uint32_t rare = 1u << t_below(&random, 13);
    float max = (float)hu_limits_of(down.format).max;
    hu_rounding_counts got, model_counts;
    hu_exec exec = {1 + t_below(&random, 3), 0, {t_next64(&random), t_next64(&random)}, {0}};
    memset(&got, 0, sizeof got);
    memset(&model_counts, 0, sizeof model_counts);
    for (size_t i = 0; i < n; i++) {
      x[i] = (float)t_random_operand(&random, down.format);
      int beyond = !(fabsf(x[i]) <= max);
      if (beyond && t_below(&random, rare)) x[i] = max / 2;
      expected[i] = model(&down, x[i], hu_stream_word(exec.stream, i), &model_counts.events);
      model_counts.over += fabsf(x[i]) > max && fabsf(x[i]) < INFINITY;
      found += !(fabsf(x[i]) <= max);
    }
    special += found > 0;
    plain += found == 0;
    int in_place = (int)t_below(&random, 2);
    memcpy(z, x, sizeof z);
    assert_int_equal(hu_rounding_apply(1, n, z, in_place ? z : x, &down, &exec, &got), HU_OK);
    for (size_t i = 0; i < n; i++) {
      char f[T_FORMAT_TEXT], m[T_MODE_TEXT];
      if (t_same32(z[i], expected[i])) continue;
      fail_msg("%s %s over=%u nan=%u: %a to %a, not %a", t_format_text(f, down.format), t_mode_text(m, down.mode),
               down.over_inf, down.keep_nan, (double)x[i], (double)z[i], (double)expected[i]);
    }
    assert_true(t_same_events(&got.events, &model_counts.events));
    assert_int_equal(got.over, model_counts.over);
    assert_int_equal(got.elements, n);
  }
  print_message("%zu arrays with something beyond, %zu without\n", special, plain);
  assert_true(special > CALLS / 4 && plain > CALLS / 20);
}

static void refused(void **state) {
  (void)state;
  static const char *const bad[] = {"keep,over=inf",     "mxfp8_e4m3,over=inf", "posit16,nan=keep",
                                    "bfloat16,over=max", "bfloat16,nan=zero",   "bfloat16,over=inf,over=inf",
                                    "bfloat16,rtz,rtp",  "mxfp4,sra:4,sra:4",  "posit8,sat=none,rne,sat=finite"};
  hu_rounding rounding = rounding_of("bfloat16,over=inf,nan=keep,sra:4");
  assert_true(rounding.over_inf == 1 && rounding.keep_nan == 1 && rounding.mode.round == HU_SRA);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (hu_rounding_parse(&rounding, bad[i], NULL) == HU_OK) fail_msg("'%s' was taken", bad[i]);
  }
  rounding.mode.nan = HU_NAN_TO_ERROR;
  assert_int_equal(hu_rounding_check(&rounding), HU_E_TRAIN);
  rounding = hu_rounding_keep();
  rounding.keep_nan = 1;
  assert_int_equal(hu_rounding_check(&rounding), HU_E_TRAIN);
  rounding = rounding_of("bfloat16");
  rounding.over_inf = 2;
  assert_int_equal(hu_rounding_check(&rounding), HU_E_TRAIN);
}

/* Infinite gradients reach the optimizer, which skips the step; also through models that use the grid. */
static void gradients_overflow(void **state) {
  (void)state;
  static const char *const models[] = {"fp32", "seq(binary16,rne)", "chunk(4,binary32,binary32,rne)"};
  for (size_t k = 0; k < 3; k++) {
    hu_net *net = hu_net_new(2, 1);
    int x = hu_net_input(net, 1, 3), h = hu_net_linear(net, x, 4, 0), y = hu_net_linear(net, h, 2, 1);
    (void)hu_net_squared_error(net, y, 1);
    hu_product_rounding rounding = hu_product_rounding_plain();
    hu_status parsed = hu_accum_parse(&rounding.z_accum, models[k], NULL);
    rounding.dx_accum = rounding.dw_accum = rounding.z_accum;
    if (parsed != HU_OK) fail_msg("%s: %s", models[k], hu_status_name(parsed));
    hu_rounding forward = rounding_of("fp(4,3,4):finite,nan=keep"), back = rounding_of("fp(5,2,0):finite,over=inf");
    for (int i = 0; i <= y; i++) assert_int_equal(hu_net_round_value(net, i, &forward, &back), HU_OK);
    for (int i = 0; i < hu_net_parameters(net); i++) {
      assert_int_equal(hu_net_round_parameter(net, i, &forward, &back), HU_OK);
    }
    assert_int_equal(hu_net_round_product(net, h, &rounding), HU_OK);
    assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    hu_optimizer optimizer = hu_optimizer_sgd(hu_format_ieee(8, 23, 0));
    hu_loss_rule rule;
    assert_int_equal(hu_loss_rule_parse(&rule, "gradscaler(init_scale=1048576)", NULL), HU_OK);
    hu_loss_scale scale = hu_loss_scale_start(&rule);
    float in[6] = {1, 2, 3, -1, 2, 1}, targets[4] = {9, 9, -9, 9};
    int taken = 1;
    uint64_t before = hu_net_digest(net);
    assert_int_equal(hu_net_feed(net, x, in), HU_OK);
    assert_int_equal(hu_net_targets(net, targets), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
    assert_true(taken == 0 && scale.scale == 524288 && hu_net_digest(net) == before);
    hu_net_free(net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(against_single_calls),
                                     cmocka_unit_test(refused), cmocka_unit_test(gradients_overflow)};
  return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
