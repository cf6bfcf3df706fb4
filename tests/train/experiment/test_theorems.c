/* SPDX-License-Identifier: MIT */
/* Zamirai et al., Revisiting BFloat16 Training: both theorems as checks. Least squares, one sample a step,
 * y_i = x_i w*, |x_i|^2 <= L, step size a; eps = 2^-8, the largest relative error of a rounding to bfloat16.
 *
 * Theorem 1, only the weight update is rounded: near w* no step changes a weight. The radius that is safe for every w
 * is R = eps / (2 a L + eps) min |w*_j|, for half a gap can be as small as eps |w_j| / 2; the paper has a L in place of
 * 2 a L. Theorem 2, only the residual and the gradient are rounded: the distance shrinks as with exact gradients.
 * Statements about real numbers are checked in rationals, roundings are the library's. */
#include <math.h>
#include <string.h>

#include "tests/support/cmocka.h"

#include <gmp.h>

#include "halfulp/accum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/support.h"

enum { D = 10, MOST_ROWS = 200 };
static const hu_mode rne;

static double bf16(double x) { return hu_decode64(hu_bfloat16(), hu_encode64(hu_bfloat16(), rne, x, 0, NULL)); }

/* ---- rationals ---- */

/* z = x y */
static void dot(mpq_t z, size_t n, const double *x, const double *y) {
  mpq_t a, b;
  mpq_inits(a, b, NULL);
  mpq_set_ui(z, 0, 1);
  for (size_t i = 0; i < n; i++) {
    mpq_set_d(a, x[i]);
    mpq_set_d(b, y[i]);
    mpq_mul(a, a, b);
    mpq_add(z, z, a);
  }
  mpq_clears(a, b, NULL);
}

/* The double that q is. */
static double whole(const mpq_t q) {
  double x = mpq_get_d(q);
  mpq_t back;
  mpq_init(back);
  mpq_set_d(back, x);
  assert_true(mpq_equal(q, back));
  mpq_clear(back);
  return x;
}

/* z = |w + low - v|^2 */
static void distance2(mpq_t z, size_t n, const double *w, const double *low, const double *v) {
  mpq_t a, b;
  mpq_inits(a, b, NULL);
  mpq_set_ui(z, 0, 1);
  for (size_t i = 0; i < n; i++) {
    mpq_set_d(a, w[i]);
    mpq_set_d(b, low[i]);
    mpq_add(a, a, b);
    mpq_set_d(b, v[i]);
    mpq_sub(a, a, b);
    mpq_mul(a, a, a);
    mpq_add(z, z, a);
  }
  mpq_clears(a, b, NULL);
}

/* ---- theorem 1 ---- */

typedef struct t_problem {
  size_t d, rows;
  double a, x[4][D], truth[D], w[D];
} t_problem;

/* z = (1 / ((twice ? 2 : 1) a L 256 + 1) min |w*|)^2 */
static void radius2(mpq_t z, const t_problem *problem, int twice) {
  mpq_t l, t;
  mpq_inits(l, t, NULL);
  mpq_set_ui(z, 0, 1);
  for (size_t i = 0; i < problem->rows; i++) {
    dot(l, problem->d, problem->x[i], problem->x[i]);
    if (mpq_cmp(l, z) > 0) mpq_set(z, l);
  }
  mpq_set_d(t, problem->a * (twice ? 512 : 256));
  mpq_mul(z, z, t);
  mpq_set_ui(t, 1, 1);
  mpq_add(z, z, t);
  double least = INFINITY;
  for (size_t j = 0; j < problem->d; j++) least = fmin(least, fabs(problem->truth[j]));
  mpq_set_d(t, least);
  mpq_div(z, t, z);
  mpq_mul(z, z, z);
  mpq_clears(l, t, NULL);
}

static int within(const t_problem *problem, const double *w, const mpq_t r2) {
  static const double none[D];
  mpq_t z;
  mpq_init(z);
  distance2(z, problem->d, w, none, problem->truth);
  int inside = mpq_cmp(z, r2) <= 0;
  mpq_clear(z);
  return inside;
}

/* Weights that one step with row i changes: rounded once, and by the optimizer with its state in binary32 (moved[1])
 * and in bfloat16 (moved[2]). */
