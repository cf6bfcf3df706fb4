/* SPDX-License-Identifier: MIT */
/* hu_dot: checks the arguments and distributes the dot products over threads. emu/core/dot.h computes each
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

/* ---- types ---- */

size_t hu_type_size(hu_type type) {
  if (type.reserved) return 0;
  switch (type.kind) {
    case HU_TYPE_CODES:
      return !type.number && hu_format_check(type.format, NULL) == HU_OK ? hui_code_bytes(type.format) : 0;
    case HU_TYPE_BINARY64: return 8;
    case HU_TYPE_BINARY32:
    case HU_TYPE_INT32: return 4;
    case HU_TYPE_INT8:
    case HU_TYPE_UINT8:
    case HU_TYPE_INT4:
    case HU_TYPE_UINT4: return 1;
    default: return 0;
  }
}

unsigned hu_type_width(hu_type type) {
  unsigned size = (unsigned)hu_type_size(type);
  if (size && type.kind == HU_TYPE_CODES) return (unsigned)type.format.sign + type.format.e + type.format.m;
  return type.kind == HU_TYPE_INT4 || type.kind == HU_TYPE_UINT4 ? size * 4 : size * 8;
}

/* ---- arguments ---- */

/* A, B, C, the scales of A and those of B. */
typedef struct operands {
  const hu_view *view[HU_DOT_OPERANDS];
  size_t length[HU_DOT_OPERANDS]; /* elements of one dot product */
  size_t size[HU_DOT_OPERANDS];   /* bytes of an element; 0: absent, or not of a valid type */
} operands;

static size_t scales_of(size_t k, const hu_accum *accum) {
  uint64_t every = accum->scaled ? accum->promote : accum->block.every;
  return every ? (size_t)((k + every - 1) / every) : 0;
}

static operands operands_of(const hu_product *x) {
  size_t scales = scales_of(x->k, x->accum);
  operands all = {{&x->a, &x->b, &x->c, &x->sa, &x->sb}, {x->k, x->k, 1, scales, scales}, {0}};
  for (int i = 0; i < HU_DOT_OPERANDS; i++) all.size[i] = all.view[i]->data ? hu_type_size(all.view[i]->type) : 0;
  return all;
}

static hu_status check_operand(const operands *all, int i, int required) {
  const hu_view *view = all->view[i];
  if (!view->data) return required ? HU_E_NULL : HU_OK;
  if (!all->size[i]) return HU_E_FORMAT;
  return (uintptr_t)view->data % all->size[i] ? HU_E_ALIGN : HU_OK;
}

/* Scales belong to some models, and to no others. */
static hu_status check_scale(const operands *all, int i, const hu_accum *accum, int required) {
  const hu_view *view = all->view[i];
  if (!hu_accum_is_scaled(accum)) return view->data ? HU_E_ACCUM : HU_OK;
  hu_status status = check_operand(all, i, required);
  if (status != HU_OK || !view->data) return status;
  hu_type type = hui_codes_type(&view->type);
  if (type.kind != HU_TYPE_CODES) return HU_E_ACCUM;
  return accum->scaled || hu_format_equal(type.format, accum->block.scale) ? HU_OK : HU_E_ACCUM;
}

