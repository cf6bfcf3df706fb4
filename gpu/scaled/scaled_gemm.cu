/* SPDX-License-Identifier: MIT */
/* gpu/scaled/scaled_gemm.cu - products of scaled tensors: hui_gemm_enqueue makes the parts, emu/core/scaled_sum.h adds
 * them up, one thread per element.
 *
 * Where `across` is a chain of binary32 steps, each run's parts are added to the sums at once. Otherwise the parts of
 * all runs are kept, for as many rows of D as fit the working space.
 *
 * Bound: adding a run takes up to 807 instructions of machine code for an element of D, 6 for a product in runs of 128,
 * beside those of the product itself; docs/device.md counts 13 for `fp32`, of which a multiprocessor starts 128 in a
 * clock. An element and run move 12 bytes of memory, 0.1 for a product: issue slots are the bound. */
#include "emu/core/stream.h"
#include "emu/scaled/check.h"
#include "emu/scaled_gemm/plan.h"
#include "gpu/base/batch.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/base/events.cuh"
#include "gpu/base/look.h"
#include "halfulp/device.h"

#define HU_SLAB_BYTES ((size_t)1 << 28)

/* Element (i, j) of an operand lies at at + i down + j right, in bytes. */
typedef struct hu_strides {
  const uint8_t *at;
  ptrdiff_t down, right;
} hu_strides;

typedef struct hu_sums_args {
  hu_scaled_sums sums;
  hu_strides a, b, c; /* c.at is NULL without a C */
  size_t n;
  hu_spec spec; /* of a plain D */
  uint8_t *result;
  size_t ldd;
  uint8_t dsize; /* bytes of a code; 0: values */
  float *y;      /* m x n sums that are encoded afterwards; else NULL */
  uint8_t how;   /* 1: the steps round products, too */
  hu_events *events;
} hu_sums_args;

/* Rows from `row` on of D in working space: `count` elements. */
typedef struct hu_slab {
  size_t row, count;
  hu_num *factors;
  uint32_t *part;
  float *sum;
} hu_slab;

#define HU_FOR_EACH(element, count)                                                                     \
  for (uint64_t element = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; element < (uint64_t)(count); \
       element += (uint64_t)gridDim.x * HU_THREADS)

HU_DEVICE hu_lines hui_operand_lines(const hu_sums_args &args, size_t i, size_t j) {
  hu_lines in;
  in.a.at = args.a.at + (ptrdiff_t)i * args.a.down;
  in.a.step = args.a.right;
  in.b.at = args.b.at + (ptrdiff_t)j * args.b.right;
  in.b.step = args.b.down;
  in.sa = in.a;
  in.sb = in.b;
  return in;
}

HU_DEVICE hu_num hui_operand_c(const hu_sums_args &args, size_t i, size_t j) {
  if (!args.c.at) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_source_read(&args.sums.c, args.c.at + (ptrdiff_t)i * args.c.down + (ptrdiff_t)j * args.c.right);
}

/* ---- operands made ready ---- */

HU_KERNEL __launch_bounds__(HU_THREADS) hui_twos_kernel(size_t rows, size_t cols, const uint8_t *x, size_t ldx,
                                                        uint32_t from, uint8_t *z, uint32_t to, uint32_t m) {
  HU_FOR_EACH(element, (uint64_t)rows * cols) {
    size_t i = element / cols, j = element % cols;
    hui_store_code(z + element * to, to, hui_scale_twos(m, hui_load_code(x + (i * ldx + j) * from, from)));
  }
}

/* Stores one scale for each line and `every` products; one: the code of 1. */
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_spread_kernel(const __grid_constant__ hu_scale_source source, uint8_t *z, size_t ld, uint32_t size,
                      size_t lines, size_t count, size_t every, int rows, uint32_t one) {
  HU_FOR_EACH(element, (uint64_t)lines * count) {
    size_t i = element / count, run = element % count;
    const uint8_t *at = source.at;
    if (source.size)
      at += (ptrdiff_t)(i / source.line_side) * source.line_step +
            (ptrdiff_t)(run * every / source.run_side) * source.run_step;
    hui_store_code(z + (rows ? i * ld + run : run * ld + i) * size, size,
                   source.size ? hui_load_code(at, source.size) : one);
  }
}

/* ---- the last rounding ---- */

static __device__ __noinline__ uint32_t hui_scaled_nan_made(const hu_sums_args &args, size_t i, size_t j, hu_num c) {
  hu_lines in = hui_operand_lines(args, i, j);
  return !hui_scaled_nan_given(&args.sums, &in, i, j, c);
}

