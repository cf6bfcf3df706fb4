/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_tiles.cu - blocks of 2049 to 16384 elements, made in one read and one write: 128x128 and other
 * blocks whose width is a power of two, long blocks along rows, small tensors; and the second read of larger blocks.
 *
 * A block of 256 threads has one tile, in 16 vectors of four neighbours for each thread, which stay in registers (for
 * compute capability 10.0 and newer half of them wait in shared memory): a thread starts all its loads before it waits
 * for the first. Warps exchange the largest magnitude by shuffles, the block of threads in shared memory; every thread
 * makes the scale again, and rounds its own elements.
 *
 * A block of more than 16384 elements is several tiles, and a thread has one of them. Its amax takes another read
 * (hui_scaled_amax_kernel, hui_scaled_look_kernel): with two blocks of threads on each of 132 multiprocessors this
 * kernel's registers hold 2^22 elements, and a grid in which blocks wait for each other could not be larger on any
 * device. The tiles are then taken from the last to the first, so that the end of a tensor, which the first read has
 * left in the caches, is read before it is replaced there. With an amax from the caller the tensor is read once, unless
 * infinities and NaN decide on its scale, or statistics are counted.
 *
 * Bound, from the machine code for compute capability 9.0: of the 64 elements of a thread, loading and the largest
 * magnitude take some 500 instructions with the scale, rounding 1100 (17 for an element), a division 960 (15) where the
 * steps divide; events 700 (11). An element takes 25, with division 40, of 128 issue slots in a clock: 5.1 or 3.2
 * elements per clock of a multiprocessor of an H200. Memory moves 16 bytes per clock, 3.2 elements of 5 bytes: it is
 * the bound. Two blocks of threads have loads of 128 KiB, while 20 KiB keep the memory busy; one loads while the other
 * computes. */
#include "gpu/scaled/rect.cuh"
#include "gpu/scaled/rows.cuh"

#define HU_TILE_VECTORS 16
#define HU_TILE ((size_t)4 * HU_THREADS * HU_TILE_VECTORS)
#define HU_TILE_STEP (4 * HU_THREADS) /* elements from one vector of a thread to its next one */

/* Rounds to nearest; does so and counts events or statistics; adds R, and counts nothing. */
enum { HU_TILE_NEAREST = 0, HU_TILE_COUNTED = 1, HU_TILE_ADDED = 2 };

/* Vectors of a thread that stay in registers. The others wait in shared memory until these are done: with all in
 * registers ptxas would spill for compute capability 10.0 and newer. The CPU does the same, for its tests. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
#define HU_TILE_KEPT (How == HU_TILE_ADDED ? HU_TILE_VECTORS : HU_TILE_VECTORS / 2)
#else
#define HU_TILE_KEPT HU_TILE_VECTORS
#endif

/* Tiles of a call; per: tiles of a block. wide: log2 of a tile's width, where it has several rows. */
typedef struct hu_tiling {
  uint32_t all, per, wide;
} hu_tiling;

typedef struct hu_tile_memory {
  hu_scaled_tensor tensor;
  hu_row_sums sums;
  uint32_t parts[HU_THREADS / 32];
  hu_shared shared;
} hu_tile_memory;

/* The vectors that wait, a column for each thread, which no other reads. Where none wait, there is an unused row. */
template <int How>
struct hu_tile_waiting {
  hu_four<uint32_t> vectors[HU_TILE_KEPT == HU_TILE_VECTORS ? 1 : HU_TILE_VECTORS - HU_TILE_KEPT][HU_THREADS];
};

/* ---- where a tile lies ---- */

typedef struct hu_tile {
  hu_rect rect;
  size_t block_row, block_col; /* its block */
  uint32_t block, in;          /* the block's number; which of its tiles this is */
} hu_tile;

