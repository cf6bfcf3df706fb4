/* SPDX-License-Identifier: MIT */
/* hu_multiply: what a product's records say decides which code computes it. */
#include "emu/base/device_calls.h"
#include "emu/gemm/check.h"
#include "emu/s2fp8/gemm.h"
#include "emu/scaled_gemm/plan.h"
#include "emu/scaled_gemm/scaled_gemm.h"

hu_status hu_multiply(const hu_product *product, const hu_how *how) {
  static const hu_how plain;
  if (!product) return HU_E_NULL;
  if (!how) how = &plain;
  if (hui_is_elsewhere(how->exec)) return HUI_THERE(how->exec, multiply, (product, how));
  if (product->sum) return hui_scaled_gemm(product, how);
  return product->a.type.kind == HU_TYPE_S2FP8 ? hui_s2fp8_gemm(product, how) : hui_gemm(product, how);
}

size_t hu_multiply_space(const hu_product *product, const hu_exec *exec) {
  hu_scaled_plan plan;
  if (!product) return SIZE_MAX;
  if (hui_is_elsewhere(exec)) return HUI_BYTES_THERE(exec, multiply_space, (product, exec));
  if (!product->sum) return 0;
  return hui_scaled_plan_size(&plan, product, exec, 0) == HU_OK ? plan.bytes : SIZE_MAX;
}
