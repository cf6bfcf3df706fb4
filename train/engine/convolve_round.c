/* SPDX-License-Identifier: MIT */
/* An image rounded once instead of all its patches: the same bits where what a number becomes depends on the number
 * alone, or on statistics in which it counts as often as windows see it; the same counts, each as often. */
#include <string.h>

#include "train/engine/convolve.h"
#include "train/step/rounding.h"

enum { CLASSES = 64 };

/* Pixels that equally many windows see, and where they are gathered. */
typedef struct seen_class {
  uint64_t times;
  size_t first, n; /* numbers */
} seen_class;

/* Pixels beside each other in a row that equally many windows see. */
typedef struct stretch {
  uint64_t times;
  size_t first, n; /* pixels */
} stretch;

typedef struct round_plan {
  const hu_convolution *convolution;
  seen_class list[CLASSES];
  stretch across[CLASSES];
  size_t classes, stretches;
} round_plan;

/* Returns how many windows that is. */
static uint64_t count_of(hu_seen seen) { return seen.end > seen.first ? seen.end - seen.first : 0; }

/* Returns the class of pixels seen so often; NULL: there are too many. */
static seen_class *class_of(round_plan *plan, uint64_t times) {
  size_t i = 0;
  while (i < plan->classes && plan->list[i].times != times) i++;
  if (i == CLASSES) return NULL;
  if (i == plan->classes) {
    plan->list[i].times = times;
    plan->list[i].first = plan->list[i].n = 0;
    plan->classes++;
  }
  return &plan->list[i];
}

static int make_stretches(round_plan *plan) {
  plan->stretches = 0;
  const hu_window_sizes *sizes = &plan->convolution->windows;
  for (size_t x = 0; x < sizes->width; x++) {
    uint64_t times = count_of(hui_seen_across(sizes, x + sizes->left));
    if (plan->stretches && plan->across[plan->stretches - 1].times == times) {
      plan->across[plan->stretches - 1].n++;
      continue;
    }
    if (plan->stretches == CLASSES) return 0;
    stretch one = {times, x, 1};
    plan->across[plan->stretches++] = one;
  }
  return 1;
}

static int make_plan(round_plan *plan, const hu_convolution *convolution) {
  plan->convolution = convolution;
  plan->classes = 0;
  if (!make_stretches(plan)) return 0;
  for (size_t y = 0; y < convolution->windows.height; y++) {
    uint64_t down = count_of(hui_seen_down(&convolution->windows, y + convolution->windows.top));
    for (size_t j = 0; j < plan->stretches; j++) {
      seen_class *seen = class_of(plan, down * plan->across[j].times);
      if (!seen) return 0;
      seen->n += convolution->images * plan->across[j].n * convolution->channels;
    }
  }
  for (size_t i = 1; i < plan->classes; i++) plan->list[i].first = plan->list[i - 1].first + plan->list[i - 1].n;
  return 1;
}

/* Images to where their classes are, or back. */
static void gather(round_plan *plan, float *classes, const float *from, float *to) {
  const hu_convolution *convolution = plan->convolution;
  size_t at[CLASSES], line = convolution->windows.width * convolution->channels,
                      image = convolution->windows.height * line;
  for (size_t i = 0; i < plan->classes; i++) at[i] = plan->list[i].first;
  for (size_t y = 0; y < convolution->windows.height; y++) {
    uint64_t down = count_of(hui_seen_down(&convolution->windows, y + convolution->windows.top));
    for (size_t j = 0; j < plan->stretches; j++) {
      size_t i = (size_t)(class_of(plan, down * plan->across[j].times) - plan->list),
             n = plan->across[j].n * convolution->channels;
      size_t place = y * line + plan->across[j].first * convolution->channels;
      for (size_t k = 0; k < convolution->images; k++, at[i] += n, place += image) {
        if (to) {
          memcpy(to + place, classes + at[i], n * sizeof *to);
        } else {
          memcpy(classes + at[i], from + place, n * sizeof *from);
        }
      }
    }
  }
}

/* ---- roundings ---- */

