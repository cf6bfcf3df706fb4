/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq_half.cu - seq(binary16) and seq(bfloat16), ties to even, of codes of the same format: the device's own
 * fma.rn.f16x2 and fma.rn.bf16x2, two sums per instruction.
 *
 * PTX ISA, "Half precision floating point instructions: fma": no loss of precision in the product and the addition, one
 * rounding to nearest even; subnormal numbers are supported where .ftz is not written. That is a step of the model,
 * overflow to infinity and signs of zeros as in IEEE 754 included; the payload of a NaN is no part of a sum. So the
 * policy of F's overflow must be infinity. Compute capability 8.0 has both.
 *
 * A product costs half an instruction of a pipe of which a multiprocessor of compute capability 9.0 starts 128 lanes
 * per clock (CUDA C++ Programming Guide: 256 results of half2 instructions): 256 products per clock. With loads and
 * addresses, a slab of 8 takes 610 instructions of a thread for 512 products in the machine code, so that issue allows
 * 107 per clock; with 132 multiprocessors at 1.98 GHz 57 TFLOP/s. Memory is no limit: a slab has 256 codes for 16384
 * products. */
#include "gpu/gemm/by_model.cuh"

#if !defined(HU_HOST_LAUNCH)
template <bool Brain>
HU_DEVICE uint32_t hui_fma_pair(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t z;
  if (Brain) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(z) : "r"(a), "r"(b), "r"(c));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(z) : "r"(a), "r"(b), "r"(c));
  }
  return z;
}
#else
template <bool Brain>
HU_DEVICE uint32_t hui_fma_pair(uint32_t a, uint32_t b, uint32_t c) {
  return hui_host_fma_pair(Brain, a, b, c);
}
#endif

/* 256 threads have 8 x 8 sums each, columns in pairs: thread (ty, tx) rows 64 h + 4 ty + r, columns 64 h + 4 tx + r.
 * Shared memory holds two slabs of HU_PAIR_DEPTH along k: of A, with each code twice in a word, and of B, as codes. */
enum { HU_PAIR_LINES = 128, HU_PAIR_DEPTH = 8, HU_PAIR_A = HU_PAIR_LINES + 4, HU_PAIR_B = HU_PAIR_LINES + 8 };

typedef struct hu_pair_shared {
  uint32_t a[2][HU_PAIR_DEPTH * HU_PAIR_A];
  uint16_t b[2][HU_PAIR_DEPTH * HU_PAIR_B];
} hu_pair_shared;

typedef struct hu_pair_codes {
  uint16_t code[4];
} hu_pair_codes;

/* Finds number n of this thread's four codes of a slab: element (line, term). */
HU_DEVICE void hui_pair_place(const hu_device_matrix &x, int n, int *line, int *term) {
  int thread = (int)threadIdx.x + HU_THREADS * n;
  *line = x.along ? thread / HU_PAIR_DEPTH : thread % HU_PAIR_LINES;
  *term = x.along ? thread % HU_PAIR_DEPTH : thread / HU_PAIR_LINES;
}

HU_DEVICE hu_pair_codes hui_pair_fetch(const hu_device_matrix &x, size_t line0, size_t lines, size_t p0, size_t k) {
  hu_pair_codes codes;
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, term;
    hui_pair_place(x, n, &line, &term);
    size_t at_line = line0 + line, at = p0 + term;
    codes.code[n] =
        at_line < lines && at < k ? ((const uint16_t *)x.data)[at_line * x.line_step + at * x.step] : (uint16_t)0;
  }
  return codes;
}

HU_DEVICE void hui_pair_keep_a(const hu_device_matrix &x, const hu_pair_codes &codes, uint32_t *slab) {
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, term;
    hui_pair_place(x, n, &line, &term);
    slab[term * HU_PAIR_A + line] = codes.code[n] * 0x10001u;
  }
}

HU_DEVICE void hui_pair_keep_b(const hu_device_matrix &x, const hu_pair_codes &codes, uint16_t *slab) {
#pragma unroll
  for (int n = 0; n < 4; n++) {
    int line, term;
    hui_pair_place(x, n, &line, &term);
    slab[term * HU_PAIR_B + line] = codes.code[n];
  }
}

HU_DEVICE int hui_pair_row(int row) { return row / 4 * 64 + (int)threadIdx.x / 16 * 4 + row % 4; }
HU_DEVICE int hui_pair_column(int c) { return c / 2 * 64 + (int)threadIdx.x % 16 * 4 + c % 2 * 2; }

