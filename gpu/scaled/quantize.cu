/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize.cu - encodes scaled tensors with blocks of any shape, where no kernel beside this file does: a
 * team of 1, 32 or 256 threads has a block and looks at it twice, the second time in the caches. Blocks of more than
 * HU_TEAM_MOST elements are shared out over the device in pieces, in two kernels: their amax, then their elements; so
 * is the tensor's amax. The largest of patterns needs no order, counts neither: same bits on every run.
 *
 * Bound: an element takes some 109 instructions in blocks of 32x32, 163 in those of 8x1 (docs/device.md), so that a
 * multiprocessor, which starts 128 in a clock, makes 1.2 or 0.8. Memory moves 16 bytes in that clock, 3.2 elements of 5
 * bytes: issue slots are the bound. The amax of neighbours takes 201 instructions for 16 of them, 10 in a clock; memory
 * allows 4 of 4 bytes, and is the bound. */
#include "emu/scaled/check.h"
#include "gpu/base/check.h"
#include "gpu/scaled/rect.cuh"

#define HU_PIECE ((size_t)1 << 13)

/* ---- a block ---- */

/* The better scale of a block whose elements are finite; one thread does it all. */
static __device__ __noinline__ void hui_core_four_six(const hu_scaled_args &a, const hu_scaled_tensor &t,
                                                      const hu_rect &r, uint32_t amax, hu_shared *b) {
  hu_four_six_block block = {a.x + r.row * a.ldx + r.col, r.rows, r.cols, a.ldx, a.cols, a.stream.key, 0};
  block.word = a.stream.counter + (uint64_t)r.row * a.cols + r.col;
  *b = hui_four_six_choose(&t.four_six, &t.scaler, &block, amax, b);
}

/* The way, and in *b the shared scale where the core goes it; every thread of the team must come here. */
template <int G>
HU_DEVICE hu_element_way hui_block_way(const hu_scaled_args &a, const hu_scaled_tensor &t, const hu_rect &r,
                                       uint32_t own, uint64_t special, hu_shared *b) {
  uint32_t amax = hui_block_amax(a, own);
  hu_element_way w = hui_element_way_of(a, t, special ? 0x7F800000 : own, amax);
  if (w.kind == HU_ELEMENT_WAY_SHORT) return w;
  hui_team_wait<G>();
  if (threadIdx.x % G == 0) {
    hui_core_shared(&t.scaler, amax, special != 0, b);
    if (a.four_six.on && special == 0 && (amax || a.scaler.amin)) hui_core_four_six(a, t, r, amax, b);
  }
  hui_team_wait<G>();
  w.code = b->code;
  return w;
}

/* ---- blocks of at most HU_TEAM_MOST elements ---- */

template <int G>
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_scaled_team_kernel(const __grid_constant__ hu_scaled_args a) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ hu_scaled_tensor t;
  __shared__ uint32_t parts[HU_THREADS / 32];
  __shared__ hu_shared slots[HU_THREADS / G];
  hu_counts c;
  hui_counts_clear(&c);
  hui_scaled_begin(a, &t);
  size_t blocks = a.block_rows * a.block_cols, step = (size_t)gridDim.x * (HU_THREADS / G);
  for (size_t k = (size_t)blockIdx.x * (HU_THREADS / G) + threadIdx.x / G; k < blocks; k += step) {
    size_t p = a.block_rows > 1 ? k / a.block_cols : 0, q = k - p * a.block_cols;
    hu_rect r = hui_block_rect(a, p, q);
    uint32_t special, amax = hui_rect_amax<G>(a, r, &special, parts);
    hu_shared *b = &slots[threadIdx.x / G];
    hu_element_way w = hui_block_way<G>(a, t, r, amax, special, b);
    if (threadIdx.x % G == 0) hui_block_store(a, p, q, w.code);
    hu_rect_counts n = hui_rect_elements<G>(a, t, r, w, b, &c);
    if (!a.stats) continue;
    n.saturated = hui_team_sum<G>(n.saturated, parts);
    n.to_zero = hui_team_sum<G>(n.to_zero, parts);
    if (threadIdx.x % G) continue;
    hui_stats_begin(&a.stats[k], amax, w.code, special);
    a.stats[k].saturated = n.saturated;
    a.stats[k].to_zero = n.to_zero;
  }
  if (a.events) hui_counts_flush(&c, a.events, sums);
}

