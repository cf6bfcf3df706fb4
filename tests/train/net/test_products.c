/* SPDX-License-Identifier: MIT */
/* The products of the CPU's engine, and sums of products: bit for bit chains of fma, at every level, with one thread
 * and with several. Weights of several operators: the same gradients with sums at the end of the pass and without. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
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

/* Sides at the edges of tiles (4, 6, 12, 16, 20, 24, 48), of blocks of k (256) and of rows (240), with strides behind;
 * each remainder of rows over 6; so many columns (2000) that A is packed. */
static const t_sizes products[] = {{1, 1, 1},       {20, 16, 5},   {20, 33, 300}, {23, 160, 40}, {19, 48, 257},
                                   {24, 31, 64},    {12, 16, 256}, {13, 17, 512}, {245, 40, 70}, {250, 16, 3},
                                   {7, 5, 0},       {4, 200, 600}, {30, 999, 50}, {200, 96, 80}, {3, 400, 500},
                                   {300, 130, 65},  {8, 64, 30},   {9, 64, 30},   {10, 64, 30},  {11, 64, 30},
                                   {22, 2001, 257}, {31, 2001, 4}};

enum { BEHIND = 3, MOST = 1 << 19 };
static float a[MOST], b[MOST], z[MOST], want[MOST];
static size_t used = MOST / 2; /* numbers of each that a test looks at */

enum { USUAL = 0, SPECIAL = 1, TINY = 2 }; /* TINY: every product of 2^-100 and -2^-100 becomes -0 */

static void draw(float *x, uint64_t seed, int how) {
  static const float specials[] = {INFINITY, 0x1p-149f, -0x1p-130f, -0.0f, 0x1p127f};
  t_random random = {seed};
  for (size_t i = 0; i < used; i++) {
    x[i] = ldexpf((float)t_between(&random, -9999, 9999), t_between(&random, -20, -10));
    if (how == SPECIAL && t_below(&random, 50) == 0) x[i] = specials[t_below(&random, 5)];
    if (how == TINY) x[i] = x == a ? 0x1p-100f : -0x1p-100f;
  }
}

/* Product of sizes whose matrices have a few numbers behind each row. */
static hu_products product_of(const t_sizes *sizes, const hu_accum *accum, int ta, int tb) {
  hu_matrices of_z = {z, sizes->n + BEHIND, 0, 0, hu_binary32(), 0};
  hu_matrices of_a = {a, (ta ? sizes->m : sizes->k) + BEHIND, 0, 0, hu_binary32(), ta};
  hu_matrices of_b = {b, (tb ? sizes->k : sizes->n) + BEHIND, 0, 0, hu_binary32(), tb};
  hu_products product = {sizes->m, sizes->n, sizes->k, 1, 1, of_z, of_a, of_b, accum, {0, 0}, NULL};
  return product;
}

/* At least as many as the largest of the three matrices has, whichever is transposed. */
static size_t numbers_of(const t_sizes *sizes) {
  size_t m = sizes->m + BEHIND, n = sizes->n + BEHIND, k = sizes->k + BEHIND, most = m * n;
  if (most < m * k) most = m * k;
  return most < k * n ? k * n : most;
}

static float number(const hu_matrices *m, size_t i, size_t j) {
  return m->data[m->transposed ? j * m->ld + i : i * m->ld + j];
}

static float chain(const hu_products *product, size_t i, size_t j) {
  float s = 0;
  for (size_t k = 0; k < product->k; k++) s = fmaf(number(&product->a, i, k), number(&product->b, k, j), s);
  return s;
}

/* Equal bits; of NaN any pattern, which no product decides. What is behind rows of Z is untouched. */
static void assert_result(const hu_products *product) {
  for (size_t i = 0; i < product->m; i++) {
    for (size_t j = 0; j < product->z.ld && i * product->z.ld + j < used; j++) {
      const float *x = &product->z.data[i * product->z.ld + j], *y = &want[i * product->z.ld + j];
      if (isnan(*y) ? isnan(*x) : memcmp(x, y, sizeof *x) == 0) continue;
      fail_msg("%zu x %zu, k %zu: (%zu, %zu) is %a, not %a", product->m, product->n, product->k, i, j, (double)*x,
               (double)*y);
    }
  }
}

