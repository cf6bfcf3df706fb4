/* SPDX-License-Identifier: MIT */
/* Checks the arguments of a product of scaled tensors and lays out its working space. */
#include "emu/scaled_gemm/plan.h"

#include "emu/base/exec.h"
#include "emu/gemm/check.h"
#include "emu/scaled/formula.h"
#include "emu/scaled_gemm/join.h"

/* ---- what a sum is ---- */

static int is_given(hu_format format) { return format.sign || format.e || format.m; }

static hu_scaled_sum sum_of(uint8_t way, hu_accum inside) {
  hu_scaled_sum sum;
  memset(&sum, 0, sizeof sum);
  sum.way = way;
  sum.inside = inside;
  return sum;
}

hu_scaled_sum hu_scaled_sum_parts(hu_accum inside, hu_accum across, uint8_t factor) {
  hu_scaled_sum sum = sum_of(HU_SCALED_PARTS, inside);
  sum.across = across;
  sum.factor = factor;
  return sum;
}

hu_scaled_sum hu_scaled_sum_unit(hu_accum model) { return sum_of(HU_SCALED_UNIT, model); }
hu_scaled_sum hu_scaled_sum_decoded(hu_accum model) { return sum_of(HU_SCALED_DECODED, model); }

static hu_status check_parts(const hu_scaled_sum *sum) {
  /* Across runs there are sums, no elements: formats of operands have nothing to hold for. */
  const hu_accum any = hu_accum_any(sum->across);
  if (memcmp(&any, &sum->across, sizeof any) != 0) return HU_E_ACCUM;
  if (sum->factor >= HU_SCALED_FACTOR_COUNT || sum->inside.kind == HU_ACCUM_INT32 || hu_accum_is_scaled(&sum->inside))
    return HU_E_ACCUM;
  if (sum->across.kind >= HU_ACCUM_BLOCK || hu_accum_is_scaled(&sum->across)) return HU_E_ACCUM;
  return hu_accum_check(&sum->across);
}

hu_status hu_scaled_sum_check(const hu_scaled_sum *sum) {
  static const hu_accum none;
  if (!sum) return HU_E_NULL;
  if (sum->way >= HU_SCALED_WAYS || hu_accum_check(&sum->inside) != HU_OK) return HU_E_ACCUM;
  if (is_given(sum->as) && sum->way != HU_SCALED_DECODED) return HU_E_ACCUM;
  if (sum->way == HU_SCALED_PARTS) return check_parts(sum);
  if (sum->factor || memcmp(&sum->across, &none, sizeof none) != 0) return HU_E_ACCUM;
  if (sum->way == HU_SCALED_UNIT) return hu_accum_is_scaled(&sum->inside) ? HU_OK : HU_E_ACCUM;
  if (hu_accum_is_scaled(&sum->inside) || sum->inside.kind == HU_ACCUM_INT32) return HU_E_ACCUM;
  if (!is_given(sum->as)) return HU_OK;
  return hu_format_check(sum->as, NULL) == HU_OK && hu_format_fits_binary32(sum->as) ? HU_OK : HU_E_FORMAT;
}

int hui_accum_is_random(const hu_accum *x) { return x->mode.round >= HU_SRA; }

static int is_binary32(hu_format format) { return hu_format_equal(format, hui_format_binary32()); }

int hui_scaled_across_steps(const hu_accum *x) {
  if (x->promote || x->slices) return -1;
  if (x->kind == HU_ACCUM_FP32) return 0;
  if (x->mode.round != HU_RNE || x->mode.saturate > HU_SAT_NONE || !is_binary32(x->sum)) return -1;
  if (x->kind == HU_ACCUM_SEQ) return 0;
  return x->kind == HU_ACCUM_SEQ2 && is_binary32(x->product) ? HU_JOIN_UNFUSED : -1;
}

/* ---- runs ---- */

static int valid(const hu_scaled_operand *x) {
  return x && (!x->scaling || hu_scaling_check(x->scaling, NULL) == HU_OK);
}

