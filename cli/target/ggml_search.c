/* SPDX-License-Identifier: MIT */
/* The searches of ggml for the scales of Q2_K to Q6_K, IQ4_NL and IQ4_XS, and with an importance matrix also of Q4_0 to
 * Q5_1, step by step as docs/files.md has them (from ggml-quants.c of llama.cpp at 01243c5: quantize_q2_K ...
 * quantize_iq4_xs). Every step is one operation of binary32 in the order written here, sums from the first element to
 * the last. A compiler that fuses products and sums, or adds in vectors, makes another ggml than this one. */
#include "cli/target/ggml.h"

#include <math.h>
#include <string.h>

#include "files/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

const int8_t cli_ggml_uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static const float all_zero = 1e-15f; /* a group whose numbers are smaller counts as zeros */

/* ---- numbers ---- */

/* Rounds to nearest even for |x| < 2^22; beyond that, returns what the digits of x + 1.5 2^23 are. */
static int nearest(float x) {
  float shifted = x + 12582912.0f;
  uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  return (int)(bits & 0x7FFFFF) - 0x400000;
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

static void add_term(sums *total, float weights, float x, float code) {
  total->xl += weights * x * code;
  total->l2 += weights * code * code;
}

static float sum_of_squares(const float *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

/* Weighs n numbers by the importance of their columns and by their own size; `mean` is that of squares around them.
 * Returns the sum of the weights. */
static float weigh(float *weights, const float *importance, const float *x, int n, float mean) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    weights[i] = importance[i] * sqrtf(mean + x[i] * x[i]);
    sum += weights[i];
  }
  return sum;
}

/* Returns the weight of number i where none are given: its square. */
static float weight_of(const float *weights, const float *x, int i) { return weights ? weights[i] : x[i] * x[i]; }

/* ---- scales and minima: Q2_K, Q4_K, Q5_K, Q4_1, Q5_1 ---- */

/* How a group is searched: inverse scales (first + step i + most) / (max - min) for i = 0 to steps. */
typedef struct grid {
  int n, most, steps, magnitudes; /* magnitudes 1: errors are weighted by magnitude, else by square */
  float first, step;
} grid;

static float error_of(const grid *search, const float *x, const float *weights, const uint8_t *codes, float scale,
                      float min) {
  float sum = 0;
  for (int i = 0; i < search->n; i++) {
    float diff = scale * (float)codes[i] + min - x[i];
    sum += weights[i] * (search->magnitudes ? fabsf(diff) : diff * diff);
  }
  return sum;
}

static void codes_of(const grid *search, uint8_t *codes, const float *x, float inverse, float min) {
  for (int i = 0; i < search->n; i++) codes[i] = (uint8_t)within(0, nearest(inverse * (x[i] - min)), search->most);
}

/* Computes the scale and the minimum of least squares for given codes; returns 0 where there is no
 * solution. */
static int fitted(const grid *search, const float *x, const float *weights, const uint8_t *codes, float sum_w,
                  float sum_x, float *scale, float *min) {
  float sum_l = 0, l2 = 0, xl = 0;
  for (int i = 0; i < search->n; i++) {
    float code = codes[i];
    sum_l += weights[i] * code;
    l2 += weights[i] * code * code;
    xl += weights[i] * code * x[i];
  }
  float determinant = sum_w * l2 - sum_l * sum_l;
  if (!(determinant > 0)) return 0;
  *scale = (sum_w * xl - sum_x * sum_l) / determinant;
  *min = (l2 * sum_x - sum_l * xl) / determinant;
  if (*min > 0) {
    *min = 0;
    *scale = xl / l2;
  }
  return 1;
}

/* Finds codes and *least, the minimum's magnitude; returns the scale. A minimum that is better is also that of the
 * steps that follow. */
