/* SPDX-License-Identifier: MIT */
/* gpu/place.c - a CUDA device as a place where calls run: the tables of its calls. */
#include "gpu/base/calls.h"
#include "halfulp/device.h"

static const hu_device_calls calls = {.apply = hui_cuda_apply,
                                      .pack_n = hui_cuda_pack_n,
                                      .unpack_n = hui_cuda_unpack_n,
                                      .multiply = hui_cuda_multiply,
                                      .multiply_space = hui_cuda_multiply_space,
                                      .dot = hui_cuda_dot,
                                      .hadamard = hui_cuda_hadamard,
                                      .scaled_work = hui_cuda_scaled_work,
                                      .scaled_encode = hui_cuda_scaled_encode,
                                      .scaled_quantize = hui_cuda_scaled_quantize,
                                      .scaled_decode = hui_cuda_scaled_decode,
                                      .scaled_pack = hui_cuda_scaled_pack,
                                      .scaled_unpack = hui_cuda_scaled_unpack,
                                      .s2fp8_sum_n = hui_cuda_s2fp8_sum_n,
                                      .s2fp8_scale_of = hui_cuda_s2fp8_scale_of,
                                      .s2fp8_encode_n = hui_cuda_s2fp8_encode_n,
                                      .s2fp8_decode_n = hui_cuda_s2fp8_decode_n,
                                      .s2fp8_quantize_n = hui_cuda_s2fp8_quantize_n,
                                      .s2fp8_truncate_n = hui_cuda_s2fp8_truncate_n,
                                      .sum_add = hui_cuda_sum_add,
                                      .sum_merge_n = hui_cuda_sum_merge_n,
                                      .sum_round_n = hui_cuda_sum_round_n,
                                      .sum_total = hui_cuda_sum_total};
static const hu_device_calls host_calls = {.apply = hui_cuda_host_apply, .multiply = hui_cuda_host_multiply};

hu_where hu_cuda(void *stream) { return (hu_where){&calls, stream, NULL}; }

hu_where hu_cuda_host(void) { return (hu_where){&host_calls, NULL, NULL}; }
