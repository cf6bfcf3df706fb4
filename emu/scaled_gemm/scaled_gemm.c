/* SPDX-License-Identifier: MIT */
/* hu_scaled_gemm: prepares operands in working space, computes the ways `unit` and `decoded`, and encodes results. */
#include "halfulp/scaled_gemm.h"

#include "emu/base/codes.h"
#include "emu/base/device_calls.h"
#include "emu/base/threads.h"
#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/scaled/check.h"
#include "emu/scaled_gemm/tiles.h"

/* ---- operands in working space ---- */

typedef struct widening {
  const hu_scaled_view *view;
  size_t rows; /* in a part */
} widening;

static void widen_rows(void *context, size_t part) {
  const widening *work = context;
  const hu_scaled *x = &work->view->from.scaled;
  const hu_scaling *scaling = work->view->from.scaling;
  size_t from = hui_code_bytes(scaling->element), to = hui_code_bytes(work->view->operand.format);
  size_t past = hui_least((part + 1) * work->rows, work->view->rows);
  for (size_t i = part * work->rows; i < past; i++) {
    const uint8_t *at = (const uint8_t *)x->codes + i * x->ld * from;
    uint8_t *z = (uint8_t *)(uintptr_t)work->view->operand.data + i * work->view->cols * to;
    for (size_t j = 0; j < work->view->cols; j++) {
      hui_store_code(z + j * to, to, hui_scale_twos(scaling->element.m, hui_load_code(at + j * from, from)));
    }
  }
}

static hu_status decode(const hu_scaled_view *view, const hu_exec *exec) {
  hu_mode rne = {0};
  float *z = (float *)(uintptr_t)view->operand.data;
  hu_status status =
      hu_scaled_decode(view->rows, view->cols, z, view->cols, &view->from.scaled, view->from.scaling, exec);
  if (status != HU_OK || hu_format_equal(view->operand.format, hui_format_binary32())) return status;
  return hu_quantize_n(view->rows * view->cols, z, 1, z, 1, view->operand.format, rne, exec, NULL);
}

static hu_status view_fill(const hu_scaled_plan *plan, const hu_scaled_view *view, const hu_exec *exec) {
  if (view->how == HU_VIEW_GIVEN || view->rows == 0 || view->cols == 0) return HU_OK;
  if (view->how == HU_VIEW_DECODED) return decode(view, exec);
  widening work = {view, (view->rows - 1) / plan->threads + 1};
  hui_parallel(plan->threads, (view->rows - 1) / work.rows + 1, widen_rows, &work);
  return HU_OK;
}

/* Spreads out one scale for each line and `every` products. */
static void spread(const hu_operand *z, const hu_scale_source *source, size_t lines, size_t count, size_t every,
                   int rows) {
  size_t size = hui_code_bytes(z->format);
  hu_mode rne = {0};
  hu_spec spec = hui_spec_of(z->format, rne);
  uint32_t events, one = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
  for (size_t i = 0; i < lines; i++) {
    for (size_t part = 0; part < count; part++) {
      const uint8_t *at = source->at;
      if (source->size)
        at += (ptrdiff_t)(i / source->line_side) * source->line_step +
              (ptrdiff_t)(part * every / source->run_side) * source->run_step;
      uint8_t *to = (uint8_t *)(uintptr_t)z->data + (rows ? i * z->ld + part : part * z->ld + i) * size;
      hui_store_code(to, size, source->size ? hui_load_code(at, size) : one);
    }
  }
}

static void spread_scales(const hu_scaled_plan *plan) {
  const hu_accum *x = &plan->sum.inside;
  size_t every = x->scaled ? x->promote : x->block.every;
  if (plan->sum.way != HU_SCALED_UNIT) return;
  size_t count = hui_gemm_scales(x, plan->k);
  if (plan->spread_a) spread(&plan->scale_a, &plan->sa, plan->m, count, every, 1);
  if (plan->spread_b) spread(&plan->scale_b, &plan->sb, plan->n, count, every, 0);
}

/* ---- plain operands on their grids, codes no wider than their formats ---- */

static int on_grid(const hu_operand *x, size_t rows, size_t cols, const hu_exec *exec) {
  hu_matrix z;
  if (x->storage != HU_STORAGE_VALUES || rows == 0 || cols == 0) return 1;
  hu_spec spec = hui_spec_of(x->format, hui_plain_mode());
  hui_gemm_matrix(&z, x, &spec, rows, cols, hui_level_for(exec), &hu_gemm_portable);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  int fine = hui_gemm_on_grid(&z, 0, hui_gemm_stored_rows(&z));
  hui_float_env_leave(saved);
  return fine;
}

/* Checks the codes that the methods of summing do not read by themselves. */
static hu_status check_view(const hu_scaled_view *view, const hu_exec *exec) {
  uint32_t threads = hui_exec_threads(exec);
  const hu_operand *x = &view->from.plain;
  if (view->rows == 0 || view->cols == 0) return HU_OK;
  if (view->from.scaling)
    return hui_scaled_codes_check(view->rows, view->cols, &view->from.scaled, view->from.scaling, threads);
  if (x->storage != HU_STORAGE_CODES) return HU_OK;
  return hui_code_rows_check(view->rows, view->cols, x->data, x->ld, x->format, threads);
}

