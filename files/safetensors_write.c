/* SPDX-License-Identifier: MIT */
/* Building .safetensors: see safetensors.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strdup, open_memstream */
#endif
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/safetensors.h"

static const struct {
  const char *name;
  unsigned bits;
} dtypes[ST_DTYPES] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"U8", 8},   {"I8", 8},   {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16}, {"U16", 16}, {"F16", 16},
    {"BF16", 16},   {"I32", 32},    {"U32", 32},        {"F32", 32},        {"C64", 64}, {"F64", 64}, {"I64", 64},
    {"U64", 64},    {"I4", 4},      {"U4", 4},          {"I2", 2},          {"U2", 2}};

const char *st_dtype_name(int dtype) { return dtypes[dtype].name; }
unsigned st_dtype_bits(int dtype) { return dtypes[dtype].bits; }

int st_dtype_find(const char *name) {
  for (int i = 0; i < ST_SAFETENSORS; i++)
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
  for (; name[n] && n < ST_NAME_MAX - 1; n++) {
    const unsigned char *at = (const unsigned char *)name + n;
    int second = n && at[-1] == 0xC2 && *at < 0xA0, first = *at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0; /* C1 */
    text[n] = *at < 0x20 || *at == 0x7F || first || second ? '?' : name[n];
  }
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
  st_places_free(&file->names);
  st_places_free(&file->keys);
  memset(file, 0, sizeof *file);
}

int st_place_set(json_t **places, const char *name, size_t place) {
  if (!*places) *places = json_object();
  return *places && json_object_set_new_nocheck(*places, name, json_integer((json_int_t)place)) == 0;
}

size_t st_place(const json_t *places, const char *name) {
  const json_t *place = json_object_get(places, name);
  return place ? (size_t)json_integer_value(place) : SIZE_MAX;
}

void st_places_free(json_t **places) {
  json_decref(*places);
  *places = NULL;
}

const char *st_value(const st_file *file, const char *key) {
  size_t i = st_place(file->keys, key);
  return i == SIZE_MAX ? NULL : file->metadata[i].value;
}

const st_tensor *st_find(const st_file *file, const char *name) {
  size_t i = st_place(file->names, name);
  return i == SIZE_MAX ? NULL : &file->tensors[i];
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

/* Makes a list longer by one of `size` bytes: the list, moved or not, or NULL (then it is as it was). */
static void *grown(void *list, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return list;
  size_t more = *capacity ? 2 * *capacity : 16;
  void *z = realloc(list, more * size);
  if (z) *capacity = more;
  return z;
}

int st_add(st_file *file, const char *name, int dtype, uint32_t dims, const size_t *shape) {
  st_tensor *list = grown(file->tensors, file->count, &file->tensor_capacity, sizeof *list);
  if (!list) return 0;
  file->tensors = list;
  st_tensor tensor = {strdup(name), dtype, dims, malloc((dims ? dims : 1) * sizeof *shape), 0, 0, 0};
  unsigned odd = 0;
  int good = tensor.name && tensor.shape && st_count(&tensor.count, &tensor.size, &odd, dtype, dims, shape) && !odd;
  if (good && st_place(file->names, name) == SIZE_MAX) good = st_place_set(&file->names, name, file->count);
  if (!good) {
    free(tensor.name);
    free(tensor.shape);
    return 0;
  }
  if (dims) memcpy(tensor.shape, shape, dims * sizeof *shape);
  file->tensors[file->count++] = tensor;
  return 1;
}

int st_set(st_file *file, const char *key, const char *value) {
  char *copy = strdup(value), *name = NULL;
  size_t i = st_place(file->keys, key);
  if (copy && i != SIZE_MAX) {
    free(file->metadata[i].value);
    file->metadata[i].value = copy;
    return 1;
  }
  st_entry *list = copy ? grown(file->metadata, file->entries, &file->entry_capacity, sizeof *list) : NULL;
  if (list) file->metadata = list;
  if (list) name = strdup(key);
  if (!name || !st_place_set(&file->keys, key, file->entries)) {
    free(name);
    free(copy);
    return 0;
  }
  file->metadata[file->entries++] = (st_entry){name, copy};
  return 1;
}

static int by_size(const void *x, const void *y) {
  const st_tensor *a = x, *b = y;
  unsigned first = st_dtype_bits(a->dtype), second = st_dtype_bits(b->dtype);
  if (first != second) return first > second ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* Finds a name that two have: the second is not where the first is. */
static const char *find_twice(const st_file *file) {
  for (size_t i = 0; i < file->count; i++)
    if (st_place(file->names, file->tensors[i].name) != i) return file->tensors[i].name;
  return NULL;
}

const char *st_layout(st_file *file) {
  size_t end = 0;
  const char *twice = find_twice(file);
  if (twice) return twice;
  if (st_find(file, ST_METADATA)) return ST_METADATA;
  if (file->count) qsort(file->tensors, file->count, sizeof *file->tensors, by_size);
  for (size_t i = 0; i < file->count; i++) {
    json_integer_set(json_object_get(file->names, file->tensors[i].name), (json_int_t)i);
    file->tensors[i].begin = end;
    end += file->tensors[i].size;
  }
  return NULL;
}

/* Writes a string. Most have no escapes; the others are for jansson, which refuses what is not UTF-8. 1, or 0. */
static int put_string(FILE *out, const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  while (*at >= 0x20 && *at < 0x7F && *at != '"' && *at != '\\') at++;
  if (!*at) return fprintf(out, "\"%s\"", text) > 0;
  json_t *string = json_string(text);
  int good = string && json_dumpf(string, out, JSON_ENCODE_ANY) == 0;
  json_decref(string);
  return good;
}

static int put_entry(FILE *out, const st_tensor *tensor) {
  int good = put_string(out, tensor->name);
  fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", st_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->dims; i++) fprintf(out, "%s%zu", i ? "," : "", tensor->shape[i]);
  fprintf(out, "],\"data_offsets\":[%zu,%zu]}", tensor->begin, tensor->begin + tensor->size);
  return good;
}

/* Returns the header, to be freed; NULL: out of memory, or not UTF-8. */
static char *header_text(const st_file *file) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  int good = out != NULL;
  if (!out) return NULL;
  fputc('{', out);
  if (file->entries) fputs("\"" ST_METADATA "\":{", out);
  for (size_t i = 0; i < file->entries && good; i++) {
    if (i) fputc(',', out);
    good = put_string(out, file->metadata[i].key) && fputc(':', out) == ':' && put_string(out, file->metadata[i].value);
  }
  if (file->entries) fputs(file->count ? "}," : "}", out);
  for (size_t i = 0; i < file->count && good; i++) {
    if (i) fputc(',', out);
    good = put_entry(out, &file->tensors[i]);
  }
  fputc('}', out);
  good &= !ferror(out);
  if (fclose(out) == 0 && good) return text;
  free(text);
  return NULL;
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
