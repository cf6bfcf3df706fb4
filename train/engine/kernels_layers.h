/* SPDX-License-Identifier: MIT */
/* train/engine/kernels_layers.h - the kernels of layers: see kernels.h. The orders are those of docs/training.md. */
#ifndef HALFULP_TRAIN_ENGINE_KERNELS_LAYERS_H
#define HALFULP_TRAIN_ENGINE_KERNELS_LAYERS_H

#include "train/engine/kernels.h"

/* ---- normalisations ---- */

/* Of x = a, rows of gain b, mean c, inverse d, offset e: y normalised, z. */
HU_AT(normalise) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b, *c = t->c, *d = t->d, *e = t->e;
  float *z = t->z + at, *y = t->y + at;
  HU_EACH_COLUMN {
    float h = (a[j] - c[j]) * d[j];
    y[j] = h;
    z[j] = b[j] * h + e[j];
  }
}

/* Of dz = a, rows of gain b, of the two means c and d, of inverse e; normalised f. */
HU_AT(batch_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b, *c = t->c, *d = t->d, *e = t->e, *f = t->f + at;
  float *z = t->z + at;
  HU_EACH_COLUMN z[j] = ((a[j] * b[j] - c[j]) - f[j] * d[j]) * e[j];
}

/* Of x = a, gain b, offset c: y normalised, z; w[r] the inverse. */
HU_AT(layer) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b, *c = t->c, n = (float)t->cols;
  float *z = t->z + at, *y = t->y + at;
  const float mean = hu_sum_of_row(t->cols, a, NULL) / n;
  HU_EACH_COLUMN y[j] = a[j] - mean;
  const float inverse = 1 / sqrtf(hu_sum_of_row(t->cols, y, y) / n + 1e-5f);
  t->w[r] = inverse;
  HU_EACH_COLUMN {
    float h = y[j] * inverse;
    y[j] = h;
    z[j] = b[j] * h + c[j];
  }
}

/* Of dz = a, gain b, normalised c, inverses d. */
HU_AT(layer_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b, *c = t->c + at, n = (float)t->cols, inverse = t->d[r];
  float *z = t->z + at;
  HU_EACH_COLUMN z[j] = a[j] * b[j];
  const float plain = hu_sum_of_row(t->cols, z, NULL) / n, slope = hu_sum_of_row(t->cols, z, c) / n;
  HU_EACH_COLUMN z[j] = ((z[j] - plain) - c[j] * slope) * inverse;
}

/* ---- images ---- */

/* n: of windows: pixels high, wide, step from one to the next, zeros around the image; of the image: height, width; of
 * the rows of windows: how many below, beside each other; of the channels: how many groups. */
enum { HU_HIGH = 0, HU_WIDE = 1, HU_STRIDE = 2, HU_PAD = 3, HU_HEIGHT = 4, HU_WIDTH = 5, HU_DOWN = 6, HU_ACROSS = 7 };
enum { HU_GROUPS = 8 };

/* Row r of z: the pixels of window r of images a, row by row, rows of `wide` pixels of cols / (high wide) channels. */
HU_AT(patches) {
  const size_t *n = t->n, per = n[HU_DOWN] * n[HU_ACROSS], channels = t->cols / (n[HU_HIGH] * n[HU_WIDE]);
  const size_t line = n[HU_WIDE] * channels, across = n[HU_WIDTH] * channels, down = r % per / n[HU_ACROSS];
  const size_t start = r % n[HU_ACROSS] * n[HU_STRIDE] * channels, pad = n[HU_PAD] * channels;
  float *z = t->z + r * t->cols;
  for (size_t i = j0 / line; i * line < j1; i++) {
    size_t low = i * line < j0 ? j0 : i * line, high = (i + 1) * line < j1 ? (i + 1) * line : j1;
    size_t y = down * n[HU_STRIDE] + i, from = high, to = high;
    /* Numbers i line + k of the patch are numbers start + k - pad of the image's row. */
    if (y >= n[HU_PAD] && y - n[HU_PAD] < n[HU_HEIGHT]) {
      size_t first = start < pad ? i * line + pad - start : i * line, end = i * line + pad + across - start;
      from = first < low ? low : first < high ? first : high;
      to = end < from ? from : end < high ? end : high;
    }
    const float *row = t->a + (r / per * n[HU_HEIGHT] + (from < to ? y - n[HU_PAD] : 0)) * across;
    const ptrdiff_t shift = (ptrdiff_t)start - (ptrdiff_t)(pad + i * line);
    for (size_t j = low; j < from; j++) z[j] = 0;
    HU_INDEPENDENT for (size_t j = from; j < to; j++) z[j] = row[(ptrdiff_t)j + shift];
    for (size_t j = to; j < high; j++) z[j] = 0;
  }
}

