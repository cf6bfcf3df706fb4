/* SPDX-License-Identifier: MIT */
/* tests/train/net/gradient_model.h - networks as lines of numbers, and their loss in binary64, for test_gradients.c.
 * The model knows docs/training/training.md and nothing of train/. */
#ifndef HALFULP_TESTS_TRAIN_GRADIENT_MODEL_H
#define HALFULP_TESTS_TRAIN_GRADIENT_MODEL_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/net.h"

enum {
  LINEAR,
  CONV,
  TRANSPOSE,
  BATCH,
  LAYER,
  RELU,
  RELU6,
  GELU,
  TANH,
  SIGMOID,
  LEAKY,
  CLIP,
  SILU,
  GELU_TANH,
  SOFTPLUS,
  SCALE,
  RMS,
  L2,
  RESPONSE,
  ADD_ROW,
  ADD,
  MULTIPLY,
  CONCAT,
  COLUMNS,
  SHUFFLE,
  SUM,
  MAX_POOL,
  MEAN_POOL,
  EMBEDDING,
  POSITION,
  ATTENTION,
  SHARED,
  TIED,
  GRU,
  LSTM,
  ENTROPY,
  ERROR,
  ABSOLUTE,
  LOGISTIC,
  HUBER,
  SMOOTHED,
  MOST = 12
};
enum { B = 3 };

/* What a line has that is not in its numbers: windows, and numbers of norms and functions. */
typedef struct t_more {
  hu_net_windows windows;
  size_t left[2]; /* of a transposed convolution: pixels that its windows leave over */
  int ceil, zeros;
  double by[3];
} t_more;

/* A line of the network: what is done to value `x` (and `y`), with sizes. Value 0 is the input. embedding: n columns,
 * kernel tokens; attention: n heads, kernel: causal; cells: n units, kernel: only the last state; concat: of x, y, x, n
 * columns in all; columns: n from `kernel` on; sum: of x, y, x; conv: y groups, if not 0; shuffle:
 * n groups; response: n columns; huber: n quarters; smoothed: n tenths, in the way `kernel` (HU_SMOOTHING_); shared:
 * linear by parameters y and y + 1; tied: linear of n columns by the table y and a bias. */
typedef struct t_line {
  int what, x, y;
  size_t n, kernel, stride, pad;
} t_line;

typedef struct t_shape {
  size_t h, w, c; /* h = 0: rows of c, a row a sample; w = 1: h rows a sample, steps of time */
} t_shape;

typedef struct model {
  const t_line *lines;
  size_t count;
  t_shape shapes[MOST + 1];
  double *value[MOST + 1];
  double *theta[2 * MOST];
  const double *targets;
  const uint32_t *labels;
} model;

static size_t rows_of(t_shape shape) { return B * (shape.h ? shape.h * shape.w : 1); }

enum { MORE = 9999 };
enum {
  WIDE,
  APART,
  FAR,
  BACK,
  BACK_APART,
  UP,
  BEHIND,
  SAME,
  ZEROS,
  NONE,
  EPS,
  SMALL,
  NEAR,
  SLOPE,
  BOUNDS,
  QUICK,
  HALF
};
static const t_more mores[] = {[WIDE] = {.windows = {{2, 3}, {2, 1}, {1, 1}, {1, 0, 0, 2}}},
                               [APART] = {.windows = {{3, 2}, {1, 2}, {2, 3}, {3, 1, 2, 1}}},
                               [FAR] = {.windows = {{2, 2}, {3, 2}, {2, 4}, {0, 2, 4, 3}}},
                               [BACK] = {.windows = {{3, 2}, {2, 3}, {1, 1}, {1, 0, 1, 1}}, .left = {1, 2}},
                               [BACK_APART] = {.windows = {{2, 3}, {1, 2}, {2, 1}, {0, 1, 2, 0}}, .left = {0, 1}},
                               [BEHIND] = {.windows = {{2, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}}, .ceil = 1},
                               [UP] = {.windows = {{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}}, .ceil = 1},
                               [SAME] = {.windows = {{3, 2}, {2, 2}, {1, 1}, {0, 1, 1, 0}}},
                               [ZEROS] = {.windows = {{3, 4}, {2, 3}, {1, 1}, {1, 1, 2, 1}}, .ceil = 1, .zeros = 1},
                               [NONE] = {.windows = {{3, 4}, {2, 3}, {1, 1}, {1, 0, 2, 1}}, .ceil = 1},
                               [EPS] = {.by = {0.25, 0.003}},
                               [SMALL] = {.by = {1e-10}},
                               [NEAR] = {.by = {0.7, 0.75, 1.5}},
                               [SLOPE] = {.by = {0.2}},
                               [BOUNDS] = {.by = {-0.5, 0.25}},
                               [QUICK] = {.by = {1.702}},
                               [HALF] = {.by = {-0.5}}};
