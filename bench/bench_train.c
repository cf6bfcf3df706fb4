/* SPDX-License-Identifier: MIT */
/* A step of training in low precision against the same step in binary32, and where its time goes.
 *
 *   bench_train [--threads 1] [--rounds 5] [--only NETWORK] [--precision NAME] [--binary32] [--csv]
 *
 * Steps are whole: a batch fed, forward, backward, update. The two nets run in turn; the shares come from further steps
 * of the same net, observed. --binary32: no other precision, as compare_torch.py needs it. Times of one thread are CPU
 * times, those of several wall times. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "bench/table.h"
#include "bench/train_nets.h"
#include "files/timing.h"

typedef struct options {
  int csv, rounds, plain, bad;
  uint32_t threads;
  const char *only, *precision;
} options;

/* ---- a net that trains ---- */

typedef struct trainee {
  hu_net *net;
  hu_model_ends ends;
  float *x;
  uint32_t *labels;
  hu_optimizer optimizer;
  hu_loss_rule rule;
  hu_loss_scale scale;
  hu_status status;
} trainee;

static void step(trainee *trained) {
  hu_status status = hu_model_feed(trained->net, &trained->ends, trained->x);
  if (status == HU_OK) status = hu_net_labels(trained->net, trained->labels);
  if (status == HU_OK) status = hu_net_forward(trained->net, 1, NULL);
  if (status == HU_OK) status = hu_net_backward(trained->net, trained->scale.scale);
  if (status == HU_OK)
    status = hu_net_update(trained->net, &trained->optimizer, &trained->rule, &trained->scale, NULL, NULL);
  if (status != HU_OK) trained->status = status;
}

static uint32_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

/* Draws a normal number, or a token. */
static float number_of(const bench_input *input, uint64_t *state) {
  float sum = 0;
  if (input->tokens) return (float)(input->from + next(state) % input->tokens);
  for (int k = 0; k < 12; k++) sum += (float)(next(state) >> 8) * 0x1p-24f;
  return sum - 6;
}

static size_t numbers_of(const bench_network *network) {
  size_t sum = 0;
  for (int i = 0; i < BENCH_INPUTS; i++) sum += network->input[i].numbers;
  return sum;
}

/* Makes a batch of noise: what a step costs does not depend on the data. */
static hu_status fill(trainee *trained, const bench_network *network) {
  size_t labels = network->batch * network->labels;
  uint64_t state = 1;
  float *x = trained->x = malloc(network->batch * numbers_of(network) * sizeof *trained->x);
  trained->labels = malloc(labels * sizeof *trained->labels);
  if (!trained->x || !trained->labels) return HU_E_MEMORY;
  for (size_t b = 0; b < network->batch; b++) {
    for (int i = 0; i < BENCH_INPUTS; i++) {
      for (size_t k = 0; k < network->input[i].numbers; k++) *x++ = number_of(&network->input[i], &state);
    }
  }
  for (size_t i = 0; i < labels; i++) {
    uint32_t label = next(&state) % network->classes;
    trained->labels[i] = network->every && i % network->every ? HU_LABEL_NONE : label;
  }
  return HU_OK;
}

/* Makes a net with a small rate, so that thousands of steps on one batch leave gradients as they are at the start. */
static hu_status open(trainee *trained, const bench_network *network, const bench_precision *precision,
                      uint32_t threads) {
  memset(trained, 0, sizeof *trained);
  trained->net = hu_net_new(network->batch, threads);
  if (!trained->net) return HU_E_MEMORY;
  int built = bench_ends(network, trained->net, &trained->ends);
  int loss = built ? hu_net_cross_entropy(trained->net, trained->ends.output, 1) : -1;
  hu_status status = loss >= 0 ? bench_set(trained->net, precision)
                     : built   ? hu_net_status(trained->net, NULL)
                               : HU_E_TRAIN;
  const hu_rounding keep = hu_rounding_keep();
  for (int i = 0; i < trained->ends.count && status == HU_OK; i++) {
    if (network->input[i].tokens) status = hu_net_round_value(trained->net, trained->ends.inputs[i], &keep, &keep);
  }
  if (status == HU_OK) status = hu_net_initialize(trained->net, 1);
  if (status == HU_OK) status = fill(trained, network);
  trained->optimizer = network->adam ? hu_optimizer_adamw(hu_binary32()) : hu_optimizer_sgd(hu_binary32());
  trained->optimizer.rate = 1e-6;
  if (status == HU_OK) status = hu_loss_rule_parse(&trained->rule, "static(1024)", NULL);
  trained->scale = hu_loss_scale_start(&trained->rule);
  return status;
}

