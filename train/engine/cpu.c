/* SPDX-License-Identifier: MIT */
/* Makes the CPU an engine: chooses the loop and the number of threads. */
#include "train/engine/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/view.h"
#include "halfulp/gemm.h"
#include "train/engine/kernels.h"
#include "train/environment.h"
#include "train/step/optimizer.h"

/* Work below which threads cost more than they save: function values, weights. */
enum { VALUES_MIN = 1 << 13, STEPS_MIN = 1 << 14 };

static void run_for_library(void *crew, size_t parts, void (*part)(void *context, size_t part), void *context) {
  hui_crew_run(crew, parts, part, context);
}

static hu_status cpu_open(void **self, uint32_t threads) {
  hu_cpu *engine = malloc(sizeof *engine);
  if (!engine) return HU_E_MEMORY;
  *engine = hui_cpu_alone();
  engine->threads = threads;
  engine->crew = hui_crew_new(threads);
  engine->helpers.run = run_for_library;
  engine->helpers.self = engine->crew;
  if (threads > HU_THREADS_MAX) threads = HU_THREADS_MAX;
  engine->buffers =
      calloc((size_t)threads * HU_PRODUCT_BUFFER, sizeof *engine->buffers); /* none: products pack nothing */
  *self = engine;
  return HU_OK;
}

static void cpu_close(void *self) {
  hu_cpu *engine = self;
  hui_crew_free(engine->crew);
  free(engine->buffers);
  free(engine->panels);
  free(engine);
}

enum { LINE = 64 }; /* bytes of a cache line */

/* From the beginning of a cache line on: threads write panels of so many bytes in turn, and two that share a line
 * would wait for each other. The pages of calloc are zero without being touched, so the block is taken from it; its
 * address lies before the first line. */
static void *cpu_allocate(void *self, size_t bytes) {
  (void)self;
  char *block = bytes > SIZE_MAX - LINE - sizeof block ? NULL : calloc(bytes + LINE + sizeof block, 1);
  if (!block) return NULL;
  char *z = block + sizeof block;
  z += LINE - (uintptr_t)z % LINE;
  memcpy(z - sizeof block, &block, sizeof block);
  return z;
}

static void cpu_release(void *self, void *p) {
  char *block;
  (void)self;
  if (!p) return;
  memcpy(&block, (char *)p - sizeof block, sizeof block);
  free(block);
}

static hu_status cpu_put(void *self, void *z, const void *x, size_t bytes) {
  (void)self;
  memcpy(z, x, bytes);
  return HU_OK;
}

/* ---- products ---- */

typedef struct product_call {
  const hu_cpu *cpu;
  const hu_products *products;
  uint32_t threads; /* of a call of hu_gemm */
  size_t part;      /* many: products; one: rows, or (across) columns */
  int across;
  hu_status status[HU_THREADS_MAX + 1];
} product_call;

/* Computes product i by hu_gemm. */
static hu_status by_library(const product_call *call, size_t i, float *z, const float *x, const float *y) {
  const hu_products *products = call->products;
  hu_exec exec;
  hu_how how = {.exec = &exec};
  memset(&exec, 0, sizeof exec);
  exec.threads = call->threads;
  exec.levels_off = call->cpu->levels_off;
  exec.stream = hui_words_of_product(products, i);
  hu_output result = hu_matrix_floats_out(z, products->z.ld);
  hu_view a = hui_matrices_view(&products->a, x), b = hui_matrices_view(&products->b, y);
  return hu_gemm(products->m, products->n, products->k, &result, &a, &b, NULL, products->accum, &how);
}

static float *matrix(const hu_matrices *matrices, size_t i, size_t inner) {
  return matrices->data + i / inner * matrices->outer + i % inner * matrices->inner;
}

static float *buffer_of(const hu_cpu *engine, size_t part) {
  return engine->buffers ? engine->buffers + part * HU_PRODUCT_BUFFER : NULL;
}

static void some_products(void *context, size_t part) {
  product_call *call = context;
  const hu_products *products = call->products;
  const hu_range whole = {0, products->m, 0, products->n};
  size_t all = products->outer * products->inner, from = part * call->part,
         to = all - from < call->part ? all : from + call->part;
  int quick = call->cpu->loops->product && hui_is_plain_fp32(products->accum);
  for (size_t i = from; i < to && call->status[part] == HU_OK; i++) {
    float *z = matrix(&products->z, i, products->inner);
    const float *a = matrix(&products->a, i, products->inner), *b = matrix(&products->b, i, products->inner);
    if (quick) {
      call->cpu->loops->product(products, z, a, b, &whole, buffer_of(call->cpu, part));
    } else {
      call->status[part] = by_library(call, i, z, a, b);
    }
  }
}

