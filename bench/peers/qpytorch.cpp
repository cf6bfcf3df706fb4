// SPDX-License-Identifier: MIT
// bench/peers - QPyTorch's kernels for the CPU (qtorch/quant/quant_cpu), compiled with torch/torch.h instead of
// PyTorch.
#include <torch/torch.h>

#include "peer.h"

at::Tensor float_quantize_nearest(at::Tensor a, int man_bits, int exp_bits);
at::Tensor float_quantize_stochastic(at::Tensor a, int man_bits, int exp_bits);

// Defines a case. number: exponent bits times 100, plus fraction bits.
#define CASE(name, format, round, number) \
  { name, PEER_QUANTIZE, format, round, 1, number }
extern const peer_case peer_cases[] = {
    CASE("float_quantize_nearest, exp 5, man 2", "fp(5,2,0):finite", "rna", 502),
    CASE("float_quantize_nearest, exp 4, man 3", "fp(4,3,0):finite", "rna", 403),
    CASE("float_quantize_nearest, exp 6, man 9", "fp(6,9,0):finite", "rna", 609),
    CASE("float_quantize_stochastic, exp 5, man 2", "fp(5,2,0):finite", "sra:21", 502),
    {NULL, 0, NULL, NULL, 0, 0}};

void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *, const void *) {
  at::Tensor in = at::Tensor::over(static_cast<const float *>(x), n);
  int man = asked->number % 100, exp = asked->number / 100;
  at::Tensor out =
      asked->round[0] == 's' ? float_quantize_stochastic(in, man, exp) : float_quantize_nearest(in, man, exp);
  std::memcpy(z, out.data_ptr<float>(), n * sizeof(float));
}
