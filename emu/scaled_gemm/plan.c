/* SPDX-License-Identifier: MIT */
/* Checks the arguments of a product of scaled tensors and lays out its working space. */
#include "emu/scaled_gemm/plan.h"

#include "emu/base/exec.h"
#include "emu/gemm/check.h"
#include "emu/scaled_gemm/join.h"

/* ---- what a sum is ---- */

static int is_given(hu_format f) { return f.sign || f.e || f.m; }

static hu_scaled_sum sum_of(uint8_t way, hu_accum inside) {
  hu_scaled_sum s;
  memset(&s, 0, sizeof s);
  s.way = way;
  s.inside = inside;
  return s;
}

hu_scaled_sum hu_scaled_sum_parts(hu_accum inside, hu_accum across, uint8_t factor) {
  hu_scaled_sum s = sum_of(HU_SCALED_PARTS, inside);
  s.across = across;
  s.factor = factor;
  return s;
}

hu_scaled_sum hu_scaled_sum_unit(hu_accum model) { return sum_of(HU_SCALED_UNIT, model); }
hu_scaled_sum hu_scaled_sum_decoded(hu_accum model) { return sum_of(HU_SCALED_DECODED, model); }

static hu_status check_parts(const hu_scaled_sum *s) {
  /* Across runs there are sums, no elements: formats of operands have nothing to hold for. */
  const hu_accum any = hu_accum_any(s->across);
  if (memcmp(&any, &s->across, sizeof any) != 0) return HU_E_ACCUM;
  if (s->factor >= HU_SCALED_FACTOR_COUNT || s->inside.kind == HU_ACCUM_INT32 || hu_accum_is_scaled(&s->inside))
    return HU_E_ACCUM;
  if (s->across.kind >= HU_ACCUM_BLOCK || hu_accum_is_scaled(&s->across)) return HU_E_ACCUM;
  return hu_accum_check(&s->across);
}

hu_status hu_scaled_sum_check(const hu_scaled_sum *s) {
  static const hu_accum none;
  if (!s) return HU_E_NULL;
  if (s->way >= HU_SCALED_WAYS || hu_accum_check(&s->inside) != HU_OK) return HU_E_ACCUM;
  if (is_given(s->as) && s->way != HU_SCALED_DECODED) return HU_E_ACCUM;
  if (s->way == HU_SCALED_PARTS) return check_parts(s);
  if (s->factor || memcmp(&s->across, &none, sizeof none) != 0) return HU_E_ACCUM;
  if (s->way == HU_SCALED_UNIT) return hu_accum_is_scaled(&s->inside) ? HU_OK : HU_E_ACCUM;
  if (hu_accum_is_scaled(&s->inside) || s->inside.kind == HU_ACCUM_INT32) return HU_E_ACCUM;
  if (!is_given(s->as)) return HU_OK;
  return hu_format_check(s->as, NULL) == HU_OK && hu_format_fits_binary32(s->as) ? HU_OK : HU_E_FORMAT;
}

int hui_accum_is_random(const hu_accum *x) { return x->mode.round >= HU_SRA; }

static int is_binary32(hu_format f) { return hu_format_equal(f, hui_format_binary32()); }

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
typedef struct sides {
  size_t a, b, both; /* both: the least common multiple; SIZE_MAX, which no k is above, if it is beyond size_t */
} sides;

static sides sides_of(const hu_scaled_operand *a, const hu_scaled_operand *b) {
  sides s = {hui_scale_source_of(a, 1).run_side, hui_scale_source_of(b, 0).run_side, 0};
  size_t x = s.a, y = s.b;
  while (y) {
    size_t rest = x % y;
    x = y;
    y = rest;
  }
  if (__builtin_mul_overflow(s.a / x, s.b, &s.both)) s.both = SIZE_MAX;
  return s;
}

/* Multiples of side below l. */
static size_t multiples(size_t l, size_t side) { return l / side + (l % side != 0); }

/* Runs that begin below l: at most l, so that no sum here matters beyond size_t. */
static size_t runs_below(const sides *s, size_t l) {
  return multiples(l, s->a) - multiples(l, s->both) + multiples(l, s->b);
}

