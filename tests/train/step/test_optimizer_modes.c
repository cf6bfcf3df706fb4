/* SPDX-License-Identifier: MIT */
/* The additions of an update, rounded by modes of their own: the 16-bit update of Wang et al. (2018), three AXPYs with
 * stochastic rounding in fp(6,9,0), against its formulas in binary64; the same words in any pieces; what is refused. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/papers.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 3000, STEPS = 5 };

/* Operands have ten digits and exponents within 2^20 of each other: their sums are exact in binary64. */
static float into(hu_format format, hu_mode mode, double x, uint32_t word) {
  volatile float sum = (float)x; /* an operator's binary32 result */
  return hu_quantize(format, mode, sum, mode.bits ? word >> (32 - mode.bits) : 0, NULL);
}

/* Word i of the stream of an addition: 1: the decay's, 2: the momentum's. */
static uint32_t word_of(hu_stream stream, uint64_t addition, size_t i) {
  hu_stream start = {stream.key, 0}, own = hu_stream_child(start, addition);
  own.counter += stream.counter;
  return hu_stream_word(own, i);
}

typedef struct weights {
  float w[N], g[N], m[N];
} weights;

/* g = D(g + decay w), m = M(momentum m + g), w = U(w - rate m), products to nearest. */
static void step_here(const hu_optimizer *optimizer, weights *x, hu_stream words) {
  const hu_mode rne = {0};
  const hu_format format = optimizer->state;
  double decay = (double)into(format, rne, optimizer->decay, 0),
         momentum = (double)into(format, rne, optimizer->momentum, 0);
  double rate = (double)into(format, rne, optimizer->rate, 0);
  for (size_t i = 0; i < N; i++) {
    double w = (double)x->w[i], g = (double)x->g[i];
    if (decay != 0)
      g = (double)into(format, optimizer->mode_decay, g + (double)into(format, rne, decay * w, 0),
                       word_of(words, 1, i));
    double kept = (double)into(format, rne, momentum * (double)x->m[i], 0);
    x->m[i] = into(format, optimizer->mode_momentum, kept + g, word_of(words, 2, i));
    double u = (double)into(format, rne, rate * (double)x->m[i], 0);
    x->w[i] = into(optimizer->weight, optimizer->mode, w - u, hu_stream_word(words, i));
  }
}

static void draw(t_random *random, weights *x, int first) {
  const hu_mode rne = {0};
  for (int i = 0; i < N; i++) {
    if (first) x->w[i] = into(hu_fp16_169_wang2018(), rne, ((double)t_below(random, 20000) - 10000) * 0x1p-13, 0);
    x->g[i] = into(hu_fp16_169_wang2018(), rne, ((double)t_below(random, 20000) - 10000) * 0x1p-15, 0);
  }
}

static hu_optimizer wang(void) {
  hu_optimizer optimizer = hu_optimizer_sgd(hu_fp16_169_wang2018());
  optimizer.rate = 0.1;
  optimizer.momentum = 0.9;
  optimizer.decay = 5e-4;
  optimizer.mode = optimizer.mode_decay = optimizer.mode_momentum = t_stochastic(HU_SRA, 16);
  return optimizer;
}

static int differs(const weights *x, const weights *y) {
  return memcmp(x->w, y->w, sizeof x->w) != 0 || memcmp(x->m, y->m, sizeof x->m) != 0;
}

