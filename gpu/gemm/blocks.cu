/* SPDX-License-Identifier: MIT */
/* gpu/gemm/blocks.cu - block(...) in binary64, two elements of D per thread. The steps are those of
 * emu/gemm/unit_steps.h, which the CPU's lanes compile, too.
 *
 * A block of threads has 32 x 16 elements, and slabs of 32 products in shared memory, of 64 for the rule groups. A slab
 * has values and powers in the order of the steps, both times the scales if there are some. Where a sum ends as
 * infinity or NaN, emu/core/accum.h computes the element, as on the CPU.
 *
 * A product takes 10 to 20 operations of binary64, of which a multiprocessor of compute capability 9.0 starts 64 per
 * clock; 132 of them at 1.98 GHz start 1.7 10^13, so that 2 TFLOP/s is what they allow. Reading takes some 200
 * instructions for an element of a slab and as many for its scale, for 48 elements of 512 products. With it, loads and
 * addresses a product takes 41 instructions for align (55 with scales of MX, 51 for groups), of which 128 start per
 * clock: 2.3 to 3.1 products, 1.2 to 1.6 TFLOP/s. Memory is no limit: a slab has 48 elements for 512 products. */
#include "emu/gemm/unit_plan.h"
#include "gpu/gemm/by_model.cuh"

#define HU_UNIT_MB 32
#define HU_UNIT_NB 16
#define HU_UNIT_NR 16
#define HU_UNIT_KC hu_pitch /* of each of the two namespaces below */
#define BLK_FN HU_DEVICE
#define BLK_ROWS 2
#undef HU_UNROLL
#define HU_UNROLL _Pragma("unroll")

typedef double blk_d;
typedef uint64_t blk_u;

HU_DEVICE blk_d blk_all(double x) { return x; }
HU_DEVICE blk_u blk_each(uint64_t bits) { return bits; }
HU_DEVICE blk_d blk_load(const double *x) { return *x; }
HU_DEVICE blk_u blk_bits(blk_d x) { return (uint64_t)__double_as_longlong(x); }
HU_DEVICE blk_d blk_value(blk_u bits) { return __longlong_as_double((long long)bits); }
HU_DEVICE blk_d blk_mul(blk_d x, blk_d y) { return x * y; }
HU_DEVICE blk_d blk_add(blk_d x, blk_d y) { return x + y; }
HU_DEVICE blk_d blk_sub(blk_d x, blk_d y) { return x - y; }
HU_DEVICE blk_d blk_fma(blk_d x, blk_d y, blk_d z) { return __fma_rn(x, y, z); }
HU_DEVICE blk_d blk_max(blk_d x, blk_d y) { return x > y ? x : y; }
HU_DEVICE blk_u blk_and(blk_u x, blk_u y) { return x & y; }
HU_DEVICE blk_u blk_or(blk_u x, blk_u y) { return x | y; }
HU_DEVICE blk_u blk_minus(blk_u x, blk_u y) { return x - y; }
HU_DEVICE blk_d blk_trunc(blk_d x) { return trunc(x); }
HU_DEVICE blk_d blk_floor(blk_d x) { return floor(x); }
HU_DEVICE blk_d blk_ceil(blk_d x) { return ceil(x); }
HU_DEVICE blk_d blk_near(blk_d x) { return rint(x); }
HU_DEVICE blk_d blk_narrow(blk_d x) { return (double)(float)x; }
static __device__ __noinline__ blk_d blk_flush(blk_d x, double least) {
  return fabs(x) < least ? blk_value(blk_bits(x) & 0x8000000000000000u) : x;
}
HU_DEVICE blk_d blk_narrow_normal(blk_d x) { return blk_flush(blk_narrow(x), 0x1p-126); }
HU_DEVICE blk_d blk_if_less(blk_d x, blk_d y, blk_d yes, blk_d no) { return x < y ? yes : no; }
HU_DEVICE blk_d blk_if_same(blk_d x, blk_d y, blk_d yes, blk_d no) { return x == y ? yes : no; }
HU_DEVICE blk_d blk_sticky(blk_d x, uint64_t low) {
  uint64_t bits = blk_bits(x);
  return blk_value((bits & ~low) | (bits & low ? low + 1 : 0));
}
/* Rounds x + y to odd by Knuth's two-sum: takes the sum, and one step toward its error where the sum is even. */
HU_DEVICE blk_d blk_odd_sum(blk_d x, blk_d y) {
  double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
  uint64_t bits = blk_bits(sum), apart = (int64_t)(bits ^ blk_bits(error)) < 0;
  if ((bits & 1) || !(error < 0 || error > 0)) return sum;
  return blk_value(apart ? bits - 1 : bits + 1);
}

