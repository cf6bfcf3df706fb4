/* SPDX-License-Identifier: MIT */
/* hu_s2fp8_gemm: blocks of Z over threads; panels of A and B decoded onto the stack and given to hu_gemm, the block of
 * Z being its own C from the second panel on. Sums of fp32 go by ascending k, so where k is cut does not affect the
 * result. */
#include <stdint.h>

#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/device_calls.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/s2fp8_table.h"
#include "emu/s2fp8/run.h"
#include "halfulp/gemm.h"

enum { ROWS = 64, COLS = 128, DEPTH = 256 };

typedef struct source {
  const uint8_t *codes;
  size_t ld, size;
  uint32_t transposed, mask;
  hu_s2 map;
  int listed; /* values by code are there */
  uint32_t values[2 * HU_S2_CODES];
} source;

typedef struct product_call {
  size_t m, n, k, across, ldz, ldc;
  float *z;
  const float *c;
  source a, b;
  hu_exec exec;
  hu_format binary32;
  hu_accum fp32;
} product_call;

/* Decodes rows x cols values from (row, col) on. */
static void decode_panel(float *z, const source *x, size_t row, size_t col, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      size_t at = x->transposed ? (col + j) * x->ld + row + i : (row + i) * x->ld + col + j;
      uint32_t code = hui_load_code(x->codes + at * x->size, x->size) & x->mask;
      z[i * cols + j] = hui_float_of_bits(x->listed ? x->values[code] : hui_s2_decoded(&x->map, code));
    }
  }
}

static void block_part(void *context, size_t part) {
  const product_call *call = context;
  static const hu_mode rne;
  float a[ROWS * DEPTH], b[DEPTH * COLS];
  size_t row = part / call->across * ROWS, col = part % call->across * COLS;
  size_t rows = hui_least(ROWS, call->m - row), cols = hui_least(COLS, call->n - col), k = 0;
  float *z = call->z + row * call->ldz + col;
  hu_result d = {z, call->ldz, call->binary32, HU_STORAGE_VALUES};
  hu_operand before = {z, call->ldz, call->binary32, HU_STORAGE_VALUES, 0};
  if (call->c) {
    before.data = call->c + row * call->ldc + col;
    before.ld = call->ldc;
  }
  do {
    size_t depth = hui_least(DEPTH, call->k - k);
    hu_operand x = {a, depth, call->binary32, HU_STORAGE_VALUES, 0},
               y = {b, cols, call->binary32, HU_STORAGE_VALUES, 0};
    decode_panel(a, &call->a, row, k, rows, depth);
    decode_panel(b, &call->b, k, col, depth, cols);
    const hu_operand *c = k || call->c ? &before : NULL;
    if (hu_gemm(rows, cols, depth, &d, &x, &y, c, &call->fp32, rne, &call->exec, NULL) != HU_OK) return; /* cannot be */
    before.data = z;
    before.ld = call->ldz;
    k += depth;
  } while (k < call->k);
}

/* The bytes of a matrix; none if it has no elements. */
static hu_status cover_matrix(hu_covered *covered, const void *data, size_t rows, size_t cols, size_t ld, size_t size) {
  size_t elements;
  covered->first = covered->past = 0;
  if (ld < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  if (__builtin_mul_overflow(rows - 1, ld, &elements) || __builtin_add_overflow(elements, cols, &elements)) {
    return HU_E_SHAPE;
  }
  hu_strided all = {data, size, 1};
  return hui_cover(covered, elements, &all);
}

static int apart(const hu_covered *x, const hu_covered *y) {
  return x->first == x->past || y->first == y->past || x->past <= y->first || y->past <= x->first;
}

static hu_status make_source(source *z, hu_covered *covered, const hu_s2fp8_operand *x, size_t rows, size_t cols) {
  static const hu_mode rne;
  if (!x || !x->kind || !x->scale) return HU_E_NULL;
  hu_status status = hui_s2_check(x->kind, x->scale, rne);
  if (status != HU_OK) return status;
  if (x->transposed > 1) return HU_E_SHAPE;
  z->codes = x->codes;
  z->ld = x->ld;
  z->size = (uint8_t)hui_code_bytes(x->kind->element);
  z->transposed = x->transposed;
  z->map = hui_s2_of(x->kind, x->scale->mu, x->scale->m, rne);
  z->mask = z->map.spec.mag_mask | z->map.spec.sign_mask;
  z->listed = 0;
  return cover_matrix(covered, x->codes, x->transposed ? cols : rows, x->transposed ? rows : cols, x->ld, z->size);
}

static hu_status check_codes(const hu_s2fp8_operand *x, size_t rows, size_t cols, uint32_t threads) {
  return hui_code_rows_check(x->transposed ? cols : rows, x->transposed ? rows : cols, x->codes, x->ld,
                             x->kind->element, threads);
}

static void list_values(source *z) {
  if (z->mask >= 2 * HU_S2_CODES) return;
  for (uint32_t i = 0; i <= z->mask; i++) z->values[i] = hui_s2_decoded(&z->map, i);
  z->listed = 1;
}

size_t hu_s2fp8_gemm_work_size(size_t m, size_t n, size_t k, const hu_s2fp8_operand *a, const hu_s2fp8_operand *b,
                               const hu_exec *exec) {
  return hui_is_elsewhere(exec) ? HUI_BYTES_THERE(exec, s2fp8_gemm_work, (m, n, k, a, b, exec)) : 0;
}

hu_status hu_s2fp8_gemm(size_t m, size_t n, size_t k, float *z, size_t ldz, const hu_s2fp8_operand *a,
                        const hu_s2fp8_operand *b, const float *c, size_t ldc, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, s2fp8_gemm, (m, n, k, z, ldz, a, b, c, ldc, exec));
  product_call call;
  hu_covered sz, sa, sb, sc = {0, 0};
  uint32_t threads = hui_exec_threads(exec);
  memset(&call, 0, sizeof call);
  hu_status status = make_source(&call.a, &sa, a, m, k);
  if (status == HU_OK) status = make_source(&call.b, &sb, b, k, n);
  if (status == HU_OK) status = cover_matrix(&sz, z, m, n, ldz, sizeof *z);
  if (status == HU_OK && c) status = cover_matrix(&sc, c, m, n, ldc, sizeof *c);
  if (status != HU_OK) return status;
  int in_place = c == z && ldc == ldz;
  if (!apart(&sz, &sa) || !apart(&sz, &sb) || (!in_place && !apart(&sz, &sc))) return HU_E_OVERLAP;
  if (m == 0 || n == 0) return HU_OK;
  status = check_codes(a, m, k, threads);
  if (status == HU_OK) status = check_codes(b, k, n, threads);
  if (status != HU_OK) return status;
  call.m = m;
  call.n = n;
  call.k = k;
  call.across = (n - 1) / COLS + 1;
  call.z = z;
  call.ldz = ldz;
  call.c = c;
  call.ldc = ldc;
  call.binary32 = hui_format_binary32();
  call.fp32.kind = HU_ACCUM_FP32;
  call.exec = hui_exec_levels(exec);
  list_values(&call.a);
  list_values(&call.b);
  hui_parallel(threads, ((m - 1) / ROWS + 1) * call.across, block_part, &call);
  return HU_OK;
}
