/* SPDX-License-Identifier: MIT */
/* Convolutions under `fp32` on the CPU, without a matrix of patches: every row of windows is a product whose left
 * operand is the image itself, one kernel row after another, so that each sum is the chain that the patches' product
 * has. Images have their zeros around them; weights are padded to panels of 16 columns. */
#include <stdlib.h>
#include <string.h>

#include "train/engine/convolve.h"

enum { PANEL = 16, BUFFER = 8192 };

typedef struct image_shape {
  size_t across, down, height, width, line, area; /* line, area: numbers of a kernel row, of a kernel */
  size_t step, row, image;                        /* from window to window, padded row to row, image to image */
  size_t outputs, broad, deep;                    /* outputs and area in whole panels */
} image_shape;

static size_t panels(size_t n) { return (n + PANEL - 1) / PANEL * PANEL; }

static image_shape shape_of(const hu_convolution *convolution) {
  const hu_window_sizes *sizes = &convolution->windows;
  image_shape shape;
  shape.across = sizes->across;
  shape.down = sizes->down;
  shape.height = sizes->height;
  shape.width = sizes->width;
  shape.line = sizes->wide * convolution->channels;
  shape.area = sizes->high * shape.line;
  shape.step = sizes->stride_across * convolution->channels;
  shape.row = hui_frame_row(convolution);
  shape.image = hui_frame_size(convolution);
  shape.outputs = convolution->outputs;
  shape.broad = panels(convolution->outputs);
  shape.deep = panels(shape.area);
  return shape;
}

typedef struct convolve_call {
  const hu_cpu *cpu;
  const hu_convolution *convolution;
  image_shape shape;
  hu_tile_loop *tiles;
  const float *w; /* in panels */
  float *dw;
  const hu_rounding *rounding; /* of what windows give to pixels; NULL: none */
  hu_rounding_counts *counts;  /* one per image; NULL: those of the convolution, and images come one after another */
} convolve_call;

/* Copies rows x cols of x into rows x broad of z, zeros behind. */
static void broaden(size_t rows, size_t cols, float *z, size_t broad, const float *x, size_t ldx) {
  for (size_t i = 0; i < rows; i++) {
    memcpy(z + i * broad, x + i * ldx, cols * sizeof *z);
    memset(z + i * broad + cols, 0, (broad - cols) * sizeof *z);
  }
}

/* ---- the result: image by image ---- */

/* Computes n windows from number `from` of a row of windows whose first pixels begin at x. */
static void some_windows(const convolve_call *call, const float *x, size_t from, size_t n, float *z) {
  const image_shape *shape = &call->shape;
  float buffer[BUFFER], *sums = shape->broad == shape->outputs ? z + from * shape->outputs : buffer;
  memset(sums, 0, n * shape->broad * sizeof *sums);
  for (size_t i = 0; i < call->convolution->windows.high; i++) {
    for (size_t j = 0; j < shape->broad; j += PANEL) {
      call->tiles(n, shape->line, sums + j, shape->broad, x + i * shape->row + from * shape->step, shape->step, 1,
                  call->w + i * shape->line * shape->broad + j, shape->broad);
    }
  }
  for (size_t i = 0; sums == buffer && i < n; i++) {
    memcpy(z + (from + i) * shape->outputs, buffer + i * shape->broad, shape->outputs * sizeof *z);
  }
}

static void result_part(void *context, size_t image) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  const float *x = call->convolution->framed + image * shape->image;
  const float *before = call->convolution->x + image * shape->height * shape->width * call->convolution->channels;
  if (hui_has_border(&call->convolution->windows))
    hui_frame_image(call->convolution, before, call->convolution->framed + image * shape->image);
  for (size_t y = 0; y < shape->down; y++) {
    float *z = call->convolution->z + (image * shape->down + y) * shape->across * shape->outputs;
    const float *row = x + y * call->convolution->windows.stride_down * shape->row;
    for (size_t from = 0, n; from < shape->across; from += n) {
      n = BUFFER / shape->broad < shape->across - from ? BUFFER / shape->broad : shape->across - from;
      some_windows(call, row, from, n, z);
    }
  }
}

/* ---- gradients of weights: kernel row by kernel row, panel by panel ---- */

static void weights_part(void *context, size_t part) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  size_t i = part / (shape->broad / PANEL), j = part % (shape->broad / PANEL) * PANEL;
  size_t cols = shape->outputs - j < PANEL ? shape->outputs - j : PANEL;
  float buffer[BUFFER], *sums = call->dw + i * shape->line * shape->broad + j;
  for (size_t p = 0; p < shape->line; p++) memset(sums + p * shape->broad, 0, PANEL * sizeof *sums);
  for (size_t y = 0; y < call->convolution->images * shape->down; y++) {
    const float *x = call->convolution->framed + y / shape->down * shape->image +
                     (y % shape->down * call->convolution->windows.stride_down + i) * shape->row;
    const float *dz = call->convolution->dz + y * shape->across * shape->outputs + j;
    if (cols < PANEL) broaden(shape->across, cols, buffer, PANEL, dz, shape->outputs);
    call->tiles(shape->line, shape->across, sums, shape->broad, x, 1, shape->step, cols < PANEL ? buffer : dz,
                cols < PANEL ? PANEL : shape->outputs);
  }
}

