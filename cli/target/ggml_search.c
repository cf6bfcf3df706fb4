/* SPDX-License-Identifier: MIT */
/* The searches of ggml for the scales of Q2_K to Q6_K, IQ4_NL and IQ4_XS, step by step as docs/files.md has them (from
 * ggml-quants.c of llama.cpp at 01243c5: quantize_q2_K ... quantize_iq4_xs without an importance matrix). Every step is
 * one operation of binary32 in the order written here, sums from the first element to the last. A compiler that fuses
 * products and sums, or adds in vectors, makes another ggml than this one. */
#include "cli/target/ggml.h"

#include <math.h>
#include <string.h>

#include "cli/tensors/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

const int8_t cli_ggml_uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static const float all_zero = 1e-15f; /* a group whose numbers are smaller counts as zeros */

/* ---- numbers ---- */

/* Rounds to nearest even for |x| < 2^22; beyond that, returns what the digits of x + 1.5 2^23 are. */
static int nearest(float x) {
  float shifted = x + 12582912.0f;
  uint32_t u;
  memcpy(&u, &shifted, sizeof u);
  return (int)(u & 0x7FFFFF) - 0x400000;
}

static int within(int low, int x, int high) { return x < low ? low : x > high ? high : x; }

static uint16_t half_code(float x) {
  hu_mode rne = {0};
  return (uint16_t)hu_encode(hu_binary16(), rne, x, 0, NULL);
}

static float half_value(uint16_t code) { return hu_decode(hu_binary16(), code); }

/* Returns the first of the largest magnitude. */
static float largest(const float *x, int n) {
  float z = 0;
  for (int i = 0; i < n; i++)
    if (fabsf(x[i]) > fabsf(z)) z = x[i];
  return z;
}

/* Two sums over a group of n codes l under weights w: of w x l, and of w l l. */
typedef struct sums {
  float xl, l2;
} sums;

static void add_term(sums *s, float w, float x, float l) {
  s->xl += w * x * l;
  s->l2 += w * l * l;
}

/* ---- scales and minima: Q2_K, Q4_K, Q5_K ---- */

/* How a group is searched: inverse scales (first + 0.1 i + most) / (max - min) for i = 0 to steps. */
typedef struct grid {
  int n, most, steps, magnitudes; /* magnitudes 1: errors are weighted by magnitude, else by square */
  float first;
} grid;

static float error_of(const grid *g, const float *x, const float *w, const uint8_t *codes, float scale, float min) {
  float sum = 0;
  for (int i = 0; i < g->n; i++) {
    float diff = scale * (float)codes[i] + min - x[i];
    sum += w[i] * (g->magnitudes ? fabsf(diff) : diff * diff);
  }
  return sum;
}

static void codes_of(const grid *g, uint8_t *codes, const float *x, float inverse, float min) {
  for (int i = 0; i < g->n; i++) codes[i] = (uint8_t)within(0, nearest(inverse * (x[i] - min)), g->most);
}

/* Computes the scale and the minimum of least squares for given codes; returns 0 where there is no
 * solution. */
static int fitted(const grid *g, const float *x, const float *w, const uint8_t *codes, float sum_w, float sum_x,
                  float *scale, float *min) {
  float l = 0, l2 = 0, xl = 0;
  for (int i = 0; i < g->n; i++) {
    float code = codes[i];
    l += w[i] * code;
    l2 += w[i] * code * code;
    xl += w[i] * code * x[i];
  }
  float d = sum_w * l2 - l * l;
  if (!(d > 0)) return 0;
  *scale = (sum_w * xl - sum_x * l) / d;
  *min = (l2 * sum_x - l * xl) / d;
  if (*min > 0) {
    *min = 0;
    *scale = xl / l2;
  }
  return 1;
}

/* Finds codes and *least, the minimum's magnitude; returns the scale. A minimum that is better is also that of the
 * steps that follow. */
