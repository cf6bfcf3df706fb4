/* SPDX-License-Identifier: MIT */
/* Muon: its steps against loops that follow optimizer.h, of wide, tall and square matrices in several formats and
 * models; what the iterations do to singular values; zeros, numbers that are not finite, factors; what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "halfulp/train/gradient.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/step/rounding_of.h"

enum { MOST = 70 * 20, STEPS = 3 };

static float in(hu_format format, float x) {
  const hu_mode rne = {0};
  return hu_quantize(format, rne, x, 0, NULL);
}

/* ---- the formulas ---- */

/* A product of k terms a[i k + t] b[t n + j], a chain from +0: fused, or with each product rounded (narrow formats). */
typedef float sums(float sum, float x, float y);
static float fused(float sum, float x, float y) { return fmaf(x, y, sum); }
static float in_bfloat16(float sum, float x, float y) {
  return (float)hu_decode64(hu_bfloat16(),
                            hu_encode64(hu_bfloat16(), (hu_mode){0}, (double)x * (double)y + (double)sum, 0, NULL));
}

typedef struct formulas {
  const hu_optimizer *optimizer;
  sums *add;
  size_t rows, cols; /* rows <= cols */
} formulas;

static void multiply(const formulas *f, size_t m, size_t n, size_t k, float *z, const float *x, const float *y,
                     int turned) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float sum = 0;
      for (size_t t = 0; t < k; t++) sum = f->add(sum, x[i * k + t], turned ? y[j * k + t] : y[t * n + j]);
      z[i * n + j] = in(f->optimizer->product, sum);
    }
}

static void newton_schulz(const formulas *f, float *x) {
  static float square[MOST], other[MOST], sum[MOST];
  hu_format p = f->optimizer->product;
  size_t rows = f->rows, cols = f->cols;
  for (uint32_t round = 0; round < f->optimizer->iterations; round++) {
    multiply(f, rows, rows, cols, square, x, x, 1);
    for (size_t i = 0; i < rows * rows; i++) other[i] = in(p, 2.0315f * square[i]);
    multiply(f, rows, rows, rows, sum, other, square, 0);
    for (size_t i = 0; i < rows * rows; i++) {
      volatile float scaled = -4.775f * square[i];
      square[i] = in(p, in(p, scaled) + sum[i]);
    }
    multiply(f, rows, cols, rows, other, square, x, 0);
    for (size_t i = 0; i < rows * cols; i++) {
      volatile float scaled = 3.4445f * x[i];
      x[i] = in(p, in(p, scaled) + other[i]);
    }
  }
}

static void transpose(size_t rows, size_t cols, float *z, const float *x) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) z[j * rows + i] = x[i * cols + j];
}

static void orthogonal(const hu_optimizer *optimizer, sums *add, const hu_optimizer_matrix *matrix, float *x) {
  static float turned[MOST];
  size_t n = matrix->rows * matrix->cols;
  for (size_t i = 0; i < n; i++) x[i] = in(optimizer->product, x[i]);
  volatile float norm = (float)sqrt(hu_gradient_squares_n(n, x));
  norm += 1e-7f;
  for (size_t i = 0; i < n; i++) x[i] = in(optimizer->product, x[i] / norm);
  int tall = matrix->rows > matrix->cols;
  const formulas f = {optimizer, add, tall ? matrix->cols : matrix->rows, tall ? matrix->rows : matrix->cols};
  if (tall) transpose(matrix->rows, matrix->cols, turned, x);
  newton_schulz(&f, tall ? turned : x);
  if (tall) transpose(matrix->cols, matrix->rows, x, turned);
}

typedef struct arrays {
  float w[MOST], g[MOST], m[MOST];
} arrays;

static void step_here(const hu_optimizer *optimizer, sums *add, const hu_optimizer_matrix *matrix, float factor,
                      arrays *x) {
  static float u[MOST];
  hu_format q = optimizer->state;
  float momentum = in(q, (float)optimizer->momentum), decay = in(q, (float)optimizer->decay);
  for (size_t i = 0; i < matrix->rows * matrix->cols; i++) {
    volatile float d = x->g[i], moved;
    if (optimizer->momentum != 0) {
      moved = in(q, momentum * x->m[i]);
      d = x->m[i] = in(q, moved + d);
      moved = in(q, momentum * x->m[i]);
      if (optimizer->nesterov) d = in(q, x->g[i] + moved);
    }
    u[i] = d;
  }
  orthogonal(optimizer, add, matrix, u);
  for (size_t i = 0; i < matrix->rows * matrix->cols; i++) {
    volatile float scaled = in(q, in(q, factor) * u[i]), lost = in(q, decay * x->w[i]);
    if (decay != 0) scaled = in(q, scaled + lost);
    scaled = in(q, in(q, (float)optimizer->rate) * scaled);
    x->w[i] = in(optimizer->weight, x->w[i] - scaled);
  }
}

