/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq_half.cu - seq(binary16) and seq(bfloat16), ties to even, of codes of the same format: the device's own
 * fma.rn.f16x2 and fma.rn.bf16x2, two sums an instruction.
 *
 * PTX ISA, "Half precision floating point instructions: fma": no loss of precision in the product and the addition, one
 * rounding to nearest even; subnormal numbers are supported where .ftz is not written. That is a step of the model,
 * overflow to infinity and signs of zeros as in IEEE 754 included; the payload of a NaN is no part of a sum. So the
 * policy of F's overflow must be infinity. Compute capability 8.0 has both.
 *
 * A product costs half an instruction of a pipe that starts 128 lanes a clock and multiprocessor on compute capability
 * 9.0 (CUDA C++ Programming Guide: 256 results of half2 instructions): 256 products a clock. With loads and places, a
 * slab of 8 takes 610 instructions of a thread for 512 products in the machine code, so that issue allows 107 a clock;
 * with 132 multiprocessors at 1.98 GHz 57 TFLOP/s. Memory is no limit: a slab has 256 codes for 16384 products. */
#include "gpu/gemm/by_model.cuh"

#if !defined(HU_HOST_LAUNCH)
template <bool Brain>
HU_DEVICE uint32_t hui_fma_pair(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  if (Brain) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  }
  return d;
}
#else
template <bool Brain>
HU_DEVICE uint32_t hui_fma_pair(uint32_t a, uint32_t b, uint32_t c) {
  return hui_host_fma_pair(Brain, a, b, c);
}
#endif

/* 256 threads, 8 x 8 sums each, columns in pairs. Thread (ty, tx) has rows 64 h + 4 ty + r, columns 64 h + 4 tx + r.
 * A lies in shared memory with each code twice in a word, B as codes; two slabs of HU_PAIR_DEPTH along k. */
enum { HU_PAIR_LINES = 128, HU_PAIR_DEPTH = 8, HU_PAIR_A = HU_PAIR_LINES + 4, HU_PAIR_B = HU_PAIR_LINES + 8 };

typedef struct hu_pair_shared {
  uint32_t a[2][HU_PAIR_DEPTH * HU_PAIR_A];
  uint16_t b[2][HU_PAIR_DEPTH * HU_PAIR_B];
} hu_pair_shared;

typedef struct hu_pair_codes {
  uint16_t code[4];
} hu_pair_codes;

/* This thread's four codes of a slab: number n is element (line, p). */
HU_DEVICE void hui_pair_place(const hu_device_matrix &x, int n, int *line, int *p) {
  int t = (int)threadIdx.x + HU_THREADS * n;
  *line = x.along ? t / HU_PAIR_DEPTH : t % HU_PAIR_LINES;
  *p = x.along ? t % HU_PAIR_DEPTH : t / HU_PAIR_LINES;
}

HU_DEVICE hu_pair_codes hui_pair_fetch(const hu_device_matrix &x, size_t line0, size_t lines, size_t p0, size_t k) {
  hu_pair_codes z;
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, p;
    hui_pair_place(x, n, &line, &p);
    size_t l = line0 + line, at = p0 + p;
    z.code[n] = l < lines && at < k ? ((const uint16_t *)x.data)[l * x.line_step + at * x.step] : (uint16_t)0;
  }
  return z;
}

HU_DEVICE void hui_pair_keep_a(const hu_device_matrix &x, const hu_pair_codes &z, uint32_t *slab) {
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, p;
    hui_pair_place(x, n, &line, &p);
    slab[p * HU_PAIR_A + line] = z.code[n] * 0x10001u;
  }
}

HU_DEVICE void hui_pair_keep_b(const hu_device_matrix &x, const hu_pair_codes &z, uint16_t *slab) {
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, p;
    hui_pair_place(x, n, &line, &p);
    slab[p * HU_PAIR_B + line] = z.code[n];
  }
}

HU_DEVICE int hui_pair_row(int r) { return r / 4 * 64 + (int)threadIdx.x / 16 * 4 + r % 4; }
HU_DEVICE int hui_pair_column(int c) { return c / 2 * 64 + (int)threadIdx.x % 16 * 4 + c % 2 * 2; }

