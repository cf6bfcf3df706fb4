/* SPDX-License-Identifier: MIT */
/* gpu/none/hadamard.c - the random Hadamard transform of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device_scaled.h"

hu_status hu_device_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                     const hu_hadamard *transform, const hu_exec *exec, void *stream) {
  (void)rows, (void)cols, (void)z, (void)ldz, (void)x, (void)ldx, (void)transform, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                     const hu_hadamard *transform, const hu_exec *exec, void *stream) {
  (void)rows, (void)cols, (void)z, (void)ldz, (void)x, (void)ldx, (void)transform, (void)exec, (void)stream;
  return HU_E_DEVICE;
}
