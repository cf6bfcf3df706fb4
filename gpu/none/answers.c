/* SPDX-License-Identifier: MIT */
/* libhalfulp-cuda without nvcc: the functions whose answer is not HU_E_DEVICE. scripts/without_cuda.py makes the others
 * from the public headers. */
#include "emu/base/device_calls.h"
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

/* Gives a place that runs no call. */
hu_where hu_cuda(void *stream) {
  static const hu_device_calls calls;
  return (hu_where){&calls, stream, NULL};
}

hu_where hu_cuda_host(void) { return hu_cuda(NULL); }

void hu_device_versions(char *text, size_t size) {
  if (size) text[0] = '\0';
}
