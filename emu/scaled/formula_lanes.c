/* SPDX-License-Identifier: MIT */
/* Computes formulas of blocks or elements side by side, a step of all of them at a time, and codes of scales. */
#include "emu/base/float_env.h"
#include "emu/scaled/work.h"

void hui_scaled_scale_codes(const hu_scaled_work *work, size_t n, uint32_t *y, uint32_t *codes) {
  hu_events ignored = {0};
  uint8_t narrow[4 * HU_FORMULA_PIECE];
  hu_piece piece = {n, narrow, y, 0, 0, 0};
  if (work->scale_is_binary32) {
    memcpy(codes, y, n * sizeof *y);
    return;
  }
  work->kernels->encode[hui_by_size(work->shape.scale_size)](&work->scale_constants, &piece, &ignored);
  for (size_t k = 0; k < n; k++) codes[k] = hui_load_code(narrow + k * work->shape.scale_size, work->shape.scale_size);
  work->kernels->decode[hui_by_size(work->shape.scale_size)](&work->scale_constants, n, y, narrow);
}

static void formula_two(const hu_scaled_work *work, uint32_t op, size_t n, uint32_t *a, const uint32_t *b) {
  uint32_t y[HU_FORMULA_PIECE];
  if (op == HU_FORMULA_TIMES) {
    work->lanes->times_bounded(n, 1, a, a, b);
  } else if (op == HU_FORMULA_OVER) {
    work->lanes->over_bounded(n, 1, y, a, b);
    for (size_t k = 0; k < n; k++) a[k] = a[k] ? b[k] ? y[k] : HU_LARGEST32 : 0;
  } else if (op == HU_FORMULA_ADD) {
    for (size_t k = 0; k < n; k++) {
      uint32_t sum = hui_bits_of_float(hui_float_of_bits(a[k]) + hui_float_of_bits(b[k]));
      a[k] = sum < HU_LARGEST32 ? sum : HU_LARGEST32;
    }
  } else {
    for (size_t k = 0; k < n; k++) a[k] = hui_formula_choice(op, a[k], b[k]);
  }
}

static void formula_one(const hu_scaled_work *work, uint32_t op, size_t n, uint32_t *a) {
  uint32_t ignored[HU_FORMULA_PIECE];
  if (op == HU_FORMULA_SCALE_OF) {
    hui_scaled_scale_codes(work, n, a, ignored);
  } else if (op >= HU_FORMULA_RNA && work->has_nearest) {
    hu_events uncounted = {0};
    hu_piece piece = {n, a, a, 0, 0, 0};
    work->kernels->quantize(&work->nearest[op - HU_FORMULA_RNA], &piece, &uncounted);
  } else if (op == HU_FORMULA_BF) {
    for (size_t k = 0; k < n; k++) a[k] = hui_formula_bfloat16(a[k]);
  } else {
    for (size_t k = 0; k < n; k++) a[k] = hui_formula_one(&work->scaler.scale, &work->scaler.element, op, a[k]);
  }
}

void hui_scaled_formula(const hu_scaled_work *work, uint32_t at, uint32_t end, size_t n, const uint32_t *const named[3],
                        uint32_t *z) {
  uint32_t stack[HU_FORMULA_DEEP + 1][HU_FORMULA_PIECE], depth = 0, value[HU_FORMULA_NAMES] = {0};
  const hu_formulas *formulas = &work->scaler.formulas;
  hui_formula_names(&work->scaler, 0, 0, value);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (; at < end; at++) {
    uint32_t op = formulas->code[at], takes = hui_formula_takes(op);
    if (op == HU_FORMULA_A || op == HU_FORMULA_SCALE || op == HU_FORMULA_X) {
      memcpy(stack[depth++], named[op == HU_FORMULA_A ? 0 : op == HU_FORMULA_SCALE ? 1 : 2], n * sizeof *z);
    } else if (takes == 0) {
      uint32_t each = op >= HU_FORMULA_NUMBER ? formulas->number[op - HU_FORMULA_NUMBER] : value[op];
      for (size_t k = 0; k < n; k++) stack[depth][k] = each;
      depth++;
    } else if (takes == 1) {
      formula_one(work, op, n, stack[depth - 1]);
    } else {
      depth--;
      formula_two(work, op, n, stack[depth - 1], stack[depth]);
    }
  }
  hui_float_env_leave(saved);
  memcpy(z, stack[0], n * sizeof *z);
}