/* A run begins at every multiple of either operand's side (hui_scale_run_end walks them one by one). */
typedef struct run_sides {
  size_t a, b, both; /* both: the least common multiple; SIZE_MAX, which no k is above, if it is beyond size_t */
} run_sides;

static run_sides sides_of(const hu_scaled_operand *a, const hu_scaled_operand *b) {
  run_sides sides = {hui_scale_source_of(a, 1).run_side, hui_scale_source_of(b, 0).run_side, 0};
  size_t x = sides.a, y = sides.b;
  while (y) {
    size_t rest = x % y;
    x = y;
    y = rest;
  }
  if (__builtin_mul_overflow(sides.a / x, sides.b, &sides.both)) sides.both = SIZE_MAX;
  return sides;
}

/* Counts the multiples of side below k. */
static size_t multiples(size_t k, size_t side) { return k / side + (k % side != 0); }

/* Counts the runs that begin below k: at most k, so that no sum here matters beyond size_t. */
static size_t runs_below(const run_sides *sides, size_t k) {
  return multiples(k, sides->a) - multiples(k, sides->both) + multiples(k, sides->b);
}

size_t hu_scaled_run_at(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b, size_t run) {
  if (!valid(a) || !valid(b)) return k;
  run_sides sides = sides_of(a, b);
  size_t low = 0, high = k; /* the largest index of at most k with no more than `run` runs below it */
  while (low < high) {
    size_t middle = high - (high - low) / 2;
    if (runs_below(&sides, middle) <= run)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

size_t hu_scaled_runs(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b) {
  if (!valid(a) || !valid(b)) return 0;
  run_sides sides = sides_of(a, b);
  return runs_below(&sides, k);
}

/* ---- one matrix ---- */

static size_t element_size(hu_format format, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(format);
}

static hu_status check_plain(uint8_t storage, hu_format format) {
  if (storage > HU_STORAGE_CODES) return HU_E_SHAPE;
  if (hu_format_check(format, NULL) != HU_OK) return HU_E_FORMAT;
  return storage == HU_STORAGE_VALUES && !hu_format_fits_binary32(format) ? HU_E_CARRIER : HU_OK;
}

/* Covers codes, scales and tensor scale of a scaled tensor. */
static hu_status cover_scaled(hu_matrix_extent extents[3], const hu_scaling *scaling, const hu_scaled *x, size_t rows,
                              size_t cols) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  hu_status status = hui_matrix_extent_of(&extents[0], x->codes, rows, cols, x->ld, n.code_bytes, n.code_bytes);
  if (status == HU_OK)
    status =
        hui_matrix_extent_of(&extents[1], x->scales, n.block_rows, n.block_cols, x->lds, n.scale_bytes, n.scale_bytes);
  if (status == HU_OK && scaling->tensor)
    status = hui_matrix_extent_of(&extents[2], x->tensor, 1, 1, 1, sizeof(uint32_t), sizeof(uint32_t));
  return status;
}

/* Makes the view of rows x cols of the product's matrix as given: no method of summing has changed its codes yet. */
static hu_status view_make(hu_scaled_view *view, hu_matrix_extent extents[3], const hu_scaled_operand *x, size_t rows,
                           size_t cols) {
  uint8_t transposed = x->scaling ? x->transposed : x->plain.transposed;
  view->from = *x;
  view->how = HU_VIEW_GIVEN;
  if (transposed > 1 || (!x->scaling && x->transposed)) return HU_E_SHAPE;
  view->rows = transposed ? cols : rows;
  view->cols = transposed ? rows : cols;
  if (!x->scaling) {
    hu_status status = check_plain(x->plain.storage, x->plain.format);
    view->operand = x->plain;
    if (status != HU_OK) return status;
    size_t size = element_size(x->plain.format, x->plain.storage);
    return hui_matrix_extent_of(&extents[0], x->plain.data, view->rows, view->cols, x->plain.ld, size, size);
  }
  hu_status status = hu_scaling_check(x->scaling, NULL);
  if (status == HU_OK && !hui_formulas_keep_values(x->scaling)) status = HU_E_SCALING;
  view->operand.data = x->scaled.codes;
  view->operand.ld = x->scaled.ld;
  view->operand.format = x->scaling->element;
  view->operand.storage = HU_STORAGE_CODES;
  view->operand.transposed = transposed;
  return status == HU_OK ? cover_scaled(extents, x->scaling, &x->scaled, view->rows, view->cols) : status;
}

/* Adds up bytes of working space for rows x cols elements; *at: where. Past SIZE_MAX: SIZE_MAX stays. */
static void claim(size_t *total, size_t *at, size_t rows, size_t cols, size_t size) {
  size_t bytes;
  *at = *total;
  if (*total == SIZE_MAX) return;
  if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
      __builtin_add_overflow(bytes, 63, &bytes) || __builtin_add_overflow(*total, bytes / 64 * 64, total)) {
    *total = SIZE_MAX;
  }
}