static void step(const t_problem *problem, size_t i, unsigned moved[3]) {
  mpq_t residual, u, a;
  mpq_inits(residual, u, a, NULL);
  double e[D];
  float g[D], w[2][D];
  for (size_t j = 0; j < problem->d; j++) e[j] = problem->w[j] - problem->truth[j];
  dot(residual, problem->d, problem->x[i], e);
  for (size_t j = 0; j < problem->d; j++) {
    mpq_set_d(a, problem->x[i][j]);
    mpq_mul(u, residual, a);
    g[j] = (float)whole(u);
    w[0][j] = w[1][j] = (float)problem->w[j];
    mpq_set_d(a, problem->a);
    mpq_mul(u, u, a);
    mpq_set_d(a, problem->w[j]);
    mpq_sub(u, a, u);
    moved[0] += bf16(whole(u)) != problem->w[j];
  }
  for (int k = 0; k < 2; k++) {
    hu_optimizer optimizer = hu_optimizer_sgd(k ? hu_bfloat16() : hu_binary32());
    hu_optimizer_time now = {1, 1, 1};
    hu_optimizer_arrays arrays = {w[k], g, NULL, NULL, NULL};
    const hu_stream none = {0, 0};
    optimizer.weight = hu_bfloat16();
    optimizer.momentum = 0;
    optimizer.rate = problem->a;
    assert_int_equal(hu_optimizer_step(problem->d, &arrays, &optimizer, &now, none, NULL), HU_OK);
    for (size_t j = 0; j < problem->d; j++) moved[1 + k] += (double)w[k][j] != problem->w[j];
  }
  mpq_clears(residual, u, a, NULL);
}

/* A number of bfloat16, 2^low to below 2^high, any sign. */
static double some(t_random *random, int low, int high) {
  double x = ldexp(128 + (double)t_below(random, 128), t_between(random, low, high - 1) - 7);
  return t_below(random, 2) ? x : -x;
}

/* The number of bfloat16 `ulps` steps away from zero (or towards it). */
static double beside(double x, int ulps) {
  uint32_t code = hu_encode64(hu_bfloat16(), rne, x, 0, NULL);
  return hu_decode64(hu_bfloat16(), (uint32_t)((int)code + ulps));
}

/* A problem whose w is as far from w* as the radius allows, on a random way. 0: no w but w* is inside. */
static int draw(t_random *random, t_problem *problem, int twice) {
  problem->d = 1 + t_below(random, D);
  problem->rows = 4;
  for (size_t i = 0; i < problem->rows; i++) {
    for (size_t j = 0; j < problem->d; j++) problem->x[i][j] = some(random, -3, 1);
  }
  int centre = t_between(random, -8, 8);
  for (size_t j = 0; j < problem->d; j++)
    problem->w[j] = problem->truth[j] = some(random, centre, centre + 1 + (int)t_below(random, 2));
  problem->a = ldexp(1, -t_between(random, 6, 12));
  mpq_t r2;
  mpq_init(r2);
  radius2(r2, problem, twice);
  int found = 0;
  for (int tries = 0; tries < 40; tries++) {
    double w[D];
    memcpy(w, problem->w, sizeof w);
    size_t j = t_below(random, (uint32_t)problem->d);
    double now = fabs(w[j]), centre_j = fabs(problem->truth[j]);
    w[j] = beside(w[j], now < centre_j || (now == centre_j && t_below(random, 2)) ? -1 : 1);
    if (w[j] == problem->truth[j] || !within(problem, w, r2)) continue;
    memcpy(problem->w, w, sizeof w);
    found = 1;
  }
  mpq_clear(r2);
  return found;
}

static void moves(int twice, unsigned problems, unsigned moved[3], unsigned *steps) {
  t_random random = {t_seed("theorem 1", 11)};
  for (unsigned k = 0; k < problems;) {
    t_problem problem;
    if (!draw(&random, &problem, twice)) continue;
    for (size_t i = 0; i < problem.rows; i++, ++*steps) step(&problem, i, moved);
    k++;
  }
}

