/* SPDX-License-Identifier: MIT */
/* Error feedback: messages and residuals against the definition of halfulp/train/trainer.h, and the same run for any
 * number of processes, stopped and gone on with by another number. */
#define _GNU_SOURCE /* barriers of threads */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/processes.h"

#define NET "model.net", "mlp(layers=2,units=32)"
enum { ROOM = 8192, SHARDS = 8 };

/* ---- the definition, anew ---- */

static float own[2 * SHARDS][ROOM]; /* of steps 0 and 1, shard after shard */

/* At rate 0 a run of batches of 8 sees the shards of batches of 64 one after another. */
static size_t see_shards(void) {
  size_t n = 0;
  hu_trainer *trainer = with(PAIRS(NET, "optimizer.rate", "0", "run.batch", "8", "loss.power", "3"));
  begin(trainer);
  for (size_t k = 0; k < (size_t)2 * SHARDS; k++) {
    steps(trainer, 1);
    n = gradients_of(trainer, own[k]);
  }
  assert_true(n > 3000 && n < ROOM);
  hu_trainer_free(trainer);
  return n;
}

/* 1 where a base that cuts the buffer for so many participants has a chunk that begins with i. */
static int chunk_begins(size_t i, size_t n, size_t count) {
  size_t begin = 0;
  for (size_t c = 0; c < count && begin < i; c++) begin += n / count + (c < n % count);
  return count > 1 && begin == i;
}

static int has_chunks(const hu_collective_base *base) {
  return base->kind == HU_COLLECTIVE_RING || base->kind == HU_COLLECTIVE_DIRECT;
}

/* 1 where a piece of the model begins with i: every base of it has its chunks, that of a smaller last group, too. */
static int piece_begins(const hu_collective *c, size_t i, size_t n) {
  size_t group = c->group ? c->group : SHARDS, groups = (SHARDS + group - 1) / group;
  int base = has_chunks(&c->base), outer = has_chunks(&c->outer);
  return i % 512 == 0 || (base && (chunk_begins(i, n, group) || chunk_begins(i, n, SHARDS % group))) ||
         (outer && chunk_begins(i, n, groups));
}

/* Random words of a step: 8 of the join, 9 of a shard's message. */
static hu_stream words_of(size_t step, uint64_t of, uint64_t shard) {
  hu_stream words = hu_stream_child(hu_stream_of_use(0, HU_USE_ROUNDING), of << 32);
  if (shard) words = hu_stream_child(words, shard);
  words.counter += (uint64_t)step << 36;
  return words;
}

/* z = x as it travels, scaled wires in the pieces of the model. */
static void as_message(const hu_collective *c, size_t n, float *z, const float *x, hu_stream words) {
  const hu_collective_base *b = &c->base;
  hu_mode mode = b->mode;
  hu_exec exec = {1, 0, words, {0}};
  if (b->wired) mode.saturate = HU_SAT_DEFAULT;
  if (b->wired != HU_COLLECTIVE_WIRE_SCALED) {
    hu_format format = b->wired ? b->wire : b->sum;
    assert_int_equal(hu_quantize_n(n, z, 1, x, 1, format, mode, &exec, NULL), HU_OK);
    return;
  }
  for (size_t i = 0, end; i < n; i = end) {
    end = i + 1;
    while (end < n && !piece_begins(c, end, n)) end++;
    exec.stream.counter = words.counter + i;
    assert_int_equal(hu_scaled_quantize(1, end - i, z + i, n, x + i, n, &b->scaling, mode, NULL, NULL, &exec, NULL),
                     HU_OK);
  }
}

static float left(float a, float m, float inverse) {
  float e = (a - m) * inverse;
  return isfinite(e) ? e : 0;
}

