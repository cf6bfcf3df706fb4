/* SPDX-License-Identifier: MIT */
/* gpu/gemm/gemm.cu - hui_cuda_gemm chooses the kernel of a product. */
#include "gpu/base/look.h"
#include "gpu/gemm/by_model.cuh"

#include "emu/base/exec.h"
#include "emu/gemm/check.h"
#include "emu/gemm/unit_plan.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/gemm/choose.h"
#include "gpu/gemm/seq.h"
#include "gpu/gemm/unfused.h"

static const hu_mode plain = {0, 0, 0, 0, 0, 0, {0, 0}};

static uint8_t code_size(hu_format format, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 0 : (uint8_t)(hui_code_bytes(format));
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
static hu_device_matrix matrix_of(const hu_operand *x, int along) {
  hu_device_matrix matrix;
  memset(&matrix, 0, sizeof matrix);
  matrix.data = x->data;
  matrix.line_step = along ? x->ld : 1;
  matrix.step = along ? 1 : x->ld;
  matrix.spec = hui_spec_of(x->format, plain);
  matrix.size = code_size(x->format, x->storage);
  matrix.along = along ? 1 : 0;
  size_t bytes = matrix.size ? matrix.size : sizeof(float);
  matrix.quads = (uintptr_t)x->data % (4 * bytes) == 0 && x->ld % 4 == 0;
  matrix.present = 1;
  set_plain(&matrix);
  return matrix;
}

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

static int pair_of(const hu_accum *accum, const hu_operand *a, const hu_operand *b, const hu_operand *c) {
  hu_format half = hu_format_ieee(5, 10, 0), brain = hu_format_ieee(8, 7, 0);
  const hu_operand *in[3] = {a, b, c};
  if (accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices) return PAIR_NONE;
  if (accum->mode.round != HU_RNE || accum->mode.saturate > HU_SAT_NONE) return PAIR_NONE;
  if (!hu_format_equal(accum->sum, half) && !hu_format_equal(accum->sum, brain)) return PAIR_NONE;
  for (int i = 0; i < 3; i++) {
    if (in[i] && (in[i]->storage != HU_STORAGE_CODES || !hu_format_equal(in[i]->format, accum->sum))) return PAIR_NONE;
  }
  return hu_format_equal(accum->sum, half) ? PAIR_HALF : PAIR_BRAIN;
}

static hu_source source_of(const hu_operand *x) {
  uint8_t values = x->storage == HU_STORAGE_VALUES;
  return hui_source_of(x->format, values ? HU_STORED_VALUES : HU_STORED_CODES,
                       (uint8_t)(values ? 4 : code_size(x->format, x->storage)));
}

/* Returns 1 for seq2(binary32,binary32), ties to even, of operands that binary32 holds. */
static int is_rounded32(const hu_accum *accum, hu_format a, hu_format b, const hu_format *c) {
  hu_format single = hui_format_binary32();
  return accum->kind == HU_ACCUM_SEQ2 && !accum->promote && !accum->slices && hu_format_equal(accum->product, single) &&
         hu_format_equal(accum->sum, single) && accum->mode.round == HU_RNE && accum->mode.saturate <= HU_SAT_NONE &&
         hui_gemm_fit_binary32(a, b, c);
}

static void plan_model(hu_accum_args *model, size_t k, const hu_operand *a, const hu_operand *b, const hu_operand *c,
                       const hu_accum *accum) {
  model->plan.a = source_of(a);
  model->plan.b = source_of(b);
  model->plan.sa = model->plan.a;
  model->plan.sb = model->plan.b;
  model->c = c ? source_of(c) : model->plan.a;
  hui_plan_model(&model->plan, accum, k, &model->c);
}

static void fill(hu_gemm_args *args, size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                 const hu_operand *b, const hu_operand *c, hu_mode mode, const hu_exec *exec, hu_events *events) {
  args->m = m;
  args->n = n;
  args->k = k;
  args->a = matrix_of(a, !a->transposed);
  args->b = matrix_of(b, b->transposed);
  args->c = c ? matrix_of(c, !c->transposed) : args->a;
  args->c.present = c != NULL;
  args->d = result->data;
  args->ldd = result->ld;
  args->dspec = hui_spec_of(result->format, mode);
  args->dsize = code_size(result->format, result->storage);
  args->stochastic = mode.round >= HU_SRA;
  args->low = 0;
  args->stream = hui_exec_stream(exec);
  args->events = events;
}

/* Runs a product whose operands have been checked. */
static hu_status run(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a, const hu_operand *b,
                     const hu_operand *c, const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events) {
  void *stream = exec->where.queue;
  hu_gemm_args args;
  fill(&args, m, n, k, result, a, b, c, mode, exec, events);
  const hu_format *fc = c ? &c->format : NULL;
  hu_accum_args model;
  switch (hui_gemm_choose_way(k, a->format, b->format, fc, accum)) {
    case HU_GEMM_WAY_FP32: return hui_gemm_launch_fp32(&args, stream);
    case HU_GEMM_WAY_EXACT32: return hui_gemm_launch_exact32(&args, stream);
    case HU_GEMM_WAY_EXACT64:
      return hui_gemm_bytes_serve(&args) ? hui_gemm_launch_bytes(&args, stream)
                                         : hui_gemm_launch_exact64(&args, stream);
    case HU_GEMM_WAY_BYTES: return hui_gemm_launch_bytes(&args, stream);
    case HU_GEMM_WAY_WIDE: {
      int32_t bits = sum_bits(k, a->format, b->format, fc, &args.low);
      return hui_gemm_launch_wide(&args, bits, stream);
    }
    default: break;
  }
  if (is_rounded32(accum, a->format, b->format, fc)) return hui_gemm_launch_rounded(&args, stream);
  int pair = pair_of(accum, a, b, c);
  if (pair) return hui_gemm_launch_half(&args, &args.a.spec, pair == PAIR_BRAIN, stream);
  plan_model(&model, k, a, b, c, accum);
  hu_seq_args seq;
  if (hui_seq_plan(&seq, a->format, b->format, fc, accum)) return hui_gemm_launch_seq(&args, &model, &seq, stream);
  hu_unfused_args unfused;
  if (hui_unfused_plan(&unfused, k, a->format, b->format, fc, accum))
    return hui_gemm_launch_unfused(&args, &model, &unfused, stream);
  hu_unit_plan plan;
  if (hui_gemm_blocks_plan(&plan, &args, &model, NULL))
    return hui_gemm_launch_blocks(&args, &model, NULL, &plan, stream);
  if (hui_gemm_align_serves(&model)) return hui_gemm_launch_align(&args, &model, stream);
  return hui_gemm_launch_model(&args, &model, stream);
}

static uint8_t steps_by_four(const size_t step[2]) { return step[0] % 4 == 0 && step[1] % 4 == 0; }

static int is_value(uint8_t storage) { return storage == HU_STORAGE_VALUES; }

hu_status hui_device_gemm_batch(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                                const hu_operand *b, const hu_gemm_batch *batch, const hu_accum *accum, hu_stream words,
                                void *stream) {
  hu_gemm_specs specs;
  hu_status status = hui_gemm_check(&specs, m, n, k, result, a, b, NULL, NULL, NULL, accum, plain);
  if (status != HU_OK || m == 0 || n == 0 || batch->outer == 0 || batch->inner == 0) return status;
  if (!is_value(result->storage) || !is_value(a->storage) || !is_value(b->storage)) return HU_E_FORMAT;
  hu_exec exec;
  hu_gemm_args args;
  hu_accum_args model;
  memset(&exec, 0, sizeof exec);
  exec.stream = words;
  fill(&args, m, n, k, result, a, b, NULL, plain, &exec, NULL);
  args.a.quads = args.a.quads && steps_by_four(batch->a);
  args.b.quads = args.b.quads && steps_by_four(batch->b);
  if (hui_gemm_choose_way(k, a->format, b->format, NULL, accum) == HU_GEMM_WAY_FP32)
    return hui_gemm_launch_fp32_batch(&args, batch, stream);
  plan_model(&model, k, a, b, NULL, accum);
  return hui_gemm_launch_model_batch(&args, &model, batch, stream);
}

static hu_status run_scaled(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                            const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                            const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events) {
  void *stream = exec->where.queue;
  hu_gemm_args args;
  hu_accum_args model;
  hu_accum_scales scales;
  fill(&args, m, n, k, result, a, b, c, mode, exec, events);
  plan_model(&model, k, a, b, c, accum);
  model.plan.sa = source_of(sa);
  model.plan.sb = source_of(sb);
  scales.a = matrix_of(sa, !sa->transposed);
  scales.b = matrix_of(sb, sb->transposed);
  uint64_t every = accum->scaled ? accum->promote : accum->block.every;
  scales.count = k / every + (k % every != 0);
  hu_unit_plan plan;
  if (hui_gemm_blocks_plan(&plan, &args, &model, &scales))
    return hui_gemm_launch_blocks(&args, &model, &scales, &plan, stream);
  return hui_gemm_launch_scaled(&args, &model, &scales, stream);
}

/* ---- the calls ---- */

static void look_at(const hu_operand *x, size_t rows, size_t cols, void *stream) {
  if (!x || x->storage != HU_STORAGE_CODES) return;
  size_t down = x->transposed ? cols : rows, across = x->transposed ? rows : cols;
  hui_look_at(hui_code_rows_of(down, across, x->data, x->ld, x->format), stream);
}

static hu_status multiply(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                          const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                          const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events, int looks) {
  void *stream = exec->where.queue;
  hu_gemm_specs specs;
  hu_status status = hui_gemm_check(&specs, m, n, k, result, a, b, c, sa, sb, accum, mode);
  if (status == HU_OK) status = hui_check_events(events);
  if (status != HU_OK || m == 0 || n == 0) return status;
  if (looks) {
    look_at(a, m, k, stream);
    look_at(b, k, n, stream);
    look_at(c, m, n, stream);
    look_at(sa, m, hui_gemm_scales(accum, k), stream);
    look_at(sb, hui_gemm_scales(accum, k), n, stream);
  }
  return sa ? run_scaled(m, n, k, result, a, b, c, sa, sb, accum, mode, exec, events)
            : run(m, n, k, result, a, b, c, accum, mode, exec, events);
}

hu_status hui_cuda_gemm(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a, const hu_operand *b,
                        const hu_operand *c, const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                        hu_mode mode, const hu_exec *exec, hu_events *events) {
  return multiply(m, n, k, result, a, b, c, sa, sb, accum, mode, exec, events, 1);
}

hu_status hui_gemm_enqueue(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                           const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                           const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return multiply(m, n, k, result, a, b, c, sa, sb, accum, mode, exec, events, 0);
}
