/* SPDX-License-Identifier: MIT */
/* gpu/none/none.c - libhalfulp-cuda where there is no nvcc: every call says so. */
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

hu_status hu_device_mma_at(hu_device_mma *mma, size_t i) {
  (void)mma, (void)i;
  return HU_E_DEVICE;
}

hu_status hu_device_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b, const void *c) {
  (void)i, (void)tiles, (void)d, (void)a, (void)b, (void)c;
  return HU_E_DEVICE;
}

hu_status hu_device_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format f,
                                 hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f,
                             hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format f,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                             const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                               const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                              hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events,
      (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream) {
  (void)n, (void)z, (void)x, (void)width, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream) {
  (void)n, (void)z, (void)x, (void)width, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                         const hu_operand *c, const hu_accum *accum, hu_mode mode, const hu_exec *exec,
                         hu_events *events, void *stream) {
  (void)m, (void)n, (void)k, (void)d, (void)a, (void)b, (void)c, (void)accum, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_dot_n(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                          const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)count, (void)n, (void)z, (void)incz, (void)ez, (void)x, (void)accum, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_host_quantize_n(size_t n, float *z, const float *x, hu_format f, hu_mode mode, const hu_exec *exec,
                                    hu_events *events) {
  (void)n, (void)z, (void)x, (void)f, (void)mode, (void)exec, (void)events;
  return HU_E_DEVICE;
}

hu_status hu_device_host_encode_n(size_t n, void *z, const float *x, hu_format f, hu_mode mode, const hu_exec *exec,
                                  hu_events *events) {
  (void)n, (void)z, (void)x, (void)f, (void)mode, (void)exec, (void)events;
  return HU_E_DEVICE;
}

hu_status hu_device_host_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                              const hu_operand *b, const hu_operand *c, const hu_accum *accum, hu_mode mode,
                              const hu_exec *exec, hu_events *events) {
  (void)m, (void)n, (void)k, (void)d, (void)a, (void)b, (void)c, (void)accum, (void)mode, (void)exec, (void)events;
  return HU_E_DEVICE;
}
