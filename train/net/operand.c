/* SPDX-License-Identifier: MIT */
/* Prepares the operands of products: transforms them and rounds them once more. Where several products would do the
 * same, it is done once. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"

/* Blocks of rows of x into `buffer`, transformed; the rows behind them as they are. */
static void transform(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *buffer, const float *x) {
  uint32_t n = op->rounding.hadamard, mask[HU_HADAMARD_MAX / 32];
  for (size_t i = 0; i < HU_HADAMARD_MAX / 32; i++) mask[i] = op->rounding.signs;
  hu_hadamard made = {.n = n,
                      .axis = HU_HADAMARD_ALONG_COLUMNS,
                      .norm = HU_HADAMARD_ROOT,
                      .signs = HU_HADAMARD_SIGNS_MASK,
                      .mask = mask};
  size_t whole = rows / n * n;
  hui_do_each(net, HU_RUN_COPY, (rows - whole) * cols, buffer + whole * cols, x + whole * cols, NULL, 0);
  if (net->fault == HU_OK) net->fault = net->engine->transform(net->self, whole, cols, buffer, x, &made);
}

hu_rounding_counts *hui_counts_of_part(const hu_net *net, hu_operator *op, unsigned part) {
  int back = part != HU_PART_Z_X && part != HU_PART_Z_W && part != HU_PART_Z_OUT;
  return net->engine->on_host ? &op->counts[back] : op->seen + back;
}

/* Rounds a part of an operator's products, notifies the observer and counts. */
static void round_part(hu_net *net, hu_operator *op, size_t rows, size_t cols, float *z, const float *x,
                       const hu_rounding *rounding, unsigned part, hu_rounding_counts *counts) {
  hui_round_of(net, op, rows, cols, z, x, rounding, HU_OF_PRODUCT, op->number << 4 | part, counts);
}

/* Under `twice`, of W and X of the backward products: the rounding of the forward pass, which comes first, and the part
 * that has its words; NULL: none comes first. */
static const hu_rounding *first_rounding(const hu_operator *op, unsigned part, unsigned *first) {
  if (!op->rounding.twice || (part != HU_PART_DW_X && part != HU_PART_DX_W)) return NULL;
  const hu_rounding *rounding = part == HU_PART_DW_X ? &op->rounding.x : &op->rounding.w;
  *first = part == HU_PART_DW_X ? HU_PART_Z_X : HU_PART_Z_W;
  return rounding->kind == HU_ROUND_KEEP ? NULL : rounding;
}

/* Rounds an operand like that, and W of Z toward its average. */
static void round_operand(hu_net *net, hu_operator *op, size_t rows, size_t cols, float *z, const float *x,
                          const hu_rounding *rounding, unsigned part, hu_rounding_counts *counts) {
  round_part(net, op, rows, cols, z, x, rounding, part, counts);
  if (part == HU_PART_Z_W) hui_average_choose(net, op, rows, cols, z, x);
}

/* The forward pass has counted it. */
static void round_first(hu_net *net, hu_operator *op, size_t rows, size_t cols, float *z, const float *x,
                        const hu_rounding *rounding, unsigned first) {
  hu_rounding given;
  rounding = hui_delayed_rounding(net, op, rows * cols, x, rounding, first, &given);
  round_operand(net, op, rows, cols, z, x, rounding, first, NULL);
}

const hu_rounding *hui_last_rounding(const hu_operator *op, unsigned part, const hu_rounding *rounding) {
  unsigned ignored;
  const hu_rounding *first = rounding->kind == HU_ROUND_KEEP ? first_rounding(op, part, &ignored) : NULL;
  return first ? first : rounding;
}

hu_status hui_round_product(hu_net *net, hu_operator *op, size_t rows, size_t cols, float *x,
                            const hu_rounding *rounding, unsigned part) {
  hu_rounding given;
  unsigned part_of_first = part;
  const hu_rounding *first = first_rounding(op, part, &part_of_first);
  if (first) round_first(net, op, rows, cols, x, x, first, part_of_first);
  if (rounding->kind == HU_ROUND_KEEP) return hui_done(net);
  rounding = hui_delayed_rounding(net, op, rows * cols, x, rounding, part, &given);
  round_part(net, op, rows, cols, x, x, rounding, part, hui_counts_of_part(net, op, part));
  return hui_done(net);
}

/* ---- operands that are kept ---- */

int hui_roundings_alike(const hu_rounding *a, const hu_rounding *b) {
  return a->mode.round < HU_SRA && memcmp(a, b, sizeof *a) == 0;
}

/* Where this operand is kept; NULL: it is not. X is kept for dW, unless that has it transformed. A device that counts
 * in its own memory rounds again, so that each product's roundings are counted everywhere. */
static hu_rounded *slot_of(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part) {
  if (rounding->mode.round >= HU_SRA || !net->engine->on_host) return NULL;
  if (part == HU_PART_Z_W || part == HU_PART_DX_W) return &net->parameter[op->theta[0]].rounded;
  if (part == HU_PART_DW_DZ || part == HU_PART_DX_DZ) {
    return hui_roundings_alike(&op->rounding.dz, &op->rounding.dz_w) ? &net->rounded : NULL;
  }
  int kept = net->training && !op->rounding.hadamard && hui_roundings_alike(&op->rounding.x, &op->rounding.x_back);
  return kept ? &op->rounded : NULL;
}

static void give_back(hu_net *net, hu_rounded *slot) {
  if (slot->own) net->engine->release(net->self, slot->own);
  slot->own = NULL;
  slot->size = 0;
}

