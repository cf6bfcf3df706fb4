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
                                {"f32_mulAdd, dots of 8", PEER_DOT, "binary16", "rne", 0, 8},
                                {"f32_mulAdd, dots of 16", PEER_DOT, "binary16", "rne", 0, 16},
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

/* Converts the codes of a tile once. */
static void dots(size_t depth, size_t n, float32_t *z, const float16_t *x, const float16_t *y) {
  float32_t a[PEER_SIDE * PEER_SIDE], b[PEER_SIDE * PEER_SIDE];
  for (size_t tile = 0; tile + PEER_SIDE * PEER_SIDE <= n; tile += PEER_SIDE * PEER_SIDE) {
    for (size_t i = 0; i < PEER_SIDE * depth; i++) {
      a[i] = f16_to_f32(x[tile + i]);
      b[i] = f16_to_f32(y[tile + i]);
    }
    for (size_t i = 0; i < PEER_SIDE * PEER_SIDE; i++) {
      float32_t sum = {0};
      for (size_t k = 0; k < depth; k++)
        sum = f32_mulAdd(a[i / PEER_SIDE * depth + k], b[k * PEER_SIDE + i % PEER_SIDE], sum);
      z[tile + i] = sum;
    }
  }
}

void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *y, const void *third) {
  softfloat_roundingMode = softfloat_round_near_even;
  softfloat_detectTininess = softfloat_tininess_afterRounding;
  if (asked->op == PEER_ENCODE) {
    for (size_t i = 0; i < n; i++) ((float16_t *)z)[i] = f32_to_f16(((const float32_t *)x)[i]);
  } else if (asked->op == PEER_DOT) {
    dots((size_t)asked->number, n, z, x, y);
  } else if (asked->format[6] == '1') {
    half(asked->op, n, z, x, y, third);
  } else {
    single(asked->op, n, z, x, y, third);
  }
}
