/* SPDX-License-Identifier: MIT */
/* hu_dot, hu_dot_n: arguments, elements, threads. The sums are those of emu/accum.h. */
#include "emu/accum.h"
#include "emu/accum_keys.h"
#include "emu/accum_use.h"
#include "emu/threads.h"

/* ---- elements ---- */

static int is_element(hu_element e) {
  hu_format none;
  memset(&none, 0, sizeof none);
  if (e.reserved || e.kind > HU_ELEMENT_S32) return 0;
  return e.kind == HU_ELEMENT_CODE || hu_format_equal(e.format, none);
}

size_t hu_element_size(hu_element e) {
  if (!is_element(e)) return 0;
  if (e.kind == HU_ELEMENT_CODE) return hu_format_limits(e.format).storage / 8;
  return e.kind == HU_ELEMENT_BINARY64 ? 8 : e.kind == HU_ELEMENT_S32 ? 4 : 1;
}

unsigned hu_element_width(hu_element e) {
  if (!is_element(e)) return 0;
  if (e.kind == HU_ELEMENT_CODE) return hu_format_limits(e.format).width;
  if (e.kind == HU_ELEMENT_S4 || e.kind == HU_ELEMENT_U4) return 4;
  return (unsigned)hu_element_size(e) * 8;
}

/* ---- arguments ---- */

static hu_status check_element(hu_element e) {
  if (!is_element(e)) return HU_E_ACCUM;
  return e.kind == HU_ELEMENT_CODE ? hu_format_check(e.format, NULL) : HU_OK;
}

static hu_status check_vector(const hu_vector *v, int wanted) {
  if (!v->data) return wanted ? HU_E_NULL : HU_OK;
  hu_status s = check_element(v->element);
  if (s != HU_OK) return s;
  return (uintptr_t)v->data % hu_element_size(v->element) ? HU_E_ALIGN : HU_OK;
}

/* Scales belong to some models, and to no others. */
static hu_status check_scale(const hu_vector *v, const hu_accum *accum, int wanted) {
  if (!hu_accum_is_scaled(accum)) return v->data ? HU_E_ACCUM : HU_OK;
  hu_status s = check_vector(v, wanted);
  if (s != HU_OK || !v->data) return s;
  if (v->element.kind != HU_ELEMENT_CODE) return HU_E_ACCUM;
  int same = hu_format_equal(v->element.format, accum->block.scale);
  return accum->scaled || same ? HU_OK : HU_E_ACCUM;
}

static hu_status check_result(hu_element e, const hu_accum *accum, hu_mode mode) {
  hu_status s = check_element(e);
  if (s == HU_OK) s = hu_mode_check(mode);
  if (s != HU_OK) return s;
  if ((e.kind == HU_ELEMENT_S32) != (accum->kind == HU_ACCUM_INT32)) return HU_E_ACCUM;
  if (e.kind != HU_ELEMENT_CODE && e.kind != HU_ELEMENT_BINARY64 && e.kind != HU_ELEMENT_S32) return HU_E_ACCUM;
  return e.kind == HU_ELEMENT_BINARY64 && mode.round != HU_RNE ? HU_E_MODE : HU_OK;
}

static hu_status check(size_t count, size_t n, const void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                       const hu_accum *accum, hu_mode mode) {
  if (!x || !accum) return HU_E_NULL;
  hu_status s = hu_accum_check(accum);
  if (s == HU_OK) s = check_result(ez, accum, mode);
  int some = count > 0 && n > 0;
  if (s == HU_OK) s = check_vector(&x->a, some);
  if (s == HU_OK) s = check_vector(&x->b, some);
  if (s == HU_OK) s = check_vector(&x->c, 0);
  if (s == HU_OK) s = check_scale(&x->sa, accum, some);
  if (s == HU_OK) s = check_scale(&x->sb, accum, some);
  if (s != HU_OK) return s;
  if (count && !z) return HU_E_NULL;
  if ((uintptr_t)z % hu_element_size(ez)) return HU_E_ALIGN;
  if (incz == 0 || n > (size_t)PTRDIFF_MAX / 8) return HU_E_SHAPE;
  if (!x->a.data || !x->b.data) return HU_OK; /* no products: their elements may be left out */
  return hu_accum_usable(accum, &x->a.element, &x->b.element, x->c.data ? &x->c.element : NULL);
}

/* ---- one dot product ---- */

typedef struct dot_call {
  size_t count, n, parts;
  uint8_t *z;
  ptrdiff_t incz;
  hu_element ez;
  const hu_dot_operands *x;
  const hu_accum *accum;
  hu_accum_plan plan;
  hu_source c;
  hu_spec spec;
  hu_stream stream;
  hu_events events[HU_THREADS_MAX];
  hu_watch *watch; /* as asked for; NULL: not */
  hu_watch watches[HU_THREADS_MAX];
} dot_call;

