/* SPDX-License-Identifier: MIT */
/* emu/arith/function_polynomials.h - written by scripts/made/function_polynomials.py; not to be edited. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_POLYNOMIALS_H
#define HALFULP_EMU_ARITH_FUNCTION_POLYNOMIALS_H

#include "emu/core/port.h"

/* Returns (e^r - 1) / r for |r| < 0.3467; relative error below 2^-58. */
HU_FN double hui_polynomial_expm1(double r) {
  double p = 0x1.1f7f3b37e9a58p-29;
  p = p * r + 0x1.af634ca3cb41fp-26;
  p = p * r + 0x1.27e4d40eb84dfp-22;
  p = p * r + 0x1.71ddf55adb046p-19;
  p = p * r + 0x1.a01a01a9ed901p-16;
  p = p * r + 0x1.a01a01b14d19ep-13;
  p = p * r + 0x1.6c16c16c15a5fp-10;
  p = p * r + 0x1.111111110f20ep-7;
  p = p * r + 0x1.5555555555557p-5;
  p = p * r + 0x1.555555555555ap-3;
  p = p * r + 0x1.0000000000000p-1;
  p = p * r + 0x1.0000000000000p+0;
  return p;
}

#define HU_EXPM1_COEFFICIENTS                                                                                   \
  0x1.0000000000000p+0, 0x1.0000000000000p-1, 0x1.555555555555ap-3, 0x1.5555555555557p-5, 0x1.111111110f20ep-7, \
      0x1.6c16c16c15a5fp-10, 0x1.a01a01b14d19ep-13, 0x1.a01a01a9ed901p-16, 0x1.71ddf55adb046p-19,               \
      0x1.27e4d40eb84dfp-22, 0x1.af634ca3cb41fp-26, 0x1.1f7f3b37e9a58p-29

/* ln((1 + q) / (1 - q)) / q for s = q^2 < 0.02945; relative error below 2^-60. */
HU_FN double hui_polynomial_log(double s) {
  double p = 0x1.0f9f43df9cb03p-3;
  p = p * s + 0x1.0f5545c249a92p-3;
  p = p * s + 0x1.3b210e65d3385p-3;
  p = p * s + 0x1.745cdb83d2c66p-3;
  p = p * s + 0x1.c71c7263b1a41p-3;
  p = p * s + 0x1.249249241f377p-2;
  p = p * s + 0x1.9999999999ee4p-2;
  p = p * s + 0x1.5555555555555p-1;
  p = p * s + 0x1.0000000000000p+1;
  return p;
}

/* (ln((1 + q) / (1 - q)) / q - 2) / s for s = q^2 < 0.02945; relative error below 2^-53. */
HU_FN double hui_polynomial_log_rest(double s) {
  double p = 0x1.e6b660fec7379p-4;
  p = p * s + 0x1.debe214e33b96p-4;
  p = p * s + 0x1.111d2b673d7e2p-3;
  p = p * s + 0x1.3b137b1bd652bp-3;
  p = p * s + 0x1.745d17d3a387ap-3;
  p = p * s + 0x1.c71c71c64bff9p-3;
  p = p * s + 0x1.249249249295dp-2;
  p = p * s + 0x1.9999999999998p-2;
  p = p * s + 0x1.5555555555555p-1;
  return p;
}

/* sin(r) / r for t = r^2 < 0.617; relative error below 2^-57. */
HU_FN double hui_polynomial_sin(double t) {
  double p = -0x1.aa9b8c5cdeaf7p-41;
  p = p * t + 0x1.61207c5285dbbp-33;
  p = p * t - 0x1.ae64526f1d7c3p-26;
  p = p * t + 0x1.71de3a5312fbep-19;
  p = p * t - 0x1.a01a01a01887ep-13;
  p = p * t + 0x1.111111111110ap-7;
  p = p * t - 0x1.5555555555555p-3;
  p = p * t + 0x1.0000000000000p+0;
  return p;
}

/* cos(r) for t = r^2 < 0.617; relative error below 2^-56. */
HU_FN double hui_polynomial_cos(double t) {
  double p = -0x1.8f75e5b2321c0p-37;
  p = p * t + 0x1.1ee96c7e7de53p-29;
  p = p * t - 0x1.27e4f72723c23p-22;
  p = p * t + 0x1.a01a019b1ce83p-16;
  p = p * t - 0x1.6c16c16c139f5p-10;
  p = p * t + 0x1.5555555555536p-5;
  p = p * t - 0x1.0000000000000p-1;
  p = p * t + 0x1.0000000000000p+0;
  return p;
}

/* erf(x) / x for t = x^2 < 0.2501; relative error below 2^-56. */
HU_FN double hui_polynomial_erf(double t) {
  double p = -0x1.39f7b53f1b575p-23;
  p = p * t + 0x1.b775c94200bfbp-20;
  p = p * t - 0x1.f4bb98aab31bep-17;
  p = p * t + 0x1.f9a2a62fe9253p-14;
  p = p * t - 0x1.c02db23c5e7d3p-11;
  p = p * t + 0x1.565bcd0aa3ed8p-8;
  p = p * t - 0x1.b82ce3127f6d1p-6;
  p = p * t + 0x1.ce2f21a042b28p-4;
  p = p * t - 0x1.812746b0379e6p-2;
  p = p * t + 0x1.20dd750429b6dp+0;
  return p;
}

/* e^(t^2) erfc(t) (1 + 2 t) for 0 <= t < 28, w = HU_ERFC_SCALE t / (t + 3.75) - 1; relative error below 2^-52. */
HU_FN double hui_polynomial_erfc(double w) {
  double p = 0x1.b5b9190f4dd9bp-32;
  p = p * w + 0x1.78ea73fb220b4p-30;
  p = p * w - 0x1.732ebd65e5396p-28;
  p = p * w - 0x1.48d0a2c9d3c40p-26;
  p = p * w + 0x1.d9ae68b971e9fp-25;
  p = p * w + 0x1.731b9b4502816p-23;
  p = p * w - 0x1.48e953eea9655p-21;
  p = p * w - 0x1.3d22e07b2be77p-20;
  p = p * w + 0x1.f575c651911edp-18;
  p = p * w + 0x1.e60a3551b86e6p-21;
  p = p * w - 0x1.5e06e458f9d21p-14;
  p = p * w + 0x1.a5076dc56f478p-13;
  p = p * w + 0x1.8c2c4d785e06ep-12;
  p = p * w - 0x1.1006b8b2a1abep-8;
  p = p * w + 0x1.04d78886ed36bp-6;
  p = p * w - 0x1.4c1994ee00976p-5;
  p = p * w + 0x1.38c31120ddf24p-4;
  p = p * w - 0x1.b76f8d4d8f98fp-4;
  p = p * w + 0x1.a1bd1a05353c2p-4;
  p = p * w - 0x1.cf9502f5281c0p-6;
  p = p * w - 0x1.ee416599e8792p-4;
  p = p * w + 0x1.4104031efd332p+0;
  return p;
}

#define HU_ERFC_SCALE 0x1.2249249249249p+1
#define HU_ERFC_LAST 28.0

#endif
