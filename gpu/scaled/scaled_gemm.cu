/* SPDX-License-Identifier: MIT */
/* gpu/scaled/scaled_gemm.cu - products of scaled tensors: hu_device_gemm for the parts, emu/core/scaled_sum.h for what
 * becomes of them, one thread an element.
 *
 * Where `across` is a chain of binary32 steps, each run's parts are joined to the sums as soon as they are there. Else
 * the parts of all runs stay, for as many rows of D as working space has room for.
 *
 * Bound: joining a run takes up to 807 instructions of machine code for an element of D, 6 for a product in runs of
 * 128, beside those of the product itself; docs/device.md counts 13 for `fp32`, of which a multiprocessor starts 128 in
 * a clock. Of memory an element and run take 12 bytes, 0.1 for a product: issue slots are the bound. */
#include "emu/core/stream.h"
#include "emu/scaled/check.h"
#include "emu/scaled_gemm/plan.h"
#include "gpu/base/batch.h"
#include "gpu/base/check.h"
#include "gpu/base/events.cuh"
#include "gpu/base/look.h"
#include "halfulp/device_scaled.h"

#define HU_SLAB_BYTES ((size_t)1 << 28)

/* What every kernel of a call knows. Element (i, j) of an operand is at at + i down + j right, bytes. */
typedef struct hu_strides {
  const uint8_t *at;
  ptrdiff_t down, right;
} hu_strides;

typedef struct hu_sums_args {
  hu_scaled_sums s;
  hu_strides a, b, c; /* c.at NULL: absent */
  size_t n;
  hu_spec spec; /* of a plain D */
  uint8_t *d;
  size_t ldd;
  uint8_t dsize; /* bytes of a code; 0: values */
  float *y;      /* m x n where the result is encoded; else NULL */
  uint8_t how;   /* steps: 1: the products are rounded, too */
  hu_events *events;
} hu_sums_args;

/* Rows row ... row + rows - 1 of D in work: `count` elements. */
typedef struct hu_slab {
  size_t row, count;
  hu_num *w;
  uint32_t *part;
  float *sum;
} hu_slab;

#define HU_FOR_EACH(e, count)                                                               \
  for (uint64_t e = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; e < (uint64_t)(count); \
       e += (uint64_t)gridDim.x * HU_THREADS)

HU_DEVICE hu_lines hui_operand_lines(const hu_sums_args &g, size_t i, size_t j) {
  hu_lines in;
  in.a.at = g.a.at + (ptrdiff_t)i * g.a.down;
  in.a.step = g.a.right;
  in.b.at = g.b.at + (ptrdiff_t)j * g.b.right;
  in.b.step = g.b.down;
  in.sa = in.a;
  in.sb = in.b;
  return in;
}

HU_DEVICE hu_num hui_operand_c(const hu_sums_args &g, size_t i, size_t j) {
  if (!g.c.at) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_source_read(&g.s.c, g.c.at + (ptrdiff_t)i * g.c.down + (ptrdiff_t)j * g.c.right);
}

/* ---- operands made ready ---- */

HU_KERNEL __launch_bounds__(HU_THREADS) hui_twos_kernel(size_t rows, size_t cols, const uint8_t *x, size_t ldx,
                                                        uint32_t from, uint8_t *z, uint32_t to, uint32_t m) {
  HU_FOR_EACH(e, (uint64_t)rows * cols) {
    size_t i = e / cols, j = e % cols;
    hui_store_code(z + e * to, to, hui_scale_twos(m, hui_load_code(x + (i * ldx + j) * from, from)));
  }
}

/* One scale for each line and `every` products; one: the code of 1. */
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_spread_kernel(const __grid_constant__ hu_scale_source s, uint8_t *z, size_t ld, uint32_t size, size_t lines,
                      size_t count, size_t every, int rows, uint32_t one) {
  HU_FOR_EACH(e, (uint64_t)lines * count) {
    size_t i = e / count, q = e % count;
    const uint8_t *at = s.at;
    if (s.size) at += (ptrdiff_t)(i / s.line_side) * s.line_step + (ptrdiff_t)(q * every / s.run_side) * s.run_step;
    hui_store_code(z + (rows ? i * ld + q : q * ld + i) * size, size, s.size ? hui_load_code(at, s.size) : one);
  }
}

/* ---- the last rounding ---- */

static __device__ __noinline__ uint32_t hui_scaled_nan_made(const hu_sums_args &g, size_t i, size_t j, hu_num c) {
  hu_lines in = hui_operand_lines(g, i, j);
  return !hui_scaled_nan_given(&g.s, &in, i, j, c);
}

