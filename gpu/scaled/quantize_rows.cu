/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_rows.cu - blocks of 16, 32, 64 or 128 along rows, made in one read and one write: MX, NVFP4,
 * MSFP, 1x128.
 *
 * A warp takes strips of 512 neighbours, and fetches the next one while it treats one: four vectors of 128, four
 * elements per lane. Blocks lie within vectors; their lanes find the amax by shuffles. There are at most 32 blocks in a
 * strip: lane b makes the scale of block b and stores it, then every lane fetches that of its elements. Codes are
 * joined, and events counted in bytes, four elements at a time. docs/device.md counts the instructions.
 *
 * Bound: an element takes 46 instructions (values under MX) to 50 (codes of NVFP4), 63 with events and 88 with R
 * (docs/device.md), so that a multiprocessor, which starts 128 in a clock, makes 2.8, 2.6, 2.0 and 1.5. Memory moves 16
 * bytes in that clock, 2 values of 8 bytes or 3.2 codes of 5: it bounds values, issue slots bound codes. */
#include "gpu/scaled/rows.cuh"

#define HU_STRIP_VECTORS 4
#define HU_VECTOR 128u
#define HU_ROW_STRIP (HU_STRIP_VECTORS * HU_VECTOR)

/* A lane's first four elements of a strip; those of vector i are i HU_VECTOR columns further. */
typedef struct hu_row_place {
  size_t row, col;
  const uint32_t *x;
  uint32_t *z;
  uint8_t *codes;
} hu_row_place;

template <bool Value>
HU_DEVICE hu_row_place hui_row_place_of(const hu_scaled_args &args, size_t row, size_t col) {
  hu_row_place place;
  place.row = row;
  place.col = col + (threadIdx.x & 31) * 4;
  place.x = args.x + row * args.ldx + place.col;
  place.z = Value ? args.z + row * args.ldz + place.col : NULL;
  place.codes = Value ? NULL : args.codes + row * args.ld + place.col;
  return place;
}

/* Returns how many of the lane's four elements of a vector exist. */
HU_DEVICE int hui_row_count_of(const hu_scaled_args &args, const hu_row_place &place, uint32_t vector) {
  size_t col = place.col + vector * HU_VECTOR;
  return col >= args.cols ? 0 : args.cols - col < 4 ? (int)(args.cols - col) : 4;
}

/* Loads a vector. Whole: all of the strip exists, and its vectors are aligned. */
template <bool Whole>
HU_DEVICE hu_four<uint32_t> hui_row_load(const hu_scaled_args &args, const hu_row_place &place, uint32_t vector) {
  const uint32_t *x = place.x + vector * HU_VECTOR;
  if (Whole) return *(const hu_four<uint32_t> *)(const void *)x;
  hu_four<uint32_t> four;
  int n = hui_row_count_of(args, place, vector);
#pragma unroll
  for (int i = 0; i < 4; i++) four.value[i] = i < n ? x[i] : 0;
  return four;
}

template <bool Value, bool Whole>
HU_DEVICE void hui_row_store(const hu_scaled_args &args, const hu_row_place &place, uint32_t vector,
                             const hu_four<uint32_t> &four, uint32_t codes) {
  if (Whole && Value) {
    hui_store_vector(place.z + vector * HU_VECTOR, four);
  } else if (Whole) {
    *(uint32_t *)(void *)(place.codes + vector * HU_VECTOR) = codes;
  } else {
    int n = hui_row_count_of(args, place, vector);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (i < n && Value) place.z[vector * HU_VECTOR + i] = four.value[i];
      if (i < n && !Value) place.codes[vector * HU_VECTOR + i] = (uint8_t)(codes >> (8 * i));
    }
  }
}

/* ---- a strip ---- */

/* Finds for every vector the largest magnitude of the block, which `span` lanes hold. */
HU_DEVICE void hui_row_tops(uint32_t span, uint32_t top[HU_STRIP_VECTORS]) {
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance <<= 1) {
    if (distance >= span) break;
#pragma unroll
    for (int vector = 0; vector < HU_STRIP_VECTORS; vector++)
      top[vector] = hui_larger_magnitude(top[vector], __shfl_xor_sync(HU_ALL_LANES, top[vector], (int)distance));
  }
}

