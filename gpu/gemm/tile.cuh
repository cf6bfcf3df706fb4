/* SPDX-License-Identifier: MIT */
/* gpu/gemm/tile.cuh - a block's tile of D, for sums in binary32 (T = float, R = 8) and in binary64 (T = double, R = 4).
 *
 * 256 threads hold R x R sums each: a tile of 16 R x 16 R. Operands are decoded into slabs of 64 / R along k, two of
 * which lie in shared memory. Each sum takes its products in ascending order of k, one fused multiply-add each, and
 * exactly k of them: k is not padded, since adding the product +0 would turn -0 into +0. Thread (ty, tx) holds rows 64
 * h + 4 ty + r and columns 64 h + 4 tx + r, so that a warp's reads of shared memory are vectors without bank conflicts.
 *
 * A Rule says what a step is, and how operands and sums are converted:
 *
 *   T a(T v), b(T v), c(T v)        an element of A, B, C
 *   T step(T a, T b, T sum)
 *   hu_num number(args, i, j, T v)  the sum of element (i, j)
 *   bool zeros                      whether an exact zero is -0 toward negative
 *   bool open(T v)                  whether this sum does not decide the element, and
 *   hu_num element(args, i, j)      computes it at the end, when the threads' sums are stored
 *
 * C and D pass through shared memory two register rows (32 tile rows) at a time, so that neighbouring threads read and
 * store neighbours, and the long code of the last rounding is there once. */
#ifndef HALFULP_GPU_GEMM_TILE_CUH
#define HALFULP_GPU_GEMM_TILE_CUH

#include "gpu/gemm/gemm.cuh"

/* Returns a code's value. It is called, not inlined, since the sums hold most of the registers around it. */
template <class T>
static __device__ __noinline__ T hui_value_of_code(const hu_device_matrix &x, uint32_t raw);
template <>
__device__ __noinline__ float hui_value_of_code<float>(const hu_device_matrix &x, uint32_t raw) {
  return __uint_as_float(hui_pack32(hui_unpack(&x.spec, raw)));
}
template <>
__device__ __noinline__ double hui_value_of_code<double>(const hu_device_matrix &x, uint32_t raw) {
  return __longlong_as_double((long long)hui_pack64(hui_unpack(&x.spec, raw)));
}

/* Fused multiply-adds in the order of k. */
template <class T>
struct hu_rule_fma {
  static const bool zeros = false;
  __device__ __forceinline__ T a(T element) const { return element; }
  __device__ __forceinline__ T b(T element) const { return element; }
  __device__ __forceinline__ T c(T element) const { return element; }
  static __device__ __forceinline__ float step(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
  static __device__ __forceinline__ double step(double a, double b, double sum) { return __fma_rn(a, b, sum); }
  static __device__ __forceinline__ hu_num unpack(float x) { return hui_unpack32(__float_as_uint(x)); }
  static __device__ __forceinline__ hu_num unpack(double x) { return hui_unpack64((uint64_t)__double_as_longlong(x)); }
  __device__ __forceinline__ hu_num number(const hu_gemm_args &, size_t, size_t, T element) const {
    return unpack(element);
  }
  __device__ __forceinline__ bool open(T) const { return false; }
  __device__ __forceinline__ hu_num element(const hu_gemm_args &, size_t, size_t) const {
    return hui_num_special(HU_KIND_NAN, 0);
  }
};

/* exact, where no addition rounds: an exact zero is -0 toward negative unless all terms are +0. */
template <class T>
struct hu_rule_exact : hu_rule_fma<T> {
  static const bool zeros = true;
};

template <class T, int R, class Rule>
struct hu_device_tile {
  static const int lines = 16 * R, depth = 64 / R, pitch = lines + 4, passes = R / 2;
  static const int slab = depth * pitch;
  static const int shared = 4 * slab > 32 * pitch ? 4 * slab : 32 * pitch;

  Rule rule;
  T sum[R][R];
  T *buffer;                  /* `shared` elements of shared memory: 2 slabs of A, 2 of B; or 32 rows of the tile */
  const T *table_a, *table_b; /* values of 8-bit codes, in shared memory */
  uint32_t *marks;            /* shared, a bit for every element of the tile: left open */
  size_t row0, col0;

  __device__ __forceinline__ hu_device_tile(const Rule &r) : rule(r) {}

  struct quad {
    T value[4];
  };

  /* Converts exactly to binary64, subnormals too. */
  static __device__ __forceinline__ T from_bits(uint32_t bits) { return (T)__uint_as_float(bits); }

  static __device__ __forceinline__ T value(const hu_device_matrix &x, const T *table, uint32_t raw) {
    if (x.size == 0) return from_bits(raw);
    if (x.size == 1) return table[raw];
    return wide(x, raw);
  }

