/* SPDX-License-Identifier: MIT */
/* emu/core/scaled_sum.h - the scales of a product's operands, what they make of partial sums, and the sum of these:
 * docs/ scaled.md section 9.1, one element at a time, in integers. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_SCALED_SUM_H
#define HALFULP_EMU_CORE_SCALED_SUM_H

#include "emu/core/accum.h"
#include "halfulp/gemm.h"

/* The scales of A or of B. Line: a row of A, a column of B; k runs along it. */
typedef struct hu_scale_source {
  hu_spec spec;
  const uint8_t *at;
  const uint8_t *tensor;         /* a binary32 pattern; NULL: 1 */
  size_t line_side, run_side;    /* elements of a block across and along k; SIZE_MAX: all */
  ptrdiff_t line_step, run_step; /* bytes from a block's scale to the next one's */
  uint8_t size;                  /* bytes of a scale; 0: plain, all are 1 */
} hu_scale_source;

/* Returns the scales of a matrix; scaling NULL: a plain one. along: k runs along the stored rows. */
HU_FN hu_scale_source hui_scale_source_of(const hu_scaled *x, const hu_scaling *scaling, int32_t along) {
  hu_scale_source source;
  hu_mode rne = hui_plain_mode();
  memset(&source, 0, sizeof source);
  source.line_side = SIZE_MAX;
  source.run_side = SIZE_MAX;
  if (!scaling) return source;
  size_t rows = scaling->rows ? scaling->rows : SIZE_MAX, cols = scaling->cols ? scaling->cols : SIZE_MAX;
  source.spec = hui_spec_of(scaling->scale, rne);
  source.at = (const uint8_t *)x->scales;
  source.tensor = scaling->tensor ? (const uint8_t *)x->tensor : NULL;
  source.size = (uint8_t)hui_code_bytes(scaling->scale);
  source.line_side = along ? rows : cols;
  source.run_side = along ? cols : rows;
  ptrdiff_t down = (ptrdiff_t)(x->lds * source.size);
  source.line_step = along ? down : source.size;
  source.run_step = along ? source.size : down;
  return source;
}

/* Returns the scale of line `line` at position l. */
HU_FN hu_num hui_scale_read(const hu_scale_source *source, size_t line, size_t l) {
  if (!source->size) return hui_num_finite(0, 1, 0);
  const uint8_t *at = source->at + (ptrdiff_t)(line / source->line_side) * source->line_step;
  return hui_unpack(&source->spec,
                    hui_load_code(at + (ptrdiff_t)(l / source->run_side) * source->run_step, source->size));
}

HU_FN hu_num hui_scale_tensor(const hu_scale_source *source) {
  return source->tensor ? hui_unpack32(hui_load_code(source->tensor, 4)) : hui_num_finite(0, 1, 0);
}

/* Where the run that l belongs to ends. */
HU_FN size_t hui_scale_run_end(const hu_scale_source *a, const hu_scale_source *b, size_t l, size_t k) {
  size_t left = a->run_side - l % a->run_side, other = b->run_side - l % b->run_side;
  if (other < left) left = other;
  return k - l > left ? l + left : k;
}

/* Converts a two's complement code of m magnitude bits to a code of sign and m + 1 magnitude bits. */
HU_FN uint32_t hui_scale_twos(uint32_t m, uint32_t code) {
  uint32_t sign = (uint32_t)1 << m;
  code &= 2 * sign - 1;
  return code & sign ? (2 * sign - code) | 2 * sign : code;
}

/* ---- factors ---- */

/* Multiplies numbers whose product has at most 64 digits: exact. */
HU_FN hu_num hui_scale_product(hu_num x, hu_num y) { return hui_long_num(hui_long_product(x, y)); }

HU_FN hu_num hui_scale_rne32(hu_num x) { return hui_unpack32(hui_pack32(x)); }

