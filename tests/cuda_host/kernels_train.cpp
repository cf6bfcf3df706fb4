/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/kernels_train.cpp - the kernels of training, compiled for the CPU. */
#include "gpu/train.cu"
