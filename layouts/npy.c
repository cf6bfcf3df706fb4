/* SPDX-License-Identifier: MIT */
/* An .npy file of codes as a checkpoint of one tensor: NumPy writes the types of ml_dtypes as V1, V2 and f1, so that
 * the caller names the format. See layouts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"
#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "layouts/layouts.h"

int hui_npy_format(hu_checkpoint *x, const char *text) {
  if (!text) return hui_wrong(x, "%s: an .npy file holds codes of a format that is to be named", x->path);
  if (hu_format_parse(&x->format, text, NULL) != HU_OK)
    return hui_wrong(x, "%s: '%.80s' is not a format of its codes", x->path, text);
  x->format_text = strdup(text);
  return x->format_text || hui_wrong(x, "%s: out of memory", x->path);
}

/* Writes the name of the file without its folder and its end. */
static void stem(char z[HUI_NAME_MAX], const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t n = strlen(name) - strlen(".npy");
  snprintf(z, HUI_NAME_MAX, "%.*s", (int)(n < HUI_NAME_MAX ? n : HUI_NAME_MAX - 1), name);
}

static uint64_t code_at(const uint8_t *bytes, size_t size, int big) {
  uint64_t z = 0;
  for (size_t i = 0; i < size; i++) z |= (uint64_t)bytes[big ? size - 1 - i : i] << 8 * i;
  return z;
}

/* Returns the place in the file of element i of a row-major walk. */
static size_t place_of(const npy_info *info, size_t i) {
  size_t z = 0, step = info->count;
  if (!info->fortran) return i;
  for (uint32_t axis = info->dims; axis-- > 0; i /= info->shape[axis]) {
    step /= info->shape[axis];
    z += i % info->shape[axis] * step;
  }
  return z;
}

/* Copies the codes as little-endian ones, row by row, and checks them. */
static int copy_codes(hu_checkpoint *x, const hui_shard *shard, const npy_info *info, uint8_t *own) {
  unsigned width = hu_limits_of(x->format).width;
  for (size_t i = 0; i < info->count; i++) {
    uint64_t code = code_at(shard->bytes.data + info->offset + place_of(info, i) * info->size, info->size, info->big);
    if (width < 64 && code >> width)
      return hui_wrong(x, "%s: element %zu is 0x%llX, wider than the %u bits of %s; codes are not packed", shard->path,
                       i, (unsigned long long)code, width, x->format_text);
    for (size_t k = 0; k < info->size; k++) own[i * info->size + k] = (uint8_t)(code >> 8 * k);
  }
  return 1;
}

int hui_npy_open(hu_checkpoint *x, hui_shard *shard) {
  char error[NPY_ERROR_MAX], name[HUI_NAME_MAX];
  npy_info *info = malloc(sizeof *info);
  if (!info) return hui_wrong(x, "%s: out of memory", x->path);
  int good = npy_parse_codes(info, shard->bytes.data, shard->bytes.size, error) ||
             hui_wrong(x, "%s: not an .npy file of codes: %s", shard->path, error);
  unsigned width = hu_limits_of(x->format).width, bytes = width <= 8 ? 1 : width <= 16 ? 2 : 4;
  if (good && (info->kind != 'u' || info->size != bytes))
    good = hui_wrong(x, "%s: dtype %s is not that of codes of %s, of %u bits", shard->path, npy_dtype(info),
                     x->format_text, width);
  stem(name, shard->path);
  if (good && !st_add(&shard->file, name, bytes == 1 ? ST_U8 : bytes == 2 ? ST_U16 : ST_U32, info->dims, info->shape))
    good = hui_wrong(x, "%s: too large, or out of memory", shard->path);
  uint8_t *own = good ? malloc(info->count * bytes + 1) : NULL;
  if (good && !own) good = hui_wrong(x, "%s: out of memory", x->path);
  if (good) good = copy_codes(x, shard, info, own);
  free(info);
  if (good) return hui_own(x, shard, &shard->file.tensors[0], own);
  free(own);
  return 0;
}

void hui_npy_read(const hu_checkpoint *x, const hui_tensor *z, size_t first, size_t n, double *values) {
  unsigned bytes = st_dtype_bits(z->raw->tensor->dtype) / 8;
  for (size_t i = 0; i < n; i++)
    values[i] = hu_decode64(x->format, (uint32_t)code_at(z->raw->bytes + (first + i) * bytes, bytes, 0));
}
