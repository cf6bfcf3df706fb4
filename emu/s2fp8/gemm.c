/* SPDX-License-Identifier: MIT */
/* Products of S2FP8 codes: blocks of D over threads; panels of A and B decoded onto the stack and multiplied, the block
 * of D being its own C from the second panel on. Sums of fp32 go by ascending k, so where k is cut does not affect the
 * result. */
#include "emu/s2fp8/gemm.h"

#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/core/s2fp8_table.h"
#include "emu/s2fp8/run.h"

enum { ROWS = 64, COLS = 128, DEPTH = 256 };

typedef struct source {
  const uint8_t *codes;
  ptrdiff_t row, stride; /* bytes */
  size_t size;
  uint32_t mask;
  hu_s2 map;
  int listed; /* values by code are there */
  uint32_t values[2 * HU_S2_CODES];
} source;

typedef struct product_call {
  size_t across;
  const hu_product *own; /* with d and c settled */
  source a, b;
  hu_exec exec;
  hu_accum fp32;
} product_call;

/* Decodes rows x cols values from (row, col) on. */
static void decode_panel(float *z, const source *x, size_t row, size_t col, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      const uint8_t *at = x->codes + (ptrdiff_t)(row + i) * x->row + (ptrdiff_t)(col + j) * x->stride;
      uint32_t code = hui_load_code(at, x->size) & x->mask;
      z[i * cols + j] = hui_float_of_bits(x->listed ? x->values[code] : hui_s2_decoded(&x->map, code));
    }
  }
}

static void block_part(void *context, size_t part) {
  const product_call *call = context;
  const hu_product *own = call->own;
  float a[ROWS * DEPTH], b[DEPTH * COLS];
  size_t row = part / call->across * ROWS, col = part % call->across * COLS, k = 0;
  hu_view all = hui_matrix_written(&own->d), block = hui_matrix_from(&all, row, col);
  hu_view before = hui_matrix_from(&own->c, row, col);
  hu_how how = hu_how_of(hui_plain_mode(), &call->exec, NULL);
  hu_product panel;
  memset(&panel, 0, sizeof panel);
  panel.m = hui_least(ROWS, own->m - row);
  panel.n = hui_least(COLS, own->n - col);
  panel.d = own->d;
  panel.d.data = (void *)(uintptr_t)block.data;
  panel.c = before;
  panel.accum = &call->fp32;
  do {
    panel.k = hui_least(DEPTH, own->k - k);
    decode_panel(a, &call->a, row, k, panel.m, panel.k);
    decode_panel(b, &call->b, k, col, panel.k, panel.n);
    panel.a = hu_matrix_floats(a, panel.k);
    panel.b = hu_matrix_floats(b, panel.n);
    if (hui_gemm(&panel, &how) != HU_OK) return; /* cannot be */
    panel.c = block;
    k += panel.k;
  } while (k < own->k);
}

/* The codes of rows x cols of the product's matrix, as it is stored. */
typedef struct stored {
  const hu_scaled *x;
  size_t rows, cols;
} stored;

/* Reads what a view says. */
static hu_status make_source(source *z, stored *at, hu_matrix_extent *extent, const hu_view *x, size_t rows,
                             size_t cols) {
  const hu_scaled *scaled = x->data;
  const hu_s2fp8 *kind = x->type.s2fp8;
  if (x->type.kind != HU_TYPE_S2FP8) return hui_matrix_is_absent(x) ? HU_E_NULL : HU_E_FORMAT;
  if (!scaled || !kind || !scaled->scales) return HU_E_NULL;
  const hu_s2fp8_scale *scale = scaled->scales;
  hu_status status = hui_s2_check(kind, scale, hui_plain_mode());
  if (status != HU_OK) return status;
  int transposed = x->stride == 0;
  if (transposed ? x->row != 1 : x->stride != 1 || x->row != 0) return HU_E_SHAPE;
  at->x = scaled;
  at->rows = transposed ? cols : rows;
  at->cols = transposed ? rows : cols;
  z->codes = scaled->codes;
  z->size = hui_code_bytes(kind->element);
  z->row = (ptrdiff_t)((transposed ? 1 : scaled->ld) * z->size);
  z->stride = (ptrdiff_t)((transposed ? scaled->ld : 1) * z->size);
  z->map = hui_s2_of(kind, scale->mu, scale->m, hui_plain_mode());
  z->mask = z->map.spec.mag_mask | z->map.spec.sign_mask;
  z->listed = 0;
  return hui_matrix_extent_of(extent, scaled->codes, at->rows, at->cols, scaled->ld, z->size, z->size);
}

