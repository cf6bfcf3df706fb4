/* SPDX-License-Identifier: MIT */
/* bench/peers - Berkeley SoftFloat, release 3: one number per call. */
#include "softfloat.h"

#include "peer.h"

#define CASE(name, op, format) \
  { name, op, format, "rne", 0, op }
const peer_case peer_cases[] = {CASE("f32_to_f16", PEER_ENCODE, "binary16"),
                                CASE("f16_add", PEER_ADD, "binary16"),
                                CASE("f16_mul", PEER_MUL, "binary16"),
                                CASE("f16_div", PEER_DIV, "binary16"),
                                CASE("f16_sqrt", PEER_SQRT, "binary16"),
                                CASE("f16_mulAdd", PEER_FMA, "binary16"),
                                CASE("f32_add", PEER_ADD, "binary32"),
                                CASE("f32_mulAdd", PEER_FMA, "binary32"),
                                {0}};

static void half(int op, size_t n, float16_t *z, const float16_t *x, const float16_t *y, const float16_t *third) {
  for (size_t i = 0; i < n; i++) {
    switch (op) {
      case PEER_ADD: z[i] = f16_add(x[i], y[i]); break;
      case PEER_MUL: z[i] = f16_mul(x[i], y[i]); break;
      case PEER_DIV: z[i] = f16_div(x[i], y[i]); break;
      case PEER_SQRT: z[i] = f16_sqrt(x[i]); break;
      default: z[i] = f16_mulAdd(x[i], y[i], third[i]);
    }
  }
}

static void single(int op, size_t n, float32_t *z, const float32_t *x, const float32_t *y, const float32_t *third) {
  for (size_t i = 0; i < n; i++) z[i] = op == PEER_ADD ? f32_add(x[i], y[i]) : f32_mulAdd(x[i], y[i], third[i]);
}

void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *y, const void *third) {
  softfloat_roundingMode = softfloat_round_near_even;
  softfloat_detectTininess = softfloat_tininess_afterRounding;
  if (asked->op == PEER_ENCODE) {
    for (size_t i = 0; i < n; i++) ((float16_t *)z)[i] = f32_to_f16(((const float32_t *)x)[i]);
  } else if (asked->format[6] == '1') {
    half(asked->op, n, z, x, y, third);
  } else {
    single(asked->op, n, z, x, y, third);
  }
}