static const t_more plain = {.by = {1e-5, 0.1}};

static const t_more *given(const t_line *line) { return line->kernel == MORE ? &mores[line->stride] : NULL; }

static hu_net_windows windows_of(const t_line *line) {
  const t_more *more = given(line);
  return more ? more->windows : hu_net_windows_of(line->kernel, line->stride, line->pad);
}

static const t_more *more_of(const t_line *line) { return given(line) ? given(line) : &plain; }

/* Pixels that windows reach over, less the zeros around the image. */
static ptrdiff_t reach(const hu_net_windows *windows, size_t way) {
  return (ptrdiff_t)((windows->kernel[way] - 1) * windows->dilation[way] + 1 - windows->pad[2 * way] -
                     windows->pad[2 * way + 1]);
}

/* The windows over n pixels, rounded up where that is asked and the last one begins before the image ends. */
static size_t windows_over(const t_line *line, size_t way, size_t n) {
  const hu_net_windows windows = windows_of(line);
  double exact = ((double)n - (double)reach(&windows, way)) / (double)windows.stride[way];
  size_t count = 1 + (size_t)(more_of(line)->ceil ? ceil(exact) : floor(exact));
  return more_of(line)->ceil && (count - 1) * windows.stride[way] >= n + windows.pad[2 * way] ? count - 1 : count;
}

static t_shape after(const t_line *line, t_shape shape) {
  const hu_net_windows windows = windows_of(line);
  if (line->what == LINEAR || line->what == EMBEDDING || line->what == GRU || line->what == LSTM) shape.c = line->n;
  if (line->what == SHARED || line->what == TIED) shape.c = line->n;
  if (line->what == CONCAT || line->what == COLUMNS) shape.c = line->n;
  if (line->what == SUM) shape.h = shape.w = 0, shape.c = 1;
  if (line->what == ATTENTION) shape.c /= 3;
  if ((line->what == GRU || line->what == LSTM) && line->kernel) shape.h = shape.w = 0;
  if (line->what == CONV || line->what == MAX_POOL || line->what == MEAN_POOL) {
    shape.h = windows_over(line, 0, shape.h);
    shape.w = windows_over(line, 1, shape.w);
    if (line->what == CONV) shape.c = line->n;
  }
  if (line->what == TRANSPOSE) {
    shape.h = (shape.h - 1) * windows.stride[0] + more_of(line)->left[0] + (size_t)reach(&windows, 0);
    shape.w = (shape.w - 1) * windows.stride[1] + more_of(line)->left[1] + (size_t)reach(&windows, 1);
    shape.c = line->n;
  }
  return shape;
}

/* The number of pixel k of a window, which is at (row, col) of those of a sample, in the image; -1: it is outside. */
static ptrdiff_t pixel(const hu_net_windows *windows, t_shape shape, size_t sample, size_t row, size_t col, size_t k) {
  size_t y = row * windows->stride[0] + k / windows->kernel[1] * windows->dilation[0] - windows->pad[0];
  size_t x = col * windows->stride[1] + k % windows->kernel[1] * windows->dilation[1] - windows->pad[2];
  return y < shape.h && x < shape.w ? (ptrdiff_t)((sample * shape.h + y) * shape.w + x) : -1;
}

