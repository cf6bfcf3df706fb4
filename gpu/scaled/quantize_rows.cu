/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_rows.cu - blocks of 16, 32, 64 or 128 along rows, made in one read and one write: MX, NVFP4,
 * MSFP, 1x128.
 *
 * A warp takes strips of 512 neighbours, and fetches the next one while it treats one: four vectors of 128, four
 * elements a lane. Blocks lie within vectors; their amax goes round their lanes by shuffles. There are at most 32
 * blocks in a strip: lane b makes the scale of block b and stores it, then every lane fetches what its elements need.
 * Bytes are joined, and events counted in bytes, four elements at a time. docs/device.md counts the instructions.
 *
 * Bound: an element takes 46 instructions (values under MX) to 50 (codes of NVFP4), 63 with events and 88 with R
 * (docs/device.md), so that a multiprocessor, which starts 128 in a clock, makes 2.8, 2.6, 2.0 and 1.5. Memory moves 16
 * bytes in that clock, 2 values of 8 bytes or 3.2 codes of 5: it bounds values, issue slots bound codes. */
#include "gpu/scaled/rows.cuh"

#define HU_STRIP_VECTORS 4
#define HU_VECTOR 128u
#define HU_ROW_STRIP (HU_STRIP_VECTORS * HU_VECTOR)

/* A lane's first four elements of a strip; those of vector u are u HU_VECTOR columns on. */
typedef struct hu_row_place {
  size_t row, col;
  const uint32_t *x;
  uint32_t *z;
  uint8_t *codes;
} hu_row_place;

template <bool Value>
HU_DEVICE hu_row_place hui_row_place_of(const hu_scaled_args &a, size_t row, size_t col) {
  hu_row_place p;
  p.row = row;
  p.col = col + (threadIdx.x & 31) * 4;
  p.x = a.x + row * a.ldx + p.col;
  p.z = Value ? a.z + row * a.ldz + p.col : NULL;
  p.codes = Value ? NULL : a.codes + row * a.ld + p.col;
  return p;
}

/* How many of vector u's four there are. */
HU_DEVICE int hui_row_count_of(const hu_scaled_args &a, const hu_row_place &p, uint32_t u) {
  size_t col = p.col + u * HU_VECTOR;
  return col >= a.cols ? 0 : a.cols - col < 4 ? (int)(a.cols - col) : 4;
}

/* Whole: all of the strip is there, its vectors lie aligned. */
template <bool Whole>
HU_DEVICE hu_four<uint32_t> hui_row_load(const hu_scaled_args &a, const hu_row_place &p, uint32_t u) {
  const uint32_t *x = p.x + u * HU_VECTOR;
  if (Whole) return *(const hu_four<uint32_t> *)(const void *)x;
  hu_four<uint32_t> v;
  int n = hui_row_count_of(a, p, u);
#pragma unroll
  for (int i = 0; i < 4; i++) v.v[i] = i < n ? x[i] : 0;
  return v;
}

template <bool Value, bool Whole>
HU_DEVICE void hui_row_store(const hu_scaled_args &a, const hu_row_place &p, uint32_t u, const hu_four<uint32_t> &v,
                             uint32_t codes) {
  if (Whole && Value) {
    hui_store_vector(p.z + u * HU_VECTOR, v);
  } else if (Whole) {
    *(uint32_t *)(void *)(p.codes + u * HU_VECTOR) = codes;
  } else {
    int n = hui_row_count_of(a, p, u);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (i < n && Value) p.z[u * HU_VECTOR + i] = v.v[i];
      if (i < n && !Value) p.codes[u * HU_VECTOR + i] = (uint8_t)(codes >> (8 * i));
    }
  }
}

/* ---- a strip ---- */

