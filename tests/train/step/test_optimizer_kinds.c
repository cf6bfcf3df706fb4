/* SPDX-License-Identifier: MIT */
/* Nesterov's momentum and Adagrad: against the formulas of optimizer.h in binary64, where every
 * operator of bfloat16 numbers has one rounding; against the binary32 operators of torch; identities; what is refused.
 */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 300, STEPS = 6, NEAREST = 0, STOCHASTIC = 1, KAHAN = 2, ENDINGS = 3 };

/* The arrays of an optimizer. */
typedef struct arrays {
  float w[N], g[N], m[N], v[N], c[N];
} arrays;

/* x on the grid of bfloat16. Products of two such numbers are exact in binary64, and so are sums of two of them if they
 * are not 2^40 apart; quotients and roots have 53 digits, which is more than 2 x 8 + 2. */
static double q(double x) {
  const hu_mode rne = {0};
  return hu_decode64(hu_bfloat16(), hu_encode64(hu_bfloat16(), rne, x, 0, NULL));
}

static double to_weight(const hu_optimizer *optimizer, double x, uint32_t word) {
  uint32_t bits = optimizer->mode.bits ? word >> (32 - optimizer->mode.bits) : 0;
  return hu_decode64(optimizer->weight, hu_encode64(optimizer->weight, optimizer->mode, x, bits, NULL));
}

/* ---- the formulas ---- */

/* The update u of one weight by SGD. */
static double sgd_update(const hu_optimizer *optimizer, arrays *x, int i) {
  double g = (double)x->g[i], w = (double)x->w[i], mu = q(optimizer->momentum), d;
  if (optimizer->decay != 0) g = q(g + q(q(optimizer->decay) * w));
  double m = optimizer->momentum != 0 ? q(q(mu * (double)x->m[i]) + g) : g;
  d = optimizer->nesterov && optimizer->momentum != 0 ? q(g + q(mu * m)) : m;
  if (optimizer->momentum != 0) x->m[i] = (float)m;
  return optimizer->fused ? d : q(q(optimizer->rate) * d);
}

static double adagrad_update(const hu_optimizer *optimizer, arrays *x, int i) {
  double g = (double)x->g[i], w = (double)x->w[i];
  if (optimizer->decay != 0) g = q(g + q(q(optimizer->decay) * w));
  double v = q((double)x->v[i] + q(g * g));
  x->v[i] = (float)v;
  return q(q(optimizer->rate) * q(g / q(q(sqrt(v)) + q(optimizer->eps))));
}

static void end_update(const hu_optimizer *optimizer, arrays *x, int i, double u, uint32_t word) {
  double w = (double)x->w[i], c = (double)x->c[i];
  if (optimizer->update != HU_UPDATE_KAHAN) {
    x->w[i] = (float)to_weight(optimizer, optimizer->fused ? w - q(optimizer->rate) * u : w - u, word);
    return;
  }
  double y = q(-u - c), s = q(w + y), d = q(s - w);
  x->c[i] = (float)q(d - y);
  x->w[i] = (float)s;
}

/* ---- steps of both ---- */

static void draw(t_random *random, arrays *x, int first) {
  for (int i = 0; i < N; i++) {
    if (first) x->w[i] = (float)q(((double)t_below(random, 2000) - 1000) * 0x1p-9);
    x->g[i] = (float)q(((double)t_below(random, 2000) - 1000) * 0x1p-11);
  }
  x->g[0] = 0;
}

static hu_optimizer ending(hu_optimizer optimizer, int how) {
  if (how == STOCHASTIC) optimizer.mode = t_stochastic(HU_SRA, 16);
  if (how == KAHAN) optimizer.update = HU_UPDATE_KAHAN;
  return optimizer;
}

typedef double updates(const hu_optimizer *optimizer, arrays *x, int i);

static void same_as_formulas(hu_optimizer optimizer, updates *update_of, uint64_t seed) {
  static arrays x, expected;
  const int squares = optimizer.kind != HU_SGD;
  t_random random = {seed};
  hu_optimizer_time now = {0, 1, 1};
  memset(&x, 0, sizeof x);
  for (int t = 0; t < STEPS; t++) {
    hu_stream words = {seed, (uint64_t)t << 36};
    draw(&random, &x, t == 0);
    if (t == 0) expected = x;
    memcpy(expected.g, x.g, sizeof x.g);
    hu_optimizer_arrays a = {x.w, x.g, !squares && optimizer.momentum != 0 ? x.m : NULL, squares ? x.v : NULL,
                             optimizer.update == HU_UPDATE_KAHAN ? x.c : NULL};
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, words, NULL), HU_OK);
    for (int i = 0; i < N; i++)
      end_update(&optimizer, &expected, i, update_of(&optimizer, &expected, i), hu_stream_word(words, (uint64_t)i));
    for (int i = 0; i < N; i++)
      if (t_bits32(x.w[i]) != t_bits32(expected.w[i]) || x.m[i] != expected.m[i] || x.v[i] != expected.v[i] ||
          x.c[i] != expected.c[i])
        fail_msg("step %d, weight %d: %a, not %a; m %a %a, v %a %a", t, i, (double)x.w[i], (double)expected.w[i],
                 (double)x.m[i], (double)expected.m[i], (double)x.v[i], (double)expected.v[i]);
  }
}

