/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact_bytes.cu - the model `exact` of formats whose numbers are integers of at most 42 bits times one power
 * of two, such as the 8-bit formats and binary16: products of signed bytes, four at a time (dp4a), where binary64 has
 * too few digits for the sums.
 *
 * A number is V 2^low, low = emin - m, V = sum of digit[d] 2^(7 d), each digit a signed byte of at most 127 with V's
 * sign; D digits hold 7 D bits. So a product is the sum of D^2 products of digits, and those with the same weight
 * 2^(7 w), w = d + e, go into one sum of 32 bits: at most D products for each k, each below 2^14, so that 2^14 terms of
 * k stay below D 2^28 < 2^31, D <= 6. After as many, and at the end, the sums go into a number of 128 bits: below
 * 2^84 for each k, it holds 2^43 of them. Integers: every order gives the same sum. C is added at the end, exactly
 * (hu_long_add keeps what a rounding sees). An infinity or a NaN counts as 0 in the sum and marks its row or column;
 * the marked elements, and zero sums, are decided by the kinds and signs of their terms.
 *
 * Limit, in the machine code for compute capability 9.0. D = 6 (binary16): a step of four k takes 175 instructions of a
 * thread for 16 products, 144 of them dp4a, of which a multiprocessor starts 64 lanes a clock as of other
 * multiplications of integers, 24 loads from shared memory: 9 dp4a and 11 instructions a product. Making digits takes
 * some 140 instructions for an element of a slab, 64 / 1024 of them a product: 9, 20 in all, 128 a clock. So issue
 * allows 6.4 products and the multipliers 7.1; with 132 multiprocessors at 1.98 GHz 3.3 TFLOP/s. D = 5 (float8_e5m2):
 * 6.25 dp4a, 17 in all, 7.5 products, 3.9 TFLOP/s. Memory is no limit: a slab has 64 elements for 1024 products. Sums
 * that binary64 holds are not computed here: D = 3 (e4m3) would take 2.25 dp4a and 12 instructions, exact64.cu one of
 * FP64 and 1.7. */
#include "gpu/gemm/gemm.cuh"

#include "emu/core/accum_step.h"

enum { HU_BYTES_SIDE = 32, HU_BYTES_QUADS = 8, HU_BYTES_OFTEN = 1 << 14 };
enum { HU_BYTES_DEPTH = 4 * HU_BYTES_QUADS };

/* Digits of a slab: [digit][quad][line], a word has those of four neighbours along k. */
template <int D>
struct hu_bytes_slab {
  uint32_t word[D][HU_BYTES_QUADS][HU_BYTES_SIDE + 1];
  uint32_t special; /* a bit for each line */
};

/* |x| / 2^low, an integer: where a binary32 pattern says it, its last digits are zeros. */
HU_DEVICE uint64_t hu_bytes_integer(hu_num x, int32_t low) {
  if (x.kind != HU_KIND_FINITE) return 0;
  return x.exp >= low ? x.sig << (x.exp - low) : x.sig >> (low - x.exp);
}

/* Digits of element (line, p) go into byte p % 4 of its words. */
template <int D>
HU_DEVICE void hu_bytes_put(hu_bytes_slab<D> &z, hu_num x, int32_t low, int line, int p) {
  uint64_t v = hu_bytes_integer(x, low);
#pragma unroll
  for (int d = 0; d < D; d++) {
    int32_t digit = (int32_t)(v >> (7 * d) & 127);
    ((int8_t *)&z.word[d][p / 4][line])[p % 4] = (int8_t)(x.sign ? -digit : digit);
  }
  if (x.kind > HU_KIND_FINITE) atomicOr(&z.special, 1u << line);
}

template <int D>
HU_DEVICE void hu_bytes_fill(const hu_device_matrix &x, hu_bytes_slab<D> &z, int32_t low, size_t line0, size_t lines,
                             size_t p0, size_t k) {
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < HU_BYTES_SIDE * HU_BYTES_DEPTH; i += HU_THREADS) {
    int line = x.along ? i / HU_BYTES_DEPTH : i % HU_BYTES_SIDE, p = x.along ? i % HU_BYTES_DEPTH : i / HU_BYTES_SIDE;
    bool in = line0 + line < lines && p0 + p < k;
    hu_bytes_put<D>(z, in ? hu_matrix_num(x, line0 + line, p0 + p) : hu_num_special(HU_KIND_ZERO, 0), low, line, p);
  }
}