static void model_conv(const t_line *line, t_shape from, t_shape to, const double *x, double *z, const double *w,
                       const double *b) {
  const hu_net_windows windows = windows_of(line);
  size_t groups = line->y ? (size_t)line->y : 1, in = from.c / groups;
  for (size_t r = 0; r < rows_of(to); r++) {
    size_t sample = r / (to.h * to.w), row = r % (to.h * to.w) / to.w, col = r % to.w;
    for (size_t o = 0; o < to.c; o++) {
      double sum = b[o];
      for (size_t k = 0; k < windows.kernel[0] * windows.kernel[1]; k++) {
        ptrdiff_t at = pixel(&windows, from, sample, row, col, k);
        const double *p = x + (at < 0 ? 0 : at) * (ptrdiff_t)from.c + o / (to.c / groups) * in;
        for (size_t c = 0; at >= 0 && c < in; c++) sum += p[c] * w[(k * in + c) * to.c + o];
      }
      z[r * to.c + o] = sum;
    }
  }
}

/* Each number of x, times the weights, to the pixels of its window in z. */
static void model_transpose(const t_line *line, t_shape from, t_shape to, const double *x, double *z, const double *w,
                            const double *b) {
  const hu_net_windows windows = windows_of(line);
  size_t groups = line->y ? (size_t)line->y : 1, out = to.c / groups, in = from.c / groups;
  for (size_t i = 0; i < rows_of(to) * to.c; i++) z[i] = b[i % to.c];
  for (size_t r = 0; r < rows_of(from); r++) {
    size_t sample = r / (from.h * from.w), row = r % (from.h * from.w) / from.w, col = r % from.w;
    for (size_t k = 0; k < windows.kernel[0] * windows.kernel[1]; k++) {
      ptrdiff_t at = pixel(&windows, to, sample, row, col, k);
      for (size_t o = 0; at >= 0 && o < to.c; o++) {
        for (size_t c = o / out * in; c < (o / out + 1) * in; c++)
          z[at * (ptrdiff_t)to.c + (ptrdiff_t)o] += x[r * from.c + c] * w[(k * out + o % out) * from.c + c];
      }
    }
  }
}

static void model_pool(const t_line *line, t_shape from, t_shape to, const double *x, double *z) {
  const hu_net_windows windows = windows_of(line);
  const t_shape framed = {from.h + windows.pad[0] + windows.pad[1], from.w + windows.pad[2] + windows.pad[3], 1};
  hu_net_windows over = windows;
  memset(over.pad, 0, sizeof over.pad);
  for (size_t r = 0; r < rows_of(to); r++) {
    size_t sample = r / (to.h * to.w), row = r % (to.h * to.w) / to.w, col = r % to.w;
    for (size_t c = 0; c < to.c; c++) {
      double top = -INFINITY, sum = 0, count = 0;
      for (size_t k = 0; k < windows.kernel[0] * windows.kernel[1]; k++) {
        ptrdiff_t at = pixel(&windows, from, sample, row, col, k);
        count += more_of(line)->zeros ? pixel(&over, framed, sample, row, col, k) >= 0 : at >= 0;
        if (at >= 0) top = fmax(top, x[at * (ptrdiff_t)to.c + (ptrdiff_t)c]);
        if (at >= 0) sum += x[at * (ptrdiff_t)to.c + (ptrdiff_t)c];
      }
      z[r * to.c + c] = line->what == MAX_POOL ? top : sum / count;
    }
  }
}

