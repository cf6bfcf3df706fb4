/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize.cu - encodes scaled tensors with blocks of any shape that no faster kernel takes: a team of 1, 32
 * or 256 threads has a block and reads it twice, the second time from the caches. Blocks of more than HU_TEAM_MOST
 * elements, and the tensor for its amax, are divided into pieces over the device; one kernel finds their amax, another
 * makes their elements. Maxima of patterns and counts do not depend on the order, so that all runs give the same bits.
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

/* Chooses the better scale of a block whose elements are finite; one thread does it all. */
static __device__ __noinline__ void hui_core_four_six(const hu_scaled_args &args, const hu_scaled_tensor &tensor,
                                                      const hu_rect &rect, uint32_t amax, hu_shared *shared) {
  hu_four_six_block block = {
      args.x + rect.row * args.ldx + rect.col, rect.rows, rect.cols, args.ldx, args.cols, args.stream.key, 0};
  block.word = args.stream.counter + (uint64_t)rect.row * args.cols + rect.col;
  *shared = hui_four_six_choose(&tensor.four_six, &tensor.scaler, &block, amax, shared);
}

/* Returns the way of a block, and *shared if it is the core's. Every thread of the team must call it. */
template <int Team>
HU_DEVICE hu_element_way hui_block_way(const hu_scaled_args &args, const hu_scaled_tensor &tensor, const hu_rect &rect,
                                       uint32_t own, uint64_t special, hu_shared *shared) {
  uint32_t amax = hui_block_amax(args, own);
  hu_element_way way = hui_element_way_of(args, tensor, special ? 0x7F800000 : own, amax);
  if (way.kind == HU_ELEMENT_WAY_SHORT) return way;
  hui_team_wait<Team>();
  if (threadIdx.x % Team == 0) {
    hui_core_shared(&tensor.scaler, amax, special != 0, shared);
    if (args.four_six.on && special == 0 && (amax || args.scaler.amin))
      hui_core_four_six(args, tensor, rect, amax, shared);
  }
  hui_team_wait<Team>();
  way.code = shared->code;
  return way;
}

/* ---- blocks of at most HU_TEAM_MOST elements ---- */

template <int Team>
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_scaled_team_kernel(const __grid_constant__ hu_scaled_args args) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ hu_scaled_tensor tensor;
  __shared__ uint32_t parts[HU_THREADS / 32];
  __shared__ hu_shared slots[HU_THREADS / Team];
  hu_counts counts;
  hui_counts_clear(&counts);
  hui_scaled_begin(args, &tensor);
  size_t blocks = args.block_rows * args.block_cols, step = (size_t)gridDim.x * (HU_THREADS / Team);
  for (size_t k = (size_t)blockIdx.x * (HU_THREADS / Team) + threadIdx.x / Team; k < blocks; k += step) {
    size_t block_row = args.block_rows > 1 ? k / args.block_cols : 0, block_col = k - block_row * args.block_cols;
    hu_rect rect = hui_block_rect(args, block_row, block_col);
    uint32_t special, amax = hui_rect_amax<Team>(args, rect, &special, parts);
    hu_shared *shared = &slots[threadIdx.x / Team];
    hu_element_way way = hui_block_way<Team>(args, tensor, rect, amax, special, shared);
    if (threadIdx.x % Team == 0) hui_block_store(args, block_row, block_col, way.code);
    hu_rect_counts own = hui_rect_elements<Team>(args, tensor, rect, way, shared, &counts);
    if (!args.stats) continue;
    own.saturated = hui_team_sum<Team>(own.saturated, parts);
    own.to_zero = hui_team_sum<Team>(own.to_zero, parts);
    if (threadIdx.x % Team) continue;
    hui_stats_begin(&args.stats[k], amax, way.code, special);
    args.stats[k].saturated = own.saturated;
    args.stats[k].to_zero = own.to_zero;
  }
  if (args.events) hui_counts_flush(&counts, args.events, sums);
}

/* ---- larger ones, in pieces ---- */

