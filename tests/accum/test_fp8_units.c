/* SPDX-License-Identifier: MIT */
/* The presets of FP8 instructions of processors, intel.tdpf8ps.* and arm.fmlal.* to arm.fmmla.*, against straight code
 * that was written from their makers' texts and shares nothing with the library:
 *
 *   Intel, TDPBF8PS and its three relatives (ISE 319433, chapter 3; clang/lib/Headers/amxfp8intrin.h): operands become
 *   integers, their products are added exactly over a whole row, that sum is rounded once to binary32 and added to C
 *   with a second rounding; a result that is subnormal is flushed to the zero of its sign, operands are not; any NaN,
 *   an infinity times zero and infinities of both signs give NaN.
 *
 *   Arm (Architecture Reference Manual, A1.5.5 and the pages of FMLAL, FMLALL, FDOT and FMMLA): products are added
 *   exactly, times 2^-LSCALE, and added to C without a rounding between; one rounding to nearest even; no flushing; NaN
 *   is the default one; a sum that rounds beyond the largest number is infinity, or that number if FPMR.OSM is 1.
 *
 * Sums are exact here: each number is added into an array of 32-bit digits, from 2^-320 up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "tests/support/cmocka.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { DIGITS = 16, LOWEST = -320, MOST = 128, AMX_SUMS = 12000, ARM_SUMS = 40000 };

/* ---- numbers ---- */

typedef enum { FINITE, INFINITE, NOT_A_NUMBER } class;
/* A number m 2^e of the sign, m below 2^53. */
typedef struct number {
  class is;
  int negative, e;
  uint64_t m;
} number;

/* A pattern of `width` bits with an exponent field of `e` bits, read by IEEE 754's encoding. E4M3 (e = 4) differs from
 * it: its largest exponent field is that of numbers, but for one NaN, and there is no infinity. */
static number read_pattern(uint32_t bits, int width, int e) {
  int m = width - 1 - e, bias = (1 << (e - 1)) - 1;
  uint32_t field = bits >> m & ((1u << e) - 1), low = bits & ((1u << m) - 1);
  number z = {FINITE, (int)(bits >> (width - 1) & 1), (int)(field ? field : 1) - bias - m, low};
  if (field) z.m += UINT64_C(1) << m;
  if (field != (1u << e) - 1) return z;
  if (e == 4) z.is = low == 7 ? NOT_A_NUMBER : FINITE;
  if (e != 4) z.is = low ? NOT_A_NUMBER : INFINITE;
  return z;
}

static int is_zero(number x) { return x.is == FINITE && x.m == 0; }

static number times(number a, number b) {
  number z = {FINITE, a.negative ^ b.negative, a.e + b.e, 0};
  if (a.is == NOT_A_NUMBER || b.is == NOT_A_NUMBER) z.is = NOT_A_NUMBER;
  if (z.is == FINITE && (a.is == INFINITE || b.is == INFINITE)) {
    z.is = is_zero(a) || is_zero(b) ? NOT_A_NUMBER : INFINITE;
    return z;
  }
  if (z.is == FINITE) z.m = a.m * b.m;
  return z;
}

/* ---- exact sums ---- */

typedef struct t_total {
  int64_t digit[DIGITS];
  int nan, plus, minus; /* a NaN was added; an infinity of this sign */
} t_total;

static void put_part(t_total *total, uint64_t m, int at, int negative) {
  int64_t part = (int64_t)(m << (at % 32) & 0xFFFFFFFF);
  total->digit[at / 32] += negative ? -part : part;
  uint64_t more = at % 32 ? m >> (32 - at % 32) : m >> 32;
  if (more) put_part(total, more, at - at % 32 + 32, negative);
}

static void put(t_total *total, number x) {
  if (x.is == NOT_A_NUMBER) total->nan = 1;
  if (x.is == INFINITE && x.negative) total->minus = 1;
  if (x.is == INFINITE && !x.negative) total->plus = 1;
  if (x.is == FINITE && x.m) put_part(total, x.m, x.e - LOWEST, x.negative);
}

/* Carries out; the sign of the sum, of which the digits then have the magnitude. */
static int carry(t_total *total) {
  for (int i = 0; i + 1 < DIGITS; i++) {
    int64_t low = total->digit[i] & 0xFFFFFFFF;
    total->digit[i + 1] += (total->digit[i] - low) / 0x100000000;
    total->digit[i] = low;
  }
  if (total->digit[DIGITS - 1] >= 0) return 0;
  for (int i = 0; i < DIGITS; i++) total->digit[i] = -total->digit[i];
  return carry(total), 1;
}

static int bit(const t_total *total, int at) { return at >= 0 && (total->digit[at / 32] >> (at % 32) & 1); }

