/* SPDX-License-Identifier: MIT */
/* Optimizers: what they are made of, what is refused, and what a step leaves for the next one. train/engine/optimizer.c
 * makes the steps. */
#include "train/step/optimizer.h"

#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "halfulp/scalar.h"
#include "train/environment.h"
#include "train/text/constant.h"

static hu_optimizer standard(hu_format format) {
  hu_optimizer optimizer;
  memset(&optimizer, 0, sizeof optimizer);
  optimizer.state = optimizer.weight = format;
  return optimizer;
}

hu_optimizer hu_optimizer_sgd(hu_format format) {
  hu_optimizer optimizer = standard(format);
  optimizer.rate = 0.01;
  optimizer.momentum = 0.9;
  return optimizer;
}

hu_optimizer hu_optimizer_adamw(hu_format format) {
  hu_optimizer optimizer = standard(format);
  optimizer.kind = HU_ADAMW;
  optimizer.rate = 0.001;
  optimizer.beta1 = 0.9;
  optimizer.beta2 = 0.999;
  optimizer.eps = 1e-8;
  return optimizer;
}

hu_optimizer hu_optimizer_adagrad(hu_format format) {
  hu_optimizer optimizer = standard(format);
  optimizer.kind = HU_ADAGRAD;
  optimizer.rate = 0.01;
  optimizer.eps = 1e-10;
  return optimizer;
}

hu_optimizer hu_optimizer_muon(hu_format format) {
  hu_optimizer optimizer = standard(format);
  optimizer.kind = HU_MUON;
  optimizer.rate = 0.02;
  optimizer.momentum = 0.95;
  optimizer.nesterov = 1;
  optimizer.product = format;
  optimizer.iterations = 5;
  optimizer.rate_adamw = 3e-4;
  optimizer.beta1 = 0.9;
  optimizer.beta2 = 0.95;
  optimizer.eps = 1e-10;
  hu_status status = hu_accum_parse(&optimizer.accum, "fp32", NULL);
  (void)status; /* a name of its own */
  return optimizer;
}

/* The optimizers that are momentum alone, of the gradient or of what is made of it. */
static int moves(const hu_optimizer *optimizer) { return optimizer->kind == HU_SGD || optimizer->kind == HU_MUON; }

int hui_optimizer_has_m(const hu_optimizer *optimizer) {
  return optimizer->kind == HU_ADAMW || (moves(optimizer) && optimizer->momentum != 0);
}

int hui_optimizer_has_v(const hu_optimizer *optimizer) {
  return optimizer->kind == HU_ADAMW || optimizer->kind == HU_ADAGRAD;
}

double hui_muon_factor(const hu_optimizer_matrix *matrix, unsigned aspect) {
  double rows = (double)matrix->rows, cols = (double)matrix->cols;
  double inputs = matrix->outputs_first ? cols : rows, outputs = matrix->outputs_first ? rows : cols;
  if (aspect == HU_MUON_RMS) return 0.2 * sqrt(inputs > outputs ? inputs : outputs);
  return aspect == HU_MUON_SPECTRAL && outputs > inputs ? sqrt(outputs / inputs) : 1;
}

double hui_optimizer_rate(const hu_optimizer *optimizer, const hu_optimizer_time *now) {
  if (optimizer->kind != HU_ADAMW || optimizer->correction != HU_ADAM_OUTSIDE) return optimizer->rate;
  return optimizer->rate * sqrt(1 - now->power2) / (1 - now->power1);
}

int hui_optimizer_stores(const hu_optimizer *optimizer) {
  return optimizer->stored_m.kind != HU_ROUND_KEEP || optimizer->stored_v.kind != HU_ROUND_KEEP;
}

/* ---- what is refused ---- */

double hui_optimizer_scalar(const hu_optimizer *optimizer, double x) { return hui_constant_in(optimizer->state, x); }

static int factor(double x) { return x >= 0 && x < 1; }

static int some(double x) { return x >= 0 && x < INFINITY; }

static int is_nearest(hu_mode mode) { return !mode.round && !mode.saturate && !mode.tiny && !mode.nan; }

/* A constant that `state` makes 0, or 1; the rate may end at 0 in a step. The sentence is this thread's. */
static const char *lost(const hu_optimizer *optimizer, int in_step) {
  static _Thread_local char why[HU_CONSTANT_WHY_MAX];
  int muon = optimizer->kind == HU_MUON, root = optimizer->kind != HU_SGD,
      moments = optimizer->kind == HU_ADAMW || muon;
  const struct {
    const char *name;
    double x;
    int used;
  } all[] = {{"rate", optimizer->rate, !in_step},
             {"decay", optimizer->decay, 1},
             {"momentum", optimizer->momentum, moves(optimizer)},
             {"eps", optimizer->eps, root},
             {"beta1", optimizer->beta1, moments},
             {"beta2", optimizer->beta2, moments},
             {"accumulated", optimizer->accumulated, optimizer->kind == HU_ADAGRAD},
             {"rate_adamw", optimizer->rate_adamw, muon && !in_step}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].used && hui_constant_wrong(why, all[i].name, all[i].x, optimizer->state, "the state's format"))
      return why;
  return NULL;
}

