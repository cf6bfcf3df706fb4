/* SPDX-License-Identifier: MIT */
/* Codes and scales into blocks of GGUF's types, as ggml lays them out (ggml-common.h and ggml-quants.c of llama.cpp at
 * 36491e4): see gguf.h.
 * Of two codes in a byte the one in the low half belongs to the first half of the block. */
#include "cli/quantize/gguf.h"

#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

/* ---- targets ---- */

/* Returns 1 for E2M1, with or without a code for -0, which ggml reads as 0. */
static int is_e2m1(hu_format format) {
  hu_format e2m1 = hu_float4_e2m1fn();
  format.negzero = e2m1.negzero;
  return hu_format_equal(format, e2m1);
}

/* Returns 1 for whole numbers of 8 bits in two's complement. */
static int is_int8(const hu_scaling *scaling) {
  return scaling->coding == HU_CODING_TWOS && scaling->element.e == 0 && scaling->element.m == 7 &&
         hu_decode64(scaling->element, 1) == 1;
}

static uint32_t type_of_scaling(const hu_scaling *scaling) {
  if (scaling->tensor || scaling->rows != 1) return UINT32_MAX;
  if (is_int8(scaling) && scaling->cols == 32 && hu_format_equal(scaling->scale, hu_binary16())) return GGUF_Q8_0;
  if (scaling->coding != HU_CODING_FORMAT || !is_e2m1(scaling->element)) return UINT32_MAX;
  if (scaling->cols == 32 && hu_format_equal(scaling->scale, hu_float8_e8m0fnu())) return GGUF_MXFP4;
  if (scaling->cols == 16 && hu_format_equal(scaling->scale, hu_ue4m3())) return GGUF_NVFP4;
  return UINT32_MAX;
}

const gguf_type *gguf_type_of_target(const cli_target *target) {
  int native = tensors_native(target);
  if (target->kind == &cli_kind_ggml) return gguf_type_of(target->ggml);
  if (native >= 0) return gguf_type_for(native);
  return target->kind == &cli_kind_scaled && !target->by_rows ? gguf_type_of(type_of_scaling(&target->scaling)) : NULL;
}

/* ---- into blocks ---- */

static void put_halves(uint8_t *z, const uint8_t *codes, size_t n) {
  for (size_t j = 0; j < n / 2; j++) z[j] = (uint8_t)(codes[j] | codes[j + n / 2] << 4);
}

static uint16_t half_at(const void *scales, size_t i) {
  uint16_t bits;
  memcpy(&bits, (const uint8_t *)scales + 2 * i, sizeof bits);
  return bits;
}

static uint8_t *put_half(uint8_t *z, const void *scales, size_t i) {
  uint16_t bits = half_at(scales, i);
  z[0] = (uint8_t)bits;
  z[1] = (uint8_t)(bits >> 8);
  return z + 2;
}

/* Packs 32 codes of 4, 5 or 8 bits: the fifth bits stand before the others. */
static void put_codes(uint8_t *z, uint32_t type, const uint8_t *codes) {
  uint8_t low[32];
  if (type == GGUF_Q8_0) {
    memcpy(z, codes, 32);
    return;
  }
  if (type == GGUF_Q5_0 || type == GGUF_Q5_1) {
    memset(z, 0, 4);
    for (size_t j = 0; j < 32; j++) z[j / 8] = (uint8_t)(z[j / 8] | (codes[j] >> 4) << j % 8);
    z += 4;
  }
  for (size_t j = 0; j < 32; j++) low[j] = codes[j] & 15;
  put_halves(z, low, 32);
}

/* Packs block number i of a type with scales of binary16; mins: NULL where it has none. */
static void pack_whole(uint8_t *z, uint32_t type, const uint8_t *codes, const void *scales, const void *mins,
                       size_t i) {
  z = put_half(z, scales, i);
  if (mins) z = put_half(z, mins, i);
  put_codes(z, type, codes);
}

/* Packs block number i. */
static void pack_block(uint8_t *z, uint32_t type, const uint8_t *codes, const void *scales, size_t i) {
  const uint8_t *scale = scales;
  if (type == GGUF_MXFP4) {
    z[0] = scale[i];
    put_halves(z + 1, codes, 32);
    return;
  }
  for (size_t k = 0; k < 4; k++) {
    z[k] = scale[4 * i + k];
    put_halves(z + 4 + 8 * k, codes + 16 * k, 16);
  }
}

/* Checks that ggml reads these codes of scales as numbers. */
static int check_scales(const gguf_type *type, const cli_part *scales, const char *name) {
  const uint8_t *scale = scales->data, nan = type->id == GGUF_MXFP4 ? 0xFF : 0x7F;
  size_t n = scales->rows * scales->cols;
  if (scales->size == 2 || !n || !memchr(scale, nan, n)) return CLI_OK;
  return cli_fail(name, "a block has an infinity or a NaN, and %s of GGUF has no scale for it", type->name);
}

int gguf_pack(uint8_t *z, const gguf_type *type, const cli_parts *parts, const char *name) {
  const uint8_t *codes = parts->part[0].data;
  size_t blocks = parts->part[0].rows * parts->part[0].cols / type->block;
  if (check_scales(type, &parts->part[1], name)) return CLI_BAD;
  int halves = parts->part[1].size == 2;
  const void *scales = parts->part[1].data, *mins = parts->count > 2 ? parts->part[2].data : NULL;
  for (size_t i = 0; i < blocks; i++, z += type->bytes, codes += type->block) {
    if (gguf_has_groups(type))
      gguf_pack_groups(z, type, parts, i);
    else if (halves)
      pack_whole(z, type->id, codes, scales, mins, i);
    else
      pack_block(z, type->id, codes, scales, i);
  }
  return CLI_OK;
}
