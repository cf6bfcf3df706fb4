/* SPDX-License-Identifier: MIT */
/* gpu/host/kernels_train.cpp - the kernels of training for the CPU, with a device's plain operators. */
#include "gpu/host/device_float.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define float hu_device_float
#include "gpu/train/kernels.cu"