static float search_with_min(const grid *search, uint8_t *codes, float *least, const float *x, const float *weights) {
  float min = x[0], max = x[0], sum_w = weights[0], sum_x = sum_w * x[0];
  for (int i = 1; i < search->n; i++) {
    if (x[i] < min) min = x[i];
    if (x[i] > max) max = x[i];
    sum_w += weights[i];
    sum_x += weights[i] * x[i];
  }
  if (min > 0) min = 0;
  *least = -min;
  memset(codes, 0, (size_t)search->n);
  if (max == min) return 0;
  const float inverse = (float)search->most / (max - min);
  float scale = 1 / inverse, tried_scale, tried_min;
  codes_of(search, codes, x, inverse, min);
  float best = error_of(search, x, weights, codes, scale, min);
  for (int i = 0; i <= search->steps; i++) {
    uint8_t tried[32];
    codes_of(search, tried, x, (search->first + search->step * (float)i + (float)search->most) / (max - min), min);
    if (!fitted(search, x, weights, tried, sum_w, sum_x, &tried_scale, &tried_min)) continue;
    float error = error_of(search, x, weights, tried, tried_scale, tried_min);
    if (!(error < best)) continue;
    memcpy(codes, tried, (size_t)search->n);
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
static void code_with_min(cli_ggml_block *block, const float *x, int n, int most) {
  for (int i = 0; i < 256 / n; i++) {
    float scale = half_value(block->scale) * (float)block->scales[i],
          min = half_value(block->dmin) * (float)block->mins[i];
    if (scale == 0) continue;
    for (int j = n * i; j < n * i + n; j++) block->codes[j] = (uint8_t)within(0, nearest((x[j] + min) / scale), most);
  }
}

/* Brings scales and minima of Q2_K to what one byte for both holds, which a negative scale fills. */
static void fill_nibbles(cli_ggml_block *block) {
  for (int i = 0; i < 16; i++) {
    block->mins[i] = (uint8_t)(block->scales[i] >> 4 | block->mins[i]) & 15;
    block->scales[i] &= 15;
  }
}

static void search_q2_k(cli_ggml_block *block, const float *x) {
  const grid search = {16, 3, 15, 1, -0.5f, 0.1f};
  float scales[16], mins[16], weights[16];
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < 16; j++) weights[j] = fabsf(x[16 * i + j]);
    scales[i] = search_with_min(&search, block->codes + 16 * i, mins + i, x + 16 * i, weights);
  }
  float max_scale = highest(scales, 16), max_min = highest(mins, 16);
  for (int i = 0; i < 16; i++) {
    block->scales[i] = (uint8_t)(max_scale > 0 ? nearest(15.0f / max_scale * scales[i]) : 0);
    block->mins[i] = (uint8_t)(max_min > 0 ? nearest(15.0f / max_min * mins[i]) : 0);
  }
  fill_nibbles(block);
  block->scale = half_code(max_scale > 0 ? max_scale / 15.0f : 0);
  block->dmin = half_code(max_min > 0 ? max_min / 15.0f : 0);
  code_with_min(block, x, 16, 3);
}

static uint8_t six_bits(float inverse, float x) {
  uint8_t z = (uint8_t)nearest(inverse * x);
  return z > 63 ? 63 : z;
}

static void search_q45_k(cli_ggml_block *block, const float *x, int most) {
  const grid search = {32, most, most == 15 ? 20 : 15, 0, most == 15 ? -1.0f : -0.5f, 0.1f};
  float scales[8], mins[8], weights[32];
  for (int i = 0; i < 8; i++) {
    float mean = sqrtf(sum_of_squares(x + 32 * i, 32) / 32);
    for (int j = 0; j < 32; j++) weights[j] = mean + fabsf(x[32 * i + j]);
    scales[i] = search_with_min(&search, block->codes + 32 * i, mins + i, x + 32 * i, weights);
  }
  float max_scale = highest(scales, 8), max_min = highest(mins, 8);
  float inverse = max_scale > 0 ? 63.0f / max_scale : 0, inverse_min = max_min > 0 ? 63.0f / max_min : 0;
  for (int i = 0; i < 8; i++) {
    block->scales[i] = six_bits(inverse, scales[i]);
    block->mins[i] = six_bits(inverse_min, mins[i]);
  }
  block->scale = half_code(max_scale / 63.0f);
  block->dmin = half_code(max_min / 63.0f);
  code_with_min(block, x, 32, most);
}

