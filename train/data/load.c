/* SPDX-License-Identifier: MIT */
/* Loads files of images: CIFAR, idx, .npy. Everything that a file says is checked before it is used. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"
#include "train/data/file.h"
#include "train/environment.h"

/* make, with the sentence that its failure deserves. */
static hu_status make(hu_data *data, const char *name, size_t count, const size_t shape[3], uint32_t classes,
                      char *why) {
  hu_status status = hui_data_make(data, count, shape, classes, 0);
  if (status == HU_E_SHAPE) {
    return hui_data_wrong(why, HU_E_DATA, name, "sizes: %zu images of %zu x %zu x %zu do not fit", count, shape[0],
                          shape[1], shape[2]);
  }
  if (status != HU_OK) hui_data_wrong(why, status, name, "out of memory for %zu images", count);
  return status;
}

static float unit(uint8_t byte) { return (float)byte / 255.0f; }

/* ---- CIFAR ---- */

enum { SIDE = 32, PLANE = SIDE * SIDE, COLOURS = 3 };

static hu_status check_label(const hu_bytes *file, size_t record, const char *field, unsigned label, unsigned classes,
                             char *why) {
  if (label < classes) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "%s of record %zu: %u, not below %u", field, record, label,
                        classes);
}

/* Labels of record i: of 10 classes one byte, of 100 the coarse and the fine one. */
static hu_status check_record(const hu_bytes *file, size_t i, const uint8_t *record, unsigned classes, char *why) {
  if (classes == 10) return check_label(file, i, "label", record[0], 10, why);
  hu_status status = check_label(file, i, "coarse label", record[0], 20, why);
  return status == HU_OK ? check_label(file, i, "fine label", record[1], 100, why) : status;
}

static hu_status check_cifar(const hu_bytes *file, size_t size, unsigned classes, char *why) {
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  if (file->size % size) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "size: %zu bytes are not a multiple of a record's %zu",
                          file->size, size);
  }
  for (size_t i = 0; status == HU_OK && i < file->size / size; i++) {
    status = check_record(file, i, file->data + i * size, classes, why);
  }
  return status;
}

static void put_planes(float *z, const uint8_t *planes) {
  for (size_t p = 0; p < PLANE; p++) {
    for (size_t c = 0; c < COLOURS; c++) z[p * COLOURS + c] = unit(planes[c * PLANE + p]);
  }
}

hu_status hui_data_read_cifar(hu_data *data, const hu_bytes *files, size_t n, unsigned classes, int coarse, char *why) {
  const size_t labels = classes == 10 ? 1 : 2, size = labels + COLOURS * PLANE, shape[3] = {SIDE, SIDE, COLOURS};
  size_t count = 0, at = 0;
  hu_data made;
  for (size_t f = 0; f < n; f++) {
    hu_status status = check_cifar(&files[f], size, classes, why);
    if (status != HU_OK) return status;
    count += files[f].size / size;
  }
  hu_status status = make(&made, files[0].name, count, shape, classes == 100 && coarse ? 20 : classes, why);
  if (status != HU_OK) return status;
  for (size_t f = 0; f < n; f++) {
    for (const uint8_t *r = files[f].data; r < files[f].data + files[f].size; r += size, at++) {
      made.labels[at] = r[classes == 100 && !coarse];
      put_planes(made.x + at * COLOURS * PLANE, r + labels);
    }
  }
  *data = made;
  return HU_OK;
}

static HU_NOINLINE hu_status load_cifar(hu_data *data, const char *const *paths, size_t n, unsigned classes, int coarse,
                                        char *why) {
  hu_status status = HU_OK;
  if (!data || !paths) return hui_data_wrong(why, HU_E_NULL, "cifar", "z, paths: NULL");
  if (n == 0 || n > 1000) return hui_data_wrong(why, HU_E_SHAPE, "cifar", "files: %zu, not 1 to 1000", n);
  hu_bytes *files = hui_data_allocate(n, sizeof *files);
  if (!files) return hui_data_wrong(why, HU_E_MEMORY, "cifar", "out of memory");
  for (size_t f = 0; status == HU_OK && f < n; f++) status = hui_bytes_read(&files[f], paths[f], why);
  if (status == HU_OK) status = hui_data_read_cifar(data, files, n, classes, coarse, why);
  for (size_t f = 0; f < n; f++) hui_bytes_free(&files[f]);
  free(files);
  return status;
}