static void fill(float *x) {
  for (size_t i = 0; i < used; i++) x[i] = (float)(i % 1000) - 500;
}

/* f for each level, with one thread and with two or three, which levels take by turns. */
static void for_engines(void (*f)(const hu_engine *engine, void *self, const void *context), const void *context) {
  for (size_t level = 0; level < t_levels(); level++) {
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t threads = k ? 2 + level % 2 : 1;
      const hu_engine *engine = hui_engine_cpu();
      void *self;
      hu_cpu_levels_off = t_levels_off(level);
      assert_int_equal(engine->open(&self, threads), HU_OK);
      f(engine, self, context);
      engine->close(self);
      hu_cpu_levels_off = 0;
    }
  }
}

/* B in panels, which alone are read then. */
static void multiply_panels(const hu_engine *engine, void *self, hu_products product) {
  static float panels[MOST], nothing[MOST];
  size_t rows = (product.n + HU_PRODUCT_PANEL - 1) / HU_PRODUCT_PANEL * HU_PRODUCT_PANEL;
  size_t size = engine->pack(self, &product.b, product.k, product.n, NULL);
  assert_int_equal(size, ((const hu_cpu *)self)->loops->product ? rows * product.k : 0);
  if (!size) return;
  assert_true(size < MOST);
  panels[size] = 12;
  assert_int_equal(engine->pack(self, &product.b, product.k, product.n, panels), size);
  assert_true(panels[size] == 12);
  product.b.data = nothing;
  product.panels = panels;
  fill(z);
  assert_int_equal(engine->products(self, &product), HU_OK);
  assert_result(&product);
}

static void multiply(const hu_engine *engine, void *self, const void *context) {
  const hu_products *product = context;
  fill(z);
  assert_int_equal(engine->products(self, product), HU_OK);
  assert_result(product);
  multiply_panels(engine, self, *product);
}

static hu_accum fp32(void) {
  hu_accum accum;
  assert_int_equal(hu_accum_parse(&accum, "fp32", NULL), HU_OK);
  return accum;
}

static void products_are_chains(void **state) {
  (void)state;
  hu_accum accum = fp32();
  for (size_t i = 0; i < 4 * (sizeof products / sizeof *products); i++) {
    hu_products product = product_of(&products[i / 4], &accum, i & 1, i >> 1 & 1);
    used = numbers_of(&products[i / 4]);
    assert_true(used <= MOST);
    draw(a, i, (int)(i % 5 % 3));
    draw(b, i + 1000, (int)(i % 5 % 3));
    fill(want);
    for (size_t r = 0; r < product.m; r++) {
      for (size_t c = 0; c < product.n; c++) want[r * product.z.ld + c] = chain(&product, r, c);
    }
    for_engines(multiply, &product);
  }
  used = MOST / 2;
}

/* ---- sums of products ---- */

enum { TERMS = 37 };

typedef struct t_terms {
  hu_products p[TERMS];
  size_t count;
  int begun;
} t_terms;

static void add(const hu_engine *engine, void *self, const void *context) {
  const t_terms *terms = context;
  const hu_cpu *c = self;
  fill(z);
  int done = engine->sum_products(self, terms->count, terms->p, terms->begun);
  assert_int_equal(done, c->loops->product != NULL);
  if (done) assert_result(terms->p);
}