/* Pieces of a block: `down` times `across` of them, of rows x cols each. */
typedef struct hu_pieces {
  size_t rows, cols, down, across;
} hu_pieces;

static hu_pieces hui_pieces_of(size_t side_rows, size_t side_cols) {
  hu_pieces pieces;
  pieces.cols = side_cols < HU_PIECE ? side_cols : HU_PIECE;
  pieces.rows = HU_PIECE / pieces.cols < side_rows ? HU_PIECE / pieces.cols : side_rows;
  pieces.down = (side_rows - 1) / pieces.rows + 1;
  pieces.across = (side_cols - 1) / pieces.cols + 1;
  return pieces;
}

/* Returns piece number i of all; *block is its block, *first is 1 for the block's first piece. */
HU_DEVICE hu_rect hui_piece_rect(const hu_scaled_args &args, const hu_pieces &pieces, size_t i, size_t *block,
                                 int *first) {
  size_t own = pieces.down * pieces.across, in = i % own, down = in / pieces.across * pieces.rows,
         across = in % pieces.across * pieces.cols;
  *block = i / own;
  *first = in == 0;
  hu_rect rect = hui_block_rect(args, *block / args.block_cols, *block % args.block_cols);
  size_t rows = args.rows - rect.row < args.side_rows ? args.rows - rect.row : args.side_rows;
  size_t cols = args.cols - rect.col < args.side_cols ? args.cols - rect.col : args.side_cols;
  rect.row += down;
  rect.col += across;
  rect.rows = (uint32_t)(down >= rows ? 0 : rows - down < pieces.rows ? rows - down : pieces.rows);
  rect.cols = (uint32_t)(across >= cols ? 0 : cols - across < pieces.cols ? cols - across : pieces.cols);
  if (rect.cols == 0) rect.rows = 0;
  return rect;
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

/* Finds the amax of the blocks of `args`: tops has one for each. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_look_kernel(const __grid_constant__ hu_scaled_args args,
                                                               const __grid_constant__ hu_pieces pieces, hu_top *tops) {
  __shared__ uint32_t parts[HU_THREADS / 32];
  size_t all = args.block_rows * args.block_cols * pieces.down * pieces.across, block;
  for (size_t i = blockIdx.x; i < all; i += gridDim.x) {
    int first;
    uint32_t special;
    hu_rect rect = hui_piece_rect(args, pieces, i, &block, &first);
    uint32_t amax = hui_rect_amax<HU_THREADS>(args, rect, &special, parts);
    if (threadIdx.x) continue;
    if (amax) atomicMax(&tops[block].amax, amax);
    if (special) atomicAdd(&tops[block].special, (unsigned long long)special);
  }
}

/* Finds the amax of one array, four groups of four at a time. */
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_amax_kernel(const __grid_constant__ hu_scaled_args args, const __grid_constant__ hu_map_extent extent,
                           hu_top *top) {
  __shared__ uint32_t parts[HU_THREADS / 32];
  uint32_t amax = 0, special = 0;
  size_t step = (size_t)gridDim.x * HU_THREADS, first = (size_t)blockIdx.x * HU_THREADS + threadIdx.x;
  for (size_t group = first; group < extent.groups; group += 4 * step) {
    hu_four<uint32_t> four[4];
    uint32_t most = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      four[j] =
          *(const hu_four<uint32_t> *)(const void *)(args.x + extent.head +
                                                     (group + j * step < extent.groups ? group + j * step : group) * 4);
    }
#pragma unroll
    for (int j = 0; j < 16; j++) most = hui_larger_magnitude(most, four[j / 4].value[j % 4]);
    if (most < 0x7F800000) {
      amax = most > amax ? most : amax;
      continue;
    }
#pragma unroll
    for (int j = 0; j < 16; j++) {
      uint32_t x = four[j / 4].value[j % 4], m = hui_limited(args, x);
      amax = m > amax ? m : amax;
      special += (j < 4 || group + j / 4 * step < extent.groups) && (x & 0x7FFFFFFF) >= 0x7F800000;
    }
  }
  size_t singles = extent.n - extent.groups * 4;
  for (size_t single = first; single < singles; single += step) {
    uint32_t x = args.x[single < extent.head ? single : single + extent.groups * 4], m = hui_limited(args, x);
    amax = m > amax ? m : amax;
    special += (x & 0x7FFFFFFF) >= 0x7F800000;
  }
  special = hui_team_sum<HU_THREADS>(special, parts);
  amax = hui_team_largest<HU_THREADS>(amax, parts);
  if (threadIdx.x) return;
  if (amax) atomicMax(&top->amax, amax);
  if (special) atomicAdd(&top->special, (unsigned long long)special);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_pieces_kernel(const __grid_constant__ hu_scaled_args args, const __grid_constant__ hu_pieces pieces) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ hu_scaled_tensor tensor;
  __shared__ uint32_t parts[HU_THREADS / 32];
  __shared__ hu_shared shared;
  hu_counts counts;
  hui_counts_clear(&counts);
  hui_scaled_begin(args, &tensor);
  size_t all = args.block_rows * args.block_cols * pieces.down * pieces.across, block;
  for (size_t i = blockIdx.x; i < all; i += gridDim.x) {
    int first;
    hu_rect rect = hui_piece_rect(args, pieces, i, &block, &first);
    const hu_top top = args.tops[block];
    hu_element_way way = hui_block_way<HU_THREADS>(args, tensor, rect, top.amax, top.special, &shared);
    if (first && threadIdx.x == 0) hui_block_store(args, block / args.block_cols, block % args.block_cols, way.code);
    hu_rect_counts own = hui_rect_elements<HU_THREADS>(args, tensor, rect, way, &shared, &counts);
    if (!args.stats) continue;
    own.saturated = hui_team_sum<HU_THREADS>(own.saturated, parts);
    own.to_zero = hui_team_sum<HU_THREADS>(own.to_zero, parts);
    if (threadIdx.x) continue;
    if (first) hui_stats_begin(&args.stats[block], top.amax, way.code, top.special);
    atomicAdd((unsigned long long *)&args.stats[block].saturated, (unsigned long long)own.saturated);
    atomicAdd((unsigned long long *)&args.stats[block].to_zero, (unsigned long long)own.to_zero);
  }
  if (args.events) hui_counts_flush(&counts, args.events, sums);
}