template <bool Brain>
HU_DEVICE void hui_pair_products(const hu_gemm_args &g, hu_pair_shared &s, size_t row0, size_t col0,
                                 uint32_t (&sum)[8][4]) {
  int side = 0;
  if (g.k == 0) return;
  hui_pair_keep_a(g.a, hui_pair_fetch(g.a, row0, g.m, 0, g.k), s.a[0]);
  hui_pair_keep_b(g.b, hui_pair_fetch(g.b, col0, g.n, 0, g.k), s.b[0]);
  __syncthreads();
  for (size_t p0 = 0;; p0 += HU_PAIR_DEPTH, side ^= 1) {
    size_t next = p0 + HU_PAIR_DEPTH;
    hu_pair_codes a = hui_pair_fetch(g.a, row0, g.m, next, g.k), b = hui_pair_fetch(g.b, col0, g.n, next, g.k);
    int steps = next <= g.k ? HU_PAIR_DEPTH : (int)(g.k - p0);
#pragma unroll 1
    for (int p = 0; p < steps; p++) {
      uint32_t x[8], y[4];
#pragma unroll
      for (int r = 0; r < 8; r++) x[r] = s.a[side][p * HU_PAIR_A + hui_pair_row(r)];
#pragma unroll
      for (int c = 0; c < 4; c++) memcpy(&y[c], &s.b[side][p * HU_PAIR_B + hui_pair_column(c)], 4);
#pragma unroll
      for (int r = 0; r < 8; r++) {
#pragma unroll
        for (int c = 0; c < 4; c++) sum[r][c] = hui_fma_pair<Brain>(x[r], y[c], sum[r][c]);
      }
    }
    if (next >= g.k) break;
    /* The other side was last read before the barrier that opened this round. */
    hui_pair_keep_a(g.a, a, s.a[side ^ 1]);
    hui_pair_keep_b(g.b, b, s.b[side ^ 1]);
    __syncthreads();
  }
}

/* C, element by element. */
HU_DEVICE void hui_pair_start(const hu_gemm_args &g, size_t row0, size_t col0, uint32_t (&sum)[8][4]) {
#pragma unroll
  for (int r = 0; r < 8; r++) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      sum[r][c] = 0;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        size_t i = row0 + hui_pair_row(r), j = col0 + hui_pair_column(c) + h;
        if (!g.c.present || i >= g.m || j >= g.n) continue;
        sum[r][c] |= (uint32_t)((const uint16_t *)g.c.data)[i * g.c.line_step + j * g.c.step] << (16 * h);
      }
    }
  }
}

/* Rounds the sums into D, two register rows (32 rows of the tile) at a time through shared memory. */
HU_DEVICE void hui_pair_finish(const hu_gemm_args &g, const hu_spec &f, uint16_t *stage, size_t row0, size_t col0,
                               const uint32_t (&sum)[8][4], hu_tally *tally) {
#pragma unroll
  for (int pass = 0; pass < 4; pass++) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
      for (int c = 0; c < 4; c++) {
        int at = ((int)threadIdx.x / 16 * 2 + r) * HU_PAIR_LINES + hui_pair_column(c);
        memcpy(&stage[at], &sum[2 * pass + r][c], 4);
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int e = (int)threadIdx.x; e < 32 * HU_PAIR_LINES; e += HU_THREADS) {
      int line = e / HU_PAIR_LINES, r = 2 * pass + line % 2;
      size_t i = row0 + r / 4 * 64 + line / 2 * 4 + r % 4, j = col0 + e % HU_PAIR_LINES;
      if (i >= g.m || j >= g.n) continue;
      hui_tally_add(tally, hui_plain_store(g, i, j, hui_unpack(&f, stage[e])));
    }
  }
}

template <bool Brain>
HU_KERNEL __launch_bounds__(HU_THREADS, 2)
    hui_gemm_half_kernel(const __grid_constant__ hu_gemm_args g, const __grid_constant__ hu_spec f) {
  __shared__ __align__(16) hu_pair_shared s;
  __shared__ __align__(16) uint16_t stage[32 * HU_PAIR_LINES];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  size_t across = (g.n + HU_PAIR_LINES - 1) / HU_PAIR_LINES;
  size_t row0 = blockIdx.x / across * HU_PAIR_LINES, col0 = blockIdx.x % across * HU_PAIR_LINES;
  uint32_t sum[8][4];
  hu_counts c;
  hui_counts_clear(&c);
  hui_pair_start(g, row0, col0, sum);
  hui_pair_products<Brain>(g, s, row0, col0, sum);
  hui_pair_finish(g, f, stage, row0, col0, sum, &c.some); /* 64 elements a thread: no count overflows */
  if (g.events) hui_counts_flush(&c, g.events, sums);
}

hu_status hui_gemm_launch_half(const hu_gemm_args *g, const hu_spec *f, int brain, void *stream) {
  size_t down = (g->m - 1) / HU_PAIR_LINES + 1, across = (g->n - 1) / HU_PAIR_LINES + 1;
  if (across > 0x7FFFFFFFu / down) return HU_E_SHAPE;
  if (brain) {
    HU_LAUNCH(hui_gemm_half_kernel<true>, down * across, 0, stream, *g, *f);
  } else {
    HU_LAUNCH(hui_gemm_half_kernel<false>, down * across, 0, stream, *g, *f);
  }
  return hui_launched();
}