/* ---- scales alone: Q3_K, Q6_K, Q4_0, Q5_0 ---- */

/* Finds codes of n numbers from -most to most - 1, stored from 0 on, and the scale: the best of 19 inverse scales.
 * weights: NULL, squares. */
static float search_scale(uint8_t *codes, const float *x, int n, int most, const float *weights) {
  float max = largest(x, n), scale = 0, best = 0;
  memset(codes, 0, (size_t)n);
  if (fabsf(max) < all_zero) return 0;
  for (int step = 0; step < 19; step++) {
    int i = step == 0 ? 0 : step < 10 ? step - 10 : step - 9; /* 0, then -9 to 9 without 0 */
    float inverse = i ? -((float)most + 0.1f * (float)i) / max : -(float)most / max;
    uint8_t tried[32];
    sums total = {0, 0};
    for (int j = 0; j < n; j++) {
      int code = within(-most, nearest(inverse * x[j]), most - 1);
      tried[j] = (uint8_t)(code + most);
      add_term(&total, weight_of(weights, x, j), x[j], (float)code);
    }
    if (step > 0 && !(total.l2 > 0 && total.xl * total.xl > best * total.l2)) continue;
    memcpy(codes, tried, (size_t)n);
    scale = total.l2 != 0 ? total.xl / total.l2 : 0;
    best = scale * total.xl;
  }
  return scale;
}

/* Moves one code after the other to the integer that is nearest under the scale of least squares, where this makes the
 * error smaller; goes through the group up to five times. */
static void improve(int *code, sums *total, const float *x) {
  for (int round = 0, changed = 1; round < 5 && changed; round++) {
    changed = 0;
    for (int i = 0; i < 16; i++) {
      float weights = x[i] * x[i], xl = total->xl - weights * x[i] * (float)code[i];
      if (!(xl > 0)) continue;
      float l2 = total->l2 - weights * (float)code[i] * (float)code[i];
      int other = within(-4, nearest(x[i] * l2 / xl), 3);
      if (other == code[i]) continue;
      xl += weights * x[i] * (float)other;
      l2 += weights * (float)other * (float)other;
      if (!(l2 > 0 && xl * xl * total->l2 > total->xl * total->xl * l2)) continue;
      code[i] = other;
      total->xl = xl;
      total->l2 = l2;
      changed = 1;
    }
  }
}

static float search_q3(uint8_t *codes, const float *x) {
  float max = largest(x, 16);
  int code[16];
  sums total = {0, 0};
  memset(codes, 0, 16);
  if (fabsf(max) < all_zero) return 0;
  float inverse = -4.0f / max;
  for (int i = 0; i < 16; i++) {
    code[i] = within(-4, nearest(inverse * x[i]), 3);
    add_term(&total, x[i] * x[i], x[i], (float)code[i]);
  }
  improve(code, &total, x);
  for (int i = 0; i < 16; i++) codes[i] = (uint8_t)(code[i] + 4);
  return total.l2 > 0 ? total.xl / total.l2 : 0;
}

/* Computes codes again for the scale of group number i as it is stored. */
static void code_group(cli_ggml_block *block, const float *x, int i, float scale, int most) {
  if (scale == 0) return;
  for (int j = 16 * i; j < 16 * i + 16; j++)
    block->codes[j] = (uint8_t)(within(-most, nearest(x[j] / scale), most - 1) + most);
}

