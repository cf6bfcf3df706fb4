/* SPDX-License-Identifier: MIT */
/* train/engine/kernels_layers.h - the kernels of layers (kernels.h). Orders are those of docs/training/training.md. */
#ifndef HALFULP_TRAIN_ENGINE_KERNELS_LAYERS_H
#define HALFULP_TRAIN_ENGINE_KERNELS_LAYERS_H

#include "train/engine/kernels_attention.h"

/* ---- normalisations ---- */

/* z = gain * (a - mean) * inverse + offset, with one mean, inverse, gain and offset per column; norm.normalised gets
 * (a - mean) * inverse. */
HU_AT(normalise) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *gain = task->norm.gain, *offset = task->norm.offset;
  const float *mean = task->norm.mean, *inverse = task->norm.inverse;
  float *z = task->z + at, *normalised = task->norm.normalised + at;
  HU_EACH_COLUMN {
    float number = (a[j] - mean[j]) * inverse[j];
    normalised[j] = number;
    z[j] = gain[j] * number + offset[j];
  }
}

/* z is the gradient of what `normalise` read, a that of its result. norm.mean and norm.slope are the means over the
 * rows of a * gain and of a * gain * normalised. */
HU_AT(batch_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *gain = task->norm.gain, *inverse = task->norm.inverse;
  const float *mean = task->norm.mean, *slope = task->norm.slope, *normalised = task->norm.normalised + at;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = ((a[j] * gain[j] - mean[j]) - normalised[j] * slope[j]) * inverse[j];
}

/* As `normalise`, with a mean and an inverse for each row, which are computed here; norm.inverse[r] gets the latter. p
 * is added to the variance. Without an offset the mean is 0. */
HU_AT(layer) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *gain = task->norm.gain, *offset = task->norm.offset, n = task->norm.count;
  float *z = task->z + at, *normalised = task->norm.normalised + at;
  const float mean = offset ? hui_sum_of_row(task->cols, a, NULL) / n : 0;
  HU_EACH_COLUMN normalised[j] = a[j] - mean;
  const float inverse = 1 / sqrtf(hui_sum_of_row(task->cols, normalised, normalised) / n + task->p);
  task->norm.inverse[r] = inverse;
  HU_EACH_COLUMN {
    float number = normalised[j] * inverse;
    normalised[j] = number;
    z[j] = offset ? gain[j] * number + offset[j] : gain[j] * number;
  }
}

/* z is the gradient of what `layer` read, a that of its result. */
HU_AT(layer_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *gain = task->norm.gain, *normalised = task->norm.normalised + at;
  const float n = task->norm.count, inverse = task->norm.inverse[r];
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] * gain[j];
  const float mean = task->norm.offset ? hui_sum_of_row(task->cols, z, NULL) / n : 0;
  const float slope = hui_sum_of_row(task->cols, z, normalised) / n;
  HU_EACH_COLUMN z[j] = ((z[j] - mean) - normalised[j] * slope) * inverse;
}

/* ---- neighbours: response.size columns about one of the row, as far as there are some ---- */

/* Returns the sum from +0 of x[i], or (square) of its squares, for i from j - before up to j + behind. */
HU_INSIDE float hui_sum_of_neighbours(size_t n, const float *x, size_t j, size_t before, size_t behind, int square) {
  float sum = 0;
  for (size_t i = j < before ? 0 : j - before; i < n && i <= j + behind; i++) sum += square ? x[i] * x[i] : x[i];
  return sum;
}

/* z = response.k + p times the sum of the neighbours' squares. */
HU_AT(neighbours) {
  const size_t before = task->response.size / 2, behind = (task->response.size - 1) / 2;
  const float *a = task->a + r * task->cols;
  float *z = task->z + r * task->cols;
  for (size_t j = j0; j < j1; j++) {
    z[j] = task->response.k + task->p * hui_sum_of_neighbours(task->cols, a, j, before, behind, 1);
  }
}

