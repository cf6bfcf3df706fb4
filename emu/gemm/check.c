/* SPDX-License-Identifier: MIT */
/* The arguments of a product: formats, models, memory. */
#include "emu/gemm/check.h"

#include "emu/accum/operands.h"
#include "emu/base/matrix_extent.h"
#include "emu/format/unfold.h"

/* ---- formats and models ---- */

typedef hu_status question(const hu_accum *accum, const hu_type *a, const hu_type *b, const hu_type *c);
static hu_status ask(question *of, const hu_accum *accum, const hu_operand *a, const hu_operand *b,
                     const hu_operand *c) {
  hu_type ta = hu_type_codes(a->format), tb = hu_type_codes(b->format), tc = c ? hu_type_codes(c->format) : ta;
  return of(accum, &ta, &tb, c ? &tc : NULL);
}

hu_status hui_gemm_model_check(const hu_accum *accum, const hu_operand *a, const hu_operand *b, const hu_operand *c) {
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

static hu_status check_format(hu_spec *spec, hu_format format, hu_mode mode, uint8_t storage, int fp32) {
  if (hui_format_unfold(spec, format, mode) != HU_OK) return HU_E_FORMAT;
  return (storage == HU_STORAGE_VALUES || fp32) && !spec->fits_binary32 ? HU_E_CARRIER : HU_OK;
}

static hu_status check_operand(hu_spec *spec, const hu_operand *x, int fp32) {
  hu_mode rne = {0};
  return check_format(spec, x->format, rne, x->storage, fp32);
}

static size_t element_size(hu_format format, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(format);
}

static hu_status operand_extent(hu_matrix_extent *extent, const hu_operand *x, size_t rows, size_t cols) {
  if (x->storage > HU_STORAGE_CODES || x->transposed > 1) return HU_E_SHAPE;
  size_t size = element_size(x->format, x->storage);
  return hui_matrix_extent_of(extent, x->data, x->transposed ? cols : rows, x->transposed ? rows : cols, x->ld, size,
                              size);
}

static hu_status result_extent(hu_matrix_extent *extent, const hu_result *result, size_t m, size_t n) {
  size_t size = element_size(result->format, result->storage);
  return hui_matrix_extent_of(extent, result->data, m, n, result->ld, size, size);
}

static int in_place(const hu_result *result, const hu_operand *c) {
  return result->data == c->data && result->ld == c->ld && result->storage == c->storage && !c->transposed &&
         hu_format_equal(result->format, c->format);
}

static hu_status check_formats(hu_gemm_specs *specs, const hu_result *result, hu_mode mode, const hu_operand *a,
                               const hu_operand *b, const hu_operand *c, int fp32) {
  hu_status status = check_format(&specs->result, result->format, mode, result->storage, 0);
  if (status == HU_OK) status = check_operand(&specs->a, a, fp32);
  if (status == HU_OK) status = check_operand(&specs->b, b, fp32);
  return status == HU_OK && c ? check_operand(&specs->c, c, fp32) : status;
}

static hu_status check_memory(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                              const hu_operand *b, const hu_operand *c) {
  hu_matrix_extent ed, extent[3];
  hu_status status = HU_E_SHAPE;
  memset(extent, 0, sizeof extent);
  if (result->storage <= HU_STORAGE_CODES) status = result_extent(&ed, result, m, n);
  if (status == HU_OK) status = operand_extent(&extent[0], a, m, k);
  if (status == HU_OK) status = operand_extent(&extent[1], b, k, n);
  if (status == HU_OK && c) status = operand_extent(&extent[2], c, m, n);
  if (status != HU_OK) return status;
  if (c && in_place(result, c)) memset(&extent[2], 0, sizeof extent[2]);
  return hui_matrix_extents_overlap(&ed, &extent[0]) || hui_matrix_extents_overlap(&ed, &extent[1]) ||
                 hui_matrix_extents_overlap(&ed, &extent[2])
             ? HU_E_OVERLAP
             : HU_OK;
}

/* Scales, where D is valid. */
static hu_status check_scales(hu_gemm_specs *specs, size_t m, size_t n, size_t k, const hu_result *result,
                              const hu_operand *sa, const hu_operand *sb, const hu_accum *accum) {
  size_t count = hui_gemm_scales(accum, k);
  hu_matrix_extent ed, ea, eb;
  hu_status status = check_operand(&specs->scale_a, sa, 0);
  if (status == HU_OK) status = check_operand(&specs->scale_b, sb, 0);
  if (status != HU_OK) return status;
  int same = hu_format_equal(sa->format, accum->block.scale) && hu_format_equal(sb->format, accum->block.scale);
  if (!accum->scaled && !same) return HU_E_ACCUM;
  status = result_extent(&ed, result, m, n);
  if (status == HU_OK) status = operand_extent(&ea, sa, m, count);
  if (status == HU_OK) status = operand_extent(&eb, sb, count, n);
  if (status != HU_OK) return status;
  return hui_matrix_extents_overlap(&ed, &ea) || hui_matrix_extents_overlap(&ed, &eb) ? HU_E_OVERLAP : HU_OK;
}

hu_status hui_gemm_check(hu_gemm_specs *specs, size_t m, size_t n, size_t k, const hu_result *result,
                         const hu_operand *a, const hu_operand *b, const hu_operand *c, const hu_operand *sa,
                         const hu_operand *sb, const hu_accum *accum, hu_mode mode) {
  if (!result || !a || !b || !accum || !sa != !sb) return HU_E_NULL;
  hu_status status = hu_accum_check(accum);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status == HU_OK) status = check_formats(specs, result, mode, a, b, c, accum->kind == HU_ACCUM_FP32);
  if (status == HU_OK && (sa != NULL) != hu_accum_is_scaled(accum)) status = HU_E_ACCUM;
  /* Whether binary32 has what `fp32` is given has been asked. */
  if (status == HU_OK) status = ask(hui_accum_takes, accum, a, b, c);
  if (status == HU_OK) status = check_memory(m, n, k, result, a, b, c);
  return status == HU_OK && sa ? check_scales(specs, m, n, k, result, sa, sb, accum) : status;
}
