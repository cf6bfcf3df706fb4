/* SPDX-License-Identifier: MIT */
/* gpu/gemm/tile.cuh - a block's tile of D, for sums in binary32 (T = float, R = 8) and in binary64 (T = double, R = 4).
 *
 * 256 threads hold R x R sums each: a tile of 16 R x 16 R. Operands come in slabs of 64 / R along k, decoded on their
 * way into shared memory, two slabs deep. Each sum takes its products in ascending order of k, one fused multiply-add
 * each, and exactly k of them: nothing is padded along k, since adding the product +0 would turn -0 into +0. Thread
 * (ty, tx) holds rows 64 h + 4 ty + r and columns 64 h + 4 tx + r, so that a warp's reads of shared memory are vectors
 * without bank conflicts.
 *
 * A Rule says what a step is, and what becomes of operands on their way in and of sums on their way out:
 *
 *   T a(T v), b(T v), c(T v)     an element of A, B, C
 *   T step(T a, T b, T sum)
 *   hu_num number(g, i, j, T v)  the sum of element (i, j)
 *   bool zeros                   whether an exact zero is -0 toward negative
 *   bool open(T v)               whether this sum says nothing, and
 *   hu_num element(g, i, j)      is to be computed otherwise, at the end, when no thread holds sums any more
 *
 * C enters and D leaves through shared memory two register rows (32 tile rows) at a time: neighbouring threads then
 * touch neighbouring elements, and the long code of the last rounding is there once. */
#ifndef HALFULP_GPU_GEMM_TILE_CUH
#define HALFULP_GPU_GEMM_TILE_CUH

#include "gpu/gemm/gemm.cuh"

