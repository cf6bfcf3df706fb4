/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/hif4.h, element by element. Products of two bfloat16 numbers, and of these with powers of two,
 * are exact in binary64 in whatever rounding direction the processor is. */
#include "halfulp/hif4.h"

#include <string.h>

#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/matrix_extent.h"
#include "emu/core/bits.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

enum { NAN_SCALE = 255, LAST_SCALE = 254, BIAS = 48, GROUPS = 8 };

hu_hif4 hu_hif4_usual(void) {
  const hu_hif4 kind = {0, 0, 0, 0};
  return kind;
}

hu_status hu_hif4_check(const hu_hif4 *kind) {
  if (!kind) return HU_E_NULL;
  int good = kind->ties <= HU_HIF4_AWAY && kind->low <= HU_HIF4_LOW_NAN && kind->high <= HU_HIF4_HIGH_NAN &&
             kind->products <= HU_HIF4_MIXED;
  return good ? HU_OK : HU_E_SCALING;
}

/* ---- numbers ---- */

/* x rounded to bfloat16, ties to even. */
static double to_bfloat16(double x) {
  const hu_mode rne = {0};
  return hu_quantize64(hu_bfloat16(), rne, x, 0, NULL);
}

static double one_seventh(void) { return hu_decode64(hu_bfloat16(), 0x3E12); }

/* 2^e, which is normal here. libm's ldexp would have to be linked. */
static double power_of_2(int e) { return hui_double_of_bits((uint64_t)(1023 + e) << 52); }

static double value_of_scale(unsigned c) { return (4 + c % 4) * power_of_2((int)(c / 4) - BIAS - 2); }

/* The code of S > 0 rounded to three digits: S = q 2^e, q from 4 to 8. */
static unsigned code_of_scale(double s, const hu_hif4 *kind) {
  if (s < 0x1p-48) return kind->low == HU_HIF4_LOW_NAN ? NAN_SCALE : 0;
  if (s >= 0x1.ap15) return kind->high == HU_HIF4_HIGH_NAN ? NAN_SCALE : LAST_SCALE;
  int e = (int)(hui_bits_of_double(s) >> 52) - 1023;
  double scaled = s * power_of_2(2 - e);
  int q = (int)scaled;
  if (scaled - q > 0.5 || (scaled - q == 0.5 && q % 2)) q++;
  return (unsigned)(4 * (e + BIAS) + q - 4); /* q = 8 is the next binade's first code */
}

/* ---- a block ---- */

typedef struct block {
  size_t n;
  double y[HU_HIF4_BLOCK]; /* bfloat16 numbers */
  uint8_t scale[HU_HIF4_SCALE];
  uint8_t codes[HU_HIF4_BLOCK];
  double inverse; /* r */
  int blank;      /* 1: all elements are 0 */
} block;

static int is_nan(const block *b) { return b->scale[0] == NAN_SCALE; }

static int eighth_bit(const uint8_t *scale, size_t i) { return scale[1] >> i / 8 & 1; }
static int fourth_bit(const uint8_t *scale, size_t i) { return scale[2 + i / 32] >> i / 4 % 8 & 1; }

static double product(const hu_hif4 *kind, double a, double r, int of_element) {
  int exact = kind->products == HU_HIF4_EXACT || (kind->products == HU_HIF4_MIXED && !of_element);
  return exact ? a * r : to_bfloat16(a * r);
}

static double largest(const block *b, size_t first, size_t count) {
  double z = 0;
  for (size_t i = first; i < first + count && i < b->n; i++) {
    double a = b->y[i] < 0 ? -b->y[i] : b->y[i];
    if (a > z) z = a;
  }
  return z;
}

static int has_special(const block *b) {
  for (size_t i = 0; i < b->n; i++) {
    if (!(b->y[i] - b->y[i] == 0)) return 1;
  }
  return 0;
}

static void choose_bits(block *b, const hu_hif4 *kind) {
  for (size_t k = 0; k < GROUPS; k++) {
    int bit = product(kind, largest(b, 8 * k, 8), b->inverse, 0) >= 4;
    b->scale[1] = (uint8_t)(b->scale[1] | bit << k);
  }
  for (size_t k = 0; k < 2 * GROUPS; k++) {
    double p = product(kind, largest(b, 4 * k, 4), b->inverse, 0);
    int bit = (eighth_bit(b->scale, 4 * k) ? p / 2 : p) >= 2;
    b->scale[2 + k / 8] = (uint8_t)(b->scale[2 + k / 8] | bit << k % 8);
  }
}

static void choose_scale(block *b, const hu_hif4 *kind) {
  memset(b->scale, 0, sizeof b->scale);
  b->blank = 0;
  b->inverse = 0;
  if (has_special(b)) {
    b->scale[0] = NAN_SCALE;
    return;
  }
  b->scale[0] = (uint8_t)code_of_scale(to_bfloat16(largest(b, 0, b->n) * one_seventh()), kind);
  b->blank = b->scale[0] == 0 && kind->low == HU_HIF4_LOW_ZERO;
  if (is_nan(b) || b->blank) return;
  b->inverse = to_bfloat16(1 / value_of_scale(b->scale[0]));
  choose_bits(b, kind);
}

/* ---- its elements ---- */

static uint32_t events_without_code(const block *b, double y) {
  if (y != y) return HU_EVENT_NAN_IN;
  if (y - y != 0) return HU_EVENT_INF_IN | HU_EVENT_INVALID;
  if (is_nan(b)) return HU_EVENT_INEXACT;
  return y != 0 ? HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO : 0;
}

