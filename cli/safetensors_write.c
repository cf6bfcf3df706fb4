/* SPDX-License-Identifier: MIT */
/* Building .safetensors: see safetensors.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/safetensors.h"

static const struct {
  const char *name;
  unsigned bits;
} dtypes[ST_DTYPES] = {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
                       {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
                       {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
                       {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
                       {"I64", 64},        {"U64", 64}};

const char *st_dtype_name(int dtype) { return dtypes[dtype].name; }
unsigned st_dtype_bits(int dtype) { return dtypes[dtype].bits; }

int st_dtype_find(const char *name) {
  for (int i = 0; i < ST_DTYPES; i++)
    if (!strcmp(name, dtypes[i].name)) return i;
  return -1;
}

const char *st_shape(char text[ST_SHAPE_MAX], uint32_t dims, const size_t *shape) {
  size_t n = (size_t)snprintf(text, ST_SHAPE_MAX, "[");
  for (uint32_t i = 0; i < dims && n < ST_SHAPE_MAX; i++)
    n += (size_t)snprintf(text + n, ST_SHAPE_MAX - n, "%s%zu", i ? ", " : "", shape[i]);
  if (n < ST_SHAPE_MAX) snprintf(text + n, ST_SHAPE_MAX - n, "]");
  return text;
}

const char *st_printable(char text[ST_NAME_MAX], const char *name) {
  size_t n = 0;
  for (; name[n] && n < ST_NAME_MAX - 1; n++)
    text[n] = (unsigned char)name[n] < 0x20 || name[n] == 0x7F ? '?' : name[n];
  /* A cut does not leave half a character. */
  while (name[n] && n && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
  text[n] = 0;
  return text;
}

void st_free(st_file *file) {
  for (size_t i = 0; i < file->count; i++) {
    free(file->tensors[i].name);
    free(file->tensors[i].shape);
  }
  for (size_t i = 0; i < file->entries; i++) {
    free(file->metadata[i].key);
    free(file->metadata[i].value);
  }
  free(file->tensors);
  free(file->metadata);
  memset(file, 0, sizeof *file);
}

const char *st_value(const st_file *file, const char *key) {
  for (size_t i = 0; i < file->entries; i++)
    if (!strcmp(file->metadata[i].key, key)) return file->metadata[i].value;
  return NULL;
}

const st_tensor *st_find(const st_file *file, const char *name) {
  for (size_t i = 0; i < file->count; i++)
    if (!strcmp(file->tensors[i].name, name)) return &file->tensors[i];
  return NULL;
}

int st_count(size_t *count, size_t *bytes, unsigned *odd, int dtype, uint32_t dims, const size_t *shape) {
  unsigned bits = st_dtype_bits(dtype);
  size_t n = 1;
  for (uint32_t i = 0; i < dims; i++) {
    if (shape[i] > INT64_MAX) return 0; /* JSON's integers end there, for most readers */
    if (!shape[i]) n = 0;
  }
  for (uint32_t i = 0; i < dims && n; i++) {
    if (n > SIZE_MAX / 2 / shape[i]) return 0;
    n *= shape[i];
  }
  if (n > SIZE_MAX / 2 / bits) return 0;
  *count = n;
  *bytes = n * bits / 8;
  *odd = (unsigned)(n * bits % 8);
  return 1;
}

/* Room for one more of `size` bytes; the list, moved or not, or NULL (then it is as it was). */
static void *grown(void *list, size_t count, size_t *room, size_t size) {
  if (count < *room) return list;
  size_t more = *room ? 2 * *room : 16;
  void *z = realloc(list, more * size);
  if (z) *room = more;
  return z;
}

int st_add(st_file *file, const char *name, int dtype, uint32_t dims, const size_t *shape) {
  st_tensor *list = grown(file->tensors, file->count, &file->tensor_room, sizeof *list);
  if (!list) return 0;
  file->tensors = list;
  st_tensor t = {strdup(name), dtype, dims, malloc((dims ? dims : 1) * sizeof *shape), 0, 0, 0};
  unsigned odd = 0;
  if (!t.name || !t.shape || !st_count(&t.count, &t.size, &odd, dtype, dims, shape) || odd) {
    free(t.name);
    free(t.shape);
    return 0;
  }
  if (dims) memcpy(t.shape, shape, dims * sizeof *shape);
  file->tensors[file->count++] = t;
  return 1;
}