/* Stores the second-level scale of an empty tensor, which has one, too. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_scaled_empty_kernel(const __grid_constant__ hu_scaled_args args) {
  __shared__ hu_scaled_tensor tensor;
  hui_scaled_begin(args, &tensor);
}

/* ---- a call ---- */

static hu_status hui_scaled_clear(hu_top *tops, size_t n, hu_scaled_stats *stats, size_t m, void *stream) {
  HU_LAUNCH(hui_scaled_clear_kernel, hui_grid_size((n > m ? n : m) / HU_THREADS + 1, 16), 0, stream, tops, n, stats, m);
  return hui_launched();
}

static hu_status hui_scaled_launch_look(const hu_scaled_args *args, hu_top *tops, void *stream) {
  if (args->block_rows * args->block_cols == 1 && (args->rows == 1 || args->ldx == args->cols)) {
    hu_map_extent extent = hui_map_extent_of(args->rows * args->cols, args->x, 1, args->x, 1);
    HU_LAUNCH(hui_scaled_amax_kernel, hui_grid_size(extent.groups / (4 * HU_THREADS) + 1, 8), 0, stream, *args, extent,
              tops);
    return hui_launched();
  }
  hu_pieces pieces = hui_pieces_of(args->side_rows, args->side_cols);
  HU_LAUNCH(hui_scaled_look_kernel,
            hui_grid_size(args->block_rows * args->block_cols * pieces.down * pieces.across, 16), 0, stream, *args,
            pieces, tops);
  return hui_launched();
}

/* Looks at the same matrix as one block. */
static hu_status hui_scaled_launch_look_whole(const hu_scaled_args *args, void *stream) {
  hu_scaled_args whole = *args;
  whole.side_rows = args->rows;
  whole.side_cols = args->cols;
  whole.block_rows = whole.block_cols = 1;
  return hui_scaled_launch_look(&whole, args->whole, stream);
}

