/* SPDX-License-Identifier: MIT */
/* What all parts of a checkpoint's opening use: its line, and its tensors by name. See layouts.h. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "layouts/layouts.h"

int hui_wrong(hu_checkpoint *x, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(x->line, HU_CHECKPOINT_LINE, format, args);
  va_end(args);
  return 0;
}

int hui_wrong_json(hu_checkpoint *x, const char *path, const json_error_t *where) {
  hui_wrong(x, "%s: line %d, column %d: %s", path, where->line, where->column, where->text);
  for (char *at = x->line; *at; at++)
    if ((unsigned char)*at < 0x20 || *at == 0x7F) *at = '?';
  return 0;
}

const hui_raw *hui_raw_find(const hu_checkpoint *x, const char *name) {
  size_t place = st_place(x->raw_names, name);
  return place == SIZE_MAX ? NULL : &x->raws[place];
}

const char *hui_metadata(const hui_raw *raw, const char *key) { return st_value(&raw->shard->file, key); }
