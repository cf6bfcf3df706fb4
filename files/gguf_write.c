/* SPDX-License-Identifier: MIT */
/* Types of GGUF, and building a file: see gguf.h. */
#include <stdlib.h>
#include <string.h>

#include "files/gguf.h"

static const gguf_type types[] = {{GGUF_F32, "F32", 1, 4, ST_F32},
                                  {GGUF_F16, "F16", 1, 2, ST_F16},
                                  {GGUF_Q4_0, "Q4_0", 32, 18, -1},
                                  {GGUF_Q4_1, "Q4_1", 32, 20, -1},
                                  {GGUF_Q5_0, "Q5_0", 32, 22, -1},
                                  {GGUF_Q5_1, "Q5_1", 32, 24, -1},
                                  {GGUF_Q8_0, "Q8_0", 32, 34, -1},
                                  {9, "Q8_1", 32, 40, -1},
                                  {GGUF_Q2_K, "Q2_K", 256, 84, -1},
                                  {GGUF_Q3_K, "Q3_K", 256, 110, -1},
                                  {GGUF_Q4_K, "Q4_K", 256, 144, -1},
                                  {GGUF_Q5_K, "Q5_K", 256, 176, -1},
                                  {GGUF_Q6_K, "Q6_K", 256, 210, -1},
                                  {GGUF_Q8_K, "Q8_K", 256, 292, -1},
                                  {GGUF_IQ2_XXS, "IQ2_XXS", 256, 66, -1},
                                  {GGUF_IQ2_XS, "IQ2_XS", 256, 74, -1},
                                  {GGUF_IQ3_XXS, "IQ3_XXS", 256, 98, -1},
                                  {GGUF_IQ1_S, "IQ1_S", 256, 50, -1},
                                  {GGUF_IQ4_NL, "IQ4_NL", 32, 18, -1},
                                  {GGUF_IQ3_S, "IQ3_S", 256, 110, -1},
                                  {GGUF_IQ2_S, "IQ2_S", 256, 82, -1},
                                  {GGUF_IQ4_XS, "IQ4_XS", 256, 136, -1},
                                  {24, "I8", 1, 1, ST_I8},
                                  {25, "I16", 1, 2, ST_I16},
                                  {26, "I32", 1, 4, ST_I32},
                                  {27, "I64", 1, 8, ST_I64},
                                  {GGUF_F64, "F64", 1, 8, ST_F64},
                                  {GGUF_IQ1_M, "IQ1_M", 256, 56, -1},
                                  {GGUF_BF16, "BF16", 1, 2, ST_BF16},
                                  {GGUF_TQ1_0, "TQ1_0", 256, 54, -1},
                                  {GGUF_TQ2_0, "TQ2_0", 256, 66, -1},
                                  {GGUF_MXFP4, "MXFP4", 32, 17, -1},
                                  {GGUF_NVFP4, "NVFP4", 64, 36, -1},
                                  {GGUF_Q1_0, "Q1_0", 128, 18, -1},
                                  {GGUF_Q2_0, "Q2_0", 64, 18, -1}};

const gguf_type *gguf_type_of(uint32_t id) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].id == id) return &types[i];
  return NULL;
}

const gguf_type *gguf_type_for(int dtype) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].dtype == dtype) return &types[i];
  return NULL;
}

void gguf_free(gguf_file *file) {
  for (size_t i = 0; i < file->count; i++) free(file->tensors[i].name);
  free(file->tensors);
  memset(file, 0, sizeof *file);
}

int gguf_size(gguf_tensor *tensor) {
  size_t n = 1;
  for (uint32_t i = 0; i < tensor->dims; i++) {
    if (tensor->shape[i] && n > SIZE_MAX / 64 / tensor->shape[i]) return 0;
    n *= tensor->shape[i];
  }
  if (!tensor->dims || tensor->shape[tensor->dims - 1] % tensor->type->block) return 0;
  tensor->count = n;
  tensor->size = n / tensor->type->block * tensor->type->bytes;
  return 1;
}

static size_t aligned(const gguf_file *file, size_t n) { return (n + file->alignment - 1) & ~(file->alignment - 1); }

void gguf_layout(gguf_file *file) {
  size_t end = 0;
  for (size_t i = 0; i < file->count; i++) {
    file->tensors[i].begin = aligned(file, end);
    end = file->tensors[i].begin + file->tensors[i].size;
  }
}

size_t gguf_data_size(const gguf_file *file) {
  const gguf_tensor *last = file->count ? &file->tensors[file->count - 1] : NULL;
  return last ? aligned(file, last->begin + last->size) : 0;
}

int gguf_as_tensors(st_file *z, const gguf_file *file) {
  for (size_t i = 0; i < file->count; i++) {
    const gguf_tensor *tensor = &file->tensors[i];
    int plain = tensor->type->dtype >= 0;
    if (!st_add(z, tensor->name, plain ? tensor->type->dtype : ST_U8, plain ? tensor->dims : 1,
                plain ? tensor->shape : &tensor->size))
      return 0;
    z->tensors[z->count - 1].begin = tensor->begin;
  }
  return 1;
}

/* ---- the header ---- */

/* ggml's GGML_QNT_VERSION, a uint32, which a file with blocks must have (gguf.md). */
static const char version_key[] = "general.quantization_version";
enum { KEY_LENGTH = sizeof version_key - 1, UINT32 = 4, VERSION = 2 };

static int adds_version(const gguf_file *file) { return file->blocks && !file->versioned; }

static size_t header_size(const gguf_file *file) {
  size_t n = 4 + 4 + 8 + 8 + file->metadata_size + (adds_version(file) ? 8 + KEY_LENGTH + 4 + 4 : 0);
  for (size_t i = 0; i < file->count; i++)
    n += 8 + strlen(file->tensors[i].name) + 4 + 8 * (size_t)file->tensors[i].dims + 4 + 8;
  return n;
}

static uint8_t *put_number(uint8_t *z, size_t size, uint64_t x) {
  for (size_t i = 0; i < size; i++) z[i] = (uint8_t)(x >> 8 * i);
  return z + size;
}

static uint8_t *put_bytes(uint8_t *z, const void *x, size_t size) {
  if (size) memcpy(z, x, size);
  return z + size;
}

static uint8_t *put_tensor(uint8_t *z, const gguf_tensor *tensor) {
  size_t length = strlen(tensor->name);
  z = put_bytes(put_number(z, 8, length), tensor->name, length);
  z = put_number(z, 4, tensor->dims);
  for (uint32_t i = tensor->dims; i--;) z = put_number(z, 8, tensor->shape[i]);
  return put_number(put_number(z, 4, tensor->type->id), 8, tensor->begin);
}

uint8_t *gguf_header(gguf_file *file, size_t *length) {
  size_t used = header_size(file), padded = aligned(file, used);
  uint8_t *header = calloc(padded, 1), *z = header;
  if (!header) return NULL;
  z = put_number(put_bytes(z, "GGUF", 4), 4, 3);
  z = put_number(put_number(z, 8, file->count), 8, file->entries + (uint64_t)adds_version(file));
  z = put_bytes(z, file->metadata, file->metadata_size);
  if (adds_version(file)) {
    z = put_bytes(put_number(z, 8, KEY_LENGTH), version_key, KEY_LENGTH);
    z = put_number(put_number(z, 4, UINT32), 4, VERSION);
  }
  for (size_t i = 0; i < file->count; i++) z = put_tensor(z, &file->tensors[i]);
  file->data = *length = padded;
  return header;
}