/* The windows that see a pixel: of a side, from `first` to `end` - 1. */
typedef struct hu_seen {
  size_t first, end;
} hu_seen;

HU_INSIDE hu_seen hu_seen_of(size_t at, size_t pad, size_t kernel, size_t stride, size_t windows) {
  hu_seen s;
  at += pad;
  s.first = at < kernel ? 0 : (at - kernel) / stride + 1;
  s.end = at / stride + 1 < windows ? at / stride + 1 : windows;
  return s;
}

/* Number j + k of pixel r of the image, z, from what all windows that see it hold, windows in order from +0. `window`
 * is the number of one, `place` the pixel's in it; `wide` channels side by side. */
#define HU_SEEN(wide, add)                                                                   \
  for (; j + (wide) <= j1; j += (wide)) {                                                    \
    float s[wide] = {0};                                                                     \
    for (size_t y = down.first; y < down.end; y++) {                                         \
      for (size_t x = across.first; x < across.end; x++) {                                   \
        const size_t window = (image * n[HU_DOWN] + y) * n[HU_ACROSS] + x;                   \
        const size_t place = (row - y * n[HU_STRIDE]) * n[HU_WIDE] + col - x * n[HU_STRIDE]; \
        (void)place;                                                                         \
        for (size_t k = 0; k < (wide); k++) s[k] += (add);                                   \
      }                                                                                      \
    }                                                                                        \
    for (size_t k = 0; k < (wide); k++) t->z[r * cols + j + k] = s[k];                       \
  }
#if defined(HU_TRAIN_DEVICE) /* a thread a number: j1 is j0 + 1, and a loop would cost registers */
#define HU_SEEN_SIDES(add)                                                                   \
  {                                                                                          \
    const size_t k = 0;                                                                      \
    float s = 0;                                                                             \
    for (size_t y = down.first; y < down.end; y++) {                                         \
      for (size_t x = across.first; x < across.end; x++) {                                   \
        const size_t window = (image * n[HU_DOWN] + y) * n[HU_ACROSS] + x;                   \
        const size_t place = (row - y * n[HU_STRIDE]) * n[HU_WIDE] + col - x * n[HU_STRIDE]; \
        (void)place;                                                                         \
        s += (add);                                                                          \
      }                                                                                      \
    }                                                                                        \
    t->z[r * cols + j] = s;                                                                  \
    (void)j1;                                                                                \
  }
#else
#define HU_SEEN_SIDES(add) HU_SEEN(8, add) HU_SEEN(1, add)
#endif
#define HU_WINDOWS(name, add)                                                                              \
  HU_AT(name) {                                                                                            \
    const size_t *n = t->n, cols = t->cols;                                                                \
    const size_t image = r / (n[HU_HEIGHT] * n[HU_WIDTH]);                                                 \
    const size_t row = r / n[HU_WIDTH] % n[HU_HEIGHT] + n[HU_PAD], col = r % n[HU_WIDTH] + n[HU_PAD];      \
    const hu_seen down = hu_seen_of(row - n[HU_PAD], n[HU_PAD], n[HU_HIGH], n[HU_STRIDE], n[HU_DOWN]);     \
    const hu_seen across = hu_seen_of(col - n[HU_PAD], n[HU_PAD], n[HU_WIDE], n[HU_STRIDE], n[HU_ACROSS]); \
    size_t j = j0;                                                                                         \
    HU_SEEN_SIDES(add)                                                                                     \
  }