static hu_source vector_source(const hu_vector *v) {
  uint8_t kind = v->element.kind == HU_ELEMENT_BINARY64 ? HU_STORED_BINARY64 : HU_STORED_CODES;
  hu_format f = v->data ? v->element.format : hu_format_ieee(8, 23, 0);
  return hu_source_of(f, v->data ? kind : HU_STORED_CODES, (uint8_t)(v->data ? hu_element_size(v->element) : 4));
}

static hu_line vector_line(const hu_vector *v, size_t i) {
  hu_line z = {NULL, 0};
  if (!v->data) return z;
  ptrdiff_t size = (ptrdiff_t)hu_element_size(v->element);
  z.at = (const uint8_t *)v->data + (ptrdiff_t)i * v->step * size;
  z.step = v->stride * size;
  return z;
}

static int line_has_nan(const hu_source *s, hu_line l, size_t n) {
  for (size_t k = 0; l.at && k < n; k++) {
    if (hu_source_read(s, l.at + (ptrdiff_t)k * l.step).kind == HU_KIND_NAN) return 1;
  }
  return 0;
}

static int nan_given(const dot_call *t, const hu_lines *in, hu_num c) {
  size_t every = t->accum->scaled ? t->accum->promote : t->accum->block.every;
  size_t scales = every ? (t->n + every - 1) / every : 0;
  return c.kind == HU_KIND_NAN || line_has_nan(&t->plan.a, in->a, t->n) || line_has_nan(&t->plan.b, in->b, t->n) ||
         line_has_nan(&t->plan.sa, in->sa, scales) || line_has_nan(&t->plan.sb, in->sb, scales);
}

static void store(uint8_t *z, size_t size, uint64_t code) {
  uint16_t h = (uint16_t)code;
  uint32_t w = (uint32_t)code;
  if (size == 1) *z = (uint8_t)code;
  if (size == 2) memcpy(z, &h, 2);
  if (size == 4) memcpy(z, &w, 4);
  if (size == 8) memcpy(z, &code, 8);
}

/* Rounded to 53 digits with the exponent unbounded, is |x| still below 2^-1022? */
static int tiny64(hu_num x) {
  int32_t lead = hu_clz64(x.sig), k = x.exp + 63 - lead;
  uint64_t sig = x.sig << lead;
  int all_ones = sig >> 11 == 0x1FFFFFFFFFFFFFu;
  return k < -1023 || (k == -1023 && !(all_ones && hu_against_half(sig, x.sticky, 11) >= 0));
}

static uint32_t events64(hu_num x, uint64_t code) {
  hu_num z = hu_unpack64(code);
  if (x.kind == HU_KIND_NAN) return HU_EVENT_NAN_IN;
  if (x.kind == HU_KIND_INF) return HU_EVENT_INF_IN;
  if (x.kind == HU_KIND_ZERO) return 0;
  if (z.kind == HU_KIND_INF) return HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (z.kind == HU_KIND_ZERO) return HU_EVENT_TO_ZERO | HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW;
  int same = !x.sticky && hu_exponent(x) == hu_exponent(z) && x.sig << hu_clz64(x.sig) == z.sig << hu_clz64(z.sig);
  uint32_t set = hu_exponent(z) < -1022 ? HU_EVENT_SUBNORMAL : 0;
  if (!same) set |= HU_EVENT_INEXACT | (tiny64(x) ? HU_EVENT_UNDERFLOW : 0);
  return set;
}

static void finish(const dot_call *t, size_t i, const hu_lines *in, hu_num c, hu_num sum, hu_events *events) {
  uint32_t set, random = 0;
  uint64_t code;
  if (t->ez.kind == HU_ELEMENT_BINARY64) {
    code = hu_round64(sum);
    set = events64(sum, code);
  } else {
    if (t->spec.round >= HU_SRA) random = hu_stream_at(t->stream.key, t->stream.counter + i) >> (32 - t->spec.bits);
    code = hu_round(&t->spec, sum, random, &set);
  }
  size_t size = hu_element_size(t->ez);
  store(t->z + (ptrdiff_t)i * t->incz * (ptrdiff_t)size, size, code);
  if (sum.kind == HU_KIND_NAN && !nan_given(t, in, c)) set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  hu_events_count(events, set);
}

static void one_sum(const dot_call *t, size_t i, hu_events *events, hu_watch *watch) {
  const hu_dot_operands *x = t->x;
  hu_lines in = {vector_line(&x->a, i), vector_line(&x->b, i), vector_line(&x->sa, i), vector_line(&x->sb, i)};
  hu_draw d = hu_draw_of(t->stream.key, t->stream.counter + i, watch);
  hu_line at = vector_line(&x->c, i);
  hu_num c = at.at ? hu_source_read(&t->c, at.at) : hu_num_special(HU_KIND_ZERO, 0);
  finish(t, i, &in, c, hu_accum_sum(&t->plan, &in, t->n, c, &d), events);
}

