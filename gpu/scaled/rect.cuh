/* SPDX-License-Identifier: MIT */
/* gpu/scaled/rect.cuh - part of a block, and the team of 1, 32 or 256 threads that has it: sums over the team, its
 * order of elements, one by one or four neighbours at a time, their amax, and their codes or values. */
#ifndef HALFULP_GPU_RECT_CUH
#define HALFULP_GPU_RECT_CUH

#include "gpu/scaled/scaled.cuh"

#define HU_TEAM_MOST ((size_t)1 << 14)
#define HU_TEAM_WARP ((size_t)1 << 11) /* what a team of a warp has at most */

/* Part of a block, at most HU_TEAM_MOST elements, perhaps none. */
typedef struct hu_rect {
  size_t row, col;
  uint32_t rows, cols;
} hu_rect;

/* ---- a block ---- */

HU_DEVICE uint32_t hui_block_amax(const hu_scaled_args &args, uint32_t own) {
  return args.amax && !args.scaler.two ? hui_given_amax(args.amax) : own;
}

HU_DEVICE void hui_block_store(const hu_scaled_args &args, size_t block_row, size_t block_col, uint32_t code) {
  if (args.scales) hui_code_put(args.scales, args.scale_size, block_row * args.lds + block_col, code);
}

HU_DEVICE hu_rect hui_block_rect(const hu_scaled_args &args, size_t block_row, size_t block_col) {
  hu_rect rect;
  rect.row = block_row * args.side_rows;
  rect.col = block_col * args.side_cols;
  rect.rows = (uint32_t)(args.rows - rect.row < args.side_rows ? args.rows - rect.row : args.side_rows);
  rect.cols = (uint32_t)(args.cols - rect.col < args.side_cols ? args.cols - rect.col : args.side_cols);
  return rect;
}

HU_DEVICE void hui_stats_begin(hu_scaled_stats *stats, uint32_t amax, uint32_t code, uint64_t special) {
  stats->amax = __uint_as_float(amax);
  stats->scale = code;
  stats->special = special;
}

/* ---- teams ---- */

/* Returns the largest x of the team. Every thread of it must call it. */
template <int Team>
HU_DEVICE uint32_t hui_team_largest(uint32_t x, uint32_t *parts) {
  if constexpr (Team > 1) {
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
      uint32_t other = __shfl_xor_sync(HU_ALL_LANES, x, distance);
      x = other > x ? other : x;
    }
  }
  if constexpr (Team > 32) {
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    for (int i = 0; i < HU_THREADS / 32; i++) x = parts[i] > x ? parts[i] : x;
  }
  return x;
}

/* Adds the x of the team, each up to 2^26. */
template <int Team>
HU_DEVICE uint32_t hui_team_sum(uint32_t x, uint32_t *parts) {
  if constexpr (Team > 1) x = __reduce_add_sync(HU_ALL_LANES, x);
  if constexpr (Team > 32) {
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0;
    for (int i = 0; i < HU_THREADS / 32; i++) x += parts[i];
  }
  return x;
}

template <int Team>
HU_DEVICE void hui_team_wait(void) {
  if (Team == 32) __syncwarp();
  if (Team > 32) __syncthreads();
}

/* A thread's position in a rectangle, of which it takes every Team-th element, row by row. */
typedef struct hu_rect_walk {
  uint32_t row, col, more_rows, more_cols;
} hu_rect_walk;

template <int Team>
HU_DEVICE hu_rect_walk hui_rect_walk_begin(const hu_rect &rect) {
  uint32_t rank = threadIdx.x % Team, cols = rect.cols ? rect.cols : 1;
  hu_rect_walk walk;
  walk.row = rank / cols;
  walk.col = rank % cols;
  walk.more_rows = Team / cols;
  walk.more_cols = Team % cols;
  return walk;
}