/* Stores the sum of element (i, j) into D, or into what is encoded afterwards; returns the events. */
static __device__ __noinline__ uint32_t hui_scaled_store(const hu_sums_args &args, size_t i, size_t j, hu_num sum,
                                                         hu_num c) {
  uint32_t set = 0, random = 0;
  uint64_t number = (uint64_t)i * args.n + j;
  if (args.y) {
    args.y[number] = __uint_as_float(hui_pack32(sum));
    return 0;
  }
  if (args.spec.round >= HU_SRA)
    random = hui_stream_at(args.sums.key, args.sums.counter + number) >> (32 - args.spec.bits);
  uint32_t code = hui_round(&args.spec, sum, random, &set), size = args.dsize ? args.dsize : 4;
  hui_store_code(args.result + (i * args.ldd + j) * size, size,
                 args.dsize ? code : hui_pack32(hui_unpack(&args.spec, code)));
  if (sum.kind == HU_KIND_NAN && hui_scaled_nan_made(args, i, j, c)) {
    set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  }
  return set;
}

/* Finishes sums in binary32, of a matrix or a slab: does the epilogue, if there is one, and the last rounding. */
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_finish_kernel(const __grid_constant__ hu_sums_args args, const __grid_constant__ hu_slab slab) {
  hu_counts counts;
  hui_counts_clear(&counts);
  HU_FOR_EACH(element, slab.count) {
    size_t i = slab.row + element / args.n, j = element % args.n;
    hu_num c = hui_operand_c(args, i, j), x = hui_unpack32(__float_as_uint(slab.sum[element]));
    if (args.sums.alpha) x = hui_scale_epilogue(&args.sums.a, &args.sums.b, x, c);
    hui_counts_add(&counts, hui_scaled_store(args, i, j, x, c));
  }
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

/* ---- chains of binary32 steps ---- */

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_start_kernel(const __grid_constant__ hu_sums_args args, const __grid_constant__ hu_slab slab) {
  HU_FOR_EACH(element, slab.count) {
    hu_num c = hui_operand_c(args, slab.row + element / args.n, element % args.n);
    slab.sum[element] = __uint_as_float(args.sums.alpha ? 0 : hui_pack32(c));
  }
}

/* Adds the parts of the run that begins at first. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_scaled_join_kernel(const __grid_constant__ hu_sums_args args,
                                                               const __grid_constant__ hu_slab slab, size_t first) {
  HU_FOR_EACH(element, slab.count) {
    size_t i = slab.row + element / args.n, j = element % args.n;
    hu_num sa = hui_scale_read(&args.sums.a, i, first), sb = hui_scale_read(&args.sums.b, j, first);
    hu_num factor = hui_scale_factor(&args.sums.a, &args.sums.b, args.sums.factor, sa, sb);
    hu_num part = hui_unpack32(hui_scale_part(&args.sums.a, args.sums.factor, sa, slab.part[element]));
    hu_long x = hui_long_product(factor, part);
    if (args.how) x = hui_long_of(hui_scale_rne32(hui_long_num(x)));
    hu_num sum = hui_long_add(x, hui_long_of(hui_unpack32(__float_as_uint(slab.sum[element]))), 0);
    slab.sum[element] = __uint_as_float(hui_pack32(sum));
  }
}

/* ---- all parts of an element ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_parts_kernel(const __grid_constant__ hu_sums_args args, const __grid_constant__ hu_slab slab) {
  HU_FOR_EACH(element, slab.count) {
    size_t i = slab.row + element / args.n, j = element % args.n;
    hu_draw draw = hui_scaled_draw(&args.sums, (uint64_t)i * args.n + j, 0);
    hu_lines in = hui_operand_lines(args, i, j);
    uint32_t *part = slab.part + element;
    for (size_t first = 0, end; first < args.sums.k; first = end, part += slab.count) {
      end = hui_scale_run_end(&args.sums.a, &args.sums.b, first, args.sums.k);
      *part = hui_scaled_part(&args.sums, &in, first, end, &draw);
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_scaled_across_kernel(const __grid_constant__ hu_sums_args args, const __grid_constant__ hu_slab slab) {
  hu_counts counts;
  hui_counts_clear(&counts);
  HU_FOR_EACH(element, slab.count) {
    size_t i = slab.row + element / args.n, j = element % args.n;
    hui_scaled_factors(&args.sums, i, j, slab.factors + element, slab.count, slab.part + element, slab.count);
    hu_num c = hui_operand_c(args, i, j);
    hu_num x = hui_scaled_across(&args.sums, (uint64_t)i * args.n + j, slab.factors + element, slab.count,
                                 slab.part + element, slab.count, c);
    if (args.sums.alpha) x = hui_scale_epilogue(&args.sums.a, &args.sums.b, x, c);
    hui_counts_add(&counts, hui_scaled_store(args, i, j, x, c));
  }
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

/* ---- the host's side ---- */

static unsigned blocks_for(uint64_t count) { return hui_grid_size((count - 1) / HU_THREADS + 1, 64); }

static hu_strides place_of(const hu_view *x) {
  hu_strides place;
  ptrdiff_t size = (ptrdiff_t)hui_matrix_size(x);
  place.at = (const uint8_t *)x->data;
  place.down = x->row * size;
  place.right = x->stride * size;
  return place;
}

static hu_status make_view(const hu_scaled_view *view, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_mode rne = hui_plain_mode();
  if (view->how == HU_VIEW_GIVEN || view->rows == 0 || view->cols == 0) return HU_OK;
  void *z = (void *)(uintptr_t)view->operand.data;
  if (view->how == HU_VIEW_TWOS) {
    const hu_scaling *scaling = view->scaling;
    HU_LAUNCH(hui_twos_kernel, blocks_for((uint64_t)view->rows * view->cols), 0, stream, view->rows, view->cols,
              (const uint8_t *)view->scaled.codes, view->scaled.ld, hui_code_bytes(scaling->element), (uint8_t *)z,
              (uint32_t)hui_matrix_size(&view->operand), (uint32_t)scaling->element.m);
    return hui_launched();
  }
  hu_status status =
      hui_cuda_scaled_decode(view->rows, view->cols, (float *)z, view->cols, &view->scaled, view->scaling, exec);
  hu_format as = view->operand.type.format;
  if (status != HU_OK || hu_format_equal(as, hui_format_binary32())) return status;
  return hu_quantize_n(view->rows * view->cols, (float *)z, 1, (float *)z, 1, as, rne, exec, NULL);
}

static hu_status make_scales(const hu_scaled_plan *plan, const hu_view *z, const hu_scale_source *source, size_t lines,
                             int rows, void *stream) {
  const hu_accum *inside = &plan->sum.inside;
  hu_spec spec = hui_spec_of(z->type.format, hui_plain_mode());
  uint32_t events, one = hui_round(&spec, hui_num_finite(0, 1, 0), 0, &events);
  size_t every = inside->scaled ? inside->promote : inside->block.every,
         count = plan->k / every + (plan->k % every != 0);
  if (lines == 0 || count == 0) return HU_OK;
  HU_LAUNCH(hui_spread_kernel, blocks_for((uint64_t)lines * count), 0, stream, *source, (uint8_t *)(uintptr_t)z->data,
            hui_matrix_ld(z), (uint32_t)hui_matrix_size(z), lines, count, every, rows, one);
  return hui_launched();
}

static void fill_args(hu_sums_args *args, const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events) {
  memset(args, 0, sizeof *args);
  (void)hui_scaled_plan_sums(&args->sums, plan, exec);
  args->a = place_of(&plan->a.operand);
  args->b = place_of(&plan->b.operand);
  if (plan->has_c) args->c = place_of(&plan->c.operand);
  args->n = plan->n;
  args->events = plan->scaling ? NULL : events;
  if (plan->scaling) {
    args->y = plan->y;
    return;
  }
  args->spec = hui_spec_of(plan->d.type.format, plan->mode);
  args->result = (uint8_t *)plan->d.data;
  args->ldd = (size_t)plan->d.row;
  args->dsize = (uint8_t)(plan->d.type.kind == HU_TYPE_CODES ? hui_code_bytes(plan->d.type.format) : 0);
}

/* Computes the parts of run first ... end - 1, in `rows` rows from `row` on. */
static hu_status run_part(const hu_scaled_plan *plan, size_t row, size_t rows, size_t first, size_t end, void *part,
                          const hu_exec *exec) {
  hu_product product;
  hu_how how = hu_how_of(hui_plain_mode(), exec, NULL);
  memset(&product, 0, sizeof product);
  product.m = rows;
  product.n = plan->n;
  product.k = end - first;
  product.d = hu_matrix_floats_out((float *)part, plan->n);
  product.a = hui_matrix_from(&plan->a.operand, row, first);
  product.b = hui_matrix_from(&plan->b.operand, first, 0);
  product.accum = &plan->sum.inside;
  return hui_gemm_enqueue(&product, &how);
}

static int is_chain(const hu_scaled_plan *plan) {
  int carried = !plan->has_c || hu_format_fits_binary32(plan->c.operand.type.format);
  return hui_scaled_across_steps(&plan->sum.across) >= 0 && !hui_accum_is_random(&plan->sum.inside) &&
         (plan->alpha || carried);
}

/* Returns the bytes for one row of D in working space. */
static size_t row_bytes(const hu_scaled_plan *plan) {
  size_t runs = plan->runs ? plan->runs : 1, each = is_chain(plan) ? 8 : runs * (sizeof(hu_num) + sizeof(uint32_t)),
         bytes;
  return __builtin_mul_overflow(plan->n, each, &bytes) ? SIZE_MAX / 4 : bytes;
}

static hu_status run_slab_chain(const hu_scaled_plan *plan, const hu_sums_args *args, hu_slab *slab, size_t rows,
                                const hu_exec *exec) {
  void *stream = exec->where.queue;
  slab->sum = (float *)(void *)plan->work;
  slab->part = (uint32_t *)(void *)(slab->sum + slab->count);
  HU_LAUNCH(hui_scaled_start_kernel, blocks_for(slab->count), 0, stream, *args, *slab);
  hu_status status = hui_launched();
  for (size_t first = 0, end; first < plan->k && status == HU_OK; first = end) {
    end = hui_scale_run_end(&plan->sa, &plan->sb, first, plan->k);
    status = run_part(plan, slab->row, rows, first, end, slab->part, exec);
    if (status != HU_OK) return status;
    HU_LAUNCH(hui_scaled_join_kernel, blocks_for(slab->count), 0, stream, *args, *slab, first);
    status = hui_launched();
  }
  if (status != HU_OK) return status;
  HU_LAUNCH(hui_scaled_finish_kernel, blocks_for(slab->count), 0, stream, *args, *slab);
  return hui_launched();
}

static hu_status run_slab_all(const hu_scaled_plan *plan, const hu_sums_args *args, hu_slab *slab, size_t rows,
                              const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = HU_OK;
  slab->factors = (hu_num *)(void *)plan->work;
  slab->part = (uint32_t *)(void *)(slab->factors + (plan->runs ? plan->runs : 1) * slab->count);
  if (hui_accum_is_random(&plan->sum.inside)) {
    HU_LAUNCH(hui_scaled_parts_kernel, blocks_for(slab->count), 0, stream, *args, *slab);
    status = hui_launched();
  } else {
    for (size_t first = 0, run = 0, end; first < plan->k && status == HU_OK; first = end, run++) {
      end = hui_scale_run_end(&plan->sa, &plan->sb, first, plan->k);
      status = run_part(plan, slab->row, rows, first, end, slab->part + run * slab->count, exec);
    }
  }
  if (status != HU_OK) return status;
  HU_LAUNCH(hui_scaled_across_kernel, blocks_for(slab->count), 0, stream, *args, *slab);
  return hui_launched();
}

static hu_status run_parts(const hu_scaled_plan *plan, hu_sums_args *args, const hu_exec *exec) {
  size_t rows = plan->each / row_bytes(plan);
  hu_status status = HU_OK;
  args->how = hui_scaled_across_steps(&plan->sum.across) > 0;
  for (size_t row = 0; row < plan->m && status == HU_OK; row += rows) {
    size_t some = plan->m - row < rows ? plan->m - row : rows;
    hu_slab slab;
    memset(&slab, 0, sizeof slab);
    slab.row = row;
    slab.count = some * plan->n;
    status =
        is_chain(plan) ? run_slab_chain(plan, args, &slab, some, exec) : run_slab_all(plan, args, &slab, some, exec);
  }
  return status;
}

/* Runs HU_SCALED_UNIT and HU_SCALED_DECODED. */
static hu_status run_whole(const hu_scaled_plan *plan, const hu_sums_args *args, const hu_exec *exec,
                           hu_events *events) {
  hu_product product;
  hu_how how;
  hui_scaled_plan_whole(&product, &how, plan, exec, events);
  hu_status status = hui_gemm_enqueue(&product, &how);
  if (status != HU_OK || !plan->alpha) return status;
  hu_slab slab;
  memset(&slab, 0, sizeof slab);
  slab.count = plan->m * plan->n;
  slab.sum = plan->y;
  HU_LAUNCH(hui_scaled_finish_kernel, blocks_for(slab.count), 0, exec->where.queue, *args, slab);
  return hui_launched();
}

/* Returns the bytes of working space for whole rows of parts. Space for encoding D follows it. */
static size_t work_for(const hu_scaled_plan *plan) {
  if (plan->sum.way != HU_SCALED_PARTS) return 64;
  size_t row = row_bytes(plan), rows = row ? HU_SLAB_BYTES / row : 1, bytes;
  if (rows < 1) rows = 1;
  if (rows > plan->m) rows = plan->m;
  return __builtin_mul_overflow(row, rows, &bytes) ? SIZE_MAX / 4 : bytes;
}

static size_t encode_work(const hu_scaled_plan *plan, const hu_exec *exec) {
  if (!plan->scaling) return 0;
  return (hui_cuda_scaled_work(plan->m, plan->n, plan->scaling, exec) + 63) / 64 * 64;
}

size_t hui_cuda_scaled_gemm_space(const hu_product *product, const hu_exec *exec) {
  hu_scaled_plan plan;
  if (hui_scaled_plan_size(&plan, product, NULL, 1) != HU_OK) return SIZE_MAX;
  if (plan.m && plan.n && hui_scaled_plan_size(&plan, product, NULL, work_for(&plan)) != HU_OK) return SIZE_MAX;
  return plan.bytes + encode_work(&plan, exec);
}

/* Looks at an operand's codes, except where decoding does so itself. */
static void look_at(const hu_scaled_view *view, void *stream) {
  const hu_view *x = &view->operand;
  const hu_scaling *scaling = view->scaling;
  if (view->how == HU_VIEW_DECODED) return;
  if (scaling) {
    hui_look_at(hui_scaled_elements_of(view->rows, view->cols, view->scaled.codes, view->scaled.ld, scaling), stream);
    hui_look_at(hui_scaled_scales_of(view->rows, view->cols, &view->scaled, scaling), stream);
  } else if (hui_matrix_is_codes(x)) {
    hui_look_at(hui_code_rows_of(view->rows, view->cols, x->data, hui_matrix_ld(x), x->type.format), stream);
  }
}

static hu_status make_ready(const hu_scaled_plan *plan, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = make_view(&plan->a, exec);
  if (status == HU_OK) status = make_view(&plan->b, exec);
  if (status == HU_OK && plan->has_c) status = make_view(&plan->c, exec);
  if (status == HU_OK && plan->spread_a) status = make_scales(plan, &plan->scale_a, &plan->sa, plan->m, 1, stream);
  if (status == HU_OK && plan->spread_b) status = make_scales(plan, &plan->scale_b, &plan->sb, plan->n, 0, stream);
  return status;
}

hu_status hui_cuda_scaled_gemm(const hu_product *x, const hu_how *how) {
  const hu_exec *exec = how->exec;
  void *stream = exec->where.queue;
  hu_scaled_plan plan;
  hu_sums_args args;
  hu_status status = hui_scaled_plan_make(&plan, x, how->mode, NULL, 1);
  size_t work = status == HU_OK && x->m && x->n ? work_for(&plan) : 1;
  if (status == HU_OK) status = hui_scaled_plan_make(&plan, x, how->mode, NULL, work);
  if (status == HU_OK) status = hui_check_events(how->events);
  if (status != HU_OK) return status;
  size_t encoding = plan.bytes;
  plan.bytes += encode_work(&plan, exec);
  status = hui_scaled_plan_place(&plan, x->space, x->bytes);
  if (status != HU_OK) return status;
  if (plan.m && plan.n) {
    look_at(&plan.a, stream);
    look_at(&plan.b, stream);
    if (plan.has_c) look_at(&plan.c, stream);
    status = make_ready(&plan, exec);
    if (status != HU_OK) return status;
    fill_args(&args, &plan, exec, how->events);
    status =
        x->sum->way == HU_SCALED_PARTS ? run_parts(&plan, &args, exec) : run_whole(&plan, &args, exec, how->events);
  }
  if (status != HU_OK || !plan.scaling) return status;
  hu_exec own = *exec;
  own.where.work = (uint8_t *)x->space + encoding;
  return hui_cuda_scaled_encode(plan.m, plan.n, &plan.scaled, plan.y, plan.n, plan.scaling, how->mode, plan.amax,
                                plan.stats, &own, how->events);
}
