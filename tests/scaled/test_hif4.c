/* SPDX-License-Identifier: MIT */
/* HiFloat4 (halfulp/scaled.h) against a model in binary32 that follows the formulas of the header with other means:
 * every largest number, every pair of significands of an element and a largest number, every code and scale, random
 * blocks of all kinds; texts; what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { BLOCK = HU_HIF4_BLOCK, TIES = 2, LOWS = 3, HIGHS = 2, PRODUCTS = 3, KINDS = TIES * LOWS * HIGHS * PRODUCTS };

static hu_hif4 kind_of(int i) {
  hu_hif4 k = {(uint8_t)(i % TIES), (uint8_t)(i / TIES % LOWS), (uint8_t)(i / (TIES * LOWS) % HIGHS),
               (uint8_t)(i / (TIES * LOWS * HIGHS))};
  return k;
}

/* ---- the model ---- */

static float bfloat16(float x) {
  uint32_t u = t_bits32(x);
  if ((u & 0x7FFFFFFF) > 0x7F800000) return x;
  return t_float((u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000);
}

static float times(const hu_hif4 *k, float a, float b, int of_element) {
  float p = a * b;
  if (k->products == HU_HIF4_EXACT || (k->products == HU_HIF4_MIXED && !of_element)) return p;
  return bfloat16(p);
}

typedef struct model {
  uint8_t scale[4], codes[BLOCK];
  float values[BLOCK];
  hu_events events;
} model;

/* 255: NaN; -1: a block of zeros. */
static int scale_of(const hu_hif4 *k, float top) {
  float s = bfloat16(top * t_float(0x3E120000));
  if (s < ldexpf(1, -48)) return k->low == HU_HIF4_LOW_NAN ? 255 : k->low == HU_HIF4_LOW_ZERO ? -1 : 0;
  if (s >= 53248) return k->high == HU_HIF4_HIGH_NAN ? 255 : 254;
  int e = ilogbf(s), q = (int)rintf(ldexpf(s, 2 - e)); /* 4 ... 8 */
  int c = q == 8 ? 4 * (e + 49) : 4 * (e + 48) + q - 4;
  return c == 0 && k->low == HU_HIF4_LOW_ZERO ? -1 : c;
}

static void all_special(model *z, int n, const float *y) {
  z->scale[0] = 255;
  for (int i = 0; i < n; i++) {
    z->values[i] = t_float(0x7FC00000);
    z->events.nan_in += isnan(y[i]) != 0;
    z->events.inf_in += isinf(y[i]) != 0;
    z->events.invalid += isinf(y[i]) != 0;
    z->events.inexact += isfinite(y[i]) != 0;
  }
}

static void all_zero(model *z, int n, const float *y) {
  for (int i = 0; i < n; i++) {
    z->events.inexact += y[i] != 0;
    z->events.to_zero += y[i] != 0;
  }
}

static void element(model *z, const hu_hif4 *k, float s, float r, int i, float y) {
  int twos = (z->scale[1] >> i / 8 & 1) + (z->scale[2 + i / 32] >> i / 4 % 8 & 1);
  float quarters = 4 * times(k, fabsf(y), r, 1) / (float)(1 << twos);
  float q = k->ties == HU_HIF4_AWAY ? floorf(quarters + 0.5f) : rintf(quarters);
  if (y == 0) return;
  z->events.overflow += q > 7;
  z->events.saturated += q > 7;
  z->events.to_zero += q == 0;
  if (q > 7) q = 7;
  z->events.inexact += q != quarters;
  z->codes[i] = (uint8_t)(q + (y < 0 ? 8 : 0));
  z->values[i] = copysignf(q / 4 * s * (float)(1 << twos), y);
}

static float largest(int first, int count, int n, const float *y) {
  float z = 0;
  for (int i = first; i < first + count && i < n; i++) z = fmaxf(z, fabsf(y[i]));
  return z;
}

static model model_of(const hu_hif4 *k, int n, const float *x) {
  static const float inverse[4] = {1, 205.0f / 256, 171.0f / 256, 146.0f / 256};
  model z;
  float y[BLOCK];
  int special = 0;
  memset(&z, 0, sizeof z);
  for (int i = 0; i < n; i++) {
    y[i] = bfloat16(x[i]);
    special |= !isfinite(y[i]);
  }
  int c = special ? 255 : scale_of(k, largest(0, BLOCK, n, y));
  if (c == 255) all_special(&z, n, y);
  if (c == -1) all_zero(&z, n, y);
  if (c == 255 || c == -1) return z;
  float s = ldexpf(1 + (float)(c % 4) / 4, c / 4 - 48), r = ldexpf(inverse[c % 4], 48 - c / 4);
  z.scale[0] = (uint8_t)c;
  for (int g = 0; g < 8; g++) z.scale[1] |= (uint8_t)((times(k, largest(8 * g, 8, n, y), r, 0) >= 4) << g);
  for (int g = 0; g < 16; g++) {
    float p = times(k, largest(4 * g, 4, n, y), r, 0), two = z.scale[1] >> g / 2 & 1 ? 4 : 2;
    z.scale[2 + g / 8] |= (uint8_t)((p >= two) << g % 8);
  }
  for (int i = 0; i < n; i++) element(&z, k, s, r, i, y[i]);
  return z;
}

static int same_events(const hu_events *a, const hu_events *b) {
  return a->overflow == b->overflow && a->saturated == b->saturated && a->to_zero == b->to_zero &&
         a->inexact == b->inexact && a->invalid == b->invalid && a->nan_in == b->nan_in && a->inf_in == b->inf_in;
}

static hu_status encode(size_t rows, size_t cols, uint8_t *codes, size_t ldc, uint8_t *scales, size_t lds,
                        const float *x, size_t ldx, const hu_hif4 *kind, hu_events *events) {
  hu_scaled place = {codes, ldc, scales, lds, NULL};
  return hu_hif4_encode(rows, cols, &place, x, ldx, kind, events);
}

static hu_status decode(size_t rows, size_t cols, float *z, size_t ldz, uint8_t *codes, size_t ldc, uint8_t *scales,
                        size_t lds) {
  hu_scaled place = {codes, ldc, scales, lds, NULL};
  return hu_hif4_decode(rows, cols, z, ldz, &place);
}

/* One block by the calls and by the model. */
static void compare(int kind, int n, const float *x) {
  const hu_hif4 k = kind_of(kind);
  uint8_t codes[BLOCK], scale[4];
  float values[BLOCK], quantized[BLOCK];
  hu_events a = {0}, b = {0};
  model expected = model_of(&k, n, x);
  size_t cols = (size_t)n;
  assert_int_equal(encode(1, cols, codes, cols, scale, 1, x, cols, &k, &a), HU_OK);
  assert_int_equal(decode(1, cols, values, cols, codes, cols, scale, 1), HU_OK);
  assert_int_equal(hu_hif4_quantize(1, cols, quantized, cols, x, cols, &k, &b), HU_OK);
  for (int i = 0; i < 4; i++) {
    if (scale[i] != expected.scale[i])
      fail_msg("kind %d: byte %d of the scale is %d, not %d", kind, i, scale[i], expected.scale[i]);
  }
  for (int i = 0; i < n; i++) {
    if (codes[i] != expected.codes[i] || t_bits32(values[i]) != t_bits32(expected.values[i]))
      fail_msg("kind %d: code %d of %a is %d, not %d, value %a, not %a", kind, i, (double)x[i], codes[i],
               expected.codes[i], (double)values[i], (double)expected.values[i]);
  }
  assert_memory_equal(values, quantized, cols * sizeof *values);
  assert_true(same_events(&a, &expected.events));
  assert_memory_equal(&a, &b, sizeof a);
}

/* ---- what there is of numbers ---- */

/* Every bfloat16 number as the largest of its block, alone and beside half of it. */
static void test_scales(void **state) {
  (void)state;
  float x[9] = {0};
  for (uint32_t u = 0; u < 0x10000; u++) {
    x[0] = t_float(u << 16);
    x[8] = ldexpf(x[0], -1);
    for (int k = 0; k < KINDS; k += 5) compare((k + (int)u) % KINDS, u & 1 ? 9 : 1, x);
  }
}

/* Every significand of the largest number, beside each bfloat16 number of the five binades from its own downward, and
 * each alone in its group of eight. */
static void test_pairs(void **state) {
  (void)state;
  static const int kinds[] = {0, 1, 17, 18, 34, 35};
  enum { SOME = 5 * 128 };
  for (uint32_t m = 0; m < 128; m++) {
    for (uint32_t first = 0; first < SOME; first += 7) {
      float x[BLOCK] = {t_float((0x4100u + m) << 16)};
      for (uint32_t g = 1; g < 8 && first + g - 1 < SOME; g++) {
        uint32_t u = 0x4100u + 127 - (first + g - 1);
        float y = t_float(u << 16);
        x[8 * g + (u + m) % 8] = (u + m) % 3 ? (y > x[0] ? x[0] : y) : -y;
      }
      for (int g = 8; g < BLOCK; g++) {
        if (fabsf(x[g]) > x[0]) x[g] = copysignf(x[0], x[g]);
      }
      for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k += 1 + m % 2) compare(kinds[k], BLOCK, x);
    }
  }
}

