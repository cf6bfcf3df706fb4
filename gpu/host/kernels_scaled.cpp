/* SPDX-License-Identifier: MIT */
/* gpu/host/kernels_scaled.cpp - the kernels of scaled tensors, compiled for the CPU. */
#include "gpu/scaled/decode.cu"
#include "gpu/scaled/pack.cu"
#include "gpu/scaled/quantize.cu"
#include "gpu/scaled/quantize_rows.cu"
#include "gpu/scaled/quantize_tiles.cu"
#include "gpu/scaled/quantize_eights.cu"
