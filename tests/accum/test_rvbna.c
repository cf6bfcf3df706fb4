/* SPDX-License-Identifier: MIT */
/* RISC-V's bulk-normalised dot products: the presets riscv.zvdota.* and the block of the integrated matrix extension,
 * against an implementation of the RISC-V Bulk Normalization Algorithm in integers, on encoded numbers, with its flags.
 * Where the algorithm's listing and its text differ (masks of discarded bits), the text is followed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/accum.h"
#include "halfulp/arith.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

/* An encoding: sign, e bits of exponent, m of significand. */
typedef struct encoding {
  const char *name;
  int e, m;
  int ieee; /* 1: an exponent of all ones is special; 0: OFP8 E4M3, whose only NaN is all ones */
} encoding;

static const encoding bf16 = {"bfloat16", 8, 7, 1};
static const encoding e4m3 = {"float8_e4m3fn", 4, 3, 0};
static const encoding e5m2 = {"float8_e5m2", 5, 2, 1};

enum { GOAL_M = 23, GOAL_E = 8, GOAL_BIAS = 127, MOST = 64 };

/* One factor, taken apart. */
typedef struct factor {
  int sign, biased, zero, inf, nan, signalling;
  uint32_t sig;
} factor;

static factor take_apart(const encoding *c, uint32_t code) {
  uint32_t field = code >> c->m & ((1u << c->e) - 1), fraction = code & ((1u << c->m) - 1);
  int all_ones = field == (1u << c->e) - 1;
  factor f;
  memset(&f, 0, sizeof f);
  f.sign = (int)(code >> (c->e + c->m) & 1);
  f.inf = c->ieee && all_ones && fraction == 0;
  f.nan = c->ieee ? all_ones && fraction != 0 : all_ones && fraction == (1u << c->m) - 1;
  f.signalling = c->ieee && f.nan && !(fraction >> (c->m - 1) & 1);
  f.zero = field == 0 && fraction == 0;
  f.biased = field ? (int)field : 1;
  f.sig = fraction | (field ? 1u << c->m : 0);
  return f;
}

typedef struct flags {
  int invalid, overflow;
} flags;

/* +-sum 2^unit to odd; beyond the largest number an infinity. */
static uint32_t to_odd(int64_t sum, int unit, flags *raised) {
  uint32_t sign = sum < 0 ? 0x80000000u : 0;
  uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
  if (magnitude == 0) return 0;
  int top = 0;
  while (magnitude >> top > 1) top++;
  int exponent = top + unit, low = exponent < 1 - GOAL_BIAS ? 1 - GOAL_BIAS : exponent;
  int lost = low - GOAL_M - unit; /* digits of magnitude below the last one that is kept */
  uint64_t kept = lost <= 0 ? magnitude << -lost : lost > 63 ? 0 : magnitude >> lost;
  uint64_t rest = lost <= 0 ? 0 : lost > 63 ? magnitude : magnitude & (((uint64_t)1 << lost) - 1);
  kept |= rest != 0;
  if (exponent > GOAL_BIAS) {
    raised->overflow = 1;
    return sign | 0x7F800000u;
  }
  uint32_t field = exponent < 1 - GOAL_BIAS ? 0 : (uint32_t)(exponent + GOAL_BIAS);
  return sign | field << GOAL_M | ((uint32_t)kept & 0x7FFFFFu);
}

/* The algorithm: n products, no addend. */
static uint32_t bulk_normalised(int n, const encoding *ca, const encoding *cb, const uint32_t *a, const uint32_t *b,
                                flags *raised) {
  int guard = 0, reference[MOST], sign[MOST], highest = 0, nan = 0, invalid = 0, plus = 0, minus = 0;
  uint64_t sig[MOST];
  while (1 << guard < n) guard++;
  for (int i = 0; i < n; i++) {
    factor l = take_apart(ca, a[i]), r = take_apart(cb, b[i]);
    int either = l.inf || r.inf;
    sign[i] = l.sign ^ r.sign;
    nan |= l.nan || r.nan;
    invalid |= l.signalling || r.signalling || (l.inf && r.zero) || (r.inf && l.zero);
    if (either && !l.nan && !r.nan && !l.zero && !r.zero) *(sign[i] ? &minus : &plus) = 1;
    sig[i] = l.zero || r.zero ? 0 : (uint64_t)l.sig * r.sig;
    reference[i] = l.zero || r.zero ? 0 : l.biased + r.biased;
    if (reference[i] > highest) highest = reference[i];
  }
  invalid |= plus && minus;
  raised->invalid |= invalid;
  if (nan || invalid) return 0x7FC00000u;
  if (plus || minus) return minus ? 0xFF800000u : 0x7F800000u;
  /* A product of 1.0 2^reference has its leading digit at place q - 1 + g of an aligned one. */
  int places = GOAL_M + guard, below = ca->m + cb->m;
  int64_t sum = 0;
  for (int i = 0; i < n; i++) {
    int shift = highest - reference[i] - (places - below);
    uint64_t kept = shift <= 0 ? sig[i] << -shift : shift > 63 ? 0 : sig[i] >> shift;
    uint64_t rest = shift <= 0 ? 0 : shift > 63 ? sig[i] : sig[i] & (((uint64_t)1 << shift) - 1);
    kept |= rest != 0;
    sum += sign[i] ? -(int64_t)kept : (int64_t)kept;
  }
  int bias = (1 << (ca->e - 1)) - 1 + (1 << (cb->e - 1)) - 1;
  return to_odd(sum, highest - bias - places, raised);
}

