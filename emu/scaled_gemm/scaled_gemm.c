/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors: prepares operands in working space, computes the ways `unit` and `decoded`, and encodes
 * results. */
#include "emu/scaled_gemm/scaled_gemm.h"

#include "emu/base/codes.h"
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
  const hu_scaled *x = &work->view->scaled;
  const hu_scaling *scaling = work->view->scaling;
  size_t from = hui_code_bytes(scaling->element), to = hui_matrix_size(&work->view->operand);
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
  hu_status status = hu_scaled_decode(view->rows, view->cols, z, view->cols, &view->scaled, view->scaling, exec);
  hu_format as = view->operand.type.format;
  if (status != HU_OK || hu_format_equal(as, hui_format_binary32())) return status;
  return hu_quantize_n(view->rows * view->cols, z, 1, z, 1, as, rne, exec, NULL);
}

static hu_status view_fill(const hu_scaled_plan *plan, const hu_scaled_view *view, const hu_exec *exec) {
  if (view->how == HU_VIEW_GIVEN || view->rows == 0 || view->cols == 0) return HU_OK;
  if (view->how == HU_VIEW_DECODED) return decode(view, exec);
  widening work = {view, (view->rows - 1) / plan->threads + 1};
  hui_parallel(plan->threads, (view->rows - 1) / work.rows + 1, widen_rows, &work);
  return HU_OK;
}

/* Spreads out one scale for each line and `every` products. */
static void spread(const hu_view *z, const hu_scale_source *source, size_t lines, size_t count, size_t every,
                   int rows) {
  size_t size = hui_matrix_size(z);
  hu_mode rne = {0};
  hu_spec spec = hui_spec_of(z->type.format, rne);
  uint32_t events, one = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
  for (size_t i = 0; i < lines; i++) {
    for (size_t part = 0; part < count; part++) {
      const uint8_t *at = source->at;
      if (source->size)
        at += (ptrdiff_t)(i / source->line_side) * source->line_step +
              (ptrdiff_t)(part * every / source->run_side) * source->run_step;
      hui_store_code(rows ? hui_matrix_at(z, i, part) : hui_matrix_at(z, part, i), size,
                     source->size ? hui_load_code(at, size) : one);
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

static int on_grid(const hu_view *x, size_t rows, size_t cols, const hu_exec *exec) {
  hu_matrix z;
  if (hui_matrix_is_codes(x) || rows == 0 || cols == 0) return 1;
  hu_spec spec = hui_spec_of(x->type.format, hui_plain_mode());
  hui_gemm_matrix(&z, x, &spec, rows, cols, hui_level_for(exec), &hu_gemm_portable);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  int fine = hui_gemm_on_grid(&z, 0, hui_gemm_stored_rows(&z));
  hui_float_env_leave(saved);
  return fine;
}

/* Checks the codes that the methods of summing do not read by themselves. */
static hu_status check_view(const hu_scaled_view *view, const hu_exec *exec) {
  uint32_t threads = hui_exec_threads(exec);
  const hu_view *x = &view->operand;
  if (view->rows == 0 || view->cols == 0) return HU_OK;
  if (view->scaling) return hui_scaled_codes_check(view->rows, view->cols, &view->scaled, view->scaling, threads);
  if (!hui_matrix_is_codes(x)) return HU_OK;
  return hui_code_rows_check(view->rows, view->cols, x->data, hui_matrix_ld(x), x->type.format, threads);
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
  hu_product product;
  hu_how how;
  hui_scaled_plan_whole(&product, &how, plan, exec, events);
  hu_status status = hui_gemm(&product, &how);
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
static hu_status check_amax(const hu_scaled_plan *plan) {
  if (!plan->scaling || !plan->amax) return HU_OK;
  uint32_t bits = hui_bits_of_float(*plan->amax);
  return bits < 0x7F800000 || bits == 0x80000000 ? HU_OK : HU_E_SCALING;
}

hu_status hui_scaled_gemm(const hu_product *x, const hu_how *how) {
  hu_scaled_plan plan;
  hu_status status = hui_scaled_plan_make(&plan, x, how->mode, how->exec, 0);
  if (status == HU_OK) status = hui_scaled_plan_place(&plan, x->space, x->bytes);
  if (status == HU_OK) status = check_amax(&plan);
  if (status == HU_OK && plan.m && plan.n) status = run(&plan, how->exec, how->events);
  if (status != HU_OK || !plan.scaling) return status;
  return hu_scaled_encode(plan.m, plan.n, &plan.scaled, plan.y, plan.n, plan.scaling, how->mode, plan.amax, plan.stats,
                          how->exec, how->events);
}