static float draw(t_random *random) { return (float)t_between(random, -1000, 1000) * 0x1p-10f; }

static void same_as_formulas(const hu_optimizer *optimizer, sums *add, hu_optimizer_matrix matrix, float factor) {
  static arrays x, expected;
  t_random random = {matrix.rows * 100 + matrix.cols};
  hu_optimizer_time now = {0, 1, 1};
  size_t n = matrix.rows * matrix.cols;
  memset(&x, 0, sizeof x);
  for (size_t i = 0; i < n; i++) x.w[i] = in(optimizer->weight, draw(&random));
  expected = x;
  for (int t = 0; t < STEPS; t++) {
    for (size_t i = 0; i < n; i++) x.g[i] = expected.g[i] = in(optimizer->state, draw(&random));
    hu_optimizer_arrays a = {x.w, x.g, optimizer->momentum != 0 ? x.m : NULL, NULL, NULL};
    hu_optimizer_tick(&now, optimizer);
    assert_int_equal(hu_optimizer_step_matrix(&matrix, &a, optimizer, &now, (hu_stream){0, 0}, NULL, NULL), HU_OK);
    step_here(optimizer, add, &matrix, factor, &expected);
    for (size_t i = 0; i < n; i++)
      if (t_bits32(x.w[i]) != t_bits32(expected.w[i]) || x.m[i] != expected.m[i])
        fail_msg("%zu x %zu, step %d, number %zu: %a, not %a; m %a, not %a", matrix.rows, matrix.cols, t, i,
                 (double)x.w[i], (double)expected.w[i], (double)x.m[i], (double)expected.m[i]);
  }
}

static const hu_optimizer_matrix shapes[] = {{7, 19, 0}, {19, 7, 0}, {12, 12, 0}, {1, 9, 0}, {70, 20, 0}, {20, 70, 0}};

static float spectral(const hu_optimizer_matrix *matrix) {
  double outputs = (double)(matrix->outputs_first ? matrix->rows : matrix->cols),
         inputs = (double)(matrix->outputs_first ? matrix->cols : matrix->rows);
  return outputs > inputs ? (float)sqrt(outputs / inputs) : 1;
}

static void formulas_in_binary32(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    hu_optimizer optimizer = hu_optimizer_muon(hu_binary32());
    same_as_formulas(&optimizer, fused, shapes[i], spectral(&shapes[i]));
    optimizer.decay = 0.125;
    optimizer.nesterov = 0;
    hu_optimizer_matrix turned = {shapes[i].cols, shapes[i].rows, 1};
    same_as_formulas(&optimizer, fused, turned, spectral(&turned));
    optimizer.momentum = 0;
    optimizer.iterations = 2;
    optimizer.aspect = HU_MUON_ONE;
    same_as_formulas(&optimizer, fused, shapes[i], 1);
    optimizer.aspect = HU_MUON_RMS;
    double longer = (double)(shapes[i].rows > shapes[i].cols ? shapes[i].rows : shapes[i].cols);
    same_as_formulas(&optimizer, fused, shapes[i], (float)(0.2 * sqrt(longer)));
  }
}

static hu_accum accum_of(const char *text) {
  hu_accum made;
  assert_int_equal(hu_accum_parse(&made, text, NULL), HU_OK);
  return made;
}

/* bfloat16 Newton-Schulz as on a GPU: values of bfloat16, sums in binary32; sums in bfloat16, too; binary32 state. */
static void formulas_in_narrow_formats(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    hu_optimizer optimizer = hu_optimizer_muon(hu_binary32());
    optimizer.product = hu_bfloat16();
    same_as_formulas(&optimizer, fused, shapes[i], spectral(&shapes[i]));
    optimizer.accum = accum_of("seq(bfloat16)");
    same_as_formulas(&optimizer, in_bfloat16, shapes[i], spectral(&shapes[i]));
    optimizer.product = hu_binary16();
    optimizer.accum = accum_of("fp32");
    optimizer.state = optimizer.weight = hu_bfloat16();
    optimizer.decay = 0.125;
    same_as_formulas(&optimizer, fused, shapes[i], spectral(&shapes[i]));
  }
}

