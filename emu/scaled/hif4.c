/* SPDX-License-Identifier: MIT */
/* HiFloat4 (halfulp/scaled.h), element by element. Products of two bfloat16 numbers, and of these with powers of two,
 * are exact in binary64 in whatever rounding direction the CPU is. */
#include "halfulp/scaled.h"

#include <string.h>

#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/matrix_extent.h"
#include "emu/core/bits.h"
#include "emu/scaled/call.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

enum { NAN_SCALE = 255, LAST_SCALE = 254, BIAS = 48, GROUPS = 8 };

/* ---- numbers ---- */

/* Rounds x to bfloat16, ties to even. */
static double to_bfloat16(double x) {
  const hu_mode rne = {0};
  return hu_quantize64(hu_bfloat16(), rne, x, 0, NULL);
}

static double one_seventh(void) { return hu_decode64(hu_bfloat16(), 0x3E12); }

/* Returns 2^exponent, which is normal here. libm's ldexp would have to be linked. */
static double power_of_2(int exponent) { return hui_double_of_bits((uint64_t)(1023 + exponent) << 52); }

static double value_of_scale(unsigned c) { return (4 + c % 4) * power_of_2((int)(c / 4) - BIAS - 2); }

/* Returns the code of S > 0 rounded to three digits: S = q 2^e, q from 4 to 8. */
static unsigned code_of_scale(double scale, const hu_hif4 *kind) {
  if (scale < 0x1p-48) return kind->low == HU_HIF4_LOW_NAN ? NAN_SCALE : 0;
  if (scale >= 0x1.ap15) return kind->high == HU_HIF4_HIGH_NAN ? NAN_SCALE : LAST_SCALE;
  int exponent = (int)(hui_bits_of_double(scale) >> 52) - 1023;
  double scaled = scale * power_of_2(2 - exponent);
  int digits = (int)scaled;
  if (scaled - digits > 0.5 || (scaled - digits == 0.5 && digits % 2)) digits++;
  return (unsigned)(4 * (exponent + BIAS) + digits - 4); /* digits = 8 is the next binade's first code */
}

/* ---- a block ---- */

typedef struct hif4_block {
  size_t n;
  double y[HU_HIF4_BLOCK]; /* bfloat16 numbers */
  uint8_t scale[HU_HIF4_SCALE];
  uint8_t codes[HU_HIF4_BLOCK];
  double inverse; /* r */
  int blank;      /* 1: all elements are 0 */
} hif4_block;

static int is_nan(const hif4_block *block) { return block->scale[0] == NAN_SCALE; }

static int eighth_bit(const uint8_t *scale, size_t i) { return scale[1] >> i / 8 & 1; }
static int fourth_bit(const uint8_t *scale, size_t i) { return scale[2 + i / 32] >> i / 4 % 8 & 1; }

static double product(const hu_hif4 *kind, double a, double inverse, int of_element) {
  int exact = kind->products == HU_HIF4_EXACT || (kind->products == HU_HIF4_MIXED && !of_element);
  return exact ? a * inverse : to_bfloat16(a * inverse);
}

static double largest(const hif4_block *block, size_t first, size_t count) {
  double z = 0;
  for (size_t i = first; i < first + count && i < block->n; i++) {
    double a = block->y[i] < 0 ? -block->y[i] : block->y[i];
    if (a > z) z = a;
  }
  return z;
}

static int has_special(const hif4_block *block) {
  for (size_t i = 0; i < block->n; i++) {
    if (!(block->y[i] - block->y[i] == 0)) return 1;
  }
  return 0;
}

static void choose_bits(hif4_block *block, const hu_hif4 *kind) {
  for (size_t k = 0; k < GROUPS; k++) {
    int bit = product(kind, largest(block, 8 * k, 8), block->inverse, 0) >= 4;
    block->scale[1] = (uint8_t)(block->scale[1] | bit << k);
  }
  for (size_t k = 0; k < 2 * GROUPS; k++) {
    double scaled = product(kind, largest(block, 4 * k, 4), block->inverse, 0);
    int bit = (eighth_bit(block->scale, 4 * k) ? scaled / 2 : scaled) >= 2;
    block->scale[2 + k / 8] = (uint8_t)(block->scale[2 + k / 8] | bit << k % 8);
  }
}

