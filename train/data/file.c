/* SPDX-License-Identifier: MIT */
/* Reads whole files into memory, and allocates. */
#include "train/data/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/watch.h"

int hui_size_product(size_t *z, size_t a, size_t b) {
  if (b && a > SIZE_MAX / 2 / b) return 0;
  *z = a * b;
  return 1;
}

void *hui_data_allocate(size_t n, size_t size) {
  size_t bytes;
  return hui_size_product(&bytes, n, size) ? calloc(bytes ? bytes : 1, 1) : NULL;
}

/* All bytes until the end, in memory that grows; NULL: no memory, or *wrong is set. */
static uint8_t *read_all(FILE *file, size_t *size, int *wrong) {
  size_t buffer = 1 << 16, n = 0;
  uint8_t *data = malloc(buffer);
  *wrong = 0;
  while (data) {
    size_t got = fread(data + n, 1, buffer - n, file);
    n += got;
    if (n < buffer) break;
    uint8_t *more = buffer > SIZE_MAX / 4 ? NULL : realloc(data, buffer *= 2);
    if (!more) free(data);
    data = more;
  }
  if (data && ferror(file)) {
    *wrong = errno ? errno : EIO;
    free(data);
    data = NULL;
  }
  *size = n;
  return data;
}

hu_status hui_bytes_read(hu_bytes *bytes, const char *path, char *why) {
  size_t size;
  int wrong;
  if (!path) return hui_data_wrong(why, HU_E_NULL, "(no file)", "path: NULL");
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return hui_data_wrong(why, HU_E_FILE, path, "%s", strerror(errno));
  uint8_t *data = read_all(file, &size, &wrong);
  fclose(file);
  if (!data && wrong) return hui_data_wrong(why, HU_E_FILE, path, "%s", strerror(wrong));
  if (!data) return hui_data_wrong(why, HU_E_MEMORY, path, "out of memory");
  hu_bytes read = {path, data, size};
  hu_status status = hui_file_was_read(&read, why);
  if (status == HU_OK) {
    *bytes = read;
  } else {
    hui_bytes_free(&read);
  }
  return status;
}

hu_status hui_bytes_check_plain(const hu_bytes *file, char *why) {
  if (file->size == 0) return hui_data_wrong(why, HU_E_DATA, file->name, "size: the file is empty");
  if (file->size > 2 && file->data[0] == 0x1F && file->data[1] == 0x8B) {
    return hui_data_wrong(why, HU_E_DATA, file->name, "content: compressed by gzip; unpack it first");
  }
  return HU_OK;
}

void hui_bytes_free(hu_bytes *bytes) {
  free((void *)(uintptr_t)bytes->data);
  memset(bytes, 0, sizeof *bytes);
}
