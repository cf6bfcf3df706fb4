/* SPDX-License-Identifier: MIT */
/* Products that an engine adds to a sum once they are rounded: the bits and counts of the product, the rounding and the
 * addition one after another, at every level, for several threads; and the gradients of weights that steps share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"
#include "train/engine/cpu.h"
#include "train/net/net.h"

typedef struct t_sizes {
  size_t m, n, k;
} t_sizes;

/* A piece of several rows, of a tile, of fewer; panels that are not full; one row more than pieces. */
static const t_sizes products[] = {{650, 104, 20}, {70, 1000, 1}, {37, 2003, 64}, {3, 30000, 7}, {1025, 65, 33}};
enum { PRODUCTS = sizeof products / sizeof *products, BEHIND = 3, MOST = 220000 };

static const char *const roundings[] = {"keep",  "float8_e5m2", "float8_e4m3fn,over=inf", "bfloat16,sra:8", "posit8",
                                        "s2fp8", "s2fp8,rtz"};
enum { ROUNDINGS = sizeof roundings / sizeof *roundings };

static float a[MOST], b[MOST], z[MOST], sum[MOST], want[MOST];

static hu_rounding rounding_of(const char *text) {
  hu_rounding rounding;
  size_t where = 0;
  if (hu_rounding_parse(&rounding, text, &where) != HU_OK) fail_msg("\"%s\": wrong at %zu", text, where);
  return rounding;
}

static hu_accum accum_of(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

/* specials: and such that results overflow in formats of 8 bits. */
static void draw(t_random *random, float *x, int specials) {
  for (size_t i = 0; i < MOST; i++) {
    x[i] = ldexpf((float)t_between(random, -9999, 9999), t_between(random, -20, specials ? -5 : -10));
    if (specials && t_below(random, 9000) == 0) x[i] = t_below(random, 2) ? INFINITY : NAN;
    if (specials && t_below(random, 40) == 0) x[i] = -0.0f;
  }
}

static hu_products product_of(const t_sizes *sizes, const hu_accum *accum, int ta, int tb) {
  hu_matrices of_z = {z, sizes->n, 0, 0, hu_binary32(), 0};
  hu_matrices of_a = {a, (ta ? sizes->m : sizes->k) + BEHIND, 0, 0, hu_binary32(), ta};
  hu_matrices of_b = {b, (tb ? sizes->k : sizes->n) + BEHIND, 0, 0, hu_binary32(), tb};
  hu_products product = {sizes->m, sizes->n, sizes->k, 1, 1, of_z, of_a, of_b, accum, {0, 0}, NULL};
  return product;
}

/* One after another, into want. */
static void by_itself(const hu_engine *engine, void *self, const hu_rounded_product *c, hu_rounding_counts *counts) {
  const hu_products *product = c->products;
  hu_task task = hui_task_of(1, product->m * product->n, want, z, NULL);
  assert_int_equal(engine->products(self, product), HU_OK);
  if (c->rounding->kind != HU_ROUND_KEEP)
    assert_int_equal(engine->round(self, product->m, product->n, z, z, c->rounding, c->words, counts), HU_OK);
  assert_int_equal(engine->run(self, HU_RUN_ACCUMULATE, &task), HU_OK);
}

/* NaN of any payload: which one an addition keeps is the processor's choice. */
static int same(float x, float y) { return memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); }

static void one_product(void *self, t_random *random, const t_sizes *sizes, const char *text, int ta) {
  const hu_engine *engine = hui_engine_cpu();
  const hu_rounding rounding = rounding_of(text);
  const hu_accum accum = accum_of("fp32");
  const hu_products product = product_of(sizes, &accum, ta, 0);
  hu_rounding_counts counts, wanted;
  hu_rounded_product c;
  int done = -1;
  memset(&counts, 0, sizeof counts);
  memset(&wanted, 0, sizeof wanted);
  memset(&c, 0, sizeof c);
  for (size_t i = 0; i < MOST; i++) sum[i] = want[i] = a[MOST - 1 - i];
  c.products = &product;
  c.rounding = &rounding;
  c.words.key = t_next32(random);
  c.words.counter = t_below(random, 5);
  c.counts = &counts;
  c.sum = sum;
  by_itself(engine, self, &c, &wanted);
  assert_int_equal(engine->add_rounded(self, &c, &done), HU_OK);
  assert_int_equal(done, ((hu_cpu *)self)->loops->product != NULL);
  for (size_t i = 0; done && i < MOST; i++) {
    if (!same(sum[i], want[i]))
      fail_msg("%s, %zu x %zu x %zu: number %zu is %a, not %a", text, sizes->m, sizes->n, sizes->k, i, (double)sum[i],
               (double)want[i]);
  }
  if (done) assert_memory_equal(&counts, &wanted, sizeof counts);
}

