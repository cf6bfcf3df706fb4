/* SPDX-License-Identifier: MIT */
/* Convolutions under `fp32` by the processor, without a matrix of patches: every row of windows is a product whose left
 * operand is the image itself, one kernel row after another, so that each sum is the chain that the patches' product
 * has. Images have their zeros around them; weights are padded to panels of 16 columns. */
#include <stdlib.h>
#include <string.h>

#include "train/engine/convolve.h"

enum { PANEL = 16, ROOM = 8192 };

typedef struct shape {
  size_t across, down, height, width, pad, line, area; /* line, area: numbers of a kernel row, of a kernel */
  size_t step, row, image;                             /* from window to window, padded row to row, image to image */
  size_t outputs, broad, deep;                         /* outputs and area in whole panels */
} shape;

static size_t panels(size_t n) { return (n + PANEL - 1) / PANEL * PANEL; }

static shape shape_of(const hu_convolution *c) {
  const size_t *n = c->n;
  shape s;
  s.across = n[HU_ACROSS];
  s.down = n[HU_DOWN];
  s.height = n[HU_HEIGHT];
  s.width = n[HU_WIDTH];
  s.pad = n[HU_PAD];
  s.line = n[HU_WIDE] * c->channels;
  s.area = n[HU_HIGH] * s.line;
  s.step = n[HU_STRIDE] * c->channels;
  s.row = (s.width + 2 * s.pad) * c->channels;
  s.image = (s.height + 2 * s.pad) * s.row;
  s.outputs = c->outputs;
  s.broad = panels(c->outputs);
  s.deep = panels(s.area);
  return s;
}

typedef struct call {
  const hu_cpu *cpu;
  const hu_convolution *c;
  shape s;
  hu_tile_loop *tiles;
  const float *w; /* in panels */
  float *dw;
  const hu_rounding *rounding; /* of what windows give to pixels; NULL: none */
  hu_rounding_counts *counts;  /* one an image; NULL: c's, and images come one after another */
} call;

/* rows x cols of x into rows x broad of z, zeros behind. */
static void broaden(size_t rows, size_t cols, float *z, size_t broad, const float *x, size_t ldx) {
  for (size_t i = 0; i < rows; i++) {
    memcpy(z + i * broad, x + i * ldx, cols * sizeof *z);
    memset(z + i * broad + cols, 0, (broad - cols) * sizeof *z);
  }
}

/* ---- the result: image by image ---- */

/* n windows from number `from` of a row of windows whose first pixels begin at x. */
static void some_windows(const call *k, const float *x, size_t from, size_t n, float *z) {
  const shape *s = &k->s;
  float room[ROOM], *sums = s->broad == s->outputs ? z + from * s->outputs : room;
  memset(sums, 0, n * s->broad * sizeof *sums);
  for (size_t i = 0; i < k->c->n[HU_HIGH]; i++) {
    for (size_t j = 0; j < s->broad; j += PANEL) {
      k->tiles(n, s->line, sums + j, s->broad, x + i * s->row + from * s->step, s->step, 1,
               k->w + i * s->line * s->broad + j, s->broad);
    }
  }
  for (size_t i = 0; sums == room && i < n; i++) {
    memcpy(z + (from + i) * s->outputs, room + i * s->broad, s->outputs * sizeof *z);
  }
}

static void result_part(void *context, size_t image) {
  const call *k = context;
  const shape *s = &k->s;
  const float *x = k->c->framed + image * s->image;
  const float *before = k->c->x + image * s->height * s->width * k->c->channels;
  if (s->pad) hu_frame_image(k->c, before, k->c->framed + image * s->image);
  for (size_t y = 0; y < s->down; y++) {
    float *z = k->c->z + (image * s->down + y) * s->across * s->outputs;
    const float *row = x + y * k->c->n[HU_STRIDE] * s->row;
    for (size_t from = 0, n; from < s->across; from += n) {
      n = ROOM / s->broad < s->across - from ? ROOM / s->broad : s->across - from;
      some_windows(k, row, from, n, z);
    }
  }
}

/* ---- gradients of weights: kernel row by kernel row, panel by panel ---- */