/* The shards' numbers `step` under the model, scaled by s, into z; residuals e as they are afterwards. */
static void join_by_hand(const hu_collective *c, int one, size_t step, size_t n, float s, float (*e)[ROOM], float *z) {
  static float m[SHARDS][ROOM], x[ROOM];
  const void *part[SHARDS];
  hu_collective exact;
  hu_mode rne;
  hu_exec exec = {1, 0, words_of(step, 8, 0), {0}};
  memset(&rne, 0, sizeof rne);
  memset(&exact, 0, sizeof exact);
  for (size_t k = 0; k < SHARDS; k++) {
    for (size_t i = 0; i < n; i++) {
      float a = s * own[step * SHARDS + k][i];
      x[i] = one && k > 0 ? a : a + s * e[k][i];
    }
    memcpy(m[k], x, sizeof x);
    if (!one) as_message(c, n, m[k], x, words_of(step, 9, k));
    for (size_t i = 0; i < n && !one; i++) e[k][i] = left(x[i], m[k][i], 1 / s);
    part[k] = m[k];
  }
  assert_int_equal(hu_collective_reduce(SHARDS, n, z, hu_binary32(), part, c, &(hu_how){rne, &exec, NULL}), HU_OK);
  assert_int_equal(hu_collective_reduce(SHARDS, n, x, hu_binary32(), part, &exact, NULL), HU_OK);
  for (size_t i = 0; i < n && one; i++) e[0][i] = left(x[i], z[i], 1 / s);
}

/* ---- residuals of a run ---- */

/* All of them: residual k of `count` into z[k]. Returns the numbers of one. */
static size_t residuals_of(const hu_trainer *trainer, size_t count, float (*z)[ROOM]) {
  static float all[SHARDS * ROOM];
  size_t n = 0;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
    if (!strstr(x.name, ".residual")) continue;
    size_t each = x.rows * x.cols / count;
    assert_int_equal(x.rows % count, 0);
    assert_int_equal(hu_trainer_read(trainer, i, all), HU_OK);
    for (size_t k = 0; k < count; k++) memcpy(z[k] + n, all + k * each, each * sizeof **z);
    n += each;
  }
  return n;
}

static float e[SHARDS][ROOM], got[SHARDS][ROOM];

/* Two steps, of which the second has twice the loss scale of the first. */
static void as_defined(const char *model, const char *kind) {
  int one = strcmp(kind, "sum") == 0;
  size_t count = one ? 1 : SHARDS, n = see_shards(), lost = 0;
  hu_collective c;
  static float expected[ROOM], z[ROOM];
  memset(e, 0, sizeof e);
  assert_int_equal(hu_collective_parse(&c, model, NULL), HU_OK);
  hu_trainer *trainer =
      with(PAIRS(NET, "optimizer.rate", "0", "run.batch", "64", "parallel.shards", "8", "parallel.reduce", model,
                 "parallel.feedback", kind, "loss.scale", "gradscaler(init_scale=64,growth_interval=1)"));
  begin(trainer);
  for (size_t step = 0; step < 2; step++) {
    float s = step ? 128 : 64;
    steps(trainer, 1);
    join_by_hand(&c, one, step, n, s, e, expected);
    for (size_t i = 0; i < n; i++) expected[i] *= 1 / s;
    assert_int_equal(gradients_of(trainer, z), n);
    assert_memory_equal(z, expected, n * sizeof *z);
    assert_int_equal(residuals_of(trainer, count, got), n);
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < n; i++) lost += got[k][i] != 0;
      assert_memory_equal(got[k], e[k], n * sizeof *z);
    }
  }
  assert_true(lost > n / 4); /* something was kept */
  hu_trainer_free(trainer);
}

