/* SPDX-License-Identifier: MIT */
/* emu/core/scaled_sum.h - the scales of a product's operands, what they make of partial sums, and the sum of these:
 * docs/ scaled.md section 9.1, one element at a time, in integers. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_SCALED_SUM_H
#define HALFULP_EMU_CORE_SCALED_SUM_H

#include "emu/core/accum.h"
#include "halfulp/scaled_gemm.h"

/* The scales of A or of B. Line: a row of A, a column of B; k runs along it. */
typedef struct hu_scale_source {
  hu_spec spec;
  const uint8_t *at;
  const uint8_t *tensor;         /* a binary32 pattern; NULL: 1 */
  size_t line_side, run_side;    /* elements of a block across and along k; SIZE_MAX: all */
  ptrdiff_t line_step, run_step; /* bytes from a block's scale to the next one's */
  uint8_t size;                  /* bytes of a scale; 0: plain, all are 1 */
} hu_scale_source;

HU_FN hu_scale_source hui_scale_source_of(const hu_scaled_operand *x, int32_t lines_are_rows) {
  hu_scale_source s;
  hu_mode rne = hui_plain_mode();
  memset(&s, 0, sizeof s);
  s.line_side = SIZE_MAX;
  s.run_side = SIZE_MAX;
  if (!x->scaling) return s;
  const hu_scaling *d = x->scaling;
  size_t rows = d->rows ? d->rows : SIZE_MAX, cols = d->cols ? d->cols : SIZE_MAX;
  int32_t along = lines_are_rows != (int32_t)x->transposed; /* k runs along the stored rows */
  s.spec = hui_spec_of(d->scale, rne);
  s.at = (const uint8_t *)x->scaled.scales;
  s.tensor = d->tensor ? (const uint8_t *)x->scaled.tensor : NULL;
  s.size = (uint8_t)hui_code_bytes(d->scale);
  s.line_side = along ? rows : cols;
  s.run_side = along ? cols : rows;
  ptrdiff_t down = (ptrdiff_t)(x->scaled.lds * s.size);
  s.line_step = along ? down : s.size;
  s.run_step = along ? s.size : down;
  return s;
}

/* Returns the scale of line `line` at position l. */
HU_FN hu_num hui_scale_read(const hu_scale_source *s, size_t line, size_t l) {
  if (!s->size) return hui_num_finite(0, 1, 0);
  const uint8_t *at = s->at + (ptrdiff_t)(line / s->line_side) * s->line_step;
  return hui_unpack(&s->spec, hui_load_code(at + (ptrdiff_t)(l / s->run_side) * s->run_step, s->size));
}

