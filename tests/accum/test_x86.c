/* SPDX-License-Identifier: MIT */
/* The presets of x86 that were written from an emulator's source, intel.vdpphps and x86.ace.*, against their steps in
 * binary32 of this machine: IEEE 754 operations to nearest, whose operands and results are flushed by hand. A result is
 * flushed if it would be below 2^-126 with an unbounded exponent: the same operation 64 binades higher tells. And
 * AVX10.2's conversions with a bias, which are stochastic roundings with the caller's bits. */
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

static uint32_t dot(const hu_accum_preset *p, const void *a, const void *b, const void *c) {
  hu_mode rne = {0};
  hu_dot_operands x;
  uint32_t z;
  memset(&x, 0, sizeof x);
  x.a = (hu_vector){a, 1, 0, p->a};
  x.b = (hu_vector){b, 1, 0, p->b};
  x.c = (hu_vector){c, 1, 0, p->c};
  assert_int_equal(hu_dot(p->k, &z, p->c, &x, &p->accum, rne, NULL, NULL), HU_OK);
  return z;
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(vdpphps), cmocka_unit_test(top2bf16ps), cmocka_unit_test(top4b),
                                     cmocka_unit_test(biased_conversions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
