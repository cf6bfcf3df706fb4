/* SPDX-License-Identifier: MIT */
/* The contract of hu_gemm and hu_accum: small products known by heart, every error with outputs untouched, overlap
 * rules, empty sizes, the exactness condition at its edges, the caller's floating-point settings, stack use. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

#include <pthread.h>

#include <sys/mman.h>
#include <unistd.h>

#include "halfulp/halfulp.h"

#include "tests/gemm/problem.h"
#include "tests/support/levels.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HU_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HU_SANITIZED 1
#endif
#endif
#ifndef HU_SANITIZED
#define HU_SANITIZED 0
#endif

/* A 2 x 2 product of binary32 values that tests bend one argument at a time. */
typedef struct t_call {
  float x[8], y[8], w[8], z[16];
  size_t m, n, k;
  hu_output d;
  hu_view a, b, c, sa, sb;
  int has_c;
  hu_accum accum;
  hu_mode mode;
  hu_events events;
} t_call;

static void usual(t_call *call) {
  const float x[8] = {1, 2, 3, 4}, y[8] = {5, 6, 7, 8}, w[8] = {0.5f, -1, 2, 100};
  memset(call, 0, sizeof *call);
  memcpy(call->x, x, sizeof x);
  memcpy(call->y, y, sizeof y);
  memcpy(call->w, w, sizeof w);
  t_fill_pattern(call->z, sizeof call->z);
  call->m = call->n = call->k = 2;
  hu_type values = hu_type_values(HU_TYPE_VALUES32, hu_binary32());
  call->a = hu_matrix_of(call->x, 2, values);
  call->b = hu_matrix_of(call->y, 2, values);
  call->c = hu_matrix_of(call->w, 2, values);
  call->d = hu_matrix_out_of(call->z, 2, values);
  call->has_c = 1;
}

static hu_status go(t_call *call) {
  hu_product x = {.m = call->m, .n = call->n, .k = call->k, .d = call->d, .a = call->a, .b = call->b};
  hu_how how = {call->mode, NULL, &call->events};
  if (call->has_c) x.c = call->c;
  x.sa = call->sa;
  x.sb = call->sb;
  x.accum = &call->accum;
  return hu_multiply(&x, &how);
}

static void small_products(void **state) {
  (void)state;
  static const float with_c[4] = {19.5f, 21, 45, 150}, turned[4] = {17, 23, 39, 53};
  for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
    t_call call;
    usual(&call);
    call.accum.kind = kind;
    assert_int_equal(go(&call), HU_OK);
    assert_memory_equal(call.z, with_c, sizeof with_c);
    assert_true(t_is_pattern((uint8_t *)call.z, 0));
    usual(&call);
    call.accum.kind = kind;
    call.has_c = 0;
    call.b = hu_transposed(call.b);
    assert_int_equal(go(&call), HU_OK);
    assert_memory_equal(call.z, turned, sizeof turned);
  }
  /* One rounding against many: 2^24 + 1 + 1 in binary32. */
  t_call call;
  usual(&call);
  call.m = call.n = 1;
  call.x[0] = call.x[1] = call.y[0] = call.y[1] = 1;
  call.b.row = 1;
  call.w[0] = 0x1p24f;
  assert_int_equal(go(&call), HU_OK);
  assert_true(t_same32(call.z[0], 16777218.0f));
  assert_int_equal(call.events.inexact, 0);
  call.accum.kind = HU_ACCUM_FP32;
  assert_int_equal(go(&call), HU_OK);
  assert_true(t_same32(call.z[0], 0x1p24f));
}

