/* SPDX-License-Identifier: MIT */
/* Experiments: one way to train a perceptron on digits, tables of its precision, claims. */
#include "halfulp/train/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train.h"

/* How tensors are rounded; NULL: kept. */
typedef struct precision {
  const char *stored;  /* values, gradients, parameters and their gradients, after every operator */
  const char *product; /* operands and results of matrix products, forward and backward, and nothing else */
  const char *blocks;  /* operands alone: a scaled tensor with blocks along the reduction */
} precision;

typedef struct run {
  const char *name;
  precision precision;
  const char *loss;           /* rule of the loss scale */
  int power;                  /* the loss times 2^-power: a large batch seen in small parts */
  uint8_t kind;               /* HU_SGD, HU_ADAMW */
  const char *state, *weight; /* formats of the optimizer */
  uint8_t update;
  uint8_t random_bits; /* of the last rounding of an update; 0: to nearest */
  double rate, momentum, beta2, eps;
  size_t layers, batch, epochs;
} run;

enum { CLASSES = 10, PIXELS = 64, UNITS = 64 };

typedef struct lab {
  hu_data training, test;
  hu_experiment_report *report;
  uint64_t seed;
  hu_experiment_progress *progress;
  void *context;
  size_t of;
  int stopped;
} lab;

/* ---- a run ---- */

/* A layer whose bias is an operator of its own, so that products round without it. */
static int add_layer(hu_net *net, const hu_product_rounding *r, const hu_rounding *out, int x, size_t units) {
  int z = hu_net_linear(net, x, units, 0);
  if (hu_net_round_product(net, z, r) != HU_OK || hu_net_round_value(net, z, out, NULL) != HU_OK) return -1;
  if (hu_net_round_value(net, x, NULL, out) != HU_OK) return -1; /* dX */
  return hu_net_position(net, z);
}

static hu_rounding rounding_of(const char *text) {
  hu_rounding r = hu_rounding_keep();
  if (text && hu_rounding_parse(&r, text, NULL) != HU_OK) r.kind = 255; /* refused by whoever takes it */
  return r;
}

static int build(hu_net *net, const run *c, int *input, int *logits) {
  hu_product_rounding product = hu_product_rounding_plain();
  hu_rounding stored = rounding_of(c->precision.stored), out = rounding_of(c->precision.product);
  hu_rounding operand = c->precision.blocks ? rounding_of(c->precision.blocks) : out;
  product.x = product.w = product.dz = product.w_back = product.x_back = product.dz_w = operand;
  if (c->precision.blocks) product.w.turned = product.x_back.turned = product.dz_w.turned = 1;
  int x = *input = hu_net_input(net, 1, PIXELS);
  for (size_t i = 0; i < c->layers; i++) x = hu_net_relu(net, add_layer(net, &product, &out, x, UNITS));
  *logits = add_layer(net, &product, &out, x, CLASSES);
  int loss = hu_net_cross_entropy(net, *logits, ldexp(1, -c->power));
  hu_status s = hu_net_status(net, NULL);
  for (int i = 0; i < hu_net_parameters(net) && s == HU_OK; i++) {
    s = hu_net_round_parameter(net, i, c->precision.stored ? &stored : NULL, c->precision.product ? &out : &stored);
  }
  for (int i = 0; i < loss && s == HU_OK && c->precision.stored; i++) s = hu_net_round_value(net, i, &stored, &stored);
  return s == HU_OK;
}

static hu_optimizer optimizer_of(const run *c) {
  hu_format state = hu_binary32(), weight = hu_binary32();
  if (c->state && hu_format_parse(&state, c->state, NULL) != HU_OK) memset(&state, 0, sizeof state);
  if (c->weight && hu_format_parse(&weight, c->weight, NULL) != HU_OK) memset(&weight, 0, sizeof weight);
  hu_optimizer o = c->kind == HU_ADAMW ? hu_optimizer_adamw(state) : hu_optimizer_sgd(state);
  o.weight = weight;
  o.rate = c->rate;
  o.momentum = c->momentum;
  if (c->beta2 > 0) o.beta2 = c->beta2;
  if (c->eps > 0) o.eps = c->eps;
  o.update = c->update;
  if (c->random_bits) {
    o.mode.round = HU_SRA;
    o.mode.bits = c->random_bits;
  }
  return o;
}

