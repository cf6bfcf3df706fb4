/* SPDX-License-Identifier: MIT */
/* The presets of x86 that were written from an emulator's source or from the steps in a compiler's header,
 * intel.vdpphps, intel.tmmultf32ps and x86.ace.*, against these steps in binary32 of this machine: IEEE 754 operations
 * to nearest, whose operands and results are flushed by hand. A result is flushed if it would be below 2^-126 with an
 * unbounded exponent: the same operation 64 binades higher tells. Dot products of bytes, Arm's too, in 64 bits. And
 * AVX10.2's conversions between 16 and 8 bits, those with a bias among them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/conversion.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
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
  hu_accum_preset preset;
  if (hu_accum_preset_find(&preset, name) != HU_OK) fail_msg("no preset %s", name);
  return preset;
}

static uint32_t dot_of(const hu_accum_preset *preset, size_t n, const void *a, const void *b, const void *c) {
  uint32_t z;
  hu_product x = hu_product_of_dot(n, hu_output_of(&z, 1, preset->c), hu_view_of(a, 1, preset->a),
                                   hu_view_of(b, 1, preset->b), &preset->accum);
  x.c = hu_view_of(c, 1, preset->c);
  assert_int_equal(hu_dot(&x, NULL), HU_OK);
  return z;
}

static uint32_t dot(const hu_accum_preset *preset, const void *a, const void *b, const void *c) {
  return dot_of(preset, preset->k, a, b, c);
}

/* Patterns of 16 bits, half of them near 1 or near the lower end; C of all kinds, sometimes minus a product. */
static void draw(t_random *random, hu_format format, uint16_t a[2], uint16_t b[2], float *c) {
  int kind = (int)t_below(random, 6);
  for (int i = 0; i < 2; i++) {
    uint32_t one = format.m == 10 ? 0x3C00 : 0x3F80, low = format.m == 10 ? 0x0400 : 0x1F80;
    uint32_t around = kind < 2 ? one : low;
    a[i] =
        (uint16_t)(kind > 3 ? t_next32(random) : around + t_below(random, 0x200) - 0x100 + (t_below(random, 2) << 15));
    b[i] =
        (uint16_t)(kind > 3 ? t_next32(random) : around + t_below(random, 0x200) - 0x100 + (t_below(random, 2) << 15));
  }
  *c = t_float(t_next32(random));
  if (kind == 1) *c = -hu_decode(format, a[0]) * hu_decode(format, b[0]);
  if (kind == 2) *c = t_float((t_next32(random) & 0x80FFFFFF));
}

static void compare(const char *name, float expected, uint32_t got, float c) {
  uint32_t bits = t_bits32(expected);
  if (isnan(expected) ? (got & 0x7FFFFFFF) <= 0x7F800000 : got != bits)
    fail_msg("%s, C = %a: %08x, not %08x", name, (double)c, (unsigned)got, (unsigned)bits);
}

static void vdpphps(void **state) {
  (void)state;
  t_random random = {t_seed("accum-x86", 91)};
  hu_accum_preset preset = preset_named("intel.vdpphps");
  hu_format format = preset.a.format;
  for (int i = 0; i < VECTORS; i++) {
    uint16_t a[2], b[2];
    float c;
    draw(&random, format, a, b, &c);
    float high = fused(hu_decode(format, a[1]), hu_decode(format, b[1]), daz(c));
    float expected = fused(hu_decode(format, a[0]), hu_decode(format, b[0]), high);
    compare("intel.vdpphps", expected, dot(&preset, a, b, &c), c);
  }
}