/* The sum of element (i, j) into D, or into what is encoded afterwards; its events. */
static __device__ __noinline__ uint32_t hui_scaled_store(const hu_sums_args &g, size_t i, size_t j, hu_num sum,
                                                         hu_num c) {
  uint32_t set = 0, random = 0;
  uint64_t number = (uint64_t)i * g.n + j;
  if (g.y) {
    g.y[number] = __uint_as_float(hui_pack32(sum));
    return 0;
  }
  if (g.spec.round >= HU_SRA) random = hui_stream_at(g.s.key, g.s.counter + number) >> (32 - g.spec.bits);
  uint32_t code = hui_round(&g.spec, sum, random, &set), size = g.dsize ? g.dsize : 4;
  hui_store_code(g.d + (i * g.ldd + j) * size, size, g.dsize ? code : hui_pack32(hui_unpack(&g.spec, code)));
  if (sum.kind == HU_KIND_NAN && hui_scaled_nan_made(g, i, j, c)) {
    set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  }
  return set;
}

/* Sums in binary32 (of a whole matrix or a slab): the epilogue, if there is one, and the last rounding. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_finish_kernel(const __grid_constant__ hu_sums_args g, const __grid_constant__ hu_slab t) {
  hu_counts counts;
  hui_counts_clear(&counts);
  HU_FOR_EACH(e, t.count) {
    size_t i = t.row + e / g.n, j = e % g.n;
    hu_num c = hui_operand_c(g, i, j), x = hui_unpack32(__float_as_uint(t.sum[e]));
    if (g.s.alpha) x = hui_scale_epilogue(&g.s.a, &g.s.b, x, c);
    hui_counts_add(&counts, hui_scaled_store(g, i, j, x, c));
  }
  if (g.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, g.events, sums);
  }
}

/* ---- chains of binary32 steps ---- */

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_start_kernel(const __grid_constant__ hu_sums_args g, const __grid_constant__ hu_slab t) {
  HU_FOR_EACH(e, t.count) {
    hu_num c = hui_operand_c(g, t.row + e / g.n, e % g.n);
    t.sum[e] = __uint_as_float(g.s.alpha ? 0 : hui_pack32(c));
  }
}

/* The parts of the run that begins at l. */
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_join_kernel(const __grid_constant__ hu_sums_args g, const __grid_constant__ hu_slab t, size_t l) {
  HU_FOR_EACH(e, t.count) {
    size_t i = t.row + e / g.n, j = e % g.n;
    hu_num sa = hui_scale_read(&g.s.a, i, l), sb = hui_scale_read(&g.s.b, j, l);
    hu_num w = hui_scale_factor(&g.s.a, &g.s.b, g.s.factor, sa, sb);
    hu_num p = hui_unpack32(hui_scale_part(&g.s.a, g.s.factor, sa, t.part[e]));
    hu_long x = hui_long_product(w, p);
    if (g.how) x = hui_long_of(hui_scale_rne32(hui_long_num(x)));
    hu_num sum = hui_long_add(x, hui_long_of(hui_unpack32(__float_as_uint(t.sum[e]))), 0);
    t.sum[e] = __uint_as_float(hui_pack32(sum));
  }
}

/* ---- all parts of an element ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_parts_kernel(const __grid_constant__ hu_sums_args g, const __grid_constant__ hu_slab t) {
  HU_FOR_EACH(e, t.count) {
    size_t i = t.row + e / g.n, j = e % g.n;
    hu_draw d = hui_scaled_draw(&g.s, (uint64_t)i * g.n + j, 0);
    hu_lines in = hui_operand_lines(g, i, j);
    uint32_t *part = t.part + e;
    for (size_t l = 0, end; l < g.s.k; l = end, part += t.count) {
      end = hui_scale_run_end(&g.s.a, &g.s.b, l, g.s.k);
      *part = hui_scaled_part(&g.s, &in, l, end, &d);
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_across_kernel(const __grid_constant__ hu_sums_args g, const __grid_constant__ hu_slab t) {
  hu_counts counts;
  hui_counts_clear(&counts);
  HU_FOR_EACH(e, t.count) {
    size_t i = t.row + e / g.n, j = e % g.n;
    hui_scaled_factors(&g.s, i, j, t.w + e, t.count, t.part + e, t.count);
    hu_num c = hui_operand_c(g, i, j);
    hu_num x = hui_scaled_across(&g.s, (uint64_t)i * g.n + j, t.w + e, t.count, t.part + e, t.count, c);
    if (g.s.alpha) x = hui_scale_epilogue(&g.s.a, &g.s.b, x, c);
    hui_counts_add(&counts, hui_scaled_store(g, i, j, x, c));
  }
  if (g.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, g.events, sums);
  }
}

/* ---- the host's side ---- */

