/* SPDX-License-Identifier: MIT */
/* Computes the scales of a group of blocks: powers of two and ratios in lanes where those do the same steps, else one
 * by one. */
#include "emu/base/float_env.h"
#include "emu/scaled/work.h"

enum { NEVER = INT32_MIN, SCALE_PIECE = HU_FORMULA_PIECE };

/* ---- magnitudes ---- */

void hui_scaled_look(const hu_scaled_work *work, size_t n, size_t side, const uint32_t *x, uint32_t *top) {
  if (work->lanes) {
    work->lanes->look(n, side, x, top);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF, *largest = top + i / side;
    if (a > *largest) *largest = a;
  }
}

uint32_t hui_scaled_limited_top(const hu_scaled_work *work, size_t n, const uint32_t *x, uint32_t top,
                                uint64_t *special) {
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF;
    *special += a >= 0x7F800000;
    if (a == 0x7F800000 && work->scaler.special == HU_SPECIAL_SATURATE) a = HU_LARGEST32;
    if (a < 0x7F800000 && a > top) top = a;
  }
  return top;
}

/* ---- one block ---- */

int hui_scaled_way(const hu_scaled_work *work, const hu_shared *shared, uint32_t top, uint32_t *by, uint32_t *back) {
  const hu_spec *spec = &work->scaler.element;
  const hu_scaler *scaler = &work->scaler;
  if (!work->kernels || shared->under != HU_UNDER_SCALE || top >= 0x7F800000) return HU_BY_CORE;
  if (top && shared->back.kind != HU_KIND_FINITE) return HU_BY_CORE; /* an infinity times 0 is the core's NaN */
  if (work->formulas) {
    *by = shared->amax;
    *back = hui_pack32(shared->back);
    return HU_BY_FORMULA;
  }
  if (work->types && shared->integers) {
    *by = hui_pack32(shared->by);
    *back = hui_pack32(shared->back);
    return HU_BY_INTEGERS;
  }
  if (scaler->own_x || scaler->own_v || scaler->minus || shared->integers) return HU_BY_CORE;
  if (scaler->by_formulas && !shared->multiply && shared->by.kind == HU_KIND_ZERO) return HU_BY_CORE;
  if (work->scaler.steps != HU_STEPS_EXACT) {
    *by = hui_pack32(shared->by);
    *back = hui_pack32(shared->back);
    return work->scaler.steps == HU_STEPS_DIVIDE ? HU_OVER : HU_TIMES;
  }
  if (shared->by.sig & (shared->by.sig - 1)) return HU_BY_CORE;
  int32_t exponent = hui_exponent(shared->by);
  *by = *back = (uint32_t)exponent << 23;
  if (work->strips)
    return exponent < work->grid.least || exponent > work->grid.most || top >= work->grid.highest ? HU_BY_CORE
                                                                                                  : HU_SHIFT;
  if (work->call.z && (spec->emin - spec->m + exponent < -126 || work->scaler.emax + exponent > 127)) return HU_BY_CORE;
  if ((exponent > 0 ? 0 : -exponent) - 126 > spec->emin - spec->m - 34 || (int32_t)(top >> 23) - exponent > 254)
    return HU_BY_CORE;
  return exponent < -254 || exponent > 254 ? HU_BY_CORE : HU_SHIFT;
}

static hu_shared shared_of(const hu_scaled_work *work, hu_scaled_group *group, uint32_t amax, int nan) {
  if (amax < work->scaler.amin) amax = work->scaler.amin;
  if (nan || amax == 0 || work->scaler.rule == HU_SCALE_RATIO) return hui_shared_of(&work->scaler, amax, (uint32_t)nan);
  int32_t exponent = hui_scale_exponent(&work->scaler, hui_unpack32(amax));
  uint32_t k = (uint32_t)exponent % HU_POWERS_KEPT;
  if (group->made_for[k] != exponent) {
    group->made[k] = hui_shared_power(&work->scaler, exponent);
    group->made_for[k] = exponent;
  }
  return group->made[k];
}

/* Returns the better scale of a block of finite elements. */
static hu_shared better(const hu_scaled_work *work, const hu_scaled_place *place, uint32_t amax, const hu_shared *six) {
  hu_four_six_block block = {hui_scaled_x(work, place->row, place->col),
                             place->last - place->row,
                             place->n,
                             work->call.ldx,
                             work->call.cols,
                             0,
                             0};
  if (work->call.exec) block.key = work->call.exec->stream.key;
  block.word =
      (work->call.exec ? work->call.exec->stream.counter : 0) + (uint64_t)place->row * work->call.cols + place->col;
  return hui_scaled_choose(work, &block, amax, six);
}