static float search_with_min(const grid *g, uint8_t *codes, float *least, const float *x, const float *w) {
  float min = x[0], max = x[0], sum_w = w[0], sum_x = sum_w * x[0];
  for (int i = 1; i < g->n; i++) {
    if (x[i] < min) min = x[i];
    if (x[i] > max) max = x[i];
    sum_w += w[i];
    sum_x += w[i] * x[i];
  }
  if (min > 0) min = 0;
  *least = -min;
  memset(codes, 0, (size_t)g->n);
  if (max == min) return 0;
  const float inverse = (float)g->most / (max - min);
  float scale = 1 / inverse, tried_scale, tried_min;
  codes_of(g, codes, x, inverse, min);
  float best = error_of(g, x, w, codes, scale, min);
  for (int i = 0; i <= g->steps; i++) {
    uint8_t tried[32];
    codes_of(g, tried, x, (g->first + 0.1f * (float)i + (float)g->most) / (max - min), min);
    if (!fitted(g, x, w, tried, sum_w, sum_x, &tried_scale, &tried_min)) continue;
    float error = error_of(g, x, w, tried, tried_scale, tried_min);
    if (!(error < best)) continue;
    memcpy(codes, tried, (size_t)g->n);
    best = error;
    scale = tried_scale;
    min = tried_min;
  }
  *least = -min;
  return scale;
}

static float highest(const float *x, int n) {
  float z = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > z) z = x[i];
  return z;
}

/* Computes codes for the scales and minima as they are stored; a group whose scale is 0 keeps those of its search. */
static void code_with_min(cli_ggml_block *z, const float *x, int n, int most) {
  for (int i = 0; i < 256 / n; i++) {
    float d = half_value(z->d) * (float)z->scales[i], min = half_value(z->dmin) * (float)z->mins[i];
    if (d == 0) continue;
    for (int j = n * i; j < n * i + n; j++) z->codes[j] = (uint8_t)within(0, nearest((x[j] + min) / d), most);
  }
}

static void search_q2_k(cli_ggml_block *z, const float *x) {
  const grid g = {16, 3, 15, 1, -0.5f};
  float scales[16], mins[16], w[16];
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < 16; j++) w[j] = fabsf(x[16 * i + j]);
    scales[i] = search_with_min(&g, z->codes + 16 * i, mins + i, x + 16 * i, w);
  }
  float max_scale = highest(scales, 16), max_min = highest(mins, 16);
  for (int i = 0; i < 16; i++) {
    int scale = max_scale > 0 ? nearest(15.0f / max_scale * scales[i]) : 0;
    int min = max_min > 0 ? nearest(15.0f / max_min * mins[i]) : 0;
    uint8_t both = (uint8_t)(scale | (int)((unsigned)min << 4)); /* one byte, which a negative scale fills */
    z->scales[i] = both & 15;
    z->mins[i] = both >> 4;
  }
  z->d = half_code(max_scale > 0 ? max_scale / 15.0f : 0);
  z->dmin = half_code(max_min > 0 ? max_min / 15.0f : 0);
  code_with_min(z, x, 16, 3);
}

static uint8_t six_bits(float inverse, float x) {
  uint8_t z = (uint8_t)nearest(inverse * x);
  return z > 63 ? 63 : z;
}

static void search_q45_k(cli_ggml_block *z, const float *x, int most) {
  const grid g = {32, most, most == 15 ? 20 : 15, 0, most == 15 ? -1.0f : -0.5f};
  float scales[8], mins[8], w[32];
  for (int i = 0; i < 8; i++) {
    float squares = 0;
    for (int j = 0; j < 32; j++) squares += x[32 * i + j] * x[32 * i + j];
    float mean = sqrtf(squares / 32);
    for (int j = 0; j < 32; j++) w[j] = mean + fabsf(x[32 * i + j]);
    scales[i] = search_with_min(&g, z->codes + 32 * i, mins + i, x + 32 * i, w);
  }
  float max_scale = highest(scales, 8), max_min = highest(mins, 8);
  float inverse = max_scale > 0 ? 63.0f / max_scale : 0, inverse_min = max_min > 0 ? 63.0f / max_min : 0;
  for (int i = 0; i < 8; i++) {
    z->scales[i] = six_bits(inverse, scales[i]);
    z->mins[i] = six_bits(inverse_min, mins[i]);
  }
  z->d = half_code(max_scale / 63.0f);
  z->dmin = half_code(max_min / 63.0f);
  code_with_min(z, x, 32, most);
}

