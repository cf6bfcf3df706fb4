/* SPDX-License-Identifier: MIT */
/* gpu/train/engine.c - a CUDA device as an engine: the table of train/engine/engine.h by the device calls of
 * libhalfulp-cuda.
 *
 * Everything goes through the default stream, in order. `get` waits for it; `put` does not, unless much is to be put:
 * the bytes are copied into locked memory of the host, from which the device fetches them when it gets there. What the
 * calls need as work, the statistics of a tensor among it, is in one room, which grows: a step allocates nothing that
 * the step before it had. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "gpu/base/batch.h"
#include "gpu/train/kernels.h"
#include "halfulp/device_number.h"
#include "halfulp/device_scaled.h"
#include "halfulp/device_sum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/train/device.h"

/* Room for the batches and tables of some steps; what is larger gains nothing by a second copy. */
enum { STAGE = 1 << 20, STAGED_MOST = STAGE / 4, STAGE_STEP = 16 };
/* Sums of rows that are made at a time: their digits, 56 bytes each, stay in the device's cache. */
enum { SUMS = 1 << 18 };

typedef struct device {
  void *room;
  size_t bytes;
  uint8_t *stage;                    /* locked memory of the host; NULL: none yet */
  size_t staged;                     /* bytes of it that copies may still be made from */
  uint8_t mask[HU_HADAMARD_MAX / 8]; /* of the transform before, which is there, too */
  void *mask_there;
} device;

static hu_status device_open(void **self, uint32_t threads) {
  (void)threads; /* are the processor's */
  *self = calloc(1, sizeof(device));
  return *self ? HU_OK : HU_E_MEMORY;
}

static void device_close(void *self) {
  device *d = self;
  if (d->stage) {
    hu_status s = hui_memory_wait(); /* copies may still be made from it */
    (void)s;
    hui_memory_unlock(d->stage);
  }
  if (d->mask_there) hui_memory_free(d->mask_there);
  if (d->room) hui_memory_free(d->room);
  free(d);
}

static void *device_allocate(void *self, size_t bytes) {
  (void)self;
  void *p = hui_memory_new(bytes);
  if (!p || hui_train_zero(p, bytes) == HU_OK) return p;
  hui_memory_free(p);
  return NULL;
}

static void device_release(void *self, void *p) {
  (void)self;
  hui_memory_free(p);
}

/* A place for so many bytes, from which no copy is still to be made; NULL: the device failed. */
static uint8_t *stage_for(device *d, size_t bytes) {
  if (d->staged + bytes > STAGE) {
    if (hui_memory_wait() != HU_OK) return NULL;
    d->staged = 0;
  }
  uint8_t *z = d->stage + d->staged;
  d->staged += (bytes + STAGE_STEP - 1) / STAGE_STEP * STAGE_STEP;
  return z;
}

static hu_status device_put(void *self, void *z, const void *host, size_t bytes) {
  device *d = self;
  if (bytes == 0) return HU_OK;
  if (bytes <= STAGED_MOST && !d->stage) d->stage = hui_memory_locked(STAGE);
  if (bytes > STAGED_MOST || !d->stage) return hui_memory_put(z, host, bytes);
  uint8_t *from = stage_for(d, bytes);
  if (!from) return HU_E_CUDA;
  memcpy(from, host, bytes);
  return hui_memory_send(z, from, bytes);
}

/* Copies on the default stream wait for what is before them in it, and say what went wrong there. */
static hu_status device_get(void *self, void *host, const void *x, size_t bytes) {
  device *d = self;
  hu_status s = hui_memory_get(host, x, bytes);
  if (s == HU_OK && bytes) d->staged = 0;
  return s;
}

static hu_status device_run(void *self, int kernel, const hu_task *t) {
  (void)self;
  return hui_train_run(kernel, t);
}

/* At least so many bytes of device memory; what used it before is done with it in the stream's order. */
static hu_status want_room(device *d, size_t bytes) {
  if (bytes <= d->bytes) return HU_OK;
  if (d->room) hui_memory_free(d->room);
  d->room = hui_memory_new(bytes);
  d->bytes = d->room ? bytes : 0;
  return d->room ? HU_OK : HU_E_MEMORY;
}

static hu_exec exec_of(hu_stream words) {
  hu_exec e;
  memset(&e, 0, sizeof e);
  e.stream = words;
  return e;
}

/* ---- products ---- */