/* a: gradients of patches. */
HU_WINDOWS(patches_back, t->a[(window * n[HU_HIGH] * n[HU_WIDE] + place) * cols + j + k])
/* Where number j of a row of groups' patches comes from: a group's numbers side by side, in them pixel by pixel. */
typedef struct hu_grouped {
  size_t group, y, x, c; /* c: the channel in the group */
} hu_grouped;

HU_INSIDE hu_grouped hu_grouped_of(const size_t *n, size_t channels, size_t j) {
  const size_t pixel = j / channels, pixels = n[HU_HIGH] * n[HU_WIDE];
  hu_grouped g = {pixel / pixels, pixel % pixels / n[HU_WIDE], pixel % n[HU_WIDE], j % channels};
  return g;
}

/* That of the next number; without divisions, which would cost more than the copy. */
HU_INSIDE void hu_grouped_next(hu_grouped *g, const size_t *n, size_t channels) {
  if (++g->c < channels) return;
  g->c = 0;
  if (++g->x < n[HU_WIDE]) return;
  g->x = 0;
  if (++g->y < n[HU_HIGH]) return;
  g->y = 0;
  g->group++;
}

/* Row r of z: the pixels of window r of images a, like those of `patches`, but for each group of channels by itself;
 * groups side by side. */
HU_AT(groups) {
  const size_t *n = t->n, per = n[HU_DOWN] * n[HU_ACROSS];
  const size_t all = t->cols / (n[HU_HIGH] * n[HU_WIDE]), channels = all / n[HU_GROUPS];
  const size_t down = r % per / n[HU_ACROSS] * n[HU_STRIDE], across = r % n[HU_ACROSS] * n[HU_STRIDE];
  const float *a = t->a + r / per * n[HU_HEIGHT] * n[HU_WIDTH] * all;
  float *z = t->z + r * t->cols;
  hu_grouped g = hu_grouped_of(n, channels, j0);
  for (size_t j = j0; j < j1; j++) {
    const size_t y = down + g.y - n[HU_PAD], x = across + g.x - n[HU_PAD]; /* outside: above all sides */
    z[j] = y < n[HU_HEIGHT] && x < n[HU_WIDTH] ? a[(y * n[HU_WIDTH] + x) * all + g.group * channels + g.c] : 0;
    hu_grouped_next(&g, n, channels);
  }
}

/* As patches_back, of gradients a of groups' patches. */
HU_AT(groups_back) {
  const size_t *n = t->n, all = t->cols, channels = all / n[HU_GROUPS], pixels = n[HU_HIGH] * n[HU_WIDE];
  const size_t image = r / (n[HU_HEIGHT] * n[HU_WIDTH]);
  const size_t row = r / n[HU_WIDTH] % n[HU_HEIGHT], col = r % n[HU_WIDTH];
  const hu_seen down = hu_seen_of(row, n[HU_PAD], n[HU_HIGH], n[HU_STRIDE], n[HU_DOWN]);
  const hu_seen across = hu_seen_of(col, n[HU_PAD], n[HU_WIDE], n[HU_STRIDE], n[HU_ACROSS]);
  for (size_t j = j0; j < j1; j++) {
    const float *a = t->a + j / channels * channels * pixels + j % channels;
    float s = 0;
    for (size_t y = down.first; y < down.end; y++) {
      for (size_t x = across.first; x < across.end; x++) {
        const size_t window = (image * n[HU_DOWN] + y) * n[HU_ACROSS] + x;
        const size_t high = row + n[HU_PAD] - y * n[HU_STRIDE], wide = col + n[HU_PAD] - x * n[HU_STRIDE];
        s += a[window * pixels * all + (high * n[HU_WIDE] + wide) * channels];
      }
    }
    t->z[r * all + j] = s;
  }
}