/* The names of the steps are short, hence a namespace. A pitch of 33 for 32 products avoids bank conflicts. */
namespace hu_steps {
enum { hu_pitch = 33 };
#include "emu/gemm/unit_steps.h"
}  // namespace hu_steps

/* The steps again for 64 products: slabs of 64 fill the 48 KB of a block. */
#undef HALFULP_EMU_GEMM_UNIT_STEPS_H
namespace hu_steps_64 {
enum { hu_pitch = 64 };
#include "emu/gemm/unit_steps.h"
}  // namespace hu_steps_64

enum { HU_BLOCKS_ROWS = HU_UNIT_MB, HU_BLOCKS_COLS = HU_UNIT_NB };

/* Does a rule that cuts truncate, as nearly all units do? Where that is known, it is not asked for each product. */
HU_DEVICE bool hui_blocks_truncate(int kind, const hu_unit_plan &plan) {
  return (kind == hu_steps::BLK_ALIGN || kind == hu_steps::BLK_GROUPS) && plan.cut == HU_BLOCK_CUT_TRUNC;
}

/* All rules except groups have slabs of 32 products; groups has 64, as many as a block of NVFP4. */
template <int Depth>
struct hu_blocks_slab {
  static constexpr int pitch = hu_steps::hu_pitch;
  template <int Kind>
  static __device__ __forceinline__ void run(const hu_unit_plan &plan, size_t count, const double *a, const double *b,
                                             double (&c)[BLK_ROWS]) {
    if (hui_blocks_truncate(Kind, plan)) {
      hu_steps::run_steps(Kind, HU_BLOCK_CUT_TRUNC, &plan, count, a, b, c);
    } else {
      hu_steps::run_steps(Kind, plan.cut, &plan, count, a, b, c);
    }
  }
};
template <>
struct hu_blocks_slab<64> {
  static constexpr int pitch = hu_steps_64::hu_pitch;
  template <int Kind>
  static __device__ __forceinline__ void run(const hu_unit_plan &plan, size_t count, const double *a, const double *b,
                                             double (&c)[BLK_ROWS]) {
    if (hui_blocks_truncate(Kind, plan)) {
      hu_steps_64::run_steps(Kind, HU_BLOCK_CUT_TRUNC, &plan, count, a, b, c);
    } else {
      hu_steps_64::run_steps(Kind, plan.cut, &plan, count, a, b, c);
    }
  }
};

/* Returns which product of a slab stands at `position` of the steps; count or more: none. */
HU_DEVICE int hui_blocks_at(const hu_block &block, int position, int count) {
  int length = block.length, step = length << (block.order == HU_BLOCK_ORDER_MOD4), first = position / step * step,
      i = position % step;
  if (block.order == HU_BLOCK_ORDER_DOWN) i = (count - first < step ? count - first : step) - 1 - i;
  if (block.order == HU_BLOCK_ORDER_MOD4) i = 4 * (i % length / 2) + i % 2 + 2 * (i / length);
  return first + i;
}

/* Stores the value of an element and its power, which is 0 for a zero and infinity for an infinity or a NaN. */
static __device__ __noinline__ void hui_blocks_put(const hu_source &source, const uint8_t *at, double *value,
                                                   double *power) {
  hu_num n = hui_source_read(&source, at);
  int32_t exponent = n.kind == HU_KIND_FINITE ? hui_later(hui_exponent(n), source.emin)
                     : n.kind == HU_KIND_ZERO ? -1023
                                              : 1024;
  *value = blk_value(hui_pack64(n));
  *power = blk_value((uint64_t)(exponent + 1023) << 52);
}

/* Multiplies an element of a slab by its scale, for align its power, too; for groups products have their scales'
 * power. */
HU_DEVICE void hui_blocks_scale(const hu_block &block, const hu_source &source, const uint8_t *at, double *value,
                                double *power) {
  double scale, scale_power;
  hui_blocks_put(source, at, &scale, &scale_power);
  *value *= scale;
  *power = block.rule == HU_BLOCK_GROUPS ? (*power > 0 ? scale_power : 0) : *power * scale_power;
}

/* One side of a product: its operand, and its scales if there are some. */
typedef struct hu_blocks_side {
  const hu_device_matrix &x, &scales;
  const hu_source &source, &scale_source;
  size_t lines;
} hu_blocks_side;

HU_DEVICE const uint8_t *hui_blocks_address(const hu_device_matrix &x, size_t line, size_t term) {
  return (const uint8_t *)x.data + (line * x.line_step + term * x.step) * (x.size ? x.size : 4);
}

