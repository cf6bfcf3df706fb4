/* SPDX-License-Identifier: MIT */
/* gpu/train/kernels.cu - the kernels of train/engine/kernels.h, with a thread per number or per row; and counts over
 * whole tensors, by integer sums and maxima, so that the order does not affect the result.
 *
 * Bound, from the machine code for compute capability 9.0. A number takes 11 to 83 instructions (most 16 to 36) where
 * the task is one row, and 50 to 130 with a division of 64 bits where it has more, so that a multiprocessor, which
 * starts 128 in a clock, treats 3.5 to 8 of most, or at most 2.5. Memory moves 16 bytes in that clock, 1.3 to 2 numbers
 * with the 8 or 12 bytes of one or two operands and a result: it is the bound of single rows, issue slots are that of
 * others. Rows, columns and windows are added up by one thread each in the order of the CPU, so that every addition
 * waits for the one before. */
#include "gpu/train/kernels.h"

#include "emu/core/round.h"
#include "gpu/base/map.cuh"

#define HU_TRAIN_DEVICE
#define HU_TRAIN_WORD(words, i) hui_word(words, i)
#include "train/engine/kernels_sequences.h"

#define HU_TRAIN_KERNEL(NAME, name, by)                                                                              \
  HU_KERNEL __launch_bounds__(HU_THREADS) hui_train_##name(const __grid_constant__ hu_task task) {                   \
    const size_t step = (size_t)gridDim.x * HU_THREADS, items = by == HU_BY_ROW ? task.rows : task.rows * task.cols; \
    for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < items; i += step) {                           \
      const size_t row = by == HU_BY_ROW ? i : task.rows == 1 ? 0 : i / task.cols;                                   \
      const size_t j = by == HU_BY_ROW ? 0 : i - row * task.cols;                                                    \
      hui_at_##name(&task, row, j, by == HU_BY_ROW ? task.cols : j + 1);                                             \
    }                                                                                                                \
  }
HU_KERNELS(HU_TRAIN_KERNEL)

static unsigned grid_of(size_t items) { return hui_grid_size(items / HU_THREADS + 1, 16); }

hu_status hui_train_run(int kernel, const hu_task *task) {
  if (task->rows == 0 || task->cols == 0) return HU_OK;
  switch (kernel) {
#define HU_TRAIN_CASE(NAME, name, by)                                                                             \
  case HU_RUN_##NAME:                                                                                             \
    HU_LAUNCH(hui_train_##name, grid_of(by == HU_BY_ROW ? task->rows : task->rows * task->cols), 0, NULL, *task); \
    break;
    HU_KERNELS(HU_TRAIN_CASE)
    default: return HU_E_TRAIN;
  }
  return hui_launched();
}

hu_status hui_train_zero(void *x, size_t n) { return hui_cuda_said(cudaMemset(x, 0, n)); }

/* Finds the largest magnitude, since patterns of binary32 numbers are ordered as their magnitudes. */
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_train_unscale_kernel(size_t n, float *gradient, float back, hu_gradient_found *found) {
  const size_t step = (size_t)gridDim.x * HU_THREADS;
  unsigned top = 0, bad = 0;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < n; i += step) {
    gradient[i] = hui_canonical(gradient[i] * back); /* a device's own NaN is another */
    const unsigned size = __float_as_uint(gradient[i]) & 0x7FFFFFFFu;
    bad |= size >= 0x7F800000u;
    if (size < 0x7F800000u && size > top) top = size;
  }
  if (top) atomicMax((unsigned *)&found->amax, top);
  if (bad) atomicOr((unsigned *)&found->bad, 1u); /* with the three bytes behind it, which are padding */
}
static_assert(sizeof(hu_gradient_found) == 8 && offsetof(hu_gradient_found, bad) == 4, "a word of its own");

hu_status hui_train_unscale(size_t n, float *gradient, float back, hu_gradient_found *found) {
  HU_LAUNCH(hui_train_unscale_kernel, grid_of(n), 0, NULL, n, gradient, back, found);
  return hui_launched();
}

HU_DEVICE void hui_train_add(uint64_t *sum, unsigned n) {
  if (n) atomicAdd((unsigned long long *)sum, (unsigned long long)n);
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_train_compare_kernel(size_t n, const float *update, const float *before,
                                                                 const float *after, hu_update_counts *counts) {
  const size_t step = (size_t)gridDim.x * HU_THREADS;
  unsigned moved = 0, lost = 0;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < n; i += step) {
    moved += update[i] != 0;
    lost += update[i] != 0 && before[i] == after[i];
  }
  hui_train_add(&counts->moved, moved);
  hui_train_add(&counts->lost, lost);
}

hu_status hui_train_compare(size_t n, const float *update, const float *before, const float *after,
                            hu_update_counts *counts) {
  HU_LAUNCH(hui_train_compare_kernel, grid_of(n), 0, NULL, n, update, before, after, counts);
  return hui_launched();
}

enum { HU_SQUARES_LANES = 16, HU_SQUARES_AHEAD = 8 };

/* Sums the squares of an array per warp. hu_gradient_squares_n adds number i to partial sum i mod 16, in order: here
 * lane i mod 16 has that sum, and loads several numbers before it adds the first. Then partial sums k and k + 8 are
 * added, 4, 2, 1. Squares of binary32 numbers are exact in binary64, so that each addition is its one rounding. */
