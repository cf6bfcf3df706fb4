/* SPDX-License-Identifier: MIT */
/* gpu/host/digest.cpp - the digest's kernels, compiled for the CPU. */
#include "gpu/tools/digest.cu"
