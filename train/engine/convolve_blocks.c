/* SPDX-License-Identifier: MIT */
/* Convolutions whose patches are rounded in blocks that lie within an image's rows of patches: patches are made,
 * rounded and multiplied image by image, so that they stay in the cache, in the order of the product of all of them. */
#include <string.h>

#include "train/engine/convolve.h"

enum { PANEL = 16, BUFFER = 8192, GROUP = 32, STRIP = 48 };

typedef struct image_blocks {
  const hu_cpu *cpu;
  const hu_convolution *convolution;
  hu_tile_loop *tiles;
  size_t windows, area, outputs, broad; /* of an image, of a kernel; outputs in whole panels */
  size_t first, images;                 /* the group that is made now; of the result: how many parts there are */
  const float *w;                       /* in panels */
  float *dw;
  int product; /* 1: the result is made as well */
  hu_rounding_counts counts[GROUP];
  hu_status status[GROUP];
} image_blocks;

int hui_cpu_blocks_possible(const hu_convolution *convolution) {
  const hu_rounding *rounding = convolution->rounding;
  if (!rounding || rounding->kind != HU_ROUND_SCALED || rounding->mode.round >= HU_SRA ||
      hu_rounding_check(rounding) != HU_OK)
    return 0;
  uint32_t rows = rounding->turned ? rounding->scaling.cols : rounding->scaling.rows;
  return rows && !rounding->scaling.tensor && convolution->windows.down * convolution->windows.across % rows == 0;
}

static image_blocks blocks_of(const hu_cpu *cpu, const hu_convolution *convolution) {
  image_blocks blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.cpu = cpu;
  blocks.convolution = convolution;
  blocks.tiles = cpu->loops->tiles;
  blocks.windows = convolution->windows.down * convolution->windows.across;
  blocks.area = convolution->windows.high * convolution->windows.wide * convolution->channels;
  blocks.outputs = convolution->outputs;
  blocks.broad = (convolution->outputs + PANEL - 1) / PANEL * PANEL;
  return blocks;
}

static void result_of(const image_blocks *blocks, const float *patches, float *z) {
  float buffer[BUFFER];
  for (size_t from = 0, n; from < blocks->windows; from += n) {
    n = blocks->windows - from < BUFFER / blocks->broad ? blocks->windows - from : BUFFER / blocks->broad;
    float *sums = blocks->broad == blocks->outputs ? z + from * blocks->outputs : buffer;
    memset(sums, 0, n * blocks->broad * sizeof *sums);
    for (size_t j = 0; j < blocks->broad; j += PANEL) {
      blocks->tiles(n, blocks->area, sums + j, blocks->broad, patches + from * blocks->area, blocks->area, 1,
                    blocks->w + j, blocks->broad);
    }
    for (size_t i = 0; sums == buffer && i < n; i++) {
      memcpy(z + (from + i) * blocks->outputs, buffer + i * blocks->broad, blocks->outputs * sizeof *z);
    }
  }
}

/* Makes the patches of a framed image. */
static void make_patches(const image_blocks *blocks, const float *x, float *z) {
  const hu_window_sizes *sizes = &blocks->convolution->windows;
  const size_t channels = blocks->convolution->channels, line = sizes->wide * channels;
  const size_t row = hui_frame_row(blocks->convolution), step = sizes->stride_across * channels;
  for (size_t y = 0; y < sizes->down; y++) {
    const float *from = x + y * sizes->stride_down * row;
    for (size_t j = 0; j < sizes->across; j++, from += step) {
      for (size_t i = 0; i < sizes->high; i++, z += line) {
        for (size_t k = 0; k < line; k++) z[k] = from[i * row + k];
      }
    }
  }
}

/* An image's patches, rounded, where part `part` has them; and its result. */
static void one_image(image_blocks *blocks, size_t image, size_t part) {
  const hu_convolution *convolution = blocks->convolution;
  size_t numbers = convolution->windows.height * convolution->windows.width * convolution->channels;
  float *patches = convolution->gathered + part * blocks->windows * blocks->area;
  const float *x = convolution->x + image * numbers;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.levels_off = blocks->cpu->levels_off;
  if (hui_has_border(&convolution->windows)) {
    float *framed = convolution->framed + image * hui_frame_size(convolution);
    hui_frame_image(convolution, x, framed);
    x = framed;
  }
  make_patches(blocks, x, patches);
  hui_cpu_notify(blocks->cpu, convolution, 0);
  hu_status status = hu_rounding_apply(blocks->windows, blocks->area, patches, patches, convolution->rounding, &exec,
                                       &blocks->counts[part]);
  if (status != HU_OK) blocks->status[part] = status;
  hui_cpu_notify(blocks->cpu, convolution, 1);
  if (blocks->product) result_of(blocks, patches, convolution->z + image * blocks->windows * blocks->outputs);
}

static void image_part(void *context, size_t part) {
  image_blocks *blocks = context;
  one_image(blocks, blocks->first + part, part);
}