/* ---- gradients of images: window by window, each added to its pixels ---- */

static void scatter(const convolve_call *call, size_t y, size_t x, const float *dp, float *dx) {
  const image_shape *shape = &call->shape;
  const size_t top = call->convolution->windows.top;
  size_t side = call->convolution->windows.left * call->convolution->channels,
         inside = shape->width * call->convolution->channels, start = x * shape->step;
  size_t from = start < side ? side - start : 0;
  size_t to = start + shape->line > side + inside ? side + inside - start : shape->line;
  for (size_t i = 0; i < call->convolution->windows.high; i++) {
    size_t row = y * call->convolution->windows.stride_down + i;
    if (row < top || row - top >= shape->height) continue;
    float *z = dx + (row - top) * inside + start - side;
    const float *p = dp + i * shape->line;
    for (size_t j = from; j < to; j++) z[j] += p[j];
  }
}

/* Rounds rows of `deep` numbers. What is behind a window's own numbers, 0 times an infinity for example, is not
 * counted. */
static void round_gifts(const convolve_call *call, size_t n, float *x, size_t image) {
  const image_shape *shape = &call->shape;
  hu_rounding_counts counts, *to = call->counts ? &call->counts[image] : call->convolution->counts;
  for (size_t i = 0; i < n; i++) memset(x + i * shape->deep + shape->area, 0, (shape->deep - shape->area) * sizeof *x);
  memset(&counts, 0, sizeof counts);
  hui_cpu_notify(call->cpu, call->convolution, 0);
  hu_status done = hu_rounding_apply(1, n * shape->deep, x, x, call->rounding, NULL, &counts);
  hui_cpu_notify(call->cpu, call->convolution, 1);
  if (done != HU_OK) return; /* cannot be: checked */
  to->over += counts.over;
  hu_events_add(&to->events, &counts.events);
}

/* What n windows from `from` of a row of windows give: rows of `deep` numbers. */
static void gifts(const convolve_call *call, size_t image, size_t y, size_t from, size_t n, float *buffer) {
  const image_shape *shape = &call->shape;
  const float *dz = call->convolution->dz + ((image * shape->down + y) * shape->across + from) * shape->outputs;
  memset(buffer, 0, n * shape->deep * sizeof *buffer);
  for (size_t j = 0; j < shape->deep; j += PANEL) {
    call->tiles(n, shape->outputs, buffer + j, shape->deep, dz, shape->outputs, 1, call->w + j, shape->deep);
  }
}

static float *clear_image(const convolve_call *call, size_t image) {
  const image_shape *shape = &call->shape;
  size_t numbers = shape->height * shape->width * call->convolution->channels;
  float *dx = call->convolution->dx + image * numbers;
  memset(dx, 0, numbers * sizeof *dx);
  return dx;
}

static void images_part(void *context, size_t image) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  float buffer[BUFFER], *dx = clear_image(call, image);
  for (size_t y = 0; y < shape->down; y++) {
    for (size_t from = 0, n; from < shape->across; from += n) {
      n = BUFFER / shape->deep < shape->across - from ? BUFFER / shape->deep : shape->across - from;
      gifts(call, image, y, from, n, buffer);
      if (call->rounding) round_gifts(call, n, buffer, image);
      for (size_t i = 0; i < n; i++) scatter(call, y, from + i, buffer + i * shape->deep, dx);
    }
  }
}

/* The same in two, for what has to be rounded as a whole between them. */
static void gifts_part(void *context, size_t image) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  float buffer[BUFFER];
  for (size_t y = 0; y < shape->down; y++) {
    float *z = call->convolution->gifts + (image * shape->down + y) * shape->across * shape->area;
    for (size_t from = 0, n; from < shape->across; from += n) {
      n = BUFFER / shape->deep < shape->across - from ? BUFFER / shape->deep : shape->across - from;
      float *to = shape->deep == shape->area ? z + from * shape->area : buffer;
      gifts(call, image, y, from, n, to);
      for (size_t i = 0; to == buffer && i < n; i++) {
        memcpy(z + (from + i) * shape->area, buffer + i * shape->deep, shape->area * sizeof *z);
      }
    }
  }
}

