/* SPDX-License-Identifier: MIT */
/* Which operands a model takes: errors of hu_dot, the formats of units, the border of what is taken, and right sums
 * there. */
#include <stdio.h>
#include <string.h>

#include "halfulp/gemm.h"
#include "halfulp/number.h"
#include "tests/accum/draws.h"
#include "tests/accum/reference.h"
#include "tests/support/cmocka.h"

/* ---- errors ---- */

typedef struct t_call {
  hu_product x;
  hu_accum accum;
  hu_how how;
} t_call;

static void parse(t_call *call, const char *text) { assert_int_equal(hu_accum_parse(&call->accum, text, NULL), HU_OK); }
static void no_a(t_call *call) { call->x.a.data = NULL; }
static void no_z(t_call *call) { call->x.d.data = NULL; }
static void bad_model(t_call *call) { call->accum.kind = HU_ACCUM_COUNT; }
static void bad_mode(t_call *call) { call->how.mode.round = HU_ROUND_COUNT; }
static void bad_format(t_call *call) { call->x.b.type.format.e = 12; }
static void bad_result(t_call *call) { call->x.d.type.kind = HU_TYPE_INT8; }
static void no_stride(t_call *call) { call->x.d.row = 0; }
static void many_columns(t_call *call) { call->x.n = 2; }
static void no_columns(t_call *call) { call->x.n = 0; }
static void no_type(t_call *call) { call->x.a.type = hu_type_plain(HU_TYPE_NONE); }
static void no_result_type(t_call *call) { call->x.d.type = hu_type_plain(HU_TYPE_NONE); }
static void no_type_of_c(t_call *call) { call->x.c.data = call->x.a.data; }
static void values(t_call *call) { call->x.b.type.kind = HU_TYPE_VALUES32; }
static void unknown_kind(t_call *call) { call->x.b.type.kind = HU_TYPE_INT32 + 1; }
static void reserved_type(t_call *call) { call->x.a.type.reserved = 1; }
static void of_a_number_system(t_call *call) {
  static const hu_number number;
  call->x.b.type.number = &number;
}
static void taken_number(t_call *call) {
  static const hu_number number;
  call->accum.a.number = &number;
}
static void no_model(t_call *call) { call->x.accum = NULL; }
static void odd_pointer(t_call *call) { call->x.a.data = (const uint8_t *)call->x.a.data + 1; }
static void integers_expected(t_call *call) { parse(call, "int32"); }
static void no_scales(t_call *call) { parse(call, "nv.blackwell.mxfp8.e4m3"); }
static void wrong_scales(t_call *call) {
  parse(call, "nv.blackwell.mxfp8.e4m3");
  call->x.sa = call->x.sb = call->x.a;
}
static void needless_scales(t_call *call) { call->x.sa = call->x.a; }
static void wide_c(t_call *call) {
  parse(call, "any(nv.volta.f16.f16)");
  call->x.c = call->x.a;
  call->x.c.type.format = hu_format_ieee(8, 7, 0);
}
static void wide_for_groups(t_call *call) {
  parse(call, "any(nv.blackwell.nvfp4.b16.ue4m3)");
  call->x.sa = call->x.sb = call->x.a;
  call->x.sa.type.format = call->x.sb.type.format = call->accum.block.scale;
}
static void as_too_small(t_call *call) {
  parse(call, "any(nv.hopper.e4m3.f32.mma)");
  call->x.a.type.format = hu_format_ieee(8, 7, 0);
}
static void carrier(t_call *call) {
  parse(call, "fp32");
  call->x.a.type.format = hu_format_ieee(11, 4, 0);
}
static void directed64(t_call *call) {
  call->x.d.type = hu_type_plain(HU_TYPE_BINARY64);
  call->how.mode.round = HU_RTZ;
}
static void binary64_in_seq(t_call *call) {
  parse(call, "seq(binary32)");
  call->x.a.type = hu_type_plain(HU_TYPE_BINARY64);
}

