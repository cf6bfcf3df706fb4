/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/digest.cpp - the digest's kernels, compiled for the CPU. */
#include "gpu/tools/digest.cu"
