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

/* Columns j0 ... j1 - 1 of row r. */
#define HU_AT(name) HU_INSIDE void hu_at_##name(const hu_task *t, size_t r, size_t j0, size_t j1)
#define HU_EACH_COLUMN HU_INDEPENDENT for (size_t j = j0; j < j1; j++)

/* ---- numbers one at a time: z of a, b, ..., numbers at r cols + j ---- */

HU_INSIDE float hu_canonical(float x) {
  const uint32_t u = 0x7FC00000u;
  float nan;
  memcpy(&nan, &u, sizeof nan);
  return x == x ? x : nan;
}

#define HU_ONE(name, value)              \
  HU_AT(name) {                          \
    const float *a = t->a + r * t->cols; \
    float *z = t->z + r * t->cols;       \
    HU_EACH_COLUMN z[j] = (value);       \
  }
#define HU_ONE_BY(name, value)           \
  HU_AT(name) {                          \
    const float *a = t->a + r * t->cols; \
    const float p = t->p;                \
    float *z = t->z + r * t->cols;       \
    HU_EACH_COLUMN z[j] = (value);       \
  }
#define HU_TWO_OPERANDS(name, value)            \
  HU_AT(name) {                                 \
    const size_t at = r * t->cols;              \
    const float *a = t->a + at, *b = t->b + at; \
    float *z = t->z + at;                       \
    HU_EACH_COLUMN z[j] = (value);              \
  }

HU_ONE(keep, hu_canonical(a[j]))
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
HU_TWO_OPERANDS(fused, fmaf(t->p, a[j], b[j]))
HU_ONE(relu, a[j] > 0 || a[j] != a[j] ? a[j] : 0)
HU_TWO_OPERANDS(relu_back, a[j] > 0 ? b[j] : 0) /* a: what relu gave */
HU_ONE(relu6, a[j] > 6 ? 6 : a[j] > 0 || a[j] != a[j] ? a[j] : 0)
HU_TWO_OPERANDS(relu6_back, a[j] > 0 && a[j] < 6 ? b[j] : 0) /* a: what relu6 read */
HU_TWO_OPERANDS(tanh_back, b[j] * (1 - a[j] * a[j]))
HU_TWO_OPERANDS(sigmoid_back, b[j] * (a[j] * (1 - a[j])))
/* The running mean of a. */
HU_ONE(moving, 0.9f * z[j] + 0.1f * a[j])
HU_ONE(inverse, 1 / sqrtf(a[j] + 1e-5f))

/* z at r ldz + j, a at r lda + j. */
HU_AT(copy) {
  float *z = t->z + r * t->ldz;
  const float *a = t->a + r * t->lda;
  HU_EACH_COLUMN z[j] = a[j];
}

HU_AT(fill) {
  float *z = t->z + r * t->ldz;
  const float p = t->p;
  HU_EACH_COLUMN z[j] = p;
}

HU_AT(accumulate) {
  float *z = t->z + r * t->ldz;
  const float *a = t->a + r * t->lda;
  HU_EACH_COLUMN z[j] += a[j];
}

/* a + the row b. */
HU_AT(add_row) {
  float *z = t->z + r * t->cols;
  const float *a = t->a + r * t->cols, *b = t->b;
  HU_EACH_COLUMN z[j] = a[j] + b[j];
}

/* Of x = a: what erf and exp are taken of, z and y. */
HU_AT(gelu_parts) {
  const size_t at = r * t->cols;
  const float *a = t->a + at;
  float *z = t->z + at, *y = t->y + at;
  HU_EACH_COLUMN {
    z[j] = a[j] * 0x1.6a09e6p-1f;
    y[j] = -0.5f * a[j] * a[j];
  }
}

/* From erf a, exp b, x = c, dy = d. */
HU_AT(gelu_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b + at, *c = t->c + at, *d = t->d + at;
  float *z = t->z + at;
  HU_EACH_COLUMN {
    float density = b[j] * 0x1.988454p-2f, below = 0.5f + 0.5f * a[j];
    z[j] = d[j] * (below + c[j] * density);
  }
}

/* Of whole numbers below 2^23, a counted steps and a period b: z = a where b divides a, else 0; y = c / a there, else
 * 0. The quotient is below 2^23, so that the sum rounds it to a whole number. Where b divides a it is one, and exact;
 * where b does not, no whole number times b is a, and a product beyond 2^24, which may be rounded, is larger than a. */
