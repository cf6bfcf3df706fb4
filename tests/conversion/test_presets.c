/* SPDX-License-Identifier: MIT */
/* Presets of conversions: all valid, names, refusals, worked examples, and every call against the steps of the header
 * done one by one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/conversion.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { OPERANDS = 3000, BIG = 700, STRIDE = 3 };

static hu_conversion named(const char *name) {
  hu_conversion c;
  memset(&c, 0, sizeof c);
  if (hu_conversion_find(&c, name) != HU_OK) fail_msg("no preset %s", name);
  return c;
}

static int same_record(const hu_conversion *a, const hu_conversion *b) {
  return hu_format_equal(a->format, b->format) && hu_format_equal(a->first, b->first) &&
         !memcmp(&a->mode, &b->mode, sizeof a->mode) && !memcmp(&a->first_mode, &b->first_mode, sizeof a->first_mode) &&
         a->operand == b->operand && a->nan == b->nan && a->nan64 == b->nan64 && a->nan_code == b->nan_code &&
         a->nan_made == b->nan_made && !strcmp(a->scaling, b->scaling) && !strcmp(a->through, b->through) &&
         a->codes == b->codes && !memcmp(a->further, b->further, sizeof a->further);
}

static void test_every_preset(void **state) {
  (void)state;
  assert_true(hu_conversion_count() > 90);
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion_entry entry = hu_conversion_at(i);
    hu_conversion c = named(entry.name);
    if (hu_conversion_check(&entry.conversion) != HU_OK) fail_msg("%s is not valid", entry.name);
    assert_true(same_record(&c, &entry.conversion));
    assert_non_null(strchr(entry.name, '.'));
    assert_true(*entry.stands && *entry.tested);
    for (size_t j = 0; j < i; j++) assert_string_not_equal(hu_conversion_at(j).name, entry.name);
  }
  assert_null(hu_conversion_at(hu_conversion_count()).name);
  assert_null(hu_conversion_at(SIZE_MAX).name);
}

static void test_names(void **state) {
  static const char *const none[] = {"",
                                     "cuda",
                                     "cuda.",
                                     "cuda.fp8_e4m3",
                                     "CUDA.half.rn",
                                     "torch.float8_e4m3fn ",
                                     "qtorch.float",
                                     "qtorch.float(1,3)",
                                     "qtorch.float(8,3)",
                                     "qtorch.float(4,0)",
                                     "qtorch.float(4,23)",
                                     "qtorch.float(04,3)",
                                     "qtorch.float(4,3",
                                     "qtorch.float(4,3)x",
                                     "qtorch.float(4;3)",
                                     "qtorch.float(99999999999,3)",
                                     "path(binary16)"};
  (void)state;
  hu_conversion c, before;
  memset(&c, 0x5A, sizeof c);
  before = c;
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    if (hu_conversion_find(&c, none[i]) != HU_E_NAME) fail_msg("'%s' was found", none[i]);
    assert_memory_equal(&c, &before, sizeof c);
  }
  assert_int_equal(hu_conversion_find(&c, NULL), HU_E_NULL);
  assert_int_equal(hu_conversion_find(NULL, "cuda.half.rn"), HU_E_NULL);
  /* Every pair of parameters; the two of the list are what the parameters give. */
  for (int e = 2; e <= 7; e++)
    for (int m = 1; m <= 22; m++) {
      char name[32];
      snprintf(name, sizeof name, "qtorch.float(%d,%d)", e, m);
      c = named(name);
      assert_int_equal(hu_conversion_check(&c), HU_OK);
      assert_true(c.format.e == e && c.format.m == m && c.mode.round == HU_RNA);
      assert_int_equal(hu_limits_of(c.first).emin, hu_limits_of(c.format).emin);
    }
}

/* What was read, as a text of its own: each format and mode. */
static void show(char text[512], const hu_conversion *c) {
  char format[HU_FORMAT_TEXT_MAX], mode[8];
  size_t n = 0;
  hu_conversion_step steps[4] = {{c->first, c->first_mode}, c->further[0], c->further[1], {c->format, c->mode}};
  for (int i = 0; i < 4; i++) {
    if (!hu_limits_of(steps[i].format).width) continue;
    hu_format_text(format, sizeof format, steps[i].format);
    n += (size_t)snprintf(text + n, 512 - n, "%s %s %d|", format, hu_mode_round_text(mode, steps[i].mode),
                          steps[i].mode.saturate);
  }
}

