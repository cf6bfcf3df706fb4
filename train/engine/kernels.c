/* SPDX-License-Identifier: MIT */
/* Kernels on the CPU: threads of the crew run the loop of a kernel over parts of its rows or columns. */
#include "train/engine/cpu.h"

typedef struct kernel_call {
  hu_kernel_loop *loop;
  const hu_task *task;
  int across; /* 1: parts are ranges of columns */
  size_t part;
} kernel_call;

static void kernel_part(void *context, size_t part) {
  const kernel_call *call = context;
  size_t all = call->across ? call->task->cols : call->task->rows, from = part * call->part;
  size_t to = all - from < call->part ? all : from + call->part;
  if (call->across) {
    call->loop(call->task, 0, call->task->rows, from, to);
  } else {
    call->loop(call->task, from, to, 0, call->task->cols);
  }
}

static const uint8_t divided[HU_RUN_KERNELS] = {
#define HU_DIVIDED(NAME, name, by) by,
    HU_KERNELS(HU_DIVIDED)
#undef HU_DIVIDED
};

hu_status hui_cpu_loop(void *self, int kernel, const hu_task *task) {
  const hu_cpu *cpu = self;
  size_t work = task->work ? task->work : task->rows * task->cols;
  kernel_call call = {cpu->loops->kernel[kernel], task, task->rows < cpu->threads && divided[kernel] == HU_BY_NUMBER,
                      0};
  if (!cpu->crew || work < HU_CPU_NUMBERS_MIN || kernel == HU_RUN_TOKENS) {
    call.loop(task, 0, task->rows, 0, task->cols);
    return HU_OK;
  }
  /* Whole cache lines of an aligned row. */
  size_t all = call.across ? task->cols : task->rows, whole = call.across ? 64 : 1;
  call.part = (all / cpu->threads / whole + 1) * whole;
  hui_cpu_run(cpu, (all + call.part - 1) / call.part, kernel_part, &call);
  return HU_OK;
}
