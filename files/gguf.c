/* SPDX-License-Identifier: MIT */
/* Reading GGUF: see gguf.h. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include "files/gguf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BOOL = 7, VALUE_STRING = 8, VALUE_ARRAY = 9, VALUE_TYPES = 13, DEPTH_MAX = 4 };
/* The least that an entry of metadata and one of the list of tensors take. */
enum { ENTRY_MIN = 8 + 1 + 4 + 1, TENSOR_MIN = 8 + 1 + 4 + 8 + 4 + 8 };

/* Bytes of a value, by its type; 0: not a plain one. */
static const uint8_t value_bytes[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

typedef struct reader {
  const uint8_t *bytes;
  size_t at, size;
  char *error;
} reader;

__attribute__((format(printf, 2, 3))) static int wrong(reader *input, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(input->error, ST_ERROR_MAX, format, args);
  va_end(args);
  return 0;
}

/* Takes a number of `size` bytes. field: what it is, for the error. */
static int take(uint64_t *z, reader *input, size_t size, const char *field) {
  *z = 0;
  if (size > input->size - input->at) return wrong(input, "%s: truncated", field);
  for (size_t i = 0; i < size; i++) *z |= (uint64_t)input->bytes[input->at + i] << 8 * i;
  input->at += size;
  return 1;
}

/* Takes a string, whose bytes lie in the file; *length of them, which are at most `most`. */
static int take_string(const uint8_t **z, size_t *length, reader *input, uint64_t most, const char *field) {
  uint64_t n;
  *z = input->bytes;
  *length = 0;
  if (!take(&n, input, 8, field)) return 0;
  if (n > most)
    return wrong(input, "%s: %llu bytes long, at most %llu", field, (unsigned long long)n, (unsigned long long)most);
  if (n > input->size - input->at)
    return wrong(input, "%s: %llu bytes long, the file ends before", field, (unsigned long long)n);
  *z = input->bytes + input->at;
  *length = (size_t)n;
  input->at += (size_t)n;
  return 1;
}

/* ---- metadata ---- */

static int skip_value(reader *input, uint64_t type, const char *field, int depth);

static int skip_array(reader *input, const char *field, int depth) {
  uint64_t type, count;
  if (depth == DEPTH_MAX) return wrong(input, "%s: lists in lists, more than %d deep", field, DEPTH_MAX);
  if (!take(&type, input, 4, field) || !take(&count, input, 8, field)) return 0;
  if (type >= VALUE_TYPES)
    return wrong(input, "%s: a list of values of the unknown type %llu", field, (unsigned long long)type);
  size_t each = value_bytes[type] ? value_bytes[type] : type == VALUE_ARRAY ? 12 : 8;
  if (count > (input->size - input->at) / each)
    return wrong(input, "%s: a list of %llu values, the file ends before", field, (unsigned long long)count);
  if (value_bytes[type] && type != VALUE_BOOL) {
    input->at += (size_t)count * each;
    return 1;
  }
  for (uint64_t i = 0; i < count; i++)
    if (!skip_value(input, type, field, depth + 1)) return 0;
  return 1;
}

static int skip_value(reader *input, uint64_t type, const char *field, int depth) {
  const uint8_t *text;
  size_t length;
  uint64_t value;
  if (type >= VALUE_TYPES) return wrong(input, "%s: a value of the unknown type %llu", field, (unsigned long long)type);
  if (type == VALUE_STRING) return take_string(&text, &length, input, UINT64_MAX, field);
  if (type == VALUE_ARRAY) return skip_array(input, field, depth);
  if (!take(&value, input, value_bytes[type], field)) return 0;
  if (type == VALUE_BOOL && value > 1)
    return wrong(input, "%s: a boolean that is %llu", field, (unsigned long long)value);
  return 1;
}

static int read_alignment(gguf_file *file, reader *input, uint64_t type, const char *field) {
  uint64_t value;
  if (type != 4) return wrong(input, "%s: not a uint32", field);
  if (!take(&value, input, 4, field)) return 0;
  if (value == 0 || (value & (value - 1)) || value > 1 << 30)
    return wrong(input, "%s: %llu is not a power of two from 1 to 2^30", field, (unsigned long long)value);
  file->alignment = (size_t)value;
  return 1;
}

static int read_entry(gguf_file *file, reader *input, struct json_t **keys) {
  const uint8_t *text;
  size_t length;
  char key[GGUF_KEY_MAX + 1], field[ST_NAME_MAX + 32], shown[ST_NAME_MAX];
  uint64_t type;
  if (!take_string(&text, &length, input, GGUF_KEY_MAX, "metadata: a key")) return 0;
  if (length == 0) return wrong(input, "metadata: an empty key");
  for (size_t i = 0; i < length; i++)
    if (text[i] < 0x20 || text[i] > 0x7E) return wrong(input, "metadata: a key that is not printable ASCII");
  memcpy(key, text, length);
  key[length] = 0;
  snprintf(field, sizeof field, "metadata: '%s'", st_printable(shown, key));
  if (st_place(*keys, key) != SIZE_MAX) return wrong(input, "%s: the key is there twice", field);
  if (!st_place_set(keys, key, 0)) return wrong(input, "out of memory");
  if (!take(&type, input, 4, field)) return 0;
  file->versioned |= !strcmp(key, "general.quantization_version");
  return strcmp(key, "general.alignment") ? skip_value(input, type, field, 0)
                                          : read_alignment(file, input, type, field);
}

static int read_metadata(gguf_file *file, reader *input) {
  struct json_t *keys = NULL;
  int good = 1;
  file->alignment = GGUF_ALIGNMENT;
  file->metadata = input->bytes + input->at;
  for (uint64_t i = 0; i < file->entries && good; i++) good = read_entry(file, input, &keys);
  file->metadata_size = (size_t)(input->bytes + input->at - file->metadata);
  st_places_free(&keys);
  return good;
}

/* ---- tensors ---- */

/* Returns 1 for whole characters, none of them longer than it has to be, no surrogates; no NUL. */
static int is_utf8(const uint8_t *text, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t more = text[i] < 0x80                      ? 0
                  : text[i] >= 0xC2 && text[i] < 0xE0 ? 1
                  : (text[i] & 0xF0) == 0xE0          ? 2
                  : text[i] >= 0xF0 && text[i] < 0xF5 ? 3
                                                      : n;
    if (text[i] == 0 || more >= n - i) return 0;
    for (size_t k = 1; k <= more; k++)
      if ((text[i + k] & 0xC0) != 0x80) return 0;
    if ((text[i] == 0xE0 && text[i + 1] < 0xA0) || (text[i] == 0xED && text[i + 1] > 0x9F)) return 0;
    if ((text[i] == 0xF0 && text[i + 1] < 0x90) || (text[i] == 0xF4 && text[i + 1] > 0x8F)) return 0;
    i += more + 1;
  }
  return 1;
}

