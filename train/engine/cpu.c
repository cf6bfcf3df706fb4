/* SPDX-License-Identifier: MIT */
/* Makes the processor an engine: chooses the loop and the number of threads. */
#include "train/engine/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/function_n.h"
#include "halfulp/gemm.h"
#include "train/engine/kernels.h"
#include "train/environment.h"
#include "train/step/optimizer.h"

/* Work below which threads cost more than they save: function values, weights. */
enum { VALUES_MIN = 1 << 13, STEPS_MIN = 1 << 14 };

static void run_for_library(void *crew, size_t parts, void (*part)(void *context, size_t part), void *context) {
  hu_crew_run(crew, parts, part, context);
}

static hu_status cpu_open(void **self, uint32_t threads) {
  hu_cpu *c = malloc(sizeof *c);
  if (!c) return HU_E_MEMORY;
  *c = hu_cpu_alone();
  c->threads = threads;
  c->crew = hu_crew_new(threads);
  c->helpers.run = run_for_library;
  c->helpers.self = c->crew;
  if (threads > HU_THREADS_MAX) threads = HU_THREADS_MAX;
  c->rooms = calloc((size_t)threads * HU_PRODUCT_ROOM, sizeof *c->rooms); /* none: products pack nothing */
  *self = c;
  return HU_OK;
}

static void cpu_close(void *self) {
  hu_cpu *c = self;
  hu_crew_free(c->crew);
  free(c->rooms);
  free(c->panels);
  free(c);
}

enum { LINE = 64 }; /* bytes of a cache line */

/* From the beginning of a cache line on: threads write panels of so many bytes by turns, and two that share a line
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
  const hu_products *p;
  uint32_t threads; /* of a call of hu_gemm */
  size_t part;      /* many: products; one: rows, or (across) columns */
  int across;
  hu_status status[HU_THREADS_MAX + 1];
} product_call;

/* Product i. */
static hu_status by_library(const product_call *c, size_t i, float *z, const float *x, const float *y) {
  const hu_products *p = c->p;
  const hu_mode rne = {0};
  hu_exec e;
  memset(&e, 0, sizeof e);
  e.threads = c->threads;
  e.levels_off = c->cpu->levels_off;
  e.stream = hu_words_of_product(p, i);
  hu_result d = {z, p->z.ld, hu_binary32(), HU_STORAGE_VALUES};
  hu_operand a = {x, p->a.ld, p->a.format, HU_STORAGE_VALUES, (uint8_t)p->a.transposed};
  hu_operand b = {y, p->b.ld, p->b.format, HU_STORAGE_VALUES, (uint8_t)p->b.transposed};
  return hu_gemm(p->m, p->n, p->k, &d, &a, &b, NULL, p->accum, rne, &e, NULL);
}

static float *matrix(const hu_matrices *m, size_t i, size_t inner) {
  return m->data + i / inner * m->outer + i % inner * m->inner;
}

static float *room_of(const hu_cpu *c, size_t part) { return c->rooms ? c->rooms + part * HU_PRODUCT_ROOM : NULL; }

static void some_products(void *context, size_t part) {
  product_call *c = context;
  const hu_products *p = c->p;
  const hu_range whole = {0, p->m, 0, p->n};
  size_t all = p->outer * p->inner, from = part * c->part, to = all - from < c->part ? all : from + c->part;
  int quick = c->cpu->loops->product && hu_is_plain_fp32(p->accum);
  for (size_t i = from; i < to && c->status[part] == HU_OK; i++) {
    float *z = matrix(&p->z, i, p->inner);
    const float *a = matrix(&p->a, i, p->inner), *b = matrix(&p->b, i, p->inner);
    if (quick) {
      c->cpu->loops->product(p, z, a, b, &whole, room_of(c->cpu, part));
    } else {
      c->status[part] = by_library(c, i, z, a, b);
    }
  }
}

/* Some rows of a product, or some columns. */
static void some_of_one(void *context, size_t part) {
  const product_call *c = context;
  const hu_products *p = c->p;
  hu_range of = {0, p->m, 0, p->n};
  size_t all = c->across ? p->n : p->m, from = part * c->part, to = all - from < c->part ? all : from + c->part;
  *(c->across ? &of.j0 : &of.i0) = from;
  *(c->across ? &of.j1 : &of.i1) = to;
  c->cpu->loops->product(p, p->z.data, p->a.data, p->b.data, &of, room_of(c->cpu, part));
}

static int has_loop(const hu_cpu *c, const hu_products *p) {
  return c->loops->product && hu_is_plain_fp32(p->accum) && p->outer * p->inner == 1;
}