static void top2bf16ps(void **state) {
  (void)state;
  t_random random = {t_seed("accum-x86-ace", 92)};
  hu_accum_preset preset = preset_named("x86.ace.top2bf16ps");
  hu_format format = preset.a.format;
  for (int i = 0; i < VECTORS; i++) {
    uint16_t a[2], b[2];
    float c, terms[2];
    draw(&random, format, a, b, &c);
    for (int k = 0; k < 2; k++) terms[k] = product(daz(hu_decode(format, a[k])), daz(hu_decode(format, b[k])));
    compare("x86.ace.top2bf16ps", sum(daz(c), sum(terms[0], terms[1])), dot(&preset, a, b, &c), c);
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
static float draw_tf32(t_random *random, int kind) {
  uint32_t any = t_next32(random), sign = any & 0x80000000u;
  switch (kind) {
    case 0: return t_float(sign | (0x3F800000u + (any & 0x7FFFFFu)));
    case 1: return t_float(sign | (any & 1 ? any & 0x7FFFFFu : 0x7D000000u + (any & 0xFFFFFFu)));
    case 2: return t_float(sign | (0x1F800000u + (any & 0x1FFFFFFu)));
    case 3:
      if (t_below(random, 6)) return t_float(sign | (0x3F000000u + (any & 0xFFFFFFu)));
      return t_float(sign | 0x7F800000u | (any & 0x1FFFu));
    default: return t_float(any);
  }
}

static void tmmultf32ps(void **state) {
  (void)state;
  t_random random = {t_seed("accum-x86-tf32", 96)};
  hu_accum_preset preset = preset_named("intel.tmmultf32ps");
  long nans = 0, zeros = 0, numbers = 0;
  for (int i = 0; i < TF32_SUMS; i++) {
    float a[2 * TF32_ROW], b[2 * TF32_ROW], c = 0;
    int kind = (int)t_below(&random, 5);
    for (int k = 0; k < 2 * TF32_ROW; k++) {
      int few = kind == 4 && t_below(&random, 8), one = few ? 0 : kind;
      a[k] = draw_tf32(&random, one);
      b[k] = draw_tf32(&random, one);
      if (k && t_below(&random, 4) == 0) a[k] = -a[k - 1], b[k] = b[k - 1];
      if (kind >= 3 && t_below(&random, 4)) b[k] = 0.5f;
    }
    if (t_below(&random, 3) == 0) c = -tmmultf32ps_row(a, b, 0);
    if (t_below(&random, 3) == 0) c = t_float(t_next32(&random) & 0x80FFFFFFu);
    if (t_below(&random, 4) == 0) c = t_float(t_next32(&random));
    float expected = tmmultf32ps_row(a, b, c), next = tmmultf32ps_row(a + TF32_ROW, b + TF32_ROW, expected);
    compare("intel.tmmultf32ps", expected, dot_of(&preset, TF32_ROW, a, b, &c), c);
    compare("intel.tmmultf32ps", next, dot_of(&preset, 2 * TF32_ROW, a, b, &c), c);
    nans += isnan(expected) != 0;
    zeros += expected == 0;
    numbers += expected - expected == 0 && expected != 0;
  }
  assert_true(nans > 1000 && zeros > 1000 && numbers > 10000);
}

/* Points on which models differ, computed by hand: C comes after the sum; subnormal operands count, subnormal results
 * do not; a NaN whose bits are all among the 13 lowest is a NaN, where in=10 alone reads an infinity. */
static void tmmultf32ps_by_hand(void **state) {
  (void)state;
  hu_accum_preset preset = preset_named("intel.tmmultf32ps");
  static const struct {
    uint32_t a[2], b[2], c, expected;
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
    compare("intel.tmmultf32ps", t_float(rows[i].expected), dot(&preset, a, b, &rows[i].c), t_float(rows[i].c));
  }
  uint32_t a[TF32_ROW] = {0x7F800001}, b[TF32_ROW] = {0x3F800000}, c = 0;
  preset.accum.block.nan = HU_BLOCK_NAN_CUT;
  assert_int_equal(dot(&preset, a, b, &c), 0x7F800000);
}

/* ---- bytes ---- */

enum { ROW_MAX = 64, BYTE_SUMS = 10000 };

/* C plus the products of a row; a saturating instruction limits the sum once. */
static uint32_t bytes_of(const uint8_t *x, const uint8_t *y, unsigned n, int sa, int sb, int saturates, uint32_t c) {
  int64_t sum = (int32_t)c;
  for (unsigned k = 0; k < n; k++) sum += (sa ? (int8_t)x[k] : x[k]) * (sb ? (int8_t)y[k] : y[k]);
  if (saturates && sum > INT32_MAX) sum = INT32_MAX;
  if (saturates && sum < INT32_MIN) sum = INT32_MIN;
  return (uint32_t)sum;
}

static void bytes_under(t_random *random, const char *name, unsigned n, int sa, int sb, int saturates) {
  hu_accum_preset preset = preset_named(name);
  int limited = 0;
  assert_int_equal(preset.k, n);
  for (int i = 0; i < BYTE_SUMS; i++) {
    uint8_t x[ROW_MAX], y[ROW_MAX];
    uint32_t c = t_below(random, 2) ? t_next32(random) : 0x7FFFFFFFu + t_below(random, 0x2000) - 0x1000;
    for (unsigned k = 0; k < n; k++) {
      x[k] = (uint8_t)t_next32(random);
      y[k] = (uint8_t)t_next32(random);
    }
    uint32_t expected = bytes_of(x, y, n, sa, sb, saturates, c);
    limited += expected != bytes_of(x, y, n, sa, sb, 0, c);
    uint32_t got = dot(&preset, x, y, &c);
    if (got != expected) fail_msg("%s, C = %08x: %08x, not %08x", name, (unsigned)c, (unsigned)got, (unsigned)expected);
  }
  assert_true(saturates ? limited > 300 : limited == 0);
}

/* Dot products of signed and unsigned bytes: Intel's, Arm's and ACE's. The sum wraps around, except in those with
 * `sat`. */
static void bytes(void **state) {
  static const struct {
    const char *head, *tail;
    unsigned n, pairs; /* bits: u8, u8 x s8, s8 x u8, s8 */
  } rows[] = {{"x86.ace.top4b.", ".s32", 4, 15},   {"intel.vpdpb.", ".s32", 4, 15}, {"intel.tdpb.", ".s32", 64, 15},
              {"intel.vpdpb.", ".s32.sat", 4, 14}, {"arm.dot.", ".s32", 4, 15},     {"arm.mmla.", ".s32", 8, 11}};
  static const char *const pairs[4] = {"u8", "u8xs8", "s8xu8", "s8"};
  t_random random = {t_seed("accum-x86-bytes", 93)};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int pair = 0; pair < 4; pair++) {
      char name[48];
      hu_accum_preset none;
      snprintf(name, sizeof name, "%s%s%s", rows[i].head, pairs[pair], rows[i].tail);
      if (rows[i].pairs >> pair & 1)
        bytes_under(&random, name, rows[i].n, pair >> 1, pair & 1, strstr(name, ".sat") != NULL);
      else
        assert_int_equal(hu_accum_preset_find(&none, name), HU_E_NAME);
    }
}

/* ---- AVX10.2's conversions: the steps of Intel's specification (361050, sections 5.1 and 9), in integers ---- */

/* What is beyond the range: `high` where the instruction saturates, else `beyond`. */
static uint32_t limited_code(uint32_t sign, int saturates, uint32_t high, uint32_t beyond) {
  return sign | (saturates ? high : beyond);
}

/* The code of E5M2: the bias, or half of what is cut, is added to the 8 digits that are cut. */
static uint32_t bf8_of(uint32_t a, int biased, uint32_t bias, int saturates) {
  uint32_t sign = a >> 8 & 0x80, up = biased ? bias : 0x7F + (a >> 8 & 1);
  if ((a & 0x7FFF) > 0x7C00) return a >> 8 | 2;
  if ((a & 0x7FFF) == 0x7C00) return limited_code(sign, saturates, 0x7B, 0x7C);
  uint32_t code = (a + up) >> 8;
  return (code & 0x7F) == 0x7C ? limited_code(sign, saturates, 0x7B, 0x7C) : code;
}

/* The code of E4M3 with a bias: 7 bits of it are added to the 7 digits that are cut; below 2^-6 all 8 are added below
 * the last digit that E4M3 has there. */
static uint32_t biased_hf8(uint32_t a, uint32_t bias, int saturates) {
  uint32_t sign = (a & 0x8000) >> 8, e = a >> 10 & 31, m = a & 0x3FF, moved = (a & 0x7FFF) + (bias >> 1);
  if (moved >= (23 << 10 | 0x380)) return limited_code(sign, saturates, 0x7E, 0x7F);
  if (e == 0) return sign | (m + (bias << 7)) >> 15;
  if (moved >> 10 > 8) return sign | ((moved >> 7) - 64);
  return sign | ((m | 0x400) + (bias << (8 - e))) >> (9 - e) >> 7;
}

/* To nearest, ties to even: below 2^-6 the number is brought to E4M3's last digit there, what is lost sets the lowest
 * bit. */
static uint32_t nearest_hf8(uint32_t a, int saturates) {
  uint32_t sign = (a & 0x8000) >> 8, e = a >> 10 & 31, m = a & 0x3FF;
  if (e > 23 || (e == 23 && m > 0x340)) return limited_code(sign, saturates, 0x7E, 0x7F);
  if (e > 8) return sign | ((((a & 0x7FFF) + 0x3F + (a >> 7 & 1)) >> 7) - 64);
  uint32_t whole = e ? m | 0x400 : m << 1, shift = 9 - e, moved = whole >> shift;
  moved |= (whole & ((1u << shift) - 1)) != 0;
  return sign | (moved + 0x3F + (moved >> 7 & 1)) >> 7;
}

static uint32_t hf8_of(uint32_t a, int biased, uint32_t bias, int saturates) {
  uint32_t sign = (a & 0x8000) >> 8;
  if ((a & 0x7FFF) > 0x7C00) return sign | 0x7F;
  if ((a & 0x7FFF) == 0x7C00) return limited_code(sign, saturates, 0x7E, 0x7F);
  return biased ? biased_hf8(a, bias, saturates) : nearest_hf8(a, saturates);
}

/* A number or NaN of binary16 as binary32, with all its digits. */
static float widened16(uint32_t a) {
  if ((a & 0x7FFF) <= 0x7C00) return hu_decode(hu_binary16(), a);
  return t_float((a & 0x8000) << 16 | 0x7F800000 | (a & 0x3FF) << 13);
}

/* One instruction: all numbers of binary16 under all biases, with NaN and infinities. */
static void convert16(const char *name, uint32_t (*steps)(uint32_t, int, uint32_t, int)) {
  hu_conversion c;
  int biased = strstr(name, "bias") != NULL, saturates = name[strlen(name) - 1] == 's';
  if (hu_conversion_find(&c, name) != HU_OK) fail_msg("no preset %s", name);
  for (uint32_t a = 0; a < 0x10000; a++) {
    int finite = (a & 0x7C00) != 0x7C00;
    float x = widened16(a);
    for (uint32_t bias = 0; bias < (biased ? 256 : 1); bias++) {
      int whole = !finite || bias % 85 == 0; /* by the call, which has to prepare more */
      uint32_t got = whole ? hu_conversion_encode(&c, x, bias, NULL) : hu_encode(c.format, c.mode, x, bias, NULL);
      uint32_t expected = steps(a, biased, bias, saturates);
      if (got != expected)
        fail_msg("%s: %04x with %u gives %02x, not %02x", name, (unsigned)a, (unsigned)bias, (unsigned)got,
                 (unsigned)expected);
    }
  }
}

static void conversions(void **state) {
  (void)state;
  convert16("intel.vcvtph2bf8", bf8_of);
  convert16("intel.vcvtph2bf8s", bf8_of);
  convert16("intel.vcvtbiasph2bf8", bf8_of);
  convert16("intel.vcvtbiasph2bf8s", bf8_of);
  convert16("intel.vcvtph2hf8", hf8_of);
  convert16("intel.vcvtph2hf8s", hf8_of);
  convert16("intel.vcvtbiasph2hf8", hf8_of);
  convert16("intel.vcvtbiasph2hf8s", hf8_of);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vdpphps),     cmocka_unit_test(top2bf16ps),
                                     cmocka_unit_test(tmmultf32ps), cmocka_unit_test(tmmultf32ps_by_hand),
                                     cmocka_unit_test(bytes),       cmocka_unit_test(conversions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
