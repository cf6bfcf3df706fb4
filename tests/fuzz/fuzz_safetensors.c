/* SPDX-License-Identifier: MIT */
/* The .safetensors reader over any bytes: it reads nothing outside them, and what it accepts accounts for every byte
 * and is written and read again as the same. Seen twice: as a file, and, so that the header is reached whatever its
 * length, with the first two bytes as the size of the data (zeros) and the rest as the header. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cli/tensors/safetensors.h"

static void check_same(const st_file *x, const st_file *y) {
  FUZZ_CHECK(x->count == y->count && x->entries == y->entries);
  for (size_t i = 0; i < x->count; i++) {
    const st_tensor *a = &x->tensors[i], *b = st_find(y, a->name);
    FUZZ_CHECK(b && a->dtype == b->dtype && a->dims == b->dims && a->count == b->count && a->size == b->size);
    FUZZ_CHECK(!memcmp(a->shape, b->shape, a->dims * sizeof *a->shape));
  }
  for (size_t i = 0; i < x->entries; i++) {
    const char *value = st_value(y, x->metadata[i].key);
    FUZZ_CHECK(value && !strcmp(value, x->metadata[i].value));
  }
}

static void check_accepted(const st_file *file, size_t size) {
  st_file plan = {0}, again;
  char error[ST_ERROR_MAX], shown[ST_NAME_MAX], shape[ST_SHAPE_MAX];
  size_t end = 0, length = 0;
  for (size_t i = 0; i < file->count; i++) {
    const st_tensor *t = &file->tensors[i];
    FUZZ_CHECK(t->dtype >= 0 && t->dtype < ST_DTYPES && t->dims <= ST_DIMS_MAX && t->begin == end);
    FUZZ_CHECK(st_dtype_find(st_dtype_name(t->dtype)) == t->dtype);
    FUZZ_CHECK(t->count * st_dtype_bits(t->dtype) == 8 * t->size);
    FUZZ_CHECK(strlen(st_printable(shown, t->name)) < ST_NAME_MAX && strlen(st_shape(shape, t->dims, t->shape)) > 1);
    FUZZ_CHECK(st_add(&plan, t->name, t->dtype, t->dims, t->shape));
    end += t->size;
  }
  FUZZ_CHECK(file->data + end == size);
  for (size_t i = 0; i < file->entries; i++) FUZZ_CHECK(st_set(&plan, file->metadata[i].key, file->metadata[i].value));
  FUZZ_CHECK(st_layout(&plan) == NULL);
  char *header = st_header(&plan, &length);
  FUZZ_CHECK(header && length % 8 == 0);
  uint8_t *whole = calloc(length + end, 1);
  FUZZ_CHECK(whole != NULL);
  memcpy(whole, header, length);
  FUZZ_CHECK(st_parse(&again, whole, length + end, error));
  check_same(file, &again);
  st_free(&again);
  st_free(&plan);
  free(header);
  free(whole);
}

static void check_bytes(const uint8_t *bytes, size_t size) {
  char error[ST_ERROR_MAX];
  st_file file;
  memset(error, 'x', sizeof error);
  if (st_parse(&file, bytes, size, error)) {
    check_accepted(&file, size);
    st_free(&file);
    return;
  }
  FUZZ_CHECK(memchr(error, 0, sizeof error) != NULL && error[0]);
  for (const char *p = error; *p; p++) FUZZ_CHECK((unsigned char)*p >= 0x20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t header = size > 2 ? size - 2 : 0, more = size > 2 ? data[0] | (size_t)data[1] << 8 : 0;
  /* Exact copies on the heap, so that the address sanitizer sees a read beyond the end. */
  uint8_t *bytes = malloc(size ? size : 1), *made = calloc(8 + header + more, 1);
  FUZZ_CHECK(bytes && made);
  if (size) memcpy(bytes, data, size);
  check_bytes(bytes, size);
  for (int i = 0; i < 8; i++) made[i] = (uint8_t)((uint64_t)header >> 8 * i);
  if (header) memcpy(made + 8, data + 2, header);
  check_bytes(made, 8 + header + more);
  free(bytes);
  free(made);
  return 0;
}
