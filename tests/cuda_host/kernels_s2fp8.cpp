// SPDX-License-Identifier: MIT
// tests/cuda_host/kernels_s2fp8.cpp - what a test of shifted and squeezed tensors runs, for copies with planted faults.
#include "tests/cuda_host/kernels_products.cpp"

#include "gpu/scaled/s2fp8.cu"
