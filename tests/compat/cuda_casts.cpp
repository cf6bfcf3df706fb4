// SPDX-License-Identifier: MIT
// The presets named after CUDA's conversions against the host code of CUDA's own headers: equal codes, NaN included,
// from all halves and bfloat16s, from binary32 and from binary64; and the values of all codes.
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
#include <cmocka.h>
}

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include "halfulp/halfulp.h"

#include "tests/cross/inputs.h"
extern "C" {
#include "tests/support/support.h"
}

static uint32_t x[CROSS_CHUNK];
static uint8_t codes8[CROSS_CHUNK];
static uint16_t codes16[CROSS_CHUNK];

static hu_conversion named(const char *name) {
  hu_conversion c;
  assert_int_equal(hu_conversion_find(&c, name), HU_OK);
  return c;
}

static uint32_t raw(__half h) { return static_cast<__half_raw>(h).x; }
static uint32_t raw(__nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }

template <class Convert>
static void from_binary32(const char *name, Convert convert) {
  hu_conversion c = named(name);
  bool small = hu_limits_of(c.format).storage == 8;
  void *z = small ? static_cast<void *>(codes8) : codes16;
  cross_inputs in{0, HU_EXHAUSTIVE, 0};
  uint64_t total = 0;
  for (size_t n; (n = cross_fill(&in, x)) != 0; total += n) {
    assert_int_equal(hu_conversion_encode_n(n, z, 1, reinterpret_cast<const float *>(x), 1, &c, nullptr, nullptr),
                     HU_OK);
    for (size_t i = 0; i < n; i++) {
      uint32_t mine = small ? codes8[i] : codes16[i], theirs = static_cast<uint32_t>(convert(t_float(x[i])));
      if (mine != theirs) fail_msg("%s: %08x: ours %x, CUDA's %x", name, x[i], mine, theirs);
    }
  }
  print_message("%s: %lu binary32 operands, equal codes\n", name, static_cast<unsigned long>(total));
}

template <class Convert>
static void from_binary64(const char *name, Convert convert) {
  enum { COUNT = 400000 };
  hu_conversion c = named(name);
  t_random r = {64};
  for (int i = 0; i < COUNT; i++) {
    double d = i % 64 ? t_random_operand(&r, c.format) : t_double(t_next64(&r) | 0x7FF0000000000000u);
    uint32_t mine = hu_conversion_encode64(&c, d, 0, nullptr), theirs = static_cast<uint32_t>(convert(d));
    if (mine != theirs) fail_msg("%s: %a (%016lx): ours %x, CUDA's %x", name, d, t_bits64(d), mine, theirs);
  }
  print_message("%s: %d binary64 operands, equal codes\n", name, COUNT);
}

// Halves and bfloat16s have their own functions there; here their values are binary32 operands.
template <class FromHalf, class FromBfloat16>
static void from_16_bits(const char *name, FromHalf half, FromBfloat16 bfloat16) {
  hu_conversion c = named(name);
  for (uint32_t u = 0; u < 65536; u++) {
    __half_raw h;
    h.x = static_cast<unsigned short>(u);
    __nv_bfloat16_raw b;
    b.x = h.x;
    uint32_t mine = hu_conversion_encode(&c, hu_decode(hu_binary16(), u), 0, nullptr);
    assert_int_equal(mine, half(h));
    mine = hu_conversion_encode(&c, t_float(u << 16), 0, nullptr);
    assert_int_equal(mine, bfloat16(b));
  }
  print_message("%s: all halves and bfloat16s, equal codes\n", name);
}

static void fp8(const char *name, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  from_binary32(name, [=](float v) { return __nv_cvt_float_to_fp8(v, s, k); });
  from_binary64(name, [=](double v) { return __nv_cvt_double_to_fp8(v, s, k); });
  from_16_bits(
      name, [=](__half_raw v) { return __nv_cvt_halfraw_to_fp8(v, s, k); },
      [=](__nv_bfloat16_raw v) { return __nv_cvt_bfloat16raw_to_fp8(v, s, k); });
}

static void test_fp8(void **) {
  fp8("cuda.fp8_e4m3.satfinite", __NV_SATFINITE, __NV_E4M3);
  fp8("cuda.fp8_e4m3.nosat", __NV_NOSAT, __NV_E4M3);
  fp8("cuda.fp8_e5m2.satfinite", __NV_SATFINITE, __NV_E5M2);
  fp8("cuda.fp8_e5m2.nosat", __NV_NOSAT, __NV_E5M2);
}

static void e8m0(const char *name, __nv_saturation_t s, cudaRoundMode r) {
  from_binary32(name, [=](float v) { return __nv_cvt_float_to_e8m0(v, s, r); });
  from_binary64(name, [=](double v) { return __nv_cvt_double_to_e8m0(v, s, r); });
}