/* d: a scale with its tensor's, in binary32; alpha leaves the tensor's out. */
HU_OUTLINE hu_num hui_scale_step(const hu_scale_source *source, hu_num scale, uint8_t factor) {
  if (factor == HU_SCALED_FACTOR_ALPHA || !source->tensor) return hui_scale_rne32(scale);
  return hui_scale_rne32(hui_scale_product(scale, hui_scale_tensor(source)));
}

/* Returns w of a run with scales sa, sb. */
HU_OUTLINE hu_num hui_scale_factor(const hu_scale_source *a, const hu_scale_source *b, uint8_t factor, hu_num sa,
                                   hu_num sb) {
  if (factor == HU_SCALED_FACTOR_EXACT) {
    hu_num x = hui_scale_product(sa, hui_scale_tensor(a)), y = hui_scale_product(sb, hui_scale_tensor(b));
    hu_num w = hui_scale_product(x, y);
    return w;
  }
  hu_num db = hui_scale_step(b, sb, factor);
  if (factor == HU_SCALED_FACTOR_TWICE) return db;
  hu_num w = hui_scale_product(hui_scale_step(a, sa, factor), db);
  return hui_scale_rne32(w);
}

/* What becomes of a partial sum, a pattern, before it meets its factor. */
HU_OUTLINE uint32_t hui_scale_part(const hu_scale_source *a, uint8_t factor, hu_num sa, uint32_t part) {
  if (factor != HU_SCALED_FACTOR_TWICE) return part;
  return hui_pack32(hui_scale_product(hui_scale_step(a, sa, factor), hui_unpack32(part)));
}

/* Computes the epilogue, rne32(alpha rne32(total) + c). */
HU_OUTLINE hu_num hui_scale_epilogue(const hu_scale_source *a, const hu_scale_source *b, hu_num total, hu_num c) {
  hu_num alpha = hui_scale_rne32(hui_scale_product(hui_scale_tensor(a), hui_scale_tensor(b)));
  hu_long p = hui_long_product(alpha, hui_scale_rne32(total));
  return hui_scale_rne32(hui_long_add(p, hui_long_of(c), 0));
}

/* ---- sums ---- */

/* What the sums of one call have in common. */
typedef struct hu_scaled_sums {
  hu_accum_plan inside, across;
  hu_source c;
  hu_scale_source a, b;
  size_t k, runs;
  uint8_t factor;
  uint8_t alpha; /* 1: there is an epilogue */
  uint64_t key, counter;
} hu_scaled_sums;

/* Places of a format's numbers: multiples of 2^low below 2^high. */
HU_FN void hui_scale_range(const hu_scale_source *source, int32_t *low, int32_t *high) {
  if (source->size) {
    *low += source->spec.emin - source->spec.m;
    *high += hui_exponent(hui_unpack(&source->spec, source->spec.max_code)) + 1;
  }
  if (source->tensor) {
    *low -= 149;
    *high += 128;
  }
}

/* The model across as a plan for numbers and binary32 patterns; 0 if its exact sums would be too wide. */
HU_FN int32_t hui_scaled_plan_across(hu_scaled_sums *sums, const hu_accum *accum, uint32_t down) {
  hu_format binary32 = hui_format_binary32();
  int32_t low = 0, high = 0, lc, hc;
  sums->across.a = hui_source_of(binary32, HU_STORED_CODES, 4);
  sums->across.b = sums->across.a;
  sums->across.sa = sums->across.a;
  sums->across.sb = sums->across.a;
  sums->across.a.kind = HU_STORED_NUMBERS;
  hui_plan_model(&sums->across, accum, sums->runs, &sums->c);
  sums->across.down = down;
  if (accum->kind != HU_ACCUM_EXACT) return 1;
  hui_scale_range(&sums->a, &low, &high);
  hui_scale_range(&sums->b, &low, &high);
  if (sums->factor != HU_SCALED_FACTOR_EXACT) {
    low = -149;
    high = 128;
  }
  low -= 149;
  high += 128;
  hui_source_range(&sums->c, &lc, &hc);
  if (lc < low) low = lc;
  if (hc > high) high = hc;
  high += 66 - hui_clz64(sums->runs | 1);
  sums->across.low = low;
  sums->across.limbs = (high - low) / 64 + 2;
  return sums->across.limbs <= HU_SUM_WORDS;
}

