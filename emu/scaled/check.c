/* SPDX-License-Identifier: MIT */
/* Checks descriptions of scaled tensors, and computes the sizes of a matrix under one. */
#include "emu/core/scaled.h"
#include "emu/scaled/call.h"
#include "emu/core/four_six.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"

static int is_binary32(hu_format f) { return hu_format_equal(f, hui_format_binary32()); }

static hu_status refuse(const char **why, hu_status status, const char *sentence) {
  if (why) *why = sentence;
  return status;
}

static const char *wrong_element(const hu_scaling *d) {
  hu_format f = d->element;
  if (!f.sign) return "element: the format has no sign";
  if (d->coding == HU_CODING_TWOS &&
      (f.e || f.m == 0 || f.negzero || f.inf != HU_INF_NONE || f.nan != HU_NAN_NONE || f.m > 30)) {
    return "code: two's complement wants a fixed-point format, all codes finite, without -0";
  }
  return NULL;
}

static const char *wrong_scale(const hu_scaling *d) {
  hu_mode rne = {0};
  hu_scaler s = hui_scaler_of(*d, rne);
  if (s.low > s.high) return "scale: the format has no power of two";
  if (d->special == HU_SPECIAL_NAN && d->scale.nan == HU_NAN_NONE) return "special: the scale format has no NaN";
  if (d->blank == HU_BLANK_ZERO && d->scale.zero == HU_ZERO_NONE) return "zero: the scale format has no zero";
  if (d->blank == HU_BLANK_ONE && (s.low > 0 || s.high < 0)) return "zero: the scale format has no one";
  return NULL;
}

static const char *wrong_four_six(const hu_scaling *d) {
  int scale = hu_format_equal(d->scale, hu_ue4m3()) || hu_format_equal(d->scale, hu_float8_e4m3fn());
  int sweep = d->rule == HU_SCALE_SWEEP_MSE, steps = d->steps == HU_STEPS_MULTIPLY;
  if (!hu_format_equal(d->element, hu_float4_e2m1fn())) return "rule: 4over6 and sweep require elements float4_e2m1fn";
  if (!scale) return "rule: 4over6 and sweep require scales ue4m3 or float8_e4m3fn";
  if (!sweep && (!steps || !d->tensor)) return "rule: 4over6 requires steps multiply and a second level";
  if (sweep && !steps && d->steps != HU_STEPS_DIVIDE) return "rule: sweep requires steps divide or multiply";
  if (sweep && d->tensor == HU_TENSOR_256) return "tensor: 256 goes with the rules 4over6";
  if (d->rows - 1u >= HU_FOUR_SIX_SIDE || d->cols - 1u >= HU_FOUR_SIX_SIDE) {
    return "block: 4over6 and sweep require at most 16 rows and 16 columns";
  }
  return d->round > HU_RAZ ? "round: not a deterministic mode from rne to raz" : NULL;
}

static const char *wrong_rule(const hu_scaling *d) {
  if (d->rule >= HU_SCALE_4OVER6_MAE) return wrong_four_six(d);
  if (d->tensor == HU_TENSOR_256) return "tensor: 256 goes with the rules 4over6";
  if (d->rule != HU_SCALE_RATIO) {
    if (d->round) return "round: only rule ratio rounds its scales";
    if (d->steps) return "steps: powers of two want exact";
    return d->tensor ? "tensor: a second level wants rule ratio" : NULL;
  }
  if (d->round > HU_RAZ) return "round: not a deterministic mode from rne to raz";
  if (d->steps != HU_STEPS_EXACT && !(hu_format_fits_binary32(d->scale) && hu_format_fits_binary32(d->element))) {
    return "steps: in binary32 they want scales and elements that are binary32 numbers";
  }
  if (d->tensor && (d->element.m > 7 || d->scale.m > 7)) return "tensor: at most 7 trailing significand bits";
  if (d->steps == HU_STEPS_ENCODE && !d->tensor && !is_binary32(d->scale)) {
    return "steps: encode without a second level wants binary32 scales";
  }
  return NULL;
}

hu_status hu_scaling_check(const hu_scaling *d, const char **why) {
  const char *wrong = NULL;
  if (!d) return refuse(why, HU_E_NULL, "no description");
  if (hu_format_check(d->element, NULL) != HU_OK) return refuse(why, HU_E_FORMAT, "element: not a format");
  if (hu_format_check(d->scale, NULL) != HU_OK) return refuse(why, HU_E_FORMAT, "scale: not a format");
  if (d->rows > INT32_MAX || d->cols > INT32_MAX) wrong = "block: a side is more than 2147483647";
  if (d->rule >= HU_SCALE_RULES) wrong = "rule: unknown";
  if (d->steps >= HU_STEPS_COUNT) wrong = "steps: unknown";
  if (d->tensor > HU_TENSOR_256 || d->pad > 1) wrong = "tensor, pad: unknown";
  if (d->coding > HU_CODING_TWOS) wrong = "code: unknown";
  if (d->special > HU_SPECIAL_SATURATE) wrong = "special: unknown";
  if (d->blank > HU_BLANK_ZERO) wrong = "zero: unknown";
  if (d->amin >= 0x7F800000) wrong = "amin: not a positive finite number";
  if (!wrong) wrong = wrong_element(d);
  if (!wrong) wrong = wrong_rule(d);
  if (!wrong) wrong = wrong_scale(d);
  return wrong ? refuse(why, HU_E_SCALING, wrong) : HU_OK;
}

/* ---- sizes ---- */

static size_t times(size_t a, size_t b) {
  size_t z;
  return a == SIZE_MAX || b == SIZE_MAX || __builtin_mul_overflow(a, b, &z) ? SIZE_MAX : z;
}

static size_t filled_up(size_t n, uint32_t side, int pad) {
  return pad && side ? times(hui_blocks_along(n, side), side) : n;
}

hu_scaled_sizes hu_scaled_sizes_of(size_t rows, size_t cols, const hu_scaling *d) {
  hu_scaled_sizes z = {0};
  if (hu_scaling_check(d, NULL) != HU_OK) return z;
  unsigned width = 1u + d->element.e + d->element.m;
  z.block_rows = hui_blocks_along(rows, d->rows);
  z.block_cols = hui_blocks_along(cols, d->cols);
  z.code_bytes = hui_code_bytes(d->element);
  z.scale_bytes = hui_code_bytes(d->scale);
  z.codes = times(times(rows, cols), z.code_bytes);
  z.scales = times(times(z.block_rows, z.block_cols), z.scale_bytes);
  if (width > 8) return z;
  size_t across = filled_up(cols, d->cols, d->pad), down = filled_up(rows, d->rows, d->pad);
  z.packed_row = across == SIZE_MAX ? SIZE_MAX : hu_pack_size(across, width);
  z.packed = times(down, z.packed_row);
  return z;
}

/* hu_scaled_sizes_of would check the description once more. */
hu_scaled_shape hui_scaled_shape_of(size_t rows, size_t cols, const hu_scaling *d) {
  hu_scaled_shape s;
  s.rows = rows;
  s.cols = cols;
  s.side_rows = d->rows && d->rows < rows ? d->rows : rows;
  s.side_cols = d->cols && d->cols < cols ? d->cols : cols;
  s.block_rows = hui_blocks_along(rows, d->rows);
  s.block_cols = hui_blocks_along(cols, d->cols);
  s.code_size = hui_code_bytes(d->element);
  s.scale_size = hui_code_bytes(d->scale);
  return s;
}
