/* SPDX-License-Identifier: MIT */
/* gpu/base/look.h - enqueues a look at codes that the call's own kernel is about to read: one with bits above its width
 * is remembered in device memory until hu_device_synchronize asks. Where the width fills the storage nothing is
 * enqueued. hui_launched also reports launches that fail here. */
#ifndef HALFULP_GPU_BASE_LOOK_H
#define HALFULP_GPU_BASE_LOOK_H

#include "emu/base/codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Looks at codes whose addresses the caller has checked. */
void hui_look_at(hu_code_area x, void *stream);

#ifdef __cplusplus
}
#endif

#endif