/* Many products in one launch. Their random words are those of hui_words_of_product. */
static hu_status device_products(void *self, const hu_products *p) {
  const hu_mode rne = {0};
  hu_result d = {p->z.data, p->z.ld, hu_binary32(), HU_STORAGE_VALUES};
  hu_operand a = {p->a.data, p->a.ld, p->a.format, HU_STORAGE_VALUES, (uint8_t)p->a.transposed};
  hu_operand b = {p->b.data, p->b.ld, p->b.format, HU_STORAGE_VALUES, (uint8_t)p->b.transposed};
  (void)self;
  if (p->outer * p->inner == 1) {
    hu_exec e = exec_of(p->words);
    return hu_device_gemm(p->m, p->n, p->k, &d, &a, &b, NULL, p->accum, rne, &e, NULL, NULL);
  }
  hu_gemm_batch batch = {p->outer,
                         p->inner,
                         {p->z.outer, p->z.inner},
                         {p->a.outer, p->a.inner},
                         {p->b.outer, p->b.inner},
                         p->accum->mode.bits != 0};
  return hui_device_gemm_batch(p->m, p->n, p->k, &d, &a, &b, &batch, p->accum, p->words, NULL);
}

/* ---- arrays ---- */

typedef hu_status function_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                             hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream);

static hu_status device_function(void *self, int which, size_t n, float *z, const float *x) {
  static function_n *const functions[] = {hu_device_exp_n,     hu_device_log_n, hu_device_tanh_n,
                                          hu_device_sigmoid_n, hu_device_erf_n, hu_device_gelu_n};
  const hu_mode rne = {0};
  (void)self;
  return functions[which](n, z, 1, hu_binary32(), x, 1, hu_binary32(), rne, NULL, NULL, NULL);
}

static hu_status device_quantize(void *self, size_t n, float *x, hu_format f, hu_mode mode, hu_stream words) {
  hu_exec e = exec_of(words);
  (void)self;
  return hu_device_quantize_n(n, x, 1, x, 1, f, mode, &e, NULL, NULL);
}

static hu_status into_scaled(device *d, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                             const hu_exec *e, hu_events *events) {
  hu_scaling kind = r->scaling;
  if (r->turned) {
    kind.rows = r->scaling.cols;
    kind.cols = r->scaling.rows;
  }
  size_t work = (hu_device_scaled_work(rows, cols, &kind) + 15) / 16 * 16;
  hu_status s = want_room(d, work + sizeof r->amax);
  float *amax = r->amax != 0 && s == HU_OK ? (float *)(void *)((uint8_t *)d->room + work) : NULL;
  if (amax) s = device_put(d, amax, &r->amax, sizeof *amax);
  if (s != HU_OK) return s;
  return hu_device_scaled_quantize(rows, cols, z, cols, x, cols, &kind, r->mode, amax, NULL, e, events, d->room, NULL);
}

/* The room: work, then sums, then the scale. */
static hu_status into_s2fp8(device *d, size_t n, float *z, const float *x, const hu_rounding *r, const hu_exec *e,
                            hu_events *events) {
  hu_status s = want_room(d, HU_DEVICE_S2FP8_WORK + sizeof(hu_s2fp8_sums) + sizeof(hu_s2fp8_scale));
  if (s != HU_OK) return s;
  uint8_t *room = d->room;
  hu_s2fp8_sums *sums = (hu_s2fp8_sums *)(void *)(room + HU_DEVICE_S2FP8_WORK);
  hu_s2fp8_scale *scale = (hu_s2fp8_scale *)(void *)(sums + 1);
  return hu_device_s2fp8_truncate_n(n, z, 1, x, 1, &r->s2fp8, r->mode, sums, scale, e, events, room, NULL);
}

static hu_status keep(size_t n, float *z, const float *x) {
  hu_task t = hui_task_of(1, n, z, x, NULL);
  return hui_train_run(HU_RUN_KEEP, &t);
}

/* z may be x, which is wanted once more: a copy is in the room. */
static hu_status into_format(device *d, size_t n, float *z, const float *x, const hu_rounding *r, const hu_exec *e,
                             hu_events *events) {
  if (!r->over_inf && !r->keep_nan) return hu_device_quantize_n(n, z, 1, x, 1, r->format, r->mode, e, events, NULL);
  hu_status s = want_room(d, n * sizeof *x);
  if (s != HU_OK) return s;
  hu_task copy = hui_task_of(1, n, d->room, x, NULL);
  s = hui_train_run(HU_RUN_COPY, &copy);
  if (s == HU_OK) s = hu_device_quantize_n(n, z, 1, d->room, 1, r->format, r->mode, e, events, NULL);
  return s == HU_OK ? hui_train_widen(n, z, d->room, r, e->stream, events) : s;
}

