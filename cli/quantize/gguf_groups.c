/* SPDX-License-Identifier: MIT */
/* Codes, scales and minima of groups into the blocks of 256 of GGUF, the reverse of layouts/gguf_values.c, and IQ4_NL:
 * see gguf.h. Layouts: ggml-common.h of llama.cpp at 36491e4. */
#include <string.h>

#include "cli/quantize/gguf.h"

/* What one block is made of; NULL: the type has none. */
typedef struct pieces {
  const uint8_t *codes, *scales, *mins;
  uint16_t scale, dmin;
} pieces;

static uint8_t *put_half(uint8_t *z, uint16_t bits) {
  z[0] = (uint8_t)bits;
  z[1] = (uint8_t)(bits >> 8);
  return z + 2;
}

/* Moves the `width` bits from place `at` of each code on to place `to` of a byte. */
static uint8_t bits_to(uint8_t code, unsigned at, unsigned width, size_t to) {
  return (uint8_t)((code >> at & ((1u << width) - 1)) << to);
}

/* Puts the bit at place `at` of code number e at place e / 32 of byte e % 32. */
static uint8_t *put_bit(uint8_t *z, const uint8_t *codes, unsigned at) {
  memset(z, 0, 32);
  for (size_t j = 0; j < 256; j++) z[j % 32] |= bits_to(codes[j], at, 1, j / 32);
  return z + 32;
}

/* Puts two bits of each: bytes have those of four codes that are 32 apart, in runs of 128. */
static uint8_t *put_pairs(uint8_t *z, const uint8_t *codes, unsigned at) {
  memset(z, 0, 64);
  for (size_t j = 0; j < 256; j++) z[j / 128 * 32 + j % 32] |= bits_to(codes[j], at, 2, j % 128 / 32 * 2);
  return z + 64;
}

/* Puts four bits of each, in runs of `run` codes whose second half lies in the high halves of bytes. */
static uint8_t *put_fours(uint8_t *z, const uint8_t *codes, size_t count, size_t run) {
  memset(z, 0, count / 2);
  for (size_t j = 0; j < count; j++)
    z[j / run * (run / 2) + j % (run / 2)] |= bits_to(codes[j], 0, 4, j % run / (run / 2) * 4);
  return z + count / 2;
}

/* Puts sixteen scales of 6 bits: the low four bits in 8 bytes, then the high two in 4. */
static uint8_t *put_scales_q3_k(uint8_t *z, const uint8_t *scales) {
  memset(z, 0, 12);
  for (size_t i = 0; i < 16; i++) {
    z[i % 8] |= bits_to(scales[i], 0, 4, i / 8 * 4);
    z[8 + i % 4] |= bits_to(scales[i], 4, 2, i / 4 * 2);
  }
  return z + 12;
}

/* Puts eight scales and eight minima of 6 bits: those of the first four in bytes of their own, whose high two bits are
 * the high ones of the last four. */
static uint8_t *put_scales_q45_k(uint8_t *z, const pieces *block) {
  for (size_t i = 0; i < 4; i++) {
    z[i] = (uint8_t)(block->scales[i] | bits_to(block->scales[i + 4], 4, 2, 6));
    z[i + 4] = (uint8_t)(block->mins[i] | bits_to(block->mins[i + 4], 4, 2, 6));
    z[i + 8] = (uint8_t)(bits_to(block->scales[i + 4], 0, 4, 0) | bits_to(block->mins[i + 4], 0, 4, 4));
  }
  return z + 12;
}

static uint8_t *put_scales_iq4_xs(uint8_t *z, const uint8_t *scales) {
  memset(z, 0, 6);
  for (size_t i = 0; i < 8; i++) {
    z[i / 4] |= bits_to(scales[i], 4, 2, i % 4 * 2);
    z[2 + i / 2] |= bits_to(scales[i], 0, 4, i % 2 * 4);
  }
  return z + 6;
}

static void put_q6_k(uint8_t *z, const pieces *block) {
  memset(z, 0, 128);
  for (size_t j = 0; j < 256; j++) z[j / 128 * 64 + j % 64] |= bits_to(block->codes[j], 0, 4, j % 128 / 64 * 4);
  z = put_pairs(z + 128, block->codes, 4);
  memcpy(z, block->scales, 16);
  put_half(z + 16, block->scale);
}

static void put_block(uint8_t *z, uint32_t type, const pieces *block) {
  switch (type) {
    case GGUF_Q2_K:
      for (size_t i = 0; i < 16; i++) z[i] = (uint8_t)(block->scales[i] | block->mins[i] << 4);
      put_half(put_half(put_pairs(z + 16, block->codes, 0), block->scale), block->dmin);
      break;
    case GGUF_Q3_K:
      z = put_pairs(put_bit(z, block->codes, 2), block->codes, 0);
      put_half(put_scales_q3_k(z, block->scales), block->scale);
      break;
    case GGUF_Q4_K:
    case GGUF_Q5_K:
      z = put_scales_q45_k(put_half(put_half(z, block->scale), block->dmin), block);
      if (type == GGUF_Q5_K) z = put_bit(z, block->codes, 4);
      put_fours(z, block->codes, 256, 64);
      break;
    case GGUF_Q6_K: put_q6_k(z, block); break;
    case GGUF_IQ4_NL: put_fours(put_half(z, block->scale), block->codes, 32, 32); break;
    default:
      put_fours(put_scales_iq4_xs(put_half(z, block->scale), block->scales), block->codes, 256, 32);
      break; /* IQ4_XS */
  }
}

static uint16_t half_at(const cli_part *part, size_t i) {
  uint16_t bits;
  memcpy(&bits, (const uint8_t *)part->data + 2 * i, sizeof bits);
  return bits;
}

void gguf_pack_groups(uint8_t *z, const gguf_type *type, const cli_parts *parts, size_t i) {
  const cli_part *part = parts->part;
  int with_min = parts->count == 5;
  pieces block = {(const uint8_t *)part[0].data + type->block * i, NULL, NULL, half_at(&part[1], i), 0};
  if (parts->count > 2) {
    const cli_part *scales = &part[with_min ? 3 : 2];
    size_t groups = scales->cols / part[1].cols;
    block.scales = (const uint8_t *)scales->data + groups * i;
    if (with_min) block.mins = (const uint8_t *)part[4].data + groups * i;
  }
  if (with_min) block.dmin = half_at(&part[2], i);
  put_block(z, type->id, &block);
}

int gguf_has_groups(const gguf_type *type) {
  return (type->id >= GGUF_Q2_K && type->id <= GGUF_Q6_K) || type->id == GGUF_IQ4_NL || type->id == GGUF_IQ4_XS;
}
