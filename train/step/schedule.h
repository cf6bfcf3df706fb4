/* SPDX-License-Identifier: MIT */
/* train/step/schedule.h - how the learning rate changes over a run: docs/training/training.md, "Rates". */
#ifndef HALFULP_TRAIN_STEP_SCHEDULE_H
#define HALFULP_TRAIN_STEP_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

enum {
  HU_SCHEDULE_CONSTANT,
  HU_SCHEDULE_COSINE,
  HU_SCHEDULE_LINEAR,
  HU_SCHEDULE_POLYNOMIAL,
  HU_SCHEDULE_EXPONENTIAL,
  HU_SCHEDULE_INVERSE_ROOT,
  HU_SCHEDULE_PLATEAU,
  HU_SCHEDULE_DROP,  /* at shares of the run */
  HU_SCHEDULE_STEPS, /* at steps */
  HU_SCHEDULE_EPOCHS /* at epochs */
};
enum { HU_EACH_EPOCH, HU_EACH_STEP };
enum { HU_DROPS_MOST = 8 };

/* A schedule. Which fields a kind has, schedule.c lists. */
typedef struct hu_schedule {
  uint8_t kind;
  uint8_t each;                 /* HU_EACH_: what is counted */
  double floor;                 /* share of the rate that is left at the end */
  double number;                /* exponent, or the factor of the rate */
  uint64_t until;               /* end, in what is counted; 0: that of the run */
  uint64_t every;               /* steps of an exponent; 0: those of an epoch */
  uint64_t warmup, width, from; /* of inverse_root */
  uint64_t window, last;        /* of plateau */
  size_t drops;                 /* how many of `at` there are */
  double at[HU_DROPS_MOST];
} hu_schedule;

/* Where a step stands: its number from 0 and its epoch, of so many steps and epochs; `warmup` steps come first. */
typedef struct hu_schedule_place {
  uint64_t step, steps, epoch, epochs, warmup;
} hu_schedule_place;

/* Reads a schedule. HU_OK; or HU_E_TRAIN, and the rest of a sentence that begins with the text in question. */
enum { HU_SCHEDULE_WHY_MAX = 320 };
hu_status hui_schedule_read(hu_schedule *schedule, const char *text, char why[HU_SCHEDULE_WHY_MAX]);
/* Returns the rate at a place, warm-up included; of plateau without its factor. */
double hui_schedule_rate(const hu_schedule *schedule, double rate, const hu_schedule_place *place);

/* What plateau remembers: the losses of the windows before, the newest last, and of this one. */
typedef struct hu_stall {
  double factor; /* of the rate */
  double mean[HU_DROPS_MOST];
  double sum;
  uint64_t means, count;
} hu_stall;
/* The loss of a step joins; at the end of a window the factor may become less. */
void hui_stall_add(hu_stall *stall, const hu_schedule *schedule, double loss);

#endif