static void test_as_defined(void **state) {
  (void)state;
  const char *const models[] = {"ring(bfloat16)",
                                "tree(binary32,wire=float8_e5m2)",
                                "pairwise(float8_e4m3fn,rtz,sat=finite)",
                                "ring(binary32,wire=mxfp8_e4m3)",
                                "doubling(bfloat16,wire=nvfp4)",
                                "tree(binary32,sat=none,wire=fp(4,3,9):fn)",
                                "ring(bfloat16,sra:8)",
                                "ring(bfloat16,sra:8,wire=mxfp8_e4m3)",
                                "direct(bfloat16,sra:8,wire=nvfp4)",
                                "switch(bfloat16,sra:8,wire=mxfp8_e4m3)",
                                "hierarchical(2,ring(binary32,wire=mxfp8_e4m3),ring(bfloat16))",
                                "hierarchical(3,ring(binary32,wire=mxfp8_e4m3),ring(bfloat16))"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    as_defined(models[i], "own");
    as_defined(models[i], "sum");
  }
}

/* ---- nothing is lost ---- */

static uint64_t digest_without_residuals(size_t count, const char *const *pairs) {
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  steps(trainer, count);
  for (size_t k = 0; k < 2 && strcmp(hu_trainer_get(trainer, "parallel.feedback"), "none") != 0; k++) {
    size_t residuals = strcmp(hu_trainer_get(trainer, "parallel.feedback"), "own") == 0 ? SHARDS : 1;
    size_t n = residuals_of(trainer, residuals, got);
    for (size_t i = 0; i < n; i++) assert_true(got[k % residuals][i] == 0);
  }
  uint64_t z = hu_trainer_digest(trainer);
  hu_trainer_free(trainer);
  return z;
}

static void test_exact(void **state) {
  (void)state;
  const char *const inner = "hierarchical(4,exact,ring(bfloat16))";
#define OF(model, kind) \
  digest_without_residuals(5, PAIRS(NET, "parallel.shards", "8", "parallel.reduce", model, FEEDBACK, kind))
#define FEEDBACK "parallel.feedback"
  uint64_t none = OF("exact", "none");
  assert_true(OF("exact", "own") == none && OF("exact", "sum") == none);
  assert_true(OF(inner, "own") == OF(inner, "none")); /* groups get what shards have, as it is */
  hu_trainer *trainer = with(PAIRS(NET, FEEDBACK, "own", "parallel.reduce", "ring(bfloat16)"));
  begin(trainer); /* one shard: nothing is joined */
  assert_int_equal(residuals_of(trainer, 1, got), 0);
  hu_trainer_free(trainer);
}

/* A step that overflows is not taken, and residuals stay; they are finite whatever happens. */
static void stay_sane(const char *kind, const char *rule, size_t least) {
  static float before[SHARDS][ROOM];
  size_t count = strcmp(kind, "own") == 0 ? SHARDS : 1, skipped = 0, taken = 0;
  hu_trainer_report report;
  hu_trainer *trainer = with(PAIRS(NET, "parallel.shards", "8", "parallel.reduce", "ring(binary32,wire=float8_e5m2)",
                                   "parallel.feedback", kind, "loss.scale", rule));
  begin(trainer);
  for (int step = 0; step < 60; step++) {
    size_t n = residuals_of(trainer, count, before);
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    residuals_of(trainer, count, got);
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < n; i++) assert_true(isfinite(got[k][i]));
      if (!report.taken) assert_memory_equal(got[k], before[k], n * sizeof **got);
    }
    if (report.taken && least) assert_true(memcmp(got[0], before[0], n * sizeof **got) != 0);
    skipped += !report.taken;
    taken += (size_t)report.taken;
  }
  assert_true(skipped >= least && taken > 20);
  hu_trainer_free(trainer);
}

static void test_skipped(void **state) {
  (void)state;
  const char *const grows = "backoff(start=65536,scale_max=16777216,step_window=3)";
  stay_sane("own", grows, 5);
  stay_sane("sum", grows, 5);
  stay_sane("own", "static(16777216,unchecked)", 0); /* infinities, and then NaNs, are taken */
  stay_sane("sum", "static(16777216,unchecked)", 0);
}

/* ---- processes, checkpoints ---- */