size_t hu_scaled_run_at(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b, size_t r) {
  if (!valid(a) || !valid(b)) return k;
  sides s = sides_of(a, b);
  size_t low = 0, high = k; /* the largest l of at most k with no more than r runs below it */
  while (low < high) {
    size_t middle = high - (high - low) / 2;
    if (runs_below(&s, middle) <= r)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

size_t hu_scaled_runs(size_t k, const hu_scaled_operand *a, const hu_scaled_operand *b) {
  if (!valid(a) || !valid(b)) return 0;
  sides s = sides_of(a, b);
  return runs_below(&s, k);
}

/* ---- one matrix ---- */

static size_t element_size(hu_format f, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(f);
}

static hu_status check_plain(uint8_t storage, hu_format f) {
  if (storage > HU_STORAGE_CODES) return HU_E_SHAPE;
  if (hu_format_check(f, NULL) != HU_OK) return HU_E_FORMAT;
  return storage == HU_STORAGE_VALUES && !hu_format_fits_binary32(f) ? HU_E_CARRIER : HU_OK;
}

/* Codes, scales and tensor scale of a scaled tensor. */
static hu_status cover_scaled(hu_matrix_extent e[3], const hu_scaling *d, const hu_scaled *x, size_t rows,
                              size_t cols) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, d);
  hu_status s = hui_matrix_extent_of(&e[0], x->codes, rows, cols, x->ld, n.code_bytes, n.code_bytes);
  if (s == HU_OK)
    s = hui_matrix_extent_of(&e[1], x->scales, n.block_rows, n.block_cols, x->lds, n.scale_bytes, n.scale_bytes);
  if (s == HU_OK && d->tensor) s = hui_matrix_extent_of(&e[2], x->tensor, 1, 1, 1, sizeof(uint32_t), sizeof(uint32_t));
  return s;
}

/* rows x cols of the product's matrix. Without what the way makes of it. */
static hu_status view_make(hu_scaled_view *v, hu_matrix_extent e[3], const hu_scaled_operand *x, size_t rows,
                           size_t cols) {
  uint8_t transposed = x->scaling ? x->transposed : x->plain.transposed;
  v->from = *x;
  v->how = HU_VIEW_GIVEN;
  if (transposed > 1 || (!x->scaling && x->transposed)) return HU_E_SHAPE;
  v->rows = transposed ? cols : rows;
  v->cols = transposed ? rows : cols;
  if (!x->scaling) {
    hu_status s = check_plain(x->plain.storage, x->plain.format);
    v->operand = x->plain;
    if (s != HU_OK) return s;
    size_t size = element_size(x->plain.format, x->plain.storage);
    return hui_matrix_extent_of(&e[0], x->plain.data, v->rows, v->cols, x->plain.ld, size, size);
  }
  hu_status s = hu_scaling_check(x->scaling, NULL);
  v->operand.data = x->scaled.codes;
  v->operand.ld = x->scaled.ld;
  v->operand.format = x->scaling->element;
  v->operand.storage = HU_STORAGE_CODES;
  v->operand.transposed = transposed;
  return s == HU_OK ? cover_scaled(e, x->scaling, &x->scaled, v->rows, v->cols) : s;
}

/* Bytes of working space for rows x cols elements; *at: where. Past SIZE_MAX: SIZE_MAX stays. */
static void claim(size_t *total, size_t *at, size_t rows, size_t cols, size_t size) {
  size_t bytes;
  *at = *total;
  if (*total == SIZE_MAX) return;
  if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
      __builtin_add_overflow(bytes, 63, &bytes) || __builtin_add_overflow(*total, bytes / 64 * 64, total)) {
    *total = SIZE_MAX;
  }
}

static void view_as_values(hu_scaled_view *v, hu_format as) {
  v->how = HU_VIEW_DECODED;
  v->operand.ld = v->cols;
  v->operand.format = is_given(as) ? as : hui_format_binary32();
  v->operand.storage = HU_STORAGE_VALUES;
}

/* Two's complement as codes of the format with one exponent bit, whose magnitudes are the integers up to 2^(m+1) - 1.
 */
static void view_as_twos(hu_scaled_view *v) {
  v->how = HU_VIEW_TWOS;
  v->operand.ld = v->cols;
  v->operand.format.e = 1;
}

/* A or B, for the way of the call. */
static hu_status view_for(hu_scaled_plan *t, hu_scaled_view *v, size_t *at) {
  const hu_scaling *d = v->from.scaling;
  if (!d) return HU_OK;
  if (t->sum.way == HU_SCALED_DECODED) {
    view_as_values(v, t->sum.as);
  } else if (d->coding == HU_CODING_TWOS) {
    if (t->sum.way == HU_SCALED_UNIT) return HU_E_ACCUM;
    view_as_twos(v);
    if (hu_format_check(v->operand.format, NULL) != HU_OK) return HU_E_ACCUM;
  }
  if (v->how != HU_VIEW_GIVEN) {
    claim(&t->bytes, at, v->rows, v->cols, element_size(v->operand.format, v->operand.storage));
  }
  return HU_OK;
}