/* Term i is of numbers from another place on. */
static t_terms terms_of(const t_sizes *sizes, size_t count, int begun, const hu_accum *accum) {
  t_terms terms;
  terms.count = count;
  terms.begun = begun;
  for (size_t i = 0; i < count; i++) {
    t_sizes own = {sizes->m, sizes->n, sizes->k + i % 3};
    terms.p[i] = product_of(&own, accum, 1, 0);
    terms.p[i].a.data += 7 * i;
    terms.p[i].b.data += 11 * i;
  }
  return terms;
}

static void sums_are_chains_added(void **state) {
  (void)state;
  static const t_sizes each[] = {{1, 1, 1}, {12, 16, 20}, {13, 33, 4}, {50, 130, 20}, {24, 40, 200}, {5, 15, 510}};
  hu_accum accum = fp32();
  for (size_t i = 0; i < 6 * (sizeof each / sizeof *each); i++) {
    static const size_t counts[] = {1, 2, TERMS};
    t_terms terms = terms_of(&each[i / 6], counts[i % 3], i / 3 % 2, &accum);
    draw(a, i, (int)(i % 5 % 3));
    draw(b, i + 1000, (int)(i % 5 % 3));
    fill(want);
    for (size_t r = 0; r < terms.p->m; r++) {
      for (size_t c = 0; c < terms.p->n; c++) {
        float *y = &want[r * terms.p->z.ld + c];
        for (size_t k = 0; k < terms.count; k++)
          *y = k || terms.begun ? *y + chain(&terms.p[k], r, c) : chain(&terms.p[k], r, c);
      }
    }
    for_engines(add, &terms);
  }
}

static void other_sums(void **state) {
  (void)state;
  const hu_engine *engine = hui_engine_cpu();
  hu_cpu cpu = hui_cpu_alone();
  hu_accum accum = fp32(), narrow;
  const t_sizes sizes = {4, 4, 4}, deep = {4, 4, 4096}, none = {4, 4, 0};
  assert_int_equal(hu_accum_parse(&narrow, "seq(bfloat16)", NULL), HU_OK);
  const hu_products bad[] = {product_of(&sizes, &accum, 1, 1), product_of(&deep, &accum, 1, 0),
                             product_of(&none, &accum, 1, 0), product_of(&sizes, &narrow, 1, 0)};
  for (size_t i = 0; i < 4; i++) assert_int_equal(engine->sum_products(&cpu, 1, &bad[i], 0), 0);
  assert_int_equal(engine->sum_products(&cpu, 0, bad, 0), 0);
}

/* ---- weights of several operators ---- */

enum { BATCH = 20, STEPS = 6, COLS = 24, UNITS = 40, SLOW_MODEL = 3, SETTINGS = 5, INTO_BINARY32 = 5 };
enum { W_ROUNDED = 6, W_TWO_WAYS = 7, W_AT_RANDOM = 8, W_MODEL = 9, W_BY_TURNS = 10 };

/* Roundings of the products of cells: none, of the result of dW, of dZ of some steps, a model, transformed; of X into
 * binary32, which it is; of W. */
static void set_products(hu_net *net, unsigned setting) {
  hu_rounding rounding, other, random;
  assert_int_equal(hu_rounding_parse(&rounding, "float8_e5m2", NULL), HU_OK);
  assert_int_equal(hu_rounding_parse(&other, "bfloat16", NULL), HU_OK);
  int products_seen = 0;
  random = rounding;
  random.mode.round = HU_SRA;
  random.mode.bits = 8;
  for (int i = 0; i < hu_net_values(net) && setting; i++) {
    hu_product_rounding of_product = hu_product_rounding_plain();
    if (setting == 1) of_product.dw_out = rounding;
    if (setting == 2 && i % 4 == 1) of_product.dz_w = rounding;
    if (setting == SLOW_MODEL) assert_int_equal(hu_accum_parse(&of_product.dw_accum, "seq2(binary32)", NULL), HU_OK);
    if (setting == 4) of_product.hadamard = 16;
    if (setting >= W_ROUNDED) of_product.w = of_product.w_back = setting == W_AT_RANDOM ? random : rounding;
    if (setting == W_TWO_WAYS) of_product.w_back = other;
    if (setting == W_BY_TURNS && products_seen / 2 % 2) of_product.w = of_product.w_back = other;
    if (setting == W_MODEL) assert_int_equal(hu_accum_parse(&of_product.z_accum, "seq2(binary32)", NULL), HU_OK);
    if (setting == INTO_BINARY32) assert_int_equal(hu_rounding_parse(&of_product.x, "binary32", NULL), HU_OK);
    products_seen += hu_net_round_product(net, i, &of_product) == HU_OK; /* else no product makes it */
  }
}

