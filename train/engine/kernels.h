/* SPDX-License-Identifier: MIT */
/* train/engine/kernels.h - the kernels of engines, each a function of a row and a range of its columns: numbers one at
 * a time, sums. kernels_layers.h has those of layers.
 *
 * The same text is compiled as C11 into loops that compilers put into lanes, as C++17 into the test of the device's
 * kernels, and as CUDA, where a range is one column. Arithmetic is one IEEE 754 binary32 operation after another; every
 * build turns contraction off and keeps subnormal numbers. Results may be operands of the same index, else nothing
 * overlaps. Matrices are row-major and contiguous unless a leading dimension is named. */
#ifndef HALFULP_TRAIN_ENGINE_KERNELS_H
#define HALFULP_TRAIN_ENGINE_KERNELS_H

#include <math.h>
#include <string.h>

#include "train/engine/engine.h"

#if defined(HU_TRAIN_DEVICE)
#define HU_INSIDE static __device__ __forceinline__
#else
#define HU_INSIDE static inline __attribute__((always_inline, unused))
/* Word i of a stream; a device has its own. */
#define HU_TRAIN_WORD(words, i) hu_stream_word(words, i)
#endif
/* Iterations of the loop behind it are independent. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define HU_INDEPENDENT _Pragma("GCC ivdep")
#else
#define HU_INDEPENDENT
#endif

/* A kernel computes columns j0 ... j1 - 1 of row r. */
#define HU_AT(name) HU_INSIDE void hui_at_##name(const hu_task *task, size_t r, size_t j0, size_t j1)
#define HU_EACH_COLUMN HU_INDEPENDENT for (size_t j = j0; j < j1; j++)

/* ---- numbers one at a time: number r cols + j of z from those of a and b, and from p ---- */

HU_INSIDE float hui_canonical(float x) {
  const uint32_t u = 0x7FC00000u;
  float nan;
  memcpy(&nan, &u, sizeof nan);
  return x == x ? x : nan;
}

/* Returns c (x + k x^3), c = sqrt(2/pi), k = 0.044715, whose tanh gelu_tanh takes. */
HU_INSIDE float hui_gelu_tanh_part(float x) { return 0x1.988454p-1f * (x + 0x1.6e4e26p-5f * (x * x * x)); }

/* Returns what the part adds to the slope of gelu_tanh at x; left: 1 - tanh^2, +0 where the rest is infinite. */
HU_INSIDE float hui_gelu_tanh_slope(float x, float left) {
  return left == 0 ? left : 0.5f * x * left * (0x1.988454p-1f * (1 + 0x1.12ba9ep-3f * (x * x)));
}

#define HU_ONE(name, value)                    \
  HU_AT(name) {                                \
    const float *a = task->a + r * task->cols; \
    float *z = task->z + r * task->cols;       \
    HU_EACH_COLUMN z[j] = (value);             \
  }
#define HU_ONE_BY(name, value)                 \
  HU_AT(name) {                                \
    const float *a = task->a + r * task->cols; \
    const float p = task->p;                   \
    float *z = task->z + r * task->cols;       \
    HU_EACH_COLUMN z[j] = (value);             \
  }
#define HU_TWO_OPERANDS(name, value)                  \
  HU_AT(name) {                                       \
    const size_t at = r * task->cols;                 \
    const float *a = task->a + at, *b = task->b + at; \
    float *z = task->z + at;                          \
    HU_EACH_COLUMN z[j] = (value);                    \
  }

