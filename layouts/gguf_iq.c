/* SPDX-License-Identifier: MIT */
/* Blocks of 256 whose elements are entries of a grid with signs, or three-valued: see gguf_iq.h. The factor of a run of
 * elements is rounded to binary32 step by step, then multiplied with the entry of the grid, as in ggml; signs change no
 * rounding. */
#include "layouts/gguf_iq.h"

#include "files/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

static const float eighths2[4] = {8, 25, 43, 0};
static const float numbers3_xxs[8] = {4, 12, 20, 28, 36, 44, 52, 62};
static const float numbers3_s[8] = {1, 3, 5, 7, 9, 11, 13, 15};

static uint32_t word16(const uint8_t *x) { return (uint32_t)x[0] | (uint32_t)x[1] << 8; }
static uint32_t word32(const uint8_t *x) { return word16(x) | word16(x + 2) << 16; }
static float half_of(const uint8_t *x) { return hu_decode(hu_binary16(), word16(x)); }

/* Returns eight signs of seven bits: their number is even. */
static unsigned even_signs(uint32_t seven) {
  uint32_t parity = seven ^ seven >> 4;
  parity ^= parity >> 2;
  return (seven & 127) | ((parity ^ parity >> 1) & 1) << 7;
}

/* Writes the numbers of an entry of a grid; a bit of signs is a minus. */
static void put2(float z[8], unsigned entry, float factor, unsigned signs) {
  for (unsigned i = 0; i < 8; i++) {
    float y = factor * eighths2[entry >> 2 * i & 3];
    z[i] = signs >> i & 1 ? -y : y;
  }
}

static void put3(float z[4], unsigned entry, float factor, unsigned signs, const float numbers[8]) {
  for (unsigned i = 0; i < 4; i++) {
    float y = factor * numbers[entry >> 3 * i & 7];
    z[i] = signs >> i & 1 ? -y : y;
  }
}

/* ---- IQ2 ---- */

static void get_iq2_xxs(float *z, const uint8_t *x) {
  float d = half_of(x);
  for (unsigned run = 0; run < 8; run++) {
    const uint8_t *at = x + 2 + 8 * run;
    uint32_t word = word32(at + 4);
    float factor = d * (0.5f + (float)(word >> 28)) * 0.25f;
    for (unsigned i = 0; i < 4; i++)
      put2(z + 32 * run + 8 * i, gguf_grid_iq2_xxs[at[i]], factor, even_signs(word >> 7 * i & 127));
  }
}

static float factor2(const uint8_t *x, const uint8_t *scales, unsigned i) {
  unsigned scale = scales[i / 4] >> (i / 2 % 2 * 4) & 15; /* one for two entries */
  return half_of(x) * (0.5f + (float)scale) * 0.25f;
}

static void get_iq2_xs(float *z, const uint8_t *x) {
  for (unsigned i = 0; i < 32; i++) {
    unsigned word = word16(x + 2 + 2 * i);
    put2(z + 8 * i, gguf_grid_iq2_xs[word & 511], factor2(x, x + 66, i), even_signs(word >> 9));
  }
}

static void get_iq2_s(float *z, const uint8_t *x) {
  const uint8_t *low = x + 2, *signs = x + 34, *high = x + 66, *scales = x + 74;
  for (unsigned i = 0; i < 32; i++) {
    unsigned entry = low[i] | (high[i / 4] >> (i % 4 * 2) & 3u) << 8;
    put2(z + 8 * i, gguf_grid_iq2_s[entry], factor2(x, scales, i), signs[i]);
  }
}

/* ---- IQ3 ---- */

static void get_iq3_xxs(float *z, const uint8_t *x) {
  float d = half_of(x);
  for (unsigned i = 0; i < 64; i++) {
    uint32_t word = word32(x + 66 + 4 * (i / 8));
    float factor = d * (0.5f + (float)(word >> 28)) * 0.5f;
    unsigned signs = even_signs(word >> (i / 2 % 4 * 7) & 127) >> (i % 2 * 4);
    put3(z + 4 * i, gguf_grid_iq3_xxs[x[2 + i]], factor, signs, numbers3_xxs);
  }
}

