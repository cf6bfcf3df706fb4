/* SPDX-License-Identifier: MIT */
/* Nesterov's momentum and what else an optimizer may be: against the formulas of optimizer.h in binary64, where every
 * operator of bfloat16 numbers has one rounding; against the binary32 operators of torch; identities; what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/optimizer.h"
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

static double to_weight(const hu_optimizer *o, double x, uint32_t word) {
  uint32_t bits = o->mode.bits ? word >> (32 - o->mode.bits) : 0;
  return hu_decode64(o->weight, hu_encode64(o->weight, o->mode, x, bits, NULL));
}

/* ---- the formulas ---- */

/* The update u of one weight by SGD. */
static double sgd_update(const hu_optimizer *o, arrays *x, int i) {
  double g = (double)x->g[i], w = (double)x->w[i], mu = q(o->momentum), d;
  if (o->decay != 0) g = q(g + q(q(o->decay) * w));
  double m = o->momentum != 0 ? q(q(mu * (double)x->m[i]) + g) : g;
  d = o->nesterov && o->momentum != 0 ? q(g + q(mu * m)) : m;
  if (o->momentum != 0) x->m[i] = (float)m;
  return o->fused ? d : q(q(o->rate) * d);
}

static void end_update(const hu_optimizer *o, arrays *x, int i, double u, uint32_t word) {
  double w = (double)x->w[i], c = (double)x->c[i];
  if (o->update != HU_UPDATE_KAHAN) {
    x->w[i] = (float)to_weight(o, o->fused ? w - q(o->rate) * u : w - u, word);
    return;
  }
  double y = q(-u - c), s = q(w + y), d = q(s - w);
  x->c[i] = (float)q(d - y);
  x->w[i] = (float)s;
}

/* ---- steps of both ---- */

static void draw(t_random *r, arrays *x, int first) {
  for (int i = 0; i < N; i++) {
    if (first) x->w[i] = (float)q(((double)t_below(r, 2000) - 1000) * 0x1p-9);
    x->g[i] = (float)q(((double)t_below(r, 2000) - 1000) * 0x1p-11);
  }
  x->g[0] = 0;
}

static hu_optimizer ending(hu_optimizer o, int how) {
  if (how == STOCHASTIC) o.mode = t_stochastic(HU_SRA, 16);
  if (how == KAHAN) o.update = HU_UPDATE_KAHAN;
  return o;
}

typedef double updates(const hu_optimizer *o, arrays *x, int i);

static void same_as_formulas(hu_optimizer o, updates *update_of, uint64_t seed) {
  static arrays x, want;
  const int squares = o.kind != HU_SGD;
  t_random r = {seed};
  hu_optimizer_time now = {0, 1, 1};
  memset(&x, 0, sizeof x);
  for (int t = 0; t < STEPS; t++) {
    hu_stream words = {seed, (uint64_t)t << 36};
    draw(&r, &x, t == 0);
    if (t == 0) want = x;
    memcpy(want.g, x.g, sizeof x.g);
    hu_optimizer_arrays a = {x.w, x.g, !squares && o.momentum != 0 ? x.m : NULL, squares ? x.v : NULL,
                             o.update == HU_UPDATE_KAHAN ? x.c : NULL};
    hu_optimizer_tick(&now, &o);
    assert_int_equal(hu_optimizer_step(N, &a, &o, &now, words, NULL), HU_OK);
    for (int i = 0; i < N; i++) end_update(&o, &want, i, update_of(&o, &want, i), hu_stream_word(words, (uint64_t)i));
    for (int i = 0; i < N; i++)
      if (t_bits32(x.w[i]) != t_bits32(want.w[i]) || x.m[i] != want.m[i] || x.v[i] != want.v[i] || x.c[i] != want.c[i])
        fail_msg("step %d, weight %d: %a, not %a; m %a %a, v %a %a", t, i, (double)x.w[i], (double)want.w[i],
                 (double)x.m[i], (double)want.m[i], (double)x.v[i], (double)want.v[i]);
  }
}