  static __device__ __forceinline__ T wide(const hu_device_matrix &x, uint32_t raw) {
    return hui_value_of_code<T>(x, raw);
  }

  /* Decodes four codes of 16 bits: by a shift into the fields of binary32 where x.plain allows, else by the core. */
  static __device__ __forceinline__ quad words(const hu_device_matrix &x, const hu_four<uint16_t> &raw) {
    quad elements;
    bool odd = !x.plain;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t magnitude = raw.value[i] & x.plain_mask, sign = (uint32_t)raw.value[i] << 16 & 0x80000000u;
      float value = __uint_as_float(magnitude << x.plain_shift);
      if (x.plain > 1) value = __fmul_rn(value, __uint_as_float(x.plain_factor));
      odd = odd || magnitude > x.plain_most;
      elements.value[i] = from_bits(__float_as_uint(value) | sign);
    }
    if (odd) {
#pragma unroll 1
      for (int i = 0; i < 4; i++) {
        T element = wide(x, i == 0 ? raw.value[0] : i == 1 ? raw.value[1] : i == 2 ? raw.value[2] : raw.value[3]);
#pragma unroll
        for (int j = 0; j < 4; j++) elements.value[j] = i == j ? element : elements.value[j];
      }
    }
    return elements;
  }

  /* ---- slabs ---- */

  /* Finds the four elements of this thread: along k or along the lines, as they lie in memory. */
  static __device__ __forceinline__ void place(const hu_device_matrix &x, int *line, int *term) {
    int thread = (int)threadIdx.x;
    if (x.along) {
      *line = thread / (depth / 4);
      *term = thread % (depth / 4) * 4;
    } else {
      *line = thread % (lines / 4) * 4;
      *term = thread / (lines / 4);
    }
  }

  /* The address of this thread's four elements in the next slab, the same distance behind those of the slab before, and
   * whether they may be loaded at once where the slab is whole along k. */
  struct track {
    const uint8_t *at;
    bool whole;
  };

  static __device__ __forceinline__ size_t bytes(const hu_device_matrix &x) { return x.size ? x.size : sizeof(float); }

  static __device__ __forceinline__ track start_of(const hu_device_matrix &x, size_t line0, size_t lines_all) {
    int line, term;
    track next;
    place(x, &line, &term);
    size_t at_line = line0 + line;
    next.at = (const uint8_t *)x.data + (at_line * x.line_step + term * x.step) * bytes(x);
    next.whole = x.quads && x.size <= 2 && (x.along ? at_line : at_line + 3) < lines_all;
    return next;
  }

  static __device__ __forceinline__ quad four(const hu_device_matrix &x, const T *table, const void *at) {
    quad elements;
    if (x.size == 0) {
      hu_four<uint32_t> raw = *(const hu_four<uint32_t> *)at;
#pragma unroll
      for (int i = 0; i < 4; i++) elements.value[i] = from_bits(raw.value[i]);
    } else if (x.size == 1) {
      hu_four<uint8_t> raw = *(const hu_four<uint8_t> *)at;
#pragma unroll
      for (int i = 0; i < 4; i++) elements.value[i] = table[raw.value[i]];
    } else {
      hu_four<uint16_t> raw = *(const hu_four<uint16_t> *)at;
      elements = words(x, raw);
    }
    return elements;
  }