/* ---- larger ones, in pieces ---- */

/* Pieces of a block: `down` times `across` of them, of rows x cols each. */
typedef struct hu_pieces {
  size_t rows, cols, down, across;
} hu_pieces;

static hu_pieces hui_pieces_of(size_t side_rows, size_t side_cols) {
  hu_pieces s;
  s.cols = side_cols < HU_PIECE ? side_cols : HU_PIECE;
  s.rows = HU_PIECE / s.cols < side_rows ? HU_PIECE / s.cols : side_rows;
  s.down = (side_rows - 1) / s.rows + 1;
  s.across = (side_cols - 1) / s.cols + 1;
  return s;
}

/* Piece number i of all; *block: the one that it is of, *first: whether it is that one's first. */
HU_DEVICE hu_rect hui_piece_rect(const hu_scaled_args &a, const hu_pieces &s, size_t i, size_t *block, int *first) {
  size_t own = s.down * s.across, in = i % own, down = in / s.across * s.rows, across = in % s.across * s.cols;
  *block = i / own;
  *first = in == 0;
  hu_rect r = hui_block_rect(a, *block / a.block_cols, *block % a.block_cols);
  size_t rows = a.rows - r.row < a.side_rows ? a.rows - r.row : a.side_rows;
  size_t cols = a.cols - r.col < a.side_cols ? a.cols - r.col : a.side_cols;
  r.row += down;
  r.col += across;
  r.rows = (uint32_t)(down >= rows ? 0 : rows - down < s.rows ? rows - down : s.rows);
  r.cols = (uint32_t)(across >= cols ? 0 : cols - across < s.cols ? cols - across : s.cols);
  if (r.cols == 0) r.rows = 0;
  return r;
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_clear_kernel(hu_top *tops, size_t n, hu_scaled_stats *stats, size_t m) {
  size_t step = (size_t)gridDim.x * HU_THREADS, first = (size_t)blockIdx.x * HU_THREADS + threadIdx.x;
  for (size_t i = first; i < n; i += step) {
    tops[i].amax = tops[i].unused = 0;
    tops[i].special = 0;
  }
  for (size_t i = first; i < m; i += step) stats[i].saturated = stats[i].to_zero = 0;
}

/* tops: one for each block of `a`. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_look_kernel(const __grid_constant__ hu_scaled_args a,
                                                               const __grid_constant__ hu_pieces s, hu_top *tops) {
  __shared__ uint32_t parts[HU_THREADS / 32];
  size_t all = a.block_rows * a.block_cols * s.down * s.across, block;
  for (size_t i = blockIdx.x; i < all; i += gridDim.x) {
    int first;
    uint32_t special;
    hu_rect r = hui_piece_rect(a, s, i, &block, &first);
    uint32_t amax = hui_rect_amax<HU_THREADS>(a, r, &special, parts);
    if (threadIdx.x) continue;
    if (amax) atomicMax(&tops[block].amax, amax);
    if (special) atomicAdd(&tops[block].special, (unsigned long long)special);
  }
}

/* The one record of n neighbours, four fours at a time. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_amax_kernel(const __grid_constant__ hu_scaled_args a,
                                                               const __grid_constant__ hu_map_extent e, hu_top *top) {
  __shared__ uint32_t parts[HU_THREADS / 32];
  uint32_t amax = 0, special = 0;
  size_t step = (size_t)gridDim.x * HU_THREADS, first = (size_t)blockIdx.x * HU_THREADS + threadIdx.x;
  for (size_t g = first; g < e.groups; g += 4 * step) {
    hu_four<uint32_t> v[4];
    uint32_t most = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      v[j] =
          *(const hu_four<uint32_t> *)(const void *)(a.x + e.head + (g + j * step < e.groups ? g + j * step : g) * 4);
    }
#pragma unroll
    for (int j = 0; j < 16; j++) most = hui_larger_magnitude(most, v[j / 4].v[j % 4]);
    if (most < 0x7F800000) {
      amax = most > amax ? most : amax;
      continue;
    }
#pragma unroll
    for (int j = 0; j < 16; j++) {
      uint32_t u = v[j / 4].v[j % 4], m = hui_limited(a, u);
      amax = m > amax ? m : amax;
      special += (j < 4 || g + j / 4 * step < e.groups) && (u & 0x7FFFFFFF) >= 0x7F800000;
    }
  }
  size_t singles = e.n - e.groups * 4;
  for (size_t s = first; s < singles; s += step) {
    uint32_t u = a.x[s < e.head ? s : s + e.groups * 4], m = hui_limited(a, u);
    amax = m > amax ? m : amax;
    special += (u & 0x7FFFFFFF) >= 0x7F800000;
  }
  special = hui_team_sum<HU_THREADS>(special, parts);
  amax = hui_team_largest<HU_THREADS>(amax, parts);
  if (threadIdx.x) return;
  if (amax) atomicMax(&top->amax, amax);
  if (special) atomicAdd(&top->special, (unsigned long long)special);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_pieces_kernel(const __grid_constant__ hu_scaled_args a, const __grid_constant__ hu_pieces s) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ hu_scaled_tensor t;
  __shared__ uint32_t parts[HU_THREADS / 32];
  __shared__ hu_shared b;
  hu_counts c;
  hui_counts_clear(&c);
  hui_scaled_begin(a, &t);
  size_t all = a.block_rows * a.block_cols * s.down * s.across, block;
  for (size_t i = blockIdx.x; i < all; i += gridDim.x) {
    int first;
    hu_rect r = hui_piece_rect(a, s, i, &block, &first);
    const hu_top top = a.tops[block];
    hu_element_way w = hui_block_way<HU_THREADS>(a, t, r, top.amax, top.special, &b);
    if (first && threadIdx.x == 0) hui_block_store(a, block / a.block_cols, block % a.block_cols, w.code);
    hu_rect_counts n = hui_rect_elements<HU_THREADS>(a, t, r, w, &b, &c);
    if (!a.stats) continue;
    n.saturated = hui_team_sum<HU_THREADS>(n.saturated, parts);
    n.to_zero = hui_team_sum<HU_THREADS>(n.to_zero, parts);
    if (threadIdx.x) continue;
    if (first) hui_stats_begin(&a.stats[block], top.amax, w.code, top.special);
    atomicAdd((unsigned long long *)&a.stats[block].saturated, (unsigned long long)n.saturated);
    atomicAdd((unsigned long long *)&a.stats[block].to_zero, (unsigned long long)n.to_zero);
  }
  if (a.events) hui_counts_flush(&c, a.events, sums);
}

/* An empty tensor has a second-level scale all the same. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_scaled_empty_kernel(const __grid_constant__ hu_scaled_args a) {
  __shared__ hu_scaled_tensor t;
  hui_scaled_begin(a, &t);
}

/* ---- a call ---- */

static hu_status hui_scaled_clear(hu_top *tops, size_t n, hu_scaled_stats *stats, size_t m, void *stream) {
  HU_LAUNCH(hui_scaled_clear_kernel, hui_grid_size((n > m ? n : m) / HU_THREADS + 1, 16), 0, stream, tops, n, stats, m);
  return hui_launched();
}

static hu_status hui_scaled_launch_look(const hu_scaled_args *a, hu_top *tops, void *stream) {
  if (a->block_rows * a->block_cols == 1 && (a->rows == 1 || a->ldx == a->cols)) {
    hu_map_extent e = hui_map_extent_of(a->rows * a->cols, a->x, 1, a->x, 1);
    HU_LAUNCH(hui_scaled_amax_kernel, hui_grid_size(e.groups / (4 * HU_THREADS) + 1, 8), 0, stream, *a, e, tops);
    return hui_launched();
  }
  hu_pieces s = hui_pieces_of(a->side_rows, a->side_cols);
  HU_LAUNCH(hui_scaled_look_kernel, hui_grid_size(a->block_rows * a->block_cols * s.down * s.across, 16), 0, stream, *a,
            s, tops);
  return hui_launched();
}

/* The same matrix as one block. */
static hu_status hui_scaled_launch_look_whole(const hu_scaled_args *a, void *stream) {
  hu_scaled_args whole = *a;
  whole.side_rows = a->rows;
  whole.side_cols = a->cols;
  whole.block_rows = whole.block_cols = 1;
  return hui_scaled_launch_look(&whole, a->whole, stream);
}

static hu_status hui_scaled_teams(const hu_scaled_args *a, void *stream) {
  size_t blocks = a->block_rows * a->block_cols, elements = a->side_rows * a->side_cols;
  if (elements <= 8 || a->side_cols == 1) {
    auto kernel = hui_scaled_team_kernel<1>;
    HU_LAUNCH(kernel, hui_grid_size(blocks / HU_THREADS + 1, 4), 0, stream, *a);
  } else if (elements <= HU_TEAM_WARP) {
    auto kernel = hui_scaled_team_kernel<32>;
    HU_LAUNCH(kernel, hui_grid_size(blocks / (HU_THREADS / 32) + 1, 4), 0, stream, *a);
  } else {
    auto kernel = hui_scaled_team_kernel<HU_THREADS>;
    HU_LAUNCH(kernel, hui_grid_size(blocks, 4), 0, stream, *a);
  }
  return hui_launched();
}

static hu_status hui_scaled_launch(hu_scaled_args *a, void *stream) {
  size_t blocks = a->block_rows * a->block_cols;
  hu_status s = HU_OK;
  if (a->rows == 0 || a->cols == 0) {
    if (!a->tensor) return HU_OK;
    HU_LAUNCH(hui_scaled_empty_kernel, 1, 0, stream, *a);
    return hui_launched();
  }
  if (a->whole) {
    s = hui_scaled_clear(a->whole, 1, NULL, 0, stream);
    if (s == HU_OK) s = hui_scaled_launch_look_whole(a, stream);
  }
  if (s != HU_OK) return s;
  if (hui_scaled_eights_serves(a)) return hui_scaled_eights_launch(a, stream);
  if (hui_scaled_rows_serves(a)) return hui_scaled_rows_launch(a, stream);
  int tiles = hui_scaled_tiles_serves(a);
  if (tiles && !hui_scaled_tiles_look(a)) a->tops = NULL;
  if (!a->tops) return tiles ? hui_scaled_tiles_launch(a, stream) : hui_scaled_teams(a, stream);
  s = hui_scaled_clear(a->tops, blocks, a->stats, a->stats ? blocks : 0, stream);
  if (s == HU_OK) s = hui_scaled_launch_look(a, a->tops, stream);
  if (s != HU_OK) return s;
  if (tiles) return hui_scaled_tiles_launch(a, stream);
  hu_pieces pieces = hui_pieces_of(a->side_rows, a->side_cols);
  HU_LAUNCH(hui_scaled_pieces_kernel, hui_grid_size(blocks * pieces.down * pieces.across, 4), 0, stream, *a, pieces);
  return hui_launched();
}

/* ---- arguments ---- */

static int hui_saturates(const hu_spec *f) { return f->saturate != HU_SAT_NONE || f->overflow == HU_OVERFLOW_MAX; }

static int hui_nearest_serves(const hu_spec *f, uint32_t round) {
  return f->round == round && f->m >= 1 && f->zero == HU_ZERO_FIELD && f->subnormal == HU_SUBNORMAL_GRADUAL &&
         hui_saturates(f);
}

/* Can steps in binary32 make the scales? M and the scales must be binary32 numbers. */
static int hui_ratios_serve(hu_scaled_args *a, const hu_scaling *d) {
  a->scale_is_binary32 = (uint8_t)hu_format_equal(d->scale, hui_format_binary32());
  if (a->scaler.rule != HU_SCALE_RATIO || a->scaler.steps == HU_STEPS_EXACT || a->four_six.on) return 0;
  return a->scale_is_binary32 || hui_lane_constants_of(&a->scale_constants, &a->scaler.scale);
}

/* Can nearest round numbers up to the largest scale? */
static int hui_scale_nearest_serves(const hu_spec *f) {
  int32_t d0 = 23 - f->m, most = hui_exponent(hui_unpack(f, f->max_code));
  return hui_nearest_serves(f, HU_RNE) && f->m <= 22 && f->emin >= -125 && f->emin + d0 <= 126 && most + d0 <= 126;
}

/* Exponents of scales under which every sum of nearest is finite and exact; or emu/scaled/quantize.c's conditions.
 * Scales are normal numbers of their format, and 2^e and 2^-e binary32 numbers. */
static void hui_short_limits(hu_scaled_args *a) {
  const hu_spec *f = &a->scaler.element, *s = &a->scaler.scale;
  int32_t low = -125 - f->emin, high = 127 - a->scaler.emax;
  if (a->nearest && high > 126 - a->constants.d0 - f->emin) high = 126 - a->constants.d0 - f->emin;
  if (!a->nearest && low < f->m - f->emin - 92) low = f->m - f->emin - 92;
  if (!a->nearest && f->emin - f->m < -92) high = INT32_MIN;
  a->short_low = low > s->emin ? low : s->emin;
  if (a->short_low < -126) a->short_low = -126;
  a->short_high = high < 127 ? high : 127;
  a->short_top = a->nearest ? 253 - a->constants.d0 : 254;
}

/* What the kernels have to know of the element format beside its description. */
static void hui_element_limits(hu_scaled_args *a) {
  const hu_spec *f = &a->scaler.element;
  a->top = hui_pack32(a->scaler.top);
  a->low = (uint32_t)(f->emin + 127) << 23;
  a->lanes = hui_lane_constants_of(&a->constants, f) && f->fits_binary32 && f->emin - f->m >= -126 && f->emin >= -125 &&
             f->emin + a->constants.d0 <= 126 && a->scaler.emax + a->constants.d0 <= 126;
  a->nearest = (uint8_t)hui_nearest_serves(f, HU_RNE);
  a->added = a->lanes && hui_nearest_serves(f, HU_SRA);
  a->not_tiny = a->low - (f->tiny == HU_TINY_AFTER && f->m <= 22 ? 1u << (22 - f->m) : 0);
}

void hui_scaled_args_of(hu_scaled_args *a, size_t rows, size_t cols, const hu_scaling *d, hu_mode mode) {
  memset(a, 0, sizeof *a);
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, d);
  a->rows = rows;
  a->cols = cols;
  a->side_rows = d->rows && d->rows < rows ? d->rows : rows;
  a->side_cols = d->cols && d->cols < cols ? d->cols : cols;
  a->block_rows = n.block_rows;
  a->block_cols = n.block_cols;
  a->code_size = (uint32_t)n.code_bytes;
  a->scale_size = (uint32_t)n.scale_bytes;
  a->scaler = hui_scaler_of(*d, mode);
  a->four_six = hui_four_six_of(d, &a->scaler);
  hui_element_limits(a);
  a->carry = a->lanes ? hui_scale_carry(&a->scaler) : 0;
  a->blank = d->blank == HU_BLANK_ZERO
                 ? 0
                 : hui_scale_code(&a->scaler, hui_power_of_two(d->blank == HU_BLANK_ONE ? 0 : a->scaler.low));
  a->ratios = (uint8_t)hui_ratios_serve(a, d);
  a->scale_nearest = (uint8_t)(a->ratios && !a->scale_is_binary32 && hui_scale_nearest_serves(&a->scaler.scale));
  a->scale_low = (uint32_t)(a->scaler.scale.emin + 127) << 23;
  a->scale_top = hui_pack32(hui_unpack(&a->scaler.scale, a->scaler.scale.max_code));
  hui_short_limits(a);
  a->stochastic = mode.round >= HU_SRA;
}

