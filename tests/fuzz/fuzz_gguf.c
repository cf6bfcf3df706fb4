/* SPDX-License-Identifier: MIT */
/* The GGUF reader over any bytes: it reads nothing outside them, and what it accepts is written and read again as the
 * same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cli/tensors/gguf.h"

static void check_same(const gguf_file *x, const gguf_file *y) {
  FUZZ_CHECK(x->count == y->count && x->entries == y->entries && x->alignment == y->alignment);
  FUZZ_CHECK(x->metadata_size == y->metadata_size && !memcmp(x->metadata, y->metadata, x->metadata_size));
  for (size_t i = 0; i < x->count; i++) {
    const gguf_tensor *a = &x->tensors[i], *b = &y->tensors[i];
    FUZZ_CHECK(!strcmp(a->name, b->name) && a->type == b->type && a->dims == b->dims && a->count == b->count);
    FUZZ_CHECK(!memcmp(a->shape, b->shape, a->dims * sizeof *a->shape));
    FUZZ_CHECK(a->begin == b->begin && a->size == b->size);
  }
}

static void check_accepted(gguf_file *file, size_t size) {
  gguf_file again;
  st_file tensors = {0};
  char error[ST_ERROR_MAX];
  size_t length, data = file->data;
  for (size_t i = 0; i < file->count; i++) {
    const gguf_tensor *t = &file->tensors[i];
    FUZZ_CHECK(t->dims >= 1 && t->dims <= GGUF_DIMS_MAX && t->count % t->type->block == 0);
    FUZZ_CHECK(t->size == t->count / t->type->block * t->type->bytes);
    FUZZ_CHECK(data <= size && t->begin <= size - data && t->size <= size - data - t->begin);
  }
  FUZZ_CHECK(gguf_as_tensors(&tensors, file) && tensors.count == file->count);
  gguf_layout(file);
  uint8_t *header = gguf_header(file, &length);
  FUZZ_CHECK(header && length == file->data);
  size_t whole = length + gguf_data_size(file);
  uint8_t *bytes = calloc(whole, 1);
  FUZZ_CHECK(bytes != NULL);
  memcpy(bytes, header, length);
  FUZZ_CHECK(gguf_parse(&again, bytes, whole, error));
  check_same(file, &again);
  gguf_free(&again);
  st_free(&tensors);
  free(header);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char error[ST_ERROR_MAX];
  gguf_file file;
  /* An exact copy on the heap, so that the address sanitizer sees a read beyond the end. */
  uint8_t *bytes = malloc(size ? size : 1);
  FUZZ_CHECK(bytes != NULL);
  if (size) memcpy(bytes, data, size);
  memset(error, 'x', sizeof error);
  if (gguf_parse(&file, bytes, size, error)) {
    check_accepted(&file, size);
    gguf_free(&file);
  } else {
    FUZZ_CHECK(memchr(error, 0, sizeof error) != NULL && error[0]);
    for (const char *p = error; *p; p++) FUZZ_CHECK((unsigned char)*p >= 0x20);
  }
  free(bytes);
  return 0;
}