static hu_status check_codes(const stored *x, const hu_s2fp8 *kind, uint32_t threads) {
  return hui_code_rows_check(x->rows, x->cols, x->x->codes, x->x->ld, kind->element, threads);
}

static void list_values(source *z) {
  if (z->mask >= 2 * HU_S2_CODES) return;
  for (uint32_t i = 0; i <= z->mask; i++) z->values[i] = hui_s2_decoded(&z->map, i);
  z->listed = 1;
}

hu_status hui_s2fp8_result(hu_product *x, hu_matrix_extent *d, hu_matrix_extent *c) {
  hu_format binary32 = hui_format_binary32();
  memset(c, 0, sizeof *c);
  if (!x->accum) return HU_E_NULL;
  hu_status status = hu_accum_check(x->accum);
  hu_accum any = hu_accum_any(*x->accum); /* no formats of operands: these have none */
  if (status == HU_OK && (!hui_gemm_is_fp32(&any, 1) || memcmp(&any, x->accum, sizeof any) != 0)) status = HU_E_ACCUM;
  if (status == HU_OK) status = hui_matrix_settle_type(&x->d.type);
  int has_c = !hui_matrix_is_absent(&x->c);
  if (status == HU_OK && has_c) status = hui_matrix_settle_type(&x->c.type);
  if (status != HU_OK) return status;
  if (x->d.type.kind != HU_TYPE_VALUES32 || !hu_format_equal(x->d.type.format, binary32)) return HU_E_FORMAT;
  if (has_c && (x->c.type.kind != HU_TYPE_VALUES32 || !hu_format_equal(x->c.type.format, binary32))) return HU_E_FORMAT;
  status = hui_matrix_cover_written(d, &x->d, x->m, x->n);
  if (status == HU_OK && has_c) status = hui_matrix_cover(c, &x->c, x->m, x->n);
  if (has_c && hui_matrix_is_same(&x->d, &x->c)) memset(c, 0, sizeof *c);
  return status;
}

hu_status hui_s2fp8_gemm(const hu_product *product, const hu_how *how) {
  hu_product own = *product;
  product_call call;
  stored a, b;
  hu_matrix_extent extent[4];
  uint32_t threads = hui_exec_threads(how->exec);
  memset(&call, 0, sizeof call);
  hu_status status = make_source(&call.a, &a, &extent[1], &own.a, own.m, own.k);
  if (status == HU_OK) status = make_source(&call.b, &b, &extent[2], &own.b, own.k, own.n);
  if (status == HU_OK) status = hui_s2fp8_result(&own, &extent[0], &extent[3]);
  if (status != HU_OK) return status;
  for (int i = 1; i < 4; i++) {
    if (hui_matrix_extents_overlap(&extent[0], &extent[i])) return HU_E_OVERLAP;
  }
  if (own.m == 0 || own.n == 0) return HU_OK;
  status = check_codes(&a, own.a.type.s2fp8, threads);
  if (status == HU_OK) status = check_codes(&b, own.b.type.s2fp8, threads);
  if (status != HU_OK) return status;
  call.own = &own;
  call.across = (own.n - 1) / COLS + 1;
  call.fp32.kind = HU_ACCUM_FP32;
  call.exec = hui_exec_levels(how->exec);
  list_values(&call.a);
  list_values(&call.b);
  hui_parallel(threads, ((own.m - 1) / ROWS + 1) * call.across, block_part, &call);
  return HU_OK;
}