/* Every so many images from that of the part on, one after another where the first one's patches were. */
static void images_part(void *context, size_t part) {
  image_blocks *blocks = context;
  for (size_t image = part; image < blocks->convolution->images; image += blocks->images)
    one_image(blocks, image, part);
}

/* Adds the products of the group's windows to some rows of a panel of dW. */
static void strip_part(void *context, size_t part) {
  const image_blocks *blocks = context;
  size_t panels = blocks->broad / PANEL, row = part / panels * STRIP, j = part % panels * PANEL;
  size_t rows = blocks->area - row < STRIP ? blocks->area - row : STRIP;
  size_t cols = blocks->outputs - j < PANEL ? blocks->outputs - j : PANEL, all = blocks->images * blocks->windows;
  float buffer[BUFFER], *sums = blocks->dw + row * blocks->broad + j;
  const float *dz = blocks->convolution->dz + blocks->first * blocks->windows * blocks->outputs + j;
  for (size_t i = 0; blocks->first == 0 && i < rows; i++) memset(sums + i * blocks->broad, 0, PANEL * sizeof *sums);
  for (size_t from = 0, n; from < all; from += n) {
    n = all - from < BUFFER / PANEL ? all - from : BUFFER / PANEL;
    const float *right = dz + from * blocks->outputs;
    for (size_t i = 0; cols < PANEL && i < n; i++) {
      memcpy(buffer + i * PANEL, right + i * blocks->outputs, cols * sizeof *buffer);
      memset(buffer + i * PANEL + cols, 0, (PANEL - cols) * sizeof *buffer);
    }
    blocks->tiles(rows, n, sums, blocks->broad, blocks->convolution->gathered + from * blocks->area + row, 1,
                  blocks->area, cols < PANEL ? buffer : right, cols < PANEL ? PANEL : blocks->outputs);
  }
}

static void run(const hu_cpu *cpu, size_t images, size_t parts, void (*part)(void *context, size_t part),
                image_blocks *blocks) {
  if (blocks->windows * images * blocks->area * blocks->outputs >= HU_CPU_PRODUCTS_MIN) {
    hui_cpu_run(cpu, parts, part, blocks);
  } else {
    for (size_t i = 0; i < parts; i++) part(blocks, i);
  }
}

/* Runs all parts. Returns 0 if one failed. */
static int add_counts(image_blocks *blocks) {
  for (size_t i = 0; i < blocks->images; i++) {
    if (blocks->status[i] != HU_OK) return 0;
    blocks->convolution->counts->elements += blocks->counts[i].elements;
    hu_events_add(&blocks->convolution->counts->events, &blocks->counts[i].events);
  }
  memset(blocks->counts, 0, sizeof blocks->counts);
  return 1;
}

static int results(const hu_cpu *cpu, image_blocks *blocks) {
  const hu_convolution *convolution = blocks->convolution;
  size_t threads = cpu->threads < GROUP ? cpu->threads : GROUP;
  blocks->w = convolution->w;
  if (blocks->broad != blocks->outputs) {
    for (size_t i = 0; i < blocks->area; i++) {
      memcpy(convolution->buffer + i * blocks->broad, convolution->w + i * blocks->outputs,
             blocks->outputs * sizeof *convolution->buffer);
      memset(convolution->buffer + i * blocks->broad + blocks->outputs, 0,
             (blocks->broad - blocks->outputs) * sizeof *convolution->buffer);
    }
    blocks->w = convolution->buffer;
  }
  blocks->product = 1;
  blocks->images = convolution->images < threads ? convolution->images : threads;
  run(cpu, convolution->images, blocks->images, images_part, blocks);
  return add_counts(blocks);
}

/* A thread alone has the patches that it multiplies in its cache, several a few images between their meetings. */
static int weights(const hu_cpu *cpu, image_blocks *blocks) {
  const hu_convolution *convolution = blocks->convolution;
  size_t strips = (blocks->area + STRIP - 1) / STRIP * (blocks->broad / PANEL),
         group = cpu->threads > 1 ? 4 * cpu->threads : 1;
  if (group > GROUP) group = GROUP;
  blocks->dw = blocks->broad == blocks->outputs ? convolution->dw : convolution->buffer;
  for (blocks->first = 0; blocks->first < convolution->images; blocks->first += blocks->images) {
    blocks->images = convolution->images - blocks->first < group ? convolution->images - blocks->first : group;
    run(cpu, blocks->images, blocks->images, image_part, blocks);
    run(cpu, blocks->images, strips, strip_part, blocks);
    if (!add_counts(blocks)) return 0;
  }
  for (size_t i = 0; blocks->dw != convolution->dw && i < blocks->area; i++) {
    memcpy(convolution->dw + i * blocks->outputs, blocks->dw + i * blocks->broad,
           blocks->outputs * sizeof *convolution->dw);
  }
  return 1;
}

int hui_cpu_convolve_blocks(const hu_cpu *cpu, int what, const hu_convolution *convolution) {
  image_blocks blocks = blocks_of(cpu, convolution);
  return what == HU_CONVOLVE_RESULT_BLOCKS ? results(cpu, &blocks) : weights(cpu, &blocks);
}