/* Returns the word of a block with infinities or NaN: its amax and a mark. Every lane must call it. */
static __device__ __noinline__ uint32_t hui_row_special(const hu_scaled_args &args, uint32_t span, uint32_t top,
                                                        size_t row, size_t col) {
  uint32_t limited = 0;
  for (size_t i = col; i < args.cols && i < col + 4; i++)
    limited = hui_larger_magnitude(limited, hui_limited(args, args.x[row * args.ldx + i]));
  for (uint32_t distance = 1; distance < span; distance <<= 1)
    limited = hui_larger_magnitude(limited, __shfl_xor_sync(HU_ALL_LANES, limited, (int)distance));
  return top >= 0x7F800000 ? limited | HU_SPECIAL_BLOCK : top;
}

/* Returns the way of block number `lane` of the strip, and stores its scale. */
HU_DEVICE hu_element_way hui_row_scale(const hu_scaled_args &args, hu_row_memory *memory, uint32_t log,
                                       const uint32_t top[HU_STRIP_VECTORS], size_t row, size_t col) {
  uint32_t lane = threadIdx.x & 31, in = 5 - log, own = 0; /* a vector has 2^in blocks */
  int from = (int)((lane & ((1u << in) - 1)) << log);
#pragma unroll
  for (uint32_t vector = 0; vector < HU_STRIP_VECTORS; vector++) {
    uint32_t other = __shfl_sync(HU_ALL_LANES, top[vector], from);
    if (lane >> in == vector) own = other;
  }
  int special = (own & HU_SPECIAL_BLOCK) != 0;
  size_t block = (col >> (log + 2)) + lane;
  hu_element_way way = hui_element_way_of(args, memory->tensor, special ? 0x7F800000 : own, own & ~HU_SPECIAL_BLOCK);
  if (!args.scales || lane >> in >= HU_STRIP_VECTORS || block >= args.block_cols) return way;
  if (way.kind == HU_ELEMENT_WAY_CORE) way.code = hui_row_core(memory, own)->code;
  hui_code_put(args.scales, args.scale_size, row * args.lds + block, way.code);
  return way;
}

/* Fetches what lane `from` found for the block of this lane's elements. */
HU_DEVICE hu_element_way hui_row_way(const hu_scaled_args &args, int powers, uint32_t key, float back, int from) {
  hu_element_way way;
  key = __shfl_sync(HU_ALL_LANES, key, from);
  way.kind = key ? HU_ELEMENT_WAY_SHORT : HU_ELEMENT_WAY_CORE;
  way.code = 0;
  way.low = powers ? key : args.low;
  way.by = __uint_as_float(key);
  way.back = back;
  return way;
}

