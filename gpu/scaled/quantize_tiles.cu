/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_tiles.cu - blocks of 2049 to 16384 elements, made in one read and one write: 128x128 and other
 * blocks whose width is a power of two, long blocks along rows, small tensors. And the second read of larger ones.
 *
 * A block of 256 threads has one tile, in 16 vectors of four neighbours for each thread, which stay in registers (for
 * compute capability 10.0 and newer half of them wait in shared memory): all of a thread's loads are on their way
 * before it looks at the first. Warps exchange the largest magnitude by shuffles, the block of threads in shared
 * memory; every thread makes the scale again, and rounds its own elements.
 *
 * A block of more than 16384 elements is several tiles, of which no thread sees more than its own. Its amax takes a
 * read of its own (hui_scaled_amax_kernel, hui_scaled_look_kernel): at two blocks of threads for each of 132
 * multiprocessors this kernel's registers hold 2^22 elements, and a grid that waits for its last block would
 * have to be as small as that on every device. The tiles are then taken from the last to the first, so that the end of
 * a tensor, which the first read has just left in the caches, is read before it is replaced there. Where the caller
 * gives the amax of a tensor, nothing else is asked of the whole of it, unless infinities and NaN decide on its scale,
 * or there are statistics: then it is read once.
 *
 * Bound, from the machine code for compute capability 9.0: of the 64 elements of a thread, loading and the largest
 * magnitude take some 500 instructions with the scale, rounding 1100 (17 an element), a division 960 (15) where the
 * steps divide; events 700 (11). So an element takes 25, with division 40, of 128 issue slots in a clock: 5.1 or 3.2
 * elements per clock of a multiprocessor of an H200. Memory moves 16 bytes per clock, 3.2 elements of 5 bytes: it is
 * the bound. Two blocks of threads have 128 KiB on their way, while 20 KiB keep the memory busy; one loads while the
 * other computes. */
#include "gpu/scaled/rect.cuh"
#include "gpu/scaled/rows.cuh"

#define HU_TILE_VECTORS 16
#define HU_TILE ((size_t)4 * HU_THREADS * HU_TILE_VECTORS)
#define HU_TILE_STEP (4 * HU_THREADS) /* elements from one vector of a thread to its next one */

/* To nearest; the same with events or statistics counted; R added, which counts nothing. */
enum { HU_TILE_NEAREST = 0, HU_TILE_COUNTED = 1, HU_TILE_ADDED = 2 };

/* Vectors of a thread that stay in registers. The others wait in shared memory until these are done: with all of them
 * in registers ptxas would spill for compute capability 10.0 and newer. The same on the CPU, so that its tests see both
 * parts. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
#define HU_TILE_KEPT (How == HU_TILE_ADDED ? HU_TILE_VECTORS : HU_TILE_VECTORS / 2)
#else
#define HU_TILE_KEPT HU_TILE_VECTORS
#endif

/* Tiles of a call; per: of a block. wide: log2 of a tile's width, where it has several rows. */
typedef struct hu_tiling {
  uint32_t all, per, wide;
} hu_tiling;

typedef struct hu_tile_memory {
  hu_scaled_tensor t;
  hu_row_sums sums;
  uint32_t parts[HU_THREADS / 32];
  hu_shared shared;
} hu_tile_memory;

/* The vectors that wait, a column for each thread, which no other reads; one row, never used, where none wait. */
template <int How>
struct hu_tile_waiting {
  hu_four<uint32_t> v[HU_TILE_KEPT == HU_TILE_VECTORS ? 1 : HU_TILE_VECTORS - HU_TILE_KEPT][HU_THREADS];
};

/* ---- where a tile lies ---- */

typedef struct hu_tile {
  hu_rect rect;
  size_t p, q;        /* its block */
  uint32_t block, in; /* the block's number; which of its tiles this is */
} hu_tile;

