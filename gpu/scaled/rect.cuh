/* SPDX-License-Identifier: MIT */
/* gpu/scaled/rect.cuh - part of a block, and the team of 1, 32 or 256 threads that has it: what the team adds up, how
 * it goes through the elements, one by one or in fours of neighbours, their amax, and their codes or values. */
#ifndef HALFULP_GPU_RECT_CUH
#define HALFULP_GPU_RECT_CUH

#include "gpu/scaled/scaled.cuh"

#define HU_TEAM_MOST ((size_t)1 << 14)
#define HU_TEAM_WARP ((size_t)1 << 11) /* what a team of a warp has at most */

/* Part of a block, at most HU_TEAM_MOST elements, none where there is nothing. */
typedef struct hu_rect {
  size_t row, col;
  uint32_t rows, cols;
} hu_rect;

/* ---- a block ---- */

HU_DEVICE uint32_t hui_block_amax(const hu_scaled_args &a, uint32_t own) {
  return a.amax && !a.scaler.two ? hui_given_amax(a.amax) : own;
}

HU_DEVICE void hui_block_store(const hu_scaled_args &a, size_t p, size_t q, uint32_t code) {
  if (a.scales) hui_code_put(a.scales, a.scale_size, p * a.lds + q, code);
}

HU_DEVICE hu_rect hui_block_rect(const hu_scaled_args &a, size_t p, size_t q) {
  hu_rect r;
  r.row = p * a.side_rows;
  r.col = q * a.side_cols;
  r.rows = (uint32_t)(a.rows - r.row < a.side_rows ? a.rows - r.row : a.side_rows);
  r.cols = (uint32_t)(a.cols - r.col < a.side_cols ? a.cols - r.col : a.side_cols);
  return r;
}

HU_DEVICE void hui_stats_begin(hu_scaled_stats *s, uint32_t amax, uint32_t code, uint64_t special) {
  s->amax = __uint_as_float(amax);
  s->scale = code;
  s->special = special;
}

/* ---- teams ---- */

/* Every thread of the team must come here. */
template <int G>
HU_DEVICE uint32_t hui_team_largest(uint32_t v, uint32_t *parts) {
  if constexpr (G > 1) {
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      uint32_t other = __shfl_xor_sync(HU_ALL_LANES, v, d);
      v = other > v ? other : v;
    }
  }
  if constexpr (G > 32) {
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    for (int i = 0; i < HU_THREADS / 32; i++) v = parts[i] > v ? parts[i] : v;
  }
  return v;
}

/* v up to 2^26 each. */
template <int G>
HU_DEVICE uint32_t hui_team_sum(uint32_t v, uint32_t *parts) {
  if constexpr (G > 1) v = __reduce_add_sync(HU_ALL_LANES, v);
  if constexpr (G > 32) {
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < HU_THREADS / 32; i++) v += parts[i];
  }
  return v;
}

template <int G>
HU_DEVICE void hui_team_wait(void) {
  if (G == 32) __syncwarp();
  if (G > 32) __syncthreads();
}

/* A thread's way through a rectangle: every Gth element, row by row. */
typedef struct hu_rect_walk {
  uint32_t row, col, more_rows, more_cols;
} hu_rect_walk;

template <int G>
HU_DEVICE hu_rect_walk hui_rect_walk_begin(const hu_rect &r) {
  uint32_t rank = threadIdx.x % G, cols = r.cols ? r.cols : 1;
  hu_rect_walk w;
  w.row = rank / cols;
  w.col = rank % cols;
  w.more_rows = G / cols;
  w.more_cols = G % cols;
  return w;
}

HU_DEVICE void hui_rect_walk_on(const hu_rect &r, hu_rect_walk *w) {
  w->col += w->more_cols;
  w->row += w->more_rows;
  if (w->col < r.cols) return;
  w->col -= r.cols;
  w->row++;
}

HU_DEVICE const uint32_t *hui_rect_x(const hu_scaled_args &a, const hu_rect &r, const hu_rect_walk &w) {
  return a.x + (r.row + w.row) * a.ldx + r.col + w.col;
}

/* ---- fours of neighbours: where rectangles lie aligned ---- */

enum { HU_RECT_LOADS = 4 }; /* vectors that a thread loads before it looks at the first */

HU_DEVICE bool hui_rect_in_fours(const hu_scaled_args &a, const hu_rect &r) {
  return a.x_vectors && ((r.col | r.cols) & 3) == 0;
}

/* The same rectangle of fours. */
HU_DEVICE hu_rect hui_rect_fours(const hu_rect &r) {
  hu_rect z = r;
  z.cols = r.cols / 4;
  return z;
}

/* Up to HU_RECT_LOADS vectors from a walk on; returns how many. f: hui_rect_fours(r). */
HU_DEVICE int hui_rect_load(const hu_scaled_args &a, const hu_rect &f, hu_rect_walk *w,
                            hu_four<uint32_t> x[HU_RECT_LOADS]) {
  int n = 0;
#pragma unroll
  for (int j = 0; j < HU_RECT_LOADS; j++) {
    if (w->row < f.rows) {
      x[j] = *(const hu_four<uint32_t> *)(const void *)(a.x + (f.row + w->row) * a.ldx + f.col + 4 * w->col);
      hui_rect_walk_on(f, w);
      n = j + 1;
    }
  }
  return n;
}

