/* SPDX-License-Identifier: MIT */
/* gpu/none.c - libhalfulp-cuda without nvcc: there is no device, and its place runs no call. */
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

int hu_device_last_error(char *text, size_t size) {
  if (text && size) text[0] = '\0';
  return 0;
}

hu_status hu_device_synchronize(void *stream) {
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_mma_at(hu_device_mma *mma, size_t i) {
  (void)mma, (void)i;
  return HU_E_DEVICE;
}

hu_status hu_device_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b, const void *c) {
  (void)i, (void)tiles, (void)d, (void)a, (void)b, (void)c;
  return HU_E_DEVICE;
}
