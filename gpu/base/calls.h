/* SPDX-License-Identifier: MIT */
/* gpu/base/calls.h - the calls of a device, each with the contract of the public call of its name and of device.h.
 * `exec` is there, and exec->where.queue is the stream that a call enqueues in. */
#ifndef HALFULP_GPU_BASE_CALLS_H
#define HALFULP_GPU_BASE_CALLS_H

#include "emu/base/device_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

hu_call_apply hui_cuda_apply;
hu_call_pack hui_cuda_pack_n, hui_cuda_unpack_n;
/* hu_multiply and hu_multiply_space, and what the first hands on: plain products, of scaled tensors, of S2FP8 codes. */
hu_call_multiply hui_cuda_multiply, hui_cuda_gemm, hui_cuda_scaled_gemm, hui_cuda_s2fp8_gemm;
hu_call_multiply_space hui_cuda_multiply_space, hui_cuda_scaled_gemm_space, hui_cuda_s2fp8_gemm_space;
hu_call_dot hui_cuda_dot;
hu_call_hadamard hui_cuda_hadamard;
hu_call_scaled_work hui_cuda_scaled_work;
hu_call_scaled_encode hui_cuda_scaled_encode;
hu_call_scaled_quantize hui_cuda_scaled_quantize;
hu_call_scaled_decode hui_cuda_scaled_decode;
hu_call_scaled_pack hui_cuda_scaled_pack;
hu_call_scaled_unpack hui_cuda_scaled_unpack;
hu_call_s2fp8_sum_n hui_cuda_s2fp8_sum_n;
hu_call_s2fp8_scale_of hui_cuda_s2fp8_scale_of;
hu_call_s2fp8_encode_n hui_cuda_s2fp8_encode_n;
hu_call_s2fp8_decode_n hui_cuda_s2fp8_decode_n;
hu_call_s2fp8_quantize_n hui_cuda_s2fp8_quantize_n;
hu_call_s2fp8_truncate_n hui_cuda_s2fp8_truncate_n;
hu_call_sum_add hui_cuda_sum_add;
hu_call_sum_merge_n hui_cuda_sum_merge_n;
hu_call_sum_round_n hui_cuda_sum_round_n;
hu_call_sum_total hui_cuda_sum_total;
/* Plain products without scales, and conversions of arrays between formats (strides are 1), on arrays of the host,
 * which are copied to the device and back. */
hu_call_multiply hui_cuda_host_multiply;
hu_call_apply hui_cuda_host_apply;

#ifdef __cplusplus
}
#endif
#endif