static unsigned blocks_for(uint64_t count) { return hui_grid_size((count - 1) / HU_THREADS + 1, 64); }

static size_t bytes_of(const hu_operand *x) {
  return x->storage == HU_STORAGE_VALUES ? sizeof(float) : hui_code_bytes(x->format);
}

static hu_strides place_of(const hu_operand *x) {
  hu_strides p;
  ptrdiff_t size = (ptrdiff_t)bytes_of(x), far = (ptrdiff_t)x->ld * size;
  p.at = (const uint8_t *)x->data;
  p.down = x->transposed ? size : far;
  p.right = x->transposed ? far : size;
  return p;
}

static hu_operand part_of_operand(const hu_operand *x, size_t i, size_t j) {
  hu_operand z = *x;
  size_t at = x->transposed ? j * x->ld + i : i * x->ld + j;
  if (x->data) z.data = (const uint8_t *)x->data + at * bytes_of(x);
  return z;
}

static hu_status make_view(const hu_scaled_view *v, const hu_exec *exec, void *stream) {
  hu_mode rne = hui_plain_mode();
  if (v->how == HU_VIEW_GIVEN || v->rows == 0 || v->cols == 0) return HU_OK;
  void *z = (void *)(uintptr_t)v->operand.data;
  if (v->how == HU_VIEW_TWOS) {
    const hu_scaling *d = v->from.scaling;
    HU_LAUNCH(hui_twos_kernel, blocks_for((uint64_t)v->rows * v->cols), 0, stream, v->rows, v->cols,
              (const uint8_t *)v->from.scaled.codes, v->from.scaled.ld, hui_code_bytes(d->element), (uint8_t *)z,
              (uint32_t)bytes_of(&v->operand), (uint32_t)d->element.m);
    return hui_launched();
  }
  hu_status s =
      hu_device_scaled_decode(v->rows, v->cols, (float *)z, v->cols, &v->from.scaled, v->from.scaling, exec, stream);
  if (s != HU_OK || hu_format_equal(v->operand.format, hui_format_binary32())) return s;
  return hu_device_quantize_n(v->rows * v->cols, (float *)z, 1, (float *)z, 1, v->operand.format, rne, exec, NULL,
                              stream);
}

static hu_status make_scales(const hu_scaled_plan *t, const hu_operand *z, const hu_scale_source *s, size_t lines,
                             int rows, void *stream) {
  const hu_accum *x = &t->sum.inside;
  hu_spec spec = hui_spec_of(z->format, hui_plain_mode());
  uint32_t events, one = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
  size_t every = x->scaled ? x->promote : x->block.every, count = t->k / every + (t->k % every != 0);
  if (lines == 0 || count == 0) return HU_OK;
  HU_LAUNCH(hui_spread_kernel, blocks_for((uint64_t)lines * count), 0, stream, *s, (uint8_t *)(uintptr_t)z->data, z->ld,
            (uint32_t)bytes_of(z), lines, count, every, rows, one);
  return hui_launched();
}

static void fill_args(hu_sums_args *g, const hu_scaled_plan *t, const hu_exec *exec, hu_events *events) {
  memset(g, 0, sizeof *g);
  (void)hui_scaled_plan_sums(&g->s, t, exec);
  g->a = place_of(&t->a.operand);
  g->b = place_of(&t->b.operand);
  if (t->has_c) g->c = place_of(&t->c.operand);
  g->n = t->n;
  g->events = t->d.scaling ? NULL : events;
  if (t->d.scaling) {
    g->y = t->y;
    return;
  }
  const hu_result *d = &t->d.plain;
  g->spec = hui_spec_of(d->format, t->mode);
  g->d = (uint8_t *)d->data;
  g->ldd = d->ld;
  g->dsize = (uint8_t)(d->storage == HU_STORAGE_VALUES ? 0 : hui_code_bytes(d->format));
}

/* Run l ... end - 1 of `rows` rows from `row` on. */
static hu_status run_part(const hu_scaled_plan *t, size_t row, size_t rows, size_t l, size_t end, void *part,
                          const hu_exec *exec, void *stream) {
  hu_operand a = part_of_operand(&t->a.operand, row, l), b = part_of_operand(&t->b.operand, l, 0);
  hu_result r;
  memset(&r, 0, sizeof r);
  r.data = part;
  r.ld = t->n;
  r.format = hui_format_binary32();
  return hui_gemm_enqueue(rows, t->n, end - l, &r, &a, &b, NULL, NULL, NULL, &t->sum.inside, hui_plain_mode(), exec,
                          NULL, stream);
}