static float number(t_random *random, int spread) {
  uint32_t u = t_below(random, 64);
  if (u == 0) return t_below(random, 2) ? 0.0f : -0.0f;
  if (spread > 90 && u == 1) return t_below(random, 3) ? INFINITY : t_float(0x7FC00000 | t_below(random, 1000));
  return ldexpf((float)t_between(random, -4095, 4095), -(int)t_below(random, (uint32_t)spread));
}

static void test_random(void **state) {
  (void)state;
  t_random random = {t_seed("hif4", 1)};
  for (int i = 0; i < 6000; i++) {
    float x[BLOCK];
    int spread = 1 + (int)t_below(&random, i % 40 ? 20 : 120), n = i % 3 ? BLOCK : 1 + (int)t_below(&random, BLOCK);
    for (int k = 0; k < n; k++) x[k] = number(&random, spread);
    compare(i % KINDS, n, x);
  }
}

/* Every code under every scale. */
static void test_values(void **state) {
  (void)state;
  for (int c = 0; c < 256; c++) {
    for (int bits = 0; bits < 4; bits++) {
      uint8_t scale[4] = {(uint8_t)c, bits & 1 ? 0x80 : 0x7F, 0xFF, bits & 2 ? 0xC0 : 0x3F};
      for (int code = 0; code < 16; code++) {
        uint8_t codes[BLOCK];
        float values[BLOCK];
        memset(codes, code, sizeof codes);
        assert_int_equal(decode(1, BLOCK, values, BLOCK, codes, BLOCK, scale, 1), HU_OK);
        double s = ldexp(1 + c % 4 / 4.0, c / 4 - 48), p = (code & 7) / 4.0;
        float expected = (float)copysign(s * p * (1 + (bits & 1)) * (1 + (bits >> 1)), code & 8 ? -1 : 1);
        assert_int_equal(t_bits32(values[BLOCK - 1]), c == 255 ? 0x7FC00000 : t_bits32(expected));
      }
    }
  }
}