static void view_as_values(hu_scaled_view *view, hu_format as) {
  view->how = HU_VIEW_DECODED;
  view->operand.ld = view->cols;
  view->operand.format = is_given(as) ? as : hui_format_binary32();
  view->operand.storage = HU_STORAGE_VALUES;
}

/* Reads two's complement as codes of the format with one exponent bit, whose magnitudes are integers to 2^(m+1) - 1. */
static void view_as_twos(hu_scaled_view *view) {
  view->how = HU_VIEW_TWOS;
  view->operand.ld = view->cols;
  view->operand.format.e = 1;
}

/* Turns the view of A or B into what the call's method of summing reads. */
static hu_status view_for(hu_scaled_plan *plan, hu_scaled_view *view, size_t *at) {
  const hu_scaling *scaling = view->from.scaling;
  if (!scaling) return HU_OK;
  if (plan->sum.way == HU_SCALED_DECODED) {
    view_as_values(view, plan->sum.as);
  } else if (scaling->coding == HU_CODING_TWOS) {
    if (plan->sum.way == HU_SCALED_UNIT) return HU_E_ACCUM;
    view_as_twos(view);
    if (hu_format_check(view->operand.format, NULL) != HU_OK) return HU_E_ACCUM;
  }
  if (view->how != HU_VIEW_GIVEN) {
    claim(&plan->bytes, at, view->rows, view->cols, element_size(view->operand.format, view->operand.storage));
  }
  return HU_OK;
}

/* ---- the unit's scales ---- */

static size_t scaled_every(const hu_accum *x) { return x->scaled ? x->promote : x->block.every; }

/* Lays out one scale per `every` products; lines: rows of A, columns of B. */
static hu_status unit_scales(hu_scaled_plan *plan, const hu_scaled_view *view, const hu_scale_source *source,
                             hu_operand *z, uint8_t *spread, size_t *at, size_t lines) {
  const hu_accum *x = &plan->sum.inside;
  const hu_scaling *scaling = view->from.scaling;
  size_t every = scaled_every(x), count = plan->k / every + (plan->k % every != 0);
  hu_format format = scaling ? scaling->scale : x->scaled ? hui_format_binary32() : x->block.scale;
  if (!x->scaled && !hu_format_equal(format, x->block.scale)) return HU_E_ACCUM;
  if (scaling && source->run_side != SIZE_MAX && source->run_side % every) return HU_E_ACCUM;
  int rows = view == &plan->a;
  z->format = format;
  z->storage = HU_STORAGE_CODES;
  if (scaling && source->line_side == 1 && source->run_side == every) {
    z->data = view->from.scaled.scales;
    z->ld = view->from.scaled.lds;
    z->transposed = view->from.transposed;
    return HU_OK;
  }
  if (!scaling) { /* all are 1: the format must have it */
    hu_mode rne = hui_plain_mode();
    hu_spec spec = hui_spec_of(format, rne);
    uint32_t events, code = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
    hu_num one = hui_unpack(&spec, code);
    if (one.kind != HU_KIND_FINITE || one.sign || hui_exponent(one) != 0 || events & HU_EVENT_INEXACT)
      return HU_E_ACCUM;
  }
  *spread = 1;
  z->ld = rows ? count : lines;
  claim(&plan->bytes, at, lines, count, hui_code_bytes(format));
  return HU_OK;
}