int st_set(st_file *file, const char *key, const char *value) {
  char *copy = strdup(value), *name = NULL;
  for (size_t i = 0; i < file->entries && copy; i++)
    if (!strcmp(file->metadata[i].key, key)) {
      free(file->metadata[i].value);
      file->metadata[i].value = copy;
      return 1;
    }
  st_entry *list = copy ? grown(file->metadata, file->entries, &file->entry_room, sizeof *list) : NULL;
  if (list) file->metadata = list;
  if (list) name = strdup(key);
  if (!name) {
    free(copy);
    return 0;
  }
  file->metadata[file->entries++] = (st_entry){name, copy};
  return 1;
}

static int by_name(const void *x, const void *y) {
  return strcmp((*(const st_tensor *const *)x)->name, (*(const st_tensor *const *)y)->name);
}

static int by_size(const void *x, const void *y) {
  const st_tensor *a = x, *b = y;
  unsigned p = st_dtype_bits(a->dtype), q = st_dtype_bits(b->dtype);
  if (p != q) return p > q ? -1 : 1;
  return strcmp(a->name, b->name);
}

static const char *find_twice(const st_file *file) {
  const st_tensor **list = malloc((file->count + 1) * sizeof *list);
  const char *twice = NULL;
  if (!list) return NULL; /* the header will not fit, either */
  for (size_t i = 0; i < file->count; i++) list[i] = &file->tensors[i];
  qsort(list, file->count, sizeof *list, by_name);
  for (size_t i = 1; i < file->count && !twice; i++)
    if (!strcmp(list[i - 1]->name, list[i]->name)) twice = list[i]->name;
  free(list);
  return twice;
}

const char *st_layout(st_file *file) {
  size_t end = 0;
  const char *twice = find_twice(file);
  if (twice) return twice;
  if (st_find(file, ST_METADATA)) return ST_METADATA;
  if (file->count) qsort(file->tensors, file->count, sizeof *file->tensors, by_size);
  for (size_t i = 0; i < file->count; i++) {
    file->tensors[i].begin = end;
    end += file->tensors[i].size;
  }
  return NULL;
}

static json_t *entry_of(const st_tensor *t) {
  json_t *entry = json_object(), *shape = json_array();
  int bad = json_object_set_new(entry, "dtype", json_string(st_dtype_name(t->dtype)));
  for (uint32_t i = 0; i < t->dims; i++) bad |= json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
  bad |= json_object_set_new(entry, "shape", shape);
  json_t *offsets = json_array();
  bad |= json_array_append_new(offsets, json_integer((json_int_t)t->begin));
  bad |= json_array_append_new(offsets, json_integer((json_int_t)(t->begin + t->size)));
  bad |= json_object_set_new(entry, "data_offsets", offsets);
  if (!bad) return entry;
  json_decref(entry);
  return NULL;
}

static char *header_text(const st_file *file) {
  json_t *root = json_object(), *metadata = json_object();
  int bad = !root || !metadata;
  for (size_t i = 0; i < file->entries; i++)
    bad |= json_object_set_new(metadata, file->metadata[i].key, json_string(file->metadata[i].value));
  if (file->entries)
    bad |= json_object_set_new(root, "__metadata__", metadata);
  else
    json_decref(metadata);
  for (size_t i = 0; i < file->count; i++)
    bad |= json_object_set_new(root, file->tensors[i].name, entry_of(&file->tensors[i]));
  char *text = bad ? NULL : json_dumps(root, JSON_COMPACT);
  json_decref(root);
  return text;
}

char *st_header(st_file *file, size_t *length) {
  char *text = header_text(file), *z = NULL;
  size_t n = text ? strlen(text) : 0, padded = (n + 7) / 8 * 8;
  if (text && padded <= ST_HEADER_MAX) z = malloc(8 + padded);
  if (z) {
    for (int i = 0; i < 8; i++) z[i] = (char)((uint64_t)padded >> 8 * i & 0xFF);
    memcpy(z + 8, text, n);
    memset(z + 8 + n, ' ', padded - n);
    *length = 8 + padded;
    file->data = 8 + padded;
  }
  free(text);
  return z;
}