static void choose_scale(hif4_block *block, const hu_hif4 *kind) {
  memset(block->scale, 0, sizeof block->scale);
  block->blank = 0;
  block->inverse = 0;
  if (has_special(block)) {
    block->scale[0] = NAN_SCALE;
    return;
  }
  block->scale[0] = (uint8_t)code_of_scale(to_bfloat16(largest(block, 0, block->n) * one_seventh()), kind);
  block->blank = block->scale[0] == 0 && kind->low == HU_HIF4_LOW_ZERO;
  if (is_nan(block) || block->blank) return;
  block->inverse = to_bfloat16(1 / value_of_scale(block->scale[0]));
  choose_bits(block, kind);
}

/* ---- its elements ---- */

static uint32_t events_without_code(const hif4_block *block, double y) {
  if (y != y) return HU_EVENT_NAN_IN;
  if (y - y != 0) return HU_EVENT_INF_IN | HU_EVENT_INVALID;
  if (is_nan(block)) return HU_EVENT_INEXACT;
  return y != 0 ? HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO : 0;
}

static uint8_t code_of(const hif4_block *block, const hu_hif4 *kind, size_t i, uint32_t *events) {
  double y = block->y[i];
  *events = 0;
  if (is_nan(block) || block->blank) {
    *events = events_without_code(block, y);
    return 0;
  }
  if (y == 0) return 0;
  hu_mode mode = {0};
  mode.round = kind->ties == HU_HIF4_AWAY ? HU_RNA : HU_RNE;
  mode.saturate = HU_SAT_FINITE;
  double scaled =
      product(kind, y, block->inverse, 1) * power_of_2(-eighth_bit(block->scale, i) - fourth_bit(block->scale, i));
  return (uint8_t)hu_encode64(hu_float4_e1m2(), mode, scaled, 0, events);
}

static void encode_block(hif4_block *block, size_t n, const float *x, const hu_hif4 *kind, hu_events *events) {
  const hu_mode rne = {0};
  block->n = n;
  for (size_t i = 0; i < n; i++) block->y[i] = hu_decode64(hu_bfloat16(), hu_encode(hu_bfloat16(), rne, x[i], 0, NULL));
  choose_scale(block, kind);
  for (size_t i = 0; i < n; i++) {
    uint32_t what;
    block->codes[i] = code_of(block, kind, i, &what);
    if (events) hu_events_count(events, what);
  }
}

/* Returns binary32 numbers: of at most six digits, from 2^-50 to 10.5 2^15. */
static float value_of(const uint8_t *scale, uint8_t code, size_t i) {
  if (scale[0] == NAN_SCALE) return hui_float_of_bits(0x7FC00000);
  double scaled = hu_decode64(hu_float4_e1m2(), code);
  return (float)(scaled * value_of_scale(scale[0]) * power_of_2(eighth_bit(scale, i) + fourth_bit(scale, i)));
}

/* ---- matrices ---- */

static size_t blocks_in(size_t cols) { return cols / HU_HIF4_BLOCK + (cols % HU_HIF4_BLOCK != 0); }