HU_FN hu_num hui_scale_tensor(const hu_scale_source *s) {
  return s->tensor ? hui_unpack32(hui_load_code(s->tensor, 4)) : hui_num_finite(0, 1, 0);
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
HU_OUTLINE hu_num hui_scale_step(const hu_scale_source *s, hu_num scale, uint8_t factor) {
  if (factor == HU_SCALED_FACTOR_ALPHA || !s->tensor) return hui_scale_rne32(scale);
  return hui_scale_rne32(hui_scale_product(scale, hui_scale_tensor(s)));
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

/* Computes the epilogue, rne32(alpha rne32(sum) + c). */
HU_OUTLINE hu_num hui_scale_epilogue(const hu_scale_source *a, const hu_scale_source *b, hu_num sum, hu_num c) {
  hu_num alpha = hui_scale_rne32(hui_scale_product(hui_scale_tensor(a), hui_scale_tensor(b)));
  hu_long p = hui_long_product(alpha, hui_scale_rne32(sum));
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
HU_FN void hui_scale_range(const hu_scale_source *s, int32_t *low, int32_t *high) {
  if (s->size) {
    *low += s->spec.emin - s->spec.m;
    *high += hui_exponent(hui_unpack(&s->spec, s->spec.max_code)) + 1;
  }
  if (s->tensor) {
    *low -= 149;
    *high += 128;
  }
}

/* The model across as a plan for numbers and binary32 patterns; 0 if its exact sums would be too wide. */
HU_FN int32_t hui_scaled_plan_across(hu_scaled_sums *t, const hu_accum *x, uint32_t down) {
  hu_format binary32 = hui_format_binary32();
  int32_t low = 0, high = 0, lc, hc;
  t->across.a = hui_source_of(binary32, HU_STORED_CODES, 4);
  t->across.b = t->across.a;
  t->across.sa = t->across.a;
  t->across.sb = t->across.a;
  t->across.a.kind = HU_STORED_NUMBERS;
  hui_plan_model(&t->across, x, t->runs, &t->c);
  t->across.down = down;
  if (x->kind != HU_ACCUM_EXACT) return 1;
  hui_scale_range(&t->a, &low, &high);
  hui_scale_range(&t->b, &low, &high);
  if (t->factor != HU_SCALED_FACTOR_EXACT) {
    low = -149;
    high = 128;
  }
  low -= 149;
  high += 128;
  hui_source_range(&t->c, &lc, &hc);
  if (lc < low) low = lc;
  if (hc > high) high = hc;
  high += 66 - hui_clz64(t->runs | 1);
  t->across.low = low;
  t->across.limbs = (high - low) / 64 + 2;
  return t->across.limbs <= HU_SUM_WORDS;
}

/* The random words of what happens inside the parts of an element, and across them. */
HU_FN hu_draw hui_scaled_draw(const hu_scaled_sums *t, uint64_t element, int32_t across) {
  hu_draw d = hui_draw_of(t->key, t->counter + element, NULL);
  if (across) d.next = (uint64_t)1 << 63;
  return d;
}

/* Sums part l ... end - 1 of a row and a column; returns a pattern. */
HU_FN uint32_t hui_scaled_part(const hu_scaled_sums *t, const hu_lines *in, size_t l, size_t end, hu_draw *d) {
  hu_lines at = *in;
  at.a.at += (ptrdiff_t)l * in->a.step;
  at.b.at += (ptrdiff_t)l * in->b.step;
  return hui_pack32(hui_accum_sum(&t->inside, &at, end - l, hui_num_special(HU_KIND_ZERO, 0), d));
}

/* Sets the factors of element (i, j), w[r * step], and makes its parts ready for them, part[r * part_step]. */
HU_STEP void hui_scaled_factors(const hu_scaled_sums *t, size_t i, size_t j, hu_num *w, size_t step, uint32_t *part,
                                size_t part_step) {
  for (size_t l = 0, r = 0; l < t->k; l = hui_scale_run_end(&t->a, &t->b, l, t->k), r++) {
    hu_num sa = hui_scale_read(&t->a, i, l), sb = hui_scale_read(&t->b, j, l);
    w[r * step] = hui_scale_factor(&t->a, &t->b, t->factor, sa, sb);
    part[r * part_step] = hui_scale_part(&t->a, t->factor, sa, part[r * part_step]);
  }
}

/* Sums an element from its factors and parts; c: its C. */
HU_STEP hu_num hui_scaled_across(const hu_scaled_sums *t, uint64_t element, const hu_num *w, size_t step,
                                 const uint32_t *part, size_t part_step, hu_num c) {
  hu_draw d = hui_scaled_draw(t, element, 1);
  hu_lines in;
  in.a.at = (const uint8_t *)w;
  in.a.step = (ptrdiff_t)(step * sizeof *w);
  in.b.at = (const uint8_t *)part;
  in.b.step = (ptrdiff_t)(part_step * sizeof *part);
  in.sa = in.a;
  in.sb = in.b;
  return hui_accum_sum(&t->across, &in, t->runs, t->alpha ? hui_num_special(HU_KIND_ZERO, 0) : c, &d);
}

/* ---- NaN that an operand brought in ---- */

HU_STEP int32_t hui_scales_have_nan(const hu_scale_source *s, size_t line, size_t k) {
  if (hui_scale_tensor(s).kind == HU_KIND_NAN) return 1;
  for (size_t l = 0; s->size && l < k; l += s->run_side) {
    if (hui_scale_read(s, line, l).kind == HU_KIND_NAN) return 1;
    if (k - l <= s->run_side) break;
  }
  return 0;
}

HU_STEP int32_t hui_scaled_nan_given(const hu_scaled_sums *t, const hu_lines *in, size_t i, size_t j, hu_num c) {
  return c.kind == HU_KIND_NAN || hui_line_has_nan(&t->inside.a, &in->a, t->k) ||
         hui_line_has_nan(&t->inside.b, &in->b, t->k) || hui_scales_have_nan(&t->a, i, t->k) ||
         hui_scales_have_nan(&t->b, j, t->k);
}

#endif