hu_status hu_data_load_cifar10(hu_data *data, const char *const *paths, size_t files, char *why) {
  HU_ENV_RETURN(hu_status, load_cifar(data, paths, files, 10, 0, why));
}
hu_status hu_data_load_cifar100(hu_data *data, const char *const *paths, size_t files, int coarse, char *why) {
  HU_ENV_RETURN(hu_status, load_cifar(data, paths, files, 100, coarse, why));
}

/* ---- idx ---- */

static uint32_t big32(const uint8_t *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Checks magic and sizes of an idx file of unsigned bytes in `dims` dimensions that fills the file to the last byte. */
static hu_status check_idx(const hu_bytes *file, unsigned dims, size_t *sizes, char *why) {
  static const char *const fields[] = {"count", "rows", "columns"};
  size_t header = 4 + 4 * (size_t)dims, expected = 1;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  if (file->size < 4 || big32(file->data) != 0x800 + dims) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "magic: not 0x%08x (unsigned bytes in %u dimension%s)",
                          0x800 + dims, dims, dims == 1 ? "" : "s");
  }
  if (file->size < header) return hui_data_wrong(why, HU_E_DATA, file->name, "header: truncated");
  for (unsigned i = 0; i < dims; i++) {
    sizes[i] = big32(file->data + 4 + 4 * i);
    if (sizes[i] == 0) return hui_data_wrong(why, HU_E_DATA, file->name, "%s: 0", fields[i]);
    if (!hui_size_product(&expected, expected, sizes[i])) {
      return hui_data_wrong(why, HU_E_DATA, file->name, "%s: %zu do not fit the address space", fields[i], sizes[i]);
    }
  }
  if (expected == file->size - header) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "size: %zu bytes of data, count and sizes require %zu",
                        file->size - header, expected);
}

static void put_image(float *z, const uint8_t *bytes, size_t rows, size_t columns, int by_columns) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) {
      z[i * columns + j] = unit(by_columns ? bytes[j * rows + i] : bytes[i * columns + j]);
    }
  }
}

hu_status hui_data_read_idx(hu_data *data, const hu_bytes *images, const hu_bytes *labels, uint32_t classes,
                            int by_columns, char *why) {
  size_t sizes[3] = {0, 0, 0}, count = 0;
  hu_data made;
  hu_status status = check_idx(images, 3, sizes, why);
  if (status == HU_OK) status = check_idx(labels, 1, &count, why);
  if (status != HU_OK) return status;
  if (count != sizes[0]) {
    return hui_data_wrong(why, HU_E_DATA, labels->name, "count: %zu labels for %zu images", count, sizes[0]);
  }
  for (size_t i = 0; status == HU_OK && i < count; i++) {
    status = check_label(labels, i, "label", labels->data[8 + i], classes, why);
  }
  const size_t shape[3] = {sizes[1], sizes[2], 1}, pixels = sizes[1] * sizes[2];
  if (status == HU_OK) status = make(&made, images->name, count, shape, classes, why);
  if (status != HU_OK) return status;
  for (size_t i = 0; i < count; i++) {
    made.labels[i] = labels->data[8 + i];
    put_image(made.x + i * pixels, images->data + 16 + i * pixels, sizes[1], sizes[2], by_columns);
  }
  *data = made;
  return HU_OK;
}

static HU_NOINLINE hu_status load_idx(hu_data *data, const char *images, const char *labels, uint32_t classes,
                                      int by_columns, char *why) {
  hu_bytes bytes = {NULL, NULL, 0}, file = {NULL, NULL, 0};
  if (!data) return hui_data_wrong(why, HU_E_NULL, "idx", "z: NULL");
  if (classes == 0) return hui_data_wrong(why, HU_E_SHAPE, "idx", "classes: 0");
  hu_status status = hui_bytes_read(&bytes, images, why);
  if (status == HU_OK) status = hui_bytes_read(&file, labels, why);
  if (status == HU_OK) status = hui_data_read_idx(data, &bytes, &file, classes, by_columns, why);
  hui_bytes_free(&bytes);
  hui_bytes_free(&file);
  return status;
}