static int is_chain(const hu_scaled_plan *t) {
  int carried = !t->has_c || hu_format_fits_binary32(t->c.operand.format);
  return hui_scaled_across_steps(&t->sum.across) >= 0 && !hui_accum_is_random(&t->sum.inside) && (t->alpha || carried);
}

/* Bytes for one row of D in work. */
static size_t row_bytes(const hu_scaled_plan *t) {
  size_t runs = t->runs ? t->runs : 1, each = is_chain(t) ? 8 : runs * (sizeof(hu_num) + sizeof(uint32_t)), bytes;
  return __builtin_mul_overflow(t->n, each, &bytes) ? SIZE_MAX / 4 : bytes;
}

static hu_status run_slab_chain(const hu_scaled_plan *t, const hu_sums_args *g, hu_slab *z, size_t rows,
                                const hu_exec *exec, void *stream) {
  z->sum = (float *)(void *)t->work;
  z->part = (uint32_t *)(void *)(z->sum + z->count);
  HU_LAUNCH(hui_scaled_start_kernel, blocks_for(z->count), 0, stream, *g, *z);
  hu_status s = hui_launched();
  for (size_t l = 0, end; l < t->k && s == HU_OK; l = end) {
    end = hui_scale_run_end(&t->sa, &t->sb, l, t->k);
    s = run_part(t, z->row, rows, l, end, z->part, exec, stream);
    if (s != HU_OK) return s;
    HU_LAUNCH(hui_scaled_join_kernel, blocks_for(z->count), 0, stream, *g, *z, l);
    s = hui_launched();
  }
  if (s != HU_OK) return s;
  HU_LAUNCH(hui_scaled_finish_kernel, blocks_for(z->count), 0, stream, *g, *z);
  return hui_launched();
}

static hu_status run_slab_all(const hu_scaled_plan *t, const hu_sums_args *g, hu_slab *z, size_t rows,
                              const hu_exec *exec, void *stream) {
  hu_status s = HU_OK;
  z->w = (hu_num *)(void *)t->work;
  z->part = (uint32_t *)(void *)(z->w + (t->runs ? t->runs : 1) * z->count);
  if (hui_accum_is_random(&t->sum.inside)) {
    HU_LAUNCH(hui_scaled_parts_kernel, blocks_for(z->count), 0, stream, *g, *z);
    s = hui_launched();
  } else {
    for (size_t l = 0, r = 0, end; l < t->k && s == HU_OK; l = end, r++) {
      end = hui_scale_run_end(&t->sa, &t->sb, l, t->k);
      s = run_part(t, z->row, rows, l, end, z->part + r * z->count, exec, stream);
    }
  }
  if (s != HU_OK) return s;
  HU_LAUNCH(hui_scaled_across_kernel, blocks_for(z->count), 0, stream, *g, *z);
  return hui_launched();
}

static hu_status run_parts(const hu_scaled_plan *t, hu_sums_args *g, const hu_exec *exec, void *stream) {
  size_t rows = t->each / row_bytes(t);
  hu_status s = HU_OK;
  g->how = hui_scaled_across_steps(&t->sum.across) > 0;
  for (size_t row = 0; row < t->m && s == HU_OK; row += rows) {
    size_t some = t->m - row < rows ? t->m - row : rows;
    hu_slab z;
    memset(&z, 0, sizeof z);
    z.row = row;
    z.count = some * t->n;
    s = is_chain(t) ? run_slab_chain(t, g, &z, some, exec, stream) : run_slab_all(t, g, &z, some, exec, stream);
  }
  return s;
}

/* unit and decoded. */
static hu_status run_whole(const hu_scaled_plan *t, const hu_sums_args *g, const hu_exec *exec, hu_events *events,
                           void *stream) {
  hu_result y;
  memset(&y, 0, sizeof y);
  y.data = t->y;
  y.ld = t->n;
  y.format = hui_format_binary32();
  const hu_result *d = t->y ? &y : &t->d.plain;
  const hu_operand *c = t->has_c && !t->alpha ? &t->c.operand : NULL;
  hu_mode mode = t->y ? hui_plain_mode() : t->mode;
  hu_events *counts = t->y ? NULL : events;
  const hu_accum *x = &t->sum.inside;
  if (t->sum.way == HU_SCALED_DECODED) {
    return hui_gemm_enqueue(t->m, t->n, t->k, d, &t->a.operand, &t->b.operand, c, NULL, NULL, x, mode, exec, counts,
                            stream);
  }
  hu_status s = hui_gemm_enqueue(t->m, t->n, t->k, d, &t->a.operand, &t->b.operand, c, &t->scale_a, &t->scale_b, x,
                                 mode, exec, counts, stream);
  if (s != HU_OK || !t->alpha) return s;
  hu_slab z;
  memset(&z, 0, sizeof z);
  z.count = t->m * t->n;
  z.sum = t->y;
  HU_LAUNCH(hui_scaled_finish_kernel, blocks_for(z.count), 0, stream, *g, z);
  return hui_launched();
}

