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

/* Makes numbers as bench_array does: magnitudes spread over 2^low .. 2^high, of either sign. */
static void spread(float *x, int low, int high) {
  uint64_t state = 1;
  for (size_t i = 0; i < N; i++) {
    uint64_t random = (state += 0x9E3779B97F4A7C15u);
    random = (random ^ (random >> 30)) * 0xBF58476D1CE4E5B9u;
    random ^= random >> 29;
    uint32_t field = (uint32_t)(127 + low) + (uint32_t)((random >> 40) % (uint64_t)(high - low));
    uint32_t bits = (uint32_t)(random & 0x807FFFFF) | field << 23;
    memcpy(&x[i], &bits, sizeof bits);
  }
}

/* Makes numbers as bench_scaled does. */
static void rows_of_sums(float *x) {
  uint64_t state = 1;
  for (size_t i = 0; i < N; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(state >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * (1.0f / (float)(1 << (i / COLS % 16 + 8)));
  }
}

static int array_call(job *work, const char *what, const char *format, const char *mode, const char *data) {
  hu_format parsed;
  hu_mode rounding = {0};
  if (hu_format_find(&parsed, format) != HU_OK || hu_mode_round_parse(&rounding, mode) != HU_OK) return 2;
  hu_limits limits = hu_limits_of(parsed);
  if (!strcmp(data, "normal"))
    spread(work->x, limits.emin, limits.emax);
  else
    spread(work->x, limits.emin - 6, limits.emin + 3);
  hu_status status = HU_E_NAME;
  if (!strcmp(what, "quantize"))
    status = hu_quantize_n(N, work->z, 1, work->x, 1, parsed, rounding, &work->exec, &work->events);
  if (!strcmp(what, "encode"))
    status = hu_encode_n(N, work->codes, 1, work->x, 1, parsed, rounding, &work->exec, &work->events);
  if (!strcmp(what, "decode")) status = hu_decode_n(N, work->z, 1, work->codes, 1, parsed, &work->exec);
  return status != HU_OK;
}

static int scaled_call(job *work, const char *what, const char *text) {
  const hu_mode rne = {0};
  hu_scaling scaling;
  if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return 2;
  rows_of_sums(work->x);
  hu_scaled z = {work->codes, COLS, work->scales, hu_scaled_sizes_of(ROWS, COLS, &scaling).block_cols,
                 scaling.tensor ? &work->tensor : NULL};
  hu_status status = HU_E_NAME;
  if (!strcmp(what, "quantize_n"))
    status = hu_quantize_n(N, work->z, 1, work->x, 1, scaling.element, rne, &work->exec, &work->events);
  if (!strcmp(what, "encode_n"))
    status = hu_encode_n(N, work->codes, 1, work->x, 1, scaling.element, rne, &work->exec, &work->events);
  if (!strcmp(what, "decode_n")) status = hu_decode_n(N, work->z, 1, work->codes, 1, scaling.element, &work->exec);
  if (!strcmp(what, "quantize"))
    status = hu_scaled_quantize(ROWS, COLS, work->z, COLS, work->x, COLS, &scaling, rne, NULL, NULL, &work->exec,
                                &work->events);
  if (!strcmp(what, "encode"))
    status = hu_scaled_encode(ROWS, COLS, &z, work->x, COLS, &scaling, rne, NULL, NULL, &work->exec, &work->events);
  if (!strcmp(what, "decode")) { /* codes that a call made; the counter counts hu_scaled_decode alone */
    status = hu_scaled_encode(ROWS, COLS, &z, work->x, COLS, &scaling, rne, NULL, NULL, &work->exec, &work->events);
    if (status == HU_OK) status = hu_scaled_decode(ROWS, COLS, work->z, COLS, &z, &scaling, &work->exec);
  }
  return status != HU_OK;
}

int main(int argc, char **argv) {
  job work = {0};
  work.x = malloc(4 * N);
  work.z = calloc(N, 4);
  work.codes = calloc(N, 4);
  work.scales = calloc(N, 4);
  if (!work.x || !work.z || !work.codes || !work.scales) return 2;
  int rc = 2;
  if (argc > 3) {
    work.exec.levels_off = bench_levels_off(argv[1]);
    if (!strncmp(argv[2], "scaled-", 7))
      rc = scaled_call(&work, argv[2] + 7, argv[3]);
    else if (argc > 5)
      rc = array_call(&work, argv[2], argv[3], argv[4], argv[5]);
  }
  if (rc) fprintf(stderr, "one_call: no such call, or it failed\n");
  free(work.x);
  free(work.z);
  free(work.codes);
  free(work.scales);
  return rc;
}