static void search_q3_k(cli_ggml_block *block, const float *x) {
  float scales[16];
  for (int i = 0; i < 16; i++) scales[i] = search_q3(block->codes + 16 * i, x + 16 * i);
  float max = largest(scales, 16), inverse = max != 0 ? -32.0f / max : 0;
  block->scale = half_code(max != 0 ? 1 / inverse : 0);
  for (int i = 0; i < 16; i++) {
    /* Without a scale all bits are 0, which stands for -32 times d = 0. */
    block->scales[i] = (uint8_t)(max != 0 ? within(-32, (int8_t)nearest(inverse * scales[i]), 31) + 32 : 0);
    code_group(block, x, i, half_value(block->scale) * (float)(block->scales[i] - 32), 4);
  }
}

static void search_q6_k(cli_ggml_block *block, const float *x, const float *importance) {
  float scales[16];
  for (int i = 0; i < 16; i++) {
    const float *weights = importance ? importance + 16 * i : NULL;
    scales[i] = search_scale(block->codes + 16 * i, x + 16 * i, 16, 32, weights);
  }
  float max = largest(scales, 16);
  if (fabsf(max) < all_zero) {
    memset(block, 0, sizeof *block);
    return;
  }
  float inverse = -128.0f / max;
  block->scale = half_code(1 / inverse);
  for (int i = 0; i < 16; i++) {
    int scale = nearest(inverse * scales[i]);
    block->scales[i] = (uint8_t)(int8_t)(scale > 127 ? 127 : scale);
    code_group(block, x, i, half_value(block->scale) * (float)(int8_t)block->scales[i], 32);
  }
}

/* ---- 16 numbers that are not evenly apart: IQ4_NL, IQ4_XS ---- */

/* Returns the nearest of the 16 numbers, the upper one at a tie. */
static uint8_t nearest_uneven(float x) {
  uint8_t z = 0;
  while (z < 15 && x + x >= (float)(cli_ggml_uneven[z] + cli_ggml_uneven[z + 1])) z++;
  return z;
}

/* Returns the scale of 32 numbers: the best of 16 inverse scales. weights: NULL, squares. */
static float search_uneven(const float *x, const float *weights) {
  float max = largest(x, 32);
  if (fabsf(max) < all_zero) return 0;
  float scale = -max / (float)cli_ggml_uneven[0], best = 0;
  for (int step = -8; step <= 7; step++) {
    float inverse = step < -7 ? 1 / scale : (float)(step + cli_ggml_uneven[0]) / max;
    float xq = 0, q2 = 0;
    for (int j = 0; j < 32; j++) {
      float number = cli_ggml_uneven[nearest_uneven(inverse * x[j])], weight = weight_of(weights, x, j);
      xq += weight * number * x[j];
      q2 += weight * number * number;
    }
    if (step >= -7 && !(q2 > 0 && xq * xq > best * q2)) continue;
    scale = q2 > 0 ? xq / q2 : 0;
    best = scale * xq;
  }
  return scale;
}

static void code_uneven(uint8_t *codes, const float *x, float scale) {
  float inverse = scale != 0 ? 1 / scale : 0;
  for (int j = 0; j < 32; j++) codes[j] = nearest_uneven(inverse * x[j]);
}

/* Does the same under the weights that the importance of 32 columns gives, of a block with this sum of squares. */
static float search_uneven_by(const float *x, const float *importance, float squares, float count) {
  float weights[32];
  if (!importance) return search_uneven(x, NULL);
  weigh(weights, importance, x, 32, squares * (2.0f / count));
  return search_uneven(x, weights);
}

static void search_iq4_nl(cli_ggml_block *block, const float *x, const float *importance) {
  float scale = search_uneven_by(x, importance, sum_of_squares(x, 32), 32);
  block->scale = half_code(scale);
  code_uneven(block->codes, x, scale);
}

static void search_iq4_xs(cli_ggml_block *block, const float *x, const float *importance) {
  float scales[8], squares = sum_of_squares(x, 256);
  for (int i = 0; i < 8; i++)
    scales[i] = search_uneven_by(x + 32 * i, importance ? importance + 32 * i : NULL, squares, 256);
  float block_scale = -largest(scales, 8) / 32, inverse = block_scale != 0 ? 1 / block_scale : 0;
  block->scale = half_code(block_scale);
  for (int i = 0; i < 8; i++) {
    int scale = within(-32, nearest(inverse * scales[i]), 31);
    block->scales[i] = (uint8_t)(scale + 32);
    code_uneven(block->codes + 32 * i, x + 32 * i, block_scale * (float)scale);
  }
}