static void add_stats(hu_scaled_stats *stats, const hu_events *events) {
  stats->saturated += events->saturated;
  stats->to_zero += events->to_zero;
}

static void start_stats(hu_scaled_stats *stats, uint32_t amax, uint32_t code, uint64_t special) {
  memset(stats, 0, sizeof *stats);
  stats->amax = hui_float_of_bits(amax);
  stats->scale = code;
  stats->special = special;
}

/* Makes the scale of block k that lanes made none for; rounds its elements, too, where only the core takes them. */
static void one_block(const hu_scaled_work *work, hu_scaled_group *group, size_t k, hu_events *counts) {
  const hu_scaled_place place = hui_scaled_place_of(work, group, k);
  uint64_t special = 0;
  uint32_t amax = group->top[k];
  if (amax >= 0x7F800000) {
    amax = 0;
    for (size_t i = place.row; i < place.last; i++) {
      amax = hui_scaled_limited_top(work, place.n, hui_scaled_x(work, i, place.col), amax, &special);
    }
  }
  hu_shared shared = shared_of(work, group, amax, special && work->scaler.special == HU_SPECIAL_NAN);
  if (work->four_six.on && group->top[k] < 0x7F800000 && (amax || work->scaler.amin))
    shared = better(work, &place, amax, &shared);
  int way = hui_scaled_way(work, &shared, group->top[k], &group->by[k], &group->back[k]);
  group->codes[k] = shared.code;
  if (group->stats) start_stats(&group->stats[k], amax, shared.code, special);
  group->way[k] = (uint8_t)way;
  if (way != HU_BY_CORE) return;
  hu_events own = {0};
  for (size_t i = place.row; i < place.last; i++) {
    hu_scaled_span span = {i, place.col, place.n};
    hui_scaled_core(work, span, &shared, &own);
  }
  hu_events_add(counts, &own);
  if (group->stats) add_stats(&group->stats[k], &own);
  group->way[k] = HU_DONE;
}

/* ---- powers of two in lanes ---- */

/* Where 2^e is the code of a normal number of the scale format, codes go up by 2^m a binade. */
static int powers_can(hu_scaled_work *work) {
  const hu_scaler *scaler = &work->scaler;
  const hu_spec *element = &scaler->element, *scale = &scaler->scale;
  hu_scaled_powers *rule = &work->powers;
  if (!work->kernels || !work->strips || scaler->rule == HU_SCALE_RATIO || scaler->minus || element->m > 22) return 0;
  rule->amin = scaler->amin;
  rule->more = hui_scale_carry(scaler);
  hu_shared blank = hui_shared_of(scaler, 0, 0);
  rule->blank_code = blank.code;
  rule->emax = scaler->emax;
  rule->low = scaler->low;
  rule->high = scaler->high;
  rule->first = hui_first_power(scale);
  if (rule->first > rule->high) return 0;
  rule->first_code = (int32_t)hui_scale_code(scaler, hui_power_of_two(rule->first));
  rule->m = scale->m;
  rule->highest = work->grid.highest;
  rule->least = work->grid.least;
  rule->most = work->grid.most;
  if (rule->least < rule->first) rule->least = rule->first;
  return 1;
}

static void powers(const hu_scaled_work *work, hu_scaled_group *group, hu_events *counts) {
  uint32_t bad[HU_GROUP];
  int some = work->strips->powers(&work->powers, group->count, group->top, group->codes, group->by, bad);
  memset(group->way, HU_SHIFT, group->count);
  for (size_t k = 0; group->stats && k < group->count; k++)
    start_stats(&group->stats[k], group->top[k], group->codes[k], 0);
  for (size_t k = 0; some && k < group->count; k++) {
    if (bad[k]) one_block(work, group, k, counts);
  }
}

/* ---- ratios in lanes ---- */