/* z = a b power / sums: what each column gives to its neighbours' gradients. */
HU_AT(neighbours_part) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at;
  const float *power = task->response.power + at, *sums = task->response.sums + at;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] * b[j] * power[j] / sums[j];
}

/* z = b power - a slope times the sum of the shares of those columns whose neighbour this is. */
HU_AT(neighbours_back) {
  const size_t at = r * task->cols, before = (task->response.size - 1) / 2, behind = task->response.size / 2;
  const float *a = task->a + at, *b = task->b + at;
  const float *power = task->response.power + at, *shares = task->response.shares + r * task->cols;
  float *z = task->z + at;
  for (size_t j = j0; j < j1; j++) {
    z[j] =
        b[j] * power[j] - a[j] * task->response.slope * hui_sum_of_neighbours(task->cols, shares, j, before, behind, 0);
  }
}

/* ---- images ---- */

/* Row r of z gets the pixels of window r of the images a, row by row; a pixel has cols / (high wide) channels. */
HU_AT(patches) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t per = sizes->down * sizes->across, channels = task->cols / (sizes->high * sizes->wide);
  /* A row of a window lies side by side in the image, or one pixel does where they are apart. */
  const size_t pieces = sizes->apart_across > 1 ? sizes->wide : 1, line = sizes->wide / pieces * channels;
  const size_t across = sizes->width * channels, down = r % per / sizes->across;
  const size_t first_of_row = r % sizes->across * sizes->stride_across * channels, pad = sizes->left * channels;
  float *z = task->z + r * task->cols;
  for (size_t i = j0 / line; i * line < j1; i++) {
    size_t low = i * line < j0 ? j0 : i * line, high = (i + 1) * line < j1 ? (i + 1) * line : j1;
    size_t row_of = pieces > 1 ? i / pieces : i, start = first_of_row;
    if (pieces > 1) start += i % pieces * sizes->apart_across * channels;
    size_t y = down * sizes->stride_down + row_of * sizes->apart_down, from = high, to = high;
    /* Numbers i line + k of the patch are numbers start + k - pad of the image's row. */
    if (y >= sizes->top && y - sizes->top < sizes->height) {
      size_t first = start < pad ? i * line + pad - start : i * line, end = i * line + pad + across - start;
      from = first < low ? low : first < high ? first : high;
      to = end < from ? from : end < high ? end : high;
    }
    const float *row = task->a + (r / per * sizes->height + (from < to ? y - sizes->top : 0)) * across;
    const ptrdiff_t shift = (ptrdiff_t)start - (ptrdiff_t)(pad + i * line);
    for (size_t j = low; j < from; j++) z[j] = 0;
    HU_INDEPENDENT for (size_t j = from; j < to; j++) z[j] = row[(ptrdiff_t)j + shift];
    for (size_t j = to; j < high; j++) z[j] = 0;
  }
}

/* Windows from `first` to `end` - 1 of a row or a column of windows see a pixel. */
typedef struct hu_seen {
  size_t first, end;
} hu_seen;

/* Finds them for the pixel `at` behind the first zero. */
HU_INSIDE hu_seen hui_seen_of(size_t at, size_t kernel, size_t apart, size_t stride, size_t windows) {
  const size_t reach = (kernel - 1) * apart + 1;
  hu_seen seen;
  seen.first = at < reach ? 0 : (at - reach) / stride + 1;
  seen.end = at / stride + 1 < windows ? at / stride + 1 : windows;
  while (apart > 1 && seen.first < seen.end && (at - seen.first * stride) % apart != 0) seen.first++;
  return seen;
}

HU_INSIDE hu_seen hui_seen_down(const hu_window_sizes *sizes, size_t row) {
  return hui_seen_of(row, sizes->high, sizes->apart_down, sizes->stride_down, sizes->down);
}

