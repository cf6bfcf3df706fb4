/* SPDX-License-Identifier: MIT */
/* Presets of scaled tensors: hu_conversion_apply_scaled. A preset that is one encoding and nothing else goes to the
 * calls of scaled.h as it is. One with steps before goes in stretches of a row,
 * which are whole blocks, so that no step sees less than it has to. */
#include <string.h>

#include "emu/base/exec.h"
#include "emu/conversion/steps.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "emu/scaled/call.h"
#include "emu/scaled/check.h"
#include "halfulp/scalar.h"

typedef struct preset {
  const hu_conversion *conversion;
  hu_scaling scaling, through; /* the latter if has_through */
  int has_first, has_through;
} preset;

static hu_status read_preset(preset *given, const hu_conversion *conversion) {
  hu_status status = hu_conversion_check(conversion);
  if (status != HU_OK) return status;
  memset(given, 0, sizeof *given);
  given->conversion = conversion;
  given->has_first = hui_conversion_has_first(conversion);
  given->has_through = hui_conversion_has_through(conversion);
  if (hu_scaling_parse(&given->scaling, conversion->scaling, NULL) != HU_OK) return HU_E_SCALING; /* "" */
  return given->has_through ? hu_scaling_parse(&given->through, conversion->through, NULL) : HU_OK;
}

static int has_steps(const preset *given) { return given->has_first || given->has_through; }

static uint32_t pattern_of(float x) {
  uint32_t pattern;
  memcpy(&pattern, &x, sizeof pattern);
  return pattern;
}

static int is_minus_zero(const float *x) { return pattern_of(*x) == 0x80000000u; }

/* ---- codes afterwards ---- */

/* The code of rn(x times the largest binary32 number). The product has 48 digits and is exact in binary64. */
static uint32_t raised_code(const preset *given, float x) {
  const hu_mode rne = {0};
  double product = hui_double_of_bits(hui_pack64(hui_unpack32(pattern_of(x)))) * 0x1.fffffep127;
  hu_mode mode = given->conversion->mode;
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  return hu_encode64(given->scaling.element, mode, hu_quantize64(hui_format_binary32(), rne, product, 0, NULL), 0,
                     NULL);
}

/* Whether the block of element (i, j) has the scale 0. */
static int under_zero(const preset *given, const hu_scaled *z, const hu_spec *scale, size_t i, size_t j) {
  size_t size = hui_code_bytes(given->scaling.scale);
  size_t block = (given->scaling.rows ? i / given->scaling.rows : 0) * z->lds +
                 (given->scaling.cols ? j / given->scaling.cols : 0);
  return hui_unpack(scale, hui_load_code((const uint8_t *)z->scales + block * size, size)).kind == HU_KIND_ZERO;
}

static void raise_codes(const preset *given, size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx) {
  const hu_mode rne = {0};
  size_t size = hui_code_bytes(given->scaling.element);
  hu_spec scale = hui_spec_of(given->scaling.scale, rne);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      uint8_t *at = (uint8_t *)z->codes + (i * z->ld + j) * size;
      if (is_minus_zero(x + i * ldx + j))
        hui_store_code(at, size, 0);
      else if (under_zero(given, z, &scale, i, j))
        hui_store_code(at, size, raised_code(given, x[i * ldx + j]));
    }
}

/* ---- steps before ---- */

/* Returns how many columns a stretch of a row has: as many whole blocks as fit. */
static size_t stretch_of(const preset *given) { return HU_CONVERSION_COLS / given->scaling.cols * given->scaling.cols; }

/* y = the n elements of x after the steps `first` and `through`. */
static hu_status step(float *y, size_t n, const float *x, const preset *given, const hu_exec *exec) {
  const hu_conversion *conversion = given->conversion;
  hu_status status = HU_OK;
  memcpy(y, x, n * sizeof *y);
  if (given->has_first) status = hu_quantize_n(n, y, 1, y, 1, conversion->first, conversion->first_mode, exec, NULL);
  if (status != HU_OK || !given->has_through) return status;
  return hu_scaled_quantize(1, n, y, n, y, n, &given->through, conversion->first_mode, NULL, NULL, exec, NULL);
}

/* What a preset makes: codes, or values. */
typedef struct target {
  const hu_scaled *codes; /* NULL: values */
  float *values;
  size_t ld;
  hu_scaled_stats *stats;
} target;

