/* SPDX-License-Identifier: MIT */
/* hu_gemm under splitk(S,M) where M does not round stochastically: the product of each slice of K by the first way that
 * serves M, then the additions of the slices.
 *
 * The argument. M's sum of a slice has no C and depends on the slice's operands alone: its random words are the only
 * thing that does not, and M has none. D of a slice's product is binary32, which holds the values of M's format of
 * sums, infinities, NaN and both zeros; so the last rounding of that product changes nothing. The additions are those
 * of tiles/steps.h. Events come from the last rounding into D, and those of the slices' products are dropped. */
#include "emu/core/accum_plan.h"
#include "emu/gemm/call.h"
#include "emu/gemm/seq_modes.h"
#include "emu/gemm/steps/steps.h"

/* A block of D: whole rows of planes, so that the additions take it as planes one below the other. */
enum { HIGH = 48, WIDE = 3 * HU_STEP_COLS };

/* What the way keeps of a call. */
typedef struct slices_way {
  const hu_step_kernels *kernels;
  hu_step_grid plain; /* where slices are added */
  hu_accum inner;     /* M */
} slices_way;

static int choose(slices_way *w, hu_gemm_call *g, const hu_level *level) {
  const hu_accum *x = g->accum;
  if (!level->seq_modes || !hui_gemm_is_bare(g) || !x->slices || x->mode.round >= HU_SRA || g->k == 0) return 0;
  if (g->c.data && !g->c.carried) return 0;
  w->kernels = level->seq_modes->steps;
  w->inner = *x;
  w->inner.slices = 0;
  return hui_step_grid_of(&w->plain, hui_accum_result(x), hui_plain_mode());
}

/* The part of x from element (i, j) on. */
static hu_matrix part_of(const hu_matrix *x, size_t i, size_t j, size_t rows, size_t cols) {
  hu_matrix z = *x;
  z.data = (const uint8_t *)x->data + (x->transposed ? j * x->ld + i : i * x->ld + j) * x->size;
  z.rows = rows;
  z.cols = cols;
  return z;
}

/* The call of one slice, into d; spans of the whole call bound those of its parts. */
static hu_gemm_call call_of(const hu_gemm_call *g, size_t i0, size_t j0, size_t k, size_t past, float *d) {
  const slices_way *w = g->way;
  hu_gemm_call s = *g;
  hu_result to;
  memset(&to, 0, sizeof to);
  to.data = d;
  to.ld = WIDE;
  to.format = hui_format_binary32();
  s.m = hui_least(g->m - i0, g->block_rows);
  s.n = hui_least(g->n - j0, g->block_cols);
  s.k = past - k;
  s.a = part_of(&g->a, i0, k, s.m, s.k);
  s.b = part_of(&g->b, k, j0, s.k, s.n);
  memset(&s.c, 0, sizeof s.c);
  memset(&s.sc, 0, sizeof s.sc);
  hui_gemm_set_result(&s, &to, hui_plain_mode(), g->level);
  s.accum = &w->inner;
  s.threads = 1;
  return s;
}

static void multiply(const hu_gemm_call *g, size_t i0, size_t j0, size_t k, size_t past, float *d) {
  hu_gemm_call s = call_of(g, i0, j0, k, past, d);
  hu_events dropped;
  memset(&dropped, 0, sizeof dropped);
  g->run(&s, g->level, &dropped);
}

static void load_c(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, float *z) {
  float line[HIGH];
  memset(z, 0, rows * WIDE * sizeof *z);
  for (size_t i = 0; g->c.data && !g->c.transposed && i < rows; i++)
    hui_gemm_read32(&g->c, i0 + i, j0, cols, z + i * WIDE);
  for (size_t j = 0; g->c.data && g->c.transposed && j < cols; j++) {
    hui_gemm_read32(&g->c, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) z[i * WIDE + j] = line[i];
  }
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  const slices_way *w = g->way;
  const size_t count = hui_least(g->accum->slices, g->k);
  size_t rows = hui_least(g->m - i0, g->block_rows), cols = hui_least(g->n - j0, g->block_cols);
  float sum[HIGH * WIDE], part[HIGH * WIDE];
  memset(sum, 0, rows * WIDE * sizeof *sum);
  memset(part, 0, rows * WIDE * sizeof *part);
  for (size_t i = 0, k = 0, past; i < count; i++, k = past) {
    past = k + g->k / count + (i < g->k % count);
    multiply(g, i0, j0, k, past, i ? part : sum);
    if (i) w->kernels->add(&w->plain, rows * (WIDE / HU_STEP_COLS), HU_STEP_COLS, 0, sum, sum, part, NULL);
  }
  load_c(g, i0, j0, rows, cols, part);
  w->kernels->add(&w->plain, rows * (WIDE / HU_STEP_COLS), HU_STEP_COLS, 0, sum, sum, part, NULL);
  for (size_t i = 0; i < rows; i++) hui_gemm_finish32(g, i0 + i, j0, cols, sum + i * WIDE, events);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  slices_way w;
  if (!choose(&w, g, level)) return 0;
  hui_gemm_look(g);
  g->way = &w;
  hui_gemm_set_blocks(g, HIGH, HU_GEMM_MR, WIDE, HU_GEMM32_NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_slices = {"slices", run};