enum { ITERATIONS_MAX = 64 };

static const char *wrong_in_muon(const hu_optimizer *optimizer) {
  if (optimizer->iterations > ITERATIONS_MAX) return "iterations: above 64";
  if (optimizer->aspect > HU_MUON_ONE) return "aspect: unknown";
  return some(optimizer->rate_adamw) ? NULL : "rate_adamw: negative or not finite";
}

static const char *wrong(const hu_optimizer *optimizer) {
  if (optimizer->kind > HU_MUON) return "kind: unknown";
  if (optimizer->update > HU_UPDATE_KAHAN) return "update: unknown";
  if (optimizer->coupled > (optimizer->kind == HU_ADAMW)) return "coupled: of AdamW alone";
  if (optimizer->fused > (optimizer->kind == HU_SGD && optimizer->update == HU_UPDATE_ROUND))
    return "fused: of SGD without Kahan terms alone";
  if (optimizer->nesterov > moves(optimizer)) return "nesterov: of SGD and Muon alone";
  if (optimizer->update == HU_UPDATE_KAHAN && !is_nearest(optimizer->mode)) {
    return "mode: Kahan summation rounds to nearest even";
  }
  if (!moves(optimizer) && !is_nearest(optimizer->mode_momentum)) return "mode_momentum: of SGD and Muon alone";
  if (optimizer->correction > (optimizer->kind == HU_ADAMW || optimizer->kind == HU_MUON ? HU_ADAM_NONE : 0))
    return "correction: unknown, or of AdamW alone";
  if (optimizer->correction == HU_ADAM_OUTSIDE && optimizer->decay != 0 && !optimizer->coupled)
    return "correction: outside takes a decay that is coupled alone";
  if (optimizer->accumulated != 0 && optimizer->kind != HU_ADAGRAD) return "accumulated: of Adagrad alone";
  if (!some(optimizer->accumulated)) return "accumulated: negative or not finite";
  if (!some(optimizer->rate)) return "rate: negative or not finite";
  if (!some(optimizer->decay)) return "decay: negative or not finite";
  if (moves(optimizer) && !factor(optimizer->momentum)) return "momentum: not from 0 to below 1";
  if (optimizer->kind == HU_SGD) return NULL;
  if (!some(optimizer->eps)) return "eps: negative or not finite";
  if (optimizer->kind == HU_ADAGRAD) return NULL;
  if (!factor(optimizer->beta1)) return "beta1: not from 0 to below 1";
  if (!factor(optimizer->beta2)) return "beta2: not from 0 to below 1";
  return optimizer->kind == HU_MUON ? wrong_in_muon(optimizer) : NULL;
}

static int is_unsigned(const hu_rounding *stored) {
  return (stored->kind == HU_ROUND_FORMAT && !stored->format.sign) ||
         (stored->kind == HU_ROUND_NUMBER && !(hu_number_limits_of(stored->number).low < 0));
}

/* A storage of moments; `there`: the optimizer has them. *why is set to one of the sentences. */
static hu_status check_stored(const hu_rounding *stored, int there, int is_signed, const char *const sentence[4],
                              const char **why) {
  const hu_scaling *scaling = &stored->scaling;
  *why = sentence[0];
  hu_status status = hu_rounding_check(stored);
  if (status != HU_OK || stored->kind == HU_ROUND_KEEP) return status;
  *why = sentence[1];
  if (!there) return HU_E_TRAIN;
  *why = sentence[2];
  if (stored->turned || stored->amax != 0 || (stored->kind == HU_ROUND_SCALED && scaling->rows > 1)) return HU_E_TRAIN;
  *why = sentence[3];
  return is_signed && is_unsigned(stored) ? HU_E_TRAIN : HU_OK;
}

#define STORED_SENTENCES(name)                                                                              \
  {                                                                                                         \
    name ": not a rounding", name ": this optimizer has no such moment",                                    \
        name ": blocks of several rows, turned ones, or an amax: a moment is stored as one row of numbers", \
        name ": not signed"                                                                                 \
  }

static hu_status check_both_stored(const hu_optimizer *optimizer, const char **why) {
  static const char *const of_m[] = STORED_SENTENCES("stored_m"), *const of_v[] = STORED_SENTENCES("stored_v");
  int both = optimizer->kind == HU_MUON; /* beside it AdamW has them */
  hu_status status = check_stored(&optimizer->stored_m, both || hui_optimizer_has_m(optimizer), 1, of_m, why);
  if (status != HU_OK) return status;
  return check_stored(&optimizer->stored_v, both || hui_optimizer_has_v(optimizer), 0, of_v, why);
}