/* ---- scales alone: Q3_K, Q6_K ---- */

/* Finds codes of 16 numbers from -most to most - 1, stored from 0 on, and the scale: the best of 19 inverse scales. */
static float search_scale(uint8_t *codes, const float *x, int most) {
  float max = largest(x, 16), scale = 0, best = 0;
  memset(codes, 0, 16);
  if (fabsf(max) < all_zero) return 0;
  for (int step = 0; step < 19; step++) {
    int i = step == 0 ? 0 : step < 10 ? step - 10 : step - 9; /* 0, then -9 to 9 without 0 */
    float inverse = i ? -((float)most + 0.1f * (float)i) / max : -(float)most / max;
    uint8_t tried[16];
    sums s = {0, 0};
    for (int j = 0; j < 16; j++) {
      int l = within(-most, nearest(inverse * x[j]), most - 1);
      tried[j] = (uint8_t)(l + most);
      add_term(&s, x[j] * x[j], x[j], (float)l);
    }
    if (step > 0 && !(s.l2 > 0 && s.xl * s.xl > best * s.l2)) continue;
    memcpy(codes, tried, 16);
    scale = s.l2 != 0 ? s.xl / s.l2 : 0;
    best = scale * s.xl;
  }
  return scale;
}

/* Moves one code after the other to the integer that is nearest under the scale of least squares, where this makes the
 * error smaller; goes through the group up to five times. */
static void improve(int *l, sums *s, const float *x) {
  for (int round = 0, changed = 1; round < 5 && changed; round++) {
    changed = 0;
    for (int i = 0; i < 16; i++) {
      float w = x[i] * x[i], xl = s->xl - w * x[i] * (float)l[i];
      if (!(xl > 0)) continue;
      float l2 = s->l2 - w * (float)l[i] * (float)l[i];
      int other = within(-4, nearest(x[i] * l2 / xl), 3);
      if (other == l[i]) continue;
      xl += w * x[i] * (float)other;
      l2 += w * (float)other * (float)other;
      if (!(l2 > 0 && xl * xl * s->l2 > s->xl * s->xl * l2)) continue;
      l[i] = other;
      s->xl = xl;
      s->l2 = l2;
      changed = 1;
    }
  }
}

static float search_q3(uint8_t *codes, const float *x) {
  float max = largest(x, 16);
  int l[16];
  sums s = {0, 0};
  memset(codes, 0, 16);
  if (fabsf(max) < all_zero) return 0;
  float inverse = -4.0f / max;
  for (int i = 0; i < 16; i++) {
    l[i] = within(-4, nearest(inverse * x[i]), 3);
    add_term(&s, x[i] * x[i], x[i], (float)l[i]);
  }
  improve(l, &s, x);
  for (int i = 0; i < 16; i++) codes[i] = (uint8_t)(l[i] + 4);
  return s.l2 > 0 ? s.xl / s.l2 : 0;
}

/* Computes codes again for the scale d of group number i as it is stored. */
static void code_group(cli_ggml_block *z, const float *x, int i, float d, int most) {
  if (d == 0) return;
  for (int j = 16 * i; j < 16 * i + 16; j++) z->codes[j] = (uint8_t)(within(-most, nearest(x[j] / d), most - 1) + most);
}

static void search_q3_k(cli_ggml_block *z, const float *x) {
  float scales[16];
  for (int i = 0; i < 16; i++) scales[i] = search_q3(z->codes + 16 * i, x + 16 * i);
  float max = largest(scales, 16), inverse = max != 0 ? -32.0f / max : 0;
  z->d = half_code(max != 0 ? 1 / inverse : 0);
  for (int i = 0; i < 16; i++) {
    /* Without a scale all bits are 0, which stands for -32 times d = 0. */
    z->scales[i] = (uint8_t)(max != 0 ? within(-32, (int8_t)nearest(inverse * scales[i]), 31) + 32 : 0);
    code_group(z, x, i, half_value(z->d) * (float)(z->scales[i] - 32), 4);
  }
}