HU_DEVICE void hui_rect_walk_on(const hu_rect &rect, hu_rect_walk *walk) {
  walk->col += walk->more_cols;
  walk->row += walk->more_rows;
  if (walk->col < rect.cols) return;
  walk->col -= rect.cols;
  walk->row++;
}

HU_DEVICE const uint32_t *hui_rect_x(const hu_scaled_args &args, const hu_rect &rect, const hu_rect_walk &walk) {
  return args.x + (rect.row + walk.row) * args.ldx + rect.col + walk.col;
}

/* ---- fours of neighbours: where rectangles lie aligned ---- */

enum { HU_RECT_LOADS = 4 }; /* vectors that a thread loads before it looks at the first */

HU_DEVICE bool hui_rect_in_fours(const hu_scaled_args &args, const hu_rect &rect) {
  return args.x_vectors && ((rect.col | rect.cols) & 3) == 0;
}

/* Returns the rectangle, counted in groups of four columns. */
HU_DEVICE hu_rect hui_rect_fours(const hu_rect &rect) {
  hu_rect fours = rect;
  fours.cols = rect.cols / 4;
  return fours;
}

/* Loads up to HU_RECT_LOADS vectors from `walk` on; returns how many. fours: hui_rect_fours(rect). */
HU_DEVICE int hui_rect_load(const hu_scaled_args &args, const hu_rect &fours, hu_rect_walk *walk,
                            hu_four<uint32_t> x[HU_RECT_LOADS]) {
  int n = 0;
#pragma unroll
  for (int j = 0; j < HU_RECT_LOADS; j++) {
    if (walk->row < fours.rows) {
      x[j] = *(const hu_four<uint32_t> *)(const void *)(args.x + (fours.row + walk->row) * args.ldx + fours.col +
                                                        4 * walk->col);
      hui_rect_walk_on(fours, walk);
      n = j + 1;
    }
  }
  return n;
}

/* Returns the largest magnitude of a thread's elements; infinities and NaN are larger than all others. */
template <int Team>
HU_DEVICE uint32_t hui_rect_top(const hu_scaled_args &args, const hu_rect &rect) {
  uint32_t top = 0;
  if (!hui_rect_in_fours(args, rect)) {
    for (hu_rect_walk walk = hui_rect_walk_begin<Team>(rect); walk.row < rect.rows; hui_rect_walk_on(rect, &walk)) {
      uint32_t m = *hui_rect_x(args, rect, walk) & 0x7FFFFFFF;
      top = m > top ? m : top;
    }
    return top;
  }
  const hu_rect fours = hui_rect_fours(rect);
  hu_rect_walk walk = hui_rect_walk_begin<Team>(fours);
  hu_four<uint32_t> x[HU_RECT_LOADS];
  for (int n; (n = hui_rect_load(args, fours, &walk, x)) > 0;) {
#pragma unroll
    for (int j = 0; j < HU_RECT_LOADS; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t m = x[j].value[i] & 0x7FFFFFFF;
        top = j < n && m > top ? m : top;
      }
    }
  }
  return top;
}

/* Returns the amax of the rectangle, without infinities and NaN; counts those. */
template <int Team>
HU_DEVICE uint32_t hui_rect_amax(const hu_scaled_args &args, const hu_rect &rect, uint32_t *special, uint32_t *parts) {
  uint32_t limited = 0, count = 0, top = hui_team_largest<Team>(hui_rect_top<Team>(args, rect), parts);
  *special = 0;
  if (top < 0x7F800000) return top;
  for (hu_rect_walk walk = hui_rect_walk_begin<Team>(rect); walk.row < rect.rows; hui_rect_walk_on(rect, &walk)) {
    uint32_t x = *hui_rect_x(args, rect, walk), m = hui_limited(args, x);
    limited = m > limited ? m : limited;
    count += (x & 0x7FFFFFFF) >= 0x7F800000;
  }
  *special = hui_team_sum<Team>(count, parts);
  return hui_team_largest<Team>(limited, parts);
}

