/* SPDX-License-Identifier: MIT */
/* A pass from outside: operands that are rounded once, phases told to an observer. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static hu_rounding rounding_of(const char *text) {
  hu_rounding rounding = hu_rounding_keep();
  if (hu_rounding_parse(&rounding, text, NULL) != HU_OK) fail_msg("%s: no rounding", text);
  return rounding;
}

/* ---- operands that several products share are rounded once, and nobody sees it ---- */

enum { BATCH = 6 };

enum { VALUES_MAX = 100 };

/* What three steps leave: weights, and counts of the products that make values. */
typedef struct left_behind {
  uint64_t digest;
  hu_rounding_counts counts[VALUES_MAX][2];
} left_behind;

/* apart: roundings that do the same differ in a field that means nothing to their kind. */
static left_behind shared_operands(const char *text, uint32_t hadamard, int apart) {
  left_behind z;
  memset(&z, 0, sizeof z);
  hu_net *net = hu_net_new(BATCH, 1);
  int x = hu_net_image(net, 4, 4, 3), loss;
  int y = hu_net_relu(net, hu_net_conv(net, x, 5, 3, 1, 1, 1));
  loss = hu_net_cross_entropy(net, hu_net_linear(net, hu_net_gru(net, hu_net_linear(net, y, 7, 0), 4, 1), 3, 1), 1);
  assert_true(loss >= 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.x = rounding.w = rounding.dz = rounding.w_back = rounding.x_back = rounding.dz_w = rounding.z_out =
      rounding.dx_out = rounding.dw_out = rounding_of(text);
  rounding.hadamard = hadamard;
  if (apart) {
    if (rounding.x.kind == HU_ROUND_S2FP8)
      rounding.x_back.format = rounding.dz_w.format = rounding.w_back.format = hu_bfloat16();
    if (rounding.x.kind != HU_ROUND_S2FP8)
      rounding.x_back.s2fp8.target = rounding.dz_w.s2fp8.target = rounding.w_back.s2fp8.target = 3;
  }
  for (int i = 0; i < loss; i++) {
    hu_status status = hu_net_round_product(net, i, &rounding); /* not of those that are no products */
    assert_true(status == HU_OK || status == HU_E_SHAPE);
  }
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  t_random random = {17};
  float in[BATCH * 48];
  const uint32_t labels[BATCH] = {0, 1, 2, 0, 1, 2};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int step = 0; step < 3; step++) {
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) in[i] = (float)t_between(&random, -1000, 1000) * 0x1p-9f;
    assert_int_equal(hu_net_feed(net, x, in), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK); /* leaves nothing behind */
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  }
  z.digest = hu_net_digest(net);
  assert_in_range(hu_net_values(net), 1, VALUES_MAX);
  int products = 0;
  for (int i = 0; i < hu_net_values(net); i++) products += hu_net_product_counts(net, i, z.counts[i]);
  assert_in_range(products, 3, VALUES_MAX);
  hu_net_free(net);
  return z;
}

static void operands_once(void **state) {
  (void)state;
  static const char *const text[] = {"s2fp8", "float8_e4m3fn", "bfloat16,sra:8", "mxfp8_e4m3", "int8"};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    for (uint32_t hadamard = 0; hadamard <= 16; hadamard += 16) {
      left_behind together = shared_operands(text[i], hadamard, 0), apart = shared_operands(text[i], hadamard, 1);
      if (together.digest != apart.digest)
        fail_msg("%s, hadamard %u: operands rounded once give other weights", text[i], hadamard);
      if (memcmp(together.counts, apart.counts, sizeof apart.counts) != 0)
        fail_msg("%s, hadamard %u: operands rounded once are not counted twice", text[i], hadamard);
    }
  }
}

/* ---- phases told ---- */

typedef struct t_seen {
  int open, deepest, calls, products, roundings, updates;
  hu_net_phase at[4];
} t_seen;