static void nothing_moves_within_the_safe_radius(void **state) {
  (void)state;
  unsigned moved[3] = {0, 0, 0}, steps = 0;
  moves(1, 600, moved, &steps);
  print_message("safe radius: %u steps, %u %u %u weights moved\n", steps, moved[0], moved[1], moved[2]);
  assert_true(steps >= 1000);
  assert_true(moved[0] == 0 && moved[1] == 0 && moved[2] == 0);
}

static void some_move_within_the_papers_radius(void **state) {
  (void)state;
  unsigned moved[3] = {0, 0, 0}, steps = 0;
  moves(0, 1000, moved, &steps);
  print_message("the paper's radius: %u steps, %u %u %u weights moved\n", steps, moved[0], moved[1], moved[2]);
  assert_true(moved[0] > 0 && moved[1] > 0 && moved[2] > 0);
}

/* One dimension, a L = 1/8, w = 64, w* = 62.5: 1.5 away, within 62.5 / 33, not within 62.5 / 65. */
static void counterexample(void **state) {
  (void)state;
  t_problem problem = {1, 1, 0.125, {{1}}, {62.5}, {64}};
  unsigned moved[3] = {0, 0, 0};
  mpq_t papers, safe, expected;
  mpq_inits(papers, safe, expected, NULL);
  radius2(papers, &problem, 0);
  radius2(safe, &problem, 1);
  mpq_set_ui(expected, 125 * 125, 66 * 66);
  mpq_canonicalize(expected);
  assert_true(mpq_equal(papers, expected));
  mpq_set_ui(expected, 125 * 125, 130 * 130);
  mpq_canonicalize(expected);
  assert_true(mpq_equal(safe, expected));
  assert_true(within(&problem, problem.w, papers) && !within(&problem, problem.w, safe));
  step(&problem, 0, moved);
  assert_true(moved[0] == 1 && moved[1] == 1 && moved[2] == 1);
  float w = 64, g = 1.5f;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_bfloat16());
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays arrays = {&w, &g, NULL, NULL, NULL};
  const hu_stream none = {0, 0};
  optimizer.momentum = 0;
  optimizer.rate = 0.125;
  assert_int_equal(hu_optimizer_step(1, &arrays, &optimizer, &now, none, NULL), HU_OK);
  assert_true(w == 63.75f);
  mpq_clears(papers, safe, expected, NULL);
}

/* ---- the floor ---- */

/* |w - w*| after many steps of size a with rounded updates; L is 1 but for the roundings of the rows. */
static double stalled(const hu_data *data, const float *truth, double a, double *start) {
  enum { STEPS = 60000 };
  float w[D] = {0}, g[D];
  hu_stream words = {99, 0};
  const hu_stream none = {0, 0};
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays arrays = {w, g, NULL, NULL, NULL};
  optimizer.weight = hu_bfloat16();
  optimizer.momentum = 0;
  optimizer.rate = a;
  double sum = 0;
  for (int j = 0; j < D; j++) sum += (double)truth[j] * (double)truth[j];
  *start = sqrt(sum);
  for (int t = 0; t < STEPS; t++) {
    size_t i = hu_stream_below(&words, (uint32_t)data->count);
    double residual = -(double)data->y[i];
    for (int j = 0; j < D; j++) residual += (double)data->x[i * D + j] * (double)w[j];
    for (int j = 0; j < D; j++) g[j] = (float)(residual * (double)data->x[i * D + j]);
    assert_int_equal(hu_optimizer_step(D, &arrays, &optimizer, &now, none, NULL), HU_OK);
  }
  sum = 0;
  for (int j = 0; j < D; j++) sum += ((double)w[j] - (double)truth[j]) * ((double)w[j] - (double)truth[j]);
  return sqrt(sum);
}

/* One data set; adds the distances after runs with step sizes 1/2 ... 1/32. */
static void one_floor(uint64_t seed, double distance[5]) {
  hu_least_squares what = hu_least_squares_default();
  hu_data data;
  float truth[D], least = INFINITY;
  what.count = 40;
  what.features = D;
  what.low = 50;
  what.high = 100;
  what.noise = 0;
  what.unit = 1;
  assert_int_equal(hu_data_least_squares(&data, truth, &what, seed), HU_OK);
  for (int j = 0; j < D; j++) least = fminf(least, truth[j]);
  for (int k = 0; k < 5; k++) {
    double a = ldexp(1, -k - 1), start, z = stalled(&data, truth, a, &start);
    double lowest = fmin(0x1p-8 * (1 - a) / (a + 0x1p-8) * (double)least, start);
    assert_true(z >= lowest);
    distance[k] += z;
  }
  hu_data_free(&data);
}

