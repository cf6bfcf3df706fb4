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

typedef struct plan {
  const hu_convolution *c;
  seen_class list[CLASSES];
  stretch across[CLASSES];
  size_t classes, stretches;
} plan;

static uint64_t windows(const hu_convolution *c, size_t at, int kernel, int count) {
  hu_seen s = hu_seen_of(at, c->n[HU_PAD], c->n[kernel], c->n[HU_STRIDE], c->n[count]);
  return s.end > s.first ? s.end - s.first : 0;
}

/* The class of pixels seen so often; NULL: too many. */
static seen_class *class_of(plan *p, uint64_t times) {
  size_t i = 0;
  while (i < p->classes && p->list[i].times != times) i++;
  if (i == CLASSES) return NULL;
  if (i == p->classes) {
    p->list[i].times = times;
    p->list[i].first = p->list[i].n = 0;
    p->classes++;
  }
  return &p->list[i];
}

static int make_stretches(plan *p) {
  p->stretches = 0;
  for (size_t x = 0; x < p->c->n[HU_WIDTH]; x++) {
    uint64_t times = windows(p->c, x, HU_WIDE, HU_ACROSS);
    if (p->stretches && p->across[p->stretches - 1].times == times) {
      p->across[p->stretches - 1].n++;
      continue;
    }
    if (p->stretches == CLASSES) return 0;
    stretch s = {times, x, 1};
    p->across[p->stretches++] = s;
  }
  return 1;
}

static int make_plan(plan *p, const hu_convolution *c) {
  p->c = c;
  p->classes = 0;
  if (!make_stretches(p)) return 0;
  for (size_t y = 0; y < c->n[HU_HEIGHT]; y++) {
    uint64_t down = windows(c, y, HU_HIGH, HU_DOWN);
    for (size_t j = 0; j < p->stretches; j++) {
      seen_class *k = class_of(p, down * p->across[j].times);
      if (!k) return 0;
      k->n += c->images * p->across[j].n * c->channels;
    }
  }
  for (size_t i = 1; i < p->classes; i++) p->list[i].first = p->list[i - 1].first + p->list[i - 1].n;
  return 1;
}

/* Images to where their classes are, or back. */
static void gather(plan *p, float *classes, const float *from, float *to) {
  const hu_convolution *c = p->c;
  size_t at[CLASSES], line = c->n[HU_WIDTH] * c->channels, image = c->n[HU_HEIGHT] * line;
  for (size_t i = 0; i < p->classes; i++) at[i] = p->list[i].first;
  for (size_t y = 0; y < c->n[HU_HEIGHT]; y++) {
    uint64_t down = windows(c, y, HU_HIGH, HU_DOWN);
    for (size_t j = 0; j < p->stretches; j++) {
      size_t i = (size_t)(class_of(p, down * p->across[j].times) - p->list), n = p->across[j].n * c->channels;
      size_t place = y * line + p->across[j].first * c->channels;
      for (size_t k = 0; k < c->images; k++, at[i] += n, place += image) {
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

static void add_times(hu_rounding_counts *z, const hu_rounding_counts *x, uint64_t times) {
  hu_events e = x->events;
  uint64_t *const each[] = {&e.overflow, &e.saturated, &e.underflow, &e.to_zero, &e.subnormal,
                            &e.inexact,  &e.invalid,   &e.nan_in,    &e.inf_in,  &e.divide_by_zero};
  for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] *= times;
  z->over += x->over * times;
  hu_events_add(&z->events, &e);
}

/* The sums of a tensor that has each element so often, fewer than 2^32 times. */
static void add_sums_times(hu_s2fp8_sums *z, const hu_s2fp8_sums *x, uint64_t times) {
  uint64_t low = (x->low & 0xFFFFFFFF) * times, middle = (x->low >> 32) * times + (low >> 32);
  uint64_t part = middle << 32 | (low & 0xFFFFFFFF), sum = z->low + part;
  z->high = (int64_t)((uint64_t)z->high + (uint64_t)x->high * times + (middle >> 32) + (sum < part));
  z->low = sum;
  z->count += x->count * times;
  z->special += x->special * times;
  if (x->top > z->top) z->top = x->top;
}

static hu_status scale_of_patches(const plan *p, const float *x, const hu_s2fp8 *kind, const hu_exec *exec,
                                  hu_s2fp8_scale *scale) {
  hu_s2fp8_sums all;
  hu_status s = HU_OK;
  memset(&all, 0, sizeof all);
  for (size_t i = 0; i < p->classes && s == HU_OK; i++) {
    const seen_class *k = &p->list[i];
    hu_s2fp8_sums sums;
    memset(&sums, 0, sizeof sums);
    if (k->times) s = hu_s2fp8_sum_n(k->n, x + k->first, 1, &sums, exec);
    add_sums_times(&all, &sums, k->times);
  }
  return s == HU_OK ? hu_s2fp8_scale_of(scale, &all, kind) : s;
}

static hu_status round_class(size_t n, float *x, const hu_rounding *r, const hu_s2fp8_scale *scale, const hu_exec *exec,
                             hu_rounding_counts *counts) {
  if (r->kind != HU_ROUND_S2FP8) return hu_rounding_apply(1, n, x, x, r, exec, counts);
  return hu_s2fp8_quantize_n(n, x, 1, x, 1, &r->s2fp8, scale, r->mode, exec, &counts->events);
}

int hu_cpu_round_image(const hu_cpu *cpu, const hu_convolution *c) {
  const hu_rounding *r = c->rounding;
  hu_exec exec;
  hu_s2fp8_scale scale;
  hu_rounding_counts all;
  plan p;
  int shared = r->kind == HU_ROUND_S2FP8 && r->mode.round < HU_SRA;
  if (hu_rounding_check(r) != HU_OK || (!shared && !hu_rounds_alone(r)) || !make_plan(&p, c)) return 0;
  memset(&exec, 0, sizeof exec);
  exec.threads = cpu->threads;
  exec.levels_off = cpu->levels_off;
  float *x = c->gathered;
  gather(&p, x, c->x, NULL);
  memset(&all, 0, sizeof all);
  const hu_helpers *before = hu_cpu_lend(cpu);
  hu_status s = shared ? scale_of_patches(&p, x, &r->s2fp8, &exec, &scale) : HU_OK;
  for (size_t i = 0; i < p.classes && s == HU_OK; i++) {
    const seen_class *k = &p.list[i];
    hu_rounding_counts seen;
    memset(&seen, 0, sizeof seen);
    if (k->times) s = round_class(k->n, x + k->first, r, &scale, &exec, &seen);
    add_times(&all, &seen, k->times);
  }
  hu_cpu_take_back(before);
  if (s != HU_OK) return 0;
  all.elements = (uint64_t)c->images * c->n[HU_DOWN] * c->n[HU_ACROSS] * c->n[HU_HIGH] * c->n[HU_WIDE] * c->channels;
  gather(&p, x, NULL, c->rounded);
  *c->counts = all;
  return 1;
}