static void test_paths(void **state) {
  static const char *const good[][2] = {
      {"path(binary16:rtz,float8_e4m3fn)", "fp(5,10,0) rtz 0|fp(4,3,0):fn rne 0|"},
      {"path(fp(4,3,0):fn,nosub,fp(2,1,0):finite)", "fp(4,3,0):fn,nosub rne 0|fp(2,1,0):finite rne 0|"},
      {"path(fp(4,3,0):fn,nosub:rna:finite,fp(2,1,0):finite:rtp:finite)",
       "fp(4,3,0):fn,nosub rna 2|fp(2,1,0):finite rtp 2|"},
      {"path(binary32,bfloat16:rto,binary16,float8_e5m2:sra:12:none)",
       "fp(8,23,0) rne 0|fp(8,7,0) rto 0|fp(5,10,0) rne 0|fp(5,2,0):nan=ieee1 sra:12 1|"}};
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } wrong[] = {{"", HU_E_TEXT, 0},
               {"torch.bfloat16", HU_E_TEXT, 0},
               {"path", HU_E_TEXT, 4},
               {"path()", HU_E_TEXT, 5},
               {"path(binary16)", HU_E_TEXT, 13},
               {"path(binary16,)", HU_E_TEXT, 14},
               {"path(binary16,bfloat16", HU_E_TEXT, 22},
               {"path(binary16,bfloat16)x", HU_E_TEXT, 23},
               {"path(binary16,bfloat17)", HU_E_NAME, 14},
               {"path(binary16:rtx,bfloat16)", HU_E_TEXT, 14},
               {"path(binary16:finite,bfloat16)", HU_E_TEXT, 14},
               {"path(binary16:rtz:rtz,bfloat16)", HU_E_TEXT, 14},
               {"path(binary16:sra:8,bfloat16)", HU_E_MODE, 5},
               {"path(bfloat16,binary16:sra:8,bfloat16)", HU_E_MODE, 14},
               {"path(binary16, bfloat16)", HU_E_TEXT, 14},
               {"path(binary16,bfloat16,binary16,bfloat16,binary16)", HU_E_TEXT, 41},
               {"path(mxfp4,binary16)", HU_E_NAME, 5},
               {"path(posit8,binary16)", HU_E_NAME, 5}};
  char text[512];
  size_t where = 0;
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    hu_conversion c = named(good[i][0]);
    assert_int_equal(hu_conversion_check(&c), HU_OK);
    show(text, &c);
    assert_string_equal(text, good[i][1]);
    hu_conversion once = hu_conversion_once(&c);
    assert_int_equal(hu_conversion_check(&once), HU_OK);
    show(text, &once);
    const char *last = good[i][1];
    for (const char *next = last; next; next = strstr(next + 1, "fp(")) last = next;
    assert_string_equal(text, last);
  }
  hu_conversion c = named("numpy.float16"), before = c;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    hu_status status = hu_conversion_parse(&c, wrong[i].text, &where);
    if (status != wrong[i].status || where != wrong[i].where)
      fail_msg("'%s': %s at %zu", wrong[i].text, hu_status_text(status), where);
    assert_memory_equal(&c, &before, sizeof c);
  }
  assert_int_equal(hu_conversion_parse(NULL, "path(binary16,bfloat16)", NULL), HU_E_NULL);
  assert_int_equal(hu_conversion_parse(&c, NULL, NULL), HU_E_NULL);
}

/* Numbers that one rounding and two bring to different codes, as values. */
static void test_twice(void **state) {
  static const char *const by[] = {"path(binary32,float8_e4m3fn)", "path(bfloat16,float8_e4m3fn)",
                                   "path(binary16,float8_e4m3fn)", "path(binary16:rtz,float8_e4m3fn)"};
  static const struct {
    float x;
    double z[4];
  } examples[] = {{1.0625f + 0x1p-23f, {1.125, 1, 1, 1}},
                  {1.0625f + 0x1p-9f, {1.125, 1, 1.125, 1.125}},
                  {1.1875f - 0x1p-12f, {1.125, 1.25, 1.25, 1.125}}};
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    for (int k = 0; k < 4; k++) {
      hu_conversion c = named(by[k]);
      double z = hu_decode64(c.format, hu_conversion_encode(&c, examples[i].x, 0, NULL));
      if (z != examples[i].z[k]) fail_msg("%a by %s gives %g", (double)examples[i].x, by[k], z);
    }
}

