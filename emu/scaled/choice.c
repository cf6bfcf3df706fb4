/* SPDX-License-Identifier: MIT */
/* Chooses the scale of a block by the error of its elements (rules 4over6 and sweep_mse): through the core, or with the
 * errors of several scales side by side in lanes.
 *
 * Lanes compute what emu/core/four_six.h does, to nearest without random words. Each step there is exact, or one
 * operation of IEEE 754 in binary32, which the processor does in the surroundings of emu/base/float_env.h:
 *
 *   quotients and products of elements are limited to the largest number there; an infinity here rounds to 6 as that
 *   number does, and E2M1 is reached by adding and taking away 1.5 2^23 steps, an even number of them, so that ties go
 *   to the even code;
 *   under a scale whose s t is 0 elements are 0: so is the factor there, or the error is made of P times 0, and a
 *   quotient that is NaN counts as 6;
 *   sums are in the same order, rows that are not there add +0, which changes no number from 0 on. The core leaves a
 *   block when a row's error is above the least so far; whole errors are not below that of a row, so that the same
 *   scale is chosen. */
#include "emu/base/float_env.h"
#include "emu/scaled/work.h"

/* E2M1 has neither infinity nor NaN: beyond 6 all policies give 6. */
static int steps_can(const hu_scaled_work *g) {
  return g->scaler.element.round == HU_RNE &&
         (g->scaler.steps == HU_STEPS_DIVIDE || g->scaler.steps == HU_STEPS_MULTIPLY);
}

void hui_scaled_choice_plan(hu_scaled_work *g) {
  const hu_four_six *f = &g->four_six;
  g->choice = HU_FLOAT_ENV && f->on && g->lanes && steps_can(g) && g->scaler.scale.max_code <= HU_CHOICE_CODES;
  if (!g->choice) return;
  g->trial.divide = g->scaler.steps == HU_STEPS_DIVIDE;
  g->trial.squares = f->squares;
  g->trial.of_ratio = !f->fast && !f->sweep;
  g->trial.factor = f->fast ? hui_float_of_num(g->scaler.tensor_code) : 1;
  g->trial.amax = hui_float_of_num(f->amax);
  g->trial.both = hui_float_of_num(f->both);
  for (uint32_t code = 1; f->sweep && code <= g->scaler.scale.max_code; code++) {
    hu_shared b = hui_four_six_shared(&g->scaler, code);
    g->choice_by[code - 1] = hui_pack32(b.by);
    g->choice_back[code - 1] = hui_pack32(b.back);
  }
}

/* The errors of a block under n scales. */
static void errors(const hu_scaled_work *g, const hu_four_six_block *b, size_t n, uint32_t *z, const uint32_t *by,
                   const uint32_t *back) {
  hu_scaled_trial t = g->trial;
  t.x = b->x;
  t.rows = b->rows;
  t.cols = b->cols;
  t.ldx = b->ldx;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  g->lanes->errors(&t, n, z, by, back);
  hui_float_env_leave(saved);
}

static hu_shared best_of_all(const hu_scaled_work *g, const hu_four_six_block *b) {
  uint32_t error[HU_CHOICE_CODES + HU_SPREAD], best = 0, count = g->scaler.scale.max_code;
  errors(g, b, count, error, g->choice_by, g->choice_back);
  for (uint32_t i = 1; i < count; i++) {
    if (error[i] < error[best]) best = i;
  }
  return hui_four_six_shared(&g->scaler, best + 1);
}

static hu_shared better_of_two(const hu_scaled_work *g, const hu_four_six_block *b, uint32_t amax,
                               const hu_shared *six) {
  const hu_scaler *s = &g->scaler;
  uint32_t by[2 + HU_SPREAD] = {0}, back[2 + HU_SPREAD] = {0}, error[2 + HU_SPREAD];
  hu_num ratio = hui_scale_ratio(s, hui_unpack32(amax < s->amin ? s->amin : amax));
  if (ratio.kind == HU_KIND_ZERO) return *six;
  hu_shared four =
      hui_four_six_shared(s, hui_scale_code(s, hui_step32(hui_product(0, ratio, hui_num_finite(0, 3, -1)))));
  by[0] = hui_pack32(six->by);
  by[1] = hui_pack32(four.by);
  back[0] = hui_pack32(hui_unpack(&s->scale, six->code)); /* without t: P s is what errors are made of */
  back[1] = hui_pack32(hui_unpack(&s->scale, four.code));
  errors(g, b, 2, error, by, back);
  return error[1] < error[0] ? four : *six;
}

hu_shared hui_scaled_choose(const hu_scaled_work *g, const hu_four_six_block *b, uint32_t amax, const hu_shared *six) {
  if (!g->choice) return hui_four_six_choose(&g->four_six, &g->scaler, b, amax, six);
  return g->four_six.sweep ? best_of_all(g, b) : better_of_two(g, b, amax, six);
}