/* The largest of the block's lanes, for every vector: span lanes hold a block. */
HU_DEVICE void hui_row_tops(uint32_t span, uint32_t top[HU_STRIP_VECTORS]) {
#pragma unroll
  for (uint32_t d = 1; d < 32; d <<= 1) {
    if (d >= span) break;
#pragma unroll
    for (int u = 0; u < HU_STRIP_VECTORS; u++)
      top[u] = hui_larger_magnitude(top[u], __shfl_xor_sync(HU_ALL_LANES, top[u], (int)d));
  }
}

/* The word of a block with infinities or NaN: what counts of its elements, and a mark. Every lane must come here. */
static __device__ __noinline__ uint32_t hui_row_special(const hu_scaled_args &a, uint32_t span, uint32_t top,
                                                        size_t row, size_t col) {
  uint32_t limited = 0;
  for (size_t i = col; i < a.cols && i < col + 4; i++)
    limited = hui_larger_magnitude(limited, hui_limited(a, a.x[row * a.ldx + i]));
  for (uint32_t d = 1; d < span; d <<= 1)
    limited = hui_larger_magnitude(limited, __shfl_xor_sync(HU_ALL_LANES, limited, (int)d));
  return top >= 0x7F800000 ? limited | HU_SPECIAL_BLOCK : top;
}

/* The way of block number `lane` of the strip, its scale stored. */
HU_DEVICE hu_element_way hui_row_scale(const hu_scaled_args &a, hu_row_memory *k, uint32_t log,
                                       const uint32_t top[HU_STRIP_VECTORS], size_t row, size_t col) {
  uint32_t lane = threadIdx.x & 31, in = 5 - log, own = 0; /* 2^in blocks in a vector */
  int from = (int)((lane & ((1u << in) - 1)) << log);
#pragma unroll
  for (uint32_t u = 0; u < HU_STRIP_VECTORS; u++) {
    uint32_t other = __shfl_sync(HU_ALL_LANES, top[u], from);
    if (lane >> in == u) own = other;
  }
  int special = (own & HU_SPECIAL_BLOCK) != 0;
  size_t block = (col >> (log + 2)) + lane;
  hu_element_way w = hui_element_way_of(a, k->t, special ? 0x7F800000 : own, own & ~HU_SPECIAL_BLOCK);
  if (!a.scales || lane >> in >= HU_STRIP_VECTORS || block >= a.block_cols) return w;
  if (w.kind == HU_ELEMENT_WAY_CORE) w.code = hui_row_core(k, own)->code;
  hui_code_put(a.scales, a.scale_size, row * a.lds + block, w.code);
  return w;
}

/* What lane `from` found for the block that this lane's elements are of. */
HU_DEVICE hu_element_way hui_row_way(const hu_scaled_args &a, int powers, uint32_t key, float back, int from) {
  hu_element_way w;
  key = __shfl_sync(HU_ALL_LANES, key, from);
  w.kind = key ? HU_ELEMENT_WAY_SHORT : HU_ELEMENT_WAY_CORE;
  w.code = 0;
  w.low = powers ? key : a.low;
  w.by = __uint_as_float(key);
  w.back = back;
  return w;
}