/* Rooms for a batch. */
typedef struct batch {
  float x[128 * PIXELS];
  uint32_t labels[128], index[128];
} batch;

static hu_status feed(hu_net *net, int input, const hu_data *data, size_t n, const uint32_t *index, batch *b) {
  hu_data_gather(data, n, index, b->x, b->labels, NULL);
  hu_status s = hu_net_feed(net, input, b->x);
  return s == HU_OK ? hu_net_labels(net, b->labels) : s;
}

static size_t right_answers(const hu_net *net, int logits, const batch *b, size_t n) {
  const float *y = hu_net_value(net, logits).numbers;
  size_t right = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t best = 0;
    for (uint32_t j = 1; j < CLASSES; j++) {
      if (y[i * CLASSES + j] > y[i * CLASSES + best]) best = j;
    }
    right += best == b->labels[i];
  }
  return right;
}

/* The mean loss of whole batches, and the share of right answers. */
static hu_status look(hu_net *net, const run *c, int input, int logits, const hu_data *data, batch *b, double *loss,
                      double *right) {
  size_t batches = data->count / c->batch, hits = 0;
  *loss = 0;
  for (size_t k = 0; k < batches; k++) {
    float part;
    for (size_t i = 0; i < c->batch; i++) b->index[i] = (uint32_t)(k * c->batch + i);
    hu_status s = feed(net, input, data, c->batch, b->index, b);
    if (s == HU_OK) s = hu_net_forward(net, 0, &part);
    if (s != HU_OK) return s;
    *loss += ldexp((double)part, c->power) / (double)batches;
    hits += right_answers(net, logits, b, c->batch);
  }
  *right = (double)hits / (double)(batches * c->batch);
  return HU_OK;
}

static hu_status learn(lab *l, hu_net *net, const run *c, int input, batch *b, hu_experiment_row *row) {
  hu_optimizer o = optimizer_of(c);
  hu_loss_rule rule;
  hu_update_counts counts = {0, 0};
  hu_batches order;
  hu_batch_state start = {l->seed, 0, 0};
  hu_status s = hu_loss_rule_parse(&rule, c->loss ? c->loss : "none", NULL);
  if (s == HU_OK) s = hu_batches_open(&order, l->training.count, c->batch, start);
  if (s != HU_OK) return s;
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (size_t t = l->training.count / c->batch * c->epochs; t > 0 && s == HU_OK; t--) {
    s = feed(net, input, &l->training, c->batch, hu_batches_next(&order), b);
    if (s == HU_OK) s = hu_net_forward(net, 1, NULL);
    if (s == HU_OK) s = hu_net_backward(net, scale.scale);
    if (s == HU_OK) s = hu_net_update(net, &o, &rule, &scale, &counts, NULL);
  }
  hu_batches_free(&order);
  row->skipped = scale.skipped;
  row->lost = counts.moved ? (double)counts.lost / (double)counts.moved : 0;
  row->digest = hu_net_digest(net);
  return s;
}

/* First weights as the optimizer keeps them. */
static hu_status begin(hu_net *net, const run *c, uint64_t seed) {
  const hu_mode rne = {0};
  hu_optimizer o = optimizer_of(c);
  hu_status s = hu_net_initialize(net, seed);
  for (int i = 0; i < hu_net_parameters(net) && s == HU_OK; i++) {
    hu_net_tensor t = hu_net_parameter(net, i);
    s = hu_quantize_n(t.rows * t.cols, t.numbers, 1, t.numbers, 1, o.weight, rne, NULL, NULL);
  }
  return s;
}

