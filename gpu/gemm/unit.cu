/* SPDX-License-Identifier: MIT */
/* gpu/gemm/unit.cu - block(align,cut=trunc), the sums of NVIDIA's matrix units, with products in binary32 arithmetic.
 *
 * A block of L products and c: every term cut to F digits below the largest exponent E, then added (docs/numerics.md
 * section 11.5). Operands come into shared memory as the value in binary32 and the exponent e = max(floor(log2), emin);
 * the e of a zero is so low that its products are never the largest, that of NaN and infinity too large. Then
 *
 *   E = max(emin, e(c), e(a) + e(b));  s = cut(c) + sum of int(a b 2^(F - E)), toward zero;  c = rnd_out(s 2^(E - F))
 *
 * a b is exact in binary32 where the operands have 24 digits together, except for its range. |a b| < 2^(E + 2), and
 * blocks with E > 100 are left. A product with digits below 2^-149 is below 2^-125: where E - F >= -124 it is cut to 0
 * however binary32 has rounded it, and blocks with E < -90 are left (F <= 28). For the same reason a b 2^(F - E) is
 * exact or below 1; it is below 2^(F + 2), which an int holds, and s has 64 bits. emu/core/accum_block.h computes
 * blocks that are left, and cut(c) and rnd_out of all.
 *
 * Count of lane instructions for a product: 4 loads from shared memory, 2 to add exponents and keep the largest, 2
 * multiplications, a conversion, 2 to add it, and for loops and addresses some 5. c and rnd_out take some 250 per
 * block, 16 for a product with L = 16. Loads are the limit: a multiprocessor does 32 lanes per clock, 8 products; 132
 * multiprocessors at 1.98 GHz make 2 10^12 products per second, 4 TFLOP/s. With random words, a rounding takes some 150
 * more, and 76 are counted for a product: 128 per clock, 1.7 products, 0.9 TFLOP/s. Memory is no limit:
 * a slab has 32 elements for 256 products. */
#include "gpu/gemm/by_model.cuh"

enum { HU_ALIGN_SIDE = 16, HU_ALIGN_DEPTH = 32, HU_ALIGN_PITCH = HU_ALIGN_DEPTH + 1 };
enum { HU_ALIGN_ZERO = -(1 << 16), HU_ALIGN_SPECIAL = 1 << 20 };

/* Lines of a tile, decoded. */
typedef struct hu_align_slab {
  float value[HU_ALIGN_SIDE * HU_ALIGN_PITCH];
  int32_t exponent[HU_ALIGN_SIDE * HU_ALIGN_PITCH];
} hu_align_slab;

HU_DEVICE void hui_align_fill(const hu_device_matrix &x, const hu_source &source, hu_align_slab *slab, size_t line0,
                              size_t lines, size_t p0, size_t k) {
  size_t size = x.size ? x.size : 4;
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < HU_ALIGN_SIDE * HU_ALIGN_DEPTH; i += HU_THREADS) {
    int line = x.along ? i / HU_ALIGN_DEPTH : i % HU_ALIGN_SIDE,
        term = x.along ? i % HU_ALIGN_DEPTH : i / HU_ALIGN_SIDE;
    if (line0 + line >= lines || p0 + term >= k) continue;
    size_t at = (line0 + line) * x.line_step + (p0 + term) * x.step;
    hu_num n = hui_source_read(&source, (const uint8_t *)x.data + at * size);
    int32_t exponent = n.kind == HU_KIND_ZERO ? HU_ALIGN_ZERO : HU_ALIGN_SPECIAL;
    if (n.kind == HU_KIND_FINITE) exponent = hui_later(hui_exponent(n), source.emin);
    slab->value[line * HU_ALIGN_PITCH + term] = __uint_as_float(hui_pack32(n));
    slab->exponent[line * HU_ALIGN_PITCH + term] = exponent;
  }
}

/* Operands of one element in shared memory: product k is number k - first. */
typedef struct hu_align_terms {
  const float *a, *b;
  const int32_t *ea, *eb;
  uint64_t first;
} hu_align_terms;