/* Columns of a as a matrix of n[0] rows, which z has transposed. */
HU_AT(shuffle) {
  const size_t groups = t->n[0], each = t->cols / groups;
  const float *a = t->a + r * t->cols;
  float *z = t->z + r * t->cols;
  HU_EACH_COLUMN z[j] = a[j % groups * each + j / groups];
}

/* a: gradients of windows; b: the places of the largest. */
HU_WINDOWS(max_pool_back, t->b[window * cols + j + k] == (float)place ? t->a[window * cols + j + k] : 0)
HU_WINDOWS(mean_pool_back, t->a[window * cols + j + k] * t->p)

/* The first pixel of window r, in rows of the image. */
HU_INSIDE size_t hu_window_at(const size_t n[8], size_t r) {
  const size_t per = n[HU_DOWN] * n[HU_ACROSS];
  const size_t row = r / per * n[HU_HEIGHT] + r % per / n[HU_ACROSS] * n[HU_STRIDE];
  return row * n[HU_WIDTH] + r % n[HU_ACROSS] * n[HU_STRIDE];
}

/* The first largest pixel of windows of a, NaN above all: z, and y its place. */
HU_AT(max_pool) {
  const size_t *n = t->n, cols = t->cols, at = hu_window_at(n, r) * cols;
  float *z = t->z + r * cols, *y = t->y + r * cols;
  HU_EACH_COLUMN {
    z[j] = t->a[at + j];
    y[j] = 0;
  }
  for (size_t w = 1; w < n[HU_HIGH] * n[HU_WIDE]; w++) {
    const float *a = t->a + at + (w / n[HU_WIDE] * n[HU_WIDTH] + w % n[HU_WIDE]) * cols, place = (float)w;
    HU_EACH_COLUMN {
      int better = (a[j] > z[j]) | ((a[j] != a[j]) & (z[j] == z[j]));
      z[j] = better ? a[j] : z[j];
      y[j] = better ? place : y[j];
    }
  }
}

/* p times the sum of the window's pixels. */
HU_AT(mean_pool) {
  const size_t *n = t->n, cols = t->cols, at = hu_window_at(n, r) * cols;
  float *z = t->z + r * cols;
  const float p = t->p;
  HU_EACH_COLUMN z[j] = 0;
  for (size_t w = 0; w < n[HU_HIGH] * n[HU_WIDE]; w++) {
    const float *a = t->a + at + (w / n[HU_WIDE] * n[HU_WIDTH] + w % n[HU_WIDE]) * cols;
    HU_EACH_COLUMN z[j] += a[j];
  }
  HU_EACH_COLUMN z[j] *= p;
}

/* ---- softmax and losses ---- */

/* How many columns of row r count: all, or (n[0]) those up to its step of n[1], and (c) no more than the number c has
 * for its sample of n[2] rows. */
HU_INSIDE size_t hu_columns_of(const hu_task *t, size_t r) {
  const size_t n = t->n[0] ? r % t->n[1] + 1 : t->cols;
  if (!t->c) return n;
  const float most = t->c[r / t->n[2]];
  return !(most < (float)n) ? n : most > 0 ? (size_t)most : 0;
}

/* Row a less its largest number; 0 behind. */
HU_AT(less_top) {
  const size_t n = hu_columns_of(t, r);
  const float *a = t->a + r * t->cols;
  float *z = t->z + r * t->cols, top = a[0];
  (void)j0, (void)j1;
  for (size_t j = 1; j < n; j++) top = a[j] > top || a[j] != a[j] ? a[j] : top;
  HU_INDEPENDENT for (size_t j = 0; j < n; j++) z[j] = a[j] - top;
  for (size_t j = n; j < t->cols; j++) z[j] = 0;
}

/* z in place by the row's sum, which w[r] gets if there is a w. */
HU_AT(shares) {
  const size_t n = hu_columns_of(t, r);
  float *z = t->z + r * t->cols;
  const float sum = hu_sum_of_row(n, z, NULL);
  (void)j0, (void)j1;
  if (t->w) t->w[r] = sum;
  HU_INDEPENDENT for (size_t j = 0; j < n; j++) z[j] /= sum;
  for (size_t j = n; j < t->cols; j++) z[j] = 0;
}

