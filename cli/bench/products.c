/* SPDX-License-Identifier: MIT */
/* cli/bench - products of matrices under models, beside hu_gemm's own binary32 of the same size. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "halfulp/halfulp.h"

struct speed_job {
  float *a, *b, *result;
  hu_format format;
  hu_accum accum;
  hu_exec exec;
  hu_status status;
};

static hu_status of(const speed_job *job) { return job->status; }

static void drop(speed_job *job) {
  if (!job) return;
  free(job->a);
  free(job->b);
  free(job->result);
  free(job);
}

/* Computes D = A B of values of `format`. */
static void multiply(speed_job *job, hu_format format, const hu_accum *accum) {
  const size_t n = SPEED_SIDE;
  const hu_mode rne = {0};
  hu_view a = hu_matrix_of(job->a, n, hu_type_values(HU_TYPE_VALUES32, format)),
          b = hu_matrix_of(job->b, n, hu_type_values(HU_TYPE_VALUES32, format));
  hu_output result = hu_matrix_floats_out(job->result, n);
  hu_status status = hu_gemm(n, n, n, &result, &a, &b, NULL, accum, &(hu_how){rne, &job->exec, NULL});
  if (status != HU_OK) job->status = status;
}

static void subject(void *context) {
  speed_job *job = context;
  multiply(job, job->format, &job->accum);
}

static void plain(void *context) {
  hu_accum fp32;
  memset(&fp32, 0, sizeof fp32);
  fp32.kind = HU_ACCUM_FP32;
  multiply(context, hu_binary32(), &fp32);
}

/* Fills both operands with the same values, which format f has. */
static hu_status fill(speed_job *job) {
  const size_t n = (size_t)SPEED_SIDE * SPEED_SIDE;
  const hu_mode rne = {0};
  uint64_t state = 2;
  for (size_t i = 0; i < n; i++) {
    job->a[i] = speed_normal(&state);
    job->b[i] = speed_normal(&state);
  }
  hu_status status = hu_quantize_n(n, job->a, 1, job->a, 1, job->format, rne, NULL, NULL);
  return status == HU_OK ? hu_quantize_n(n, job->b, 1, job->b, 1, job->format, rne, NULL, NULL) : status;
}

static hu_status prepare(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  (void)memory;
  const size_t bytes = (size_t)SPEED_SIDE * SPEED_SIDE * sizeof(float);
  speed_job *job = *into = calloc(1, sizeof *job);
  if (!job) return HU_E_MEMORY;
  job->a = malloc(bytes);
  job->b = malloc(bytes);
  job->result = malloc(bytes);
  if (!job->a || !job->b || !job->result) return HU_E_MEMORY;
  job->exec.threads = threads;
  hu_status status = hu_format_parse(&job->format, bench->format, NULL);
  if (status == HU_OK) status = hu_accum_parse(&job->accum, bench->text, NULL);
  return status == HU_OK ? fill(job) : status;
}

#define OPERATIONS (2e-9 * SPEED_SIDE * SPEED_SIDE * SPEED_SIDE)
#define PRODUCT(text, format) \
  { text, "binary32", "GFlop/s", OPERATIONS, prepare, subject, plain, of, drop, format, text }
const speed_case speed_products[] = {PRODUCT("seq(bfloat16)", "bfloat16"),
                                     PRODUCT("kahan(bfloat16)", "bfloat16"),
                                     PRODUCT("nv.hopper.e4m3.f32.wgmma", "float8_e4m3fn"),
                                     {0}};