template <bool Value, bool Nearest, bool Powers, bool Whole>
HU_DEVICE void hui_row_strip(const hu_scaled_args &args, const hu_row_constants &constants, hu_row_memory *memory,
                             size_t row, size_t col, hu_four<uint32_t> x[HU_STRIP_VECTORS], hu_row_counts *row_counts,
                             hu_counts *counts) {
  uint32_t lane = threadIdx.x & 31, log = args.span_log, special = 0;
  const int powers = Nearest ? Powers : args.scaler.steps == HU_STEPS_EXACT;
  uint32_t top[HU_STRIP_VECTORS];
  const hu_row_place place = hui_row_place_of<Value>(args, row, col);
#pragma unroll
  for (int vector = 0; vector < HU_STRIP_VECTORS; vector++) {
    top[vector] = x[vector].value[0] & 0x7FFFFFFF;
#pragma unroll
    for (int i = 1; i < 4; i++) top[vector] = hui_larger_magnitude(top[vector], x[vector].value[i]);
  }
  hui_row_tops(1u << log, top);
#pragma unroll
  for (int vector = 0; vector < HU_STRIP_VECTORS; vector++) special |= top[vector] >= 0x7F800000;
  if (__any_sync(HU_ALL_LANES, (int)special)) {
#pragma unroll
    for (uint32_t vector = 0; vector < HU_STRIP_VECTORS; vector++) {
      top[vector] = hui_row_special(args, 1u << log, top[vector], row, place.col + vector * HU_VECTOR);
    }
  }
  hu_element_way own = hui_row_scale(args, memory, log, top, row, col);
  uint32_t key = own.kind == HU_ELEMENT_WAY_CORE ? 0 : powers ? own.low : __float_as_uint(own.by);
#pragma unroll
  for (uint32_t vector = 0; vector < HU_STRIP_VECTORS; vector++) {
    int from = (int)((vector << (5 - log)) + (lane >> log));
    float back = Value && !powers ? __shfl_sync(HU_ALL_LANES, own.back, from) : 1.0f;
    hu_element_way way = hui_row_way(args, powers, key, back, from);
    uint32_t words[4] = {0, 0, 0, 0};
    if (Nearest && way.kind == HU_ELEMENT_WAY_CORE) {
      hui_row_left<Value>(args, memory, top[vector], row, place.col + vector * HU_VECTOR);
    } else if (Nearest) {
      uint32_t shift = Powers ? way.low - constants.low : 0;
      uint32_t codes = hui_row_nearest<Value, Powers, false>(constants, constants.counted, shift, way.by, way.back,
                                                             top[vector], &x[vector], words, row_counts);
      hui_row_store<Value, Whole>(args, place, vector, x[vector], codes);
    } else if (hui_row_may_add(args, way)) {
      hui_words(args.stream, (uint64_t)row * args.cols + place.col + vector * HU_VECTOR, words);
      const hu_row_constants here = hui_row_constants_of(args); /* made here, since registers are few */
      uint32_t shift = way.low - here.low;
      uint32_t codes = powers ? hui_row_nearest<Value, true, true>(here, false, shift, way.by, way.back, top[vector],
                                                                   &x[vector], words, row_counts)
                              : hui_row_nearest<Value, false, true>(here, false, 0, way.by, way.back, top[vector],
                                                                    &x[vector], words, row_counts);
      hui_row_store<Value, Whole>(args, place, vector, x[vector], codes);
    } else {
      uint64_t number = (uint64_t)row * args.cols + place.col + vector * HU_VECTOR;
      int n = Whole ? 4 : hui_row_count_of(args, place, vector);
      uint32_t codes = hui_row_singly<Value>(args, memory, way, top[vector], number, n, &x[vector], counts);
      hui_row_store<Value, Whole>(args, place, vector, x[vector], codes);
    }
  }
}

/* The strips of a matrix. */
typedef struct hu_row_strips {
  size_t across, all;
} hu_row_strips;

HU_DEVICE void hui_row_find(const hu_scaled_args &args, const hu_row_strips &strips, size_t i, size_t *row,
                            size_t *col) {
  *row = args.rows > 1 ? i / strips.across : 0;
  *col = (i - *row * strips.across) * HU_ROW_STRIP;
}

HU_DEVICE int hui_row_whole(const hu_scaled_args &args, size_t col) {
  return args.x_vectors && args.z_vectors && args.cols - col >= HU_ROW_STRIP;
}

template <bool Value>
HU_DEVICE void hui_row_fetch(const hu_scaled_args &args, size_t row, size_t col,
                             hu_four<uint32_t> x[HU_STRIP_VECTORS]) {
  const hu_row_place place = hui_row_place_of<Value>(args, row, col);
  int whole = hui_row_whole(args, col);
#pragma unroll
  for (uint32_t vector = 0; vector < HU_STRIP_VECTORS; vector++) {
    x[vector] = whole ? hui_row_load<true>(args, place, vector) : hui_row_load<false>(args, place, vector);
  }
}