/* ---- the unit's scales ---- */

static size_t scaled_every(const hu_accum *x) { return x->scaled ? x->promote : x->block.every; }

/* One scale to `every` products; lines: rows of A, columns of B. */
static hu_status unit_scales(hu_scaled_plan *t, const hu_scaled_view *v, const hu_scale_source *s, hu_operand *z,
                             uint8_t *spread, size_t *at, size_t lines) {
  const hu_accum *x = &t->sum.inside;
  const hu_scaling *d = v->from.scaling;
  size_t every = scaled_every(x), count = t->k / every + (t->k % every != 0);
  hu_format f = d ? d->scale : x->scaled ? hui_format_binary32() : x->block.scale;
  if (!x->scaled && !hu_format_equal(f, x->block.scale)) return HU_E_ACCUM;
  if (d && s->run_side != SIZE_MAX && s->run_side % every) return HU_E_ACCUM;
  int rows = v == &t->a;
  z->format = f;
  z->storage = HU_STORAGE_CODES;
  if (d && s->line_side == 1 && s->run_side == every) {
    z->data = v->from.scaled.scales;
    z->ld = v->from.scaled.lds;
    z->transposed = v->from.transposed;
    return HU_OK;
  }
  if (!d) { /* all are 1: the format must have it */
    hu_mode rne = hui_plain_mode();
    hu_spec spec = hui_spec_of(f, rne);
    uint32_t events, code = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
    hu_num one = hui_unpack(&spec, code);
    if (one.kind != HU_KIND_FINITE || one.sign || hui_exponent(one) != 0 || events & HU_EVENT_INEXACT)
      return HU_E_ACCUM;
  }
  *spread = 1;
  z->ld = rows ? count : lines;
  claim(&t->bytes, at, lines, count, hui_code_bytes(f));
  return HU_OK;
}

/* ---- models ---- */

static hu_status check_models(hu_scaled_plan *t) {
  const hu_operand *c = t->has_c ? &t->c.operand : NULL;
  const hu_scaled_sum *x = &t->sum;
  if (x->way != HU_SCALED_PARTS)
    return hui_gemm_model_check(&x->inside, &t->a.operand, &t->b.operand, t->alpha ? NULL : c);
  hu_status s = hui_gemm_model_check(&x->inside, &t->a.operand, &t->b.operand, NULL);
  if (s == HU_OK && x->across.kind == HU_ACCUM_FP32 && c && !t->alpha && !hu_format_fits_binary32(c->format))
    s = HU_E_CARRIER;
  return s;
}

/* ---- D ---- */

static hu_status check_result(hu_scaled_plan *t) {
  const hu_scaled_result *d = &t->d;
  if (!d->scaling) {
    hu_status s = check_plain(d->plain.storage, d->plain.format);
    if (s == HU_OK && (d->amax || d->stats)) s = HU_E_SCALING;
    if (s != HU_OK) return s;
    size_t size = element_size(d->plain.format, d->plain.storage);
    return hui_matrix_extent_of(&t->out[0], d->plain.data, t->m, t->n, d->plain.ld, size, size);
  }
  hu_status s = hu_scaling_check(d->scaling, NULL);
  if (s != HU_OK) return s;
  if (d->amax && !d->scaling->tensor && (d->scaling->rows || d->scaling->cols)) return HU_E_SCALING;
  if ((uintptr_t)d->amax % sizeof(uint32_t)) return HU_E_ALIGN;
  s = cover_scaled(t->out, d->scaling, &d->scaled, t->m, t->n);
  hu_scaled_sizes z = hu_scaled_sizes_of(t->m, t->n, d->scaling);
  if (s == HU_OK && d->stats) {
    s = hui_matrix_extent_of(&t->out[3], d->stats, z.block_rows, z.block_cols, z.block_cols, sizeof *d->stats,
                             sizeof(uint64_t));
  }
  if (s == HU_OK && d->amax) s = hui_matrix_extent_of(&t->in[9], d->amax, 1, 1, 1, sizeof(uint32_t), sizeof(uint32_t));
  return s;
}

