/* SPDX-License-Identifier: MIT */
/* Reading .safetensors: see safetensors.h. The JSON is parsed by jansson. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strdup, open_memstream */
#endif
#include "files/safetensors.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static int wrong(char *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, ST_ERROR_MAX, format, args);
  va_end(args);
  return 0;
}

/* Takes over what the parser says, which may quote the file. */
static int wrong_json(char *error, const json_error_t *where) {
  wrong(error, "header: %s (at byte %d)", where->text, where->position + 8);
  for (unsigned char *at = (unsigned char *)error; *at; at++)
    if (*at < 0x20 || *at > 0x7E) *at = '?';
  return 0;
}

static int read_whole(size_t *z, const json_t *value) {
  if (!json_is_integer(value) || json_integer_value(value) < 0) return 0;
  unsigned long long x = (unsigned long long)json_integer_value(value);
  if (x > SIZE_MAX) return 0;
  *z = (size_t)x;
  return 1;
}

static int read_shape(st_tensor *tensor, const char *shown, const json_t *list, char *error) {
  size_t dims = json_array_size(list);
  if (!json_is_array(list)) return wrong(error, "tensor '%s': shape is not a list", shown);
  if (dims > ST_DIMS_MAX) return wrong(error, "tensor '%s': shape: more than %d dimensions", shown, ST_DIMS_MAX);
  tensor->shape = calloc(dims ? dims : 1, sizeof *tensor->shape);
  if (!tensor->shape) return wrong(error, "out of memory");
  for (size_t i = 0; i < dims; i++)
    if (!read_whole(&tensor->shape[i], json_array_get(list, i)))
      return wrong(error, "tensor '%s': shape: entry %zu is not a whole number", shown, i + 1);
  tensor->dims = (uint32_t)dims;
  return 1;
}

static int read_offsets(st_tensor *tensor, const char *shown, const json_t *list, char *error) {
  size_t end;
  if (!json_is_array(list) || json_array_size(list) != 2)
    return wrong(error, "tensor '%s': data_offsets is not a list of two", shown);
  if (!read_whole(&tensor->begin, json_array_get(list, 0)) || !read_whole(&end, json_array_get(list, 1)))
    return wrong(error, "tensor '%s': data_offsets: not whole numbers", shown);
  if (end < tensor->begin) return wrong(error, "tensor '%s': data_offsets: the end lies before the begin", shown);
  tensor->size = end - tensor->begin;
  return 1;
}

static int check_size(st_tensor *tensor, const char *shown, char *error) {
  char shape[ST_SHAPE_MAX];
  size_t bytes;
  unsigned odd;
  if (!st_count(&tensor->count, &bytes, &odd, tensor->dtype, tensor->dims, tensor->shape))
    return wrong(error, "tensor '%s': shape: the tensor does not fit the address space", shown);
  if (odd)
    return wrong(error, "tensor '%s': shape: its %s do not fill whole bytes", shown, st_dtype_name(tensor->dtype));
  if (bytes != tensor->size)
    return wrong(error, "tensor '%s': data_offsets: %zu bytes, %s %s has %zu", shown, tensor->size,
                 st_dtype_name(tensor->dtype), st_shape(shape, tensor->dims, tensor->shape), bytes);
  return 1;
}

static int read_tensor(st_tensor *tensor, const char *name, json_t *entry, char *error) {
  static const char *const fields[] = {"dtype", "shape", "data_offsets"};
  char shown[ST_NAME_MAX], other[ST_NAME_MAX];
  const char *key;
  json_t *value;
  st_printable(shown, name);
  tensor->name = strdup(name);
  if (!tensor->name) return wrong(error, "out of memory");
  if (!json_is_object(entry)) return wrong(error, "tensor '%s': not an object", shown);
  json_object_foreach(entry, key, value) {
    if (strcmp(key, fields[0]) && strcmp(key, fields[1]) && strcmp(key, fields[2]))
      return wrong(error, "tensor '%s': unknown field '%s'", shown, st_printable(other, key));
  }
  for (int i = 0; i < 3; i++)
    if (!json_object_get(entry, fields[i])) return wrong(error, "tensor '%s': no %s", shown, fields[i]);
  const char *dtype = json_string_value(json_object_get(entry, fields[0]));
  if (!dtype) return wrong(error, "tensor '%s': dtype is not a string", shown);
  tensor->dtype = st_dtype_find(dtype);
  if (tensor->dtype < 0) return wrong(error, "tensor '%s': dtype '%s' is not known", shown, st_printable(other, dtype));
  return read_shape(tensor, shown, json_object_get(entry, fields[1]), error) &&
         read_offsets(tensor, shown, json_object_get(entry, fields[2]), error) && check_size(tensor, shown, error);
}