/* Checks whether lanes can make the scales: of two levels, or divide and multiply with one. */
static int ratios_can(hu_scaled_work *work) {
  const hu_spec *spec = &work->scaler.scale;
  hu_num one = hui_power_of_two(0);
  if (!work->kernels || work->scaler.rule != HU_SCALE_RATIO || work->scaler.steps == HU_STEPS_EXACT) return 0;
  const hu_scaler *scaler = &work->scaler;
  if (work->four_six.on || scaler->own_v) return 0;
  if (scaler->by_formulas ? !HU_FLOAT_ENV : scaler->minus) return 0;
  if (work->scaler.steps == HU_STEPS_ENCODE && !work->scaler.two) return 0;
  hu_num part =
      hui_step32(hui_product(0, work->scaler.tensor_code, hui_step32(hui_quotient(0, one, work->scaler.top))));
  work->part_factor = hui_float_of_num(part);
  work->scale_is_binary32 = hu_format_equal(work->call.scaling.scale, hui_format_binary32());
  return work->scale_is_binary32 || hui_lane_constants_of(&work->scale_constants, spec);
}

/* Takes the steps of hui_scale_ratio for n blocks: the same operations, done by the CPU. */
static void ratio_steps(const hu_scaled_work *work, size_t n, uint32_t *y) {
  uint32_t top = hui_pack32(work->scaler.top), tensor = hui_pack32(work->scaler.tensor),
           code = hui_pack32(work->scaler.tensor_code);
  uint32_t part = hui_bits_of_float(work->part_factor);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (work->scaler.steps == HU_STEPS_ENCODE) {
    work->lanes->times_bounded(n, n, y, y, &part);
  } else {
    work->lanes->over_bounded(n, n, y, y, &top);
    if (work->scaler.two && work->scaler.steps != HU_STEPS_MULTIPLY) work->lanes->over_bounded(n, n, y, y, &tensor);
    if (work->scaler.two && work->scaler.steps == HU_STEPS_MULTIPLY) work->lanes->times_bounded(n, n, y, y, &code);
  }
  hui_float_env_leave(saved);
}

/* Makes codes, factors of elements and of values from y, A of the blocks, by the steps of a ratio. */
static void ratio_factors(const hu_scaled_work *work, size_t n, uint32_t *y, uint32_t *codes, uint32_t *by,
                          uint32_t *back) {
  uint32_t tensor = hui_pack32(work->scaler.tensor);
  ratio_steps(work, n, y);
  hui_scaled_scale_codes(work, n, y, codes);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->times_bounded(n, n, back, y, &tensor);
  if (work->scaler.steps == HU_STEPS_DIVIDE) {
    memcpy(by, back, n * sizeof *by);
  } else {
    int apart = work->scaler.steps == HU_STEPS_RECIPROCAL && work->scaler.two;
    for (size_t k = 0; k < n; k++) by[k] = apart ? hui_pack32(work->scaler.tensor_code) : 0x3F800000;
    work->lanes->over_bounded(n, 1, by, by, apart ? y : back);
  }
  hui_float_env_leave(saved);
}

