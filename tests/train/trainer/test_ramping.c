/* SPDX-License-Identifier: MIT */
/* Q-Ramping: periods computed here from the steps of a run without it, with an MXFP4 of this file's own; each update
 * made once more, one operation after another; what changes nothing; what is refused.
 *
 *   test_ramping FOLDER_OF_DATA */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"

#define RUN                                                                                                           \
  "model.net", "mlp(layers=1,units=12)", "precision.system", "tetrajet", "optimizer.kind", "adamw", "optimizer.rate", \
      "0.004", "optimizer.decay", "0.03", "run.batch", "96"

enum { ROWS = 64, COLS = 12, N = ROWS * COLS };

/* ---- the periods ---- */

/* Blocks of 32 rows of a column: the least power of two with the largest number within 6, to nearest, ties to even. */
static void mxfp4(float *z, const float *x) {
  static const double grid[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (size_t k = 0; k < N; k++) {
    size_t first = k / COLS / 32 * 32;
    double largest = 0, scale = ldexp(1, -127);
    for (size_t i = first; i < first + 32; i++) largest = fmax(largest, fabs((double)x[i * COLS + k % COLS]));
    while (largest > 6 * scale) scale *= 2;
    double y = fabs((double)x[k]) / scale;
    int low = 0;
    while (low < 6 && grid[low + 1] <= y) low++;
    double f = (y - grid[low]) / (grid[low + 1] - grid[low]);
    z[k] = (float)(copysign(grid[low + (f > 0.5 || (f == 0.5 && low % 2))], (double)x[k]) * scale);
  }
}

static void read(const hu_trainer *trainer, const char *name, float *z) {
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    if (strcmp(hu_trainer_tensor_at(trainer, i).name, name) != 0) continue;
    assert_int_equal(hu_trainer_tensor_at(trainer, i).rows * hu_trainer_tensor_at(trainer, i).cols, N);
    assert_int_equal(hu_trainer_read(trainer, i, z), HU_OK);
    return;
  }
  fail_msg("no tensor %s", name);
}

/* The state of `from` in `to`, a run without ramping: its tensors are some of those. */
static void carry_over(hu_trainer *to, const hu_trainer *from) {
  static char text[16384];
  static float numbers[N];
  assert_true(hu_trainer_state(from, text, sizeof text) < sizeof text);
  char *key = strstr(text, "optimizer.ramping=");
  assert_non_null(key);
  key[strlen("optimizer.ramping=")] = '0';
  for (size_t i = 0; i < hu_trainer_tensor_count(to); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(to, i);
    size_t k = 0;
    while (strcmp(hu_trainer_tensor_at(from, k).name, x.name) != 0) k++;
    assert_true(x.rows * x.cols <= N);
    assert_int_equal(hu_trainer_read(from, k, numbers), HU_OK);
    assert_int_equal(hu_trainer_write(to, i, numbers), HU_OK);
  }
  if (hu_trainer_resume(to, text, why) != HU_OK) fail_msg("%s", why);
}

typedef struct rule {
  float factor, ratio;
  size_t steps;
  int coupled; /* 1: the decay goes into the gradient */
  float rate, decay;
} rule;

/* From the steps that `trainer`, a run without ramping, makes now. The quotient is searched for by whole numbers in
 * binary64, in which their products with binary32 numbers are exact. */
static void periods(hu_trainer *trainer, const rule *by, float *z) {
  static float w[N], q[N], w0[N], q0[N], w_moved[N], q_moved[N];
  for (size_t i = 0; i <= by->steps; i++) {
    assert_int_equal(hu_trainer_step(trainer, NULL), HU_OK);
    read(trainer, "linear1.weight", w);
    mxfp4(q, w);
    for (size_t k = 0; k < N; k++) {
      w_moved[k] = i ? w_moved[k] + fabsf(w[k] - w0[k]) : 0;
      q_moved[k] = i ? q_moved[k] + fabsf(q[k] - q0[k]) : 0;
    }
    memcpy(w0, w, sizeof w);
    memcpy(q0, q, sizeof q);
  }
  double longest = (double)hu_trainer_steps_an_epoch(trainer);
  for (size_t k = 0; k < N; k++) {
    float a = q_moved[k] / by->ratio, b = w_moved[k] + 1e-8f;
    double whole = 0;
    while (whole < longest && (whole + 1) * (double)b <= (double)a) whole++;
    z[k] = (float)fmin(whole * (double)by->factor + 1, longest);
  }
}

/* ---- the updates ---- */

typedef struct weights {
  float w[N], m[N], v[N], period[N], waiting[N], gradients[N];
} weights;

static void look(const hu_trainer *trainer, weights *z) {
  const char *const names[] = {"", ".momentum", ".second", ".period", ".waiting", ".gradients"};
  float *const rooms[] = {z->w, z->m, z->v, z->period, z->waiting, z->gradients};
  for (size_t i = 0; i < 6; i++) {
    char name[64];
    snprintf(name, sizeof name, "linear1.weight%s", names[i]);
    read(trainer, name, rooms[i]);
  }
}