static product_call product_call_of(const hu_cpu *c, const hu_products *p) {
  product_call call;
  memset(&call, 0, sizeof call);
  call.cpu = c;
  call.p = p;
  call.threads = 1;
  return call;
}

static size_t parts_of(const hu_cpu *c, const hu_products *p) {
  size_t work = p->m * p->n * p->k * p->outer * p->inner;
  if (!c->crew || work < HU_CPU_PRODUCTS_MIN) return 1;
  return c->threads < HU_THREADS_MAX ? c->threads : HU_THREADS_MAX;
}

/* One product by its loop; few rows are not divided, whole lines of columns are. */
static void one_product(const hu_cpu *c, const hu_products *p) {
  product_call call = product_call_of(c, p);
  size_t parts = parts_of(c, p);
  call.across = p->m < 48 * parts && p->n > p->m;
  size_t all = call.across ? p->n : p->m, least = call.across ? 16 : 12;
  call.part = (all / parts / least + 1) * least;
  hu_cpu_run(c, (all + call.part - 1) / call.part, some_of_one, &call);
}

static hu_status one_by_library(const product_call *c) {
  const hu_helpers *before = hu_cpu_lend(c->cpu);
  hu_status s = by_library(c, 0, c->p->z.data, c->p->a.data, c->p->b.data);
  hu_cpu_take_back(before);
  return s;
}

static hu_status cpu_products(void *self, const hu_products *p) {
  const hu_cpu *c = self;
  size_t all = p->outer * p->inner, parts = parts_of(c, p);
  product_call call = product_call_of(c, p);
  if (all == 1) {
    call.threads = (uint32_t)parts;
    if (!has_loop(c, p)) return one_by_library(&call);
    one_product(c, p);
    return HU_OK;
  }
  call.part = (all + parts - 1) / parts;
  hu_cpu_run(c, (all + call.part - 1) / call.part, some_products, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
  }
  return HU_OK;
}

/* ---- the library's arrays ---- */

typedef hu_status function_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                             hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events);

typedef struct function_call {
  function_n *function;
  float *z;
  const float *x;
  size_t n, part;
  uint32_t levels_off;
  hu_status status[HU_THREADS_MAX];
} function_call;

static void function_part(void *context, size_t part) {
  function_call *c = context;
  const hu_mode rne = {0};
  hu_exec e;
  memset(&e, 0, sizeof e);
  e.threads = 1;
  e.levels_off = c->levels_off;
  size_t at = part * c->part, n = c->n - at < c->part ? c->n - at : c->part;
  c->status[part] = c->function(n, c->z + at, 1, hu_binary32(), c->x + at, 1, hu_binary32(), rne, &e, NULL);
}

/* Numbers one at a time, by the crew: the library would start threads for each call. */
static hu_status cpu_function(void *self, int which, size_t n, float *z, const float *x) {
  static function_n *const functions[] = {hu_exp_n, hu_log_n, hu_tanh_n, hu_sigmoid_n, hu_erf_n, hu_gelu_n};
  const hu_cpu *c = self;
  function_call call;
  memset(&call, 0, sizeof call);
  call.function = functions[which];
  call.z = z;
  call.x = x;
  call.n = n;
  call.part = !c->crew || n < VALUES_MIN ? n + !n : hu_cpu_part_size(c, n, 1024);
  call.levels_off = c->levels_off;
  size_t parts = (n + call.part - 1) / call.part;
  hu_cpu_run(c, parts, function_part, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
  }
  return HU_OK;
}

static hu_status cpu_transform(void *self, size_t rows, size_t cols, float *z, const float *x,
                               const hu_hadamard *transform) {
  const hu_stream none = {0, 0};
  hu_exec e = hu_cpu_exec(self, rows * cols, HU_CPU_NUMBERS_MIN, none);
  const hu_helpers *before = hu_cpu_lend(self);
  hu_status s = hu_hadamard_forward(rows, cols, z, cols, x, cols, transform, &e);
  hu_cpu_take_back(before);
  return s;
}

typedef struct unscale_call {
  float *g, scale;
  size_t n, part;
  hu_gradient_found found[HU_THREADS_MAX];
} unscale_call;

static void unscale_part(void *context, size_t part) {
  unscale_call *c = context;
  size_t at = part * c->part, n = c->n - at < c->part ? c->n - at : c->part;
  hu_gradient_unscale_n(n, c->g + at, c->scale, &c->found[part]);
}

