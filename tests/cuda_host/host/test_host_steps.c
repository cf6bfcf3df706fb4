/* SPDX-License-Identifier: MIT */
/* What a step of training makes the host wait for, and what it copies, on the kernels compiled for the CPU: networks
 * with each of several systems. Kernels and copies are queued until something waits for them (gpu/host/order.h); what
 * the steps report, the weights after them and an evaluation are those of the CPU.
 *
 *   test_host_steps FOLDER_OF_DATA [all|table]     all: every network in every system, and ResNet-20; otherwise the MLP
 *                                                  is in every system, each of the others in some, and ResNet-8
 *                                                  stands for ResNet-20;
 *                                                  table: prints the rows of docs/device.md in place of the test */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/train/net.h"
#include "gpu/host/order.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

static const hu_engine *device;
static int all; /* systems of every network */

/* A step may wait WAITS_MOST times; docs/device.md has a table of how often it does. An evaluation waits for the loss
 * and for the answers of each batch. */
enum { STEPS = 2, WAITS_MOST = 8, WAITS_A_BATCH = 2 };

typedef struct keys {
  const char *name;
  const char *const *pairs;
} keys;

#define IMAGES "data.set", "gratings", "data.size", "8", "data.count", "48", "data.test", "20", "run.batch", "8"
#define TEXT \
  "data.set", "text", "data.window", "8", "run.batch", "4", "optimizer.kind", "adamw", "optimizer.rate", "0.01"
#define KEYS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
KEYS(mlp, IMAGES, "model.net", "mlp(layers=3,units=24)");
KEYS(resnet, IMAGES, "model.net", "resnet(blocks=3,width=0.125)");
KEYS(short_resnet, IMAGES, "model.net", "resnet(blocks=1,width=0.125)");
KEYS(transformer, TEXT, "model.net", "transformer(layers=2,heads=4,units=16,hidden=16)");
KEYS(lstm, TEXT, "model.net", "lstm(layers=2,units=12)");
/* The same with more weights in as many tensors; with one head. */
KEYS(wide_mlp, IMAGES, "model.net", "mlp(layers=3,units=40)");
KEYS(wide_resnet, IMAGES, "model.net", "resnet(blocks=3,width=0.25)");
KEYS(wide_short_resnet, IMAGES, "model.net", "resnet(blocks=1,width=0.25)");
KEYS(wide_transformer, TEXT, "model.net", "transformer(layers=2,heads=4,units=24,hidden=24)");
KEYS(wide_lstm, TEXT, "model.net", "lstm(layers=2,units=20)");
KEYS(conv, IMAGES, "model.net", "conv(channels=4/4)");
KEYS(wide_conv, IMAGES, "model.net", "conv(channels=6/6)");
KEYS(one_head, TEXT, "model.net", "transformer(layers=2,heads=1,units=16,hidden=16)");
static keys networks[] = {{"MLP", mlp}, {"ResNet-20", resnet}, {"transformer", transformer}, {"LSTM", lstm}};
static keys wide_networks[] = {{"wide MLP", wide_mlp},
                               {"wide ResNet-20", wide_resnet},
                               {"wide transformer", wide_transformer},
                               {"wide LSTM", wide_lstm}};
static const size_t batches_seen[] = {3, 3, 8, 8}; /* with shards as many for each of them, at most */

KEYS(binary32, "precision.system", "binary32");
KEYS(fp16, "precision.system", "fp16", "loss.scale", "backoff");
KEYS(s2fp8, "precision.system", "s2fp8");
KEYS(stochastic, "precision.system", "bfloat16", "optimizer.weights", "bfloat16", "optimizer.update", "sra:16",
     "optimizer.state", "binary32");
KEYS(kahan, "precision.system", "bfloat16", "optimizer.weights", "bfloat16", "optimizer.update", "kahan", "loss.scale",
     "largest");
KEYS(rules, "precision.system", "fp16", "loss.scale", "backoff", "gradient.clip", "0.01", "gradient.penalty", "l2",
     "gradient.lambda", "0.001", "gradient.literal", "yes", "gradient.larc", "clip");
KEYS(summed, "run.accumulate", "2", "gradient.clip", "0.01", "gradient.penalty", "l1");
KEYS(delayed, "precision.system", "fp8_delayed", "precision.history", "2");
KEYS(sums, "precision.accum", "seq(bfloat16,sra:8)", "gradient.larc", "scale", "gradient.eta", "0.01");
KEYS(shards, "parallel.shards", "4");
KEYS(summed_shards, "parallel.shards", "2", "run.accumulate", "2", "gradient.clip", "0.01");
/* Its sums over shards are made on the host. */
KEYS(ring, "parallel.shards", "4", "parallel.reduce", "ring(bfloat16)");
static const keys systems[] = {{"binary32", binary32},
                               {"fp16, loss scaling", fp16},
                               {"s2fp8", s2fp8},
                               {"bfloat16, stochastic rounding", stochastic},
                               {"bfloat16, Kahan", kahan},
                               {"fp16, clipping, L2, LARC", rules},
                               {"two batches, L1, clipping", summed},
                               {"fp8, delayed scaling", delayed},
                               {"stochastic sums, LARC", sums},
                               {"four shards", shards},
                               {"two shards of two batches, clipping", summed_shards}};
