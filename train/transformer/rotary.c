/* SPDX-License-Identifier: MIT */
/* Positions that are not trained: rotary ones, and sines that are added. Their tables are made when a net is built. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/net/net.h"

/* ---- frequencies, on the host ---- */

static uint32_t bits_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static float number_of(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static float power(float x, float y) {
  const hu_mode rne = {0};
  const hu_format single = hu_binary32();
  return number_of(hu_pow(single, rne, single, bits_of(x), single, bits_of(y), 0, NULL));
}

static float exponential(float x) {
  const hu_mode rne = {0};
  return number_of(hu_exp(hu_binary32(), rne, hu_binary32(), bits_of(x), 0, NULL));
}

/* Returns the frequency of Llama 3 in place of f. */
static float scaled(const hu_rotary *how, float f) {
  const float low = (float)how->low, factor = (float)how->factor, original = (float)how->original;
  const float inverse = 1 / f, wave = inverse * 6.2831853071795862f;
  if (wave > (float)(how->original / how->low)) return f / factor;
  if (wave < (float)(how->original / how->high)) return f;
  const float back = 1 / wave, ratio = back * original, above = ratio - low;
  const float t = above / (float)(how->high - how->low), rest = 1 - t, slow = rest * f, quick = t * f;
  return slow / factor + quick;
}

/* Returns ln x, x above 0, by operations that every machine has: a sum of 15 terms, the smallest first. */
static double logarithm(double x) {
  int e;
  double y = frexp(x, &e);
  if (y < 0.70710678118654757) {
    y *= 2;
    e--;
  }
  const double s = (y - 1) / (y + 1), square = s * s;
  double sum = 0;
  for (int i = 29; i > 0; i -= 2) sum = sum * square + 1 / (double)i;
  return (double)e * 0.69314718055994531 + 2 * (s * sum);
}

/* Returns the pair, not a whole number, that turns so often within the original steps. */
static double pair_at(const hu_rotary *how, double turns) {
  const double wave = how->original / (turns * 2 * 3.1415926535897931);
  return (double)how->width * logarithm(wave) / (2 * logarithm(how->base));
}

/* Returns the frequency of YaRN, b being the base to the power of the pair. */
static float mixed(const hu_rotary *how, size_t pair, float b) {
  double from = pair_at(how, how->high), to = pair_at(how, how->low);
  if (how->whole) {
    from = floor(from);
    to = ceil(to);
  }
  from = from > 0 ? from : 0;
  if (to > (double)(how->width - 1)) to = (double)(how->width - 1);
  if (to == from) to += 0.001;
  const float more = (float)pair - (float)from, ramp = more / (float)(to - from);
  const float t = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp, keep = 1 - t, rest = 1 - keep;
  const float quick = 1 / b, longer = (float)how->factor * b, slow = 1 / longer;
  const float left = slow * rest, right = quick * keep;
  return left + right;
}

static float turns_of(const hu_rotary *how, size_t pair) {
  const float exponent = (float)(2 * pair) / (float)how->width, b = power((float)how->base, exponent);
  if (how->yarn) return mixed(how, pair, b);
  return how->factor == 1 ? 1 / b : scaled(how, 1 / b);
}

/* Returns what cosines and sines are multiplied by. */
static float magnitude_of(const hu_rotary *how) {
  if (!how->yarn) return 1;
  if (how->magnitude > 0) return (float)how->magnitude;
  return how->factor > 1 ? (float)(0.1 * logarithm(how->factor) + 1) : 1;
}

static float sine_of(size_t count, size_t k) {
  const float step = 9.2103403719761836f / (float)(count > 2 ? count - 1 : 1); /* ln(10000) */
  const float back = (float)k * -step;
  return exponential(back);
}

/* ---- tables in the engine's memory ---- */

/* Writes p f to number (p, k) of both tables, steps x count, and takes cosines of one and sines of the other, times
 * `magnitude`. */
static void make_tables(hu_net *net, size_t steps, size_t count, const float *f, float magnitude, float *cosine,
                        float *sine) {
  size_t n = steps * count;
  float *angle = malloc((n ? n : 1) * sizeof *angle);
  if (!angle) {
    hui_refuse(net, HU_E_MEMORY, "no memory for positions");
    return;
  }
  for (size_t i = 0; i < n; i++) angle[i] = (float)(i / count) * f[i % count];
  net->fault = HU_OK;
  hui_do_put(net, cosine, angle, n * sizeof *angle);
  hui_do_put(net, sine, angle, n * sizeof *angle);
  hui_do_function(net, HU_OP_COS, n, cosine, cosine);
  hui_do_function(net, HU_OP_SIN, n, sine, sine);
  if (magnitude != 1) {
    hui_do_each(net, HU_RUN_SCALE, n, cosine, cosine, NULL, magnitude);
    hui_do_each(net, HU_RUN_SCALE, n, sine, sine, NULL, magnitude);
  }
  free(angle);
  if (net->fault != HU_OK) hui_refuse(net, net->fault, "positions: the engine failed");
}

/* ---- rotary; `kept` has the cosines, then the sines ---- */

/* Turns by the angles times p, which is 1, or -1 to turn back. */
static void turn(hu_net *net, const hu_operator *op, float *z, const float *x, float p) {
  const hu_value *value = &net->value[op->out];
  hu_task task = hui_task_of(value->rows, value->cols, z, x, NULL);
  task.p = p;
  task.rotary.steps = value->rows / net->batch;
  task.rotary.width = op->rotary.width;
  task.rotary.columns = op->rotary.columns;
  task.rotary.interleaved = op->rotary.interleaved;
  task.rotary.cosine = op->kept;
  task.rotary.sine = op->kept + task.rotary.steps * (op->rotary.width / 2);
  hui_do(net, HU_RUN_ROTARY, &task);
}

static hu_status rotary_forward(hu_net *net, hu_operator *op) {
  turn(net, op, net->value[op->out].v, net->value[op->in[0]].v, 1);
  return hui_done(net);
}

static hu_status rotary_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  turn(net, op, dx, net->value[op->out].dv, -1);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind rotary = {
    .name = "rotary", .forward = rotary_forward, .backward = rotary_backward, .anywhere = 1};

static int is_positive(double x) { return x > 0 && x < 1e30; }

static const char *wrong_numbers(const hu_rotary *how) {
  if (!is_positive(how->base)) return "rotary: the base is not positive and finite";
  if (!is_positive(how->factor)) return "rotary: the factor is not positive and finite";
  if (how->yarn > 1 || how->whole > 1) return "rotary: yarn or whole is neither 0 nor 1";
  if (!how->yarn && (how->whole || how->magnitude != 0)) return "rotary: whole or magnitude without yarn";
  if (how->magnitude != 0 && !is_positive(how->magnitude)) return "rotary: the magnitude is not positive and finite";
  if (how->yarn && !(how->base > 1)) return "rotary: yarn: the base is not above 1";
  if (how->factor == 1 && !how->yarn) return NULL;
  return is_positive(how->low) && is_positive(how->high) && how->high > how->low && is_positive(how->original)
             ? NULL
             : "rotary: low, high and original are not positive and finite, or high is not above low";
}

static HU_NOINLINE int add_rotary(hu_net *net, int x, const hu_rotary *how) {
  if (!hui_usable(net, x) || !how) return -1;
  hu_value value = net->value[x];
  size_t width = how->width, columns = how->columns ? how->columns : value.cols;
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "rotary: of an input");
  if (width == 0 || width % 2 || columns > value.cols || columns % width)
    return hui_refuse(net, HU_E_SHAPE, "rotary: the columns are not whole heads of an even width");
  const char *wrong = wrong_numbers(how);
  if (wrong) return hui_refuse(net, HU_E_TRAIN, wrong);
  size_t steps = value.rows / net->batch, n = steps * (width / 2);
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &rotary, x, -1, z, 2 * n);
  float *f = malloc(width / 2 * sizeof *f);
  if (op && f) {
    op->rotary = (hu_rotary_sizes){width, columns, how->interleaved != 0};
    for (size_t k = 0; k < width / 2; k++) f[k] = turns_of(how, k);
    make_tables(net, steps, width / 2, f, magnitude_of(how), op->kept, op->kept + n);
  }
  if (!f) hui_refuse(net, HU_E_MEMORY, "no memory for positions");
  free(f);
  return net->status == HU_OK ? z : -1;
}

