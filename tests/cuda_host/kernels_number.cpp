/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/kernels_number.cpp - the kernels of number systems alone, for copies with a planted fault. */
#include <stdio.h>

#include "gpu/base/look.cu"
#include "gpu/base/memory.cu"
#include "gpu/elementwise/number.cu"

hu_status hu_device_available(char *name, size_t size) {
  snprintf(name, size, "host-run of one kernel file");
  return HU_OK;
}
