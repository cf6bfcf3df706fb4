/* SPDX-License-Identifier: MIT */
/* The presets of x86 that were written from an emulator's source or from the steps in a compiler's header,
 * intel.vdpphps, intel.tmmultf32ps and x86.ace.*, against these steps in binary32 of this machine: IEEE 754 operations
 * to nearest, whose operands and results are flushed by hand. A result is flushed if it would be below 2^-126 with an
 * unbounded exponent: the same operation 64 binades higher tells. And AVX10.2's conversions with a bias, which are
 * stochastic roundings with the caller's bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/accum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { VECTORS = 300000 };

static float daz(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static float flushed(float r, float higher) {
  return fabsf(r) <= 0x1p-126f && fabsf(higher) < 0x1p-62f ? copysignf(0, r) : r;
}

static float fused(float a, float b, float c) { return flushed(fmaf(a, b, c), fmaf(a * 0x1p64f, b, c * 0x1p64f)); }

static float product(float a, float b) {
  float small = fabsf(a) < fabsf(b) ? a : b, large = fabsf(a) < fabsf(b) ? b : a;
  return flushed(a * b, small * 0x1p64f * large);
}

/* A sum that is below 2^-126 is exact. */
static float sum(float a, float b) { return daz(a + b); }

static hu_accum_preset preset_named(const char *name) {
  hu_accum_preset p;
  if (hu_accum_preset_find(&p, name) != HU_OK) fail_msg("no preset %s", name);
  return p;
}

static uint32_t dot_of(const hu_accum_preset *p, size_t n, const void *a, const void *b, const void *c) {
  hu_mode rne = {0};
  hu_dot_operands x;
  uint32_t z;
  memset(&x, 0, sizeof x);
  x.a = (hu_vector){a, 1, 0, p->a};
  x.b = (hu_vector){b, 1, 0, p->b};
  x.c = (hu_vector){c, 1, 0, p->c};
  assert_int_equal(hu_dot(n, &z, p->c, &x, &p->accum, rne, NULL, NULL), HU_OK);
  return z;
}

static uint32_t dot(const hu_accum_preset *p, const void *a, const void *b, const void *c) {
  return dot_of(p, p->k, a, b, c);
}

/* Patterns of 16 bits, half of them near 1 or near the lower end; C of all kinds, sometimes minus a product. */
static void draw(t_random *r, hu_format f, uint16_t a[2], uint16_t b[2], float *c) {
  int kind = (int)t_below(r, 6);
  for (int i = 0; i < 2; i++) {
    uint32_t one = f.m == 10 ? 0x3C00 : 0x3F80, low = f.m == 10 ? 0x0400 : 0x1F80;
    uint32_t around = kind < 2 ? one : low;
    a[i] = (uint16_t)(kind > 3 ? t_next32(r) : around + t_below(r, 0x200) - 0x100 + (t_below(r, 2) << 15));
    b[i] = (uint16_t)(kind > 3 ? t_next32(r) : around + t_below(r, 0x200) - 0x100 + (t_below(r, 2) << 15));
  }
  *c = t_float(t_next32(r));
  if (kind == 1) *c = -hu_decode(f, a[0]) * hu_decode(f, b[0]);
  if (kind == 2) *c = t_float((t_next32(r) & 0x80FFFFFF));
}

static void compare(const char *name, float want, uint32_t got, float c) {
  uint32_t bits = t_bits32(want);
  if (isnan(want) ? (got & 0x7FFFFFFF) <= 0x7F800000 : got != bits)
    fail_msg("%s, C = %a: %08x, not %08x", name, (double)c, (unsigned)got, (unsigned)bits);
}

static void vdpphps(void **state) {
  (void)state;
  t_random r = {t_seed("accum-x86", 91)};
  hu_accum_preset p = preset_named("intel.vdpphps");
  hu_format f = p.a.format;
  for (int i = 0; i < VECTORS; i++) {
    uint16_t a[2], b[2];
    float c;
    draw(&r, f, a, b, &c);
    float high = fused(hu_decode(f, a[1]), hu_decode(f, b[1]), daz(c));
    float want = fused(hu_decode(f, a[0]), hu_decode(f, b[0]), high);
    compare("intel.vdpphps", want, dot(&p, a, b, &c), c);
  }
}

static void top2bf16ps(void **state) {
  (void)state;
  t_random r = {t_seed("accum-x86-ace", 92)};
  hu_accum_preset p = preset_named("x86.ace.top2bf16ps");
  hu_format f = p.a.format;
  for (int i = 0; i < VECTORS; i++) {
    uint16_t a[2], b[2];
    float c, terms[2];
    draw(&r, f, a, b, &c);
    for (int k = 0; k < 2; k++) terms[k] = product(daz(hu_decode(f, a[k])), daz(hu_decode(f, b[k])));
    compare("x86.ace.top2bf16ps", sum(daz(c), sum(terms[0], terms[1])), dot(&p, a, b, &c), c);
  }
}