/* Blocks of threads that a multiprocessor holds at once: one where ptxas would spill with two. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define HU_ROWS_BLOCKS (Value && !Nearest && !Powers ? 1 : 2)
#else
#define HU_ROWS_BLOCKS 2
#endif

/* Treats a strip while the next one is loaded. */
template <bool Value, bool Nearest, bool Powers>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_ROWS_BLOCKS)
    hui_scaled_rows_kernel(const __grid_constant__ hu_scaled_args args) {
  __shared__ hu_row_memory memory;
  __shared__ unsigned long long all[HU_EVENT_KINDS];
  hu_row_counts row_counts;
  hu_counts counts;
  hui_row_begin(args, &memory, &row_counts, &counts);
  const hu_row_constants constants = hui_row_constants_of(args);
  hu_row_strips strips;
  strips.across = (args.cols - 1) / HU_ROW_STRIP + 1;
  strips.all = strips.across * args.rows;
  size_t step = (size_t)gridDim.x * (HU_THREADS / 32), i = (size_t)blockIdx.x * (HU_THREADS / 32) + threadIdx.x / 32;
  hu_four<uint32_t> x[HU_STRIP_VECTORS], next[HU_STRIP_VECTORS];
  size_t row = 0, col = 0;
  if (i < strips.all) {
    hui_row_find(args, strips, i, &row, &col);
    hui_row_fetch<Value>(args, row, col, x);
  }
  while (i < strips.all) {
    size_t next_row = 0, next_col = 0;
    i += step;
    if (i < strips.all) {
      hui_row_find(args, strips, i, &next_row, &next_col);
      hui_row_fetch<Value>(args, next_row, next_col, next);
    }
    if (hui_row_whole(args, col)) {
      hui_row_strip<Value, Nearest, Powers, true>(args, constants, &memory, row, col, x, &row_counts, &counts);
    } else {
      hui_row_strip<Value, Nearest, Powers, false>(args, constants, &memory, row, col, x, &row_counts, &counts);
    }
    if (Nearest && args.events && ++row_counts.strips == 60) hui_row_counts_add_up(&row_counts, &memory.sums);
    row = next_row;
    col = next_col;
#pragma unroll
    for (int vector = 0; vector < HU_STRIP_VECTORS; vector++) x[vector] = next[vector];
  }
  if (!args.events) return;
  if (Nearest)
    hui_row_counts_flush(&row_counts, args.events, &memory.sums);
  else
    hui_counts_flush(&counts, args.events, all);
}

int hui_scaled_rows_serves(const hu_scaled_args *args) {
  int sides = args->side_rows == 1 &&
              (args->side_cols == 16 || args->side_cols == 32 || args->side_cols == 64 || args->side_cols == 128);
  int own = !args->amax || args->scaler.two; /* this kernel does not read a given amax that makes the only scale */
  return sides && own && args->lanes && !args->stats && !args->tops && args->code_size == 1 && args->top >= args->low &&
         (args->scaler.rule != HU_SCALE_RATIO || args->ratios);
}

template <bool Value, bool Nearest, bool Powers>
static hu_status hui_rows_start(const hu_scaled_args *args, void *stream) {
  uint64_t strips = ((args->cols - 1) / HU_ROW_STRIP + 1) * (uint64_t)args->rows;
  auto kernel = hui_scaled_rows_kernel<Value, Nearest, Powers>;
  /* As many blocks as run at once, since each prepares something before its first strip. */
  HU_LAUNCH(kernel, hui_grid_size(strips / (HU_THREADS / 32) + 1, 2), 0, stream, *args);
  return hui_launched();
}

hu_status hui_scaled_rows_launch(const hu_scaled_args *args, void *stream) {
  int powers = args->scaler.steps == HU_STEPS_EXACT;
  if (!args->nearest)
    return args->z ? hui_rows_start<true, false, false>(args, stream)
                   : hui_rows_start<false, false, false>(args, stream);
  if (powers)
    return args->z ? hui_rows_start<true, true, true>(args, stream) : hui_rows_start<false, true, true>(args, stream);
  return args->z ? hui_rows_start<true, true, false>(args, stream) : hui_rows_start<false, true, false>(args, stream);
}