static int hui_in_pieces(const hu_scaled_args *a) {
  size_t all;
  return __builtin_mul_overflow(a->side_rows, a->side_cols, &all) || all > HU_TEAM_MOST;
}

size_t hu_device_scaled_work(size_t rows, size_t cols, const hu_scaling *scaling) {
  hu_scaled_args a;
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  if (hu_scaling_check(scaling, NULL) != HU_OK || rows == 0 || cols == 0) return 0;
  hui_scaled_args_of(&a, rows, cols, scaling, rne);
  return sizeof(hu_top) * ((a.scaler.two ? 1 : 0) + (hui_in_pieces(&a) ? a.block_rows * a.block_cols : 0));
}

typedef struct hu_scaled_rest {
  const float *amax;
  hu_scaled_stats *stats;
  const hu_exec *exec;
  hu_events *events;
  void *work;
} hu_scaled_rest;

static hu_status hui_scaled_rest_check(size_t rows, size_t cols, const hu_scaling *scaling, const hu_scaled_rest *r) {
  hu_status s = hui_check_events(r->events);
  if (s != HU_OK) return s;
  if (!r->work) return hu_device_scaled_work(rows, cols, scaling) ? HU_E_NULL : HU_OK;
  return (uintptr_t)r->work % sizeof(uint64_t) ? HU_E_ALIGN : HU_OK;
}