static void test_refusals(void **state) {
  hu_conversion good = named("numpy.float16"), c;
  float x = 1, v;
  uint16_t z = 7;
  uint32_t events = 0;
  (void)state;
  assert_int_equal(hu_conversion_check(NULL), HU_E_NULL);
#define REFUSED(change, status)                                                        \
  do {                                                                                 \
    c = good;                                                                          \
    change;                                                                            \
    assert_int_equal(hu_conversion_check(&c), status);                                 \
    assert_int_equal(hu_conversion_encode_n(1, &z, 1, &x, 1, &c, NULL, NULL), status); \
    assert_int_equal(hu_conversion_encode(&c, x, 0, &events), 0);                      \
    assert_int_equal(events, HU_EVENT_INVALID);                                        \
    assert_true(isnan(hu_conversion_operand64(&c, 1)));                                \
    assert_int_equal(z, 7);                                                            \
  } while (0)
  REFUSED(c.format.m = 31, HU_E_FORMAT);
  REFUSED(c.first = hu_format_ieee(11, 23, 0), HU_E_FORMAT);
  REFUSED(c.mode.round = HU_ROUND_COUNT, HU_E_MODE);
  REFUSED(c.first_mode.round = HU_RTZ, HU_E_MODE);
  REFUSED((c.first = c.format, c.first_mode.round = HU_SRA, c.first_mode.bits = 8), HU_E_MODE);
  REFUSED(c.further[0].format = c.format, HU_E_SCALING); /* no first format */
  REFUSED((c.first = c.format, c.further[1].format = c.format), HU_E_FORMAT);
  REFUSED((c.first = c.format, c.further[0].format = hu_format_ieee(11, 31, 0)), HU_E_FORMAT);
  REFUSED((c.first = c.format, c.further[0].mode.round = HU_RTZ), HU_E_MODE);
  REFUSED((c.first = c.further[0].format = c.format, c.further[0].mode.round = HU_SRA, c.further[0].mode.bits = 8),
          HU_E_MODE);
  REFUSED(c.operand = 1u << 6, HU_E_SCALING);
  REFUSED(c.operand = HU_OPERAND_FLUSH, HU_E_SCALING);
  REFUSED(c.nan_made = HU_NAN_MADE_CANONICAL + 1, HU_E_SCALING);
  REFUSED(c.nan = HU_NAN_BY_PAYLOAD + 1, HU_E_SCALING);
  REFUSED(c.nan64 = HU_NAN_BY_CODE, HU_E_SCALING); /* nan_code: none */
  REFUSED((c.nan = HU_NAN_BY_CODE, c.nan_code = 0x10000), HU_E_SCALING);
  REFUSED((c.nan = HU_NAN_BY_SIGN, c.nan_code = 0x10000), HU_E_SCALING);
  REFUSED((c.format = hu_format_fn(4, 3, 0)), HU_E_SCALING); /* by payload */
  REFUSED(c.scaling = NULL, HU_E_SCALING);
  REFUSED(c.scaling = "mxfp4", HU_E_SCALING); /* another element, and NaN rules */
#undef REFUSED
  c = named("ocp.mxfp4");
  assert_int_equal(hu_conversion_check(&c), HU_OK);
  uint8_t z8 = 7;
  assert_int_equal(hu_conversion_encode_n(1, &z8, 1, &x, 1, &c, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_conversion_encode(&c, x, 0, &events), 0);
  assert_int_equal(z8, 7);
  c.first = c.further[0].format = hu_format_ieee(8, 7, 0); /* a first format alone goes with rows of blocks */
  assert_int_equal(hu_conversion_check(&c), HU_E_SCALING);
  c = named("cuda.half.rn");
  assert_int_equal(hu_conversion_encode_n(1, &z, 0, &x, 1, &c, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_conversion_encode_n(1, NULL, 1, &x, 1, &c, NULL, NULL), HU_E_NULL);
  c.format = hu_format_ieee(11, 20, 0);
  assert_int_equal(hu_conversion_quantize_n(1, &v, 1, &x, 1, &c, NULL, NULL), HU_E_CARRIER);
  assert_int_equal(hu_conversion_encode_n(0, NULL, 1, NULL, 1, &good, NULL, NULL), HU_OK);
}

/* ---- what the originals are known for, in literals ---- */

static void test_examples64(void **state) {
  static const struct {
    const char *name;
    double x;
    uint32_t code;
  } examples[] = {
      {"cuda.fp8_e4m3.satfinite", 1000, 0x7E},
      {"cuda.fp8_e4m3.nosat", 1000, 0x7F},
      {"cuda.fp8_e4m3.nosat", -1000, 0xFF},
      {"cuda.fp8_e4m3.satfinite", -HUGE_VAL, 0xFE},
      {"cuda.fp8_e8m0.rp.satfinite", -3, 0x81},
      {"cuda.fp8_e8m0.rz.satfinite", -3, 0x80},
      {"cuda.fp8_e8m0.rz.nosat", HUGE_VAL, 0xFF},
      {"torch.float8_e4m3fn", HUGE_VAL, 0x7E},
      {"torch.float8_e4m3fnuz", 1e9, 0x80},
      {"torch.float8_e8m0fnu", -3, 0x81},
      {"torch.float8_e8m0fnu", 0x1.4p-127, 0x01},
      {"torch.bfloat16", 0x1.0100000001p+0, 0x3F80},
      {"ml_dtypes.float8_e4m3fn", 465, 0x7F},
      {"ml_dtypes.float8_e4m3fn", 464, 0x7E},
      {"ml_dtypes.float8_e4m3fn", 0x1.d000000001p+2, 0x4E},
      {"jax.float8_e4m3fn", 0x1.d000000001p+2, 0x4F},
      {"ml_dtypes.float8_e8m0fnu", 0, 0xFF},
      {"ml_dtypes.float8_e8m0fnu", -2, 0xFF},
      {"ml_dtypes.float8_e8m0fnu", 3, 0x81},
      {"ml_dtypes.float4_e2m1fn", HUGE_VAL, 0x7},
      {"jax.bfloat16", 0x1p-130, 0x0000},
      {"ml_dtypes.bfloat16", 0x1p-130, 0x0008},
      {"onnx.float8e8m0.up.saturate", 0x1.8p127, 0xFE},
      {"onnx.float8e8m0.up.saturate", HUGE_VAL, 0xFF},
      {"onnx.float8e8m0.up.saturate", 0x1p-127, 0x01},
      {"cuda.fp8_e8m0.rp.satfinite", 0x1p-127, 0x00},
      {"onnx.float8e4m3fnuz.saturate", HUGE_VAL, 0x7F},
      {"ocp.fp8_e5m2.saturating", HUGE_VAL, 0x7B},
      {"ocp.fp8_e5m2.nonsaturating", 61440, 0x7C},
      {"chop.b", 0x1p-127, 0x0080},
      {"chop.b", 0x1.fp-128, 0x0000},
      {"chop.q43", 248, 0x78},
      {"qtorch.float(4,3)", 1e9, 0x7F},
      {"qtorch.float(4,3)", 0x1.1p0, 0x39},
      {"qtorch.float(4,3)", -0x1p-40, 0x00},
      {"riscv.e4m3", -1000, 0x7F},
      {"riscv.e4m3", -HUGE_VAL, 0x7F},
      {"riscv.e4m3", 1000, 0x7F},
      {"riscv.e4m3", -464, 0xFE},
      {"riscv.e4m3", -0x1p-40, 0x80},
      {"riscv.e5m2", 61440, 0x7C},
      {"riscv.e5m2", -0x1p15 * (1.875 - 0x1p-20), 0xFB},
      {"riscv.e5m2", -HUGE_VAL, 0xFC},
      {"riscv.e5m2.sat", 61440, 0x7B},
      {"riscv.e5m2.sat", -HUGE_VAL, 0xFB},
      {"riscv.e5m2.sat", -0x1p-40, 0x80},
      {"riscv.e4m3.sat", -1000, 0xFE},
      {"riscv.e4m3.sat", -HUGE_VAL, 0xFE},
      {"intel.vcvtph2bf8", 61440, 0x7C},
      {"intel.vcvtph2bf8s", -HUGE_VAL, 0xFB},
      {"intel.vcvtph2hf8", -465, 0xFF},
      {"intel.vcvtph2hf8s", 465, 0x7E},
      {"intel.vcvtbiasph2bf8", 1.875, 0x3F},
      {"intel.vcvt2ps2phx", 65520, 0x7C00},
  };
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    hu_conversion c = named(examples[i].name);
    uint32_t code = hu_conversion_encode64(&c, examples[i].x, 0, NULL);
    if (code != examples[i].code)
      fail_msg("%s: %a gives %x, not %x", examples[i].name, examples[i].x, code, examples[i].code);
  }
}

/* The text of PTX in integers: random bits are added to the digits of |x| that are cut off, a carry rounds away. */
static uint32_t carried(uint32_t pattern, uint32_t random, int digits, int saturates) {
  uint32_t cut = 23 - (uint32_t)digits, sign = pattern >> 31 << 15, magnitude = pattern & 0x7FFFFFFF;
  uint32_t largest = digits == 10 ? 0x7C00 : 0x7F80;
  if (magnitude > 0x7F800000) return 0x7FFF;
  uint32_t code = (magnitude + (magnitude < 0x7F800000 ? random : 0)) >> cut;
  if (digits == 10) code -= 112 << 10; /* biases 127 and 15 */
  return sign | (code < largest ? code : largest - (uint32_t)saturates);
}

static void test_packed_random_bits(void **state) {
  static const struct {
    const char *name;
    int digits, saturates;
  } rows[] = {{"ptx.cvt.rs.f16x2", 10, 0},
              {"ptx.cvt.rs.satfinite.f16x2", 10, 1},
              {"ptx.cvt.rs.bf16x2", 7, 0},
              {"ptx.cvt.rs.satfinite.bf16x2", 7, 1}};
  t_random random = {2027};
  (void)state;
  for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
    hu_conversion c = named(rows[row].name);
    uint32_t bits = 23 - (uint32_t)rows[row].digits;
    assert_int_equal(c.mode.bits, bits);
    for (uint32_t i = 0; i < 0x40000; i++) {
      uint32_t x = (i & 0xFFFF) << 16 | (t_next32(&random) & 0xFFFF), magnitude = x & 0x7FFFFFFF;
      uint32_t drawn = i >> 16 == 0 ? 0 : i >> 16 == 1 ? (1u << bits) - 1 : t_next32(&random) >> (32 - bits);
      if (rows[row].digits == 10 && magnitude < 0x38800000) continue; /* below 2^-14 the text has no place for them */
      uint32_t code = hu_conversion_encode(&c, t_float(x), drawn, NULL);
      uint32_t expected = carried(x, drawn, rows[row].digits, rows[row].saturates);
      if (code != expected)
        fail_msg("%s: %08x with %x gives %x, not %x", rows[row].name, (unsigned)x, (unsigned)drawn, (unsigned)code,
                 (unsigned)expected);
    }
  }
}