HU_ONE(keep, hui_canonical(a[j]))
HU_TWO_OPERANDS(add, a[j] + b[j])
HU_ONE_BY(scale, a[j] * p)
HU_ONE_BY(sign, a[j] > 0 ? p : a[j] < 0 ? -p : 0)
HU_TWO_OPERANDS(times, a[j] * b[j])
HU_ONE_BY(plus, a[j] + p)
HU_TWO_OPERANDS(minus, a[j] - b[j])
HU_TWO_OPERANDS(negative_sum, -a[j] - b[j])
HU_ONE_BY(over, a[j] / p)
HU_TWO_OPERANDS(divide, a[j] / b[j])
HU_ONE(root, sqrtf(a[j]))
HU_TWO_OPERANDS(fused, fmaf(task->p, a[j], b[j]))
HU_ONE(relu, a[j] > 0 || a[j] != a[j] ? a[j] : 0)
HU_TWO_OPERANDS(relu_back, a[j] > 0 ? b[j] : 0) /* a is what relu gave, b the gradient of that */
HU_ONE_BY(leaky, a[j] > 0 ? a[j] : a[j] * p)
HU_TWO_OPERANDS(leaky_back, a[j] > 0 ? b[j] : b[j] * task->p) /* a is what leaky read */
HU_TWO_OPERANDS(tanh_back, b[j] * (1 - a[j] * a[j]))
HU_TWO_OPERANDS(sigmoid_back, b[j] * (a[j] * (1 - a[j])))
/* z is the running mean of a. */
HU_ONE_BY(moving, (1 - p) * z[j] + p * a[j])
HU_ONE_BY(inverse, 1 / sqrtf(a[j] + p))
/* Of silu, a is what it read, and z was sigmoid(p a). */
HU_TWO_OPERANDS(silu_back, b[j] * (z[j] * (1 + task->p * a[j] * (1 - z[j]))))
/* Of gelu_tanh, a is what it read, b or z the tanh of its part. */
HU_ONE(gelu_tanh_part, hui_gelu_tanh_part(a[j]))
HU_TWO_OPERANDS(gelu_tanh, 0.5f * a[j] * (1 + b[j]))
HU_TWO_OPERANDS(gelu_tanh_back, b[j] * (0.5f * (1 + z[j]) + hui_gelu_tanh_slope(a[j], 1 - z[j] * z[j])))
/* Of softplus, a is what it read, b the logarithm of 1 + e^part. */
HU_ONE(softplus_part, -fabsf(a[j]))
HU_TWO_OPERANDS(softplus, (a[j] > 0 ? a[j] : 0) + b[j])

HU_AT(clip) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, low = task->clip.low, high = task->clip.high;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] > high ? high : a[j] > low || a[j] != a[j] ? a[j] : low;
}

/* a is what `clip` read. */
HU_AT(clip_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at, low = task->clip.low, high = task->clip.high;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] > low && a[j] < high ? b[j] : 0;
}

/* In the three kernels below, rows of z are ldz apart and rows of a are lda apart. */
HU_AT(copy) {
  float *z = task->z + r * task->ldz;
  const float *a = task->a + r * task->lda;
  HU_EACH_COLUMN z[j] = a[j];
}

HU_AT(fill) {
  float *z = task->z + r * task->ldz;
  const float p = task->p;
  HU_EACH_COLUMN z[j] = p;
}

HU_AT(accumulate) {
  float *z = task->z + r * task->ldz;
  const float *a = task->a + r * task->lda;
  HU_EACH_COLUMN z[j] += a[j];
}

/* Adds the row b to each row of a; or (each) row i of b to rows i each ... of a. */
HU_AT(add_row) {
  float *z = task->z + r * task->cols;
  const float *a = task->a + r * task->cols, *b = task->b + (task->each ? r / task->each * task->cols : 0);
  HU_EACH_COLUMN z[j] = a[j] + b[j];
}

/* Multiplies each row of a by the row b, number by number. */
HU_AT(times_row) {
  float *z = task->z + r * task->cols;
  const float *a = task->a + r * task->cols, *b = task->b;
  HU_EACH_COLUMN z[j] = a[j] * b[j];
}

/* Writes to gelu.erf and gelu.exp what the functions of these names are then taken of. */
HU_AT(gelu_parts) {
  const size_t at = r * task->cols;
  const float *x = task->gelu.x + at;
  float *erf = task->gelu.erf + at, *exp = task->gelu.exp + at;
  HU_EACH_COLUMN {
    erf[j] = x[j] * 0x1.6a09e6p-1f;
    exp[j] = -0.5f * x[j] * x[j];
  }
}