static hu_optimizer nesterov(hu_format f) {
  hu_optimizer o = hu_optimizer_sgd(f);
  o.nesterov = 1;
  o.rate = 0.05;
  return o;
}

static void nesterov_in_bfloat16(void **state) {
  (void)state;
  for (int how = 0; how < ENDINGS; how++) {
    hu_optimizer o = ending(nesterov(hu_bfloat16()), how);
    same_as_formulas(o, sgd_update, 11);
    o.decay = 0.01;
    same_as_formulas(o, sgd_update, 12);
    o.nesterov = 0; /* the formulas without it, too: what differs is what the key says */
    same_as_formulas(o, sgd_update, 13);
  }
  hu_optimizer o = nesterov(hu_bfloat16());
  o.fused = 1;
  same_as_formulas(o, sgd_update, 14);
}

/* torch.optim.SGD(momentum=0.9, nesterov=True): buf = 0.9 buf + g; g = g + 0.9 buf; w = w - rate g. */
static void nesterov_in_binary32(void **state) {
  (void)state;
  static arrays x;
  static float w[N], buf[N];
  t_random r = {21};
  hu_optimizer o = nesterov(hu_binary32());
  hu_optimizer_time now = {0, 1, 1};
  memset(&x, 0, sizeof x);
  for (int t = 0; t < STEPS; t++) {
    draw(&r, &x, t == 0);
    if (t == 0) memcpy(w, x.w, sizeof w);
    hu_optimizer_arrays a = {x.w, x.g, x.m, NULL, NULL};
    hu_optimizer_tick(&now, &o);
    assert_int_equal(hu_optimizer_step(N, &a, &o, &now, (hu_stream){0, 0}, NULL), HU_OK);
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
  hu_optimizer o = nesterov(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  float w = 8, g = 1, m = 0;
  hu_optimizer_arrays a = {&w, &g, &m, NULL, NULL};
  o.momentum = 0.5;
  o.rate = 1;
  assert_int_equal(hu_optimizer_step(1, &a, &o, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(m == 1 && w == 6.5f);
  assert_int_equal(hu_optimizer_step(1, &a, &o, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(m == 1.5f && w == 4.75f);
}

static void nesterov_without_momentum(void **state) {
  (void)state;
  for (int how = 0; how < ENDINGS; how++) {
    static arrays x, y;
    t_random r = {31};
    hu_optimizer o = ending(nesterov(hu_bfloat16()), how), plain = o;
    hu_optimizer_time now = {1, 1, 1};
    o.momentum = plain.momentum = 0;
    plain.nesterov = 0;
    memset(&x, 0, sizeof x);
    draw(&r, &x, 1);
    y = x;
    hu_optimizer_arrays a = {x.w, x.g, NULL, NULL, how == KAHAN ? x.c : NULL};
    hu_optimizer_arrays b = {y.w, y.g, NULL, NULL, how == KAHAN ? y.c : NULL};
    assert_int_equal(hu_optimizer_step(N, &a, &o, &now, (hu_stream){5, 0}, NULL), HU_OK);
    assert_int_equal(hu_optimizer_step(N, &b, &plain, &now, (hu_stream){5, 0}, NULL), HU_OK);
    assert_memory_equal(&x, &y, sizeof x);
  }
}

/* ---- what is refused ---- */

static void refused(hu_optimizer o, const char *word) {
  const char *said = "";
  assert_int_equal(hu_optimizer_check(&o, &said), HU_E_TRAIN);
  if (!strstr(said, word)) fail_msg("'%s' does not name %s", said, word);
}

static void misuse(void **state) {
  (void)state;
  hu_optimizer o = hu_optimizer_adamw(hu_binary32());
  o.nesterov = 1;
  refused(o, "nesterov");
  o = nesterov(hu_binary32());
  o.nesterov = 2;
  refused(o, "nesterov");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nesterov_in_bfloat16), cmocka_unit_test(nesterov_in_binary32),
                                     cmocka_unit_test(nesterov_by_hand), cmocka_unit_test(nesterov_without_momentum),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("kinds of optimizers", tests, NULL, NULL);
}