/* The same by formulas; y becomes the scales. */
static void formula_piece(const hu_scaled_work *work, size_t n, uint32_t *y, uint32_t *codes, uint32_t *by,
                          uint32_t *back) {
  const hu_scaler *scaler = &work->scaler;
  uint32_t amax[SCALE_PIECE], tensor = hui_pack32(scaler->tensor), end[HU_OF_COUNT];
  const uint32_t *const named[3] = {amax, y, NULL}, *const first[3] = {amax, amax, NULL};
  memcpy(amax, y, n * sizeof *y);
  for (uint32_t i = 0; i < HU_OF_COUNT; i++) end[i] = hui_formula_end(&scaler->formulas, scaler->start[i]);
  hui_scaled_formula(work, scaler->start[HU_OF_SCALE], end[HU_OF_SCALE], n, first, y);
  hui_scaled_scale_codes(work, n, y, codes);
  if (work->formulas)
    memcpy(by, amax, n * sizeof *by);
  else
    hui_scaled_formula(work, scaler->start[HU_OF_ELEMENT] + 1u, end[HU_OF_ELEMENT] - 1, n, named, by);
  if (hui_formula_is(scaler, HU_OF_VALUE)) {
    hui_scaled_formula(work, scaler->start[HU_OF_VALUE] + 1u, end[HU_OF_VALUE] - 1, n, named, back);
    return;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->times_bounded(n, n, back, y, &tensor);
  hui_float_env_leave(saved);
}

/* ---- ratios and formulas ---- */

/* Scales, divisors or factors of blocks first ... first + n - 1 whose amax is a positive number; the others, and those
 * whose divisor is 0, are left to one_block. */
static void ratio_piece(const hu_scaled_work *work, hu_scaled_group *group, size_t first, size_t n) {
  uint32_t y[SCALE_PIECE], *by = group->by + first, *back = group->back + first;
  const uint32_t *top = group->top + first;
  for (size_t k = 0; k < n; k++) {
    y[k] = top[k] - 1 < 0x7F7FFFFF ? top[k] : 0x3F800000;
    if (y[k] < work->scaler.amin) y[k] = work->scaler.amin;
  }
  if (work->scaler.by_formulas)
    formula_piece(work, n, y, group->codes + first, by, back);
  else
    ratio_factors(work, n, y, group->codes + first, by, back);
  int way = work->formulas ? HU_BY_FORMULA : work->scaler.steps == HU_STEPS_DIVIDE ? HU_OVER : HU_TIMES;
  for (size_t k = 0; k < n; k++)
    group->way[first + k] = (uint8_t)(top[k] - 1 < 0x7F7FFFFF && back[k] && by[k] ? way : HU_BY_CORE);
}

static void ratios(const hu_scaled_work *work, hu_scaled_group *group, hu_events *counts) {
  for (size_t k = 0; k < group->count; k += SCALE_PIECE)
    ratio_piece(work, group, k, hui_least(SCALE_PIECE, group->count - k));
  for (size_t k = 0; k < group->count; k++) {
    if (group->way[k] == HU_BY_CORE) {
      one_block(work, group, k, counts);
    } else if (group->stats) {
      start_stats(&group->stats[k], group->top[k], group->codes[k], 0);
    }
  }
}

/* ---- a group ---- */

/* Plans whether lanes compute the formula x, of which a factor would not do. */
static void formulas_plan(hu_scaled_work *work) {
  const hu_scaler *scaler = &work->scaler;
  hu_spec spec = scaler->element;
  work->formulas = work->ratios && scaler->by_formulas && (scaler->own_x || scaler->minus);
  if (!work->formulas) return;
  spec.bits = 0;
  spec.saturate = HU_SAT_FINITE;
  work->has_nearest = 1;
  for (int i = 0; i < 2; i++) {
    spec.round = i ? HU_RNZ : HU_RNA;
    work->has_nearest &= hui_lane_constants_of(&work->nearest[i], &spec);
  }
}

void hui_scaled_scales_plan(hu_scaled_work *work) {
  work->has_powers = powers_can(work);
  work->ratios = ratios_can(work);
  formulas_plan(work);
  hui_scaled_choice_plan(work);
}

void hui_scaled_group_start(hu_scaled_group *group) {
  for (size_t k = 0; k < HU_POWERS_KEPT; k++) group->made_for[k] = NEVER;
}

static void store_scales(const hu_scaled_work *work, const hu_scaled_group *group) {
  uint8_t *z = hui_scaled_scale(work, group->row / work->shape.side_rows, group->col / work->shape.side_cols);
  if (work->shape.scale_size == 1) {
    for (size_t k = 0; k < group->count; k++) z[k] = (uint8_t)group->codes[k];
    return;
  }
  for (size_t k = 0; k < group->count; k++)
    hui_store_code(z + k * work->shape.scale_size, work->shape.scale_size, group->codes[k]);
}

/* Looks at blocks of several rows: their columns first. */
static void look_at_group(const hu_scaled_work *work, hu_scaled_group *group) {
  size_t rows = group->last - group->row, side = work->shape.side_cols,
         next = work->together ? work->shape.block_cols : 0;
  if (!work->lanes || rows == 1 || work->together) {
    for (size_t i = 0; i < rows; i++) {
      hui_scaled_look(work, group->n, side, hui_scaled_x(work, group->row + i, group->col), group->top + i * next);
    }
    return;
  }
  for (size_t at = 0, n; at < group->n; at += n) { /* more than one turn: of one block */
    uint32_t columns[HU_STRIP] = {0};
    n = hui_least(group->n - at, HU_STRIP);
    work->lanes->look_down(rows, n, hui_scaled_x(work, group->row, group->col + at), work->call.ldx, columns);
    work->lanes->look(n, side, columns, group->top);
  }
}

void hui_scaled_scales(const hu_scaled_work *work, hu_scaled_group *group, hu_events *counts) {
  memset(group->top, 0, (group->count + 15) / 16 * 16 * sizeof *group->top);
  look_at_group(work, group);
  if (work->has_powers) {
    powers(work, group, counts);
  } else if (work->ratios) {
    ratios(work, group, counts);
  } else {
    for (size_t k = 0; k < group->count; k++) one_block(work, group, k, counts);
  }
  if (work->call.codes) store_scales(work, group);
}
