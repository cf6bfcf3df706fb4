/* SPDX-License-Identifier: MIT */
/* RISC-V's bulk-normalised dot products: the presets riscv.zvdota.* and the block of the integrated matrix extension,
 * against an implementation of the RISC-V Bulk Normalization Algorithm in integers, on encoded numbers, with its flags.
 * Where the algorithm's listing and its text differ (masks of discarded bits), the text is followed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/arith.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
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
typedef struct t_factor {
  int sign, biased, zero, inf, nan, signalling;
  uint32_t sig;
} t_factor;

static t_factor take_apart(const encoding *c, uint32_t code) {
  uint32_t field = code >> c->m & ((1u << c->e) - 1), fraction = code & ((1u << c->m) - 1);
  int all_ones = field == (1u << c->e) - 1;
  t_factor factor;
  memset(&factor, 0, sizeof factor);
  factor.sign = (int)(code >> (c->e + c->m) & 1);
  factor.inf = c->ieee && all_ones && fraction == 0;
  factor.nan = c->ieee ? all_ones && fraction != 0 : all_ones && fraction == (1u << c->m) - 1;
  factor.signalling = c->ieee && factor.nan && !(fraction >> (c->m - 1) & 1);
  factor.zero = field == 0 && fraction == 0;
  factor.biased = field ? (int)field : 1;
  factor.sig = fraction | (field ? 1u << c->m : 0);
  return factor;
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

/* +-sum 2^unit in a mode of frm, which takes the place of the algorithm's rounding to odd; binary64 holds the sum. */
static uint32_t in_mode(int64_t sum, int unit, hu_mode frm, flags *raised) {
  uint32_t events = 0, z = hu_encode64(hu_format_ieee(8, 23, 0), frm, ldexp((double)sum, unit), 0, &events);
  raised->overflow |= (events & HU_EVENT_OVERFLOW) != 0;
  return sum ? z : 0;
}