static hu_status hui_scaled_teams(const hu_scaled_args *args, void *stream) {
  size_t blocks = args->block_rows * args->block_cols, elements = args->side_rows * args->side_cols;
  if (elements <= 8 || args->side_cols == 1) {
    auto kernel = hui_scaled_team_kernel<1>;
    HU_LAUNCH(kernel, hui_grid_size(blocks / HU_THREADS + 1, 4), 0, stream, *args);
  } else if (elements <= HU_TEAM_WARP) {
    auto kernel = hui_scaled_team_kernel<32>;
    HU_LAUNCH(kernel, hui_grid_size(blocks / (HU_THREADS / 32) + 1, 4), 0, stream, *args);
  } else {
    auto kernel = hui_scaled_team_kernel<HU_THREADS>;
    HU_LAUNCH(kernel, hui_grid_size(blocks, 4), 0, stream, *args);
  }
  return hui_launched();
}

static hu_status hui_scaled_launch(hu_scaled_args *args, void *stream) {
  size_t blocks = args->block_rows * args->block_cols;
  hu_status status = HU_OK;
  if (args->rows == 0 || args->cols == 0) {
    if (!args->tensor) return HU_OK;
    HU_LAUNCH(hui_scaled_empty_kernel, 1, 0, stream, *args);
    return hui_launched();
  }
  if (args->whole) {
    status = hui_scaled_clear(args->whole, 1, NULL, 0, stream);
    if (status == HU_OK) status = hui_scaled_launch_look_whole(args, stream);
  }
  if (status != HU_OK) return status;
  if (hui_scaled_eights_serves(args)) return hui_scaled_eights_launch(args, stream);
  if (hui_scaled_rows_serves(args)) return hui_scaled_rows_launch(args, stream);
  int tiles = hui_scaled_tiles_serves(args);
  if (tiles && !hui_scaled_tiles_look(args)) args->tops = NULL;
  if (!args->tops) return tiles ? hui_scaled_tiles_launch(args, stream) : hui_scaled_teams(args, stream);
  status = hui_scaled_clear(args->tops, blocks, args->stats, args->stats ? blocks : 0, stream);
  if (status == HU_OK) status = hui_scaled_launch_look(args, args->tops, stream);
  if (status != HU_OK) return status;
  if (tiles) return hui_scaled_tiles_launch(args, stream);
  hu_pieces pieces = hui_pieces_of(args->side_rows, args->side_cols);
  HU_LAUNCH(hui_scaled_pieces_kernel, hui_grid_size(blocks * pieces.down * pieces.across, 4), 0, stream, *args, pieces);
  return hui_launched();
}

/* ---- arguments ---- */

static int hui_saturates(const hu_spec *spec) {
  return spec->saturate != HU_SAT_NONE || spec->overflow == HU_OVERFLOW_MAX;
}

static int hui_nearest_serves(const hu_spec *spec, uint32_t round) {
  return spec->round == round && spec->m >= 1 && hui_has_subnormals(spec) && hui_saturates(spec);
}

/* Returns 1 if steps in binary32 can make the scales: M and the scales must be binary32 numbers. */
static int hui_ratios_serve(hu_scaled_args *args, const hu_scaling *scaling) {
  args->scale_is_binary32 = (uint8_t)hu_format_equal(scaling->scale, hui_format_binary32());
  if (args->scaler.rule != HU_SCALE_RATIO || args->scaler.steps == HU_STEPS_EXACT || args->four_six.on ||
      args->scaler.by_formulas)
    return 0;
  return args->scale_is_binary32 || hui_lane_constants_of(&args->scale_constants, &args->scaler.scale);
}

/* Returns 1 if hui_nearest can round numbers up to the largest scale. */
static int hui_scale_nearest_serves(const hu_spec *spec) {
  int32_t d0 = 23 - spec->m, most = hui_exponent(hui_unpack(spec, spec->max_code));
  return hui_nearest_serves(spec, HU_RNE) && spec->m <= 22 && spec->emin >= -125 && spec->emin + d0 <= 126 &&
         most + d0 <= 126;
}