static hu_status do_run(lab *l, const run *c) {
  hu_experiment_row *row = &l->report->row[l->report->rows];
  batch *b = malloc(sizeof *b);
  hu_net *net = hu_net_new(c->batch, 1);
  int input, logits;
  hu_status s = b && net ? HU_OK : HU_E_MEMORY;
  memset(row, 0, sizeof *row);
  row->name = c->name;
  if (s == HU_OK && !build(net, c, &input, &logits))
    s = hu_net_status(net, NULL) != HU_OK ? hu_net_status(net, NULL) : HU_E_TRAIN;
  if (s == HU_OK) s = begin(net, c, l->seed);
  if (s == HU_OK) s = learn(l, net, c, input, b, row);
  double ignored;
  if (s == HU_OK) s = look(net, c, input, logits, &l->training, b, &row->loss, &ignored);
  if (s == HU_OK) s = look(net, c, input, logits, &l->test, b, &ignored, &row->accuracy);
  hu_net_free(net);
  free(b);
  if (s != HU_OK) return s;
  l->report->rows++;
  if (l->progress && !l->progress(l->context, l->report->rows, l->of, row)) l->stopped = 1;
  return HU_OK;
}

/* ---- claims ---- */

static void claim(lab *l, int holds, const char *text) {
  hu_experiment_report *r = l->report;
  hu_experiment_claim *c = &r->claim[r->claims++];
  snprintf(c->text, sizeof c->text, "%s", text);
  c->holds = holds;
  r->held += holds != 0;
}

static const hu_experiment_row *row_of(const lab *l, size_t i) { return &l->report->row[i]; }

/* Losses within a share of each other. */
static int near(const lab *l, size_t a, size_t b, double share) {
  double x = row_of(l, a)->loss, y = row_of(l, b)->loss;
  return fabs(x - y) <= share * y;
}

/* ---- the tables ---- */

#define SGD_PLAIN(r) HU_SGD, NULL, NULL, HU_UPDATE_ROUND, 0, r, 0, 0, 0
#define ADAM_PLAIN HU_ADAMW, NULL, NULL, HU_UPDATE_ROUND, 0, 1e-3, 0, 0, 1e-12

static const run master_runs[] = {
    {"binary32", {NULL, NULL, NULL}, NULL, 0, SGD_PLAIN(0.003), 1, 32, 150},
    {"binary16, binary32 master weights", {"binary16", NULL, NULL}, "static(1024)", 0, SGD_PLAIN(0.003), 1, 32, 150},
    {"binary16, no master weights",
     {"binary16", NULL, NULL},
     "static(1024)",
     0,
     HU_SGD,
     "binary16",
     "binary16",
     0,
     0,
     0.003,
     0,
     0,
     0,
     1,
     32,
     150}};

static void master_claims(lab *l) {
  claim(l, near(l, 1, 0, 0.005), "with master weights the loss is within 0.5 % of binary32's");
  claim(l, row_of(l, 2)->loss >= 1.3 * row_of(l, 0)->loss, "without, it is at least 1.3 times binary32's");
  claim(l, row_of(l, 2)->lost > 0.5, "without, more than half of the updates are lost");
}

static const run scale_runs[] = {
    {"binary32", {NULL, NULL, NULL}, NULL, 17, ADAM_PLAIN, 2, 64, 15},
    {"binary16, scale 1", {"binary16", NULL, NULL}, NULL, 17, ADAM_PLAIN, 2, 64, 15},
    {"binary16, scale 2^8", {"binary16", NULL, NULL}, "static(2^8)", 17, ADAM_PLAIN, 2, 64, 15},
    {"binary16, scale 2^15", {"binary16", NULL, NULL}, "static(2^15)", 17, ADAM_PLAIN, 2, 64, 15},
    {"binary16, backoff",
     {"binary16", NULL, NULL},
     "backoff(scale_max=2^24,step_window=50)",
     17,
     ADAM_PLAIN,
     2,
     64,
     15},
    {"binary16, gradscaler", {"binary16", NULL, NULL}, "gradscaler(growth_interval=50)", 17, ADAM_PLAIN, 2, 64, 15},
    {"binary16, backoff from 2^40",
     {"binary16", NULL, NULL},
     "backoff(scale_max=2^40,step_window=50)",
     17,
     ADAM_PLAIN,
     2,
     64,
     15},
    {"binary16, logmax", {"binary16", NULL, NULL}, "logmax(scale_max=2^24,start=1024)", 17, ADAM_PLAIN, 2, 64, 15}};