/* In place of C, and beside an operand in the same rows. */
static void shared_memory(void **state) {
  (void)state;
  static const float with_c[4] = {19.5f, 21, 45, 150};
  t_call call;
  usual(&call);
  call.d.data = call.w;
  assert_int_equal(go(&call), HU_OK);
  assert_memory_equal(call.w, with_c, sizeof with_c);
  usual(&call);
  call.c.type.format = hu_format_ieee(8, 22, 0); /* the same array must have the same format */
  call.d.data = call.w;
  assert_int_equal(go(&call), HU_E_OVERLAP);
  usual(&call);
  call.d.data = call.w;
  call.c = hu_transposed(call.c);
  assert_int_equal(go(&call), HU_E_OVERLAP);
  usual(&call);
  call.d.data = call.x;
  assert_int_equal(go(&call), HU_E_OVERLAP);
  usual(&call);
  call.d.data = call.y + 3;
  assert_int_equal(go(&call), HU_E_OVERLAP);
  usual(&call);
  call.d.data = call.w + 1;
  assert_int_equal(go(&call), HU_E_OVERLAP);
  /* Rows of four: A left, D right. */
  usual(&call);
  float both[8] = {1, 2, -1, -1, 3, 4, -1, -1};
  call.a.data = both;
  call.a.row = 4;
  call.d.data = both + 2;
  call.d.row = 4;
  assert_int_equal(go(&call), HU_OK);
  assert_true(both[2] == 19.5f && both[3] == 21 && both[6] == 45 && both[7] == 150 && both[0] == 1 && both[5] == 4);
  call.d.data = both + 1;
  assert_int_equal(go(&call), HU_E_OVERLAP);
  call.d.data = both + 3; /* its second column would be the next row's first of A */
  assert_int_equal(go(&call), HU_E_OVERLAP);
}

typedef struct misuse {
  const char *what;
  hu_status expected;
  void (*bend)(t_call *call);
} misuse;

static void bad_format_a(t_call *call) { call->a.type.format.m = 31; }
static void bad_format_b(t_call *call) { call->b.type.format.sign = 2; }
static void bad_format_c(t_call *call) { call->c.type.format.e = 12; }
static void bad_format_d(t_call *call) { call->d.type.format.inf = 9; }
static void bad_mode(t_call *call) { call->mode.round = HU_ROUND_COUNT; }
static void bad_bits(t_call *call) { call->mode.round = HU_SRA; }
static void bad_kind(t_call *call) { call->accum.kind = HU_ACCUM_COUNT; }
static void bad_length(t_call *call) { call->accum.length = 1; }
static void bad_reserved(t_call *call) { call->accum.scaled = 1; }
static void reserved_type(t_call *call) { call->a.type.reserved = 1; }
static void bad_product(t_call *call) { call->accum.product.e = 1; }
static void carrier_values(t_call *call) { call->a.type.format = hu_format_ieee(11, 10, 0); }
static void carrier_result(t_call *call) { call->d.type.format = hu_format_ieee(11, 10, 0); }
static void carrier_fp32(t_call *call) {
  call->accum.kind = HU_ACCUM_FP32;
  call->b.type.format = hu_format_ieee(11, 10, 0);
  call->b.type.kind = HU_TYPE_CODES;
}
static void null_a(t_call *call) { call->a.data = NULL; }
static void null_c(t_call *call) { call->c.data = NULL; }
static void null_d(t_call *call) { call->d.data = NULL; }
static void short_a(t_call *call) { call->a.row = 1; }
static void short_b(t_call *call) { call->b.row = 1; }
static void short_c(t_call *call) { call->c.row = 1; }
static void short_d(t_call *call) { call->d.row = 1; }
static void short_turned(t_call *call) {
  call->m = 1;
  call->k = 2;
  call->a.row = 1;
  call->a.stride = 0;
}
static void huge_product(t_call *call) { call->a.row = (ptrdiff_t)(SIZE_MAX / 4); }
static void huge_sum(t_call *call) { call->b.row = (ptrdiff_t)(SIZE_MAX / 4 - 1); }
static void huge_rows(t_call *call) { call->m = (size_t)1 << 62; }
static void huge_d(t_call *call) { call->d.row = (ptrdiff_t)((size_t)1 << 62); }
static void no_kind(t_call *call) { call->a.type.kind = HU_TYPE_NONE; }
static void no_kind_d(t_call *call) { call->d.type.kind = HU_TYPE_NONE; }
static void no_kind_c(t_call *call) { call->c.type.kind = HU_TYPE_NONE; }
static void bad_kind_b(t_call *call) { call->b.type.kind = HU_TYPE_VALUES64; }
static void bad_kind_d(t_call *call) { call->d.type.kind = HU_TYPE_INT8; }
static void number_b(t_call *call) { call->b.type.number = (const struct hu_number *)(const void *)call->x; }
static void scaled_a(t_call *call) { call->a.type.kind = HU_TYPE_SCALED; }
static void apart_c(t_call *call) { call->c.stride = 2; }
static void turned_d(t_call *call) { call->d.row = 1, call->d.stride = 2; }
static void backwards_b(t_call *call) { call->b.row = -2; }
static void empty_a(t_call *call) { memset(&call->a, 0, sizeof call->a); }
static void empty_d(t_call *call) { memset(&call->d, 0, sizeof call->d); }
static void lone_scale(t_call *call) { call->sa = call->a; }
static void scales_too(t_call *call) { call->sa = call->sb = call->a; }
static void odd_a(t_call *call) { call->a.data = (const char *)call->x + 1; }
static void odd_d(t_call *call) { call->d.data = (char *)call->z + 2; }
static void grid_a(t_call *call) { call->a.type.format = hu_float8_e4m3fn(), call->x[3] = 1.0625f; }
static void grid_b(t_call *call) { call->b.type.format = hu_float8_e4m3fn(), call->y[0] = t_float(0x7F800000); }
static void grid_c(t_call *call) { call->c.type.format = hu_format_fnuz(4, 3, 0), call->w[2] = -0.0f; }
static void grid_nan(t_call *call) { call->a.type.format = hu_float4_e2m1fn(), call->x[1] = t_float(0x7FC00000); }
static void grid_sub(t_call *call) {
  call->c.type.format = hu_bfloat16();
  call->w[0] = 1.5f;
  call->w[1] = t_float(1);
}