HU_DEVICE hu_tile hui_tile_of(const hu_scaled_args &args, const hu_tiling &tiling, uint32_t number) {
  hu_tile tile;
  tile.block = tiling.per > 1 ? number / tiling.per : number;
  tile.in = number - tile.block * tiling.per;
  tile.block_row = args.block_rows > 1 ? tile.block / (uint32_t)args.block_cols : 0;
  tile.block_col = tile.block - tile.block_row * args.block_cols;
  if (args.side_rows > 1) {
    tile.rect = hui_block_rect(args, tile.block_row, tile.block_col);
    return tile;
  }
  size_t first = tile.block_col * args.side_cols,
         end = args.cols - first < args.side_cols ? args.cols : first + args.side_cols;
  tile.rect.row = tile.block_row;
  tile.rect.col = first + (size_t)tile.in * HU_TILE;
  tile.rect.rows = 1;
  tile.rect.cols = tile.rect.col >= end            ? 0
                   : end - tile.rect.col < HU_TILE ? (uint32_t)(end - tile.rect.col)
                                                   : (uint32_t)HU_TILE;
  return tile;
}

/* A thread's part of a tile: `mine` vectors, each a step from the one before. */
typedef struct hu_tile_place {
  size_t row, col, x_step, z_step;
  uint64_t number, number_step;
  uint32_t mine;
} hu_tile_place;

HU_DEVICE hu_tile_place hui_tile_place_of(const hu_scaled_args &args, const hu_tiling &tiling, const hu_rect &rect) {
  hu_tile_place place;
  uint32_t at = 4 * threadIdx.x;
  if (args.side_rows > 1) {
    uint32_t down = HU_TILE_STEP >> tiling.wide, row = at >> tiling.wide, col = at & ((1u << tiling.wide) - 1);
    place.row = rect.row + row;
    place.col = rect.col + col;
    place.x_step = down * args.ldx;
    place.z_step = down * (args.z ? args.ldz : args.ld);
    place.number_step = down * (uint64_t)args.cols;
    place.mine =
        col >= rect.cols || row >= rect.rows ? 0 : ((rect.rows - 1 - row) * (1u << tiling.wide)) / HU_TILE_STEP + 1;
  } else {
    place.row = rect.row;
    place.col = rect.col + at;
    place.x_step = place.z_step = place.number_step = HU_TILE_STEP;
    place.mine = at >= rect.cols ? 0 : (rect.cols - 1 - at) / HU_TILE_STEP + 1;
  }
  place.number = (uint64_t)place.row * args.cols + place.col;
  return place;
}

HU_DEVICE void hui_tile_load(const hu_scaled_args &args, const hu_tile_place &place,
                             hu_four<uint32_t> x[HU_TILE_VECTORS]) {
  const uint32_t *from = args.x + place.row * args.ldx + place.col;
#pragma unroll
  for (uint32_t j = 0; j < HU_TILE_VECTORS; j++) {
    x[j].value[0] = x[j].value[1] = x[j].value[2] = x[j].value[3] = 0;
    if (j < place.mine) x[j] = *(const hu_four<uint32_t> *)(const void *)(from + j * place.x_step);
  }
}

HU_DEVICE uint32_t hui_tile_top(const hu_four<uint32_t> x[HU_TILE_VECTORS]) {
  uint32_t top = 0;
#pragma unroll
  for (int i = 0; i < 4 * HU_TILE_VECTORS; i++) top = hui_larger_magnitude(top, x[i / 4].value[i % 4]);
  return top;
}

/* ---- its elements ---- */

/* Makes |x| / by with the sign of x, of N vectors. A product by 1 follows: the division is there once. */
template <int N>
HU_DEVICE void hui_tile_divide(float by, hu_four<uint32_t> x[N]) {
#pragma unroll
  for (int i = 0; i < 4 * N; i++) {
    uint32_t bits = x[i / 4].value[i % 4];
    float y = hui_bounded(__fdiv_rn(fabsf(__uint_as_float(bits)), by));
    x[i / 4].value[i % 4] = __float_as_uint(y) | (bits & 0x80000000);
  }
}

