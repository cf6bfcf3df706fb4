/* SPDX-License-Identifier: MIT */
/* The arguments of a product: formats, models, memory. */
#include "emu/gemm/check.h"

#include "emu/accum/operands.h"
#include "emu/base/matrix_view.h"
#include "emu/format/unfold.h"

/* ---- formats and models ---- */

typedef hu_status question(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c);
static hu_status ask(question *of, const hu_accum *accum, const hu_view *a, const hu_view *b, const hu_view *c) {
  hu_type ta = hu_type_codes(a->type.format), tb = hu_type_codes(b->type.format);
  hu_type tc = c ? hu_type_codes(c->type.format) : ta;
  return of(accum, &ta, &tb, c ? &tc : NULL);
}

hu_status hui_gemm_model_check(const hu_accum *accum, const hu_view *a, const hu_view *b, const hu_view *c) {
  return ask(hui_accum_usable, accum, a, b, c);
}

size_t hui_gemm_scales(const hu_accum *accum, size_t k) {
  size_t every = accum->scaled ? accum->promote : accum->block.every;
  return every ? k / every + (k % every != 0) : 0;
}

int hui_gemm_fit_binary32(hu_format fa, hu_format fb, const hu_format *fc) {
  return hu_format_fits_binary32(fa) && hu_format_fits_binary32(fb) && (!fc || hu_format_fits_binary32(*fc));
}

/* seq(binary32) to nearest of operands that binary32 has is fp32. */
int hui_gemm_is_fp32(const hu_accum *accum, int fit) {
  if (accum->promote || accum->slices) return 0;
  if (accum->kind == HU_ACCUM_FP32) return 1;
  int plain = accum->kind == HU_ACCUM_SEQ && hu_format_equal(accum->sum, hui_format_binary32());
  return plain && accum->mode.round == HU_RNE && accum->mode.saturate <= HU_SAT_NONE && fit;
}

/* ---- arguments ---- */

static hu_status check_type(hu_spec *spec, hu_type *type, hu_mode mode, int fp32) {
  if (hui_matrix_settle_type(type) != HU_OK || hui_format_unfold(spec, &type->format, mode) != HU_OK)
    return HU_E_FORMAT;
  return (type->kind == HU_TYPE_VALUES32 || fp32) && !spec->fits_binary32 ? HU_E_CARRIER : HU_OK;
}

static hu_status check_operand(hu_spec *spec, hu_view *x, int fp32) {
  hu_mode rne = {0};
  return check_type(spec, &x->type, rne, fp32);
}

static hu_status check_formats(hu_gemm_specs *specs, hu_product *x, hu_mode mode, int has_c) {
  int fp32 = x->accum->kind == HU_ACCUM_FP32;
  hu_status status = check_type(&specs->result, &x->d.type, mode, 0);
  if (status == HU_OK) status = check_operand(&specs->a, &x->a, fp32);
  if (status == HU_OK) status = check_operand(&specs->b, &x->b, fp32);
  return status == HU_OK && has_c ? check_operand(&specs->c, &x->c, fp32) : status;
}

/* What none of the others may share a byte with is the first. */
static hu_status check_apart(const hu_matrix_extent *extent, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (hui_matrix_extents_overlap(&extent[0], &extent[i])) return HU_E_OVERLAP;
  }
  return HU_OK;
}

static hu_status check_memory(hu_product *x, hu_matrix_extent *written, int has_c) {
  hu_matrix_extent extent[4];
  memset(extent, 0, sizeof extent);
  hu_status status = hui_matrix_cover_written(&extent[0], &x->d, x->m, x->n);
  if (status == HU_OK) status = hui_matrix_cover(&extent[1], &x->a, x->m, x->k);
  if (status == HU_OK) status = hui_matrix_cover(&extent[2], &x->b, x->k, x->n);
  if (status == HU_OK && has_c) status = hui_matrix_cover(&extent[3], &x->c, x->m, x->n);
  if (status != HU_OK) return status;
  *written = extent[0];
  return check_apart(extent, has_c && !hui_matrix_is_same(&x->d, &x->c) ? 4 : 3);
}

/* Scales, where D, whose bytes are `written`, is valid. */
static hu_status check_scales(hu_gemm_specs *specs, hu_product *x, const hu_matrix_extent *written) {
  size_t count = hui_gemm_scales(x->accum, x->k);
  hu_matrix_extent extent[3] = {*written};
  hu_format own = x->accum->block.scale;
  hu_status status = check_operand(&specs->scale_a, &x->sa, 0);
  if (status == HU_OK) status = check_operand(&specs->scale_b, &x->sb, 0);
  if (status != HU_OK) return status;
  int same = hu_format_equal(x->sa.type.format, own) && hu_format_equal(x->sb.type.format, own);
  if (!x->accum->scaled && !same) return HU_E_ACCUM;
  status = hui_matrix_cover(&extent[1], &x->sa, x->m, count);
  if (status == HU_OK) status = hui_matrix_cover(&extent[2], &x->sb, count, x->n);
  return status == HU_OK ? check_apart(extent, 3) : status;
}

hu_status hui_gemm_check(hu_gemm_specs *specs, hu_product *x, hu_mode mode) {
  int has_c = !hui_matrix_is_absent(&x->c), has_scales = !hui_matrix_is_absent(&x->sa);
  hu_view d = hui_matrix_written(&x->d);
  if (!x->accum || hui_matrix_is_absent(&d) || hui_matrix_is_absent(&x->a) || hui_matrix_is_absent(&x->b) ||
      has_scales != !hui_matrix_is_absent(&x->sb))
    return HU_E_NULL;
  hu_matrix_extent written;
  hu_status status = hu_accum_check(x->accum);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status == HU_OK) status = check_formats(specs, x, mode, has_c);
  if (status == HU_OK && has_scales != hu_accum_is_scaled(x->accum)) status = HU_E_ACCUM;
  /* Whether binary32 has what `fp32` is given has been asked. */
  if (status == HU_OK) status = ask(hui_accum_takes, x->accum, &x->a, &x->b, has_c ? &x->c : NULL);
  if (status == HU_OK) status = check_memory(x, &written, has_c);
  return status == HU_OK && has_scales ? check_scales(specs, x, &written) : status;
}
