/* SPDX-License-Identifier: MIT */
/* One call on 2^18 values, for bench/instructions.py, which has its instructions counted. The values are those of the
 * benchmark that the row belongs to.
 *
 *   one_call LEVEL quantize|encode|decode FORMAT MODE normal|subnormal     bench_array
 *   one_call LEVEL scaled-quantize|scaled-encode|scaled-decode SCALING     bench_scaled
 *   one_call LEVEL scaled-quantize_n|scaled-encode_n|scaled-decode_n SCALING   the calls that it compares those with
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"

enum { N = 1 << 18, COLS = 4096, ROWS = N / COLS };

typedef struct job {
  float *x, *z, tensor;
  void *codes, *scales;
  hu_exec exec;
  hu_events events;
} job;

/* As bench_array makes them: magnitudes spread over 2^low .. 2^high, either sign. */
static void spread(float *x, int low, int high) {
  uint64_t s = 1;
  for (size_t i = 0; i < N; i++) {
    uint64_t r = (s += 0x9E3779B97F4A7C15u);
    r = (r ^ (r >> 30)) * 0xBF58476D1CE4E5B9u;
    r ^= r >> 29;
    uint32_t field = (uint32_t)(127 + low) + (uint32_t)((r >> 40) % (uint64_t)(high - low));
    uint32_t u = (uint32_t)(r & 0x807FFFFF) | field << 23;
    memcpy(&x[i], &u, sizeof u);
  }
}

/* As bench_scaled makes them. */
static void rows_of_sums(float *x) {
  uint64_t s = 1;
  for (size_t i = 0; i < N; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(s >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * (1.0f / (float)(1 << (i / COLS % 16 + 8)));
  }
}

static int array_call(job *j, const char *what, const char *format, const char *mode, const char *data) {
  hu_format f;
  hu_mode m = {0};
  if (hu_format_find(&f, format) != HU_OK || hu_mode_round_parse(&m, mode) != HU_OK) return 2;
  hu_limits l = hu_limits_of(f);
  if (!strcmp(data, "normal"))
    spread(j->x, l.emin, l.emax);
  else
    spread(j->x, l.emin - 6, l.emin + 3);
  hu_status s = HU_E_NAME;
  if (!strcmp(what, "quantize")) s = hu_quantize_n(N, j->z, 1, j->x, 1, f, m, &j->exec, &j->events);
  if (!strcmp(what, "encode")) s = hu_encode_n(N, j->codes, 1, j->x, 1, f, m, &j->exec, &j->events);
  if (!strcmp(what, "decode")) s = hu_decode_n(N, j->z, 1, j->codes, 1, f, &j->exec);
  return s != HU_OK;
}

static int scaled_call(job *j, const char *what, const char *text) {
  const hu_mode rne = {0};
  hu_scaling d;
  if (hu_scaling_parse(&d, text, NULL) != HU_OK) return 2;
  rows_of_sums(j->x);
  hu_scaled z = {j->codes, COLS, j->scales, hu_scaled_sizes_of(ROWS, COLS, &d).block_cols,
                 d.tensor ? &j->tensor : NULL};
  hu_status s = HU_E_NAME;
  if (!strcmp(what, "quantize_n")) s = hu_quantize_n(N, j->z, 1, j->x, 1, d.element, rne, &j->exec, &j->events);
  if (!strcmp(what, "encode_n")) s = hu_encode_n(N, j->codes, 1, j->x, 1, d.element, rne, &j->exec, &j->events);
  if (!strcmp(what, "decode_n")) s = hu_decode_n(N, j->z, 1, j->codes, 1, d.element, &j->exec);
  if (!strcmp(what, "quantize"))
    s = hu_scaled_quantize(ROWS, COLS, j->z, COLS, j->x, COLS, &d, rne, NULL, NULL, &j->exec, &j->events);
  if (!strcmp(what, "encode"))
    s = hu_scaled_encode(ROWS, COLS, &z, j->x, COLS, &d, rne, NULL, NULL, &j->exec, &j->events);
  if (!strcmp(what,
              "decode")) { /* codes that a call made, which is not counted: the counter asks for hu_scaled_decode */
    s = hu_scaled_encode(ROWS, COLS, &z, j->x, COLS, &d, rne, NULL, NULL, &j->exec, &j->events);
    if (s == HU_OK) s = hu_scaled_decode(ROWS, COLS, j->z, COLS, &z, &d, &j->exec);
  }
  return s != HU_OK;
}

int main(int argc, char **argv) {
  job j = {0};
  j.x = malloc(4 * N);
  j.z = calloc(N, 4);
  j.codes = calloc(N, 4);
  j.scales = calloc(N, 4);
  if (!j.x || !j.z || !j.codes || !j.scales) return 2;
  int rc = 2;
  if (argc > 3) {
    j.exec.levels_off = bench_levels_off(argv[1]);
    if (!strncmp(argv[2], "scaled-", 7))
      rc = scaled_call(&j, argv[2] + 7, argv[3]);
    else if (argc > 5)
      rc = array_call(&j, argv[2], argv[3], argv[4], argv[5]);
  }
  if (rc) fprintf(stderr, "one_call: no such call, or it failed\n");
  free(j.x);
  free(j.z);
  free(j.codes);
  free(j.scales);
  return rc;
}