template <bool Value, bool Powers, int How>
HU_DEVICE void hui_tile_elements(const hu_scaled_args &args, const hu_word_keys &keys, const hu_tile_place &place,
                                 hu_element_way way, uint32_t top, hu_four<uint32_t> x[HU_TILE_VECTORS],
                                 const hu_tile_waiting<How> *waiting, hu_row_counts *row_counts) {
  const bool added = How == HU_TILE_ADDED;
  hu_row_constants constants = hui_row_constants_of(args);
  const bool divides = !Powers && constants.divides;
  const float by = way.by;
  if (divides) {
    way.by = 1;
    top = HU_LARGEST32;
  }
  constants.divides = 0;
  const uint32_t shift = Powers ? way.low - constants.low : 0;
  uint32_t *z = Value ? args.z + place.row * args.ldz + place.col : NULL;
  uint8_t *codes = Value ? NULL : args.codes + place.row * args.ld + place.col;
#pragma unroll 1
  for (uint32_t part = 0; part < HU_TILE_VECTORS / HU_TILE_KEPT; part++) {
    if (part) {
#pragma unroll
      for (uint32_t i = 0; i < HU_TILE_KEPT; i++) x[i] = waiting->vectors[i][threadIdx.x];
    }
    if (divides) hui_tile_divide<HU_TILE_KEPT>(by, x);
#pragma unroll
    for (uint32_t i = 0; i < HU_TILE_KEPT; i++) {
      uint32_t words[4] = {0, 0, 0, 0}, j = part * HU_TILE_KEPT + i;
      if (j >= place.mine) break;
      if (added) hui_words_run<1>(keys, args.stream.counter + place.number + j * place.number_step, words);
      uint32_t joined = hui_row_nearest<Value, Powers, added>(constants, How == HU_TILE_COUNTED, shift, way.by,
                                                              way.back, top, &x[i], words, row_counts);
      if (Value)
        hui_store_vector(z + j * place.z_step, x[i]);
      else
        *(uint32_t *)(void *)(codes + j * place.z_step) = joined;
    }
  }
}

/* ---- tiles with infinities or NaN, or under a rare scale ---- */

/* The code of a tile's scale, what this thread counted, and the block's amax, infinities and NaN. */
typedef struct hu_tile_done {
  uint32_t code, saturated, to_zero, amax;
  uint64_t special;
} hu_tile_done;

/* Begins a tile whose largest magnitude is top, with what its block's record, or this tile, shows of the block. */
HU_DEVICE hu_tile_done hui_tile_begun(const hu_scaled_args &args, uint32_t block, uint32_t top) {
  hu_tile_done done = {0, 0, 0, top, 0};
  if (!args.tops) return done;
  done.amax = args.tops[block].amax;
  done.special = args.tops[block].special;
  return done;
}

/* Returns the largest magnitude: other tiles count only where infinities and NaN decide on the scale. */
HU_DEVICE uint32_t hui_tile_seen(const hu_scaled_args &args, uint64_t special, uint32_t top) {
  return special && args.scaler.special == HU_SPECIAL_NAN ? 0x7F800000 : top;
}

HU_DEVICE void hui_tile_store_scale(const hu_scaled_args &args, const hu_tile &tile, uint32_t code) {
  if (tile.in == 0 && threadIdx.x == 0) hui_block_store(args, tile.block_row, tile.block_col, code);
}

/* Treats such a tile, element by element. They are read again, so that the common path need not keep anything. Every
 * thread of the block must call it. */
static __device__ __noinline__ hu_tile_done hui_tile_left(const hu_scaled_args &args, const hu_tiling &tiling,
                                                          hu_tile_memory *memory, uint32_t number, uint32_t top) {
  const hu_tile tile = hui_tile_of(args, tiling, number);
  hu_tile_done done = hui_tile_begun(args, tile.block, top);
  if (!args.tops && top >= 0x7F800000) {
    uint32_t special;
    done.amax = hui_rect_amax<HU_THREADS>(args, tile.rect, &special, memory->parts);
    done.special = special;
  }
  hu_counts counts;
  hui_counts_clear(&counts);
  hu_element_way way = hui_element_way_of<true>(args, memory->tensor, hui_tile_seen(args, done.special, top),
                                                hui_block_amax(args, done.amax));
  if (way.kind == HU_ELEMENT_WAY_CORE) {
    __syncthreads();
    if (threadIdx.x == 0)
      hui_core_shared(&memory->tensor.scaler, hui_block_amax(args, done.amax), done.special != 0, &memory->shared);
    __syncthreads();
    way.code = memory->shared.code;
  }
  hui_tile_store_scale(args, tile, way.code);
  hu_rect_counts own = hui_rect_elements<HU_THREADS>(args, memory->tensor, tile.rect, way, &memory->shared, &counts);
  done.code = way.code;
  done.saturated = own.saturated;
  done.to_zero = own.to_zero;
  if (!args.events) return done;
  hui_counts_add_up(&counts);
  for (int i = 0; i < HU_EVENT_KINDS; i++)
    if (counts.total[i]) atomicAdd(&memory->sums.of[i], counts.total[i]);
  return done;
}