hu_status hu_data_load_idx(hu_data *data, const char *images, const char *labels, uint32_t classes, int by_columns,
                           char *why) {
  HU_ENV_RETURN(hu_status, load_idx(data, images, labels, classes, by_columns, why));
}

/* ---- .npy ---- */

static hu_status parse(npy_info *info, const hu_bytes *file, char *why) {
  char error[NPY_ERROR_MAX];
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  return npy_parse(info, file->data, file->size, error) ? HU_OK
                                                        : hui_data_wrong(why, HU_E_DATA, file->name, "%s", error);
}

static hu_status check_images(const npy_info *info, const hu_bytes *file, size_t shape[3], char *why) {
  char text[NPY_SHAPE_MAX];
  if (info->dims < 2 || info->dims > 4 || info->count == 0) {
    return hui_data_wrong(why, HU_E_DATA, file->name,
                          "shape %.60s: not (n, d), (n, h, w) or (n, h, w, c), none of them 0", npy_shape(text, info));
  }
  if (info->fortran) return hui_data_wrong(why, HU_E_DATA, file->name, "fortran_order: True; row order is required");
  if (!(info->kind == 'f' && info->size == 4) && !(info->kind == 'u' && info->size == 1)) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "dtype: %s, not float32 or uint8", npy_dtype(info));
  }
  shape[0] = info->dims > 2 ? info->shape[1] : 1;
  shape[1] = info->dims > 2 ? info->shape[2] : 1;
  shape[2] = info->dims == 2 ? info->shape[1] : info->dims == 3 ? 1 : info->shape[3];
  return HU_OK;
}

static hu_status check_labels(const npy_info *info, const hu_bytes *file, size_t count, char *why) {
  if (info->kind != 'u' || info->size > 4) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "dtype: %s, not uint8, uint16 or uint32", npy_dtype(info));
  }
  if (info->dims != 1) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "shape: %u dimensions, not 1", (unsigned)info->dims);
  }
  if (info->count == count) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "shape: %zu labels for %zu images", info->count, count);
}

/* Returns element i of an array of unsigned integers or binary32 patterns, whatever its byte order. */
static uint32_t element(const npy_info *info, const hu_bytes *file, size_t i) {
  const uint8_t *at = file->data + info->offset + i * info->size;
  uint32_t u = 0;
  for (unsigned k = 0; k < info->size; k++) u |= (uint32_t)at[k] << 8 * (info->big ? info->size - 1u - k : k);
  return u;
}

static hu_status put_images(hu_data *data, const npy_info *info, const hu_bytes *file, float divisor, char *why) {
  for (size_t i = 0; i < info->count; i++) {
    uint32_t u = element(info, file, i);
    float x = (float)u;
    if (info->kind == 'f') memcpy(&x, &u, sizeof x);
    if (!(x >= -FLT_MAX && x <= FLT_MAX)) {
      return hui_data_wrong(why, HU_E_DATA, file->name, "element %zu: not finite", i);
    }
    data->x[i] = x / divisor;
  }
  return HU_OK;
}

static hu_status put_labels(hu_data *data, const npy_info *info, const hu_bytes *file, char *why) {
  hu_status status = HU_OK;
  for (size_t i = 0; status == HU_OK && i < data->count; i++) {
    data->labels[i] = element(info, file, i);
    status = check_label(file, i, "label", data->labels[i], data->classes, why);
  }
  return status;
}

hu_status hui_labels_read(uint32_t *labels, size_t count, const hu_bytes *file, char *why) {
  npy_info info;
  hu_status status = parse(&info, file, why);
  if (status == HU_OK) status = check_labels(&info, file, count, why);
  for (size_t i = 0; status == HU_OK && i < count; i++) labels[i] = element(&info, file, i);
  return status;
}

