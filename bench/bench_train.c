/* SPDX-License-Identifier: MIT */
/* A step of training in low precision against the same step in binary32, and where its time goes.
 *
 *   bench_train [--threads 1] [--rounds 5] [--only NETWORK] [--precision NAME] [--binary32] [--csv]
 *
 * Steps are whole: a batch fed, forward, backward, update. The two nets run in turn; the shares come from further steps
 * of the same net, observed. --binary32: no other precision, which is what compare_torch.py asks for. Times of one
 * thread are the processor's, those of several the clock's. */
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

static void step(trainee *t) {
  hu_status s = hu_model_feed(t->net, &t->ends, t->x);
  if (s == HU_OK) s = hu_net_labels(t->net, t->labels);
  if (s == HU_OK) s = hu_net_forward(t->net, 1, NULL);
  if (s == HU_OK) s = hu_net_backward(t->net, t->scale.scale);
  if (s == HU_OK) s = hu_net_update(t->net, &t->optimizer, &t->rule, &t->scale, NULL, NULL);
  if (s != HU_OK) t->status = s;
}

static uint32_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

/* A normal number, or a token. */
static float number_of(const bench_input *input, uint64_t *state) {
  float sum = 0;
  if (input->tokens) return (float)(input->from + next(state) % input->tokens);
  for (int k = 0; k < 12; k++) sum += (float)(next(state) >> 8) * 0x1p-24f;
  return sum - 6;
}

static size_t numbers_of(const bench_network *n) {
  size_t sum = 0;
  for (int i = 0; i < BENCH_INPUTS; i++) sum += n->input[i].numbers;
  return sum;
}

/* A batch of noise: what a step costs does not depend on what there is to learn. */
static hu_status fill(trainee *t, const bench_network *n) {
  size_t labels = n->batch * n->labels;
  uint64_t state = 1;
  float *x = t->x = malloc(n->batch * numbers_of(n) * sizeof *t->x);
  t->labels = malloc(labels * sizeof *t->labels);
  if (!t->x || !t->labels) return HU_E_MEMORY;
  for (size_t b = 0; b < n->batch; b++) {
    for (int i = 0; i < BENCH_INPUTS; i++) {
      for (size_t k = 0; k < n->input[i].numbers; k++) *x++ = number_of(&n->input[i], &state);
    }
  }
  for (size_t i = 0; i < labels; i++) {
    uint32_t label = next(&state) % n->classes;
    t->labels[i] = n->every && i % n->every ? HU_LABEL_NONE : label;
  }
  return HU_OK;
}

/* The rate is small, so that thousands of steps on one batch leave gradients as they are at the start. */
static hu_status open(trainee *t, const bench_network *n, const bench_precision *p, uint32_t threads) {
  memset(t, 0, sizeof *t);
  t->net = hu_net_new(n->batch, threads);
  if (!t->net) return HU_E_MEMORY;
  int built = bench_ends(n, t->net, &t->ends);
  int loss = built ? hu_net_cross_entropy(t->net, t->ends.output, 1) : -1;
  hu_status s = loss >= 0 ? bench_set(t->net, p) : built ? hu_net_status(t->net, NULL) : HU_E_TRAIN;
  const hu_rounding keep = hu_rounding_keep();
  for (int i = 0; i < t->ends.count && s == HU_OK; i++) {
    if (n->input[i].tokens) s = hu_net_round_value(t->net, t->ends.inputs[i], &keep, &keep);
  }
  if (s == HU_OK) s = hu_net_initialize(t->net, 1);
  if (s == HU_OK) s = fill(t, n);
  t->optimizer = n->adam ? hu_optimizer_adamw(hu_binary32()) : hu_optimizer_sgd(hu_binary32());
  t->optimizer.rate = 1e-6;
  if (s == HU_OK) s = hu_loss_rule_parse(&t->rule, "static(1024)", NULL);
  t->scale = hu_loss_scale_start(&t->rule);
  return s;
}