/* The gradients of all parameters, after two passes. */
static size_t gradients(const hu_engine *engine, int lstm, uint32_t threads, unsigned setting, float *to) {
  static float x[BATCH * STEPS * COLS];
  uint32_t labels[BATCH];
  hu_net *net = hu_net_new_on(engine, BATCH, threads);
  int in = hu_net_input(net, STEPS, COLS);
  int h = lstm ? hu_net_lstm(net, in, UNITS, 1) : hu_net_gru(net, in, UNITS, 1);
  assert_true(hu_net_cross_entropy(net, hu_net_linear(net, h, 10, 1), 1) >= 0);
  set_products(net, setting);
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  memcpy(x, b, sizeof x);
  for (uint32_t i = 0; i < BATCH; i++) labels[i] = i % 10;
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(hu_net_feed(net, in, x), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 8), HU_OK);
    for (size_t i = 0; i < BATCH * STEPS * COLS; i++) x[i] *= -0.5f;
  }
  size_t n = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor weights = hu_net_parameter(net, i);
    memcpy(to + n, weights.gradients, weights.rows * weights.cols * sizeof *to);
    n += weights.rows * weights.cols;
  }
  hu_net_free(net);
  return n;
}

static size_t sums_made;
static int counted(void *self, size_t count, const hu_products *product, int begun) {
  int done = hui_engine_cpu()->sum_products(self, count, product, begun);
  sums_made += done && count > 1;
  return done;
}
static int refused(void *self, size_t count, const hu_products *product, int begun) {
  (void)self, (void)count, (void)product, (void)begun;
  return 0;
}

static void gradients_of_shared_weights(void **state) {
  (void)state;
  hu_engine without = *hui_engine_cpu(), with = without, refuses = without;
  without.sum_products = NULL;
  with.sum_products = counted;
  refuses.sum_products = refused;
  draw(b, 77, USUAL);
  for (unsigned setting = 0; setting < SETTINGS; setting++) {
    for (int lstm = 0; lstm < 2; lstm++) {
      /* A model's sums, which are slow, are the same code at all levels. */
      for (size_t level = 0; level < (setting == SLOW_MODEL ? 1 : t_levels()); level++) {
        hu_cpu_levels_off = t_levels_off(level);
        int has = hui_cpu_alone().loops->product != NULL;
        size_t n = gradients(&without, lstm, 1, setting, want);
        for (uint32_t threads = 1; threads <= 2; threads++) {
          sums_made = 0;
          assert_int_equal(gradients(&with, lstm, threads, setting, z), n);
          assert_memory_equal(z, want, n * sizeof *z);
          if (setting == 0 || setting == 2) assert_true(!sums_made == !has);
          if (setting == 1 || setting >= 3) assert_int_equal(sums_made, 0);
          assert_int_equal(gradients(&refuses, lstm, threads, setting, z), n);
          assert_memory_equal(z, want, n * sizeof *z);
        }
      }
      hu_cpu_levels_off = 0;
    }
  }
}

/* ---- weights in panels ---- */

enum { ANEW = 1000 }; /* more than a time a direction and weights */
static size_t packed;
static size_t watched_pack(void *self, const hu_matrices *m, size_t k, size_t n, float *to) {
  packed += to != NULL;
  return hui_engine_cpu()->pack(self, m, k, n, to);
}