static const keys in_a_ring = {"four shards in a ring", ring};
enum {
  RESNET = 1,
  TRANSFORMER = 2,
  NETWORKS = sizeof networks / sizeof *networks,
  SYSTEMS = sizeof systems / sizeof *systems,
  RULES = 5,
  SUMMED = 6,
  DELAYED = 7,
  STOCHASTIC_SUMS = 8,
  SHARDS = 9
};

/* What a run tells. */
typedef struct reported {
  hu_trainer_report report[STEPS];
  hu_trainer_seen seen;
  uint64_t digest;
  hu_host_calls step, evaluation; /* step: the last one */
  size_t numbers;                 /* of all parameters */
} reported;

static reported run(const keys *net, const keys *system, const hu_engine *engine) {
  reported z;
  memset(&z, 0, sizeof z);
  hu_trainer *trainer = with(net->pairs);
  for (const char *const *p = system->pairs; *p; p += 2) set(trainer, p[0], p[1]);
  if (engine) {
    assert_int_equal(hu_trainer_set_engine(trainer, engine), HU_OK);
    set(trainer, "run.device", "cuda");
  }
  begin(trainer);
  for (int i = 0; i < STEPS; i++) {
    (void)hui_host_counted();
    assert_int_equal(hu_trainer_step(trainer, &z.report[i]), HU_OK);
    z.step = hui_host_counted();
  }
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &z.seen), HU_OK);
  z.evaluation = hui_host_counted();
  z.digest = hu_trainer_digest(trainer);
  hu_net *own = hu_trainer_net(trainer);
  for (int i = 0; i < hu_net_parameters(own); i++) {
    hu_net_tensor x = hu_net_parameter(own, i);
    z.numbers += x.rows * x.cols;
  }
  hu_trainer_free(trainer);
  return z;
}

/* Of a network of the list in a system of the list, on the device: run once, for all tests. */
static const reported *run_once(size_t network, size_t system) {
  static reported kept[NETWORKS][SYSTEMS];
  static int is_kept[NETWORKS][SYSTEMS];
  if (!is_kept[network][system]) kept[network][system] = run(&networks[network], &systems[system], device);
  is_kept[network][system] = 1;
  return &kept[network][system];
}

static void print_row(const keys *net, const keys *system, const reported *z) {
  const hu_host_calls *c = &z->step;
  printf("| %s | %s | %zu | %" PRIu64 " | %" PRIu64 " in, %" PRIu64 " out | %" PRIu64 " in, %" PRIu64 " out | %" PRIu64
         " | %" PRIu64 " |\n",
         net->name, system->name, z->numbers, c->waits, c->copies_in, c->copies_out, c->bytes_in, c->bytes_out,
         c->launches, c->allocations);
  fflush(stdout);
}

/* Reports, weights and what is seen: the same bits. */
static void same_reported(const reported *a, const reported *b) {
  for (size_t i = 0; i < STEPS; i++) {
    const hu_trainer_report *x = &a->report[i], *y = &b->report[i];
    assert_memory_equal(&x->loss, &y->loss, sizeof x->loss);
    assert_memory_equal(&x->norm, &y->norm, sizeof x->norm);
    assert_memory_equal(&x->forward, &y->forward, sizeof x->forward);
    assert_memory_equal(&x->backward, &y->backward, sizeof x->backward);
    assert_memory_equal(&x->updates, &y->updates, sizeof x->updates);
    assert_true(x->largest == y->largest && x->scale == y->scale && x->taken == y->taken);
  }
  assert_memory_equal(&a->seen, &b->seen, sizeof a->seen);
  assert_true(a->digest == b->digest);
}

/* The MLP in every system; of the others each has a part, and most systems are asked of one of them. */
static int is_asked(size_t network, size_t system) {
  if (all || network == 0) return 1;
  if (system >= SHARDS) return 0;
  if (network == RESNET) return system >= RULES && system <= DELAYED;
  int turn = network == TRANSFORMER ? system % 2 == 0 || system == DELAYED : system % 2 == 1 && system < DELAYED;
  return turn || system == 0 || system == RULES || system == SUMMED;
}