static int any_below(const t_total *total, int at) {
  for (int i = 0; i < at; i++) {
    if (bit(total, i)) return 1;
  }
  return 0;
}

typedef struct t_target {
  int width, e, saturates;
} t_target;
static const t_target HALF = {16, 5, 0}, SINGLE = {32, 8, 0};

/* The pattern of the sum, rounded to nearest even. */
static uint32_t rounded(t_total *total, t_target target) {
  int m = target.width - 1 - target.e, bias = (1 << (target.e - 1)) - 1, top = 32 * DIGITS - 1;
  uint32_t infinity = ((1u << target.e) - 1) << m, sign = 1u << (target.width - 1);
  if (total->nan || (total->plus && total->minus)) return infinity | 1u << (m - 1);
  if (total->plus || total->minus) return infinity | (total->minus ? sign : 0);
  if (!carry(total)) sign = 0;
  while (top >= 0 && !bit(total, top)) top--;
  if (top < 0) return 0;
  int field = top + LOWEST + bias, last = field > 0 ? top - m : 1 - bias - m - LOWEST;
  uint32_t z = field > 0 ? (uint32_t)(field - 1) << m : 0;
  uint32_t kept = 0;
  for (int i = m; i >= 0; i--) kept = 2 * kept + (uint32_t)bit(total, last + i);
  z += kept; /* the leading 1 is one more in the field */
  if (bit(total, last - 1) && ((z & 1) || any_below(total, last - 1))) z++;
  if (z >= infinity) z = infinity - (uint32_t)target.saturates;
  return z | sign;
}

/* ---- the library ---- */

typedef struct t_unit {
  hu_accum accum;
  hu_type a, b, c;
} t_unit;

static uint32_t asked(const t_unit *unit, size_t n, const uint8_t *a, const uint8_t *b, uint32_t c) {
  uint32_t z = 0;
  uint16_t half = 0, short_c = (uint16_t)c;
  int is_half = hu_type_size(unit->c) == 2;
  void *to = is_half ? (void *)&half : (void *)&z;
  hu_product x = hu_product_of_dot(n, hu_output_of(to, 1, unit->c), hu_view_of(a, 1, unit->a),
                                   hu_view_of(b, 1, unit->b), &unit->accum);
  x.c = hu_view_of(is_half ? (const void *)&short_c : (const void *)&c, 1, unit->c);
  assert_int_equal(hu_dot(&x, NULL), HU_OK);
  return is_half ? half : z;
}

static t_unit preset_named(const char *name) {
  hu_accum_preset preset;
  if (hu_accum_preset_find(&preset, name) != HU_OK) fail_msg("no preset %s", name);
  return (t_unit){preset.accum, preset.a, preset.b, preset.c};
}

/* ---- operands ---- */

/* FP8 with e bits of exponent: near 1, subnormal, large, any pattern; a sum of the kinds 3 has infinities and NaNs. */
static uint8_t draw_fp8(t_random *random, int e, int kind) {
  uint32_t one = e == 4 ? 0x38 : 0x3C, most = e == 4 ? 0x7E : 0x7B, sign = t_below(random, 2) << 7;
  switch (kind) {
    case 0: return (uint8_t)(sign | (one - 8 + t_below(random, 16)));
    case 1: return (uint8_t)(sign | t_below(random, 12));
    case 2: return (uint8_t)(sign | (most - t_below(random, 8)));
    case 3: return (uint8_t)t_next32(random);
    default: return (uint8_t)(sign | t_below(random, most + 1));
  }
}

/* Pairs of products that cancel in some sums; few products that are not zero in others. */
static void draw_row(t_random *random, size_t n, int ea, int eb, uint8_t *a, uint8_t *b) {
  int kind = (int)t_below(random, 12), cancels = t_below(random, 3) == 0, sparse = t_below(random, 3) == 0;
  for (size_t k = 0; k < n; k++) {
    int now = kind > 3 || (kind == 3 && t_below(random, 16)) ? 4 : kind; /* few specials in a row of any patterns */
    a[k] = draw_fp8(random, ea, now);
    b[k] = draw_fp8(random, eb, now == 2 ? (int)t_below(random, 3) : now);
    if (sparse && t_below(random, 8)) a[k] &= 0x80;
    if (!cancels || !(k & 1)) continue;
    a[k] = a[k - 1] ^ 0x80;
    b[k] = b[k - 1];
  }
  size_t from = t_below(random, (uint32_t)n);
  if (cancels && t_below(random, 2)) a[from] = draw_fp8(random, ea, 1);
}

/* ---- Intel ---- */

enum { NAN_GIVEN, INFINITE_SUM, FLUSHED_MINUS, EVENTS };

