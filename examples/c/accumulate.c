/* SPDX-License-Identifier: MIT */
/* What does the accumulator of a datapath cost? One dot product of 8-bit values under several accumulation models: the
 * exact sum, a 16-bit accumulator, chunks, and what NVIDIA's Hopper does. */
#include <halfulp/halfulp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };

static void must(const char *what, hu_status s) {
  if (s == HU_OK) return;
  fprintf(stderr, "%s: %s\n", what, hu_status_text(s));
  exit(1);
}

int main(void) {
  static const char *const models[] = {"exact", "seq(binary16)", "chunk(64,binary16,binary16)",
                                       "nv.hopper.e4m3.f32.wgmma", "promote(128,nv.hopper.e4m3.f32.wgmma,binary32)"};
  static float x[N];
  static uint8_t a[N], b[N];
  hu_format e4m3 = hu_float8_e4m3fn();
  hu_mode rne = {0};

  for (int i = 0; i < N; i++) x[i] = (float)(i * 37 % 101) / 64.0f;
  must("encode", hu_encode_n(N, a, 1, x, 1, e4m3, rne, NULL, NULL));
  must("encode", hu_encode_n(N, b, 1, x, 1, e4m3, rne, NULL, NULL));

  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    hu_accum accum;
    float z = 0;
    hu_view row = hu_matrix_codes(a, N, e4m3),
            column = hu_transposed(hu_matrix_codes(b, N, e4m3)); /* 1 x N times N x 1 */
    hu_output result = hu_matrix_floats_out(&z, 1);
    must(models[i], hu_accum_parse(&accum, models[i], NULL));
    must(models[i], hu_gemm(1, 1, N, &result, &row, &column, NULL, &accum, NULL));
    printf("%-48s %.9g\n", models[i], z);
  }
  return 0;
}
