/* SPDX-License-Identifier: MIT */
/* Draws batches in an order that a stored state brings back, and augments them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

static void put_in_order(hu_batches *batches, uint64_t epoch) {
  hu_stream epochs = hu_stream_of_use(batches->state.seed, HU_USE_ORDER);
  hu_permutation((uint32_t)batches->count, batches->order, hu_stream_child(epochs, epoch));
  batches->ordered = epoch;
}

uint64_t hu_batches_of_epochs(const hu_batches *batches, uint64_t epochs) {
  return (epochs * batches->count + (batches->keeps ? batches->batch - 1 : 0)) / batches->batch;
}

hu_status hu_batches_open_streams(hu_batches *batches, size_t count, size_t batch, uint64_t epochs, int keeps,
                                  hu_batch_state state) {
  enum { EPOCHS_MOST = 1 << 24 };
  if (!batches) return HU_E_NULL;
  if (count == 0 || count > UINT32_MAX || batch == 0 || batch > count) return HU_E_SHAPE;
  if (epochs == 0 || epochs > EPOCHS_MOST || keeps < 0 || keeps > 1) return HU_E_SHAPE;
  hu_batches order = {.count = count, .batch = batch, .state = state, .epochs = epochs, .keeps = keeps};
  if (state.position > hu_batches_of_epochs(&order, epochs)) return HU_E_SHAPE;
  order.order = hui_data_allocate(count, sizeof(uint32_t));
  order.index = hui_data_allocate(batch, sizeof(uint32_t));
  if (!order.order || !order.index) {
    hu_batches_free(&order);
    return HU_E_MEMORY;
  }
  put_in_order(&order, state.epoch * epochs);
  *batches = order;
  return HU_OK;
}

hu_status hu_batches_open(hu_batches *batches, size_t count, size_t batch, hu_batch_state state) {
  return hu_batches_open_streams(batches, count, batch, 1, 0, state);
}

const uint32_t *hu_batches_next(hu_batches *batches) {
  if (batches->state.position == hu_batches_of_epochs(batches, batches->epochs)) {
    batches->state.epoch++;
    batches->state.position = 0;
  }
  const uint64_t first = batches->state.position++ * batches->batch, all = batches->epochs * batches->count;
  batches->given = all - first < batches->batch ? (size_t)(all - first) : batches->batch;
  for (size_t i = 0; i < batches->given; i++) {
    const uint64_t epoch = batches->state.epoch * batches->epochs + (first + i) / batches->count;
    if (batches->ordered != epoch) put_in_order(batches, epoch);
    batches->index[i] = batches->order[(first + i) % batches->count];
  }
  return batches->index;
}

hu_stream hu_batches_stream(const hu_batches *batches, uint64_t use) {
  hu_stream epoch = hu_stream_child(hu_stream_of_use(batches->state.seed, use), batches->state.epoch);
  return hu_stream_child(epoch, batches->state.position);
}

void hu_batches_free(hu_batches *batches) {
  if (!batches) return;
  free(batches->order);
  free(batches->index);
  memset(batches, 0, sizeof *batches);
}

/* ---- the state as text ---- */

char *hu_batch_state_text(char text[HU_BATCH_STATE_TEXT_MAX], hu_batch_state state) {
  snprintf(text, HU_BATCH_STATE_TEXT_MAX, "seed=%" PRIu64 ",epoch=%" PRIu64 ",position=%" PRIu64, state.seed,
           state.epoch, state.position);
  return text;
}

/* Reads a word, then a number of 64 bits without leading zeros; moves *text behind them. */
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

hu_status hu_batch_state_parse(hu_batch_state *made, const char *text) {
  hu_batch_state state;
  if (!made || !text) return HU_E_NULL;
  if (!take(&text, "seed=", &state.seed) || !take(&text, ",epoch=", &state.epoch) ||
      !take(&text, ",position=", &state.position) || *text) {
    return HU_E_TEXT;
  }
  *made = state;
  return HU_OK;
}

/* ---- augmentation ---- */

typedef struct crop_place {
  size_t down, right; /* of the crop in the padded image */
  int mirrored;
} crop_place;

static crop_place draw(hu_stream words, size_t pad, int flip) {
  uint32_t buffer = (uint32_t)(2 * pad + 1);
  crop_place place = {0, 0, 0};
  place.down = hu_stream_below(&words, buffer);
  place.right = hu_stream_below(&words, buffer);
  if (flip) place.mirrored = (int)hu_stream_below(&words, 2);
  return place;
}

/* Row i of the cropped image: pixel j lies at row i + down - pad, column j + right - pad of x. */
static void crop_row(float *z, const float *x, size_t i, const hu_augmentation *image, crop_place place) {
  const size_t height = image->height, width = image->width, channels = image->channels, pad = image->pad;
  for (size_t j = 0; j < width; j++) {
    size_t column = place.mirrored ? width - 1 - j : j;
    size_t y = i + place.down, t = column + place.right; /* in the padded image */
    int inside = y >= pad && y < height + pad && t >= pad && t < width + pad;
    const float *from = inside ? x + ((y - pad) * width + (t - pad)) * channels : image->fill;
    for (size_t c = 0; c < channels; c++) z[j * channels + c] = from ? from[c] : 0;
  }
}

hu_status hu_augment(size_t n, float *z, const float *x, const hu_augmentation *augmentation, hu_stream stream) {
  const hu_augmentation *how = augmentation;
  size_t row, image, all;
  if (n == 0) return HU_OK;
  if (!z || !x || !how) return HU_E_NULL;
  if (!how->height || !how->width || !how->channels || how->pad > UINT32_MAX / 4) return HU_E_SHAPE;
  if (!hui_size_product(&row, how->width, how->channels) || !hui_size_product(&image, row, how->height))
    return HU_E_SHAPE;
  if (!hui_size_product(&all, image, n) || !hui_size_product(&all, all, sizeof *z)) return HU_E_SHAPE;
  for (size_t e = 0; e < n; e++) {
    crop_place place = draw(hu_stream_child(stream, e), how->pad, how->flip != 0);
    for (size_t i = 0; i < how->height; i++) crop_row(z + e * image + i * row, x + e * image, i, how, place);
  }
  return HU_OK;
}