static void close_it(trainee *trained) {
  hu_net_free(trained->net);
  free(trained->x);
  free(trained->labels);
}

/* ---- shares ---- */

enum { KINDS_MAX = 24 };
typedef struct share {
  const char *kind;
  int product;
  double work, rounding; /* seconds */
} share;

typedef struct shares {
  share kind[KINDS_MAX];
  int kinds;
  double update, begin[2], inside; /* when the open phases began; time of roundings inside of the outer one */
  int open;
} shares;

static share *kind_of(shares *seconds, const hu_net_phase *phase) {
  for (int i = 0; i < seconds->kinds; i++) {
    if (strcmp(seconds->kind[i].kind, phase->kind) == 0) return &seconds->kind[i];
  }
  if (seconds->kinds == KINDS_MAX) return &seconds->kind[KINDS_MAX - 1];
  share *one = &seconds->kind[seconds->kinds++];
  one->kind = phase->kind;
  one->product = phase->product;
  return one;
}

static void observe(void *context, const hu_net_phase *phase, int ends) {
  shares *seconds = context;
  double now = bench_now();
  if (!ends) {
    seconds->begin[seconds->open++] = now;
    return;
  }
  double took = now - seconds->begin[--seconds->open];
  if (phase->phase == HU_PHASE_UPDATE) {
    seconds->update += took;
  } else if (phase->phase == HU_PHASE_ROUNDING) {
    kind_of(seconds, phase)->rounding += took;
    seconds->inside += seconds->open ? took : 0;
  } else {
    kind_of(seconds, phase)->work += took - seconds->inside;
    seconds->inside = 0;
  }
}

/* ---- rows ---- */

typedef struct pair {
  trainee subject, reference;
} pair;

static void run_subject(void *context) { step(&((pair *)context)->subject); }
static void run_reference(void *context) { step(&((pair *)context)->reference); }

/* Returns how many steps take a fiftieth of a second, without the first two, which touch memory. */
static int repeats(trainee *trained) {
  double one = 0;
  for (int i = 0; i < 3; i++) {
    double t0 = bench_now();
    step(trained);
    one = bench_now() - t0;
  }
  return one > 0.02 ? 1 : (int)(0.02 / one) + 1;
}

typedef struct totals {
  double product, product_rounding, operators, rounding, update, rest; /* shares of a step; rounding: all of it */
} totals;

static totals totals_of(const shares *seconds, double whole) {
  totals sum = {0, 0, 0, 0, seconds->update / whole, 1};
  for (int i = 0; i < seconds->kinds; i++) {
    const share *one = &seconds->kind[i];
    if (one->product) sum.product_rounding += one->rounding / whole;
    *(one->product ? &sum.product : &sum.operators) += one->work / whole;
    sum.rounding += one->rounding / whole;
  }
  sum.rest = 1 - sum.product - sum.operators - sum.rounding - sum.update;
  return sum;
}

static const char *verdict(double is, double goal) { return is <= goal ? "met" : "missed"; }

static void print_kinds(const shares *seconds, double whole) {
  printf("    ");
  for (int i = 0; i < seconds->kinds; i++) {
    const share *one = &seconds->kind[i];
    printf("%s %.1f", one->kind[0] ? one->kind : "(parameters, inputs)", 100 * one->work / whole);
    if (one->rounding > 0) printf("+%.1f", 100 * one->rounding / whole);
    printf("%s", i + 1 < seconds->kinds ? ", " : "\n");
  }
}