static uint32_t tile_sum(const uint8_t *a, const uint8_t *b, int ea, int eb, uint32_t c, int seen[EVENTS]) {
  t_total total, u;
  memset(&total, 0, sizeof total);
  memset(&u, 0, sizeof u);
  for (size_t k = 0; k < 64; k++) put(&total, times(read_pattern(a[k], 8, ea), read_pattern(b[k], 8, eb)));
  put(&u, read_pattern(rounded(&total, SINGLE), 32, 8));
  put(&u, read_pattern(c, 32, 8));
  uint32_t z = rounded(&u, SINGLE);
  seen[NAN_GIVEN] += (z & 0x7FFFFFFF) > 0x7F800000;
  seen[INFINITE_SUM] += (z & 0x7FFFFFFF) == 0x7F800000;
  if (z & 0x7F800000 || !(z & 0x7FFFFF)) return z;
  seen[FLUSHED_MINUS] += (int)(z >> 31);
  return z & 0x80000000;
}

static void is_same(const char *name, uint32_t got, uint32_t expected, uint32_t c) {
  if (got != expected) fail_msg("%s, C = %08x: %08x, not %08x", name, (unsigned)c, (unsigned)got, (unsigned)expected);
}

/* C: any pattern, subnormal, near 1; minus the sum and its neighbours, where the second rounding has nothing to do. */
static uint32_t draw_c(t_random *random, uint32_t sum) {
  switch (t_below(random, 5)) {
    case 0: return t_next32(random);
    case 1: return t_next32(random) & 0x807FFFFF;
    case 2: return 0x3F800000 + t_below(random, 0x2000000) - 0x1000000;
    case 3: return (sum ^ 0x80000000) + t_below(random, 3) - 1;
    default: return t_below(random, 2) << 31;
  }
}

static void tdpf8ps(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int ea, eb;
  } units[] = {{"intel.tdpf8ps.e5m2", 5, 5},
               {"intel.tdpf8ps.e5m2xe4m3", 5, 4},
               {"intel.tdpf8ps.e4m3xe5m2", 4, 5},
               {"intel.tdpf8ps.e4m3", 4, 4}};
  t_random random = {t_seed("accum-fp8_units", 94)};
  int seen[EVENTS] = {0};
  for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
    t_unit x = preset_named(units[u].name);
    for (int i = 0; i < AMX_SUMS; i++) {
      uint8_t a[128], b[128];
      int ea = units[u].ea, eb = units[u].eb;
      draw_row(&random, 128, ea, eb, a, b);
      uint32_t c = draw_c(&random, tile_sum(a, b, ea, eb, 0, seen)), expected = tile_sum(a, b, ea, eb, c, seen);
      is_same(units[u].name, asked(&x, 64, a, b, c), expected, c);
      /* two instructions, one after the other */
      if (i % 8 == 0)
        is_same(units[u].name, asked(&x, 128, a, b, c), tile_sum(a + 64, b + 64, ea, eb, expected, seen), c);
    }
  }
  for (int e = 0; e < EVENTS; e++) assert_true(seen[e] > 50);
}

/* The sums that the makers' sentences are about, by hand: 2^-149 as C, a tie of the first rounding, and the two
 * roundings, of which one would give another result. */
static void tdpf8ps_by_hand(void **state) {
  (void)state;
  t_unit x = preset_named("intel.tdpf8ps.e5m2");
  uint8_t a[64] = {0}, b[64] = {0};
  assert_int_equal(asked(&x, 64, a, b, 0x00000001), 0x00000000);
  assert_int_equal(asked(&x, 64, a, b, 0x80000001), 0x80000000);
  assert_int_equal(asked(&x, 64, a, b, 0x80000000), 0x00000000);
  a[0] = b[0] = 0x3C; /* 1 */
  a[1] = b[1] = 0x0C; /* 2^-24 as a product: 1 + 2^-24 is a tie */
  assert_int_equal(asked(&x, 64, a, b, 0), 0x3F800000);
  assert_int_equal(asked(&x, 64, a, b, 0xBF800000), 0x00000000); /* one rounding would leave 2^-24 */
  a[2] = 0x10, b[2] = 0x0C;                                      /* 2^-23 more: a tie, up to the even one */
  assert_int_equal(asked(&x, 64, a, b, 0), 0x3F800002);
  a[3] = 0x7C, b[3] = 0x81; /* an infinity times a negative subnormal number */
  assert_int_equal(asked(&x, 64, a, b, 0), 0xFF800000);
  b[3] = 0;
  assert_int_equal(asked(&x, 64, a, b, 0), 0x7FC00000);
}

/* ---- Arm ---- */

