// SPDX-License-Identifier: MIT
// The host conversions of CUDA's own headers (cuda_fp8.h, cuda_fp6.h, cuda_fp4.h, cuda_fp16.h, cuda_bf16.h) against
// ours.
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
static uint16_t ours[CROSS_CHUNK];

static float as_float(uint32_t u) {
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f;
}

static hu_mode mode_of(unsigned round, unsigned saturate) {
  hu_mode mode{};
  mode.round = static_cast<uint8_t>(round);
  mode.saturate = static_cast<uint8_t>(saturate);
  return mode;
}

// CUDA's NaN codes may be others (0x7FFF for binary16 and bfloat16): NaN equals NaN. Negative: does CUDA mean what
// we mean?
template <class Convert>
static void compare(const char *what, hu_format format, hu_mode mode, bool negative, Convert convert) {
  cross_inputs in{0, HU_EXHAUSTIVE, 0};
  uint64_t total = 0;
  uint32_t storage = hu_limits_of(format).storage;
  for (size_t n; (n = cross_fill(&in, x)) != 0;) {
    int status = hu_encode_n(n, ours, 1, reinterpret_cast<const float *>(x), 1, format, mode, nullptr, nullptr);
    assert_int_equal(status, HU_OK);
    for (size_t i = 0; i < n; i++) {
      if (!negative && (x[i] >> 31)) continue;
      uint32_t mine = storage == 8 ? reinterpret_cast<const uint8_t *>(ours)[i] : ours[i];
      uint32_t theirs = static_cast<uint32_t>(convert(as_float(x[i])));
      total++;
      if (mine == theirs) continue;
      if (std::isnan(hu_decode64(format, mine)) && std::isnan(hu_decode64(format, theirs))) continue;
      fail_msg("%s: %08x: ours %x, CUDA's %x", what, x[i], mine, theirs);
    }
  }
  assert_true(total > 500000);
  print_message("%s: %lu inputs, equal\n", what, static_cast<unsigned long>(total));
}

static void test_fp8(void **) {
  for (int sat = 0; sat < 2; sat++) {
    __nv_saturation_t s = sat ? __NV_SATFINITE : __NV_NOSAT;
    hu_mode mode = mode_of(HU_RNE, sat ? HU_SAT_FINITE : HU_SAT_NONE);
    compare(sat ? "E4M3, SATFINITE" : "E4M3, NOSAT", hu_float8_e4m3fn(), mode, true,
            [s](float v) { return __nv_cvt_float_to_fp8(v, s, __NV_E4M3); });
    compare(sat ? "E5M2, SATFINITE" : "E5M2, NOSAT", hu_float8_e5m2(), mode, true,
            [s](float v) { return __nv_cvt_float_to_fp8(v, s, __NV_E5M2); });
  }
}

static void test_fp8_from_double(void **) {
  t_random random = {t_seed("cuda double", 1)};
  for (int i = 0; i < 1000000; i++) {
    double d = t_random_operand(&random, i & 1 ? hu_float8_e4m3fn() : hu_float8_e5m2());
    if (std::isnan(d)) continue;
    assert_int_equal(hu_encode64(hu_float8_e4m3fn(), mode_of(HU_RNE, HU_SAT_FINITE), d, 0, nullptr),
                     __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E4M3));
    assert_int_equal(hu_encode64(hu_float8_e5m2(), mode_of(HU_RNE, HU_SAT_FINITE), d, 0, nullptr),
                     __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E5M2));
  }
}