/* A part of a run on one of several processes. */
typedef struct t_leg {
  t_seat at; /* the first field: join and sum are given it */
  size_t first, past;
  float **tensor; /* from which it goes on, and which process 0 leaves; NULL: from the beginning */
  char *text;
} t_leg;

/* Whatever there was before. */
static void load(hu_trainer *trainer, const t_leg *leg) {
  steps(trainer, 1);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++)
    assert_int_equal(hu_trainer_write(trainer, i, leg->tensor[i]), HU_OK);
  assert_int_equal(hu_trainer_resume(trainer, leg->text, why), HU_OK);
}

static void save(const hu_trainer *trainer, t_leg *leg) {
  leg->tensor = calloc(hu_trainer_tensor_count(trainer), sizeof *leg->tensor);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
    leg->tensor[i] = calloc(x.rows * x.cols, sizeof **leg->tensor);
    assert_int_equal(hu_trainer_read(trainer, i, leg->tensor[i]), HU_OK);
  }
  leg->text = state_of(trainer);
}

static size_t a_residual(const hu_trainer *trainer) {
  size_t i = 0;
  while (i < hu_trainer_tensor_count(trainer) && !strstr(hu_trainer_tensor_at(trainer, i).name, ".residual")) i++;
  assert_true(i < hu_trainer_tensor_count(trainer));
  return i;
}

static void *run_leg(void *context) {
  t_leg *leg = context;
  static float buffer[RANKS_MAX][SHARDS * ROOM];
  int several = leg->at.ranks.size > 1, first = leg->at.ranks.rank == 0;
  float *z = buffer[leg->at.ranks.rank];
  hu_trainer *trainer = with(leg->at.pairs);
  int one = strcmp(hu_trainer_get(trainer, "parallel.feedback"), "sum") == 0;
  if (several) assert_int_equal(hu_trainer_set_ranks(trainer, &leg->at.ranks), HU_OK);
  begin(trainer);
  if (leg->tensor) load(trainer, leg);
  size_t i = a_residual(trainer), n = hu_trainer_tensor_at(trainer, i).rows * hu_trainer_tensor_at(trainer, i).cols;
  if (first) assert_int_equal(hu_trainer_read(trainer, i, z), HU_OK);
  if (first && leg->tensor) assert_memory_equal(z, leg->tensor[i], n * sizeof *z);
  steps(trainer, leg->past - leg->first);
  assert_int_equal(hu_trainer_read(trainer, i, z), several && !one ? HU_E_TRAIN : HU_OK);
  assert_int_equal(hu_trainer_collect(trainer), HU_OK);
  assert_int_equal(hu_trainer_read(trainer, i, z), first || one ? HU_OK : HU_E_TRAIN);
  if (first) save(trainer, leg);
  leg->at.digest = hu_trainer_digest(trainer);
  hu_trainer_free(trainer);
  return NULL;
}

/* Steps up to `past` on so many processes, going on from a part of the run, or from the beginning: process 0's. */
static t_leg run_on(int size, const char *const *pairs, const t_leg *from, size_t past) {
  t_leg legs[RANKS_MAX];
  meeting m;
  pthread_t thread[RANKS_MAX];
  memset(legs, 0, sizeof legs);
  pthread_barrier_init(&m.barrier, NULL, (unsigned)size);
  for (int r = 0; r < size; r++) {
    if (from) legs[r] = *from;
    legs[r].first = from ? from->past : 0;
    legs[r].past = past;
    legs[r].at.pairs = pairs;
    legs[r].at.m = &m;
    legs[r].at.ranks = (hu_trainer_ranks){r, size, &legs[r].at, join, sum};
    assert_int_equal(pthread_create(&thread[r], NULL, run_leg, &legs[r]), 0);
  }
  for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
  pthread_barrier_destroy(&m.barrier);
  for (int r = 1; r < size; r++) assert_true(legs[r].at.digest == legs[0].at.digest);
  return legs[0];
}