/* Returns a sum rounded: blocks of this kernel have no second rounding and lose no digits that a rounding sees. */
HU_DEVICE hu_num hui_align_out(const hu_accum_plan *plan, int64_t sum, int32_t unit, hu_draw *draw) {
  return hui_grid_round(&plan->sum, hui_num_of_integer(sum, unit), draw);
}

/* Where the `count` products of a block stand in the tile: the first two at `at`, each further two `step` behind. */
typedef struct hu_align_run {
  uint32_t at, step, count;
} hu_align_run;

HU_DEVICE hu_align_run hui_align_run_of(const hu_align_terms &terms, const hu_picks *picks) {
  hu_align_run run;
  uint64_t first = picks->first + (picks->mod4 ? 2 * picks->half : 0);
  uint64_t left = first < picks->past ? picks->past - first : 0;
  if (picks->mod4) left = left / 4 * 2 + (left % 4 < 2 ? left % 4 : 2);
  run.at = (uint32_t)(first - terms.first);
  run.step = picks->mod4 ? 4 : 2;
  run.count = left < picks->count ? (uint32_t)left : picks->count;
  return run;
}

/* Returns the largest exponent of the run's products, or `largest`. */
HU_DEVICE int32_t hui_align_largest(const hu_align_terms &terms, const hu_align_run &run, int32_t largest) {
  const int32_t *a = terms.ea + run.at, *b = terms.eb + run.at;
  for (uint32_t i = run.count / 2; i; i--, a += run.step, b += run.step)
    largest = hui_later(hui_later(largest, a[0] + b[0]), a[1] + b[1]);
  return run.count % 2 ? hui_later(largest, a[0] + b[0]) : largest;
}

/* Returns the sum of the run's products times `scale`, each without its fraction. */
HU_DEVICE int64_t hui_align_sum(const hu_align_terms &terms, const hu_align_run &run, float scale) {
  const float *a = terms.a + run.at, *b = terms.b + run.at;
  int64_t sum = 0;
  for (uint32_t i = run.count / 2; i; i--, a += run.step, b += run.step) {
    sum += __float2int_rz(__fmul_rn(__fmul_rn(a[0], b[0]), scale));
    sum += __float2int_rz(__fmul_rn(__fmul_rn(a[1], b[1]), scale));
  }
  return run.count % 2 ? sum + __float2int_rz(__fmul_rn(__fmul_rn(a[0], b[0]), scale)) : sum;
}

HU_DEVICE hu_num hui_align_block(const hu_accum_plan *plan, const hu_lines *in, const hu_align_terms &terms,
                                 const hu_picks *picks, hu_num c, hu_draw *draw) {
  const hu_block *block = &plan->model.block;
  hu_term tc = hui_term_of_c(plan, c);
  hu_align_run run = hui_align_run_of(terms, picks);
  int32_t largest = hui_align_largest(terms, run, HU_ALIGN_ZERO);
  if (tc.kind == HU_KIND_FINITE) largest = hui_later(largest, tc.alignment);
  if (largest <= HU_ALIGN_ZERO / 2 && tc.kind == HU_KIND_ZERO) return hui_align_out(plan, 0, 0, draw);
  int32_t exponent = hui_later(largest, block->emin);
  if (tc.kind > HU_KIND_FINITE || exponent > 100 || exponent < -90) return hui_block_align(plan, in, picks, c, draw);
  int32_t unit = exponent - block->kept;
  float scale = __uint_as_float((uint32_t)(127 - unit) << 23);
  int64_t sum = tc.kind == HU_KIND_FINITE ? hui_cut(HU_BLOCK_CUT_TRUNC, tc.sign, tc.sig, unit - tc.exp) : 0;
  return hui_align_out(plan, sum + hui_align_sum(terms, run, scale), unit, draw);
}

