/* SPDX-License-Identifier: MIT */
/* Checks descriptions of scaled tensors, and computes the sizes of a matrix under one. */
#include "emu/core/scaled.h"
#include "emu/scaled/call.h"
#include "emu/scaled/formula.h"
#include "emu/core/four_six.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"

static int is_binary32(hu_format format) { return hu_format_equal(format, hui_format_binary32()); }

static hu_status refuse(const char **why, hu_status status, const char *sentence) {
  if (why) *why = sentence;
  return status;
}

static const char *wrong_element(const hu_scaling *scaling) {
  hu_format format = scaling->element;
  if (!format.sign) return "element: the format has no sign";
  if (scaling->coding == HU_CODING_TWOS && (format.e || format.m == 0 || format.negzero || format.inf != HU_INF_NONE ||
                                            format.nan != HU_NAN_NONE || format.m > 30)) {
    return "code: two's complement requires a fixed-point format, all codes finite, without -0";
  }
  if (scaling->minus && !format.negzero) return "minus: the format has no -0";
  return NULL;
}

static const char *wrong_scale(const hu_scaling *scaling, const hu_scaler *scaler) {
  if (scaler->low > scaler->high) return "scale: the format has no power of two";
  if (scaling->special == HU_SPECIAL_NAN && scaling->scale.nan == HU_NAN_NONE)
    return "special: the scale format has no NaN";
  if (scaling->blank == HU_BLANK_ZERO && !hui_has_zero(&scaler->scale)) return "zero: the scale format has no zero";
  if (scaling->blank == HU_BLANK_ONE && (scaler->low > 0 || scaler->high < 0))
    return "zero: the scale format has no one";
  return NULL;
}

static const char *wrong_blocks_of_trials(const hu_scaling *scaling) {
  if (scaling->rows - 1u >= HU_FOUR_SIX_SIDE || scaling->cols - 1u >= HU_FOUR_SIX_SIDE)
    return "block: 4over6, sweep and intfloat require at most 16 rows and 16 columns";
  return scaling->round > HU_RAZ ? "round: not a deterministic mode from rne to raz" : NULL;
}

static const char *wrong_types(const hu_scaling *scaling) {
  hu_format element = scaling->element;
  if (!hu_format_equal(element, hu_float4_e2m1fn()) && !hu_format_equal(element, hu_float6_e2m3fn()) &&
      !hu_format_equal(element, hu_float6_e3m2fn()))
    return "rule: intfloat requires elements float4_e2m1fn, float6_e2m3fn or float6_e3m2fn";
  if (!hu_format_equal(scaling->scale, hu_float8_e4m3fn())) return "rule: intfloat requires scales float8_e4m3fn";
  if (scaling->steps != HU_STEPS_MULTIPLY || scaling->tensor != HU_TENSOR_MAX)
    return "rule: intfloat requires steps multiply and a second level";
  return wrong_blocks_of_trials(scaling);
}

static const char *wrong_four_six(const hu_scaling *scaling) {
  int scale = hu_format_equal(scaling->scale, hu_ue4m3()) || hu_format_equal(scaling->scale, hu_float8_e4m3fn());
  int sweep = scaling->rule == HU_SCALE_SWEEP_MSE, steps = scaling->steps == HU_STEPS_MULTIPLY;
  if (!hu_format_equal(scaling->element, hu_float4_e2m1fn()))
    return "rule: 4over6 and sweep require elements float4_e2m1fn";
  if (!scale) return "rule: 4over6 and sweep require scales ue4m3 or float8_e4m3fn";
  if (!sweep && (!steps || !scaling->tensor)) return "rule: 4over6 requires steps multiply and a second level";
  if (sweep && !steps && scaling->steps != HU_STEPS_DIVIDE) return "rule: sweep requires steps divide or multiply";
  if (sweep && scaling->tensor == HU_TENSOR_256) return "tensor: 256 goes with the rules 4over6";
  return wrong_blocks_of_trials(scaling);
}

static const char *wrong_formulas(const hu_scaling *scaling, const hu_scaler *scaler) {
  if (scaling->round > HU_RAZ) return "round: not a deterministic mode from rne to raz";
  if (scaling->steps) return "steps: formulas have their own";
  if (!(scaler->scale.fits_binary32 && scaler->element.fits_binary32))
    return "formulas: they require scales and elements that are binary32 numbers";
  return hui_formulas_wrong(scaling);
}