/* Pointers of a checked call; the matrix is not empty. */
static void hui_scaled_set(hu_scaled_args *a, const float *x, size_t ldx, const hu_scaled_rest *r) {
  hu_top *work = (hu_top *)r->work;
  a->x = (const uint32_t *)(const void *)x;
  a->ldx = ldx;
  a->amax = (const uint32_t *)(const void *)r->amax;
  a->stats = r->stats;
  a->events = r->events;
  a->stream.key = r->exec ? r->exec->stream.key : 0;
  a->stream.counter = r->exec ? r->exec->stream.counter : 0;
  if (a->rows == 0 || a->cols == 0) return;
  if (a->scaler.two) {
    a->whole = r->amax ? NULL : work;
    work++;
  }
  if (hui_in_pieces(a)) a->tops = work;
  hui_scaled_flatten(a);
  while (a->side_cols > (size_t)4 << a->span_log && a->span_log < 5) a->span_log++;
  if (a->events) a->added = 0;
  a->x_vectors = (uint8_t)hui_scaled_vectors(a->x, a->ldx, a->rows, 4);
  a->z_vectors =
      (uint8_t)(a->z ? hui_scaled_vectors(a->z, a->ldz, a->rows, 4) : hui_scaled_vectors(a->codes, a->ld, a->rows, 1));
}

