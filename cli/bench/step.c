/* SPDX-License-Identifier: MIT */
/* cli/bench - a step of training with the operands and results of its products in a format, beside a step in binary32:
 * a batch fed, forward, backward, update. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "halfulp/halfulp.h"
#include "halfulp/train.h"

enum { BATCH = 128, INPUTS = 784, UNITS = 256, CLASSES = 10 };

typedef struct trainee {
  hu_net *net;
  int input;
} trainee;

struct speed_job {
  trainee low, plain;
  float *x;
  uint32_t *labels;
  hu_optimizer optimizer;
  hu_loss_rule rule;
  hu_loss_scale scale;
  hu_status status;
};

static hu_status of(const speed_job *job) { return job->status; }

static void drop(speed_job *job) {
  if (!job) return;
  hu_net_free(job->low.net);
  hu_net_free(job->plain.net);
  free(job->x);
  free(job->labels);
  free(job);
}

static void step(speed_job *job, trainee *net) {
  hu_loss_scale scale = job->scale;
  hu_status status = hu_net_feed(net->net, net->input, job->x);
  if (status == HU_OK) status = hu_net_labels(net->net, job->labels);
  if (status == HU_OK) status = hu_net_forward(net->net, 1, NULL);
  if (status == HU_OK) status = hu_net_backward(net->net, scale.scale);
  if (status == HU_OK) status = hu_net_update(net->net, &job->optimizer, &job->rule, &scale, NULL, NULL);
  if (status != HU_OK) job->status = status;
}

static void subject(void *context) {
  speed_job *job = context;
  step(job, &job->low);
}

static void plain(void *context) {
  speed_job *job = context;
  step(job, &job->plain);
}

/* Rounds every operand and result of a product to the format. */
static hu_status round_products(hu_net *net, const char *format) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  hu_rounding into = hu_rounding_keep();
  hu_status status = hu_rounding_parse(&into, format, NULL);
  rounding.x = rounding.w = rounding.x_back = rounding.w_back = rounding.dz = rounding.dz_w = rounding.z_out =
      rounding.dx_out = rounding.dw_out = into;
  for (int i = 0; i < hu_net_values(net) && status == HU_OK; i++) {
    status = hu_net_round_product(net, i, &rounding);
    if (status == HU_E_SHAPE) status = HU_OK; /* no product makes that value */
  }
  return status;
}

/* Makes a network and its operands; format NULL: binary32. */
static hu_status open(trainee *net, const char *format, unsigned threads) {
  net->net = hu_net_new(BATCH, threads);
  if (!net->net) return HU_E_MEMORY;
  int x = net->input = hu_net_input(net->net, 1, INPUTS);
  x = hu_net_relu(net->net, hu_net_linear(net->net, x, UNITS, 1));
  x = hu_net_linear(net->net, x, CLASSES, 1);
  hu_status status = hu_net_cross_entropy(net->net, x, 1) < 0 ? hu_net_status(net->net, NULL) : HU_OK;
  if (status == HU_OK && format) status = round_products(net->net, format);
  return status == HU_OK ? hu_net_initialize(net->net, 1) : status;
}

/* Draws a batch of noise: what a step costs does not depend on what there is to learn. The rate is small, so that all
 * steps have numbers alike. */
static hu_status prepare(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  (void)memory;
  uint64_t state = 3;
  speed_job *job = *into = calloc(1, sizeof *job);
  if (!job) return HU_E_MEMORY;
  job->x = malloc(BATCH * INPUTS * sizeof *job->x);
  job->labels = malloc(BATCH * sizeof *job->labels);
  if (!job->x || !job->labels) return HU_E_MEMORY;
  for (size_t i = 0; i < BATCH * INPUTS; i++) job->x[i] = speed_normal(&state);
  for (uint32_t i = 0; i < BATCH; i++) job->labels[i] = i % CLASSES;
  job->optimizer = hu_optimizer_sgd(hu_binary32());
  job->optimizer.rate = 1e-6;
  hu_status status = hu_loss_rule_parse(&job->rule, "static(1024)", NULL);
  job->scale = hu_loss_scale_start(&job->rule);
  if (status == HU_OK) status = open(&job->low, bench->format, threads);
  return status == HU_OK ? open(&job->plain, NULL, threads) : status;
}

#define STEP(name, format) \
  { name, "binary32", "us", 1, prepare, subject, plain, of, drop, format, NULL }
const speed_case speed_steps[] = {STEP("training step, products in s2fp8", "s2fp8"),
                                  STEP("training step, products in float8_e5m2", "float8_e5m2"),
                                  {0}};
