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

/* Reads what a view says; without a record of where a tensor lies, nothing of that. HU_E_NULL: there is no scaling.
 * HU_E_SHAPE: a scaled tensor that does not lie as stored or transposed; HU_E_FORMAT: `reserved` is not 0. */
static hu_status take(hu_scaled_view *z, const hu_view *x) {
  static const hu_scaled nowhere;
  z->operand = *x;
  z->scaling = NULL;
  z->scaled = nowhere;
  z->transposed = 0;
  if (x->type.kind != HU_TYPE_SCALED) return HU_OK;
  if (x->type.reserved) return HU_E_FORMAT;
  if (!x->type.scaling) return HU_E_NULL;
  z->scaling = x->type.scaling;
  if (x->data) z->scaled = *(const hu_scaled *)x->data;
  z->transposed = x->stride == 0;
  return (x->stride == 1 && x->row == 0) || (x->stride == 0 && x->row == 1) ? HU_OK : HU_E_SHAPE;
}

static int valid(hu_scaled_view *z, const hu_view *x) {
  return x && take(z, x) == HU_OK && (!z->scaling || hu_scaling_check(z->scaling, NULL) == HU_OK);
}

/* Returns the scales along k of A (rows: 1) or of B. */
static hu_scale_source source_of_scales(const hu_scaled_view *x, int rows) {
  return hui_scale_source_of(&x->scaled, x->scaling, rows != x->transposed);
}

/* A run begins at every multiple of either operand's side (hui_scale_run_end walks them one by one). */
typedef struct run_sides {
  size_t a, b, both; /* both: the least common multiple; SIZE_MAX, which no k is above, if it is beyond size_t */
} run_sides;