/* ---- with an importance matrix ---- */

/* Returns the error of codes up to most; most 0: of codes as a byte holds them, where a negative one is large. */
static float error_without_min(const float *x, int n, int most, const float *weights, float inverse) {
  float scale = 1 / inverse, sum = 0;
  for (int i = 0; i < n; i++) {
    int code = nearest(inverse * x[i]);
    float diff = x[i] - scale * (float)(!most ? (uint8_t)code : code < most ? code : most);
    sum += weights[i] * diff * diff;
  }
  return sum;
}

/* Moves one code after the other to the integer that is nearest under the scale of least squares, as `improve` does, of
 * codes from 0 up. */
static void improve_positive(uint8_t *codes, sums *total, const float *x, int n, int most, const float *weights) {
  for (int round = 0, changed = 1; round < 5 && changed; round++) {
    changed = 0;
    for (int i = 0; i < n; i++) {
      float code = codes[i], xl = total->xl - weights[i] * x[i] * code, l2 = total->l2 - weights[i] * code * code;
      if (!(xl > 0 && l2 > 0)) continue;
      int other = nearest(x[i] * l2 / xl);
      if (other > most) other = most;
      if (other == codes[i]) continue;
      xl += weights[i] * x[i] * (float)other;
      l2 += weights[i] * (float)other * (float)other;
      if (!(xl * xl * total->l2 > total->xl * total->xl * l2)) continue;
      codes[i] = (uint8_t)other;
      total->xl = xl;
      total->l2 = l2;
      changed = 1;
    }
  }
}

/* Finds codes from 0 to most for the scales, or minima, of the groups of a block; returns what they are multiplied
 * with. */
static float search_positive(uint8_t *codes, const float *x, int n, int most, const float *weights) {
  float max = highest(x, n);
  sums total = {0, 0};
  if (max < all_zero) return 0; /* codes are 0 */
  float inverse = (float)most / max, best = error_without_min(x, n, 0, weights, inverse);
  for (int i = -4; i <= 4; i++) {
    float tried = (0.1f * (float)i + (float)most) / max;
    float error = i ? error_without_min(x, n, most, weights, tried) : best;
    if (!(error < best)) continue;
    best = error;
    inverse = tried;
  }
  for (int i = 0; i < n; i++) {
    int code = nearest(inverse * x[i]);
    codes[i] = (uint8_t)(code < most ? code : most);
    add_term(&total, weights[i], x[i], (float)(code < most ? code : most));
  }
  improve_positive(codes, &total, x, n, most, weights);
  return total.l2 > 0 ? total.xl / total.l2 : 0;
}

/* Brings eight numbers to what Q4_K holds of them: the upper bits of a negative one fall into those of another. */
static void fill_sixes(uint8_t *z) {
  for (int i = 0; i < 4; i++) {
    uint8_t low = (uint8_t)(z[i] | (z[i + 4] >> 4) << 6);
    z[i] = low & 63;
    z[i + 4] = (uint8_t)((z[i + 4] & 15) | low >> 6 << 4);
  }
}

static void limit_sixes(uint8_t *z) {
  for (int i = 0; i < 8; i++)
    if (z[i] > 63) z[i] = 63;
}