static void products_are_rounded_and_added(void **state) {
  (void)state;
  t_random random = {t_seed("rounded_products", 872)};
  for (size_t level = 0; level < t_levels(); level++) {
    for (uint32_t threads = 1; threads <= 3; threads++) {
      void *self;
      hu_cpu_levels_off = t_levels_off(level);
      assert_int_equal(hui_engine_cpu()->open(&self, threads), HU_OK);
      int few = ((hu_cpu *)self)->loops->product == NULL; /* one is enough to see that it is refused */
      for (size_t i = 0; i < (few ? 1 : PRODUCTS * ROUNDINGS); i++) {
        if (i % 8 == 0) draw(&random, a, i % 16 == 0);
        if (i % 8 == 0) draw(&random, b, 0);
        one_product(self, &random, &products[i % PRODUCTS], roundings[i % ROUNDINGS], i % 2 == 0);
      }
      if (level == 0 && threads == 2) one_product(self, &random, &products[0], "s2fp8,srb:7", 1); /* slow */
      hui_engine_cpu()->close(self);
    }
  }
  hu_cpu_levels_off = 0;
}

/* Products that are deep or small, of another order, of several at once; a rounding by blocks. */
static void others_are_refused(void **state) {
  (void)state;
  void *self;
  const t_sizes usual = {650, 104, 20}, deep = {650, 104, 65}, none = {650, 104, 0}, small = {65, 104, 20},
                wide = {2, 70000, 1};
  const hu_accum plain = accum_of("fp32"), narrow = accum_of("seq(bfloat16)");
  const hu_rounding keep = hu_rounding_keep(), blocks = rounding_of("mxfp8_e4m3");
  hu_products product[] = {product_of(&deep, &plain, 1, 0),   product_of(&none, &plain, 1, 0),
                           product_of(&small, &plain, 1, 0),  product_of(&wide, &plain, 1, 0),
                           product_of(&usual, &narrow, 1, 0), product_of(&usual, &plain, 1, 1),
                           product_of(&usual, &plain, 1, 0),  product_of(&usual, &plain, 1, 0)};
  enum { ALL = sizeof product / sizeof *product };
  product[ALL - 1].inner = 2;
  assert_int_equal(hui_engine_cpu()->open(&self, 1), HU_OK);
  for (size_t i = 0; i < ALL; i++) {
    hu_rounded_product c;
    int done = -1;
    memset(&c, 0, sizeof c);
    c.products = &product[i];
    c.rounding = i == ALL - 2 ? &blocks : &keep;
    c.sum = sum;
    assert_int_equal(hui_engine_cpu()->add_rounded(self, &c, &done), HU_OK);
    assert_int_equal(done, 0);
  }
  hui_engine_cpu()->close(self);
}

/* ---- weights of several steps ---- */

enum { BATCH = 3, STEPS = 5, COLS = 130, UNITS = 132, MOST_GRADIENTS = 400000 };
static size_t added;

static hu_status watched(void *self, const hu_rounded_product *c, int *done) {
  hu_status status = hui_engine_cpu()->add_rounded(self, c, done);
  added += (size_t)*done;
  return status;
}

static size_t gradients(const hu_engine *engine, uint32_t threads, const char *text, float *to) {
  hu_net *net = hu_net_new_on(engine, BATCH, threads);
  hu_product_rounding product = hu_product_rounding_plain();
  uint32_t labels[BATCH] = {1, 0, 2};
  int in = hu_net_input(net, STEPS, COLS), h = hu_net_lstm(net, in, UNITS, 1);
  size_t n = 0, changed = 0;
  assert_true(hu_net_cross_entropy(net, hu_net_linear(net, h, 3, 1), 1) >= 0);
  product.dz_w = rounding_of("bfloat16"); /* else an engine sums what is kept at the end of the pass */
  product.dw_out = rounding_of(text);
  for (int i = 0; i < hu_net_values(net); i++) changed += hu_net_round_product(net, i, &product) == HU_OK;
  assert_int_equal(changed, 2 * STEPS + 1);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  assert_int_equal(hu_net_feed(net, in, b), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 8), HU_OK);
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor weights = hu_net_parameter(net, i);
    assert_true(n + weights.rows * weights.cols < MOST_GRADIENTS);
    memcpy(to + n, weights.gradients, weights.rows * weights.cols * sizeof *to);
    n += weights.rows * weights.cols;
  }
  for (int i = 0; i < hu_net_values(net); i++) to[n++] = (float)net->value[i].counts_back.events.inexact;
  hu_net_free(net);
  return n;
}

static void gradients_of_steps(void **state) {
  static float expected[MOST_GRADIENTS], got[MOST_GRADIENTS];
  (void)state;
  t_random random = {t_seed("rounded_gradients", 873)};
  hu_engine without = *hui_engine_cpu(), with = without;
  without.add_rounded = NULL;
  with.add_rounded = watched;
  draw(&random, b, 0);
  int has = hui_cpu_alone().loops->product != NULL;
  for (size_t i = 0; i < ROUNDINGS; i++) {
    for (uint32_t threads = 1; threads <= 2; threads++) {
      added = 0;
      size_t n = gradients(&without, threads, roundings[i], expected);
      assert_int_equal(gradients(&with, threads, roundings[i], got), n);
      assert_memory_equal(got, expected, n * sizeof *got);
      /* Of x and h, all steps but the first that gives. */
      assert_int_equal(added, has ? 2 * (STEPS - 1) : 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_rounded_and_added),
                                     cmocka_unit_test(others_are_refused), cmocka_unit_test(gradients_of_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