static void scale_claims(lab *l) {
  const hu_experiment_row *one = row_of(l, 1);
  claim(l, one->accuracy < 0.5 && one->loss > 2, "scale 1: gradients vanish; accuracy below 0.5, loss above 2");
  claim(l, near(l, 2, 0, 0.05) && near(l, 3, 0, 0.05), "static scales: loss within 5 % of binary32's");
  int all = 1;
  for (size_t i = 4; i < 8; i++) all &= row_of(l, i)->accuracy >= row_of(l, 0)->accuracy - 0.01;
  claim(l, all, "automatic scales: accuracy within a point of binary32's");
  claim(l, row_of(l, 6)->skipped > 0 && row_of(l, 6)->skipped < 33,
        "from 2^40: some steps are skipped, fewer than 10 %");
}

static const run s2fp8_runs[] = {
    {"binary32", {NULL, NULL, NULL}, NULL, 8, ADAM_PLAIN, 2, 64, 15},
    {"bfloat16", {NULL, "bfloat16", NULL}, NULL, 8, ADAM_PLAIN, 2, 64, 15},
    {"FP8", {NULL, "fp(5,2,0)", NULL}, NULL, 8, ADAM_PLAIN, 2, 64, 15},
    {"FP8, loss scale 25600", {NULL, "fp(5,2,0)", NULL}, "static(25600)", 8, ADAM_PLAIN, 2, 64, 15},
    {"S2FP8", {NULL, "s2fp8", NULL}, NULL, 8, ADAM_PLAIN, 2, 64, 15}};

static void s2fp8_claims(lab *l) {
  claim(l, row_of(l, 4)->loss <= 1.05 * row_of(l, 0)->loss, "S2FP8, no loss scale: loss at most 5 % above binary32's");
  claim(l, fabs(row_of(l, 4)->accuracy - row_of(l, 0)->accuracy) <= 0.015, "S2FP8: accuracy within 1.5 points");
  claim(l, !(row_of(l, 2)->accuracy >= 0.5), "FP8 without a loss scale fails: accuracy below 0.5");
  claim(l, row_of(l, 3)->loss < 1, "with a tuned loss scale FP8 trains");
}

#define BF16(update, bits, weight) HU_SGD, "bfloat16", weight, update, bits, 0.001, 0.9, 0, 0, 2, 32, 60
static const run update_runs[] = {
    {"binary32", {NULL, NULL, NULL}, NULL, 0, HU_SGD, NULL, NULL, 0, 0, 0.001, 0.9, 0, 0, 2, 32, 60},
    {"bfloat16, binary32 weights", {"bfloat16", NULL, NULL}, NULL, 0, BF16(HU_UPDATE_ROUND, 0, NULL)},
    {"bfloat16, to nearest", {"bfloat16", NULL, NULL}, NULL, 0, BF16(HU_UPDATE_ROUND, 0, "bfloat16")},
    {"bfloat16, stochastic", {"bfloat16", NULL, NULL}, NULL, 0, BF16(HU_UPDATE_ROUND, 16, "bfloat16")},
    {"bfloat16, Kahan", {"bfloat16", NULL, NULL}, NULL, 0, BF16(HU_UPDATE_KAHAN, 0, "bfloat16")}};

static void update_claims(lab *l) {
  claim(l, row_of(l, 2)->loss >= 3 * row_of(l, 1)->loss, "to nearest: at least 3 times the loss with binary32 weights");
  claim(l, near(l, 3, 1, 0.05), "stochastic: within 5 % of the loss with binary32 weights");
  claim(l, near(l, 4, 1, 0.05), "Kahan: within 5 % of it");
  claim(l, row_of(l, 2)->lost > 0.5, "to nearest: more than half of the updates are lost");
}

static const run block_runs[] = {{"binary32", {NULL, NULL, NULL}, NULL, 0, ADAM_PLAIN, 2, 64, 15},
                                 {"MXFP8 E4M3", {NULL, NULL, "mxfp8_e4m3"}, NULL, 0, ADAM_PLAIN, 2, 64, 15},
                                 {"MXFP6 E3M2", {NULL, NULL, "mxfp6_e3m2"}, NULL, 0, ADAM_PLAIN, 2, 64, 15},
                                 {"DeepSeek-V3 1x128", {NULL, NULL, "dsv3_1x128"}, NULL, 0, ADAM_PLAIN, 2, 64, 15},
                                 {"NVFP4", {NULL, NULL, "nvfp4"}, NULL, 0, ADAM_PLAIN, 2, 64, 15},
                                 {"MXFP4", {NULL, NULL, "mxfp4"}, NULL, 0, ADAM_PLAIN, 2, 64, 15}};

