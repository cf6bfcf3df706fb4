/* SPDX-License-Identifier: MIT */
/* gpu/none/scaled.c - the scaled tensors of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device_scaled.h"

size_t hu_device_scaled_work(size_t rows, size_t cols, const hu_scaling *scaling) {
  (void)rows, (void)cols, (void)scaling;
  return 0;
}

hu_status hu_device_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                                  const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                  const hu_exec *exec, hu_events *events, void *work, void *stream) {
  (void)rows, (void)cols, (void)z, (void)x, (void)ldx, (void)scaling, (void)mode, (void)amax, (void)stats, (void)exec;
  (void)events, (void)work, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                                  const hu_scaling *scaling, const hu_exec *exec, void *stream) {
  (void)rows, (void)cols, (void)z, (void)ldz, (void)x, (void)scaling, (void)exec, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                    const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                    const hu_exec *exec, hu_events *events, void *work, void *stream) {
  (void)rows, (void)cols, (void)z, (void)ldz, (void)x, (void)ldx, (void)scaling, (void)mode, (void)amax, (void)stats;
  (void)exec, (void)events, (void)work, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                                const hu_scaling *scaling, void *stream) {
  (void)rows, (void)cols, (void)z, (void)x, (void)ld, (void)scaling, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                                  const hu_scaling *scaling, void *stream) {
  (void)rows, (void)cols, (void)z, (void)ld, (void)x, (void)scaling, (void)stream;
  return HU_E_DEVICE;
}