HU_DEVICE hu_tile hui_tile_of(const hu_scaled_args &a, const hu_tiling &s, uint32_t number) {
  hu_tile z;
  z.block = s.per > 1 ? number / s.per : number;
  z.in = number - z.block * s.per;
  z.p = a.block_rows > 1 ? z.block / (uint32_t)a.block_cols : 0;
  z.q = z.block - z.p * a.block_cols;
  if (a.side_rows > 1) {
    z.rect = hui_block_rect(a, z.p, z.q);
    return z;
  }
  size_t first = z.q * a.side_cols, end = a.cols - first < a.side_cols ? a.cols : first + a.side_cols;
  z.rect.row = z.p;
  z.rect.col = first + (size_t)z.in * HU_TILE;
  z.rect.rows = 1;
  z.rect.cols = z.rect.col >= end ? 0 : end - z.rect.col < HU_TILE ? (uint32_t)(end - z.rect.col) : (uint32_t)HU_TILE;
  return z;
}

/* A thread's part of a tile: `mine` vectors, each a step from the one before. */
typedef struct hui_tile_place {
  size_t row, col, x_step, z_step;
  uint64_t number, number_step;
  uint32_t mine;
} hui_tile_place;

HU_DEVICE hui_tile_place hui_tile_place_of(const hu_scaled_args &a, const hu_tiling &s, const hu_rect &r) {
  hui_tile_place p;
  uint32_t at = 4 * threadIdx.x;
  if (a.side_rows > 1) {
    uint32_t down = HU_TILE_STEP >> s.wide, row = at >> s.wide, col = at & ((1u << s.wide) - 1);
    p.row = r.row + row;
    p.col = r.col + col;
    p.x_step = down * a.ldx;
    p.z_step = down * (a.z ? a.ldz : a.ld);
    p.number_step = down * (uint64_t)a.cols;
    p.mine = col >= r.cols || row >= r.rows ? 0 : ((r.rows - 1 - row) * (1u << s.wide)) / HU_TILE_STEP + 1;
  } else {
    p.row = r.row;
    p.col = r.col + at;
    p.x_step = p.z_step = p.number_step = HU_TILE_STEP;
    p.mine = at >= r.cols ? 0 : (r.cols - 1 - at) / HU_TILE_STEP + 1;
  }
  p.number = (uint64_t)p.row * a.cols + p.col;
  return p;
}

HU_DEVICE void hui_tile_load(const hu_scaled_args &a, const hui_tile_place &p, hu_four<uint32_t> x[HU_TILE_VECTORS]) {
  const uint32_t *from = a.x + p.row * a.ldx + p.col;
#pragma unroll
  for (uint32_t j = 0; j < HU_TILE_VECTORS; j++) {
    x[j].v[0] = x[j].v[1] = x[j].v[2] = x[j].v[3] = 0;
    if (j < p.mine) x[j] = *(const hu_four<uint32_t> *)(const void *)(from + j * p.x_step);
  }
}

HU_DEVICE uint32_t hui_tile_top(const hu_four<uint32_t> x[HU_TILE_VECTORS]) {
  uint32_t top = 0;
#pragma unroll
  for (int i = 0; i < 4 * HU_TILE_VECTORS; i++) top = hui_larger_magnitude(top, x[i / 4].v[i % 4]);
  return top;
}

/* ---- its elements ---- */

/* |x| / by with the sign of x, for a product by 1 afterwards, so that the division is there once. Of N vectors. */
template <int N>
HU_DEVICE void hui_tile_divide(float by, hu_four<uint32_t> x[N]) {
#pragma unroll
  for (int i = 0; i < 4 * N; i++) {
    uint32_t u = x[i / 4].v[i % 4];
    float y = hui_bounded(__fdiv_rn(fabsf(__uint_as_float(u)), by));
    x[i / 4].v[i % 4] = __float_as_uint(y) | (u & 0x80000000);
  }
}

