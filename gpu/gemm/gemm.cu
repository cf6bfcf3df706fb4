/* SPDX-License-Identifier: MIT */
/* gpu/gemm/gemm.cu - hui_cuda_gemm chooses the kernel of a product. */
#include "gpu/base/look.h"
#include "gpu/gemm/by_model.cuh"

#include "emu/base/exec.h"
#include "emu/base/matrix_view.h"
#include "emu/gemm/check.h"
#include "emu/gemm/unit_plan.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/gemm/choose.h"
#include "gpu/gemm/seq.h"
#include "gpu/gemm/unfused.h"

static const hu_mode plain = {0, 0, 0, 0, 0, 0, {0, 0}};

/* Returns the bytes of a code; 0: values. */
static uint8_t code_size(const hu_type *type) {
  return type->kind == HU_TYPE_CODES ? (uint8_t)hui_code_bytes(type->format) : 0;
}

/* With d0 = 23 - m, low = emin + 127, a magnitude's code 2^d0 is the pattern of its value 2^(1 - low), subnormal or
 * not. */
static void set_plain(hu_device_matrix *matrix) {
  const hu_spec *spec = &matrix->spec;
  int32_t low = spec->emin + 127;
  if (matrix->size != 2 || spec->sign_mask != 0x8000 || !spec->negzero || !hui_has_subnormals(spec) ||
      !spec->fits_binary32 || spec->m > 15 || low < 1 || low > 128)
    return;
  matrix->plain = low == 1 ? 1 : 2;
  matrix->plain_shift = (uint8_t)(23 - spec->m);
  matrix->plain_mask = 0x7FFF;
  matrix->plain_most = spec->max_code;
  matrix->plain_factor = (uint32_t)(low - 1 + 127) << 23;
}

/* Describes an operand. along: 1 if its stored rows run along k (A as it is, B transposed). */
static hu_device_matrix matrix_of(const hu_view *x, int along) {
  hu_device_matrix matrix;
  size_t ld = hui_matrix_ld(x);
  memset(&matrix, 0, sizeof matrix);
  matrix.data = x->data;
  matrix.line_step = along ? ld : 1;
  matrix.step = along ? 1 : ld;
  matrix.spec = hui_spec_of(x->type.format, plain);
  matrix.size = code_size(&x->type);
  matrix.along = along ? 1 : 0;
  size_t bytes = matrix.size ? matrix.size : sizeof(float);
  matrix.quads = (uintptr_t)x->data % (4 * bytes) == 0 && ld % 4 == 0;
  matrix.present = 1;
  set_plain(&matrix);
  return matrix;
}

/* Returns C of a settled product; NULL: absent. */
static const hu_view *c_of(const hu_product *x) { return hui_matrix_is_absent(&x->c) ? NULL : &x->c; }

typedef struct digit_range {
  int32_t low, high; /* all values are multiples of 2^low and below 2^high */
} digit_range;

static digit_range range_of(hu_format format) {
  hu_spec spec = hui_spec_of(format, hui_plain_mode());
  digit_range extent = {spec.emin - spec.m, spec.emax + 1};
  return extent;
}

/* Returns the bits of a two's complement number that holds every sum; the lowest has weight 2^*low. */
static int32_t sum_bits(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t *low) {
  digit_range a = range_of(fa), b = range_of(fb);
  digit_range sum = {a.low + b.low, a.high + b.high};
  if (fc) {
    digit_range c = range_of(*fc);
    if (c.low < sum.low) sum.low = c.low;
    if (c.high > sum.high) sum.high = c.high;
  }
  int32_t log = 1; /* terms < 2^log */
  while (log < 64 && (k >> (log - 1)) > 0) log++;
  *low = sum.low;
  return sum.high - sum.low + log + 1;
}

/* Whether the device's own fused multiply-add of pairs serves (seq_half.cu). */
enum { PAIR_NONE = 0, PAIR_HALF = 1, PAIR_BRAIN = 2 };

static int pair_of(const hu_product *x) {
  const hu_accum *accum = x->accum;
  hu_format half = hu_format_ieee(5, 10, 0), brain = hu_format_ieee(8, 7, 0);
  const hu_view *in[3] = {&x->a, &x->b, c_of(x)};
  if (accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices) return PAIR_NONE;
  if (accum->mode.round != HU_RNE || accum->mode.saturate > HU_SAT_NONE) return PAIR_NONE;
  if (!hu_format_equal(accum->sum, half) && !hu_format_equal(accum->sum, brain)) return PAIR_NONE;
  for (int i = 0; i < 3; i++) {
    if (in[i] && (!hui_matrix_is_codes(in[i]) || !hu_format_equal(in[i]->type.format, accum->sum))) return PAIR_NONE;
  }
  return hu_format_equal(accum->sum, half) ? PAIR_HALF : PAIR_BRAIN;
}