static void test_example_nans(void **state) {
  static const struct {
    const char *name;
    uint32_t x, code;
  } examples[] = {
      {"cuda.fp8_e5m2.nosat", 0xFFC00000, 0x7F},
      {"cuda.half.rn", 0xFFC00000, 0x7FFF},
      {"cuda.fp4_e2m1.rn", 0xFFC00000, 0x7},
      {"torch.float8_e4m3fn", 0xFFC00000, 0xFF},
      {"torch.float8_e5m2", 0xFF800001, 0xFF},
      {"torch.bfloat16", 0x7FC00000, 0xFFFF},
      {"torch.float16", 0xFF812345, 0xFE09},
      {"numpy.float16", 0xFF812345, 0xFC09},
      {"numpy.float16", 0x7F800001, 0x7C01},
      {"jax.float16", 0x7F800001, 0x7E00},
      {"ml_dtypes.float8_e5m2", 0xFFC00000, 0xFE},
      {"ml_dtypes.float4_e2m1fn", 0x7FC00000, 0x8},
      {"ml_dtypes.float4_e2m1fn", 0xFFC00000, 0x0},
      {"jax.float4_e2m1fn", 0xFFC00000, 0x8},
      {"ml_dtypes.float6_e3m2fn", 0x7FC00000, 0x20},
      {"ml_dtypes.float8_e4m3fnuz", 0xFFC00000, 0x80},
      {"torch.float8_e8m0fnu", 0xFFC00000, 0xFF},
      {"qtorch.float(5,2)", 0xFFC00000, 0xFF},
      {"ocp.fp8_e4m3.saturating", 0xFFC00000, 0x7F},
      {"riscv.e4m3", 0xFFC00000, 0x7F},
      {"riscv.e5m2", 0xFFC00000, 0x7F},
      {"riscv.e5m2.sat", 0x7F800001, 0x7F},
      {"intel.vcvtph2bf8", 0xFF802000, 0xFE},
      {"intel.vcvtph2bf8s", 0x7FA00000, 0x7F},
      {"intel.vcvtbiasph2hf8s", 0xFF800001, 0xFF},
      {"intel.vcvt2ps2phx", 0x7F802000, 0x7E01},
  };
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    hu_conversion c = named(examples[i].name);
    uint32_t code = hu_conversion_encode(&c, t_float(examples[i].x), 0, NULL);
    if (code != examples[i].code)
      fail_msg("%s: %08x gives %x, not %x", examples[i].name, examples[i].x, code, examples[i].code);
  }
  hu_conversion c = named("cuda.fp8_e5m2.nosat"); /* binary64 NaNs keep what binary32 ones lose */
  assert_int_equal(hu_conversion_encode64(&c, t_double(0xFFF0000000000001), 0, NULL), 0xFE);
  assert_int_equal(hu_conversion_encode64(&c, t_double(0x7FF4000000000001), 0, NULL), 0x7F);
  c = named("torch.bfloat16");
  assert_int_equal(hu_conversion_encode64(&c, t_double(0xFFF8000000000000), 0, NULL), 0x7FC0);
}