static void see(void *context, const hu_net_phase *phase, int ends) {
  t_seen *seen = context;
  seen->calls++;
  if (ends) {
    const hu_net_phase *q = &seen->at[--seen->open];
    assert_true(q->phase == phase->phase && q->number == phase->number && strcmp(q->kind, phase->kind) == 0);
    return;
  }
  assert_in_range(seen->open, 0, 1);
  /* Inside of an operator there are roundings alone, and those are its own. */
  if (seen->open) assert_true(phase->phase == HU_PHASE_ROUNDING && phase->number == seen->at[0].number);
  seen->at[seen->open++] = *phase;
  if (seen->open > seen->deepest) seen->deepest = seen->open;
  seen->products += phase->product && phase->phase != HU_PHASE_ROUNDING;
  seen->roundings += phase->phase == HU_PHASE_ROUNDING;
  seen->updates += phase->phase == HU_PHASE_UPDATE;
}

static void observer(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 1, 3), h = hu_net_relu(net, hu_net_linear(net, x, 4, 1));
  int y = hu_net_linear(net, h, 2, 0);
  assert_true(hu_net_cross_entropy(net, y, 1) >= 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.z_out = rounding_of("bfloat16");
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  const float in[6] = {1, 2, 3, -1, 0.5f, 2};
  const uint32_t labels[2] = {1, 0};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  t_seen seen;
  memset(&seen, 0, sizeof seen);
  hu_net_observe(net, see, &seen);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  /* An input, three parameters, four values, a result of a product; four gradients of values, three of parameters. */
  assert_int_equal(seen.roundings, 1 + 3 + 4 + 1 + 4 + 3);
  assert_int_equal(seen.products, 4);
  assert_int_equal(seen.updates, 1);
  assert_int_equal(seen.deepest, 2);
  assert_int_equal(seen.open, 0);
  assert_int_equal(seen.calls, 2 * (seen.roundings + 8 + 1));
  hu_net_observe(net, NULL, NULL);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(seen.calls, 2 * (seen.roundings + 8 + 1));
  hu_net_observe(NULL, see, &seen);
  hu_net_free(net);
}

/* Roundings told of a pass over two images. By windows, a convolution rounds patches image by image, and for dX the
 * gifts of each row of windows; else X and dX as tensors. */
static int roundings_of_convolution(const char *operands, const char *dx, int by_window, uint32_t threads) {
  hu_net *net = hu_net_new(2, threads);
  int x = hu_net_image(net, 4, 4, 1), h = hu_net_conv(net, x, 16, 3, 1, 1, 0);
  int y = hu_net_conv(net, hu_net_relu(net, h), 16, 3, 1, 1, 0);
  assert_true(hu_net_cross_entropy(net, hu_net_average_pool(net, y, 4, 4), 1) >= 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  if (operands) rounding.x = rounding.x_back = rounding_of(operands);
  if (dx) rounding.dx_out = rounding_of(dx);
  rounding.by_window = (uint8_t)by_window;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  float in[32];
  const uint32_t labels[2] = {1, 0};
  t_seen seen;
  memset(&seen, 0, sizeof seen);
  for (int i = 0; i < 32; i++) in[i] = (float)(i % 7) - 3;
  hu_net_observe(net, see, &seen);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_int_equal(seen.open, 0);
  hu_net_free(net);
  return seen.roundings;
}

/* X once, which Z and dW share; dX once. */
static void tensors_tell(void **state) {
  (void)state;
  for (uint32_t threads = 1; threads <= 2; threads++) {
    int plain = roundings_of_convolution(NULL, NULL, 0, threads);
    assert_int_equal(roundings_of_convolution("mxfp8_e4m3", NULL, 0, threads), plain + 1);
    assert_int_equal(roundings_of_convolution("mxfp8_e4m3", "float8_e5m2", 0, threads), plain + 2);
  }
}

static void loops_tell(void **state) {
  (void)state;
  int plain = roundings_of_convolution(NULL, NULL, 1, 1);
  int silent = roundings_of_convolution("mxfp8_e4m3", NULL, 1, 2);
  if (hu_levels() & ~(uint32_t)HU_LEVEL_VECTOR) assert_int_equal(silent, plain);
  if (silent != plain) { /* an engine that makes patches: tensors of their own */
    assert_int_equal(roundings_of_convolution("mxfp8_e4m3", NULL, 1, 1), silent);
    return;
  }
  /* Patches of each image for Z and for dW; what each row of windows of each image gives. */
  assert_int_equal(roundings_of_convolution("mxfp8_e4m3", NULL, 1, 1), plain + 2 * 2);
  assert_int_equal(roundings_of_convolution(NULL, "float8_e5m2", 1, 1), plain + 2 * 4);
}

/* ---- each product has an accumulation model of its own ---- */

/* Two steps; models of Z, dX, dW by the bits of `which`: fp32, or the same sums as another model, which takes patches
 * of images where fp32 takes none. */
static uint64_t with_models(const char *text, unsigned which, hu_accum other) {
  hu_net *net = hu_net_new(BATCH, 1);
  int x = hu_net_image(net, 6, 6, 3), y = hu_net_conv(net, x, 5, 3, 1, 1, 1);
  y = hu_net_conv(net, hu_net_relu(net, y), 7, 3, 1, 1, 0);
  y = hu_net_attention(net, hu_net_linear(net, y, 12, 1), 2, 1);
  int loss = hu_net_cross_entropy(net, hu_net_linear(net, y, 3, 1), 1);
  assert_true(loss >= 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.x = rounding.w = rounding.dz = rounding.w_back = rounding.x_back = rounding.dz_w = rounding_of(text);
  if (which & 1) rounding.z_accum = other;
  if (which & 2) rounding.dx_accum = other;
  if (which & 4) rounding.dw_accum = other;
  for (int i = 0; i < loss; i++) {
    hu_status status = hu_net_round_product(net, i, &rounding);
    assert_true(status == HU_OK || status == HU_E_SHAPE);
  }
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  t_random random = {17};
  float in[BATCH * 108];
  uint32_t labels[BATCH * 36];
  for (uint32_t i = 0; i < BATCH * 36; i++) labels[i] = i % 3;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int step = 0; step < 2; step++) {
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) in[i] = (float)t_between(&random, -1000, 1000) * 0x1p-9f;
    assert_int_equal(hu_net_feed(net, x, in), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK); /* once more, of the same pass */
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  }
  uint64_t digest = hu_net_digest(net);
  hu_net_free(net);
  return digest;
}