static size_t tensors_of(const char *const *pairs, size_t sizes[64]) {
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  size_t count = hu_trainer_tensor_count(trainer);
  assert_true(count < 64);
  for (size_t i = 0; i < count; i++)
    sizes[i] = hu_trainer_tensor_at(trainer, i).rows * hu_trainer_tensor_at(trainer, i).cols;
  hu_trainer_free(trainer);
  return count;
}

static void same_legs(const char *const *pairs, const t_leg *a, const t_leg *b) {
  size_t sizes[64], count = tensors_of(pairs, sizes);
  assert_true(a->at.digest == b->at.digest);
  assert_string_equal(a->text, b->text);
  for (size_t i = 0; i < count; i++) assert_memory_equal(a->tensor[i], b->tensor[i], sizes[i] * sizeof(float));
}

static void free_leg(const char *const *pairs, t_leg *leg) {
  size_t sizes[64], count = tensors_of(pairs, sizes);
  for (size_t i = 0; i < count; i++) free(leg->tensor[i]);
  free(leg->tensor);
  free(leg->text);
}

/* Five steps, and three and two, of which each part has a number of processes of its own. */
static void same_for_any(const char *const *pairs) {
  static const int counts[][2] = {{1, 1}, {2, 3}, {3, 1}, {8, 2}, {1, 8}};
  t_leg whole = run_on(1, pairs, NULL, 5);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    t_leg one = run_on(counts[i][0], pairs, NULL, 5);
    same_legs(pairs, &whole, &one);
    free_leg(pairs, &one);
    one = run_on(counts[i][0], pairs, NULL, 3);
    t_leg other = run_on(counts[i][1], pairs, &one, 5);
    same_legs(pairs, &whole, &other);
    free_leg(pairs, &one);
    free_leg(pairs, &other);
  }
  free_leg(pairs, &whole);
}

static void test_same_for_any(void **state) {
  (void)state;
#define RUN(model, kind) NET, "parallel.shards", "8", "parallel.reduce", model, FEEDBACK, kind
  same_for_any(PAIRS(RUN("ring(binary32,wire=float8_e5m2)", "own"), "loss.scale", "backoff"));
  same_for_any(PAIRS(RUN("ring(bfloat16,sra:8,wire=mxfp8_e4m3)", "own"), "optimizer.momentum", "0.9"));
  same_for_any(PAIRS(RUN("tree(bfloat16,wire=float8_e4m3fn)", "sum"), "loss.scale", "static(64)"));
}

/* ---- what is refused ---- */

static void test_refused(void **state) {
  (void)state;
  static float z[SHARDS * ROOM];
  hu_trainer *trainer = with(PAIRS(RUN("ring(bfloat16)", "own")));
  assert_int_equal(hu_trainer_collect(NULL), HU_E_NULL);
  assert_int_equal(hu_trainer_collect(trainer), HU_E_TRAIN);
  assert_int_equal(hu_trainer_set(trainer, FEEDBACK, "yes", why), HU_E_TRAIN);
  assert_non_null(strstr(why, FEEDBACK));
  begin(trainer);
  steps(trainer, 1);
  size_t i = a_residual(trainer);
  assert_int_equal(hu_trainer_collect(trainer), HU_OK);
  assert_int_equal(hu_trainer_read(trainer, i, got[0]), HU_OK);
  z[1] = INFINITY;
  assert_int_equal(hu_trainer_write(trainer, i, z), HU_E_TRAIN);
  assert_int_equal(hu_trainer_read(trainer, i, z), HU_OK);
  assert_memory_equal(z, got[0], 64 * sizeof *z);
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  folder = argc > 1 ? argv[1] : "data";
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_defined), cmocka_unit_test(test_exact),
                                     cmocka_unit_test(test_skipped), cmocka_unit_test(test_same_for_any),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