static int read_metadata(st_file *file, json_t *object, char *error) {
  char shown[ST_NAME_MAX];
  const char *key;
  json_t *value;
  if (!json_is_object(object)) return wrong(error, "__metadata__: not an object");
  json_object_foreach(object, key, value) {
    if (!json_is_string(value)) return wrong(error, "__metadata__: '%s' is not a string", st_printable(shown, key));
    st_entry *entry = &file->metadata[file->entries++];
    entry->key = strdup(key);
    entry->value = strdup(json_string_value(value));
    if (!entry->key || !entry->value || !st_place_set(&file->keys, key, file->entries - 1))
      return wrong(error, "out of memory");
  }
  return 1;
}

static int read_header(st_file *file, json_t *root, char *error) {
  json_t *metadata = json_object_get(root, "__metadata__"), *entry;
  const char *name;
  file->tensor_capacity = json_object_size(root) + 1;
  file->entry_capacity = json_object_size(metadata) + 1;
  file->tensors = calloc(file->tensor_capacity, sizeof *file->tensors);
  file->metadata = calloc(file->entry_capacity, sizeof *file->metadata);
  if (!file->tensors || !file->metadata) return wrong(error, "out of memory");
  if (metadata && !read_metadata(file, metadata, error)) return 0;
  json_object_foreach(root, name, entry) {
    if (entry == metadata) continue;
    if (!read_tensor(&file->tensors[file->count++], name, entry, error)) return 0;
  }
  return 1;
}

static int by_bytes(const void *x, const void *y) {
  const st_tensor *a = x, *b = y;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  if (a->size != b->size) return a->size < b->size ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* Checks that the tensors, in the order of their bytes, take up all of the data. */
static int check_cover(st_file *file, size_t have, char *error) {
  char shown[ST_NAME_MAX], before[ST_NAME_MAX];
  size_t end = 0;
  qsort(file->tensors, file->count, sizeof *file->tensors, by_bytes);
  for (size_t i = 0; i < file->count; i++) {
    const st_tensor *tensor = &file->tensors[i];
    st_printable(shown, tensor->name);
    if (!st_place_set(&file->names, tensor->name, i)) return wrong(error, "out of memory");
    if (tensor->begin < end)
      return wrong(error, "tensor '%s': data_offsets: overlaps tensor '%s'", shown,
                   st_printable(before, file->tensors[i - 1].name));
    if (tensor->begin > end)
      return wrong(error, "tensor '%s': data_offsets: a hole of %zu bytes before it", shown, tensor->begin - end);
    if (tensor->size > have - end)
      return wrong(error, "tensor '%s': data_offsets: ends at byte %zu of the data, the file has %zu", shown,
                   tensor->begin + tensor->size, have);
    end += tensor->size;
  }
  return end == have || wrong(error, "%zu trailing bytes after the data", have - end);
}

static int read_length(size_t *length, const uint8_t *bytes, size_t size, char *error) {
  uint64_t n = 0;
  if (size < 8) return wrong(error, "truncated in the header length");
  for (int i = 0; i < 8; i++) n |= (uint64_t)bytes[i] << 8 * i;
  if (n > ST_HEADER_MAX)
    return wrong(error, "header length: %llu bytes, more than %d are not read", (unsigned long long)n, ST_HEADER_MAX);
  if (n > size - 8)
    return wrong(error, "header length: %llu bytes, the file has %zu after it", (unsigned long long)n, size - 8);
  if (n == 0 || bytes[8] != '{') return wrong(error, "header: does not begin with {");
  *length = (size_t)n;
  return 1;
}

int st_parse(st_file *file, const uint8_t *bytes, size_t size, char error[ST_ERROR_MAX]) {
  size_t length = 0;
  json_error_t where;
  memset(file, 0, sizeof *file);
  if (!read_length(&length, bytes, size, error)) return 0;
  json_t *root = json_loadb((const char *)bytes + 8, length, JSON_REJECT_DUPLICATES, &where);
  if (!root) return wrong_json(error, &where);
  file->data = 8 + length;
  int good = read_header(file, root, error) && check_cover(file, size - file->data, error);
  json_decref(root);
  if (!good) st_free(file);
  return good;
}
