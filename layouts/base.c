/* SPDX-License-Identifier: MIT */
/* What all parts of a checkpoint's opening use: its line, and its tensors by name. See layouts.h. */
#include <fenv.h>
#include <float.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

int hui_own(hu_checkpoint *x, hui_shard *shard, const st_tensor *tensor, uint8_t *own) {
  size_t place = (size_t)(tensor - shard->file.tensors);
  uint8_t **more = place < shard->own_count ? shard->own : realloc(shard->own, (2 * place + 8) * sizeof *more);
  if (!more) {
    free(own);
    return hui_wrong(x, "%s: out of memory", x->path);
  }
  shard->own = more;
  for (; shard->own_count < 2 * place + 8 && place >= shard->own_count; shard->own_count++)
    more[shard->own_count] = NULL;
  more[place] = own;
  return 1;
}

const hui_raw *hui_raw_find(const hu_checkpoint *x, const char *name) {
  size_t place = st_place(x->raw_names, name);
  return place == SIZE_MAX ? NULL : &x->raws[place];
}

const char *hui_metadata(const hui_raw *raw, const char *key) { return st_value(&raw->shard->file, key); }

int hui_is_ieee(void) {
  volatile float least = FLT_MIN, half = 0.5f, two = 2;
  volatile float subnormal = least * half, again = subnormal * two;
  return FLT_EVAL_METHOD == 0 && fegetround() == FE_TONEAREST && subnormal > 0 && again == least;
}
