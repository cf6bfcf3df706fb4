/* SPDX-License-Identifier: MIT */
/* Computes the learning rate of an epoch, and of a step. */
#include "halfulp/formats/ieee.h"
#include "halfulp/view.h"
#include "train/trainer/trainer.h"

/* Returns cos(pi x), x from 0 to 1: of a binary32 number, correctly rounded. */
static double cosine(double x) {
  float angle = (float)(3.14159265358979323846 * x), z;
  hu_view view = hu_codes(&angle, 1, hu_binary32());
  hu_output to = hu_codes_out(&z, 1, hu_binary32());
  hu_status status = hu_apply(HU_OP_COS, 1, &to, &view, NULL);
  return status == HU_OK ? (double)z : 0;
}

double hui_rate_of(const hu_trainer *trainer, double rate, uint64_t epoch, uint64_t steps) {
  const hu_run_keys *keys = &trainer->keys;
  double epochs = (double)((steps + trainer->steps_an_epoch - 1) / trainer->steps_an_epoch);
  double part = (double)epoch / (epochs > 0 ? epochs : 1);
  if (keys->schedule == SCHEDULE_COSINE) return rate * (0.5 * (1 + cosine(part)));
  for (size_t i = 0; keys->schedule == SCHEDULE_DROP && i < keys->drops; i++) {
    if (part >= keys->drop_at[i]) rate *= keys->drop_by;
  }
  return rate;
}

double hui_warm_rate(const hu_run_keys *keys, uint64_t step, double rate) {
  return step < keys->warmup ? rate * ((double)(step + 1) / (double)keys->warmup) : rate;
}
