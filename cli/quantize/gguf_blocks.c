/* SPDX-License-Identifier: MIT */
/* Blocks of GGUF's types, as ggml lays them out (ggml-common.h and ggml-quants.c of llama.cpp at 36491e4): see gguf.h.
 * Of two codes in a byte the one in the low half belongs to the first half of the block. */
#include "cli/quantize/gguf.h"

#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

/* ---- targets ---- */

/* E2M1, with or without a code for -0, which ggml reads as 0. */
static int is_e2m1(hu_format f) {
  hu_format e2m1 = hu_float4_e2m1fn();
  f.negzero = e2m1.negzero;
  return hu_format_equal(f, e2m1);
}

/* Whole numbers of 8 bits in two's complement. */
static int is_int8(const hu_scaling *s) {
  return s->coding == HU_CODING_TWOS && s->element.e == 0 && s->element.m == 7 && hu_decode64(s->element, 1) == 1;
}

static uint32_t type_of_scaling(const hu_scaling *s) {
  if (s->tensor || s->rows != 1) return UINT32_MAX;
  if (is_int8(s) && s->cols == 32 && hu_format_equal(s->scale, hu_binary16())) return GGUF_Q8_0;
  if (s->coding != HU_CODING_FORMAT || !is_e2m1(s->element)) return UINT32_MAX;
  if (s->cols == 32 && hu_format_equal(s->scale, hu_float8_e8m0fnu())) return GGUF_MXFP4;
  if (s->cols == 16 && hu_format_equal(s->scale, hu_ue4m3())) return GGUF_NVFP4;
  return UINT32_MAX;
}

const gguf_type *gguf_type_of_target(const cli_target *target) {
  int native = tensors_native(target);
  if (native >= 0) return gguf_type_for(native);
  return target->kind == &cli_kind_scaled ? gguf_type_of(type_of_scaling(&target->scaling)) : NULL;
}

/* ---- into blocks ---- */

static void put_halves(uint8_t *z, const uint8_t *codes, size_t n) {
  for (size_t j = 0; j < n / 2; j++) z[j] = (uint8_t)(codes[j] | codes[j + n / 2] << 4);
}

static uint16_t half_at(const void *scales, size_t i) {
  uint16_t u;
  memcpy(&u, (const uint8_t *)scales + 2 * i, sizeof u);
  return u;
}

/* Block number i. */
static void pack_block(uint8_t *z, uint32_t type, const uint8_t *codes, const void *scales, size_t i) {
  if (type == GGUF_Q8_0) {
    uint16_t u = half_at(scales, i);
    z[0] = (uint8_t)u;
    z[1] = (uint8_t)(u >> 8);
    memcpy(z + 2, codes, 32);
    return;
  }
  const uint8_t *s = scales;
  if (type == GGUF_MXFP4) {
    z[0] = s[i];
    put_halves(z + 1, codes, 32);
    return;
  }
  for (size_t k = 0; k < 4; k++) {
    z[k] = s[4 * i + k];
    put_halves(z + 4 + 8 * k, codes + 16 * k, 16);
  }
}

/* ggml reads these codes of scales as numbers. */
static int check_scales(const gguf_type *type, const cli_part *scales, const char *name) {
  const uint8_t *s = scales->data, nan = type->id == GGUF_MXFP4 ? 0xFF : 0x7F;
  size_t n = scales->rows * scales->cols;
  if (type->id == GGUF_Q8_0 || !n || !memchr(s, nan, n)) return CLI_OK;
  return cli_fail(name, "a block has an infinity or a NaN, and %s of GGUF has no scale for it", type->name);
}

int gguf_pack(uint8_t *z, const gguf_type *type, const cli_parts *parts, const char *name) {
  const uint8_t *codes = parts->part[0].data;
  size_t blocks = parts->part[0].rows * parts->part[0].cols / type->block;
  if (check_scales(type, &parts->part[1], name)) return CLI_BAD;
  for (size_t i = 0; i < blocks; i++)
    pack_block(z + i * type->bytes, type->id, codes + i * type->block, parts->part[1].data, i);
  return CLI_OK;
}

/* ---- out of blocks ---- */

int gguf_reads(const gguf_type *type) {
  return type->id == GGUF_Q4_0 || type->id == GGUF_Q8_0 || type->id == GGUF_MXFP4 || type->id == GGUF_NVFP4;
}

/* Twice E2M1, for scales of half their value. */
static const int8_t twice_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static float float_of(uint32_t u) {
  float z;
  memcpy(&z, &u, sizeof z);
  return z;
}

/* 2^(e - 128), 255 too. */
static float half_e8m0(uint8_t e) { return float_of(e < 2 ? 0x200000u << e : (uint32_t)(e - 1) << 23); }

/* A NaN is 0; the top bit does not count. */
static float half_ue4m3(uint8_t u) {
  uint32_t e = u >> 3 & 15, m = u & 7;
  if (u == 0x7F) return 0;
  return e ? float_of((e + 127 - 8) << 23 | m << 20) : (float)m * 0x1p-10f;
}

static void get_halves(float *z, const uint8_t *x, size_t n, float d) {
  for (size_t j = 0; j < n / 2; j++) {
    z[j] = d * twice_e2m1[x[j] & 15];
    z[j + n / 2] = d * twice_e2m1[x[j] >> 4];
  }
}

/* Products of at most 19 digits: exact, or infinite. What is NaN is the one NaN. */
static void get_whole(float *z, const uint8_t *x, int wide) {
  float d = hu_decode(hu_binary16(), (uint32_t)x[0] | (uint32_t)x[1] << 8);
  for (size_t j = 0; j < 32; j++) {
    int k = wide ? (int8_t)x[2 + j] : (x[2 + j % 16] >> (j < 16 ? 0 : 4) & 15) - 8;
    float y = d * (float)k;
    z[j] = y != y ? float_of(0x7FC00000) : y;
  }
}

static void get_block(float *z, uint32_t type, const uint8_t *x) {
  if (type == GGUF_Q4_0 || type == GGUF_Q8_0) {
    get_whole(z, x, type == GGUF_Q8_0);
  } else if (type == GGUF_MXFP4) {
    get_halves(z, x + 1, 32, half_e8m0(x[0]));
  } else {
    for (size_t k = 0; k < 4; k++) get_halves(z + 16 * k, x + 4 + 8 * k, 16, half_ue4m3(x[k]));
  }
}

void gguf_values(float *z, const gguf_type *type, const uint8_t *x, size_t count) {
  for (size_t i = 0; i < count / type->block; i++) get_block(z + i * type->block, type->id, x + i * type->bytes);
}
