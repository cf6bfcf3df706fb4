/* SPDX-License-Identifier: MIT */
/* hu_scaled_gemm: prepares operands in working space, computes the ways `unit` and `decoded`, and encodes results. */
#include "halfulp/scaled_gemm.h"

#include "emu/base/codes.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/scaled/check.h"
#include "emu/scaled_gemm/tiles.h"

/* ---- operands in working space ---- */

typedef struct widening {
  const hu_scaled_view *v;
  size_t rows; /* in a part */
} widening;

static void widen_rows(void *context, size_t part) {
  const widening *w = context;
  const hu_scaled *x = &w->v->from.scaled;
  const hu_scaling *d = w->v->from.scaling;
  size_t from = hui_code_bytes(d->element), to = hui_code_bytes(w->v->operand.format);
  size_t past = hui_least((part + 1) * w->rows, w->v->rows);
  for (size_t i = part * w->rows; i < past; i++) {
    const uint8_t *at = (const uint8_t *)x->codes + i * x->ld * from;
    uint8_t *z = (uint8_t *)(uintptr_t)w->v->operand.data + i * w->v->cols * to;
    for (size_t j = 0; j < w->v->cols; j++) {
      hui_store_code(z + j * to, to, hui_scale_twos(d->element.m, hui_load_code(at + j * from, from)));
    }
  }
}

static hu_status decode(const hu_scaled_view *v, const hu_exec *exec) {
  hu_mode rne = {0};
  float *z = (float *)(uintptr_t)v->operand.data;
  hu_status s = hu_scaled_decode(v->rows, v->cols, z, v->cols, &v->from.scaled, v->from.scaling, exec);
  if (s != HU_OK || hu_format_equal(v->operand.format, hui_format_binary32())) return s;
  return hu_quantize_n(v->rows * v->cols, z, 1, z, 1, v->operand.format, rne, exec, NULL);
}

static hu_status view_fill(const hu_scaled_plan *t, const hu_scaled_view *v, const hu_exec *exec) {
  if (v->how == HU_VIEW_GIVEN || v->rows == 0 || v->cols == 0) return HU_OK;
  if (v->how == HU_VIEW_DECODED) return decode(v, exec);
  widening w = {v, (v->rows - 1) / t->threads + 1};
  hui_parallel(t->threads, (v->rows - 1) / w.rows + 1, widen_rows, &w);
  return HU_OK;
}

/* One scale for each line and `every` products. */
static void spread(const hu_operand *z, const hu_scale_source *s, size_t lines, size_t count, size_t every, int rows) {
  size_t size = hui_code_bytes(z->format);
  hu_mode rne = {0};
  hu_spec spec = hui_spec_of(z->format, rne);
  uint32_t events, one = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
  for (size_t i = 0; i < lines; i++) {
    for (size_t q = 0; q < count; q++) {
      const uint8_t *at = s->at;
      if (s->size)
        at += (ptrdiff_t)(i / s->line_side) * s->line_step + (ptrdiff_t)(q * every / s->run_side) * s->run_step;
      uint8_t *to = (uint8_t *)(uintptr_t)z->data + (rows ? i * z->ld + q : q * z->ld + i) * size;
      hui_store_code(to, size, s->size ? hui_load_code(at, size) : one);
    }
  }
}

static void spread_scales(const hu_scaled_plan *t) {
  const hu_accum *x = &t->sum.inside;
  size_t every = x->scaled ? x->promote : x->block.every;
  if (t->sum.way != HU_SCALED_UNIT) return;
  size_t count = hui_gemm_scales(x, t->k);
  if (t->spread_a) spread(&t->scale_a, &t->sa, t->m, count, every, 1);
  if (t->spread_b) spread(&t->scale_b, &t->sb, t->n, count, every, 0);
}

/* ---- plain operands on their grids, codes no wider than their formats ---- */

static int on_grid(const hu_operand *x, size_t rows, size_t cols, const hu_exec *exec) {
  hu_matrix z;
  if (x->storage != HU_STORAGE_VALUES || rows == 0 || cols == 0) return 1;
  hui_gemm_matrix(&z, x, rows, cols, hui_level_for(exec), &hu_gemm_portable);
  return hui_gemm_on_grid(&z, 0, hui_gemm_stored_rows(&z));
}

/* The ways read most codes by themselves. */
static hu_status check_view(const hu_scaled_view *v, const hu_exec *exec) {
  uint32_t threads = hui_exec_threads(exec);
  const hu_operand *x = &v->from.plain;
  if (v->rows == 0 || v->cols == 0) return HU_OK;
  if (v->from.scaling) return hui_scaled_codes_check(v->rows, v->cols, &v->from.scaled, v->from.scaling, threads);
  if (x->storage != HU_STORAGE_CODES) return HU_OK;
  return hui_code_rows_check(v->rows, v->cols, x->data, x->ld, x->format, threads);
}