/* ---- TMMULTF32PS ---- */

enum { TF32_ROW = 16, TF32_SUMS = 40000 };

/* An operand: a NaN is made quiet before the 13 low bits become zeros, so that it stays one. */
static float tf32(float x) { return isnan(x) ? NAN : t_float(t_bits32(x) & 0xFFFFE000u); }

/* a b + c; the smaller factor goes up, so that the product 64 binades higher does not overflow where it is tiny. */
static float fused_high(float a, float b, float c) {
  int first = fabsf(a) < fabsf(b);
  return flushed(fmaf(a, b, c), fmaf(first ? a * 0x1p64f : a, first ? b : b * 0x1p64f, c * 0x1p64f));
}

/* One instruction: a chain from +0 over the row, then C. Operands and C that are subnormal count. */
static float tmmultf32ps_row(const float *a, const float *b, float c) {
  float t = 0;
  for (int k = 0; k < TF32_ROW; k++) t = fused_high(tf32(a[k]), tf32(b[k]), t);
  return sum(c, t);
}

/* Operands of one kind: near 1; subnormal and large ones, whose products are in range; such that products lie near
 * 2^-126; near 1 with a few NaNs whose bits are among those that are cut; any. */
static float draw_tf32(t_random *r, int kind) {
  uint32_t any = t_next32(r), sign = any & 0x80000000u;
  switch (kind) {
    case 0: return t_float(sign | (0x3F800000u + (any & 0x7FFFFFu)));
    case 1: return t_float(sign | (any & 1 ? any & 0x7FFFFFu : 0x7D000000u + (any & 0xFFFFFFu)));
    case 2: return t_float(sign | (0x1F800000u + (any & 0x1FFFFFFu)));
    case 3:
      if (t_below(r, 6)) return t_float(sign | (0x3F000000u + (any & 0xFFFFFFu)));
      return t_float(sign | 0x7F800000u | (any & 0x1FFFu));
    default: return t_float(any);
  }
}

static void tmmultf32ps(void **state) {
  (void)state;
  t_random r = {t_seed("accum-x86-tf32", 96)};
  hu_accum_preset p = preset_named("intel.tmmultf32ps");
  long nans = 0, zeros = 0, numbers = 0;
  for (int i = 0; i < TF32_SUMS; i++) {
    float a[2 * TF32_ROW], b[2 * TF32_ROW], c = 0;
    int kind = (int)t_below(&r, 5);
    for (int k = 0; k < 2 * TF32_ROW; k++) {
      int few = kind == 4 && t_below(&r, 8), one = few ? 0 : kind;
      a[k] = draw_tf32(&r, one);
      b[k] = draw_tf32(&r, one);
      if (k && t_below(&r, 4) == 0) a[k] = -a[k - 1], b[k] = b[k - 1];
      if (kind >= 3 && t_below(&r, 4)) b[k] = 0.5f;
    }
    if (t_below(&r, 3) == 0) c = -tmmultf32ps_row(a, b, 0);
    if (t_below(&r, 3) == 0) c = t_float(t_next32(&r) & 0x80FFFFFFu);
    if (t_below(&r, 4) == 0) c = t_float(t_next32(&r));
    float want = tmmultf32ps_row(a, b, c), next = tmmultf32ps_row(a + TF32_ROW, b + TF32_ROW, want);
    compare("intel.tmmultf32ps", want, dot_of(&p, TF32_ROW, a, b, &c), c);
    compare("intel.tmmultf32ps", next, dot_of(&p, 2 * TF32_ROW, a, b, &c), c);
    nans += isnan(want) != 0;
    zeros += want == 0;
    numbers += want - want == 0 && want != 0;
  }
  assert_true(nans > 1000 && zeros > 1000 && numbers > 10000);
}

/* Points on which models differ, computed by hand: C comes after the sum; subnormal operands count, subnormal results
 * do not; a NaN whose bits are all among the 13 lowest is a NaN, where in=10 alone reads an infinity. */
