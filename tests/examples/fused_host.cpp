// SPDX-License-Identifier: MIT
// The kernels of examples/cuda on the CPU, through the same stand-in for CUDA as the library's own (gpu/host).
#include "cuda_runtime.h"

#include "check.h"
#include "fused.cuh"

int main() {
  Problem problem;
  std::vector<uint8_t> z(COUNT);
  std::vector<uint16_t> w = problem.w;
  unsigned long long overflows = 0;
  hu_core to, at;
  if (hu_core_make(&to, problem.fp8, problem.rne) != HU_OK ||
      hu_core_make(&at, problem.bf16, problem.stochastic) != HU_OK)
    return 1;
  unsigned blocks = (COUNT + 255) / 256;
  hui_host_start(bias_relu_encode, blocks, 256, NULL, to, (size_t)ROWS, (size_t)COLS, z.data(), problem.x.data(),
                 problem.bias.data(), &overflows);
  hui_host_start(sgd_stochastic, blocks, 256, NULL, at, (size_t)COUNT, w.data(), problem.g.data(), problem.rate,
                 problem.key, problem.first);
  return check(problem, z, overflows, w) != 0;
}
