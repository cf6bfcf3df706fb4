/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/kernels.cpp - every kernel file, compiled for the CPU. */
#include "gpu/arith.cu"
#include "gpu/convert.cu"
#include "gpu/decode.cu"
#include "gpu/encode.cu"
#include "gpu/encode64.cu"
#include "gpu/gemm.cu"
#include "gpu/gemm_exact64.cu"
#include "gpu/gemm_fp32.cu"
#include "gpu/gemm_wide.cu"
#include "gpu/host.cu"
#include "gpu/memory.cu"
#include "gpu/pack.cu"
