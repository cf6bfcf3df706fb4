/* SPDX-License-Identifier: MIT */
/* Q-EMA: moving averages of weights, which decide how the weights are rounded (w_average in train/products.h). */
#include <string.h>

#include "train/net/net.h"

enum { BLOCK = 32 };

/* Returns the average of an operator's W; a net beside another one has that of the other, whose weights it reads. */
static const float *average_of(const hu_net *net, const hu_operator *op) {
  return (net->first ? net->first : net)->parameter[op->theta[0]].average.numbers;
}

/* MXFP4 with scales rounded up, to nearest: the rounding that this is an alternative to. */
static int is_allowed(const hu_product_rounding *rounding) {
  hu_rounding expected;
  if (hu_rounding_parse(&expected, "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)", NULL) != HU_OK)
    return 0;
  expected.turned = rounding->w.turned;
  int same = rounding->w.kind == HU_ROUND_SCALED &&
             memcmp(&rounding->w.scaling, &expected.scaling, sizeof expected.scaling) == 0;
  return same && memcmp(&rounding->w.mode, &expected.mode, sizeof expected.mode) == 0 && rounding->w.amax == 0 &&
         rounding->twice;
}

static hu_status begin_average(hu_net *net, hu_parameter *parameter) {
  size_t n = parameter->rows * parameter->cols;
  if (parameter->average.numbers || net->first) return HU_OK;
  parameter->average.numbers = net->engine->allocate(net->self, (n ? n : 1) * sizeof *parameter->average.numbers);
  if (!parameter->average.numbers) return HU_E_MEMORY;
  net->fault = HU_OK;
  hui_do_copy(net, 1, n, parameter->average.numbers, n, parameter->master, n);
  return hui_done(net);
}

hu_status hui_average_begin(hu_net *net, const hu_operator *op, const hu_product_rounding *rounding) {
  if (rounding->w_average == 0) return HU_OK;
  if (!(rounding->w_average > 0 && rounding->w_average < 1) || op->theta[0] < 0 || !is_allowed(rounding))
    return HU_E_TRAIN;
  hu_parameter *parameter = &net->parameter[op->theta[0]];
  hu_status status = begin_average(net, parameter);
  if (status == HU_OK) parameter->average.decay = rounding->w_average;
  return status;
}

void hui_average_start(hu_net *net) {
  for (int i = 0; i < net->parameters && net->step == 0; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    size_t n = parameter->rows * parameter->cols;
    if (parameter->average.numbers) hui_do_copy(net, 1, n, parameter->average.numbers, n, parameter->master, n);
  }
}

void hui_average_step(hu_net *net) {
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    size_t n = parameter->rows * parameter->cols;
    if (!parameter->average.numbers) continue;
    hui_do_each(net, HU_RUN_SCALE, n, parameter->average.numbers, parameter->average.numbers, NULL,
                parameter->average.decay);
    hui_do_each(net, HU_RUN_SCALE, n, net->work[0], parameter->master, NULL, 1 - parameter->average.decay);
    hui_do_each(net, HU_RUN_ADD, n, parameter->average.numbers, parameter->average.numbers, net->work[0], 0);
  }
}

static size_t blocks_in(size_t n) { return (n + BLOCK - 1) / BLOCK; }

void hui_average_choose(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *z, const float *w) {
  const hu_product_rounding *rounding = &op->rounding;
  if (rounding->w_average == 0 || net->step < HU_AVERAGE_AFTER) return;
  int down = rounding->w.turned;
  float *scales = net->work[HU_BUFFERS - 1];
  hu_task task = hui_task_of(down ? blocks_in(rows) : rows, down ? cols : blocks_in(cols), scales, w, NULL);
  task.lda = cols;
  task.blocks.down = down;
  task.blocks.length = down ? rows : cols;
  task.blocks.size = BLOCK;
  task.p = -1;
  task.work = rows * cols;
  hui_do(net, HU_RUN_BLOCK_SCALES, &task);
  task = hui_task_of(rows, cols, z, w, NULL);
  task.blocks.down = down;
  task.blocks.size = BLOCK;
  task.blocks.across = down ? cols : blocks_in(cols);
  task.blocks.scales = scales;
  task.blocks.other = average_of(net, op);
  hui_do(net, HU_RUN_BLOCK_TOWARD, &task);
}
