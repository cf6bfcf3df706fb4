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

static int choose(slices_way *way, hu_gemm_call *call, const hu_level *level) {
  const hu_accum *accum = call->accum;
  if (!level->seq_modes || !hui_gemm_is_bare(call) || !accum->slices || accum->mode.round >= HU_SRA || call->k == 0)
    return 0;
  if (call->c.data && !call->c.carried) return 0;
  way->kernels = level->seq_modes->steps;
  way->inner = *accum;
  way->inner.slices = 0;
  return hui_step_grid_of(&way->plain, hui_accum_result(accum), hui_plain_mode());
}

/* Returns the part of x from element (i, j) on. */
static hu_matrix part_of(const hu_matrix *x, size_t i, size_t j, size_t rows, size_t cols) {
  hu_matrix z = *x;
  z.data = (const uint8_t *)x->data + (x->transposed ? j * x->ld + i : i * x->ld + j) * x->size;
  z.rows = rows;
  z.cols = cols;
  return z;
}

/* Returns the call of one slice, into z; spans of the whole call bound those of its parts. */
static hu_gemm_call call_of(const hu_gemm_call *call, size_t i0, size_t j0, size_t k, size_t past, float *z) {
  const slices_way *way = call->way;
  hu_gemm_call slice = *call;
  hu_output to = hu_matrix_out_of(z, WIDE, hu_type_values(HU_TYPE_VALUES32, hui_format_binary32()));
  slice.m = hui_least(call->m - i0, call->block_rows);
  slice.n = hui_least(call->n - j0, call->block_cols);
  slice.k = past - k;
  slice.a = part_of(&call->a, i0, k, slice.m, slice.k);
  slice.b = part_of(&call->b, k, j0, slice.k, slice.n);
  memset(&slice.c, 0, sizeof slice.c);
  memset(&slice.sc, 0, sizeof slice.sc);
  hu_spec spec = hui_spec_of(to.type.format, hui_plain_mode());
  hui_gemm_set_result(&slice, &to, &spec, call->level);
  slice.accum = &way->inner;
  slice.threads = 1;
  return slice;
}

static void multiply(const hu_gemm_call *call, size_t i0, size_t j0, size_t k, size_t past, float *z) {
  hu_gemm_call slice = call_of(call, i0, j0, k, past, z);
  hu_events dropped;
  memset(&dropped, 0, sizeof dropped);
  call->run(&slice, call->level, &dropped);
}

static void load_c(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, float *z) {
  float line[HIGH];
  memset(z, 0, rows * WIDE * sizeof *z);
  for (size_t i = 0; call->c.data && !call->c.transposed && i < rows; i++)
    hui_gemm_read32(&call->c, i0 + i, j0, cols, z + i * WIDE);
  for (size_t j = 0; call->c.data && call->c.transposed && j < cols; j++) {
    hui_gemm_read32(&call->c, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) z[i * WIDE + j] = line[i];
  }
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  const slices_way *way = call->way;
  const size_t count = hui_least(call->accum->slices, call->k);
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  float sum[HIGH * WIDE], part[HIGH * WIDE];
  memset(sum, 0, rows * WIDE * sizeof *sum);
  memset(part, 0, rows * WIDE * sizeof *part);
  for (size_t i = 0, k = 0, past; i < count; i++, k = past) {
    past = k + call->k / count + (i < call->k % count);
    multiply(call, i0, j0, k, past, i ? part : sum);
    if (i) way->kernels->add(&way->plain, rows * (WIDE / HU_STEP_COLS), HU_STEP_COLS, 0, sum, sum, part, NULL);
  }
  load_c(call, i0, j0, rows, cols, part);
  way->kernels->add(&way->plain, rows * (WIDE / HU_STEP_COLS), HU_STEP_COLS, 0, sum, sum, part, NULL);
  for (size_t i = 0; i < rows; i++) hui_gemm_finish32(call, i0 + i, j0, cols, sum + i * WIDE, events);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  slices_way way;
  if (!choose(&way, call, level)) return 0;
  hui_gemm_look(call);
  call->way = &way;
  hui_gemm_set_blocks(call, HIGH, HU_GEMM_MR, WIDE, HU_GEMM32_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_slices = {"slices", run};