static run_sides sides_of(const hu_scaled_view *a, const hu_scaled_view *b) {
  run_sides sides = {source_of_scales(a, 1).run_side, source_of_scales(b, 0).run_side, 0};
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

size_t hu_scaled_run_at(size_t k, const hu_view *a, const hu_view *b, size_t run) {
  hu_scaled_view va, vb;
  if (!valid(&va, a) || !valid(&vb, b)) return k;
  run_sides sides = sides_of(&va, &vb);
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

size_t hu_scaled_runs(size_t k, const hu_view *a, const hu_view *b) {
  hu_scaled_view va, vb;
  if (!valid(&va, a) || !valid(&vb, b)) return 0;
  run_sides sides = sides_of(&va, &vb);
  return runs_below(&sides, k);
}

/* ---- one matrix ---- */

static hu_status check_plain(hu_type *type) {
  if (hui_matrix_settle_type(type) != HU_OK || hu_format_check(type->format, NULL) != HU_OK) return HU_E_FORMAT;
  return type->kind == HU_TYPE_VALUES32 && !hu_format_fits_binary32(type->format) ? HU_E_CARRIER : HU_OK;
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

static void set_ld(hu_scaled_view *view, size_t ld) {
  ptrdiff_t far = ld < PTRDIFF_MAX ? (ptrdiff_t)ld : PTRDIFF_MAX;
  view->operand.stride = view->transposed ? far : 1;
  view->operand.row = view->transposed ? 1 : far;
}

/* Makes the view of rows x cols of the product's matrix as given: no method of summing has changed its codes yet. */
static hu_status view_make(hu_scaled_view *view, hu_matrix_extent extents[3], const hu_view *x, size_t rows,
                           size_t cols) {
  hu_status status = take(view, x);
  if (status == HU_OK && view->scaling && !x->data) status = HU_E_NULL;
  if (status != HU_OK) return status;
  view->how = HU_VIEW_GIVEN;
  if (!view->scaling) {
    status = check_plain(&view->operand.type);
    if (status == HU_OK) status = hui_matrix_cover(&extents[0], &view->operand, rows, cols);
    view->transposed = (uint8_t)hui_matrix_is_transposed(&view->operand);
  }
  view->rows = view->transposed ? cols : rows;
  view->cols = view->transposed ? rows : cols;
  if (status != HU_OK || !view->scaling) return status;
  status = hu_scaling_check(view->scaling, NULL);
  if (status == HU_OK && !hui_formulas_keep_values(view->scaling)) status = HU_E_SCALING;
  if (status == HU_OK) status = cover_scaled(extents, view->scaling, &view->scaled, view->rows, view->cols);
  if (status != HU_OK) return status;
  view->operand.data = view->scaled.codes;
  view->operand.type = hu_type_codes(view->scaling->element);
  set_ld(view, view->scaled.ld);
  return HU_OK;
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
  set_ld(view, view->cols);
  view->operand.type = hu_type_values(HU_TYPE_VALUES32, is_given(as) ? as : hui_format_binary32());
}

/* Reads two's complement as codes of the format with one exponent bit, whose magnitudes are integers to 2^(m+1) - 1. */
static void view_as_twos(hu_scaled_view *view) {
  view->how = HU_VIEW_TWOS;
  set_ld(view, view->cols);
  view->operand.type.format.e = 1;
}

/* Turns the view of A or B into what the call's method of summing reads. */
static hu_status view_for(hu_scaled_plan *plan, hu_scaled_view *view, size_t *at) {
  const hu_scaling *scaling = view->scaling;
  if (!scaling) return HU_OK;
  if (plan->sum.way == HU_SCALED_DECODED) {
    view_as_values(view, plan->sum.as);
  } else if (scaling->coding == HU_CODING_TWOS) {
    if (plan->sum.way == HU_SCALED_UNIT) return HU_E_ACCUM;
    view_as_twos(view);
    if (hu_format_check(view->operand.type.format, NULL) != HU_OK) return HU_E_ACCUM;
  }
  if (view->how != HU_VIEW_GIVEN) {
    claim(&plan->bytes, at, view->rows, view->cols, hui_matrix_size(&view->operand));
  }
  return HU_OK;
}

/* ---- the unit's scales ---- */

static size_t scaled_every(const hu_accum *x) { return x->scaled ? x->promote : x->block.every; }

/* Lays out one scale per `every` products; lines: rows of A, columns of B. */
static hu_status unit_scales(hu_scaled_plan *plan, const hu_scaled_view *view, const hu_scale_source *source,
                             hu_view *z, uint8_t *spread, size_t *at, size_t lines) {
  const hu_accum *x = &plan->sum.inside;
  const hu_scaling *scaling = view->scaling;
  size_t every = scaled_every(x), count = plan->k / every + (plan->k % every != 0);
  hu_format format = scaling ? scaling->scale : x->scaled ? hui_format_binary32() : x->block.scale;
  if (!x->scaled && !hu_format_equal(format, x->block.scale)) return HU_E_ACCUM;
  if (scaling && source->run_side != SIZE_MAX && source->run_side % every) return HU_E_ACCUM;
  int rows = view == &plan->a;
  *z = hu_matrix_codes(NULL, rows ? count : lines, format);
  if (scaling && source->line_side == 1 && source->run_side == every) {
    *z = hu_matrix_codes(view->scaled.scales, view->scaled.lds, format);
    if (view->transposed) *z = hu_transposed(*z);
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
  claim(&plan->bytes, at, lines, count, hui_code_bytes(format));
  return HU_OK;
}

/* ---- models ---- */

static hu_status check_models(hu_scaled_plan *plan) {
  const hu_view *c = plan->has_c ? &plan->c.operand : NULL;
  const hu_scaled_sum *x = &plan->sum;
  if (x->way != HU_SCALED_PARTS)
    return hui_gemm_model_check(&x->inside, &plan->a.operand, &plan->b.operand, plan->alpha ? NULL : c);
  hu_status status = hui_gemm_model_check(&x->inside, &plan->a.operand, &plan->b.operand, NULL);
  if (status == HU_OK && x->across.kind == HU_ACCUM_FP32 && c && !plan->alpha &&
      !hu_format_fits_binary32(c->type.format))
    status = HU_E_CARRIER;
  return status;
}

/* ---- D ---- */

static hu_status check_result(hu_scaled_plan *plan) {
  if (!plan->scaling) {
    hu_status status = check_plain(&plan->d.type);
    if (status == HU_OK && (plan->amax || plan->stats)) status = HU_E_SCALING;
    return status == HU_OK ? hui_matrix_cover_written(&plan->out[0], &plan->d, plan->m, plan->n) : status;
  }
  hu_status status = hu_scaling_check(plan->scaling, NULL);
  if (status != HU_OK) return status;
  if (plan->amax && !plan->scaling->tensor && (plan->scaling->rows || plan->scaling->cols)) return HU_E_SCALING;
  if ((uintptr_t)plan->amax % sizeof(uint32_t)) return HU_E_ALIGN;
  status = cover_scaled(plan->out, plan->scaling, &plan->scaled, plan->m, plan->n);
  hu_scaled_sizes z = hu_scaled_sizes_of(plan->m, plan->n, plan->scaling);
  if (status == HU_OK && plan->stats) {
    status = hui_matrix_extent_of(&plan->out[3], plan->stats, z.block_rows, z.block_cols, z.block_cols,
                                  sizeof *plan->stats, sizeof(uint64_t));
  }
  if (status == HU_OK && plan->amax)
    status = hui_matrix_extent_of(&plan->in[9], plan->amax, 1, 1, 1, sizeof(uint32_t), sizeof(uint32_t));
  return status;
}

static int in_place(const hu_scaled_plan *plan) {
  return plan->has_c && !plan->scaling && !plan->c.scaling && hui_matrix_is_same(&plan->d, &plan->c.operand);
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

static hu_status make_views(hu_scaled_plan *plan, const hu_product *x) {
  hu_status status = view_make(&plan->a, plan->in, &x->a, x->m, x->k);
  if (status == HU_OK) status = view_make(&plan->b, plan->in + 3, &x->b, x->k, x->n);
  if (status == HU_OK && plan->has_c) status = view_make(&plan->c, plan->in + 6, &x->c, x->m, x->n);
  if (status == HU_OK) status = view_for(plan, &plan->a, &plan->at_a);
  if (status == HU_OK) status = view_for(plan, &plan->b, &plan->at_b);
  if (status != HU_OK) return status;
  if (plan->c.scaling) {
    hu_format none;
    memset(&none, 0, sizeof none);
    view_as_values(&plan->c, none);
    claim(&plan->bytes, &plan->at_c, plan->c.rows, plan->c.cols, sizeof(uint32_t));
  }
  plan->sa = source_of_scales(&plan->a, 1);
  plan->sb = source_of_scales(&plan->b, 0);
  if (plan->sum.way == HU_SCALED_PARTS && plan->m && plan->n) {
    run_sides sides = sides_of(&plan->a, &plan->b);
    plan->runs = runs_below(&sides, plan->k);
  }
  int applied = plan->sum.way == HU_SCALED_UNIT ||
                (plan->sum.way == HU_SCALED_PARTS && plan->sum.factor == HU_SCALED_FACTOR_ALPHA);
  plan->alpha = applied && (plan->sa.tensor || plan->sb.tensor);
  return HU_OK;
}

/* Reads what the product says of D. */
static hu_status take_result(hu_scaled_plan *plan, const hu_product *x) {
  hu_scaled_view d;
  hu_view written = hui_matrix_written(&x->d);
  hu_status status = take(&d, &written);
  plan->d = x->d;
  plan->scaling = d.scaling;
  plan->scaled = d.scaled;
  plan->amax = x->amax;
  plan->stats = x->stats;
  if (status == HU_OK && d.scaling && !x->d.data) status = HU_E_NULL;
  return status == HU_OK && d.transposed ? HU_E_SHAPE : status;
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

hu_status hui_scaled_plan_make(hu_scaled_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec,
                               size_t work) {
  const hu_scaled_sum *sum = x->sum;
  size_t m = x->m, n = x->n;
  hu_view d = hui_matrix_written(&x->d);
  if (hui_matrix_is_absent(&d) || hui_matrix_is_absent(&x->a) || hui_matrix_is_absent(&x->b)) return HU_E_NULL;
  hu_status status = hu_scaled_sum_check(sum);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  memset(plan, 0, sizeof *plan);
  plan->m = m;
  plan->n = n;
  plan->k = x->k;
  plan->sum = *sum;
  plan->mode = mode;
  plan->threads = hui_exec_threads(exec);
  plan->has_c = !hui_matrix_is_absent(&x->c);
  status = take_result(plan, x);
  if (status == HU_OK) status = make_views(plan, x);
  if (status == HU_OK) status = check_models(plan);
  if (status == HU_OK && sum->way == HU_SCALED_UNIT) {
    status = unit_scales(plan, &plan->a, &plan->sa, &plan->scale_a, &plan->spread_a, &plan->at_scale_a, m);
    if (status == HU_OK)
      status = unit_scales(plan, &plan->b, &plan->sb, &plan->scale_b, &plan->spread_b, &plan->at_scale_b, n);
  }
  if (status == HU_OK) status = check_result(plan);
  if (status != HU_OK) return status;
  plan->has_y = plan->scaling != NULL || (sum->way == HU_SCALED_UNIT && plan->alpha);
  if (plan->has_y) claim(&plan->bytes, &plan->at_y, m, n, sizeof(uint32_t));
  if (m && n && (sum->way == HU_SCALED_PARTS || (sum->way == HU_SCALED_UNIT && plan->alpha))) {
    plan->each = work ? work : work_of(plan);
    claim(&plan->bytes, &plan->at_work, work ? 1 : plan->threads, plan->each, 1);
  }
  hu_scaled_sums sums;
  if (plan->bytes > PTRDIFF_MAX) return HU_E_SHAPE;
  return hui_scaled_plan_sums(&sums, plan, exec) ? HU_OK : HU_E_ACCUM;
}

/* A view with every pointer somewhere: nothing looks at what is there. */
static void put_somewhere(hu_view *x, hu_scaled *records) {
  void *there = (void *)(uintptr_t)64;
  if (x->type.kind != HU_TYPE_SCALED) {
    if (x->type.kind != HU_TYPE_NONE) x->data = there;
  } else if (x->data) {
    *records = *(const hu_scaled *)x->data;
    records->codes = records->scales = there;
    records->tensor = (float *)there;
    x->data = records;
  }
}

hu_status hui_scaled_plan_size(hu_scaled_plan *plan, const hu_product *product, const hu_exec *exec, size_t work) {
  hu_product own = *product;
  hu_scaled records[4];
  hu_view d = hui_matrix_written(&own.d);
  put_somewhere(&own.a, &records[0]);
  put_somewhere(&own.b, &records[1]);
  put_somewhere(&own.c, &records[2]);
  put_somewhere(&d, &records[3]);
  own.d.data = (void *)(uintptr_t)d.data;
  return hui_scaled_plan_make(plan, &own, hui_plain_mode(), exec, work);
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

void hui_scaled_plan_whole(hu_product *product, hu_how *how, const hu_scaled_plan *plan, const hu_exec *exec,
                           hu_events *events) {
  *how = hu_how_of(plan->y ? hui_plain_mode() : plan->mode, exec, plan->y ? NULL : events);
  memset(product, 0, sizeof *product);
  product->m = plan->m;
  product->n = plan->n;
  product->k = plan->k;
  product->d = plan->y ? hu_matrix_floats_out(plan->y, plan->n) : plan->d;
  product->a = plan->a.operand;
  product->b = plan->b.operand;
  if (plan->has_c && !plan->alpha) product->c = plan->c.operand;
  if (plan->sum.way == HU_SCALED_UNIT) {
    product->sa = plan->scale_a;
    product->sb = plan->scale_b;
  }
  product->accum = &plan->sum.inside;
}

/* ---- sums ---- */

static hu_source source_of(const hu_view *x) {
  return hui_source_of(x->type.format, hui_matrix_is_codes(x) ? HU_STORED_CODES : HU_STORED_VALUES,
                       (uint8_t)hui_matrix_size(x));
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
  uint32_t down = !plan->alpha && !plan->scaling && plan->mode.round == HU_RTN;
  return hui_scaled_plan_across(sums, &plan->sum.across, down);
}
