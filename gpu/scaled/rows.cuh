/* SPDX-License-Identifier: MIT */
/* gpu/scaled/rows.cuh - what the kernels of blocks along rows share: four neighbours of a block rounded to nearest, or
 * with R added; their events, counted in bytes; and the ones that are left to emu/core/scaled.h. */
#ifndef HALFULP_GPU_ROWS_CUH
#define HALFULP_GPU_ROWS_CUH

#include "gpu/scaled/scaled.cuh"

#define HU_SPECIAL_BLOCK 0x80000000u

/* Counts in bytes, one for each of a lane's four elements: at most 4 a strip. */
typedef struct hu_row_counts {
  uint32_t inexact, underflow, to_zero, subnormal, overflow, strips;
} hu_row_counts;

HU_DEVICE uint32_t hu_bytes_sum(uint32_t v) {
  v = (v & 0x00FF00FF) + ((v >> 8) & 0x00FF00FF);
  return (v + (v >> 16)) & 0xFFFF;
}

/* sums: of the block of threads, in shared memory. */
HU_DEVICE void hu_row_counts_add_up(hu_row_counts *r, unsigned long long sums[HU_EVENT_KINDS]) {
  uint32_t counts[6];
  counts[0] = counts[1] = hu_bytes_sum(r->overflow);
  counts[2] = hu_bytes_sum(r->underflow);
  counts[3] = hu_bytes_sum(r->to_zero);
  counts[4] = hu_bytes_sum(r->subnormal);
  counts[5] = hu_bytes_sum(r->inexact);
#pragma unroll
  for (int i = 0; i < 6; i++)
    if (counts[i]) atomicAdd(&sums[i], (unsigned long long)counts[i]);
  r->inexact = r->underflow = r->to_zero = r->subnormal = r->overflow = r->strips = 0;
}

/* The counts of all threads of the block, added to *events. Every thread of the block must come here. */
HU_DEVICE void hu_row_counts_flush(hu_row_counts *r, hu_events *events, unsigned long long sums[HU_EVENT_KINDS]) {
  hu_row_counts_add_up(r, sums);
  __syncthreads();
  if (threadIdx.x < HU_EVENT_KINDS && sums[threadIdx.x])
    atomicAdd((unsigned long long *)events + threadIdx.x, sums[threadIdx.x]);
}

/* The bytes number `byte` of four words. */
HU_DEVICE uint32_t hu_join_bytes(const uint32_t v[4], uint32_t selector) {
  return __byte_perm(__byte_perm(v[0], v[1], selector), __byte_perm(v[2], v[3], selector), 0x5410);
}

/* ---- the four elements of a lane ---- */

/* codes: limited, without signs. inexact, small (below not_tiny), beyond (the range): bytes of 0 and 1. */
HU_DEVICE void hu_row_count(const hu_scaled_args &a, uint32_t codes, uint32_t inexact, uint32_t small, uint32_t beyond,
                            hu_row_counts *r) {
  uint32_t some = (codes + 0x7F7F7F7F) >> 7 & 0x01010101;
  uint32_t normal = (codes + (0x80u - (1u << a.narrow.m)) * 0x01010101u) >> 7 & 0x01010101;
  r->inexact += inexact;
  r->underflow += inexact & small & ~beyond;
  r->to_zero += inexact & ~some;
  r->subnormal += some & ~normal & ~beyond;
  r->overflow += beyond;
}

/* May R be added in hu_nearest_added under this block's scale? Sums are finite, and 2^32 over a step is a number. */
HU_DEVICE bool hu_row_may_add(const hu_scaled_args &a, const hu_element_way &w) {
  uint32_t largest = (a.top + (w.low - a.low)) >> 23;
  return a.added && w.kind == HU_ELEMENT_WAY_SHORT && (int32_t)(w.low >> 23) >= 32 + a.narrow.m &&
         largest + (uint32_t)a.narrow.d0 <= 252;
}