static const misuse misuses[] = {
    {"format of A", HU_E_FORMAT, bad_format_a},
    {"format of B", HU_E_FORMAT, bad_format_b},
    {"format of C", HU_E_FORMAT, bad_format_c},
    {"format of D", HU_E_FORMAT, bad_format_d},
    {"mode", HU_E_MODE, bad_mode},
    {"random bits", HU_E_MODE, bad_bits},
    {"kind of sum", HU_E_ACCUM, bad_kind},
    {"length", HU_E_ACCUM, bad_length},
    {"reserved", HU_E_ACCUM, bad_reserved},
    {"reserved of a type", HU_E_FORMAT, reserved_type},
    {"product format", HU_E_ACCUM, bad_product},
    {"values too wide", HU_E_CARRIER, carrier_values},
    {"result too wide", HU_E_CARRIER, carrier_result},
    {"fp32 of wide codes", HU_E_CARRIER, carrier_fp32},
    {"no A", HU_E_NULL, null_a},
    {"C without data", HU_E_NULL, null_c},
    {"no D", HU_E_NULL, null_d},
    {"ld of A", HU_E_SHAPE, short_a},
    {"ld of B", HU_E_SHAPE, short_b},
    {"ld of C", HU_E_SHAPE, short_c},
    {"ld of D", HU_E_SHAPE, short_d},
    {"ld of A transposed", HU_E_SHAPE, short_turned},
    {"bytes of A", HU_E_SHAPE, huge_product},
    {"bytes of B", HU_E_SHAPE, huge_sum},
    {"rows", HU_E_SHAPE, huge_rows},
    {"bytes of D", HU_E_SHAPE, huge_d},
    {"A of no kind", HU_E_FORMAT, no_kind},
    {"D of no kind", HU_E_FORMAT, no_kind_d},
    {"C of no kind", HU_E_FORMAT, no_kind_c},
    {"binary64 values", HU_E_FORMAT, bad_kind_b},
    {"integers", HU_E_FORMAT, bad_kind_d},
    {"a number system", HU_E_FORMAT, number_b},
    {"a scaled tensor, plainly", HU_E_FORMAT, scaled_a},
    {"C with gaps in its rows", HU_E_SHAPE, apart_c},
    {"D transposed", HU_E_SHAPE, turned_d},
    {"rows upwards", HU_E_SHAPE, backwards_b},
    {"A all zero", HU_E_NULL, empty_a},
    {"D all zero", HU_E_NULL, empty_d},
    {"one scale", HU_E_NULL, lone_scale},
    {"scales under a model without", HU_E_ACCUM, scales_too},
    {"alignment of A", HU_E_ALIGN, odd_a},
    {"alignment of D", HU_E_ALIGN, odd_d},
    {"grid of A", HU_E_GRID, grid_a},
    {"infinity off the grid of B", HU_E_GRID, grid_b},
    {"-0 off the grid of C", HU_E_GRID, grid_c},
    {"NaN off the grid of A", HU_E_GRID, grid_nan},
    {"subnormal off the grid of C", HU_E_GRID, grid_sub},
};