  /* Loads the elements one by one, where some are outside or they are not neighbours. */
  static __device__ __forceinline__ quad singly(const hu_device_matrix &x, const T *table, size_t line0,
                                                size_t lines_all, size_t p0, size_t k) {
    int line, term;
    quad elements;
    place(x, &line, &term);
    size_t at_line = line0 + line, at = p0 + term, first = at_line * x.line_step + at * x.step;
#pragma unroll
    for (int i = 0; i < 4; i++) elements.value[i] = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
      bool in = x.along ? at_line < lines_all && at + i < k : at_line + i < lines_all && at < k;
      if (!in) break;
      T element = value(x, table, hui_matrix_raw(x, first + i));
#pragma unroll
      for (int j = 0; j < 4; j++) elements.value[j] = i == j ? element : elements.value[j];
    }
    return elements;
  }

  static __device__ __forceinline__ quad fetch(const hu_device_matrix &x, const T *table, track &next, size_t line0,
                                               size_t lines_all, size_t p0, size_t k) {
    quad elements = next.whole && p0 + depth <= k ? four(x, table, next.at) : singly(x, table, line0, lines_all, p0, k);
    next.at += depth * x.step * bytes(x);
    return elements;
  }

  __device__ __forceinline__ void keep(const hu_device_matrix &x, quad elements, T *slab_of, bool is_a) const {
    int line, term;
    place(x, &line, &term);
#pragma unroll
    for (int i = 0; i < 4; i++) elements.value[i] = is_a ? rule.a(elements.value[i]) : rule.b(elements.value[i]);
    if (x.along) {
#pragma unroll
      for (int i = 0; i < 4; i++) slab_of[(term + i) * pitch + line] = elements.value[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) slab_of[term * pitch + line + i] = elements.value[i];
    }
  }

  __device__ __forceinline__ void step(const T *a, const T *b) {
    int ty = (int)threadIdx.x / 16, tx = (int)threadIdx.x % 16;
    T x[R], y[R];
#pragma unroll
    for (int i = 0; i < R; i++) {
      x[i] = a[i / 4 * 64 + ty * 4 + i % 4];
      y[i] = b[i / 4 * 64 + tx * 4 + i % 4];
    }
#pragma unroll
    for (int i = 0; i < R; i++) {
#pragma unroll
      for (int j = 0; j < R; j++) sum[i][j] = rule.step(x[i], y[j], sum[i][j]);
    }
  }

  __device__ __forceinline__ void products(const hu_gemm_args &args) {
    T *a = buffer, *b = buffer + 2 * slab;
    int side = 0;
    if (args.k == 0) return;
    track ta = start_of(args.a, row0, args.m), tb = start_of(args.b, col0, args.n);
    keep(args.a, fetch(args.a, table_a, ta, row0, args.m, 0, args.k), a, true);
    keep(args.b, fetch(args.b, table_b, tb, col0, args.n, 0, args.k), b, false);
    __syncthreads();
    for (size_t first = 0;; side ^= 1) {
      quad qa, qb;
      size_t next = first + depth;
      const T *sa = a + side * slab, *sb = b + side * slab;
      if (next < args.k) {
        qa = fetch(args.a, table_a, ta, row0, args.m, next, args.k);
        qb = fetch(args.b, table_b, tb, col0, args.n, next, args.k);
      }
      if (next <= args.k) {
#pragma unroll
        for (int i = 0; i < depth; i++) step(sa + i * pitch, sb + i * pitch);
      } else {
        int rest = (int)(args.k - first);
#pragma unroll 1
        for (int i = 0; i < rest; i++) step(sa + i * pitch, sb + i * pitch);
      }
      if (next >= args.k) break;
      /* The last barrier stands between this store and the reads of the other side. */
      keep(args.a, qa, a + (side ^ 1) * slab, true);
      keep(args.b, qb, b + (side ^ 1) * slab, false);
      __syncthreads();
      first = next;
    }
  }

  /* ---- between registers and the stage: register rows 2 pass and 2 pass + 1 ---- */

  template <int Pass>
  __device__ __forceinline__ void exchange_pass(bool out) {
    int ty = (int)threadIdx.x / 16, tx = (int)threadIdx.x % 16;
#pragma unroll
    for (int row = 0; row < 2; row++) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        T *at = buffer + (ty * 2 + row) * pitch + j / 4 * 64 + tx * 4 + j % 4;
        if (out) {
          *at = sum[2 * Pass + row][j];
        } else {
          sum[2 * Pass + row][j] = *at;
        }
      }
    }
  }

  __device__ __forceinline__ void exchange(int pass, bool out) {
    switch (pass) {
      case 0: exchange_pass<0>(out); break;
      case 1: exchange_pass<1>(out); break;
      case 2: exchange_pass<passes - 2>(out); break;
      default: exchange_pass<passes - 1>(out); break;
    }
  }

  /* Returns the row of the tile that is row stage_row of a pass's stage. */
  static __device__ __forceinline__ int tile_row(int pass, int stage_row) {
    int row = 2 * pass + (stage_row & 1);
    return row / 4 * 64 + stage_row / 2 * 4 + row % 4;
  }

  __device__ __forceinline__ void start(const hu_gemm_args &args) {
#pragma unroll
    for (int i = 0; i < R; i++) {
#pragma unroll
      for (int j = 0; j < R; j++) sum[i][j] = 0;
    }
    if (!args.c.present) return;
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
      __syncthreads();
#pragma unroll 1
      for (int element = (int)threadIdx.x; element < 32 * lines; element += HU_THREADS) {
        int row = element / lines, col = element % lines;
        size_t i = row0 + tile_row(pass, row), j = col0 + col;
        if (i < args.m && j < args.n) {
          uint32_t raw = hui_matrix_raw(args.c, i * args.c.line_step + j * args.c.step);
          buffer[row * pitch + col] = rule.c(args.c.size ? wide(args.c, raw) : from_bits(raw));
        } else {
          buffer[row * pitch + col] = 0;
        }
      }
      __syncthreads();
      exchange(pass, false);
    }
    __syncthreads();
  }

  static __device__ __forceinline__ uint32_t store(const hu_gemm_args &args, size_t i, size_t j, hu_num x) {
    bool zero = Rule::zeros && x.kind == HU_KIND_ZERO && args.dspec.round == HU_RTN;
    uint32_t flags = zero || x.kind == HU_KIND_NAN ? hui_sum_flags(args, i, j) : 0;
    if (zero && (flags & HU_TERM_NOT_PLUS_ZERO)) x.sign = 1;
    return hui_gemm_store(args, i, j, x, x.kind == HU_KIND_NAN && !(flags & HU_TERM_NAN));
  }

  /* Computes the marked elements. */
  __device__ __forceinline__ void close(const hu_gemm_args &args, hu_tally *tally) {
    __syncthreads();
#pragma unroll 1
    for (int element = (int)threadIdx.x; element < lines * lines; element += HU_THREADS) {
      if (!(marks[element / 32] >> element % 32 & 1)) continue;
      size_t i = row0 + element / lines, j = col0 + element % lines;
      hui_tally_add(tally, store(args, i, j, rule.element(args, i, j)));
    }
  }

  __device__ __forceinline__ void finish(const hu_gemm_args &args, hu_tally *tally) {
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
      __syncthreads();
      exchange(pass, true);
      __syncthreads();
#pragma unroll 1
      for (int element = (int)threadIdx.x; element < 32 * lines; element += HU_THREADS) {
        int row = element / lines, col = element % lines;
        size_t i = row0 + tile_row(pass, row), j = col0 + col;
        if (i >= args.m || j >= args.n) continue;
        T total = buffer[row * pitch + col];
        if (rule.open(total)) {
          int at = tile_row(pass, row) * lines + col;
          atomicOr(&marks[at / 32], 1u << at % 32);
          continue;
        }
        /* A thread has R * R elements: no count overflows. */
        hui_tally_add(tally, store(args, i, j, rule.number(args, i, j, total)));
      }
    }
  }
};