static void test_fp6_fp4(void **) {
  struct {
    unsigned ours;
    cudaRoundMode theirs;
  } rounds[] = {{HU_RNE, cudaRoundNearest}, {HU_RTZ, cudaRoundZero}};
  for (auto r : rounds) {
    hu_mode mode = mode_of(r.ours, HU_SAT_DEFAULT);
    compare("E2M3", hu_float6_e2m3fn(), mode, true,
            [r](float v) { return __nv_cvt_float_to_fp6(v, __NV_E2M3, r.theirs); });
    compare("E3M2", hu_float6_e3m2fn(), mode, true,
            [r](float v) { return __nv_cvt_float_to_fp6(v, __NV_E3M2, r.theirs); });
    compare("E2M1", hu_float4_e2m1fn(), mode, true,
            [r](float v) { return __nv_cvt_float_to_fp4(v, __NV_E2M1, r.theirs); });
  }
}

static void test_e8m0(void **) {
  // CUDA takes |x|; we do not (docs/numerics.md C16), so only positive operands.
  for (int sat = 0; sat < 2; sat++) {
    __nv_saturation_t s = sat ? __NV_SATFINITE : __NV_NOSAT;
    unsigned policy = sat ? HU_SAT_FINITE : HU_SAT_NONE;
    compare("E8M0 toward zero", hu_float8_e8m0fnu(), mode_of(HU_RTZ, policy), false,
            [s](float v) { return __nv_cvt_float_to_e8m0(v, s, cudaRoundZero); });
    compare("E8M0 toward positive", hu_float8_e8m0fnu(), mode_of(HU_RTP, policy), false,
            [s](float v) { return __nv_cvt_float_to_e8m0(v, s, cudaRoundPosInf); });
  }
}

static uint16_t raw(__half h) { return static_cast<__half_raw>(h).x; }
static uint16_t raw(__nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }

static void test_16_bits(void **) {
  hu_format half = hu_binary16(), b = hu_bfloat16();
  compare("__float2half_rn", half, mode_of(HU_RNE, 0), true, [](float v) { return raw(__float2half_rn(v)); });
  compare("__float2half_rz", half, mode_of(HU_RTZ, 0), true, [](float v) { return raw(__float2half_rz(v)); });
  compare("__float2half_ru", half, mode_of(HU_RTP, 0), true, [](float v) { return raw(__float2half_ru(v)); });
  compare("__float2half_rd", half, mode_of(HU_RTN, 0), true, [](float v) { return raw(__float2half_rd(v)); });
  compare("__float2bfloat16_rn", b, mode_of(HU_RNE, 0), true, [](float v) { return raw(__float2bfloat16_rn(v)); });
  compare("__float2bfloat16_rz", b, mode_of(HU_RTZ, 0), true, [](float v) { return raw(__float2bfloat16_rz(v)); });
  compare("__float2bfloat16_ru", b, mode_of(HU_RTP, 0), true, [](float v) { return raw(__float2bfloat16_ru(v)); });
  compare("__float2bfloat16_rd", b, mode_of(HU_RTN, 0), true, [](float v) { return raw(__float2bfloat16_rd(v)); });
}

static void test_half_to_fp8(void **) {
  for (uint32_t c = 0; c < 65536; c++) {
    __half_raw h;
    h.x = static_cast<unsigned short>(c);
    uint32_t theirs = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3);
    uint32_t mine = hu_convert(hu_float8_e4m3fn(), mode_of(HU_RNE, HU_SAT_FINITE), hu_binary16(), c, 0, nullptr);
    assert_int_equal(mine, theirs);
    __nv_bfloat16_raw b;
    b.x = h.x;
    theirs = __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E5M2);
    mine = hu_convert(hu_float8_e5m2(), mode_of(HU_RNE, HU_SAT_FINITE), hu_bfloat16(), c, 0, nullptr);
    assert_int_equal(mine, theirs);
  }
}

int main() {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fp8),  cmocka_unit_test(test_fp8_from_double), cmocka_unit_test(test_fp6_fp4),
      cmocka_unit_test(test_e8m0), cmocka_unit_test(test_16_bits),         cmocka_unit_test(test_half_to_fp8),
  };
  return cmocka_run_group_tests_name("CUDA's host conversions", tests, nullptr, nullptr);
}
