// SPDX-License-Identifier: MIT
// tests/cuda_host/kernels_products.cpp - the kernels of products alone, for builds with a planted fault.
#include "gpu/base/look.cu"
#include "gpu/base/memory.cu"
#include "gpu/gemm/by_model.cu"
#include "gpu/gemm/exact32.cu"
#include "gpu/gemm/exact64.cu"
#include "gpu/gemm/exact_bytes.cu"
#include "gpu/gemm/exact_wide.cu"
#include "gpu/gemm/fp32.cu"
#include "gpu/gemm/gemm.cu"
#include "gpu/gemm/seq.cu"
#include "gpu/gemm/seq_half.cu"
#include "gpu/gemm/blocks.cu"
#include "gpu/gemm/unfused.cu"
#include "gpu/gemm/unit.cu"
#include "gpu/host.cu"

hu_status hu_device_quantize_n(size_t, float *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode,
                               const hu_exec *, hu_events *, void *) {
  return HU_E_DEVICE;
}

hu_status hu_device_encode_n(size_t, void *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode, const hu_exec *,
                             hu_events *, void *) {
  return HU_E_DEVICE;
}
