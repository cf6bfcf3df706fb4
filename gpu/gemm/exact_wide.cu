/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact_wide.cu - the model `exact` for every pair of formats: a wide integer whose limbs are spread over a
 * warp.
 *
 * Limb number i has weight 2^(low + 32 i) and is in lane i / SLOTS as a signed 64-bit number. Lanes read and multiply
 * 32 terms at a time; then all lanes get each term in turn, and add to their limbs the 32 bits of the product that
 * belong there. A limb takes 2^30 such pieces without overflow; carries move up after that many terms and at the end.
 * These are integers, so that any order gives the same sum.
 *
 * Limit. Every lane takes part in each term: three shuffles, a shift and an addition, some 35 instructions of the warp
 * in all, 1140 of lanes by count. A multiprocessor of compute capability 9.0 starts 128 per clock: 0.11 products, with
 * 132 multiprocessors at 1.98 GHz 59 GFLOP/s. Memory is no limit: each operand is read once for an element of D, from
 * the caches, 4 bytes for 1140 instructions. */
#include "gpu/gemm/gemm.cuh"

template <int SLOTS>
struct hu_warp_integer {
  int64_t limb[SLOTS];

  __device__ __forceinline__ void clear(void) {
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) limb[slot] = 0;
  }

  /* Adds sig 2^(low + at), or subtracts it if negative. */
  __device__ __forceinline__ void add(uint64_t sig, int32_t at, int32_t negative) {
    int32_t distance = at - 32 * SLOTS * (int32_t)(threadIdx.x & 31);
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++, distance -= 32) {
      uint32_t piece = distance >= 0 ? (uint32_t)(sig << (distance & 31)) : (uint32_t)(sig >> (-distance & 63));
      if (distance > 31 || distance < -63) piece = 0;
      limb[slot] += negative ? -(int64_t)piece : (int64_t)piece;
    }
  }

  static __device__ __forceinline__ bool top(int slot) { return slot == SLOTS - 1 && (threadIdx.x & 31) == 31; }

  /* Moves carries one limb up; the top limb keeps its own. Returns whether some are left, in all lanes. */
  __device__ __forceinline__ bool carry(void) {
    int64_t high[SLOTS];
    bool left = false;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
      high[slot] = top(slot) ? 0 : limb[slot] >> 32;
      if (!top(slot)) limb[slot] &= 0xFFFFFFFF;
    }
    int64_t below = __shfl_up_sync(HU_ALL_LANES, (long long)high[SLOTS - 1], 1);
    if ((threadIdx.x & 31) == 0) below = 0;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) {
      limb[slot] += slot == 0 ? below : high[slot > 0 ? slot - 1 : 0];
      left = left || (!top(slot) && limb[slot] >> 32 != 0);
    }
    return __any_sync(HU_ALL_LANES, left);
  }

  __device__ __forceinline__ void propagate_carries(void) {
    while (carry()) {
    }
  }

  /* Returns, in all lanes, limb `number` of an integer >= 0 without carries; 0 below the lowest. */
  __device__ __forceinline__ uint32_t at(int32_t number) const {
    uint32_t own = 0;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) own |= (uint32_t)limb[slot] & (0u - (uint32_t)(number % SLOTS == slot));
    uint32_t found = __shfl_sync(HU_ALL_LANES, own, (number < 0 ? 0 : number) / SLOTS);
    return number < 0 ? 0 : found;
  }

  /* Returns the 64 leading digits and whether there are more. Propagates all carries. */
  __device__ __forceinline__ hu_num number(int32_t low) {
    uint32_t lane = threadIdx.x & 31;
    propagate_carries();
    uint32_t sign = __shfl_sync(HU_ALL_LANES, (uint32_t)(limb[SLOTS - 1] < 0), 31);
    if (sign) {
#pragma unroll
      for (int slot = 0; slot < SLOTS; slot++) limb[slot] = -limb[slot];
      propagate_carries();
    }
    int32_t mine = -1;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++)
      if (limb[slot]) mine = (int32_t)lane * SLOTS + slot;
    uint32_t some = __ballot_sync(HU_ALL_LANES, mine >= 0);
    if (!some) return hui_num_special(HU_KIND_ZERO, 0);
    int32_t high = __shfl_sync(HU_ALL_LANES, mine, 31 - __clz((int)some));
    uint32_t first = at(high), second = at(high - 1), third = at(high - 2);
    int32_t lead = __clz((int)first);
    bool lost = false;