static void block_claims(lab *l) {
  claim(l, near(l, 1, 0, 0.1) && near(l, 3, 0, 0.1), "8-bit blocks: loss within 10 % of binary32's");
  int all = 1;
  for (size_t i = 1; i < 6; i++) all &= row_of(l, i)->accuracy >= row_of(l, 0)->accuracy - 0.03;
  claim(l, all, "all block formats: accuracy within 3 points");
}

typedef struct entry {
  hu_experiment shown;
  const run *runs;
  size_t count;
  void (*judge)(lab *l);
} entry;
#define RUNS(a) a, sizeof(a) / sizeof *(a)
static const entry entries[] = {
    {{"fp16-master-weights", "Micikevicius et al., Mixed Precision Training (ICLR 2018), section 3.1, figure 2a",
      "binary16 weights lose small updates; a binary32 master copy does not"},
     RUNS(master_runs),
     master_claims},
    {{"fp16-loss-scale", "Micikevicius et al., section 3.2; OpenSeq2Seq, automatic loss scaling",
      "small gradients vanish in binary16 unless the loss is scaled, by a constant or automatically"},
     RUNS(scale_runs),
     scale_claims},
    {{"s2fp8", "Cambier et al., S2FP8 (ICLR 2020), tables 1 to 3",
      "8-bit training fails without a loss scale; shifted and squeezed it needs none"},
     RUNS(s2fp8_runs),
     s2fp8_claims},
    {{"bfloat16-updates", "Zamirai et al., Revisiting BFloat16 Training (2021), section 5, table 3",
      "all-bfloat16 training stalls with updates to nearest; stochastic rounding or Kahan summation repairs it"},
     RUNS(update_runs),
     update_claims},
    {{"block-formats", "Rouhani et al., Microscaling Data Formats (2023); NVIDIA (2025); DeepSeek-V3 (2024)",
      "tensors with shared scales train in 8, 6 and 4 bits"},
     RUNS(block_runs),
     block_claims}};

size_t hu_experiment_count(void) { return sizeof entries / sizeof *entries; }

hu_experiment hu_experiment_at(size_t i) {
  const hu_experiment none = {NULL, NULL, NULL};
  return i < hu_experiment_count() ? entries[i].shown : none;
}

static hu_status open_lab(lab *l, const char *folder, char *why) {
  hu_data all;
  hu_status s = hu_data_load_digits(&all, folder, 0, why);
  if (s != HU_OK) return s;
  s = hu_data_split(&l->training, &l->test, &all, 5, 4);
  hu_data_free(&all);
  return s;
}

hu_status hu_experiment_run(hu_experiment_report *report, const char *name, const char *data,
                            hu_experiment_progress *progress, void *context, char *why) {
  hu_experiment_report made;
  lab l;
  const entry *e = NULL;
  if (!report || !name || !data) return HU_E_NULL;
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    if (strcmp(entries[i].shown.name, name) == 0) e = &entries[i];
  }
  if (!e) return HU_E_NAME;
  memset(&made, 0, sizeof made);
  memset(&l, 0, sizeof l);
  l.report = &made;
  l.progress = progress;
  l.context = context;
  l.of = e->count;
  hu_status s = open_lab(&l, data, why);
  if (s != HU_OK) return s;
  for (size_t i = 0; i < e->count && s == HU_OK && !l.stopped; i++) s = do_run(&l, &e->runs[i]);
  hu_data_free(&l.training);
  hu_data_free(&l.test);
  if (s == HU_OK && l.stopped) {
    if (why) snprintf(why, HU_DATA_WHY_MAX, "stopped after %zu of %zu runs", made.rows, e->count);
    return HU_E_TRAIN;
  }
  if (s != HU_OK) return s;
  e->judge(&l);
  *report = made;
  return HU_OK;
}
