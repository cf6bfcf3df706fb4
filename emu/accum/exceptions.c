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

static int takes_steps(const hu_accum *x) {
  const hu_block *b = &x->block;
  if (x->promote || x->slices) return 0;
  if (x->kind == HU_ACCUM_SEQ || x->kind == HU_ACCUM_FP32) return 1;
  if (x->kind != HU_ACCUM_BLOCK || b->order != HU_BLOCK_ORDER_UP || b->scaling) return 0;
  return b->rule == HU_BLOCK_ALIGN || b->rule == HU_BLOCK_EXACT;
}

static uint32_t code_at(const hu_vector *v, uint64_t k) {
  size_t size = hu_element_size(v->element);
  return hui_load_code((const uint8_t *)v->data + (ptrdiff_t)((size_t)v->stride * k * size), size);
}

static int is_signalling(const hu_vector *v, uint64_t k) {
  if (!v->data || v->element.kind != HU_ELEMENT_CODE) return 0;
  return hu_is_signalling(v->element.format, code_at(v, k));
}

static int any_signalling(const hu_dot_operands *x, uint64_t n) {
  int found = is_signalling(&x->c, 0);
  for (uint64_t k = 0; k < n; k++) found |= is_signalling(&x->a, k) | is_signalling(&x->b, k);
  return found;
}

/* A NaN among the operands of product k, its scales too? */
static int is_nan_given(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_num a, hu_num b) {
  hu_num sa, sb;
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return 1;
  if (!p->model.block.every) return 0;
  hui_scales_at(p, in, k, &sa, &sb);
  return sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN;
}

static step look(const hu_accum_plan *p, const hu_lines *in, uint64_t k, uint64_t n) {
  uint64_t length = p->model.kind == HU_ACCUM_BLOCK ? p->model.block.length : 1;
  step s = {n - k < length ? n : k + length, 0, {0, 0, 0}};
  for (; k < s.past; k++) {
    hu_num a = hui_read_a(p, in, k), b = hui_read_b(p, in, k);
    s.zero_times_infinity |= a.kind == HU_KIND_INF && b.kind == HU_KIND_ZERO;
    s.zero_times_infinity |= a.kind == HU_KIND_ZERO && b.kind == HU_KIND_INF;
    if (is_nan_given(p, in, k, a, b)) {
      hui_mark(&s.marks, HU_KIND_NAN, 0);
    } else if (a.kind == HU_KIND_INF || b.kind == HU_KIND_INF) {
      hui_mark(&s.marks, HU_KIND_INF, a.sign ^ b.sign);
    }
  }
  return s;
}

/* Invalid by its operands, or because infinities met: a NaN that none of what went in was. */
static int is_invalid(const step *s, hu_num before, hu_num after) {
  if (s->zero_times_infinity || (s->marks.plus && s->marks.minus)) return 1;
  return after.kind == HU_KIND_NAN && before.kind != HU_KIND_NAN && !s->marks.nan;
}

static hu_num take(const hu_accum_plan *p, const hu_lines *in, uint64_t k, uint64_t past, hu_num c, hu_draw *d) {
  return p->model.kind == HU_ACCUM_BLOCK ? hui_blocks(p, in, k, past, c, d) : hui_sum_seq(p, in, k, past, c, d);
}

hu_status hu_dot_exceptions(uint32_t *exceptions, size_t n, hu_element ez, const hu_dot_operands *x,
                            const hu_accum *accum, hu_mode mode) {
  uint64_t z = 0;
  hu_dot_plan t;
  hu_lines in;
  hu_watch watch = {0, 0, 0, 0};
  hu_draw d = hui_draw_of(0, 0, &watch);
  if (!exceptions) return HU_E_NULL;
  hu_status status = hui_dot_plan_read(&t, 1, n, &z, 1, ez, x, accum, mode, NULL);
  if (status != HU_OK) return status;
  if (!takes_steps(accum) || accum->mode.round >= HU_SRA || mode.round >= HU_SRA) return HU_E_ACCUM;
  const hu_num given = hui_dot_lines(&t, 0, &in);
  hu_num c = given;
  int invalid = any_signalling(x, n);
  for (uint64_t k = 0; k < n;) {
    step s = look(&t.model, &in, k, n);
    hu_num after = take(&t.model, &in, k, s.past, c, &d);
    invalid |= is_invalid(&s, c, after);
    c = after;
    k = s.past;
  }
  uint32_t set = hui_dot_finish(&t, 0, &in, given, c, 0) & HU_EVENT_OVERFLOW;
  *exceptions = set | (watch.overflows ? HU_EVENT_OVERFLOW : 0) | (invalid ? HU_EVENT_INVALID : 0);
  return HU_OK;
}
