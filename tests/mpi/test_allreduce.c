/* SPDX-License-Identifier: MIT */
/* One rank of an MPI job, which test_mpi.py starts: `bits` compares hu_mpi_allreduce with hu_collective_reduce on the
 * buffers of all ranks, which every rank makes; the others let a rank go wrong and expect to be told. */
#define _DEFAULT_SOURCE /* kill, usleep */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/mpi.h"
#include "halfulp/scalar.h"

enum { N_MAX = 9000, ALL_MAX = 24 };

static int rank, size;
static uint32_t buffer[ALL_MAX][N_MAX], want[N_MAX], got[N_MAX];
static unsigned long compared;

static void fail(const char *what, const char *model, size_t n) {
  fprintf(stderr, "rank %d of %d: %s: %s, %zu elements\n", rank, size, what, model, n);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static hu_collective model_of(const char *text) {
  hu_collective c;
  size_t where;
  if (hu_collective_parse(&c, text, &where) != HU_OK) fail("not a model", text, where);
  return c;
}

/* The buffers of all participants: values of several magnitudes, zeros, now and then a special one. */
static void draw(size_t all, size_t n, hu_format format, uint64_t seed) {
  hu_mode rne = {0};
  for (size_t p = 0; p < all; p++) {
    hu_stream stream = {seed, p << 32};
    for (size_t i = 0; i < n; i++) {
      uint32_t w = hu_stream_word(stream, i);
      float x = (float)(int32_t)(w << 8) * (w & 7 ? 0x1p-31f : 0x1p-24f);
      if (w >> 24 == 7) x = 0;
      uint32_t code = hu_encode(format, rne, x, 0, NULL);
      if (format.e == 8 && format.m == 23)
        buffer[p][i] = code;
      else
        ((uint16_t *)(void *)buffer[p])[i] = (uint16_t)code;
    }
  }
}

/* Ranks have owns(r) participants each. */
static size_t owns(int r, int many) { return many ? (size_t)(r + many) % 3 : 1; }

/* What the model gives, whichever way the ranks take, and the numbers of participants. */
typedef struct answer {
  const char *text;
  size_t n, all, first;
  hu_format f;
  int many;
  hu_exec exec;
  hu_events events;
} answer;

static void expect(answer *expected) {
  hu_collective c = model_of(expected->text);
  hu_mode rne = {0};
  const void *x[ALL_MAX];
  for (size_t p = 0; p < expected->all; p++) x[p] = buffer[p];
  memset(want, 0xA5, sizeof want);
  if (hu_collective_reduce(expected->all, expected->n, want, expected->f, x, &c,
                           &(hu_how){rne, &expected->exec, &expected->events}) != HU_OK)
    fail("the model fails", expected->text, expected->n);
}

static void compare(const answer *expected, uint32_t way) {
  hu_collective c = model_of(expected->text);
  hu_mode rne = {0};
  hu_events events = {0};
  hu_mpi where = {MPI_COMM_WORLD, 60, way, 0, ""};
  const void *x[ALL_MAX];
  for (size_t p = 0; p < expected->all; p++) x[p] = buffer[p];
  memset(got, 0xA5, sizeof got);
  hu_status status = hu_mpi_allreduce_many(&where, expected->n, got, expected->f, owns(rank, expected->many),
                                           x + expected->first, &c, &(hu_how){rne, &expected->exec, &events});
  if (status != HU_OK) fail(where.why, expected->text, expected->n);
  if (memcmp(got, want, sizeof got) != 0) fail("other bits", expected->text, expected->n);
  if (memcmp(&events, &expected->events, sizeof events) != 0) fail("other events", expected->text, expected->n);
  compared += expected->n * (expected->f.m == 23 ? 4 : 2);
}

static const char *const models[] = {
    "exact",
    "pairwise(bfloat16)",
    "pairwise(binary32,wire=float8_e5m2)",
    "ring(bfloat16)",
    "ring(bfloat16,sra:16,wire=float8_e4m3fn)",
    "ring(binary32,wire=mxfp8_e4m3)",
    "direct(binary32,sra:9,wire=mxfp8_e4m3)",
    "switch(bfloat16,sra:8,wire=float8_e5m2)",
    "tree(binary16)",
    "tree(bfloat16,sra:8,wire=bfloat16)",
    "doubling(bfloat16)",
    "doubling(binary32)",
    "doubling(binary16,srb:8,wire=float8_e5m2)",
    "hierarchical(2,exact,ring(bfloat16))",
    "hierarchical(3,tree(binary16),doubling(bfloat16,wire=float8_e5m2))",
};

enum { MODELS = sizeof models / sizeof *models };

/* All models on the same buffers: each in both ways if every rank owns one participant, else in the model's own. */
static void each_model(size_t n, uint64_t length, hu_format format, int many) {
  answer expected = {NULL, n, 0, 0, format, many, {0}, {0}};
  for (int r = 0; r < size; r++) {
    if (r == rank) expected.first = expected.all;
    expected.all += owns(r, many);
  }
  if (!expected.all || expected.all > ALL_MAX) return;
  draw(expected.all, n, format, 5 + n);
  for (size_t m = 0; m < MODELS; m++) {
    expected.text = models[m];
    expected.exec = (hu_exec){2, 0, {m * 77 + 5, length}, {0}};
    expected.events = (hu_events){0};
    expect(&expected);
    for (uint32_t way = HU_MPI_AS_MODEL; way <= (many ? HU_MPI_AS_MODEL : HU_MPI_SEGMENTS); way++)
      compare(&expected, way);
  }
}

static void bits(void) {
  static const size_t lengths[] = {0, 1, 2, 7, 511, 512, 513, 1537, 5000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    each_model(lengths[i], i, hu_binary32(), 0);
    each_model(lengths[i], i, hu_binary16(), 0);
    each_model(lengths[i], i, hu_binary32(), 1);
    each_model(lengths[i], i, hu_binary16(), 2);
  }
  if (rank == 0) printf("%lu bytes compared\n", compared);
}

/* A buffer of several messages, and of two rounds by segments if ranks are three, in place. What is expected of a model
 * is computed by one of the ranks. */
static void large(void) {
  const size_t n = 1100001;
  float *all = malloc((size_t)size * n * sizeof *all), *z[MODELS];
  const void *x[ALL_MAX];
  if (!all) fail("no memory", "", n);
  for (size_t i = 0; i < (size_t)size * n; i++) all[i] = (float)((i * 2654435761u) % 100003) - 50001.5f;
  for (int r = 0; r < size; r++) x[r] = all + (size_t)r * n;
  for (int m = 0; m < MODELS; m++) {
    hu_collective c = model_of(models[m]);
    z[m] = malloc(n * sizeof **z);
    if (!z[m]) fail("no memory", "", n);
    if (m % size == rank && hu_collective_reduce((size_t)size, n, z[m], hu_binary32(), x, &c, NULL) != HU_OK)
      fail("fails", models[m], n);
  }
  for (int m = 0; m < MODELS; m++) {
    hu_collective c = model_of(models[m]);
    hu_mpi where = {MPI_COMM_WORLD, 60, 0, 0, ""};
    MPI_Bcast(z[m], (int)n, MPI_FLOAT, m % size, MPI_COMM_WORLD);
    float *own = malloc(n * sizeof *own);
    if (!own) fail("no memory", "", n);
    memcpy(own, x[rank], n * sizeof *own);
    if (hu_mpi_allreduce(&where, n, own, hu_binary32(), own, &c, NULL) != HU_OK) fail(where.why, models[m], n);
    if (memcmp(own, z[m], n * sizeof *own) != 0) fail("other bits", models[m], n);
    free(own);
    free(z[m]);
  }
  free(all);
}

/* The last rank differs in one argument: all are told, and nothing is written. */
static void differ(void) {
  hu_collective exact = model_of("exact"), ring = model_of("ring(bfloat16)");
  hu_mode rne = {0}, up = {.round = HU_RTP}, none = {.round = 99};
  int last = rank == size - 1;
  const struct {
    hu_status status;
    const char *why;
  } expected[] = {{HU_E_SHAPE, "another n than rank 0"},
                  {HU_E_SHAPE, "another model than rank 0"},
                  {HU_E_SHAPE, "another mode than rank 0"},
                  {HU_E_SHAPE, "another format f than rank 0"},
                  {HU_E_MODE, "unknown rounding"},
                  {HU_E_NULL, "must not be NULL"},
                  {HU_E_SHAPE, "another key of the stream"},
                  {HU_E_OVERLAP, "overlap"},
                  {HU_E_CODE, "bits above its format's width"}};
  static uint16_t codes[100];
  hu_format twelve = hu_format_ieee(5, 6, 0);
  codes[77] = last ? 0x1000 : 0;
  for (int k = 0; k < 9; k++) {
    hu_mpi where = {MPI_COMM_WORLD, 60, 0, 0, ""};
    hu_exec exec = {1, 0, {k == 6 && last, 0}, {0}};
    hu_events events = {0};
    memset(got, 0xA5, sizeof got);
    uint32_t first = got[0];
    hu_mode mode = k == 2 && last ? up : k == 4 && last ? none : rne;
    hu_format format = k == 3 && last ? hu_binary16() : k == 8 ? twelve : hu_binary32();
    const void *x = k == 5 && last ? NULL : k == 8 ? (const void *)codes : buffer[0];
    hu_status status = hu_mpi_allreduce(&where, k == 0 && last ? 99 : 100, k == 7 && last ? buffer[0] + 1 : got, format,
                                        x, k == 1 && last ? &ring : &exact, &(hu_how){mode, &exec, &events});
    if (status != expected[k].status || where.rank != size - 1 || !strstr(where.why, expected[k].why))
      fail(where.why, "differ", (size_t)k);
    if (got[0] != first || events.inexact) fail("something was written", "differ", (size_t)k);
  }
}

static int process[ALL_MAX]; /* of each rank */
static volatile sig_atomic_t woken;

static void wake(int number) {
  (void)number;
  woken = 1;
}

/* The last rank never calls: the others are told within the timeout. All end when rank 0 has said so, since launchers
 * end all ranks with the first one. */
static void late(void) {
  hu_collective exact = model_of("exact");
  hu_mpi where = {MPI_COMM_WORLD, 1, 0, 0, ""};
  if (rank != size - 1) {
    hu_status status = hu_mpi_allreduce(&where, 100, got, hu_binary32(), buffer[0], &exact, NULL);
    if (status != HU_E_MPI || !strstr(where.why, "did not make the call within 1 s")) fail(where.why, "late", 0);
  }
  if (rank == 0) {
    puts(where.why);
    fflush(stdout);
    sleep(3); /* MPICH's launcher drops what was printed when a rank ends like this */
    for (int i = 1; i < size; i++) kill((pid_t)process[i], SIGUSR1);
  } else {
    for (int i = 0; i < 12000 && !woken; i++) usleep(10000);
  }
  _exit(0); /* the communicator is not to be used any more, by MPI_Finalize neither */
}

int main(int argc, char **argv) {
  int threads;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *what = argc > 1 ? argv[1] : "bits";
  int own = (int)getpid();
  signal(SIGUSR1, wake);
  MPI_Allgather(&own, 1, MPI_INT, process, 1, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(what, "bits")) bits();
  if (!strcmp(what, "large")) large();
  if (!strcmp(what, "differ")) differ();
  if (!strcmp(what, "late")) late();
  if (!strcmp(what, "killed") && rank == size - 1) abort();
  if (!strcmp(what, "killed")) late();
  MPI_Finalize();
  return 0;
}