static int32_t read_integer(const uint8_t *p, uint8_t kind) {
  switch (kind) {
    case HU_ELEMENT_S8: return (int32_t)(*p ^ 0x80) - 0x80;
    case HU_ELEMENT_U8: return *p;
    case HU_ELEMENT_S4: return (int32_t)((*p & 15) ^ 8) - 8;
    default: return *p & 15;
  }
}

/* The sum s of an instruction goes into c. */
static uint32_t join_integer(const dot_call *t, uint32_t c, int64_t s, uint32_t *events, hu_watch *watch) {
  uint32_t beyond = 0, saturated = hu_int_join(c, s, 1, &beyond);
  if (watch && s) {
    watch->additions++;
    watch->overflows += beyond != 0;
  }
  if (t->accum->length == 0) return hu_int_join(c, s, 0, events);
  *events |= beyond;
  return saturated;
}

static void one_integer(const dot_call *t, size_t i, hu_events *events, hu_watch *watch) {
  const hu_dot_operands *x = t->x;
  hu_line a = vector_line(&x->a, i), b = vector_line(&x->b, i), at = vector_line(&x->c, i);
  uint32_t c = at.at ? hu_load_code(at.at, 4) : 0, set = 0;
  int64_t s = 0;
  for (size_t k = 0; k < t->n; k++) {
    s += (int64_t)read_integer(a.at + (ptrdiff_t)k * a.step, x->a.element.kind) *
         read_integer(b.at + (ptrdiff_t)k * b.step, x->b.element.kind);
    if (t->accum->length && (k + 1) % t->accum->length) continue;
    c = join_integer(t, c, s, &set, watch);
    s = 0;
  }
  c = join_integer(t, c, s, &set, watch);
  store(t->z + (ptrdiff_t)i * t->incz * 4, 4, c);
  hu_events_count(events, set);
}

static void run_part(void *context, size_t part) {
  dot_call *t = context;
  hu_watch *watch = t->watch ? &t->watches[part] : NULL;
  for (size_t i = part; i < t->count; i += t->parts) {
    if (t->accum->kind == HU_ACCUM_INT32) {
      one_integer(t, i, &t->events[part], watch);
    } else {
      one_sum(t, i, &t->events[part], watch);
    }
  }
}

static void make_plan(dot_call *t, hu_mode mode) {
  hu_accum_plan *p = &t->plan;
  t->spec = hu_spec_of(t->ez.kind == HU_ELEMENT_CODE ? t->ez.format : hu_format_ieee(8, 23, 0), mode);
  if (t->accum->kind == HU_ACCUM_INT32) return;
  p->a = vector_source(&t->x->a);
  p->b = vector_source(&t->x->b);
  p->sa = vector_source(&t->x->sa);
  p->sb = vector_source(&t->x->sb);
  t->c = vector_source(&t->x->c);
  hu_plan_model(p, t->accum, hu_accum_result(t->accum), t->n, &t->c);
  p->down = mode.round == HU_RTN;
}

hu_status hu_dot_n_watched(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                           const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events,
                           hu_watch *watch) {
  dot_call t;
  hu_status s = check(count, n, z, incz, ez, x, accum, mode);
  if (s != HU_OK || count == 0) return s;
  uint32_t threads = exec && exec->threads > 1 ? exec->threads : 1;
  if (threads > HU_THREADS_MAX) threads = HU_THREADS_MAX;
  t.count = count;
  t.n = n;
  t.parts = count < threads ? count : threads;
  t.z = z;
  t.incz = incz;
  t.ez = ez;
  t.x = x;
  t.accum = accum;
  t.stream.key = exec ? exec->stream.key : 0;
  t.stream.counter = exec ? exec->stream.counter : 0;
  make_plan(&t, mode);
  memset(t.events, 0, t.parts * sizeof t.events[0]);
  t.watch = watch;
  memset(t.watches, 0, t.parts * sizeof t.watches[0]);
  hu_parallel(threads, t.parts, run_part, &t);
  for (size_t i = 0; events && i < t.parts; i++) hu_events_add(events, &t.events[i]);
  for (size_t i = 0; watch && i < t.parts; i++) hu_watch_add(watch, &t.watches[i]);
  return HU_OK;
}

hu_status hu_dot_n(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                   const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_dot_n_watched(count, n, z, incz, ez, x, accum, mode, exec, events, NULL);
}

hu_status hu_dot(size_t n, void *z, hu_element ez, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode,
                 const hu_exec *exec, hu_events *events) {
  return hu_dot_n(1, n, z, 1, ez, x, accum, mode, exec, events);
}