/* ---- models ---- */

static hu_status check_models(hu_scaled_plan *plan) {
  const hu_operand *c = plan->has_c ? &plan->c.operand : NULL;
  const hu_scaled_sum *x = &plan->sum;
  if (x->way != HU_SCALED_PARTS)
    return hui_gemm_model_check(&x->inside, &plan->a.operand, &plan->b.operand, plan->alpha ? NULL : c);
  hu_status status = hui_gemm_model_check(&x->inside, &plan->a.operand, &plan->b.operand, NULL);
  if (status == HU_OK && x->across.kind == HU_ACCUM_FP32 && c && !plan->alpha && !hu_format_fits_binary32(c->format))
    status = HU_E_CARRIER;
  return status;
}

/* ---- D ---- */

static hu_status check_result(hu_scaled_plan *plan) {
  const hu_scaled_result *result = &plan->result;
  if (!result->scaling) {
    hu_status status = check_plain(result->plain.storage, result->plain.format);
    if (status == HU_OK && (result->amax || result->stats)) status = HU_E_SCALING;
    if (status != HU_OK) return status;
    size_t size = element_size(result->plain.format, result->plain.storage);
    return hui_matrix_extent_of(&plan->out[0], result->plain.data, plan->m, plan->n, result->plain.ld, size, size);
  }
  hu_status status = hu_scaling_check(result->scaling, NULL);
  if (status != HU_OK) return status;
  if (result->amax && !result->scaling->tensor && (result->scaling->rows || result->scaling->cols)) return HU_E_SCALING;
  if ((uintptr_t)result->amax % sizeof(uint32_t)) return HU_E_ALIGN;
  status = cover_scaled(plan->out, result->scaling, &result->scaled, plan->m, plan->n);
  hu_scaled_sizes z = hu_scaled_sizes_of(plan->m, plan->n, result->scaling);
  if (status == HU_OK && result->stats) {
    status = hui_matrix_extent_of(&plan->out[3], result->stats, z.block_rows, z.block_cols, z.block_cols,
                                  sizeof *result->stats, sizeof(uint64_t));
  }
  if (status == HU_OK && result->amax)
    status = hui_matrix_extent_of(&plan->in[9], result->amax, 1, 1, 1, sizeof(uint32_t), sizeof(uint32_t));
  return status;
}

static int in_place(const hu_scaled_plan *plan) {
  const hu_result *result = &plan->result.plain;
  const hu_operand *c = &plan->c.operand;
  return plan->has_c && !plan->result.scaling && !plan->c.from.scaling && result->data == c->data &&
         result->ld == c->ld && result->storage == c->storage && !c->transposed &&
         hu_format_equal(result->format, c->format);
}

static hu_status check_apart(hu_scaled_plan *plan) {
  if (in_place(plan)) memset(&plan->in[6], 0, sizeof plan->in[6]);
  for (size_t i = 0; i < 4; i++) {
    for (size_t j = 0; j < 10; j++) {
      if (hui_matrix_extents_overlap(&plan->out[i], &plan->in[j])) return HU_E_OVERLAP;
    }
    for (size_t j = 0; j < i; j++) {
      if (hui_matrix_extents_overlap(&plan->out[i], &plan->out[j])) return HU_E_OVERLAP;
    }
  }
  return HU_OK;
}

/* ---- all ---- */

