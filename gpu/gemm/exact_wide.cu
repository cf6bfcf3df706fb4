/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact_wide.cu - the model `exact` for every pair of formats: a wide integer, its limbs spread over a warp.
 *
 * Limb q has weight 2^(low + 32 q) and sits in lane q / SLOTS as a signed 64-bit number. Lanes read and multiply 32
 * terms at a time; then each term goes round, and every lane adds to its limbs the 32 bits of the product that belong
 * there. A limb takes 2^30 such pieces without overflow; carries move up after that many terms and at the end.
 * Integers: any order gives the same sum.
 *
 * Limit. A term takes its turn in all 32 lanes: three words by shuffles, and their piece shifted and added, some 35
 * instructions of the warp in all, 1140 of lanes by count. A multiprocessor of compute capability 9.0 starts 128 a
 * clock: 0.11 products, with 132 multiprocessors at 1.98 GHz 59 GFLOP/s. No use of this text can reach 100. Memory is
 * no limit: each operand is read once an element of D, from the caches, 4 bytes for 1140 instructions. */
#include "gpu/gemm/gemm.cuh"

template <int SLOTS>
struct hu_warp_integer {
  int64_t limb[SLOTS];

  __device__ __forceinline__ void clear(void) {
#pragma unroll
    for (int s = 0; s < SLOTS; s++) limb[s] = 0;
  }

  /* sig 2^(low + at), minus if negative. */
  __device__ __forceinline__ void add(uint64_t sig, int32_t at, int32_t negative) {
    int32_t d = at - 32 * SLOTS * (int32_t)(threadIdx.x & 31);
#pragma unroll
    for (int s = 0; s < SLOTS; s++, d -= 32) {
      uint32_t piece = d >= 0 ? (uint32_t)(sig << (d & 31)) : (uint32_t)(sig >> (-d & 63));
      if (d > 31 || d < -63) piece = 0;
      limb[s] += negative ? -(int64_t)piece : (int64_t)piece;
    }
  }

  static __device__ __forceinline__ bool top(int s) { return s == SLOTS - 1 && (threadIdx.x & 31) == 31; }

  /* Moves carries one limb up; the top limb keeps its own. Returns whether some are left, in all lanes. */
  __device__ __forceinline__ bool carry(void) {
    int64_t high[SLOTS];
    bool left = false;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
      high[s] = top(s) ? 0 : limb[s] >> 32;
      if (!top(s)) limb[s] &= 0xFFFFFFFF;
    }
    int64_t below = __shfl_up_sync(HU_ALL_LANES, (long long)high[SLOTS - 1], 1);
    if ((threadIdx.x & 31) == 0) below = 0;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) {
      limb[s] += s == 0 ? below : high[s > 0 ? s - 1 : 0];
      left = left || (!top(s) && limb[s] >> 32 != 0);
    }
    return __any_sync(HU_ALL_LANES, left);
  }

  __device__ __forceinline__ void propagate_carries(void) {
    while (carry()) {
    }
  }

  /* Limb q of a settled number >= 0, in all lanes; 0 below the lowest. */
  __device__ __forceinline__ uint32_t at(int32_t q) const {
    uint32_t v = 0;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) v |= (uint32_t)limb[s] & (0u - (uint32_t)(q % SLOTS == s));
    uint32_t w = __shfl_sync(HU_ALL_LANES, v, (q < 0 ? 0 : q) / SLOTS);
    return q < 0 ? 0 : w;
  }

  /* The number's 64 leading digits and whether there are more. Settles. */
  __device__ __forceinline__ hu_num number(int32_t low) {
    uint32_t lane = threadIdx.x & 31;
    propagate_carries();
    uint32_t sign = __shfl_sync(HU_ALL_LANES, (uint32_t)(limb[SLOTS - 1] < 0), 31);
    if (sign) {
#pragma unroll
      for (int s = 0; s < SLOTS; s++) limb[s] = -limb[s];
      propagate_carries();
    }
    int32_t mine = -1;
#pragma unroll
    for (int s = 0; s < SLOTS; s++)
      if (limb[s]) mine = (int32_t)lane * SLOTS + s;
    uint32_t some = __ballot_sync(HU_ALL_LANES, mine >= 0);
    if (!some) return hui_num_special(HU_KIND_ZERO, 0);
    int32_t high = __shfl_sync(HU_ALL_LANES, mine, 31 - __clz((int)some));
    uint32_t h = at(high), m = at(high - 1), l = at(high - 2);
    int32_t lead = __clz((int)h);
    bool lost = false;
#pragma unroll
    for (int s = 0; s < SLOTS; s++) lost = lost || (limb[s] && (int32_t)lane * SLOTS + s < high - 2);
    hu_num x;
    x.sig = ((uint64_t)h << 32 | m) << lead;
    if (lead) x.sig |= l >> (32 - lead);
    x.exp = 32 * high + 31 - lead - 63 + low;
    x.kind = HU_KIND_FINITE;
    x.sign = (uint8_t)sign;
    x.sticky = (uint8_t)(__any_sync(HU_ALL_LANES, lost) || l << lead != 0);
    return x;
  }
};