template <bool Value, bool Nearest, bool Powers, bool Whole>
HU_DEVICE void hui_row_strip(const hu_scaled_args &a, const hu_row_constants &q, hu_row_memory *k, size_t row,
                             size_t col, hu_four<uint32_t> x[HU_STRIP_VECTORS], hu_row_counts *r, hu_counts *c) {
  uint32_t lane = threadIdx.x & 31, log = a.span_log, special = 0;
  const int powers = Nearest ? Powers : a.scaler.steps == HU_STEPS_EXACT;
  uint32_t top[HU_STRIP_VECTORS];
  const hu_row_place p = hui_row_place_of<Value>(a, row, col);
#pragma unroll
  for (int u = 0; u < HU_STRIP_VECTORS; u++) {
    top[u] = x[u].v[0] & 0x7FFFFFFF;
#pragma unroll
    for (int i = 1; i < 4; i++) top[u] = hui_larger_magnitude(top[u], x[u].v[i]);
  }
  hui_row_tops(1u << log, top);
#pragma unroll
  for (int u = 0; u < HU_STRIP_VECTORS; u++) special |= top[u] >= 0x7F800000;
  if (__any_sync(HU_ALL_LANES, (int)special)) {
#pragma unroll
    for (uint32_t u = 0; u < HU_STRIP_VECTORS; u++) {
      top[u] = hui_row_special(a, 1u << log, top[u], row, p.col + u * HU_VECTOR);
    }
  }
  hu_element_way own = hui_row_scale(a, k, log, top, row, col);
  uint32_t key = own.kind == HU_ELEMENT_WAY_CORE ? 0 : powers ? own.low : __float_as_uint(own.by);
#pragma unroll
  for (uint32_t u = 0; u < HU_STRIP_VECTORS; u++) {
    int from = (int)((u << (5 - log)) + (lane >> log));
    float back = Value && !powers ? __shfl_sync(HU_ALL_LANES, own.back, from) : 1.0f;
    hu_element_way w = hui_row_way(a, powers, key, back, from);
    uint32_t words[4] = {0, 0, 0, 0};
    if (Nearest && w.kind == HU_ELEMENT_WAY_CORE) {
      hui_row_left<Value>(a, k, top[u], row, p.col + u * HU_VECTOR);
    } else if (Nearest) {
      uint32_t shift = Powers ? w.low - q.low : 0;
      uint32_t codes =
          hui_row_nearest<Value, Powers, false>(q, q.counted, shift, w.by, w.back, top[u], &x[u], words, r);
      hui_row_store<Value, Whole>(a, p, u, x[u], codes);
    } else if (hui_row_may_add(a, w)) {
      hui_words(a.stream, (uint64_t)row * a.cols + p.col + u * HU_VECTOR, words);
      const hu_row_constants here = hui_row_constants_of(a); /* registers are few */
      uint32_t shift = w.low - here.low;
      uint32_t codes =
          powers ? hui_row_nearest<Value, true, true>(here, false, shift, w.by, w.back, top[u], &x[u], words, r)
                 : hui_row_nearest<Value, false, true>(here, false, 0, w.by, w.back, top[u], &x[u], words, r);
      hui_row_store<Value, Whole>(a, p, u, x[u], codes);
    } else {
      uint64_t number = (uint64_t)row * a.cols + p.col + u * HU_VECTOR;
      int n = Whole ? 4 : hui_row_count_of(a, p, u);
      uint32_t codes = hui_row_singly<Value>(a, k, w, top[u], number, n, &x[u], c);
      hui_row_store<Value, Whole>(a, p, u, x[u], codes);
    }
  }
}

/* Strip number i. */
typedef struct hu_row_strips {
  size_t across, all;
} hu_row_strips;

HU_DEVICE void hui_row_find(const hu_scaled_args &a, const hu_row_strips &s, size_t i, size_t *row, size_t *col) {
  *row = a.rows > 1 ? i / s.across : 0;
  *col = (i - *row * s.across) * HU_ROW_STRIP;
}

HU_DEVICE int hui_row_whole(const hu_scaled_args &a, size_t col) {
  return a.x_vectors && a.z_vectors && a.cols - col >= HU_ROW_STRIP;
}

template <bool Value>
HU_DEVICE void hui_row_fetch(const hu_scaled_args &a, size_t row, size_t col, hu_four<uint32_t> x[HU_STRIP_VECTORS]) {
  const hu_row_place p = hui_row_place_of<Value>(a, row, col);
  int whole = hui_row_whole(a, col);
#pragma unroll
  for (uint32_t u = 0; u < HU_STRIP_VECTORS; u++) {
    x[u] = whole ? hui_row_load<true>(a, p, u) : hui_row_load<false>(a, p, u);
  }
}