static void errors(void **state) {
  (void)state;
  hu_events zero;
  memset(&zero, 0, sizeof zero);
  for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
    t_call call;
    usual(&call);
    misuses[i].bend(&call);
    hu_status status = go(&call);
    if (status != misuses[i].expected)
      fail_msg("%s: %s, not %s", misuses[i].what, hu_status_name(status), hu_status_name(misuses[i].expected));
    if (!t_is_pattern(call.z, sizeof call.z)) fail_msg("%s: D written", misuses[i].what);
    if (!t_same_events(&call.events, &zero)) fail_msg("%s: events counted", misuses[i].what);
  }
  t_call call;
  usual(&call);
  assert_int_equal(hu_gemm(2, 2, 2, NULL, &call.a, &call.b, NULL, &call.accum, NULL), HU_E_NULL);
  assert_int_equal(hu_gemm(2, 2, 2, &call.d, NULL, &call.b, NULL, &call.accum, NULL), HU_E_NULL);
  assert_int_equal(hu_gemm(2, 2, 2, &call.d, &call.a, NULL, NULL, &call.accum, NULL), HU_E_NULL);
  assert_int_equal(hu_gemm(2, 2, 2, &call.d, &call.a, &call.b, NULL, NULL, NULL), HU_E_NULL);
  assert_true(t_is_pattern(call.z, sizeof call.z));
  print_message("gemm errors: %zu calls\n", sizeof misuses / sizeof misuses[0] + 4);
}

static void empty(void **state) {
  (void)state;
  t_call call;
  for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
    usual(&call); /* k = 0: D = C; A and B have no elements and need no memory */
    call.accum.kind = kind;
    call.k = 0;
    call.a.data = call.b.data = NULL;
    call.a.row = 0;
    assert_int_equal(go(&call), HU_OK);
    assert_memory_equal(call.z, call.w, 4 * sizeof(float));
    usual(&call);
    call.accum.kind = kind;
    call.k = 0;
    call.has_c = 0;
    assert_int_equal(go(&call), HU_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(t_bits32(call.z[i]), 0);
    usual(&call);
    call.accum.kind = kind;
    call.m = 0;
    call.d.data = NULL;
    assert_int_equal(go(&call), HU_OK);
    usual(&call);
    call.accum.kind = kind;
    call.n = 0;
    assert_int_equal(go(&call), HU_OK);
    assert_true(t_is_pattern(call.z, sizeof call.z));
  }
}

static void events_add(void **state) {
  (void)state;
  t_call call;
  usual(&call);
  call.d.type.format = hu_float8_e4m3fn();
  call.events.inexact = 1000;
  call.events.nan_in = 7;
  assert_int_equal(go(&call), HU_OK); /* 19.5 21 45 150: none on the grid but none, 150 between 144 and 160 */
  assert_int_equal(call.events.inexact, 1004);
  assert_int_equal(call.events.nan_in, 7);
  /* Infinity minus infinity: invalid; a NaN operand: nan_in. */
  for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
    usual(&call);
    call.accum.kind = kind;
    call.x[0] = t_float(0x7F800000);
    call.x[1] = t_float(0xFF800000);
    call.w[2] = t_float(0x7FC12345);
    assert_int_equal(go(&call), HU_OK);
    assert_int_equal(call.events.invalid, 2);
    assert_int_equal(call.events.nan_in, 1);
    assert_int_equal(t_bits32(call.z[0]), 0x7FC00000);
    assert_int_equal(t_bits32(call.z[2]), 0x7FC00000);
    assert_true(call.z[3] == 150);
  }
  /* No NaN in D, policy error: once, as invalid. */
  usual(&call);
  call.x[0] = t_float(0x7F800000);
  call.x[1] = t_float(0xFF800000);
  call.d.type.format = hu_float4_e2m1fn();
  call.mode.nan = HU_NAN_TO_ERROR;
  assert_int_equal(go(&call), HU_OK);
  assert_int_equal(call.events.invalid, 2);
  assert_int_equal(call.events.nan_in, 0);
  assert_true(call.z[0] == 6);
}