static void model_norm(const t_line *line, size_t rows, size_t cols, const double *x, double *z, const double *g,
                       const double *b) {
  size_t outer = line->what == BATCH ? cols : rows, inner = line->what == BATCH ? rows : cols;
  for (size_t o = 0; o < outer; o++) {
    double mean = 0, variance = 0;
    size_t first = line->what == BATCH ? o : o * cols, step = line->what == BATCH ? cols : 1;
    for (size_t i = 0; i < inner; i++) mean += x[first + i * step] / (double)inner;
    for (size_t i = 0; i < inner; i++) variance += pow(x[first + i * step] - mean, 2) / (double)inner;
    for (size_t i = 0; i < inner; i++) {
      size_t k = first + i * step, j = k % cols;
      z[k] = g[j] * (x[k] - mean) / sqrt(variance + more_of(line)->by[0]) + b[j];
    }
  }
}

/* Rows by their lengths, and columns by their neighbours. */
static void model_lengths(const t_line *line, size_t rows, size_t cols, const double *x, double *z, const double *g) {
  const double *by = more_of(line)->by, some = line->what == RMS ? (double)cols : 1;
  for (size_t k = 0; k < rows * cols; k++) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < cols; i++) {
      double square = x[k - k % cols + i] * x[k - k % cols + i];
      all += square / some;
      if (i + line->n / 2 >= k % cols && i <= k % cols + (line->n - 1) / 2) sum += square;
    }
    z[k] = line->what == RESPONSE ? x[k] * pow(by[2] + by[0] / (double)line->n * sum, -by[1])
                                  : g[k % cols] * x[k] / sqrt(all + by[0]);
  }
}

static void model_attention(const t_line *line, t_shape shape, const double *x, double *z) {
  size_t d = shape.c / 3, h = d / line->n;
  for (size_t row = 0; row < rows_of(shape) * line->n; row++) {
    size_t i = row / line->n, at = row % line->n * h, first = i / shape.h * shape.h,
           n = line->kernel ? i % shape.h + 1 : shape.h;
    double e[64], sum = 0;
    for (size_t j = 0; j < n; j++) {
      double score = 0;
      for (size_t k = 0; k < h; k++) score += x[i * shape.c + at + k] * x[(first + j) * shape.c + d + at + k];
      sum += e[j] = exp(score / sqrt((double)h));
    }
    for (size_t k = 0; k < h; k++) {
      z[i * d + at + k] = 0;
      for (size_t j = 0; j < n; j++) z[i * d + at + k] += e[j] / sum * x[(first + j) * shape.c + 2 * d + at + k];
    }
  }
}

static double model_point(int what, double x, const double *by);
static double model_sigmoid(double x) { return model_point(SIGMOID, x, NULL); }

/* a = x Wx + bx, c = h Wh + bh of one part and unit. */
static void model_gate(t_shape shape, size_t u, size_t parts, const double *x, const double *h, double *const *t,
                       size_t j, double *a, double *c) {
  *a = t[1][j];
  *c = t[3][j];
  for (size_t k = 0; k < shape.c; k++) *a += x[k] * t[0][k * parts * u + j];
  for (size_t k = 0; k < u; k++) *c += h[k] * t[2][k * parts * u + j];
}

static void model_cells(const t_line *line, t_shape shape, const double *x, double *z, double *const *t) {
  size_t u = line->n, parts = line->what == GRU ? 3 : 4;
  for (size_t b = 0; b < B; b++) {
    double h[16] = {0}, m[16] = {0}, a[64], c[64];
    for (size_t i = 0; i < shape.h; i++) {
      const double *row = x + (b * shape.h + i) * shape.c;
      for (size_t j = 0; j < parts * u; j++) model_gate(shape, u, parts, row, h, t, j, &a[j], &c[j]);
      for (size_t j = 0; j < u && line->what == GRU; j++) {
        double up = model_sigmoid(a[j] + c[j]), r = model_sigmoid(a[u + j] + c[u + j]);
        h[j] = (1 - up) * tanh(a[2 * u + j] + r * c[2 * u + j]) + up * h[j];
      }
      for (size_t j = 0; j < u && line->what == LSTM; j++) {
        double in = model_sigmoid(a[j] + c[j]), f = model_sigmoid(a[u + j] + c[u + j]);
        m[j] = f * m[j] + in * tanh(a[3 * u + j] + c[3 * u + j]);
        h[j] = model_sigmoid(a[2 * u + j] + c[2 * u + j]) * tanh(m[j]);
      }
      size_t out = line->kernel ? b : b * shape.h + i;
      memcpy(z + out * u, h, u * sizeof *h);
    }
  }
}

