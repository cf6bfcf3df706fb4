/* SPDX-License-Identifier: MIT */
/* Figures of an evaluation. */
#include "train/trainer/figures.h"

#include <math.h>

/* x = k ln 2 + r with |r| <= 0.35, and Horner's scheme for the series of e^r, which 14 terms end below 2^-57. ln 2 is
 * two numbers, of which the first has 32 bits, so that its product with k is exact. */
double hu_exp_of_loss(double x) {
  static const double high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33, per = 0x1.71547652b82fep+0;
  if (isnan(x)) return x;
  if (x > 710) return (double)INFINITY;
  if (x < -745) return 0;
  const double k = floor(x * per + 0.5), r = (x - k * high) - k * low;
  double z = 1;
  for (int i = 14; i >= 1; i--) z = 1 + r * z / i;
  return ldexp(z, (int)k);
}
