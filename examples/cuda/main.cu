/* SPDX-License-Identifier: MIT */
/* Runs the kernels of fused.cuh on the device and holds every bit against the library on the host. */
#include <cuda_runtime.h>

#include "check.h"
#include "fused.cuh"

static void must(cudaError_t e) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  exit(1);
}

template <class T>
static T *on_device(const std::vector<T> &x) {
  T *d;
  must(cudaMalloc(&d, x.size() * sizeof(T)));
  must(cudaMemcpy(d, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("no CUDA device here\n");
    return 77;
  }
  Problem p;
  std::vector<uint8_t> z(COUNT);
  std::vector<uint16_t> w = p.w;
  std::vector<unsigned long long> overflows(1);
  hu_core to, at; /* checked and unfolded once, on the host */
  if (hu_core_make(&to, p.fp8, p.rne) != HU_OK || hu_core_make(&at, p.bf16, p.stochastic) != HU_OK) return 1;

  float *x = on_device(p.x), *bias = on_device(p.bias), *g = on_device(p.g);
  uint8_t *dz = on_device(z);
  uint16_t *dw = on_device(w);
  unsigned long long *count = on_device(overflows);
  unsigned blocks = (COUNT + 255) / 256;
  bias_relu_encode<<<blocks, 256>>>(to, ROWS, COLS, dz, x, bias, count);
  sgd_stochastic<<<blocks, 256>>>(at, COUNT, dw, g, p.rate, p.key, p.first);
  must(cudaGetLastError());
  must(cudaMemcpy(z.data(), dz, z.size(), cudaMemcpyDeviceToHost));
  must(cudaMemcpy(w.data(), dw, w.size() * sizeof(uint16_t), cudaMemcpyDeviceToHost));
  must(cudaMemcpy(overflows.data(), count, sizeof(unsigned long long), cudaMemcpyDeviceToHost));
  return check(p, z, overflows[0], w) != 0;
}
