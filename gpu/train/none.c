/* SPDX-License-Identifier: MIT */
/* gpu/train/none.c - libhalfulp-train-cuda without nvcc, as gpu/none.c. */
#include "halfulp/train/net.h"

hu_status hu_engine_device(const hu_engine **engine) {
  if (!engine) return HU_E_NULL;
  *engine = NULL;
  return HU_E_DEVICE;
}
