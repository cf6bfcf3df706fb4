/* SPDX-License-Identifier: MIT */
/* Reading GGUF: see gguf.h. */
#include "cli/tensors/gguf.h"

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

__attribute__((format(printf, 2, 3))) static int wrong(reader *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(r->error, ST_ERROR_MAX, format, args);
  va_end(args);
  return 0;
}

/* Takes a number of `size` bytes. field: what it is, for the error. */
static int take(uint64_t *z, reader *r, size_t size, const char *field) {
  *z = 0;
  if (size > r->size - r->at) return wrong(r, "%s: truncated", field);
  for (size_t i = 0; i < size; i++) *z |= (uint64_t)r->bytes[r->at + i] << 8 * i;
  r->at += size;
  return 1;
}

/* Takes a string, whose bytes lie in the file; *length of them, which are at most `most`. */
static int take_string(const uint8_t **z, size_t *length, reader *r, uint64_t most, const char *field) {
  uint64_t n;
  *z = r->bytes;
  *length = 0;
  if (!take(&n, r, 8, field)) return 0;
  if (n > most)
    return wrong(r, "%s: %llu bytes long, at most %llu", field, (unsigned long long)n, (unsigned long long)most);
  if (n > r->size - r->at) return wrong(r, "%s: %llu bytes long, the file ends before", field, (unsigned long long)n);
  *z = r->bytes + r->at;
  *length = (size_t)n;
  r->at += (size_t)n;
  return 1;
}

/* ---- metadata ---- */

static int skip_value(reader *r, uint64_t type, const char *field, int depth);

static int skip_array(reader *r, const char *field, int depth) {
  uint64_t type, count;
  if (depth == DEPTH_MAX) return wrong(r, "%s: lists in lists, more than %d deep", field, DEPTH_MAX);
  if (!take(&type, r, 4, field) || !take(&count, r, 8, field)) return 0;
  if (type >= VALUE_TYPES)
    return wrong(r, "%s: a list of values of the unknown type %llu", field, (unsigned long long)type);
  size_t each = value_bytes[type] ? value_bytes[type] : type == VALUE_ARRAY ? 12 : 8;
  if (count > (r->size - r->at) / each)
    return wrong(r, "%s: a list of %llu values, the file ends before", field, (unsigned long long)count);
  if (value_bytes[type] && type != VALUE_BOOL) {
    r->at += (size_t)count * each;
    return 1;
  }
  for (uint64_t i = 0; i < count; i++)
    if (!skip_value(r, type, field, depth + 1)) return 0;
  return 1;
}

static int skip_value(reader *r, uint64_t type, const char *field, int depth) {
  const uint8_t *text;
  size_t length;
  uint64_t value;
  if (type >= VALUE_TYPES) return wrong(r, "%s: a value of the unknown type %llu", field, (unsigned long long)type);
  if (type == VALUE_STRING) return take_string(&text, &length, r, UINT64_MAX, field);
  if (type == VALUE_ARRAY) return skip_array(r, field, depth);
  if (!take(&value, r, value_bytes[type], field)) return 0;
  if (type == VALUE_BOOL && value > 1) return wrong(r, "%s: a boolean that is %llu", field, (unsigned long long)value);
  return 1;
}

static int read_alignment(gguf_file *file, reader *r, uint64_t type, const char *field) {
  uint64_t value;
  if (type != 4) return wrong(r, "%s: not a uint32", field);
  if (!take(&value, r, 4, field)) return 0;
  if (value == 0 || (value & (value - 1)) || value > 1 << 30)
    return wrong(r, "%s: %llu is not a power of two from 1 to 2^30", field, (unsigned long long)value);
  file->alignment = (size_t)value;
  return 1;
}

static int read_entry(gguf_file *file, reader *r, struct json_t **keys) {
  const uint8_t *text;
  size_t length;
  char key[GGUF_KEY_MAX + 1], field[ST_NAME_MAX + 32], shown[ST_NAME_MAX];
  uint64_t type;
  if (!take_string(&text, &length, r, GGUF_KEY_MAX, "metadata: a key")) return 0;
  if (length == 0) return wrong(r, "metadata: an empty key");
  for (size_t i = 0; i < length; i++)
    if (text[i] < 0x20 || text[i] > 0x7E) return wrong(r, "metadata: a key that is not printable ASCII");
  memcpy(key, text, length);
  key[length] = 0;
  snprintf(field, sizeof field, "metadata: '%s'", st_printable(shown, key));
  if (st_place(*keys, key) != SIZE_MAX) return wrong(r, "%s: the key is there twice", field);
  if (!st_place_set(keys, key, 0)) return wrong(r, "out of memory");
  if (!take(&type, r, 4, field)) return 0;
  file->versioned |= !strcmp(key, "general.quantization_version");
  return strcmp(key, "general.alignment") ? skip_value(r, type, field, 0) : read_alignment(file, r, type, field);
}