HU_AT(due) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b + at, *c = t->c + at;
  float *z = t->z + at, *y = t->y + at;
  HU_EACH_COLUMN {
    float steps = a[j], whole = (steps / b[j] + 0x1p23f) - 0x1p23f, due = whole * b[j] == steps ? steps : 0;
    z[j] = due;
    y[j] = due > 0 ? c[j] / due : 0;
  }
}

HU_TWO_OPERANDS(due_times, b[j] > 0 ? a[j] * b[j] : 0)
HU_TWO_OPERANDS(due_take, b[j] > 0 ? a[j] : z[j])

/* 0 where word i is less than `below`, else p. One row. */
HU_AT(mask) {
  (void)r;
  for (size_t j = j0; j < j1; j++) t->z[j] = HU_TRAIN_WORD(t->words, j) < t->below ? 0 : t->p;
}

/* The place of the first largest of n numbers; a NaN is larger than none, and none is larger than it. */
HU_INSIDE size_t hu_first_largest(size_t n, const float *x) {
  size_t best = 0;
  for (size_t j = 1; j < n; j++) {
    if (x[j] > x[best]) best = j;
  }
  return best;
}

/* ---- sums ---- */

enum { HU_SUM_LANES = 16, HU_SUM_CHUNK = 64 };

/* docs/training.md section 2; of x y, or (y NULL) of x. */
HU_INSIDE float hu_sum_of_row(size_t n, const float *x, const float *y) {
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

/* z[r] = p times the sum of the cols numbers of row r of a, z[r] before it if there are n[0]. */
HU_AT(sum_rows) {
  const float sum = hu_sum_of_row(t->cols, t->a + r * t->lda, NULL) * t->p;
  (void)j0, (void)j1;
  t->z[r] = t->n[0] ? t->z[r] + sum : sum;
}

/* Row r is b[r]. */
HU_AT(spread) {
  float *z = t->z + r * t->cols;
  const float b = t->b[r];
  HU_EACH_COLUMN z[j] = b;
}

/* Row r of z: the sums of rows r n[1] ... of the n[0] rows of terms, n[1] of them, from +0 downwards. `wide` columns
 * are summed side by side. */
#define HU_SUM_DOWN(wide, term)                                        \
  for (; j + (wide) <= j1; j += (wide)) {                              \
    float s[wide] = {0};                                               \
    for (size_t i = first; i < end; i++) {                             \
      const size_t at = i * cols + j;                                  \
      for (size_t k = 0; k < (wide); k++) s[k] += (term);              \
    }                                                                  \
    for (size_t k = 0; k < (wide); k++) t->z[r * cols + j + k] = s[k]; \
  }
#if defined(HU_TRAIN_DEVICE)
#define HU_SUM_SIDES(term) HU_SUM_DOWN(1, term)
#else
#define HU_SUM_SIDES(term) HU_SUM_DOWN(16, term) HU_SUM_DOWN(8, term) HU_SUM_DOWN(1, term)
#endif
#define HU_COLUMNS(name, term)                                                \
  HU_AT(name) {                                                               \
    const size_t cols = t->cols, first = r * t->n[1];                         \
    const size_t end = t->n[0] - first < t->n[1] ? t->n[0] : first + t->n[1]; \
    size_t j = j0;                                                            \
    HU_SUM_SIDES(term)                                                        \
  }

HU_COLUMNS(columns, t->a[at + k])
HU_COLUMNS(columns_product, t->a[at + k] * t->b[at + k])
HU_COLUMNS(columns_spread, (t->a[at + k] - t->c[j + k]) * (t->a[at + k] - t->c[j + k]))
HU_COLUMNS(columns_gain, t->a[at + k] * t->c[j + k])
HU_COLUMNS(columns_both, t->a[at + k] * t->c[j + k] * t->b[at + k])

/* ---- blocks of n[2] numbers that share a power of two, as train/net/quartet.c and average.c have them: side by side
 * in a row, or (n[0]) one above the other in a column; the last one of a row or column may be shorter ---- */

HU_INSIDE float hu_power_below(float x) { /* of a normal number, the largest power of two that is not above it */
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  u &= 0x7F800000u;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* By the standard deviation times p, a margin added; of n numbers `step` apart, sums from the first one on. */
HU_INSIDE float hu_scale_by_deviation(const float *x, size_t step, size_t n, float p) {
  float sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i * step];
    squares += x[i * step] * x[i * step];
  }
  const float count = (float)n, mean = sum / count, variance = squares / count - mean * mean;
  if (variance != variance) return INFINITY;
  return hu_power_below(p * (variance >= 0 ? sqrtf(variance) : 1) + 1e-8f);
}

/* A quarter of the power of two of the largest magnitude, at least 2^-127; or (up) the least power of two that is at
 * least a sixth of that magnitude: the quarter, or the half. */