/* The working space is that of the plan, with room for whole rows of parts, and behind it that of encoding D. */
static size_t work_for(const hu_scaled_plan *t) {
  if (t->sum.way != HU_SCALED_PARTS) return 64;
  size_t row = row_bytes(t), rows = row ? HU_SLAB_BYTES / row : 1, bytes;
  if (rows < 1) rows = 1;
  if (rows > t->m) rows = t->m;
  return __builtin_mul_overflow(row, rows, &bytes) ? SIZE_MAX / 4 : bytes;
}

static size_t encode_work(const hu_scaled_plan *t) {
  return t->d.scaling ? (hu_device_scaled_work(t->m, t->n, t->d.scaling) + 63) / 64 * 64 : 0;
}

size_t hu_device_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                                   const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum) {
  hu_scaled_plan t;
  if (hui_scaled_plan_size(&t, m, n, k, d, a, b, c, sum, NULL, 1) != HU_OK) return SIZE_MAX;
  if (m == 0 || n == 0) return t.bytes + encode_work(&t);
  if (hui_scaled_plan_size(&t, m, n, k, d, a, b, c, sum, NULL, work_for(&t)) != HU_OK) return SIZE_MAX;
  return t.bytes + encode_work(&t);
}

/* Decoding looks by itself. */
static void look_at(const hu_scaled_view *v, void *stream) {
  const hu_operand *x = &v->from.plain;
  const hu_scaling *d = v->from.scaling;
  if (v->how == HU_VIEW_DECODED) return;
  if (d) {
    hui_look_at(hui_scaled_elements_of(v->rows, v->cols, v->from.scaled.codes, v->from.scaled.ld, d), stream);
    hui_look_at(hui_scaled_scales_of(v->rows, v->cols, &v->from.scaled, d), stream);
  } else if (x->storage == HU_STORAGE_CODES) {
    hui_look_at(hui_code_rows_of(v->rows, v->cols, x->data, x->ld, x->format), stream);
  }
}

static hu_status make_ready(const hu_scaled_plan *t, const hu_exec *exec, void *stream) {
  hu_status s = make_view(&t->a, exec, stream);
  if (s == HU_OK) s = make_view(&t->b, exec, stream);
  if (s == HU_OK && t->has_c) s = make_view(&t->c, exec, stream);
  if (s == HU_OK && t->spread_a) s = make_scales(t, &t->scale_a, &t->sa, t->m, 1, stream);
  if (s == HU_OK && t->spread_b) s = make_scales(t, &t->scale_b, &t->sb, t->n, 0, stream);
  return s;
}

hu_status hu_device_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                                const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum,
                                hu_mode mode, void *space, size_t bytes, const hu_exec *exec, hu_events *events,
                                void *stream) {
  hu_scaled_plan t;
  hu_sums_args g;
  hu_status s = hui_scaled_plan_make(&t, m, n, k, d, a, b, c, sum, mode, NULL, 1);
  size_t work = s == HU_OK && m && n ? work_for(&t) : 1;
  if (s == HU_OK) s = hui_scaled_plan_make(&t, m, n, k, d, a, b, c, sum, mode, NULL, work);
  if (s == HU_OK) s = hui_check_events(events);
  if (s != HU_OK) return s;
  size_t encoding = t.bytes;
  t.bytes += encode_work(&t);
  s = hui_scaled_plan_place(&t, space, bytes);
  if (s != HU_OK) return s;
  if (m && n) {
    look_at(&t.a, stream);
    look_at(&t.b, stream);
    if (t.has_c) look_at(&t.c, stream);
    s = make_ready(&t, exec, stream);
    if (s != HU_OK) return s;
    fill_args(&g, &t, exec, events);
    s = sum->way == HU_SCALED_PARTS ? run_parts(&t, &g, exec, stream) : run_whole(&t, &g, exec, events, stream);
  }
  if (s != HU_OK || !d->scaling) return s;
  return hu_device_scaled_encode(m, n, &d->scaled, t.y, n, d->scaling, mode, d->amax, d->stats, exec, events,
                                 (uint8_t *)space + encoding, stream);
}