HU_INSIDE hu_seen hui_seen_across(const hu_window_sizes *sizes, size_t col) {
  return hui_seen_of(col, sizes->wide, sizes->apart_across, sizes->stride_across, sizes->across);
}

/* Returns the number in its window of the pixel `down` and `across` from the first one. */
HU_INSIDE size_t hui_place_of(const hu_window_sizes *sizes, size_t down, size_t across) {
  if (sizes->apart_down > 1) down /= sizes->apart_down;
  if (sizes->apart_across > 1) across /= sizes->apart_across;
  return down * sizes->wide + across;
}

/* The pixels of a window that lie in its image. */
typedef struct hu_window_inside {
  size_t y0, y1, x0, x1; /* rows and columns of the window */
  size_t at;             /* pixel (y0, x0), among those of all images */
  float part;            /* 1 over the pixels that count for a mean */
} hu_window_inside;

/* Finds them for a window of an image; pixels are not apart, and there are some. */
HU_INSIDE hu_window_inside hui_window_inside(const hu_task *task, size_t image, size_t down, size_t across) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t y = down * sizes->stride_down, x = across * sizes->stride_across;
  const size_t below = sizes->top + sizes->height, behind = sizes->left + sizes->width;
  hu_window_inside inside;
  inside.y0 = y < sizes->top ? sizes->top - y : 0;
  inside.x0 = x < sizes->left ? sizes->left - x : 0;
  inside.y1 = below - y < sizes->high ? below - y : sizes->high;
  inside.x1 = behind - x < sizes->wide ? behind - x : sizes->wide;
  inside.at = (image * sizes->height + y + inside.y0 - sizes->top) * sizes->width + x + inside.x0 - sizes->left;
  size_t high = inside.y1 - inside.y0, wide = inside.x1 - inside.x0;
  if (task->windows.zeros) {
    high = below + sizes->bottom - y < sizes->high ? below + sizes->bottom - y : sizes->high;
    wide = behind + sizes->right - x < sizes->wide ? behind + sizes->right - x : sizes->wide;
  }
  inside.part = 1 / (float)(high * wide);
  return inside;
}

/* Number j + k of pixel r of the images z is the sum of what all windows that see it hold, windows in order from +0.
 * `window` is the number of one, and `place` that of the pixel in it; `beside` channels are summed side by side. */
#define HU_SEEN(beside, part, add)                                                                              \
  for (; j + (beside) <= j1; j += (beside)) {                                                                   \
    float s[beside] = {0};                                                                                      \
    for (size_t y = down.first; y < down.end; y += sizes->step_down) {                                          \
      for (size_t x = across.first; x < across.end; x += sizes->step_across) {                                  \
        const size_t window = (image * sizes->down + y) * sizes->across + x;                                    \
        const size_t place = hui_place_of(sizes, row - y * sizes->stride_down, col - x * sizes->stride_across); \
        const float by = (part);                                                                                \
        (void)place, (void)by;                                                                                  \
        for (size_t k = 0; k < (beside); k++) s[k] += (add);                                                    \
      }                                                                                                         \
    }                                                                                                           \
    for (size_t k = 0; k < (beside); k++) task->z[r * cols + j + k] = s[k];                                     \
  }
#if defined(HU_TRAIN_DEVICE) /* one thread per number: j1 is j0 + 1, and a loop would cost registers */
#define HU_SEEN_SIDES(part, add)                                                                                \
  {                                                                                                             \
    const size_t k = 0;                                                                                         \
    float s = 0;                                                                                                \
    for (size_t y = down.first; y < down.end; y += sizes->step_down) {                                          \
      for (size_t x = across.first; x < across.end; x += sizes->step_across) {                                  \
        const size_t window = (image * sizes->down + y) * sizes->across + x;                                    \
        const size_t place = hui_place_of(sizes, row - y * sizes->stride_down, col - x * sizes->stride_across); \
        const float by = (part);                                                                                \
        (void)place, (void)by;                                                                                  \
        s += (add);                                                                                             \
      }                                                                                                         \
    }                                                                                                           \
    task->z[r * cols + j] = s;                                                                                  \
    (void)j1;                                                                                                   \
  }