/* Searches groups of n numbers with codes from 0 to most: Q2_K, Q4_K and Q5_K. */
static void search_groups(cli_ggml_block *block, const float *x, const float *importance, int n, int most) {
  const grid search = {n, most, 36, 0, -0.9f, 0.05f};
  float scales[16], mins[16], weights[32], sums_of[16], squares = sum_of_squares(x, 256);
  int groups = 256 / n, highest_code = n == 16 ? 15 : 63;
  for (int i = 0; i < groups; i++) {
    sums_of[i] = weigh(weights, importance + n * i, x + n * i, n, (n == 16 ? squares : 2 * squares) / 256);
    scales[i] = search_with_min(&search, block->codes + n * i, mins + i, x + n * i, weights);
  }
  block->scale = half_code(search_positive(block->scales, scales, groups, highest_code, sums_of));
  block->dmin = half_code(search_positive(block->mins, mins, groups, highest_code, sums_of));
  if (n == 16) {
    fill_nibbles(block);
  } else {
    (most == 15 ? fill_sixes : limit_sixes)(block->scales);
    (most == 15 ? fill_sixes : limit_sixes)(block->mins);
  }
  code_with_min(block, x, n, most);
}

static void search_q3_k_by(cli_ggml_block *block, const float *x, const float *importance) {
  float scales[16], weights[16], sums_of[16], mean = 2 * sum_of_squares(x, 256) / 256;
  for (int i = 0; i < 16; i++) {
    sums_of[i] = weigh(weights, importance + 16 * i, x + 16 * i, 16, mean);
    scales[i] = search_scale(block->codes + 16 * i, x + 16 * i, 16, 4, weights);
  }
  block->scale = half_code(search_scale(block->scales, scales, 16, 32, sums_of));
  for (int i = 0; i < 16; i++) code_group(block, x, i, half_value(block->scale) * (float)(block->scales[i] - 32), 4);
}

/* Searches the one scale of Q4_0 or Q5_0, with the minimum of Q4_1 or Q5_1, of a row with this mean of squares. */
static void search_whole(cli_ggml_block *block, uint32_t type, const float *x, const float *importance, float mean) {
  int most = type == GGUF_Q4_0 || type == GGUF_Q4_1 ? 15 : 31;
  const grid search = {32, most, 36, 0, -0.9f, 0.05f};
  float weights[32], min = 0;
  weigh(weights, importance, x, 32, mean);
  if (type == GGUF_Q4_0 || type == GGUF_Q5_0)
    block->scale = half_code(search_scale(block->codes, x, 32, (most + 1) / 2, weights));
  else
    block->scale = half_code(search_with_min(&search, block->codes, &min, x, weights));
  block->dmin = half_code(-min);
}

static void search_by(cli_ggml_block *block, uint32_t type, const float *x, const float *importance, float mean) {
  switch (type) {
    case GGUF_Q2_K: search_groups(block, x, importance, 16, 3); break;
    case GGUF_Q4_K: search_groups(block, x, importance, 32, 15); break;
    case GGUF_Q5_K: search_groups(block, x, importance, 32, 31); break;
    case GGUF_Q3_K: search_q3_k_by(block, x, importance); break;
    case GGUF_Q6_K: search_q6_k(block, x, importance); break;
    case GGUF_IQ4_NL: search_iq4_nl(block, x, importance); break;
    case GGUF_IQ4_XS: search_iq4_xs(block, x, importance); break;
    default: search_whole(block, type, x, importance, mean); break; /* Q4_0, Q4_1, Q5_0, Q5_1 */
  }
}

float cli_ggml_mean(const float *row, size_t n) { return sum_of_squares(row, n) / (float)n; }

void cli_ggml_search(cli_ggml_block *block, uint32_t type, const float *x, const float *importance, float mean) {
  memset(block, 0, sizeof *block);
  if (importance) {
    search_by(block, type, x, importance, mean);
    return;
  }
  switch (type) {
    case GGUF_Q2_K: search_q2_k(block, x); break;
    case GGUF_Q3_K: search_q3_k(block, x); break;
    case GGUF_Q4_K: search_q45_k(block, x, 15); break;
    case GGUF_Q5_K: search_q45_k(block, x, 31); break;
    case GGUF_Q6_K: search_q6_k(block, x, NULL); break;
    case GGUF_IQ4_NL: search_iq4_nl(block, x, NULL); break;
    default: search_iq4_xs(block, x, NULL); break; /* IQ4_XS */
  }
}