static hu_source source_of(const hu_view *x) {
  return hui_source_of(x->type.format, hui_matrix_is_codes(x) ? HU_STORED_CODES : HU_STORED_VALUES,
                       (uint8_t)hui_matrix_size(x));
}

/* Returns 1 for seq2(binary32,binary32), ties to even, of operands that binary32 holds. */
static int is_rounded32(const hu_accum *accum, hu_format a, hu_format b, const hu_format *c) {
  hu_format single = hui_format_binary32();
  return accum->kind == HU_ACCUM_SEQ2 && !accum->promote && !accum->slices && hu_format_equal(accum->product, single) &&
         hu_format_equal(accum->sum, single) && accum->mode.round == HU_RNE && accum->mode.saturate <= HU_SAT_NONE &&
         hui_gemm_fit_binary32(a, b, c);
}

static void plan_model(hu_accum_args *model, const hu_product *x) {
  model->plan.a = source_of(&x->a);
  model->plan.b = source_of(&x->b);
  model->plan.sa = model->plan.a;
  model->plan.sb = model->plan.b;
  model->c = c_of(x) ? source_of(&x->c) : model->plan.a;
  hui_plan_model(&model->plan, x->accum, x->k, &model->c);
}

static void fill(hu_gemm_args *args, const hu_product *x, const hu_how *how) {
  args->m = x->m;
  args->n = x->n;
  args->k = x->k;
  args->a = matrix_of(&x->a, !hui_matrix_is_transposed(&x->a));
  args->b = matrix_of(&x->b, hui_matrix_is_transposed(&x->b));
  args->c = c_of(x) ? matrix_of(&x->c, !hui_matrix_is_transposed(&x->c)) : args->a;
  args->c.present = c_of(x) != NULL;
  args->d = x->d.data;
  args->ldd = (size_t)x->d.row;
  args->dspec = hui_spec_of(x->d.type.format, how->mode);
  args->dsize = code_size(&x->d.type);
  args->stochastic = how->mode.round >= HU_SRA;
  args->low = 0;
  args->stream = hui_exec_stream(how->exec);
  args->events = how->events;
}

/* Runs a product without scales whose operands have been checked. */
static hu_status run(const hu_product *x, const hu_how *how) {
  void *stream = how->exec->where.queue;
  hu_gemm_args args;
  fill(&args, x, how);
  hu_format fa = x->a.type.format, fb = x->b.type.format;
  const hu_format *fc = c_of(x) ? &x->c.type.format : NULL;
  hu_accum_args model;
  switch (hui_gemm_choose_way(x->k, fa, fb, fc, x->accum)) {
    case HU_GEMM_WAY_FP32: return hui_gemm_launch_fp32(&args, stream);
    case HU_GEMM_WAY_EXACT32: return hui_gemm_launch_exact32(&args, stream);
    case HU_GEMM_WAY_EXACT64:
      return hui_gemm_bytes_serve(&args) ? hui_gemm_launch_bytes(&args, stream)
                                         : hui_gemm_launch_exact64(&args, stream);
    case HU_GEMM_WAY_BYTES: return hui_gemm_launch_bytes(&args, stream);
    case HU_GEMM_WAY_WIDE: {
      int32_t bits = sum_bits(x->k, fa, fb, fc, &args.low);
      return hui_gemm_launch_wide(&args, bits, stream);
    }
    default: break;
  }
  if (is_rounded32(x->accum, fa, fb, fc)) return hui_gemm_launch_rounded(&args, stream);
  int pair = pair_of(x);
  if (pair) return hui_gemm_launch_half(&args, &args.a.spec, pair == PAIR_BRAIN, stream);
  plan_model(&model, x);
  hu_seq_args seq;
  if (hui_seq_plan(&seq, fa, fb, fc, x->accum)) return hui_gemm_launch_seq(&args, &model, &seq, stream);
  hu_unfused_args unfused;
  if (hui_unfused_plan(&unfused, x->k, fa, fb, fc, x->accum))
    return hui_gemm_launch_unfused(&args, &model, &unfused, stream);
  hu_unit_plan plan;
  if (hui_gemm_blocks_plan(&plan, &args, &model, NULL))
    return hui_gemm_launch_blocks(&args, &model, NULL, &plan, stream);
  if (hui_gemm_align_serves(&model)) return hui_gemm_launch_align(&args, &model, stream);
  return hui_gemm_launch_model(&args, &model, stream);
}

