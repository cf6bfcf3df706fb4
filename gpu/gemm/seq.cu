/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq.cu - the model seq(F), ties to even, F of 2 to 12 digits, in binary32 arithmetic.
 *
 * Step: x = acc + a b exactly, acc = rnd_F(x). t is x in binary32 rounded to odd: of x rounded down and up, which are
 * equal or neighbours, the odd one. Grid points of F and midpoints between them are even in binary32, which has two
 * digits more than they require, so t lies on x's side of each of them. E = the larger of t's exponent and emin; the
 * anchor A = 1.5 2^(E + 23 - m) is an even multiple of F's step there, in a binade where binary32 has that same step,
 * so that A + t to nearest even is A + rnd_F(t); A is taken away exactly. (emu/gemm/seq.h proves the same for the CPU's
 * lanes.)
 *
 * All of it is done 2^shift as large, which is exact, with 105 + m - emax <= shift: a sum of 2^emax and more then makes
 * the anchor 1.5 2^128, that is infinite, and acc infinite or NaN to the end, whatever follows. Nothing has to be
 * watched in between; so do infinities and NaN among the operands end, and operands that their power of two would
 * round, which are taken as NaN. What ends as infinity or NaN is computed again by emu/core/accum.h. And m - 147 <=
 * emin + shift: at the lower end, too, binary32 has the two digits more; -126 <= emin + shift: 2^E is normal. x = 0 has
 * the sign of IEEE 754 (rounded up: +0, or both -0), and so has a small x that rounds to zero: acc takes t's.
 *
 * Limit. A product costs four operations of the FP32 pipe (two multiply-adds rounded apart, A + t, - A) and, in the
 * machine code for compute capability 9.0, six of the integer pipe (for t's parity, the choice, t's exponent, the
 * floor, the sign). A multiprocessor starts 128 lanes a clock, 128 of FP32, 64 of such integer operations (CUDA C++
 * Programming Guide, arithmetic instructions): 64 / 6 = 10.7 products a clock. 132 multiprocessors at 1.98 GHz: 2.8
 * 10^12 products a second, 5.6 TFLOP/s. bench_device prints it for the device it finds. */
#include "gpu/gemm/by_model.cuh"
#include "gpu/gemm/seq.h"
#include "gpu/gemm/tile.cuh"

/* The element in integers. */
static __device__ __noinline__ hu_num hui_seq_element(const hu_gemm_args &g, const hu_accum_args &m, size_t i,
                                                      size_t j) {
  hu_lines in = hui_lines_of(g, i, j);
  hu_draw d = hui_accum_draw(g, i, j);
  return hui_sum_seq(&m.plan, &in, 0, g.k, hui_accum_start(g, m.c, i, j), &d);
}

struct hu_rule_seq {
  static const bool zeros = false;
  const hu_seq_args &q; /* kernel arguments: constants of the instructions that use them */
  const hu_accum_args &m;

  /* v times a power of two; NaN if that is not exact. */
  static __device__ __forceinline__ float moved(float v, float up, float down) {
    float w = __fmul_rn(v, up);
    return __fmul_rn(w, down) == v ? w : __uint_as_float(0x7FC00000);
  }
  __device__ __forceinline__ float a(float v) const { return moved(v, q.up_a, q.down_a); }
  __device__ __forceinline__ float b(float v) const { return moved(v, q.up_b, q.down_b); }
  __device__ __forceinline__ float c(float v) const { return b(a(v)); }

  __device__ __forceinline__ float step(float x, float y, float acc) const {
    uint32_t low = __float_as_uint(__fmaf_rd(x, y, acc)), high = __float_as_uint(__fmaf_ru(x, y, acc));
    uint32_t t = low & 1 ? low : high, e = t & 0x7F800000u;
    float power = __uint_as_float(e > q.floor ? e : q.floor);
    float sum = __fmaf_rn(power, q.scale, __uint_as_float(t));
    float z = __fmaf_rn(-power, q.scale, sum);
    return __uint_as_float(__float_as_uint(z) | (t & q.sign));
  }

  __device__ __forceinline__ bool open(float v) const { return (__float_as_uint(v) & 0x7FFFFFFFu) >= 0x7F800000u; }
  __device__ __forceinline__ hu_num element(const hu_gemm_args &g, size_t i, size_t j) const {
    return hui_seq_element(g, m, i, j);
  }
  __device__ __forceinline__ hu_num number(const hu_gemm_args &, size_t, size_t, float v) const {
    hu_num x = hui_unpack32(__float_as_uint(v));
    if (x.kind == HU_KIND_FINITE) x.exp -= q.shift;
    return x;
  }
};

typedef hu_device_tile<float, 8, hu_rule_seq> tile_seq;

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_seq_kernel(const __grid_constant__ hu_gemm_args g, const __grid_constant__ hu_accum_args m,
                        const __grid_constant__ hu_seq_args q) {
  __shared__ __align__(16) float buffer[tile_seq::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ uint32_t marks[tile_seq::lines * tile_seq::lines / 32];
  hu_rule_seq rule = {q, m};
  hui_gemm_tile<float, 8>(g, rule, buffer, table_a, table_b, sums, marks);
}

hu_status hui_gemm_launch_seq(const hu_gemm_args *g, const hu_accum_args *m, const hu_seq_args *q, void *stream) {
  unsigned tiles = hui_tile_count(g, tile_seq::lines);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(hui_gemm_seq_kernel, tiles, 0, stream, *g, *m, *q);
  return hui_launched();
}
