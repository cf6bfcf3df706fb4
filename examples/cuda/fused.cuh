/* SPDX-License-Identifier: MIT */
/* Two kernels of one's own that round in registers, by halfulp/core.h: nothing but the 8-bit or 16-bit result goes to
 * memory. A hu_core (format and mode unfolded) is plain data and goes to the kernel by value. */
#ifndef FUSED_CUH
#define FUSED_CUH

#include <halfulp/core.h>

/* z = FP8 codes of relu(x + bias), x of rows x cols; *overflows grows by the elements that overflowed. */
__global__ void bias_relu_encode(hu_core to, size_t rows, size_t cols, uint8_t *z, const float *x, const float *bias,
                                 unsigned long long *overflows) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float y = x[i] + bias[i % cols];
  uint32_t events;
  z[i] = (uint8_t)hu_core_encode(&to, y > 0 ? y : 0, 0, &events);
  if (events & HU_EVENT_OVERFLOW) atomicAdd(overflows, 1ull);
}

/* w = w - rate g for weights kept as codes (bfloat16, say), rounded stochastically: weight i draws word `first` + i of
 * the stream `key`, whatever the grid, so a run repeats bit for bit on any device and on the host. */
__global__ void sgd_stochastic(hu_core at, size_t n, uint16_t *w, const float *g, float rate, uint64_t key,
                               uint64_t first) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float next = fmaf(-rate, g[i], hu_core_decode(&at, w[i]));
  w[i] = (uint16_t)hu_core_encode(&at, next, hu_core_random(&at, key, first + i), NULL);
}

#endif
