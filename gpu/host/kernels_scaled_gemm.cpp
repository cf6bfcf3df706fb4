/* SPDX-License-Identifier: MIT */
/* gpu/host/kernels_scaled_gemm.cpp - the kernels of products of scaled tensors, compiled for the CPU. */
#include "gpu/scaled/scaled_gemm.cu"