/* The same bits from panels, which are made once a pass of the weights that several steps read as they are or as one
 * rounding leaves them: of those of h for both directions, of those of x for a direction whose steps are not one
 * product. */
static void weights_in_panels(void **state) {
  static const struct {
    unsigned setting;
    size_t packs; /* in two passes */
  } cases[] = {{0, 4},           {INTO_BINARY32, 6}, {W_ROUNDED, 8},    {W_TWO_WAYS, 8},
               {W_AT_RANDOM, 0}, {W_MODEL, 4},       {W_BY_TURNS, ANEW}};
  (void)state;
  hu_engine without = *hui_engine_cpu(), with = without;
  int has = hui_cpu_alone().loops->product != NULL;
  without.pack = NULL;
  with.pack = watched_pack;
  draw(b, 80, USUAL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int lstm = 0; lstm < 2; lstm++) {
      size_t n = gradients(&without, lstm, 1, cases[i].setting, want);
      for (uint32_t threads = 1; threads <= 2; threads++) {
        packed = 0;
        assert_int_equal(gradients(&with, lstm, threads, cases[i].setting, z), n);
        assert_memory_equal(z, want, n * sizeof *z);
        if (cases[i].packs == ANEW) {
          assert_true(packed > 8 || !has);
        } else {
          assert_int_equal(packed, has ? cases[i].packs : 0);
        }
      }
    }
  }
}

/* ---- forward products of all steps ---- */

static size_t rows_together;
static hu_status watched(void *self, const hu_products *product) {
  if (product->k == COLS && product->n >= 3 * UNITS && !product->b.transposed && product->m % STEPS == 0)
    rows_together += product->m;
  return hui_engine_cpu()->products(self, product);
}

/* Products for all steps of some samples, where nothing rounds X for each step, and the same bits. */
static void steps_at_once(void **state) {
  (void)state;
  hu_engine engine = *hui_engine_cpu();
  engine.products = watched;
  draw(b, 78, USUAL);
  for (int lstm = 0; lstm < 2; lstm++) {
    for (uint32_t threads = 1; threads <= 2; threads++) {
      rows_together = 0;
      size_t n = gradients(&engine, lstm, threads, INTO_BINARY32, want);
      assert_int_equal(rows_together, 0);
      assert_int_equal(gradients(&engine, lstm, threads, 0, z), n);
      assert_int_equal(rows_together, 2 * BATCH * STEPS); /* two passes */
      assert_memory_equal(z, want, n * sizeof *z);
    }
  }
}

/* ---- dX of all steps ---- */

enum { ROOM_OF_STEPS = 4, MOST_GRADIENTS = 1 << 20 };
enum { PLAIN = 0, IN_PIECES = 1, DX_INTO_BINARY32 = 2, A_ROW_INTO_BINARY32 = 3, A_WEIGHT_INTO_BINARY32 = 4, WAYS = 5 };

/* Roundings into binary32, which change nothing, of the results dX, of the gradient of a step's row, of W in the
 * backward pass of a step; or rooms for some of the steps. */
static void set_way(hu_net *net, unsigned way) {
  hu_rounding into, keep = hu_rounding_keep();
  int rows = 0, linears = 0;
  size_t widest = 0;
  assert_int_equal(hu_rounding_parse(&into, "binary32", NULL), HU_OK);
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    hu_product_rounding rounding = hu_product_rounding_plain();
    int is_row = strcmp(op->kind->name, "part") == 0 && op->part.step == STEPS / 2 && !rows;
    if (way == A_ROW_INTO_BINARY32 && is_row) {
      assert_int_equal(hu_net_round_value(net, op->out, &keep, &into), HU_OK);
      rows++;
    }
    if (strcmp(op->kind->name, "linear") != 0) continue;
    if (net->value[op->out].cols > widest) widest = net->value[op->out].cols;
    if (way == DX_INTO_BINARY32) rounding.dx_out = into;
    if (way == A_WEIGHT_INTO_BINARY32 && linears++ % 5 == 0) rounding.w_back = into;
    assert_int_equal(hu_net_round_product(net, op->out, &rounding), HU_OK);
  }
  assert_int_equal(hui_reserve_work(net, STEPS * BATCH * 4 * UNITS), HU_OK);
  if (way == IN_PIECES) net->work_size = ROOM_OF_STEPS * BATCH * widest;
}

