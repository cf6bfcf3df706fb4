/* SPDX-License-Identifier: MIT */
/* hu_dot_exceptions: the sum is taken step by step, where a step is a block or a product, so that what each step's
 * operands are decides, as in an instruction. */
#include "emu/accum/check.h"
#include "emu/core/dot.h"
#include "halfulp/arith.h"

/* What the operands of a step are. */
typedef struct step {
  uint64_t past; /* its products end here */
  uint32_t zero_times_infinity;
  hu_marks marks; /* of the products */
} step;

static int takes_steps(const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (accum->promote || accum->slices) return 0;
  if (accum->kind == HU_ACCUM_SEQ || accum->kind == HU_ACCUM_FP32) return 1;
  if (accum->kind != HU_ACCUM_BLOCK || block->order != HU_BLOCK_ORDER_UP || block->scaling) return 0;
  if (block->via.e || block->via.m) return 0;
  return block->rule == HU_BLOCK_ALIGN || block->rule == HU_BLOCK_EXACT;
}

static int is_signalling(const hu_view *view, uint64_t k) {
  hu_type type = hui_codes_type(&view->type);
  if (!view->data || type.kind != HU_TYPE_CODES) return 0;
  size_t size = hu_type_size(type);
  const uint8_t *at = (const uint8_t *)view->data + (ptrdiff_t)((size_t)view->stride * k * size);
  return hu_is_signalling(type.format, hui_load_code(at, size));
}

static int any_signalling(const hu_product *x) {
  int found = is_signalling(&x->c, 0);
  for (uint64_t k = 0; k < x->k; k++) found |= is_signalling(&x->a, k) | is_signalling(&x->b, k);
  return found;
}

/* Checks for a NaN among the operands of product k, its scales too. */
static int is_nan_given(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_num a, hu_num b) {
  hu_num sa, sb;
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return 1;
  if (!plan->model.block.every) return 0;
  hui_scales_at(plan, in, k, &sa, &sb);
  return sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN;
}

static step look(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t n) {
  uint64_t length = plan->model.kind == HU_ACCUM_BLOCK ? plan->model.block.length : 1;
  step seen = {n - k < length ? n : k + length, 0, {0, 0, 0}};
  for (; k < seen.past; k++) {
    hu_num a = hui_read_a(plan, in, k), b = hui_read_b(plan, in, k);
    seen.zero_times_infinity |= a.kind == HU_KIND_INF && b.kind == HU_KIND_ZERO;
    seen.zero_times_infinity |= a.kind == HU_KIND_ZERO && b.kind == HU_KIND_INF;
    if (is_nan_given(plan, in, k, a, b)) {
      hui_mark(&seen.marks, HU_KIND_NAN, 0);
    } else if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) {
      hui_mark(&seen.marks, HU_KIND_INF, a.sign ^ b.sign);
    }
  }
  return seen;
}

/* Invalid by its operands, or because infinities met: a NaN that none of what went in was. */
static int is_invalid(const step *seen, hu_num before, hu_num after) {
  if (seen->zero_times_infinity || (seen->marks.plus && seen->marks.minus)) return 1;
  return after.kind == HU_KIND_NAN && before.kind != HU_KIND_NAN && !seen->marks.nan;
}

static hu_num take(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, hu_num c, hu_draw *draw) {
  return plan->model.kind == HU_ACCUM_BLOCK ? hui_blocks(plan, in, k, past, c, draw)
                                            : hui_sum_seq(plan, in, k, past, c, draw);
}

hu_status hu_dot_exceptions(uint32_t *exceptions, const hu_product *x, hu_mode mode) {
  uint64_t z = 0;
  hu_dot_plan plan;
  hu_lines in;
  hu_watch watch = {0, 0, 0, 0};
  hu_draw draw = hui_draw_of(0, 0, &watch);
  if (!exceptions || !x) return HU_E_NULL;
  hu_product own = *x; /* with a result that no one sees */
  own.d.data = &z;
  hu_status status = hui_dot_plan_one(&plan, &own, mode, NULL);
  if (status != HU_OK) return status;
  if (!takes_steps(x->accum) || x->accum->mode.round >= HU_SRA || mode.round >= HU_SRA) return HU_E_ACCUM;
  const hu_num given = hui_dot_lines(&plan, 0, &in);
  hu_num c = given;
  int invalid = any_signalling(x);
  uint32_t last = 0; /* of the last rounding of any step: the watch counts those of sums with a product that is not 0 */
  for (uint64_t k = 0; k < plan.n;) {
    step seen = look(&plan.model, &in, k, plan.n);
    draw.events = 0;
    hu_num after = take(&plan.model, &in, k, seen.past, c, &draw);
    last |= draw.events;
    invalid |= is_invalid(&seen, c, after);
    c = after;
    k = seen.past;
  }
  uint32_t set = (hui_dot_finish(&plan, 0, &in, given, c, 0) | last) & HU_EVENT_OVERFLOW;
  *exceptions = set | (watch.overflows ? HU_EVENT_OVERFLOW : 0) | (invalid ? HU_EVENT_INVALID : 0);
  return HU_OK;
}