/* Runs vary: the ratios are those of the mean of several. */
static void distance_keeps_above_the_floor(void **state) {
  (void)state;
  enum { SETS = 8 };
  double distance[5] = {0};
  for (uint64_t seed = 1; seed <= SETS; seed++) one_floor(seed, distance);
  for (int k = 0; k < 5; k++) {
    print_message("step size 1/%d: %.2f away\n", 2 << k, distance[k] / SETS);
    if (k) assert_true(distance[k] >= 1.6 * distance[k - 1] && distance[k] <= 3.5 * distance[k - 1]);
  }
}

/* ---- theorem 2 ---- */

/* The smallest eigenvalue of a symmetric matrix, by Jacobi's rotations. */
static double smallest(double m[D][D]) {
  for (int round = 0; round < 100; round++) {
    for (int p = 0; p < D; p++) {
      for (int q = p + 1; q < D; q++) {
        if (m[p][q] == 0) continue;
        double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < D; k++) {
          double x = m[k][p], y = m[k][q];
          m[k][p] = c * x - s * y;
          m[k][q] = s * x + c * y;
        }
        for (int k = 0; k < D; k++) {
          double x = m[p][k], y = m[q][k];
          m[p][k] = c * x - s * y;
          m[q][k] = s * x + c * y;
        }
      }
    }
  }
  double z = INFINITY;
  for (int k = 0; k < D; k++) z = fmin(z, m[k][k]);
  return z;
}

typedef struct t_setting {
  size_t n;
  double x[MOST_ROWS][D], truth[D], a; /* a: at most 1 / L */
  double most;                         /* L */
  mpq_t l;
} t_setting;

/* Weights that are sums of two numbers, so that no step rounds them. */
typedef struct exact {
  double high[D], low[D];
} exact;

/* The factors of the terms of x (w - w*). */
static void terms(const t_setting *setting, size_t i, const exact *w, double left[3 * D], double right[3 * D]) {
  for (size_t j = 0; j < D; j++) {
    left[j] = left[D + j] = left[2 * D + j] = setting->x[i][j];
    right[j] = w->high[j];
    right[D + j] = w->low[j];
    right[2 * D + j] = -setting->truth[j];
  }
}

/* Q(x (w - w*)), the real number rounded once. */
static double residual_of(const t_setting *setting, size_t i, const exact *w) {
  double left[3 * D], right[3 * D];
  hu_accum model;
  uint16_t code;
  terms(setting, i, w, left, right);
  assert_int_equal(hu_accum_parse(&model, "exact", NULL), HU_OK);
  hu_product x = hu_product_of_dot(3 * D, hu_codes_out(&code, 1, hu_bfloat16()), hu_doubles(left, 1),
                                   hu_doubles(right, 1), &model);
  hu_how how = {.mode = rne};
  assert_int_equal(hu_dot(&x, &how), HU_OK);
  return hu_decode64(hu_bfloat16(), code);
}

/* z = x - u and what its rounding left, exactly (Knuth). */
static double subtract(double x, double u, double *left) {
  volatile double z = x - u, back = z - x, a = x - (z - back), b = -u - back;
  *left = a + b;
  return z;
}

/* One step: w moves. */
static void step2(const t_setting *setting, size_t i, exact *w) {
  double a = residual_of(setting, i, w), left, none;
  for (int j = 0; j < D; j++) {
    double g = bf16(a * setting->x[i][j]);
    w->high[j] = subtract(w->high[j], setting->a * g, &left);
    w->low[j] = subtract(w->low[j], -left, &none);
    assert_true(none == 0);
  }
}

