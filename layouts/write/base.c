/* SPDX-License-Identifier: MIT */
/* What all parts of a model's writing use: its line, its files' bytes, its progress. See write.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layouts/write/write.h"

hu_status hui_write_wrong(hui_writing *x, hu_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(x->line, HU_CHECKPOINT_LINE, format, args);
  va_end(args);
  return status;
}

hu_status hui_write_no_memory(hui_writing *x) {
  return hui_write_wrong(x, HU_E_MEMORY, "%s: out of memory", x->model->path);
}

hu_status hui_write_cannot(hui_writing *x, const char *name) {
  return hui_write_wrong(x, HU_E_FILE, "%.500s: cannot write: %s", name, strerror(errno));
}

void hui_write_sides(const hui_tensor *tensor, size_t *rows, size_t *cols) {
  *cols = tensor->dims ? tensor->shape[tensor->dims - 1] : 1;
  *rows = tensor->dims > 1 ? tensor->shape[tensor->dims - 2] : 1;
}

char *hui_write_name(const hui_target *target, const char *name, const char *end) {
  size_t length = strlen(name) - (target->whole ? 0 : strlen(".weight")), capacity = length + strlen(end) + 1;
  char *z = malloc(capacity);
  if (z) snprintf(z, capacity, "%.*s%s", (int)length, name, end);
  return z;
}

const hui_raw *hui_write_input(const hui_writing *x, const hui_tensor *tensor) {
  char *name = hui_write_name(x->target, tensor->name, x->target->input);
  const hui_raw *raw = name ? hui_raw_find(x->order->activations, name) : NULL;
  free(name);
  return raw;
}

hu_status hui_write_bytes(hui_writing *x, hui_place place, size_t at, const void *bytes, size_t size) {
  const hui_part *part = &x->parts[place.part];
  const char *data = bytes;
  off_t offset = (off_t)(part->file.data + place.at + at);
  while (size) {
    ssize_t n = pwrite(part->fd, data, size, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return hui_write_cannot(x, part->name);
    data += n;
    offset += n;
    size -= (size_t)n;
  }
  return HU_OK;
}

hu_status hui_write_step(hui_writing *x, size_t values) {
  x->done += values;
  if (!x->order->progress || (values && x->done == x->total)) return HU_OK; /* the last call comes at the end */
  if (!x->order->progress(x->order->context, x->done, x->total)) return HU_OK;
  return hui_write_wrong(x, HU_E_FILE, "%s: stopped; nothing was written", x->model->path);
}
