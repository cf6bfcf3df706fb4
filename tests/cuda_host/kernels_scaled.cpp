/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/kernels_scaled.cpp - the kernels of scaled tensors, compiled for the CPU. */
#include "gpu/scaled.cu"
#include "gpu/scaled_decode.cu"
#include "gpu/scaled_pack.cu"
#include "gpu/scaled_rows.cu"
