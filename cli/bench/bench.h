/* SPDX-License-Identifier: MIT */
/* cli/bench/bench.h - what `halfulp bench` measures: calls of the library, each beside a plain one in turn. */
#ifndef HALFULP_CLI_BENCH_BENCH_H
#define HALFULP_CLI_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/array.h"
#include "halfulp/mode.h"
#include "halfulp/status.h"

/* Arrays of SPEED_ELEMENTS, which all cases share, since filling them takes longer than a call: x has the numbers of
 * speed_normal, the others are zero at first. */
typedef struct speed_memory {
  float *x, *z;
  void *codes, *scales; /* a byte for each element; for every 16th */
} speed_memory;
/* Allocates and fills the arrays. After HU_E_MEMORY they are to be freed, too. */
hu_status speed_memory_make(speed_memory *memory);
void speed_memory_free(speed_memory *memory);

/* What a call needs; every kind of case has its own. */
typedef struct speed_job speed_job;

/* One case. prepare: operands, for `threads` threads; on failure a status, and close is still to be called.
 * subject and reference take the job; what they returned first that was not HU_OK is in its status. */
typedef struct speed_case {
  const char *name;
  const char *reference; /* as the table calls it */
  const char *unit;      /* "ns": an element's time; "GFlop/s": of products; "us": a step's time */
  double count;          /* elements, or operations in 10^9, of a call; 1 for a step */
  hu_status (*prepare)(speed_job **job, const struct speed_case *self, const speed_memory *memory, unsigned threads);
  void (*subject)(void *job);
  void (*reference_call)(void *job);
  hu_status (*status)(const speed_job *job);
  void (*close)(speed_job *job);
  const char *format, *text; /* what prepare reads: a format, scaling or model; a mode or an operation */
} speed_case;

enum {
  SPEED_ELEMENTS = 1 << 24, /* of an array, 64 MiB of binary32: beyond the caches of most machines */
  SPEED_CODES = 1 << 18,    /* of an operand of an operation */
  SPEED_SIDE = 512          /* of matrices */
};

/* Returns case number i of all, NULL behind the last one. */
const speed_case *speed_case_at(size_t i);
extern const speed_case speed_arrays[], speed_products[], speed_steps[]; /* each up to one without a name */
const speed_case *speed_operations(void); /* the same: a row for each of halfulp's list */

/* What one case showed. figure: in the case's unit, the best; ratios: time over the reference's in each run, and of
 * these the best and the worst. */
enum { SPEED_RUNS = 3 };
typedef struct speed_result {
  double figure, best, worst, ratios[SPEED_RUNS];
} speed_result;
/* Makes SPEED_RUNS runs of a case, `seconds` in all with what prepares them; in every run a call of each kind. */
hu_status speed_measure(speed_result *result, const speed_case *bench, const speed_memory *memory, unsigned threads,
                        double seconds);

/* Returns the next number of a generator for operands: normal, about, with deviation 1. */
float speed_normal(uint64_t *state);

#endif