/* ---- the header's steps, one by one ---- */

static uint32_t nan_of(const hu_conversion *c, unsigned rule, int negative, uint64_t digits, uint32_t *events) {
  uint32_t by_mode = hu_encode64(c->format, c->mode, NAN, 0, events), m = c->format.m;
  uint32_t sign = (uint32_t)negative << (c->format.e + m), code = c->nan_code == HU_NO_CODE ? by_mode : c->nan_code;
  uint32_t field = (uint32_t)(((1u << c->format.e) - 1) << m), kept = (uint32_t)(digits >> (52 - m));
  switch (rule) {
    case HU_NAN_BY_MODE: return by_mode;
    case HU_NAN_BY_CODE: return c->nan_code;
    case HU_NAN_BY_SIGN: return code ^ sign;
    case HU_NAN_BY_QUIET: return sign | field | kept | 1u << (m - 1);
    default: return sign | field | (kept ? kept : 1);
  }
}

/* `bits`: the operand as binary64; wide: it is one, not a binary32 number. */
static uint32_t step_by_step(const hu_conversion *c, uint64_t bits, int wide, uint32_t random, uint32_t *events) {
  const hu_mode rne = {0};
  double x = t_double(bits);
  int negative = (int)(bits >> 63), nan = isnan(x), none = hu_limits_of(c->first).width == 0;
  uint64_t digits = bits & 0xFFFFFFFFFFFFF;
  if (wide && !nan && (c->operand & HU_OPERAND_BINARY32)) {
    x = hu_quantize64(hu_format_ieee(8, 23, 0), rne, x, 0, NULL);
    if ((c->operand & HU_OPERAND_FLUSH) && fabs(x) < 0x1p-126) x = negative ? -0.0 : 0;
  }
  if (c->operand & HU_OPERAND_MAGNITUDE) {
    x = fabs(x);
    negative = 0;
  }
  int made = ((c->operand & HU_OPERAND_ZERO_NAN) && x == 0) || ((c->operand & HU_OPERAND_INF_NAN) && isinf(x)) ||
             ((c->operand & HU_OPERAND_NEGATIVE_NAN) && negative);
  if (made && !nan) digits = 0x8000000000000;
  if (nan || made) return nan_of(c, wide ? c->nan64 : c->nan, negative, digits, events);
  if (!none) x = hu_quantize64(c->first, c->first_mode, x, 0, NULL);
  for (int i = 0; i < HU_CONVERSION_FURTHER && hu_limits_of(c->further[i].format).width; i++)
    x = hu_quantize64(c->further[i].format, c->further[i].mode, x, 0, NULL);
  uint32_t code = hu_encode64(c->format, c->mode, x, random, events), ignored;
  if (!c->nan_made || !isnan(hu_decode64(c->format, code))) return code;
  return hu_encode64(c->format, c->mode, NAN, 0, &ignored);
}