/* Sets the exponents e of scales under which every sum of hui_nearest is finite and exact, or that
 * emu/scaled/quantize.c takes. Scales are normal numbers of their format, and 2^e and 2^-e are binary32 numbers. */
static void hui_short_limits(hu_scaled_args *args) {
  const hu_spec *element = &args->scaler.element, *scale = &args->scaler.scale;
  int32_t low = -125 - element->emin, high = 127 - args->scaler.emax;
  if (args->nearest && high > 126 - args->constants.d0 - element->emin) high = 126 - args->constants.d0 - element->emin;
  if (!args->nearest && low < element->m - element->emin - 92) low = element->m - element->emin - 92;
  if (!args->nearest && element->emin - element->m < -92) high = INT32_MIN;
  args->short_low = low > scale->emin ? low : scale->emin;
  if (args->short_low < -126) args->short_low = -126;
  args->short_high = high < 127 ? high : 127;
  args->short_top = args->nearest ? 253 - args->constants.d0 : 254;
}

/* Sets what the kernels need of the element format beside its description. */
static void hui_element_limits(hu_scaled_args *args) {
  const hu_spec *element = &args->scaler.element;
  args->top = hui_pack32(args->scaler.top);
  args->low = (uint32_t)(element->emin + 127) << 23;
  args->lanes = !args->scaler.by_formulas && !args->scaler.minus && /* the core takes these */
                hui_lane_constants_of(&args->constants, element) && element->fits_binary32 &&
                element->emin - element->m >= -126 && element->emin >= -125 &&
                element->emin + args->constants.d0 <= 126 && args->scaler.emax + args->constants.d0 <= 126;
  args->nearest = (uint8_t)hui_nearest_serves(element, HU_RNE);
  args->added = args->lanes && hui_nearest_serves(element, HU_SRA);
  args->not_tiny = args->low - (element->tiny == HU_TINY_AFTER && element->m <= 22 ? 1u << (22 - element->m) : 0);
}

void hui_scaled_args_of(hu_scaled_args *args, size_t rows, size_t cols, const hu_scaling *scaling, hu_mode mode) {
  memset(args, 0, sizeof *args);
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, scaling);
  args->rows = rows;
  args->cols = cols;
  args->side_rows = scaling->rows && scaling->rows < rows ? scaling->rows : rows;
  args->side_cols = scaling->cols && scaling->cols < cols ? scaling->cols : cols;
  args->block_rows = sizes.block_rows;
  args->block_cols = sizes.block_cols;
  args->code_size = (uint32_t)sizes.code_bytes;
  args->scale_size = (uint32_t)sizes.scale_bytes;
  args->scaler = hui_scaler_of(*scaling, mode);
  args->four_six = hui_four_six_of(scaling, &args->scaler);
  hui_element_limits(args);
  args->carry = args->lanes ? hui_scale_carry(&args->scaler) : 0;
  args->blank =
      scaling->blank == HU_BLANK_ZERO
          ? 0
          : hui_scale_code(&args->scaler, hui_power_of_two(scaling->blank == HU_BLANK_ONE ? 0 : args->scaler.low));
  args->ratios = (uint8_t)hui_ratios_serve(args, scaling);
  args->scale_nearest =
      (uint8_t)(args->ratios && !args->scale_is_binary32 && hui_scale_nearest_serves(&args->scaler.scale));
  args->scale_low = (uint32_t)(args->scaler.scale.emin + 127) << 23;
  args->scale_top = hui_pack32(hui_unpack(&args->scaler.scale, args->scaler.scale.max_code));
  hui_short_limits(args);
  args->stochastic = mode.round >= HU_SRA;
}

static int hui_in_pieces(const hu_scaled_args *args) {
  size_t all;
  return __builtin_mul_overflow(args->side_rows, args->side_cols, &all) || all > HU_TEAM_MOST;
}