static void close_it(trainee *t) {
  hu_net_free(t->net);
  free(t->x);
  free(t->labels);
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
  double update, begin[2], inside; /* when the phases now open began; what roundings took inside of the outer one */
  int open;
} shares;

static share *kind_of(shares *s, const hu_net_phase *p) {
  for (int i = 0; i < s->kinds; i++) {
    if (strcmp(s->kind[i].kind, p->kind) == 0) return &s->kind[i];
  }
  if (s->kinds == KINDS_MAX) return &s->kind[KINDS_MAX - 1];
  share *k = &s->kind[s->kinds++];
  k->kind = p->kind;
  k->product = p->product;
  return k;
}

static void observe(void *context, const hu_net_phase *p, int ends) {
  shares *s = context;
  double now = bench_now();
  if (!ends) {
    s->begin[s->open++] = now;
    return;
  }
  double took = now - s->begin[--s->open];
  if (p->phase == HU_PHASE_UPDATE) {
    s->update += took;
  } else if (p->phase == HU_PHASE_ROUNDING) {
    kind_of(s, p)->rounding += took;
    s->inside += s->open ? took : 0;
  } else {
    kind_of(s, p)->work += took - s->inside;
    s->inside = 0;
  }
}

/* ---- rows ---- */

typedef struct pair {
  trainee subject, reference;
} pair;

static void run_subject(void *p) { step(&((pair *)p)->subject); }
static void run_reference(void *p) { step(&((pair *)p)->reference); }

/* Steps that take about a fiftieth of a second; the first two, which touch memory, do not count. */
static int repeats(trainee *t) {
  double one = 0;
  for (int i = 0; i < 3; i++) {
    double t0 = bench_now();
    step(t);
    one = bench_now() - t0;
  }
  return one > 0.02 ? 1 : (int)(0.02 / one) + 1;
}

typedef struct totals {
  double product, product_rounding, operators, rounding, update, rest; /* shares of a step; rounding: all of it */
} totals;

static totals totals_of(const shares *s, double whole) {
  totals t = {0, 0, 0, 0, s->update / whole, 1};
  for (int i = 0; i < s->kinds; i++) {
    const share *k = &s->kind[i];
    if (k->product) t.product_rounding += k->rounding / whole;
    *(k->product ? &t.product : &t.operators) += k->work / whole;
    t.rounding += k->rounding / whole;
  }
  t.rest = 1 - t.product - t.operators - t.rounding - t.update;
  return t;
}

static const char *verdict(double is, double goal) { return is <= goal ? "met" : "missed"; }

static void print_kinds(const shares *s, double whole) {
  printf("    ");
  for (int i = 0; i < s->kinds; i++) {
    const share *k = &s->kind[i];
    printf("%s %.1f", k->kind[0] ? k->kind : "(parameters, inputs)", 100 * k->work / whole);
    if (k->rounding > 0) printf("+%.1f", 100 * k->rounding / whole);
    printf("%s", i + 1 < s->kinds ? ", " : "\n");
  }
}

static void print_row(const options *o, const bench_network *n, const bench_precision *p, bench_pair t, const shares *s,
                      double whole) {
  totals a = totals_of(s, whole);
  double ratio = t.subject / t.reference;
  if (o->csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, %s", n->name, p->name);
    bench_table_line(name, "best", (unsigned)o->threads, "us", 1e6 * t.subject);
    if (p->goal > 0) bench_table_line(name, "best", (unsigned)o->threads, "time / binary32", ratio);
    if (p->goal > 0 && a.product_rounding > 0)
      bench_table_line(name, "best", (unsigned)o->threads, "rounding / products", a.product_rounding / a.product);
    return;
  }
  printf("  %-25s %9.1f us", p->name, 1e6 * t.subject);
  if (p->goal > 0) printf(" %5.2f of binary32 (goal %g, %s);", ratio, p->goal, verdict(ratio, p->goal));
  printf(" products %.0f %%, operators %.0f %%, rounding %.0f %%, update %.0f %%, rest %.0f %%", 100 * a.product,
         100 * a.operators, 100 * a.rounding, 100 * a.update, 100 * a.rest);
  if (p->goal > 0) {
    printf("; rounding of products over them %.2f (goal 1, %s)", a.product_rounding / a.product,
           verdict(a.product_rounding, a.product));
  }
  printf("\n");
  print_kinds(s, whole);
  fflush(stdout);
}