static uint8_t code_of(const block *b, const hu_hif4 *kind, size_t i, uint32_t *events) {
  double y = b->y[i];
  *events = 0;
  if (is_nan(b) || b->blank) {
    *events = events_without_code(b, y);
    return 0;
  }
  if (y == 0) return 0;
  hu_mode mode = {0};
  mode.round = kind->ties == HU_HIF4_AWAY ? HU_RNA : HU_RNE;
  mode.saturate = HU_SAT_FINITE;
  double p = product(kind, y, b->inverse, 1) * power_of_2(-eighth_bit(b->scale, i) - fourth_bit(b->scale, i));
  return (uint8_t)hu_encode64(hu_float4_e1m2(), mode, p, 0, events);
}

static void encode_block(block *b, size_t n, const float *x, const hu_hif4 *kind, hu_events *events) {
  const hu_mode rne = {0};
  b->n = n;
  for (size_t i = 0; i < n; i++) b->y[i] = hu_decode64(hu_bfloat16(), hu_encode(hu_bfloat16(), rne, x[i], 0, NULL));
  choose_scale(b, kind);
  for (size_t i = 0; i < n; i++) {
    uint32_t what;
    b->codes[i] = code_of(b, kind, i, &what);
    if (events) hu_events_count(events, what);
  }
}

/* Binary32 numbers: at most six digits, from 2^-50 to 10.5 2^15. */
static float value_of(const uint8_t *scale, uint8_t code, size_t i) {
  if (scale[0] == NAN_SCALE) return hui_float_of_bits(0x7FC00000);
  double p = hu_decode64(hu_float4_e1m2(), code);
  return (float)(p * value_of_scale(scale[0]) * power_of_2(eighth_bit(scale, i) + fourth_bit(scale, i)));
}

/* ---- matrices ---- */

static size_t blocks_in(size_t cols) { return cols / HU_HIF4_BLOCK + (cols % HU_HIF4_BLOCK != 0); }

/* The codes, the scales and the values; codes NULL with ldc 0: there are neither codes nor scales. */
static hu_status check_places(size_t rows, size_t cols, const uint8_t *codes, size_t ldc, const uint8_t *scales,
                              size_t lds, const float *x, size_t ldx) {
  hu_matrix_extent list[3];
  size_t of_row = blocks_in(cols) * HU_HIF4_SCALE;
  if (lds < blocks_in(cols) || lds > SIZE_MAX / HU_HIF4_SCALE) return HU_E_SHAPE;
  hu_status s = hui_matrix_extent_of(&list[0], codes, rows, cols, ldc, 1, 1);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[1], scales, rows, of_row, lds * HU_HIF4_SCALE, 1, 1);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[2], x, rows, cols, ldx, sizeof *x, sizeof *x);
  for (int i = 0; i < 3 && s == HU_OK; i++) {
    if (hui_matrix_extents_overlap(&list[i], &list[(i + 1) % 3])) s = HU_E_OVERLAP;
  }
  return s;
}

hu_status hu_hif4_encode(size_t rows, size_t cols, uint8_t *codes, size_t ldc, uint8_t *scales, size_t lds,
                         const float *x, size_t ldx, const hu_hif4 *kind, hu_events *events) {
  hu_status s = hu_hif4_check(kind);
  if (s == HU_OK) s = check_places(rows, cols, codes, ldc, scales, lds, x, ldx);
  if (s != HU_OK) return s;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j += HU_HIF4_BLOCK) {
      block b;
      size_t n = hui_least(HU_HIF4_BLOCK, cols - j);
      encode_block(&b, n, x + i * ldx + j, kind, events);
      memcpy(codes + i * ldc + j, b.codes, n);
      memcpy(scales + HU_HIF4_SCALE * (i * lds + j / HU_HIF4_BLOCK), b.scale, sizeof b.scale);
    }
  }
  return HU_OK;
}

hu_status hu_hif4_decode(size_t rows, size_t cols, float *z, size_t ldz, const uint8_t *codes, size_t ldc,
                         const uint8_t *scales, size_t lds) {
  hu_status s = check_places(rows, cols, codes, ldc, scales, lds, z, ldz);
  if (s == HU_OK) s = hui_code_rows_check(rows, cols, codes, ldc, hu_float4_e1m2(), 1);
  for (size_t i = 0; i < rows && s == HU_OK; i++) {
    for (size_t j = 0; j < cols; j++) {
      const uint8_t *scale = scales + HU_HIF4_SCALE * (i * lds + j / HU_HIF4_BLOCK);
      z[i * ldz + j] = value_of(scale, codes[i * ldc + j], j % HU_HIF4_BLOCK);
    }
  }
  return s;
}

hu_status hu_hif4_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                           const hu_hif4 *kind, hu_events *events) {
  hu_matrix_extent to, from;
  hu_status s = hu_hif4_check(kind);
  if (s == HU_OK) s = hui_matrix_extent_of(&to, z, rows, cols, ldz, sizeof *z, sizeof *z);
  if (s == HU_OK) s = hui_matrix_extent_of(&from, x, rows, cols, ldx, sizeof *x, sizeof *x);
  if (s != HU_OK) return s;
  if (!(z == x && ldz == ldx) && hui_matrix_extents_overlap(&to, &from)) return HU_E_OVERLAP;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j += HU_HIF4_BLOCK) {
      block b;
      encode_block(&b, hui_least(HU_HIF4_BLOCK, cols - j), x + i * ldx + j, kind, events);
      for (size_t k = 0; k < b.n; k++) z[i * ldz + j + k] = value_of(b.scale, b.codes[k], k);
    }
  }
  return HU_OK;
}