/* A step of each network in each system. */
static void test_steps(void **state) {
  (void)state;
  uint64_t most = 0, clipped = 0;
  for (size_t i = 0; i < NETWORKS; i++) {
    for (size_t k = 0; k < SYSTEMS; k++) {
      if (!is_asked(i, k)) continue;
      reported z = *run_once(i, k), cpu = run(&networks[i], &systems[k], NULL);
      const hu_host_calls *c = &z.step;
      same_reported(&z, &cpu);
      if (c->waits > WAITS_MOST || c->allocations)
        fail_msg("%s, %s: a step waits %" PRIu64 " times and allocates %" PRIu64 " times", networks[i].name,
                 systems[k].name, c->waits, c->allocations);
      /* The first evaluation may want a larger room, and giving the smaller one back waits. */
      size_t seen = batches_seen[i] * (k < SHARDS ? 1 : 4);
      if (z.evaluation.waits > WAITS_A_BATCH * seen + z.evaluation.allocations)
        fail_msg("%s, %s: an evaluation of %zu batches waits %" PRIu64 " times", networks[i].name, systems[k].name,
                 seen, z.evaluation.waits);
      most = c->waits > most ? c->waits : most;
      clipped += k == RULES && z.report[0].norm > 0.01;
    }
  }
  assert_int_equal(clipped, NETWORKS);
  print_message("%d networks in %d systems: a step waits at most %" PRIu64 " times\n", (int)NETWORKS, (int)SYSTEMS,
                most);
}

static int same_copies(const hu_host_calls *a, const hu_host_calls *b) {
  return a->waits == b->waits && a->copies_in == b->copies_in && a->copies_out == b->copies_out &&
         a->bytes_in == b->bytes_in && a->bytes_out == b->bytes_out && a->largest_in == b->largest_in &&
         a->largest_out == b->largest_out;
}

/* More weights, and the same copies: whatever the rules ask for, none is of weights or of gradients. */
static void test_wide(void **state) {
  (void)state;
  static const size_t of[] = {0, RULES, SUMMED};
  for (size_t i = 0; i < NETWORKS; i++) {
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
      if (!is_asked(i, of[k])) continue;
      reported z = *run_once(i, of[k]), wide = run(&wide_networks[i], &systems[of[k]], device);
      assert_true(wide.numbers > z.numbers + z.numbers / 4);
      if (!same_copies(&z.step, &wide.step) || !same_copies(&z.evaluation, &wide.evaluation))
        fail_msg("%s, %s: more weights, and other copies", networks[i].name, systems[of[k]].name);
    }
  }
}

/* All heads in one launch. */
static void test_heads(void **state) {
  (void)state;
  static const keys one = {"one head", one_head};
  static const size_t of[] = {0, STOCHASTIC_SUMS};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    reported four = *run_once(TRANSFORMER, of[k]), alone = run(&one, &systems[of[k]], device);
    assert_int_equal(four.step.launches, alone.step.launches);
  }
}

/* Shards of a network with batch norms (norms: 1) or without. Under `exact` more weights change no copy. Another model
 * is the host's: the gradients of all shards come in one copy, their sum goes back in one, and so do running
 * statistics. */
static void check_shards(const keys *net, const keys *wide, int norms) {
  reported exact = run(net, &systems[SHARDS], device), z = run(net, &in_a_ring, device),
           cpu = run(net, &in_a_ring, NULL);
  reported wider = run(wide, &systems[SHARDS], device);
  uint64_t rows = norms ? 2 : 1, bytes = z.numbers * sizeof(float);
  assert_true(wider.numbers > exact.numbers + exact.numbers / 4);
  assert_true(exact.step.waits <= WAITS_MOST && exact.step.allocations == 0);
  if (!same_copies(&exact.step, &wider.step)) fail_msg("%s, four shards: more weights, and other copies", net->name);
  same_reported(&z, &cpu);
  assert_int_equal(z.step.waits, exact.step.waits + rows);
  assert_int_equal(z.step.copies_in, exact.step.copies_in + rows);
  assert_int_equal(z.step.copies_out, exact.step.copies_out + rows);
  assert_true(z.step.bytes_in >= exact.step.bytes_in + bytes);
  assert_true(z.step.bytes_out >= exact.step.bytes_out + 4 * bytes);
}

static void test_shards(void **state) {
  static const keys small = {"conv", conv}, wide = {"wide conv", wide_conv};
  (void)state;
  check_shards(&networks[0], &wide_networks[0], 0);
  check_shards(&small, &wide, 1);
  if (all) check_shards(&networks[RESNET], &wide_networks[RESNET], 1);
}

/* Rows of the table in docs/device.md. */
static void print_table(void) {
  for (size_t i = 0; i < NETWORKS; i++) {
    for (size_t k = 0; k < SYSTEMS; k++) {
      reported z = run(&networks[i], &systems[k], device);
      print_row(&networks[i], &systems[k], &z);
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_wide),
                                     cmocka_unit_test(test_heads), cmocka_unit_test(test_shards)};
  if (argc < 2) return 2;
  folder = argv[1];
  if (hu_engine_device(&device) != HU_OK) return 1;
  hui_host_queue(1);
  all = argc > 2 && strcmp(argv[2], "all") == 0;
  int table = argc > 2 && strcmp(argv[2], "table") == 0;
  if (!all && !table) {
    networks[RESNET] = (keys){"ResNet-8", short_resnet};
    wide_networks[RESNET] = (keys){"wide ResNet-8", wide_short_resnet};
  }
  if (table) print_table();
  return table ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