/* The largest magnitude of a thread's elements; infinities and NaN are larger than all others. */
template <int G>
HU_DEVICE uint32_t hui_rect_top(const hu_scaled_args &a, const hu_rect &r) {
  uint32_t top = 0;
  if (!hui_rect_in_fours(a, r)) {
    for (hu_rect_walk w = hui_rect_walk_begin<G>(r); w.row < r.rows; hui_rect_walk_on(r, &w)) {
      uint32_t m = *hui_rect_x(a, r, w) & 0x7FFFFFFF;
      top = m > top ? m : top;
    }
    return top;
  }
  const hu_rect f = hui_rect_fours(r);
  hu_rect_walk w = hui_rect_walk_begin<G>(f);
  hu_four<uint32_t> x[HU_RECT_LOADS];
  for (int n; (n = hui_rect_load(a, f, &w, x)) > 0;) {
#pragma unroll
    for (int j = 0; j < HU_RECT_LOADS; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t m = x[j].v[i] & 0x7FFFFFFF;
        top = j < n && m > top ? m : top;
      }
    }
  }
  return top;
}

/* amax of the rectangle, without infinities and NaN; counts those. */
template <int G>
HU_DEVICE uint32_t hui_rect_amax(const hu_scaled_args &a, const hu_rect &r, uint32_t *special, uint32_t *parts) {
  uint32_t limited = 0, count = 0, top = hui_team_largest<G>(hui_rect_top<G>(a, r), parts);
  *special = 0;
  if (top < 0x7F800000) return top;
  for (hu_rect_walk w = hui_rect_walk_begin<G>(r); w.row < r.rows; hui_rect_walk_on(r, &w)) {
    uint32_t x = *hui_rect_x(a, r, w), m = hui_limited(a, x);
    limited = m > limited ? m : limited;
    count += (x & 0x7FFFFFFF) >= 0x7F800000;
  }
  *special = hui_team_sum<G>(count, parts);
  return hui_team_largest<G>(limited, parts);
}

/* Elements saturated, and become zero, of one thread. */
typedef struct hu_rect_counts {
  uint32_t saturated, to_zero;
} hu_rect_counts;

HU_DEVICE void hui_rect_count(const hu_scaled_args &a, uint32_t events, hu_rect_counts *own, hu_counts *c) {
  if (a.events) hui_counts_add(c, events);
  own->saturated += (events & HU_EVENT_SATURATED) != 0;
  own->to_zero += (events & HU_EVENT_TO_ZERO) != 0;
}

/* Four neighbours at (row, col). */
HU_DEVICE void hui_rect_four(const hu_scaled_args &a, const hu_element_way &way, size_t row, size_t col,
                             hu_four<uint32_t> x, hu_rect_counts *own, hu_counts *c) {
  uint32_t joined = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint64_t z = hui_nearest_element(a, way, x.v[i]);
    if (a.events || a.stats) hui_rect_count(a, (uint32_t)(z >> 32), own, c);
    x.v[i] = (uint32_t)z;
    joined |= (uint32_t)z << (8 * i);
  }
  if (a.z)
    hui_store_vector(a.z + row * a.ldz + col, x);
  else
    *(uint32_t *)(void *)(a.codes + row * a.ld + col) = joined;
}

/* By nearest, in fours: elements of 8 bits, or values. */
template <int G>
HU_DEVICE hu_rect_counts hui_rect_nearest(const hu_scaled_args &a, const hu_rect &r, const hu_element_way &way,
                                          hu_counts *c) {
  hu_rect_counts own = {0, 0};
  const hu_rect f = hui_rect_fours(r);
  hu_rect_walk w = hui_rect_walk_begin<G>(f), at = w;
  hu_four<uint32_t> x[HU_RECT_LOADS];
  for (int n; (n = hui_rect_load(a, f, &w, x)) > 0;) {
#pragma unroll 1
    for (int j = 0; j < n; j++) { /* the long code is there once */
      hu_four<uint32_t> v = x[0];
#pragma unroll
      for (int q = 1; q < HU_RECT_LOADS; q++)
        if (j == q) v = x[q];
      hui_rect_four(a, way, f.row + at.row, f.col + 4 * at.col, v, &own, c);
      hui_rect_walk_on(f, &at);
    }
  }
  return own;
}

template <int G>
HU_DEVICE hu_rect_counts hui_rect_elements(const hu_scaled_args &a, const hu_scaled_tensor &t, const hu_rect &r,
                                           const hu_element_way &way, const hu_shared *b, hu_counts *c) {
  hu_rect_counts own = {0, 0};
  if (a.nearest && way.kind != HU_ELEMENT_WAY_CORE && hui_rect_in_fours(a, r) && a.z_vectors && a.code_size == 1)
    return hui_rect_nearest<G>(a, r, way, c);
  for (hu_rect_walk w = hui_rect_walk_begin<G>(r); w.row < r.rows; hui_rect_walk_on(r, &w)) {
    uint32_t x = *hui_rect_x(a, r, w);
    size_t row = r.row + w.row, col = r.col + w.col;
    uint32_t word = a.stochastic ? hui_word(a.stream, (uint64_t)row * a.cols + col) : 0;
    uint64_t z = way.kind == HU_ELEMENT_WAY_CORE ? hui_core_element(&t.scaler, b, x, word, a.z != NULL)
                 : a.nearest                     ? hui_nearest_element(a, way, x)
                                                 : hui_lanes_element(a, way, x, word);
    if (a.z) {
      a.z[row * a.ldz + col] = (uint32_t)z;
    } else {
      hui_code_put(a.codes, a.code_size, row * a.ld + col, (uint32_t)z);
    }
    hui_rect_count(a, (uint32_t)(z >> 32), &own, c);
  }
  return own;
}

#endif
