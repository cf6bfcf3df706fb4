/* SPDX-License-Identifier: MIT */
/* Q-EMA: moving averages of weights, which decide how the weights are rounded (w_average in halfulp/train/net.h). */
#include <string.h>

#include "train/net/net.h"

enum { BLOCK = 32 };

/* Of a net beside another one, that one's, whose weights it reads. */
static const float *average_of(const hu_net *net, const hu_operator *op) {
  return (net->first ? net->first : net)->parameter[op->theta[0]].average;
}

/* MXFP4 with scales rounded up, to nearest: the rounding that this is an alternative to. */
static int is_allowed(const hu_product_rounding *r) {
  hu_rounding want;
  if (hu_rounding_parse(&want, "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)", NULL) != HU_OK)
    return 0;
  want.turned = r->w.turned;
  int same = r->w.kind == HU_ROUND_SCALED && memcmp(&r->w.scaling, &want.scaling, sizeof want.scaling) == 0;
  return same && memcmp(&r->w.mode, &want.mode, sizeof want.mode) == 0 && r->w.amax == 0 && r->twice;
}

static hu_status want_average(hu_net *net, hu_parameter *p) {
  size_t n = p->rows * p->cols;
  if (p->average || net->first) return HU_OK;
  p->average = net->engine->allocate(net->self, (n ? n : 1) * sizeof *p->average);
  if (!p->average) return HU_E_MEMORY;
  net->fault = HU_OK;
  hu_do_copy(net, 1, n, p->average, n, p->master, n);
  return hu_done(net);
}

hu_status hu_average_begin(hu_net *net, const hu_operator *op, const hu_product_rounding *r) {
  if (r->w_average == 0) return HU_OK;
  if (!(r->w_average > 0 && r->w_average < 1) || op->theta[0] < 0 || !is_allowed(r)) return HU_E_TRAIN;
  hu_parameter *p = &net->parameter[op->theta[0]];
  hu_status s = want_average(net, p);
  if (s == HU_OK) p->decay = r->w_average;
  return s;
}

void hu_average_start(hu_net *net) {
  for (int i = 0; i < net->parameters && net->step == 0; i++) {
    const hu_parameter *p = &net->parameter[i];
    size_t n = p->rows * p->cols;
    if (p->average) hu_do_copy(net, 1, n, p->average, n, p->master, n);
  }
}

void hu_average_step(hu_net *net) {
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *p = &net->parameter[i];
    size_t n = p->rows * p->cols;
    if (!p->average) continue;
    hu_do_each(net, HU_RUN_SCALE, n, p->average, p->average, NULL, p->decay);
    hu_do_each(net, HU_RUN_SCALE, n, net->work[0], p->master, NULL, 1 - p->decay);
    hu_do_each(net, HU_RUN_ADD, n, p->average, p->average, net->work[0], 0);
  }
}

static size_t blocks_in(size_t n) { return (n + BLOCK - 1) / BLOCK; }

void hu_average_choose(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *z, const float *w) {
  const hu_product_rounding *r = &op->rounding;
  if (r->w_average == 0 || net->step < HU_AVERAGE_AFTER) return;
  int down = r->w.turned;
  float *scales = net->work[HU_ROOMS - 1];
  hu_task t = hu_task_of(down ? blocks_in(rows) : rows, down ? cols : blocks_in(cols), scales, w, NULL);
  t.lda = cols;
  t.n[0] = (size_t)down;
  t.n[1] = down ? rows : cols;
  t.n[2] = BLOCK;
  t.p = -1;
  t.work = rows * cols;
  hu_do(net, HU_RUN_BLOCK_SCALES, &t);
  t = hu_task_of(rows, cols, z, w, scales);
  t.c = average_of(net, op);
  t.n[0] = (size_t)down;
  t.n[2] = BLOCK;
  t.n[3] = down ? cols : blocks_in(cols);
  hu_do(net, HU_RUN_BLOCK_TOWARD, &t);
}