static uint8_t steps_by_four(const size_t step[2]) { return step[0] % 4 == 0 && step[1] % 4 == 0; }

hu_status hui_device_gemm_batch(const hu_product *product, const hu_gemm_batch *batch, hu_stream words, void *stream) {
  hu_gemm_specs specs;
  hu_product own = *product;
  hu_status status = hui_gemm_check(&specs, &own, plain);
  if (status != HU_OK || own.m == 0 || own.n == 0 || batch->outer == 0 || batch->inner == 0) return status;
  if (own.d.type.kind == HU_TYPE_CODES || hui_matrix_is_codes(&own.a) || hui_matrix_is_codes(&own.b))
    return HU_E_FORMAT;
  hu_exec exec;
  hu_gemm_args args;
  hu_accum_args model;
  memset(&exec, 0, sizeof exec);
  exec.stream = words;
  hu_how how = hu_how_of(plain, &exec, NULL);
  fill(&args, &own, &how);
  args.a.quads = args.a.quads && steps_by_four(batch->a);
  args.b.quads = args.b.quads && steps_by_four(batch->b);
  if (hui_gemm_choose_way(own.k, own.a.type.format, own.b.type.format, NULL, own.accum) == HU_GEMM_WAY_FP32)
    return hui_gemm_launch_fp32_batch(&args, batch, stream);
  plan_model(&model, &own);
  return hui_gemm_launch_model_batch(&args, &model, batch, stream);
}

static hu_status run_scaled(const hu_product *x, const hu_how *how) {
  void *stream = how->exec->where.queue;
  hu_gemm_args args;
  hu_accum_args model;
  hu_accum_scales scales;
  fill(&args, x, how);
  plan_model(&model, x);
  model.plan.sa = source_of(&x->sa);
  model.plan.sb = source_of(&x->sb);
  scales.a = matrix_of(&x->sa, !hui_matrix_is_transposed(&x->sa));
  scales.b = matrix_of(&x->sb, hui_matrix_is_transposed(&x->sb));
  scales.count = hui_gemm_scales(x->accum, x->k);
  hu_unit_plan plan;
  if (hui_gemm_blocks_plan(&plan, &args, &model, &scales))
    return hui_gemm_launch_blocks(&args, &model, &scales, &plan, stream);
  return hui_gemm_launch_scaled(&args, &model, &scales, stream);
}

/* ---- the calls ---- */

static void look_at(const hu_view *x, size_t rows, size_t cols, void *stream) {
  if (hui_matrix_is_absent(x) || !hui_matrix_is_codes(x)) return;
  int transposed = hui_matrix_is_transposed(x);
  size_t down = transposed ? cols : rows, across = transposed ? rows : cols;
  hui_look_at(hui_code_rows_of(down, across, x->data, hui_matrix_ld(x), x->type.format), stream);
}

static hu_status multiply(const hu_product *product, const hu_how *how, int looks) {
  void *stream = how->exec->where.queue;
  hu_gemm_specs specs;
  hu_product own = *product;
  if (own.watch) return HU_E_DEVICE;
  hu_status status = hui_gemm_check(&specs, &own, how->mode);
  if (status == HU_OK) status = hui_check_events(how->events);
  if (status != HU_OK || own.m == 0 || own.n == 0) return status;
  if (looks) {
    size_t scales = hui_gemm_scales(own.accum, own.k);
    look_at(&own.a, own.m, own.k, stream);
    look_at(&own.b, own.k, own.n, stream);
    look_at(&own.c, own.m, own.n, stream);
    look_at(&own.sa, own.m, scales, stream);
    look_at(&own.sb, scales, own.n, stream);
  }
  return hui_matrix_is_absent(&own.sa) ? run(&own, how) : run_scaled(&own, how);
}

hu_status hui_cuda_gemm(const hu_product *product, const hu_how *how) { return multiply(product, how, 1); }

hu_status hui_gemm_enqueue(const hu_product *product, const hu_how *how) { return multiply(product, how, 0); }