static int read_metadata(gguf_file *file, reader *r) {
  struct json_t *keys = NULL;
  int good = 1;
  file->alignment = GGUF_ALIGNMENT;
  file->metadata = r->bytes + r->at;
  for (uint64_t i = 0; i < file->entries && good; i++) good = read_entry(file, r, &keys);
  file->metadata_size = (size_t)(r->bytes + r->at - file->metadata);
  st_places_free(&keys);
  return good;
}

/* ---- tensors ---- */

/* Returns 1 for whole characters, none of them longer than it has to be, no surrogates; no NUL. */
static int is_utf8(const uint8_t *s, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t more = s[i] < 0x80                   ? 0
                  : s[i] >= 0xC2 && s[i] < 0xE0 ? 1
                  : (s[i] & 0xF0) == 0xE0       ? 2
                  : s[i] >= 0xF0 && s[i] < 0xF5 ? 3
                                                : n;
    if (s[i] == 0 || more >= n - i) return 0;
    for (size_t k = 1; k <= more; k++)
      if ((s[i + k] & 0xC0) != 0x80) return 0;
    if ((s[i] == 0xE0 && s[i + 1] < 0xA0) || (s[i] == 0xED && s[i + 1] > 0x9F)) return 0;
    if ((s[i] == 0xF0 && s[i + 1] < 0x90) || (s[i] == 0xF4 && s[i + 1] > 0x8F)) return 0;
    i += more + 1;
  }
  return 1;
}

static int read_name(gguf_tensor *t, reader *r, size_t number) {
  const uint8_t *text;
  size_t length;
  char field[64];
  snprintf(field, sizeof field, "tensor %zu: name", number + 1);
  if (!take_string(&text, &length, r, GGUF_NAME_MAX, field)) return 0;
  if (length == 0) return wrong(r, "%s: empty", field);
  if (!is_utf8(text, length)) return wrong(r, "%s: not UTF-8", field);
  t->name = strndup((const char *)text, length);
  return t->name || wrong(r, "out of memory");
}

static int read_shape(gguf_tensor *t, reader *r, const char *shown) {
  uint64_t dims, side;
  char field[ST_NAME_MAX + 32];
  snprintf(field, sizeof field, "tensor '%s': n_dimensions", shown);
  if (!take(&dims, r, 4, field)) return 0;
  if (dims == 0 || dims > GGUF_DIMS_MAX)
    return wrong(r, "%s: %llu, not 1 to %d", field, (unsigned long long)dims, GGUF_DIMS_MAX);
  snprintf(field, sizeof field, "tensor '%s': dimensions", shown);
  t->dims = (uint32_t)dims;
  for (uint32_t i = 0; i < t->dims; i++) {
    if (!take(&side, r, 8, field)) return 0;
    if (side == 0) return wrong(r, "%s: a side of 0", field);
    if (side > INT64_MAX || side > SIZE_MAX) return wrong(r, "%s: a side of %llu", field, (unsigned long long)side);
    t->shape[t->dims - 1 - i] = (size_t)side;
  }
  return 1;
}

static int read_type(gguf_tensor *t, reader *r, const char *shown) {
  uint64_t id;
  char field[ST_NAME_MAX + 32], shape[ST_SHAPE_MAX];
  snprintf(field, sizeof field, "tensor '%s': type", shown);
  if (!take(&id, r, 4, field)) return 0;
  t->type = gguf_type_of((uint32_t)id);
  if (!t->type) return wrong(r, "%s: %llu is not known", field, (unsigned long long)id);
  if (t->shape[t->dims - 1] % t->type->block)
    return wrong(r, "tensor '%s': dimensions: rows of %zu are not whole blocks of %u, those of %s", shown,
                 t->shape[t->dims - 1], t->type->block, t->type->name);
  if (gguf_size(t)) return 1;
  return wrong(r, "tensor '%s': dimensions: %s does not fit the address space", shown,
               st_shape(shape, t->dims, t->shape));
}