/* vd + the sum, in one of the modes of frm, or to odd as the algorithm says it. */
static uint32_t accumulate(uint32_t vd, uint32_t sum, uint8_t round, flags *raised) {
  const hu_format f = hu_format_ieee(8, 23, 0);
  hu_mode mode = {.round = round};
  uint32_t events = 0, z = hu_add(f, mode, f, vd, f, sum, 0, &events);
  raised->invalid |= (events & HU_EVENT_INVALID) != 0 || hu_is_signalling(f, vd);
  raised->overflow |= (events & HU_EVENT_OVERFLOW) != 0;
  if (round == HU_RTO && events & HU_EVENT_OVERFLOW) return (z & 0x80000000u) | 0x7F800000u;
  return z;
}

static hu_element element_of(const char *name) {
  hu_element e = {0};
  assert_int_equal(hu_format_parse(&e.format, name, NULL), HU_OK);
  return e;
}

/* Codes of all kinds: any, near one, special, and few exponents so that sums cancel. */
static uint32_t draw_code(t_random *r, const encoding *c, int special) {
  uint32_t width = (uint32_t)(1 + c->e + c->m), any = t_next32(r) & ((1u << width) - 1);
  uint32_t bias = (1u << (c->e - 1)) - 1, sign = (any >> (width - 1)) << (width - 1);
  switch (t_below(r, special ? 5 : 3)) {
    case 0: return any;
    case 1: return sign | (bias + t_below(r, 4)) << c->m | (any & ((1u << c->m) - 1));
    case 2: return any & ~(((1u << c->e) - 1) << c->m); /* subnormal or zero */
    case 3: return sign | ((1u << c->e) - 1) << c->m | (t_below(r, 2) ? 0 : any & ((1u << c->m) - 1));
    default: return sign;
  }
}

static uint32_t draw_vd(t_random *r, int special) {
  uint32_t any = t_next32(r);
  if (special && t_below(r, 3) == 0) return (any & 0x80000000u) | 0x7F800000u | (t_below(r, 2) ? 0 : any & 0x7FFFFF);
  return t_below(r, 2) ? any & 0xBFFFFFFFu : t_below(r, 2) ? any & 0x80000000u : any;
}

/* `count` dot products of 1 to 3 sets of n. */
static void compare(const hu_accum *model, int n, const encoding *ca, const encoding *cb, uint8_t round, unsigned count,
                    t_random *r) {
  const hu_element ez = element_of("binary32");
  for (unsigned i = 0; i < count; i++) {
    uint32_t a[3 * MOST], b[3 * MOST], vd, z, exceptions;
    uint16_t a16[3 * MOST], b16[3 * MOST];
    uint8_t a8[3 * MOST], b8[3 * MOST];
    int sets = 1 + (int)t_below(r, 3), special = t_below(r, 4) == 0;
    uint32_t c = vd = draw_vd(r, special);
    flags raised = {0, 0};
    for (int k = 0; k < sets * n; k++) {
      a16[k] = (uint16_t)(a[k] = draw_code(r, ca, special && t_below(r, 8) == 0));
      b16[k] = (uint16_t)(b[k] = draw_code(r, cb, special && t_below(r, 8) == 0));
      a8[k] = (uint8_t)a[k];
      b8[k] = (uint8_t)b[k];
    }
    for (int s = 0; s < sets; s++)
      vd = accumulate(vd, bulk_normalised(n, ca, cb, a + s * n, b + s * n, &raised), round, &raised);
    hu_dot_operands x;
    memset(&x, 0, sizeof x);
    x.a = (hu_vector){ca->e + ca->m > 7 ? (void *)a16 : (void *)a8, 1, 0, element_of(ca->name)};
    x.b = (hu_vector){cb->e + cb->m > 7 ? (void *)b16 : (void *)b8, 1, 0, element_of(cb->name)};
    x.c = (hu_vector){&c, 1, 0, ez};
    const hu_mode rne = {0};
    size_t length = (size_t)(sets * n);
    assert_int_equal(hu_dot(length, &z, ez, &x, model, rne, NULL, NULL), HU_OK);
    assert_int_equal(hu_dot_exceptions(&exceptions, length, ez, &x, model, rne), HU_OK);
    if (z == vd && !!(exceptions & HU_EVENT_INVALID) == raised.invalid &&
        !!(exceptions & HU_EVENT_OVERFLOW) == raised.overflow)
      continue;
    char text[HU_ACCUM_TEXT_MAX];
    hu_accum_text(text, sizeof text, model);
    printf("%s, %d sets, C %08x:", text, sets, (unsigned)c);
    for (int k = 0; k < sets * n; k++) printf(" %x*%x", (unsigned)a[k], (unsigned)b[k]);
    fail_msg("gives %08x with %x; the algorithm %08x, invalid %d, overflow %d", (unsigned)z, (unsigned)exceptions,
             (unsigned)vd, raised.invalid, raised.overflow);
  }
}