/* The most products that fit, and one more. */
static void condition(void **state) {
  (void)state;
  hu_format e4m3 = hu_float8_e4m3fn(), one = hu_format_finite(1, 0, 1), wide = hu_binary32(), format;
  size_t most = (size_t)(0x1p53 / (448.0 * 448.0 * 0x1p18)); /* units of 2^-18 */
  assert_int_equal(hu_gemm_exact64(most, e4m3, e4m3, NULL), 1);
  assert_int_equal(hu_gemm_exact64(most + 1, e4m3, e4m3, NULL), 0);
  assert_int_equal(hu_gemm_exact64(most, e4m3, e4m3, &e4m3), (double)most * (448.0 * 448) + 448 <= 0x1p35);
  assert_int_equal(hu_gemm_exact64(most - 1, e4m3, e4m3, &e4m3), 1);
  assert_int_equal(hu_gemm_exact64(0, wide, wide, NULL), 1);
  assert_int_equal(hu_gemm_exact64(0, wide, wide, &wide), 0);
  assert_int_equal(hu_gemm_exact64(1, wide, wide, NULL), 0);
  assert_int_equal(hu_gemm_exact64(1, hu_bfloat16(), hu_bfloat16(), NULL), 0);
  assert_int_equal(hu_gemm_exact64(1, hu_binary16(), hu_float8_e5m2(), NULL), 0);
  /* fp(1,0,1):finite holds 0 and 1. */
  assert_int_equal(hu_gemm_exact64((size_t)1 << 53, one, one, NULL), 1);
  assert_int_equal(hu_gemm_exact64(((size_t)1 << 53) + 1, one, one, NULL), 0);
  assert_int_equal(hu_gemm_exact64(((size_t)1 << 53) - 1, one, one, &one), 1);
  assert_int_equal(hu_gemm_exact64((size_t)1 << 53, one, one, &one), 0);
  assert_int_equal(hu_gemm_exact64(SIZE_MAX, one, one, NULL), 0);
  /* Places below 2^-1074. */
  format = hu_format_finite(2, 1, 537); /* lowest place 2^-538 */
  assert_int_equal(hu_format_check(format, NULL), HU_OK);
  assert_int_equal(hu_gemm_exact64(1, format, format, NULL), 0);
  format = hu_format_finite(2, 1, 536);
  assert_int_equal(hu_gemm_exact64(1, format, format, NULL), 1);
  format.m = 31;
  assert_int_equal(hu_gemm_exact64(1, format, e4m3, NULL), 0);
  assert_int_equal(hu_gemm_exact64(1, e4m3, format, NULL), 0);
  assert_int_equal(hu_gemm_exact64(1, e4m3, e4m3, &format), 0);
}