static size_t aligned(const gguf_file *file, size_t n) { return (n + file->alignment - 1) & ~(file->alignment - 1); }

static int read_offset(gguf_file *file, gguf_tensor *t, reader *r, const char *shown) {
  uint64_t offset;
  char field[ST_NAME_MAX + 32];
  const gguf_tensor *before = t > file->tensors ? t - 1 : NULL;
  size_t end = before ? before->begin + before->size : 0;
  snprintf(field, sizeof field, "tensor '%s': offset", shown);
  if (!take(&offset, r, 8, field)) return 0;
  if (offset % file->alignment)
    return wrong(r, "%s: %llu is not a multiple of the alignment, %zu", field, (unsigned long long)offset,
                 file->alignment);
  if (offset != aligned(file, end))
    return wrong(r, "%s: %llu, the tensors before it end at %zu", field, (unsigned long long)offset, end);
  if (t->size > r->size || offset > r->size - t->size)
    return wrong(r, "%s: %llu, its %zu bytes end behind the file", field, (unsigned long long)offset, t->size);
  t->begin = (size_t)offset;
  return 1;
}

static int read_tensors(gguf_file *file, reader *r, size_t count) {
  struct json_t *names = NULL;
  int good = 1;
  file->tensors = calloc(count + 1, sizeof *file->tensors);
  if (!file->tensors) return wrong(r, "out of memory");
  for (size_t i = 0; i < count && good; i++) {
    char shown[ST_NAME_MAX];
    gguf_tensor *t = &file->tensors[i];
    file->count = i + 1;
    good = read_name(t, r, i);
    if (!good) break;
    st_printable(shown, t->name);
    if (st_place(names, t->name) != SIZE_MAX) good = wrong(r, "tensor '%s': name: there twice", shown);
    if (good && !st_place_set(&names, t->name, i)) good = wrong(r, "out of memory");
    good = good && read_shape(t, r, shown) && read_type(t, r, shown) && read_offset(file, t, r, shown);
  }
  st_places_free(&names);
  return good;
}

/* ---- the file ---- */

static int read_version(reader *r) {
  uint64_t version;
  if (r->size < 4 || memcmp(r->bytes, "GGUF", 4)) return wrong(r, "magic: does not begin with GGUF");
  r->at = 4;
  if (!take(&version, r, 4, "version")) return 0;
  if (version && (version & 0xFFFF) == 0) return wrong(r, "version: the file is big-endian, which is not read");
  return version == 2 || version == 3 || wrong(r, "version: %llu, not 2 or 3", (unsigned long long)version);
}

static int read_counts(gguf_file *file, uint64_t *tensors, reader *r) {
  if (!take(tensors, r, 8, "tensor_count") || !take(&file->entries, r, 8, "metadata_kv_count")) return 0;
  size_t left = r->size - r->at;
  if (*tensors > left / TENSOR_MIN)
    return wrong(r, "tensor_count: %llu do not fit the file", (unsigned long long)*tensors);
  if (file->entries > left / ENTRY_MIN)
    return wrong(r, "metadata_kv_count: %llu do not fit the file", (unsigned long long)file->entries);
  return 1;
}

/* Checks the end: the space behind the last tensor, or the header, may be there or not. */
static int check_end(gguf_file *file, reader *r) {
  char shown[ST_NAME_MAX];
  const gguf_tensor *last = file->count ? &file->tensors[file->count - 1] : NULL;
  file->data = aligned(file, r->at);
  size_t end = last ? last->begin + last->size : 0, have = file->data > r->size ? 0 : r->size - file->data;
  if (end > have)
    return wrong(r, "tensor '%s': offset: ends at byte %zu of the data, the file has %zu",
                 st_printable(shown, last->name), end, have);
  return have <= aligned(file, end) || wrong(r, "%zu trailing bytes after the data", have - end);
}

int gguf_parse(gguf_file *file, const uint8_t *bytes, size_t size, char error[ST_ERROR_MAX]) {
  uint64_t tensors = 0;
  reader r = {bytes, 0, size, error};
  memset(file, 0, sizeof *file);
  int good = read_version(&r) && read_counts(file, &tensors, &r) && read_metadata(file, &r) &&
             read_tensors(file, &r, (size_t)tensors) && check_end(file, &r);
  if (!good) gguf_free(file);
  return good;
}