hu_rotary hu_rotary_of(size_t width) {
  return (hu_rotary){.width = width, .base = 10000, .factor = 1, .low = 1, .high = 4, .original = 8192};
}

int hu_net_rotary(hu_net *net, int x, const hu_rotary *how) { HU_ENV_RETURN(int, add_rotary(net, x, how)); }

/* ---- sines; `kept` has the numbers of a sample ---- */

static hu_status sines_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  hu_task task = hui_task_of(net->batch, z->rows / net->batch * z->cols, z->v, net->value[op->in[0]].v, op->kept);
  hui_do(net, HU_RUN_ADD_ROW, &task);
  return hui_done(net);
}

static hu_status sines_backward(hu_net *net, hu_operator *op) {
  if (hui_needs_gradient(net, op->in[0])) hui_give(net, op->in[0], net->value[op->out].dv);
  return hui_done(net);
}

static const hu_operator_kind sines = {
    .name = "sines", .forward = sines_forward, .backward = sines_backward, .anywhere = 1};

static HU_NOINLINE int add_sines(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  size_t steps = value.rows / net->batch, count = value.cols / 2;
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &sines, x, -1, z, steps * value.cols);
  float *f = malloc((count ? count : 1) * sizeof *f);
  if (!f) hui_refuse(net, HU_E_MEMORY, "no memory for positions");
  if (op && f && count) {
    float *cosine = net->work[0], *sine = net->work[1];
    for (size_t k = 0; k < count; k++) f[k] = sine_of(count, k);
    make_tables(net, steps, count, f, 1, cosine, sine);
    hui_do_copy(net, steps, count, op->kept, value.cols, sine, count);
    hui_do_copy(net, steps, count, op->kept + count, value.cols, cosine, count);
  }
  free(f);
  return net->status == HU_OK ? z : -1;
}

int hu_net_sines(hu_net *net, int x) { HU_ENV_RETURN(int, add_sines(net, x)); }