static void add_times(hu_rounding_counts *counts, const hu_rounding_counts *once, uint64_t times) {
  hu_events events = once->events;
  uint64_t *const each[] = {&events.overflow,  &events.saturated,     &events.underflow, &events.to_zero,
                            &events.subnormal, &events.inexact,       &events.invalid,   &events.nan_in,
                            &events.inf_in,    &events.divide_by_zero};
  for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] *= times;
  counts->over += once->over * times;
  hu_events_add(&counts->events, &events);
}

/* The sums of a tensor that has each element so often, fewer than 2^32 times. */
static void add_sums_times(hu_s2fp8_sums *sums, const hu_s2fp8_sums *once, uint64_t times) {
  uint64_t low = (once->low & 0xFFFFFFFF) * times, middle = (once->low >> 32) * times + (low >> 32);
  uint64_t part = middle << 32 | (low & 0xFFFFFFFF), sum = sums->low + part;
  sums->high = (int64_t)((uint64_t)sums->high + (uint64_t)once->high * times + (middle >> 32) + (sum < part));
  sums->low = sum;
  sums->count += once->count * times;
  sums->special += once->special * times;
  if (once->top > sums->top) sums->top = once->top;
}

static hu_status scale_of_patches(const round_plan *plan, const float *x, const hu_s2fp8 *kind, const hu_exec *exec,
                                  hu_s2fp8_scale *scale) {
  hu_s2fp8_sums all;
  hu_status status = HU_OK;
  memset(&all, 0, sizeof all);
  for (size_t i = 0; i < plan->classes && status == HU_OK; i++) {
    const seen_class *seen = &plan->list[i];
    hu_s2fp8_sums sums;
    memset(&sums, 0, sizeof sums);
    if (seen->times) status = hu_s2fp8_sum_n(seen->n, x + seen->first, 1, &sums, exec);
    add_sums_times(&all, &sums, seen->times);
  }
  return status == HU_OK ? hu_s2fp8_scale_of(scale, &all, kind, NULL) : status;
}

static hu_status round_class(size_t n, float *x, const hu_rounding *rounding, const hu_s2fp8_scale *scale,
                             const hu_exec *exec, hu_rounding_counts *counts) {
  if (rounding->kind != HU_ROUND_S2FP8) return hu_rounding_apply(1, n, x, x, rounding, exec, counts);
  return hu_s2fp8_quantize_n(n, x, 1, x, 1, &rounding->s2fp8, scale, rounding->mode, exec, &counts->events);
}

int hui_cpu_round_image(const hu_cpu *cpu, const hu_convolution *convolution) {
  const hu_rounding *rounding = convolution->rounding;
  hu_exec exec;
  hu_s2fp8_scale scale;
  hu_rounding_counts all;
  round_plan plan;
  int shared = rounding->kind == HU_ROUND_S2FP8 && rounding->mode.round < HU_SRA;
  if (hu_rounding_check(rounding) != HU_OK || (!shared && !hui_rounds_alone(rounding)) ||
      !make_plan(&plan, convolution))
    return 0;
  memset(&exec, 0, sizeof exec);
  exec.threads = cpu->threads;
  exec.levels_off = cpu->levels_off;
  float *x = convolution->gathered;
  gather(&plan, x, convolution->x, NULL);
  memset(&all, 0, sizeof all);
  const hu_helpers *before = hui_cpu_lend(cpu);
  hu_status status = shared ? scale_of_patches(&plan, x, &rounding->s2fp8, &exec, &scale) : HU_OK;
  for (size_t i = 0; i < plan.classes && status == HU_OK; i++) {
    const seen_class *seen_here = &plan.list[i];
    hu_rounding_counts seen;
    memset(&seen, 0, sizeof seen);
    if (seen_here->times) status = round_class(seen_here->n, x + seen_here->first, rounding, &scale, &exec, &seen);
    add_times(&all, &seen, seen_here->times);
  }
  hui_cpu_take_back(before);
  if (status != HU_OK) return 0;
  all.elements = (uint64_t)convolution->images * convolution->windows.down * convolution->windows.across *
                 convolution->windows.high * convolution->windows.wide * convolution->channels;
  gather(&plan, x, NULL, convolution->rounded);
  *convolution->counts = all;
  return 1;
}