/* z is the gradient of gelu.x; gelu.erf and gelu.exp hold the values of the functions. */
HU_AT(gelu_back) {
  const size_t at = r * task->cols;
  const float *erf = task->gelu.erf + at, *exp = task->gelu.exp + at, *x = task->gelu.x + at, *dz = task->gelu.dz + at;
  float *z = task->z + at;
  HU_EACH_COLUMN {
    float density = exp[j] * 0x1.988454p-2f, below = 0.5f + 0.5f * erf[j];
    z[j] = dz[j] * (below + x[j] * density);
  }
}

/* due.now = due.steps where due.period divides it, else 0; due.mean = due.sum / due.now there, else 0. Steps and
 * periods are whole numbers below 2^23. So is the quotient, and adding 2^23 rounds it to a whole number. Where the
 * period divides the steps, that is the quotient itself, which is exact; where it does not, no whole number times the
 * period gives the steps, and a product beyond 2^24, which may be rounded, is larger than the steps. */
HU_AT(due) {
  const size_t at = r * task->cols;
  const float *counted = task->due.steps + at, *period = task->due.period + at, *sum = task->due.sum + at;
  float *now = task->due.now + at, *mean = task->due.mean + at;
  HU_EACH_COLUMN {
    float steps = counted[j], whole = (steps / period[j] + 0x1p23f) - 0x1p23f;
    float due = whole * period[j] == steps ? steps : 0;
    now[j] = due;
    mean[j] = due > 0 ? sum[j] / due : 0;
  }
}

HU_TWO_OPERANDS(due_times, b[j] > 0 ? a[j] * b[j] : 0)
HU_TWO_OPERANDS(due_take, b[j] > 0 ? a[j] : z[j])

/* z is 0 where word j of mask.words is less than mask.below, else p. There is one row. */
HU_AT(mask) {
  (void)r;
  for (size_t j = j0; j < j1; j++) task->z[j] = HU_TRAIN_WORD(task->mask.words, j) < task->mask.below ? 0 : task->p;
}

/* The place of the first largest of n numbers; a NaN is larger than none, and none is larger than it. */
HU_INSIDE size_t hui_first_largest(size_t n, const float *x) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++) {
    if (x[j] > x[best]) best = j;
  }
  return best;
}

/* The answer of a row: its first largest number; of a row of one number, which is a logistic one, whether it is above
 * 0. */
HU_INSIDE size_t hui_answer(size_t n, const float *x) { return n == 1 ? x[0] > 0 : hui_first_largest(n, x); }

/* ---- sums ---- */

enum { HU_SUM_LANES = 16, HU_SUM_CHUNK = 64 };