/* A maximum and a flag, the same in any order. */
static hu_status cpu_unscale(void *self, size_t n, float *g, float scale, hu_gradient_found *found) {
  const hu_cpu *c = self;
  if (!c->crew || n < HU_CPU_NUMBERS_MIN) {
    hu_gradient_unscale_n(n, g, scale, found);
    return HU_OK;
  }
  unscale_call call = {g, scale, n, hu_cpu_part_size(c, n, 1024), {{0, 0}}};
  size_t parts = (n + call.part - 1) / call.part;
  hu_cpu_run(c, parts, unscale_part, &call);
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

static hu_status check_arrays(const hu_optimizer_arrays *x, const hu_optimizer *o) {
  if (!x || !x->w || !x->g) return HU_E_NULL;
  if (!x->m != !hu_optimizer_has_m(o) || !x->v != !hu_optimizer_has_v(o)) return HU_E_NULL;
  return !x->c != !(o->update == HU_UPDATE_KAHAN) ? HU_E_NULL : HU_OK;
}

static hu_optimizer_arrays part_of(const hu_optimizer_arrays *x, size_t at) {
  hu_optimizer_arrays p = *x;
  p.w += at;
  p.g += at;
  if (p.m) p.m += at;
  if (p.v) p.v += at;
  if (p.c) p.c += at;
  return p;
}

static HU_NOINLINE hu_status step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o,
                                  const hu_optimizer_time *now, hu_stream stream, hu_update_counts *counts) {
  hu_status s = hu_optimizer_check_step(o, NULL);
  if (s == HU_OK && !now) s = HU_E_NULL;
  if (s == HU_OK) s = check_arrays(x, o);
  if (s == HU_OK && now->t == 0) s = HU_E_SHAPE;
  if (s != HU_OK) return s;
  hu_cpu cpu = hu_cpu_alone();
  float rooms[4][PIECE], *const room[4] = {rooms[0], rooms[1], rooms[2], rooms[3]};
  for (size_t at = 0; at < n && s == HU_OK; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    hu_optimizer_arrays p = part_of(x, at);
    hu_stream words = {stream.key, stream.counter + at};
    s = hu_optimizer_step_on(hu_engine_cpu(), &cpu, piece, &p, o, now, words, room, counts);
  }
  return s;
}

hu_status hu_optimizer_step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o, const hu_optimizer_time *now,
                            hu_stream stream, hu_update_counts *counts) {
  HU_ENV_RETURN(hu_status, step(n, x, o, now, stream, counts));
}

typedef struct step_call {
  const hu_optimizer_arrays *x;
  const hu_optimizer *o;
  const hu_optimizer_time *now;
  hu_stream words;
  size_t n, part;
  hu_update_counts counts[HU_THREADS_MAX];
  hu_status status[HU_THREADS_MAX];
} step_call;

static void step_part(void *context, size_t part) {
  step_call *c = context;
  size_t at = part * c->part, n = c->n - at < c->part ? c->n - at : c->part;
  hu_optimizer_arrays x = part_of(c->x, at);
  hu_stream words = {c->words.key, c->words.counter + at};
  c->status[part] = hu_optimizer_step(n, &x, c->o, c->now, words, &c->counts[part]);
}

static hu_status cpu_step(void *self, size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o,
                          const hu_optimizer_time *now, hu_stream words, hu_update_counts *counts) {
  const hu_cpu *c = self;
  if (!c->crew || n < STEPS_MIN) return hu_optimizer_step(n, x, o, now, words, counts);
  step_call call;
  memset(&call, 0, sizeof call);
  call.x = x;
  call.o = o;
  call.now = now;
  call.words = words;
  call.n = n;
  call.part = hu_cpu_part_size(c, n, 1024);
  size_t parts = (n + call.part - 1) / call.part;
  hu_cpu_run(c, parts, step_part, &call);
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
    answers->right += hu_first_largest(cols, x + i * cols) == labels[i];
  }
  return HU_OK;
}

static const hu_engine cpu = {"cpu",
                              1,
                              cpu_open,
                              cpu_close,
                              cpu_allocate,
                              cpu_release,
                              cpu_put,
                              cpu_put,
                              hu_cpu_loop,
                              cpu_products,
                              cpu_function,
                              hu_cpu_round,
                              hu_cpu_quantize,
                              cpu_transform,
                              cpu_unscale,
                              cpu_compare,
                              cpu_step,
                              hu_cpu_convolve,
                              hu_cpu_sum_products,
                              NULL,
                              NULL,
                              cpu_judge,
                              hu_cpu_pack,
                              hu_cpu_add_rounded};

const hu_engine *hu_engine_cpu(void) { return &cpu; }