static hu_optimizer nesterov(hu_format format) {
  hu_optimizer optimizer = hu_optimizer_sgd(format);
  optimizer.nesterov = 1;
  optimizer.rate = 0.05;
  return optimizer;
}

static void nesterov_in_bfloat16(void **state) {
  (void)state;
  for (int how = 0; how < ENDINGS; how++) {
    hu_optimizer optimizer = ending(nesterov(hu_bfloat16()), how);
    same_as_formulas(optimizer, sgd_update, 11);
    optimizer.decay = 0.01;
    same_as_formulas(optimizer, sgd_update, 12);
    optimizer.nesterov = 0; /* the formulas without it, too: what differs is what the key says */
    same_as_formulas(optimizer, sgd_update, 13);
  }
  hu_optimizer optimizer = nesterov(hu_bfloat16());
  optimizer.fused = 1;
  same_as_formulas(optimizer, sgd_update, 14);
}

/* torch.optim.SGD(momentum=0.9, nesterov=True): buf = 0.9 buf + g; g = g + 0.9 buf; w = w - rate g. */
static void nesterov_in_binary32(void **state) {
  (void)state;
  static arrays x;
  static float w[N], buf[N];
  t_random random = {21};
  hu_optimizer optimizer = nesterov(hu_binary32());
  hu_optimizer_time now = {0, 1, 1};
  memset(&x, 0, sizeof x);
  for (int t = 0; t < STEPS; t++) {
    draw(&random, &x, t == 0);
    if (t == 0) memcpy(w, x.w, sizeof w);
    hu_optimizer_arrays a = {x.w, x.g, x.m, NULL, NULL};
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
    for (int i = 0; i < N; i++) {
      volatile float old = 0.9f * buf[i];
      buf[i] = old + x.g[i];
      volatile float more = 0.9f * buf[i];
      volatile float d = x.g[i] + more;
      volatile float u = 0.05f * d;
      w[i] -= u;
    }
    assert_memory_equal(x.w, w, sizeof w);
    assert_memory_equal(x.m, buf, sizeof buf);
  }
}

