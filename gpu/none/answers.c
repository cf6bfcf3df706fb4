/* SPDX-License-Identifier: MIT */
/* libhalfulp-cuda without nvcc: the functions whose answer is neither HU_E_DEVICE nor 0 bytes of working space.
 * scripts/without_cuda.py makes the others from the public headers. */
#include "halfulp/device.h"

#include <string.h>

hu_status hu_device_available(char *name, size_t size) {
  static const char text[] = "built without CUDA";
  if (name && size) {
    size_t n = sizeof text < size ? sizeof text : size;
    memcpy(name, text, n);
    name[n - 1] = '\0';
  }
  return HU_E_DEVICE;
}

void hu_device_versions(char *text, size_t size) {
  if (size) text[0] = '\0';
}
