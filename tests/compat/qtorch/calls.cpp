// SPDX-License-Identifier: MIT
// QPyTorch's functions for the CPU as C calls over arrays, from its own source: -DQTORCH_SOURCE="...quant_cpu.cpp".
#include QTORCH_SOURCE

static void copy(float *z, Tensor x) { std::memcpy(z, x.data_ptr<float>(), sizeof(float) * x.values.size()); }
static Tensor tensor(const float *x, size_t n) { return Tensor(std::vector<float>(x, x + n)); }

extern "C" {
void qtorch_float(float *z, const float *x, size_t n, int man, int exp) {
  copy(z, float_quantize_nearest(tensor(x, n), man, exp));
}
void qtorch_float_stochastic(float *z, const float *x, size_t n, int man, int exp) {
  copy(z, float_quantize_stochastic(tensor(x, n), man, exp));
}
void qtorch_fixed(float *z, const float *x, size_t n, int wl, int fl) {
  copy(z, fixed_point_quantize_nearest(tensor(x, n), wl, fl, true, false));
}
void qtorch_block(float *z, const float *x, size_t n, int wl) { copy(z, block_quantize_nearest(tensor(x, n), wl, -1)); }
}