/* ---- the kernel ---- */

/* Adds a tile to the statistics of its block. Each thread adds its own counts, since after calls the lanes of a warp
 * need not be together (gpu/base/events.cuh). Every thread of the block of threads must call it. */
HU_DEVICE void hui_tile_stats(const hu_scaled_args &args, const hu_tiling &tiling, uint32_t number,
                              const hu_tile_done &done, uint32_t *parts) {
  __syncthreads();
  if (threadIdx.x < 2) parts[threadIdx.x] = 0;
  __syncthreads();
  if (done.saturated) atomicAdd(&parts[0], done.saturated);
  if (done.to_zero) atomicAdd(&parts[1], done.to_zero);
  __syncthreads();
  if (threadIdx.x) return;
  uint32_t saturated = parts[0], to_zero = parts[1];
  const hu_tile tile = hui_tile_of(args, tiling, number);
  hu_scaled_stats *stats = &args.stats[tile.block];
  if (tile.in == 0) hui_stats_begin(stats, done.amax, done.code, done.special);
  if (tiling.per == 1) {
    stats->saturated = saturated;
    stats->to_zero = to_zero;
  } else {
    atomicAdd((unsigned long long *)&stats->saturated, (unsigned long long)saturated);
    atomicAdd((unsigned long long *)&stats->to_zero, (unsigned long long)to_zero);
  }
}

template <bool Value, bool Powers, int How>
HU_DEVICE void hui_tile_treat(const hu_scaled_args &args, const hu_tiling &tiling, const hu_word_keys &keys,
                              hu_tile_memory *memory, hu_tile_waiting<How> *waiting, uint32_t number,
                              hu_row_counts *row_counts) {
  const hu_tile tile = hui_tile_of(args, tiling, number);
  const hu_tile_place place = hui_tile_place_of(args, tiling, tile.rect);
  hu_four<uint32_t> x[HU_TILE_VECTORS];
  hui_tile_load(args, place, x);
  uint32_t own = hui_tile_top(x);
#pragma unroll
  for (uint32_t i = HU_TILE_KEPT; i < HU_TILE_VECTORS; i++) waiting->vectors[i - HU_TILE_KEPT][threadIdx.x] = x[i];
  const uint32_t top = hui_team_largest<HU_THREADS>(own, memory->parts);
  hu_tile_done done = hui_tile_begun(args, tile.block, top);
  hu_element_way way = hui_element_way_of<false>(args, memory->tensor, hui_tile_seen(args, done.special, top),
                                                 hui_block_amax(args, done.amax));
  if (way.kind == HU_ELEMENT_WAY_SHORT && (How != HU_TILE_ADDED || hui_row_may_add(args, way))) {
    hui_tile_store_scale(args, tile, way.code);
    done.code = way.code;
    done.saturated = 0u - hui_bytes_sum(row_counts->overflow); /* less what earlier tiles counted */
    done.to_zero = 0u - hui_bytes_sum(row_counts->to_zero);
    hui_tile_elements<Value, Powers, How>(args, keys, place, way, top, x, waiting, row_counts);
    done.saturated += hui_bytes_sum(row_counts->overflow);
    done.to_zero += hui_bytes_sum(row_counts->to_zero);
  } else {
    done = hui_tile_left(args, tiling, memory, number, top);
  }
  if (args.stats) hui_tile_stats(args, tiling, number, done, memory->parts);
}