static hu_status check_codes(const hu_scaled_plan *t, const hu_exec *exec) {
  hu_status s = check_view(&t->a, exec);
  if (s == HU_OK) s = check_view(&t->b, exec);
  return s == HU_OK && t->has_c ? check_view(&t->c, exec) : s;
}

static hu_status check_grids(const hu_scaled_plan *t, const hu_exec *exec) {
  int fine = t->a.how != HU_VIEW_GIVEN || on_grid(&t->a.operand, t->m, t->k, exec);
  fine &= t->b.how != HU_VIEW_GIVEN || on_grid(&t->b.operand, t->k, t->n, exec);
  fine &= !t->has_c || t->c.how != HU_VIEW_GIVEN || on_grid(&t->c.operand, t->m, t->n, exec);
  return fine ? HU_OK : HU_E_GRID;
}

/* ---- unit and decoded ---- */

/* The whole product, into y where there is one. */
static hu_status multiply(const hu_scaled_plan *t, const hu_exec *exec, hu_events *events) {
  hu_result y = {t->y, t->n, hui_format_binary32(), HU_STORAGE_VALUES};
  hu_mode rne = {0}, mode = t->y ? rne : t->mode;
  const hu_result *d = t->y ? &y : &t->d.plain;
  const hu_operand *c = t->has_c && !t->alpha ? &t->c.operand : NULL;
  hu_events *counts = t->y ? NULL : events;
  if (t->sum.way == HU_SCALED_DECODED) {
    return hu_gemm(t->m, t->n, t->k, d, &t->a.operand, &t->b.operand, c, &t->sum.inside, mode, exec, counts);
  }
  return hu_gemm_scaled(t->m, t->n, t->k, d, &t->a.operand, &t->b.operand, c, &t->scale_a, &t->scale_b, &t->sum.inside,
                        mode, exec, counts);
}

/* The unit's sums get their tensor scales. */
static int run_epilogue(hu_tiles *g, const hu_tile *z) {
  float *sum = (float *)(void *)z->work;
  for (size_t i = 0; i < z->rows; i++) {
    memcpy(sum + i * z->cols, g->t->y + (z->i + i) * g->t->n + z->j, z->cols * sizeof *sum);
  }
  return hui_tile_epilogue(g, z, sum, sum + HU_TILE_MOST) && hui_tile_finish(g, z, sum);
}

static hu_status run_whole(const hu_scaled_plan *t, const hu_exec *exec, hu_events *events) {
  hu_tiles g;
  hu_status s = multiply(t, exec, events);
  if (s != HU_OK || !t->alpha) return s;
  hui_tiles_make(&g, t, exec);
  g.run = run_epilogue;
  return hui_tiles_run(&g, HU_TILE_MOST, events);
}

/* ---- the calls ---- */

static hu_status run(const hu_scaled_plan *t, const hu_exec *exec, hu_events *events) {
  hu_status s = check_codes(t, exec);
  if (s == HU_OK) s = check_grids(t, exec);
  if (s == HU_OK) s = view_fill(t, &t->a, exec);
  if (s == HU_OK) s = view_fill(t, &t->b, exec);
  if (s == HU_OK && t->has_c) s = view_fill(t, &t->c, exec);
  if (s != HU_OK) return s;
  spread_scales(t);
  return t->sum.way == HU_SCALED_PARTS ? hui_scaled_run_parts(t, exec, events) : run_whole(t, exec, events);
}

/* amax is read here, and nowhere before. */
static hu_status check_amax(const hu_scaled_result *d) {
  if (!d->scaling || !d->amax) return HU_OK;
  uint32_t u = hui_bits_of_float(*d->amax);
  return u < 0x7F800000 || u == 0x80000000 ? HU_OK : HU_E_SCALING;
}

hu_status hu_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                         const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum, hu_mode mode,
                         void *space, size_t bytes, const hu_exec *exec, hu_events *events) {
  hu_scaled_plan t;
  hu_status s = hui_scaled_plan_make(&t, m, n, k, d, a, b, c, sum, mode, exec, 0);
  if (s == HU_OK) s = hui_scaled_plan_place(&t, space, bytes);
  if (s == HU_OK) s = check_amax(d);
  if (s == HU_OK && m && n) s = run(&t, exec, events);
  if (s != HU_OK || !d->scaling) return s;
  return hu_scaled_encode(m, n, &d->scaled, t.y, n, d->scaling, mode, d->amax, d->stats, exec, events);
}

size_t hu_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                            const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum,
                            const hu_exec *exec) {
  hu_scaled_plan t;
  return hui_scaled_plan_size(&t, m, n, k, d, a, b, c, sum, exec, 0) == HU_OK ? t.bytes : SIZE_MAX;
}