/* One number, worked by hand: momentum 1/2, rate 1, gradients 1 and 1: m = 1, 3/2; d = 3/2, 7/4; w = 8, 13/2, 19/4. */
static void nesterov_by_hand(void **state) {
  (void)state;
  hu_optimizer optimizer = nesterov(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  float w = 8, g = 1, m = 0;
  hu_optimizer_arrays a = {&w, &g, &m, NULL, NULL};
  optimizer.momentum = 0.5;
  optimizer.rate = 1;
  assert_int_equal(hu_optimizer_step(1, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(m == 1 && w == 6.5f);
  assert_int_equal(hu_optimizer_step(1, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(m == 1.5f && w == 4.75f);
}

static void nesterov_without_momentum(void **state) {
  (void)state;
  for (int how = 0; how < ENDINGS; how++) {
    static arrays x, y;
    t_random random = {31};
    hu_optimizer optimizer = ending(nesterov(hu_bfloat16()), how), plain = optimizer;
    hu_optimizer_time now = {1, 1, 1};
    optimizer.momentum = plain.momentum = 0;
    plain.nesterov = 0;
    memset(&x, 0, sizeof x);
    draw(&random, &x, 1);
    y = x;
    hu_optimizer_arrays a = {x.w, x.g, NULL, NULL, how == KAHAN ? x.c : NULL};
    hu_optimizer_arrays b = {y.w, y.g, NULL, NULL, how == KAHAN ? y.c : NULL};
    assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, (hu_stream){5, 0}, NULL), HU_OK);
    assert_int_equal(hu_optimizer_step(N, &b, &plain, &now, (hu_stream){5, 0}, NULL), HU_OK);
    assert_memory_equal(&x, &y, sizeof x);
  }
}

/* ---- Adagrad ---- */

static void adagrad_in_bfloat16(void **state) {
  (void)state;
  for (int how = 0; how < ENDINGS; how++) {
    hu_optimizer optimizer = ending(hu_optimizer_adagrad(hu_bfloat16()), how);
    same_as_formulas(optimizer, adagrad_update, 41);
    optimizer.decay = 0.01;
    optimizer.momentum = 0.9; /* is none of its numbers */
    same_as_formulas(optimizer, adagrad_update, 42);
    optimizer.eps = 0.5;
    same_as_formulas(optimizer, adagrad_update, 43);
  }
}

/* sum = sum + g g; w = w - rate (g / (sqrt(sum) + eps)), one binary32 operation after another. */
static void adagrad_in_binary32(void **state) {
  (void)state;
  static arrays x;
  static float w[N], sum[N];
  t_random random = {51};
  hu_optimizer optimizer = hu_optimizer_adagrad(hu_binary32());
  hu_optimizer_time now = {0, 1, 1};
  memset(&x, 0, sizeof x);
  for (int t = 0; t < STEPS; t++) {
    draw(&random, &x, t == 0);
    if (t == 0) memcpy(w, x.w, sizeof w);
    hu_optimizer_arrays a = {x.w, x.g, NULL, x.v, NULL};
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_optimizer_step(N, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
    for (int i = 0; i < N; i++) {
      volatile float square = x.g[i] * x.g[i];
      sum[i] += square;
      volatile float root = sqrtf(sum[i]);
      volatile float d = root + 1e-10f;
      volatile float u = x.g[i] / d;
      volatile float step = 0.01f * u;
      w[i] -= step;
    }
    assert_memory_equal(x.w, w, sizeof w);
    assert_memory_equal(x.v, sum, sizeof sum);
  }
}

/* Gradients 3 and 4 at rate 1 without eps: v = 9, 25; u = 1, 4/5. No gradient: u = 0 / eps, or NaN without eps. */
static void adagrad_by_hand(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_adagrad(hu_binary32());
  hu_optimizer_time now = {1, 1, 1};
  hu_update_counts counts = {0, 0};
  float w[2] = {8, 5}, g[2] = {3, 0}, v[2] = {0, 0};
  hu_optimizer_arrays a = {w, g, NULL, v, NULL};
  optimizer.rate = 1;
  assert_int_equal(hu_optimizer_step(2, &a, &optimizer, &now, (hu_stream){0, 0}, &counts), HU_OK);
  assert_true(w[0] == 7 && v[0] == 9 && w[1] == 5 && v[1] == 0 && counts.moved == 1);
  g[0] = -4;
  assert_int_equal(hu_optimizer_step(2, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(w[0] == 7 + 0.8f && v[0] == 25);
  optimizer.eps = 0;
  assert_int_equal(hu_optimizer_step(2, &a, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_int_equal(t_bits32(w[1]), 0x7FC00000);
  /* In bfloat16 the sum of squares of 1 ends at 256, where 1 is half of the last place. */
  hu_optimizer narrow = hu_optimizer_adagrad(hu_bfloat16());
  float one = 1, weight = 1, sum = 0;
  hu_optimizer_arrays b = {&weight, &one, NULL, &sum, NULL};
  for (int t = 0; t < 300; t++)
    assert_int_equal(hu_optimizer_step(1, &b, &narrow, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(sum == 256);
}

static void memory(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_adagrad(hu_bfloat16());
  assert_int_equal(hu_optimizer_bytes(&optimizer), 4);
  optimizer.update = HU_UPDATE_KAHAN;
  assert_int_equal(hu_optimizer_bytes(&optimizer), 6);
  optimizer = nesterov(hu_binary32());
  assert_int_equal(hu_optimizer_bytes(&optimizer), 8);
}

/* ---- what is refused ---- */

static void refused(hu_optimizer optimizer, const char *word) {
  const char *said = "";
  assert_int_equal(hu_optimizer_check(&optimizer, &said), HU_E_TRAIN);
  if (!strstr(said, word)) fail_msg("'%s' does not name %s", said, word);
}

static void misuse(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  optimizer.nesterov = 1;
  refused(optimizer, "nesterov");
  optimizer = nesterov(hu_binary32());
  optimizer.nesterov = 2;
  refused(optimizer, "nesterov");
  optimizer = hu_optimizer_adagrad(hu_binary32());
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
  optimizer.nesterov = 1;
  refused(optimizer, "nesterov");
  optimizer = hu_optimizer_adagrad(hu_binary32());
  optimizer.eps = -1;
  refused(optimizer, "eps");
  optimizer.eps = 0;
  optimizer.fused = 1;
  refused(optimizer, "fused");
  optimizer.fused = 0;
  optimizer.coupled = 1;
  refused(optimizer, "coupled");
  optimizer.coupled = 0;
  optimizer.kind = 4;
  refused(optimizer, "kind");
  optimizer.kind = HU_ADAGRAD;
  float w = 1, g = 1, v = 0, m = 0;
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays without = {&w, &g, NULL, NULL, NULL}, more = {&w, &g, &m, &v, NULL};
  assert_int_equal(hu_optimizer_step(1, &without, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_E_NULL);
  assert_int_equal(hu_optimizer_step(1, &more, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_E_NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nesterov_in_bfloat16),
                                     cmocka_unit_test(nesterov_in_binary32),
                                     cmocka_unit_test(nesterov_by_hand),
                                     cmocka_unit_test(nesterov_without_momentum),
                                     cmocka_unit_test(adagrad_in_bfloat16),
                                     cmocka_unit_test(adagrad_in_binary32),
                                     cmocka_unit_test(adagrad_by_hand),
                                     cmocka_unit_test(memory),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("kinds of optimizers", tests, NULL, NULL);
}
