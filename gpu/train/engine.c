/* SPDX-License-Identifier: MIT */
/* gpu/train/engine.c - a CUDA device as an engine: the table of train/engine/engine.h by the device calls of
 * libhalfulp-cuda.
 *
 * All calls use the default stream, in order. `get` waits for it. `put` waits only for large arrays: others are copied
 * into locked memory of the host, from which the device fetches them in the stream's order. One buffer is the working
 * space of all calls; it grows, so that a step allocates nothing that the last one had. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "gpu/base/batch.h"
#include "gpu/train/kernels.h"
#include "halfulp/device.h"
#include "halfulp/number.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/hadamard.h"
#include "halfulp/sum.h"
#include "halfulp/train/net.h"

/* The stage holds batches and tables of some steps; larger arrays gain nothing by a second copy. */
enum { STAGE = 1 << 20, STAGED_MOST = STAGE / 4, STAGE_STEP = 16 };
/* Sums of rows that are made at a time, so that their digits, 56 bytes each, stay in the device's cache. */
enum { SUMS = 1 << 18 };

typedef struct device {
  void *buffer;
  size_t bytes;
  uint8_t *stage;                    /* locked memory of the host; NULL: none yet */
  size_t staged;                     /* bytes of it that copies may still be made from */
  uint8_t mask[HU_HADAMARD_MAX / 8]; /* of the last transform; the device has it at `mask_there` */
  void *mask_there;
} device;

static hu_status device_open(void **self, uint32_t threads) {
  (void)threads; /* they are for the CPU */
  *self = calloc(1, sizeof(device));
  return *self ? HU_OK : HU_E_MEMORY;
}

static void device_close(void *self) {
  device *gpu = self;
  if (gpu->stage) {
    hu_status status = hui_memory_wait(); /* copies may still be made from it */
    (void)status;
    hui_memory_unlock(gpu->stage);
  }
  if (gpu->mask_there) hui_memory_free(gpu->mask_there);
  if (gpu->buffer) hui_memory_free(gpu->buffer);
  free(gpu);
}

static void *device_allocate(void *self, size_t bytes) {
  (void)self;
  void *memory = hui_memory_new(bytes);
  if (!memory || hui_train_zero(memory, bytes) == HU_OK) return memory;
  hui_memory_free(memory);
  return NULL;
}

static void device_release(void *self, void *memory) {
  (void)self;
  hui_memory_free(memory);
}

/* Returns where the stage has so many free bytes; NULL: the device failed. */
static uint8_t *stage_for(device *gpu, size_t bytes) {
  if (gpu->staged + bytes > STAGE) {
    if (hui_memory_wait() != HU_OK) return NULL;
    gpu->staged = 0;
  }
  uint8_t *z = gpu->stage + gpu->staged;
  gpu->staged += (bytes + STAGE_STEP - 1) / STAGE_STEP * STAGE_STEP;
  return z;
}

static hu_status device_put(void *self, void *z, const void *host, size_t bytes) {
  device *gpu = self;
  if (bytes == 0) return HU_OK;
  if (bytes <= STAGED_MOST && !gpu->stage) gpu->stage = hui_memory_locked(STAGE);
  if (bytes > STAGED_MOST || !gpu->stage) return hui_memory_put(z, host, bytes);
  uint8_t *from = stage_for(gpu, bytes);
  if (!from) return hui_cuda_why();
  memcpy(from, host, bytes);
  return hui_memory_send(z, from, bytes);
}

/* Copies to the host. Copies on the default stream wait for what is before them in it, and report its errors. */
static hu_status device_get(void *self, void *host, const void *x, size_t bytes) {
  device *gpu = self;
  hu_status status = hui_memory_get(host, x, bytes);
  if (status == HU_OK && bytes) gpu->staged = 0;
  return status;
}

static hu_status device_run(void *self, int kernel, const hu_task *task) {
  (void)self;
  return hui_train_run(kernel, task);
}

/* Makes the buffer so many bytes at least. In the stream's order its former user has finished. */
static hu_status grow_buffer(device *gpu, size_t bytes) {
  if (bytes <= gpu->bytes) return HU_OK;
  if (gpu->buffer) hui_memory_free(gpu->buffer);
  gpu->buffer = hui_memory_new(bytes);
  gpu->bytes = gpu->buffer ? bytes : 0;
  return gpu->buffer ? HU_OK : hui_cuda_why();
}

static hu_exec exec_of(hu_stream words) { return (hu_exec){.stream = words, .where = hu_cuda(NULL)}; }

/* Makes the exec of a call that draws no random words. */
static hu_exec there(void) { return (hu_exec){.where = hu_cuda(NULL)}; }

/* ---- products ---- */

