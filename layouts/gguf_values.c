/* SPDX-License-Identifier: MIT */
/* The numbers of blocks of GGUF's types, by the products and differences of ggml (its dequantize_row_*, as gguf 0.19.0
 * has them, too), each rounded to binary32: see gguf.h. A NaN is the one NaN.
 *
 * Blocks of 256, the "K" types: element e has the scale number e / 16 or e / 32 of the block; codes of 2 and 4 bits lie
 * in runs of 32 bytes, whose bits of one place are 32 neighbours. */
#include <string.h>

#include "files/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "layouts/gguf_iq.h"

int gguf_reads(const gguf_type *type) { return type->dtype < 0 && type->id != 9; }

static float float_of(uint32_t bits) {
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

static float clean(float y) { return y != y ? float_of(0x7FC00000) : y; }

static float half_of(const uint8_t *x) { return hu_decode(hu_binary16(), (uint32_t)x[0] | (uint32_t)x[1] << 8); }

/* Returns `width` bits from place `at` of a byte on. */
static int bits_of(uint8_t x, size_t at, int width) { return x >> at & ((1 << width) - 1); }

/* ---- E2M1 ---- */

/* Twice E2M1, for scales of half their value. */
static const int8_t twice_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* Returns 2^(exponent - 128), 255 too. */
static float half_e8m0(uint8_t exponent) {
  return float_of(exponent < 2 ? 0x200000u << exponent : (uint32_t)(exponent - 1) << 23);
}

/* Returns half of a scale in UE4M3. A NaN is 0; the top bit does not count. */
static float half_ue4m3(uint8_t code) {
  uint32_t exponent = code >> 3 & 15, m = code & 7;
  if (code == 0x7F) return 0;
  return exponent ? float_of((exponent + 127 - 8) << 23 | m << 20) : (float)m * 0x1p-10f;
}

/* Reads numbers of a table, of two codes in a byte that in the low half for the first half of the n. */
static void get_halves(float *z, const uint8_t *x, size_t n, float scale, const int8_t *table) {
  for (size_t j = 0; j < n / 2; j++) {
    z[j] = clean(scale * table[x[j] & 15]);
    z[j + n / 2] = clean(scale * table[x[j] >> 4]);
  }
}

/* ---- 32 whole numbers ---- */

/* Returns a code of 4 or 5 bits. */
static int short_code(const uint8_t *x, const uint8_t *fifth, size_t j) {
  int low = bits_of(x[j % 16], j < 16 ? 0 : 4, 4);
  return fifth ? low | bits_of(fifth[j / 8], j % 8, 1) << 4 : low;
}

static void get_short(float *z, const uint8_t *x, uint32_t type) {
  int with_min = type == GGUF_Q4_1 || type == GGUF_Q5_1, five = type == GGUF_Q5_0 || type == GGUF_Q5_1;
  float scale = half_of(x), m = with_min ? half_of(x + 2) : 0;
  const uint8_t *fifth = five ? x + (with_min ? 4 : 2) : NULL;
  x += (with_min ? 4 : 2) + (five ? 4 : 0);
  for (size_t j = 0; j < 32; j++) {
    int k = short_code(x, fifth, j);
    float y = scale * (float)(with_min ? k : k - (five ? 16 : 8));
    z[j] = clean(with_min ? y + m : y);
  }
}

static void get_bytes(float *z, const uint8_t *x) {
  float scale = half_of(x);
  for (size_t j = 0; j < 32; j++) z[j] = clean(scale * (float)(int8_t)x[2 + j]);
}

/* ---- blocks of 256 ---- */

static void get_q2_k(float *z, const uint8_t *x) {
  const uint8_t *scales = x, *codes = x + 16;
  float block_scale = half_of(x + 80), least = half_of(x + 82);
  for (size_t j = 0; j < 256; j++) {
    float scale = block_scale * (float)(scales[j / 16] & 15), min = least * (float)(scales[j / 16] >> 4);
    float y = scale * (float)bits_of(codes[j / 128 * 32 + j % 32], j % 128 / 32 * 2, 2);
    z[j] = clean(y - min);
  }
}

/* Returns a scale of 6 bits less 32: four low bits in 8 bytes, then the two high ones in 4. */
static int scale_of_q3_k(const uint8_t *x, size_t i) {
  return (bits_of(x[i % 8], i / 8 * 4, 4) | bits_of(x[8 + i % 4], i / 4 * 2, 2) << 4) - 32;
}

static void get_q3_k(float *z, const uint8_t *x) {
  const uint8_t *third = x, *codes = x + 32, *scales = x + 96;
  float block_scale = half_of(x + 108);
  for (size_t j = 0; j < 256; j++) {
    float scale = block_scale * (float)scale_of_q3_k(scales, j / 16);
    int code = bits_of(codes[j / 128 * 32 + j % 32], j % 128 / 32 * 2, 2);
    z[j] = clean(scale * (float)(bits_of(third[j % 32], j / 32, 1) ? code : code - 4));
  }
}

/* Reads one of eight scales and eight minima of 6 bits in 12 bytes: the first four of each lie in bytes of their own,
 * whose two high bits belong to the last four. */
static void scale_and_min(int *scale, int *min, const uint8_t *x, size_t i) {
  if (i < 4) {
    *scale = x[i] & 63;
    *min = x[i + 4] & 63;
  } else {
    *scale = (x[i + 4] & 15) | x[i - 4] >> 6 << 4;
    *min = x[i + 4] >> 4 | x[i] >> 6 << 4;
  }
}

static void get_q45_k(float *z, const uint8_t *x, int five) {
  const uint8_t *scales = x + 4, *fifth = x + 16, *codes = x + (five ? 48 : 16);
  float block_scale = half_of(x), least = half_of(x + 2);
  for (size_t j = 0; j < 256; j++) {
    int scale, min, code = bits_of(codes[j / 64 * 32 + j % 32], j % 64 / 32 * 4, 4);
    scale_and_min(&scale, &min, scales, j / 32);
    if (five) code |= bits_of(fifth[j % 32], j / 32, 1) << 4;
    float y = block_scale * (float)scale * (float)code;
    z[j] = clean(y - least * (float)min);
  }
}

static void get_q6_k(float *z, const uint8_t *x) {
  const uint8_t *low = x, *high = x + 128, *scales = x + 192;
  float scale = half_of(x + 208);
  for (size_t j = 0; j < 256; j++) {
    size_t half = j / 128, quarter = j % 128 / 32, at = j % 32;
    int code = bits_of(low[64 * half + quarter % 2 * 32 + at], quarter / 2 * 4, 4);
    code |= bits_of(high[32 * half + at], 2 * quarter, 2) << 4;
    z[j] = clean(scale * (float)(int8_t)scales[j / 16] * (float)(code - 32));
  }
}

/* ---- numbers of a table that are not evenly apart ---- */

static const int8_t uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void get_iq4_xs(float *z, const uint8_t *x) {
  float block_scale = half_of(x);
  for (size_t i = 0; i < 8; i++) {
    int high = bits_of(x[2 + i / 4], i % 4 * 2, 2), scale = bits_of(x[4 + i / 2], i % 2 * 4, 4) | high << 4;
    get_halves(z + 32 * i, x + 8 + 16 * i, 32, block_scale * (float)(scale - 32), uneven);
  }
}

/* ---- codes of 1, 2 and 8 bits in the order of the elements ---- */

static void get_q1_0(float *z, const uint8_t *x) {
  float scale = half_of(x);
  for (size_t j = 0; j < 128; j++) z[j] = clean(bits_of(x[2 + j / 8], j % 8, 1) ? scale : -scale);
}

static void get_q2_0(float *z, const uint8_t *x) {
  float scale = half_of(x);
  for (size_t j = 0; j < 64; j++) z[j] = clean(scale * (float)(bits_of(x[2 + j / 4], j % 4 * 2, 2) - 1));
}

static void get_q8_k(float *z, const uint8_t *x) {
  float scale = float_of((uint32_t)x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24);
  for (size_t j = 0; j < 256; j++) z[j] = clean(scale * (float)(int8_t)x[4 + j]);
}

/* ---- all ---- */

static void get_block(float *z, uint32_t type, const uint8_t *x) {
  if (gguf_iq_block(z, type, x)) {
    for (size_t j = 0; j < 256; j++) z[j] = clean(z[j]);
    return;
  }
  switch (type) {
    case GGUF_Q1_0: get_q1_0(z, x); break;
    case GGUF_Q2_0: get_q2_0(z, x); break;
    case GGUF_Q8_K: get_q8_k(z, x); break;
    case GGUF_Q8_0: get_bytes(z, x); break;
    case GGUF_Q2_K: get_q2_k(z, x); break;
    case GGUF_Q3_K: get_q3_k(z, x); break;
    case GGUF_Q4_K:
    case GGUF_Q5_K: get_q45_k(z, x, type == GGUF_Q5_K); break;
    case GGUF_Q6_K: get_q6_k(z, x); break;
    case GGUF_IQ4_NL: get_halves(z, x + 2, 32, half_of(x), uneven); break;
    case GGUF_IQ4_XS: get_iq4_xs(z, x); break;
    case GGUF_MXFP4: get_halves(z, x + 1, 32, half_e8m0(x[0]), twice_e2m1); break;
    case GGUF_NVFP4:
      for (size_t k = 0; k < 4; k++) get_halves(z + 16 * k, x + 4 + 8 * k, 16, half_ue4m3(x[k]), twice_e2m1);
      break;
    default: get_short(z, x, type);
  }
}

void gguf_values(float *z, const gguf_type *type, const uint8_t *x, size_t count) {
  for (size_t i = 0; i < count / type->block; i++) get_block(z + i * type->block, type->id, x + i * type->bytes);
}
