/* SPDX-License-Identifier: MIT */
/* Reads large images from the disk when they are asked for, and cuts, resizes and mirrors them. */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#include "train/data/images.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"
#include "halfulp/arith.h"

/* ---- files ---- */

static hu_status sizes_of(hu_image_file *images, size_t *count, const npy_info *info, const char *path, size_t side,
                          char *why) {
  char text[NPY_SHAPE_MAX];
  if (info->kind != 'u' || info->size != 1)
    return hui_data_wrong(why, HU_E_DATA, path, "dtype: %s, not uint8", npy_dtype(info));
  if (info->fortran) return hui_data_wrong(why, HU_E_DATA, path, "fortran_order: True, not rows of pixels");
  if (info->dims != 4 || info->shape[3] != HU_IMAGE_CHANNELS || !info->count)
    return hui_data_wrong(why, HU_E_DATA, path, "shape %.60s: not (n, h, w, 3), none of them 0", npy_shape(text, info));
  if (info->shape[0] > UINT32_MAX)
    return hui_data_wrong(why, HU_E_DATA, path, "shape %.60s: 2^32 images or more", npy_shape(text, info));
  *count = info->shape[0];
  images->height = info->shape[1];
  images->width = info->shape[2];
  images->first = info->offset;
  if (images->height < side || images->width < side || images->height > HU_IMAGE_SIDE_MOST ||
      images->width > HU_IMAGE_SIDE_MOST)
    return hui_data_wrong(why, HU_E_DATA, path, "shape %.60s: sides not from data.size, %zu, to %d",
                          npy_shape(text, info), side, HU_IMAGE_SIDE_MOST);
  return HU_OK;
}

/* Reads the head of a file as if its content followed: the content is not looked at. */
static hu_status read_head(hu_image_file *images, size_t *count, const char *path, size_t side, char *why) {
  enum { HEAD = NPY_HEADER_MAX + 16 };
  char error[NPY_ERROR_MAX];
  npy_info info;
  uint8_t *head = hui_data_allocate(HEAD, 1);
  if (!head) return hui_data_wrong(why, HU_E_MEMORY, path, "out of memory");
  (void)fread(head, 1, HEAD, images->file);
  hu_status status = HU_OK;
  off_t size = -1;
  if (!ferror(images->file) && fseeko(images->file, 0, SEEK_END) == 0) size = ftello(images->file);
  if (size < 0) {
    status = hui_data_wrong(why, HU_E_FILE, path, "%s", strerror(errno ? errno : EIO));
  } else if (!npy_parse(&info, head, (size_t)size, error)) {
    status = hui_data_wrong(why, HU_E_DATA, path, "%s", error);
  }
  free(head);
  return status == HU_OK ? sizes_of(images, count, &info, path, side, why) : status;
}

/* Keeps the images with labels below data->classes, of which at least one is there. */
static hu_status keep(hu_image_file *images, hu_data *data, size_t count, const uint32_t *labels) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) kept += labels[i] < data->classes;
  images->record = hui_data_allocate(kept, sizeof *images->record);
  data->labels = hui_data_allocate(kept, sizeof *data->labels);
  images->bytes = hui_data_allocate(images->height * images->width, HU_IMAGE_CHANNELS);
  if (!images->record || !data->labels || !images->bytes) return HU_E_MEMORY;
  for (size_t i = 0; i < count; i++) {
    if (labels[i] >= data->classes) continue;
    images->record[data->count] = (uint32_t)i;
    data->labels[data->count++] = labels[i];
  }
  return HU_OK;
}

static hu_status read_labels(hu_image_file *images, hu_data *data, size_t count, const char *path, char *why) {
  hu_bytes file;
  hu_status status = hui_bytes_read(&file, path, why);
  if (status != HU_OK) return status;
  uint32_t *labels = hui_data_allocate(count, sizeof *labels);
  status = labels ? hui_labels_read(labels, count, &file, why) : HU_E_MEMORY;
  hui_bytes_free(&file);
  if (status == HU_OK || status == HU_E_MEMORY) {
    if (labels) status = keep(images, data, count, labels);
    if (status == HU_E_MEMORY) hui_data_wrong(why, status, path, "out of memory for %zu labels", count);
  }
  free(labels);
  if (status == HU_OK && !data->count)
    return hui_data_wrong(why, HU_E_DATA, path, "labels: none below data.classes, %u", (unsigned)data->classes);
  return status;
}

hu_status hui_images_open(hu_image_file *images, hu_data *data, const char *path, const char *labels, uint32_t classes,
                          size_t side, char *why) {
  size_t count;
  memset(images, 0, sizeof *images);
  *data = (hu_data){.height = side, .width = side, .channels = HU_IMAGE_CHANNELS, .classes = classes};
  errno = 0;
  images->file = fopen(path, "rb");
  if (!images->file) return hui_data_wrong(why, HU_E_FILE, path, "%s", strerror(errno));
  (void)setvbuf(images->file, NULL, _IONBF, 0); /* an image is read at once, and is what the file has then */
  hu_status status = read_head(images, &count, path, side, why);
  if (status == HU_OK) status = read_labels(images, data, count, labels, why);
  if (status == HU_OK) return HU_OK;
  hui_images_close(images);
  hu_data_free(data);
  return status;
}

