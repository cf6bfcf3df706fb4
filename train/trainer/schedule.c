/* SPDX-License-Identifier: MIT */
/* Computes the learning rate of a step. */
#include "train/trainer/trainer.h"

double hui_rate_of(const hu_trainer *trainer, double rate, uint64_t step, uint64_t epoch, uint64_t steps) {
  const uint64_t epochs = (steps + trainer->steps_an_epoch - 1) / trainer->steps_an_epoch;
  const hu_schedule_place place = {step, steps, epoch, epochs, trainer->keys.warmup};
  return hui_schedule_rate(&trainer->keys.schedule, rate * trainer->stall.factor, &place);
}
