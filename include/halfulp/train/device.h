/* SPDX-License-Identifier: MIT */
/* halfulp/train/device.h - networks on a CUDA device (library halfulp-train-cuda).
 *
 *   const hu_engine *device;
 *   if (hu_engine_device(&device) != HU_OK) ...            // HU_E_DEVICE: none, or a library without CUDA
 *   hu_net *net = hu_net_new_on(device, 64, 1);            // everything else as on the CPU
 *
 * All tensors of such a net live in the device's memory, every operator, rounding and step of the optimizer runs there,
 * and every bit is the same as on the CPU: weights, values, gradients, counts, losses (docs/training.md section 6).
 * These calls copy data between host and device: hu_net_feed, hu_net_labels, hu_net_targets, hu_net_set_parameter; the
 * loss of hu_net_forward where it is asked for, the largest gradient of a step, and hu_net_value, hu_net_parameter,
 * hu_net_digest, which wait for the device. A net with an embedding waits for it once a pass, too. */
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