/* The random words of what happens inside the parts of an element, and across them. */
HU_FN hu_draw hui_scaled_draw(const hu_scaled_sums *sums, uint64_t element, int32_t across) {
  hu_draw draw = hui_draw_of(sums->key, sums->counter + element, NULL);
  if (across) draw.next = (uint64_t)1 << 63;
  return draw;
}

/* Sums part l ... end - 1 of a row and a column; returns a pattern. */
HU_FN uint32_t hui_scaled_part(const hu_scaled_sums *sums, const hu_lines *in, size_t l, size_t end, hu_draw *draw) {
  hu_lines at = *in;
  at.a.at += (ptrdiff_t)l * in->a.step;
  at.b.at += (ptrdiff_t)l * in->b.step;
  return hui_pack32(hui_accum_sum(&sums->inside, &at, end - l, hui_num_special(HU_KIND_ZERO, 0), draw));
}

/* Sets the factors of element (i, j), w[r * step], and makes its parts ready for them, part[r * part_step]. */
HU_STEP void hui_scaled_factors(const hu_scaled_sums *sums, size_t i, size_t j, hu_num *w, size_t step, uint32_t *part,
                                size_t part_step) {
  for (size_t l = 0, r = 0; l < sums->k; l = hui_scale_run_end(&sums->a, &sums->b, l, sums->k), r++) {
    hu_num sa = hui_scale_read(&sums->a, i, l), sb = hui_scale_read(&sums->b, j, l);
    w[r * step] = hui_scale_factor(&sums->a, &sums->b, sums->factor, sa, sb);
    part[r * part_step] = hui_scale_part(&sums->a, sums->factor, sa, part[r * part_step]);
  }
}

/* Sums an element from its factors and parts; c: its C. */
HU_STEP hu_num hui_scaled_across(const hu_scaled_sums *sums, uint64_t element, const hu_num *w, size_t step,
                                 const uint32_t *part, size_t part_step, hu_num c) {
  hu_draw draw = hui_scaled_draw(sums, element, 1);
  hu_lines in;
  in.a.at = (const uint8_t *)w;
  in.a.step = (ptrdiff_t)(step * sizeof *w);
  in.b.at = (const uint8_t *)part;
  in.b.step = (ptrdiff_t)(part_step * sizeof *part);
  in.sa = in.a;
  in.sb = in.b;
  return hui_accum_sum(&sums->across, &in, sums->runs, sums->alpha ? hui_num_special(HU_KIND_ZERO, 0) : c, &draw);
}

/* ---- NaN that an operand brought in ---- */

HU_STEP int32_t hui_scales_have_nan(const hu_scale_source *source, size_t line, size_t k) {
  if (hui_scale_tensor(source).kind == HU_KIND_NAN) return 1;
  for (size_t l = 0; source->size && l < k; l += source->run_side) {
    if (hui_scale_read(source, line, l).kind == HU_KIND_NAN) return 1;
    if (k - l <= source->run_side) break;
  }
  return 0;
}

HU_STEP int32_t hui_scaled_nan_given(const hu_scaled_sums *sums, const hu_lines *in, size_t i, size_t j, hu_num c) {
  return c.kind == HU_KIND_NAN || hui_line_has_nan(&sums->inside.a, &in->a, sums->k) ||
         hui_line_has_nan(&sums->inside.b, &in->b, sums->k) || hui_scales_have_nan(&sums->a, i, sums->k) ||
         hui_scales_have_nan(&sums->b, j, sums->k);
}

#endif
