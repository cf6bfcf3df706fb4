/* SPDX-License-Identifier: MIT */
/* Checks, before the first step, that the accumulation models take the operands of each operator's products: the model
 * of a matrix unit for binary16 says nothing about numbers of another format. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "train/net/net.h"

static const hu_rounding *own_of(const hu_operator *op, unsigned part) {
  const hu_product_rounding *rounding = &op->rounding;
  switch (part) {
    case HU_PART_Z_X: return &rounding->x;
    case HU_PART_Z_W: return &rounding->w;
    case HU_PART_DX_DZ: return &rounding->dz;
    case HU_PART_DX_W: return hui_last_rounding(op, part, &rounding->w_back);
    case HU_PART_DW_X: return hui_last_rounding(op, part, &rounding->x_back);
    default: return &rounding->dz_w;
  }
}

static int is_gradient(unsigned part) { return part == HU_PART_DX_DZ || part == HU_PART_DW_DZ; }

static const hu_rounding *before_of(const hu_net *net, const hu_operator *op, unsigned part, const hu_rounding *keep) {
  int weights = part == HU_PART_Z_W || part == HU_PART_DX_W, scores = strcmp(op->kind->name, "scores") == 0;
  if (is_gradient(part))
    return scores && !op->heads.plain ? keep : &net->value[op->out].round_back; /* times the shrinkage */
  if (weights && op->theta[0] >= 0) return &net->parameter[op->theta[0]].round;
  if (!weights && strcmp(op->kind->name, "online") == 0) return keep; /* shares, which are no tensor */
  return &net->value[op->in[weights && op->in[1] >= 0]].round;
}

/* Returns 1 if the operand is transformed (hadamard) before its own rounding. */
static int is_transformed(const hu_operator *op, unsigned part) {
  return op->rounding.hadamard && (part == HU_PART_DW_X || part == HU_PART_DW_DZ);
}

int hui_operand_is_tensor(const hu_net *net, const hu_operator *op, unsigned part) {
  hu_rounding keep;
  if (op->rounding.quartet) return 0;
  if (own_of(op, part)->kind != HU_ROUND_KEEP || is_transformed(op, part)) return 0;
  return before_of(net, op, part, &keep) != &keep;
}

static hu_format format_of(const hu_net *net, const hu_operator *op, unsigned part) {
  hu_rounding keep = hu_rounding_keep();
  if (op->rounding.quartet) return hu_binary32(); /* a number of E2M1 times a scale */
  return hui_operand_grid(op, part, own_of(op, part),
                          is_transformed(op, part) ? &keep : before_of(net, op, part, &keep));
}

/* Tries a product of nothing, which still checks its operands' formats and the model. */
static hu_status try_product(hu_format a, hu_format b, const hu_accum *accum) {
  const hu_view x = hu_matrix_of(NULL, 1, hu_type_values(HU_TYPE_VALUES32, a)),
                y = hu_matrix_of(NULL, 1, hu_type_values(HU_TYPE_VALUES32, b));
  const hu_output result = hu_matrix_floats_out(NULL, 1);
  return hu_gemm(0, 0, 0, &result, &x, &y, NULL, accum, NULL);
}

hu_status hui_operands_taken(const hu_net *net, const hu_operator *op, unsigned *part, hu_format *format) {
  static const unsigned parts[3][2] = {
      {HU_PART_Z_X, HU_PART_Z_W}, {HU_PART_DX_DZ, HU_PART_DX_W}, {HU_PART_DW_X, HU_PART_DW_DZ}};
  for (int i = 0; i < 3; i++) {
    if (i == 1 && !hui_needs_gradient(net, op->in[0])) continue;
    hu_format a = format_of(net, op, parts[i][0]), b = format_of(net, op, parts[i][1]);
    hu_status status = try_product(a, b, hui_accum_of(op, parts[i][0]));
    if (status == HU_OK) continue;
    *part = parts[i][status == HU_E_OPERAND_B];
    *format = status == HU_E_OPERAND_B ? b : a;
    return status;
  }
  return HU_OK;
}