static void weights_part(void *context, size_t part) {
  const call *k = context;
  const shape *s = &k->s;
  size_t i = part / (s->broad / PANEL), j = part % (s->broad / PANEL) * PANEL;
  size_t cols = s->outputs - j < PANEL ? s->outputs - j : PANEL;
  float room[ROOM], *sums = k->dw + i * s->line * s->broad + j;
  for (size_t p = 0; p < s->line; p++) memset(sums + p * s->broad, 0, PANEL * sizeof *sums);
  for (size_t y = 0; y < k->c->images * s->down; y++) {
    const float *x = k->c->framed + y / s->down * s->image + (y % s->down * k->c->n[HU_STRIDE] + i) * s->row;
    const float *dz = k->c->dz + y * s->across * s->outputs + j;
    if (cols < PANEL) broaden(s->across, cols, room, PANEL, dz, s->outputs);
    k->tiles(s->line, s->across, sums, s->broad, x, 1, s->step, cols < PANEL ? room : dz,
             cols < PANEL ? PANEL : s->outputs);
  }
}

/* ---- gradients of images: window by window, each added to its pixels ---- */

static void scatter(const call *k, size_t y, size_t x, const float *dp, float *dx) {
  const shape *s = &k->s;
  size_t side = s->pad * k->c->channels, inside = s->width * k->c->channels, start = x * s->step;
  size_t from = start < side ? side - start : 0;
  size_t to = start + s->line > side + inside ? side + inside - start : s->line;
  for (size_t i = 0; i < k->c->n[HU_HIGH]; i++) {
    size_t row = y * k->c->n[HU_STRIDE] + i;
    if (row < s->pad || row - s->pad >= s->height) continue;
    float *z = dx + (row - s->pad) * inside + start - side;
    const float *p = dp + i * s->line;
    for (size_t j = from; j < to; j++) z[j] += p[j];
  }
}

/* Rows of `deep` numbers; what is behind a window's own, 0 times an infinity for example, is no number of it. */
static void round_gifts(const call *k, size_t n, float *x, size_t image) {
  const shape *s = &k->s;
  hu_rounding_counts counts, *to = k->counts ? &k->counts[image] : k->c->counts;
  for (size_t i = 0; i < n; i++) memset(x + i * s->deep + s->area, 0, (s->deep - s->area) * sizeof *x);
  memset(&counts, 0, sizeof counts);
  hu_cpu_tell(k->cpu, k->c, 0);
  hu_status done = hu_rounding_apply(1, n * s->deep, x, x, k->rounding, NULL, &counts);
  hu_cpu_tell(k->cpu, k->c, 1);
  if (done != HU_OK) return; /* cannot be: checked */
  to->over += counts.over;
  hu_events_add(&to->events, &counts.events);
}

/* What n windows from `from` of a row of windows give: rows of `deep` numbers. */
static void gifts(const call *k, size_t image, size_t y, size_t from, size_t n, float *room) {
  const shape *s = &k->s;
  const float *dz = k->c->dz + ((image * s->down + y) * s->across + from) * s->outputs;
  memset(room, 0, n * s->deep * sizeof *room);
  for (size_t j = 0; j < s->deep; j += PANEL) {
    k->tiles(n, s->outputs, room + j, s->deep, dz, s->outputs, 1, k->w + j, s->deep);
  }
}

static float *clear_image(const call *k, size_t image) {
  const shape *s = &k->s;
  size_t numbers = s->height * s->width * k->c->channels;
  float *dx = k->c->dx + image * numbers;
  memset(dx, 0, numbers * sizeof *dx);
  return dx;
}

static void images_part(void *context, size_t image) {
  const call *k = context;
  const shape *s = &k->s;
  float room[ROOM], *dx = clear_image(k, image);
  for (size_t y = 0; y < s->down; y++) {
    for (size_t from = 0, n; from < s->across; from += n) {
      n = ROOM / s->deep < s->across - from ? ROOM / s->deep : s->across - from;
      gifts(k, image, y, from, n, room);
      if (k->rounding) round_gifts(k, n, room, image);
      for (size_t i = 0; i < n; i++) scatter(k, y, from + i, room + i * s->deep, dx);
    }
  }
}

/* The same in two, for what has to be rounded as a whole between them. */
static void gifts_part(void *context, size_t image) {
  const call *k = context;
  const shape *s = &k->s;
  float room[ROOM];
  for (size_t y = 0; y < s->down; y++) {
    float *z = k->c->gifts + (image * s->down + y) * s->across * s->area;
    for (size_t from = 0, n; from < s->across; from += n) {
      n = ROOM / s->deep < s->across - from ? ROOM / s->deep : s->across - from;
      float *to = s->deep == s->area ? z + from * s->area : room;
      gifts(k, image, y, from, n, to);
      for (size_t i = 0; to == room && i < n; i++) {
        memcpy(z + (from + i) * s->area, room + i * s->deep, s->area * sizeof *z);
      }
    }
  }
}