/* The algorithm: n products, no addend. frm: NULL, or how its result is rounded instead of to odd. */
static uint32_t bulk_normalised(int n, const encoding *ca, const encoding *cb, const uint32_t *a, const uint32_t *b,
                                const hu_mode *frm, flags *raised) {
  int guard = 0, reference[MOST], sign[MOST], highest = 0, nan = 0, invalid = 0, plus = 0, minus = 0;
  uint64_t sig[MOST];
  while (1 << guard < n) guard++;
  for (int i = 0; i < n; i++) {
    t_factor left = take_apart(ca, a[i]), right = take_apart(cb, b[i]);
    int either = left.inf || right.inf;
    sign[i] = left.sign ^ right.sign;
    nan |= left.nan || right.nan;
    invalid |= left.signalling || right.signalling || (left.inf && right.zero) || (right.inf && left.zero);
    if (either && !left.nan && !right.nan && !left.zero && !right.zero) *(sign[i] ? &minus : &plus) = 1;
    sig[i] = left.zero || right.zero ? 0 : (uint64_t)left.sig * right.sig;
    reference[i] = left.zero || right.zero ? 0 : left.biased + right.biased;
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
  return frm ? in_mode(sum, highest - bias - places, *frm, raised) : to_odd(sum, highest - bias - places, raised);
}

/* vd + the sum, in one of the modes of frm, or to odd as the algorithm says it. */
static uint32_t accumulate(uint32_t vd, uint32_t sum, uint8_t round, flags *raised) {
  const hu_format format = hu_format_ieee(8, 23, 0);
  hu_mode mode = {.round = round};
  uint32_t events = 0, z = hu_add(format, mode, format, vd, format, sum, 0, &events);
  raised->invalid |= (events & HU_EVENT_INVALID) != 0 || hu_is_signalling(format, vd);
  raised->overflow |= (events & HU_EVENT_OVERFLOW) != 0;
  if (round == HU_RTO && events & HU_EVENT_OVERFLOW) return (z & 0x80000000u) | 0x7F800000u;
  return z;
}

static hu_type type_of(const char *name) {
  hu_type type = hu_type_codes(hu_format_ieee(8, 23, 0));
  assert_int_equal(hu_format_parse(&type.format, name, NULL), HU_OK);
  return type;
}

/* Codes of all kinds: any, near one, special, and few exponents so that sums cancel. */
static uint32_t draw_code(t_random *random, const encoding *c, int special) {
  uint32_t width = (uint32_t)(1 + c->e + c->m), any = t_next32(random) & ((1u << width) - 1);
  uint32_t bias = (1u << (c->e - 1)) - 1, sign = (any >> (width - 1)) << (width - 1);
  switch (t_below(random, special ? 5 : 3)) {
    case 0: return any;
    case 1: return sign | (bias + t_below(random, 4)) << c->m | (any & ((1u << c->m) - 1));
    case 2: return any & ~(((1u << c->e) - 1) << c->m); /* subnormal or zero */
    case 3: return sign | ((1u << c->e) - 1) << c->m | (t_below(random, 2) ? 0 : any & ((1u << c->m) - 1));
    default: return sign;
  }
}

static uint32_t draw_vd(t_random *random, int special) {
  uint32_t any = t_next32(random);
  if (special && t_below(random, 3) == 0)
    return (any & 0x80000000u) | 0x7F800000u | (t_below(random, 2) ? 0 : any & 0x7FFFFF);
  return t_below(random, 2) ? any & 0xBFFFFFFFu : t_below(random, 2) ? any & 0x80000000u : any;
}

/* `count` dot products of 1 to 3 sets of n, whose sums are rounded to odd, or by `frm`. */
static void compare(const hu_accum *model, int n, const encoding *ca, const encoding *cb, const hu_mode *frm,
                    uint8_t round, unsigned count, t_random *random) {
  const hu_type binary32 = type_of("binary32");
  for (unsigned i = 0; i < count; i++) {
    uint32_t a[3 * MOST], b[3 * MOST], vd, z, exceptions;
    uint16_t a16[3 * MOST], b16[3 * MOST];
    uint8_t a8[3 * MOST], b8[3 * MOST];
    int sets = 1 + (int)t_below(random, 3), special = t_below(random, 4) == 0;
    uint32_t c = vd = draw_vd(random, special);
    flags raised = {0, 0};
    for (int k = 0; k < sets * n; k++) {
      a16[k] = (uint16_t)(a[k] = draw_code(random, ca, special && t_below(random, 8) == 0));
      b16[k] = (uint16_t)(b[k] = draw_code(random, cb, special && t_below(random, 8) == 0));
      a8[k] = (uint8_t)a[k];
      b8[k] = (uint8_t)b[k];
    }
    for (int s = 0; s < sets; s++)
      vd = accumulate(vd, bulk_normalised(n, ca, cb, a + s * n, b + s * n, frm, &raised), round, &raised);
    hu_product x =
        hu_product_of_dot((size_t)(sets * n), hu_output_of(&z, 1, binary32),
                          hu_view_of(ca->e + ca->m > 7 ? (void *)a16 : (void *)a8, 1, type_of(ca->name)),
                          hu_view_of(cb->e + cb->m > 7 ? (void *)b16 : (void *)b8, 1, type_of(cb->name)), model);
    x.c = hu_view_of(&c, 1, binary32);
    const hu_mode rne = {0};
    assert_int_equal(hu_dot(&x, NULL), HU_OK);
    assert_int_equal(hu_dot_exceptions(&exceptions, &x, rne), HU_OK);
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
  t_random random = {t_seed(__func__, 71)};
  for (int p = 0; p < PAIRS; p++) {
    static const char *const short_names[] = {"bf16", "e4m3", "e4m3xe5m2", "e5m2xe4m3", "e5m2"};
    for (int n = 2; n <= 32; n *= 2) {
      char name[64];
      hu_accum_preset preset;
      snprintf(name, sizeof name, "riscv.zvdota.%s.n%d", short_names[p], n);
      assert_int_equal(hu_accum_preset_find(&preset, name), HU_OK);
      compare(&preset.accum, n, pairs[p][0], pairs[p][1], NULL, HU_RTO, 4000, &random);
    }
  }
}

/* The integrated matrix extension with psm=1 by this algorithm, rnd=rto and rnd=frm: the last addition in the mode of
 * frm. */
static void modes_of_frm(void **state) {
  static const char *const names[] = {"rne", "rtz", "rtn", "rtp", "rna"};
  static const uint8_t round[] = {HU_RNE, HU_RTZ, HU_RTN, HU_RTP, HU_RNA};
  (void)state;
  t_random random = {t_seed(__func__, 71)};
  for (int p = 0; p < PAIRS; p++) {
    for (int m = 0; m < 5; m++) {
      for (int guard = 0; guard <= 6; guard++) {
        char text[160];
        hu_accum model;
        snprintf(text, sizeof text, "block(align,l=%d,f=%d,emin=-4096,cut=odd,c=last,last=%s,round=rto,over=inf)",
                 1 << guard, 23 + guard, names[m]);
        assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
        compare(&model, 1 << guard, pairs[p][0], pairs[p][1], NULL, round[m], 500, &random);
        const hu_mode frm = {.round = round[m]};
        snprintf(text, sizeof text, "block(align,l=%d,f=%d,emin=-4096,cut=odd,c=last,last=%s,round=%s)", 1 << guard,
                 23 + guard, names[m], names[m]);
        assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
        compare(&model, 1 << guard, pairs[p][0], pairs[p][1], &frm, round[m], 300, &random);
      }
    }
  }
}

/* The same extension with psm=0: what rnd does with the exact sum of a group before it is added to C. */
static void exact_groups(void **state) {
  static const uint8_t modes[] = {HU_RNE, HU_RTZ, HU_RTN, HU_RTP, HU_RNA};
  static const char *const names[] = {"rne", "rtz", "rtn", "rtp", "rna"};
  enum { XCT, FRM, RTO, RNDS };
  const hu_type binary32 = type_of("binary32"), e5 = type_of("float8_e5m2");
  const hu_accum exact = {0};
  long zeros = 0;
  (void)state;
  t_random random = {t_seed(__func__, 72)};
  for (unsigned i = 0; i < 20000; i++) {
    unsigned m = i % 5, rnd = t_below(&random, RNDS), n = 1u << t_below(&random, 5), special = t_below(&random, 8) == 0;
    uint8_t a[16], b[16];
    uint32_t c = draw_vd(&random, (int)special), group, z, expected;
    hu_mode frm = {.round = modes[m]}, inner = {.round = rnd == RTO ? HU_RTO : modes[m]};
    char text[120];
    hu_accum model;
    for (unsigned k = 0; k < n; k++) {
      a[k] = (uint8_t)draw_code(&random, &e5m2, (int)special);
      b[k] = (uint8_t)draw_code(&random, &e5m2, (int)special);
    }
    if (rnd == XCT) snprintf(text, sizeof text, "block(exact,l=%u,round=%s,zero=ieee)", n, names[m]);
    if (rnd == FRM) snprintf(text, sizeof text, "block(exact,l=%u,c=last,last=%s,round=%s)", n, names[m], names[m]);
    if (rnd == RTO) snprintf(text, sizeof text, "block(exact,l=%u,c=last,last=%s,round=rto)", n, names[m]);
    assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
    hu_product x =
        hu_product_of_dot(n, hu_output_of(&group, 1, binary32), hu_view_of(a, 1, e5), hu_view_of(b, 1, e5), &exact);
    hu_how how = {.mode = inner};
    assert_int_equal(hu_dot(&x, &how), HU_OK);
    if (!(group << 1)) group = 0; /* a sum of products that is zero is +0 there */
    expected = hu_add(binary32.format, frm, binary32.format, c, binary32.format, group, 0, NULL);
    x.c = hu_view_of(&c, 1, binary32);
    x.d.data = &expected;
    how.mode = frm;
    if (rnd == XCT) assert_int_equal(hu_dot(&x, &how), HU_OK);
    x.d.data = &z;
    x.accum = &model;
    assert_int_equal(hu_dot(&x, &how), HU_OK);
    if (z != expected) fail_msg("%s, C %08x: %08x, not %08x", text, (unsigned)c, (unsigned)z, (unsigned)expected);
    zeros += rnd == XCT && z == 0x80000000u;
  }
  assert_true(zeros > 20);
}

/* rnd=xct where the sum of C and the products is zero: the sign by hand, of terms that are zeros and of terms that
 * cancel. */
static void zeros_by_hand(void **state) {
  (void)state;
  static const struct {
    const char *round;
    uint8_t a[2], b[2];
    uint32_t c, expected;
  } rows[] = {
      {"rtn", {0x3C, 0xBC}, {0x3C, 0x3C}, 0, 0x80000000},    /* 1 - 1 + 0 */
      {"rtn", {0x3C, 0}, {0x3C, 0}, 0xBF800000, 0x80000000}, /* 1 + 0 - 1 */
      {"rtn", {0, 0}, {0x3C, 0x3C}, 0, 0},                   /* zeros that agree */
      {"rtn", {0x80, 0}, {0x3C, 0x3C}, 0, 0x80000000},       /* zeros that do not */
      {"rne", {0x3C, 0xBC}, {0x3C, 0x3C}, 0, 0},
      {"rne", {0x80, 0x80}, {0x3C, 0x3C}, 0x80000000, 0x80000000}, /* -0 - 0 - 0 */
      {"rne", {0x80, 0}, {0x3C, 0x3C}, 0x80000000, 0},
      {"rtp", {0x80, 0x80}, {0x3C, 0x3C}, 0x80000000, 0x80000000},
  };
  const hu_type binary32 = type_of("binary32"), e5 = type_of("float8_e5m2");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[80];
    uint32_t z;
    hu_accum model;
    for (int ieee = 0; ieee < 2; ieee++) {
      snprintf(text, sizeof text, "block(exact,l=2,round=%s%s)", rows[i].round, ieee ? ",zero=ieee" : "");
      assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
      hu_product x = hu_product_of_dot(2, hu_output_of(&z, 1, binary32), hu_view_of(rows[i].a, 1, e5),
                                       hu_view_of(rows[i].b, 1, e5), &model);
      x.c = hu_view_of(&rows[i].c, 1, binary32);
      assert_int_equal(hu_dot(&x, NULL), HU_OK);
      if (z != (ieee ? rows[i].expected : 0)) fail_msg("row %zu, %s: %08x", i, text, (unsigned)z);
    }
  }
}

/* A NaN that only a scale brings in raises nothing, as one in an element does; what is invalid without it stays so. */
static void nan_scales(void **state) {
  (void)state;
  static const struct {
    uint8_t a, sa;
    int invalid;
  } rows[] = {{0x3C, 0x7F, 0}, {0x3C, 0xFF, 0}, {0x7E, 0x7F, 0}, {0x7D, 0xFF, 1}, {0x7C, 0xFF, 1}};
  const hu_type binary32 = type_of("binary32"), e5 = type_of("float8_e5m2"), e8 = type_of("float8_e8m0fnu");
  const hu_mode rne = {0};
  const uint8_t b = 0, sb = 0x7F; /* 0: an infinite a makes the product invalid */
  hu_accum model;
  assert_int_equal(hu_accum_parse(&model, "block(align,l=1,f=25,emin=-133,every=1,scale=float8_e8m0fnu)", NULL), HU_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t exceptions;
    hu_product x = hu_product_of_dot(1, hu_output_of(NULL, 1, binary32), hu_view_of(&rows[i].a, 1, e5),
                                     hu_view_of(&b, 1, e5), &model);
    x.sa = hu_view_of(&rows[i].sa, 1, e8);
    x.sb = hu_view_of(&sb, 1, e8);
    assert_int_equal(hu_dot_exceptions(&exceptions, &x, rne), HU_OK);
    if (exceptions != (rows[i].invalid ? HU_EVENT_INVALID : 0u)) fail_msg("row %zu: %x", i, (unsigned)exceptions);
  }
}

/* C alone overflows where a step rounds it, also where all products are zeros; the result does not show it. */
static void zeros_beside_a_large_c(void **state) {
  static const char *const models[] = {"seq(binary16)", "block(exact,l=1,out=binary16)",
                                       "block(exact,l=4,c=last,out=binary16)"};
  const hu_type half = type_of("binary16");
  const uint16_t a = 0, b = 0x3C00;
  const uint32_t large = 0x47800000, most = 0x477FE000; /* 65536; 65504, the largest number of binary16 */
  const hu_mode rne = {0};
  (void)state;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    hu_accum model;
    uint32_t exceptions;
    hu_product x =
        hu_product_of_dot(1, hu_floats_out(NULL, 1), hu_view_of(&a, 1, half), hu_view_of(&b, 1, half), &model);
    x.c = hu_codes(&large, 1, hu_format_ieee(8, 23, 0));
    assert_int_equal(hu_accum_parse(&model, models[i], NULL), HU_OK);
    assert_int_equal(hu_dot_exceptions(&exceptions, &x, rne), HU_OK);
    if (exceptions != HU_EVENT_OVERFLOW) fail_msg("%s: %x", models[i], (unsigned)exceptions);
    x.c.data = &most;
    assert_int_equal(hu_dot_exceptions(&exceptions, &x, rne), HU_OK);
    if (exceptions) fail_msg("%s of 65504: %x", models[i], (unsigned)exceptions);
  }
}

