/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors: sizes that make several tiles under every level and number of threads, the raw forms that
 * a way is said to equal, runs, empty shapes, C's own place, misuse. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "tests/scaled_gemm/product.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"

static const hu_mode rne;

static hu_scaling scaling(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

static hu_accum accum(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

static hu_output plain_result(void *z, size_t ld, hu_format format, int values) {
  return hu_matrix_out_of(z, ld, hu_type_values(values ? HU_TYPE_VALUES32 : HU_TYPE_CODES, format));
}

/* Computes in as much working space as is asked for. */
static hu_status compute(hu_product *x, hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_how how = {mode, exec, events};
  x->bytes = hu_multiply_space(x, exec);
  if (x->bytes == SIZE_MAX) return HU_E_ACCUM;
  x->space = aligned_alloc(64, x->bytes / 64 * 64 + 64);
  assert_non_null(x->space);
  hu_status status = hu_multiply(x, &how);
  free(x->space);
  return status;
}

static hu_status multiply(size_t m, size_t n, size_t k, const hu_output *result, const t_matrix *a, const t_matrix *b,
                          const t_matrix *c, const hu_scaled_sum *sum, hu_mode mode, const hu_exec *exec,
                          hu_events *events) {
  hu_product x = {.m = m, .n = n, .k = k, .d = *result, .a = a->view, .b = b->view, .sum = sum};
  if (c) x.c = c->view;
  return compute(&x, mode, exec, events);
}

/* ---- several tiles ---- */

enum { M = 150, N = 300, K = 96 };
static float first[M * N], other[M * N];

/* Where HU_TEST_COUNT asks for a part, each pair of scalings has a quarter of the ways, others in the next. */
static void test_tiles(void **state) {
  static const char *const scalings[][2] = {{"mxfp8_e4m3", "mxfp8_e4m3"},
                                            {"nvfp4", "nvfp4_te"},
                                            {"mxint8", "msfp13"},
                                            {"dsv3_1x128", "dsv3_128x128"},
                                            {"fp8_tensor", "hbfp8"}};
  static const char *const across[] = {"fp32", "seq2(binary32)", "kahan(binary32)", "seq(binary32,sra:8)", "exact"};
  static const char *const inside[] = {"exact", "any(nv.hopper.e4m3.f32.wgmma)", "seq(binary16,srb:5)"};
  t_random random = {t_seed("scaled-gemm-tiles", 8)};
  size_t calls = 0;
  (void)state;
  for (size_t i = 0; i < 5; i++) {
    t_matrix a, b, c;
    hu_scaling da = scaling(scalings[i][0]), db = scaling(scalings[i][1]);
    matrix_scaled(&a, &random, M, K, &da, 0, DRAW_ENCODED);
    matrix_scaled(&b, &random, K, N, &db, 1, DRAW_ENCODED);
    matrix_plain(&c, &random, M, N, hu_format_ieee(5, 10, 0), 0, 1, DRAW_ENCODED);
    for (size_t way = 0; way < 8; way++) {
      hu_scaled_sum sum = hu_scaled_sum_parts(accum(inside[way < 6 ? 0 : way - 5]), accum(across[way < 5 ? way : 0]),
                                              (uint8_t)((way + i) % HU_SCALED_FACTOR_COUNT));
      if (t_part(100) < 100 && way % 4 != (i + way / 4) % 4) continue;
      if (way == 4) sum = hu_scaled_sum_decoded(accum("seq(binary16,sra:4)"));
      hu_mode mode = way % 2 ? t_stochastic(HU_SRA, 9) : rne;
      hu_format to = way % 2 ? hu_format_ieee(5, 10, 0) : hu_format_ieee(8, 23, 0);
      hu_events reference = {0};
      for (unsigned t = 0; t < 5; t++) {
        static const uint32_t threads[] = {1, 2, 5, 1, 3};
        hu_exec exec = {threads[t], t_levels_off(t % t_levels()), {77, 123456789}, {0}};
        hu_events ev = {0};
        hu_output result = plain_result(t ? other : first, N, to, 1);
        assert_int_equal(multiply(M, N, K, &result, &a, &b, way == 3 ? NULL : &c, &sum, mode, &exec, &ev), HU_OK);
        if (t == 0) reference = ev;
        if (t) assert_memory_equal(first, other, sizeof first);
        assert_true(t_same_events(&ev, &reference));
        calls++;
      }
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
  }
  printf("%zu calls\n", calls);
}

/* A subnormal part times a factor whose leading digit stands at the top of its word: digits far below the sum's lowest
 * place, all of them zeros. */
static void test_tiny_parts(void **state) {
  static const float b[2] = {0x1p-149f, -0x1.4p-147f};
  static const uint8_t codes[2] = {0x08, 0x1C}; /* 1 and 6 of E2M3 */
  float z[4];
  hu_scaling da = scaling("scaled(float6_e2m3fn;scale=ue5m3;block=1x32;rule=ratio)");
  const uint8_t scales[2] = {0x77, 0x0C}; /* 15/16 and 3/2 2^-14 */
  hu_scaled a = {(void *)(uintptr_t)codes, 1, (void *)(uintptr_t)scales, 1, NULL};
  hu_product x = {.m = 2, .n = 2, .k = 1};
  (void)state;
  x.a = hu_scaled_matrix(&a, &da);
  x.b = hu_matrix_floats(b, 2);
  hu_scaled_sum sum = hu_scaled_sum_parts(accum("kahan(binary32)"), accum("exact"), HU_SCALED_FACTOR_EXACT);
  x.sum = &sum;
  x.d = hu_matrix_floats_out(z, 2);
  for (uint32_t off = 0; off < 8; off += 7) {
    hu_exec exec = {1, off, {0, 0}, {0}};
    assert_int_equal(compute(&x, rne, &exec, NULL), HU_OK);
    assert_true(z[0] == 0x1p-149f && z[1] == -5 * 0x1p-149f); /* 15/16 and 75/16 units of 2^-149 */
    assert_true(z[2] == 0 && z[3] == 0 && signbit(z[3]) && !signbit(z[2]));
  }
}

/* Exact factors of two scales that binary32 does not hold, beside those that it does: 2^e of every e from -190 to 190,
 * times a part that brings the product back into binary32. */
static void test_exact_factors(void **state) {
  hu_scaling mx = scaling("mxfp8_e5m2");
  hu_scaled_sum sum = hu_scaled_sum_parts(accum("exact"), accum("fp32"), HU_SCALED_FACTOR_EXACT);
  (void)state;
  for (int e = -190; e <= 190; e++) {
    uint8_t codes[32], sa = (uint8_t)(127 + e / 2), sb = (uint8_t)(127 + e - e / 2);
    double part = e < 0 ? 32 * 57344.0 * 57344.0 : 0x1p-32; /* elements: all the largest, one the smallest */
    memset(codes, e < 0 ? 0x7B : 0, sizeof codes);
    if (e >= 0) codes[0] = 0x01;
    float z = 0;
    hu_scaled a = {codes, 32, &sa, 1, NULL}, b = {codes, 32, &sb, 1, NULL};
    hu_product x = {.m = 1, .n = 1, .k = 32, .sum = &sum};
    x.a = hu_scaled_matrix(&a, &mx);
    x.b = hu_transposed(hu_scaled_matrix(&b, &mx));
    x.d = hu_matrix_floats_out(&z, 1);
    for (unsigned level = 0; level < t_levels(); level++) {
      hu_exec exec = {1, t_levels_off(level), {0, 0}, {0}};
      assert_int_equal(compute(&x, rne, &exec, NULL), HU_OK);
      if (z != (float)ldexp(part, e)) fail_msg("2^%d: %a instead of %a", e, z, ldexp(part, e));
    }
  }
}

/* ---- what a way equals ---- */

/* parts in runs of 128 is promote(128,...,scaled) of the raw call; so is unit, in one go. */
static void test_promotion(void **state) {
  enum { ROWS = 9, COLS = 140, DEPTH = 300 };
  static float z[3][ROWS * COLS];
  static const char *const units[] = {"nv.hopper.e4m3.f32.wgmma", "seq(binary16)", "fp32"};
  t_random random = {t_seed("scaled-gemm-promote", 3)};
  hu_scaling da = scaling("dsv3_1x128"), db = scaling("scaled(float8_e4m3fn;scale=binary32;block=128x1;rule=ratio)");
  t_matrix a, b;
  (void)state;
  matrix_scaled(&a, &random, ROWS, DEPTH, &da, 0, DRAW_ENCODED);
  matrix_scaled(&b, &random, DEPTH, COLS, &db, 0, DRAW_ENCODED);
  for (size_t i = 0; i < 3; i++) {
    char text[128];
    snprintf(text, sizeof text, "promote(128,%s,binary32,scaled)", units[i]);
    hu_accum raw = accum(text);
    hu_events ev[3] = {{0}};
    hu_how how = {.events = &ev[0]};
    hu_product x = {.m = ROWS, .n = COLS, .k = DEPTH, .accum = &raw};
    x.a = hu_matrix_codes(a.codes, a.ld, da.element);
    x.b = hu_matrix_codes(b.codes, b.ld, da.element);
    x.sa = hu_matrix_codes(a.scales, a.lds, da.scale);
    x.sb = hu_matrix_codes(b.scales, b.lds, da.scale);
    x.d = hu_matrix_floats_out(z[0], COLS);
    assert_int_equal(hu_multiply(&x, &how), HU_OK);
    hu_scaled_sum parts = hu_scaled_sum_parts(accum(units[i]), accum("fp32"), HU_SCALED_FACTOR_ROUNDED);
    hu_scaled_sum unit = hu_scaled_sum_unit(raw);
    hu_output d1 = plain_result(z[1], COLS, hu_format_ieee(8, 23, 0), 1),
              d2 = plain_result(z[2], COLS, hu_format_ieee(8, 23, 0), 1);
    assert_int_equal(multiply(ROWS, COLS, DEPTH, &d1, &a, &b, NULL, &parts, rne, NULL, &ev[1]), HU_OK);
    assert_int_equal(multiply(ROWS, COLS, DEPTH, &d2, &a, &b, NULL, &unit, rne, NULL, &ev[2]), HU_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(z[0], z[2], sizeof z[0]);
    assert_true(t_same_events(&ev[0], &ev[1]) && t_same_events(&ev[0], &ev[2]));
  }
  matrix_free(&a);
  matrix_free(&b);
}

/* Unit presets element by element against hu_dot. */
static void test_units(void **state) {
  enum { ROWS = 5, COLS = 6, DEPTH = 128 };
  t_random random = {t_seed("scaled-gemm-units", 4)};
  size_t presets = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    t_matrix a, b;
    static uint32_t z[ROWS * COLS];
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    if (!hu_accum_is_scaled(&preset.accum)) continue;
    hu_scaling da;
    memset(&da, 0, sizeof da);
    da.element = preset.a.format;
    da.scale = preset.accum.block.scale;
    da.rows = 1;
    da.cols = preset.accum.block.every;
    da.rule = HU_SCALE_RATIO;
    hu_scaling db = da;
    db.element = preset.b.format;
    matrix_scaled(&a, &random, ROWS, DEPTH, &da, 0, DRAW_ANY_CODES);
    matrix_scaled(&b, &random, DEPTH, COLS, &db, 1, DRAW_ANY_CODES);
    hu_scaled_sum sum = hu_scaled_sum_unit(preset.accum);
    hu_output result = plain_result(z, COLS, preset.c.format, 0);
    hu_events ev = {0}, count = {0};
    assert_int_equal(multiply(ROWS, COLS, DEPTH, &result, &a, &b, NULL, &sum, rne, NULL, &ev), HU_OK);
    for (size_t e = 0; e < ROWS * COLS; e++) {
      size_t ia = e / COLS, ib = e % COLS;
      uint32_t one = 0;
      hu_product x = hu_product_of_dot(DEPTH, hu_output_of(&one, 1, preset.c),
                                       hu_view_of((uint8_t *)a.codes + ia * a.ld, 1, preset.a),
                                       hu_view_of((uint8_t *)b.codes + ib * b.ld, 1, preset.b), &preset.accum);
      hu_how how = {rne, NULL, &count};
      x.sa = hu_codes((uint8_t *)a.scales + ia * a.lds, 1, da.scale);
      x.sb = hu_codes((uint8_t *)b.scales + ib * b.lds, 1, da.scale);
      assert_int_equal(hu_dot(&x, &how), HU_OK);
      if (one != z[e]) fail_msg("%s: element %zu: %08x, hu_dot %08x", preset.name, e, (unsigned)z[e], (unsigned)one);
    }
    assert_true(t_same_events(&ev, &count));
    matrix_free(&a);
    matrix_free(&b);
    presets++;
  }
  printf("%zu presets\n", presets);
  assert_true(presets >= 50);
}

/* ---- runs ---- */

static void test_runs(void **state) {
  hu_scaling d24 = scaling("scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x24;rule=floor)");
  hu_scaling d32 = scaling("scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=32x1;rule=floor)");
  hu_scaling whole = scaling("fp8_tensor");
  hu_view a = hu_scaled_matrix(NULL, &d24), b = hu_scaled_matrix(NULL, &d32);
  static const size_t starts[] = {0, 24, 32, 48, 64, 72, 96};
  (void)state;
  assert_int_equal(hu_scaled_runs(100, &a, &b), 7);
  for (size_t i = 0; i < 7; i++) assert_int_equal(hu_scaled_run_at(100, &a, &b, i), starts[i]);
  assert_int_equal(hu_scaled_run_at(100, &a, &b, 7), 100);
  assert_int_equal(hu_scaled_runs(96, &a, &b), 6);
  assert_int_equal(hu_scaled_runs(0, &a, &b), 0);
  b = hu_transposed(b); /* columns of one */
  assert_int_equal(hu_scaled_runs(100, &a, &b), 100);
  a.type.scaling = &whole;
  b = hu_matrix_floats(NULL, 100);
  assert_int_equal(hu_scaled_runs(100, &a, &b), 1);
}

/* Against a walk of every position; and at once for any k. */
static void test_many_runs(void **state) {
  static const char *const blocks[] = {"1x1", "1x6", "1x16", "1x24", "1x32", "1x100"};
  hu_scaling of_operand[6];
  hu_view a = hu_scaled_matrix(NULL, NULL), b = hu_transposed(a);
  (void)state;
  for (int i = 0; i < 6; i++) {
    char text[80];
    snprintf(text, sizeof text, "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=%s;rule=floor)", blocks[i]);
    of_operand[i] = scaling(text);
  }
  for (int i = 0; i < 36; i++) {
    size_t la = of_operand[i / 6].cols, lb = of_operand[i % 6].cols, runs = 0;
    a.type.scaling = &of_operand[i / 6];
    b.type.scaling = &of_operand[i % 6];
    for (size_t l = 0; l < 450; l++) {
      if (l % la && l % lb) continue;
      assert_int_equal(hu_scaled_run_at(450, &a, &b, runs), l);
      runs++;
      assert_int_equal(hu_scaled_runs(l + 1, &a, &b), runs);
    }
    assert_int_equal(hu_scaled_run_at(450, &a, &b, runs), 450);
    assert_int_equal(hu_scaled_run_at(450, &a, &b, SIZE_MAX), 450);
  }
  a.type.scaling = &of_operand[4];
  b.type.scaling = &of_operand[2];
  assert_true(hu_scaled_runs((size_t)1 << 63, &a, &b) == (size_t)1 << 59);
  assert_true(hu_scaled_run_at((size_t)1 << 63, &a, &b, ((size_t)1 << 59) - 1) == ((size_t)1 << 63) - 16);
  a.type.scaling = b.type.scaling = &of_operand[0];
  assert_true(hu_scaled_runs(SIZE_MAX, &a, &b) == SIZE_MAX);
  assert_true(hu_scaled_run_at(SIZE_MAX, &a, &b, SIZE_MAX - 1) == SIZE_MAX - 1);
}

/* ---- the edges of shapes, C in place ---- */

static void test_shapes(void **state) {
  t_random random = {t_seed("scaled-gemm-shapes", 6)};
  hu_scaling of_operand = scaling("nvfp4");
  hu_scaled_sum sum = hu_scaled_sum_parts(accum("exact"), accum("fp32"), HU_SCALED_FACTOR_ROUNDED);
  static float z[40], before[40];
  t_matrix a, b, c;
  (void)state;
  matrix_scaled(&a, &random, 5, 0, &of_operand, 0, DRAW_NEAR);
  matrix_scaled(&b, &random, 0, 8, &of_operand, 1, DRAW_NEAR);
  matrix_plain(&c, &random, 5, 8, hu_format_ieee(8, 23, 0), 1, 0, DRAW_ENCODED);
  hu_output out = plain_result(z, 8, hu_format_ieee(8, 23, 0), 1);
  assert_int_equal(multiply(5, 8, 0, &out, &a, &b, &c, &sum, rne, NULL, NULL), HU_OK);
  for (size_t i = 0; i < 40; i++) assert_true(t_same32(z[i], ((float *)c.codes)[i / 8 * c.ld + i % 8]));
  assert_int_equal(multiply(5, 8, 0, &out, &a, &b, NULL, &sum, rne, NULL, NULL), HU_OK);
  for (size_t i = 0; i < 40; i++) assert_true(t_same32(z[i], 0));
  assert_int_equal(multiply(0, 8, 0, &out, &a, &b, NULL, &sum, rne, NULL, NULL), HU_OK);
  matrix_free(&a);
  matrix_free(&b);
  /* Nothing of D but its tensor scale. */
  uint8_t codes[4], scales[4];
  float tensor = 7;
  hu_scaled record = {codes, 8, scales, 1, &tensor};
  hu_output scaled = hu_scaled_matrix_out(&record, &of_operand);
  matrix_scaled(&a, &random, 0, 16, &of_operand, 0, DRAW_NEAR);
  matrix_scaled(&b, &random, 16, 8, &of_operand, 1, DRAW_NEAR);
  assert_int_equal(multiply(0, 8, 16, &scaled, &a, &b, NULL, &sum, rne, NULL, NULL), HU_OK);
  assert_true(tensor == 1);
  matrix_free(&a);
  matrix_free(&c);
  /* C's own place. */
  matrix_scaled(&a, &random, 5, 16, &of_operand, 0, DRAW_ENCODED);
  matrix_plain(&c, &random, 5, 8, hu_format_ieee(8, 23, 0), 1, 0, DRAW_ENCODED);
  out = hu_matrix_floats_out(before, 8);
  assert_int_equal(multiply(5, 8, 16, &out, &a, &b, &c, &sum, rne, NULL, NULL), HU_OK);
  out = hu_matrix_floats_out(c.codes, c.ld);
  assert_int_equal(multiply(5, 8, 16, &out, &a, &b, &c, &sum, rne, NULL, NULL), HU_OK);
  for (size_t i = 0; i < 40; i++) assert_true(t_same32(((float *)c.codes)[i / 8 * c.ld + i % 8], before[i]));
  matrix_free(&a);
  matrix_free(&b);
  matrix_free(&c);
}

/* ---- misuse ---- */

typedef struct misuse {
  hu_product own;
  hu_scaled a, b; /* where its A and B lie */
  hu_scaled_sum sum;
  hu_mode mode;
} misuse;

static hu_status call(const misuse *x) {
  hu_events ev = {0}, none = {0};
  hu_how how = {x->mode, NULL, &ev};
  hu_product own = x->own;
  own.a.data = &x->a;
  own.b.data = &x->b;
  own.sum = &x->sum;
  hu_status status = hu_multiply(&own, &how);
  if (status != HU_OK) assert_true(t_same_events(&ev, &none));
  return status;
}

static void test_errors(void **state) {
  t_random random = {t_seed("scaled-gemm-errors", 9)};
  hu_scaling mx = scaling("mxfp8_e4m3"), twos = scaling("mxint8"), bad = mx;
  static float z[8 * 8 + 8];
  t_matrix a, b, c;
  misuse good;
  (void)state;
  matrix_scaled(&a, &random, 8, 64, &mx, 0, DRAW_ENCODED);
  matrix_scaled(&b, &random, 64, 8, &mx, 1, DRAW_ENCODED);
  matrix_plain(&c, &random, 8, 8, hu_format_ieee(8, 7, 0), 1, 0, DRAW_ENCODED);
  memset(&good, 0, sizeof good);
  good.own = (hu_product){.m = 8, .n = 8, .k = 64, .a = a.view, .b = b.view, .c = c.view};
  good.own.d = plain_result(z, 8, hu_format_ieee(8, 23, 0), 1);
  good.a = a.record;
  good.b = b.record;
  good.sum = hu_scaled_sum_parts(accum("exact"), accum("fp32"), HU_SCALED_FACTOR_ROUNDED);
  good.own.sum = &good.sum;
  good.own.bytes = hu_multiply_space(&good.own, NULL);
  good.own.space = aligned_alloc(64, good.own.bytes / 64 * 64 + 128);
  assert_non_null(good.own.space);
  assert_int_equal(call(&good), HU_OK);
  memset(z, 0x5A, sizeof z);
#define WRONG(status, ...)                                                           \
  do {                                                                               \
    misuse x = good;                                                                 \
    __VA_ARGS__;                                                                     \
    assert_int_equal(call(&x), status);                                              \
    for (size_t i = 0; i < sizeof z; i++) assert_int_equal(((uint8_t *)z)[i], 0x5A); \
  } while (0)
  WRONG(HU_E_SPACE, x.own.bytes -= 64);
  WRONG(HU_E_NULL, x.own.space = NULL);
  WRONG(HU_E_ALIGN, x.own.space = (uint8_t *)x.own.space + 4);
  WRONG(HU_E_OVERLAP, x.own.d.data = x.own.space);
  WRONG(HU_E_OVERLAP, x.own.d.data = (void *)(uintptr_t)x.own.c.data); /* other formats */
  WRONG(HU_E_OVERLAP, x.own.d.data = a.scales, x.own.d.type.format = hu_format_ieee(4, 3, 0),
        x.own.d.type.kind = HU_TYPE_CODES);
  WRONG(HU_E_NULL, x.a.codes = NULL);
  WRONG(HU_E_NULL, x.b.scales = NULL);
  WRONG(HU_E_NULL, x.own.d.data = NULL);
  WRONG(HU_E_SHAPE, x.a.ld = 63);
  WRONG(HU_E_SHAPE, x.a.lds = 1);
  WRONG(HU_E_SHAPE, x.own.a.row = 2);
  WRONG(HU_E_SHAPE, x.own.c.stride = 2);
  WRONG(HU_E_SHAPE, x.own.d.row = 7);
  WRONG(HU_E_SHAPE, x.own.d = hu_scaled_matrix_out(&x.a, &mx), x.own.d.row = 1, x.own.d.stride = 0);
  WRONG(HU_E_NULL, x.own.a.type.scaling = NULL);
  WRONG(HU_E_FORMAT, x.own.c.type.kind = HU_TYPE_NONE);
  WRONG(HU_E_FORMAT, x.own.c.type.kind = HU_TYPE_VALUES64);
  WRONG(HU_E_MODE, x.mode.round = 99);
  WRONG(HU_E_FORMAT, x.own.d.type.format.e = 99);
  WRONG(HU_E_CARRIER, x.own.d.type.format = hu_format_ieee(11, 20, 0));
  WRONG(HU_E_SCALING, bad = mx; bad.rule = 9; x.own.a.type.scaling = &bad);
  /* Values are not P s t. */
  WRONG(HU_E_SCALING, assert_int_equal(hu_scaling_parse(&bad, "fouroversix.if4", NULL), HU_OK);
        x.own.a.type.scaling = &bad);
  WRONG(HU_E_SCALING, assert_int_equal(hu_scaling_parse(&bad, "compressed-tensors.nvfp4.cpu", NULL), HU_OK);
        x.own.a.type.scaling = &bad);
  WRONG(HU_E_SCALING, x.own.amax = z);
  WRONG(HU_E_ACCUM, x.sum.way = 3);
  WRONG(HU_E_ACCUM, x.sum.factor = HU_SCALED_FACTOR_COUNT);
  WRONG(HU_E_ACCUM, x.sum.as = hu_format_ieee(8, 7, 0));
  WRONG(HU_E_ACCUM, x.sum.across = accum("int32"));
  WRONG(HU_E_ACCUM, x.sum.across = accum("nv.hopper.e4m3.f32.wgmma"));
  WRONG(HU_E_ACCUM, x.sum.across = accum("takes(float8_e5m2,any,any,seq(binary32))"));
  WRONG(HU_E_ACCUM, x.sum.inside = accum("nv.blackwell.mxfp8.e4m3"));
  WRONG(HU_E_ACCUM, x.sum = hu_scaled_sum_unit(accum("fp32")));
  WRONG(HU_E_ACCUM, x.sum = hu_scaled_sum_unit(accum("any(nv.blackwell.nvfp4.b16.ue4m3)")));
  WRONG(HU_E_OPERAND_A, x.sum = hu_scaled_sum_unit(accum("nv.blackwell.nvfp4.b16.ue4m3")));
  WRONG(HU_E_OPERAND_A, x.sum = hu_scaled_sum_unit(accum("nv.blackwell.mxfp8.e5m2xe4m3")));
  WRONG(HU_E_OPERAND_B, x.sum = hu_scaled_sum_unit(accum("nv.blackwell.mxfp8.e4m3xe5m2")));
  WRONG(HU_E_OPERAND_A, x.sum = hu_scaled_sum_decoded(accum("nv.hopper.e4m3.f32.wgmma")));
  WRONG(HU_E_OPERAND_A, x.sum.inside = accum("nv.hopper.e5m2.f32.wgmma"));
  WRONG(HU_E_ACCUM, x.sum = hu_scaled_sum_unit(accum("promote(24,fp32,binary32,scaled)")));
  WRONG(HU_E_ACCUM, x.sum = hu_scaled_sum_unit(accum("nv.blackwell.mxfp8.e4m3")), x.own.a.type.scaling = &twos);
  WRONG(HU_E_ACCUM, x.sum = hu_scaled_sum_decoded(accum("promote(24,fp32,binary32,scaled)")));
  WRONG(HU_E_FORMAT, x.sum = hu_scaled_sum_decoded(accum("fp32")), x.sum.as = hu_format_ieee(11, 20, 0));
  ((float *)c.codes)[0] = 0x1.000002p0f;
  WRONG(HU_E_GRID, (void)x);
#undef WRONG
  misuse absent = good;
  memset(&absent.own.d, 0, sizeof absent.own.d);
  assert_int_equal(call(&absent), HU_E_NULL);
  assert_int_equal(hu_multiply(NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_scaled_sum_check(NULL), HU_E_NULL);
  absent = good;
  absent.own.m = SIZE_MAX / 2;
  assert_true(hu_multiply_space(&absent.own, NULL) == SIZE_MAX && hu_multiply_space(NULL, NULL) == SIZE_MAX);
  free(good.own.space);
  matrix_free(&a);
  matrix_free(&b);
  matrix_free(&c);
}

/* A plain C that is not on its grid is refused under unmasked traps, too, and leaves no flag: looking at it rounds. */
static void test_surroundings(void **state) {
  (void)state;
#if defined(__x86_64__)
  t_random random = {t_seed("scaled-gemm-surroundings", 12)};
  hu_scaling mx = scaling("mxfp8_e4m3");
  hu_scaled_sum sum = hu_scaled_sum_parts(accum("exact"), accum("fp32"), HU_SCALED_FACTOR_ROUNDED);
  static float z[64];
  t_matrix a, b, c;
  matrix_scaled(&a, &random, 8, 64, &mx, 0, DRAW_ENCODED);
  matrix_scaled(&b, &random, 64, 8, &mx, 1, DRAW_ENCODED);
  matrix_plain(&c, &random, 8, 8, hu_format_fn(4, 3, 0), 1, 0, DRAW_ENCODED);
  for (size_t i = 0; i < 8; i++) ((float *)c.codes)[i] = 0x1.1p-8F; /* subnormal there */
  hu_output out = plain_result(z, 8, hu_format_ieee(8, 23, 0), 1);
  uint32_t before = _mm_getcsr();
  _mm_setcsr(0); /* no flag, each of them traps */
  hu_status status = multiply(8, 8, 64, &out, &a, &b, &c, &sum, rne, NULL, NULL);
  uint32_t after = _mm_getcsr();
  _mm_setcsr(before);
  assert_int_equal(status, HU_E_GRID);
  assert_int_equal(after, 0);
  matrix_free(&a);
  matrix_free(&b);
  matrix_free(&c);
#else
  print_message("scaled gemm surroundings: no MXCSR on this processor\n");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiles),         cmocka_unit_test(test_promotion),
                                     cmocka_unit_test(test_units),         cmocka_unit_test(test_runs),
                                     cmocka_unit_test(test_many_runs),     cmocka_unit_test(test_shapes),
                                     cmocka_unit_test(test_errors),        cmocka_unit_test(test_tiny_parts),
                                     cmocka_unit_test(test_exact_factors), cmocka_unit_test(test_surroundings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
