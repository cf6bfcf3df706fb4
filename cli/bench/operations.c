/* SPDX-License-Identifier: MIT */
/* cli/bench - each operation of hu_operation_at on arrays of codes, beside memcpy of its results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "halfulp/halfulp.h"

enum { ROWS = 64, NAME = 48 };

struct speed_job {
  int op;
  const uint8_t *x[HU_OPERANDS_MAX];
  uint8_t *z;
  hu_format format;
  hu_exec exec;
  hu_events events;
  hu_status status;
};

static hu_status of(const speed_job *job) { return job->status; }

static void drop(speed_job *job) { free(job); }

static void copy(void *context) {
  speed_job *job = context;
  memcpy(job->z, job->x[0], SPEED_CODES);
}

static void apply(void *context) {
  speed_job *job = context;
  hu_view x[HU_OPERANDS_MAX];
  hu_how how = {.exec = &job->exec, .events = &job->events};
  int int8 = hu_operation_at((size_t)job->op).result == HU_RESULT_INT8;
  for (int i = 0; i < HU_OPERANDS_MAX; i++) x[i] = hu_codes(job->x[i], 1, job->format);
  hu_output z = int8 ? hu_int8_out((int8_t *)job->z, 1) : hu_codes_out(job->z, 1, job->format);
  hu_status status = hu_apply(job->op, SPEED_CODES, &z, x, &how);
  if (status != HU_OK) job->status = status;
}

/* Operands are codes of the shared array's numbers, the first not negative, as many functions need it; results lie
 * where other cases have scales. */
static hu_status prepare(speed_job **into, const speed_case *bench, const speed_memory *memory, unsigned threads) {
  const hu_mode rne = {0};
  speed_job *job = *into = calloc(1, sizeof *job);
  if (!job) return HU_E_MEMORY;
  uint8_t *codes = memory->codes;
  job->op = hu_operation_find(bench->text);
  job->exec.threads = threads;
  job->z = memory->scales;
  for (size_t i = 0; i < HU_OPERANDS_MAX; i++) job->x[i] = codes + i * SPEED_CODES;
  hu_status status = hu_format_parse(&job->format, bench->format, NULL);
  if (status == HU_OK)
    status = hu_encode_n((size_t)HU_OPERANDS_MAX * SPEED_CODES, codes, 1, memory->x, 1, job->format, rne, NULL, NULL);
  for (size_t i = 0; i < SPEED_CODES; i++) codes[i] &= 0x7F;
  return status;
}

/* Conversions are rows of arrays.c. */
const speed_case *speed_operations(void) {
  static speed_case rows[ROWS];
  static char names[ROWS][NAME];
  size_t count = 0;
  if (rows[0].name) return rows;
  for (size_t i = 0; i < hu_operation_count() && count + 1 < ROWS; i++) {
    const char *format = "float8_e4m3fn", *name = hu_operation_at(i).name;
    if (i == HU_OP_CONVERT) continue;
    snprintf(names[count], NAME, "%s of %s", name, format);
    speed_case row = {names[count], "memcpy", "ns", SPEED_CODES, prepare, apply, copy, of, drop, format, name};
    rows[count++] = row;
  }
  return rows;
}