static double model_point(int what, double x, const double *by) {
  if (what == RELU) return x > 0 ? x : 0;
  if (what == RELU6) return fmin(fmax(x, 0), 6);
  if (what == GELU) return x * 0.5 * erfc(-x / sqrt(2));
  if (what == TANH) return tanh(x);
  if (what == LEAKY) return x > 0 ? x : by[0] * x;
  if (what == CLIP) return fmin(fmax(x, by[0]), by[1]);
  if (what == SILU) return x / (1 + exp(-by[0] * x));
  if (what == GELU_TANH) return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
  if (what == SOFTPLUS) return log(1 + exp(x));
  if (what == SCALE) return by[0] * x;
  return 1 / (1 + exp(-x));
}

/* Columns of x, y, x. */
static void model_concat(size_t rows, const double *x, size_t nx, const double *y, size_t ny, double *z) {
  for (size_t i = 0; i < rows; i++, z += 2 * nx + ny) {
    memcpy(z, x + i * nx, nx * sizeof *z);
    memcpy(z + nx, y + i * ny, ny * sizeof *z);
    memcpy(z + nx + ny, x + i * nx, nx * sizeof *z);
  }
}

static void model_sum(size_t n, double by, const double *x, double *z) {
  for (size_t i = 0; i < n; i++) z[i / (n / B)] += by * x[i];
}

/* z = x T^T + b: a column for each row of T. */
static void model_tied(size_t rows, size_t in, size_t out, const double *x, double *z, const double *t,
                       const double *b) {
  for (size_t i = 0; i < rows * out; i++) {
    z[i] = b[i % out];
    for (size_t c = 0; c < in; c++) z[i] += x[i / out * in + c] * t[i % out * in + c];
  }
}

/* What one number loses. */
static double model_term(const t_line *line, double x, double target) {
  double less = x - target, bound = 0.25 * (double)line->n;
  switch (line->what) {
    case ERROR: return 0.5 * less * less;
    case ABSOLUTE: return fabs(less);
    case HUBER: return fabs(less) < bound ? 0.5 * less * less / bound : fabs(less) - bound / 2;
    case LOGISTIC: return log(1 + exp(x)) - x * target;
    default: return 0;
  }
}

/* The cross entropy of a row with the logarithm `top` of its total, and a target that is spread. */
static double model_smoothed(const t_line *line, size_t cols, const double *x, double top, size_t label) {
  double amount = 0.1 * (double)line->n, sum = 0;
  double other = amount / (double)(cols - (line->kernel & HU_SMOOTHING_OTHERS ? 1 : 0));
  double own = 1 - amount + (line->kernel & HU_SMOOTHING_OTHERS ? 0 : other);
  for (size_t j = 0; j < cols; j++) {
    double share = j == label ? own : other;
    sum += share * (top - x[j] + (line->kernel & HU_SMOOTHING_LESS_MINIMUM ? log(share) : 0));
  }
  return sum;
}

static double model_loss(const model *m, const t_line *line, t_shape shape, const double *x) {
  double sum = 0;
  size_t rows = rows_of(shape);
  for (size_t i = 0; i < rows; i++) {
    double total = 0;
    for (size_t j = 0; j < shape.c; j++) {
      total += exp(x[i * shape.c + j]);
      sum += model_term(line, x[i * shape.c + j], m->targets[i * shape.c + j]);
    }
    if (line->what == ENTROPY) sum += log(total) - x[i * shape.c + m->labels[i]];
    if (line->what == SMOOTHED) sum += model_smoothed(line, shape.c, x + i * shape.c, log(total), m->labels[i]);
  }
  return sum / (double)rows;
}

