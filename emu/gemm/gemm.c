/* SPDX-License-Identifier: MIT */
/* hu_gemm: arguments, the way to take, blocks over threads; the fp32 model. */
#include "halfulp/gemm.h"

#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/accum_step.h"
#include "emu/gemm/call.h"

/* ---- the grid of binary32 operands ---- */

typedef struct grid_check {
  const hu_matrix *x;
  size_t parts;
  uint8_t wrong[HU_THREADS_MAX];
} grid_check;

static void check_part(void *context, size_t part) {
  grid_check *t = context;
  size_t rows = hu_gemm_stored_rows(t->x), first = rows / t->parts * part + hu_least(part, rows % t->parts);
  t->wrong[part] = !hu_gemm_on_grid(t->x, first, rows / t->parts + (part < rows % t->parts));
}

static int on_grid(const hu_matrix *x, uint32_t threads) {
  grid_check t;
  if (!x->data || !x->values || x->rows == 0 || x->columns == 0) return 1;
  t.x = x;
  t.parts = hu_least(hu_gemm_stored_rows(x), threads);
  hu_parallel(threads, t.parts, check_part, &t);
  for (size_t i = 0; i < t.parts; i++) {
    if (t.wrong[i]) return 0;
  }
  return 1;
}

/* ---- the fp32 model ---- */

#define HU_FINISH hu_gemm_finish32
#define HU_KERNEL g->kernels->fma32
#include "emu/gemm/float_block32.h"