static int read_name(gguf_tensor *tensor, reader *input, size_t number) {
  const uint8_t *text;
  size_t length;
  char field[64];
  snprintf(field, sizeof field, "tensor %zu: name", number + 1);
  if (!take_string(&text, &length, input, GGUF_NAME_MAX, field)) return 0;
  if (length == 0) return wrong(input, "%s: empty", field);
  if (!is_utf8(text, length)) return wrong(input, "%s: not UTF-8", field);
  tensor->name = strndup((const char *)text, length);
  return tensor->name || wrong(input, "out of memory");
}

static int read_shape(gguf_tensor *tensor, reader *input, const char *shown) {
  uint64_t dims, side;
  char field[ST_NAME_MAX + 32];
  snprintf(field, sizeof field, "tensor '%s': n_dimensions", shown);
  if (!take(&dims, input, 4, field)) return 0;
  if (dims == 0 || dims > GGUF_DIMS_MAX)
    return wrong(input, "%s: %llu, not 1 to %d", field, (unsigned long long)dims, GGUF_DIMS_MAX);
  snprintf(field, sizeof field, "tensor '%s': dimensions", shown);
  tensor->dims = (uint32_t)dims;
  for (uint32_t i = 0; i < tensor->dims; i++) {
    if (!take(&side, input, 8, field)) return 0;
    if (side == 0) return wrong(input, "%s: a side of 0", field);
    if (side > INT64_MAX || side > SIZE_MAX) return wrong(input, "%s: a side of %llu", field, (unsigned long long)side);
    tensor->shape[tensor->dims - 1 - i] = (size_t)side;
  }
  return 1;
}

static int read_type(gguf_tensor *tensor, reader *input, const char *shown) {
  uint64_t id;
  char field[ST_NAME_MAX + 32], shape[ST_SHAPE_MAX];
  snprintf(field, sizeof field, "tensor '%s': type", shown);
  if (!take(&id, input, 4, field)) return 0;
  tensor->type = gguf_type_of((uint32_t)id);
  if (!tensor->type) return wrong(input, "%s: %llu is not known", field, (unsigned long long)id);
  if (tensor->shape[tensor->dims - 1] % tensor->type->block)
    return wrong(input, "tensor '%s': dimensions: rows of %zu are not whole blocks of %u, those of %s", shown,
                 tensor->shape[tensor->dims - 1], tensor->type->block, tensor->type->name);
  if (gguf_size(tensor)) return 1;
  return wrong(input, "tensor '%s': dimensions: %s does not fit the address space", shown,
               st_shape(shape, tensor->dims, tensor->shape));
}

