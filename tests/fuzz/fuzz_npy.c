/* SPDX-License-Identifier: MIT */
/* The .npy reader over any bytes: it reads nothing outside them, and what it accepts accounts for every byte. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "files/npy.h"

static void check_accepted(const npy_info *info, size_t size) {
  char header[NPY_HEADER_ROOM], shape[NPY_SHAPE_MAX], error[NPY_ERROR_MAX];
  npy_info again;
  size_t count = 1;
  FUZZ_CHECK(info->size == 1 || info->size == 2 || info->size == 4 || info->size == 8);
  FUZZ_CHECK(info->kind == 'f' ? info->size >= 2 : info->kind == 'u' && info->size <= 4);
  FUZZ_CHECK(info->dims <= NPY_DIMS_MAX && info->offset <= size);
  FUZZ_CHECK(size - info->offset == info->count * info->size);
  for (uint32_t i = 0; i < info->dims; i++) count *= info->shape[i];
  FUZZ_CHECK(count == info->count);
  FUZZ_CHECK(strlen(npy_shape(shape, info)) < sizeof shape && npy_dtype(info)[0]);
  /* What the writer makes of it is read as the same. */
  size_t n = npy_header(header, info);
  FUZZ_CHECK(n <= sizeof header && n % 64 == 0);
  uint8_t *whole = calloc(n + info->count * info->size, 1);
  FUZZ_CHECK(whole != NULL);
  memcpy(whole, header, n);
  FUZZ_CHECK(npy_parse(&again, whole, n + info->count * info->size, error));
  FUZZ_CHECK(again.kind == info->kind && again.size == info->size && !again.big && again.fortran == info->fortran);
  FUZZ_CHECK(again.dims == info->dims && !memcmp(again.shape, info->shape, sizeof again.shape) &&
             again.count == info->count);
  free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char error[NPY_ERROR_MAX] = "";
  npy_info info;
  /* An exact copy on the heap, so that the address sanitizer sees a read beyond the end. */
  uint8_t *bytes = malloc(size ? size : 1);
  FUZZ_CHECK(bytes != NULL);
  if (size) memcpy(bytes, data, size);
  memset(error, 'x', sizeof error);
  if (npy_parse(&info, bytes, size, error))
    check_accepted(&info, size);
  else
    FUZZ_CHECK(memchr(error, 0, sizeof error) != NULL && error[0]);
  free(bytes);
  return 0;
}
