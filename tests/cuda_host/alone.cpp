// SPDX-License-Identifier: MIT
// tests/cuda_host/alone.cpp - the kernels of the one subject that HU_ALONE_... names, compiled for the CPU: for copies
// with a planted fault, which are soon compiled without the others.
#include <stdio.h>

#include "gpu/base/look.cu"
#include "gpu/base/memory.cu"

#if defined(HU_ALONE_S2FP8)
#include "gpu/scaled/s2fp8.cu"
#define HU_ALONE_PRODUCTS 1
#endif

#if defined(HU_ALONE_PRODUCTS)
#include "gpu/device.cu"
#include "gpu/gemm/blocks.cu"
#include "gpu/gemm/by_model.cu"
#include "gpu/gemm/exact32.cu"
#include "gpu/gemm/exact64.cu"
#include "gpu/gemm/exact_bytes.cu"
#include "gpu/gemm/exact_wide.cu"
#include "gpu/gemm/fp32.cu"
#include "gpu/gemm/gemm.cu"
#include "gpu/gemm/seq.cu"
#include "gpu/gemm/seq_half.cu"
#include "gpu/gemm/unfused.cu"
#include "gpu/gemm/unit.cu"

hu_status hu_device_quantize_n(size_t, float *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode,
                               const hu_exec *, hu_events *, void *) {
  return HU_E_DEVICE;
}

hu_status hu_device_encode_n(size_t, void *, ptrdiff_t, const float *, ptrdiff_t, hu_format, hu_mode, const hu_exec *,
                             hu_events *, void *) {
  return HU_E_DEVICE;
}
#else
#if defined(HU_ALONE_HADAMARD)
#include "gpu/scaled/hadamard.cu"
#elif defined(HU_ALONE_NUMBER)
#include "gpu/elementwise/number.cu"
#elif defined(HU_ALONE_SCALED)
#include "gpu/host/kernels_scaled.cpp"
#elif defined(HU_ALONE_SUM)
#include "gpu/sum/arrays.cu"
#include "gpu/sum/total.cu"
#else
#error "which kernels?"
#endif

hu_status hu_device_available(char *name, size_t size) {
  snprintf(name, size, "host-run of the kernels of one subject");
  return HU_OK;
}
#endif