template <bool Value, bool Powers, int How>
HU_DEVICE void hui_tile_elements(const hu_scaled_args &a, const hu_word_keys &keys, const hui_tile_place &p,
                                 hu_element_way w, uint32_t top, hu_four<uint32_t> x[HU_TILE_VECTORS],
                                 const hu_tile_waiting<How> *waiting, hu_row_counts *r) {
  const bool added = How == HU_TILE_ADDED;
  hu_row_constants q = hui_row_constants_of(a);
  const bool divides = !Powers && q.divides;
  const float by = w.by;
  if (divides) {
    w.by = 1;
    top = HU_LARGEST32;
  }
  q.divides = 0;
  const uint32_t shift = Powers ? w.low - q.low : 0;
  uint32_t *z = Value ? a.z + p.row * a.ldz + p.col : NULL;
  uint8_t *codes = Value ? NULL : a.codes + p.row * a.ld + p.col;
#pragma unroll 1
  for (uint32_t part = 0; part < HU_TILE_VECTORS / HU_TILE_KEPT; part++) {
    if (part) {
#pragma unroll
      for (uint32_t i = 0; i < HU_TILE_KEPT; i++) x[i] = waiting->v[i][threadIdx.x];
    }
    if (divides) hui_tile_divide<HU_TILE_KEPT>(by, x);
#pragma unroll
    for (uint32_t i = 0; i < HU_TILE_KEPT; i++) {
      uint32_t words[4] = {0, 0, 0, 0}, j = part * HU_TILE_KEPT + i;
      if (j >= p.mine) break;
      if (added) hui_words_run<1>(keys, a.stream.counter + p.number + j * p.number_step, words);
      uint32_t joined =
          hui_row_nearest<Value, Powers, added>(q, How == HU_TILE_COUNTED, shift, w.by, w.back, top, &x[i], words, r);
      if (Value)
        hui_store_vector(z + j * p.z_step, x[i]);
      else
        *(uint32_t *)(void *)(codes + j * p.z_step) = joined;
    }
  }
}

/* ---- tiles with infinities or NaN, or under an unusual scale ---- */

/* What became of a tile: its scale's code, what this thread counted, and of its block the amax and the specials. */
typedef struct hu_tile_done {
  uint32_t code, saturated, to_zero, amax;
  uint64_t special;
} hu_tile_done;

/* Of a tile whose largest magnitude is top. What others found of its block, or what this tile shows of it. */
HU_DEVICE hu_tile_done hui_tile_begun(const hu_scaled_args &a, uint32_t block, uint32_t top) {
  hu_tile_done d = {0, 0, 0, top, 0};
  if (!a.tops) return d;
  d.amax = a.tops[block].amax;
  d.special = a.tops[block].special;
  return d;
}

/* Only where infinities and NaN decide on the scale do those of other tiles matter to this one. */
HU_DEVICE uint32_t hui_tile_seen(const hu_scaled_args &a, uint64_t special, uint32_t top) {
  return special && a.scaler.special == HU_SPECIAL_NAN ? 0x7F800000 : top;
}

HU_DEVICE void hui_tile_store_scale(const hu_scaled_args &a, const hu_tile &tile, uint32_t code) {
  if (tile.in == 0 && threadIdx.x == 0) hui_block_store(a, tile.p, tile.q, code);
}

/* The whole of such a tile, element by element. They are read again, so that the usual way need not keep them, nor
 * anything else. Every thread of the block must come here. */
static __device__ __noinline__ hu_tile_done hui_tile_left(const hu_scaled_args &a, const hu_tiling &s,
                                                          hu_tile_memory *k, uint32_t number, uint32_t top) {
  const hu_tile tile = hui_tile_of(a, s, number);
  hu_tile_done d = hui_tile_begun(a, tile.block, top);
  if (!a.tops && top >= 0x7F800000) {
    uint32_t special;
    d.amax = hui_rect_amax<HU_THREADS>(a, tile.rect, &special, k->parts);
    d.special = special;
  }
  hu_counts c;
  hui_counts_clear(&c);
  hu_element_way w = hui_element_way_of<true>(a, k->t, hui_tile_seen(a, d.special, top), hui_block_amax(a, d.amax));
  if (w.kind == HU_ELEMENT_WAY_CORE) {
    __syncthreads();
    if (threadIdx.x == 0) hui_core_shared(&k->t.scaler, hui_block_amax(a, d.amax), d.special != 0, &k->shared);
    __syncthreads();
    w.code = k->shared.code;
  }
  hui_tile_store_scale(a, tile, w.code);
  hu_rect_counts n = hui_rect_elements<HU_THREADS>(a, k->t, tile.rect, w, &k->shared, &c);
  d.code = w.code;
  d.saturated = n.saturated;
  d.to_zero = n.to_zero;
  if (!a.events) return d;
  hui_counts_add_up(&c);
  for (int i = 0; i < HU_EVENT_KINDS; i++)
    if (c.total[i]) atomicAdd(&k->sums.of[i], c.total[i]);
  return d;
}

