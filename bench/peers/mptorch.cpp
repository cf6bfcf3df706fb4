// SPDX-License-Identifier: MIT
// bench/peers - MPTorch's casts of one number for the CPU (mptorch/quant/quant_cpu/fp_kernel.h), over an array.
#include "fp_kernel.h"
#include "peer.h"

// Defines a case. number: exponent bits times 100, plus fraction bits.
#define CASE(name, format, round, number) \
  { name, PEER_QUANTIZE, format, round, 0, number }
extern const peer_case peer_cases[] = {CASE("cast_fp_nearest_even, binary16", "binary16", "rne", 510),
                                       CASE("cast_fp_nearest_even, bfloat16", "bfloat16", "rne", 807),
                                       CASE("cast_fp_nearest_even, float8_e5m2", "float8_e5m2", "rne", 502),
                                       CASE("cast_fp_zero, float8_e5m2", "float8_e5m2", "rtz", 502),
                                       CASE("cast_fp_stochastic, float8_e5m2", "float8_e5m2", "sra:21", 502),
                                       {nullptr, 0, nullptr, nullptr, 0, 0}};

void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *, const void *) {
  const float *in = static_cast<const float *>(x);
  float *out = static_cast<float *>(z);
  const int man = asked->number % 100, exp = asked->number / 100, bias = (1 << (exp - 1)) - 1;
  const bool saturate = false;
  for (size_t i = 0; i < n; i++) {
    switch (asked->round[2]) {
      case 'e': out[i] = cast_fp_nearest_even(in[i], man, exp, bias, saturate, SubnormalsMode::SUBNORMALS); break;
      case 'z': out[i] = cast_fp_zero(in[i], man, exp, bias, saturate, SubnormalsMode::SUBNORMALS); break;
      default: out[i] = cast_fp_stochastic(in[i], man, exp, bias, saturate, SubnormalsMode::SUBNORMALS);
    }
  }
}