/* Computes many products in one launch, with the random words of hui_words_of_product. */
static hu_status device_products(void *self, const hu_products *products) {
  hu_product product = {.m = products->m, .n = products->n, .k = products->k, .accum = products->accum};
  product.d = hu_matrix_floats_out(products->z.data, products->z.ld);
  product.a = hui_matrices_view(&products->a, products->a.data);
  product.b = hui_matrices_view(&products->b, products->b.data);
  (void)self;
  if (products->outer * products->inner == 1) {
    hu_exec exec = exec_of(products->words);
    hu_how how = {.exec = &exec};
    return hu_multiply(&product, &how);
  }
  hu_gemm_batch batch = {.outer = products->outer,
                         .inner = products->inner,
                         .d = {products->z.outer, products->z.inner},
                         .a = {products->a.outer, products->a.inner},
                         .b = {products->b.outer, products->b.inner},
                         .own_words = products->accum->mode.bits != 0};
  return hui_device_gemm_batch(&product, &batch, products->words, NULL);
}

/* ---- arrays ---- */

static hu_status device_function(void *self, int op, size_t n, float *z, const float *x) {
  hu_view view = hu_codes(x, 1, hu_binary32());
  hu_exec exec = there();
  hu_how how = {.exec = &exec};
  (void)self;
  hu_output to = hu_codes_out(z, 1, hu_binary32());
  return hu_apply(op, n, &to, &view, &how);
}

static hu_status device_quantize(void *self, size_t n, float *x, hu_format format, hu_mode mode, hu_stream words) {
  hu_exec exec = exec_of(words);
  (void)self;
  return hu_quantize_n(n, x, 1, x, 1, format, mode, &exec, NULL);
}

static hu_status into_scaled(device *gpu, size_t rows, size_t cols, float *z, const float *x,
                             const hu_rounding *rounding, hu_exec *exec, hu_events *events) {
  hu_scaling kind = rounding->scaling;
  if (rounding->turned) {
    kind.rows = rounding->scaling.cols;
    kind.cols = rounding->scaling.rows;
  }
  size_t work = (hu_scaled_work_size(rows, cols, &kind, exec) + 15) / 16 * 16;
  hu_status status = grow_buffer(gpu, work + sizeof rounding->amax);
  float *amax = rounding->amax != 0 && status == HU_OK ? (float *)(void *)((uint8_t *)gpu->buffer + work) : NULL;
  if (amax) status = device_put(gpu, amax, &rounding->amax, sizeof *amax);
  if (status != HU_OK) return status;
  exec->where.work = gpu->buffer;
  return hu_scaled_quantize(rows, cols, z, cols, x, cols, &kind, rounding->mode, amax, NULL, exec, events);
}

/* Rounds by s2fp8: the buffer has working space, then sums, then the scale. */
static hu_status into_s2fp8(device *gpu, size_t n, float *z, const float *x, const hu_rounding *rounding, hu_exec *exec,
                            hu_events *events) {
  hu_status status = grow_buffer(gpu, HU_DEVICE_S2FP8_WORK + sizeof(hu_s2fp8_sums) + sizeof(hu_s2fp8_scale));
  if (status != HU_OK) return status;
  uint8_t *buffer = gpu->buffer;
  hu_s2fp8_sums *sums = (hu_s2fp8_sums *)(void *)(buffer + HU_DEVICE_S2FP8_WORK);
  hu_s2fp8_scale *scale = (hu_s2fp8_scale *)(void *)(sums + 1);
  exec->where.work = buffer;
  return hu_s2fp8_truncate_n(n, z, 1, x, 1, &rounding->s2fp8, rounding->mode, sums, scale, exec, events);
}

static hu_status keep(size_t n, float *z, const float *x) {
  hu_task task = hui_task_of(1, n, z, x, NULL);
  return hui_train_run(HU_RUN_KEEP, &task);
}

/* Rounds into a format. z may be x, which is needed again: the buffer has a copy. */
static hu_status into_format(device *gpu, size_t n, float *z, const float *x, const hu_rounding *rounding,
                             const hu_exec *exec, hu_events *events) {
  if (!rounding->over_inf && !rounding->keep_nan)
    return hu_quantize_n(n, z, 1, x, 1, rounding->format, rounding->mode, exec, events);
  hu_status status = grow_buffer(gpu, n * sizeof *x);
  if (status != HU_OK) return status;
  hu_task copy = hui_task_of(1, n, gpu->buffer, x, NULL);
  status = hui_train_run(HU_RUN_COPY, &copy);
  if (status == HU_OK) status = hu_quantize_n(n, z, 1, gpu->buffer, 1, rounding->format, rounding->mode, exec, events);
  return status == HU_OK ? hui_train_widen(n, z, gpu->buffer, rounding, exec->stream, events) : status;
}

static hu_status device_round(void *self, size_t rows, size_t cols, float *z, const float *x,
                              const hu_rounding *rounding, hu_stream words, hu_rounding_counts *counts) {
  hu_exec exec = exec_of(words);
  hu_events *events = counts ? &counts->events : NULL;
  size_t n = rows * cols;
  /* Counts first, since z may be x. Only a format has a largest number. */
  float max = rounding->kind == HU_ROUND_FORMAT ? (float)hu_limits_of(rounding->format).max : HUGE_VALF;
  hu_status status = counts ? hui_train_count(n, x, max, counts) : HU_OK;
  if (status != HU_OK) return status;
  switch (rounding->kind) {
    case HU_ROUND_KEEP: return keep(n, z, x);
    case HU_ROUND_FORMAT: return into_format(self, n, z, x, rounding, &exec, events);
    case HU_ROUND_SCALED: return into_scaled(self, rows, cols, z, x, rounding, &exec, events);
    case HU_ROUND_S2FP8: return into_s2fp8(self, n, z, x, rounding, &exec, events);
    case HU_ROUND_NUMBER: return hu_number_quantize_n(n, z, 1, x, 1, rounding->number, rounding->mode, &exec, events);
    default: return HU_E_TRAIN;
  }
}

