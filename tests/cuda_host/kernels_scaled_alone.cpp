// SPDX-License-Identifier: MIT
// tests/cuda_host/kernels_scaled_alone.cpp - the kernels of scaled tensors without the others, for builds with a
// planted fault.
#include "gpu/base/look.cu"
#include "gpu/base/memory.cu"
#include "tests/cuda_host/kernels_scaled.cpp"

hu_status hu_device_available(char *name, size_t size) {
  snprintf(name, size, "host-run of the kernels of scaled tensors");
  return HU_OK;
}
