/* SPDX-License-Identifier: MIT */
/* The numbers of ONNX's tensors: bytes as they are, lists of numbers, or another file. See onnx.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts/onnx.h"

/* Dtypes by TensorProto.DataType; -1: none. list: the field of numbers, where there are no bytes. */
static const struct {
  int dtype, list;
} types[] = {
    {-1, 0},     {ST_F32, 4}, {ST_U8, 5},   {ST_I8, 5},      {ST_U16, 5},         {ST_I16, 5},     {ST_I32, 5},
    {ST_I64, 7}, {-1, 6},     {ST_BOOL, 5}, {ST_F16, 5},     {ST_F64, 10},        {ST_U32, 11},    {ST_U64, 11},
    {ST_C64, 4}, {-1, 10},    {ST_BF16, 5}, {ST_F8_E4M3, 5}, {ST_F8_E4M3FNUZ, 5}, {ST_F8_E5M2, 5}, {ST_F8_E5M2FNUZ, 5},
    {ST_U4, 5},  {ST_I4, 5},  {ST_F4, 5},   {ST_F8_E8M0, 5}, {ST_U2, 5},          {ST_I2, 5}};
enum { STRING = 8, TYPES = sizeof types / sizeof types[0] };

int onnx_wrong(hu_checkpoint *x, size_t place, const char *name, const char *what) {
  char shown[ST_NAME_MAX];
  if (!name) return hui_wrong(x, "%s: not an ONNX model: %s", x->shards[place].path, what);
  return hui_wrong(x, "%s: tensor '%s': %s", x->shards[place].path, st_printable(shown, name), what);
}

/* Adds a tensor whose codes may end within a byte; its bytes begin at a place of the file. */
static st_tensor *add(hui_shard *shard, const onnx_tensor *tensor, size_t begin) {
  int dtype = types[tensor->type].dtype;
  size_t bits = st_dtype_bits(dtype), bytes = tensor->count / 8 * bits + (tensor->count % 8 * bits + 7) / 8;
  if (!st_add(&shard->file, tensor->name, ST_U8, 1, &bytes)) return NULL;
  st_tensor *z = &shard->file.tensors[shard->file.count - 1];
  size_t *shape = malloc((tensor->dims ? tensor->dims : 1) * sizeof *shape);
  if (!shape) return NULL;
  memcpy(shape, tensor->shape, tensor->dims * sizeof *shape);
  free(z->shape);
  z->shape = shape;
  z->dtype = dtype;
  z->dims = tensor->dims;
  z->count = tensor->count;
  z->begin = begin;
  return z;
}

/* ---- lists of numbers ---- */

static int put_number(uint8_t *z, size_t *at, size_t size, size_t each, uint64_t value) {
  if (size - *at < each) return 0;
  for (size_t i = 0; i < each; i++) z[*at + i] = (uint8_t)(value >> 8 * i);
  *at += each;
  return 1;
}

/* Takes the numbers of a field: one, or many packed in bytes. wide: bytes of a number that is no varint; 0: varints. */
static int take_numbers(uint8_t *z, size_t *at, size_t size, size_t each, const hui_field *field, size_t wide) {
  if (field->type != 2) return put_number(z, at, size, each, field->value);
  if (wide) {
    if (field->size > size - *at) return 0;
    memcpy(z + *at, field->bytes, field->size);
    *at += field->size;
    return 1;
  }
  hui_wire rest = {field->bytes, field->bytes + field->size};
  uint64_t value;
  while (rest.at < rest.end)
    if (!hui_wire_varint(&rest, &value) || !put_number(z, at, size, each, value)) return 0;
  return 1;
}

static int add_list(hu_checkpoint *x, size_t place, const onnx_tensor *tensor) {
  hui_shard *shard = &x->shards[place];
  st_tensor *made = add(shard, tensor, 0);
  if (!made) return onnx_wrong(x, place, tensor->name, "is too large, or out of memory");
  size_t size = made->size, at = 0, bits = st_dtype_bits(made->dtype), each = bits < 8 ? 1 : bits / 8;
  uint32_t list = (uint32_t)types[tensor->type].list;
  if (made->dtype == ST_C64) each = 4;
  if (size / each > (size_t)(tensor->message.end - tensor->message.at))
    return onnx_wrong(x, place, tensor->name, "has fewer numbers than its shape");
  uint8_t *own = malloc(size ? size : 1);
  if (!own) return hui_wrong(x, "%s: out of memory", x->path);
  hui_wire rest = tensor->message;
  hui_field field;
  int good = 1;
  while (good && hui_wire_next(&rest, &field, &good))
    if (field.number == list) good = take_numbers(own, &at, size, each, &field, list == 4 ? 4 : list == 10 ? 8 : 0);
  if (!good || at != size) {
    free(own);
    return onnx_wrong(x, place, tensor->name, "has another number of numbers than its shape");
  }
  return hui_own(x, shard, made, own);
}

/* ---- another file ---- */

/* Returns 1 for a path that stays in the folder of the model. */
static int stays(const char *path) {
  for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
    if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/')) return 0;
  return path[0] && path[0] != '/' && !strchr(path, '\\');
}

static int add_external(hu_checkpoint *x, size_t place, const onnx_tensor *tensor) {
  size_t other;
  if (!stays(tensor->location))
    return onnx_wrong(x, place, tensor->name, "its external data leave the folder of the model");
  if (!hui_shard_beside(x, tensor->location, &other)) return 0;
  hui_shard *shard = &x->shards[other];
  if (tensor->offset > shard->bytes.size)
    return onnx_wrong(x, other, tensor->name, "begins behind the end of the file");
  st_tensor *made = add(shard, tensor, (size_t)tensor->offset);
  if (!made) return onnx_wrong(x, place, tensor->name, "is too large, or out of memory");
  if (made->size > shard->bytes.size - made->begin)
    return onnx_wrong(x, other, tensor->name, "ends behind the end of the file");
  if (tensor->has_length && tensor->length != made->size)
    return onnx_wrong(x, place, tensor->name, "the length of its external data is not that of its shape");
  return 1;
}

/* ---- all ---- */

int onnx_add(hu_checkpoint *x, size_t place, const onnx_tensor *tensor) {
  if (tensor->type == STRING) return 1;
  if (tensor->type >= TYPES || types[tensor->type].dtype < 0) {
    char what[64];
    snprintf(what, sizeof what, "data_type %llu is not read", (unsigned long long)tensor->type);
    return onnx_wrong(x, place, tensor->name, what);
  }
  if (tensor->external) return add_external(x, place, tensor);
  if (!tensor->has_raw) return add_list(x, place, tensor);
  hui_shard *shard = &x->shards[place];
  st_tensor *made = add(shard, tensor, tensor->has_raw ? (size_t)(tensor->raw - shard->bytes.data) : 0);
  if (!made) return onnx_wrong(x, place, tensor->name, "is too large, or out of memory");
  return made->size == tensor->raw_size ||
         onnx_wrong(x, place, tensor->name, "raw_data are not as many bytes as its shape has");
}