static uint64_t draw64(t_random *random, hu_format format) {
  uint32_t kind = t_below(random, 8);
  if (kind == 0) return t_next64(random) | 0x7FF0000000000000u;
  return t_bits64(t_random_operand(random, kind & 1 ? format : hu_format_ieee(8, 7, 0)));
}

static uint32_t draw32(t_random *random, hu_format format) {
  uint32_t kind = t_below(random, 8);
  if (kind == 0) return t_next32(random) | 0x7F800000u;
  return kind == 1 ? t_next32(random) : t_bits32((float)t_random_operand(random, format));
}

/* The bits of a binary32 number or NaN as binary64: digits and sign kept. */
static uint64_t wide_bits(uint32_t u) {
  if ((u & 0x7FFFFFFF) <= 0x7F800000) return t_bits64((double)t_float(u));
  return (uint64_t)(u >> 31) << 63 | 0x7FF0000000000000u | (uint64_t)(u & 0x7FFFFF) << 29;
}

/* The presets, and behind them two whose first format has no NaN, or has one where numbers overflow, and paths. */
static const char *const paths[] = {"path(bfloat16,float8_e4m3fn)", "path(binary16:rtz,bfloat16:rna,float8_e5m2:rto)",
                                    "path(binary32:rto,float8_e4m3fn:rne:none,float6_e3m2fn,float4_e2m1fn:sra:7)"};