static void test_e8m0(void **) {
  e8m0("cuda.fp8_e8m0.rz.satfinite", __NV_SATFINITE, cudaRoundZero);
  e8m0("cuda.fp8_e8m0.rz.nosat", __NV_NOSAT, cudaRoundZero);
  e8m0("cuda.fp8_e8m0.rp.satfinite", __NV_SATFINITE, cudaRoundPosInf);
  e8m0("cuda.fp8_e8m0.rp.nosat", __NV_NOSAT, cudaRoundPosInf);
}

static void fp6(const char *name, __nv_fp6_interpretation_t k, cudaRoundMode r) {
  from_binary32(name, [=](float v) { return __nv_cvt_float_to_fp6(v, k, r); });
  from_binary64(name, [=](double v) { return __nv_cvt_double_to_fp6(v, k, r); });
  from_16_bits(
      name, [=](__half_raw v) { return __nv_cvt_halfraw_to_fp6(v, k, r); },
      [=](__nv_bfloat16_raw v) { return __nv_cvt_bfloat16raw_to_fp6(v, k, r); });
}

static void fp4(const char *name, cudaRoundMode r) {
  from_binary32(name, [=](float v) { return __nv_cvt_float_to_fp4(v, __NV_E2M1, r); });
  from_binary64(name, [=](double v) { return __nv_cvt_double_to_fp4(v, __NV_E2M1, r); });
  from_16_bits(
      name, [=](__half_raw v) { return __nv_cvt_halfraw_to_fp4(v, __NV_E2M1, r); },
      [=](__nv_bfloat16_raw v) { return __nv_cvt_bfloat16raw_to_fp4(v, __NV_E2M1, r); });
}

static void test_fp6_fp4(void **) {
  fp6("cuda.fp6_e2m3.rn", __NV_E2M3, cudaRoundNearest);
  fp6("cuda.fp6_e2m3.rz", __NV_E2M3, cudaRoundZero);
  fp6("cuda.fp6_e3m2.rn", __NV_E3M2, cudaRoundNearest);
  fp6("cuda.fp6_e3m2.rz", __NV_E3M2, cudaRoundZero);
  fp4("cuda.fp4_e2m1.rn", cudaRoundNearest);
  fp4("cuda.fp4_e2m1.rz", cudaRoundZero);
}

static void test_16_bits(void **) {
  from_binary32("cuda.half.rn", [](float v) { return raw(__float2half_rn(v)); });
  from_binary32("cuda.half.rz", [](float v) { return raw(__float2half_rz(v)); });
  from_binary32("cuda.half.ru", [](float v) { return raw(__float2half_ru(v)); });
  from_binary32("cuda.half.rd", [](float v) { return raw(__float2half_rd(v)); });
  from_binary64("cuda.half.rn", [](double v) { return raw(__double2half(v)); });
  from_binary32("cuda.bfloat16.rn", [](float v) { return raw(__float2bfloat16_rn(v)); });
  from_binary32("cuda.bfloat16.rz", [](float v) { return raw(__float2bfloat16_rz(v)); });
  from_binary32("cuda.bfloat16.ru", [](float v) { return raw(__float2bfloat16_ru(v)); });
  from_binary32("cuda.bfloat16.rd", [](float v) { return raw(__float2bfloat16_rd(v)); });
  from_binary64("cuda.bfloat16.rn", [](double v) { return raw(__double2bfloat16(v)); });
}

template <class Value>
static void all_codes(const char *name, uint32_t count, Value value) {
  hu_conversion c = named(name);
  for (uint32_t u = 0; u < count; u++) {
    float mine = hu_decode(c.format, u), theirs = value(static_cast<unsigned char>(u));
    if (!t_same32(mine, theirs) && !(std::isnan(mine) && std::isnan(theirs)))
      fail_msg("%s: code %x: %a, %a", name, u, mine, theirs);
  }
}

static void test_values(void **) {
  all_codes("cuda.fp8_e4m3.nosat", 256,
            [](unsigned char u) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(u, __NV_E4M3))); });
  all_codes("cuda.fp8_e5m2.nosat", 256,
            [](unsigned char u) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(u, __NV_E5M2))); });
  all_codes("cuda.fp6_e2m3.rn", 64,
            [](unsigned char u) { return __half2float(__half(__nv_cvt_fp6_to_halfraw(u, __NV_E2M3))); });
  all_codes("cuda.fp6_e3m2.rn", 64,
            [](unsigned char u) { return __half2float(__half(__nv_cvt_fp6_to_halfraw(u, __NV_E3M2))); });
  all_codes("cuda.fp4_e2m1.rn", 16,
            [](unsigned char u) { return __half2float(__half(__nv_cvt_fp4_to_halfraw(u, __NV_E2M1))); });
  all_codes("cuda.fp8_e8m0.rz.nosat", 256,
            [](unsigned char u) { return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(u))); });
}

int main() {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fp8), cmocka_unit_test(test_e8m0),
                                     cmocka_unit_test(test_fp6_fp4), cmocka_unit_test(test_16_bits),
                                     cmocka_unit_test(test_values)};
  return cmocka_run_group_tests_name("presets of CUDA's conversions", tests, nullptr, nullptr);
}
