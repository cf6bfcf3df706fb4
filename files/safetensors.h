/* SPDX-License-Identifier: MIT */
/* files/safetensors.h - the .safetensors file: 8 bytes of header length, a JSON header, the tensors' bytes.
 *
 * The reader is a pure function over bytes, like that of npy.h: it accepts a file only if every byte is accounted for.
 * Refused, with a sentence that names the field: a header length beyond the file or 100 MB; what is not UTF-8, not
 * JSON, has a key twice, a NUL or a number beyond 2^63 - 1; metadata that are not strings; a tensor with an unknown
 * dtype, a shape that does not multiply or does not fill its bytes, offsets that overlap, leave a hole, or end before
 * or behind the file. Format: the README of huggingface/safetensors, its dtypes as of version 0.7. */
#ifndef HALFULP_FILES_SAFETENSORS_H
#define HALFULP_FILES_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

enum { ST_ERROR_MAX = 400, ST_HEADER_MAX = 100000000, ST_DIMS_MAX = 64 };

enum {
  ST_BOOL,
  ST_F4,
  ST_F6_E2M3,
  ST_F6_E3M2,
  ST_U8,
  ST_I8,
  ST_F8_E5M2,
  ST_F8_E4M3,
  ST_F8_E8M0,
  ST_F8_E4M3FNUZ,
  ST_F8_E5M2FNUZ,
  ST_I16,
  ST_U16,
  ST_F16,
  ST_BF16,
  ST_I32,
  ST_U32,
  ST_F32,
  ST_C64,
  ST_F64,
  ST_I64,
  ST_U64,
  ST_SAFETENSORS, /* those behind are of other files */
  ST_I4 = ST_SAFETENSORS,
  ST_U4,
  ST_I2,
  ST_U2,
  ST_DTYPES
};
const char *st_dtype_name(int dtype);
unsigned st_dtype_bits(int dtype);
/* Finds a dtype of .safetensors by name; -1 if there is no such name. */
int st_dtype_find(const char *name);

typedef struct st_tensor {
  char *name;
  int dtype;
  uint32_t dims;
  size_t *shape;
  size_t count;       /* product of shape; 1 for a 0-dimensional tensor */
  size_t begin, size; /* bytes, from the begin of the data */
} st_tensor;

typedef struct st_entry {
  char *key, *value;
} st_entry;

/* Where the names are in a list: a JSON object from name to place, since jansson's are hashed. */
struct json_t;

/* All-zero: an empty file. Tensors are in the order of their bytes. */
typedef struct st_file {
  st_tensor *tensors;
  st_entry *metadata;
  size_t count, entries, tensor_capacity, entry_capacity;
  size_t data; /* offset of the data in the file */
  struct json_t *names, *keys;
} st_file;

/* Parses a file. Returns 1 and *file (to be freed), or 0 and a sentence in error. */
int st_parse(st_file *file, const uint8_t *bytes, size_t size, char error[ST_ERROR_MAX]);
void st_free(st_file *file);
/* Return NULL if there is none. Neither takes longer the more there are; several threads may ask at a time. */
const char *st_value(const st_file *file, const char *key);
const st_tensor *st_find(const st_file *file, const char *name);

/* Add to a file that is built: tensors and metadata are added (an equal key is replaced), copies are taken. 1, or 0:
 * out of memory, or a size beyond the address space. */
int st_add(st_file *file, const char *name, int dtype, uint32_t dims, const size_t *shape);
int st_set(st_file *file, const char *key, const char *value);
/* Orders the tensors by falling size of an element, so that each is aligned, then by name, and gives them their bytes.
 * Returns a name that occurs twice or is the metadata's, or NULL. */
const char *st_layout(st_file *file);
#define ST_METADATA "__metadata__"
/* Returns the 8 bytes and the header, padded with blanks to a multiple of 8; sets file->data. To be freed; NULL if out
 * of memory, or if a string is not UTF-8. */
char *st_header(st_file *file, size_t *length);

/* Map names to places. st_place_set: 1, or 0: out of memory. st_place: of a name; SIZE_MAX: not there. To be freed by
 * st_places_free. */
int st_place_set(struct json_t **places, const char *name, size_t place);
size_t st_place(const struct json_t *places, const char *name);
void st_places_free(struct json_t **places);

/* Computes elements and bytes of a shape, and the bits left over. 1, or 0 if they do not fit the address space. */
int st_count(size_t *count, size_t *bytes, unsigned *odd, int dtype, uint32_t dims, const size_t *shape);

/* "[3, 4]" into text, cut to its length. */
enum { ST_SHAPE_MAX = 256 };
const char *st_shape(char text[ST_SHAPE_MAX], uint32_t dims, const size_t *shape);
/* A name as an error line shows it: control characters as ?, cut to its length. */
enum { ST_NAME_MAX = 100 };
const char *st_printable(char text[ST_NAME_MAX], const char *name);

#endif