typedef struct arm {
  const char *name, *text; /* of the preset, and its model; text is the model with OSM */
  int half, products;
} arm;
static const arm arms[] = {{"arm.fmlal.%s", "seq(binary16,sat=propagate)", 1, 1},
                           {"arm.fmlall.%s", "seq(binary32,sat=propagate)", 0, 1},
                           {"arm.fdot.%s.f16", "block(exact,l=2,out=binary16,sat=propagate)", 1, 2},
                           {"arm.fdot.%s.f32", "block(exact,l=4,sat=propagate)", 0, 4},
                           {"arm.fmmla.%s.f16", "block(exact,l=4,out=binary16,sat=propagate)", 1, 4},
                           {"arm.fmmla.%s.f32", "block(exact,l=8,sat=propagate)", 0, 8}};

/* An exact zero is +0, but a fused multiply-add keeps the sign that both of its terms have. */
static uint32_t fused_sum(const arm *x, const uint8_t *a, const uint8_t *b, int ea, int eb, uint32_t c, int lscale,
                          int osm) {
  t_total total;
  t_target target = x->half ? HALF : SINGLE;
  int minus = 0;
  target.saturates = osm;
  memset(&total, 0, sizeof total);
  number last = read_pattern(c, target.width, target.e);
  put(&total, last);
  for (int k = 0; k < x->products; k++) {
    number p = times(read_pattern(a[k], 8, ea), read_pattern(b[k], 8, eb));
    minus = x->products == 1 && is_zero(p) && is_zero(last) && p.negative && last.negative;
    p.e -= lscale;
    put(&total, p);
  }
  uint32_t z = rounded(&total, target);
  return minus ? 1u << (target.width - 1) : z;
}

/* LSCALE = s is A in a format whose numbers are 2^s smaller. */
static t_unit scaled_unit(const arm *x, int ea, int eb, int lscale) {
  t_unit unit;
  memset(&unit, 0, sizeof unit);
  assert_int_equal(hu_accum_parse(&unit.accum, x->text, NULL), HU_OK);
  unit.a = hu_type_codes(ea == 4 ? hu_format_fn(4, 3, lscale) : hu_format_ieee(5, 2, lscale));
  unit.b = hu_type_codes(eb == 4 ? hu_float8_e4m3fn() : hu_float8_e5m2());
  unit.c = hu_type_codes(x->half ? hu_binary16() : hu_binary32());
  return unit;
}

static uint32_t draw_arm_c(t_random *random, const arm *x, uint32_t sum) {
  uint32_t sign = x->half ? 0x8000 : 0x80000000;
  if (t_below(random, 3) == 0) return sum ^ sign;
  if (!x->half) return draw_c(random, sum);
  return t_below(random, 4) ? t_next32(random) & 0xFFFF : (t_next32(random) & 0x83FF);
}

static void arm_fp8(void **state) {
  (void)state;
  static const char *const pairs[2][2] = {{"e4m3", "e4m3xe5m2"}, {"e5m2xe4m3", "e5m2"}};
  t_random random = {t_seed("accum-fp8_units-arm", 95)};
  long infinite = 0, most = 0, zeros = 0;
  for (size_t at = 0; at < 4 * sizeof arms / sizeof arms[0]; at++) {
    const arm *x = &arms[at / 4];
    int ea = at & 2 ? 5 : 4, eb = at & 1 ? 5 : 4;
    char name[48];
    (void)snprintf(name, sizeof name, x->name, pairs[at / 2 & 1][at & 1]);
    t_unit plain = preset_named(name);
    for (int i = 0; i < ARM_SUMS / 4; i++) {
      uint8_t a[16], b[16];
      int lscale = (int)t_below(&random, x->half ? 16 : MOST), l = x->products;
      draw_row(&random, 16, ea, eb, a, b);
      uint32_t c = draw_arm_c(&random, x, fused_sum(x, a, b, ea, eb, 0, 0, 0));
      uint32_t expected = fused_sum(x, a, b, ea, eb, c, 0, 0),
               next = fused_sum(x, a + l, b + l, ea, eb, expected, 0, 0);
      is_same(name, asked(&plain, (size_t)l, a, b, c), expected, c);
      is_same(name, asked(&plain, 2 * (size_t)l, a, b, c), next, c);
      t_unit scaled = scaled_unit(x, ea, eb, lscale);
      uint32_t other = fused_sum(x, a, b, ea, eb, c, lscale, 1);
      is_same(x->text, asked(&scaled, (size_t)l, a, b, c), other, c);
      zeros += expected == 0;
      infinite += x->half && (expected & 0x7FFF) == 0x7C00;
      most += x->half && (other & 0x7FFF) == 0x7BFF;
    }
  }
  assert_true(infinite > 1000 && most > 100 && zeros > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tdpf8ps), cmocka_unit_test(tdpf8ps_by_hand),
                                     cmocka_unit_test(arm_fp8)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