/* Fills a slab of Lines lines, `padded` positions of Depth: line i begins at z + i pitch, position j j next behind. */
template <int Lines, int Depth>
HU_DEVICE void hui_blocks_fill(const hu_blocks_side &side, const hu_block &block, double *z, int pitch, int next,
                               size_t line0, size_t p0, int count, int padded) {
  const int powers = Lines * hu_blocks_slab<Depth>::pitch, along = side.x.along;
  const size_t first = block.every ? p0 / block.every : 0;
  const int past = block.every ? (int)(p0 % block.every) : 0;
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < Lines * Depth; i += HU_THREADS) {
    int line = along ? i / Depth : i % Lines, position = along ? i % Depth : i / Lines;
    if (position >= padded) continue;
    int term = hui_blocks_at(block, position, count), to = line * pitch + position * next;
    z[to] = z[powers + to] = 0;
    if (line0 + line >= side.lines || term >= count) continue;
    hui_blocks_put(side.source, hui_blocks_address(side.x, line0 + line, p0 + term), &z[to], &z[powers + to]);
    if (!block.every) continue;
    hui_blocks_scale(block, side.scale_source,
                     hui_blocks_address(side.scales, line0 + line, first + (past + term) / block.every), &z[to],
                     &z[powers + to]);
  }
}

/* Returns C as block(...) reads it. */
HU_DEVICE double hui_blocks_start(const hu_gemm_args &args, const hu_accum_args &model, const hu_unit_plan &plan,
                                  size_t i, size_t j) {
  double c = blk_value(hui_pack64(hui_accum_start(args, model.c, i, j)));
  uint8_t daz = model.plan.model.block.daz;
  if (daz && fabs(c) < plan.out.emin) c = daz == HU_BLOCK_DAZ_SIGN ? blk_value(blk_bits(c) & 0x8000000000000000u) : 0;
  return c;
}

static __device__ __noinline__ hu_num hui_blocks_left(const hu_gemm_args &args, const hu_accum_args &model,
                                                      const hu_accum_scales &scales, size_t i, size_t j) {
  hu_lines in = hui_scaled_lines_of(args, scales, i, j);
  hu_draw draw = hui_accum_draw(args, i, j);
  return hui_accum_sum(&model.plan, &in, args.k, hui_accum_start(args, model.c, i, j), &draw);
}

/* Rounds a sum for the last time, stores it and returns the events. */
HU_DEVICE uint32_t hui_blocks_store(const hu_gemm_args &args, const hu_accum_args &model, const hu_accum_scales &scales,
                                    size_t i, size_t j, double c) {
  hu_num x = c - c == 0 ? hui_unpack64(blk_bits(c)) : hui_blocks_left(args, model, scales, i, j);
  return hui_scaled_store(args, model, scales, i, j, x);
}

template <int Kind, int Depth>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_blocks_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model,
                           const __grid_constant__ hu_accum_scales scales, const __grid_constant__ hu_unit_plan plan) {
  constexpr int pitch = hu_blocks_slab<Depth>::pitch;
  __shared__ double a[2 * HU_BLOCKS_ROWS * pitch], b[2 * HU_BLOCKS_COLS * pitch];
  const hu_block &block = model.plan.model.block;
  const hu_blocks_side sa = {args.a, scales.a, model.plan.a, model.plan.sa, args.m},
                       sb = {args.b, scales.b, model.plan.b, model.plan.sb, args.n};
  size_t down = (args.m + HU_BLOCKS_ROWS - 1) / HU_BLOCKS_ROWS, across = (args.n + HU_BLOCKS_COLS - 1) / HU_BLOCKS_COLS;
  int y = (int)threadIdx.x / HU_BLOCKS_COLS * BLK_ROWS, x = (int)threadIdx.x % HU_BLOCKS_COLS;
  int step = (int)plan.length * plan.halves;
  hu_counts counts;
  hui_counts_clear(&counts);
  for (size_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    size_t row0 = tile / across * HU_BLOCKS_ROWS, col0 = tile % across * HU_BLOCKS_COLS, i = row0 + y, j = col0 + x;
    double c[BLK_ROWS];
#pragma unroll
    for (int row = 0; row < BLK_ROWS; row++)
      c[row] = i + row < args.m && j < args.n ? hui_blocks_start(args, model, plan, i + row, j) : 0;
    for (size_t p0 = 0; p0 < args.k; p0 += Depth) {
      int count = args.k - p0 < Depth ? (int)(args.k - p0) : Depth;
      int padded = block.rule >= HU_BLOCK_CHAIN ? count : (count + step - 1) / step * step;
      __syncthreads();
      hui_blocks_fill<HU_BLOCKS_ROWS, Depth>(sa, block, a, pitch, 1, row0, p0, count, padded);
      hui_blocks_fill<HU_BLOCKS_COLS, Depth>(sb, block, b, 1, HU_UNIT_NR, col0, p0, count, padded);
      __syncthreads();
      /* Rows beyond the matrix compute with whatever is there, and are not stored. */
      if (i < args.m && j < args.n)
        hu_blocks_slab<Depth>::template run<Kind>(plan, (size_t)padded, a + y * pitch, b + x, c);
    }
#pragma unroll 1
    for (int row = 0; row < BLK_ROWS && i + row < args.m && j < args.n; row++) {
      double sum = row == 0 ? c[0] : c[1];
      uint32_t events = hui_blocks_store(args, model, scales, i + row, j, sum);
      if (args.events) hui_counts_add(&counts, events);
    }
  }
  if (args.events) { /* with 64 products, shared memory holds slabs alone */
    __syncthreads();
    hui_counts_flush(&counts, args.events, (unsigned long long *)(void *)a);
  }
}

