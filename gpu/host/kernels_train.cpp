/* SPDX-License-Identifier: MIT */
/* gpu/host/kernels_train.cpp - the kernels of training, compiled for the CPU; their plain operators are a
 * device's. */
#include "gpu/host/device_float.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define float hu_device_float
#include "gpu/train/kernels.cu"