static void accum(void **state) {
  (void)state;
  hu_accum x, untouched;
  char text[16];
  memset(&x, 0xA5, sizeof x);
  untouched = x;
  assert_int_equal(hu_accum_parse(&x, "fp16", NULL), HU_E_NAME);
  assert_int_equal(hu_accum_parse(&x, "", NULL), HU_E_TEXT);
  assert_int_equal(hu_accum_parse(&x, "exact ", NULL), HU_E_TEXT);
  assert_memory_equal(&x, &untouched, sizeof x);
  assert_int_equal(hu_accum_text(text, sizeof text, &x), 0);
  assert_int_equal(hu_accum_check(&x), HU_E_ACCUM);
  assert_int_equal(hu_accum_check(NULL), HU_E_NULL);
  assert_int_equal(hu_accum_parse(&x, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_accum_parse(&x, "fp32", NULL), HU_OK);
  assert_int_equal(x.kind, HU_ACCUM_FP32);
  assert_int_equal(hu_accum_check(&x), HU_OK);
  assert_int_equal(hu_accum_text(NULL, 0, &x), 4);
  assert_int_equal(hu_accum_text(text, 3, &x), 4);
  assert_string_equal(text, "fp");
  assert_int_equal(hu_accum_parse(&x, "exact", NULL), HU_OK);
  assert_int_equal(hu_accum_text(text, sizeof text, &x), 5);
  assert_string_equal(text, "exact");
  x.mode.tiny = 1;
  assert_int_equal(hu_accum_check(&x), HU_E_ACCUM);
}

/* Flushing, other directions and unmasked traps of the caller change nothing, and are there again afterwards. */
static void surroundings(void **state) {
  (void)state;
#if defined(__x86_64__)
  static const uint32_t settings[] = {0x1F80 | 0x8040,          0x1F80 | 0x2000, 0x1F80 | 0x4000,
                                      0x1F80 | 0x6000 | 0x8040, 0x0000,          0x1FBF};
  static const char *const names[] = {"binary32", "bfloat16", "binary16", "float8_e4m3fn", "float4_e2m1fn"};
  t_random random = {t_seed("gemm surroundings", 21)};
  int runs = 0;
  for (int i = 0; i < 120; i++) {
    t_problem problem;
    hu_format format[3];
    for (int q = 0; q < 3; q++) assert_int_equal(hu_format_parse(&format[q], names[t_below(&random, 5)], NULL), HU_OK);
    uint32_t kind = t_below(&random, 2);
    problem_draw(&problem, &random, 5, 9, 12, format[0], format[1], &format[2], hu_binary32(), kind);
    for (size_t level = 0; level < t_levels(); level++) {
      uint32_t mask = t_levels_off(level);
      t_outcome usually = problem_run(&problem, 1, mask);
      for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        uint32_t before = _mm_getcsr();
        _mm_setcsr(settings[s]);
        t_outcome bent = problem_run(&problem, 1 + (uint32_t)s % 3, mask);
        uint32_t after = _mm_getcsr();
        _mm_setcsr(before);
        assert_int_equal(after, settings[s]);
        assert_true(outcome_same(&usually, &bent));
        free(bent.d);
        runs++;
      }
      free(usually.d);
    }
    problem_free(&problem);
  }
  print_message("gemm surroundings: %d runs\n", runs);
#else
  print_message("gemm surroundings: no MXCSR on this processor\n");
#endif
}

/* Operands and D that end where their memory ends, C in place of D: nothing behind the last element is touched. */
static void edges(void **state) {
  (void)state;
  static const char *const names[] = {"binary32", "bfloat16", "float8_e4m3fn", "fp(11,20,0)", "fp(5,12,0)"};
  t_random random = {t_seed("gemm edges", 22)};
  size_t page = (size_t)sysconf(_SC_PAGESIZE), buffer = 16 * page;
  uint8_t *memory[3];
  int runs = 0;
  for (int i = 0; i < 3; i++) {
    memory[i] = mmap(NULL, buffer + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory[i] != MAP_FAILED);
    assert_int_equal(mprotect(memory[i] + buffer, page, PROT_NONE), 0);
  }
  for (int i = 0; i < 300; i++) {
    t_problem problem;
    hu_format format[2];
    for (int q = 0; q < 2; q++) assert_int_equal(hu_format_parse(&format[q], names[t_below(&random, 5)], NULL), HU_OK);
    uint32_t kind = hu_format_fits_binary32(format[0]) && hu_format_fits_binary32(format[1]) ? t_below(&random, 2) : 0;
    problem_draw(&problem, &random, 1 + t_below(&random, 20), 1 + t_below(&random, 60), 1 + t_below(&random, 60),
                 format[0], format[1], NULL, hu_binary32(), kind);
    if (t_below(&random, 3) == 0) problem.mode = t_mode(HU_SRA), problem.mode.bits = 32;
    for (size_t level = 0; level < t_levels(); level++) {
      hu_view a = problem.a.operand, b = problem.b.operand;
      hu_exec exec;
      memset(&exec, 0, sizeof exec);
      exec.levels_off = t_levels_off(level);
      exec.stream = problem.stream;
      t_outcome usual = problem_run(&problem, 1, exec.levels_off);
      a.data = memcpy(memory[0] + buffer - problem.a.bytes, problem.a.stored, problem.a.bytes);
      b.data = memcpy(memory[1] + buffer - problem.b.bytes, problem.b.stored, problem.b.bytes);
      hu_output result =
          hu_matrix_out_of(memory[2] + buffer - usual.bytes, problem.ld, hu_type_values(problem.kind, problem.format));
      t_fill_pattern(result.data, usual.bytes);
      assert_int_equal(hu_gemm(problem.m, problem.n, problem.k, &result, &a, &b, NULL, &problem.accum,
                               &(hu_how){problem.mode, &exec, NULL}),
                       HU_OK);
      assert_memory_equal(result.data, usual.d, usual.bytes);
      free(usual.d);
      runs++;
    }
    problem_free(&problem);
  }
  for (int i = 0; i < 3; i++) munmap(memory[i], buffer + page);
  print_message("gemm edges: %d runs\n", runs);
}

