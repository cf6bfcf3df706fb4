/* SPDX-License-Identifier: MIT */
/* The same on the host, by the array calls: what the kernels must give. */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vector>

#include <halfulp/core.h>
#include <halfulp/halfulp.h>

enum { ROWS = 61, COLS = 129, COUNT = ROWS * COLS };

struct Problem {
  hu_format fp8 = hu_float8_e4m3fn(), bf16 = hu_bfloat16();
  hu_mode rne = {}, stochastic = {};
  uint64_t key = 2026, first = 1000;
  float rate = 0.01f;
  std::vector<float> x, bias, g;
  std::vector<uint16_t> w;

  Problem() : x(COUNT), bias(COLS), g(COUNT), w(COUNT) {
    stochastic.round = HU_SRA;
    stochastic.bits = 16;
    for (int i = 0; i < COUNT; i++) {
      x[i] = (float)(i * 7919 % 2003 - 900) * 0.9f;
      g[i] = (float)(i * 104729 % 1999 - 999) / 512.0f;
      w[i] = (uint16_t)hu_encode(bf16, rne, (float)(i * 31 % 1009 - 500) / 256.0f, 0, NULL);
    }
    for (int j = 0; j < COLS; j++) bias[j] = (float)(j - 64) / 8.0f;
  }
};

/* Number of differences from the library; prints what was compared. */
static int check(const Problem &p, const std::vector<uint8_t> &z, unsigned long long overflows,
                 const std::vector<uint16_t> &w) {
  std::vector<float> y(COUNT);
  std::vector<uint8_t> want(COUNT);
  std::vector<uint16_t> want_w(COUNT);
  hu_events events = {};
  for (int i = 0; i < COUNT; i++) {
    y[i] = p.x[i] + p.bias[i % COLS];
    y[i] = y[i] > 0 ? y[i] : 0;
  }
  hu_status s = hu_encode_n(COUNT, want.data(), 1, y.data(), 1, p.fp8, p.rne, NULL, &events);
  for (int i = 0; i < COUNT; i++) y[i] = fmaf(-p.rate, p.g[i], hu_decode(p.bf16, p.w[i]));
  hu_exec exec = {0, 0, {p.key, p.first}, {NULL, NULL, NULL}};
  if (s == HU_OK) s = hu_encode_n(COUNT, want_w.data(), 1, y.data(), 1, p.bf16, p.stochastic, &exec, NULL);
  if (s != HU_OK) {
    fprintf(stderr, "%s\n", hu_status_text(s));
    return 1;
  }
  int codes = 0, weights = 0, counts = overflows != events.overflow;
  for (int i = 0; i < COUNT; i++) {
    codes += z[i] != want[i];
    weights += w[i] != want_w[i];
  }
  printf("bias_relu_encode: %d of %d codes differ from hu_encode_n, %llu overflows (%llu)\n", codes, COUNT, overflows,
         (unsigned long long)events.overflow);
  printf("sgd_stochastic:   %d of %d weights differ from hu_encode_n\n", weights, COUNT);
  return codes + weights + counts;
}

#endif