static void use_binary32(hu_gemm_call *g) {
  g->block = run_block;
  hu_gemm_set_blocks(g, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
}

/* ---- blocks over threads ---- */

typedef struct block_work {
  hu_gemm_call *g;
  size_t blocks, parts;
} block_work;

static void run_part(void *context, size_t part) {
  block_work *w = context;
  hu_float_env saved = hu_float_env_enter(HU_NEAREST);
  for (size_t i = part; i < w->blocks; i += w->parts) {
    w->g->block(w->g, i / w->g->across * w->g->block_rows, i % w->g->across * w->g->block_columns, &w->g->events[part]);
  }
  hu_float_env_leave(saved);
}

static void run(hu_gemm_call *g, hu_events *events) {
  block_work w;
  w.g = g;
  w.blocks = (g->m + g->block_rows - 1) / g->block_rows * g->across;
  /* A thread's next block is its neighbour's: one part a thread keeps the order along the rows where there is one
   * thread. */
  w.parts = hu_least(w.blocks, g->threads);
  memset(g->events, 0, w.parts * sizeof g->events[0]);
  hu_parallel(g->threads, w.parts, run_part, &w);
  for (size_t i = 0; events && i < w.parts; i++) hu_events_add(events, &g->events[i]);
}

/* The cheapest way that is proved to give the exact sum. */
static void choose_exact(hu_gemm_call *g) {
  const hu_format *fc = g->c.data ? &g->c.format : NULL;
  int fit = hu_gemm_fit_binary32(g->a.format, g->b.format, fc);
  if (fit && hu_gemm_sums_fit(g->k, g->a.format, g->b.format, fc, 24, -149)) {
    use_binary32(g);
    return;
  }
  if (hu_gemm_exact64(g->k, g->a.format, g->b.format, fc)) {
    hu_gemm_use_binary64(g);
    return;
  }
  g->sa = hu_gemm_span(&g->a);
  g->sb = hu_gemm_span(&g->b);
  g->sc = hu_gemm_span(&g->c);
  if (hu_gemm_spans_fit64(g)) {
    hu_gemm_use_binary64(g);
  } else if (hu_gemm_brackets_help(g)) {
    hu_gemm_use_brackets(g);
  } else {
    hu_gemm_use_wide(g);
  }
}

/* The models that lanes serve. */
static int use_lanes(hu_gemm_call *g, const hu_level *level) {
  int scaled = g->scale_a.data != NULL;
  if (!scaled && (hu_gemm_use_seq(g, level) || hu_gemm_use_steps(g, level) || hu_gemm_use_modes(g, level))) return 1;
  return hu_gemm_use_block(g, level);
}

/* The way to take; its blocks are what run() goes through. */
static void choose(hu_gemm_call *g, const hu_level *level) {
  if (g->exact) {
    choose_exact(g);
  } else if (g->watches) {
    hu_gemm_use_model(g);
  } else if (hu_gemm_is_fp32(g->accum, g->a.carried && g->b.carried && (!g->c.data || g->c.carried))) {
    use_binary32(g);
  } else if (!use_lanes(g, level)) {
    hu_gemm_use_model(g);
  }
}

/* Trailing digits of x's codes that the model does not look at. */
static uint32_t unseen_by(const hu_accum *accum, const hu_matrix *x) {
  uint32_t seen = accum->block.input;
  return seen && x->spec.m > seen ? ((uint32_t)1 << (x->spec.m - seen)) - 1 : 0;
}

/* sa, sb: NULL where the model has no scales. */
static hu_status multiply(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                          const hu_operand *c, const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                          hu_mode mode, const hu_exec *exec, hu_events *events, hu_watch *watch) {
  hu_gemm_call g;
  hu_watch watches[HU_THREADS_MAX];
  hu_status s = hu_gemm_check(m, n, k, d, a, b, c, sa, sb, accum, mode);
  if (s != HU_OK) return s;
  const hu_level *level = hu_level_for(exec);
  g.m = m;
  g.n = n;
  g.k = k;
  g.threads = hu_exec_threads(exec);
  g.kernels = level->gemm ? level->gemm : &hu_gemm_portable;
  hu_gemm_matrix(&g.a, a, m, k, level, g.kernels);
  hu_gemm_matrix(&g.b, b, k, n, level, g.kernels);
  hu_gemm_matrix(&g.c, c, m, n, level, g.kernels);
  hu_gemm_matrix(&g.scale_a, sa, m, hu_gemm_scales(accum, k), level, g.kernels);
  hu_gemm_matrix(&g.scale_b, sb, hu_gemm_scales(accum, k), n, level, g.kernels);
  g.a.unseen = unseen_by(accum, &g.a);
  g.b.unseen = unseen_by(accum, &g.b);
  g.accum = accum;
  g.exact = accum->kind == HU_ACCUM_EXACT;
  g.stream = hu_exec_stream(exec);
  hu_gemm_set_result(&g, d, mode, level);
  hu_float_env saved = hu_float_env_enter(HU_NEAREST);
  s = on_grid(&g.a, g.threads) && on_grid(&g.b, g.threads) && on_grid(&g.c, g.threads) ? HU_OK : HU_E_GRID;
  if (!on_grid(&g.scale_a, g.threads) || !on_grid(&g.scale_b, g.threads)) s = HU_E_GRID;
  g.watches = watch ? watches : NULL;
  if (watch) memset(watches, 0, sizeof watches);
  if (s == HU_OK && m && n) {
    choose(&g, level);
    run(&g, events);
  }
  for (size_t i = 0; watch && i < HU_THREADS_MAX; i++) hu_watch_add(watch, &watches[i]);
  hu_float_env_leave(saved);
  return s;
}

hu_status hu_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                  const hu_operand *c, const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return multiply(m, n, k, d, a, b, c, NULL, NULL, accum, mode, exec, events, NULL);
}

hu_status hu_gemm_scaled(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                         const hu_operand *c, const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                         hu_mode mode, const hu_exec *exec, hu_events *events) {
  if (!sa || !sb) return HU_E_NULL;
  return multiply(m, n, k, d, a, b, c, sa, sb, accum, mode, exec, events, NULL);
}

hu_status hu_gemm_watched(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                          const hu_operand *c, const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                          hu_mode mode, const hu_exec *exec, hu_events *events, hu_watch *watch) {
  return multiply(m, n, k, d, a, b, c, sa, sb, accum, mode, exec, events, watch);
}