/* ---- matrices, texts, errors ---- */

/* Rows are independent, and end with a block of their own. */
static void test_matrix(void **state) {
  (void)state;
  enum { ROWS = 3, COLS = 150, LD = 160, LDC = 151, LDS = 4 };
  static float x[ROWS * LD], z[ROWS * LD], y[ROWS * LD];
  static uint8_t codes[ROWS * LDC], scales[ROWS * LDS * 4];
  t_random random = {t_seed("hif4", 2)};
  const hu_hif4 k = hu_hif4_usual();
  for (int i = 0; i < ROWS * LD; i++) x[i] = z[i] = number(&random, 12);
  memset(codes, 99, sizeof codes);
  memset(scales, 99, sizeof scales);
  assert_int_equal(encode(ROWS, COLS, codes, LDC, scales, LDS, x, LD, &k, NULL), HU_OK);
  assert_int_equal(decode(ROWS, COLS, y, LD, codes, LDC, scales, LDS), HU_OK);
  assert_int_equal(hu_hif4_quantize(ROWS, COLS, z, LD, z, LD, &k, NULL), HU_OK);
  for (int i = 0; i < ROWS; i++) {
    for (int q = 0; q < 3; q++) {
      int n = q == 2 ? COLS - 2 * BLOCK : BLOCK, at = i * LD + q * BLOCK;
      model expected = model_of(&k, n, x + at);
      assert_memory_equal(codes + i * LDC + q * BLOCK, expected.codes, (size_t)n);
      assert_memory_equal(scales + 4 * (i * LDS + q), expected.scale, 4);
      assert_memory_equal(y + at, expected.values, (size_t)n * sizeof *y);
      assert_memory_equal(z + at, expected.values, (size_t)n * sizeof *z);
    }
    assert_int_equal(codes[i * LDC + COLS], 99);
    assert_int_equal(scales[4 * (i * LDS + 3)], 99);
    assert_memory_equal(z + i * LD + COLS, x + i * LD + COLS, (LD - COLS) * sizeof *z);
  }
}