/* |w' - w*|^2 <= |w - w*|^2 - a (1 - 4 eps) r^2 + 4 a eps L |w - w*|^2, r the exact residual. */
static void one_step_bound(const t_setting *setting, size_t i, const exact *w, const exact *next) {
  mpq_t before, after, r, t;
  double left[3 * D], right[3 * D];
  mpq_inits(before, after, r, t, NULL);
  terms(setting, i, w, left, right);
  distance2(before, D, w->high, w->low, setting->truth);
  distance2(after, D, next->high, next->low, setting->truth);
  dot(r, 3 * D, left, right);
  mpq_mul(r, r, r);
  mpq_set_d(t, setting->a * (1 - 0x1p-6));
  mpq_mul(r, r, t);
  mpq_add(after, after, r);
  mpq_set_d(t, setting->a * 0x1p-6);
  mpq_mul(t, t, setting->l);
  mpq_mul(t, t, before);
  mpq_add(before, before, t);
  assert_true(mpq_cmp(after, before) <= 0);
  mpq_clears(before, after, r, t, NULL);
}

/* Unit rows on the grid; returns the smallest eigenvalue. */
static double prepare(t_setting *setting, uint64_t seed) {
  hu_least_squares what = hu_least_squares_default();
  hu_data data;
  hu_format grid = hu_bfloat16();
  float truth[D];
  double m[D][D] = {{0}};
  mpq_t t;
  what.count = setting->n = MOST_ROWS;
  what.features = D;
  what.noise = 0;
  what.unit = 1;
  what.grid = &grid;
  assert_int_equal(hu_data_least_squares(&data, truth, &what, seed), HU_OK);
  mpq_inits(setting->l, t, NULL);
  for (size_t i = 0; i < setting->n; i++) {
    for (int j = 0; j < D; j++) setting->x[i][j] = (double)data.x[i * D + (size_t)j];
    dot(t, D, setting->x[i], setting->x[i]);
    if (mpq_cmp(t, setting->l) > 0) mpq_set(setting->l, t);
    for (int j = 0; j < D; j++) {
      for (int k = 0; k < D; k++) m[j][k] += setting->x[i][j] * setting->x[i][k] / (double)setting->n;
    }
  }
  for (int j = 0; j < D; j++) setting->truth[j] = (double)truth[j];
  setting->most = mpq_get_d(setting->l);
  setting->a = floor(4096 / setting->most) / 4096;
  mpq_clear(t);
  hu_data_free(&data);
  return smallest(m);
}

static void distance_shrinks(void **state) {
  (void)state;
  enum { RUNS = 200, T = 200 };
  static t_setting setting;
  static double mean[T];
  double mu = prepare(&setting, 3), start = 0, worst = 0, slack = 4 * 0x1p-8 * (1 + setting.most / mu);
  assert_true(slack < 1 && mu > 0);
  for (int j = 0; j < D; j++) start += setting.truth[j] * setting.truth[j];
  for (int run = 0; run < RUNS; run++) {
    hu_stream words = {1000 + (uint64_t)run, 0};
    exact w = {{0}, {0}}, next;
    for (int t = 0; t < T; t++) {
      size_t i = hu_stream_below(&words, (uint32_t)setting.n);
      next = w;
      step2(&setting, i, &next);
      if (run < 20) one_step_bound(&setting, i, &w, &next);
      w = next;
      for (int j = 0; j < D; j++) {
        double e = w.high[j] - setting.truth[j] + w.low[j];
        mean[t] += e * e / RUNS;
      }
    }
  }
  for (int t = 0; t < T; t++) {
    double bound = exp(-setting.a * mu * (t + 1) * (1 - slack)) * start;
    worst = fmax(worst, mean[t] / bound);
    if (t == 49 || t == 99 || t == 199) print_message("t = %d: %.3g, bound %.3g\n", t + 1, mean[t], bound);
  }
  print_message("L / mu = %.1f, largest ratio %.3f\n", setting.most / mu, worst);
  assert_true(worst <= 1 && worst > 0);
  mpq_clear(setting.l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_moves_within_the_safe_radius),
                                     cmocka_unit_test(some_move_within_the_papers_radius),
                                     cmocka_unit_test(counterexample), cmocka_unit_test(distance_keeps_above_the_floor),
                                     cmocka_unit_test(distance_shrinks)};
  return cmocka_run_group_tests_name("theorems", tests, NULL, NULL);
}