hu_status hui_data_read_npy(hu_data *data, const hu_bytes *images, const hu_bytes *labels, uint32_t classes,
                            float divisor, char *why) {
  npy_info samples, names;
  size_t shape[3];
  hu_data made;
  hu_status status = parse(&samples, images, why);
  if (status == HU_OK) status = check_images(&samples, images, shape, why);
  if (status == HU_OK && labels) status = parse(&names, labels, why);
  if (status == HU_OK && labels) status = check_labels(&names, labels, samples.shape[0], why);
  if (status == HU_OK) status = make(&made, images->name, samples.shape[0], shape, labels ? classes : 0, why);
  if (status != HU_OK) return status;
  status = put_images(&made, &samples, images, divisor, why);
  if (status == HU_OK && labels) status = put_labels(&made, &names, labels, why);
  if (status == HU_OK) {
    *data = made;
  } else {
    hu_data_free(&made);
  }
  return status;
}

static HU_NOINLINE hu_status load_npy(hu_data *data, const char *images, const char *labels, uint32_t classes,
                                      float divisor, char *why) {
  hu_bytes bytes = {NULL, NULL, 0}, file = {NULL, NULL, 0};
  if (!data) return hui_data_wrong(why, HU_E_NULL, ".npy", "z: NULL");
  if (!labels != !classes) return hui_data_wrong(why, HU_E_SHAPE, ".npy", "classes: labels and classes go together");
  if (!(divisor > 0 && divisor <= FLT_MAX)) {
    return hui_data_wrong(why, HU_E_SHAPE, ".npy", "divisor: not positive and finite");
  }
  hu_status status = hui_bytes_read(&bytes, images, why);
  if (status == HU_OK && labels) status = hui_bytes_read(&file, labels, why);
  if (status == HU_OK) status = hui_data_read_npy(data, &bytes, labels ? &file : NULL, classes, divisor, why);
  hui_bytes_free(&bytes);
  hui_bytes_free(&file);
  return status;
}

hu_status hu_data_load_npy(hu_data *data, const char *images, const char *labels, uint32_t classes, float divisor,
                           char *why) {
  HU_ENV_RETURN(hu_status, load_npy(data, images, labels, classes, divisor, why));
}

/* ---- the digits ---- */

static HU_NOINLINE hu_status load_digits(hu_data *data, const char *folder, int raw, char *why) {
  enum { BUFFER = 4096 };
  char images[BUFFER], labels[BUFFER];
  hu_data made;
  if (!data || !folder) return hui_data_wrong(why, HU_E_NULL, "digits", "z, folder: NULL");
  int n = snprintf(images, sizeof images, "%s/digits_images.npy", folder);
  int m = snprintf(labels, sizeof labels, "%s/digits_labels.npy", folder);
  if (n < 0 || n >= BUFFER || m < 0 || m >= BUFFER) return hui_data_wrong(why, HU_E_FILE, folder, "path: too long");
  hu_status status = load_npy(&made, images, labels, 10, raw ? 1 : 16, why);
  if (status != HU_OK) return status;
  size_t all = made.count * hu_data_features(&made), bad = 0;
  while (bad < all && made.x[bad] >= 0 && made.x[bad] <= (raw ? 16.0f : 1.0f)) bad++;
  if (hu_data_features(&made) != 64) {
    status = hui_data_wrong(why, HU_E_DATA, images, "shape: %zu pixels an image, not 64", hu_data_features(&made));
  } else if (bad < all) {
    status = hui_data_wrong(why, HU_E_DATA, images, "pixel %zu of image %zu: not within 0 and 16", bad % 64, bad / 64);
  }
  if (status != HU_OK) {
    hu_data_free(&made);
    return status;
  }
  made.height = made.width = 8;
  made.channels = 1;
  *data = made;
  return HU_OK;
}

hu_status hu_data_load_digits(hu_data *data, const char *folder, int raw, char *why) {
  HU_ENV_RETURN(hu_status, load_digits(data, folder, raw, why));
}