/* ---- microscaled groups ---- */

enum { SCALES = 3, SCALED_MOST = SCALES * 32 };

/* The draft's fp_scaled_gemm for one element, C in binary32: per group of n products S, rounded as rnd says, times the
 * rounded product of both scales, and that added to C; three roundings in the mode of frm. */
static uint32_t scaled_groups_of(int bulk, unsigned n, unsigned bs, unsigned k, const encoding *c, const uint32_t *a,
                                 const uint32_t *b, const uint8_t *sa, const uint8_t *sb, hu_mode frm, hu_mode rnd,
                                 uint32_t acc) {
  const hu_format format = hu_format_ieee(8, 23, 0), e8m0 = type_of("float8_e8m0fnu").format;
  const hu_type binary32 = type_of("binary32"), element = type_of(c->name);
  const hu_accum exact = {0};
  for (unsigned first = 0; first < k; first += n) {
    uint32_t s = 0, scale = hu_mul(format, frm, e8m0, sa[first / bs], e8m0, sb[first / bs], 0, NULL);
    flags raised = {0, 0};
    uint8_t a8[32], b8[32];
    for (unsigned i = 0; i < n; i++) {
      a8[i] = (uint8_t)a[first + i];
      b8[i] = (uint8_t)b[first + i];
    }
    hu_product x = hu_product_of_dot(n, hu_output_of(&s, 1, binary32), hu_view_of(a8, 1, element),
                                     hu_view_of(b8, 1, element), &exact);
    hu_how how = {.mode = rnd};
    assert_int_equal(hu_dot(&x, &how), HU_OK);
    if (bulk) s = bulk_normalised((int)n, c, c, a + first, b + first, NULL, &raised);
    if (!(s << 1)) s = 0; /* a sum of products that is zero is +0 here */
    acc = hu_add(format, frm, format, acc, format, hu_mul(format, frm, format, scale, format, s, 0, NULL), 0, NULL);
  }
  return acc;
}

