/* SPDX-License-Identifier: MIT */
/* BFDOT, lane 0: two products and C for each instruction. */
#include <arm_neon.h>

#include "line.h"

static uint32_t dot(size_t n, const void *a, const void *b, uint32_t c) {
  const uint16_t *p = a, *q = b;
  float32x2_t s = vreinterpret_f32_u32(vdup_n_u32(c));
  for (size_t k = 0; k < n; k += 2) {
    uint16_t x[4] = {p[k], p[k + 1], 0, 0}, y[4] = {q[k], q[k + 1], 0, 0};
    s = vbfdot_f32(s, vreinterpret_bf16_u16(vld1_u16(x)), vreinterpret_bf16_u16(vld1_u16(y)));
  }
  return vget_lane_u32(vreinterpret_u32_f32(s), 0);
}

int main(void) { return line_answer(dot, 2, 2); }