static hu_status make_views(hu_scaled_plan *plan, const hu_scaled_operand *a, const hu_scaled_operand *b,
                            const hu_scaled_operand *c) {
  hu_status status = view_make(&plan->a, plan->in, a, plan->m, plan->k);
  if (status == HU_OK) status = view_make(&plan->b, plan->in + 3, b, plan->k, plan->n);
  if (status == HU_OK && c) status = view_make(&plan->c, plan->in + 6, c, plan->m, plan->n);
  if (status == HU_OK) status = view_for(plan, &plan->a, &plan->at_a);
  if (status == HU_OK) status = view_for(plan, &plan->b, &plan->at_b);
  if (status != HU_OK) return status;
  plan->has_c = c != NULL;
  if (c && c->scaling) {
    hu_format none;
    memset(&none, 0, sizeof none);
    view_as_values(&plan->c, none);
    claim(&plan->bytes, &plan->at_c, plan->c.rows, plan->c.cols, sizeof(uint32_t));
  }
  plan->sa = hui_scale_source_of(a, 1);
  plan->sb = hui_scale_source_of(b, 0);
  plan->runs = plan->sum.way == HU_SCALED_PARTS && plan->m && plan->n ? hu_scaled_runs(plan->k, a, b) : 0;
  int applied = plan->sum.way == HU_SCALED_UNIT ||
                (plan->sum.way == HU_SCALED_PARTS && plan->sum.factor == HU_SCALED_FACTOR_ALPHA);
  plan->alpha = applied && (plan->sa.tensor || plan->sb.tensor);
  return HU_OK;
}

/* Returns the bytes of a CPU's tile: parts of one run with their sums, or all parts of fewer elements. */
static size_t work_of(const hu_scaled_plan *plan) {
  size_t each = 0, at, runs = plan->runs ? plan->runs : 1, most = HU_TILE_PARTS / runs;
  if (most > HU_TILE_MOST) most = HU_TILE_MOST;
  claim(&each, &at, HU_TILE_MOST, 4, sizeof(uint32_t));
  size_t other = 0;
  claim(&other, &at, runs, most ? most : 1, sizeof(uint32_t));
  claim(&other, &at, runs, 1, sizeof(hu_num));
  return each > other ? each : other;
}

hu_status hui_scaled_plan_make(hu_scaled_plan *plan, size_t m, size_t n, size_t k, const hu_scaled_result *result,
                               const hu_scaled_operand *a, const hu_scaled_operand *b, const hu_scaled_operand *c,
                               const hu_scaled_sum *sum, hu_mode mode, const hu_exec *exec, size_t work) {
  if (!result || !a || !b || !sum) return HU_E_NULL;
  hu_status status = hu_scaled_sum_check(sum);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  memset(plan, 0, sizeof *plan);
  plan->m = m;
  plan->n = n;
  plan->k = k;
  plan->sum = *sum;
  plan->mode = mode;
  plan->result = *result;
  plan->threads = hui_exec_threads(exec);
  status = make_views(plan, a, b, c);
  if (status == HU_OK) status = check_models(plan);
  if (status == HU_OK && sum->way == HU_SCALED_UNIT) {
    status = unit_scales(plan, &plan->a, &plan->sa, &plan->scale_a, &plan->spread_a, &plan->at_scale_a, m);
    if (status == HU_OK)
      status = unit_scales(plan, &plan->b, &plan->sb, &plan->scale_b, &plan->spread_b, &plan->at_scale_b, n);
  }
  if (status == HU_OK) status = check_result(plan);
  if (status != HU_OK) return status;
  plan->has_y = result->scaling != NULL || (sum->way == HU_SCALED_UNIT && plan->alpha);
  if (plan->has_y) claim(&plan->bytes, &plan->at_y, m, n, sizeof(uint32_t));
  if (m && n && (sum->way == HU_SCALED_PARTS || (sum->way == HU_SCALED_UNIT && plan->alpha))) {
    plan->each = work ? work : work_of(plan);
    claim(&plan->bytes, &plan->at_work, work ? 1 : plan->threads, plan->each, 1);
  }
  hu_scaled_sums sums;
  if (plan->bytes > PTRDIFF_MAX) return HU_E_SHAPE;
  return hui_scaled_plan_sums(&sums, plan, exec) ? HU_OK : HU_E_ACCUM;
}

/* An operand with every pointer somewhere: nothing looks at what is there. */
static hu_scaled_operand somewhere(const hu_scaled_operand *x) {
  hu_scaled_operand z = *x;
  void *there = (void *)(uintptr_t)64;
  z.scaled.codes = z.scaled.scales = there;
  z.scaled.tensor = (float *)there;
  z.plain.data = there;
  return z;
}