#pragma unroll
    for (int slot = 0; slot < SLOTS; slot++) lost = lost || (limb[slot] && (int32_t)lane * SLOTS + slot < high - 2);
    hu_num x;
    x.sig = ((uint64_t)first << 32 | second) << lead;
    if (lead) x.sig |= third >> (32 - lead);
    x.exp = 32 * high + 31 - lead - 63 + low;
    x.kind = HU_KIND_FINITE;
    x.sign = (uint8_t)sign;
    x.sticky = (uint8_t)(__any_sync(HU_ALL_LANES, lost) || third << lead != 0);
    return x;
  }
};

/* Returns term number `term` of element (i, j): a product where it is below k, C where it is k. */
HU_DEVICE hu_num hui_wide_term(const hu_gemm_args &args, size_t i, size_t j, size_t term, uint32_t *flags) {
  if (term > args.k) return hui_num_special(HU_KIND_ZERO, 0); /* past the end, without flags */
  if (term == args.k) {
    hu_num c = args.c.present ? hui_matrix_num(args.c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
    *flags |= hui_term_flags(c.kind, c.sign);
    return c;
  }
  hu_num a = hui_matrix_num(args.a, i, term), b = hui_matrix_num(args.b, j, term);
  *flags |= hui_product_flags(a, b);
  return hui_num_finite((uint32_t)(a.sign ^ b.sign), a.sig * b.sig,
                        a.exp + b.exp); /* zeros and specials have sig = 0 */
}

template <int SLOTS>
HU_DEVICE void hui_wide_element(const hu_gemm_args &args, size_t i, size_t j, hu_counts *counts) {
  const size_t often = (size_t)1 << 30;
  uint32_t lane = threadIdx.x & 31, flags = 0;
  hu_warp_integer<SLOTS> sum;
  sum.clear();
  for (size_t base = 0; base <= args.k; base += 32) {
    hu_num x = hui_wide_term(args, i, j, base + lane, &flags);
    int32_t place = (x.exp - args.low) * 2 + x.sign;
    int count = args.k - base < 31 ? (int)(args.k - base) + 1 : 32;
    for (int from = 0; from < count; from++) {
      uint64_t sig = __shfl_sync(HU_ALL_LANES, (unsigned long long)x.sig, from);
      int32_t packed = __shfl_sync(HU_ALL_LANES, place, from);
      if (sig) sum.add(sig, packed >> 1, packed & 1);
    }
    if (base % often == often - 32) sum.carry();
  }
  flags = __reduce_or_sync(HU_ALL_LANES, flags);
  hu_num x = sum.number(args.low);
  uint32_t made = 0;
  const uint32_t both = HU_TERM_INF | HU_TERM_MINUS_INF;
  if ((flags & (HU_TERM_NAN | HU_TERM_INVALID)) || (flags & both) == both) {
    x = hui_num_special(HU_KIND_NAN, 0);
    made = !(flags & HU_TERM_NAN);
  } else if (flags & both) {
    x = hui_num_special(HU_KIND_INF, (flags & HU_TERM_MINUS_INF) != 0);
  } else if (x.kind == HU_KIND_ZERO) {
    x.sign = !(flags & HU_TERM_NOT_MINUS_ZERO) || (args.dspec.round == HU_RTN && (flags & HU_TERM_NOT_PLUS_ZERO));
  }
  if (lane != 0) return;
  uint32_t events = hui_gemm_store(args, i, j, x, made);
  if (args.events) hui_counts_add(counts, events);
}

template <int SLOTS>
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_gemm_wide_kernel(const __grid_constant__ hu_gemm_args args) {
  const size_t warps = HU_THREADS / 32;
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t elements = args.m * args.n;
  for (size_t element = blockIdx.x * warps + threadIdx.x / 32; element < elements; element += gridDim.x * warps)
    hui_wide_element<SLOTS>(args, element / args.n, element % args.n, &counts);
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

hu_status hui_gemm_launch_wide(const hu_gemm_args *args, int32_t bits, void *stream) {
  size_t blocks = (args->m * args->n - 1) / (HU_THREADS / 32) + 1;
  void (*kernel)(const hu_gemm_args) = hui_gemm_wide_kernel<5>; /* 5120 bits: the widest pair has under 4400 */
  if (bits <= 1024) {
    kernel = hui_gemm_wide_kernel<1>;
  } else if (bits <= 2048) {
    kernel = hui_gemm_wide_kernel<2>;
  }
  HU_LAUNCH(kernel, hui_grid_size(blocks, 64), 0, stream, *args);
  return hui_launched();
}