void hui_images_close(hu_image_file *images) {
  if (images->file) fclose(images->file);
  free(images->record);
  free(images->bytes);
  memset(images, 0, sizeof *images);
}

/* ---- boxes ---- */

hu_image_box hui_image_middle(size_t height, size_t width, size_t side) {
  return (hu_image_box){(height - side) / 2, (width - side) / 2, side, side, 0};
}

static float share(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

/* The nearest whole number; halves go up. */
static double nearest(double x) { return floor(x + 0.5); }

hu_image_box hui_image_draw(size_t height, size_t width, float area, hu_stream words) {
  float log_most = 4.0f / 3.0f;
  hui_apply_n(HU_OP_LOG, 1, &log_most);
  hu_image_box box = {0, 0, height, width, 0};
  for (uint64_t k = 0; k < HU_IMAGE_TRIES; k++) {
    const float part = area + (1 - area) * share(hu_stream_word(words, 2 * k));
    float ratio = 2 * log_most * share(hu_stream_word(words, 2 * k + 1)) - log_most;
    hui_apply_n(HU_OP_EXP, 1, &ratio);
    const double pixels = (double)(height * width) * (double)part;
    const double w = nearest(sqrt(pixels * (double)ratio)), h = nearest(sqrt(pixels / (double)ratio));
    if (w < 1 || h < 1 || w > (double)width || h > (double)height) continue;
    box.height = (size_t)h;
    box.width = (size_t)w;
    break;
  }
  words.counter += 2 * HU_IMAGE_TRIES;
  box.top = hu_stream_below(&words, (uint32_t)(height - box.height) + 1);
  box.left = hu_stream_below(&words, (uint32_t)(width - box.width) + 1);
  box.mirrored = (int)hu_stream_below(&words, 2);
  return box;
}

/* ---- pixels ---- */

/* Where a pixel of `side` lies in `from` pixels: between pixel `at` and the next one, `part` of 2 side behind it. */
typedef struct hu_between {
  size_t at, next;
  uint32_t part;
} hu_between;

static hu_between between(size_t i, size_t side, size_t from) {
  const int64_t n = (int64_t)((2 * i + 1) * from) - (int64_t)side, whole = 2 * (int64_t)side;
  const int64_t inside = n < 0 ? 0 : n;
  hu_between z = {(size_t)(inside / whole), 0, (uint32_t)(inside % whole)};
  z.next = z.at + 1 < from ? z.at + 1 : z.at;
  return z;
}

/* Makes a number of `sum` over `all`, which is that of a byte. */
static float number(uint32_t sum, double all, int what, size_t channel) {
  static const float means[] = {0.485f, 0.456f, 0.406f}, deviations[] = {0.229f, 0.224f, 0.225f},
                     bytes[] = {123.68f, 116.78f, 103.94f};
  if (what == HU_IMAGE_SCALED) return ((float)(sum / (255 * all)) - means[channel]) / deviations[channel];
  const float x = (float)(sum / all);
  return what == HU_IMAGE_MEANS ? x - bytes[channel] : x;
}

void hui_image_put(float *z, size_t side, const uint8_t *bytes, size_t width, hu_image_box box, int what) {
  const uint32_t whole = 2 * (uint32_t)side;
  const double all = (double)whole * whole;
  const uint8_t *from = bytes + (box.top * width + box.left) * HU_IMAGE_CHANNELS;
  for (size_t i = 0; i < side; i++) {
    const hu_between down = between(i, side, box.height);
    for (size_t j = 0; j < side; j++, z += HU_IMAGE_CHANNELS) {
      const hu_between right = between(box.mirrored ? side - 1 - j : j, side, box.width);
      for (size_t c = 0; c < HU_IMAGE_CHANNELS; c++) {
        const uint8_t *row = from + down.at * width * HU_IMAGE_CHANNELS + c,
                      *below = from + down.next * width * HU_IMAGE_CHANNELS + c;
        const size_t at = right.at * HU_IMAGE_CHANNELS, next = right.next * HU_IMAGE_CHANNELS;
        const uint32_t upper = (whole - right.part) * row[at] + right.part * row[next],
                       lower = (whole - right.part) * below[at] + right.part * below[next];
        z[c] = number((whole - down.part) * upper + down.part * lower, all, what, c);
      }
    }
  }
}

static int read_image(hu_image_file *images, uint32_t record) {
  const size_t size = images->height * images->width * HU_IMAGE_CHANNELS;
  return fseeko(images->file, (off_t)(images->first + record * size), SEEK_SET) == 0 &&
         fread(images->bytes, 1, size, images->file) == size;
}

hu_status hui_images_gather(hu_image_file *images, size_t n, const uint32_t *index, float *z, size_t side, float area,
                            int what, const hu_stream *draws) {
  const hu_image_box middle = hui_image_middle(images->height, images->width, side);
  for (size_t i = 0; i < n; i++) {
    if (!read_image(images, images->record[index[i]])) return HU_E_FILE;
    const hu_image_box box =
        draws ? hui_image_draw(images->height, images->width, area, hu_stream_child(*draws, i)) : middle;
    hui_image_put(z + i * side * side * HU_IMAGE_CHANNELS, side, images->bytes, images->width, box, what);
  }
  return HU_OK;
}
