/* SPDX-License-Identifier: MIT */
/* hu_dot and hu_dot_n: check the arguments and distribute the dot products over threads. emu/core/dot.h computes each
 * of them. */
#include "emu/accum/block_keys.h"
#include "emu/accum/operands.h"
#include "emu/accum/sum.h"
#include "emu/base/device_calls.h"
#include "emu/accum/check.h"
#include "emu/base/threads.h"
#include "emu/core/dot.h"

hu_num hui_model_sum(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw) {
  return hui_accum_sum(plan, in, n, c, draw);
}

/* ---- elements ---- */

static int is_element(hu_element element) {
  hu_format none;
  memset(&none, 0, sizeof none);
  if (element.reserved || element.kind > HU_ELEMENT_S32) return 0;
  return element.kind == HU_ELEMENT_CODE || hu_format_equal(element.format, none);
}

size_t hu_element_size(hu_element element) {
  if (!is_element(element)) return 0;
  if (element.kind == HU_ELEMENT_CODE)
    return hu_format_check(element.format, NULL) == HU_OK ? hui_code_bytes(element.format) : 0;
  return element.kind == HU_ELEMENT_BINARY64 ? 8 : element.kind == HU_ELEMENT_S32 ? 4 : 1;
}

unsigned hu_element_width(hu_element element) {
  if (!is_element(element)) return 0;
  if (element.kind == HU_ELEMENT_CODE) return hu_limits_of(element.format).width;
  if (element.kind == HU_ELEMENT_S4 || element.kind == HU_ELEMENT_U4) return 4;
  return (unsigned)hu_element_size(element) * 8;
}

/* ---- arguments ---- */

static hu_status check_element(hu_element element) {
  if (!is_element(element)) return HU_E_ACCUM;
  return element.kind == HU_ELEMENT_CODE ? hu_format_check(element.format, NULL) : HU_OK;
}

static hu_status check_vector(const hu_vector *vector, int required) {
  if (!vector->data) return required ? HU_E_NULL : HU_OK;
  hu_status status = check_element(vector->element);
  if (status != HU_OK) return status;
  return (uintptr_t)vector->data % hu_element_size(vector->element) ? HU_E_ALIGN : HU_OK;
}

/* Scales belong to some models, and to no others. */
static hu_status check_scale(const hu_vector *vector, const hu_accum *accum, int required) {
  if (!hu_accum_is_scaled(accum)) return vector->data ? HU_E_ACCUM : HU_OK;
  hu_status status = check_vector(vector, required);
  if (status != HU_OK || !vector->data) return status;
  if (vector->element.kind != HU_ELEMENT_CODE) return HU_E_ACCUM;
  int same = hu_format_equal(vector->element.format, accum->block.scale);
  return accum->scaled || same ? HU_OK : HU_E_ACCUM;
}