/* Checks codes, scales and values, which are all apart. */
static hu_status check_places(size_t rows, size_t cols, const hu_scaled *codes, const float *x, size_t ldx) {
  hu_matrix_extent list[3];
  size_t of_row = blocks_in(cols) * HU_HIF4_SCALE, lds = codes->lds;
  if (lds < blocks_in(cols) || lds > SIZE_MAX / HU_HIF4_SCALE) return HU_E_SHAPE;
  hu_status status = hui_matrix_extent_of(&list[0], codes->codes, rows, cols, codes->ld, 1, 1);
  if (status == HU_OK) status = hui_matrix_extent_of(&list[1], codes->scales, rows, of_row, lds * HU_HIF4_SCALE, 1, 1);
  if (status == HU_OK) status = hui_matrix_extent_of(&list[2], x, rows, cols, ldx, sizeof *x, sizeof *x);
  for (int i = 0; i < 3 && status == HU_OK; i++) {
    if (hui_matrix_extents_overlap(&list[i], &list[(i + 1) % 3])) status = HU_E_OVERLAP;
  }
  return status;
}

/* Checks the values that x becomes; z may be x. */
static hu_status check_values(size_t rows, size_t cols, const float *z, size_t ldz, const float *x, size_t ldx) {
  hu_matrix_extent to, from;
  hu_status status = hui_matrix_extent_of(&to, z, rows, cols, ldz, sizeof *z, sizeof *z);
  if (status == HU_OK) status = hui_matrix_extent_of(&from, x, rows, cols, ldx, sizeof *x, sizeof *x);
  if (status != HU_OK || (z == x && ldz == ldx)) return status;
  return hui_matrix_extents_overlap(&to, &from) ? HU_E_OVERLAP : HU_OK;
}

static uint8_t *scale_at(const hu_scaled *codes, size_t i, size_t j) {
  return (uint8_t *)codes->scales + HU_HIF4_SCALE * (i * codes->lds + j / HU_HIF4_BLOCK);
}

/* Makes the block of x that begins at element (i, j): codes and a scale, or values in z. */
static void make_block(const hu_scaled_call *call, const hu_hif4 *kind, const float *x, float *z, size_t i, size_t j) {
  const hu_scaled *codes = call->codes;
  hif4_block block;
  encode_block(&block, hui_least(HU_HIF4_BLOCK, call->cols - j), x + i * call->ldx + j, kind, call->events);
  if (codes) {
    memcpy((uint8_t *)codes->codes + i * codes->ld + j, block.codes, block.n);
    memcpy(scale_at(codes, i, j), block.scale, sizeof block.scale);
  } else {
    for (size_t k = 0; k < block.n; k++) z[i * call->ldz + j + k] = value_of(block.scale, block.codes[k], k);
  }
}

hu_status hui_hif4_make(hu_scaled_call *call, const hu_type *type) {
  const size_t rows = call->rows, cols = call->cols;
  const float *x = (const float *)(const void *)call->x;
  float *z = (float *)(void *)call->z;
  if (hui_is_elsewhere(call->exec)) return HU_E_DEVICE;
  hu_status status = hu_hif4_check(type->hif4);
  if (status == HU_OK)
    status = call->codes ? check_places(rows, cols, call->codes, x, call->ldx)
                         : check_values(rows, cols, z, call->ldz, x, call->ldx);
  for (size_t i = 0; i < rows && status == HU_OK; i++) {
    for (size_t j = 0; j < cols; j += HU_HIF4_BLOCK) make_block(call, type->hif4, x, z, i, j);
  }
  return status;
}

hu_status hui_hif4_decode(hu_scaled_call *call, const hu_type *type) {
  const hu_scaled *x = call->codes;
  const uint8_t *codes = x->codes;
  float *z = (float *)(void *)call->z;
  (void)type; /* all kinds decode alike */
  if (hui_is_elsewhere(call->exec)) return HU_E_DEVICE;
  hu_status status = check_places(call->rows, call->cols, x, z, call->ldz);
  if (status == HU_OK) status = hui_code_rows_check(call->rows, call->cols, codes, x->ld, hu_float4_e1m2(), 1);
  for (size_t i = 0; i < call->rows && status == HU_OK; i++) {
    for (size_t j = 0; j < call->cols; j++)
      z[i * call->ldz + j] = value_of(scale_at(x, i, j), codes[i * x->ld + j], j % HU_HIF4_BLOCK);
  }
  return status;
}