/* Step number t, from 1 on. Returns how many weights were updated. */
static size_t update(weights *x, const float *g, unsigned t, const rule *by) {
  const float beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
  const float less1 = (float)(1 - (double)beta1), less2 = (float)(1 - (double)beta2);
  double power1 = 1, power2 = 1;
  size_t updated = 0;
  for (unsigned i = 0; i < t; i++) power1 *= (double)beta1, power2 *= (double)beta2;
  const float past1 = (float)(1 - power1), past2 = (float)(1 - power2);
  for (size_t k = 0; k < N; k++) {
    float u = 0, of_decay = by->decay * x->w[k];
    x->waiting[k] += 1;
    x->gradients[k] += g[k];
    if (fmodf(x->waiting[k], x->period[k]) == 0) {
      float mean = x->gradients[k] / x->waiting[k];
      if (by->coupled) mean = mean + of_decay;
      float am = beta1 * x->m[k], bm = less1 * mean, square = mean * mean, av = beta2 * x->v[k], bv = less2 * square;
      x->m[k] = am + bm;
      x->v[k] = av + bv;
      float root = sqrtf(x->v[k] / past2), below = root + eps, above = x->m[k] / past1;
      u = above / below;
      u = u * x->waiting[k];
      x->waiting[k] = x->gradients[k] = 0;
      updated++;
    }
    if (!by->coupled) u = u + of_decay;
    u = by->rate * u;
    x->w[k] = x->w[k] - u;
  }
  return updated;
}

static void same(const char *what, unsigned t, const float *z, const float *expected) {
  for (size_t i = 0; i < N; i++) {
    if (t_bits32(z[i]) != t_bits32(expected[i]))
      fail_msg("%s, step %u, number %zu: %a, not %a", what, t, i, (double)z[i], (double)expected[i]);
  }
}

static void compare(unsigned t, const weights *z, const weights *expected) {
  same("the weights", t, z->w, expected->w);
  same("m", t, z->m, expected->m);
  same("v", t, z->v, expected->v);
  same("the periods", t, z->period, expected->period);
  same("the steps", t, z->waiting, expected->waiting);
  same("the sums", t, z->gradients, expected->gradients);
}

/* What there was in some steps. */
typedef struct t_tally {
  size_t late, longest, some, one, updated;
} t_tally;

static void note_periods(t_tally *z, const weights *x, size_t longest) {
  for (size_t k = 0; k < N; k++) {
    z->longest += x->period[k] == (float)longest;
    z->one += x->period[k] == 1;
    z->some += x->period[k] > 1 && x->period[k] < (float)longest;
    z->late += x->waiting[k] > x->period[k];
  }
}

/* Epochs by steps of a run that has begun, and by those of this file. */
static t_tally steps_by_hand(hu_trainer *trainer, hu_trainer *plain, const rule *by, unsigned epochs) {
  static weights before, after;
  size_t of_epoch = hu_trainer_steps_an_epoch(trainer);
  t_tally z = {0};
  for (unsigned step = 1; step <= epochs * of_epoch; step++) {
    look(trainer, &before);
    if (step % of_epoch == 1) {
      carry_over(plain, trainer);
      periods(plain, by, before.period);
      note_periods(&z, &before, of_epoch);
    }
    steps(trainer, 1);
    z.updated += update(&before, hu_net_parameter(hu_trainer_net(trainer), 0).gradients, step, by);
    look(trainer, &after);
    compare(step, &after, &before);
  }
  return z;
}

static t_tally run_by_hand(const char *const *pairs, const rule *by, unsigned epochs, const float *w) {
  hu_trainer *trainer = with(pairs), *plain = with(pairs);
  set(plain, "optimizer.ramping", "0");
  begin(trainer), begin(plain);
  for (size_t i = 0; w && i < hu_trainer_tensor_count(trainer); i++) {
    if (strcmp(hu_trainer_tensor_at(trainer, i).name, "linear1.weight") == 0)
      assert_int_equal(hu_trainer_write(trainer, i, w), HU_OK);
  }
  t_tally z = steps_by_hand(trainer, plain, by, epochs);
  hu_trainer_free(trainer), hu_trainer_free(plain);
  return z;
}

/* All kinds of periods, and counts of steps that are beyond a new period. */
static void test_steps(void **state) {
  (void)state;
  const rule few = {3, 1.5f, 8, 0, 0.004f, 0.03f}, many = {2, 1, 17, 1, 0.004f, 0.03f};
  const t_tally z[2] = {run_by_hand(PAIRS(RUN, "optimizer.ramping", "3", "optimizer.ramping_ratio", "1.5",
                                          "optimizer.ramping_steps", "8"),
                                    &few, 3, NULL),
                        run_by_hand(PAIRS(RUN, "optimizer.ramping", "2", "optimizer.ramping_ratio", "1",
                                          "optimizer.ramping_steps", "17", "optimizer.coupled", "yes"),
                                    &many, 2, NULL)};
  for (int i = 0; i < 2; i++) assert_true(z[i].one && z[i].some && z[i].longest && z[i].late && z[i].updated);
}

