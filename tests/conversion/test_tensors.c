/* SPDX-License-Identifier: MIT */
/* Presets of scaled tensors: those of Tenstorrent's packers against the steps of their texts, in integers; the codes of
 * Transformer Engine's reference under scales of zero; the others against hu_scaled_encode; refusals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/conversion.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { ROWS = 5, COLS = 1100, LD = COLS + 3, BLOCK = 16, BLOCKS = (COLS + BLOCK - 1) / BLOCK, LDS = BLOCKS + 2 };

/* A matrix in codes, larger than it has to be: what lies around it stays as it was. */
typedef struct coded {
  uint8_t codes[ROWS * LD], scales[ROWS * LDS];
  float tensor;
} coded;

static hu_scaled place_of(coded *z) { return (hu_scaled){z->codes, LD, z->scales, LDS, &z->tensor}; }

static hu_conversion named(const char *name) {
  hu_conversion c;
  memset(&c, 0, sizeof c);
  if (hu_conversion_find(&c, name) != HU_OK) fail_msg("no preset %s", name);
  return c;
}

/* ---- Tenstorrent ---- */

/* Normal numbers whose exponents lie within a few of their block's, half of them with few digits, so that halves of
 * steps are met; zeros of both signs. */
static void draw_blocks(t_random *random, float *x) {
  uint32_t base = 0;
  for (int i = 0; i < ROWS * LD; i++) {
    if (i % LD % BLOCK == 0) base = 40 + t_below(random, 170);
    uint32_t u = t_next32(random), digits = u & 0x7FFFFF, few = t_below(random, 20);
    if (u & 0x40000000) digits &= ~0u << few;
    x[i] = t_float((u & 0x80000000) | (base - t_below(random, 12)) << 23 | digits);
    if (t_below(random, 30) == 0) x[i] = u & 1 ? -0.0f : 0;
  }
}

/* A number as a packer has it: digits times a power of two. */
typedef struct t_piece {
  uint32_t sign, exponent, digits;
} t_piece;

/* The early conversion into E8M6: seven digits, ties away; no zero has a sign. */
static t_piece early(float x) {
  uint32_t u = t_bits32(x), exponent = u >> 23 & 255;
  t_piece piece = {u >> 31, exponent, ((u & 0x7FFFFF) + 0x800000 + 0x10000) >> 17};
  if (exponent == 0) return (t_piece){0, 0, 0};
  if (piece.digits < 128) return piece;
  piece.digits = 64;
  piece.exponent++;
  return piece;
}

/* The late conversion: moved down to the block's exponent, the half that is lost counts; then cut to `width` digits. */
static uint32_t packed_code(t_piece piece, uint32_t shared, unsigned width) {
  uint32_t down = shared - piece.exponent, kept = piece.digits;
  if (down > 0) kept = down > 8 ? 0 : (piece.digits >> down) + (piece.digits >> (down - 1) & 1);
  kept >>= 7 - width;
  return kept ? piece.sign << width | kept : 0;
}

/* tt-metal's convert_u32_to_bfp: 24 digits moved down and cut, then to nearest even, at most the largest. */
static uint32_t host_code(float x, uint32_t shared, unsigned width) {
  uint32_t u = t_bits32(x), down = shared - (u >> 23 & 255), cut = 24 - width, most = (1u << width) - 1;
  if (!(u & 0x7FFFFFFF)) return 0;
  uint32_t digits = down > 23 ? 0 : ((u & 0x7FFFFF) | 0x800000) >> down, kept = digits >> cut;
  uint32_t lost = digits & ((1u << cut) - 1), half = 1u << (cut - 1);
  kept += lost > half || (lost == half && (kept & 1));
  if (kept > most) kept = most;
  return kept ? u >> 31 << width | kept : 0;
}

static uint32_t exponent_of(const float *x, size_t n, int host) {
  uint32_t most = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t e = host ? t_bits32(x[i]) >> 23 & 255 : early(x[i]).exponent;
    if (e > most) most = e;
  }
  return most;
}

static void compare_block(const char *name, const float *x, size_t n, unsigned width, int host, const uint8_t *codes,
                          uint32_t scale) {
  uint32_t shared = exponent_of(x, n, host);
  if (scale != shared) fail_msg("%s: scale %u, not %u", name, (unsigned)scale, (unsigned)shared);
  for (size_t i = 0; i < n; i++) {
    uint32_t expected = host ? host_code(x[i], shared, width) : packed_code(early(x[i]), shared, width);
    if (codes[i] != expected)
      fail_msg("%s: %a under 2^%d gives %02x, not %02x", name, (double)x[i], (int)shared - 127, codes[i],
               (unsigned)expected);
  }
}

