/* SPDX-License-Identifier: MIT */
/* gpu/none/scaled_gemm.c - products of scaled tensors of libhalfulp-cuda where there is no nvcc, beside none.c. */
#include "halfulp/device_scaled.h"

size_t hu_device_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                                   const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum) {
  (void)m, (void)n, (void)k, (void)d, (void)a, (void)b, (void)c, (void)sum;
  return 0;
}

hu_status hu_device_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *d, const hu_scaled_operand *a,
                                const hu_scaled_operand *b, const hu_scaled_operand *c, const hu_scaled_sum *sum,
                                hu_mode mode, void *space, size_t bytes, const hu_exec *exec, hu_events *events,
                                void *stream) {
  (void)m, (void)n, (void)k, (void)d, (void)a, (void)b, (void)c, (void)sum, (void)mode, (void)space, (void)bytes;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}

hu_status hu_device_gemm_scaled(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                                const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events,
                                void *stream) {
  (void)m, (void)n, (void)k, (void)d, (void)a, (void)b, (void)c, (void)sa, (void)sb, (void)accum, (void)mode;
  (void)exec, (void)events, (void)stream;
  return HU_E_DEVICE;
}