/* ---- the kernel ---- */

/* The block's statistics, from those of its tiles. Each thread adds its own: after calls the lanes of a warp need not
 * be together (gpu/base/events.cuh). Every thread of the block of threads must come here. */
HU_DEVICE void hui_tile_stats(const hu_scaled_args &a, const hu_tiling &s, uint32_t number, const hu_tile_done &d,
                              uint32_t *parts) {
  __syncthreads();
  if (threadIdx.x < 2) parts[threadIdx.x] = 0;
  __syncthreads();
  if (d.saturated) atomicAdd(&parts[0], d.saturated);
  if (d.to_zero) atomicAdd(&parts[1], d.to_zero);
  __syncthreads();
  if (threadIdx.x) return;
  uint32_t saturated = parts[0], to_zero = parts[1];
  const hu_tile tile = hui_tile_of(a, s, number);
  hu_scaled_stats *z = &a.stats[tile.block];
  if (tile.in == 0) hui_stats_begin(z, d.amax, d.code, d.special);
  if (s.per == 1) {
    z->saturated = saturated;
    z->to_zero = to_zero;
  } else {
    atomicAdd((unsigned long long *)&z->saturated, (unsigned long long)saturated);
    atomicAdd((unsigned long long *)&z->to_zero, (unsigned long long)to_zero);
  }
}

template <bool Value, bool Powers, int How>
HU_DEVICE void hui_tile_treat(const hu_scaled_args &a, const hu_tiling &s, const hu_word_keys &keys, hu_tile_memory *k,
                              hu_tile_waiting<How> *waiting, uint32_t number, hu_row_counts *r) {
  const hu_tile tile = hui_tile_of(a, s, number);
  const hui_tile_place p = hui_tile_place_of(a, s, tile.rect);
  hu_four<uint32_t> x[HU_TILE_VECTORS];
  hui_tile_load(a, p, x);
  uint32_t own = hui_tile_top(x);
#pragma unroll
  for (uint32_t i = HU_TILE_KEPT; i < HU_TILE_VECTORS; i++) waiting->v[i - HU_TILE_KEPT][threadIdx.x] = x[i];
  const uint32_t top = hui_team_largest<HU_THREADS>(own, k->parts);
  hu_tile_done d = hui_tile_begun(a, tile.block, top);
  hu_element_way w = hui_element_way_of<false>(a, k->t, hui_tile_seen(a, d.special, top), hui_block_amax(a, d.amax));
  if (w.kind == HU_ELEMENT_WAY_SHORT && (How != HU_TILE_ADDED || hui_row_may_add(a, w))) {
    hui_tile_store_scale(a, tile, w.code);
    d.code = w.code;
    d.saturated = 0u - hui_bytes_sum(r->overflow); /* of this tile alone */
    d.to_zero = 0u - hui_bytes_sum(r->to_zero);
    hui_tile_elements<Value, Powers, How>(a, keys, p, w, top, x, waiting, r);
    d.saturated += hui_bytes_sum(r->overflow);
    d.to_zero += hui_bytes_sum(r->to_zero);
  } else {
    d = hui_tile_left(a, s, k, number, top);
  }
  if (a.stats) hui_tile_stats(a, s, number, d, k->parts);
}

