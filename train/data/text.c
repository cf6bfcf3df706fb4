/* SPDX-License-Identifier: MIT */
/* Loads text as tokens. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

void hu_text_free(hu_text *text) {
  if (!text) return;
  free(text->tokens);
  memset(text, 0, sizeof *text);
}

hu_status hui_text_read(hu_text *text, const hu_bytes *file, char *why) {
  uint32_t number[256] = {0};
  hu_text read;
  memset(&read, 0, sizeof read);
  if (file->size == 0) return hui_data_wrong(why, HU_E_DATA, file->name, "size: the file is empty");
  read.tokens = hui_data_allocate(file->size, sizeof *read.tokens);
  if (!read.tokens) return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu tokens", file->size);
  read.count = file->size;
  for (size_t i = 0; i < file->size; i++) number[file->data[i]] = 1;
  for (unsigned byte = 0; byte < 256; byte++) {
    if (!number[byte]) continue;
    number[byte] = read.kinds;
    read.values[read.kinds++] = (uint8_t)byte;
  }
  for (size_t i = 0; i < file->size; i++) read.tokens[i] = number[file->data[i]];
  *text = read;
  return HU_OK;
}

hu_status hu_text_load(hu_text *text, const char *path, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!text) return hui_data_wrong(why, HU_E_NULL, "text", "z: NULL");
  hu_status status = hui_bytes_read(&file, path, why);
  if (status == HU_OK) status = hui_text_read(text, &file, why);
  hui_bytes_free(&file);
  return status;
}

hu_status hu_text_windows(size_t n, uint32_t *z, const hu_text *text, size_t first, size_t count, size_t length,
                          hu_stream stream) {
  if (!z || !text || !text->tokens) return HU_E_NULL;
  if (first > text->count || count > text->count - first || length == 0 || length > count) return HU_E_SHAPE;
  if (count - length >= UINT32_MAX) return HU_E_SHAPE;
  for (size_t i = 0; i < n; i++) {
    hu_stream words = hu_stream_child(stream, i);
    size_t at = first + hu_stream_below(&words, (uint32_t)(count - length + 1));
    memcpy(z + i * length, text->tokens + at, length * sizeof *z);
  }
  return HU_OK;
}
