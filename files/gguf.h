/* SPDX-License-Identifier: MIT */
/* files/gguf.h - the GGUF file of ggml and llama.cpp: a header, metadata, a list of tensors, and their bytes.
 *
 * The reader is a pure function over bytes, like those of npy.h and safetensors.h. Refused, with a sentence that names
 * the field: another magic, version 1 or beyond 3, big-endian files; counts and lengths that do not fit the file; keys
 * that are empty, not printable ASCII or there twice; unknown types of values, booleans that are neither 0 nor 1, lists
 * in lists beyond four deep; an alignment that is no power of two; names that are empty, longer than 64 bytes, not
 * UTF-8 or there twice; no dimension or more than four, a side of 0, a shape that does not multiply; an unknown type,
 * rows that are not whole blocks of it; offsets that are not aligned, leave a hole or overlap, or end behind the file;
 * bytes behind the last tensor. Format: ggml's docs/gguf.md, version 3; types and sizes as in gguf 0.19.0. */
#ifndef HALFULP_FILES_GGUF_H
#define HALFULP_FILES_GGUF_H

#include "files/safetensors.h"

enum { GGUF_DIMS_MAX = 4, GGUF_NAME_MAX = 64, GGUF_KEY_MAX = 65535, GGUF_ALIGNMENT = 32 };
/* Types that are read as numbers; some are written, too. */
enum {
  GGUF_F32 = 0,
  GGUF_F16 = 1,
  GGUF_Q4_0 = 2,
  GGUF_Q4_1 = 3,
  GGUF_Q5_0 = 6,
  GGUF_Q5_1 = 7,
  GGUF_Q8_0 = 8,
  GGUF_Q2_K = 10,
  GGUF_Q3_K = 11,
  GGUF_Q4_K = 12,
  GGUF_Q5_K = 13,
  GGUF_Q6_K = 14,
  GGUF_Q8_K = 15,
  GGUF_IQ2_XXS = 16,
  GGUF_IQ2_XS = 17,
  GGUF_IQ3_XXS = 18,
  GGUF_IQ1_S = 19,
  GGUF_IQ4_NL = 20,
  GGUF_IQ3_S = 21,
  GGUF_IQ2_S = 22,
  GGUF_IQ4_XS = 23,
  GGUF_F64 = 28,
  GGUF_IQ1_M = 29,
  GGUF_BF16 = 30,
  GGUF_TQ1_0 = 34,
  GGUF_TQ2_0 = 35,
  GGUF_MXFP4 = 39,
  GGUF_NVFP4 = 40,
  GGUF_Q1_0 = 41,
  GGUF_Q2_0 = 42
};

typedef struct gguf_type {
  uint32_t id;
  const char *name;
  unsigned block, bytes; /* numbers of a block along a row, and what it takes */
  int dtype;             /* that of .safetensors; -1: it has none */
} gguf_type;
/* Returns the type, NULL if it is unknown. */
const gguf_type *gguf_type_of(uint32_t id);
/* Returns the type for a dtype of .safetensors; NULL if GGUF has no such type. */
const gguf_type *gguf_type_for(int dtype);

typedef struct gguf_tensor {
  char *name;
  const gguf_type *type;
  uint32_t dims;
  size_t shape[GGUF_DIMS_MAX]; /* the last axis is the row: the reverse of the file's order */
  size_t count;
  size_t begin, size; /* bytes, from the begin of the data */
} gguf_tensor;

/* Metadata stay the file's own bytes. */
typedef struct gguf_file {
  gguf_tensor *tensors; /* in the order of the file, which is that of their bytes */
  size_t count;
  const uint8_t *metadata;
  size_t metadata_size;
  uint64_t entries;
  size_t alignment;
  size_t data;   /* offset of the data in the file */
  int versioned; /* 1: general.quantization_version is there */
  int blocks;    /* of a file to be written, 1: that key is required, and added where it is missing */
} gguf_file;

/* Parses a file. Returns 1 and *file (to be freed; its metadata lie in the bytes), or 0 and a sentence in error. */
int gguf_parse(gguf_file *file, const uint8_t *bytes, size_t size, char error[ST_ERROR_MAX]);
void gguf_free(gguf_file *file);
/* Computes numbers and bytes of a shape. 1, or 0: they do not fit the address space, or rows are not whole blocks. */
int gguf_size(gguf_tensor *tensor);
/* Gives the tensors their bytes, in their order, by their types and shapes. */
void gguf_layout(gguf_file *file);
/* Lists the tensors as those of .safetensors, in their order and with their bytes: blocks are bytes in one row. Returns
 * 1, or 0: out of memory. */
int gguf_as_tensors(st_file *z, const gguf_file *file);
/* Returns all before the data, of version 3; sets file->data. To be freed; NULL: out of memory. */
uint8_t *gguf_header(gguf_file *file, size_t *length);
/* Returns 1 if numbers of the type are read: of all blocks but Q8_1, which no file has (layouts/gguf_values.c). */
int gguf_reads(const gguf_type *type);
/* Writes the numbers of `count` elements in whole blocks of a type that is read: the products of ggml. */
void gguf_values(float *z, const gguf_type *type, const uint8_t *x, size_t count);
/* Returns the bytes of the data, the space behind the last tensor among them. */
size_t gguf_data_size(const gguf_file *file);

#endif