/* What lies between the rows is untouched. */
static void look_around(const char *name, const coded *z) {
  for (int i = 0; i < ROWS; i++) {
    for (int j = COLS; j < LD; j++)
      if (z->codes[i * LD + j] != 0xA5) fail_msg("%s: codes beyond row %d", name, i);
    for (int j = BLOCKS; j < LDS; j++)
      if (z->scales[i * LDS + j] != 0xA5) fail_msg("%s: scales beyond row %d", name, i);
  }
}

/* Values of the codes, and the same in one go, also in place. */
static void compare_values(const hu_conversion *c, const coded *z, const float *x) {
  static float decoded[ROWS * LD], made[ROWS * LD];
  hu_scaling scaling;
  coded copy = *z;
  hu_scaled place = place_of(&copy);
  assert_int_equal(hu_scaling_parse(&scaling, c->scaling, NULL), HU_OK);
  assert_int_equal(hu_scaled_decode(ROWS, COLS, decoded, LD, &place, &scaling, NULL), HU_OK);
  assert_int_equal(hu_conversion_scaled_quantize(ROWS, COLS, made, LD, x, LD, c, NULL, NULL, NULL, NULL), HU_OK);
  for (int i = 0; i < ROWS; i++) assert_memory_equal(made + i * LD, decoded + i * LD, COLS * sizeof *made);
  memcpy(made, x, sizeof made);
  assert_int_equal(hu_conversion_scaled_quantize(ROWS, COLS, made, LD, made, LD, c, NULL, NULL, NULL, NULL), HU_OK);
  for (int i = 0; i < ROWS; i++) assert_memory_equal(made + i * LD, decoded + i * LD, COLS * sizeof *made);
}

static void under_packer(t_random *random, const char *name, unsigned width) {
  static float x[ROWS * LD];
  static hu_scaled_stats stats[ROWS * BLOCKS];
  int host = strstr(name, "host") != NULL;
  hu_conversion c = named(name);
  hu_exec threads = {2, 0, {3, 4}, {0}};
  for (int round = 0; round < 6; round++) {
    coded z;
    hu_scaled place = place_of(&z);
    hu_events events = {0};
    draw_blocks(random, x);
    memset(&z, 0xA5, sizeof z);
    place.tensor = NULL;
    assert_int_equal(hu_conversion_scaled_encode(ROWS, COLS, &place, x, LD, &c, NULL, stats, &threads, &events), HU_OK);
    look_around(name, &z);
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLS; j += BLOCK) {
        size_t n = COLS - j < BLOCK ? (size_t)(COLS - j) : BLOCK;
        uint32_t scale = z.scales[i * LDS + j / BLOCK];
        compare_block(name, x + i * LD + j, n, width, host, z.codes + i * LD + j, scale);
        assert_int_equal(stats[i * BLOCKS + j / BLOCK].scale, scale);
      }
    uint64_t to_zero = 0, saturated = 0;
    for (int i = 0; i < ROWS * BLOCKS; i++) {
      to_zero += stats[i].to_zero;
      saturated += stats[i].saturated;
    }
    assert_true(to_zero == events.to_zero && saturated == events.saturated);
    assert_true(width == 7 ? !host == !saturated : to_zero > 0);
    compare_values(&c, &z, x);
  }
}

static void tenstorrent(void **state) {
  t_random random = {t_seed("conversion-tensors", 830)};
  (void)state;
  under_packer(&random, "tt.bfp8.packer", 7);
  under_packer(&random, "tt.bfp4.packer", 3);
  under_packer(&random, "tt.bfp2.packer", 1);
  under_packer(&random, "tt.bfp8.host", 7);
  under_packer(&random, "tt.bfp4.host", 3);
  under_packer(&random, "tt.bfp2.host", 1);
}

/* One block in literals: a number that the first rounding takes to the next power of two, which the second then sees;
 * a tie of the second; and what BFP4 loses by its cut. */
static void by_hand(void **state) {
  static const float x[4] = {1.9921875f, 1.2421875f, 0x1.4p-5f, -0x1p-9f};
  static const struct {
    const char *name;
    uint8_t scale, code[4];
  } rows[] = {{"tt.bfp8.packer", 128, {0x40, 0x28, 0x01, 0x00}},
              {"tt.bfp4.packer", 128, {0x4, 0x2, 0, 0}},
              {"tt.bfp2.packer", 128, {1, 0, 0, 0}},
              {"tt.bfp8.host", 127, {0x7F, 0x50, 0x02, 0x00}},
              {"tt.bfp4.host", 127, {0x7, 0x5, 0, 0}},
              {"tt.bfp2.host", 127, {1, 1, 0, 0}}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hu_conversion c = named(rows[i].name);
    uint8_t codes[4], scale;
    hu_scaled z = {codes, 4, &scale, 1, NULL};
    assert_int_equal(hu_conversion_scaled_encode(1, 4, &z, x, 4, &c, NULL, NULL, NULL, NULL), HU_OK);
    assert_int_equal(scale, rows[i].scale);
    for (int j = 0; j < 4; j++)
      if (codes[j] != rows[i].code[j]) fail_msg("%s: element %d is %02x", rows[i].name, j, codes[j]);
  }
}

