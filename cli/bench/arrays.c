/* SPDX-License-Identifier: MIT */
/* cli/bench - arrays into formats and back, beside memcpy of the same binary32 array. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "halfulp/halfulp.h"

enum { COLS = 4096 }; /* of arrays that have rows */

struct speed_job {
  const float *x;
  float *z;
  void *codes, *scales;
  float tensor;
  hu_format format;
  hu_mode mode;
  hu_scaling scaling;
  hu_s2fp8 s2fp8;
  hu_exec exec;
  hu_events events;
  hu_status status;
};

static hu_status of(const speed_job *job) { return job->status; }

static void drop(speed_job *job) { free(job); }

static void note(speed_job *job, hu_status status) {
  if (status != HU_OK) job->status = status;
}

static hu_status open(speed_job **into, const speed_memory *memory, unsigned threads) {
  speed_job *job = *into = calloc(1, sizeof *job);
  if (!job) return HU_E_MEMORY;
  job->x = memory->x;
  job->z = memory->z;
  job->codes = memory->codes;
  job->scales = memory->scales;
  job->exec.threads = threads;
  return HU_OK;
}

static hu_status of_format(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  hu_status status = open(into, memory, threads);
  if (status == HU_OK) status = hu_format_parse(&(*into)->format, bench->format, NULL);
  if (status == HU_OK && bench->text) {
    (*into)->mode.round = HU_SRA;
    (*into)->mode.bits = 32;
  }
  return status;
}

static hu_status of_scaling(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  hu_status status = open(into, memory, threads);
  return status == HU_OK ? hu_scaling_parse(&(*into)->scaling, bench->format, NULL) : status;
}

static hu_status of_s2fp8(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  hu_status status = open(into, memory, threads);
  return status == HU_OK ? hu_s2fp8_parse(&(*into)->s2fp8, bench->format, NULL) : status;
}

/* ---- calls ---- */

static void copy(void *context) {
  speed_job *job = context;
  memcpy(job->z, job->x, SPEED_ELEMENTS * sizeof *job->z);
}

static void quantize(void *context) {
  speed_job *job = context;
  note(job, hu_quantize_n(SPEED_ELEMENTS, job->z, 1, job->x, 1, job->format, job->mode, &job->exec, &job->events));
}

static void encode(void *context) {
  speed_job *job = context;
  note(job, hu_encode_n(SPEED_ELEMENTS, job->codes, 1, job->x, 1, job->format, job->mode, &job->exec, &job->events));
}

static void decode(void *context) {
  speed_job *job = context;
  note(job, hu_decode_n(SPEED_ELEMENTS, job->z, 1, job->codes, 1, job->format, &job->exec));
}

static void encode_blocks(void *context) {
  speed_job *job = context;
  const size_t rows = SPEED_ELEMENTS / COLS;
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, COLS, &job->scaling);
  hu_scaled z = {job->codes, COLS, job->scales, n.block_cols, job->scaling.tensor ? &job->tensor : NULL};
  note(job,
       hu_scaled_encode(rows, COLS, &z, job->x, COLS, &job->scaling, job->mode, NULL, NULL, &job->exec, &job->events));
}

static void truncate_s2fp8(void *context) {
  speed_job *job = context;
  note(job, hu_s2fp8_truncate_n(SPEED_ELEMENTS, job->z, 1, job->x, 1, &job->s2fp8, job->mode, NULL, NULL, &job->exec,
                                &job->events));
}

#define ARRAY(name, prepare, call, format, text) \
  { name, "memcpy", "ns", SPEED_ELEMENTS, prepare, call, copy, of, drop, format, text }
const speed_case speed_arrays[] = {
    ARRAY("values of float8_e4m3fn", of_format, quantize, "float8_e4m3fn", NULL),
    ARRAY("values of bfloat16", of_format, quantize, "bfloat16", NULL),
    ARRAY("values of fp(6,9,0)", of_format, quantize, "fp(6,9,0)", NULL),
    ARRAY("values of float8_e4m3fn, sra:32", of_format, quantize, "float8_e4m3fn", "sra:32"),
    ARRAY("codes of float8_e4m3fn", of_format, encode, "float8_e4m3fn", NULL),
    ARRAY("float8_e4m3fn codes to values", of_format, decode, "float8_e4m3fn", NULL),
    ARRAY("codes of mxfp8_e4m3", of_scaling, encode_blocks, "mxfp8_e4m3", NULL),
    ARRAY("codes of nvfp4", of_scaling, encode_blocks, "nvfp4", NULL),
    ARRAY("values of s2fp8", of_s2fp8, truncate_s2fp8, "s2fp8", NULL),
    {0}};