HU_KERNEL __launch_bounds__(HU_THREADS) hui_train_squares_kernel(size_t count, hu_squares *x) {
  const size_t warps = (size_t)gridDim.x * (HU_THREADS / 32);
  const unsigned lane = threadIdx.x & 31;
  for (size_t i = (size_t)blockIdx.x * (HU_THREADS / 32) + threadIdx.x / 32; i < count; i += warps) {
    const size_t n = x[i].n, ahead = HU_SQUARES_LANES * HU_SQUARES_AHEAD;
    const float *a = x[i].x;
    double sum = 0;
    size_t k = lane;
    for (; lane < HU_SQUARES_LANES && k + ahead - HU_SQUARES_LANES < n; k += ahead) {
      double value[HU_SQUARES_AHEAD];
#pragma unroll
      for (int j = 0; j < HU_SQUARES_AHEAD; j++) value[j] = (double)a[k + j * HU_SQUARES_LANES];
#pragma unroll
      for (int j = 0; j < HU_SQUARES_AHEAD; j++) sum += value[j] * value[j];
    }
    for (; lane < HU_SQUARES_LANES && k < n; k += HU_SQUARES_LANES) {
      const double value = (double)a[k];
      sum += value * value;
    }
    __syncwarp();
    for (unsigned half = HU_SQUARES_LANES / 2; half; half /= 2) sum += __shfl_down_sync(HU_ALL_LANES, sum, half);
    if (lane == 0) x[i].sum = sum;
  }
}

hu_status hui_train_squares(size_t count, hu_squares *x) {
  HU_LAUNCH(hui_train_squares_kernel, hui_grid_size(count / (HU_THREADS / 32) + 1, 16), 0, NULL, count, x);
  return hui_launched();
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_train_judge_kernel(size_t rows, size_t cols, const float *x, const uint32_t *labels, hu_answers *answers) {
  const size_t step = (size_t)gridDim.x * HU_THREADS;
  unsigned asked = 0, right = 0;
  for (size_t row = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; row < rows; row += step) {
    if (labels[row] == HU_LABEL_NONE) continue;
    asked++;
    right += hui_answer(cols, x + row * cols) == labels[row];
  }
  hui_train_add(&answers->asked, asked);
  hui_train_add(&answers->right, right);
}

hu_status hui_train_judge(size_t rows, size_t cols, const float *x, const uint32_t *labels, hu_answers *answers) {
  HU_LAUNCH(hui_train_judge_kernel, grid_of(rows), 0, NULL, rows, cols, x, labels, answers);
  return hui_launched();
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_train_count_kernel(size_t n, const float *x, float max, hu_rounding_counts *counts) {
  const size_t first = (size_t)blockIdx.x * HU_THREADS + threadIdx.x, step = (size_t)gridDim.x * HU_THREADS;
  unsigned over = 0;
  for (size_t i = first; i < n; i += step) over += fabsf(x[i]) > max && fabsf(x[i]) < INFINITY;
  hui_train_add(&counts->over, over);
  if (first == 0) atomicAdd((unsigned long long *)&counts->elements, (unsigned long long)n);
}

hu_status hui_train_count(size_t n, const float *x, float max, hu_rounding_counts *counts) {
  HU_LAUNCH(hui_train_count_kernel, grid_of(n), 0, NULL, n, x, max, counts);
  return hui_launched();
}

/* What rounding needs for elements beyond their format's numbers. */
typedef struct hu_widening {
  hu_spec spec;
  float max;
  uint32_t over_inf, is_signed, bits;
  hu_stream words;
  hu_events *events;
} hu_widening;

/* Counts one event less. */
HU_DEVICE void hui_train_take_back(uint64_t *count) { atomicAdd((unsigned long long *)count, ~0ull); }

HU_DEVICE float hui_train_widened(const hu_widening &widening, size_t i, float x, float z) {
  const uint32_t bits = __float_as_uint(x), size = bits & 0x7FFFFFFFu;
  if (size > 0x7F800000u) return hui_canonical(x);
  if (!widening.over_inf || (bits >> 31 && !widening.is_signed)) return z;
  if (size < 0x7F800000u) {
    uint32_t what = 0;
    (void)hui_round(&widening.spec, hui_unpack32(bits),
                    widening.bits ? hui_word(widening.words, i) >> (32 - widening.bits) : 0, &what);
    if (!(what & HU_EVENT_OVERFLOW)) return z;
  } else if (widening.events && z != z) {
    hui_train_take_back(&widening.events->invalid);
  }
  if (widening.events && (__float_as_uint(z) & 0x7FFFFFFFu) < 0x7F800000u)
    hui_train_take_back(&widening.events->saturated);
  return __uint_as_float(0x7F800000u | (bits & 0x80000000u));
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_train_widen_kernel(size_t n, float *z, const float *before, const __grid_constant__ hu_widening widening) {
  const size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < n; i += step) {
    const float x = before[i];
    if (!(fabsf(x) <= widening.max)) z[i] = hui_train_widened(widening, i, x, z[i]);
  }
}

hu_status hui_train_widen(size_t n, float *z, const float *before, const hu_rounding *rounding, hu_stream words,
                          hu_events *events) {
  hu_widening widening;
  widening.spec = hui_spec_of(rounding->format, rounding->mode);
  widening.max = (float)hu_limits_of(rounding->format).max;
  widening.over_inf = rounding->over_inf;
  widening.is_signed = rounding->format.sign;
  widening.bits = rounding->mode.bits;
  widening.words = words;
  widening.events = events;
  HU_LAUNCH(hui_train_widen_kernel, grid_of(n), 0, NULL, n, z, before, widening);
  return hui_launched();
}