/* The loss; fills in values. */
static double model_run(model *m) {
  size_t p = 0;
  for (size_t i = 0; i < m->count; i++) {
    const t_line *line = &m->lines[i];
    t_shape from = m->shapes[line->x], to = m->shapes[i + 1];
    const double *x = m->value[line->x], *w = m->theta[p], *b = m->theta[p + 1];
    double *z = m->value[i + 1];
    size_t n = rows_of(to) * to.c;
    if (line->what >= ENTROPY) return model_loss(m, line, from, x);
    if (line->what == SHARED) w = m->theta[line->y], b = m->theta[line->y + 1];
    if (line->what == TIED) model_tied(rows_of(to), from.c, to.c, x, z, m->theta[line->y], w);
    if (line->what == LINEAR || line->what == SHARED) {
      t_line all = {CONV, 0, 0, line->n, 1, 1, 0};
      t_shape shape = {1, from.h ? from.h * from.w : 1, from.c}, other = {1, shape.w, to.c};
      model_conv(&all, shape, other, x, z, w, b);
    }
    if (line->what == CONV) model_conv(line, from, to, x, z, w, b);
    if (line->what == BATCH || line->what == LAYER) model_norm(line, rows_of(to), to.c, x, z, w, b);
    if (line->what == TRANSPOSE) model_transpose(line, from, to, x, z, w, b);
    if (line->what >= RMS && line->what <= RESPONSE) model_lengths(line, rows_of(to), to.c, x, z, w);
    if (line->what >= RELU && line->what <= SCALE) {
      for (size_t k = 0; k < n; k++) z[k] = model_point(line->what, x[k], more_of(line)->by);
    }
    for (size_t k = 0; line->what == ADD_ROW && k < n; k++)
      z[k] = x[k] + m->value[line->y][k / (n / B) * to.c + k % to.c];
    for (size_t k = 0; line->what == ADD && k < n; k++) z[k] = x[k] + m->value[line->y][k];
    for (size_t k = 0; line->what == MULTIPLY && k < n; k++) z[k] = x[k] * m->value[line->y][k];
    if (line->what == CONCAT) model_concat(rows_of(to), x, from.c, m->value[line->y], m->shapes[line->y].c, z);
    for (size_t k = 0; line->what == COLUMNS && k < n; k++) z[k] = x[k / to.c * from.c + line->kernel + k % to.c];
    for (size_t k = 0; line->what == SUM && k < B; k++) z[k] = 0;
    for (size_t k = 0; line->what == SHUFFLE && k < n; k++)
      z[k] = x[k / to.c * to.c + k % line->n * (to.c / line->n) + k % to.c / line->n];
    if (line->what == SUM) model_sum(rows_of(from) * from.c, 2, x, z);
    if (line->what == SUM) model_sum(rows_of(m->shapes[line->y]) * m->shapes[line->y].c, 1, m->value[line->y], z);
    if (line->what == MAX_POOL || line->what == MEAN_POOL) model_pool(line, from, to, x, z);
    for (size_t k = 0; line->what == EMBEDDING && k < n; k++) z[k] = w[(size_t)x[k / to.c] * to.c + k % to.c];
    for (size_t k = 0; line->what == POSITION && k < n; k++) z[k] = x[k] + w[k % (n / B)];
    if (line->what == ATTENTION) model_attention(line, from, x, z);
    if (line->what == GRU || line->what == LSTM) model_cells(line, from, x, z, m->theta + p);
    int one = line->what == EMBEDDING || line->what == POSITION || line->what == RMS || line->what == L2 ||
              line->what == TIED;
    p += line->what <= LAYER ? 2 : one ? 1 : line->what >= GRU ? 4 : 0;
  }
  return NAN;
}

#endif