static int in_place(const hu_scaled_plan *t) {
  const hu_result *d = &t->d.plain;
  const hu_operand *c = &t->c.operand;
  return t->has_c && !t->d.scaling && !t->c.from.scaling && d->data == c->data && d->ld == c->ld &&
         d->storage == c->storage && !c->transposed && hu_format_equal(d->format, c->format);
}

static hu_status check_apart(hu_scaled_plan *t) {
  if (in_place(t)) memset(&t->in[6], 0, sizeof t->in[6]);
  for (size_t i = 0; i < 4; i++) {
    for (size_t j = 0; j < 10; j++) {
      if (hui_matrix_extents_overlap(&t->out[i], &t->in[j])) return HU_E_OVERLAP;
    }
    for (size_t j = 0; j < i; j++) {
      if (hui_matrix_extents_overlap(&t->out[i], &t->out[j])) return HU_E_OVERLAP;
    }
  }
  return HU_OK;
}

/* ---- all ---- */

static hu_status make_views(hu_scaled_plan *t, const hu_scaled_operand *a, const hu_scaled_operand *b,
                            const hu_scaled_operand *c) {
  hu_status s = view_make(&t->a, t->in, a, t->m, t->k);
  if (s == HU_OK) s = view_make(&t->b, t->in + 3, b, t->k, t->n);
  if (s == HU_OK && c) s = view_make(&t->c, t->in + 6, c, t->m, t->n);
  if (s == HU_OK) s = view_for(t, &t->a, &t->at_a);
  if (s == HU_OK) s = view_for(t, &t->b, &t->at_b);
  if (s != HU_OK) return s;
  t->has_c = c != NULL;
  if (c && c->scaling) {
    hu_format none;
    memset(&none, 0, sizeof none);
    view_as_values(&t->c, none);
    claim(&t->bytes, &t->at_c, t->c.rows, t->c.cols, sizeof(uint32_t));
  }
  t->sa = hui_scale_source_of(a, 1);
  t->sb = hui_scale_source_of(b, 0);
  t->runs = t->sum.way == HU_SCALED_PARTS && t->m && t->n ? hu_scaled_runs(t->k, a, b) : 0;
  int applied =
      t->sum.way == HU_SCALED_UNIT || (t->sum.way == HU_SCALED_PARTS && t->sum.factor == HU_SCALED_FACTOR_ALPHA);
  t->alpha = applied && (t->sa.tensor || t->sb.tensor);
  return HU_OK;
}

/* As the processor works: a tile of parts of one run with their sums, or all parts of fewer elements. */
static size_t work_of(const hu_scaled_plan *t) {
  size_t each = 0, at, runs = t->runs ? t->runs : 1, most = HU_TILE_PARTS / runs;
  if (most > HU_TILE_MOST) most = HU_TILE_MOST;
  claim(&each, &at, HU_TILE_MOST, 4, sizeof(uint32_t));
  size_t other = 0;
  claim(&other, &at, runs, most ? most : 1, sizeof(uint32_t));
  claim(&other, &at, runs, 1, sizeof(hu_num));
  return each > other ? each : other;
}

