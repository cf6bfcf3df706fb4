/* SPDX-License-Identifier: MIT */
/* Conversions of the processor (F16C) and of the compiler (_Float16, __bf16) against ours. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

#include "tests/cross/inputs.h"
#include "tests/support/support.h"

static int is_nan16(uint16_t c, unsigned m) {
  uint16_t field = (uint16_t)(0x7FFF & ~((1u << m) - 1));
  return (c & field) == field && (c & ((1u << m) - 1));
}

static uint32_t x[CROSS_CHUNK];
static uint16_t ours[CROSS_CHUNK], theirs[CROSS_CHUNK];

/* NaN is compared as NaN: its code is each party's own choice (docs/numerics.md C4). Unused where neither the processor
 * nor the compiler has conversions. */
__attribute__((unused)) static uint64_t compare(const char *what, hu_format format, unsigned round,
                                                void (*convert)(size_t n)) {
  cross_inputs in = {0, HU_EXHAUSTIVE, 0};
  uint64_t total = 0, nans = 0;
  for (size_t n; (n = cross_fill(&in, x)) != 0; total += n) {
    assert_int_equal(hu_encode_n(n, ours, 1, (const float *)(const void *)x, 1, format, t_mode(round), NULL, NULL),
                     HU_OK);
    memset(theirs, 0xA5, sizeof theirs);
    convert(n);
    for (size_t i = 0; i < n; i++) {
      if (ours[i] == theirs[i]) continue;
      if (!is_nan16(ours[i], format.m) || !is_nan16(theirs[i], format.m))
        fail_msg("%s: %08x: ours %04x, theirs %04x", what, x[i], ours[i], theirs[i]);
      nans++;
    }
  }
  assert_true(total > 1000000);
  print_message("%s: %lu inputs, equal (%lu NaNs with another code)\n", what, total, nans);
  return total;
}

#if defined(__x86_64__)
#define F16C(name, direction)                                                                              \
  __attribute__((target("f16c,avx"))) static void name(size_t n) {                                         \
    for (size_t i = 0; i < n; i += 8)                                                                      \
      _mm_storeu_si128((__m128i *)(void *)(theirs + i),                                                    \
                       _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(const void *)(x + i)), direction)); \
  }
F16C(f16c_nearest, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
F16C(f16c_zero, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
F16C(f16c_up, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
F16C(f16c_down, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

static void test_f16c(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip(); /* clang has no name for F16C; AVX2 processors have it */
  compare("F16C to nearest", hu_binary16(), HU_RNE, f16c_nearest);
  compare("F16C toward zero", hu_binary16(), HU_RTZ, f16c_zero);
  compare("F16C toward positive", hu_binary16(), HU_RTP, f16c_up);
  compare("F16C toward negative", hu_binary16(), HU_RTN, f16c_down);
}

/* And back: every binary16 code. */
__attribute__((target("f16c,avx"))) static void test_f16c_decode(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip(); /* clang has no name for F16C; AVX2 processors have it */
  for (uint32_t c = 0; c < 65536; c++) {
    uint32_t theirs32 = t_bits32(_cvtsh_ss((unsigned short)c)), ours32 = t_bits32(hu_decode(hu_binary16(), c));
    if (is_nan16((uint16_t)c, 10))
      assert_int_equal(ours32, 0x7FC00000);
    else
      assert_int_equal(ours32, theirs32);
  }
}
#endif

#if HU_HAVE_FLOAT16
static void compiler_float16(size_t n) {
  for (size_t i = 0; i < n; i++) {
    _Float16 h = (_Float16)t_float(x[i]);
    memcpy(&theirs[i], &h, sizeof h);
  }
}

static void test_float16(void **state) {
  (void)state;
  compare("_Float16 from binary32", hu_binary16(), HU_RNE, compiler_float16);
  t_random random = {t_seed("_Float16", 1)};
  for (int i = 0; i < 1000000; i++) {
    double d = t_random_operand(&random, hu_binary16());
    _Float16 h = (_Float16)d;
    uint16_t expected;
    memcpy(&expected, &h, sizeof h);
    uint32_t got = hu_encode64(hu_binary16(), t_mode(HU_RNE), d, 0, NULL);
    if (!is_nan16(expected, 10)) assert_int_equal(got, expected);
  }
}
#endif

#if HU_HAVE_BF16
static void compiler_bf16(size_t n) {
  for (size_t i = 0; i < n; i++) {
    __bf16 h = (__bf16)t_float(x[i]);
    memcpy(&theirs[i], &h, sizeof h);
  }
}

static void test_bf16(void **state) {
  (void)state;
  compare("__bf16 from binary32", hu_bfloat16(), HU_RNE, compiler_bf16);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
    cmocka_unit_test(test_f16c),
    cmocka_unit_test(test_f16c_decode),
#endif
#if HU_HAVE_FLOAT16
    cmocka_unit_test(test_float16),
#endif
#if HU_HAVE_BF16
    cmocka_unit_test(test_bf16),
#endif
  };
  if (sizeof tests == 0) return 77;
  return cmocka_run_group_tests_name("processor and compiler", tests, NULL, NULL);
}