static void get_iq3_s(float *z, const uint8_t *x) {
  const uint8_t *low = x + 2, *high = x + 66, *signs = x + 74, *scales = x + 106;
  float d = half_of(x);
  for (unsigned i = 0; i < 64; i++) {
    unsigned entry = low[i] | (high[i / 8] >> i % 8 & 1u) << 8, scale = scales[i / 16] >> (i / 8 % 2 * 4) & 15;
    put3(z + 4 * i, gguf_grid_iq3_s[entry], d * (float)(1 + 2 * scale), signs[i / 2] >> (i % 2 * 4), numbers3_s);
  }
}

/* ---- IQ1 ---- */

/* The grid has -1, 0, 1; all of an entry are an eighth higher, or lower. */
static void put1(float z[8], unsigned entry, float factor, int lower) {
  for (unsigned i = 0; i < 8; i++) {
    float number = (float)(int)(entry >> 2 * i & 3) - 1;
    z[i] = factor * (number + (lower ? -0.125f : 0.125f));
  }
}

static void get_iq1_s(float *z, const uint8_t *x) {
  float d = half_of(x);
  for (unsigned i = 0; i < 32; i++) {
    unsigned word = word16(x + 34 + 2 * (i / 4)), entry = x[2 + i] | (word >> i % 4 * 3 & 7) << 8;
    put1(z + 8 * i, gguf_grid_iq1_s[entry], d * (float)(2 * (word >> 12 & 7) + 1), word >> 15 & 1);
  }
}

static void get_iq1_m(float *z, const uint8_t *x) {
  const uint8_t *high = x + 32, *scales = x + 48;
  uint8_t block_scale[2] = {0, 0};
  for (unsigned i = 0; i < 4; i++) block_scale[i / 2] |= (uint8_t)(scales[2 * i + 1] >> 4 << i % 2 * 4);
  float d = half_of(block_scale);
  for (unsigned i = 0; i < 32; i++) {
    unsigned more = high[i / 2] >> i % 2 * 4, entry = x[i] | (more & 7) << 8;
    unsigned scale = word16(scales + 2 * (i / 8)) >> i / 2 % 4 * 3 & 7;
    put1(z + 8 * i, gguf_grid_iq1_s[entry], d * (float)(2 * scale + 1), more >> 3 & 1);
  }
}

/* ---- three values ---- */

/* Returns digit n of a byte whose value is a fraction of 3^5 digits of 0 to 2, less 1. */
static float trit(uint8_t byte, unsigned n) {
  static const uint8_t powers[] = {1, 3, 9, 27, 81};
  uint8_t rest = (uint8_t)(byte * powers[n]);
  return (float)(rest * 3 >> 8) - 1;
}

static void get_tq1_0(float *z, const uint8_t *x) {
  float d = half_of(x + 52);
  for (unsigned i = 0; i < 160; i++) z[i] = d * trit(x[i % 32], i / 32);
  for (unsigned i = 0; i < 80; i++) z[160 + i] = d * trit(x[32 + i % 16], i / 16);
  for (unsigned i = 0; i < 16; i++) z[240 + i] = d * trit(x[48 + i % 4], i / 4);
}

static void get_tq2_0(float *z, const uint8_t *x) {
  float d = half_of(x + 64);
  for (unsigned i = 0; i < 256; i++) z[i] = d * ((float)(x[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3) - 1);
}

int gguf_iq_block(float z[256], uint32_t type, const uint8_t *x) {
  switch (type) {
    case GGUF_IQ2_XXS: get_iq2_xxs(z, x); break;
    case GGUF_IQ2_XS: get_iq2_xs(z, x); break;
    case GGUF_IQ2_S: get_iq2_s(z, x); break;
    case GGUF_IQ3_XXS: get_iq3_xxs(z, x); break;
    case GGUF_IQ3_S: get_iq3_s(z, x); break;
    case GGUF_IQ1_S: get_iq1_s(z, x); break;
    case GGUF_IQ1_M: get_iq1_m(z, x); break;
    case GGUF_TQ1_0: get_tq1_0(z, x); break;
    case GGUF_TQ2_0: get_tq2_0(z, x); break;
    default: return 0;
  }
  return 1;
}