static void scatter_part(void *context, size_t image) {
  const call *k = context;
  const shape *s = &k->s;
  float *dx = clear_image(k, image);
  const float *dp = k->c->gifts + image * s->down * s->across * s->area;
  for (size_t y = 0; y < s->down; y++) {
    for (size_t x = 0; x < s->across; x++, dp += s->area) scatter(k, y, x, dp, dx);
  }
}

static void frames_part(void *context, size_t image) {
  const call *k = context;
  const shape *s = &k->s;
  hu_frame_image(k->c, k->c->x + image * s->height * s->width * k->c->channels, k->c->framed + image * s->image);
}

/* ---- calls ---- */

static void transpose_weights(const call *k, float *z) {
  const shape *s = &k->s;
  for (size_t o = 0; o < s->outputs; o++) {
    for (size_t p = 0; p < s->area; p++) z[o * s->deep + p] = k->c->w[p * s->outputs + o];
    memset(z + o * s->deep + s->area, 0, (s->deep - s->area) * sizeof *z);
  }
}

static void give_images(const hu_cpu *cpu, size_t work, call *k) {
  const hu_convolution *c = k->c;
  hu_rounding_counts *apart = NULL;
  if (c->rounding && c->rounding->kind != HU_ROUND_KEEP) {
    k->rounding = c->rounding;
    apart = calloc(c->images, sizeof *apart);
    k->counts = apart;
  }
  transpose_weights(k, c->room);
  k->w = c->room;
  hu_cpu_run_work(cpu, c->images, k->rounding && !apart ? 0 : work, images_part, k);
  for (size_t i = 0; apart && i < c->images; i++) {
    c->counts->over += apart[i].over;
    hu_events_add(&c->counts->events, &apart[i].events);
  }
  if (k->rounding) c->counts->elements += (uint64_t)c->images * k->s.down * k->s.across * k->s.area;
  free(apart);
}

int hu_cpu_convolve(void *self, int what, const hu_convolution *c) {
  const hu_cpu *cpu = self;
  call k = {cpu, c, shape_of(c), cpu->loops->tiles, c->w, c->dw, NULL, NULL};
  const shape *s = &k.s;
  int depthwise = c->groups > 1;
  if (depthwise && !hu_cpu_depthwise_possible(cpu, c)) return 0;
  if (!k.tiles || (!depthwise && (s->broad > ROOM || s->deep > ROOM || s->across * PANEL > ROOM))) return 0;
  if (what == HU_CONVOLVE_POSSIBLE) return 1;
  if (depthwise && what != HU_CONVOLVE_FRAMES) return hu_cpu_depthwise(cpu, what, c);
  if (what == HU_CONVOLVE_ROUND) return hu_cpu_round_image(cpu, c);
  if (what == HU_CONVOLVE_BLOCKS) return hu_cpu_blocks_possible(c);
  if (what >= HU_CONVOLVE_RESULT_BLOCKS) return hu_cpu_convolve_blocks(cpu, what, c);
  size_t work = c->images * s->down * s->across * s->area * s->outputs;
  if (what == HU_CONVOLVE_RESULT) {
    if (s->broad != s->outputs) {
      broaden(s->area, s->outputs, c->room, s->broad, c->w, s->outputs);
      k.w = c->room;
    }
    hu_cpu_run_work(cpu, c->images, work, result_part, &k);
  } else if (what == HU_CONVOLVE_WEIGHTS) {
    if (s->broad != s->outputs) k.dw = c->room;
    hu_cpu_run_work(cpu, c->n[HU_HIGH] * s->broad / PANEL, work, weights_part, &k);
    for (size_t p = 0; k.dw != c->dw && p < s->area; p++) {
      memcpy(c->dw + p * s->outputs, k.dw + p * s->broad, s->outputs * sizeof *k.dw);
    }
  } else if (what == HU_CONVOLVE_IMAGES) {
    give_images(cpu, work, &k);
  } else if (what == HU_CONVOLVE_GIFTS) {
    transpose_weights(&k, c->room);
    k.w = c->room;
    hu_cpu_run_work(cpu, c->images, work, gifts_part, &k);
  } else if (what == HU_CONVOLVE_FRAMES) {
    hu_cpu_run_work(cpu, c->images, c->images * s->image, frames_part, &k);
  } else {
    hu_cpu_run_work(cpu, c->images, work, scatter_part, &k);
  }
  return 1;
}