/* Ties to even; Added: R added, without events. top: of the block. */
template <bool Value, bool Powers, bool Added>
HU_DEVICE uint32_t hu_row_nearest(const hu_scaled_args &a, const hu_element_way &w, uint32_t top, hu_four<uint32_t> *x,
                                  const uint32_t words[4], hu_row_counts *r) {
  const hu_spec *f = &a.scaler.element;
  uint32_t low = w.low, shift = low - a.low, limit = a.top + shift, small_below = a.not_tiny + shift;
  uint32_t code[4], y[4], inexact = 0, small = 0, beyond = 0;
  float value[4];
  if (!Powers && a.scaler.steps == HU_STEPS_DIVIDE) {
#pragma unroll
    for (int i = 0; i < 4; i++) y[i] = hu_quotient_of(a, x->v[i], w.by);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) y[i] = Powers ? x->v[i] : __float_as_uint(__fmul_rn(__uint_as_float(x->v[i]), w.by));
  }
  if (Added) {
    uint32_t most = limit + (1u << a.narrow.d0), spare = 32u - a.narrow.bits;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t m = y[i] & 0x7FFFFFFF;
      code[i] = hu_nearest_added(low, a.narrow.d0, spare, m < most ? m : most, words[i], &value[i]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) code[i] = hu_nearest(low, a.narrow.d0, y[i], &value[i]);
  }
  if (!Added && a.events) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (value[i] != fabsf(__uint_as_float(y[i]))) inexact += 1u << (8 * i);
      if ((y[i] & 0x7FFFFFFF) < small_below) small += 1u << (8 * i);
    }
    if (Powers ? top > limit : 1) {
#pragma unroll
      for (int i = 0; i < 4; i++)
        if (code[i] > f->max_code) beyond += 1u << (8 * i);
      inexact |= beyond;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) code[i] = code[i] < f->max_code ? code[i] : f->max_code;
  if (!Added && a.events) hu_row_count(a, hu_join_bytes(code, 0x0040), inexact, small, beyond, r);
  if (Value) {
    float largest = __uint_as_float(limit);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sign = code[i] || f->negzero ? y[i] & 0x80000000 : 0;
      float v = __uint_as_float(__float_as_uint(fminf(value[i], largest)) | sign);
      x->v[i] = __float_as_uint(Powers ? v : __fmul_rn(v, w.back));
    }
    return 0;
  }
  if (a.scaler.coding == HU_CODING_TWOS) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      if ((int32_t)y[i] < 0 && code[i]) code[i] = (f->sign_mask << 1) - code[i];
    return hu_join_bytes(code, 0x0040);
  }
  uint32_t codes = hu_join_bytes(code, 0x0040), signs = hu_join_bytes(y, 0x0073) & 0x80808080;
  if (!f->negzero) signs &= codes + 0x7F7F7F7F;
  return codes | signs >> a.narrow.sign_shift % 8;
}

/* ---- one element after another ---- */

/* A block's shared memory: with sums of events, and a place for a shared scale for each thread. */
typedef struct hu_row_memory {
  hu_scaled_tensor t;
  unsigned long long sums[HU_EVENT_KINDS];
  hu_shared shared[HU_THREADS];
} hu_row_memory;

/* Every thread of the block must come here. */
HU_DEVICE void hu_row_begin(const hu_scaled_args &a, hu_row_memory *k, hu_row_counts *r, hu_counts *c) {
  r->inexact = r->underflow = r->to_zero = r->subnormal = r->overflow = r->strips = 0;
  hu_counts_clear(c);
  if (threadIdx.x < HU_EVENT_KINDS) k->sums[threadIdx.x] = 0;
  hu_scaled_begin(a, &k->t);
}

HU_DEVICE hu_shared *hu_row_core(hu_row_memory *k, uint32_t top) {
  hu_shared *b = &k->shared[threadIdx.x];
  hu_core_shared(&k->t.scaler, top & ~HU_SPECIAL_BLOCK, (top & HU_SPECIAL_BLOCK) != 0, b);
  return b;
}

/* A lane's four elements by the core; top: of their block, with its mark. They are read again, so that the usual way
 * need not keep them. */
template <bool Value>
static __device__ __noinline__ void hu_row_left(const hu_scaled_args &a, hu_row_memory *k, uint32_t top, size_t row,
                                                size_t col) {
  size_t end = col >= a.cols ? col : a.cols - col < 4 ? a.cols : col + 4;
  const hu_shared *b = hu_row_core(k, top);
  for (; col < end; col++) {
    uint64_t z = hu_core_element(&k->t.scaler, b, a.x[row * a.ldx + col], 0, Value);
    if (Value) {
      a.z[row * a.ldz + col] = (uint32_t)z;
    } else {
      a.codes[row * a.ld + col] = (uint8_t)z;
    }
    for (uint32_t e = a.events ? (uint32_t)(z >> 32) : 0; e; e &= e - 1) atomicAdd(&k->sums[__ffs((int)e) - 1], 1ull);
  }
}

/* Other modes: n elements from `number` on; returns the codes joined. */
template <bool Value>
HU_DEVICE uint32_t hu_row_singly(const hu_scaled_args &a, hu_row_memory *k, const hu_element_way &w, uint32_t top,
                                 uint64_t number, int n, hu_four<uint32_t> *x, hu_counts *c) {
  uint32_t words[4] = {0, 0, 0, 0}, joined = 0;
  if (a.stochastic) hu_words(a.stream, number, words);
  const hu_shared *b = w.kind == HU_ELEMENT_WAY_CORE ? hu_row_core(k, top) : NULL;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    uint32_t u = i == 0 ? x->v[0] : i == 1 ? x->v[1] : i == 2 ? x->v[2] : x->v[3];
    uint32_t word = i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : words[3];
    uint64_t z = w.kind == HU_ELEMENT_WAY_CORE ? hu_core_element(&k->t.scaler, b, u, word, Value)
                                               : hu_lanes_element(a, w, u, word);
    if (a.events) hu_counts_add(c, (uint32_t)(z >> 32));
    joined |= (uint32_t)z << (8 * i & 31);
#pragma unroll
    for (int j = 0; j < 4; j++) x->v[j] = i == j ? (uint32_t)z : x->v[j];
  }
  return joined;
}

#endif