/* Returns 1 if products with their scales are well inside binary64's range and less than 2^1000 apart, so that no cut
 * loses a sign, and if scales have no infinities. */
static int hui_blocks_scales_fit(const hu_gemm_args *args, const hu_accum_scales *scales) {
  const hu_spec *specs[4] = {&args->a.spec, &args->b.spec, &scales->a.spec, &scales->b.spec};
  int32_t low = 0, high = 0;
  for (int i = 0; i < 4; i++) {
    const hu_spec *spec = specs[i];
    if (!spec->fits_binary32 || (i > 1 && spec->has_inf)) return 0;
    low += spec->emin - spec->m;
    high += hui_exponent(hui_unpack(spec, spec->max_code)) + 1;
  }
  return low >= -600 && high <= 550 && high - low <= 1000;
}

int hui_gemm_blocks_plan(hu_unit_plan *plan, const hu_gemm_args *args, const hu_accum_args *model,
                         const hu_accum_scales *scales) {
  const hu_accum &accum = model->plan.model;
  const hu_block &block = accum.block;
  if (accum.kind != HU_ACCUM_BLOCK || accum.promote || accum.slices || args->k == 0) return 0;
  if (block.every ? !scales || !hui_blocks_scales_fit(args, scales) : block.rule == HU_BLOCK_GROUPS) return 0;
  const uint32_t depth = block.rule == HU_BLOCK_GROUPS ? 64 : 32;
  if (depth % ((uint32_t)block.length << (block.order == HU_BLOCK_ORDER_MOD4))) return 0;
  if (!hui_unit_in_reach(model->plan.a.emin) || !hui_unit_in_reach(model->plan.b.emin)) return 0;
  if (args->c.present && !args->c.spec.fits_binary32) return 0;
  return hui_unit_plan_of(plan, &args->a.spec, &args->b.spec, &accum, (int)depth);
}

hu_status hui_gemm_launch_blocks(const hu_gemm_args *args, const hu_accum_args *model, const hu_accum_scales *scales,
                                 const hu_unit_plan *plan, void *stream) {
  size_t down = (args->m - 1) / HU_BLOCKS_ROWS + 1, across = (args->n - 1) / HU_BLOCKS_COLS + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  auto kernel = hui_gemm_blocks_kernel<hu_steps::BLK_ALIGN, 32>;
  hu_accum_scales none = {};
  if (plan->rule == HU_BLOCK_GROUPS) kernel = hui_gemm_blocks_kernel<hu_steps_64::BLK_GROUPS, 64>;
  if (plan->rule == HU_BLOCK_LATE) kernel = hui_gemm_blocks_kernel<hu_steps::BLK_LATE, 32>;
  if (plan->rule == HU_BLOCK_EXACT) kernel = hui_gemm_blocks_kernel<hu_steps::BLK_EXACT, 32>;
  if (plan->rule == HU_BLOCK_TREE) kernel = hui_gemm_blocks_kernel<hu_steps::BLK_TREE, 32>;
  if (plan->rule == HU_BLOCK_CHAIN) kernel = hui_gemm_blocks_kernel<hu_steps::BLK_CHAIN, 32>;
  if (plan->rule == HU_BLOCK_LANES) kernel = hui_gemm_blocks_kernel<hu_steps::BLK_PAIR, 32>;
  HU_LAUNCH(kernel, hui_grid_size(tiles, 64), 0, stream, *args, *model, scales ? *scales : none, *plan);
  return hui_launched();
}