static void tmmultf32ps_by_hand(void **state) {
  (void)state;
  hu_accum_preset p = preset_named("intel.tmmultf32ps");
  static const struct {
    uint32_t a[2], b[2], c, want;
  } rows[] = {
      {{0x3F800000, 0x3F800000}, {0x3F800000, 0x3F800000}, 0x4B800000, 0x4B800001}, /* 2^24 + (1 + 1), not one by one */
      {{0x3F801FFF, 0}, {0x3F800000, 0}, 0, 0x3F800000},                            /* low bits are cut */
      {{0x00400000, 0}, {0x40000000, 0}, 0, 0x00800000},                            /* 2^-127 times 2 */
      {{0x80400000, 0}, {0x3F800000, 0}, 0, 0}, /* -2^-127 becomes -0, and with +0 of C +0 */
      {{0, 0}, {0, 0}, 0x80400000, 0x80000000}, /* C is -2^-127: the result is flushed, with its sign */
      {{0x00400000, 0x00400000}, {0x3F800000, 0x3F800000}, 0, 0}, /* the first step is flushed, and the second */
      {{0x7F800001, 0}, {0x3F800000, 0}, 0, 0x7FC00000},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t a[TF32_ROW] = {rows[i].a[0], rows[i].a[1]}, b[TF32_ROW] = {rows[i].b[0], rows[i].b[1]};
    compare("intel.tmmultf32ps", t_float(rows[i].want), dot(&p, a, b, &rows[i].c), t_float(rows[i].c));
  }
  uint32_t a[TF32_ROW] = {0x7F800001}, b[TF32_ROW] = {0x3F800000}, c = 0;
  p.accum.block.nan = HU_BLOCK_NAN_CUT;
  assert_int_equal(dot(&p, a, b, &c), 0x7F800000);
}

/* Four products of bytes of either kind; the sum wraps. */
static void top4b(void **state) {
  (void)state;
  static const char *const names[2][2] = {{"x86.ace.top4b.u8.s32", "x86.ace.top4b.u8xs8.s32"},
                                          {"x86.ace.top4b.s8xu8.s32", "x86.ace.top4b.s8.s32"}};
  t_random r = {t_seed("accum-x86-bytes", 93)};
  for (int sa = 0; sa < 2; sa++)
    for (int sb = 0; sb < 2; sb++) {
      hu_accum_preset p = preset_named(names[sa][sb]);
      for (int i = 0; i < VECTORS / 10; i++) {
        uint32_t a = t_next32(&r), b = t_next32(&r), c = t_next32(&r), want = c;
        uint8_t x[4], y[4];
        memcpy(x, &a, 4);
        memcpy(y, &b, 4);
        for (int k = 0; k < 4; k++) want += (uint32_t)((sa ? (int8_t)x[k] : x[k]) * (sb ? (int8_t)y[k] : y[k]));
        assert_int_equal(dot(&p, x, y, &c), want);
      }
    }
}

/* The code of E5M2: the bias is added to the 8 digits that are cut. */
static uint32_t biased_bf8(uint32_t a, uint32_t bias) { return (a & 0x7FFF) == 0x7C00 ? a >> 8 : (a + bias) >> 8; }

/* The code of E4M3 by the steps of Intel's AVX10.2 specification (361050, section 5.1): 7 bits of the bias are added to
 * the 7 digits that are cut; below 2^-6 all 8 are added below the last digit that E4M3 has there. */
static uint32_t biased_hf8(uint32_t a, uint32_t bias) {
  uint32_t sign = (a & 0x8000) >> 8, e = a >> 10 & 31, m = a & 0x3FF, moved = (a & 0x7FFF) + (bias >> 1);
  if (e == 31 || moved >= (23 << 10 | 0x380)) return sign | 0x7F;
  if (e == 0) return sign | (m + (bias << 7)) >> 15;
  if (moved >> 10 > 8) return sign | ((moved >> 7) - 64);
  return sign | ((m | 0x400) + (bias << (8 - e))) >> (9 - e) >> 7;
}

/* VCVTBIASPH2BF8, VCVTBIASPH2HF8 and the same with S, which gives the largest number in place of infinity and NaN: all
 * binary16 numbers and biases. */
static void biased_conversions(void **state) {
  (void)state;
  const hu_format bf8 = hu_float8_e5m2(), hf8 = hu_float8_e4m3fn();
  hu_mode plain = t_stochastic(HU_SRA, 8), saturating = plain;
  plain.saturate = HU_SAT_NONE;
  saturating.saturate = HU_SAT_FINITE;
  for (uint32_t a = 0; a < 0x10000; a++) {
    if ((a & 0x7FFF) > 0x7C00) continue;
    float x = hu_decode(hu_binary16(), a);
    for (uint32_t bias = 0; bias < 256; bias++) {
      uint32_t b = biased_bf8(a, bias), h = biased_hf8(a, bias);
      if (hu_encode(bf8, plain, x, bias, NULL) != b || hu_encode(hf8, plain, x, bias, NULL) != h ||
          hu_encode(bf8, saturating, x, bias, NULL) != ((b & 0x7F) == 0x7C ? b - 1 : b) ||
          hu_encode(hf8, saturating, x, bias, NULL) != ((h & 0x7F) == 0x7F ? h - 1 : h))
        fail_msg("%04x with %u", (unsigned)a, (unsigned)bias);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vdpphps),     cmocka_unit_test(top2bf16ps),
                                     cmocka_unit_test(tmmultf32ps), cmocka_unit_test(tmmultf32ps_by_hand),
                                     cmocka_unit_test(top4b),       cmocka_unit_test(biased_conversions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