/* ---- what it is for ---- */

/* X X^T of the update, of a matrix with singular values that are a hundred times apart, is near the identity. */
static void singular_values(void **state) {
  (void)state;
  enum { ROWS = 10, COLS = 40 };
  static float w[ROWS * COLS], g[ROWS * COLS];
  t_random random = {3};
  hu_optimizer optimizer = hu_optimizer_muon(hu_binary32());
  hu_optimizer_time now = {1, 1, 1};
  const hu_optimizer_matrix matrix = {ROWS, COLS, 0};
  optimizer.momentum = 0;
  optimizer.rate = 1;
  optimizer.aspect = HU_MUON_ONE;
  for (size_t i = 0; i < ROWS * COLS; i++) g[i] = draw(&random) * powf(0.7f, (float)(i / COLS));
  hu_optimizer_arrays x = {w, g, NULL, NULL, NULL};
  assert_int_equal(hu_optimizer_step_matrix(&matrix, &x, &optimizer, &now, (hu_stream){0, 0}, NULL, NULL), HU_OK);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < ROWS; j++) {
      double sum = 0;
      for (size_t k = 0; k < COLS; k++) sum += (double)w[i * COLS + k] * (double)w[j * COLS + k];
      assert_true(i == j ? sum > 0.4 && sum < 1.5 : fabs(sum) < 0.4); /* S' of Jordan et al. is from 0.7 to 1.2 */
    }
  assert_true(w[0] * g[0] < 0 && w[ROWS * COLS - 1] * g[ROWS * COLS - 1] < 0); /* downwards */
}

static void special_numbers(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_muon(hu_binary32());
  hu_optimizer_time now = {1, 1, 1};
  float w[6] = {1, 2, 3, 4, 5, 6}, g[6] = {0, 0, 0, 0, 0, 0}, m[6] = {0, 0, 0, 0, 0, 0};
  const float same[6] = {1, 2, 3, 4, 5, 6};
  const hu_optimizer_matrix matrix = {2, 3, 0}, empty = {0, 3, 0};
  hu_update_counts counts = {0, 0};
  hu_optimizer_arrays x = {w, g, m, NULL, NULL};
  assert_int_equal(hu_optimizer_step_matrix(&empty, &x, &optimizer, &now, (hu_stream){0, 0}, &counts, NULL), HU_OK);
  assert_int_equal(hu_optimizer_step_matrix(&matrix, &x, &optimizer, &now, (hu_stream){0, 0}, &counts, NULL), HU_OK);
  assert_memory_equal(w, same, sizeof w);
  assert_int_equal(counts.moved, 0);
  g[4] = INFINITY;
  assert_int_equal(hu_optimizer_step_matrix(&matrix, &x, &optimizer, &now, (hu_stream){0, 0}, &counts, NULL), HU_OK);
  for (int i = 0; i < 6; i++) assert_int_equal(t_bits32(w[i]), 0x7FC00000);
  assert_int_equal(counts.moved, 6);
}

/* A Kahan term, a stochastic end and stored moments go with Muon as with SGD: beside a step that ends otherwise. */
static void ends(void **state) {
  (void)state;
  enum { N = 8 * 12 };
  static float w[4][N], g[N], m[4][N], c[N];
  t_random random = {9};
  const hu_optimizer_matrix matrix = {8, 12, 0};
  const hu_stream words = {7, 8};
  hu_optimizer_time now = {1, 1, 1};
  hu_rounding_counts moments[2];
  hu_optimizer optimizer[4];
  memset(moments, 0, sizeof moments);
  for (int k = 0; k < 4; k++) optimizer[k] = hu_optimizer_muon(hu_binary32());
  optimizer[1].weight = optimizer[2].weight = hu_bfloat16();
  optimizer[1].mode = t_stochastic(HU_SRA, 16);
  optimizer[2].update = HU_UPDATE_KAHAN;
  optimizer[3].stored_m = rounding_of("mxfp8_e4m3");
  for (int i = 0; i < N; i++) {
    g[i] = draw(&random);
    for (int k = 0; k < 4; k++) w[k][i] = in(hu_bfloat16(), draw(&random));
    w[1][i] = w[2][i] = w[3][i] = w[0][i];
  }
  for (int k = 0; k < 4; k++) {
    hu_optimizer_arrays x = {w[k], g, m[k], NULL, k == 2 ? c : NULL};
    assert_int_equal(hu_optimizer_step_matrix(&matrix, &x, &optimizer[k], &now, words, NULL, moments), HU_OK);
  }
  const hu_rounding mx = rounding_of("mxfp8_e4m3");
  float *stored = m[0];
  for (int i = 0; i < N; i++) {
    assert_true(w[1][i] ==
                hu_quantize(hu_bfloat16(), optimizer[1].mode, w[0][i], hu_stream_word(words, (uint64_t)i) >> 16, NULL));
    assert_true(fabs((double)w[2][i] - (double)c[i] - (double)w[0][i]) < 0x1p-15);
  }
  assert_memory_equal(w[3], w[0], sizeof w[0]);
  assert_memory_not_equal(m[3], m[0], sizeof m[0]);
  assert_int_equal(hu_rounding_apply(1, N, stored, stored, &mx, NULL, NULL), HU_OK);
  assert_memory_equal(m[3], m[0], sizeof m[0]);
  assert_int_equal(moments[0].elements, N);
  assert_int_equal(hu_optimizer_bits(N, &optimizer[0]), 64 * N);
  assert_int_equal(hu_optimizer_bits(N, &optimizer[3]), 32 * N + 8 * N + 8 * 3);
}