/* Of shares a, their gradients b. */
HU_AT(shares_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, *b = t->b + at;
  float *z = t->z + at;
  const float sum = hu_sum_of_row(t->cols, b, a);
  HU_EACH_COLUMN z[j] = a[j] * (b[j] - sum);
}

/* Logarithms a less the number at the label of row j of b, n[0] columns; 0 without a label. One row. */
HU_AT(entropy) {
  (void)r;
  for (size_t j = j0; j < j1; j++) {
    const uint32_t label = t->labels[j];
    t->z[j] = label == HU_LABEL_NONE ? 0 : t->a[j] - t->b[j * t->n[0] + label];
  }
}

/* Of shares a; b[0]: the loss's gradient. Without a label all are 0. */
HU_AT(entropy_back) {
  const size_t at = r * t->cols, label = t->labels[r];
  const float *a = t->a + at, by = t->b[0] * t->p;
  float *z = t->z + at;
  if (label == HU_LABEL_NONE) {
    HU_EACH_COLUMN z[j] = 0;
  } else {
    HU_EACH_COLUMN z[j] = (j == label ? a[j] - 1 : a[j]) * by;
  }
}

/* z = a - b, and y what the loss makes of it. */
#define HU_DISTANCE(name, value)                \
  HU_AT(name) {                                 \
    const size_t at = r * t->cols;              \
    const float *a = t->a + at, *b = t->b + at; \
    float *z = t->z + at, *y = t->y + at;       \
    HU_EACH_COLUMN {                            \
      const float less = a[j] - b[j];           \
      z[j] = less;                              \
      y[j] = (value);                           \
    }                                           \
  }
HU_DISTANCE(distance, (less * less))
HU_DISTANCE(absolute, fabsf(less))

/* b[0]: the loss's gradient. */
HU_AT(distance_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, by = t->b[0] * t->p;
  float *z = t->z + at;
  HU_EACH_COLUMN z[j] = a[j] * by;
}

/* The sign of a times what distance_back has; of a NaN a NaN, of 0 +0. */
HU_AT(absolute_back) {
  const size_t at = r * t->cols;
  const float *a = t->a + at, by = t->b[0] * t->p;
  float *z = t->z + at;
  HU_EACH_COLUMN z[j] = a[j] > 0 ? by : a[j] < 0 ? -by : a[j] != a[j] ? a[j] : 0;
}

/* ---- tokens a, one row ---- */

/* *flag = 1 if one is not a whole number below n[0]. */
HU_AT(tokens) {
  (void)r;
  for (size_t j = j0; j < j1; j++) {
    const float x = t->a[j];
    if (!(x >= 0 && x < (float)t->n[0]) || x != (float)(size_t)x) *t->flag = 1;
  }
}

/* Row r of z is row a[r] of b, which has n[0] rows; the first one where a[r] is no number of a row. */
HU_AT(gather) {
  const float token = t->a[r];
  const float *b = t->b + (token >= 0 && token < (float)t->n[0] ? (size_t)token : 0) * t->cols;
  float *z = t->z + r * t->cols;
  HU_EACH_COLUMN z[j] = b[j];
}

/* The n[0] rows of b, each added to row a[i] of z, in order. */
HU_AT(scatter) {
  (void)r;
  for (size_t i = 0; i < t->n[0]; i++) {
    float *z = t->z + (size_t)t->a[i] * t->cols;
    const float *b = t->b + i * t->cols;
    HU_EACH_COLUMN z[j] += b[j];
  }
}

/* ---- cells of cols units: a and b are the rows of sums, parts side by side; what is kept, y, c: part after part, each
 * rows x cols ---- */