/* Returns the sum of x y, or (y NULL) of x, in the order of docs/training/training.md section 2. */
HU_INSIDE float hui_sum_of_row(size_t n, const float *x, const float *y) {
  float s[HU_SUM_LANES] = {0};
  size_t i = 0;
  for (; y && i + HU_SUM_LANES <= n; i += HU_SUM_LANES) {
    for (size_t k = 0; k < HU_SUM_LANES; k++) s[k] += x[i + k] * y[i + k];
  }
  for (; i + HU_SUM_LANES <= n; i += HU_SUM_LANES) {
    for (size_t k = 0; k < HU_SUM_LANES; k++) s[k] += x[i + k];
  }
  /* No running index into s: it is to stay in registers. */
  for (size_t k = 0; k < HU_SUM_LANES; k++) {
    if (i + k < n) s[k] += y ? x[i + k] * y[i + k] : x[i + k];
  }
  for (size_t k = 0; k < 8; k++) s[k] += s[k + 8];
  for (size_t k = 0; k < 4; k++) s[k] += s[k + 4];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

/* z[r] = p times the sum of the cols numbers of row r of a, which is added to z[r] if `onto` is 1. */
HU_AT(sum_rows) {
  const float sum = hui_sum_of_row(task->cols, task->a + r * task->lda, NULL) * task->p;
  (void)j0, (void)j1;
  task->z[r] = task->onto ? task->z[r] + sum : sum;
}

/* Fills row r of z with b[r]. */
HU_AT(spread) {
  float *z = task->z + r * task->cols;
  const float b = task->b[r];
  HU_EACH_COLUMN z[j] = b;
}

/* Row r of z gets the sums of the terms of columns.chunk rows, from row r columns.chunk on or up to the last of the
 * columns.rows rows, from +0 downwards. `wide` columns are summed side by side. */
#define HU_SUM_DOWN(wide, term)                                           \
  for (; j + (wide) <= j1; j += (wide)) {                                 \
    float s[wide] = {0};                                                  \
    for (size_t i = first; i < end; i++) {                                \
      const size_t at = i * cols + j;                                     \
      for (size_t k = 0; k < (wide); k++) s[k] += (term);                 \
    }                                                                     \
    for (size_t k = 0; k < (wide); k++) task->z[r * cols + j + k] = s[k]; \
  }
#if defined(HU_TRAIN_DEVICE)
#define HU_SUM_SIDES(term) HU_SUM_DOWN(1, term)
#else
#define HU_SUM_SIDES(term) HU_SUM_DOWN(16, term) HU_SUM_DOWN(8, term) HU_SUM_DOWN(1, term)
#endif
#define HU_COLUMNS(name, term)                                                              \
  HU_AT(name) {                                                                             \
    const size_t cols = task->cols, rows = task->columns.rows, chunk = task->columns.chunk; \
    const size_t first = r * chunk, end = rows - first < chunk ? rows : first + chunk;      \
    size_t j = j0;                                                                          \
    HU_SUM_SIDES(term)                                                                      \
  }

HU_COLUMNS(columns, task->a[at + k])
HU_COLUMNS(columns_product, task->a[at + k] * task->b[at + k])
HU_COLUMNS(columns_spread, (task->a[at + k] - task->columns.row[j + k]) * (task->a[at + k] - task->columns.row[j + k]))
HU_COLUMNS(columns_gain, task->a[at + k] * task->columns.row[j + k])
HU_COLUMNS(columns_both, task->a[at + k] * task->columns.row[j + k] * task->b[at + k])

/* ---- blocks of blocks.size numbers that share a power of two, for train/net/quartet.c and average.c: side by side in
 * a row, or (blocks.down) one above the other in a column; the last one of a row or column may be shorter ---- */

HU_INSIDE float hui_power_below(float x) { /* of a normal number, the largest power of two that is not above it */
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  u &= 0x7F800000u;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The scale of n numbers `step` apart by their standard deviation times p, to which a margin is added. Sums begin with
 * the first number. */
HU_INSIDE float hui_scale_by_deviation(const float *x, size_t step, size_t n, float p) {
  float sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i * step];
    squares += x[i * step] * x[i * step];
  }
  const float count = (float)n, mean = sum / count, variance = squares / count - mean * mean;
  if (variance != variance) return INFINITY;
  return hui_power_below(p * (variance >= 0 ? sqrtf(variance) : 1) + 1e-8f);
}

/* The scale is a quarter of the power of two of the largest magnitude, at least 2^-127; or (up) the least power of two
 * that is at least a sixth of that magnitude, which is the quarter or the half. */
HU_INSIDE float hui_scale_by_largest(const float *x, size_t step, size_t n, int up) {
  float largest = 0;
  for (size_t i = 0; i < n; i++) {
    const float size = fabsf(x[i * step]);
    if (!(size <= largest)) largest = size;
  }
  if (!(largest <= 0x1.fffffep127f)) return INFINITY;
  float scale = hui_power_below(largest) * 0.25f;
  if (!(scale > 0x1p-127f)) scale = 0x1p-127f;
  return up && largest > 6 * scale ? 2 * scale : scale;
}

/* z gets the scale of each block of a. Rows of a are lda apart; blocks.length numbers lie along the axis of the
 * blocks. A p above 0 multiplies the standard deviation; 0 takes the largest magnitude, below 0 rounds the scale of
 * that up. The scale is infinity where an infinity or a NaN is in the block, or sums are beyond the range. */
