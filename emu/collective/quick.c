/* SPDX-License-Identifier: MIT */
/* See quick.h. */
#include "emu/collective/quick.h"

#include <float.h>

#include "emu/base/float_env.h"
#include "emu/core/port.h"

#if HU_FLOAT_ENV && FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
int hui_quick_sums_possible(void) { return 1; }
#else
int hui_quick_sums_possible(void) { return 0; }
#endif

static HU_NOINLINE void begin(size_t n, double *sum, double *lost, const float *x) {
  for (size_t i = 0; i < n; i++) {
    sum[i] = (double)x[i];
    lost[i] = x[i] - x[i] != 0; /* what is not finite */
  }
}

static HU_NOINLINE void add(size_t n, double *restrict sum, double *restrict lost, const float *restrict x) {
  for (size_t i = 0; i < n; i++) {
    double a = sum[i], b = (double)x[i], z = a + b, of_b = z - a;
    double error = (a - (z - of_b)) + (b - of_b);
    sum[i] = z;
    lost[i] = error != 0 ? 1 : lost[i];
  }
}

static HU_NOINLINE uint64_t finish(size_t n, const double *sum, double *lost, float *z) {
  uint64_t inexact = 0;
  for (size_t i = 0; i < n; i++) {
    double x = sum[i], size = x < 0 ? -x : x;
    z[i] = (float)x;
    int inside = size == 0 || (size >= 0x1p-126 && size < 0x1p127);
    lost[i] = inside ? lost[i] : 1;
    inexact += lost[i] == 0 && (double)z[i] != x;
  }
  return inexact;
}

void hui_quick_sums_begin(hu_quick_sums *sums, size_t n, const float *x) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  begin(n, sums->sum, sums->lost, x);
  hui_float_env_leave(saved);
}

void hui_quick_sums_add(hu_quick_sums *sums, size_t n, const float *x) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  add(n, sums->sum, sums->lost, x);
  hui_float_env_leave(saved);
}

uint64_t hui_quick_sums_round(hu_quick_sums *sums, size_t n, float *z) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  uint64_t inexact = finish(n, sums->sum, sums->lost, z);
  hui_float_env_leave(saved);
  return inexact;
}
