/* SPDX-License-Identifier: MIT */
/* Plain products: the record of a call, and the list of the ways to compute it. */
#include "halfulp/gemm.h"

#include "emu/base/codes.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/accum_step.h"
#include "emu/gemm/call.h"

/* ---- what the operands hold: values on their grid, codes no wider than their format ---- */

typedef struct grid_check {
  const hu_matrix *x;
  size_t parts;
  uint8_t wrong[HU_THREADS_MAX];
} grid_check;

static void check_part(void *context, size_t part) {
  grid_check *check = context;
  hu_float_env saved = hui_gemm_enter(check->parts);
  size_t rows = hui_gemm_stored_rows(check->x),
         first = rows / check->parts * part + hui_least(part, rows % check->parts);
  check->wrong[part] = !hui_gemm_on_grid(check->x, first, rows / check->parts + (part < rows % check->parts));
  hui_gemm_leave(check->parts, saved);
}

static int on_grid(const hu_matrix *x, uint32_t threads) {
  grid_check check;
  check.x = x;
  check.parts = hui_least(hui_gemm_stored_rows(x), threads);
  hui_parallel(threads, check.parts, check_part, &check);
  for (size_t i = 0; i < check.parts; i++) {
    if (check.wrong[i]) return 0;
  }
  return 1;
}

static hu_status check_elements(const hu_gemm_call *call) {
  const hu_matrix *all[5] = {&call->a, &call->b, &call->c, &call->scale_a, &call->scale_b};
  hu_status status = HU_OK;
  for (int i = 0; i < 5 && status == HU_OK; i++) {
    const hu_matrix *x = all[i];
    if (!x->data || x->rows == 0 || x->cols == 0) continue;
    if (x->values) {
      status = on_grid(x, call->threads) ? HU_OK : HU_E_GRID;
    } else {
      status = hui_code_rows_check(hui_gemm_stored_rows(x), hui_gemm_stored_cols(x), x->data, x->ld, x->format,
                                   call->threads);
    }
  }
  return status;
}

/* ---- the ways ---- */

/* The first that serves takes the call. Where the model is `exact`, they stand in the order of their cost. */
static const hu_gemm_way *const ways[] = {&hu_way_digits,   &hu_way_short,   &hu_way_fp32,      &hu_way_exact64,
                                          &hu_way_brackets, &hu_way_wide,    &hu_way_half,      &hu_way_half_steps,
                                          &hu_way_seq,      &hu_way_unfused, &hu_way_seq_modes, &hu_way_pairs,
                                          &hu_way_unit,     &hu_way_slices,  &hu_way_steps,     &hu_way_by_model};

static void run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (ways[i]->run(call, level, events)) return;
  }
}

/* ---- the call ---- */

/* Sets which trailing digits of x's codes the model does not look at, and whether it does where they make a NaN. */
static void set_unseen(hu_matrix *x, const hu_block *block) {
  uint32_t seen = block->input;
  x->unseen = seen && x->spec.m > seen ? ((uint32_t)1 << (x->spec.m - seen)) - 1 : 0;
  x->nan_kept = block->nan;
}

/* Fills the record from a product that is settled. */
static void make_call(hu_gemm_call *call, const hu_product *x, const hu_gemm_specs *specs, const hu_exec *exec) {
  const hu_level *level = hui_level_for(exec);
  size_t scales = hui_gemm_scales(x->accum, x->k);
  call->m = x->m;
  call->n = x->n;
  call->k = x->k;
  call->threads = hui_exec_threads(exec);
  call->kernels = level->gemm ? level->gemm : &hu_gemm_portable;
  call->extensions = hui_extensions_for(exec);
  hui_gemm_matrix(&call->a, &x->a, &specs->a, x->m, x->k, level, call->kernels);
  hui_gemm_matrix(&call->b, &x->b, &specs->b, x->k, x->n, level, call->kernels);
  hui_gemm_matrix(&call->c, &x->c, &specs->c, x->m, x->n, level, call->kernels);
  hui_gemm_matrix(&call->scale_a, &x->sa, &specs->scale_a, x->m, scales, level, call->kernels);
  hui_gemm_matrix(&call->scale_b, &x->sb, &specs->scale_b, scales, x->n, level, call->kernels);
  set_unseen(&call->a, &x->accum->block);
  set_unseen(&call->b, &x->accum->block);
  call->accum = x->accum;
  call->exact = x->accum->kind == HU_ACCUM_EXACT;
  call->looked = 0;
  call->run = run;
  call->level = level;
  call->stream = hui_exec_stream(exec);
  hui_gemm_set_result(call, &x->d, &specs->result, level);
}

hu_status hui_gemm(const hu_product *product, const hu_how *how) {
  hu_product own = *product;
  hu_gemm_call call;
  hu_watch watches[HU_THREADS_MAX];
  hu_gemm_specs specs;
  hu_status status = hui_gemm_check(&specs, &own, how->mode);
  if (status != HU_OK || own.m == 0 || own.n == 0) return status;
  make_call(&call, &own, &specs, how->exec);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  status = check_elements(&call);
  call.watches = own.watch ? watches : NULL;
  if (own.watch) memset(watches, 0, sizeof watches);
  if (status == HU_OK) run(&call, call.level, how->events);
  for (size_t i = 0; own.watch && i < HU_THREADS_MAX; i++) hui_watch_add(own.watch, &watches[i]);
  hui_float_env_leave(saved);
  return status;
}