/* Gradients of all values, and of how many numbers they were counted. */
static size_t value_gradients(const hu_engine *engine, int lstm, uint32_t threads, unsigned way, float *to) {
  uint32_t labels[BATCH * STEPS];
  hu_net *net = hu_net_new_on(engine, BATCH, threads);
  int in = hu_net_input(net, STEPS, COLS), h = in;
  for (int layer = 0; layer < 2; layer++) h = lstm ? hu_net_lstm(net, h, UNITS, 0) : hu_net_gru(net, h, UNITS, 0);
  assert_true(hu_net_cross_entropy(net, hu_net_linear(net, h, 10, 1), 1) >= 0);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  set_way(net, way);
  for (uint32_t i = 0; i < BATCH * STEPS; i++) labels[i] = i % 10;
  assert_int_equal(hu_net_feed(net, in, b), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 8), HU_OK);
  size_t n = 0;
  for (int i = 0; i < hu_net_values(net); i++) {
    hu_net_tensor x = hu_net_value(net, i);
    assert_true(n + x.rows * x.cols < MOST_GRADIENTS);
    memcpy(to + n, x.gradients, x.rows * x.cols * sizeof *to);
    n += x.rows * x.cols;
    to[n++] = (float)net->value[i].counts_back.elements;
  }
  hu_net_free(net);
  return n;
}

static size_t rows_back, most_rows_back;
static hu_status watched_back(void *self, const hu_products *product) {
  int of_all = product->b.transposed && product->k >= 3 * UNITS && product->m > BATCH;
  rows_back += of_all ? product->m : 0;
  if (of_all && product->m > most_rows_back) most_rows_back = product->m;
  return hui_engine_cpu()->products(self, product);
}

/* Each way has the gradients of steps by themselves, and makes of all steps, or some of them, at once what it may. */
static void steps_at_once_back(void **state) {
  static float expected[MOST_GRADIENTS], got[MOST_GRADIENTS];
  (void)state;
  hu_engine engine = *hui_engine_cpu();
  engine.products = watched_back;
  draw(b, 79, USUAL);
  for (int lstm = 0; lstm < 2; lstm++) {
    for (uint32_t threads = 1; threads <= 2; threads++) {
      rows_back = most_rows_back = 0;
      size_t n = value_gradients(&engine, lstm, threads, DX_INTO_BINARY32, expected);
      assert_int_equal(rows_back, 0);
      for (unsigned way = 0; way < WAYS; way++) {
        size_t both = 2 * BATCH * STEPS, rows[WAYS] = {both, both, 0, both / 2, 0};
        rows_back = most_rows_back = 0;
        assert_int_equal(value_gradients(&engine, lstm, threads, way, got), n);
        assert_int_equal(rows_back, rows[way]);
        if (way == IN_PIECES) assert_int_equal(most_rows_back, ROOM_OF_STEPS * BATCH);
        for (size_t i = 0; i < n; i++) {
          if (memcmp(&got[i], &expected[i], sizeof *got) == 0) continue;
          fail_msg("way %u, %s: number %zu is %a, not %a", way, lstm ? "lstm" : "gru", i, (double)got[i],
                   (double)expected[i]);
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_chains), cmocka_unit_test(sums_are_chains_added),
      cmocka_unit_test(other_sums),          cmocka_unit_test(gradients_of_shared_weights),
      cmocka_unit_test(weights_in_panels),   cmocka_unit_test(steps_at_once),
      cmocka_unit_test(steps_at_once_back)};
  return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