/* Computes some rows of a product, or some columns. */
static void some_of_one(void *context, size_t part) {
  const product_call *call = context;
  const hu_products *products = call->products;
  hu_range of = {0, products->m, 0, products->n};
  size_t all = call->across ? products->n : products->m, from = part * call->part,
         to = all - from < call->part ? all : from + call->part;
  *(call->across ? &of.j0 : &of.i0) = from;
  *(call->across ? &of.j1 : &of.i1) = to;
  call->cpu->loops->product(products, products->z.data, products->a.data, products->b.data, &of,
                            buffer_of(call->cpu, part));
}

static int has_loop(const hu_cpu *engine, const hu_products *products) {
  return engine->loops->product && hui_is_plain_fp32(products->accum) && products->outer * products->inner == 1;
}

static product_call product_call_of(const hu_cpu *engine, const hu_products *products) {
  product_call call;
  memset(&call, 0, sizeof call);
  call.cpu = engine;
  call.products = products;
  call.threads = 1;
  return call;
}

static size_t parts_of(const hu_cpu *engine, const hu_products *products) {
  size_t work = products->m * products->n * products->k * products->outer * products->inner;
  if (!engine->crew || work < HU_CPU_PRODUCTS_MIN) return 1;
  return engine->threads < HU_THREADS_MAX ? engine->threads : HU_THREADS_MAX;
}

/* One product by its loop; few rows are not divided, whole lines of columns are. */
static void one_product(const hu_cpu *engine, const hu_products *products) {
  product_call call = product_call_of(engine, products);
  size_t parts = parts_of(engine, products);
  call.across = products->m < 48 * parts && products->n > products->m;
  size_t all = call.across ? products->n : products->m, least = call.across ? 16 : 12;
  call.part = (all / parts / least + 1) * least;
  hui_cpu_run(engine, (all + call.part - 1) / call.part, some_of_one, &call);
}

static hu_status one_by_library(const product_call *call) {
  const hu_helpers *before = hui_cpu_lend(call->cpu);
  hu_status status = by_library(call, 0, call->products->z.data, call->products->a.data, call->products->b.data);
  hui_cpu_take_back(before);
  return status;
}

static hu_status cpu_products(void *self, const hu_products *products) {
  const hu_cpu *engine = self;
  size_t all = products->outer * products->inner, parts = parts_of(engine, products);
  product_call call = product_call_of(engine, products);
  if (all == 1) {
    call.threads = (uint32_t)parts;
    if (!has_loop(engine, products)) return one_by_library(&call);
    one_product(engine, products);
    return HU_OK;
  }
  call.part = (all + parts - 1) / parts;
  hui_cpu_run(engine, (all + call.part - 1) / call.part, some_products, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
  }
  return HU_OK;
}

/* ---- the library's arrays ---- */

typedef struct function_call {
  int op;
  float *z;
  const float *x;
  size_t n, part;
  uint32_t levels_off;
  hu_status status[HU_THREADS_MAX];
} function_call;

static void function_part(void *context, size_t part) {
  function_call *call = context;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.threads = 1;
  exec.levels_off = call->levels_off;
  size_t at = part * call->part, n = call->n - at < call->part ? call->n - at : call->part;
  hu_view x = hu_codes(call->x + at, 1, hu_binary32());
  hu_how how = {.exec = &exec};
  hu_output to = hu_codes_out(call->z + at, 1, hu_binary32());
  call->status[part] = hu_apply(call->op, n, &to, &x, &how);
}

/* Numbers one at a time, by the crew: the library would start threads for each call. */
static hu_status cpu_function(void *self, int op, size_t n, float *z, const float *x) {
  const hu_cpu *engine = self;
  function_call call;
  memset(&call, 0, sizeof call);
  call.op = op;
  call.z = z;
  call.x = x;
  call.n = n;
  call.part = !engine->crew || n < VALUES_MIN ? n + !n : hui_cpu_part_size(engine, n, 1024);
  call.levels_off = engine->levels_off;
  size_t parts = (n + call.part - 1) / call.part;
  hui_cpu_run(engine, parts, function_part, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
  }
  return HU_OK;
}

static hu_status cpu_transform(void *self, size_t rows, size_t cols, float *z, const float *x,
                               const hu_hadamard *transform) {
  const hu_stream none = {0, 0};
  hu_exec exec = hui_cpu_exec(self, rows * cols, HU_CPU_NUMBERS_MIN, none);
  const hu_helpers *before = hui_cpu_lend(self);
  hu_status status = hu_hadamard_forward(rows, cols, z, cols, x, cols, transform, &exec);
  hui_cpu_take_back(before);
  return status;
}

typedef struct unscale_call {
  float *g, scale;
  size_t n, part;
  hu_gradient_found found[HU_THREADS_MAX];
} unscale_call;