#else
#define HU_SEEN_SIDES(part, add) HU_SEEN(8, part, add) HU_SEEN(1, part, add)
#endif
#define HU_WINDOWS(name, part, add)                                                                         \
  HU_AT(name) {                                                                                             \
    const hu_window_sizes *sizes = &task->windows.sizes;                                                    \
    const size_t cols = task->cols;                                                                         \
    const size_t image = r / (sizes->height * sizes->width);                                                \
    const size_t row = r / sizes->width % sizes->height + sizes->top, col = r % sizes->width + sizes->left; \
    const hu_seen down = hui_seen_down(sizes, row);                                                         \
    const hu_seen across = hui_seen_across(sizes, col);                                                     \
    size_t j = j0;                                                                                          \
    HU_SEEN_SIDES(part, add)                                                                                \
  }

/* z is the gradient of images, a that of their patches. */
HU_WINDOWS(patches_back, 0, task->a[(window * sizes->high * sizes->wide + place) * cols + j + k])
/* A number in a row of groups' patches, where the numbers of a group lie side by side, pixel by pixel. */
typedef struct hu_grouped {
  size_t group, y, x, channel; /* channel: in the group */
} hu_grouped;

HU_INSIDE hu_grouped hui_grouped_of(const hu_window_sizes *sizes, size_t channels, size_t j) {
  const size_t pixel = j / channels, pixels = sizes->high * sizes->wide;
  hu_grouped number = {pixel / pixels, pixel % pixels / sizes->wide, pixel % sizes->wide, j % channels};
  return number;
}

/* Advances to the next number, without divisions, which would cost more than the copy. */
HU_INSIDE void hui_grouped_next(hu_grouped *number, const hu_window_sizes *sizes, size_t channels) {
  if (++number->channel < channels) return;
  number->channel = 0;
  if (++number->x < sizes->wide) return;
  number->x = 0;
  if (++number->y < sizes->high) return;
  number->y = 0;
  number->group++;
}

/* Does what `patches` does, for each group of channels by itself, groups side by side. */
HU_AT(groups) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t per = sizes->down * sizes->across;
  const size_t all = task->cols / (sizes->high * sizes->wide), channels = all / sizes->groups;
  const size_t down = r % per / sizes->across * sizes->stride_down, across = r % sizes->across * sizes->stride_across;
  const float *a = task->a + r / per * sizes->height * sizes->width * all;
  float *z = task->z + r * task->cols;
  hu_grouped number = hui_grouped_of(sizes, channels, j0);
  for (size_t j = j0; j < j1; j++) {
    /* Outside they are above all sides. */
    const size_t y = down + number.y * sizes->apart_down - sizes->top;
    const size_t x = across + number.x * sizes->apart_across - sizes->left;
    const size_t at = (y * sizes->width + x) * all + number.group * channels + number.channel;
    z[j] = y < sizes->height && x < sizes->width ? a[at] : 0;
    hui_grouped_next(&number, sizes, channels);
  }
}

/* Does what patches_back does, for the patches of groups. */
HU_AT(groups_back) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t all = task->cols, channels = all / sizes->groups, pixels = sizes->high * sizes->wide;
  const size_t image = r / (sizes->height * sizes->width);
  const size_t row = r / sizes->width % sizes->height + sizes->top, col = r % sizes->width + sizes->left;
  const hu_seen down = hui_seen_down(sizes, row), across = hui_seen_across(sizes, col);
  for (size_t j = j0; j < j1; j++) {
    const float *a = task->a + j / channels * channels * pixels + j % channels;
    float s = 0;
    for (size_t y = down.first; y < down.end; y += sizes->step_down) {
      for (size_t x = across.first; x < across.end; x += sizes->step_across) {
        const size_t window = (image * sizes->down + y) * sizes->across + x;
        const size_t place = hui_place_of(sizes, row - y * sizes->stride_down, col - x * sizes->stride_across);
        s += a[window * pixels * all + place * channels];
      }
    }
    task->z[r * all + j] = s;
  }
}