static void print_row(const options *given, const bench_network *network, const bench_precision *precision,
                      bench_pair times, const shares *seconds, double whole) {
  totals all = totals_of(seconds, whole);
  double ratio = times.subject / times.reference;
  if (given->csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, %s", network->name, precision->name);
    bench_table_line(name, "best", (unsigned)given->threads, "us", 1e6 * times.subject);
    if (precision->goal > 0) bench_table_line(name, "best", (unsigned)given->threads, "time / binary32", ratio);
    if (precision->goal > 0 && all.product_rounding > 0)
      bench_table_line(name, "best", (unsigned)given->threads, "rounding / products",
                       all.product_rounding / all.product);
    return;
  }
  printf("  %-25s %9.1f us", precision->name, 1e6 * times.subject);
  if (precision->goal > 0)
    printf(" %5.2f of binary32 (goal %g, %s);", ratio, precision->goal, verdict(ratio, precision->goal));
  printf(" products %.0f %%, operators %.0f %%, rounding %.0f %%, update %.0f %%, rest %.0f %%", 100 * all.product,
         100 * all.operators, 100 * all.rounding, 100 * all.update, 100 * all.rest);
  if (precision->goal > 0) {
    printf("; rounding of products over them %.2f (goal 1, %s)", all.product_rounding / all.product,
           verdict(all.product_rounding, all.product));
  }
  printf("\n");
  print_kinds(seconds, whole);
  fflush(stdout);
}

/* Returns the time of the fastest of several runs of steps; *best gets its shares. */
static double watch(trainee *trained, int rounds, int repeat, shares *best) {
  double least = 1e30;
  memset(best, 0, sizeof *best);
  for (int i = 0; i < rounds; i++) {
    shares seen;
    memset(&seen, 0, sizeof seen);
    hu_net_observe(trained->net, observe, &seen);
    double t0 = bench_now();
    for (int k = 0; k < repeat; k++) step(trained);
    double whole = bench_now() - t0;
    if (whole < least) *best = seen;
    if (whole < least) least = whole;
  }
  hu_net_observe(trained->net, NULL, NULL);
  return least;
}

static hu_status row(const options *given, const bench_network *network, const bench_precision *precision) {
  pair both;
  hu_status status = open(&both.reference, network, &bench_precisions[0], given->threads);
  hu_status other = open(&both.subject, network, precision, given->threads);
  if (status == HU_OK) status = other;
  if (status == HU_OK) {
    int repeat = repeats(&both.reference);
    shares seen;
    bench_pair times = bench_against(run_subject, run_reference, &both, given->rounds, repeat);
    double whole = watch(&both.subject, given->rounds, repeat, &seen);
    status = both.reference.status != HU_OK ? both.reference.status : both.subject.status;
    if (status == HU_OK) print_row(given, network, precision, times, &seen, whole);
  }
  close_it(&both.subject);
  close_it(&both.reference);
  return status;
}

static options options_of(int argc, char **argv) {
  options given = {0, 5, 0, 0, 1, NULL, NULL};
  for (int i = 1; i < argc && !given.bad; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "--csv")) {
      given.csv = 1;
    } else if (!strcmp(argv[i], "--binary32")) {
      given.plain = 1;
    } else if (more && !strcmp(argv[i], "--rounds")) {
      given.rounds = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--threads")) {
      given.threads = (uint32_t)atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--only")) {
      given.only = argv[++i];
    } else if (more && !strcmp(argv[i], "--precision")) {
      given.precision = argv[++i];
    } else {
      given.bad = 1;
      fprintf(
          stderr,
          "usage: bench_train [--threads 1] [--rounds 5] [--only NETWORK] [--precision NAME] [--binary32] [--csv]\n");
    }
  }
  return given;
}

int main(int argc, char **argv) {
  options given = options_of(argc, argv);
  if (given.bad) return 2;
  if (given.threads == 1) bench_clock = CLOCK_PROCESS_CPUTIME_ID;
  if (given.csv) bench_table_head();
  for (int i = 0; i < BENCH_NETWORKS; i++) {
    const bench_network *network = &bench_networks[i];
    if (given.only && strcmp(given.only, network->name)) continue;
    if (!given.csv)
      printf("%s: %s, threads %u; shares of a step: work+rounding by kind of operator\n", network->name, network->what,
             (unsigned)given.threads);
    for (int k = 0; k < (given.plain ? 1 : BENCH_PRECISIONS); k++) {
      if (given.precision && !strstr(bench_precisions[k].name, given.precision)) continue;
      hu_status status = row(&given, network, &bench_precisions[k]);
      if (status == HU_OK) continue;
      fprintf(stderr, "bench_train: %s, %s: %s\n", network->name, bench_precisions[k].name, hu_status_text(status));
      return 1;
    }
  }
  return 0;
}
