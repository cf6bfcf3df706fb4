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

static hu_status of(const speed_job *j) { return j->status; }

static void drop(speed_job *j) { free(j); }

static void note(speed_job *j, hu_status status) {
  if (status != HU_OK) j->status = status;
}

static hu_status open(speed_job **z, const speed_room *room, unsigned threads) {
  speed_job *j = *z = calloc(1, sizeof *j);
  if (!j) return HU_E_MEMORY;
  j->x = room->x;
  j->z = room->z;
  j->codes = room->codes;
  j->scales = room->scales;
  j->exec.threads = threads;
  return HU_OK;
}

static hu_status of_format(speed_job **z, const speed_case *c, const speed_room *room, unsigned threads) {
  hu_status status = open(z, room, threads);
  if (status == HU_OK) status = hu_format_parse(&(*z)->format, c->format, NULL);
  if (status == HU_OK && c->text) {
    (*z)->mode.round = HU_SRA;
    (*z)->mode.bits = 32;
  }
  return status;
}

static hu_status of_scaling(speed_job **z, const speed_case *c, const speed_room *room, unsigned threads) {
  hu_status status = open(z, room, threads);
  return status == HU_OK ? hu_scaling_parse(&(*z)->scaling, c->format, NULL) : status;
}

static hu_status of_s2fp8(speed_job **z, const speed_case *c, const speed_room *room, unsigned threads) {
  hu_status status = open(z, room, threads);
  return status == HU_OK ? hu_s2fp8_parse(&(*z)->s2fp8, c->format, NULL) : status;
}

/* ---- calls ---- */

static void copy(void *context) {
  speed_job *j = context;
  memcpy(j->z, j->x, SPEED_ELEMENTS * sizeof *j->z);
}

static void quantize(void *context) {
  speed_job *j = context;
  note(j, hu_quantize_n(SPEED_ELEMENTS, j->z, 1, j->x, 1, j->format, j->mode, &j->exec, &j->events));
}

static void encode(void *context) {
  speed_job *j = context;
  note(j, hu_encode_n(SPEED_ELEMENTS, j->codes, 1, j->x, 1, j->format, j->mode, &j->exec, &j->events));
}

static void decode(void *context) {
  speed_job *j = context;
  note(j, hu_decode_n(SPEED_ELEMENTS, j->z, 1, j->codes, 1, j->format, &j->exec));
}

static void encode_blocks(void *context) {
  speed_job *j = context;
  const size_t rows = SPEED_ELEMENTS / COLS;
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, COLS, &j->scaling);
  hu_scaled z = {j->codes, COLS, j->scales, n.block_cols, j->scaling.tensor ? &j->tensor : NULL};
  note(j, hu_scaled_encode(rows, COLS, &z, j->x, COLS, &j->scaling, j->mode, NULL, NULL, &j->exec, &j->events));
}

static void truncate_s2fp8(void *context) {
  speed_job *j = context;
  note(j, hu_s2fp8_truncate_n(SPEED_ELEMENTS, j->z, 1, j->x, 1, &j->s2fp8, j->mode, NULL, NULL, &j->exec, &j->events));
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