/* A signed number of 128 bits. */
typedef struct hu_wide_sum {
  uint64_t low;
  int64_t high;
} hu_wide_sum;

/* s += v 2^at, at < 78. */
HU_DEVICE void hu_wide_sum_add(hu_wide_sum *s, int32_t v, int at) {
  int64_t x = v;
  uint64_t low = at < 64 ? (uint64_t)x << at : 0;
  int64_t high = at == 0 ? x >> 63 : at < 64 ? x >> (64 - at) : (int64_t)((uint64_t)x << (at - 64));
  s->low += low;
  s->high = (int64_t)((uint64_t)s->high + (uint64_t)high + (s->low < low));
}

HU_DEVICE hu_long hu_wide_sum_number(hu_wide_sum s, int32_t exp) {
  hu_long z = hu_long_special(s.high || s.low ? HU_KIND_FINITE : HU_KIND_ZERO, s.high < 0);
  z.hi = (uint64_t)s.high;
  z.lo = s.low;
  if (z.sign) {
    z.lo = 0 - z.lo;
    z.hi = ~z.hi + (z.lo == 0);
  }
  z.exp = exp;
  return z;
}

/* A sum whose terms decide: some of them are no numbers, or all products and C add up to zero. */
static __device__ __noinline__ hu_num hu_bytes_special(const hu_gemm_args &g, size_t i, size_t j, hu_num x,
                                                       uint32_t *made) {
  const uint32_t flags = hu_sum_flags(g, i, j), both = HU_TERM_INF | HU_TERM_MINUS_INF;
  *made = 0;
  if ((flags & (HU_TERM_NAN | HU_TERM_INVALID)) || (flags & both) == both) {
    *made = !(flags & HU_TERM_NAN);
    return hu_num_special(HU_KIND_NAN, 0);
  }
  if (flags & both) return hu_num_special(HU_KIND_INF, (flags & HU_TERM_MINUS_INF) != 0);
  if (x.kind == HU_KIND_ZERO)
    x.sign = !(flags & HU_TERM_NOT_MINUS_ZERO) || (g.dspec.round == HU_RTN && (flags & HU_TERM_NOT_PLUS_ZERO));
  return x;
}

HU_DEVICE uint32_t hu_bytes_store(const hu_gemm_args &g, size_t i, size_t j, hu_wide_sum s, bool special) {
  hu_num c = g.c.present ? hu_matrix_num(g.c, i, j) : hu_num_special(HU_KIND_ZERO, 0);
  hu_num x = hu_long_add(hu_wide_sum_number(s, g.low), hu_long_of(c), 0);
  uint32_t made = 0, minus = c.kind == HU_KIND_ZERO && c.sign;
  if (x.kind == HU_KIND_ZERO) x.sign = 0; /* unless all terms are -0, or it goes toward negative */
  if (special || x.kind > HU_KIND_FINITE || (x.kind == HU_KIND_ZERO && (minus || g.dspec.round == HU_RTN)))
    x = hu_bytes_special(g, i, j, x, &made);
  return hu_gemm_store(g, i, j, x, made);
}

/* Adds the sums of 32 bits to those of 128, and empties them. */
template <int D>
HU_DEVICE void hu_bytes_settle(int32_t (&acc)[2][2][2 * D - 1], hu_wide_sum (&sum)[2][2]) {
#pragma unroll
  for (int r = 0; r < 2; r++) {
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
      for (int w = 0; w < 2 * D - 1; w++) {
        hu_wide_sum_add(&sum[r][c], acc[r][c][w], 7 * w);
        acc[r][c][w] = 0;
      }
    }
  }
}

