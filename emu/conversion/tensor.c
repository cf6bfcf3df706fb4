/* SPDX-License-Identifier: MIT */
/* Presets of scaled tensors: hu_conversion_scaled_encode and hu_conversion_scaled_quantize. A preset that is one
 * encoding and nothing else goes to the calls of scaled.h as it is. One with steps before goes in stretches of a row,
 * which are whole blocks, so that no step sees less than it has to. */
#include <string.h>

#include "emu/conversion/steps.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "emu/scaled/check.h"
#include "halfulp/scalar.h"

typedef struct preset {
  const hu_conversion *conversion;
  hu_scaling scaling, through; /* the latter if has_through */
  int has_first, has_through;
} preset;

static hu_status read_preset(preset *p, const hu_conversion *c) {
  hu_status s = hu_conversion_check(c);
  if (s != HU_OK) return s;
  memset(p, 0, sizeof *p);
  p->conversion = c;
  p->has_first = hui_conversion_has_first(c);
  p->has_through = hui_conversion_has_through(c);
  if (hu_scaling_parse(&p->scaling, c->scaling, NULL) != HU_OK) return HU_E_SCALING; /* "" */
  return p->has_through ? hu_scaling_parse(&p->through, c->through, NULL) : HU_OK;
}

static int has_steps(const preset *p) { return p->has_first || p->has_through; }

static uint32_t pattern_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static int is_minus_zero(const float *x) { return pattern_of(*x) == 0x80000000u; }

/* ---- codes afterwards ---- */

/* The code of rn(x times the largest binary32 number). The product has 48 digits and is exact in binary64. */
static uint32_t raised_code(const preset *p, float x) {
  const hu_mode rne = {0};
  double product = hui_double_of_bits(hui_pack64(hui_unpack32(pattern_of(x)))) * 0x1.fffffep127;
  hu_mode mode = p->conversion->mode;
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  return hu_encode64(p->scaling.element, mode, hu_quantize64(hui_format_binary32(), rne, product, 0, NULL), 0, NULL);
}

/* Whether the block of element (i, j) has the scale 0. */
static int under_zero(const preset *p, const hu_scaled *z, const hu_spec *scale, size_t i, size_t j) {
  size_t size = hui_code_bytes(p->scaling.scale);
  size_t block = (p->scaling.rows ? i / p->scaling.rows : 0) * z->lds + (p->scaling.cols ? j / p->scaling.cols : 0);
  return hui_unpack(scale, hui_load_code((const uint8_t *)z->scales + block * size, size)).kind == HU_KIND_ZERO;
}

static void raise_codes(const preset *p, size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx) {
  const hu_mode rne = {0};
  size_t size = hui_code_bytes(p->scaling.element);
  hu_spec scale = hui_spec_of(p->scaling.scale, rne);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      uint8_t *at = (uint8_t *)z->codes + (i * z->ld + j) * size;
      if (is_minus_zero(x + i * ldx + j))
        hui_store_code(at, size, 0);
      else if (under_zero(p, z, &scale, i, j))
        hui_store_code(at, size, raised_code(p, x[i * ldx + j]));
    }
}

/* ---- steps before ---- */

/* Returns how many columns a stretch of a row has: as many whole blocks as fit. */
static size_t stretch_of(const preset *p) { return HU_CONVERSION_COLS / p->scaling.cols * p->scaling.cols; }

/* y = the n elements of x after the steps `first` and `through`. */
static hu_status step(float *y, size_t n, const float *x, const preset *p, const hu_exec *exec) {
  const hu_conversion *c = p->conversion;
  hu_status s = HU_OK;
  memcpy(y, x, n * sizeof *y);
  if (p->has_first) s = hu_quantize_n(n, y, 1, y, 1, c->first, c->first_mode, exec, NULL);
  if (s != HU_OK || !p->has_through) return s;
  return hu_scaled_quantize(1, n, y, n, y, n, &p->through, c->first_mode, NULL, NULL, exec, NULL);
}

/* What a preset makes: codes, or values. */
typedef struct target {
  const hu_scaled *codes; /* NULL: values */
  float *values;
  size_t ld;
  hu_scaled_stats *stats;
} target;