static hu_status device_round(void *self, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                              hu_stream words, hu_rounding_counts *counts) {
  hu_exec e = exec_of(words);
  hu_events *events = counts ? &counts->events : NULL;
  size_t n = rows * cols;
  /* Before x, which z may be, is gone; only formats tell what is too large. */
  float max = r->kind == HU_ROUND_FORMAT ? (float)hu_limits_of(r->format).max : HUGE_VALF;
  hu_status s = counts ? hui_train_count(n, x, max, counts) : HU_OK;
  if (s != HU_OK) return s;
  switch (r->kind) {
    case HU_ROUND_KEEP: return keep(n, z, x);
    case HU_ROUND_FORMAT: return into_format(self, n, z, x, r, &e, events);
    case HU_ROUND_SCALED: return into_scaled(self, rows, cols, z, x, r, &e, events);
    case HU_ROUND_S2FP8: return into_s2fp8(self, n, z, x, r, &e, events);
    case HU_ROUND_NUMBER: return hu_device_number_quantize_n(n, z, 1, x, 1, r->number, r->mode, &e, events, NULL);
    default: return HU_E_TRAIN;
  }
}

static hu_status device_transform(void *self, size_t rows, size_t cols, float *z, const float *x,
                                  const hu_hadamard *transform) {
  device *d = self;
  hu_hadamard t = *transform;
  hu_status s = HU_OK;
  if (!d->mask_there || memcmp(d->mask, transform->mask, sizeof d->mask) != 0) {
    if (!d->mask_there) d->mask_there = hui_memory_new(sizeof d->mask);
    if (!d->mask_there) return HU_E_MEMORY;
    memcpy(d->mask, transform->mask, sizeof d->mask);
    s = device_put(d, d->mask_there, d->mask, sizeof d->mask);
  }
  if (s != HU_OK) return s;
  t.mask = d->mask_there;
  return hu_device_hadamard_forward(rows, cols, z, cols, x, cols, &t, NULL, NULL);
}

static hu_status device_unscale(void *self, size_t n, float *g, float scale, hu_gradient_found *found) {
  (void)self;
  return hui_train_unscale(n, g, 1 / scale, found);
}

static hu_status device_compare(void *self, size_t n, const float *u, const float *before, const float *after,
                                hu_update_counts *counts) {
  (void)self;
  return hui_train_compare(n, u, before, after, counts);
}

static hu_status device_squares(void *self, size_t count, hu_squares *x) {
  device *d = self;
  size_t bytes = count * sizeof *x;
  hu_status s = want_room(d, bytes);
  if (s == HU_OK) s = device_put(d, d->room, x, bytes);
  if (s == HU_OK) s = hui_train_squares(count, d->room);
  return s == HU_OK ? device_get(d, x, d->room, bytes) : s;
}

/* Sums of so many numbers from x on, `ld` from one row to the next. */
static hu_status sum_some(device *d, size_t rows, size_t ld, size_t n, float *z, const float *x) {
  const hu_mode rne = {0};
  const hu_format f = hu_binary32();
  const hu_sum_range range = hu_sum_range_of(f);
  uint64_t *sums = d->room;
  hu_status s = hui_train_zero(sums, n * (1 + range.words) * sizeof *sums);
  for (size_t k = 0; k < rows && s == HU_OK; k++) s = hu_device_sum_add_n(n, sums, range, x + k * ld, 1, f, NULL);
  return s == HU_OK ? hu_device_sum_round_n(n, z, 1, f, sums, range, rne, NULL, NULL, NULL) : s;
}

static hu_status device_sum_rows(void *self, size_t rows, size_t n, float *z, const float *x) {
  device *d = self;
  size_t most = n < SUMS ? n : SUMS;
  hu_status s = want_room(d, most * (1 + hu_sum_range_of(hu_binary32()).words) * sizeof(uint64_t));
  for (size_t i = 0; i < n && s == HU_OK; i += most)
    s = sum_some(d, rows, n, n - i < most ? n - i : most, z + i, x + i);
  return s;
}

static hu_status device_judge(void *self, size_t rows, size_t cols, const float *x, const uint32_t *labels,
                              hu_answers *answers) {
  device *d = self;
  hu_answers some = {0, 0};
  hu_status s = want_room(d, sizeof some);
  if (s == HU_OK) s = hui_train_zero(d->room, sizeof some);
  if (s == HU_OK) s = hui_train_judge(rows, cols, x, labels, d->room);
  if (s == HU_OK) s = device_get(d, &some, d->room, sizeof some);
  answers->asked += some.asked;
  answers->right += some.right;
  return s;
}

static const hu_engine engine_of_device = {"cuda",
                                           0,
                                           device_open,
                                           device_close,
                                           device_allocate,
                                           device_release,
                                           device_put,
                                           device_get,
                                           device_run,
                                           device_products,
                                           device_function,
                                           device_round,
                                           device_quantize,
                                           device_transform,
                                           device_unscale,
                                           device_compare,
                                           NULL,
                                           NULL,
                                           NULL,
                                           device_squares,
                                           device_sum_rows,
                                           device_judge,
                                           NULL,
                                           NULL};

hu_status hu_engine_device(const hu_engine **engine) {
  if (!engine) return HU_E_NULL;
  hu_status s = hu_device_available(NULL, 0);
  *engine = s == HU_OK ? &engine_of_device : NULL;
  return s;
}