/* Blocks of threads that a multiprocessor holds at once: with two of them ptxas spills where R is added. */
#define HU_TILE_BLOCKS (How == HU_TILE_ADDED ? 1 : 2)

template <bool Value, bool Powers, int How>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_TILE_BLOCKS)
    hui_scaled_tiles_kernel(const __grid_constant__ hu_scaled_args a, const __grid_constant__ hu_tiling s,
                            const __grid_constant__ hu_word_keys keys) {
  __shared__ hu_tile_memory k;
  __shared__ hu_tile_waiting<How> waiting;
  hu_row_counts r;
  hui_row_counts_clear(&r);
  if (threadIdx.x < HU_EVENT_KINDS) k.sums.of[threadIdx.x] = 0;
  hui_scaled_begin(a, &k.t);
  for (uint32_t i = blockIdx.x; i < s.all; i += gridDim.x) {
    hui_tile_treat<Value, Powers, How>(a, s, keys, &k, &waiting, a.tops ? s.all - 1 - i : i, &r);
    if (How == HU_TILE_COUNTED && ++r.strips == 240 / HU_TILE_VECTORS) hui_row_counts_add_up(&r, &k.sums);
  }
  if (a.events) hui_row_counts_flush(&r, a.events, &k.sums);
}

/* ---- a call ---- */

/* Its tiles, or none: the blocks have another shape, or there are too many of them. */
static hu_tiling hui_tiling_of(const hu_scaled_args *a) {
  hu_tiling s = {0, 1, 0};
  size_t blocks = a->block_rows * a->block_cols, most = (size_t)1 << 30;
  if (a->cols % 4 || a->side_cols % 4 || blocks > most) return s;
  if (a->side_rows == 1) {
    size_t per = (a->side_cols - 1) / HU_TILE + 1;
    if (a->side_cols <= HU_TEAM_WARP || per > most / blocks) return s;
    s.per = (uint32_t)per;
  } else {
    while (s.wide < 10 && (size_t)1 << s.wide < a->side_cols) s.wide++;
    if ((size_t)1 << s.wide != a->side_cols || a->side_rows > HU_TILE >> s.wide) return s;
    if (a->side_rows * a->side_cols <= HU_TEAM_WARP) return s;
  }
  s.all = (uint32_t)blocks * s.per;
  return s;
}

int hui_scaled_tiles_serves(const hu_scaled_args *a) {
  int short_ratio = a->ratios && (a->scale_is_binary32 || a->scale_nearest);
  return a->lanes && (a->nearest || (a->added && !a->stats)) && a->code_size == 1 && a->top >= a->low &&
         (a->scaler.rule != HU_SCALE_RATIO || short_ratio) && a->x_vectors && a->z_vectors && hui_tiling_of(a).all;
}

int hui_scaled_tiles_look(const hu_scaled_args *a) {
  return hui_tiling_of(a).per > 1 && (!a->amax || a->scaler.two || a->stats || a->scaler.special == HU_SPECIAL_NAN);
}

template <bool Value, bool Powers>
static void hui_tiles_start(const hu_scaled_args *a, void *stream) {
  hu_tiling s = hui_tiling_of(a);
  auto kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_COUNTED>; /* values leave time for it in any case */
  if (a->added) kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_ADDED>;
  if constexpr (!Value)
    if (!a->added && !a->events && !a->stats) kernel = hui_scaled_tiles_kernel<Value, Powers, HU_TILE_NEAREST>;
  /* As many blocks as run at once: each has something to do before its first tile. */
  HU_LAUNCH(kernel, hui_grid_size(s.all, 2), 0, stream, *a, s, hui_word_keys_of(a->stream.key));
}

hu_status hui_scaled_tiles_launch(const hu_scaled_args *a, void *stream) {
  if (a->scaler.steps == HU_STEPS_EXACT)
    a->z ? hui_tiles_start<true, true>(a, stream) : hui_tiles_start<false, true>(a, stream);
  else
    a->z ? hui_tiles_start<true, false>(a, stream) : hui_tiles_start<false, false>(a, stream);
  return hui_launched();
}