static void models(void **state) {
  (void)state;
  static const char *const texts[] = {"keep", "bfloat16", "bfloat16,sra:8", "mxfp8_e4m3", "s2fp8", "fp8_tensor"};
  hu_accum same, coarse;
  assert_int_equal(hu_accum_parse(&same, "seq(binary32)", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&coarse, "seq(bfloat16)", NULL), HU_OK);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    uint64_t expected = with_models(texts[i], 0, same);
    for (unsigned which = 1; which < 8; which++) {
      if (with_models(texts[i], which, same) != expected) fail_msg("%s: models %u", texts[i], which);
    }
    for (unsigned which = 1; which < 8; which *= 2) assert_true(with_models(texts[i], which, coarse) != expected);
  }
}

/* Refused: a model that is none, for each product. */
static void no_models(void **state) {
  (void)state;
  hu_net *net = hu_net_new(BATCH, 1);
  int y = hu_net_linear(net, hu_net_input(net, 1, 3), 3, 0);
  for (int i = 0; i < 3; i++) {
    hu_product_rounding rounding = hu_product_rounding_plain();
    hu_accum *all[] = {&rounding.z_accum, &rounding.dx_accum, &rounding.dw_accum};
    all[i]->kind = HU_ACCUM_COUNT;
    assert_int_equal(hu_net_round_product(net, y, &rounding), HU_E_ACCUM);
  }
  hu_net_free(net);
}

/* A matrix unit in a net whose operands are not its own: the pass says so. */
static void models_of_other_formats(void **state) {
  static const float x[BATCH * 3] = {1, 2, 3};
  (void)state;
  for (int i = 0; i < 2; i++) {
    hu_net *net = hu_net_new(BATCH, 1);
    int in = hu_net_input(net, 1, 3), y = hu_net_linear(net, in, 3, 0);
    assert_true(hu_net_squared_error(net, y, 1) >= 0);
    hu_product_rounding rounding = hu_product_rounding_plain();
    assert_int_equal(
        hu_accum_parse(&rounding.z_accum, i ? "any(nv.hopper.e4m3.f32.wgmma)" : "nv.hopper.e4m3.f32.wgmma", NULL),
        HU_OK);
    assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_feed(net, in, x), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), i ? HU_OK : HU_E_OPERAND_A);
    hu_net_free(net);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operands_once),          cmocka_unit_test(observer), cmocka_unit_test(loops_tell),
      cmocka_unit_test(tensors_tell),           cmocka_unit_test(models),   cmocka_unit_test(no_models),
      cmocka_unit_test(models_of_other_formats)};
  return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