/* Adds the blocks of products first ... past - 1, divided as hui_blocks does. */
HU_DEVICE hu_num hui_align_blocks(const hu_accum_plan *plan, const hu_lines *in, const hu_align_terms &terms,
                                  uint64_t past, uint64_t all, hu_num c, hu_draw *draw) {
  const hu_block *block = &plan->model.block;
  hu_picks picks;
  picks.count = block->length;
  picks.mod4 = block->order == HU_BLOCK_ORDER_MOD4;
  picks.past = all;
  for (uint64_t k = terms.first; k < past; k += (uint64_t)picks.count << picks.mod4) {
    hu_num sum = block->join == HU_BLOCK_JOIN_LAST ? hui_num_special(HU_KIND_ZERO, 0) : c;
    picks.first = k;
    for (picks.half = 0; picks.half <= picks.mod4; picks.half++)
      sum = hui_align_block(plan, in, terms, &picks, sum, draw);
    c = block->join == HU_BLOCK_JOIN_LAST ? hui_grid_add(&plan->join, sum, c, draw) : sum;
  }
  return c;
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_align_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model) {
  __shared__ hu_align_slab a, b;
  size_t down = (args.m + HU_ALIGN_SIDE - 1) / HU_ALIGN_SIDE, across = (args.n + HU_ALIGN_SIDE - 1) / HU_ALIGN_SIDE;
  int y = (int)threadIdx.x / HU_ALIGN_SIDE, x = (int)threadIdx.x % HU_ALIGN_SIDE;
  hu_counts counts;
  hui_counts_clear(&counts);
  for (size_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    size_t row0 = tile / across * HU_ALIGN_SIDE, col0 = tile % across * HU_ALIGN_SIDE, i = row0 + y, j = col0 + x;
    bool there = i < args.m && j < args.n;
    hu_lines in = hui_lines_of(args, there ? i : 0, there ? j : 0);
    hu_draw draw = hui_accum_draw(args, i, j);
    hu_num c = there ? hui_accum_start(args, model.c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
    hu_align_terms terms = {a.value + y * HU_ALIGN_PITCH, b.value + x * HU_ALIGN_PITCH, a.exponent + y * HU_ALIGN_PITCH,
                            b.exponent + x * HU_ALIGN_PITCH, 0};
    for (size_t p0 = 0; p0 < args.k; p0 += HU_ALIGN_DEPTH) {
      __syncthreads();
      hui_align_fill(args.a, model.plan.a, &a, row0, args.m, p0, args.k);
      hui_align_fill(args.b, model.plan.b, &b, col0, args.n, p0, args.k);
      __syncthreads();
      terms.first = p0;
      if (there)
        c = hui_align_blocks(&model.plan, &in, terms, args.k - p0 < HU_ALIGN_DEPTH ? args.k : p0 + HU_ALIGN_DEPTH,
                             args.k, c, &draw);
    }
    if (!there) continue;
    uint32_t events = hui_accum_store(args, model, i, j, c);
    if (args.events) hui_counts_add(&counts, events);
  }
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

static int32_t hui_align_digits(const hu_source &source) {
  return source.spec.fits_binary32 ? source.spec.m - (int32_t)source.cut + 1 : 25;
}

int hui_gemm_align_serves(const hu_accum_args *model) {
  const hu_accum &accum = model->plan.model;
  const hu_block &block = accum.block;
  if (accum.kind != HU_ACCUM_BLOCK || block.rule != HU_BLOCK_ALIGN || accum.promote || accum.slices || block.every)
    return 0;
  uint32_t span = (uint32_t)block.length << (block.order == HU_BLOCK_ORDER_MOD4);
  if (block.sticky || block.zeros || block.wide || block.daz || block.ftz || block.via.e || block.via.m) return 0;
  if (block.cut != HU_BLOCK_CUT_TRUNC || block.kept > 28 || HU_ALIGN_DEPTH % span) return 0;
  return hui_align_digits(model->plan.a) + hui_align_digits(model->plan.b) <= 24;
}

hu_status hui_gemm_launch_align(const hu_gemm_args *args, const hu_accum_args *model, void *stream) {
  size_t down = (args->m - 1) / HU_ALIGN_SIDE + 1, across = (args->n - 1) / HU_ALIGN_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  HU_LAUNCH(hui_gemm_align_kernel, hui_grid_size(tiles, 64), 0, stream, *args, *model);
  return hui_launched();
}