/* Term t of element (i, j): product t for t < k, C for t = k. */
HU_DEVICE hu_num hui_wide_term(const hu_gemm_args &g, size_t i, size_t j, size_t t, uint32_t *flags) {
  if (t > g.k) return hui_num_special(HU_KIND_ZERO, 0); /* past the end: no flags */
  if (t == g.k) {
    hu_num c = g.c.present ? hui_matrix_num(g.c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
    *flags |= hui_term_flags(c.kind, c.sign);
    return c;
  }
  hu_num a = hui_matrix_num(g.a, i, t), b = hui_matrix_num(g.b, j, t);
  *flags |= hui_product_flags(a, b);
  return hui_num_finite((uint32_t)(a.sign ^ b.sign), a.sig * b.sig,
                        a.exp + b.exp); /* zeros and specials have sig = 0 */
}

template <int SLOTS>
HU_DEVICE void hui_wide_element(const hu_gemm_args &g, size_t i, size_t j, hu_counts *c) {
  const size_t often = (size_t)1 << 30;
  uint32_t lane = threadIdx.x & 31, flags = 0;
  hu_warp_integer<SLOTS> sum;
  sum.clear();
  for (size_t base = 0; base <= g.k; base += 32) {
    hu_num x = hui_wide_term(g, i, j, base + lane, &flags);
    int32_t place = (x.exp - g.low) * 2 + x.sign;
    int count = g.k - base < 31 ? (int)(g.k - base) + 1 : 32;
    for (int t = 0; t < count; t++) {
      uint64_t sig = __shfl_sync(HU_ALL_LANES, (unsigned long long)x.sig, t);
      int32_t p = __shfl_sync(HU_ALL_LANES, place, t);
      if (sig) sum.add(sig, p >> 1, p & 1);
    }
    if (base % often == often - 32) sum.carry();
  }
  flags = __reduce_or_sync(HU_ALL_LANES, flags);
  hu_num x = sum.number(g.low);
  uint32_t made = 0;
  const uint32_t both = HU_TERM_INF | HU_TERM_MINUS_INF;
  if ((flags & (HU_TERM_NAN | HU_TERM_INVALID)) || (flags & both) == both) {
    x = hui_num_special(HU_KIND_NAN, 0);
    made = !(flags & HU_TERM_NAN);
  } else if (flags & both) {
    x = hui_num_special(HU_KIND_INF, (flags & HU_TERM_MINUS_INF) != 0);
  } else if (x.kind == HU_KIND_ZERO) {
    x.sign = !(flags & HU_TERM_NOT_MINUS_ZERO) || (g.dspec.round == HU_RTN && (flags & HU_TERM_NOT_PLUS_ZERO));
  }
  if (lane != 0) return;
  uint32_t events = hui_gemm_store(g, i, j, x, made);
  if (g.events) hui_counts_add(c, events);
}

template <int SLOTS>
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_gemm_wide_kernel(const __grid_constant__ hu_gemm_args g) {
  const size_t warps = HU_THREADS / 32;
  hu_counts c;
  hui_counts_clear(&c);
  size_t elements = g.m * g.n;
  for (size_t e = blockIdx.x * warps + threadIdx.x / 32; e < elements; e += gridDim.x * warps)
    hui_wide_element<SLOTS>(g, e / g.n, e % g.n, &c);
  if (g.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&c, g.events, sums);
  }
}

hu_status hui_gemm_launch_wide(const hu_gemm_args *g, int32_t bits, void *stream) {
  size_t blocks = (g->m * g->n - 1) / (HU_THREADS / 32) + 1;
  void (*kernel)(const hu_gemm_args) = hui_gemm_wide_kernel<5>; /* 5120 bits: the widest pair has under 4400 */
  if (bits <= 1024) {
    kernel = hui_gemm_wide_kernel<1>;
  } else if (bits <= 2048) {
    kernel = hui_gemm_wide_kernel<2>;
  }
  HU_LAUNCH(kernel, hui_grid_size(blocks, 64), 0, stream, *g);
  return hui_launched();
}
