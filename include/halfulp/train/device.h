/* SPDX-License-Identifier: MIT */
/* halfulp/train/device.h - networks on a CUDA device (library halfulp-train-cuda).
 *
 *   const hu_engine *device;
 *   if (hu_engine_device(&device) != HU_OK) ...            // HU_E_DEVICE: none, or a library without CUDA
 *   hu_net *net = hu_net_new_on(device, 64, 1);            // everything else as on the CPU
 *
 * All tensors of such a net live in the device's memory, every operator, rounding and step of the optimizer runs there,
 * and every bit is the same as on the CPU: weights, values, gradients, counts, losses (docs/training.md section 6).
 * These calls copy data to the device: hu_net_feed, hu_net_labels, hu_net_targets, hu_net_set_parameter. They return
 * when the caller's array may change, and wait for the device only where the array has more than 2^18 bytes.
 *
 * These bring data back, and wait: hu_net_forward where the loss is asked for, or where the net has an embedding, whose
 * tokens are checked; hu_net_update, for the largest gradient, for the counts of updates where they are asked for, and
 * for sums of squares where rules ask for norms; hu_net_value, hu_net_parameter, hu_net_digest. No step copies weights
 * or gradients. */
#ifndef HALFULP_TRAIN_DEVICE_H
#define HALFULP_TRAIN_DEVICE_H

#include "halfulp/train/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The current device. HU_E_DEVICE: there is none, or the library was built without CUDA; *engine is NULL then. */
HU_API HU_MUST_CHECK hu_status hu_engine_device(const hu_engine **engine);

#ifdef __cplusplus
}
#endif
#endif