static const char *wrong_rule(const hu_scaling *scaling, const hu_scaler *scaler) {
  static const hu_formulas none;
  if (scaling->rule == HU_SCALE_FORMULAS) return wrong_formulas(scaling, scaler);
  if (memcmp(&scaling->formulas, &none, sizeof none) != 0) return "formulas: they stand in place of rule";
  if (scaling->blank == HU_BLANK_FORMULA) return "zero: there is no formula";
  if (scaling->rule >= HU_SCALE_INTFLOAT_MAE) return wrong_types(scaling);
  if (scaling->rule >= HU_SCALE_4OVER6_MAE) return wrong_four_six(scaling);
  if (scaling->tensor == HU_TENSOR_256) return "tensor: 256 goes with the rules 4over6";
  if (scaling->rule != HU_SCALE_RATIO) {
    if (scaling->round) return "round: only rule ratio rounds its scales";
    if (scaling->steps) return "steps: powers of two require exact";
    return scaling->tensor ? "tensor: a second level requires rule ratio" : NULL;
  }
  if (scaling->round > HU_RAZ) return "round: not a deterministic mode from rne to raz";
  if (scaling->steps != HU_STEPS_EXACT && !(scaler->scale.fits_binary32 && scaler->element.fits_binary32)) {
    return "steps: in binary32 they require scales and elements that are binary32 numbers";
  }
  if (scaling->tensor && (scaling->element.m > 7 || scaling->scale.m > 7))
    return "tensor: at most 7 trailing significand bits";
  if (scaling->steps == HU_STEPS_ENCODE && !scaling->tensor && !is_binary32(scaling->scale)) {
    return "steps: encode without a second level requires binary32 scales";
  }
  return NULL;
}

hu_status hui_scaling_unfold(hu_scaler *scaler, const hu_scaling *scaling, hu_mode mode, const char **why) {
  const char *wrong = NULL;
  if (!scaling) return refuse(why, HU_E_NULL, "no description");
  if (hu_format_check(scaling->element, NULL) != HU_OK) return refuse(why, HU_E_FORMAT, "element: not a format");
  if (hu_format_check(scaling->scale, NULL) != HU_OK) return refuse(why, HU_E_FORMAT, "scale: not a format");
  if (scaling->rows > INT32_MAX || scaling->cols > INT32_MAX) wrong = "block: a side is more than 2147483647";
  if (scaling->rule >= HU_SCALE_RULES) wrong = "rule: unknown";
  if (scaling->steps >= HU_STEPS_COUNT) wrong = "steps: unknown";
  if (scaling->tensor > HU_TENSOR_256 || scaling->pad > 1) wrong = "tensor, pad: unknown";
  if (scaling->coding > HU_CODING_TWOS) wrong = "code: unknown";
  if (scaling->special > HU_SPECIAL_SATURATE) wrong = "special: unknown";
  if (scaling->minus > HU_MINUS_ZERO_ALL) wrong = "minus: unknown";
  if (scaling->reserved[0] | scaling->reserved[1] | scaling->reserved[2]) wrong = "reserved: not 0";
  if (scaling->blank > HU_BLANK_FORMULA) wrong = "zero: unknown";
  if (scaling->amin >= 0x7F800000) wrong = "amin: not a positive finite number";
  if (!wrong) wrong = wrong_element(scaling);
  *scaler = hui_scaler_of(*scaling, mode);
  if (!wrong) wrong = wrong_rule(scaling, scaler);
  if (!wrong) wrong = wrong_scale(scaling, scaler);
  return wrong ? refuse(why, HU_E_SCALING, wrong) : HU_OK;
}

hu_status hu_scaling_check(const hu_scaling *scaling, const char **why) {
  hu_mode rne = {0};
  hu_scaler scaler;
  return hui_scaling_unfold(&scaler, scaling, rne, why);
}

/* ---- sizes ---- */

static size_t times(size_t a, size_t b) {
  size_t z;
  return a == SIZE_MAX || b == SIZE_MAX || __builtin_mul_overflow(a, b, &z) ? SIZE_MAX : z;
}

static size_t filled_up(size_t n, uint32_t side, int pad) {
  return pad && side ? times(hui_blocks_along(n, side), side) : n;
}

hu_scaled_sizes hu_scaled_sizes_of(size_t rows, size_t cols, const hu_scaling *scaling) {
  hu_scaled_sizes z = {0};
  if (hu_scaling_check(scaling, NULL) != HU_OK) return z;
  unsigned width = 1u + scaling->element.e + scaling->element.m;
  z.block_rows = hui_blocks_along(rows, scaling->rows);
  z.block_cols = hui_blocks_along(cols, scaling->cols);
  z.code_bytes = hui_code_bytes(scaling->element);
  z.scale_bytes = hui_code_bytes(scaling->scale);
  z.codes = times(times(rows, cols), z.code_bytes);
  z.scales = times(times(z.block_rows, z.block_cols), z.scale_bytes);
  if (width > 8) return z;
  size_t across = filled_up(cols, scaling->cols, scaling->pad), down = filled_up(rows, scaling->rows, scaling->pad);
  z.packed_row = across == SIZE_MAX ? SIZE_MAX : hu_pack_size(across, width);
  z.packed = times(down, z.packed_row);
  return z;
}

/* hu_scaled_sizes_of would check the description once more. */
hu_scaled_shape hui_scaled_shape_of(size_t rows, size_t cols, const hu_scaling *scaling) {
  hu_scaled_shape shape;
  shape.rows = rows;
  shape.cols = cols;
  shape.side_rows = scaling->rows && scaling->rows < rows ? scaling->rows : rows;
  shape.side_cols = scaling->cols && scaling->cols < cols ? scaling->cols : cols;
  shape.block_rows = hui_blocks_along(rows, scaling->rows);
  shape.block_cols = hui_blocks_along(cols, scaling->cols);
  shape.code_size = hui_code_bytes(scaling->element);
  shape.scale_size = hui_code_bytes(scaling->scale);
  return shape;
}