static hu_status check_codes(const hu_scaled_plan *plan, const hu_exec *exec) {
  hu_status status = check_view(&plan->a, exec);
  if (status == HU_OK) status = check_view(&plan->b, exec);
  return status == HU_OK && plan->has_c ? check_view(&plan->c, exec) : status;
}

static hu_status check_grids(const hu_scaled_plan *plan, const hu_exec *exec) {
  int fine = plan->a.how != HU_VIEW_GIVEN || on_grid(&plan->a.operand, plan->m, plan->k, exec);
  fine &= plan->b.how != HU_VIEW_GIVEN || on_grid(&plan->b.operand, plan->k, plan->n, exec);
  fine &= !plan->has_c || plan->c.how != HU_VIEW_GIVEN || on_grid(&plan->c.operand, plan->m, plan->n, exec);
  return fine ? HU_OK : HU_E_GRID;
}

/* ---- unit and decoded ---- */

/* The whole product, into y where there is one. */
static hu_status multiply(const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events) {
  hu_result y = {plan->y, plan->n, hui_format_binary32(), HU_STORAGE_VALUES};
  hu_mode rne = {0}, mode = plan->y ? rne : plan->mode;
  const hu_result *result = plan->y ? &y : &plan->result.plain;
  const hu_operand *c = plan->has_c && !plan->alpha ? &plan->c.operand : NULL;
  hu_events *counts = plan->y ? NULL : events;
  if (plan->sum.way == HU_SCALED_DECODED) {
    return hu_gemm(plan->m, plan->n, plan->k, result, &plan->a.operand, &plan->b.operand, c, &plan->sum.inside, mode,
                   exec, counts);
  }
  return hu_gemm_scaled(plan->m, plan->n, plan->k, result, &plan->a.operand, &plan->b.operand, c, &plan->scale_a,
                        &plan->scale_b, &plan->sum.inside, mode, exec, counts);
}

/* The unit's sums get their tensor scales. */
static int run_epilogue(hu_tiles *tiles, const hu_tile *tile) {
  float *sum = (float *)(void *)tile->work;
  for (size_t i = 0; i < tile->rows; i++) {
    memcpy(sum + i * tile->cols, tiles->plan->y + (tile->i + i) * tiles->plan->n + tile->j, tile->cols * sizeof *sum);
  }
  return hui_tile_epilogue(tiles, tile, sum, sum + HU_TILE_MOST) && hui_tile_finish(tiles, tile, sum);
}

static hu_status run_whole(const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events) {
  hu_tiles tiles;
  hu_status status = multiply(plan, exec, events);
  if (status != HU_OK || !plan->alpha) return status;
  hui_tiles_make(&tiles, plan, exec);
  tiles.run = run_epilogue;
  return hui_tiles_run(&tiles, HU_TILE_MOST, events);
}

/* ---- the calls ---- */

static hu_status run(const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events) {
  hu_status status = check_codes(plan, exec);
  if (status == HU_OK) status = check_grids(plan, exec);
  if (status == HU_OK) status = view_fill(plan, &plan->a, exec);
  if (status == HU_OK) status = view_fill(plan, &plan->b, exec);
  if (status == HU_OK && plan->has_c) status = view_fill(plan, &plan->c, exec);
  if (status != HU_OK) return status;
  spread_scales(plan);
  return plan->sum.way == HU_SCALED_PARTS ? hui_scaled_run_parts(plan, exec, events) : run_whole(plan, exec, events);
}

/* amax is read here, and nowhere before. */
static hu_status check_amax(const hu_scaled_result *result) {
  if (!result->scaling || !result->amax) return HU_OK;
  uint32_t bits = hui_bits_of_float(*result->amax);
  return bits < 0x7F800000 || bits == 0x80000000 ? HU_OK : HU_E_SCALING;
}

hu_status hu_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *result, const hu_scaled_operand *a,
                         const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum, hu_mode mode,
                         void *space, size_t bytes, const hu_exec *exec, hu_events *events) {
  if (hui_is_elsewhere(exec))
    return HUI_THERE(exec, scaled_gemm, (m, n, k, result, a, b, c, sum, mode, space, bytes, exec, events));
  hu_scaled_plan plan;
  hu_status status = hui_scaled_plan_make(&plan, m, n, k, result, a, b, c, sum, mode, exec, 0);
  if (status == HU_OK) status = hui_scaled_plan_place(&plan, space, bytes);
  if (status == HU_OK) status = check_amax(result);
  if (status == HU_OK && m && n) status = run(&plan, exec, events);
  if (status != HU_OK || !result->scaling) return status;
  return hu_scaled_encode(m, n, &result->scaled, plan.y, n, result->scaling, mode, result->amax, result->stats, exec,
                          events);
}

size_t hu_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *result, const hu_scaled_operand *a,
                            const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum,
                            const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_BYTES_THERE(exec, scaled_gemm_space, (m, n, k, result, a, b, c, sum, exec));
  hu_scaled_plan plan;
  return hui_scaled_plan_size(&plan, m, n, k, result, a, b, c, sum, exec, 0) == HU_OK ? plan.bytes : SIZE_MAX;
}
