/* SPDX-License-Identifier: MIT */
/* Loads text as tokens. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

void hu_text_free(hu_text *z) {
  if (!z) return;
  free(z->tokens);
  memset(z, 0, sizeof *z);
}

hu_status hu_text_read(hu_text *z, const hu_bytes *file, char *why) {
  uint32_t number[256] = {0};
  hu_text t;
  memset(&t, 0, sizeof t);
  if (file->size == 0) return hu_data_wrong(why, HU_E_DATA, file->name, "size: the file is empty");
  t.tokens = hu_data_room(file->size, sizeof *t.tokens);
  if (!t.tokens) return hu_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu tokens", file->size);
  t.count = file->size;
  for (size_t i = 0; i < file->size; i++) number[file->data[i]] = 1;
  for (unsigned byte = 0; byte < 256; byte++) {
    if (!number[byte]) continue;
    number[byte] = t.kinds;
    t.values[t.kinds++] = (uint8_t)byte;
  }
  for (size_t i = 0; i < file->size; i++) t.tokens[i] = number[file->data[i]];
  *z = t;
  return HU_OK;
}

hu_status hu_text_load(hu_text *z, const char *path, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!z) return hu_data_wrong(why, HU_E_NULL, "text", "z: NULL");
  hu_status s = hu_bytes_read(&file, path, why);
  if (s == HU_OK) s = hu_text_read(z, &file, why);
  hu_bytes_free(&file);
  return s;
}

hu_status hu_text_windows(size_t n, uint32_t *z, const hu_text *x, size_t first, size_t count, size_t length,
                          hu_stream s) {
  if (!z || !x || !x->tokens) return HU_E_NULL;
  if (first > x->count || count > x->count - first || length == 0 || length > count) return HU_E_SHAPE;
  if (count - length >= UINT32_MAX) return HU_E_SHAPE;
  for (size_t i = 0; i < n; i++) {
    hu_stream words = hu_stream_child(s, i);
    size_t at = first + hu_stream_below(&words, (uint32_t)(count - length + 1));
    memcpy(z + i * length, x->tokens + at, length * sizeof *z);
  }
  return HU_OK;
}