enum { OWN = 2 + sizeof paths / sizeof *paths };
static hu_conversion_entry entry_at(size_t i) {
  size_t own = i - hu_conversion_count();
  if (i < hu_conversion_count()) return hu_conversion_at(i);
  if (own > 1 && own < OWN) return (hu_conversion_entry){paths[own - 2], "", "", "", named(paths[own - 2])};
  hu_conversion_entry entry = {"first fp(5,2,0):finite", "", "", "", named("numpy.float16")};
  entry.conversion.first = hu_format_finite(5, 2, 0);
  if (own == 1) {
    entry.name = "first fp(4,3,0):fn";
    entry.conversion.first = hu_format_fn(4, 3, 0);
    entry.conversion.first_mode.saturate = HU_SAT_NONE;
    entry.conversion.nan = entry.conversion.nan64 = HU_NAN_BY_CODE;
    entry.conversion.nan_code = 0xFE01;
  }
  return entry;
}

static void test_one_value(void **state) {
  t_random random = {t_seed("conversion", 1)};
  (void)state;
  for (size_t i = 0; i < hu_conversion_count() + OWN; i++) {
    hu_conversion_entry entry = entry_at(i);
    const hu_conversion *c = &entry.conversion;
    if (*c->scaling) continue;
    for (int k = 0; k < OPERANDS; k++) {
      uint32_t events = 0, model_events = 0, word = t_next32(&random), u32 = draw32(&random, c->format);
      uint64_t u64 = draw64(&random, c->format);
      uint32_t code = hu_conversion_encode(c, t_float(u32), word, &events);
      uint32_t model = step_by_step(c, wide_bits(u32), 0, word, &model_events);
      if (code != model || events != model_events) fail_msg("%s: %08x gives %x, not %x", entry.name, u32, code, model);
      code = hu_conversion_encode64(c, t_double(u64), word, &events);
      model = step_by_step(c, u64, 1, word, &model_events);
      if (code != model || events != model_events)
        fail_msg("%s: %016llx gives %x, not %x", entry.name, (unsigned long long)u64, code, model);
    }
  }
}

/* R of element k, where the mode draws. */
static uint32_t word_of(const hu_conversion *c, hu_stream stream, int k) {
  return c->mode.bits ? hu_stream_word(stream, (uint64_t)k) >> (32 - c->mode.bits) : 0;
}