size_t hui_cuda_scaled_work(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *) {
  hu_scaled_args args;
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  if (hu_scaling_check(scaling, NULL) != HU_OK || rows == 0 || cols == 0) return 0;
  hui_scaled_args_of(&args, rows, cols, scaling, rne);
  return sizeof(hu_top) * ((args.scaler.two ? 1 : 0) + (hui_in_pieces(&args) ? args.block_rows * args.block_cols : 0));
}

typedef struct hu_scaled_rest {
  const float *amax;
  hu_scaled_stats *stats;
  const hu_exec *exec;
  hu_events *events;
} hu_scaled_rest;

static hu_status hui_scaled_rest_check(size_t rows, size_t cols, const hu_scaling *scaling,
                                       const hu_scaled_rest *rest) {
  hu_status status = hui_check_events(rest->events);
  if (status != HU_OK) return status;
  const void *work = rest->exec->where.work;
  if (!work) return hui_cuda_scaled_work(rows, cols, scaling, rest->exec) ? HU_E_NULL : HU_OK;
  return (uintptr_t)work % sizeof(uint64_t) ? HU_E_ALIGN : HU_OK;
}

/* Sets the pointers of a checked call. */
static void hui_scaled_set(hu_scaled_args *args, const float *x, size_t ldx, const hu_scaled_rest *rest) {
  hu_top *work = (hu_top *)rest->exec->where.work;
  args->x = (const uint32_t *)(const void *)x;
  args->ldx = ldx;
  args->amax = (const uint32_t *)(const void *)rest->amax;
  args->stats = rest->stats;
  args->events = rest->events;
  args->stream = rest->exec->stream;
  if (args->rows == 0 || args->cols == 0) return;
  if (args->scaler.two) {
    args->whole = rest->amax ? NULL : work;
    work++;
  }
  if (hui_in_pieces(args)) args->tops = work;
  hui_scaled_flatten(args);
  while (args->side_cols > (size_t)4 << args->span_log && args->span_log < 5) args->span_log++;
  if (args->events) args->added = 0;
  args->x_vectors = (uint8_t)hui_scaled_vectors(args->x, args->ldx, args->rows, 4);
  args->z_vectors = (uint8_t)(args->z ? hui_scaled_vectors(args->z, args->ldz, args->rows, 4)
                                      : hui_scaled_vectors(args->codes, args->ld, args->rows, 1));
}

hu_status hui_cuda_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                                 const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                 const hu_exec *exec, hu_events *events) {
  hu_scaled_args args;
  hu_scaled_rest rest = {amax, stats, exec, events};
  hu_status status = hui_scaled_made_check(rows, cols, z, NULL, 0, x, ldx, scaling, mode, amax, stats);
  if (status == HU_OK) status = z ? hui_scaled_rest_check(rows, cols, scaling, &rest) : HU_E_NULL;
  if (status != HU_OK) return status;
  hui_scaled_args_of(&args, rows, cols, scaling, mode);
  args.codes = (uint8_t *)z->codes;
  args.ld = z->ld;
  args.scales = (uint8_t *)z->scales;
  args.lds = z->lds;
  args.tensor = args.scaler.two ? (uint32_t *)(void *)z->tensor : NULL;
  hui_scaled_set(&args, x, ldx, &rest);
  return hui_scaled_launch(&args, exec->where.queue);
}

hu_status hui_cuda_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                   const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                   const hu_exec *exec, hu_events *events) {
  hu_scaled_args args;
  hu_scaled_rest rest = {amax, stats, exec, events};
  hu_status status = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, scaling, mode, amax, stats);
  if (status == HU_OK) status = hui_scaled_rest_check(rows, cols, scaling, &rest);
  if (status != HU_OK) return status;
  hui_scaled_args_of(&args, rows, cols, scaling, mode);
  args.z = (uint32_t *)(void *)z;
  args.ldz = ldz;
  hui_scaled_set(&args, x, ldx, &rest);
  return hui_scaled_launch(&args, exec->where.queue);
}
