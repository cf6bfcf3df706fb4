/* SPDX-License-Identifier: MIT */
/* emu/core/four_six.h - rules that choose the scale of a block of NVFP4 by the error of its elements: 4over6, the
 * better of two, and sweep_mse, the best of all; and those that choose its type, intfloat (docs/scaled.md sections
 * 4.1, 4.2, 4.5).
 *
 * A scaler of rule ratio makes the first scale and every element; the rules here add the other scales, and the
 * errors by which one is chosen. The order of every step is that of Transformer Engine
 * (pull request 2972, common/cast/nvfp4/quantize_4over6_nvfp4.cuh as of 124d874), whose sums of 16 x 16 blocks are
 * reductions of a warp. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_FOUR_SIX_H
#define HALFULP_EMU_CORE_FOUR_SIX_H

#include "emu/core/scaled.h"
#include "emu/core/stream.h"

enum { HU_FOUR_SIX_SIDE = 16 }; /* rows and columns of a block at most */

typedef struct hu_four_six {
  uint8_t on;      /* 0: not such a rule */
  uint8_t squares; /* 1: errors are squared */
  uint8_t fast;    /* 1: of x S: Transformer Engine's fast math of errors */
  uint8_t sweep;   /* 1: all scales */
  uint8_t types;   /* 1: both types under one scale */
  uint8_t largest; /* 1: the largest error is that of a block */
  hu_num amax;     /* A_T, that of the tensor */
  hu_num both;     /* M M_S */
} hu_four_six;

/* A block whose elements are finite: rows x cols patterns, row i at x + i ldx; element (i, j) draws word i next + j
 * from `word` on of the stream of `key`. */
typedef struct hu_four_six_block {
  const uint32_t *x;
  size_t rows, cols, ldx, next;
  uint64_t key, word;
} hu_four_six_block;

/* Returns the rule of a scaling; the scaler becomes one of rule ratio. */
HU_OUTLINE hu_four_six hui_four_six_of(const hu_scaling *scaling, hu_scaler *scaler) {
  hu_four_six rule;
  memset(&rule, 0, sizeof rule);
  if (scaling->rule < HU_SCALE_4OVER6_MAE || scaling->rule == HU_SCALE_FORMULAS) return rule;
  rule.on = 1;
  rule.types = scaler->two_types;
  rule.largest = scaling->rule == HU_SCALE_INTFLOAT_MAX;
  rule.squares = scaling->rule == HU_SCALE_4OVER6_MSE || scaling->rule == HU_SCALE_4OVER6_MSE_FAST;
  rule.sweep = scaling->rule == HU_SCALE_SWEEP_MSE;
  rule.squares |= rule.sweep || scaling->rule == HU_SCALE_INTFLOAT_MSE;
  rule.fast = scaling->rule == HU_SCALE_4OVER6_MAE_FAST || scaling->rule == HU_SCALE_4OVER6_MSE_FAST;
  hu_num most =
      scaling->tensor == HU_TENSOR_256 ? hui_power_of_two(8) : hui_unpack(&scaler->scale, scaler->scale.max_code);
  rule.both = hui_product(0, scaler->top, most);
  rule.amax = hui_num_special(HU_KIND_ZERO, 0);
  scaler->rule = HU_SCALE_RATIO;
  return rule;
}

/* Sets the second level from the tensor's amax, a pattern: instead of hui_scaler_tensor. */
HU_OUTLINE void hui_four_six_tensor(hu_four_six *rule, hu_scaler *scaler, uint32_t amax) {
  rule->amax = hui_unpack32(amax);
  if (rule->sweep) hui_scaler_tensor(scaler, amax);
  if (rule->sweep || amax == 0) return;
  scaler->tensor_code = hui_step32_some(hui_quotient(0, rule->both, rule->amax));
  scaler->tensor = hui_step32_some(hui_quotient(0, hui_power_of_two(0), scaler->tensor_code));
}

/* hui_X32 computes as IEEE 754 in binary32, ties to even, with overflow to infinity. */
HU_FN hu_num hui_rne32(hu_num x) { return hui_unpack32(hui_pack32(x)); }
HU_FN hu_num hui_sum32(hu_num a, hu_num b) {
  uint32_t ignored = 0;
  return hui_rne32(hui_exact_add(a, b, 0, &ignored));
}
HU_FN hu_num hui_product32(hu_num a, hu_num b) {
  uint32_t ignored = 0;
  return hui_rne32(hui_exact_mul(a, b, &ignored));
}
HU_FN hu_num hui_quotient32(hu_num a, hu_num b) {
  uint32_t ignored = 0;
  return hui_rne32(hui_exact_div(a, b, &ignored));
}

/* Returns the sum of two errors, or where the largest one counts that. */
HU_FN hu_num hui_four_six_join(const hu_four_six *rule, hu_num a, hu_num b) {
  if (!rule->largest) return hui_sum32(a, b);
  return hui_pack32(a) < hui_pack32(b) ? b : a;
}

