/* SPDX-License-Identifier: MIT */
/* Moving averages of the weights (optimizer.average), and what evaluations compute with in place of the run's own
 * weights and roundings. */
#include <math.h>
#include <stdlib.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/net/net.h"
#include "train/text/constant.h"
#include "train/trainer/trainer.h"

/* ---- averages ---- */

static size_t numbers_of(const hu_parameter *parameter) { return parameter->rows * parameter->cols; }

hu_status hui_start_averages(hu_trainer *trainer) {
  hu_net *net = trainer->net;
  float *const *of = trainer->averages.of;
  net->fault = HU_OK;
  for (int i = 0; of && i < net->parameters; i++) {
    size_t n = numbers_of(&net->parameter[i]);
    if (of[i]) hui_do_copy(net, 1, n, of[i], n, net->parameter[i].master, n);
  }
  return hui_done(net);
}

static hu_status check_keys(const hu_run_keys *keys, char *why) {
  char lost[HU_CONSTANT_WHY_MAX];
  if (keys->average == 0 && keys->again == AGAIN_WEIGHTS)
    return hui_say(why, HU_E_TRAIN, "run.again: weights, and optimizer.average is 0, so that nothing is averaged");
  if (keys->average == 0 && (*keys->averaged || keys->average_counts))
    return hui_say(why, HU_E_TRAIN, "optimizer.%s: optimizer.average is 0, so that nothing is averaged",
                   *keys->averaged ? "averaged" : "average_counts");
  if (hui_constant_wrong(lost, "optimizer.average", keys->average, hu_binary32(), "binary32"))
    return hui_say(why, HU_E_TRAIN, "%s", lost);
  return HU_OK;
}

hu_status hui_make_averages(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  hu_net *net = trainer->net;
  hu_status status = check_keys(keys, why);
  if (status == HU_OK) status = hui_check_patterns(trainer, "optimizer.averaged", keys->averaged, why);
  if (status != HU_OK || keys->average == 0) return status;
  trainer->averages.of = calloc((size_t)net->parameters + 1, sizeof *trainer->averages.of);
  if (!trainer->averages.of) return HU_E_MEMORY;
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    size_t n = numbers_of(parameter);
    if (*keys->averaged && !hui_is_among(parameter->name, keys->averaged)) continue;
    trainer->averages.of[i] = net->engine->allocate(net->self, (n ? n : 1) * sizeof **trainer->averages.of);
    if (!trainer->averages.of[i] || hui_reserve_work(net, n) != HU_OK) return HU_E_MEMORY;
  }
  return hui_start_averages(trainer);
}

void hui_close_averages(hu_trainer *trainer) {
  hu_averages *averages = &trainer->averages;
  for (int i = 0; averages->of && i < trainer->net->parameters; i++) {
    if (averages->of[i]) trainer->net->engine->release(trainer->net->self, averages->of[i]);
  }
  free((void *)averages->of);
  averages->of = NULL;
}

/* What of the distance to the weight an average goes in taken step n, from 1. */
static float way_of(const hu_run_keys *keys, uint64_t n) {
  float decay = (float)keys->average;
  if (!keys->average_counts) return (float)(1 - keys->average);
  float rising = (1 + (float)n) / (10 + (float)n);
  return 1 - (rising < decay ? rising : decay);
}

hu_status hui_step_averages(hu_trainer *trainer) {
  hu_net *net = trainer->net;
  const uint64_t taken = net->time.t;
  const float way = way_of(&trainer->keys, taken);
  if (!trainer->averages.of) return HU_OK;
  net->fault = HU_OK;
  for (int i = 0; i < net->parameters; i++) {
    float *average = trainer->averages.of[i];
    size_t n = numbers_of(&net->parameter[i]);
    if (!average) continue;
    hui_do_each(net, HU_RUN_MINUS, n, net->work[0], average, net->parameter[i].master, 0);
    hui_do_each(net, HU_RUN_SCALE, n, net->work[0], net->work[0], NULL, way);
    hui_do_each(net, HU_RUN_MINUS, n, average, average, net->work[0], 0);
  }
  return hui_done(net);
}

/* ---- what an evaluation computes with ---- */

