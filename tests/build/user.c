/* SPDX-License-Identifier: MIT */
#include <halfulp/halfulp.h>
#include <stdio.h>

int main(void) {
  float x[4] = {0.1f, 1.0f, 460.0f, -1e-9f}, z[4];
  hu_format f = hu_float8_e4m3fn();
  hu_mode rne = {0};
  hu_events events = {0};
  hu_status s = hu_quantize_n(4, z, 1, x, 1, f, rne, NULL, &events);
  if (s != HU_OK) {
    fprintf(stderr, "%s\n", hu_status_text(s));
    return 1;
  }
  for (int i = 0; i < 4; i++) printf("%a -> %a\n", x[i], z[i]);
  printf("inexact %lu\n", (unsigned long)events.inexact);
  printf("%a %02x %g\n", z[2], (unsigned)hu_encode(f, rne, x[2], 0, NULL), hu_limits_of(f).max);
  return 0;
}