/* Arrays: strides, more than a block, values, in place, events, two threads. */
static void test_arrays(void **state) {
  static float x32[BIG * STRIDE], v32[BIG * 2];
  static double x64[BIG * STRIDE], v64[BIG * 2];
  static uint32_t z[BIG * 2];
  t_random random = {t_seed("conversion arrays", 1)};
  const hu_exec exec = {2, 0, {1, 2}, {0}};
  (void)state;
  for (size_t i = 0; i < hu_conversion_count() + OWN; i++) {
    hu_conversion_entry entry = entry_at(i);
    const hu_conversion *c = &entry.conversion;
    size_t size = hu_limits_of(c->format).storage / 8;
    hu_events sum = {0}, got = {0};
    if (*c->scaling) continue;
    for (int k = 0; k < BIG; k++) {
      uint32_t u = draw32(&random, c->format);
      uint64_t w = draw64(&random, c->format);
      memcpy(&x32[k * STRIDE], &u, sizeof u);
      memcpy(&x64[k * STRIDE], &w, sizeof w);
    }
    assert_int_equal(hu_conversion_encode_n(BIG, z, 2, x32, STRIDE, c, &exec, &got), HU_OK);
    assert_int_equal(hu_conversion_quantize_n(BIG, v32, 2, x32, STRIDE, c, &exec, NULL), HU_OK);
    for (int k = 0; k < BIG; k++) {
      uint32_t events, u;
      memcpy(&u, &x32[k * STRIDE], sizeof u);
      uint32_t code = step_by_step(c, wide_bits(u), 0, word_of(c, exec.stream, k), &events);
      hu_events_count(&sum, events);
      if (t_get(z, size, k * 2) != code) fail_msg("%s: element %d, %08x", entry.name, k, u);
      assert_true(t_same32(v32[k * 2], hu_decode(c->format, code)));
    }
    assert_true(t_same_events(&sum, &got));
    memset(&sum, 0, sizeof sum);
    memset(&got, 0, sizeof got);
    assert_int_equal(hu_conversion_encode64_n(BIG, z, 2, x64, STRIDE, c, &exec, &got), HU_OK);
    assert_int_equal(hu_conversion_quantize64_n(BIG, v64, 2, x64, STRIDE, c, &exec, NULL), HU_OK);
    assert_int_equal(hu_conversion_quantize_n(BIG, x32, STRIDE, x32, STRIDE, c, &exec, NULL), HU_OK);
    for (int k = 0; k < BIG; k++) {
      uint32_t events, word = word_of(c, exec.stream, k);
      uint32_t code = step_by_step(c, t_bits64(x64[k * STRIDE]), 1, word, &events);
      hu_events_count(&sum, events);
      if (t_get(z, size, k * 2) != code) fail_msg("%s: element %d, %a", entry.name, k, x64[k * STRIDE]);
      assert_true(t_same64(v64[k * 2], hu_decode64(c->format, code)));
      assert_true(t_same32(v32[k * 2], x32[k * STRIDE]));
    }
    assert_true(t_same_events(&sum, &got));
  }
}

/* A stochastic mode of one's own in a conversion with steps: word i belongs to element i, beyond a block too. */
static void test_random_words(void **state) {
  static float x[BIG];
  static uint8_t z[BIG];
  hu_conversion c = named("torch.float8_e5m2");
  const hu_exec exec = {1, 0, {5, 99}, {0}};
  (void)state;
  c.mode.round = HU_SRA;
  c.mode.bits = 12;
  for (int k = 0; k < BIG; k++) x[k] = 1.0f + (float)k / 4096;
  assert_int_equal(hu_conversion_encode_n(BIG, z, 1, x, 1, &c, &exec, NULL), HU_OK);
  for (uint64_t k = 0; k < BIG; k++)
    assert_int_equal(z[k], hu_conversion_encode(&c, x[k], hu_stream_word(exec.stream, k) >> 20, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_preset),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_examples64),
      cmocka_unit_test(test_example_nans),
      cmocka_unit_test(test_one_value),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_random_words),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_twice),
      cmocka_unit_test(test_packed_random_bits),
  };
  return cmocka_run_group_tests_name("presets of conversions", tests, NULL, NULL);
}