static void search_q6_k(cli_ggml_block *z, const float *x) {
  float scales[16];
  for (int i = 0; i < 16; i++) scales[i] = search_scale(z->codes + 16 * i, x + 16 * i, 32);
  float max = largest(scales, 16);
  if (fabsf(max) < all_zero) {
    memset(z, 0, sizeof *z);
    return;
  }
  float inverse = -128.0f / max;
  z->d = half_code(1 / inverse);
  for (int i = 0; i < 16; i++) {
    int scale = nearest(inverse * scales[i]);
    z->scales[i] = (uint8_t)(int8_t)(scale > 127 ? 127 : scale);
    code_group(z, x, i, half_value(z->d) * (float)(int8_t)z->scales[i], 32);
  }
}

/* ---- 16 numbers that are not evenly apart: IQ4_NL, IQ4_XS ---- */

/* Returns the nearest of the 16 numbers, the upper one at a tie. */
static uint8_t nearest_uneven(float x) {
  uint8_t z = 0;
  while (z < 15 && x + x >= (float)(cli_ggml_uneven[z] + cli_ggml_uneven[z + 1])) z++;
  return z;
}

/* Returns the scale of 32 numbers: the best of 16 inverse scales. */
static float search_uneven(const float *x) {
  float max = largest(x, 32);
  if (fabsf(max) < all_zero) return 0;
  float d = -max / (float)cli_ggml_uneven[0], best = 0;
  for (int step = -8; step <= 7; step++) {
    float inverse = step < -7 ? 1 / d : (float)(step + cli_ggml_uneven[0]) / max;
    float xq = 0, q2 = 0;
    for (int j = 0; j < 32; j++) {
      float q = cli_ggml_uneven[nearest_uneven(inverse * x[j])], w = x[j] * x[j];
      xq += w * q * x[j];
      q2 += w * q * q;
    }
    if (step >= -7 && !(q2 > 0 && xq * xq > best * q2)) continue;
    d = q2 > 0 ? xq / q2 : 0;
    best = d * xq;
  }
  return d;
}

static void code_uneven(uint8_t *codes, const float *x, float d) {
  float inverse = d != 0 ? 1 / d : 0;
  for (int j = 0; j < 32; j++) codes[j] = nearest_uneven(inverse * x[j]);
}

static void search_iq4_nl(cli_ggml_block *z, const float *x) {
  float d = search_uneven(x);
  z->d = half_code(d);
  code_uneven(z->codes, x, d);
}

static void search_iq4_xs(cli_ggml_block *z, const float *x) {
  float scales[8];
  for (int i = 0; i < 8; i++) scales[i] = search_uneven(x + 32 * i);
  float d = -largest(scales, 8) / 32, inverse = d != 0 ? 1 / d : 0;
  z->d = half_code(d);
  for (int i = 0; i < 8; i++) {
    int scale = within(-32, nearest(inverse * scales[i]), 31);
    z->scales[i] = (uint8_t)(scale + 32);
    code_uneven(z->codes + 32 * i, x + 32 * i, d * (float)scale);
  }
}

void cli_ggml_search(cli_ggml_block *z, uint32_t type, const float *x) {
  memset(z, 0, sizeof *z);
  switch (type) {
    case GGUF_Q2_K: search_q2_k(z, x); break;
    case GGUF_Q3_K: search_q3_k(z, x); break;
    case GGUF_Q4_K: search_q45_k(z, x, 15); break;
    case GGUF_Q5_K: search_q45_k(z, x, 31); break;
    case GGUF_Q6_K: search_q6_k(z, x); break;
    case GGUF_IQ4_NL: search_iq4_nl(z, x); break;
    default: search_iq4_xs(z, x); break; /* IQ4_XS */
  }
}