/* Reads each row of a as a matrix of `groups` rows, and writes it transposed to z. */
HU_AT(shuffle) {
  const size_t groups = task->groups, each = task->cols / groups;
  const float *a = task->a + r * task->cols;
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = a[j % groups * each + j / groups];
}

/* z is the gradient of images, a that of their windows. */
HU_WINDOWS(max_pool_back, 0,
           task->windows.places[window * cols + j + k] == (float)place ? task->a[window * cols + j + k] : 0)
HU_WINDOWS(mean_pool_back, hui_window_inside(task, image, y, x).part, task->a[window * cols + j + k] * by)

/* z gets the first largest pixel of each window of a, and windows.places its number in the window; a NaN is largest. */
HU_AT(max_pool) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t cols = task->cols, per = sizes->down * sizes->across;
  const hu_window_inside in = hui_window_inside(task, r / per, r % per / sizes->across, r % sizes->across);
  float *z = task->z + r * cols, *places = task->windows.places + r * cols;
  const float first = (float)(in.y0 * sizes->wide + in.x0);
  HU_EACH_COLUMN {
    z[j] = task->a[in.at * cols + j];
    places[j] = first;
  }
  for (size_t y = in.y0; y < in.y1; y++) {
    for (size_t x = in.x0; x < in.x1; x++) {
      const float *a = task->a + (in.at + (y - in.y0) * sizes->width + x - in.x0) * cols;
      const float place = (float)(y * sizes->wide + x);
      HU_EACH_COLUMN {
        int better = (a[j] > z[j]) | ((a[j] != a[j]) & (z[j] == z[j]));
        z[j] = better ? a[j] : z[j];
        places[j] = better ? place : places[j];
      }
    }
  }
}

/* z is the sum of the pixels of each window times 1 over how many count. */
HU_AT(mean_pool) {
  const hu_window_sizes *sizes = &task->windows.sizes;
  const size_t cols = task->cols, per = sizes->down * sizes->across;
  const hu_window_inside in = hui_window_inside(task, r / per, r % per / sizes->across, r % sizes->across);
  float *z = task->z + r * cols;
  HU_EACH_COLUMN z[j] = 0;
  for (size_t y = in.y0; y < in.y1; y++) {
    for (size_t x = in.x0; x < in.x1; x++) {
      const float *a = task->a + (in.at + (y - in.y0) * sizes->width + x - in.x0) * cols;
      HU_EACH_COLUMN z[j] += a[j];
    }
  }
  HU_EACH_COLUMN z[j] *= in.part;
}

/* ---- losses ---- */

/* z[j] is the logarithm a[j] less the number that row j of b, of loss.cols columns, has at its label; it is 0 without a
 * label. There is one row. */
HU_AT(entropy) {
  (void)r;
  for (size_t j = j0; j < j1; j++) {
    const uint32_t label = task->loss.labels[j];
    task->z[j] = label == HU_LABEL_NONE ? 0 : task->a[j] - task->b[j * task->loss.cols + label];
  }
}

/* a holds the shares, loss.gradient the gradient of the loss. The gradients z of a row without a label are 0. */
HU_AT(entropy_back) {
  const size_t at = r * task->cols, label = task->loss.labels[r];
  const float *a = task->a + at, by = task->loss.gradient[0] * task->p;
  float *z = task->z + at;
  if (label == HU_LABEL_NONE) {
    HU_EACH_COLUMN z[j] = 0;
  } else {
    HU_EACH_COLUMN z[j] = (j == label ? a[j] - 1 : a[j]) * by;
  }
}