/* Formats and sums of Muon's products: whether a model takes operands, hu_gemm says. */
static hu_status check_products(const hu_optimizer *optimizer, const char **why) {
  const hu_format format = optimizer->product;
  float zero = 0, z;
  if (optimizer->kind != HU_MUON) return HU_OK;
  *why = "product: not a format";
  if (hu_format_check(format, NULL) != HU_OK) return HU_E_FORMAT;
  *why = "product: not signed, or with values that binary32 lacks";
  if (!format.sign) return HU_E_FORMAT;
  if (!hu_format_fits_binary32(format)) return HU_E_CARRIER;
  *why = "accum: not a model";
  if (hu_accum_check(&optimizer->accum) != HU_OK) return HU_E_ACCUM;
  *why = "accum: rounds stochastically, and there are no words for it";
  if (optimizer->accum.mode.bits) return HU_E_TRAIN;
  *why = "accum: does not take operands in the format `product`";
  const hu_output result = hu_matrix_floats_out(&z, 1);
  const hu_view x = hu_matrix_of(&zero, 1, hu_type_values(HU_TYPE_VALUES32, format));
  return hu_gemm(1, 1, 1, &result, &x, &x, NULL, &optimizer->accum, NULL) == HU_OK ? HU_OK : HU_E_TRAIN;
}

static HU_NOINLINE hu_status check(const hu_optimizer *optimizer, int in_step, const char **why) {
  const char *ignored;
  if (!why) why = &ignored;
  if (!optimizer) return HU_E_NULL;
  hu_status status = hu_format_check(optimizer->state, why);
  if (status == HU_OK) status = hu_format_check(optimizer->weight, why);
  if (status != HU_OK) return status;
  *why = "state, weight: not signed, or with values that binary32 lacks";
  if (!optimizer->state.sign || !optimizer->weight.sign) return HU_E_FORMAT;
  if (!hu_format_fits_binary32(optimizer->state) || !hu_format_fits_binary32(optimizer->weight)) return HU_E_CARRIER;
  *why = "mode: unknown";
  if (hu_mode_check(optimizer->mode) != HU_OK) return HU_E_MODE;
  *why = "mode_decay, mode_momentum: unknown";
  if (hu_mode_check(optimizer->mode_decay) != HU_OK || hu_mode_check(optimizer->mode_momentum) != HU_OK)
    return HU_E_MODE;
  const char *what = wrong(optimizer);
  if (!what) what = lost(optimizer, in_step);
  if (what) *why = what;
  status = what ? HU_E_TRAIN : check_both_stored(optimizer, why);
  return status == HU_OK ? check_products(optimizer, why) : status;
}

hu_status hu_optimizer_check(const hu_optimizer *optimizer, const char **why) {
  HU_ENV_RETURN(hu_status, check(optimizer, 0, why));
}

hu_status hu_optimizer_check_step(const hu_optimizer *optimizer, const char **why) {
  HU_ENV_RETURN(hu_status, check(optimizer, 1, why));
}

/* ---- calls ---- */

static HU_NOINLINE void tick(hu_optimizer_time *now, const hu_optimizer *optimizer) {
  now->t++;
  now->power1 *= hui_optimizer_scalar(optimizer, optimizer->beta1);
  now->power2 *= hui_optimizer_scalar(optimizer, optimizer->beta2);
}

void hu_optimizer_tick(hu_optimizer_time *now, const hu_optimizer *optimizer) { HU_ENV_DO(tick(now, optimizer)); }

static uint64_t moment_bits(size_t n, const hu_optimizer *optimizer, const hu_rounding *stored, int there) {
  if (!there) return 0;
  return stored->kind == HU_ROUND_KEEP ? (uint64_t)n * hu_limits_of(optimizer->state).storage
                                       : hu_rounding_bits(1, n, stored);
}

uint64_t hui_optimizer_state_bits(size_t n, const hu_optimizer *optimizer) {
  uint64_t bits = moment_bits(n, optimizer, &optimizer->stored_m, hui_optimizer_has_m(optimizer)) +
                  moment_bits(n, optimizer, &optimizer->stored_v, hui_optimizer_has_v(optimizer));
  uint64_t kahan = optimizer->update == HU_UPDATE_KAHAN ? hu_limits_of(optimizer->weight).storage : 0;
  return bits + (uint64_t)n * kahan;
}

uint64_t hu_optimizer_bits(size_t n, const hu_optimizer *optimizer) {
  if (hu_optimizer_check_step(optimizer, NULL) != HU_OK) return 0;
  return (uint64_t)n * hu_limits_of(optimizer->weight).storage + hui_optimizer_state_bits(n, optimizer);
}

size_t hu_optimizer_bytes(const hu_optimizer *optimizer) {
  return optimizer && hui_optimizer_stores(optimizer) ? 0 : (size_t)(hu_optimizer_bits(1, optimizer) / 8);
}