/* ---- stack ---- */

enum { STACK = 2 << 20, PROMISED = 512 << 10, PROMISED_SLICES = 704 << 10 };

/* Binary64 sums; brackets, of which some stay open; integers by digits and by bins; fp32. */
static void *run_all(void *context) {
  t_call *call = context;
  for (int i = 0; i < 6; i++) {
    call->a.type.format = call->b.type.format = i == 0 ? hu_float8_e4m3fn() : hu_binary32();
    call->accum.kind = i == 5 ? HU_ACCUM_FP32 : HU_ACCUM_EXACT;
    if (i) call->x[2] = 0, call->y[1] = 0x1p60f, call->y[3] = i & 1 ? 0x1p-30f : 0x1p-120f;
    if (i > 2) call->mode.round = HU_SRA, call->mode.bits = 32;
    if (go(call) != HU_OK) return NULL;
  }
  return context;
}

static void *run_models(void *context, const char *const *texts) {
  t_call *call = context;
  call->a.type.format = call->b.type.format = hu_float8_e4m3fn();
  for (; *texts; texts++) {
    if (hu_accum_parse(&call->accum, *texts, NULL) != HU_OK || go(call) != HU_OK) return NULL;
  }
  return context;
}

static void *run_steps(void *context) {
  static const char *const texts[] = {"pairwise(bfloat16)", "kahan(bfloat16,sra:8)", NULL};
  return run_models(context, texts);
}

static void *run_slices(void *context) {
  static const char *const texts[] = {"splitk(2,fp32)", "splitk(2,seq(bfloat16))", "splitk(2,pairwise(bfloat16))",
                                      NULL};
  return run_models(context, texts);
}

/* Bytes of stack that the calls of `run` take. */
static size_t stack_of(void *(*run)(void *context)) {
  t_call call;
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = NULL, *memory = NULL;
  usual(&call);
  call.x[0] = 0.015625f;
  assert_int_equal(posix_memalign(&memory, 1 << 16, STACK), 0);
  t_fill_pattern(memory, STACK);
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstack(&attributes, memory, STACK), 0);
  assert_int_equal(pthread_create(&thread, &attributes, run, &call), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  pthread_attr_destroy(&attributes);
  assert_ptr_equal(result, &call);
  size_t unused = 0;
  while (unused + 16 <= STACK && t_is_pattern((uint8_t *)memory + unused, 16)) unused += 16;
  free(memory);
  assert_true(unused > 0);
  return STACK - unused;
}

static void stack(void **state) {
  (void)state;
  size_t all = stack_of(run_all), steps = stack_of(run_steps), slices = stack_of(run_slices);
  print_message("gemm stack: %zu and %zu bytes of %d, splitk %zu of %d\n", all, steps, PROMISED, slices,
                PROMISED_SLICES);
#if HU_SANITIZED
  skip(); /* red zones around every array are not the library's */
#endif
  assert_true(all <= PROMISED);
  assert_true(steps <= PROMISED);
  assert_true(slices <= PROMISED_SLICES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_products), cmocka_unit_test(shared_memory), cmocka_unit_test(errors),
      cmocka_unit_test(empty),          cmocka_unit_test(events_add),    cmocka_unit_test(condition),
      cmocka_unit_test(accum),          cmocka_unit_test(surroundings),  cmocka_unit_test(edges),
      cmocka_unit_test(stack),
  };
  return cmocka_run_group_tests_name("gemm contract", tests, NULL, NULL);
}