/* The quickest of several runs of steps, and where its time went. */
static double watch(trainee *t, int rounds, int repeat, shares *best) {
  double least = 1e30;
  memset(best, 0, sizeof *best);
  for (int i = 0; i < rounds; i++) {
    shares seen;
    memset(&seen, 0, sizeof seen);
    hu_net_observe(t->net, observe, &seen);
    double t0 = bench_now();
    for (int k = 0; k < repeat; k++) step(t);
    double whole = bench_now() - t0;
    if (whole < least) *best = seen;
    if (whole < least) least = whole;
  }
  hu_net_observe(t->net, NULL, NULL);
  return least;
}

static hu_status row(const options *o, const bench_network *n, const bench_precision *p) {
  pair both;
  hu_status s = open(&both.reference, n, &bench_precisions[0], o->threads);
  hu_status other = open(&both.subject, n, p, o->threads);
  if (s == HU_OK) s = other;
  if (s == HU_OK) {
    int repeat = repeats(&both.reference);
    shares seen;
    bench_pair t = bench_against(run_subject, run_reference, &both, o->rounds, repeat);
    double whole = watch(&both.subject, o->rounds, repeat, &seen);
    s = both.reference.status != HU_OK ? both.reference.status : both.subject.status;
    if (s == HU_OK) print_row(o, n, p, t, &seen, whole);
  }
  close_it(&both.subject);
  close_it(&both.reference);
  return s;
}

static options options_of(int argc, char **argv) {
  options o = {0, 5, 0, 0, 1, NULL, NULL};
  for (int i = 1; i < argc && !o.bad; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "--csv")) {
      o.csv = 1;
    } else if (!strcmp(argv[i], "--binary32")) {
      o.plain = 1;
    } else if (more && !strcmp(argv[i], "--rounds")) {
      o.rounds = atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--threads")) {
      o.threads = (uint32_t)atoi(argv[++i]);
    } else if (more && !strcmp(argv[i], "--only")) {
      o.only = argv[++i];
    } else if (more && !strcmp(argv[i], "--precision")) {
      o.precision = argv[++i];
    } else {
      o.bad = 1;
      fprintf(
          stderr,
          "usage: bench_train [--threads 1] [--rounds 5] [--only NETWORK] [--precision NAME] [--binary32] [--csv]\n");
    }
  }
  return o;
}

int main(int argc, char **argv) {
  options o = options_of(argc, argv);
  if (o.bad) return 2;
  if (o.threads == 1) bench_clock = CLOCK_PROCESS_CPUTIME_ID;
  if (o.csv) bench_table_head();
  for (int i = 0; i < BENCH_NETWORKS; i++) {
    const bench_network *n = &bench_networks[i];
    if (o.only && strcmp(o.only, n->name)) continue;
    if (!o.csv)
      printf("%s: %s, threads %u; shares of a step: work+rounding by kind of operator\n", n->name, n->what,
             (unsigned)o.threads);
    for (int k = 0; k < (o.plain ? 1 : BENCH_PRECISIONS); k++) {
      if (o.precision && !strstr(bench_precisions[k].name, o.precision)) continue;
      hu_status s = row(&o, n, &bench_precisions[k]);
      if (s == HU_OK) continue;
      fprintf(stderr, "bench_train: %s, %s: %s\n", n->name, bench_precisions[k].name, hu_status_text(s));
      return 1;
    }
  }
  return 0;
}
