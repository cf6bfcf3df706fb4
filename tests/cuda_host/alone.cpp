// SPDX-License-Identifier: MIT
// tests/cuda_host/alone.cpp - the kernels of the one subject that HU_ALONE_... names, compiled for the CPU: for copies
// with a planted fault, which are soon compiled without the others.
#include <stdio.h>

#include "gpu/base/calls.h"
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

hu_status hui_cuda_apply(int, size_t, const hu_output *, const hu_view *, const hu_how *) { return HU_E_DEVICE; }
#else
#if defined(HU_ALONE_HADAMARD)
#include "gpu/scaled/hadamard.cu"
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

/* The place has the calls of the subject alone. */
hu_where hu_cuda(void *stream) {
  static hu_device_calls calls;
#if defined(HU_ALONE_PRODUCTS)
  calls.multiply = hui_cuda_gemm;
  calls.dot_n = hui_cuda_dot_n;
#endif
#if defined(HU_ALONE_S2FP8)
  calls.s2fp8_sum_n = hui_cuda_s2fp8_sum_n;
  calls.s2fp8_scale_of = hui_cuda_s2fp8_scale_of;
  calls.s2fp8_encode_n = hui_cuda_s2fp8_encode_n;
  calls.s2fp8_decode_n = hui_cuda_s2fp8_decode_n;
  calls.s2fp8_quantize_n = hui_cuda_s2fp8_quantize_n;
  calls.s2fp8_truncate_n = hui_cuda_s2fp8_truncate_n;
  calls.multiply = hui_cuda_s2fp8_gemm;
  calls.multiply_space = hui_cuda_s2fp8_gemm_space;
#elif defined(HU_ALONE_HADAMARD)
  calls.hadamard = hui_cuda_hadamard;
#elif defined(HU_ALONE_SCALED)
  calls.scaled_work = hui_cuda_scaled_work;
  calls.scaled_encode = hui_cuda_scaled_encode;
  calls.scaled_quantize = hui_cuda_scaled_quantize;
  calls.scaled_decode = hui_cuda_scaled_decode;
  calls.scaled_pack = hui_cuda_scaled_pack;
  calls.scaled_unpack = hui_cuda_scaled_unpack;
#elif defined(HU_ALONE_SUM)
  calls.sum_add = hui_cuda_sum_add;
  calls.sum_merge_n = hui_cuda_sum_merge_n;
  calls.sum_round_n = hui_cuda_sum_round_n;
  calls.sum_total = hui_cuda_sum_total;
#endif
  hu_where place = {&calls, stream, NULL};
  return place;
}

#if defined(HU_ALONE_PRODUCTS)
hu_where hu_cuda_host(void) {
  static hu_device_calls calls;
  calls.gemm = hui_cuda_host_gemm;
  hu_where place = {&calls, NULL, NULL};
  return place;
}
#endif