/* Operands are binary16 unless said otherwise. */
static void unit_of_others(t_call *call) { parse(call, "nv.hopper.e4m3.f32.wgmma"); }
static void unit_of_integers(t_call *call) {
  parse(call, "nv.turing.s8.s32");
  call->x.d.type = hu_type_plain(HU_TYPE_INT32);
  call->x.a.type = hu_type_plain(HU_TYPE_INT8);
  call->x.b.type = hu_type_plain(HU_TYPE_UINT8);
}
static void unit_b(t_call *call) {
  parse(call, "nv.ampere.f16.f32");
  call->x.b.type.format = hu_format_ieee(8, 7, 0);
}
static void unit_c(t_call *call) {
  parse(call, "nv.ampere.f16.f32");
  call->x.c = call->x.a;
}
static void far_rows(t_call *call) { call->x.a.row = PTRDIFF_MAX / 2; }
static void far_elements(t_call *call) { call->x.b.stride = PTRDIFF_MIN / 4; }
static void far_results(t_call *call) { call->x.d.row = PTRDIFF_MIN; }
static void over_a(t_call *call) { call->x.d.data = (void *)(uintptr_t)call->x.a.data; }
static void over_half_of_c(t_call *call) {
  call->x.c = call->x.a;
  call->x.c.data = (const uint8_t *)call->x.d.data;
  call->x.c.row = 2;
}
static void own_unit(t_call *call) { parse(call, "takes(any,float8_e4m3fn,any,fp32)"); }

static void errors(void **state) {
  static const struct {
    hu_status status;
    void (*spoil)(t_call *call);
  } rows[] = {{HU_E_NULL, no_a},
              {HU_E_NULL, no_z},
              {HU_E_ACCUM, bad_model},
              {HU_E_MODE, bad_mode},
              {HU_E_FORMAT, bad_format},
              {HU_E_ACCUM, bad_result},
              {HU_E_SHAPE, no_stride},
              {HU_E_SHAPE, many_columns},
              {HU_E_SHAPE, no_columns},
              {HU_E_FORMAT, no_type},
              {HU_E_FORMAT, no_result_type},
              {HU_E_FORMAT, no_type_of_c},
              {HU_E_FORMAT, values},
              {HU_E_FORMAT, unknown_kind},
              {HU_E_FORMAT, reserved_type},
              {HU_E_FORMAT, of_a_number_system},
              {HU_E_ACCUM, taken_number},
              {HU_E_NULL, no_model},
              {HU_E_SHAPE, far_rows},
              {HU_E_SHAPE, far_elements},
              {HU_E_SHAPE, far_results},
              {HU_E_OVERLAP, over_a},
              {HU_E_OVERLAP, over_half_of_c},
              {HU_E_ALIGN, odd_pointer},
              {HU_E_ACCUM, integers_expected},
              {HU_E_NULL, no_scales},
              {HU_E_ACCUM, wrong_scales},
              {HU_E_ACCUM, needless_scales},
              {HU_E_ACCUM, wide_c},
              {HU_E_ACCUM, wide_for_groups},
              {HU_E_ACCUM, as_too_small},
              {HU_E_CARRIER, carrier},
              {HU_E_MODE, directed64},
              {HU_E_ACCUM, binary64_in_seq},
              {HU_E_OPERAND_A, unit_of_others},
              {HU_E_OPERAND_B, unit_of_integers},
              {HU_E_OPERAND_B, unit_b},
              {HU_E_OPERAND_C, unit_c},
              {HU_E_OPERAND_B, own_unit}};
  static uint64_t data[8], z[4];
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const hu_view x = hu_codes(data, 1, hu_format_ieee(5, 10, 0));
    t_call call = {0};
    hu_events events = {0}, none = {0};
    parse(&call, "seq(binary16)");
    call.x = hu_product_of_dot(3, hu_codes_out(z, 1, x.type.format), x, x, &call.accum);
    call.x.m = 2;
    call.x.d.row = 1;
    assert_int_equal(hu_dot(&call.x, NULL), HU_OK);
    rows[i].spoil(&call);
    call.how.events = &events;
    t_fill_pattern(z, sizeof z);
    hu_status status = hu_dot(&call.x, &call.how);
    if (status != rows[i].status)
      fail_msg("row %zu: %s, not %s", i, hu_status_name(status), hu_status_name(rows[i].status));
    assert_true(t_is_pattern(z, sizeof z) && t_same_events(&events, &none));
  }
}