hu_status hui_scaled_plan_size(hu_scaled_plan *plan, size_t m, size_t n, size_t k, const hu_scaled_result *result,
                               const hu_scaled_operand *a, const hu_scaled_operand *b, const hu_scaled_operand *c,
                               const hu_scaled_sum *sum, const hu_exec *exec, size_t work) {
  hu_mode rne = hui_plain_mode();
  if (!result || !a || !b) return HU_E_NULL;
  hu_scaled_operand pa = somewhere(a), pb = somewhere(b), pc = somewhere(c ? c : a);
  hu_scaled_result pd = *result;
  pd.scaled = pa.scaled;
  pd.scaled.ld = result->scaled.ld;
  pd.scaled.lds = result->scaled.lds;
  pd.plain.data = pa.scaled.codes;
  return hui_scaled_plan_make(plan, m, n, k, &pd, &pa, &pb, c ? &pc : NULL, sum, rne, exec, work);
}

hu_status hui_scaled_plan_place(hu_scaled_plan *plan, void *space, size_t bytes) {
  hu_matrix_extent extents;
  uint8_t *at = (uint8_t *)space;
  hu_status status = check_apart(plan);
  if (status != HU_OK || plan->bytes == 0) return status;
  if (!space) return HU_E_NULL;
  if ((uintptr_t)space % 64) return HU_E_ALIGN;
  if (bytes < plan->bytes) return HU_E_SPACE;
  status = hui_matrix_extent_of(&extents, space, 1, plan->bytes, plan->bytes, 1, 64);
  if (status != HU_OK) return status;
  for (size_t i = 0; i < 10; i++) {
    if (hui_matrix_extents_overlap(&extents, &plan->in[i]) ||
        (i < 4 && hui_matrix_extents_overlap(&extents, &plan->out[i])))
      return HU_E_OVERLAP;
  }
  if (plan->a.how != HU_VIEW_GIVEN) plan->a.operand.data = at + plan->at_a;
  if (plan->b.how != HU_VIEW_GIVEN) plan->b.operand.data = at + plan->at_b;
  if (plan->c.how != HU_VIEW_GIVEN) plan->c.operand.data = at + plan->at_c;
  if (plan->spread_a) plan->scale_a.data = at + plan->at_scale_a;
  if (plan->spread_b) plan->scale_b.data = at + plan->at_scale_b;
  if (plan->has_y) plan->y = (void *)(at + plan->at_y);
  plan->work = at + plan->at_work;
  return HU_OK;
}

/* ---- sums ---- */

static hu_source source_of(const hu_operand *x) {
  int values = x->storage == HU_STORAGE_VALUES;
  return hui_source_of(x->format, values ? HU_STORED_VALUES : HU_STORED_CODES,
                       (uint8_t)element_size(x->format, x->storage));
}

int hui_scaled_plan_sums(hu_scaled_sums *sums, const hu_scaled_plan *plan, const hu_exec *exec) {
  const hu_accum *x = &plan->sum.inside;
  memset(sums, 0, sizeof *sums);
  sums->a = plan->sa;
  sums->b = plan->sb;
  sums->k = plan->k;
  sums->runs = plan->runs;
  sums->factor = plan->sum.factor;
  sums->alpha = plan->alpha;
  sums->key = hui_exec_stream(exec).key;
  sums->counter = hui_exec_stream(exec).counter;
  sums->inside.a = source_of(&plan->a.operand);
  sums->inside.b = source_of(&plan->b.operand);
  sums->inside.sa = sums->inside.a;
  sums->inside.sb = sums->inside.b;
  sums->c = plan->has_c ? source_of(&plan->c.operand) : hui_source_of(hui_format_binary32(), HU_STORED_CODES, 4);
  hui_plan_model(&sums->inside, x, plan->k, &sums->inside.a);
  if (plan->sum.way != HU_SCALED_PARTS) return 1;
  uint32_t down = !plan->alpha && !plan->result.scaling && plan->mode.round == HU_RTN;
  return hui_scaled_plan_across(sums, &plan->sum.across, down);
}
