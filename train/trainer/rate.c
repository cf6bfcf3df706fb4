/* SPDX-License-Identifier: MIT */
/* The rate of a step, which depends on the step, the epoch and what the plateau has found. */
#include "train/trainer/trainer.h"

double hui_rate_of(const hu_trainer *trainer, double rate, uint64_t step, uint64_t epoch, uint64_t steps) {
  const uint64_t epochs = steps ? hui_epoch_of(trainer, steps - 1) + 1 : 0;
  const hu_schedule_place place = {step, steps, epoch, epochs, trainer->keys.warmup};
  return hui_schedule_rate(&trainer->keys.schedule, rate * trainer->stall.factor, &place);
}