/* Sums of the first two parts. */
HU_AT(gru_gates) {
  const size_t u = t->cols, all = t->rows * u;
  const float *a = t->a + 3 * u * r, *b = t->b + 3 * u * r;
  float *y = t->y + u * r;
  HU_EACH_COLUMN {
    y[j] = a[j] + b[j];
    y[all + j] = a[u + j] + b[u + j];
  }
}

HU_AT(gru_candidate) {
  const size_t u = t->cols, all = t->rows * u;
  const float *a = t->a + 3 * u * r, *b = t->b + 3 * u * r;
  float *y = t->y + u * r;
  HU_EACH_COLUMN y[2 * all + j] = a[2 * u + j] + y[all + j] * b[2 * u + j];
}

/* a: the state before. */
HU_AT(gru_state) {
  const size_t u = t->cols, all = t->rows * u;
  const float *k = t->c + u * r, *h = t->a + u * r;
  float *z = t->z + u * r;
  HU_EACH_COLUMN z[j] = (1 - k[j]) * k[2 * all + j] + k[j] * h[j];
}

/* a: the state before; b: as above; d: the gradient. z, y, w: gradients of both sums and of the state. */
HU_AT(gru_back) {
  const size_t u = t->cols, all = t->rows * u;
  const float *k = t->c + u * r, *h = t->a + u * r, *b = t->b + 3 * u * r, *d = t->d + u * r;
  float *x = t->z + 3 * u * r, *y = t->y + 3 * u * r, *w = t->w + u * r;
  HU_EACH_COLUMN {
    float z = k[j], g = k[all + j], n = k[2 * all + j];
    float dn = d[j] * (1 - z) * (1 - n * n), dg = dn * b[2 * u + j];
    x[2 * u + j] = dn;
    y[2 * u + j] = dn * g;
    x[j] = y[j] = d[j] * (h[j] - n) * (z * (1 - z));
    x[u + j] = y[u + j] = dg * (g * (1 - g));
    w[j] = d[j] * z;
  }
}

HU_AT(lstm_gates) {
  const size_t u = t->cols, all = t->rows * u;
  const float *a = t->a + 4 * u * r, *b = t->b + 4 * u * r;
  float *y = t->y + u * r;
  for (size_t i = 0; i < 4; i++) {
    HU_EACH_COLUMN y[i * all + j] = a[i * u + j] + b[i * u + j];
  }
}

/* a, z: the states before and after, h and c side by side; y: c once more, behind what is kept. */
HU_AT(lstm_cell) {
  const size_t u = t->cols, all = t->rows * u;
  const float *k = t->c + u * r, *c = t->a + 2 * u * r + u;
  float *z = t->z + 2 * u * r + u, *y = t->y + u * r + 4 * all;
  HU_EACH_COLUMN {
    float next = k[all + j] * c[j] + k[j] * k[3 * all + j];
    z[j] = next;
    y[j] = next;
  }
}

HU_AT(lstm_state) {
  const size_t u = t->cols, all = t->rows * u;
  const float *k = t->c + u * r;
  float *z = t->z + 2 * u * r;
  HU_EACH_COLUMN z[j] = k[2 * all + j] * k[4 * all + j];
}

/* a: the state before; d: the gradient of the one after. z: gradients of the sums, w of the state. */
HU_AT(lstm_back) {
  const size_t u = t->cols, all = t->rows * u;
  const float *k = t->c + u * r, *c = t->a + 2 * u * r + u, *dh = t->d + 2 * u * r, *dc = dh + u;
  float *s = t->z + 4 * u * r, *w = t->w + 2 * u * r;
  HU_EACH_COLUMN {
    float in = k[j], f = k[all + j], o = k[2 * all + j], g = k[3 * all + j], tc = k[4 * all + j];
    float d = dc[j] + dh[j] * o * (1 - tc * tc);
    s[j] = d * g * (in * (1 - in));
    s[u + j] = d * c[j] * (f * (1 - f));
    s[2 * u + j] = dh[j] * tc * (o * (1 - o));
    s[3 * u + j] = d * in * (1 - g * g);
    w[j] = 0;
    w[u + j] = d * f;
  }
}

#endif
