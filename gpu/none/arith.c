/* SPDX-License-Identifier: MIT */
/* gpu/none/arith.c - the arithmetic of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device.h"

hu_status hu_device_add_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_sub_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_mul_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_div_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_minimum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                              hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                              const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_maximum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                              hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                              const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_minimum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                     hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                     const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_maximum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                     hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                     const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_sqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)x, (void)incx, (void)fx, (void)mode, (void)exec, (void)events;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_fma_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, const void *c, ptrdiff_t incc, hu_format fc,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)fz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)c;
  (void)incc, (void)fc, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_round_to_integral_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                                        hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)mode, (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_next_up_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                              const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_next_down_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                                const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_compare_n(size_t n, int8_t *z, ptrdiff_t incz, const void *a, ptrdiff_t inca, hu_format fa,
                              const void *b, ptrdiff_t incb, hu_format fb, const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)a, (void)inca, (void)fa, (void)b, (void)incb, (void)fb, (void)exec;
  (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_class_n(size_t n, uint8_t *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                            const hu_exec *exec, void *stream) {
  (void)n, (void)z, (void)incz, (void)x, (void)incx, (void)f, (void)exec, (void)stream;
  return HU_E_DEVICE;
}