/* hu_dot of records, with results from z on, `row` apart. */
static hu_status dot_to(hu_product x, size_t m, uint16_t *z, ptrdiff_t row) {
  x.m = m;
  x.d.data = z;
  x.d.row = row;
  return hu_dot(&x, NULL);
}

/* Records of a[3], b[3], c and a place for d: arrays that lie between each other; only bytes in common count. */
static void places(void **state) {
  enum { COUNT = 5, RECORD = 8, TERMS = 3 };
  static uint16_t record[COUNT * RECORD], expected[COUNT];
  static const hu_accum exact;
  const hu_format half = hu_format_ieee(5, 10, 0);
  (void)state;
  for (int i = 0; i < COUNT * RECORD; i++) record[i] = (uint16_t)(0x3C00 + 32 * (i % 19));
  hu_product x = hu_product_of_dot(TERMS, hu_codes_out(NULL, 1, half), hu_codes(record, 1, half),
                                   hu_codes(record + 3, 1, half), &exact);
  x.c = hu_codes(record + 6, 0, half);
  x.a.row = x.b.row = x.c.row = RECORD;
  assert_int_equal(dot_to(x, COUNT, expected, 1), HU_OK);
  for (int at = 0; at < 6; at++) assert_int_equal(dot_to(x, COUNT, record + at, RECORD), HU_E_OVERLAP);
  assert_int_equal(dot_to(x, COUNT, record + 7, RECORD), HU_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(record[i * RECORD + 7], expected[i]);
  assert_int_equal(dot_to(x, COUNT, record + 6, RECORD), HU_OK); /* c's own */
  for (int i = 0; i < COUNT; i++) assert_int_equal(record[i * RECORD + 6], expected[i]);
  assert_int_equal(dot_to(x, 1, record + 2, 0), HU_E_OVERLAP);
  assert_int_equal(dot_to(x, 1, record + 7, 0), HU_OK);
  assert_int_equal(dot_to(x, SIZE_MAX / 4, expected, 1), HU_E_SHAPE);
  assert_int_equal(dot_to(x, 0, record, 1), HU_OK);
}

/* Calls of one dot product refuse others. HU_TYPE_BINARY32 is codes of binary32, in every operand, scales too. */
static void one(void **state) {
  const hu_format single = hu_format_ieee(8, 23, 0);
  const float a[2] = {3, 5}, b[2] = {7, 0.5f}, c = 1, s[2] = {2, 4};
  float z[2] = {0, 0}, other = 0;
  hu_accum model;
  hu_dot_random random = {NULL, 0, 0, 9};
  uint32_t exceptions = 77;
  (void)state;
  assert_int_equal(hu_accum_parse(&model, "promote(1,fp32,binary32,scaled)", NULL), HU_OK);
  hu_product x = hu_product_of_dot(2, hu_floats_out(z, 1), hu_floats(a, 1), hu_floats(b, 1), &model);
  x.c = hu_floats(&c, 1);
  x.sa = hu_floats(s, 1);
  x.sb = hu_codes(s, 1, single);
  assert_int_equal(hu_dot(&x, NULL), HU_OK);
  assert_true(z[0] == 1 + 3 * 7 * 4 + 5 * 0.5f * 16);
  hu_product codes =
      hu_product_of_dot(2, hu_codes_out(&other, 1, single), hu_codes(a, 1, single), hu_codes(b, 1, single), &model);
  codes.c = hu_codes(&c, 1, single);
  codes.sa = codes.sb = x.sb;
  assert_int_equal(hu_dot(&codes, NULL), HU_OK);
  assert_true(z[0] == other);
  x.m = 2;
  x.d.row = 1;
  other = z[0];
  assert_int_equal(hu_dot_words(&x, &random, NULL), HU_E_SHAPE);
  assert_int_equal(hu_dot_exceptions(&exceptions, &x, t_mode(HU_RNE)), HU_E_SHAPE);
  assert_int_equal(hu_dot_words(&x, NULL, NULL), HU_E_NULL);
  assert_true(z[0] == other && z[1] == 0 && exceptions == 77 && random.roundings == 9);
  x.m = 0;
  assert_int_equal(hu_dot_words(&x, &random, NULL), HU_E_SHAPE);
  assert_int_equal(hu_dot(NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_dot_exceptions(&exceptions, NULL, t_mode(HU_RNE)), HU_E_NULL);
}

/* The largest groups that are taken: sums that fill 62 bits, at the ends of the operands' range. One digit more is
 * refused. */
static void largest_groups(void **state) {
  static const uint8_t codes[] = {0x1F, 0x3F, 0x1F, 0x1F, 0x01, 0x21, 0x1E, 0}; /* 28, -28, least ones */
  static t_dot x;
  t_random random = {t_seed("largest groups", 17)};
  (void)state;
  memset(&x, 0, offsetof(t_dot, at));
  x.a = x.b = dot_element("float6_e3m2fn");
  x.c = dot_element("binary32");
  assert_int_equal(hu_format_parse(&x.scale, "float8_e8m0fnu", NULL), HU_OK);
  x.n = 512;
  x.scales = 64;
  float z;
  const hu_view operand = hu_view_of(codes, 0, x.a);
  hu_product in = hu_product_of_dot(x.n, hu_floats_out(&z, 1), operand, operand, &x.accum);
  in.sa = in.sb = hu_codes(codes, 0, x.scale);
  assert_int_equal(
      hu_accum_parse(&x.accum, "block(groups,l=1024,f=40,emin=-200,g=8,every=8,scale=float8_e8m0fnu)", NULL), HU_OK);
  assert_int_equal(hu_dot(&in, NULL), HU_E_ACCUM);
  assert_int_equal(
      hu_accum_parse(&x.accum, "block(groups,l=512,f=40,emin=-200,g=8,every=8,scale=float8_e8m0fnu)", NULL), HU_OK);
  assert_int_equal(hu_dot(&in, NULL), HU_OK);
  for (unsigned round = 0; round < 300; round++) {
    uint32_t events, expected_events, kinds = round % 3 == 0 ? 1 : round % 3 == 1 ? 3 : 8;
    for (size_t k = 0; k < x.n; k++) {
      x.at[k] = codes[t_below(&random, kinds)];
      x.bt[k] = codes[t_below(&random, kinds)];
    }
    for (size_t j = 0; j < x.scales; j++) {
      x.sa[j] = 127 + (round % 5 ? t_below(&random, 1 + round % 40) : 0);
      x.sb[j] = 127 - (round % 7 ? t_below(&random, 1 + round % 20) : 0);
    }
    x.mode = round % 2 ? t_random_mode(&random) : t_mode(HU_RNE);
    uint64_t got = dot_library(&x, &events), expected = reference_dot(&x, &expected_events);
    if (got != expected || events != expected_events)
      fail_msg("%llx, the reference has %llx: %s", (unsigned long long)got, (unsigned long long)expected, dot_text(&x));
  }
}

/* What units take: their own formats, whatever the NaN that an operation would give; anything under any(...); any C
 * where the unit adds to 0. */
static void units(void **state) {
  static const struct {
    const char *model, *a, *b, *c;
    hu_status status;
  } rows[] = {{"nv.ampere.f16.f32", "binary16", "fp(5,10,0):nan=ieee1", "fp(8,23,0):nan=ieee1", HU_OK},
              {"nv.ampere.f16.f32", "binary16", "binary16", "binary32", HU_OK},
              {"nv.ampere.f16.f32", "fp(5,10,0):ovf=max", "binary16", NULL, HU_OK},
              {"nv.ampere.f16.f32", "fp(5,10,0):flush", "binary16", NULL, HU_E_OPERAND_A},
              {"nv.ampere.f16.f32", "binary16", "binary16", "binary16", HU_E_OPERAND_C},
              {"nv.ampere.f16.f32", "bfloat16", "binary16", NULL, HU_E_OPERAND_A},
              {"nv.hopper.e4m3xe5m2.f32.wgmma", "float8_e4m3fn", "float8_e5m2", "binary32", HU_OK},
              {"nv.hopper.e4m3xe5m2.f32.wgmma", "float8_e5m2", "float8_e4m3fn", "binary32", HU_E_OPERAND_A},
              {"nv.hopper.e4m3xe5m2.f32.wgmma", "float8_e4m3fn", "float8_e4m3fn", NULL, HU_E_OPERAND_B},
              {"nv.hopper.e4m3.f32.wgmma", "float8_e4m3fnuz", "float8_e4m3fn", NULL, HU_E_OPERAND_A},
              {"any(nv.hopper.e4m3.f32.wgmma)", "binary32", "binary16", "binary16", HU_OK},
              {"promote(32,nv.hopper.e4m3.f32.wgmma,binary32)", "float8_e4m3fn", "float8_e4m3fn", "bfloat16", HU_OK},
              {"promote(32,nv.hopper.e4m3.f32.wgmma,binary32)", "float8_e5m2", "float8_e4m3fn", NULL, HU_E_OPERAND_A},
              {"splitk(2,nv.ampere.f16.f32)", "binary16", "binary16", "float8_e4m3fn", HU_OK},
              {"splitk(2,nv.ampere.f16.f32)", "binary16", "tf32", "float8_e4m3fn", HU_E_OPERAND_B},
              {"nv.ampere.tf32.f32", "binary32", "binary32", "binary32", HU_OK},
              {"nv.ampere.tf32.f32", "tf32", "tf32", "binary32", HU_OK},
              {"nv.ampere.tf32.f32", "tf32", "bfloat16", NULL, HU_E_OPERAND_B},
              {"takes(any,float8_e5m2,binary16,seq(binary16))", "bfloat16", "float8_e5m2", "binary16", HU_OK}};
  static uint32_t data[16];
  float z[4];
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *text[3] = {rows[i].a, rows[i].b, rows[i].c};
    hu_view x[3];
    hu_accum model;
    hu_output result = hu_matrix_floats_out(z, 2);
    memset(x, 0, sizeof x);
    assert_int_equal(hu_accum_parse(&model, rows[i].model, NULL), HU_OK);
    for (int t = 0; t < 3 && text[t]; t++) {
      hu_format format;
      assert_int_equal(hu_format_parse(&format, text[t], NULL), HU_OK);
      x[t] = hu_matrix_codes(data, 4, format);
    }
    memset(z, 0x5A, sizeof z);
    hu_status status = hu_gemm(2, 2, 4, &result, &x[0], &x[1], text[2] ? &x[2] : NULL, &model, NULL);
    if (status != rows[i].status)
      fail_msg("row %zu: %s, not %s", i, hu_status_name(status), hu_status_name(rows[i].status));
    for (int t = 0; t < 4; t++) assert_true(status == HU_OK ? z[t] == 0 : ((uint8_t *)z)[4 * t] == 0x5A);
  }
  char said[HU_ACCUM_TEXT_MAX];
  hu_accum model;
  assert_int_equal(hu_accum_parse(&model, "promote(32,nv.hopper.e4m3xe5m2.f32.wgmma,binary32)", NULL), HU_OK);
  assert_int_equal(hu_accum_takes(said, sizeof said, &model), 42);
  assert_string_equal(said, "A float8_e4m3fn, B float8_e5m2, C binary32");
  model = hu_accum_any(model);
  assert_int_equal(hu_accum_takes(said, sizeof said, &model), 0);
  assert_string_equal(said, "");
}

/* A type that is none has no bytes: callers tell a missing one by that. */
static void sizes(void **state) {
  static const unsigned width[] = {0, 0, 0, 0, 32, 64, 8, 8, 4, 4, 32, 0};
  (void)state;
  for (uint16_t kind = 0; kind < sizeof width / sizeof width[0]; kind++) {
    assert_int_equal(hu_type_width(hu_type_plain(kind)), width[kind]);
    assert_int_equal(hu_type_size(hu_type_plain(kind)), (width[kind] + 7) / 8);
  }
  hu_type type = hu_type_codes(hu_format_ieee(5, 9, 0));
  assert_int_equal(hu_type_size(type), 2);
  assert_int_equal(hu_type_width(type), 15);
  type.reserved = 1;
  assert_int_equal(hu_type_size(type), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors),         cmocka_unit_test(places),
                                     cmocka_unit_test(units),          cmocka_unit_test(one),
                                     cmocka_unit_test(largest_groups), cmocka_unit_test(sizes)};
  return cmocka_run_group_tests_name("accum_operands", tests, NULL, NULL);
}
