/* SPDX-License-Identifier: MIT */
/* Draws batches in an order that a stored state brings back, and augments them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

static void put_in_order(hu_batches *b) {
  hu_stream epochs = hu_stream_of_use(b->state.seed, HU_USE_ORDER);
  hu_permutation((uint32_t)b->count, b->order, hu_stream_child(epochs, b->state.epoch));
  b->ordered = b->state.epoch;
}

hu_status hu_batches_open(hu_batches *z, size_t count, size_t batch, hu_batch_state state) {
  if (!z) return HU_E_NULL;
  if (count == 0 || count > UINT32_MAX || batch == 0 || batch > count) return HU_E_SHAPE;
  if (state.position > count / batch) return HU_E_SHAPE;
  hu_batches b = {count, batch, state, hu_data_room(count, sizeof(uint32_t)), 0};
  if (!b.order) return HU_E_MEMORY;
  put_in_order(&b);
  *z = b;
  return HU_OK;
}

const uint32_t *hu_batches_next(hu_batches *b) {
  if (b->state.position == b->count / b->batch) {
    b->state.epoch++;
    b->state.position = 0;
  }
  if (b->ordered != b->state.epoch) put_in_order(b);
  return b->order + (size_t)b->state.position++ * b->batch;
}

hu_stream hu_batches_stream(const hu_batches *b, uint64_t use) {
  hu_stream epoch = hu_stream_child(hu_stream_of_use(b->state.seed, use), b->state.epoch);
  return hu_stream_child(epoch, b->state.position);
}

void hu_batches_free(hu_batches *b) {
  if (!b) return;
  free(b->order);
  memset(b, 0, sizeof *b);
}

/* ---- the state as text ---- */

char *hu_batch_state_text(char text[HU_BATCH_STATE_TEXT_MAX], hu_batch_state state) {
  snprintf(text, HU_BATCH_STATE_TEXT_MAX, "seed=%" PRIu64 ",epoch=%" PRIu64 ",position=%" PRIu64, state.seed,
           state.epoch, state.position);
  return text;
}

/* A word, then a number of 64 bits without leading zeros; moves *text behind them. */
static int take(const char **text, const char *word, uint64_t *z) {
  size_t n = strlen(word);
  uint64_t x = 0;
  if (strncmp(*text, word, n) != 0) return 0;
  const char *at = *text + n;
  if (*at == '0' && at[1] >= '0' && at[1] <= '9') return 0;
  if (*at < '0' || *at > '9') return 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (x > (UINT64_MAX - digit) / 10) return 0;
    x = 10 * x + digit;
  }
  *z = x;
  *text = at;
  return 1;
}

hu_status hu_batch_state_parse(hu_batch_state *z, const char *text) {
  hu_batch_state state;
  if (!z || !text) return HU_E_NULL;
  if (!take(&text, "seed=", &state.seed) || !take(&text, ",epoch=", &state.epoch) ||
      !take(&text, ",position=", &state.position) || *text) {
    return HU_E_TEXT;
  }
  *z = state;
  return HU_OK;
}

/* ---- augmentation ---- */

typedef struct place {
  size_t down, right; /* of the crop in the padded image */
  int mirrored;
} place;

static place draw(hu_stream words, size_t pad, int flip) {
  uint32_t room = (uint32_t)(2 * pad + 1);
  place p = {0, 0, 0};
  p.down = hu_stream_below(&words, room);
  p.right = hu_stream_below(&words, room);
  if (flip) p.mirrored = (int)hu_stream_below(&words, 2);
  return p;
}

/* Row i of the cropped image: pixel j lies at row i + down - pad, column j + right - pad of x. */
static void crop_row(float *z, const float *x, size_t i, const size_t shape[3], place p, size_t pad,
                     const float *fill) {
  const size_t height = shape[0], width = shape[1], channels = shape[2];
  for (size_t j = 0; j < width; j++) {
    size_t column = p.mirrored ? width - 1 - j : j;
    size_t y = i + p.down, t = column + p.right; /* in the padded image */
    int inside = y >= pad && y < height + pad && t >= pad && t < width + pad;
    const float *from = inside ? x + ((y - pad) * width + (t - pad)) * channels : fill;
    for (size_t c = 0; c < channels; c++) z[j * channels + c] = from ? from[c] : 0;
  }
}

hu_status hu_augment(size_t n, float *z, const float *x, size_t height, size_t width, size_t channels, size_t pad,
                     int flip, const float *fill, hu_stream s) {
  const size_t shape[3] = {height, width, channels};
  size_t row, image, all;
  if (n == 0) return HU_OK;
  if (!z || !x) return HU_E_NULL;
  if (!height || !width || !channels || pad > UINT32_MAX / 4) return HU_E_SHAPE;
  if (!hu_size_product(&row, width, channels) || !hu_size_product(&image, row, height)) return HU_E_SHAPE;
  if (!hu_size_product(&all, image, n) || !hu_size_product(&all, all, sizeof *z)) return HU_E_SHAPE;
  for (size_t e = 0; e < n; e++) {
    place p = draw(hu_stream_child(s, e), pad, flip);
    for (size_t i = 0; i < height; i++) crop_row(z + e * image + i * row, x + e * image, i, shape, p, pad, fill);
  }
  return HU_OK;
}