hu_status hui_scaled_plan_make(hu_scaled_plan *t, size_t m, size_t n, size_t k, const hu_scaled_result *d,
                               const hu_scaled_operand *a, const hu_scaled_operand *b, const hu_scaled_operand *c,
                               const hu_scaled_sum *sum, hu_mode mode, const hu_exec *exec, size_t work) {
  if (!d || !a || !b || !sum) return HU_E_NULL;
  hu_status s = hu_scaled_sum_check(sum);
  if (s == HU_OK) s = hu_mode_check(mode);
  if (s != HU_OK) return s;
  memset(t, 0, sizeof *t);
  t->m = m;
  t->n = n;
  t->k = k;
  t->sum = *sum;
  t->mode = mode;
  t->d = *d;
  t->threads = hui_exec_threads(exec);
  s = make_views(t, a, b, c);
  if (s == HU_OK) s = check_models(t);
  if (s == HU_OK && sum->way == HU_SCALED_UNIT) {
    s = unit_scales(t, &t->a, &t->sa, &t->scale_a, &t->spread_a, &t->at_scale_a, m);
    if (s == HU_OK) s = unit_scales(t, &t->b, &t->sb, &t->scale_b, &t->spread_b, &t->at_scale_b, n);
  }
  if (s == HU_OK) s = check_result(t);
  if (s != HU_OK) return s;
  t->has_y = d->scaling != NULL || (sum->way == HU_SCALED_UNIT && t->alpha);
  if (t->has_y) claim(&t->bytes, &t->at_y, m, n, sizeof(uint32_t));
  if (m && n && (sum->way == HU_SCALED_PARTS || (sum->way == HU_SCALED_UNIT && t->alpha))) {
    t->each = work ? work : work_of(t);
    claim(&t->bytes, &t->at_work, work ? 1 : t->threads, t->each, 1);
  }
  hu_scaled_sums sums;
  if (t->bytes > PTRDIFF_MAX) return HU_E_SHAPE;
  return hui_scaled_plan_sums(&sums, t, exec) ? HU_OK : HU_E_ACCUM;
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

hu_status hui_scaled_plan_size(hu_scaled_plan *t, size_t m, size_t n, size_t k, const hu_scaled_result *d,
                               const hu_scaled_operand *a, const hu_scaled_operand *b, const hu_scaled_operand *c,
                               const hu_scaled_sum *sum, const hu_exec *exec, size_t work) {
  hu_mode rne = hui_plain_mode();
  if (!d || !a || !b) return HU_E_NULL;
  hu_scaled_operand pa = somewhere(a), pb = somewhere(b), pc = somewhere(c ? c : a);
  hu_scaled_result pd = *d;
  pd.scaled = pa.scaled;
  pd.scaled.ld = d->scaled.ld;
  pd.scaled.lds = d->scaled.lds;
  pd.plain.data = pa.scaled.codes;
  return hui_scaled_plan_make(t, m, n, k, &pd, &pa, &pb, c ? &pc : NULL, sum, rne, exec, work);
}

hu_status hui_scaled_plan_place(hu_scaled_plan *t, void *space, size_t bytes) {
  hu_matrix_extent e;
  uint8_t *at = (uint8_t *)space;
  hu_status s = check_apart(t);
  if (s != HU_OK || t->bytes == 0) return s;
  if (!space) return HU_E_NULL;
  if ((uintptr_t)space % 64) return HU_E_ALIGN;
  if (bytes < t->bytes) return HU_E_SPACE;
  s = hui_matrix_extent_of(&e, space, 1, t->bytes, t->bytes, 1, 64);
  if (s != HU_OK) return s;
  for (size_t i = 0; i < 10; i++) {
    if (hui_matrix_extents_overlap(&e, &t->in[i]) || (i < 4 && hui_matrix_extents_overlap(&e, &t->out[i])))
      return HU_E_OVERLAP;
  }
  if (t->a.how != HU_VIEW_GIVEN) t->a.operand.data = at + t->at_a;
  if (t->b.how != HU_VIEW_GIVEN) t->b.operand.data = at + t->at_b;
  if (t->c.how != HU_VIEW_GIVEN) t->c.operand.data = at + t->at_c;
  if (t->spread_a) t->scale_a.data = at + t->at_scale_a;
  if (t->spread_b) t->scale_b.data = at + t->at_scale_b;
  if (t->has_y) t->y = (void *)(at + t->at_y);
  t->work = at + t->at_work;
  return HU_OK;
}

/* ---- sums ---- */

static hu_source source_of(const hu_operand *x) {
  int values = x->storage == HU_STORAGE_VALUES;
  return hui_source_of(x->format, values ? HU_STORED_VALUES : HU_STORED_CODES,
                       (uint8_t)element_size(x->format, x->storage));
}

int hui_scaled_plan_sums(hu_scaled_sums *s, const hu_scaled_plan *t, const hu_exec *exec) {
  const hu_accum *x = &t->sum.inside;
  memset(s, 0, sizeof *s);
  s->a = t->sa;
  s->b = t->sb;
  s->k = t->k;
  s->runs = t->runs;
  s->factor = t->sum.factor;
  s->alpha = t->alpha;
  s->key = hui_exec_stream(exec).key;
  s->counter = hui_exec_stream(exec).counter;
  s->inside.a = source_of(&t->a.operand);
  s->inside.b = source_of(&t->b.operand);
  s->inside.sa = s->inside.a;
  s->inside.sb = s->inside.b;
  s->c = t->has_c ? source_of(&t->c.operand) : hui_source_of(hui_format_binary32(), HU_STORED_CODES, 4);
  hui_plan_model(&s->inside, x, t->k, &s->inside.a);
  if (t->sum.way != HU_SCALED_PARTS) return 1;
  uint32_t down = !t->alpha && !t->d.scaling && t->mode.round == HU_RTN;
  return hui_scaled_plan_across(s, &t->sum.across, down);
}