/* Elements of one thread that were saturated, or became zero. */
typedef struct hu_rect_counts {
  uint32_t saturated, to_zero;
} hu_rect_counts;

HU_DEVICE void hui_rect_count(const hu_scaled_args &args, uint32_t events, hu_rect_counts *own, hu_counts *counts) {
  if (args.events) hui_counts_add(counts, events);
  own->saturated += (events & HU_EVENT_SATURATED) != 0;
  own->to_zero += (events & HU_EVENT_TO_ZERO) != 0;
}

/* Rounds and stores four neighbours at (row, col). */
HU_DEVICE void hui_rect_four(const hu_scaled_args &args, const hu_element_way &way, size_t row, size_t col,
                             hu_four<uint32_t> x, hu_rect_counts *own, hu_counts *counts) {
  uint32_t joined = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint64_t z = hui_nearest_element(args, way, x.value[i]);
    if (args.events || args.stats) hui_rect_count(args, (uint32_t)(z >> 32), own, counts);
    x.value[i] = (uint32_t)z;
    joined |= (uint32_t)z << (8 * i);
  }
  if (args.z)
    hui_store_vector(args.z + row * args.ldz + col, x);
  else
    *(uint32_t *)(void *)(args.codes + row * args.ld + col) = joined;
}

/* Rounds elements of 8 bits, or values, by hui_nearest, four neighbours at a time. */
template <int Team>
HU_DEVICE hu_rect_counts hui_rect_nearest(const hu_scaled_args &args, const hu_rect &rect, const hu_element_way &way,
                                          hu_counts *counts) {
  hu_rect_counts own = {0, 0};
  const hu_rect fours = hui_rect_fours(rect);
  hu_rect_walk walk = hui_rect_walk_begin<Team>(fours), at = walk;
  hu_four<uint32_t> x[HU_RECT_LOADS];
  for (int n; (n = hui_rect_load(args, fours, &walk, x)) > 0;) {
#pragma unroll 1
    for (int j = 0; j < n; j++) { /* the long code is there once */
      hu_four<uint32_t> four = x[0];
#pragma unroll
      for (int k = 1; k < HU_RECT_LOADS; k++)
        if (j == k) four = x[k];
      hui_rect_four(args, way, fours.row + at.row, fours.col + 4 * at.col, four, &own, counts);
      hui_rect_walk_on(fours, &at);
    }
  }
  return own;
}

template <int Team>
HU_DEVICE hu_rect_counts hui_rect_elements(const hu_scaled_args &args, const hu_scaled_tensor &tensor,
                                           const hu_rect &rect, const hu_element_way &way, const hu_shared *shared,
                                           hu_counts *counts) {
  hu_rect_counts own = {0, 0};
  if (args.nearest && way.kind != HU_ELEMENT_WAY_CORE && hui_rect_in_fours(args, rect) && args.z_vectors &&
      args.code_size == 1)
    return hui_rect_nearest<Team>(args, rect, way, counts);
  for (hu_rect_walk walk = hui_rect_walk_begin<Team>(rect); walk.row < rect.rows; hui_rect_walk_on(rect, &walk)) {
    uint32_t x = *hui_rect_x(args, rect, walk);
    size_t row = rect.row + walk.row, col = rect.col + walk.col;
    uint32_t word = args.stochastic ? hui_word(args.stream, (uint64_t)row * args.cols + col) : 0;
    uint64_t z = way.kind == HU_ELEMENT_WAY_CORE ? hui_core_element(&tensor.scaler, shared, x, word, args.z != NULL)
                 : args.nearest                  ? hui_nearest_element(args, way, x)
                                                 : hui_lanes_element(args, way, x, word);
    if (args.z) {
      args.z[row * args.ldz + col] = (uint32_t)z;
    } else {
      hui_code_put(args.codes, args.code_size, row * args.ld + col, (uint32_t)z);
    }
    hui_rect_count(args, (uint32_t)(z >> 32), &own, counts);
  }
  return own;
}

#endif
