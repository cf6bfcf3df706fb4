/* SPDX-License-Identifier: MIT */
/* gpu/gemm/gemm.cuh - what the matrix kernels share: reading operands, the last rounding, special sums. */
#ifndef HALFULP_GPU_GEMM_CUH
#define HALFULP_GPU_GEMM_CUH

#include "emu/core/round.h"
#include "gpu/base/map.cuh"
#include "gpu/base/batch.h"
#include "halfulp/gemm.h"

/* One matrix as a kernel sees it. Lines are rows of A, C and D but columns of B: element (line, term) of A and B, term
 * along k, is at line * line_step + term * step. */
typedef struct hu_device_matrix {
  const void *data;
  size_t line_step, step;
  hu_spec spec;
  uint8_t size;    /* bytes of a code; 0: binary32 values */
  uint8_t along;   /* 1: neighbours in memory are neighbours along k */
  uint8_t quads;   /* 1: four neighbours from a multiple of four on may be loaded at once */
  uint8_t present; /* 0: C is absent */
  /* Codes of 16 bits with the sign on top and gradual subnormals: the magnitude shifted up is the value (plain = 1), or
   * the value times a power of two, which one product removes (2), subnormal or not, up to plain_most. */
  uint8_t plain, plain_shift;
  uint32_t plain_mask, plain_most, plain_factor;
} hu_device_matrix;

typedef struct hu_gemm_args {
  size_t m, n, k;
  hu_device_matrix a, b, c; /* c: lines are rows, terms are columns */
  void *d;
  size_t ldd;
  hu_spec dspec;
  uint8_t dsize; /* bytes of a code; 0: binary32 values */
  uint8_t stochastic;
  int32_t low; /* wide: every term is a multiple of 2^low */
  hu_stream stream;
  hu_events *events;
} hu_gemm_args;

HU_DEVICE uint32_t hui_matrix_raw(const hu_device_matrix &x, size_t at) {
  switch (x.size) {
    case 1: return ((const uint8_t *)x.data)[at];
    case 2: return ((const uint16_t *)x.data)[at];
    default: return ((const uint32_t *)x.data)[at];
  }
}

HU_DEVICE hu_num hui_matrix_num(const hu_device_matrix &x, size_t line, size_t term) {
  uint32_t raw = hui_matrix_raw(x, line * x.line_step + term * x.step);
  return x.size ? hui_unpack(&x.spec, raw) : hui_unpack32(raw);
}

/* ---- products of a batch ---- */

/* The products that a launch computes: from `first` on, `blocks` blocks each. */
typedef struct hu_gemm_range {
  hu_gemm_batch batch;
  uint64_t first;
  uint32_t blocks;
} hu_gemm_range;

/* Stores the arguments of this block's product in shared memory, where kernels read them as if they were their own.
 * Every thread of the block must call it. */
HU_DEVICE void hui_gemm_pick(hu_gemm_args *own, const hu_gemm_args &args, const hu_gemm_range &range) {
  if (threadIdx.x == 0) {
    const uint64_t product = range.first + blockIdx.x / range.blocks;
    const size_t outer = product / range.batch.inner, i = product % range.batch.inner;
    *own = args;
    own->a.data = (const uint32_t *)args.a.data + outer * range.batch.a[0] + i * range.batch.a[1];
    own->b.data = (const uint32_t *)args.b.data + outer * range.batch.b[0] + i * range.batch.b[1];
    own->d = (uint32_t *)args.d + outer * range.batch.d[0] + i * range.batch.d[1];
    if (range.batch.own_words) {
      const uint64_t low = hui_word(args.stream, 2 * product), high = hui_word(args.stream, 2 * product + 1);
      own->stream.key = high << 32 | low;
      own->stream.counter = 0;
    }
  }
  __syncthreads();
}

/* Calls launch(range, products) until all products are computed: a grid has at most 2^31 - 1 blocks, a product
 * `blocks`. */
template <class Launch>
static inline hu_status hui_gemm_each_range(const hu_gemm_batch *batch, uint32_t blocks, Launch launch) {
  const uint64_t all = (uint64_t)batch->outer * batch->inner, most = 0x7FFFFFFFu / blocks;
  hu_gemm_range range = {*batch, 0, blocks};
  for (; range.first < all; range.first += most) {
    const uint64_t left = all - range.first;
    launch(range, (uint32_t)((left < most ? left : most) * blocks));
  }
  return hui_launched();
}

/* ---- what a sum is made of ---- */

enum {
  HU_TERM_NAN = 1,     /* an operand is NaN */
  HU_TERM_INVALID = 2, /* infinity times zero */
  HU_TERM_INF = 4,     /* a term is +infinity */
  HU_TERM_MINUS_INF = 8,
  HU_TERM_NOT_MINUS_ZERO = 16, /* a term is not -0 */
  HU_TERM_NOT_PLUS_ZERO = 32
};

HU_DEVICE uint32_t hui_term_flags(uint32_t kind, uint32_t sign) {
  if (kind == HU_KIND_NAN) return HU_TERM_NAN;
  if (kind == HU_KIND_INF) return sign ? HU_TERM_MINUS_INF : HU_TERM_INF;
  if (kind == HU_KIND_ZERO) return sign ? HU_TERM_NOT_PLUS_ZERO : HU_TERM_NOT_MINUS_ZERO;
  return HU_TERM_NOT_PLUS_ZERO | HU_TERM_NOT_MINUS_ZERO;
}

