/* SPDX-License-Identifier: MIT */
/* Products that are added to a sum once they are rounded, such as the gradient of weights that each step of time has:
 * some rows at a time, which stay in the second-level cache. Where the rounding looks at the whole tensor first, the
 * product is written, and read once more to be rounded. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/s2fp8.h"
#include "train/engine/cpu.h"

/* Terms of a number up to which that is so; numbers of Z from which on it leaves the cache; those of some rows. */
enum { SHALLOW = 64, LARGE = 1 << 16, SOME = 1 << 14 };

typedef struct call {
  const hu_cpu *cpu;
  const hu_rounded_product *c;
  const float *panels; /* B's, which every piece reads; NULL: B as it lies */
  size_t rows;         /* of a piece */
  size_t part;         /* rows of a thread */
  uint8_t *made;       /* of each piece: 1 once it is in Z */
  hu_rounding_counts counts[HU_THREADS_MAX];
  hu_status status[HU_THREADS_MAX];
} call;

static void tell(const call *k, int ends) {
  if (k->c->tell && k->cpu->threads <= 1) k->c->tell(k->c->told, ends);
}

static float *room_of(const call *k, size_t thread) { return k->cpu->rooms + thread * HU_PRODUCT_ROOM; }

/* Rows `from` ... from + rows - 1 of Z. */
static void multiply(const call *k, size_t from, size_t rows, float *z) {
  const hu_range some = {0, rows, 0, k->c->p->n};
  hu_products p = *k->c->p;
  p.z.ld = p.n;
  p.m = rows;
  p.panels = k->panels;
  k->cpu->loops->product(&p, z, p.a.data + from * (p.a.transposed ? 1 : p.a.ld), p.b.data, &some, NULL);
}

static void add(const call *k, size_t first, size_t n, const float *x) {
  hu_task t = hu_task_of(1, n, k->c->sum + first, x, NULL);
  k->cpu->loops->kernel[HU_RUN_ACCUMULATE](&t, 0, 1, 0, n);
}

/* ---- each number by itself ---- */

static void some_rows(void *context, size_t part) {
  call *k = context;
  const hu_rounded_product *c = k->c;
  const size_t n = c->p->n, m = c->p->m, end = m - part * k->part < k->part ? m : (part + 1) * k->part;
  float *z = room_of(k, part);
  for (size_t i = part * k->part, rows; i < end && k->status[part] == HU_OK; i += rows) {
    hu_exec e = hu_cpu_exec(k->cpu, 0, 1, c->words);
    rows = end - i < k->rows ? end - i : k->rows;
    multiply(k, i, rows, z);
    e.stream.counter += i * n;
    tell(k, 0);
    if (c->rounding->kind != HU_ROUND_KEEP)
      k->status[part] = hu_rounding_apply(1, rows * n, z, z, c->rounding, &e, &k->counts[part]);
    tell(k, 1);
    if (k->status[part] == HU_OK) add(k, i * n, rows * n, z);
  }
}

static hu_status by_number(call *k) {
  const size_t m = k->c->p->m, threads = k->cpu->threads < HU_THREADS_MAX ? k->cpu->threads : HU_THREADS_MAX;
  hu_rounding_counts *sum = k->c->counts;
  const size_t pieces = (m + k->rows - 1) / k->rows;
  k->part = (pieces + threads - 1) / threads * k->rows;
  const size_t parts = (m + k->part - 1) / k->part;
  hu_cpu_run(k->cpu, parts, some_rows, k);
  for (size_t i = 0; i < parts; i++) {
    if (k->status[i] != HU_OK) return k->status[i];
    sum->elements += k->counts[i].elements;
    sum->over += k->counts[i].over;
    hu_events_add(&sum->events, &k->counts[i].events);
  }
  return HU_OK;
}

/* ---- by statistics of the tensor ---- */

/* Rows are computed where they are asked for first. */
static const float *give(void *context, size_t thread, size_t first, size_t n) {
  const call *k = context;
  const hu_products *p = k->c->p;
  uint8_t *made = k->made + first / p->n / k->rows;
  (void)thread;
  if (*made) return p->z.data + first;
  tell(k, 1);
  multiply(k, first / p->n, n / p->n, p->z.data + first);
  *made = 1;
  tell(k, 0);
  return p->z.data + first;
}

static void take(void *context, size_t thread, size_t first, size_t n, const float *z) {
  const call *k = context;
  (void)thread;
  tell(k, 1);
  add(k, first, n, z);
  tell(k, 0);
}

static hu_status truncate_by(call *k) {
  const hu_rounded_product *c = k->c;
  const size_t n = c->p->m * c->p->n;
  const hu_s2fp8_parts parts = {k->rows * c->p->n, give, take, k};
  hu_exec e = hu_cpu_exec(k->cpu, n, 1, c->words);
  const hu_helpers *before = hu_cpu_lend(k->cpu);
  tell(k, 0);
  hu_status s =
      hu_s2fp8_truncate_parts(n, &parts, &c->rounding->s2fp8, c->rounding->mode, NULL, NULL, &e, &c->counts->events);
  tell(k, 1);
  hu_cpu_take_back(before);
  if (s == HU_OK) c->counts->elements += n;
  return s;
}

static hu_status by_statistics(call *k) {
  k->made = calloc(k->c->p->m / k->rows + 1, sizeof *k->made);
  if (!k->made) return HU_E_MEMORY;
  hu_status s = truncate_by(k);
  free(k->made);
  return s;
}

/* ---- what may go this way ---- */

static int possible(const hu_cpu *cpu, const hu_rounded_product *c) {
  const hu_products *p = c->p;
  const uint8_t kind = c->rounding->kind;
  if (!cpu->loops->product || !cpu->rooms || !hu_is_plain_fp32(p->accum) || p->outer * p->inner != 1) return 0;
  if (p->b.transposed || p->k == 0 || p->k > SHALLOW || p->n > HU_PRODUCT_ROOM || p->m * p->n < LARGE) return 0;
  return kind == HU_ROUND_KEEP || kind == HU_ROUND_FORMAT || kind == HU_ROUND_NUMBER || kind == HU_ROUND_S2FP8;
}

/* B in panels; NULL: no memory, which is no error. */
static const float *panels_of(hu_cpu *cpu, const hu_products *p) {
  const size_t size = hu_cpu_pack(cpu, &p->b, p->k, p->n, NULL);
  if (size > cpu->panels_size) {
    free(cpu->panels);
    cpu->panels = malloc(size * sizeof *cpu->panels);
    cpu->panels_size = cpu->panels ? size : 0;
  }
  if (cpu->panels) hu_cpu_pack(cpu, &p->b, p->k, p->n, cpu->panels);
  return cpu->panels;
}

hu_status hu_cpu_add_rounded(void *self, const hu_rounded_product *c, int *done) {
  call k;
  *done = possible(self, c);
  if (!*done) return HU_OK;
  memset(&k, 0, sizeof k);
  k.cpu = self;
  k.c = c;
  k.panels = panels_of(self, c->p);
  const size_t tall = k.cpu->loops->sum.rows, n = c->p->n;
  k.rows = tall * (SOME / n / tall + (SOME / n < tall));
  if (k.rows * n > HU_PRODUCT_ROOM) k.rows = HU_PRODUCT_ROOM / n;
  return c->rounding->kind == HU_ROUND_S2FP8 ? by_statistics(&k) : by_number(&k);
}