/* Converts elements j to j + n of row i. */
static hu_status stretch(const target *t, size_t i, size_t j, size_t n, const float *y, const preset *p,
                         const hu_exec *exec, hu_events *events, size_t block_cols) {
  const hu_conversion *c = p->conversion;
  size_t block = j / p->scaling.cols;
  hu_scaled_stats *stats = t->stats ? t->stats + i * block_cols + block : NULL;
  if (!t->codes)
    return hu_scaled_quantize(1, n, t->values + i * t->ld + j, t->ld, y, n, &p->scaling, c->mode, NULL, stats, exec,
                              events);
  const hu_scaled *z = t->codes;
  hu_scaled part = *z;
  part.codes = (uint8_t *)z->codes + (i * z->ld + j) * hui_code_bytes(p->scaling.element);
  part.scales = (uint8_t *)z->scales + (i * z->lds + block) * hui_code_bytes(p->scaling.scale);
  return hu_scaled_encode(1, n, &part, y, n, &p->scaling, c->mode, NULL, stats, exec, events);
}

static hu_status run(const target *t, size_t rows, size_t cols, const float *x, size_t ldx, const preset *p,
                     const hu_exec *exec, hu_events *events) {
  float y[HU_CONVERSION_COLS];
  hu_exec one = {1, exec ? exec->levels_off : 0, exec ? exec->stream : (hu_stream){0, 0}};
  size_t block_cols = hu_scaled_sizes_of(rows, cols, &p->scaling).block_cols, most = stretch_of(p);
  uint64_t first = one.stream.counter;
  hu_status s = HU_OK;
  for (size_t i = 0; s == HU_OK && i < rows; i++)
    for (size_t j = 0; s == HU_OK && j < cols; j += most) {
      size_t n = cols - j < most ? cols - j : most;
      one.stream.counter = first + (uint64_t)i * cols + j;
      s = step(y, n, x + i * ldx + j, p, &one);
      if (s == HU_OK) s = stretch(t, i, j, n, y, p, &one, events, block_cols);
    }
  return s;
}

hu_status hu_conversion_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                                      const hu_conversion *c, const float *amax, hu_scaled_stats *stats,
                                      const hu_exec *exec, hu_events *events) {
  preset p;
  hu_status s = read_preset(&p, c);
  if (s != HU_OK) return s;
  if (has_steps(&p)) {
    s = z ? hui_scaled_made_check(rows, cols, z, NULL, 0, x, ldx, &p.scaling, c->mode, amax, stats) : HU_E_NULL;
    return s == HU_OK ? run(&(target){z, NULL, 0, stats}, rows, cols, x, ldx, &p, exec, events) : s;
  }
  s = hu_scaled_encode(rows, cols, z, x, ldx, &p.scaling, c->mode, amax, stats, exec, events);
  if (s == HU_OK && c->codes == HU_SCALED_CODES_RAISED) raise_codes(&p, rows, cols, z, x, ldx);
  return s;
}

/* Copies the operands to the place of the values and makes +0 of each -0. Their codes are then those of raise_codes,
 * except in blocks whose scale is 0. There both give the same values: zeros with the signs of the operands. */
static hu_status drop_signs(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx, const preset *p,
                            const float *amax, const hu_scaled_stats *stats) {
  uint32_t given = amax ? pattern_of(*amax) : 0;
  hu_status s = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, &p->scaling, p->conversion->mode, amax, stats);
  if (s == HU_OK && given >= 0x7F800000 && given != 0x80000000u) s = HU_E_SCALING;
  for (size_t i = 0; s == HU_OK && i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      if (is_minus_zero(x + i * ldx + j))
        z[i * ldz + j] = 0;
      else
        memcpy(z + i * ldz + j, x + i * ldx + j, sizeof *z);
  return s;
}

hu_status hu_conversion_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                        const hu_conversion *c, const float *amax, hu_scaled_stats *stats,
                                        const hu_exec *exec, hu_events *events) {
  preset p;
  hu_status s = read_preset(&p, c);
  if (s != HU_OK) return s;
  if (has_steps(&p)) {
    s = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, &p.scaling, c->mode, amax, stats);
    return s == HU_OK ? run(&(target){NULL, z, ldz, stats}, rows, cols, x, ldx, &p, exec, events) : s;
  }
  if (c->codes == HU_SCALED_CODES_RAISED) {
    s = drop_signs(rows, cols, z, ldz, x, ldx, &p, amax, stats);
    if (s != HU_OK) return s;
    x = z;
    ldx = ldz;
  }
  return hu_scaled_quantize(rows, cols, z, ldz, x, ldx, &p.scaling, c->mode, amax, stats, exec, events);
}