/* So many steps; pieces: the tensor in two calls, the second one's words from its first number on. */
static void run(const hu_optimizer *optimizer, uint64_t seed, int pieces, weights *x, weights *expected) {
  t_random random = {seed};
  hu_optimizer_time now = {0, 1, 1};
  memset(x, 0, sizeof *x);
  for (int t = 0; t < STEPS; t++) {
    hu_stream words = {seed * 77, (uint64_t)t << 36};
    draw(&random, x, t == 0);
    if (expected && t == 0) *expected = *x;
    if (expected) memcpy(expected->g, x->g, sizeof x->g);
    hu_optimizer_tick(&now, optimizer);
    for (size_t at = 0, n = pieces ? 1111 : N; at < N; at += n, n = N - at) {
      hu_optimizer_arrays a = {x->w + at, x->g + at, x->m + at, NULL, NULL};
      hu_stream own = {words.key, words.counter + at};
      assert_int_equal(hu_optimizer_step(n, &a, optimizer, &now, own, NULL), HU_OK);
      if (at + n == N) break;
    }
    if (expected) step_here(optimizer, expected, words);
    if (expected && differs(x, expected)) fail_msg("step %d differs from its formulas", t);
  }
}

static void test_formulas(void **state) {
  (void)state;
  static weights x, expected;
  hu_optimizer optimizer = wang();
  run(&optimizer, 3, 0, &x, &expected);
  optimizer.mode_momentum = (hu_mode){0};
  run(&optimizer, 4, 0, &x, &expected);
  optimizer.mode_momentum = optimizer.mode_decay;
  optimizer.mode_decay = (hu_mode){0};
  run(&optimizer, 5, 0, &x, &expected);
  optimizer.decay = 0;
  run(&optimizer, 6, 0, &x, &expected);
}

/* Each mode changes something, and nothing depends on how a tensor is cut. */
static void test_modes(void **state) {
  (void)state;
  static weights x, y;
  hu_optimizer optimizer = wang();
  run(&optimizer, 7, 0, &x, NULL);
  run(&optimizer, 7, 1, &y, NULL);
  assert_false(differs(&x, &y));
  for (int k = 0; k < 2; k++) {
    hu_optimizer other = optimizer;
    *(k ? &other.mode_decay : &other.mode_momentum) = (hu_mode){0};
    run(&other, 7, 0, &y, NULL);
    assert_true(differs(&x, &y));
  }
}

/* What rounding to nearest loses, again and again: a momentum that is much larger than its gradients, 1 + 2^-12 in ten
 * digits. Rounded stochastically the gradients arrive, as a mean. */
static void test_swamped(void **state) {
  (void)state;
  static weights x;
  for (int stochastic = 0; stochastic < 2; stochastic++) {
    hu_optimizer optimizer = wang();
    hu_optimizer_time now = {0, 1, 1};
    double sum = 0;
    optimizer.rate = optimizer.decay = 0;
    optimizer.momentum = 0.5;
    if (!stochastic) optimizer.mode_momentum = (hu_mode){0};
    for (int i = 0; i < N; i++) {
      x.m[i] = 2;
      x.g[i] = 0x1p-12f;
    }
    hu_optimizer_arrays a = {x.w, x.g, x.m, NULL, NULL};
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, (hu_stream){99, 0}, NULL), HU_OK);
    for (int i = 0; i < N; i++) sum += (double)x.m[i] - 1;
    if (!stochastic) assert_true(sum == 0);
    if (stochastic) assert_true(fabs(sum / N - 0x1p-12) < 0x1p-14); /* 6 deviations of the mean */
  }
}

static void test_refused(void **state) {
  (void)state;
  const char *why = NULL;
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  optimizer.mode_momentum = t_stochastic(HU_SRA, 8);
  assert_int_equal(hu_optimizer_check(&optimizer, &why), HU_E_TRAIN);
  assert_non_null(strstr(why, "mode_momentum"));
  optimizer.mode_momentum = (hu_mode){0};
  optimizer.mode_decay = t_stochastic(HU_SRA, 8);
  assert_int_equal(hu_optimizer_check(&optimizer, &why), HU_OK);
  optimizer.mode_decay.bits = 77;
  assert_int_equal(hu_optimizer_check(&optimizer, &why), HU_E_MODE);
  assert_non_null(strstr(why, "mode_decay"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas), cmocka_unit_test(test_modes),
                                     cmocka_unit_test(test_swamped), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("optimizers' modes", tests, NULL, NULL);
}
