/* SPDX-License-Identifier: MIT */
/* Convolutions whose patches are rounded in blocks that lie within an image's rows of patches: patches are made,
 * rounded and multiplied image by image, so that they stay in the cache, in the order of the product of all of them. */
#include <string.h>

#include "train/engine/convolve.h"

enum { PANEL = 16, ROOM = 8192, GROUP = 32, STRIP = 48 };

typedef struct blocks {
  const hu_cpu *cpu;
  const hu_convolution *c;
  hu_tile_loop *tiles;
  size_t windows, area, outputs, broad; /* of an image, of a kernel; outputs in whole panels */
  size_t first, images;                 /* the group that is made now; of the result: how many parts there are */
  const float *w;                       /* in panels */
  float *dw;
  int product; /* 1: the result is made as well */
  hu_rounding_counts counts[GROUP];
  hu_status status[GROUP];
} blocks;

int hu_cpu_blocks_possible(const hu_convolution *c) {
  const hu_rounding *r = c->rounding;
  if (!r || r->kind != HU_ROUND_SCALED || r->mode.round >= HU_SRA || hu_rounding_check(r) != HU_OK) return 0;
  uint32_t rows = r->turned ? r->scaling.cols : r->scaling.rows;
  return rows && !r->scaling.tensor && c->n[HU_DOWN] * c->n[HU_ACROSS] % rows == 0;
}

static blocks blocks_of(const hu_cpu *cpu, const hu_convolution *c) {
  blocks b;
  memset(&b, 0, sizeof b);
  b.cpu = cpu;
  b.c = c;
  b.tiles = cpu->loops->tiles;
  b.windows = c->n[HU_DOWN] * c->n[HU_ACROSS];
  b.area = c->n[HU_HIGH] * c->n[HU_WIDE] * c->channels;
  b.outputs = c->outputs;
  b.broad = (c->outputs + PANEL - 1) / PANEL * PANEL;
  return b;
}

static void result_of(const blocks *b, const float *patches, float *z) {
  float room[ROOM];
  for (size_t from = 0, n; from < b->windows; from += n) {
    n = b->windows - from < ROOM / b->broad ? b->windows - from : ROOM / b->broad;
    float *sums = b->broad == b->outputs ? z + from * b->outputs : room;
    memset(sums, 0, n * b->broad * sizeof *sums);
    for (size_t j = 0; j < b->broad; j += PANEL) {
      b->tiles(n, b->area, sums + j, b->broad, patches + from * b->area, b->area, 1, b->w + j, b->broad);
    }
    for (size_t i = 0; sums == room && i < n; i++) {
      memcpy(z + (from + i) * b->outputs, room + i * b->broad, b->outputs * sizeof *z);
    }
  }
}

/* Patches of a framed image. */
static void make_patches(const blocks *b, const float *x, float *z) {
  const size_t *n = b->c->n, channels = b->c->channels, line = n[HU_WIDE] * channels;
  const size_t row = (n[HU_WIDTH] + 2 * n[HU_PAD]) * channels, step = n[HU_STRIDE] * channels;
  for (size_t y = 0; y < n[HU_DOWN]; y++) {
    const float *from = x + y * n[HU_STRIDE] * row;
    for (size_t j = 0; j < n[HU_ACROSS]; j++, from += step) {
      for (size_t i = 0; i < n[HU_HIGH]; i++, z += line) {
        for (size_t k = 0; k < line; k++) z[k] = from[i * row + k];
      }
    }
  }
}

/* An image's patches, rounded, where part `part` has them; and its result. */
static void one_image(blocks *b, size_t image, size_t part) {
  const hu_convolution *c = b->c;
  size_t numbers = c->n[HU_HEIGHT] * c->n[HU_WIDTH] * c->channels;
  float *patches = c->gathered + part * b->windows * b->area;
  const float *x = c->x + image * numbers;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.levels_off = b->cpu->levels_off;
  if (c->n[HU_PAD]) {
    size_t high = c->n[HU_HEIGHT] + 2 * c->n[HU_PAD], wide = c->n[HU_WIDTH] + 2 * c->n[HU_PAD];
    float *framed = c->framed + image * high * wide * c->channels;
    hu_frame_image(c, x, framed);
    x = framed;
  }
  make_patches(b, x, patches);
  hu_cpu_tell(b->cpu, c, 0);
  hu_status s = hu_rounding_apply(b->windows, b->area, patches, patches, c->rounding, &exec, &b->counts[part]);
  if (s != HU_OK) b->status[part] = s;
  hu_cpu_tell(b->cpu, c, 1);
  if (b->product) result_of(b, patches, c->z + image * b->windows * b->outputs);
}

