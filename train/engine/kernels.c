/* SPDX-License-Identifier: MIT */
/* Kernels on the processor: threads of the crew run the loop of a kernel over parts of its rows or columns. */
#include "train/engine/cpu.h"

typedef struct kernel_call {
  hu_kernel_loop *loop;
  const hu_task *task;
  int across; /* 1: parts are ranges of columns */
  size_t part;
} kernel_call;

static void kernel_part(void *context, size_t part) {
  const kernel_call *c = context;
  size_t all = c->across ? c->task->cols : c->task->rows, from = part * c->part;
  size_t to = all - from < c->part ? all : from + c->part;
  if (c->across) {
    c->loop(c->task, 0, c->task->rows, from, to);
  } else {
    c->loop(c->task, from, to, 0, c->task->cols);
  }
}

static const uint8_t divided[HU_RUN_KERNELS] = {
#define HU_DIVIDED(NAME, name, by) by,
    HU_KERNELS(HU_DIVIDED)
#undef HU_DIVIDED
};

hu_status hu_cpu_loop(void *self, int kernel, const hu_task *t) {
  const hu_cpu *c = self;
  size_t work = t->work ? t->work : t->rows * t->cols;
  kernel_call call = {c->loops->kernel[kernel], t, t->rows < c->threads && divided[kernel] == HU_BY_NUMBER, 0};
  if (!c->crew || work < HU_CPU_NUMBERS_MIN || kernel == HU_RUN_TOKENS) {
    call.loop(t, 0, t->rows, 0, t->cols);
    return HU_OK;
  }
  /* Whole cache lines of an aligned row. */
  size_t all = call.across ? t->cols : t->rows, whole = call.across ? 64 : 1;
  call.part = (all / c->threads / whole + 1) * whole;
  hu_cpu_run(c, (all + call.part - 1) / call.part, kernel_part, &call);
  return HU_OK;
}