static void scatter_part(void *context, size_t image) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  float *dx = clear_image(call, image);
  const float *dp = call->convolution->gifts + image * shape->down * shape->across * shape->area;
  for (size_t y = 0; y < shape->down; y++) {
    for (size_t x = 0; x < shape->across; x++, dp += shape->area) scatter(call, y, x, dp, dx);
  }
}

static void frames_part(void *context, size_t image) {
  const convolve_call *call = context;
  const image_shape *shape = &call->shape;
  hui_frame_image(call->convolution,
                  call->convolution->x + image * shape->height * shape->width * call->convolution->channels,
                  call->convolution->framed + image * shape->image);
}

/* ---- calls ---- */

static void transpose_weights(const convolve_call *call, float *z) {
  const image_shape *shape = &call->shape;
  for (size_t o = 0; o < shape->outputs; o++) {
    for (size_t p = 0; p < shape->area; p++) z[o * shape->deep + p] = call->convolution->w[p * shape->outputs + o];
    memset(z + o * shape->deep + shape->area, 0, (shape->deep - shape->area) * sizeof *z);
  }
}

static void give_images(const hu_cpu *cpu, size_t work, convolve_call *call) {
  const hu_convolution *convolution = call->convolution;
  hu_rounding_counts *apart = NULL;
  if (convolution->rounding && convolution->rounding->kind != HU_ROUND_KEEP) {
    call->rounding = convolution->rounding;
    apart = calloc(convolution->images, sizeof *apart);
    call->counts = apart;
  }
  transpose_weights(call, convolution->buffer);
  call->w = convolution->buffer;
  hui_cpu_run_work(cpu, convolution->images, call->rounding && !apart ? 0 : work, images_part, call);
  for (size_t i = 0; apart && i < convolution->images; i++) {
    convolution->counts->over += apart[i].over;
    hu_events_add(&convolution->counts->events, &apart[i].events);
  }
  if (call->rounding)
    convolution->counts->elements +=
        (uint64_t)convolution->images * call->shape.down * call->shape.across * call->shape.area;
  free(apart);
}

int hui_cpu_convolve(void *self, int what, const hu_convolution *convolution) {
  const hu_cpu *cpu = self;
  convolve_call call = {.cpu = cpu,
                        .convolution = convolution,
                        .shape = shape_of(convolution),
                        .tiles = cpu->loops->tiles,
                        .w = convolution->w,
                        .dw = convolution->dw};
  const image_shape *shape = &call.shape;
  int depthwise = convolution->windows.groups > 1;
  if (convolution->windows.apart_down > 1 || convolution->windows.apart_across > 1) return 0;
  if (depthwise && !hui_cpu_depthwise_possible(cpu, convolution)) return 0;
  if (!call.tiles || (!depthwise && (shape->broad > BUFFER || shape->deep > BUFFER || shape->across * PANEL > BUFFER)))
    return 0;
  if (what == HU_CONVOLVE_POSSIBLE) return 1;
  if (depthwise && what != HU_CONVOLVE_FRAMES) return hui_cpu_depthwise(cpu, what, convolution);
  if (what == HU_CONVOLVE_ROUND) return hui_cpu_round_image(cpu, convolution);
  if (what == HU_CONVOLVE_BLOCKS) return hui_cpu_blocks_possible(convolution);
  if (what >= HU_CONVOLVE_RESULT_BLOCKS) return hui_cpu_convolve_blocks(cpu, what, convolution);
  size_t work = convolution->images * shape->down * shape->across * shape->area * shape->outputs;
  if (what == HU_CONVOLVE_RESULT) {
    if (shape->broad != shape->outputs) {
      broaden(shape->area, shape->outputs, convolution->buffer, shape->broad, convolution->w, shape->outputs);
      call.w = convolution->buffer;
    }
    hui_cpu_run_work(cpu, convolution->images, work, result_part, &call);
  } else if (what == HU_CONVOLVE_WEIGHTS) {
    if (shape->broad != shape->outputs) call.dw = convolution->buffer;
    hui_cpu_run_work(cpu, convolution->windows.high * shape->broad / PANEL, work, weights_part, &call);
    for (size_t p = 0; call.dw != convolution->dw && p < shape->area; p++) {
      memcpy(convolution->dw + p * shape->outputs, call.dw + p * shape->broad, shape->outputs * sizeof *call.dw);
    }
  } else if (what == HU_CONVOLVE_IMAGES) {
    give_images(cpu, work, &call);
  } else if (what == HU_CONVOLVE_GIFTS) {
    transpose_weights(&call, convolution->buffer);
    call.w = convolution->buffer;
    hui_cpu_run_work(cpu, convolution->images, work, gifts_part, &call);
  } else if (what == HU_CONVOLVE_FRAMES) {
    hui_cpu_run_work(cpu, convolution->images, convolution->images * shape->image, frames_part, &call);
  } else {
    hui_cpu_run_work(cpu, convolution->images, work, scatter_part, &call);
  }
  return 1;
}
