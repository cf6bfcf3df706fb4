/* SPDX-License-Identifier: MIT */
/* Chooses the scale of a block by the error of its elements (rules 4over6 and sweep_mse), or its type (intfloat):
 * through the core, or with the errors of several scales side by side in lanes, or those of a row of elements.
 *
 * Lanes compute what emu/core/four_six.h does, to nearest without random words. Each step there is exact, or one
 * operation of IEEE 754 in binary32, which the CPU does in the surroundings of emu/base/float_env.h:
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

/* Checks the steps. E2M1 has neither infinity nor NaN: beyond 6 all policies give 6. */
static int steps_can(const hu_scaled_work *work) {
  return work->scaler.element.round == HU_RNE &&
         (work->scaler.steps == HU_STEPS_DIVIDE || work->scaler.steps == HU_STEPS_MULTIPLY);
}

void hui_scaled_choice_plan(hu_scaled_work *work) {
  const hu_four_six *rule = &work->four_six;
  work->types = HU_FLOAT_ENV && rule->types && work->kernels && work->lanes &&
                hui_lane_constants_of(&work->integer, &work->scaler.integer);
  work->to_integer = hui_pack32(work->scaler.to_integer);
  work->of_integer = hui_pack32(work->scaler.of_integer);
  work->choice = HU_FLOAT_ENV && rule->on && !rule->types && work->lanes && steps_can(work) &&
                 work->scaler.scale.max_code <= HU_CHOICE_CODES;
  if (!work->choice) return;
  work->trial.divide = work->scaler.steps == HU_STEPS_DIVIDE;
  work->trial.squares = rule->squares;
  work->trial.of_ratio = !rule->fast && !rule->sweep;
  work->trial.factor = rule->fast ? hui_float_of_num(work->scaler.tensor_code) : 1;
  work->trial.amax = hui_float_of_num(rule->amax);
  work->trial.both = hui_float_of_num(rule->both);
  for (uint32_t code = 1; rule->sweep && code <= work->scaler.scale.max_code; code++) {
    hu_shared shared = hui_four_six_shared(&work->scaler, code);
    work->choice_by[code - 1] = hui_pack32(shared.by);
    work->choice_back[code - 1] = hui_pack32(shared.back);
  }
}

/* Computes the errors of a block under n scales. */
static void errors(const hu_scaled_work *work, const hu_four_six_block *block, size_t n, uint32_t *z,
                   const uint32_t *by, const uint32_t *back) {
  hu_scaled_trial trial = work->trial;
  trial.x = block->x;
  trial.rows = block->rows;
  trial.cols = block->cols;
  trial.ldx = block->ldx;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->errors(&trial, n, z, by, back);
  hui_float_env_leave(saved);
}

static hu_shared best_of_all(const hu_scaled_work *work, const hu_four_six_block *block) {
  uint32_t error[HU_CHOICE_CODES + HU_SPREAD], best = 0, count = work->scaler.scale.max_code;
  errors(work, block, count, error, work->choice_by, work->choice_back);
  for (uint32_t i = 1; i < count; i++) {
    if (error[i] < error[best]) best = i;
  }
  return hui_four_six_shared(&work->scaler, best + 1);
}

static hu_shared better_of_two(const hu_scaled_work *work, const hu_four_six_block *block, uint32_t amax,
                               const hu_shared *six) {
  const hu_scaler *scaler = &work->scaler;
  uint32_t by[2 + HU_SPREAD] = {0}, back[2 + HU_SPREAD] = {0}, error[2 + HU_SPREAD];
  hu_num ratio = hui_scale_ratio(scaler, hui_unpack32(amax < scaler->amin ? scaler->amin : amax));
  if (ratio.kind == HU_KIND_ZERO) return *six;
  hu_shared four =
      hui_four_six_shared(scaler, hui_scale_code(scaler, hui_step32(hui_product(0, ratio, hui_num_finite(0, 3, -1)))));
  by[0] = hui_pack32(six->by);
  by[1] = hui_pack32(four.by);
  back[0] = hui_pack32(hui_unpack(&scaler->scale, six->code)); /* errors are made of P s, without t */
  back[1] = hui_pack32(hui_unpack(&scaler->scale, four.code));
  errors(work, block, 2, error, by, back);
  return error[1] < error[0] ? four : *six;
}