static size_t aligned(const gguf_file *file, size_t n) { return (n + file->alignment - 1) & ~(file->alignment - 1); }

static int read_offset(gguf_file *file, gguf_tensor *tensor, reader *input, const char *shown) {
  uint64_t offset;
  char field[ST_NAME_MAX + 32];
  const gguf_tensor *before = tensor > file->tensors ? tensor - 1 : NULL;
  size_t end = before ? before->begin + before->size : 0;
  snprintf(field, sizeof field, "tensor '%s': offset", shown);
  if (!take(&offset, input, 8, field)) return 0;
  if (offset % file->alignment)
    return wrong(input, "%s: %llu is not a multiple of the alignment, %zu", field, (unsigned long long)offset,
                 file->alignment);
  if (offset != aligned(file, end))
    return wrong(input, "%s: %llu, the tensors before it end at %zu", field, (unsigned long long)offset, end);
  if (tensor->size > input->size || offset > input->size - tensor->size)
    return wrong(input, "%s: %llu, its %zu bytes end behind the file", field, (unsigned long long)offset, tensor->size);
  tensor->begin = (size_t)offset;
  return 1;
}

static int read_tensors(gguf_file *file, reader *input, size_t count) {
  struct json_t *names = NULL;
  int good = 1;
  file->tensors = calloc(count + 1, sizeof *file->tensors);
  if (!file->tensors) return wrong(input, "out of memory");
  for (size_t i = 0; i < count && good; i++) {
    char shown[ST_NAME_MAX];
    gguf_tensor *tensor = &file->tensors[i];
    file->count = i + 1;
    good = read_name(tensor, input, i);
    if (!good) break;
    st_printable(shown, tensor->name);
    if (st_place(names, tensor->name) != SIZE_MAX) good = wrong(input, "tensor '%s': name: there twice", shown);
    if (good && !st_place_set(&names, tensor->name, i)) good = wrong(input, "out of memory");
    good = good && read_shape(tensor, input, shown) && read_type(tensor, input, shown) &&
           read_offset(file, tensor, input, shown);
  }
  st_places_free(&names);
  return good;
}

/* ---- the file ---- */

static int read_version(reader *input) {
  uint64_t version;
  if (input->size < 4 || memcmp(input->bytes, "GGUF", 4)) return wrong(input, "magic: does not begin with GGUF");
  input->at = 4;
  if (!take(&version, input, 4, "version")) return 0;
  if (version && (version & 0xFFFF) == 0) return wrong(input, "version: the file is big-endian, which is not read");
  return version == 2 || version == 3 || wrong(input, "version: %llu, not 2 or 3", (unsigned long long)version);
}

static int read_counts(gguf_file *file, uint64_t *tensors, reader *input) {
  if (!take(tensors, input, 8, "tensor_count") || !take(&file->entries, input, 8, "metadata_kv_count")) return 0;
  size_t left = input->size - input->at;
  if (*tensors > left / TENSOR_MIN)
    return wrong(input, "tensor_count: %llu do not fit the file", (unsigned long long)*tensors);
  if (file->entries > left / ENTRY_MIN)
    return wrong(input, "metadata_kv_count: %llu do not fit the file", (unsigned long long)file->entries);
  return 1;
}

/* Checks the end: the space behind the last tensor, or the header, may be there or not. */
static int check_end(gguf_file *file, reader *input) {
  char shown[ST_NAME_MAX];
  const gguf_tensor *last = file->count ? &file->tensors[file->count - 1] : NULL;
  file->data = aligned(file, input->at);
  size_t end = last ? last->begin + last->size : 0, have = file->data > input->size ? 0 : input->size - file->data;
  if (end > have)
    return wrong(input, "tensor '%s': offset: ends at byte %zu of the data, the file has %zu",
                 st_printable(shown, last->name), end, have);
  return have <= aligned(file, end) || wrong(input, "%zu trailing bytes after the data", have - end);
}

int gguf_parse(gguf_file *file, const uint8_t *bytes, size_t size, char error[ST_ERROR_MAX]) {
  uint64_t tensors = 0;
  reader input = {bytes, 0, size, error};
  memset(file, 0, sizeof *file);
  int good = read_version(&input) && read_counts(file, &tensors, &input) && read_metadata(file, &input) &&
             read_tensors(file, &input, (size_t)tensors) && check_end(file, &input);
  if (!good) gguf_free(file);
  return good;
}