/* ---- Transformer Engine ---- */

/* Blocks next to others 2^40 as large: most of their scales round to zero. */
static void draw_small(t_random *random, float *x) {
  for (int i = 0; i < ROWS * LD; i++) {
    uint32_t u = t_next32(random), low = i % LD / BLOCK % 3;
    x[i] = t_float((u & 0x807FFFFF) | (low == 2 ? t_below(random, 6) : low ? 80 + t_below(random, 20) : 125) << 23);
    if (t_below(random, 10) == 0) x[i] = u & 1 ? -0.0f : 0;
  }
}

static void transformer_engine(void **state) {
  static float x[ROWS * LD], own[ROWS * LD], raised[ROWS * LD];
  t_random random = {t_seed("conversion-tensors", 831)};
  hu_conversion plain = named("te.nvfp4"), c = named("te.nvfp4.reference"), e2m1 = named("ocp.fp4_e2m1");
  coded a, b;
  hu_scaled za = place_of(&a), zb = place_of(&b);
  long zeros = 0, others = 0;
  (void)state;
  draw_small(&random, x);
  assert_int_equal(hu_conversion_scaled_encode(ROWS, COLS, &za, x, LD, &plain, NULL, NULL, NULL, NULL), HU_OK);
  assert_int_equal(hu_conversion_scaled_encode(ROWS, COLS, &zb, x, LD, &c, NULL, NULL, NULL, NULL), HU_OK);
  assert_true(a.tensor == b.tensor);
  for (int i = 0; i < ROWS; i++) {
    assert_memory_equal(a.scales + i * LDS, b.scales + i * LDS, BLOCKS);
    for (int j = 0; j < COLS; j++) {
      float v = x[i * LD + j];
      int zero = a.scales[i * LDS + j / BLOCK] == 0;
      uint32_t expected = zero ? hu_conversion_encode(&e2m1, v * 0x1.fffffep127f, 0, NULL) : a.codes[i * LD + j];
      if (v == 0 && signbit(v)) expected = 0;
      if (b.codes[i * LD + j] != expected)
        fail_msg("%a gives %x, not %x", (double)v, b.codes[i * LD + j], (unsigned)expected);
      zeros += zero && expected;
      others += !zero;
    }
  }
  assert_true(zeros > 1000 && others > 1000);
  assert_int_equal(hu_conversion_scaled_quantize(ROWS, COLS, own, LD, x, LD, &plain, NULL, NULL, NULL, NULL), HU_OK);
  assert_int_equal(hu_conversion_scaled_quantize(ROWS, COLS, raised, LD, x, LD, &c, NULL, NULL, NULL, NULL), HU_OK);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      float v = x[i * LD + j], expected = v == 0 ? 0 : own[i * LD + j];
      if (!t_same32(raised[i * LD + j], expected))
        fail_msg("the value of %a is %a", (double)v, (double)raised[i * LD + j]);
    }
  compare_values(&c, &b, x);
}

/* ---- all presets of scaled tensors ---- */

/* A preset without steps is hu_scaled_encode; threads and random words are handed on. */
static void plain_presets(void **state) {
  static float x[ROWS * LD];
  static uint32_t z[2][ROWS * LD], scales[2][ROWS * LD];
  t_random random = {t_seed("conversion-tensors", 832)};
  hu_exec exec = {2, 0, {7, 9}, {0}};
  int seen = 0;
  (void)state;
  draw_blocks(&random, x);
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion c = hu_conversion_at(i).conversion;
    hu_scaling scaling;
    float tensor[2] = {0, 0};
    hu_events events[2] = {{0}, {0}};
    if (!*c.scaling || *c.through || c.codes || hu_limits_of(c.first).width) continue;
    c.mode.round = HU_SRA;
    c.mode.bits = 5;
    assert_int_equal(hu_scaling_parse(&scaling, c.scaling, NULL), HU_OK);
    hu_scaled a = {z[0], LD, scales[0], LD, scaling.tensor ? &tensor[0] : NULL};
    hu_scaled b = {z[1], LD, scales[1], LD, scaling.tensor ? &tensor[1] : NULL};
    assert_int_equal(hu_scaled_encode(ROWS, COLS, &a, x, LD, &scaling, c.mode, NULL, NULL, &exec, &events[0]), HU_OK);
    assert_int_equal(hu_conversion_scaled_encode(ROWS, COLS, &b, x, LD, &c, NULL, NULL, &exec, &events[1]), HU_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(scales[0], scales[1], sizeof scales[0]);
    assert_true(t_same32(tensor[0], tensor[1]) && t_same_events(&events[0], &events[1]));
    seen++;
  }
  assert_true(seen > 10);
}