/* ---- types ---- */

/* Rounds a row of a block into the elements' format, p, and into integers, i. */
static void both_types(const hu_scaled_work *work, const hu_four_six_block *block, size_t row, uint32_t by, uint32_t *p,
                       uint32_t *i) {
  hu_events ignored = {0};
  const size_t n = block->cols;
  const uint32_t *x = block->x + row * block->ldx;
  uint32_t y[HU_FOUR_SIX_SIDE], z[HU_FOUR_SIX_SIDE];
  uint64_t word = block->word + row * block->next;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->times_bounded(n, n, y, x, &by);
  work->lanes->times_bounded(n, n, z, y, &work->to_integer);
  hui_float_env_leave(saved);
  hu_piece floats = {n, p, y, block->key, word, 0}, integers = {n, i, z, block->key, word, 0};
  work->kernels->quantize(&work->constants, &floats, &ignored);
  work->kernels->quantize(&work->integer, &integers, &ignored);
}

static float joined(const hu_four_six *rule, float a, float b) { return !rule->largest ? a + b : a < b ? b : a; }

/* Returns the error of an element whose value is v. */
static float error_of(const hu_four_six *rule, float v, float x) {
  float e = v - x;
  return rule->squares ? e * e : e < 0 ? -e : e;
}

/* Adds the errors of a row of both types, from the first element on. */
static void add_row(const hu_scaled_work *work, const hu_four_six_block *block, size_t row, const hu_shared *floats,
                    float sum[2]) {
  const hu_four_six *rule = &work->four_six;
  uint32_t p[HU_FOUR_SIX_SIDE], i[HU_FOUR_SIX_SIDE];
  const float scale = hui_float_of_num(hui_unpack(&work->scaler.scale, floats->code)),
              amax = hui_float_of_num(rule->amax), both = hui_float_of_num(rule->both),
              f = hui_float_of_bits(work->of_integer);
  both_types(work, block, row, hui_pack32(floats->by), p, i);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t k = 0; k < block->cols; k++) {
    float x = hui_float_of_bits(block->x[row * block->ldx + k]), v = hui_float_of_bits(p[k]) * scale * amax / both,
          w = hui_float_of_bits(i[k]) * scale * amax * f / both;
    sum[0] = joined(rule, sum[0], error_of(rule, v, x));
    sum[1] = joined(rule, sum[1], error_of(rule, w, x));
  }
  hui_float_env_leave(saved);
}

/* Computes hui_type_choose. */
static hu_shared better_type(const hu_scaled_work *work, const hu_four_six_block *block, const hu_shared *floats) {
  float rows[HU_FOUR_SIX_SIDE][2] = {{0}};
  for (size_t r = 0; r < block->rows; r++) add_row(work, block, r, floats, rows[r]);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t half = HU_FOUR_SIX_SIDE / 2; half; half /= 2)
    for (size_t r = 0; r < half; r++)
      for (int type = 0; type < 2; type++) rows[r][type] = joined(&work->four_six, rows[r][type], rows[r + half][type]);
  hui_float_env_leave(saved);
  return rows[0][1] < rows[0][0] ? hui_four_six_shared(&work->scaler, floats->code | work->scaler.scale.sign_mask)
                                 : *floats;
}

hu_shared hui_scaled_choose(const hu_scaled_work *work, const hu_four_six_block *block, uint32_t amax,
                            const hu_shared *six) {
  if (work->types && six->under == HU_UNDER_SCALE) return better_type(work, block, six);
  if (!work->choice) return hui_four_six_choose(&work->four_six, &work->scaler, block, amax, six);
  return work->four_six.sweep ? best_of_all(work, block) : better_of_two(work, block, amax, six);
}