static hu_status check_result(hu_type type, const hu_accum *accum, hu_mode mode) {
  if (!hu_type_size(type)) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  if ((type.kind == HU_TYPE_INT32) != (accum->kind == HU_ACCUM_INT32)) return HU_E_ACCUM;
  if (type.kind >= HU_TYPE_INT8 && type.kind != HU_TYPE_INT32) return HU_E_ACCUM;
  return type.kind == HU_TYPE_BINARY64 && mode.round != HU_RNE ? HU_E_MODE : HU_OK;
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

/* Checks that no element of x has a byte of an element of d. Rows as far apart in both may lie between each other: then
 * the places of x's elements behind those of d, modulo the step, decide it. */
static int apart(const reach *z, const void *at, size_t size_z, const reach *x, const operands *all, int i) {
  size_t size = all->size[i], step = z->step < 0 ? (size_t)0 - (size_t)z->step : (size_t)z->step;
  if (z->past <= x->first || x->past <= z->first) return 1;
  if (z->step != x->step) return 0;
  for (size_t k = 0; k < all->length[i]; k++) {
    uintptr_t address = (uintptr_t)all->view[i]->data + k * (size_t)all->view[i]->stride * size;
    uintptr_t behind = address - (uintptr_t)at;
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

/* Checks whether c is d itself, the same array. */
static int same_array(const hu_product *x, size_t size, size_t size_c) {
  return x->d.data == x->c.data && size == size_c && (x->m < 2 || x->d.row == x->c.row);
}

static hu_status check_places(const hu_product *x, const operands *all, size_t size) {
  reach sz, sx[HU_DOT_OPERANDS];
  hu_status status = reach_of(&sz, x->d.data, size, x->m, x->d.row, 1, 0);
  for (int i = 0; i < HU_DOT_OPERANDS && status == HU_OK; i++)
    if (all->size[i] && all->length[i])
      status = reach_of(&sx[i], all->view[i]->data, all->size[i], x->m, all->view[i]->row, all->length[i],
                        all->view[i]->stride);
  for (int i = 0; i < HU_DOT_OPERANDS && status == HU_OK; i++) {
    if (!all->size[i] || !all->length[i] || (i == 2 && same_array(x, size, all->size[i]))) continue;
    if (!apart(&sz, x->d.data, size, &sx[i], all, i)) status = HU_E_OVERLAP;
  }
  return status;
}

/* Whether the model takes the operands. Without products they may be left out. */
static hu_status check_taken(const hu_product *x) {
  hu_type a = hui_codes_type(&x->a.type), b = hui_codes_type(&x->b.type), c = hui_codes_type(&x->c.type);
  return x->a.data && x->b.data ? hui_accum_usable(x->accum, &a, &b, x->c.data ? &c : NULL) : HU_OK;
}

static hu_status check(const hu_product *x, const operands *all, hu_mode mode) {
  hu_status status = check_result(x->d.type, x->accum, mode);
  int some = x->m > 0 && x->k > 0;
  for (int i = 0; i < 3 && status == HU_OK; i++) status = check_operand(all, i, some && i < 2);
  for (int i = 3; i < 5 && status == HU_OK; i++) status = check_scale(all, i, x->accum, some);
  if (status != HU_OK) return status;
  size_t size = hu_type_size(x->d.type);
  if (x->m && !x->d.data) return HU_E_NULL;
  if ((uintptr_t)x->d.data % size) return HU_E_ALIGN;
  if (x->n != 1 || (x->m > 1 && x->d.row == 0) || x->k > (size_t)PTRDIFF_MAX / 8) return HU_E_SHAPE;
  status = x->m ? check_places(x, all, size) : HU_OK;
  return status == HU_OK ? check_taken(x) : status;
}

/* ---- the call ---- */

static hu_source source_of(const hu_view *view, size_t size) {
  if (!size) return hui_source_of(hui_format_binary32(), HU_STORED_CODES, 4);
  hu_type type = hui_codes_type(&view->type);
  uint8_t kind = type.kind == HU_TYPE_BINARY64 ? HU_STORED_BINARY64 : HU_STORED_CODES;
  return hui_source_of(type.format, kind, (uint8_t)size);
}

static void plan_model(hu_dot_plan *plan, const operands *all, const hu_accum *accum, hu_mode mode) {
  hu_accum_plan *model = &plan->model;
  model->model = *accum;
  if (accum->kind == HU_ACCUM_INT32) return;
  model->a = source_of(all->view[0], all->size[0]);
  model->b = source_of(all->view[1], all->size[1]);
  plan->c_source = source_of(all->view[2], all->size[2]);
  model->sa = source_of(all->view[3], all->size[3]);
  model->sb = source_of(all->view[4], all->size[4]);
  hui_plan_model(model, accum, plan->n, &plan->c_source);
  model->down = mode.round == HU_RTN;
}

hu_status hui_dot_plan_make(hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec) {
  if (!x || !x->accum) return HU_E_NULL;
  if (hu_accum_check(x->accum) != HU_OK) return HU_E_ACCUM;
  operands all = operands_of(x);
  hu_status status = check(x, &all, mode);
  if (status != HU_OK) return status;
  memset(plan, 0, sizeof *plan);
  plan->n = x->k;
  plan->a = hui_walk_of(&x->a, all.size[0]);
  plan->b = hui_walk_of(&x->b, all.size[1]);
  plan->c = hui_walk_of(&x->c, all.size[2]);
  plan->sa = hui_walk_of(&x->sa, all.size[3]);
  plan->sb = hui_walk_of(&x->sb, all.size[4]);
  plan->z = x->d.data;
  plan->kind = (uint8_t)x->d.type.kind;
  plan->size = (uint8_t)hu_type_size(x->d.type);
  plan->z_step = (ptrdiff_t)((size_t)x->d.row * plan->size);
  plan->spec = hui_spec_of(plan->kind == HU_TYPE_CODES ? x->d.type.format : hui_format_binary32(), mode);
  plan->key = hui_exec_stream(exec).key;
  plan->counter = hui_exec_stream(exec).counter;
  plan_model(plan, &all, x->accum, mode);
  return HU_OK;
}

size_t hui_dot_areas(hu_code_area area[HU_DOT_OPERANDS], const hu_product *x) {
  const operands all = operands_of(x);
  size_t areas = 0;
  for (int i = 0; i < HU_DOT_OPERANDS; i++) {
    const hu_view *view = all.view[i];
    if (!all.size[i] || view->type.kind == HU_TYPE_BINARY64) continue;
    hu_code_area codes = {view->data,
                          x->m,
                          all.length[i],
                          view->row,
                          view->stride,
                          all.size[i],
                          hu_type_width(view->type),
                          view->type.kind == HU_TYPE_INT4};
    area[areas++] = codes;
  }
  return areas;
}

hu_status hui_dot_plan_read(hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec) {
  hu_code_area area[HU_DOT_OPERANDS];
  hu_status status = hui_dot_plan_make(plan, x, mode, exec);
  size_t areas = status == HU_OK ? hui_dot_areas(area, x) : 0;
  for (size_t i = 0; i < areas && status == HU_OK; i++) status = hui_code_area_check(&area[i], hui_exec_threads(exec));
  return status;
}

hu_status hui_dot_plan_one(hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec) {
  hu_status status = hui_dot_plan_read(plan, x, mode, exec);
  return status == HU_OK && x->m != 1 ? HU_E_SHAPE : status;
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

hu_status hu_dot(const hu_product *x, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!how) how = &defaults;
  if (hui_is_elsewhere(how->exec)) return x && x->watch ? HU_E_DEVICE : HUI_THERE(how->exec, dot, (x, how));
  dot_call call;
  hu_status status = hui_dot_plan_read(&call.plan, x, how->mode, how->exec);
  if (status != HU_OK || x->m == 0) return status;
  uint32_t threads = hui_exec_threads(how->exec);
  call.count = x->m;
  call.parts = x->m < threads ? x->m : threads;
  memset(call.events, 0, call.parts * sizeof call.events[0]);
  call.watch = x->watch;
  memset(call.watches, 0, call.parts * sizeof call.watches[0]);
  hui_parallel(threads, call.parts, run_part, &call);
  for (size_t i = 0; how->events && i < call.parts; i++) hu_events_add(how->events, &call.events[i]);
  for (size_t i = 0; x->watch && i < call.parts; i++) hui_watch_add(x->watch, &call.watches[i]);
  return HU_OK;
}

hu_status hu_dot_words(const hu_product *x, hu_dot_random *random, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  hu_dot_plan plan;
  hu_lines in;
  uint32_t set, none = 0;
  hu_watch watch = {0, 0, 0, 0};
  hu_draw draw = hui_draw_of(0, 0, x && x->watch ? &watch : NULL);
  if (!how) how = &defaults;
  if (hui_is_elsewhere(how->exec)) return HU_E_DEVICE;
  if (!random || (random->count && !random->words)) return HU_E_NULL;
  hu_status status = hui_dot_plan_one(&plan, x, how->mode, how->exec);
  if (status != HU_OK) return status;
  draw.words = random->count ? random->words : &none;
  draw.count = random->count;
  if (x->accum->kind == HU_ACCUM_INT32) {
    set = hui_dot_integers(&plan, 0, &draw);
  } else {
    hu_num c = hui_dot_lines(&plan, 0, &in), sum = hui_accum_sum(&plan.model, &in, plan.n, c, &draw);
    random->roundings = (size_t)draw.next;
    if (x->accum->mode.round >= HU_SRA && draw.next > random->count) return HU_E_SHAPE;
    set = hui_dot_finish(&plan, 0, &in, c, sum, random->last);
  }
  random->roundings = (size_t)draw.next;
  if (how->events) hu_events_count(how->events, set);
  if (x->watch) hui_watch_add(x->watch, &watch);
  return HU_OK;
}