/* A code's value. Called, not inlined: the sums hold most of the registers where it is needed. */
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
  __device__ __forceinline__ T a(T v) const { return v; }
  __device__ __forceinline__ T b(T v) const { return v; }
  __device__ __forceinline__ T c(T v) const { return v; }
  static __device__ __forceinline__ float step(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
  static __device__ __forceinline__ double step(double a, double b, double sum) { return __fma_rn(a, b, sum); }
  static __device__ __forceinline__ hu_num unpack(float x) { return hui_unpack32(__float_as_uint(x)); }
  static __device__ __forceinline__ hu_num unpack(double x) { return hui_unpack64((uint64_t)__double_as_longlong(x)); }
  __device__ __forceinline__ hu_num number(const hu_gemm_args &, size_t, size_t, T v) const { return unpack(v); }
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
    T v[4];
  };

  /* In binary64 exact, subnormals too. */
  static __device__ __forceinline__ T from_bits(uint32_t bits) { return (T)__uint_as_float(bits); }

  static __device__ __forceinline__ T value(const hu_device_matrix &x, const T *table, uint32_t raw) {
    if (x.size == 0) return from_bits(raw);
    if (x.size == 1) return table[raw];
    return wide(x, raw);
  }

  static __device__ __forceinline__ T wide(const hu_device_matrix &x, uint32_t raw) {
    return hui_value_of_code<T>(x, raw);
  }

  /* Four codes of 16 bits: in the exponent field of binary32 where x.plain says so, infinities, NaN and others by the
   * core. */
  static __device__ __forceinline__ quad words(const hu_device_matrix &x, const hu_four<uint16_t> &raw) {
    quad q;
    bool odd = !x.plain;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t magnitude = raw.v[i] & x.plain_mask, sign = (uint32_t)raw.v[i] << 16 & 0x80000000u;
      float v = __uint_as_float(magnitude << x.plain_shift);
      if (x.plain > 1) v = __fmul_rn(v, __uint_as_float(x.plain_factor));
      odd = odd || magnitude > x.plain_most;
      q.v[i] = from_bits(__float_as_uint(v) | sign);
    }
    if (odd) {
#pragma unroll 1
      for (int i = 0; i < 4; i++) {
        T v = wide(x, i == 0 ? raw.v[0] : i == 1 ? raw.v[1] : i == 2 ? raw.v[2] : raw.v[3]);
#pragma unroll
        for (int j = 0; j < 4; j++) q.v[j] = i == j ? v : q.v[j];
      }
    }
    return q;
  }

  /* ---- slabs ---- */

  /* The four elements of this thread: along k or along the lines, as they lie in memory. */
  static __device__ __forceinline__ void place(const hu_device_matrix &x, int *line, int *p) {
    int t = (int)threadIdx.x;
    if (x.along) {
      *line = t / (depth / 4);
      *p = t % (depth / 4) * 4;
    } else {
      *line = t % (lines / 4) * 4;
      *p = t / (lines / 4);
    }
  }

  /* The address of this thread's four elements in the next slab, which moves on by one distance from slab to slab; and
   * whether they may be loaded at once where the slab is whole along k. */
  struct track {
    const uint8_t *at;
    bool whole;
  };

  static __device__ __forceinline__ size_t bytes(const hu_device_matrix &x) { return x.size ? x.size : sizeof(float); }

  static __device__ __forceinline__ track start_of(const hu_device_matrix &x, size_t line0, size_t lines_all) {
    int line, p;
    track t;
    place(x, &line, &p);
    size_t l = line0 + line;
    t.at = (const uint8_t *)x.data + (l * x.line_step + p * x.step) * bytes(x);
    t.whole = x.quads && x.size <= 2 && (x.along ? l : l + 3) < lines_all;
    return t;
  }

  static __device__ __forceinline__ quad four(const hu_device_matrix &x, const T *table, const void *at) {
    quad q;
    if (x.size == 0) {
      hu_four<uint32_t> raw = *(const hu_four<uint32_t> *)at;
#pragma unroll
      for (int i = 0; i < 4; i++) q.v[i] = from_bits(raw.v[i]);
    } else if (x.size == 1) {
      hu_four<uint8_t> raw = *(const hu_four<uint8_t> *)at;
#pragma unroll
      for (int i = 0; i < 4; i++) q.v[i] = table[raw.v[i]];
    } else {
      hu_four<uint16_t> raw = *(const hu_four<uint16_t> *)at;
      q = words(x, raw);
    }
    return q;
  }

  /* One after another, where some are outside or they do not lie together. */
  static __device__ __forceinline__ quad singly(const hu_device_matrix &x, const T *table, size_t line0,
                                                size_t lines_all, size_t p0, size_t k) {
    int line, p;
    quad q;
    place(x, &line, &p);
    size_t l = line0 + line, at = p0 + p, first = l * x.line_step + at * x.step;
#pragma unroll
    for (int i = 0; i < 4; i++) q.v[i] = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
      bool in = x.along ? l < lines_all && at + i < k : l + i < lines_all && at < k;
      if (!in) break;
      T v = value(x, table, hui_matrix_raw(x, first + i));
#pragma unroll
      for (int j = 0; j < 4; j++) q.v[j] = i == j ? v : q.v[j];
    }
    return q;
  }

  static __device__ __forceinline__ quad fetch(const hu_device_matrix &x, const T *table, track &t, size_t line0,
                                               size_t lines_all, size_t p0, size_t k) {
    quad q = t.whole && p0 + depth <= k ? four(x, table, t.at) : singly(x, table, line0, lines_all, p0, k);
    t.at += depth * x.step * bytes(x);
    return q;
  }

  __device__ __forceinline__ void keep(const hu_device_matrix &x, quad q, T *slab_of, bool is_a) const {
    int line, p;
    place(x, &line, &p);
#pragma unroll
    for (int i = 0; i < 4; i++) q.v[i] = is_a ? rule.a(q.v[i]) : rule.b(q.v[i]);
    if (x.along) {
#pragma unroll
      for (int i = 0; i < 4; i++) slab_of[(p + i) * pitch + line] = q.v[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) slab_of[p * pitch + line + i] = q.v[i];
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

  __device__ __forceinline__ void products(const hu_gemm_args &g) {
    T *a = buffer, *b = buffer + 2 * slab;
    int side = 0;
    if (g.k == 0) return;
    track ta = start_of(g.a, row0, g.m), tb = start_of(g.b, col0, g.n);
    keep(g.a, fetch(g.a, table_a, ta, row0, g.m, 0, g.k), a, true);
    keep(g.b, fetch(g.b, table_b, tb, col0, g.n, 0, g.k), b, false);
    __syncthreads();
    for (size_t p = 0;; side ^= 1) {
      quad qa, qb;
      size_t next = p + depth;
      const T *sa = a + side * slab, *sb = b + side * slab;
      if (next < g.k) {
        qa = fetch(g.a, table_a, ta, row0, g.m, next, g.k);
        qb = fetch(g.b, table_b, tb, col0, g.n, next, g.k);
      }
      if (next <= g.k) {
#pragma unroll
        for (int i = 0; i < depth; i++) step(sa + i * pitch, sb + i * pitch);
      } else {
        int rest = (int)(g.k - p);
#pragma unroll 1
        for (int i = 0; i < rest; i++) step(sa + i * pitch, sb + i * pitch);
      }
      if (next >= g.k) break;
      /* The other side was last read before the barrier that opened this round. */
      keep(g.a, qa, a + (side ^ 1) * slab, true);
      keep(g.b, qb, b + (side ^ 1) * slab, false);
      __syncthreads();
      p = next;
    }
  }

  /* ---- between registers and the stage: register rows 2 pass and 2 pass + 1 ---- */

  template <int Pass>
  __device__ __forceinline__ void exchange_pass(bool out) {
    int ty = (int)threadIdx.x / 16, tx = (int)threadIdx.x % 16;
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        T *at = buffer + (ty * 2 + r) * pitch + j / 4 * 64 + tx * 4 + j % 4;
        if (out) {
          *at = sum[2 * Pass + r][j];
        } else {
          sum[2 * Pass + r][j] = *at;
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

  /* Stage row s of a pass is this row of the tile. */
  static __device__ __forceinline__ int tile_row(int pass, int s) {
    int r = 2 * pass + (s & 1);
    return r / 4 * 64 + s / 2 * 4 + r % 4;
  }

  __device__ __forceinline__ void start(const hu_gemm_args &g) {
#pragma unroll
    for (int i = 0; i < R; i++) {
#pragma unroll
      for (int j = 0; j < R; j++) sum[i][j] = 0;
    }
    if (!g.c.present) return;
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
      __syncthreads();
#pragma unroll 1
      for (int e = (int)threadIdx.x; e < 32 * lines; e += HU_THREADS) {
        int s = e / lines, col = e % lines;
        size_t i = row0 + tile_row(pass, s), j = col0 + col;
        if (i < g.m && j < g.n) {
          uint32_t raw = hui_matrix_raw(g.c, i * g.c.line_step + j * g.c.step);
          buffer[s * pitch + col] = rule.c(g.c.size ? wide(g.c, raw) : from_bits(raw));
        } else {
          buffer[s * pitch + col] = 0;
        }
      }
      __syncthreads();
      exchange(pass, false);
    }
    __syncthreads();
  }

  static __device__ __forceinline__ uint32_t store(const hu_gemm_args &g, size_t i, size_t j, hu_num x) {
    bool zero = Rule::zeros && x.kind == HU_KIND_ZERO && g.dspec.round == HU_RTN;
    uint32_t flags = zero || x.kind == HU_KIND_NAN ? hui_sum_flags(g, i, j) : 0;
    if (zero && (flags & HU_TERM_NOT_PLUS_ZERO)) x.sign = 1;
    return hui_gemm_store(g, i, j, x, x.kind == HU_KIND_NAN && !(flags & HU_TERM_NAN));
  }

  /* The marked elements. */
  __device__ __forceinline__ void close(const hu_gemm_args &g, hu_tally *c) {
    __syncthreads();
#pragma unroll 1
    for (int e = (int)threadIdx.x; e < lines * lines; e += HU_THREADS) {
      if (!(marks[e / 32] >> e % 32 & 1)) continue;
      size_t i = row0 + e / lines, j = col0 + e % lines;
      hui_tally_add(c, store(g, i, j, rule.element(g, i, j)));
    }
  }

  __device__ __forceinline__ void finish(const hu_gemm_args &g, hu_tally *c) {
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
      __syncthreads();
      exchange(pass, true);
      __syncthreads();
#pragma unroll 1
      for (int e = (int)threadIdx.x; e < 32 * lines; e += HU_THREADS) {
        int s = e / lines, col = e % lines;
        size_t i = row0 + tile_row(pass, s), j = col0 + col;
        if (i >= g.m || j >= g.n) continue;
        T v = buffer[s * pitch + col];
        if (rule.open(v)) {
          int at = tile_row(pass, s) * lines + col;
          atomicOr(&marks[at / 32], 1u << at % 32);
          continue;
        }
        hui_tally_add(c, store(g, i, j, rule.number(g, i, j, v))); /* R * R elements a thread: no count overflows */
      }
    }
  }
};

/* Tiles in bands of eight tile rows, so that blocks that run together share slabs in the second-level cache. */
HU_DEVICE void hui_tile_place(size_t index, size_t rows, size_t cols, size_t *row, size_t *col) {
  size_t band = index / (8 * cols), height = rows - band * 8 < 8 ? rows - band * 8 : 8, in = index - band * 8 * cols;
  *row = band * 8 + in % height;
  *col = in / height;
}

template <class T, int R, class Rule>
HU_DEVICE void hui_gemm_tile(const hu_gemm_args &g, const Rule &rule, T *buffer, T *table_a, T *table_b,
                             unsigned long long *sums, uint32_t *marks = NULL, unsigned block = blockIdx.x) {
  hu_device_tile<T, R, Rule> tile(rule);
  tile.marks = marks;
  if (marks) {
    for (int e = (int)threadIdx.x; e < tile.lines * tile.lines / 32; e += HU_THREADS) marks[e] = 0;
  }
  size_t rows = (g.m + tile.lines - 1) / tile.lines, cols = (g.n + tile.lines - 1) / tile.lines, row, col;
  if (g.a.size == 1) table_a[threadIdx.x] = tile.wide(g.a, threadIdx.x);
  if (g.b.size == 1) table_b[threadIdx.x] = tile.wide(g.b, threadIdx.x);
  __syncthreads();
  hui_tile_place(block, rows, cols, &row, &col);
  tile.buffer = buffer;
  tile.table_a = table_a;
  tile.table_b = table_b;
  tile.row0 = row * tile.lines;
  tile.col0 = col * tile.lines;
  tile.start(g);
  tile.products(g);
  hu_counts c;
  hui_counts_clear(&c);
  tile.finish(g, &c.some);
  if (marks) tile.close(g, &c.some);
  if (g.events) hui_counts_flush(&c, g.events, sums);
}

/* Are there so few large tiles that a multiprocessor would not have two? */
static inline bool hui_tile_small(const hu_gemm_args *g, size_t lines) {
  size_t rows = (g->m - 1) / lines + 1, cols = (g->n - 1) / lines + 1, sms = hui_grid_size(UINT32_MAX, 1);
  return rows < 2 * sms && cols < 2 * sms && rows * cols < 2 * sms;
}

/* Tiles of D, one a block; 0: more than a grid has blocks. */
static inline unsigned hui_tile_count(const hu_gemm_args *g, size_t lines) {
  size_t rows = (g->m - 1) / lines + 1, cols = (g->n - 1) / lines + 1;
  return cols > 0x7FFFFFFFu / rows ? 0 : (unsigned)(rows * cols);
}

#endif