/* Converts elements j to j + n of row i. */
static hu_status stretch(const target *to, size_t i, size_t j, size_t n, const float *y, const preset *given,
                         const hu_exec *exec, hu_events *events, size_t block_cols) {
  const hu_conversion *conversion = given->conversion;
  size_t block = j / given->scaling.cols;
  hu_scaled_stats *stats = to->stats ? to->stats + i * block_cols + block : NULL;
  if (!to->codes)
    return hu_scaled_quantize(1, n, to->values + i * to->ld + j, to->ld, y, n, &given->scaling, conversion->mode, NULL,
                              stats, exec, events);
  const hu_scaled *z = to->codes;
  hu_scaled part = *z;
  part.codes = (uint8_t *)z->codes + (i * z->ld + j) * hui_code_bytes(given->scaling.element);
  part.scales = (uint8_t *)z->scales + (i * z->lds + block) * hui_code_bytes(given->scaling.scale);
  return hu_scaled_encode(1, n, &part, y, n, &given->scaling, conversion->mode, NULL, stats, exec, events);
}

static hu_status run(const target *to, const hu_scaled_call *call, const preset *given) {
  float y[HU_CONVERSION_COLS];
  const float *x = (const float *)(const void *)call->x;
  const size_t cols = call->cols, most = stretch_of(given);
  hu_stream none = {0, 0};
  hu_exec one = {1, call->exec ? call->exec->levels_off : 0, call->exec ? call->exec->stream : none, {0}};
  size_t block_cols = hui_scaled_shape_of(call->rows, cols, &given->scaling).block_cols;
  uint64_t first = one.stream.counter;
  hu_status status = HU_OK;
  for (size_t i = 0; status == HU_OK && i < call->rows; i++)
    for (size_t j = 0; status == HU_OK && j < cols; j += most) {
      size_t n = cols - j < most ? cols - j : most;
      one.stream.counter = first + (uint64_t)i * cols + j;
      status = step(y, n, x + i * call->ldx + j, given, &one);
      if (status == HU_OK) status = stretch(to, i, j, n, y, given, &one, call->events, block_cols);
    }
  return status;
}

/* What hu_scaled_apply checks. */
static hu_status check(const hu_scaled_call *call, const preset *given) {
  return hui_scaled_made_check(call->rows, call->cols, call->codes, (float *)(void *)call->z, call->ldz,
                               (const float *)(const void *)call->x, call->ldx, &given->scaling, call->mode, call->amax,
                               call->stats);
}

/* Copies the operands to the place of the values and makes +0 of each -0. Their codes are then those of raise_codes,
 * except in blocks whose scale is 0. There both give the same values: zeros with the signs of the operands. */
static hu_status drop_signs(hu_scaled_call *call, const preset *given) {
  uint32_t amax = call->amax ? pattern_of(*call->amax) : 0;
  hu_status status = check(call, given);
  if (status == HU_OK && amax >= 0x7F800000 && amax != 0x80000000u) status = HU_E_SCALING;
  if (status != HU_OK) return status;
  for (size_t i = 0; i < call->rows; i++)
    for (size_t j = 0; j < call->cols; j++) {
      uint32_t x = call->x[i * call->ldx + j];
      call->z[i * call->ldz + j] = x == 0x80000000u ? 0 : x;
    }
  call->x = call->z;
  call->ldx = call->ldz;
  return HU_OK;
}

static hu_status convert(hu_scaled_call *call, const preset *given) {
  int raised = given->conversion->codes == HU_SCALED_CODES_RAISED;
  hu_type type = hu_type_scaled(HU_TYPE_SCALED, &given->scaling);
  hu_status status = HU_OK;
  if (has_steps(given)) {
    target to = {call->codes, (float *)(void *)call->z, call->ldz, call->stats};
    status = check(call, given);
    return status == HU_OK ? run(&to, call, given) : status;
  }
  if (raised && !call->codes) status = drop_signs(call, given);
  if (status == HU_OK) status = hui_scaled_make(call, &type);
  if (status == HU_OK && raised && call->codes)
    raise_codes(given, call->rows, call->cols, call->codes, (const float *)(const void *)call->x, call->ldx);
  return status;
}

hu_status hu_conversion_apply_scaled(size_t rows, size_t cols, const hu_output *z, const hu_view *x,
                                     const hu_conversion *conversion, const hu_scaled_extra *extra, const hu_exec *exec,
                                     hu_events *events) {
  hu_scaled_call call = {.rows = rows, .cols = cols, .exec = exec, .events = events};
  preset given;
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  if (!z || !x) return HU_E_NULL;
  hu_status status = read_preset(&given, conversion);
  if (status == HU_OK) status = hui_scaled_ends(&call, z, x, extra);
  if (status != HU_OK) return status;
  if (z->type.kind != HU_TYPE_SCALED && z->type.kind != HU_TYPE_SCALED_VALUES) return HU_E_FORMAT;
  call.mode = conversion->mode;
  return convert(&call, &given);
}
