/* SPDX-License-Identifier: MIT */
/* gpu/none/none_train.c - libhalfulp-train-cuda where there is no nvcc. */
#include "halfulp/train/device.h"

hu_status hu_engine_device(const hu_engine **engine) {
  if (!engine) return HU_E_NULL;
  *engine = NULL;
  return HU_E_DEVICE;
}