static void unscale_part(void *context, size_t part) {
  unscale_call *call = context;
  size_t at = part * call->part, n = call->n - at < call->part ? call->n - at : call->part;
  hu_gradient_unscale_n(n, call->g + at, call->scale, &call->found[part]);
}

/* Joins a maximum and a flag, which are equal in any order. */
static hu_status cpu_unscale(void *self, size_t n, float *g, float scale, hu_gradient_found *found) {
  const hu_cpu *engine = self;
  if (!engine->crew || n < HU_CPU_NUMBERS_MIN) {
    hu_gradient_unscale_n(n, g, scale, found);
    return HU_OK;
  }
  unscale_call call = {g, scale, n, hui_cpu_part_size(engine, n, 1024), {{0, 0}}};
  size_t parts = (n + call.part - 1) / call.part;
  hui_cpu_run(engine, parts, unscale_part, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.found[i].amax > found->amax) found->amax = call.found[i].amax;
    found->bad |= call.found[i].bad;
  }
  return HU_OK;
}

static hu_status cpu_compare(void *self, size_t n, const float *u, const float *before, const float *after,
                             hu_update_counts *counts) {
  uint64_t moved = 0, lost = 0;
  (void)self;
  for (size_t i = 0; i < n; i++) {
    moved += u[i] != 0;
    lost += (u[i] != 0) & (before[i] == after[i]);
  }
  counts->moved += moved;
  counts->lost += lost;
  return HU_OK;
}

/* ---- steps of an optimizer, in pieces that stay in the first-level cache ---- */

enum { PIECE = 1024 };

static hu_status check_arrays(const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer) {
  if (!arrays || !arrays->w || !arrays->g) return HU_E_NULL;
  if (!arrays->m != !hui_optimizer_has_m(optimizer) || !arrays->v != !hui_optimizer_has_v(optimizer)) return HU_E_NULL;
  return !arrays->c != !(optimizer->update == HU_UPDATE_KAHAN) ? HU_E_NULL : HU_OK;
}

static hu_optimizer_arrays part_of(const hu_optimizer_arrays *arrays, size_t at) {
  hu_optimizer_arrays part = *arrays;
  part.w += at;
  part.g += at;
  if (part.m) part.m += at;
  if (part.v) part.v += at;
  if (part.c) part.c += at;
  return part;
}

static hu_status check_step(const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                            const hu_optimizer_time *now) {
  hu_status status = hu_optimizer_check_step(optimizer, NULL);
  if (status == HU_OK && !now) status = HU_E_NULL;
  if (status == HU_OK) status = check_arrays(arrays, optimizer);
  return status == HU_OK && now->t == 0 ? HU_E_SHAPE : status;
}

static HU_NOINLINE hu_status update(size_t n, const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                                    const hu_optimizer_time *now, hu_stream stream, hu_update_counts *counts) {
  hu_cpu cpu = hui_cpu_alone();
  hu_status status = HU_OK;
  float buffers[4][PIECE], *const buffer[4] = {buffers[0], buffers[1], buffers[2], buffers[3]};
  for (size_t at = 0; at < n && status == HU_OK; at += PIECE) {
    const hu_optimizer_matrix piece = {1, n - at < PIECE ? n - at : PIECE, 0};
    hu_optimizer_arrays own = part_of(arrays, at);
    hu_stream words = {stream.key, stream.counter + at};
    status = hui_optimizer_step_on(hui_engine_cpu(), &cpu, &piece, &own, optimizer, now, words, buffer, counts);
  }
  return status;
}

/* Does all of a step but the storage of moments, in any thread. */
static hu_status update_weights(size_t n, const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                                const hu_optimizer_time *now, hu_stream stream, hu_update_counts *counts) {
  HU_ENV_RETURN(hu_status, update(n, arrays, optimizer, now, stream, counts));
}

/* Does the same for Muon, with a whole matrix. */
static hu_status update_matrix(const hu_optimizer_matrix *matrix, const hu_optimizer_arrays *arrays,
                               const hu_optimizer *optimizer, const hu_optimizer_time *now, hu_stream stream,
                               hu_update_counts *counts) {
  hu_cpu cpu = hui_cpu_alone();
  size_t n = matrix->rows * matrix->cols;
  if (n == 0) return HU_OK;
  float *room = n > SIZE_MAX / (4 * sizeof *room) ? NULL : malloc(4 * n * sizeof *room);
  if (!room) return HU_E_MEMORY;
  float *const buffer[4] = {room, room + n, room + 2 * n, room + 3 * n};
  hu_status status =
      hui_optimizer_step_on(hui_engine_cpu(), &cpu, matrix, arrays, optimizer, now, stream, buffer, counts);
  free(room);
  return status;
}