/* Places tiles in bands of eight tile rows, so that blocks that run at once share slabs in the second-level cache. */
HU_DEVICE void hui_tile_place(size_t index, size_t rows, size_t cols, size_t *row, size_t *col) {
  size_t band = index / (8 * cols), height = rows - band * 8 < 8 ? rows - band * 8 : 8, in = index - band * 8 * cols;
  *row = band * 8 + in % height;
  *col = in / height;
}

template <class T, int R, class Rule>
HU_DEVICE void hui_gemm_tile(const hu_gemm_args &args, const Rule &rule, T *buffer, T *table_a, T *table_b,
                             unsigned long long *sums, uint32_t *marks = NULL, unsigned block = blockIdx.x) {
  hu_device_tile<T, R, Rule> tile(rule);
  tile.marks = marks;
  if (marks) {
    for (int i = (int)threadIdx.x; i < tile.lines * tile.lines / 32; i += HU_THREADS) marks[i] = 0;
  }
  size_t rows = (args.m + tile.lines - 1) / tile.lines, cols = (args.n + tile.lines - 1) / tile.lines, row, col;
  if (args.a.size == 1) table_a[threadIdx.x] = tile.wide(args.a, threadIdx.x);
  if (args.b.size == 1) table_b[threadIdx.x] = tile.wide(args.b, threadIdx.x);
  __syncthreads();
  hui_tile_place(block, rows, cols, &row, &col);
  tile.buffer = buffer;
  tile.table_a = table_a;
  tile.table_b = table_b;
  tile.row0 = row * tile.lines;
  tile.col0 = col * tile.lines;
  tile.start(args);
  tile.products(args);
  hu_counts counts;
  hui_counts_clear(&counts);
  tile.finish(args, &counts.some);
  if (marks) tile.close(args, &counts.some);
  if (args.events) hui_counts_flush(&counts, args.events, sums);
}

/* Returns 1 if there are so few large tiles that a multiprocessor would not have two. */
static inline bool hui_tile_small(const hu_gemm_args *args, size_t lines) {
  size_t rows = (args->m - 1) / lines + 1, cols = (args->n - 1) / lines + 1, sms = hui_grid_size(UINT32_MAX, 1);
  return rows < 2 * sms && cols < 2 * sms && rows * cols < 2 * sms;
}

/* Returns the number of tiles of D, each of which takes a block; 0: more than a grid has blocks. */
static inline unsigned hui_tile_count(const hu_gemm_args *args, size_t lines) {
  size_t rows = (args->m - 1) / lines + 1, cols = (args->n - 1) / lines + 1;
  return cols > 0x7FFFFFFFu / rows ? 0 : (unsigned)(rows * cols);
}

#endif