/* Averages and weights change places. */
static void swap_averages(hu_trainer *trainer) {
  for (int i = 0; i < trainer->net->parameters; i++) {
    float *average = trainer->averages.of[i];
    if (!average) continue;
    trainer->averages.of[i] = trainer->net->parameter[i].master;
    trainer->net->parameter[i].master = average;
  }
}

/* The roundings of the run, which stand here while an evaluation has none. */
typedef struct hu_roundings {
  hu_rounding *value, *parameter;
  hu_product_rounding *product;
  hu_delay **delay;
} hu_roundings;

static void free_roundings(hu_roundings *kept) {
  free(kept->value);
  free(kept->parameter);
  free(kept->product);
  free((void *)kept->delay);
}

static hu_status keep_roundings(hu_roundings *kept, const hu_net *net) {
  size_t values = (size_t)net->values, parameters = (size_t)net->parameters, operators = (size_t)net->operators;
  kept->value = calloc(values + 1, sizeof *kept->value);
  kept->parameter = calloc(parameters + 1, sizeof *kept->parameter);
  kept->product = calloc(operators + 1, sizeof *kept->product);
  kept->delay = calloc(operators + 1, sizeof *kept->delay);
  if (!kept->value || !kept->parameter || !kept->product || !kept->delay) return HU_E_MEMORY;
  for (size_t i = 0; i < values; i++) kept->value[i] = net->value[i].round;
  for (size_t i = 0; i < parameters; i++) kept->parameter[i] = net->parameter[i].round;
  for (size_t i = 0; i < operators; i++) {
    kept->product[i] = net->op[i].rounding;
    kept->delay[i] = net->op[i].delay;
  }
  return HU_OK;
}

static void leave_roundings(hu_net *net) {
  const hu_rounding keep = hu_rounding_keep();
  for (int i = 0; i < net->values; i++) net->value[i].round = keep;
  for (int i = 0; i < net->parameters; i++) net->parameter[i].round = keep;
  for (int i = 0; i < net->operators; i++) {
    net->op[i].rounding = hu_product_rounding_plain();
    net->op[i].delay = NULL;
  }
}

static void put_roundings(hu_net *net, const hu_roundings *kept) {
  for (int i = 0; i < net->values; i++) net->value[i].round = kept->value[i];
  for (int i = 0; i < net->parameters; i++) net->parameter[i].round = kept->parameter[i];
  for (int i = 0; i < net->operators; i++) {
    net->op[i].rounding = kept->product[i];
    net->op[i].delay = kept->delay[i];
  }
}

static hu_status see_without_roundings(hu_trainer *trainer, int on, hu_trainer_seen *seen) {
  hu_roundings kept = {NULL, NULL, NULL, NULL};
  hu_status status = keep_roundings(&kept, trainer->net);
  if (status == HU_OK) {
    leave_roundings(trainer->net);
    status = hui_evaluate(trainer, on, seen);
    put_roundings(trainer->net, &kept);
  }
  free_roundings(&kept);
  return status;
}

/* The weights that operators see, and so what is looked at, are those of the run afterwards. */
static HU_NOINLINE hu_status see(hu_trainer *trainer, int on, unsigned how, hu_trainer_seen *seen) {
  if (!trainer || !seen) return HU_E_NULL;
  if (!trainer->net || on < HU_ON_TRAINING || on > HU_ON_TEST || how > (HU_SEE_WEIGHTS | HU_SEE_BINARY32))
    return HU_E_TRAIN;
  const int averaged = trainer->averages.of && trainer->step && !(how & HU_SEE_WEIGHTS);
  const int bare = (how & HU_SEE_BINARY32) != 0;
  if (averaged) swap_averages(trainer);
  hu_status status = bare ? see_without_roundings(trainer, on, seen) : hui_evaluate(trainer, on, seen);
  if (averaged) swap_averages(trainer);
  hu_status after = averaged || bare ? hui_net_round_parameters(trainer->net) : HU_OK;
  return status == HU_OK ? after : status;
}

hu_status hu_trainer_evaluate_as(hu_trainer *trainer, int on, unsigned how, hu_trainer_seen *seen) {
  HU_ENV_RETURN(hu_status, see(trainer, on, how, seen));
}

hu_status hu_trainer_evaluate(hu_trainer *trainer, int on, hu_trainer_seen *seen) {
  return hu_trainer_evaluate_as(trainer, on, 0, seen);
}