HU_INSIDE float hu_scale_by_largest(const float *x, size_t step, size_t n, int up) {
  float largest = 0;
  for (size_t i = 0; i < n; i++) {
    const float size = fabsf(x[i * step]);
    if (!(size <= largest)) largest = size;
  }
  if (!(largest <= 0x1.fffffep127f)) return INFINITY;
  float scale = hu_power_below(largest) * 0.25f;
  if (!(scale > 0x1p-127f)) scale = 0x1p-127f;
  return up && largest > 6 * scale ? 2 * scale : scale;
}

/* z: the scale of each block of a, whose rows are lda apart: n[1] numbers along the axis. p: as above; 0: by the
 * largest; below 0: by the largest, up. Infinity where an infinity or a NaN is in the block, or sums are beyond the
 * range. */
HU_AT(block_scales) {
  const size_t down = t->n[0], size = t->n[2], step = down ? t->lda : 1;
  for (size_t j = j0; j < j1; j++) {
    const size_t before = (down ? r : j) * size, n = t->n[1] - before < size ? t->n[1] - before : size;
    const float *x = t->a + (down ? before * t->lda + j : r * t->lda + before);
    t->z[r * t->cols + j] =
        t->p > 0 ? hu_scale_by_deviation(x, step, n, t->p) : hu_scale_by_largest(x, step, n, t->p < 0);
  }
}

/* What the kernels below make of one number a (and c) in a block of this scale, with p. */
HU_INSIDE float hu_over_scale(float a, float c, float scale, float p) { return (void)c, a * p / scale; }

/* NaN in a block whose scale is infinity. */
HU_INSIDE float hu_times_scale(float a, float c, float scale, float p) {
  (void)c, (void)p;
  return hu_canonical(scale <= 0x1.fffffep127f ? a * scale : NAN);
}

/* c where a over the scale is of smaller magnitude than p, else +0. */
HU_INSIDE float hu_within_scale(float a, float c, float scale, float p) { return fabsf(a / scale) < p ? c : 0; }

/* x on the grid of E2M1, 0 to 6, and of its two neighbours there the one that is nearer to e: the upper one from the
 * middle on. */
HU_INSIDE float hu_toward(float x, float e) {
  const float unit = x < 2 ? 0.5f : x < 4 ? 1 : 2;
  const float low = x < 1   ? (x < 0.5f ? 0 : 0.5f)
                    : x < 2 ? (x < 1.5f ? 1 : 1.5f)
                    : x < 4 ? (x < 3 ? 2 : 3)
                    : x < 6 ? 4
                            : 6;
  const float y = e >= low + unit / 2 ? low + unit : low;
  return y < 6 ? y : 6;
}

/* a in its scale, rounded toward c, the sign of a kept; +0 where a is 0. */
HU_INSIDE float hu_toward_in_scale(float a, float c, float scale, float p) {
  const float e = c / scale, y = hu_toward(fabsf(a) / scale, a < 0 ? -e : e) * scale;
  (void)p;
  return scale <= 0x1.fffffep127f ? (a < 0 ? -y : a > 0 ? y : 0) : hu_canonical(NAN);
}

/* z of a and c, with the scales b of their blocks, n[3] of them side by side. */
#define HU_BY_BLOCKS(name, of)                                                             \
  HU_AT(name) {                                                                            \
    const size_t at = r * t->cols, size = t->n[2];                                         \
    const float *b = t->b + (t->n[0] ? r / size : r) * t->n[3];                            \
    const float *a = t->a + at, *c = (t->c ? t->c : t->a) + at;                            \
    const float p = t->p;                                                                  \
    float *z = t->z + at;                                                                  \
    if (t->n[0]) {                                                                         \
      HU_EACH_COLUMN z[j] = of(a[j], c[j], b[j], p);                                       \
      return;                                                                              \
    }                                                                                      \
    for (size_t begin = j0, end; begin < j1; begin = end) {                                \
      const float scale = b[begin / size];                                                 \
      end = (begin / size + 1) * size < j1 ? (begin / size + 1) * size : j1;               \
      HU_INDEPENDENT for (size_t j = begin; j < end; j++) z[j] = of(a[j], c[j], scale, p); \
    }                                                                                      \
  }

HU_BY_BLOCKS(block_over, hu_over_scale)
HU_BY_BLOCKS(block_times, hu_times_scale)
HU_BY_BLOCKS(block_within, hu_within_scale)
HU_BY_BLOCKS(block_toward, hu_toward_in_scale)

#endif