/* A place for n numbers; patches are an operator's own, and rounded in place. NULL: no memory, which is no error. */
static float *place_in(hu_net *net, hu_rounded *slot, const hu_operator *op, size_t n, const float *x) {
  slot->there = 0;
  slot->made++;
  if (op->kept && x == op->kept) return op->kept;
  if (slot->size < n) {
    give_back(net, slot);
    slot->own = net->engine->allocate(net->self, n * sizeof *slot->own);
    slot->size = slot->own ? n : 0;
  }
  return slot->own;
}

hu_matrices hui_product_operand(hu_net *net, hu_operator *op, size_t rows, size_t cols, const float *x,
                                const hu_rounding *rounding, const hu_rounding *before, float *buffer, unsigned part) {
  hu_rounding exact = hu_rounding_keep(), given;
  int transformed = op->rounding.hadamard && (part == HU_PART_DW_X || part == HU_PART_DW_DZ);
  hu_matrices z = {
      .data = (float *)x, .ld = cols, .format = hui_operand_grid(op, part, rounding, transformed ? &exact : before)};
  if (transformed) {
    transform(net, op, rows, cols, buffer, x);
    z.data = buffer;
  }
  unsigned part_of_first = part;
  const hu_rounding *first = first_rounding(op, part, &part_of_first);
  if (first) {
    round_first(net, op, rows, cols, buffer, x, first, part_of_first);
    z.data = buffer;
  }
  if (rounding->kind == HU_ROUND_KEEP) return z;
  hu_rounded *slot = transformed || first ? NULL : slot_of(net, op, rounding, part);
  hu_rounding_counts *counts = hui_counts_of_part(net, op, part);
  rounding = hui_delayed_rounding(net, op, rows * cols, z.data, rounding, part, &given);
  if (slot && slot->there && hui_roundings_alike(&slot->by, rounding)) {
    hui_add_counts(counts, &slot->counts);
    z.data = slot->numbers;
    return z;
  }
  float *place = slot ? place_in(net, slot, op, rows * cols, x) : NULL, *to = place ? place : buffer;
  if (place) memset(&slot->counts, 0, sizeof slot->counts);
  round_operand(net, op, rows, cols, to, z.data, rounding, part, place ? &slot->counts : counts);
  z.data = to;
  if (!place) return z;
  hui_add_counts(counts, &slot->counts);
  slot->numbers = place;
  memcpy(&slot->by, rounding, sizeof *rounding); /* padding, too, which hui_roundings_alike sees */
  slot->there = 1;
  return z;
}

int hui_patches_spoilt(const hu_operator *op, const hu_rounding *rounding) {
  const hu_rounded *rounded = &op->rounded;
  return rounded->there && rounded->numbers == op->kept && !hui_roundings_alike(&rounded->by, rounding);
}

void hui_forget_operands(hu_net *net) {
  for (int i = 0; i < net->operators; i++) net->op[i].rounded.there = net->op[i].sharing.ahead = 0;
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    parameter->rounded.there = 0;
    parameter->panels[0].of = parameter->panels[1].of = NULL;
  }
  hui_delayed_begin(net);
}

void hui_free_operands(hu_net *net) {
  for (int i = 0; i < net->operators; i++) give_back(net, &net->op[i].rounded);
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    give_back(net, &parameter->rounded);
    for (int k = 0; k < 2; k++) {
      if (parameter->panels[k].own) net->engine->release(net->self, parameter->panels[k].own);
      parameter->panels[k].own = NULL;
    }
  }
  give_back(net, &net->rounded);
}

/* ---- models and grids ---- */

hu_accum hui_accum_swapped(const hu_accum *accum) {
  hu_accum model = *accum;
  model.a = accum->b;
  model.b = accum->a;
  return model;
}

const hu_accum *hui_accum_of(const hu_operator *op, unsigned part) {
  const hu_product_rounding *rounding = &op->rounding;
  if (part == HU_PART_Z_X || part == HU_PART_Z_W || part == HU_PART_Z_OUT) return &rounding->z_accum;
  return part == HU_PART_DX_DZ || part == HU_PART_DX_W || part == HU_PART_DX_OUT ? &rounding->dx_accum
                                                                                 : &rounding->dw_accum;
}

/* The format itself, or where infinities and NaN stay that it may lack, one with those and an exponent bit more. */
static hu_format grid_left(const hu_rounding *rounding) {
  hu_format format = rounding->format;
  if (!rounding->over_inf && !rounding->keep_nan) return format;
  if (format.e == 0) return hu_binary32();
  format.b = (int16_t)(format.b - (1 << (format.e - 1)));
  format.e++;
  format.inf = HU_INF_IEEE;
  format.nan = HU_NAN_IEEE;
  format.overflow = HU_OVERFLOW_INF;
  format.negative = 0;
  return hu_format_check(format, NULL) == HU_OK && hu_format_fits_binary32(format) ? format : hu_binary32();
}

hu_format hui_operand_grid(const hu_operator *op, unsigned part, const hu_rounding *rounding,
                           const hu_rounding *before) {
  rounding = hui_last_rounding(op, part, rounding);
  const hu_rounding *last = rounding->kind == HU_ROUND_KEEP ? before : rounding;
  int known = !hui_is_plain_fp32(hui_accum_of(op, part)) && last->kind == HU_ROUND_FORMAT;
  return known ? grid_left(last) : hu_binary32();
}