static void test_texts(void **state) {
  (void)state;
  char text[HU_HIF4_TEXT_MAX];
  hu_hif4 k;
  for (int i = 0; i < KINDS; i++) {
    const hu_hif4 kind = kind_of(i);
    size_t n = hu_hif4_text(text, sizeof text, &kind);
    assert_true(n > 0 && n == strlen(text) && n < sizeof text);
    assert_int_equal(hu_hif4_parse(&k, text, NULL), HU_OK);
    assert_memory_equal(&k, &kind, sizeof k);
    assert_int_equal(hu_hif4_text(NULL, 0, &kind), n);
  }
  assert_int_equal(hu_hif4_count(), 3);
  assert_null(hu_hif4_at(3).name);
  for (size_t i = 0; i < hu_hif4_count(); i++) {
    assert_int_equal(hu_hif4_parse(&k, hu_hif4_at(i).name, NULL), HU_OK);
    assert_int_equal(hu_hif4_text(text, sizeof text, &k), strlen(hu_hif4_at(i).text));
    assert_string_equal(text, hu_hif4_at(i).text);
  }
  assert_int_equal(hu_hif4_parse(&k, "hifloat4(products=mixed;low=nan)", NULL), HU_OK);
  assert_true(k.products == HU_HIF4_MIXED && k.low == HU_HIF4_LOW_NAN && k.ties == HU_HIF4_EVEN);
}

static void test_wrong_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t where;
  } wrong[] = {{"", 0},
               {"hifloat", 0},
               {"hifloat4x", 8},
               {"hifloat4()", 9},
               {"hifloat4(", 9},
               {"hifloat4(ties=even", 18},
               {"hifloat4(ties=odd)", 14},
               {"hifloat4(ties=even;)", 19},
               {"hifloat4(low=nan;low=nan)", 17},
               {"hifloat4(low=nan)x", 17},
               {"hifloat4(low=na)", 13},
               {"hifloat4_can", 8}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    hu_hif4 k = {1, 1, 1, 1};
    size_t where = 99;
    assert_int_equal(hu_hif4_parse(&k, wrong[i].text, &where), HU_E_TEXT);
    if (where != wrong[i].where) fail_msg("'%s': at %zu, not %zu", wrong[i].text, where, wrong[i].where);
    assert_true(k.ties == 1 && k.low == 1 && k.high == 1 && k.products == 1);
  }
}

static void test_refused(void **state) {
  (void)state;
  float x[BLOCK] = {0};
  uint8_t codes[BLOCK], scale[4];
  hu_hif4 k = hu_hif4_usual();
  assert_int_equal(hu_hif4_check(NULL), HU_E_NULL);
  k.ties = 2;
  assert_int_equal(hu_hif4_check(&k), HU_E_SCALING);
  assert_int_equal(hu_hif4_text(NULL, 0, &k), 0);
  assert_int_equal(encode(1, BLOCK, codes, BLOCK, scale, 1, x, BLOCK, &k, NULL), HU_E_SCALING);
  k = kind_of(0), k.low = 3;
  assert_int_equal(hu_hif4_check(&k), HU_E_SCALING);
  k = kind_of(0), k.high = 2;
  assert_int_equal(hu_hif4_check(&k), HU_E_SCALING);
  k = kind_of(0), k.products = 3;
  assert_int_equal(hu_hif4_check(&k), HU_E_SCALING);
  k = kind_of(0);
  assert_int_equal(encode(1, BLOCK, codes, BLOCK - 1, scale, 1, x, BLOCK, &k, NULL), HU_E_SHAPE);
  assert_int_equal(encode(1, BLOCK, codes, BLOCK, scale, 0, x, BLOCK, &k, NULL), HU_E_SHAPE);
  assert_int_equal(encode(1, BLOCK, codes, BLOCK, scale, 1, x, BLOCK - 1, &k, NULL), HU_E_SHAPE);
  assert_int_equal(encode(1, BLOCK, NULL, BLOCK, scale, 1, x, BLOCK, &k, NULL), HU_E_NULL);
  assert_int_equal(encode(1, BLOCK, (uint8_t *)x, BLOCK, scale, 1, x, BLOCK, &k, NULL), HU_E_OVERLAP);
  assert_int_equal(encode(1, BLOCK, codes, BLOCK, codes + 3, 1, x, BLOCK, &k, NULL), HU_E_OVERLAP);
  assert_int_equal(decode(1, BLOCK, x, BLOCK, codes, BLOCK, (uint8_t *)x + 5, 1), HU_E_OVERLAP);
  assert_int_equal(hu_hif4_quantize(1, 8, x + 1, 8, x, 8, &k, NULL), HU_E_OVERLAP);
  assert_int_equal(encode(0, 0, NULL, 0, NULL, 0, NULL, 0, &k, NULL), HU_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scales),      cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_random),      cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_matrix),      cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_wrong_texts), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("HiFloat4", tests, NULL, NULL);
}
