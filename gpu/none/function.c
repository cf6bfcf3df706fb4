/* SPDX-License-Identifier: MIT */
/* gpu/none/function.c - the elementary functions of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device.h"

hu_status hu_device_exp_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_exp2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_expm1_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                            hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_log_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_log2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_log1p_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                            hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_tanh_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_sigmoid_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                              hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_erf_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_gelu_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_rsqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                            hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_reciprocal_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                 hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_sin_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_cos_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_pow_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          const void *y, ptrdiff_t incy, hu_format fy, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream, (void)y, (void)incy, (void)fy;
  return HU_E_DEVICE;
}