/* Scales near 1; far away, so that their product, or the scaled group, leaves binary32; NaN now and then. */
static uint8_t draw_scale(t_random *random, unsigned kind) {
  if (kind == 0) return (uint8_t)(120 + t_below(random, 15));
  if (kind == 1) return (uint8_t)(t_below(random, 2) ? 200 + t_below(random, 55) : t_below(random, 50));
  return (uint8_t)t_next32(random);
}

/* Few of the codes are special, since there are 96 to a sum. */
static uint32_t draw_number(t_random *random, const encoding *c) {
  uint32_t code = draw_code(random, c, 0);
  t_factor factor = take_apart(c, code);
  return (factor.nan || factor.inf) && t_below(random, 100) ? code ^ 1u << c->m : code;
}

static void scaled_groups(void **state) {
  static const uint8_t modes[] = {HU_RNE, HU_RTZ, HU_RTN, HU_RTP, HU_RNA};
  static const char *const names[] = {"rne", "rtz", "rtn", "rtp", "rna"};
  const hu_type binary32 = type_of("binary32"), scale = type_of("float8_e8m0fnu");
  long nans = 0, infinities = 0, zeros = 0, numbers = 0;
  (void)state;
  t_random random = {t_seed(__func__, 73)};
  for (unsigned i = 0; i < 12000; i++) {
    const encoding *c = i & 1 ? &e4m3 : &e5m2;
    unsigned m = t_below(&random, 5), guard = t_below(&random, 5), n = 1u << guard, bs = t_below(&random, 2) ? 16 : 32,
             bulk = t_below(&random, 2);
    unsigned k = bs * SCALES, kind = t_below(&random, 8) ? t_below(&random, 2) : 2;
    int rto = bulk || t_below(&random, 2);
    uint32_t a[SCALED_MOST], b[SCALED_MOST], vd = draw_vd(&random, 0), z;
    uint8_t a8[SCALED_MOST], b8[SCALED_MOST], sa[SCALES], sb[SCALES];
    char text[200];
    hu_accum model;
    for (unsigned j = 0; j < k; j++) {
      a8[j] = (uint8_t)(a[j] = draw_number(&random, c));
      b8[j] = (uint8_t)(b[j] = draw_number(&random, c));
    }
    for (unsigned j = 0; j < SCALES; j++) sa[j] = draw_scale(&random, kind), sb[j] = draw_scale(&random, kind);
    if (bulk)
      snprintf(text, sizeof text,
               "block(align,l=%u,f=%u,emin=-4096,every=%u,cut=odd,c=last,last=%s,scaling=sum,scale=float8_e8m0fnu,"
               "round=rto,over=inf)",
               n, 23 + guard, bs, names[m]);
    else
      snprintf(text, sizeof text, "block(exact,l=%u,every=%u,c=last,last=%s,scaling=sum,scale=float8_e8m0fnu,round=%s)",
               n, bs, names[m], rto ? "rto" : names[m]);
    assert_int_equal(hu_accum_parse(&model, text, NULL), HU_OK);
    hu_mode frm = {.round = modes[m]}, rnd = {.round = rto ? HU_RTO : modes[m]};
    uint32_t expected = scaled_groups_of((int)bulk, n, bs, k, c, a, b, sa, sb, frm, rnd, vd);
    hu_product x = hu_product_of_dot(k, hu_output_of(&z, 1, binary32), hu_view_of(a8, 1, type_of(c->name)),
                                     hu_view_of(b8, 1, type_of(c->name)), &model);
    x.c = hu_view_of(&vd, 1, binary32);
    x.sa = hu_view_of(sa, 1, scale);
    x.sb = hu_view_of(sb, 1, scale);
    assert_int_equal(hu_dot(&x, NULL), HU_OK);
    if (z != expected) fail_msg("%s, C %08x: %08x, not %08x", text, (unsigned)vd, (unsigned)z, (unsigned)expected);
    nans += (expected & 0x7FFFFFFF) > 0x7F800000;
    infinities += (expected & 0x7FFFFFFF) == 0x7F800000;
    zeros += expected << 1 == 0;
    numbers += (expected & 0x7F800000) != 0x7F800000 && expected << 1 != 0;
  }
  if (!(nans > 100 && infinities > 100 && zeros > 10 && numbers > 5000))
    fail_msg("%ld NaNs, %ld infinities, %ld zeros, %ld numbers", nans, infinities, zeros, numbers);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets),
                                     cmocka_unit_test(modes_of_frm),
                                     cmocka_unit_test(exact_groups),
                                     cmocka_unit_test(zeros_by_hand),
                                     cmocka_unit_test(nan_scales),
                                     cmocka_unit_test(scaled_groups),
                                     cmocka_unit_test(zeros_beside_a_large_c)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