HU_DEVICE uint32_t hui_product_flags(hu_num a, hu_num b) {
  uint32_t sign = (uint32_t)(a.sign ^ b.sign);
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return HU_TERM_NAN;
  if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) {
    if (a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO) return HU_TERM_INVALID;
    return hui_term_flags(HU_KIND_INF, sign);
  }
  return hui_term_flags(a.kind == HU_KIND_ZERO || b.kind == HU_KIND_ZERO ? HU_KIND_ZERO : HU_KIND_FINITE, sign);
}

/* Returns the flags of all terms of element (i, j), for sums that are NaN or zero. */
static __device__ __noinline__ uint32_t hui_sum_flags(const hu_gemm_args &args, size_t i, size_t j) {
  uint32_t flags = HU_TERM_NOT_MINUS_ZERO; /* an absent C is +0 */
  if (args.c.present) {
    hu_num c = hui_matrix_num(args.c, i, j);
    flags = hui_term_flags(c.kind, c.sign);
  }
  for (size_t term = 0; term < args.k; term++)
    flags |= hui_product_flags(hui_matrix_num(args.a, i, term), hui_matrix_num(args.b, j, term));
  return flags;
}

/* ---- the last rounding ---- */

/* Rounds the sum x of element (i, j) into D and returns the events; a NaN that is not that of an operand (made) is an
 * invalid operation. It is called, not inlined, since the sums of a tile hold most of the registers around it. */
static __device__ __noinline__ uint32_t hui_gemm_store(const hu_gemm_args &args, size_t i, size_t j, hu_num x,
                                                       uint32_t made) {
  uint32_t ev, word = args.stochastic ? hui_word(args.stream, (uint64_t)i * args.n + j) : 0;
  uint32_t code = hui_round(&args.dspec, x, word >> ((32u - args.dspec.bits) & 31u), &ev);
  size_t at = i * args.ldd + j;
  switch (args.dsize) {
    case 0: ((uint32_t *)args.d)[at] = hui_pack32(hui_unpack(&args.dspec, code)); break;
    case 1: ((uint8_t *)args.d)[at] = (uint8_t)code; break;
    case 2: ((uint16_t *)args.d)[at] = (uint16_t)code; break;
    default: ((uint32_t *)args.d)[at] = code; break;
  }
  return made ? (ev & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID : ev;
}

/* ---- the kernels, by file ---- */

hu_status hui_gemm_launch_fp32(const hu_gemm_args *args, void *stream);
hu_status hui_gemm_launch_fp32_batch(const hu_gemm_args *args, const hu_gemm_batch *batch, void *stream);
hu_status hui_gemm_launch_rounded(const hu_gemm_args *args, void *stream);
hu_status hui_gemm_launch_exact32(const hu_gemm_args *args, void *stream);
hu_status hui_gemm_launch_exact64(const hu_gemm_args *args, void *stream);
/* Returns 1 if codes of 8 bits of A and B have so few digits that this is faster than hui_gemm_launch_exact64. */
int hui_gemm_bytes_serve(const hu_gemm_args *args);
hu_status hui_gemm_launch_bytes(const hu_gemm_args *args, void *stream);
hu_status hui_gemm_launch_wide(const hu_gemm_args *args, int32_t bits,
                               void *stream); /* bits of the widest sum, sign included */
struct hu_accum_args;                         /* by_model.cuh */
struct hu_accum_scales;                       /* by_model.cuh */
struct hu_seq_args;                           /* seq.h */
hu_status hui_gemm_launch_seq(const hu_gemm_args *args, const struct hu_accum_args *model,
                              const struct hu_seq_args *seq, void *stream);
struct hu_unfused_args; /* unfused.h */
hu_status hui_gemm_launch_unfused(const hu_gemm_args *args, const struct hu_accum_args *model,
                                  const struct hu_unfused_args *unfused, void *stream);
hu_status hui_gemm_launch_half(const hu_gemm_args *args, const hu_spec *spec, int brain, void *stream);
/* Returns 1 and *plan if hui_gemm_launch_blocks takes the model. scales may be NULL. */
int hui_gemm_blocks_plan(struct hu_unit_plan *plan, const hu_gemm_args *args, const struct hu_accum_args *model,
                         const struct hu_accum_scales *scales);
hu_status hui_gemm_launch_blocks(const hu_gemm_args *args, const struct hu_accum_args *model,
                                 const struct hu_accum_scales *scales, const struct hu_unit_plan *plan, void *stream);
int hui_gemm_align_serves(const struct hu_accum_args *model);
hu_status hui_gemm_launch_align(const hu_gemm_args *args, const struct hu_accum_args *model, void *stream);
hu_status hui_gemm_launch_model(const hu_gemm_args *args, const struct hu_accum_args *model, void *stream);
hu_status hui_gemm_launch_model_batch(const hu_gemm_args *args, const struct hu_accum_args *model,
                                      const hu_gemm_batch *batch, void *stream);
hu_status hui_gemm_launch_scaled(const hu_gemm_args *args, const struct hu_accum_args *model,
                                 const struct hu_accum_scales *scales, void *stream);

#endif