/* z = a - b, and loss.terms what the loss makes of that. */
#define HU_DISTANCE(name, value)                             \
  HU_AT(name) {                                              \
    const size_t at = r * task->cols;                        \
    const float *a = task->a + at, *b = task->b + at;        \
    float *z = task->z + at, *terms = task->loss.terms + at; \
    HU_EACH_COLUMN {                                         \
      const float less = a[j] - b[j];                        \
      z[j] = less;                                           \
      terms[j] = (value);                                    \
    }                                                        \
  }
HU_DISTANCE(distance, (less * less))
HU_DISTANCE(absolute, fabsf(less))

/* z is the gradient of the distances a; loss.gradient is that of the loss. */
HU_AT(distance_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, by = task->loss.gradient[0] * task->p;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] * by;
}

/* As distance_back, with the sign of a instead of a; a NaN stays a NaN, and 0 becomes +0. */
HU_AT(absolute_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, by = task->loss.gradient[0] * task->p;
  float *z = task->z + at;
  HU_EACH_COLUMN z[j] = a[j] > 0 ? by : a[j] < 0 ? -by : a[j] != a[j] ? a[j] : 0;
}

/* ---- tokens: one row a ---- */

/* Sets *tokens.flag to 1 if a token is not a whole number below tokens.vocabulary. */
HU_AT(tokens) {
  (void)r;
  for (size_t j = j0; j < j1; j++) {
    const float x = task->a[j];
    if (!(x >= 0 && x < (float)task->tokens.vocabulary) || x != (float)(size_t)x) *task->tokens.flag = 1;
  }
}

/* Row r of z is row a[r] of b, which has tokens.vocabulary rows; it is the first one where b has no row a[r]. */
HU_AT(gather) {
  const float token = task->a[r];
  const float *b = task->b + (token >= 0 && token < (float)task->tokens.vocabulary ? (size_t)token : 0) * task->cols;
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = b[j];
}

/* Adds row i of the tokens.rows rows of b to row a[i] of z, in order. */
HU_AT(scatter) {
  (void)r;
  for (size_t i = 0; i < task->tokens.rows; i++) {
    float *z = task->z + (size_t)task->a[i] * task->cols;
    const float *b = task->b + i * task->cols;
    HU_EACH_COLUMN z[j] += b[j];
  }
}

/* ---- cells of cols units: rows of cell.sums_x and cell.sums_h have their parts side by side; cell.kept has part after
 * part, each rows x cols ---- */

/* Adds the sums of the first two parts. */
HU_AT(gru_gates) {
  const size_t units = task->cols, all = task->rows * units;
  const float *sums_x = task->cell.sums_x + 3 * units * r, *sums_h = task->cell.sums_h + 3 * units * r;
  float *kept = task->cell.kept + units * r;
  HU_EACH_COLUMN {
    kept[j] = sums_x[j] + sums_h[j];
    kept[all + j] = sums_x[units + j] + sums_h[units + j];
  }
}

HU_AT(gru_candidate) {
  const size_t units = task->cols, all = task->rows * units;
  const float *sums_x = task->cell.sums_x + 3 * units * r, *sums_h = task->cell.sums_h + 3 * units * r;
  float *kept = task->cell.kept + units * r;
  HU_EACH_COLUMN kept[2 * all + j] = sums_x[2 * units + j] + kept[all + j] * sums_h[2 * units + j];
}

/* z is the state after the step, cell.state the one before it. */
HU_AT(gru_state) {
  const size_t units = task->cols, all = task->rows * units;
  const float *kept = task->cell.kept + units * r, *state = task->cell.state + units * r;
  float *z = task->z + units * r;
  HU_EACH_COLUMN z[j] = (1 - kept[j]) * kept[2 * all + j] + kept[j] * state[j];
}