HU_AT(block_scales) {
  const size_t size = task->blocks.size, length = task->blocks.length;
  const int down = task->blocks.down;
  const size_t step = down ? task->lda : 1;
  for (size_t j = j0; j < j1; j++) {
    const size_t before = (down ? r : j) * size, n = length - before < size ? length - before : size;
    const float *x = task->a + (down ? before * task->lda + j : r * task->lda + before);
    task->z[r * task->cols + j] =
        task->p > 0 ? hui_scale_by_deviation(x, step, n, task->p) : hui_scale_by_largest(x, step, n, task->p < 0);
  }
}

/* The kernels below make this of one number a, and of `other`, in a block of this scale. */
HU_INSIDE float hui_over_scale(float a, float other, float scale, float p) { return (void)other, a * p / scale; }

/* All numbers of a block whose scale is infinity are NaN. */
HU_INSIDE float hui_times_scale(float a, float other, float scale, float p) {
  (void)other, (void)p;
  return hui_canonical(scale <= 0x1.fffffep127f ? a * scale : NAN);
}

/* Keeps `other` where a over the scale is of smaller magnitude than p, and makes it +0 elsewhere. */
HU_INSIDE float hui_within_scale(float a, float other, float scale, float p) {
  return fabsf(a / scale) < p ? other : 0;
}

/* x lies on the grid of E2M1, from 0 to 6; returns that of its two neighbours there which is nearer to `toward`: the
 * upper one from the middle on. */
HU_INSIDE float hui_toward(float x, float toward) {
  const float unit = x < 2 ? 0.5f : x < 4 ? 1 : 2;
  const float low = x < 1   ? (x < 0.5f ? 0 : 0.5f)
                    : x < 2 ? (x < 1.5f ? 1 : 1.5f)
                    : x < 4 ? (x < 3 ? 2 : 3)
                    : x < 6 ? 4
                            : 6;
  const float y = toward >= low + unit / 2 ? low + unit : low;
  return y < 6 ? y : 6;
}

/* Rounds a in its scale toward `other` and keeps the sign of a; 0 becomes +0. */
HU_INSIDE float hui_toward_in_scale(float a, float other, float scale, float p) {
  const float there = other / scale, y = hui_toward(fabsf(a) / scale, a < 0 ? -there : there) * scale;
  (void)p;
  return scale <= 0x1.fffffep127f ? (a < 0 ? -y : a > 0 ? y : 0) : hui_canonical(NAN);
}

/* z is made of a, of blocks.other (NULL: of a) and of the scales of their blocks. blocks.across scales lie side by
 * side. */
#define HU_BY_BLOCKS(name, of)                                                                            \
  HU_AT(name) {                                                                                           \
    const size_t at = r * task->cols, size = task->blocks.size;                                           \
    const float *scales = task->blocks.scales + (task->blocks.down ? r / size : r) * task->blocks.across; \
    const float *a = task->a + at, *other = (task->blocks.other ? task->blocks.other : task->a) + at;     \
    const float p = task->p;                                                                              \
    float *z = task->z + at;                                                                              \
    if (task->blocks.down) {                                                                              \
      HU_EACH_COLUMN z[j] = of(a[j], other[j], scales[j], p);                                             \
      return;                                                                                             \
    }                                                                                                     \
    for (size_t begin = j0, end; begin < j1; begin = end) {                                               \
      const float scale = scales[begin / size];                                                           \
      end = (begin / size + 1) * size < j1 ? (begin / size + 1) * size : j1;                              \
      HU_INDEPENDENT for (size_t j = begin; j < end; j++) z[j] = of(a[j], other[j], scale, p);            \
    }                                                                                                     \
  }

HU_BY_BLOCKS(block_over, hui_over_scale)
HU_BY_BLOCKS(block_times, hui_times_scale)
HU_BY_BLOCKS(block_within, hui_within_scale)
HU_BY_BLOCKS(block_toward, hui_toward_in_scale)

#endif