/* Blocks of threads that a multiprocessor holds at once; where two make ptxas spill, one. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define HU_ROWS_BLOCKS (Value && !Nearest && !Powers ? 1 : 2)
#else
#define HU_ROWS_BLOCKS 2
#endif

/* While a strip is treated the next one is on its way. */
template <bool Value, bool Nearest, bool Powers>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_ROWS_BLOCKS)
    hui_scaled_rows_kernel(const __grid_constant__ hu_scaled_args a) {
  __shared__ hu_row_memory k;
  __shared__ unsigned long long all[HU_EVENT_KINDS];
  hu_row_counts r;
  hu_counts c;
  hui_row_begin(a, &k, &r, &c);
  const hu_row_constants q = hui_row_constants_of(a);
  hu_row_strips s;
  s.across = (a.cols - 1) / HU_ROW_STRIP + 1;
  s.all = s.across * a.rows;
  size_t step = (size_t)gridDim.x * (HU_THREADS / 32), i = (size_t)blockIdx.x * (HU_THREADS / 32) + threadIdx.x / 32;
  hu_four<uint32_t> x[HU_STRIP_VECTORS], next[HU_STRIP_VECTORS];
  size_t row = 0, col = 0;
  if (i < s.all) {
    hui_row_find(a, s, i, &row, &col);
    hui_row_fetch<Value>(a, row, col, x);
  }
  while (i < s.all) {
    size_t next_row = 0, next_col = 0;
    i += step;
    if (i < s.all) {
      hui_row_find(a, s, i, &next_row, &next_col);
      hui_row_fetch<Value>(a, next_row, next_col, next);
    }
    if (hui_row_whole(a, col)) {
      hui_row_strip<Value, Nearest, Powers, true>(a, q, &k, row, col, x, &r, &c);
    } else {
      hui_row_strip<Value, Nearest, Powers, false>(a, q, &k, row, col, x, &r, &c);
    }
    if (Nearest && a.events && ++r.strips == 60) hui_row_counts_add_up(&r, &k.sums);
    row = next_row;
    col = next_col;
#pragma unroll
    for (int u = 0; u < HU_STRIP_VECTORS; u++) x[u] = next[u];
  }
  if (!a.events) return;
  if (Nearest)
    hui_row_counts_flush(&r, a.events, &k.sums);
  else
    hui_counts_flush(&c, a.events, all);
}

int hui_scaled_rows_serves(const hu_scaled_args *a) {
  int sides =
      a->side_rows == 1 && (a->side_cols == 16 || a->side_cols == 32 || a->side_cols == 64 || a->side_cols == 128);
  int own = !a->amax || a->scaler.two; /* a given amax that makes the only scale is not looked at here */
  return sides && own && a->lanes && !a->stats && !a->tops && a->code_size == 1 && a->top >= a->low &&
         (a->scaler.rule != HU_SCALE_RATIO || a->ratios);
}

template <bool Value, bool Nearest, bool Powers>
static hu_status hui_rows_start(const hu_scaled_args *a, void *stream) {
  uint64_t strips = ((a->cols - 1) / HU_ROW_STRIP + 1) * (uint64_t)a->rows;
  auto kernel = hui_scaled_rows_kernel<Value, Nearest, Powers>;
  /* As many blocks as run at once: each has something to do before its first strip. */
  HU_LAUNCH(kernel, hui_grid_size(strips / (HU_THREADS / 32) + 1, 2), 0, stream, *a);
  return hui_launched();
}

hu_status hui_scaled_rows_launch(const hu_scaled_args *a, void *stream) {
  int powers = a->scaler.steps == HU_STEPS_EXACT;
  if (!a->nearest)
    return a->z ? hui_rows_start<true, false, false>(a, stream) : hui_rows_start<false, false, false>(a, stream);
  if (powers) return a->z ? hui_rows_start<true, true, true>(a, stream) : hui_rows_start<false, true, true>(a, stream);
  return a->z ? hui_rows_start<true, true, false>(a, stream) : hui_rows_start<false, true, false>(a, stream);
}