static void refusals(void **state) {
  static float x[2 * BLOCK];
  hu_conversion good = named("tt.bfp4.host"), c;
  coded z;
  hu_scaled place = place_of(&z);
  float amax = -1;
  (void)state;
  assert_int_equal(hu_conversion_check(&good), HU_OK);
  memset(&z, 0x5A, sizeof z);
#define REFUSED(change, status)                                                                                    \
  do {                                                                                                             \
    c = good;                                                                                                      \
    change;                                                                                                        \
    assert_int_equal(hu_conversion_check(&c), status);                                                             \
    assert_int_equal(hu_conversion_scaled_encode(1, BLOCK, &place, x, BLOCK, &c, NULL, NULL, NULL, NULL), status); \
    assert_int_equal(z.codes[0], 0x5A);                                                                            \
  } while (0)
  REFUSED(c.through = "bfp(24,8,32)", HU_E_SCALING); /* other blocks */
  REFUSED(c.through = "nvfp4", HU_E_SCALING);        /* a second level */
  REFUSED(c.through = "nonsense", HU_E_SCALING);
  REFUSED((c.scaling = "", c.format = hu_binary16()), HU_E_SCALING);
  REFUSED(c.codes = HU_SCALED_CODES_RAISED, HU_E_SCALING);
  REFUSED(c.codes = HU_SCALED_CODES_RAISED + 1, HU_E_SCALING);
  REFUSED((c.first_mode.round = HU_SRA, c.first_mode.bits = 8), HU_E_MODE);
  REFUSED(c.first = hu_format_ieee(11, 23, 0), HU_E_FORMAT);
  REFUSED(c.first = hu_format_ieee(9, 20, 0), HU_E_SCALING); /* more than binary32 holds */
  REFUSED(c.through = "", HU_E_MODE);                        /* a mode of no step */
#undef REFUSED
  c = named("ocp.mxfp4");
  c.first = hu_binary16();
  assert_int_equal(hu_conversion_check(&c), HU_OK);
  c = named("te.fp8_e4m3.tensor");
  c.first = hu_binary16();
  assert_int_equal(hu_conversion_check(&c), HU_E_SCALING); /* a block is all of the tensor */
  c = named("cuda.half.rn");
  assert_int_equal(hu_conversion_scaled_encode(1, BLOCK, &place, x, BLOCK, &c, NULL, NULL, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_conversion_scaled_encode(1, BLOCK, NULL, x, BLOCK, &good, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_conversion_scaled_encode(1, BLOCK, &place, x, 3, &good, NULL, NULL, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_conversion_scaled_encode(1, BLOCK, &place, x, BLOCK, &good, &amax, NULL, NULL, NULL),
                   HU_E_SCALING);
  assert_int_equal(hu_conversion_scaled_quantize(1, BLOCK, x + 1, BLOCK, x, BLOCK, &good, NULL, NULL, NULL, NULL),
                   HU_E_OVERLAP);
  hu_output to = hu_matrix_out_of(x, BLOCK, hu_type_plain(HU_TYPE_HIF4_VALUES));
  hu_view from = hu_matrix_floats(x, BLOCK);
  assert_int_equal(hu_conversion_apply_scaled(1, BLOCK, &to, &from, &good, NULL, NULL, NULL), HU_E_FORMAT);
  assert_int_equal(hu_conversion_apply_scaled(1, BLOCK, NULL, &from, &good, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_conversion_apply_scaled(1, BLOCK, &to, NULL, &good, NULL, NULL, NULL), HU_E_NULL);
  c = named("te.nvfp4.reference");
  x[0] = -0.0f;
  assert_int_equal(hu_conversion_scaled_quantize(1, BLOCK, x, BLOCK, x, BLOCK, &c, &amax, NULL, NULL, NULL),
                   HU_E_SCALING);
  assert_true(signbit(x[0]) && z.codes[0] == 0x5A);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tenstorrent), cmocka_unit_test(by_hand),
                                     cmocka_unit_test(transformer_engine), cmocka_unit_test(plain_presets),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("presets of scaled tensors", tests, NULL, NULL);
}