static void image_part(void *context, size_t part) {
  blocks *b = context;
  one_image(b, b->first + part, part);
}

/* Every so many images from that of the part on, one after another where the first one's patches were. */
static void images_part(void *context, size_t part) {
  blocks *b = context;
  for (size_t image = part; image < b->c->images; image += b->images) one_image(b, image, part);
}

/* Adds the products of the group's windows to some rows of a panel of dW. */
static void strip_part(void *context, size_t part) {
  const blocks *b = context;
  size_t panels = b->broad / PANEL, row = part / panels * STRIP, j = part % panels * PANEL;
  size_t rows = b->area - row < STRIP ? b->area - row : STRIP;
  size_t cols = b->outputs - j < PANEL ? b->outputs - j : PANEL, all = b->images * b->windows;
  float room[ROOM], *sums = b->dw + row * b->broad + j;
  const float *dz = b->c->dz + b->first * b->windows * b->outputs + j;
  for (size_t i = 0; b->first == 0 && i < rows; i++) memset(sums + i * b->broad, 0, PANEL * sizeof *sums);
  for (size_t from = 0, n; from < all; from += n) {
    n = all - from < ROOM / PANEL ? all - from : ROOM / PANEL;
    const float *right = dz + from * b->outputs;
    for (size_t i = 0; cols < PANEL && i < n; i++) {
      memcpy(room + i * PANEL, right + i * b->outputs, cols * sizeof *room);
      memset(room + i * PANEL + cols, 0, (PANEL - cols) * sizeof *room);
    }
    b->tiles(rows, n, sums, b->broad, b->c->gathered + from * b->area + row, 1, b->area, cols < PANEL ? room : right,
             cols < PANEL ? PANEL : b->outputs);
  }
}

static void run(const hu_cpu *cpu, size_t images, size_t parts, void (*part)(void *context, size_t part), blocks *b) {
  if (b->windows * images * b->area * b->outputs >= HU_CPU_PRODUCTS_MIN) {
    hu_cpu_run(cpu, parts, part, b);
  } else {
    for (size_t i = 0; i < parts; i++) part(b, i);
  }
}

/* 0: a part failed. */
static int add_counts(blocks *b) {
  for (size_t i = 0; i < b->images; i++) {
    if (b->status[i] != HU_OK) return 0;
    b->c->counts->elements += b->counts[i].elements;
    hu_events_add(&b->c->counts->events, &b->counts[i].events);
  }
  memset(b->counts, 0, sizeof b->counts);
  return 1;
}

static int results(const hu_cpu *cpu, blocks *b) {
  const hu_convolution *c = b->c;
  size_t threads = cpu->threads < GROUP ? cpu->threads : GROUP;
  b->w = c->w;
  if (b->broad != b->outputs) {
    for (size_t i = 0; i < b->area; i++) {
      memcpy(c->room + i * b->broad, c->w + i * b->outputs, b->outputs * sizeof *c->room);
      memset(c->room + i * b->broad + b->outputs, 0, (b->broad - b->outputs) * sizeof *c->room);
    }
    b->w = c->room;
  }
  b->product = 1;
  b->images = c->images < threads ? c->images : threads;
  run(cpu, c->images, b->images, images_part, b);
  return add_counts(b);
}

/* A thread alone has the patches that it multiplies in its cache, several a few images between their meetings. */
static int weights(const hu_cpu *cpu, blocks *b) {
  const hu_convolution *c = b->c;
  size_t strips = (b->area + STRIP - 1) / STRIP * (b->broad / PANEL), group = cpu->threads > 1 ? 4 * cpu->threads : 1;
  if (group > GROUP) group = GROUP;
  b->dw = b->broad == b->outputs ? c->dw : c->room;
  for (b->first = 0; b->first < c->images; b->first += b->images) {
    b->images = c->images - b->first < group ? c->images - b->first : group;
    run(cpu, b->images, b->images, image_part, b);
    run(cpu, b->images, strips, strip_part, b);
    if (!add_counts(b)) return 0;
  }
  for (size_t i = 0; b->dw != c->dw && i < b->area; i++) {
    memcpy(c->dw + i * b->outputs, b->dw + i * b->broad, b->outputs * sizeof *c->dw);
  }
  return 1;
}

int hu_cpu_convolve_blocks(const hu_cpu *cpu, int what, const hu_convolution *c) {
  blocks b = blocks_of(cpu, c);
  return what == HU_CONVOLVE_RESULT_BLOCKS ? results(cpu, &b) : weights(cpu, &b);
}