/* What an element of the number p under a scale adds to the error. p times the scale is exact. */
HU_OUTLINE hu_num hui_four_six_error(const hu_four_six *rule, const hu_scaler *scaler, const hu_shared *under,
                                     hu_num scale, hu_num p, hu_num x) {
  hu_num y = hui_product32(p, rule->sweep ? under->back : scale);
  if (rule->fast) x = hui_product32(x, scaler->tensor_code);
  if (!rule->fast && !rule->sweep) {
    y = hui_product32(y, rule->amax);
    if (under->integers) y = hui_product32(y, scaler->of_integer);
    y = hui_quotient32(y, rule->both);
  }
  x.sign = !x.sign;
  hu_num e = hui_sum32(y, x);
  e.sign = 0;
  return rule->squares ? hui_product32(e, e) : e;
}

/* The error of a values under a scale, the pattern of a number from 0 up to infinity: each row from its first element
 * on, then the rows, 16 of them, in a tree; +0 for those that are not there. No term takes a sum down: where a row is
 * above `most`, the values is, and any number above `most` is the result. */
HU_OUTLINE uint32_t hui_four_six_sum(const hu_four_six *rule, const hu_scaler *scaler, const hu_four_six_block *values,
                                     const hu_shared *under, uint32_t most) {
  uint32_t row[HU_FOUR_SIX_SIDE];
  hu_num scale = hui_unpack(&scaler->scale, under->code);
  scale.sign = 0; /* which says the type, and is + elsewhere */
  for (uint32_t i = 0; i < HU_FOUR_SIX_SIDE; i++) {
    hu_num total = hui_num_special(HU_KIND_ZERO, 0);
    for (uint32_t j = 0; i < values->rows && j < values->cols; j++) {
      uint32_t pattern = values->x[i * values->ldx + j], random = 0, ignored;
      if (scaler->element.bits)
        random = hui_stream_at(values->key, values->word + i * values->next + j) >> (32 - scaler->element.bits);
      uint32_t code = hui_scaled_element(scaler, under, pattern, random, &ignored);
      hu_num p = under->integers ? hui_integer_number(scaler, code) : hui_scaled_number(scaler, code);
      total = hui_four_six_join(rule, total, hui_four_six_error(rule, scaler, under, scale, p, hui_unpack32(pattern)));
    }
    row[i] = hui_pack32(total);
    if (row[i] > most) return row[i];
  }
  for (uint32_t half = HU_FOUR_SIX_SIDE / 2; half; half /= 2) {
    for (uint32_t i = 0; i < half; i++)
      row[i] = hui_pack32(hui_four_six_join(rule, hui_unpack32(row[i]), hui_unpack32(row[i + half])));
  }
  return row[0];
}

/* Returns the scale of this code. */
HU_FN hu_shared hui_four_six_shared(const hu_scaler *scaler, uint32_t code) {
  hu_shared shared;
  memset(&shared, 0, sizeof shared);
  shared.code = code;
  hui_shared_finish(scaler, &shared);
  return shared;
}

/* Finds the best of all positive scales, of equal ones the smallest; first: one to begin with, which rules out most. */
HU_OUTLINE hu_shared hui_four_six_sweep(const hu_four_six *rule, const hu_scaler *scaler,
                                        const hu_four_six_block *values, const hu_shared *first) {
  hu_shared best = *first;
  uint32_t least = best.code ? hui_four_six_sum(rule, scaler, values, first, 0x7F800000) : 0xFFFFFFFF;
  for (uint32_t code = 1; code <= scaler->scale.max_code; code++) {
    hu_shared under = hui_four_six_shared(scaler, code);
    uint32_t error = hui_four_six_sum(rule, scaler, values, &under, least);
    if (error > least || (error == least && code >= best.code)) continue;
    best = under;
    least = error;
  }
  return best;
}

/* Chooses the type of a block; its scale is that of *floats. */
HU_OUTLINE hu_shared hui_type_choose(const hu_four_six *rule, const hu_scaler *scaler, const hu_four_six_block *values,
                                     const hu_shared *floats) {
  hu_shared integers = hui_four_six_shared(scaler, floats->code | scaler->scale.sign_mask);
  uint32_t error = hui_four_six_sum(rule, scaler, values, floats, 0x7F800000);
  return hui_four_six_sum(rule, scaler, values, &integers, error) < error ? integers : *floats;
}

/* The best scale of a values: of *six, what rule ratio gives for amax > 0, a pattern, and the scale 1.5 times as large;
 * or of all; or that scale with the better type. */
HU_OUTLINE hu_shared hui_four_six_choose(const hu_four_six *rule, const hu_scaler *scaler,
                                         const hu_four_six_block *values, uint32_t amax, const hu_shared *six) {
  if (rule->sweep) return hui_four_six_sweep(rule, scaler, values, six);
  if (rule->types) return hui_type_choose(rule, scaler, values, six);
  hu_num ratio = hui_scale_ratio(scaler, hui_unpack32(amax < scaler->amin ? scaler->amin : amax));
  if (ratio.kind == HU_KIND_ZERO) return *six;
  hu_shared four =
      hui_four_six_shared(scaler, hui_scale_code(scaler, hui_step32(hui_product(0, ratio, hui_num_finite(0, 3, -1)))));
  uint32_t error = hui_four_six_sum(rule, scaler, values, six, 0x7F800000);
  return hui_four_six_sum(rule, scaler, values, &four, error) < error ? four : *six;
}

#endif
