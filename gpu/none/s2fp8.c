/* SPDX-License-Identifier: MIT */
/* gpu/none/s2fp8.c - shifted and squeezed tensors of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device_scaled.h"

hu_status hu_device_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, void *stream) {
  (void)n, (void)x, (void)incx, (void)sums, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums, const hu_s2fp8 *kind,
                                   void *stream) {
  (void)scale, (void)sums, (void)kind, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_s2fp8_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                   const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode, const hu_exec *exec,
                                   hu_events *events, void *work, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)kind, (void)scale, (void)mode, (void)exec, (void)events;
  (void)work, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_s2fp8_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                   const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, const hu_exec *exec, void *work,
                                   void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)kind, (void)scale, (void)exec, (void)work, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_s2fp8_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                     const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode,
                                     const hu_exec *exec, hu_events *events, void *work, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)kind, (void)scale, (void)mode, (void)exec, (void)events;
  (void)work, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_s2fp8_truncate_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                     const hu_s2fp8 *kind, hu_mode mode, hu_s2fp8_sums *sums, hu_s2fp8_scale *scale,
                                     const hu_exec *exec, hu_events *events, void *work, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)kind, (void)mode, (void)sums, (void)scale, (void)exec;
  (void)events, (void)work, (void)stream;
  return HU_E_DEVICE;
}

size_t hu_device_s2fp8_gemm_work(size_t m, size_t n, size_t k, const hu_s2fp8_operand *a, const hu_s2fp8_operand *b) {
  (void)m, (void)n, (void)k, (void)a, (void)b;
  return 0;
}

hu_status hu_device_s2fp8_gemm(size_t m, size_t n, size_t k, float *z, size_t ldz, const hu_s2fp8_operand *a,
                               const hu_s2fp8_operand *b, const float *c, size_t ldc, void *work, void *stream) {
  (void)m, (void)n, (void)k, (void)z, (void)ldz, (void)a, (void)b, (void)c, (void)ldc, (void)work, (void)stream;
  return HU_E_DEVICE;
}