template <bool Brain>
HU_DEVICE void hui_pair_products(const hu_gemm_args &args, hu_pair_shared &shared, size_t row0, size_t col0,
                                 uint32_t (&sum)[8][4]) {
  int side = 0;
  if (args.k == 0) return;
  hui_pair_keep_a(args.a, hui_pair_fetch(args.a, row0, args.m, 0, args.k), shared.a[0]);
  hui_pair_keep_b(args.b, hui_pair_fetch(args.b, col0, args.n, 0, args.k), shared.b[0]);
  __syncthreads();
  for (size_t p0 = 0;; p0 += HU_PAIR_DEPTH, side ^= 1) {
    size_t next = p0 + HU_PAIR_DEPTH;
    hu_pair_codes a = hui_pair_fetch(args.a, row0, args.m, next, args.k),
                  b = hui_pair_fetch(args.b, col0, args.n, next, args.k);
    int steps = next <= args.k ? HU_PAIR_DEPTH : (int)(args.k - p0);
#pragma unroll 1
    for (int term = 0; term < steps; term++) {
      uint32_t x[8], y[4];
#pragma unroll
      for (int row = 0; row < 8; row++) x[row] = shared.a[side][term * HU_PAIR_A + hui_pair_row(row)];
#pragma unroll
      for (int c = 0; c < 4; c++) memcpy(&y[c], &shared.b[side][term * HU_PAIR_B + hui_pair_column(c)], 4);
#pragma unroll
      for (int row = 0; row < 8; row++) {
#pragma unroll
        for (int c = 0; c < 4; c++) sum[row][c] = hui_fma_pair<Brain>(x[row], y[c], sum[row][c]);
      }
    }
    if (next >= args.k) break;
    /* The last barrier stands between this store and the reads of the other side. */
    hui_pair_keep_a(args.a, a, shared.a[side ^ 1]);
    hui_pair_keep_b(args.b, b, shared.b[side ^ 1]);
    __syncthreads();
  }
}

/* Starts the sums with C, element by element. */
HU_DEVICE void hui_pair_start(const hu_gemm_args &args, size_t row0, size_t col0, uint32_t (&sum)[8][4]) {
#pragma unroll
  for (int row = 0; row < 8; row++) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      sum[row][c] = 0;
#pragma unroll
      for (int half = 0; half < 2; half++) {
        size_t i = row0 + hui_pair_row(row), j = col0 + hui_pair_column(c) + half;
        if (!args.c.present || i >= args.m || j >= args.n) continue;
        sum[row][c] |= (uint32_t)((const uint16_t *)args.c.data)[i * args.c.line_step + j * args.c.step] << (16 * half);
      }
    }
  }
}

/* Rounds the sums into D, two register rows (32 rows of the tile) at a time through shared memory. */
HU_DEVICE void hui_pair_finish(const hu_gemm_args &args, const hu_spec &spec, uint16_t *stage, size_t row0, size_t col0,
                               const uint32_t (&sum)[8][4], hu_tally *tally) {
#pragma unroll
  for (int pass = 0; pass < 4; pass++) {
    __syncthreads();
#pragma unroll
    for (int row = 0; row < 2; row++) {
#pragma unroll
      for (int c = 0; c < 4; c++) {
        int at = ((int)threadIdx.x / 16 * 2 + row) * HU_PAIR_LINES + hui_pair_column(c);
        memcpy(&stage[at], &sum[2 * pass + row][c], 4);
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int element = (int)threadIdx.x; element < 32 * HU_PAIR_LINES; element += HU_THREADS) {
      int line = element / HU_PAIR_LINES, row = 2 * pass + line % 2;
      size_t i = row0 + row / 4 * 64 + line / 2 * 4 + row % 4, j = col0 + element % HU_PAIR_LINES;
      if (i >= args.m || j >= args.n) continue;
      hui_tally_add(tally, hui_plain_store(args, i, j, hui_unpack(&spec, stage[element])));
    }
  }
}

template <bool Brain>
HU_KERNEL __launch_bounds__(HU_THREADS, 2)
    hui_gemm_half_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_spec spec) {
  __shared__ __align__(16) hu_pair_shared shared;
  __shared__ __align__(16) uint16_t stage[32 * HU_PAIR_LINES];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  size_t across = (args.n + HU_PAIR_LINES - 1) / HU_PAIR_LINES;
  size_t row0 = blockIdx.x / across * HU_PAIR_LINES, col0 = blockIdx.x % across * HU_PAIR_LINES;
  uint32_t sum[8][4];
  hu_counts counts;
  hui_counts_clear(&counts);
  hui_pair_start(args, row0, col0, sum);
  hui_pair_products<Brain>(args, shared, row0, col0, sum);
  hui_pair_finish(args, spec, stage, row0, col0, sum, &counts.some); /* a thread has 64 elements: no count overflows */
  if (args.events) hui_counts_flush(&counts, args.events, sums);
}

hu_status hui_gemm_launch_half(const hu_gemm_args *args, const hu_spec *spec, int brain, void *stream) {
  size_t down = (args->m - 1) / HU_PAIR_LINES + 1, across = (args->n - 1) / HU_PAIR_LINES + 1;
  if (across > 0x7FFFFFFFu / down) return HU_E_SHAPE;
  if (brain) {
    HU_LAUNCH(hui_gemm_half_kernel<true>, down * across, 0, stream, *args, *spec);
  } else {
    HU_LAUNCH(hui_gemm_half_kernel<false>, down * across, 0, stream, *args, *spec);
  }
  return hui_launched();
}
