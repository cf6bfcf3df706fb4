// SPDX-License-Identifier: MIT
// tests/cuda_host/kernels_products.cpp - the kernels of products alone, for builds with a planted fault.
#include "gpu/gemm.cu"
#include "gpu/gemm_align.cu"
#include "gpu/gemm_exact32.cu"
#include "gpu/gemm_exact64.cu"
#include "gpu/gemm_fp32.cu"
#include "gpu/gemm_half.cu"
#include "gpu/gemm_seq.cu"
#include "gpu/gemm_wide.cu"
#include "gpu/host.cu"
#include "gpu/memory.cu"
#include "gpu/models.cu"

hu_status hu_device_quantize_n(size_t, float *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode,
                               const hu_exec *, hu_events *, void *) {
  return HU_E_DEVICE;
}

hu_status hu_device_encode_n(size_t, void *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode, const hu_exec *,
                             hu_events *, void *) {
  return HU_E_DEVICE;
}
