/* SPDX-License-Identifier: MIT */
/* hu_dot and hu_dot_n: check the arguments and distribute the dot products over threads. emu/core/dot.h computes each
 * of them. */
#include "emu/accum/block_keys.h"
#include "emu/accum/operands.h"
#include "emu/accum/sum.h"
#include "emu/base/exec.h"
#include "emu/accum/check.h"
#include "emu/base/threads.h"
#include "emu/core/dot.h"

hu_num hui_model_sum(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {
  return hui_accum_sum(p, in, n, c, d);
}

/* ---- elements ---- */

static int is_element(hu_element e) {
  hu_format none;
  memset(&none, 0, sizeof none);
  if (e.reserved || e.kind > HU_ELEMENT_S32) return 0;
  return e.kind == HU_ELEMENT_CODE || hu_format_equal(e.format, none);
}

size_t hu_element_size(hu_element e) {
  if (!is_element(e)) return 0;
  if (e.kind == HU_ELEMENT_CODE) return hu_format_check(e.format, NULL) == HU_OK ? hui_code_bytes(e.format) : 0;
  return e.kind == HU_ELEMENT_BINARY64 ? 8 : e.kind == HU_ELEMENT_S32 ? 4 : 1;
}

unsigned hu_element_width(hu_element e) {
  if (!is_element(e)) return 0;
  if (e.kind == HU_ELEMENT_CODE) return hu_limits_of(e.format).width;
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

/* The bytes from first to past of an array of count rows of n elements; HU_E_SHAPE beyond the address space. */
typedef struct reach {
  uintptr_t first, past;
  ptrdiff_t step; /* bytes from row to row; 0 where there is one row */
} reach;

/* Moves first or past by the distance of the last of n elements. */
static int stretch(reach *z, size_t n, ptrdiff_t stride, size_t size) {
  size_t one = stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride, bytes;
  if (n < 2 || stride == 0) return 1;
  if (__builtin_mul_overflow(one, size, &bytes) || __builtin_mul_overflow(bytes, n - 1, &bytes)) return 0;
  if (bytes > PTRDIFF_MAX) return 0;
  return stride < 0 ? !__builtin_sub_overflow(z->first, bytes, &z->first)
                    : !__builtin_add_overflow(z->past, bytes, &z->past);
}

static hu_status reach_of(reach *z, const void *data, size_t size, size_t count, ptrdiff_t step, size_t n,
                          ptrdiff_t stride) {
  z->first = (uintptr_t)data;
  z->step = 0;
  if (__builtin_add_overflow(z->first, size, &z->past)) return HU_E_SHAPE;
  if (!stretch(z, count, step, size) || !stretch(z, n, stride, size)) return HU_E_SHAPE;
  if (z->past - z->first > PTRDIFF_MAX) return HU_E_SHAPE;
  if (count > 1) z->step = step * (ptrdiff_t)size;
  return HU_OK;
}

/* Has no element of x a byte of an element of z? Rows as far apart in both may lie between each other: then the places
 * of x's elements behind those of z, modulo the step, say it. */
static int apart(const reach *z, const void *at, size_t size_z, const reach *x, const hu_vector *v, size_t n) {
  size_t size = hu_element_size(v->element), step = z->step < 0 ? (size_t)0 - (size_t)z->step : (size_t)z->step;
  if (z->past <= x->first || x->past <= z->first) return 1;
  if (z->step != x->step) return 0;
  for (size_t k = 0; k < n; k++) {
    uintptr_t e = (uintptr_t)v->data + k * (size_t)v->stride * size, behind = e - (uintptr_t)at;
    if (!step) {
      if (behind < size_z || (uintptr_t)0 - behind < size) return 0;
      continue;
    }
    uintptr_t before = ((uintptr_t)at - e) % step;
    behind = e >= (uintptr_t)at ? behind % step : before ? step - before : 0;
    if (behind < size_z || step - behind < size) return 0;
  }
  return 1;
}

/* z's own c: the same array. */
static int same_array(const void *z, ptrdiff_t incz, size_t size, size_t count, const hu_vector *c) {
  return z == c->data && size == hu_element_size(c->element) && (count < 2 || incz == c->step);
}

static size_t scales_of(size_t n, const hu_accum *accum) {
  uint64_t every = accum->scaled ? accum->promote : accum->block.every;
  return every ? (size_t)((n + every - 1) / every) : 0;
}

static hu_status check_places(size_t count, size_t n, const void *z, ptrdiff_t incz, size_t size,
                              const hu_dot_operands *x, const hu_accum *accum) {
  const hu_vector *v[5] = {&x->a, &x->b, &x->c, &x->sa, &x->sb};
  size_t scales = scales_of(n, accum), lengths[5] = {n, n, 1, scales, scales};
  reach sz, sx[5];
  hu_status s = reach_of(&sz, z, size, count, incz, 1, 0);
  for (int i = 0; i < 5 && s == HU_OK; i++)
    if (v[i]->data && lengths[i])
      s = reach_of(&sx[i], v[i]->data, hu_element_size(v[i]->element), count, v[i]->step, lengths[i], v[i]->stride);
  for (int i = 0; i < 5 && s == HU_OK; i++) {
    if (!v[i]->data || !lengths[i] || (i == 2 && same_array(z, incz, size, count, v[i]))) continue;
    if (!apart(&sz, z, size, &sx[i], v[i], lengths[i])) s = HU_E_OVERLAP;
  }
  return s;
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
  s = count ? check_places(count, n, z, incz, hu_element_size(ez), x, accum) : HU_OK;
  if (s != HU_OK) return s;
  if (!x->a.data || !x->b.data) return HU_OK; /* no products: their elements may be left out */
  return hui_accum_usable(accum, &x->a.element, &x->b.element, x->c.data ? &x->c.element : NULL);
}

/* ---- the call ---- */

static hu_source vector_source(const hu_vector *v) {
  uint8_t kind = v->element.kind == HU_ELEMENT_BINARY64 ? HU_STORED_BINARY64 : HU_STORED_CODES;
  hu_format f = v->data ? v->element.format : hui_format_binary32();
  return hui_source_of(f, v->data ? kind : HU_STORED_CODES, (uint8_t)(v->data ? hu_element_size(v->element) : 4));
}

static hu_walk walk_of(const hu_vector *v) { return hui_walk_of(v, v->data ? hu_element_size(v->element) : 0); }

static void plan_model(hu_dot_plan *t, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode) {
  hu_accum_plan *p = &t->model;
  p->model = *accum;
  if (accum->kind == HU_ACCUM_INT32) return;
  p->a = vector_source(&x->a);
  p->b = vector_source(&x->b);
  p->sa = vector_source(&x->sa);
  p->sb = vector_source(&x->sb);
  t->c_source = vector_source(&x->c);
  hui_plan_model(p, accum, t->n, &t->c_source);
  p->down = mode.round == HU_RTN;
}

hu_status hui_dot_plan_make(hu_dot_plan *t, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec) {
  hu_status s = check(count, n, z, incz, ez, x, accum, mode);
  if (s != HU_OK) return s;
  memset(t, 0, sizeof *t);
  t->n = n;
  t->a = walk_of(&x->a);
  t->b = walk_of(&x->b);
  t->c = walk_of(&x->c);
  t->sa = walk_of(&x->sa);
  t->sb = walk_of(&x->sb);
  t->z = z;
  t->kind = ez.kind;
  t->size = (uint8_t)hu_element_size(ez);
  t->z_step = (ptrdiff_t)((size_t)incz * t->size);
  t->spec = hui_spec_of(ez.kind == HU_ELEMENT_CODE ? ez.format : hui_format_binary32(), mode);
  t->key = hui_exec_stream(exec).key;
  t->counter = hui_exec_stream(exec).counter;
  plan_model(t, x, accum, mode);
  return HU_OK;
}

size_t hui_dot_areas(hu_code_area area[HU_DOT_AREAS], size_t count, size_t n, const hu_dot_operands *x,
                     const hu_accum *accum) {
  size_t scales = scales_of(n, accum), lengths[5] = {n, n, 1, scales, scales}, areas = 0;
  const hu_vector *v[5] = {&x->a, &x->b, &x->c, &x->sa, &x->sb};
  for (int i = 0; i < 5; i++) {
    hu_element e = v[i]->element;
    if (!v[i]->data || e.kind == HU_ELEMENT_BINARY64) continue;
    hu_code_area all = {v[i]->data,          count,
                        lengths[i],          v[i]->step,
                        v[i]->stride,        hu_element_size(e),
                        hu_element_width(e), e.kind == HU_ELEMENT_S4};
    area[areas++] = all;
  }
  return areas;
}

hu_status hui_dot_plan_read(hu_dot_plan *t, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec) {
  hu_code_area area[HU_DOT_AREAS];
  hu_status s = hui_dot_plan_make(t, count, n, z, incz, ez, x, accum, mode, exec);
  size_t areas = s == HU_OK ? hui_dot_areas(area, count, n, x, accum) : 0;
  for (size_t i = 0; i < areas && s == HU_OK; i++) s = hui_code_area_check(&area[i], hui_exec_threads(exec));
  return s;
}

typedef struct dot_call {
  size_t count, parts;
  hu_dot_plan plan;
  hu_events events[HU_THREADS_MAX];
  hu_watch *watch; /* as asked for; NULL: not */
  hu_watch watches[HU_THREADS_MAX];
} dot_call;

static void run_part(void *context, size_t part) {
  dot_call *t = context;
  hu_watch *watch = t->watch ? &t->watches[part] : NULL;
  int integers = t->plan.model.model.kind == HU_ACCUM_INT32;
  for (size_t i = part; i < t->count; i += t->parts) {
    hu_draw d = hui_draw_of(0, 0, watch);
    uint32_t set = integers ? hui_dot_integers(&t->plan, i, &d) : hui_dot_sum(&t->plan, i, watch);
    hu_events_count(&t->events[part], set);
  }
}

hu_status hu_dot_n_watched(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                           const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events,
                           hu_watch *watch) {
  dot_call t;
  hu_status s = hui_dot_plan_read(&t.plan, count, n, z, incz, ez, x, accum, mode, exec);
  if (s != HU_OK || count == 0) return s;
  uint32_t threads = hui_exec_threads(exec);
  t.count = count;
  t.parts = count < threads ? count : threads;
  memset(t.events, 0, t.parts * sizeof t.events[0]);
  t.watch = watch;
  memset(t.watches, 0, t.parts * sizeof t.watches[0]);
  hui_parallel(threads, t.parts, run_part, &t);
  for (size_t i = 0; events && i < t.parts; i++) hu_events_add(events, &t.events[i]);
  for (size_t i = 0; watch && i < t.parts; i++) hui_watch_add(watch, &t.watches[i]);
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

hu_status hu_dot_words(size_t n, void *z, hu_element ez, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode,
                       const uint32_t *words, size_t count, uint32_t random, size_t *roundings, hu_events *events) {
  hu_dot_plan t;
  hu_lines in;
  uint32_t set, none = 0;
  hu_draw d = hui_draw_of(0, 0, NULL);
  if (count && !words) return HU_E_NULL;
  hu_status s = hui_dot_plan_read(&t, 1, n, z, 1, ez, x, accum, mode, NULL);
  if (s != HU_OK) return s;
  d.words = count ? words : &none;
  d.count = count;
  if (accum->kind == HU_ACCUM_INT32) {
    set = hui_dot_integers(&t, 0, NULL);
  } else {
    hu_num c = hui_dot_lines(&t, 0, &in), sum = hui_accum_sum(&t.model, &in, n, c, &d);
    if (roundings) *roundings = (size_t)d.next;
    if (accum->mode.round >= HU_SRA && d.next > count) return HU_E_SHAPE;
    set = hui_dot_finish(&t, 0, &in, c, sum, random);
  }
  if (roundings) *roundings = (size_t)d.next;
  if (events) hu_events_count(events, set);
  return HU_OK;
}