/* Makes of cell.dz, the gradient of the state after the step, those of both sums and of the state before it. */
HU_AT(gru_back) {
  const size_t units = task->cols, all = task->rows * units;
  const float *kept = task->cell.kept + units * r, *state = task->cell.state + units * r;
  const float *sums_h = task->cell.sums_h + 3 * units * r, *dz = task->cell.dz + units * r;
  float *d_sums_x = task->cell.d_sums_x + 3 * units * r, *d_sums_h = task->cell.d_sums_h + 3 * units * r;
  float *d_state = task->cell.d_state + units * r;
  HU_EACH_COLUMN {
    float update = kept[j], reset = kept[all + j], candidate = kept[2 * all + j];
    float d_candidate = dz[j] * (1 - update) * (1 - candidate * candidate);
    float d_reset = d_candidate * sums_h[2 * units + j];
    d_sums_x[2 * units + j] = d_candidate;
    d_sums_h[2 * units + j] = d_candidate * reset;
    d_sums_x[j] = d_sums_h[j] = dz[j] * (state[j] - candidate) * (update * (1 - update));
    d_sums_x[units + j] = d_sums_h[units + j] = d_reset * (reset * (1 - reset));
    d_state[j] = dz[j] * update;
  }
}

HU_AT(lstm_gates) {
  const size_t units = task->cols, all = task->rows * units;
  const float *sums_x = task->cell.sums_x + 4 * units * r, *sums_h = task->cell.sums_h + 4 * units * r;
  float *kept = task->cell.kept + units * r;
  for (size_t i = 0; i < 4; i++) {
    HU_EACH_COLUMN kept[i * all + j] = sums_x[i * units + j] + sums_h[i * units + j];
  }
  if (task->p != 0) {
    const float bias = task->p;
    HU_EACH_COLUMN kept[all + j] += bias; /* of the forget gate */
  }
}

/* A state has h and c side by side. This makes the c of z, the state after the step, and keeps it as the last part. */
HU_AT(lstm_cell) {
  const size_t units = task->cols, all = task->rows * units;
  const float *c = task->cell.state + 2 * units * r + units;
  float *z = task->z + 2 * units * r + units, *kept = task->cell.kept + units * r;
  HU_EACH_COLUMN {
    float next = kept[all + j] * c[j] + kept[j] * kept[3 * all + j];
    z[j] = next;
    kept[4 * all + j] = next;
  }
}

/* This makes the h of z. */
HU_AT(lstm_state) {
  const size_t units = task->cols, all = task->rows * units;
  const float *kept = task->cell.kept + units * r;
  float *z = task->z + 2 * units * r;
  HU_EACH_COLUMN z[j] = kept[2 * all + j] * kept[4 * all + j];
}

/* Makes of cell.dz, the gradient of the state after the step, those of the sums, which are equal for both, and of the
 * state before it. */
HU_AT(lstm_back) {
  const size_t units = task->cols, all = task->rows * units;
  const float *kept = task->cell.kept + units * r, *c = task->cell.state + 2 * units * r + units;
  const float *dh = task->cell.dz + 2 * units * r, *dc = dh + units;
  float *d_sums = task->cell.d_sums_x + 4 * units * r, *d_state = task->cell.d_state + 2 * units * r;
  HU_EACH_COLUMN {
    float in = kept[j], forget = kept[all + j], out = kept[2 * all + j], new_c = kept[3 * all + j];
    float tanh_c = kept[4 * all + j], d = dc[j] + dh[j] * out * (1 - tanh_c * tanh_c);
    d_sums[j] = d * new_c * (in * (1 - in));
    d_sums[units + j] = d * c[j] * (forget * (1 - forget));
    d_sums[2 * units + j] = dh[j] * tanh_c * (out * (1 - out));
    d_sums[3 * units + j] = d * in * (1 - new_c * new_c);
    d_state[j] = 0;
    d_state[units + j] = d * forget;
  }
}

#endif