static hu_status check_result(hu_element element, const hu_accum *accum, hu_mode mode) {
  hu_status status = check_element(element);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  if ((element.kind == HU_ELEMENT_S32) != (accum->kind == HU_ACCUM_INT32)) return HU_E_ACCUM;
  if (element.kind != HU_ELEMENT_CODE && element.kind != HU_ELEMENT_BINARY64 && element.kind != HU_ELEMENT_S32)
    return HU_E_ACCUM;
  return element.kind == HU_ELEMENT_BINARY64 && mode.round != HU_RNE ? HU_E_MODE : HU_OK;
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

/* Checks that no element of x has a byte of an element of z. Rows as far apart in both may lie between each other: then
 * the places of x's elements behind those of z, modulo the step, decide it. */
static int apart(const reach *z, const void *at, size_t size_z, const reach *x, const hu_vector *vector, size_t n) {
  size_t size = hu_element_size(vector->element), step = z->step < 0 ? (size_t)0 - (size_t)z->step : (size_t)z->step;
  if (z->past <= x->first || x->past <= z->first) return 1;
  if (z->step != x->step) return 0;
  for (size_t k = 0; k < n; k++) {
    uintptr_t address = (uintptr_t)vector->data + k * (size_t)vector->stride * size, behind = address - (uintptr_t)at;
    if (!step) {
      if (behind < size_z || (uintptr_t)0 - behind < size) return 0;
      continue;
    }
    uintptr_t before = ((uintptr_t)at - address) % step;
    behind = address >= (uintptr_t)at ? behind % step : before ? step - before : 0;
    if (behind < size_z || step - behind < size) return 0;
  }
  return 1;
}

/* Checks whether c is z itself, the same array. */
static int same_array(const void *z, ptrdiff_t incz, size_t size, size_t count, const hu_vector *c) {
  return z == c->data && size == hu_element_size(c->element) && (count < 2 || incz == c->step);
}

static size_t scales_of(size_t n, const hu_accum *accum) {
  uint64_t every = accum->scaled ? accum->promote : accum->block.every;
  return every ? (size_t)((n + every - 1) / every) : 0;
}

static hu_status check_places(size_t count, size_t n, const void *z, ptrdiff_t incz, size_t size,
                              const hu_dot_operands *x, const hu_accum *accum) {
  const hu_vector *vector[5] = {&x->a, &x->b, &x->c, &x->sa, &x->sb};
  size_t scales = scales_of(n, accum), lengths[5] = {n, n, 1, scales, scales};
  reach sz, sx[5];
  hu_status status = reach_of(&sz, z, size, count, incz, 1, 0);
  for (int i = 0; i < 5 && status == HU_OK; i++)
    if (vector[i]->data && lengths[i])
      status = reach_of(&sx[i], vector[i]->data, hu_element_size(vector[i]->element), count, vector[i]->step,
                        lengths[i], vector[i]->stride);
  for (int i = 0; i < 5 && status == HU_OK; i++) {
    if (!vector[i]->data || !lengths[i] || (i == 2 && same_array(z, incz, size, count, vector[i]))) continue;
    if (!apart(&sz, z, size, &sx[i], vector[i], lengths[i])) status = HU_E_OVERLAP;
  }
  return status;
}

static hu_status check(size_t count, size_t n, const void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                       const hu_accum *accum, hu_mode mode) {
  if (!x || !accum) return HU_E_NULL;
  hu_status status = hu_accum_check(accum);
  if (status == HU_OK) status = check_result(ez, accum, mode);
  int some = count > 0 && n > 0;
  if (status == HU_OK) status = check_vector(&x->a, some);
  if (status == HU_OK) status = check_vector(&x->b, some);
  if (status == HU_OK) status = check_vector(&x->c, 0);
  if (status == HU_OK) status = check_scale(&x->sa, accum, some);
  if (status == HU_OK) status = check_scale(&x->sb, accum, some);
  if (status != HU_OK) return status;
  if (count && !z) return HU_E_NULL;
  if ((uintptr_t)z % hu_element_size(ez)) return HU_E_ALIGN;
  if (incz == 0 || n > (size_t)PTRDIFF_MAX / 8) return HU_E_SHAPE;
  status = count ? check_places(count, n, z, incz, hu_element_size(ez), x, accum) : HU_OK;
  if (status != HU_OK) return status;
  if (!x->a.data || !x->b.data) return HU_OK; /* no products: their elements may be left out */
  return hui_accum_usable(accum, &x->a.element, &x->b.element, x->c.data ? &x->c.element : NULL);
}

/* ---- the call ---- */

static hu_source vector_source(const hu_vector *vector) {
  uint8_t kind = vector->element.kind == HU_ELEMENT_BINARY64 ? HU_STORED_BINARY64 : HU_STORED_CODES;
  hu_format format = vector->data ? vector->element.format : hui_format_binary32();
  return hui_source_of(format, vector->data ? kind : HU_STORED_CODES,
                       (uint8_t)(vector->data ? hu_element_size(vector->element) : 4));
}

static hu_walk walk_of(const hu_vector *vector) {
  return hui_walk_of(vector, vector->data ? hu_element_size(vector->element) : 0);
}

static void plan_model(hu_dot_plan *plan, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode) {
  hu_accum_plan *model = &plan->model;
  model->model = *accum;
  if (accum->kind == HU_ACCUM_INT32) return;
  model->a = vector_source(&x->a);
  model->b = vector_source(&x->b);
  model->sa = vector_source(&x->sa);
  model->sb = vector_source(&x->sb);
  plan->c_source = vector_source(&x->c);
  hui_plan_model(model, accum, plan->n, &plan->c_source);
  model->down = mode.round == HU_RTN;
}

hu_status hui_dot_plan_make(hu_dot_plan *plan, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec) {
  hu_status status = check(count, n, z, incz, ez, x, accum, mode);
  if (status != HU_OK) return status;
  memset(plan, 0, sizeof *plan);
  plan->n = n;
  plan->a = walk_of(&x->a);
  plan->b = walk_of(&x->b);
  plan->c = walk_of(&x->c);
  plan->sa = walk_of(&x->sa);
  plan->sb = walk_of(&x->sb);
  plan->z = z;
  plan->kind = ez.kind;
  plan->size = (uint8_t)hu_element_size(ez);
  plan->z_step = (ptrdiff_t)((size_t)incz * plan->size);
  plan->spec = hui_spec_of(ez.kind == HU_ELEMENT_CODE ? ez.format : hui_format_binary32(), mode);
  plan->key = hui_exec_stream(exec).key;
  plan->counter = hui_exec_stream(exec).counter;
  plan_model(plan, x, accum, mode);
  return HU_OK;
}

size_t hui_dot_areas(hu_code_area area[HU_DOT_AREAS], size_t count, size_t n, const hu_dot_operands *x,
                     const hu_accum *accum) {
  size_t scales = scales_of(n, accum), lengths[5] = {n, n, 1, scales, scales}, areas = 0;
  const hu_vector *vector[5] = {&x->a, &x->b, &x->c, &x->sa, &x->sb};
  for (int i = 0; i < 5; i++) {
    hu_element element = vector[i]->element;
    if (!vector[i]->data || element.kind == HU_ELEMENT_BINARY64) continue;
    hu_code_area all = {vector[i]->data,
                        count,
                        lengths[i],
                        vector[i]->step,
                        vector[i]->stride,
                        hu_element_size(element),
                        hu_element_width(element),
                        element.kind == HU_ELEMENT_S4};
    area[areas++] = all;
  }
  return areas;
}

hu_status hui_dot_plan_read(hu_dot_plan *plan, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec) {
  hu_code_area area[HU_DOT_AREAS];
  hu_status status = hui_dot_plan_make(plan, count, n, z, incz, ez, x, accum, mode, exec);
  size_t areas = status == HU_OK ? hui_dot_areas(area, count, n, x, accum) : 0;
  for (size_t i = 0; i < areas && status == HU_OK; i++) status = hui_code_area_check(&area[i], hui_exec_threads(exec));
  return status;
}

typedef struct dot_call {
  size_t count, parts;
  hu_dot_plan plan;
  hu_events events[HU_THREADS_MAX];
  hu_watch *watch; /* as asked for; NULL: not */
  hu_watch watches[HU_THREADS_MAX];
} dot_call;

static void run_part(void *context, size_t part) {
  dot_call *call = context;
  hu_watch *watch = call->watch ? &call->watches[part] : NULL;
  int integers = call->plan.model.model.kind == HU_ACCUM_INT32;
  for (size_t i = part; i < call->count; i += call->parts) {
    hu_draw draw = hui_draw_of(0, 0, watch);
    uint32_t set = integers ? hui_dot_integers(&call->plan, i, &draw) : hui_dot_sum(&call->plan, i, watch);
    hu_events_count(&call->events[part], set);
  }
}

hu_status hu_dot_n_watched(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                           const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events,
                           hu_watch *watch) {
  if (hui_is_elsewhere(exec))
    return watch ? HU_E_DEVICE : HUI_THERE(exec, dot_n, (count, n, z, incz, ez, x, accum, mode, exec, events));
  dot_call call;
  hu_status status = hui_dot_plan_read(&call.plan, count, n, z, incz, ez, x, accum, mode, exec);
  if (status != HU_OK || count == 0) return status;
  uint32_t threads = hui_exec_threads(exec);
  call.count = count;
  call.parts = count < threads ? count : threads;
  memset(call.events, 0, call.parts * sizeof call.events[0]);
  call.watch = watch;
  memset(call.watches, 0, call.parts * sizeof call.watches[0]);
  hui_parallel(threads, call.parts, run_part, &call);
  for (size_t i = 0; events && i < call.parts; i++) hu_events_add(events, &call.events[i]);
  for (size_t i = 0; watch && i < call.parts; i++) hui_watch_add(watch, &call.watches[i]);
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
  hu_dot_plan plan;
  hu_lines in;
  uint32_t set, none = 0;
  hu_draw draw = hui_draw_of(0, 0, NULL);
  if (count && !words) return HU_E_NULL;
  hu_status status = hui_dot_plan_read(&plan, 1, n, z, 1, ez, x, accum, mode, NULL);
  if (status != HU_OK) return status;
  draw.words = count ? words : &none;
  draw.count = count;
  if (accum->kind == HU_ACCUM_INT32) {
    set = hui_dot_integers(&plan, 0, NULL);
  } else {
    hu_num c = hui_dot_lines(&plan, 0, &in), sum = hui_accum_sum(&plan.model, &in, n, c, &draw);
    if (roundings) *roundings = (size_t)draw.next;
    if (accum->mode.round >= HU_SRA && draw.next > count) return HU_E_SHAPE;
    set = hui_dot_finish(&plan, 0, &in, c, sum, random);
  }
  if (roundings) *roundings = (size_t)draw.next;
  if (events) hu_events_count(events, set);
  return HU_OK;
}