/* The products of a slab. Thread (y, x) has rows y and y + 16, columns x and x + 16. */
template <int D>
HU_DEVICE void hu_bytes_products(const hu_bytes_slab<D> &a, const hu_bytes_slab<D> &b, int quads,
                                 int32_t (&acc)[2][2][2 * D - 1]) {
  int y = (int)threadIdx.x / 16, x = (int)threadIdx.x % 16;
#pragma unroll 1
  for (int q = 0; q < quads; q++) {
    uint32_t u[2][D], v[2][D];
#pragma unroll
    for (int d = 0; d < D; d++) {
#pragma unroll
      for (int r = 0; r < 2; r++) {
        u[r][d] = a.word[d][q][y + 16 * r];
        v[r][d] = b.word[d][q][x + 16 * r];
      }
    }
#pragma unroll
    for (int d = 0; d < D; d++) {
#pragma unroll
      for (int e = 0; e < D; e++) {
#pragma unroll
        for (int r = 0; r < 4; r++)
          acc[r / 2][r % 2][d + e] = __dp4a((int)u[r / 2][d], (int)v[r % 2][e], acc[r / 2][r % 2][d + e]);
      }
    }
  }
}

template <int D>
HU_KERNEL __launch_bounds__(HU_THREADS, 2)
    hu_gemm_bytes_kernel(const __grid_constant__ hu_gemm_args g, int32_t low_a, int32_t low_b) {
  __shared__ hu_bytes_slab<D> a, b;
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  size_t down = (g.m + HU_BYTES_SIDE - 1) / HU_BYTES_SIDE, across = (g.n + HU_BYTES_SIDE - 1) / HU_BYTES_SIDE;
  hu_counts counts;
  hu_counts_clear(&counts);
  for (size_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    size_t row0 = tile / across * HU_BYTES_SIDE, col0 = tile % across * HU_BYTES_SIDE;
    int32_t acc[2][2][2 * D - 1] = {};
    hu_wide_sum sum[2][2] = {};
    __syncthreads();
    if (threadIdx.x == 0) a.special = b.special = 0;
    for (size_t p0 = 0; p0 < g.k; p0 += HU_BYTES_DEPTH) {
      int quads = g.k - p0 < HU_BYTES_DEPTH ? (int)(g.k - p0 + 3) / 4 : (int)HU_BYTES_QUADS;
      __syncthreads();
      hu_bytes_fill<D>(g.a, a, low_a, row0, g.m, p0, g.k);
      hu_bytes_fill<D>(g.b, b, low_b, col0, g.n, p0, g.k);
      __syncthreads();
      hu_bytes_products<D>(a, b, quads, acc);
      if ((p0 + HU_BYTES_DEPTH) % HU_BYTES_OFTEN == 0) hu_bytes_settle<D>(acc, sum);
    }
    hu_bytes_settle<D>(acc, sum);
#pragma unroll 1
    for (int e = 0; e < 4; e++) {
      int y = (int)threadIdx.x / 16 + 16 * (e / 2), x = (int)threadIdx.x % 16 + 16 * (e % 2);
      hu_wide_sum s = e == 0 ? sum[0][0] : e == 1 ? sum[0][1] : e == 2 ? sum[1][0] : sum[1][1];
      bool special = g.k && ((a.special >> y & 1) || (b.special >> x & 1));
      if (row0 + y >= g.m || col0 + x >= g.n) continue;
      uint32_t events = hu_bytes_store(g, row0 + y, col0 + x, s, special);
      if (g.events) hu_counts_add(&counts, events);
    }
  }
  if (g.events) hu_counts_flush(&counts, g.events, sums);
}

hu_status hu_gemm_launch_bytes(const hu_gemm_args *g, void *stream) {
  size_t down = (g->m - 1) / HU_BYTES_SIDE + 1, across = (g->n - 1) / HU_BYTES_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  int32_t low_a = g->a.spec.emin - g->a.spec.m, low_b = g->b.spec.emin - g->b.spec.m;
  int32_t bits_a = g->a.spec.emax + 1 - low_a, bits_b = g->b.spec.emax + 1 - low_b;
  hu_gemm_args h = *g;
  h.low = low_a + low_b;
  auto kernel = bits_a <= 35 && bits_b <= 35 ? hu_gemm_bytes_kernel<5> : hu_gemm_bytes_kernel<6>;
  HU_LAUNCH(kernel, hu_grid_size(tiles, 64), 0, stream, h, low_a, low_b);
  return hu_launched();
}
