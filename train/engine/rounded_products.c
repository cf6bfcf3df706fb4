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

typedef struct rounded_call {
  const hu_cpu *cpu;
  const hu_rounded_product *product;
  const float *panels; /* B's, which every piece reads; NULL: B as it lies */
  size_t rows;         /* of a piece */
  size_t part;         /* rows of a thread */
  uint8_t *made;       /* of each piece: 1 once it is in Z */
  hu_rounding_counts counts[HU_THREADS_MAX];
  hu_status status[HU_THREADS_MAX];
} rounded_call;

static void notify(const rounded_call *call, int ends) {
  if (call->product->notify && call->cpu->threads <= 1) call->product->notify(call->product->notified, ends);
}

static float *buffer_of(const rounded_call *call, size_t thread) {
  return call->cpu->buffers + thread * HU_PRODUCT_BUFFER;
}

/* Computes rows `from` ... from + rows - 1 of Z. */
static void multiply(const rounded_call *call, size_t from, size_t rows, float *z) {
  const hu_range some = {0, rows, 0, call->product->products->n};
  hu_products products = *call->product->products;
  products.z.ld = products.n;
  products.m = rows;
  products.panels = call->panels;
  call->cpu->loops->product(&products, z, products.a.data + from * (products.a.transposed ? 1 : products.a.ld),
                            products.b.data, &some, NULL);
}

static void add(const rounded_call *call, size_t first, size_t n, const float *x) {
  hu_task task = hui_task_of(1, n, call->product->sum + first, x, NULL);
  call->cpu->loops->kernel[HU_RUN_ACCUMULATE](&task, 0, 1, 0, n);
}

/* ---- each number by itself ---- */

static void some_rows(void *context, size_t part) {
  rounded_call *call = context;
  const hu_rounded_product *product = call->product;
  const size_t n = product->products->n, m = product->products->m,
               end = m - part * call->part < call->part ? m : (part + 1) * call->part;
  float *z = buffer_of(call, part);
  for (size_t i = part * call->part, rows; i < end && call->status[part] == HU_OK; i += rows) {
    hu_exec exec = hui_cpu_exec(call->cpu, 0, 1, product->words);
    rows = end - i < call->rows ? end - i : call->rows;
    multiply(call, i, rows, z);
    exec.stream.counter += i * n;
    notify(call, 0);
    if (product->rounding->kind != HU_ROUND_KEEP)
      call->status[part] = hu_rounding_apply(1, rows * n, z, z, product->rounding, &exec, &call->counts[part]);
    notify(call, 1);
    if (call->status[part] == HU_OK) add(call, i * n, rows * n, z);
  }
}

static hu_status by_number(rounded_call *call) {
  const size_t m = call->product->products->m,
               threads = call->cpu->threads < HU_THREADS_MAX ? call->cpu->threads : HU_THREADS_MAX;
  hu_rounding_counts *sum = call->product->counts;
  const size_t pieces = (m + call->rows - 1) / call->rows;
  call->part = (pieces + threads - 1) / threads * call->rows;
  const size_t parts = (m + call->part - 1) / call->part;
  hui_cpu_run(call->cpu, parts, some_rows, call);
  for (size_t i = 0; i < parts; i++) {
    if (call->status[i] != HU_OK) return call->status[i];
    sum->elements += call->counts[i].elements;
    sum->over += call->counts[i].over;
    hu_events_add(&sum->events, &call->counts[i].events);
  }
  return HU_OK;
}

/* ---- by statistics of the tensor ---- */

/* Rows are computed where they are asked for first. */
static const float *give(void *context, size_t thread, size_t first, size_t n) {
  const rounded_call *call = context;
  const hu_products *products = call->product->products;
  uint8_t *made = call->made + first / products->n / call->rows;
  (void)thread;
  if (*made) return products->z.data + first;
  notify(call, 1);
  multiply(call, first / products->n, n / products->n, products->z.data + first);
  *made = 1;
  notify(call, 0);
  return products->z.data + first;
}

static void take(void *context, size_t thread, size_t first, size_t n, const float *z) {
  const rounded_call *call = context;
  (void)thread;
  notify(call, 1);
  add(call, first, n, z);
  notify(call, 0);
}

static hu_status truncate_by(rounded_call *call) {
  const hu_rounded_product *product = call->product;
  const size_t n = product->products->m * product->products->n;
  const hu_s2fp8_parts parts = {call->rows * product->products->n, give, take, call};
  hu_exec exec = hui_cpu_exec(call->cpu, n, 1, product->words);
  const hu_helpers *before = hui_cpu_lend(call->cpu);
  notify(call, 0);
  hu_status status = hu_s2fp8_truncate_parts(n, &parts, &product->rounding->s2fp8, product->rounding->mode, NULL, NULL,
                                             &exec, &product->counts->events);
  notify(call, 1);
  hui_cpu_take_back(before);
  if (status == HU_OK) product->counts->elements += n;
  return status;
}

static hu_status by_statistics(rounded_call *call) {
  call->made = calloc(call->product->products->m / call->rows + 1, sizeof *call->made);
  if (!call->made) return HU_E_MEMORY;
  hu_status status = truncate_by(call);
  free(call->made);
  return status;
}

/* ---- which products are computed like this ---- */

static int possible(const hu_cpu *cpu, const hu_rounded_product *product) {
  const hu_products *products = product->products;
  const uint8_t kind = product->rounding->kind;
  if (!cpu->loops->product || !cpu->buffers || !hui_is_plain_fp32(products->accum) ||
      products->outer * products->inner != 1)
    return 0;
  if (products->b.transposed || products->k == 0 || products->k > SHALLOW || products->n > HU_PRODUCT_BUFFER ||
      products->m * products->n < LARGE)
    return 0;
  return kind == HU_ROUND_KEEP || kind == HU_ROUND_FORMAT || kind == HU_ROUND_NUMBER || kind == HU_ROUND_S2FP8;
}

/* B in panels; NULL: no memory, which is no error. */
static const float *panels_of(hu_cpu *cpu, const hu_products *products) {
  const size_t size = hui_cpu_pack(cpu, &products->b, products->k, products->n, NULL);
  if (size > cpu->panels_size) {
    free(cpu->panels);
    cpu->panels = malloc(size * sizeof *cpu->panels);
    cpu->panels_size = cpu->panels ? size : 0;
  }
  if (cpu->panels) hui_cpu_pack(cpu, &products->b, products->k, products->n, cpu->panels);
  return cpu->panels;
}

hu_status hui_cpu_add_rounded(void *self, const hu_rounded_product *product, int *done) {
  rounded_call call;
  *done = possible(self, product);
  if (!*done) return HU_OK;
  memset(&call, 0, sizeof call);
  call.cpu = self;
  call.product = product;
  call.panels = panels_of(self, product->products);
  const size_t tall = call.cpu->loops->sum.rows, n = product->products->n;
  call.rows = tall * (SOME / n / tall + (SOME / n < tall));
  if (call.rows * n > HU_PRODUCT_BUFFER) call.rows = HU_PRODUCT_BUFFER / n;
  return product->rounding->kind == HU_ROUND_S2FP8 ? by_statistics(&call) : by_number(&call);
}