/* Gives the blocks of threads that a multiprocessor holds at once: with two, ptxas spills where R is added. */
#define HU_TILE_BLOCKS (How == HU_TILE_ADDED ? 1 : 2)

template <bool Value, bool Powers, int How>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_TILE_BLOCKS)
    hui_scaled_tiles_kernel(const __grid_constant__ hu_scaled_args args, const __grid_constant__ hu_tiling tiling,
                            const __grid_constant__ hu_word_keys keys) {
  __shared__ hu_tile_memory memory;
  __shared__ hu_tile_waiting<How> waiting;
  hu_row_counts row_counts;
  hui_row_counts_clear(&row_counts);
  if (threadIdx.x < HU_EVENT_KINDS) memory.sums.of[threadIdx.x] = 0;
  hui_scaled_begin(args, &memory.tensor);
  for (uint32_t i = blockIdx.x; i < tiling.all; i += gridDim.x) {
    hui_tile_treat<Value, Powers, How>(args, tiling, keys, &memory, &waiting, args.tops ? tiling.all - 1 - i : i,
                                       &row_counts);
    if (How == HU_TILE_COUNTED && ++row_counts.strips == 240 / HU_TILE_VECTORS)
      hui_row_counts_add_up(&row_counts, &memory.sums);
  }
  if (args.events) hui_row_counts_flush(&row_counts, args.events, &memory.sums);
}

/* ---- a call ---- */

/* Returns the tiles of a call, or none where the blocks have another shape, or there are too many. */
static hu_tiling hui_tiling_of(const hu_scaled_args *args) {
  hu_tiling tiling = {0, 1, 0};
  size_t blocks = args->block_rows * args->block_cols, most = (size_t)1 << 30;
  if (args->cols % 4 || args->side_cols % 4 || blocks > most) return tiling;
  if (args->side_rows == 1) {
    size_t per = (args->side_cols - 1) / HU_TILE + 1;
    if (args->side_cols <= HU_TEAM_WARP || per > most / blocks) return tiling;
    tiling.per = (uint32_t)per;
  } else {
    while (tiling.wide < 10 && (size_t)1 << tiling.wide < args->side_cols) tiling.wide++;
    if ((size_t)1 << tiling.wide != args->side_cols || args->side_rows > HU_TILE >> tiling.wide) return tiling;
    if (args->side_rows * args->side_cols <= HU_TEAM_WARP) return tiling;
  }
  tiling.all = (uint32_t)blocks * tiling.per;
  return tiling;
}

int hui_scaled_tiles_serves(const hu_scaled_args *args) {
  int short_ratio = args->ratios && (args->scale_is_binary32 || args->scale_nearest);
  return args->lanes && (args->nearest || (args->added && !args->stats)) && args->code_size == 1 &&
         args->top >= args->low && (args->scaler.rule != HU_SCALE_RATIO || short_ratio) && args->x_vectors &&
         args->z_vectors && hui_tiling_of(args).all;
}

int hui_scaled_tiles_look(const hu_scaled_args *args) {
  return hui_tiling_of(args).per > 1 &&
         (!args->amax || args->scaler.two || args->stats || args->scaler.special == HU_SPECIAL_NAN);
}

template <bool Value, bool Powers>
static void hui_tiles_start(const hu_scaled_args *args, void *stream) {
  hu_tiling tiling = hui_tiling_of(args);
  auto kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_COUNTED>; /* values leave time to count */
  if (args->added) kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_ADDED>;
  if constexpr (!Value)
    if (!args->added && !args->events && !args->stats) kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_NEAREST>;
  /* As many blocks as run at once, since each prepares something before its first tile. */
  HU_LAUNCH(kernel, hui_grid_size(tiling.all, 2), 0, stream, *args, tiling, hui_word_keys_of(args->stream.key));
}

hu_status hui_scaled_tiles_launch(const hu_scaled_args *args, void *stream) {
  if (args->scaler.steps == HU_STEPS_EXACT)
    args->z ? hui_tiles_start<true, true>(args, stream) : hui_tiles_start<false, true>(args, stream);
  else
    args->z ? hui_tiles_start<true, false>(args, stream) : hui_tiles_start<false, false>(args, stream);
  return hui_launched();
}
