/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq.cu - the model seq(F), ties to even, F of 2 to 12 digits, in binary32 arithmetic.
 *
 * Step: x = acc + a b exactly, acc = rnd_F(x). t is x rounded to odd in binary32: of x rounded down and x rounded up,
 * which are equal or neighbours, it is the odd one. Grid points of F and midpoints between them are even in binary32,
 * which has two digits more than they require, so t lies on x's side of each of them. E = the larger of t's exponent
 * and emin; the anchor A = 1.5 2^(E + 23 - m) is an even multiple of F's step there, in a binade where binary32 has
 * that same step, so that A + t to nearest even is A + rnd_F(t); A is taken away exactly. (emu/gemm/seq.h has the same
 * proof for the CPU's lanes.)
 *
 * All numbers are 2^shift times as large, which is exact. 105 + m - emax <= shift: a sum of 2^emax and more makes the
 * anchor 1.5 2^128, infinity, and acc infinite or NaN to the end, whatever follows. Therefore no step has to test for
 * it. Infinities and NaN among the operands end likewise; operands that their power of two would round are taken as
 * NaN. emu/core/accum.h computes again what ends as infinity or NaN. m - 147 <= emin + shift: at the lower end, too,
 * binary32 has the two digits more. -126 <= emin + shift: 2^E is normal. x = 0 has the sign of IEEE 754 (rounded up:
 * +0, or both -0), and so has a small x that rounds to zero: acc takes that of t.
 *
 * Limit. A product costs four operations of the FP32 pipe (two multiply-adds in two directions, A + t, - A) and, in the
 * machine code for compute capability 9.0, six of the integer pipe (for t's parity, the choice, t's exponent, the
 * floor, the sign). A multiprocessor starts 128 lanes per clock, 128 of FP32, 64 of such integer operations (CUDA C++
 * Programming Guide, arithmetic instructions): 64 / 6 = 10.7 products per clock. 132 multiprocessors at 1.98 GHz make
 * 2.8 10^12 products per second, 5.6 TFLOP/s. bench_device prints it for the device it finds. */
#include "gpu/gemm/by_model.cuh"
#include "gpu/gemm/seq.h"
#include "gpu/gemm/tile.cuh"

/* Computes the element in integers. */
static __device__ __noinline__ hu_num hui_seq_element(const hu_gemm_args &args, const hu_accum_args &model, size_t i,
                                                      size_t j) {
  hu_lines in = hui_lines_of(args, i, j);
  hu_draw draw = hui_accum_draw(args, i, j);
  return hui_sum_seq(&model.plan, &in, 0, args.k, hui_accum_start(args, model.c, i, j), &draw);
}

struct hu_rule_seq {
  static const bool zeros = false;
  const hu_seq_args &seq; /* kernel arguments: constants of the instructions that use them */
  const hu_accum_args &model;

  /* Returns x times a power of two, NaN if that is not exact. */
  static __device__ __forceinline__ float moved(float x, float up, float down) {
    float product = __fmul_rn(x, up);
    return __fmul_rn(product, down) == x ? product : __uint_as_float(0x7FC00000);
  }
  __device__ __forceinline__ float a(float x) const { return moved(x, seq.up_a, seq.down_a); }
  __device__ __forceinline__ float b(float x) const { return moved(x, seq.up_b, seq.down_b); }
  __device__ __forceinline__ float c(float x) const { return b(a(x)); }

  __device__ __forceinline__ float step(float x, float y, float acc) const {
    uint32_t low = __float_as_uint(__fmaf_rd(x, y, acc)), high = __float_as_uint(__fmaf_ru(x, y, acc));
    uint32_t odd = low & 1 ? low : high, field = odd & 0x7F800000u;
    float power = __uint_as_float(field > seq.floor ? field : seq.floor);
    float sum = __fmaf_rn(power, seq.scale, __uint_as_float(odd));
    float z = __fmaf_rn(-power, seq.scale, sum);
    return __uint_as_float(__float_as_uint(z) | (odd & seq.sign));
  }

  __device__ __forceinline__ bool open(float x) const { return (__float_as_uint(x) & 0x7FFFFFFFu) >= 0x7F800000u; }
  __device__ __forceinline__ hu_num element(const hu_gemm_args &args, size_t i, size_t j) const {
    return hui_seq_element(args, model, i, j);
  }
  __device__ __forceinline__ hu_num number(const hu_gemm_args &, size_t, size_t, float sum) const {
    hu_num x = hui_unpack32(__float_as_uint(sum));
    if (x.kind == HU_KIND_FINITE) x.exp -= seq.shift;
    return x;
  }
};

typedef hu_device_tile<float, 8, hu_rule_seq> tile_seq;

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_seq_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model,
                        const __grid_constant__ hu_seq_args seq) {
  __shared__ __align__(16) float buffer[tile_seq::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ uint32_t marks[tile_seq::lines * tile_seq::lines / 32];
  hu_rule_seq rule = {seq, model};
  hui_gemm_tile<float, 8>(args, rule, buffer, table_a, table_b, sums, marks);
}

hu_status hui_gemm_launch_seq(const hu_gemm_args *args, const hu_accum_args *model, const hu_seq_args *seq,
                              void *stream) {
  unsigned tiles = hui_tile_count(args, tile_seq::lines);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(hui_gemm_seq_kernel, tiles, 0, stream, *args, *model, *seq);
  return hui_launched();
}