static const encoding *const pairs[][2] = {
    {&bf16, &bf16}, {&e4m3, &e4m3}, {&e4m3, &e5m2}, {&e5m2, &e4m3}, {&e5m2, &e5m2}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* Zvdota: every preset; there must be one for each pair and each n. */
static void presets(void **state) {
  (void)state;
  t_random r = {t_seed(__func__, 71)};
  for (int p = 0; p < PAIRS; p++) {
    static const char *const short_names[] = {"bf16", "e4m3", "e4m3xe5m2", "e5m2xe4m3", "e5m2"};
    for (int n = 2; n <= 32; n *= 2) {
      char name[64];
      hu_accum_preset preset;
      snprintf(name, sizeof name, "riscv.zvdota.%s.n%d", short_names[p], n);
      assert_int_equal(hu_accum_preset_find(&preset, name), HU_OK);
      compare(&preset.accum, n, pairs[p][0], pairs[p][1], HU_RTO, 4000, &r);
    }
  }
}

/* The integrated matrix extension with psm=1, rnd=rto, by this algorithm: the last addition in the mode of frm. */
static void modes_of_frm(void **state) {
  static const char *const names[] = {"rne", "rtz", "rtn", "rtp", "rna"};
  static const uint8_t round[] = {HU_RNE, HU_RTZ, HU_RTN, HU_RTP, HU_RNA};
  (void)state;
  t_random r = {t_seed(__func__, 71)};
  for (int p = 0; p < PAIRS; p++) {
    for (int m = 0; m < 5; m++) {
      for (int guard = 0; guard <= 6; guard++) {
        char text[160];
        hu_accum model;
        snprintf(text, sizeof text, "block(align,l=%d,f=%d,emin=-4096,cut=odd,c=last,last=%s,round=rto,over=inf)",
                 1 << guard, 23 + guard, names[m]);
        assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
        compare(&model, 1 << guard, pairs[p][0], pairs[p][1], round[m], 700, &r);
      }
    }
  }
}

/* The same extension with psm=0: what rnd does with the exact sum of a group before it is added to C. */
static void exact_groups(void **state) {
  static const uint8_t modes[] = {HU_RNE, HU_RTZ, HU_RTN, HU_RTP, HU_RNA};
  static const char *const names[] = {"rne", "rtz", "rtn", "rtp", "rna"};
  enum { XCT, FRM, RTO, RNDS };
  const hu_element binary32 = element_of("binary32"), e5 = element_of("float8_e5m2");
  const hu_accum exact = {0};
  (void)state;
  t_random r = {t_seed(__func__, 72)};
  for (unsigned i = 0; i < 20000; i++) {
    unsigned m = i % 5, rnd = t_below(&r, RNDS), n = 1u << t_below(&r, 5), special = t_below(&r, 8) == 0;
    uint8_t a[16], b[16];
    uint32_t c = draw_vd(&r, (int)special), group, z, want;
    hu_mode frm = {.round = modes[m]}, inner = {.round = rnd == RTO ? HU_RTO : modes[m]};
    char text[120];
    hu_accum model;
    for (unsigned k = 0; k < n; k++) {
      a[k] = (uint8_t)draw_code(&r, &e5m2, (int)special);
      b[k] = (uint8_t)draw_code(&r, &e5m2, (int)special);
    }
    if (rnd == XCT) snprintf(text, sizeof text, "block(exact,l=%u,round=%s)", n, names[m]);
    if (rnd == FRM) snprintf(text, sizeof text, "block(exact,l=%u,c=last,last=%s,round=%s)", n, names[m], names[m]);
    if (rnd == RTO) snprintf(text, sizeof text, "block(exact,l=%u,c=last,last=%s,round=rto)", n, names[m]);
    assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
    hu_dot_operands x;
    memset(&x, 0, sizeof x);
    x.a = (hu_vector){a, 1, 0, e5};
    x.b = (hu_vector){b, 1, 0, e5};
    assert_int_equal(hu_dot(n, &group, binary32, &x, &exact, inner, NULL, NULL), HU_OK);
    if (!(group << 1)) group = 0; /* a sum of products that is zero is +0 there */
    want = hu_add(binary32.format, frm, binary32.format, c, binary32.format, group, 0, NULL);
    x.c = (hu_vector){&c, 1, 0, binary32};
    if (rnd == XCT) assert_int_equal(hu_dot(n, &want, binary32, &x, &exact, frm, NULL, NULL), HU_OK);
    assert_int_equal(hu_dot(n, &z, binary32, &x, &model, frm, NULL, NULL), HU_OK);
    if (rnd == XCT && !(want << 1)) continue; /* a block gives +0 where the exact sum is zero */
    if (z != want) fail_msg("%s, C %08x: %08x, not %08x", text, (unsigned)c, (unsigned)z, (unsigned)want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets), cmocka_unit_test(modes_of_frm),
                                     cmocka_unit_test(exact_groups)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
