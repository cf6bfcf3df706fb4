/* SPDX-License-Identifier: MIT */
/* GGUF as a checkpoint: blocks are tensors of values, NVFP4 with the second scale beside it. See layouts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/gguf.h"
#include "layouts/layouts.h"

int hui_gguf_open(hu_checkpoint *x, hui_shard *shard) {
  char error[ST_ERROR_MAX];
  shard->gguf = calloc(1, sizeof *shard->gguf);
  if (!shard->gguf) return hui_wrong(x, "%s: out of memory", x->path);
  if (!gguf_parse(shard->gguf, shard->bytes.data, shard->bytes.size, error))
    return hui_wrong(x, "%s: not a GGUF file: %s", shard->path, error);
  shard->file.data = shard->gguf->data;
  return gguf_as_tensors(&shard->file, shard->gguf) || hui_wrong(x, "%s: out of memory", x->path);
}

void hui_gguf_close(hui_shard *shard) {
  if (shard->gguf) gguf_free(shard->gguf);
  free(shard->gguf);
}

static const gguf_tensor *tensor_of(const hui_raw *raw) {
  return &raw->shard->gguf->tensors[raw->tensor - raw->shard->file.tensors];
}

/* Returns the second scale of NVFP4: "blk.0.ffn_up.scale" of "blk.0.ffn_up.weight"; NULL where it is missing. */
static const hui_raw *second_of(const hu_checkpoint *x, const char *name) {
  char other[HUI_NAME_MAX];
  size_t n = strlen(name), m = strlen(".weight");
  int ends = n > m && !strcmp(name + n - m, ".weight");
  snprintf(other, sizeof other, "%.*s.scale", (int)(ends ? n - m : n), name);
  const hui_raw *z = hui_raw_find(x, other);
  if (z || !ends) return z;
  snprintf(other, sizeof other, "%s.scale", name);
  return hui_raw_find(x, other);
}

static int set_second(hu_checkpoint *x, hui_tensor *z) {
  char shown[ST_NAME_MAX], other[ST_NAME_MAX];
  z->second = second_of(x, z->raw->tensor->name);
  if (!z->second) return 1;
  const st_tensor *second = z->second->tensor;
  size_t matrices = z->dims > 2 ? z->count / z->rows / z->cols : 1;
  if (second->dtype != ST_F32 || (second->count != 1 && second->count != matrices))
    return hui_wrong(x, "%s: tensor '%s': '%s' is not one F32 for the tensor or each matrix", z->raw->shard->path,
                     st_printable(shown, z->raw->tensor->name), st_printable(other, second->name));
  z->second_step = second->count > 1;
  ((hui_raw *)(uintptr_t)z->second)->used = 1;
  return 1;
}

int hui_gguf_blocks(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw) {
  char shown[ST_NAME_MAX];
  const gguf_tensor *tensor = tensor_of(raw);
  memset(z, 0, sizeof *z);
  if (!gguf_reads(tensor->type))
    return hui_wrong(x, "%s: tensor '%s': blocks of %s are not read", raw->shard->path,
                     st_printable(shown, tensor->name), tensor->type->name);
  z->raw = raw;
  z->layout = hui_layout_find(tensor->type->id == GGUF_NVFP4 ? "gguf-nvfp4" : "gguf");
  z->grid = HUI_NO_SCALE;
  z->name = strdup(tensor->name);
  z->shape = malloc(tensor->dims * sizeof *z->shape);
  if (!z->name || !z->shape) return hui_wrong(x, "%s: out of memory", x->path);
  memcpy(z->shape, tensor->shape, tensor->dims * sizeof *z->shape);
  z->dims = tensor->dims;
  z->count = tensor->count;
  z->cols = z->shape[z->dims - 1];
  z->rows = z->dims > 1 ? z->shape[z->dims - 2] : 1;
  z->block[0] = 1;
  z->block[1] = tensor->type->block;
  snprintf(z->elements, sizeof z->elements, "%s", tensor->type->name);
  if (tensor->type->id != GGUF_NVFP4) return 1;
  if (!set_second(x, z)) return 0;
  snprintf(z->scales, sizeof z->scales, "ue4m3%s", z->second ? " x binary32" : "");
  z->block[1] = 16;
  return 1;
}

int hui_gguf_is_blocks(const hui_raw *raw) { return raw->shard->gguf && tensor_of(raw)->type->dtype < 0; }

void hui_gguf_read(float *z, const hui_tensor *x, size_t first, size_t n) {
  float block[256];
  const gguf_type *type = tensor_of(x->raw)->type;
  for (size_t i = 0; i < n;) {
    size_t at = first + i, skip = at % type->block, some = type->block - skip;
    if (some > n - i) some = n - i;
    gguf_values(block, type, x->raw->bytes + at / type->block * type->bytes, type->block);
    memcpy(z + i, block + skip, some * sizeof *z);
    i += some;
  }
}