/* Weights in the middle between two codes that move by so little that the 1e-8 beside their distances counts. */
static void test_small_distances(void **state) {
  (void)state;
  static float w[N];
  const rule small = {1, 4000, 8, 0, 3e-9f, 0};
  for (int i = 0; i < N; i++) w[i] = ldexpf(i / COLS % 32 ? 2.5f : 4, i % 3 ? -12 : -11);
  t_tally z = run_by_hand(PAIRS(RUN, "optimizer.rate", "3e-9", "optimizer.decay", "0", "optimizer.ramping", "1",
                                "optimizer.ramping_ratio", "4000", "optimizer.ramping_steps", "8"),
                          &small, 1, w);
  assert_true(z.some > N / 8);
}

/* Where nothing oscillates enough, the run is that without ramping: trials leave nothing behind, whatever state a run
 * has. */
#define STILL "optimizer.ramping", "4", "optimizer.ramping_ratio", "1e6", "optimizer.ramping_steps", "3"
#define COMMON "precision.system", "tetrajet", "optimizer.kind", "adamw", "optimizer.rate", "0.004"

static void nothing_left(size_t n, const char *const *plain, const char *const *ramped) {
  uint64_t expected = digest_after(n, plain);
  if (digest_after(n, ramped) != expected) fail_msg("trials change the run with %s", plain[1]);
}

static void test_nothing_left(void **state) {
  (void)state;
  nothing_left(20,
               PAIRS("model.net", "mlp(units=12,dropout=0.2)", COMMON, "run.batch", "128", "loss.scale",
                     "backoff(scale_max=2^30,step_window=3)", "precision.w_average", "0.9"),
               PAIRS("model.net", "mlp(units=12,dropout=0.2)", COMMON, "run.batch", "128", "loss.scale",
                     "backoff(scale_max=2^30,step_window=3)", "precision.w_average", "0.9", STILL));
  nothing_left(
      9,
      PAIRS("data.set", "gratings", COMMON, "data.count", "64", "data.test", "16", "model.net", "conv(channels=4/8)",
            "run.batch", "16", "optimizer.update", "kahan", "parallel.shards", "2"),
      PAIRS("data.set", "gratings", COMMON, "data.count", "64", "data.test", "16", "model.net", "conv(channels=4/8)",
            "run.batch", "16", "optimizer.update", "kahan", "parallel.shards", "2", STILL));
  nothing_left(9,
               PAIRS("data.set", "text", COMMON, "model.net", "transformer(units=16,hidden=32)", "run.batch", "4",
                     "run.steps", "20", "optimizer.schedule", "cosine", "optimizer.warmup", "5"),
               PAIRS("data.set", "text", COMMON, "model.net", "transformer(units=16,hidden=32)", "run.batch", "4",
                     "run.steps", "20", "optimizer.schedule", "cosine", "optimizer.warmup", "5", STILL));
}

/* ---- what is refused ---- */

static void not_begun(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  set(trainer, "optimizer.ramping", "4");
  *why = 0;
  if (hu_trainer_begin(trainer, folder, why) == HU_OK || !strstr(why, part)) fail_msg("'%s', not '%s'", why, part);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  not_begun(PAIRS("precision.system", "tetrajet"), "optimizer.ramping: requires optimizer.kind = adamw");
  not_begun(PAIRS("optimizer.kind", "adamw"), "optimizer.ramping: no weights of products are rounded");
  not_begun(PAIRS("optimizer.kind", "adamw", "precision.system", "quartet"), "no weights of products are rounded");
  not_begun(PAIRS("optimizer.kind", "adamw", "precision.system", "tetrajet", "precision.w", "mxfp4,turned,sra:8"),
            "optimizer.ramping: requires a precision.w without random bits");
  not_begun(PAIRS("optimizer.kind", "adamw", "precision.system", "fp8_delayed"), "does not go with precision.history");
  not_begun(PAIRS("optimizer.kind", "adamw", "precision.system", "tetrajet", "assignment.kind", "high"),
            "does not go with assignment.kind");
  not_begun(PAIRS("optimizer.kind", "adamw", "precision.system", "tetrajet", "parallel.shards", "2", "parallel.reduce",
                  "ring(bfloat16)", "parallel.feedback", "own"),
            "does not go with parallel.feedback");
  hu_trainer *trainer = hu_trainer_new();
  assert_int_not_equal(hu_trainer_set(trainer, "optimizer.ramping", "-1", why), HU_OK);
  assert_non_null(strstr(why, "optimizer.ramping"));
  assert_int_not_equal(hu_trainer_set(trainer, "optimizer.ramping_ratio", "0", why), HU_OK);
  assert_int_not_equal(hu_trainer_set(trainer, "optimizer.ramping_steps", "0", why), HU_OK);
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_small_distances),
                                     cmocka_unit_test(test_nothing_left), cmocka_unit_test(test_refused)};
  if (argc < 2) return 2;
  folder = argv[1];
  return cmocka_run_group_tests_name("Q-Ramping", tests, NULL, NULL);
}
