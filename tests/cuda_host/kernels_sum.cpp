/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/kernels_sum.cpp - the kernels of sums alone, for copies with a planted fault. */
#include <stdio.h>

#include "gpu/base/look.cu"
#include "gpu/base/memory.cu"
#include "gpu/sum/arrays.cu"
#include "gpu/sum/total.cu"

hu_status hu_device_available(char *name, size_t size) {
  snprintf(name, size, "host-run of the kernels of sums");
  return HU_OK;
}
