/* SPDX-License-Identifier: MIT */
/* gpu/none/number.c - the number systems of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device_number.h"

hu_status hu_device_number_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                                      hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec;
  (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                        hu_number f, hu_mode mode, const hu_exec *exec, hu_events *events,
                                        void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec;
  (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                                    hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec;
  (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_number f,
                                      hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec;
  (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                                    const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f;
  (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                                      const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f;
  (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_number_convert_n(size_t n, void *z, ptrdiff_t incz, hu_number fz, const void *x, ptrdiff_t incx,
                                     hu_number fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec;
  (void)events, (void)stream;
  return HU_E_DEVICE;
}