/* ---- what is refused ---- */

static void refused(const hu_optimizer *optimizer, hu_status status, const char *part) {
  const char *said = "";
  assert_int_equal(hu_optimizer_check(optimizer, &said), status);
  if (!strstr(said, part)) fail_msg("'%s' does not say %s", said, part);
}

static void misuse(void **state) {
  (void)state;
  const hu_optimizer good = hu_optimizer_muon(hu_bfloat16());
  hu_optimizer optimizer = good;
  assert_int_equal(hu_optimizer_check(&good, NULL), HU_OK);
  optimizer.momentum = 0; /* AdamW, beside it, has both moments */
  optimizer.stored_m = optimizer.stored_v = rounding_of("mxfp8_e4m3");
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
  optimizer = good;
  optimizer.iterations = 65;
  refused(&optimizer, HU_E_TRAIN, "iterations: above 64");
  optimizer = good;
  optimizer.aspect = 3;
  refused(&optimizer, HU_E_TRAIN, "aspect: unknown");
  optimizer = good;
  optimizer.rate_adamw = -1;
  refused(&optimizer, HU_E_TRAIN, "rate_adamw: negative");
  optimizer.rate_adamw = 1e-60;
  refused(&optimizer, HU_E_TRAIN, "rate_adamw: ");
  optimizer = good;
  optimizer.momentum = 1;
  refused(&optimizer, HU_E_TRAIN, "momentum: not from 0");
  optimizer = good;
  optimizer.beta2 = 0.999;
  refused(&optimizer, HU_E_TRAIN, "beta2: ");
  optimizer = good;
  optimizer.fused = 1;
  refused(&optimizer, HU_E_TRAIN, "fused: of SGD");
  optimizer = good;
  optimizer.product = hu_format_ieee(11, 20, 0);
  refused(&optimizer, HU_E_CARRIER, "product: not signed, or with values");
  optimizer.product.e = 99;
  refused(&optimizer, HU_E_FORMAT, "product: not a format");
  optimizer = good;
  optimizer.accum.kind = 9999;
  refused(&optimizer, HU_E_ACCUM, "accum: not a model");
  optimizer.accum = accum_of("seq(bfloat16,sra:8)");
  refused(&optimizer, HU_E_TRAIN, "accum: rounds stochastically");
  optimizer.accum = accum_of("nv.hopper.e4m3.f32.wgmma");
  refused(&optimizer, HU_E_TRAIN, "accum: does not take operands in the format `product`");
  optimizer.product = hu_float8_e4m3fn();
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
  float w = 1, g = 1, m = 0;
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays x = {&w, &g, &m, NULL, NULL};
  const hu_optimizer_matrix wrong = {1, 1, 2};
  assert_int_equal(hu_optimizer_step(1, &x, &good, &now, (hu_stream){0, 0}, NULL), HU_E_SHAPE);
  assert_int_equal(hu_optimizer_step_matrix(&wrong, &x, &good, &now, (hu_stream){0, 0}, NULL, NULL), HU_E_SHAPE);
  assert_true(w == 1 && m == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formulas_in_binary32),
                                     cmocka_unit_test(formulas_in_narrow_formats),
                                     cmocka_unit_test(singular_values),
                                     cmocka_unit_test(special_numbers),
                                     cmocka_unit_test(ends),
                                     cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("Muon", tests, NULL, NULL);
}