static HU_NOINLINE hu_status step(const hu_optimizer_matrix *matrix, const hu_optimizer_arrays *arrays,
                                  const hu_optimizer *optimizer, const hu_optimizer_time *now, hu_stream stream,
                                  hu_update_counts *counts, hu_rounding_counts *moments) {
  hu_cpu cpu = hui_cpu_alone();
  size_t n = 0;
  hu_status status = matrix ? check_step(arrays, optimizer, now) : HU_E_NULL;
  if (status == HU_OK && (matrix->outputs_first > 1 || __builtin_mul_overflow(matrix->rows, matrix->cols, &n)))
    status = HU_E_SHAPE;
  if (status != HU_OK) return status;
  status = optimizer->kind == HU_MUON ? update_matrix(matrix, arrays, optimizer, now, stream, counts)
                                      : update_weights(n, arrays, optimizer, now, stream, counts);
  return status == HU_OK ? hui_optimizer_store(hui_engine_cpu(), &cpu, n, arrays, optimizer, stream, moments) : status;
}

hu_status hu_optimizer_step_matrix(const hu_optimizer_matrix *matrix, const hu_optimizer_arrays *arrays,
                                   const hu_optimizer *optimizer, const hu_optimizer_time *now, hu_stream stream,
                                   hu_update_counts *counts, hu_rounding_counts moments[2]) {
  HU_ENV_RETURN(hu_status, step(matrix, arrays, optimizer, now, stream, counts, moments));
}

hu_status hu_optimizer_step(size_t n, const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                            const hu_optimizer_time *now, hu_stream stream, hu_update_counts *counts) {
  const hu_optimizer_matrix row = {1, n, 0};
  if (optimizer && optimizer->kind == HU_MUON) return HU_E_SHAPE;
  return hu_optimizer_step_matrix(&row, arrays, optimizer, now, stream, counts, NULL);
}

typedef struct step_call {
  const hu_optimizer_arrays *arrays;
  const hu_optimizer *optimizer;
  const hu_optimizer_time *now;
  hu_stream words;
  size_t n, part;
  hu_update_counts counts[HU_THREADS_MAX];
  hu_status status[HU_THREADS_MAX];
} step_call;

static void step_part(void *context, size_t part) {
  step_call *call = context;
  size_t at = part * call->part, n = call->n - at < call->part ? call->n - at : call->part;
  hu_optimizer_arrays arrays = part_of(call->arrays, at);
  hu_stream words = {call->words.key, call->words.counter + at};
  call->status[part] = update_weights(n, &arrays, call->optimizer, call->now, words, &call->counts[part]);
}

static hu_status cpu_step(void *self, size_t n, const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                          const hu_optimizer_time *now, hu_stream words, hu_update_counts *counts) {
  const hu_cpu *engine = self;
  if (!engine->crew || n < STEPS_MIN) return update_weights(n, arrays, optimizer, now, words, counts);
  step_call call;
  memset(&call, 0, sizeof call);
  call.arrays = arrays;
  call.optimizer = optimizer;
  call.now = now;
  call.words = words;
  call.n = n;
  call.part = hui_cpu_part_size(engine, n, 1024);
  size_t parts = (n + call.part - 1) / call.part;
  hui_cpu_run(engine, parts, step_part, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
    counts->moved += call.counts[i].moved;
    counts->lost += call.counts[i].lost;
  }
  return HU_OK;
}

static hu_status cpu_judge(void *self, size_t rows, size_t cols, const float *x, const uint32_t *labels,
                           hu_answers *answers) {
  (void)self;
  for (size_t i = 0; i < rows; i++) {
    if (labels[i] == HU_LABEL_NONE) continue;
    answers->asked++;
    answers->right += hui_answer(cols, x + i * cols) == labels[i];
  }
  return HU_OK;
}

static const hu_engine cpu = {.name = "cpu",
                              .on_host = 1,
                              .open = cpu_open,
                              .close = cpu_close,
                              .allocate = cpu_allocate,
                              .release = cpu_release,
                              .put = cpu_put,
                              .get = cpu_put,
                              .run = hui_cpu_loop,
                              .products = cpu_products,
                              .function = cpu_function,
                              .round = hui_cpu_round,
                              .quantize = hui_cpu_quantize,
                              .transform = cpu_transform,
                              .unscale = cpu_unscale,
                              .compare = cpu_compare,
                              .step = cpu_step,
                              .convolve = hui_cpu_convolve,
                              .sum_products = hui_cpu_sum_products,
                              .judge = cpu_judge,
                              .pack = hui_cpu_pack,
                              .add_rounded = hui_cpu_add_rounded};

const hu_engine *hui_engine_cpu(void) { return &cpu; }