hu_status hu_device_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                                  const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                  const hu_exec *exec, hu_events *events, void *work, void *stream) {
  hu_scaled_args a;
  hu_scaled_rest rest = {amax, stats, exec, events, work};
  hu_status s = hui_scaled_made_check(rows, cols, z, NULL, 0, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = z ? hui_scaled_rest_check(rows, cols, scaling, &rest) : HU_E_NULL;
  if (s != HU_OK) return s;
  hui_scaled_args_of(&a, rows, cols, scaling, mode);
  a.codes = (uint8_t *)z->codes;
  a.ld = z->ld;
  a.scales = (uint8_t *)z->scales;
  a.lds = z->lds;
  a.tensor = a.scaler.two ? (uint32_t *)(void *)z->tensor : NULL;
  hui_scaled_set(&a, x, ldx, &rest);
  return hui_scaled_launch(&a, stream);
}

hu_status hu_device_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                    const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                    const hu_exec *exec, hu_events *events, void *work, void *stream) {
  hu_scaled_args a;
  hu_scaled_rest rest = {amax, stats, exec, events, work};
  hu_status s = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = hui_scaled_rest_check(rows, cols, scaling, &rest);
  if (s != HU_OK) return s;
  hui_scaled_args_of(&a, rows, cols, scaling, mode);
  a.z = (uint32_t *)(void *)z;
  a.ldz = ldz;
  hui_scaled_set(&a, x, ldx, &rest);
  return hui_scaled_launch(&a, stream);
}