static hu_status device_transform(void *self, size_t rows, size_t cols, float *z, const float *x,
                                  const hu_hadamard *transform) {
  device *gpu = self;
  hu_hadamard copy = *transform;
  hu_status status = HU_OK;
  if (!gpu->mask_there || memcmp(gpu->mask, transform->mask, sizeof gpu->mask) != 0) {
    if (!gpu->mask_there) gpu->mask_there = hui_memory_new(sizeof gpu->mask);
    if (!gpu->mask_there) return hui_cuda_why();
    memcpy(gpu->mask, transform->mask, sizeof gpu->mask);
    status = device_put(gpu, gpu->mask_there, gpu->mask, sizeof gpu->mask);
  }
  if (status != HU_OK) return status;
  copy.mask = gpu->mask_there;
  hu_exec exec = there();
  return hu_hadamard_forward(rows, cols, z, cols, x, cols, &copy, &exec);
}

static hu_status device_unscale(void *self, size_t n, float *gradient, float scale, hu_gradient_found *found) {
  (void)self;
  return hui_train_unscale(n, gradient, 1 / scale, found);
}

static hu_status device_compare(void *self, size_t n, const float *update, const float *before, const float *after,
                                hu_update_counts *counts) {
  (void)self;
  return hui_train_compare(n, update, before, after, counts);
}

static hu_status device_squares(void *self, size_t count, hu_squares *x) {
  device *gpu = self;
  size_t bytes = count * sizeof *x;
  hu_status status = grow_buffer(gpu, bytes);
  if (status == HU_OK) status = device_put(gpu, gpu->buffer, x, bytes);
  if (status == HU_OK) status = hui_train_squares(count, gpu->buffer);
  return status == HU_OK ? device_get(gpu, x, gpu->buffer, bytes) : status;
}

/* Makes the sums of n columns from x on, with rows `ld` numbers apart. */
static hu_status sum_some(device *gpu, size_t rows, size_t ld, size_t n, float *z, const float *x) {
  const hu_mode rne = {0};
  const hu_format format = hu_binary32();
  const hu_sum_range range = hu_sum_range_of(format);
  const hu_exec exec = there();
  uint64_t *sums = gpu->buffer;
  hu_status status = hui_train_zero(sums, n * (1 + range.words) * sizeof *sums);
  for (size_t k = 0; k < rows && status == HU_OK; k++)
    status = hu_sum_add_n(n, sums, range, hu_codes(x + k * ld, 1, format), &exec);
  return status == HU_OK ? hu_sum_round_n(n, hu_codes_out(z, 1, format), sums, range, &(hu_how){rne, &exec, NULL})
                         : status;
}

static hu_status device_sum_rows(void *self, size_t rows, size_t n, float *z, const float *x) {
  device *gpu = self;
  size_t most = n < SUMS ? n : SUMS;
  hu_status status = grow_buffer(gpu, most * (1 + hu_sum_range_of(hu_binary32()).words) * sizeof(uint64_t));
  for (size_t i = 0; i < n && status == HU_OK; i += most)
    status = sum_some(gpu, rows, n, n - i < most ? n - i : most, z + i, x + i);
  return status;
}

static hu_status device_judge(void *self, size_t rows, size_t cols, const float *x, const uint32_t *labels,
                              hu_answers *answers) {
  device *gpu = self;
  hu_answers some = {0, 0};
  hu_status status = grow_buffer(gpu, sizeof some);
  if (status == HU_OK) status = hui_train_zero(gpu->buffer, sizeof some);
  if (status == HU_OK) status = hui_train_judge(rows, cols, x, labels, gpu->buffer);
  if (status == HU_OK) status = device_get(gpu, &some, gpu->buffer, sizeof some);
  answers->asked += some.asked;
  answers->right += some.right;
  return status;
}

static const hu_engine engine_of_device = {.name = "cuda",
                                           .open = device_open,
                                           .close = device_close,
                                           .allocate = device_allocate,
                                           .release = device_release,
                                           .put = device_put,
                                           .get = device_get,
                                           .run = device_run,
                                           .products = device_products,
                                           .function = device_function,
                                           .round = device_round,
                                           .quantize = device_quantize,
                                           .transform = device_transform,
                                           .unscale = device_unscale,
                                           .compare = device_compare,
                                           .squares = device_squares,
                                           .sum_rows = device_sum_rows,
                                           .judge = device_judge};

hu_status hu_engine_device(const hu_engine **engine) {
  if (!engine) return HU_E_NULL;
  hu_status status = hu_device_available(NULL, 0);
  *engine = status == HU_OK ? &engine_of_device : NULL;
  return status;
}
